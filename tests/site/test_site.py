"""The answer for a site: counts that are those of `planner aliases`, verdicts, keys, exit codes, archives, sharing."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from dataclasses import astuple, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import planner
from planner.answer import record
from planner.cli import main
from planner.demand import DeviceModel, Target
from planner.errors import ConvergenceError, InputError, ReportError
from planner.measurements import Run
from planner.measurements.choose import POOL, Group, rows_of
from planner.measurements.collect import collect
from planner.measurements.over_time import over_time, pool_supplies
from planner.page.parts import part_of
from planner.render.text import ENOUGH, SHORT
from planner.reports import schema
from planner.site.parts import parts_of
from planner.site.pool_need import FIGURES, time_quantile
from planner.site.question import combine, need_of, site
from planner.site.track import track_record
from planner.sizing import need as sizing_need
from planner.sizing.need import Need, aliases_of_runs
from planner.supply import judge
from tests.checkout import ROOT
from tests.site.large_site import pool_rows, site_rows

DEVICE = DeviceModel(inflation=0.16, redrive_time=5e-5, model_error=0.02)
KEYS = [
    "system", "pool", "volumes", "in_use", "needed_worst", "needed_99", "needed_95", "needed_low", "needed_high",
    "verdict", "worst_start", "intervals", "busy_intervals", "solved_in_full",
]  # fmt: skip
P1 = Group("SYS1", POOL, "P1")


@pytest.mark.long
def test_pools_without_an_answer_are_no_success(frame: pl.DataFrame) -> None:
    """2 as of `aliases pool`, also where another one is short; the first line counts those without."""
    twice = pl.concat([frame, frame.filter(pl.col("pool") == "P1")])
    alone, beside = site(twice.filter(pl.col("pool") == "P1")), site(twice)
    assert (alone.exit_code, beside.exit_code) == (2, 2)
    assert "no answer" in alone.headline
    assert "1 has no answer" in beside.headline
    failed = replace(beside, failed=(("P3", "out of memory"),))
    assert failed.exit_code == 2
    assert "1 part of the site failed" in failed.headline


def test_time_quantiles_count_time_not_intervals() -> None:
    """Three of four hours need 1, the last one 5."""
    needed, seconds = np.array([1.0, 5.0, np.nan]), np.array([10800.0, 3600.0, 1e9])
    assert [time_quantile(needed, seconds, share) for share in (0.5, 0.75, 0.76, 1.0)] == [1, 1, 5, 5]


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    """Two pools over a third of a day."""
    return site_rows(2, seed=4, sorts=("unknown", "bursty"), volumes=3, intervals=8, seconds=3600.0)  # type: ignore[arg-type]


def test_keys_and_verdicts(frame: pl.DataFrame) -> None:
    """The keys of each row are public and come first; short is what has less than its count."""
    answer = site(frame)
    found = json.loads(json.dumps(answer.to_dict()))
    assert list(found)[:3] == ["headline", "pools", "all"]
    assert "notes" in found
    assert all(list(row)[: len(KEYS)] == KEYS for row in found["pools"])
    assert {"pools", "short", "too_many", "in_use", "needed_99"} <= found["all"].keys()
    for row in found["pools"]:
        assert row["needed_low"] <= row["needed_99"] <= row["needed_high"]
        assert row["needed_95"] <= row["needed_99"] <= row["needed_worst"]
        assert (row["verdict"] == "short") == (row["needed_99"] > row["in_use"])
        assert (row["verdict"] == "too many") == (row["needed_high"] < row["in_use"])
    bursty = next(row for row in found["pools"] if row["pool"] == "P2")
    assert (bursty["in_use"], bursty["verdict"]) == (0, "short")
    assert answer.exit_code == 1
    assert answer.pools[0].pool == "P2"  # worst first
    assert "P2" in answer.headline
    assert "P2" in answer.text()
    assert len(answer.table()) == 2


@pytest.mark.long
def test_worst_interval_is_the_worst_of_all_full_answers(frame: pl.DataFrame) -> None:
    """Counts of the worst interval and of 99 % are those of answering every interval in full."""
    answer = site(frame, pool="P1")
    (need,) = answer.pools
    ((_, pool),) = over_time(rows_of(frame.lazy(), [P1]), [P1])
    assert not isinstance(pool, str)
    every = np.array(
        [
            aliases_of_runs(run, DeviceModel.from_model("hyperpav")).recommended
            for run in pool.runs
            if isinstance(run, Run)
        ]
    )
    assert need.needed_worst == every.max()
    busy = need.series.busy
    assert need.needed_99 == time_quantile(every[busy].astype(float), pool.seconds[busy], 0.99)
    assert need.series.needed.tolist() == every.tolist()
    assert need.solved_in_full == 8


@pytest.mark.long
def test_the_range_is_that_of_the_interval_that_decides(frame: pl.DataFrame) -> None:
    """Of all of the time that is the worst one."""
    (need,) = site(frame, pool="P1", meet=1.0).pools
    assert need.decided_start == need.worst_start
    alone = planner.aliases(frame, pool="P1", interval=str(need.decided_start))
    assert (alone.recommended, alone.range) == (need.needed, (need.needed_low, need.needed_high))


@pytest.mark.long
def test_a_pool_that_could_not_be_solved_says_so_and_the_others_are_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither what did not converge nor how much was left is a word for a user."""
    frame = site_rows(2, seed=4, sorts=("unknown",), volumes=2, intervals=2)  # type: ignore[arg-type]
    solved, problem = sizing_need.size, ConvergenceError("mean field of the alias pool: flows", 0.1, 48)

    def unsolved(cases: Sequence[Sequence[Run]], *rest: Any, **options: Any) -> list[Any]:
        found = solved(cases, *rest, **options)
        return [
            problem if case[-1].name == "pool P1" else each for case, each in zip(cases, found, strict=True)
        ]

    monkeypatch.setattr(sizing_need, "size", unsolved)
    answer = site(frame, workers=1)
    first, second = sorted(answer.pools, key=lambda need: need.pool)
    assert (first.verdict, first.problem) == ("unknown", "it could not be solved")
    assert (
        "2 of 2 intervals have no answer, the first at 2026-03-02 00:00: it could not be solved"
        in first.notes
    )
    assert second.needed is not None and second.solved_in_full == 2
    text = json.dumps(answer.to_dict()) + answer.text()
    assert not any(word in text for word in ("residual", "converge", "mean field"))


