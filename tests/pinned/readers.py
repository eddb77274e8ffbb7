"""Readers: generated files of every format, some of them damaged, and the tables or the refusals that they end in."""

from __future__ import annotations

import zlib
from random import Random
from typing import Any

import polars as pl

from planner.errors import PlannerError
from planner.measurements import read
from planner.measurements.read import Measured
from tests.fuzz.targets import TARGETS

EACH = 14
TABLES = ("devices", "supply", "storage")
WORDS = 160  # of a message


def cases() -> dict[str, Any]:
    """Files by number; what makes them is that of the fuzzing."""
    names = [name for name in TARGETS if name.startswith("read ") and name != "read parquet"]
    return {f"{name} {k}": {"target": name, "number": k} for name in names for k in range(EACH)}


def answer(case: dict[str, Any]) -> Any:
    """Sums of the columns, notes, or the refusal."""
    made = TARGETS[case["target"]].make(Random(f"pinned {case['number']}"))
    data = bytes.fromhex(made["hex"]) if "hex" in made else made["text"].encode("utf-8", "surrogatepass")
    try:
        found: Measured = read(data)
    except PlannerError as error:
        return {"refused": str(error)[:WORDS]}
    tables = {name: _summary(getattr(found, name)) for name in TABLES}
    return {"tables": tables, "notes": [note[:WORDS] for note in found.notes]}


def _summary(frame: pl.DataFrame) -> Any:
    """Rows, the sum of every numeric column and the nulls in it, and a check of everything else."""
    found: dict[str, Any] = {"rows": frame.height}
    for name, column in frame.to_dict().items():
        if column.null_count() == frame.height:
            continue
        found[name] = (
            [column.cast(pl.Float64).sum(), column.null_count()]
            if column.dtype.is_numeric()
            else zlib.crc32(repr(column.to_list()).encode())
        )
    return found
