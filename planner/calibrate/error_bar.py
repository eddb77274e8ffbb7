"""90 % error bars of any prediction of a model, from the possible parameter sets in its file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import ndtri, stdtrit

from planner import library
from planner.calibrate.posterior import points
from planner.devices.kinds import KINDS
from planner.devices.parameters import MODEL_ERROR, POPULATION, THINK_TIME, Figures, Scenario
from planner.errors import InputError, ReportError
from planner.interval import Interval
from planner.quantity import Quantity
from planner.results import Array

PROBABILITY: Final = 0.9
NODES: Final = (np.arange(9) + 0.5) / 9  # equally likely quantiles of the model error
NORMAL: Final = ndtri(NODES)
# Standard deviations; mean and mode of one peak are at most sqrt(3) apart (Johnson, Rogers 1951).
APART: Final = 3.0
ROUNDED: Final = 1e-4  # relative, of numbers written to six digits


def interval(
    figure: str, model: library.Model, scenarios: Sequence[Scenario], given: Mapping[str, float] | None = None
) -> Interval:
    """Bound a figure that follows from a model: the one error bar of every command, notebook and picture.

    Parameters
    ----------
    figure : str
        Key of a figure of the model's kind.
    model : library.Model
        A calibrated model of any kind.
    scenarios : sequence of mapping
        All inputs of the kind, by key, SI.
    given : mapping, optional
        Parameters that differ from those of the model, SI, by key.

    Returns
    -------
    Interval
        The figure for the best parameters and the ends of its 90 % interval, SI, each of shape (scenarios,); the
        upper end is infinite where there is no bound, both are nan where the error is unknown.

    Raises
    ------
    InputError
        The kind has no such figure, or an input is missing.
    ReportError
        The model lacks a parameter.

    Examples
    --------
    >>> from planner.library import read_model
    >>> rate = interval("itr", read_model("processors"), [{"processors": 14.0}])
    >>> bool(rate.low[0] < rate.value[0] < rate.high[0])
    True
    """
    InputError.unless_one_of("figure", figure, sorted({shown.key for shown in KINDS[model.kind].FIGURES}))
    return intervals(model, scenarios, given)[figure]


def intervals(
    model: library.Model, scenarios: Sequence[Scenario], given: Mapping[str, float] | None = None
) -> dict[str, Interval]:
    """Bound every figure of a model's kind as `interval` does, by key."""
    # about 64 parameter sets represent all possible ones
    sets, given = possible(model, 64), dict(given or {})
    best = _ask(model, sets.best, given, scenarios)
    drawn = _ask(model, disturbed(model, {**sets.sets, **given}), {}, scenarios)
    found = {}
    for shown in KINDS[model.kind].FIGURES:
        value = best[shown.key][0]
        low, high = _ends(shown, drawn, model.fit)
        unbounded = _open(model, shown, best, sets, given, scenarios)
        # The estimate is the likeliest set, not the middle one, and belongs inside the interval.
        high = np.where(unbounded, _most(shown, drawn).max(axis=0), np.maximum(high, value))
        found[shown.key] = Interval(np.minimum(low, value), value, high)
    return found


def _ask(
    model: library.Model, values: Mapping[str, Array | float], given: Mapping[str, float],
    scenarios: Sequence[Scenario],
) -> Figures:  # fmt: skip
    """Figures by key, shape (sets, scenarios), for one or several parameter sets."""
    sets = np.broadcast_arrays(*map(np.atleast_1d, {**values, **given}.values()))
    try:
        return KINDS[model.kind].ask(dict(zip({**values, **given}, sets, strict=True)), scenarios)
    except KeyError as error:
        key = error.args[0]
        known = {parameter.key: parameter.file_key for parameter in KINDS[model.kind].PARAMETERS}
        raise ReportError(model.title, f"expected `parameters.{known.get(key, key)}`") from error


def _most(shown: Quantity, drawn: Figures) -> Array:
    """Upper limit of a figure: the one named "<key> most", or its largest value, shape (sets, scenarios)."""
    return drawn.get(f"{shown.key} most", np.full(drawn[shown.key].shape, shown.high))


