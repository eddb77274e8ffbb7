"""The way from a model and settings to an answer: possible parameter sets, the error of the law, open ends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Final

import numpy as np

from planner.calibrate.possible import Possible, central, possible, smeared, stretch
from planner.devices.kinds import KINDS
from planner.devices.question import Figures, Question, Scenario, Shown, Value, listed
from planner.errors import InputError, ReportError
from planner.library import Model
from planner.results import Array
from planner.whatif.answer import Answer
from planner.whatif.settings import LARGEST_GRID, keys_of

SETS: Final = 64  # parameter sets that stand for all that are possible, where a kind names no other number
NOTICED: Final = 1e-3  # relative change of a figure that counts as one


def predict(
    model: Model, settings: Mapping[str, Value], over: Mapping[str, Sequence[Value]] | None = None
) -> Answer:
    """Ask a calibrated model of any kind.

    Parameters
    ----------
    model : Model
        The model.
    settings : mapping
        Values by key, SI: what its kind asks, and any parameter that shall differ from the model's.
    over : mapping, optional
        Values by key of what varies; every combination is asked.

    Returns
    -------
    Answer
        One row a combination.

    Raises
    ------
    InputError
        Something that is needed is not said, something is said twice, or there is no such key.
    ReportError
        The model lacks a parameter.
    ConvergenceError
        A pool could not be solved.
    """
    known, over = keys_of(model.kind), dict(over or {})
    for key in (*settings, *over):
        if key not in known:
            raise InputError("key", key, f"one of {listed(known)}")
    twice = [key for key in over if key in settings]
    if twice:
        raise InputError("--over", twice[0], "a key that is not set as well")
    if math.prod(len(values) for values in over.values()) > LARGEST_GRID:
        raise InputError("--over", "the grid", f"at most {LARGEST_GRID} scenarios")
    sets = possible(model, getattr(KINDS[model.kind], "SETS", SETS))
    base = _completed(model, {**settings}, over, sets)
    asked = [base | dict(zip(over, values, strict=True)) for values in product(*over.values())]
    best, low, high = _figures(model, sets, asked)
    shown = dict.fromkeys((*over, *settings))
    return Answer(
        title=model.title,
        kind=model.kind,
        keys=tuple(over),
        known={key: known[key] for key in shown},
        settings=tuple({key: each[key] for key in each} for each in asked),
        best=best,
        low=low,
        high=high,
        warnings=_warnings(model, asked),
    )


def _completed(
    model: Model, base: dict[str, Value], over: Mapping[str, Sequence[Value]], sets: Possible
) -> dict[str, Value]:
    """Put in what was not set: as measured, or a default."""
    for question in KINDS[model.kind].QUESTIONS:
        if question.key in {*base, *over}:
            continue
        low, high = model.validity.get(question.key, (math.nan, math.nan))
        if question.default is not None:
            base[question.key] = question.default
        elif question.key in sets.best:
            base[question.key] = sets.best[question.key]
        elif low == high:
            base[question.key] = f"{low:g}" if question.words else low
        else:
            raise InputError(question.key, None, _wanted(question, low, high))
    return base


def _wanted(question: Question, low: float, high: float) -> str:
    what = " or ".join(question.words) if question.words else "a count" if question.whole else "a value"
    measured = "" if math.isnan(low) else f": the model was measured with {low:g} to {high:g} {question.key}"
    return f"{what}, such as {question.example}{measured}"


def _figures(
    model: Model, sets: Possible, asked: Sequence[Scenario]
) -> tuple[Figures, dict[str, Array], dict[str, Array]]:
    """Estimates and both ends of the intervals of all figures, each of shape (scenarios,)."""
    kind: Any = KINDS[model.kind]
    questions = {question.key for question in kind.QUESTIONS}
    groups: dict[tuple[tuple[str, Value], ...], list[int]] = {}
    for k, each in enumerate(asked):
        changed = tuple((key, value) for key, value in each.items() if key not in questions)
        groups.setdefault(changed, []).append(k)
    names = [shown.key for shown in kind.FIGURES]
    degrees = model.fit.degrees_of_freedom
    error = model.fit.model_error * (1.0 if degrees is None else stretch(degrees))
    best, low, high = ({name: np.full(len(asked), np.nan) for name in names} for _ in range(3))
    for changed, places in groups.items():
        scenarios = [asked[k] for k in places]
        estimate = _ask(
            model, {key: np.array([value]) for key, value in sets.best.items()}, changed, scenarios
        )
        drawn = _ask(model, sets.sets, changed, scenarios)
        for shown in kind.FIGURES:
            at = estimate[shown.key][0]
            ends = _interval(shown, drawn, error)
            best[shown.key][places] = at
            # The estimate is the likeliest set, not the middle one: an interval that left it out would puzzle.
            low[shown.key][places] = np.minimum(ends[0], at)
            unbounded = _open(model, shown, estimate, sets, changed, scenarios)
            high[shown.key][places] = np.where(unbounded, shown.most, np.maximum(ends[1], at))
    return best, low, high


def _ask(
    model: Model,
    values: Mapping[str, Array],
    changed: Sequence[tuple[str, Value]],
    scenarios: Sequence[Scenario],
) -> Figures:
    many = len(next(iter(values.values())))
    given = {key: np.full(many, float(value)) for key, value in changed}
    try:
        found: Figures = KINDS[model.kind].ask({**values, **given}, scenarios)
    except KeyError as error:
        key = next(
            (p.file_key for p in KINDS[model.kind].PARAMETERS if p.key == error.args[0]), error.args[0]
        )
        raise ReportError(model.title, f"expected `parameters.{key}`") from error
    return found


def _interval(shown: Shown, drawn: Figures, model_error: float) -> tuple[Array, Array]:
    """Central 90 % of what the parameter sets say, each smeared by the error of the law."""
    values = drawn[shown.key]
    size = drawn[shown.error_of or shown.key]
    return central(np.clip(smeared(values, model_error, size), 0.0, shown.most))


def _open(
    model: Model, shown: Shown, estimate: Figures, sets: Possible, changed: Sequence[tuple[str, Value]],
    scenarios: Sequence[Scenario],
) -> Array:  # fmt: skip
    """Where nothing bounds a figure from above.

    That is the case for more devices than were measured where all of them were busy in every run, and where the answer
    depends on a parameter that no run tells and nothing bounds.
    """
    found = np.zeros(len(scenarios), dtype=bool)
    if model.fit.saturated and shown.open_above:
        most = model.validity["aliases"][1]
        found |= np.array([float(scenario["aliases"]) > most for scenario in scenarios])
    spoken = {*(model.uncertainty.parameters if model.uncertainty else ())}
    spoken |= {key for each in model.alternatives or () for key in each.parameters}
    settled = {key for key, _ in changed}
    for parameter in KINDS[model.kind].PARAMETERS:
        entry = model.parameters.get(parameter.file_key)
        if entry is None or parameter.file_key in spoken or parameter.key in settled:
            continue
        if entry.status != "not determined" or entry.high is not None:
            continue
        moved = {
            key: np.array([value]) for key, value in {**sets.best, parameter.key: parameter.high}.items()
        }
        further = _ask(model, moved, changed, scenarios)[shown.key][0]
        found |= further > estimate[shown.key][0] * (1 + NOTICED)
    return found


def _warnings(model: Model, asked: Sequence[Scenario]) -> tuple[str, ...]:
    found = []
    for key, (low, high) in model.validity.items():
        values = [float(each[key]) for each in asked if key in each]
        if values and (min(values) < low or max(values) > high):
            span = f"{low:g}" if low == high else f"{low:g} to {high:g}"
            found.append(f"{key} beyond what was measured ({span}): the answer is an extrapolation")
    return tuple(found)
