"""Channel programs from the published runs: three combinations of four costs, by least squares in logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner import library
from planner.devices.channel_program import KIND, ChannelProgram
from planner.errors import CalibrationError
from planner.published.entries import fitted, rounded, source, table
from planner.reports import PublishedTable
from planner.results import Array
from planner.units import MILLISECOND

PUBLICATION: Final = "fast-ccw"
TICK: Final = 0.01  # CP QUERY TIME counts in hundredths of a second [s]
COMBINATIONS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CcwRun:
    """One published run.

    `name` is its token; `bits` the width of its I/O, `fast` its translation, `passes` how often it moves a MB of
    file (written once, read at most once), `megabytes` its file, `time_per_mb` CP time [s] per MB of file.
    """

    name: str
    bits: int
    fast: bool
    passes: int
    megabytes: float
    time_per_mb: float

    @property
    def clock_error(self) -> float:
        """Relative standard deviation of a difference of two readings of the clock."""
        return TICK / math.sqrt(6) / (self.time_per_mb * self.megabytes)


def ccw_runs(found: PublishedTable) -> tuple[CcwRun, ...]:
    """Tell the runs by their tokens ``smmffr``.

    Parameters
    ----------
    found : PublishedTable
        The table of results.

    Returns
    -------
    tuple of CcwRun
        One a row.
    """
    method = library.read_source(PUBLICATION)["method"]
    return tuple(
        CcwRun(
            name=name,
            bits=64 if name[0] == "6" else 31,
            fast=name[3:5] == "F1",
            passes=1 + int(name[5]),
            megabytes=method[f"file_mb_{name[0]}"],
            time_per_mb=found.value(name, "cp_ms_per_mb", MILLISECOND),
        )
        for name in found.rows
    )


def run_variation(runs: Sequence[CcwRun]) -> float:
    """Relative standard deviation of a run, from the pairs that differ in the minidisk cache only.

    The cache comes into play when a file is read more than once (the report's Discussion 3), so the two runs of
    a pair do the same work. The clock of the small runs is part of it.

    Parameters
    ----------
    runs : sequence of CcwRun
        All runs.

    Returns
    -------
    float
        Relative standard deviation of one run.
    """
    pairs: dict[str, list[float]] = {}
    for run in runs:
        pairs.setdefault(run.name[:1] + run.name[3:], []).append(math.log(run.time_per_mb))
    ratios = np.array([one - other for one, other in pairs.values()])
    return float(np.sqrt(np.mean(ratios**2) / 2))


def calibrate_channel_program() -> library.Model:
    """Fit the costs of channel programs to the sixteen runs.

    The runs determine a + f, s - f and 2 (a + b) - a of the four costs. The convention is f = 0: what a
    CCW costs at least is counted into its Start Subchannel.

    Returns
    -------
    library.Model
        The costs, and all sixteen figures beside the law.

    Raises
    ------
    CalibrationError
        The fit did not converge.
    """
    from scipy.optimize import least_squares

    found = table(PUBLICATION, "results")
    runs = ccw_runs(found)
    logs = np.log([run.time_per_mb for run in runs])
    sigma = np.hypot(run_variation(runs), [run.clock_error for run in runs])

    def fit(free: int) -> tuple[Array, Array]:
        def residuals(at: Array) -> Array:
            padded = np.append(at, np.zeros(COMBINATIONS + 1 - free))
            return np.asarray((np.log([_passes(run, padded) for run in runs]) - logs) / sigma)

        start = [math.log(min(run.time_per_mb for run in runs))] * COMBINATIONS + [0.0]
        solution = least_squares(residuals, start[:free], xtol=1e-12, ftol=1e-12, gtol=1e-12)
        if not solution.success:
            raise CalibrationError(f"least squares did not converge: {solution.message}")
        return np.asarray(solution.x), _errors(np.asarray(solution.jac))

    # Reading over writing is estimated once beside the costs, for its error, and held at 1 to fit them.
    (*_, log_read), (*_, read_error) = fit(COMBINATIONS + 1)
    return _model(found, runs, sigma, *fit(COMBINATIONS), (log_read, read_error))


def _passes(run: CcwRun, at: Array) -> float:
    """CP time per MB of file, for logarithms of the combinations and of reading over writing."""
    law = _law(np.asarray(at[:COMBINATIONS]), math.exp(at[COMBINATIONS]))
    written = law.time_per_mb(run.bits, fast=run.fast)
    return written + (run.passes - 1) * law.time_per_mb(run.bits, fast=run.fast, read_share=1.0)


def _law(at: Array, read_factor: float = 1.0) -> ChannelProgram:
    narrow, slow, wide = np.exp(at)
    return ChannelProgram(
        ssch_time=narrow,
        ssch_64_time=(wide - narrow) / 2,
        fast_ccw_time=0.0,
        slow_ccw_time=slow,
        read_factor=read_factor,
    )


def _errors(jacobian: Array) -> Array:
    return np.asarray(np.sqrt(np.diag(np.linalg.inv(jacobian.T @ jacobian))))


def _model(
    found: PublishedTable,
    runs: tuple[CcwRun, ...],
    sigma: Array,
    at: Array,
    errors: Array,
    read: tuple[float, float],
) -> library.Model:
    """Write the costs down; `read` is the logarithm of reading over writing and its error."""
    law = _law(at)
    narrow, slow, wide = np.exp(at)
    rows = tuple(
        library.Run(
            name=run.name, quantity="cp_ms_per_mb", measured=rounded(run.time_per_mb / MILLISECOND),
            predicted=rounded(_passes(run, np.append(at, 0.0)) / MILLISECOND),
            sigma=rounded(relative * run.time_per_mb / MILLISECOND),
        )
        for run, relative in zip(runs, sigma, strict=True)
    )  # fmt: skip
    misfits = np.log([row.predicted / row.measured for row in rows])
    facts = library.read_source(PUBLICATION)
    surcharge_error = math.hypot(wide * errors[2], narrow * errors[0]) / (wide - narrow)
    return library.Model(
        kind=KIND,
        title=f"{facts['title']}: sixteen runs",
        source=source(found),
        environment=facts["environment"],
        parameters={
            "ssch_time_s_per_mb": fitted(law.ssch_time, errors[0]),
            "ssch_64_time_s_per_mb": fitted(law.ssch_64_time, surcharge_error),
            "fast_ccw_time_s_per_mb": library.Parameter(
                value=0.0, low=0.0, high=rounded(law.ssch_time), status="not determined"
            ),
            "slow_ccw_time_s_per_mb": fitted(slow, errors[1]),
            "read_factor": library.Parameter(
                value=1.0,
                standard_error=rounded(math.exp(read[0]) * read[1]),
                low=rounded(math.exp(read[0] - 2 * read[1])),
                high=rounded(math.exp(read[0] + 2 * read[1])),
                status="fixed",
            ),
        },
        fit=library.Fit(
            runs=rows, model_error=rounded(float(np.sqrt(misfits @ misfits / (len(rows) - COMBINATIONS))))
        ),
        validity={"bits": (31.0, 64.0)},
    )
