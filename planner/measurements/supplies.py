"""Supply counters of alias pools from whatever has them: CSV, z/VM monitor data, an archive."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from planner.errors import InputError, ReportError
from planner.measurements.read import Source, read
from planner.reports.moments import MOMENT, with_moments
from planner.reports.monitor.blocks import is_monitor
from planner.reports.supply import PoolSupply, read_supply

if TYPE_CHECKING:
    import polars as pl

NEEDED: Final = {"time": "times", "tries": "requests for an alias", "fails": "those that found none free",
                 "aliases": "numbers of aliases"}  # fmt: skip


def read_supplies(
    path: Path | str, *, system: str | None = None, start: str | None = None, end: str | None = None
) -> tuple[PoolSupply, ...]:
    """Read the supply counters of all pools in a file or an archive; of some intervals, as `read` chooses them."""
    path = Path(path)
    if not path.is_dir() and not is_monitor(Source(path).head):
        for argument, value in (("system", system), ("start", start), ("end", end)):
            if value is not None:
                raise InputError(argument, value, "it with an archive or monitor data; a table has no dates")
        return read_supply(path)
    return pool_supplies(read(path, system=system, start=start, end=end).supply, path)


def pool_supplies(frame: pl.DataFrame, path: Path) -> tuple[PoolSupply, ...]:
    """Counters of each pool from the table of pools; of each system, where there are several."""
    if not frame.height:
        raise ReportError(path, "no alias pool with two records: expected counters of HyperPAV pools (D6R28)")
    for name, meaning in NEEDED.items():
        if frame[name].null_count():
            raise ReportError(path, f"pools without {meaning} ({name}): expected counters of z/VM (MRIODHPP)")
    several = frame["system"].n_unique() > 1
    ordered = with_moments(frame, "system").sort(MOMENT, "time", maintain_order=True)
    parts = ordered.partition_by("system", "pool", as_dict=True, maintain_order=True)
    found = [
        _supply(part, f"{system or 'unknown'}/{pool}" if several else str(pool), path)
        for (system, pool), part in parts.items()
    ]
    return tuple(sorted(found, key=lambda each: _by_number(each.pool)))


def _by_number(pool: str) -> tuple[bool, int, str]:
    number = pool.isascii() and pool.isdigit()
    return not number, int(pool) if number else 0, pool


def _supply(frame: pl.DataFrame, pool: str, path: Path) -> PoolSupply:
    """Counters of one pool; marks that nothing set, since nothing was tried, say that all aliases were free."""
    time, length = frame["time"].to_numpy(), frame["interval"].to_numpy()
    columns = {name: frame[name].cast(int).to_numpy() for name in ("tries", "fails", "aliases")}
    marks = {
        name: frame[name].fill_null(frame["aliases"]).cast(int).to_numpy()
        for name in ("fewest_free", "most_free")
    }
    for name in marks:
        unknown = frame[name].is_null() & (frame["tries"] > 0)
        if unknown.any():
            raise ReportError(
                path, f"pool {pool} without {name}: expected counters of z/VM (MRIODHPP), with water marks"
            )
    begin = frame["start"][0]
    return PoolSupply(
        pool=pool,
        start=None if begin is None else begin - timedelta(seconds=float(time[0] - length[0])),
        time=time, length=length, tries=columns["tries"], fails=columns["fails"], fewest=marks["fewest_free"],
        most=marks["most_free"], aliases=columns["aliases"], in_use=int(columns["aliases"][-1]),
        restarted=np.asarray(frame["restarted"].to_numpy(), bool), plain=np.asarray(frame["plain"].to_numpy(), bool),
        first=float(time[0] - length[0]), last=float(time[-1]),
    )  # fmt: skip
