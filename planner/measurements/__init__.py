"""What was measured of a volume or a pool: runs, from listings, volume totals or numbers."""

from planner.measurements.listings import address_range, listing_run, pool_run, volume_runs
from planner.measurements.run import Interval, Measurement, Run, from_numbers, sharpened
from planner.measurements.totals import totals_runs

__all__ = [
    "Interval",
    "Measurement",
    "Run",
    "address_range",
    "from_numbers",
    "listing_run",
    "pool_run",
    "sharpened",
    "totals_runs",
    "volume_runs",
]
