"""``planner paging``: which paging devices carry a page rate, how many, and what CP spends on them."""

from __future__ import annotations

from typing import Annotated

import typer

from planner.cli import options
from planner.errors import InputError

HELP = """Count paging devices of each kind for a page rate.

With --devices in place of --page-rate: how many pages a second those devices carry, or with --per-guest how
many guests.

Example: planner paging --page-rate 225000/s --guests 20 --target 4ms

Example: planner paging --devices 20 --guests 20 --target 4ms

Example: planner paging --devices 20 --per-guest 2000/s --target 4ms"""


@options.expanded
def paging(
    page_rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Pages read and written, as 225000/s.")
    ] = None,
    guests: Annotated[
        int | None, typer.Option(metavar="N", help="Guests that fault; if left out, pages come at random.")
    ] = None,
    target: Annotated[str | None, typer.Option(metavar="TIME", help="Page response time, as 4ms.")] = None,
    kind: Annotated[list[str] | None, typer.Option(metavar="KIND", help="Kinds of device; all if left out.")] = None,
    scv: Annotated[
        float, typer.Option(metavar="NUMBER", help="Squared coefficient of variation of a transfer's service.")
    ] = 1.0,
    devices: Annotated[int | None, typer.Option(metavar="N", help="Number of devices there are.")] = None,
    per_guest: Annotated[
        str | None, typer.Option(metavar="RATE", help="Pages of each guest: how many guests the devices carry.")
    ] = None,
    cpu_speed: Annotated[
        list[str] | None,
        typer.Option(metavar="MACHINE=FACTOR", help="How much faster a processor of MACHINE is than of the others."),
    ] = None,
    *,
    form: options.PlotForm,
) -> None:  # fmt: skip
    """Ask, print, draw."""
    from planner import units
    from planner.advice.paging import paging_devices
    from planner.advice.paging_capacity import Load, Question, paging_capacity

    for name, count in (("--guests", guests), ("--devices", devices)):
        if count is not None and count < 1:
            raise InputError(name, count, "a count of at least 1")
    wanted = None if target is None else units.parse(target, "time", argument="--target")
    speeds = options.once(map(_speed, cpu_speed or []), "--cpu-speed")
    if page_rate is None:
        if devices is None:
            raise InputError("--page-rate", None, "a page rate, or --devices to ask how much they carry")
        if speeds:
            raise InputError("--cpu-speed", "without --page-rate", "it with a page rate")
        asked = Question(
            devices=devices, guests=guests, target=wanted, scv=scv,
            per_guest=None if per_guest is None else units.parse(per_guest, "rate", argument="--per-guest"),
        )  # fmt: skip
        options.exclusive({"--guests": guests, "--per-guest": per_guest}, "a page rate of each asks how many")
        options.show(paging_capacity(asked, names=kind or []), form)
        return
    if per_guest is not None:
        raise InputError("--per-guest", per_guest, "it without --page-rate, and --devices")
    load = Load(
        page_rate=units.parse(page_rate, "rate", argument="--page-rate"),
        guests=guests,
        scv=scv,
        target=wanted,
    )
    options.show(paging_devices(load, names=kind or [], count=devices, speeds=speeds), form)


def _speed(text: str) -> tuple[str, float]:
    """A machine and its factor."""
    from planner import units

    machine, equals, factor = text.partition("=")
    if not equals or not machine:
        raise InputError("--cpu-speed", text, "MACHINE=FACTOR, such as 2964-NC9=10")
    value = units.parse_count(factor, argument="--cpu-speed")
    if value == 0:
        raise InputError("--cpu-speed", text, "a factor above zero")
    return machine, value
