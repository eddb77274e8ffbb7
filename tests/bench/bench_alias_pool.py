"""Cost of alias pools, in units of the same machine: ``python -m tests.bench.bench_alias_pool``."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from planner.queueing.pools import alias_pool

LARGE = {"volumes": 192, "population": 6, "think_time": 4.0, "service_time": 1.0}


def best(work, repeats: int) -> float:
    """Shortest time of several [s]."""
    times = []
    for _ in range(repeats):
        begin = perf_counter()
        work()
        times.append(perf_counter() - begin)
    return min(times)


def random_pool(rng: np.random.Generator) -> None:
    """One pool of three closed, open or mixed classes."""
    closed = rng.random(3) < 0.5
    nan = np.nan
    rate = rng.uniform(0.05, 0.95, 3)
    alias_pool(
        int(rng.integers(2, 100)),
        volumes=rng.integers(5, 50, 3),
        population=np.where(closed, rng.integers(1, 8, 3), nan),
        think_time=np.where(closed, rng.uniform(0.5, 8.0, 3), nan),
        arrival_rate=np.where(closed, nan, rate),
        service_time=1.0,
    )


def main() -> None:
    """Print what pools cost."""
    rng = np.random.default_rng(1)
    left, right = rng.random((2, 800))
    convolution = best(lambda: np.convolve(left, right), 200)
    solve = best(lambda: alias_pool(64, **LARGE), 20)
    sweep = best(lambda: alias_pool(np.arange(65), **LARGE), 3)
    small = {"volumes": 8, "population": 3, "think_time": 0.12, "service_time": 1.0, "inflation": 0.16}
    fit = best(lambda: alias_pool(8, **small, redrive_time=0.05), 20)
    begin = perf_counter()
    for _ in range(100):
        random_pool(rng)
    per_pool = (perf_counter() - begin) / 100
    print(f"np.convolve of two 800-vectors               {convolution * 1e6:8.1f} us")
    print(
        f"192 equal volumes, 64 aliases                {solve * 1e3:8.2f} ms = {solve / convolution:.0f} convolutions"
    )
    print(
        f"the same, all 65 alias counts                {sweep * 1e3:8.1f} ms = {sweep / solve:.0f} single solves"
    )
    print(f"8 volumes, 3 requesters, 8 aliases           {fit * 1e3:8.2f} ms")
    print(
        f"pools of 3 classes, any kind                 {per_pool * 1e3:8.1f} ms each: 1,000 take {per_pool * 1e3:.0f} s"
    )


if __name__ == "__main__":
    main()
