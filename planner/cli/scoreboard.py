"""``planner scoreboard``: published against predicted, figure by figure."""

from __future__ import annotations

import typer

from planner.cli import options

HELP = """Compare every published figure with the planner.

Exit code 1 if an identity does not hold beyond the errata, or a stated accuracy is not met.

Example: planner scoreboard --csv"""


def scoreboard(
    json: options.Json = False,
    csv: options.Csv = False,
    output: options.Output = None,
    force: options.Force = False,
) -> None:
    """Compute the scoreboard and print it."""
    from planner.scoreboard import scoreboard as compute

    with options.working("Comparing every figure"):
        found = compute()
    options.emit(found.text(), found.to_dict(), found.table(), json=json, csv=csv, output=output, force=force)
    if found.failures():
        raise typer.Exit(1)
