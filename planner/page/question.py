"""Answers for a page: every question that the measurements answer, details of each pool, and results after growth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner import units
from planner.answer import Answer
from planner.demand import DeviceModel, Target
from planner.errors import InputError, ReportError
from planner.lazy import pl
from planner.library import DEFAULT_MODEL
from planner.measurements.archive import collected, naming_damage, open_archive
from planner.measurements.choose import groups_of, moment
from planner.measurements.formats import is_folder
from planner.measurements.read import read
from planner.page.content import Part
from planner.page.layout import accuracy, inputs, page
from planner.page.parts import MOST_ITEMS, part_of, states_of
from planner.page.verdict import first_words, period, what_to_do
from planner.page.volumes import Volumes, volumes_of
from planner.parallel import Failed, run
from planner.render.text import UNKNOWN, word
from planner.reports.membership import share_together
from planner.site.growth.dates import FEWEST_DAYS
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
from planner.supply import SupplyAnswer, judge
from planner.units import percent

if TYPE_CHECKING:
    from planner.measurements.archive import Archive
    from planner.measurements.read import Measured

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]


def silent(title: str, parts: int) -> AbstractContextManager[Callable[[int], None]]:
    """Progress that nobody watches."""
    return nullcontext(lambda parts: None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A page: its `html`, the `headline` of its answers, and the largest `exit_code` of these."""

    html: str
    headline: str
    exit_code: int


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


def growths(text: str) -> tuple[float, ...]:
    """Read growth shares of the demand.

    Parameters
    ----------
    text : str
        Shares separated by commas, as ``10%,50%``; empty or 0 for none.

    Returns
    -------
    tuple of float
        Sorted, without duplicates.

    Raises
    ------
    InputError
        No shares, or too many to answer in advance.
    """
    found = [units.share(word, "growth") for word in filter(None, (each.strip() for each in text.split(",")))]
    shares = tuple(sorted({share for share in found if share}))
    if len(shares) > 12:  # noqa: PLR2004 - said below
        raise InputError("growth", text, "at most 12 shares; each is answered in advance")
    return shares


