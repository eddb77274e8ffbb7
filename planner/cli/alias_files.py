"""What ``planner aliases`` reads: volumes and pools from DEVICE listings and from tables of volumes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from planner.cli import options
from planner.errors import InputError

if TYPE_CHECKING:
    from planner.measurements import Run
    from planner.reports import DeviceListing
    from planner.reports.volume_totals import TotalRow
    from planner.sizing import MeasuredPool


def listings_of(paths: Sequence[Path]) -> list[DeviceListing]:
    """Read all listings of all files.

    Parameters
    ----------
    paths : sequence of Path
        The files.

    Returns
    -------
    list of DeviceListing
        The newest last.
    """
    from planner.reports import read_devices

    found = [listing for path in paths for listing in read_devices(path)]
    if all(listing.end is not None for listing in found):
        found.sort(key=lambda listing: str(listing.end))
    return found


def rows_of(path: Path, devices: str | None, argument: str) -> tuple[TotalRow, ...]:
    """Read a table of volumes.

    Parameters
    ----------
    path : Path
        The file.
    devices : str or None
        Only those in this range of device numbers.
    argument : str
        Name of the range for an error message.

    Returns
    -------
    tuple of TotalRow
        One a volume.
    """
    from planner.measurements import address_range
    from planner.reports.volume_totals import read_totals

    rows = read_totals(path)
    if devices is None:
        return rows
    low, high = address_range(devices, argument)
    rows = tuple(row for row in rows if row.is_device and low <= int(row.volume, 16) <= high)
    if not rows:
        raise InputError(argument, devices, f"devices of {path}")
    return rows


def volume_systems(paths: Sequence[Path], device: str | None) -> list[list[Run]]:
    """Read volumes with aliases of their own.

    Parameters
    ----------
    paths : sequence of Path
        Listings and tables.
    device : str or None
        Only this base device.

    Returns
    -------
    list of list of Run
        The runs of each volume, longest queue first.
    """
    from planner.measurements import totals_runs, volume_runs

    systems: dict[str, list[Run]] = {}
    tables, reports = options.by_kind(paths)
    for listing in listings_of(reports):
        for run in volume_runs(listing, device):
            systems.setdefault(run.name, []).append(run)
    for path in tables:
        for run in totals_runs(rows_of(path, device, "device"), queue_needed=False):
            if run.pool:
                raise InputError(
                    "FILE", str(path), f"volumes in no pool; for {run.name} ask `planner aliases pool`"
                )
            systems.setdefault(run.name, []).append(run)
    return sorted(systems.values(), key=lambda runs: -runs[-1].queued)


def pools_of(
    paths: Sequence[Path], bases: str | None, alias_range: str | None, members: Path | None
) -> tuple[list[MeasuredPool], list[str]]:
    """Read pools; several measurements of one pool, told by its name, belong together.

    Parameters
    ----------
    paths : sequence of Path
        Listings and tables.
    bases, alias_range : str or None
        Devices of the pool, where a listing has others, too.
    members : Path or None
        Table of the members of all pools of the listings.

    Returns
    -------
    list of MeasuredPool
        In the order of the files.
    list of str
        What was left out.
    """
    tables, reports = options.by_kind(paths)
    if members is not None and (bases or alias_range):
        raise InputError("--pools", str(members), "it, or --bases and --aliases")
    if tables and not reports and (alias_range or members):
        name, given = ("--aliases", alias_range) if alias_range else ("--pools", str(members))
        raise InputError(name, given, "it with a listing only; a table has pools and aliases in its columns")
    found, notes = _from_listings(reports, bases, alias_range, members)
    for path in tables:
        found += _from_table(path, bases)
    pools: dict[str, MeasuredPool] = {}
    for pool in found:
        earlier = pools.get(pool.name)
        runs = pool.runs if earlier is None or not pool.runs else (*earlier.runs, *pool.runs)
        pools[pool.name] = replace(pool, runs=runs)
    return list(pools.values()), notes


def _from_listings(
    paths: Sequence[Path], bases: str | None, alias_range: str | None, members: Path | None
) -> tuple[list[MeasuredPool], list[str]]:
    from planner.measurements import member_runs, pool_run
    from planner.reports.membership import read_membership
    from planner.sizing import MeasuredPool

    found, notes = [], []
    known = read_membership(members) if members is not None and paths else None
    for listing in listings_of(paths):
        if known is None:
            run = pool_run(listing, bases, alias_range)
            found.append(_measured(run.name, run.bases, run.aliases, run))
            continue
        for name, volumes, aliases, run_or_none in member_runs(listing, known):
            found.append(_measured(name, volumes, aliases, run_or_none))
        others = [device.address for device in listing.rows if device.address not in known.members]
        if others:
            shown = ", ".join(others[:3]) + (", ..." if len(others) > 3 else "")  # noqa: PLR2004
            notes.append(
                f"In no pool, hence left out: {len(others)} devices of {listing.path.name} ({shown})."
            )
    return list[MeasuredPool](found), notes


def _from_table(path: Path, bases: str | None) -> list[MeasuredPool]:
    """Pools of a table; one without pools is one pool, as a listing is."""
    from planner.measurements import by_pool

    rows = rows_of(path, bases, "bases")
    if all(row.pool is None and row.alias_rate == 0 for row in rows):
        rows = tuple(replace(row, pool=path.stem) for row in rows)
    for row in rows:
        if row.pool is None:
            raise row.error(f"{row.volume} is in no pool: expected its pool, or ask `planner aliases volume`")
    return [
        _measured(f"pool {group[0].pool}", len(group), group[0].aliases or 0, run)
        for group, run in by_pool(rows, queue_needed=False)
    ]


def _measured(name: str, volumes: int, aliases: int, run: Run | None) -> MeasuredPool:
    from planner.sizing import MeasuredPool

    return MeasuredPool(
        name=name.removeprefix("pool "), volumes=volumes, aliases=aliases, runs=() if run is None else (run,)
    )
