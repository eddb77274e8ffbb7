"""What a system file can say: every table and key declared once, for checks, units, templates and editors."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from planner.units import FACTORS, Dimension

SCHEMA_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
DIMENSIONS: Final[Mapping[str, Dimension]] = {
    "s": "time", "B": "storage", "1/s": "rate", "share": "share",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key of a table.

    `unit` is SI (s, B, 1/s, share; empty for a bare number, "text" and "yes or no" for words); `suffix` is the unit
    that a file carries in the key. `words` may stand instead of a number, `refers` names the table of the name that
    stands here. `digits` says that the written digits are those of a measurement, good to half a unit of the last one.
    """

    key: str
    meaning: str
    unit: str = ""
    suffix: str = ""
    low: float = 0.0
    high: float = math.inf
    whole: bool = False
    words: tuple[str, ...] = ()
    refers: str = ""
    needed: bool = False
    digits: bool = False
    default: float | str | bool | None = None

    @property
    def file_key(self) -> str:
        """Key in a file: name with its unit as a suffix."""
        return f"{self.key}_{self.suffix}" if self.suffix else self.key

    @property
    def text(self) -> bool:
        """Whether only words can stand here."""
        return self.unit == "text" or bool(self.refers)

    @property
    def spellings(self) -> dict[str, float]:
        """All file keys and the SI value of one unit of each."""
        if not self.suffix:
            return {self.key: 1.0}
        units = FACTORS[DIMENSIONS[self.unit]]
        found = {f"{self.key}_{name.lower()}": factor for name, factor in units.items() if name.isalnum()}
        return {name: factor for name, factor in found.items() if name.isascii()}

    @property
    def dimension(self) -> Dimension | None:
        """What a quantity measures; None for bare numbers and words."""
        return DIMENSIONS.get(self.unit)


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

    def bare(self, key: str) -> Key | None:
        """The declaration of a key without its suffix."""
        return next((each for each in self.keys if each.key == key), None)


def _name(meaning: str) -> Key:
    return Key(key="name", unit="text", needed=True, meaning=meaning)


LIKE: Final = Key(
    key="like", unit="text", meaning="name of another table of this kind; what is not said here is as there"
)
MODEL: Final = Key(
    key="model", unit="text", meaning="calibrated model, shipped or a file, for what is not said here"
)
SERVICE: Final = Key(
    key="service_time",
    unit="s",
    suffix="ms",
    low=1e-9,
    digits=True,
    meaning="time of a transfer that waits for nothing",
)
INFLATION: Final = Key(
    key="inflation", high=10.0, digits=True,
    meaning="relative growth of the service time with each further I/O in service on the same volume",
)  # fmt: skip
GAP: Final = Key(
    key="redrive_time", unit="s", suffix="ms", digits=True, meaning="gap of a device that takes a waiting I/O"
)

