"""The track record: what was told for a count of aliases before a change, against what was measured after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from planner import render
from planner.answer import Answer
from planner.errors import PlannerError
from planner.render.text import counted
from planner.site.groups import Series, series_of
from planner.sizing.search import aliases
from planner.units import MILLISECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from planner.site.need import Part

MOST_PAIRS: Final = 4  # intervals of one pool that are compared
NEAR: Final = 0.1  # relative difference of the loads of a pair
LEAST_LOAD: Final = 0.25  # of the largest; calm intervals tell nothing
DIGITS: Final = 0.02  # of a response; no measurement is better


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One interval before and one of nearly the same load after: response times told and measured [s]."""

    before: datetime
    after: datetime
    told: float
    low: float
    high: float
    measured: float

    @property
    def held(self) -> bool:
        """Whether the 90 % range holds what was measured."""
        room = DIGITS * self.measured
        return self.low - room <= self.measured <= self.high + room


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracked:
    """One pool: aliases `before` and `after`, the `pairs` that were compared, or the `problem`."""

    system: str
    pool: str
    before: int
    after: int
    was_needed: int | None
    pairs: tuple[Pair, ...]
    problem: str = ""

    @property
    def held(self) -> int:
        """Pairs whose range held."""
        return sum(pair.held for pair in self.pairs)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dated:
    """A `part` of a site, and the date `since` which its aliases may be others."""

    part: Part
    since: datetime

    @property
    def name(self) -> str:
        """For messages."""
        return self.part.name


def tracked_of(dated: Dated) -> tuple[tuple[Tracked, ...], int]:
    """The groups of a part whose aliases changed, and how many did not."""
    from planner.site.need import rows_of_part

    part, since = dated.part, dated.since
    found, same = [], 0
    for _, series in series_of(rows_of_part(part), part.groups):
        if isinstance(series, str):
            continue
        each = _tracked(part, series, since)
        if each is None:
            same += 1
        else:
            found.append(each)
    return tuple(found), same


def _tracked(part: Part, series: Series, since: datetime) -> Tracked | None:
    there = ~np.isnat(series.start) & series.complete & (series.io_rate > 0)
    earlier = there & (series.start < np.datetime64(since, "us"))
    later = there & (series.start >= np.datetime64(since, "us"))
    if not earlier.any() or not later.any():
        return None
    before = int(series.in_use[np.flatnonzero(earlier)[-1]])
    after = int(np.median(series.in_use[later]))
    earlier &= series.in_use == before
    later &= series.in_use == after
    if before == after or not later.any():
        return None
    pairs: list[Pair] = []
    needed: list[int] = []
    problem = "no interval with a queue of nearly the same load before and after"
    for first, second in _alike(series, np.flatnonzero(earlier), np.flatnonzero(later)):
        run = series.run(first)
        if run is None:
            continue
        try:
            answer = aliases(run, part.law, target=part.target)
        except PlannerError as error:
            problem = str(error)
            continue
        row = min(after, answer.rows.aliases.size - 1)
        needed.append(answer.recommended)
        band = answer.response
        pairs.append(
            Pair(
                before=series.start[first].item(), after=series.start[second].item(),
                told=float(answer.rows.response_time[row]), low=float(band.low[row]), high=float(band.high[row]),
                measured=float(series.response[second]),
            )
        )  # fmt: skip
    return Tracked(
        system=series.group.system, pool=series.group.name, before=before, after=after,
        was_needed=max(needed, default=None), pairs=tuple(pairs), problem="" if pairs else problem,
    )  # fmt: skip


