"""Random pools of every kind and the errors of the mean field on them; run as a module it prints the table.

``python -m tests.queueing.alias_pool.accuracy [seed]``: no constant of the mean field was chosen on these pools.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from planner.errors import InputError
from planner.queueing.pools import alias_pool
from planner.queueing.pools.solve import solve_pools
from tests.queueing.alias_pool.simulation import simulate

NAN = float("nan")
SIGMAS = 2.0  # of the simulation are taken off an error before it is held against a limit


@dataclass(frozen=True)
class Limits:
    """What may be wrong: relative errors, and the share of the service time below which a wait does not count."""

    throughput: float
    pool_wait: float
    class_wait: float
    nothing: float


@dataclass(frozen=True)
class Group:
    """Pools of one kind; the number is part of the seed."""

    number: int
    name: str
    kind: str
    limits: Limits
    slowing: dict
    exact: bool = False


PLAIN = Limits(0.005, 0.04, 0.05, 0.01)
CORRECTED = Limits(0.01, 0.06, 0.06, 0.02)
GAPS = Limits(0.01, 0.05, 0.05, 0.02)
UNEVEN = Limits(0.03, 0.10, 0.25, 0.02)
GROUPS = (
    Group(0, "closed, exact chain", "small", PLAIN, {}, exact=True),
    Group(1, "closed", "closed", PLAIN, {}),
    Group(2, "open", "open", PLAIN, {}),
    Group(3, "mixed", "mixed", PLAIN, {}),
    Group(4, "inflation .1, closed, exact chain", "small", CORRECTED, {"inflation": 0.1}, exact=True),
    Group(5, "inflation .25, closed", "closed", CORRECTED, {"inflation": 0.25}),
    Group(6, "inflation .25, open", "open", CORRECTED, {"inflation": 0.25}),
    Group(7, "inflation .25, mixed", "mixed", CORRECTED, {"inflation": 0.25}),
    Group(8, "redrive 8 %, closed", "closed", GAPS, {"redrive_time": 0.08}),
    Group(9, "redrive 8 %, open", "open", GAPS, {"redrive_time": 0.08}),
    Group(10, "redrive 8 %, mixed", "mixed", GAPS, {"redrive_time": 0.08}),
    Group(17, "open, 2 to 8 volumes near saturation", "small open", PLAIN, {}),
    Group(18, "mixed, 4 to 12 volumes near saturation", "small mixed", PLAIN, {}),
    Group(19, "mixed, one or two hot volumes", "hot", PLAIN, {}),
    Group(20, "redrive 8 %, open, 2 to 8 volumes", "small open", GAPS, {"redrive_time": 0.08}),
    Group(21, "redrive 8 %, mixed, 4 to 12 volumes", "small mixed", GAPS, {"redrive_time": 0.08}),
    Group(22, "service 1 to 20, closed, 4 to 16 volumes", "uneven closed", UNEVEN, {}),
    Group(23, "service 1 to 20, open, 4 to 16 volumes", "uneven open", UNEVEN, {}),
    Group(24, "service 1 to 20, mixed, 4 to 16 volumes", "uneven mixed", UNEVEN, {}),
    Group(
        25,
        "inflation .16, redrive 5 %, closed",
        "closed",
        CORRECTED,
        {"inflation": 0.16, "redrive_time": 0.05},
    ),
    Group(
        26, "both, 6 to 24 requesters a volume", "deep", CORRECTED, {"inflation": 0.16, "redrive_time": 0.05}
    ),
)


def closed_pool(rng, largest):
    """One or two closed classes, with aliases for a quarter to all of the I/Os that need one."""
    classes = int(rng.integers(1, 3))
    volumes = rng.integers(1, max(largest // classes, 2), classes)
    population = rng.integers(2, 5 if largest < 10 else 8, classes).astype(float)
    think = np.exp(rng.uniform(np.log(0.3), np.log(8.0), classes))
    need = volumes @ (population / (1.0 + think) - 1.0 + (think / (1.0 + think)) ** population)
    aliases = int(np.clip(round(need * rng.uniform(0.25, 1.3)), 1, 256 - volumes.sum()))
    return aliases, {"volumes": volumes, "population": population, "think_time": think}


def deep_pool(rng):
    """Up to five closed volumes, with aliases for a third of their requesters to nearly all: many a volume in use."""
    volumes, population = rng.integers(1, 6, 1), rng.integers(6, 25, 1).astype(float)
    aliases = int(max(volumes @ population * rng.uniform(0.3, 0.9), 1))
    return aliases, {"volumes": volumes, "population": population, "think_time": rng.uniform(0.1, 2.0, 1)}


def open_pool(rng, inflation, gap):
    """One to three open classes, away from instability."""
    while True:
        classes = int(rng.integers(1, 4))
        volumes = np.maximum(1, np.exp(rng.uniform(np.log(3.0), np.log(60.0), classes))).astype(int)
        rate = rng.uniform(0.1, 1.6, classes) / (1.0 + 2.0 * inflation)
        missing = np.maximum(rate - 1.0 / (1.0 + gap), 0.0) * (1.0 + gap)
        need = volumes @ (missing * (1.0 + inflation) / (1.0 - inflation * rate))
        typical = volumes @ (rate**2 / (1.0 + rate))
        aliases = int(
            np.clip(max(1.25 * need + 1.0, typical * rng.uniform(0.4, 1.4)), 1, 256 - volumes.sum())
        )
        if 1.2 * need < aliases:
            return aliases, {"volumes": volumes, "arrival_rate": rate}


def overloaded(rng, volumes, rate, aliases):
    """Rates changed alike, such that overloaded volumes use 40 to 93 % of the aliases; None where that is absurd."""
    factors = np.linspace(0.05, 20.0, 4000)
    need = np.maximum(np.outer(factors, rate) - 1.0, 0.0) @ volumes
    rate = rate * factors[np.searchsorted(need, rng.uniform(0.4, 0.93) * aliases) - 1]
    return rate if rate.max() < 4.0 else None


def small_open_pool(rng, gap):
    """One to three open classes in two to eight volumes, some of them overloaded."""
    while True:
        classes = int(rng.integers(1, 4))
        volumes = rng.integers(1, 4, classes) if classes > 1 else rng.integers(2, 9, 1)
        rate = rng.uniform(0.1, 1.7, classes)
        aliases = int(rng.integers(1, 9))
        rate = overloaded(rng, volumes, rate, aliases)
        if volumes.sum() <= 8 and rate is not None:
            return aliases, {"volumes": volumes, "arrival_rate": rate / (1.0 + 1.1 * gap)}


def together(closed, opened):
    """Arguments of a pool with the classes of both."""
    a, b = len(closed["volumes"]), len(opened["volumes"])
    return {
        "volumes": np.concatenate([closed["volumes"], opened["volumes"]]),
        "population": np.concatenate([closed["population"], [NAN] * b]),
        "think_time": np.concatenate([closed["think_time"], [NAN] * b]),
        "arrival_rate": np.concatenate([[NAN] * a, opened["arrival_rate"]]),
    }


def some_closed(rng, largest):
    """One or two closed classes."""
    classes = int(rng.integers(1, 3))
    return {
        "volumes": rng.integers(1, largest + 1, classes),
        "population": rng.integers(2, 8, classes).astype(float),
        "think_time": np.exp(rng.uniform(np.log(0.3), np.log(8.0), classes)),
    }


def small_mixed_pool(rng, gap):
    """One or two closed and open classes in four to twelve volumes, some open ones overloaded."""
    while True:
        closed, classes = some_closed(rng, 5), int(rng.integers(1, 3))
        volumes, aliases = rng.integers(1, 6, classes), int(rng.integers(1, 9))
        rate = overloaded(rng, volumes, rng.uniform(0.1, 1.7, classes), aliases)
        if rate is not None and 4 <= volumes.sum() + closed["volumes"].sum() <= 12:
            return aliases, together(closed, {"volumes": volumes, "arrival_rate": rate / (1.0 + 1.1 * gap)})


def hot_pool(rng):
    """Up to eighty closed volumes and one or two overloaded ones, which few aliases just serve."""
    while True:
        closed, volumes, aliases = some_closed(rng, 40), rng.integers(1, 3, 1), int(rng.integers(1, 6))
        closed["think_time"] *= 2.0
        rate = overloaded(rng, volumes, np.ones(1), aliases)
        if rate is not None:
            return aliases, together(closed, {"volumes": volumes, "arrival_rate": rate})


def mixed_pool(rng, inflation, gap):
    """Closed and open classes together."""
    while True:
        of_closed, closed = closed_pool(rng, 120)
        of_open, opened = open_pool(rng, inflation, gap)
        aliases = of_closed + of_open
        if closed["volumes"].sum() + opened["volumes"].sum() + aliases <= 256:
            break
    return aliases, together(closed, opened)


def uneven_pool(rng, kind):
    """Four to sixteen volumes, each a class of its own, service times in the ratio 1 to 20, with mean 1."""
    while True:
        classes = int(rng.integers(4, 17))
        closed = (
            np.arange(classes) < {"closed": classes, "open": 0, "mixed": int(rng.integers(1, classes))}[kind]
        )
        service = np.exp(rng.uniform(0.0, np.log(20.0), classes))
        service /= service.mean()
        population = rng.integers(2, 7, classes).astype(float)
        think, load = np.exp(rng.uniform(np.log(0.3), np.log(8.0), classes)), rng.uniform(0.05, 1.3, classes)
        beyond = population / (1.0 + think) - 1.0 + (think / (1.0 + think)) ** population
        typical = np.where(closed, beyond, load**2 / (1.0 + load)).sum() * rng.uniform(0.4, 1.2)
        need = 1.2 * np.where(closed, 0.0, np.maximum(load - 1.0, 0.0)).sum()
        aliases = int(np.ceil(max(typical, need + (need > 0.0), 1.0)))
        if 1.15 * need / 1.2 <= aliases:
            break
    pool = {"volumes": np.ones(classes), "service_time": service}
    if closed.any():
        pool |= {
            "population": np.where(closed, population, NAN),
            "think_time": np.where(closed, think * service, NAN),
        }
    if not closed.all():
        pool["arrival_rate"] = np.where(closed, NAN, load / service)
    return aliases, pool


def pools(group, count, seed):
    """Draw the pools of a group."""
    rng = np.random.default_rng([seed, group.number])
    inflation, gap = group.slowing.get("inflation", 0.0), group.slowing.get("redrive_time", 0.0)
    draw = {
        "small": lambda: closed_pool(rng, 7),
        "closed": lambda: closed_pool(rng, 180),
        "deep": lambda: deep_pool(rng),
        "open": lambda: open_pool(rng, inflation, gap),
        "mixed": lambda: mixed_pool(rng, inflation, gap),
        "small open": lambda: small_open_pool(rng, gap),
        "small mixed": lambda: small_mixed_pool(rng, gap),
        "hot": lambda: hot_pool(rng),
        "uneven closed": lambda: uneven_pool(rng, "closed"),
        "uneven open": lambda: uneven_pool(rng, "open"),
        "uneven mixed": lambda: uneven_pool(rng, "mixed"),
    }[group.kind]
    return [draw() for _ in range(count)]


def errors(group, aliases, pool, completions, seed):
    """Relative errors beyond the simulation's own: of throughput, pool wait, class waits; None without an answer."""
    arguments = {"service_time": 1.0, **pool, **group.slowing}
    model = solve_pools(aliases, **arguments)
    if not model.converged:
        return None
    if group.exact:
        truth = alias_pool(aliases, method="exact", **arguments)
        throughput, wait = (truth.throughput, 0.0), (truth.wait_time, 0.0)
        pool_wait = (float(truth.pool_queue_length / truth.pool_throughput), 0.0)
    else:
        run = simulate(aliases, completions=completions, seed=seed, **arguments)
        throughput, wait, pool_wait = run.throughput, run.wait_time, run.pool_wait_time
    nothing = group.limits.nothing
    closed = np.isfinite(np.broadcast_to(pool.get("population", NAN), model.throughput.shape))
    rate = np.broadcast_to(pool.get("arrival_rate", NAN), closed.shape)
    np.testing.assert_allclose(model.throughput[~closed], rate[~closed], rtol=1e-14)
    return (
        _beyond(model.throughput, *throughput, 0.0).max(where=closed, initial=0.0),
        float(_beyond(model.pool_queue_length / model.pool_throughput, *pool_wait, nothing)),
        _beyond(model.wait_time, *wait, nothing),
    )


