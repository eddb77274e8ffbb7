"""A moment is one, whatever the clock that shows it; an hour that a clock shows twice is two hours, in every format."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import polars as pl
import pytest

from planner.cli import main
from planner.errors import InputError, ReportError
from planner.measurements import read
from planner.measurements.archive import open_archive
from planner.measurements.collect import collect
from planner.measurements.shown import overview
from planner.reports.moments import MOMENT, with_moments
from planner.site.series import read_series

BERLIN = ZoneInfo("Europe/Berlin")
FIRST = datetime(2026, 10, 24, 23, 30, tzinfo=UTC)  # summer time ends at 01:00 of the next day
HOURS = [FIRST + timedelta(minutes=30 * k) for k in range(6)]
SHOWN = ["01:30", "02:00", "02:30", "02:00", "02:30", "03:00"]
OFFSETS = [7200, 7200, 7200, 3600, 3600, 3600]


def night(zone: ZoneInfo | None = BERLIN, rate: float = 100.0, device: str = "2000") -> pl.DataFrame:
    return pl.DataFrame([
        {"start": (each.astimezone(zone) if zone else each).isoformat(), "interval_s": 1800.0, "system": "A",
         "device": device, "io_rate": rate + k, "service_ms": 1.5, "queued": 0.25}
        for k, each in enumerate(HOURS)
    ])  # fmt: skip


def zoned() -> pl.DataFrame:
    return night().with_columns(pl.col("start").str.to_datetime(time_zone="Europe/Berlin", format="%+"))


def written(suffix: str) -> Callable[[Path], object]:
    def write(path: Path) -> object:
        file = path.with_suffix(suffix)
        getattr(zoned(), {".parquet": "write_parquet", ".arrow": "write_ipc", ".csv": "write_csv"}[suffix])(
            file
        )
        return file

    return write


def as_pandas(path: Path) -> object:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(night().to_dicts())
    return frame.assign(start=pandas.to_datetime(frame["start"], utc=True).dt.tz_convert("Europe/Berlin"))


def as_own_csv(path: Path) -> object:
    """What `planner read --csv` writes."""
    source, file = path.with_suffix(".csv"), path.with_name("own.csv")
    night().write_csv(source)
    assert main(["read", str(source), "--csv", "-o", str(file)]) == 0
    return file


def as_own_table(path: Path) -> object:
    """A table of the schema, whose times are in a zone."""
    devices = read(night()).devices
    return devices.with_columns(zoned()["start"]).drop("utc_offset")


def as_iostat(path: Path) -> object:
    times = [HOURS[0] - timedelta(minutes=30), *HOURS, HOURS[-1] + timedelta(minutes=30)]
    disk = {"disk_device": "dasda", "r/s": 1.0, "w/s": 0.0, "r_await": 1.0, "w_await": 0.0}
    statistics = [{"timestamp": each.astimezone(BERLIN).isoformat(), "disk": [disk]} for each in times]
    file = path.with_suffix(".json")
    file.write_text(json.dumps({"sysstat": {"hosts": [{"nodename": "A", "statistics": statistics[1:]}]}}))
    return file


def as_archive(path: Path) -> object:
    collect([night()], path)
    return path


@pytest.mark.parametrize(
    "make",
    [lambda path: night(), lambda path: zoned(), written(".csv"), written(".parquet"), written(".arrow"), as_pandas,
     as_own_csv, as_own_table, as_iostat, as_archive],
)  # fmt: skip
def test_the_hour_that_is_set_back_is_two_hours_in_every_format(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    devices = with_moments(read(make(tmp_path / "night")).devices).sort(MOMENT)
    assert devices["start"].dt.to_string("%H:%M").to_list() == SHOWN
    assert devices["utc_offset"].to_list() == OFFSETS
    assert devices[MOMENT].to_list() == [each.replace(tzinfo=None) for each in HOURS]


@pytest.mark.long
def test_the_same_moment_by_another_clock_is_known(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    collect([night()], archive)
    assert collect([night(None)], archive).added["devices"] == 0
    assert collect([night(ZoneInfo("America/New_York"))], archive).known["devices"] == 6
    with pytest.raises(
        ReportError, match=r"2000 at 2026-10-24 23:30:00\+00:00 is not as in .* io_rate is 101.0"
    ):
        collect([night(None, rate=101.0)], archive)
    late = night(None).with_columns(pl.col("start").str.replace(":30:00", ":40:00"))
    with pytest.raises(
        ReportError, match=r"2026-10-24 23:40:00\+00:00 for 1800 s overlaps 2026-10-25 01:30:00\+02:00"
    ):
        collect([late.head(1)], archive)
    assert open_archive(archive).read().height == 6
    both = collect([night(None), night()], tmp_path / "both")
    assert (both.added["devices"], both.known["devices"]) == (6, 6)


def test_one_moment_twice_in_a_table_is_refused_whatever_its_clock(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"2000 a second time at .*, first in line 1"):
        read(pl.concat([night().head(1), night(None).head(1)]))


@pytest.mark.first(2)
@pytest.mark.parametrize("kept", ["table", "archive"])
@pytest.mark.parametrize("zone", [BERLIN, None])
def test_a_span_with_offsets_takes_the_same_moments_from_any_clock(
    tmp_path: Path, kept: str, zone: ZoneInfo | None
) -> None:
    source: object = night(zone)
    if kept == "archive":
        source = tmp_path / "archive"
        collect([night(zone)], tmp_path / "archive")
    for clock in (UTC, BERLIN, ZoneInfo("Asia/Tokyo"), ZoneInfo("America/Los_Angeles")):
        start, end = HOURS[2].astimezone(clock).isoformat(), HOURS[4].astimezone(clock).isoformat()
        found = read(source, start=start, end=end).devices
        assert found["io_rate"].to_list() == [102.0, 103.0], clock
        (at,) = read(source, interval=start).devices["io_rate"].to_list()
        assert at == 102.0
    with pytest.raises(InputError, match="a time within a measured interval"):
        read(source, interval=(HOURS[-1] + timedelta(hours=1)).isoformat())


def test_without_an_offset_the_clock_of_the_system_counts() -> None:
    assert read(night(), start="2026-10-25T03:00").devices["io_rate"].to_list() == [105.0]
    plain = night().head(3).with_columns(pl.col("start").str.slice(0, 19))
    assert read(plain, start="2026-10-25T02:00:00+09:00").devices.height == 2


def test_the_hour_that_is_set_back_has_no_gap_and_no_overlap(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    collect([night()], archive)
    (row,) = overview(open_archive(archive)).rows
    assert (row["intervals"], row["gaps"], row["first"], row["last"]) == (
        6,
        0,
        "2026-10-25 01:30:00",
        "2026-10-25 03:30:00",
    )
    later = [HOURS[-1] + timedelta(hours=2)]
    collect(
        [night(None).head(1).with_columns(start=pl.Series([later[0].astimezone(BERLIN).isoformat()]))],
        archive,
    )
    (row,) = overview(open_archive(archive)).rows
    assert (row["gaps"], row["gap_start"], row["longest_gap_h"]) == (1, "2026-10-25 03:30:00", 1.5)


def test_the_worst_interval_is_one_of_the_two_hours() -> None:
    rows = pl.concat([night(), night(device="2001")]).with_columns(pool=pl.lit("7"))
    queued = pl.when(pl.col("start").str.contains(r"02:30:00\+01:00")).then(2.0).otherwise(pl.col("queued"))
    found = read(rows.with_columns(queued=queued), interval="worst").devices
    assert found.select("device", "utc_offset", "queued").rows() == [("2000", 3600, 2.0), ("2001", 3600, 2.0)]


def test_smf_records_with_offsets_keep_them() -> None:
    frame = pl.DataFrame({
        "SMF74TIMESTAMP": [each.astimezone(BERLIN).isoformat() for each in HOURS], "SMF74INT": 1800.0, "SMF74SID": "A",
        "SMF74NUM": "8A00", "SMF74SSC": 1000.0, "SMF74MEC": 1000.0, "SMF74CNN": 1.0, "SMF74PEN": 1.0, "SMF74DIS": 1.0,
    })  # fmt: skip
    found = read(frame.rename({"SMF74TIMESTAMP": "timestamp"})).devices
    assert found["utc_offset"].to_list() == OFFSETS
    again = frame.rename({"SMF74TIMESTAMP": "timestamp"}).with_columns(
        pl.col("timestamp").str.to_datetime(time_zone="Europe/Berlin", format="%+")
    )
    assert read(again).devices["start"].to_list() == found["start"].to_list()


def test_a_series_in_order_of_time_is_read_whatever_its_clock(tmp_path: Path) -> None:
    path = tmp_path / "series.csv"
    clocks = [BERLIN, ZoneInfo("America/New_York")]
    rows = "".join(f"{each.astimezone(clocks[k % 2]).isoformat()},{k}\n" for k, each in enumerate(HOURS))
    path.write_text("start,io_rate\n" + rows)
    read_series(path)
    path.write_text(f"start,io_rate\n{rows}{HOURS[-1].isoformat()},7\n")
    with pytest.raises(ReportError, match="is the same as in line 7: expected intervals in order of time"):
        read_series(path)
