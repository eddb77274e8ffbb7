"""Interpolation between full answers: straight lines are met, and the error that it tells holds also of few points."""

from __future__ import annotations

import numpy as np
import pytest

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
