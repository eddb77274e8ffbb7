"""What the planner answers about paging devices, disks and channel programs: tables, notes, pictures."""

from planner.advice.channel_program import CcwAnswer, channel_programs
from planner.advice.disk import DiskAnswer, disk_rates
from planner.advice.paging import PagingAnswer, paging_devices

__all__ = ["CcwAnswer", "DiskAnswer", "PagingAnswer", "channel_programs", "disk_rates", "paging_devices"]
