"""How often counts are those of full answers, and what they cost: `python -m tests.site.agreement SEED`.

`python -m tests.site.agreement SEED 240 3 20 volumes` is of volumes in no pool instead, of which classic aliases are
asked: so many volumes, half of them bursty, and intervals drawn of each that were not solved in full.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import polars as pl

from planner.demand import Law
from planner.errors import PlannerError
from planner.site.groups import groups_of, rows_of, series_of
from planner.site.need import need_of
from planner.site.parts import SitePart
from planner.site.point import point
from planner.site.pool_need import PoolNeed
from planner.sizing.search import aliases
from planner.demand import Target
from tests.site.large_site import SORTS, pool_rows

WHOLE = 2  # intervals answered in whole, for their cost
VOLUMES = "volumes"


def compared(sort: str, seed: int, intervals: int, volumes: int, drawn: int) -> dict[str, float]:
    """One pool: agreement with full answers of intervals drawn at random, and CPU seconds of both."""
    law, target = Law.from_model("hyperpav"), Target()
    frame = pool_rows(sort, seed=seed, intervals=intervals, volumes=volumes)
    groups = groups_of(frame.lazy())
    part = SitePart(
        name=sort, groups=tuple(groups), frame=rows_of(frame.lazy(), groups), law=law, target=target
    )
    begin = time.process_time()
    found = need_of(part)
    cost = time.process_time() - begin
    (need,) = found.pools
    assert isinstance(need, PoolNeed)
    ((_, series),) = series_of(part.frame, groups)  # type: ignore[arg-type]
    assert not isinstance(series, str)
    picked = np.random.default_rng(seed + 7).choice(series.start.size, drawn, replace=False)
    truth, seconds = [], 0.0
    for place, k in enumerate(picked):
        run = series.run(int(k))
        begin = time.process_time()
        try:
            if run is None:
                truth.append(0.0)
            elif place < WHOLE:
                truth.append(float(aliases(run, law, target=target).recommended))
            else:  # the same count: tests/site/test_point.py
                truth.append(float(point(run, law, target).count))
        except PlannerError:
            truth.append(np.nan)
        if place < WHOLE:
            seconds += (time.process_time() - begin) / WHOLE
    off = need.series.needed[picked] - np.array(truth)
    known = np.isfinite(off)
    return {
        "same": float((off[known] == 0).sum()), "within one": float((np.abs(off[known]) <= 1).sum()),
        "short by more": float((off[known] < -1).sum()), "known": float(known.sum()),
        "in full": float(need.solved_in_full), "cost": cost, "full answer": seconds,
        "checked": found.checked.tried, "checked same": found.checked.same, "count": float(np.nanmedian(truth)),
    }  # fmt: skip


def compared_volumes(seed: int, intervals: int, volumes: int, drawn: int) -> dict[str, float]:
    """Volumes in no pool: agreement with full answers of intervals that were interpolated, drawn at random."""
    law, target = Law.from_model("hyperpav"), Target()
    found = dict.fromkeys(("same", "within one", "short by more", "known", "in full", "cost"), 0.0)
    for sort in ("steady", "bursty"):
        frame = pool_rows(sort, seed=seed, intervals=intervals, volumes=volumes).with_columns(
            pool=pl.lit(None, dtype=pl.String), pool_aliases=pl.lit(None, dtype=pl.Int64)
        )
        groups = groups_of(frame.lazy())
        part = SitePart(
            name=sort, groups=tuple(groups), frame=rows_of(frame.lazy(), groups), law=law, target=target
        )
        begin = time.process_time()
        needs = need_of(part).pools
        found["cost"] += time.process_time() - begin
        for need, (_, series) in zip(needs, series_of(part.frame, groups), strict=True):  # type: ignore[arg-type]
            assert not isinstance(series, str)
            found["in full"] += need.solved_in_full
            open_ = np.flatnonzero(~need.series.in_full)
            picked = np.random.default_rng(seed + 7).choice(open_, min(drawn, open_.size), replace=False)
            runs = [series.run(int(k)) for k in picked]
            truth = [0 if run is None else point(run, law, target).count for run in runs]
            off = need.series.needed[picked] - np.array(truth, dtype=float)
            found["known"] += off.size
            found["same"] += float((off == 0).sum())
            found["within one"] += float((np.abs(off) <= 1).sum())
            found["short by more"] += float((off < -1).sum())
    return found


def main(seed: int, intervals: int = 240, volumes: int = 64, drawn: int = 20, *sorts: str) -> None:
    """Print a row a sort of pool."""
    total: dict[str, float] = {}
    for k, sort in enumerate(sorts or SORTS):
        if sort == VOLUMES:
            found = compared_volumes(seed, intervals, volumes, drawn)
        else:
            found = compared(sort, seed * 100 + k, intervals, volumes, drawn)
        for name, value in found.items():
            total[name] = total.get(name, 0.0) + value
        print(f"{sort:14s} " + "  ".join(f"{name} {value:.4g}" for name, value in found.items()), flush=True)
    print(f"{'all':14s} " + "  ".join(f"{name} {value:.4g}" for name, value in total.items()))


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:5]), *sys.argv[5:])
