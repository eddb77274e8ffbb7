"""The front door to alias questions: files, frames or a few numbers, and the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from planner import units
from planner.demand import Law, Target
from planner.errors import InputError, PlannerError
from planner.interval import Interval
from planner.library import DEFAULT_MODEL
from planner.measurements import (
    Devices,
    Rows,
    Run,
    from_numbers,
    intervals,
    pool_runs,
    read,
    volume_runs,
)
from planner.measurements.choose import WORST
from planner.measurements.read import Measured, is_folder
from planner.measurements.read import membership as read_members
from planner.render.text import counted
from planner.reports.membership import Membership
from planner.reports.schema import CLASSIC_ALIAS, VOLUME, Missing
from planner.sizing.answer import AliasAnswer
from planner.sizing.gaps import gaps
from planner.sizing.many import Unanswered, VolumesAnswer, in_order
from planner.sizing.need import size
from planner.sizing.overview import Subsystem
from planner.sizing.pool_count import MeasuredPool
from planner.sizing.search import aliases as search
from planner.sizing.subsystem import subsystem
from planner.sizing.worst import present_cases

SERVICE_PARTS: Final = 3  # a printed service time is the sum of three rounded parts
WORST_TAKEN: Final = (
    "Of several intervals the one is answered that needs most aliases; --interval names another, or the mean."
)
Quantity = str | float
Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Numbers of one volume instead of a file, as they were given: text with a unit, or SI."""

    rate: Quantity | None = None
    service: Quantity | None = None
    response: Quantity | None = None
    queue: Quantity | None = None
    in_use: int | None = None
    volumes: int | None = None

    @property
    def given(self) -> list[str]:
        """Names of those that were given."""
        return [name for name in self.__slots__ if getattr(self, name) is not None]

    def run(self, *, pool: bool) -> Run:
        """The measurement that they are.

        Raises
        ------
        InputError
            One is missing, no quantity, or contradicts the others.
        """
        for argument, value, example in (
            ("rate", self.rate, "755/s"),
            ("service", self.service, "1.3ms"),
        ):
            if value is None:
                raise InputError(
                    argument, None, f"a quantity such as {example}; it is needed with the other numbers"
                )
        assert self.rate is not None and self.service is not None
        volumes = 1 if self.volumes is None else self.volumes
        if volumes < 1:
            raise InputError("volumes", volumes, "a count of at least 1")
        if self.in_use is not None and self.in_use < 0:
            raise InputError("in_use", self.in_use, "a count of at least 0")
        found = from_numbers(
            io_rate=quantity(self.rate, "rate", "rate"),
            service=quantity(self.service, "time", "service", SERVICE_PARTS),
            response=None if self.response is None else quantity(self.response, "time", "response"),
            queued=None if self.queue is None else quantity(self.queue, None, "queue"),
            volumes=volumes,
            aliases=self.in_use or 0,
            pool=pool,
        )
        if not found.queue_known:
            from planner.measurements.systems import NO_QUEUE

            found = replace(found, notes=(*found.notes, NO_QUEUE))
        return found


def quantity(given: Quantity, dimension: units.Dimension | None, argument: str, parts: int = 1) -> Interval:
    """A quantity with what its digits leave open; a number is SI, a count has no unit."""
    text = given if isinstance(given, str) else None
    if text is None:
        value, half = float(given), units.half_digit(repr(given))
        if dimension is not None and not value > 0:
            raise InputError(argument, given, units.EXAMPLES[dimension] + ", greater than zero")
    elif dimension is None:
        value, half = units.parse_count(text, argument=argument), units.half_digit(text.strip())
    else:
        value = units.parse(text, dimension, argument=argument)
        half = units.resolution(text, dimension, argument=argument)
    least = 0.5 * value if dimension is not None else 0.0
    return Interval(max(value - parts * half, least), value, value + parts * half)


