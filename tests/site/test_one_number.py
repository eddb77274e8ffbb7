"""One question, one number: a pool has the same count and range however it is asked, and whatever stands beside it.

Sites are drawn: pools and volumes that are steady, bursty, saturated or idle, with aliases in use or not, with queues
or without.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import planner
from planner.measurements.collect import collect
from planner.site.question import site
from planner.site.site_answer import SiteAnswer
from tests.site.large_site import SORTS, pool_rows

RATE = ("io_rate", "io_rate_low", "io_rate_high")
QUEUE = ("queued", "queued_low", "queued_high")


def drawn(seed: int, pools: int, volumes: int, most: int, saturated: bool) -> pl.DataFrame:
    """Some pools, and volumes in none; the first pool is idle in one interval, the last may be saturated."""
    random = np.random.default_rng(seed)
    intervals = int(random.integers(6, most + 1))
    every = []
    for k in range(pools + volumes):
        over = saturated and k + 1 == pools
        sort = "unknown" if over else str(random.choice(SORTS))
        rows = pool_rows(
            sort, seed=seed * 100 + k, name=f"P{k + 1}", volumes=int(random.integers(2, 9)) if k < pools else 1,
            intervals=intervals, seconds=7200.0, first=1 + 16 * k,
        )  # fmt: skip
        if over:
            rows = rows.with_columns(pl.col(name) * 8.0 for name in RATE)
        if k == 0:
            idle = pl.when(pl.col("start") == pl.col("start").min()).then(0.0)
            rows = rows.with_columns(idle.otherwise(pl.col(name)).alias(name) for name in (*RATE, *QUEUE))
        if k >= pools:
            rows = rows.with_columns(pool=pl.lit(None, pl.String))
        every.append(rows)
    return pl.concat(every)


def told(answer: SiteAnswer) -> dict[str, Any]:
    """Everything that is said of each pool, by its name."""
    return {pool.name: json.loads(json.dumps(pool.to_dict())) for pool in answer.pools}


def asked_alone(frame: pl.DataFrame, name: str, kind: str, interval: str) -> tuple[int, tuple[int, int]]:
    """Count and range of one interval, as `planner aliases` has them."""
    if kind == "pool":
        found = planner.aliases(frame.drop_nulls("pool"), pool=name, interval=interval)
    else:
        found = planner.aliases(frame, kind="volume", device=name, interval=interval)
    return found.recommended, found.range


def hold(folder: Path, seed: int, pools: int, volumes: int, most: int, *, saturated: bool) -> None:
    """Ask for each pool in every way."""
    frame = drawn(seed, pools, volumes, most, saturated)
    whole = told(site(frame, workers=1))
    assert len(whole) == pools + volumes
    collect([frame], folder / "archive")
    mixed = frame.sample(fraction=1.0, shuffle=True, seed=seed)
    assert told(site(folder / "archive", workers=2)) == whole
    answered = 0
    for name, row in whole.items():
        alone = pl.col("pool") == row["pool"] if row["kind"] == "pool" else pl.col("device") == row["pool"]
        assert told(site(mixed, pool=row["pool"], workers=1))[name] == row
        assert told(site(frame.filter(alone), workers=1))[name] == row
        if row["decided_start"] is not None:
            count = (row["needed"], (row["needed_low"], row["needed_high"]))
            for rows in (frame, mixed):
                assert asked_alone(rows, row["pool"], row["kind"], row["decided_start"]) == count, name
            answered += 1
    assert answered >= (pools + volumes) // 2


@pytest.mark.long
def test_a_small_site_has_one_number_for_each_pool(tmp_path: Path) -> None:
    hold(tmp_path, 2, 2, 1, 6, saturated=False)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 9))
def test_drawn_sites_have_one_number_for_each_pool(seed: int, tmp_path: Path) -> None:
    hold(tmp_path, seed, 4, 3, 12, saturated=True)
