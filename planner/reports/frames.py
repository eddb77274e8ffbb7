"""What the readers of listings and counters found, as the tables of `planner.reports.schema`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from planner.reports import schema
from planner.reports.dspacesh import PAGES, RATES, DataSpaceListing
from planner.reports.moments import clock
from planner.reports.printed import Printed

if TYPE_CHECKING:
    import polars as pl

    from planner.reports.membership import Membership
    from planner.reports.supply import PoolSupply
    from planner.reports.volume_counters import CountedVolumes


def storage_frame(listings: Sequence[DataSpaceListing]) -> pl.DataFrame:
    """Rows of DSPACESH listings."""
    pairs = [(listing, row) for listing in listings for row in listing.rows]
    data: dict[str, Any] = _when(listings)
    data |= {
        "release": [listing.release for listing, _ in pairs],
        "owner": [row.owner for _, row in pairs],
        "name": [row.name for _, row in pairs],
        "users": [row.users for _, row in pairs],
        "line": [row.line for _, row in pairs],
    }
    for name in (*RATES, *PAGES):
        data |= _ends(name, [getattr(row, name) for _, row in pairs])
    return schema.frame(schema.STORAGE, data, len(pairs))


def _when(listings: Sequence[DataSpaceListing]) -> dict[str, Any]:
    """What the head of each row's listing says."""
    heads = [listing for listing in listings for _ in listing.rows]
    return {
        "system": [head.system or None for head in heads],
        "source": [head.run or None for head in heads],
        "start": [head.start if isinstance(head.start, datetime) else None for head in heads],
        "interval": [head.interval for head in heads],
        "file": [str(head.path) for head in heads],
    }


def _ends(name: str, printed: Sequence[Printed | None]) -> dict[str, list[float | None]]:
    parts = ("value", "low", "high")
    return {
        f"{name}{end}": [None if each is None else getattr(each, part) for each in printed]
        for end, part in zip(schema.ENDS, parts, strict=True)
    }


def supply_frame(pools: Sequence[PoolSupply], path: Path) -> pl.DataFrame:
    """Intervals of supply counters."""
    parts = []
    for pool in pools:
        if not pool.time.size:
            continue
        starts = pool.time - pool.length
        data = {
            **_clock(pool.start, starts),
            "interval": pool.length,
            "time": pool.time,
            "pool": pool.pool,
            "tries": pool.tries,
            "fails": pool.fails,
            "fewest_free": pool.fewest,
            "most_free": pool.most,
            "aliases": pool.aliases,
            "restarted": pool.restarted,
            "plain": pool.plain,
            "file": str(path),
        }
        parts.append(schema.frame(schema.SUPPLY, data, len(pool.time)))
    return schema.join(schema.SUPPLY, parts)


def _clock(start: datetime | None, seconds: Any) -> Mapping[str, Any]:
    """Starts of intervals that lie so many seconds after a moment; null without one."""
    import polars as pl

    if start is None:
        return {}
    (_,), (offset,) = clock([start])
    moments = np.datetime64(start.replace(tzinfo=None), "us") + np.round(seconds * 1e6).astype(
        "timedelta64[us]"
    )
    return {
        "start": pl.Series(moments, dtype=pl.Datetime("us")),
        "utc_offset": offset,
    }


def volumes_frame(counted: CountedVolumes) -> tuple[pl.DataFrame, list[str]]:
    """Intervals of volume counters, those of devices that are aliases left out, and notes on how they were read."""
    from planner.reports.volume_counters import alias_devices

    aliases, notes = alias_devices(counted)
    parts = []
    for device, each in counted.devices.items():
        if device in aliases:
            continue
        ios, times = each.counted[0] + each.counted[4], each.counted[1:4] + each.counted[5:8]
        busy = ios > 0
        mean = np.where(busy, times / np.where(busy, ios, 1.0), np.nan)
        rate = ios / each.seconds
        service = np.where(busy, times.sum(axis=0) / np.where(busy, ios, 1.0), np.nan)
        numbers = {
            "io_rate": rate, "alias_rate": each.counted[4] / each.seconds, "pend": mean[0], "connect": mean[1],
            "disconnect": mean[2], "service": service,
        }  # fmt: skip
        if each.queued is not None:
            numbers["queued"] = each.queued
            numbers["response"] = service + np.where(busy, each.queued / np.where(busy, rate, 1.0), np.nan)
        data: dict[str, Any] = {
            "device": device, "kind": schema.VOLUME, "interval": each.seconds, "file": str(counted.table.path),
            "line": counted.table.line_numbers[each.rows], **_clock(counted.start, each.ends - each.seconds),
        }  # fmt: skip
        data |= {f"{name}{end}": values for name, values in numbers.items() for end in schema.ENDS}
        parts.append(schema.frame(schema.DEVICES, data, each.seconds.size))
    return nan_to_null(with_pools(schema.join(schema.DEVICES, parts), counted.membership)), notes


def nan_to_null(frame: pl.DataFrame) -> pl.DataFrame:
    """Take numbers that do not exist as such."""
    import polars as pl

    return frame.with_columns(pl.col(pl.Float64).fill_nan(None))


def with_pools(frame: pl.DataFrame, membership: Membership | None) -> pl.DataFrame:
    """Set pool, aliases of the pool and role of each device that is a member."""
    import polars as pl

    if membership is None or not membership.members:
        return frame
    members = membership.members
    pool = {device: member.pool for device, member in members.items()}
    counts = {name: len(membership.of(name, "alias")) for name in membership.pools}
    device = pl.col("device")
    role = pl.Series([members[name].role for name in members], dtype=pl.Enum(schema.KINDS))
    plain = pl.col("kind").is_in([schema.BASE, schema.ALIAS, schema.OTHER])
    return frame.with_columns(
        pl.coalesce(device.replace_strict(list(pool), list(pool.values()), default=None, return_dtype=pl.String),
                    pl.col("pool")).alias("pool"),
        pl.coalesce(device.replace_strict(list(pool), [counts[name] for name in pool.values()], default=None,
                                          return_dtype=pl.UInt16), pl.col("pool_aliases")).alias("pool_aliases"),
        pl.coalesce(device.replace_strict(list(members), [member.together for member in members.values()],
                                          default=None, return_dtype=pl.Float64), pl.col("together")).alias("together"),
        pl.when(plain & device.is_in(list(members)))
        .then(device.replace_strict(list(members), role, default=None, return_dtype=pl.Enum(schema.KINDS)))
        .otherwise(pl.col("kind")).alias("kind"),
    )  # fmt: skip
