"""A system as it was described: tables of numbers with their origin, completed by models and defaults, and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from planner import library
from planner.calibrate.error_bar import possible, refuse_unknown
from planner.devices.kinds import KINDS
from planner.errors import PlannerError, ReportError
from planner.system.schema import TABLES, did_you_mean
from planner.units import FRAME, SEGMENT

GIVEN: Final = "given"
DEFAULT: Final = "default"
# Parameters that a model of a kind brings to a table; the key is the parameter without its unit.
_TIMES: Final = ("service_time_s", "inflation", "redrive_time_s")
_OF_DEVICES: Final = {"pool": _TIMES, "volume": _TIMES}
BROUGHT: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "guests": {
        "system": ("touch_time_s", "cp_charged_s"), "pool": ("think_time_s",), "volume": ("think_time_s",),
    },
    "paging": {
        "system": ("service_time_s", "pages_per_transfer", "cp_system_s"),
        "paging": ("service_time_s", "pages_per_transfer"),
        **_OF_DEVICES,
    },
    "pool": _OF_DEVICES,
    "volumes": _OF_DEVICES,
    "processors": {"processors": ("contention", "coherency")},
}  # fmt: skip
MEASURED_AT: Final = (  # keys of `validity` of a model of a system
    "guests", "devices", "queue_depth", "processors", "real_storage_gib", "instantiated", "virtual_storage_gib",
)  # fmt: skip
PER_PAGE: Final = "cp_system_time_s"  # of a paging device: processor time per page, not per transfer


class SystemValue(NamedTuple):
    """A number in SI or a word, what its digits leave open, and `origin`: "given", "default" or a model."""

    value: float | str
    half: float = 0.0
    origin: str = GIVEN


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One table: what stands under each of its keys; `path` and `line` say where it stands."""

    table: str
    name: str
    path: Path
    line: int | None
    values: Mapping[str, SystemValue] = field(default_factory=dict)

    @cached_property
    def numbers(self) -> dict[str, float]:
        """Numbers, SI."""
        return {key: each.value for key, each in self.values.items() if not isinstance(each.value, str)}

    @cached_property
    def words(self) -> dict[str, str]:
        """Words."""
        return {key: each.value for key, each in self.values.items() if isinstance(each.value, str)}

    @cached_property
    def halves(self) -> dict[str, float]:
        """What the digits of each number leave open, SI."""
        return {key: self.values[key].half for key in self.numbers}

    @cached_property
    def origin(self) -> dict[str, str]:
        """Where each value came from."""
        return {key: each.origin for key, each in self.values.items()}

    def word(self, key: str) -> str:
        """A word, empty where there is none."""
        return self.words.get(key, "")

    def over(self, values: Mapping[str, SystemValue]) -> Entry:
        """The same with what it does not say itself."""
        return replace(self, values={**self.values, **values, **self.values})

    @property
    def label(self) -> str:
        """How messages name it."""
        return f"{self.table}[{self.name}]" if self.name else self.table


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A system: its tables, as written, completed by models and defaults.

    `entries`: its tables, in the order of the file; `models` by name; `source`: name of the file without its ending.
    """

    entries: tuple[Entry, ...]
    models: Mapping[str, library.Model] = field(default_factory=dict)
    source: str = ""

    def of(self, table: str) -> tuple[Entry, ...]:
        """All tables of a kind."""
        return tuple(entry for entry in self.entries if entry.table == table)

    def one(self, table: str) -> Entry | None:
        """The only table of a kind."""
        return next(iter(self.of(table)), None)

    def named(self, table: str, name: str) -> Entry:
        """A table by its name, which has been checked."""
        return next(entry for entry in self.of(table) if entry.name == name)

    def pool_of(self, entry: Entry) -> Entry | None:
        """The pool of a group of devices, None where it names none."""
        return self.named("pool", entry.word("pool")) if entry.word("pool") else None

    @property
    def name(self) -> str:
        """How people know it."""
        entry = self.one("system")
        return (entry.word("name") if entry else "") or self.source or "system"

    def changed(self, changes: Iterable[tuple[Entry, str, float | str]]) -> System:
        """Give some values, exact ones, of some tables, which are known by their names."""
        found = {(entry.table, entry.name): entry for entry in self.entries}
        for entry, key, value in changes:
            old = found[entry.table, entry.name]
            found[entry.table, entry.name] = replace(old, values={**old.values, key: SystemValue(value)})
        return replace(self, entries=tuple(found.values()))


def complete(system: System) -> System:
    """Bring what `like`, models and defaults say, and check the whole."""
    _names(system)
    models: dict[str, library.Model] = dict(system.models)
    entries = []
    for written in system.entries:
        entry = _like(system, written, ())
        if name := entry.word("model"):
            models[name] = _model(entry, name) if name not in models else models[name]
            entry = _brought(entry, models[name], name)
        entries.append(_defaults(entry))
    found = replace(system, entries=tuple(entries), models=models)
    _references(found)
    return found


def _fail(entry: Entry, problem: str) -> ReportError:
    """An error of a table at its place; the problem goes on from its name."""
    return ReportError(entry.path, entry.label + problem, line=entry.line)


def _refuse(wrong: object, entry: Entry, problem: str) -> None:
    """Refuse a table, if something is wrong with it."""
    if wrong:
        raise _fail(entry, problem)


def _names(system: System) -> None:
    seen: dict[tuple[str, str], Entry] = {}
    for entry in system.entries:  # answers name devices of both kinds without their table
        kind = "volumes" if entry.table == "paging" else entry.table
        other = seen.setdefault((kind, entry.name), entry)
        said = " twice" if other.table == entry.table else f" has the name of {other.label}"
        _refuse(other is not entry, entry, f"{said}: expected each name once")


def _like(system: System, entry: Entry, above: tuple[str, ...]) -> Entry:
    """Take what is not said from the table that `like` names."""
    other = entry.word("like")
    if not other:
        return entry
    path = (*above, entry.name)
    _refuse(other in path, entry, f".like: a circle, {' -> '.join((*path, other))}")
    names = {each.name: each for each in system.of(entry.table)}
    _refuse(other not in names, entry, _nothing("like", other, entry.table, names))
    base = _like(system, names[other], path)
    return entry.over(base.values)


def _nothing(key: str, name: str, table: str, known: Iterable[str]) -> str:
    names = list(known)
    there = ", ".join(names) if names else f"none; a [[{table}]] is missing"
    return f".{key} = {name!r} refers to nothing: {did_you_mean(name, names)}[[{table}]] has {there}"


def _model(entry: Entry, name: str) -> library.Model:
    try:
        found = library.read_model(name)
        if found.kind in KINDS:
            possible(found, 1)  # refuses a model that contradicts itself
        elif found.kind == "system":
            refuse_unknown(found, "key of `validity`", found.validity, MEASURED_AT)
        return found
    except PlannerError as error:
        hint = did_you_mean(name, library.model_names())
        raise _fail(entry, f".model: {hint}{error}") from error


def _brought(entry: Entry, model: library.Model, name: str) -> Entry:
    """Take what is not said from the model."""
    kinds = BROUGHT.get(entry.table, {})
    expected = f"expected a model of kind {' or '.join(kinds)}, found {model.kind}"
    _refuse(model.kind not in kinds, entry, f".model = {name!r}: {expected}")
    known = model.parameters
    brought = [parameter for parameter in kinds[model.kind] if parameter in known]
    found = {each.removesuffix("_s"): SystemValue(known[each].value, origin=name) for each in brought}
    if model.kind == "paging" and PER_PAGE in known:
        pages = entry.over(found).numbers["pages_per_transfer"]
        found["cp_system"] = SystemValue(known[PER_PAGE].value * pages, origin=name)
    return entry.over(found)


def _defaults(entry: Entry) -> Entry:
    found: dict[str, SystemValue] = {}
    for key in TABLES[entry.table].keys:
        missing = key.needed and key.key not in ("name", *entry.values)
        _refuse(missing, entry, f": {key.file_key} is missing ({key.meaning})")
        if key.default is not None:
            default = key.default if isinstance(key.default, str) else float(key.default)
            found[key.key] = SystemValue(default, origin=DEFAULT)
    return entry.over(found)


def _references(system: System) -> None:
    """Every name refers to a table of the right kind, and all that the model needs is there."""
    for entry in system.entries:
        for key in TABLES[entry.table].keys:
            name = entry.word(key.key) if key.refers else ""
            names = {each.name for each in system.of(key.refers)} if key.refers else set()
            if not name or name in names:
                continue
            elsewhere = [each.label for each in system.entries if each.name == name]
            also = f" ({elsewhere[0]} is of another kind)" if elsewhere else ""
            raise _fail(entry, _nothing(key.key, name, key.refers, names) + also)
    for entry in system.of("processors"):
        count, guaranteed = entry.numbers["count"], entry.numbers.get("guaranteed", 0.0)
        why = f".guaranteed = {guaranteed:g}: expected at most count = {count:g}, the whole partition"
        _refuse(guaranteed > count, entry, why)
    for entry in system.of("guests"):
        _check_guests(entry)
    for entry in (*system.of("paging"), *system.of("volumes")):
        pool, paging = system.pool_of(entry), entry.table == "paging"
        if pool is None or pool.numbers.get("service_time") is None:
            _need(entry, "service_time")
        own, why = "aliases", ""
        if paging:
            _need(entry, "pages_per_transfer")
            own, why = "depth", ": in a pool a device works on one, an alias on one more"
        both = pool is not None and entry.origin.get(own) == GIVEN
        _refuse(both, entry, f": {own} or pool, not both{why}")
    _check_pools(system)


def _check_pools(system: System) -> None:
    for pool in system.of("pool"):
        users = [e for e in (*system.of("paging"), *system.of("volumes")) if e.word("pool") == pool.name]
        mixed = len({user.table for user in users}) > 1 or sum(user.table == "paging" for user in users) > 1
        labels = ", ".join(user.label for user in users)
        _refuse(mixed, pool, f" serves {labels}: expected one group of paging volumes, or volumes of guests")


def _check_guests(entry: Entry) -> None:
    has = {key for key in entry.numbers if entry.origin.get(key) != DEFAULT}
    given = {key for key in has if entry.origin[key] == GIVEN}
    if ("virtual" in has) != ("instantiated" in has):
        _need(entry, "virtual", "instantiated")
    if entry.word("pages_from") and not {"virtual", "miss_ratio"} & has:
        _need(entry, "virtual")
    if entry.word("io_to"):
        at_random = "io_rate" in has
        _refuse(at_random and "think_time" in given, entry, ": think_time or io_rate, not both")
        if not at_random:
            _need(entry, "think_time")
        wrong = at_random and entry.numbers["touches_per_io"] > 0
        _refuse(wrong, entry, ": touches_per_io needs guests that wait for their I/Os, not io_rate")
    else:
        spoken = {"think_time", "io_rate", "touches_per_io"} & given
        _refuse(spoken, entry, ": io_to is missing: think_time, io_rate and touches_per_io speak of its I/Os")
    share = entry.numbers.get("instantiated") or 0.0
    dense = f"{share:.0%} of all pages lie that densely even when they are spread over all segments"
    room = entry.numbers["pages_per_segment"] * FRAME * (1 + 1e-9)
    _refuse(share * SEGMENT > room, entry, f": pages_per_segment at least {256 * share:.4g}: {dense}")


def _need(entry: Entry, *keys: str) -> None:
    for known in TABLES[entry.table].keys:
        way = "; or `model = ...` brings it" if entry.table in BROUGHT else ""
        missing = known.key in keys and entry.numbers.get(known.key) is None
        _refuse(missing, entry, f": {known.file_key} is missing ({known.meaning}){way}")