def report(
    sources: Sequence[Path],
    *,
    command: str = "",
    title: str | None = None,
    members: Path | None = None,
    system: str | None = None,
    start: str | None = None,
    end: str | None = None,
    target: Target | None = None,
    no_alias: float = 0.01,
    growth: Sequence[float] = (0.1, 0.2, 0.3, 0.5, 1.0),
    model: Path | str = DEFAULT_MODEL,
    scheduler: str | None = None,
    workers: int | None = None,
    together: float | str | None = None,
    map: str | None = None,
    allow_missing: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Make a page with every answer that the measurements allow: aliases of every pool and volume, supply counters.

    Parameters
    ----------
    sources : sequence of Path
        Files of any format, or one archive.
    command : str, optional
        The command line, shown on the page.
    title : str, optional
        Title; by default the names of the sources.
    members : Path, optional
        Members of the pools of a listing (CSV).
    system, start, end : str, optional
        Selection of intervals, as for `planner.measurements.read`.
    target : Target, optional
        What the aliases must achieve; by default, no queueing.
    no_alias : float, optional
        Acceptable share of tries without alias in supply counters.
    growth : sequence of float, optional
        Growth shares of the demand for the slider; each is answered in advance.
    model : Path or str, optional
        The model.
    scheduler : str, optional
        Address of a Dask scheduler for the work of many pools, as ``tcp://HOST:8786``.
    workers : int, optional
        Processes without a scheduler; by default one per processor.
    together, map, allow_missing, progress : optional
        As for `planner.aliases`.

    Returns
    -------
    Report
        The page.

    Raises
    ------
    InputError
        Nothing can be answered, or `planner.aliases` refuses the input.
    ReportError
        A source cannot be read.
    """
    if not sources:
        raise InputError("source", None, "at least one file, or an archive")
    asked = PageQuestion(
        sources=tuple(sources), members=members, system=system, start=start, end=end, target=target or Target(),
        model=model, growth=tuple(growth), workers=workers, scheduler=scheduler, progress=progress or silent,
        together=together, map=map, allow_missing=allow_missing,
    )  # fmt: skip
    there = asked.look()
    if there.supply and not there.rows and model != DEFAULT_MODEL:
        raise InputError("model", str(model), "it with volumes: counters alone are answered without a model")
    found: list[Answered] = []
    with naming_damage(asked.files):
        groups = groups_of(there.devices) if there.rows else []
    kinds = {name: {each.kind for each in groups if each.system == (name or "")} for name in there.systems}
    if there.starts > 1 or any(len(each) > 1 for each in kinds.values()):
        found.append(_over_days(asked))
        if there.days >= FEWEST_DAYS:
            found += _growing(asked)
    elif there.rows:
        several = len(there.systems) > 1
        found += [
            replace(_now(replace(asked, system=name)), system=name if several else None)
            for name in there.systems
        ]
    if there.supply:
        from planner.measurements.over_time import read_supplies

        pools = read_supplies(asked.source, system=system, start=start, end=end)
        judged = judge(pools, no_alias=no_alias)
        found.append(Answered(answer=judged, remarks=_against(judged, found)))
    if not found:
        raise InputError(
            "source", ", ".join(str(path) for path in sources), f"volumes or supply counters; found {there.what}"
        )  # fmt: skip
    parts = [
        part_of(each.answer, f"p{k}", full=each.full, grown=each.grown, remarks=each.remarks, system=each.system)
        for k, each in enumerate(found)
    ]  # fmt: skip
    with naming_damage(asked.files):
        volumes = volumes_of(there.devices) if there.rows else None
    whole = report_of(
        parts, [each.answer for each in found], command=command, title=title, sources=sources, volumes=volumes,
    )  # fmt: skip
    said = [f"{each.system}: " * (each.system is not None) + each.answer.headline for each in found]
    return replace(whole, headline="\n".join(said))


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


def _over_days(asked: PageQuestion) -> Answered:
    """Need of every pool over its days."""
    measured = None if asked.archive is not None else asked.measured
    with asked.progress("Need over time", 0):
        where: dict[str, Any] = {"scheduler": asked.scheduler, "workers": asked.workers}
        answer = site(asked.source, measured=measured, **where, **asked.question)
    return _further(answer, asked)


def _growing(asked: PageQuestion) -> list[Answered]:
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


def _now(asked: PageQuestion) -> Answered:
    """Need of each pool or volume from one measurement."""
    with asked.progress("Counting aliases", 0):
        answer = aliases(asked.source, **asked.question)
    if isinstance(answer, Subsystem) and answer.device_model is not None:
        return _further(answer, asked)
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


def _further(answer: Subsystem | SiteAnswer, asked: PageQuestion) -> Answered:
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


def _against(counters: SupplyAnswer, answers: Sequence[Answered]) -> tuple[str, ...]:
    """Remarks on pools where supply counters contradict a measurement of averages."""
    counts = {
        f"{each.system}/" * (each.system is not None) + pool.name.removeprefix("pool "): pool.count.verdict
        for each in answers
        if isinstance(each.answer, (Subsystem, AliasAnswer))
        for pool in (each.answer.pools if isinstance(each.answer, Subsystem) else [each.answer])
    }
    return tuple(
        f"Pool {pool.supply.pool}: {word(pool.verdict)} by its supply counters, {counts[pool.supply.pool]} by "
        "the averages. The counters decide: they see bursts."
        for pool in counters.pools
        if pool.verdict and counts.get(pool.supply.pool, UNKNOWN) not in (UNKNOWN, word(pool.verdict))
    )


def _remarks(answered: int, growth: Sequence[float], failed: Sequence[Failed]) -> tuple[str, ...]:
    """What the page omits, and why."""
    found = [f"{each.name} is not shown in full: {each.problem}." for each in failed]
    if answered < len(growth):
        end = percent(growth[answered])
        found.append(f"The growth slider ends before {end}, where a question has no answer.")
    return tuple(found)


def report_of(
    parts: Sequence[Part], answers: Sequence[Answer], *, command: str, sources: Sequence[Path],
    title: str | None = None, volumes: Volumes | None = None,
) -> Report:  # fmt: skip
    """Lay out the parts with their sources."""
    table, words = accuracy(answers)
    names = ", ".join(path.name for path in sources[:3]) + (" and others" if len(sources) > 3 else "")  # noqa: PLR2004
    first = answers[0]
    if isinstance(first, SiteAnswer):
        states = states_of(first.pools)
        said = first.lacking + what_to_do(states)
        lead = replace(parts[0], headline=said, further=first_words(answers, states))
        parts, title = [lead, *parts[1:]], title or period(first)
    html = page(
        parts, title=title or names or parts[0].title, names=names, command=command, inputs=inputs(sources),
        accuracy=table, accuracy_words=words, volumes=volumes,
    )  # fmt: skip
    headline = "\n".join(answer.headline for answer in answers)
    return Report(html=html, headline=headline, exit_code=max(answer.exit_code for answer in answers))


def of_answer(answer: Answer, *, command: str, sources: Sequence[Path]) -> Report:
    """Make the page of one answer, with details of its pools if the answer kept their measurements.

    Parameters
    ----------
    answer : Answer
        Any answer.
    command : str
        The command line.
    sources : sequence of Path
        Input files.

    Returns
    -------
    Report
        The page.
    """
    found = Answered(answer=answer)
    if isinstance(answer, (Subsystem, SiteAnswer)) and answer.device_model is not None:
        found = _further(answer, PageQuestion(target=answer.target))
    part = part_of(answer, "p0", full=found.full, remarks=found.remarks)
    return report_of([part], [answer], command=command, sources=sources)
