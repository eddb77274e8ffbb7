"""Tables of runs: what a row becomes, devices added up by hand, totals and archives, each refusal with its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from planner.calibrate import Task, calibrate
from planner.calibrate.data_file import MOST_RUNS, Chosen, read_measurements, read_observations
from planner.calibrate.problem import FIGURES, Observation
from planner.errors import InputError, ReportError
from planner.library import data_path
from planner.measurements.collect import collect
from planner.quantity import Quantity

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(*lines: str, name: str = "runs.csv") -> Path:
        path = tmp_path / name
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")
        return path

    return written


def figures(run: Observation) -> dict[str, tuple[float, float]]:
    return {key: (each.value, each.resolution) for key, each in run.figures.items()}


def test_a_row_is_a_run_in_si_with_the_digits_it_was_printed_with(write: Write) -> None:
    path = write(
        "run,population,aliases,volumes,io_rate,service_ms,response_ms,wait_ms,queued",
        "first,3,2,4,1619,1.70,2.5,.8,.02",
        ",,0,,755,,,,",
    )
    one = read_observations([write(*path.read_text().splitlines()[:2], name="one.csv")], "pool")[0]
    assert (one.name, one.population, one.aliases, one.volumes) == ("first", 3, 2, 4)
    assert figures(one) == {
        "io_rate": (1619.0, 0.5), "service_time": (pytest.approx(1.7e-3), pytest.approx(5e-6)),
        "response_time": (pytest.approx(2.5e-3), pytest.approx(5e-5)),
        "wait_time": (pytest.approx(0.8e-3), pytest.approx(5e-5)), "queued": (0.02, pytest.approx(0.005)),
    }  # fmt: skip
    with pytest.raises(ReportError, match=r"line 3, column 5: volumes is empty: expected a count of volumes"):
        read_observations([path], "pool")
    (alone,) = read_observations([write("aliases,io_rate", "5,755", name="alone.csv")], "volume")
    assert (alone.name, alone.population, alone.aliases, alone.volumes) == ("alone line 2", None, 5, 1)


DEVICES = (
    "run,role,population,io_rate,service_ms,queued",
    "one,base,3,552,1.7,.02", "one,alias,,545,1.70,", "two,base,3,100,2.0,1.5", "one,base,3,48,1.8,.1",
    "one,alias,,0,,",
)  # fmt: skip


def test_nothing_may_wait_but_something_was_served(write: Write) -> None:
    (run,) = read_observations([write("aliases,io_rate,wait_ms,queued", "0,755,0,0")], "volume")
    assert (run.values["wait_time"], run.values["queued"]) == (0.0, 0.0)
    for heading in ("io_rate", "service_ms", "response_ms"):
        with pytest.raises(ReportError, match=f"{heading} '0': expected a number above zero"):
            read_observations([write(f"aliases,{heading}", "0,0")], "volume")


def test_devices_of_a_run_are_added_up_and_their_times_weighed_by_rate(write: Write) -> None:
    """Rates and queues with their digits; the coarsest digit of a time is that of the mean."""
    one, two = read_observations([write(*DEVICES)], "pool")
    assert (one.name, one.volumes, one.aliases, one.population) == ("one", 2, 2, 3)
    mean = (552 * 1.7 + 545 * 1.70 + 48 * 1.8) / 1145 * 1e-3
    assert figures(one) == {
        "io_rate": (1145.0, 2.0), "service_time": (pytest.approx(mean), pytest.approx(0.05e-3)),
        "queued": (pytest.approx(0.12), pytest.approx(0.005 + 0.05)),
    }  # fmt: skip
    assert (two.name, two.volumes, two.aliases, two.population) == ("two", 1, 0, 3)
    (unnamed,) = read_observations(
        [write("role,io_rate,service_ms", "base,10,1.0", name="night.csv")], "volume"
    )
    assert (unnamed.name, unnamed.population, list(unnamed.figures)) == (
        "night",
        None,
        ["io_rate", "service_time"],
    )
    (named,) = read_observations([write("role,io_rate,service_ms", "base,10,1.0", "alias,10,1.0")], "volume")
    assert (named.volumes, named.aliases) == (1, 1)


@pytest.mark.parametrize(
    ("kind", "lines", "problem"),
    [
        ("volume", (DEVICES[0], "a,base,3,552,1.7,.1", "a,base,3,552,1.7,.1"),
         "line 2, column 3: role has 2 volumes: expected 1 volume; several are `kind` pool"),
        ("pool", (DEVICES[0], "a,alias,,1,1.7,"), "role of a is alias only: expected a base among its devices"),
        ("pool", (DEVICES[0], "a,base,3,1,0,"), "service_ms is empty or 0"),
        ("pool", ("aliases,io_rate", "1,755"), "missing volumes"),
        ("volume", ("io_rate", "755"), "missing aliases: expected runs of a volume with the columns aliases"),
        ("pool", ("role,service_ms", "base,1.0"), "missing io_rate: expected runs of a pool with the columns"),
        ("volume", ("aliases,run", "1,x"),
         "missing one of io_rate, service_ms, response_ms, wait_ms, queued: expected what was measured"),
        ("volume", ("aliases,io_rate", ",755"), "line 2, column 1: aliases is empty: expected a count of aliases"),
        ("volume", ("aliases,io_rate", "1000001,755"), "line 2, column 1: aliases '1000001'"),
        ("volume", ("aliases,population,io_rate", "1,0,755"), "population '0'"),
    ],
)  # fmt: skip
def test_what_a_table_lacks_is_told(write: Write, kind: str, lines: Sequence[str], problem: str) -> None:
    with pytest.raises(ReportError) as told:
        read_observations([write(*lines)], kind)
    assert problem in str(told.value)


def test_no_more_runs_than_a_law_learns_from(write: Write) -> None:
    rows = [f"{k % 8},755" for k in range(MOST_RUNS)]
    assert len(read_observations([write("aliases,io_rate", *rows)], "volume")) == 60
    one = write("aliases,io_rate", "1,755", name="one.csv")
    with pytest.raises(InputError, match="measurements = 61: expected at most 60 runs in one fit"):
        read_observations([write("aliases,io_rate", *rows), one], "volume")


HEADINGS = (
    Quantity("cp", unit="us", zero=True), Quantity("speed", words=("fast", "slow")),
    Quantity("hit_ratio", zero=True, high=1.0),
)  # fmt: skip


def test_a_table_of_costs_is_read_by_its_headings(write: Write) -> None:
    path = write("cp_us,speed,run,hit_ratio", "12.5,fast,a,0", "0,slow,,", "7,,b,1")
    one, two, three = read_measurements([path], HEADINGS, ("cp_us",))
    assert (one.name, two.name, three.name) == ("a", "runs line 3", "b")
    assert one.value("cp_us") == pytest.approx(12.5e-6)
    assert one.numbers["cp_us"].resolution == pytest.approx(0.05e-6)
    assert [set(each.numbers) for each in (one, two, three)] == [
        {"cp_us", "hit_ratio"},
        {"cp_us"},
        {"cp_us", "hit_ratio"},
    ]
    assert [each.words for each in (one, two, three)] == [{"speed": "fast"}, {"speed": "slow"}, {}]
    assert (two.value("hit_ratio"), two.value("hit_ratio", 0.5), three.value("hit_ratio")) == (0.0, 0.5, 1.0)
    figure = one.figure("cp_us", 1e-6)
    assert (figure.run, figure.quantity, figure.factor) == ("a", "cp_us", 1e-6)
    assert (figure.value, figure.half) == (pytest.approx(12.5e-6), pytest.approx(0.05e-6))
    assert str(three.error("trouble", "speed")).endswith("line 4, column 3: trouble")
    assert "line 4: trouble" in str(three.error("trouble"))
    assert len(read_measurements([path, write("cp_us", "3", name="more.csv")], HEADINGS, ())) == 4


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (("cp_us,speed", "1,quick"), "line 2, column 3: speed 'quick': expected fast or slow"),
        (("cp_us,speed", ",fast"), "line 2, column 1: cp_us is empty: expected a number"),
        (("cp_us,speed", "1,"), "line 2, column 3: speed ''"),
        (("cp_us,speed,hit_ratio", "1,fast,1.5"), "hit_ratio '1.5'"),
        (("speed", "fast"), "missing cp_us"),
        (("cp_us,speed,other", "1,fast,2"), "unknown column 'other'"),
    ],
)
def test_a_cell_that_is_none_is_told(write: Write, lines: Sequence[str], problem: str) -> None:
    with pytest.raises(ReportError) as told:
        read_measurements([write(*lines)], HEADINGS, ("cp_us", "speed"))
    assert problem in str(told.value)


def test_one_of_several_groups_of_columns_is_enough(write: Write) -> None:
    groups = (("cp_us", "hit_ratio"), ("speed",))
    for lines in (("cp_us,hit_ratio", "1,.5"), ("speed", "fast"), ("speed,cp_us", "fast,1")):
        assert read_measurements([write(*lines)], HEADINGS, (), one_of=groups)
    with pytest.raises(ReportError, match="missing cp_us and hit_ratio, or speed"):
        read_measurements([write("cp_us", "1")], HEADINGS, (), one_of=groups)
    assert read_measurements([write("speed,other", "fast,1")], HEADINGS, (), others=True)


def test_what_was_chosen_is_told_by_its_arguments() -> None:
    assert Chosen().given() == {}
    assert Chosen(start="a", end="b", pool="P", system="S").given() == {
        "system": "S", "start": "a", "end": "b", "pool": "P",
    }  # fmt: skip


def test_a_listing_is_read_whatever_it_is_asked_as() -> None:
    path = data_path("hyperpav", "522A-2-aliases.listing")
    (volume,), (pool,) = (read_observations([path], kind) for kind in ("volume", "pool"))
    assert (volume.volumes, volume.aliases, pool.volumes, pool.aliases) == (1, 2, 1, 2)
    assert volume.values["io_rate"] == pool.values["io_rate"] == 1619
    assert read_observations([path], "volume", Chosen(device="522A"))[0].figures == volume.figures
    assert set(volume.figures) <= set(FIGURES)


HEADING = "system,start,interval_s,pool,volume,io_rate,service_ms,queued,pool_aliases"
HOURS = (  # rate, queue, aliases of the pool: two counts, of each the hour with the longer queue in another place
    (9, 1100.0, 0.80, 2), (10, 1487.0, 2.05, 2), (11, 1925.0, 0.30, 4), (12, 900.0, 0.05, 4),
)  # fmt: skip


def site(pools: Sequence[str] = ("P1",), systems: Sequence[str] = ("SYS1",)) -> list[str]:
    return [HEADING] + [
        f"{system},2026-03-02T{hour:02d}:00:00+00:00,3600,{pool},{pool}V{k},{rate / 2},1.3,{queue / 2},{count}"
        for system in systems for pool in pools for hour, rate, queue, count in HOURS for k in range(2)
    ]  # fmt: skip


def test_totals_of_counters_are_runs_one_an_interval(write: Write) -> None:
    runs = read_observations([write(*site())], "pool")
    assert [(run.aliases, run.volumes, run.values["io_rate"]) for run in runs] == [
        (2, 2, 1100.0), (2, 2, 1487.0), (4, 2, 1925.0), (4, 2, 900.0),
    ]  # fmt: skip
    assert [run.name for run in runs][1:3] == ["2026-03-02 10:00 pool P1 +2", "2026-03-02 11:00 pool P1 +4"]


def test_of_an_archive_the_worst_interval_at_each_count_is_taken(write: Write, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    collect([write(*site(("P1", "P2")))], folder)
    for chosen in (Chosen(pool="P2"), Chosen(pool="P2", interval="worst")):
        runs = read_observations([folder], "pool", chosen)
        assert (runs[0].aliases, runs[0].values["queued"]) == (2, pytest.approx(2.05))
    with pytest.raises(InputError, match=r"^pool.*one pool of the 2 in .*: pool P1, pool P2"):
        read_observations([folder], "pool")
    with pytest.raises(InputError, match=r"measurements = .*: expected a pool with I/O; pool P3 has none"):
        read_observations([folder], "pool", Chosen(pool="P3"))


def test_of_several_systems_one_must_be_said(write: Write, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    collect([write(*site(systems=("SYS1", "SYS2")))], folder)
    with pytest.raises(InputError, match=r"^system.*one of SYS1, SYS2: .* holds several systems"):
        read_observations([folder], "pool")
    assert read_observations([folder], "pool", Chosen(system="SYS2"))


def test_a_table_of_volumes_is_read_as_every_command_reads_it(write: Write) -> None:
    """Its headings say that it is none of runs; a heading that is no one's is that of a table of runs."""
    volumes = write(
        "start;Volser;IOPS;Service time (ms);Queue;aliases", "2024-01-01T10:00;PROD01;755;1,3;1,84;2"
    )
    (found,) = read_observations([volumes], "volume")
    assert (found.name, found.aliases, figures(found)["queued"][0]) == ("PROD01 +2", 2, 1.84)
    with pytest.raises(ReportError, match="unknown column 'qeued': known are run, device"):
        read_observations([write("aliases,io_rate,service_ms,qeued", "0,755,1.3,1.84")], "volume")


