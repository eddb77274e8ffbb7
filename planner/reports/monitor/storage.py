"""Data spaces (D3R14), paging volumes (D3R4) and emulated devices (D6R24) as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.reports import schema
from planner.reports.monitor.counters import MOST_EVENTS, Pairs
from planner.reports.monitor.layouts import text
from planner.results import Array

if TYPE_CHECKING:
    import polars as pl

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
PAGING: Final = (
    *schema.WHEN,
    schema.Heading("device", "String", "", "device number, four hexadecimal digits"),
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
    schema.Heading("device", "String", "", "device number, four hexadecimal digits"),
    schema.Heading("transfer_rate", "Float64", "1/s", "transfers of the disk"),
    schema.Heading("read_block_rate", "Float64", "1/s", "blocks read"),
    schema.Heading("write_block_rate", "Float64", "1/s", "blocks written"),
    schema.Heading("block_size", "UInt32", "bytes", "bytes of a block"),
    *schema.WHERE,
)


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


def _ends(numbers: dict[str, Any]) -> dict[str, Any]:
    return {f"{name}{end}": values for name, values in numbers.items() for end in schema.ENDS}


def spaces(rows: Rows, pairs: Pairs, numbers: dict[str, Array], common: dict[str, Any]) -> pl.DataFrame:
    """Rows of the table of data spaces. The size of a space is left out: its unit is not documented."""
    now = rows[pairs.now]
    pages = {name: now[counter].astype(float) for name, counter in SPACE_PAGES.items()}
    data = common | _ends(numbers) | _ends(pages)
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
