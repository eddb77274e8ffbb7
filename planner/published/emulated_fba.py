"""The report on emulated FBA: iozone and XEDIT on disk paths, and a guest that thrashes on paging devices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from planner import library, style
from planner.advice.disk import Setting, disk_rates
from planner.calibrate.cost_fit import CostFit
from planner.calibrate.costs import fit_disk, fit_paging
from planner.calibrate.data_file import Measurements
from planner.devices.disk import DiskPath
from planner.devices.paging import PagingDevice
from planner.published import report
from planner.published.report import Cell, PublishedFigure, PublishedReport, Said
from planner.reports import Printed, PublishedTable
from planner.units import EXACT, KILOBYTE, MEGABYTE, MICROSECOND, readable

FOLDER: Final = "emulated-fba"
XEDIT_RUNS: Final = {
    "eckd-minidisk": {"hit": "33904KX5", "miss": "33904KX7", "off": "33904KX6"},
    "emulated-fba": {"hit": "SCSI4KXI", "miss": "SCSI4KXK", "off": "SCSI4KXJ"},
}
# Runs without a wait for the disk.
NO_WAIT: Final = {"eckd-minidisk": ("hit", "miss"), "emulated-fba": ("hit",)}
IOZONE_RUNS: Final[Mapping[str, tuple[str, str | None]]] = {  # without and with minidisk cache
    "native-scsi": ("SLN9", None),
    "eckd-dedicated": ("ECKD", None),
    "eckd-minidisk": ("EMD0", "EMDK"),
    "emulated-fba": ("SFB0", "SFB9"),
}
WRITES: Final = ("IW", "RW")
READS: Final = ("IR", "RR")
IOZONE_HIT_RATIO: Final = 0.5  # the initial read misses, the reread hits
CHANNELS: Final = {
    **dict.fromkeys(("native-scsi", "emulated-fba"), ("channel_scsi", "fcp_mb_per_s")),
    **dict.fromkeys(("eckd-minidisk", "eckd-dedicated"), ("channel_eckd", "escon_mb_per_s")),
}
THRASH_RUNS: Final = {  # run, its channel, and the path on which XEDIT read blocks
    "eckd": ("3390PG02", "channel_eckd", "eckd-minidisk"),
    "emulated-fba": ("SCSIPG04", "channel_scsi", "emulated-fba"),
}
IOZONE: Final = {run: kind for kind, runs in IOZONE_RUNS.items() for run in runs if run}
XEDIT: Final = {name: (kind, part) for kind, runs in XEDIT_RUNS.items() for part, name in runs.items()}
FROM_CPU_ALONE: Final = [XEDIT_RUNS[kind][part] for kind, parts in NO_WAIT.items() for part in parts]
PAGING: Final = {run: (kind, XEDIT_RUNS[path]["off"]) for kind, (run, _, path) in THRASH_RUNS.items()}
OWN_WAIT: Final = "CPU time, and the remaining wait of this same run: agrees by construction"
ENTERS: Final = "input of the model, as printed"
NOT_AVAILABLE: Final = "na"


def models() -> dict[str, library.Model]:
    """Fit the disk paths of the two workloads, and the paging devices of the thrashing guest."""
    return {
        **{f"paging-{kind}": _thrash(kind, *where[:2]) for kind, where in THRASH_RUNS.items()},
        **{f"disk-xedit-{kind}": _xedit_model(kind) for kind in XEDIT_RUNS},
        **{f"disk-iozone-{kind}": _iozone(kind) for kind in IOZONE_RUNS},
    }


def _xedit_model(kind: str) -> library.Model:
    """CP and virtual time as printed; the wait is the rest of 1 / rate, and zero where the run shows none."""
    found = report.table(FOLDER, "table-2")
    method = library.read_source(FOLDER)["method"]
    read = report.exactly(method["xedit_blocks"] * method["xedit_block_bytes"])
    rows = []
    for part, name in XEDIT_RUNS[kind].items():
        rate = None if part in NO_WAIT[kind] else found.printed("Tx/sec", name)
        words = {"cache": "off" if part == "off" else "on"}
        hits = None if part == "off" else report.exactly(float(part == "hit"))
        rows.append(report.run(name, found, words, hit_ratio=hits, rate=rate, read_kb=read, **_costs(found, name),
                        channel_mb_per_s=_channel(kind)))  # fmt: skip
    held = {f"{part}_wait_time": 0.0 for part in NO_WAIT[kind]}
    names = [(part, XEDIT_RUNS[kind][part]) for part in ("off", "miss", "hit")]
    return _disk_model(
        "xedit", kind, found, fit_disk(rows, held), lambda path: [
            report.compared(name, "rate", found.printed("Tx/sec", name), _rate(path, part)) for part, name in names
        ],
    )  # fmt: skip


def _rate(path: DiskPath, part: str) -> float:
    """Transactions per second of one requester without cache, or with only misses or hits: 1 / (CPU + wait)."""
    return float(path.solve("off" if part == "off" else "cached", float(part == "hit")).rate)


def _iozone(kind: str) -> library.Model:
    """Fit the elapsed time of each phase, and the processor time of the four phases together."""
    found = report.table(FOLDER, "table-1")
    off, on = IOZONE_RUNS[kind]
    rows = _phases(found, kind, off, "off") + ([] if on is None else _phases(found, kind, on, "on"))
    return _disk_model("iozone", kind, found, fit_disk(rows), partial(_phase_rates, found, kind))


def _phases(found: PublishedTable, kind: str, name: str, cache: str) -> list[Measurements]:
    """Four phases with their rates, in transactions of two phases each, and the whole run with its costs."""
    size, words = 2 * _phase_bytes(), {"cache": cache}
    whole, nothing = report.exactly(size), report.exactly(0.0)

    def hits(share: float) -> Printed | None:
        """Share of reads that the cache answers; None without cache."""
        return report.exactly(share) if cache == "on" else None

    rows = [
        report.run(
            f"{name} {phase}", found, words, rate=found.printed(phase, name, KILOBYTE / size),
            hit_ratio=hits(float(phase == "RR")), write_kb=whole if phase in WRITES else nothing,
            read_kb=nothing if phase in WRITES else whole, channel_mb_per_s=_channel(kind),
        )
        for phase in (*WRITES, *READS)
    ]  # fmt: skip
    total = report.run(name, found, words, hit_ratio=hits(IOZONE_HIT_RATIO), write_kb=whole, read_kb=whole,
                       channel_mb_per_s=_channel(kind), **_costs(found, name))  # fmt: skip
    return [*rows, total]


def _costs(found: PublishedTable, name: str) -> dict[str, Printed | None]:
    """Processor times and virtual I/Os of a transaction."""
    counted = found.text("Vio/tx", name) != NOT_AVAILABLE
    return {
        "cp_us": found.printed("CP/tx", name, MICROSECOND),
        "virtual_us": found.printed("Virt/tx", name, MICROSECOND),
        "virtual_ios": found.printed("Vio/tx", name) if counted else None,
    }


def _channel(kind: str) -> Printed:
    return report.exactly(library.read_source(FOLDER)["method"][CHANNELS[kind][1]] * MEGABYTE)


def _phase_bytes() -> float:
    """Bytes of one phase of a transaction: 1/8192 of the file."""
    method = library.read_source(FOLDER)["method"]
    return float(method["iozone_file_kb"] * KILOBYTE / method["iozone_transactions"])


def _phase_rates(found: PublishedTable, kind: str, path: DiskPath) -> Iterator[library.ComparedRun]:
    """Data rate of each phase, published and by the model."""
    off, on = IOZONE_RUNS[kind]
    modes = {off: dict.fromkeys(READS, path.off)}
    if on is not None:
        modes[on] = dict(zip(READS, (path.miss, path.hit), strict=True))
    for name, reads in modes.items():
        for phase, part in {**dict.fromkeys(WRITES, path.write), **reads}.items():
            assert part is not None
            rate = 2 * _phase_bytes() / KILOBYTE / part.elapsed
            yield report.compared(f"{name} {phase}", "data_rate_kb_per_s", found.printed(phase, name), rate)


def _disk_model(
    workload: str, kind: str, found: PublishedTable, path: CostFit,
    compared: Callable[[DiskPath], Iterable[library.ComparedRun]],
) -> library.Model:  # fmt: skip
    """The model of a path; `compared` compares its runs with the path rounded to the digits of its file."""
    facts = library.read_source(FOLDER)
    disk = DiskPath.from_values({key: library.rounded(path.value(key)) for key in path.estimates})
    runs = list(compared(disk))
    return report.published_model(
        path,
        title=f"Disk path {kind}, workload {workload}: {facts['title']}",
        tables=[found],
        environment=_environment(facts, CHANNELS[kind][0]),
        runs=runs,
        model_error=report.misfit(runs),
    )


def _thrash(kind: str, name: str, channel: str) -> library.Model:
    found = report.table(FOLDER, "table-3")
    rate = found.printed("Paging rate", name)
    one = report.run(
        name, found, outstanding=report.exactly(1), queue_depth=report.exactly(1), transfer_rate=rate, page_rate=rate,
        think_us=found.printed("Total/tx", name, MICROSECOND), cp_us_per_page=found.printed("CP/tx", name, MICROSECOND),
    )  # fmt: skip
    facts = library.read_source(FOLDER)
    return report.published_model(
        fit_paging([one], {"pages_per_transfer": 1.0}),
        title=f"Paging device {kind}: {facts['title']}, run {name}",
        tables=[found],
        environment=_environment(facts, channel),
        validity={"page_rate": (rate.value, rate.value)},
    )


def _environment(facts: Mapping[str, Any], channel: str) -> dict[str, str]:
    """Environment of a run, for a publication with several channels."""
    found = facts["environment"]
    return {"machine": found["machine"], "release": found["release"], "channel": found[channel]}


def cells() -> Iterator[PublishedFigure]:
    """Figures of all three tables."""
    off = dict.fromkeys(IOZONE, "cp-per-vio")
    per_vio = {
        "Vio/tx": report.given("count"),
        "CP/vio": report.identity(lambda at: at["CP/tx"] / at["Vio/tx"], "CP/tx over Vio/tx", off),
        "Virt/vio": report.identity(lambda at: at["Virt/tx"] / at["Vio/tx"], "Virt/tx over Vio/tx"),
        "Total/vio": report.identity(lambda at: at["CP/vio"] + at["Virt/vio"], "CP/vio + Virt/vio"),
    }
    costs = {
        "CP/tx": report.given(ENTERS),
        "Virt/tx": report.given(ENTERS),
        "Total/tx": report.identity(lambda at: at["CP/tx"] + at["Virt/tx"], "CP/tx + Virt/tx"),
    }
    yield from report.table_figures(
        FOLDER, "table-1", dict.fromkeys((*WRITES, *READS), _phase) | costs | per_vio
    )
    yield from report.table_figures(FOLDER, "table-2", {"Tx/sec": _xedit} | costs | per_vio)
    yield from report.table_figures(FOLDER, "table-3", costs | {"Paging rate": _paging, "CP/tx": _paging_cp})


def _phase(at: Cell) -> Said:
    """Data rate of an iozone phase by the disk path that was fitted to all phases of its runs."""
    return report.fitted(f"disk-iozone-{IOZONE[at.column]}", f"{at.column} {at.row}", "data rate")


def _xedit(at: Cell) -> Said:
    """Transactions per second of one requester."""
    kind, part = XEDIT[at.column]
    rate = _rate(DiskPath.from_model(library.read_model(f"disk-xedit-{kind}")), part)
    if at.column in FROM_CPU_ALONE:
        return Said("transferred", report.known(rate), "throughput", note="from CPU time alone")
    return Said("fitted", report.known(rate), note=OWN_WAIT)


def _paging(at: Cell) -> Said:
    """Page rate of one guest that waits for each page."""
    device = PagingDevice.from_model(library.read_model(f"paging-{PAGING[at.column][0]}"))
    rate = float(device.closed(1, at["Total/tx"].value * MICROSECOND).page_rate)
    return Said("fitted", report.known(rate), note=OWN_WAIT)


def _paging_cp(at: Cell) -> Said:
    """CP time of a page, predicted by that of a block that XEDIT reads without minidisk cache."""
    blocks = library.read_source(FOLDER)["method"]["xedit_blocks"]
    of = PAGING[at.column][1]
    each = report.cell(report.table(FOLDER, "table-2"), "CP/tx", of) / blocks
    return Said("transferred", each, "CP time", note=f"CP time per block of XEDIT, run {of}")


def iozone_per_transaction() -> style.Axes:
    """Figure 1: CP and virtual time per transaction of the iozone runs."""
    found = report.table(FOLDER, "table-1")
    off, on = (
        found.value("CP/tx", fba) / found.value("CP/tx", eckd)
        for fba, eckd in (("SFB0", "EMD0"), ("SFB9", "EMDK"))
    )
    return _stacked(
        "table-1", ("CP/tx", "Virt/tx"),
        f"Linux iozone, time of a transaction: CP time on emulated FBA is {readable(off)} times that on ECKD minidisks "
        f"without minidisk cache, {readable(on)} times with it.",
    )  # fmt: skip


def iozone_per_virtual_io() -> style.Axes:
    """Figure 2: CP and virtual time per virtual I/O of the iozone runs; native SCSI has no virtual I/Os."""
    found = report.table(FOLDER, "table-1")
    axes = _stacked(
        "table-1", ("CP/vio", "Virt/vio"),
        "Linux iozone, time of a virtual I/O. Emulated FBA is not cheaper: its transactions need more virtual I/Os "
        "(last line of each label).",
    )  # fmt: skip
    runs = [run for run in found.columns[2:] if found.text("CP/vio", run) != NOT_AVAILABLE]
    names = [
        f"{_label(found, run)}\n{readable(found.value('CP/tx', run) / found.value('CP/vio', run))} vio per transaction"
        for run in runs
    ]
    axes.set_xticks(range(len(runs)), names, fontsize="x-small")
    return axes


def xedit_per_transaction() -> style.Axes:
    """Figure 3: CP and virtual time per transaction of the XEDIT loops."""
    found = report.table(FOLDER, "table-2")
    fba, eckd = (found.value("CP/tx", run) + found.value("Virt/tx", run) for run in ("SCSI4KXK", "33904KX7"))
    return _stacked(
        "table-2", ("CP/tx", "Virt/tx"),
        f"XEDIT loop, time of a transaction: with minidisk cache hits cost the same; a miss costs {readable(fba)} "
        f"us on emulated FBA, {readable(eckd)} us on ECKD.",
    )  # fmt: skip


def page_fault_cost() -> style.Axes:
    """Figure 4: CP and virtual time per page fault of the RXTHRASH runs."""
    return _stacked(
        "table-3", ("CP/tx", "Virt/tx"), "RXTHRASH, time of a page fault: on emulated FBA most of it is CP."
    )


def _stacked(name: str, rows: tuple[str, str], title: str) -> style.Axes:
    """Bars of CP time with virtual time on top, labeled with the sum and the share of CP."""
    found = report.table(FOLDER, name)
    (axes,) = style.begin(None, title)
    runs = [run for run in found.columns[2:] if found.text(rows[0], run) != NOT_AVAILABLE]
    parts = {
        label: [found.value(row, run) for run in runs]
        for row, label in zip(rows, ("CP", "virtual machine"), strict=True)
    }
    for place, total in enumerate(style.stacked(axes, runs, parts)):
        cp = parts["CP"][place]
        axes.annotate(
            f"{readable(total, 0, EXACT)}\nCP {readable(cp, 0, EXACT)}",
            (place, total),
            ha="center",
            va="bottom",
            fontsize="small",
        )
    axes.set_xticks(range(len(runs)), [_label(found, run) for run in runs], fontsize="small")
    axes.set_ylabel("processor time [us]")
    axes.margins(y=0.16)
    style.legend_below(axes)
    return axes


def _label(found: PublishedTable, run: str) -> str:
    """Name and environment of a run, in short lines."""
    import textwrap

    row = "Run Type" if "Run Type" in found.rows else "DASD Type"
    return "\n".join([run, *textwrap.wrap(found.text(row, run), 13)])


REPORT: Final = PublishedReport(
    folder=FOLDER,
    cells=cells,
    models=models,
    figures={
        "scsiit": iozone_per_transaction,
        "scsiiv": iozone_per_virtual_io,
        "scsixt": xedit_per_transaction,
        "scsipt": page_fault_cost,
    },
    pictures={"emulated-fba": lambda: disk_rates(Setting(workload="xedit", hit_ratio=0.5)).plot()},
)