TABLES: Final = {
    table.name: table
    for table in (
        TomlTable(
            name="system", many=False, meaning="what this is",
            keys=(
                Key(key="name", unit="text", meaning="name of the system"),
                Key(key="release", unit="text", meaning="release of z/VM"),
                Key(key="source", unit="text", meaning="where the numbers come from"),
            ),
        ),
        TomlTable(
            name="processors", many=False, meaning="real processors of the partition",
            keys=(
                Key(key="count", whole=True, low=1, high=1000, needed=True, meaning="processors"),
                Key(key="guaranteed", low=0.01, high=1000,
                    meaning="processors' worth that the weight of a partition with shared processors guarantees; leave "
                    "it out where they are dedicated"),
                Key(key="measured", whole=True, low=1, high=1000,
                    meaning="processors of the system that the processor times were measured on"),
                MODEL,
            ),
        ),
        TomlTable(
            name="storage", many=False, meaning="real storage",
            keys=(
                Key(key="real", unit="B", suffix="gib", low=1, needed=True, meaning="real storage"),
                Key(key="other", unit="B", suffix="gib", default=0.0,
                    meaning="what CP itself takes: frame table, nucleus"),
                Key(key="minidisk_cache", unit="B", suffix="gib", default=0.0,
                    meaning="real storage for minidisk cache"),
            ),
        ),
        TomlTable(
            name="guests", many=True, meaning="equal guests",
            keys=(
                _name("name of the group"), LIKE,
                Key(key="count", whole=True, low=0, high=100_000, needed=True, meaning="guests"),
                Key(key="processors", whole=True, low=1, high=1000, default=1, meaning="virtual processors of each"),
                Key(key="dedicated", unit="yes or no", default=False,
                    meaning="whether real processors are dedicated to it"),
                Key(key="virtual", unit="B", suffix="gib", low=1, meaning="virtual storage of each"),
                Key(key="instantiated", unit="share", high=1.0, low=1e-9, digits=True,
                    meaning="share of it that exists because the guest touched it"),
                Key(key="pages_per_segment", low=1, high=256, default=256,
                    meaning="instantiated pages of each 1 MiB segment in use"),
                Key(key="touching", unit="text", words=("uniform", "cyclic, random steal", "cyclic, oldest first"),
                    default="uniform", meaning="how pages are touched, and which are stolen"),
                Key(key="miss_ratio", unit="share", high=1.0, digits=True,
                    meaning="measured instead: misses per page visit"),
                Key(key="touches_per_visit", low=1, default=1, meaning="touches of a page while it is in use"),
                Key(key="changed", high=10.0, digits=True,
                    meaning="page writes per page read; left out: reads and writes are told only together"),
                Key(key="touch_time", unit="s", suffix="us", digits=True, meaning="processor time per page touch"),
                Key(key="cp_charged", unit="s", suffix="us", digits=True,
                    meaning="processor time of CP per page transfer, charged to the guest"),
                Key(key="pages_from", refers="paging", unit="text", meaning="paging devices"),
                Key(key="io_to", refers="volumes", unit="text", meaning="volumes of its minidisks"),
                Key(key="requesters", whole=True, low=1, high=10_000,
                    meaning="I/Os of a guest outstanding or about to come; its virtual processors where left out"),
                Key(key="think_time", unit="s", suffix="ms", digits=True, meaning="from the end of an I/O to the next"),
                Key(key="io_rate", unit="1/s", digits=True, meaning="instead: I/Os of a guest that come at random"),
                Key(key="io_time", unit="s", suffix="us", digits=True, default=0.0, meaning="processor time per I/O"),
                Key(key="touches_per_io", digits=True, default=0.0, meaning="page touches between two I/Os"),
                Key(key="reads", unit="share", high=1.0, digits=True, default=1.0,
                    meaning="share of the I/Os that read"),
                Key(key="cache_hit", unit="share", high=1.0, digits=True, default=0.0,
                    meaning="share of the reads that minidisk cache answers"),
                MODEL,
            ),
        ),
        TomlTable(
            name="paging", many=True, meaning="equal paging devices",
            keys=(
                _name("name of the group"), LIKE,
                Key(key="devices", whole=True, low=1, high=10_000, needed=True, meaning="paging devices"),
                Key(key="depth", whole=True, low=1, high=10_000, words=("unlimited",), default=1,
                    meaning="transfers that a device works on at a time; 1 is serialized"),
                Key(key="pool", refers="pool", unit="text",
                    meaning="HyperPAV pool whose aliases it uses (z/VM 6.4 and later)"),
                SERVICE,
                Key(key="pages_per_transfer", low=1, high=10_000, digits=True, meaning="pages that a transfer moves"),
                Key(key="cp_system", unit="s", suffix="us", digits=True,
                    meaning="processor time of CP per transfer, charged to the system"),
                INFLATION, GAP,
                Key(key="space", unit="B", suffix="gib", low=1, meaning="page space of a device"),
                Key(key="other_transfers", unit="1/s", default=0.0, digits=True,
                    meaning="transfers of others, over all devices"),
                MODEL,
            ),
        ),
        TomlTable(
            name="pool", many=True, meaning="a HyperPAV pool",
            keys=(
                _name("name of the pool"),
                Key(key="aliases", whole=True, high=10_000, needed=True, meaning="aliases of the pool"),
                SERVICE, INFLATION, GAP, MODEL,
            ),
        ),
        TomlTable(
            name="volumes", many=True, meaning="equal volumes with minidisks",
            keys=(
                _name("name of the group"), LIKE,
                Key(key="count", whole=True, low=1, high=10_000, needed=True, meaning="volumes"),
                Key(key="pool", refers="pool", unit="text", meaning="HyperPAV pool whose aliases they use"),
                Key(key="aliases", whole=True, high=1000, default=0,
                    meaning="aliases of each volume, where there is no pool"),
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
        if key.suffix:
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
