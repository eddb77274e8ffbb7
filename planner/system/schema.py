"""What a system file can say: every table and key declared once, for checks, units, templates and editors."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import dataclass
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
        return {
            name: factor
            for name, factor in found.items()
            if name.isascii() and name.replace("_", "").isalnum()
        }

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
        for each in self.keys:
            if key in each.spellings:
                return each, each.spellings[key]
        return None

    def declaration(self, key: str) -> Key:
        """The declaration of a file key that there is."""
        return next(each for each in self.keys if key in each.spellings)

    def bare(self, key: str) -> Key | None:
        """The declaration of a key without its suffix."""
        return next((each for each in self.keys if each.key == key), None)


def _name(meaning: str) -> Key:
    return Key("name", meaning, "text", needed=True)


LIKE: Final = Key("like", "name of another table of this kind; what is not said here is as there", "text")
MODEL: Final = Key("model", "calibrated model, shipped or a file, for what is not said here", "text")
SERVICE: Final = Key("service_time", "time of a transfer that waits for nothing", "ms", low=1e-9, digits=True)
INFLATION: Final = Key("inflation", "relative growth of the service time with each further I/O in service on the "
    "same volume", high=10.0, digits=True)  # fmt: skip
GAP: Final = Key("redrive_time", "gap of a device that takes a waiting I/O", "ms", digits=True)

TABLES: Final = {
    table.name: table
    for table in (
        TomlTable(
            name="system", many=False, meaning="what this is",
            keys=(
                Key("name", "name of the system", "text"),
                Key("release", "release of z/VM", "text"),
                Key("source", "where the numbers come from", "text"),
            ),
        ),
        TomlTable(
            name="processors", many=False, meaning="real processors of the partition",
            keys=(
                Key("count", "processors", whole=True, low=1, high=1000, needed=True),
                Key("guaranteed", "processors' worth that the weight of a partition with shared processors "
                    "guarantees; leave "
                    "it out where they are dedicated", low=0.01, high=1000),
                Key("measured", "processors of the system that the processor times were measured on", whole=True,
                    low=1, high=1000),
                MODEL,
            ),
        ),
        TomlTable(
            name="storage", many=False, meaning="real storage",
            keys=(
                Key("real", "real storage", "GiB", low=1, needed=True),
                Key("other", "what CP itself takes: frame table, nucleus", "GiB", default=0.0),
                Key("minidisk_cache", "real storage for minidisk cache", "GiB", default=0.0),
            ),
        ),
        TomlTable(
            name="guests", many=True, meaning="equal guests",
            keys=(
                _name("name of the group"), LIKE,
                Key("count", "guests", whole=True, low=0, high=100_000, needed=True),
                Key("processors", "virtual processors of each", whole=True, low=1, high=1000, default=1),
                Key("dedicated", "whether real processors are dedicated to it", "yes or no", default=False),
                Key("virtual", "virtual storage of each", "GiB", low=1),
                Key("instantiated", "share of it that exists because the guest touched it", "share", high=1.0,
                    low=1e-9, digits=True),
                Key("pages_per_segment", "instantiated pages of each 1 MiB segment in use", low=1, high=256,
                    default=256),
                Key("touching", "how pages are touched, and which are stolen", "text", words=("uniform",
                    "cyclic, random steal", "cyclic, oldest first"), default="uniform"),
                Key("miss_ratio", "measured instead: misses per page visit", "share", high=1.0, digits=True),
                Key("touches_per_visit", "touches of a page while it is in use", low=1, default=1),
                Key("changed", "page writes per page read; left out: reads and writes are told only together",
                    high=10.0, digits=True),
                Key("touch_time", "processor time per page touch", "us", digits=True),
                Key("cp_charged", "processor time of CP per page transfer, charged to the guest", "us", digits=True),
                Key("pages_from", "paging devices", "text", refers="paging"),
                Key("io_to", "volumes of its minidisks", "text", refers="volumes"),
                Key("requesters", "I/Os of a guest outstanding or about to come; its virtual processors where "
                    "left out", whole=True, low=1, high=10_000),
                Key("think_time", "from the end of an I/O to the next", "ms", digits=True),
                Key("io_rate", "instead: I/Os of a guest that come at random", "1/s", digits=True),
                Key("io_time", "processor time per I/O", "us", digits=True, default=0.0),
                Key("touches_per_io", "page touches between two I/Os", digits=True, default=0.0),
                Key("reads", "share of the I/Os that read", "share", high=1.0, digits=True, default=1.0),
                Key("cache_hit", "share of the reads that minidisk cache answers", "share", high=1.0, digits=True,
                    default=0.0),
                MODEL,
            ),
        ),
        TomlTable(
            name="paging", many=True, meaning="equal paging devices",
            keys=(
                _name("name of the group"), LIKE,
                Key("devices", "paging devices", whole=True, low=1, high=10_000, needed=True),
                Key("depth", "transfers that a device works on at a time; 1 is serialized", whole=True, low=1,
                    high=10_000, words=("unlimited",), default=1),
                Key("pool", "HyperPAV pool whose aliases it uses (z/VM 6.4 and later)", "text", refers="pool"),
                SERVICE,
                Key("pages_per_transfer", "pages that a transfer moves", low=1, high=10_000, digits=True),
                Key("cp_system", "processor time of CP per transfer, charged to the system", "us", digits=True),
                INFLATION, GAP,
                Key("space", "page space of a device", "GiB", low=1),
                Key("other_transfers", "transfers of others, over all devices", "1/s", default=0.0, digits=True),
                MODEL,
            ),
        ),
        TomlTable(
            name="pool", many=True, meaning="a HyperPAV pool",
            keys=(
                _name("name of the pool"),
                Key("aliases", "aliases of the pool", whole=True, high=10_000, needed=True),
                SERVICE, INFLATION, GAP, MODEL,
            ),
        ),
        TomlTable(
            name="volumes", many=True, meaning="equal volumes with minidisks",
            keys=(
                _name("name of the group"), LIKE,
                Key("count", "volumes", whole=True, low=1, high=10_000, needed=True),
                Key("pool", "HyperPAV pool whose aliases they use", "text", refers="pool"),
                Key("aliases", "aliases of each volume, where there is no pool", whole=True, high=1000, default=0),
                SERVICE, INFLATION, GAP, MODEL,
            ),
        ),
    )
}  # fmt: skip


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
