"""Commented system files to start from, made from the declarations."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final

from planner.errors import InputError
from planner.system.schema import TABLES, one_of

WIDTH: Final = 100
XIV: Final = "system-xiv-serialized"
POOL: Final = "hyperpav-pool-runs"

# What each template says: comment, then tables with their keys in order. None stands for a key to fill in.
TEMPLATES: Final[Mapping[str, tuple[str, Sequence[tuple[str, Mapping[str, Any]]]]]] = {
    "xiv": (
        "The published system of 20 guests that page to 20 serialized XIV devices. Everything that was calibrated "
        "comes from the serialized run alone. Concurrent I/O: planner system FILE --set paging.depth=unlimited",
        (
            ("system", {"name": "XIV concurrent I/O, serialized", "release": "6.4", "source": "xiv-concurrent-io"}),
            ("processors", {"count": 64}),
            ("storage", {"real_gib": 1024, "other_gib": 0}),
            ("guests", {"name": "pfault", "count": 20, "processors": 1, "virtual_gib": 88, "instantiated": "0.70",
                        "touching": "uniform", "pages_from": "xiv", "model": XIV}),
            ("paging", {"name": "xiv", "devices": 20, "depth": 1, "model": XIV}),
        ),
    ),
    "hyperpav": (
        "Eight volumes that share the aliases of a HyperPAV pool, three requesters on each, as in the published runs, "
        "and paging volumes with a pool of their own (z/VM 6.4 and later).",
        (
            ("system", {"name": "HyperPAV pool", "release": "6.4"}),
            ("processors", {"count": 8}),
            ("storage", {"real_gib": 256, "other_gib": 4}),
            ("pool", {"name": "lcu", "aliases": 8, "model": POOL}),
            ("volumes", {"name": "data", "count": 8, "pool": "lcu"}),
            ("guests", {"name": "exerciser", "count": 24, "io_to": "data", "model": POOL}),
            ("pool", {"name": "paging-lcu", "aliases": 4, "model": POOL}),
            ("paging", {"name": "page-volumes", "devices": 8, "pool": "paging-lcu", "pages_per_transfer": "10.0"}),
            ("guests", {"name": "linux", "count": 20, "processors": 1, "virtual_gib": 20, "instantiated": "0.70",
                        "touch_time_us": "10.0", "pages_from": "page-volumes"}),
        ),
    ),
    "minimal": (
        "The least: real storage, guests and the devices they page to. Change the numbers; `planner system --schema` "
        "lists every key there is.",
        (
            ("system", {"name": "my system"}),
            ("storage", {"real_gib": 256, "other_gib": 4}),
            ("guests", {"name": "linux", "count": 30, "virtual_gib": 12, "instantiated": "0.75", "touch_time_us": "1.0",
                        "pages_from": "pages"}),
            ("paging", {"name": "pages", "devices": 8, "depth": 1, "service_time_ms": "1.0",
                        "pages_per_transfer": "10.0"}),
        ),
    ),
}  # fmt: skip


def template(name: str) -> str:
    """A commented file to start from.

    Parameters
    ----------
    name : {"xiv", "hyperpav", "minimal"}
        Which.

    Returns
    -------
    str
        TOML that `planner system` answers.

    Raises
    ------
    InputError
        There is no such template.

    Examples
    --------
    >>> "[system]" in template("minimal")
    True
    """
    if name not in TEMPLATES:
        raise InputError("--template", name, one_of(name, TEMPLATES))
    comment, tables = TEMPLATES[name]
    return written(comment, tables)


def written(comment: str, tables: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """TOML with the meaning of each key beside it; a value of None becomes a line to fill in."""
    parts = [
        textwrap.fill(comment, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
    ]
    for table, keys in tables:
        declared = TABLES[table]
        head = f"[[{table}]]" if declared.many else f"[{table}]"
        rows = [(key, _value(key, value, declared.name)) for key, value in keys.items()]
        width = max(len(f"{key} = {value}") for key, value in rows)
        lines = [f"{head}  # {declared.meaning}" if declared.meaning else head]
        for (key, value), original in zip(rows, keys.values(), strict=True):
            found = declared.find(key)
            meaning = found[0].meaning if found else ""
            sign = "# " if original is None else ""
            fill = "to fill in: " if original is None else ""
            lines.append(f"{sign}{f'{key} = {value}'.ljust(width)}  # {fill}{meaning}")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def to_fill_in(table: str, keys: Sequence[str]) -> str:
    """A table in comments, its keys with their meaning."""
    lines = written("to fill in", [(table, dict.fromkeys(keys))]).splitlines()[2:]
    return "\n".join(line if line.startswith("#") else f"# {line}" for line in lines)


def _value(key: str, value: Any, table: str) -> str:
    found = TABLES[table].find(key)
    if value is None:
        return "?"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and not (found and found[0].text):
        return value  # digits as they shall be written
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"{value:g}" if isinstance(value, float) else str(value)
