"""``planner read``, ``collect`` and ``example``: print measurements, collect them in an archive, simulate them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from planner import files
from planner.cli import options, printing
from planner.cli.options import argument, flag, option
from planner.errors import InputError

COUNTERS = "volume counters (MRIODDEV)"


@options.expanded
def read(
    file: Annotated[Path, argument("FILE", "Measurements, or the folder of an archive.")],
    volume_totals: Annotated[
        bool, flag(f"FILE holds {COUNTERS}: add up base and aliases.", "--volume-totals")
    ] = False,
    pools: options.Pools = None,
    deltas: Annotated[
        bool | None,
        flag("Whether counts are per interval, or counters only rise.", "--deltas/--cumulative"),
    ] = None,
    map: options.Map = None,
    *,
    form: options.Form,
) -> None:
    """Read measurements of any format, or an archive, and print them as a table, JSON or CSV.

    DEVICE (FCX108) and DSPACESH (FCX134) listings, tables of volumes, monitor data and more are recognized by content;
    docs/formats.md lists all formats.

    Example: planner read DEVICE.listing --csv

    Example: planner read monday.listing --json

    Example: planner read VOLUMES.csv --volume-totals --pools POOLS.csv

    Example: planner read EXPORT.csv --map io_rate=IOPS,volume=Volser
    """
    from planner.measurements.formats import is_folder

    if map is not None and volume_totals:
        raise InputError("--map", "with --volume-totals", "counters with the names that z/VM gives them")
    folder, collects = is_folder(file), "planner collect takes it for an archive"
    ways = (
        ("--plot", form.plot, "planner growth draws archives"),
        ("--map", map, collects),
        ("--pools", pools, collects),
    )
    for name, given, way in ways if folder else ():
        if given is not None:
            raise InputError(name, "the folder of an archive", f"a file of measurements; {way}")
    if folder and not volume_totals:
        from planner.measurements.archive import open_archive
        from planner.measurements.shown import overview

        printing.show(overview(open_archive(file)), form)
    else:
        from planner.measurements.read import read as read_any
        from planner.measurements.shown import MeasuredAnswer

        measured = read_any(file, pools, interval="mean" if volume_totals else None, deltas=deltas, map=map)
        if volume_totals and measured.what != (COUNTERS,):
            raise InputError("--volume-totals", measured.what[0], f"a file of {COUNTERS}")
        answer = MeasuredAnswer(measured)
        if form.csv and len(answer.tables) > 1 and any(what.endswith(" listings") for what in measured.what):
            raise InputError("--csv", measured.what[0], "a file with listings of one report, or --json")
        printing.show(answer, form)
        for note in measured.notes if form.csv else ():
            files.complain(note)


@options.expanded
def collect(
    sources: Annotated[list[Path], argument("FILE...", "Listings, counters, tables.")],
    archive: Annotated[Path, option("ARCHIVE", "Folder of the archive.", "--output", "-o")],
    system: Annotated[str | None, option("NAME", "Name of the system, for files without one.")] = None,
    pools: options.Pools = None,
    anonymize: Annotated[
        bool,
        flag("Replace names of systems, volumes, owners; shift dates; key next to ARCHIVE.", "--anonymize"),
    ] = False,
    map: options.Map = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Collect measurements of any format in an archive, a folder of Parquet files.

    Measurements already in the archive are skipped; contradictory ones are refused, and the archive stays unchanged.

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
    with printing.progress("Collecting", sum(size_of(source) for source in sources), of_bytes=True) as done:
        answer = add(sources, archive, members=pools, system=system, names=names, map=map, done=done)
    printing.show(answer, form)


@options.expanded
def example(
    days: Annotated[int, option("N", "Days.")] = 365,
    systems: Annotated[int, option("N", "Systems.")] = 1,
    pools: Annotated[int, option("N", "Alias pools of each system.")] = 2,
    volumes: Annotated[int, option("N", "Volumes of each pool.")] = 4,
    aliases: Annotated[int, option("N", "Aliases of each pool.")] = 3,
    hours: Annotated[int, option("N", "Busiest hours to keep of each day.")] = 24,
    seed: Annotated[int, option("N", "Seed of the random noise.")] = 1,
    output: options.Output = None,
    force: options.Force = False,
) -> None:
    """Make an example: hourly volumes with weeks, month ends, growth, a level shift and gaps.

    The same seed gives the same file. Its columns are those of any table of volumes: system, start, interval_s, pool,
    aliases, device, io_rate, service_ms, queued.

    Example: planner example --days 30 --pools 1 --volumes 2 -o site.csv
    """
    from planner.render import counted
    from planner.site.example import example_volumes

    options.Form(output=output, force=force)  # refuse a file that cannot be written
    made = example_volumes(
        days=days, systems=systems, pools=pools, volumes=volumes, aliases=aliases, hours=hours, seed=seed
    )
    printing.put(made.write_csv(), output, force=force)
    if options.is_file(output):
        counts = (counted(made.height, "row"), counted(systems * pools, "pool"), counted(days, "day"))
        files.say("{} of {} over {} in {}".format(*counts, output))
