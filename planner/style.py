"""One style for every picture: colors that the color blind tell apart, and marks and hatches that need no color."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
MARKERS: Final = (("o", 12), ("s", 6), ("^", 7), ("D", 6))  # a small one stays visible on a large one
LINES: Final = ("-", "--", ":", "-.")
HATCHES: Final = ("", "///", "...", "xx")
MEASURED: Final = "black"
BAND: Final = 0.25  # opacity of the interval of a model
ABOVE: Final = 10  # measured points are drawn over everything


def new_axes(width: float = 6.4, height: float = 4.4) -> Axes:
    """Empty axes of a picture of its own.

    Parameters
    ----------
    width, height : float, optional
        Size [inches].

    Returns
    -------
    matplotlib.axes.Axes
        The axes.
    """
    from matplotlib.figure import Figure

    axes = Figure(figsize=(width, height), layout="constrained").subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.title.set_fontsize("medium")
    return axes


def whole_numbers(axes: Axes) -> None:
    """Put whole numbers on the x axis.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes over a count.
    """
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
