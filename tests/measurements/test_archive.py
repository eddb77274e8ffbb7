"""The archive: what goes in comes out, once; what contradicts it, or kills the run, changes nothing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from planner.cli import main
from planner.errors import InputError, ReportError
from planner.measurements import read
from planner.measurements.anonymize import names_of
from planner.measurements.archive import VERSION, open_archive
from planner.measurements.collect import collect
from planner.measurements.shown import overview
from planner.reports import schema
from tests.checkout import ROOT
from tests.measurements.foreign import state, variants
from tests.reports.printing import page, row

HYPERPAV = sorted((ROOT / "data" / "hyperpav").glob("*.listing"))
SPACES = sorted((ROOT / "data" / "real-storage").glob("*.listing"))
COUNTERS = ROOT / "docs" / "examples" / "supply-counters.csv"
ALL = [*HYPERPAV, *SPACES, COUNTERS]
FIRST = datetime(2026, 3, 1, 8)


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def volumes(
    intervals: int = 3, devices: int = 2, minutes: int = 10, rate: float = 100.0, system: str = "A"
) -> pl.DataFrame:
    rows = [
        {"system": system, "start": FIRST + timedelta(minutes=minutes * k), "interval_s": 60.0 * minutes,
         "device": f"{0x2000 + device:04X}", "io_rate": rate + k, "service_ms": 1.5, "queued": 0.25}
        for k in range(intervals) for device in range(devices)
    ]  # fmt: skip
    return pl.DataFrame(rows)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tmp_path / "archive"


def rows(archive: Path, table: str = "devices") -> pl.DataFrame:
    return open_archive(archive).read(table)


def test_what_was_read_comes_back_to_the_last_bit(archive: Path) -> None:
    added = collect(ALL, archive).added
    expected = read(ALL, system="unknown")
    for table in schema.TABLES:
        frame: pl.DataFrame = getattr(expected, table)
        assert added[table] == frame.height
        key = ["file", "line", "start"]
        assert_frame_equal(rows(archive, table).sort(key), frame.sort(key), check_exact=True)


def test_an_end_at_zero_comes_back_as_zero(archive: Path) -> None:
    """What rounding left of it was a service time of 1e-16 ms that had been proven, and a range up to 255 aliases."""
    rows_of = {f"{k:02d}:10:00": f"{k / 997:.4f}" for k in range(1, 24)}
    lines = [f"{time} dev94-0 60.0 1.06 {100 * float(busy):.2f}" for time, busy in rows_of.items()]
    head = "Linux 5.14.0 (lnx1) 2026-03-24\n\n00:10:00 DEV tps await %util"
    text = "\n".join([head, *lines, ""]).encode()
    collect([text], archive)
    assert set(read(text).devices["utilization_low"]) == {0.0} == set(rows(archive)["utilization_low"])


@pytest.mark.long
def test_a_file_twice_adds_nothing(archive: Path) -> None:
    collect(ALL, archive)
    before = files_of(archive)
    again = collect([*ALL, HYPERPAV[0]], archive)
    assert not any(again.added.values())
    assert files_of(archive) == before


@settings(max_examples=10)
@given(st.permutations(range(6)), st.integers(1, 5))
@pytest.mark.long
def test_the_order_and_the_number_of_runs_do_not_matter(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], cut: int
) -> None:
    """Any two runs over the same files, in any order, some of them twice, hold the same rows."""
    archive = tmp_path_factory.mktemp("runs") / "archive"
    collect([HYPERPAV[k] for k in order[:cut]], archive)
    collect([HYPERPAV[k] for k in order], archive)
    expected = read(HYPERPAV, system="unknown").devices
    assert_frame_equal(rows(archive).sort("file", "line"), expected.sort("file", "line"), check_exact=True)


def test_an_overlap_that_differs_names_both_and_changes_nothing(archive: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.listing", tmp_path / "second.listing"
    first.write_text(page(row()))
    second.write_text(page(row(rate="756")))
    collect([first], archive)
    before = files_of(archive)
    with pytest.raises(
        ReportError, match=rf"second.listing, line 11: 522A .*{first}, line 11 .*io_rate is 756"
    ) as caught:
        collect([HYPERPAV[0], second], archive)
    assert caught.value.path == second
    assert files_of(archive) == before
    with pytest.raises(ReportError, match=r"first\.listing"):
        collect([first, second], tmp_path / "another")
    assert not (tmp_path / "another").exists()


@pytest.mark.parametrize("minutes", [5, 20, 60])
def test_intervals_that_overlap_are_refused(archive: Path, minutes: int) -> None:
    collect([volumes(6)], archive)
    with pytest.raises(ReportError, match=r"2000: the interval .* overlaps .*: expected each time once"):
        collect([volumes(3, minutes=minutes).with_columns(pl.col("start") + timedelta(minutes=3))], archive)
    with pytest.raises(ReportError, match="overlaps"):
        collect(
            [pl.concat([volumes(1), volumes(1).with_columns(start=pl.col("start") + timedelta(minutes=4))])],
            archive,
        )
    assert rows(archive).height == 12


def test_intervals_over_midnight_are_compared_with_the_day_before(archive: Path) -> None:
    late = volumes(1).with_columns(start=pl.lit(datetime(2026, 3, 1, 23, 55)))
    collect([late], archive)
    with pytest.raises(ReportError, match="overlaps"):
        collect([volumes(1).with_columns(start=pl.lit(datetime(2026, 3, 2, 0, 0)))], archive)
    collect([volumes(1).with_columns(start=pl.lit(datetime(2026, 3, 2, 0, 5)))], archive)
    assert rows(archive).height == 4


def test_systems_are_kept_apart(archive: Path) -> None:
    collect([volumes(), volumes(system="B/1"), volumes(rate=7.0, system="C é")], archive)
    found = open_archive(archive)
    assert found.systems == ("A", "B/1", "C é")
    assert found.read(systems=["C é"])["io_rate"].min() == 7.0
    assert (
        found.scan(start=FIRST + timedelta(minutes=10), end=FIRST + timedelta(minutes=20)).collect().height
        == 6
    )
    with pytest.raises(InputError, match="one of A, B/1, C é"):
        found.scan(systems=["D"])


def test_a_part_is_read_without_the_others(archive: Path) -> None:
    collect([volumes(300, minutes=60)], archive)
    days = open_archive(archive).files("devices", start=datetime(2026, 3, 5), end=datetime(2026, 3, 6))
    assert [path.parent.name for path in days] == ["date=2026-03-04", "date=2026-03-05", "date=2026-03-06"]


def test_other_tools_read_it_as_it_is(archive: Path) -> None:
    collect([volumes()], archive)
    frame = pl.scan_parquet(archive / "devices" / "**" / "*.parquet", hive_partitioning=True).collect()
    assert frame["system"].unique().to_list() == ["A"]
    assert frame["date"].unique().to_list() == [FIRST.date()]
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    assert len(pandas.read_parquet(archive / "devices")) == 6


def test_a_row_without_a_date_cannot_be_kept(archive: Path) -> None:
    with pytest.raises(ReportError, match="whose interval has no date with one meaning"):
        collect([volumes(1).drop("start")], archive)
    with pytest.raises(ReportError, match="whose interval has no length"):
        collect([volumes().drop("interval_s")], archive)


def broken_folders(folder: Path) -> Iterator[tuple[str, Path, str]]:
    other = folder / "other"
    other.mkdir()
    (other / "some.txt").write_text("mine")
    yield "no archive", other, "it has no archive.toml"
    newer = folder / "newer"
    collect([volumes()], newer)
    (newer / "archive.toml").write_text("schema = 99\n")
    yield "newer", newer, "schema 99 is newer"
    strange = folder / "strange"
    collect([volumes()], strange)
    (strange / "archive.toml").write_text("schema = 'x'\n")
    yield "strange", strange, "schema = 'x'"
    unlisted = folder / "unlisted"
    collect([volumes()], unlisted)
    (unlisted / "archive.toml").write_text("schema = 1\n")
    yield "unlisted", unlisted, "schema = 1: expected a whole number, 2 to 5"
    damaged = folder / "damaged"
    collect([volumes()], damaged)
    (part,) = damaged.rglob("*.parquet")
    part.write_bytes(part.read_bytes()[:-9])
    yield "damaged", damaged, rf"{part}: damaged \("
    a_file = folder / "file"
    a_file.write_text("x")
    yield "a file", a_file, "a folder that `planner collect` wrote"


@pytest.mark.long
def test_what_is_no_sound_archive_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listing = str(HYPERPAV[0])
    for name, folder, _ in broken_folders(tmp_path):
        before = files_of(folder)
        collected = main(["collect", listing, "-o", str(folder)])
        assert collected == (0 if name == "damaged" else 2), name  # another day of another system
        if collected:
            assert len(capsys.readouterr().err.splitlines()) == 1
            assert files_of(folder) == before
        if name != "a file":
            assert main(["read", str(folder)]) == 2
        capsys.readouterr()


def test_the_message_says_what_is_wrong_with_a_folder(tmp_path: Path) -> None:
    for _, folder, problem in broken_folders(tmp_path):
        with pytest.raises((InputError, ReportError), match=problem):
            open_archive(folder).read()


SOME = (1, 3, 6, 9, 20, 40)  # of up to 59 changes of files
ENDED = """
import os, signal, sys
from pathlib import Path
import polars as pl
from planner.measurements.collect import collect
top, how, when = sys.argv[1], sys.argv[2], int(sys.argv[3])
count = 0
def change(event, arguments):
    global count
    writes = event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod") or (
        event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR))
    if not writes or not any(isinstance(each, (str, Path)) and str(each).startswith(top) for each in arguments):
        return
    count += 1
    if count == when and how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if count >= when and how == "full" and event in ("os.rename", "os.mkdir", "open"):
        raise OSError(28, "No space left on device")
