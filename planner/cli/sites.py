"""``planner site``, ``growth`` and ``report``: pools over days, dates of limits, one page with every answer."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from planner import files, units
from planner.cli import options, printing
from planner.cli.options import argument, option
from planner.errors import InputError


@options.expanded
def site(
    files: Annotated[list[Path], argument("ARCHIVE|FILE...", "Measurements over days.")],
    pool: Annotated[str | None, option("NAME", "Only this pool, over time.", "--pool")] = None,
    meet: Annotated[
        str | None, option("SHARE", "Share of the busy time to meet the target.", show_default="99%")
    ] = None,
    pools: Annotated[
        Path | None,
        option(
            "FILE.csv",
            "Members of pools (device, role, pool), or pools that systems share (system, pool, ssid).",
            "--pools",
        ),
    ] = None,
    since: Annotated[
        str | None, option("DATE", "Compare the prediction from before this day with measurements since.")
    ] = None,
    wait: options.Wait = None,
    queued: options.Queued = None,
    response: options.Response = None,
    model: options.Model = options.DEFAULT_MODEL,
    *,
    rows: options.ChosenRows,
    scheduler: options.Scheduler = None,
    workers: options.Workers = None,
    form: options.Form,
) -> None:
    """Find what every pool needs over its days: which are short, which have spare aliases, and when.

    ARCHIVE is a folder of planner collect; FILEs are those of planner aliases, with dates. Every pool, and every volume
    with its own aliases, has a row: the count that meets the target in the worst interval, and in 99 % and 95 % of the
    busy time. --pool shows one over time. The exit code is 1 if any is short or no count is enough (planner aliases:
    only the latter), and 2 if one has no answer.

    Example: planner site SITE.csv

    Example: planner site SITE.csv --pool P1 --meet 95% --plot need.png
    """
    from planner.demand import Target
    from planner.site.parts import DEFAULT_MEET
    from planner.site.question import site as ask
    from planner.site.track import track_record

    target = Target(wait=wait, queued=queued, response=response)
    with printing.progress("Answering every pool over its days"):
        asked: dict[str, Any] = {
            "members": pools, "pool": pool, "target": target, "model": model, "scheduler": scheduler,
            "workers": workers, **asdict(rows),
        }  # fmt: skip
        allow_missing = asked.pop("allow_missing")
        if since is not None:
            unasked = {"--since": since, "--meet": meet, "--allow-missing": allow_missing or None}
            options.exclusive(unasked, "intervals before and since are compared one by one")
            printing.show(track_record(list(files), since, **asked), form)
            return
        answer = ask(
            list(files), meet=DEFAULT_MEET if meet is None else meet, allow_missing=allow_missing, **asked
        )
    printing.show(answer, form)


@options.expanded
def growth(
    files: Annotated[list[Path], argument("ARCHIVE|FILE...", "A site, or SERIES.csv.")],
    value: Annotated[str | None, option("COLUMN", "Column of a series that holds the number.")] = None,
    limit: Annotated[str | None, option("N", "Limit of the series, in the unit of its column.")] = None,
    horizon: Annotated[str, option("TIME", "How far ahead to look, as 18months or 400days.")] = "5years",
    growth: Annotated[
        str | None, option("N%/year", "Yearly growth, compounded, in place of the fitted trend.", "--growth")
    ] = None,
    event: Annotated[
        list[str] | None, option("DATE:+N%", "A change of the load from DATE on; may be repeated.")
    ] = None,
    pools: options.Pools = None,
    real_storage: options.RealStorage = None,
    resident_pages: options.ResidentPages = None,
    model: options.Model = options.DEFAULT_MODEL,
    workers: options.Workers = None,
    *,
    rows: options.ChosenRows,
    form: options.Form,
) -> None:
    """Find the day on which a limit is reached, from trend, level shifts and weekly pattern.

    SERIES.csv has a column start (start of each interval, as 2026-03-01T10:15), one number, and optionally a column
    system. The busy hour of each day counts. For a SITE (an archive, or files of volumes or storage with dates) the
    limits are known: aliases and addresses of each pool, 90 % busy, storage.

    Example: planner growth SERIES.csv --value io_rate --limit 5000

    Example: planner growth SERIES.csv --limit 5000 --growth 20%/year --event 2027-03-01:+30%

    Example: planner growth SITE.csv
    """
    from planner.measurements.read import opened, read
    from planner.site.growth import growth as ask
    from planner.site.series import is_series, read_series

    most = None if limit is None else parse_limit(limit)
    ahead = parse_horizon(horizon)
    rate = None if growth is None else parse_growth(growth)
    events = [parse_event(text) for text in event or []]
    options.once(((str(day), factor) for day, factor in events), "--event")
    sources = [opened(file) for file in files]
    if value is not None or (rows.map is None and len(files) == 1 and is_series(sources[0])):
        if len(files) > 1:
            raise InputError("--value", value, "one series")
        unasked = (
            "pools", "real_storage", "resident_pages", "system", "start", "end", "together", "map", "allow_missing",
            "workers", *(["model"] if model != options.DEFAULT_MODEL else ()),
        )  # fmt: skip
        for name in unasked:
            said = options.as_typed(name)
            if said is not None and said is not False:
                raise InputError(
                    options.spelled(name), str(said), "it with measurements of a site, not with a series"
                )
        printing.show(
            ask(read_series(sources[0], value), most, horizon=ahead, rate=rate, events=events), form
        )
        return
    if most is not None:
        raise InputError(
            "--limit", limit, "it with a series; the limits of a site follow from its measurements"
        )
    if (real_storage is None) != (resident_pages is None):
        raise InputError("--real-storage, --resident-pages", "one of them", "both or neither")
    from planner.demand import DeviceModel, Target
    from planner.reports.membership import share_together
    from planner.site.growth.limits import GrowthQuestion, site_growth
    from planner.site.parts import checked_members, gaps_of

    with printing.progress("Fitting every load, sizing every pool"):
        given = GrowthQuestion(
            device_model=DeviceModel.from_model(model), target=Target(), together=share_together(rows.together),
            real_storage=None if real_storage is None else int(real_storage), resident_pages=resident_pages,
        )  # fmt: skip
        measured = read(sources, pools, system=rows.system, start=rows.start, end=rows.end, map=rows.map)
        devices = measured.devices.lazy()
        measured = replace(measured, notes=(*measured.notes, *checked_members(pools, devices)))
        lost = gaps_of(measured.missing, pools, devices, allowed=rows.allow_missing)
        answer = site_growth(
            measured, given, horizon=ahead, rate=rate, events=events, gaps=lost, workers=workers
        )
    printing.show(answer, form)


@options.expanded
def report(
    sources: Annotated[list[Path], argument("ARCHIVE|FILE...", "An archive, listings, counters, tables.")],
    output: Annotated[Path, option("FILE", "The page; - for standard output.", "--output", "-o")],
    title: Annotated[str | None, option("TEXT", "Title of the page.")] = None,
    pools: options.Pools = None,
    growth: Annotated[
        str, option("LIST", "Growth steps of the demand for the slider; 0 for none.")
    ] = "10%,20%,30%,50%,100%",
    no_alias: Annotated[
        str, option("SHARE", "Target of supply counters: share of tries without alias.", "--no-alias")
    ] = "1%",
    model: options.Model = options.DEFAULT_MODEL,
    *,
    rows: options.ChosenRows,
    scheduler: options.Scheduler = None,
    workers: options.Workers = None,
    force: options.Force = False,
) -> None:
    """Write one self-contained HTML page: verdicts, pools and volumes, curves with their 90 % band, sources.

    The page needs no network: it contains styles, script, pictures and data. It can be sorted, filtered and printed; a
    slider shows growth. Measurements of one interval are answered as by planner aliases, of several as by planner
    site; supply counters give verdicts. Each pool is solved in detail, and again for each growth step: --growth 0 takes
    a fraction of the time. The exit code is the largest of the answers.

    Example: planner report COUNTERS.csv -o report.html
    """
    from planner import render, units
    from planner.measurements.formats import is_read_once
    from planner.page import growths
    from planner.page import report as ask

    options.Form(output=output, force=force)  # refuse a file that cannot be written
    if once := [str(path) for path in sources if is_read_once(path)]:
        raise InputError("FILE", once[0], "a file or an archive: a page reads its sources more than once")
    found = ask(
        sources, command=printing.said(), title=title, members=pools, **asdict(rows),
        no_alias=units.share(no_alias, "--no-alias", zero=False), growth=growths(growth), model=model,
        scheduler=scheduler, workers=workers, progress=printing.progress,
    )  # fmt: skip
    printing.put(found.html, output, force=force)
    if options.is_file(output):
        files.say(render.wrap(found.headline))
    if found.exit_code:
        raise typer.Exit(found.exit_code)


_RATE: Final = re.compile(r"\s*(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+))\s*%\s*/\s*year\s*", re.ASCII)
_EVENT: Final = re.compile(r"\s*(?P<day>\S+?)\s*:\s*(?P<number>[+-](?:\d+(?:\.\d*)?|\.\d+))\s*%\s*", re.ASCII)
_SPAN: Final = re.compile(r"\s*(?P<number>\d+(?:\.\d*)?|\.\d+)\s*(?P<unit>[a-z]+?)s?\s*", re.ASCII)


def parse_growth(text: str) -> float:
    """Read a growth rate.

    >>> parse_growth("20%/year")
    0.2
    """
    match = _RATE.fullmatch(text)
    rate = float(match["number"]) / 100 if match else math.nan
    if not -1 < rate < units.MOST_BARE_SHARE:
        raise InputError(
            "growth", text, "a growth above -100 % and below 500 %, such as 20%/year; `event` is a step"
        )
    return rate


def parse_event(text: str) -> tuple[date, float]:
    """Read an event.

    >>> parse_event("2027-03-01:+30%")
    (datetime.date(2027, 3, 1), 1.3)
    """
    match = _EVENT.fullmatch(text)
    try:
        day = date.fromisoformat(match["day"] if match else "")
    except ValueError:
        raise InputError("event", text, "a day and a change, such as 2027-03-01:+30%") from None
    factor = 1 + float(match["number"]) / 100 if match else 0.0
    if factor <= 0:
        raise InputError("event", text, "a change that leaves some load, such as 2027-03-01:-30%")
    return day, factor


def parse_horizon(text: str) -> int:
    """Read how far ahead to look.

    >>> parse_horizon("5years"), parse_horizon("400d")
    (1826, 400)
    """
    from planner.site.growth.dates import FARTHEST
    from planner.site.growth.model import MONTH, YEAR

    spans = {"d": 1.0, "day": 1.0, "w": 7.0, "week": 7.0, "month": MONTH, "y": YEAR, "year": YEAR}
    match = _SPAN.fullmatch(text)
    days = float(match["number"]) * spans.get(match["unit"], 0.0) if match else 0.0
    if not 1 <= days <= FARTHEST:
        raise InputError(
            "horizon", text, "a time from a day to 100 years, such as 5years, 18months or 400days"
        )
    return int(days)


def parse_limit(text: str) -> float:
    """Read a limit in the unit of its series."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise InputError("limit", text, "a number above zero in the unit of the column, such as 5000")
    return value
