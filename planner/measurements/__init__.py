"""What was measured: `read` takes any file to one table, and its rows become runs of volumes and pools."""

from planner.measurements.observed import from_numbers
from planner.measurements.read import Measured, read
from planner.measurements.rows import Devices, Rows, intervals
from planner.measurements.run import Run
from planner.measurements.systems import PoolRun, pool_runs, system_runs, volume_runs

__all__ = [
    "Devices",
    "Measured",
    "PoolRun",
    "Rows",
    "Run",
    "from_numbers",
    "intervals",
    "pool_runs",
    "read",
    "system_runs",
    "volume_runs",
]
