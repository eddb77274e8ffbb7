"""``planner calibrate``: fit a model to measurements, with error bars."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli import options

HELP = """Fit a model to measurements.

Example: planner calibrate 0-aliases.listing 8-aliases.listing --kind pool -o pool.toml"""


def calibrate(
    data: Annotated[
        list[Path],
        typer.Argument(metavar="DATA...", help="DEVICE listings (FCX108), CSV files, or an archive."),
    ],
    kind: Annotated[
        str,
        typer.Option(metavar="KIND", help="volume, pool, paging, disk, channel-program or processors."),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="MODEL.toml", help="Model file to write.")
    ],
    population: Annotated[
        int | None, typer.Option(metavar="N", help="Requesters of one volume; estimated if left out.")
    ] = None,
    fix: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="A parameter that is known.")
    ] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="What was measured.")] = "",
    device: Annotated[
        str | None, typer.Option(metavar="DEVICES", help="Only these bases: a number, label, list or range.")
    ] = None,
    pool: Annotated[str | None, typer.Option(metavar="NAME", help="Only this pool.")] = None,
    interval: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH",
            help="worst, mean or a time; of an archive, the worst at each count of aliases where nothing is said.",
        ),
    ] = None,
    system: options.System = None,
    start: options.From = None,
    end: options.To = None,
    json: options.Json = False,
    csv: options.Csv = False,
    force: options.Force = False,
    plot: options.Plot = None,
) -> None:
    """Fit, write the model file, print parameters and how every measurement compares."""
    from planner import calibrate, files
    from planner.library import write_model

    chosen = calibrate.Chosen(
        system=system, start=start, end=end, interval=interval, device=device, pool=pool
    )
    task = calibrate.Task(files=data, title=title, population=population, fix=fix or (), chosen=chosen)
    form = options.PlotForm(json=json, csv=csv, force=force, plot=plot)
    files.writable(output, force=force)
    with options.working("Fitting"), options.spelled(start="--from", end="--to"):
        found, model = calibrate.calibrate(kind, task)
    options.draw(found.plot, form)
    write_model(model, output, force=force)
    options.emit(found.text(options.width()), found.to_dict(), found.residual_table(), form)
