"""One style for every picture: its layout, colors for the color-blind, and marks that need no color."""

from __future__ import annotations

import colorsys
import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, cycle, pairwise
from typing import TYPE_CHECKING, Any, Final, Literal

from planner.render.text import sentence_case
from planner.units import readable

if TYPE_CHECKING:
    from matplotlib import axes as matplotlib_axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    Axes = matplotlib_axes.Axes

COLORS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
# Of text: contrast 5.
INKS: Final = dict(zip(COLORS, ("#0072b2", "#b34f00", "#00784f", "#a03d78"), strict=True))
MARKERS: Final = (("o", 12), ("s", 6), ("^", 7), ("D", 6))  # a small marker stays visible on a large one
LINES: Final = ("-", "--", ":", "-.")
HATCHES: Final = ("", "///", "...", "xx")
# Contrast 5 or more.
VERDICTS: Final = {"short": "#b3261e", "enough": "#1a7f37", "spare": "#0550ae", "unknown": "#57606a"}
SHADES: Final = ("#e3f0ff", "#9cc9f5", "#ffb482")  # of a need: small, within the aliases, above them
MEASURED: Final = "black"
BAND: Final = 0.25  # opacity of the interval of a model
RANGE: Final = "0.9"  # gray of the strip behind a range of counts
NINETY: Final = "90 %"  # coverage of every band and error bar
ABOVE: Final = 10  # measured points are drawn over everything
WIDTH: Final = 8.0  # inches
LONGEST: Final = 70  # characters of a headline; the rest stands below it, in gray
SOFT: Final = "#57606a"  # contrast of 6 on white
CHARACTERS: Final = 15.0  # per inch, in the smaller type
APART: Final = 11.0  # points between two labels
POINTS: Final = 72.0  # per inch
LEADING: Final = 1.3  # line height, in type sizes


def begin(
    axes: Axes | None,
    headline: str,
    *,
    title: str = "",
    below: str = "",
    panels: int = 1,
    width: float = WIDTH,
    height: float | None = None,
    shared: bool = True,
) -> list[Axes]:
    """Begin a picture, `width` by `height` inches: panels under `title` in bold and `below`, or a headline, in gray."""
    given = bool(title)
    title, more = parted(title or headline)
    more = f"{more} {below or headline}".strip() if given else more
    if axes is not None:
        _numbers(axes)
        axes.set_title(
            textwrap.fill(title, round(0.6 * CHARACTERS * _width(axes))), loc="left", fontweight="bold"
        )
        axes.set_label(headline)
        return [axes]
    if height is None:
        height = 4.6 if panels == 1 else 3.0 * panels
    lines = textwrap.wrap(more, round(CHARACTERS * width))
    large, small = 12.0, 9.0  # points of the headline and of what stands below it
    room = math.ceil(len(lines) * small / large)
    found = _axes(panels, width, height + LEADING * large * room / POINTS, shared=shared)
    whole = figure_of(found[0])
    whole.set_label(headline)
    size = min(large, large * LONGEST * width / WIDTH / max(len(title), 1))
    whole.suptitle(title + "\n" * room, x=0.01, ha="left", fontsize=size, fontweight="bold")
    whole.text(
        0.01, 1.0 - (LEADING * size + 5.0) / POINTS / whole.get_figheight(), "\n".join(lines), va="top", color=SOFT,
        fontsize=small,
    )  # fmt: skip
    return found


def begin_result(axes: Axes | None, headline: str, **options: Any) -> list[Axes]:
    """Begin a picture with a headline of question, colon and result; show the result first."""
    asked, _, result = headline.partition(": ")
    return begin(axes, headline, title=sentence_case(result), below=f"{asked}.", **options)


def parted(headline: str) -> tuple[str, str]:
    """Split a sentence into a part in bold, at most `LONGEST` characters, and the rest."""
    if len(headline) <= LONGEST + 1:
        return headline.removesuffix("."), ""
    for signs in (r"\. (?=[A-Z])", "; ", ": ", ", ", r"(?<=\)) ", r" (?=\()", " "):
        ends = [
            each
            for each in re.finditer(signs, headline)
            if LONGEST / 3 <= each.start() <= LONGEST
            and headline.count("(", 0, each.start()) <= headline.count(")", 0, each.start())
        ]
        if ends:
            at = ends[-1]
            more = headline[at.end() :]
            broken = signs in (" ", r"(?<=\)) ")  # within a clause
            return headline[: at.start()], f"... {more}" if broken else sentence_case(more)
    return f"{headline[: LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}", headline


