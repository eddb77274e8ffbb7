"""Disk paths from the published runs: XEDIT reading a file over and over, iozone writing and reading one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from planner import library
from planner.calibrate.cost_law import CostFit
from planner.calibrate.disk import fit_disk
from planner.calibrate.tables import Measurements
from planner.devices.disk import DiskPath
from planner.published.entries import compared, exactly, misfit, published_model, run, table
from planner.published.paging import environment
from planner.reports import Printed, PublishedTable
from planner.units import KILOBYTE, MEGABYTE, MICROSECOND

PUBLICATION: Final = "emulated-fba"
XEDIT_RUNS: Final = {
    "eckd-minidisk": {"hit": "33904KX5", "miss": "33904KX7", "off": "33904KX6"},
    "emulated-fba": {"hit": "SCSI4KXI", "miss": "SCSI4KXK", "off": "SCSI4KXJ"},
}
NO_WAIT: Final = {
    "eckd-minidisk": ("hit", "miss"),
    "emulated-fba": ("hit",),
}  # runs that show no wait for the disk
IOZONE_RUNS: Final[Mapping[str, tuple[str, str | None]]] = {  # without minidisk cache, and with it
    "native-scsi": ("SLN9", None),
    "eckd-dedicated": ("ECKD", None),
    "eckd-minidisk": ("EMD0", "EMDK"),
    "emulated-fba": ("SFB0", "SFB9"),
}
WRITES: Final = ("IW", "RW")
READS: Final = ("IR", "RR")
IOZONE_HIT_RATIO: Final = 0.5  # the initial read misses, the reread hits
CHANNELS: Final = {
    "native-scsi": ("channel_scsi", "fcp_mb_per_s"),
    "emulated-fba": ("channel_scsi", "fcp_mb_per_s"),
    "eckd-minidisk": ("channel_eckd", "escon_mb_per_s"),
    "eckd-dedicated": ("channel_eckd", "escon_mb_per_s"),
}


def calibrate_disk() -> dict[tuple[str, str], library.Model]:
    """Fit the disk paths of the two workloads.

    Returns
    -------
    dict
        Model by workload and kind of disk.
    """
    return {
        **{("xedit", kind): _xedit(kind) for kind in XEDIT_RUNS},
        **{("iozone", kind): _iozone(kind) for kind in IOZONE_RUNS},
    }


def _xedit(kind: str) -> library.Model:
    """CP and virtual time as printed; the wait is what is left of 1 / rate, and nothing where the run shows none."""
    found = table(PUBLICATION, "table-2")
    method = library.read_source(PUBLICATION)["method"]
    read = exactly(method["xedit_blocks"] * method["xedit_block_bytes"])
    rows = []
    for part, name in XEDIT_RUNS[kind].items():
        rate = None if part in NO_WAIT[kind] else found.printed("Tx/sec", name)
        words = {"cache": "off" if part == "off" else "on"}
        hits = None if part == "off" else exactly(float(part == "hit"))
        rows.append(run(name, found, words, hit_ratio=hits, rate=rate, read_kb=read, **_costs(found, name),
                        channel_mb_per_s=_channel(kind)))  # fmt: skip
    held = {f"{part}_wait_time": 0.0 for part in NO_WAIT[kind]}
    path = fit_disk(rows, held)
    model = _model("xedit", kind, found, path, [])
    law = DiskPath.from_model(model)
    rates = {"off": law.solve("off"), "miss": law.solve("cached", 0), "hit": law.solve("cached", 1)}
    runs = [compared(XEDIT_RUNS[kind][part], "rate", found.printed("Tx/sec", XEDIT_RUNS[kind][part]), float(at.rate))
            for part, at in rates.items()]  # fmt: skip
    return _model("xedit", kind, found, path, runs)


def _iozone(kind: str) -> library.Model:
    """Elapsed time of each phase, and processor time of the four phases together.

    How that divides over the phases is the convention of `planner.calibrate.disk`.
    """
    found = table(PUBLICATION, "table-1")
    off, on = IOZONE_RUNS[kind]
    rows = _phases(found, kind, off, "off", (None, None), None)
    if on is not None:
        rows += _phases(found, kind, on, "on", (0.0, 1.0), IOZONE_HIT_RATIO)
    path = fit_disk(rows)
    law = DiskPath.from_model(_model("iozone", kind, found, path, []))
    return _model("iozone", kind, found, path, _phase_rates(found, kind, law))


def _phases(
    found: PublishedTable,
    kind: str,
    name: str,
    cache: str,
    hits: tuple[float | None, float | None],
    mean: float | None,
) -> list[Measurements]:
    """Four phases with their rates, in transactions of two of them, and the run that they make with its costs."""
    size, words = 2 * _phase_bytes(), {"cache": cache}
    whole, nothing = exactly(size), exactly(0.0)
    ratios = (*[None] * len(WRITES), *hits)
    rows = [
        run(
            f"{name} {phase}", found, words, rate=found.printed(phase, name, KILOBYTE / size),
            hit_ratio=exactly(ratio or 0.0) if cache == "on" else None,
            write_kb=whole if phase in WRITES else nothing, read_kb=nothing if phase in WRITES else whole,
            channel_mb_per_s=_channel(kind),
        )
        for phase, ratio in zip((*WRITES, *READS), ratios, strict=True)
    ]  # fmt: skip
    total = run(name, found, words, hit_ratio=None if mean is None else exactly(mean), write_kb=whole, read_kb=whole,
                channel_mb_per_s=_channel(kind), **_costs(found, name))  # fmt: skip
    return [*rows, total]


def _costs(found: PublishedTable, name: str) -> dict[str, Printed | None]:
    """Processor times and virtual I/Os of a transaction."""
    counted = found.text("Vio/tx", name) != "na"
    return {
        "cp_us": found.printed("CP/tx", name, MICROSECOND),
        "virtual_us": found.printed("Virt/tx", name, MICROSECOND),
        "virtual_ios": found.printed("Vio/tx", name) if counted else None,
    }


def _channel(kind: str) -> Printed:
    return exactly(library.read_source(PUBLICATION)["method"][CHANNELS[kind][1]] * MEGABYTE)


def _phase_bytes() -> float:
    """Bytes of one phase of a transaction: 1/8192 of the file."""
    method = library.read_source(PUBLICATION)["method"]
    return float(method["iozone_file_kb"] * KILOBYTE / method["iozone_transactions"])


def _phase_rates(found: PublishedTable, kind: str, path: DiskPath) -> list[library.Run]:
    """Data rate of each phase, published beside the law's."""
    off, on = IOZONE_RUNS[kind]
    modes = {off: dict.fromkeys(READS, path.off)}
    if on is not None:
        modes[on] = dict(zip(READS, (path.miss, path.hit), strict=True))
    rows = []
    for name, reads in modes.items():
        for phase, part in {**dict.fromkeys(WRITES, path.write), **reads}.items():
            assert part is not None
            law = 2 * _phase_bytes() / KILOBYTE / part.elapsed
            rows.append(compared(f"{name} {phase}", "data_rate_kb_per_s", found.printed(phase, name), law))
    return rows


def _model(
    workload: str, kind: str, found: PublishedTable, path: CostFit, runs: Sequence[library.Run]
) -> library.Model:
    facts = library.read_source(PUBLICATION)
    return published_model(
        path,
        title=f"Disk path {kind}, workload {workload}: {facts['title']}",
        tables=[found],
        environment=environment(facts, CHANNELS[kind][0]),
        runs=runs,
        model_error=misfit(runs),
    )