@pytest.mark.long
def test_parts_pickle_and_join_to_the_same_answer(frame: pl.DataFrame) -> None:
    """What is sent to another process comes back the same."""
    parts, notes, _ = parts_of(frame, pool="P1")
    (part,) = parts
    there = pickle.loads(pickle.dumps(part))
    results = [pickle.loads(pickle.dumps(need_of(each))) for each in (part, there)]
    first, second = (combine([each], target=Target(), notes=notes).to_dict() for each in results)
    assert first == second


@pytest.mark.long
def test_an_archive_says_the_same_as_its_rows(frame: pl.DataFrame, tmp_path: Path) -> None:
    """Also by the command, whose exit code is 1 where a pool is short."""
    collect([frame], tmp_path / "archive")
    from_rows, from_archive = site(frame, pool="P1"), site(tmp_path / "archive", pool="P1")
    assert from_rows.to_dict()["pools"] == from_archive.to_dict()["pools"]
    out = tmp_path / "site.json"
    assert main(["site", str(tmp_path / "archive"), "--pool", "P2", "--json", "-o", str(out)]) == 1
    assert json.loads(out.read_text())["pools"][0]["verdict"] == "short"
    picture = tmp_path / "need.svg"
    assert main(
        [
            "site",
            str(tmp_path / "archive"),
            "--pool",
            "P1",
            "--plot",
            str(picture),
            "--csv",
            "-o",
            str(tmp_path / "s.csv"),
        ]
    ) in (0, 1)
    assert picture.read_text().startswith("<?xml")
    assert (
        (tmp_path / "s.csv")
        .read_text()
        .startswith("system,pool,volumes,in_use,needed_worst,needed_99,needed_95")
    )


