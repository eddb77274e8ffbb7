"""A site cut into parts for several processes; members of its pools, and pools that systems share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from planner.demand import DeviceModel, Target
from planner.errors import InputError, ReportError
from planner.lazy import pl
from planner.library import DEFAULT_MODEL
from planner.measurements import choose
from planner.measurements.archive import collected, naming_damage, open_archive
from planner.measurements.choose import POOL, SAME_LENGTH, VOLUME, Group
from planner.measurements.formats import Source, is_folder
from planner.measurements.read import Data, Measured, members_from, read
from planner.render.text import counted, listed
from planner.reports import schema
from planner.reports.csv_table import read_csv, with_columns
from planner.reports.membership import Membership, Role, share_together
from planner.reports.moments import MOMENT, with_moments
from planner.reports.zos import with_aliases, with_most_used
from planner.results import by_key
from planner.sizing.gaps import Gaps, gaps, refuse_unknown_pool
from planner.sizing.wording import together_words

DEFAULT_MEET: Final = 0.99
NAMED: Final = 4  # devices of a message
ROLES: Final[Mapping[Role, tuple[str, str]]] = {
    "base": ("bases", "taken as without I/O"),
    "alias": ("aliases", "counted as in use"),
}
POOLS_OF_A_PART: Final = 8  # at most, as the next two: some seconds or minutes of a process
VOLUMES_OF_A_PART: Final = 256
ROWS_OF_A_PART: Final = 20_000
COLUMNS: Final = ("system", "pool", "ssid")

Shared = Mapping[str, tuple[tuple[str, str], ...]]
"""Systems and pools by the subsystem id that they share."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SitePart:
    """Some groups of a site, for one process."""

    name: str  # for messages
    groups: tuple[Group, ...]  # which pools and volumes
    archive: Path | None = None  # where their rows are; `frame` holds them, and `supply` the counters
    frame: pl.DataFrame | None = None
    supply: pl.DataFrame | None = None
    shares: dict[str, dict[str, float]] = field(default_factory=dict)  # of pools that systems share
    start: datetime | None = None  # which intervals; model, target and meet are as of `site`
    end: datetime | None = None
    device_model: DeviceModel
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
        "device_model": DeviceModel.from_model(model), "target": target or Target(), "meet": meet,
        "together": share_together(together),
    }  # fmt: skip
    start, end = choose.moment(start, "start"), choose.moment(end, "end")
    sources = list(source) if isinstance(source, (list, tuple)) else [source]
    only = sources[0]
    shared: Shared = {}
    path: Path | str = ""
    if members is not None and is_shared(members):
        shared, path, members = read_shared(members), members, None
    archive, supply = None, None
    notes: list[str] = []
    folder = len(sources) == 1 and isinstance(only, (str, Path)) and is_folder(Path(only))
    if members is None and map is None and folder:
        archive = open_archive(Path(only))
        span: dict[str, Any] = {"systems": None if system is None else [system], "start": start, "end": end}
        rows = with_most_used(*(archive.scan(table, **span) for table in ("devices", "supply")))
        missing = archive.missing(**span)
    else:
        measured = measured or read(source, members, system=system, start=start, end=end, map=map)
        if len(sources) > 1:  # of one alone, pools that stand in it twice have no answer; the others have
            schema.refuse_twice(measured.devices)
        rows, supply, missing = measured.devices.lazy(), measured.supply, measured.missing
        notes = [*measured.notes, *checked_members(members, rows)]
    lost = gaps_of(missing, members, rows, allowed=allow_missing)
    named = nullcontext if archive is None else partial(naming_damage, archive.every_file)
    with named():
        every = choose.groups_of(rows)
        notes = [*choose.moved(rows, every), *notes]
    notes = [*check_together(asked["together"], every), *notes]
    parts: list[SitePart] = []
    known: list[Group] = []
    if shared:
        check_members(shared, every, path)
        gone = {member for some in shared.values() for member in some}
        every = [each for each in every if (each.system, each.name) not in gone]
    for ssid, some in shared.items():
        with named():
            part, left_out = _shared_part(rows, ssid, some, asked)
        known += part.groups
        _lose_together(lost, part.groups[0])
        if pool in (None, part.name, ssid):
            parts.append(part)
            notes += left_out
    if not (parts and pool is not None):
        every = chosen(every, pool, measured or only, known, lost) if every or not parts else []
        for few in cut(every, rows.select(pl.len()).collect().item()):
            where = {"archive": archive.path, "start": start, "end": end} if archive is not None else {
                "frame": choose.rows_of(rows, few), "supply": supply
            }  # fmt: skip
            parts.append(SitePart(name=_name(few), groups=few, **where, **asked))
    if pool is not None:
        kept = {group.words for part in parts for group in part.groups}
        lost = {name: each for name, each in lost.items() if name in kept or kept & {*each.volumes}}
    return parts, tuple(notes), lost


