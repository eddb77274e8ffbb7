"""Devices that a file of pool members names, held against those that were measured."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from planner.errors import ReportError
from planner.measurements.read import membership
from planner.render.text import counted

if TYPE_CHECKING:
    import polars as pl

    from planner.reports.membership import Membership

NAMED: Final = 4  # devices of a message


def checked_members(members: Membership | Path | str | None, devices: pl.LazyFrame) -> list[str]:
    """Name the members of pools that no interval has a row of, and pools without any."""
    known = membership(members)
    if known is None:
        return []
    there = set(devices.select("device").unique().collect()["device"].drop_nulls())
    notes, missing = [], []
    for pool in known.pools:
        every = {role: known.of(pool, role) for role in ("base", "alias")}
        gone = {role: [device for device in some if device not in there] for role, some in every.items()}
        if gone == every:
            missing.append(f"pool {pool}: no interval has rows of any of its devices "
                           f"({_shown([*every['base'], *every['alias']])})")  # fmt: skip
            continue
        bases, aliases = gone["base"], gone["alias"]
        if bases:
            notes.append(
                f"{known.path}: no interval has rows of {counted(len(bases), 'base')} of pool {pool} "
                f"({_shown(bases)}): taken as without I/O."
            )
        if aliases:
            notes.append(
                f"{known.path}: no interval has rows of {counted(len(aliases), 'alias', 'aliases')} of pool {pool} "
                f"({_shown(aliases)}): counted as in use."
            )
    if missing and len(missing) == len(known.pools):
        raise ReportError(
            known.path, f"{missing[0]}: expected devices that were measured; correct their numbers"
        )
    return [*(f"{known.path}: {each}: it is left out." for each in missing), *notes]


def _shown(devices: Iterable[str]) -> str:
    names = list(devices)
    rest = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {rest} more" if rest > 0 else "")
