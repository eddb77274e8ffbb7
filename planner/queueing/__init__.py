"""Queueing models, pure mathematics: arrays in, frozen results out."""

from planner.queueing.alias_pool import PoolSteady, alias_pool
from planner.queueing.cyclic import cyclic
from planner.queueing.erlang import erlang_b, erlang_c
from planner.queueing.finite_source import finite_source
from planner.queueing.open_queue import mmc
from planner.queueing.steady import Steady

__all__ = ["PoolSteady", "Steady", "alias_pool", "cyclic", "erlang_b", "erlang_c", "finite_source", "mmc"]
