"""Rows of device activity (D6R3) of some samples become rows of the one table, or are named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from planner.errors import ReportError
from planner.reports import schema
from planner.reports.monitor import decide, devices
from planner.reports.monitor.blocks import Integers
from planner.reports.monitor.counters import Pairs
from planner.reports.monitor.notes import Notes
from planner.reports.monitor.pools import counts_of
from planner.reports.monitor.system import Columns, SampleSpan, decimal, hexadecimal
from planner.results import Array

if TYPE_CHECKING:
    import polars as pl

MOST_SAMPLES: Final = 1e4  # 1/s; high-frequency samples are hundredths of a second apart at the least
EXACT: Final = ("io_rate", "alias_rate", "queued")
RECORD: Final = "D6R3"
ONES: Final = np.array([number.bit_count() for number in range(256)], np.uint32)


def prepare(rows: Columns, span: SampleSpan, notes: Notes) -> Columns:
    """Decide which counts of I/Os are used, and leave out rows that contradict themselves."""
    system = span.system
    if system.wide is None:
        some, busy = bool((rows["SCGSSCH"] > 0).any()), bool((rows["SCMSSCH"] > 0).any())
        if busy and not some and system.format_1:
            raise ReportError(
                span.path,
                "D1R4 says that format-1 measurement blocks are in use (CALFLG2 X'80'), and no device has a count "
                "in them (SCGSSCH): expected counts",
            )
        system.wide = some if some or busy else None
    if system.wide:
        return _consistent(rows, span, notes)
    if system.wide is False:
        notes.add(
            f"{system.name or 'the system'} counts I/Os modulo 65,536 (format-0 measurement blocks): more in an "
            "interval cannot be seen"
        )
    devices.widen(rows)
    return rows


def _consistent(rows: Columns, span: SampleSpan, notes: Notes) -> Columns:
    """Leave out and name rows whose 16-bit and 32-bit counts contradict each other; refuse many."""
    wrong = devices.halves_differ(rows)
    if not wrong.any():
        return rows
    if devices.most_differ(wrong, rows):
        row = int(wrong.argmax())
        raise ReportError(
            span.path,
            f"record {rows['line'][row]}: {int(wrong.sum())} of {wrong.size} D6R3 records contradict themselves, "
            f"device {rows['RDEVDEV'][row]:04X} first (SCGSSCH {rows['SCGSSCH'][row]}, SCMSSCH "
            f"{rows['SCMSSCH'][row]}): expected the same lower halves",
        )
    for device in rows["RDEVDEV"][wrong].tolist():
        notes.count(RECORD, "contradict", f"{device:04X}")
    return {name: values[~wrong] for name, values in rows.items()}


def decide_bits(rows: Columns, span: SampleSpan) -> None:
    """Decide which flags mark bases and aliases, by the first sample that has devices and pools."""
    if span.pools is None or span.system.bits is not None:
        return
    sample = int(span.pools["sample"][0])
    here, there = rows["sample"] == sample, span.pools["sample"] == sample
    code = (rows["RDEVSER"] & 0xBFBFBFBF)[here]
    helped = (rows["PAVSSCH"] > 0)[here]
    try:
        span.system.bits = decide.pool_bits(
            rows["RDEVPVFG"][here],
            rows["RDEVHPPL"][here],
            code != 0,
            helped,
            counts_of(span.pools["rows"][there]),
        )
    except decide.UndecidedError as error:
        raise ReportError(
            span.path, f"{error}: expected one bit each; a table of members (--pools) can say it instead"
        ) from None


def without_stopped(rows: Columns, before: Integers, span: SampleSpan, notes: Notes) -> Integers:
    """No difference over a moment at which the measurement of a device was switched off (D6R14)."""
    for device, time in span.system.stops:
        sample = span.first + int(np.searchsorted(span.times[1:], time))
        for row in np.flatnonzero((rows["RDEVDEV"] == device) & (rows["sample"] == sample) & (before >= 0)):
            before[row] = -1
            notes.count(RECORD, "stopped", f"{device:04X}")
    return before


def _unsampled(rows: Columns, pairs: Pairs, notes: Notes) -> None:
    """Say that queues are missing where high-frequency samples were taken and do not look like it."""
    if pairs.rise(rows["HFRDEVCT"]).any() or pairs.rise(rows["HFCTIO"]).any():
        notes.add(
            "neither HFRDEVCT nor HFCTIO of D6R3 rises alike for most devices, as high-frequency samples do: no queues"
        )


def table(rows: Columns, before: Integers, span: SampleSpan, notes: Notes) -> pl.DataFrame | None:
    """Rows of the one table; `before` is the row of the same device one sample before, -1 without one."""
    pairs = Pairs.of(before)
    elapsed = span.elapsed(rows["sample"][pairs.now])
    if not elapsed.size:
        return None
    rise, restarted = devices.rises(rows, pairs, elapsed, wide=span.system.wide is True)
    if restarted.any():
        for row in np.arange(before.size)[pairs.now][restarted].tolist():
            notes.count(RECORD, "restarted", f"{rows['RDEVDEV'][row]:04X}")
            before[row] = -1
        return table(rows, before, span, notes)
    numbers = devices.times_of_ios(rise, elapsed)
    span.system.queue = span.system.queue or devices.queue_fields(rows, pairs)
    if span.system.queue is None:
        _unsampled(rows, pairs, notes)
    else:
        _add_queue(rows, pairs, elapsed, numbers, span.system.queue)
    return _frame(rows, pairs, numbers, span)


def _add_queue(
    rows: Columns, pairs: Pairs, elapsed: Array, numbers: dict[str, Array], fields: tuple[str, str]
) -> None:
    """Mean queue from high-frequency samples, and response time: service + queue / rate of the volume."""
    found, sampled = (pairs.rise(rows[name]) for name in fields)
    usable = (sampled > 0) & (sampled < MOST_SAMPLES * elapsed) & (found < MOST_SAMPLES * 2**16 * elapsed)
    numbers["queued"] = np.divide(found, sampled, out=np.full(elapsed.size, np.nan), where=usable)
    rate = numbers["io_rate"]
    wait = np.divide(numbers["queued"], rate, out=np.full(elapsed.size, np.nan), where=rate > 0)
    numbers["response"] = numbers["service"] + wait


def _frame(rows: Columns, pairs: Pairs, numbers: dict[str, Array], span: SampleSpan) -> pl.DataFrame:
    import polars as pl

    system = span.system
    most = devices.highest(rows["RDEVDEV"][pairs.now])
    if system.static is None or system.static.eckd.size < most:
        system.static = devices.Static.of(system.configuration, most)
    kinds, member = devices.roles(rows, pairs, system.bits, system.static)
    device, pool, sample = (rows[name][pairs.now] for name in ("RDEVDEV", "RDEVHPPL", "sample"))
    index = pl.Series(device, dtype=pl.UInt32)
    code = rows["RDEVSER"][pairs.now].astype(np.uint64) << np.uint64(16) | rows["RDEVSER2"][pairs.now]
    data = span.common(sample, rows["line"][pairs.now]) | {
        "device": hexadecimal(most).gather(index),
        "kind": pl.Series(schema.KINDS, dtype=pl.Enum(schema.KINDS)).gather(
            pl.Series(kinds, dtype=pl.UInt32)
        ),
        "label": devices.words_of(code, system.labels),
        "type": system.static.types.gather(index),
        "alias_of": system.static.alias_of.gather(index),
        "links": rows["RDEVLCNT"][pairs.now],
        "paths": ONES[rows["RDEVLPM"][pairs.now]],
    }
    if member.any():
        place = np.where(member, pool, devices.NUMBERS).astype(np.uint32)
        data |= {
            "pool": decimal().gather(pl.Series(place)),
            "pool_aliases": span.aliases(sample, pool, member),
        }
    resolution = numbers["resolution"]
    parts = {"service": devices.SERVICE, "response": devices.SERVICE}
    for name in schema.DEVICE_NUMBERS:
        if name in numbers:
            data |= _number(name, numbers[name], None if name in EXACT else parts.get(name, 1) * resolution)
    return schema.frame(schema.DEVICES, data, device.size)


def _number(name: str, values: Array, half: Array | None) -> dict[str, Any]:
    """A measured number with its ends, null where it does not exist."""
    import polars as pl

    def series(each: Array) -> pl.Series:
        return pl.Series(each, nan_to_null=True)

    if half is None:
        exact = series(values)
        return {f"{name}{end}": exact for end in schema.ENDS}
    low = np.maximum(values - half, 0.0)
    return {name: series(values), f"{name}_low": series(low), f"{name}_high": series(values + half)}
