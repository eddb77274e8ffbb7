"""Pools and volumes over their intervals: the runs that an answer is made of, and the supply counters of pools."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from planner.errors import InputError, PlannerError, ReportError
from planner.measurements.choose import GROUP_KEYS, VOLUME, Group, joined_intervals
from planner.measurements.read import Data, read, sources_of
from planner.measurements.rows import Rows
from planner.measurements.run import Run
from planner.measurements.systems import pool_runs, volume_runs
from planner.reports.csv_table import first_true
from planner.reports.moments import INTERVAL, MOMENT, with_intervals, with_moments
from planner.reports.schema import ALIAS, CLASSIC_ALIAS, refuse_twice
from planner.reports.supply import ONE_RECORD, Counts, PoolSupply, by_number, found_free
from planner.results import Array

NEEDED: Final = {"time": "times", "tries": "requests for an alias", "fails": "those that found none free",
                 "aliases": "numbers of aliases"}  # fmt: skip
NO_POOL: Final = (
    "no alias pool with two records: expected counters of HyperPAV pools: "
    "MRIODHPP (D6R28), SMF 78-3, or IOQ of RMF"
)
AT_LEAST: Final = (
    "how many aliases it has was not measured: the most in use at once are taken; SMF 74-1 beside it says it."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunsOverTime:
    """A group over its intervals, arrays (intervals,) in the order of time."""

    group: Group  # which pool or volume
    start: NDArray[np.datetime64]  # begin of each interval, NaT without a date
    seconds: Array  # length of each; clock of the system less UTC
    clock: Array
    bases: Counts  # rows of bases, those that did I/O, aliases
    volumes: Counts
    in_use: Counts
    runs: tuple[Run | PlannerError | None, ...]  # what was measured; None without I/O
    io_rate: Array  # sums over the devices: rate [1/s], rate x service [erlang], I/Os waiting
    load: Array
    queued: Array
    thumb: Array  # the queue that the rule of thumb takes; nan where not measured
    joined: int  # most measured intervals that one is of
    paths: float  # most channel paths of a device; nan where the source does not say

    @property
    def response(self) -> Array:
        """Service and queue over rate [s]; nan where no queue was measured."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((self.load + self.queued) / self.io_rate)


def over_time(frame: pl.DataFrame, groups: Sequence[Group]) -> Iterator[tuple[Group, RunsOverTime | str]]:
    """Each of some groups over its intervals, or why it has none; `frame` is as `rows_of` gives it."""
    keys = ("_system", *GROUP_KEYS)
    whole = joined_intervals(frame)
    measured = frame.partition_by(keys, as_dict=True)
    joined = measured if whole is frame else whole.partition_by(keys, as_dict=True)
    for group in groups:
        key = (group.system, group.kind, group.name)
        try:
            if key not in measured:
                yield group, "no rows of its devices"
                continue
            refuse_twice(measured[key])
            yield group, runs_of(joined[key], group)
        except (InputError, ReportError) as problem:
            yield group, str(problem)


