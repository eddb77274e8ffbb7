"""Supply counters of simulated pools, a day each: the verdict and the number of aliases against the true ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("numba")

from planner.supply import judge
from tests.demand.arrivals import Arriving, least, merged
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


@pytest.mark.long
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


def on_off(loads: np.ndarray, until: float, seed: int) -> Arriving:
    """Volumes with Poisson arrivals a quarter of the time, 20 service times each on average."""
    rng = np.random.default_rng(seed)
    parts = []
    for volume, load in enumerate(loads):
        lengths = rng.exponential([20.0, 60.0], (int(until / 40), 2))
        begins = np.cumsum(lengths.sum(axis=1)) - lengths.sum(axis=1)
        counts = rng.poisson(4.0 * load * lengths[:, 0])
        times = np.repeat(begins, counts) + rng.uniform(size=counts.sum()) * np.repeat(lengths[:, 0], counts)
        times = times[times < until]
        parts.append((times, np.full(times.size, volume)))
    return Arriving(
        kind="on-off", arrivals=merged(*parts), volumes=loads.size, service=1.0, scv=1.0, inflation=0.0, gap=0.0,
        seed=seed,
    )  # fmt: skip


@pytest.mark.parametrize(
    "many", [pytest.param(10, marks=pytest.mark.long), pytest.param(30, marks=pytest.mark.slow)]
)
def test_ranges_of_on_off_volumes_hold_what_is_needed(many: int) -> None:
    """An hour of minutes of 1000 service times each, with 1.2 to 2.2 times the need: nine of ten, at least."""
    held = []
    for seed in range(60_000, 60_000 + many):
        rng = np.random.default_rng(seed)
        loads = rng.uniform(0.15, 0.8) * rng.uniform(0.4, 1.2, rng.integers(3, 12))
        long = on_off(loads, 200_000.0, seed)
        need = least(lambda aliases, pool=long: pool.fails(aliases) <= 0.01)
        aliases = max(1, round(need * math.exp(rng.uniform(math.log(1.2), math.log(2.2)))))
        (answer,) = judge([on_off(loads, 60_000.0, seed + 1000).supply(aliases, 60)]).pools
        low, high = (256 if end is None else end for end in (answer.needed_low, answer.needed_high))
        held.append(low <= need <= high)
    assert sum(held) >= 0.9 * many


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
