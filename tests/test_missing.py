"""What could not be read stands in the first line and in the exit code of every alias answer."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from planner.cli import main
from planner.errors import InputError
from planner.library import data_path
from planner.measurements import read
from planner.measurements.collect import collect
from planner.site.question import site
from planner.sizing.question import aliases

POOL = data_path("hyperpav", "pool-8-aliases.listing")
CLASSIC = data_path("hyperpav", "522A-2-aliases.listing")
BASES = [f"522{digit}" for digit in "ABCDEF"] + ["5230", "5231"]
NUMBERS = [f"52{number}" for number in ("49", "4A", "4B", "4C", "4D", "4E", "4F", "50")]


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["aliases", *words])
    out, err = capsys.readouterr()
    return code, " ".join(out.split()), err


def damaged(tmp_path: Path, device: str, way: str) -> Path:
    lines = POOL.read_text(encoding="utf-8").splitlines(keepends=True)
    at = next(k for k, line in enumerate(lines) if line.startswith(f" {device} "))
    if way == "gone":
        del lines[at]
    elif way == "number":
        lines[at] = lines[at].replace(device, "52x2", 1)
    else:
        lines[at] = lines[at].replace(" .", " x", 1)
    path = tmp_path / "damaged.listing"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def members(tmp_path: Path) -> Path:
    path = tmp_path / "members.csv"
    rows = [f"{device},base,A" for device in BASES] + [f"{device},alias,A" for device in NUMBERS]
    path.write_text("\n".join(["device,role,pool", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.long
@pytest.mark.parametrize("device", [BASES[0], BASES[3], BASES[-1]])
@pytest.mark.parametrize("way", ["gone", "number", "cell"])
def test_a_damaged_or_missing_row_of_a_member(
    device: str, way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, pools = damaged(tmp_path, device, way), members(tmp_path)
    code, out, _ = asked(capsys, "pool", str(path), "--pools", str(pools), "--json")
    found = json.loads(out)
    assert code == 2 and found["volumes_missing"] == 1
    assert found["headline"].startswith("1 of 8 volumes could not be read: by the other rows ")
    assert any(f"Without a readable row: {device}; --allow-missing" in note for note in found["notes"])
    if device == BASES[3]:
        code, out, _ = asked(capsys, "pool", str(path), "--pools", str(pools), "--allow-missing")
        assert code == 0 and out.startswith("1 of 8 volumes could not be read: by the other rows ")
        if way != "gone":  # a listing alone does not say which devices there should be
            code, out, _ = asked(capsys, "pool", str(path))
            assert code == 2 and out.startswith("1 of 8 volumes could not be read: by the other rows ")
            name = "a row without a name (1)" if way == "number" else device
            assert f"Without a readable row: {name}; --allow-missing if that is known." in out


@pytest.mark.long
def test_a_damaged_alias_is_counted_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = asked(
        capsys, "pool", str(damaged(tmp_path, "524B", "cell")), "--pools", str(members(tmp_path))
    )
    assert code == 2 and out.startswith("1 alias could not be read: by the other rows ")


@pytest.mark.long
def test_a_whole_listing_says_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = asked(capsys, "pool", str(POOL), "--pools", str(members(tmp_path)), "--json")
    assert code == 0 and json.loads(out)["volumes_missing"] == 0 and "could not be read" not in out


def table(tmp_path: Path, *rows: str, heading: str = "") -> Path:
    path = tmp_path / "volumes.csv"
    head = f"{heading}volume,pool,aliases,io_rate,service_ms,queued"
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


ROWS = ("A,1,2,700,1.3,1.8", "B,1,2,n/a,1.3,0", "C,1,2,650,1.3,1.2", "D,2,1,500,1.2,.4", "E,2,1,400,,.3")


@pytest.mark.long
def test_empty_cells_of_a_table_are_told_pool_by_pool(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = table(tmp_path, *ROWS)
    code, out, _ = asked(capsys, "pool", str(path))
    assert code == 2
    assert out.startswith(
        "Pool 1: 1 of 3 volumes could not be read; pool 2: 1 of 2 volumes could not be read: by the other rows"
    )
    code, out, _ = asked(capsys, "pool", str(path), "--json")
    found = json.loads(out)
    assert found["volumes_missing"] == 2 and [pool["volumes_missing"] for pool in found["pools"]] == [1, 1]
    code, out, _ = asked(capsys, "pool", str(path), "--pool", "1", "--allow-missing")
    assert code == 0 and out.startswith("1 of 3 volumes could not be read: by the other rows ")


@pytest.mark.long
@pytest.mark.parametrize("whole", [1, 2])
def test_a_pool_of_which_no_row_can_be_read_is_missing_as_one_of_which_some_cannot(
    whole: int, tmp_path: Path
) -> None:
    """It was left out, with exit code 0; `whole` pools are beside it."""
    rows = ["A,1,2,700,1.3,.4", "B,2,1,n/a,1.3,0", "C,2,1,650,,1.2", "D,3,1,50,1.2,.0"][: 2 + whole]
    path = table(
        tmp_path, *(f"2026-03-02T10:00,3600,S,{row}" for row in rows), heading="start,interval_s,system,"
    )
    collect([path], tmp_path / "archive")
    answer = aliases(path)
    assert answer.exit_code == 2
    assert answer.headline.startswith(
        "Pool 2: 2 of 2 volumes could not be read: by the other rows what follows."
    )
    assert "Pool 2: Without a readable row: B, C; --allow-missing if that is known." in answer.notes
    assert aliases(path, pool="1").exit_code == aliases(path, allow_missing=True).exit_code == 0
    for each in (path, tmp_path / "archive"):
        found = site(each, workers=1)
        assert found.exit_code == 2
        assert found.headline.startswith("Pool S/2: 2 of 2 volumes could not be read: ")
        assert not site(each, pool="1", workers=1).gaps


@pytest.mark.parametrize("command", [["aliases", "pool"], ["site"]])
def test_a_pool_of_which_no_row_can_be_read_is_named_where_it_is_asked_for(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "site.csv"
    table.write_text("volume,pool,aliases,io_rate,service_ms,queued\nV1,A,1,755,1.3,1.8\nV2,B,1,200,,0.1\n")
    for pool, said in (
        ("B", "'B': expected one of A: no row of B could be read"),
        ("C", "'C': expected one of A"),
    ):
        assert main([*command, str(table), "--pool", pool]) == 2
        told = " ".join(capsys.readouterr().err.split())
        assert said in told and ("no row" in told) == (pool == "B")


def test_volumes_with_aliases_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "own.csv"
    path.write_text(
        "volume,io_rate,service_ms,queued\nA,700,1.3,1.8\nB,,1.3,0\nC,650,1.3,1.2\n", encoding="utf-8"
    )
    code, out, _ = asked(capsys, "volume", str(path))
    assert code == 2 and out.startswith("1 of 3 volumes could not be read. 2 volumes: ")
    code, out, _ = asked(capsys, "volume", str(path), "--device", "A")
    assert code == 0 and "could not be read" not in out.partition(".")[0]
    code, _, err = asked(capsys, "volume", str(path), "--device", "B")
    assert code == 2 and "1 row could not be read" in err


@pytest.mark.long
def test_idle_volumes_count_among_those_that_were_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "idle.csv"
    rows = ["A,700,1.3,1.8", "B,300,,0.5", "C,0,,", "D,0,,"]
    lines = ["volume,io_rate,service_ms,queued,start", *(f"{row},2026-03-01T10:00" for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for command in ("volume", "pool"):
        assert asked(capsys, command, str(path))[1].startswith("1 of 4 volumes could not be read")
    assert main(["site", str(path)]) == 2
    assert capsys.readouterr().out.startswith("1 of 4 volumes could not be read")


def test_an_alias_of_one_base_makes_that_base_incomplete(tmp_path: Path) -> None:
    path = tmp_path / "classic.listing"
    text = CLASSIC.read_text(encoding="utf-8").splitlines(keepends=True)
    at = next(k for k, line in enumerate(text) if "->522A" in line)
    text[at] = text[at].replace(" .", " x", 1)
    path.write_text("".join(text), encoding="utf-8")
    answer = aliases(path, kind="volume", device="522A")
    assert answer.exit_code == 2 and answer.headline.startswith("1 of 1 volume could not be read")


def test_errors_are_a_wrapped_paragraph_on_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS")
    path = tmp_path / "a.csv"
    path.write_text("Volser,Speed,Svc\nA,1,2\n", encoding="utf-8")
    assert main(["aliases", "pool", str(path)]) == 2
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert (
        out == "" and len(lines) > 1 and all(len(line) <= 80 or " " not in line.strip() for line in lines[1:])
    )
    assert "not taken: Speed" in " ".join(err.split())


def test_members_of_other_devices_are_refused_by_the_name_of_their_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pools = tmp_path / "others.csv"
    pools.write_text("device,role,pool\n1234,base,A\n", encoding="utf-8")
    code, _, err = asked(capsys, "pool", str(POOL), "--pools", str(pools))
    assert code == 2 and f"--pools = '{pools}'" in err and "PosixPath" not in err


def test_a_refused_collect_leaves_no_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad, archive = tmp_path / "bad.csv", tmp_path / "archive"
    bad.write_text("x\n", encoding="utf-8")
    assert main(["collect", str(bad), "-o", str(archive)]) == 2 and not archive.exists()
    archive.mkdir()
    assert main(["collect", str(bad), "-o", str(archive)]) == 2 and list(archive.iterdir()) == []
    assert main(["collect", str(POOL), "-o", str(archive), "--system", "A"]) == 0
    before = sorted(each.name for each in archive.rglob("*"))
    assert main(["collect", str(bad), "-o", str(archive)]) == 2
    assert sorted(each.name for each in archive.rglob("*")) == before


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("way", ["number", "cell", "classic"])
def test_an_archive_remembers_rows_that_could_not_be_read(way: str, tmp_path: Path) -> None:
    """The same as of the files, of an archive of an archive too; until the rows are read from a sound copy."""
    path = tmp_path / "classic.listing" if way == "classic" else damaged(tmp_path, BASES[2], way)
    if way == "classic":
        path.write_text(
            CLASSIC.read_text(encoding="utf-8").replace("->522A", "->522A x", 1), encoding="utf-8"
        )
    first, second = tmp_path / "first", tmp_path / "second"
    pools = None if way == "classic" else members(tmp_path)
    collect([path], first, system="VM1", members=pools)
    collect([path, first], second, system="VM1", members=pools)
    missing = read(path, pools, system="VM1").missing
    assert len(missing) == 1
    assert read(first).missing == read(second).missing == missing
    assert read(first, start="2000-01-01").missing == missing
    with pytest.raises(InputError, match="a period in which something was measured"):
        read(first, end="2000-01-01")
    collect([CLASSIC if way == "classic" else POOL], first, system="VM1", members=pools)
    assert bool(read(first).missing) is (way != "cell")  # nobody knows which row was to have another number


@pytest.mark.long
@pytest.mark.parametrize("command", ["aliases pool", "site", "growth"])
def test_answers_of_an_archive_begin_as_those_of_its_files(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = table(tmp_path, *(f"2026-03-01T10:00,60,{row}" for row in ROWS), heading="start,interval_s,")
    archive, said = tmp_path / "archive", []
    collect([path], archive, system="VM1")
    for source in ([str(path), "--system", "VM1"], [str(archive)]):
        code = main([*command.split(), *source])
        said.append(
            (code, re.split(": (?:by the other rows|limits)", " ".join(capsys.readouterr().out.split()))[0])
        )
    assert said[0] == said[1]
    assert said[0][0] == 2 and said[0][1].endswith("1 of 2 volumes could not be read")
    if command == "site":
        assert main(["site", str(archive), "--allow-missing"]) != 2
        assert "volumes could not be read" in " ".join(capsys.readouterr().out.split())
