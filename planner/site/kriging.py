"""Interpolation of full answers between intervals, with its own error: Gaussian processes, fitted by leaving one out.

Sacks et al. (1989), "Design and analysis of computer experiments", section 3; leaving one out by the formula of Dubrule
(1983), "Cross validation of kriging in a unique neighborhood".
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from scipy.linalg import solve_triangular

from planner.results import Array

LENGTHS: Final = (0.5, 1.0, 2.0, 4.0, 8.0)  # of standard deviations of the features
NUGGETS: Final = (1e-6, 1e-4, 1e-2, 1e-1)  # of the variance
SLOPES: Final = (1.0, 100.0)  # variance of level and slopes, of the variance
FEWEST: Final = 4
LEAST_SPREAD: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Surface:
    """Fitted to values at some points: straight lines in the features, and what is left by distance.

    Level and slopes are random as well: few points leave them open, and the error says so.
    """

    center: Array
    scale: Array
    points: Array
    level: float
    weights: Array
    root: Array  # inverse of the lower triangular root of the kernel
    length: float
    variance: float
    nugget: float
    slope: float

    @classmethod
    def of(cls, features: Array, values: Array) -> Surface:
        """Fit, with the length, the noise and the slopes under which each value is best predicted from the others."""
        center = features.mean(axis=0)
        scale = features.std(axis=0)
        scale = np.where(scale > LEAST_SPREAD, scale, np.inf)
        points = (features - center) / scale
        level = float(values.mean())
        rest = values - level
        squares, lines, one = _squares(points, points), 1.0 + points @ points.T, np.eye(len(points))
        best: tuple[float, float, float, float, Array, Array, float] | None = None
        for length, nugget, slope in product(LENGTHS, NUGGETS, SLOPES):
            kernel = np.exp(-0.5 * squares / length**2) + slope * lines
            # K^-1 = R' R: what is left of a variance beside known points is too small a difference for K^-1 itself.
            root = solve_triangular(np.linalg.cholesky(kernel + nugget * one), one, lower=True)
            weights, diagonal = root.T @ (root @ rest), (root**2).sum(axis=0)
            errors = weights / diagonal
            variance = max(float(np.mean(errors**2 * diagonal)), 1e-10)
            score = float(np.sum(errors**2 * diagonal / variance + np.log(variance / diagonal)))
            if best is None or score < best[0]:
                best = (score, length, nugget, slope, weights, root, variance)
        assert best is not None
        _, length, nugget, slope, weights, root, variance = best
        return cls(
            center=center, scale=scale, points=points, level=level, weights=weights, root=root,
            length=length, variance=variance, nugget=nugget, slope=slope,
        )  # fmt: skip

    def predict(self, features: Array) -> tuple[Array, Array]:
        """Values and their standard deviations, the noise of one value among them."""
        points = (features - self.center) / self.scale
        kernel = np.exp(-0.5 * _squares(points, self.points) / self.length**2)
        kernel += self.slope * (1.0 + points @ self.points.T)
        alone = 1.0 + self.nugget + self.slope * (1.0 + (points**2).sum(axis=1))
        left = alone - ((kernel @ self.root.T) ** 2).sum(axis=1)
        return self.level + kernel @ self.weights, np.sqrt(self.variance * np.maximum(left, self.nugget))


def _squares(first: Array, second: Array) -> Array:
    return np.asarray(
        np.maximum((first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2 * first @ second.T, 0.0)
    )
