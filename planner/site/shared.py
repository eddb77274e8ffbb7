"""Control units that several systems use: one pool of all of them, and the share of each system in its load."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from planner.errors import ReportError
from planner.measurements.groups import POOL, Group
from planner.reports import schema
from planner.reports.csv_table import read_csv
from planner.reports.moments import MOMENT, with_moments

if TYPE_CHECKING:
    import polars as pl

COLUMNS: Final = ("system", "pool", "ssid")
BUSIEST: Final = 0.01  # share of the intervals whose load the systems' shares are of
TIMES: Final = ("pend", "disconnect", "connect", "service", "response", "cu_wait")
SUMS: Final = ("io_rate", "alias_rate", "avoided", "queued", "utilization")

Shared = Mapping[str, tuple[tuple[str, str], ...]]
"""Systems and pools by the subsystem id that they share."""


def is_shared(path: Path | str) -> bool:
    """Whether a file says which pools systems share, not which devices are members of pools."""
    try:
        with Path(path).open(encoding="utf-8-sig", errors="replace") as file:
            heads = {word.strip(' "\n').lower() for word in file.readline().split(",")}
    except OSError:
        return False
    return set(COLUMNS) <= heads


def read_shared(path: Path | str) -> Shared:
    """Read which pools of which systems are one control unit."""
    table = read_csv(path, COLUMNS, "pools that systems share")
    found: dict[str, list[tuple[str, str]]] = {}
    known: dict[tuple[str, str], str] = {}
    rows = zip(*(table.texts(name) for name in COLUMNS), strict=True)
    for row, (system, pool, ssid) in enumerate(rows):
        for name, cell in zip(COLUMNS, (system, pool, ssid), strict=True):
            if not cell:
                raise table.error(row, name, "is empty: expected system, pool and ssid in each row")
        if (system, pool) in known:
            raise table.error(row, "pool", f"{pool} of {system} a second time: expected each pool once")
        known[system, pool] = ssid
        found.setdefault(ssid, []).append((system, pool))
    return {ssid: tuple(members) for ssid, members in found.items() if len(members) > 1}


def check_members(shared: Shared, groups: list[Group], path: Path | str) -> None:
    """Refuse members that were not measured."""
    there = {(each.system, each.name) for each in groups}
    for ssid, members in shared.items():
        for system, pool in members:
            if (system, pool) not in there:
                raise ReportError(
                    Path(path), f"pool {pool} of {system or 'no system'} of control unit {ssid} has no measurements: "
                    "expected pools that were measured",
                )  # fmt: skip


def joined(
    frame: pl.LazyFrame, ssid: str, members: tuple[tuple[str, str], ...]
) -> tuple[Group, pl.DataFrame, dict[str, float], int]:
    """Rows of all systems as of one: sums of rates and queues of each device, means of times over I/Os.

    Only intervals that all of them measured; how many others there are comes last.
    """
    import polars as pl

    wanted = pl.DataFrame(
        {"system": [system for system, _ in members], "pool": [pool for _, pool in members]}
    )
    rows = with_moments(frame.join(wanted.lazy(), on=["system", "pool"], how="semi").collect())
    systems = rows.group_by(MOMENT, "interval").agg(pl.col("system").n_unique().alias("systems"))
    everywhere = systems.filter(pl.col("systems") == len({system for system, _ in members}))
    left_out = systems.height - everywhere.height
    rows = rows.join(everywhere.select(MOMENT, "interval"), on=[MOMENT, "interval"], how="semi")
    load = (pl.col("io_rate") * pl.col("service")).sum()
    by_time = rows.group_by(MOMENT).agg(load.alias("load")).sort("load", descending=True)
    busiest = by_time.head(max(int(BUSIEST * by_time.height), 1)).select(MOMENT)
    of_busiest = rows.join(busiest, on=MOMENT, how="semi").group_by("system").agg(load.alias("load"))
    total = float(of_busiest["load"].sum()) or 1.0
    shares = {str(system): float(value) / total for system, value in of_busiest.sort("system").rows()}
    name = "+".join(sorted({system for system, _ in members}))
    ends = schema.ENDS
    rate = pl.col("io_rate").fill_null(0.0)
    times = [
        pl.when(rate.sum() > 0)
        .then((pl.col(f"{number}{end}") * rate).sum() / rate.filter(pl.col(f"{number}{end}").is_not_null()).sum())
        .otherwise(pl.col(f"{number}{end}").first())
        .alias(f"{number}{end}")
        for number in TIMES for end in ends
    ]  # fmt: skip
    sums = [
        pl.when(pl.col(f"{number}{end}").null_count() == 0).then(pl.col(f"{number}{end}").sum()).alias(f"{number}{end}")
        for number in SUMS for end in ends
    ]  # fmt: skip
    firsts = [
        pl.col(column).first()
        for column in ("source", "start", "utc_offset", "type", "alias_of", "links", "paths", "file", "line")
    ]
    found = (
        rows.group_by(MOMENT, "interval", "device", "label", "kind", maintain_order=True)
        .agg(*times, *sums, *firsts, pl.col("pool_aliases").max(), pl.col("together").max())
        .with_columns(pl.lit(name).alias("system"), pl.lit(ssid).alias("pool"))
    )
    whole = schema.frame(
        schema.DEVICES, {column: found[column] for column in schema.dtypes(schema.DEVICES)}, found.height
    )
    return Group(name, POOL, ssid, members), whole, shares, left_out
