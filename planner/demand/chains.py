"""Volumes under a demand, for every number of devices at once: closed tails and recursions over arrays.

The unit of time is the service time of a lone I/O. With n I/Os at the volume and c devices (the base and its aliases)
the rate of service is n / s(n) for n <= c and c / (s(c) + g) beyond, with s(n) = 1 + h (n - 1) the inflated service
time and g the redrive gap. Below n = c no rate depends on c, so one recursion over n serves every c; all that lies
above c is summed in closed form. Every function returns `Figures` of shape (devices, elements), rows from one device.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import e
from typing import NamedTuple

import numpy as np

from planner.queueing.erlang import FEW, inverse_blocking
from planner.queueing.general_service import cosmetatos_1975, kimura_1986
from planner.results import Array, Flags, Integers

LEAST_THINK = 1e-9


class DeviceStation:
    """Devices 1 to `most` of a volume; every distribution asked of it shares its rates."""

    def __init__(self, *, most: int, inflation: float, gap: Array) -> None:
        self.most, self.inflation, self.gap = most, inflation, gap
        self.devices = np.arange(1.0, most + 1.0)[:, None]
        self.growth = 1.0 + inflation * (self.devices - 1.0)
        self.steps = np.append(0.0, self.devices / self.growth)
        self.over = self.devices / (self.growth + gap)
        self.serving = self.growth / (self.growth + gap)

    def of(self, some: Integers) -> DeviceStation:
        """Those of some elements."""
        return DeviceStation(most=self.most, inflation=self.inflation, gap=self.gap[some])


class Figures(NamedTuple):
    """What a demand does: `rate` [1/service time], I/Os in `queue`, `gap` and in service; (devices, elements).

    `waits` is the rate of those that find every device busy.
    """

    rate: Array
    queue: Array
    gap: Array
    busy: Array
    waits: Array

    @property
    def service(self) -> Array:
        """Mean inflated service time."""
        return self.busy / self.rate

    def at(self, devices: Array) -> tuple[Array, Array, Array]:
        """Rate, queue and busy of each element at its own number of devices, each (elements,)."""
        where = own(devices)
        return self.rate[where], self.queue[where], self.busy[where]


def own(devices: Array) -> tuple[Integers, Integers]:
    """Where arrays (devices, elements) have each element's own number of devices."""
    return devices.astype(np.int64) - 1, np.arange(devices.size)


def _figures(
    station: DeviceStation, rate: Array, mass: Array, busy: Array, over: Array, queue: Array, stable: Flags
) -> Figures:  # fmt: skip
    """Normalize: `mass` and `busy` sum the levels up to c, `over` the mass above, `queue` its excess over c."""
    total = mass + over
    waiting = station.devices * over / total
    serving = station.serving
    infinite = np.where(stable, 0.0, np.inf)
    through = np.broadcast_to(
        np.where(stable, rate, np.minimum(rate, station.over * np.ones_like(total))), total.shape
    )
    return Figures(
        rate=through,
        queue=np.where(stable, queue / total, infinite),
        gap=np.where(stable, waiting * (1 - serving), station.devices * (1 - serving)),
        busy=np.where(stable, busy / total + waiting * serving, station.devices * serving),
        waits=np.where(stable, over / total * station.over, through),
    )  # fmt: skip


GEOMETRIC = np.array([[1.0, 1.0]])
"""Weight of each part of the batches, and its mean over that of all, less one I/O each."""
_SPREAD = (e / 2 - 1) ** 0.5  # of the means of exponential parts with the moments of lognormal sizes
_SKEW = (e**3 / 6 - 3 * e / 2 + 2) / _SPREAD**3
_ROOT = (_SKEW + (_SKEW**2 + 4) ** 0.5) / 2
LONG_TAILED = np.array(
    [[_ROOT**2, 1.0 - _SPREAD / _ROOT], [1.0, 1.0 + _SPREAD * _ROOT]] / np.array([[1 + _ROOT**2, 1.0]])
)
"""The same with the first three moments of lognormal sizes of sigma 1: 1, e and e^3 times powers of the mean, as the
two-point distribution of the means of the parts with moments 1, e / 2 and e^3 / 6 has them: .974 and .026 of the
batches, .90 and 4.64 of the mean."""


