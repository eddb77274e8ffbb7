"""What a newcomer brings: members that were not measured, overlaps, clocks and units that change, too few days."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from planner.cli import main
from planner.demand import DeviceModel, Target
from planner.errors import InputError, ReportError
from planner.measurements.choose import groups_of, rows_of
from planner.measurements.over_time import RunsOverTime, over_time
from planner.measurements.read import Measured, read
from planner.results import Array
from planner.site.example import example_volumes
from planner.site.growth import Growth, growth
from planner.site.growth.limits import GrowthQuestion, site_growth
from planner.site.parts import checked_members
from planner.site.pool_need import notes_of as notes_of_runs
from planner.site.question import site
from planner.site.series import Daily, SeriesLabel
from tests.checkout import ROOT

GIVEN = GrowthQuestion(device_model=DeviceModel.from_model("hyperpav"), target=Target())
MONTH = 30  # days ahead: where the trend of a few days leads in five years takes minutes to solve
JUMP = datetime(2026, 1, 12)
NOT_MEASURED = "0005-0006"


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """Two pools of two volumes, 20 days of hours."""
    path = tmp_path_factory.mktemp("site") / "site.csv"
    example_volumes(days=20, pools=2, volumes=2).write_csv(path)
    return read(path)


def altered(days: Measured, pool: str, **columns: pl.Expr) -> Measured:
    """Other columns of one pool from the twelfth day on; its queues are not known, which would contradict them."""
    later = (pl.col("pool") == pool) & (pl.col("start") >= JUMP)
    changed = [pl.when(later).then(new).otherwise(pl.col(name)).alias(name) for name, new in columns.items()]
    return without_queues(replace(days, devices=days.devices.with_columns(changed)), pl.col("pool") == pool)


def without_queues(days: Measured, where: pl.Expr) -> Measured:
    """The same where some queues were not measured."""
    unknown = [
        pl.when(~where).then(pl.col(name)).alias(name) for name in ("queued_low", "queued", "queued_high")
    ]
    return replace(days, devices=days.devices.with_columns(unknown))


@pytest.mark.long
def test_disks_that_are_no_dasd_are_refused_as_such(days: Measured) -> None:
    """They have dates and intervals: to ask for these would send a reader of iostat the wrong way."""
    disks = replace(
        days, devices=days.devices.with_columns(kind=pl.lit("other"), pool=pl.lit(None, dtype=pl.String))
    )
    with pytest.raises(InputError, match="expected ECKD base devices, or volumes, with intervals"):
        site(disks)
    with pytest.raises(InputError, match=r"\(the devices are no DASD\)"):
        site_growth(disks, GIVEN)


def notes_of(devices: pl.DataFrame, pool: str) -> str:
    """What is said of the intervals of a pool."""
    groups = [each for each in groups_of(devices.lazy()) if each.name == pool]
    ((_, found),) = over_time(rows_of(devices.lazy(), groups), groups)
    assert isinstance(found, RunsOverTime)
    return " ".join(notes_of_runs(found))


def members(tmp_path: Path, *rows: str) -> Path:
    path = tmp_path / "members.csv"
    path.write_text("\n".join(["device,role,pool", *rows]) + "\n", encoding="utf-8")
    return path


def test_members_without_rows_are_named(days: Measured, tmp_path: Path) -> None:
    path = members(tmp_path, "0001-0002,base,A", "00F1,base,A", "9000-9005,alias,A")
    bases, aliases = checked_members(path, days.devices.lazy())
    assert "1 base of pool A (00F1): taken as without I/O" in bases
    assert "6 aliases of pool A (9000, 9001, 9002, 9003 and 2 more): counted as in use" in aliases
    assert checked_members(members(tmp_path, "0001-0004,base,A"), days.devices.lazy()) == []
    assert checked_members(None, days.devices.lazy()) == []


def test_a_pool_none_of_whose_members_was_measured_is_named_and_left_out(
    days: Measured, tmp_path: Path
) -> None:
    path = members(tmp_path, "0001,base,A", f"{NOT_MEASURED},base,B", "9000,alias,B")
    (note,) = checked_members(path, days.devices.lazy())
    assert "pool B: no interval has rows of any of its devices (0005, 0006, 9000): it is left out" in note
    alone = members(tmp_path, f"{NOT_MEASURED},base,B")
    with pytest.raises(
        ReportError, match=r"pool B: no interval has rows of any of its devices \(0005, 0006\): exp"
    ):
        checked_members(alone, days.devices.lazy())


@pytest.mark.long
@pytest.mark.parametrize("command", ["site", "growth"])
def test_both_commands_look_at_the_members(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "site.csv"
    example_volumes(days=3, pools=1, volumes=2).drop("pool", "aliases").write_csv(table)
    known = members(tmp_path, "0001-0002,base,A", "9000,alias,A")
    assert main([command, str(table), "--pools", str(known)]) in {0, 1}
    assert "1 alias of pool A (9000): counted as in use" in " ".join(capsys.readouterr().out.split())
    assert main([command, str(table), "--pools", str(members(tmp_path, f"{NOT_MEASURED},base,B"))]) == 2
    assert "pool B" in capsys.readouterr().err
    assert main([command, str(table), "--pools", str(members(tmp_path))]) == 2


@pytest.mark.parametrize("command", [["aliases", "pool"], ["site"]])
def test_a_member_with_classic_aliases_is_refused_by_every_command(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The site took the base alone as the pool, with all that its aliases did, and answered 0."""
    listing = ROOT / "data" / "hyperpav" / "522A-2-aliases.listing"
    assert main([*command, str(listing), "--pools", str(members(tmp_path, "522A,base,P"))]) > 0
    said = " ".join("".join(capsys.readouterr()).split())
    assert "expected no classic PAV aliases in a HyperPAV pool (5249, 524C)" in said


