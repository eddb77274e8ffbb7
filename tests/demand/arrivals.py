"""Arrivals at the volumes of a pool that come together, in bursts or as recorded, and a simulation of any such list.

All are open: lists of times and volumes, in units of the mean service time. Every pool is measured with common random
numbers, so that its queue falls with the number of aliases, and what it needs is found by bisection.
"""

# ruff: noqa: PLR0912, PLR0915 - one event loop

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numba
import numpy as np
from numpy.typing import NDArray

from planner.demand import Target
from planner.reports.supply import PoolSupply
from planner.results import Array

SHARE = 0.05
IOS = 120_000
MOST_NEEDED = 200
Arrivals = tuple[Array, NDArray[np.int64]]
"""Times, rising, and the volume of each I/O."""


@numba.njit(cache=True)
def serve(times, volumes, work, many, inflation, gaps, aliases, seed, intervals=1):  # type: ignore[no-untyped-def]
    """Rate, service, queue without gaps, each (volumes,); shares of I/Os without device and without base; waits.

    As in `tests.demand.simulation`: a base serves its own queue in order, an alias takes any waiting I/O of the pool.
    Last are tries, fails, fewest and most free aliases that a try found, (4, intervals), of equal intervals.
    """
    np.random.seed(seed)  # noqa: NPY002 - numba knows no generators
    total, devices = times.size, many + aliases
    serves = np.full(devices, -1)
    in_gap, left, item = np.zeros(devices), np.zeros(devices), np.zeros(devices, dtype=np.int64)
    free_aliases = aliases
    in_service = np.zeros(many, dtype=np.int64)
    next_of = np.full(total, -1)  # linked queue of each volume
    head, tail = np.full(many, -1), np.full(many, -1)
    waiting = np.zeros(many, dtype=np.int64)
    total_waiting, found_none, tried = 0, 0, 0
    counted = np.zeros((4, intervals), dtype=np.int64)
    counted[2] = aliases
    long = times[-1] * (1 + 1e-9) / intervals
    queue, busy = np.zeros(many), np.zeros(many)
    waits = np.zeros(total)
    now, k = 0.0, 0
    while k < total:
        step, which = times[k] - now, -1
        for d in range(devices):
            v = serves[d]
            if v >= 0:
                due = in_gap[d] if in_gap[d] > 0 else left[d] * (1 + inflation * (in_service[v] - 1))
                if due < step:
                    step, which = due, d
        step = max(step, 0.0)
        for v in range(many):
            queue[v] += waiting[v] * step
            busy[v] += in_service[v] * step
        for d in range(devices):
            v = serves[d]
            if v >= 0:
                if in_gap[d] > 0:
                    in_gap[d] -= step
                    if d == which:
                        in_gap[d] = 0.0
                else:
                    left[d] -= step / (1 + inflation * (in_service[v] - 1))
        now += step
        if which < 0:
            v, device = volumes[k], -1
            if serves[v] >= 0:
                tried += 1
                interval = int(now / long)
                counted[0, interval] += 1
                counted[1, interval] += free_aliases == 0
                counted[2, interval] = min(counted[2, interval], free_aliases)
                counted[3, interval] = max(counted[3, interval], free_aliases)
            if serves[v] < 0:
                device = v
            elif free_aliases > 0:
                for d in range(many, devices):
                    if serves[d] < 0:
                        device = d
                        break
                free_aliases -= 1
            if device >= 0:
                serves[device], item[device], left[device] = v, k, work[k]
                in_service[v] += 1
            else:
                found_none += 1
                if head[v] < 0:
                    head[v] = k
                else:
                    next_of[tail[v]] = k
                tail[v] = k
                waiting[v] += 1
                total_waiting += 1
            k += 1
            continue
        v = serves[which]
        if left[which] > 1e-12:  # the gap is over, the service begins
            in_service[v] += 1
            waits[item[which]] = now - times[item[which]] - gaps
            continue
        in_service[v] -= 1
        serves[which] = -1
        source = -1
        if which < many:
            if waiting[which] > 0:
                source = which
        elif total_waiting > 0:
            pick = int(np.random.random() * total_waiting)  # noqa: NPY002
            source = 0
            while pick >= waiting[source]:
                pick -= waiting[source]
                source += 1
        if source >= 0:
            chosen = head[source]
            head[source] = next_of[chosen]
            waiting[source] -= 1
            total_waiting -= 1
            serves[which], item[which], left[which] = source, chosen, work[chosen]
            if gaps > 0:
                in_gap[which] = gaps
            else:
                in_service[source] += 1
                waits[chosen] = now - times[chosen]
        elif which >= many:
            free_aliases += 1
    done = np.zeros(many)
    for j in range(total):
        done[volumes[j]] += 1
    rows = np.zeros((3, many))
    for v in range(many):
        rows[0, v] = done[v] / now
        rows[1, v] = busy[v] / max(done[v], 1.0)
        rows[2, v] = queue[v] / now
    return rows, np.array([found_none / total, tried / total]), waits, counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Arriving:
    """A pool (or volume) and the list of what arrives at it."""

    kind: str
    arrivals: Arrivals
    volumes: int
    service: float  # seconds
    scv: float
    inflation: float
    gap: float  # seconds
    seed: int
    known: dict[int, tuple[Array, Array, Array]] = field(default_factory=dict)

    def served(self, aliases: int, intervals: int = 1) -> tuple[Array, Array, Array, NDArray[np.int64]]:
        """What `serve` finds."""
        rng = np.random.default_rng(self.seed)
        size = self.arrivals[0].size
        work = rng.gamma(1 / self.scv, self.scv, size) if self.scv != 1.0 else rng.exponential(size=size)
        found: tuple[Array, Array, Array, NDArray[np.int64]] = serve(
            *self.arrivals, np.maximum(work, 1e-9), self.volumes, self.inflation, self.gap / self.service, aliases,
            self.seed % 2**31, intervals,
        )  # fmt: skip
        return found

    def measured(self, aliases: int) -> tuple[Array, Array, Array]:
        """Row (3, volumes) in 1/s, s and I/Os; shares of I/Os without device and base; waits [service times]."""
        if aliases not in self.known:
            rows, none, waits, _ = self.served(aliases)
            units = np.array([1 / self.service, self.service, 1.0])
            self.known[aliases] = rows * units[:, None], none, waits
        return self.known[aliases]

    def supply(self, aliases: int, intervals: int = 240) -> PoolSupply:
        """Supply counters with so many aliases in use, of equal intervals."""
        tries, fails, fewest, most = self.served(aliases, intervals)[3]
        length = np.full(intervals, float(self.arrivals[0][-1]) / intervals * self.service)
        time = np.cumsum(length)
        return PoolSupply(
            pool="1", start=None, time=time, length=length, tries=tries, fails=fails, fewest=fewest, most=most,
            aliases=np.full(intervals, aliases), in_use=aliases, restarted=np.zeros(intervals, dtype=bool),
            plain=np.ones(intervals, dtype=bool),
        )  # fmt: skip

    def fails(self, aliases: int) -> float:
        """Share of tries that find no alias free."""
        none, tried = self.measured(aliases)[1]
        return float(none / max(tried, 1e-300))

    def row(self, aliases: int) -> Array:
        """Rate [1/s], service [s], queue of each volume, (3, volumes)."""
        return self.measured(aliases)[0]

    def met(self, aliases: int) -> bool:
        """Whether the mean wait is at most a twentieth of the mean service time."""
        rate, service, queue = self.row(aliases)
        total = rate.sum()
        return bool(Target(wait_share=SHARE).met(total, (rate * service).sum() / total, queue.sum()))

    @property
    def needed(self) -> int:
        """Smallest count that meets the target; more than `MOST_NEEDED` where none up to it does."""
        return least(self.met)


