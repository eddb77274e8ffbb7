"""The device kinds that have parameters to fit: name and class, one line each."""

from __future__ import annotations

from typing import Any, Final

from planner.devices.channel_program import ChannelProgram
from planner.devices.disk import DiskPath
from planner.devices.paging import PagingDevice
from planner.devices.pool import Pool
from planner.devices.processors.law import Processors
from planner.devices.volume import Volume

KINDS: Final[dict[str, type[Any]]] = {
    "volume": Volume,
    "pool": Pool,
    "paging": PagingDevice,
    "disk": DiskPath,
    "channel-program": ChannelProgram,
    "processors": Processors,
}
