"""``planner read``: a listing as data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli import options

HELP = """Read a listing and print it as a table, JSON or CSV.

Example: planner read DEVICE.listing --csv"""


def read(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="A DEVICE listing (FCX108).")],
    json: options.Json = False,
    csv: options.Csv = False,
    output: options.Output = None,
    force: options.Force = False,
) -> None:
    """Read, check and print every row; JSON and CSV carry the printed resolution of each number."""
    from planner import render
    from planner.reports import device_table, read_devices

    listings = read_devices(report)
    table = device_table(listings)
    text = "\n\n".join(f"{listing}\n{render.to_text(listing.table())}" for listing in listings)
    options.emit(text, {"rows": table.records()}, table, json=json, csv=csv, output=output, force=force)