original = pl.DataFrame.write_parquet
def write_parquet(self, file, **options):
    change("open", (str(file), "w", os.O_WRONLY))
    original(self, file, **options)
    change("open", (str(file), "w", os.O_WRONLY))
pl.DataFrame.write_parquet = write_parquet
sys.addaudithook(change)
collect([Path(each) for each in sys.argv[4:]], top)
"""


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("how", ["kill", "full"])
@pytest.mark.parametrize("begin", ["none", "there"])
@pytest.mark.parametrize(
    "when",
    [
        6,
        *(
            pytest.param(k, marks=pytest.mark.long if k in SOME else pytest.mark.slow)
            for k in range(1, 62)
            if k != 6
        ),
    ],
)
def test_a_run_that_ends_at_any_change_of_a_file_leaves_all_or_nothing(
    archive: Path, how: str, begin: str, when: int
) -> None:
    """Ended by a signal or a full disk, while it makes or adds to an archive; the next run completes it."""
    there = 0
    if begin != "none":
        collect([volumes()], archive)
        there = 6
    command = [sys.executable, "-c", ENDED, str(archive), how, str(when), *map(str, HYPERPAV)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
    )
    finished = done.returncode == 0
    assert finished or done.returncode == (-9 if how == "kill" else 1), done.stderr
    if not finished and how == "full":
        assert done.stderr.splitlines()[-1].startswith("planner.errors.InputError: "), done.stderr
    try:
        found = rows(archive).height
    except ReportError:
        assert begin == "none"
        found = 0
    assert found in ({there + 54} if finished else {there, there + 54})
    collect(HYPERPAV, archive)
    assert rows(archive).height == there + 54
    assert pl.scan_parquet(archive / "devices" / "**" / "*.parquet").collect().height == there + 54
    assert not [path for path in archive.iterdir() if path.name.startswith(".")]


@pytest.mark.long
def test_two_first_runs_at_a_time_do_not_harm_each_other(archive: Path) -> None:
    """Each adds its rows, or is told that another one writes; the archive holds what those that ended well added."""
    command = [sys.executable, "-m", "planner", "collect", "-o", str(archive)]
    runs = [
        subprocess.Popen(
            [*command, str(file)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for file in HYPERPAV[:3]
    ]
    ends = [(*run.communicate(), run.returncode) for run in runs]
    assert any(code == 0 for _, _, code in ends), ends
    assert all(
        code == 0 or "no other run writes to; wait for it" in " ".join(error.split())
        for _, error, code in ends
    )
    expected = [file for file, (_, _, code) in zip(HYPERPAV, ends, strict=False) if code == 0]
    assert rows(archive).height == read(expected).devices.height


def test_who_writes_keeps_others_out_from_the_first_file_on(archive: Path) -> None:
    class Asks(list[Path]):
        def __iter__(self) -> Iterator[Path]:
            with pytest.raises(InputError, match="an archive that no other run writes to; wait for it"):
                collect([HYPERPAV[1]], archive)
            return super().__iter__()

    collect(Asks([HYPERPAV[0]]), archive)
    assert rows(archive).height == read(HYPERPAV[0]).devices.height


def test_a_part_that_is_gone_is_named(archive: Path) -> None:
    collect([volumes(300, minutes=60)], archive)
    gone = sorted(archive.rglob("*.parquet"))[3]
    gone.unlink()
    with pytest.raises(ReportError, match="missing: expected a part of the archive") as caught:
        rows(archive)
    assert caught.value.path == gone
    (archive / "parts.sha256").unlink()
    with pytest.raises(ReportError, match=r"parts\.sha256: missing"):
        rows(archive)


def test_what_is_no_part_does_not_count(archive: Path) -> None:
    collect([volumes()], archive)
    (part,) = archive.rglob("*.parquet")
    shutil.copy(part, part.with_name("copy.parquet"))
    shutil.copy(part, part.with_name("part (1).parquet"))
    other = part.parents[1] / "date=2026-03-09" / part.name
    other.parent.mkdir()
    shutil.copy(part, other)
    assert rows(archive).height == 6
    collect([volumes(system="B")], archive)
    assert rows(archive).height == 12
    assert part.with_name("copy.parquet").exists()  # whoever put it there may want it


def test_what_a_link_leads_out_of_the_archive_to_is_not_read(archive: Path, tmp_path: Path) -> None:
    collect([volumes()], archive)
    (part,) = archive.rglob("*.parquet")
    for place in (part, *part.parents[:3], archive / "parts.sha256", archive / "archive.toml"):
        moved = tmp_path / "moved"
        place.rename(moved)
        place.symlink_to(moved)
        before = state(tmp_path)
        with pytest.raises(ReportError, match="a link that leads out of the archive"):
            rows(archive)
        with pytest.raises(ReportError, match="a link that leads out of the archive"):
            collect([volumes(4)], archive)
        assert {key: value for key, value in state(tmp_path).items() if key != "archive"} == {
            key: value for key, value in before.items() if key != "archive"}  # fmt: skip
        place.unlink()
        moved.rename(place)
    assert rows(archive).height == 6


@pytest.mark.parametrize("command", ["read", "site", "growth", "aliases pool", "report"])
def test_a_part_that_is_damaged_as_its_list_says_is_named(
    archive: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A stranger may have made the list of what cannot be decoded."""
    collect([volumes(40, devices=20).with_columns(pool=pl.lit("7"))], archive)
    (part,) = archive.rglob("*.parquet")
    content = bytearray(part.read_bytes())
    content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
    digest = hashlib.sha256(content).hexdigest()
    part.unlink()
    part = part.with_name(f"{digest[:16]}.parquet")
    part.write_bytes(content)
    (archive / "parts.sha256").write_text(f"{digest}  {part.relative_to(archive).as_posix()}\n")
    output = ["-o", str(archive.with_name("page.html"))] if command == "report" else []
    assert main([*command.split(), str(archive), *output]) == 2
    assert f"{part.name}: damaged (" in "".join(capsys.readouterr().err.split("\n"))


