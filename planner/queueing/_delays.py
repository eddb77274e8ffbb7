"""Known distributions of wait and response: of exponential stages, of M/PH/c and of M/D/c.

A request that finds n >= c others at the station waits for n - c + 1 completions, each exponential of rate c/S. Its own
service, exponential of rate 1/S, is a geometric number of such stages (uniformization), so that both distributions are
P(T > t) = sum over l of Poisson(l; c t / S) P(K > l), K the number of stages: positive terms only.

M/PH/c: a request that finds c + j others waits for j + 1 ends of service. With pi_c R^j the states found, A and D the
rates of the full station without and with an end of service, P(W > t) = pi_c Y(t) 1 where Y(0) = (I - R)^-1 and
Y' = Y A + R Y D. At a rate theta no phase exceeds (uniformization) that is a Poisson mixture of positive numbers
pi_c Y_l 1, Y_{l+1} = Y_l (I + A/theta) + R Y_l D/theta.

M/D/c: with T_i = P(more than c + i at the station), x in [k - 1, k) service times and u = lambda (k - x),
P(W > x) = sum over j < k c of Poisson(j; u) T_{kc-1-j} + P(Poisson(u) >= k c) (Franx 2001).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc, gammaln, lambertw, xlogy

from planner.errors import ConvergenceError, InputError
from planner.queueing._phases import OpenSolution, Station, open_in_phases, shapes
from planner.queueing._roots import enclose, increasing_root
from planner.results import Array, Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialDelay:
    """M/M/c: a share `delay` waits, exponentially with mean wait / delay; `plain` without inflation.

    All arrays have the shape of the result; times in seconds.
    """

    delay: Array
    wait: Array
    service: Array
    plain: bool

    def quantile(self, p: Array, *, own_service: bool) -> Array | None:
        """Time at which delay exp(-t delay / wait), or the tail of wait plus exponential service, is 1 - p."""
        saturated = np.isinf(self.wait)
        if not own_service:
            with np.errstate(divide="ignore", invalid="ignore"):
                excess = np.log(self.delay) - np.log1p(-p)
                wait = np.where(excess > 0, excess * self.wait / self.delay, 0.0)
            return np.where(saturated, np.inf, wait)
        if not self.plain:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            spare = np.where((self.delay > 0) & ~saturated, self.delay * self.service / self.wait, 1.0)
        shape = np.broadcast_shapes(p.shape, spare.shape)
        goal, delay, spare = np.broadcast_arrays(-np.log1p(-p), self.delay, spare)
        slow = np.minimum(spare, 1.0)
        high = (goal + np.log1p(goal) + 1) / slow + np.log1p(delay / slow) / slow
        reached = increasing_root(
            lambda y, aim, d, s: -log_response_tail(y, d, s) - aim, 0 * goal, high, (goal, delay, spare)
        )
        return np.where(saturated, np.inf, np.broadcast_to(reached, shape) * self.service)


def log_response_tail(y: Array, delay: Array, spare: Array) -> Array:
    """Ln P(response > y S) of M/M/c with c - a = spare: service exponential, wait exponential of rate spare.

    The tail is exp(-y) [1 + delay (1 - exp(-(spare - 1) y)) / (spare - 1)]; the smaller rate is taken out.
    """
    faster = np.abs(spare - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mixed = np.where(faster * y > 0, -np.expm1(-faster * y) / faster, y)
    first = np.where(spare < 1, np.expm1(-faster * y), 0.0)
    return -np.minimum(spare, 1.0) * y + np.log1p(first + delay * mixed)


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedDelay:
    """Wait with limited room: a share `delay` of arrivals waits for 1 to `room` stages of rate `stage_rate` [1/s].

    For M/M/c/K the weight of k stages is load^k, load = rho. For M/M/c//N, whose sources are `finite`, it is
    load^m / m!, load = c Z / S, for the m = room - k requesters that still think. `plain` without inflation.
    """

    room: Array
    stage_rate: Array
    service: Array
    load: Array
    delay: Array
    finite: bool
    plain: bool

    def quantile(self, p: Array, *, own_service: bool) -> Array | None:
        """Quantile; with inflation, only of the wait (all servers are then busy): own service depends on arrivals."""
        if own_service and not self.plain:
            return None
        given = np.broadcast_arrays(
            -np.log1p(-p), self.room, self.stage_rate, self.service, self.load, self.delay
        )
        aim, room, stage_rate, service, load, delay = (a.ravel() for a in given)
        if room.max() > (most := 5_000_000):
            name = "response_quantile" if own_service else "wait_quantile"
            raise InputError(name, int(room.max()), f"at most {most} places to wait")
        ratio = 1 - 1 / (stage_rate * service) if own_service else np.zeros(aim.size)
        result = np.zeros(aim.size)
        for part in batches(room + 1):
            chance = self._chances(room[part], load[part], delay[part])
            tails = np.zeros_like(chance)  # P(stages > l)
            tails[:, :-1] = np.cumsum(chance[:, :0:-1], axis=1)[:, ::-1]
            serving = np.zeros(part.size)
            for stage in range(chance.shape[1] if own_service else 0):
                # waited at most `stage` stages, not yet served within them
                serving = ratio[part] * serving + chance[:, stage]
                tails[:, stage] += serving
            result[part] = stage_quantile(aim[part], tails, ratio[part]) / stage_rate[part]
        return result.reshape(given[0].shape)

    def _chances(self, room: Array, load: Array, delay: Array) -> Array:
        """Probability of exactly 0, 1, ... stages of waiting, for some scenarios."""
        stages = np.arange(1.0, room.max() + 1)
        left = np.maximum(room[:, None] - stages, 0)
        weight = (
            xlogy(left, load[:, None]) - gammaln(left + 1) if self.finite else xlogy(stages, load[:, None])
        )
        weight = np.where(stages <= room[:, None], weight, -np.inf)
        top = weight.max(1, keepdims=True, initial=-np.inf)
        weight = np.exp(weight - np.where(np.isfinite(top), top, 0.0))
        total = weight.sum(1, keepdims=True)
        waiting = delay[:, None] * weight / np.where(total > 0, total, 1.0)
        return np.concatenate([1 - delay[:, None], waiting], axis=1)


def batches(size: Array, most: int = 500_000) -> Iterator[Integers]:
    """Batches of scenarios of similar `size`, so that arrays have little padding; at least one scenario per batch."""
    order = np.argsort(size, kind="stable")
    start = 0
    while start < order.size:
        # Sizes rise, so the largest one limits the number of scenarios in a batch.
        ahead = order[start : start + max(1, int(most // max(size[order[start]], 1)))]
        fits = np.arange(1, ahead.size + 1) * size[ahead] <= 2 * most
        yield (part := ahead[: max(1, int(fits.sum()))])
        start += part.size


def stage_quantile(aim: Array, stages: Array, ratio: Array) -> Array:
    """Time, in stages, at which the tail is exp(-aim)."""

    def excess(time: Array, row: Array, goal: Array) -> Array:
        tail = _tail(time, stages[row.astype(np.int64)], ratio[row.astype(np.int64)])
        with np.errstate(divide="ignore"):
            return -np.log(tail) - goal

    rows = np.arange(aim.size, dtype=np.float64)
    high = enclose(lambda time: excess(time, rows, aim), (stages.shape[1] + aim) / (1 - ratio))
    return increasing_root(excess, np.zeros_like(aim), high, (rows, aim)) * (stages[:, 0] > np.exp(-aim))


def _tail(time: Array, stages: Array, ratio: Array) -> Array:
    """Sum of Poisson(l; time) P(K > l), with the geometric rest in closed form."""
    length = stages.shape[1]
    counts = np.arange(length, dtype=np.float64)
    poisson = np.exp(xlogy(counts, time[:, None]) - time[:, None] - gammaln(counts + 1))
    falls = np.where(ratio > 0, ratio, 1.0)
    with np.errstate(divide="ignore"):
        rest = np.log(gammainc(length, falls * time)) - (length - 1) * np.log(falls) - time * (1 - falls)
    beyond = np.where(ratio > 0, stages[:, -1] * np.exp(rest), 0.0)
    return np.asarray((poisson * stages).sum(1) + beyond)


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneralDelay:
    """M/G/c with the two-moment distribution of service; arrays of one shape."""

    load: Array
    servers: Array
    scv: Array
    service: Array

    def quantile(self, p: Array, *, own_service: bool) -> Array:
        """Wait, or response time [s]."""
        given = np.broadcast_arrays(-np.log1p(-p), self.load, self.servers, self.scv, self.service)
        aim, load, servers, scv, service = (a.ravel() for a in given)
        result = np.where(load < servers, 0.0, np.inf)
        stable = (load < servers) & (load > 0)
        index = np.flatnonzero(stable & (scv == 0))
        if index.size:
            result[index] = _deterministic_quantile(aim[index], load[index], servers[index])
        if own_service:
            result[scv == 0] += 1.0
        # Without load there is no wait; a tiny load lets the same chain give the quantile of service alone.
        index = np.flatnonzero((load < servers) & (scv > 0) & (own_service | (load > 0)))
        token = np.where(load > 0, load, np.finfo(np.float64).tiny)
        if index.size:
            chosen = token[index], np.ones(index.size), servers[index], scv[index]
            # few states per level: the distribution takes thousands of products of such matrices
            for part, station, solution in open_in_phases(*chosen, largest=200):
                rows = index[part]
                result[rows] = _phase_quantile(aim[rows], station, solution, own_service=own_service)
        return np.asarray((result * service).reshape(given[0].shape))


def _phase_quantile(aim: Array, station: Station, solution: OpenSolution, *, own_service: bool) -> Array:
    """Quantiles of several scenarios, in units of the service time."""
    level, distribution = station.servers + 1, station.distribution
    local, down = station.local(level), station.down(level)
    leaving = local.sum(-1) + down.sum(-1)
    stage_rate: Array = leaving.max(-1)
    stay = _uniformized(local, leaving, stage_rate)
    end = down / stage_rate[:, None, None]
    enough = 1e-13 * np.exp(-aim)  # relative to the tail at the quantile
    own = (
        (
            distribution.start,
            _uniformized(distribution.moves, distribution.moves.sum(-1) + distribution.leaves, stage_rate),
        )
        if own_service
        else None
    )
    stages = _phase_tails(solution, stay, end, own, enough)
    return stage_quantile(aim, stages, np.zeros(len(aim))) / stage_rate


def _uniformized(moves: Array, leaving: Array, stage_rate: Array) -> Array:
    """Transition probabilities of one stage of rate `stage_rate`, from the rates between states and of leaving them."""
    step = moves / stage_rate[:, None, None]
    k = np.arange(moves.shape[-1])
    step[:, k, k] += 1 - leaving / stage_rate[:, None]
    return step


def _phase_tails(
    solution: OpenSolution, stay: Array, end: Array, own: tuple[Array, Array] | None, enough: Array, most: int = 200_000
) -> Array:  # fmt: skip
    """P(stages of the wait, or of the response, > l) for l = 0, 1, ... until that is less than `enough`.

    `own` service has the initial probabilities of its phases, and their transition probabilities in one stage.
    """
    full, ratio, state = solution.full, solution.ratio, solution.powers
    begins, step = own or (np.zeros((len(full), 1)), np.zeros((1, 1, 1)))
    waiting = (full[:, None, :] @ state).sum((-1, -2))
    serving = begins * (1 - waiting)[:, None]
    tails = [waiting + serving.sum(-1)]
    for stage in range(1, most):
        if stage % 64 == 0 and (tails[-1] <= enough).all():
            return np.stack(tails, axis=-1)
        state = state @ stay + ratio @ (state @ end)
        before, waiting = waiting, (full[:, None, :] @ state).sum((-1, -2))
        serving = (serving[:, None, :] @ step)[:, 0] + begins * (before - waiting)[:, None]
        tails.append(waiting + serving.sum(-1))
    raise ConvergenceError("the tail of a wait in stages", float(tails[-1].max()), most)


def _deterministic_quantile(aim: Array, load: Array, servers: Array) -> Array:
    """Wait in units of the service time; scenarios with equal servers and transform length are solved together."""
    decay = _decay(load, servers)
    # number at the station above which a probability of e^-37 relative to the tail is left out
    reach = np.exp2(np.ceil(np.log2((37.0 + aim) / decay + 2 * servers)))
    # Too many points for a transform; this close to saturation some releases of scipy give nan as decay.
    if not (reach <= 2**20).all():
        worst = int(np.argmax(reach))
        wanted = f"less than a utilization of {load[worst] / servers[worst]:.6g} for a quantile"
        raise InputError("arrival_rate", float(load[worst]), wanted, "erlang")
    result = np.empty_like(load)
    for index, (count, points) in shapes(servers, reach):
        for part in np.array_split(index, max(1, index.size * points // 2_000_000)):
            above = _more_than(load[part], count, points)
            result[part] = _franx_quantile(aim[part], load[part], count, above)
    return result


def _decay(load: Array, servers: Array | int) -> Array:
    """Rate ln z of the geometric tail of the number at the station: z > 1 with c ln z = load (z - 1)."""
    rho = load / servers
    z = -lambertw(-rho * np.exp(-rho), -1).real / rho
    return np.log(z)


def _more_than(load: Array, servers: int, points: int) -> Array:
    """P(more than c + i at the station), i = 0, 1, ..., scenario x i, by inverting the generating function.

    P(z) = (c - lambda) (z - 1) product of (z - z_k)/(1 - z_k) / (z^c e^(lambda (1 - z)) - 1), on a circle with a radius
    above one, so that small probabilities keep their digits.
    """
    rho = load / servers
    unit = np.exp(2j * np.pi * np.arange(1, servers) / servers)
    roots = -lambertw(-(rho * np.exp(-rho))[:, None] * unit) / rho[:, None]
    decay, n = _decay(load, servers), np.arange(points)
    # aliasing stays below e^-37 of the distribution, and z^c below e^20
    radius = np.minimum(np.minimum(decay - 37.0 / points, decay / 2), 20.0 / servers)[:, None]
    log_z = radius + 2j * np.pi * n[: points // 2 + 1] / points
    beyond = np.expm1(log_z)  # z - 1
    falls = rho[:, None] * beyond - log_z
    each = np.exp(falls)  # the c-th root of z^-c e^(lambda (z - 1)), which is at most 1
    value = (load - servers)[:, None] * beyond * each / np.expm1(servers * falls)
    # alternate near and far roots, so that partial products stay in the range of float64
    for k in np.argsort(np.arange(1, servers) * 0.618034 % 1):
        value *= each * (1 + beyond / (1 - roots[:, k, None]))
    distribution = np.maximum(np.fft.hfft(value, points, axis=1) / points, 0.0) * np.exp(-radius * n)
    return np.cumsum(distribution[:, :servers:-1], axis=1)[:, ::-1]


def _franx_quantile(aim: Array, load: Array, servers: int, above: Array) -> Array:
    most = float(load.max())
    counts = np.arange(int(most + 12.0 * np.sqrt(most) + 12.0))  # practical range of the Poisson variable

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