def test_a_run_that_stands_there_twice_is_refused(write: Write) -> None:
    """Another name makes it another run, which may well have measured the same."""
    path = write("cp_us,run", "12.5,a", "12.5,b", "12.5,a")
    with pytest.raises(ReportError, match=r"line 4.*a second time"):
        read_measurements([path], HEADINGS, ("cp_us",))
    assert len(read_measurements([write("cp_us,run", "12.5,a", "12.5,b")], HEADINGS, ("cp_us",))) == 2
    with pytest.raises(InputError, match=r"a second time': expected each file once"):
        read_measurements([path, path], HEADINGS, ("cp_us",))


@pytest.mark.parametrize("kind", ["volume", "pool"])
def test_a_run_of_volumes_that_stands_there_twice_is_refused(write: Write, kind: str) -> None:
    """It is no further evidence: an error would shrink that no measurement made smaller."""
    rows = ("0,755,1.3,1.84,a", "0,755,1.3,1.84,b")
    assert len(read_observations([write("aliases,io_rate,service_ms,queued,run", *rows)], "volume")) == 2
    with pytest.raises(InputError, match=r"'a a second time': expected each measurement once"):
        read_observations([write("aliases,io_rate,service_ms,queued,run", *rows, rows[0])], "volume")
    listing = data_path("hyperpav", f"{'522A' if kind == 'volume' else 'pool'}-0-aliases.listing")
    with pytest.raises(InputError, match=r"a second time': expected each measurement once"):
        read_observations([listing, listing], kind)


