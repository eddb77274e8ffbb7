"""Uncertainty of a fit: weighted parameter sets from its posterior.

Around the solution of each number of requesters, quasi-random sets of parameters are drawn from Student's t with the
curvature of chi-square and weighted by the actual chi-square (importance sampling), so that the intervals reflect
bounds, priors and nonlinearity. The density is t, not normal, because the model error is estimated:

    p(parameters) ~ (1 + (chi-square - least chi-square) / nu)^(-(nu + parameters) / 2)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from scipy.special import gammaincinv, ndtr, ndtri

from planner.calibrate.problem import KEYS, Solution, share_of
from planner.errors import ConvergenceError
from planner.results import Array

EDGE: Final = 1e-6  # margin of the quasi-random numbers, so that no point is infinite
SEED: Final = 20070204
PRIMES: Final = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)  # one per coordinate


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One number of requesters with its distribution of parameters."""

    population: int  # requesters of one volume
    weight: float  # probability
    center: Array  # (free,) mean of the free parameters, SI
    covariance: Array  # (free, free) their covariance


@dataclass(frozen=True, slots=True, kw_only=True)
class PosteriorSample:
    """Weighted parameter sets."""

    components: tuple[Component, ...]  # one per number of requesters, the likeliest first
    populations: Array  # (sets,) requesters of each set
    values: Array  # (sets, 4) parameters, SI
    weights: Array  # (sets,) sum 1

    def interval(self, key: str, probability: float) -> tuple[float, float]:
        """Central interval of a parameter."""
        column = self.populations if key == "population" else self.values[:, KEYS.index(key)]
        low, high = quantiles(column, self.weights, ((1 - probability) / 2, (1 + probability) / 2))
        return float(low), float(high)


def quantiles(values: Array, weights: Array, probabilities: Sequence[float]) -> Array:
    """Quantiles of weighted values, shape (probabilities,)."""
    order = np.argsort(values)
    middle = np.cumsum(weights[order]) - weights[order] / 2
    return np.asarray(np.interp(probabilities, middle / weights.sum(), values[order]))


def posterior_sample(
    solutions: Sequence[Solution], degrees: float, negligible: float = 1e-3
) -> PosteriorSample:
    """Draw and weight parameter sets around solutions; those of a negligible share are left out."""
    log_weight = np.array([each.log_weight for each in solutions])
    share = np.exp(log_weight - log_weight.max())
    kept = [each for each, s in zip(solutions, share / share.sum(), strict=True) if s > negligible]
    least = min(each.chi_square for each in kept)
    drawn = [_around(each, degrees, least, _sets(each, len(kept))) for each in kept]
    total = sum(weights.sum() for _, weights in drawn)
    components = []
    for solution, (logs, weights) in zip(kept, drawn, strict=True):
        part = weights / weights.sum()
        values = np.exp(logs)  # not logarithms: sums are known, such as service time plus gap
        center = part @ values
        covariance = (values - center).T @ ((values - center) * part[:, None])
        components.append(Component(population=solution.population, weight=float(weights.sum() / total),
                                    center=center, covariance=covariance))  # fmt: skip
    return PosteriorSample(
        components=tuple(sorted(components, key=lambda each: -each.weight)),
        populations=np.repeat([float(each.population) for each in kept], [len(w) for _, w in drawn]),
        values=np.concatenate([kept[0].problem.values(logs) for logs, _ in drawn]),
        weights=np.concatenate([w for _, w in drawn]) / total,
    )


