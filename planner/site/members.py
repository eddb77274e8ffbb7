"""What a site knows of its pools: members without rows, how much I/Os come together, pools that systems share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from planner.errors import InputError, ReportError
from planner.measurements.choose import GROUP_KEYS, POOL, VOLUME, Group, group_keys
from planner.measurements.read import membership
from planner.render.text import counted, listed
from planner.reports import schema
from planner.reports.csv_table import read_csv
from planner.reports.moments import MOMENT, with_moments
from planner.sizing.gaps import Gaps, gaps
from planner.sizing.wording import joined_words

if TYPE_CHECKING:
    import polars as pl

    from planner.reports.membership import Membership, Role
    from planner.reports.schema import Missing

NAMED: Final = 4  # devices of a message
ROLES: Final[Mapping[Role, tuple[str, str]]] = {
    "base": ("bases", "taken as without I/O"),
    "alias": ("aliases", "counted as in use"),
}


def checked_members(members: Membership | Path | str | None, devices: pl.LazyFrame) -> list[str]:
    """Name the members of pools that no interval has a row of, and pools without any."""
    known = membership(members)
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
    missing: Sequence[Missing], members: Membership | Path | str | None, devices: pl.LazyFrame, *, allowed: bool
) -> dict[str, Gaps]:  # fmt: skip
    """What could not be read of each pool by its name; of volumes in no pool under no name."""
    import polars as pl

    known = membership(members)
    if not missing and known is None:
        return {}
    columns = ("system", "device", "label", "kind", "alias_of", "pool")
    about = devices.select(columns).filter(pl.col("kind") != schema.OTHER).unique()
    rows = (
        group_keys(about).with_columns(pl.col("system").fill_null("")).collect().sort("system", *GROUP_KEYS)
    )
    names: dict[Group, set[str]] = {}
    volumes: dict[Group, int] = {}
    for (system, kind, name), part in rows.partition_by("system", *GROUP_KEYS, as_dict=True).items():
        group = Group(system, kind, "" if kind == VOLUME else name)
        bases = part.filter(pl.col("kind").is_in([schema.BASE, schema.VOLUME]))
        names.setdefault(group, set()).update(part["device"].drop_nulls(), part["label"].drop_nulls())
        volumes[group] = volumes.get(group, 0) + bases.select("device", "label").n_unique()
    owners = {name: group for group, some in names.items() for name in some}
    pooled = () if known is None else known.members
    found: dict[str, Gaps] = {}
    for group, present in names.items():
        own = [
            each
            for each in missing
            if each.system in (None, group.system)
            and owners.get(each.name or "", group) == group
            and not (group.kind == VOLUME and (each.pool is not None or each.name in pooled))
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


COLUMNS: Final = ("system", "pool", "ssid")
TIMES: Final = ("pend", "disconnect", "connect", "service", "response", "cu_wait")
SUMS: Final = ("io_rate", "alias_rate", "avoided", "queued", "utilization")

Shared = Mapping[str, tuple[tuple[str, str], ...]]
"""Systems and pools by the subsystem id that they share."""


def is_shared(path: Path | str) -> bool:
    """Whether a file says which pools systems share, not which devices are members of pools."""
    try:
        with Path(path).open(encoding="utf-8-sig", errors="replace") as file:
            heads = {word.strip(' "\n').lower() for word in file.readline().split(",")}
    except OSError:
        return False
    return set(COLUMNS) <= heads


def read_shared(path: Path | str) -> Shared:
    """Read which pools of which systems are one control unit."""
    table = read_csv(path, COLUMNS, "pools that systems share")
    found: dict[str, list[tuple[str, str]]] = {}
    known: dict[tuple[str, str], str] = {}
    rows = zip(*(table.texts(name) for name in COLUMNS), strict=True)
    for row, (system, pool, ssid) in enumerate(rows):
        for name, cell in zip(COLUMNS, (system, pool, ssid), strict=True):
            if not cell:
                raise table.error(row, name, "is empty: expected system, pool and ssid in each row")
        if (system, pool) in known:
            raise table.error(row, "pool", f"{pool} of {system} a second time: expected each pool once")
        known[system, pool] = ssid
        found.setdefault(ssid, []).append((system, pool))
    return {ssid: tuple(members) for ssid, members in found.items() if len(members) > 1}


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


def joined(
    frame: pl.LazyFrame, ssid: str, members: tuple[tuple[str, str], ...]
) -> tuple[Group, pl.DataFrame, dict[str, float], int]:
    """Rows of all systems as of one, of intervals that all measured: rates added, times averaged; others counted."""
    import polars as pl

    wanted = pl.DataFrame(
        {"system": [system for system, _ in members], "pool": [pool for _, pool in members]}
    )
    rows = with_moments(frame.join(wanted.lazy(), on=["system", "pool"], how="semi").collect())
    systems = rows.group_by(MOMENT, "interval").agg(pl.col("system").n_unique().alias("systems"))
    everywhere = systems.filter(pl.col("systems") == len({system for system, _ in members}))
    left_out = systems.height - everywhere.height
    rows = rows.join(everywhere.select(MOMENT, "interval"), on=[MOMENT, "interval"], how="semi")
    load = (pl.col("io_rate") * pl.col("service")).sum()
    by_time = rows.group_by(MOMENT).agg(load.alias("load")).sort("load", descending=True)
    # share of the intervals whose load the systems' shares are of
    busiest = by_time.head(max(int(0.01 * by_time.height), 1)).select(MOMENT)
    of_busiest = rows.join(busiest, on=MOMENT, how="semi").group_by("system").agg(load.alias("load"))
    total = float(of_busiest["load"].sum()) or 1.0
    shares = {str(system): float(value) / total for system, value in of_busiest.sort("system").rows()}
    name = "+".join(sorted({system for system, _ in members}))
    ends = schema.ENDS
    rate = pl.col("io_rate").fill_null(0.0)
    times = [
        pl.when(rate.sum() > 0)
        .then((pl.col(f"{number}{end}") * rate).sum() / rate.filter(pl.col(f"{number}{end}").is_not_null()).sum())
        .otherwise(pl.col(f"{number}{end}").first())
        .alias(f"{number}{end}")
        for number in TIMES for end in ends
    ]  # fmt: skip
    sums = [
        pl.when(pl.col(f"{number}{end}").null_count() == 0).then(pl.col(f"{number}{end}").sum()).alias(f"{number}{end}")
        for number in SUMS for end in ends
    ]  # fmt: skip
    firsts = [
        pl.col(column).first()
        for column in ("source", "start", "utc_offset", "type", "alias_of", "links", "paths", "file", "line")
    ]
    found = (
        rows.group_by(MOMENT, "interval", "device", "label", "kind", maintain_order=True)
        .agg(*times, *sums, *firsts, pl.col("pool_aliases").max(), pl.col("together").max())
        .with_columns(pl.lit(name).alias("system"), pl.lit(ssid).alias("pool"))
    )
    whole = schema.frame(
        schema.DEVICES, {column: found[column] for column in schema.dtypes(schema.DEVICES)}, found.height
    )
    return Group(name, POOL, ssid, members), whole, shares, left_out
