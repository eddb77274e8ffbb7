"""The page: of every answer that some measurements allow, or of one answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from planner import units
from planner.answer import Answer
from planner.demand import Target
from planner.errors import InputError
from planner.library import DEFAULT_MODEL
from planner.measurements.archive import naming_damage
from planner.measurements.choose import groups_of
from planner.page.content import Part
from planner.page.layout import accuracy, inputs, page
from planner.page.parts import part_of, states_of
from planner.page.question import (
    Answered,
    PageQuestion,
    Progress,
    further,
    growing,
    over_days,
    present,
    silent,
)
from planner.page.verdict import first_words, period, what_to_do
from planner.page.volumes import Volumes, volumes_of
from planner.render.text import UNKNOWN, word
from planner.site.growth.dates import FEWEST_DAYS
from planner.site.site_answer import SiteAnswer
from planner.sizing import AliasAnswer, Subsystem
from planner.supply import SupplyAnswer, judge


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A page: its `html`, the `headline` of its answers, and the largest `exit_code` of these."""

    html: str
    headline: str
    exit_code: int


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
        found.append(over_days(asked))
        if there.days >= FEWEST_DAYS:
            found += growing(asked)
    elif there.rows:
        several = len(there.systems) > 1
        found += [
            replace(present(replace(asked, system=name)), system=name if several else None)
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
        found = further(answer, PageQuestion(target=answer.target))
    part = part_of(answer, "p0", full=found.full, remarks=found.remarks)
    return report_of([part], [answer], command=command, sources=sources)
