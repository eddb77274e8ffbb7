"""Volumes with known demand: drawn kind by kind, simulated, printed with the digits of a listing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np

from planner.demand import DeviceModel, Target
from planner.demand.drawn_pool import DrawnPool, PoolRow
from planner.demand.pooled import read_pools
from planner.interval import Interval
from tests.demand import simulation as sim

STEADY = ("poisson", "closed", "guests")
BURSTY = ("batches", "active", "on-off", "periodic")
KINDS = (*STEADY, *BURSTY)
SCVS = (0.25, 0.5, 1.0, 1.0, 2.0)  # of service times
HITS_AND_MISSES = (3.0, 5.0, 9.0, 15.0)  # of a cache: nine hits of .25 ms to a miss of 6.5 ms have 6
# Ordinary volumes but for hits and misses, or for rates that change within the interval.
CACHED, SLOW, CROWDED = "cached", "slow", "crowded"
LEVELS = 12  # of such a rate, equally long, each for longer than any queue lasts
BUSIEST = 0.95  # of a base at any of them
SHARE = 0.05
MOST = 12  # aliases that a drawn volume may need
IOS = 200_000  # with phases twice as many: their waits converge slowly


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """One drawn volume: its components in units of the service time, service [s], scv and what simulation finds."""

    kind: str
    components: np.ndarray
    service: float
    scv: float
    inflation: float
    gap: float  # seconds
    seed: int
    levels: np.ndarray = field(default_factory=lambda: np.ones(1))  # of its rate, in turn
    rows: dict[int, np.ndarray] = field(default_factory=dict)

    @property
    def listing(self) -> bool:
        """Whether it is printed with the digits of a listing."""
        return bool(self.seed % 2)

    def row(self, aliases: int) -> np.ndarray:
        """Rate [1/s], service [s], queue, wait [s]."""
        if aliases in self.rows:
            return self.rows[aliases]
        phases = np.isin(self.components[:, 0], (sim.ACTIVE, sim.ON_OFF)).any()

        def simulated(parts: np.ndarray, ios: int, later: int) -> np.ndarray:
            return sim.simulate(
                parts, np.zeros(len(parts), dtype=np.int64), np.ones(1), self.scv, self.inflation,
                self.gap / self.service, aliases, ios, self.seed + aliases + later,
            )  # fmt: skip

        found = in_turn(simulated, self.components, self.levels[:, None], 2 * IOS if phases else IOS)[:, 0]
        self.rows[aliases] = found * np.array([1 / self.service, self.service, 1.0, self.service])
        return self.rows[aliases]

    def sampled(self, aliases: int, seconds: float, every: float) -> np.ndarray:
        """The row of so short an interval, its queue the mean of samples."""
        ios = max(int(self.row(aliases)[0] * seconds / 0.9), 100)
        found = sim.simulate(
            self.components, np.zeros(len(self.components), dtype=np.int64), np.ones(1), self.scv, self.inflation,
            self.gap / self.service, aliases, ios, self.seed + 77, every / self.service,
        )[:, 0]  # fmt: skip
        return np.asarray(found * np.array([1 / self.service, self.service, 1.0, self.service]))

    def needed(self, share: float = SHARE) -> int:
        """Smallest count with queue / rate at most 5 % of service, by bisection; MOST + 1 where none is enough."""

        def met(aliases: int) -> bool:
            return bool(Target(wait_share=share).met(*self.row(aliases)[:3]))

        low, high = -1, MOST + 1
        while high - low > 1:
            middle = (low + high) // 2 if high <= MOST else min(max(2 * low, 1), MOST) if low >= 0 else 0
            if met(middle):
                high = middle
            else:
                low = middle
            if low >= MOST:
                break
        return high


def in_turn(
    simulated: Callable[[np.ndarray, int, int], np.ndarray], parts: np.ndarray, levels: np.ndarray, ios: int
) -> np.ndarray:
    """Rate, service, queue and wait, each (volumes,), of an interval with rates at each of the levels equally long.

    `simulated` takes parts, I/Os and what is added to its seed; levels are (levels, parts), or one for all parts.
    """
    each = ios if len(levels) == 1 else ios // 4
    rows = [
        simulated(np.where(np.arange(5) == 1, level[:, None], 1.0) * parts, each, 1000 * k)
        for k, level in enumerate(levels)
    ]
    rate, service, queue, wait = np.stack(rows, axis=1)
    of_all = rate.mean(axis=0)
    some = np.maximum(of_all, 1e-300)
    return np.array([
        of_all, (rate * service).mean(axis=0) / some, queue.mean(axis=0), (rate * wait).mean(axis=0) / some
    ])  # fmt: skip


def lognormal_levels(spread: float, load: float, rng: np.random.Generator) -> np.ndarray:
    """Levels of a rate that is lognormal over time, in random order, the base at most so busy."""
    z = np.array([NormalDist().inv_cdf((k + 0.5) / LEVELS) for k in range(LEVELS)])
    return np.minimum(rng.permutation(np.exp(spread * z - spread**2 / 2)), BUSIEST / load)


def printed(row: np.ndarray, *, listing: bool = True) -> list[tuple[float, float, float]]:
    """Low, value, high of rate (.1/s), service (.01 ms) and queue (.01), or with three significant digits."""
    found = []
    for value, digit in ((row[0], 0.1), (row[1], 1e-5), (row[2], 0.01)):
        if not listing:
            digit = 10.0 ** (math.floor(math.log10(value)) - 2) if value > 0 else 1e-9  # noqa: PLW2901
        shown = round(value / digit) * digit
        found.append((max(shown - digit / 2, 0.0), shown, shown + digit / 2))
    return found


def _log(rng: np.random.Generator, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def component(kind: str, load: float, rng: np.random.Generator) -> list[float]:
    """Parameters of one component of about that load (I/Os a service time)."""
    if kind == "poisson":
        return [sim.POISSON, load, 0, 0, 0]
    if kind in {"closed", "guests"}:
        people = int(rng.integers(1, 7)) if kind == "closed" else int(rng.integers(8, 41))
        return [sim.CLOSED, people, max(people / load - people * load / 2 - 1, 0.02 * people), 0, 0]
    if kind == "batches":
        mean = _log(rng, 1.3, 5.0)
        return [sim.BATCHES, load / mean, mean, 0, 0]
    if kind == "active":
        people, think = int(rng.integers(2, 13)), _log(rng, 0.05, 3.0)
        speed = min(people / (1 + think), 0.97)
        share = min(load / speed, 0.95)
        lasts = _log(rng, 50, 600)
        return [sim.ACTIVE, people, think, lasts, lasts * (1 - share) / share]
    if kind == "on-off":
        strong = max(_log(rng, 0.5, 5.0), 1.3 * load)
        share = load / strong
        lasts = _log(rng, 4, 200)
        return [sim.ON_OFF, strong, lasts, lasts * (1 - share) / share, 0]
    many = int(rng.integers(2, 13))
    return [sim.PERIODIC, many, many / load, 0, 0]


def drawn(kind: str, rng: np.random.Generator, scvs: tuple[float, ...] = SCVS) -> Volume:
    """A volume of a kind, or of a mixture of two."""
    while True:
        pair = rng.choice(KINDS, size=2, replace=False) if kind == "mixture" else [kind]
        steady = all(name in STEADY for name in pair)
        if kind == "mixture" and steady:
            continue
        load = rng.uniform(0.03, 0.95) if steady else _log(rng, 0.03, 0.6)
        first = rng.uniform(0.25, 0.75)
        loads = [load * first, load * (1 - first)] if kind == "mixture" else [load]
        parts = np.array(
            [component(str(name), each, rng) for name, each in zip(pair, loads, strict=True)], dtype=float
        )
        return Volume(
            kind=kind, components=parts, service=_log(rng, 3e-4, 6e-3),
            scv=float(rng.choice(scvs)),
            inflation=float(rng.choice([0.0, 0.1, 0.18])), gap=float(rng.choice([0.0, 2e-5, 5e-5])),
            seed=int(rng.integers(1, 2**30)),
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A volume with its measured row, the aliases in use then, and the count that it needs."""

    volume: Volume
    aliases: int
    row: np.ndarray
    needed: int

    @property
    def source(self) -> Volume:
        """What measures it with any number of aliases."""
        return self.volume


