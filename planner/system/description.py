"""A system as it was described: tables of numbers with their origin, checked, and the models that they name."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from planner import library
from planner.errors import InputError, PlannerError, ReportError
from planner.system.schema import TABLES, Key, TomlTable, did_you_mean, nearest, one_of
from planner.units import EXAMPLES, FRAME, half_digit, parse, resolution

GIVEN: Final = "given"
DEFAULT: Final = "default"
_POSITION: Final = re.compile(r" \(at line (?P<line>\d+), column (?P<column>\d+)\)$")
_HEADER: Final = re.compile(r"\s*\[\[?(?P<name>[^\]]*)\]\]?\s*(#.*)?$")
_KEY: Final = re.compile(r"""\s*["']?(?P<key>[A-Za-z0-9_-]+)["']?\s*=""")
# What a model of a kind says of a table: key here, parameter there.
_TIMES: Final = {"service_time": "service_time_s", "inflation": "inflation", "redrive_time": "redrive_time_s"}
BROUGHT: Final[Mapping[str, Mapping[str, Mapping[str, str]]]] = {
    "guests": {
        "system": {"touch_time": "touch_time_s", "cp_charged": "cp_charged_s"},
        "pool": {"think_time": "think_time_s"},
        "volume": {"think_time": "think_time_s"},
    },
    "paging": {
        "system": {
            "service_time": "service_time_s", "pages_per_transfer": "pages_per_transfer", "cp_system": "cp_system_s",
        },
        "paging": {"service_time": "service_time_s", "pages_per_transfer": "pages_per_transfer"},
        "pool": _TIMES,
        "volume": _TIMES,
    },
    "pool": {"pool": _TIMES, "volume": _TIMES},
    "volumes": {"pool": _TIMES, "volume": _TIMES},
    "processors": {"processors": {"contention": "contention", "coherency": "coherency"}},
}  # fmt: skip
PER_PAGE: Final = "cp_system_time_s"  # of a paging device: processor time per page, not per transfer


class Digits(float):
    """A number of a file with the digits that it was written in."""

    text: str

    def __new__(cls, text: str) -> Digits:
        """Read it."""
        made = super().__new__(cls, text)
        made.text = text
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One table: `numbers` in SI with `halves` (what their digits leave open), `words`, and where each came from.

    `origin` is "given", "default" or the name of a model; `place` says where it stands, for messages.
    """

    table: str
    name: str
    place: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)
    halves: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    origin: Mapping[str, str] = field(default_factory=dict)

    def number(self, key: str) -> float | None:
        """A number, None where it is not known."""
        return self.numbers.get(key)

    def word(self, key: str) -> str:
        """A word, empty where there is none."""
        return self.words.get(key, "")

    @property
    def label(self) -> str:
        """How messages name it."""
        return f"{self.table}[{self.name}]" if self.name else self.table


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A system: its tables, as written, completed by models and defaults.

    Attributes
    ----------
    entries : tuple of Entry
        Its tables, in the order of the file.
    models : mapping
        Models that they name, by name.
    source : str
        Name of the file without its ending.
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

    @property
    def name(self) -> str:
        """How people know it."""
        entry = self.one("system")
        return (entry.word("name") if entry else "") or self.source or "system"

    def changed(self, changes: Iterable[tuple[Entry, str, float | str, float]]) -> System:
        """Give some values anew."""
        found = {id(entry): entry for entry in self.entries}
        for entry, key, value, half in changes:
            old = found[id(entry)]
            origin = {**old.origin, key: GIVEN}
            if isinstance(value, str):
                new = replace(old, words={**old.words, key: value}, origin=origin)
            else:
                new = replace(
                    old, numbers={**old.numbers, key: value}, halves={**old.halves, key: half}, origin=origin,
                    words={name: word for name, word in old.words.items() if name != key},
                )  # fmt: skip
            found[id(entry)] = new
        return replace(self, entries=tuple(found[id(entry)] for entry in self.entries))


def read_system(path: Path | str) -> System:
    """Read a system file.

    Parameters
    ----------
    path : Path or str
        A TOML file.

    Returns
    -------
    System
        Its tables, completed by the models that it names.

    Raises
    ------
    ReportError
        The file cannot be read, is not TOML, or a table or key is unknown, missing, twice or outside its bounds.
    InputError
        There is no such model.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ReportError(
            path, f"cannot be read: {error.strerror}; expected a system file in TOML"
        ) from error
    except UnicodeDecodeError as error:
        raise ReportError(path, "expected a system file in TOML, found bytes that are no text") from error
    return parse_system(text, path)


def parse_system(text: str, path: Path | str = "system.toml") -> System:
    """Read the text of a system file.

    Parameters
    ----------
    text : str
        TOML.
    path : Path or str, optional
        Where it stands, for messages.

    Returns
    -------
    System
        Its tables, completed by the models that it names.

    Raises
    ------
    ReportError
        The text is not TOML, or a table or key is unknown, missing, twice or outside its bounds.
    InputError
        There is no such model.
    """
    try:
        content = library.parse_toml(text, Digits)
    except tomllib.TOMLDecodeError as error:
        at = _POSITION.search(str(error))
        line, column = (int(at["line"]), int(at["column"])) if at else (None, None)
        problem = f"expected TOML: {_POSITION.sub('', str(error))}; `planner system --template minimal` shows a file"
        raise ReportError(path, problem, line=line, column=column) from error
    if "schema_version" in content:
        raise ReportError(path, "expected a system file, found a model; `planner predict` asks a model")
    reader = _Reader(Path(path), _lines(text))
    entries = tuple(entry for name, tables in content.items() for entry in reader.table(name, tables))
    return complete(System(entries=entries, source=Path(path).stem), reader)


def is_system(path: Path | str) -> bool:
    """Tell a system file from a model file, which says its `kind`.

    Parameters
    ----------
    path : Path or str
        A file, which need not exist.

    Returns
    -------
    bool
        Whether it is TOML with tables of a system and no `schema_version`.
    """
    try:
        content = library.parse_toml(Path(path).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return False
    return "schema_version" not in content and bool(set(content) & (set(TABLES) - {"processors", "pool"}))


def _lines(text: str) -> dict[tuple[str, int, str], int]:
    """Line of every key, by table, its number among those of that name, and key ("" for the header)."""
    found: dict[tuple[str, int, str], int] = {}
    counts: dict[str, int] = {}
    table, number = "", 0
    for line, content in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(content):
            table = header["name"].strip("\"' \t")
            number = counts.get(table, 0)
            counts[table] = number + 1
            found.setdefault((table, number, ""), line)
        elif key := _KEY.match(content):
            found.setdefault((table, number, key["key"]), line)
    return found


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns what TOML gave into entries; knows the file and the lines."""

    path: Path
    lines: Mapping[tuple[str, int, str], int]

    def error(self, problem: str, table: str, number: int = 0, key: str = "") -> ReportError:
        line = self.lines.get((table, number, key)) or self.lines.get((table, number, ""))
        return ReportError(self.path, problem, line=line)

    def table(self, name: str, content: Any) -> list[Entry]:
        """All tables under one name."""
        if name not in TABLES:
            hint = did_you_mean(name, TABLES)
            raise self.error(f"unknown table {name!r}: {hint}a system has {', '.join(TABLES)}", name)
        declared = TABLES[name]
        parts = content if isinstance(content, list) else [content]
        if not all(isinstance(part, dict) for part in parts):
            raise self.error(f"expected a table, as [{'[' * declared.many}{name}{']' * declared.many}]", name)
        if not declared.many and isinstance(content, list) and len(parts) > 1:
            raise self.error(f"expected one table [{name}], found {len(parts)}", name, 1)
        return [self.entry(declared, part, k) for k, part in enumerate(parts)]

    def entry(self, declared: TomlTable, content: Mapping[str, Any], number: int) -> Entry:
        """One table, as written."""
        numbers: dict[str, float] = {}
        halves: dict[str, float] = {}
        words: dict[str, str] = {}
        for file_key, value in content.items():
            key, factor = self._declared(declared, file_key, value, number)
            if key.key in numbers or key.key in words:
                raise self.error(
                    f"{declared.name}.{key.key} twice: expected it once", declared.name, number, file_key
                )
            try:
                said, half = value_of(key, value, factor, f"{declared.name}.{file_key}")
            except InputError as error:
                raise self.error(str(error), declared.name, number, file_key) from error
            if isinstance(said, str):
                words[key.key] = said
            else:
                numbers[key.key], halves[key.key] = said, half
        name = words.pop("name", "") if declared.many else ""
        if declared.many and not name:
            raise self.error(f"{declared.name}: expected a `name`", declared.name, number)
        line = self.lines.get((declared.name, number, ""))
        place = f"{self.path}, line {line}" if line else str(self.path)
        origin = dict.fromkeys([*numbers, *words], GIVEN)
        return Entry(table=declared.name, name=name, place=place, numbers=numbers, halves=halves, words=words,
                     origin=origin)  # fmt: skip

    def _declared(self, declared: TomlTable, file_key: str, value: Any, number: int) -> tuple[Key, float]:
        """Declaration of a key and the unit of its suffix; a text under a bare key carries its own unit."""
        found = declared.find(file_key)
        if found is not None:
            return found
        bare = declared.bare(file_key)
        if bare is None:
            known = [key.file_key for key in declared.keys]
            hint = did_you_mean(file_key, [*known, *(key.key for key in declared.keys)])
            problem = f"unknown key {file_key!r} in {declared.name}: {hint}it has {', '.join(known)}"
            raise self.error(problem, declared.name, number, file_key)
        if not isinstance(value, str) or value in bare.words:
            problem = (
                f"{declared.name}.{file_key} = {value!r}: a unit is missing; write {bare.file_key} = ..., or a text "
                f"with its unit, {EXAMPLES[bare.dimension] if bare.dimension else ''}"
            )
            raise self.error(problem, declared.name, number, file_key)
        return bare, 1.0


def value_of(key: Key, value: Any, factor: float, argument: str) -> tuple[float | str, float]:
    """SI value of what was written, and what its digits leave open."""
    if key.text:
        if not isinstance(value, str) or not value:
            raise InputError(
                argument, value, "a text" if not key.words else " or ".join(map(repr, key.words))
            )
        if key.words and value not in key.words:
            raise InputError(argument, value, one_of(value, key.words))
        return value, 0.0
    if key.unit == "yes or no":
        if not isinstance(value, bool):
            raise InputError(argument, value, "true or false")
        return float(value), 0.0
    if isinstance(value, str):
        if value in key.words:
            return float("inf"), 0.0
        return _typed(key, value, argument)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(argument, value, "a number" + (f" or {' or '.join(key.words)}" if key.words else ""))
    half = half_digit(value.text) * factor if key.digits and isinstance(value, Digits) else 0.0
    try:
        number = float(value)
    except OverflowError:  # an integer of hundreds of digits
        number = math.inf
    return bounded(key, number * factor, argument), half


def _typed(key: Key, text: str, argument: str) -> tuple[float, float]:
    """A quantity as people type it."""
    dimension = key.dimension
    if key.unit == "share" and not text.strip().endswith("%"):
        dimension = None
    if dimension is not None:
        value = parse(text, dimension, argument=argument, zero=True)
        half = resolution(text, dimension, argument=argument)
    else:
        try:
            value, half = float(text), half_digit(text.strip())
        except ValueError as error:
            near = nearest(text, key.words)
            wanted = "a bare number" + "".join(f" or {word!r}" for word in key.words)
            raise InputError(
                argument, text, wanted + (f"; did you mean {near!r}?" if near else "")
            ) from error
    written = any(sign in text for sign in ".eE")  # whole numbers are exact, as in a file
    return bounded(key, value, argument), half if key.digits and written else 0.0


def bounded(key: Key, value: float, argument: str) -> float:
    """The value, finite and inside the bounds of its key; what has no end is said in words."""
    whole = key.whole and not float(value).is_integer()
    if not key.low <= value <= key.high or not math.isfinite(value) or whole:
        noun = "a whole number" if key.whole else "a number"
        most = "" if key.high == float("inf") else f", at most {key.high:g}"
        raise InputError(argument, value, f"{noun} of at least {key.low:g}{most}", key.si_unit)
    return value


def complete(system: System, reader: _Reader | None = None) -> System:
    """Bring what `like`, models and defaults say, and check the whole."""
    del reader
    _names(system)
    models: dict[str, library.Model] = dict(system.models)
    entries = []
    for written in system.entries:
        entry = _like(system, written, ())
        if name := entry.word("model"):
            models[name] = _model(entry, name) if name not in models else models[name]
            entries.append(_defaults(_brought(entry, models[name], name)))
        else:
            entries.append(_defaults(entry))
    found = replace(system, entries=tuple(entries), models=models)
    _references(found)
    return found


def _fail(entry: Entry, problem: str) -> ReportError:
    """An error at the place of a table."""
    path, _, line = entry.place.rpartition(", line ")
    return ReportError(path or entry.place or "system", problem, line=int(line) if path else None)


def _names(system: System) -> None:
    seen: dict[tuple[str, str], Entry] = {}
    for entry in system.entries:
        if (entry.table, entry.name) in seen:
            raise _fail(entry, f"{entry.label} twice: expected each name once")
        seen[entry.table, entry.name] = entry


def _like(system: System, entry: Entry, above: tuple[str, ...]) -> Entry:
    """Take what is not said from the table that `like` names."""
    other = entry.word("like")
    if not other:
        return entry
    path = (*above, entry.name)
    if other in path:
        raise _fail(entry, f"{entry.label}.like: a circle, {' -> '.join((*path, other))}")
    names = {each.name: each for each in system.of(entry.table)}
    if other not in names:
        raise _fail(entry, _nothing(entry, "like", other, entry.table, names))
    base = _like(system, names[other], path)
    return replace(
        entry,
        numbers={**base.numbers, **entry.numbers},
        halves={**base.halves, **entry.halves},
        words={**base.words, **entry.words},
        origin={**base.origin, **entry.origin},
    )


def _nothing(entry: Entry, key: str, name: str, table: str, known: Iterable[str]) -> str:
    names = list(known)
    there = ", ".join(names) if names else f"none; a [[{table}]] is missing"
    return f"{entry.label}.{key} = {name!r} refers to nothing: {did_you_mean(name, names)}[[{table}]] has {there}"


def _model(entry: Entry, name: str) -> library.Model:
    try:
        return library.read_model(name)
    except PlannerError as error:
        hint = did_you_mean(name, library.model_names())
        raise _fail(entry, f"{entry.label}.model: {hint}{error}") from error


def _brought(entry: Entry, model: library.Model, name: str) -> Entry:
    """Take what is not said from the model."""
    kinds = BROUGHT.get(entry.table, {})
    if model.kind not in kinds:
        wanted = " or ".join(kinds)
        raise _fail(
            entry, f"{entry.label}.model = {name!r}: expected a model of kind {wanted}, found {model.kind}"
        )
    numbers, origin = dict(entry.numbers), dict(entry.origin)
    for key, parameter in kinds[model.kind].items():
        if key not in numbers and key not in entry.words and parameter in model.parameters:
            numbers[key], origin[key] = model.parameters[parameter].value, name
    if model.kind == "paging" and "cp_system" not in numbers and PER_PAGE in model.parameters:
        numbers["cp_system"] = model.parameters[PER_PAGE].value * numbers["pages_per_transfer"]
        origin["cp_system"] = name
    return replace(entry, numbers=numbers, origin=origin)


def _defaults(entry: Entry) -> Entry:
    numbers, words, origin = dict(entry.numbers), dict(entry.words), dict(entry.origin)
    for key in TABLES[entry.table].keys:
        if key.key in numbers or key.key in words:
            continue
        if key.needed and key.key != "name":
            raise _fail(entry, f"{entry.label}: {key.file_key} is missing ({key.meaning})")
        if key.default is not None:
            origin[key.key] = DEFAULT
            if isinstance(key.default, str):
                words[key.key] = key.default
            else:
                numbers[key.key] = float(key.default)
    return replace(entry, numbers=numbers, words=words, origin=origin)


def _references(system: System) -> None:
    """Every name refers to a table of the right kind, and all that the law needs is there."""
    for entry in system.entries:
        for key in TABLES[entry.table].keys:
            name = entry.word(key.key) if key.refers else ""
            names = {each.name for each in system.of(key.refers)} if key.refers else set()
            if not name or name in names:
                continue
            elsewhere = [each.label for each in system.entries if each.name == name]
            also = f" ({elsewhere[0]} is of another kind)" if elsewhere else ""
            raise _fail(entry, _nothing(entry, key.key, name, key.refers, names) + also)
    for entry in system.of("guests"):
        _check_guests(entry)
    for entry in system.of("paging"):
        pool = system.named("pool", entry.word("pool")) if entry.word("pool") else None
        timed = pool is not None and pool.number("service_time") is not None
        _need(entry, ("pages_per_transfer",) if timed else ("service_time", "pages_per_transfer"))
        if entry.word("pool") and entry.origin.get("depth") == GIVEN:
            raise _fail(
                entry,
                f"{entry.label}: depth or pool, not both: in a pool a device works on one, an alias on one more",
            )
    for entry in system.of("volumes"):
        pool = system.named("pool", entry.word("pool")) if entry.word("pool") else None
        if pool is not None and entry.origin.get("aliases") == GIVEN:
            raise _fail(entry, f"{entry.label}: aliases or pool, not both")
        if entry.number("service_time") is None and (pool is None or pool.number("service_time") is None):
            _need(entry, ("service_time",))
    _check_pools(system)


def _check_pools(system: System) -> None:
    for pool in system.of("pool"):
        users = [e for e in (*system.of("paging"), *system.of("volumes")) if e.word("pool") == pool.name]
        if len({user.table for user in users}) > 1 or sum(user.table == "paging" for user in users) > 1:
            labels = ", ".join(user.label for user in users)
            raise _fail(
                pool,
                f"{pool.label} serves {labels}: expected one group of paging volumes, or volumes of guests",
            )


def _check_guests(entry: Entry) -> None:
    has = {key for key in entry.numbers if entry.origin.get(key) != DEFAULT}
    if ("virtual" in has) != ("instantiated" in has):
        _need(entry, ("virtual", "instantiated"))
    if entry.word("pages_from") and not {"virtual", "miss_ratio"} & has:
        _need(entry, ("virtual",))
    if entry.word("io_to"):
        if "io_rate" in has and entry.origin.get("think_time") == GIVEN:
            raise _fail(entry, f"{entry.label}: think_time or io_rate, not both")
        if not {"think_time", "io_rate"} & has:
            _need(entry, ("think_time",))
        if "io_rate" in has and entry.numbers["touches_per_io"] > 0:
            raise _fail(
                entry, f"{entry.label}: touches_per_io needs guests that wait for their I/Os, not io_rate"
            )
    elif {"think_time", "io_rate", "touches_per_io"} & {k for k in has if entry.origin[k] == GIVEN}:
        raise _fail(
            entry,
            f"{entry.label}: io_to is missing: think_time, io_rate and touches_per_io speak of its I/Os",
        )
    segment = entry.numbers["pages_per_segment"] * FRAME
    share = entry.number("instantiated") or 0.0
    if share * 2**20 > segment * (1 + 1e-9):
        raise _fail(entry, f"{entry.label}: pages_per_segment at least {256 * share:.4g}: {share:.0%} of all pages lie "
                    "that densely even when they are spread over all segments")  # fmt: skip


def _need(entry: Entry, keys: Iterable[str]) -> None:
    declared = {key.key: key for key in TABLES[entry.table].keys}
    for key in keys:
        if entry.number(key) is None:
            known = declared[key]
            way = "; or `model = ...` brings it" if entry.table in BROUGHT else ""
            raise _fail(entry, f"{entry.label}: {known.file_key} is missing ({known.meaning}){way}")
