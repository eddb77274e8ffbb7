"""Which of the measured intervals an answer is about: a span of time, the worst interval, the mean, or one moment."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from planner.errors import InputError
from planner.measurements.groups import GROUP_KEYS, group_keys
from planner.reports import schema

if TYPE_CHECKING:
    import polars as pl

WORST: Final = "worst"
MEAN: Final = "mean"
BY_TIME: Final = ("io_rate", "alias_rate", "avoided", "queued")  # the others are means over I/Os
_WANTED: Final = "worst, mean, or a time such as 2026-03-01T10:15"


def moment(text: str | datetime | None, argument: str) -> datetime | None:
    """Read a time; of one with an offset, the clock that it shows counts."""
    if text is None or isinstance(text, datetime):
        return None if text is None else text.replace(tzinfo=None)
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        raise InputError(argument, text, "a day or a time such as 2026-03-01 or 2026-03-01T10:15") from None


def within(frame: pl.DataFrame, start: datetime | None, end: datetime | None) -> pl.DataFrame:
    """Keep intervals that begin at `start` or later and before `end`; one without a date goes where either is given."""
    import polars as pl

    if start is not None:
        frame = frame.filter(pl.col("start") >= start)
    return frame if end is None else frame.filter(pl.col("start") < end)


def at_interval(devices: pl.DataFrame, which: str) -> pl.DataFrame:
    """Keep one interval of each device: the worst of its pool, the mean of all, or the one that holds a moment."""
    import polars as pl

    if which == MEAN:
        return _means(devices)
    if which == WORST:
        return _worst(devices)
    try:
        when = datetime.fromisoformat(which).replace(tzinfo=None)
    except ValueError:
        raise InputError("interval", which, _WANTED) from None
    end = pl.col("start") + pl.duration(microseconds=(pl.col("interval").fill_null(0.0) * 1e6).cast(pl.Int64))
    found = devices.filter((pl.col("start") <= when) & (end > when))
    if not found.height:
        first, last = devices["start"].min(), devices["start"].max()
        raise InputError(
            "interval", which, f"a time within a measured interval; they begin from {first!s} to {last!s}"
        )
    return found


def _worst(devices: pl.DataFrame) -> pl.DataFrame:
    """The interval in which most I/Os wait, and of those in which as many do, the busiest one."""
    import polars as pl

    keys = ["system", "source", "start", "utc_offset", *GROUP_KEYS]
    grouped = group_keys(devices.lazy()).collect()
    chosen = (
        grouped.group_by(keys)
        .agg(
            pl.col("queued").sum().alias("_queued"),
            (pl.col("io_rate") * pl.col("service").fill_null(0.0)).sum().alias("_busy"),
            pl.col("line").min().alias("_line"),
        )
        .sort("_queued", "_busy", "start", "_line", descending=[True, True, False, False])
        .unique(["system", *GROUP_KEYS], keep="first", maintain_order=True)
        .select(keys)
    )
    found = grouped.join(chosen, on=keys, how="semi", nulls_equal=True, maintain_order="left")
    return found.drop(GROUP_KEYS)


def _means(devices: pl.DataFrame) -> pl.DataFrame:
    """Rates and queues over time, times over I/Os, of each device."""
    import polars as pl

    about = ["system", "device", "kind", "label", "alias_of", "pool"]
    seconds = pl.col("interval").fill_null(1.0)
    ios = pl.col("io_rate").fill_null(0.0) * seconds
    means = [
        _mean(f"{name}{end}", seconds if name in BY_TIME else ios)
        for name in schema.DEVICE_NUMBERS
        for end in schema.ENDS
    ]
    firsts = [pl.col(name).first() for name in ("source", "utc_offset", "file", "line")]
    lasts = [pl.col(name).drop_nulls().last() for name in ("type", "pool_aliases", "links", "paths")]
    found = devices.group_by(about, maintain_order=True).agg(
        *means, *firsts, *lasts, pl.col("start").min(), pl.col("interval").sum()
    )
    return found.select(*schema.dtypes(schema.DEVICES))


def _mean(name: str, weight: pl.Expr) -> pl.Expr:
    import polars as pl

    there = pl.col(name).is_not_null()
    total = weight.filter(there).sum()
    mean = (pl.col(name) * weight).filter(there).sum() / total
    return pl.when(total > 0).then(mean).otherwise(None).alias(name)
