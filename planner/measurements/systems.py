"""From rows of the one table to systems: which rows are a volume's, which are a pool's, what they add up to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import InputError, ReportError
from planner.interval import Interval
from planner.measurements.rows import Devices, Index, Rows, shown
from planner.measurements.run import (
    ADDRESSES_PER_CONTROL_UNIT,
    Run,
    check_response,
    queue_of,
    stacked,
)
from planner.reports.schema import CLASSIC_ALIAS, VOLUME
from planner.results import Array
from planner.units import MILLISECOND

LEAST_ERROR: Final = 0.01  # relative; no measured system keeps to a law better than this
NO_QUEUE: Final = (
    "The queue was not measured: arrivals are taken as open, at the measured rates; requesters that wait for their "
    "own I/Os would queue less."
)
EQUAL: Final = "Volumes are taken as equal: a listing does not say for which volume an alias worked."
OWN_RESPONSE: Final = (
    "With aliases in use, response is service + queue / I/O rate of the volume; the Resp that the listing prints "
    "divides by the rate of the base alone."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRun:
    """A pool with its devices, and what was measured of it.

    Attributes
    ----------
    name : str
        The pool.
    volumes, aliases : int
        Its devices, those without I/O too.
    run : Run or None
        None without I/O.
    """

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
        The volumes asked for, and those left out; all that did I/O where None.

    Returns
    -------
    list of Run
        One a volume, the longest queue first.

    Raises
    ------
    InputError
        No such base, an alias was named, HyperPAV aliases are at work, a pool was measured, or a number is missing.
    """
    bases = np.flatnonzero(_bases(rows, only, exclude))
    rates = rows.numbers["io_rate"].value
    if only is None:
        bases = bases[np.nan_to_num(rates[bases]) > 0]
        if not bases.size:
            raise InputError("listing", str(rows.file), "an ECKD base device with I/O; there is none")
    if rows.is_alias.any():
        raise InputError(
            "listing", str(rows.file),
            "no HyperPAV aliases: they work for every base of the pool, so ask `planner aliases pool`",
        )  # fmt: skip
    found = [_volume(rows, int(base)) for base in bases]
    return sorted(found, key=lambda run: -float(run.queued.value[0]))


def _bases(rows: Rows, only: Devices | None, exclude: Devices | None) -> NDArray[np.bool_]:
    """Rows that are volumes and asked for; whoever asks for something else is told."""
    chosen = rows.is_base
    if only is not None:
        named = only.chosen(rows)
        if not (named & chosen).any():
            known = shown([name for name, base in zip(rows.names, chosen, strict=True) if base])
            if named.any():
                k = int(np.flatnonzero(named)[0])
                base = rows.words["alias_of"][k]
                what = f"an alias of {base}" if base else "a HyperPAV alias or no ECKD disk"
                raise InputError(only.argument, only.text, f"a base device ({known}); this one is {what}")
            raise InputError(
                only.argument, only.text,
                f"device numbers in hexadecimal or labels, of the bases in {rows.file.name}: {known}",
            )  # fmt: skip
        chosen = chosen & named
    if exclude is not None:
        chosen = chosen & ~exclude.chosen(rows)
        if not chosen.any():
            raise InputError(exclude.argument, exclude.text, f"less than all the bases in {rows.file.name}")
    return chosen


def _volume(rows: Rows, base: int) -> Run:
    """One base with its own aliases."""
    name = rows.names[base]
    if rows.words["kind"][base] == VOLUME:
        if rows.words["pool"][base] is not None:
            raise InputError(
                "FILE", str(rows.file),
                f"volumes in no pool; for pool {rows.words['pool'][base]} ask `planner aliases pool`",
            )  # fmt: skip
        return _run(rows[[base]], name, pool=False, aliases=_aliases_of(rows, base))
    own = np.flatnonzero(rows.of_kind(CLASSIC_ALIAS) & (rows.words["alias_of"].astype(str) == name))
    members = rows[np.concatenate([[base], own]).astype(np.int64)]
    return _joined(members, name, bases=1, pool=False)


def _aliases_of(rows: Rows, row: int) -> int:
    count = rows.pool_aliases[row]
    return 0 if np.isnan(count) else int(count)


