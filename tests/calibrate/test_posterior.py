"""Quasi-random points against those of scipy.stats, which is a slow import and hence not used."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, norm, qmc

from planner.calibrate.error_bar import stretch
from planner.calibrate.posterior import EDGE, SEED, _stretched, points


@pytest.mark.parametrize(
    ("count", "width"), [(1, 1), (64, 3), (256, 2), pytest.param(4096, 6, marks=pytest.mark.long), (64, 16)]
)
def test_points_are_those_of_scipy(count: int, width: int) -> None:
    cube = qmc.Halton(width, scramble=True, rng=SEED).random(count)
    assert points(count, width) == pytest.approx(norm.ppf(np.clip(cube, EDGE, 1 - EDGE)), rel=1e-12)


def test_stretched_points_are_students() -> None:
    found = points(128, 3)
    assert _stretched(128, 2, 4.5)[1] == pytest.approx(
        np.sqrt(4.5 / chi2.ppf(norm.cdf(found[:, -1]), 4.5)), rel=1e-10
    )


def test_stretch_of_many_degrees_is_none() -> None:
    assert stretch(1e9) == pytest.approx(1.0, abs=1e-8)
    assert stretch(2.0) == pytest.approx(
        2.9199855803537256 / 1.6448536269514722
    )  # tables of Student's t, 2 degrees
