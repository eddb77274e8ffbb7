"""Lines, pages and page heads of Performance Toolkit listings."""

from datetime import datetime, time
from pathlib import Path

import pytest

from planner.errors import ReportError
from planner.reports.lines import Line, read_text
from planner.reports.listing import PageHead, read_head
from planner.reports.listing_scan import scan
from tests.reports.printing import HEAD, SCREEN, page, row, split_lines


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.listing"


def head_of(file: Path) -> PageHead:
    return read_head(file, tuple(Line(*each) for each in split_lines(read_text(file))))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_text_is_decoded(file: Path, encoding: str) -> None:
    file.write_bytes("Größe\n".encode(encoding))
    assert read_text(file) == "Größe\n"


def test_an_end_of_file_character_is_no_text(file: Path) -> None:
    file.write_bytes(b"text\r\n\x1a")
    assert read_text(file) == "text\n"


@pytest.mark.parametrize("data", [b"", b" \r\n\f\n", b"\x1a"])
def test_an_empty_file_is_refused(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    with pytest.raises(ReportError, match="empty"):
        read_text(file)


def test_a_missing_file_and_a_folder_are_refused(file: Path) -> None:
    with pytest.raises(ReportError, match="no such file"):
        read_text(file)
    with pytest.raises(ReportError, match="folder"):
        read_text(file.parent)
    with pytest.raises(ReportError, match="cannot be opened"):
        read_text(Path("a\0b"))


def test_a_binary_file_is_refused_with_its_line(file: Path) -> None:
    file.write_bytes(b"text\r\n\x00\xff")
    with pytest.raises(ReportError, match="0x00") as raised:
        read_text(file)
    assert raised.value.line == 2


def test_lines_count_as_in_an_editor() -> None:
    text = "a\nb\r\nc\r\r\nd\re\u2028e\fF\n\fg\n\f"
    assert split_lines(text) == [
        (1, "a", 0), (2, "b", 0), (3, "c", 0), (4, "d", 0), (5, "e\u2028e", 0), (5, "F", 4), (6, "g", 1),
    ]  # fmt: skip


def test_pages_are_cut_at_heads_and_keep_their_lines(file: Path) -> None:
    other = SCREEN.replace("108", "110")
    text = f"before\nFCX108 in a sentence\n{other}\na\n" + page(row())
    scanned = scan(file, text.encode())
    assert scanned.reports == ["FCX110", "FCX108"]
    assert [each.first.number for each in scanned.listings] == [text[: text.rindex("FCX108")].count("\n") + 1]


def test_the_head_of_a_printed_listing(file: Path) -> None:
    file.write_text(HEAD, "utf-8")
    head = head_of(file)
    assert head.produced == datetime(2007, 6, 5, 14, 0, 12)
    assert head.start == datetime(2007, 5, 27, 15, 0, 14)
    assert head.end == datetime(2007, 5, 27, 15, 10, 14)
    assert head.interval == 600
    assert head.run == "Y040180P"


def test_a_run_may_be_named_by_its_system_or_not_at_all(file: Path) -> None:
    for text, name in [("This is a performance report for VMSYS1", "VMSYS1"), ("", "")]:
        file.write_text(HEAD.replace("Result of Y040180P Run", text), "utf-8")
        assert head_of(file).run == name


def test_the_head_of_a_screen_has_no_date_and_may_pass_midnight(file: Path) -> None:
    file.write_text(SCREEN, "utf-8")
    head = head_of(file)
    assert (head.start, head.end, head.interval) == (time(23, 58), time(0, 1, 30), 210)


def test_carriage_control_becomes_a_blank(file: Path) -> None:
    text = "\n".join("1 0-+"[index % 5] + line for index, line in enumerate(page(row()).splitlines()))
    (listing,) = scan(file, text.encode()).listings
    assert listing.first.text == " " + HEAD.splitlines()[0]
    assert (listing.head.run, listing.rows) == ("Y040180P", 1)


@pytest.mark.parametrize(
    ("old", "new", "place", "expected"),
    [
        ("2007/06/05 14", "2007-06-05 14", (1, 9), "Run yyyy/mm/dd"),
        ("2007/06/05", "2007/06/31", (1, 13), "no such date"),
        ("From 2007/05/27", "From 2007/05/2x", (3, 1), "From yyyy/mm/dd"),
        ("To   2007/05/27", "To   2007/13/27", (4, 6), "no such date"),
        ("To   2007/05/27", "To   2007/05/26", (1, None), "ends at"),
        ("  600 Secs", "  6O0 Secs", (5, 1), "For nnn Secs"),
    ],
)
def test_a_damaged_head_is_refused(
    file: Path, old: str, new: str, place: tuple[int, int | None], expected: str
) -> None:
    file.write_text(HEAD.replace(old, new), "utf-8")
    with pytest.raises(ReportError, match=expected) as raised:
        head_of(file)
    assert (raised.value.path, raised.value.line, raised.value.column) == (file, *place)


@pytest.mark.parametrize(
    ("old", "new", "expected"), [("Interval", "Intervl", "Interval"), ("00:01", "25:01", "time")]
)
def test_a_damaged_screen_head_is_refused(file: Path, old: str, new: str, expected: str) -> None:
    file.write_text(SCREEN.replace(old, new), "utf-8")
    with pytest.raises(ReportError, match=expected):
        head_of(file)
