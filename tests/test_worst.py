"""The interval that stands for many: it needs most, of equals it is the busiest, then the first."""

from __future__ import annotations

import pytest

from planner.interval import Interval
from planner.measurements import Run, from_numbers
from planner.sizing.need import Need, worst_by_need


def run(rate: float) -> Run:
    return from_numbers(io_rate=Interval(rate, rate, rate), service=Interval(1e-3, 1e-3, 1e-3))


@pytest.mark.parametrize(
    ("counts", "rates", "worst"),
    [
        ([1, 3, 2], [900, 100, 500], 1),
        ([3, 3, 3], [100, 300, 200], 1),
        ([3, 3], [100, 100], 0),
        ([None, 0, 0], [900, None, 100], 2),
        ([0, 0], [None, None], 0),
        ([None], [100], None),
        ([], [], None),
    ],
)
def test_the_worst_interval(counts: list[int | None], rates: list[float | None], worst: int | None) -> None:
    cases = [() if rate is None else (run(rate),) for rate in rates]
    assert worst_by_need([Need(count=count) for count in counts], cases) == worst
