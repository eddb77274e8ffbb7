"""Answers for a page: every question that the measurements answer, details of each pool, and results after growth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.answer import Answer
from planner.demand import DeviceModel, Target
from planner.errors import InputError, ReportError
from planner.lazy import pl
from planner.library import DEFAULT_MODEL
from planner.measurements.archive import collected, open_archive
from planner.measurements.choose import moment
from planner.measurements.formats import is_folder
from planner.measurements.read import read
from planner.page.parts import MOST_ITEMS
from planner.parallel import Failed, run
from planner.reports.membership import share_together
from planner.site.parts import gaps_of, is_shared
from planner.site.question import site
from planner.site.site_answer import SiteAnswer
from planner.sizing import (
    AliasAnswer,
    MeasuredPool,
    PoolCount,
    Subsystem,
    aliases,
    aliases_of_runs,
    subsystem,
)
from planner.units import percent

if TYPE_CHECKING:
    from planner.measurements.archive import Archive
    from planner.measurements.read import Measured

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]


def silent(title: str, parts: int) -> AbstractContextManager[Callable[[int], None]]:
    """Progress that nobody watches."""
    return nullcontext(lambda parts: None)


def count_grown(
    wanted: tuple[float, Sequence[MeasuredPool]], device_model: DeviceModel, target: Target
) -> tuple[PoolCount, ...]:
    """Counts of several pools after a growth."""
    growth, pools = wanted
    return subsystem(pools, device_model, target=target, growth=growth).pools


def answer_in_full(
    pool: MeasuredPool, device_model: DeviceModel, target: Target, growth: float
) -> AliasAnswer:
    """Full answer for one of many pools."""
    return aliases_of_runs(pool.runs, device_model, target=target, growth=growth)


def answer_later(share: float, source: Any, question: Mapping[str, Any]) -> Answer:
    """Answer to the same question for a demand that grew by `share`."""
    return aliases(source, growth=share, **question)


@dataclass(frozen=True, slots=True, kw_only=True)
class Readable:
    """Available measurements: `devices` and their number of `rows`, whether there are `supply` counters, the systems.

    `starts` and `days` count the different intervals and days of the devices; `what` names the sources.
    """

    devices: pl.LazyFrame
    rows: int
    starts: int
    days: int
    supply: bool
    systems: tuple[str | None, ...]
    what: str


@dataclass(frozen=True, kw_only=True)
class PageQuestion:
    """Arguments of `report`."""

    target: Target
    sources: tuple[Path, ...] = ()
    members: Path | None = None
    system: str | None = None
    start: str | None = None
    end: str | None = None
    model: Path | str = DEFAULT_MODEL
    growth: tuple[float, ...] = ()
    workers: int | None = None
    scheduler: str | None = None
    progress: Progress = silent
    together: float | str | None = None
    map: str | None = None
    allow_missing: bool = False

    @property
    def source(self) -> Any:
        """The single source, or all."""
        return self.sources[0] if len(self.sources) == 1 else list(self.sources)

    @property
    def question(self) -> dict[str, Any]:
        """Arguments of `planner.aliases`."""
        names = ("members", "system", "start", "end", "target", "model", "together", "map", "allow_missing")
        return {name: getattr(self, name) for name in names}

    @property
    def own_members(self) -> Path | None:
        """Members of pools; None if systems share pools."""
        return None if self.members is None or is_shared(self.members) else self.members

    @cached_property
    def archive(self) -> Archive | None:
        """The archive if it is the only source; its rows are not loaded."""
        folder = len(self.sources) == 1 and self.map is None and is_folder(self.sources[0])
        return open_archive(self.sources[0]) if folder else None

    @cached_property
    def measured(self) -> Measured:
        """Content of the sources, with the members of pools unless systems share them; read once."""
        return read(
            list(self.sources), self.own_members, system=self.system, start=self.start, end=self.end,
            map=self.map,
        )  # fmt: skip

    def files(self) -> Sequence[Path]:
        """Files of an archive."""
        return [] if self.archive is None else self.archive.every_file()

    def look(self) -> Readable:
        """Find which measurements are available."""
        if self.archive is not None:
            scan = partial(
                self.archive.scan, systems=None if self.system is None else [self.system],
                start=moment(self.start, "start"), end=moment(self.end, "end"),
            )  # fmt: skip
            devices, supply, what = scan("devices"), scan("supply"), "an archive"
        else:
            devices, supply = self.measured.devices.lazy(), self.measured.supply.lazy()
            what = ", ".join(self.measured.what) or "nothing"
        start = pl.col("start").drop_nulls()
        counted = devices.select(
            pl.len().alias("rows"), start.n_unique().alias("starts"), start.dt.date().n_unique().alias("days"),
            pl.col("system").drop_nulls().unique().sort().implode().alias("systems"),
        )  # fmt: skip
        rows, starts, days, systems = collected(counted, self.files).row(0)
        return Readable(
            devices=devices, rows=rows, starts=starts, days=days, what=what,
            supply=bool(collected(supply.select(pl.len()), self.files).item()),
            systems=tuple(systems) or (self.system,),
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer, the full answers of its pools by name, the answers after growth, and remarks on omissions."""

    answer: Answer
    full: Mapping[str, AliasAnswer] = field(default_factory=dict)
    grown: Sequence[tuple[float, Answer]] = ()
    remarks: tuple[str, ...] = ()
    system: str | None = None  # whose it is, where others have theirs on the page


