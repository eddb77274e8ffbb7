"""Stations: every law with drawn arguments."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from planner import queueing
from planner.errors import ConvergenceError, InputError

CASES = 160


def cases() -> dict[str, Any]:
    """Laws and arguments."""
    random = Random("stations")
    makers = (_open, _open, _general, _general, _closed, _closed, _limited, _network, _classes, _erlang, _servers,
              _group, _usl)  # fmt: skip
    return {f"station {k}": makers[k % len(makers)](random) for k in range(CASES)}


def answer(case: dict[str, Any]) -> Any:
    """All figures, and quantiles where there are some."""
    try:
        found = getattr(queueing, case["law"])(**case["arguments"])
    except (InputError, ConvergenceError) as error:
        return {"refused": type(error).__name__, "argument": getattr(error, "argument", None)}
    if not hasattr(found, "quantities"):
        return {"value": found}
    figures = {name: getattr(found, name) for name in found.quantities()}
    for name in ("wait_quantile", "response_quantile"):
        if case.get("quantiles") and hasattr(found, name):
            try:
                figures[name] = [getattr(found, name)(p) for p in case["quantiles"]]
            except (InputError, ConvergenceError) as error:
                figures[name] = type(error).__name__
    if hasattr(found, "exact"):
        figures["exact"] = found.exact
    return figures


def _case(law: str, quantiles: tuple[float, ...] = (), **arguments: Any) -> dict[str, Any]:
    return {"law": law, "arguments": arguments, "quantiles": list(quantiles)}


def _load(random: Random, servers: int) -> float:
    return servers * random.choice(
        (random.uniform(0.02, 0.98), random.uniform(0.9, 0.999), random.uniform(0.3, 0.8))
    )


def _scv(random: Random) -> float:
    return random.choice((0.0, 0.05, 0.25, 0.5, 0.8, 1.0, 1.5, 2.0, 5.0, 12.0))


def _open(random: Random) -> dict[str, Any]:
    servers, service = random.choice((1, 2, 3, 5, 12, 40, 150)), 10 ** random.uniform(-4, 1)
    slowed = {
        "inflation": random.choice((0.0, 0.05, 0.16)),
        "redrive_time": service * random.choice((0.0, 0.04)),
    }
    rate = _load(random, servers) / service * random.choice((1.0, 0.6))
    quantiles = () if any(slowed.values()) else (0.5, 0.95, 0.999)
    return _case("mmc", quantiles, arrival_rate=rate, service_time=service, servers=servers, **slowed)


def _general(random: Random) -> dict[str, Any]:
    servers = random.choice((1, 1, 2, 3, 6, 15, 60))
    method = random.choice(("auto", "auto", "auto", "exact", "allen_cunneen", "kimura_1986",
                            "boxma_cohen_huffels_1979", "takahashi_1977", "cosmetatos_1975"))  # fmt: skip
    scv = random.choice((0.0, 0.5, 1.0)) if method == "cosmetatos_1975" else _scv(random)
    quantiles = (0.5, 0.99) if method == "auto" and servers <= 6 else ()
    return _case("mgc", quantiles, arrival_rate=_load(random, servers), service_time=1.0, servers=servers, scv=scv,
                 method=method)  # fmt: skip


def _closed(random: Random) -> dict[str, Any]:
    people, servers = random.choice((1, 2, 3, 5, 9, 25, 60)), random.choice((1, 1, 2, 4, 10))
    scv = random.choice((1.0, 1.0, 1.0, 0.0, 0.3, 2.0, 6.0)) if people <= 9 else 1.0
    return _case("finite_source", (0.5, 0.95) if scv == 1.0 else (), population=people,
                 think_time=random.expovariate(0.3), service_time=1.0, servers=servers, scv=scv,
                 inflation=random.choice((0.0, 0.16)), redrive_time=random.choice((0.0, 0.05)))  # fmt: skip


def _limited(random: Random) -> dict[str, Any]:
    servers = random.choice((1, 2, 5, 20))
    return _case("mmck", arrival_rate=_load(random, servers) * random.choice((1, 1, 2)), service_time=1.0,
                 servers=servers, capacity=servers + random.choice((0, 1, 5, 40)))  # fmt: skip


def _network(random: Random) -> dict[str, Any]:
    many = random.randint(1, 5)
    demands = [random.expovariate(1.0) for _ in range(many)]
    several = random.randrange(4) < 2
    servers = {"servers": [random.choice((1, 1, 2, 4)) for _ in range(many)]} if several else {}
    return _case("mva", demands=demands, population=random.choice((1, 2, 5, 17, 60)),
                 think_time=random.choice((0.0, random.expovariate(0.2))), **servers)  # fmt: skip


def _classes(random: Random) -> dict[str, Any]:
    classes, many = random.randint(1, 3), random.randint(1, 4)
    demands = [[random.expovariate(1.0) for _ in range(many)] for _ in range(classes)]
    servers = [random.choice((1, 1, 2, 3, 0)) for _ in range(many)]
    servers = [np.inf if each == 0 else each for each in servers]
    open_load = [random.choice((0.0, 0.0, 0.4)) for _ in range(many)]
    return _case("closed_network", demands=demands, population=[random.choice((1, 2, 4, 30)) for _ in range(classes)],
                 think_time=[random.expovariate(0.3) for _ in range(classes)], servers=servers, open_load=open_load,
                 copies=[random.choice((1, 1, 2)) for _ in range(many)],
                 method=random.choice(("auto", "linearizer")))  # fmt: skip


def _erlang(random: Random) -> dict[str, Any]:
    law = ("erlang_b", "erlang_c")[random.randrange(6) % 2]
    servers = random.choice((1, 2, 7, 30, 400, 10_000))
    return _case(law, offered_load=servers * random.uniform(0.1, 1.3), servers=servers)


def _servers(random: Random) -> dict[str, Any]:
    service, scv = 10 ** random.uniform(-3, 0), random.choice((1.0, 1.0, 0.0, 0.5, 3.0))
    goal = random.choice(
        ({"wait_time": service * random.choice((0.01, 0.05, 0.5))}, {"delay_probability": random.uniform(0.01, 0.5)},
         {"response_quantile": (0.95, service * random.uniform(3.2, 9.0))})
    )  # fmt: skip
    if random.randrange(2):
        return _case("min_servers", arrival_rate=10 ** random.uniform(-1, 1.5) / service, service_time=service, scv=scv,
                     **goal)  # fmt: skip
    return _case("max_load", service_time=service, servers=random.choice((1, 2, 5, 30)), scv=scv, **goal)


def _group(random: Random) -> dict[str, Any]:
    return _case("overflow_group", load=random.expovariate(0.2), peakedness=random.uniform(1.0, 4.0),
                 servers=random.choice((1, 3, 10, 40)))  # fmt: skip


def _usl(random: Random) -> dict[str, Any]:
    n = [1, 2, 4, 8, 16, 24]
    rates = [k * 100 / (1 + 0.03 * (k - 1) + 4e-4 * k * (k - 1)) * random.uniform(0.97, 1.03) for k in n]
    return _case("fit_usl", n=n, throughput=rates)
