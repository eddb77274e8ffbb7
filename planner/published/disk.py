"""Disk paths from the published runs: XEDIT reading a file over and over, iozone writing and reading one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from planner import library
from planner.devices.disk import COSTS, KIND, DiskPath, Part
from planner.published.entries import compared, fitted, fixed, misfit, relative_error, rounded, source, table
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
    entries: dict[str, library.Parameter] = {}
    for part, run in XEDIT_RUNS[kind].items():
        cp, virtual = (found.printed(row, run, MICROSECOND) for row in ("CP/tx", "Virt/tx"))
        entries[f"{part}_cp_time_s"] = fitted(cp.value, relative_error(cp))
        entries[f"{part}_virtual_time_s"] = fitted(virtual.value, relative_error(virtual))
        entries[f"{part}_wait_time_s"] = (
            fixed(0) if part in NO_WAIT[kind] else _rest(found.printed("Tx/sec", run), cp + virtual)
        )
    virtual_ios = found.value("Vio/tx", XEDIT_RUNS[kind]["off"])
    entries |= {"virtual_ios_off": fixed(virtual_ios), "virtual_ios_cached": fixed(virtual_ios)}
    entries |= {
        "read_bytes": fixed(method["xedit_blocks"] * method["xedit_block_bytes"]),
        "write_bytes": fixed(0),
    }
    model = _model("xedit", kind, found, entries)
    path = DiskPath.from_model(model)
    rates = {
        "off": path.solve("off"),
        "miss": path.solve("cached", 0),
        "hit": path.solve("cached", 1),
    }
    return _with_runs(
        model,
        [
            compared(XEDIT_RUNS[kind][part], "rate", found.printed("Tx/sec", XEDIT_RUNS[kind][part]), float(at.rate))
            for part, at in rates.items()
        ],
    )  # fmt: skip


def _rest(rate: Printed, processor: Printed) -> library.Parameter:
    """Wait: what one requester takes for a transaction beyond its processor time."""
    wait = 1 / rate.value - processor.value
    resolution = 1 / rate.low - 1 / rate.value + processor.resolution
    return fitted(wait, relative_error(Printed(wait, resolution)))


def _iozone(kind: str) -> library.Model:
    """Elapsed time of each phase, and processor time of the four phases together.

    Printed is the sum over the phases only. Convention: the four phases without cache take equal shares; writes
    take as much with the cache as without; a hit takes its elapsed time, of which CP has the share of the
    whole cached run; the miss takes the rest.
    """
    found = table(PUBLICATION, "table-1")
    off, on = IOZONE_RUNS[kind]
    phase_bytes = _phase_bytes()
    runs = [off] if on is None else [off, on]
    writing = _mean_time(found, [(phase, run) for run in runs for phase in WRITES], phase_bytes)
    half = Part(**{cost: found.value(row, off, MICROSECOND) / 2 for cost, row in _ROWS.items()})
    parts = {
        "write": _waiting(half, writing),
        "off": _waiting(half, _mean_time(found, [(phase, off) for phase in READS], phase_bytes)),
    }
    entries: dict[str, library.Parameter] = {}
    if on is not None:
        parts |= _cached(found, on, half, phase_bytes)
        entries["virtual_ios_cached"] = fixed(found.value("Vio/tx", on))
        entries["measured_hit_ratio"] = fixed(IOZONE_HIT_RATIO)
    if found.text("Vio/tx", off) != "na":
        entries["virtual_ios_off"] = fixed(found.value("Vio/tx", off))
    # The elapsed time of a part was measured; how it divides into processor time and wait is the convention.
    entries |= {
        f"{name}_{cost}_s": library.Parameter(value=rounded(getattr(part, cost)), status="not determined")
        for name, part in parts.items()
        for cost in COSTS
    }
    entries |= {"read_bytes": fixed(2 * phase_bytes), "write_bytes": fixed(2 * phase_bytes)}
    model = _model("iozone", kind, found, entries)
    return _with_runs(model, _phase_rates(found, kind, DiskPath.from_model(model)))


_ROWS: Final = {"cp_time": "CP/tx", "virtual_time": "Virt/tx"}


def _phase_bytes() -> float:
    """Bytes of one phase of a transaction: 1/8192 of the file."""
    method = library.read_source(PUBLICATION)["method"]
    return float(method["iozone_file_kb"] * KILOBYTE / method["iozone_transactions"])


def _mean_time(found: PublishedTable, cells: list[tuple[str, str]], phase_bytes: float) -> float:
    """Mean elapsed time of two phases [s]."""
    return 2 * sum(phase_bytes / found.value(phase, run, KILOBYTE) for phase, run in cells) / len(cells)


def _waiting(work: Part, elapsed: float) -> Part:
    wait = elapsed - work.cp_time - work.virtual_time
    return Part(cp_time=work.cp_time, virtual_time=work.virtual_time, wait_time=wait)


def _cached(found: PublishedTable, on: str, write: Part, phase_bytes: float) -> dict[str, Part]:
    """Two phases of reads that all miss, and two that all hit; the run had one of each."""
    cp, virtual = (found.value(row, on, MICROSECOND) for row in _ROWS.values())
    missing, hitting = (_mean_time(found, [(phase, on)], phase_bytes) for phase in READS)
    share = cp / (cp + virtual)
    hit = Part(cp_time=share * hitting, virtual_time=(1 - share) * hitting)
    miss = Part(
        cp_time=2 * (cp - write.cp_time) - hit.cp_time,
        virtual_time=2 * (virtual - write.virtual_time) - hit.virtual_time,
    )
    return {"miss": _waiting(miss, missing), "hit": hit}


def _phase_rates(found: PublishedTable, kind: str, path: DiskPath) -> list[library.Run]:
    """Data rate of each phase, published beside the law's."""
    off, on = IOZONE_RUNS[kind]
    modes = {off: dict.fromkeys(READS, path.off)}
    if on is not None:
        modes[on] = dict(zip(READS, (path.miss, path.hit), strict=True))
    rows = []
    for run, reads in modes.items():
        for phase, part in {**dict.fromkeys(WRITES, path.write), **reads}.items():
            assert part is not None
            law = 2 * _phase_bytes() / KILOBYTE / part.elapsed
            rows.append(compared(f"{run} {phase}", "data_rate_kb_per_s", found.printed(phase, run), law))
    return rows


def _model(
    workload: str, kind: str, found: PublishedTable, entries: Mapping[str, library.Parameter]
) -> library.Model:
    facts = library.read_source(PUBLICATION)
    channel, rate = CHANNELS[kind]
    nominal = fixed(facts["method"][rate] * MEGABYTE)
    return library.Model(
        kind=KIND,
        title=f"Disk path {kind}, workload {workload}: {facts['title']}",
        source=source(found),
        population=1,
        environment=environment(facts, channel),
        parameters={**entries, "channel_rate_bytes_per_s": nominal},
        fit=library.Fit(runs=(), model_error=0.0),
        validity={"requesters": (1.0, 1.0), "processors": (1.0, 1.0)},
    )


def _with_runs(model: library.Model, runs: list[library.Run]) -> library.Model:
    import msgspec

    return msgspec.structs.replace(model, fit=library.Fit(runs=tuple(runs), model_error=misfit(runs)))
