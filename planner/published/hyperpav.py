"""The HyperPAV report: every cell of its six DEVICE listings, and the total I/O rate of each run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Final

import numpy as np

from planner import calibrate, library, queueing, sizing, style
from planner.demand import DeviceModel
from planner.interval import Interval
from planner.measurements import Run, intervals, read, system_runs
from planner.published import report
from planner.published.report import Origin, PublishedFigure, PublishedReport, Said
from planner.queueing import PoolSteady
from planner.reports import Device, DeviceListing, Printed, read_devices
from planner.reports.schema import PARTS
from planner.units import MILLISECOND, ends, given

FOLDER: Final = "hyperpav"
ALL_RUNS: Final = "hyperpav"
OUTLIER: Final = "Y040181P"
HAND_CORRECTED: Final = "response-hand-corrected"
TIMES: Final = (*PARTS, "service", "response", "cu_wait")
COUNTS: Final = ("links", "paths")
QUEUES_AT_BASES: Final = "I/Os queue at bases only"

Values = dict[str, float]
VOLUME: Final = ("522A-0-aliases", "522A-1-alias", "522A-2-aliases")
POOL: Final = ("pool-0-aliases", "pool-8-aliases", "pool-16-aliases")
REQUESTERS: Final = 3  # of each volume: utilization + queue in every run
FITTED: Final = {  # model: kind, listings, what was fitted
    "hyperpav": ("pool", (*VOLUME, *POOL), "522A and the pool of eight volumes"),
    "hyperpav-volume-runs": ("volume", VOLUME, "the classic PAV runs of 522A alone"),
    "hyperpav-pool-runs": ("pool", POOL, "the runs of the pool alone"),
}


def models() -> dict[str, library.Model]:
    """Fit all runs, and each of the two systems alone."""
    found: dict[str, library.Model] = {}
    for name, (kind, listings, title) in FITTED.items():
        files = [library.data_path(FOLDER, f"{each}.listing") for each in sorted(listings)]
        task = calibrate.Task(files=files, title=f"HyperPAV report: {title}", population=REQUESTERS)
        _, found[name] = calibrate.calibrate(kind, task)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A listing: its file, its run, and the kind of system."""

    file: str
    listing: DeviceListing
    run: Run
    kind: str


@cache
def _listings() -> tuple[Listed, ...]:
    found = []
    for entry in library.read_source(FOLDER)["listing"]:
        (listing,) = read_devices(library.data_path(FOLDER, entry["file"]))
        run = _run(entry["file"])
        found.append(Listed(file=entry["file"], listing=listing, run=run, kind=entry["kind"]))
    return tuple(found)


def cells() -> Iterator[PublishedFigure]:
    """Figures of all cells of the listings, then the totals of the runs."""
    model = library.read_model(ALL_RUNS)
    parameters = {key.removesuffix("_s"): value.value for key, value in model.parameters.items()}
    parameters["population"] = float(model.population or 0)
    for listed in _listings():
        steady = _solve(listed.run, parameters)
        for device in listed.listing.rows:
            for figure in _cells(listed, device, steady):
                yield replace(figure, outlier=listed.run.source == OUTLIER and figure.kind == "fitted")
    yield from _totals(parameters)


def _solve(run: Run, parameters: Values) -> PoolSteady:
    """Solve the devices of a run."""
    return queueing.alias_pool(
        run.aliases, volumes=[run.bases], population=[parameters["population"]], think_time=[parameters["think_time"]],
        service_time=parameters["service_time"], inflation=parameters["inflation"],
        redrive_time=parameters["redrive_time"],
    )  # fmt: skip


def _cells(listed: Listed, device: Device, steady: PoolSteady) -> Iterator[PublishedFigure]:
    run, model = listed.run, f"model {ALL_RUNS}"
    base = not (device.is_classic_alias or device.is_hyperpav_alias)
    rate, avoided, queued = (_interval(getattr(device, name)) for name in ("io_rate", "avoided", "queued"))
    times = {name: _interval(getattr(device, name), MILLISECOND) for name in TIMES}
    service = float(steady.base_service_time[0] if base else steady.alias_service_time[0]) / MILLISECOND
    each = steady.base_throughput[0] if base else steady.alias_throughput[0] * run.bases / run.aliases
    zeros = Said("input", note="column of zeros")
    divided = Said("not modelled", note="how the service time divides")
    rest = times["service"] - times["pend"] - times["disconnect"]
    response = times["service"] + queued / rate * (1 / MILLISECOND)
    erratum = HAND_CORRECTED if run.source == OUTLIER else ""
    waiting = report.known(float(steady.queue_length[0] - steady.in_gap[0]))
    said = [
        *((name, report.known(float(getattr(device, name))), Said("input", note="configuration")) for name in COUNTS),
        ("I/O", rate, Said("fitted", report.known(float(each)), "device rate", note=model)),
        ("Avoid", avoided, zeros),
        ("Pend", times["pend"], divided),
        ("Disconnect", times["disconnect"], divided),
        ("Connect", times["connect"], Said("identity", rest, note="service - pend - disconnect")),
        ("Serv", times["service"], Said("fitted", report.known(service), "device service",
                                        note=f"{model}; printed as a sum of three rounded parts")),
        ("Resp", times["response"], Said("identity", response, erratum=erratum,
                                         note="service + queued / rate of the row")),
        ("CUWt", times["cu_wait"], zeros),
        ("Qued", queued, Said("fitted", waiting, "device queue", note=f"{model}; in I/Os", counts_items=True)
         if base else Said("input", note=f"zero: {QUEUES_AT_BASES}")),
    ]  # fmt: skip
    return report.row_figures(FOLDER, f"DEVICE {run.source}", device.address, said)


