"""The load behind supply counters: mean holding time and peakedness of the aliases, by maximum likelihood.

Three kinds of evidence go together: the share of tries that failed, how much tries and fails vary from interval to
interval (the aliases remember for about one holding time, so the variance of counts tells how long that is), and how
busy the tries found the aliases at most and at least. The model is an approximation, so each kind is trusted to a
stated degree only, however many intervals there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from planner.queueing import OverflowGroup, overflow_group
from planner.results import Array
from planner.supply.observed import Observed

# How far the model is trusted: relative errors of the fail fraction and the dispersions, intervals for the water marks.
FAIL_TRUST: Final = 0.02
DISPERSION_TRUST: Final = 0.1
MARKS_TRUST: Final = 60.0
FLOOR: Final = 1e-4  # chance that a water mark is another than the model knows of
PRIOR_PEAKEDNESS: Final = 1.0  # standard deviation of its logarithm around 0
FEWEST_FAILS: Final = 20  # below, the water marks say it better

LEAST_LOAD: Final = 3e-3
LOADS: Final = 48
PARTS: Final = 12  # of the grid: the smaller the load, the fewer states a part needs
FLATTEST, MOST_PEAKED = 0.04, 4.0
PEAKEDNESSES: Final = 20
STARTS: Final = 12
LOWEST, HIGHEST = np.log([1e-3, 1e-2]), np.log([2e3, 20.0])  # load and peakedness
COARSEST: Final = 0.1
FINEST: Final = 0.005
REFINE: Final = 0.3
SOFTEST: Final = 1e-9
PRECISION: Final = 1e-3
MOST_STEPS: Final = 40
LENGTHS: Final = np.array([0.01, 0.03, 0.1, 0.3, 1.0])
STENCIL: Final = np.array(
    [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]
)
CHI_SQUARE_95: Final = 3.84
NEARBY: Final = 0.02
DIRECTIONS: Final = 16
WIDEST: Final = 1.0

_Misfit = Callable[[Array], Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """The load of the aliases."""

    load: float  # mean requests in an infinite group at the mean rate of tries [erlang]
    peakedness: float  # variance over mean of these requests
    shares: Array  # (levels,) share of the tries at each level of load
    factors: Array  # (levels,) load at each level over the mean
    also: tuple[tuple[float, float], ...]

    def fail_fractions(self, most: int) -> Array:
        """Share of tries that would fail with 0, 1, ... aliases, for the fit and those at the edge."""
        load, peakedness = np.array([(self.load, self.peakedness), *self.also]).T
        group = overflow_group(load[:, None] * self.factors, peakedness[:, None], most)
        fails: Array = np.einsum("l,pls->ps", self.shares, group.fail_fraction_with(np.arange(most + 1)))
        return fails

    def fails_dispersion(self, aliases: int) -> float:
        """Variance over mean of the fails counted with so many aliases."""
        _, fails, _ = overflow_group(self.load, self.peakedness, aliases).dispersions()
        return max(float(fails), 1.0)


def fit(observed: Observed) -> Fitted | None:
    """Find the load that makes the counters likeliest."""
    if observed.level_intervals @ observed.level_tries <= 0:
        return None
    shares, factors = _levels(observed)
    misfit = partial(_misfit, observed)
    best, least = _minimum(misfit, _start(observed))
    edge = _edge(misfit, best, least)
    return Fitted(
        load=float(np.exp(best[0])),
        peakedness=float(np.exp(best[1])),
        shares=shares,
        factors=factors,
        also=tuple((float(load), float(z)) for load, z in np.exp(edge)),
    )


def _levels(observed: Observed) -> tuple[Array, Array]:
    """Share of the tries at each level of load, and the load there over the mean."""
    weights = observed.level_intervals * observed.level_tries
    return weights / weights.sum(), observed.level_tries * observed.level_intervals.sum() / weights.sum()


def _misfit(observed: Observed, points: Array) -> Array:
    """-2 ln likelihood of each point (logarithms of load and peakedness) but for a constant."""
    shares, factors = _levels(observed)
    load, peakedness = np.exp(points.T)
    group = overflow_group(load[:, None] * factors, peakedness[:, None], observed.aliases)
    trust = min(1.0, MARKS_TRUST / max(observed.level_intervals.sum(), 1.0))
    tries = np.broadcast_to(observed.level_tries, group.load.shape)
    total: Array = np.zeros(group.load.shape[0])
    for found, law in (
        (observed.most_found, group.most_found(tries)),
        (observed.fewest_found, group.fewest_found(tries)),
    ):
        total -= 2.0 * trust * (found * np.log(np.maximum(law, 0.0) + FLOOR)).sum(axis=(1, 2))
    if observed.fails >= FEWEST_FAILS:
        known = np.nan_to_num(observed.fail_error, nan=1.0 / np.sqrt(observed.fails))
        expected = np.log(np.maximum(group.fail_fraction @ shares, FLOOR * observed.fail_fraction))
        total += (expected - np.log(observed.fail_fraction)) ** 2 / (known**2 + FAIL_TRUST**2)
    total += (points[:, 1] / PRIOR_PEAKEDNESS) ** 2
    return total + _dispersion_misfit(observed, group, shares)


def _dispersion_misfit(observed: Observed, group: OverflowGroup, shares: Array) -> Array:
    """Squared distances of the dispersions, levels weighed by their tries and fails."""
    seen = observed.dispersion
    if seen is None:
        return np.zeros(group.load.shape[0])
    tries, fails, joint = group.dispersions()
    total = _square(tries @ shares, seen.tries, seen.tries_error)
    if seen.fails is not None:
        of_fails = shares * group.fail_fraction
        of_fails = of_fails / np.maximum(of_fails.sum(axis=1, keepdims=True), 1e-300)
        total = total + _square((fails * of_fails).sum(axis=1), seen.fails, seen.fails_error)
        total = total + _square((joint * of_fails).sum(axis=1), seen.joint, seen.joint_error)
    return total


def _square(expected: Array, seen: float, error: float) -> Array:
    """Squared distance over the errors of the measurement and of the model."""
    off: Array = (expected - seen) ** 2 / (error**2 + (DISPERSION_TRUST * expected) ** 2)
    return off


def _start(observed: Observed) -> Array:
    """The best points of a grid, all levels of load taken as one, shape (points, 2)."""
    grid = _grid(observed.aliases)
    merged = observed.merged()
    values = np.concatenate([_misfit(merged, part) for part in np.array_split(grid, PARTS)])
    return grid[np.argsort(values, kind="stable")[:STARTS]]


def _grid(aliases: int) -> Array:
    """Logarithms of loads and peakednesses to begin with, shape (points, 2)."""
    load = np.linspace(np.log(LEAST_LOAD), np.log(max(3.0 * aliases, 5.0)), LOADS)
    peakedness = np.linspace(np.log(FLATTEST), np.log(MOST_PEAKED), PEAKEDNESSES)
    return np.stack(np.meshgrid(load, peakedness, indexing="ij"), axis=-1).reshape(-1, 2)


def _minimum(misfit: _Misfit, starts: Array) -> tuple[Array, float]:
    """The best point, from the best of several by steps along Newton's direction and along the softest one."""
    values = misfit(starts)
    best, least = starts[np.argmin(values)], float(values.min())
    spacing = COARSEST
    for _ in range(MOST_STEPS):
        slope, curvature = _derivatives(misfit, best, least, spacing)
        value, vector = np.linalg.eigh(curvature)
        newton = -vector @ ((vector.T @ slope) / np.maximum(np.abs(value), SOFTEST))
        newton *= min(1.0, WIDEST / max(float(np.linalg.norm(newton)), SOFTEST))
        soft = np.array([*LENGTHS, *(-LENGTHS)])[:, None] * vector[:, 0]
        steps = np.concatenate([LENGTHS[:, None] * newton, soft, spacing * STENCIL])
        tried = np.clip(best + steps, LOWEST, HIGHEST)
        values = misfit(tried)
        gained = least - float(values.min())
        if gained > 0.0:
            best, least = tried[np.argmin(values)], float(values.min())
        if gained < PRECISION:
            if spacing < FINEST:
                break
            spacing *= REFINE
    return best, least


def _derivatives(misfit: _Misfit, point: Array, least: float, spacing: float) -> tuple[Array, Array]:
    """Slope and curvature of the misfit by differences."""
    around = misfit(point + spacing * STENCIL) - least
    slope = np.array([around[0] - around[1], around[2] - around[3]]) / (2.0 * spacing)
    across = (around[4] + around[5] - around[6] - around[7]) / 4.0
    curvature = np.array([[around[0] + around[1], across], [across, around[2] + around[3]]]) / spacing**2
    return slope, curvature


def _edge(misfit: _Misfit, best: Array, least: float) -> Array:
    """Points around the best where the misfit is larger by 3.84, from its curvature; shape (directions, 2)."""
    _, curvature = _derivatives(misfit, best, least, NEARBY)
    value, vector = np.linalg.eigh(curvature)
    reach = np.minimum(np.sqrt(2.0 * CHI_SQUARE_95 / np.maximum(value, SOFTEST)), WIDEST)
    angle = np.linspace(0.0, 2.0 * np.pi, DIRECTIONS, endpoint=False)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    around: Array = best + (vector @ (reach[:, None] * circle)).T
    return around