def _ends(shown: Quantity, drawn: Figures, fit: library.FitQuality) -> tuple[Array, Array]:
    """Central 90 % of the predictions of all parameter sets, convolved with the model error, shape (scenarios,)."""
    values, most = drawn[shown.key], _most(shown, drawn)
    degrees = fit.degrees_of_freedom
    if degrees is not None and degrees < 1:
        return np.zeros(values.shape[-1]), most.max(axis=0)
    if shown.error_of != MODEL_ERROR:
        size, most = drawn[shown.error_of or shown.key], np.tile(most, (NORMAL.size, 1))
        values = convolved(values, model_error_of(fit), size)
    return central(np.clip(values, 0.0, most))


def _open(
    model: library.Model, shown: Quantity, best: Figures, sets: Possible, given: Mapping[str, float],
    scenarios: Sequence[Scenario],
) -> Array:  # fmt: skip
    """Where a figure has no upper bound: undetermined parameter, or devices busy in every run, shape (scenarios,)."""
    found = np.zeros(len(scenarios), dtype=bool)
    if model.fit.saturated and shown.open_above:
        most = model.validity["aliases"][1]
        found |= np.array([float(scenario["aliases"]) > most for scenario in scenarios])
    think = model.parameters.get(THINK_TIME.file_key)
    counted = think is None or think.high is not None or {POPULATION.key, THINK_TIME.key} & {*given}
    if shown.open_above and shown.key != "io_rate" and not counted:
        # With fewer aliases than were measured, requesters that nobody counted wait.
        least, _ = model.validity.get("aliases", (0.0, 0.0))
        found |= np.array([float(scenario["aliases"]) < least for scenario in scenarios])
    settled = {*(model.uncertainty.parameters if model.uncertainty else ())}
    settled |= {key for each in model.alternatives or () for key in each.parameters}
    for parameter in KINDS[model.kind].PARAMETERS:
        entry = model.parameters.get(parameter.file_key)
        if entry is None or parameter.file_key in settled or parameter.key in given:
            continue
        if entry.status != "not determined" or entry.high is not None:
            continue
        further = _ask(model, {**sets.best, parameter.key: parameter.high}, given, scenarios)
        # smallest relative change of a figure that counts
        found |= further[shown.key][0] > best[shown.key][0] * (1 + 1e-3)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Possible:
    """Parameters of a model, SI: the `best` by key, and the possible sets in `sets`, each of shape (sets,)."""

    best: dict[str, float]
    sets: dict[str, Array]


def possible(model: library.Model, count: int) -> Possible:
    """Return the estimates of a model, and about `count` parameter sets that represent all that the data allow.

    Parameters
    ----------
    model : library.Model
        A calibrated model of any kind.
    count : int
        Approximate number of sets.

    Returns
    -------
    Possible
        Only the estimates if the model has no uncertainty.

    Raises
    ------
    ReportError
        The model has a parameter unknown to its kind.
    """
    known = {parameter.file_key: parameter for parameter in KINDS[model.kind].PARAMETERS}
    spoken = [*model.parameters, *(key for each in model.alternatives or () for key in each.parameters)]
    spoken += model.uncertainty.parameters if model.uncertainty else ()
    kind = KINDS[model.kind]
    measured = {each.key for each in (*kind.QUESTIONS, *kind.PARAMETERS, *kind.FIGURES)}
    refuse_unknown(model, "parameter", spoken, list(known))
    refuse_unknown(model, "key of `validity`", model.validity, sorted(measured))
    for key, entry in model.parameters.items():
        if not known[key].holds(entry.value):
            bounds = f"expected {known[key].low:g} to {known[key].high:g}"
            raise ReportError(model.title, f"`parameters.{key}` is {entry.value:g}: {bounds}")
    _check_agrees(model, known)
    best = {known[key].key: entry.value for key, entry in model.parameters.items()}
    if model.population is not None and any(p.key == POPULATION.key for p in known.values()):
        best[POPULATION.key] = float(model.population)
    drawn: dict[str, Array] = {}
    if model.alternatives:
        # not the times: their sums are known
        vague = {
            key for key, each in model.parameters.items() if each.status == "not determined" and not known[key].unit
        }  # fmt: skip
        drawn = _mixture(model.alternatives, known, count, vague)
    elif model.uncertainty:
        free = [known[key] for key in model.uncertainty.parameters]
        drawn = dict(zip([p.key for p in free], bounded(model.uncertainty, free, count).T, strict=True))
    many = len(next(iter(drawn.values()))) if drawn else 1
    return Possible(best=best, sets={key: np.full(many, value) for key, value in best.items()} | drawn)


