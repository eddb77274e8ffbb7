"""The interval that decides how many aliases a pool needs: the count that meets the target for a share of the time."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import InputError
from planner.results import Array
from planner.site.series import HOUR, busy_hours

BUSY: Final = 0.25  # of the load of the 99th percentile: an interval below it is not busy

Flags = NDArray[np.bool_]


def busy_intervals(load: Array, there: Flags) -> Flags:
    """Intervals with a quarter or more of the load [erlang] of the busiest ones; `there` tells which did I/O."""
    busy = np.zeros(load.size, dtype=bool)
    if there.any():
        busy[there] = load[there] >= BUSY * np.quantile(load[there], 0.99)
    return busy


def deciding(needed: Array, load: Array, seconds: Array, busy: Flags, share: float) -> int | None:
    """Busy interval whose count does for a share of the busy time; None without any.

    A need of inf is one that no count serves. Of equal counts the one with more load counts as more.
    """
    known = np.flatnonzero(busy & ~np.isnan(needed))
    if not known.size:
        return None
    order = known[np.lexsort((load[known], needed[known]))]
    summed = np.cumsum(seconds[order])
    return int(order[np.argmax(summed >= share * summed[-1] * (1 - 1e-12))])


def time_quantile(values: Array, seconds: Array, share: float) -> float:
    """Smallest value that holds for a share of the time; nan without any."""
    at = deciding(values, np.zeros(values.size), seconds, ~np.isnan(values), share)
    return float("nan") if at is None else float(values[at])


def outside_busy_hour(
    name: str, start: NDArray[np.datetime64], seconds: Array, io_rate: Array, at: int
) -> str:
    """Say that an interval lies outside of the busy hour of its day; empty where it does not, or without hours."""
    if np.isnat(start).any():
        return ""
    try:
        first, _, hours = busy_hours(start, io_rate)
    except InputError:  # longer than a day
        return ""
    day = start[at].astype("datetime64[D]")
    hour = float(hours[int((day - np.datetime64(first)).astype(np.int64))])
    begin = float((start[at] - day) / np.timedelta64(1, "s"))
    if np.isnan(hour) or (begin < HOUR * (hour + 1) and begin + float(seconds[at]) > HOUR * hour):
        return ""
    when = f"{int(begin // HOUR):02d}:{int(begin % HOUR // 60):02d}"
    return f"{name} is decided at {when} on {day}, not in its busy hour at {hour:02.0f}:00"
