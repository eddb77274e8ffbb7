"""``planner system``: storage, paging, devices, processors and throughput of one system from one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli import options
from planner.errors import InputError

if TYPE_CHECKING:
    from planner.answer import Answer

HELP = """Solve a whole system from one file: storage, paging, devices, processors and throughput together.

The file is TOML; --template prints one to start from, --schema describes every key to an editor.

Example: planner system SYSTEM.toml --set storage.real=1088GiB --over guests.count=16:24"""


@options.expanded
def system(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE.toml]", help="The system.", show_default=False)
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="TABLE.KEY=VALUE",
            help="As storage.real=1088GiB, paging.depth=unlimited or guests[linux].count=17; may be repeated.",
        ),
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option(metavar="TABLE.KEY=lo:hi:step", help="As guests.count=10:40:2; may be repeated."),
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(metavar="OTHER.toml", help="Put another system beside it; --set changes both.")
    ] = None,
    template: Annotated[
        str | None, typer.Option(metavar="xiv|hyperpav|minimal", help="Print a commented file to start from.")
    ] = None,
    measured: Annotated[
        Path | None,
        typer.Option("--from", metavar="ARCHIVE|FILE", help="Print a file made from measurements, to be completed."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--system", metavar="NAME", help="Which system of --from, where it holds several.")
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of the file, for editors.")] = False,
    *,
    form: options.PlotForm,
) -> None:  # fmt: skip
    """Read, solve, print."""
    from planner import system as model

    if name is not None and measured is None:
        raise InputError("--system", name, "--from with it")
    if template is not None or schema or measured is not None:
        _alone(file, form, template=template, schema=schema, measured=measured, name=name)
        return
    if file is None:
        raise InputError("FILE.toml", None, "a system file; --template minimal prints one to start from")
    if over and compare is not None:
        raise InputError("--over --compare", "both", "one of them")
    answer: Answer
    with options.working("Solving the system"):
        if over:
            answer = model.whatif(file, over, settings or [])
        else:
            answer = model.solve(file, settings or [])
            if compare is not None:
                answer = model.compare(answer, model.solve(compare, settings or []))
    options.show(answer, form)


def _alone(
    file: Path | None,
    form: options.PlotForm,
    *,
    template: str | None,
    schema: bool,
    measured: Path | None,
    name: str | None,
) -> None:
    """What makes a file and needs none: a template, measurements, the schema."""
    from planner import files, render
    from planner import system as model

    asked = {"--template": template is not None, "--from": measured is not None, "--schema": schema}
    if file is not None or sum(asked.values()) > 1:
        raise InputError(
            next(key for key, said in asked.items() if said), str(file or ""), "nothing else beside it"
        )
    if schema:
        text = render.to_json(model.json_schema())
    elif measured is not None:
        text = model.from_measurements(measured, name)
    else:
        text = model.template(template or "")
    if form.output is None:
        files.say(text.rstrip("\n"))
    else:
        files.save(text, form.output, force=form.force)
