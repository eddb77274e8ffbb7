"""The scalability law: special cases, the fit with its errors, the choice between laws, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import InputError
from planner.queueing import fit_usl, usl
from tests.brief import examples

CONCURRENCY = np.array([1.0, 2, 4, 8, 12, 16, 24, 32])


def test_special_cases() -> None:
    n = np.array([1.0, 2, 10, 100])
    assert np.allclose(usl(n, 5.0, 0.0, 0.0), 5 * n)
    assert np.allclose(usl(n, 5.0, 0.1, 0.0), 5 / (0.1 + 0.9 / n))  # Amdahl's law
    assert usl(1, 5.0, 0.3, 0.2) == 5.0


@pytest.mark.long
@given(alpha=st.floats(0.02, 0.6), beta=st.floats(1e-4, 0.05), gamma=st.floats(1e-3, 1e9))
@examples(25)
def test_exact_points_return_their_law(alpha: float, beta: float, gamma: float) -> None:
    fit = fit_usl(CONCURRENCY, usl(CONCURRENCY, gamma, alpha, beta))
    assert fit.law == "usl"
    assert np.isclose(fit.gamma, gamma, rtol=1e-6)
    assert np.isclose(fit.alpha, alpha, rtol=1e-4, atol=1e-6)
    assert np.isclose(fit.beta, beta, rtol=1e-4, atol=1e-7)
    peak = fit.peak_concurrency
    assert fit.peak_throughput >= usl([peak * 0.99, peak * 1.01], fit.gamma, fit.alpha, fit.beta).max()


@pytest.mark.parametrize(("alpha", "law"), [(0.0, "linear"), (0.1, "amdahl")])
def test_simpler_laws_are_recognized(alpha: float, law: str) -> None:
    generator = np.random.default_rng(12)
    noise = 1 + 0.005 * generator.standard_normal(CONCURRENCY.size) * (alpha > 0)
    fit = fit_usl(CONCURRENCY, usl(CONCURRENCY, 100.0, alpha, 0.0) * noise)
    assert fit.law == law
    assert fit.beta == fit.beta_error == 0
    assert np.isinf(fit.peak_concurrency)
    assert np.isinf(fit.peak_throughput) == (law == "linear")
    if law == "amdahl":
        assert np.isclose(fit.peak_throughput, 1000.0, rtol=0.1)
        assert abs(fit.gamma - 100) < 4 * fit.gamma_error
    assert set(fit.leave_one_out) == {"linear", "amdahl", "usl"}


@pytest.mark.long
def test_standard_errors_are_those_of_repeated_experiments() -> None:
    generator = np.random.default_rng(13)
    truth = usl(CONCURRENCY, 100.0, 0.05, 0.002)
    fits = [fit_usl(CONCURRENCY, truth + 5 * generator.standard_normal(truth.size)) for _ in range(25)]
    fits = [fit for fit in fits if fit.law == "usl"]
    assert len(fits) > 18
    for name in ("gamma", "alpha", "beta"):
        spread = np.std([getattr(fit, name) for fit in fits])
        stated = np.nanmedian([getattr(fit, f"{name}_error") for fit in fits])
        assert 0.6 < stated / spread < 1.7


def test_coefficients_never_turn_negative() -> None:
    """Throughput that grows more than in proportion is outside the law: nothing is left but linear scaling."""
    fit = fit_usl([1, 2, 4, 8], [10.0, 21.0, 46.0, 100.0])
    assert fit.law == "linear"
    assert fit.alpha >= 0
    assert fit.beta >= 0
    assert np.allclose(fit.residuals, [10.0, 21.0, 46.0, 100.0] - fit.throughput([1, 2, 4, 8]))


def test_few_points_only_try_what_they_determine() -> None:
    fit = fit_usl([1, 4], [10.0, 40.0])
    assert fit.law == "linear"
    assert set(fit.leave_one_out) == {"linear"}
    assert set(fit_usl([1, 4, 8], [10.0, 30.0, 45.0]).leave_one_out) == {"linear", "amdahl"}


@pytest.mark.parametrize(
    ("n", "throughput", "told"),
    [
        ([1, 2], [1.0], "throughput"),
        ([[1, 2]], [[1.0, 2.0]], "throughput"),
        ([1, 1, 1], [1.0, 1.0, 1.0], "different values"),
        ([1, np.nan], [1.0, 2.0], "n = nan"),
        ([0.5, 2], [1.0, 2.0], "n = 0.5"),
        ([1, 2], [1.0, 0.0], "throughput = 0.0 1/s"),
        ([], [], "n = "),
    ],
)
def test_fit_refuses_bad_input(n: list[float], throughput: list[float], told: str) -> None:
    with pytest.raises(InputError, match=told):
        fit_usl(n, throughput)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((0.0, 1.0, 0.1, 0.1), "n = 0.0"),
        ((1.0, -1.0, 0.1, 0.1), "gamma = -1.0 1/s"),
        ((1.0, 1.0, -0.1, 0.1), "alpha = -0.1"),
        ((1.0, 1.0, 0.1, np.nan), "beta = nan"),
        ((0.1, 1.0, 5.0, 0.0), "n = 0.1"),
    ],
)
def test_law_refuses_bad_input(arguments: tuple[float, ...], told: str) -> None:
    with pytest.raises(InputError, match=told):
        usl(*arguments)


@pytest.mark.parametrize(("alpha", "beta", "end"), [(0.1, 0.0, 32.0), (0.19, 0.01, 18.0), (0.19, 1e-4, 32.0)])
def test_a_law_is_drawn_up_to_twice_its_peak_or_to_32(alpha: float, beta: float, end: float) -> None:
    """The peak is at sqrt((1 - alpha) / beta): 9, or 90, which is too far; without coherency there is none."""
    fit = fit_usl(CONCURRENCY, usl(CONCURRENCY, 100.0, alpha, beta))
    x, y = fit.plot().lines[0].get_data()
    assert x[0] == 1.0 and np.isclose(x[-1], end, rtol=1e-4)
    assert np.allclose(y, usl(x, 100.0, alpha, beta), rtol=1e-4)
