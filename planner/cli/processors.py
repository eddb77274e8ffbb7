"""``planner processors``: what more processors and storage bring, and what a release brought."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli import options
from planner.errors import InputError

GAIN_NOTE = (
    "The gain grows with contention and with real storage. The throughput of +21.6% contradicts the rates of the "
    "same runs in Tables 3 and 4, +14.9% (see the errata in data/real-storage)."
)

if TYPE_CHECKING:
    from planner.devices.processors import Configuration, Prediction, Scaling

HELP = """Scaling of throughput with processors and storage.

Without a file, the five configurations of z/VM 5.3 that the report on real storage measured. A law is chosen
by how well it predicts each configuration from the others.

Example: planner processors --processors 14"""


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
        typer.Option("--processors", metavar="N", help="Predict this many (may be repeated)."),
    ] = None,
    real_storage: Annotated[
        str | None,
        typer.Option("--real-storage", metavar="SIZE", help="Real storage to go with --processors."),
    ] = None,
    contention: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="What 5.3 brings over 5.2: page reads per CPU-second, as 300/s."),
    ] = None,
    *,
    form: options.PlotForm,
) -> None:
    """Fit, choose, predict and print."""
    from planner import units
    from planner.devices.processors import published, read_configurations, scaling

    wanted = (
        None if contention is None else units.parse(contention, "rate", argument="--contention", zero=True)
    )
    size = None if real_storage is None else units.parse(real_storage, "storage", argument="--real-storage")
    if size is not None and not count:
        raise InputError("--real-storage", real_storage, "--processors with it")
    with options.working("Predicting each configuration from the others"):
        answer = scaling(published() if measurements is None else read_configurations(measurements))
        predictions = [answer.predict(number) for number in count or []]
    beside = (published("5.2"), "z/VM 5.2") if measurements is None else ()
    options.draw(lambda: answer.plot(*beside), form)
    notes = _notes(answer.configurations, predictions, size) + ([] if wanted is None else [GAIN_NOTE])
    data = {
        **answer.to_dict(),
        "predictions": [_prediction(answer, one) for one in predictions],
        "gains": _gains(wanted),
        "notes": notes,
    }
    options.emit(_text(answer, predictions, notes, wanted), data, answer.table(), form)


def _prediction(answer: Scaling, one: Prediction) -> dict[str, Any]:
    base = min(answer.configurations, key=lambda row: row.processors)
    return {
        "processors": one.processors,
        "itr": one.itr,
        "itr_low": one.low,
        "itr_high": one.high,
        "itr_ratio": one.itr / base.internal_throughput,
    }


def _gains(contention: float | None) -> list[dict[str, Any]]:
    """The measured pairs of releases, where a contention was asked for."""
    from planner.devices.processors import gain_table

    if contention is None:
        return []
    table = gain_table(contention)
    return [{**row, "nearest": bool(mark)} for row, mark in zip(table.records(), table.marks, strict=True)]


def _notes(rows: tuple[Configuration, ...], predictions: list[Prediction], size: float | None) -> list[str]:
    """What the measurements cannot tell."""
    from planner.units import GIB

    most = max(row.processors for row in rows)
    notes = [
        f"{one.processors} processors lie beyond the {most} that were measured: trust the interval, not the number."
        for one in predictions
        if one.processors > most
    ]
    shares = [row.real_storage / row.processors / GIB for row in rows if row.real_storage is not None]
    if len(shares) == len(rows):
        notes.append(
            f"Real storage grew along with the processors, {min(shares):.3g} to {max(shares):.3g} GB each: what either "
            "brings alone cannot be told."
        )
        for one in predictions:
            each = None if size is None else size / one.processors / GIB
            if each is not None and not min(shares) <= each <= max(shares):
                notes.append(f"{each:.3g} GB for each of {one.processors} processors was not measured.")
    return notes


def _text(answer: Scaling, predictions: list[Prediction], notes: list[str], contention: float | None) -> str:
    from planner import render
    from planner.devices.processors import gain_table

    best = answer.chosen
    lines = [
        render.wrap(
            f"Laws of the CPU time ({best.parts}: {best.name}) predict each configuration from the others with a "
            f"median error of {best.median:.1%}, at worst {best.worst:.1%}."
        )
    ]
    lines += [
        render.wrap(
            f"{one.processors} processors: ITR {one.itr:.4g}/s, {one.low:.4g} to {one.high:.4g}/s (90%), "
            f"{_prediction(answer, one)['itr_ratio']:.3g} times the smallest configuration."
        )
        for one in predictions
    ]
    lines += [
        "",
        render.to_text(answer.summary()),
        "",
        "Leave-one-out errors",
        render.to_text(answer.trial_table()),
    ]
    if contention is not None:
        lines += ["", "z/VM 5.3 over 5.2, four measured pairs, no law; the nearest is marked",
                  render.to_text(gain_table(contention))]  # fmt: skip
    return "\n".join([*lines, "", *map(render.wrap, notes)]).rstrip("\n")
