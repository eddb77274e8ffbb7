"""Predict one scenario or a grid with a calibrated model; name missing inputs, note extrapolation, draw the result."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np

from planner import library, render, style, units
from planner.answer import Answer
from planner.calibrate.error_bar import intervals, possible
from planner.devices.disk import DiskPath
from planner.devices.kinds import KINDS
from planner.devices.parameters import Scenario
from planner.errors import InputError
from planner.interval import Interval
from planner.library import Model
from planner.quantity import LARGEST_GRID, Quantity, Value, listed, span, vary
from planner.render.text import from_to, sentence_case
from planner.results import Array, Flags, by_key
from planner.units import given, readable

BELOW: Final = "response"  # the second figure, if the kind has it
LEGEND: Final = 8  # most lines that are labeled at their ends


def keys_of(kind: str) -> dict[str, Quantity]:
    """Keys that can be set for a kind of device."""
    InputError.unless_one_of("kind of the model", kind, KINDS)
    asked, fitted = KINDS[kind].QUESTIONS, KINDS[kind].PARAMETERS
    return {each.key: each for each in (*asked, *fitted, *asked)}  # where both have a key, the question's


def parse_setting(text: str, kind: str = "volume") -> tuple[str, Value]:
    """Read one setting, such as ``aliases=2`` or ``think_time=0.2ms``.

    Parameters
    ----------
    text : str
        Key and value; a time has its unit, a count is bare.
    kind : str, optional
        Kind of device.

    Returns
    -------
    tuple
        Key and SI value.

    Raises
    ------
    InputError
        Unknown key or invalid value.

    Examples
    --------
    >>> parse_setting("think_time=0.2ms")
    ('think_time', 0.0002)
    """
    key, sign, value = text.partition("=")
    what = _known(key, kind)
    if not sign:
        raise InputError("settings", text, f"KEY=VALUE such as {KINDS[kind].QUESTIONS[0].example}")
    return key, what.read(value)


def parse_range(text: str, kind: str = "volume") -> tuple[str, tuple[Value, ...]]:
    """Read one range, such as ``aliases=0:24``, ``think_time=0.1ms:1ms:0.1ms`` or ``mode=off:cached``.

    Parameters
    ----------
    text : str
        Key, first and last value, step (1 by default for counts); for words, all of them.
    kind : str, optional
        Kind of device.

    Returns
    -------
    tuple
        Key and SI values, both ends included.

    Raises
    ------
    InputError
        Unknown key, invalid range, or too many values.

    Examples
    --------
    >>> parse_range("aliases=0:3")
    ('aliases', (0.0, 1.0, 2.0, 3.0))
    """
    key, sign, value = text.partition("=")
    what = _known(key, kind)
    if what.words and sign:
        return key, tuple(map(what.read, value.split(":")))
    example = f"{key}=1:24 or {key}=1:24:4" if what.whole else f"{key}={what.span}"
    step = Quantity(key, "step", what.unit, whole=what.whole)
    expected = f"KEY=first:last:step, as {example}"
    return key, span(text, what.read, step.read, whole=what.whole, expected=expected, example=example)


def _known(key: str, kind: str) -> Quantity:
    known = keys_of(kind)
    if key not in known:
        raise InputError("key", key, f"one of {listed(known)}")
    return known[key]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prediction(Answer):
    """Predictions of a model.

    * `title` and `kind`: those of the model.
    * `keys`: varied quantities.
    * `known`: varied and set quantities, by key.
    * `settings`: all inputs, SI, one mapping per row.
    * `values`: figures with 90 % intervals by key, SI, each (rows,); inf where unbounded above, nan where unknown.
    * `warnings`: extrapolations.
    * `model`: the model, for the picture of a single scenario.
    """

    title: str
    kind: str
    keys: tuple[str, ...]
    known: Mapping[str, Quantity]
    settings: tuple[Scenario, ...]
    values: Mapping[str, Interval]
    warnings: tuple[str, ...]
    model: Model

    @property
    def figures(self) -> tuple[Quantity, ...]:
        """Figures of the kind."""
        return KINDS[self.kind].FIGURES

    @property
    def headline(self) -> str:
        """First figure of a single scenario; extremes and varied keys of a grid."""
        shown = self.figures[0]
        per = f" {shown.unit}".replace(" 1/s", "/s") if shown.unit else ""
        within = self.values[shown.key] / shown.factor
        if self.keys:
            return f"{self.title}: {self._extremes(within.value, per)}over {', '.join(self.keys)}."
        low, value, high = map(float, within[0])
        least, best, most = map(readable, (low, value, high))
        unbounded = math.isinf(high) and math.isfinite(value)
        ends = f"at least {least}" if unbounded else f"{least} to {most}"
        sure = "" if math.isclose(low, high) else f" ({ends}, 90 %)"
        return f"{self.title}: {shown.label} {best}{per}{sure}."

    def _extremes(self, values: Array, per: str) -> str:
        """Number of scenarios, smallest and largest value of the first figure."""
        scenarios = render.counted(len(self.settings), "scenario")
        known = values[np.isfinite(values)]
        if not known.size:
            return f"{scenarios} "
        ends = from_to(readable(float(known.min())), readable(float(known.max())))
        return f"{self.figures[0].label} {ends}{per} in {scenarios} "

    @property
    def notes(self) -> tuple[str, ...]:
        """Meaning of the columns, and extrapolations."""
        notes = ["+/- is half of the 90 % interval.", *self.model.fit.cautions]
        within = self.values.values()
        if any(_passes(self.values[shown.key], shown.high).any() for shown in self.figures):
            notes[0] = (
                "+/- is half of the 90 % interval, or both its ends where half would pass what is possible."
            )
        if any((np.isposinf(each.high) & np.isfinite(each.value)).any() for each in within):
            notes.append('"or more": the measurements give no upper end; --json has the lower one.')
        if any(np.isposinf(each.value).any() for each in within):
            notes.append(f'"saturated": more is asked for than the {self.figures[0].label} that are carried.')
        return (*notes, *(f"{sentence_case(warning)}." for warning in self.warnings))

    def table(self) -> render.Table:
        """All numbers with the ends of their intervals; an unbounded end is infinite."""
        columns = self._settings()
        for shown in self.figures:
            low, best, high = (end / shown.factor for end in self.values[shown.key])
            for end, values in (("", best), ("_low", low), ("_high", high)):
                if not end or not np.isnan(values).all():
                    known = [None if math.isnan(value) else value for value in values.tolist()]
                    columns.append(render.Column(name=shown.key + end, unit=shown.unit, values=known,
                                                 label=shown.label + end.replace("_", " ")))  # fmt: skip
        return render.Table(columns=tuple(columns))

    def sections(self) -> tuple[render.Section, ...]:
        """Each number with +/- half of its interval, both ends where half passes a bound, "or more" if unbounded."""
        columns = self._settings()
        for shown in self.figures:
            within = self.values[shown.key] / shown.factor
            columns.append(render.Column(name=shown.key, unit=shown.unit, values=within.value.tolist(),
                                         label=shown.label, decimals=shown.decimals))  # fmt: skip
            if np.isnan(within.low).all():
                continue
            rows = zip(*within, _passes(within, shown.high / shown.factor), strict=True)
            texts = [_half(low, best, high, out, shown.decimals) for low, best, high, out in rows]
            width = max(map(len, texts))
            texts, label = [text.rjust(width) for text in texts], "+/-".rjust(width)
            columns.append(render.Column(name=f"{shown.key}_half", unit="", values=texts, label=label))
        return (render.Section(table=render.Table(columns=tuple(columns))),)

    def _settings(self) -> list[render.Column]:
        """Columns of the varied or set quantities."""
        return [
            render.Column(name=key, unit=unit, values=[what.plain(each[key], factor) for each in self.settings],
                          digits=units.EXACT)
            for key, what in self.known.items()
            for unit, factor in [units.shown(what.unit)]
        ]  # fmt: skip

    def plain_figures(self) -> dict[str, Any]:
        """The single row as plain data, or all `rows`; an unbounded end is None."""
        records = self.table().records()
        return {"rows": records} if self.keys else records[0]

    def plot(self, axes: style.Axes | None = None, figure: str | None = None) -> style.Axes:
        """Draw figures with their bands over the first varied key, one line for each value of the others."""
        return _draw(self, axes, figure)

    def around(self) -> Prediction | None:
        """Predict over the first number that was set, or the first input of the kind; None if there is none."""
        numbers = {question.key: question for question in KINDS[self.kind].QUESTIONS if not question.words}
        asked = dict(self.settings[0])
        for key in dict.fromkeys((*(key for key in self.known if key in numbers), *numbers)):
            values = _around(numbers[key], float(asked[key]), self.model.validity.get(key))
            if values and not _closed_key({key, *self.known}):
                rest = {other: asked[other] for other in self.known if other != key}
                return predict(self.model, rest, {key: values})
        return None

    def scale(self, key: str) -> float:
        """SI units in the unit in which people see a setting."""
        what = self.known.get(key) or keys_of(self.kind)[key]
        return 1.0 if what.whole else units.shown(what.unit)[1]

    def worded(self, column: render.Column, place: int) -> str:
        """One value of a column of settings, as text."""
        value, unit = column.values[place], column.unit if column.unit != "share" else ""
        name = column.name.replace("_", " ")
        return f"{name} {value if isinstance(value, str) else given(value)} {unit}".rstrip()


def predict(
    model: Model | Path | str,
    settings: Mapping[str, Value] | None = None,
    over: Mapping[str, Sequence[Value]] | None = None,
) -> Prediction:
    """Predict with a calibrated model of any kind.

    Parameters
    ----------
    model : Model, Path or str
        The model, its file, or the name of a shipped one.
    settings : mapping, optional
        Values by key, SI: inputs of the kind, and any parameter to change from the model's.
    over : mapping, optional
        Values by key to vary; every combination is predicted.

    Returns
    -------
    Prediction
        One row per combination.

    Raises
    ------
    InputError
        A required value is missing, a key is both set and varied, a value is not allowed, or a key or model is unknown.
    ReportError
        The model cannot be read, or lacks a parameter.
    ConvergenceError
        A pool could not be solved.

    Examples
    --------
    >>> round(float(predict("processors", {"processors": 14.0}).values["itr"].value[0]))
    634
    """
    model = model if isinstance(model, Model) else library.read_model(model)
    for name, each in (("settings", settings), ("over", over)):
        if not isinstance(each, Mapping | None):
            raise InputError(name, each, f"values by key, such as {{'{next(iter(keys_of(model.kind)))}': 8}}")
    known, settings = keys_of(model.kind), dict(settings or {})
    varied: dict[str, Any] = dict(over or {})
    over = {
        key: [] if isinstance(each, str) or not np.iterable(each) else list(each)
        for key, each in varied.items()
    }
    for key, values in over.items():
        if not values:
            raise InputError("over", {key: varied[key]}, "a list of one value or more for each key")
    for key in (*settings, *over):
        if key not in known:
            raise InputError("key", key, f"one of {listed(known)}")
    vary(zip(over, over, strict=True), settings)
    settings = {key: known[key].taken(value) for key, value in settings.items()}
    over = {key: [known[key].taken(value) for value in values] for key, values in over.items()}
    if closed := _closed_key({*settings, *over}):
        raise InputError(
            closed, "with arrival_rate", "one of them: random arrivals, or a fixed number of requests"
        )
    if math.prod(len(values) for values in over.values()) > LARGEST_GRID:
        raise InputError("over", "the grid", f"at most {LARGEST_GRID} scenarios")
    base = _completed(model, {**settings}, over)
    asked = [base | dict(zip(over, values, strict=True)) for values in product(*over.values())]
    return Prediction(
        title=model.title,
        kind=model.kind,
        keys=tuple(over),
        known={key: known[key] for key in dict.fromkeys((*over, *settings))},
        settings=tuple(asked),
        values=_values(model, asked),
        warnings=_warnings(model, asked),
        model=model,
    )


def _closed_key(keys: Collection[str]) -> str | None:
    """Key of a closed load (`outstanding` or `think_time`) given together with `arrival_rate`, or None."""
    closed = [key for key in ("outstanding", "think_time") if key in keys]
    return closed[0] if closed and "arrival_rate" in keys else None


def _completed(model: Model, base: dict[str, Value], over: Mapping[str, Sequence[Value]]) -> dict[str, Value]:
    """Fill in missing inputs: defaults, the model's parameters, or the measured value if there was only one."""
    best = possible(model, 1).best
    for question in KINDS[model.kind].QUESTIONS:
        if question.key in {*base, *over}:
            continue
        low, high = model.validity.get(question.key, (math.nan, math.nan))
        if question.default is not None:
            base[question.key] = question.default
        elif question.key in best:
            base[question.key] = best[question.key]
        elif low == high:
            base[question.key] = f"{low:g}" if question.words else low
        else:
            raise InputError(question.key, None, _wanted(question, low, high))
    return base


