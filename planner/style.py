"""One style for every picture: colors that the color blind tell apart, and marks and hatches that need no color."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
MARKERS: Final = (("o", 12), ("s", 6), ("^", 7), ("D", 6))  # a small one stays visible on a large one
LINES: Final = ("-", "--", ":", "-.")
HATCHES: Final = ("", "///", "...", "xx")
MEASURED: Final = "black"
BAND: Final = 0.25  # opacity of the interval of a model
RANGE: Final = "0.9"  # gray of the strip behind a range of counts
NINETY: Final = "90 %"  # what every band and error bar holds, wherever it is drawn
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
    return _axes(1, width, height)[0]


def axes_and_below(width: float = 8.0, height: float = 6.0) -> tuple[Axes, Axes]:
    """Empty axes of a picture of its own, and others of the same abscissa below them.

    Parameters
    ----------
    width, height : float, optional
        Size of both [inches].

    Returns
    -------
    tuple of matplotlib.axes.Axes
        The upper and the lower ones.
    """
    above, below = _axes(2, width, height)
    return above, below


def _axes(rows: int, width: float, height: float) -> list[Axes]:
    from matplotlib.figure import Figure

    grid = Figure(figsize=(width, height), layout="constrained").subplots(rows, sharex=True, squeeze=False)
    for axes in grid[:, 0]:
        axes.spines[["top", "right"]].set_visible(False)
        axes.title.set_fontsize("medium")
    return list(grid[:, 0])


def whole_numbers(axes: Axes, along: Literal["x", "y"] = "x") -> None:
    """Put whole numbers on an axis.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes over a count, or of one.
    along : {"x", "y"}, optional
        Which of them.
    """
    from matplotlib.ticker import MaxNLocator

    (axes.xaxis if along == "x" else axes.yaxis).set_major_locator(MaxNLocator(integer=True))


def stacked(axes: Axes, names: Sequence[str], parts: Mapping[str, Sequence[float]]) -> list[float]:
    """Draw bars whose parts stand on each other, told apart by color and by hatch.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    names : sequence of str
        One a bar.
    parts : mapping
        Label of a part to its height in each bar, from below.

    Returns
    -------
    list of float
        Height of each whole bar.
    """
    heights = [0.0] * len(names)
    looks = zip(parts.items(), cycle(COLORS), cycle(HATCHES), strict=False)
    for (label, values), color, hatch in looks:
        axes.bar(names, values, bottom=heights, color=color, hatch=hatch, edgecolor="white", label=label)
        heights = [low + height for low, height in zip(heights, values, strict=True)]
    axes.margins(y=0.1)
    axes.legend(frameon=False)
    return heights
