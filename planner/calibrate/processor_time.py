"""Measured processor time to its parts: that of channel programs in CP, that of transactions on more processors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from planner.calibrate.calibration import Estimate, given
from planner.calibrate.cost_fit import CostFit, CostLaw, fit_costs
from planner.calibrate.data_file import Measurements
from planner.calibrate.least_squares import MeasuredFigure
from planner.devices.channel_program import KIND as CHANNEL_PROGRAM
from planner.devices.channel_program import WIDTHS, ChannelProgram
from planner.devices.processors import COHERENCY, CONTENTION, CPU_TIME
from planner.devices.processors import KIND as PROCESSORS
from planner.errors import InputError
from planner.quantity import Quantity
from planner.reports import Printed
from planner.units import MEGABYTE, MILLISECOND

CHANNEL_HEADINGS: Final = (
    Quantity("bits", "31 or 64: width of the addresses", words=tuple(map(str, WIDTHS))),
    Quantity("translation", "fast or slow", words=("fast", "slow")),
    Quantity("cp", "CP processor time of the run", "ms"),
    Quantity("written", "MB (2^20 bytes) written in that time", "mb", zero=True),
    Quantity("read", "MB read in that time", "mb", zero=True),
)
CHANNEL_NEEDED: Final = ("bits", "translation", "cp_ms")
COSTS: Final = {parameter.key: parameter for parameter in ChannelProgram.PARAMETERS}


def fit_channel_program(runs: Sequence[Measurements], fixed: Mapping[str, float] | None = None) -> CostFit:
    """Fit the costs of channel programs; one that no run determines is 0, by convention that of fast CCWs first."""
    for run in runs:
        if _moved(run) <= 0:
            raise run.error("expected written_mb or read_mb above zero", "written_mb")
    held = dict(fixed or {})
    wide, slow = (
        any(run.words[key] == word for run in runs) for key, word in (("bits", "64"), ("translation", "slow"))
    )
    told = ["ssch_time", *(["ssch_64_time"] if wide else []), *(["slow_ccw_time"] if slow else [])]
    shares = {round(_read_share(run), 9) for run in runs}
    if "read_factor" in held or len(shares) == 1:
        return _fit_told(runs, told, held, given(COSTS["read_factor"], held.get("read_factor", 1.0)))
    both = _fit_told(runs, [*told, "read_factor"], held, None)
    read = both.estimates["read_factor"]
    half = 2 * read.standard_error  # within which reading may cost what writing costs
    if abs(read.value - 1) > half:
        return both
    near = replace(read, value=1.0, status="fixed", low=read.value - half, high=read.value + half)
    return _fit_told(runs, told, held, near)


def _moved(run: Measurements) -> float:
    """MB written and read."""
    return (run.value("written_mb") + run.value("read_mb")) / MEGABYTE


def _read_share(run: Measurements) -> float:
    return run.value("read_mb") / MEGABYTE / _moved(run)


def _fit_told(
    runs: Sequence[Measurements], told: Sequence[str], fixed: Mapping[str, float], read: Estimate | None
) -> CostFit:
    """Fit the costs in `told`; `read` is what is known of reading over writing, if it is not among them."""
    known = {key: value for key, value in fixed.items() if key != "read_factor"}
    measured = [run.figure("cp_ms", MILLISECOND) for run in runs]
    assumed = {key: known.pop(key, 0.0) for key in COSTS if key not in told and key != "read_factor"}
    if read is not None:
        assumed["read_factor"] = read.value

    def times(values: Mapping[str, float]) -> list[float]:
        law = ChannelProgram(**{**assumed, **values})
        return [
            _moved(run) * law.time_per_mb(int(run.words["bits"]), fast=run.words["translation"] == "fast",
                                          read_share=_read_share(run))
            for run in runs
        ]  # fmt: skip

    each_mb = [each.value / _moved(run) for each, run in zip(measured, runs, strict=True)]
    least, most = min(each_mb), max(each_mb)
    bits, shares = [float(run.words["bits"]) for run in runs], list(map(_read_share, runs))
    law = CostLaw(
        kind=CHANNEL_PROGRAM,
        parameters=tuple(COSTS[key] for key in told),
        start=tuple(1.0 if key == "read_factor" else least if key == "ssch_time" else max(most - least, least / 2)
                    for key in told),
        predict=times,
        validity={"bits": (min(bits), max(bits)), "read_share": (min(shares), max(shares))},
    )  # fmt: skip
    found = fit_costs(measured, law, known)
    others = {
        key: given(COSTS[key], value) if key in fixed else _unknown(key, found.value("ssch_time"))
        for key, value in assumed.items()
        if key != "read_factor"
    } | ({"read_factor": read} if read is not None else {})
    return replace(found, estimates={key: (found.estimates | others)[key] for key in COSTS})


def _unknown(key: str, most: float) -> Estimate:
    """A cost that the runs do not tell: nothing by convention; as part of another, at most that other."""
    high = most if key == "fast_ccw_time" else None
    return Estimate(COSTS[key], 0.0, 0.0, "not determined", 0.0, 0.0, high)  # fmt: skip


PARAMETERS: Final = (CPU_TIME, CONTENTION, COHERENCY)
PROCESSOR_HEADINGS: Final = (
    Quantity("processors", "processors that shared the work", whole=True),
    Quantity("cpu", "CPU time of a transaction, in guests and in CP", "ms"),
    Quantity("emulation_cpu", "the part of it in guests", "ms"),
    Quantity("cp_cpu", "the part of it in CP", "ms"),
    Quantity("itr", "instead: transactions of fully busy processors", "1/s"),
    Quantity("real_storage", "real storage; not used by the law", "GB"),
)
PROCESSOR_NEEDED: Final = ("processors",)
# What gives the CPU time of a transaction.
TIMES: Final = (("emulation_cpu_ms", "cp_cpu_ms"), ("cpu_ms",), ("itr",))


def fit_processors(runs: Sequence[Measurements], fixed: Mapping[str, float] | None = None) -> CostFit:
    """Fit ``t(n) = t1 (1 + alpha (n - 1) + beta n (n - 1))`` to the CPU time of a transaction, in logarithms.

    Coefficients are not negative (Gunther, Guerrilla Capacity Planning, 2007, eq. 4.31).
    """
    counts = [run.value("processors") for run in runs]
    fewest = len(PARAMETERS)
    if len(set(counts)) < fewest:
        raise InputError("configurations", counts, f"at least {fewest} different numbers of processors")
    return fit_scaling(runs, fixed)


def fit_scaling(runs: Sequence[Measurements], fixed: Mapping[str, float] | None = None) -> CostFit:
    """Fit as `fit_processors` does, however few the runs: without a degree of freedom nothing bounds a prediction."""
    counts = [run.value("processors") for run in runs]
    measured = [
        MeasuredFigure(
            run=run.name, quantity="cpu_ms", factor=MILLISECOND, value=time.value, half=time.resolution
        )
        for run in runs
        for time in [cpu_time(run)]
    ]
    least = min(each.value for each in measured)

    def times(values: Mapping[str, float]) -> list[float]:
        first, contention, coherency = (values[each.key] for each in PARAMETERS)
        return [first * (1 + contention * (n - 1) + coherency * n * (n - 1)) for n in counts]

    law = CostLaw(
        kind=PROCESSORS,
        parameters=PARAMETERS,
        start=(least, 5e-2, 5e-3),  # of the coefficients: large ones
        predict=times,
        validity={"processors": (min(counts), max(counts))},
        # Fewer runs leave three coefficients less than two degrees of freedom.
        coefficients=3 if len(runs) >= len(PARAMETERS) + 2 else 2,
    )
    return fit_costs(measured, law, fixed)


def cpu_time(run: Measurements) -> Printed:
    """CPU time of a transaction, from whichever columns tell it; several have to tell the same [s]."""
    numbers = run.numbers
    found = {"cpu_ms": numbers["cpu_ms"]} if "cpu_ms" in numbers else {}
    if {"emulation_cpu_ms", "cp_cpu_ms"} <= set(numbers):
        found["cp_cpu_ms"] = numbers["emulation_cpu_ms"] + numbers["cp_cpu_ms"]
    if "itr" in numbers:
        value = run.value("processors") / numbers["itr"].value
        found["itr"] = Printed(value, value * numbers["itr"].resolution / numbers["itr"].value)
    if not found:
        raise run.error("expected a number in cpu_ms, in emulation_cpu_ms and cp_cpu_ms, or in itr")
    (first, time), *others = found.items()
    for heading, other in others:
        if abs(other.value - time.value) > other.resolution + time.resolution + 1e-9 * time.value:
            each = " and ".join(f"{one.value / MILLISECOND:.4g} ms by {by}" for by, one in found.items())
            raise run.error(f"{each} of a transaction: expected the same, or only {first}", heading)
    return time
