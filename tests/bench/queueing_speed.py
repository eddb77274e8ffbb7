"""Speed of the queueing core: `python tests/bench/queueing_speed.py` prints one table, and peak memory and import time.

Beside each call stands a plain NumPy recursion of the same numbers, written here as well as such a recursion can
be without the planner's means: in blocks that stay in the cache, in place, one step a term for all scenarios. Peers
that are installed compute what they offer of the same scenarios, one at a time. Set OMP_NUM_THREADS=1 for one core.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from planner import queueing
from planner.results import Array

REPEATS = 7
PEER_SCENARIOS = 2000
BLOCK = 4096
SEED = 20


def best(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """Least wall time of several calls [s]: the one that was disturbed least."""
    times = []
    gc.collect()
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def blocks(size: int) -> list[slice]:
    """Slices of one block each."""
    edges = [*range(0, size, BLOCK), size]
    return [slice(low, high) for low, high in pairwise(edges)]


def plain_mmc(rate: Array, service: Array, servers: Array) -> Array:
    """Erlang's recursion 1/B(k) = 1 + k/a 1/B(k - 1), then the seven fields of M/M/c."""
    result = np.empty((7, rate.size))
    for part in blocks(rate.size):
        lam, s, c = rate[part], service[part], servers[part]
        load = lam * s
        inverse, step = np.ones_like(load), np.empty_like(load)
        for k in range(1, int(c.max()) + 1):
            np.divide(k, load, out=step)
            step *= inverse
            np.add(step, 1, out=inverse, where=k <= c)
        stable = load < c
        with np.errstate(divide="ignore", invalid="ignore"):
            delay = np.where(stable, c / ((c - load) * inverse + load), 1.0)
            wait = np.where(stable, delay * s / (c - load), np.inf)
        busy = np.minimum(load, c)
        through = busy / s
        for row, values in enumerate((through, busy, busy / c, delay, through * wait, wait, wait + s)):
            result[row, part] = values
    return result


def plain_finite_source(n: Array, think: Array, service: Array, servers: Array) -> Array:
    """Birth and death recursion from no requester at the station up, all scenarios to the largest population."""
    result = np.empty((5, n.size))
    for part in blocks(n.size):
        many, z, s, c = n[part], think[part], service[part], servers[part]
        ratio, law = s / z, np.ones(many.size)
        total, busy, waiting, delayed, thinking = (
            law.copy(),
            *(np.zeros(many.size) for _ in range(3)),
            many.copy(),
        )
        for m in range(1, int(many.max()) + 1):
            served = np.minimum(m, c)
            law = law * ratio * np.maximum(many - m + 1, 0) / served
            total += law
            busy += law * served
            waiting += law * (m - served)
            source = law * (many - m)
            thinking += source
            delayed += np.where(m >= c, source, 0)
        through = busy / (total * s)
        delay = np.where(thinking > 0, delayed / thinking, 0)
        for row, values in enumerate(
            (through, busy / total, waiting / total, delay, waiting / total / through)
        ):
            result[row, part] = values
    return result


def plain_min_servers(rate: Array, service: Array, wait: Array) -> Array:
    """Count servers up by Erlang's recursion until every scenario of a block meets its target."""
    result = np.zeros(rate.size)
    for part in blocks(rate.size):
        s, target = service[part], wait[part]
        load = rate[part] * s
        inverse, found = np.ones_like(load), np.zeros_like(load)
        k = 0
        while not found.all():
            k += 1
            inverse = 1 + k / load * inverse
            spare = k - load
            with np.errstate(divide="ignore"):
                met = (spare > 0) & (k / (spare * inverse + load) * s / spare <= target)
            found = np.where((found == 0) & met, k, found)
        result[part] = found
    return result


def peer_waits(rate: Array, service: Array, servers: Array) -> dict[str, float]:
    """Seconds a scenario of the peers that are installed, for the wait (pyqueueing) or its probability of M/M/c."""
    found = {}
    scenarios = [
        row for row in zip(rate.tolist(), service.tolist(), servers.astype(int).tolist(), strict=True)
    ]
    scenarios = [(a, s, c) for a, s, c in scenarios if a * s < c][:PEER_SCENARIOS]
    if importlib.util.find_spec("pyworkforce"):
        erlang_c = importlib.import_module("pyworkforce.queuing").ErlangC

        def workforce() -> None:
            for a, s, c in scenarios:
                erlang_c(transactions=a, aht=s, asa=1.0, interval=1).waiting_probability(positions=c)

        found["pyworkforce"] = best(workforce, 3) / len(scenarios)
    if importlib.util.find_spec("pyqueueing"):
        model = importlib.import_module("pyqueueing").MMC

        def pyqueueing() -> None:
            for a, s, c in scenarios:
                model(arrival_rate=a, service_rate=1 / s, servers=c).mean_wait()

        found["pyqueueing"] = best(pyqueueing, 3) / len(scenarios)
    return found


