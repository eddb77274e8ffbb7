"""What else the data allow: weighted parameter sets around each solution, and the intervals they give.

Around the solution of each number of requesters, quasi-random sets of parameters are drawn from Student's t with the
curvature of chi-square and weighted by what chi-square really is there (importance sampling), so that bounds, priors
and bends of the law show in the intervals. The density is t, not normal, because the model error is estimated:

    p(parameters) ~ (1 + (chi-square - least chi-square) / nu)^(-(nu + parameters) / 2)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.calibrate.law import KEYS
from planner.calibrate.solution import Solution, share_of
from planner.errors import ConvergenceError
from planner.results import Array

SETS: Final = 512  # parameter sets a population, where the law is cheap
SETS_OF_POOLS: Final = (64, 16)  # where it is not: for a few populations, and at least
MOST_SETS_OF_POOLS: Final = 320  # of all populations together
NEGLIGIBLE: Final = 1e-3  # share of a population that is left out
EDGE: Final = 1e-6  # of the quasi-random numbers, so that none is infinitely far out
SEED: Final = 20070204
PRIMES: Final = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)  # one a coordinate
WIDER: Final = 1.2  # proposals reach a little further than the curvature says


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One number of requesters with the parameters that go with it.

    Attributes
    ----------
    population : int
        Requesters of one volume.
    weight : float
        Probability.
    center : ndarray, shape (free,)
        Mean of the natural logarithms of the free parameters.
    covariance : ndarray, shape (free, free)
        Of the same.
    """

    population: int
    weight: float
    center: Array
    covariance: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Weighted parameter sets.

    Attributes
    ----------
    components : tuple of Component
        One a number of requesters, the likeliest first.
    populations : ndarray, shape (sets,)
        Requesters of each set.
    values : ndarray, shape (sets, 4)
        Parameters, SI.
    weights : ndarray, shape (sets,)
        They add up to 1.
    """

    components: tuple[Component, ...]
    populations: Array
    values: Array
    weights: Array

    def interval(self, key: str, probability: float) -> tuple[float, float]:
        """Central interval of a parameter."""
        column = self.populations if key == "population" else self.values[:, KEYS.index(key)]
        low, high = quantiles(column, self.weights, ((1 - probability) / 2, (1 + probability) / 2))
        return float(low), float(high)


def quantiles(values: Array, weights: Array, probabilities: Sequence[float]) -> Array:
    """Quantiles of weighted values, shape (probabilities,)."""
    order = np.argsort(values)
    middle = np.cumsum(weights[order]) - weights[order] / 2
    found: Array = np.interp(probabilities, middle / weights.sum(), values[order])
    return found


def spread_of(solutions: Sequence[Solution], degrees: float) -> Spread:
    """Draw and weigh parameter sets around solutions."""
    odds = np.array([each.log_odds for each in solutions])
    share = np.exp(odds - odds.max())
    kept = [each for each, s in zip(solutions, share / share.sum(), strict=True) if s > NEGLIGIBLE]
    least = min(each.chi_square for each in kept)
    drawn = [_around(each, degrees, least, _sets(each, len(kept))) for each in kept]
    total = sum(weights.sum() for _, weights in drawn)
    components = []
    for solution, (logs, weights) in zip(kept, drawn, strict=True):
        part = weights / weights.sum()
        center = part @ logs
        covariance = (logs - center).T @ ((logs - center) * part[:, None])
        components.append(Component(population=solution.population, weight=float(weights.sum() / total),
                                    center=center, covariance=covariance))  # fmt: skip
    return Spread(
        components=tuple(sorted(components, key=lambda each: -each.weight)),
        populations=np.concatenate(
            [np.full(len(w), float(s.population)) for s, (_, w) in zip(kept, drawn, strict=True)]
        ),
        values=np.concatenate([kept[0].problem.values(logs) for logs, _ in drawn]),
        weights=np.concatenate([w for _, w in drawn]) / total,
    )


def _sets(solution: Solution, populations: int) -> int:
    """How many parameter sets to draw, so that the time is bounded."""
    if not any(run.volumes > 1 and run.aliases > 0 for run in solution.problem.observations):
        return SETS
    most, least = SETS_OF_POOLS
    return max(min(most, MOST_SETS_OF_POOLS // populations), least)


def _around(solution: Solution, degrees: float, least: float, count: int) -> tuple[Array, Array]:
    """Parameter sets around one solution, `count` or fewer, and their weights (not normalized)."""
    problem, width = solution.problem, len(solution.logs)
    normal, stretch = _stretched(count, width, degrees)
    root = WIDER * np.linalg.cholesky(solution.covariance + 1e-12 * np.eye(width))
    logs = solution.logs + (normal * stretch[:, None]) @ root.T
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


def _chi_square(solution: Solution, logs: Array) -> Array:
    """Chi-square of parameter sets; infinite, hence without weight, where the law has no answer."""
    try:
        return np.asarray((solution.problem.residuals(logs, solution.population) ** 2).sum(-1))
    except ConvergenceError:
        if len(logs) == 1:
            return np.array([np.inf])
        return np.concatenate([_chi_square(solution, row[None]) for row in logs])


def points(count: int, width: int) -> Array:
    """Quasi-random standard normal points, shape (count, width), always the same: scrambled Halton (Owen 2017).

    Written out here since `scipy.stats` takes longer to import than most answers; a test holds that both agree.
    """
    from scipy.special import ndtri

    random = np.random.default_rng(np.random.SeedSequence(SEED).spawn(1)[0])
    orders = [_orders(base, random) for base in PRIMES[:width]]
    cube = np.stack([_halton(count, *each) for each in zip(PRIMES, orders, strict=False)], axis=1)
    found: Array = ndtri(np.clip(cube, EDGE, 1 - EDGE))
    return found


def _orders(base: int, random: np.random.Generator) -> Array:
    """A random order of the digits of a base for each place, as many as a double holds."""
    places = math.ceil(54 / math.log2(base)) - 1
    orders = np.repeat(np.arange(base)[None], places, axis=0)
    for row in orders:
        random.shuffle(row)
    return orders.astype(np.float64)


def _halton(count: int, base: int, orders: Array) -> Array:
    """0, 1, 2, ... in a base, their digits reordered and mirrored at the point."""
    numbers, found, unit = np.arange(count), np.zeros(count), 1.0 / base
    for order in orders:
        found += order[numbers % base] * unit
        numbers, unit = numbers // base, unit / base
    return found


def _stretched(count: int, width: int, degrees: float) -> tuple[Array, Array]:
    """Normal points and the factors that make them Student's t."""
    from scipy.special import gammaincinv, ndtr

    found = points(count, width + 1)
    stretch: Array = np.sqrt(degrees / (2.0 * gammaincinv(degrees / 2.0, ndtr(found[:, -1]))))
    return found[:, :-1], stretch
