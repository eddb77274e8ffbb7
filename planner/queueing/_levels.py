"""Chains of levels, eliminated without a subtraction and solved by blocks.

The diagonal of a generator is minus the sum of what leaves. Formed as that sum, and never as a difference, it keeps
states that are too rare for the rounding of the others (Grassmann, Taksar and Heyman 1985). Every function takes the
rates between different states, many chains side by side; what stands on the diagonal does not matter.

With A_n the local block of level n, D_n its way down, U_n where an arrival leads and lambda_n the arrival rate,
all that lies above level n acts on it through

    S_n = A_n + lambda_n U_n (-S_{n+1})^-1 D_{n+1},    p_{n+1} = lambda_n p_n U_n (-S_{n+1})^-1

(Gaver, Jacobs and Latouche 1984, section 3). The diagonal of S_n is minus the sum of what leaves, so that no
digits cancel. Above level c the blocks of an open station repeat: p_{n+1} = p_n R.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.errors import ConvergenceError
from planner.queueing._station import Station
from planner.results import Array

LARGE: Final = 1e200
"""Weight of a state, relative to the first, from which on a law is scaled so that it does not overflow."""


def stationary(moves: Array) -> Array:
    """Law of chains given by the rates between different states, by state reduction: it never subtracts.

    A state that leads to none before it, directly or by later ones, is never left for them: they have no weight.
    """
    work = moves.copy()
    back = np.ones(work.shape[:-1])
    for last in range(work.shape[-1] - 1, 0, -1):
        back[:, last] = work[:, last, :last].sum(-1)
        work[:, :last, last] /= np.where(back[:, last] > 0.0, back[:, last], 1.0)[:, None]
        work[:, :last, :last] += work[:, :last, last, None] * work[:, last, None, :last]
    law = np.ones(work.shape[:-1])
    for state in range(1, work.shape[-1]):
        law[:, state] = (law[:, :state] * work[:, :state, state]).sum(-1)
        kept = back[:, state] <= 0.0
        law[kept, :state], law[kept, state] = 0.0, 1.0
        if (law[:, state] > LARGE).any():
            law[:, : state + 1] /= np.maximum(law[:, state, None], 1.0)  # what is so much rarer is nothing
    return np.asarray(law / law.sum(-1, keepdims=True))


def dwell_times(moves: Array, leaves: Array) -> Array:
    """Mean times in the states of a level before it is left, by the state it is entered in.

    The inverse of a matrix with `moves` off its diagonal and dominant rows. LAPACK serves unless the level is left
    so rarely that a pivot is lost in rounding.
    """
    try:
        times = inverse_dominant(closed_by(moves.copy(), leaves[..., None]))
    except np.linalg.LinAlgError:
        return _dwell_long(moves, leaves)
    return times if (times >= 0).all() else _dwell_long(moves, leaves)


def _dwell_long(moves: Array, leaves: Array) -> Array:
    """As `dwell_times`, by elimination that knows what leaves and so never subtracts.

    Grassmann, Taksar and Heyman (1985); Alfa, Xue and Ye (2002). A level that is hardly ever left keeps its digits.
    """
    size = moves.shape[-1]
    work, leaves, pivots = moves.copy(), leaves.copy(), np.empty_like(leaves)
    for k in range(size):
        onward, pivot = work[:, k, k + 1 :], pivots[:, k]
        pivot[:] = onward.sum(-1) + leaves[:, k]
        share = work[:, k + 1 :, k]
        share /= pivot[:, None]
        work[:, k + 1 :, k + 1 :] += share[:, :, None] * onward[:, None, :]
        leaves[:, k + 1 :] += share * leaves[:, k, None]
    times = np.broadcast_to(np.eye(size), moves.shape).copy()
    for k in range(1, size):
        times[:, k] += (work[:, k, None, :k] @ times[:, :k])[:, 0]
    for k in range(size - 1, -1, -1):
        times[:, k] += (work[:, k, None, k + 1 :] @ times[:, k + 1 :])[:, 0]
        times[:, k] /= pivots[:, k, None]
    return times


def inverse_dominant(dominant: Array) -> Array:
    """Inverse of matrices with dominant rows, positive diagonal and nothing else positive: no term is negative.

    Transposed, the dominance is by columns, elimination never swaps rows, and only like signs are added.
    """
    return np.asarray(np.linalg.inv(dominant.swapaxes(-1, -2)).swapaxes(-1, -2), dtype=np.float64)


def closed_by(off_diagonal: Array, down: Array) -> Array:
    """Minus S of a level: its diagonal is what leaves."""
    k = np.arange(off_diagonal.shape[-1])
    off_diagonal[:, k, k] = 0.0
    closed = -off_diagonal
    closed[:, k, k] = off_diagonal.sum(-1) + down.sum(-1)
    return closed


RESCALE_ABOVE: Final = 1e200  # a probability above which all are scaled down against overflow
LEAST_THINK: Final = 1e-15  # of the service time: no think time at all is the limit, at working precision
CYCLES: Final = 60  # of logarithmic reduction, each doubles the levels
TAIL: Final = 1e-15  # change of a passage at which doubling ends


def solve_closed(n: int, think: Array, station: Station) -> Array:
    """Sums of a closed station of n requesters, as `Steady.from_sums` takes them."""
    think = np.maximum(think, LEAST_THINK * station.service)
    ratios: list[Array] = []
    seen: Array | None = None
    for level in range(n, 0, -1):
        inverse, down = _passage(station, level, seen)
        arrivals = ((n - level + 1) / think)[:, None, None]
        up = station.up(level - 1)
        rise = arrivals * (inverse if up is None else up @ inverse)
        ratios.append(rise)
        seen = rise @ down
    sums = Sums(station)
    law = np.ones((len(think), 1))
    for level in range(n + 1):
        law = sums.add(level, law, (n - level) / think)
        if level < n:
            law = _times(law, ratios[n - 1 - level])
    return sums.result()


def solve_crowded(n: int, think: Array, station: Station) -> Array:
    """As `solve_closed`, for think times up to the service time: from the full station down.

    There ``p_n = p_{n+1} D_{n+1} (-T_n)^-1`` with T_n = A_n + D_n (-T_{n-1})^-1 lambda_{n-1} U_{n-1}, what lies below
    level n acting on it; the other way the ratios of neighboring levels would leave float64 as the think time vanishes.
    """
    think = np.maximum(think, LEAST_THINK * station.service)
    steps: list[Array] = []
    moves = station.local(0)
    for level in range(n):
        arrivals = ((n - level) / think)[:, None, None]
        times, up, down = (
            inverse_dominant(closed_by(moves, arrivals)),
            station.up(level),
            station.down(level + 1),
        )
        steps.append(down @ times)
        moves = station.local(level + 1) + arrivals * (steps[-1] if up is None else steps[-1] @ up)
    sums = Sums(station)
    law = stationary(moves)
    for level in range(n, -1, -1):
        law = sums.add(level, law, (n - level) / think)
        if level:
            law = _times(law, steps[level - 1])
    return sums.result()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSolution:
    """What an open chain gives: the sums, the law at level c (normalized), and R."""

    sums: Array
    full: Array
    ratio: Array


def solve_open(rate: Array, station: Station) -> OpenSolution:
    """Solve an open station below saturation (Latouche and Ramaswami 1993)."""
    top, arrivals = station.servers, rate[:, None, None]
    local, down = station.local(top + 1), station.down(top + 1)
    seen = arrivals * first_passage(arrivals, local, down)
    inverse = inverse_dominant(closed_by(local + seen, down))
    ratio = arrivals * inverse
    seen = ratio @ down
    ratios: list[Array] = []
    for level in range(top, 0, -1):
        inverse, down = _passage(station, level, seen)
        up = station.up(level - 1)
        ratios.append(arrivals * (inverse if up is None else up @ inverse))
        seen = ratios[-1] @ down
    sums = Sums(station)
    law = np.ones((len(rate), 1))
    for level in range(top):
        law = _times(sums.add(level, law, rate), ratios[top - 1 - level])
    full = sums.add(top, law, rate)
    scale = sums.scale.copy()
    # Levels above c, summed: p R (I - R)^-1, and for the queue p R (I - R)^-2.
    rest = np.eye(ratio.shape[-1]) - ratio
    beyond = sums.add(top, _solve_left(_times(full, ratio), rest), rate)
    sums.values[2] += _solve_left(beyond, rest).sum(-1)
    full = full * (sums.scale / scale / sums.values[0])[:, None]
    return OpenSolution(sums=sums.result(), full=full, ratio=ratio)


def _passage(station: Station, level: int, seen: Array | None) -> tuple[Array, Array]:
    """(-S_n)^-1 and D_n, where `seen` is what the levels above add to the local block."""
    local, down = station.local(level), station.down(level)
    return dwell_times(local if seen is None else local + seen, down.sum(-1)), down


def _times(law: Array, matrix: Array) -> Array:
    return (law[:, None, :] @ matrix)[:, 0, :]


def _solve_left(law: Array, matrix: Array) -> Array:
    """X of x matrix = law."""
    return np.asarray(np.linalg.solve(matrix.swapaxes(-1, -2), law[..., None])[..., 0], dtype=np.float64)


class Sums:
    """Running sums over the levels of a chain, rescaled where they grow too large."""

    def __init__(self, station: Station) -> None:
        self.station = station
        # total, in service, waiting, in gap, rate of service, arrivals, delayed arrivals
        self.values = np.zeros((7, len(station.service)))
        self.scale = np.ones(len(station.service))

    def add(self, level: int, law: Array, arrivals: Array) -> Array:
        """Add one level with its (unnormalized) law; returns the law, rescaled with the sums."""
        station = self.station
        mass, gaps = law.sum(-1), law @ station.in_gap(level)
        waiting = mass * max(level - station.servers, 0) + gaps
        ends = (law * station.ends(level)).sum(-1)
        source = mass * arrivals
        delayed = source if level >= station.servers else np.zeros_like(source)
        self.values += [mass, law @ station.served(level), waiting, gaps, ends, source, delayed]
        scale = np.where(mass > RESCALE_ABOVE, 1 / RESCALE_ABOVE, 1.0)
        self.values *= scale
        self.scale *= scale
        return law * scale[:, None]

    def result(self) -> Array:
        """Throughput [1/s], in service, waiting, in gap, delay probability, service time [s]."""
        total, busy, waiting, gaps, ends, source, delayed = self.values
        means = (busy / total, waiting / total, gaps / total)
        return np.stack([ends / total, *means, delayed / source, busy / ends])


def first_passage(arrivals: Array, local: Array, down: Array) -> Array:
    """G: the state at the first visit to the level below, by logarithmic reduction."""
    eye = np.broadcast_to(np.eye(local.shape[-1]), local.shape)
    inverse = inverse_dominant(closed_by(local.copy(), down + arrivals * eye))
    up, low = inverse * arrivals, inverse @ down
    passage, product = low.copy(), up.copy()
    step = np.inf
    for _ in range(CYCLES):
        back = inverse_dominant(eye - up @ low - low @ up)
        up, low = back @ (up @ up), back @ (low @ low)
        more = product @ low
        passage, product = passage + more, product @ up
        step = float(np.abs(more).max())
        if step < TAIL:
            return passage
    raise ConvergenceError("logarithmic reduction of an open queue", step, CYCLES)