def _wanted(question: Quantity, low: float, high: float) -> str:
    what = " or ".join(question.words) if question.words else "a count" if question.whole else "a value"
    measured = "" if math.isnan(low) else f": the model was measured with {low:g} to {high:g} {question.key}"
    return f"{what}, such as `settings` {question.example}{measured}"


def _values(model: Model, asked: Sequence[Scenario]) -> dict[str, Interval]:
    """All figures, each of shape (scenarios,); scenarios with equal parameters are solved together."""
    questions = {question.key for question in KINDS[model.kind].QUESTIONS}
    own = ({key: value for key, value in each.items() if key not in questions} for each in asked)
    groups = by_key((tuple(numbers.items()), k) for k, numbers in enumerate(own))
    found = {
        shown.key: Interval(*(np.full(len(asked), np.nan) for _ in range(3)))
        for shown in KINDS[model.kind].FIGURES
    }
    for parameters, places in groups.items():
        numbers = {key: float(value) for key, value in parameters}
        for key, within in intervals(model, [asked[k] for k in places], numbers).items():
            for whole, part in zip(found[key], within, strict=True):
                whole[places] = part
    return found


def _warnings(model: Model, asked: Sequence[Scenario]) -> tuple[str, ...]:
    found = []
    what = "the answer is" if len(asked) == 1 else "a row there is"
    for key, (low, high) in model.validity.items():
        values = [float(each[key]) for each in asked if key in each]
        span = from_to(given(low), given(high))
        if values and (min(values) < low or max(values) > high):
            found.append(f"{key} outside of what was measured ({span}): {what} an extrapolation")
        elif key == "population" and not values and low < high:
            found.append(f"the runs had {span} requesters a volume; the answer is for {model.population}")
    return (*found, *(_over_channel(model, asked) if KINDS[model.kind] is DiskPath else ()))


