"""``planner processors``: what more processors and storage bring, and what a release brought."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli import options
from planner.errors import InputError

HELP = """Predict throughput with more processors.

Without a file, the five configurations of z/VM 5.3 that the report on real storage measured. Each configuration is
predicted from the others, which shows how good the model is.

Example: planner processors --processors 14

Example: planner processors --throughput 600/s"""


@options.expanded
def processors(
    measurements: Annotated[
        Path | None,
        typer.Argument(
            metavar="[CSV]",
            help="A row a configuration: processors, and cpu_ms, or emulation_cpu_ms and cp_cpu_ms, or itr; "
            "run and real_storage_GB are optional.",
            show_default=False,
        ),
    ] = None,
    count: Annotated[
        list[int] | None,
        typer.Option("--processors", metavar="N", help="Number of processors to predict; may be repeated."),
    ] = None,
    real_storage: Annotated[
        str | None,
        typer.Option("--real-storage", metavar="SIZE", help="Real storage to go with --processors."),
    ] = None,
    contention: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="What 5.3 brings over 5.2: page reads per CPU-second, as 300/s."),
    ] = None,
    throughput: Annotated[
        str | None, typer.Option(metavar="RATE", help="How many processors this takes, as 600/s.")
    ] = None,
    *,
    form: options.PlotForm,
) -> None:
    """Fit, predict, print, draw."""
    from planner import units
    from planner.advice.processors import scaling

    wanted = (
        None if contention is None else units.parse(contention, "rate", argument="--contention", zero=True)
    )
    size = None if real_storage is None else units.parse(real_storage, "storage", argument="--real-storage")
    rate = None if throughput is None else units.parse(throughput, "rate", argument="--throughput")
    if size is not None and not count:
        raise InputError("--real-storage", real_storage, "--processors with it")
    with options.working("Predicting each configuration from the others"):
        answer = scaling(measurements, count or (), real_storage=size, contention=wanted, wanted=rate)
    options.show(answer, form)
