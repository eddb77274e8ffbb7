"""Supply counters of HyperPAV pools (D6R28) as rows of the table of pools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.reports import schema
from planner.reports.monitor.blocks import Integers
from planner.reports.monitor.counters import MOST_EVENTS, Pairs
from planner.results import Array

if TYPE_CHECKING:
    import polars as pl

USUAL: Final = (0.5, 1.5)  # an interval of a length between these times the usual one is not a gap
MARKS: Final = ("HPPMINCT", "HPPMAXCT")
Rows = NDArray[Any]


def above_aliases(rows: Rows, pairs: Pairs) -> tuple[int, str] | None:
    """Row and words of a water mark above the aliases that there were since the record before, where any were tried."""
    now, before = rows[pairs.now], rows[pairs.before]
    there = np.maximum(now["HPPNALIS"], before["HPPNALIS"])
    tried = now["HPPTRIES"] != before["HPPTRIES"]
    for name in MARKS:
        above = np.flatnonzero(tried & (now[name] > there))
        if above.size:
            row = int(above[0])
            pool, mark = now["HPPOOLNM"][row], now[name][row]
            return row, f"{name} of pool {pool} is {mark}: expected at most its {there[row]} aliases"
    return None


def supply(rows: Rows, pairs: Pairs, elapsed: Array, usual: float, common: dict[str, Any]) -> pl.DataFrame:
    """Rows of the table of pools; counters that began anew count since then."""
    now, before = rows[pairs.now], rows[pairs.before]
    rise, fell = {}, np.zeros(now.size, bool)
    for name in ("HPPTRIES", "HPPFAILS"):
        rise[name] = now[name].astype(np.uint32) - before[name].astype(np.uint32)
        fell |= (now[name] < before[name]) & (rise[name] > MOST_EVENTS * elapsed)
    counted = {name: np.where(fell, now[name], each).astype(np.int64) for name, each in rise.items()}
    same = now["HPPNALIS"] == before["HPPNALIS"]
    plain = (elapsed > USUAL[0] * usual) & (elapsed < USUAL[1] * usual) & ~fell & same
    marks = {name: np.where(now[name] > now["HPPNALIS"], -1, now[name].astype(np.int64)) for name in MARKS}
    data = common | {
        "pool": [str(number) for number in now["HPPOOLNM"].tolist()],
        "tries": counted["HPPTRIES"],
        "fails": counted["HPPFAILS"],
        "fewest_free": _known(marks["HPPMINCT"]),
        "most_free": _known(marks["HPPMAXCT"]),
        "aliases": now["HPPNALIS"].astype(np.int64),
        "bases": now["HPPNBASE"].astype(np.int64),
        "restarted": fell,
        "plain": plain,
    }
    return schema.frame(schema.SUPPLY, data, now.size)


def _known(marks: Integers) -> pl.Series:
    """Water marks; null where nothing was tried and the field holds what it began with."""
    import polars as pl

    return pl.Series(marks).set(pl.Series(marks < 0), None)


def counts_of(rows: Rows) -> dict[int, Integers]:
    """Bases and aliases of each pool."""
    return {int(each["HPPOOLNM"]): np.array([each["HPPNBASE"], each["HPPNALIS"]], np.int64) for each in rows}