def cases(seed: int, count: int, *, only: str = "") -> list[Case]:
    """Volumes of all kinds in turn, a quarter mixtures, or steady ones `only` that are CACHED or SLOW.

    A quarter has aliases in use.
    """
    rng = np.random.default_rng(seed)
    order = {CACHED: STEADY, SLOW: ("poisson",)}.get(only, (*KINDS, "mixture", "mixture"))
    found: list[Case] = []
    while len(found) < count:
        kind = order[len(found) % len(order)]
        volume = drawn(kind, rng, HITS_AND_MISSES if only == CACHED else SCVS)
        if only == SLOW:
            levels = lognormal_levels(rng.uniform(0.2, 1.2), float(volume.components[0, 1]), rng)
            volume = replace(volume, levels=levels)
        row = volume.row(0)
        if not (0.03 <= row[0] * row[1] <= 0.995) or row[2] > 60:
            continue
        needed = volume.needed()
        if needed > MOST:
            continue
        aliases = int(rng.integers(1, 5)) if rng.random() < 0.25 else 0
        measured = volume.row(aliases) if aliases else row
        found.append(Case(volume=volume, aliases=aliases, row=measured, needed=needed))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCase:
    """A pool of unequal volumes: what was measured of each with `aliases` in use, and the count that it needs.

    `row` measures it with any other count, `sampled` for so many seconds with a sample of the queue every so many.
    """

    rows: np.ndarray
    row: Callable[[int], np.ndarray]
    sampled: Callable[[int, float, float], np.ndarray]
    aliases: int
    needed: int
    inflation: float
    gap: float
    listing: bool

    @property
    def source(self) -> PoolCase:
        """What measures it with any number of aliases."""
        return self


