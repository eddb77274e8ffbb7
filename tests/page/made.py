"""A site as the page gets it, of any size, without solving it: one answer of a listing stands for every pool."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl

from planner import sizing
from planner.demand import Target
from planner.library import data_path
from planner.page.build import Report, report_of
from planner.page.parts import part_of
from planner.page.volumes import volumes_of
from planner.site.pool_need import NeedSeries, PoolNeed
from planner.site.site_answer import SiteAnswer
from planner.sizing import AliasAnswer, PoolCount, Subsystem

FIRST = np.datetime64("2026-03-02T00:00", "us")  # a Monday
HOSTILE = "</script><img src=x onerror=alert(1)>&\"'"


@cache
def answer() -> AliasAnswer:
    """The one answer that is solved."""
    found = sizing.aliases(data_path("hyperpav", "522A-0-aliases.listing"), kind="volume")
    assert isinstance(found, AliasAnswer)
    return found


def series(intervals: int, phase: float, in_use: int) -> NeedSeries:
    """A need that rises and falls over the day, by minutes."""
    minutes = np.arange(intervals)
    needed = np.round(4 + 3 * np.sin(2 * np.pi * (minutes / 1440 + phase)) + 2 * np.sin(minutes / 37))
    needed[intervals // 3 : intervals // 3 + 5] = np.nan
    flags = np.ones(intervals, dtype=bool)
    return NeedSeries(
        start=FIRST + minutes * np.timedelta64(60_000_000, "us"), seconds=np.full(intervals, 60.0), needed=needed,
        in_use=np.full(intervals, float(in_use)), io_rate=500 + 100 * needed, response=1e-3 + 1e-4 * needed,
        queued=needed / 10, busy=flags,
    )  # fmt: skip


def need(number: int, intervals: int, name: str | None = None) -> PoolNeed:
    """One pool: the first third is short, the second has enough, the last too many."""
    in_use = (3, 8, 12)[number % 3]
    shown = series(intervals, number / 17, in_use)
    worst = int(np.nanargmax(shown.needed))
    needed = int(np.nanmax(shown.needed))
    start = shown.start[worst].item()
    return PoolNeed(
        system="VM1", pool=name or f"LCU{number:03d}", volumes=64, in_use=in_use, needed_worst=needed, needed_99=needed,
        needed_95=needed - 1, needed=needed, needed_low=needed - 1, needed_high=needed + 1, worst_start=start,
        intervals=intervals, busy_intervals=intervals, solved_in_full=9,
        short_intervals=int((np.nan_to_num(shown.needed) > in_use).sum()), rules={"in_use_plus_queue": needed},
        notes=("5 intervals were not measured",), series=shown,
    )  # fmt: skip


def site(pools: int, intervals: int = 1440) -> SiteAnswer:
    """The answer for a site; the name of its last pool is hostile."""
    needs = [need(k, intervals, f"P{HOSTILE}" if k == pools - 1 else None) for k in range(pools)]
    return SiteAnswer(pools=tuple(needs), target=Target(), meet=0.99, remarks=(f"A remark with {HOSTILE}.",))


def grown(found: SiteAnswer, share: float) -> Subsystem:
    """The same with more aliases everywhere."""
    more = round(10 * share)
    return Subsystem(
        pools=tuple(
            PoolCount(
                name=each.name, volumes=each.volumes, in_use=each.in_use, recommended=(each.needed or 0) + more,
                range=((each.needed_low or 0) + more, (each.needed_high or 0) + more),
            )
            for each in found.pools
        ),
        target=found.target, growth=share,
    )  # fmt: skip


def devices(pools: int, volumes: int) -> pl.DataFrame:
    """Volumes of a site, one interval."""
    count = pools * volumes
    number = np.arange(count)
    return pl.DataFrame(
        {
            "system": ["VM1"] * count,
            "pool": [f"LCU{k // volumes:03d}" for k in range(count)],
            "device": [f"{0x1000 + k:04X}" for k in range(count)],
            "label": [f"<V{k}>" for k in range(count)],
            "kind": ["base"] * count,
            "io_rate": 10.0 + (number * 7919 % 5000) / 10,
            "service": 4e-4 + (number * 104729 % 1000) * 1e-6,
            "response": 5e-4 + (number * 104729 % 3000) * 1e-6,
            "queued": (number * 31 % 100) / 50,
        }
    )


def page(pools: int, volumes: int, intervals: int = 1440, *, curves: AliasAnswer | None = None) -> Report:
    """The page of such a site, each pool in full, with three steps of growth."""
    found = site(pools, intervals)
    curves = curves or answer()
    full = {each.name: replace(curves, name=each.name) for each in found.pools}
    later = [(share, grown(found, share)) for share in (0.2, 0.5, 1.0)]
    part = part_of(found, "p0", full=full, grown=later)
    return report_of(
        [part], [found], command=f"planner report {HOSTILE}", sources=[], title=f"Site {HOSTILE}",
        volumes=volumes_of(devices(pools, volumes)),
    )  # fmt: skip
