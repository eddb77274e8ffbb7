"""Ends of what was not measured of a volume, or sampled only: service times and queues."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from planner.errors import InputError
from planner.interval import Interval
from planner.lazy import pl
from planner.measurements.read import Measured
from planner.measurements.run import Run
from planner.queueing._roots import increasing_root
from planner.results import Array, Flags
from planner.units import MILLISECOND, readable

UNKNOWN: Final = Interval(math.nan, math.nan, math.nan)
HAIR: Final = 1e-6  # relative error of computing, of numbers that have no rounding of their own


def queue_of(queued: Interval, io_rate: Interval, service: Interval, response: Interval) -> Interval:
    """The queue of each volume as printed, by the response (Little's law), or within both; nan where unknown."""
    low = np.maximum(np.maximum(queued.low, (response.low - service.value) * io_rate.low), 0.0)
    high = np.minimum(queued.high, (response.high - service.value) * io_rate.high)
    by_response = (response.value - service.value) * io_rate.value
    width = queued.high - queued.low
    one_digit = width > 0.2 * queued.value  # or none
    sharper = one_digit & ((response.high - response.low) * io_rate.value < width)
    value = np.minimum(np.maximum(np.where(sharper, by_response, queued.value), low), high)
    no_queue, no_response = np.isnan(queued.value), np.isnan(response.value)
    cases = [no_queue & no_response, no_queue, no_response | (low > high)]
    waits = zip(response - service, io_rate, strict=True)
    of_response = (np.maximum(wait, 0.0) * rate for wait, rate in waits)
    ends = zip((0.0, 0.0, math.inf), of_response, queued, (low, value, high), strict=True)
    found = (np.select(cases, [neither, alone, printed], both) for neither, alone, printed, both in ends)
    return Interval(*found)


def contradicts(queued: Interval, io_rate: Interval, service: Interval, response: Interval) -> Flags:
    """Where a response is below the service time, or a queue is not rate x (response - service); nan: not measured."""
    by_response = ((response - service) * io_rate).widened(HAIR * response.value * io_rate.value)
    below = response.high * (1 + HAIR) < service.low
    return np.asarray(below | (queued.high < by_response.low) | (queued.low > by_response.high))


def check_response(
    queued: Interval, io_rate: Interval, service: Interval, response: Interval, of: str = ""
) -> None:
    """Refuse what `contradicts` of one volume."""
    if not contradicts(queued, io_rate, service, response):
        return
    shown = service.value / MILLISECOND
    if response.high * (1 + HAIR) < service.low:
        wanted = f"at least the service time, {shown:.4g} ms: it is service and wait together"
        raise InputError(f"response{of}", response.value / MILLISECOND, wanted, "ms")
    by_response = (response - service) * io_rate
    product = f"{io_rate.value:.4g}/s x ({response.value / MILLISECOND:.4g} - {shown:.4g}) ms"
    allowed = (
        f"{product} = {max(by_response.low, 0):.3g} to {by_response.high:.3g}: they contradict each other"
    )
    raise InputError(f"queue{of}", queued.value, f"what rate x (response - service) allows, {allowed}")


BUNCHED: Final = 3.0
KNOWN: Final = 0.05  # relative width up to which the ends are one


def rest_of_response(response: Interval, queued: Interval, io_rate: Interval) -> Interval:
    """Service times [s] of volumes: responses without the wait, queue / rate (Little's law); nan where not known."""
    return above_nothing(response - queued / io_rate)


def check_rest(
    rest: Interval, response: Interval, queued: Interval, io_rate: Interval, names: Sequence[str] = ()
) -> None:
    """Refuse a `rest_of_response` that is none; one of nan, or of a queue that was not measured, is ignored."""
    measured = (io_rate.value > 0) & np.isfinite(queued.value)
    for k in (measured & (rest.high <= 0)).nonzero()[0]:
        wait = float(queued.value[k] / io_rate.value[k]) / MILLISECOND
        wanted = f"above the wait, which queue over rate makes {wait:.4g} ms"
        of = f" of {names[k]}" if names else ""
        raise InputError(f"response{of}", response.value[k] / MILLISECOND, wanted, "ms")


def at_both_ends(service: Interval, io_rate: Array, at: Callable[[int, str], Run]) -> Run:
    """The run at a service time that follows from other figures, with those at both ends of what it may be.

    `at` makes the run at end 0, at the value (1) or at end 2 of `service`, with words for what was taken.
    """
    words = in_words(service, io_rate)
    if (service.high - service.low <= KNOWN * service.value).all():
        return at(1, words)
    return replace(at(1, words), ends=(at(0, words), at(2, words)))


def sampled(run: Run, samples: float) -> Run:
    """The run with `ends` whose queue is a standard error below and above the sampled one.

    While a device is busy, a share u of the time, its queue is taken as geometric, as that of M/M/1 is: the square of
    a queue q is q + 2 q^2 / u on average. The mean of m samples, far apart, is then off by sqrt((q + k q^2) / m), where
    k = 2 / u - 1, and a standard error off lie the roots of (q - found)^2 = (q + k q^2) / m (Wilson 1927). Of several
    volumes the squares of their errors add up. Simulated volumes (`python -m tests.demand.accuracy
    SEED 200 0 --sampled=60`): 76 to 87 % of the ranges hold the count without it, 96 to 99 with it.
    """
    if not (samples >= 1.0 and run.queue_known):
        return run
    queue, busy = run.queued.value, run.io_rate.value * run.service.value
    waited_at = busy.sum() / (1 + run.aliases) if run.pool else busy / (1 + run.aliases)
    used = np.clip(np.minimum(busy, waited_at), LEAST_USED, 1.0)
    found = float(queue.sum())
    share = queue / found if found > 0 else busy / busy.sum()
    spread = float(share**2 @ (2.0 / used - 1.0)) / samples
    middle, square = found + 0.5 / samples, max(1.0 - spread, 0.25)
    root = math.sqrt(max(middle**2 - square * found**2, 0.0))
    low, high = (middle - root) / square, (middle + root) / square
    printed = run.total_queue
    if high - found <= max(KNOWN * found, printed.high - printed.value):
        return run

    def at(total: float) -> Run:
        moved = share * total - queue
        return replace(run, queued=Interval(*(np.maximum(end + moved, 0.0) for end in run.queued)))

    words = (
        f"By {samples:.0f} samples the queue is {readable(low)} to {readable(high)} I/Os, a standard error to either "
        "side: the range holds both."
    )
    return replace(run, notes=(*run.notes, words), ends=(at(low), at(high)))


NO_QUEUE: Final = (
    "The queue was not measured: arrivals are assumed independent, at the measured rates; the range is from I/Os that "
    "never meet to the queue of I/Os that come five at a time."
)
QUEUES_UNKNOWN: Final = (  # the same of many intervals, as a note on a pool
    "no queue measured: arrivals are assumed independent, the range goes to the queue of I/Os that come five at a "
    "time; rows with queue or response decide more"
)
QUEUED: Final = 5.0
"""I/Os that come at once where a queue that was not measured is longest."""
MOST_USED: Final = 0.5
"""Share of the time that a device is busy in the measurement that stands for it."""


def without_queue(run: Run) -> Run:
    """The run whose queue was not measured; its `ends` has one run, with the queue of batches of five.

    Without aliases a device is busy a share X S of the time, and of batches of b I/Os at random times

        q = X S (b / (1 - X S) - 1)

    wait, as in `service_bracket`. A device that is nearly always busy shows little of the demand, and an offered load
    may be more than one carries: the end has rates that are smaller by one factor, so that no device is more than
    `MOST_USED` busy, and the demand that is read of it grows by that.
    Simulated volumes and pools (`python -m tests.demand.accuracy SEED 200 30 --unmeasured`, seeds 502 and 503): 84 to
    90 % and 90 to 93 % of the ranges hold the count; steady demand is right in 77 %, bursts need more.
    """
    busy = run.io_rate.value * run.service.value
    less = min(MOST_USED / float(busy.max()), 1.0)
    queue = less * busy * (QUEUED / (1.0 - less * busy) - 1.0)
    end = replace(
        run, aliases=0, io_rate=run.io_rate * less, queued=Interval(queue, queue, queue), queue_shown=queue
    )
    return replace(run, notes=(*run.notes, NO_QUEUE), ends=(end,))


LEAST_USED: Final = 0.01
"""Least share of the time in which a sampled queue is taken to stand."""


def above_nothing(time: Interval) -> Interval:
    """Times above 0 [s]: a value of 0 becomes half of the upper end, a lower end of 0 half of the value."""
    value = np.where(time.value > 0, time.value, time.high / 2)
    return Interval(np.where(time.low > 0, time.low, value / 2), value, time.high)


def service_bracket(
    rate: Interval, response: Interval, utilization: Interval, *, aliases: ArrayLike, shared: ArrayLike
) -> Interval:
    """Find the ends of the service time of a volume of which only rate, response and utilization were measured.

    A disk of Linux says how often I/Os come (rate X), how long they take with their wait (response R), hence how many
    are present (X R, the ``aqu-sz`` of iostat), and for which share of the time any is (utilization U); not how long
    they are served (S). With c devices, base and aliases, and n I/Os present min(n, c) are busy, whoever sends them,
    so that the busy ones, X S on average, lie between

        U <= X S <= min(X R, c U, c).

    With one device this is S = U / X. Kernels from 4.17 to 6.9 overstate U (``utilization.low`` is 0 then): only the
    upper end holds, and the lower one follows from how I/Os come. At random times in geometric batches of mean b,

        R = S (1 + b ((b - 1 + r) / b)^(sqrt(2 (c + 1)) - 1) / (c (1 - r))),    r = X S / c,

    exactly R = b S / (1 - X S) for one device (the batch arrivals queue M^X/M/1: Chaudhry and Templeton 1983, section
    3.2), the wait of M/M/c by Sakasegawa (1977) for b = 1, and else nearly: no shorter than that of M^X/M/c. One by
    one (b = 1) is the value, and three at a time (`BUNCHED`) the lower end. Requesters that wait for their own I/Os
    wait less than random arrivals do, so that their service time is between value and upper end. `aliases` are those
    that may work for a volume, `shared` those that others usually leave to it.
    """
    response = above_nothing(response)
    most = 1.0 + np.asarray(aliases, dtype=np.float64)
    busy = np.where(np.isnan(utilization.high), 1.0, np.minimum(utilization.high, 1.0))
    high = np.minimum(response.high, most * busy / np.maximum(rate.low, np.nextafter(0.0, 1.0)))
    devices = 1.0 + np.asarray(shared, dtype=np.float64)
    bunched = _served(rate.high, response.low, devices, BUNCHED)
    low = np.where(bunched <= high, bunched, high / BUNCHED)
    proven = np.nan_to_num(utilization.low) / rate.high
    exact = (proven > 0) & (proven <= high)
    low = np.where(exact, proven, low)
    value = np.clip(_served(rate.value, response.value, devices, 1.0), low, high)
    one = exact & (most == 1.0)
    return Interval(low, np.where(one, np.clip(utilization.value / rate.value, low, high), value), high)


def with_service(measured: Measured, service: Interval) -> Measured:
    """Give rows without a service time one that is known otherwise, or the response where that is shorter."""
    missing = pl.col("service").is_null() & pl.col("response").is_not_null()
    devices = measured.devices
    if not devices.select(missing.any()).item():
        given, wanted = float(service.value) / MILLISECOND, "files that say no service time"
        raise InputError("service", f"{given:g} ms", f"{wanted}; these have measured ones")
    known = {
        f"service{name}": pl.min_horizontal(pl.lit(float(end)), f"response{name}")
        for name, end in zip(("_low", "", "_high"), service, strict=True)
    }
    filled = {name: pl.when(missing).then(end).otherwise(name) for name, end in known.items()}
    return replace(measured, devices=devices.with_columns(**filled))


def _served(rate: Array, response: Array, devices: Array, batch: float) -> Array:
    """Solve the response of `service_bracket` for S, which grows with it."""

    def excess(service: Array, rate: Array, response: Array, devices: Array) -> Array:
        used = rate * service / devices
        waits = batch * ((batch - 1.0 + used) / batch) ** (np.sqrt(2.0 * (devices + 1.0)) - 1.0)
        return service * waits - devices * (1.0 - used) * (response - service)

    most = np.minimum(response, devices / rate)
    return increasing_root(excess, 0.0 * most, most, (rate, response, devices))


def in_words(bracket: Interval, rate: Array) -> str:
    """Say what was taken for the service time of some volumes: means by rate."""
    low, value, high = (float(rate @ end / rate.sum()) / MILLISECOND for end in bracket)
    if high - low <= KNOWN * value:
        return f"Service time was not measured: {readable(value)} ms by the other figures."
    taken, least, most = map(readable, (value, low, high))
    return f"Service time was not measured: {taken} ms taken, {least} to {most} ms possible."