def _sets(solution: Solution, populations: int) -> int:
    """Number of parameter sets to draw in a bounded time."""
    if not any(run.volumes > 1 and run.aliases > 0 for run in solution.problem.observations):
        return 512  # the model is cheap
    return max(min(64, 320 // populations), 16)  # 320 in all


def _around(solution: Solution, degrees: float, least: float, count: int) -> tuple[Array, Array]:
    """Parameter sets around one solution, `count` or fewer, and their weights (not normalized)."""
    problem, width = solution.problem, len(solution.logs)
    normal, stretch = _stretched(count, width, degrees)
    # proposals are a little wider than the curvature suggests
    root = 1.2 * np.linalg.cholesky(solution.covariance + 1e-12 * np.eye(width))
    logs = solution.logs + _along(solution, (normal * stretch[:, None]) @ root.T)
    low, high = problem.bounds
    inside = ((logs > low) & (logs < high)).all(axis=-1)
    logs = logs[inside]
    chi_square = _chi_square(solution, logs)
    radius = ((normal * stretch[:, None])[inside] ** 2).sum(-1)
    power = -(degrees + width) / 2
    log_target = power * np.log1p(np.maximum(chi_square - least, 0.0) / degrees)
    log_proposal = power * np.log1p(radius / degrees) - np.linalg.slogdet(root)[1]
    weights = np.exp(log_target - log_proposal) * share_of(solution.population) / len(normal)
    return logs, weights


def _along(solution: Solution, steps: Array) -> Array:
    """Bend steps in logarithms along service x (1 + inflation x others), which a printed service time determines.

    Straight steps leave that ridge where inflation is not determined. This is a shear: the density does not change.
    """
    free = [KEYS[k] for k in solution.problem.free]
    if not {"service_time", "inflation"} <= {*free} or not solution.undetermined("inflation"):
        return steps
    one, other = free.index("service_time"), free.index("inflation")
    covariance = solution.covariance
    slope = min(max(-covariance[one, other] / covariance[other, other], 0.0), 0.99)
    bent, more = steps.copy(), np.minimum(steps[:, other], 99.0)  # larger steps are outside all bounds
    bent[:, one] += slope * more - np.log1p(slope * np.expm1(more))
    return bent


def _chi_square(solution: Solution, logs: Array) -> Array:
    """Chi-square of parameter sets; infinite, hence without weight, where the model has no solution."""
    try:
        return np.asarray((solution.problem.residuals(logs) ** 2).sum(-1))
    except ConvergenceError:
        if len(logs) == 1:
            return np.array([np.inf])
        return np.concatenate([_chi_square(solution, row[None]) for row in logs])


@cache
def points(count: int, width: int) -> Array:
    """Quasi-random standard normal points, shape (count, width), always the same: scrambled Halton (Owen 2017).

    Own code, since `scipy.stats` takes longer to import than most answers; a test checks that both agree.
    """
    random = np.random.default_rng(np.random.SeedSequence(SEED).spawn(1)[0])
    orders = [_orders(base, random) for base in PRIMES[:width]]
    cube = np.stack([_halton(count, *each) for each in zip(PRIMES, orders, strict=False)], axis=1)
    found = np.asarray(ndtri(np.clip(cube, EDGE, 1 - EDGE)))
    found.setflags(write=False)
    return found


def _orders(base: int, random: np.random.Generator) -> Array:
    """A random order of the digits of a base for each place of a double."""
    places = math.ceil(54 / math.log2(base)) - 1
    return random.permuted(np.repeat(np.arange(float(base))[None], places, axis=0), axis=1)


def _halton(count: int, base: int, orders: Array) -> Array:
    """Radical inverses of 0, 1, 2, ... in a base, with permuted digits."""
    numbers, found, unit = np.arange(count), np.zeros(count), 1.0 / base
    for order in orders:
        found += order[numbers % base] * unit
        numbers, unit = numbers // base, unit / base
    return found


def _stretched(count: int, width: int, degrees: float) -> tuple[Array, Array]:
    """Normal points, and the factors that turn them into Student's t."""
    found = points(count, width + 1)
    stretch: Array = np.sqrt(degrees / (2.0 * gammaincinv(degrees / 2.0, ndtr(found[:, -1]))))
    return found[:, :-1], stretch
