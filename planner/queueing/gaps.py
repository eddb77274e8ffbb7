"""Servers that need a redrive gap before a request that had to wait: a chain of levels, solved by blocks.

A state is (n, k): n requests at the station, k of the min(n, c) occupied servers in their gap, the other
m = min(n, c) - k in service at the total rate m / S(m). An arrival moves to (n + 1, k); the end of a service
to (n - 1, k + 1) if n > c, else to (n - 1, k); the end of a gap to (n, k - 1). With A_n the local block of
level n, D_n its way down and lambda_n its arrival rate, all that lies above level n acts on it through

    S_n = A_n + lambda_n (-S_{n+1})^-1 D_{n+1},    p_{n+1} = p_n lambda_n (-S_{n+1})^-1

(Gaver, Jacobs and Latouche 1984, section 3). The diagonal of S_n is taken as minus the sum of what leaves, so
that no digits cancel. Scenarios are solved side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.errors import ConvergenceError
from planner.results import Array

RESCALE_ABOVE: Final = 1e200
LEAST_THINK: Final = 1e-12  # of the service time: no think time at all is the limit, at working precision
CYCLES: Final = (
    60  # of cyclic reduction, each doubles the levels: 2**60 levels are enough for any load below 1
)
TAIL: Final = 1e-15


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """Servers with gaps, one element a scenario: service alone [s], servers, inflation, gap [s]."""

    service: Array
    servers: Array
    inflation: Array
    gap: Array

    @property
    def width(self) -> int:
        """Number of gap counts k = 0..c of the largest scenario."""
        return int(self.servers.max()) + 1

    def served(self, level: int) -> Array:
        """Requests in service at `level`, scenario x k; -1 marks states that do not exist."""
        served = np.minimum(level, self.servers)[:, None] - np.arange(self.width)
        return np.maximum(served, -1.0)

    def ends(self, level: int) -> Array:
        """Total service rate at `level` [1/s], scenario x k."""
        served = np.maximum(self.served(level), 0.0)
        inflated = self.service[:, None] * (1 + self.inflation[:, None] * np.maximum(served - 1, 0))
        return served / inflated

    def blocks(self, level: int) -> tuple[Array, Array]:
        """Off-diagonal local block (gaps ending) and down block of `level` [1/s], scenario x k x k."""
        k = np.arange(self.width)
        exists = self.served(level) >= 0
        local = np.zeros((len(self.service), self.width, self.width))
        local[:, k[1:], k[:-1]] = np.where(exists, k / self.gap[:, None], 0.0)[:, 1:]
        ends = self.ends(level)
        picks = (level > self.servers)[:, None]
        down = np.zeros_like(local)
        down[:, k, k] = np.where(picks, 0.0, ends)
        down[:, k[:-1], k[1:]] = np.where(picks, ends, 0.0)[:, :-1]
        return local, down


def _close(off_diagonal: Array, down: Array) -> Array:
    """Minus S of a level: the diagonal is what leaves; a state that nothing leaves does not exist."""
    k = np.arange(off_diagonal.shape[-1])
    off_diagonal[:, k, k] = 0.0
    leaves = off_diagonal.sum(-1) + down.sum(-1)
    closed = -off_diagonal
    closed[:, k, k] = np.where(leaves > 0, leaves, 1.0)
    return closed


def closed_with_gaps(n: Array, z: Array, station: Station) -> Array:
    """Solve M/M/c//N with redrive gaps, inflation and exponential times, exactly.

    Parameters
    ----------
    n : ndarray, shape (scenarios,)
        Requesters.
    z : ndarray, shape (scenarios,)
        Think time [s].
    station : Station
        The servers.

    Returns
    -------
    ndarray, shape (6, scenarios)
        As `Sums.result`.
    """
    top = int(n.max())
    think = np.maximum(z, LEAST_THINK * station.service)
    ratios: list[Array] = []
    inverse, down_above = np.empty(0), np.empty(0)
    for level in range(top, 0, -1):
        local, down = station.blocks(level)
        arrivals = (np.maximum(n - level, 0) / think)[:, None, None]
        if level < top:
            local = local + arrivals * (inverse @ down_above)
        inverse, down_above = np.linalg.inv(_close(local, down)), down
        ratios.append(np.maximum(n - level + 1, 0)[:, None, None] / think[:, None, None] * inverse)
    sums = Sums(station)
    law = np.zeros((len(n), station.width))
    law[:, 0] = 1.0
    for level in range(top + 1):
        law = sums.add(level, law, np.maximum(n - level, 0) / think)
        if level < top:
            law = (law[:, None, :] @ ratios[top - 1 - level])[:, 0, :]
    return sums.result()


class Sums:
    """Running sums over the levels of a chain, rescaled where they grow too large."""

    def __init__(self, station: Station) -> None:
        self.station = station
        # total, in service, waiting, in gap, rate of service, arrivals, delayed arrivals
        self.values = np.zeros((7, len(station.service)))

    def add(self, level: int, law: Array, arrivals: Array) -> Array:
        """Add one level with its (unnormalized) law over k; returns the law, rescaled with the sums."""
        c = self.station.servers
        served = np.maximum(self.station.served(level), 0)
        mass, gaps = law.sum(-1), law @ np.arange(self.station.width)
        waiting = mass * np.maximum(level - c, 0) + gaps
        rate = (law * self.station.ends(level)).sum(-1)
        source = mass * arrivals
        self.values += [
            mass,
            (law * served).sum(-1),
            waiting,
            gaps,
            rate,
            source,
            np.where(level >= c, source, 0),
        ]
        scale = np.where(mass > RESCALE_ABOVE, 1 / RESCALE_ABOVE, 1.0)
        self.values *= scale
        return law * scale[:, None]

    def result(self) -> Array:
        """Throughput [1/s], in service, waiting, in gap, delay probability, service time [s]."""
        total, busy, waiting, gaps, rate, source, delayed = self.values
        throughput = rate / total
        means = (busy / total, waiting / total, gaps / total)
        return np.stack([throughput, *means, delayed / source, busy / rate])


def capacity(station: Station) -> Array:
    """Throughput of servers that never idle: each ends a service, has its gap, and starts again.

    Parameters
    ----------
    station : Station
        The servers.

    Returns
    -------
    ndarray, shape (scenarios,)
        Largest throughput [1/s]; arrivals at or above it have no steady state.
    """
    level = int(station.servers.max())
    ends, served = station.ends(level), station.served(level)
    law = np.zeros_like(ends)
    law[:, 0] = 1.0
    for k in range(1, station.width):  # birth (a service ends) and death (a gap ends) over k
        exists = served[:, k] >= 0
        law[:, k] = np.where(exists, law[:, k - 1] * ends[:, k - 1] * station.gap / k, 0.0)
    return (law * ends).sum(-1) / law.sum(-1)


def open_with_gaps(rate: Array, station: Station) -> Array:
    """Solve an open M/M/c queue with redrive gaps and inflation, exactly, below saturation.

    Above level c the blocks repeat: p_{n+1} = p_n R with R = lambda (-S)^-1, S = A + lambda (-S)^-1 D, found
    by logarithmic reduction (Latouche and Ramaswami 1993).

    Parameters
    ----------
    rate : ndarray, shape (scenarios,)
        Arrival rate, below `capacity` [1/s].
    station : Station
        The servers.

    Returns
    -------
    ndarray, shape (6, scenarios)
        As `Sums.result`.

    Raises
    ------
    ConvergenceError
        The reduction did not converge.
    """
    top = int(station.servers.max()) + 1
    arrivals = rate[:, None, None]
    identity = np.eye(station.width)
    local, down = station.blocks(top)
    first_down = _first_passage(arrivals, local, down)
    inverse = np.linalg.inv(_close(local + arrivals * first_down, down))
    tail = arrivals * inverse
    ratios = [tail]
    for level in range(top - 1, 0, -1):
        local, down = station.blocks(level)
        upper_down = station.blocks(level + 1)[1]
        inverse = np.linalg.inv(_close(local + arrivals * (inverse @ upper_down), down))
        ratios.append(arrivals * inverse)
    sums = Sums(station)
    law = np.zeros((len(rate), station.width))
    law[:, 0] = 1.0
    for level in range(top + 1):
        law = sums.add(level, law, rate)
        law = (law[:, None, :] @ ratios[top - 1 - level])[:, 0, :] if level < top else law
    # Levels above the top, summed: p R (I - R)^-1 and, for the queue, p R (I - R)^-2.
    series = np.linalg.inv(identity - tail)
    beyond = (law[:, None, :] @ tail @ series)[:, 0, :]
    excess = (beyond[:, None, :] @ series)[:, 0, :]
    sums.add(top, beyond, rate)
    sums.values[2] += excess.sum(-1)
    return sums.result()


def _first_passage(arrivals: Array, local: Array, down: Array) -> Array:
    """G: the k at the first visit to the level below, by logarithmic reduction."""
    eye = np.broadcast_to(np.eye(local.shape[-1]), local.shape)
    closed = _close(local.copy(), down + arrivals * eye)
    inverse = np.linalg.inv(closed)
    up, low = inverse * arrivals, inverse @ down
    passage, product = low.copy(), up.copy()
    for cycle in range(CYCLES):
        back = np.linalg.inv(eye - up @ low - low @ up)
        up, low = back @ up @ up, back @ low @ low
        step = product @ low
        passage, product = passage + step, product @ up
        if np.abs(step).max() < TAIL:
            return passage
    raise ConvergenceError("logarithmic reduction of a queue with gaps", float(np.abs(step).max()), cycle + 1)
