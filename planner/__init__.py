"""Capacity planning for z/VM disk I/O and storage; nothing is imported before it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

__version__ = "0.1.0"

if TYPE_CHECKING:
    from planner import queueing as queueing
    from planner.errors import CalibrationError as CalibrationError
    from planner.errors import ConvergenceError as ConvergenceError
    from planner.errors import InfeasibleError as InfeasibleError
    from planner.errors import InputError as InputError
    from planner.errors import PlannerError as PlannerError
    from planner.errors import ReportError as ReportError
    from planner.library import read_model as read_model
    from planner.library import write_model as write_model

# Public name -> where it lives; a module stands for itself. A test holds that the imports above say the same.
_HOME: Final = {
    "queueing": "planner.queueing",
    "CalibrationError": "planner.errors",
    "ConvergenceError": "planner.errors",
    "InfeasibleError": "planner.errors",
    "InputError": "planner.errors",
    "PlannerError": "planner.errors",
    "ReportError": "planner.errors",
    "read_model": "planner.library",
    "write_model": "planner.library",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_HOME[name])
    return module if _HOME[name] == f"{__name__}.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
