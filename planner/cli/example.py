"""``planner example``: a seeded year of a site, for trying other commands."""

from __future__ import annotations

from typing import Annotated

import typer

from planner import files
from planner.cli import options

HELP = """Make an example: the volumes of a site hour by hour, with weeks, month ends, growth, a level shift and gaps.

The same seed gives the same file. Columns as in any table of volumes: system, start, interval_s, pool, aliases, device,
io_rate, service_ms.

Example: planner example --days 30 --pools 1 --volumes 2 -o site.csv"""


def example(
    days: Annotated[int, typer.Option(metavar="N", help="Days.")] = 365,
    systems: Annotated[int, typer.Option(metavar="N", help="Systems.")] = 1,
    pools: Annotated[int, typer.Option(metavar="N", help="Alias pools of each system.")] = 2,
    volumes: Annotated[int, typer.Option(metavar="N", help="Volumes of each pool.")] = 4,
    aliases: Annotated[int, typer.Option(metavar="N", help="Aliases of each pool.")] = 3,
    hours: Annotated[int, typer.Option(metavar="N", help="Busiest hours of each day that are kept.")] = 24,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the random noise.")] = 1,
    output: options.Output = None,
    force: options.Force = False,
) -> None:
    """Write the table as CSV."""
    from planner.site.example import example_volumes

    if output is not None:
        files.writable(output, force=force)
    made = example_volumes(
        days=days, systems=systems, pools=pools, volumes=volumes, aliases=aliases, hours=hours, seed=seed
    )
    text = made.write_csv()
    if output is None:
        files.say(text.rstrip("\n"))
        return
    files.save(text, output, force=force)
    files.say(f"{made.height} rows of {systems * pools} pools over {days} days in {output}")
