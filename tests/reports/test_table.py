"""Published tables read as printed; what is no table is refused with the place."""

from pathlib import Path

import pytest

from planner.errors import InputError, ReportError
from planner.reports import read_table

GOOD = 'quantity,unit,A,B\nrate,1/s,1.50,na\n"time, in all",us,2,3\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_cells_keep_their_digits(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, GOOD))
    assert table.columns == ("quantity", "unit", "A", "B")
    assert table.text("rate", "A") == "1.50"
    assert table.printed("rate", "A").resolution == 0.005
    assert table.value("time, in all", "B", 1e-6) == 3e-6


def test_the_mark_that_ends_a_file_is_no_row(tmp_path: Path) -> None:
    """Some transfers from a mainframe write it (CP/M's end of file), as after a listing."""
    path = write(tmp_path, GOOD.replace("\n", "\r\n") + "\x1a")
    assert read_table(path).text("time, in all", "B") == "3"


@pytest.mark.parametrize(("row", "column"), [("speed", "A"), ("rate", "C")])
def test_an_unknown_cell_is_named(tmp_path: Path, row: str, column: str) -> None:
    with pytest.raises(InputError, match="expected one of"):
        read_table(write(tmp_path, GOOD)).text(row, column)


def test_a_word_is_no_number(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="expected a number in row rate, column B, found 'na'"):
        read_table(write(tmp_path, GOOD)).value("rate", "B")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1, column 1: an empty file: expected a published table"),
        ("a,b\n1\n", "line 2, column 2: 1 cell: expected 2"),
        ("a,b\n1,2\n1,3\n", "line 3, column 1: '1': expected a new name in the first cell"),
        ("a,b\n,3\n", "line 2, column 1: '': expected a new name in the first cell"),
        ('a,b\n"1,2\n', "line 2, column 1: a quotation mark that is not closed"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ReportError, match=problem):
        read_table(write(tmp_path, text))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="no such file"):
        read_table(tmp_path / "none.csv")
