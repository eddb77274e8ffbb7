"""A pool or volume over its intervals: what was measured in each, as the runs that an answer is made of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from planner.errors import InputError, PlannerError, ReportError
from planner.measurements.choose import GROUP_KEYS, VOLUME, Group, refuse_twice
from planner.measurements.rows import Rows
from planner.measurements.run import Run
from planner.measurements.systems import pool_runs, volume_runs
from planner.reports.moments import MOMENT, with_moments
from planner.reports.schema import ALIAS, CLASSIC_ALIAS
from planner.results import Array

if TYPE_CHECKING:
    import polars as pl

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunsOverTime:
    """A group over its intervals, arrays (intervals,) in the order of time."""

    group: Group  # which pool or volume
    start: NDArray[np.datetime64]  # begin of each interval, NaT without a date
    seconds: Array  # length of each, 1 where the source does not say; clock of the system less UTC
    clock: Array
    bases: Counts  # rows of bases, those that did I/O, aliases
    volumes: Counts
    in_use: Counts
    runs: tuple[Run | PlannerError | None, ...]  # what was measured; None without I/O
    io_rate: Array  # sums over the devices: rate [1/s], rate x service [erlang], I/Os waiting
    load: Array
    queued: Array
    thumb: Array  # the queue that the rule of thumb takes; nan where not measured
    paths: float  # most channel paths of a device; nan where the source does not say

    @property
    def response(self) -> Array:
        """Service and queue over rate [s]; nan where no queue was measured."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((self.load + self.queued) / self.io_rate)


def over_time(frame: pl.DataFrame, groups: Sequence[Group]) -> Iterator[tuple[Group, RunsOverTime | str]]:
    """Each of some groups over its intervals, or why it has none; `frame` is as `rows_of` gives it."""
    parts = frame.partition_by("_system", *GROUP_KEYS, as_dict=True)
    for group in groups:
        part = parts.get((group.system, group.kind, group.name))
        try:
            yield group, "no rows of its devices" if part is None else runs_of(part, group)
        except (InputError, ReportError) as problem:
            yield group, str(problem)


def runs_of(frame: pl.DataFrame, group: Group) -> RunsOverTime:
    """Cut the rows of one group into its intervals, and read each as `planner aliases` does."""
    import polars as pl

    undated = (
        pl.when(pl.col("start").is_null()).then(pl.col(name)).alias(f"_{name}") for name in ("file", "source")
    )
    refuse_twice(frame)
    frame = with_moments(frame.with_columns(*undated))
    keys = [MOMENT, "_file", "_source"]
    frame = frame.sort(*keys, "device", "label", nulls_last=False)
    rows = Rows(frame)
    if not rows.is_base.any():
        raise InputError("members", group.words, "a base device among its members; there are aliases alone")
    first = np.flatnonzero(frame.select(pl.struct(keys).is_first_distinct()).to_series())
    own = rows.of_kind(CLASSIC_ALIAS if group.kind == VOLUME else ALIAS)
    stated = np.where(rows.is_base, np.nan_to_num(rows.pool_aliases), 0.0)
    aliases = np.maximum(np.add.reduceat(own, first, dtype=np.int64), np.maximum.reduceat(stated, first))
    ends = np.append(first[1:], len(rows))
    place = np.arange(len(rows))
    runs = tuple(_run(rows[place[begin:end]], group) for begin, end in zip(first, ends, strict=True))
    queues = np.array([_queues(run) for run in runs])
    rate = rows.filled("io_rate")
    most_paths: Any = frame["paths"].max()
    return RunsOverTime(
        group=group, start=frame["start"].to_numpy().astype("datetime64[us]")[first],
        seconds=np.nan_to_num(np.fmax.reduceat(rows.seconds, first), nan=1.0),
        clock=frame["utc_offset"].cast(pl.Float64).fill_null(np.nan).to_numpy()[first],
        bases=np.add.reduceat(rows.is_base, first, dtype=np.int64),
        volumes=np.add.reduceat(rows.is_base & (rate > 0), first, dtype=np.int64),
        in_use=np.array(
            [run.aliases if isinstance(run, Run) else int(many) for run, many in zip(runs, aliases, strict=True)]
        ),
        runs=runs, io_rate=np.add.reduceat(rate, first), load=np.add.reduceat(rate * rows.filled("service"), first),
        queued=queues[:, 0], thumb=queues[:, 1],
        paths=math.nan if most_paths is None else float(most_paths),
    )  # fmt: skip


def _run(rows: Rows, group: Group) -> Run | PlannerError | None:
    """One interval; None without I/O."""
    if (rows.numbers["io_rate"].value[rows.is_base] == 0).all():
        return None
    try:
        if group.kind == VOLUME:
            return volume_runs(rows)[0]
        ((pool,), _) = pool_runs(rows)
        return pool.run
    except PlannerError as problem:
        return problem


def _queues(run: Run | PlannerError | None) -> tuple[float, float]:
    """I/Os waiting, and those that the rule of thumb takes."""
    if run is None:
        return 0.0, 0.0
    if isinstance(run, PlannerError) or not run.queue_known:
        return math.nan, math.nan
    return float(run.total_queue.value), run.thumb_queue
