"""Pools drawn at random, a day of their supply counters by event simulation, and the truth from `alias_pool`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np

from planner.queueing import alias_pool
from planner.reports.supply import PoolSupply
from tests.simulated_pool import Counters, simulate

TARGET = 0.01
MINUTES = 1440
EXACT_STATES = 20_000


@dataclass(frozen=True)
class Case:
    """A pool with its aliases, the fewest that meet the target, the verdict, and the counters of a day."""

    demand: dict[str, list[float]]
    inflation: float
    aliases: int
    needed: int
    verdict: str
    counters: Counters


def draw(seed: int) -> Case:
    """Closed pools (three of five) solved by the exact chain, open ones by the mean field; half to twice the need."""
    generator = np.random.default_rng(seed)
    closed = generator.random() < 0.6
    demand, inflation = _closed(generator) if closed else _open(generator)

    @cache
    def fails(aliases: int) -> float:
        pool = alias_pool(
            aliases, **demand, service_time=1.0, inflation=inflation, method="exact" if closed else "auto"
        )
        return float(pool.fail_fraction) if pool.stable else 1.0

    needed = _fewest(fails)
    aliases = int(generator.integers(max(1, math.ceil(needed / 2)), max(2 * needed, 2) + 1))
    fewer = aliases - max(2, math.ceil(aliases / 10))
    if fails(aliases) > TARGET:
        verdict = "not enough"
    else:
        verdict = "too many" if fewer >= 0 and fails(fewer) <= TARGET else "enough"
    minute = float(np.exp(generator.uniform(np.log(60.0), np.log(1500.0))))  # in service times
    counters = simulate(aliases, **demand, inflation=inflation, intervals=MINUTES, length=minute, seed=seed)
    return Case(demand, inflation, aliases, needed, verdict, counters)


def supply(counters: Counters, aliases: int) -> PoolSupply:
    """The counters as `read_supplies` returns them."""
    count = counters.tries.size
    return PoolSupply(
        pool="1", start=None, time=60.0 * np.arange(1, count + 1), length=np.full(count, 60.0),
        tries=counters.tries, fails=counters.fails, fewest=counters.fewest, most=counters.most,
        aliases=np.full(count, aliases), in_use=aliases, restarted=np.zeros(count, dtype=bool),
        plain=np.ones(count, dtype=bool),
    )  # fmt: skip


def _closed(generator: np.random.Generator) -> tuple[dict[str, list[float]], float]:
    while True:
        volumes, people = int(generator.integers(2, 25)), int(generator.integers(2, 8))
        kinds = people + comb(people + 1, 2)
        if comb(volumes + kinds - 1, volumes) < EXACT_STATES:
            break
    think = float(np.exp(generator.uniform(np.log(0.4), np.log(6.0))))
    inflation = float(generator.choice([0.0, 0.0, 0.1, 0.2]))
    return {"volumes": [volumes], "population": [people], "think_time": [think]}, inflation


def _open(generator: np.random.Generator) -> tuple[dict[str, list[float]], float]:
    volumes, load = int(generator.integers(2, 25)), float(generator.uniform(0.1, 0.8))
    if volumes > 3 and generator.random() < 0.5:
        busy = volumes // 3
        return {"volumes": [busy, volumes - busy], "arrival_rate": [min(0.9, 1.6 * load), 0.6 * load]}, 0.0
    return {"volumes": [volumes], "arrival_rate": [load]}, 0.0


def _fewest(fails) -> int:
    low, high = -1, 1
    while fails(high) > TARGET:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fails(middle) <= TARGET else (middle, high)
    return high
