"""``planner growth``: from when on a limit no longer holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli import options
from planner.errors import InputError

if TYPE_CHECKING:
    from planner.site.growth.limits import Given

HELP = """From when on it will no longer do: trend, level shifts, and the day a limit is reached.

SERIES.csv holds the column start (begin of each interval, as 2026-03-01T10:15), one number, and may hold the column
system. What counts is the busy hour of each day. Of a SITE, an archive or files of volumes or storage with dates,
the limits follow: aliases and addresses of each pool, 90 % busy, storage.

Example: planner growth SERIES.csv --value io_rate --limit 5000

Example: planner growth SERIES.csv --limit 5000 --growth 20%/year --event 2027-03-01:+30%

Example: planner growth SITE.csv"""


@options.expanded
def growth(
    files: Annotated[list[Path], typer.Argument(metavar="ARCHIVE|FILE...", help="A site, or SERIES.csv.")],
    value: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of a series that holds the number.")
    ] = None,
    limit: Annotated[
        str | None, typer.Option(metavar="N", help="Where a series ends, in the unit of its column.")
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
    pools: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Members of pools: columns device, role, pool.")
    ] = None,
    real_storage: Annotated[
        str | None, typer.Option("--real-storage", metavar="SIZE", help="Real storage, as 256GB.")
    ] = None,
    resident_pages: Annotated[
        str | None,
        typer.Option(
            "--resident-pages", metavar="N", help="Mean resident pages in each in-use 1 MB segment."
        ),
    ] = None,
    model: options.Model = options.DEFAULT_MODEL,
    system: options.System = None,
    start: options.From = None,
    end: options.To = None,
    together: options.Together = None,
    map: options.Map = None,
    allow_missing: options.AllowMissing = False,
    *,
    form: options.PlotForm,
) -> None:
    """Answer with 90 % intervals of trend, levels ahead and date."""
    from planner.site.growth import growth as ask
    from planner.site.growth.dates import parse_event, parse_growth, parse_horizon, parse_limit
    from planner.site.series import is_series, read_series

    most = None if limit is None else parse_limit(limit)
    ahead = parse_horizon(horizon)
    rate = None if growth is None else parse_growth(growth)
    events = [parse_event(text) for text in event or []]
    options.once(((str(day), factor) for day, factor in events), "--event")
    if value is not None or (map is None and len(files) == 1 and is_series(files[0])):
        if len(files) > 1:
            raise InputError("--value", value, "one series")
        chosen = {"--system": system, "--from": start, "--to": end, "--together": together, "--map": map}
        for name, said in {"--pools": pools, "--real-storage": real_storage, **chosen}.items():
            if said is not None:
                raise InputError(name, str(said), "it with measurements of a site, not with a series")
        options.show(ask(read_series(files[0], value), most, horizon=ahead, rate=rate, events=events), form)
        return
    if most is not None:
        raise InputError(
            "--limit", limit, "it with a series; the limits of a site follow from its measurements"
        )
    from planner.measurements.read import read
    from planner.site.growth.limits import site_growth
    from planner.site.members import checked_members, gaps_of

    with (
        options.spelled(start="--from", end="--to"),
        options.progress("Fitting every load, sizing every pool", 0),
    ):
        given = _given(model, real_storage, resident_pages, together)
        measured = read(list(files), pools, system=system, start=start, end=end, map=map)
        rows = measured.devices.lazy()
        measured = replace(measured, notes=(*measured.notes, *checked_members(pools, rows)))
        lost = gaps_of(measured.missing, pools, rows, allowed=allow_missing)
        answer = site_growth(measured, given, horizon=ahead, rate=rate, events=events, gaps=lost)
    options.show(answer, form)


def _given(model: str, real_storage: str | None, resident_pages: str | None, together: str | None) -> Given:
    """What the options say of the site."""
    from planner import units
    from planner.demand import Law, Target
    from planner.site.growth.limits import Given
    from planner.sizing.question import share_together

    if (real_storage is None) != (resident_pages is None):
        raise InputError("--real-storage, --resident-pages", "one of them", "both or neither")
    return Given(
        law=Law.from_model(model),
        target=Target(),
        together=None if together is None else share_together(together),
        real_storage=None
        if real_storage is None
        else int(units.parse(real_storage, "storage", argument="--real-storage")),
        resident_pages=None
        if resident_pages is None
        else units.parse_count(resident_pages, argument="--resident-pages"),
    )
