"""``planner read`` prints listings of either report, in every form, and says what it wants where there is none."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from planner.cli import main
from planner.library import data_path
from tests.checkout import ROOT

DEVICE = data_path("hyperpav", "522A-0-aliases.listing")
SPACES = data_path("real-storage", "128-users.listing")


def both(folder: Path) -> Path:
    path = folder / "both.listing"
    path.write_text(DEVICE.read_text(encoding="utf-8") + "\n" + SPACES.read_text(encoding="utf-8"))
    return path


def test_csv_of_a_dspacesh_listing_has_its_sixteen_data_spaces(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(SPACES), "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["name"] for row in rows] == [f"PTRM{k:04X}" for k in (*range(10, 16), *range(10))]
    # As printed: 1049k pages each, the last one 505k, the fifth one 1025k.
    printed = {row["name"]: (row["total_pages"], row["resident_pages"]) for row in rows}
    assert printed["PTRM000F"] == ("1049000.0", "505000.0")
    assert printed["PTRM0004"] == ("1049000.0", "1025000.0")
    assert {row["resident_resolution_pages"] for row in rows} == {"500.0"}


def test_json_names_what_its_rows_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(both(tmp_path)), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["device"] for row in found["rows"]] == ["522A"]
    assert len(found["data_spaces"]) == 16
    assert found["rows"][0]["io_rate"] == 755.0


@pytest.mark.long
def test_a_csv_is_read_again_or_the_answer_says_what_reads_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counters = ROOT / "docs" / "examples" / "supply-counters.csv"
    for source, command in ((DEVICE, ""), (SPACES, "storage usage"), (counters, "aliases supply")):
        assert main(["read", str(source)]) == 0
        assert (f"`planner {command}`" in capsys.readouterr().out) == bool(command)
        written = tmp_path / f"{source.stem}.csv"
        assert main(["read", str(source), "--csv", "-o", str(written)]) == 0
        assert main(["read", str(written)]) == (2 if command else 0)
        capsys.readouterr()


def test_text_shows_both_within_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(both(tmp_path))]) == 0
    shown = capsys.readouterr().out
    assert "Y040180P, 2007-05-27" in shown
    assert "GDLS, 2007-05-21" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_one_csv_holds_rows_of_one_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(both(tmp_path)), "--csv"]) == 2
    assert "a file with listings of one report, or --json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "nothing of that kind\n",
            "of no known format; expected measurements: DEVICE (FCX108) or DSPACESH",
        ),
        (
            "FCX109  Run 2007/05/27 15:10:30   DEVICE CPOWNED\n",
            "holds FCX109 only; expected a DEVICE listing",
        ),
        (  # without its head
            "".join(f"{line}\n" for line in DEVICE.read_text(encoding="utf-8").splitlines()[4:]),
            "a DEVICE table without its page head",
        ),
    ],
    ids=["text", "another report", "no head"],
)
def test_a_file_without_a_listing_says_which_there_may_be(
    text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.listing"
    path.write_text(text)
    assert main(["read", str(path)]) == 2
    assert told in capsys.readouterr().err


def test_a_damaged_listing_is_told_by_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "damaged.listing"
    path.write_text(SPACES.read_text(encoding="utf-8").replace("505k", "5x5k"))
    assert main(["read", str(path)]) == 2
    assert f"{path}, line " in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", ["--map io_rate=IOPS", "--pools members.csv", "--volume-totals --map io_rate=IOPS"]
)
def test_an_option_that_would_change_nothing_is_refused(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = str(tmp_path / "archive")
    assert main(["collect", str(DEVICE), "-o", archive]) == 0
    source = str(DEVICE) if words.startswith("--volume-totals") else archive
    assert main(["read", source, *words.split()]) == 2
    assert "--map" in (told := capsys.readouterr().err) or "--pools" in told


def test_bytes_that_are_no_text_are_not_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "random.csv"
    path.write_bytes(bytes(range(256)) * 4)
    assert main(["read", str(path)]) == 2
    said = capsys.readouterr().err
    assert "no text" in said
    assert "columns" not in said.partition("iostat")[0]
    assert said.isascii()
