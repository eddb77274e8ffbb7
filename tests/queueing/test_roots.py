"""Bracketing of many roots: the reference is scipy's, and the steps taken are those of the method."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import elementwise

from planner.queueing._roots import enclose, increasing_root

SCALES = np.array([0.3, 1.0, 7.0, 1e3, 1e-4])


def cubic(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return (x / scale) ** 3 + 2 * x / scale - 5.0


def exponential(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return np.expm1(3 * x / scale) - 1.0


@pytest.mark.parametrize("function", [cubic, exponential])
def test_roots_are_those_of_scipy_in_as_few_steps(function) -> None:
    calls = []

    def counted(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
        calls.append(x.size)
        return function(x, scale)

    low, high = np.zeros(SCALES.shape), 4 * SCALES
    found = increasing_root(counted, low, high, (SCALES,))
    reference = elementwise.find_root(function, (low, high), args=(SCALES,))
    np.testing.assert_allclose(found, reference.x, rtol=1e-14)
    # Halving from 4 to working precision takes 53 steps; the interpolation of the method a quarter of these.
    assert len(calls) <= int(reference.nfev.max()) + 4 <= 25


def test_the_answer_lies_on_the_side_where_the_function_is_not_above_zero() -> None:
    found = increasing_root(cubic, np.zeros(SCALES.shape), 4 * SCALES, (SCALES,))
    assert (cubic(found, SCALES) <= 0).all()
    assert (cubic(found * (1 + 1e-14), SCALES) > 0).all()


def test_ends_are_the_answer_where_there_is_no_root_between() -> None:
    ones = np.ones(2)
    found = increasing_root(lambda x, at: x - at, 0 * ones, ones, (np.array([-1.0, 5.0]),))
    assert found.tolist() == [0.0, 1.0]


def test_enclosing_doubles_each_end_until_it_is_above() -> None:
    wanted = np.array([0.5, 3.0, 100.0])
    assert enclose(lambda x: x - wanted, np.ones(3)).tolist() == [1.0, 4.0, 128.0]