def test_unknown_pools_and_shares_are_refused(frame: pl.DataFrame) -> None:
    """The messages name what there is."""
    with pytest.raises(InputError, match="SYS1/P1, SYS1/P2"):
        site(frame, pool="P9")
    with pytest.raises(InputError, match="meet"):
        site(frame, meet="0%")
    with pytest.raises(InputError, match="devices, or volumes"):
        site(schema.empty(schema.DEVICES))


@pytest.mark.long
def test_systems_that_share_a_control_unit_are_one_pool(tmp_path: Path) -> None:
    """Rates and queues add up device by device; the systems have their shares; other intervals are left out."""
    one = pool_rows("unknown", seed=3, volumes=2, intervals=3)
    numbers = ["io_rate", "io_rate_low", "io_rate_high"]
    other = one.with_columns(
        pl.lit("SYS2").alias("system"),
        pl.lit("PX").alias("pool"),
        *((3 * pl.col(name)).alias(name) for name in numbers),
        pool_aliases=pl.col("pool_aliases") + 1,
    )
    other = other.filter(pl.col("start") < other["start"].max())
    path = tmp_path / "shared.csv"
    path.write_text("system,pool,ssid\nSYS1,P1,2107A\nSYS2,PX,2107A\n")
    answer = site(pl.concat([one, other]), members=path)
    (need,) = answer.pools
    assert (need.system, need.pool, need.volumes, need.intervals) == ("SYS1+SYS2", "2107A", 2, 2)
    assert need.shares == pytest.approx({"SYS1": 0.25, "SYS2": 0.75})
    alone = one.filter(pl.col("start") < one["start"].max()).with_columns(
        *(pl.col(name) * 4 for name in numbers)
    )
    (four_times,) = site(alone).pools
    assert (need.needed_worst, need.needed_99) == (four_times.needed_worst, four_times.needed_99)
    assert any("1 intervals that not all" in note for note in answer.notes)
    second = timedelta(seconds=1)
    nearly = other.with_columns(pl.col("start") + second, pl.col("interval") - 0.1)
    (same,) = site(pl.concat([one, nearly]), members=path).pools
    assert record(same, FIGURES) == record(need, FIGURES)
    (alone,) = site(pl.concat([one, other.filter(pl.col("device") != one["device"][0])]), members=path).pools
    assert (alone.volumes, alone.problem) == (2, None)
    longer = other.with_columns(pl.col("interval") * 2)
    assert site(pl.concat([one, longer]), members=path).pools[0].intervals == 0
    with pytest.raises(InputError, match=r"one of SYS1\+SYS2/2107A"):
        site(pl.concat([one, other]), members=path, pool="P1")
    path.write_text("system,pool,ssid\nSYS1,P1,2107A\nSYS3,PX,2107A\n")
    with pytest.raises(ReportError, match="PX of SYS3"):
        site(pl.concat([one, other]), members=path)


@pytest.mark.long
def test_supply_counters_stand_beside(frame: pl.DataFrame) -> None:
    """What the counters of a pool say, and their high-water mark among the rules."""
    rows = {"system": "SYS1", "pool": "P2", "start": [datetime(2026, 3, 2)], "interval": 900.0, "time": 900.0,
            "tries": 1000, "fails": 100, "fewest_free": 0, "most_free": 3, "aliases": 4, "restarted": False,
            "plain": True}  # fmt: skip
    supply = schema.frame(schema.SUPPLY, rows, 1)
    answer = site([frame, supply], pool="P2")
    (need,) = answer.pools
    assert "10 % without" in need.supply
    assert need.rules["high_water"] == 4
    assert need.rules["in_use_plus_queue"] is not None


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("day", "fails", "verdict", "decided"),
    [(2, 0, "too many", True), (2, 400, "short", True), (3, 0, "short", False)],
)
def test_supply_counters_of_the_interval_that_decides_decide(
    day: int, fails: int, verdict: str, decided: bool
) -> None:
    """What is needed, added and given back is theirs, as `aliases supply` says; those of another day decide nothing."""
    begin = datetime(2026, 3, 2, 10)
    devices = pl.DataFrame({"start": [begin] * 4, "interval_s": [3600] * 4, "pool": ["0"] * 4, "aliases": [8] * 4,
                            "device": ["0100", "0101", "0102", "0103"], "io_rate": [100.0] * 4,
                            "service_ms": [2.0] * 4, "queued": [0.1] * 4})  # fmt: skip
    rows = [{"system": None, "pool": "0", "start": begin.replace(day=day, minute=minute), "interval": 60.0,
             "time": 60.0 * (minute + 1), "tries": 2000, "fails": fails, "fewest_free": 0 if fails else 4,
             "most_free": 8, "aliases": 8, "restarted": False, "plain": True} for minute in range(60)]  # fmt: skip
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    answer = site([devices, schema.frame(schema.SUPPLY, columns, 60)])
    (need,) = answer.pools
    (alone,) = judge(pool_supplies(schema.frame(schema.SUPPLY, columns, 60), Path("supply"))).pools
    assert need.needed_worst == 22
    assert need.needed == (alone.aliases_needed if decided else 22)
    assert need.to_add + need.to_gain == abs(need.needed - 8)
    assert (need.verdict, answer.exit_code) == (verdict, int(verdict == "short"))
    assert decided == (need.counters is not None) == ("by its supply counters" in answer.headline)
    assert "too many" not in answer.headline + " ".join(answer.notes)
    page = "".join(map(str, astuple(part_of(answer, "p"))))
    assert decided == ("Where supply counters decide, shares of the time and the growth slider" in page)


