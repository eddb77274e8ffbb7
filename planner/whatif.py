"""Questions to a calibrated volume or pool: one scenario, or a grid of them, with intervals and warnings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from planner import render
from planner.calibrate import Calibrated, Prediction, calibrated
from planner.devices.parameters import INFLATION, REDRIVE_TIME, SERVICE_TIME, THINK_TIME
from planner.errors import InputError
from planner.library import Model
from planner.results import Array
from planner.units import MILLISECOND, parse, parse_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PARAMETERS: Final = (SERVICE_TIME, THINK_TIME, INFLATION, REDRIVE_TIME)
COUNTS: Final = {"aliases": 0, "volumes": 1, "population": 1}  # with the least that each can be
LARGEST_GRID: Final = 10_000
PARTS: Final = (2, 3)  # lo:hi and lo:hi:step
# Name in a result, name in a row, unit, SI units in one of them, label, decimals of a table.
FIGURES: Final = (
    ("io_rate", "io_rate", "1/s", 1.0, "I/O rate", 0),
    ("service_time", "service", "ms", MILLISECOND, "service", 2),
    ("wait_time", "wait", "ms", MILLISECOND, "wait", 2),
    ("response_time", "response", "ms", MILLISECOND, "response", 2),
    ("queued", "queued", "", 1.0, "queued", 2),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a model says, one row a scenario.

    Attributes
    ----------
    title : str
        What the model was calibrated to.
    keys : tuple of str
        What was varied.
    settings : tuple of dict
        Values of what was varied or set, SI, one a row.
    rows : tuple of Prediction
        Each of shape (1,).
    warnings : tuple of str
        Where the question leaves what was measured.
    """

    title: str
    keys: tuple[str, ...]
    settings: tuple[Mapping[str, float], ...]
    rows: tuple[Prediction, ...]
    warnings: tuple[str, ...]

    def table(self) -> render.Table:
        """All numbers with the ends of their intervals, for CSV and JSON.

        Returns
        -------
        render.Table
            One row a scenario.
        """
        columns = self._settings()
        for name, key, unit, factor, label, _ in FIGURES:
            columns.append(
                render.Column(name=key, unit=unit, label=label, values=self._numbers(name, factor))
            )
            for end in ("low", "high"):
                values = [float(getattr(row, end)[name][0]) / factor for row in self.rows]
                columns.append(render.Column(name=f"{key}_{end}", unit=unit, values=values))
        columns.append(render.Column(name="no_alias", unit="share", values=self._numbers("no_alias", 1.0)))
        return render.Table(columns=tuple(columns))

    def shown(self) -> render.Table:
        """The same for people: each number with +/- half of its interval.

        Returns
        -------
        render.Table
            One row a scenario.
        """
        columns = self._settings()
        for name, key, unit, factor, label, decimals in FIGURES:
            half = [float(row.high[name][0] - row.low[name][0]) / 2 / factor for row in self.rows]
            columns.append(render.Column(name=key, unit=unit, label=label, decimals=decimals,
                                         values=self._numbers(name, factor)))  # fmt: skip
            columns.append(
                render.Column(name=f"{key}_half", unit="", label="+/-", decimals=decimals, values=half)
            )
        columns.append(render.Column(name="no_alias", unit="share", label="no alias", decimals=3,
                                     values=self._numbers("no_alias", 1.0)))  # fmt: skip
        return render.Table(columns=tuple(columns))

    def _settings(self) -> list[render.Column]:
        """Columns of what was varied, and of the aliases in any case."""
        found = []
        for key in dict.fromkeys((*self.keys, "aliases")):
            time = key.endswith("_time")
            values = [each[key] / (MILLISECOND if time else 1.0) for each in self.settings]
            whole = key in COUNTS
            found.append(
                render.Column(
                    name=key, unit="ms" if time else "", values=[int(v) for v in values] if whole else values
                )
            )
        return found

    def _numbers(self, name: str, factor: float) -> list[float]:
        return [float(getattr(row, name)[0]) / factor for row in self.rows]

    def text(self) -> str:
        """Table, and what the +/- mean.

        Returns
        -------
        str
            Lines.
        """
        return f"{self.title}\n\n{render.to_text(self.shown())}\n\n+/- is half of the 90 % interval."

    def _repr_html_(self) -> str:
        return f"<p>{self.title}</p>{render.to_html(self.shown())}"

    def to_frame(self) -> Any:
        """Return all numbers as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            One row a scenario, units in the column names.
        """
        return render.to_frame(self.table())

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the I/O rate with its band against what was varied first, one line for each value of the others.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Where to draw; new axes where None.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        if axes is None:
            from matplotlib.figure import Figure

            axes = Figure(figsize=(7, 4), layout="constrained").subplots()
        first, *others = self.keys
        lines: dict[tuple[float, ...], list[int]] = {}
        for k, each in enumerate(self.settings):
            lines.setdefault(tuple(each[key] for key in others), []).append(k)
        factor = MILLISECOND if first.endswith("_time") else 1.0
        for values, places in lines.items():
            x = [self.settings[k][first] / factor for k in places]
            rate = [float(self.rows[k].io_rate[0]) for k in places]
            low, high = (
                [float(getattr(self.rows[k], end)["io_rate"][0]) for k in places] for end in ("low", "high")
            )
            label = ", ".join(_worded(key, value) for key, value in zip(others, values, strict=True))
            (line,) = axes.plot(x, rate, "o-", markersize=3, linewidth=1, label=label or "I/O rate")
            axes.fill_between(x, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
        axes.set(xlabel=f"{first} [ms]" if factor != 1 else first, ylabel="I/O rate [1/s]", title=self.title,
                 ylim=(0, None))  # fmt: skip
        axes.legend(frameon=False)
        return axes


def _worded(key: str, value: float) -> str:
    return f"{key} {value / MILLISECOND:g} ms" if key.endswith("_time") else f"{key} {value:g}"


def parse_setting(text: str) -> tuple[str, float]:
    """Read one setting, such as ``aliases=2`` or ``think_time=0.2ms``.

    Parameters
    ----------
    text : str
        Key and value; a time carries its unit, a count is bare.

    Returns
    -------
    tuple
        Key and SI value.

    Raises
    ------
    InputError
        No such key, or no such value.

    Examples
    --------
    >>> parse_setting("think_time=0.2ms")
    ('think_time', 0.0002)
    """
    key, sign, value = text.partition("=")
    if not sign:
        raise InputError("--set", text, "KEY=VALUE such as aliases=2")
    return key, _value(key, value)


def parse_range(text: str) -> tuple[str, tuple[float, ...]]:
    """Read one range, such as ``aliases=0:24`` or ``think_time=0.1ms:1ms:0.1ms``.

    Parameters
    ----------
    text : str
        Key, first and last value, step; counts step by 1 without it.

    Returns
    -------
    tuple
        Key and SI values, both ends included.

    Raises
    ------
    InputError
        No such key, no such range, or too many values.

    Examples
    --------
    >>> parse_range("aliases=0:3")
    ('aliases', (0.0, 1.0, 2.0, 3.0))
    """
    key, sign, value = text.partition("=")
    parts = value.split(":")
    _known(key)
    example = "think_time=0.1ms:1ms:0.1ms" if key not in COUNTS else f"{key}=1:24 or {key}=1:24:4"
    if not sign or len(parts) not in PARTS or (len(parts) == PARTS[0] and key not in COUNTS):
        raise InputError("--over", text, f"KEY=first:last:step, as {example}")
    low, high = _value(key, parts[0]), _value(key, parts[1])
    step = _value(key, parts[2]) if len(parts) == PARTS[1] else 1.0
    if step <= 0 or high < low:
        raise InputError("--over", text, f"a range that runs upward by a step above zero, as {example}")
    count = math.floor((high - low) / step + 1e-9) + 1
    if count > LARGEST_GRID:
        raise InputError("--over", text, f"at most {LARGEST_GRID} values")
    return key, tuple((low + step * np.arange(count)).tolist())


def _value(key: str, text: str) -> float:
    units = {parameter.key: parameter.unit for parameter in PARAMETERS}
    if key in COUNTS:
        value = parse_count(text, argument=key)
        if not value.is_integer() or value < COUNTS[key]:
            raise InputError(key, text, f"a count of at least {COUNTS[key]}")
        return value
    _known(key)
    return (
        parse(text, "time", argument=key, zero=key != "service_time")
        if units[key]
        else parse_count(text, argument=key)
    )


def _known(key: str) -> None:
    keys = (*COUNTS, *(parameter.key for parameter in PARAMETERS))
    if key not in keys:
        raise InputError("key", key, f"one of {', '.join(keys)}")


def predict(
    model: Model, settings: Mapping[str, float], over: Mapping[str, Sequence[float]] | None = None
) -> Answer:
    """Ask a calibrated volume or pool.

    Parameters
    ----------
    model : Model
        The model.
    settings : mapping
        Values by key, SI: aliases, volumes, population, and any parameter that shall differ from the model's.
    over : mapping, optional
        Values by key of what varies; every combination is asked.

    Returns
    -------
    Answer
        One row a combination.

    Raises
    ------
    InputError
        The aliases or the volumes are not said, something is said twice, or the model is of another kind.
    ConvergenceError
        A pool could not be solved.
    """
    law, over = calibrated(model), dict(over or {})
    twice = [key for key in over if key in settings]
    if twice:
        raise InputError("--over", twice[0], "a key that is not set as well")
    base = dict(settings)
    if "volumes" not in {*base, *over}:
        low, high = model.validity.get("volumes", (1.0, 1.0))
        if low != high:
            raise InputError(
                "volumes", None, f"a count: the model was measured with {low:g} to {high:g} volumes"
            )
        base["volumes"] = low
    if "aliases" not in {*base, *over}:
        raise InputError("aliases", None, "a count, such as aliases=2")
    if math.prod(len(values) for values in over.values()) > LARGEST_GRID:
        raise InputError("--over", "the grid", f"at most {LARGEST_GRID} scenarios")
    asked = [base | dict(zip(over, values, strict=True)) for values in product(*over.values())]
    return Answer(
        title=model.title,
        keys=tuple(over),
        settings=tuple(asked),
        rows=_rows(law, asked),
        warnings=_warnings(model, asked),
    )


def _rows(law: Calibrated, asked: Sequence[Mapping[str, float]]) -> tuple[Prediction, ...]:
    """Ask for all alias counts of otherwise equal scenarios at once."""
    groups: dict[tuple[tuple[str, float], ...], list[int]] = {}
    for k, each in enumerate(asked):
        groups.setdefault(tuple((key, value) for key, value in each.items() if key != "aliases"), []).append(
            k
        )
    found: dict[int, Prediction] = {}
    for setting, places in groups.items():
        values = dict(setting)
        population = values.pop("population", None)
        answer = law.predict(
            [asked[k]["aliases"] for k in places], volumes=int(values.pop("volumes")),
            population=None if population is None else int(population), fixed=values,
        )  # fmt: skip
        found |= {k: _one(answer, place) for place, k in enumerate(places)}
    return tuple(found[k] for k in range(len(asked)))


def _one(answer: Prediction, place: int) -> Prediction:
    """One element of a prediction."""

    def part(values: Array) -> Array:
        return values[place : place + 1]

    return Prediction(
        **{name: part(getattr(answer, name)) for name in answer.quantities()},
        low={name: part(values) for name, values in answer.low.items()},
        high={name: part(values) for name, values in answer.high.items()},
    )


def _warnings(model: Model, asked: Sequence[Mapping[str, float]]) -> tuple[str, ...]:
    found = []
    for key, (low, high) in model.validity.items():
        values = [each[key] for each in asked if key in each]
        if values and (min(values) < low or max(values) > high):
            span = f"{low:g}" if low == high else f"{low:g} to {high:g}"
            found.append(f"{key} beyond what was measured ({span}): the answer is an extrapolation")
    return tuple(found)
