"""``planner calibrate``, ``predict``, ``whatif``, ``scoreboard``, ``figures``, ``explain``: models and formulas."""

from __future__ import annotations

import sys
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

from planner import files, render
from planner.cli import options, printing
from planner.cli.options import argument, flag, option
from planner.errors import InputError
from planner.explain import TOPICS


@options.expanded
def calibrate(
    data: Annotated[list[Path], argument("DATA...", "DEVICE listings (FCX108), CSV files, or an archive.")],
    kind: Annotated[str, option("KIND", "volume, pool, paging, disk, channel-program or processors.")],
    output: Annotated[Path, option("MODEL.toml", "Model file to write.", "--output", "-o")],
    population: Annotated[
        int | None, option("N", "Requesters of one volume; estimated if left out.", "--population")
    ] = None,
    fix: Annotated[list[str] | None, option("KEY=VALUE", "A parameter that is known.")] = None,
    title: Annotated[str, option("TEXT", "What was measured.")] = "",
    device: Annotated[
        str | None, option("DEVICES", "Only these bases: a number, label, list or range.")
    ] = None,
    pool: Annotated[str | None, option("NAME", "Only this pool.")] = None,
    interval: Annotated[
        str | None,
        option(
            "WHICH",
            "worst, mean or a time; by default, of an archive, the worst at each alias count.",
        ),
    ] = None,
    *,
    span: options.Span,
    json: options.Json = False,
    csv: options.Csv = False,
    force: options.Force = False,
    plot: options.Plot = None,
) -> None:
    """Fit a model to measurements.

    Example: planner calibrate 0-aliases.listing 8-aliases.listing --kind pool -o pool.toml
    """
    from planner import calibrate
    from planner.library import write_model

    chosen = calibrate.Chosen(**asdict(span), interval=interval, device=device, pool=pool)
    task = calibrate.Task(files=data, title=title, population=population, fix=fix or (), chosen=chosen)
    form = options.Form(json=json, csv=csv, force=force, plot=plot)
    files.writable(output, force=force)
    with printing.progress("Fitting"):
        found, model = calibrate.calibrate(kind, task)
    printing.draw(found.plot, form)
    write_model(model, output, force=force)
    printing.emit(partial(found.text, printing.width()), found.to_dict, found.residual_table, form)


ModelFile = Annotated[str, argument("MODEL.toml", "Model file, or the name of a shipped model.")]
Settings = Annotated[
    list[str] | None, option("KEY=VALUE", "As aliases=2 or think_time=0.2ms; may be repeated.", "--set")
]


@options.expanded
def predict(model: ModelFile, settings: Settings = None, *, form: options.Form) -> None:
    """Ask a model for one scenario.

    Example: planner predict hyperpav --set aliases=8 --set volumes=8
    """
    _ask(model, settings or [], [], form)


def _ask(model: str, settings: list[str], over: list[str], form: options.Form) -> None:
    """Predict; if the output is for a program, print extrapolation warnings on standard error."""
    from planner import library, whatif

    found = library.read_model(model)
    answer = whatif.predict(
        found,
        options.once((whatif.parse_setting(text, found.kind) for text in settings), "--set"),
        options.once((whatif.parse_range(text, found.kind) for text in over), "--over"),
    )
    for warning in answer.warnings if form.json or form.csv or form.output else ():
        files.complain(f"planner: {warning}")
    printing.show(answer, form)


@options.expanded
def whatif(
    model: ModelFile,
    over: Annotated[
        list[str], option("KEY=lo:hi:step", "As aliases=0:24 or think_time=0.1ms:1ms:0.1ms; may be repeated.")
    ],
    settings: Settings = None,
    *,
    form: options.Form,
) -> None:
    """Ask a model for a grid of scenarios.

    Example: planner whatif hyperpav --set volumes=8 --over aliases=0:24
    """
    from planner import system

    if system.is_system(model):
        printing.show(system.whatif(Path(model), over, settings or []), form)
    else:
        _ask(model, settings or [], over, form)


@options.expanded
def scoreboard(*, form: options.Form) -> None:
    """Compare every published figure with the planner.

    Exit code 1 if an identity does not hold and no erratum says why, or a stated accuracy is not met.

    Example: planner scoreboard --csv
    """
    from planner.published import scoreboard as compute
    from planner.published.board import FIGURES

    with printing.progress("Comparing every figure", FIGURES) as done:
        found = compute(done)
    printing.show(found, form)


class Format(StrEnum):
    """Kinds of picture."""

    png = "png"
    svg = "svg"


@options.expanded
def figures(
    output: Annotated[Path, option("DIR", "Folder to write to.", "--output", "-o")],
    form: Annotated[Format, flag("Kind of file.", "--format")] = Format.png,
    force: options.Force = False,
) -> None:
    """Draw the published figures.

    These are the figures that the reports do not display, and one per report with its measurements and the model.

    Example: planner figures -o pictures --format svg
    """
    from planner.published import figures as known
    from planner.published import save_figures

    with printing.progress("Drawing", len(known())) as done:
        for path in save_figures(output, form.value, force=force):
            files.say(str(path))
            done(1)


@options.expanded
def explain(
    topic: Annotated[
        str | None,
        argument("[TOPIC]", "What to explain; without it the topics are listed."),
    ] = None,
    numbers: Annotated[list[str] | None, argument("[NAME=VALUE]...", "Your numbers, with units.")] = None,
    latex: Annotated[bool, flag("Print LaTeX.", "--latex")] = False,
    *,
    form: options.Form,
) -> None:
    """Explain a formula with your numbers.

    Shows every step in symbols and in numbers, assumptions, sensitivities, and the same value by the numerical code.

    Topics: {topics}

    Example: planner explain mmc arrival_rate=755/s service_time=1.3ms servers=2
    """
    from planner import explain as formulas

    if form.report is not None:
        raise InputError("--report", str(form.report), "--latex, or --plot: a formula is no measurement")
    if topic is None:
        listed = formulas.topics()
        if form.plot is not None:
            raise InputError("--plot", str(form.plot), "it with a topic")
        printing.emit(partial(render.to_text, listed), listed.records, lambda: listed, form)
        return
    if latex and (form.json or form.csv):
        raise InputError("--latex", "and --json or --csv", "one of them")
    given = options.pairs(numbers, "NAME=VALUE", "an input and its value, such as servers=2")
    with printing.progress("Carrying out the formula"):
        explanation = formulas.explain(topic, **given)
    printing.draw(explanation.plot, form)
    unicode = form.output is not None or "utf" in (getattr(sys.stdout, "encoding", None) or "").lower()
    text = explanation.latex if latex else partial(explanation.text, unicode=unicode)
    printing.emit(text, explanation.to_dict, explanation.table, form)


explain.__doc__ = str(explain.__doc__).format(topics=", ".join(TOPICS))
