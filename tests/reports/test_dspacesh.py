"""Reading DSPACESH listings: whole or in two halves, every way they can be damaged, numbers that contradict."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, time
from itertools import zip_longest
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner
from planner import render
from planner.errors import ReportError
from planner.library import data_path
from planner.measurements.shown import MeasuredAnswer
from planner.reports.dspacesh import (
    DataSpace,
    DataSpaceListing,
    listings_of_frame,
    read_data_spaces,
)
from planner.reports.printed import Printed

SPLIT = data_path("real-storage", "128-users.listing").read_text(encoding="utf-8")
SMALL = data_path("real-storage", "4-users.listing").read_text(encoding="utf-8")
LEFT_WIDTH = 77
LEFT_ROW = " SYSTEM    PTRM0000                     0  .000  .000  .000  .000  .000  .000"
RIGHT_ROW = "  524k  508k  508k     0     0     0     0     0     0"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.listing"


def read(file: Path, text: str) -> tuple[DataSpaceListing, ...]:
    file.write_bytes(text.encode())
    return read_data_spaces(file)


def one(file: Path, text: str) -> DataSpaceListing:
    (listing,) = read(file, text)
    return listing


def joined(text: str) -> str:
    """Put the two halves side by side again, as they were before the report split them."""
    lines = text.splitlines()
    cut = next(index for index, line in enumerate(lines) if line.startswith("(Report split"))
    left, right = lines[: cut - 2], lines[cut + 1 :]
    return "\n".join(a.ljust(LEFT_WIDTH) + b for a, b in zip_longest(left, right, fillvalue="")) + "\n"


def cells(listing: DataSpaceListing) -> list[DataSpace]:
    return [replace(row, line=0) for row in listing.rows]


def test_a_row_is_read_with_its_resolution() -> None:
    (listing,) = read_data_spaces(data_path("real-storage", "4-users.listing"))
    (space,) = listing.rows
    assert (listing.report, listing.run, listing.release, listing.line) == ("FCX134", "GDLS", "5.2", 1)
    assert (listing.start, listing.end) == (
        datetime(2007, 5, 21, 21, 12, 47),
        datetime(2007, 5, 21, 21, 22, 17),
    )
    assert listing.interval == 570.0
    assert (space.owner, space.name, space.users, space.line) == ("SYSTEM", "PTRM0000", 0, 10)
    assert space.total == Printed(524_000.0, 500.0)
    assert space.resident == space.resident_below_2gb == Printed(508_000.0, 500.0)
    assert space.locked == space.locked_below_2gb == space.aliases == space.dasd == Printed(0.0, 0.5)
    assert space.read_rate == space.migration_rate == Printed(0.0, 0.0005)
    assert space.is_ptrm


def test_ptrm_000a_comes_before_ptrm_0000() -> None:
    (listing,) = read_data_spaces(data_path("real-storage", "128-users.listing"))
    assert [space.name[-1] for space in listing.rows] == list("ABCDEF0123456789")
    by_name = {space.name: space.resident.value for space in listing.rows if space.resident}
    assert by_name["PTRM000F"] == 505_000 and by_name["PTRM0004"] == 1_025_000


@pytest.mark.parametrize(
    "disguise",
    [
        joined,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.rstrip("\n"),
        lambda text: "".join("   " + line for line in text.splitlines(keepends=True)),
        lambda text: "1" + text.replace("\n", "\n ").rstrip(" "),
        lambda text: text.replace("(Report split for formatting reasons.  Ed.)", ""),
        lambda text: text.replace("(Report split", "\f(Report split"),
        lambda text: "Here is the screen.\n\n" + text + "\nYou can see 16 of 16.\n",
        lambda text: text.replace("\n", "   \n"),
    ],
    ids=[
        "joined",
        "crlf",
        "bom",
        "open end",
        "indented",
        "asa",
        "no remark",
        "form feed",
        "prose",
        "trailing blanks",
    ],
)
def test_every_layout_reads_the_same(disguise: Callable[[str], str], file: Path) -> None:
    assert cells(one(file, disguise(SPLIT))) == cells(one(file, SPLIT))


def test_several_listings_of_one_file(file: Path) -> None:
    first, second = read(file, SMALL + "\n" + SPLIT)
    assert (len(first.rows), len(second.rows)) == (1, 16)


def test_pages_with_the_same_head_are_one_listing(file: Path) -> None:
    more = SMALL.replace("PTRM0000", "PTRM0001")
    assert [space.name for space in one(file, SMALL + more).rows] == ["PTRM0000", "PTRM0001"]


def test_other_data_spaces_have_long_names_dots_and_millions(file: Path) -> None:
    row = " DBSERVER  A_NAME_OF_TWENTY_FOUR_CH    12  1.25   .50   .25  .000  .000  ...."
    text = SMALL.replace(LEFT_ROW, row).replace(
        RIGHT_ROW, "    2M  1.5M     0     0     0   7.5     0    1k  ...."
    )
    (space,) = one(file, text).rows
    assert (space.owner, space.name, space.users) == ("DBSERVER", "A_NAME_OF_TWENTY_FOUR_CH", 12)
    assert (space.steal_rate, space.migration_rate) == (Printed(1.25, 0.005), None)
    assert (space.total, space.resident) == (Printed(2e6, 5e5), Printed(1.5e6, 5e4))
    assert (space.expanded, space.dasd) == (Printed(1000.0, 500.0), None)
    assert not space.is_ptrm


def test_a_user_may_have_a_space_of_that_name(file: Path) -> None:
    assert not one(file, SMALL.replace(" SYSTEM ", " MAINT  ")).rows[0].is_ptrm


def test_a_screen_has_times_of_day_only(file: Path) -> None:
    head = "FCX134      CPU 2094  SER 46A8D  Interval 21:12:47 - 21:22:17    Perf. Monitor\n"
    listing = one(file, head + "\n".join(SMALL.splitlines()[5:]).replace("z/VM   V.5.2.0", ""))
    assert (listing.end, listing.release) == (time(21, 22, 17), None)


PAGES = st.sampled_from(["0", "999", "1k", "524k", "1049k", "2M"])


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 99999), PAGES), min_size=1, max_size=20, unique_by=lambda row: row[0]
    )
)
def test_generated_rows_read_back(
    rows: list[tuple[int, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    left = "\n".join(LEFT_ROW.replace("PTRM0000", f"P{number:07d}") for number, _ in rows)
    right = "\n".join(f"{pages:>6}{pages:>6}" + "     0" * 7 for _, pages in rows)
    text = SMALL.replace(LEFT_ROW, left).replace(RIGHT_ROW, right)
    file = tmp_path_factory.mktemp("listings") / "generated.listing"
    for layout in (text, joined(text)):
        listing = one(file, layout)
        assert [space.name for space in listing.rows] == [f"P{number:07d}" for number, _ in rows]
        for space, (_, pages) in zip(listing.rows, rows, strict=True):
            factor = {"k": 1e3, "M": 1e6}.get(pages[-1], 1.0)
            assert space.total == space.resident == Printed(float(pages.rstrip("kM")) * factor, 0.5 * factor)


def halves(text: str) -> tuple[str, str]:
    left, _, right = text.partition("(Report split for formatting reasons.  Ed.)\n")
    return left, right


LEFT, RIGHT = halves(SPLIT)
HEAD = "\n".join(SPLIT.splitlines()[:6]) + "\n"
ROW = SPLIT.splitlines()[12]
DAMAGED = {
    "left half alone": (LEFT, "only the left half"),
    "right half alone": (HEAD + RIGHT, "only the right half"),
    "right half without head": (RIGHT, "without its page head"),
    "no rows": (HEAD, "without rows"),
    "a row missing on the right": (SPLIT[: SPLIT.rindex(" 1049k 1049k")], "16 rows in the left half and 15"),
    "a row missing on the left": (SPLIT.replace(ROW + "\n", ""), "15 rows in the left half and 16"),
    "row apart": (SPLIT.replace(ROW, "\n" + ROW), "apart from its table"),
    "row apart on the right": (SPLIT.replace(" 1049k  505k", "\n 1049k  505k"), "apart from its table"),
    "same space twice": (SPLIT.replace("PTRM0001", "PTRM0002"), "a second time"),
    "resident above total": (SMALL.replace("524k  508k", "524k  526k"), "Resid 526000 is above Total 524000"),
    "below 2 GB above resident": (
        SMALL.replace("508k  508k", "508k  510k"),
        "R<2GB 510000 is above Resid 508000",
    ),
    "unknown suffix": (SMALL.replace("524k", "524g"), "Total '524g'"),
    "shifted": (SMALL.replace("  524k", " 524k "), "Total"),
    "cut short": (SMALL.rstrip("\n")[:-3], "cut short"),
    "runs on": (SMALL.rstrip("\n") + "   9", "right of DASD"),
    "no userid": (SMALL.replace(" SYSTEM    PTRM0000", "           PTRM0000"), "userid"),
    "no name": (SMALL.replace("PTRM0000", "        "), "name of a data space"),
    "fraction of a user": (SMALL.replace("    0  .000", "  0.5  .000", 1), "whole number"),
    "words among rows": (SPLIT.replace(ROW, "some words"), "expected|cut short"),
    "damaged heading": (SMALL.replace("Pgwrt", "Pg rt"), "not in place"),
    "another report": (SPLIT.replace("FCX134", "FCX110"), "without its page head"),
    "no listing": ("The quick brown fox.\n", "holds no Performance Toolkit listing"),
    "empty": ("\n", "empty"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_listing_is_refused(name: str, file: Path) -> None:
    text, expected = DAMAGED[name]
    with pytest.raises(ReportError, match=expected) as raised:
        read(file, text)
    assert raised.value.path == file


def test_rounding_is_no_contradiction(file: Path) -> None:
    assert one(file, SMALL.replace("524k  508k", "524k  525k")).rows[0].total == Printed(524_000.0, 500.0)


def test_the_table_for_csv_and_json() -> None:
    table = MeasuredAnswer(planner.read(data_path("real-storage", "5-users.listing"))).table()
    (row,) = json.loads(render.to_json(table.records()))
    assert (row["run"], row["release"], row["owner"], row["name"]) == ("GDLS", "5.3", "SYSTEM", "PTRM0000")
    assert (row["resident_pages"], row["resident_resolution_pages"]) == (635_000, 500)
    assert (row["read_rate"], row["start"]) == (0, "2007-05-21T22:07:14")


def test_listings_come_back_from_the_table_of_storage() -> None:
    """Times, release and rows; their line is that of the first row."""
    paths = [data_path("real-storage", f"{name}-users.listing") for name in ("4", "128")]
    listings = [each for path in paths for each in read_data_spaces(path)]
    storage = planner.read(paths).storage
    back = listings_of_frame(storage)
    assert len(back) == len(listings)
    for mine, theirs in zip(back, listings, strict=True):
        assert (mine.start, mine.end, mine.interval) == (theirs.start, theirs.end, theirs.interval)
        assert (mine.release, mine.path) == (theirs.release, theirs.path)
        assert [row.name for row in mine.rows] == [row.name for row in theirs.rows]
        assert [row.resident for row in mine.rows] == [row.resident for row in theirs.rows]
    timeless = storage.with_columns(pl.lit(None, pl.Datetime("us")).alias("start"))
    assert {(each.start, each.end) for each in listings_of_frame(timeless)} == {(None, None)}
