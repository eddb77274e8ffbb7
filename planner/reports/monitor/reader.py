"""Reads z/VM monitor data sample by sample: tables of devices, pools, data spaces, paging volumes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from planner.errors import ReportError
from planner.reports import schema
from planner.reports.monitor import devices, layouts, state
from planner.reports.monitor import records as frames
from planner.reports.monitor.layouts import Kind
from planner.reports.monitor.records import Walk, overlapping, walk
from planner.reports.monitor.state import Columns, Pairs, SampleSpan
from planner.results import Integers

RATES: Final = {Kind.DATA_SPACE: devices.SPACE_RATES, Kind.PAGING_VOLUME: devices.PAGING_RATES}
MOST: Final = {  # kind: by how much its counters may rise a second; those of pools are taken with their marks
    Kind.ACTIVITY: devices.MOST_A_SECOND, Kind.POOL_ACTIVITY: {},
    **{kind: dict.fromkeys(rates.values(), state.MOST_EVENTS) for kind, rates in RATES.items()},
}  # fmt: skip
TABLE_OF: Final = {  # table, and what names a row; pools first: devices refer to them
    Kind.POOL_ACTIVITY: ("supply", "HPPOOLNM"), Kind.ACTIVITY: ("devices", "RDEVDEV"),
    Kind.DATA_SPACE: ("storage", "ASCUSRID", "ASCNAME"), Kind.PAGING_VOLUME: ("paging", "RDEVDEV", "CALVSER"),
}  # fmt: skip
WHAT: Final = "z/VM monitor data"


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorTables(schema.Tables):
    """The tables of `schema`, and that of paging volumes."""

    paging: pl.DataFrame = field(default_factory=lambda: schema.empty(devices.PAGING))


def batches(
    path: Path | str, data: bytes | None = None, *, pools_known: bool = False, chunk: int | None = None
) -> Iterator[MonitorTables]:
    """Read monitor data, some samples a step, notes last; with `pools_known` members come from elsewhere."""
    reader = RecordReader(Path(path), pools_known)
    for piece in frames.chunks(reader.path, data, chunk=chunk):
        yield from reader.take(walk(piece, reader.path, reader.records + 1))
    yield reader.finish()


class RecordReader:
    """One pass over a file: `take` the records of chunk after chunk, then `finish`."""

    def __init__(self, path: Path, pools_known: bool) -> None:
        self.path, self.pools_known = path, pools_known
        self.records = 0
        self.system = state.RecordedSystem()
        self.notes = state.Notes()

    def take(self, records: Walk) -> Iterator[MonitorTables]:
        """Read the records of a chunk: split where a system introduces itself."""
        self.records += records.offset.size
        heads = np.flatnonzero((records.kind == Kind.SYSTEM) & ~records.event)
        edges = np.unique(np.concatenate([[0], heads, [records.offset.size]]))
        for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            part = np.arange(low, high)
            if low in heads:
                self._introduce(records, low)
            self._configure(records, part)
            found = self._samples(records, part)
            if found is not None:
                yield _with_paging_together(found)

    def finish(self) -> MonitorTables:
        """What is left at the end of the file: the notes."""
        self._leave()
        if not self.notes.samples:
            problem = f"{self.records} records, no sample of devices, pools or data spaces that ends (D1R11)"
            raise ReportError(self.path, f"{problem}: expected sample data, not events alone")
        return MonitorTables(notes=self.notes.sentences(), what=WHAT)

    def _leave(self) -> None:
        """Note what of a system was begun and not ended."""
        begun = sum(rows["sample"].size for rows in self.system.open.values())
        if begun:
            self.notes.add(f"the last sample has no end (D1R11): its records, {begun}, are not used")
        if self.system.samples and self.system.name is None:
            self.notes.add("no record names the system (D1R4)")

    # What does not change from sample to sample

    def _rows(self, records: Walk, which: Integers, record: Kind, shift: int = 0) -> layouts.Records:
        """Records of one kind as a structured array; records too short for their fields are refused."""
        form = layouts.dtype(record, shift)
        short = records.length[which] < form.itemsize
        if short.any():
            first = int(which[short.argmax()])
            problem = f"{record.words} of {records.length[first]} bytes: expected {form.itemsize} at least"
            raise self._error(records, first, problem)
        return overlapping(records.chunk.data, f"V{form.itemsize}")[records.offset[which]].view(form)

    def _refused(self, rows: Columns, row: int, problem: str) -> ReportError:
        return ReportError(self.path, f"record {rows['line'][row]}: {problem}")

    def _error(self, records: Walk, record: int, problem: str) -> ReportError:
        number = records.first + record
        return ReportError(self.path, f"record {number} at byte {records.byte(record)}: {problem}")

    def _times(self, records: Walk, which: Integers) -> Integers:
        """Times of records [us since 1970, UTC]."""
        clock = overlapping(records.chunk.data, ">u8")[records.offset[which] + 8].astype(np.uint64)
        # TOD clock of 1970-01-01, without leap seconds; bit 51 is a microsecond.
        epoch, bits = 0x7D91048BCA000000, 12
        return (clock >> np.uint64(bits)).astype(np.int64) - (epoch >> bits)

    def _introduce(self, records: Walk, record: int) -> None:
        """A system says its name: another one, the same after IPL, or one whose clock went back, is read again."""
        row = self._rows(records, np.array([record]), Kind.SYSTEM)
        name, ipl = layouts.text(row["SYSTMID"])[0], int(row["SYSTODST"][0])
        time = int(self._times(records, np.array([record]))[0])
        old = self.system
        back = old.end is not None and time < old.end
        if old.samples and (name != old.name or ipl != old.ipl or back):
            self._leave()
            self.system = state.RecordedSystem()
        zone = int(row["SYSZONE"][0])
        plausible = abs(zone) <= 15 * 3600 and zone % 900 == 0  # s
        if not plausible:
            self.notes.add(f"{name}: the time zone, {zone} s, is none: times are UTC")
        self.system.name, self.system.ipl = name, ipl
        self.system.offset = zone if plausible else 0
        self.system.format_1 = bool(row["CALFLG2"][0] & 0x80)

    def _configure(self, records: Walk, part: Integers) -> None:
        """Take the configuration of devices, and the moments at which their measurement was switched off."""
        which = part[records.kind[part] == Kind.DEVICE]
        if which.size:
            self.system.configuration.add(self._rows(records, which, Kind.DEVICE))
            self.system.static = None
        which = part[(records.kind[part] == Kind.MEASUREMENT_OFF) & records.event[part]]
        if which.size:
            rows = self._rows(records, which, Kind.MEASUREMENT_OFF)
            stopped = layouts.full_number(rows["RDEVSID"], rows["RDEVDEV"]).tolist()
            self.system.stops += zip(stopped, self._times(records, which).tolist(), strict=True)

    # Samples

    def _samples(self, records: Walk, part: Integers) -> MonitorTables | None:
        """Tables of the samples that end within a part of a chunk."""
        system = self.system
        sampled = part[~records.event[part]]
        ending = records.kind[sampled] == Kind.END_OF_INTERVAL
        ends = self._ends(records, sampled[ending])
        sample = system.samples + np.cumsum(ending) - ending
        every = {kind: self._collect(records, sampled, sample, kind) for kind in TABLE_OF}
        rows = {kind: found for kind, found in every.items() if found is not None}
        if not ends.size:
            system.open = rows
            return None
        known = system.end is not None
        times = np.concatenate([[system.end if known else ends[0]], ends])
        span = SampleSpan(self.path, system, system.samples, times, known)
        system.samples += ends.size
        system.end = int(ends[-1])
        system.lengths += (np.diff(times[0 if known else 1 :]) / state.SECOND).tolist()
        closed = {kind: self._close(kind, found) for kind, found in rows.items()}
        span.pools = closed.get(Kind.POOL_ACTIVITY)
        ended = {kind: each for kind, each in closed.items() if each["sample"].size}
        tables: dict[str, Any] = {
            TABLE_OF[kind][0]: self._table(kind, each, span) for kind, each in ended.items()
        }
        system.stops = [each for each in system.stops if each[1] > system.end]
        self.notes.samples += len(tables)
        return MonitorTables(**{name: each for name, each in tables.items() if each is not None})

    def _ends(self, records: Walk, which: Integers) -> Integers:
        """Times at which samples end; they only rise."""
        ends = self._times(records, which)
        before = self.system.end
        all_ends = ends if before is None else np.concatenate([[before], ends])
        back = np.flatnonzero(np.diff(all_ends) <= 0)
        if back.size:
            was, now = map(state.moment, all_ends[back[0] : back[0] + 2].tolist())
            record = int(which[back[0] + (before is None)])
            problem = f"the sample ends at {now}, the one before at {was}"
            raise self._error(records, record, f"{problem}: expected samples in order of time")
        return ends

    def _collect(self, records: Walk, sampled: Integers, sample: Integers, kind: Kind) -> Columns | None:
        """Rows of one kind, after those of the sample that is still open."""
        chosen = records.kind[sampled] == kind
        which = sampled[chosen]
        held = self.system.open.pop(kind, None)
        if not which.size:
            return held
        found: Columns = {
            "sample": sample[chosen],
            "line": (records.first + which).astype(np.uint32),
            "time": self._times(records, which),
        }
        if kind == Kind.ACTIVITY:
            found |= self._activity(records, which, sample[chosen])
        else:
            rows = self._rows(records, which, kind)
            found |= {name: rows[name] for name in rows.dtype.names or ()}
        return found if held is None else {name: np.concatenate([held[name], found[name]]) for name in found}

    def _activity(self, records: Walk, which: Integers, sample: Integers) -> Columns:
        """Device activity as columns of native numbers; decides where the later fields stand when it is first met."""
        system = self.system
        lengths = records.length[which]
        system.length = system.length or int(lengths[0])
        other = lengths != system.length
        if other.any() or system.length < layouts.ACTIVITY_BYTES:
            first = int(which[other.argmax()])
            problem = (
                f"D6R3 of {records.length[first]} bytes among others of {system.length}: expected one length"
                if other.any()
                else f"D6R3 of {system.length} bytes: expected {layouts.ACTIVITY_BYTES} at least, as since z/VM 5.3"
            )
            raise self._error(records, first, problem)
        if system.shift is None:
            some = which[sample == sample[0]]
            raw = overlapping(records.chunk.data, f"V{system.length}")[records.offset[some]]
            try:
                system.shift = layouts.shift_of(raw, system.length, system.configuration.numbers)
            except layouts.UndecidedError as error:
                raise self._error(records, int(which[0]), f"D6R3, {error}: expected one to fit") from None
        rows = self._rows(records, which, Kind.ACTIVITY, system.shift)
        columns = {name: rows[name].astype(np.uint32) for name in rows.dtype.names or ()}
        return columns | {"RDEVDEV": layouts.full_number(columns["RDEVSID"], columns["RDEVDEV"])}

    def _close(self, kind: Kind, rows: Columns) -> Columns:
        """Rows of samples that ended; the others wait for the end of theirs."""
        ended = rows["sample"] < self.system.samples
        if ended.all():
            return rows
        self.system.open[kind] = {name: values[~ended] for name, values in rows.items()}
        return {name: values[ended] for name, values in rows.items()}

    def _table(self, kind: Kind, rows: Columns, span: SampleSpan) -> pl.DataFrame | None:
        """Table of one kind of record: what was counted since the sample before."""
        self._check_times(kind, rows, span)
        system = self.system
        if kind == Kind.ACTIVITY:
            rows = devices.prepare(rows, span, self.notes)
            if not self.pools_known:
                devices.decide_bits(rows, span)
        held = system.last.get(kind)
        newest = rows["sample"] == system.samples - 1
        system.last[kind] = {name: values[newest] for name, values in rows.items()}
        if held is not None and held["sample"].size:
            rows = {name: np.concatenate([held[name], rows[name]]) for name in rows}
        before, twice = state.previous(_keys(kind, rows), rows["sample"])
        if twice is not None:
            which = f"{kind.words} of {_who(kind, rows, int(twice[0]))} a second time in a sample"
            wanted = "expected one; the end of a sample (D1R11) is perhaps missing"
            raise self._refused(rows, int(twice[0]), f"{which}: {wanted}")
        self._come_and_go(kind, rows, before, span)
        if kind == Kind.ACTIVITY:
            before = devices.without_stopped(rows, before, span, self.notes)
        return self._made(kind, rows, before, span)

    def _check_times(self, kind: Kind, rows: Columns, span: SampleSpan) -> None:
        """Records are built between the end of the sample before and that of their own, but for a second."""
        at = rows["sample"] - span.first
        wrong = rows["time"] > span.times[at + 1] + state.SECOND
        wrong |= (rows["time"] < span.times[at] - state.SECOND) & (span.known | (at > 0))
        if wrong.any():
            row = int(wrong.argmax())
            built, end = state.moment(int(rows["time"][row])), state.moment(int(span.times[at[row] + 1]))
            problem = f"{kind.words} built at {built} in the sample that ends at {end}"
            raise self._refused(rows, row, f"{problem}: expected a time within its interval")

    def _come_and_go(self, kind: Kind, rows: Columns, before: Integers, span: SampleSpan) -> None:
        """Note what has no record in the sample before, or none in the one after."""
        followed = np.zeros(before.size, bool)
        followed[before[before >= 0]] = True
        gone = ~followed & (rows["sample"] < self.system.samples - 1)
        since = self.system.since.setdefault(kind, int(rows["sample"][0]))
        come = (before < 0) & (rows["sample"] >= span.first) & (rows["sample"] > since)
        for which, reason in ((come, "came"), (gone, "went")):
            for row in np.flatnonzero(which).tolist():
                self.notes.count(kind.words, reason, _who(kind, rows, row))

    def _made(self, kind: Kind, rows: Columns, before: Integers, span: SampleSpan) -> pl.DataFrame | None:
        """Table of what was counted between rows and those `before`, without the rows whose counters started again."""
        pairs = Pairs.of(before)
        elapsed = span.elapsed(rows["sample"][pairs.now])
        if not elapsed.size:
            return None
        narrow = () if span.system.wide else devices.BASE_EVENTS
        rise, restarted = devices.rises(rows, pairs, elapsed, MOST[kind], narrow)
        if restarted.any():
            dropped = pairs.now[restarted]
            before[dropped] = -1
            for row in dropped.tolist():
                self.notes.count(kind.words, "restarted", _who(kind, rows, row))
            return self._made(kind, rows, before, span)
        if kind == Kind.ACTIVITY:
            return devices.table(rows, pairs, elapsed, rise, span, self.notes)
        now = pairs.rows(rows)
        common = span.common(now["sample"], now["line"])
        if kind in RATES:
            common |= {name: rise[counter] / elapsed for name, counter in RATES[kind].items()}
            return (devices.spaces if kind == Kind.DATA_SPACE else devices.paging)(now, common)
        common["time"] = span.times[now["sample"] - span.first + 1] / state.SECOND
        if (wrong := devices.above_aliases(rows, pairs)) is not None:
            row, problem = wrong
            raise self._refused(rows, int(pairs.now[row]), f"D6R28, {problem}")
        return devices.supply(rows, pairs, elapsed, span.usual(), common)


def _with_paging_together(tables: MonitorTables) -> MonitorTables:
    """Devices that hold paging space: CP writes blocks of pages to all of them in turn, so their I/Os come together."""
    if not tables.paging.height:
        return tables
    pages = pl.col("page_read_rate") + pl.col("page_write_rate") > 0
    paging = tables.paging.filter(pages)["device"].unique().to_list()
    there = pl.when(pl.col("device").is_in(paging)).then(1.0).otherwise(pl.col("together"))
    return replace(tables, devices=tables.devices.with_columns(there.alias("together")))


def _keys(kind: Kind, rows: Columns) -> Any:
    """What distinguishes the rows of a sample, as something that sorts."""
    first, *others = (rows[name] for name in TABLE_OF[kind][1:])
    if not others:
        return first.astype(first.dtype.newbyteorder("="), copy=False)
    return np.unique(np.rec.fromarrays([first, *others]), return_inverse=True)[1].reshape(-1)


def _who(kind: Kind, rows: Columns, row: int) -> str:
    """How a message names a row."""
    if kind == Kind.DATA_SPACE:
        return str(layouts.text(rows["ASCNAME"][row : row + 1])[0])
    name = rows[TABLE_OF[kind][1]][row]
    return f"pool {name}" if kind == Kind.POOL_ACTIVITY else f"{name:04X}"
