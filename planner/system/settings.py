"""Changes to a system as people type them: storage.real=1088GiB, paging[xiv].depth=unlimited, guests.count=10:40:2."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from planner.errors import InputError
from planner.quantity import span
from planner.system.description import GIVEN, Entry, System, complete, value_of
from planner.system.schema import TABLES, Key, one_of

_SELECTOR: Final = re.compile(r"(?P<table>\w+)(\[(?P<name>[^\]]*)\])?\.(?P<key>\w+)")
EXAMPLE: Final = "TABLE.key=value such as storage.real=1088GiB, or TABLE[name].key=value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """What a setting changes: the `key` of `entries` of a table; `factor` is the unit that the key carried."""

    label: str
    entries: tuple[Entry, ...]
    key: Key
    factor: float | None


def find(system: System, selector: str, option: str = "--set") -> Selected:
    """Look up TABLE.key or TABLE[name].key, the key with or without its unit."""
    match = _SELECTOR.fullmatch(selector.strip())
    if match is None:
        raise InputError(option, selector, EXAMPLE)
    table, name = match["table"], match["name"]
    if table not in TABLES:
        raise InputError(option, selector, one_of(table, TABLES, "one of the tables"))
    entries = system.of(table) if name is None else tuple(e for e in system.of(table) if e.name == name)
    if not entries:
        names = [entry.name for entry in system.of(table)]
        there = one_of(name or "", names) if any(names) else f"a table that the file has; it has no [{table}]"
        raise InputError(option, selector, there)
    declared = TABLES[table]
    bare = declared.bare(match["key"])
    found = declared.find(match["key"]) if bare is None or bare.file_key == bare.key else None
    key, factor = (bare, None) if bare is not None else found if found is not None else (None, None)
    if key is None or key.key in {"name", "like"}:
        known = [each.key for each in declared.keys if each.key not in {"name", "like"}]
        raise InputError(option, selector, one_of(match["key"], known, "one of the keys"))
    label = f"{table}[{name}].{key.key}" if name is not None else f"{table}.{key.key}"
    return Selected(label=label, entries=entries, key=key, factor=factor)


def read(target: Selected, text: str, option: str) -> tuple[float | str, float]:
    """Value of a setting, SI, and what its digits leave open."""
    text = text.strip()
    key = target.key
    if key.unit == "yes or no":
        if text not in {"true", "false"}:
            raise InputError(option, f"{target.label}={text}", "true or false")
        return float(text == "true"), 0.0
    if target.factor is not None and text not in key.words:
        try:
            return value_of(key, float(text), target.factor, target.label)
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            # The key carries a unit and so does the value: the value's counts.
    return value_of(key, text, 1.0, target.label)


def apply(system: System, settings: Sequence[str]) -> System:
    """Set what was asked; later settings of the same thing are refused."""
    seen: set[tuple[str, str, str]] = set()
    for text in settings:
        selector, sign, value = text.partition("=")
        if not sign:
            raise InputError("--set", text, EXAMPLE)
        target = find(system, selector)
        said, half = read(target, value, "--set")
        for entry in target.entries:
            place = (entry.table, entry.name, target.key.key)
            if place in seen:
                raise InputError("--set", f"{target.label} twice", "each of them once")
            seen.add(place)
        system = system.changed((entry, target.key.key, said, half) for entry in target.entries)
    return recheck(system) if settings else system


def recheck(system: System) -> System:
    """Complete and check a system that was changed: a new model brings its numbers, a reference has to exist."""
    entries = []
    for entry in system.entries:
        said = {key for key, origin in entry.origin.items() if origin == GIVEN}
        entries.append(
            replace(
                entry,
                numbers={key: value for key, value in entry.numbers.items() if key in said},
                words={key: value for key, value in entry.words.items() if key in said},
                origin=dict.fromkeys(said, GIVEN),
            )
        )
    return complete(replace(system, entries=tuple(entries)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """What varies: a target and its values, SI."""

    target: Selected
    values: tuple[float | str, ...]


def parse_range(system: System, text: str) -> Range:
    """Read ``guests.count=10:40:2``, ``storage.real=1024GiB:1280GiB:64GiB`` or ``paging.depth=1:unlimited``."""
    selector, sign, value = text.partition("=")
    target = find(system, selector, "--over")
    parts = [part.strip() for part in value.split(":")]
    if sign and target.key.words and any(part in target.key.words for part in parts):
        return Range(target=target, values=tuple(read(target, part, "--over")[0] for part in parts))
    example = "guests.count=10:40:2"
    expected = f"TABLE.key=first:last:step, as {example} (counts step by 1 without it)"
    if target.key.text:
        raise InputError("--over", text, expected)
    free = replace(
        target, key=replace(target.key, low=0.0)
    )  # a step may lie below the bounds of the value itself
    values = span(
        text, lambda part: read(target, part, "--over")[0], lambda part: read(free, part, "--over")[0],
        whole=target.key.whole, expected=expected, example=example,
    )  # fmt: skip
    return Range(target=target, values=values)
