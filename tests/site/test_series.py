"""The busy hour of each day, and what is no measured series."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from planner.errors import InputError, ReportError
from planner.site.series import busy_hours, read_series, unit_jump

FIRST = datetime(2026, 3, 2)  # a Monday


def written(folder: Path, rows: list[str], header: str = "start,io_rate") -> Path:
    path = folder / "series.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def days(number: int, value: float = 100.0, first: datetime = FIRST) -> list[str]:
    return [f"{(first + timedelta(days=k)).date()},{value + k % 7}" for k in range(number)]


def test_one_number_a_day_is_its_level(tmp_path: Path) -> None:
    daily = read_series(written(tmp_path, days(20)))
    assert daily.first == FIRST.date()
    assert daily.values[0, :8].tolist() == [100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 106.0, 100.0]
    assert daily.series[0].unit == "1/s"


def test_the_busy_hour_is_that_of_the_weekday_not_the_largest_of_the_day() -> None:
    rng = np.random.default_rng(3)
    hours = np.arange(24 * 70)
    starts = np.datetime64(FIRST, "s") + hours.astype("timedelta64[h]")
    clean = np.where(hours % 24 == 10, 100.0, 95.0)
    noisy = clean * (1 + 0.05 * rng.standard_normal(hours.size))
    _, levels, at = busy_hours(starts, noisy)
    assert np.median(at) == 10
    # The mean of the largest of 24 noisy hours would be about 106.
    assert levels.mean() == pytest.approx(100.0, rel=0.015)
    assert noisy.reshape(-1, 24).max(axis=1).mean() > 104


def test_a_night_batch_on_fridays_is_the_busy_hour_of_fridays_only() -> None:
    hours = np.arange(24 * 70)
    starts = np.datetime64(FIRST, "s") + hours.astype("timedelta64[h]")
    values = np.where(hours % 24 == 10, 100.0, 50.0)
    values[(hours // 24 % 7 == 4) & (hours % 24 == 23)] = 150.0
    _, levels, at = busy_hours(starts, values)
    assert at[:7].tolist() == [10, 10, 10, 10, 23, 10, 10]
    assert levels[4] == 150.0


def test_quarters_of_an_hour_are_averaged_and_half_an_hour_must_be_there() -> None:
    quarters = np.arange(4 * 24 * 14)
    starts = np.datetime64(FIRST, "s") + 900 * quarters.astype("timedelta64[s]")
    values = np.where(quarters // 4 % 24 == 9, 40.0 + 4 * (quarters % 4), 1.0)
    _, levels, _ = busy_hours(starts, values)
    assert levels.tolist() == [46.0] * 14
    values[quarters // 4 == 9] = [np.nan, np.nan, np.nan, 52.0]
    assert np.isnan(busy_hours(starts, values)[1][0])


def test_summer_time_repeats_an_hour_and_leaves_one_out(tmp_path: Path) -> None:
    begin = datetime.fromisoformat("2026-10-24T00:00+00:00")
    rows = []
    for hour in range(72):
        utc = begin + timedelta(hours=hour)
        offset = 2 if utc < datetime.fromisoformat("2026-10-25T01:00+00:00") else 1
        rows.append(f"{(utc + timedelta(hours=offset)).strftime('%Y-%m-%dT%H:%M')}+0{offset}:00,5")
    assert read_series(written(tmp_path, rows)).values.shape[1] == 4


def test_systems_are_series_of_their_own(tmp_path: Path) -> None:
    rows = [f"{row},A" for row in days(5)] + [f"{row},B" for row in days(3, first=FIRST + timedelta(days=2))]
    daily = read_series(written(tmp_path, rows, "start,io_rate,system"))
    assert [each.system for each in daily.series] == ["A", "B"]
    assert np.isfinite(daily.values).sum(axis=1).tolist() == [5, 3]
    assert daily.notes == ()


@pytest.mark.parametrize("form", ["%m/%d/%Y", "%d.%m.%Y", "%d-%b-%Y"])
def test_dates_are_those_that_tables_may_have(tmp_path: Path, form: str) -> None:
    rows = [f"{FIRST + timedelta(days=k):{form}},{100 + k}" for k in range(20)]
    assert read_series(written(tmp_path, rows)).first == FIRST.date()


def test_a_system_whose_days_no_other_has_is_named(tmp_path: Path) -> None:
    rows = [f"{row},A" for row in days(20)] + [
        f"{row},B" for row in days(20, first=FIRST + timedelta(days=900))
    ]
    (note, _) = read_series(written(tmp_path, rows, "start,io_rate,system")).notes
    assert "check its clock" in note


@pytest.mark.parametrize(
    ("rows", "header", "line", "said"),
    [
        (["2026-03-02,1", "2026-03-02,2"], "start,io_rate", 3, "the same as in line 2"),
        (["2026-03-02,1", "2026-03-01,2"], "start,io_rate", 3, "earlier than in line 2"),
        (["2026-03-02,1", "soon,2"], "start,io_rate", 3, "expected a date"),
        (["100,1", "200,2"], "start,io_rate", 2, "expected a date"),
        (["03/02/2026,1", "03/03/2026,2"], "start,io_rate", 2, "'03/02/2026': expected a date"),
        (["2026-03-02,1", ",2"], "start,io_rate", 3, "'': expected a date"),
        (["2026-03-02,1", "2026-03-03,-2"], "start,io_rate", 3, "zero or above"),
        (["2026-03-02,1", "2026-03-03,fast"], "start,io_rate", 3, "zero or above"),
        (["2026-03-02,1", "2026-03-09,2"], "start,io_rate", 3, "7 days long"),
        (["2026-03-02,", "2026-03-03,"], "start,io_rate", 2, "no half hour was measured"),
        (["2026-03-02T10:00,1", "2026-03-02T10:01,2"], "start,io_rate", 2, "no half hour was measured"),
        (["1"], "io_rate", 1, "missing start"),
    ],
)  # fmt: skip
def test_what_is_no_series_is_refused_with_its_line(
    tmp_path: Path, rows: list[str], header: str, line: int, said: str
) -> None:
    with pytest.raises(ReportError) as refused:
        read_series(written(tmp_path, rows, header))
    assert refused.value.line == line
    assert said in str(refused.value)


def test_a_frame_without_rows_is_refused_as_a_file_is() -> None:
    """The same words for both; a frame has no line."""
    with pytest.raises(ReportError, match="no rows: expected a measured series"):
        read_series(pl.DataFrame({"start": [], "io_rate": []}))


def test_a_clock_that_leaps_is_refused(tmp_path: Path) -> None:
    rows = days(20) + days(20, first=FIRST + timedelta(days=400))
    with pytest.raises(ReportError, match="leaps 381 days") as refused:
        read_series(written(tmp_path, rows))
    assert refused.value.line == 22


@pytest.mark.parametrize(("ratio", "said"), [(1000, "about 1000 times"), (1 / 1024, "1/1024")])
def test_a_unit_that_changes_is_refused(tmp_path: Path, ratio: float, said: str) -> None:
    rows = [
        f"{date(2026, 3, 2) + timedelta(days=k)},{(100 + 3 * (k % 5)) * (ratio if k >= 30 else 1):.6f}"
        for k in range(60)
    ]
    with pytest.raises(ReportError, match="as if the unit had changed") as refused:
        read_series(written(tmp_path, rows))
    assert refused.value.line == 32
    assert said in str(refused.value)


@pytest.mark.parametrize("ratio", [0.1, 3.0, 20.0, 300.0])
def test_a_shift_that_is_no_ratio_of_units_is_none(ratio: float) -> None:
    assert unit_jump(np.concatenate([np.full(20, 100.0), np.full(20, 100.0 * ratio)])) is None


def test_several_numbers_ask_for_a_choice(tmp_path: Path) -> None:
    path = written(tmp_path, ["2026-03-02,1,2", "2026-03-03,1,2"], "start,io_rate,page_rate")
    with pytest.raises(InputError, match="io_rate, page_rate"):
        read_series(path)
    with pytest.raises(InputError, match="io_rate, page_rate"):
        read_series(path, "cpu")
    assert read_series(path, "PAGE_RATE").values.tolist() == [[2.0, 2.0]]
