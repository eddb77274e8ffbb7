"""Reads the high-precision references of tests/exact."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from planner.results import Array

EXACT = Path(__file__).parents[1] / "exact"


def columns(name: str) -> dict[str, Array]:
    """Columns of a reference file by their heading."""
    with (EXACT / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def relative_error(found: Array, wanted: Array, *, floor: float = 0.0) -> Array:
    """|found / wanted - 1|; absolute in units of `floor` where the wanted value is smaller than that."""
    scale = np.maximum(np.abs(wanted), floor)
    return np.abs(found - wanted) / np.where(scale > 0, scale, 1.0)