def pool_cases(seed: int, count: int, *, only: str = "") -> list[PoolCase]:
    """Pools of 4 to 16 volumes, partly bursty, or `only` CACHED or SLOW ones; a quarter with aliases in use."""
    rng = np.random.default_rng(seed)
    found: list[PoolCase] = []
    while len(found) < count:
        case = _pool_case(rng, only)
        if case is not None:
            found.append(case)
    return found


def _pool_case(rng: np.random.Generator, only: str) -> PoolCase | None:
    size, bursty = int(rng.integers(4, 17)), 0.0 if only else rng.uniform(0.1, 0.9)
    inflation, gap = float(rng.choice([0.0, 0.1, 0.18])), float(rng.choice([0.0, 2e-5, 5e-5]))
    scv, seed = float(rng.choice(HITS_AND_MISSES if only == CACHED else SCVS)), int(rng.integers(1, 2**30))
    parts, services = np.zeros((size, 5)), np.array([_log(rng, 3e-4, 6e-3) for _ in range(size)])
    for volume, service in enumerate(services):
        kinds = ("poisson",) if only == SLOW else BURSTY if rng.random() < bursty else STEADY
        load = _log(rng, 0.03, 0.4 if kinds is BURSTY else 0.9)
        parts[volume] = in_seconds(component(str(rng.choice(kinds)), load, rng), service)
    # Rates that change slowly, of all volumes together or of each by itself.
    spread, together = (rng.uniform(0.2, 1.2), rng.random() < 0.5) if only == SLOW else (0.0, True)
    loads = parts[:, 1] * services
    levels = np.ones((1, size))
    if spread:
        every = [lognormal_levels(spread, loads.max() if together else load, rng) for load in loads]
        levels = np.tile(every[0], (size, 1)).T if together else np.array(every).T
    known: dict[int, np.ndarray] = {}

    def row(aliases: int) -> np.ndarray:
        def simulated(each: np.ndarray, ios: int, later: int) -> np.ndarray:
            return sim.simulate(
                each, np.arange(size), services, scv, inflation, gap, aliases, ios, seed + aliases + later
            )

        if aliases not in known:
            known[aliases] = in_turn(simulated, parts, levels, IOS)
        return known[aliases]

    def sampled(aliases: int, seconds: float, every: float) -> np.ndarray:
        ios = max(int(row(aliases)[0].sum() * seconds / 0.9), 100)
        owner = np.arange(size)
        return np.asarray(
            sim.simulate(parts, owner, services, scv, inflation, gap, aliases, ios, seed + 77, every)
        )

    def met(aliases: int) -> bool:
        rate, service, queue, _ = row(aliases)
        total = rate.sum()
        return bool(Target(wait_share=SHARE).met(total, (rate * service).sum() / total, queue.sum()))

    first = row(0)
    if not np.isfinite(first).all() or (first[0] * first[1]).max() > 0.99 or first[2].max() > 60 or met(0):
        return None
    low, high = 0, 8
    while not met(high):
        low, high = high, 2 * high
        if high > 64:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if met(middle) else (middle, high)
    used = int(rng.integers(1, high + 2)) if rng.random() < 0.25 else 0
    if (row(used)[0] <= 0).any():  # a volume so seldom active that nothing of it was seen
        return None
    return PoolCase(
        rows=row(used),
        row=row,
        sampled=sampled,
        aliases=used,
        needed=high,
        inflation=inflation,
        gap=gap,
        listing=bool(seed % 2),
    )


