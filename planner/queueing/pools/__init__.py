"""Alias pools: volumes with a base device each that share aliases; exact where small, a mean field at any size."""

from planner.queueing.pools.approach import Approach
from planner.queueing.pools.grouping import (
    GroupedPool,
    VolumeGroups,
    alias_pool_of_volumes,
    group_volumes,
)
from planner.queueing.pools.result import PoolSteady
from planner.queueing.pools.solve import alias_pool

__all__ = [
    "Approach",
    "GroupedPool",
    "PoolSteady",
    "VolumeGroups",
    "alias_pool",
    "alias_pool_of_volumes",
    "group_volumes",
]
