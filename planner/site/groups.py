"""Pools and volumes of a site, each over its intervals: from rows of the one table to arrays over time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import InputError, ReportError
from planner.interval import Interval
from planner.measurements.choose import refuse_twice
from planner.measurements.rows import Rows
from planner.measurements.run import QUEUE_NEGLIGIBLE, Run
from planner.measurements.systems import LEAST_ERROR, pool_runs, volume_runs
from planner.render.text import counted
from planner.reports import schema
from planner.reports.moments import MOMENT, with_moments
from planner.results import Array
from planner.site.series import daily_medians, jump_note

if TYPE_CHECKING:
    import polars as pl

POOL: Final = "pool"
SYSTEM: Final = "system"  # HyperPAV aliases at work, and nothing says of which pool
VOLUME: Final = "volume"
MEMBERS: Final = 0.5  # share of the usual volumes that an interval must hold
SAME_LENGTH: Final = 0.02
TEN: Final = 10.0  # hours from which on no decimal is shown
KEYS: Final = ("start", "utc_offset", "file", "source")
GROUP: Final = "_group"
INTERVAL: Final = "_interval"


@dataclass(frozen=True, slots=True)
class Group:
    """A pool, the devices of a system without one, or a volume: `kind` and `name` of `system`.

    `members` are the systems that share it, where it is a control unit of several.
    """

    system: str
    kind: str
    name: str
    members: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> str:
        """For a message."""
        return f"{self.system}/{self.name}" if self.system else self.name


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """A group over its intervals, arrays (intervals,) in the order of time.

    `load` is the sum of rate x service [erlang], `overflow` and `crowd` are sums over the volumes of their own shares
    of what spills to aliases; `service` is their mean and `queue` their sum between what the digits leave open,
    `queued` the latter's value, nan where no queue was measured; `thumb` is that of the rule of thumb. `paths` are the
    most channel paths of a device.
    """

    group: Group
    frame: pl.DataFrame
    start: NDArray[np.datetime64]
    seconds: Array
    rows: NDArray[np.int64]
    volumes: NDArray[np.int64]
    in_use: NDArray[np.int64]
    io_rate: Array
    load: Array
    overflow: Array
    crowd: Array
    service: Interval
    queued: Array
    queue: Interval
    thumb: Array
    paths: float
    complete: NDArray[np.bool_]
    notes: tuple[str, ...] = field(default=())

    @property
    def response(self) -> Array:
        """Service and queue over rate [s]; nan where no queue was measured."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((self.load + self.queued) / self.io_rate)

    def run(self, interval: int) -> Run | None:
        """One interval as `planner aliases` reads it; None without I/O."""
        import polars as pl

        rows = Rows(self.frame.filter(pl.col(INTERVAL) == int(self.rows[interval])))
        if self.group.kind == VOLUME:
            return volume_runs(rows)[0]
        ((pool,), _) = pool_runs(rows)
        return pool.run