def _lose_together(lost: dict[str, Gaps], group: Group) -> None:
    """Gaps of the pools of a shared control unit become gaps of it."""
    pools = [Group(system, POOL, name).words for system, name in group.members]
    if own := [lost.pop(name) for name in pools if name in lost]:
        volumes = tuple(dict.fromkeys(each for one in own for each in one.volumes))
        aliases = tuple(dict.fromkeys(each for one in own for each in one.aliases))
        most = max(one.of for one in own)
        lost[group.words] = replace(own[0], volumes=volumes, aliases=aliases, of=most)


def chosen(
    groups: Sequence[Group], pool: str | None, source: Measured | Path | str, others: Sequence[Group] = (),
    lost: Collection[str] = (),
) -> list[Group]:  # fmt: skip
    """Groups that are asked for: of this pool, or all; a refusal names `others`, and whether the pool was `lost`."""
    if not groups and not others:
        wanted = "ECKD base devices, or volumes, with intervals"
        if isinstance(source, Measured):
            raise source.without(wanted)
        raise InputError("source", str(source), wanted)
    if pool is None:
        return list(groups)
    found = [each for each in groups if pool in (each.name, each.words)]
    if not found:
        there = [*others, *groups]
        names = [each.words for each in there if each.kind != VOLUME] or [each.words for each in there]
        refuse_unknown_pool(pool, names, [*lost, *(each.rpartition("/")[2] for each in lost)])
    return found


