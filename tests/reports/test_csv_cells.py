"""One opener for every CSV file: what a spreadsheet or an editor does to a file is read, or refused, alike by all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.advice.configurations import read_configurations
from planner.calibrate.costs import DISK_HEADINGS, DISK_NEEDED
from planner.calibrate.data_file import read_measurements, read_observations
from planner.cli import main
from planner.errors import ReportError
from planner.reports import read_table
from planner.reports.csv_table import Allowed, read_csv
from planner.reports.membership import read_membership
from planner.reports.supply import WHAT, read_counters

# A reader, and a file that it reads.
READERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "runs": (
        lambda path: read_observations([path], "volume"),
        "run,aliases,io_rate,service_ms\na,0,755,1.3\nb,2,1619,1.7\n",
    ),
    "devices": (
        lambda path: read_observations([path], "pool"),
        "run,role,population,io_rate,service_ms\na,base,3,755,1.3\na,alias,,80,1.7\n",
    ),
    "costs": (
        lambda path: read_measurements([path], DISK_HEADINGS, DISK_NEEDED),
        "run,cache,hit_ratio,rate,read_kb,channel_mb_per_s\na,on,1,400,400,100\nb,off,,6,400,100\n",
    ),
    "configurations": (read_configurations, "run,processors,cpu_ms\na,1,2\nb,2,2.1\n"),
    "totals": (
        lambda path: read_csv(path, ("volume", "io_rate", "service_ms"), "totals").numbers("service_ms"),
        "volume,io_rate,service_ms\na,755,1.3\nb,700,1.3\n",
    ),
    "members": (read_membership, "device,role,pool\n522A,base,a\n522B,alias,a\n"),
    "counters": (
        lambda path: read_counters(read_csv(path, (), WHAT)).supply,
        "time,pool,IODHPP_HPPTRIES,IODHPP_HPPFAILS,IODHPP_HPPMINCT,IODHPP_HPPMAXCT,aliases\n"
        "0,a,0,0,1,2,3\n60,a,100,3,0,2,3\n",
    ),
    "published": (read_table, "quantity,unit,A\nrate,1/s,755\ntime,ms,1.3\n"),
}
SAME: dict[str, Callable[[str], bytes]] = {
    "byte order mark": lambda text: text.encode("utf-8-sig"),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "CR": lambda text: text.replace("\n", "\r").encode(),
    "no line end": lambda text: text.rstrip("\n").encode(),
    "blank lines": lambda text: ("\n  \n" + text.replace("\n", "\n\n")).encode(),
    "rows of commas": lambda text: (text + "," * text.split("\n")[0].count(",") + "\n").encode(),
    "blanks around cells": lambda text: text.replace(",", " , ").encode(),
    "semicolons": lambda text: text.replace(",", ";").encode(),
    "tabs": lambda text: text.replace(",", "\t").encode(),
    "quotation marks": lambda text: "\n".join(
        ",".join(f'"{cell}"' for cell in line.split(",")) for line in text.split("\n") if line
    ).encode(),
}
REFUSED: dict[str, tuple[Callable[[str], bytes], str, int]] = {
    "nothing": (lambda text: b"", "an empty file: expected", 1),
    "blank lines only": (lambda text: b"\n \n,,\n", "an empty file: expected", 1),
    "header only": (lambda text: text.split("\n")[0].encode(), "no rows below the header: expected", 1),
    "a heading twice": (
        lambda text: "\n".join(f"{line},{line.split(',')[-1]}" for line in text.split("\n") if line).encode(),
        "a second column .*: expected each column once",
        1,
    ),
    "a heading twice in another case": (
        lambda text: "\n".join(
            f"{line},{line.split(',')[-1] if k else line.split(',')[-1].swapcase()}"
            for k, line in enumerate(text.rstrip().split("\n"))
        ).encode(),
        "a second column .*: expected each column once",
        1,
    ),
    "a short row": (lambda text: text.rstrip("\n").rsplit(",", 1)[0].encode(), "cells?: expected", 3),
    "a long row": (lambda text: (text.rstrip("\n") + ",7").encode(), "cells: expected", 3),
    "an open quotation": (
        lambda text: (text + '"x' + text.split("\n")[1]).encode(),
        "a quotation mark that is not closed",
        4,
    ),
    "a cell over two lines": (
        lambda text: text.replace("\n", '\n"x\n"', 1).encode(),
        "a quotation mark that is not closed",
        2,
    ),
    "text after a quotation": (lambda text: text.replace("\n", '\n"x"y', 1).encode(), "no CSV", 2),
    "another encoding": (lambda text: text.encode() + "é".encode("latin-1"), "no text in UTF-8: expected", 4),
    "two bytes a character": (lambda text: text.encode("utf-16"), "no text in UTF-8: expected", 1),
}  # fmt: skip


def written(folder: Path, content: bytes) -> Path:
    path = folder / "table.csv"
    path.write_bytes(content)
    return path


def told(read: Callable[[Path], object], path: Path) -> str:
    """What was read, without the numbers of lines."""
    answer = repr(read(path))
    for number in range(12, 1, -1):
        answer = answer.replace(f"line={number}", "line").replace(f"line {number}", "line")
    return answer


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("change", SAME)
def test_it_reads_the_same(reader: str, change: str, tmp_path: Path) -> None:
    read, text = READERS[reader]
    if reader == "costs":  # they know their places in the file
        rows = read_measurements([written(tmp_path, SAME[change](text))], DISK_HEADINGS, DISK_NEEDED)
        assert [(row.name, row.words, row.value("rate")) for row in rows] == [
            ("a", {"cache": "on"}, 400.0),
            ("b", {"cache": "off"}, 6.0),
        ]
        return
    wanted = told(read, written(tmp_path, text.encode()))
    assert told(read, written(tmp_path, SAME[change](text))) == wanted


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("change", REFUSED)
def test_it_is_refused_with_its_place(reader: str, change: str, tmp_path: Path) -> None:
    read, text = READERS[reader]
    damage, problem, line = REFUSED[change]
    with pytest.raises(ReportError, match=problem) as caught:
        read(written(tmp_path, damage(text)))
    assert caught.value.line == line
    assert caught.value.column is not None


@pytest.mark.parametrize("reader", READERS)
def test_what_cannot_be_opened(reader: str, tmp_path: Path) -> None:
    read, _ = READERS[reader]
    with pytest.raises(ReportError, match="no such file; expected"):
        read(tmp_path / "none.csv")


@pytest.mark.parametrize("reader", ["runs", "devices", "costs", "configurations", "totals"])
@pytest.mark.parametrize(
    "cell", ["fast", "-1", "nan", "inf", "1_000", "1.3ms", "0x10", "١٢", "1e400", "9" * 5000]
)
def test_a_cell_that_is_no_number_is_shown_with_its_unit(reader: str, cell: str, tmp_path: Path) -> None:
    read, text = READERS[reader]
    lines = text.split("\n")
    first = lines[1].rsplit(",", 1)[0] + ","
    name, unit = lines[0].rsplit(",", 1)[1], "MB/s" if reader == "costs" else "ms"
    with pytest.raises(ReportError, match=rf"{name} '{cell[:40]}.*': expected .* \[{unit}\]") as caught:
        read(written(tmp_path, "\n".join([lines[0], first + cell, *lines[2:]]).encode()))
    assert (caught.value.line, caught.value.column) == (2, len(first) + 1)
    assert len(str(caught.value)) < len(str(tmp_path)) + 250


@pytest.mark.long
def test_points_between_semicolons_may_be_thousands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counters = READERS["counters"][1].replace("100,3", "1.000,3").replace(",", ";")
    with pytest.raises(ReportError, match=r"line 3, column 6: IODHPP_HPPTRIES '1\.000': .* may be thousands"):
        READERS["counters"][0](written(tmp_path, counters.encode()))
    path = str(written(tmp_path, READERS["totals"][1].replace(",", ";").encode()))
    assert main(["aliases", "pool", path]) == 0
    assert "pool table: 4 aliases" in capsys.readouterr().out
    assert main(["predict", path]) == 2
    assert "line 1, column 7: expected TOML" in capsys.readouterr().err


def test_what_no_editor_takes_for_a_line_end_is_none(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\n1\f1,2\u2028\n3,4\n".encode())
    assert read_csv(path, (), "two columns").line_numbers.tolist() == [2, 3]


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=8), min_size=2, max_size=5
    )
)
def test_the_place_of_a_cell_is_where_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, cells: list[str]
) -> None:
    """Cells as a spreadsheet writes them: quoted where they hold commas or quotation marks."""
    cells = [cell.strip() or "x" for cell in cells]
    written_as = ['"' + cell.replace('"', '""') + '"' if set(cell) & set(',"') else cell for cell in cells]
    content = f"{','.join(f'h{k}' for k in range(len(cells)))}\n{','.join(written_as)}\n"
    found = read_csv(written(tmp_path_factory.mktemp("cells"), content.encode()), (), "cells")
    assert found.cells.rows() == [tuple(cells)]
    for index in range(len(cells)):
        assert found.column_at(2, index) == sum(len(each) + 1 for each in written_as[:index]) + 1


@pytest.mark.parametrize(("line", "columns"), [("a,  b, c", [1, 5, 8]), (" a,b", [2, 4]), ("a,   ", [1, 6])])
def test_the_place_of_a_cell_is_past_its_blanks(tmp_path: Path, line: str, columns: list[int]) -> None:
    heading = ",".join("hij"[: len(columns)])
    found = read_csv(written(tmp_path, f"{heading}\n{line}\n".encode()), (), "cells")
    assert [found.column_at(2, index) for index in range(len(columns))] == columns


@pytest.mark.parametrize(
    ("allowed", "taken", "refused"),
    [
        (Allowed(whole=True, most=255), ["0", "255", "2.55e2"], ["-1", "256", "255.5", "1.5", "inf", "nan"]),
        (Allowed(zero=False, most=1.0), ["1", "1e-300"], ["0", "-0.0", "1.0000001", "1e-400"]),
        (Allowed(), ["0", "0e9", "1e308"], ["-1e-300", "1e309", "1e-400", "1_0", "\u0661", ""]),
    ],
)
def test_a_column_takes_numbers_up_to_its_ends(
    allowed: Allowed, taken: list[str], refused: list[str]
) -> None:
    """Both ends belong to it; what a float turns into zero or infinity does not."""
    assert [allowed.read(cell) for cell in taken] == [float(cell) for cell in taken]
    for cell in refused:
        with pytest.raises(ValueError):
            allowed.read(cell)


@pytest.mark.long
@pytest.mark.parametrize("quote", ["", '"'])
def test_a_table_has_a_largest_width(quote: str, tmp_path: Path) -> None:
    """What is done with columns takes the square of their number: 171 s for 120,000."""
    path = tmp_path / "wide.csv"
    for many, refused in ((4096, False), (4097, True)):
        path.write_text(
            ",".join(f"{quote}c{k}{quote}" for k in range(many)) + "\n" + ",".join("1" * many) + "\n"
        )
        if refused:
            with pytest.raises(ReportError, match="line 1: 4097 columns: expected at most 4096"):
                read_csv(path, (), "a table")
        else:
            assert len(read_csv(path, (), "a table").header) == many
