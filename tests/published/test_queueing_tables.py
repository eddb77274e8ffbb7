"""The queueing core against tables that were printed elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from planner.queueing import erlang_b, fit_usl

# Collins, Carrier Grade Voice over IP, 2nd edition (2003), appendix A "Table of Erlang B": offered load by channels
# 1 to 9 (rows) and blocking probability (columns), in erlang with one decimal.
BLOCKING = np.array([0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 2.0, 3.0, 4.0, 5.0]) / 100
OFFERED = np.array([
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1],
    [0.0, 0.0, 0.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.4],
    [0.1, 0.2, 0.2, 0.2, 0.3, 0.3, 0.3, 0.4, 0.4, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
    [0.2, 0.4, 0.4, 0.5, 0.6, 0.7, 0.7, 0.7, 0.8, 0.8, 0.8, 0.9, 1.1, 1.3, 1.4, 1.5],
    [0.5, 0.6, 0.8, 0.9, 1.0, 1.1, 1.1, 1.2, 1.2, 1.3, 1.3, 1.4, 1.7, 1.9, 2.1, 2.2],
    [0.7, 1.0, 1.1, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.8, 1.9, 1.9, 2.3, 2.5, 2.8, 3.0],
    [1.1, 1.4, 1.6, 1.8, 1.9, 2.1, 2.2, 2.2, 2.3, 2.4, 2.4, 2.5, 2.9, 3.2, 3.5, 3.7],
    [1.4, 1.8, 2.1, 2.3, 2.5, 2.6, 2.7, 2.8, 2.9, 3.0, 3.1, 3.1, 3.6, 4.0, 4.3, 4.5],
    [1.8, 2.3, 2.6, 2.9, 3.1, 3.2, 3.3, 3.4, 3.5, 3.6, 3.7, 3.8, 4.3, 4.7, 5.1, 5.4],
])  # fmt: skip
HALF_DIGIT = 0.05


def test_table_of_erlang_b() -> None:
    channels = np.arange(1, 10)[:, None]
    least, most = (np.maximum(OFFERED + half * (1 + 1e-9), 0.0) for half in (-HALF_DIGIT, HALF_DIGIT))
    assert (erlang_b(least, channels) <= BLOCKING).all()
    assert (erlang_b(most, channels) >= BLOCKING).all()


# Schwartz, Practical Scalability Analysis with the Universal Scalability Law (2015), the benchmark of a Cisco UCS
# server: throughput at 1, 2, ..., 32 threads. The book prints the coefficients of its fit to seven digits and
# takes the peak at the whole number of threads below it.
THROUGHPUT = np.array([
    955.16, 1878.91, 2688.01, 3548.68, 4315.54, 5130.43, 5931.37, 6531.08, 7219.8, 7867.61, 8278.71, 8646.7,
    9047.84, 9426.55, 9645.37, 9897.24, 10097.6, 10240.5, 10532.39, 10798.52, 11151.43, 11518.63, 11806.0, 12089.37,
    12075.41, 12177.29, 12211.41, 12158.93, 12155.27, 12118.04, 12140.4, 12074.39,
])  # fmt: skip
ITERATION = 5e-6  # relative: where the book's own iteration stopped


@pytest.mark.long
def test_fit_of_the_scalability_law() -> None:
    fit = fit_usl(np.arange(1, 33), THROUGHPUT)
    assert fit.law == "usl"
    assert np.isclose(fit.gamma, 995.6486, rtol=ITERATION)
    assert np.isclose(fit.alpha, 0.02671591, rtol=ITERATION)
    assert np.isclose(fit.beta, 7.690945e-4, rtol=ITERATION)
    assert np.floor(fit.peak_concurrency) == 35
    assert np.floor(fit.throughput(35)) == 12341
