"""Sliders for notebooks: they change a question; its answer is shown in words and as a picture."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from planner.errors import InputError, MissingExtraError, PlannerError
from planner.files import svg
from planner.style import figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from planner.answer import Answer

    Shown = Answer | Axes | str | tuple[str, Axes | None]  # what a question may return

__all__ = ["Panel", "choice", "count", "explore", "number"]

# The picture at the initial values of the sliders.
GHOST: Final[dict[str, Any]] = {"color": "0.75", "markersize": 3, "linewidth": 1.2, "zorder": 0.5}
WIDEST: Final = "760px"
HEADLINE: Final = '<div style="font-weight:bold; max-width:{wide}; line-height:1.4">{text}</div>'
PROBLEM: Final = '<div style="color:#b00020; max-width:{wide}; line-height:1.4">{text}</div>'
BEGAN: Final = ' <small style="font-weight:normal">Gray: where the sliders began.</small>'
STANDING: Final = "<p><small>Sliders move in Jupyter (<code>make notebooks</code>). Here: {text}.</small></p>"
STYLE: Final = {"description_width": "16em"}
LAYOUT: Final = {"width": "36em"}


def _ipywidgets() -> Any:
    try:
        import ipywidgets
    except ImportError as error:
        raise MissingExtraError("ipywidgets", "notebook") from error
    return ipywidgets


def number(label: str, value: float, low: float, high: float, *, step: float, unit: str = "") -> Any:
    """Offer a number.

    Parameters
    ----------
    label : str
        What it is, in words.
    value, low, high : float
        Initial value and ends of the slider, in `unit`.
    step : float
        Step of the slider, in `unit`.
    unit : str, optional
        Printed after the label.

    Returns
    -------
    ipywidgets.FloatSlider
        For `explore`.

    Raises
    ------
    InputError
        The initial value is none of the slider.
    MissingExtraError
        ipywidgets is not installed.
    """
    digits = max(0, -int(Decimal(f"{step:g}").normalize().as_tuple().exponent))
    return _ipywidgets().FloatSlider(readout_format=f".{digits}f",
                                     **_common(label, value, low, high, step, unit))  # fmt: skip


def count(label: str, value: int, low: int, high: int, *, step: int = 1, unit: str = "") -> Any:
    """Offer a whole number.

    Parameters
    ----------
    label : str
        What it is, in words.
    value, low, high : int
        Initial value and ends of the slider, in `unit`.
    step : int, optional
        Step of the slider.
    unit : str, optional
        Printed after the label.

    Returns
    -------
    ipywidgets.IntSlider
        For `explore`.

    Raises
    ------
    InputError
        The initial value is none of the slider.
    MissingExtraError
        ipywidgets is not installed.
    """
    return _ipywidgets().IntSlider(readout_format=",d", **_common(label, value, low, high, step, unit))


def choice(label: str, options: Sequence[str], value: str | None = None) -> Any:
    """Offer words.

    Parameters
    ----------
    label : str
        What is chosen.
    options : sequence of str
        The choices.
    value : str, optional
        Initial choice; the first one where None.

    Returns
    -------
    ipywidgets.Dropdown
        For `explore`.

    Raises
    ------
    MissingExtraError
        ipywidgets is not installed.
    """
    return _ipywidgets().Dropdown(options=list(options), value=options[0] if value is None else value,
                                  description=label, style=STYLE, layout=LAYOUT)  # fmt: skip


def _common(label: str, value: float, low: float, high: float, step: float, unit: str) -> dict[str, Any]:
    """Options of every slider: the question is asked when the slider is released."""
    if not low <= value <= high:  # ipywidgets would move it to the next end without a word
        raise InputError(label, value, f"an initial value from {low} to {high}, the ends of its slider", unit)
    return {
        "value": value, "min": low, "max": high, "step": step, "continuous_update": False, "style": STYLE,
        "layout": LAYOUT, "description": f"{label} [{unit}]" if unit else label,
    }  # fmt: skip


def explore(question: Callable[..., Shown], /, **controls: Any) -> Panel:
    """Answer a question again whenever a slider moves, in one line of words and a picture.

    Parameters
    ----------
    question : callable
        Takes the value of each control by name; returns an answer, axes, words, or words and axes.
    **controls : ipywidgets.Widget
        Widgets from `number`, `count` and `choice`, by the name of the argument.

    Returns
    -------
    Panel
        The controls and the answer, for a notebook to show.

    Raises
    ------
    MissingExtraError
        ipywidgets is not installed.
    """
    return Panel(question, controls)


class Panel:
    """Controls with the answer below them.

    An error of the planner is shown as one red line; the next move asks again.

    Parameters
    ----------
    question : callable
        As `explore` takes it.
    controls : mapping
        Widgets by the name of the argument.

    Attributes
    ----------
    controls : dict
        The widgets.
    box : ipywidgets.VBox
        The interactive widget of a notebook.

    Raises
    ------
    MissingExtraError
        ipywidgets is not installed.
    """

    def __init__(self, question: Callable[..., Shown], controls: Mapping[str, Any]) -> None:
        widgets = _ipywidgets()
        self.controls = dict(controls)
        self._question = question
        self._first: _Start | None = None
        self._said, self._drawn = widgets.HTML(), widgets.Image(format="svg+xml")
        self.box = widgets.VBox([*self.controls.values(), self._said, self._drawn])
        for control in self.controls.values():
            control.observe(lambda change: self._ask(), names="value")
        self._ask()

    @property
    def words(self) -> str:
        """The line below the controls, as HTML."""
        return str(self._said.value)

    @property
    def picture(self) -> bytes:
        """The picture, SVG; empty where there is none."""
        return bytes(self._drawn.value)

    def _ask(self) -> None:
        values = {name: control.value for name, control in self.controls.items()}
        self._said.value, self._drawn.value = self._answered(values)
        self._drawn.layout.display = "" if self.picture else "none"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """MIME bundle for Jupyter; a static page shows the current answer."""
        standing = ", ".join(f"{each.description} {each.value}" for each in self.controls.values())
        page = STANDING.format(text=html.escape(standing)) + self.words
        if self.picture:
            page += f'<img alt="" src="data:image/svg+xml;base64,{base64.b64encode(self.picture).decode()}">'
        shown: dict[str, Any] = self.box._repr_mimebundle_(**kwargs)
        return shown | {"text/html": page}

    def _answered(self, values: Mapping[str, Any]) -> tuple[str, bytes]:
        """Words as HTML and a picture as SVG; an error is one red line without a picture."""
        began = ""
        try:
            words, axes = _words_and_axes(self._question(**values))
            if axes is not None and self._first is not None:
                began = BEGAN if self._first.below(axes) else ""
            elif axes is not None:
                self._first = _Start(axes)
            picture = b"" if axes is None else svg(axes).encode()
        except PlannerError as problem:
            return PROBLEM.format(wide=WIDEST, text=html.escape(" ".join(str(problem).split()))), b""
        return HEADLINE.format(wide=WIDEST, text=html.escape(words) + began), picture


class _Start:
    """The first picture of a panel: size, axis limits and lines."""

    def __init__(self, axes: Axes) -> None:
        figure = figure_of(axes)
        self.size, self.kinds = tuple(figure.get_size_inches()), [_kind(panel) for panel in figure.axes]
        self.limits = [(panel.get_xlim(), panel.get_ylim()) for panel in figure.axes]
        self.lines = [
            [(line.get_xdata(), line.get_ydata(), line.get_linestyle(), line.get_marker()) for line in panel.lines
             if line.get_transform() is panel.transData and line.get_color() != "none"]
            for panel in figure.axes
        ]  # fmt: skip

    def below(self, axes: Axes) -> bool:
        """Draw it in gray below another picture of its kind and widen the axes to hold both."""
        figure = figure_of(axes)
        if [_kind(panel) for panel in figure.axes] != self.kinds:
            return False
        figure.set_size_inches(self.size)
        for panel, lines, (x, y) in zip(figure.axes, self.lines, self.limits, strict=True):
            ends = [_wider(now, then) for now, then in ((panel.get_xlim(), x), (panel.get_ylim(), y))]
            for at, up, line, marker in lines:
                panel.plot(at, up, linestyle=line, marker=marker, **GHOST)
            panel.set(xlim=ends[0], ylim=ends[1])
        return True


def _kind(panel: Axes) -> tuple[object, ...]:
    """What two pictures must share for one to show the lines of both: scales, axis labels, row names."""
    from matplotlib.ticker import FixedLocator

    axes = [axis for axis in (panel.xaxis, panel.yaxis) if isinstance(axis.get_major_locator(), FixedLocator)]
    words = [text.get_text() for axis in axes for text in axis.get_ticklabels()]
    return panel.get_xscale(), panel.get_yscale(), panel.get_xlabel(), panel.get_ylabel(), *words


def _wider(now: tuple[float, float], then: tuple[float, float]) -> tuple[float, float]:
    """Limits that hold both; an inverted axis stays inverted."""
    low, high = min(*now, *then), max(*now, *then)
    return (low, high) if now[0] <= now[1] else (high, low)


def _words_and_axes(shown: Shown) -> tuple[str, Axes | None]:
    from planner.answer import Answer

    if isinstance(shown, str):
        return shown, None
    if isinstance(shown, tuple):
        return shown
    if not isinstance(shown, Answer):
        return "", shown
    if not shown.pictured:
        return shown.headline, None
    axes = shown.plot()
    figure = figure_of(axes)
    if figure.get_label() == shown.headline:  # the line above says it
        figure.suptitle("")
        for text in list(figure.texts):
            text.remove()
    return shown.headline, axes
