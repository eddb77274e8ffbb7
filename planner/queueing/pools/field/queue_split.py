"""How the waiting I/Os of a pool split over its volumes, given how many wait."""

from __future__ import annotations

import numpy as np

from planner.results import Array

MAX_NEWTON = 30
CLOSE = 1e-12


def waiting_shares(held_or_waiting: Array, log_odds: Array, waiting: Array) -> Array:
    """Share that waits of the I/Os beyond the base, at busy-base volumes of each class.

    The share of class k is ``odds_k x / (1 + odds_k x)``, with x such that the pool has the given number
    waiting. The equation is solved in the logit of the mean share, which is nearly linear in ln x.
    """
    total = held_or_waiting.sum(axis=0)
    share: Array = np.divide(waiting, total, out=np.zeros_like(total), where=total > CLOSE)
    np.minimum(share, 1.0 - CLOSE, out=share)
    if log_odds.size == 1:
        return share[None, :]
    shares = np.zeros_like(held_or_waiting)
    some = share > 0.0
    weight = held_or_waiting[:, some] / total[some]
    target = _logit(share[some])
    log_x = target - log_odds @ weight
    low, high = target - log_odds.max(), target - log_odds.min()  # the mean of the classes lies between them
    for _ in range(MAX_NEWTON):
        each = 1.0 / (1.0 + np.exp(-(log_x + log_odds[:, None])))
        mean = (weight * each).sum(axis=0)
        low, high = np.where(mean < share[some], log_x, low), np.where(mean < share[some], high, log_x)
        # Newton in the logit; where the mean is lost to rounding or the step leaves the bracket, halve that.
        inner = np.clip(mean, CLOSE, 1.0 - CLOSE)
        slope = (weight * each * (1.0 - each)).sum(axis=0) / (inner * (1.0 - inner))
        newton = log_x + (target - _logit(inner)) / np.maximum(slope, CLOSE)
        following = np.where((low <= newton) & (newton <= high), newton, 0.5 * (low + high))
        step, log_x = following - log_x, following
        if np.abs(step).max(initial=0.0) < CLOSE**0.5:
            break
    shares[:, some] = 1.0 / (1.0 + np.exp(-(log_x + log_odds[:, None])))
    return shares


def own_queue_empty(alias_share: Array, at_busy: Array, waiting: Array, beyond: Array) -> Array:
    """Probability that none of the d I/Os beyond the base of one volume waits.

    Of the I/Os at busy-base volumes `alias_share` hold an alias; that all d of one volume do is
    hypergeometric: the product over j < d of (share x total - j)+ / (total - j).
    """
    drawn = beyond[:-1]
    chance = np.ones((waiting.size, beyond.size))
    held = np.maximum((alias_share * at_busy)[:, None] - drawn, 0.0)
    among = np.maximum(at_busy[:, None] - drawn, CLOSE)
    np.cumprod(np.minimum(held / among, 1.0), axis=1, out=chance[:, 1:])
    chance[waiting <= 0.0] = 1.0
    return chance


def _logit(share: Array) -> Array:
    return np.asarray(np.log(share) - np.log1p(-share))
