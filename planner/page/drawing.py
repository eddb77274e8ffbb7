"""Small inline SVG pictures, a few paths each: curves with their band, need over time, the week."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
from markupsafe import Markup

from planner.render.text import counted
from planner.results import Array
from planner.site.series import DAY, HOUR, WEEKDAYS
from planner.site.site_picture import levels
from planner.units import ends, readable

WIDTH: Final = 420.0
HEIGHT: Final = 220.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 18.0, 12.0, 34.0
CELL: Final = 14.0  # side of an hour of the week
HALF: Final = 5.0  # half the size of a diamond


@dataclass(frozen=True, slots=True)
class Axes:
    """Map numbers to coordinates: x from `first` to `last`, y from 0 to `top`."""

    first: float
    last: float
    top: float

    def x(self, value: Any) -> Any:
        """Horizontal coordinate of a number."""
        span = self.last - self.first or 1.0
        return LEFT + (np.asarray(value, dtype=float) - self.first) / span * (WIDTH - LEFT - RIGHT)

    def y(self, value: Any) -> Any:
        """Vertical coordinate of a number, at most the top."""
        share = np.clip(np.asarray(value, dtype=float) / self.top, 0.0, 1.0)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def ticks(top: float, most: int = 5, *, whole: bool = False) -> list[float]:
    """Round numbers from 0 to `top`."""
    if not top > 0 or not math.isfinite(top):
        return [0.0]
    rough = top / most
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * each for each in (1.0, 2.0, 2.5, 5.0, 10.0) if size * each >= rough * (1 - 1e-9))
    step = max(1.0, round(step)) if whole else step
    return [step * k for k in range(math.floor(top / step * (1 + 1e-9)) + 1)]


def place(value: float) -> str:
    """A coordinate to a tenth of a unit, as fine as a screen shows."""
    return f"{value:.1f}".removesuffix(".0")


def _most(values: Array) -> float:
    """Largest finite number; 0 where there is none."""
    return float(np.max(values, initial=0.0, where=np.isfinite(values)))


def _run(x: Iterable[float], y: Iterable[float]) -> str:
    """A line through points, interrupted where one is missing."""
    words, pen = [], "M"
    for a, b in zip(x, y, strict=True):
        if math.isnan(a) or math.isnan(b):
            pen = "M"
            continue
        words.append(f"{pen}{place(a)} {place(b)}")
        pen = "L"
    return "".join(words)


def _path(kind: str, d: str) -> str:
    return f'<path class="{kind}" d="{d}"/>' if d else ""


def _svg(ident: str, title: str, described: str, parts: Sequence[str], size: tuple[float, float]) -> Markup:
    """A picture with a title and a description for screen readers."""
    # ident is made by the page; text from files is escaped here
    head = Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-labelledby="{}-t {}-d">'
        '<title id="{}-t">{}</title><desc id="{}-d">{}</desc>'
    ).format(place(size[0]), place(size[1]), ident, ident, ident, title, ident, described)
    return head + Markup("".join(parts)) + Markup("</svg>")


def _frame(
    axes: Axes, along: Sequence[tuple[float, str]], up: Sequence[float], name: str, below: str
) -> list[str]:
    """Grid lines at round numbers, the numbers, and axis labels."""
    floor = HEIGHT - BOTTOM
    grid = "".join(f"M{place(LEFT)} {place(axes.y(v))}H{place(WIDTH - RIGHT)}" for v in up if v)
    numbers = "".join(
        f'<text x="{place(LEFT - 5)}" y="{place(axes.y(v) + 3)}">{readable(v, digits=10)}</text>' for v in up
    )
    words = "".join(
        f'<text x="{place(axes.x(v))}" y="{place(floor + 13)}">{Markup.escape(t)}</text>' for v, t in along
    )
    return [
        _path("grid", grid),
        _path("axis", f"M{place(LEFT)} {place(TOP)}V{place(floor)}H{place(WIDTH - RIGHT)}"),
        f'<g class="up">{numbers}</g><g class="along">{words}'
        f'<text x="{place((LEFT + WIDTH - RIGHT) / 2)}" y="{place(HEIGHT - 4)}">{Markup.escape(below)}</text></g>',
        f'<text class="name" transform="translate(10 {place((TOP + floor) / 2)}) rotate(-90)">'
        f"{Markup.escape(name)}</text>",
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A figure over alias counts, in the unit for people."""

    name: str  # of the figure
    unit: str
    decimals: int  # at most, as in the table
    counts: Array  # (counts,) alias counts; then the figure and its 90 % ends; inf if unbounded
    values: Array  # (counts,)
    low: Array  # (counts,)
    high: Array  # (counts,)
    recommended: int  # recommended count
    span: tuple[int, int]  # its range
    measured: Sequence[int] = ()  # counts at which the value is the measurement

    def top(self) -> float:
        """End of the axis: the largest finite end, unless that would flatten the curve."""
        largest, high = (_most(each) for each in (self.values, self.high))
        # at most 2.5 times the largest value; the band may be cut off
        return 1.05 * min(max(high, largest), 2.5 * largest) or 1.0

    def words(self) -> str:
        """The picture in sentences."""
        k = int(np.searchsorted(self.counts, self.recommended))
        said, per = [], self.unit.removeprefix("1") if self.unit.startswith("1/") else f" {self.unit}"
        if k < len(self.counts):
            three = [float(each[k]) for each in (self.low, self.values, self.high)]
            low, value, high = (
                ends(three, self.decimals) if all(map(math.isfinite, three)) else map(self._said, three)
            )
            aliases = counted(self.recommended, "alias", "aliases")
            said.append(f"With the recommended {aliases} {value}{per}, 90 % {low} to {high}.")
        said += [
            f"Measured with {m}: {self._said(self.values[int(np.searchsorted(self.counts, m))])}{per}."
            for m in self.measured
            if m <= self.counts[-1]
        ]
        if bool((self.high > self.top()).any()):
            said.append(f"The band is cut off above {self._said(self.top())}{per}.")
        return " ".join(said)

    def _said(self, value: float) -> str:
        return readable(value, self.decimals, zeros=True) if math.isfinite(value) else "without bound"

    def draw(self, ident: str) -> Markup:
        """Draw the range of the count, band, curve, recommended count, and measured points on top."""
        first, last = float(self.counts[0]), float(self.counts[-1])
        axes = Axes(first - 0.5, last + 0.5, self.top())
        x, floor = axes.x(self.counts), HEIGHT - BOTTOM
        y = axes.y(np.where(np.isfinite(self.values), self.values, np.nan))
        low, high = map(place, axes.x(np.clip(np.add(self.span, (-0.5, 0.5)), axes.first, axes.last)))
        strip = f"M{low} {place(TOP)}H{high}V{place(floor)}H{low}z"
        known = ~(np.isnan(self.low) | np.isnan(self.high))
        up = np.where(np.isfinite(self.high), self.high, self.top())[known]
        band = _run(x[known], axes.y(self.low[known])) + _run(x[known][::-1], axes.y(up)[::-1]).replace(
            "M", "L", 1
        )
        dots = "".join(f"M{place(a)} {place(b)}h0" for a, b in zip(x, y, strict=True) if not math.isnan(b))
        at = axes.x(self.recommended)
        pick = f"M{place(at)} {place(TOP)}V{place(floor)}" if first <= self.recommended <= last else ""
        where = [int(np.searchsorted(self.counts, m)) for m in self.measured if first <= m <= last]
        diamonds = "".join(
            f"M{place(x[k])} {place(y[k] - HALF)}l{HALF:g} {HALF:g}l-{HALF:g} {HALF:g}l-{HALF:g}-{HALF:g}z"
            for k in where
            if not math.isnan(y[k])
        )
        along = [(v, readable(v, digits=10)) for v in ticks(last, 8, whole=True) if v >= first]
        name = f"{self.name} [{self.unit}]"
        parts = [
            _path("strip", strip),
            *_frame(axes, along, ticks(self.top()), name, "aliases"),
            _path("band", f"{band}z" if known.sum() > 1 else ""),
            _path("line", _run(x, y)),
            _path("dots", dots),
            _path("pick", pick),
            _path("measured", diamonds),
        ]
        return _svg(ident, f"{name} over aliases", self.words(), parts, (WIDTH, HEIGHT))


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """A count over time."""

    start: Any  # (intervals,) start of each interval, in order
    seconds: Array  # (intervals,) length
    needed: Array  # (intervals,) aliases; nan where unknown
    in_use: Array  # (intervals,)
    worst: datetime | None = None  # start of the interval named the worst

    def draw(self, ident: str) -> Markup:
        """Draw aliases needed and in use; with many intervals, the largest need at each x."""
        begin = (self.start - self.start[0]) / np.timedelta64(1, "s")
        length = np.where(np.isfinite(self.seconds) & (self.seconds > 0), self.seconds, 0.0)
        last = float((begin + length).max()) or 1.0
        axes = Axes(0.0, last, 1.08 * max(map(_most, (self.needed, self.in_use))) or 1.0)
        needed, used = (self._steps(axes, begin, begin + length, each) for each in (self.needed, self.in_use))
        parts = [
            *_frame(axes, self._times(last), ticks(axes.top, whole=True), "aliases", self._span()),
            _path("need", needed),
            _path("used", used),
        ]
        return _svg(ident, "aliases needed over time", self.words(), parts, (WIDTH, HEIGHT))

    def words(self) -> str:
        """The picture in sentences."""
        known = np.isfinite(self.needed)
        if not known.any():
            return "No interval has an answer."
        k = int(np.nanargmax(self.needed))
        if self.worst is not None:  # if several need the same number
            same = (self.start == np.datetime64(self.worst)) & (self.needed == self.needed[k])
            k = int(np.argmax(same)) if same.any() else k
        short = int((self.needed[known] > self.in_use[known]).sum())
        return (
            f"From {self._span()}. Most, {readable(self.needed[k])}, from {str(self.start[k])[:16].replace('T', ' ')}; "
            f"{readable(short)} of {readable(int(known.sum()))} intervals need more than were in use."
        )

    def _span(self) -> str:
        first, last = (str(each)[:16].replace("T", " ") for each in (self.start[0], self.start[-1]))
        return f"{first} to {last}"

    def _times(self, last: float) -> list[tuple[float, str]]:
        """Tick labels: hours of one day, or days."""
        first = self.start[0].astype("datetime64[s]")
        unit, word = ("D", slice(5, 10)) if last > 2 * DAY else ("h", slice(11, 16))
        step = DAY if unit == "D" else HOUR
        every = max(1, math.ceil(last / step / 6))
        whole = first.astype(f"datetime64[{unit}]") + np.arange(0, math.ceil(last / step) + 2, every)
        moments = whole.astype("datetime64[s]")
        places = ((moments - first) / np.timedelta64(1, "s")).tolist()
        return [(at, str(each)[word]) for at, each in zip(places, moments, strict=True) if 0 <= at <= last]

    def _steps(self, axes: Axes, begin: Array, end: Array, values: Array) -> str:
        """A step line, interrupted where nothing was measured."""
        left, right, values = _thinned(np.round(axes.x(begin), 1), np.round(axes.x(end), 1), values)
        known, gap = ~np.isnan(values), 0.15  # a visible one
        follows = np.r_[False, known[:-1] & (left[1:] - right[:-1] <= gap)][known]
        left, right, height = left[known], right[known], axes.y(values[known])
        first = np.flatnonzero(
            ~follows | (np.diff(height, prepend=np.nan) != 0.0)
        )  # a step ends before the next
        last = np.r_[first, height.size][1:] - 1
        return "".join(
            f"{f'V{place(y)}' if on else f'M{place(a)} {place(y)}'}H{place(b)}"
            for a, b, y, on in zip(left[first], right[last], height[first], follows[first], strict=True)
        )


