"""A group of servers that takes the overflow of others, described by its load and peakedness only.

The number of busy servers changes in single steps. In equilibrium the flow from k to k + 1 equals that back, so the
distribution p and the flow of requests that find k determine everything: the mean time from k to k + 1 is
``sum over j <= k of p(j) / flow(k)``, and from k + 1 to k it is ``sum over j > k of p(j) / flow(k)``. The time to a
rarely reached level is exponential (Keilson, 1979, Markov Chain Models, chapter 8), so no request of an interval t
finds n or more with probability ``P(n or fewer at the start) exp(-t / H(n + 1))``, H the mean time to the level: exact
in the limit of rare levels.

Let D be the requests that overflowed and are still in service or waiting. They arrive at the rate
``r(D) = (m + (z - 1) D) / z`` per mean holding time, and each leaves at rate 1: a service ends, or a waiting request is
taken by the group or by the server from which it overflowed, whichever is free first. So D has mean m and variance m z
for any number of servers (binomial for z < 1, Poisson for z = 1, negative binomial for z > 1), and a request finds no
free server if D is at least their number:

    fail fraction = sum over k >= c of p(k) r(k) / m.

Arrival rates that are linear in the number present are Delbrouck's (1981); peakedness as the second number of an
overflow is Wilkinson's (1956). Each waiting request leaves at rate 1 only while they wait for different servers; if
many wait for few, the model is optimistic.

Counts over long intervals follow from the same chain. With g(k) the rate of the counted events, G its mean
and h the solution of its Poisson equation, ``h(k + 1) - h(k) = -sum over j <= k of p(j) (g(j) - G) / (p(k) r(k))``,
the variance of a count grows as ``G + 2 sum of p(k) g(k) h(k + 1)`` per holding time (Asmussen, 2003, Applied
Probability and Queues, section I.7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from planner.errors import InputError
from planner.queueing import checks
from planner.queueing._levels import LARGE
from planner.results import Array, Result, quantity

TINY: Final = 1e-290  # a state with less probability never occurs


def most_found(distribution: Array, flow: Array, interval: ArrayLike, servers: int) -> Array:
    """Distribution of the most busy servers that a request finds in an interval."""
    below = np.maximum(np.cumsum(distribution, axis=-1), TINY)
    rise = np.divide(below, flow, out=np.full_like(below, LARGE), where=flow > TINY)
    reach = np.minimum(np.cumsum(rise * below, axis=-1) / below, LARGE)[..., : servers + 1]
    none_from = below[..., : servers + 1] * _unreached(interval, reach)
    none_from = np.minimum.accumulate(none_from[..., ::-1], axis=-1)[..., ::-1]
    # keep a positive probability of at least one try
    none_at_all = np.minimum(none_from[..., :1], 1.0 - 1e-15)
    return np.maximum(np.diff(none_from, axis=-1, append=1.0), 0.0) / (1.0 - none_at_all)


def fewest_found(distribution: Array, flow: Array, interval: ArrayLike, servers: int) -> Array:
    """Distribution of the fewest busy servers that a request finds in an interval."""
    above = np.cumsum(distribution[..., ::-1], axis=-1)[..., ::-1]
    back = np.concatenate([np.zeros_like(flow[..., :1]), flow[..., :-1]], axis=-1)
    fall = np.divide(above, back, out=np.full_like(above, LARGE), where=back > TINY) * above
    fall[..., 0] = 0.0
    sums = np.cumsum(fall[..., ::-1], axis=-1)[..., ::-1]
    over = above[..., 1 : servers + 1]
    reach = np.minimum(sums[..., 1 : servers + 1] / np.maximum(over, TINY), LARGE)
    more_than = np.minimum.accumulate(over * _unreached(interval, reach), axis=-1)
    return np.maximum(-np.diff(more_than, axis=-1, prepend=1.0, append=0.0), 0.0)


def _unreached(interval: ArrayLike, reach: Array) -> Array:
    """Probability that a level is not reached in the interval."""
    length = np.asarray(interval, dtype=np.float64)[..., None]
    # 1e-12 avoids a division by 0; above an exponent of 700 the probability is 0
    chance: Array = np.exp(-np.minimum(length / np.maximum(reach, 1e-12), 700.0))
    return chance


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OverflowGroup(Result):
    """A group of `servers` fed by overflow; arrays have the shape of load and peakedness, times are in holding times.

    `distribution`, (..., states), is the probability of D = 0, 1, ... requests, `flow` the rate of those that find D.
    """

    load: Array = quantity("load")
    peakedness: Array = quantity("peakedness")
    fail_fraction: Array = quantity("fails of tries")
    servers: int
    distribution: Array
    flow: Array

    def fail_fraction_with(self, servers: ArrayLike) -> Array:
        """Share of requests that find no free server, with other numbers of servers.

        Parameters
        ----------
        servers : array_like of int, shape (counts,)
            Numbers of servers.

        Returns
        -------
        ndarray, shape (..., counts)
            Fails over tries.
        """
        counts = checks.count("servers", servers, least=0)
        counts = np.minimum(counts, self.flow.shape[-1]).astype(np.int64)
        beyond = np.cumsum(self.flow[..., ::-1], axis=-1)[..., ::-1]
        beyond = np.concatenate([beyond, np.zeros((*beyond.shape[:-1], 1))], axis=-1)
        share: Array = beyond[..., counts] / beyond[..., :1]
        return share

    def dispersions(self) -> tuple[Array, Array, Array]:
        """Variances of counts over long intervals."""
        failing = self.flow.copy()
        failing[..., : self.servers] = 0.0
        tries, fails = self.flow.sum(axis=-1), failing.sum(axis=-1)
        after_try, after_fail = self._potential(self.flow), self._potential(failing)
        of_tries = tries + 2.0 * (self.flow * after_try).sum(axis=-1)
        of_fails = fails + 2.0 * (failing * after_fail).sum(axis=-1)
        both = fails + (self.flow * after_fail + failing * after_try).sum(axis=-1)
        some = fails > 1e-12 * tries  # with fewer fails rounding determines the variance
        safe = np.where(some, fails, 1.0)
        return of_tries / tries, np.where(some, of_fails / safe, 1.0), np.where(some, both / safe, 0.0)

    def _potential(self, flow: Array) -> Array:
        """h(k + 1) for each k: the expected surplus of the count after reaching k + 1."""
        mean = flow.sum(axis=-1, keepdims=True)
        surplus = np.cumsum(flow - self.distribution * mean, axis=-1)
        seen = self.flow > TINY
        rise = -np.divide(surplus, self.flow, out=np.zeros_like(surplus), where=seen)
        after = np.cumsum(rise, axis=-1)
        before = after - rise
        centered: Array = after - (self.distribution * before).sum(axis=-1, keepdims=True)
        return centered

    def found(self, tries: ArrayLike) -> tuple[Array, Array]:
        """Distributions of the most and of the fewest busy servers that a request finds in an interval.

        Parameters
        ----------
        tries : array_like
            Mean requests of the interval, of the shape of `load` [1].

        Returns
        -------
        tuple of ndarray, shape (..., servers + 1)
            Probability of 0, 1, ... servers, of the most and of the fewest; a request that finds all busy fails [1].
        """
        given = self.distribution, self.flow, checks.nonnegative("tries", tries) / self.load, self.servers
        return most_found(*given), fewest_found(*given)


def _of_mean(mean: Array, distribution: Array, most: Array, rounding: float = 1e-12) -> Array:
    """For peakedness below 1, set the probability of the largest number, `most`, so that the mean is right.

    It is already right if the number of sources is whole; a probability below `rounding` of the largest is kept.
    """
    k = np.arange(float(distribution.shape[-1]))
    fewer = np.where(k < most, distribution, 0.0)
    lacking = ((mean - k) * fewer).sum(axis=-1, keepdims=True)
    weight = np.maximum(lacking / (most - mean), 0.0)
    return np.where((k == most) & (distribution > rounding), weight, distribution)


def overflow_group(load: ArrayLike, peakedness: ArrayLike, servers: int) -> OverflowGroup:
    """Servers that take the overflow of others; requests that find none of them free wait.

    Parameters
    ----------
    load : array_like
        Mean requests in an infinite group, any shape: rate of requests x mean holding time [erlang].
    peakedness : array_like
        Variance over mean of the requests in an infinite group [1]; below 1 only approximately: requests are whole.
    servers : int
        Servers of the group [1].

    Returns
    -------
    OverflowGroup
        Of the shape that load and peakedness broadcast to.

    Raises
    ------
    InputError
        A load or peakedness that is not above 0, servers that are not a whole number, or more than 4096 states.

    Notes
    -----
    ``p(k + 1) / p(k) = r(k) / (k + 1)`` with ``r(k) = (m + (z - 1) k) / z``: a binomial, Poisson or negative binomial
    distribution.

    References
    ----------
    Delbrouck (1981), "A unified approximate evaluation of congestion functions for smooth and peaky traffics", IEEE
    Trans. Comm. 29: arrival rates linear in the number present. Wilkinson (1956), "Theories for toll traffic
    engineering in the U.S.A.", Bell System Technical Journal 35: peakedness of an overflow.

    Examples
    --------
    A load of 3 erlang of Poisson requests fails where a Poisson number of 3 is 8 or more:

    >>> group = overflow_group(3.0, 1.0, 8)
    >>> group.fail_fraction
    array(0.0119045)
    >>> group.fail_fraction_with([7, 8, 9]).round(4).tolist()
    [0.0335, 0.0119, 0.0038]
    """
    mean = checks.positive("load", load, "erlang")
    shape = checks.positive("peakedness", peakedness)
    mean, shape = checks.broadcast(load=mean, peakedness=shape)
    given = checks.count("servers", servers, least=0)
    if given.ndim:
        raise InputError("servers", given.tolist(), "one whole number")
    count = int(given)
    # states above 9 standard deviations, or above 30 peakednesses for small loads, are left out
    most = float((mean + 9.0 * np.sqrt(mean * shape) + 30.0 * np.maximum(shape, 1.0)).max())
    states = max(int(most), count) + 2
    if states > (largest := 4096):
        raise InputError(
            "load", float(mean.max()), f"a load and a peakedness of at most {largest} states", "erlang"
        )
    k = np.arange(states, dtype=np.float64)
    rate = np.maximum(mean[..., None] + (shape[..., None] - 1.0) * k, 0.0) / shape[..., None]
    with np.errstate(divide="ignore"):
        step = np.log(rate[..., :-1]) - np.log(k[1:])
    logs = np.concatenate([np.zeros((*mean.shape, 1)), np.cumsum(step, axis=-1)], axis=-1)
    # smaller probabilities are practically 0
    distribution = np.exp(np.maximum(logs - logs.max(axis=-1, keepdims=True), -650.0))
    distribution[logs == -np.inf] = 0.0
    distribution = _of_mean(mean[..., None], distribution, (rate > 0.0).sum(axis=-1, keepdims=True))
    distribution /= distribution.sum(axis=-1, keepdims=True)
    flow = np.append(distribution[..., 1:] * k[1:], distribution[..., -1:] * rate[..., -1:], axis=-1)
    return OverflowGroup(
        load=mean.copy(),
        peakedness=shape.copy(),
        fail_fraction=flow[..., count:].sum(axis=-1) / flow.sum(axis=-1),
        servers=count,
        distribution=distribution,
        flow=flow,
    )
