"""What was measured of a volume or a pool: one structure, whatever it was read from."""

from planner.measurements.files import rows_of
from planner.measurements.rows import Devices, Rows
from planner.measurements.run import Run, from_numbers
from planner.measurements.systems import PoolRun, pool_runs, system_runs, volume_runs

__all__ = ["Devices", "PoolRun", "Rows", "Run", "from_numbers", "pool_runs", "rows_of", "system_runs", "volume_runs"]