def _over_channel(model: Model, asked: Sequence[Scenario]) -> list[str]:
    """Warn of scenarios with one requester, answered as measured, that move more than the channel carries."""
    path = DiskPath.from_values({**possible(model, 1).best})
    bounds: list[float] = []
    for mode in path.modes:
        alone = [each for each in asked if each["mode"] == mode and int(each["requesters"]) == 1]
        if not alone:
            continue
        at = path.solve(mode, [float(each["hit_ratio"]) for each in alone])
        bounds += at.channel_bound[at.rate > at.channel_bound].tolist()
    if not bounds:
        return []
    carried = from_to(readable(min(bounds)), readable(max(bounds)))
    return [
        f"one requester is answered as measured, above the channel's {carried}/s: its misses cannot have come from the "
        "disk; `planner disk rate`, and several requesters, observe the limit of the channel"
    ]


def _passes(within: Interval, most: float) -> Flags:
    """Where half of a bounded interval, added or subtracted, would pass `most` or zero."""
    low, value, high = (np.asarray(end) for end in within)
    half = np.subtract(high, low, where=np.isfinite(low) & np.isfinite(high), out=np.zeros(low.shape)) / 2
    return np.asarray((half > 0) & ((value + half > most) | (value < half)))


def _half(low: float, best: float, high: float, passes: bool, decimals: int | None) -> str:
    if np.isposinf(high) and np.isfinite(best):
        return "or more"
    if passes:
        first, _, last = units.ends((low, best, high), decimals)
        return from_to(first, last)
    half = (high - low) / 2 if np.isfinite(high) and np.isfinite(low) else None
    return render.format_value(half, units.rounded(best or half or 0.0, decimals)[1])


