"""What `planner growth` costs at a site of many pools: ``python -m tests.site.growth_scale [POOLS] [WORKERS]``.

Pools of eight volumes and three aliases over 400 days, the three busiest hours of each, hour by hour. Reading the file
is not part of it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from planner.demand import DeviceModel, Target
from planner.measurements.read import read
from planner.site.example import example_volumes
from planner.site.growth.limits import GrowthQuestion, site_growth
from tests.site.scale import cpu_seconds


def main(pools: int = 200, workers: int | None = None) -> None:
    """Print seconds by the clock and of the processors."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "volumes.csv"
        example_volumes(days=400, pools=pools, volumes=8, hours=3, aliases=3).write_csv(path)
        measured = read(path)
    begin, used = time.monotonic(), cpu_seconds()
    found = site_growth(
        measured,
        GrowthQuestion(device_model=DeviceModel.from_model("hyperpav"), target=Target()),
        workers=workers,
    )
    print(
        f"{pools} pools, {len(found.limits)} limits: {time.monotonic() - begin:.1f} s by the clock, "
        f"{cpu_seconds() - used:.1f} s of the processors"
    )


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:3]))
