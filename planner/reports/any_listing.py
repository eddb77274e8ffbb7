"""Listings of Performance Toolkit: DEVICE as objects, a device a row, and a file of any listings as tables."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, time
from pathlib import Path
from typing import Any, Final

import numpy as np

from planner.lazy import pl
from planner.reports import schema
from planner.reports.device_rows import DEVICE, MEASURED, ColumnRows, Device
from planner.reports.dspacesh import storage_frame
from planner.reports.listing import REPORTS, PageHead, head_columns, nothing_of
from planner.reports.listing_scan import Scanner, scan
from planner.reports.printed import Printed
from planner.results import by_key


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceListing(PageHead):
    """One DEVICE listing: its head, its devices as `rows` in its order, its file `path`, the `line` where it begins."""

    path: Path
    line: int
    rows: tuple[Device, ...]


SAMPLED_EVERY: Final = 2.0
"""Seconds from one high-frequency sample to the next, as MONITOR SAMPLE RATE is unless it is set."""


def read_devices(path: Path | str, data: bytes | None = None) -> tuple[DeviceListing, ...]:
    """Read every DEVICE listing of a file.

    Parameters
    ----------
    path : Path or str
        A text file; pages of other reports and text around the listings are ignored.
    data : bytes, optional
        Its content, where that is read already.

    Returns
    -------
    tuple of DeviceListing
        In the order of the file. Pages that repeat a head continue the listing before them.

    Raises
    ------
    ReportError
        The file cannot be read, holds no DEVICE listing, or a listing holds anything that is not a sound row.

    Examples
    --------
    >>> (listing,) = read_devices("data/hyperpav/522A-0-aliases.listing")
    >>> listing.run, listing.rows[0].io_rate
    ('Y040180P', Printed(value=755.0, resolution=0.5))
    """
    scanned = scan(Path(path), data)
    if not scanned.listings:
        raise nothing_of(scanned.path, scanned.reports, DEVICE)
    if damaged := [error for each in scanned.listings for error, _ in each.damaged]:
        raise damaged[0]
    rows = by_key(
        row for part in scanned.parts for row in zip(part.listing.tolist(), _devices(part, scanned), strict=True)
    )  # fmt: skip
    return tuple(
        DeviceListing(**asdict(each.head), path=scanned.path, line=each.first.number, rows=tuple(rows[k]))
        for k, each in enumerate(scanned.listings)
    )


def _devices(rows: ColumnRows, scanned: Scanner) -> Iterator[Device]:
    """Rows as objects."""
    words = [known.words for known in scanned.words]
    columns = (each.T.tolist() for each in (rows.names, rows.values, rows.halves))
    for line, names, values, halves in zip(rows.line.tolist(), *columns, strict=True):
        address, kind, label = (known[name] for known, name in zip(words, names, strict=True))
        links, paths, *printed = (
            None if math.isnan(value) else Printed(value, half)
            for value, half in zip(values, halves, strict=True)
        )
        yield Device(
            address=address, type=kind, label=label, line=line,
            links=None if links is None else int(links.value), paths=None if paths is None else int(paths.value),
            **dict(zip(MEASURED, printed, strict=True)),
        )  # fmt: skip


def read_tables(path: Path, data: bytes | None = None) -> schema.Tables:
    """Read every listing of a file, or of its content, into tables; damaged rows of DEVICE are named in notes."""
    parts: list[list[pl.Series]] = []
    scanned = scan(path, data, take=lambda rows, found: parts.append(list(_columns(rows, found))))
    spaces = storage_frame(path, scanned.spaces) if scanned.spaces else schema.empty(schema.STORAGE)
    if not scanned.listings and not scanned.spaces:
        raise nothing_of(path, scanned.reports)
    found = [name for report, name in REPORTS.items() if report in scanned.reports]
    devices = _devices_frame(scanned, parts) if scanned.listings else schema.empty(schema.DEVICES)
    notes = [*damage_notes(scanned), *_head_notes(scanned), *_role_notes(path, devices)]
    damaged = ((text, listing.head) for listing in scanned.listings for _, text in listing.damaged)
    return schema.Tables(
        devices=devices, storage=spaces, notes=tuple(notes), what=" and ".join(found) + " listings",
        missing=tuple(_missing(text, head) for text, head in damaged),
    )  # fmt: skip


def _missing(text: str, head: PageHead) -> schema.Missing:
    """What a damaged row was of: its device, or the base of a classic alias, since that cannot be read whole."""
    base = re.search(r"->([0-9A-F]{4})\b", text)
    found = base or re.match(r"([0-9A-F]{4})\s", text)
    name, start = found[1] if found else None, head.start if isinstance(head.start, datetime) else None
    return schema.Missing(name=name, system=head.system or None, own=base is None, start=start)


def damage_notes(scanned: Scanner, most: int = 20) -> list[str]:
    """Name every damaged row, the first ones in full."""
    damaged = [each for listing in scanned.listings for each in listing.damaged]
    notes = [f"{error}; the row is left out: {text}" for error, text in damaged[:most]]
    if more := damaged[most:]:
        lines = ", ".join(f"{error.line}" for error, _ in more)
        notes.append(f"{scanned.path}: {len(more)} more rows are damaged and left out, in lines {lines}.")
    return notes


def _head_notes(scanned: Scanner) -> Iterator[str]:
    """Say where a page head does not tell the time: on a screen, or since lines of it are missing or damaged."""
    pages = [(each.head, each.first.number) for each in scanned.listings]
    pages += [(each.head, each.first.number) for each in scanned.spaces]
    if any(isinstance(head.start, time) for head, _ in pages):
        yield f"{scanned.path}: a screen shows no date; the day of its intervals is unknown."
    for wanted, lost, without in (
        ("From ... and To ...", "the time", [line for head, line in pages if head.start is None]),
        ("For nnn Secs ...", "the length", [line for head, line in pages if head.interval is None]),
        (
            "Result of ... Run', or 'This is a performance report for ...", "the name",
            [line for head, line in pages if not head.run and not isinstance(head.start, time)],
        ),
    ):  # fmt: skip
        if without:
            of = "its interval" + (f" and of {len(without) - 1} more" if len(without) > 1 else "")
            head = f"{scanned.path}, line {without[0]}: a page head without '{wanted}'"
            yield f"{head}: {lost} of {of} is unknown."


def _role_notes(path: Path, devices: pl.DataFrame) -> Iterator[str]:
    """Name rows whose role their numbers contradict: a base that lost its label would be taken for an alias."""
    alias = pl.col("kind") == schema.ALIAS
    lost = {
        "has no label, as HyperPAV aliases have none, but a queue or links: is its label lost?": (
            alias & ((pl.col("queued") > 0) | (pl.col("links") > 0))
        ),
        "has another device as its type, without the arrow (->) of a classic alias: is it lost?": (
            (pl.col("kind") == schema.OTHER) & pl.col("type").is_in(pl.col("device").unique().implode())
        ),
    }
    for words, wrong in lost.items():
        rows = devices.filter(wrong)
        if rows.height:
            more = f"; so {rows.height - 1} more" if rows.height > 1 else ""
            yield f"{path}, line {rows['line'][0]}: {rows['device'][0]} {words}{more}"


def _devices_frame(scanned: Scanner, parts: list[list[pl.Series]]) -> pl.DataFrame:
    """Make the table of all parts, which are let go; columns that say one thing of all rows take no memory."""
    found = _heads(scanned)
    for pieces in zip(*parts, strict=True):
        found[pieces[0].name] = pl.concat(pieces, rechunk=False)
    parts.clear()
    found["kind"] = schema.kind_of(found["type"], found["label"])
    if any(word.startswith("->") for word in scanned.words[1].words):
        found["alias_of"] = found["type"].str.slice(2).set(found["kind"] != schema.CLASSIC_ALIAS, None)
    rows = schema.frame(schema.DEVICES, found, found["line"].len())
    samples = (pl.col("interval") / SAMPLED_EVERY).cast(pl.UInt32)
    sampled = pl.col("queued").is_not_null() & (samples > 0)
    return rows.with_columns(queue_samples=pl.when(sampled).then(samples))


def _heads(scanned: Scanner) -> dict[str, Any]:
    """What the head of each listing says: one value where all say the same, else a column."""
    types = schema.dtypes(schema.DEVICES)
    of_row = np.repeat(np.arange(len(scanned.listings)), [listing.rows for listing in scanned.listings])
    found: dict[str, Any] = {"file": str(scanned.path)}
    for name, values in head_columns(listing.head for listing in scanned.listings).items():
        same = len(set(values)) == 1
        found[name] = values[0] if same else pl.Series(name, values, dtype=types[name]).gather(of_row)
    return found


def _columns(rows: ColumnRows, scanned: Scanner) -> Iterator[pl.Series]:
    """Columns of some rows."""
    for name, known, numbers in zip(("device", "type", "label"), scanned.words, rows.names, strict=True):
        yield pl.Series(name, [word or None for word in known.words], dtype=pl.String).gather(numbers)
    for name, values, halves in zip(("links", "paths", *MEASURED), rows.values, rows.halves, strict=True):
        missing = bool(np.isnan(values).any())
        ends = schema.within(name, values, halves) if name in MEASURED else {name: values}
        for column, numbers in ends.items():
            yield pl.Series(column, numbers, nan_to_null=missing)
    yield pl.Series("line", rows.line.astype(np.uint32))