def aliases(
    source: Any = None,
    *,
    kind: Literal["volume", "pool"] | None = None,
    rate: Quantity | None = None,
    service: Quantity | None = None,
    response: Quantity | None = None,
    queue: Quantity | None = None,
    in_use: int | None = None,
    volumes: int | None = None,
    device: str | None = None,
    bases: str | None = None,
    alias_devices: str | None = None,
    exclude: str | None = None,
    members: Path | str | None = None,
    pool: str | None = None,
    system: str | None = None,
    start: datetime | str | None = None,
    end: datetime | str | None = None,
    interval: str | None = None,
    target: Target | None = None,
    growth: Quantity = 0.0,
    model: Path | str = DEFAULT_MODEL,
    map: str | Mapping[str, str] | None = None,
    allow_missing: bool = False,
    progress: Progress | None = None,
) -> AliasAnswer | VolumesAnswer | Subsystem:
    """Answer how many aliases a volume or a pool needs, from files, data frames or a few numbers.

    Parameters
    ----------
    source : path, file object, data frame, or a sequence of these, optional
        Whatever `planner.measurements.read` takes; several measurements of the same devices decide more. Numbers
        below take its place.
    kind : {"volume", "pool"}, optional
        Whether each volume has aliases of its own (classic PAV) or all share them (HyperPAV). Told from what was
        measured where None: pools where it names some or HyperPAV aliases are at work, volumes where classic aliases
        are or there is one base only, else a pool.
    rate, service, response, queue : str or float, optional
        Of one volume: ``"755/s"``, ``"1.3ms"``, ``"3.7ms"``, ``1.84``; numbers without a unit are SI
        [1/s], [s], [s], [1].
    in_use : int, optional
        With numbers: aliases at the time.
    volumes : int, optional
        With numbers: equal volumes that share the aliases.
    device, bases, alias_devices, exclude : str, optional
        Which devices: numbers, ranges and labels, as ``"522A"``, ``"522A-5231"``, ``"522A,522C"``.
    members : Path or str, optional
        Table of the members of all pools of a listing (CSV).
    pool : str, optional
        Only this pool.
    system, start, end, interval : optional
        Which intervals, as `planner.measurements.read` takes them; of an archive the worst interval of each pool where
        nothing is said.
    target : Target, optional
        What the aliases must achieve; by default queueing is gone.
    growth : str or float, optional
        Share by which the demand grows first, ``"30%"`` or 0.3.
    model : Path or str, optional
        The law: a model file, or the name of a shipped model.
    map : str or mapping, optional
        Which column of a table is which field, as `planner.measurements.read` takes it.
    allow_missing : bool, optional
        Whether it is known that members could not be read: they do not change the exit code then.
    progress : callable, optional
        Makes a context manager from a title and a number of parts, which is then told of the parts done.

    Returns
    -------
    AliasAnswer, VolumesAnswer or Subsystem
        Of one volume or pool; of many volumes; of many pools.

    Raises
    ------
    InputError
        Numbers and files at once, or neither; devices that are not there; a measurement that contradicts itself.
    ReportError
        A file cannot be read.
    InfeasibleError
        No count of aliases meets the target.
    ConvergenceError
        A pool could not be solved.

    Examples
    --------
    >>> answer = aliases(rate="755/s", service="1.3ms", response="3.7ms", queue=1.84)
    >>> answer.recommended, answer.range
    (2, (2, 3))
    """
    numbers = Numbers(
        rate=rate, service=service, response=response, queue=queue, in_use=in_use, volumes=volumes
    )
    share = units.share(growth, "growth")
    law, target = Law.from_model(model), target or Target()
    if source is None:
        if not numbers.given:
            raise InputError("source", None, "files, or the numbers rate and service")
        return search(
            [numbers.run(pool=kind == "pool" or volumes is not None)], law, target=target, growth=share
        )
    if numbers.given:
        given = " and ".join(numbers.given)
        raise InputError(given, "beside files", "either files or numbers: they exclude each other")
    if members is not None and (bases is not None or alias_devices is not None):
        raise InputError("members", str(members), "it, or the bases and aliases: each says which devices")
    membership = read_members(members)
    sources = source if isinstance(source, (list, tuple)) else [source]
    named = ", ".join(str(each) for each in sources)
    archive = any(isinstance(each, (str, Path)) and is_folder(Path(each)) for each in sources)
    which = None if interval == WORST else interval
    measured = read(source, membership, system=system, start=start, end=end, interval=which, map=map)
    _one_system(measured)
    alone = archive or len(sources) == 1
    every = intervals(measured)
    if members is not None and every and all(rows.of_kind(VOLUME).all() for rows in every):
        raise InputError(
            "members", str(members), "it with a listing only; a table has pools and aliases in its columns"
        )
    if not every:
        raise InputError(
            "source",
            named,
            f"devices or volumes; found {', '.join(measured.what) or 'none'}",
        )
    if membership is not None and not any(
        name in membership.members for rows in every for name in rows.names
    ):
        some = ", ".join(list(membership.members)[:3])
        there = f"devices of {named} among its members; it names {some}"
        raise InputError("members", str(membership.path), there)
    lost = Lost(measured.missing, allow_missing)
    try:
        if (kind or _kind(every)) == "volume":
            only = None if device is None else Devices(device, "device")
            return _volumes(
                every, only, _devices(exclude, "exclude"), law, target, share, measured.notes, progress, lost,
                alone=alone,
            )  # fmt: skip
        chosen = (
            _devices(bases if bases is not None else device, "bases"),
            None if alias_devices is None else Devices(alias_devices, "aliases", labels=False),
            _devices(exclude, "exclude"),
        )
        return _pools(
            every, chosen, membership, pool, law, target, share, measured.notes, progress, lost, alone=alone
        )
    except InputError as error:
        if not lost.missing:
            raise
        rows = f"{counted(len(lost.missing), 'row')} could not be read, see planner read"
        raise InputError(error.argument, error.value, f"{error.expected}; {rows}", error.unit) from None


