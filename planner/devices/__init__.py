"""Models of z/VM devices as queues; imported on first use, since storage arithmetic needs no queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner import door

if TYPE_CHECKING:
    from planner.devices.channel_program import ChannelProgram
    from planner.devices.disk import DiskPath
    from planner.devices.kinds import KINDS
    from planner.devices.paging import PagingDevice
    from planner.devices.pool import Performance, Pool, Volume, VolumeClass, solve_pools
    from planner.devices.processors import Processors

__all__ = [
    "KINDS",
    "ChannelProgram",
    "DiskPath",
    "PagingDevice",
    "Performance",
    "Pool",
    "Processors",
    "Volume",
    "VolumeClass",
    "solve_pools",
]

__getattr__, __dir__ = door(__name__)
