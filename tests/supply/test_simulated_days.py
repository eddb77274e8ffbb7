"""Supply counters of simulated pools, a day each: the verdict and the number of aliases against the true ones."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")

from planner.supply import judge
from tests.simulated_pool import Counters, simulate
from tests.supply.simulated_cases import Case, draw, supply

JUDGED = range(50_000, 50_200)  # never looked at while the model was made
FEW = range(50_000, 50_006)


def outcome(case: Case) -> tuple[bool, bool, bool]:
    """Verdict right, count within one, count exact."""
    (answer,) = judge([supply(case.counters, case.aliases)]).pools
    needed = answer.aliases_needed
    near = needed is not None and abs(needed - case.needed) <= 1
    return answer.verdict == case.verdict, near, needed == case.needed


def shares(seeds: range) -> list[float]:
    found = [outcome(draw(seed)) for seed in seeds]
    return [sum(each) / len(found) for each in zip(*found, strict=True)]


@pytest.mark.first(1)
@pytest.mark.parametrize("aliases", [4, 16])
def test_one_long_record_leaves_open_what_its_minutes_decide(aliases: int) -> None:
    """Six are needed: 2.5 % of the tries fail with five, .7 % with six."""
    minutes = simulate(aliases, volumes=[8], arrival_rate=[0.5], intervals=60, length=30_000.0, seed=1)
    hour = Counters(*(
        np.array([how(getattr(minutes, name))])
        for name, how in (("tries", np.sum), ("fails", np.sum), ("fewest", np.min), ("most", np.max))
    ))  # fmt: skip
    of_minutes, of_hour = (judge([supply(each, aliases)]).pools[0] for each in (minutes, hour))
    assert of_minutes.aliases_needed == 6
    for answer in (of_minutes, of_hour):
        assert 1 <= (answer.needed_low or 0) <= 6 <= (answer.needed_high or 0) <= 14


@pytest.mark.long
def test_a_few_days() -> None:
    verdict, near, _ = shares(FEW)
    assert verdict >= 5 / 6
    assert near >= 5 / 6


@pytest.mark.slow
def test_two_hundred_days() -> None:
    verdict, near, _ = shares(JUDGED)
    assert verdict >= 0.95
    assert near >= 0.90