def _alike(series: Series, first: np.ndarray, second: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of nearly equal load, the busiest first; each interval after the change stands in one pair."""
    known = np.isfinite(series.response)
    first, second = first[known[first]], second[known[second]]
    if not first.size or not second.size:
        return []
    load = series.load
    busy = first[load[first] >= LEAST_LOAD * load[first].max()]
    order = busy[np.argsort(-load[busy], kind="stable")]
    picked = order[np.unique(np.linspace(0, order.size - 1, 3 * MOST_PAIRS).round().astype(int))]
    found, taken = [], set()
    for at in picked:
        off = np.abs(load[second] / load[at] - 1)
        nearest = int(second[np.argmin(off)])
        if off.min() <= NEAR and nearest not in taken:
            taken.add(nearest)
            found.append((int(at), nearest))
    return found[:MOST_PAIRS]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrackRecord(Answer):
    """What was told before a date against what was measured since, pool by pool.

    Attributes
    ----------
    pools : tuple of Tracked
        Pools whose aliases changed.
    since : datetime
        The date.
    unchanged : int
        Pools whose aliases did not change.
    remarks : tuple of str
        What reading the measurements left open.
    """

    pools: tuple[Tracked, ...]
    since: datetime
    unchanged: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def pairs(self) -> int:
        """Compared intervals of all pools."""
        return sum(len(each.pairs) for each in self.pools)

    @property
    def held(self) -> int:
        """Those whose range held."""
        return sum(each.held for each in self.pools)

    @property
    def headline(self) -> str:
        """How often the range held."""
        when = f"{self.since:%Y-%m-%d}"
        if not self.pools:
            return f"No pool has other aliases since {when} than before: nothing can be compared."
        if not self.pairs:
            return f"{counted(len(self.pools), 'pool')} changed since {when}; no intervals can be compared."
        share = 100 * self.held / self.pairs
        return (
            f"{counted(len(self.pools), 'pool')} changed since {when}: the 90 % range of the response held in "
            f"{self.held} of {counted(self.pairs, 'interval')} ({share:.0f} %)."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What was compared."""
        found = [
            *self.remarks,
            "Told: from an interval before, for the aliases in use since; measured: in an interval since whose load is "
            "within 10 %, the busiest first, at most four of a pool.",
        ]
        if self.unchanged:
            found.append(f"{counted(self.unchanged, 'pool')} unchanged, hence left out.")
        found += [f"{each.pool}: {each.problem}." for each in self.pools if each.problem]
        return tuple(found)

    def table(self) -> render.Table:
        """One row a pair."""
        rows = [(each, pair) for each in self.pools for pair in each.pairs]

        def times(name: str) -> Sequence[float]:
            return [getattr(pair, name) / MILLISECOND for _, pair in rows]

        return render.Table(
            columns=(
                render.Column(name="system", unit="", values=[each.system for each, _ in rows]),
                render.Column(name="pool", unit="", values=[each.pool for each, _ in rows]),
                render.Column(name="before", unit="", values=[each.before for each, _ in rows], decimals=0),
                render.Column(name="after", unit="", values=[each.after for each, _ in rows], decimals=0),
                render.Column(name="interval_before", unit="", values=[f"{p.before:%Y-%m-%d %H:%M}" for _, p in rows],
                              label="from"),
                render.Column(name="interval_after", unit="", values=[f"{p.after:%Y-%m-%d %H:%M}" for _, p in rows],
                              label="against"),
                render.Column(name="told", unit="ms", values=times("told"), decimals=2),
                render.Column(name="low", unit="ms", values=times("low"), decimals=2),
                render.Column(name="high", unit="ms", values=times("high"), decimals=2),
                render.Column(name="measured", unit="ms", values=times("measured"), decimals=2),
                render.Column(name="held", unit="", values=["yes" if pair.held else "no" for _, pair in rows]),
            )
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data.

        Returns
        -------
        dict
            `pools`, each with its pairs; `all`; `notes`.
        """
        return {
            "since": self.since.isoformat(),
            "pools": [
                {
                    "system": each.system, "pool": each.pool, "before": each.before, "after": each.after,
                    "was_needed": each.was_needed, "held": each.held, "problem": each.problem or None,
                    "pairs": [
                        {
                            "before": pair.before.isoformat(), "after": pair.after.isoformat(),
                            "response_ms": pair.told / MILLISECOND, "response_low_ms": pair.low / MILLISECOND,
                            "response_high_ms": pair.high / MILLISECOND, "measured_ms": pair.measured / MILLISECOND,
                            "held": pair.held,
                        }
                        for pair in each.pairs
                    ],
                }
                for each in self.pools
            ],
            "all": {"pools": len(self.pools), "unchanged": self.unchanged, "pairs": self.pairs, "held": self.held},
            "notes": list(self.notes),
        }  # fmt: skip

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw what was told with its range beside what was measured.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Where to draw; new axes where None.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from planner.site.site_picture import draw_track

        return draw_track(self, axes)
