"""Queueing models, pure mathematics: arrays in, frozen results out; each loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
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
    from planner.queueing.multiclass import MulticlassSteady, closed_network
    from planner.queueing.network import (
        Bounds,
        NetworkSteady,
        asymptotic_bounds,
        balanced_job_bounds,
        mva,
    )
    from planner.queueing.open_queue import mmc
    from planner.queueing.overflow import OverflowGroup, overflow_group
    from planner.queueing.pools import Approach, PoolSteady, alias_pool
    from planner.queueing.scalability import Scalability, fit_usl, usl
    from planner.queueing.server_count import max_load, min_servers
    from planner.queueing.steady import Steady

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

# Each comes when it is asked for: who sizes a pool does not load every station.
_HOME: Final = {
    "Approach": "pools",
    "Bounds": "network",
    "GeneralSteady": "general_service",
    "LimitedSteady": "limited_queue",
    "MulticlassSteady": "multiclass",
    "NetworkSteady": "network",
    "OverflowGroup": "overflow",
    "PoolSteady": "pools",
    "Scalability": "scalability",
    "Steady": "steady",
    "alias_pool": "pools",
    "asymptotic_bounds": "network",
    "balanced_job_bounds": "network",
    "closed_network": "multiclass",
    "erlang_b": "erlang",
    "erlang_b_load": "erlang",
    "erlang_c": "erlang",
    "erlang_c_load": "erlang",
    "finite_source": "closed_queue",
    "fit_usl": "scalability",
    "log_erlang_b": "erlang",
    "log_erlang_c": "erlang",
    "max_load": "server_count",
    "mgc": "general_service",
    "min_servers": "server_count",
    "mmc": "open_queue",
    "mmck": "limited_queue",
    "mva": "network",
    "overflow_group": "overflow",
    "usl": "scalability",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
