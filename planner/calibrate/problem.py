"""What is fitted to runs of volumes and pools: figures with their errors, what is known, what is believed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from planner.calibrate.law import KEYS, PARAMETERS, differences
from planner.calibrate.observation import Observation
from planner.results import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """Log-normal prior of a parameter.

    Attributes
    ----------
    median : float
        Median; of a time in units of the service time.
    spread : float
        Standard deviation of the logarithm.
    """

    median: float
    spread: float


PRIORS: Final[Mapping[str, Prior]] = {
    "inflation": Prior(median=0.12, spread=1.0),
    "redrive_time": Prior(median=0.05, spread=1.0),
    "think_time": Prior(median=0.12, spread=1.5),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is fitted: runs, what is known, what is believed, and the relative error of the law.

    Attributes
    ----------
    observations : tuple of Observation
        The runs.
    fixed : mapping
        Known parameters by key, SI.
    priors : mapping
        Priors of the others by key.
    model_error : float
        Relative standard deviation of the law.
    """

    observations: tuple[Observation, ...]
    fixed: Mapping[str, float]
    priors: Mapping[str, Prior]
    model_error: float
    free: tuple[int, ...] = field(init=False)
    rounding: Array = field(init=False)
    scale: Array = field(init=False)

    def __post_init__(self) -> None:
        """Work out what every evaluation needs."""
        set_once = object.__setattr__
        set_once(self, "free", tuple(k for k, key in enumerate(KEYS) if key not in self.fixed))
        pairs = [(run, name) for run in self.observations for name in run.figures]
        set_once(self, "rounding", np.array([run.spread(name) for run, name in pairs]))
        set_once(self, "scale", np.array([run.scale(name) for run, name in pairs]))

    @property
    def sigma(self) -> Array:
        """Standard deviation of every figure: rounding and model error, shape (figures,)."""
        return np.hypot(self.rounding, self.model_error * self.scale)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Logarithms between which the free parameters are sought."""
        low = [math.log(PARAMETERS[k].low) for k in self.free]
        return np.array(low), np.array([math.log(PARAMETERS[k].high) for k in self.free])

    def values(self, logs: Array) -> Array:
        """All parameters from the logarithms of the free ones, shape (sets, 4)."""
        found = np.empty((len(logs), len(KEYS)))
        for key, value in self.fixed.items():
            found[:, KEYS.index(key)] = value
        found[:, self.free] = np.exp(np.clip(logs, *self.bounds))
        return found

    def beliefs(self, logs: Array) -> Array:
        """How far the free parameters are from their priors, in standard deviations, shape (sets, priors)."""
        known = {key: np.full(len(logs), math.log(value)) for key, value in self.fixed.items() if value > 0}
        at = known | {KEYS[k]: logs[:, place] for place, k in enumerate(self.free)}
        columns = [
            (at[key] - (0.0 if key == "inflation" else at["service_time"]) - math.log(prior.median)) / prior.spread
            for key, prior in self.priors.items()
            if key not in self.fixed
        ]  # fmt: skip
        return np.stack(columns, axis=-1) if columns else np.empty((len(logs), 0))

    def residuals(self, logs: Array, population: float) -> Array:
        """Figures and priors, each in its standard deviations, shape (sets, figures + priors)."""
        off = differences(self.observations, population, self.values(logs)) / self.sigma
        return np.concatenate([off, self.beliefs(logs)], axis=-1)