def _thinned(left: Array, right: Array, values: Array, places: int = 360) -> tuple[Array, Array, Array]:
    """Reduce intervals to at most `places`, with the largest value at each place."""
    if len(left) <= places:
        return left, right, values
    where = np.floor((left - LEFT) / ((WIDTH - LEFT - RIGHT) / places)).astype(int)
    first = np.flatnonzero(np.r_[True, np.diff(where) > 0])
    known = np.where(np.isnan(values), -np.inf, values)
    largest = np.maximum.reduceat(known, first)
    ends = np.r_[first[1:] - 1, len(left) - 1]
    return left[first], right[ends], np.where(np.isinf(largest), np.nan, largest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Week:
    """The week: largest count in each of its `hours`, (7, 24), Monday first, nan not measured; and aliases in use.

    `busiest` is the hour with the largest count, as "Tue 10".
    """

    hours: Array
    in_use: float
    busiest: str

    def draw(self, ident: str) -> Markup:
        """Draw one path per shade; hours that need more than are in use have a dot."""
        left, above = 34.0, 18.0
        shades: dict[int, list[str]] = {}
        side, dots = CELL - 1, []
        for (day, hour), level in np.ndenumerate(levels(self.hours, self.in_use).astype(int)):
            x, y = left + CELL * hour, above + CELL * day
            shades.setdefault(level, []).append(f"M{place(x)} {place(y)}h{side:g}v{side:g}h-{side:g}z")
            if self.hours[day, hour] > self.in_use:
                dots.append(f"M{place(x + side / 2)} {place(y + side / 2)}h0")
        names = "".join(
            f'<text x="{left - 4:g}" y="{place(above + CELL * (k + 0.72))}">{day}</text>'
            for k, day in enumerate(WEEKDAYS)
        )
        hours = "".join(
            f'<text x="{place(left + CELL * h)}" y="{above - 5:g}">{h:02d}</text>' for h in range(0, 24, 3)
        )
        parts = [
            *(_path(f"cell h{level}", "".join(shades[level])) for level in sorted(shades)),
            _path("over", "".join(dots)),
            f'<g class="up">{names}</g><g class="hours">{hours}</g>',
        ]
        size = (left + 24 * CELL + 4, above + 7 * CELL + 4)
        return _svg(ident, "aliases needed by hour of the week", self.words(), parts, size)

    def words(self) -> str:
        """The picture in sentences."""
        if not np.isfinite(self.hours).any():
            return "No hour was measured."
        over = counted(int((np.nan_to_num(self.hours) > self.in_use).sum()), "hour")
        return (
            f"Most, {readable(np.nanmax(self.hours))}, on {self.busiest.replace(' ', ' from ')}:00; in {over} of "
            f"the week more than the {readable(self.in_use)} in use."
        )
