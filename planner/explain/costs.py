"""Topics of costs and limits: channel programs, virtual storage, and the scaling of throughput with processors."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import sympy
from sympy import Eq, Integer, Min, Piecewise, Symbol, floor, oo, sqrt

from planner import queueing
from planner.devices.channel_program import ChannelProgram
from planner.devices.storage import (
    FRAMES_PER_PGMBK,
    PAGES_PER_SEGMENT,
    SEGMENTS_PER_PTRM_SPACE,
    ptrm_limit,
    real_storage_limit,
)
from planner.explain.topic import MOST, TINY, Equation, Exact, Topic
from planner.library import read_model
from planner.quantity import Quantity
from planner.units import FRAME, MILLISECOND, SEGMENT

MODEL = "channel-program"
starts, wider, fast, slow = sympy.symbols("a b f s", nonnegative=True)
times = {(bits, way): Symbol(f"{way}_{bits}") for bits in (31, 64) for way in "FT"}
saved = {bits: Symbol(f"g_{bits}") for bits in (31, 64)}
MEANINGS = {
    "ssch_time": "Start Subchannels of 31-bit I/O, for 1 MB",
    "ssch_64_time": "extra cost of the same number of 64-bit ones",
    "fast_ccw_time": "CCWs of 1 MB, translated fast",
    "slow_ccw_time": "CCWs of 1 MB, translated slowly",
}


def _program_equations(exact: Exact) -> tuple[Equation, ...]:
    programs = {31: starts, 64: 2 * (starts + wider)}
    words = {"F": (fast, "fast"), "T": (slow, "slow")}
    steps = []
    for (bits, way), left in times.items():
        each, name = words[way]
        meaning = f"CP time per MB, {bits}-bit, {name} translation"
        steps.append(Equation(left, programs[bits] + each, meaning, "s"))
    for bits, left in saved.items():
        meaning = f"share that fast translation saves, {bits}-bit"
        steps.append(Equation(left, 1 - times[bits, "F"] / times[bits, "T"], meaning))
    return tuple(steps)


def _program_numerical(values: Mapping[str, float]) -> dict[str, float]:
    program = ChannelProgram(**values)
    costs = {str(left): program.time_per_mb(bits, fast=way == "F") for (bits, way), left in times.items()}
    return {**costs, **{str(left): program.saving(bits) for bits, left in saved.items()}}


def _program_inputs() -> tuple[Quantity, ...]:
    """The four costs, by default those of the published runs."""
    program = ChannelProgram.from_model(read_model(MODEL))
    return tuple(
        Quantity(key, meaning, "s", symbol=symbol, default=f"{getattr(program, key) / MILLISECOND:.6g}ms")
        for symbol, (key, meaning) in zip((starts, wider, fast, slow), MEANINGS.items(), strict=True)
    )  # fmt: skip


CCW = Topic(
    name="ccw",
    title="CP processor time of channel programs, and the saving of fast CCW translation",
    inputs=_program_inputs(),
    equations=_program_equations,
    answer=saved[64],
    numerical=_program_numerical,
    assumptions=(
        "a 64-bit channel program of the guest holds half as many CCWs: twice as many Start Subchannels per MB",
        "the same number of CCWs per MB in both widths",
        "defaults were fitted to sixteen runs on one machine (2064-109); see planner disk ccw for their errors",
    ),
    over="slow_ccw_time",
    source="IBM, z/VM Performance Report, 64-bit Fast CCW Translation (z/VM 4.2.0)",
)


storage, pages = sympy.symbols("M p", positive=True)
spaces = Symbol("D", positive=True, integer=True)
needed, frames, by_storage, by_ptrm, segments, virtual = sympy.symbols("f F N_M N_D N V")


def _limit_equations(exact: Exact) -> tuple[Equation, ...]:
    return (
        Equation(needed, FRAMES_PER_PGMBK + pages, "frames of an in-use segment: PGMBK and pages"),
        Equation(frames, floor(storage / FRAME), "frames of real storage"),
        Equation(by_storage, floor(frames / needed), "in-use segments that real storage holds"),
        Equation(
            by_ptrm,
            Integer(SEGMENTS_PER_PTRM_SPACE) * spaces,
            "in-use segments that the PTRM data spaces hold",
        ),
        Equation(segments, Min(by_storage, by_ptrm), "in-use segments, by the limit met first"),
        Equation(virtual, Integer(SEGMENT) * segments, "in-use virtual storage", "bytes"),
    )


def _limit_numerical(values: Mapping[str, float]) -> dict[str, float]:
    pages_each = Fraction(values["resident_pages"]).limit_denominator()
    real = real_storage_limit(int(values["real_storage"]), pages_each)
    ptrm = ptrm_limit(int(values["ptrm_spaces"]))
    first = min(real, ptrm, key=lambda limit: limit.segments)
    return {"N_M": real.segments, "N_D": ptrm.segments, "N": first.segments, "V": first.in_use_virtual_bytes}


STORAGE_LIMIT = Topic(
    name="storage-limit",
    title="How much virtual storage can be in use",
    inputs=(
        Quantity("real_storage", "real storage", "bytes", symbol=storage, low=TINY, default="256GB"),
        Quantity("resident_pages", "resident pages of a segment, 1 to 256", symbol=pages, low=1,
                 high=PAGES_PER_SEGMENT, default="50"),
        Quantity("ptrm_spaces", "PTRM data spaces of 4 GB", symbol=spaces, whole=True, low=1, high=MOST, default="16"),
    ),
    equations=_limit_equations,
    answer=virtual,
    numerical=_limit_numerical,
    assumptions=(
        "a 1 MB segment is in use if one of its 256 pages is resident; then its PGMBK is resident, too",
        "a PGMBK takes two frames of 4 KB; from z/VM 5.3 on it may reside above 2 GB",
        "real storage is a soft limit: above it the system pages",
        "PTRM data spaces are a hard limit: above it CP abends",
        "real storage holds nothing else",
    ),
    over="resident_pages",
    source="IBM, z/VM Performance Report, Improved Real Storage Scalability (z/VM 5.3)",
)  # fmt: skip


n, gamma = sympy.symbols("n gamma", positive=True)
alpha, beta = sympy.symbols("alpha beta", nonnegative=True)
throughput, share, peak = sympy.symbols("X E n_max")


def _scaling(exact: Exact) -> tuple[Equation, ...]:
    return (
        Equation(throughput, gamma * n / (1 + alpha * (n - 1) + beta * n * (n - 1)), "throughput", "1/s"),
        Equation(share, throughput / (gamma * n), "efficiency: share of linear scaling"),
        Equation(
            peak,
            # with more contention or coherency, two are already too many
            Piecewise(
                (oo, Eq(beta, 0) & (alpha <= 1)), (1, alpha + beta >= 1), (sqrt((1 - alpha) / beta), True)
            ),
            "concurrency above which throughput falls",
        ),
    )


def _scaled(values: Mapping[str, float]) -> dict[str, float]:
    rate = float(queueing.usl(**values))
    return {"X": rate, "E": rate / (values["gamma"] * values["n"])}


USL = Topic(
    name="usl",
    title="The Universal Scalability Law: throughput over concurrency",
    inputs=(
        Quantity("n", "processors or requesters", symbol=n, low=1, default="12"),
        Quantity("gamma", "throughput of one", "1/s", symbol=gamma, low=TINY, default="53/s"),
        Quantity("alpha", "contention: serial share", symbol=alpha, low=0, default="0.01"),
        Quantity("beta", "coherency of each pair", symbol=beta, low=0, default="0.0005"),
    ),
    equations=_scaling,
    answer=throughput,
    numerical=_scaled,
    assumptions=(
        "gamma, alpha and beta are fitted to measurements, see queueing.fit_usl",
        "alpha above zero, at most 1, and beta zero is Amdahl's law: throughput never exceeds gamma/alpha",
        "both zero: linear scaling",
        "three parameters and few points: a fit is unreliable outside its measurements",
    ),
    over="n",
    source="Gunther, Guerrilla Capacity Planning (2007), eq. 4.31; Amdahl (1967)",
)
