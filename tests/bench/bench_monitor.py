"""Speed of monitor data: `python -m tests.bench.bench_monitor [SAMPLES]` writes a file of 5,000 devices and reads it.

Side by side in one run: numpy.fromfile of the same file, and the file in the one table, batch after batch; CPU time of
each (least of several), and the peak of memory while batches are read, in a process of its own. 700 samples make 1 GB.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from planner.reports.monitor.reader import batches
from tests.reports.monitor_site import Site
from tests.reports.monitor_writer import Run, many, monwrite, records

SAMPLES, DEVICES, POOLS, REPEATS = 700, 5000, 10, 3
PEAK = """
import sys
from pathlib import Path
import polars
from planner.reports.monitor.reader import batches
def peak():  # of this process alone, which the peak that a shell reports is not
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
polars.DataFrame({"x": [1]}).lazy().collect()
before = peak()
for _ in batches(sys.argv[1]): pass
print((peak() - before) / 1024)
"""


def write(path: Path, samples: int) -> None:
    """Write a MONWRITE file of a simulated system."""
    half = (DEVICES - 1) // 2 // POOLS
    site = Site(bases=half, aliases=half, pools=POOLS)
    with path.open("wb") as file:
        file.write(monwrite([[Run(site.configuration())]]))
        for sample in range(samples):
            if sample:
                site.work(60.0)
            end = records((1, 11), site.time, {})
            file.write(many([site.pool_records(), site.device_records(), end]))


def best(call: Callable[[], object]) -> float:
    """Least CPU time of several calls [s]."""
    times = []
    for _ in range(REPEATS):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return min(times)


def read(path: Path) -> int:
    """Rows of devices in all batches."""
    return sum(part.devices.height for part in batches(path))


def main(samples: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "MONDATA"
        write(path, samples)
        megabytes = path.stat().st_size / 1e6
        rows = read(path)
        plain = best(lambda: np.fromfile(path, np.uint8))
        ours = best(lambda: read(path))
        peak = subprocess.run(
            [sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True
        )
        print(f"monitor file, {megabytes:.0f} MB, {rows} rows of devices")
        print(f"  numpy.fromfile {plain:8.2f} s of CPU")
        print(f"  the one table  {ours:8.2f} s of CPU, {ours / plain:.1f} times (at most 15)")
        print(
            f"  memory         {float(peak.stdout):8.0f} MB above the packages, whatever the size of the file"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES)
