"""What z/VM owns, each told as queues; imported when asked for, since storage arithmetic needs no queue."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from planner.devices.channel_program import ChannelProgram
    from planner.devices.disk import DiskPath
    from planner.devices.kinds import KINDS
    from planner.devices.paging import PagingDevice
    from planner.devices.pool import Performance, Pool, Volume, VolumeClass
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
]

_HOME: Final = {
    "KINDS": "kinds",
    "ChannelProgram": "channel_program",
    "DiskPath": "disk",
    "PagingDevice": "paging",
    "Performance": "pool",
    "Pool": "pool",
    "Processors": "processors",
    "Volume": "pool",
    "VolumeClass": "pool",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