def within_reach(load: Array, most: Array) -> Array:
    """A load, or twice `most`, what all devices serve, where it is more: there nothing but that it is more counts."""
    return np.minimum(load, 2.0 * most)


def batches(
    station: DeviceStation, rate: Array, mean: Array, share: Array, parts: Array = GEOMETRIC
) -> Figures:
    """Poisson instants; a `share` of the I/Os comes in batches of `mean`, mixed of geometric ones, the others singly.

    Part i of weight w_i and mean m_i: H_i,n = q_i H_i,n-1 + p_{n-1}, q_i = 1 - 1/m_i, mu(n) p_n = sum of l_i H_i,n +
    l0 p_{n-1}, with l_i = w_i share rate / mean and l0 = (1 - share) rate. Above c the vector (H, p) is multiplied by
    one matrix T a level: the sums are (1 - T)^-1 T and (1 - T)^-2 T.
    """
    rate = within_reach(rate, station.over[-1])
    sizes, rise, single, stay = _flows(rate, mean, share, parts)
    heads, distributions = map(
        np.array, zip(*batch_levels(station.steps, rate, mean, share, parts), strict=True)
    )
    mass, busy = _cumulated(distributions)
    over = station.over[:, None]
    up = rise / over
    stable = rate < station.over * (1 - 1e-12)
    room = np.where(stable, 1.0 - rate / station.over, 1.0)

    def summed(head: Array, distribution: Array) -> tuple[Array, Array]:
        """(1 - T)^-1 applied to a vector: the sum of l_i m_i and l0 is the rate."""
        found = (distribution + (up * stay * sizes * head).sum(axis=1)) / room
        return (head + found[:, None]) * sizes, found

    head = stay * heads[1:] + distributions[1:, None]
    distribution = (up * head).sum(axis=1) + single / station.over * distributions[1:]
    sums = summed(head, distribution)
    _, queue = summed(*sums)
    return _figures(station, rate, mass, busy, sums[1], queue, stable)


def _flows(rate: Array, mean: Array, share: Array, parts: Array) -> tuple[Array, Array, Array, Array]:
    """Means m_i of the parts of batches and rates l_i at which they begin, the rate l0 of single I/Os, and q_i."""
    sizes = 1.0 + (mean - 1.0) * parts[:, 1:]
    return sizes, parts[:, :1] * share * rate / mean, (1 - share) * rate, 1 - 1 / sizes


def batch_levels(
    steps: Array, rate: Array, mean: Array, share: Array, parts: Array = GEOMETRIC
) -> Iterator[tuple[Array, Array]]:
    """H_i and p of the levels 0, 1, ..., as `batches` has them, for servers that end I/Os at the rates `steps`."""
    _, rise, single, stay = _flows(rate, mean, share, parts)
    head, distribution = np.zeros(rise.shape), np.ones(rate.size)
    yield head, distribution
    for step in steps[1:]:
        head = stay * head + distribution
        distribution = ((rise * head).sum(axis=0) + single * distribution) / step
        yield head, distribution


def _cumulated(distributions: Array) -> tuple[Array, Array]:
    """Mass and I/Os in service of the levels 0 to c, for c = 1, 2, ..., from the distribution of the levels."""
    n = np.arange(distributions.shape[0])[:, None]
    return np.cumsum(distributions, axis=0)[1:], np.cumsum(n * distributions, axis=0)[1:]


