"""Alias pools: volumes with a base device each that share aliases, exactly where small and by a mean field at any size."""

from planner.queueing.alias_pool.result import PoolSteady
from planner.queueing.alias_pool.solve import alias_pool

__all__ = ["PoolSteady", "alias_pool"]
