"""Measured CP time of disk I/O through channel programs to the costs of Start Subchannels and of CCWs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from planner.calibrate.calibration import Estimate, given
from planner.calibrate.cost_fit import CostFit, CostLaw, fit_costs
from planner.calibrate.data_file import Measurements
from planner.devices.channel_program import KIND, WIDTHS, ChannelProgram
from planner.quantity import Quantity
from planner.units import MEGABYTE, MILLISECOND

HEADINGS: Final = (
    Quantity("bits", "31 or 64: width of the addresses", words=tuple(map(str, WIDTHS))),
    Quantity("translation", "fast or slow", words=("fast", "slow")),
    Quantity("cp", "CP processor time of the run", "ms"),
    Quantity("written", "MB (2^20 bytes) written in that time", "mb", zero=True),
    Quantity("read", "MB read in that time", "mb", zero=True),
)
NEEDED: Final = ("bits", "translation", "cp_ms")
COSTS: Final = {parameter.key: parameter for parameter in ChannelProgram.PARAMETERS}


def fitted(runs: Sequence[Measurements], fixed: Mapping[str, float] | None = None) -> CostFit:
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
        return _fit(runs, told, held, given(COSTS["read_factor"], held.get("read_factor", 1.0)))
    both = _fit(runs, [*told, "read_factor"], held, None)
    read = both.estimates["read_factor"]
    half = 2 * read.standard_error  # within which reading may cost what writing costs
    if abs(read.value - 1) > half:
        return both
    near = replace(read, value=1.0, status="fixed", low=read.value - half, high=read.value + half)
    return _fit(runs, told, held, near)


def _moved(run: Measurements) -> float:
    """MB written and read."""
    return (run.value("written_mb") + run.value("read_mb")) / MEGABYTE


def _read_share(run: Measurements) -> float:
    return run.value("read_mb") / MEGABYTE / _moved(run)


def _fit(
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
        kind=KIND,
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