def fixed_batches(station: DeviceStation, rate: Array, mean: Array) -> Figures:
    """Batches of floor(mean) or one more, so that their mean is `mean`, at Poisson instants.

    mu(n) p_n = l H_n with H_n = sum of g_j p_{n-j} over j >= 1, g_j = P(batch >= j). Summed over n > c, and weighted by
    n - c, they give the mass and the queue above c from p_0 to p_c: with G1(d) = sum of g_j over j > d and G2(d) = sum
    of (j - d) g_j over j > d, (mu - rate) W0 = l sum p_i G1(c-i), (mu - rate) W1 = l (sum p_i G2(c-i) + G2(0) W0).
    """
    rate = within_reach(rate, station.over[-1])
    whole = np.floor(mean)
    rest = mean - whole
    arrivals, steps, size = rate / mean, station.steps, rate.size
    column, window = np.arange(size), whole.astype(np.int64)
    # Sums over the levels below, with as many empty levels in front as a batch may reach down.
    distributions = np.zeros((station.most + 1, size))
    sums = np.zeros((station.most + 2, size))
    distributions[0], sums[1] = 1.0, 1.0
    for n in range(1, station.most + 1):
        start = np.maximum(n - window, 0)
        one_more = np.where(n > window, distributions[np.maximum(n - window - 1, 0), column], 0.0)
        head = np.maximum(sums[n] - sums[start, column], 0.0) + rest * one_more
        distributions[n] = arrivals * head / steps[n]
        sums[n + 1] = sums[n] + distributions[n]
    mass, busy = _cumulated(distributions)
    c = station.devices
    levels = np.arange(station.most + 1)[:, None]
    start = np.maximum(c - whole, 0.0).astype(np.int64)
    moments = []
    for power in range(3):
        total = np.concatenate([np.zeros((1, size)), np.cumsum(levels**power * distributions, axis=0)])
        moments.append(total[2:] - total[start, column])
    zero, one, two = moments
    shift = whole - c  # d = c - i, whole - d = i + shift
    reach = one + (shift + rest) * zero
    # G2 = (whole - d)(whole - d + 1) / 2 + rest (whole - d + 1)
    second = (two + (2 * shift + 1) * one + shift * (shift + 1) * zero) / 2 + rest * (
        one + (shift + 1) * zero
    )
    stable = rate < station.over * (1 - 1e-12)
    room = np.where(stable, station.over - rate, 1.0)
    over = np.maximum(arrivals * reach / room, 0.0)
    spread = whole * (whole + 1) / 2 + rest * (whole + 1)
    queue = np.maximum(arrivals * (second + spread * over) / room, 0.0)
    return _figures(station, rate, mass, busy, over, queue, stable)


def groups(station: DeviceStation, rate: Array, mean: Array, even: Array | float = 0.0) -> Figures:
    """`mean` I/Os at once to an idle volume, at regular times: floor(mean) or one more, in proportion to the I/Os.

    A group of k takes sum of 1/mu(n), n = 1 to k, to be served; wait and service of its I/Os sum (n - c)+ / mu(n)
    and min(n, c) / mu(n). With constant service c I/Os end together, and the j-th of a group waits floor((j - 1) / c)
    of their times; `even` goes from 0, exponential, to 1, constant service.
    """
    whole = np.floor(mean)
    rest = mean - whole
    c = station.devices
    growth = station.growth

    def totals(k: Array) -> tuple[Array, Array, Array]:
        beyond = np.maximum(k - c, 0.0)
        inside = np.minimum(k, c)
        slow = station.inflation * (inside * (inside - 1) / 2)
        rounds = np.floor(k / c)
        together = c * rounds * (rounds - 1) / 2 + (k - c * rounds) * rounds
        waits = even * together + (1 - even) * beyond * (beyond + 1) / 2 / c
        waited = waits * (growth + station.gap)
        return waited, inside + slow + beyond * growth, beyond * station.gap

    few, many = totals(whole), totals(whole + 1)
    waited, served, gaps = ((1 - rest) * a + rest * b for a, b in zip(few, many, strict=True))
    stable = rate < station.over
    fill = rate / mean
    return Figures(
        rate=np.broadcast_to(np.where(stable, rate, station.over), stable.shape),
        queue=np.where(stable, fill * waited, np.inf),
        gap=fill * gaps,
        busy=fill * served,
        waits=fill * ((1 - rest) * np.maximum(whole - c, 0.0) + rest * np.maximum(whole + 1 - c, 0.0)),
    )


def beside(station: DeviceStation, demand: Figures, single: Array) -> Figures:
    """A demand and open arrivals of rate `single` beside it, which see its queue and wait for it to be served."""
    if not (single > 0).any():
        return demand
    one = np.ones_like(single)
    opened = batches(station, single, one, one)
    return Figures(
        rate=demand.rate + opened.rate, queue=demand.queue * with_open(station, single) + opened.queue,
        gap=demand.gap + opened.gap, busy=demand.busy + opened.busy,
        waits=demand.waits * with_open(station, single) + opened.waits,
    )  # fmt: skip


