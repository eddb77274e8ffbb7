"""Demand: rows of averages of volumes and pools, from next to idle to overloaded, one row and several."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from planner.demand import DeviceModel, Target, point_and_range, read_several, read_volumes
from planner.demand.candidates import Candidates
from planner.demand.drawn_pool import DrawnPool, PoolRow
from planner.demand.pooled import read_pool_at_several
from planner.interval import Interval
from tests.demand.volumes import read_pool

VOLUMES, POOLS = 24, 12
TARGETS = ({}, {}, {"wait_share": 0.2}, {"queued": 0.1}, {"wait": 2e-4})


def cases() -> dict[str, Any]:
    """Groups of volumes under one model, and pools."""
    random = Random("demand")
    found = {f"volumes {k}": _volumes(random, k) for k in range(VOLUMES)}
    return found | {f"demand of a pool {k}": _pool(random, k) for k in range(POOLS)}


def answer(case: dict[str, Any]) -> Any:
    """Counts, what decides them, and predictions."""
    device_model = DeviceModel(inflation=case["inflation"], redrive_time=case["gap"], model_error=0.03)
    rows = [(*_intervals(row), row["aliases"]) for row in case["rows"]]
    target = Target(**case["target"])
    if case["pool"]:
        return _of_pool(rows, device_model, case["growth"], target)
    read = (
        read_volumes(*rows[0][:3], aliases=rows[0][3], device_model=device_model)
        if len(rows) == 1
        else read_several(rows, device_model=device_model)
    )
    return _of_volumes(read.grown(case["growth"]) if case["growth"] else read, target)


def _of_volumes(read: Candidates, target: Target) -> Any:
    counts = point_and_range(read, target)
    here = np.arange(read.volumes), counts.chosen
    first = read.predict([0, 1, 3, 8])
    heaviest = np.sort(read.weight, axis=1)[:, -4:]
    return {
        "point": counts.point, "low": counts.low, "high": counts.high, "most": counts.most,
        "kind": [read.kind(int(k)) for k in counts.chosen], "saturated": counts.saturated,
        "taken_over": counts.taken_over, "open_above": counts.open_above, "extrapolated": counts.extrapolated,
        "unmet": counts.unmet, "weights": heaviest, "kept": read.kept.sum(axis=1), "fits": read.fits.sum(axis=1),
        "ratio": read.ratio, "rate": first.rate[here], "queue": first.queue[here], "service": first.service[here],
    }  # fmt: skip


def _of_pool(rows: list[Any], device_model: DeviceModel, growth: float, target: Target) -> Any:
    found: DrawnPool = (
        read_pool(*rows[0][:3], aliases=rows[0][3], device_model=device_model, growth=growth)
        if len(rows) == 1
        else read_pool_at_several([PoolRow(*row) for row in rows], device_model=device_model, growth=growth)
    )
    ahead = found.predict([0, 1, 2, 4, 8, 16])
    return {
        "counts": list(found.point_and_range(target)), "rate": ahead.rate, "queue": ahead.queue,
        "service": ahead.service, "volumes": found.volume_queues([2, 6]), "alone": found.alone,
    }  # fmt: skip


def _volumes(random: Random, k: int) -> Any:
    many, several = 8, k % 3 == 2
    gap, inflation = random.choice((0.0, 5e-5)), random.choice((0.0, 0.1, 0.18))
    used = [random.choice((0, 0, 0, 1, 3)) for _ in range(many)]
    first = _row(random, many, gap)
    rows = [first | {"aliases": used}]
    if several:
        rows.append(_later(random, first) | {"aliases": [each + random.choice((1, 2, 4)) for each in used]})
    return {
        "pool": False, "inflation": inflation, "gap": gap, "rows": rows, "target": TARGETS[k % len(TARGETS)],
        "growth": 0.25 if k % 5 == 4 else 0.0,
    }  # fmt: skip


def _pool(random: Random, k: int) -> Any:
    many = random.randint(3, 10)
    first = _row(random, many, 0.0)
    rows = [first | {"aliases": 2 if k % 3 == 1 else 0}]
    if k % 3 == 2:
        rows.append(_later(random, first) | {"aliases": 3})
    return {
        "pool": True, "inflation": 0.1, "gap": 2e-5, "rows": rows, "target": TARGETS[k % len(TARGETS)],
        "growth": 0.3 if k % 4 == 3 else 0.0,
    }  # fmt: skip


def _row(random: Random, many: int, gap: float) -> dict[str, Any]:
    """Rates [1/s], service times [s] and queues, from hardly any wait to bursts and overload."""
    service = [10 ** random.uniform(-3.5, -2.2) for _ in range(many)]
    busy = [random.choice((random.uniform(0.02, 0.3), random.uniform(0.2, 0.97))) for _ in range(many)]
    rate = [share / (time + gap) for share, time in zip(busy, service, strict=True)]
    poisson = [share * share / (1 - share) for share in busy]
    queue = [random.choice((0.0, 0.5, 0.9, 1.0, 1.3, 3.0, 12.0, 60.0)) * each for each in poisson]
    return {"rate": rate, "service": service, "queue": queue}


def _later(random: Random, first: dict[str, Any]) -> dict[str, Any]:
    """The same volumes with more aliases: hardly a higher rate, a shorter queue."""
    return {
        "rate": [each * random.uniform(1.0, 1.1) for each in first["rate"]],
        "service": [each * random.uniform(1.0, 1.05) for each in first["service"]],
        "queue": [each * random.choice((0.0, 0.1, 0.4)) for each in first["queue"]],
    }


def _intervals(row: dict[str, Any]) -> list[Interval]:
    """As a listing prints them: a tenth, a hundredth of a millisecond, a hundredth."""
    found = []
    for name, digit in (("rate", 0.1), ("service", 1e-5), ("queue", 0.01)):
        values = np.maximum(np.round(np.array(row[name]) / digit) * digit, 0.0 if name == "queue" else digit)
        found.append(Interval(np.maximum(values - digit / 2, 0.0), values, values + digit / 2))
    return found