def disturbed(model: library.Model, values: Mapping[str, Array | float]) -> dict[str, Array]:
    """Parameter sets, with every `model_error` where the kind adds it itself, each of shape (9 x sets,)."""
    rows = dict(zip(values, np.broadcast_arrays(*map(np.atleast_1d, values.values())), strict=True))
    if all(shown.error_of != MODEL_ERROR for shown in KINDS[model.kind].FIGURES):
        return rows
    errors = np.maximum(model_error_of(model.fit) * NORMAL, -0.99)
    repeated = {key: np.tile(row, NORMAL.size) for key, row in rows.items()}
    return {**repeated, MODEL_ERROR: np.repeat(errors, len(next(iter(rows.values()))))}


def refuse_unknown(model: library.Model, what: str, keys: Iterable[str], allowed: Collection[str]) -> None:
    """Refuse a key of a model file that is not among the `allowed` ones of its kind."""
    if unknown := [key for key in keys if key not in allowed]:
        has = f"a model of kind {model.kind} has {', '.join(allowed)}"
        raise ReportError(model.title, f"unknown {what} `{unknown[0]}`; {has}")


def _check_agrees(model: library.Model, known: Mapping[str, Quantity]) -> None:
    """Refuse a parameter far from what the alternatives of its number of requesters, or the uncertainty, say."""
    for each in (model.uncertainty, *(model.alternatives or ())):
        if each is None or getattr(each, "population", model.population) != model.population:
            continue
        table = "uncertainty" if each is model.uncertainty else "alternatives"
        spreads = np.sqrt(np.diag(each.covariance)).tolist()
        for key, center, spread in zip(each.parameters, each.center, spreads, strict=True):
            value = model.parameters[key].value
            nearest = np.clip(center, known[key].low, known[key].high)  # an estimate stops at its bound
            if abs(value - nearest) > APART * spread + ROUNDED * abs(center):
                other = f"`{table}` has {center:g}, standard deviation {spread:g}"
                way = f"change both, or remove `{table}`"
                raise ReportError(model.title, f"`parameters.{key}` is {value:g}, {other}: {way}")


def _mixture(
    alternatives: Sequence[library.Alternative], known: Mapping[str, Quantity], count: int,
    vague: Set[str] = frozenset(),
) -> dict[str, Array]:  # fmt: skip
    """Parameter sets of every number of requesters, in proportion to its probability."""
    free = [known[key] for key in alternatives[0].parameters]
    requesters, sets = [], []
    for each in alternatives:
        many = round(count * each.share)
        if many == 0:
            continue
        sets.append(cut_off(each, free, many, vague) if free else np.empty((many, 0)))
        requesters.append(np.full(len(sets[-1]), float(each.population)))
    if not sets:
        return {}
    columns = dict(zip([p.key for p in free], np.concatenate(sets).T, strict=True))
    return {POPULATION.key: np.concatenate(requesters), **columns}


def _root(covariance: Array) -> Array:
    """Cholesky factor of a covariance; if rounding made it indefinite, a root without the negative eigenvalues."""
    size = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    correlation = covariance / np.outer(size, size) + 1e-9 * np.eye(len(size))
    try:
        return np.asarray(np.linalg.cholesky(correlation) * size[:, None])
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh((correlation + correlation.T) / 2)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)) * size[:, None])


def _bounds(free: Sequence[Quantity]) -> tuple[Array, Array]:
    """Smallest and largest values of parameters, SI, each of shape (free,)."""
    return np.array([each.low for each in free]), np.array([each.high for each in free])


