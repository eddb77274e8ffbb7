"""What is asked for a page: every question that measurements answer, each pool in full, and the same after growth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from planner import units
from planner.answer import Answer
from planner.errors import InputError
from planner.measurements.read import Measured, is_folder, read
from planner.page import provenance
from planner.page.content import Part
from planner.page.layout import Volumes, page
from planner.page.parts import part_of
from planner.page.volumes import volumes_of
from planner.site.executors import Failed, run
from planner.sizing import AliasAnswer, MeasuredPool, Subsystem, Target, aliases, answer_for, subsystem
from planner.supply import judge

if TYPE_CHECKING:
    from planner.demand import Law

GROWTHS: Final = "10%,20%,30%,50%,100%"
DEFAULT_MODEL: Final = "hyperpav"
MOST_GROWTHS: Final = 12
Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A page, and what it says first.

    Attributes
    ----------
    html : str
        The page.
    headline : str
        First lines of its answers.
    exit_code : int
        The largest of its answers.
    """

    html: str
    headline: str
    exit_code: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A pool that is to be answered in full."""

    name: str
    pool: MeasuredPool
    law: Law
    target: Target
    growth: float


def answer_in_full(wanted: Wanted) -> AliasAnswer:
    """The whole answer of one of many pools."""
    return aliases(wanted.pool.runs, wanted.law, target=wanted.target, growth=wanted.growth)


def _silent(title: str, parts: int) -> AbstractContextManager[Callable[[int], None]]:
    return nullcontext(lambda parts: None)


def growths(text: str) -> tuple[float, ...]:
    """Read shares by which the demand grows, as ``10%,50%``; none of an empty text or 0."""
    found = [units.share(word, "growth") for word in filter(None, (each.strip() for each in text.split(",")))]
    shares = tuple(sorted({share for share in found if share}))
    if len(shares) > MOST_GROWTHS:
        raise InputError("growth", text, f"at most {MOST_GROWTHS} shares; each is answered beforehand")
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
    workers: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Make a page of all that measurements answer: aliases of every pool and volume, supply counters.

    Parameters
    ----------
    sources : sequence of Path
        Files of any format, or one archive.
    command : str, optional
        What was typed, for the page.
    title : str, optional
        Its title; the names of the sources where None.
    members : Path, optional
        Members of the pools of a listing (CSV).
    system, start, end : str, optional
        Which intervals, as `planner.measurements.read` takes them.
    target : Target, optional
        What aliases must achieve; by default queueing is gone.
    no_alias : float, optional
        Share of tries without alias that supply counters may show.
    growth : sequence of float, optional
        Shares by which the demand grows, for the slider; each is answered beforehand.
    model : Path or str, optional
        The law.
    workers : int, optional
        Processes for the whole answers of many pools; as many as there are processors where None.
    progress : callable, optional
        As `planner.aliases` takes it.

    Returns
    -------
    Report
        The page.

    Raises
    ------
    InputError
        Nothing that can be answered, or what `planner.aliases` refuses.
    ReportError
        A source cannot be read.
    """
    if not sources:
        raise InputError("source", None, "at least one file, or an archive")
    archive = any(is_folder(path) for path in sources)
    measured = read(list(sources), members, system=system, start=start, end=end)
    asked: dict[str, Any] = {
        "members": members, "start": start, "end": end, "target": target, "model": model,
    }  # fmt: skip
    answers: list[tuple[Answer, Sequence[tuple[float, Answer]], dict[str, AliasAnswer]]] = []
    remarks: dict[int, tuple[str, ...]] = {}
    source: Any = list(sources) if len(sources) > 1 else sources[0]
    systems = _systems(measured) if archive else [system]
    for name in systems if measured.devices.height else []:
        answer = answer_for(source, system=name, progress=progress, **asked)
        grown = _grown(answer, growth, source, {**asked, "system": name}, workers, progress)
        full, failed = in_full(answer, workers, progress)
        answers.append((answer, grown, full))
        remarks[len(answers) - 1] = _remarks(grown, growth, failed)
    if measured.supply.height:
        from planner.measurements.supplies import read_supplies

        answers.append(
            (judge(read_supplies(source, system=system, start=start, end=end), no_alias=no_alias), (), {})
        )
    if not answers:
        raise InputError(
            "source", ", ".join(str(path) for path in sources),
            f"volumes or supply counters; found {', '.join(measured.what) or 'nothing'}",
        )  # fmt: skip
    parts = [
        part_of(answer, f"p{k}", full=full, grown=grown, remarks=remarks.get(k, ()))
        for k, (answer, grown, full) in enumerate(answers)
    ]
    return joined(
        parts, [answer for answer, _, _ in answers], command=command, title=title, sources=sources,
        volumes=volumes_of(measured.devices),
    )  # fmt: skip


