"""``planner site``: what every pool needs over its days."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from planner.cli import options

HELP = """What every pool needs over its days: which are short, which have aliases to give, when.

ARCHIVE is a folder of planner collect; FILEs are whatever planner aliases takes, with dates. Every pool, and every
volume with aliases of its own, has a row: the count that meets the target in the worst interval, and in 99 % and 95 %
of the busy time. --pool shows one over time. Ends with 1 where any is short, with 2 where none
has an answer.

Example: planner site SITE.csv

Example: planner site SITE.csv --pool P1 --meet 95% --plot need.png"""


@options.expanded
def site(
    files: Annotated[list[Path], typer.Argument(metavar="ARCHIVE|FILE...", help="Measurements over days.")],
    pool: Annotated[
        str | None, typer.Option("--pool", metavar="NAME", help="Only this pool, over time.")
    ] = None,
    meet: Annotated[
        str, typer.Option(metavar="SHARE", help="Share of the busy time in which the target is met.")
    ] = "99%",
    pools: Annotated[
        Path | None,
        typer.Option(
            "--pools",
            metavar="FILE.csv",
            help="Members of pools (device, role, pool), or pools that systems share (system, pool, ssid).",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="DATE", help="Track record: what was told before, against what was measured since."
        ),
    ] = None,
    wait: Annotated[str | None, typer.Option(metavar="TIME", help="Target: mean wait, as 0.1ms.")] = None,
    queued: Annotated[str | None, typer.Option(metavar="I/Os", help="Target: mean queue, as 0.05.")] = None,
    response: Annotated[
        str | None, typer.Option("--target-response", metavar="TIME", help="Target: mean response, as 2ms.")
    ] = None,
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
    *,
    form: options.PlotForm,
) -> None:
    """Answer with a row a pool, those that are short first."""
    from planner import units
    from planner.demand import Target
    from planner.site.question import site as ask
    from planner.site.track import track_record

    target = Target(
        wait=None if wait is None else units.parse(wait, "time", argument="--wait"),
        queued=None if queued is None else units.parse_count(queued, argument="--queued"),
        response=None if response is None else units.parse(response, "time", argument="--target-response"),
    )
    with (
        options.spelled(
            source="FILE",
            start="--from",
            end="--to",
            members="--pools",
            meet="--meet",
            since="--since",
            scheduler="--scheduler",
            workers="--workers",
        ),
        options.progress("Answering every pool over its days", 0),
    ):
        asked: dict[str, Any] = {
            "members": pools, "system": system, "start": start, "end": end, "pool": pool, "target": target,
            "together": together, "model": model, "map": map, "scheduler": scheduler, "workers": workers,
        }  # fmt: skip
        if since is not None:
            options.show(track_record(list(files), since, **asked), form)
            return
        answer = ask(list(files), meet=meet, allow_missing=allow_missing, **asked)
    options.show(answer, form)
