"""What a site knows of its members: those without rows, and how much their I/Os come together where that was said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from planner.errors import InputError, ReportError
from planner.measurements.groups import GROUP_KEYS, POOL, VOLUME, Group, group_keys
from planner.measurements.read import membership
from planner.render.text import counted
from planner.reports import schema
from planner.sizing.gaps import Gaps, gaps
from planner.sizing.wording import joined_words

if TYPE_CHECKING:
    import polars as pl

    from planner.reports.membership import Membership
    from planner.reports.schema import Missing

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


def gaps_of(
    missing: Sequence[Missing], members: Membership | Path | str | None, devices: pl.LazyFrame, *, allowed: bool
) -> dict[str, Gaps]:  # fmt: skip
    """What could not be read of each pool by its name; of volumes in no pool under no name."""
    import polars as pl

    known = membership(members)
    if not missing and known is None:
        return {}
    columns = ("system", "device", "label", "kind", "alias_of", "pool")
    about = devices.select(columns).filter(pl.col("kind") != schema.OTHER).unique()
    rows = group_keys(about).with_columns(pl.col("system").fill_null("")).collect()
    names: dict[Group, set[str]] = {}
    volumes: dict[Group, int] = {}
    for (system, kind, name), part in rows.partition_by("system", *GROUP_KEYS, as_dict=True).items():
        group = Group(system, kind, "" if kind == VOLUME else name)
        bases = part.filter(pl.col("kind").is_in([schema.BASE, schema.VOLUME]))
        names.setdefault(group, set()).update(part["device"].drop_nulls(), part["label"].drop_nulls())
        volumes[group] = volumes.get(group, 0) + bases.select("device", "label").n_unique()
    owners = {name: group for group, some in names.items() for name in some}
    found: dict[str, Gaps] = {}
    for group, present in names.items():
        own = [
            each
            for each in missing
            if each.system in (None, group.system) and owners.get(each.name or "", group) == group
        ]
        if group.kind == VOLUME:  # of whoever has no pool
            own = [
                each
                for each in own
                if each.pool is None and (known is None or each.name not in known.members)
            ]
        pool = group.name if group.kind == POOL else None
        lost = gaps(own, present, volumes[group], pool=pool, membership=known, allowed=allowed)
        if lost:
            partly = {*lost.volumes, *lost.aliases} <= present
            found[group.words if group.name else group.system] = replace(
                lost, where=" in some intervals" if partly else ""
            )
    return found


def declared(devices: pl.DataFrame, share: float | None) -> pl.DataFrame:
    """Rows with how much the I/Os of the volumes of a pool come together, where that was said."""
    import polars as pl

    return devices if share is None else devices.with_columns(together=pl.lit(share))


def check_together(share: float | None, groups: Iterable[Group]) -> tuple[str, ...]:
    """Say what was taken; refuse a share where there is no pool."""
    if share is None:
        return ()
    if all(group.kind == VOLUME for group in groups):
        raise InputError(
            "together",
            share,
            "it for pools: a volume with aliases of its own has no others that its I/Os come with",
        )
    return (f"{joined_words(share)[:-1]}, in every pool.",)