def runs_of(frame: pl.DataFrame, group: Group) -> RunsOverTime:
    """Cut the rows of one group into its intervals, and read each as `planner aliases` does."""
    frame = with_intervals(frame).sort(*INTERVAL, "device", "label", nulls_last=False)
    rows = Rows(frame)
    if not rows.is_base.any():
        raise InputError("members", group.words, "a base device among its members; there are aliases alone")
    first = np.flatnonzero(frame.select(pl.struct(INTERVAL).is_first_distinct()).to_series())
    own = rows.of_kind(CLASSIC_ALIAS if group.kind == VOLUME else ALIAS)
    stated = np.where(rows.is_base, np.nan_to_num(rows.pool_aliases), 0.0)
    aliases = np.maximum(np.add.reduceat(own, first, dtype=np.int64), np.maximum.reduceat(stated, first))
    ends = np.append(first[1:], len(rows))
    place = np.arange(len(rows))
    runs = tuple(_run(rows[place[begin:end]], group) for begin, end in zip(first, ends, strict=True))
    queues = np.array([_queues(run) for run in runs])
    # The record of a volume counts what its aliases did.
    whole = rows.of_kind(VOLUME)
    twice = ~whole & np.repeat(np.logical_or.reduceat(whole, first), ends - first)
    rate = np.where(twice, 0.0, rows.filled("io_rate"))
    listed = np.add.reduceat(rate * rows.filled("service"), first)
    load = [run.load if isinstance(run, Run) else own for run, own in zip(runs, listed, strict=True)]
    most_paths: Any = frame["paths"].max()
    start = frame["start"].to_numpy().astype("datetime64[us]")[first]
    return RunsOverTime(
        group=group, start=start, seconds=_lengths(start, np.fmax.reduceat(rows.seconds, first)),
        clock=frame["utc_offset"].cast(pl.Float64).fill_null(np.nan).to_numpy()[first],
        bases=np.add.reduceat(rows.is_base, first, dtype=np.int64),
        volumes=np.add.reduceat(rows.is_base & (rate > 0), first, dtype=np.int64),
        in_use=np.array(
            [run.aliases if isinstance(run, Run) else int(many) for run, many in zip(runs, aliases, strict=True)]
        ),
        runs=runs, io_rate=np.add.reduceat(rate, first), load=np.array(load),
        queued=queues[:, 0], thumb=queues[:, 1],
        joined=rows.joined, paths=math.nan if most_paths is None else float(most_paths),
    )  # fmt: skip


def _lengths(start: NDArray[np.datetime64], seconds: Array) -> Array:
    """Length of each interval; where the source does not say, the time to the next one, at most the usual; else 1."""
    steps = np.append(np.diff(start) / np.timedelta64(1, "s"), np.nan)
    usual = float(np.median(steps[steps > 0])) if (steps > 0).any() else 1.0
    to_next = np.where((steps > 0) & (steps < usual), steps, usual)
    return np.where(np.isnan(seconds), to_next, seconds)


def _run(rows: Rows, group: Group) -> Run | PlannerError | None:
    """One interval; None without I/O, a problem where its numbers contradict each other."""
    if (rows.numbers["io_rate"].value[rows.is_base] == 0).all():
        return None
    try:
        run = volume_runs(rows)[0] if group.kind == VOLUME else pool_runs(rows)[0][0].run
        if run is not None:
            run.check()
    except PlannerError as problem:
        return problem
    return run


def _queues(run: Run | PlannerError | None) -> tuple[float, float]:
    """I/Os waiting, and those that the rule of thumb takes."""
    if run is None:
        return 0.0, 0.0
    if isinstance(run, PlannerError) or not run.queue_known:
        return math.nan, math.nan
    return float(run.total_queue.value), run.thumb_queue


def read_supplies(
    path: Data, *, system: str | None = None, start: str | None = None, end: str | None = None
) -> tuple[PoolSupply, ...]:
    """Read the supply counters of all pools in files or an archive; of some intervals, as `read` chooses them."""
    sources = list(sources_of(path))
    measured = read(sources, system=system, start=start, end=end)
    if not measured.supply.height:
        found = ", ".join(measured.what) or "nothing"
        way = ", which `planner aliases pool` answers from" if measured.devices.height else ""
        raise ReportError(sources[0].path, f"{NO_POOL}; found {found}{way}")
    first, *others = pool_supplies(measured.supply, sources[0].path, measured.notes)
    alone = (note for note in measured.notes if note.endswith(ONE_RECORD))
    return replace(first, notes=(*first.notes, *alone)), *others


def pool_supplies(frame: pl.DataFrame, path: Path, notes: Sequence[str] = ()) -> tuple[PoolSupply, ...]:
    """Counters of each pool, and system, from the table of pools, with `notes` on how they were read."""
    if not frame.height:
        raise ReportError(path, NO_POOL)
    frame = _with_most_used(frame)
    for name, meaning in NEEDED.items():
        if frame[name].null_count():
            wanted = "expected counters of z/VM (MRIODHPP), or SMF 78-3 and 74-1"
            raise ReportError(path, f"pools without {meaning} ({name}): {wanted}")
    several = frame["system"].n_unique() > 1
    since: Any = pl.col("start") - pl.col("start").min()  # each file has a clock of its own
    of_all = since.dt.total_microseconds() / 1e6 + pl.col("interval")
    frame = frame.with_columns(time=pl.coalesce(of_all, "time"))
    ordered = with_moments(frame, "system").sort(MOMENT, "time", maintain_order=True)
    parts = {
        f"{system or 'unknown'}/{pool}" if several else str(pool): part
        for (system, pool), part in ordered.partition_by("system", "pool", as_dict=True).items()
    }
    for pool, part in parts.items():
        _refuse_overlap(part, pool)
    found = [_supply(part, pool, path, notes) for pool, part in parts.items()]
    return tuple(sorted(found, key=lambda each: by_number(each.pool)))


