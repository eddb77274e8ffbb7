"""Requests that go to any volume of a pool of bases and shared aliases: how many it works on with n of them there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import numpy as np

from planner.errors import InputError
from planner.results import Array

MOST_STATES: Final = 1_500  # ways to spread n requests over the volumes that one chain may have

State = tuple[int, ...]


def spread_pace(
    volumes: int, aliases: int, most: int, *, inflation: float = 0.0, gap: float = 0.0
) -> tuple[Array, int]:
    """Pace of a pool by the number of requests in it, each sent to any volume with the same chance.

    The pool is short-circuited (Chandy, Herzog and Woo 1975): with n requests that come back at once, its states are
    the ways to spread them over the volumes, and its mean rate is what the rest of a network sees. A volume works on
    one request at its base; the aliases are shared evenly by those that wait. Without aliases and without inflation
    this is exact, n volumes / (volumes + n - 1). Beyond 1,500 states the missing rest falls as it does there.

    Parameters
    ----------
    volumes : int
        Volumes, each with its base.
    aliases : int
        Aliases that serve any of them.
    most : int
        Largest number of requests.
    inflation : float, optional
        Relative growth of the service time with each further request in service on the same volume.
    gap : float, optional
        Gap of a device that takes a waiting request, in service times.

    Returns
    -------
    tuple of ndarray and int
        Requests worked on, in those that are alone, with 1, 2, ..., `most` requests in the pool, shape (most,); and the
        largest number that was solved by a chain.

    Raises
    ------
    InputError
        A count below its least.

    Examples
    --------
    >>> pace, _ = spread_pace(2, 0, 3)
    >>> pace.round(3).tolist()
    [1.0, 1.333, 1.5]
    """
    for name, value, least in (("volumes", volumes, 1), ("aliases", aliases, 0), ("most", most, 1)):
        if value < least:
            raise InputError(name, value, f"a count of at least {least}")
    solved, found = 0, []
    for number in range(1, most + 1):
        if _ways(number, min(number, volumes)) > MOST_STATES:
            break
        found.append(_rate(number, volumes, aliases, round(inflation, 12), round(gap, 12)))
        solved = number
    pace = np.array(found)
    if solved < most:
        limit = _limit(volumes, aliases, inflation, gap)
        missing = max(limit - pace[-1], 0.0)
        further = np.arange(solved + 1, most + 1)
        pace = np.concatenate([pace, limit - missing * (volumes + solved - 1) / (volumes + further - 1)])
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


@lru_cache(maxsize=4096)
def _rate(number: int, volumes: int, aliases: int, inflation: float, gap: float) -> float:
    """Mean pace with so many requests in the short-circuited pool."""
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import spsolve

    states = list(_spreads(number, volumes, number))
    paces = [_paces(state, aliases, inflation, gap) for state in states]
    totals = np.array([sum(pace for pace in each) for each in paces])
    if len(states) == 1:
        return float(totals[0])
    index = {state: k for k, state in enumerate(states)}
    rows, columns, rates = [], [], []
    for k, (state, each) in enumerate(zip(states, paces, strict=True)):
        for target, rate in _moves(state, each, volumes):
            rows += [index[target], k]
            columns += [k, k]
            rates += [rate, -rate]
    size = len(states)
    balance = coo_array((rates, (rows, columns)), shape=(size, size)).tolil()
    balance[0, :] = 1.0  # the chances add up to one; the balance of one state follows from the others
    right = np.zeros(size)
    right[0] = 1.0
    chances = spsolve(balance.tocsc(), right)
    return float(chances @ totals)


def _paces(state: State, aliases: int, inflation: float, gap: float) -> list[float]:
    """Pace of each volume that has requests."""
    waiting = sum(count - 1 for count in state)
    share = min(1.0, aliases / waiting) if waiting else 0.0
    found = []
    for count in state:
        served = 1 + share * (count - 1)
        late = gap if waiting > aliases and (count > 1 or share > 0) else 0.0
        found.append(served / (1 + inflation * (served - 1)) / (1 + late))
    return found


def _moves(state: State, paces: list[float], volumes: int) -> Iterator[tuple[State, float]]:
    """One request ends at a volume and comes back to any of them."""
    done: dict[int, float] = {}
    for count, pace in zip(state, paces, strict=True):
        done[count] = done.get(count, 0.0) + pace
    for count, rate in done.items():
        left = list(state)
        left[left.index(count)] -= 1
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
            yield tuple(sorted(after, reverse=True)), rate * many / volumes
