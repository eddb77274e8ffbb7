"""``planner disk``, ``paging`` and ``processors``: capacity of hardware and its CP time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from planner.cli import options, printing
from planner.cli.options import argument, measured, option
from planner.errors import InputError

disk = options.group(
    "ECKD, emulated FBA and native SCSI; minidisk cache; channel programs.\n\n"
    "Example: planner disk rate --workload xedit --hit-ratio 0.9"
)


@disk.command(name="rate", no_args_is_help=True, short_help="Compare disks with and without minidisk cache.")
@options.expanded
def rate(
    workload: Annotated[str, option("NAME", "xedit or iozone.")],
    hit_ratio: Annotated[str, option("SHARE", "Share of reads that the cache answers, as 90%.")],
    requesters: Annotated[int, option("N", "Guests with one transaction each at a time.")] = 1,
    processors: Annotated[int, option("N", "Real processors.")] = 1,
    disks: Annotated[int, option("N", "Disks over which the data are spread.")] = 1,
    kind: Annotated[list[str] | None, option("KIND", "Kinds of disk; all if left out.")] = None,
    *,
    form: options.Form,
) -> None:
    """Transactions per second of each kind of disk, with and without minidisk cache.

    Example: planner disk rate --workload xedit --hit-ratio 0.9 --requesters 8 --processors 2
    """
    from planner import units
    from planner.advice.disk import Setting, disk_rates

    setting = Setting(
        workload=workload,
        hit_ratio=units.parse_share(hit_ratio, argument="--hit-ratio"),
        requesters=requesters,
        processors=processors,
        disks=disks,
    )
    printing.show(disk_rates(setting, kind or []), form)


@disk.command(name="ccw", no_args_is_help=True, short_help="Show what channel programs cost CP.")
@options.expanded
def ccw(
    read_write: Annotated[str, option("R:W", "Data read to data written, as 70:30.")],
    bits: Annotated[int, option("BITS", "31 or 64: width of the addresses.")],
    translation: Annotated[str, option("HOW", "fast or slow.")] = "fast",
    data_rate: Annotated[float | None, measured("RATE", "data rate", "Data moved, as 50MB/s.")] = None,
    *,
    form: options.Form,
) -> None:
    """CP processor time per MB for translating channel programs, and the saving of fast translation.

    Example: planner disk ccw --read-write 70:30 --bits 64 --data-rate 50MB/s
    """
    from planner import units
    from planner.advice.channel_program import channel_programs

    if translation not in {"fast", "slow"}:
        raise InputError("--translation", translation, "fast or slow")
    share = units.parse_ratio(read_write, argument="--read-write")
    printing.show(channel_programs(bits, share, fast=translation == "fast", data_rate=data_rate), form)


@options.expanded
def paging(
    page_rate: Annotated[
        float | None, measured("RATE", "rate", "Pages read and written, as 225000/s.")
    ] = None,
    guests: Annotated[int | None, option("N", "Guests that fault; if left out, random arrivals.")] = None,
    target: Annotated[float | None, measured("TIME", "time", "Page response time, as 4ms.")] = None,
    kind: Annotated[list[str] | None, option("KIND", "Kinds of device; all if left out.")] = None,
    scv: Annotated[
        float, option("NUMBER", "Squared coefficient of variation of a transfer's service.")
    ] = 1.0,
    devices: Annotated[int | None, option("N", "Number of devices installed.")] = None,
    per_guest: Annotated[
        float | None, measured("RATE", "rate", "Page rate per guest; answers how many guests fit.")
    ] = None,
    cpu_speed: Annotated[
        list[str] | None,
        option("MACHINE=FACTOR", "Speed of MACHINE's processors over that of the others."),
    ] = None,
    *,
    form: options.Form,
) -> None:
    """Count paging devices of each kind for a page rate.

    With --devices instead of --page-rate: the page rate that those devices carry or, with --per-guest, guests.

    Example: planner paging --page-rate 225000/s --guests 20 --target 4ms

    Example: planner paging --devices 20 --guests 20 --target 4ms

    Example: planner paging --devices 20 --per-guest 2000/s --target 4ms
    """
    from planner import units
    from planner.advice.paging import paging_devices
    from planner.advice.paging_capacity import Question, paging_capacity
    from planner.advice.paging_load import Load

    for name, count in (("--guests", guests), ("--devices", devices)):
        if count is not None and count < 1:
            raise InputError(name, count, "a count of at least 1")
    typed = options.pairs(cpu_speed, "--cpu-speed", "MACHINE=FACTOR, such as 2964-NC9=10")
    speeds = {machine: units.parse_count(text, argument="--cpu-speed") for machine, text in typed.items()}
    if page_rate is None:
        if devices is None:
            raise InputError("--page-rate", None, "a page rate, or --devices to ask how much they carry")
        if speeds:
            raise InputError("--cpu-speed", "without --page-rate", "it with a page rate")
        asked = Question(devices=devices, guests=guests, per_guest=per_guest, target=target, scv=scv)
        options.exclusive({"--guests": guests, "--per-guest": per_guest}, "--per-guest asks for the guests")
        printing.show(paging_capacity(asked, names=kind or []), form)
        return
    if per_guest is not None:
        raise InputError(
            "--per-guest", options.as_typed("per_guest"), "it without --page-rate, and --devices"
        )
    load = Load(page_rate=page_rate, guests=guests, target=target, scv=scv)
    printing.show(paging_devices(load, names=kind or [], count=devices, speeds=speeds), form)


@options.expanded
def processors(
    measurements: Annotated[
        Path | None,
        argument(
            "[CSV]",
            "A row per configuration: processors, and cpu_ms, or emulation_cpu_ms and cp_cpu_ms, or itr; "
            "run and real_storage_GB are optional.",
        ),
    ] = None,
    count: Annotated[
        list[int] | None, option("N", "Number of processors to predict; may be repeated.", "--processors")
    ] = None,
    real_storage: Annotated[
        float | None, measured("SIZE", "storage", "Real storage of --processors.")
    ] = None,
    contention: Annotated[
        float | None,
        measured("RATE", "rate", "Page reads per CPU second, for the gain of 5.3, as 300/s.", zero=True),
    ] = None,
    throughput: Annotated[
        float | None, measured("RATE", "rate", "How many processors this needs, as 600/s.")
    ] = None,
    *,
    form: options.Form,
) -> None:
    """Predict throughput with more processors.

    Without a file, the five configurations of z/VM 5.3 in the report on real storage are used. Each configuration is
    predicted from the others, which shows how good the model is.

    Example: planner processors --processors 14

    Example: planner processors --throughput 600/s
    """
    from planner.advice.processors import scaling

    if real_storage is not None and not count:
        raise InputError("--real-storage", options.as_typed("real_storage"), "--processors with it")
    with printing.progress("Predicting each configuration from the others"):
        answer = scaling(
            measurements, count or (), real_storage=real_storage, contention=contention, wanted=throughput
        )
    printing.show(answer, form)