def group_keys(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Add the columns that say which rows go together: kind of the group, and its name.

    Where HyperPAV aliases are at work and nothing says of which pool, all devices of the system go together.
    """
    import polars as pl

    lost = (pl.col("kind") == schema.ALIAS).fill_null(False) & pl.col("pool").is_null()
    without = pl.col("pool").is_null()
    shared = lost.any().over(pl.col("system").fill_null(""))
    own = pl.coalesce(pl.col("alias_of"), pl.col("device"), pl.col("label")).fill_null("")
    kind = pl.when(~without).then(pl.lit(POOL)).when(shared).then(pl.lit(SYSTEM)).otherwise(pl.lit(VOLUME))
    name = pl.when(~without).then(pl.col("pool")).when(shared).then(pl.lit("all devices")).otherwise(own)
    return frame.with_columns(kind.alias("_kind"), name.alias(GROUP))


def groups_of(frame: pl.LazyFrame) -> list[Group]:
    """Groups of a table of devices, in the order of their names; other devices than disks are left out."""
    import polars as pl

    columns = ("system", "device", "label", "kind", "alias_of", "pool")
    about = frame.select(columns).filter(pl.col("kind") != schema.OTHER).unique().collect()
    found = (
        group_keys(about.lazy())
        .select(pl.col("system").fill_null(""), "_kind", GROUP)
        .unique()
        .sort("system", GROUP)
    ).collect()
    return [Group(system, kind, name) for system, kind, name in found.rows()]


def keyed(frame: pl.DataFrame, groups: Sequence[Group]) -> pl.DataFrame:
    """Rows that are all of some groups, with the columns that name group and kind."""
    return rows_of(frame.lazy(), groups)


def rows_of(frame: pl.LazyFrame, groups: Sequence[Group]) -> pl.DataFrame:
    """Rows of some groups, with columns that name group and kind."""
    import polars as pl

    wanted = pl.DataFrame(
        {"_system": [each.system for each in groups], "_kind": [each.kind for each in groups],
         GROUP: [each.name for each in groups]}
    )  # fmt: skip
    pools = [each.name for each in groups if each.kind == POOL]
    near = pl.col("pool").is_in(pools)
    if len(pools) < len(groups):
        near = near | pl.col("pool").is_null()
    found = frame.filter(near & (pl.col("kind") != schema.OTHER)).with_columns(
        pl.col("system").fill_null("").alias("_system")
    )
    kept = group_keys(found).join(wanted.lazy(), on=["_system", "_kind", GROUP], how="semi")
    return kept.collect()


def series_of(frame: pl.DataFrame, groups: Sequence[Group]) -> Iterator[tuple[Group, Series | str]]:
    """Each group over its intervals, or why it has none."""
    parts = frame.partition_by("_system", "_kind", GROUP, as_dict=True)
    for group in groups:
        part = parts.get((group.system, group.kind, group.name))
        if part is None or not part.height:
            yield group, "no rows of its devices"
            continue
        try:
            yield group, _series(group, part)
        except (InputError, ReportError) as problem:
            yield group, str(problem)


def _series(group: Group, frame: pl.DataFrame) -> Series:
    import polars as pl

    dated = frame["start"].is_not_null()
    key = [
        pl.col(MOMENT),
        *(pl.when(pl.col("start").is_null()).then(pl.col(name)).alias(name) for name in ("file", "source")),
    ]
    frame = with_moments(frame).with_columns(pl.struct(key).rank("dense").alias(INTERVAL)).drop(MOMENT)
    base = pl.col("kind").is_in([schema.BASE, schema.VOLUME])
    refuse_twice(frame)
    rate = pl.col("io_rate").fill_null(0.0)
    load = rate * pl.col("service").fill_null(0.0)
    alone = load.clip(0.0, 0.98)
    queue = pl.coalesce(
        pl.col("queued"), ((pl.col("response") - pl.col("service")) * rate).clip(lower_bound=0.0)
    )
    wait = pl.when(load > 0).then(queue / load).otherwise(0.0)
    counted = rate * pl.col("interval").fill_null(0.0)
    error = (
        pl.when(pl.col("kind") == schema.VOLUME)
        .then(pl.max_horizontal(LEAST_ERROR, 1.0 / counted.clip(lower_bound=1.0).sqrt()))
        .otherwise(0.0)
    )
    ends = {
        "low": pl.min_horizontal(pl.coalesce(pl.col("queued_low"), queue), queue * (1 - error)).clip(
            lower_bound=0.0
        ),
        "high": pl.max_horizontal(pl.coalesce(pl.col("queued_high"), queue), queue * (1 + error)),
    }
    sides = {
        "low": pl.min_horizontal(pl.col("service_low"), pl.col("service") * (1 - error)),
        "high": pl.max_horizontal(pl.col("service_high"), pl.col("service") * (1 + error)),
    }
    worked = base & (rate > 0)
    found = (
        frame.lazy()
        .group_by(INTERVAL)
        .agg(
            pl.col("start").first(),
            pl.col("utc_offset").first(),
            pl.col("interval").max().alias("seconds"),
            pl.col("interval").min().alias("shortest"),
            worked.sum().alias("volumes"),
            base.sum().alias("bases"),
            (pl.col("kind") == schema.ALIAS).sum().alias("aliases"),
            (pl.col("kind") == schema.CLASSIC_ALIAS).sum().alias("classic"),
            pl.col("pool_aliases").max().fill_null(0).alias("stated"),
            rate.sum().alias("io_rate"),
            load.sum().alias("load"),
            (alone**2 / (1 + alone)).filter(base).sum().alias("overflow"),
            (load * wait / (1 + wait)).filter(base).sum().alias("crowd"),
            queue.filter(base).sum().alias("queued"),
            queue.filter(base & (queue >= QUEUE_NEGLIGIBLE)).sum().alias("thumb"),
            (queue.is_null() & worked).any().alias("unknown"),
            *(end.filter(base).sum().alias(f"queued_{name}") for name, end in ends.items()),
            *((rate * side).fill_null(0.0).sum().alias(f"busy_{name}") for name, side in sides.items()),
        )
        .sort("start", INTERVAL)
        .collect()
    )
    if not found["bases"].cast(pl.Int64).sum():
        raise InputError("members", group.words, "a base device among its members; there are aliases alone")

    def array(name: str) -> Array:
        return np.asarray(found[name].cast(pl.Float64).fill_null(np.nan).to_numpy(), dtype=np.float64)

    bases = array("bases")
    usual = float(np.quantile(bases, 0.9))
    complete = bases >= MEMBERS * usual
    unknown = found["unknown"].to_numpy()
    stated = (
        np.maximum(array("aliases"), array("stated"))
        if group.kind != VOLUME
        else np.maximum(array("classic"), array("stated"))
    )
    seconds = np.nan_to_num(array("seconds"), nan=1.0)
    start = found["start"].to_numpy().astype("datetime64[us]")
    rates = np.maximum(array("io_rate"), 1e-300)
    most_paths: Any = frame["paths"].max()
    notes = _notes(
        start, seconds, bases, usual, complete, all_dated=bool(dated.all()), clock=array("utc_offset")
    )
    if dated.all():
        notes += _unit_notes(start, array("io_rate"), array("load"))
    return Series(
        group=group, frame=frame, start=start, seconds=seconds,
        rows=found[INTERVAL].to_numpy().astype(np.int64), volumes=found["volumes"].to_numpy().astype(np.int64),
        in_use=stated.astype(np.int64), io_rate=array("io_rate"), load=array("load"), overflow=array("overflow"),
        crowd=array("crowd"), queued=np.where(unknown, np.nan, array("queued")),
        queue=Interval(*(array(name) for name in ("queued_low", "queued", "queued_high"))),
        service=Interval(*(array(name) / rates for name in ("busy_low", "load", "busy_high"))),
        thumb=np.where(unknown, np.nan, array("thumb")), paths=math.nan if most_paths is None else float(most_paths),
        complete=complete, notes=tuple(notes),
    )  # fmt: skip


def _notes(
    start: NDArray[np.datetime64], seconds: Array, bases: Array, usual: float, complete: NDArray[np.bool_], *,
    all_dated: bool, clock: Array,
) -> list[str]:  # fmt: skip
    """Say what is uneven: gaps, lengths, members without rows."""
    notes = []
    if not complete.all():
        notes.append(
            f"{int((~complete).sum())} of {complete.size} intervals hold rows of less than half of its volumes: "
            "not answered"
        )
    few = int((complete & (bases < usual)).sum())
    if few:
        lacking = counted(few, "interval")
        notes.append(f"rows of some volumes missing in {lacking}: taken as without I/O there")
    usual_length = float(np.median(seconds))
    uneven = np.abs(seconds / usual_length - 1) > SAME_LENGTH
    if uneven.any():
        notes.append(
            f"intervals of {seconds.min():.0f} to {seconds.max():.0f} s: shares are of time, and a long interval hides "
            "its worst minutes"
        )
    if all_dated and start.size > 1:
        steps = np.diff(start).astype(np.float64) / 1e6
        gaps = steps > 1.5 * np.maximum(seconds[:-1], 1.0)
        if gaps.any():
            missing = float((steps - seconds[:-1])[gaps].sum()) / 3600.0
            shown = f"{missing:.0f}" if missing >= TEN else f"{missing:.2g}"
            hours = "hour" if shown == "1" else "hours"
            notes.append(
                f"{counted(int(gaps.sum()), 'gap')}, {shown} {hours} without measurements: nothing is said of them"
            )
        early = steps < (1 - SAME_LENGTH) * seconds[:-1]
        back = early & (np.nan_to_num(np.diff(clock)) != 0)
        if back.any():
            many = counted(int(back.sum()), "interval")
            notes.append(f"clock set back by {many}, as where summer time ends: both hours count")
        if (early & ~back).any():
            at, when = int(np.flatnonzero(early & ~back)[0]), start.astype("datetime64[s]")
            notes.append(
                f"{counted(int((early & ~back).sum()), 'interval')} longer than the time to the next one, the first of "
                f"{seconds[at]:.0f} s at {when[at]} with {steps[at]:.0f} s to the next: shares "
                "of the time count both; check the length of the intervals (interval_s)"
            )
    return notes


def _unit_notes(start: NDArray[np.datetime64], rate: Array, load: Array) -> list[str]:
    """Say where rates or service times change as a unit does."""
    there = rate > 0
    if not there.any():
        return []
    service = load[there] / rate[there]
    return [
        note.rstrip(".")
        for what, numbers in (("I/O rate", rate[there]), ("service time", service))
        for note in jump_note(what, *daily_medians(start[there], numbers))
    ]
