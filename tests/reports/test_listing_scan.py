"""Listings of any size and damage: every printed row is returned unchanged, or named, or the file is refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import ReportError
from planner.measurements import Measured, read
from planner.reports import device_rows, read_data_spaces
from planner.reports import lines as text_lines
from planner.reports.device_rows import ADDRESS, LONGEST_LINE, MEASURED, TYPE, ColumnRows, Words
from planner.reports.lines import Line, read_lines
from planner.reports.listing_scan import scan
from planner.reports.printed import Columns
from planner.units import half_digit
from tests.brief import examples
from tests.reports.printing import HEAD, HEADING, Row, page, row, split_lines
from tests.reports.test_device_properties import Damage, Number, damages, tables

FOLDER = Path(__file__).parents[2] / "data"
GOOD = (row("522B"), row("522C"), row("522D"))
SPACES = (FOLDER / "real-storage" / "5-users.listing").read_text(encoding="utf-8")
PIECES = st.sampled_from(["a", "b ", "\n", "\r", "\r\n", "\f", " ", "é", "\r\r\n"])


def found(text: str) -> Measured:
    return read(text.encode())


def test_a_long_listing_comes_in_parts() -> None:
    """Memory is bounded by 65,536 rows and a block of lines, however long the listing is."""
    one = row("....")
    rows = [one.replace("....", f"{number:04X}") for number in range(45_000)]
    listing = page(*rows, "") + "\n" + page(*rows, "", head=HEAD.replace("2007/05/27", "2007/05/28"))
    sizes: list[int] = []
    scan(Path("long"), listing.encode(), take=lambda part, _: sizes.append(int(part.line.size)))
    assert sum(sizes) == 2 * len(rows) and len(sizes) > 1
    assert max(sizes) <= 2**16 + text_lines.BLOCK // len(one)


@given(
    st.lists(PIECES, min_size=1, max_size=30).map("".join).filter(str.strip), st.sampled_from([5, 16, 2**20])
)
def test_blocks_have_the_lines_of_an_editor(text: str, block: int) -> None:
    """The other way to cut text, line by line, is the reference."""
    expected = split_lines(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_lines, "BLOCK", block)
        lines = [
            each.line(index)
            for each in read_lines(Path("x"), text.encode())
            for index in range(each.starts.size)
        ]
    assert [(line.number, line.text, line.offset) for line in lines] == expected


def test_tabs_up_to_every_eighth_column_are_the_blanks_that_they_stand_for() -> None:
    """As `unexpand -a` writes it; one tab between words is refused by what tabs do."""
    listing = page(*GOOD)
    cells = (re.findall(".{1,8}", line) for line in listing.split("\n"))
    lines = ([re.sub("  +$", "\t", each) if len(each) == 8 else each for each in line] for line in cells)
    tabbed = "\n".join(map("".join, lines))
    assert "\t" in tabbed and found(tabbed).devices.equals(found(listing).devices)
    with pytest.raises(
        ReportError, match=r"line 1[0-9], .* tabs are read as blanks up to every eighth column"
    ):
        found(re.sub("  +", "\t", listing))


@pytest.mark.long
@examples(20)
@given(tables(), st.integers(1, 5), st.sampled_from([700, 2**20]))
def test_rows_come_back_from_the_integers_they_were_printed_from(
    table: list[tuple[Row, list[Number]]], rows_a_page: int, block: int
) -> None:
    lines = [row.text() for row, _ in table]
    text = "\f".join(
        page(*lines[first : first + rows_a_page], "") for first in range(0, len(lines), rows_a_page)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_lines, "BLOCK", block)
        devices = found(text).devices
    assert devices["device"].to_list() == [row.address for row, _ in table]
    assert devices["type"].to_list() == [row.type for row, _ in table]
    assert devices["label"].to_list() == [row.label or None for row, _ in table]
    assert devices["links"].to_list() == [cells[0].digits for _, cells in table]
    for position, (name, (_, factor)) in enumerate(MEASURED.items(), start=2):
        printed = [cells[position].read_back(factor) for _, cells in table]
        for end, value in zip(("", "_low", "_high"), ("value", "low", "high"), strict=True):
            expected = [None if each is None else getattr(each, value) for each in printed]
            missing = [each is None for each in expected]
            assert devices[f"{name}{end}"].is_null().to_list() == missing
            numbers = devices[f"{name}{end}"].drop_nulls().to_numpy()
            assert np.allclose(
                numbers, [each for each in expected if each is not None], rtol=1e-13, atol=1e-18
            )


@st.composite
def damaged_pages(draw: st.DrawFn) -> tuple[list[str], str]:
    """Rows as printed, and the pages that they stand on after up to three damages."""
    rows = [each.text() for each, _ in draw(tables())]
    cut = draw(st.integers(0, len(rows) - 1))
    text = page(*rows[: cut + 1], "") + (page(*rows[cut + 1 :]) if rows[cut + 1 :] else "")
    for _ in range(draw(st.integers(0, 3))):
        damage: Damage = draw(damages(text))
        text = damage.applied_to(text) or " "
    return rows, text


def numbers_in(line: str) -> int:
    return sum(re.fullmatch(r"[0-9]*\.?[0-9]+|\.{3,}", word) is not None for word in line.split())


@pytest.mark.long
@examples(50)
@given(damaged_pages())
def test_every_printed_row_is_returned_unchanged_or_named_or_the_file_refused(
    case: tuple[list[str], str],
) -> None:
    rows, text = case
    try:
        measured = found(text)
    except ReportError as error:
        assert error.problem
        return
    lines = re.split(r"\r*\n|\r|\f", text)
    devices = {device: k for k, device in enumerate(measured.devices["device"])}
    for line in rows:
        if line in lines and line[1:5] not in devices:  # untouched, but below a damaged heading
            assert any(line.strip() in note for note in measured.notes)
        elif line in lines:
            at = devices[line[1:5]]
            for name, end, start in (("io_rate", 38, 33), ("service", 64, 59), ("queued", 79, 74)):
                digits = line[start:end].strip()
                factor = MEASURED[name][1]
                value, high = measured.devices[name][at], measured.devices[f"{name}_high"][at]
                if digits.startswith(".."):
                    assert value is None
                else:
                    assert value == pytest.approx(float(digits) * factor, rel=1e-12)
                    assert high - value == pytest.approx(half_digit(digits) * factor, rel=1e-6)
    there = sum(numbers_in(line) > 6 for line in lines)
    assert measured.devices.height + len(measured.notes) >= there


DAMAGED_ROWS = {
    "a label with a blank": (row(label="BW PVS"), "Label/ID 'BW PVS  ': expected one word"),
    "a point in Links": (row(links="."), "Links '.': expected a number"),
    "a five-digit address": ("1" + row()[1:], "expected a row, with a device address"),
    "cut short": (row()[:70], "the row is cut short"),
    "no address": ("      " + row()[6:], "expected a row, with a device address"),
}


@pytest.mark.parametrize("name", DAMAGED_ROWS)
def test_one_damaged_row_is_named_and_the_others_are_read(name: str) -> None:
    text, problem = DAMAGED_ROWS[name]
    measured = found(page(GOOD[0], text, GOOD[1]))
    assert measured.devices["device"].to_list() == ["522B", "522C"]
    (note,) = measured.notes
    assert note.startswith(f"bytes, line {HEAD.count(chr(10)) + HEADING.count(chr(10)) + 4}, column ")
    assert problem in note and text.strip() in note


def test_more_damage_than_rows_refuses_the_file() -> None:
    with pytest.raises(ReportError, match=r"line 11, .*Links"):
        found(page(row(links="."), row("522B", links="."), GOOD[1]))


def test_a_page_without_a_sound_row_refuses_the_file() -> None:
    """What is damaged is its heading."""
    shifted = HEADING.replace("Links ths", "Lin ths  ")
    with pytest.raises(ReportError, match="line 25"):
        found(page(*GOOD, row("5301"), "") + page(row("5300"), row("5302"), row("5303"), heading=shifted))


def test_many_damaged_rows_are_all_named() -> None:
    rows = [row(f"{number:04X}", links="." if number % 3 == 0 else "0") for number in range(0x100, 0x200)]
    measured = found(page(*rows))
    named = " ".join(measured.notes)
    for number, text in enumerate(rows, start=11):
        assert (
            f"line {number}," in named or re.search(rf"[ ,]{number}[,.]", named)
        ) or f" {text[1:5]}" not in named
    assert measured.devices.height == sum("   0   4" in text for text in rows)
    assert sum(len(re.findall(r"line \d+,|(?<=lines ).*", note)) for note in measured.notes) == 21


REFUSED = {
    "a file cut at its top": (page(*GOOD).split("Qued\n")[1] + page(row()), 1, "without its page head"),
    "cut within a row": (page(*GOOD).split("Qued\n")[1][20:] + page(row()), 1, "without its page head"),
    "a row between head and heading": (page(row(), head=HEAD + "\n" + GOOD[0]), 1, "above the row in line 8"),
    "a damaged row there": (page(row(), head=HEAD + "\n" + row(label="A B")), 1, "above the row in line 8"),
    "a head that stands above rows": (
        page(*GOOD) + "\n".join([HEAD.split("\n", 1)[0], GOOD[0], GOOD[1], HEAD.split("\n", 1)[1], ""]),
        14,
        "above the row in line 15",
    ),
    "a head without its end": (page(row()).replace("To   2007", "Ta   2007"), 1, "'From' alone"),
    "a file that ends within a row": (page(*GOOD, row())[:-8], 14, "cut short"),
    "two rows on a line": (
        page(GOOD[0], row() + row("522E"), GOOD[1]),
        12,
        "two rows on one line|right of Qued",
    ),
    "rows below another report": (page(*GOOD, head=HEAD.replace("108", "109")), 10, "without its page head"),
    "a half of DSPACESH before": (SPACES.split("\n", 1)[1] + page(*GOOD), 8, "half of a DSPACESH"),
    "a half of DSPACESH below": (
        page(*GOOD, "") + SPACES.split("\n", 1)[1],
        22,
        "half of a DSPACESH",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_damage_of_the_structure_refuses_the_file(name: str) -> None:
    text, line, problem = REFUSED[name]
    with pytest.raises(ReportError, match=problem) as caught:
        found(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (SPACES.split("\n", 1)[1] + "\n" + SPACES, "half of a DSPACESH"),
        (SPACES.splitlines()[9] + "\n" + SPACES, "a row without its page head"),
        ("\n".join(SPACES.splitlines()[:5] + SPACES.splitlines()[9:10]) + "\n" + SPACES, "above its heading"),
    ],
    ids=["no head", "a row before", "a row above its heading"],
)
def test_dspacesh_rows_without_head_or_heading_refuse_the_file(
    tmp_path: Path, text: str, problem: str
) -> None:
    path = tmp_path / "spaces.listing"
    path.write_text(text)
    for reader in (read_data_spaces, read):
        with pytest.raises(ReportError, match=problem):
            reader(path)


def test_white_space_in_a_page_head_is_ignored_but_a_blank_line_ends_it() -> None:
    (interval,) = found(page(row(), head=HEAD.replace("\nTo ", "\n\xa0\nTo "))).devices["interval"]
    assert interval == 600.0
    for blank in ("", " ", "\t"):
        with pytest.raises(ReportError, match="'From' alone"):
            found(page(row(), head=HEAD.replace("\nTo ", f"\n{blank}\nTo ")))


@pytest.mark.parametrize(
    ("lost", "note"),
    [
        (
            ("From ", "To   "),
            "line 1: a page head without 'From ... and To ...': the time of its interval is unknown",
        ),
        (("For ",), "line 1: a page head without 'For nnn Secs ...': the length"),
        (
            ("Result of",),
            "line 1: a page head without 'Result of ... Run'.*: the name of its interval is unknown",
        ),
    ],
)
def test_what_a_damaged_head_no_longer_says_is_named(lost: tuple[str, ...], note: str) -> None:
    head = HEAD
    for word in lost:
        head = head.replace(word, "#" * len(word))
    assert head != HEAD
    assert not found(page(row())).notes
    assert re.search(note, " ".join(found(page(row(), head=head)).notes))


@pytest.mark.parametrize(
    ("damaged", "note"),
    [
        (row("522B", label=""), "line 12: 522B has no label, as HyperPAV aliases have none, but a queue"),
        (row("522B", "522A"), "line 12: 522B has another device as its type, without the arrow"),
    ],
)
def test_a_device_that_lost_its_role_is_named(damaged: str, note: str) -> None:
    assert not found(page(row(), row("522B", label="", qued=".00"), row("522C", "->522A"))).notes
    (said,) = found(page(row(), damaged)).notes
    assert note in said


def test_both_reports_of_a_file_are_read() -> None:
    measured = found(
        page(*GOOD, "") + "\n" + SPACES + "\n" + page(row("5300"), "", head=HEAD.replace("Y040", "Z040"))
    )
    assert measured.devices["device"].to_list() == ["522B", "522C", "522D", "5300"]
    assert measured.devices["source"].to_list() == ["Y040180P"] * 3 + ["Z040180P"]
    assert measured.storage["name"].to_list() == ["PTRM0000"]
    assert measured.storage["system"].to_list() == ["GDLS"]
    assert measured.what == ("DEVICE and DSPACESH listings",)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_a_label_outside_of_ascii_is_read_with_care(encoding: str) -> None:
    measured = read(page(GOOD[0], row(label="BÜRO"), GOOD[1]).encode(encoding))
    assert measured.devices["label"].to_list() == ["BWPVS0", "BÜRO", "BWPVS0"]


def test_fifty_thousand_carriage_returns_take_no_time() -> None:
    """Linear: a quadratic search took eleven seconds."""
    assert found(page(*GOOD) + "\r" * 50_000 + "b").devices.height == 3


def test_all_sound_rows_of_a_stretch_are_read_at_once() -> None:
    """Those that end with the last number or go on with blanks, up to the longest; none above or below the stretch."""
    good = row()
    longest = good.ljust(LONGEST_LINE)
    lines = [good, good, good[:-1], longest, longest + " ", "", good + " x", good, good]
    block, _ = read_lines(Path("x"), "".join(f"{line}\n" for line in lines).encode())
    heading = next(
        line for line in (Line(*each) for each in split_lines(HEADING)) if device_rows.is_header(line)
    )
    columns = Columns.from_header(Path("x"), heading, device_rows.HEADINGS)
    rows = ColumnRows.empty(np.arange(len(lines)))
    words = Words(ADDRESS.fullmatch), Words(TYPE.fullmatch), Words(str.isprintable)
    rows.parse(block, columns, 1, 8, words)
    assert np.flatnonzero(rows.sound).tolist() == [1, 3, 7]
    assert [words[0].words[number] for number in rows.names[0, rows.sound]] == ["522A"] * 3