def with_open(station: DeviceStation, single: Array) -> Array:
    """Queue that a demand makes, those open arrivals among it that come while it waits, over its own."""
    return np.asarray(1 + np.minimum(single / station.over, 1.0))


def requesters(station: DeviceStation, population: Array, think: Array, active: Array) -> Figures:
    """M/M/c//N: requesters that are active together a share of the time; between whole numbers linear.

    p_n = p_{n-1} (N - n + 1) / (Z mu(n)). Above c this is one server of rate mu and M = N - c requesters: it is empty a
    share B of its time, Erlang's loss at load Z mu, with M - Z mu (1 - B) present (Kleinrock 1975, section 3.8).
    """
    whole = np.floor(population)
    rest = population - whole
    found = _requesters(station, np.maximum(whole, 1.0), think)
    if (rest > 0).any():
        more = _requesters(station, np.maximum(whole, 1.0) + 1, think)
        few = np.where(whole < 1, population, 1 - rest)
        many = np.where(whole < 1, 0.0, rest)
        found = [few * a + many * b for a, b in zip(found, more, strict=True)]
    return Figures(*(active * each for each in found))


def _requesters(station: DeviceStation, population: Array, think: Array) -> list[Array]:
    """Rate, queue, gap, busy and rate of those that wait, of a whole number of requesters."""
    think = np.maximum(think, LEAST_THINK)
    steps, shape = station.steps, (station.most, population.size)
    # At level c: the distribution there, and over the levels below it the mass, the I/Os in service and their rate;
    # scaled together.
    here = np.ones(population.size)
    below = np.zeros((3, population.size))
    at, under = np.empty(shape), np.empty((3, *shape))
    for n in range(1, station.most + 1):
        below = below + here * np.array([1.0, n - 1.0, steps[n - 1]])[:, None]
        here = here * np.maximum(population - n + 1, 0.0) / (think * steps[n])
        scale = below[0] + here
        below, here = below / scale, here / scale
        at[n - 1], under[:, n - 1] = here, below
    c, over = station.devices, station.over
    rest = np.maximum(population - c, 0.0)
    load = think * over
    blocked = _blocked(load, rest)
    total = under[0] * blocked + at
    safe = np.where(total > 0, total, 1.0)
    tail = np.where(total > 0, at / safe, 0.0)
    below_share = np.where(total > 0, blocked / safe, 1.0) * under
    busy_over = tail * (1 - blocked)
    level = tail * blocked
    serving = station.serving
    queue = tail * np.maximum(rest - load * (1 - blocked), 0.0)
    rate = below_share[2] + level * steps[1:, None] + busy_over * over
    gap = c * busy_over * (1 - serving)
    busy = below_share[1] + level * c + c * busy_over * serving
    return [rate, queue, gap, busy, busy_over * over]


def _blocked(load: Array, servers: Array) -> Array:
    """Erlang's loss (1917) B(M) = a B(M-1) / (M + a B(M-1)), M whole; more than FEW servers by `queueing.erlang`."""
    if (many := servers > FEW).any():
        found = np.empty(load.shape)
        found[many] = 1 / inverse_blocking(load[many], servers[many])
        found[~many] = _blocked(load[~many], servers[~many])
        return found
    order = np.argsort(servers, axis=None)
    loads, limits = load.ravel()[order], servers.ravel()[order]
    chance = np.ones_like(loads)
    counts = np.arange(1, int(limits[-1]) + 1) if limits.size else np.arange(0)
    for count, first in zip(counts, np.searchsorted(limits, counts), strict=True):
        met = loads[first:] * chance[first:]
        chance[first:] = met / (count + met)
    found = np.empty_like(chance)
    found[order] = chance
    return found.reshape(load.shape)