@pytest.mark.long
def test_track_record_compares_equal_loads() -> None:
    """A pool of Poisson arrivals that gets aliases: its response is told, and measured as the model has it."""
    before = pool_rows("steady", seed=8, volumes=2, intervals=6)
    later = before.with_columns(
        pl.col("start") + timedelta(days=7), pl.lit(8, dtype=pl.UInt16).alias("pool_aliases"),
        *(pl.lit(0.0 if end != "_high" else 0.005).alias(f"queued{end}") for end in ("", "_low", "_high")),
    )  # fmt: skip
    record = track_record(pl.concat([before, later]), "2026-03-09")
    (pool,) = record.pools
    assert (pool.before, pool.after) == (0, 8)
    assert record.pairs >= 1
    assert all(abs((pair.after - pair.before).total_seconds()) > 0 for pair in pool.pairs)
    assert record.held == sum(pair.held for pair in pool.pairs)
    worse = later.with_columns(*(pl.lit(50.0).alias(f"queued{end}") for end in ("", "_low", "_high")))
    assert track_record(pl.concat([before, worse]), "2026-03-09").held == 0
    same = before.with_columns(pl.col("start") + timedelta(days=7))
    assert "nothing can be compared" in track_record(pl.concat([before, same]), "2026-03-09").headline
    assert track_record(pl.concat([before, same]), "2026-03-09").notes == (
        "1 pool or volume unchanged, hence left out.",
    )
    for since in ("2026-03-02", "2027-03-02"):
        with pytest.raises(
            InputError, match=f"since = '{since}': expected a time with measured intervals before it"
        ):
            track_record(pl.concat([before, same]), since)


@pytest.mark.long
def test_since_is_by_its_own_clock_where_it_says_one() -> None:
    """Measured by a clock two hours ahead of UTC: midnight there is 22:00 UTC; all is over at midnight UTC."""
    before = pool_rows("steady", seed=8, volumes=2, intervals=2).with_columns(
        utc_offset=pl.lit(7200, pl.Int32)
    )
    later = before.with_columns(
        pl.col("start") + timedelta(days=7), pl.lit(8, dtype=pl.UInt16).alias("pool_aliases")
    )
    frame = pl.concat([before, later])
    for since in ("2026-03-09", "2026-03-09T00:00+02:00", "2026-03-08T22:00+00:00"):
        (pool,) = track_record(frame, since).pools
        assert (pool.before, pool.after) == (0, 8)
    with pytest.raises(InputError, match="expected a time with measured intervals before it"):
        track_record(frame, "2026-03-09T00:00+00:00")


