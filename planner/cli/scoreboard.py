"""``planner scoreboard``: published against predicted, figure by figure."""

from __future__ import annotations

from planner.cli import options

HELP = """Compare every published figure with the planner.

Exit code 1 if an identity does not hold and no erratum says why, or a stated accuracy is not met.

Example: planner scoreboard --csv"""


@options.expanded
def scoreboard(
    *,
    form: options.PlotForm,
) -> None:
    """Compute the scoreboard and print it."""
    from planner.published import scoreboard as compute
    from planner.published.board import FIGURES

    with options.progress("Comparing every figure", FIGURES) as done:
        found = compute(done)
    options.show(found, form)
