"""The DSPACESH listing of Performance Toolkit (FCX134): a row a shared data space, with its paging and pages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import numpy as np

from planner.errors import ReportError
from planner.lazy import pl
from planner.reports import listing, schema
from planner.reports.device_rows import APART, may_be_row
from planner.reports.lines import Line
from planner.reports.listing import DSPACESH, LEFT, RIGHT, Page, PageHead
from planner.reports.listing_scan import scan
from planner.reports.printed import SUFFIXES, Columns, Printed, is_number

# Headings by field.
RATES: Final = dict(zip(schema.STORAGE_RATES, LEFT[-len(schema.STORAGE_RATES) :], strict=True))
PAGES: Final = dict(zip(schema.STORAGE_PAGES, RIGHT, strict=True))
RELEASE: Final = re.compile(r"z/VM +V\.([0-9]+\.[0-9]+)\.[0-9]+")
_PTRM: Final = re.compile(r"PTRM[0-9A-F]{4}")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSpace:
    """One row: a shared data space `name` of its `owner`; numbers are None where the listing prints dots.

    `users` are permitted to it. Rates of pages [1/s]: `steal_rate`, `read_rate` and `write_rate` of DASD,
    `expanded_read_rate`, `expanded_write_rate` and `migration_rate` of expanded storage. Pages: `total`, `resident` in
    real storage, `resident_below_2gb` below the 2 GB line, `locked`, `locked_below_2gb`, `aliases`, `aliases_locked`,
    `expanded` in expanded storage, `dasd` on DASD; a suffix k is 1000, its resolution 500. `line` is that of its name.
    """

    owner: str
    name: str
    users: int | None
    steal_rate: Printed | None
    read_rate: Printed | None
    write_rate: Printed | None
    expanded_read_rate: Printed | None
    expanded_write_rate: Printed | None
    migration_rate: Printed | None
    total: Printed | None
    resident: Printed | None
    resident_below_2gb: Printed | None
    locked: Printed | None
    locked_below_2gb: Printed | None
    aliases: Printed | None
    aliases_locked: Printed | None
    expanded: Printed | None
    dasd: Printed | None
    line: int

    @property
    def is_ptrm(self) -> bool:
        """Whether it is one of CP's data spaces of PGMBKs, PTRM0000 and on."""
        return self.owner == "SYSTEM" and _PTRM.fullmatch(self.name) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSpaceListing(PageHead):
    """One DSPACESH listing: its head, `rows`, file `path`, `line` where it begins, z/VM `release` such as ``5.3``."""

    path: Path
    line: int
    rows: tuple[DataSpace, ...]
    release: str | None


def read_data_spaces(path: Path | str, data: bytes | None = None) -> tuple[DataSpaceListing, ...]:
    """Read every DSPACESH listing of a file.

    Parameters
    ----------
    path : Path or str
        A text file; pages of other reports and text around the listings are ignored.
    data : bytes, optional
        Its content, where that is read already.

    Returns
    -------
    tuple of DataSpaceListing
        In the order of the file. Pages that repeat a head continue the listing before them.

    Raises
    ------
    ReportError
        The file cannot be read, holds no DSPACESH listing, a listing has only one of its halves, holds
        anything that is not a sound row, or its numbers contradict each other.

    Examples
    --------
    >>> (listing,) = read_data_spaces("data/real-storage/4-users.listing")
    >>> listing.release, listing.rows[0].resident
    ('5.2', Printed(value=508000.0, resolution=500.0))
    """
    scanned = scan(Path(path), data)
    if not scanned.spaces:
        raise listing.nothing_of(scanned.path, scanned.reports, DSPACESH)
    return data_spaces_of(scanned.path, scanned.spaces)


def data_spaces_of(path: Path, pages: Sequence[Page]) -> tuple[DataSpaceListing, ...]:
    """Read DSPACESH pages; those that repeat a head are one listing."""
    found = []
    for head, same in groupby(pages, lambda page: page.head):
        some = list(same)
        lines = (line for page in some for line in (page.first, *page.lines))
        release = next((match[1] for line in lines if (match := RELEASE.search(line.text))), None)
        rows, first = _rows(path, some), some[0].first.number
        found.append(DataSpaceListing(**asdict(head), path=path, line=first, rows=rows, release=release))
    return tuple(found)


def storage_frame(path: Path, pages: Sequence[Page]) -> pl.DataFrame:
    """Rows of the table of storage from DSPACESH pages."""
    rows = [(each, row) for each in data_spaces_of(path, pages) for row in each.rows]
    data: dict[str, Any] = listing.head_columns(each for each, _ in rows)
    data |= {"release": [each.release for each, _ in rows], "file": str(path)}
    for name in ("owner", "name", "users", "line"):
        data[name] = [getattr(row, name) for _, row in rows]
    for name in (*RATES, *PAGES):
        printed = [getattr(row, name) or Printed(math.nan, math.nan) for _, row in rows]
        values, halves = np.array([(each.value, each.resolution) for each in printed]).T
        data |= schema.within(name, values, halves)
    return schema.frame(schema.STORAGE, data, len(rows))


