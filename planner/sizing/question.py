"""The front door to alias questions: files, frames or a few numbers, and the answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from planner import units
from planner.demand import DeviceModel, Target
from planner.errors import InputError, ReportError
from planner.interval import Interval
from planner.library import DEFAULT_MODEL, Model
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
from planner.measurements.choose import (
    MEAN,
    WORST,
    at_interval,
    groups_of,
    of_system,
    overlapping,
    refuse_several,
)
from planner.measurements.choose import VOLUME as ALONE
from planner.measurements.ends import with_service
from planner.measurements.formats import is_folder
from planner.measurements.observed import LEAST_OPEN
from planner.measurements.read import Measured, members_from
from planner.measurements.rows import shown
from planner.measurements.systems import PoolRun, of_pool, pool_names, without_pooled
from planner.render.text import counted, sentence_case
from planner.reports.membership import Membership, share_together
from planner.reports.schema import VOLUME, Missing
from planner.results import Flags, by_key
from planner.sizing.answer import AliasAnswer
from planner.sizing.gaps import (
    FLOOR,
    NOTHING_MISSING,
    Gaps,
    below_floor,
    checked_floor,
    gaps,
    least_volumes,
    refuse_unknown_pool,
    since,
    without_rows,
)
from planner.sizing.many_pools import MeasuredPool, Subsystem, subsystem
from planner.sizing.many_volumes import NO_ANSWER, VolumeRow, VolumesAnswer, no_pool_named, volume_row
from planner.sizing.need import aliases_of_runs, need, present_cases

WORST_TAKEN: Final = (
    "Of several intervals the one is answered that needs most aliases; --interval names another, or the mean."
)
MEANS_TAKEN: Final = (
    "Each number of aliases has a mean of its own: the one is answered that needs most aliases; --interval names an "
    "interval."
)
Quantity = str | float
Quantities = Quantity | Sequence[Quantity] | NDArray[Any]


Numbers = dict[str, Any]
"""Numbers of one volume instead of a file, by name, as they were given: text with a unit, or SI; arrays of many."""


def numbers_of(**given: Any) -> Numbers:
    """Those that were given: None, and nan, was not measured."""
    known = {name: value if _is_array(value) else _known(value, name) for name, value in given.items()}
    return {name: value for name, value in known.items() if value is not None}


def rows_of(numbers: Numbers) -> list[Numbers] | None:
    """The numbers of each row where arrays were given; None of single numbers."""
    columns = {name: list(value) for name, value in numbers.items() if _is_array(value)}
    if not columns:
        return None
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{length} of {name}" for name, length in lengths.items())
        raise InputError(" and ".join(lengths), found, "arrays of one length, or single numbers beside them")
    rows = zip(*columns.values(), strict=True)
    return [numbers_of(**numbers | dict(zip(columns, row, strict=True))) for row in rows]


def run_of(numbers: Numbers, *, pool: bool) -> Run:
    """The measurement that they are."""
    if "rate" not in numbers:
        raise InputError("rate", None, "a quantity such as 755/s; it is needed with the other numbers")
    if not ("service" in numbers or {"response", "queue"} <= numbers.keys()):
        raise InputError("service", None, "a quantity such as 1.3ms; it, or response and queue, is needed")
    volumes, in_use = numbers.get("volumes", 1), numbers.get("in_use", 0)
    for argument, count, least in (("volumes", volumes, 1), ("in_use", in_use, 0)):
        if count < least:
            raise InputError(argument, count, f"a count of at least {least}")

    def given(name: str, dimension: units.Dimension | None, parts: int = 1) -> Interval | None:
        return quantity(numbers[name], dimension, name, parts) if name in numbers else None

    return from_numbers(
        io_rate=quantity(numbers["rate"], "rate", "rate"),
        service=given("service", "time", 3),  # the sum of three rounded parts
        response=given("response", "time"),
        queued=given("queue", None),
        volumes=volumes,
        aliases=in_use,
        pool=pool,
        least=LEAST_OPEN,  # as a row of a table
    )


def _is_array(value: Any) -> bool:
    ordered = hasattr(value, "__len__") and not isinstance(value, str | bytes | bytearray | Set | Mapping)
    return ordered and getattr(value, "ndim", 1) > 0


def _known(value: Any, argument: str) -> Any:
    """A single number, None where it is missing; a count, which a missing one beside it may have made a float."""
    count = argument in ("in_use", "volumes")
    # A masked number of numpy has no axis, and is 0 where it is taken as a number.
    if value is None or value is np.ma.masked or type(value).__name__ == "NAType":
        return None
    if getattr(value, "ndim", None) == 0:  # an array without an axis
        value = value[()]
    if units.is_number(value) and math.isnan(value):
        return None
    if count and not (units.is_number(value) and value % 1 == 0):
        raise InputError(argument, value, "whole numbers")
    return int(value) if count else value


def quantity(given: Any, dimension: units.Dimension | None, argument: str, parts: int = 1) -> Interval:
    """A quantity with what its digits leave open; a number is SI, a count has no unit."""
    text = given if isinstance(given, str) else None
    if text is None:
        example = "a number of zero or more" if dimension is None else units.EXAMPLES[dimension]
        if not units.is_number(given):
            raise InputError(argument, given, example)
        # A number of fewer bits is the one that it prints.
        value = float(str(given) if isinstance(given, np.floating) else given)
        if not (0 <= value < math.inf and (value > 0 or dimension is None)):
            above = "" if dimension is None else ", greater than zero"
            raise InputError(argument, given, f"{example}{above}, and finite")
        printed = float(f"{value:.{units.PRINTED}g}")  # 1.37 / 1000 is not quite .00137
        half = units.half_digit(repr(printed))
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
    rate: Quantities | None = None,
    service: Quantities | None = None,
    response: Quantities | None = None,
    queue: Quantities | None = None,
    in_use: int | Sequence[int] | None = None,
    volumes: int | Sequence[int] | None = None,
    device: str | None = None,
    bases: str | None = None,
    alias_devices: str | None = None,
    exclude: str | None = None,
    members: Path | str | None = None,
    pool: str | bool | None = None,
    system: str | None = None,
    start: datetime | str | None = None,
    end: datetime | str | None = None,
    interval: str | None = None,
    target: Target | None = None,
    wait: Quantity | None = None,
    queued: Quantity | None = None,
    target_response: Quantity | None = None,
    no_alias: Quantity | None = None,
    wait_percentile: str | tuple[float, float] | None = None,
    growth: Quantity = 0.0,
    together: Quantity | None = None,
    model: Model | Path | str = DEFAULT_MODEL,
    floor: float = FLOOR,
    curves: bool = False,
    map: str | Mapping[str, str] | None = None,
    allow_missing: bool = False,
) -> AliasAnswer | VolumesAnswer | Subsystem:
    """Answer how many aliases a volume or a pool needs, from files, data frames or a few numbers.

    Parameters
    ----------
    source : path, file object, data frame, or a sequence of these, optional
        Whatever `planner.measurements.read` takes, or numbers below; several measurements of the devices decide more.
    kind : {"volume", "pool"}, optional
        Whether each volume has aliases of its own (classic PAV) or all share them (HyperPAV). Where None, pools where
        what was measured names some or HyperPAV aliases are at work, or `bases`, `alias_devices` or `pool` are given;
        else volumes, as `planner site` and `planner report` have it.
    rate, service, response, queue : str or float, or arrays of these, optional
        Of one volume: ``"755/s"``, ``"1.3ms"``, ``"3.7ms"``, ``1.84``; numbers without a unit are SI [1/s], [s], [s],
        [1]. Arrays are many volumes, a row each in their order, nan where not measured. Without `service` it is what
        response and queue leave (Little's law); it may stand beside files that do not say it (iostat).
    in_use : int or array of int, optional
        With numbers: aliases at the time.
    volumes : int or array of int, optional
        With numbers: equal volumes that share the aliases.
    device, bases, alias_devices, exclude : str, optional
        Which devices: numbers, ranges and labels, as ``"522A"``, ``"522A-5231"``, ``"522A,522C"``.
    members : Path or str, optional
        Table of the members of all pools of a listing (CSV).
    pool : str or bool, optional
        Only this pool. True is an old spelling of ``kind="pool"``.
    system, start, end, interval : optional
        Which intervals, as `planner.measurements.read` takes them; of an archive by default each pool's worst one.
    target : Target, optional
        What the aliases must achieve; by default queueing is gone.
    wait, queued, target_response, no_alias : str or float, optional
        The same one by one, as the command has it: ``"0.1ms"``, ``0.05``, ``"2ms"``, ``"1%"``.
    wait_percentile : str or tuple of float, optional
        Share of the I/Os and the longest that they may wait [s], as ``"95%:2ms"``.
    growth : str or float, optional
        Share by which the demand grows first, ``"30%"`` or 0.3.
    together : str or float, optional
        How much the I/Os of a pool's volumes come together: ``"none"`` (independent), ``"full"`` (all at once, as of
        striped file systems and page writes), or a share; of the measurements where not said.
    model : Model, Path or str, optional
        The model: a calibrated model, its file, the name of a shipped model, or ``"none"``, no inflation and no gap.
    floor : float, optional
        Volumes with fewer I/Os queued and fewer in service are counted, not listed.
    curves : bool, optional
        Of many volumes: whether the table has a row an alias count in place of a row a volume.
    map : str or mapping, optional
        Which column of a table is which field, as `planner.measurements.read` takes it.
    allow_missing : bool, optional
        Whether it is known that members could not be read: they do not change the exit code then.

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
    numbers = numbers_of(
        rate=rate, service=service, response=response, queue=queue, in_use=in_use, volumes=volumes
    )
    if isinstance(pool, bool):
        kind, pool = kind or ("pool" if pool else "volume"), None
    if kind not in (None, "volume", "pool"):
        raise InputError("kind", kind, "volume or pool")
    parts = {
        "wait": wait, "response": target_response, "queued": queued, "no_alias": no_alias,
        "wait_percentile": wait_percentile,
    }  # fmt: skip
    wanted: dict[str, Any] = {name: value for name, value in parts.items() if value is not None}
    if target is not None and wanted:
        raise InputError("target", str(target), f"it, or {', '.join(wanted)}: they exclude each other")
    target = Target(**wanted) if target is None else target
    if not isinstance(target, Target):
        raise InputError("target", target, "a planner.Target")
    share = units.share(growth, "growth")
    question = AliasQuestion(
        device_model=DeviceModel.from_model(model), target=target, growth=share, floor=checked_floor(floor),
        curves=curves, together=share_together(together),
    )  # fmt: skip
    if source is None:
        of_files = {
            "device": device, "bases": bases, "alias_devices": alias_devices, "exclude": exclude, "members": members,
            "pool": pool, "system": system, "start": start, "end": end, "interval": interval, "map": map,
        }  # fmt: skip
        if unused := [(name, value) for name, value in of_files.items() if value is not None]:
            raise InputError(*unused[0], "a file beside it: numbers are one measurement")
        return _of_numbers(numbers, question, pooled=kind == "pool" or volumes is not None)
    given = [name for name in numbers if name != "service" or _is_array(service)]
    if given:
        raise InputError(
            " and ".join(given), "beside files", "either files or numbers: they exclude each other"
        )
    if members is not None and (bases is not None or alias_devices is not None):
        raise InputError("members", str(members), "it, or the bases and aliases: each says which devices")
    membership = members_from(members)
    sources = source if isinstance(source, (list, tuple)) else [source]
    named = ", ".join(str(each) for each in sources)
    archive = any(isinstance(each, (str, Path)) and is_folder(Path(each)) for each in sources)
    which = None if interval == WORST else interval
    measured = read(source, membership, system=system, start=start, end=end, map=map)
    measured, pool = _of_system(measured, pool)
    measured, device = _of_system(measured, device)
    measured = _at(measured, which)
    if "service" in numbers:
        measured = with_service(measured, quantity(numbers["service"], "time", "service"))
    asked = replace(
        question, intervals=_intervals(measured, membership, named), notes=measured.notes, missing=measured.missing,
        allowed=allow_missing, one_source=archive or len(sources) == 1, exclude=_devices(exclude, "exclude"),
        means=which == MEAN,
    )  # fmt: skip
    try:
        if (kind or _kind(measured, bases, alias_devices, pool)) == "volume":
            found = _volumes(asked, _devices(device, "device"))
            return found if kind else no_pool_named(found)
        only = _devices(bases if bases is not None else device, "bases")
        shared = None if alias_devices is None else Devices(alias_devices, "aliases", labels=False)
        return _pools(asked, only, shared, membership, pool)
    except InputError as error:
        lost = len(asked.missing)
        why = [f"{counted(lost, 'row')} could not be read, see planner read"] if lost else []
        if error.expected.endswith("there is none"):  # what was left out of it
            why += measured.notes[:1]
        raise InputError(error.argument, error.value, "; ".join([error.expected, *why]), error.unit) from None


