"""Capacity planning for z/VM disk I/O and storage; modules are imported on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

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


def door(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make `__getattr__` and `__dir__` of a package: names imported under TYPE_CHECKING are loaded on first use."""

    @cache
    def homes() -> dict[str, str]:
        import ast

        loader: Any = sys.modules[package].__loader__
        guarded = next(
            node for node in ast.parse(loader.get_source(package)).body if isinstance(node, ast.If)
        )
        imports = [node for node in guarded.body if isinstance(node, ast.ImportFrom)]
        return {alias.name: str(node.module) for node in imports for alias in node.names}

    def find(name: str) -> Any:
        if name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes()[name] == package:
            return import_module(f"{package}.{name}")
        return getattr(import_module(homes()[name]), name)

    return find, lambda: list(homes())


__getattr__, _names = door(__name__)


def __dir__() -> list[str]:
    return [*_names(), "__version__"]
