"""Processors: CPU time of a transaction, and how throughput scales with their number."""

from planner.devices.processors.configurations import Configuration, published, read_configurations
from planner.devices.processors.gains import Gain, gain_table, gains, nearest
from planner.devices.processors.law import Processors, internal_throughput
from planner.devices.processors.scaling import Prediction, Scaling, scaling
from planner.devices.processors.trials import Law, Trial

__all__ = [
    "Configuration",
    "Gain",
    "Law",
    "Prediction",
    "Processors",
    "Scaling",
    "Trial",
    "gain_table",
    "gains",
    "internal_throughput",
    "nearest",
    "published",
    "read_configurations",
    "scaling",
]
