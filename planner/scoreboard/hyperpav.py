"""The HyperPAV report: every cell of its six DEVICE listings, and the total rate of each run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from planner import queueing
from planner.calibrate import fit
from planner.library import data_path, read_model, read_source
from planner.measurements import Run, intervals, read, system_runs
from planner.queueing import PoolSteady
from planner.reports import Device, DeviceListing, Printed, read_devices
from planner.scoreboard.figure import Figure, Kind
from planner.scoreboard.span import Span
from planner.units import MILLISECOND

REPORT: Final = "hyperpav"
ALL_RUNS: Final = "hyperpav"
OUTLIER: Final = "Y040181P"
HAND_CORRECTED: Final = "response-hand-corrected"
PARTS: Final = ("pend", "disconnect", "connect")
TIMES: Final = (*PARTS, "service", "response", "cu_wait")
COUNTS: Final = ("links", "paths")
QUEUES_AT_BASES: Final = "I/Os queue at bases only"

Law = dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A listing, the run in it, and what kind of system it is of."""

    listing: DeviceListing
    run: Run
    kind: str


@cache
def _listings() -> tuple[Listed, ...]:
    found = []
    for entry in read_source(REPORT)["listing"]:
        (listing,) = read_devices(data_path(REPORT, entry["file"]))
        (rows,) = intervals(read(data_path(REPORT, entry["file"])))
        (run,) = system_runs(rows)
        found.append(Listed(listing=listing, run=run, kind=entry["kind"]))
    return tuple(found)


def figures() -> Iterator[Figure]:
    """Every cell of the listings, then the totals of the runs.

    Yields
    ------
    Figure
        Cells in the order of print.
    """
    model = read_model(ALL_RUNS)
    law = {key.removesuffix("_s"): value.value for key, value in model.parameters.items()}
    law["population"] = float(model.population or 0)
    for listed in _listings():
        steady = _solve(listed.run, law)
        for device in listed.listing.rows:
            for figure in _cells(listed, device, steady):
                yield replace(figure, outlier=listed.run.source == OUTLIER and figure.kind == "fitted")
    yield from _totals(law)


def _solve(run: Run, law: Law) -> PoolSteady:
    """Ask the law for the devices of a run."""
    return queueing.alias_pool(
        run.aliases, volumes=[run.bases], population=[law["population"]], think_time=[law["think_time"]],
        service_time=law["service_time"], inflation=law["inflation"], redrive_time=law["redrive_time"],
    )  # fmt: skip


def _cells(listed: Listed, device: Device, steady: PoolSteady) -> Iterator[Figure]:
    run = listed.run
    base = not (device.is_classic_alias or device.is_hyperpav_alias)

    def figure(column: str, value: Span, kind: Kind, **more: object) -> Figure:
        return Figure(report=REPORT, table=f"DEVICE {run.source}", row=device.address, column=column,
                      published=value, kind=kind, **more)  # type: ignore[arg-type]  # fmt: skip

    for column in COUNTS:
        yield figure(column, Span.exactly(float(getattr(device, column))), "input", note="configuration")
    rate, avoided = (_span(getattr(device, name)) for name in ("io_rate", "avoided"))
    service = float(steady.base_service_time[0] if base else steady.alias_service_time[0]) / MILLISECOND
    each = float(steady.base_throughput[0]) if base else _alias_rate(run, steady)
    yield figure(
        "I/O", rate, "fitted", predicted=Span.exactly(each), group="device rate", note=f"model {ALL_RUNS}"
    )
    yield figure("Avoid", avoided, "input", note="column of zeros")
    times = {name: _span(getattr(device, name), MILLISECOND) for name in TIMES}
    for name in ("pend", "disconnect"):
        yield figure(name.title(), times[name], "not modelled", note="how the service time divides")
    rest = times["service"].minus(times["pend"]).minus(times["disconnect"])
    yield figure("Connect", times["connect"], "identity", predicted=rest, note="service - pend - disconnect")
    yield figure("Serv", times["service"], "fitted", predicted=Span.exactly(service), group="device service",
                 note=f"model {ALL_RUNS}; printed as a sum of three rounded parts")  # fmt: skip
    queued = _span(device.queued)
    wait = queued.over(rate).times(1 / MILLISECOND)
    corrected = run.source == OUTLIER
    yield figure("Resp", times["response"], "identity", predicted=times["service"].plus(wait),
                 erratum=HAND_CORRECTED if corrected else "", note="service + queued / rate of the row")  # fmt: skip
    yield figure("CUWt", times["cu_wait"], "input", note="column of zeros")
    if base:
        waiting = float(steady.queue_length[0] - steady.in_gap[0])
        yield figure("Qued", queued, "fitted", predicted=Span.exactly(waiting), group="device queue",
                     counts_items=True, note=f"model {ALL_RUNS}; in I/Os")  # fmt: skip
    else:
        yield figure("Qued", queued, "input", note=f"zero: {QUEUES_AT_BASES}")


def _alias_rate(run: Run, steady: PoolSteady) -> float:
    return float(steady.alias_throughput[0]) * run.bases / run.aliases


def _span(printed: Printed | None, factor: float = 1.0) -> Span:
    assert printed is not None
    return Span(*((printed.value + side * printed.resolution) / factor for side in (-1, 0, 1)))


def _totals(all_runs: Law) -> Iterator[Figure]:
    """Total rate of each run: fitted, left out, and from the other system."""
    listings = _listings()
    runs = [listed.run for listed in listings]
    for k, listed in enumerate(listings):
        yield _total(listed.run, all_runs, "fitted", f"model {ALL_RUNS}")
        others = [run for j, run in enumerate(runs) if j != k]
        yield _total(listed.run, _fitted(others), "left-out", "fitted to the other runs")
    for kind, other in (("volume", "pool"), ("pool", "volume")):
        law = _fitted([listed.run for listed in listings if listed.kind == other])
        for listed in listings:
            if listed.kind == kind:
                yield _total(listed.run, law, "transferred", f"fitted to the {other} runs")
    fewer = [listed.run for listed in listings if listed.kind == "pool" and listed.run.aliases < 16]  # noqa: PLR2004
    (most,) = (listed.run for listed in listings if listed.run.aliases == 16)  # noqa: PLR2004
    yield _total(most, _fitted(fewer), "transferred", "fitted to the pool with 0 and 8 aliases")


def _fitted(runs: list[Run]) -> Law:
    """Fit a law, its requesters included, to runs; the named outlier is no run to learn from."""
    found = fit([run for run in runs if run.source != OUTLIER], intervals=False)
    return {key: each.value for key, each in found.estimates.items()} | {
        "population": float(found.population)
    }


def _total(run: Run, law: Law, kind: Kind, note: str) -> Figure:
    rate = run.total_rate
    predicted = float(np.asarray(_solve(run, law).pool_throughput))
    return Figure(
        report=REPORT, table="totals of runs", row=f"{run.source} {run.name} +{run.aliases}", column="I/O",
        published=Span(rate.low, rate.value, rate.high), kind=kind,
        predicted=Span.exactly(predicted), group="throughput", outlier=run.source == OUTLIER,
        note=f"{note}, {law['population']:.0f} requesters",
    )  # fmt: skip