def joined(
    parts: Sequence[Part], answers: Sequence[Answer], *, command: str, sources: Sequence[Path],
    title: str | None = None, volumes: Volumes | None = None,
) -> Report:  # fmt: skip
    """Lay out parts with where they came from."""
    table, words = provenance.accuracy(answers)
    names = ", ".join(path.name for path in sources[:3]) + (" and others" if len(sources) > 3 else "")  # noqa: PLR2004
    html = page(
        parts, title=title or names or parts[0].title, command=command, inputs=provenance.inputs(sources),
        accuracy=table, accuracy_words=words, volumes=volumes,
    )  # fmt: skip
    return Report(
        html=html,
        headline="\n".join(answer.headline for answer in answers),
        exit_code=max(answer.exit_code for answer in answers),
    )


def of_answer(answer: Answer, *, command: str, sources: Sequence[Path], title: str | None = None) -> Report:
    """The page of one answer, for ``--report``; its pools stand in full where the answer kept what they rest on."""
    full, _ = in_full(answer, None, None)
    return joined([part_of(answer, "p0", full=full)], [answer], command=command, sources=sources, title=title)


def _remarks(
    grown: Sequence[tuple[float, Answer]], growth: Sequence[float], failed: Sequence[Failed]
) -> tuple[str, ...]:
    """What the page leaves out, and why."""
    missing = growth[len(grown) :]
    found = [f"Pool {each.name} is not shown in full: {each.problem}." for each in failed]
    if missing:
        found.append(f"The growth slider ends before {missing[0]:.0%}: there a question has no answer.")
    return tuple(found)


def _systems(measured: Measured) -> list[str | None]:
    """Systems of an archive that have volumes."""
    found: list[str | None] = sorted(str(name) for name in measured.devices["system"].unique().drop_nulls())
    return found or [None]


def in_full(
    answer: Answer, workers: int | None, progress: Progress | None
) -> tuple[dict[str, AliasAnswer], list[Failed]]:
    """The whole answer of each of many pools, by its name; and those that have none."""
    if not isinstance(answer, Subsystem) or answer.law is None:
        return {}, []
    answered = {pool.name for pool in answer.answered}
    wanted = [
        Wanted(name=pool.name, pool=pool, law=answer.law, target=answer.target, growth=answer.growth)
        for pool in answer.measured
        if pool.runs and pool.name in answered
    ]
    with (progress or _silent)("Pools in full", len(wanted)) as done:
        found = run(answer_in_full, wanted, workers=workers, done=done)
    full = {each.name: one for each, one in zip(wanted, found, strict=True) if isinstance(one, AliasAnswer)}
    return full, [one for one in found if isinstance(one, Failed)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """A question to be asked again, of a demand that grew by `share`."""

    name: str
    share: float
    source: Any
    asked: dict[str, Any]
    answer: Subsystem | None = None


def answer_later(later: Later) -> Answer:
    """The answer after growth; of pools that are known as they were measured without reading them again."""
    if later.answer is not None and later.answer.law is not None:
        pools, law = later.answer.measured, later.answer.law
        return subsystem(pools, law, target=later.answer.target, growth=later.share)
    return answer_for(later.source, growth=later.share, **later.asked)


def _grown(
    answer: Answer, shares: Sequence[float], source: Any, asked: dict[str, Any], workers: int | None,
    progress: Progress | None,
) -> list[tuple[float, Answer]]:  # fmt: skip
    """The same answer after growth; the slider ends before a demand that no count serves."""
    kept = answer if isinstance(answer, Subsystem) else None
    wanted = [
        Later(name=f"growth of {share:.0%}", share=share, source=source, asked=asked, answer=kept)
        for share in shares
    ]
    with (progress or _silent)("After growth", len(wanted)) as done:
        found = run(answer_later, wanted, workers=workers, done=done)
    answers = takewhile(lambda pair: isinstance(pair[1], Answer), zip(shares, found, strict=True))
    return [(share, one) for share, one in answers if isinstance(one, Answer)]
