"""HyperPAV pools (D6R28), data spaces (D3R14), paging volumes (D3R4) and emulated devices (D6R24) as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.reports import schema
from planner.reports.monitor.layouts import Integers, text
from planner.reports.monitor.system import MOST_EVENTS, Pairs
from planner.reports.supply import USUAL
from planner.results import Array

if TYPE_CHECKING:
    import polars as pl

MARKS: Final = ("HPPMINCT", "HPPMAXCT")
Rows = NDArray[Any]
SPACE_RATES: Final = {
    "steal_rate": "ASCCSPST", "read_rate": "ASCCSPGR", "write_rate": "ASCCSPGW", "expanded_read_rate": "ASCCSXRD",
    "expanded_write_rate": "ASCCSXWT", "migration_rate": "ASCCSMIG",
}  # fmt: skip
SPACE_PAGES: Final = {
    "resident": "ASCCTPRS",
    "locked": "ASCCTPLK",
    "expanded": "ASCCTXBK",
    "dasd": "ASCCTPGS",
}
PAGING_RATES: Final = {
    "page_read_rate": "EXPCTPRD", "page_write_rate": "EXPCTPWR", "spool_read_rate": "EXPCTSRD",
    "spool_write_rate": "EXPCTSWR",
}  # fmt: skip
DEVICE: Final = schema.Heading("device", "String", "", "device number, four hexadecimal digits")
PAGING: Final = (
    *schema.WHEN,
    DEVICE,
    schema.Heading("label", "String", "", "volume label"),
    *(
        schema.Heading(name, "Float64", "1/s", f"pages {name.split('_')[1]}, {name.split('_')[0]} space")
        for name in PAGING_RATES
    ),
    schema.Heading("queued", "Float64", "", "requests queued when the sample was taken"),
    *schema.WHERE,
)
EMULATED_RATES: Final = {
    "transfer_rate": "DSKXFERS",
    "read_block_rate": "DSKBLKSR",
    "write_block_rate": "DSKBLKSW",
}
EMULATED: Final = (
    *schema.WHEN,
    DEVICE,
    schema.Heading("transfer_rate", "Float64", "1/s", "transfers of the disk"),
    schema.Heading("read_block_rate", "Float64", "1/s", "blocks read"),
    schema.Heading("write_block_rate", "Float64", "1/s", "blocks written"),
    schema.Heading("block_size", "UInt32", "bytes", "bytes of a block"),
    *schema.WHERE,
)


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
    rise = {name: pairs.rise(rows[name].astype(np.uint32)) for name in ("HPPTRIES", "HPPFAILS")}
    fell = np.zeros(now.size, bool)
    for name, each in rise.items():
        fell |= pairs.fell(rows[name]) & (each > MOST_EVENTS * elapsed)
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


def rates(
    rows: Rows, pairs: Pairs, elapsed: Array, fields: dict[str, str]
) -> tuple[dict[str, Array], NDArray[np.bool_]]:
    """Rates of counters, and the rows where one of them began anew."""
    found, restarted = {}, np.zeros(elapsed.size, bool)
    for name, counter in fields.items():
        values = rows[counter].astype(np.uint32)
        rise = pairs.rise(values)
        restarted |= pairs.fell(values) & (rise > MOST_EVENTS * elapsed)
        found[name] = rise / elapsed
    return found, restarted


def spaces(rows: Rows, pairs: Pairs, numbers: dict[str, Array], common: dict[str, Any]) -> pl.DataFrame:
    """Rows of the table of data spaces. The size of a space is left out: its unit is not documented."""
    now = rows[pairs.now]
    pages = {name: now[counter].astype(float) for name, counter in SPACE_PAGES.items()}
    data = dict(common)
    for name, values in (numbers | pages).items():
        data |= schema.exact(name, values)
    data |= {
        "owner": text(now["ASCUSRID"]),
        "name": text(now["ASCNAME"]),
        "users": now["ASCCTSPI"].astype(np.int64),
    }
    return schema.frame(schema.STORAGE, data, now.size)


def paging(rows: Rows, pairs: Pairs, numbers: dict[str, Array], common: dict[str, Any]) -> pl.DataFrame:
    """Rows of paging and spooling volumes."""
    now = rows[pairs.now]
    data = common | numbers | {"device": hexadecimal(now), "label": text(now["CALVSER"])}
    return schema.frame(PAGING, data | {"queued": now["EXPCURQC"].astype(float)}, now.size)


def emulated(rows: Rows, pairs: Pairs, numbers: dict[str, Array], common: dict[str, Any]) -> pl.DataFrame:
    """Rows of emulated devices."""
    now = rows[pairs.now]
    data = common | numbers | {"device": hexadecimal(now), "block_size": now["DSKBLKSZ"].astype(np.int64)}
    return schema.frame(EMULATED, data, now.size)


def hexadecimal(rows: Rows) -> list[str]:
    """Device numbers as four hexadecimal digits."""
    return [f"{number:04X}" for number in rows["RDEVDEV"].tolist()]
