"""A site on a cluster of one and of two workers of one thread each: what it takes, by clock and by processor.

python -m tests.bench.bench_cluster [POOLS [INTERVALS]]

On a machine that does other work too, the clock says little; the processor time of one worker alone over that of the
busier of two is how many times faster two are on processors of their own.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl
import psutil

from planner import parallel
from planner.measurements.collect import collect
from planner.parallel import run
from planner.site import parts
from planner.site.parts import parts_of
from planner.site.question import need_of
from tests.site.cluster import cluster
from tests.site.large_site import SORTS, pool_rows


def busy(workers: list[Any]) -> list[float]:
    """Processor time of each worker so far, its nanny and children among it [s]."""
    found = []
    for each in workers:
        top = psutil.Process(each.pid)
        times = [one.cpu_times() for one in (top, *top.children(recursive=True))]
        found.append(sum(one.user + one.system for one in times))
    return found


def main() -> None:
    """Make an archive, answer it twice, say what it took."""
    pools, intervals = (int(word) for word in (sys.argv[1:] + ["48", "96"][len(sys.argv) - 1 :])[:2])
    parallel.PATIENCE = 120  # type: ignore[misc]
    parts.POOLS_AT_ONCE = 2  # type: ignore[misc] # a small site in as many parts as a large one has
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.parquet"
        pl.concat(
            pool_rows(
                SORTS[1 + k % 2], seed=k, name=f"P{k:03d}", volumes=8, intervals=intervals, first=1 + 8 * k
            )
            for k in range(pools)
        ).write_parquet(rows)
        archive = Path(folder) / "archive"
        collect([rows], archive)
        every, *_ = parts_of(archive)
        took = {}
        for count in (1, 2):
            with cluster(workers=count) as (address, workers):
                warm(address, count)
                before, begin = busy(workers), time.perf_counter()
                found = run(need_of, every, scheduler=address)
                wall = time.perf_counter() - begin
                used = [after - earlier for after, earlier in zip(busy(workers), before, strict=True)]
                assert not any(isinstance(each, parallel.Failed) for each in found)
                took[count] = max(used)
                print(
                    f"{count}: {wall:.1f} s, processors of the workers {[round(each, 1) for each in used]} s"
                )
        print(f"{len(every)} parts; {took[1] / took[2]:.2f} times by processor time")


def warm(address: str, count: int) -> None:
    """Wait until all workers have come and have imported what they need."""
    from distributed import Client

    from tests.site.parts import warm_up

    with Client(address, timeout=120) as client:
        client.wait_for_workers(count, timeout=120)
        client.run(warm_up)


if __name__ == "__main__":
    main()
