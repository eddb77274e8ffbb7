"""``planner aliases pool`` for tables of volumes and many pools: forms of output, selection, and every bad input."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import polars as pl
import pytest

import planner
from planner.cli import main
from planner.errors import InputError
from planner.library import data_path
from planner.measurements.collect import collect
from planner.sizing import AliasAnswer
from tests.checkout import ROOT

POOL = str(data_path("hyperpav", "pool-0-aliases.listing"))
POOL_8 = str(data_path("hyperpav", "pool-8-aliases.listing"))
TWO = ("pool,volume,io_rate,service_ms", "A,1,400,1.3", "A,2,90,1.3", "B,1,300,1.3", "C,1,0,")


@pytest.fixture
def two(tmp_path: Path) -> str:
    path = tmp_path / "two.csv"
    path.write_text("\n".join(TWO) + "\n", encoding="utf-8")
    return str(path)


def test_each_pool_has_a_row_and_one_alone_is_answered_in_full(
    two: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["aliases", "pool", two, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [pool["pool"] for pool in answer["pools"]] == ["A", "B", "C"]
    assert answer["all"]["recommended"] == sum(pool["recommended"] for pool in answer["pools"])
    assert {"recommended_low", "recommended_high", "classic_aliases", "saved", "io_rate", "io_rate_after",
            "response_ms", "response_after_ms", "queued", "queued_after", "grouping_error", "problem",
            "notes"} <= set(answer["pools"][0])  # fmt: skip
    assert answer["pools"][2]["recommended"] == 0
    assert answer["pools"][2]["notes"] == ["no I/O"]
    assert main(["aliases", "pool", two, "--pool", "A", "--json"]) == 0
    alone = json.loads(capsys.readouterr().out)
    assert alone["recommended"] == answer["pools"][0]["recommended"]
    assert alone["rows"][0]["io_rate"] == pytest.approx(490)


@pytest.mark.long
def test_csv_has_one_row_a_pool_and_no_sums(two: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", "pool", two, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["pool"] for row in rows] == ["A", "B", "C"]


BESIDE = (
    "device,pool,aliases,io_rate,service_ms,queued", "0100,P0,1,300,1.5,0.30", "0101,P0,1,200,1.1,0.20",
    "0102,P1,2,250,1.2,9.99", "0103,,0,300,1.5,0.30", "0104,,0,200,1.5,0.10",
)  # fmt: skip


@pytest.mark.long
def test_volumes_beside_pools_have_their_own_question_and_a_pool_that_is_named_has_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "beside.csv"
    path.write_text("\n".join(BESIDE) + "\n", encoding="utf-8")
    assert main(["aliases", "pool", str(path), "--pool", "P0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["recommended"]
    assert main(["aliases", "volume", str(path), "--json"]) == 0
    volumes = json.loads(capsys.readouterr().out)
    assert [volume["device"] for volume in volumes["volumes"]] == ["0103", "0104"]
    note = "In pools, hence left out: 3 volumes (0100, 0101, 0102); ask `planner aliases pool`."
    assert note in volumes["notes"]
    assert main(["aliases", "pool", str(path)]) == 2
    assert "0103 is in no pool: expected its pool; ask for one pool by its name" in capsys.readouterr().err


def said(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str]:
    """Exit code, and what was printed, on one line."""
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, " ".join((out + err).split())


@pytest.mark.long
def test_bases_of_a_listing_in_a_named_pool_are_no_volumes_without_aliases(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pools, archive = tmp_path / "pools.csv", tmp_path / "archive"
    members = [f"522{digit},base,A" for digit in "ABCDEF"] + ["5230,base,A", "5249,alias,A", "524A,alias,A"]
    pools.write_text("\n".join(["device,role,pool", *members]) + "\n", encoding="utf-8")
    listing = Path(POOL)
    collect([listing], archive, system="S1", members=pools)
    code, out = said(capsys, "aliases", "volume", archive, "--device", "522A")
    assert code == 2 and out.endswith("expected volumes in no pool; for pool A ask `planner aliases pool`")
    code, out = said(capsys, "aliases", "volume", archive)  # 5231 is in no pool
    assert code == 0 and out.startswith("5231: ")
    assert "In pools, hence left out: 7 volumes (522A, 522B, 522C, ...); ask `planner aliases pool`." in out
    code, out = said(capsys, "aliases", "pool", archive)
    assert code == 0 and out.startswith("pool A: ") and ", 2 in use: " in out


@pytest.mark.long
def test_classic_aliases_beside_those_of_a_pool_without_a_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "both.listing"
    text = Path(POOL_8).read_text(encoding="utf-8")
    for alias in ("5249", "524A"):
        text = text.replace(f" {alias} 3390-3 ", f" {alias} ->522A ")
    path.write_text(text, encoding="utf-8")
    for device in ((), ("--device", "522A")):
        code, own = said(capsys, "aliases", "volume", path, *device)
        assert code == 0 and own.startswith("522A: 3 aliases (3 to 5), 2 in use: ")
    code, out = said(capsys, "aliases", "volume", path, "--device", "522B")
    assert code == 2 and out.endswith("ask `planner aliases pool`")
    code, out = said(capsys, "aliases", "pool", path)
    assert code == 0 and out.startswith("pool 522B-5231: 12 aliases (11 to 13), 6 in use: ")
    assert "With classic PAV aliases, not taken: 1 base (522A); ask `planner aliases volume`." in out
    code, out = said(capsys, "site", path)
    assert "all devices 7 6 12 12 12 11-13" in out and "522A 1 2 3 3 3 3-5" in out
    code, out = said(capsys, "aliases", "pool", path, "--bases", "522A-522C")
    assert code == 2 and out.endswith("(5249, 524A); ask `planner aliases volume`")


@pytest.mark.long
def test_a_pool_is_answered_whatever_is_wrong_with_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        "device,pool,aliases,io_rate,service_ms,queued,response_ms",
        "0100,P0,1,300,1.5,0.30,", "0101,P0,1,200,1.1,0.20,",
        "0102,P1,2,250,1.2,0.10,0.5", "0103,P2,0,100,9.0,1,", "0104,P2,3,100,2.0,0.5,",  # contradictions
    ]  # fmt: skip
    path, alone = tmp_path / "beside.csv", tmp_path / "alone.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    alone.write_text("\n".join(rows[:3]) + "\n", encoding="utf-8")
    found = []
    for file in (path, alone):
        assert main(["aliases", "pool", str(file), "--pool", "P0", "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]


@pytest.mark.long
def test_text_fits_eighty_columns(two: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "pools.png"
    assert main(["aliases", "pool", two, "--plot", str(picture)]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith("3 pools, 4 volumes: ")
    assert picture.stat().st_size > 5000


@pytest.mark.long
def test_a_table_without_pools_is_one_pool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The published listing as a table gives what the listing gives."""
    path = tmp_path / "listing.csv"
    rows = ("711,3.9", "745,3.8", "744,3.8", "745,3.8", "769,3.8", "740,3.8", "716,3.9", "719,3.9")
    lines = [f"{k},{row},1.3,1.8" for k, row in enumerate(rows)]
    path.write_text(
        "\n".join(["volume,io_rate,response_ms,service_ms,queued", *lines]) + "\n", encoding="utf-8"
    )
    assert main(["aliases", "pool", str(path), "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert main(["aliases", "pool", POOL, "--json"]) == 0
    listing = json.loads(capsys.readouterr().out)
    assert abs(table["recommended"] - listing["recommended"]) <= 1
    assert table["rule_of_thumb"] == listing["rule_of_thumb"] == 15
    assert table["demand"]["population"] == listing["demand"]["population"] == 3


@pytest.mark.long
def test_members_tell_the_pools_of_a_listing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    members = tmp_path / "members.csv"
    members.write_text(
        "device,role,pool\n522A-522D,base,1\n522E-5230,base,2\n6000-6003,base,3\n", encoding="utf-8"
    )
    assert main(["aliases", "pool", POOL, "--pools", str(members), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [(pool["pool"], pool["volumes"]) for pool in answer["pools"]] == [("1", 4), ("2", 3)]
    assert any("1 device of" in note and "5231" in note for note in answer["notes"])


@pytest.mark.long
def test_two_listings_of_one_pool_are_one_pool(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", "pool", POOL, POOL_8, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["in_use"] == 0  # the run without aliases was measured last
    assert answer["demand"]["population"] == 3


@pytest.mark.long
@pytest.mark.parametrize("column", ["kind", "label"])  # devices of a listing, volumes of a table
def test_a_pool_is_one_pool_where_an_idle_volume_has_no_row(column: str, tmp_path: Path) -> None:
    """In one source and in two; once they were two pools, whose aliases were summed."""
    head = f"start,interval_s,{column},device,io_rate,service_ms,queued"
    times = (("10:00", "0200", "0201", "0202"), ("10:15", "0200", "0201"))
    rows = [f"2026-03-02T{at},900,base,{name},500,1.3,.84" for at, *names in times for name in names]
    paths = [tmp_path / f"{name}.csv" for name in ("both", "first", "then")]
    for path, some in zip(paths, (rows, rows[:3], rows[3:]), strict=True):
        path.write_text("\n".join([head, *some]) + "\n", encoding="utf-8")
    one, two = (planner.aliases(source, kind="pool") for source in (paths[0], paths[1:]))
    assert isinstance(one, AliasAnswer) and isinstance(two, AliasAnswer)
    assert (one.recommended, one.range) == (two.recommended, two.range)


def written(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "volumes.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


BAD = {
    "a row without pool": (("pool,volume,io_rate,service_ms", "A,1,1,1", ",2,1,1"), (), "line 3"),
    "more addresses than there are": (
        ("pool,volume,io_rate,service_ms,aliases", *(f"A,{k},1,1,200" for k in range(60))), (), "line 58",
    ),
    "no such pool": (("pool,volume,io_rate,service_ms", "A,1,1,1"), ("--pool", "B"), "one of A"),
    "members of a table": (
        ("volume,io_rate,service_ms", "1,1,1"), ("--pools", str(ROOT / "docs/examples/pools.csv")),
        "among its members; it names 522A",
    ),
    "bases that are no devices": (("volume,io_rate,service_ms", "1,1,1"), ("--bases", "1-2"), "of the bases in"),
    "two numbers of aliases": (("pool,volume,io_rate,service_ms,aliases", "A,1,1,1,1", "A,2,1,1,2"), (), "line 3"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_message_and_exit_code_two(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, options, expected = BAD[case]
    assert main(["aliases", "pool", written(tmp_path, *lines), *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert expected in captured.err
    assert len(captured.err.strip().splitlines()) == 1


@pytest.mark.long
def test_a_pool_that_cannot_be_served_is_shown_and_the_command_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, "pool,volume,io_rate,service_ms", "A,1,90000,1", "B,1,10,1")
    assert main(["aliases", "pool", path]) == 1
    text = capsys.readouterr().out
    assert "Pool A: no count up to 255 aliases" in text
    assert "leave out 1 pool" in text


@pytest.mark.long
def test_a_pool_without_load_is_answered_alone_as_among_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = ("pool,volume,aliases,io_rate,service_ms", "A,1,3,0,1", "A,2,3,0,1")
    found = {}
    for name, lines, options in (
        ("alone", head, ()), ("asked for", (*head, "B,3,2,10,1"), ("--pool", "A")), ("among", (*head, "B,3,2,10,1"), ())
    ):  # fmt: skip
        assert main(["aliases", "pool", written(tmp_path, *lines), *options, "--json"]) == 0
        found[name] = json.loads(capsys.readouterr().out)["pools"][0]
    assert found["alone"] == found["asked for"] == found["among"]
    assert (found["alone"]["in_use"], found["alone"]["recommended"]) == (3, 0)
    rows = Path(POOL).read_text(encoding="utf-8").splitlines()
    quiet = [
        f"{row[:33]}   .0{re.sub('[0-9]', '0', row[38:])}" if row[5:10] == " 3390" else row for row in rows
    ]
    path = tmp_path / "idle.listing"
    path.write_text("\n".join(quiet) + "\n", encoding="utf-8")
    assert main(["aliases", "pool", str(path)]) == 0
    assert "0 aliases (range 0)" in capsys.readouterr().out


def test_short_help_is_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", "--help"]) == 0
    commands = capsys.readouterr().out.partition("Commands:")[2]
    assert "..." not in commands
    assert all(line.endswith(".") for line in commands.strip().splitlines())


@pytest.mark.long
def test_a_service_time_that_prints_as_nothing_is_some_part_of_its_digit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A tenth of an I/O a second at .0 ms: the pool needs what it needs without it; a time of 0 itself is refused."""
    lines = Path(POOL).read_text(encoding="utf-8").splitlines(keepends=True)
    at = next(k for k, line in enumerate(lines) if line.startswith(" 5231 "))
    counts = []
    for rate in (".1", ".0"):
        cells = re.sub(r"(?<= )\d*\.\d+", lambda cell: ".0".rjust(len(cell[0])), lines[at])
        head = cells.index(".0")
        path = tmp_path / f"quiet{rate}.listing"
        text = [*lines[:at], f"{cells[:head]}{rate}{cells[head + 2 :]}", *lines[at + 1 :]]
        path.write_text("".join(text), encoding="utf-8")
        assert main(["aliases", "pool", str(path), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        counts.append((found["recommended"], found["recommended_low"], found["recommended_high"]))
    assert counts[0] == counts[1]
    frame = pl.DataFrame({"device": ["1", "2"], "pool": "P", "io_rate": [700.0, 50.0], "service_ms": [1.3, 0.0],
                          "service_resolution_ms": 0.0, "queued": [1.8, 0.0]})  # fmt: skip
    with pytest.raises(InputError, match=r"service of device 0002 = 0.0 ms: expected a time above zero"):
        planner.aliases(frame)
