"""``planner report``: one self-contained page of all that measurements answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner import files
from planner.cli import options

HELP = """One self-contained HTML page: verdicts, all pools and volumes, curves with their 90 % band, sources.

The page needs no network: styles, script, pictures and data stand in it. It can be sorted, filtered, printed, and moved
to a demand that grew. Measurements of one interval are answered as planner aliases does, of several as planner site
does; supply counters have their verdicts. Each pool is solved in full, and once more for each step of growth:
--growth 0 takes a fraction of the time. Exit code as the answers have it.

Example: planner report COUNTERS.csv -o report.html"""


@options.expanded
def report(
    sources: Annotated[
        list[Path], typer.Argument(metavar="ARCHIVE|FILE...", help="An archive, listings, counters, tables.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The page; - for standard output.")
    ],
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the page.")] = None,
    pools: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Members of pools: columns device, role, pool.")
    ] = None,
    growth: Annotated[
        str, typer.Option(metavar="LIST", help="Growth of the demand for the slider; 0 for none.")
    ] = "10%,20%,30%,50%,100%",
    no_alias: Annotated[
        str, typer.Option("--no-alias", metavar="SHARE", help="Of supply counters: tries without alias.")
    ] = "1%",
    model: options.Model = options.DEFAULT_MODEL,
    system: options.System = None,
    start: options.From = None,
    end: options.To = None,
    together: options.Together = None,
    map: options.Map = None,
    allow_missing: options.AllowMissing = False,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler, as tcp://HOST:8786.")
    ] = None,
    workers: Annotated[int | None, typer.Option(metavar="N", help="Processes on this machine.")] = None,
    force: options.Force = False,
) -> None:
    """Ask all that measurements answer and write one page."""
    from planner import units
    from planner.page import growths
    from planner.page import report as ask

    to_file = str(output) != options.STANDARD_OUTPUT
    if to_file:
        files.writable(output, force=force)
    with options.spelled(source="FILE", start="--from", end="--to", members="--pools"):
        found = ask(
            sources, command=options.said(), title=title, members=pools, system=system, start=start, end=end,
            no_alias=units.share(no_alias, "--no-alias", zero=False), growth=growths(growth), model=model,
            together=together, map=map, allow_missing=allow_missing, scheduler=scheduler,
            workers=workers, progress=options.progress,
        )  # fmt: skip
    if to_file:
        files.save(found.html, output, force=force)
    files.say(found.headline if to_file else found.html.rstrip("\n"))
    if found.exit_code:
        raise typer.Exit(found.exit_code)