def test_files_are_named_as_text_or_as_paths(write: Write) -> None:
    path = write("aliases,population,io_rate,service_ms", "0,3,755,1.3")
    for files in (str(path), path, [str(path)]):
        assert calibrate("volume", Task(files=files))[0].value("service_time") == pytest.approx(
            1.3e-3, rel=0.05
        )  # type: ignore[arg-type]


def test_a_run_without_all_of_its_devices_is_refused(write: Write) -> None:
    """A pool of two of which one row cannot be read would be fitted as a pool of one."""
    heading = "run,pool,device,aliases,io_rate,service_ms,queued"
    rows = ["P,1001,0,700,1.2,1.5", "P,1002,0,600,,1.0", "Q,1003,0,500,1.2,0.7"]
    path = write(heading, *(f"r1,{row}" for row in rows))
    for kind, chosen in (
        ("pool", Chosen()),
        ("pool", Chosen(pool="P")),
        ("pool", Chosen(device="1001-1002")),
    ):
        with pytest.raises(
            ReportError, match=r"^\S*runs.csv: no readable row of 1002: expected every device"
        ):
            read_observations([path], kind, chosen)
    (other,) = read_observations([path], "pool", Chosen(pool="Q"))
    assert other.values["io_rate"] == 500
    listing = data_path("hyperpav", "pool-0-aliases.listing").read_text().replace("   4  719", "   4  7z9")
    with pytest.raises(ReportError, match="no readable row of 5231"):
        read_observations([write(listing, name="pool.listing")], "pool")


