"""What a site costs: `python -m tests.site.scale POOLS VOLUMES INTERVALS [SORT...]` prints rows, bytes, seconds.

The archive is made, collected and answered; the CPU seconds of whole answers of single intervals stand beside.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np

from planner.demand import DeviceModel
from planner.errors import PlannerError
from planner.measurements import Run
from planner.measurements.choose import groups_of, rows_of
from planner.measurements.collect import collect
from planner.measurements.over_time import over_time
from planner.site.question import site
from planner.sizing.need import aliases_of_runs
from tests.site.large_site import SORTS, site_rows

WHOLE = 3  # intervals of each pool answered in whole


def cpu_seconds() -> float:
    """CPU seconds of this process and of those that it waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


def main(pools: int, volumes: int, intervals: int, *sorts: str) -> None:
    """Print one line."""
    frame = site_rows(
        pools,
        seed=9,
        sorts=sorts or SORTS,
        volumes=volumes,
        intervals=intervals,
        seconds=86400.0 * 5 / intervals,  # type: ignore[arg-type]
    )
    with tempfile.TemporaryDirectory() as folder:
        begin = cpu_seconds()
        collect([frame], Path(folder) / "archive")
        collected = cpu_seconds() - begin
        size = sum(file.stat().st_size for file in Path(folder).rglob("*.parquet"))
        begin = cpu_seconds()
        answer = site(Path(folder) / "archive")
        seconds = cpu_seconds() - begin
    groups = groups_of(frame.lazy())
    device_model, whole, many = DeviceModel.from_model("hyperpav"), 0.0, 0
    for _, pool in over_time(rows_of(frame.lazy(), groups), groups):
        assert not isinstance(pool, str)
        for k in np.linspace(0, intervals - 1, WHOLE).round().astype(int):
            run = pool.runs[k]
            begin = cpu_seconds()
            if isinstance(run, Run):
                with suppress(PlannerError):  # a count that cannot be solved costs as well
                    aliases_of_runs(run, device_model)
                whole, many = whole + cpu_seconds() - begin, many + 1
    full = sum(each.solved_in_full for each in answer.pools)
    peak = (
        max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        / 1024
    )
    print(
        f"rows {frame.height}  bytes a row {size / frame.height:.1f}  collect {collected:.1f} s  site {seconds:.1f} s  "
        f"in full {full} of {pools * intervals}  whole answer {whole / max(many, 1):.2f} s  "
        f"site over 6.25 whole answers a pool {seconds / pools / (6.25 * whole / max(many, 1)):.2f}  "
        f"peak {peak:.0f} MB",
        flush=True,
    )


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:4]), *sys.argv[4:])
