"""``planner growth``: from when on a limit no longer holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli import options

HELP = """From when on it will no longer do: trend, level shifts, and the day a limit is reached.

SERIES.csv holds the column start (begin of each interval, as 2026-03-01T10:15), one number, and may hold the column
system. What counts is the busy hour of each day.

Example: planner growth SERIES.csv --value io_rate --limit 5000

Example: planner growth SERIES.csv --value io_rate --limit 5000 --growth 20%/year --event 2027-03-01:+30%"""


@options.expanded
def growth(
    series: Annotated[Path, typer.Argument(metavar="SERIES.csv", help="A measured series.")],
    value: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column that holds the number.")] = None,
    limit: Annotated[
        str | None, typer.Option(metavar="N", help="Where it ends, in the unit of the column.")
    ] = None,
    horizon: Annotated[
        str, typer.Option(metavar="TIME", help="How far ahead to look, as 18months or 400days.")
    ] = "5years",
    growth: Annotated[
        str | None,
        typer.Option("--growth", metavar="N%/year", help="Growth in place of the fitted one; compounds."),
    ] = None,
    event: Annotated[
        list[str] | None,
        typer.Option(metavar="DATE:+N%", help="A change of the load from a day on; may be repeated."),
    ] = None,
    *,
    form: options.PlotForm,
) -> None:
    """Answer with 90 % intervals of trend, levels ahead and date."""
    from planner.site.growth import growth as ask
    from planner.site.growth_given import parse_event, parse_growth, parse_horizon, parse_limit
    from planner.site.series import read_series

    end = None if limit is None else parse_limit(limit)
    ahead = parse_horizon(horizon)
    rate = None if growth is None else parse_growth(growth)
    events = [parse_event(text) for text in event or []]
    options.once(((str(day), factor) for day, factor in events), "--event")
    daily = read_series(series, value)
    options.show(ask(daily, end, horizon=ahead, rate=rate, events=events), form)
