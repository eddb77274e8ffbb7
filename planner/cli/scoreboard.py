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

    with options.working("Comparing every figure"):
        found = compute()
    options.show(found, form)
