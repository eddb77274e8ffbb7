"""Readers of what users have: Performance Toolkit listings, and numbers with their printed resolution."""

from planner.reports.device import Device, DeviceListing, device_table, read_devices
from planner.reports.printed import Printed
from planner.reports.table import PublishedTable, read_table

__all__ = [
    "Device",
    "DeviceListing",
    "Printed",
    "PublishedTable",
    "device_table",
    "read_devices",
    "read_table",
]
