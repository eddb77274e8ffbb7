"""Seeded cases: volumes drawn from the law itself, disturbed by a model error, rounded like a listing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner import queueing
from planner.calibrate import Observation
from planner.reports import Printed

SATURATED = 0.15  # share of cases whose every row keeps all devices busy


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is true, what was printed of it, and what was measured later with other alias counts."""

    truth: dict[str, float]
    rows: tuple[Observation, ...]
    later: dict[int, float]
    saturated: bool


def law(truth: dict[str, float], aliases: int) -> tuple[float, float, float]:
    """Rate [1/s], service time [s] and queue of the law."""
    steady = queueing.finite_source(
        truth["population"], truth["think_time"], truth["service_time"], 1 + aliases,
        inflation=truth["inflation"], redrive_time=truth["redrive_time"],
    )  # fmt: skip
    return float(steady.throughput), float(steady.service_time), float(steady.queue_length - steady.in_gap)


def draw(random: np.random.Generator, *, model_error: float) -> Case:
    """One volume with two to four rows of 1 to 8 servers; half of the cases say how many requesters there are."""
    saturated = bool(random.random() < SATURATED)
    population = int(random.integers(6, 13) if saturated else random.integers(2, 9))
    service = _between(random, 0.4e-3, 4e-3)
    truth = {
        "population": float(population),
        "service_time": service,
        "think_time": service * (_between(random, 0.01, 0.1) if saturated else _between(random, 0.03, 2.0)),
        "inflation": _between(random, 0.02, 0.4),
        "redrive_time": service * _between(random, 0.01, 0.2),
    }
    most = 2 if saturated else 8
    counts = random.permutation(most)[: int(random.integers(2, 5))]
    known = bool(random.random() < 0.5)
    rows = tuple(_printed(random, truth, int(a), model_error, population if known else None) for a in counts)
    others = random.permutation([a for a in range(8) if a not in counts])[:2]
    later = {
        int(a): law(truth, int(a))[0] * float(np.exp(model_error * random.standard_normal())) for a in others
    }
    return Case(truth=truth, rows=rows, later=later, saturated=saturated)


def _between(random: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def _printed(
    random: np.random.Generator,
    truth: dict[str, float],
    aliases: int,
    model_error: float,
    population: int | None,
) -> Observation:
    """Disturb what the law says and round it: rate to 1/s, three parts of the service to .1 ms, the queue to .01."""
    rate, service, queue = law(truth, aliases)
    off = model_error * random.standard_normal(3)
    queue = max(queue + off[2] * (rate * service + queue), 0.0)
    rate, service = rate * np.exp(off[0]), service * np.exp(off[1])
    parts = sum(round(share * service * 1e3, 1) for share in (0.15, 0.15, 0.7)) * 1e-3
    return Observation(
        name=f"+{aliases}",
        volumes=1,
        aliases=aliases,
        population=population,
        figures={
            "io_rate": Printed(float(round(rate)), 0.5),
            "service_time": Printed(float(parts), 0.15e-3),
            "queued": Printed(round(queue, 2), 0.005),
        },
    )