def test_intervals_that_overlap_are_no_clock_set_back(days: Measured) -> None:
    devices = days.devices.with_columns(pl.lit(7200.0).alias("interval"))
    said = notes_of(devices, "P2")
    assert (
        "longer than the time to the next one, the first of 7,200 s at 2026-01-01T00:00:00 with 3,600 s"
        in said
    )
    assert "clock" not in said


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"service": pl.col("service") * 1000}, "service time is 1,000 times what it was from 2026-01-12 on"),
        ({"io_rate": pl.col("io_rate") * 60}, "I/O rate is 60 times what it was from 2026-01-12 on"),
    ],
)
def test_a_unit_that_changes_is_said_of_a_pool(days: Measured, columns: Any, said: str) -> None:
    changed = altered(days, "P1", **columns).devices
    assert said in notes_of(changed, "P1")
    assert "unit" not in notes_of(changed, "P2")


@pytest.mark.long
def test_a_pool_whose_busy_time_has_no_answer_says_why_and_the_others_have_theirs(days: Measured) -> None:
    """Loads that no count of aliases serves: what is left are intervals that are not busy."""
    changed = altered(days, "P1", service=pl.col("service") * 1000).devices.filter(
        (pl.col("start") > JUMP - timedelta(hours=20)) & (pl.col("start") < JUMP + timedelta(hours=20))
    )
    first, second = site(changed).pools
    assert (first.pool, first.verdict, first.needed_99) == ("P1", "unknown", None)
    assert "queue still grows without bound" in first.problem
    assert second.needed_99 is not None
    assert "Next: correct what leaves SYS1/P1 without an answer" in site(changed, pool="P1").text()


@pytest.mark.slow
def test_growth_says_that_the_unit_of_service_times_changed(days: Measured) -> None:
    found = site_growth(altered(days, "P1", service=pl.col("service") * 1000), GIVEN, horizon=MONTH)
    assert "service time of pool P1 of SYS1 is 1,000 times what it was" in " ".join(found.notes)
    assert "too many on a busy day" in found.headline


@pytest.mark.slow
def test_a_shift_from_next_to_nothing_has_a_size(days: Measured) -> None:
    found = site_growth(altered(days, "P2", io_rate=pl.col("io_rate") * 60), GIVEN, horizon=MONTH)
    sizes = [shift.size for each in found.limits for shift in each.shifts]
    assert sizes
    assert all(size.low >= -1 and size.high < 1e4 for size in sizes)


@pytest.mark.long
def test_a_clock_that_leaps_leaves_its_pool_out(days: Measured) -> None:
    leapt = altered(days, "P2", start=pl.col("start") + timedelta(days=3652))
    found = site_growth(leapt, GIVEN, horizon=MONTH)
    assert {each.measured.what for each in found.limits} == {"aliases of pool P1", "addresses of pool P1"}
    assert "I/O rate of pool P2 of SYS1 leaps" in " ".join(found.notes)
    alone = replace(leapt, devices=leapt.devices.filter(pl.col("pool") == "P2"))
    with pytest.raises(ReportError, match="leaps"):
        site_growth(alone, GIVEN)


@pytest.mark.long
def test_what_was_read_with_notes_says_them(days: Measured) -> None:
    one = days.devices.filter(pl.col("pool") == "P1")
    assert (
        "as told" in site_growth(replace(days, devices=one, notes=("as told",)), GIVEN, horizon=MONTH).notes
    )


@pytest.mark.long
def test_no_date_follows_from_a_trend_that_is_uncertain_by_more_than_all_of_the_load() -> None:
    """Of 20 flat days, 10 of 150 series had a date, by trends such as 80 to 520 % a year."""
    noise = np.random.default_rng(77).standard_normal((150, 220))
    flat, tenfold = 1 + 0.1 * noise[:, :20], np.linspace(1, 10, 220) * (1 + 0.05 * noise)
    found = [growth_of(values).limits for values in (flat, tenfold[:20])]
    given = [each for each in found[0] if each.verdict != "too few days"]
    assert all(each.trend.high - each.trend.low < 2 * 1.2 for each in given)
    assert {each.verdict for each in found[1]} == {"within horizon"}


def growth_of(values: Array) -> Growth:
    """Limits at 20 of series that begin on a Monday."""
    labels = tuple(SeriesLabel(system="", what=f"load {k}", unit="") for k in range(len(values)))
    return growth(Daily(first=date(2026, 1, 5), series=labels, values=values), 20.0)


@pytest.mark.long
def test_fewer_than_fourteen_days_have_no_trend_and_a_date_only_with_growth(days: Measured) -> None:
    few = replace(days, devices=days.devices.filter(pl.col("start") < datetime(2026, 1, 11)))
    found = site_growth(few, GIVEN)
    assert {each.verdict for each in found.limits} == {"too few days"}
    assert "10 days are too few" in found.headline
    given = site_growth(few, GIVEN, rate=0.5)
    assert {each.verdict for each in given.limits} <= {"within horizon", "not within horizon"}


@pytest.mark.slow
def test_a_limit_below_the_need_of_today_is_reached_already(days: Measured) -> None:
    fewer = days.devices.with_columns(pl.lit(1, pl.UInt16).alias("pool_aliases"))
    one = without_queues(replace(days, devices=fewer), pl.lit(value=True))
    found = site_growth(one, GIVEN)
    (first, *_) = found.limits
    assert (first.verdict, first.limit) == ("already", 1.0)
    assert first.now > first.limit
    assert "aliases of pool P1 of SYS1 are above 1 already" in found.headline
    assert np.isfinite(first.now)