def _around(question: Quantity, value: float, measured: tuple[float, float] | None) -> list[Value]:
    """Values for a curve: from the smallest to a little above the largest of the given and the measured values."""
    low, high = measured or (value, value)
    if not (value > 0 or high > 0):
        return []
    if question.unit == "share" and question.high == 1.0:
        low, high = 0.0, 1.0
    else:
        low = min(low, value) if question.whole else min(low, 0.5 * value)
        high = min(1.25 * max(high, value), question.high)  # a little above both
    if question.whole:
        low, high = max(question.low, math.floor(low)), math.ceil(high)
        # at most ten counts, since a pool takes time
        steps = {round(each) for each in np.linspace(low, high, 9)}
        return [float(each) for each in sorted(steps | {int(value)})]
    return [float(each) for each in np.linspace(low, high, 25)]  # not a count


def _draw(found: Prediction, axes: style.Axes | None, figure: str | None = None) -> style.Axes:
    """Draw a grid over its first varied key; a single scenario on a curve through it."""
    around = None if found.keys else found.around()
    shown = around or found
    first, *more = found.figures
    figures = [each for each in found.figures if each.key == figure]
    figures = figures or [first, *(each for each in more if each.key == BELOW)]
    result = found.headline.removeprefix(f"{found.title}: ").removesuffix(".")
    panels = style.begin(axes, found.headline, title=result, below=f"{found.title}.", panels=len(figures))
    for panel, each in zip(panels, figures, strict=False):  # the user's axes have one panel
        _panel(shown, each, panel)
        if not found.keys:
            _mark(found, shown, each, panel)
    column = shown.table().columns[0]
    unit = f" [{column.shown_unit}]" if column.shown_unit else ""
    panels[-1].set_xlabel(f"{column.name.replace('_', ' ')}{unit}")
    style.legend_below(panels[-1])
    return panels[0]


