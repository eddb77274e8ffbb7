"""The busy hour of each day of a measured series; what is no such series is refused with its line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import InputError
from planner.reports.csv_table import CsvTable, of_frame, read_csv, shown
from planner.reports.moments import clock, read_moment
from planner.results import Array
from planner.units import readable

if TYPE_CHECKING:
    import polars as pl

DAY: Final = 86400.0  # s
HOUR: Final = 3600.0  # s
WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
DAILY: Final = 0.75 * DAY  # intervals from this length on are days
LONGEST: Final = 1.25 * DAY
WEEKS: Final = 4  # before and after, over which the busy hour of a weekday is looked for
COMMON: Final = 2.0  # weight of all weekdays together in that, in days
JUMPS: Final = (
    60.0,
    100.0,
    1000.0,
    1024.0,
    3600.0,
    4096.0,
    1e6,
    2.0**20,
    1e9,
    2.0**30,
)  # between units of one number
JUMP_NEARNESS: Final = 0.12
FEWEST_ABOUT_JUMP: Final = 3  # days
SUNDAY: Final = 3  # days since 1970-01-01, a Thursday, modulo 7
NIGHT: Final = 4  # hour before which clocks are set
SITE_COLUMNS: Final = frozenset({"device", "volume", "pool", "tries", "owner", "kind"})
UNITS: Final = {
    "_ms": "ms", "_us": "us", "_s": "s", "_percent": "%", "_share": "share", "_gb": "GB", "_mb": "MB", "_kb": "KB",
    "_bytes": "bytes", "_frames": "frames", "_pages": "pages", "_per_s": "1/s", "rate": "1/s",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesLabel:
    """Whose numbers a series holds."""

    system: str  # the system; empty where the file does not name it
    what: str  # what was measured, such as a pool or a column
    unit: str  # unit of its numbers; empty for counts and where the file does not say

    @property
    def name(self) -> str:
        """How people call it."""
        return f"{self.what} of {self.system}" if self.system else self.what


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Daily:
    """The busy-hour level of each day of one or more series, on one calendar."""

    first: date  # day of the first column
    series: tuple[SeriesLabel, ...]  # whose they are
    values: Array  # levels of shape (series, days) in the unit of each; nan where a day was not measured
    hours: Array  # hour of the day each was measured in, nan where the series holds one number a day
    notes: tuple[str, ...] = ()  # what to know of the measurements

    def day(self, index: int | float) -> date:
        """Date of a column."""
        return self.first + timedelta(days=int(index))


def is_series(path: Path | str) -> bool:
    """Tell a measured series from measurements of a site, by its headings."""
    from planner.measurements.formats import Source

    path = Path(path)
    if path.is_dir():
        return False
    names = Source(path).headings
    return "start" in names and not names & SITE_COLUMNS


def read_series(source: Path | str | pl.DataFrame, value: str | None = None) -> Daily:
    """Read measured series and take the busy hour of each day."""
    if isinstance(source, (str, Path)):
        table = read_csv(source, ["start"], "a measured series")
    else:
        table = of_frame(Path("data frame"), source)
        table.require(["start"], "a measured series")
    heading = _heading(table, value)
    starts, moments = _starts(table)
    found = table.known(heading)
    numbers = np.array([np.nan if each is None else each[0] for each in found])
    systems = table.texts("system")
    rows: dict[str, list[int]] = {}
    for row, system in enumerate(systems):
        rows.setdefault(system, []).append(row)
    unit = next((unit for ending, unit in UNITS.items() if heading.lower().endswith(ending)), "")
    parts = []
    for system, members in rows.items():
        index = np.array(members)
        _check_order(table, index, moments, utc=moments is not starts)
        first, values, hours = busy_hours(starts[index], numbers[index], table, index)
        _check_clock(table, index, starts, first, values)
        _check_unit(table, index, starts, heading, first, values)
        parts.append((SeriesLabel(system=system, what=heading, unit=unit), first, values, hours))
    return aligned(parts)


def aligned(parts: Sequence[tuple[SeriesLabel, date, Array, Array]], notes: Sequence[str] = ()) -> Daily:
    """Put series of different first days on one calendar."""
    first = min(part[1] for part in parts)
    end = max(part[1] + timedelta(days=part[2].size) for part in parts)
    values = np.full((len(parts), (end - first).days), np.nan)
    hours = np.full_like(values, np.nan)
    for index, (_, begin, levels, at) in enumerate(parts):
        place = (begin - first).days
        values[index, place : place + levels.size] = levels
        hours[index, place : place + at.size] = at
    series = tuple(part[0] for part in parts)
    return Daily(
        first=first,
        series=series,
        values=values,
        hours=hours,
        notes=(*notes, *_clock_notes(first, series, values)),
    )


def busy_hours(
    starts: NDArray[np.datetime64],
    numbers: Array,
    table: CsvTable | None = None,
    rows: NDArray[np.intp] | None = None,
) -> tuple[date, Array, Array]:
    """Take the busy hour of each day: busiest on average by weekday over nine weeks about it (ITU-T E.600)."""
    seconds = starts.astype("datetime64[s]").astype(np.int64).astype(np.float64)
    different = np.unique(seconds)  # two clocks, or one set back, may show a time twice
    spacing = float(np.median(np.diff(different))) if different.size > 1 else DAY
    if spacing > LONGEST:
        wanted = "intervals of a day at most, for the busy hour of each day"
        problem = f"intervals are {spacing / DAY:.3g} days long"
        if table is not None and rows is not None:
            raise table.error(int(rows[1]), "start", f"{problem}: expected {wanted}")
        raise InputError("start", problem, wanted)
    day = np.floor(seconds / DAY).astype(np.int64)
    first, days = (
        int(day.min()),
        int(np.ptp(day)) + 1,
    )  # another clock, or one set back, may show an earlier day
    origin = date(1970, 1, 1) + timedelta(days=first)
    if spacing >= DAILY:
        return origin, _means(day - first, numbers, days, 0.0), np.full(days, np.nan)
    hour = np.floor((seconds - DAY * day) / HOUR).astype(np.int64)
    wanted_count = 0.5 * min(HOUR / spacing, HOUR)  # share of an hour that must be measured
    profile = _means((day - first) * 24 + hour, numbers, days * 24, wanted_count).reshape(days, 24)
    chosen = _busy_hour(profile, (np.arange(days) + origin.weekday()) % 7)
    levels = np.take_along_axis(profile, chosen[:, None], axis=1)[:, 0]
    return origin, levels, np.where(np.isnan(levels), np.nan, chosen)


def _means(place: NDArray[np.int64], numbers: Array, size: int, least: float) -> Array:
    """Mean of the numbers of each place; nan where fewer than `least` were measured, or none."""
    known = np.isfinite(numbers)
    count = np.bincount(place[known], minlength=size)
    total = np.bincount(place[known], weights=numbers[known], minlength=size)
    return np.where((count > 0) & (count >= least), total / np.maximum(count, 1), np.nan)


def _busy_hour(profile: Array, weekday: NDArray[np.int64]) -> NDArray[np.int64]:
    """The busiest hour of each day, by the means of its weekday over the weeks about it; (days, 24) to (days,)."""
    common, of_all = _window_means(profile, 7 * WEEKS)
    score = np.full(profile.shape, -np.inf)
    for number in range(7):
        days = np.flatnonzero(weekday == number)
        mean, count = _window_means(profile[days], WEEKS)
        blended = (mean * count + common[days] * COMMON * (of_all[days] > 0)) / np.maximum(
            count + COMMON * (of_all[days] > 0), 1
        )
        score[days] = np.where(count > 0, blended, -np.inf)
    busiest: NDArray[np.int64] = np.argmax(score, axis=1)
    return busiest


def _window_means(rows: Array, reach: int) -> tuple[Array, Array]:
    """Mean over the rows from `reach` before to `reach` after each, and how many were measured."""
    known = np.isfinite(rows)
    totals = np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(np.where(known, rows, 0.0), axis=0)])
    counts = np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(known, axis=0)])
    index = np.arange(len(rows))
    low, high = np.maximum(index - reach, 0), np.minimum(index + reach + 1, len(rows))
    count = counts[high] - counts[low]
    return (totals[high] - totals[low]) / np.maximum(count, 1), count


def _heading(table: CsvTable, value: str | None) -> str:
    """The column that holds the number, as the file spells it."""
    others = [name for name in table.header if name and name.lower() not in {"start", "system", "interval_s"}]
    if value is None:
        if len(others) != 1:
            raise InputError(
                "--value", "not given", f"one of {', '.join(others)}" if others else "a file with a number"
            )
        return others[0]
    for name in others:
        if name.lower() == value.lower():
            return name
    raise InputError("--value", value, f"a column of {table.path}: {', '.join(others)}")


def _starts(table: CsvTable) -> tuple[NDArray[np.datetime64], NDArray[np.datetime64]]:
    """Begin of each interval by the wall clock; and in UTC, where every one has its offset, else the same array."""
    known: dict[str, datetime] = {}
    for row, cell in enumerate(table.texts("start")):
        if cell in known:
            continue
        try:
            float(cell)
        except ValueError:
            pass
        else:
            raise table.error(row, "start", f"{shown(cell)}: expected a date, such as 2026-03-01T10:15")
        try:
            known[cell] = read_moment(cell)
        except ValueError:
            problem = f"{shown(cell)}: expected a date with or without a time, such as 2026-03-01T10:15"
            raise table.error(row, "start", problem) from None
    starts, offsets = clock([known[cell] for cell in table.texts("start")])
    found = np.array(starts, dtype="datetime64[s]")
    if None in offsets:
        return found, found
    return found, found - np.array(offsets, dtype="timedelta64[s]")


def _check_order(
    table: CsvTable, rows: NDArray[np.intp], moments: NDArray[np.datetime64], *, utc: bool
) -> None:
    """Refuse times that are doubled or run backwards; a clock without offset repeats the hour when summer ends."""
    times = moments[rows]
    steps = np.diff(times).astype(np.int64)
    hour = times[1:].astype("datetime64[h]").astype(np.int64) % 24
    sunday = times[1:].astype("datetime64[D]").astype(np.int64) % 7 == SUNDAY
    repeated = (
        (not utc) & (steps >= -HOUR) & sunday & (hour < NIGHT)
        & (np.median(steps) <= HOUR if steps.size else False)
    )  # fmt: skip
    wrong = np.flatnonzero((steps <= 0) & ~repeated)
    if wrong.size:
        row, before = int(rows[wrong[0] + 1]), int(rows[wrong[0]])
        how = "the same as" if steps[wrong[0]] == 0 else "earlier than"
        where = f"{table.texts('start')[row]} is {how} in line {table.lines[before]}"
        raise table.error(row, "start", f"{where}: expected intervals in order of time")


def _row_from(rows: NDArray[np.intp], starts: NDArray[np.datetime64], first: date, index: int) -> int:
    """The row from which on a day was measured."""
    day = np.datetime64(first + timedelta(days=index))
    return int(rows[np.flatnonzero(starts[rows] >= day)[0]])


def _check_clock(
    table: CsvTable, rows: NDArray[np.intp], starts: NDArray[np.datetime64], first: date, values: Array
) -> None:
    """Refuse a leap over more days than were measured."""
    measured = np.flatnonzero(np.isfinite(values))
    if measured.size == 0:
        raise table.error(
            int(rows[0]), "start", "begins a series in which nothing was measured: expected a number"
        )
    found = leap(values)
    if found is not None:
        row = _row_from(rows, starts, first, found[0])
        leaps = f"leaps {found[1]} days, more than were measured"
        raise table.error(row, "start", f"{leaps}: expected one clock; correct it or split the file there")


def _check_unit(
    table: CsvTable,
    rows: NDArray[np.intp],
    starts: NDArray[np.datetime64],
    heading: str,
    first: date,
    values: Array,
) -> None:
    """Refuse numbers that change by the ratio of two units from one day to the next."""
    found = unit_jump(values)
    if found is None:
        return
    index, ratio = found
    row = _row_from(rows, starts, first, index)
    near = min(JUMPS, key=lambda jump: abs(abs(np.log(ratio)) - np.log(jump)))
    times = f"about {near:g} times as large" if ratio > 1 else f"about 1/{near:g} of what they were"
    raise table.error(
        row,
        heading,
        f"and what follows are {times}, as if the unit had changed: expected one unit in all rows",
    )


def unit_jump(values: Array) -> tuple[int, float] | None:
    """Find a day from which numbers differ by the ratio of two units."""
    days = np.flatnonzero(np.isfinite(values) & (values > 0))
    logs = np.log(values[days])
    best: tuple[int, float] | None = None
    largest = np.log(min(JUMPS)) - 2 * JUMP_NEARNESS
    for place in range(FEWEST_ABOUT_JUMP, days.size - FEWEST_ABOUT_JUMP + 1):
        if abs(logs[place] - logs[place - 1]) < np.log(10.0):
            continue
        step = float(np.median(logs[place : place + 7]) - np.median(logs[max(place - 7, 0) : place]))
        near = any(abs(abs(step) - np.log(jump)) < JUMP_NEARNESS for jump in JUMPS)
        if near and abs(step) > largest:
            best, largest = (int(days[place]), float(np.exp(step))), abs(step)
    return best


def jump_note(name: str, first: date, levels: Array) -> list[str]:
    """Say where numbers of one series among many change by the ratio of two units: they are not refused for it."""
    found = unit_jump(levels)
    if found is None:
        return []
    day = first + timedelta(days=found[0])
    return [
        f"{name} is {readable(found[1])} times what it was from {day} on, as if its unit had changed: check it."
    ]


def daily_medians(starts: NDArray[np.datetime64], numbers: Array) -> tuple[date, Array]:
    """First day, and the median of each day, nan where nothing was measured; times in any order."""
    day = starts.astype("datetime64[D]").astype(np.int64)
    known = np.isfinite(numbers)
    first = int(day.min())
    found = np.full(int(day.max()) - first + 1, np.nan)
    order = np.lexsort((numbers[known], day[known]))
    days, place, count = np.unique(day[known][order], return_index=True, return_counts=True)
    found[days - first] = numbers[known][order][place + count // 2]
    return date(1970, 1, 1) + timedelta(days=first), found


def leap(values: Array) -> tuple[int, int] | None:
    """Find a leap over more days than were measured, as of a wrong clock: the day after it, and its length in days."""
    measured = np.flatnonzero(np.isfinite(values))
    gaps = np.diff(measured)
    # days; a longer gap, and longer than all days measured, is a wrong clock
    if gaps.size and gaps.max() > max(60, measured.size):
        at = int(np.argmax(gaps))
        return int(measured[at + 1]), int(gaps[at])
    return None


def _clock_notes(first: date, series: Sequence[SeriesLabel], values: Array) -> list[str]:
    """Say which systems were measured on days on which no other one was."""
    measured = np.isfinite(values)
    systems = sorted({each.system for each in series})
    if len(systems) <= 1:
        return []
    notes = []
    days = {
        system: np.asarray(measured[[each.system == system for each in series]].any(axis=0))
        for system in systems
    }
    for system, own in days.items():
        others = sum(days[other].astype(int) for other in systems if other != system)
        if not np.any(own & (others > 0)):
            at = np.flatnonzero(own)
            begin, end = (first + timedelta(days=int(day)) for day in (at[0], at[-1]))
            notes.append(
                f"No other system was measured on the days of {system or 'the unnamed system'} ({begin} to {end}): "
                "check its clock. Its dates count from its own last day."
            )
    return notes
