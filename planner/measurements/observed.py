"""The run of devices whose rows belong together: rate, service time and queue, each with its ends."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from planner.errors import InputError
from planner.interval import Interval
from planner.measurements import ends
from planner.measurements.rows import Rows
from planner.measurements.run import Run, joined_note
from planner.render.text import counted, sentence_case
from planner.reports.schema import DEVICE_NUMBERS, LEAST, PARTS, VOLUME, at_least
from planner.results import Array, Integers
from planner.units import ADDRESSES, MILLISECOND

EQUAL: Final = "Volumes are taken as equal: a listing does not say for which volume an alias worked."
OWN_RESPONSE: Final = (
    "With aliases in use, response is service + queue / I/O rate of the volume; the Resp that the listing prints "
    "divides by the rate of the base alone."
)


def run_of(rows: Rows, name: str, *, pool: bool, aliases: int, idle: int = 0) -> Run:
    """The run of volumes whose rows count the I/Os of their aliases as well."""
    _rate(rows)
    share, wait = _behind(rows)
    run = partial(
        Run, name=name, pool=pool, aliases=aliases, volumes=tuple(rows.names),
        io_rate=rows.column("rate", lambda whole: _widened(whole, whole.numbers["io_rate"])),
        idle=idle, together=rows.together, path_share=share, cu_wait=wait, source=rows.source, start=rows.start,
    )  # fmt: skip
    if rows.column("service not measured", _service_missing).max() == 1:
        made = partial(_at_three, aliases=aliases, shared=_left_by_others(rows, aliases) if pool else aliases)
        three = made(rows) if pool else rows.column(f"service with {aliases} aliases", made)
        return _bracketed(rows, three, partial(run, notes=_notes(rows, idle)))
    _service(rows)
    in_use = aliases > 0
    asked = partial(_asked, in_use=in_use)
    wrong = rows.column(f"contradicts {in_use}", lambda whole: ends.contradicts(*asked(whole)))
    for k in wrong.nonzero()[0]:
        queued, rate, service, response = (each[k] for each in asked(rows))
        ends.check_response(queued, rate, service, response, of=f" of {rows.names[k]}")
    queue = rows.column(f"queue {in_use}", lambda whole: _widened(whole, ends.queue_of(*asked(whole))))
    missing = np.isinf(queue.high).nonzero()[0]
    if missing.size and missing.size < len(rows):
        problem = "expected queued or response_ms, the mean queue of each volume"
        raise rows.error(missing[0], f"{rows.names[missing[0]]}: {problem}")
    shown_queue = rows.numbers["queued"].value
    found = run(
        service=rows.column("service time", lambda whole: _widened(whole, _printed(whole))), queued=queue,
        queue_shown=np.asarray(np.where(np.isnan(shown_queue), queue.value, shown_queue)),
        notes=_notes(rows, idle),
    )  # fmt: skip
    return ends.without_queue(found) if missing.size else ends.sampled(found, rows.queue_samples)


def from_numbers(
    *,
    io_rate: Interval,
    service: Interval | None = None,
    response: Interval | None = None,
    queued: Interval | None = None,
    volumes: int = 1,
    aliases: int = 0,
    pool: bool = False,
    least: float = 0.0,
) -> Run:
    """Assemble a run from numbers of one volume.

    Parameters
    ----------
    io_rate : Interval
        Of one volume [1/s].
    service : Interval, optional
        Mean service time [s]; what response and queue leave of it (`rest_of_response`) where None.
    response : Interval, optional
        Mean response time [s].
    queued : Interval, optional
        Mean queue of one volume [I/Os]; from the response by Little's law where None.
    volumes : int, optional
        Equal volumes.
    aliases : int, optional
        Aliases in use, of the pool or the volume.
    pool : bool, optional
        Whether the aliases are shared.
    least : float, optional
        Relative error that rate, service and queue have together at least [1].

    Returns
    -------
    Run
        Equal volumes.

    Raises
    ------
    InputError
        Too many volumes, a rate or service time of no device, or a response that contradicts service, wait or queue.
    """
    if volumes + aliases > ADDRESSES:
        wanted = f"at most {ADDRESSES} addresses with {aliases} aliases, one logical control unit"
        raise InputError("volumes", volumes, wanted)
    for argument, name, given in (("rate", "io_rate", io_rate), ("service", "service", service)):
        if given is not None and given.value < LEAST[name]:
            raise InputError(argument, float(given.value), at_least(name), DEVICE_NUMBERS[name][0])
    waiting, answered = queued or ends.UNKNOWN, response or ends.UNKNOWN

    error = _left_open(service or ends.UNKNOWN, least)

    def all_of(interval: Interval, open_by: ArrayLike = 0.0) -> Interval:
        return Interval(*(np.full(volumes, end) for end in _at_least(interval, open_by)))

    def at(served: Interval, assumed: str = "") -> Run:
        queue = ends.queue_of(waiting, io_rate, served, answered)
        found = Run(
            name=f"pool of {volumes} volume{'s' if volumes > 1 else ''}" if pool else "volume",
            pool=pool,
            aliases=aliases,
            volumes=tuple(f"volume {k + 1}" for k in range(volumes)) if volumes > 1 else ("volume",),
            io_rate=all_of(io_rate, error),
            service=all_of(served, error),
            queued=all_of(queue, error),
            queue_shown=all_of(queued or queue).value,
            assumed=assumed,
        )
        return found if found.queue_known else ends.without_queue(found)

    if service is not None:
        ends.check_response(waiting, io_rate, service, answered)
        return at(service)
    measured = all_of(answered), all_of(waiting), all_of(io_rate)
    rest = ends.rest_of_response(*measured)
    ends.check_rest(rest, *measured)
    times = [Interval(end, end, end) for end in rest]
    return ends.at_both_ends(rest, measured[-1].value, lambda k, words: at(times[k], words))


def _service_missing(rows: Rows) -> Integers:
    """0 where a service time was measured, 1 where a response was instead, 2 where neither, or a listing prints it."""
    missing = np.isnan(rows.numbers["service"].value)
    unanswered = np.isnan(rows.numbers["response"].value) | ~rows.of_kind(VOLUME)
    return np.where(missing & unanswered, 2, 1 * missing)


def _left_by_others(rows: Rows, aliases: int) -> Array:
    """Aliases of a pool that other volumes leave to each: all but their mean number in use and a deviation."""
    numbers = rows.numbers
    present = rows.filled("io_rate") * rows.filled("response")
    beyond = present - np.fmin(numbers["utilization"].high, -np.expm1(-present))
    others = np.maximum(beyond.sum() - beyond, 0.0)
    return np.asarray(np.maximum(aliases - others - np.sqrt(others), aliases / len(rows)))


def _at_three(rows: Rows, *, aliases: float, shared: ArrayLike) -> Array:
    """Service time [s] and queue of each row, with their ends, at both ends and the value of the service time.

    Shape (rows, low, value or high, service or queue, low, value or high); without a meaning where there is no I/O.
    """
    numbers, rate = rows.numbers, _widened(rows, rows.numbers["io_rate"])
    found = []
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        bracket = _by_others(rows, aliases, shared)
        for end in bracket.where(np.isnan(numbers["service"].value), _printed_service(rows)):
            service = _widened(rows, Interval(end, end, end))
            queue = _widened(rows, ends.queue_of(numbers["queued"], rate, service, numbers["response"]))
            found.append([[*service], [*queue]])
    return np.moveaxis(np.array(found), -1, 0)


def service_times(rows: Rows) -> Interval:
    """Service time of each volume with its own aliases [s]: measured, or by other figures; nan where none says it."""
    numbers, aliases = rows.numbers, np.nan_to_num(rows.pool_aliases)
    missing = np.isnan(numbers["service"].value) & (rows.filled("io_rate") > 0) & rows.of_kind(VOLUME)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = _by_others(rows, aliases, aliases)
        # Without a response: one device alone is busy while an I/O is under way.
        by_use = numbers["utilization"] / numbers["io_rate"].value
    _check_rest(rows, found.where(missing, np.nan))
    found = found.where(~np.isnan(found.value) | (aliases > 0), by_use)
    return found.where(missing, numbers["service"])


def _by_others(rows: Rows, aliases: ArrayLike, shared: ArrayLike) -> Interval:
    """Service times by rate, response, utilization and queue; without a meaning where there is no I/O."""
    numbers = rows.numbers
    measured = (numbers[name] for name in ("io_rate", "response", "utilization"))
    found = ends.service_bracket(*measured, aliases=aliases, shared=shared)
    with_queue = (numbers["io_rate"].value > 0) & np.isfinite(numbers["queued"].value)
    answered = numbers["response"].where(with_queue, np.nan)
    return ends.rest_of_response(answered, numbers["queued"], numbers["io_rate"]).where(with_queue, found)


def _check_rest(rows: Rows, found: Interval) -> None:
    """`check_rest` of what `_by_others` found."""
    numbers = rows.numbers
    ends.check_rest(found, numbers["response"], numbers["queued"], numbers["io_rate"], rows.names)


def _bracketed(rows: Rows, three: Array, run: Callable[..., Run]) -> Run:
    """Volumes whose service times were not all measured, by `_at_three`: at the value, and at both ends."""
    each = [[Interval(*low_to_high) for low_to_high in pair] for pair in three.transpose(1, 2, 3, 0)]
    bracket = Interval(*(service.value for service, _ in each))
    missing = rows.column("service not measured", _service_missing) > 0
    _check_rest(rows, bracket.where(missing, np.nan))

    def at(k: int, words: str) -> Run:
        service, queue = each[k]
        return run(service=service, queued=queue, queue_shown=queue.value, assumed=words)

    return ends.at_both_ends(bracket, rows.numbers["io_rate"].value, at)


def _asked(rows: Rows, *, in_use: bool) -> tuple[Interval, Interval, Interval, Interval]:
    """Queue, rate, service and response of each row; nan for what was not measured."""
    numbers = rows.numbers
    response = numbers["response"]
    if in_use:  # that of a base divides by its own rate alone
        response = response.where(rows.of_kind(VOLUME), np.nan)
    return numbers["queued"], numbers["io_rate"], _printed(rows), response


def run_of_shared(rows: Rows, name: str, *, bases: int, pool: bool, idle: int = 0, absent: int = 0) -> Run:
    """Bases, the first rows, with the aliases that worked for them: the mean of all, since aliases are shared."""
    rate, service = _rate(rows), _service(rows)
    total = rate.sum()
    aliases = len(rows) - bases + absent
    if aliases == 0:
        return run_of(rows, name, pool=pool, aliases=0, idle=idle)
    first = rows[np.arange(bases)]
    queue = first.required("queued")
    worked = rate.value > 0
    mean = (service[worked] * (rate.value[worked] / total.value)).sum()
    share, wait = _behind(rows)

    def each(interval: Interval, parts: float) -> Interval:
        return Interval(*(np.full(bases, float(end) / parts) for end in interval))

    known = not np.isnan(first.numbers["response"].value).all()
    notes = (*_notes(rows, idle), *([EQUAL] if bases > 1 else []), *([OWN_RESPONSE] if known else []))
    run = Run(
        name=name, pool=pool, aliases=aliases, volumes=tuple(first.names), io_rate=each(total, bases),
        service=each(mean, 1.0), queued=each(queue.sum(), bases), queue_shown=np.full(bases, queue.sum().value / bases),
        own=bases == 1, idle=idle, together=first.together, path_share=share, cu_wait=wait, source=rows.source,
        start=rows.start, notes=notes,
    )  # fmt: skip
    return ends.sampled(run, first.queue_samples)


def _notes(rows: Rows, idle: int) -> tuple[str, ...]:
    """Notes on bases without I/O and on joined intervals, where there are any."""
    bases = f"{counted(idle, 'base')} without I/O {'need' if idle > 1 else 'needs'} no alias." if idle else ""
    few = f"{sentence_case(joined_note(many))}." if (many := rows.joined) > 1 else ""
    return tuple(filter(None, (bases, few)))


def _rate(rows: Rows) -> Interval:
    rate = rows.required("io_rate")
    if rate.value.sum() <= 0:
        wanted = "a rate above zero: the device did no I/O"
        raise InputError(f"io_rate of {rows.names[0]}", 0.0, wanted, "1/s")
    return rate


def _service(rows: Rows) -> Interval:
    """Mean service time; that of a device without I/O, as a mean of intervals without any, needs none."""
    working = rows[rows.numbers["io_rate"].value > 0]
    found = working.required("service")
    none = (found.high <= 0).nonzero()[0]
    if none.size:
        k = int(none[0])
        wanted = f"a time above zero for a device with I/O; line {working.line[k]} of {rows.file} has none"
        raise InputError(f"service of device {working.names[k]}", found.value[k] / MILLISECOND, wanted, "ms")
    return _printed(rows)


def _printed(rows: Rows) -> Interval:
    """`_printed_service`, made once."""
    return rows.column("printed service", _printed_service)


def _printed_service(rows: Rows) -> Interval:
    """Mean service time. Listings add it up from three rounded parts, so that their roundings add up."""
    found = rows.numbers["service"]
    half = found.high - found.value
    printed = [rows.numbers[name] for name in PARTS]
    parts = np.sum([np.nan_to_num(each.high - each.value) for each in printed], axis=0)
    around = Interval.around(found.value, np.where(rows.of_kind(VOLUME), half, np.maximum(half, parts)))
    return ends.above_nothing(around).where(found.value == 0, around)


LEAST_OPEN: Final = 0.01
"""Relative error that rate, service and queue have together at least: no system keeps to a model better."""


def _left_open(service: Interval, least: float) -> Array:
    """Part of a least relative error that the digits of a service time do not cover."""
    half, value = np.asarray(service.high - service.low) / 2.0, np.asarray(service.value)
    known = np.divide(half, value, out=np.zeros(value.shape), where=value > 0.0)
    return np.asarray(np.maximum(least - known, 0.0))


def _error(rows: Rows) -> Array:
    """Relative error of a row: chance in what was counted, and the least where the service time is known better."""
    counted = rows.filled("io_rate") * np.nan_to_num(rows.seconds)
    chance = np.where(counted > 0, 1.0 / np.sqrt(np.maximum(counted, 1.0)), 0.0)
    left = _left_open(_printed(rows), LEAST_OPEN)
    return np.maximum(np.where(rows.of_kind(VOLUME), chance, 0.0), left)


def _widened(rows: Rows, interval: Interval) -> Interval:
    return _at_least(interval, rows.column("error", _error))


def _at_least(interval: Interval, error: ArrayLike) -> Interval:
    """At least a relative error to either side."""
    low, value, high = interval
    least = np.maximum(np.minimum(low, value * (1 - np.asarray(error))), 0.0)
    return Interval(least, value, np.maximum(high, value * (1 + np.asarray(error))))


def _behind(rows: Rows) -> tuple[float | None, float | None]:
    """Share of pend or disconnect, the larger, in service, and control unit wait [s], weighted by rate."""
    rate = rows.filled("io_rate")
    service = float(rate @ rows.filled("service"))
    known = any((~np.isnan(rows.numbers[name].value)).any() for name in ("pend", "disconnect"))
    if service <= 0 or not known:
        return None, None
    before = max(float(rate @ rows.filled(name)) for name in ("pend", "disconnect"))
    unknown = np.isnan(rows.numbers["cu_wait"].value).all()
    return before / service, None if unknown else float(rate @ rows.filled("cu_wait")) / float(rate.sum())