def _refuse_overlap(rows: pl.DataFrame, pool: str) -> None:
    """Refuse intervals of one pool of which one begins before the middle of another: counts would count twice."""
    begin = pl.coalesce(pl.col(MOMENT).dt.epoch("us") / 1e6, pl.col("time") - pl.col("interval"))
    begins, lengths = rows.select(begin).to_series().to_numpy(), rows["interval"].to_numpy()
    order = np.argsort(begins, kind="stable")
    if (k := first_true(np.diff(begins[order]) < 0.5 * lengths[order][:-1])) is not None:
        one, other = (rows.row(int(order[at]), named=True) for at in (k, k + 1))
        when = f"at {other['start']}" if other["start"] else f"before {other['time']:g} s"
        problem = f"pool {pool} {when} is in an interval of {one['file'] or 'the data frame'} already"
        way_out = "" if other["start"] else "; dates tell several files apart"
        problem = f"{problem}: expected each once{way_out}"
        raise ReportError(other["file"] or "data frame", problem, line=other["line"])


def _with_most_used(frame: pl.DataFrame) -> pl.DataFrame:
    """Where only the most aliases in use at once were counted: what was free, and `lower`, the least aliases."""
    used = pl.col("most_used")
    lower = pl.col("aliases").is_null() & used.is_not_null()
    aliases = pl.coalesce("aliases", used.max().over("system", "pool")).cast(pl.UInt32)
    free = pl.coalesce("fewest_free", found_free(aliases))
    return frame.with_columns(aliases=aliases, fewest_free=free, lower=lower)


def _supply(frame: pl.DataFrame, pool: str, path: Path, said: Sequence[str]) -> PoolSupply:
    """Counters of one pool; marks that nothing set, since nothing was tried, say that all aliases were free."""
    by_use = bool(frame["most_used"].is_not_null().any())
    time, length = frame["time"].to_numpy(), frame["interval"].to_numpy()
    columns = {name: frame[name].cast(int).to_numpy() for name in ("tries", "fails", "aliases")}
    names = ("fewest_free", "most_free")
    marks = {name: frame[name].fill_null(frame["aliases"]).cast(int).to_numpy() for name in names}
    for name in names[:1] if by_use else names:
        if (frame[name].is_null() & (frame["tries"] > 0)).any():
            wanted = "expected counters of z/VM (MRIODHPP), with water marks"
            raise ReportError(path, f"pool {pool} without {name}: {wanted}")
    notes = [*(said if by_use else ()), *([AT_LEAST] if frame["lower"].any() else [])]
    begin = frame["start"][0]
    return PoolSupply(
        pool=pool,
        start=None if begin is None else begin - timedelta(seconds=float(time[0] - length[0])),
        time=time, length=length, tries=columns["tries"], fails=columns["fails"], fewest=marks["fewest_free"],
        most=marks["most_free"], aliases=columns["aliases"], in_use=int(columns["aliases"][-1]),
        restarted=np.asarray(frame["restarted"].to_numpy(), bool), plain=np.asarray(frame["plain"].to_numpy(), bool),
        marked=not by_use, borrowed=_times(frame, "borrowed"), loaned=_times(frame, "loaned"), notes=tuple(notes),
    )  # fmt: skip


def _times(frame: pl.DataFrame, name: str) -> Counts | None:
    """How often something was done in each interval, from its rate; None where the source does not say."""
    if frame[name].null_count() == frame.height:
        return None
    return np.asarray((frame[name].fill_null(0.0) * frame["interval"]).round().cast(int).to_numpy())