def crowded_cases(seed: int, count: int) -> list[PoolCase]:
    """Pools of 3 to 14 volumes, some of which keep .7 to 3 devices busy, with a sixth of the aliases needed or more."""
    rng = np.random.default_rng([seed, 7])
    found: list[PoolCase] = []
    while len(found) < count:
        case = _crowded_case(rng)
        if case is not None:
            found.append(case)
    return found


def _crowded_case(rng: np.random.Generator) -> PoolCase | None:
    size, bursty = int(rng.integers(3, 15)), rng.uniform(0.0, 0.9) if rng.random() < 0.75 else 0.0
    inflation, gap = float(rng.choice([0.0, 0.1, 0.18])), float(rng.choice([0.0, 2e-5, 5e-5]))
    scv, seed = float(rng.choice(SCVS)), int(rng.integers(1, 2**30))
    hot, usual = max(1, round(size * rng.uniform(0.1, 0.6))), _log(rng, 3e-4, 4e-3)
    parts, services = np.zeros((size, 5)), np.array([usual * _log(rng, 0.5, 2.0) for _ in range(size)])
    for volume, service in enumerate(services):
        load = _log(rng, 0.7, 3.0) if volume < hot else _log(rng, 0.03, 0.5)
        kind = str(rng.choice(BURSTY if rng.random() < bursty else STEADY))
        parts[volume] = in_seconds(_busy(kind, load, rng), service)
    known: dict[int, np.ndarray] = {}

    def row(aliases: int) -> np.ndarray:
        if aliases not in known:
            known[aliases] = sim.simulate(
                parts, np.arange(size), services, scv, inflation, gap, aliases, IOS, seed + aliases
            )
        return known[aliases]

    def met(aliases: int) -> bool:
        rate, service, queue, _ = row(aliases)
        total = rate.sum()
        return bool(
            np.isfinite(total)
            and Target(wait_share=SHARE).met(total, (rate * service).sum() / total, queue.sum())
        )

    needed = next((count for count in range(1, 65) if met(count)), None)
    if needed is None:
        return None
    used = int(rng.integers(max(1, needed // 6), needed + 2))
    measured = row(used)
    if not np.isfinite(measured).all() or not 0.0 < measured[2].sum() < 400 or (measured[0] <= 0).any():
        return None
    return PoolCase(
        rows=measured, row=row, sampled=_never, aliases=used, needed=needed, inflation=inflation, gap=gap,
        listing=bool(seed % 2),
    )  # fmt: skip


def _never(aliases: int, seconds: float, every: float) -> np.ndarray:
    raise NotImplementedError


def _busy(kind: str, load: float, rng: np.random.Generator) -> list[float]:
    """A component that keeps more than one device busy, or about that load."""
    if load < 0.4 or kind in {"poisson", "batches", "periodic"}:
        return component(kind, load, rng)
    devices = math.ceil(load)
    if kind == "closed":
        people = int(rng.integers(max(2, math.ceil(1.3 * load)), 8 + 4 * devices))
        return [sim.CLOSED, people, max(people / load - 1.0, 0.05), 0, 0]
    if kind == "guests":
        people = int(rng.integers(10 + 5 * devices, 60))
        return [sim.CLOSED, people, people / load - 1.0, 0, 0]
    strong = load * rng.uniform(1.3, 4.0)
    lasts = _log(rng, 50, 600) if kind == "active" else _log(rng, 4, 200)
    off = lasts * (strong / load - 1.0)
    if kind == "on-off":
        return [sim.ON_OFF, strong, lasts, off, 0]
    people = int(rng.integers(math.ceil(1.3 * strong), 4 + 3 * math.ceil(strong)))
    return [sim.ACTIVE, people, people / strong - 1.0, lasts, off]


def in_seconds(part: list[float], service: float) -> list[float]:
    """A component with its rates and times in seconds, from units of the service time."""
    kind, a, b, c, d = part
    if kind in {sim.POISSON, sim.BATCHES, sim.FIXED}:
        return [kind, a / service, b, c, d]
    if kind in {sim.CLOSED, sim.ACTIVE}:
        return [kind, a, b * service, c * service, d * service]
    if kind == sim.ON_OFF:
        return [kind, a / service, b * service, c * service, d]
    return [kind, a, b * service, c, d]


def read_pool(
    io_rate: Interval,
    service: Interval,
    queued: Interval,
    *,
    aliases: int = 0,
    device_model: DeviceModel,
    growth: float = 0.0,
) -> DrawnPool:
    """One pool alone."""
    return read_pools([PoolRow(io_rate, service, queued, aliases)], device_model=device_model, growth=growth)[
        0
    ]
