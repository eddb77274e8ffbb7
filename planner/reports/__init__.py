"""Readers of what users have: Performance Toolkit listings, and numbers with their printed resolution."""

from planner.reports.any_listing import DeviceListing, read_devices
from planner.reports.device_rows import Device
from planner.reports.dspacesh import DataSpace, DataSpaceListing, read_data_spaces
from planner.reports.printed import Printed, PublishedTable, read_table

__all__ = [
    "DataSpace",
    "DataSpaceListing",
    "Device",
    "DeviceListing",
    "Printed",
    "PublishedTable",
    "read_data_spaces",
    "read_devices",
    "read_table",
]