@pytest.mark.long
def test_aliases_that_were_added_since_the_interval_that_decides_are_said() -> None:
    before = pool_rows("steady", seed=8, volumes=2, intervals=2)
    calm = [pl.col(f"{name}{end}") * 0.05 for name in ("io_rate", "queued") for end in schema.ENDS]
    later = before.with_columns(
        pl.col("start") + timedelta(days=1), pl.lit(8, dtype=pl.UInt16).alias("pool_aliases"), *calm
    )
    said = "8 aliases in the last interval, 0 in the one that decides: --from leaves out what was before"
    step = "Next: nothing to add; the last interval had 8, this one 0."
    for frame, times in ((pl.concat([before, later]), 1), (later, 0), (before, 0)):
        (need,), answer = site(frame, workers=1).pools, planner.aliases(frame, pool="P1")
        assert need.notes.count(said) == times
        assert sum(said in note for note in answer.notes) == times
        assert need.run.last_aliases == (8 if times else None)
        assert (answer.step == step) == bool(times)
        assert (answer.count.in_use, need.count.in_use) == (8 if frame is not before else 0,) * 2
        assert ("0 in use, 8 since: " in answer.headline and "; none to add." in answer.headline) == bool(
            times
        )


@pytest.mark.long
def test_aliases_that_were_taken_away_since_are_said_and_added_again() -> None:
    """One of two was taken away after the interval that decides; the step is from what is left."""
    before = pool_rows("in use", seed=3, volumes=4, intervals=40)
    last = pl.col("start") == before["start"].max()
    frame = before.with_columns(pool_aliases=pl.when(last).then(1).otherwise("pool_aliases").cast(pl.UInt16))
    (need,), answer = site(frame, workers=1).pools, planner.aliases(frame, pool="P1")
    assert (need.in_use, answer.in_use) == (1, 2)
    assert answer.step == "Next: add 1 alias; the last interval had 1, this one 2."
    assert "2 in use, 1 since: 1 device number more; " in answer.headline
    assert answer.changes == [("pool P1", 1)] and answer.count.verdict == need.verdict == SHORT
    said = "1 alias in the last interval, 2 in the one that decides: --from leaves out what was before"
    assert need.notes.count(said) == 1