def _of_system(measured: Measured, name: str | None) -> tuple[Measured, str | None]:
    """Of a name as `planner site` has it, after its system and a slash: what is of that system, and the name alone."""
    system, _, own = (name or "").partition("/")
    if not own or not (measured.devices["system"] == system).any():
        return measured, name
    frames, missing = of_system({"devices": measured.devices}, measured.missing, system)
    return replace(measured, devices=frames["devices"], missing=missing), own


def _at(measured: Measured, which: str | None) -> Measured:
    """The interval that is asked for, with a note on those that overlap."""
    devices, notes = measured.devices, (*measured.notes, *overlapping(measured.devices))
    return replace(measured, notes=notes, devices=devices if which is None else at_interval(devices, which))


def _intervals(measured: Measured, membership: Membership | None, named: str) -> list[Rows]:
    """Intervals of one system, of which the members of pools, where they are said, were measured."""
    refuse_several(measured.devices["system"].unique())
    found = intervals(measured)
    if not found:
        raise measured.without("devices or volumes")
    if membership is None:
        return found
    if not any(name in membership.members for rows in found for name in rows.names):
        some = ", ".join(list(membership.members)[:3])
        there = f"devices of {named} among its members; it names {some}"
        raise InputError("members", str(membership.path), there)
    return found


