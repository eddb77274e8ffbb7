"""Closed product-form networks by convolution: classes with few requesters, groups of equal stations, open loads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.results import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class StationGroup:
    """Equal stations that share their visits evenly, for several scenarios.

    `demand` (scenarios, classes) is that of all `copies` (scenarios,) together [s]; `service_rates` (scenarios, J) is
    the number of requests that a copy serves when 1, 2, ..., J or more are there, None for a delay station; `load`
    (scenarios,) are open requests at each copy [erlang].
    """

    demand: Array
    service_rates: Array | None = None
    copies: Array
    load: Array


def multi_server_rates(servers: Array, most: int, load: Array) -> Array | None:
    """min(j, servers), up to `most` requests; None if there are never more requests than servers."""
    if np.isinf(servers).all() or (not load.any() and (servers >= most).all()):
        return None
    finite = servers[np.isfinite(servers)]
    end = math.ceil(float(finite.max())) if load.any() else min(most, math.ceil(float(finite.max())))
    if np.isinf(servers).any():
        end = max(end, most)
    counts = np.arange(1, max(end, 1) + 1, dtype=np.float64)
    return np.minimum(counts, servers[:, None])


def log_series(service_rates: Array, load: Array, most: int) -> Array:
    """Ln of the weight of n closed requests at one copy, shape (scenarios, most + 1).

    With open requests, f(n) is the sum over k of C(n + k, k) load^k / (rate(1) ... rate(n + k)): a finite sum while the
    service rate grows, then the tail of a negative binomial distribution. All in units of e^load.
    """
    end = service_rates.shape[-1]
    steps = np.log(service_rates[:, np.minimum(np.arange(max(most, end)), end - 1)])
    logs = np.concatenate([np.zeros((len(service_rates), 1)), np.cumsum(steps, axis=-1)], axis=-1)
    if not load.any():
        return np.asarray(-logs[:, : most + 1])
    from scipy.special import betainc, gammaln, xlogy

    last, ratio = service_rates[:, -1], load / service_rates[:, -1]
    found = np.empty((len(service_rates), most + 1))
    factorial = gammaln(np.arange(1.0, max(most + 1, end) + 1))  # logarithm of n!
    powers = xlogy(np.arange(end), load[:, None])
    for n in range(most + 1):
        left = max(end - n, 0)
        choose = factorial[n : n + left] - factorial[:left] - factorial[n]
        growing = choose + powers[:, :left] - logs[:, n : n + left]
        tail = np.ones_like(ratio) if n >= end else betainc(left, n + 1, ratio)
        with np.errstate(divide="ignore"):  # a tail that underflows adds nothing
            tail = np.log(tail) + (end - n) * np.log(last) - logs[:, end] - (n + 1) * np.log1p(-ratio)
        # as `logsumexp`, which takes three times as long for so few
        terms = np.column_stack([growing, tail])
        largest = terms.max(axis=-1)
        found[:, n] = largest + np.log(np.exp(terms - largest[:, None]).sum(axis=-1)) - load
    return found


def series(group: StationGroup, scale: Array, most: int) -> Array:
    """Weight of n requests at all copies together times ``scale**n``, shape (scenarios, most + 1), largest 1.

    The generating function of the group is that of a copy to the power of their number. Logarithms hold the weights of
    a station with few servers left for closed requests.
    """
    counts = np.arange(1, most + 1)
    copies = group.copies[:, None]
    if group.service_rates is not None and group.service_rates.shape[-1] > 1:
        log = log_series(group.service_rates, group.load, most) + np.arange(most + 1) * np.log(scale)[:, None]
        return _power(np.exp(log - log.max(-1, keepdims=True)), group.copies)
    steps = np.log(scale)[:, None] - np.log(counts)
    if group.service_rates is None:
        steps = steps + np.log(copies)
    else:
        steps = steps + np.log(counts + copies - 1) - np.log(group.service_rates - group.load[:, None])
    log = np.concatenate([np.zeros_like(copies), np.cumsum(steps, axis=-1)], axis=-1)
    return np.asarray(np.exp(log - log.max(-1, keepdims=True)))


def _power(base: Array, exponents: Array) -> Array:
    """Raise each power series to its own whole power by squaring; the largest coefficient is normalized to 1."""
    found = np.zeros_like(base)
    found[:, 0] = 1.0
    left = exponents.astype(np.int64)
    while left.any():
        odd = (left & 1).astype(bool)
        if odd.any():
            found[odd] = _unit(convolved(found[odd], base[odd]))
        left = left >> 1
        if left.any():
            base = _unit(convolved(base, base))
    return found


def _unit(values: Array) -> Array:
    """Divide by the largest value of each scenario: only ratios matter."""
    return np.asarray(values / values.max(axis=tuple(range(1, values.ndim)), keepdims=True))


def convolved(one: Array, two: Array) -> Array:
    """Convolution over all axes but the first, cut off at the shape of `one`."""
    shape = one.shape[1:]
    if len(shape) == 1:
        return np.array([np.convolve(*pair)[: shape[0]] for pair in zip(one, two, strict=True)])
    found = np.zeros_like(one)
    for at in product(*map(range, shape)):
        here: tuple[slice, ...] = (slice(None), *(slice(k, None) for k in at))
        start = (slice(None), *(slice(0, n - k) for n, k in zip(shape, at, strict=True)))
        value = one.reshape(len(one), -1)[:, np.ravel_multi_index(at, shape)]
        if not value.any():  # most are zero if only one class visits a group
            continue
        found[here] += _spread_over(value, len(shape)) * two[start]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A closed network on the lattice of its populations; `full` (scenarios, classes) are the full populations.

    `scale` (scenarios, classes) multiplies all times of a class, to stay in the range of float64.
    """

    full: Array
    think: Array
    groups: tuple[StationGroup, ...]
    scale: Array
    shape: tuple[int, ...]

    @classmethod
    def of(cls, full: Array, think: Array, groups: Sequence[StationGroup]) -> Network:
        """Scale the times by about the throughput, estimated by the asymptotic bounds."""
        alone = think + sum((group.demand for group in groups), np.zeros_like(think))
        with np.errstate(divide="ignore"):
            scale = np.where(full > 0, full / alone, 1.0)
        busiest = np.ones(len(full))
        for group in groups:
            if group.service_rates is not None:
                capacity = group.copies * (group.service_rates[:, -1] - group.load)
                busiest = np.maximum(busiest, (scale * group.demand).sum(-1) / capacity)
        shape = tuple(int(n) + 1 for n in full.max(axis=0))
        return cls(full=full, think=think, groups=tuple(groups), scale=scale / busiest[:, None], shape=shape)

    @property
    def total(self) -> int:
        """Largest total number of requesters."""
        return sum(self.shape) - len(self.shape)

    def counts(self) -> Array:
        """Requesters of each class at every point of the lattice, shape (classes, *shape)."""
        return np.indices(self.shape).astype(np.float64)

    def group_scale(self, group: StationGroup) -> Array:
        """Scaled demand of one copy, all classes together."""
        return np.asarray((group.demand * self.scale).sum(-1) / group.copies)

    def weights(self, group: StationGroup) -> Array:
        """Weight of every population at a group, shape (scenarios, *shape)."""
        scale = self.group_scale(group)
        one = series(group, np.where(scale > 0, scale, 1.0), self.total)
        one[scale == 0] = np.arange(self.total + 1) == 0  # nobody comes
        return self._spread(one, group)

    def _spread(self, one: Array, group: StationGroup) -> Array:
        """Weights by class from weights by number: a multinomial distribution over the classes."""
        if len(self.shape) == 1:
            return one
        from scipy.special import gammaln

        number = self.counts().sum(0)
        work = group.demand * self.scale
        share = work / np.where(work.sum(-1, keepdims=True) > 0, work.sum(-1, keepdims=True), 1.0)
        log = self._log_weights(gammaln(number + 1)[None], share)
        return np.asarray(one[:, number.astype(np.int64)] * np.exp(log))

    def thinking(self) -> Array:
        """Weight of every thinking population: a Poisson distribution of each class."""
        log = self._log_weights(np.zeros((len(self.full), *self.shape)), self.think * self.scale)
        return _unit(np.exp(log - log.max(axis=tuple(range(1, log.ndim)), keepdims=True)))

    def _log_weights(self, log: Array, means: Array) -> Array:
        """Weights from their logarithms `log` plus ln m^n / n! of each class, m its mean (scenarios, classes)."""
        from scipy.special import gammaln, xlogy

        for r, n in enumerate(self.counts()):
            log = log + xlogy(n, _spread_over(means[:, r], n.ndim)) - gammaln(n + 1)
        return log

    def fewer(self) -> list[Array]:
        """Full populations with one requester less, one array for each class."""
        return list(np.maximum(self.full - np.eye(self.full.shape[-1])[:, None], 0.0))

    def throughput(self, constants: Array) -> Array:
        """X_r = G(N - e_r) / G(N), shape (scenarios, classes)."""
        rows = np.arange(len(self.full))
        full, *fewer = (constants[(rows, *at.astype(np.int64).T)] for at in (self.full, *self.fewer()))
        found = np.stack(fewer, axis=-1) / full[:, None]
        return np.asarray(np.where(self.full > 0, found * self.scale, 0.0))

    def solve(self) -> tuple[Array, Array, Array]:
        """Throughput (scenarios, classes), numbers (scenarios, classes, groups), open numbers (scenarios, groups)."""
        factors = [self.weights(group) for group in self.groups]
        before = [self.thinking()]
        for factor in factors:
            before.append(_unit(convolved(factor, before[-1])))
        after: list[Array | None] = [None]
        for factor in reversed(factors[1:]):
            after.append(factor if after[-1] is None else _unit(convolved(factor, after[-1])))
        queue = np.zeros((*self.full.shape, len(self.groups)))
        opened = np.zeros((len(self.full), len(self.groups)))
        for k, group in enumerate(self.groups):
            beyond = after[len(self.groups) - 1 - k]
            others = before[k] if beyond is None else _unit(convolved(beyond, before[k]))
            distribution = factors[k] * self._reflected(others)
            axes = tuple(range(1, distribution.ndim))
            total = distribution.sum(axes)
            counts = self.counts()
            for r in range(self.full.shape[-1]):
                queue[:, r, k] = (distribution * counts[r]).sum(axes) / total
            if group.load.any():
                opened[:, k] = self._open_number(group, distribution, counts.sum(0))
        return self.throughput(before[-1]), queue, opened

    def _open_number(self, group: StationGroup, distribution: Array, number: Array) -> Array:
        """Mean open requests of a group: load (n + 1) g(n + 1) / g(n), given n closed ones."""
        scale = self.group_scale(group)
        scale = np.where(scale > 0, scale, 1.0)
        one = series(group, scale, self.total + 1)
        n = np.arange(self.total + 1)
        # states that underflow do not contribute to the mean
        gain = np.divide(one[:, 1:], one[:, :-1], out=np.zeros_like(one[:, 1:]), where=one[:, :-1] > 0)
        beside = group.load[:, None] * (n + 1) * gain / scale[:, None]
        axes = tuple(range(1, distribution.ndim))
        return np.asarray(
            (distribution * beside[:, number.astype(np.int64)]).sum(axes) / distribution.sum(axes)
        )

    def _reflected(self, values: Array) -> Array:
        """values(N - n) for the full population N of each scenario, 0 for n > N."""
        index, whole, axes = np.indices(self.shape), self.full.astype(np.int64), len(self.shape)
        at = [_spread_over(whole[:, r], axes) - index[r][None] for r in range(axes)]
        inside = reduce(np.logical_and, [each >= 0 for each in at])
        rows = _spread_over(np.arange(len(values)), axes)
        return np.asarray(np.where(inside, values[(rows, *(np.maximum(each, 0) for each in at))], 0.0))


@dataclass(frozen=True, slots=True)
class Rest:
    """A network without one group, so that a change of that group costs a sum, not a convolution."""

    network: Network
    full: Array
    fewer: tuple[Array, ...]

    @classmethod
    def of(cls, network: Network) -> Rest:
        """Convolve the groups of a network without one."""
        constants = network.thinking()
        for group in network.groups:
            constants = _unit(convolved(network.weights(group), constants))
        fewer = tuple(replace(network, full=less)._reflected(constants) for less in network.fewer())
        return cls(network, network._reflected(constants), fewer)

    def throughput(self, group: StationGroup) -> Array:
        """Throughput of the whole network with this group, shape (scenarios, classes)."""
        weights = self.network.weights(group)
        axes = tuple(range(1, weights.ndim))
        whole = (weights * self.full).sum(axes)
        found = np.stack([(weights * each).sum(axes) for each in self.fewer], axis=-1) / whole[:, None]
        return np.asarray(np.where(self.network.full > 0, found * self.network.scale, 0.0))


def _spread_over(values: NDArray[Any], axes: int) -> NDArray[Any]:
    """Add `axes` trailing axes for the lattice to an array of one number per scenario."""
    return values.reshape(-1, *[1] * axes)