def listings_of_frame(frame: pl.DataFrame) -> tuple[DataSpaceListing, ...]:
    """Rows of the table of storage, from a listing, monitor data or an archive, as the listings that they amount to."""
    found = []
    keys = ("system", "file", "source", "start")
    for (system, file, source, start), part in frame.group_by(*keys, maintain_order=True):
        rows = part.to_dicts()
        length = rows[0]["interval"]
        end = None if start is None else start + timedelta(seconds=length or 0.0)
        found.append(
            DataSpaceListing(
                report=DSPACESH, run=str(source or ""), release=rows[0]["release"], start=start, end=end,
                interval=length, path=Path(file or ""), line=rows[0]["line"] or 0, system=str(system or ""),
                rows=tuple(map(_space_of, rows)),
            )
        )  # fmt: skip
    return tuple(found)


def _space_of(row: dict[str, Any]) -> DataSpace:
    """One row of the table of storage."""
    numbers: dict[str, Any] = dict.fromkeys((*RATES, *PAGES))
    for name in numbers:
        if (value := row[name]) is not None:
            numbers[name] = Printed(value, max(value - row[f"{name}_low"], row[f"{name}_high"] - value))
    return DataSpace(
        owner=row["owner"], name=row["name"], users=row["users"], line=row["line"] or 0, **numbers
    )


def _rows(path: Path, pages: list[Page]) -> tuple[DataSpace, ...]:
    """Join the pages of one listing and the halves of its rows."""
    first = pages[0].first
    halves = [each for page in pages for each in _page_rows(path, page)]
    left = [(line, names) for line, names, _ in halves if names]
    right = [(line, counts) for line, _, counts in halves if counts]
    _check_halves(path, first, left, right)
    rows = []
    seen: dict[tuple[str, str], int] = {}
    for (line, names), (below, counts) in zip(left, right, strict=True):
        _check_pages(path, below, names["name"], counts)
        owner, name = key = names["owner"], names["name"]
        if key in seen:
            problem = f"data space {name} of {owner} a second time: it is listed in line {seen[key]}"
            raise ReportError(path, problem, line=line.number)
        seen[key] = line.number
        rows.append(DataSpace(**names, **counts, line=line.number))
    return tuple(rows)


def _check_halves(path: Path, first: Line, left: Sequence[object], right: Sequence[object]) -> None:
    """Refuse a listing without rows, without one of its halves, or with halves of different length."""
    if not left and not right:
        raise first.error(path, f"a listing without rows: expected data spaces below '{' '.join(LEFT)}'")
    if not left or not right:
        there, missing, headings = ("left", "right", RIGHT) if left else ("right", "left", LEFT)
        problem = f"only the {there} half of the listing: expected the {missing} half, too, with '{' '.join(headings)}'"
        raise first.error(path, problem)
    if len(left) != len(right):
        found = f"{len(left)} rows in the left half and {len(right)} in the right"
        raise first.error(path, f"{found}: expected the same data spaces in both")


def _page_rows(path: Path, page: Page) -> Iterator[tuple[Line, dict[str, Any], dict[str, Any]]]:
    """Walk down a page; each heading opens a block of rows, left, right or both, that ends at a blank line."""
    columns: Columns | None = None
    headings: tuple[str, ...] = ()
    inside = False
    for line in page.lines:
        header = tuple(names for names in (LEFT, RIGHT) if listing.has_headings(line, names))
        if header:
            headings = sum(header, ())
            columns, inside = columns_below(path, line, headings), True
        elif line.is_blank:
            inside = False
        elif inside and columns is not None:
            columns.close(line, headings[-1])
            names = _names(columns, line) if LEFT[0] in headings else {}
            right = PAGES.items() if RIGHT[0] in headings else ()
            yield line, names, {field: columns.number(line, each, suffixed=True) for field, each in right}
        elif columns is None and may_be_row(line.text):
            raise line.error(path, f"a row above its heading: expected '{' '.join(LEFT)}' first")
        elif columns is not None and looks_like_row(headings, line):
            raise line.error(path, APART)


def columns_below(path: Path, line: Line, headings: Sequence[str]) -> Columns:
    """Find the columns; a name may be longer than its heading and reaches up to the next one."""
    columns = Columns.from_header(path, line, headings)
    if "Name" not in headings:
        return columns
    name = slice(columns.spans["Name"].start, columns.spans["Permt"].start - 1)
    return replace(columns, spans={**columns.spans, "Name": name})


def looks_like_row(headings: Sequence[str], line: Line) -> bool:
    """Whether a line is a row rather than the text between two halves."""
    numbers = [word for word in line.text.split() if is_number(word.rstrip("".join(SUFFIXES)))]
    return len(numbers) > len(headings) // 2


def _names(columns: Columns, line: Line) -> dict[str, Any]:
    """Read the left half of a row."""
    owner = columns.word(line, "Userid", following="Data")
    name = columns.word(line, "Data", following="Permt")
    if not owner or not name:
        start = columns.spans["Userid" if not owner else "Data"].start
        wanted = "expected a row with a userid and the name of a data space, or a blank line"
        raise line.error(columns.path, f"{line.text.strip()[:40]!r}: {wanted}", start)
    users = columns.count(line, "Permt")
    rates = {field: columns.number(line, heading) for field, heading in RATES.items()}
    return {"owner": owner, "name": name, "users": users, **rates}


def _check_pages(path: Path, line: Line, name: str, counts: dict[str, Any]) -> None:
    """Refuse a row of which a part of its pages is larger than the whole."""
    for part, whole in (("resident", "total"), ("resident_below_2gb", "resident")):
        small, large = counts[part], counts[whole]
        if small is not None and large is not None and small.low > large.high:
            shown = f"{PAGES[part]} {small.value:.0f} is above {PAGES[whole]} {large.value:.0f}"
            raise line.error(path, f"{name}: {shown}; expected no more")
