"""Supply counters of alias pools from whatever has them: CSV, z/VM monitor data, an archive."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from planner.errors import InputError, ReportError
from planner.measurements.columnar import is_columnar
from planner.measurements.formats import Source
from planner.measurements.read import read
from planner.reports.moments import MOMENT, with_moments
from planner.reports.monitor.records import is_monitor
from planner.reports.rmf import is_rmf_xml
from planner.reports.supply import Counts, PoolSupply, by_number, read_supply
from planner.reports.zos import is_pools

if TYPE_CHECKING:
    import polars as pl

NEEDED: Final = {"time": "times", "tries": "requests for an alias", "fails": "those that found none free",
                 "aliases": "numbers of aliases"}  # fmt: skip
AT_LEAST: Final = (
    "how many aliases it has was not measured: the most in use at once are taken; SMF 74-1 beside it says it."
)
Paths = Path | str | Sequence[Path | str]


def read_supplies(
    path: Paths, *, system: str | None = None, start: str | None = None, end: str | None = None
) -> tuple[PoolSupply, ...]:
    """Read the supply counters of all pools in files or an archive; of some intervals, as `read` chooses them."""
    paths = [Path(path)] if isinstance(path, str | Path) else [Path(each) for each in path]
    if len(paths) == 1 and not _in_the_one_table(paths[0]):
        for argument, value in (("system", system), ("start", start), ("end", end)):
            if value is not None:
                raise InputError(argument, value, "it with an archive or monitor data; a table has no dates")
        return read_supply(paths[0])
    measured = read(paths, system=system, start=start, end=end)
    return pool_supplies(measured.supply, paths[0], measured.notes)


def _in_the_one_table(path: Path) -> bool:
    """Whether a source is read by the one door; a table of counters has a reader of its own."""
    if path.is_dir() or is_columnar(path):
        return True
    source = Source(path)
    return is_monitor(source.head) or is_pools(source.headings) or is_rmf_xml(source.head)


def pool_supplies(frame: pl.DataFrame, path: Path, notes: Sequence[str] = ()) -> tuple[PoolSupply, ...]:
    """Counters of each pool, and system, from the table of pools, with `notes` on how they were read."""
    if not frame.height:
        raise ReportError(path, "no alias pool with two records: expected counters of HyperPAV pools (D6R28)")
    frame, told = _with_most_used(frame)
    for name, meaning in NEEDED.items():
        if frame[name].null_count():
            wanted = "expected counters of z/VM (MRIODHPP), or SMF 78-3 and 74-1"
            raise ReportError(path, f"pools without {meaning} ({name}): {wanted}")
    several = frame["system"].n_unique() > 1
    ordered = with_moments(frame, "system").sort(MOMENT, "time", maintain_order=True)
    parts = ordered.partition_by("system", "pool", as_dict=True, maintain_order=True)
    found = [
        _supply(part, f"{system or 'unknown'}/{pool}" if several else str(pool), path, told, notes)
        for (system, pool), part in parts.items()
    ]
    return tuple(sorted(found, key=lambda each: by_number(each.pool)))


def _with_most_used(frame: pl.DataFrame) -> tuple[pl.DataFrame, set[str]]:
    """Where only the most aliases in use at once were counted: what was free, and at least so many aliases."""
    import polars as pl

    used = pl.col("most_used")
    lower = pl.col("aliases").is_null() & used.is_not_null()
    told = set(frame.filter(lower)["pool"])
    at_least = used.max().over("system", "pool")
    aliases = pl.coalesce("aliases", at_least).cast(pl.UInt32)
    free = (aliases.cast(pl.Int64) - used.cast(pl.Int64)).clip(0).cast(pl.UInt32)
    return frame.with_columns(aliases=aliases, fewest_free=pl.coalesce("fewest_free", free)), told


def _supply(frame: pl.DataFrame, pool: str, path: Path, told: set[str], said: Sequence[str]) -> PoolSupply:
    """Counters of one pool; marks that nothing set, since nothing was tried, say that all aliases were free."""
    by_use = bool(frame["most_used"].is_not_null().any())
    time, length = frame["time"].to_numpy(), frame["interval"].to_numpy()
    columns = {name: frame[name].cast(int).to_numpy() for name in ("tries", "fails", "aliases")}
    marks = {
        name: frame[name].fill_null(frame["aliases"]).cast(int).to_numpy()
        for name in ("fewest_free", "most_free")
    }
    for name in ("fewest_free",) if by_use else marks:
        unknown = frame[name].is_null() & (frame["tries"] > 0)
        if unknown.any():
            raise ReportError(
                path, f"pool {pool} without {name}: expected counters of z/VM (MRIODHPP), with water marks"
            )
    notes = [*(said if by_use else ()), *([AT_LEAST] if frame["pool"][0] in told else [])]
    begin = frame["start"][0]
    return PoolSupply(
        pool=pool,
        start=None if begin is None else begin - timedelta(seconds=float(time[0] - length[0])),
        time=time, length=length, tries=columns["tries"], fails=columns["fails"], fewest=marks["fewest_free"],
        most=marks["most_free"], aliases=columns["aliases"], in_use=int(columns["aliases"][-1]),
        restarted=np.asarray(frame["restarted"].to_numpy(), bool), plain=np.asarray(frame["plain"].to_numpy(), bool),
        first=float(time[0] - length[0]), last=float(time[-1]), marked=not by_use, borrowed=_times(frame, "borrowed"),
        loaned=_times(frame, "loaned"), notes=tuple(notes),
    )  # fmt: skip


def _times(frame: pl.DataFrame, name: str) -> Counts | None:
    """How often something was done in each interval, from its rate; None where the source does not say."""
    if frame[name].null_count() == frame.height:
        return None
    return np.asarray((frame[name].fill_null(0.0) * frame["interval"]).round().cast(int).to_numpy())
