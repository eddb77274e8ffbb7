"""The picture of what was read: response times of devices, fails of pools, resident pages of data spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from planner.errors import InputError
from planner.reports import schema
from planner.reports.pictures import PARTS, bars, stacked_times
from planner.units import MILLISECOND

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

    from planner.measurements.shown import MeasuredAnswer

SERVICE: Final = "service"


def draw(found: MeasuredAnswer, axes: Axes | None) -> Axes:
    """The first table that has rows; of several intervals the mean of each device, weighted by its I/Os."""
    table, kind = getattr(found.measured, found.kind), found.kind
    if not table.height:
        raise InputError("plot", found.headline, "measurements with rows")
    if kind == "devices":
        return _devices(found.headline, table, axes)
    if kind == "supply":
        return _supply(found.headline, table, axes)
    import polars as pl

    latest = table.sort("start", maintain_order=True).group_by("owner", "name", maintain_order=True).last()
    rows = latest.filter(pl.col("resident").is_not_null()).select("name", "resident").rows()
    return bars(found.headline, rows, "resident pages of 4 KB, last interval", "data space", axes)


def _devices(headline: str, table: pl.DataFrame, axes: Axes | None) -> Axes:
    import polars as pl

    name = pl.coalesce(pl.col("device"), pl.col("label"))
    busy = pl.col("io_rate").fill_null(0.0)
    wait = (pl.col("response") - pl.col("service")).clip(lower_bound=0.0)
    wait = pl.coalesce(wait, pl.col("queued") / pl.col("io_rate"))
    parts = [*(pl.col(part) for part in PARTS), wait.fill_nan(None).alias("wait"), pl.col("service")]
    known = table.with_columns(name.alias("name"), wait.alias("wait"), busy.alias("weight"), *parts[:-2])
    weighted = [
        (
            (pl.col(part) * pl.col("weight")).sum()
            / pl.col("weight").filter(pl.col(part).is_not_null()).sum()
        ).alias(part)
        for part in (*PARTS, "wait", SERVICE)
    ]
    means = known.group_by("name", maintain_order=True).agg(weighted).fill_nan(None)
    apart = means.select(pl.any_horizontal(pl.col(part).is_not_null().any() for part in PARTS)).item()
    shown = (*PARTS, "wait") if apart else (SERVICE, "wait")
    heights = {part: [(value or 0.0) / MILLISECOND for value in means[part].to_list()] for part in shown}
    aliases = bool((table["kind"].cast(pl.String) == schema.ALIAS).any())
    return stacked_times(headline, means["name"].to_list(), heights, aliases=aliases, axes=axes)


def _supply(headline: str, table: pl.DataFrame, axes: Axes | None) -> Axes:
    import polars as pl

    sums = table.group_by("pool", maintain_order=True).agg(pl.col("tries").sum(), pl.col("fails").sum())
    rows = [(f"{pool}", 100 * fails / tries if tries else 0.0) for pool, tries, fails in sums.rows()]
    return bars(headline, rows, "tries without alias [%]", "pool", axes)
