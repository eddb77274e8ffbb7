"""Supply counters through the table of pools are those that the reader of CSV hands over itself."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from pathlib import Path
from random import Random

import polars as pl
import pytest

from planner.errors import ReportError
from planner.measurements.collect import collect
from planner.measurements.over_time import AT_LEAST, pool_supplies, read_supplies
from planner.measurements.read import read
from planner.site.question import site as site_of
from planner.supply import judge
from tests.checkout import ROOT
from tests.reports.exports import rmf_xml, volumes
from tests.reports.monitor_site import Site, written
from tests.reports.test_zos import devices, pools

CSV = ROOT / "docs/examples/supply-counters.csv"


def test_pools_of_monitor_data(tmp_path: Path) -> None:
    path = tmp_path / "MONDATA"
    site = Site()
    path.write_bytes(written(site, 4))
    found = read_supplies(path)
    assert [each.pool for each in found] == ["0", "1"]
    assert [int(each.tries[-1]) for each in found] == site.rise["TRIES"].tolist()
    assert found[0].in_use == 3 and found[0].length.tolist() == [60.0] * 3 and found[0].plain.all()
    path.write_bytes(written(site, 4) + written(Site(name="OTHER"), 4))
    assert [each.pool for each in read_supplies(path)] == ["MVSYS1/0", "MVSYS1/1", "OTHER/0", "OTHER/1"]


@pytest.mark.long
def test_files_of_two_times_are_one_and_what_was_counted_between_them_is_named(tmp_path: Path) -> None:
    """Each file has its own first record, which only starts its counters: none is lost where both hold it."""
    head, *rows = CSV.read_text().splitlines()
    whole = judge(read_supplies(CSV))
    one, other, later = (tmp_path / name for name in ("one.csv", "other.csv", "later.csv"))
    cut = len(rows) // 6 * 3  # three pools a time
    for path, part in ((one, rows[:cut]), (other, rows[cut - 3 :]), (later, rows[cut:])):
        path.write_text("\n".join([head, *part]) + "\n")
    both = judge(read_supplies([other, one]))
    for found, wanted in zip(both.pools, whole.pools, strict=True):
        assert found.supply.time.tolist() == wanted.supply.time.tolist()
        assert found.supply.start == wanted.supply.start
        assert found.notes == wanted.notes
    apart = judge(read_supplies([one, later]))
    for found, wanted in zip(apart.pools, whole.pools, strict=True):
        assert "nothing counted in 1 gap, 60 s in all" in "; ".join(found.notes)
        assert found.supply.time[-1] == wanted.supply.time[-1]


def test_marks_that_nothing_set_mean_that_all_were_free() -> None:
    frame = (
        read(CSV)
        .supply.head(3)
        .with_columns(tries=pl.lit(0), fails=pl.lit(0), fewest_free=None, most_free=None)
    )
    (pool,) = pool_supplies(frame, CSV)
    assert pool.fewest.tolist() == pool.most.tolist() == pool.aliases.tolist()


def test_what_has_no_water_marks_is_refused(tmp_path: Path) -> None:
    table = read([pools()]).supply
    unmarked = table.with_columns(most_used=pl.lit(None, dtype=pl.UInt32))
    with pytest.raises(ReportError, match=r"without numbers of aliases \(aliases\)"):
        pool_supplies(unmarked, tmp_path)
    with pytest.raises(ReportError, match="without fewest_free"):
        pool_supplies(unmarked.with_columns(aliases=pl.lit(32)), tmp_path)
    with pytest.raises(ReportError, match="no alias pool with two records"):
        pool_supplies(table.clear(), tmp_path)


def test_aliases_that_are_known_of_one_system_only_are_noted_of_the_other() -> None:
    table = read([pools()]).supply
    known = table.with_columns(system=pl.lit("KNOWN"), aliases=pl.lit(32, pl.UInt32))
    told, guessed = pool_supplies(pl.concat([table, known]), Path("supply"))
    assert told.pool.startswith("KNOWN/") and AT_LEAST not in told.notes
    assert AT_LEAST in guessed.notes


def smf(tmp_path: Path, **changes: object) -> Path:
    """A day of SMF 78-3 of one control unit, 90,000 HyperPAV I/Os a quarter of an hour."""
    starts = [datetime(2024, 5, 14) + timedelta(minutes=15 * k) for k in range(96)]
    each: dict[str, object] = {
        "snm": "SYSA", "int": time(0, 15), "r783hlcu": 0x45, "r783hcu": "8A00", "r783htio": 90_000.0, "r783hnai": 0.0,
        "r783haiu": 12, **changes,
    }  # fmt: skip
    data = {name: [value] * 96 for name, value in each.items()}
    path = tmp_path / "smf78-3.csv"
    pl.DataFrame({"dat": [s.date() for s in starts], "ist": [s.time() for s in starts], **data}).write_csv(
        path
    )
    beside = [
        devices(dat=[s.date()] * 3, ist=[s.time()] * 3).with_columns(pl.col("ser").cast(pl.String))
        for s in starts
    ]
    pl.concat(beside).write_csv(tmp_path / "smf74-1.csv")
    return path


SUPER = {"r783xanc": 50_000.0, "r783xauc": 49_900.0, "r783xabc": 4_000.0, "r783xalc": 0.0, "r783xcqd": 100.0}
VERDICTS = {
    "short": ({"r783hnai": 9_000.0, "r783haiu": 32}, "not enough", ""),
    "enough": ({"r783hnai": 600.0, "r783haiu": 32}, "enough", ""),
    "many": ({"r783haiu": 3}, "too many", ""),
    "borrowing": (SUPER, "enough", "8 % of its requests were met by aliases of other control units (SuperPAV)"),
    "lending": ({**SUPER, "r783xauc": 50_000.0, "r783xabc": 0.0, "r783xalc": 10.0, "r783haiu": 3}, "too many",
                "it lent aliases to other control units 960 times"),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("case", VERDICTS)
def test_smf_78_3_is_judged(case: str, tmp_path: Path) -> None:
    changes, verdict, note = VERDICTS[case]
    path = smf(tmp_path, **changes)
    (pool,) = judge(read_supplies([path, tmp_path / "smf74-1.csv"])).pools
    assert (pool.verdict, pool.aliases, pool.tries) == (
        verdict,
        32,
        96 * (50_000 if "xanc" in str(changes) else 90_000),
    )
    assert any(note in each for each in pool.notes)
    (alone,) = judge(read_supplies(path)).pools
    assert alone.aliases == changes.get("r783haiu", 12)
    assert any("how many aliases it has was not measured" in each for each in alone.notes)


@pytest.mark.long
def test_rmf_xml_is_judged(tmp_path: Path) -> None:
    rows = volumes(Random(1), 4, 8)
    for wait, verdict in ((0.05, "not enough"), (0.009, "enough")):
        path = tmp_path / "rmf.xml"
        path.write_text(rmf_xml(rows, wait=wait), encoding="utf-8")
        (pool,) = judge(read_supplies(path)).pools
        assert (pool.verdict, pool.aliases) == (verdict, 6)
        assert pool.fail_fraction == pytest.approx(wait, abs=1e-5)


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("used", [20, 31, 32])
def test_the_most_in_use_counts_the_alias_that_was_taken(used: int, tmp_path: Path) -> None:
    """With k of 32 in use at once, and no fail, the last request found 33 - k, and one fewer was never missed."""
    frame = pools().with_columns(r783haiu=used, r783hnai=0.0)
    (pool,) = pool_supplies(
        read([frame, devices()]).supply.with_columns(aliases=pl.lit(32, pl.UInt32)), tmp_path
    )
    assert set(pool.fewest.tolist()) == {33 - used}
    (answer,) = judge([pool]).pools
    assert answer.unused == 32 - used


def test_what_is_given_twice_is_refused(tmp_path: Path) -> None:
    lines = CSV.read_text(encoding="utf-8").splitlines()
    whole, begin, end = (tmp_path / name for name in ("whole.csv", "begin.csv", "end.csv"))
    for path, some in ((whole, lines), (begin, lines[:250]), (end, [lines[0], *lines[200:]])):
        path.write_text("\n".join(some) + "\n", encoding="utf-8")
    for paths in ([whole, whole], [begin, end], [whole, end]):
        with pytest.raises(ReportError, match=r"pool 0 at 2007-05-27 .* already: expected each once"):
            read_supplies(paths)
    end.write_text("\n".join([lines[0], *lines[250:]]) + "\n", encoding="utf-8")
    assert sum(each.time.size for each in read_supplies([begin, end])) == len(lines) - 1 - 3 * 2


@pytest.mark.long
def test_a_report_that_rmf_prints_twice_is_refused(tmp_path: Path) -> None:
    """A second DEVICE report would double the requests, a second IOQ report contradict the first."""
    whole = (ROOT / "docs/examples/rmf.xml").read_text(encoding="utf-8")
    reports = whole.split("<postprocessor>")[1:]
    for report, told in zip(reports[:2], ("8A00 a second time", "pool 0045 at .* already"), strict=True):
        path = tmp_path / "twice.xml"
        path.write_text(whole.replace(report, f"{report}<postprocessor>{report}", 1), encoding="utf-8")
        with pytest.raises(ReportError, match=told):
            read_supplies(path)


@pytest.mark.long
def test_an_archive_of_smf_has_the_aliases_of_its_files(tmp_path: Path) -> None:
    """Counters know their aliases from the devices, in an archive as in files."""
    path = smf(tmp_path, r783hnai=0.0, r783haiu=12)
    paths = [path, tmp_path / "smf74-1.csv"]
    collect(paths, tmp_path / "archive")
    of_files, of_archive = (
        site_of(each, workers=1).to_dict()["pools"] for each in (paths, tmp_path / "archive")
    )
    assert of_files == of_archive
    assert of_files[0]["needed_low"] < of_files[0]["in_use"] == 32


def test_volumes_without_counters_are_named_with_what_answers_from_them() -> None:
    expected = "found DEVICE listings, which `planner aliases pool` answers from"
    with pytest.raises(ReportError, match=expected):
        read_supplies(ROOT / "data/hyperpav/522A-0-aliases.listing")
    with pytest.raises(ReportError, match=r"found DSPACESH listings$"):
        read_supplies(ROOT / "data/real-storage/4-users.listing")