def bounded(uncertainty: library.Uncertainty, free: Sequence[Quantity], count: int) -> Array:
    """Draw from a normal distribution and move draws beyond a bound to the nearest point within, shape (count, free).

    Estimates within bounds scatter in this way: a share of them is at the bound (Chernoff 1954).
    """
    root = _root(np.array(uncertainty.covariance))
    drawn = np.array(uncertainty.center) + points(count, len(free)) @ root.T
    return _nearest(drawn, root @ root.T, *_bounds(free))


def _nearest(drawn: Array, covariance: Array, low: Array, high: Array) -> Array:
    """Nearest points within bounds, in standard deviations (principal pivoting: Murty 1974), shape (sets, free)."""
    found, held = drawn, np.zeros(drawn.shape, dtype=np.int64)  # -1: held at the lower bound, 1: at the upper
    for _ in range(1000):  # about as many as parameters are usual
        bound, both = np.where(held < 0, low, high), (held[:, :, None] * held[:, None]) != 0
        gap = np.where(held, bound - drawn, 0.0)
        force = np.linalg.solve(np.where(both, covariance, np.eye(len(low))), gap[..., None])[..., 0]
        found = np.where(held, bound, drawn + force @ covariance)
        to = np.where(found < low, -1, np.where(found > high, 1, np.where(held * force < 0, held, 0)))
        moved = to != held
        if not moved.any():
            break
        first = moved & (np.cumsum(moved, axis=1) == 1)  # one at a time, so that none cycles
        held = np.where(first, to, held)
    return np.clip(found, low, high)


def cut_off(
    uncertainty: library.Uncertainty, free: Sequence[Quantity], count: int, vague: Set[str] = frozenset()
) -> Array:
    """Draw from a truncated normal distribution, shape (count or fewer, free).

    A `vague` parameter is log-normal, like its prior, with the same mean and covariance.
    """
    order = sorted(range(len(free)), key=lambda k: free[k].file_key not in vague)  # vague ones first
    center = np.array(uncertainty.center)[order]
    covariance = np.array(uncertainty.covariance)[np.ix_(order, order)]
    low, high = _bounds([free[k] for k in order])
    normal = points(4096, len(free)).copy()
    for k, at in enumerate(order):
        if free[at].file_key in vague and center[k] > 0:
            part = np.sqrt(max(covariance[k, k], 1e-300)) / center[k]
            width = np.sqrt(np.log1p(part**2))
            normal[:, k] = np.expm1(width * normal[:, k] - width**2 / 2) / part
    drawn = center + normal @ _root(covariance).T
    inside = drawn[((drawn >= low) & (drawn <= high)).all(axis=-1)][:count]
    found = inside if len(inside) else np.clip(center, low, high)[None]
    return found[:, np.argsort(order)]


def model_error_of(fit: library.FitQuality) -> float:
    """Relative model error, as wide at 90 % as Student's t."""
    degrees = fit.degrees_of_freedom
    return fit.model_error * (1.0 if degrees is None else stretch(degrees))


def convolved(values: Array, model_error: float, size: Array | float = 1.0) -> Array:
    """Add the model error, a share of `size`, to the prediction of every parameter set, (9 x sets, scenarios)."""
    noise = model_error * NORMAL[:, None, None]
    finite = np.where(np.isfinite(size), size, 0.0)
    return np.asarray((values + noise * finite).reshape(-1, values.shape[-1]))


def central(values: Array) -> tuple[Array, Array]:
    """Central 90 % of equally likely values, nan where one of them is, shape (scenarios,)."""
    ends = ((1 - PROBABILITY) / 2, (1 + PROBABILITY) / 2)
    low, high = np.quantile(values, ends, axis=0, method="inverted_cdf")
    return low, high


def stretch(degrees: float) -> float:
    """Ratio of the 90 % intervals of Student's t and the normal distribution."""
    end = (1 + PROBABILITY) / 2
    return float(stdtrit(degrees, end) / ndtri(end))
