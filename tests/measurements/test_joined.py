"""Intervals with few samples of the queue are joined before the worst is sought: sums, times and ends by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import planner
from planner.measurements.choose import JOINED, joined_intervals
from planner.measurements.collect import collect
from planner.measurements.read import read
from planner.reports import schema
from planner.site.question import site

HEADER = "volume,pool,aliases,start,interval_s,io_rate,service_ms,queued,queue_samples\n"
ROW = "{volume},{pool},{aliases},2026-03-02T{at},{seconds},{rate:.1f},{service:.3f},{queued:.3f},{samples}\n"


def minute(at: int, **other: object) -> str:
    """A row of the table, so many minutes after ten."""
    row = {
        "volume": "V1", "pool": "", "aliases": 0, "seconds": 60, "samples": 30, "rate": 100.0 + at,
        "service": 2.0 + 0.01 * at, "queued": 0.1 * (at % 7),
    }  # fmt: skip
    return ROW.format(at=f"{10 + at // 60:02d}:{at % 60:02d}:00", **row | other)


def joined(*rows: str) -> pl.DataFrame:
    """The table of these rows."""
    return joined_intervals(read((HEADER + "".join(rows)).encode()).devices)


def test_ten_minutes_are_one_row_of_three_hundred_samples() -> None:
    at = np.arange(60.0)
    rate, service, queued = 100.0 + at, (2.0 + 0.01 * at) / 1e3, 0.1 * (at % 7)
    found = joined(*(minute(k) for k in range(60)))
    assert [str(each)[11:16] for each in found["start"]] == [f"10:{k}0" for k in range(6)]
    assert set(found["interval"]) == {600.0} and set(found["queue_samples"]) == {300}
    assert set(found[JOINED]) == {10}
    by_time = np.stack([rate, queued]).reshape(2, 6, 10).mean(axis=2)
    by_ios = (rate * service).reshape(6, 10).mean(axis=1)
    np.testing.assert_allclose(found["io_rate"], by_time[0])
    np.testing.assert_allclose(found["queued"], by_time[1])
    np.testing.assert_allclose(found["service"], by_ios / by_time[0])


def starts(found: pl.DataFrame) -> list[tuple[str, float, int]]:
    """Begin, length and number of intervals of each row."""
    shown = found.sort("start").select(pl.col("start").dt.strftime("%H:%M"), "interval", JOINED)
    return shown.rows()


def test_they_begin_by_the_clock_and_a_short_rest_belongs_to_the_one_before() -> None:
    assert starts(joined(*(minute(k) for k in range(3, 24)))) == [("10:03", 420.0, 7), ("10:10", 840.0, 14)]
    assert starts(joined(*(minute(k) for k in range(3)))) == [("10:00", 180.0, 3)]
    assert starts(joined(*(minute(k) for k in range(7, 20)))) == [("10:07", 780.0, 13)]


def test_a_gap_ends_them_and_a_minute_alone_stays() -> None:
    rows = [minute(k) for k in (0, 1, 2, 3, 4, 8, 9)]
    assert starts(joined(*rows)) == [("10:00", 300.0, 5), ("10:08", 120.0, 2)]
    lonely = [minute(k) for k in (0, 60, 120, 180)]
    whole = read((HEADER + "".join(lonely)).encode()).devices
    assert joined_intervals(whole).equals(whole)


def test_other_aliases_are_another_state() -> None:
    rows = [minute(k, aliases=0 if k < 6 else 2) for k in range(20)]
    found = joined(*rows)
    assert starts(found) == [("10:00", 360.0, 6), ("10:06", 240.0, 4), ("10:10", 600.0, 10)]
    assert found.sort("start")["pool_aliases"].to_list() == [0, 2, 2]


@pytest.mark.parametrize("other", [{"samples": ""}, {"samples": 290}, {"seconds": ""}])
def test_what_was_not_sampled_so_seldom_stays(other: dict[str, object]) -> None:
    rows = HEADER + "".join(minute(k, **other) for k in range(10))
    devices = read(rows.encode()).devices
    assert joined_intervals(devices).equals(devices)


def test_a_volume_beside_it_that_was_not_sampled_stays() -> None:
    found = joined(
        *(minute(k, volume=name, samples=m) for k in range(10) for name, m in (("V1", 30), ("V2", "")))
    )
    assert found["label"].value_counts().sort("label").rows() == [("V1", 1), ("V2", 10)]


def test_a_device_of_a_listing_without_a_row_did_nothing() -> None:
    """In five of nine minutes: so much of the rate and of the queue, the same service time; before it comes, none."""
    devices = read((HEADER + "".join(minute(k, pool="P") for k in range(10))).encode()).devices
    alias = devices.filter(pl.int_range(pl.len()) % 2 == 1).with_columns(
        device=pl.lit("01FF"), label=pl.lit(None, pl.String), kind=pl.lit(schema.ALIAS, devices.schema["kind"]),
        io_rate=pl.lit(10.0), service=pl.lit(1e-3), queue_samples=pl.lit(None, pl.UInt32),
    )  # fmt: skip
    base = devices.with_columns(device=pl.lit("0100"), kind=pl.lit(schema.BASE, devices.schema["kind"]))
    found = joined_intervals(pl.concat([base, base.with_columns(device=pl.lit("0101")), alias]))
    assert set(starts(found.filter(kind=schema.BASE))) == {("10:00", 60.0, 1), ("10:01", 540.0, 9)}
    row = found.filter(kind=schema.ALIAS).row(0, named=True)
    assert (row["io_rate"], row["service"], row["interval"]) == pytest.approx((50 / 9, 1e-3, 540.0))


def test_a_volume_without_a_row_did_nothing_and_a_minute_without_half_of_them_stays_apart() -> None:
    names = ("V1", "V2", "V3")
    rows = [
        minute(k, volume=name, pool="P", rate=90.0) for k in range(10) for name in names[: 3 if k % 5 else 2]
    ]
    assert joined(*rows).sort("label")["io_rate"].to_list() == pytest.approx([90.0, 90.0, 72.0])
    rows = [minute(k, volume=name, pool="P") for k in range(10) for name in names[: 3 if k else 1]]
    assert set(starts(joined(*rows))) == {("10:00", 60.0, 1), ("10:01", 540.0, 9)}


@pytest.mark.long
def test_one_number_of_minutes_by_every_question(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    rows = [
        minute(
            k, volume=f"{pool}{v}", pool=pool, aliases=1, rate=150.0 + 20 * v, queued=random.gamma(0.3, 0.6)
        )
        for k in range(24)
        for pool in ("A", "B")
        for v in range(2)
    ]
    path, archive = tmp_path / "minutes.csv", tmp_path / "archive"
    path.write_text(HEADER + "".join(rows))
    collect([path], archive)
    answer = planner.aliases(path, kind="pool", pool="A")
    assert "worst of 2 intervals" in answer.headline
    assert any("10 intervals are joined" in note for note in answer.notes)
    told = {
        (
            found.needed_worst,
            *((found.needed_low, found.needed_high) if found.needed == found.needed_worst else ()),
        )
        for source, asked in ((path, {}), (path, {"pool": "A"}), (archive, {}))
        for found in site(source, meet=1.0, workers=1, **asked).pools
        if found.pool == "A"
    }
    assert told == {(answer.recommended, *answer.range)}
    assert any("intervals are joined" in note for note in site(path, workers=1).notes)
    for when in ("2026-03-02T10:00", "2026-03-02T10:04"):
        one = planner.aliases(path, kind="pool", pool="A", interval=when)
        assert (one.recommended, one.range) == (answer.recommended, answer.range)
    assert JOINED not in read(path, interval="worst").devices.columns
