"""What was measured of a volume or a pool: runs, from listings or from numbers."""

from planner.measurements.listings import address_range, listing_run, pool_run, volume_runs
from planner.measurements.run import Interval, Measurement, Run, from_numbers, sharpened

__all__ = [
    "Interval",
    "Measurement",
    "Run",
    "address_range",
    "from_numbers",
    "listing_run",
    "pool_run",
    "sharpened",
    "volume_runs",
]
