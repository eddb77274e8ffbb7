"""Supply counters of simulated pools, a day each: the verdict and the number of aliases against the true ones."""

from __future__ import annotations

import pytest

pytest.importorskip("numba")

from planner.supply import judge
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
