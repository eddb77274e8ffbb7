"""Topic of channel programs: what CP spends to translate them, and what fast translation saves."""

from __future__ import annotations

from collections.abc import Mapping

import sympy
from sympy import Symbol

from planner.devices.channel_program import ChannelProgram
from planner.explain.topic import Equation, Exact, Topic
from planner.library import read_model
from planner.quantity import Quantity
from planner.units import MILLISECOND

MODEL = "channel-program"
starts, wider, fast, slow = sympy.symbols("a b f s", nonnegative=True)
times = {(bits, way): Symbol(f"{way}_{bits}") for bits in (31, 64) for way in "FT"}
saved = {bits: Symbol(f"g_{bits}") for bits in (31, 64)}
MEANINGS = {
    "ssch_time": "Start Subchannels of 31-bit I/O, for 1 MB",
    "ssch_64_time": "what as many 64-bit ones cost more",
    "fast_ccw_time": "CCWs of 1 MB, translated fast",
    "slow_ccw_time": "CCWs of 1 MB, translated slowly",
}


def _equations(exact: Exact) -> tuple[Equation, ...]:
    programs = {31: starts, 64: 2 * (starts + wider)}
    costs = tuple(
        Equation(
            times[bits, way],
            programs[bits] + (fast if way == "F" else slow),
            f"CP time per MB, {bits}-bit, {'fast' if way == 'F' else 'slow'} translation",
            "s",
        )
        for bits, way in times
    )
    savings = tuple(
        Equation(
            left, 1 - times[bits, "F"] / times[bits, "T"], f"share that fast translation saves, {bits}-bit"
        )
        for bits, left in saved.items()
    )
    return (*costs, *savings)


def _numerical(values: Mapping[str, float]) -> dict[str, float]:
    law = ChannelProgram(**values)
    costs = {str(left): law.time_per_mb(bits, fast=way == "F") for (bits, way), left in times.items()}
    return {**costs, **{str(left): law.saving(bits) for bits, left in saved.items()}}


def _inputs() -> tuple[Quantity, ...]:
    """The four costs, by default those of the published runs."""
    law = ChannelProgram.from_model(read_model(MODEL))
    return tuple(
        Quantity(key, meaning, "s", symbol=symbol, default=f"{getattr(law, key) / MILLISECOND:.6g}ms")
        for symbol, (key, meaning) in zip((starts, wider, fast, slow), MEANINGS.items(), strict=True)
    )  # fmt: skip


CCW = Topic(
    name="ccw",
    title="What CP spends on channel programs, and what fast CCW translation saves",
    inputs=_inputs(),
    equations=_equations,
    answer=saved[64],
    numerical=_numerical,
    assumptions=(
        "a 64-bit channel program of the guest holds half as many CCWs: twice as many Start Subchannels a MB",
        "the same number of CCWs a MB in both widths",
        "defaults were fitted to sixteen runs on one machine (2064-109); see planner disk ccw for their errors",
    ),
    over="slow_ccw_time",
    source="IBM, z/VM Performance Report, 64-bit Fast CCW Translation (z/VM 4.2.0)",
)
