"""How far off predictions are: the share of figures within each error, by how they came about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from planner import style
from planner.scoreboard.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS_SHOWN: Final = ("fitted", "left-out", "transferred")


def error_shares(figures: Sequence[Figure], axes: Axes | None = None) -> Axes:
    """Draw the share of the figures that are off by at most so many percent.

    Parameters
    ----------
    figures : sequence of Figure
        Those that were predicted are shown, named outliers among them.
    axes : matplotlib.axes.Axes, optional
        Where to draw; new axes where None.

    Returns
    -------
    matplotlib.axes.Axes
        One line a kind of prediction.
    """
    axes = axes or style.new_axes(7, 4.4)
    looks = zip(KINDS_SHOWN, style.COLORS, style.LINES, ("o", "s", "^"), strict=False)
    for kind, color, line, marker in looks:
        errors = sorted(
            abs(f.relative_error) for f in figures if f.kind == kind and f.relative_error is not None
        )
        shares = [(k + 1) / len(errors) for k in range(len(errors))]
        axes.step(
            [100 * error for error in errors], shares, line, color=color, marker=marker, markersize=4, where="post",
            label=f"{kind} ({len(errors)} figures)",
        )  # fmt: skip
    axes.set_xscale("symlog", linthresh=1, subs=range(2, 10))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set(
        xlabel="error of a figure, at most [%]", ylabel="share of the figures", xlim=(0, None), ylim=(0, 1.02),
        title="Published figures and what the planner says of them",
    )  # fmt: skip
    axes.legend(frameon=False, loc="lower right")
    return axes
