"""``planner read``: a listing as data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli import options
from planner.errors import InputError

ROWS = {"FCX108": "rows", "FCX134": "data_spaces"}  # what --json calls the rows of each report
HELP = """Read a listing, or volume counters, and print it as a table, JSON or CSV.

DEVICE (FCX108) and DSPACESH (FCX134) listings are told apart by their page heads.

Example: planner read DEVICE.listing --csv

Example: planner read monday.listing --json

Example: planner read VOLUMES.csv --volume-totals --pools POOLS.csv"""


@options.expanded
def read(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="A file of listings, or a CSV file.")],
    volume_totals: Annotated[
        bool,
        typer.Option(
            "--volume-totals", help="REPORT holds volume counters (MRIODDEV): add up base and aliases."
        ),
    ] = False,
    pools: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Members of pools: columns device, role, pool.")
    ] = None,
    deltas: Annotated[
        bool | None,
        typer.Option("--deltas/--cumulative", help="Rows count since the row before, or only rise."),
    ] = None,
    *,
    form: options.Form,
) -> None:
    """Read, check and print every row; JSON and CSV carry the printed resolution of each number."""
    if volume_totals:
        _volume_totals(report, pools, deltas, form)
        return
    for name, value in (("--pools", pools), ("--deltas", deltas)):
        if value is not None:
            raise InputError(name, str(value), "it together with --volume-totals")
    from planner import render
    from planner.reports.any_listing import listing_table, read_listings

    if report.suffix.lower() == ".csv":
        raise InputError("REPORT", str(report), "a listing; counters in CSV are read with --volume-totals")
    found = read_listings(report)
    if form.csv and len(found) > 1:
        raise InputError("--csv", " and ".join(found), "a file with listings of one report, or --json")
    tables = {name: listing_table(name, listings) for name, listings in found.items()}
    text = "\n\n".join(
        f"{listing}\n{render.to_text(listing.table())}" for listings in found.values() for listing in listings
    )
    data = {ROWS[name]: table.records() for name, table in tables.items()}
    options.emit(text, data, next(iter(tables.values())), form)


def _volume_totals(
    report: Path,
    pools: Path | None,
    deltas: bool | None,
    form: options.Form,
) -> None:
    """Volume counters to rates and times of whole volumes."""
    from planner import render
    from planner.reports.membership import read_membership
    from planner.reports.volume_counters import read_volume_totals
    from planner.reports.volume_totals import totals_table

    members = None if pools is None else read_membership(pools)
    totals = read_volume_totals(report, members, deltas=deltas)
    table = totals_table(totals.volumes)
    text = "\n".join([render.to_text(table), "", *map(render.wrap, totals.notes)]).rstrip()
    data = {"volumes": table.records(), "aliases": list(totals.aliases), "notes": list(totals.notes)}
    options.emit(text, data, table, form)
