"""``planner disk``: transactions of disk paths with and without minidisk cache, and the cost of channel programs."""

from __future__ import annotations

from typing import Annotated

import typer

from planner.cli import options
from planner.errors import InputError

app = typer.Typer(
    cls=options.Once,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="ECKD, emulated FBA and native SCSI; minidisk cache; channel programs.\n\n"
    "Example: planner disk rate --workload xedit --hit-ratio 0.9",
)


@app.command(name="rate", no_args_is_help=True, short_help="Compare disks with and without minidisk cache.")
@options.expanded
def rate(
    workload: Annotated[str, typer.Option(metavar="NAME", help="xedit or iozone.")],
    hit_ratio: Annotated[str, typer.Option(metavar="SHARE", help="Share of reads that the cache answers, as 90%.")],
    requesters: Annotated[int, typer.Option(metavar="N", help="Guests with one transaction each at a time.")] = 1,
    processors: Annotated[int, typer.Option(metavar="N", help="Real processors.")] = 1,
    disks: Annotated[int, typer.Option(metavar="N", help="Disks that the data are spread over.")] = 1,
    kind: Annotated[list[str] | None, typer.Option(metavar="KIND", help="Kinds of disk; all if left out.")] = None,
    *,
    form: options.PlotForm,
) -> None:  # fmt: skip
    """Transactions per second of each kind of disk, with and without minidisk cache.

    Example: planner disk rate --workload xedit --hit-ratio 0.9 --requesters 8 --processors 2
    """
    from planner import units
    from planner.advice.disk import Setting, disk_rates

    for name, count in (("--requesters", requesters), ("--processors", processors), ("--disks", disks)):
        if count < 1:
            raise InputError(name, count, "a count of at least 1")
    setting = Setting(
        workload=workload,
        hit_ratio=units.parse_share(hit_ratio, argument="--hit-ratio"),
        requesters=requesters,
        processors=processors,
        disks=disks,
    )
    options.show(disk_rates(setting, kind or []), form)


@app.command(name="ccw", no_args_is_help=True, short_help="Show what channel programs cost CP.")
@options.expanded
def ccw(
    read_write: Annotated[str, typer.Option(metavar="R:W", help="Data read to data written, as 70:30.")],
    bits: Annotated[int, typer.Option(metavar="BITS", help="31 or 64: width of the addresses.")],
    translation: Annotated[str, typer.Option(metavar="HOW", help="fast or slow.")] = "fast",
    data_rate: Annotated[str | None, typer.Option(metavar="RATE", help="Data moved, as 50MB/s.")] = None,
    *,
    form: options.PlotForm,
) -> None:
    """CP processor time per MB that the translation of channel programs takes, and what fast translation saves.

    Example: planner disk ccw --read-write 70:30 --bits 64 --data-rate 50MB/s
    """
    from planner import units
    from planner.advice.channel_program import channel_programs

    if translation not in {"fast", "slow"}:
        raise InputError("--translation", translation, "fast or slow")
    moved = None if data_rate is None else units.parse(data_rate, "data rate", argument="--data-rate")
    share = units.parse_ratio(read_write, argument="--read-write")
    options.show(channel_programs(bits, share, fast=translation == "fast", data_rate=moved), form)