def _panel(found: Prediction, shown: Quantity, axes: style.Axes) -> None:
    """Draw one figure with its band, one line for each value of the other varied keys."""
    first, *others = found.keys or found.known
    columns = {column.name: column for column in found.table().columns}
    lines = by_key((tuple(each[key] for key in others), k) for k, each in enumerate(found.settings))
    x = columns[first].values
    low, best, high = (np.asarray(end) / shown.factor for end in found.values[shown.key])
    finite = np.concatenate([part[np.isfinite(part)] for part in (best, high)])
    top = 1.1 * float(finite.max(initial=0.0)) or 1.0
    words = any(isinstance(value, str) for value in x)
    named = []
    for k, places in enumerate(lines.values()):
        (color, line), (marker, _) = style.look(k), style.MARKERS[k % len(style.MARKERS)]
        label = ", ".join(found.worded(columns[key], places[0]) for key in others)
        at = [x[place] for place in places]
        ends = np.nan_to_num(low[places], nan=0.0), np.clip(high[places], None, 2 * top)
        band = None if k else style.NINETY
        if words:
            off = np.maximum(0.0, [best[places] - ends[0], ends[1] - best[places]])
            axes.errorbar(at, best[places], off, fmt=marker, color=color, capsize=5, label=label or band)
            continue
        axes.plot(at, best[places], line, marker=marker, color=color, markersize=3.5, linewidth=1.2,
                  label=None if label and len(lines) <= LEGEND else label or "model")  # fmt: skip
        style.band(axes, at, *ends, color, band)
        if label:
            named.append((float(best[places[-1]]), label, color))
    axes.set(ylabel=f"{shown.label} [{shown.unit}]" if shown.unit else shown.label, ylim=(0, top))
    if not words:
        if found.known[first].whole:
            style.whole_numbers(axes)
        _measured_range(found, first, x, axes)
    if len(lines) <= LEGEND and all(math.isfinite(end) for end, _, _ in named):
        style.name_lines(axes, named)


def _measured_range(found: Prediction, key: str, x: Sequence[Any], axes: style.Axes) -> None:
    """Draw a gray strip over the measured range, if the picture goes outside it."""
    if key not in found.model.validity:
        return
    factor = found.scale(key)
    low, high = (end / factor for end in found.model.validity[key])
    if low > min(x) or high < max(x):
        inside = max(low, min(x)), min(high, max(x))
        if inside[0] < inside[1]:
            axes.axvspan(*inside, color=style.RANGE, zorder=0, label="measured range")


def _mark(found: Prediction, around: Prediction, shown: Quantity, axes: style.Axes) -> None:
    """Mark the given scenario with its interval."""
    first, *_ = around.keys or around.known
    within = found.values[shown.key][0] / shown.factor
    value = found.settings[0][first]
    place = value if isinstance(value, str) else float(value) / found.scale(first)
    known = math.isfinite(within.low) and math.isfinite(within.value)
    style.answer(axes, place, within, f"asked for, {style.NINETY}" if known else "asked for")