@dataclass(frozen=True, slots=True)
class Lost:
    """Rows that could not be `read`, and whether the user `allowed` that."""

    missing: Sequence[Missing]
    allowed: bool


def _names(every: Sequence[Rows]) -> set[str]:
    """Devices, and labels of volumes without a number, of all intervals."""
    return {name for rows in every for name in rows.names}


def _one_system(measured: Measured) -> None:
    """Refuse devices of several systems: an answer is about one."""
    systems = sorted(str(name) for name in measured.devices["system"].unique().drop_nulls())
    if len(systems) > 1:
        raise InputError(
            "system", None, f"one of {', '.join(systems)}: the measurements are of several systems"
        )


def _devices(text: str | None, argument: str) -> Devices | None:
    return None if text is None else Devices(text, argument)


def _kind(every: Sequence[Rows]) -> str:
    """Volume or pool, as the rows say."""
    for rows in every:
        pooled = any(pool is not None for pool in rows.words["pool"])
        if pooled or rows.is_alias.any():
            return "pool"
        if rows.of_kind(CLASSIC_ALIAS).any():
            return "volume"
    return "volume" if all(int(rows.is_base.sum()) == 1 for rows in every) else "pool"


def _volumes(
    every: Sequence[Rows], only: Devices | None, exclude: Devices | None, law: Law, target: Target, growth: float,
    notes: Sequence[str], progress: Progress | None, lost: Lost, *, alone: bool,
) -> AliasAnswer | VolumesAnswer:  # fmt: skip
    """Each volume with aliases of its own; one alone is answered in full."""
    systems: dict[str, list[tuple[str, Run]]] = {}
    for rows in every:
        for run in volume_runs(rows, only, exclude):
            systems.setdefault(run.name, []).append(("" if alone else str(rows.file), run))
    several = list(present_cases(systems, law, target, growth).values())
    notes = _with_worst(notes, several)
    short = gaps(lost.missing, _names(every), len(several), only=only, exclude=exclude, allowed=lost.allowed)
    if len(several) == 1:
        (runs,) = several
        last = replace(runs[-1], notes=(*runs[-1].notes, *notes))
        return replace(search([*runs[:-1], last], law, target=target, growth=growth), gaps=short)
    answers, unanswered = [], []
    with (progress or _silent)("Volumes", len(several)) as done:
        for runs, each in zip(several, size(several, law, target, [growth] * len(several)), strict=True):
            try:
                if isinstance(each, PlannerError):
                    raise each
                if each is not None:
                    answers.append(each.answer())
            except PlannerError as problem:
                unanswered.append(
                    Unanswered(name=runs[-1].name, problem=str(problem), exit_code=problem.exit_code)
                )
            done(1)
    return VolumesAnswer(
        answers=in_order(answers), target=target, unanswered=tuple(unanswered), growth=growth, remarks=tuple(notes),
        gaps=short,
    )  # fmt: skip


