"""Queueing models, pure mathematics: arrays in, frozen results out; alias pools are imported when asked for."""

from __future__ import annotations

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
from planner.queueing.network import Bounds, NetworkSteady, asymptotic_bounds, balanced_job_bounds, mva
from planner.queueing.open_queue import mmc
from planner.queueing.overflow_group import OverflowGroup, overflow_group
from planner.queueing.scalability import Scalability, fit_usl, usl
from planner.queueing.server_count import max_load, min_servers
from planner.queueing.steady import Steady

if TYPE_CHECKING:
    from planner.queueing.pools import PoolSteady, alias_pool

__all__ = [
    "Bounds",
    "GeneralSteady",
    "LimitedSteady",
    "NetworkSteady",
    "OverflowGroup",
    "PoolSteady",
    "Scalability",
    "Steady",
    "alias_pool",
    "asymptotic_bounds",
    "balanced_job_bounds",
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

_POOLS: Final = frozenset({"PoolSteady", "alias_pool"})


def __getattr__(name: str) -> Any:
    if name not in _POOLS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from planner.queueing import pools

    return getattr(pools, name)