def phases(station: DeviceStation, rate: Array, on_rate: Array, on_time: Array) -> Figures:
    """Poisson arrivals of `on_rate` that are on for exponential times of mean `on_time`, and off for others (IPP/M/c).

    With alpha = 1/D, beta = alpha f / (1 - f), f = rate / R the levels above c fall by sigma, the smaller root of
    mu s^2 - (beta + mu + R + alpha) s + R (beta + mu) / mu = 0 in its scaled form; the levels below follow from the cut
    R on_n = mu(n+1) (on + off)_{n+1} and the balance of the off state, a positive 2 x 2 matrix a level.
    """
    steps = station.steps
    alpha = 1.0 / on_time
    share = np.minimum(rate / on_rate, 1 - 1e-9)
    beta = alpha * share / (1 - share)
    over = station.over
    load = on_rate / over
    tall = load * (beta + over)
    middle = beta + over + on_rate + alpha
    sigma = 2 * tall / (middle + np.sqrt(np.maximum(middle**2 - 4 * over * tall, 0.0)))
    stable = (rate < over * (1 - 1e-12)) & (sigma < 1)
    room = np.where(stable, 1 - sigma, 1.0)
    on, off = sigma, np.maximum(load - sigma, 0.0)
    mass, busy, scales = (np.empty(over.shape) for _ in range(3))
    sums = np.zeros((2, 2, rate.size))  # (mass, in service) of the levels below n, as rows for (on, off) at n
    scale = np.ones(rate.size)
    for n in range(station.most + 1):
        rows = sums + scale * np.array([1.0, n])[:, None, None]
        leave = beta + steps[n]
        if n:
            total = _passed(rows, over[n - 1], on_rate, alpha, leave)
            mass[n - 1], busy[n - 1] = total[:, 0] * on[n - 1] + total[:, 1] * off[n - 1]
            scales[n - 1] = scale
        if n == station.most:
            break
        sums = _passed(rows, np.broadcast_to(steps[n + 1], rate.shape), on_rate, alpha, leave)
        large = np.maximum(sums[0].sum(axis=0), 1.0)
        sums, scale = sums / large, scale / large
    tail = scales * load / room
    return _figures(station, rate, mass, busy, tail, tail / room, stable)


def slow_levels(rate: Array, on_rate: Array, share: Array) -> tuple[Array, Array]:
    """Rate while off and share of the time on, where a `share` of the I/Os comes on top of the others while on."""
    least = (1 - share) * rate
    return least, np.minimum(share * rate / np.maximum(on_rate - least, 1e-300), 1 - 1e-12)


def slow_phases(station: DeviceStation, rate: Array, on_rate: Array, share: Array) -> Figures:
    """Two phases that last far longer than any queue, M/M/c in each, at the rates on_rate and (1 - share) rate.

    The mean is the rate where they are on for share rate / (on_rate - (1 - share) rate) of the time.
    """
    one = np.ones_like(rate)
    least, on = slow_levels(rate, on_rate, share)
    both = batches(station, on_rate, one, one), batches(station, least, one, one)
    return Figures(*(on * high + (1 - on) * low for high, low in zip(*both, strict=True)))


def _passed(rows: Array, down: Array, on_rate: Array, alpha: Array, leave: Array) -> Array:
    """Rows times the matrix from level n + 1 to n: on = down / R (on + off)', off = (alpha on + down off') / leave."""
    flow = down / on_rate
    back = alpha * flow / leave
    on, off = rows[:, 0], rows[:, 1]
    common = on * flow + off * back
    return np.stack([common, common + off * down / leave], axis=1)


def variable(station: DeviceStation, rate: Array, ratio: Array) -> Figures:
    """Poisson arrivals whose service has scv `2 ratio - 1`: one device has `ratio` times the exponential wait.

    With several devices a long I/O holds up one of them: the wait grows with the scv to a limit (Kimura 1986, with
    constant service by Cosmetatos 1975; within a fifth of the exact wait up to scv 4, within half up to 10).
    """
    one = np.ones_like(rate)
    plain = batches(station, rate, one, one)
    load, scv = rate * station.growth, 2 * ratio - 1
    even = np.clip(cosmetatos_1975(one, 0.0 * one, load, station.devices), 0.5, 1.0)
    return plain._replace(queue=plain.queue * kimura_1986(one, even, scv))
