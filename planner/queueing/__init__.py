"""Queueing models, pure mathematics: arrays in, frozen results out; stations at once, the rest when asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from planner.queueing.closed_queue import finite_source
from planner.queueing.erlang import (
    erlang_b,
    erlang_b_load,
    erlang_c,
    erlang_c_load,
    log_erlang_b,
    log_erlang_c,
)
from planner.queueing.general_service import GeneralSteady, mgc
from planner.queueing.limited_queue import LimitedSteady, mmck
from planner.queueing.open_queue import mmc
from planner.queueing.overflow_group import OverflowGroup, overflow_group
from planner.queueing.server_count import max_load, min_servers
from planner.queueing.steady import Steady

if TYPE_CHECKING:
    from planner.queueing.multiclass import MulticlassSteady, closed_network
    from planner.queueing.network import (
        Bounds,
        NetworkSteady,
        asymptotic_bounds,
        balanced_job_bounds,
        mva,
    )
    from planner.queueing.pools import Approach, PoolSteady, alias_pool
    from planner.queueing.scalability import Scalability, fit_usl, usl

__all__ = [
    "Approach",
    "Bounds",
    "GeneralSteady",
    "LimitedSteady",
    "MulticlassSteady",
    "NetworkSteady",
    "OverflowGroup",
    "PoolSteady",
    "Scalability",
    "Steady",
    "alias_pool",
    "asymptotic_bounds",
    "balanced_job_bounds",
    "closed_network",
    "erlang_b",
    "erlang_b_load",
    "erlang_c",
    "erlang_c_load",
    "finite_source",
    "fit_usl",
    "log_erlang_b",
    "log_erlang_c",
    "max_load",
    "mgc",
    "min_servers",
    "mmc",
    "mmck",
    "mva",
    "overflow_group",
    "usl",
]

# What is not a single station, and where it lives. `overflow_group` shares its name with its module and comes at once.
_HOME: Final = {
    "MulticlassSteady": "multiclass",
    "closed_network": "multiclass",
    "Bounds": "network",
    "NetworkSteady": "network",
    "asymptotic_bounds": "network",
    "balanced_job_bounds": "network",
    "mva": "network",
    "Approach": "pools",
    "PoolSteady": "pools",
    "alias_pool": "pools",
    "Scalability": "scalability",
    "fit_usl": "scalability",
    "usl": "scalability",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
