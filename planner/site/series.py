"""The busy hour of each day of a measured series; what is no such series is refused with its line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import InputError, ReportError
from planner.lazy import pl
from planner.measurements.formats import Source, is_folder
from planner.measurements.read import opened, polars_frame
from planner.reports.csv_table import CsvTable, of_frame, read_csv, shown
from planner.reports.moments import clock, read_dates
from planner.results import Array, Integers
from planner.units import readable

DAY: Final = 86400.0  # s
HOUR: Final = 3600.0  # s
WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
DAILY: Final = 0.75 * DAY  # intervals from this length on are days
LONGEST: Final = 1.25 * DAY
# Between units of one number.
JUMPS: Final = np.array([60.0, 100.0, 1000.0, 1024.0, 3600.0, 4096.0, 1e6, 2.0**20, 1e9, 2.0**30])
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
        """For a message."""
        return f"{self.what} of {self.system}" if self.system else self.what


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Daily:
    """The busy-hour level of each day of one or more series, on one calendar."""

    first: date  # day of the first column
    series: tuple[SeriesLabel, ...]  # whose they are
    values: Array  # levels of shape (series, days) in the unit of each; nan where a day was not measured
    notes: tuple[str, ...] = ()  # what to know of the measurements

    def day(self, index: int | float) -> date:
        """Date of a column."""
        return self.first + timedelta(days=int(index))


def is_series(source: Source) -> bool:
    """Whether a file is a measured series, not measurements of a site, by its headings."""
    if source.content is None and is_folder(source.path):
        return False
    names = source.headings
    return "start" in names and not names & SITE_COLUMNS


def read_series(source: Path | str | pl.DataFrame | Source, value: str | None = None) -> Daily:
    """Read measured series and take the busy hour of each day."""
    if isinstance(source, str | Path):
        source = opened(source)
        source.wanted = "expected a measured series with the columns start and a number, such as io_rate"
    if isinstance(source, Source):
        table = read_csv(source.path, ["start"], "a measured series with the columns start", data=source.data)
    else:
        frame = polars_frame(source)
        if frame is None:
            raise InputError("source", type(source).__name__, "a file, or a data frame")
        table = of_frame(Path("data frame"), frame)
        table.require(["start"], "a measured series")
        if not frame.height:
            raise ReportError(table.path, "no rows: expected a measured series")
    heading = _heading(table, value)
    starts, moments = _starts(table)
    numbers = table.printed(heading)[0].to_numpy()
    systems = np.array(table.texts("system"))
    unit = next((unit for ending, unit in UNITS.items() if heading.lower().endswith(ending)), "")
    parts = []
    for system in dict.fromkeys(systems.tolist()):
        own = systems == system
        rows = table.only(own)
        _check_order(rows, moments[own], utc=moments is not starts)
        try:
            first, values, _ = busy_hours(starts[own], numbers[own])
        except InputError as error:
            raise rows.error(1, "start", f"{error.value}: expected {error.expected}") from None
        _check_days(rows, heading, starts[own], first, values)
        parts.append((SeriesLabel(system=system, what=heading, unit=unit), first, values))
    return aligned(parts)


def aligned(parts: Sequence[tuple[SeriesLabel, date, Array]], notes: Sequence[str] = ()) -> Daily:
    """Put series of different first days on one calendar."""
    first = min(part[1] for part in parts)
    end = max(part[1] + timedelta(days=part[2].size) for part in parts)
    values = np.full((len(parts), (end - first).days), np.nan)
    for index, (_, begin, levels) in enumerate(parts):
        place = (begin - first).days
        values[index, place : place + levels.size] = levels
    series = tuple(part[0] for part in parts)
    said = (*notes, *_clock_notes(first, series, values))
    return Daily(first=first, series=series, values=values, notes=said)


def busy_hours(starts: NDArray[np.datetime64], numbers: Array) -> tuple[date, Array, Array]:
    """Take the busy hour of each day: busiest on average by weekday over nine weeks about it (ITU-T E.600)."""
    seconds = starts.astype("datetime64[s]").astype(np.int64).astype(np.float64)
    different = np.unique(seconds)  # two clocks, or one set back, may show a time twice
    spacing = float(np.median(np.diff(different))) if different.size > 1 else DAY
    if spacing > LONGEST:
        problem = f"intervals are {spacing / DAY:.3g} days long"
        raise InputError("start", problem, "intervals of a day at most, for the busy hour of each day")
    day = np.floor(seconds / DAY).astype(np.int64)
    first, days = int(day.min()), int(np.ptp(day)) + 1  # a clock set back may show an earlier day
    origin = date(1970, 1, 1) + timedelta(days=first)
    if spacing >= DAILY:
        return origin, _means(day - first, numbers, days, 0.0), np.full(days, np.nan)
    hour = np.floor((seconds - DAY * day) / HOUR).astype(np.int64)
    wanted_count = 0.5 * min(HOUR / spacing, HOUR)  # share of an hour that must be measured
    profile = _means((day - first) * 24 + hour, numbers, days * 24, wanted_count).reshape(days, 24)
    chosen = _busy_hour(profile, origin.weekday())
    levels = np.take_along_axis(profile, chosen[:, None], axis=1)[:, 0]
    return origin, levels, np.where(np.isnan(levels), np.nan, chosen)


def _means(place: Integers, numbers: Array, size: int, least: float) -> Array:
    """Mean of the numbers of each place; nan where fewer than `least` were measured, or none."""
    known = np.isfinite(numbers)
    count = np.bincount(place[known], minlength=size)
    total = np.bincount(place[known], weights=numbers[known], minlength=size)
    return np.where((count > 0) & (count >= least), total / np.maximum(count, 1), np.nan)


def _busy_hour(profile: Array, weekday: int, weeks: int = 4, common_days: float = 2.0) -> Integers:
    """The busiest hour of each day, (days, 24) to (days,), by the means of its weekday over weeks on either side.

    `weekday` is that of the first day.
    """
    before, after = weekday, -(weekday + len(profile)) % 7  # days that make the weeks whole
    whole = np.pad(profile, ((before, after), (0, 0)), constant_values=np.nan).reshape(-1, 7 * 24)
    mean, count = (each.reshape(-1, 24)[before:][: len(profile)] for each in _window_means(whole, weeks))
    # all weekdays together weigh as much as `common_days` of the one
    common, of_all = _window_means(profile, 7 * weeks)
    shared = common_days * (of_all > 0)
    blended = (mean * count + common * shared) / np.maximum(count + shared, 1)
    return np.asarray(np.argmax(np.where(count > 0, blended, -np.inf), axis=1))


def _window_means(rows: Array, reach: int) -> tuple[Array, Array]:
    """Mean over the rows from `reach` before to `reach` after each, and how many were measured."""
    known = np.isfinite(rows)
    each = np.pad([np.where(known, rows, 0.0), known], ((0, 0), (1, 0), (0, 0)))
    totals, counts = np.cumsum(each, axis=1)
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
                "value", "not given", f"one of {', '.join(others)}" if others else "a file with a number"
            )
        return others[0]
    named = {name.lower(): name for name in reversed(others)}
    if value.lower() not in named:
        raise InputError("value", value, f"a column of {table.path}: {', '.join(others)}")
    return named[value.lower()]


def _starts(table: CsvTable) -> tuple[NDArray[np.datetime64], NDArray[np.datetime64]]:
    """Begin of each interval by the wall clock, and in UTC; the same array where not every one has its offset."""
    cells = table.texts("start")
    moments, wrong = None, cells[0]  # where day and month may change places, all are wrong
    try:
        moments = read_dates(cells)
    except ValueError as error:
        wrong = str(error)
    if moments is None or "" in cells:
        row = cells.index("" if "" in cells else wrong)
        wanted = "expected a date with or without a time, such as 2026-03-01T10:15"
        raise table.error(row, "start", f"{shown(cells[row])}: {wanted}")
    starts, offsets = clock(moments)
    found = np.array(starts, dtype="datetime64[s]")
    if None in offsets:
        return found, found
    return found, found - np.array(offsets, dtype="timedelta64[s]")


def _check_order(rows: CsvTable, times: NDArray[np.datetime64], *, utc: bool) -> None:
    """Refuse times that are doubled or run backwards; a clock without offset repeats the hour when summer ends."""
    steps = np.diff(times).astype(np.int64)
    if not steps.size:
        return
    sunday = times[1:].astype("datetime64[D]").astype(np.int64) % 7 == 3  # noqa: PLR2004 - 1970-01-01 was a Thursday
    night = times[1:].astype("datetime64[h]").astype(np.int64) % 24 < 4  # noqa: PLR2004 - clocks are set before four
    repeated = (not utc) & (steps >= -HOUR) & sunday & night & (np.median(steps) <= HOUR)
    wrong = np.flatnonzero((steps <= 0) & ~repeated)
    if wrong.size:
        before = int(wrong[0])
        how = "the same as" if steps[before] == 0 else "earlier than"
        where = f"{rows.texts('start')[before + 1]} is {how} in line {rows.line_numbers[before]}"
        raise rows.error(before + 1, "start", f"{where}: expected intervals in order of time")


def _check_days(
    rows: CsvTable, heading: str, starts: NDArray[np.datetime64], first: date, values: Array
) -> None:
    """Refuse a series without numbers, a leap over more days than were measured, and a change of the unit."""
    if not np.isfinite(values).any():
        raise rows.error(0, "start", "begins a series of which no half hour was measured: expected days")
    if leapt := leap(values):
        since = int(np.argmax(starts >= np.datetime64(first + timedelta(days=leapt[0]))))
        leaps = f"leaps {leapt[1]} days, more than were measured"
        raise rows.error(since, "start", f"{leaps}: expected one clock; correct it or split the file there")
    if jump := unit_jump(values):
        index, ratio = jump
        near = JUMPS[np.argmin(np.abs(abs(np.log(ratio)) - np.log(JUMPS)))]
        times = f"about {near:g} times as large" if ratio > 1 else f"about 1/{near:g} of what they were"
        since = int(np.argmax(starts >= np.datetime64(first + timedelta(days=index))))
        wanted = "as if the unit had changed: expected one unit in all rows"
        raise rows.error(since, heading, f"and what follows are {times}, {wanted}")


def unit_jump(values: Array, nearness: float = 0.12, about: int = 3) -> tuple[int, float] | None:
    """Find a day from which numbers differ by the ratio of two units, `about` days or more on either side."""
    days = np.flatnonzero(np.isfinite(values) & (values > 0))
    logs = np.log(values[days])
    best: tuple[int, float] | None = None
    largest = np.log(JUMPS.min()) - 2 * nearness
    for place in range(about, days.size - about + 1):
        if abs(logs[place] - logs[place - 1]) < np.log(10.0):
            continue
        step = float(np.median(logs[place : place + 7]) - np.median(logs[max(place - 7, 0) : place]))
        near = np.abs(abs(step) - np.log(JUMPS)) < nearness
        if near.any() and abs(step) > largest:
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
    first = int(day.min())
    found = np.full(int(day.max()) - first + 1, np.nan)
    rows = pl.DataFrame({"day": day - first, "number": numbers}).filter(np.isfinite(numbers))
    medians = rows.group_by("day").agg(pl.col("number").quantile(0.5, "higher"))
    found[medians["day"].to_numpy()] = medians["number"].to_numpy()
    return date(1970, 1, 1) + timedelta(days=first), found


def began(starts: NDArray[np.datetime64], at: int) -> datetime | None:
    """When an interval began; None without a date."""
    when: datetime | None = None if np.isnat(starts[at]) else starts[at].item()
    return when


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
    systems = np.array([each.system for each in series])
    every = {
        system: np.isfinite(values[systems == system]).any(axis=0) for system in sorted({*systems.tolist()})
    }
    notes = []
    for system, own in every.items():
        shared = own & (np.sum([*every.values()], axis=0) > 1)
        if len(every) > 1 and not shared.any():
            at = np.flatnonzero(own)
            begin, end = (first + timedelta(days=int(day)) for day in (at[0], at[-1]))
            notes.append(
                f"No other system was measured on the days of {system or 'the unnamed system'} ({begin} to {end}): "
                "check its clock. Its dates count from its own last day."
            )
    return notes
