"""Requests that go to any volume of a pool of bases and shared aliases: how many it works on with n of them there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import InputError
from planner.results import Array

MOST_STATES: Final = 700  # ways to spread n requests over the volumes that one chain may have

NEAR: Final = 1e-6  # change of a chance that ends an iteration

State = tuple[int, ...]


def spread_pace(
    volumes: int, aliases: int, most: int, *, inflation: float = 0.0, gap: float = 0.0
) -> tuple[Array, int]:
    """Pace of a pool by the number of requests in it, each sent to any volume with the same chance.

    The pool is short-circuited (Chandy, Herzog and Woo 1975): with n requests that come back at once, its states are
    the ways to spread them over the volumes, and its mean rate is what the rest of a network sees. Aliases are shared
    evenly by the requests that need one; a request on an alias stays there though its base falls idle, in the mean as
    with any number of aliases. Exact without aliases, n volumes / (volumes + n - 1), and where nothing waits; else
    within 3 % of simulations, on the low side. Beyond 700 states the volumes count as independent.

    Examples
    --------
    >>> pace, _ = spread_pace(2, 0, 3)
    >>> pace.round(3).tolist()
    [1.0, 1.333, 1.5]
    """
    for name, value, least in (("volumes", volumes, 1), ("aliases", aliases, 0), ("most", most, 1)):
        if value < least:
            raise InputError(name, value, f"a count of at least {least}")
    solved, found = 0, [1.0]
    for number in range(1, most + 1):
        if _ways(number, min(number, volumes)) > MOST_STATES:
            break
        arrivals = (
            found[-1] * number / max(number - 1, 1) / volumes
        )  # as if the last requests brought as much each
        rate = _rate(number, volumes, aliases, round(inflation, 12), round(gap, 12), round(arrivals, 2))
        found.append(rate)
        solved = number
    found = found[1:]
    pace = np.array(found)
    if solved < most:
        numbers, rates = _independent(volumes, aliases, inflation, gap, most)
        beyond = np.interp(np.arange(solved, most + 1), numbers, rates)
        limit = _limit(volumes, aliases, inflation, gap)
        pace = np.concatenate([pace, np.minimum(beyond[1:] * pace[-1] / beyond[0], max(limit, pace[-1]))])
    # A pool never works on less because more is there; the chains agree but for their last digits.
    return np.maximum.accumulate(pace), solved


def _limit(volumes: int, aliases: int, inflation: float, gap: float) -> float:
    """Pace with any number of requests: aliases spread evenly over the volumes."""
    each = 1 + aliases / volumes
    return volumes * each / (1 + inflation * (each - 1)) / (1 + gap)


@lru_cache(maxsize=100_000)
def _ways(number: int, parts: int) -> int:
    """Ways to write a number as a sum of at most so many parts."""
    if number == 0:
        return 1
    if parts == 0:
        return 0
    return _ways(number, parts - 1) + (_ways(number - parts, parts) if number >= parts else 0)


def _spreads(number: int, parts: int, largest: int) -> Iterator[State]:
    """Every way, parts in falling order."""
    if number == 0:
        yield ()
        return
    if parts == 0:
        return
    for first in range(min(number, largest), 0, -1):
        for rest in _spreads(number - first, parts - 1, first):
            yield (first, *rest)


@dataclass(frozen=True, slots=True)
class _Chain:
    """States of a short-circuited pool, padded with 0, shape (states, parts), and its moves.

    A move goes `source` -> `target` when a request of the volume in `column` ends; `share` is the chance of the place
    to which it comes back, times the volumes that hold as many.
    """

    states: Array
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    column: NDArray[np.int64]
    share: Array


@lru_cache(maxsize=512)
def _chain(number: int, volumes: int) -> _Chain:
    """All states and moves, which no pace depends on."""
    states = list(_spreads(number, volumes, number))
    index = {state: k for k, state in enumerate(states)}
    moves: list[tuple[int, int, int, float]] = []
    for k, state in enumerate(states):
        for column, count in enumerate(state):
            if column and state[column - 1] == count:
                continue  # volumes that hold as many are one
            for target, share in _targets(state, column, volumes):
                moves.append((k, index[target], column, state.count(count) * share))
    width = min(number, volumes)
    padded = np.array([(*state, *[0] * (width - len(state))) for state in states], dtype=np.float64)
    table = np.array(moves)
    places = table[:, :3].astype(np.int64).T
    return _Chain(padded, places[0], places[1], places[2], table[:, 3])


def _targets(state: State, column: int, volumes: int) -> Iterator[tuple[State, float]]:
    """Where a request that ends comes back to, and with which chance."""
    left = list(state)
    left[column] -= 1
    base = [each for each in left if each]
    for at in dict.fromkeys([*base, 0]):
        many = base.count(at) if at else volumes - len(base)
        if not many:
            continue
        after = [*base]
        if at:
            after[after.index(at)] += 1
        else:
            after.append(1)
        yield tuple(sorted(after, reverse=True)), many / volumes


@lru_cache(maxsize=8192)
def _rate(number: int, volumes: int, aliases: int, inflation: float, gap: float, arrivals: float) -> float:
    """Mean pace with so many requests in the short-circuited pool."""
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import splu

    chain = _chain(number, volumes)
    paces = _paces(chain.states, aliases, inflation, gap, _on_base(arrivals, number))
    totals = paces.sum(-1)
    size = len(totals)
    if size == 1:
        return float(totals[0])
    rates = paces[chain.source, chain.column] * chain.share
    leaving = np.bincount(chain.source, rates, minlength=size)
    every = np.arange(size)
    inside = (chain.target > 0) & (chain.source > 0)
    # The chance of the first state is set to 1 and its balance, which follows from the others, left out.
    balance = coo_array(
        (
            np.concatenate([rates[inside], -leaving[1:]]),
            (
                np.concatenate([chain.target[inside], every[1:]]) - 1,
                np.concatenate([chain.source[inside], every[1:]]) - 1,
            ),
        ),
        shape=(size - 1, size - 1),
    ).tocsc()
    first = chain.source == 0
    right = np.bincount(chain.target[first], rates[first], minlength=size)[1:]
    chances = np.concatenate([[1.0], splu(balance).solve(-right)])
    return float(chances @ totals / chances.sum())


def _paces(states: Array, aliases: int, inflation: float, gap: float, on_base: Array) -> Array:
    """Pace of every volume of every state; `on_base` is the chance that a base works, by requests at its volume."""
    base = on_base[states.astype(np.int64)]
    need = (states - base).sum(-1, keepdims=True)
    share = np.minimum(1.0, aliases / np.maximum(need, 1e-12))
    return _served(states, share, base, inflation, gap)


def _served(states: Array, share: Array, base: Array, inflation: float, gap: float) -> Array:
    """Pace of volumes when each request that needs an alias has one with the chance `share`."""
    base = np.where(
        (states > 0) & (share < 1), base * share + (1 - share), base
    )  # who waits keeps the base at work
    served = np.minimum(base + share * (states - base), states)
    late = gap * ((share < 1) & (states > 1))
    return np.asarray(served / (1 + inflation * np.maximum(served - 1, 0.0)) / (1 + late))


@lru_cache(maxsize=4096)
def _on_base(arrivals: float, most: int) -> Array:
    """Chance that the base works with 0, 1, ..., `most` requests at a volume, come at random, and enough aliases."""
    top = most + 12
    size = top + 1
    balance = np.zeros((2 * size, 2 * size))

    def move(source: int, target: int, rate: float) -> None:
        balance[target, source] += rate
        balance[source, source] -= rate

    for aliased in range(size):
        move(aliased, size + aliased, arrivals)
        move(size + aliased, aliased, 1.0)
        if aliased < top:
            move(size + aliased, size + aliased + 1, arrivals)
        if aliased:
            move(aliased, aliased - 1, float(aliased))
            move(size + aliased, size + aliased - 1, float(aliased))
    balance[0] = 1.0
    chances = np.maximum(np.linalg.solve(balance, np.eye(2 * size)[0]), 1e-300)
    counts = np.arange(1, most + 1)
    works, rests = chances[size + counts - 1], chances[counts]
    return np.concatenate([[0.0], works / (works + rests)])


def _independent(volumes: int, aliases: int, inflation: float, gap: float, most: int) -> tuple[Array, Array]:
    """Mean number in the pool and its rate where volumes are independent but for their part of the aliases."""
    counts = np.arange(4 * math.ceil(most / volumes) + 60, dtype=np.float64)
    limit = _limit(volumes, aliases, inflation, gap)
    numbers, rates = [0.0], [0.0]
    for part in 1 - np.geomspace(1.0, 1e-3, 60)[1:]:
        arrivals = part * limit / volumes
        base = _on_base(round(arrivals, 2), counts.size - 1)
        share, law = 1.0, counts
        for _ in range(60):
            served = _served(counts[1:], np.array(share), base[1:], inflation, gap)
            weights = np.cumsum(np.log(arrivals / served))
            law = np.exp(np.concatenate([[0.0], weights]) - max(float(weights.max()), 0.0))
            law /= law.sum()
            after = min(1.0, aliases / max(volumes * float(law @ (counts - base)), 1e-12))
            if abs(after - share) <= NEAR:
                break
            share = (share + after) / 2
        numbers.append(volumes * float(law @ counts))
        rates.append(volumes * arrivals)
    order = np.argsort(numbers)
    return np.array(numbers)[order], np.maximum.accumulate(np.array(rates)[order])