def _interval(number: Printed | None, factor: float = 1.0) -> Interval:
    assert number is not None
    return report.printed(number, factor)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A model, the runs to which it was fitted, and the other runs on which it is tested."""

    name: str
    kind: Origin
    note: str
    learned: tuple[Listed, ...]
    judged: tuple[Listed, ...]


def left_out() -> list[LeftOut]:
    """Splits of the runs: each run from all others, each system from the other, the most aliases from fewer."""
    listings = _listings()
    of = {kind: tuple(each for each in listings if each.kind == kind) for kind in ("volume", "pool")}
    alone = [
        LeftOut(name=f"without {each.file}", kind="left-out", note="fitted to the other runs", judged=(each,),
                learned=tuple(other for other in listings if other is not each))
        for each in listings
    ]  # fmt: skip
    across = [
        LeftOut(name=f"{other} runs alone", kind="transferred", note=f"fitted to the {other} runs",
                judged=of[kind], learned=of[other])
        for kind, other in (("volume", "pool"), ("pool", "volume"))
    ]  # fmt: skip
    most = max(of["pool"], key=lambda each: each.run.aliases)
    fewer = LeftOut(name="pool with 0 and 8 aliases", kind="transferred", judged=(most,),
                    note="fitted to the pool with 0 and 8 aliases",
                    learned=tuple(each for each in of["pool"] if each is not most))  # fmt: skip
    return [*alone, *across, fewer]


def fitted_without(left: LeftOut) -> Values:
    """Fit one split, including the requesters, without the named outlier."""
    runs = [listed.run for listed in left.learned if listed.run.source != OUTLIER]
    found = calibrate.fit(runs, intervals=False)
    values = {key: library.rounded(each.value) for key, each in found.estimates.items()}
    return values | {"population": float(found.population)}


def _totals(all_runs: Values) -> Iterator[PublishedFigure]:
    """Total I/O rate of each run: fitted, left out, and from the other system."""
    fits = library.read_parameters(FOLDER)
    judged = left_out()
    for listed in _listings():
        yield _total(listed.run, all_runs, "fitted", f"model {ALL_RUNS}")
        for each in judged:
            if each.kind == "left-out" and listed in each.judged:
                yield _total(listed.run, fits[each.name], each.kind, each.note)
    for each in judged:
        if each.kind == "transferred":
            for listed in each.judged:
                yield _total(listed.run, fits[each.name], each.kind, each.note)


def _total(run: Run, parameters: Values, kind: Origin, note: str) -> PublishedFigure:
    predicted = float(np.asarray(_solve(run, parameters).pool_throughput))
    return PublishedFigure(
        report=FOLDER, table="totals of runs", row=f"{run.source} {run.name} +{run.aliases}", column="I/O",
        published=run.total_rate, kind=kind,
        predicted=report.known(predicted), group="throughput", outlier=run.source == OUTLIER,
        note=f"{note}, {parameters['population']:.0f} requesters",
    )  # fmt: skip


def _over_aliases(names: tuple[str, ...], model: str, whose: str, fitted: str) -> style.Axes:
    """I/O rate of a volume or pool over its aliases: measured, and predicted from its run without aliases."""
    runs = [_run(f"{name}.listing") for name in names]
    answer = sizing.aliases_of_runs(runs[0], DeviceModel.from_model(model))
    most = max(runs, key=lambda run: run.aliases)
    low, said, high = ends(float(end[most.aliases]) for end in answer.rate)
    (axes,) = style.begin(
        None,
        f"{whose} from its run without aliases: {said}/s ({low} to {high}, {style.NINETY}) with {most.aliases} "
        f"aliases by a model fitted to {fitted} alone, measured {given(most.total_rate.value)}/s.",
    )
    counts = answer.rows.aliases
    label = f"all demands of the run without aliases, {style.NINETY}"
    style.band(axes, counts, answer.rate.low, answer.rate.high, style.COLORS[0], label)
    axes.plot(
        counts, answer.rows.io_rate, "o-", markersize=3, color=style.COLORS[0], label="preferred demand"
    )
    named = library.read_model(ALL_RUNS).fit.outliers
    axes.plot(
        [run.aliases for run in runs], [run.total_rate.value for run in runs], "o", color=style.MEASURED,
        zorder=style.ABOVE, clip_on=False, label="measured",
    )  # fmt: skip
    for run in runs:
        if f"{run.source} {run.name} +{run.aliases}" in named:
            words = "named outlier: its service time is\nabove that of the run with 2 aliases"
            style.name_point(axes, words, (run.aliases, run.total_rate.value), style.MEASURED, above=False)
    axes.set(xlabel="aliases", ylabel="I/O rate [1/s]", ylim=(0, None))
    style.whole_numbers(axes)
    style.legend_below(axes)
    return axes


def _run(file: str) -> Run:
    """Run of the volume or pool in a listing."""
    (rows,) = intervals(read(library.data_path(FOLDER, file)))
    (run,) = system_runs(rows)
    return run


REPORT: Final = PublishedReport(
    folder=FOLDER,
    cells=cells,
    models=models,
    left_out=lambda: {each.name: fitted_without(each) for each in left_out()},
    pictures={  # each system by a model fitted to the other one
        "hyperpav-volume": partial(_over_aliases, VOLUME, "hyperpav-pool-runs", "Volume 522A", "the pool"),
        "hyperpav-pool": partial(_over_aliases, POOL, "hyperpav-volume-runs", "Pool 522A-5231", "522A"),
    },
)