def _beyond(model, truth, standard_error, nothing):
    difference = np.abs(model - truth)
    relative = np.maximum(difference - SIGMAS * np.asarray(standard_error), 0.0) / np.maximum(truth, 1e-9)
    return np.where(difference < nothing, 0.0, relative)


def measured(group, count, completions, seed):
    """Errors over the pools of a group: throughput and pool waits, all class waits, and how many have no answer."""
    rows, unanswered = [], 0
    for i, (aliases, pool) in enumerate(pools(group, count, seed)):
        try:
            found = errors(group, aliases, pool, completions, i)
        except InputError:  # more states than the exact chain takes
            continue
        unanswered += found is None
        rows += [] if found is None else [found]
    return (
        np.array([row[0] for row in rows]),
        np.array([row[1] for row in rows]),
        np.concatenate([r[2] for r in rows]),
        unanswered,
    )


def row(group, seed):
    """A line of the table: worst errors and how many class waits lie beyond the limit."""
    throughput, pool_wait, class_wait, unanswered = measured(group, 24 if group.exact else 8, 2_000_000, seed)
    beyond = int((class_wait > group.limits.class_wait).sum())
    return (
        f"{group.name:40s} {throughput.size:5d}  {throughput.max():10.2%}  {pool_wait.max():9.2%}"
        f"  {class_wait.max():10.2%}  {beyond} of {class_wait.size}"
        + (f", {unanswered} without answer" if unanswered else "")
    )


def main() -> None:
    """Print the table."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    print(f"{'group':40s} pools  throughput  pool wait  class wait  beyond")
    for group in GROUPS:
        print(row(group, seed), flush=True)


if __name__ == "__main__":
    main()
