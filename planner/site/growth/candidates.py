"""What may be added to the model of a series, with its evidence: level shifts, days unlike the others, month ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.results import Array
from planner.site.growth.ar import Whitened, correlation
from planner.site.growth.model import LEAST_NOISE, MONTH_SIZE, Linear, SeriesState, Solved

STEP_ODDS: Final = 1 / 600  # prior odds of a level shift on one day
STEP_SIZE: Final = 0.3  # standard deviation of a shift, as a share of the level
PULSE_SIZE: Final = 0.5
SPELLS: Final = (2, 3, 4, 6, 8, 11, 15)  # days in a row that may be unlike the others: bridge days, year ends
EDGE: Final = 2  # measured days that a level must have on either side of a shift
FEWEST_MONTH_ENDS: Final = 3  # that a form must be seen at

StepProducts = tuple[Array, Array, Array]  # what `step_products` gives


@dataclass(slots=True)
class Candidates:
    """One more column, at each day or of each form: how far it raises the evidence, and its coefficient."""

    gain: Array  # (series, candidates) log Bayes factor
    with_base: Array  # (series, candidates, columns) inner products with the columns
    mean: Array  # (series, candidates)
    precision: Array  # (series, candidates) over the noise variance
    rest: Array  # (series, candidates) residual sum of squares


def weigh(
    solved: Solved, count: Array, products: Array, norm: Array, size: float, *, far: bool = False
) -> Candidates:
    """Bayes factor of each candidate column, given its inner products with columns and response."""
    base, response = products[:, :, :-1], products[:, :, -1]
    turned = base @ solved.covariance
    precision = np.maximum(norm - np.einsum("ijk,ijk->ij", turned, base), 1e-12)
    pull = response - np.einsum("ijk,ik->ij", base, solved.mean)
    rest0 = solved.rest[:, None]
    least = LEAST_NOISE**2 * np.maximum(count, 1)[:, None]
    best = np.maximum(rest0 - pull**2 / precision, least)
    # A coefficient may lie far outside what is usual, such as a spike of a hundred times the level.
    spread = size**2 + (pull / precision) ** 2 if far else size**2
    ridge = best / np.maximum(count, 1)[:, None] / spread
    rest = np.maximum(rest0 - pull**2 / (precision + ridge), least)
    gain = 0.5 * np.log(ridge / (precision + ridge)) - 0.5 * count[:, None] * np.log(rest / rest0)
    return Candidates(gain, base, pull / (precision + ridge), precision + ridge, rest)


def step_candidates(state: SeriesState, solved: Solved, count: Array, steps: StepProducts) -> Candidates:
    """A level shift on each day; days without a measurement, and those at the edges, are none."""
    products, norm, _ = steps
    found = weigh(solved, count, products, norm, STEP_SIZE)
    rank = np.cumsum(state.rows.there, axis=1)
    inside = state.rows.there & (rank > EDGE) & (rank <= rank[:, -1:] - EDGE)
    found.gain = np.where(inside, found.gain, -np.inf)
    return found


def step_products(white: Whitened) -> StepProducts:
    """Inner products of a step on each day with the columns and with itself, and what it has with any earlier one."""
    after = white.columns * white.step_after[:, :, None]
    beyond = np.cumsum(after[:, ::-1], axis=1)[:, ::-1] - after
    square = white.step_after**2
    beyond_square = np.cumsum(square[:, ::-1], axis=1)[:, ::-1] - square
    return (
        beyond + white.columns * white.step_start[:, :, None],
        beyond_square + white.step_start**2,
        beyond_square + white.step_after * white.step_start,
    )


def spell_candidates(state: SeriesState, solved: Solved, count: Array, steps: StepProducts) -> Array:
    """Gain of some days in a row unlike the others, from each day on; (series, lengths, days)."""
    products, norm, shared = steps
    days = norm.shape[1]
    measured = np.where(state.rows.there, np.arange(days), days - 1)
    following = np.minimum.accumulate(measured[:, ::-1], axis=1)[:, ::-1]  # measured day from each on
    gains = []
    for length in SPELLS:
        end = following[:, np.minimum(np.arange(days) + length, days - 1)]
        difference = products - np.take_along_axis(products, end[:, :, None], axis=1)
        own, common = np.take_along_axis(norm, end, axis=1), np.take_along_axis(shared, end, axis=1)
        gain = weigh(
            solved, count, difference, np.maximum(norm + own - 2 * common, 1e-12), PULSE_SIZE, far=True
        ).gain
        gains.append(np.where(state.rows.there & (np.arange(days) + length < days - EDGE), gain, -np.inf))
    return np.stack(gains, axis=1)


def pulse_candidates(state: SeriesState, solved: Solved, count: Array) -> Candidates:
    """One day unlike the others."""
    white, there = solved.white, state.rows.there
    following = np.zeros_like(white.columns)  # the whitened row of the next measured day, at each day
    following_weight = np.zeros_like(white.pulse_after)
    series, day = np.nonzero(there & (state.rows.gap > 0))
    before = state.rows.before[series, day]
    following[series, before] = white.columns[series, day]
    following_weight[series, before] = white.pulse_after[series, day]
    products = white.columns * white.step_start[:, :, None] + following * following_weight[:, :, None]
    norm = white.step_start**2 + following_weight**2
    found = weigh(solved, count, products, norm, PULSE_SIZE, far=True)
    found.gain = np.where(there, found.gain, -np.inf)
    return found


def month_candidates(state: SeriesState, solved: Solved, model: Linear, phi: float) -> Candidates:
    """Each form of a month end."""
    ends = model.forms
    rho = correlation(state.rows, phi)
    white = (ends[:, :, :, 0] - rho[:, None, :] * ends[:, :, :, 1]) * (
        state.rows.there / np.sqrt(1 - rho**2)
    )[:, None, :]
    products = white @ solved.white.columns
    found = weigh(solved, model.count, products, (white**2).sum(axis=2), MONTH_SIZE)
    enough = (state.month_forms[None] * state.rows.there[:, None, :]).sum(axis=2) >= FEWEST_MONTH_ENDS
    found.gain = np.where(enough & (state.month_form < 0)[:, None], found.gain, -np.inf)
    return found
