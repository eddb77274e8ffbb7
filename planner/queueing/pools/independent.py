"""Independent volumes one by one; open ones that never wait; closed ones that meet only through always busy aliases."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import ConvergenceError
from planner.queueing._levels import CYCLES, LARGE, level_ratios, tail_ratio
from planner.queueing.checks import TINY
from planner.queueing.pools.field.elements import PoolElements, Size, by_size, far_above, rounded
from planner.queueing.pools.field.given_total import volume_distribution, whole_power
from planner.queueing.pools.lumped import RESIDUAL
from planner.queueing.pools.outcome import Outcome
from planner.queueing.single_station import finite_source, mmc
from planner.results import Array, Flags

AGREES: Final = 1e-6  # largest change of a volume's queue in the last pass; each halves the error
CROWD: Final = 8.0
"""Mean number of waiting I/Os in standard deviations, above which some I/O always waits: throughputs are then within
1 % of exact chains, and within 5 % of the field where it converges (`tests/queueing/alias_pool`)."""


def without_aliases(elements: PoolElements) -> Outcome:
    """Solve pools without aliases: each volume is a single station; a try fails and the base picks it up."""
    here = elements.volumes > 0.0
    closed, opened = here & elements.closed, here & ~elements.closed
    outcome = Outcome.empty(elements)
    outcome.free_distribution[:] = 1.0
    gap = np.broadcast_to(elements.redrive_time[:, None], here.shape)
    for some in (closed, opened):
        if not some.any():
            continue
        service, redrive = elements.service[some], gap[some]
        if some is closed:
            people, think = elements.population[some], elements.think_time[some]
            steady = finite_source(people, think, service, 1, redrive_time=redrive)
        else:
            steady = mmc(elements.arrival_rate[some], service, 1, redrive_time=redrive)
        outcome.throughput[some] = steady.throughput
        outcome.queue[some] = steady.queue_length - steady.in_gap
        outcome.base_in_service[some] = steady.in_service
        for name in ("tries", "fails", "base_pickups"):
            getattr(outcome, name)[some] = steady.throughput * steady.delay_probability
    return outcome


def solve_ample(elements: PoolElements, cells: int = 200_000) -> tuple[Outcome, Flags]:
    """Solve open pools with so many aliases that no I/O waits: independent volumes, and every I/O starts at once."""
    outcome = Outcome.empty(elements)
    totals, beyond = rounded(elements.most_unlimited), rounded(far_above(*elements.unlimited).max(axis=-1))
    for size, which in by_size(totals, beyond, np.ones_like(totals)):
        parts = math.ceil(which.size * elements.volumes.shape[1] * size.totals / cells)
        for some in np.array_split(which, parts):
            outcome.write(some, _ample(elements.of(some), size))
    return outcome, np.ones(totals.size, dtype=bool)


def _ample(pools: PoolElements, size: Size) -> Outcome:
    """As `solve_ample`, for pools of one size."""
    outcome, d = Outcome.empty(pools), np.arange(float(size.beyond))
    idle_ends, busy_ends = (
        1.0 / (pools.service[..., None] * (1.0 + pools.inflation[:, None, None] * others))
        for others in (np.maximum(d - 1.0, 0.0), d)
    )
    log_busy, idle_to_busy = volume_distribution(
        pools, pools.arrivals(size.beyond), d * idle_ends, d * busy_ends, busy_ends
    )
    busy = np.exp(log_busy)
    both = busy * (1.0 + idle_to_busy)
    whole = both.sum(axis=-1, keepdims=True)
    busy_share = (busy / whole).sum(axis=-1)
    transform = np.fft.rfft(both / whole, 2 * size.totals)
    by_total = np.fft.irfft(whole_power(transform, pools.volumes).prod(axis=1), 2 * size.totals)[
        :, : size.totals
    ]
    free = np.maximum(pools.aliases.astype(np.int64)[:, None] - np.arange(size.totals), 0)
    np.add.at(outcome.free_distribution, (np.arange(len(free))[:, None], free), np.maximum(by_total, 0.0))
    outcome.throughput[:], outcome.tries[:] = pools.arrival_rate, pools.arrival_rate * busy_share
    outcome.base_in_service[:], outcome.alias_in_service[:] = busy_share, pools.unlimited[0] - busy_share
    return outcome


def few_states(elements: PoolElements, most: float) -> Flags:
    """Whether single closed volumes have at most so many states: requesters present, state of the base, gaps."""
    people, gap = elements.population.max(axis=-1), elements.redrive_time > 0.0
    return np.asarray(
        (people + 1.0) * (2.0 + gap) * (1.0 + np.minimum(elements.aliases, people) * gap) <= most
    )


def solve_single(elements: PoolElements, cells: int = 4_000_000) -> tuple[Outcome, Flags]:
    """Solve pools of one volume exactly, for exponential service, think times and gaps."""
    outcome, closed = Outcome.empty(elements), elements.closed[:, 0]
    levels = np.where(closed, elements.population[:, 0], elements.aliases + 1.0) + 2.0
    for size, which in by_size(
        rounded(levels), rounded(_most_in_gap(elements) + 1.0), closed.astype(np.int64)
    ):
        parts = math.ceil(which.size * size.totals * 9 * size.beyond**2 / cells)
        for some in np.array_split(which, parts):
            outcome.write(some, _SingleVolumes(elements.of(some), size.beyond).solve())
    return outcome, np.ones(levels.size, dtype=bool)


def _most_in_gap(elements: PoolElements, rare: float = 1e-18) -> Array:
    """Most aliases in their gap at once but for a `rare` probability: entries are as frequent as ends at most."""
    from scipy.special import gammainc

    # The more devices are in service, the more I/Os end; the number is below a Poisson variable.
    ends = (elements.aliases + 1.0) / (elements.service[:, 0] * (1.0 + elements.inflation * elements.aliases))
    number = np.arange(1.0, elements.aliases.max() + 1.0)
    often = gammainc(number, (elements.redrive_time * ends)[:, None]) >= rare
    return np.asarray(np.minimum(often.sum(axis=-1), elements.aliases))


class _SingleVolumes:
    """Chains of single volumes, all closed or all open: levels of the number present, phases within a level.

    Phases say the state of the base and how many aliases are in their gap; with `gaps` = 1 none is. Levels of open
    volumes repeat above A + 1, ``p[n+1] = p[n] R`` (Neuts 1981, chapter 1).
    """

    def __init__(self, elements: PoolElements, gaps: int) -> None:
        self.elements, self.gaps = elements, gaps
        self.closed, self.aliases = bool(elements.closed.all()), elements.aliases[:, None, None]
        self.idle, self.serves, self.base_in_gap = np.repeat(np.eye(3, dtype=bool), gaps, axis=1)
        self.phase, self.in_gap = np.arange(3 * gaps), np.tile(np.arange(float(gaps)), 3)

    def arrivals(self, present: Array) -> Array:
        """Arrival rates at levels, shape (elements, levels, 1)."""
        here = self.elements
        thinking = np.maximum(here.population[..., None] - present, 0.0)
        rate = np.broadcast_to(here.arrival_rate[..., None], thinking.shape)
        return thinking / here.think_time[..., None] if self.closed else rate

    def serving(self, present: Array) -> tuple[Array, Array, Array]:
        """Busy aliases, those in service, and the rate at which each I/O ends, (elements, levels, phases)."""
        busy = np.clip(present - ~self.idle, 0.0, self.aliases)
        serving = np.maximum(busy - self.in_gap, 0.0)
        beside = np.maximum(serving + self.serves - 1.0, 0.0)
        slowed = 1.0 + self.elements.inflation[:, None, None] * beside
        return busy, serving, 1.0 / (self.elements.service[..., None] * slowed)

    def moves(self, level: int) -> tuple[Array, Array, Array]:
        """Rates up, within a level, and down, (elements, phases, phases)."""

        def to(target: NDArray[Any], rate: Array) -> Array:
            return np.asarray(np.where(target[..., None] == self.phase, rate[..., None], 0.0))

        present = np.array([[float(level)]])
        arrive, (_, serving, ends) = (
            self.arrivals(present)[:, 0],
            (each[:, 0] for each in self.serving(present)),
        )
        at, before, after = self.phase, self.phase - self.gaps, self.phase + self.gaps
        gap = self.elements.redrive_time[:, None]
        gap_ends = 1.0 / np.where(gap > 0.0, gap, 1.0)
        waits = (present - ~self.idle - self.aliases > 0.0)[:, 0]
        never = self.idle & waits  # phases that are never entered lead to others
        up = to(np.where(self.idle, after, at), arrive * ~never)
        local = to(at - 1, self.in_gap * gap_ends) + to(before, self.base_in_gap * gap_ends)
        local += to(after, 1.0 * never)
        down = to(np.where(waits, np.where(gap > 0.0, after, at), before), self.serves * ends)
        down += to(np.where(waits & (self.in_gap < self.gaps - 1), at + 1, at), serving * ends)
        return up, local, down

    def tail(self, level: int) -> tuple[Array, Array, Array]:
        """The sum of all powers of R of open volumes above a level, the rates of returning to it, and the residual."""
        up, local, down = self.moves(level + 1)
        if self.closed:
            return 0.0 * up, 0.0 * up, np.zeros(len(up))
        ratio, times, _ = tail_ratio(up, local, down)
        outflow = (up + local + down).sum(axis=-1)[:, None]
        off = np.abs(up + ratio @ local - ratio * outflow + ratio @ ratio @ down).max(axis=(1, 2))
        if not (worst := float(off.max())) <= RESIDUAL:
            raise ConvergenceError("tail of an open volume", worst, CYCLES)
        return up @ times, ratio @ down, off

    def levels(self) -> tuple[Array, Array, Array]:
        """Probabilities of levels and phases, all above the last level in one; those above that one; the residual."""
        here = self.elements
        last = int((here.population if self.closed else here.aliases + 1.0).max())
        beyond, back, off = self.tail(last)
        moves = lru_cache(maxsize=1)(self.moves)  # each level is asked for twice, one after the other
        steps = level_ratios(lambda n: moves(n)[1:], lambda n, times: moves(n)[0] @ times, last, back)
        found = np.zeros((len(off), last + 2, self.phase.size))
        found[:, 0, 0] = 1.0
        for level, step in enumerate((*steps, beyond), 1):
            found[:, level] = (found[:, level - 1, None] @ step)[:, 0]
            found[found[:, level].sum(axis=-1) > LARGE] /= LARGE
        found /= found.sum(axis=(1, 2), keepdims=True)
        return found, (found[:, -1, None] @ beyond).sum(axis=(1, 2)), off

    def solve(self) -> Outcome:
        """Sum over levels and phases."""
        found, above, off = self.levels()
        present = np.arange(float(found.shape[1]))[:, None]
        busy, serving, ends = self.serving(present)
        waiting = np.maximum(present - ~self.idle - self.aliases, 0.0)
        arrivals, waits = self.arrivals(present), waiting > 0.0

        def mean(values: Array) -> Array:
            return np.asarray((found * values).sum(axis=(1, 2)))[:, None]

        outcome = Outcome.empty(self.elements)
        free = (self.aliases - busy).astype(np.int64)
        np.add.at(outcome.free_distribution, (np.arange(len(found))[:, None, None], free), found)
        return replace(
            outcome, throughput=mean(arrivals), tries=mean(arrivals * ~self.idle),
            fails=mean(arrivals * (present > self.aliases)), queue=mean(waiting) + above[:, None],
            base_pickups=mean(ends * self.serves * waits), alias_pickups=mean(ends * serving * waits),
            base_in_service=mean(1.0 * self.serves), alias_in_service=mean(serving), residual=off,
        )  # fmt: skip


def crowded(elements: PoolElements, least: float = CROWD, cells: int = 200_000) -> tuple[Outcome, Flags]:
    """Solve closed pools in which I/Os always wait; also return which ones these are (`least` standard deviations).

    Their aliases are always busy. Each waiting I/O is taken by an alias at the same rate a, the rate of ending aliases
    over the waiting I/Os; given a, volumes are independent. One with n at its base is a closed network of a delay and a
    station of the rate ``m(n) = 1 / s + a (n - 1)``: ``p(n) ~ Z^(N-n) / (N-n)! / (m(1) ... m(n))`` (Gordon and Newell
    1967), Z the think time plus, for I/Os taken by an alias, its service. a is such that the volumes hold all aliases.
    """
    outcome, are = Outcome.empty(elements), np.zeros(elements.aliases.size, dtype=bool)
    may = _closed(elements)
    sizes = rounded(elements.population.max(axis=-1) + 1.0)
    for size in np.unique(sizes[may]).tolist():
        which = np.flatnonzero(may & (sizes == size))
        step = max(cells // (size * elements.volumes.shape[1]), 1)
        for first in range(0, which.size, step):
            some = which[first : first + step]
            part, are[some] = _crowded(elements.of(some), size, least)
            outcome.write(some, part)
    return outcome, are


@np.errstate(invalid="ignore")  # pools without volumes
def may_be_crowded(elements: PoolElements) -> Flags:
    """Closed pools with more requesters than bases, aliases and those thinking at full rate; others cannot qualify."""
    here = (elements.volumes > 0.0) & elements.closed
    thinks = np.where(here, elements.think_time / elements.service, 0.0)
    most = elements.over_volumes(np.minimum(thinks, elements.population)) + elements.aliases * (
        1.0 + elements.over_volumes(thinks * elements.population) / elements.over_volumes(elements.population)
    )
    return np.asarray(_closed(elements) & (elements.most_beyond > most))


def _closed(elements: PoolElements) -> Flags:
    return np.asarray((elements.closed | (elements.volumes <= 0.0)).all(axis=-1) & (elements.aliases > 0.0))


@np.errstate(all="ignore")  # other methods solve elements that do not settle
def _crowded(pools: PoolElements, size: int, least: float, passes: int = 50) -> tuple[Outcome, Flags]:
    """As `crowded`, for pools with fewer than `size` requesters per volume."""
    people, service, think = pools.population, pools.service, pools.think_time
    gap, aliases = pools.redrive_time[:, None], pools.aliases[:, None]
    inflation = pools.inflation[:, None, None]
    n, beside = np.arange(float(size)), np.maximum(np.arange(float(size)) - 1.0, 0.0)
    busy = picked = throughput = np.ones_like(people)
    held = taken = np.zeros_like(people)
    queue, base, on_alias = np.maximum(people - 1.0, TINY), service + gap, service + gap
    at_base, change = np.zeros((*people.shape, size)), np.full(people.shape[0], np.inf)
    for _ in range(passes):
        pick = aliases / pools.over_volumes(queue * on_alias)[:, None]
        distribution = _held_by_one(pools, pick, queue, held, size)
        # Devices in their gap do not slow other devices of the volume.
        beside_base = n * (1.0 - gap / on_alias)[..., None]
        beside_alias = (
            beside * (1.0 - gap / on_alias)[..., None] + (busy - gap * busy * picked / base)[..., None]
        )
        slowed = service[..., None] * (1.0 + inflation * beside_base)
        base = 1.0 / (distribution / slowed).sum(axis=-1) + gap * picked
        slowed = service[..., None] * (1.0 + inflation * beside_alias) + gap[..., None]
        on_alias = (distribution * n).sum(axis=-1) / (distribution * n / slowed).sum(axis=-1)
        delay = think + taken / throughput * on_alias
        at_base = _birth_death_distribution(
            np.maximum(people[..., None] - n[:-1], 0.0) / delay[..., None],
            1.0 / base[..., None] + pick[..., None] * beside[1:],
        )
        busy = 1.0 - at_base[..., 0]
        picked = 1.0 - at_base[..., 1] / busy
        found = (at_base * beside).sum(axis=-1)
        change = np.abs(found - queue).max(axis=-1)
        queue, taken = 0.5 * (queue + found), pick * found
        throughput, held = busy / base + taken, 0.5 * (held + taken * on_alias)
    by_base = picked * busy / base
    spread = pools.over_volumes((at_base * beside**2).sum(axis=-1) - queue**2)
    waits = pools.over_volumes(queue) > least * np.sqrt(spread)
    outcome = replace(
        Outcome.empty(pools), throughput=throughput, tries=by_base + taken, fails=by_base + taken, queue=queue,
        base_pickups=by_base, alias_pickups=taken, base_in_service=busy - gap * by_base,
        alias_in_service=taken * (on_alias - gap), residual=change,
    )  # fmt: skip
    outcome.free_distribution[:, 0] = 1.0
    return outcome, waits & (change < AGREES)


def _held_by_one(pools: PoolElements, pick: Array, queue: Array, held: Array, size: int) -> Array:
    """Distribution of the aliases held by one volume of each class, a birth-death process, (elements, classes, size).

    The V other volumes with m aliases end I/Os in proportion to ``m / (1 + i (1 - 1 / V) + i m / V)``, as in
    `most_in_overload`. An ending alias takes one of this volume's I/Os in proportion to their share of all waiting; so
    does the volume's own.
    """
    n = np.arange(float(size))
    aliases, gap, inflation = (
        each[:, None, None] for each in (pools.aliases, pools.redrive_time, pools.inflation)
    )
    others = np.maximum(pools.volumes.sum(axis=-1) - 1.0, 1.0)[:, None, None]

    def ends(elsewhere: Array) -> Array:
        return np.asarray(elsewhere / (1.0 + inflation * (1.0 + (elsewhere - 1.0) / others)))

    left = aliases - np.minimum(held, 0.99 * pools.aliases[:, None])[..., None]
    waiting = np.maximum((queue + held)[..., None] - n, 0.0)
    among = np.minimum(waiting / pools.over_volumes(queue)[:, None, None], 1.0)
    births = pick[..., None] * waiting * left / aliases * ends(np.maximum(aliases - n, 0.0)) / ends(left)
    deaths = n / (pools.service[..., None] * (1.0 + inflation * n) + gap)
    return _birth_death_distribution(births[..., :-1], deaths[..., 1:] * (1.0 - among[..., :-1]))


def _birth_death_distribution(births: Array, deaths: Array) -> Array:
    """Distribution of 0, 1, ... from the rates of births at 0, 1, ... and of deaths at 1, 2, ..."""
    steps = np.log(births) - np.log(deaths)
    logs = np.concatenate([np.zeros((*steps.shape[:-1], 1)), np.cumsum(steps, axis=-1)], axis=-1)
    distribution = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(distribution / distribution.sum(axis=-1, keepdims=True))