def peer_counts(rate: Array, service: Array, wait: Array) -> dict[str, float]:
    """Seconds a scenario of the one peer that finds the fewest servers for a mean wait."""
    if not importlib.util.find_spec("pyqueueing"):
        return {}
    model = importlib.import_module("pyqueueing").ErlangC
    scenarios = list(zip(rate.tolist(), service.tolist(), wait.tolist(), strict=True))[:PEER_SCENARIOS]

    def pyqueueing() -> None:
        for a, s, w in scenarios:
            model(arrival_rate=a, service_rate=1 / s).required_servers(target_mean_wait=w)

    return {"pyqueueing": best(pyqueueing, 1) / len(scenarios)}


def peak_memory(arguments: tuple[Array, ...]) -> float:
    """Peak of `mmc` in arrays of the size of one argument, results included."""
    tracemalloc.start()
    kept = queueing.mmc(*arguments)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept.wait_time.shape == arguments[0].shape
    return peak / arguments[0].nbytes


def import_time(modules: str) -> float:
    """Least time to import in a fresh interpreter [s]."""
    code = f"import time; begin = time.perf_counter(); import {modules}; print(time.perf_counter() - begin)"
    return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(REPEATS))


def show(name: str, size: int, ours: float, plain: float, peers: dict[str, float]) -> None:
    row = f"{name:<15}{size:>9}{ours / size * 1e6:>10.3f}{plain / size * 1e6:>10.3f}{ours / plain:>8.2f}"
    for peer in ("pyworkforce", "pyqueueing"):
        each = peers.get(peer)
        row += f"{each * 1e6:>13.2f}{each * size / ours:>8.0f}x" if each else f"{'-':>13}{'-':>9}"
    print(row)


def main() -> None:
    """Print the table."""
    generator = np.random.default_rng(SEED)
    print(f"{'':<15}{'':>9}{'planner':>10}{'plain':>10}{'':>8}{'pyworkforce':>13}{'':>9}{'pyqueueing':>13}")
    print(
        f"{'call':<15}{'size':>9}{'[us]':>10}{'[us]':>10}{'ratio':>8}{'[us]':>13}{'slower':>9}{'[us]':>13}{'slower':>9}"
    )

    size = 1_000_000
    service = generator.uniform(1e-3, 1e-1, size)
    rate, servers = generator.uniform(0.01, 60, size) / service, generator.integers(1, 65, size).astype(float)
    ours, plain = queueing.mmc(rate, service, servers), plain_mmc(rate, service, servers)
    assert np.allclose(ours.wait_time, plain[5], rtol=1e-9)
    scenario = (rate, service, servers)
    show(
        "mmc",
        size,
        best(lambda: queueing.mmc(*scenario)),
        best(lambda: plain_mmc(*scenario)),
        peer_waits(*scenario),
    )
    memory = peak_memory(scenario)

    size = 100_000
    n, c = generator.integers(1, 51, size).astype(float), generator.integers(1, 65, size).astype(float)
    think = service[:size] * generator.uniform(0.1, 100, size)
    closed = (n, think, service[:size], c)
    assert np.allclose(queueing.finite_source(*closed).throughput, plain_finite_source(*closed)[0], rtol=1e-9)
    ours_time = best(lambda: queueing.finite_source(*closed))
    show("finite_source", size, ours_time, best(lambda: plain_finite_source(*closed)), {})

    wait = service[:size] * 10 ** generator.uniform(-4, 1, size)
    sizing = (rate[:size], service[:size], wait)
    assert np.array_equal(queueing.min_servers(*sizing[:2], wait_time=wait), plain_min_servers(*sizing))
    ours_time = best(lambda: queueing.min_servers(*sizing[:2], wait_time=wait))
    show("min_servers", size, ours_time, best(lambda: plain_min_servers(*sizing)), peer_counts(*sizing))

    print(f"\npeak memory of mmc over a million scenarios: {memory:.1f} arrays of its input")
    base, core = import_time("numpy, scipy.special"), import_time("planner.queueing")
    print(f"import planner.queueing: {core:.2f} s, {core / base:.2f} times numpy and scipy.special")


if __name__ == "__main__":
    main()
