"""What was measured of a volume or a pool: runs, from listings, volume totals or numbers."""

from planner.measurements.listings import address_range, listing_run, member_runs, pool_run, volume_runs
from planner.measurements.run import Interval, Measurement, Run, from_numbers, sharpened
from planner.measurements.totals import by_pool, totals_runs

__all__ = [
    "Interval",
    "Measurement",
    "Run",
    "address_range",
    "by_pool",
    "from_numbers",
    "listing_run",
    "member_runs",
    "pool_run",
    "sharpened",
    "totals_runs",
    "volume_runs",
]
