"""One style for every picture: how it begins, colors that the color blind tell apart, marks that need no color."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from itertools import cycle, pairwise
from typing import TYPE_CHECKING, Any, Final, Literal

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
WIDTH: Final = 8.0  # inches
HEIGHT: Final = 4.6
PANEL: Final = 3.0  # inches of each of several panels
CHARACTERS: Final = 12.0  # of a title in an inch
MOST_LINES: Final = 3  # of a title before it is set smaller
TITLE_SIZES: Final = (11.0, 9.0)  # points
APART: Final = 11.0  # points between two labels
MILLION: Final = 1e6
POINTS: Final = 72.0  # in an inch


def begin(
    axes: Axes | None,
    headline: str,
    *,
    panels: int = 1,
    width: float = WIDTH,
    height: float | None = None,
    shared: bool = True,
) -> list[Axes]:
    """Begin a picture: where to draw, with the headline above it.

    Parameters
    ----------
    axes : matplotlib.axes.Axes or None
        Axes of the user, which hold the first panel alone; a picture of its own where None.
    headline : str
        What the picture shows, in a sentence; broken at the width of the picture.
    panels : int, optional
        Panels, one below the other.
    width, height : float, optional
        Size of a picture of its own [inches].
    shared : bool, optional
        Whether the panels have one abscissa.

    Returns
    -------
    list of matplotlib.axes.Axes
        The panels from above; one where axes were given.
    """
    if axes is not None:
        figure = axes.get_figure(root=True)
        width = WIDTH if figure is None else figure.get_figwidth()
        axes.set_title(textwrap.fill(headline, round(0.9 * CHARACTERS * width)))
        axes.title.set_fontsize("medium")
        return [axes]
    if height is None:
        height = HEIGHT if panels == 1 else PANEL * panels
    lines = textwrap.wrap(headline, round(CHARACTERS * width))
    size = TITLE_SIZES[0]
    if len(lines) > MOST_LINES:
        size = TITLE_SIZES[1]
        lines = textwrap.wrap(headline, round(0.95 * CHARACTERS * width * TITLE_SIZES[0] / size))
    found = _axes(panels, width, height + size * max(len(lines) - 1, 0) / POINTS, shared=shared)
    whole = found[0].get_figure(root=True)
    assert whole is not None
    whole.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=size)
    return found


def drawn_by(where: str, answer: object, axes: Axes | None, **options: object) -> Axes:
    """Let the function that an answer names draw it; matplotlib is imported there, and only then.

    Parameters
    ----------
    where : str
        Module and function, with a colon between.
    answer : object
        What is drawn.
    axes : matplotlib.axes.Axes or None
        Where to draw; a picture of its own where None.
    **options : object
        What else the function takes.

    Returns
    -------
    matplotlib.axes.Axes
        The first panel.
    """
    module, _, name = where.partition(":")
    found: Axes = getattr(import_module(module), name)(answer, axes, **options)
    return found


def title_of(axes: Axes) -> str:
    """Title of a picture on one line, wherever it stands.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Its first panel.

    Returns
    -------
    str
        The headline.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    return " ".join((axes.get_title() or figure.get_suptitle()).split())


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


