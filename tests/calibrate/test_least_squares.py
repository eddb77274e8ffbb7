"""The one least-squares problem: logarithms and plain figures, differences on one side and on both, its own error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from planner.calibrate.least_squares import LeastSquares, MeasuredFigure, with_likely_error
from planner.results import Array

FIGURES = (
    MeasuredFigure(run="a", quantity="rate", factor=1.0, value=8.0, half=0.0),
    MeasuredFigure(run="a", quantity="queued", factor=1.0, value=0.0, half=0.3, scale=4.0),
)


@dataclass(frozen=True, kw_only=True)
class Parabola(LeastSquares):
    """The first figure is exp(x), the second x squared."""

    STEP: ClassVar[float] = 1e-3
    CENTRAL: ClassVar[bool] = True
    TOLERANCE: ClassVar[float] = 1e-12

    @property
    def figures(self) -> tuple[MeasuredFigure, ...]:
        return FIGURES

    @property
    def bounds(self) -> tuple[Array, Array]:
        return np.array([0.0]), np.array([9.0])

    def predict(self, points: Array) -> Array:
        return np.concatenate([np.exp(points), points**2], axis=1)

    def beliefs(self, points: Array) -> Array:
        return np.zeros((len(points), 0))


class OneSided(Parabola):
    CENTRAL = False


def test_logarithms_are_compared_in_their_own_error_and_plain_figures_in_that_of_their_scale() -> None:
    problem = Parabola(model_error=0.1)
    assert problem.off(np.array([[3.0]]))[0] == pytest.approx([3 - np.log(8), 9.0])
    assert problem.sigma == pytest.approx([0.1, np.hypot(0.3 / 3**0.5, 0.4)])


@pytest.mark.parametrize(("kind", "ahead"), [(Parabola, 0.0), (OneSided, 1e-3)])
def test_a_slope_is_that_of_the_model(kind: type[Parabola], ahead: float) -> None:
    problem = kind(model_error=0.1)
    here, slope = problem.around(np.array([3.0]))
    assert here == pytest.approx(problem.residuals(np.array([[3.0]]))[0])
    assert slope[:, 0] * problem.sigma == pytest.approx([1.0, 6.0 + ahead], abs=1e-7)


@pytest.mark.parametrize("within", [True, False])
def test_the_minimum_is_where_the_slopes_balance(*, within: bool) -> None:
    problem = Parabola(model_error=0.1)
    x = float(problem.minimum(np.array([2.0]), 100, within=within).x[0])
    one, other = 1 / problem.sigma**2
    assert one * (x - np.log(8)) + other * x**2 * 2 * x == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize(("shrunk", "more"), [(True, 1), (False, 0)])
def test_an_error_without_parameters_is_the_root_mean_square(*, shrunk: bool, more: int) -> None:
    """Of n differences, t maximizes -n ln t - sum / (2 t^2), less ln t where it is shrunk."""
    problem = Parabola()
    off, nothing = np.array([0.3, 1.2]), np.zeros((2, 1))
    problem.__dict__.update(rounding=np.zeros(2), scale=np.ones(2))
    found = problem.likely_error(off, nothing, np.zeros(1), np.ones((1, 1)), shrunk=shrunk)
    assert found == pytest.approx(float(np.sqrt(off @ off / (2 + more))), rel=0.02)


def test_a_fit_is_repeated_until_its_error_is_the_one_it_speaks_for() -> None:
    seen: list[float] = []

    def again(found: float, error: float) -> float:
        seen.append(error)
        return error

    assert with_likely_error(0.02, lambda found: (found, 0.1 + found / 10), again, 9) == pytest.approx(
        0.111, abs=2e-3
    )
    assert len(seen) == 2
    assert with_likely_error(0.02, lambda found: (found, 2 * found), again, 3) == pytest.approx(0.16)
