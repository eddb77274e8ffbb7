"""What z/VM owns, each told as queues."""

from planner.devices.channel_program import ChannelProgram
from planner.devices.disk import DiskPath
from planner.devices.paging import PagingDevice
from planner.devices.pool import Performance, Pool, VolumeClass
from planner.devices.volume import Volume

KINDS: dict[str, type[Volume | Pool | PagingDevice | DiskPath | ChannelProgram]] = {
    "volume": Volume,
    "pool": Pool,
    "paging": PagingDevice,
    "disk": DiskPath,
    "channel-program": ChannelProgram,
}

__all__ = [
    "KINDS",
    "ChannelProgram",
    "DiskPath",
    "PagingDevice",
    "Performance",
    "Pool",
    "Volume",
    "VolumeClass",
]
