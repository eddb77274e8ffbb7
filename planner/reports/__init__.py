"""Readers of what users have: Performance Toolkit listings, and numbers with their printed resolution."""

from planner.reports.device import Device, DeviceListing, device_table, read_devices
from planner.reports.dspacesh import DataSpace, DataSpaceListing, data_space_table, read_data_spaces
from planner.reports.printed import Printed

__all__ = [
    "DataSpace",
    "DataSpaceListing",
    "Device",
    "DeviceListing",
    "Printed",
    "data_space_table",
    "device_table",
    "read_data_spaces",
    "read_devices",
]
