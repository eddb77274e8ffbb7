"""``planner calibrate``: fit a model to measurements, with error bars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli import options
from planner.errors import InputError

if TYPE_CHECKING:
    from planner import library, render

TABLES = ("paging", "processors")  # kinds whose measurements are tables only

HELP = """Fit a model to measurements.

Example: planner calibrate 0-aliases.listing 8-aliases.listing --kind pool -o pool.toml"""


def calibrate(
    data: Annotated[
        list[Path], typer.Argument(metavar="DATA...", help="DEVICE listings (FCX108), or CSV files.")
    ],
    kind: Annotated[str, typer.Option(metavar="KIND", help="volume, pool, paging or processors.")],
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
    json: options.Json = False,
    csv: options.Csv = False,
    force: options.Force = False,
) -> None:
    """Fit, write the model file, print parameters and how every measurement compares."""
    from planner import files
    from planner.calibrate import KINDS, fit, known_values, read_observations, to_model
    from planner.library import write_model

    if kind in TABLES:
        files.writable(output, force=force)
        model, plain, residuals, text = _table(kind, data, title)
        write_model(model, output, force=force)
        options.emit(text, plain, residuals, json=json, csv=csv, output=None, force=force)
        return
    if kind not in KINDS:
        raise InputError("--kind", kind, f"one of {', '.join((*KINDS, *TABLES))}")
    if population is not None and population < 1:
        raise InputError("--population", population, "a count of at least 1")
    files.writable(output, force=force)
    fixed = known_values(fix or [])
    runs = read_observations(data, kind)
    with options.working("Fitting"):
        found = fit(runs, population=population, fixed=fixed)
    write_model(to_model(found, kind=kind, title=title, files=data, runs=runs), output, force=force)
    options.emit(
        found.text(), found.to_dict(), found.residual_table(), json=json, csv=csv, output=None, force=force
    )


def _table(kind: str, data: list[Path], title: str) -> tuple[library.Model, Any, render.Table, str]:
    """Fit processors or a paging device to CSV files: model, data for JSON, residuals, text."""
    from planner import library

    source = [library.Source(file=path.name, sha256=library.sha256(path)) for path in data]
    title = title or ", ".join(path.stem for path in data)
    if kind == "paging":
        from planner.calibrate.paging import fit_paging, read_paging_runs

        device = fit_paging([run for path in data for run in read_paging_runs(path)])
        model = device.to_model(title=title, source=source)
        plain = {key: each.value for key, each in model.parameters.items()}
        return model, {"parameters": plain}, device.residual_table(), device.text()
    from planner.calibrate.processors import fit_processors
    from planner.devices.processors import read_configurations

    scaling = fit_processors([each for path in data for each in read_configurations(path)])
    return (
        scaling.to_model(title=title, source=source),
        scaling.to_dict(),
        scaling.residual_table(),
        scaling.text(),
    )
