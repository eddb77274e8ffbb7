"""``planner collect``: measurements of any format into an archive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli import options

HELP = """Collect measurements of any format in an archive, a folder of Parquet files.

What is there already adds nothing; what contradicts it is refused, and the archive stays as it was.

Example: planner collect DEVICE.listing -o archive

Example: planner collect DEVICE.listing -o shared --anonymize"""


@options.expanded
def collect(
    sources: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Listings, counters, tables.")],
    archive: Annotated[
        Path, typer.Option("--output", "-o", metavar="ARCHIVE", help="Folder of the archive.")
    ],
    system: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the system, where a file does not say it.")
    ] = None,
    pools: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Members of pools: columns device, role, pool.")
    ] = None,
    anonymize: Annotated[
        bool,
        typer.Option(
            "--anonymize", help="Replace names of systems, volumes, owners; shift dates; key beside ARCHIVE."
        ),
    ] = False,
    map: options.Map = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Read each file, check it against the archive, add what is new, all of it or nothing."""
    from planner.measurements.anonymize import names_of
    from planner.measurements.collect import collect as add
    from planner.measurements.collect import size_of

    form = options.Form(json=json, csv=csv)
    names = names_of(archive) if anonymize else None
    with options.progress("Collecting", sum(size_of(source) for source in sources), of_bytes=True) as done:
        answer = add(sources, archive, members=pools, system=system, names=names, map=map, done=done)
    options.show(answer, form)
