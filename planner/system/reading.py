"""What people write of a system, read and checked: a file, and settings such as storage.real=1088GiB."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from planner import library
from planner.errors import InputError, ReportError
from planner.quantity import span
from planner.system.description import GIVEN, Entry, System, SystemValue, complete
from planner.system.schema import TABLES, Key, TomlTable, did_you_mean, nearest, one_of
from planner.units import EXAMPLES, half_digit, is_number, parse, resolution

_HEADER: Final = re.compile(r"\s*\[\[?(?P<name>[^\]]*)\]\]?\s*(#.*)?$")
_KEY: Final = re.compile(r"""\s*["']?(?P<key>[A-Za-z0-9_-]+)["']?\s*=""")
EXAMPLE: Final = "TABLE.key=value such as storage.real=1088GiB, or TABLE[name].key=value"


class Digits(float):
    """A number of a file with the digits that it was written in."""

    text: str

    def __new__(cls, text: str) -> Digits:
        """Read it."""
        made = super().__new__(cls, text)
        made.text = text
        return made


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
        text = library.read_bytes(path, "a system file in TOML").decode("utf-8-sig")
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
    content = library.read_toml(text, path, "`planner system --template minimal` shows a file", Digits)
    if "schema_version" in content:
        raise ReportError(path, "expected a system file, found a model; `planner predict` asks a model")
    reader = _Reader(Path(path), _lines(text))
    entries = tuple(entry for name, tables in content.items() for entry in reader.table(name, tables))
    return complete(System(entries=entries, source=Path(path).stem))


def is_system(path: Path | str) -> bool:
    """Whether a file describes a system, not a model, which says its `kind`.

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
    for line, content in enumerate(text.split("\n"), start=1):
        if header := _HEADER.match(content):
            table = header["name"].partition(".")[0].strip("\"' \t")
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
        right = f"[[{name}]]" if declared.many else f"[{name}]"
        if not all(isinstance(part, dict) for part in parts):
            raise self.error(f"expected a table, as {right}", name)
        if isinstance(content, list) != declared.many:
            way = "in double brackets, as a system may have several" if declared.many else "once"
            raise self.error(f"{name}: expected {right} {way}", name, len(parts) - 1)
        return [self.entry(declared, part, k) for k, part in enumerate(parts)]

    def entry(self, declared: TomlTable, content: Mapping[str, Any], number: int) -> Entry:
        """One table, as written."""
        found: dict[str, SystemValue] = {}
        for file_key, value in content.items():
            key, factor = self._declared(declared, file_key, value, number)
            if key.key in found:
                raise self.error(
                    f"{declared.name}.{key.key} twice: expected it once", declared.name, number, file_key
                )
            try:
                found[key.key] = SystemValue(*value_of(key, value, factor, f"{declared.name}.{file_key}"))
            except InputError as error:
                raise self.error(str(error), declared.name, number, file_key) from error
        name = str(found.pop("name").value) if declared.many and "name" in found else ""
        if declared.many and not name:
            raise self.error(f"{declared.name}: expected a `name`", declared.name, number)
        line = self.lines.get((declared.name, number, ""))
        return Entry(table=declared.name, name=name, path=self.path, line=line, values=found)

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
        if not isinstance(value, str) or not value or (key.words and value not in key.words):
            raise InputError(argument, value, one_of(str(value), key.words) if key.words else "a text")
        return value, 0.0
    if key.unit == "yes or no":
        if not isinstance(value, bool):
            raise InputError(argument, value, "true or false")
        return float(value), 0.0
    if isinstance(value, str):
        if value in key.words:
            return float("inf"), 0.0
        return _typed(key, value, argument)
    if not is_number(value):
        raise InputError(argument, value, "a number" + (f" or {' or '.join(key.words)}" if key.words else ""))
    half = half_digit(value.text) * factor if key.digits and isinstance(value, Digits) else 0.0
    number = math.inf  # an integer of hundreds of digits
    with suppress(OverflowError):
        number = float(value)
    return bounded(key, number * factor, argument, value), half


def _typed(key: Key, text: str, argument: str) -> tuple[float, float]:
    """A quantity as people type it."""
    dimension = key.dimension
    if dimension is not None and (dimension != "share" or text.strip().endswith("%")):
        value = parse(text, dimension, argument=argument, zero=True)
        half = resolution(text, dimension, argument=argument)
    else:
        try:
            value, half = _number(text), half_digit(text.strip())
        except ValueError as error:
            words = "".join(f" or {word!r}" for word in key.words)
            near = nearest(text, key.words)
            hint = f"; did you mean {near!r}?" if near else ""
            raise InputError(argument, text, f"a bare number{words}{hint}") from error
    written = any(sign in text for sign in ".eE")  # whole numbers are exact, as in a file
    return bounded(key, value, argument, text), half if key.digits and written else 0.0


def _number(text: str) -> float:
    """A bare number in the digits that quantities with a unit have."""
    if not text.isascii() or "_" in text:
        raise ValueError(text)
    return float(text)


def bounded(key: Key, value: float, argument: str, said: Any) -> float:
    """The value, finite and inside the bounds of its key; what has no end is said in words."""
    whole = key.whole and not float(value).is_integer()
    if not key.low <= value <= key.high or not math.isfinite(value) or whole:
        noun = "a whole number" if key.whole else "a number" if math.isfinite(value) else "a finite number"
        most = "" if key.high == float("inf") else f", at most {key.high:g}"
        unit = f" {key.si_unit}" if key.si_unit and key.low else ""
        raise InputError(argument, said, f"{noun} of at least {key.low:g}{unit}{most}")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """What a setting changes, or what varies over some `values`, SI.

    It is the `key` of `entries` of a table; `factor` is the unit that the key carried.
    """

    label: str
    entries: tuple[Entry, ...]
    key: Key
    factor: float | None
    values: tuple[float | str, ...] = ()

    @property
    def places(self) -> tuple[tuple[str, str, str], ...]:
        """Table, name and key of every number."""
        return tuple((entry.table, entry.name, self.key.key) for entry in self.entries)

    def value(self, text: str) -> float | str:
        """Value of a setting, SI: what is asked is exact, in whatever digits; what was measured stands in the file."""
        said: Any = text.strip()
        factor = 1.0
        if self.key.unit == "yes or no":
            said = {"true": True, "false": False}.get(said, said)
        elif self.factor is not None:
            with suppress(ValueError):  # the value has a unit, too: that one counts
                said, factor = _number(said), self.factor
        return value_of(self.key, said, factor, self.label)[0]


def find(system: System, text: str, argument: str = "settings") -> tuple[Selected, str]:
    """Look up TABLE.key=value or TABLE[name].key=value, the key with or without its unit; and take the value.

    A name may hold any signs: the longest of the file counts.
    """
    longest = "|".join(map(re.escape, sorted({e.name for e in system.entries}, key=len, reverse=True)))
    pattern = rf"\s*((?P<table>\w+)(\[(?P<name>{longest}|.*?)\])?\.(?P<key>\w+))\s*(=(?P<value>.*))?"
    match = re.fullmatch(pattern, text, re.DOTALL)
    if match is None:
        raise InputError(argument, text, EXAMPLE)
    selector = match[1]
    table, name = match["table"], match["name"]
    if table not in TABLES:
        raise InputError(argument, selector, one_of(table, TABLES, "one of the tables"))
    entries = system.of(table) if name is None else tuple(e for e in system.of(table) if e.name == name)
    if not entries:
        names = [entry.name for entry in system.of(table)]
        there = one_of(name or "", names) if any(names) else f"a table that the file has; it has no [{table}]"
        raise InputError(argument, selector, there)
    declared = TABLES[table]
    bare = declared.bare(match["key"])
    key, factor = (bare, None) if bare is not None else declared.find(match["key"]) or (None, None)
    if key is None or key.key in {"name", "like"}:
        known = [each.key for each in declared.keys if each.key not in {"name", "like"}]
        raise InputError(argument, selector, one_of(match["key"], known, "one of the keys"))
    label = f"{table}[{name}].{key.key}" if name is not None else f"{table}.{key.key}"
    return Selected(label=label, entries=entries, key=key, factor=factor), match["value"] or ""


def apply(system: System, settings: Sequence[str]) -> System:
    """Set what was asked; later settings of the same thing are refused."""
    seen: set[tuple[str, str, str]] = set()
    for text in settings:
        target, value = find(system, text)
        if not value:
            raise InputError("settings", text, EXAMPLE)
        said = target.value(value)
        if not seen.isdisjoint(target.places):
            raise InputError("settings", f"{target.label} twice", "each of them once")
        seen.update(target.places)
        system = system.changed((entry, target.key.key, said) for entry in target.entries)
    return recheck(system) if settings else system


def recheck(system: System) -> System:
    """Complete and check a system that was changed: a new model brings its numbers, a reference has to exist."""
    entries = tuple(
        replace(entry, values={key: each for key, each in entry.values.items() if each.origin == GIVEN})
        for entry in system.entries
    )
    return complete(replace(system, entries=entries))


def parse_range(system: System, text: str) -> Selected:
    """Read ``guests.count=10:40:2``, ``storage.real=1024GiB:1280GiB:64GiB`` or ``paging.depth=1:unlimited``."""
    target, value = find(system, text, "ranges")
    parts = [part.strip() for part in value.split(":")]
    if target.key.words and any(part in target.key.words for part in parts):
        return replace(target, values=tuple(map(target.value, parts)))
    example = "guests.count=10:40:2"
    expected = f"TABLE.key=first:last:step, as {example} (counts step by 1 without it)"
    if target.key.text:
        raise InputError("ranges", text, expected)
    # a step may lie below the bounds of the value itself
    free = replace(target, key=replace(target.key, low=0.0))
    values = span(
        text, target.value, free.value, whole=target.key.whole, expected=expected, example=example, argument="ranges"
    )  # fmt: skip
    return replace(target, values=values)