def least(met: Callable[[int], bool]) -> int:
    """Smallest count that is enough, by bisection."""
    low, high = -1, 1
    while not met(high):
        low, high = high, 2 * high
        if low >= MOST_NEEDED:
            return MOST_NEEDED + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if met(middle) else (middle, high)
    return high


def _log(rng: np.random.Generator, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def _sizes(rng: np.random.Generator, many: int, mean: float, tail: str) -> NDArray[np.int64]:
    """Whole batch sizes of about that mean: geometric, lognormal (sigma 1), or fixed."""
    if tail == "geometric":
        return rng.geometric(1 / mean, many)
    if tail == "lognormal":
        return np.maximum(np.round(rng.lognormal(math.log(mean) - 0.5, 1.0, many)), 1).astype(np.int64)
    return np.full(many, max(round(mean), 1))


def in_turn(
    rng: np.random.Generator, volumes: int, load: float, mean: float, tail: str, ios: int, within: float = 0.0
) -> Arrivals:
    """Requests at Poisson times, each over the volumes in turn from any one on, within a time; load a volume."""
    sizes = _sizes(rng, max(int(ios / mean), 50), mean, tail)
    at = np.cumsum(rng.exponential(sizes.mean() / (load * volumes), sizes.size))
    number = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    first = np.repeat(rng.integers(0, volumes, sizes.size), sizes)
    times = np.repeat(at, sizes) + within * number / np.repeat(sizes, sizes)
    return merged((times, (first + number) % volumes))


def on_one(rng: np.random.Generator, volumes: int, load: float, mean: float, tail: str, ios: int) -> Arrivals:
    """Batches at Poisson times, each on one volume."""
    sizes = _sizes(rng, max(int(ios / mean), 50), mean, tail)
    at = np.cumsum(rng.exponential(sizes.mean() / (load * volumes), sizes.size))
    return np.repeat(at, sizes), np.repeat(rng.integers(0, volumes, sizes.size), sizes)


def singles(rng: np.random.Generator, loads: Array, until: float) -> Arrivals:
    """Poisson arrivals of given loads, one a volume, until a time."""
    parts = [np.sort(rng.uniform(0, until, rng.poisson(load * until))) for load in loads]
    return merged(*((part, np.full(part.size, k)) for k, part in enumerate(parts)))


def merged(*lists: Arrivals) -> Arrivals:
    """Several lists in order of time."""
    times = np.concatenate([each[0] for each in lists])
    order = np.argsort(times, kind="stable")
    return times[order], np.concatenate([each[1] for each in lists]).astype(np.int64)[order]


def _pareto_on_off(rng: np.random.Generator, load: float, ios: int) -> Arrivals:
    """Twenty sources on and off for times with a Pareto tail of 1.4: self-similar, H = .8."""
    sources, share = 20, rng.uniform(0.05, 0.3)
    until, mean = ios / load, _log(rng, 5, 60)
    starts = []
    for _ in range(sources):
        n = int(until / mean * share * 1.5) + 50
        on = mean * (0.4 / 1.4) * (1 + rng.pareto(1.4, n))
        off = mean * (1 - share) / share * (0.4 / 1.4) * (1 + rng.pareto(1.4, n))
        begin = np.cumsum(on + off) - on - off * 0.0
        counts = rng.poisson(load / sources / share * on)
        starts.append(np.repeat(begin - on, counts) + rng.uniform(size=counts.sum()) * np.repeat(on, counts))
    times = np.sort(np.concatenate(starts))
    times = times[(times > 0) & (times < until)]
    return times, np.zeros(times.size, dtype=np.int64)


def _ramp(rng: np.random.Generator, load: float, ios: int) -> Arrivals:
    """Poisson arrivals whose rate doubles from the beginning to the end."""
    until = ios / load
    u = rng.uniform(size=ios)
    times = np.sort(until * (np.sqrt(1 + 3 * u) - 1))  # density (1 + t) / 1.5 on 0 to 1
    return times, np.zeros(times.size, dtype=np.int64)


TOGETHER = ("striped", "page writes", "checkpoints", "half striped")
INDEPENDENT = ("batches", "poisson")
VOLUMES = ("self-similar", "ramp", "flushes")


def _drawn(kind: str, rng: np.random.Generator) -> Arriving:
    many = int(rng.integers(4, 13))
    ios = IOS
    if kind == "striped":
        arrivals = in_turn(rng, many, _log(rng, 0.05, 0.5), rng.uniform(2, 12), "geometric", ios)
    elif kind == "page writes":
        many = int(rng.integers(4, 11))
        tail = str(rng.choice(["geometric", "fixed"]))
        load, mean = _log(rng, 0.05, 0.35), rng.uniform(15, 40)
        arrivals = in_turn(rng, many, load, mean, tail, ios, within=rng.uniform(0.0, 1.0))
    elif kind == "checkpoints":
        flush = in_turn(rng, many, _log(rng, 0.02, 0.1), rng.uniform(20, 60), "lognormal", ios // 2)
        arrivals = merged(flush, singles(rng, np.exp(rng.uniform(-3.5, -1.0, many)), float(flush[0][-1])))
    elif kind == "half striped":
        part = max(many // 2, 3)
        together = in_turn(rng, part, _log(rng, 0.05, 0.4), rng.uniform(3, 12), "geometric", ios // 2)
        own = singles(
            rng, np.exp(rng.uniform(-3.0, -0.7, many)) * (np.arange(many) >= part), float(together[0][-1])
        )
        arrivals = merged(together, own)
    elif kind == "batches":
        arrivals = on_one(rng, many, _log(rng, 0.05, 0.4), rng.uniform(2, 8), "geometric", ios)
    elif kind == "poisson":
        loads = np.exp(rng.uniform(math.log(0.1), math.log(0.8), many))
        arrivals = singles(rng, loads, ios / float(loads.sum()))
    else:
        many = 1
        if kind == "self-similar":
            arrivals = _pareto_on_off(rng, _log(rng, 0.05, 0.5), ios)
        elif kind == "ramp":
            arrivals = _ramp(rng, _log(rng, 0.1, 0.6), ios)
        else:
            load = _log(rng, 0.02, 0.2)
            flush = on_one(rng, 1, load * rng.uniform(0.5, 0.95), _log(rng, 15, 120), "lognormal", 2 * ios)
            arrivals = merged(flush, singles(rng, np.array([load * 0.3]), float(flush[0][-1])))
    return Arriving(
        kind=kind, arrivals=arrivals, volumes=many, service=_log(rng, 3e-4, 6e-3),
        scv=float(rng.choice([0.25, 0.5, 1.0])), inflation=float(rng.choice([0.0, 0.1, 0.176])),
        gap=float(rng.choice([0.0, 3e-5, 7e-5])), seed=int(rng.integers(1, 2**30)),
    )  # fmt: skip


RANGE_OF_NEED: dict[str, Callable[[int], bool]] = {"flushes": lambda need: 20 <= need <= 170}


def drawn(kind: str, seed: int, count: int) -> list[Arriving]:
    """Pools (or volumes) of a kind whose need lies between 1 and `MOST_NEEDED`; flushes as recorded, 20 to 170."""
    rng = np.random.default_rng([seed, (*TOGETHER, *INDEPENDENT, *VOLUMES).index(kind)])
    found: list[Arriving] = []
    while len(found) < count:
        one = _drawn(kind, rng)
        if one.row(0)[0].min() <= 0 or one.row(0)[2].max() > 100:
            continue
        if RANGE_OF_NEED.get(kind, lambda need: 1 <= need <= MOST_NEEDED)(one.needed):
            found.append(one)
    return found
