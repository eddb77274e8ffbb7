"""The track record: what was predicted for a count of aliases before a change, against what was measured after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from planner import parallel
from planner.answer import Answer, nested
from planner.errors import InputError
from planner.lazy import pl
from planner.measurements import Run
from planner.measurements.choose import moment
from planner.measurements.over_time import RunsOverTime, over_time
from planner.measurements.read import Data
from planner.quantity import column
from planner.render.text import counted
from planner.reports.moments import before
from planner.results import Integers
from planner.site.parts import SitePart, parts_of, rows_of_part
from planner.site.pool_need import BUSY, covered
from planner.sizing.gaps import all_notes
from planner.sizing.need import Need, need
from planner.units import percent


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedInterval:
    """One interval before and one of nearly the same load after: response times predicted and measured [s]."""

    before: datetime
    after: datetime
    predicted: float
    low: float
    high: float
    measured: float

    @property
    def held(self) -> bool:
        """Whether the 90 % range holds what was measured."""
        room = 0.02 * self.measured  # no measurement is better
        return self.low - room <= self.measured <= self.high + room


PAIR: Final = (
    column("before", of="before"), column("after", of="after"),
    column("response", "ms", of="predicted"), column("response_low", "ms", of="low"),
    column("response_high", "ms", of="high"), column("measured", "ms", of="measured"), column("held"),
)  # fmt: skip


TRACKED: Final = (
    *map(column, ("system", "pool", "before", "after", "was_needed", "held")),
    column("problem", of=lambda pool: pool.problem or None), nested("pairs", "pairs", PAIR),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedPool:
    """One pool: aliases `before` and `after`, the `pairs` that were compared, or the `problem`."""

    system: str
    pool: str
    before: int
    after: int
    was_needed: int | None = None
    pairs: tuple[ComparedInterval, ...] = ()
    problem: str = ""

    @property
    def held(self) -> int:
        """Pairs whose range held."""
        return sum(pair.held for pair in self.pairs)


def track_record(
    source: Data,
    since: datetime | str,
    *,
    scheduler: str | None = None,
    workers: int | None = None,
    **asked: Any,
) -> TrackRecord:
    """Set what is predicted from before a date against what was measured since; `asked` is what `parts_of` takes."""
    when = moment(since, "since")
    if when is None:
        raise InputError("since", since, "a day or a time such as 2026-03-01")
    parts, notes, lost = parts_of(source, allow_missing=True, **asked)
    pools: list[TrackedPool] = []
    failed: list[str] = []
    unchanged = 0
    for each in parallel.run(partial(tracked_of, since=when), parts, scheduler, workers):
        if isinstance(each, parallel.Failed):
            failed.append(f"No record of {each.name}: {each.problem}")
            continue
        pools += each[0]
        unchanged += each[1]
    if not (pools or unchanged or failed):
        raise InputError("since", str(since), "a time with measured intervals before it and since")
    remarks = (*all_notes(lost), *notes, *failed)
    return TrackRecord(pools=tuple(pools), since=when, unchanged=unchanged, remarks=remarks)


CLOCK: Final = "%Y-%m-%d %H:%M"
GROUPS: Final = ("pool or volume", "pools or volumes")


class ComparedRow(NamedTuple):
    """A row of the table."""

    pool: TrackedPool
    pair: ComparedInterval


def tracked_of(part: SitePart, since: datetime) -> tuple[tuple[TrackedPool, ...], int]:
    """The groups of a part whose aliases changed since, and how many did not."""
    rows, _ = rows_of_part(part)
    every = [pool for _, pool in over_time(rows, part.groups) if not isinstance(pool, str)]
    found = [(pool, _changed(pool, since)) for pool in every]
    changed = [(pool, each, places) for pool, (each, places) in found if each and each.before != each.after]
    unchanged = sum(each is not None for _, (each, _) in found) - len(changed)
    runs = [pool.runs[first] for pool, _, places in changed for first, _ in places]
    answers = iter(need([(run,) for run in runs if isinstance(run, Run)], part.device_model, part.target))
    return tuple(_tracked(*each, answers) for each in changed), unchanged


def _changed(pool: RunsOverTime, since: datetime) -> tuple[TrackedPool | None, list[tuple[int, int]]]:
    """Aliases before and since, None where it was not measured in both; places of intervals of nearly equal load."""
    there = ~np.isnat(pool.start) & covered(pool) & (pool.io_rate > 0)
    clock = pl.DataFrame({"start": pool.start, "utc_offset": pl.Series(pool.clock).fill_nan(None).cast(int)})
    begun = clock.select(before(since)).to_series().fill_null(value=False).to_numpy()
    earlier, later = there & begun, there & ~begun
    if not earlier.any() or not later.any():
        return None, []
    then = int(pool.in_use[np.flatnonzero(earlier)[-1]])
    after = int(np.median(pool.in_use[later]))
    earlier &= pool.in_use == then
    later &= pool.in_use == after
    places = _alike(pool, np.flatnonzero(earlier), np.flatnonzero(later))
    return TrackedPool(system=pool.group.system, pool=pool.group.name, before=then, after=after), places


def _tracked(
    pool: RunsOverTime, changed: TrackedPool, places: list[tuple[int, int]], answers: Iterator[Need]
) -> TrackedPool:
    """The response times that the answers of the intervals before predict, beside those that were measured since."""
    pairs: list[ComparedInterval] = []
    needed: list[int] = []
    problem = "no interval with a queue of nearly the same load before and after"
    for (first, second), found in zip(places, answers, strict=False):
        answer = found.answer
        if answer is None:
            problem = found.problem
            continue
        row = min(changed.after, answer.rows.aliases.size - 1)
        needed.append(answer.recommended)
        band = answer.response
        pairs.append(
            ComparedInterval(
                before=pool.start[first].item(), after=pool.start[second].item(),
                predicted=float(answer.rows.response_time[row]), low=float(band.low[row]), high=float(band.high[row]),
                measured=float(pool.response[second]),
            )
        )  # fmt: skip
    problem = "" if pairs else problem
    return replace(changed, was_needed=max(needed, default=None), pairs=tuple(pairs), problem=problem)


def _alike(
    pool: RunsOverTime, first: Integers, second: Integers, near: float = 0.1, most: int = 4
) -> list[tuple[int, int]]:
    """Pairs whose loads differ by a tenth at most, the busiest first; each interval after the change is in one."""
    known = np.isfinite(pool.response)
    first, second = first[known[first]], second[known[second]]
    if not first.size or not second.size:
        return []
    load = pool.load
    busy = first[load[first] >= BUSY * load[first].max()]  # calm intervals tell nothing
    order = busy[np.argsort(-load[busy], kind="stable")]
    picked = order[np.unique(np.linspace(0, order.size - 1, 3 * most).round().astype(int))]
    found, taken = [], set()
    for at in picked:
        off = np.abs(load[second] / load[at] - 1)
        nearest = int(second[np.argmin(off)])
        if off.min() <= near and nearest not in taken:
            taken.add(nearest)
            found.append((int(at), nearest))
    return found[:most]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrackRecord(Answer):
    """What was predicted before a date against what was measured since, pool by pool."""

    PICTURE: ClassVar[str] = "planner.site.site_picture:draw_track"
    COLUMNS: ClassVar = (
        column("system", of="pool.system"), column("pool", of="pool.pool"),
        column("before", decimals=0, of="pool.before"), column("after", decimals=0, of="pool.after"),
        column("interval_before", "", "from", of=lambda row: format(row.pair.before, CLOCK)),
        column("interval_after", "", "against", of=lambda row: format(row.pair.after, CLOCK)),
        column("told", "ms", "predicted", decimals=2, of="pair.predicted"),
        *(column(name, "ms", decimals=2, of=f"pair.{name}") for name in ("low", "high", "measured")),
        column("held", of=lambda row: "yes" if row.pair.held else "no"),
    )  # fmt: skip
    ROWS: ClassVar = "compared"
    FIGURES: ClassVar = (
        column("since", of="since"), nested("pools", "pools", TRACKED),
        column("all", of=lambda record: {"pools": len(record.pools)}
               | {name: getattr(record, name) for name in ("unchanged", "pairs", "held")}),
    )  # fmt: skip
    pools: tuple[TrackedPool, ...]  # pools whose aliases changed
    since: datetime  # the date
    unchanged: int = 0  # pools whose aliases did not change
    remarks: tuple[str, ...] = ()  # what reading the measurements left open

    @property
    def compared(self) -> list[ComparedRow]:
        """Intervals that were compared, pool by pool."""
        return [ComparedRow(each, pair) for each in self.pools for pair in each.pairs]

    @property
    def pairs(self) -> int:
        """Compared intervals of all pools."""
        return len(self.compared)

    @property
    def held(self) -> int:
        """Those whose range held."""
        return sum(each.held for each in self.pools)

    @property
    def headline(self) -> str:
        """How often the range held."""
        when = f"{self.since:%Y-%m-%d}"
        if not self.pools:
            return f"No {GROUPS[0]} has other aliases since {when} than before: nothing can be compared."
        if not self.pairs:
            return f"{counted(len(self.pools), *GROUPS)} changed since {when}; no intervals can be compared."
        return (
            f"{counted(len(self.pools), *GROUPS)} changed since {when}: the 90 % range of the response held in "
            f"{self.held} of {counted(self.pairs, 'interval')} ({percent(self.held / self.pairs)})."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What was compared."""
        found = [*self.remarks]
        if self.pairs:
            found.append(
                "Predicted: from an interval before, for the aliases in use since; measured: in an interval since "
                "whose load is within 10 %, the busiest first, at most four of each."
            )
        if self.unchanged:
            found.append(f"{counted(self.unchanged, *GROUPS)} unchanged, hence left out.")
        found += [f"{each.pool}: {each.problem}." for each in self.pools if each.problem]
        return tuple(found)
