"""A seeded example of a site over its days: weeks, month ends, growth, a level shift and gaps, of any size."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from itertools import accumulate
from typing import Final

import numpy as np

from planner.demand import DeviceModel
from planner.errors import InputError
from planner.lazy import pl
from planner.library import DEFAULT_MODEL
from planner.queueing.pools.pool import MOST_DEVICES
from planner.queueing.pools.solve import solve_pools
from planner.results import Array
from planner.site.growth.dates import month_forms
from planner.site.growth.model import YEAR
from planner.units import MOST_ALIASES

FIRST: Final = date(2026, 1, 1)
WEEK: Final = (0.97, 1.0, 1.0, 0.99, 0.95, 0.45, 0.4)
HOURS: Final = np.array(
    [0.30, 0.28, 0.35, 0.45, 0.40, 0.30, 0.32, 0.45, 0.70, 0.90, 1.00, 0.97, 0.85, 0.90, 0.95, 0.90, 0.80, 0.65,
     0.50, 0.45, 0.42, 0.40, 0.38, 0.34]
)  # fmt: skip
SHIFT: Final = 0.18  # of the second pool, half-way through
GROWTH: Final = (0.35, 0.10, 0.0, 0.6)  # a year, of pool after pool
SERVICE_TIME, BUSY = 1.3e-3, 0.45  # of a volume alone [s]; its utilization at the begin, in its busy hour
KINDS: Final = 8  # volumes of a pool with a rate of their own
GRID: Final = 12  # levels of load at which queue and service time are solved
LEAST_QUEUE: Final = 1e-9  # I/Os: next to none
MOST: Final = 10_000_000  # rows
MOST_VOLUMES: Final = 0xFFFF  # device numbers of a system


def daily_levels(
    days: int, growth: float, shift: float, generator: np.random.Generator, *, month_end: float = 1.2,
    noise: float = 0.04, correlation: float = 0.6, gaps: float = 0.04,
) -> Array:  # fmt: skip
    """Busy-hour level of each day over that of the first, nan on days without measurements.

    The last working day of a month is `month_end` times as high; `noise` is a share of the level, `correlation` that
    of one day with the next, `gaps` the share of days without measurements.
    """
    day = np.arange(days)
    weekday = (FIRST.weekday() + day) % 7
    last_working = month_forms(FIRST, days)[0] > 0
    level = (1 + growth * day / YEAR) * np.where(2 * day >= days, 1 + shift, 1.0)
    innovations = np.sqrt(1 - correlation**2) * generator.standard_normal(days)
    innovations[0] = generator.standard_normal()
    off = np.array([*accumulate(innovations, lambda before, new: correlation * before + new)])
    found = level * np.array(WEEK)[weekday] * np.where(last_working, month_end, 1.0) * (1 + noise * off)
    found[generator.random(days) < gaps] = np.nan
    return np.asarray(found)


def example_volumes(
    *,
    days: int = 365,
    systems: int = 1,
    pools: int = 2,
    volumes: int = 4,
    aliases: int = 3,
    hours: int = 24,
    seed: int = 1,
) -> pl.DataFrame:
    """Make hourly volumes of a site, for `planner growth`: queues and service of open arrivals by the default model."""
    sizes = {"days": days, "systems": systems, "pools": pools, "volumes": volumes}
    rows = math.prod(sizes.values()) * hours
    for name, number, allowed, expected in (
        *((name, number, number >= 1, "1 or more") for name, number in sizes.items()),
        ("aliases", aliases, 0 <= aliases <= MOST_ALIASES, f"0 to {MOST_ALIASES}"),
        ("seed", seed, seed >= 0, "0 or more"),
        ("volumes", volumes, volumes + aliases <= MOST_DEVICES,
         f"at most {MOST_DEVICES} devices of a pool, its aliases included"),
        ("pools, volumes", (pools, volumes), pools * volumes <= MOST_VOLUMES,
         f"at most {MOST_VOLUMES} volumes of a system"),
        ("hours", hours, 1 <= hours <= HOURS.size, f"1 to {HOURS.size}"),
        (", ".join(sizes), tuple(sizes.values()), rows <= MOST, f"at most {MOST} rows together"),
    ):  # fmt: skip
        if not allowed:
            raise InputError(name, number, expected)
    kept = np.sort(np.argsort(-HOURS, kind="stable")[:hours])
    device_model = DeviceModel.from_model(DEFAULT_MODEL)
    parts = []
    for system in range(systems):
        for pool in range(pools):
            generator = np.random.default_rng([seed, system, pool])
            levels = daily_levels(days, GROWTH[pool % len(GROWTH)], SHIFT if pool % 2 else 0.0, generator)
            known = np.flatnonzero(np.isfinite(levels))
            shares = generator.uniform(0.6, 1.4, min(volumes, KINDS))
            load = levels[known, None] * HOURS[kept]
            rate = BUSY / SERVICE_TIME * shares / shares.mean()
            of = np.arange(volumes) % shares.size  # which kind each volume is
            queue, service = _solved(device_model, aliases, np.bincount(of).astype(float), rate, load)
            noise = 1 + 0.02 * generator.standard_normal((*load.shape, volumes))
            off = 1 + 0.01 * generator.standard_normal(noise.shape)
            begin = datetime(FIRST.year, FIRST.month, FIRST.day)
            starts = [begin + timedelta(days=int(day), hours=hour) for day in known for hour in kept.tolist()]
            devices = [f"{1 + pool * volumes + k:04X}" for k in range(volumes)]
            parts.append(
                pl.DataFrame(
                    {
                        "system": [f"SYS{system + 1}"] * noise.size,
                        "start": np.repeat(np.array(starts, dtype="datetime64[us]"), volumes),
                        "interval_s": np.full(noise.size, 3600),
                        "pool": [f"P{pool + 1}"] * noise.size,
                        "aliases": np.full(noise.size, aliases),
                        "device": devices * (noise.size // volumes),
                        "io_rate": np.round((load[..., None] * rate[of] * noise).ravel(), 1),
                        "service_ms": np.round((1e3 * service[..., of] * off).ravel(), 2),
                        "queued": np.round((queue[..., of] * noise**2).ravel(), 3),
                    }
                )
            )
    return pl.concat(parts)


def _solved(
    device_model: DeviceModel, aliases: int, volumes: Array, rate: Array, load: Array
) -> tuple[Array, Array]:
    """Queue and service time [s] of each kind of volumes as the load is, from open arrivals at `load` x `rate`.

    Solved at `GRID` levels, in between by straight lines in the logarithms: shape load x kinds.
    """
    level = np.geomspace(load.min(), load.max(), GRID)
    found = solve_pools(
        aliases, volumes=volumes, service_time=SERVICE_TIME, arrival_rate=level[:, None] * rate,
        **device_model.parameters,
    )  # fmt: skip
    if not found.stable.all():
        busy = level[int(np.argmin(found.stable))] * BUSY
        raise InputError(
            "aliases", aliases, f"more, or fewer days: the load grows to volumes {100 * busy:.0f} % busy"
        )
    queue = np.maximum(found.queue_length - found.in_gap, LEAST_QUEUE)

    def between(values: Array) -> Array:
        logs = np.array([np.interp(np.log(load), np.log(level), np.log(each)) for each in values.T])
        return np.moveaxis(np.exp(logs), 0, -1)

    return between(queue), between(found.service_time)


def example_series(*, days: int = 365, seed: int = 1) -> pl.DataFrame:
    """Make the busy hour of each day of a pool, as docs/examples/io-rate.csv has it."""
    if days < 1:
        raise InputError("days", days, "1 or more")
    levels = daily_levels(days, 0.25, SHIFT, np.random.default_rng(seed))
    known = np.flatnonzero(np.isfinite(levels))
    starts = [FIRST + timedelta(days=int(day)) for day in known]
    return pl.DataFrame({"start": starts, "io_rate": np.round(3000 * levels[known], 1)})