@dataclass(frozen=True, kw_only=True)
class AliasQuestion:
    """What is asked of every volume or pool: model, target, growth, what is shown, how much I/Os come `together`.

    Of files all `intervals`, whether they are of `one_source` and `means`; rows `missing`, `allowed` if known.
    """

    device_model: DeviceModel
    target: Target
    growth: float
    floor: float
    curves: bool
    together: float | None
    intervals: Sequence[Rows] = ()
    notes: Sequence[str] = ()
    missing: Sequence[Missing] = ()
    allowed: bool = False
    one_source: bool = True
    exclude: Devices | None = None
    means: bool = False

    def alone(
        self, runs: Sequence[Run], notes: Sequence[str] = (), short: Gaps = NOTHING_MISSING
    ) -> AliasAnswer:
        """The whole answer of one volume or pool."""
        last = replace(runs[-1], notes=(*runs[-1].notes, *notes))
        found = aliases_of_runs([*runs[:-1], last], self.device_model, target=self.target, growth=self.growth)
        return replace(found, floor=self.floor, gaps=short)

    def volumes(
        self, rows: Sequence[VolumeRow], notes: Sequence[str] = (), short: Gaps = NOTHING_MISSING
    ) -> VolumesAnswer:
        """The answer of many volumes."""
        return VolumesAnswer(
            rows=tuple(rows), target=self.target, growth=self.growth, floor=self.floor, curves=self.curves,
            device_model=self.device_model, remarks=tuple(notes), gaps=short,
        )  # fmt: skip

    def pools(self, pools: Sequence[MeasuredPool], notes: Sequence[str] = ()) -> Subsystem:
        """The answer of many pools."""
        return subsystem(
            pools, self.device_model, target=self.target, growth=self.growth, floor=self.floor, notes=notes
        )

    def volume_rows(self, cases: Sequence[Sequence[Run]]) -> list[VolumeRow]:
        """The row of each volume; those above the floor are answered together."""
        large = [k for k, runs in enumerate(cases) if not all(below_floor(run, self.floor) for run in runs)]
        found = need([cases[k] for k in large], self.device_model, self.target, self.growth)
        needs = dict(zip(large, found, strict=True))
        return [volume_row(runs[-1], needs.get(k)) for k, runs in enumerate(cases)]

    def declared(self, run: Run) -> Run:
        """A measurement with how much its bursts come together, where that was said."""
        if self.together is None:
            return run
        if run.bases == 1 and not run.idle:
            raise InputError(
                "together", self.together, "it for a pool: one volume has no others that its I/Os come with"
            )
        return replace(run, together=self.together, ends=tuple(map(self.declared, run.ends)))

    @cached_property
    def names(self) -> set[str]:
        """Devices, and labels of volumes without a number, of all intervals."""
        return {name for rows in self.intervals for name in rows.names}

    def taken(self, rows: Rows, only: Devices | None) -> Flags:
        """Rows that are volumes asked for, with I/O or without."""
        asked = rows.is_base if only is None else rows.is_base & only.chosen(rows)
        return asked if self.exclude is None else asked & ~self.exclude.chosen(rows)

    def with_io(self, only: Devices | None) -> list[Rows]:
        """Intervals in which any of the volumes asked for did I/O; of a source without such ones all."""

        def busy(rows: Rows) -> bool:
            rates = rows.numbers["io_rate"].value[self.taken(rows, only)]
            return bool((np.nan_to_num(rates, nan=1.0) > 0).any())

        found = [(rows, self.one_source or rows.file, busy(rows)) for rows in self.intervals]
        there = {source for _, source, is_busy in found if is_busy}
        return [rows for rows, source, is_busy in found if is_busy or source not in there]

    def source(self, rows: Rows) -> str:
        """Where an interval comes from, where there are several sources."""
        return "" if self.one_source else str(rows.file)

    def cases(
        self, runs: Mapping[str, Sequence[tuple[str, Run]]]
    ) -> tuple[dict[str, tuple[Run, ...]], list[str]]:
        """Of each volume or pool the interval that needs most; notes, which say so."""
        found, left_out = present_cases(runs, self.device_model, self.target, self.growth)
        if self.means:
            found = {name: tuple(map(_mean_of, case)) for name, case in found.items()}
        chosen = {name: case[-1] for name, case in found.items() if case[-1].interval}
        more = []
        for name, run in chosen.items():
            now, words = since(run, runs[name][-1][1].aliases)
            found[name] = (*found[name][:-1], now)
            more += [f"{sentence_case(run.name)}: {words}."] if words else []
        taken = MEANS_TAKEN if self.means else WORST_TAKEN
        return found, [*self.notes, *left_out, *([taken] if chosen else []), *more]

    def gaps(self, volumes: int, only: Devices | None, **pool: Any) -> Gaps:
        """What could not be read of `volumes` volumes, or of a pool."""
        return gaps(
            self.missing, self.names, volumes, only=only, exclude=self.exclude, allowed=self.allowed, **pool
        )


