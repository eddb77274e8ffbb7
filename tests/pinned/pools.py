"""Alias pools of all sorts, from one volume to a hundred."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np

from planner import queueing
from planner.devices import Performance
from planner.devices.pool import performance
from planner.errors import ConvergenceError, InputError
from tests.queueing.alias_pool.open_chain import exact_pool

CASES = 110


def cases() -> dict[str, Any]:
    """Laws of pools with their alias counts."""
    random = Random("pools")
    return {f"pool {k}": _case(random) for k in range(CASES)}


def answer(case: dict[str, Any]) -> Any:
    """Figures of each class and of the pool, and the method."""
    aliases, law = case["aliases"], dict(case["law"])
    try:
        exact = law.pop("method", "") == "exact"
        found = exact_pool(aliases, **law) if exact else queueing.alias_pool(aliases, **law)
    except (InputError, ConvergenceError) as error:
        return {"refused": type(error).__name__, "argument": getattr(error, "argument", None)}
    figures = {name: getattr(found, name) for name in found.quantities() if name != "residual"}
    figures |= {
        "free": found.free_alias_distribution[..., :4],
        "method": found.method,
        "stable": found.stable,
    }
    with np.errstate(invalid="ignore"):
        shown: Performance = performance(found)
    figures["marks"] = [shown.fewest_free, shown.most_free]
    return figures


def _case(random: Random) -> dict[str, Any]:
    sort = random.choice(("one", "equal", "equal", "open", "open", "closed", "mixed", "exact"))
    many = 1 if sort in {"one", "equal"} else random.choice((1, 2, 3))
    exact = sort == "exact"
    most = 3 if exact else 24
    volumes = [
        1 if sort == "one" else random.randint(1, most if k == 0 else min(most, 8)) for k in range(many)
    ]
    closed = [sort == "closed" or (sort != "open" and random.randrange(3) > 0) for _ in range(many)]
    people = [random.randint(1, 3 if exact else 8) if each else math.nan for each in closed]
    think = [
        random.choice((random.expovariate(1), random.expovariate(0.1), 1e-3)) if each else math.nan
        for each in closed
    ]
    rate = [math.nan if each else random.uniform(0.03, 1.1) for each in closed]
    own = random.randrange(3) == 0 and many > 1
    slowed = random.randrange(2) and (all(closed) or not exact)
    law = {
        "volumes": volumes, "population": people, "think_time": think, "arrival_rate": rate,
        "service_time": [random.choice((0.5, 1.0, 3.0)) for _ in range(many)] if own else 1.0,
        "inflation": random.choice((0.05, 0.16)) if slowed else 0.0,
        "redrive_time": random.choice((0.0, 0.05)) if slowed else 0.0,
    }  # fmt: skip
    if exact:
        law["method"] = "exact"
    room = sum(volumes)
    counts = sorted({random.randint(0, max(room // 2, 2)), random.randint(1, room + 2)})
    return {"aliases": counts, "law": law}
