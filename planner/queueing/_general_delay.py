"""Laws of wait and response of M/PH/c and M/D/c, from the exact stationary state an arrival finds.

M/PH/c: who finds c + j requests waits for j + 1 ends of service. With pi_c R^j the states found, A and D the rates
of the full station without and with an end of service, P(W > t) = pi_c Y(t) 1 where Y(0) = (I - R)^-1 and
Y' = Y A + R Y D. At a rate theta no phase exceeds (uniformization) that is a Poisson mixture of positive numbers
pi_c Y_l 1, Y_{l+1} = Y_l (I + A/theta) + R Y_l D/theta.

M/D/c: with T_i = P(more than c + i at the station), x in [k - 1, k) service times and u = lambda (k - x),
P(W > x) = sum over j < k c of Poisson(j; u) T_{kc-1-j} + P(Poisson(u) >= k c) (Franx 2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import gammainc, gammaln, lambertw, xlogy

from planner.errors import ConvergenceError, InputError
from planner.queueing._delay_laws import stage_quantile
from planner.queueing._levels import inverse_dominant
from planner.queueing._phases import Batch, open_in_phases, shapes
from planner.queueing._roots import enclose, increasing_root
from planner.queueing._station import phase_type
from planner.results import Array

MOST_STAGES: Final = 200_000  # stages of a wait that are summed at most
LARGEST_CIRCLE: Final = 2**20  # points of a transform at most
SPREAD: Final = 12.0  # standard deviations of a Poisson variable, and as many units


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneralDelay:
    """M/G/c by its two-moment law; flat or shaped arrays of one shape."""

    load: Array
    servers: Array
    scv: Array
    service: Array

    def wait_quantile(self, p: Array) -> Array:
        """Wait [s]."""
        return self._quantile(p, own_service=False)

    def response_quantile(self, p: Array) -> Array:
        """Response time [s]."""
        return self._quantile(p, own_service=True)

    def _quantile(self, p: Array, *, own_service: bool) -> Array:
        given = np.broadcast_arrays(-np.log1p(-p), self.load, self.servers, self.scv, self.service)
        aim, load, servers, scv, service = (a.ravel() for a in given)
        result = np.where(load < servers, 0.0, np.inf)
        stable = (load < servers) & (load > 0)
        index = np.flatnonzero(stable & (scv == 0))
        if index.size:
            result[index] = _deterministic_quantile(aim[index], load[index], servers[index])
        if own_service:
            result[scv == 0] += 1.0
        # Without load there is no wait; a token load lets the same chain answer for the service alone.
        index = np.flatnonzero((load < servers) & (scv > 0) & (own_service | (load > 0)))
        token = np.where(load > 0, load, np.finfo(np.float64).tiny)
        if index.size:
            chosen = token[index], np.ones(index.size), servers[index], scv[index]
            for batch in open_in_phases(
                *chosen, 200
            ):  # states of a level: the law takes thousands of products of such
                rows = index[batch.index]
                result[rows] = _phase_quantile(aim[rows], scv[rows], batch, own_service=own_service)
        return np.asarray((result * service).reshape(given[0].shape))


def _phase_quantile(aim: Array, scv: Array, batch: Batch, *, own_service: bool) -> Array:
    """Quantiles of one batch in units of the service time."""
    station, solution = batch.station, batch.solution
    level = station.servers + 1
    local, down = station.local(level), station.down(level)
    states = local.shape[-1]
    leaving = local.sum(-1) + down.sum(-1)
    pace: Array = leaving.max(-1)
    stay = local / pace[:, None, None]
    k = np.arange(states)
    stay[:, k, k] += 1 - leaving / pace[:, None]
    end = down / pace[:, None, None]
    enough = 1e-13 * np.exp(-aim)  # of the tail at the quantile
    own = _ServiceStages.of(scv, station.law.phases, pace) if own_service else None
    stages = _stage_tails(solution.full, solution.ratio, stay, end, own, enough)
    return stage_quantile(aim, stages, np.zeros(len(aim))) / pace


@dataclass(frozen=True, slots=True, kw_only=True)
class _ServiceStages:
    """Own service in uniformized stages: where it starts, and the phase after one more stage."""

    start: Array
    step: Array

    @classmethod
    def of(cls, scv: Array, phases: int, pace: Array) -> _ServiceStages:
        law = phase_type(scv, phases)
        step = law.moves / pace[:, None, None]
        k = np.arange(phases)
        step[:, k, k] += 1 - (law.moves.sum(-1) + law.leaves) / pace[:, None]
        return cls(start=law.start, step=step)


def _stage_tails(
    full: Array, ratio: Array, stay: Array, end: Array, own: _ServiceStages | None, enough: Array
) -> Array:
    """P(stages of the wait, or of the response, > l) for l = 0, 1, ... until that is less than `enough`."""
    state = inverse_dominant(np.eye(ratio.shape[-1]) - ratio)
    waiting = (full[:, None, :] @ state).sum((-1, -2))
    serving = own.start * (1 - waiting)[:, None] if own else np.zeros((len(full), 1))
    tails = [waiting + serving.sum(-1)]
    for stage in range(1, MOST_STAGES):
        if stage % 64 == 0 and (tails[-1] <= enough).all():
            return np.stack(tails, axis=-1)
        state = state @ stay + ratio @ (state @ end)
        before, waiting = waiting, (full[:, None, :] @ state).sum((-1, -2))
        if own:
            serving = (serving[:, None, :] @ own.step)[:, 0] + own.start * (before - waiting)[:, None]
        tails.append(waiting + serving.sum(-1))
    raise ConvergenceError("the tail of a wait in stages", float(tails[-1].max()), MOST_STAGES)


def _deterministic_quantile(aim: Array, load: Array, servers: Array) -> Array:
    """Wait in units of the service time; scenarios with the same servers and the same reach side by side."""
    decay = _decay(load, servers)
    # exponent of what is left out beyond the largest number at the station
    reach = np.exp2(np.ceil(np.log2((37.0 + aim) / decay + 2 * servers)))
    if not (
        reach <= LARGEST_CIRCLE
    ).all():  # so near saturation some releases of scipy have no decay at all: nan
        worst = int(np.argmax(reach))
        told = f"less than a utilization of {load[worst] / servers[worst]:.6g} where a quantile is asked for"
        raise InputError("arrival_rate", float(load[worst]), told, "erlang")
    result = np.empty_like(load)
    for index, (count, points) in shapes(servers, reach):
        for part in np.array_split(index, max(1, index.size * points // 2_000_000)):
            above = _more_than(load[part], count, points)
            result[part] = _franx_quantile(aim[part], load[part], count, above)
    return result


def _decay(load: Array, servers: Array) -> Array:
    """Rate ln z of the geometric tail of the number at the station: z > 1 with c ln z = load (z - 1)."""
    rho = load / servers
    z = -lambertw(-rho * np.exp(-rho), -1).real / rho
    return np.log(z)


def _more_than(load: Array, servers: int, points: int) -> Array:
    """P(more than c + i at the station), i = 0, 1, ..., scenario x i, by inverting the generating function.

    P(z) = (c - lambda) (z - 1) product of (z - z_k)/(1 - z_k) / (z^c e^(lambda (1 - z)) - 1), at the roots of one.
    """
    rho = load / servers
    unit = np.exp(2j * np.pi * np.arange(1, servers) / servers)
    roots = -lambertw(-(rho * np.exp(-rho))[:, None] * unit) / rho[:, None]
    z = np.exp(2j * np.pi * np.arange(1, points) / points)
    value = (servers - load)[:, None] * (z - 1) / (z**servers * np.exp(load[:, None] * (1 - z)) - 1)
    for root in roots.T:
        value *= (z - root[:, None]) / (1 - root[:, None])
    values = np.concatenate([np.ones((load.size, 1)), value], axis=1)
    law = np.maximum(np.fft.fft(values, axis=1).real / points, 0.0)
    return np.cumsum(law[:, :servers:-1], axis=1)[:, ::-1]


def _franx_quantile(aim: Array, load: Array, servers: int, above: Array) -> Array:
    most = float(load.max())
    counts = np.arange(int(most + SPREAD * np.sqrt(most) + SPREAD))

    def excess(time: Array, row: Array, goal: Array) -> Array:
        rows = row.astype(np.int64)
        k = np.floor(time) + 1
        u = load[rows] * (k - time)
        poisson = np.exp(xlogy(counts, u[:, None]) - u[:, None] - gammaln(counts + 1))
        place = (k * servers).astype(np.int64)[:, None] - 1 - counts
        beyond = np.minimum(np.maximum(place, 0), above.shape[1] - 1)
        tail = (poisson * np.where(place >= 0, above[rows[:, None], beyond], 0.0)).sum(1)
        tail += gammainc(k * servers, u)
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(tail) - goal)

    rows = np.arange(aim.size, dtype=np.float64)
    nobody = excess(np.zeros_like(aim), rows, aim) > 0
    high = enclose(lambda time: excess(time, rows, aim), np.ones_like(aim))
    return np.where(nobody, 0.0, increasing_root(excess, np.zeros_like(aim), high, (rows, aim)))