def cut(groups: Sequence[Group], rows: int) -> list[tuple[Group, ...]]:
    """Pools or volumes of one system each, about `ROWS_OF_A_PART` of all `rows` together."""
    fitting = max(ROWS_OF_A_PART * len(groups) // max(rows, 1), 1)
    found: list[tuple[Group, ...]] = []
    for (_, alone), some in by_key(((each.system, each.kind == VOLUME), each) for each in groups).items():
        size = min(fitting, VOLUMES_OF_A_PART if alone else POOLS_OF_A_PART)
        found += [tuple(some[first : first + size]) for first in range(0, len(some), size)]
    return found


def _name(groups: Sequence[Group]) -> str:
    return groups[0].words if len(groups) == 1 else f"{groups[0].words} to {groups[-1].name}"


def rows_of_part(part: SitePart) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Rows of the groups of a part, wherever they are, and supply counters of its pools; None without any."""
    if part.frame is not None:
        return declared(part.frame, part.together), part.supply
    assert part.archive is not None
    archive = open_archive(part.archive)
    systems = sorted({each.system for each in part.groups})
    scan = partial(archive.scan, systems=systems, start=part.start, end=part.end)
    with naming_damage(archive.every_file):
        devices = choose.rows_of(with_most_used(scan("devices"), scan("supply")), part.groups)
    pools = [each.name for each in part.groups if each.kind == POOL]
    supply = None
    if pools and archive.files("supply"):
        counters = scan("supply").filter(pl.col("pool").is_in(pools))
        supply = with_aliases(collected(counters, archive.every_file), devices)
    return declared(devices, part.together), supply


def checked_members(members: Membership | Path | str | None, devices: pl.LazyFrame) -> list[str]:
    """Name the members of pools that no interval has a row of, and pools without any."""
    known = members_from(members)
    if known is None:
        return []
    there = set(devices.select("device").unique().collect()["device"].drop_nulls())
    notes, missing = [], []
    for pool in known.pools:
        every = {role: known.of(pool, role) for role in ROLES}
        gone = {role: [device for device in some if device not in there] for role, some in every.items()}
        if gone == every:
            missing.append(f"pool {pool}: no interval has rows of any of its devices "
                           f"({listed([*every['base'], *every['alias']], NAMED)})")  # fmt: skip
            continue
        for role, (plural, taken) in ROLES.items():
            if some := gone[role]:
                notes.append(
                    f"{known.path}: no interval has rows of {counted(len(some), role, plural)} of pool {pool} "
                    f"({listed(some, NAMED)}): {taken}."
                )
    if missing and len(missing) == len(known.pools):
        raise ReportError(
            known.path, f"{missing[0]}: expected devices that were measured; correct their numbers"
        )
    return [*(f"{known.path}: {each}: it is left out." for each in missing), *notes]


def gaps_of(
    missing: Sequence[schema.Missing], members: Membership | Path | str | None, devices: pl.LazyFrame, *, allowed: bool
) -> dict[str, Gaps]:  # fmt: skip
    """What could not be read of each pool by its name; of volumes in no pool under no name."""
    known = members_from(members)
    if not missing and known is None:
        return {}
    columns = ("system", "device", "label", "kind", "alias_of", "pool")
    about = devices.select(columns).filter(pl.col("kind") != schema.OTHER).unique()
    grouped = choose.group_keys(about).with_columns(pl.col("system").fill_null(""))
    rows = grouped.collect().sort("system", *choose.GROUP_KEYS)
    names: dict[Group, set[str]] = {}
    volumes: dict[Group, int] = {}
    for (system, kind, name), part in rows.partition_by("system", *choose.GROUP_KEYS, as_dict=True).items():
        group = Group(system, kind, "" if kind == VOLUME else name)
        bases = part.filter(pl.col("kind").is_in([schema.BASE, schema.VOLUME]))
        names.setdefault(group, set()).update(part["device"].drop_nulls(), part["label"].drop_nulls())
        volumes[group] = volumes.get(group, 0) + bases.select("device", "label").n_unique()
    every = {(group.system, name) for group, some in names.items() for name in some}
    for each in missing:  # a pool without any readable row
        if each.pool and not any(each.pool == at.name and each.system in (None, at.system) for at in names):
            names[Group(each.system or "", POOL, each.pool)] = set()
    pooled = () if known is None else known.members
    found: dict[str, Gaps] = {}
    for group, present in names.items():
        own = [
            each
            for each in missing
            if each.system in (None, group.system)
            and (each.pool is not None or each.name in present or (group.system, each.name) not in every)
            and not (group.kind == VOLUME and (each.pool is not None or each.name in pooled))
        ]
        pool = group.name if group.kind == POOL else None
        lost = gaps(own, present, volumes.get(group, 0), pool=pool, membership=known, allowed=allowed)
        if lost:
            where = " in some intervals" if {*lost.volumes, *lost.aliases} <= present else ""
            found[group.words if group.name else group.system] = replace(lost, where=where)
    return found


def declared(devices: pl.DataFrame, share: float | None) -> pl.DataFrame:
    """Rows with how much the I/Os of the volumes of a pool come together, where that was said."""
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
    return (f"{together_words(share)[:-1]}, in every pool.",)


def is_shared(path: Path | str) -> bool:
    """Whether a file says which pools systems share, not which devices are members of pools."""
    with suppress(ReportError, TypeError):  # what reads members says why
        return Source(Path(path)).headings >= set(COLUMNS)
    return False


def read_shared(path: Path | str) -> Shared:
    """Read which pools of which systems are one control unit."""
    table = read_csv(path, COLUMNS, with_columns("pools that systems share", COLUMNS))
    known: dict[tuple[str, str], str] = {}
    rows = zip(*map(table.words, COLUMNS), strict=True)
    for row, (system, pool, ssid) in enumerate(rows):
        if (system, pool) in known:
            raise table.error(row, "pool", f"{pool} of {system} a second time: expected each pool once")
        known[system, pool] = ssid
    shared = by_key((ssid, member) for member, ssid in known.items())
    return {ssid: tuple(members) for ssid, members in shared.items() if len(members) > 1}


def _by_one_clock(rows: pl.DataFrame, first: str) -> pl.DataFrame:
    """Rows with times of the `first` system where an interval of it begins and ends at nearly the same time."""
    times = pl.struct(MOMENT, "interval", "start", "utc_offset").alias("_times")
    clock = rows.filter(pl.col("system") == first).select(MOMENT, times).unique().sort(MOMENT)
    near = rows.sort(MOMENT, maintain_order=True).join_asof(clock, on=MOMENT, strategy="nearest")
    names = ("interval", "start", "utc_offset", MOMENT)
    theirs = {name: pl.col("_times").struct.field(name) for name in names}
    length = theirs["interval"].fill_null(0.0)
    apart = (pl.col(MOMENT) - theirs[MOMENT]).dt.total_microseconds().abs() / 1e6
    longer = (pl.col("interval").fill_null(0.0) - length).abs()
    alike = pl.max_horizontal(apart, longer) <= SAME_LENGTH * length
    return near.with_columns(
        pl.when(alike).then(each).otherwise(pl.col(name)).alias(name) for name, each in theirs.items()
    )


def check_members(shared: Shared, groups: list[Group], path: Path | str) -> None:
    """Refuse members that were not measured."""
    there = {(each.system, each.name) for each in groups}
    for ssid, members in shared.items():
        for system, pool in members:
            if (system, pool) not in there:
                raise ReportError(
                    Path(path), f"pool {pool} of {system or 'no system'} of control unit {ssid} has no measurements: "
                    "expected pools that were measured",
                )  # fmt: skip


def _shared_part(
    frame: pl.LazyFrame, ssid: str, members: tuple[tuple[str, str], ...], asked: Mapping[str, Any]
) -> tuple[SitePart, list[str]]:
    """Pools that are one control unit, where all systems measured them: rates added, times averaged; and a note."""
    wanted = pl.DataFrame(members, ["system", "pool"], orient="row")
    rows = with_moments(frame.join(wanted.lazy(), on=["system", "pool"], how="semi").collect())
    schema.refuse_twice(rows)
    key = [MOMENT, "interval"]
    rows = _by_one_clock(rows, members[0][0]).with_columns(_systems=pl.col("system").n_unique().over(key))
    everywhere = pl.col("_systems") == len({system for system, _ in members})
    left_out = rows.filter(~everywhere).select(key).n_unique()
    rows = rows.filter(everywhere)
    load = (pl.col("io_rate") * pl.col("service")).sum()
    by_time = (
        rows.group_by(MOMENT, maintain_order=True)
        .agg(load.alias("load"))
        .sort("load", MOMENT, descending=[True, False])
    )
    # share of the intervals whose load the systems' shares are of
    busiest = by_time.head(max(int(0.01 * by_time.height), 1)).select(MOMENT)
    of_busiest = (
        rows.join(busiest, on=MOMENT, how="semi")
        .group_by("system", maintain_order=True)
        .agg(load.alias("load"))
    )
    total = float(of_busiest["load"].sum()) or 1.0
    shares = {str(system): float(value) / total for system, value in of_busiest.sort("system").rows()}
    name = "+".join(sorted({system for system, _ in members}))
    device = [MOMENT, "device", "label", "kind"]
    many = pl.len().over(device)
    sums = [pl.col(f"{number}{end}") for number in choose.BY_TIME for end in schema.ENDS]
    one = rows.with_columns(
        pl.lit(name).alias("system"), pl.lit(ssid).alias("pool"), pl.col("interval") / many,
        pl.col("pool_aliases", "together").max().over(MOMENT), pl.col("queue_samples").min().over(device) // many,
        *(pl.when(each.null_count().over(device) == 0).then(each * many) for each in sums),
    )  # fmt: skip
    group = Group(name, POOL, ssid, members)
    whole = choose.rows_of(choose.means(one, MOMENT).drop(MOMENT).lazy(), [group])
    apart = "that not all of its systems measured, from the same begin to the same end,"
    note = f"{group.words}: {left_out} intervals {apart} are left out."
    part = SitePart(name=group.words, groups=(group,), frame=whole, shares={ssid: shares}, **asked)
    return part, [note] if left_out else []