def _width(axes: Axes) -> float:
    return figure_of(axes).get_figwidth()


def figure_of(axes: Axes) -> Figure:
    """The figure to which axes belong."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def title_of(axes: Axes) -> str:
    """Title of a picture on one line."""
    figure = figure_of(axes)
    return axes.get_label() or figure.get_label() or " ".join(axes.get_title().split())  # type: ignore[return-value]


def new_axes(width: float = 6.4, height: float = 4.4) -> Axes:
    """Empty axes in a new picture, `width` by `height` inches."""
    return _axes(1, width, height)[0]


def _axes(rows: int, width: float, height: float, *, shared: bool = True) -> list[Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    grid = figure.subplots(rows, sharex=shared, squeeze=False)
    for axes in grid[:, 0]:
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color("0.6")
        axes.tick_params(color="0.6", labelcolor="0.2", labelsize="small")
        axes.grid(color="0.92", linewidth=0.7)
        axes.set_axisbelow(True)
        axes.title.set_fontsize("medium")
        _numbers(axes)
    return list(grid[:, 0])


def _numbers(axes: Axes) -> None:
    """Use one number format, unless the axes get dates or names, or the user has chosen another."""
    for axis in (axes.xaxis, axes.yaxis):
        if axis.isDefault_majfmt:
            axis.set_major_formatter(_tick)
            axis.isDefault_majfmt = True


def _tick(value: float, _: object = None) -> str:
    return readable(value, digits=10)


def whole_numbers(axes: Axes, along: Literal["x", "y"] = "x") -> None:
    """Put whole numbers on an axis."""
    from matplotlib.ticker import MaxNLocator

    (axes.xaxis if along == "x" else axes.yaxis).set_major_locator(MaxNLocator(integer=True))


def look(k: int) -> tuple[str, str]:
    """Color and line style of the k-th curve of a picture."""
    return COLORS[k % len(COLORS)], LINES[k % len(LINES)]


def ink(color: str) -> str:
    """Text color that matches one of `COLORS`."""
    return INKS.get(color, color)


def themed(svg: str) -> str:
    """Add dark colors to a picture, for readers who prefer a dark theme."""
    rules = [
        f'[style*="{kind}: {color}"]{{{kind}:{_dark(color)} !important}}'
        for kind, color in sorted(set(re.findall(r"(fill|stroke): (#[0-9a-f]{6})", svg)))
    ]
    ground, paper = _dark("#000000"), _dark("#ffffff")
    style = f"text,svg{{fill:{ground}}}svg{{background:{paper}}}{''.join(rules)}"
    head, end, rest = svg.partition("</metadata>")
    return f"{head}{end}<style>@media (prefers-color-scheme: dark){{{style}}}</style>{rest}" if end else svg


def _dark(color: str) -> str:
    """The color to use on a dark background: same hue, inverted lightness."""
    hue, light, saturation = colorsys.rgb_to_hls(*(int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)))
    light = 0.93 - 0.86 * light  # black text becomes 0.93, a white background 0.07
    light = max(light, 0.58) if saturation > 0.3 else light  # noqa: PLR2004 - below that it counts as gray
    return "#" + "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue, light, saturation))


def shortened(name: str, most: int) -> str:
    """Cut the middle of a name that is too long for an axis."""
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[:half]}\N{HORIZONTAL ELLIPSIS}{name[-half:]}"


def logarithmic(axes: Axes, along: Literal["x", "y"], *, linear_below: float | None = None) -> None:
    """Make an axis logarithmic (linear up to `linear_below`), labeled 1, 2, 5, 10 and so on."""
    from matplotlib.ticker import LogLocator, NullFormatter, SymmetricalLogLocator

    scale = axes.set_xscale if along == "x" else axes.set_yscale
    axis = axes.xaxis if along == "x" else axes.yaxis
    if linear_below is None:
        scale("log")
        few = along == "x" and _width(axes) < 0.75 * WIDTH  # for a narrow screen
        axis.set_major_locator(LogLocator(subs=(1.0,) if few else (1.0, 2.0, 5.0)))
    else:
        scale("symlog", linthresh=linear_below)
        axis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=linear_below, subs=(1.0, 2.0, 5.0)))
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(_tick)


def dated(axes: Axes) -> None:
    """Label an axis with dates and times of day, as briefly as they stay distinct."""
    from matplotlib import dates

    untyped: Any = dates
    locator = untyped.AutoDateLocator(minticks=3, maxticks=round(1.3 * _width(axes)))  # per inch
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(untyped.ConciseDateFormatter(locator))


def doubling(axes: Axes, along: Literal["x", "y"]) -> None:
    """Make an axis logarithmic by powers of two."""
    (axes.set_xscale if along == "x" else axes.set_yscale)("log", base=2)
    (axes.xaxis if along == "x" else axes.yaxis).set_major_formatter(_tick)


def legend_below(axes: Axes, columns: int = 5) -> None:
    """Put the legend of the last panel below it, where it covers nothing."""
    handles, labels = axes.get_legend_handles_labels()
    if not handles:
        return
    figure = figure_of(axes)
    if not figure.get_suptitle():  # the user's own axes
        axes.legend(frameon=False, fontsize="small")
        return
    most = CHARACTERS * _width(axes)
    fits = (n for n in range(min(columns, len(labels)), 0, -1) if _wide(labels, n) <= most)
    fit = next(fits, 1)  # fewer columns in a narrow picture
    figure.legend(handles, labels, loc="outside lower center", ncols=fit, frameon=False, fontsize="small")


def _wide(labels: Sequence[str], columns: int) -> int:
    """Width of a legend in characters, nine for each of its symbols included."""
    rows, longer = divmod(len(labels), columns)  # the first columns have one more row
    ends = accumulate((rows + (k < longer) for k in range(columns)), initial=0)
    return sum(max(map(len, labels[a:b])) + 9 for a, b in pairwise(ends))


def name_lines(axes: Axes, named: Iterable[tuple[float, str, str]]) -> None:
    """Label lines at their right ends, moved apart where they would overlap; call it once the limits are set."""
    figure = figure_of(axes)
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
    for place in reversed(places if over > 0 else []):  # push back labels above the top
        place[0] = min(place[0], 1.0)
    for high, low in pairwise(reversed(places)):
        low[0] = min(low[0], high[0] - gap)
    for height, name, color in places:
        axes.annotate(
            name, (1.0, height), xycoords="axes fraction", xytext=(8, 0), textcoords="offset points",
            color=ink(color), va="center", fontsize="small", annotation_clip=False,
        )  # fmt: skip


def band(
    axes: Axes, x: ArrayLike, low: ArrayLike, high: ArrayLike, color: str, label: str | None = None
) -> None:
    """Fill the area of an interval of a model."""
    axes.fill_between(x, low, high, color=color, alpha=BAND, linewidth=0, label=label)


def answer(axes: Axes, place: Any, within: Iterable[float], label: str | None = None) -> None:
    """Mark an answer: a hollow diamond with its interval (low, value, high), as far as its ends are known."""
    low, value, high = map(float, within)
    ends = [[max(value - low, 0.0)], [high - value if math.isfinite(high) else 0.0]]
    axes.errorbar([place], [value], ends if math.isfinite(low) and math.isfinite(value) else None, fmt="D",
                  color=MEASURED, fillstyle="none", markersize=8, capsize=5, zorder=ABOVE, label=label)  # fmt: skip


def name_point(axes: Axes, name: str, place: tuple[Any, Any], color: str, *, above: bool = True) -> None:
    """Label a point right next to it, readable over lines."""
    axes.annotate(
        name, place, xytext=(7, 5 if above else -5), textcoords="offset points", va="bottom" if above else "top",
        color=ink(color), fontsize="small", zorder=ABOVE + 1,
        bbox={"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 0.5},
    )  # fmt: skip


def stacked(axes: Axes, names: Sequence[str], parts: Mapping[str, Sequence[float]]) -> list[float]:
    """Draw stacked bars, distinguished by color and hatch."""
    heights = [0.0] * len(names)
    looks = zip(parts.items(), cycle(COLORS), cycle(HATCHES), strict=False)
    for (label, values), color, hatch in looks:
        axes.bar(names, values, bottom=heights, color=color, hatch=hatch, edgecolor="white", label=label)
        heights = [low + height for low, height in zip(heights, values, strict=True)]
    axes.set_ylim(0, 1.1 * max(heights, default=0.0) or 1.0)
    return heights