def test_a_table_of_volumes_with_requesters_is_refused(write: Write) -> None:
    """Its requesters are no column that is read: they would be ignored."""
    path = write("run,device,aliases,io_rate,service_ms,queued,population", "a,1001,0,755,1.3,1.84,3")
    assert read_observations([path], "volume")[0].population == 3
    with pytest.raises(
        ReportError, match="population is not read from a table of volumes: expected `population`"
    ):
        read_observations([path], "volume", Chosen(device="1001"))


@pytest.mark.long
def test_notes_of_reading_are_those_of_the_calibration(write: Write) -> None:
    rows = [
        f"r{k},1001,{k},{rate},{ms},9000,{queue}"
        for k, rate, ms, queue in ((0, 755, 1.3, 1.84), (2, 1619, 1.7, 0))
    ]
    path = write("run,volume,aliases,io_rate,service_ms,service_us,queued", *rows)
    found, _ = calibrate("volume", Task(files=[path]))
    assert [note for note in found.notes if "service_us is not used" in note]


def test_volumes_without_io_are_named(write: Write) -> None:
    rows = ("1001,P,0,0,1", "1002,P,700,1.2,1", "1003,Q,0,0,0", "1004,Q,9,1.2,0")
    path = write("volume,pool,io_rate,service_ms,queued", *rows)
    for chosen, named in (
        (Chosen(), "2 volumes (1001, 1003)"), (Chosen(pool="P"), "1 volume (1001)"),
        (Chosen(device="1002,1003"), "1 volume (1003)"), (Chosen(device="1002"), ""),
    ):  # fmt: skip
        run, *_ = read_observations([path], "pool", chosen)
        said = [note for note in run.notes if note.startswith("Without")]
        assert said == ([f"Without I/O, hence left out: {named}."] if named else [])
    alone = write("volume,io_rate,service_ms,queued", "1001,0,0,0")
    for chosen in (Chosen(), Chosen(device="1001")):
        with pytest.raises(InputError, match="expected a volume with I/O; none of 1001 did any"):
            read_observations([alone], "volume", chosen)
