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
from planner.answer import record
from planner.errors import InputError
from planner.measurements.collect import collect
from planner.site.pool_need import FIGURES
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
    return {pool.name: json.loads(json.dumps(record(pool, FIGURES))) for pool in answer.pools}


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


def hours(*each: tuple[float, int]) -> pl.DataFrame:
    """Hours of a pool with two aliases, each with the rate of so many of its four volumes."""
    rows = [
        {"start": f"2026-03-02T{10 + hour}:00", "pool": "P1", "aliases": 2, "device": f"520{k}", "io_rate": rate,
         "service_ms": 1.2, "queued": 0.6, "interval_s": 3600}
        for hour, (rate, volumes) in enumerate(each) for k in range(volumes)
    ]  # fmt: skip
    return pl.DataFrame(rows)


@pytest.mark.long
@pytest.mark.parametrize(
    ("hour", "said"), [((2500.0, 4), "rate x service time"), ((500.0, 1), "lack rows of half of the volumes")]
)
def test_an_hour_that_cannot_be_right_changes_no_answer_and_is_said(
    hour: tuple[float, int], said: str
) -> None:
    """Numbers that contradict each other, or rows of a quarter of the volumes: by every command."""
    good, mixed = hours((500.0, 4), (450.0, 4)), hours((500.0, 4), (450.0, 4), hour)
    (alone,) = site(good, workers=1).pools
    (found,) = site(mixed, workers=1).pools
    asked = planner.aliases(mixed)
    count = (found.needed, (found.needed_low, found.needed_high))
    assert count == (alone.needed, (alone.needed_low, alone.needed_high)) == (asked.recommended, asked.range)
    for notes in (found.notes, asked.notes):
        assert sum(said in note and "1 of 3 intervals" in note for note in notes) == 1


@pytest.mark.long
def test_devices_are_those_of_the_interval_that_is_answered() -> None:
    """Whatever rows the last one has."""
    both = pl.concat([hours((500.0, 4), (450.0, 3)).with_columns(pool=pl.lit(name)) for name in "AB"])
    found = planner.aliases(both.with_columns(device=pl.col("pool") + pl.col("device").str.slice(1)))
    assert [pool.volumes for pool in found.pools] == [4, 4]
    assert sum("1 of 2 intervals lack rows of some volumes" in note for note in found.notes) == 2


def two_systems() -> pl.DataFrame:
    pooled = pl.when(pl.col("device") != "5203").then("pool")
    return pl.concat(
        hours((rate, 4)).with_columns(system=pl.lit(name), pool=pooled)
        for name, rate in (("SYS1", 500.0), ("SYS2", 700.0))
    )


def test_a_pool_of_a_system_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(InputError, match="expected one of SYS1, SYS2"):
        planner.aliases(two_systems(), pool="SYS3/P1")


@pytest.mark.long
def test_a_pool_or_volume_is_asked_for_by_the_name_that_a_site_gives_it() -> None:
    both = two_systems()
    for row in site(both, workers=1).pools:
        named = {"pool": row.name} if row.kind == "pool" else {"device": row.name}
        found = planner.aliases(both, **named)
        assert (found.recommended, found.range) == (row.needed, (row.needed_low, row.needed_high)), row.name
