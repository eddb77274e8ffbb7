"""The interval that stands for many: it needs most, of equals it is the busiest, then the first."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.demand import Target
from planner.errors import ConvergenceError, InfeasibleError
from planner.interval import Interval
from planner.measurements import Run, from_numbers
from planner.site.question import site
from planner.sizing.need import Need, worst_by_need
from planner.sizing.question import aliases


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


def test_an_interval_for_which_no_count_serves_is_the_worst_and_one_that_could_not_be_solved_is_none() -> (
    None
):
    beyond = Need(count=None, low=None, high=None, exit_code=InfeasibleError.exit_code)
    unsolved = Need(count=None, low=None, high=None, exit_code=ConvergenceError.exit_code)
    cases = [(run(900.0),), (run(100.0),), (run(500.0),)]
    assert worst_by_need([Need(count=9), beyond, unsolved], cases) == 1
    assert worst_by_need([unsolved, unsolved, Need(count=9)], cases) == 2


@pytest.mark.long
def test_every_question_says_that_no_count_serves_the_worst_interval(tmp_path: Path) -> None:
    """Not the count of a calmer interval, by the one that has it as by the one that has days."""
    path = tmp_path / "two.csv"
    path.write_text(
        "device,pool,aliases,start,interval_s,io_rate,service_ms,queued\n"
        "0100,P,0,2026-03-02T08:00:00,900,300,1.30,0.30\n0100,P,0,2026-03-02T08:15:00,900,100,1.30,0.02\n",
        encoding="utf-8",
    )
    limit = Target(response=1.34e-3)  # which the service of the first alone exceeds
    with pytest.raises(InfeasibleError, match=r"worst of 2 intervals, 2026-03-02 08:00\): no count"):
        aliases(path, target=limit)
    (pool,) = site(path, target=limit, workers=1).pools
    assert pool.worst_start is not None
    assert (pool.needed_worst, pool.worst_start.isoformat()) == (None, "2026-03-02T08:00:00")
