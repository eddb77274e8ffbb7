"""Fits of measured costs: of disk paths and paging devices, of channel programs in CP, of transactions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from msgspec import structs

from planner.calibrate.calibration import Estimate, given
from planner.calibrate.cost_fit import CostFit, CostModel, fit_costs
from planner.calibrate.data_file import Measurements
from planner.devices import channel_program, disk, paging, processors
from planner.devices.channel_program import WIDTHS, ChannelProgram
from planner.devices.disk import COSTS, DiskPath
from planner.devices.paging import PagingDevice
from planner.errors import InputError
from planner.quantity import Quantity
from planner.reports import Printed
from planner.units import MEGABYTE, MICROSECOND, MILLISECOND

DISK_HEADINGS: Final = (
    Quantity("cache", "on or off: minidisk cache", words=("on", "off")),
    Quantity("hit_ratio", "share of the reads that the cache answers, 0 to 1", zero=True, high=1.0),
    Quantity("rate", "transactions of one requester", "1/s"),
    Quantity("cp", "CP time of a transaction", "us", zero=True),
    Quantity("virtual", "virtual machine time of a transaction", "us", zero=True),
    Quantity("virtual_ios", "virtual I/Os of a transaction"),
    Quantity("read", "KB (2^10 bytes) read by a transaction", "kb", zero=True),
    Quantity("write", "KB written by a transaction", "kb", zero=True),
    Quantity("channel", "data rate of the channel", "MB/s"),
)
DISK_NEEDED: Final = ("cache", "read_kb", "channel_mb_per_s")
FIGURES: Final = ("rate", "cp_us", "virtual_us")
SUMS: Final = {"rate": tuple(COSTS), "cp_us": ("cp_time",), "virtual_us": ("virtual_time",)}
ENTRIES: Final = {parameter.key: parameter for parameter in DiskPath.PARAMETERS}

Shares = Mapping[str, float]


def fit_disk(runs: Sequence[Measurements], fixed: Mapping[str, float] | None = None) -> CostFit:
    """Fit one workload on one kind of disk with one requester; conventions settle what the runs do not determine."""
    for run in runs:
        _check(run, runs[0])
    whole = {name: max(run.value(name) for run in runs) for name in ("read_kb", "write_kb")}
    shares = [_shares(run, whole) for run in runs]
    parts = [part for part in ("write", "off", "miss", "hit") if any(each.get(part) for each in shares)]
    pairs = [(run, each, name) for run, each in zip(runs, shares, strict=True) for name in FIGURES
             if run.value(name) > 0]  # fmt: skip
    factors = {heading.file_key: heading.factor for heading in DISK_HEADINGS}
    model = CostModel(
        kind=disk.KIND,
        parameters=tuple(ENTRIES[f"{part}_{cost}"] for part in parts for cost in COSTS),
        start=tuple(_start(cost, pairs) for _ in parts for cost in COSTS),
        predict=lambda values: [_figure(values, each, name) for _, each, name in pairs],
        conventions=_conventions(parts, runs, shares, whole),
        held=tuple(_facts(runs, shares, whole)),
        validity={"requesters": (1.0, 1.0), "processors": (1.0, 1.0), **_hit_ratios(runs)},
        population=1,
    )
    return fit_costs([run.figure(name, factors[name]) for run, _, name in pairs], model, fixed)


def _check(run: Measurements, first: Measurements, most: float = 1.15) -> None:
    """Refuse a row without measurements, or with more processor time than `most` of the elapsed time."""
    if not any(run.value(name) > 0 for name in FIGURES):
        raise run.error(f"expected a number above zero in one of {', '.join(FIGURES)}")
    if run.words["cache"] == "on" and "hit_ratio" not in run.numbers and run.value("read_kb") > 0:
        raise run.error("expected a hit_ratio, 0 to 1, since the cache is on", "hit_ratio")
    if run.value("read_kb") + run.value("write_kb") == 0:
        raise run.error("expected read_kb or write_kb above zero", "read_kb")
    if run.value("channel_mb_per_s") != first.value("channel_mb_per_s"):
        problem = "expected the same channel_mb_per_s in all rows: another channel is another path"
        raise run.error(problem, "channel_mb_per_s")
    work, rate = run.value("cp_us") + run.value("virtual_us"), run.value("rate")
    if rate * work > most:
        raise run.error(
            f"one requester at {rate:g} transactions/s has {1e6 / rate:.4g} us for each, and its processor time is "
            f"{work / MICROSECOND:.4g} us: the measurements contradict each other",
            "rate",
        )


def _shares(run: Measurements, whole: Mapping[str, float]) -> dict[str, float]:
    """Share of each part of a transaction in the run."""
    read, written = (
        run.value(name) / whole[name] if whole[name] else 0.0 for name in ("read_kb", "write_kb")
    )
    if run.words["cache"] == "off":
        return {"write": written, "off": read}
    hits = run.value("hit_ratio")
    return {"write": written, "miss": read * (1 - hits), "hit": read * hits}


def _figure(values: Mapping[str, float], shares: Shares, name: str) -> float:
    total = sum(
        share * values[f"{part}_{cost}"] for part, share in shares.items() if share for cost in SUMS[name]
    )
    return 1 / max(total, 1e-30) if name == "rate" else total


def _start(cost: str, pairs: Sequence[tuple[Measurements, Shares, str]]) -> float:
    """Initial value of a cost, of the order of the measured times."""
    wanted = {"cp_time": "cp_us", "virtual_time": "virtual_us", "wait_time": "rate"}[cost]
    measured = [run.value(name) for run, _, name in pairs if name == wanted]
    if cost == "wait_time":
        return 1 / max(measured) if measured else 1e-3
    return float(np.median(measured)) if measured else 1e-4


def _conventions(
    parts: Sequence[str], runs: Sequence[Measurements], shares: Sequence[Shares], whole: Mapping[str, float]
) -> Callable[[Mapping[str, float]], list[float]]:
    """Expressions that are zero by convention where the runs do not determine them, over a mean processor time."""
    rows = [each for run, each in zip(runs, shares, strict=True) if run.value("rate")]
    timed = {part for each in rows for part in parts if each.get(part)}
    untimed = [part for part in parts if part not in timed]
    cached = [
        run for run in runs if run.words["cache"] == "on" and run.value("cp_us") and run.value("virtual_us")
    ]
    work = sum(run.value("cp_us") + run.value("virtual_us") for run in cached)
    of_cp = sum(run.value("cp_us") for run in cached) / work if work else 0.5
    unit = float(np.mean([run.value("cp_us") + run.value("virtual_us") for run in runs])) or 1e-3
    ratio = whole["write_kb"] / whole["read_kb"] if whole["read_kb"] else 1.0

    def found(values: Mapping[str, float]) -> list[float]:
        wishes = [values[f"{part}_wait_time"] for part in untimed]
        if {"write", "off"} <= set(parts):
            wishes += [
                values[f"write_{cost}"] - ratio * values[f"off_{cost}"]
                for cost in ("cp_time", "virtual_time")
            ]
        if "hit" in parts:
            cp, virtual = values["hit_cp_time"], values["hit_virtual_time"]
            wishes += [values["hit_wait_time"], (1 - of_cp) * cp - of_cp * virtual]
        return [wish / unit for wish in wishes]

    return found


def _facts(
    runs: Sequence[Measurements], shares: Sequence[Shares], whole: Mapping[str, float]
) -> list[Estimate]:
    """Known properties of a transaction other than times."""
    facts = {
        "read_bytes": whole["read_kb"],
        "write_bytes": whole["write_kb"],
        "channel_rate": runs[0].value("channel_mb_per_s"),
    }
    for key, cache in (("virtual_ios_off", "off"), ("virtual_ios_cached", "on")):
        counts = [run.value("virtual_ios") for run, each in zip(runs, shares, strict=True)
                  if run.words["cache"] == cache and "virtual_ios" in run.numbers and _whole(each)]  # fmt: skip
        if counts:
            facts[key] = float(np.mean(counts))
    ratios = {run.value("hit_ratio") for run in runs if run.words["cache"] == "on" and run.value("cp_us") > 0}
    if len(ratios) == 1 and not ratios & {0.0, 1.0}:
        facts["measured_hit_ratio"] = ratios.pop()
    return [given(ENTRIES[key], value) for key, value in facts.items()]


def _whole(shares: Shares, least: float = 0.999) -> bool:
    """Whether a run consists of complete transactions."""
    reads = sum(share for part, share in shares.items() if part != "write")
    return max(reads, shares.get("write", 0.0)) > least


def _hit_ratios(runs: Sequence[Measurements]) -> dict[str, tuple[float, float]]:
    ratios = [
        run.value("hit_ratio") for run in runs if run.words["cache"] == "on" and run.value("read_kb") > 0
    ]
    return {"hit_ratio": (min(ratios), max(ratios))} if ratios else {}


PAGING_HEADINGS: Final = (
    Quantity("outstanding", "requests present all the time", whole=True),
    Quantity("queue_depth", "transfers at a time; 1 is serialized", whole=True),
    Quantity("transfer_rate", "transfers of one device", "1/s"),
    Quantity("page_rate", "pages of the same device", "1/s"),
    Quantity("think", "from the end of a transfer to the next request, or 0", "us", zero=True),
    Quantity("cp", "CP time per page, charged to users and system", "us/page"),
    Quantity("cp_system", "the part of it charged to the system", "us/page"),
)
PAGING_NEEDED: Final = ("outstanding", "queue_depth", "transfer_rate")
PAGING_FIGURES: Final = {  # parameter: the figure that determines it
    "service_time": "transfer_rate", "pages_per_transfer": "page_rate", "cp_time": "cp_us_per_page",
    "cp_system_time": "cp_system_us_per_page",
}  # fmt: skip
DEVICE: Final = {parameter.key: parameter for parameter in PagingDevice.PARAMETERS}


def fit_paging(runs: Sequence[Measurements], fixed: Mapping[str, float] | None = None) -> CostFit:
    """Fit one device to its runs; queue depth and requests are those of the last run."""
    for run in runs:  # a transfer moves at least one page
        if "page_rate" in run.numbers and run.value("page_rate") < 0.85 * run.value("transfer_rate"):
            raise run.error(
                f"expected at least one page a transfer, found a page_rate of {run.value('page_rate'):g} and a "
                f"transfer_rate of {run.value('transfer_rate'):g}: the measurements contradict each other",
                "page_rate",
            )
    _check_system_part(runs, fixed or {})
    factors = {heading.file_key: heading.factor for heading in PAGING_HEADINGS}
    pairs = [(run, key, name) for run in runs for key, name in PAGING_FIGURES.items() if name in run.numbers]
    chosen = [key for key in PAGING_FIGURES if any(key == each for _, each, _ in pairs)]
    least = [  # that there can be of what was not measured
        replace(given(DEVICE[key], DEVICE[key].default), status="not determined", high=None)
        for key in ("pages_per_transfer", "cp_time")
        if key not in chosen
    ]
    last = [given(DEVICE[key], runs[-1].value(key)) for key in ("queue_depth", "outstanding")]
    asked = [run.value("outstanding") for run in runs]
    model = CostModel(
        kind=paging.KIND,
        parameters=tuple(DEVICE[key] for key in chosen),
        start=tuple(_paging_start(key, runs) for key in chosen),
        predict=lambda values: [_paging_figure(values, run, key) for run, key, _ in pairs],
        held=(*least, *last),
        validity={"outstanding": (min(asked), max(asked))},
        population=int(asked[-1]),
    )
    return fit_costs([run.figure(name, factors[name]) for run, _, name in pairs], model, fixed)


def _check_system_part(runs: Sequence[Measurements], fixed: Mapping[str, float]) -> None:
    """Refuse CP time charged to the system that exceeds all CP time by more than rounding."""
    keys = ("cp_time", "cp_system_time")
    known = [
        [Printed(fixed[key], 0.0) if key in fixed else run.numbers.get(PAGING_FIGURES[key]) for key in keys]
        for run in runs
    ]
    every = [whole for whole, _ in known if whole is not None]
    of, name = (PAGING_FIGURES[key] for key in keys)
    for run, (whole, part) in zip(runs, known, strict=True):
        if part is None:
            continue
        if not every:
            raise run.error(f"expected {of} as well: {name} is a part of it", name)
        most = whole or max(every, key=lambda each: each.high)
        if part.low > most.high:
            raise run.error(
                f"expected a {name} of at most {most.value / MICROSECOND:.4g}, all CP time per page, found "
                f"{part.value / MICROSECOND:.4g}: the measurements contradict each other",
                name,
            )


def _paging_figure(values: Mapping[str, float], run: Measurements, key: str) -> float:
    """Prediction of the figure that determines a parameter."""
    if key in ("cp_time", "cp_system_time"):
        return values[key]
    device = PagingDevice(
        service_time=values["service_time"], pages_per_transfer=values.get("pages_per_transfer", 1.0),
        queue_depth=int(run.value("queue_depth")),
    )  # fmt: skip
    solved = device.closed(run.value("outstanding"), run.value("think_us"))
    return float(solved.page_rate if key == "pages_per_transfer" else solved.transfer_rate)


def _paging_start(key: str, runs: Sequence[Measurements]) -> float:
    """Initial value of a parameter, from the first run that determines it."""
    name = PAGING_FIGURES[key]
    run = next(run for run in runs if name in run.numbers)
    found = run.value(name)
    if key == "pages_per_transfer":
        return max(found / run.value("transfer_rate"), 1.0)
    if key != "service_time":
        return found
    outstanding, think = run.value("outstanding"), run.value("think_us")
    cycle = outstanding / found - think
    if cycle <= 0:
        back, own = (f"{each / MICROSECOND:.4g}" for each in (outstanding / found, think))
        raise run.error(
            f"{outstanding:g} requests at {found:g} transfers/s come back every {back} us, no longer than their "
            f"think_us of {own}: the measurements contradict each other", "think_us",
        )  # fmt: skip
    return min(cycle, min(outstanding, run.value("queue_depth")) / found)


CHANNEL_HEADINGS: Final = (
    Quantity("bits", "31 or 64: width of the addresses", words=tuple(map(str, WIDTHS))),
    Quantity("translation", "fast or slow", words=("fast", "slow")),
    Quantity("cp", "CP processor time of the run", "ms"),
    Quantity("written", "MB (2^20 bytes) written in that time", "mb", zero=True),
    Quantity("read", "MB read in that time", "mb", zero=True),
)
CHANNEL_NEEDED: Final = ("bits", "translation", "cp_ms")
PROGRAM: Final = {parameter.key: parameter for parameter in ChannelProgram.PARAMETERS}


def fit_channel_program(runs: Sequence[Measurements], fixed: Mapping[str, float] | None = None) -> CostFit:
    """Fit the costs of channel programs; undetermined ones are 0 by convention, first that of fast CCWs."""
    for run in runs:
        if _moved(run) <= 0:
            raise run.error("expected written_mb or read_mb above zero", "written_mb")
    held = dict(fixed or {})
    wide, slow = (
        any(run.words[key] == word for run in runs) for key, word in (("bits", "64"), ("translation", "slow"))
    )
    chosen = ["ssch_time", *(["ssch_64_time"] if wide else []), *(["slow_ccw_time"] if slow else [])]
    shares = {round(_read_share(run), 9) for run in runs}
    if "read_factor" in held or len(shares) == 1:
        return _fit_chosen(runs, chosen, held, given(PROGRAM["read_factor"], held.get("read_factor", 1.0)))
    both = _fit_chosen(runs, [*chosen, "read_factor"], held, None)
    read = both.estimates["read_factor"]
    half = 2 * read.standard_error  # within this, reading may cost the same as writing
    if abs(read.value - 1) > half:
        return both
    near = replace(read, value=1.0, status="fixed", low=read.value - half, high=read.value + half)
    alike = _fit_chosen(runs, chosen, held, near)
    center = (*alike.uncertainty.center, near.value)  # reading is assumed to cost the same: not known
    return replace(alike, uncertainty=structs.replace(both.uncertainty, center=center))


def _moved(run: Measurements) -> float:
    """MB written and read."""
    return (run.value("written_mb") + run.value("read_mb")) / MEGABYTE


def _read_share(run: Measurements) -> float:
    return run.value("read_mb") / MEGABYTE / _moved(run)


def _fit_chosen(
    runs: Sequence[Measurements], chosen: Sequence[str], fixed: Mapping[str, float], read: Estimate | None
) -> CostFit:
    """Fit the costs in `chosen`; `read` is the known factor of reading over writing, unless that is fitted too."""
    measured = [run.figure("cp_ms", MILLISECOND) for run in runs]
    held = {} if read is None else {"read_factor": read}
    assumed = {key: fixed.get(key, 0.0) for key in PROGRAM if key not in {*chosen, *held}}

    def times(values: Mapping[str, float]) -> list[float]:
        program = ChannelProgram(**assumed, **{key: each.value for key, each in held.items()}, **values)
        return [
            _moved(run) * program.time_per_mb(int(run.words["bits"]), fast=run.words["translation"] == "fast",
                                          read_share=_read_share(run))
            for run in runs
        ]  # fmt: skip

    each_mb = [each.value / _moved(run) for each, run in zip(measured, runs, strict=True)]
    least, most = min(each_mb), max(each_mb)
    bits, shares = [float(run.words["bits"]) for run in runs], list(map(_read_share, runs))
    model = CostModel(
        kind=channel_program.KIND,
        parameters=tuple(PROGRAM[key] for key in chosen),
        start=tuple(1.0 if key == "read_factor" else least if key == "ssch_time" else max(most - least, least / 2)
                    for key in chosen),
        predict=times,
        validity={"bits": (min(bits), max(bits)), "read_share": (min(shares), max(shares))},
    )  # fmt: skip
    found = fit_costs(measured, model, {key: value for key, value in fixed.items() if key in chosen})
    others = {
        key: given(PROGRAM[key], value) if key in fixed else _unknown(key, found.value("ssch_time"))
        for key, value in assumed.items()
    }
    estimates = found.estimates | held | others
    return replace(found, estimates={key: estimates[key] for key in PROGRAM})


def _unknown(key: str, most: float) -> Estimate:
    """A cost that the runs do not determine: 0 by convention; as a part of another cost, at most that cost."""
    high = most if key == "fast_ccw_time" else None
    return Estimate(PROGRAM[key], 0.0, 0.0, "not determined", 0.0, 0.0, high)


SCALING: Final = (processors.CPU_TIME, processors.CONTENTION, processors.COHERENCY)
PROCESSOR_HEADINGS: Final = (
    Quantity("processors", "processors that shared the work", whole=True),
    Quantity("cpu", "CPU time of a transaction, in guests and in CP", "ms"),
    Quantity("emulation_cpu", "the part of it in guests", "ms"),
    Quantity("cp_cpu", "the part of it in CP", "ms"),
    Quantity("itr", "instead: transactions of fully busy processors", "1/s"),
    Quantity("real_storage", "real storage; not used by the model", "GB"),
)
PROCESSOR_NEEDED: Final = ("processors",)
# Columns that give the CPU time of a transaction.
TIMES: Final = (("emulation_cpu_ms", "cp_cpu_ms"), ("cpu_ms",), ("itr",))


def fit_processors(runs: Sequence[Measurements], fixed: Mapping[str, float] | None = None) -> CostFit:
    """Fit ``t(n) = t1 (1 + alpha (n - 1) + beta n (n - 1))`` to the CPU time of a transaction, in logarithms.

    Coefficients are not negative (Gunther, Guerrilla Capacity Planning, 2007, eq. 4.31).
    """
    counts = [run.value("processors") for run in runs]
    fewest = len(SCALING)
    if len(set(counts)) < fewest:
        raise InputError("configurations", counts, f"at least {fewest} different numbers of processors")
    return fit_scaling(runs, fixed)


def fit_scaling(runs: Sequence[Measurements], fixed: Mapping[str, float] | None = None) -> CostFit:
    """Fit as `fit_processors` does, also to fewer runs: without degrees of freedom a prediction has no bound."""
    counts = [run.value("processors") for run in runs]
    timed = [replace(run, numbers={"cpu_ms": cpu_time(run)}) for run in runs]

    def times(values: Mapping[str, float]) -> list[float]:
        first, contention, coherency = (values[each.key] for each in SCALING)
        return [first * (1 + contention * (n - 1) + coherency * n * (n - 1)) for n in counts]

    model = CostModel(
        kind=processors.KIND,
        parameters=SCALING,
        start=(min(run.value("cpu_ms") for run in timed), 5e-2, 5e-3),  # initial coefficients are large
        predict=times,
        validity={"processors": (min(counts), max(counts))},
        # With fewer runs, three coefficients would leave less than two degrees of freedom.
        coefficients=3 if len(runs) >= len(SCALING) + 2 else 2,
    )
    return fit_costs([run.figure("cpu_ms", MILLISECOND) for run in timed], model, fixed)


def cpu_time(run: Measurements) -> Printed:
    """CPU time of a transaction, from any columns that give it; several must agree [s]."""
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
    if not processors.CPU_TIME.holds(time.value):
        wanted = "between a nanosecond and 1,000 seconds"
        raise run.error(
            f"{time.value / MILLISECOND:.4g} ms of CPU time a transaction: expected {wanted}", first
        )
    return time
