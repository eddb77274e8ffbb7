"""``planner calibrate``: fit the law of volumes and pools to measured runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli import options
from planner.errors import InputError

HELP = """Fit a model to measurements.

Example: planner calibrate 0-aliases.listing 8-aliases.listing --kind pool --population 3 -o pool.toml"""


def calibrate(
    data: Annotated[
        list[Path],
        typer.Argument(metavar="DATA...", help="DEVICE listings (FCX108), or volume totals (CSV)."),
    ],
    kind: Annotated[str, typer.Option(metavar="KIND", help="volume or pool.")],
    population: Annotated[int, typer.Option(metavar="N", help="Requesters of one volume.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="MODEL.toml", help="Model file to write.")
    ],
    title: Annotated[str, typer.Option(metavar="TEXT", help="What was measured.")] = "",
    force: options.Force = False,
) -> None:
    """Fit, write the model file, print how every measurement compares."""
    from planner import render
    from planner.calibrate import fit, to_model
    from planner.library import write_model
    from planner.measurements import listing_run, totals_runs
    from planner.reports import read_devices
    from planner.reports.volume_totals import read_totals

    if kind not in ("volume", "pool"):
        raise InputError("--kind", kind, "volume or pool")
    if population < 1:
        raise InputError("--population", population, "a count of at least 1")
    render.writable(output, force=force)
    tables, listings = options.by_kind(data)
    runs = [listing_run(listing) for path in listings for listing in read_devices(path)]
    runs += [run for path in tables for run in totals_runs(read_totals(path))]
    with options.working("Fitting"):
        found = fit(runs, population=population)
    write_model(to_model(found, kind=kind, title=title, files=data, runs=runs), output, force=force)
    typer.echo(found.text())