def _mean_of(run: Run) -> Run:
    """A mean that was chosen among those of other numbers of aliases, by its name."""
    mean = f"mean with {counted(run.aliases, 'alias', 'aliases')}"
    return replace(run, interval=mean) if run.interval else run


def _devices(text: str | None, argument: str) -> Devices | None:
    return None if text is None else Devices(text, argument)


def _kind(measured: Measured, *of_a_pool: object) -> str:
    """Volume or pool, as the rows say, and what is asked that only a pool has."""
    alone = all(group.kind == ALONE for group in groups_of(measured.devices.lazy()))
    return "volume" if alone and all(each is None for each in of_a_pool) else "pool"


def _volumes(asked: AliasQuestion, only: Devices | None) -> AliasAnswer | VolumesAnswer:
    """Each volume with aliases of its own; one alone is answered in full."""
    own, shared = without_pooled(asked.intervals) if only is None else (asked.intervals, [])
    if shared:
        names = ", ".join(shared[:3]) + (", ..." if len(shared) > 3 else "")  # noqa: PLR2004
        left = f"In pools, hence left out: {counted(len(shared), 'volume')} ({names}); ask `planner aliases pool`."
        asked = replace(asked, notes=[*asked.notes, left])
    asked = replace(asked, missing=[each for each in asked.missing if each.pool is None])
    there = {rows.names[k] for rows in own for k in np.flatnonzero(asked.taken(rows, only))}
    measured = by_key(
        (run.name, (asked.source(rows), asked.declared(run)))
        for rows in replace(asked, intervals=own).with_io(only)
        for run in volume_runs(rows, only, asked.exclude)
    )
    if idle := there - {*measured}:
        said = f"Without I/O, hence no alias needed: {counted(len(idle), 'volume')} ({shown([*idle])})."
        asked = replace(asked, notes=[*asked.notes, said])
    cases, notes = asked.cases(measured)
    several, short = list(cases.values()), asked.gaps(len(there), only)
    if len(several) == 1:
        return asked.alone(several[0], notes, short)
    ranked = sorted(asked.volume_rows(several), key=lambda row: (row.recommended is None, -row.rank))
    return asked.volumes(ranked, notes, short)


