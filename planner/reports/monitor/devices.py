"""Monitor records as tables: device activity (D6R3), pools (D6R28), data spaces (D3R14), paging (D3R4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from planner.errors import ReportError
from planner.quantity import Quantity
from planner.reports import schema
from planner.reports.monitor import layouts, state
from planner.reports.monitor.layouts import EBCDIC, Kind, Words, text
from planner.reports.monitor.state import Columns, Notes, Pairs, SampleSpan, Static
from planner.reports.supply import USUAL
from planner.results import Array, Flags, Integers
from planner.units import MONITOR_TIME

BASE_EVENTS: Final = ("SCGSSCH", "SCGCOUNT")
BASE_TIMES: Final = ("SCMFPTIM", "SCMCNTIM", "SCMDDTIM", "SCMDATIM", "SCMCQTIM")
ALIAS_EVENTS: Final = ("PAVSSCH", "PAVCOUNT")
ALIAS_TIMES: Final = ("PAVFPTIM", "PAVCNTIM", "PAVDDTIM", "PAVDATIM", "PAVCQTIM")
MOST_A_SECOND: Final = {  # by how much a counter may rise: devices busy at once, with slack for one long I/O
    **dict.fromkeys(BASE_EVENTS + ALIAS_EVENTS, state.MOST_EVENTS),
    **dict.fromkeys(BASE_TIMES, 2.0 / MONITOR_TIME),
    **dict.fromkeys(ALIAS_TIMES, 256.0 / MONITOR_TIME),
}
PARTS: Final = ("pend", "connect", "disconnect", "active", "cu_wait")
Rows = dict[str, Words]
EXACT: Final = ("io_rate", "alias_rate", "queued")
ONES: Final = np.array([number.bit_count() for number in range(256)], np.uint32)


def rises(
    rows: Any, pairs: Pairs, elapsed: Array, most: Mapping[str, float], narrow: Collection[str] = ()
) -> tuple[dict[str, Words], Flags]:
    """Rise of counters by at `most` so much a second, and the rows where some started again: fell without a wrap."""
    found: dict[str, Words] = {}
    restarted = np.zeros(elapsed.size, bool)
    for name, fastest in most.items():
        found[name], restarts = pairs.counted(rows[name].astype(np.uint32, copy=False), fastest * elapsed)
        if name in narrow:  # 16 bits, in the upper half, may wrap in any interval
            found[name] = np.right_shift(found[name], 16, dtype=np.uint32)
        else:
            restarted |= restarts
    return found, restarted


def queue_fields(rows: Rows, pairs: Pairs, most: float = 0.5) -> tuple[str, str] | None:
    """Which of two fields counts the I/Os found and which the samples, alike for most devices; None where none is."""
    sample = rows["sample"][pairs.now]
    newest = sample == sample[-1]
    for found, sampled in (("HFCTIO", "HFRDEVCT"), ("HFRDEVCT", "HFCTIO")):
        rise = pairs.rise(rows[sampled])[newest]
        if np.median(rise) > 0 and (rise == np.median(rise)).mean() >= most:
            return found, sampled
    return None


def times_of_ios(rise: Mapping[str, Words], elapsed: Array) -> dict[str, Array]:
    """Rates and mean times of an I/O [s], NaN without one, and `resolution` of each time by the unit of counters."""
    rates, weights = [], []
    measured = np.zeros(elapsed.size)
    for ssch, count in (BASE_EVENTS, ALIAS_EVENTS):
        rate = rise[ssch] / elapsed
        events = rise[count].astype(float)
        some = events > 0
        weights.append(np.divide(rate, events, out=np.zeros_like(rate), where=some))
        measured += np.where(some, rate, 0.0)
        rates.append(rate)
    unit = np.divide(MONITOR_TIME, measured, out=np.full_like(measured, np.nan), where=measured > 0)
    by_base, by_alias = weights[0] * unit, weights[1] * unit
    found = {"io_rate": rates[0] + rates[1], "alias_rate": rates[1], "resolution": by_base + by_alias}
    for part, base, alias in zip(PARTS, BASE_TIMES, ALIAS_TIMES, strict=True):
        found[part] = by_base * rise[base] + by_alias * rise[alias]
    found["service"] = found["pend"] + found["connect"] + found["disconnect"] + found["active"]
    return found


def roles(rows: Rows, pairs: Pairs, bits: layouts.PoolBits | None, static: Static) -> tuple[Integers, Flags]:
    """What each row is, as an index into `schema.KINDS`, and whether it belongs to a HyperPAV pool."""
    device = rows["RDEVDEV"][pairs.now]
    flags = rows["RDEVPVFG"][pairs.now]
    blank = (rows["RDEVSER"][pairs.now] & 0xBFBFBFBF) == 0  # X'40' is a blank, X'00' nothing
    plain = np.where(static.known[device], static.eckd[device], ~blank & (rows["EDEVTYPE"][pairs.now] == 0))
    index = {name: schema.KINDS.index(name) for name in schema.KINDS}
    found = np.where(plain, index[schema.VOLUME], index[schema.OTHER])
    found[plain & static.helped[device]] = index[schema.BASE]
    found[static.alias[device]] = index[schema.CLASSIC_ALIAS]
    if bits is None:
        return found, np.zeros(found.size, bool)
    base, alias = (flags & bits.base) != 0, (flags & bits.alias) != 0
    found[base], found[alias] = index[schema.VOLUME], index[schema.ALIAS]
    return found, base | alias


def words_of(codes: NDArray[np.uint64], known: dict[int, str | None]) -> pl.Series:
    """Volume labels from six EBCDIC characters each, packed in a number; null where blank. `known` is filled."""
    series = pl.Series(codes)
    different = series.unique().to_list()
    for code in different:
        if code not in known:
            known[code] = code.to_bytes(6, "big").decode(EBCDIC).replace("\0", " ").strip() or None
    return series.replace_strict(different, [known[code] for code in different], return_dtype=pl.String)


def prepare(rows: Columns, span: SampleSpan, notes: Notes) -> Columns:
    """Decide which counts of I/Os are used, and leave out rows that contradict themselves."""
    system = span.system
    if system.wide is None:
        some, busy = bool((rows["SCGSSCH"] > 0).any()), bool((rows["SCMSSCH"] > 0).any())
        if busy and not some and system.format_1:
            problem = "D1R4 says that format-1 measurement blocks are in use (CALFLG2 X'80'), and no device has a count"
            raise ReportError(span.path, f"{problem} in them (SCGSSCH): expected counts")
        system.wide = some if some or busy else None
    if system.wide:
        return _consistent(rows, span, notes)
    if system.wide is False:
        notes.add(
            f"{system.name or 'the system'} counts I/Os modulo 65,536 (format-0 measurement blocks): more in an "
            "interval cannot be seen"
        )
    # In the upper half of 32 bits, counts of 16 bits wrap at the same place.
    for narrow, wide in (("SCMSSCH", "SCGSSCH"), ("SCMCOUNT", "SCGCOUNT")):
        rows[wide] = np.left_shift(rows[narrow], 16, dtype=np.uint32)
    return rows


def _consistent(rows: Columns, span: SampleSpan, notes: Notes) -> Columns:
    """Leave out and name rows whose 16-bit and 32-bit counts contradict each other; refuse many."""
    wrong = (rows["SCGSSCH"] & 0xFFFF) != rows["SCMSSCH"]
    wrong |= (rows["SCGCOUNT"] & 0xFFFF) != rows["SCMCOUNT"]
    if not wrong.any():
        return rows
    if int(wrong.sum()) > (1 - layouts.NEARLY_ALL) * max(int((rows["SCMSSCH"] > 0).sum()), 1):
        first = wrong.argmax()
        line, device, wide, narrow = (rows[name][first] for name in ("line", "RDEVDEV", "SCGSSCH", "SCMSSCH"))
        problem = f"record {line}: {int(wrong.sum())} of {wrong.size} D6R3 records contradict themselves"
        counts = f"device {device:04X} first (SCGSSCH {wide}, SCMSSCH {narrow})"
        raise ReportError(span.path, f"{problem}, {counts}: expected the same lower halves")
    for device in rows["RDEVDEV"][wrong].tolist():
        notes.count(Kind.ACTIVITY.words, "contradict", f"{device:04X}")
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
        flags, pools = rows["RDEVPVFG"][here], rows["RDEVHPPL"][here]
        counts = counts_of({name: values[there] for name, values in span.pools.items()})
        span.system.bits = layouts.pool_bits(flags, pools, code != 0, helped, counts)
    except layouts.UndecidedError as error:
        wanted = "expected one bit each; `members` can say it instead"
        raise ReportError(span.path, f"{error}: {wanted}") from None


def without_stopped(rows: Columns, before: Integers, span: SampleSpan, notes: Notes) -> Integers:
    """No difference over a moment at which the measurement of a device was switched off (D6R14)."""
    for device, time in span.system.stops:
        sample = span.first + int(np.searchsorted(span.times[1:], time))
        for row in np.flatnonzero((rows["RDEVDEV"] == device) & (rows["sample"] == sample) & (before >= 0)):
            before[row] = -1
            notes.count(Kind.ACTIVITY.words, "stopped", f"{device:04X}")
    return before


def table(
    rows: Columns, pairs: Pairs, elapsed: Array, rise: Mapping[str, Words], span: SampleSpan, notes: Notes
) -> pl.DataFrame:
    """Rows of the one table, from the rise of every counter."""
    numbers = times_of_ios(rise, elapsed)
    span.system.queue = span.system.queue or queue_fields(rows, pairs)
    if span.system.queue is not None:
        _add_queue(rows, pairs, elapsed, numbers, span.system.queue)
    elif pairs.rise(rows["HFRDEVCT"]).any() or pairs.rise(rows["HFCTIO"]).any():
        unlike = "rises alike for most devices, as high-frequency samples do"
        notes.add(f"neither HFRDEVCT nor HFCTIO of D6R3 {unlike}: no queues")
    return _frame(rows, pairs, numbers, span)


def _add_queue(
    rows: Columns, pairs: Pairs, elapsed: Array, numbers: dict[str, Array], fields: tuple[str, str], most: float = 1e4
) -> None:  # fmt: skip
    """Mean queue from samples, at most `most` a second, and response time: service + queue / rate of the volume."""
    found, sampled = (pairs.rise(rows[name]) for name in fields)
    usable = (sampled > 0) & (sampled < most * elapsed) & (found < most * 2**16 * elapsed)
    numbers["queued"] = np.divide(found, sampled, out=np.full(elapsed.size, np.nan), where=usable)
    rate = numbers["io_rate"]
    wait = np.divide(numbers["queued"], rate, out=np.full(elapsed.size, np.nan), where=rate > 0)
    numbers["response"] = numbers["service"] + wait
    numbers["queue_samples"] = np.where(usable, sampled, np.nan)


def _frame(rows: Columns, pairs: Pairs, numbers: dict[str, Array], span: SampleSpan) -> pl.DataFrame:
    system = span.system
    most = state.highest(rows["RDEVDEV"][pairs.now])
    if system.static is None or system.static.eckd.size < most:
        system.static = Static.of(system.configuration, most)
    kinds, member = roles(rows, pairs, system.bits, system.static)
    device, pool, sample = (rows[name][pairs.now] for name in ("RDEVDEV", "RDEVHPPL", "sample"))
    index, kind = pl.Series(device, dtype=pl.UInt32), pl.Series(schema.KINDS, dtype=pl.Enum(schema.KINDS))
    code = rows["RDEVSER"][pairs.now].astype(np.uint64) << np.uint64(16) | rows["RDEVSER2"][pairs.now]
    data = span.common(sample, rows["line"][pairs.now]) | {
        "device": state.hexadecimal(most).gather(index),
        "kind": kind.gather(pl.Series(kinds, dtype=pl.UInt32)),
        "label": words_of(code, system.labels),
        "queue_samples": numbers.get("queue_samples"),
        "type": system.static.types.gather(index),
        "alias_of": system.static.alias_of.gather(index),
        "links": rows["RDEVLCNT"][pairs.now],
        "paths": ONES[rows["RDEVLPM"][pairs.now]],
    }
    if member.any():
        names = pl.Series(pool).cast(pl.String).set(pl.Series(~member), None)
        data |= {"pool": names, "pool_aliases": span.aliases(sample, pool, member)}
    resolution = numbers["resolution"]
    parts = {"service": 4, "response": 4}  # that a time consists of
    for name in schema.DEVICE_NUMBERS:
        if name in numbers:
            halves = 0.0 if name in EXACT else parts.get(name, 1) * resolution
            data |= schema.within(name, numbers[name], halves)
    return schema.frame(schema.DEVICES, data, device.size)


COUNTED: Final = {"tries": "HPPTRIES", "fails": "HPPFAILS"}
MARKS: Final = {"fewest_free": "HPPMINCT", "most_free": "HPPMAXCT"}
SPACE_RATES: Final = {
    "steal_rate": "ASCCSPST", "read_rate": "ASCCSPGR", "write_rate": "ASCCSPGW", "expanded_read_rate": "ASCCSXRD",
    "expanded_write_rate": "ASCCSXWT", "migration_rate": "ASCCSMIG",
}  # fmt: skip
SPACE_PAGES: Final = {
    "resident": "ASCCTPRS",
    "locked": "ASCCTPLK",
    "expanded": "ASCCTXBK",
    "dasd": "ASCCTPGS",
}
PAGING_RATES: Final = {"page_read_rate": "EXPCTPRD", "page_write_rate": "EXPCTPWR"}
PAGING: Final = (
    *schema.WHEN,
    Quantity("device", "device number, four hexadecimal digits", dtype="String"),
    *(Quantity(name, "pages of page space", "1/s") for name in PAGING_RATES),
    *schema.WHERE,
)


def above_aliases(rows: Columns, pairs: Pairs) -> tuple[int, str] | None:
    """Row and words of a water mark above the aliases that there were since the record before, where any were tried."""
    now = pairs.rows(rows)
    there = np.maximum(now["HPPNALIS"], rows["HPPNALIS"][pairs.before])
    tried = pairs.rise(rows["HPPTRIES"]) != 0
    for name in MARKS.values():
        above = np.flatnonzero(tried & (now[name] > there))
        if above.size:
            row = int(above[0])
            pool, mark = now["HPPOOLNM"][row], now[name][row]
            return row, f"{name} of pool {pool} is {mark}: expected at most its {there[row]} aliases"
    return None


def supply(rows: Columns, pairs: Pairs, elapsed: Array, usual: float, common: dict[str, Any]) -> pl.DataFrame:
    """Rows of the table of pools; counters that started again count since then."""
    now = pairs.rows(rows)
    rise, fell = rises(rows, pairs, elapsed, dict.fromkeys(COUNTED.values(), state.MOST_EVENTS))
    same = pairs.rise(rows["HPPNALIS"]) == 0
    plain = (elapsed > USUAL[0] * usual) & (elapsed < USUAL[1] * usual) & ~fell & same
    data = common | {
        "pool": pl.Series(now["HPPOOLNM"].astype(np.uint32)).cast(pl.String),
        **{name: np.where(fell, now[field], rise[field]).astype(np.int64) for name, field in COUNTED.items()},
        **{name: _known(now[field], now["HPPNALIS"]) for name, field in MARKS.items()},
        "aliases": now["HPPNALIS"].astype(np.int64),
        "bases": now["HPPNBASE"].astype(np.int64),
        "restarted": fell,
        "plain": plain,
    }
    return schema.frame(schema.SUPPLY, data, elapsed.size)


def _known(marks: Words, aliases: Words) -> pl.Series:
    """Water marks; null where nothing was tried and the field holds what it began with, more than there are."""
    return pl.Series(marks.astype(np.int64)).set(pl.Series(marks > aliases), None)


def counts_of(rows: Columns) -> dict[int, Integers]:
    """Bases and aliases of each pool."""
    columns = (rows[name].tolist() for name in ("HPPOOLNM", "HPPNBASE", "HPPNALIS"))
    return {pool: np.array(both, np.int64) for pool, *both in zip(*columns, strict=True)}


def spaces(now: Columns, common: dict[str, Any]) -> pl.DataFrame:
    """Rows of the table of data spaces. The size of a space is left out: its unit is not documented."""
    common |= {name: now[counter].astype(float) for name, counter in SPACE_PAGES.items()}
    for name in (*SPACE_RATES, *SPACE_PAGES):
        common |= schema.exact(name, common[name])
    common |= {
        "owner": text(now["ASCUSRID"]),
        "name": text(now["ASCNAME"]),
        "users": now["ASCCTSPI"].astype(np.int64),
    }
    return schema.frame(schema.STORAGE, common, now["line"].size)


def paging(now: Columns, common: dict[str, Any]) -> pl.DataFrame:
    """Rows of paging volumes: to whom pages go, so whose I/Os come together."""
    devices = [f"{number:04X}" for number in now["RDEVDEV"].tolist()]
    return schema.frame(PAGING, common | {"device": devices}, len(devices))
