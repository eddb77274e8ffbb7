"""Queueing models, pure mathematics: arrays in, frozen results out; modules are imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner import door

if TYPE_CHECKING:
    from planner.queueing.erlang import erlang_b, erlang_c
    from planner.queueing.general_service import GeneralSteady, mgc
    from planner.queueing.network import MulticlassSteady, NetworkSteady, closed_network, mva
    from planner.queueing.overflow import OverflowGroup, overflow_group
    from planner.queueing.pools import PoolSteady, alias_pool
    from planner.queueing.scalability import Scalability, fit_usl, usl
    from planner.queueing.server_count import max_load, min_servers
    from planner.queueing.single_station import LimitedSteady, Steady, finite_source, mmc, mmck

__all__ = [
    "GeneralSteady", "LimitedSteady", "MulticlassSteady", "NetworkSteady", "OverflowGroup", "PoolSteady",
    "Scalability", "Steady", "alias_pool", "closed_network", "erlang_b", "erlang_c", "finite_source", "fit_usl",
    "max_load", "mgc", "min_servers", "mmc", "mmck", "mva", "overflow_group", "usl",
]  # fmt: skip

__getattr__, __dir__ = door(__name__)