def test_a_span_from_the_first_day_to_the_last_is_the_whole_archive(archive: Path) -> None:
    collect([volumes()], archive)
    for zone in (None, timezone(timedelta(hours=14)), timezone(timedelta(hours=-14))):
        span = datetime.min.replace(tzinfo=zone), datetime.max.replace(tzinfo=zone)
        assert open_archive(archive).read(start=span[0], end=span[1]).height == 6


@pytest.mark.parametrize(
    ("problem", "changed"),
    [
        ("io_rate = nan", pl.lit(float("nan")).alias("io_rate")),
        ("io_rate = -5", pl.lit(-5.0).alias("io_rate")),
        ("io_rate = 1e+300", pl.lit(1e300).alias("io_rate")),
        ("io_rate_high = ", pl.lit(-5e3).alias("io_rate_up")),
        ("interval = 1e+300 s", pl.lit(1e300).alias("interval")),
        ("interval = -3600 s", pl.lit(-3600.0).alias("interval")),
        ("rows of another day", pl.lit(2**62).cast(pl.Datetime("us")).alias("start")),
        ("rows of another day", pl.col("start") + pl.duration(days=2)),
        ("rows of another day", pl.lit(None, pl.Datetime("us")).alias("start")),
        ("pool_aliases = 65535", pl.lit(65535, pl.UInt16).alias("pool_aliases")),
        ("rows of no known kind", pl.lit("evil").alias("kind")),
    ],
)
def test_a_row_that_no_reader_gives_is_refused_and_nothing_is_left_out(
    problem: str, changed: pl.Expr, archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    collect([volumes()], archive)
    (part,) = archive.rglob("*.parquet")
    pl.read_parquet(part, hive_partitioning=False).with_columns(changed).write_parquet(part)
    digest = hashlib.sha256(part.read_bytes()).hexdigest()
    part = part.rename(part.with_name(f"{digest[:16]}.parquet"))
    (archive / "parts.sha256").write_text(f"{digest}  {part.relative_to(archive).as_posix()}\n")
    for command in (["read"], ["site"], ["collect", "-o", str(archive)]):
        assert main([*command, str(archive)]) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert f"{part.name}: damaged (" in said and problem in said


@pytest.mark.long
@pytest.mark.parametrize(
    "number", [12, pytest.param(60, marks=pytest.mark.long), pytest.param(5000, marks=pytest.mark.slow)]
)
def test_an_archive_of_a_stranger_touches_nothing_outside(number: int) -> None:
    counts = variants(number, 1)
    assert all(counts.values())
    assert counts["read"] + counts["refused"] == number


def test_no_space_left_is_said_and_changes_nothing(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collect([volumes()], archive)
    before = files_of(archive)

    def fails(error: Exception) -> Callable[..., None]:
        def write(*arguments: object, **options: object) -> None:
            raise error

        return write

    # The second is what polars raises there.
    packed = "parquet: File out of specification: underlying IO error: No space left on device (os error 28)"
    for error in (OSError(28, "No space left on device"), pl.exceptions.ComputeError(packed)):
        monkeypatch.setattr(pl.DataFrame, "write_parquet", fails(error))
        with pytest.raises(
            InputError, match=r"written to \(No space left on device.*\); the archive is as it was"
        ):
            collect(HYPERPAV, archive)
        assert files_of(archive) == before
    monkeypatch.setattr(
        "planner.measurements.collect._by_day", fails(pl.exceptions.ShapeError("of two heights"))
    )
    with pytest.raises(pl.exceptions.ShapeError):  # nothing that a folder has to do with
        collect(HYPERPAV, archive)
    assert files_of(archive) == before


@pytest.mark.long
def test_anonymous_rows_say_the_same_of_nobody(archive: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    collect(ALL, plain)
    names = names_of(archive)
    collect(ALL, archive, names=names)
    collect(ALL, archive, names=names_of(archive))  # the same key: nothing new
    for table in schema.TABLES:
        known, hidden = rows(plain, table), rows(archive, table)
        assert known.height == hidden.height
        words = {
            word
            for name in ("system", "source", "file", "label", "owner")
            if name in known.columns
            for word in known[name].unique().drop_nulls()
            if word not in {"SYSTEM", "unknown"}
        }
        assert words
        text = "".join(path.read_bytes().decode("latin-1") for path in archive.rglob("*.parquet"))
        assert not [word for word in words if word in text]
        shift = (known["start"].min() - hidden["start"].min()).days  # type: ignore[operator, union-attr]
        assert shift == names.days
        assert shift % 7 == 0
        numbers = [name for name, dtype in known.schema.items() if dtype == pl.Float64]
        assert_frame_equal(known.select(pl.col(numbers).sum()), hidden.select(pl.col(numbers).sum()))
    assert (tmp_path / "archive.key").stat().st_mode & 0o077 == 0
    assert "key" not in " ".join(files_of(archive))


def test_planner_read_shows_systems_days_and_gaps(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gap = volumes(6).filter(pl.col("start") != FIRST + timedelta(minutes=30))
    pools = pl.DataFrame({"device": ["2000", "2001"], "role": ["base", "base"], "pool": ["7", "7"]})
    members = archive.with_suffix(".csv")
    pools.write_csv(members)
    collect([gap], archive, members=members)
    assert main(["read", str(archive), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["systems"]
    assert (found["days"], found["intervals"], found["gaps"], found["devices"], found["pools"]) == (
        1,
        5,
        1,
        2,
        1,
    )
    assert found["gap_start"] == "2026-03-01 08:30:00"
    assert found["longest_gap_h"] == pytest.approx(1 / 6)
    assert main(["read", str(archive)]) == 0
    assert "A: nothing from 2026-03-01 08:30:00 for 0.167 h" in capsys.readouterr().out


def test_days_of_several_systems_are_counted_once(archive: Path) -> None:
    for system in ("A", "B"):
        collect([volumes(6, system=system)], archive)
    found = overview(open_archive(archive))
    assert [row["days"] for row in found.rows] == [1, 1]
    assert ": 2 systems, 1 day, " in found.headline


def test_collect_says_what_it_added(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["collect", *map(str, HYPERPAV), "-o", str(archive), "--system", "VM1"]
    assert main(command) == 0
    assert "54 rows added to" in capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["added"]["devices"] == 0
    assert answer["known"]["devices"] == 54
    assert answer["systems"] == ["VM1"]
    assert open_archive(archive).systems == ("VM1",)
    assert main(["collect", str(HYPERPAV[0]), "-o", str(archive.parent / "b")]) == 0
    assert "names no system; its rows are kept as 'unknown'" in " ".join(capsys.readouterr().out.split())


def test_an_empty_archive_is_one(archive: Path) -> None:
    collect([], archive)
    assert open_archive(archive).systems == ()
    assert read(archive).devices.columns == list(schema.dtypes(schema.DEVICES))


@pytest.mark.long
def test_a_day_of_ten_thousand_volumes_takes_at_most_forty_bytes_a_row(archive: Path, tmp_path: Path) -> None:
    """Numbers as a listing prints them, a fiftieth of the day; rows of one device stand together, as in the whole."""
    import numpy as np

    rng, intervals, devices = np.random.default_rng(3), 288, 100
    count = intervals * devices
    rate, service, queued = rng.gamma(0.5, 200, count), rng.gamma(4, 0.4, count), rng.gamma(0.1, 2, count)
    start = [FIRST.replace(hour=0) + timedelta(minutes=5 * (k // devices)) for k in range(count)]
    frame = pl.DataFrame({
        "system": "A", "start": start, "interval_s": 300.0, "device": [f"{0x2000 + k:04X}" for k in range(devices)]
        * intervals,
        "label": [f"VOL{k:03d}" for k in range(devices)] * intervals, "io_rate": [f"{x:.1f}" for x in rate],
        "pend_ms": [f"{x / 8:.1f}" for x in service], "disconnect_ms": [f"{x / 4:.1f}" for x in service],
        "connect_ms": [f"{x / 2:.1f}" for x in service], "service_ms": [f"{x:.1f}" for x in service],
        "response_ms": [f"{x + q:.1f}" for x, q in zip(service, queued, strict=True)],
        "queued": [f"{x:.2f}" for x in queued],
    })  # fmt: skip
    path = tmp_path / "day.csv"
    frame.write_csv(path)
    collect([path], archive)
    size = sum(len(content) for name, content in files_of(archive).items() if name.endswith(".parquet"))
    assert size / count < 40


def test_headings_of_the_schema_are_documented() -> None:
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    for columns in schema.TABLES.values():
        for column in columns:
            if not column.key.endswith(("_low", "_high")):
                assert f"`{column.key}`" in text, column.key


def test_an_archive_of_before_the_utilization_is_read_and_added_to(archive: Path) -> None:
    """Its parts lack five columns, null in what is read; a part that lacks another is damaged."""
    collect([volumes()], archive)
    before = rows(archive)

    def without(name: str) -> None:
        (file,) = archive.rglob("*.parquet")
        found = pl.read_parquet(file, hive_partitioning=False)
        found.drop(
            [each for each in found.columns if each.startswith((name, "together", "queue_samples"))]
        ).write_parquet(file)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        old = open_archive(archive).parts[0]
        place = file.rename(
            file.with_name(file.name.replace(old.digest[: len(file.stem)], digest[: len(file.stem)]))
        )
        (archive / "parts.sha256").write_text(f"{digest}  {place.relative_to(archive).as_posix()}\n")

    without("utilization")
    (archive / "archive.toml").write_text("schema = 2\n")
    assert_frame_equal(rows(archive), before)
    collect([volumes(intervals=1).with_columns(start=FIRST + timedelta(days=1))], archive)
    assert open_archive(archive).version == VERSION and rows(archive).height == before.height + 2
    shutil.rmtree(archive)
    collect([volumes()], archive)
    without("pend")
    with pytest.raises(ReportError, match="has other columns"):
        rows(archive)