def over_days(asked: PageQuestion) -> Answered:
    """Need of every pool over its days."""
    measured = None if asked.archive is not None else asked.measured
    with asked.progress("Need over time", 0):
        where: dict[str, Any] = {"scheduler": asked.scheduler, "workers": asked.workers}
        answer = site(asked.source, measured=measured, **where, **asked.question)
    return further(answer, asked)


def growing(asked: PageQuestion) -> list[Answered]:
    """When limits are reached; empty if no load has a limit."""
    from planner.site.growth.limits import GrowthQuestion, site_growth

    device_model, together = DeviceModel.from_model(asked.model), share_together(asked.together)
    given = GrowthQuestion(device_model=device_model, target=asked.target, together=together)
    measured = asked.measured
    lost = gaps_of(measured.missing, asked.own_members, measured.devices.lazy(), allowed=asked.allow_missing)
    with asked.progress("What breaks first", 0):
        try:
            answer = site_growth(measured, given, gaps=lost)
        except (InputError, ReportError):  # no load with a limit: the page omits this part
            return []
    return [Answered(answer=answer)]


def present(asked: PageQuestion) -> Answered:
    """Need of each pool or volume from one measurement."""
    with asked.progress("Counting aliases", 0):
        answer = aliases(asked.source, **asked.question)
    if isinstance(answer, Subsystem) and answer.device_model is not None:
        return further(answer, asked)
    with asked.progress("After growth", len(asked.growth)) as done:
        later_by = partial(answer_later, source=asked.source, question=asked.question)
        found = run(later_by, asked.growth, workers=asked.workers, done=done)
    steps = takewhile(lambda step: not isinstance(step[1], Failed), zip(asked.growth, found, strict=True))
    later: list[tuple[float, Any]] = list(steps)  # up to where no count is enough for the demand
    return Answered(answer=answer, grown=later, remarks=_remarks(len(later), asked.growth, ()))


def pools_of(answer: Subsystem | SiteAnswer) -> list[MeasuredPool]:
    """Measured pools of an answer, for further questions; empty if the measurements were not kept."""
    if isinstance(answer, Subsystem):
        answered = {pool.name for pool in answer.answered}
        return [pool for pool in answer.measured if pool.runs and pool.name in answered]
    return [
        MeasuredPool(name=need.name, volumes=need.volumes, aliases=need.in_use, runs=(need.run,))
        for need in answer.pools[:MOST_ITEMS]
        if need.run is not None
    ]


def further(answer: Subsystem | SiteAnswer, asked: PageQuestion) -> Answered:
    """Details of every pool, and the counts of all pools after growth."""
    pools, device_model = pools_of(answer), answer.device_model
    assert device_model is not None
    already = answer.growth if isinstance(answer, Subsystem) else 0.0
    whole = partial(answer_in_full, device_model=device_model, target=asked.target, growth=already)
    with asked.progress("Pools in full", len(pools)) as done:
        each_in_full = run(whole, pools, scheduler=asked.scheduler, workers=asked.workers, done=done)
    full = {
        pool.name: one for pool, one in zip(pools, each_in_full, strict=True) if not isinstance(one, Failed)
    }
    failed = [one for one in each_in_full if isinstance(one, Failed)]
    # pools are counted in groups of eight after growth
    chunks = [pools[first : first + 8] for first in range(0, len(pools), 8)]
    wanted = [(share, some) for share in asked.growth for some in chunks]
    count = partial(count_grown, device_model=device_model, target=asked.target)
    with asked.progress("After growth", len(wanted)) as done:
        found = run(count, wanted, scheduler=asked.scheduler, workers=asked.workers, done=done)
    later: list[tuple[float, Answer]] = []
    for share in asked.growth:
        counts = [one for each, one in zip(wanted, found, strict=True) if each[0] == share]
        if any(isinstance(one, Failed) for one in counts):
            break
        every = [pool for one in counts if not isinstance(one, Failed) for pool in one]
        if isinstance(answer, Subsystem):  # pools without I/O do not change
            grown = {pool.name: pool for pool in every}
            every = [grown.get(pool.name, pool) for pool in answer.pools]
        gaps = answer.gaps if isinstance(answer, Subsystem) else {}
        later.append((share, Subsystem(pools=tuple(every), target=asked.target, growth=share, gaps=gaps)))
    return Answered(answer=answer, full=full, grown=later, remarks=_remarks(len(later), asked.growth, failed))


def _remarks(answered: int, growth: Sequence[float], failed: Sequence[Failed]) -> tuple[str, ...]:
    """What the page omits, and why."""
    found = [f"{each.name} is not shown in full: {each.problem}." for each in failed]
    if answered < len(growth):
        end = percent(growth[answered])
        found.append(f"The growth slider ends before {end}, where a question has no answer.")
    return tuple(found)