def _axes(rows: int, width: float, height: float, *, shared: bool = True) -> list[Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    grid = figure.subplots(rows, sharex=shared, squeeze=False)
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


def number(value: float) -> str:
    """Number beside a tick: its digits, thousands set apart, millions as M.

    Parameters
    ----------
    value : float
        Where the tick stands.

    Returns
    -------
    str
        As 20,000, 5 M or 0.05.
    """
    return f"{value / MILLION:,.10g} M" if abs(value) >= MILLION else f"{value:,.10g}"


def rounded(value: float, digits: int = 4) -> str:
    """Number in a sentence or beside a point: a few digits, thousands set apart.

    Parameters
    ----------
    value : float
        Any number.
    digits : int, optional
        Significant digits.

    Returns
    -------
    str
        As 31,960 or 0.0513.
    """
    return f"{float(f'{value:.{digits}g}'):,.10g}"


def plain(axes: Axes, along: Literal["x", "y"] = "y") -> None:
    """Write the numbers of an axis in full, without power or offset.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Its axes.
    along : {"x", "y"}, optional
        Which of them.
    """
    (axes.xaxis if along == "x" else axes.yaxis).set_major_formatter(lambda value, _: number(value))


def logarithmic(axes: Axes, along: Literal["x", "y"], *, linear_below: float | None = None) -> None:
    """Make an axis logarithmic, with numbers that people read: 1, 2, 5, 10 and so on.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Its axes.
    along : {"x", "y"}
        Which of them.
    linear_below : float, optional
        Linear from zero up to there, so that a zero has a place.
    """
    from matplotlib.ticker import LogLocator, NullFormatter, SymmetricalLogLocator

    scale = axes.set_xscale if along == "x" else axes.set_yscale
    axis = axes.xaxis if along == "x" else axes.yaxis
    if linear_below is None:
        scale("log")
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    else:
        scale("symlog", linthresh=linear_below)
        axis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=linear_below, subs=(1.0, 2.0, 5.0)))
    axis.set_minor_formatter(NullFormatter())
    plain(axes, along)


def doubling(axes: Axes, along: Literal["x", "y"]) -> None:
    """Make an axis logarithmic by powers of two.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Its axes.
    along : {"x", "y"}
        Which of them.
    """
    (axes.set_xscale if along == "x" else axes.set_yscale)("log", base=2)
    plain(axes, along)


def legend_below(axes: Axes, columns: int = 5) -> None:
    """Put the legend of the last panel below it, where it covers nothing.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        The last panel.
    columns : int, optional
        Entries side by side.
    """
    handles, labels = axes.get_legend_handles_labels()
    if not handles:
        return
    figure = axes.get_figure(root=True)
    assert figure is not None
    if not figure.get_suptitle():  # the user's own axes
        axes.legend(frameon=False, fontsize="small")
        return
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize="small")


def name_lines(axes: Axes, named: Iterable[tuple[float, str, str]]) -> None:
    """Name lines at their right ends, moved apart where they would overlap; call it when the limits are set.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where they are drawn.
    named : iterable of tuple
        Ordinate of the end, name and color of each.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    tall = figure.get_figheight() * POINTS / len(figure.axes) * 0.75
    places: list[list[Any]] = []
    for end, name, color in named:
        shown = axes.transAxes.inverted().transform(axes.transData.transform((axes.get_xlim()[1], end)))[1]
        places.append([float(min(max(shown, 0.0), 1.0)), name, color])
    places.sort(key=lambda place: place[0])
    gap = APART / tall
    for low, high in pairwise(places):
        high[0] = max(high[0], low[0] + gap)
    over = places[-1][0] - 1.0 if places else 0.0
    for place in reversed(places if over > 0 else []):  # push back what left the top
        place[0] = min(place[0], 1.0)
    for high, low in pairwise(reversed(places)):
        low[0] = min(low[0], high[0] - gap)
    for height, name, color in places:
        axes.annotate(
            name, (1.0, height), xycoords="axes fraction", xytext=(4, 0), textcoords="offset points",
            color=color, va="center", fontsize="small", annotation_clip=False,
        )  # fmt: skip


def name_point(axes: Axes, name: str, place: tuple[Any, Any], color: str, *, above: bool = True) -> None:
    """Name a point right beside it, readable over lines.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where it is drawn.
    name : str
        Its name.
    place : tuple
        Where it stands.
    color : str
        Color of the name.
    above : bool, optional
        Whether the name stands above it, or below.
    """
    axes.annotate(
        name, place, xytext=(7, 5 if above else -5), textcoords="offset points", va="bottom" if above else "top",
        color=color, fontsize="small", zorder=ABOVE + 1,
        bbox={"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 0.5},
    )  # fmt: skip


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
    return heights
