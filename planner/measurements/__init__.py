"""What was measured: `read` takes any file to one table; runs of volumes and pools, from listings, totals, numbers."""

from planner.measurements.listings import address_range, listing_run, member_runs, pool_run, volume_runs
from planner.measurements.read import Measured, read
from planner.measurements.run import Interval, Measurement, Run, from_numbers, sharpened
from planner.measurements.totals import by_pool, totals_runs

__all__ = [
    "Interval",
    "Measured",
    "Measurement",
    "Run",
    "address_range",
    "by_pool",
    "from_numbers",
    "listing_run",
    "member_runs",
    "pool_run",
    "read",
    "sharpened",
    "totals_runs",
    "volume_runs",
]
