"""Capacity planning for z/VM disk I/O and storage; nothing is imported before it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

__version__ = "0.1.0"

if TYPE_CHECKING:
    from planner import advice as advice
    from planner import calibrate as calibrate
    from planner import demand as demand
    from planner import devices as devices
    from planner import explain as explain
    from planner import measurements as measurements
    from planner import published as published
    from planner import queueing as queueing
    from planner import reports as reports
    from planner import site as site
    from planner import sizing as sizing
    from planner import supply as supply
    from planner import system as system
    from planner import whatif as whatif
    from planner.demand.target import Target as Target
    from planner.errors import CalibrationError as CalibrationError
    from planner.errors import ConvergenceError as ConvergenceError
    from planner.errors import InfeasibleError as InfeasibleError
    from planner.errors import InputError as InputError
    from planner.errors import PlannerError as PlannerError
    from planner.errors import ReportError as ReportError
    from planner.library import read_model as read_model
    from planner.library import write_model as write_model
    from planner.measurements.read import read as read
    from planner.sizing.question import aliases as aliases

# Public name -> where it lives; a room stands for itself. A test holds that the imports above say the same.
_ROOMS: Final = (
    "advice", "calibrate", "demand", "devices", "explain", "measurements", "published", "queueing", "reports", "site",
    "sizing", "supply", "system", "whatif",
)  # fmt: skip
_HOME: Final = {
    "aliases": ("planner.sizing.question", "aliases"),
    "read": ("planner.measurements.read", "read"),
    "CalibrationError": ("planner.errors", "CalibrationError"),
    "ConvergenceError": ("planner.errors", "ConvergenceError"),
    "InfeasibleError": ("planner.errors", "InfeasibleError"),
    "InputError": ("planner.errors", "InputError"),
    "PlannerError": ("planner.errors", "PlannerError"),
    "ReportError": ("planner.errors", "ReportError"),
    "Target": ("planner.demand.target", "Target"),
    "read_model": ("planner.library", "read_model"),
    "write_model": ("planner.library", "write_model"),
}


def door(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the `__getattr__` of a package: `homes` has, by module, the public names that live there, blanks between."""
    home = {name: module for module, names in homes.items() for name in names.split()}

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{home[name]}"), name)

    return find


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"planner.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _HOME[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted({*_HOME, *_ROOMS, "__version__"})