def pool_runs(
    rows: Rows,
    bases: Devices | None = None,
    aliases: Devices | None = None,
    exclude: Devices | None = None,
) -> tuple[list[PoolRun], list[str]]:
    """Read the pools of an interval, as its rows name them; without names all its ECKD devices are one.

    Parameters
    ----------
    rows : Rows
        The interval.
    bases, aliases, exclude : Devices, optional
        The devices of the pool, and those left out.

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
    pools = rows.words["pool"]
    if rows.of_kind(VOLUME).any():
        return _table_pools(rows, bases, exclude)
    if bases is None and aliases is None and exclude is None and any(pool is not None for pool in pools):
        return _named_pools(rows)
    volumes = np.flatnonzero(_bases(rows, bases, exclude))
    working = rows.is_alias
    if aliases is not None:
        working = working & aliases.chosen(rows)
        if not working.any():
            raise InputError(
                aliases.argument, aliases.text, f"a range that holds some of the aliases in {rows.file.name}"
            )
    if exclude is not None:
        working = working & ~exclude.chosen(rows)
    if not volumes.size:
        raise InputError("listing", str(rows.file), "an ECKD base device; there is none")
    used = np.flatnonzero(working)
    numbers = sorted(rows.names[k] for k in volumes)
    name = f"{numbers[0]}-{numbers[-1]}"
    run = _listed_pool(rows, f"pool {name}", volumes, used)
    if run is None:
        raise InputError("listing", str(rows.file), "a base device with I/O; there is none")
    return [PoolRun(name=name, volumes=len(volumes), aliases=len(used), run=run)], _taken(rows, volumes, used)


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
        pooled = np.array([pool is not None for pool in rows.words["pool"]])
        found = [pool.run for pool in pool_runs(rows[pooled])[0]] if pooled.any() else []
        alone = [_volume(rows, int(k)) for k in np.flatnonzero(~pooled & (rows.numbers["io_rate"].value > 0))]
        runs = [run for run in (*found, *alone) if run is not None]
        if not runs:
            raise InputError("io_rate", 0.0, "a volume with I/O; there is none", "1/s")
        return sorted(runs, key=lambda run: -run.total_queue.value)
    if int(rows.is_base.sum()) == 1 and not rows.is_alias.any():
        return volume_runs(rows)[:1]
    return [pool.run for pool in pool_runs(rows)[0] if pool.run is not None][:1]


def _taken(rows: Rows, volumes: Index, used: Index) -> list[str]:
    """Which devices a pool question took, and which others are active."""
    inside = np.zeros(len(rows), dtype=bool)
    inside[volumes] = inside[used] = True
    active = ~inside & (np.nan_to_num(rows.numbers["io_rate"].value) > 0)
    names = rows.names
    found = f"Taken as the pool: {_counted(len(volumes), 'base')} {shown([names[k] for k in volumes])}"
    if len(used):
        found += f" and {_counted(len(used), 'alias')} {shown([names[k] for k in used])}"
    notes = [found + "."]
    if active.any():
        others = shown([names[k] for k in np.flatnonzero(active)])
        notes.append(f"Active beside it, not taken: {_counted(int(active.sum()), 'device')} ({others}).")
    return notes


def _counted(number: int, noun: str) -> str:
    plural = "aliases" if noun == "alias" else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def _named_pools(rows: Rows) -> tuple[list[PoolRun], list[str]]:
    """Pools that the rows of a listing name."""
    pools = rows.words["pool"]
    found = []
    for pool in dict.fromkeys(pool for pool in pools if pool is not None):
        members = pools == pool
        volumes, used = np.flatnonzero(members & rows.is_base), np.flatnonzero(members & rows.is_alias)
        if not volumes.size:
            continue
        stated = np.nan_to_num(rows.pool_aliases[volumes]).max()
        count = max(len(used), int(stated))
        run = _listed_pool(rows, f"pool {pool}", volumes, used, absent=count - len(used))
        found.append(PoolRun(name=str(pool), volumes=len(volumes), aliases=count, run=run))
    if not found:
        raise InputError("members", str(rows.file), f"pools with base devices of {rows.file.name}")
    outside = [name for name, pool in zip(rows.names, pools, strict=True) if pool is None]
    notes = []
    if outside:
        some = ", ".join(outside[:3]) + (", ..." if len(outside) > 3 else "")  # noqa: PLR2004
        notes.append(
            f"In no pool, hence left out: {_counted(len(outside), 'device')} of {rows.file.name} ({some})."
        )
    return found, notes


def _listed_pool(rows: Rows, name: str, volumes: Index, used: Index, absent: int = 0) -> Run | None:
    """The run of a pool of a listing; `absent` aliases of it are not in the listing."""
    names = [rows.names[k] for k in volumes]
    classic = rows.of_kind(CLASSIC_ALIAS) & np.isin(rows.words["alias_of"].astype(str), names)
    if classic.any():
        which = ", ".join(rows.names[k] for k in np.flatnonzero(classic))
        raise InputError(
            "listing", str(rows.file), f"no classic PAV aliases in a HyperPAV pool ({which}); "
            "ask `planner aliases volume`",
        )  # fmt: skip
    in_use = len(used) + absent
    if len(volumes) + in_use > ADDRESSES_PER_CONTROL_UNIT:
        raise InputError(
            "bases", f"{len(volumes)} bases and {in_use} aliases",
            f"at most {ADDRESSES_PER_CONTROL_UNIT} addresses, one logical control unit; name a range of bases, or the "
            "members of each pool in a table",
        )  # fmt: skip
    rate = rows[volumes].required("io_rate").value
    busy = rows.ordered(volumes[rate > 0])
    if not busy.size:
        return None
    members = rows[np.concatenate([busy, rows.ordered(used)])]
    idle = len(volumes) - len(busy)
    if in_use:
        return _joined(members, name, bases=len(busy), pool=True, idle=idle, absent=absent)
    return _run(members, name, pool=True, aliases=0, idle=idle)


def _table_pools(
    rows: Rows, bases: Devices | None, exclude: Devices | None
) -> tuple[list[PoolRun], list[str]]:
    """Pools of a table of volumes; one without pools is one pool, as a listing is."""
    whole = rows
    rows = rows[np.flatnonzero(_bases(rows, bases, exclude))]
    pools = rows.words["pool"]
    if (
        all(pool is None for pool in pools)
        and not (np.nan_to_num(rows.numbers["alias_rate"].value) > 0).any()
    ):
        groups = {rows.file.stem: np.arange(len(rows))}
    else:
        for k, pool in enumerate(pools):
            if pool is None:
                raise ReportError(
                    rows.file, f"{rows.names[k]} is in no pool: expected its pool, or ask `planner aliases volume`",
                    line=int(rows.line[k]),
                )  # fmt: skip
        groups = {str(pool): np.flatnonzero(pools == pool) for pool in dict.fromkeys(pools)}
    found = []
    for name, members in groups.items():
        aliases = _same_aliases(rows, name, members)
        room = ADDRESSES_PER_CONTROL_UNIT - aliases
        if len(members) > room:
            raise ReportError(
                rows.file, f"pool {name} has {len(members)} volumes and {aliases} aliases: expected at most "
                f"{ADDRESSES_PER_CONTROL_UNIT} addresses, one logical control unit", line=int(rows.line[members[room]]),
            )  # fmt: skip
        rate = rows[members].required("io_rate").value
        busy = rows.ordered(members[rate > 0])
        run = (
            _run(rows[busy], f"pool {name}", pool=True, aliases=aliases, idle=len(members) - len(busy))
            if busy.size
            else None
        )
        found.append(PoolRun(name=name, volumes=len(members), aliases=aliases, run=run))
    left = len(whole) - len(rows)
    return found, [f"Not taken: {_counted(left, 'further volume')} of {rows.file.name}."] if left else []


def _same_aliases(rows: Rows, pool: str, members: Index) -> int:
    """Aliases of a pool, of which all its rows say the same."""
    counts = np.nan_to_num(rows.pool_aliases[members])
    other = np.flatnonzero(counts != counts[0])
    if other.size:
        k, first = int(members[other[0]]), int(members[0])
        raise ReportError(
            rows.file, f"{counts[other[0]]:.0f} aliases of pool {pool} are not {counts[0]:.0f} as in line "
            f"{rows.line[first]}: expected one number", line=int(rows.line[k]),
        )  # fmt: skip
    return int(counts[0])


def _run(rows: Rows, name: str, *, pool: bool, aliases: int, idle: int = 0) -> Run:
    """Volumes whose rows hold all that was done for them."""
    rate, service = _rate(rows), _service(rows)
    queues, missing = [], []
    table = rows.of_kind(VOLUME)
    error = _error(rows) if table.any() else np.zeros(len(rows))
    for k in range(len(rows)):
        queued, response = (_known(rows.numbers[key][k]) for key in ("queued", "response"))
        if aliases and not table[k]:
            response = None  # it divides by the rate of the base alone
        check_response(queued, rate[k], service[k], response, of=f" of {rows.names[k]}")
        queue = queue_of(queued, rate[k], service[k], response)
        if queued is None and response is None:
            missing.append(k)
        queues.append(queue)
    if missing and len(missing) < len(rows):
        raise ReportError(
            rows.file, f"{rows.names[missing[0]]}: expected queued or response_ms, the mean queue of each volume",
            line=int(rows.line[missing[0]]),
        )  # fmt: skip
    queue = stacked(queues)
    shown_queue = rows.numbers["queued"].value
    share, wait = _behind(rows)
    return Run(
        name=name, pool=pool, aliases=aliases, volumes=tuple(rows.names),
        io_rate=_widened(rate, error), service=_widened(service, error), queued=_widened(queue, error),
        queue_shown=np.asarray(np.where(np.isnan(shown_queue), queue.value, shown_queue), dtype=np.float64),
        idle=idle, path_share=share, cu_wait=wait,
        source=rows.source, end=rows.end, notes=_notes(idle, unknown=bool(missing), mean=False, in_use=False),
    )  # fmt: skip


def _joined(rows: Rows, name: str, *, bases: int, pool: bool, idle: int = 0, absent: int = 0) -> Run:
    """Bases, the first rows, with the aliases that worked for them: the mean of all, since aliases are shared."""
    rate, service = _rate(rows), _service(rows)
    total = rate.sum()
    if total.value <= 0:
        raise InputError(
            f"io_rate of {rows.names[0]}", 0.0, "a rate above zero: the device did no I/O", "1/s"
        )
    aliases = len(rows) - bases + absent
    if aliases == 0:
        return _run(rows, name, pool=pool, aliases=0, idle=idle)
    first = rows[np.arange(bases)]
    queue = first.required("queued")
    worked = rate.value > 0
    mean = (service[worked] * (rate.value[worked] / total.value)).sum()
    share, wait = _behind(rows)

    def each(interval: Interval, parts: float) -> Interval:
        return Interval(*(np.full(bases, float(end) / parts) for end in interval))

    known = ~np.isnan(first.numbers["response"].value)
    return Run(
        name=name, pool=pool, aliases=aliases, volumes=tuple(first.names), io_rate=each(total, bases),
        service=each(mean, 1.0), queued=each(queue.sum(), bases), queue_shown=np.full(bases, queue.sum().value / bases),
        own=bases == 1, idle=idle, path_share=share, cu_wait=wait, source=rows.source, end=rows.end,
        notes=_notes(idle, unknown=False, mean=bases > 1, in_use=bool(known.any())),
    )  # fmt: skip


def _notes(idle: int, *, unknown: bool, mean: bool, in_use: bool) -> tuple[str, ...]:
    notes = []
    if idle:
        notes.append(f"{_counted(idle, 'base')} without I/O {'need' if idle > 1 else 'needs'} no alias.")
    if unknown:
        notes.append(NO_QUEUE)
    if mean:
        notes.append(EQUAL)
    if in_use:
        notes.append(OWN_RESPONSE)
    return tuple(notes)


def _rate(rows: Rows) -> Interval:
    rate = rows.required("io_rate")
    if len(rows) == 1 and rate.value[0] <= 0:
        raise InputError(
            f"io_rate of {rows.names[0]}", 0.0, "a rate above zero: the device did no I/O", "1/s"
        )
    return rate


def _service(rows: Rows) -> Interval:
    """Mean service time. Listings add it up from three rounded parts, so that their roundings add up."""
    found = rows.required("service")
    half = found.high - found.value
    listed = ~rows.of_kind(VOLUME)
    parts = sum(
        (np.nan_to_num(rows.numbers[name].high - rows.numbers[name].value)
         for name in ("pend", "disconnect", "connect")),
        np.zeros(len(rows)),
    )  # fmt: skip
    half = np.where(listed, np.maximum(half, parts), half)
    none = np.flatnonzero((found.value <= 0) & (rows.numbers["io_rate"].value > 0))
    if none.size and listed.all():
        k = int(none[0])
        raise InputError(
            f"service of device {rows.names[k]}", found.value[k] / MILLISECOND,
            f"a time above zero for a device with I/O; line {rows.line[k]} of {rows.file} has none", "ms",
        )  # fmt: skip
    return Interval(np.maximum(found.value - half, 0.0), found.value, found.value + half)


def _known(interval: Interval) -> Interval | None:
    return None if np.isnan(interval.value) else interval


def _error(rows: Rows) -> Array:
    """Least relative error of each row: chance in what was counted, and what no system keeps to a law better than."""
    counted = rows.numbers["io_rate"].value * np.nan_to_num(rows.seconds)
    chance = np.where(counted > 0, 1.0 / np.sqrt(np.maximum(counted, 1.0)), 0.0)
    found: Array = np.maximum(LEAST_ERROR, chance)
    return found


def _widened(interval: Interval, error: Array) -> Interval:
    """At least so much to either side."""
    low, value, high = interval
    return Interval(
        np.maximum(np.minimum(low, value * (1 - error)), 0.0), value, np.maximum(high, value * (1 + error))
    )


def _behind(rows: Rows) -> tuple[float | None, float | None]:
    """Share of pend or disconnect, the larger, in service, and control unit wait [s], weighted by rate."""
    rate = np.nan_to_num(rows.numbers["io_rate"].value)
    service = float(rate @ np.nan_to_num(rows.numbers["service"].value))
    parts = [rows.numbers[name].value for name in ("pend", "disconnect")]
    if all(np.isnan(part).all() for part in parts) or service <= 0:
        return None, None
    before = max(float(rate @ np.nan_to_num(part)) for part in parts)
    wait = rows.numbers["cu_wait"].value
    mean = None if np.isnan(wait).all() else float(rate @ np.nan_to_num(wait)) / float(rate.sum())
    return before / service, mean