def _with_worst(notes: Sequence[str], cases: Sequence[Sequence[Run]]) -> list[str]:
    """Say so where an interval was chosen."""
    return [*notes, *([WORST_TAKEN] if any(runs[-1].interval for runs in cases) else [])]


def _silent(title: str, parts: int) -> AbstractContextManager[Callable[[int], None]]:
    return nullcontext(lambda parts: None)


def _pools(
    every: Sequence[Rows], chosen: tuple[Devices | None, Devices | None, Devices | None],
    membership: Membership | None, name: str | None, law: Law, target: Target, growth: float, said: Sequence[str],
    progress: Progress | None, lost: Lost, *, alone: bool,
) -> AliasAnswer | Subsystem:  # fmt: skip
    """One pool in full, or a row for each of several."""
    bases, aliases_, exclude = chosen
    if aliases_ is not None and all(rows.of_kind(VOLUME).all() for rows in every):
        raise InputError(
            "aliases", aliases_.text, "it with a listing only; a table has pools and aliases in its columns"
        )
    pools: dict[str, MeasuredPool] = {}
    present = _names(every)
    measured: dict[str, list[tuple[str, Run]]] = {}
    notes = list(said)
    for rows in every:
        found, told = pool_runs(rows, bases, aliases_, exclude)
        notes += [note for note in told if note not in notes]
        for each in found:
            volumes = each.volumes
            run = each.run
            if membership is not None:  # members that the listing does not show are devices without I/O
                volumes = max(volumes, len(membership.of(each.name, "base")))
                volumes -= len(set(membership.of(each.name, "base")) - present)
                run = None if run is None else replace(run, idle=volumes - run.bases)
            pools[each.name] = MeasuredPool(name=each.name, volumes=volumes, aliases=each.aliases, runs=())
            measured.setdefault(each.name, [])
            if run is not None:
                measured[each.name].append(("" if alone else str(rows.file), run))
    if name is not None and name not in pools:
        raise InputError("pool", name, f"one of {', '.join(pools)}")
    wanted = {each: runs for each, runs in measured.items() if name in (None, each)}
    cases = present_cases({each: runs for each, runs in wanted.items() if runs}, law, target, growth)
    several = [replace(pools[each], runs=cases.get(each, ())) for each in wanted]
    several = [replace(each, aliases=each.runs[-1].aliases) if each.runs else each for each in several]
    notes = _with_worst(notes, list(cases.values()))
    short = {
        each.name: gaps(
            lost.missing, present, each.volumes, pool=each.name, membership=membership, only=bases, exclude=exclude,
            allowed=lost.allowed,
        )
        for each in several
    }  # fmt: skip
    if len(several) == 1:
        (only,) = several
        if not only.runs:
            raise InputError("io_rate", 0.0, f"a volume of pool {only.name} with I/O; there is none", "1/s")
        last = replace(only.runs[-1], notes=(*only.runs[-1].notes, *notes))
        in_full = search([*only.runs[:-1], last], law, target=target, growth=growth)
        return replace(in_full, gaps=short[only.name])
    with (progress or _silent)("Pools", len(several)) as done:
        answer = subsystem(several, law, target=target, growth=growth, notes=notes, done=done)
    return replace(answer, gaps={name: each for name, each in short.items() if each})