def _of_numbers(
    numbers: Numbers, question: AliasQuestion, *, pooled: bool
) -> AliasAnswer | VolumesAnswer | Subsystem:
    """One volume or pool, or many from arrays."""
    if not numbers:
        raise InputError("source", None, "files, or the numbers rate and service")
    if (rows := rows_of(numbers)) is not None:
        return _rows(rows, question, pooled=pooled)
    return question.alone([question.declared(run_of(numbers, pool=pooled))])


def _rows(numbers: Sequence[Numbers], question: AliasQuestion, *, pooled: bool) -> VolumesAnswer | Subsystem:
    """Many volumes or pools from arrays, in their order; a row that contradicts itself says so in its place."""
    runs: dict[int, Run] = {}
    wrong: dict[int, VolumeRow] = {}
    for k, each in enumerate(numbers):
        name = f"row {k + 1}"
        try:
            runs[k] = replace(question.declared(run_of(each, pool=pooled)), name=name)
        except InputError as problem:
            if pooled:
                raise InputError(
                    f"{problem.argument} of {name}", problem.value, problem.expected, problem.unit
                ) from None
            wrong[k] = VolumeRow(
                name=name, verdict=NO_ANSWER, problem=str(problem), exit_code=problem.exit_code
            )
    if not numbers:
        raise InputError("rate", "no rows", "arrays of one row or more")
    if pooled:
        return question.pools([
            MeasuredPool(name=run.name, volumes=run.bases, aliases=run.aliases, runs=(run,)) for run in runs.values()
        ])  # fmt: skip
    found = dict(zip(runs, question.volume_rows([(run,) for run in runs.values()]), strict=True))
    return question.volumes([(found | wrong)[k] for k in range(len(numbers))])