def test_an_interval_that_no_count_serves_needs_more_than_any(
    frame: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is short; where such intervals are more than the share leaves, there is no count, not that of the others."""
    from planner.site import question

    def needs(cases: Sequence[tuple[Run, ...]], *_: object, **__: object) -> list[Need]:
        return [
            Need(count=None, problem="no count up to 254", exit_code=1)
            if k % 3 == 0
            else Need(count=2, low=1, high=3)
            for k in range(len(cases))
        ]

    monkeypatch.setattr(question, "need", needs)
    (found,) = site(frame.filter(pl.col("pool") == "P1")).pools
    assert (found.needed, found.needed_worst, found.needed_99) == (None, None, None)
    assert (found.problem, found.exit_code) == ("no count up to 254", 1)
    assert found.short_intervals > 0
    (half,) = site(frame.filter(pl.col("pool") == "P1"), meet="50%").pools
    assert half.needed == 2
    assert "Worst intervals" in site(frame.filter(pl.col("pool") == "P1"), pool="P1").text()


@pytest.mark.long
def test_what_is_too_quiet_to_matter_is_not_short() -> None:
    """As `planner aliases` says of it; what the digits seem to ask stays beside it."""
    rows = [
        (name, rate, queued)
        for _ in range(2)
        for name, rate, queued in (("000A", 5.1, 0.02), ("000B", 400.0, 0.5))
    ]
    start = [datetime(2026, 3, 1, 10 + k // 2) for k in range(4)]
    table = pl.DataFrame(
        {"start": start, "interval_s": 3600.0, "device": [row[0] for row in rows], "io_rate": [row[1] for row in rows],
         "service_ms": [0.6, 1.3] * 2, "queued": [row[2] for row in rows]}
    )  # fmt: skip
    answer = site(table)
    found = {need.pool: need for need in answer.pools}
    assert found["000A"].verdict == ENOUGH and found["000A"].needed > 0 and found["000A"].short_share == 0.0
    assert found["000B"].verdict == SHORT and found["000B"].short_share == 1.0
    assert "000A: too quiet to matter" in "".join(answer.notes)
    assert site(table.filter(pl.col("device") == "000A")).exit_code == 0
    idle = table.with_columns(
        pool=pl.lit("P"), io_rate=pl.when(pl.col("device") == "000B").then("io_rate").otherwise(0.0)
    )
    assert site(idle).pools[0].volumes == 2  # as `planner aliases` counts them


@pytest.mark.long
def test_an_interval_too_quiet_to_matter_does_not_decide_where_another_does() -> None:
    """As it is not the worst, nor that of `planner.aliases`."""
    head = "start,interval_s,device,io_rate,service_ms,queued"
    rows = ("10:00,3600,0200,16.4,.52,.39", "11:00,3600,0200,18.0,.51,.04", "12:00,3600,0200,18.1,.53,.04")
    table = "\n".join([head, *(f"2026-03-02T{row}" for row in rows)]).encode()
    (found,) = site(table, meet=1.0).pools
    alone = planner.aliases(table)
    assert found.verdict == SHORT and found.needed_99 == found.needed_95 == found.needed_worst
    assert (found.needed, found.needed_low, found.needed_high) == (alone.recommended, *alone.range)


@pytest.mark.long
def test_targets_stand_beside_the_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = ROOT / "docs" / "examples" / "rmf.xml"
    twice = tmp_path / "twice.xml"  # one pool more
    text = example.read_text(encoding="utf-8")
    twice.write_text(text.replace("0045", "0046").replace("8A", "9A").replace("8B", "9B"), encoding="utf-8")
    wait, tries = "wait at most 5 % of the service time", "target: at most 1 % of the tries without an alias"
    for files, said in (
        ([example], (f"Target: {wait}.", f"({tries})")),
        ([example, twice], (f"needed: {wait}, in", f"counters: {tries}")),
    ):
        assert main(["site", *map(str, files), "--workers", "1"]) == 0  # counters decide
        out = " ".join(capsys.readouterr().out.split())
        assert all(each in out for each in said)
    assert main(["aliases", "supply", str(example)]) == 0
    assert "fewest aliases with which at most 1 % of the tries find none free" in " ".join(
        capsys.readouterr().out.split()
    )
    assert main(["site", "--help"]) == 0
    assert "The exit code is 1 if any is short" in " ".join(capsys.readouterr().out.split())


@pytest.mark.long
def test_interval_that_contradicts_itself_is_left_out(tmp_path: Path) -> None:
    """Rows of 7 and 8 aliases in one interval: named, and answered from the others by both commands."""
    rows = ["start,interval_s,pool,aliases,device,io_rate,service_ms,queued"]
    rows += [
        f"2026-03-02T{hour}:00:00,3600,{pool},{7 if (hour, pool, k) == (11, 'A', 0) else 8},{pool}{k:03X},{rate},2,0.1"
        for hour, rate in ((10, 100), (11, 100), (12, 90))
        for pool in "AB"
        for k in range(4)
    ]
    path = tmp_path / "b.csv"
    path.write_text("\n".join(rows))
    whole, alone = site(path, pool="A"), planner.aliases(path, kind="pool", pool="A")
    assert isinstance(alone, planner.sizing.AliasAnswer)
    assert whole.pools[0].needed_worst == alone.recommended
    for each in (whole, alone, planner.aliases(path, kind="pool")):
        assert "line 11: 8 aliases of pool A are not 7 as in line 10" in " ".join(each.notes)
    path.write_text("\n".join([*rows[:1], *rows[9:17]]))
    with pytest.raises(ReportError, match="8 aliases of pool A are not 7"):
        planner.aliases(path, kind="pool")


@pytest.mark.long
def test_a_pool_in_two_files_is_one_pool_everywhere(tmp_path: Path) -> None:
    """Half of the volumes in each, of the same moments: no half is an interval of its own."""
    rows = [
        f"2026-03-02T0{8 + hour}:00,3600,P,V{k},2,{400 - 50 * hour + 30 * k},1.6,{1.2 - 0.3 * hour}\n"
        for k in range(4)
        for hour in range(2)
    ]
    head, files = "start,interval_s,pool,volume,aliases,io_rate,service_ms,queued\n", []
    for name, some in (("whole", rows), ("left", rows[:4]), ("right", rows[4:])):
        files.append(tmp_path / f"{name}.csv")
        files[-1].write_text(head + "".join(some))
    whole, *halves = files
    collect(halves, tmp_path / "archive")
    expected = planner.aliases(whole)
    for source in (halves, halves[::-1], tmp_path / "archive"):
        answer = planner.aliases(source)
        assert (answer.interval, answer.to_dict()["rows"]) == (expected.interval, expected.to_dict()["rows"])
        (need,) = site(source).pools
        assert (need.needed_worst, need.needed_low, need.needed_high) == (
            expected.recommended,
            *expected.range,
        )
        assert need.busiest_hour == "Mon 08"
        for which in ("mean", "2026-03-02T09:30"):
            one = planner.aliases(source, interval=which)
            assert one.recommended == planner.aliases(whole, interval=which).recommended


def test_one_pool_has_a_row_for_each_hour_measured_and_is_not_sent_to_itself() -> None:
    """Of two mornings; what to do next does not name the option that shows one pool, which shows it."""
    rows = [f"2026-03-0{day}T{hour:02}:00,3600,V1,0,40,1.6,0" for day, hour in ((2, 9), (2, 10), (3, 9))]
    answer = site("\n".join(["start,interval_s,volume,aliases,io_rate,service_ms,queued", *rows]).encode())
    shown = answer.sections()[0].table.records()
    (need,) = answer.pools
    assert shown == [
        {"hour": 9, "Mon": need.needed, "Tue": need.needed},
        {"hour": 10, "Mon": need.needed, "Tue": None},
    ]
    assert answer.notes[-1] == "Next: nothing to do."


@pytest.mark.long
def test_the_busiest_hour_of_equals_is_that_of_the_worst_interval() -> None:
    """Two days need as many: the busier interval is the worst, in table, text and hours."""
    rows = [f"2026-03-0{day}T{hour:02}:00,3600,P,V{k},2,{200 + (day == 4)},1.6,.9"
            for day, hour in ((3, 10), (4, 11)) for k in range(4)]  # fmt: skip
    table = "start,interval_s,pool,volume,aliases,io_rate,service_ms,queued\n" + "\n".join(rows)
    (need,) = site(table.encode()).pools
    assert need.series.needed[0] == need.series.needed[1]
    assert need.worst_start == datetime(2026, 3, 4, 11)
    assert need.busiest_hour == f"{need.worst_start:%a %H}"


@pytest.mark.long
def test_the_hour_that_no_count_serves_is_the_busiest() -> None:
    """Its service time alone is longer than the response that is asked for; the other hour needs aliases."""
    hours = ((10, 400, 1.6, 0.9), (11, 300, 2.4, 0.5))
    rows = [f"2026-03-02T{hour}:00,3600,P,V{k},0,{rate},{service},{queued}"
            for hour, rate, service, queued in hours for k in range(4)]  # fmt: skip
    table = "start,interval_s,pool,volume,aliases,io_rate,service_ms,queued\n" + "\n".join(rows)
    (need,) = site(table.encode(), target=Target(response=2.2e-3)).pools
    assert need.needed_worst is None and np.isfinite(need.series.needed).sum() == 1
    assert need.busiest_hour == f"{need.worst_start:%a %H}" == "Mon 11"


@pytest.mark.long
def test_a_volume_with_the_name_of_a_pool_has_its_own_row_and_details(tmp_path: Path) -> None:
    """The page totals what `planner site` totals: names tell its rows and details apart."""
    path = tmp_path / "site.csv"
    path.write_text(
        "system,pool,aliases,volume,io_rate,service_ms,queued\n"
        "A,P1,1,V1,300,1.30,0.100\nA,,0,P1,600,1.30,0.500\n"
    )
    answer = site(path, workers=1)
    assert {(each.name, each.kind) for each in answer.pools} == {("A/P1", "pool"), ("A/volume P1", "volume")}
    part = part_of(answer, "p0")
    needed = {tile.label: tile.value for tile in part.tiles}["aliases needed"]
    assert needed == str(sum(each.needed or 0 for each in answer.pools))
    assert len({row.item for row in part.grids[0].rows}) == len(part.items) == 2
