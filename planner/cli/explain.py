"""``planner explain``: a formula, symbolically and with the numbers of the user."""

from __future__ import annotations

import sys
from typing import Annotated

from planner import render
from planner.cli import options
from planner.cli.options import argument, flag
from planner.errors import InputError
from planner.explain import TOPICS


@options.expanded
def explain(
    topic: Annotated[
        str | None,
        argument("[TOPIC]", "What to explain; without it the topics are listed.", show_default=False),
    ] = None,
    numbers: Annotated[
        list[str] | None, argument("[NAME=VALUE]...", "Your numbers, with units.", show_default=False)
    ] = None,
    latex: Annotated[bool, flag("Print LaTeX.", "--latex")] = False,
    *,
    form: options.PlotForm,
) -> None:
    """Explain a formula with your numbers.

    Every step in symbols and in numbers, where it holds, what the answer is sensitive to, and the same value by the
    numerical code.

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
        options.emit(render.to_text(listed), listed.records(), listed, form)
        return
    if latex and (form.json or form.csv):
        raise InputError("--latex", "and --json or --csv", "one of them")
    given = options.once(map(_pair, numbers or []), "NAME=VALUE")
    with options.working("Carrying out the formula"):
        told = formulas.explain(topic, **given)
    options.draw(told.plot, form)
    unicode = form.output is not None or "utf" in (getattr(sys.stdout, "encoding", None) or "").lower()
    text = told.latex() if latex else told.text(unicode=unicode)
    options.emit(text, told.to_dict(), told.table(), form)


explain.__doc__ = str(explain.__doc__).format(topics=", ".join(TOPICS))


def _pair(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals:
        raise InputError("NAME=VALUE", given, "an input and its value, such as servers=2")
    return name, value
