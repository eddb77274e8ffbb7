"""What a system file can say, as tables.toml declares it once: for checks, units, templates and editors."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from planner.quantity import Quantity
from planner.units import FACTORS, GIB, MILLISECOND, UNITS, Dimension, suffix

SHOWN: Final = {"time": ("ms", MILLISECOND), "storage": ("GiB", float(GIB))}
SCHEMA_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class Key(Quantity):
    """One key of a table: `unit` is that of a file, "text" or "yes or no"; bounds are SI.

    `words` may stand instead of a number, `refers` names the table of the name that stands here. `digits` says that the
    written digits are those of a measurement, good to half a unit of the last one.
    """

    refers: str = ""
    needed: bool = False
    digits: bool = False

    @property
    def file_key(self) -> str:
        """Key in a file: name with its unit as a suffix."""
        return self.key + (suffix(self.unit).lower() if self.dimension else "")

    @property
    def text(self) -> bool:
        """Whether only words can stand here."""
        return self.unit == "text" or bool(self.refers)

    @property
    def spellings(self) -> dict[str, float]:
        """All file keys and the SI value of one unit of each."""
        if self.dimension is None or self.file_key == self.key:
            return {self.key: 1.0}
        found = {f"{self.key}_{name.lower()}": factor for name, factor in FACTORS[self.dimension].items()}
        return {name: factor for name, factor in found.items() if name.isascii() and name.isidentifier()}

    @property
    def dimension(self) -> Dimension | None:
        """What a quantity measures; None for bare numbers and words."""
        return (UNITS[self.unit].dimension or None) if self.unit in UNITS else None

    @property
    def shown(self) -> tuple[str, float]:
        """Unit in which people read it, and SI units in one."""
        return SHOWN.get(self.dimension or "", ("", 1.0))

    def worded(self, value: float | str) -> str:
        """A value as people read it."""
        if isinstance(value, str) or math.isinf(value):
            return value if isinstance(value, str) else "unlimited"
        unit, factor = self.shown
        return f"{value / factor:g} {unit}".rstrip()

    @property
    def si_unit(self) -> str:
        """Unit of its value."""
        return {"time": "s", "storage": "B", "rate": "1/s"}.get(self.dimension or "", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class TomlTable:
    """One table: `many` may stand under ``[[name]]``, each with a name of its own."""

    name: str
    meaning: str
    many: bool
    keys: tuple[Key, ...]

    def find(self, key: str) -> tuple[Key, float] | None:
        """The declaration of a file key and the SI value of one of its unit; None where there is none."""
        found = ((each, each.spellings[key]) for each in self.keys if key in each.spellings)
        return next(found, None)

    def declaration(self, key: str) -> Key:
        """The declaration of a file key that there is."""
        return next(each for each in self.keys if key in each.spellings)

    def bare(self, key: str) -> Key | None:
        """The declaration of a key without its suffix."""
        return next((each for each in self.keys if each.key == key), None)


def _tables() -> dict[str, TomlTable]:
    """The tables of tables.toml; what says nothing of a key is as in its `shared`."""
    content = tomllib.loads(Path(__file__).with_name("tables.toml").read_text("utf-8"))
    shared = content.pop("shared")
    return {
        name: TomlTable(
            name=name, meaning=table["meaning"], many=table["many"],
            keys=tuple(_key(key, said or shared[key]) for key, said in table["keys"].items()),
        )
        for name, table in content.items()
    }  # fmt: skip


def _key(key: str, said: Mapping[str, Any]) -> Key:
    return Key(key, **{**said, "words": tuple(said.get("words", ()))})


TABLES: Final = _tables()


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """The nearest known name, as a sentence of a message."""
    near = nearest(given, known)
    return f"did you mean {near!r}? " if near else ""


def nearest(given: str, known: Iterable[str]) -> str:
    """The nearest known name, empty where none is near."""
    return next(iter(difflib.get_close_matches(given, list(known), n=1, cutoff=0.5)), "")


def one_of(given: str, known: Iterable[str], what: str = "one of") -> str:
    """What was expected: one of the known names, the nearest said again."""
    names = list(known)
    near = nearest(given, names)
    return f"{what} {', '.join(names)}" + (f"; did you mean {near!r}?" if near else "")


def json_schema() -> dict[str, Any]:
    """Describe a system file for editors.

    Returns
    -------
    dict
        A JSON Schema (draft 2020-12).

    Examples
    --------
    >>> sorted(json_schema()["properties"])[:3]
    ['guests', 'paging', 'pool']
    """
    return {
        "$schema": SCHEMA_DIALECT,
        "title": "A z/VM system, as `planner system` reads it",
        "type": "object",
        "additionalProperties": False,
        "properties": {name: _table_schema(table) for name, table in TABLES.items()},
    }


def _table_schema(table: TomlTable) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for key in table.keys:
        for spelling, factor in key.spellings.items():
            properties[spelling] = _key_schema(key, factor)
        if key.file_key != key.key:
            properties[key.key] = {"type": "string", "description": f"{key.meaning}, with its unit"}
    one: dict[str, Any] = {
        "type": "object",
        "description": table.meaning,
        "additionalProperties": False,
        "properties": properties,
        # What `like` or a model may bring is not demanded of a file.
        "required": [key.key for key in table.keys if key.needed and key.key == "name"],
    }
    return {"type": "array", "description": table.meaning, "items": one} if table.many else one


def _key_schema(key: Key, factor: float) -> dict[str, Any]:
    words = {"enum": list(key.words)} if key.words else {"type": "string"}
    if key.text:
        return {**words, "description": key.meaning}
    if key.unit == "yes or no":
        return {"type": "boolean", "description": key.meaning}
    number: dict[str, Any] = {"type": "integer" if key.whole else "number", "minimum": key.low / factor}
    if math.isfinite(key.high):
        number["maximum"] = key.high / factor
    if key.words:
        return {"anyOf": [number, words], "description": key.meaning}
    return {**number, "description": key.meaning}
