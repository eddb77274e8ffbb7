"""Rows of DEVICE listings as the table of `planner.reports.schema`, without an object a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from planner.reports import schema
from planner.reports.device_rows import MEASURED
from planner.reports.listing_scan import Scanned, ScannedPart

if TYPE_CHECKING:
    import polars as pl


class DevicesFrame:
    """Takes rows part by part, and makes the table of all of them."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[pl.Series]] = {}

    def take(self, part: ScannedPart, scanned: Scanned) -> None:
        """Lay out the columns of some rows."""
        for series in _columns(part, scanned):
            self._pieces.setdefault(series.name, []).append(series)

    def frame(self, scanned: Scanned) -> pl.DataFrame:
        """Make the table of what was taken; columns that say one thing of all rows take no memory."""
        import polars as pl

        types = schema.dtypes(schema.DEVICES)
        found = _heads(scanned)
        for name in types:
            pieces = self._pieces.pop(name, [])
            if pieces:
                found[name] = pieces[0] if len(pieces) == 1 else pl.concat(pieces, rechunk=False)
        if any(word.startswith("->") for word in scanned.types.words):
            is_alias = found["kind"] == schema.CLASSIC_ALIAS
            found["alias_of"] = found["type"].str.slice(2).set(~is_alias, None)
        series = {name: each for name, each in found.items() if isinstance(each, pl.Series)}
        return pl.DataFrame([each.alias(name) for name, each in series.items()]).select(
            (pl.col(name).cast(dtype) if name in series else pl.lit(found.get(name), dtype=dtype)).alias(name)
            for name, dtype in types.items()
        )


def _heads(scanned: Scanned) -> dict[str, Any]:
    """What the head of each listing says: one value where all say the same, else a column."""
    import polars as pl

    heads = [listing.head for listing in scanned.listings]
    said: dict[str, list[Any]] = {
        "system": [head.system or None for head in heads],
        "source": [head.run or None for head in heads],
        "start": [head.start if isinstance(head.start, datetime) else None for head in heads],
        "interval": [head.interval for head in heads],
    }
    types = schema.dtypes(schema.DEVICES)
    of_row = np.repeat(np.arange(len(heads)), [listing.rows for listing in scanned.listings])
    found: dict[str, Any] = {"file": str(scanned.path)}
    for name, values in said.items():
        same = len(set(values)) == 1
        found[name] = values[0] if same else pl.Series(name, values, dtype=types[name]).gather(of_row)
    return found


def _columns(part: ScannedPart, scanned: Scanned) -> Iterator[pl.Series]:
    """Columns of some rows."""
    import polars as pl

    rows = part.rows
    numbers, places = np.unique(rows.address, return_inverse=True)
    yield _strings("device", [f"{number:04X}" for number in numbers.tolist()]).gather(places)
    types, labels = scanned.types.words, scanned.labels.words
    kinds = np.array([_kind(word) for word in types])[rows.type]
    kinds[(kinds == schema.KINDS.index(schema.BASE)) & (rows.label == 0)] = schema.KINDS.index(schema.ALIAS)
    yield pl.Series("kind", schema.KINDS, dtype=pl.Enum(schema.KINDS)).gather(kinds)
    yield _strings("label", [word or None for word in labels]).gather(rows.label)
    yield _strings("type", types).gather(rows.type)
    for name, counts in zip(("links", "paths"), rows.counts, strict=True):
        yield _series(name, counts).cast(pl.UInt32)
    for name, values, halves in zip(MEASURED, rows.values, rows.halves, strict=True):
        missing = bool(np.isnan(values).any())
        ends = (values, np.maximum(values - halves, 0.0), values + halves)
        for end, numbers in zip(schema.ENDS, ends, strict=True):
            yield pl.Series(f"{name}{end}", numbers, nan_to_null=missing)
    yield pl.Series("line", part.line.astype(np.uint32))


def _strings(name: str, words: Sequence[str | None]) -> pl.Series:
    import polars as pl

    return pl.Series(name, words, dtype=pl.String)


def _series(name: str, numbers: Any) -> pl.Series:
    import polars as pl

    return pl.Series(name, numbers, nan_to_null=bool(np.isnan(numbers).any()))


def _kind(word: str) -> int:
    """What a device of this type is, as long as it has a label; by its place in `KINDS`."""
    if word.startswith("->"):
        return schema.KINDS.index(schema.CLASSIC_ALIAS)
    return schema.KINDS.index(schema.BASE if word.startswith(schema.ECKD_DISKS) else schema.OTHER)
