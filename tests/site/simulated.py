"""Simulated pools over intervals of different load, whose needs are known: the same volumes, busier or less busy.

A pool of unequal, partly bursty volumes is drawn; in every interval its demand is a multiple of the drawn one. What is
measured is simulated with the aliases in use, what is needed with as many as it takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import polars as pl

from planner.reports import schema
from tests.demand import simulation as sim
from tests.demand.volumes import BURSTY, SHARE, STEADY, _log, component, in_seconds, printed

MEASURED_IOS = 40_000
TRUTH_IOS = 80_000
MOST = 96
BEGIN = datetime(2026, 3, 2)
SECONDS = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedPool:
    """A pool over intervals: rows (intervals, 4, volumes), need, aliases in use, and high-water marks of each."""

    rows: np.ndarray
    needed: np.ndarray
    in_use: int
    most_used: np.ndarray
    most_waiting: np.ndarray
    loads: np.ndarray
    inflation: float
    gap: float

    def frame(self, name: str = "P1", system: str = "SYS1") -> pl.DataFrame:
        """Rows of the one table, with the digits of a listing."""
        intervals, _, volumes = self.rows.shape
        ends = np.array(
            [[printed(self.rows[t, :, v]) for v in range(volumes)] for t in range(intervals)]
        )  # (intervals, volumes, 3 numbers, 3 ends)
        numbers = {
            f"{number}{end}": ends[:, :, k, at].ravel()
            for k, number in enumerate(("io_rate", "service", "queued"))
            for at, end in enumerate(("_low", "", "_high"))
        }
        starts = [BEGIN + timedelta(seconds=SECONDS * t) for t in range(intervals) for _ in range(volumes)]
        return schema.frame(
            schema.DEVICES,
            {
                "system": system, "source": "simulated", "start": starts, "interval": SECONDS,
                "device": [f"{v + 1:04X}" for _ in range(intervals) for v in range(volumes)], "kind": schema.VOLUME,
                "pool": name, "pool_aliases": self.in_use, **numbers, "file": "simulated",
                "line": np.arange(1, intervals * volumes + 1),
            },
        )  # fmt: skip


def scaled(parts: np.ndarray, factor: float) -> np.ndarray:
    """Components at so many times the load: arrivals come more often, requesters think less, phases are longer on."""
    found = parts.copy()
    for part in found:
        kind = int(part[0])
        if kind in (sim.POISSON, sim.BATCHES, sim.FIXED):
            part[1] *= factor
        elif kind == sim.CLOSED:
            part[2] /= factor
        elif kind in (sim.ACTIVE, sim.ON_OFF):
            on, off = (3, 4) if kind == sim.ACTIVE else (2, 3)
            share = min(factor * part[on] / (part[on] + part[off]), 0.9)
            part[off] = part[on] * (1 - share) / share
        else:
            part[2] /= factor
    return found


def pool(
    seed: int, intervals: int = 12, *, bursty: float | None = None, aliases: bool = True
) -> SimulatedPool:
    """Draw a pool and simulate it: in use are about as many aliases as some of its intervals need, or none."""
    rng = np.random.default_rng(seed)
    while True:
        found = _pool(rng, intervals, rng.uniform(0.0, 0.9) if bursty is None else bursty, aliases=aliases)
        if found is not None:
            return found


def _pool(rng: np.random.Generator, intervals: int, bursty: float, *, aliases: bool) -> SimulatedPool | None:
    size = int(rng.integers(6, 13))
    inflation, gap = float(rng.choice([0.0, 0.1, 0.18])), float(rng.choice([0.0, 2e-5, 5e-5]))
    scv, seed = float(rng.choice([0.5, 1.0, 1.0, 2.0])), int(rng.integers(1, 2**30))
    services = np.array([_log(rng, 4e-4, 4e-3) for _ in range(size)])
    parts = np.zeros((size, 5))
    for volume, service in enumerate(services):
        kinds = BURSTY if rng.random() < bursty else STEADY
        load = _log(rng, 0.05, 0.3 if kinds is BURSTY else 0.6)
        parts[volume] = in_seconds(component(str(rng.choice(kinds)), load, rng), service)
    loads = np.exp(rng.uniform(np.log(0.4), np.log(1.4), intervals))
    loads[0] = 1.4

    def simulated(at: int, count: int, ios: int) -> tuple[np.ndarray, int, int]:
        return sim.simulate_marks(  # type: ignore[no-any-return]
            scaled(parts, loads[at]),
            np.arange(size),
            services,
            scv,
            inflation,
            gap,
            count,
            ios,
            seed + 97 * at + count,
        )

    def met(at: int, count: int) -> bool:
        row = simulated(at, count, TRUTH_IOS)[0]
        return bool((row[0] * row[3]).sum() <= SHARE * (row[0] * row[1]).sum())

    needed = np.zeros(intervals, dtype=int)
    guess = 4
    for at in np.argsort(-loads):
        low, high = -1, guess
        while not met(int(at), high):
            low, high = high, 2 * high + 1
            if high > MOST:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if met(int(at), middle) else (middle, high)
        needed[at], guess = high, max(high, 1)
    if needed.max() < 2:
        return None
    in_use = int(rng.integers(1, needed.max() + 2)) if aliases else 0
    measured = [simulated(at, in_use, MEASURED_IOS) for at in range(intervals)]
    rows = np.array([row for row, _, _ in measured])
    if not np.isfinite(rows).all() or (rows[:, 0] <= 0).any() or rows[:, 2].sum(axis=1).max() > 300:
        return None
    if not in_use and (rows[:, 0] * rows[:, 1]).max() > 0.97:
        return None
    return SimulatedPool(
        rows=rows, needed=needed, in_use=in_use, most_used=np.array([used for _, used, _ in measured]),
        most_waiting=np.array([waiting for _, _, waiting in measured]), loads=loads, inflation=inflation, gap=gap,
    )  # fmt: skip
