"""Cost of alias pools, in units of the same machine: ``python -m tests.bench.bench_alias_pool [INTERVALS]``."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import polars as pl

from planner.measurements.collect import collect
from planner.queueing.pools import alias_pool
from tests.checkout import ROOT
from tests.site.large_site import pool_rows

IMPORTS = "import numpy, scipy.optimize, typer"
COMMAND = (sys.executable, "-c", "from planner.cli import main; raise SystemExit(main())")
MONTH = 1344  # half hours
PUBLISHED = ROOT / "data" / "hyperpav" / "pool-0-aliases.listing"
LARGE = {"volumes": 192, "population": 6, "think_time": 4.0, "service_time": 1.0}


def best(work, repeats: int, clock=perf_counter) -> float:
    """Shortest time of several [s]."""
    times = []
    for _ in range(repeats):
        begin = clock()
        work()
        times.append(clock() - begin)
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


def spent(*words: str, repeats: int = 3) -> float:
    """Least CPU of several runs of a command, compiled to bytecode as an installed one is [s]."""
    times = []
    installed = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code = subprocess.run(words, stdout=subprocess.DEVNULL, env=installed, check=False).returncode
        if code > 1:  # 1: a pool is short
            raise SystemExit(f"{' '.join(words)} ended with {code}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def listing_of(volumes: int) -> str:
    """The published listing with so many volumes: its rows with other device numbers, rates and queues scaled."""
    lines = PUBLISHED.read_text(encoding="utf-8").splitlines()
    head, rows = lines[:10], lines[10:]
    random = np.random.default_rng(1)
    for k in range(volumes):
        row, share = rows[k % len(rows)], random.uniform(0.05, 1.0)
        at = row.index(row.split()[5]) + len(row.split()[5])
        rate, queued = float(row.split()[5]) * share, float(row.split()[-1]) * share
        head.append(f" {0x6000 + k:04X}{row[5 : at - 5]}{rate:5.0f}{row[at:-4]}{queued:4.1f}")
    return "\n".join([*head, ""])


def commands(intervals: int) -> None:
    """Print what commands cost, over what they import and over each other."""
    imports = spent(sys.executable, "-c", IMPORTS)
    flagship = spent(*COMMAND, "aliases", "pool", str(PUBLISHED))
    print(
        f"aliases pool, published listing              {flagship:8.2f} s  = {flagship / imports:.1f} imports"
    )
    with tempfile.TemporaryDirectory() as folder:
        sixty, month, one = (Path(folder) / name for name in ("sixty.listing", "month", "one"))
        sixty.write_text(listing_of(60), encoding="utf-8")
        volumes = spent(*COMMAND, "aliases", "volume", str(sixty))
        print(
            f"aliases volume, listing of 60 volumes        {volumes:8.2f} s  = {volumes / imports:.1f} imports"
        )
        size = {"volumes": 8, "intervals": intervals, "seconds": 1800.0}
        rows = pl.concat(
            pool_rows(sort, seed=7000 + k, name=f"P{k}", first=1 + 8 * k, **size)
            for k, sort in enumerate(("steady", "bursty", "in use"))
        )
        collect([rows], month)
        collect([rows.filter((pl.col("pool") == "P0") & (pl.col("start") == rows["start"][8 * 20]))], one)
        question = spent(*COMMAND, "aliases", "pool", str(one))
        whole = spent(*COMMAND, "site", str(month), "--workers", "1", repeats=1)
    print(f"one pool of 8 volumes, one interval          {question:8.2f} s")
    print(
        f"3 such pools, {intervals} intervals                {whole:8.1f} s  = {whole / question:.0f} questions"
    )


def unequal() -> None:
    """Print what counts of a pool of eight unequal volumes cost, and of ten thousand scenarios."""
    random = np.random.default_rng(3)
    service = random.uniform(0.5e-3, 2.5e-3, (1000, 1, 8))
    pools = {
        "volumes": np.ones((1000, 1, 8)), "arrival_rate": random.uniform(0.02, 0.7, service.shape) / service,
        "service_time": service, "inflation": 0.16, "redrive_time": 6e-5,
    }  # fmt: skip
    first = {name: value if np.ndim(value) == 0 else value[0] for name, value in pools.items()}
    equal = {
        "volumes": np.full((10_000, 1, 1), 8), "population": random.integers(2, 7, (10_000, 1, 1)),
        "think_time": random.uniform(0.5, 6.0, (10_000, 1, 1)), "service_time": 1.0, "inflation": 0.16,
    }  # fmt: skip
    one = best(lambda: alias_pool([4], **first), 10, process_time)
    many = best(lambda: alias_pool(np.arange(17), **first), 5, process_time)
    side = best(lambda: alias_pool([4], **pools), 1, process_time) / 1000
    alike = best(lambda: alias_pool([6], **equal), 1, process_time) / 10_000
    print(f"8 unequal open volumes, one count            {one * 1e3:8.2f} ms")
    print(
        f"the same, 17 counts                          {many * 1e3:8.2f} ms = {many / one:.1f} single counts"
    )
    print(
        f"1,000 such pools, one count, each            {side * 1e3:8.2f} ms = {side / one:.2f} single counts"
    )
    print(
        f"10,000 pools of equal volumes, each          {alike * 1e3:8.3f} ms = {alike / one:.3f} single counts"
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
    unequal()
    commands(int(sys.argv[1]) if len(sys.argv) > 1 else MONTH)


if __name__ == "__main__":
    main()
