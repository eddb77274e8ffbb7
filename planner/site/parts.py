"""A site cut into parts small enough to send away: some pools of one system each, and where their rows are."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from planner.demand import Law, Target
from planner.errors import InputError
from planner.library import DEFAULT_MODEL
from planner.measurements.archive import collected, naming_damage, open_archive
from planner.measurements.choose import POOL, VOLUME, Group, groups_of, moment, refuse_twice, rows_of
from planner.measurements.formats import is_folder
from planner.measurements.read import Data, Measured, read
from planner.reports.membership import share_together
from planner.site.members import (
    Shared,
    check_members,
    check_together,
    checked_members,
    declared,
    gaps_of,
    is_shared,
    joined,
    read_shared,
)
from planner.sizing.gaps import Gaps

if TYPE_CHECKING:
    import polars as pl

DEFAULT_MEET: Final = 0.99


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SitePart:
    """Some groups of a site, small enough to send away."""

    name: str  # for messages
    groups: tuple[Group, ...]  # which pools and volumes
    archive: Path | None = None  # where their rows are; `frame` holds them, and `supply` the counters
    frame: pl.DataFrame | None = None
    supply: pl.DataFrame | None = None
    shares: dict[str, dict[str, float]] = field(default_factory=dict)  # of pools that systems share
    start: datetime | None = None  # which intervals; law, target and meet are as of `site`
    end: datetime | None = None
    law: Law
    target: Target
    meet: float = DEFAULT_MEET
    together: float | None = None  # how much the I/Os of a pool's volumes come together, where that was said


def parts_of(
    source: Data,
    *,
    members: Path | str | None = None,
    system: str | None = None,
    start: datetime | str | None = None,
    end: datetime | str | None = None,
    pool: str | None = None,
    target: Target | None = None,
    together: float | str | None = None,
    model: Path | str = DEFAULT_MODEL,
    map: str | None = None,
    allow_missing: bool = False,
    meet: float = DEFAULT_MEET,
    measured: Measured | None = None,
) -> tuple[list[SitePart], tuple[str, ...], dict[str, Gaps]]:
    """Cut a site into parts: some pools of one system each; what reading it left open; members that were not read."""
    asked: dict[str, Any] = {
        "law": Law.from_model(model), "target": target or Target(), "meet": meet,
        "together": share_together(together),
    }  # fmt: skip
    start, end = moment(start, "start"), moment(end, "end")
    sources = list(source) if isinstance(source, (list, tuple)) else [source]
    only = sources[0]
    shared: Shared = {}
    path: Path | str = ""
    if members is not None and is_shared(members):
        shared, path, members = read_shared(members), members, None
    archive = None
    said: tuple[str, ...] = ()
    lost: dict[str, Gaps] = {}
    folder = len(sources) == 1 and isinstance(only, (str, Path)) and is_folder(Path(only))
    if members is None and map is None and folder:
        archive = open_archive(Path(only))
        systems = None if system is None else [system]
        rows = archive.scan("devices", systems=systems, start=start, end=end)
        missing = archive.missing(systems=systems, start=start, end=end)
        lost, supply = gaps_of(missing, None, rows, allowed=allow_missing), None
    else:
        if measured is None:
            measured = read(source, members, system=system, start=start, end=end, map=map)
        if len(sources) > 1:  # of one alone, pools that stand in it twice have no answer; the others have
            refuse_twice(measured.devices)
        rows, supply = measured.devices.lazy(), measured.supply
        said = (*measured.notes, *checked_members(members, rows))
        lost = gaps_of(measured.missing, members, rows, allowed=allow_missing)
    named = nullcontext if archive is None else partial(naming_damage, archive.every_file)
    with named():
        every = groups_of(rows)
    parts, notes = [], [*check_together(asked["together"], every), *said]
    if shared:
        check_members(shared, every, path)
        gone = {member for some in shared.values() for member in some}
        every = [each for each in every if (each.system, each.name) not in gone]
        for ssid, some in shared.items():
            with named():
                group, together_rows, shares, left_out = joined(rows, ssid, some)
            if pool is not None and pool not in (group.name, group.words):
                continue
            if left_out:
                notes.append(
                    f"{group.words}: {left_out} intervals that not all of its systems measured are left out."
                )
            frame = rows_of(together_rows.lazy(), [group])
            parts.append(
                SitePart(name=group.words, groups=(group,), frame=frame, shares={ssid: shares}, **asked)
            )
    if not (parts and pool is not None):
        every = chosen(every, pool, _named(source)) if every or not parts else []
        for few in cut(every):
            where = {"archive": archive.path, "start": start, "end": end} if archive is not None else {
                "frame": rows_of(rows, few), "supply": supply
            }  # fmt: skip
            parts.append(SitePart(name=_name(few), groups=few, **where, **asked))
    if pool is not None:
        kept = {group.words for part in parts for group in part.groups}
        lost = {name: each for name, each in lost.items() if name in kept or kept & {*each.volumes}}
    return parts, tuple(notes), lost


def _named(source: Data) -> str:
    """A source, or several, for a message."""
    return ", ".join(map(str, source)) if isinstance(source, list | tuple) else str(source)


def chosen(groups: Sequence[Group], pool: str | None, source: str) -> list[Group]:
    """Groups that are asked for: of this pool, or all."""
    if not groups:
        raise InputError("source", source, "devices or volumes with intervals; there are none")
    if pool is None:
        return list(groups)
    found = [each for each in groups if pool in (each.name, each.words)]
    if not found:
        names = [each.words for each in groups if each.kind != VOLUME] or [each.words for each in groups]
        raise InputError("pool", pool, f"one of {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}")  # noqa: PLR2004
    return found


def cut(groups: Sequence[Group], pools: int = 8, volumes: int = 256) -> list[tuple[Group, ...]]:
    """So many pools, or volumes, of one system each."""
    found: list[tuple[Group, ...]] = []
    for kind in dict.fromkeys((each.system, each.kind == VOLUME) for each in groups):
        some = [each for each in groups if (each.system, each.kind == VOLUME) == kind]
        size = volumes if kind[1] else pools
        found += [tuple(some[first : first + size]) for first in range(0, len(some), size)]
    return found


def _name(groups: Sequence[Group]) -> str:
    return groups[0].words if len(groups) == 1 else f"{groups[0].words} to {groups[-1].name}"


def rows_of_part(part: SitePart) -> pl.DataFrame:
    """Rows of the groups of a part, wherever they are."""
    if part.frame is not None:
        return declared(part.frame, part.together)
    assert part.archive is not None
    systems = sorted({each.system for each in part.groups})
    archive = open_archive(part.archive)
    with naming_damage(archive.every_file):
        lazy = archive.scan("devices", systems=systems, start=part.start, end=part.end)
        return declared(rows_of(lazy, part.groups), part.together)


def supply_of_part(part: SitePart) -> pl.DataFrame | None:
    """Supply counters of the pools of a part; None without any."""
    import polars as pl

    if part.archive is None:
        return part.supply
    pools = [each.name for each in part.groups if each.kind == POOL]
    archive = open_archive(part.archive)
    if not pools or not archive.files("supply"):
        return None
    systems = sorted({each.system for each in part.groups})
    lazy = archive.scan("supply", systems=systems, start=part.start, end=part.end)
    return collected(lazy.filter(pl.col("pool").is_in(pools)), archive.every_file)
