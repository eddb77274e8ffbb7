"""Intervals: printed digits, worst-case arithmetic, arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.interval import Interval

LENGTHS = st.floats(0.0, 1e6)


def test_printed_digits_leave_half_a_unit_to_either_side() -> None:
    assert Interval.printed("755") == Interval(754.5, 755.0, 755.5)
    assert Interval.printed(".0").low == 0.0
    service = Interval.printed("1.3", factor=1e-3)
    assert (service.low, service.value, service.high) == pytest.approx((1.25e-3, 1.3e-3, 1.35e-3))


@given(LENGTHS, LENGTHS, LENGTHS, LENGTHS, st.floats(-1, 1), st.floats(-1, 1))
def test_whatever_two_intervals_hold_their_sum_difference_and_product_hold(
    a: float, half_a: float, b: float, half_b: float, at_a: float, at_b: float
) -> None:
    first, second = Interval.around(a, half_a), Interval.around(b, half_b)
    x, y = max(a + at_a * half_a, 0.0), max(b + at_b * half_b, 0.0)
    slack = 1e-9 * (a + half_a + 1) * (b + half_b + 1)
    for found, exact in ((first + second, x + y), (first - second, x - y), (first * second, x * y)):
        assert found.widened(slack).holds(exact)


def test_arrays_go_element_by_element_and_add_up() -> None:
    rates = Interval.around(np.array([100.0, 0.2]), np.array([0.5, 0.5]))
    assert rates.low.tolist() == [99.5, 0.0]
    assert rates[1].value == 0.2
    total = rates.sum()
    assert (total.low, total.value, total.high) == (99.5, 100.2, 101.2)


def test_elements_are_kept_where_a_mask_says_so() -> None:
    rates, other = Interval.around(np.array([1.0, 2.0]), 0.5), Interval.around(np.array([7.0, 8.0]), 1.0)
    kept = np.array([True, False])
    found = rates.where(kept, other)
    assert [end.tolist() for end in found] == [[0.5, 7.0], [1.0, 8.0], [1.5, 9.0]]
    assert np.isnan(rates.where(kept, np.nan).low).tolist() == [False, True]


def test_strain_counts_halves_on_either_side() -> None:
    uneven = Interval(0.0, 1.0, 4.0)
    assert [float(uneven.residual(guess)) for guess in (0.0, 1.0, 2.5)] == [-1.0, 0.0, 0.5]


def test_a_quotient_takes_the_worst_case() -> None:
    wait = Interval(1.0, 2.0, 3.0) / Interval(10.0, 20.0, 30.0)
    assert (wait.low, wait.value, wait.high) == (1 / 30, 0.1, 0.3)
