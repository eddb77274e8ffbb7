"""Readers of what users have: Performance Toolkit listings, and numbers with their printed resolution."""

from planner.reports.device import Device, DeviceListing, device_table, read_devices
from planner.reports.printed import Printed

__all__ = ["Device", "DeviceListing", "Printed", "device_table", "read_devices"]
