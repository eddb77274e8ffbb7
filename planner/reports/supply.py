"""Counters of the monitor from CSV files: of alias pools (record MRIODHPP, domain 6, record 28) and of volumes.

IODHPP_HPPTRIES counts how often an alias was asked for, IODHPP_HPPFAILS how often none was free. IODHPP_HPPMINCT and
IODHPP_HPPMAXCT are the fewest and most free aliases that such a request found since the record before.

Counters have 32 bits and only rise, but start again with the system. One lower than before:

* It wrapped if the step over 2**32 is no longer than `WRAP_SLACK` times its fastest step elsewhere in the file allows
  for the elapsed time (than a hundredth of its range where there is no other step).
* Otherwise all counters of the record started again: each fell or had stood at 0, and the first of them, which counts
  events, has since counted no more than its fastest step elsewhere allows. What it counted before, after the last
  record, is lost; what it shows was counted since.
* Anything else is an error. So is a restart where no other step shows how fast the counter is, and a counter that rises
  faster than `MOST_A_SECOND`: a digit of it is lost.

Volume counters (MRIODDEV) are what each volume did, by its base and all its aliases: the fields IODDEV_SC... of a base
tell what the base device did, IODDEV_PAV... what all aliases did on its behalf; times are in units of 128 microseconds.
Alias devices have records of their own whose I/Os stand in the record of their base already: they are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
import polars as pl

from planner.errors import ReportError
from planner.reports import schema
from planner.reports.csv_table import COUNTER_SIZE, WANTED_TIME, CsvTable, first_true
from planner.reports.membership import BITS, Membership, members_of, with_pools
from planner.reports.moments import clock, read_moment
from planner.reports.volumes import device_series
from planner.results import Array, Flags, Integers, by_key
from planner.units import MONITOR_TIME, MOST_ALIASES

TRIES: Final = "IODHPP_HPPTRIES"
FAILS: Final = "IODHPP_HPPFAILS"
FEWEST: Final = "IODHPP_HPPMINCT"
MOST: Final = "IODHPP_HPPMAXCT"
COLUMNS: Final = ("time", "pool", TRIES, FAILS, FEWEST, MOST, "aliases")
WHAT: Final = "supply counters (MRIODHPP)"
ONE_RECORD: Final = "has one record only; two are needed to see what it counts."
OFTEN: Final = 0.25  # share of intervals with a restart above which the columns cannot be such counters
WRAP_SLACK: Final = 10.0
BLIND_WRAP: Final = COUNTER_SIZE / 100
MOST_A_SECOND: Final = 2e6  # units of 128 microseconds, of 256 aliases that are always busy; events are fewer
USUAL: Final = (0.5, 1.5)  # an interval of a length between these times the usual one is not a gap


Counts = Integers


class Backwards(Exception):  # noqa: N818 - becomes a ReportError where file and line are known
    """A counter that fell without a wrap or a restart: `counter` and `record` by index."""

    def __init__(self, counter: int, record: int, fell: str) -> None:
        wanted = "to rise, to wrap at 2**32, or to start again together with the other counters of the record"
        super().__init__(f"runs backwards, {fell}: expected it {wanted}")
        self.counter, self.record = counter, record


def steps(counters: Counts, elapsed: Array) -> tuple[Counts, Flags]:
    """What counters counted between records, (counters, records - 1), and where they started again.

    >>> counted, restarted = steps(np.array([[4294966000, 4294967000, 704, 20]]), np.full(3, 60.0))
    >>> counted.tolist(), restarted.tolist()
    ([[1000, 1000, 20]], [False, False, True])
    """
    change = np.diff(counters, axis=1)
    fell = change < 0
    forward = ~fell.any(axis=0)
    fastest = (change / elapsed)[:, forward].max(axis=1) if forward.any() else None
    over = change + COUNTER_SIZE
    allowed = BLIND_WRAP if fastest is None else WRAP_SLACK * fastest[:, None] * elapsed
    wrapped = fell & (over <= allowed)
    restarted: Flags = np.asarray((fell & ~wrapped).any(axis=0))
    for step in np.flatnonzero(restarted):
        before, now = counters[:, step], counters[:, step + 1]
        together = bool(((now < before) | (before == 0)).all())
        if fastest is None or not together or now[0] > fastest[0] * elapsed[step]:
            counter = int(np.argmax(fell[:, step]))
            raise Backwards(counter, int(step) + 1, f"from {before[counter]} to {now[counter]}")
    return np.where(restarted, counters[:, 1:], np.where(wrapped, over, change)), restarted


def steps_of(
    table: CsvTable, rows: Integers, names: Sequence[str], counters: Counts, elapsed: Array, hint: str = ""
) -> tuple[Counts, Flags]:
    """What the counters in some columns counted between some rows of a table, as `steps` does."""
    try:
        counted, restarted = steps(counters, elapsed)
    except Backwards as error:
        raise table.error(int(rows[error.record]), names[error.counter], f"{error}{hint}") from None
    for counter, step in np.argwhere(counted > MOST_A_SECOND * elapsed)[:1].tolist():
        found = f"rises by {counted[counter, step]} in {elapsed[step]:g} s"
        problem = f"{found}: expected at most 2,000,000 a second; is a digit lost?"
        raise table.error(int(rows[step + 1]), names[counter], problem)
    return counted, restarted


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSupply:
    """The supply counters of one pool, one element an interval between two records."""

    pool: str  # its name in the file
    start: datetime | None  # what `time` counts from; None where the file has seconds
    time: Array  # end of each interval [s]
    length: Array  # its length [s]
    tries: Counts  # requests for an alias, and those that found none free
    fails: Counts
    fewest: Counts  # fewest and most free aliases that a request found since the record before
    most: Counts
    aliases: Counts  # aliases of the pool at the end of the interval
    in_use: int  # aliases of the pool at its last record
    restarted: Flags  # whether the counters started again in the interval
    plain: Flags  # whether the interval has the usual length
    marked: bool = True  # whether `most` was counted
    borrowed: Counts | None = None  # aliases borrowed from other control units and loaned to them (SuperPAV)
    loaned: Counts | None = None
    notes: tuple[str, ...] = ()  # how the counters were read


def read_counters(table: CsvTable) -> schema.Tables:
    """Read the supply counters of all pools in a table."""
    table.require(COLUMNS, WHAT)
    system = system_of(table)
    times, start = table.times("time")
    tries, fails = table.counts(TRIES), table.counts(FAILS)
    aliases = table.counts("aliases", MOST_ALIASES)
    counts = np.array([tries, fails, table.counts(FEWEST), table.counts(MOST), aliases])
    rows = places(table.words("pool"))
    members = {pool: rows[pool] for pool in sorted(rows, key=by_number)}
    lengths = np.concatenate([np.diff(times[of_pool]) for of_pool in members.values()])
    if not lengths.size:
        problem = "of the only record: expected two records of a pool at least"
        raise table.error(len(table) - 1, "time", problem)
    usual = float(np.median(lengths))
    said = {"system": system, "file": str(table.path)}
    parts = [said | _pool(table, pool, of, times[of], counts[:, of], usual) for pool, of in members.items()]
    supply = schema.join(schema.SUPPLY, [schema.frame(schema.SUPPLY, part) for part in parts])
    begins = (supply["time"] - supply["interval"]).to_numpy()
    supply = supply.with_columns(**clock_after(table, times, start, begins))
    alone = [f"{table.path}: pool {pool} {ONE_RECORD}" for pool, of in members.items() if len(of) == 1]
    return schema.Tables(supply=supply, notes=tuple(alone), what=WHAT)


def system_of(table: CsvTable) -> str | None:
    """Name of the system in a table of counters; counters of several are refused, since they rise each by itself."""
    names = table.texts("system")
    other = next((row for row, name in enumerate(names) if name != names[0]), None)
    if other is not None:
        problem = f"is {names[other]!r}, and {names[0]!r} in line {table.line_numbers[0]}"
        raise table.error(other, "system", f"{problem}: expected counters of one system, a file each")
    return (names[0] if names else "") or None


def places(words: Sequence[str]) -> dict[str, Integers]:
    """Where each word stands."""
    found = by_key((word, place) for place, word in enumerate(words))
    return {word: np.array(each) for word, each in found.items()}


def check_order(table: CsvTable, rows: Integers, times: Array, what: str) -> None:
    """Refuse records of one pool or device that are doubled or out of order."""
    if (k := first_true(np.diff(times) <= 0)) is not None:
        row, line = int(rows[k + 1]), table.line_numbers[int(rows[k])]
        how = "the same as" if times[k + 1] == times[k] else "earlier than"
        found = f"{table.texts('time')[row]} of {what} is {how} in line {line}"
        raise table.error(row, "time", f"{found}: expected records in order of time")


def _pool(
    table: CsvTable, pool: str, rows: Integers, times: Array, counts: Counts, usual: float
) -> dict[str, Any]:
    """Check the records of one pool and take the steps between them."""
    counters, marks, aliases = counts[:2], counts[2:4], counts[4]
    check_order(table, rows, times, f"pool {pool}")
    _check_marks(table, rows, marks, aliases)
    length = np.diff(times)
    (tries, fails), restarted = steps_of(table, rows, (TRIES, FAILS), counters, length)
    restarts = np.flatnonzero(restarted)
    if restarts.size > 1 and restarts.size > OFTEN * length.size:
        problem = f"starts again in {restarts.size} of {length.size} intervals: expected counters that rise"
        raise table.error(int(rows[restarts[0] + 1]), TRIES, problem)
    if (step := first_true(fails > tries)) is not None:
        problem = f"rose by {fails[step]}, {TRIES} by {tries[step]} only: expected no more fails than tries"
        raise table.error(int(rows[step + 1]), FAILS, problem)
    plain = (length > USUAL[0] * usual) & (length < USUAL[1] * usual) & ~restarted
    return {
        "pool": pool, "time": times[1:], "interval": length, "tries": tries, "fails": fails,
        "fewest_free": marks[0, 1:], "most_free": marks[1, 1:], "aliases": aliases[1:], "restarted": restarted,
        "plain": plain & (np.diff(aliases) == 0),
    }  # fmt: skip


def _check_marks(table: CsvTable, rows: Integers, marks: Counts, aliases: Counts) -> None:
    """No request can find more free aliases than there were since the record before."""
    there = np.maximum(aliases, np.concatenate([aliases[:1], aliases[:-1]]))
    for name, mark in zip((FEWEST, MOST), marks, strict=True):
        if (k := first_true(mark > there)) is not None:
            problem = f"{mark[k]} is above the number of aliases: expected at most {there[k]}"
            raise table.error(int(rows[k]), name, problem)


def found_free(aliases: pl.Expr) -> pl.Expr:
    """Fewest free aliases that a request found, from the most in use at once: one that was served is among these."""
    used, lent = pl.col("most_used").cast(pl.Int64), pl.col("borrowed").fill_null(0.0)
    served = (used > 0) & (pl.col("fails") == 0) & (lent == 0.0)
    return (aliases.cast(pl.Int64) - used + served.cast(pl.Int64)).clip(0).cast(pl.UInt32)


def by_number(pool: str) -> tuple[bool, int, str]:
    """Order of names: numbers first, by their size."""
    number = pool.isascii() and pool.isdigit() and len(pool) <= 18  # noqa: PLR2004 - what is longer is a word
    return not number, int(pool) if number else 0, pool


def clock_after(
    table: CsvTable, times: Array, start: datetime | None, seconds: Array
) -> dict[str, pl.Series]:
    """Starts of intervals, `seconds` after `start`, by the clock then (of the records at `times`); null without one."""
    if start is None:
        return {}
    offset = table.mapped("time", lambda cell: clock([read_moment(cell)])[1][0], WANTED_TIME, pl.Int32)
    order = np.argsort(times, kind="stable")
    there = offset.gather(order[np.maximum(np.searchsorted(times[order], seconds, "right") - 1, 0)])
    forward = (there - offset[0]).fill_null(0).to_numpy()
    moments = np.datetime64(start.replace(tzinfo=None), "us")
    moments = moments + np.round((seconds + forward) * 1e6).astype("timedelta64[us]")
    return {"start": pl.Series(moments, dtype=pl.Datetime("us")), "utc_offset": there}


# What each volume did.


BASE_FIELDS: Final = ("IODDEV_SCGSSCH", "IODDEV_SCMFPTIM", "IODDEV_SCMCNTIM", "IODDEV_SCMDDTIM")
ALIAS_FIELDS: Final = ("IODDEV_PAVSSCH", "IODDEV_PAVFPTIM", "IODDEV_PAVCNTIM", "IODDEV_PAVDDTIM")
VOLUME_COLUMNS: Final = ("time", "device", *BASE_FIELDS, *ALIAS_FIELDS)
VOLUME_COUNTERS: Final = "volume counters (MRIODDEV)"
INTERVAL: Final = "interval_s"
SAY_DELTAS: Final = "; where each row holds what was counted since the row before, say `deltas`"
QUEUES: Final = ("queue", "queued", "qued", "base_queue", "req_qued")


def read_volume_counters(
    table: CsvTable, membership: Membership | None, *, deltas: bool | None
) -> schema.Tables:
    """Read volume counters interval by interval; devices that are aliases are left out."""
    table.require(VOLUME_COLUMNS, VOLUME_COUNTERS)
    system = system_of(table)
    table.words("device")  # none is empty
    members = dict(sorted(places(device_series(table).to_list()).items()))
    times, start = table.times("time")
    counters = np.array([table.counts(name) for name in (*BASE_FIELDS, *ALIAS_FIELDS)])
    queue = _queue_column(table)
    lengths = table.numbers(INTERVAL) if table.has(INTERVAL) else None
    for device, of_device in members.items():
        check_order(table, of_device, times[of_device], f"device {device}")
    notes = []
    as_deltas = lengths is not None if deltas is None else deltas
    if deltas is None and lengths is None and _look_like_deltas(counters, times, list(members.values())):
        as_deltas = True
        taken = "rows are read as counted since the row before"
        notes.append(f"The I/Os fall too often for counters that rise: {taken}.")
    parts = {
        device: _count(table, device, of_device, times, counters, lengths, deltas=as_deltas)
        for device, of_device in members.items()
    }
    if not any(counted.any() for counted, *_ in parts.values()):
        problem = "no device counted anything: expected counters that rise"
        raise ReportError(table.path, problem + ("" if as_deltas else SAY_DELTAS), line=1, column=1)
    if as_deltas and lengths is None:
        notes.append("The first row of each device only starts the clock.")
    if membership is None and all(map(table.has, BITS)):
        membership = Membership(table.path, members_of(table))
    did = {device: counted[[0, 4]].sum(axis=1) for device, (counted, *_) in parts.items()}
    aliases, known_by = _alias_devices(did, membership)
    each_counted, each_seconds, each_rows, each_restarts = zip(*parts.values(), strict=True)
    if restarts := sum(each_restarts):
        notes.append(f"{restarts} intervals in which counters started again are left out.")
    names = np.repeat(list(parts), [each.size for each in each_rows])
    kept = ~np.isin(names, aliases)
    seconds, rows = np.concatenate(each_seconds)[kept], np.concatenate(each_rows)[kept]
    ends = times[rows]
    data: dict[str, Any] = {
        "device": names[kept].tolist(), "kind": schema.VOLUME, "interval": seconds, "file": str(table.path),
        "system": system, "line": table.line_numbers[rows],
        "source": None if start else [f"until {end:.10g} s" for end in ends.tolist()],
        **clock_after(table, times, start, ends - seconds),
    }  # fmt: skip
    queued = None if queue is None else table.numbers(queue)[rows]
    for name, values in numbers_of(np.concatenate(each_counted, axis=1)[:, kept], seconds, queued).items():
        data |= schema.exact(name, values)
    frame = with_pools(schema.frame(schema.DEVICES, data, rows.size), membership)
    return schema.Tables(devices=frame, notes=(*known_by, *notes), what=VOLUME_COUNTERS)


def _queue_column(table: CsvTable) -> str | None:
    """Name of the column that holds the queue."""
    found = [name for name in QUEUES if table.has(name)]
    if len(found) > 1:
        raise table.error(0, found[1], f"and {found[0]} both look like the queue: expected one of them")
    return found[0] if found else None


def _look_like_deltas(counters: Counts, times: Array, members: Sequence[Integers]) -> bool:
    """Whether the counters would start again, or run backwards, so often that they cannot be such that rise."""
    restarts, taken = 0, 0
    for rows in members:
        taken += rows.size - 1
        try:
            restarts += int(steps(counters[:, rows], np.diff(times[rows]))[1].sum())
        except Backwards:
            restarts += int((np.diff(counters[0, rows]) < 0).sum())
    return restarts > 1 and restarts > OFTEN * taken


def _count(
    table: CsvTable,
    device: str,
    rows: Integers,
    times: Array,
    counters: Counts,
    lengths: Array | None,
    *,
    deltas: bool,
) -> tuple[Array, Array, Integers, int]:
    """What one device counted in its intervals, their lengths, the rows that close them, and how many restarted."""
    counted, restarts = counters[:, rows], 0
    use = np.ones(rows.size, dtype=bool)
    if deltas and lengths is not None:
        seconds = lengths[rows]
    elif rows.size > 1:
        seconds = np.diff(times[rows], prepend=times[rows[0]])
        use[0] = False
    else:
        wanted = f"expected two, or a column {INTERVAL} that says what time the row counts"
        raise table.error(int(rows[0]), "device", f"{device} has one record only: {wanted}")
    if not deltas:
        names = *BASE_FIELDS, *ALIAS_FIELDS
        steps_between, restarted = steps_of(table, rows, names, counted, seconds[1:], SAY_DELTAS)
        counted = np.insert(steps_between, 0, 0, axis=1)
        use[1:], restarts = ~restarted, int(restarted.sum())
    elif not (seconds[use] > 0).all():
        raise table.error(int(rows[use][np.argmin(seconds[use])]), INTERVAL, "is 0: expected a time above 0")
    if not use.any():
        raise table.error(int(rows[0]), "device", f"{device} started again between its only records")
    found = counted[:, use].astype(np.float64)
    found[[1, 2, 3, 5, 6, 7]] *= MONITOR_TIME
    return found, seconds[use], rows[use], restarts


def _alias_devices(did: Mapping[str, Array], membership: Membership | None) -> tuple[list[str], list[str]]:
    """Devices that are aliases, as members or the I/Os of each and of its aliases say; notes on how that is known."""
    if membership is not None:
        roles = membership.members
        outside = [device for device in did if device not in roles]
        notes = [f"In no pool: {', '.join(outside)}."] if outside else []
        return [device for device in did if device in roles and roles[device].role == "alias"], notes
    idle = [device for device, (own, by_aliases) in did.items() if own > 0 and not by_aliases]
    alone, of_bases = sum(did[device][0] for device in idle), sum(each for _, each in did.values())
    if not (idle and of_bases):
        return [], []
    if alone == of_bases:
        same = "did just what the bases say of their aliases"
        return idle, [f"{', '.join(idle)} {same}: left out as aliases."]
    shown = "those in the file are shown like volumes; name them by --pools"
    return [], [f"Nothing says which devices are aliases: {shown}."]


def numbers_of(counted: Array, seconds: Array, queued: Array | None) -> dict[str, Array]:
    """Rates [1/s] and mean times of an I/O [s] from what was counted, shape (8, intervals); nan without I/O."""
    ios, times = counted[0] + counted[4], counted[1:4] + counted[5:8]
    some = np.where(ios > 0, ios, np.nan)
    pend, connect, disconnect = times / some
    found = {
        "io_rate": ios / seconds, "alias_rate": counted[4] / seconds, "pend": pend, "connect": connect,
        "disconnect": disconnect, "service": times.sum(axis=0) / some,
    }  # fmt: skip
    if queued is not None:
        found |= {"queued": queued, "response": found["service"] + queued / (some / seconds)}
    return found
