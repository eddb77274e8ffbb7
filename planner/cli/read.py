"""``planner read``: a listing as data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner import files
from planner.cli import options
from planner.errors import InputError

ROWS = {"FCX108": "rows", "FCX134": "data_spaces"}  # what --json calls the rows of each report
HELP = """Read measurements of any format, or an archive, and print them as a table, JSON or CSV.

DEVICE (FCX108) and DSPACESH (FCX134) listings, tables of volumes, monitor data and more are told apart by their
content; docs/formats.md has them all.

Example: planner read DEVICE.listing --csv

Example: planner read monday.listing --json

Example: planner read VOLUMES.csv --volume-totals --pools POOLS.csv

Example: planner read EXPORT.csv --map io_rate=IOPS,volume=Volser"""


@options.expanded
def read(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Measurements, or the folder of an archive.")],
    volume_totals: Annotated[
        bool,
        typer.Option(
            "--volume-totals", help="FILE holds volume counters (MRIODDEV): add up base and aliases."
        ),
    ] = False,
    pools: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Members of pools: columns device, role, pool.")
    ] = None,
    deltas: Annotated[
        bool | None,
        typer.Option("--deltas/--cumulative", help="Rows count since the row before, or only rise."),
    ] = None,
    map: options.Map = None,
    *,
    form: options.PlotForm,
) -> None:
    """Read, check and print every row; JSON and CSV carry the printed resolution of each number."""
    from planner.measurements.read import is_folder, is_listing, standard_input

    content = standard_input(file)
    source = file if content is None else content
    if volume_totals and (form.plot or form.report):
        raise InputError(
            "--volume-totals", "with --plot or --report", "its CSV first (-o), then planner read of that"
        )
    if form.plot is not None and is_folder(file):
        raise InputError(
            "--plot", "the folder of an archive", "a file of measurements; planner growth draws archives"
        )
    if volume_totals:
        _volume_totals(file, pools, deltas, form)
    elif is_folder(file):
        from planner.measurements.archive import open_archive
        from planner.measurements.shown import overview

        options.show(overview(open_archive(file)), form)
    elif pools is None and map is None and is_listing(source):
        _listings(file, content, form)
    else:
        from planner.measurements.read import read as read_any
        from planner.measurements.shown import MeasuredAnswer

        options.show(MeasuredAnswer(read_any(source, pools, deltas=deltas, map=map)), form)


def _listings(report: Path, content: bytes | None, form: options.PlotForm) -> None:
    """Listings, one line a printed row; damaged rows are named below."""
    from planner import render
    from planner.reports.any_listing import listing_table, read_with_notes

    found, notes = read_with_notes(report, content)
    if form.csv and len(found) > 1:
        raise InputError("--csv", " and ".join(found), "a file with listings of one report, or --json")
    if form.plot is not None or form.report is not None:
        from planner.measurements.read import read as read_any
        from planner.measurements.shown import MeasuredAnswer

        options.beside(MeasuredAnswer(read_any(report if content is None else content)), form)
    tables = {name: listing_table(name, listings) for name, listings in found.items()}
    every = [] if form.csv or form.json else [each for listings in found.values() for each in listings]
    parts = [f"{listing}\n{render.to_text(listing.table())}" for listing in every]
    text = "\n\n".join([*parts, *(["\n".join(map(render.wrap, notes))] if notes else [])])
    data = {ROWS[name]: table.records() for name, table in tables.items()} if form.json else {}
    options.emit(text, {**data, "notes": notes} if notes else data, next(iter(tables.values())), form)
    if form.csv:
        for note in notes:
            files.complain(note)


def _volume_totals(
    report: Path,
    pools: Path | None,
    deltas: bool | None,
    form: options.Form,
) -> None:
    """Volume counters to rates and times of whole volumes."""
    from planner import render
    from planner.measurements.read import membership
    from planner.reports.volume_counters import read_volume_totals, totals_table

    members = membership(pools)
    totals = read_volume_totals(report, members, deltas=deltas)
    table = totals_table(totals.volumes)
    text = "\n".join([render.to_text(table), "", *map(render.wrap, totals.notes)]).rstrip()
    data = {"volumes": table.records(), "aliases": list(totals.aliases), "notes": list(totals.notes)}
    options.emit(text, data, table, form)
