"""What z/VM owns, each told as queues."""

from planner.devices.pool import Performance, Pool, VolumeClass
from planner.devices.volume import Volume

KINDS: dict[str, type[Volume] | type[Pool]] = {"volume": Volume, "pool": Pool}

__all__ = ["KINDS", "Performance", "Pool", "Volume", "VolumeClass"]
