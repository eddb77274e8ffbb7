"""Queueing models, pure mathematics: arrays in, frozen results out."""

from planner.queueing.alias_pool import PoolSteady, alias_pool
from planner.queueing.closed_queue import finite_source
from planner.queueing.erlang import (
    erlang_b,
    erlang_b_load,
    erlang_c,
    erlang_c_load,
    log_erlang_b,
    log_erlang_c,
)
from planner.queueing.limited_queue import LimitedSteady, mmck
from planner.queueing.open_queue import mmc
from planner.queueing.overflow_group import OverflowGroup, overflow_group
from planner.queueing.steady import Steady

__all__ = [
    "LimitedSteady",
    "OverflowGroup",
    "PoolSteady",
    "Steady",
    "alias_pool",
    "erlang_b",
    "erlang_b_load",
    "erlang_c",
    "erlang_c_load",
    "finite_source",
    "log_erlang_b",
    "log_erlang_c",
    "mmc",
    "mmck",
    "overflow_group",
]
