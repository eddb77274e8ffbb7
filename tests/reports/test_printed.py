"""A printed number knows its value and its resolution."""

import pytest

from planner.reports.printed import Printed
from planner.units import MILLISECOND


@pytest.mark.parametrize(
    ("digits", "value", "resolution"),
    [("755", 755, 0.5), (".2", 0.2, 0.05), ("1.84", 1.84, 0.005), (".00", 0, 0.005), ("14.4", 14.4, 0.05)],
)
def test_the_resolution_is_half_a_unit_of_the_last_digit(
    digits: str, value: float, resolution: float
) -> None:
    assert Printed.from_text(digits) == Printed(value, resolution)


def test_a_factor_converts_value_and_resolution() -> None:
    printed = Printed.from_text("1.3", MILLISECOND)
    assert (printed.value, printed.resolution) == pytest.approx((0.0013, 0.00005), rel=1e-15)


def test_bounds_are_a_resolution_away_but_not_below_zero() -> None:
    assert (Printed(1.0, 0.25).low, Printed(1.0, 0.25).high) == (0.75, 1.25)
    assert (Printed(0.0, 0.25).low, Printed(0.0, 0.25).high) == (0.0, 0.25)


def test_the_resolution_of_a_sum_is_the_sum_of_resolutions() -> None:
    assert Printed(1.0, 0.25) + Printed(2.0, 0.5) == Printed(3.0, 0.75)
