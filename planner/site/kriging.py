"""Interpolation of full answers between intervals, with its own error: Gaussian processes, fitted by leaving one out.

Sacks et al. (1989), "Design and analysis of computer experiments", section 3; leaving one out by the formula of Dubrule
(1983), "Cross validation of kriging in a unique neighborhood".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.results import Array

LENGTHS: Final = (0.5, 1.0, 2.0, 4.0, 8.0)  # of standard deviations of the features
NUGGETS: Final = (1e-6, 1e-4, 1e-2, 1e-1)  # of the variance
FEWEST: Final = 4
LEAST_SPREAD: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Surface:
    """Fitted to values at some points: straight lines in the features, and what is left by distance."""

    center: Array
    scale: Array
    points: Array
    trend: Array
    weights: Array
    inverse: Array
    length: float
    variance: float
    nugget: float

    @classmethod
    def of(cls, features: Array, values: Array) -> Surface:
        """Fit, with the length and the noise under which each value is best predicted from the others."""
        center = features.mean(axis=0)
        scale = features.std(axis=0)
        scale = np.where(scale > LEAST_SPREAD, scale, np.inf)
        points = (features - center) / scale
        design = np.column_stack([np.ones(len(points)), points])
        ridge = len(points) ** -2.0 * np.eye(design.shape[1])  # few points make no steep slopes
        ridge[0, 0] = LEAST_SPREAD
        trend = np.linalg.solve(design.T @ design + ridge, design.T @ values)
        rest = values - design @ trend
        spread = max(float(rest.var()), 1e-12)
        squares = _squares(points, points)
        best: tuple[float, float, float, Array, float] | None = None
        for length in LENGTHS:
            kernel = np.exp(-0.5 * squares / length**2)
            for nugget in NUGGETS:
                inverse = np.asarray(np.linalg.inv(kernel + nugget * np.eye(len(points))), dtype=np.float64)
                diagonal = np.maximum(np.diag(inverse), 1e-12)
                errors = (inverse @ rest) / diagonal
                variance = max(float(np.mean(errors**2 * diagonal)), 1e-10)
                score = float(np.sum(errors**2 * diagonal / variance + np.log(variance / diagonal)))
                if best is None or score < best[0]:
                    best = (score, length, nugget, inverse, variance)
        assert best is not None
        _, length, nugget, inverse, variance = best
        return cls(
            center=center, scale=scale, points=points, trend=trend, weights=inverse @ rest, inverse=inverse,
            length=length, variance=min(variance, 25 * spread), nugget=nugget,
        )  # fmt: skip

    def predict(self, features: Array) -> tuple[Array, Array]:
        """Values and their standard deviations."""
        points = (features - self.center) / self.scale
        kernel = np.exp(-0.5 * _squares(points, self.points) / self.length**2)
        design = np.column_stack([np.ones(len(points)), points])
        left = 1.0 + self.nugget - ((kernel @ self.inverse) * kernel).sum(axis=1)
        return design @ self.trend + kernel @ self.weights, np.sqrt(self.variance * np.maximum(left, 1e-9))


def _squares(first: Array, second: Array) -> Array:
    return np.asarray(
        np.maximum((first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2 * first @ second.T, 0.0)
    )
