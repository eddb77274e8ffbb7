"""Interpolation between full answers: straight lines are met, and the error that it tells holds also of few points."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import matrix, mp

from planner.site.kriging import Surface

FEATURES = 7


def bent(points: np.ndarray) -> np.ndarray:
    """A smooth function of the features: lines, and a bend along two of them."""
    return points @ np.linspace(-0.3, 0.4, FEATURES) + 0.2 * np.sin(points[:, 0] + points[:, 1])


def test_straight_lines_are_met() -> None:
    rng = np.random.default_rng(1)
    points, others = rng.standard_normal((40, FEATURES)), rng.standard_normal((30, FEATURES))
    line = np.linspace(-1.0, 2.0, FEATURES)
    found, _ = Surface.of(points, 3.0 + points @ line).predict(others)
    assert found == pytest.approx(3.0 + others @ line, abs=0.01)


def test_what_was_solved_is_met() -> None:
    points = np.random.default_rng(2).standard_normal((20, FEATURES))
    found, _ = Surface.of(points, bent(points)).predict(points)
    assert found == pytest.approx(bent(points), abs=0.02)


@pytest.mark.parametrize("many", [12, 30])
def test_the_error_holds_of_few_points(many: int) -> None:
    """Lines through few more points than features leave next to nothing, and say little of what lies between."""
    rng = np.random.default_rng(many)
    off = []
    for _ in range(20):
        points, others = rng.standard_normal((many, FEATURES)), rng.standard_normal((20, FEATURES))
        found, error = Surface.of(points, bent(points)).predict(others)
        off.append(np.abs(found - bent(others)) / error)
    assert np.median(np.concatenate(off)) < 1.5
    assert np.quantile(np.concatenate(off), 0.9) < 4.0


def test_the_error_is_that_of_fifty_digits_beside_known_points_too() -> None:
    """The variance that known points leave, k0 - k' K^-1 k, is a small difference; a new value has its own noise."""
    rng = np.random.default_rng(4)
    points = rng.standard_normal((25, FEATURES))
    others = np.concatenate([points[:4], points[4:8] + 1e-4, rng.standard_normal((4, FEATURES))])
    found = Surface.of(points, bent(points))
    _, error = found.predict(others)
    mp.dps = 50
    known = [(each - found.center) / found.scale for each in points]

    def covariance(x: np.ndarray, y: np.ndarray) -> object:
        apart = sum(mp.mpf(a - b) ** 2 for a, b in zip(x, y, strict=True))
        along = 1 + sum(mp.mpf(a) * mp.mpf(b) for a, b in zip(x, y, strict=True))
        return mp.exp(-apart / (2 * mp.mpf(found.length) ** 2)) + found.slope * along

    kernel = matrix([[covariance(x, y) + (x is y) * mp.mpf(found.nugget) for y in known] for x in known])
    for each, told in zip(others, error, strict=True):
        here = (each - found.center) / found.scale
        beside = matrix([covariance(here, x) for x in known])
        left = covariance(here, here) + found.nugget - (beside.T * mp.lu_solve(kernel, beside))[0]
        assert told == pytest.approx(float(mp.sqrt(found.variance * left)), rel=1e-5)
        assert (error**2 >= found.variance * found.nugget * (1 - 1e-12)).all()
