"""What is uneven in the intervals of a pool or volume: gaps, lengths, volumes without rows, units that change."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.measurements.over_time import RunsOverTime
from planner.render.text import counted
from planner.results import Array
from planner.site.series import daily_medians, jump_note

MEMBERS: Final = 0.5  # share of the usual volumes: an interval without rows of so many is not answered
SAME_LENGTH: Final = 0.02
TEN: Final = 10.0  # hours from which on no decimal is shown


def covered(pool: RunsOverTime) -> NDArray[np.bool_]:
    """Intervals with rows of more than half of the volumes, (intervals,)."""
    return np.asarray(pool.bases > MEMBERS * _usual(pool))


def _usual(pool: RunsOverTime) -> float:
    return float(np.quantile(pool.bases, 0.9))


def notes_of(pool: RunsOverTime) -> list[str]:
    """Say what is uneven, a note a sort."""
    complete, dated = covered(pool), not bool(np.isnat(pool.start).any())
    notes = _missing(pool, complete) + _lengths(pool.seconds)
    if dated:
        notes += _gaps(pool.start, pool.seconds, pool.clock) + _units(pool)
    return notes


def _missing(pool: RunsOverTime, complete: NDArray[np.bool_]) -> list[str]:
    few = complete & (pool.bases < _usual(pool))
    sorts = (
        (~complete, "lack rows of half of the volumes or more", "not answered"),
        (few, "lack rows of some volumes", "taken as without I/O there"),
    )
    return [
        f"{int(some.sum())} of {counted(some.size, 'interval')} {what}{_first(pool.start, some)}: {how}"
        for some, what, how in sorts
        if some.any()
    ]


def _first(start: NDArray[np.datetime64], some: NDArray[np.bool_]) -> str:
    """When the first of some intervals began; empty without a date."""
    when = start[int(np.argmax(some))]
    return "" if np.isnat(when) else f", the first at {when.item():%Y-%m-%d %H:%M}"


def _lengths(seconds: Array) -> list[str]:
    uneven = np.abs(seconds / float(np.median(seconds)) - 1) > SAME_LENGTH
    if not uneven.any():
        return []
    return [
        f"intervals of {seconds.min():.0f} to {seconds.max():.0f} s: shares are of time, and a long interval hides "
        "its worst minutes"
    ]


def _gaps(start: NDArray[np.datetime64], seconds: Array, clock: Array) -> list[str]:
    """Time without measurements, clocks that were set back, and intervals that overlap."""
    notes = []
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
    moved = np.abs(np.nan_to_num(np.diff(clock)))
    back = early & (moved > 0)
    if back.any():
        many = counted(max(round(float((moved[back] / seconds[:-1][back]).sum())), 1), "interval")
        notes.append(f"clock set back by {many}, as where summer time ends: both hours count")
    if (early & ~back).any():
        at, when = int(np.flatnonzero(early & ~back)[0]), start.astype("datetime64[s]")
        notes.append(
            f"{counted(int((early & ~back).sum()), 'interval')} longer than the time to the next one, the first of "
            f"{seconds[at]:.0f} s at {when[at]} with {steps[at]:.0f} s to the next: shares "
            "of the time count both; check the length of the intervals (interval_s)"
        )
    return notes


def _units(pool: RunsOverTime) -> list[str]:
    """Say where rates or service times change as a unit does."""
    there = pool.io_rate > 0
    if not there.any():
        return []
    rate = pool.io_rate[there]
    return [
        note.rstrip(".")
        for what, numbers in (("I/O rate", rate), ("service time", pool.load[there] / rate))
        for note in jump_note(what, *daily_medians(pool.start[there], numbers))
    ]
