"""What is not exactly known of a system, and what it leaves open of each figure: 90 % intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner import library
from planner.calibrate.error_bar import stretch
from planner.results import Array
from planner.system.description import BROUGHT, PER_PAGE, Entry, System

NINETY: Final = 1.6448536269514722  # standard deviations of a normal distribution to that end
LAW: Final = "system-xiv-serialized"  # whose error is that of the coupled law
COST_FACTOR: Final = (
    3.0  # processor times of a mode that was not measured: none at all, up to so many times the known
)

Place = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """One thing that is not known: what the ends of its 90 % add to numbers, or (`cost`) to the cost factor."""

    name: str
    low: Mapping[Place, float]
    high: Mapping[Place, float]
    cost: tuple[float, float] | None = None


def directions(system: System, *, outside: bool) -> list[Direction]:
    """Everything that is not exactly known, along the principal axes of each model; shared models move together."""
    found = [
        _rounding(entry, key) for entry in system.entries for key in entry.halves if entry.halves[key] > 0
    ]
    for name, model in system.models.items():
        found += _axes(system, name, model)
    entry = system.one("processors")
    if entry is not None and "guaranteed" in entry.numbers:
        place = ("processors", "", "usable")
        short = entry.numbers["guaranteed"] - entry.numbers["count"]
        found.append(Direction(name="processors.guaranteed", low={place: min(short, 0.0)}, high={place: 0.0}))
    if outside:
        found.append(Direction(name="processor time of this mode", low={}, high={}, cost=(COST_FACTOR, 0.0)))
    return found


def _rounding(entry: Entry, key: str) -> Direction:
    value, half = entry.numbers[key], entry.halves[key]
    place = (entry.table, entry.name, key)
    share = key in {"instantiated", "miss_ratio", "reads", "cache_hit"}
    low, high = max(value - half, value * 0.01), min(value + half, 1.0) if share else value + half
    return Direction(name=f"{entry.label}.{key}", low={place: low - value}, high={place: high - value})


def _axes(system: System, name: str, model: library.Model) -> list[Direction]:
    """Principal axes of the parameters that the system takes from a model."""
    users: dict[str, list[Place]] = {}
    for entry in system.entries:
        for key, parameter in BROUGHT.get(entry.table, {}).get(model.kind, {}).items():
            if entry.origin.get(key) == name:
                users.setdefault(parameter, []).append((entry.table, entry.name, key))
        if model.kind == "paging" and entry.origin.get("cp_system") == name and entry.table == "paging":
            users.setdefault(PER_PAGE, []).append((entry.table, entry.name, "cp_system"))
    parameters, root, logs = _root(model)
    found = []
    for column in range(root.shape[-1]):
        low: dict[Place, float] = {}
        high: dict[Place, float] = {}
        for row, parameter in enumerate(parameters):
            step = NINETY * root[row, column]
            for table, entry_name, key in users.get(parameter, []):
                numbers = system.named(table, entry_name).numbers
                value, scale = numbers[key], numbers["pages_per_transfer"] if parameter == PER_PAGE else 1.0
                ends = [
                    value * float(np.exp(sign * step)) if logs else value + sign * step * scale
                    for sign in (-1, 1)
                ]
                low[table, entry_name, key] = max(ends[0], value * 0.01) - value
                high[table, entry_name, key] = max(ends[1], value * 0.01) - value
        if any(low.values()):
            found.append(Direction(name=f"model {name}", low=low, high=high))
    return found


def _root(model: library.Model) -> tuple[Sequence[str], Array, bool]:
    """Parameters, a root of their covariance, and whether it is of their logarithms."""
    if model.uncertainty is not None:
        return model.uncertainty.parameters, _square_root(model.uncertainty.covariance), False
    if model.alternatives:
        best = max(model.alternatives, key=lambda each: each.share)
        return best.parameters, _square_root(best.log_covariance), True
    errors = {key: p.standard_error for key, p in model.parameters.items() if p.standard_error}
    return list(errors), np.diag(list(errors.values())), False


def _square_root(covariance: Sequence[Sequence[float]]) -> Array:
    """Columns along the principal axes of the correlations, the longest first."""
    matrix = np.array(covariance)
    size = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    values, vectors = np.linalg.eigh(matrix / np.outer(size, size))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0)) * size[:, None])[:, ::-1])


def law_error(system: System) -> float:
    """Relative half width of the 90 % interval that the coupled law leaves by itself."""
    errors = []
    if system.of("paging"):
        errors.append(_error(system.models.get(LAW) or library.read_model(LAW)))
    if system.of("volumes"):
        errors.append(NINETY * 0.02)  # of the law of volumes and pools, where no model says more
    errors += [_error(model) for model in system.models.values() if model.kind in {"pool", "volume"}]
    return max(errors, default=0.0)


def _error(model: library.Model) -> float:
    degrees = model.fit.degrees_of_freedom
    return NINETY * model.fit.model_error * (1.0 if degrees is None else stretch(degrees))
