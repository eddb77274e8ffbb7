"""From rows of the one table to systems: which rows are a volume's, which are a pool's, what they add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.errors import InputError
from planner.measurements.observed import run_of, run_of_shared
from planner.measurements.rows import Devices, Rows, shown
from planner.measurements.run import Run
from planner.render import counted
from planner.reports.schema import CLASSIC_ALIAS, OTHER, VOLUME
from planner.results import Flags, Integers
from planner.units import ADDRESSES


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRun:
    """A pool, `name`, its devices `volumes` and `aliases`, even those without I/O, and its `run`, None without I/O."""

    name: str
    volumes: int
    aliases: int
    run: Run | None


def volume_runs(rows: Rows, only: Devices | None = None, exclude: Devices | None = None) -> list[Run]:
    """Read the volumes of an interval, each with its classic PAV aliases.

    Parameters
    ----------
    rows : Rows
        The interval.
    only, exclude : Devices, optional
        The volumes asked for, and those left out; all where None.

    Returns
    -------
    list of Run
        One a volume that did I/O, the longest queue first.

    Raises
    ------
    InputError
        No such base, an alias was named, HyperPAV aliases are at work, a pool was measured, or a number is missing.
    """
    bases = np.flatnonzero(_bases(rows, only, exclude))
    rates = rows.numbers["io_rate"].value
    busy = bases[np.nan_to_num(rates[bases], nan=float(only is not None)) > 0]
    if not busy.size and not (bases.size and (rates[bases] == 0).all()):
        raise _wanted(rows, f"an ECKD base device with I/O; {_none(rows)}")
    bases = busy if busy.size else bases
    (shared,) = _sharing([rows])
    for pool in rows.words["pool"][bases[shared[bases]]][:1]:
        if pool is None:
            expected = "no HyperPAV aliases: they work for every base of the pool, so"
        else:
            expected = f"volumes in no pool; for pool {pool}"
        raise _wanted(rows, f"{expected} ask `planner aliases pool`")
    return sorted((_volume(rows, int(base)) for base in busy), key=lambda run: -float(run.queued.value[0]))


def _wanted(rows: Rows, expected: str, argument: str = "source") -> InputError:
    """Make the error of an interval that holds something else."""
    return InputError(argument, str(rows.file), expected)


def _none(rows: Rows) -> str:
    """Say that there is no base, and which devices there are instead."""
    others = rows[rows.of_kind(OTHER)].names
    if not others or rows.is_base.any():
        return "there is none"
    return f"there is none, and {shown(others)} {'is' if len(others) == 1 else 'are'} no DASD: only those have aliases"


def _bases(rows: Rows, only: Devices | None, exclude: Devices | None) -> Flags:
    """Rows that are volumes and asked for; a device that is asked for and is none is refused."""
    chosen = rows.is_base
    if only is not None:
        named = only.chosen(rows)
        if not (named & chosen).any():
            known = shown(rows[chosen].names)
            if named.any():
                base = rows.words["alias_of"][named.argmax()]
                what = f"an alias of {base}" if base else "a HyperPAV alias or no ECKD disk"
                raise InputError(only.argument, only.text, f"a base device ({known}); this one is {what}")
            wanted = f"device numbers in hexadecimal or labels, of the bases in {rows.file.name}: {known}"
            raise InputError(only.argument, only.text, wanted)
        chosen = chosen & named
    if exclude is not None:
        chosen = chosen & ~exclude.chosen(rows)
        if not chosen.any():
            raise InputError(exclude.argument, exclude.text, f"less than all the bases in {rows.file.name}")
    return chosen


def _pool_bases(rows: Rows, bases: Devices | None, exclude: Devices | None) -> Flags:
    """Rows that are the volumes of a pool without a name: where HyperPAV is at work and none are typed, its own."""
    chosen = _bases(rows, bases, exclude)
    if bases is not None or not rows.is_alias.any():
        return chosen
    own = chosen & ~_classic([rows])[0]
    return own if own.any() else chosen


def _volume(rows: Rows, base: int) -> Run:
    """One base with its own aliases."""
    name = rows.names[base]
    if rows.words["kind"][base] == VOLUME:
        return run_of(rows[[base]], name, pool=False, aliases=int(np.nan_to_num(rows.pool_aliases[base])))
    own = np.flatnonzero(rows.of_kind(CLASSIC_ALIAS) & (rows.words["alias_of"].astype(str) == name))
    return run_of_shared(rows[[base, *own]], name, bases=1, pool=False)


def pool_runs(
    rows: Rows,
    bases: Devices | None = None,
    aliases: Devices | None = None,
    exclude: Devices | None = None,
    name: str | None = None,
) -> tuple[list[PoolRun], list[str]]:
    """Read the pools of an interval, as its rows name them; without names all its ECKD devices are one.

    Parameters
    ----------
    rows : Rows
        The interval.
    bases, aliases, exclude : Devices, optional
        The devices of the pool, and those left out.
    name : str, optional
        What a pool is called that the rows do not name; as of this interval alone where None.

    Returns
    -------
    list of PoolRun
        In the order of the file.
    list of str
        Which devices were taken, and which others were active.

    Raises
    ------
    InputError
        A range without bases, classic PAV aliases, aliases of an unknown pool, or a number is missing.
    ReportError
        More addresses than a control unit has, a volume in no pool, or the queue of some volumes only.
    """
    if rows.of_kind(VOLUME).any():
        return _table_pools(rows, bases, exclude, name or rows.file.stem)
    if bases is None and aliases is None and exclude is None and rows.pooled.any():
        return _named_pools(rows)
    volumes = np.flatnonzero(_pool_bases(rows, bases, exclude))
    working = rows.is_alias
    if aliases is not None:
        working = working & aliases.chosen(rows)
        if not working.any():
            wanted = f"a range that holds some of the aliases in {rows.file.name}"
            raise InputError(aliases.argument, aliases.text, wanted)
    if exclude is not None:
        working = working & ~exclude.chosen(rows)
    if not volumes.size:
        raise _wanted(rows, f"an ECKD base device; {_none(rows)}")
    used = np.flatnonzero(working)
    name = name or pool_names([rows], bases, exclude)[0]
    run = _listed_pool(rows, f"pool {name}", volumes, used)
    return [PoolRun(name=name, volumes=len(volumes), aliases=len(used), run=run)], _taken(rows, volumes, used)


def pool_names(
    intervals: Sequence[Rows], bases: Devices | None = None, exclude: Devices | None = None
) -> list[str]:
    """Name of the pool of each interval whose rows name none: intervals that have a volume in common are of one."""
    volumes = [set(rows[_pool_bases(rows, bases, exclude)].names) for rows in intervals]
    pools: list[set[str]] = []
    for own in volumes:
        whole = own.union(*(pool for pool in pools if pool & own))
        pools = [*(pool for pool in pools if not pool & own), whole]
    of = [next((pool for pool in pools if pool & own), {""}) for own in volumes]
    return [
        intervals[of.index(pool)].file.stem if rows.of_kind(VOLUME).any() else f"{min(pool)}-{max(pool)}"
        for rows, pool in zip(intervals, of, strict=True)
    ]


def without_pooled(intervals: Sequence[Rows]) -> tuple[list[Rows], list[str]]:
    """Intervals without the volumes that share aliases, and these; with them where there are no others."""
    shared = _sharing(intervals)
    if not any((rows.is_base & ~there).any() for rows, there in zip(intervals, shared, strict=True)):
        return list(intervals), []
    pairs = list(zip(intervals, shared, strict=True))
    names = dict.fromkeys(name for rows, there in pairs for name in rows[there & rows.is_base].names)
    return [rows[~there] for rows, there in pairs if not there.all()], list(names)


def _classic(intervals: Sequence[Rows]) -> list[Flags]:
    """Which rows, an array an interval, are bases with classic PAV aliases in any interval, or these aliases."""
    of = {base for rows in intervals for base in rows.words["alias_of"] if base is not None}
    return [
        np.array(
            [(base or name) in of for base, name in zip(rows.words["alias_of"], rows.names, strict=True)]
        )
        for rows in intervals
    ]


def _sharing(intervals: Sequence[Rows]) -> list[Flags]:
    """Which rows, an array an interval, are of pools: named ones, and all but classic PAV where HyperPAV is at work."""
    lost = any((rows.is_alias & ~rows.pooled).any() for rows in intervals)
    return [(rows.pooled | lost) & ~own for rows, own in zip(intervals, _classic(intervals), strict=True)]


def of_pool(intervals: Sequence[Rows], name: str) -> list[Rows]:
    """Intervals of a table without what stands in other pools or none; all of it where no row names the pool."""
    named = [rows.of_kind(VOLUME) & (rows.words["pool"] == name) for rows in intervals]
    if not any(there.any() for there in named):
        return list(intervals)
    return [rows[there] for rows, there in zip(intervals, named, strict=True) if there.any()]


def system_runs(rows: Rows) -> list[Run]:
    """Read every system of an interval: a listing is one volume or one pool; a table has pools, and volumes in none.

    Parameters
    ----------
    rows : Rows
        The interval.

    Returns
    -------
    list of Run
        The longest queue first.

    Raises
    ------
    InputError
        The interval holds no such system, or a number is missing.
    """
    if rows.of_kind(VOLUME).any():
        found = [pool.run for pool in pool_runs(rows[rows.pooled])[0]] if rows.pooled.any() else []
        alone = [_volume(rows, int(k)) for k in np.flatnonzero(~rows.pooled & (rows.filled("io_rate") > 0))]
        runs = [run for run in (*found, *alone) if run is not None]
        if not runs:
            raise InputError("io_rate", 0.0, "a volume with I/O; there is none", "1/s")
        return sorted(runs, key=lambda run: -run.total_queue.value)
    if int(rows.is_base.sum()) == 1 and not (rows.is_base & _sharing([rows])[0]).any():
        return volume_runs(rows)[:1]
    return [pool.run for pool in pool_runs(rows)[0] if pool.run is not None][:1]


def _taken(rows: Rows, volumes: Integers, used: Integers) -> list[str]:
    """Which devices a pool question took, and which others are active."""
    inside = np.zeros(len(rows), dtype=bool)
    inside[volumes] = inside[used] = True
    found = f"Taken as the pool: {counted(len(volumes), 'base')} {shown(rows[volumes].names)}"
    if len(used):
        found += f" and {counted(len(used), 'alias', 'aliases')} {shown(rows[used].names)}"
    notes = [found + "."]
    (classic,) = _classic([rows])
    if own := rows[~inside & classic & rows.is_base].names:
        left = f"{counted(len(own), 'base')} ({shown(own)})"
        notes.append(f"With classic PAV aliases, not taken: {left}; ask `planner aliases volume`.")
    active = rows[~inside & ~classic & (rows.filled("io_rate") > 0)].names
    if active:
        notes.append(f"Active beside it, not taken: {counted(len(active), 'device')} ({shown(active)}).")
    return notes


def _named_pools(rows: Rows) -> tuple[list[PoolRun], list[str]]:
    """Pools that the rows of a listing name."""
    pools = rows.words["pool"]
    found = []
    for pool in dict.fromkeys(pool for pool in pools if pool is not None):
        members = pools == pool
        volumes, used = np.flatnonzero(members & rows.is_base), np.flatnonzero(members & rows.is_alias)
        if not volumes.size:
            continue
        count = max(len(used), int(np.nan_to_num(rows.pool_aliases[volumes]).max()))
        run = _listed_pool(rows, f"pool {pool}", volumes, used, absent=count - len(used))
        found.append(PoolRun(name=str(pool), volumes=len(volumes), aliases=count, run=run))
    if not found:
        raise _wanted(rows, f"pools with base devices of {rows.file.name}", "members")
    outside = [name for name, pool in zip(rows.names, pools, strict=True) if pool is None]
    if not outside:
        return found, []
    some = ", ".join(outside[:3]) + (", ..." if len(outside) > 3 else "")  # noqa: PLR2004
    left_out = f"{counted(len(outside), 'device')} of {rows.file.name} ({some})"
    return found, [f"In no pool, hence left out: {left_out}."]


def _listed_pool(rows: Rows, name: str, volumes: Integers, used: Integers, absent: int = 0) -> Run | None:
    """The run of a pool of a listing; `absent` aliases of it are not in the listing."""
    classic = rows[rows.of_kind(CLASSIC_ALIAS)]
    own = np.isin(classic.words["alias_of"].astype(str), rows[volumes].names)
    if own.any():
        which = ", ".join(classic[own].names)
        wanted = f"no classic PAV aliases in a HyperPAV pool ({which}); ask `planner aliases volume`"
        raise _wanted(rows, wanted)
    in_use = len(used) + absent
    if len(volumes) + in_use > ADDRESSES:
        wanted = f"at most {ADDRESSES} addresses, one logical control unit"
        way_out = "name a range of bases, or the members of each pool in a table"
        raise InputError("bases", f"{len(volumes)} bases and {in_use} aliases", f"{wanted}; {way_out}")
    busy = _working(rows, volumes)
    if not busy.size:
        return None
    members = rows[np.concatenate([busy, _by_name(rows, used)])]
    idle = len(volumes) - len(busy)
    return run_of_shared(members, name, bases=len(busy), pool=True, idle=idle, absent=absent)


def _working(rows: Rows, volumes: Integers) -> Integers:
    """Those of some volumes that did I/O."""
    return _by_name(rows, volumes[rows[volumes].required("io_rate").value > 0])


def _by_name(rows: Rows, members: Integers) -> Integers:
    """Devices in the order of their names: no sum, hence no answer, depends on the order of a file."""
    ranks = rows[members].column("rank", lambda whole: np.unique(whole.names, return_inverse=True)[1])
    return members[np.argsort(ranks, kind="stable")]


def _table_pools(
    rows: Rows, bases: Devices | None, exclude: Devices | None, unnamed: str
) -> tuple[list[PoolRun], list[str]]:
    """Pools of a table of volumes; one without pools is one pool, as a listing is."""
    whole = rows
    rows = rows[np.flatnonzero(_bases(rows, bases, exclude))]
    pools = rows.words["pool"]
    if all(pool is None for pool in pools) and not (rows.filled("alias_rate") > 0).any():
        groups = {unnamed: np.arange(len(rows))}
    else:
        for k, pool in enumerate(pools):
            if pool is None:
                wanted = "expected its pool; ask for one pool by its name, or `planner aliases volume`"
                raise rows.error(k, f"{rows.names[k]} is in no pool: {wanted}")
        groups = {str(pool): np.flatnonzero(pools == pool) for pool in dict.fromkeys(pools)}
    found = []
    for name, members in groups.items():
        aliases = _same_aliases(rows, name, members)
        room = ADDRESSES - aliases
        if len(members) > room:
            found_here = f"pool {name} has {len(members)} volumes and {aliases} aliases"
            wanted = f"expected at most {ADDRESSES} addresses, one logical control unit"
            raise rows.error(members[room], f"{found_here}: {wanted}")
        busy = _working(rows, members)
        idle = len(members) - len(busy)
        run = run_of(rows[busy], f"pool {name}", pool=True, aliases=aliases, idle=idle) if busy.size else None
        found.append(PoolRun(name=name, volumes=len(members), aliases=aliases, run=run))
    left = len(whole) - len(rows)
    return found, [f"Not taken: {counted(left, 'further volume')} of {rows.file.name}."] if left else []


def _same_aliases(rows: Rows, pool: str, members: Integers) -> int:
    """Aliases of a pool, of which all its rows say the same, or nothing."""
    members = members[~np.isnan(rows.pool_aliases[members])]
    if not members.size:
        return 0
    counts = rows.pool_aliases[members]
    other = np.flatnonzero(counts != counts[0])
    if other.size:
        before = f"{counts[0]:.0f} as in line {rows.line[members[0]]}"
        problem = f"{counts[other[0]]:.0f} aliases of pool {pool} are not {before}: expected one number"
        raise rows.error(members[other[0]], problem)
    return int(counts[0])
