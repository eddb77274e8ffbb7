"""Measured configurations to the scalability law of processors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from planner.calibrate.cost_fit import CostFit, CostLaw, fit_costs
from planner.calibrate.data_file import Measurements
from planner.calibrate.least_squares import MeasuredFigure
from planner.devices.processors import COHERENCY, CONTENTION, CPU_TIME
from planner.errors import InputError
from planner.quantity import Quantity
from planner.reports import Printed
from planner.units import MILLISECOND

KIND: Final = "processors"
PARAMETERS: Final = (CPU_TIME, CONTENTION, COHERENCY)
HEADINGS: Final = (
    Quantity("processors", "processors that shared the work", whole=True),
    Quantity("cpu", "CPU time of a transaction, in guests and in CP", "ms"),
    Quantity("emulation_cpu", "the part of it in guests", "ms"),
    Quantity("cp_cpu", "the part of it in CP", "ms"),
    Quantity("itr", "instead: transactions of fully busy processors", "1/s"),
    Quantity("real_storage", "real storage; not used by the law", "GB"),
)
NEEDED: Final = ("processors",)
# What gives the CPU time of a transaction.
TIMES: Final = (("emulation_cpu_ms", "cp_cpu_ms"), ("cpu_ms",), ("itr",))


def fitted(runs: Sequence[Measurements], fixed: Mapping[str, float] | None = None) -> CostFit:
    """Fit ``t(n) = t1 (1 + alpha (n - 1) + beta n (n - 1))`` to the CPU time of a transaction, in logarithms.

    Coefficients are not negative (Gunther, Guerrilla Capacity Planning, 2007, eq. 4.31).
    """
    counts = [run.value("processors") for run in runs]
    fewest = len(PARAMETERS)
    if len(set(counts)) < fewest:
        raise InputError("configurations", counts, f"at least {fewest} different numbers of processors")
    return fit_scaling(runs, fixed)


def fit_scaling(runs: Sequence[Measurements], fixed: Mapping[str, float] | None = None) -> CostFit:
    """Fit as `fitted` does, however few the runs: without a degree of freedom nothing bounds a prediction."""
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
        kind=KIND,
        parameters=PARAMETERS,
        start=(least, 5e-2, 5e-3),  # of the coefficients: large ones
        predict=times,
        validity={"processors": (min(counts), max(counts))},
        # Fewer runs leave three coefficients less than two degrees of freedom.
        coefficients=3 if len(runs) >= len(PARAMETERS) + 2 else 2,
    )
    return fit_costs(measured, law, fixed)


def cpu_time(run: Measurements) -> Printed:
    """CPU time of a transaction, from whichever columns tell it [s]."""
    numbers = run.numbers
    if "cpu_ms" in numbers:
        return numbers["cpu_ms"]
    if {"emulation_cpu_ms", "cp_cpu_ms"} <= set(numbers):
        return numbers["emulation_cpu_ms"] + numbers["cp_cpu_ms"]
    if "itr" in numbers:
        value = run.value("processors") / numbers["itr"].value
        return Printed(value, value * numbers["itr"].resolution / numbers["itr"].value)
    raise run.error("expected a number in cpu_ms, in emulation_cpu_ms and cp_cpu_ms, or in itr")
