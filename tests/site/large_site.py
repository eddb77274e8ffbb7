"""A made-up site of any size with plausible rows, for cost and for how well interpolation agrees with full answers.

Loads follow the hours of a week with noise; queues follow from the loads by Hayward's formula (1980) with noise, no
event is simulated: what the pools truly need is not known here. `tests.site.simulated` has pools whose truth is known.
"""

from __future__ import annotations

from datetime import datetime

import numpy as np
import polars as pl
from scipy.special import gammaincc, gammaln

from planner.reports import schema
from planner.site.example import HOURS, WEEK

SORTS = ("unknown", "steady", "bursty", "in use", "bursty in use", "calm")
BEGIN = datetime(2026, 3, 2)  # a Monday
GAP = 0.045  # service times


def erlang_queue(load: float, servers: float) -> float:
    """Mean queue of M/M/c with c real, by the incomplete gamma function; inf if overloaded."""
    if servers <= load:
        return float("inf")
    blocked = poisson_density(servers, load) / gammaincc(servers + 1, load)
    return float(blocked / (1 - load / servers * (1 - blocked)) * load / (servers - load))


def poisson_density(number: float, mean: float) -> float:
    """exp(-m) m^n / Gamma(n + 1)."""
    return float(np.exp(number * np.log(mean) - mean - gammaln(number + 1)))


def pool_rows(
    sort: str, *, seed: int, name: str = "P1", system: str = "SYS1", volumes: int = 64, intervals: int = 1440,
    seconds: float = 900.0, first: int = 1,
) -> pl.DataFrame:  # fmt: skip
    """Rows of one pool, with the columns of the schema."""
    rng = np.random.default_rng(seed)
    hours = np.arange(intervals) * seconds / 3600.0
    shape = HOURS[hours.astype(int) % 24] * np.array(WEEK)[(hours.astype(int) // 24) % 7]
    level = shape * np.exp(0.08 * rng.standard_normal(intervals))
    share = np.exp(0.6 * rng.standard_normal(volumes))
    busiest = rng.uniform(0.15, 0.45)
    load = np.minimum(busiest * level[:, None] * share / share.mean(), 0.9)
    load = np.minimum(load * np.exp(0.05 * rng.standard_normal(load.shape)), 0.93)
    service = 1e-3 * rng.uniform(0.5, 2.5, volumes) * np.exp(0.02 * rng.standard_normal(load.shape))
    rate = load / service
    ratio = np.exp(rng.uniform(np.log(3.0), np.log(8.0), volumes)) if "bursty" in sort else np.ones(volumes)
    alone = ratio * load**2 / (1 - load) * np.exp(0.05 * rng.standard_normal(load.shape))
    spill, peak = (load**2 / (1 + load)).sum(axis=1), float(np.sqrt(ratio.mean()))
    spill *= peak
    aliases = 0 if sort in {"steady", "bursty"} else max(int(np.quantile(spill, 0.95) + 1.0), 2)
    if sort == "calm":
        aliases *= 4
    if aliases:
        total = np.array([peak * float(erlang_queue(mean / peak, aliases / peak)) for mean in spill])
        total = np.minimum(np.where(np.isfinite(total), total, alone.sum(axis=1)), alone.sum(axis=1))
        alone = total[:, None] * alone / alone.sum(axis=1, keepdims=True)
    queue = np.round(alone, 2)
    starts = np.datetime64(BEGIN, "us") + (np.arange(intervals) * seconds * 1e6).astype("timedelta64[us]")
    one = np.ones(volumes)
    rates, times = np.round(rate, 1).ravel(), np.round(service, 6).ravel()
    known = sort != "unknown"
    return schema.frame(
        schema.DEVICES,
        {
            "system": system, "source": "made up", "start": np.repeat(starts, volumes), "interval": seconds,
            "device": np.tile([f"{first + k:04X}" for k in range(volumes)], intervals).tolist(), "kind": schema.VOLUME,
            "pool": name, "pool_aliases": aliases,
            "io_rate": rates, "io_rate_low": rates - 0.05, "io_rate_high": rates + 0.05,
            "service": times, "service_low": times - 5e-7, "service_high": times + 5e-7,
            **({"queued": queue.ravel(), "queued_low": np.maximum(queue.ravel() - 0.005, 0.0),
                "queued_high": queue.ravel() + 0.005} if known else {}),
            "file": "made up", "line": np.arange(1, intervals * one.size + 1),
        },
        intervals * volumes,
    )  # fmt: skip


def site_rows(pools: int, *, seed: int, sorts: tuple[str, ...] = SORTS, **sizes: int) -> pl.DataFrame:
    """Rows of some pools, of all sorts in turn."""
    volumes = sizes.get("volumes", 64)
    return pl.concat(
        [
            pool_rows(
                sorts[k % len(sorts)],
                seed=seed * 1000 + k,
                name=f"P{k + 1}",
                first=1 + k * volumes,
                **sizes,  # type: ignore[arg-type]
            )
            for k in range(pools)
        ]
    )