def _pools(
    asked: AliasQuestion, bases: Devices | None, shared: Devices | None, membership: Membership | None,
    name: str | None,
) -> AliasAnswer | Subsystem:  # fmt: skip
    """One pool in full, or a row for each of several."""
    if shared is not None and all(rows.of_kind(VOLUME).all() for rows in asked.intervals):
        raise InputError("aliases", shared.text, "it with a listing only; a table has aliases in its columns")
    pools: dict[str, MeasuredPool] = {}
    measured: dict[str, list[tuple[str, Run | None, int]]] = {}  # with the number of volumes that have rows
    said: dict[str, None] = {}
    lost: dict[str, ReportError] = {}
    of_name = asked if name is None else replace(asked, intervals=of_pool(asked.intervals, name))
    busy = of_name.with_io(bases)
    for rows, unnamed in zip(busy, pool_names(busy, bases, asked.exclude), strict=True):
        found, remarks, refused = _pools_of(rows, bases, shared, asked.exclude, unnamed)
        said |= dict.fromkeys(remarks)
        lost = refused | lost
        for each in found:
            volumes, run = each.volumes, each.run
            if membership is not None:  # members that the listing does not show are devices without I/O
                members = membership.of(each.name, "base")
                volumes = max(volumes, len(members)) - len(set(members) - asked.names)
                run = None if run is None else replace(run, idle=volumes - run.bases)
            pools[each.name] = MeasuredPool(name=each.name, volumes=volumes, aliases=each.aliases, runs=())
            declared = None if run is None else asked.declared(run)
            measured.setdefault(each.name, []).append((asked.source(rows), declared, each.volumes))
    for pool, why in lost.items():
        if pool not in pools:  # nothing is left of it
            raise why
    if name is not None:
        refuse_unknown_pool(name, list(pools), [each.pool for each in asked.missing])
    wanted: dict[str, list[tuple[str, Run]]] = {}
    for pool, over_time in measured.items():
        if name in (None, pool):
            wanted[pool], remarks = _with_rows(pool, over_time)
            said |= dict.fromkeys(remarks)
    asked = replace(asked, notes=list(dict.fromkeys([*asked.notes, *said])))
    cases, notes = asked.cases({each: runs for each, runs in wanted.items() if runs})
    several = [_at_present(pools[each], cases.get(each, ())) for each in wanted]
    gone = {each.pool: 0 for each in asked.missing if each.pool is not None and name is None}
    counts = gone | {each.name: each.volumes for each in several}  # of a pool without any readable row none
    every_gap = {
        each: asked.gaps(many, bases, pool=each, membership=membership) for each, many in counts.items()
    }
    short = {each: gap for each, gap in every_gap.items() if gap}
    if len(several) == 1 and several[0].runs and {*short} <= {several[0].name}:
        return asked.alone(several[0].runs, notes, short.get(several[0].name, NOTHING_MISSING))
    return replace(asked.pools(several, notes), gaps=short)


