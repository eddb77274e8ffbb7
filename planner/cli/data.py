"""``planner read``, ``collect`` and ``example``: measurements as data, in an archive, made up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from planner import files
from planner.cli import options
from planner.cli.options import argument, flag, option
from planner.errors import InputError

ROWS = {"FCX108": "rows", "FCX134": "data_spaces"}  # what --json calls the rows of each report


@options.expanded
def read(
    file: Annotated[Path, argument("FILE", "Measurements, or the folder of an archive.")],
    volume_totals: Annotated[
        bool, flag("FILE holds volume counters (MRIODDEV): add up base and aliases.", "--volume-totals")
    ] = False,
    pools: options.Pools = None,
    deltas: Annotated[
        bool | None,
        flag("Whether rows count since the row before, or counters only rise.", "--deltas/--cumulative"),
    ] = None,
    map: options.Map = None,
    *,
    form: options.PlotForm,
) -> None:
    """Read measurements of any format, or an archive, and print them as a table, JSON or CSV.

    DEVICE (FCX108) and DSPACESH (FCX134) listings, tables of volumes, monitor data and more are told apart by their
    content; docs/formats.md has them all.

    Example: planner read DEVICE.listing --csv

    Example: planner read monday.listing --json

    Example: planner read VOLUMES.csv --volume-totals --pools POOLS.csv

    Example: planner read EXPORT.csv --map io_rate=IOPS,volume=Volser
    """
    from planner.measurements.formats import is_folder
    from planner.measurements.read import is_listing, standard_input

    content = standard_input(file)
    source = file if content is None else content
    if volume_totals and (form.plot or form.report):
        raise InputError(
            "--volume-totals", "with --plot or --report", "its CSV first (-o), then planner read of that"
        )
    if form.plot is not None and is_folder(file):
        raise InputError(
            "--plot", "the folder of an archive", "a file of measurements; planner growth draws archives"
        )
    if map is not None and volume_totals:
        raise InputError("--map", "with --volume-totals", "counters with the names that z/VM gives them")
    for name, given in (("--map", map), ("--pools", pools)):
        if given is not None and is_folder(file):
            wanted = "a file of measurements; planner collect takes it for an archive"
            raise InputError(name, "the folder of an archive", wanted)
    if volume_totals:
        _volume_totals(file, content, pools, deltas, form)
    elif is_folder(file):
        from planner.measurements.archive import open_archive
        from planner.measurements.shown import overview

        options.show(overview(open_archive(file)), form)
    elif pools is None and map is None and deltas is None and is_listing(source):
        _listings(file, content, form)
    else:
        from planner.measurements.read import read as read_any
        from planner.measurements.shown import MeasuredAnswer

        options.show(MeasuredAnswer(read_any(source, pools, deltas=deltas, map=map)), form)


def _listings(report: Path, content: bytes | None, form: options.PlotForm) -> None:
    """Listings, one line a printed row; damaged rows are named below."""
    from planner import render
    from planner.reports.any_listing import read_with_notes
    from planner.reports.listing import printed_table

    found, notes = read_with_notes(report, content)
    if form.csv and len(found) > 1:
        raise InputError("--csv", " and ".join(found), "a file with listings of one report, or --json")
    if form.plot is not None or form.report is not None:
        from planner.measurements.read import read as read_any
        from planner.measurements.shown import MeasuredAnswer

        options.beside(MeasuredAnswer(read_any(report if content is None else content)), form)
    tables = {name: printed_table(listings) for name, listings in found.items()}

    def text() -> str:
        every = [each for listings in found.values() for each in listings]
        parts = [f"{listing}\n{render.to_text(listing.table())}" for listing in every]
        return "\n\n".join([*parts, *(["\n".join(map(render.wrap, notes))] if notes else [])])

    def data() -> dict[str, Any]:
        rows = {ROWS[name]: table.records() for name, table in tables.items()}
        return {**rows, "notes": notes} if notes else rows

    options.emit(text, data, lambda: next(iter(tables.values())), form)
    if form.csv:
        for note in notes:
            files.complain(note)


def _volume_totals(
    report: Path, content: bytes | None, pools: Path | None, deltas: bool | None, form: options.Form
) -> None:
    """Volume counters to rates and times of whole volumes."""
    from planner import render
    from planner.measurements.read import membership
    from planner.reports.volume_counters import read_volume_totals, totals_table

    members = membership(pools)
    totals = read_volume_totals(report, members, deltas=deltas, data=content)
    table = totals_table(totals.volumes)

    def text() -> str:
        return "\n".join([render.to_text(table), "", *map(render.wrap, totals.notes)]).rstrip()

    def data() -> dict[str, Any]:
        return {"volumes": table.records(), "aliases": list(totals.aliases), "notes": list(totals.notes)}

    options.emit(text, data, lambda: table, form)


@options.expanded
def collect(
    sources: Annotated[list[Path], argument("FILE...", "Listings, counters, tables.")],
    archive: Annotated[Path, option("ARCHIVE", "Folder of the archive.", "--output", "-o")],
    system: Annotated[str | None, option("NAME", "Name of the system, where a file does not say it.")] = None,
    pools: options.Pools = None,
    anonymize: Annotated[
        bool,
        flag("Replace names of systems, volumes, owners; shift dates; key beside ARCHIVE.", "--anonymize"),
    ] = False,
    map: options.Map = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Collect measurements of any format in an archive, a folder of Parquet files.

    What is there already adds nothing; what contradicts it is refused, and the archive stays as it was.

    Example: planner collect DEVICE.listing -o archive

    Example: planner collect DEVICE.listing -o shared --anonymize
    """
    from planner.measurements.anonymize import names_of
    from planner.measurements.collect import collect as add
    from planner.measurements.collect import size_of

    form = options.Form(json=json, csv=csv)
    if not options.is_file(archive):
        raise InputError("--output", "-", "the folder of an archive")
    names = names_of(archive) if anonymize else None
    with options.progress("Collecting", sum(size_of(source) for source in sources), of_bytes=True) as done:
        answer = add(sources, archive, members=pools, system=system, names=names, map=map, done=done)
    options.show(answer, form)


@options.expanded
def example(
    days: Annotated[int, option("N", "Days.")] = 365,
    systems: Annotated[int, option("N", "Systems.")] = 1,
    pools: Annotated[int, option("N", "Alias pools of each system.")] = 2,
    volumes: Annotated[int, option("N", "Volumes of each pool.")] = 4,
    aliases: Annotated[int, option("N", "Aliases of each pool.")] = 3,
    hours: Annotated[int, option("N", "Busiest hours of each day that are kept.")] = 24,
    seed: Annotated[int, option("N", "Seed of the random noise.")] = 1,
    output: options.Output = None,
    force: options.Force = False,
) -> None:
    """Make an example: the volumes of a site hour by hour, with weeks, month ends, growth, a level shift and gaps.

    The same seed gives the same file. Columns as in any table of volumes: system, start, interval_s, pool, aliases,
    device, io_rate, service_ms.

    Example: planner example --days 30 --pools 1 --volumes 2 -o site.csv
    """
    from planner.render import counted
    from planner.site.example import example_volumes

    options.Form(output=output, force=force)  # refuses a file that cannot be written
    made = example_volumes(
        days=days, systems=systems, pools=pools, volumes=volumes, aliases=aliases, hours=hours, seed=seed
    )
    options.put(made.write_csv(), output, force=force)
    if options.is_file(output):
        counts = (counted(made.height, "row"), counted(systems * pools, "pool"), counted(days, "day"))
        files.say("{} of {} over {} in {}".format(*counts, output))