def _pools_of(
    rows: Rows, bases: Devices | None, shared: Devices | None, exclude: Devices | None, unnamed: str | None
) -> tuple[list[PoolRun], list[str], dict[str, ReportError]]:
    """Pools of an interval, notes, and why some are left out: what is wrong with one of a table is not with others."""
    names = rows.words["pool"]
    if not (bases is None and exclude is None and rows.pooled.all() and rows.of_kind(VOLUME).all()):
        return *pool_runs(rows, bases, shared, exclude, unnamed), {}
    found: list[PoolRun] = []
    notes: list[str] = []
    lost: dict[str, ReportError] = {}
    for name in dict.fromkeys(names):
        try:
            some, remarks = pool_runs(rows[np.flatnonzero(names == name)], None, shared, None, unnamed)
        except ReportError as problem:
            lost[str(name)] = problem
            notes.append(f"{problem}; this interval is left out.")
        else:
            found += some
            notes += remarks
    return found, notes, lost


def _with_rows(
    pool: str, intervals: Sequence[tuple[str, Run | None, int]]
) -> tuple[list[tuple[str, Run]], list[str]]:
    """Intervals of a pool with I/O and with rows enough, as `planner site` takes them; what is said of the others."""
    volumes = [many for *_, many in intervals]
    remarks = without_rows(volumes, lambda at: run.start if (run := intervals[at][1]) else None)
    least = least_volumes(volumes)
    kept = [(source, run) for source, run, many in intervals if run is not None and many > least]
    return kept, [f"Pool {pool}: {note}." for note in remarks]


def _at_present(pool: MeasuredPool, runs: tuple[Run, ...]) -> MeasuredPool:
    """A pool with its measurements, and the devices of the last of them."""
    if not runs:
        return pool
    return replace(pool, runs=runs, aliases=runs[-1].aliases, volumes=runs[-1].bases + runs[-1].idle)
