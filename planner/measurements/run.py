"""What was measured of a volume or a pool: one structure, arrays over the volumes, whatever it was read from."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planner.errors import InputError
from planner.interval import Interval
from planner.lazy import pl
from planner.measurements.read import Measured
from planner.results import Array
from planner.units import ADDRESSES, MILLISECOND, readable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """One measurement of a volume, or of the volumes of a pool.

    * `name`: the base device, or the pool.
    * `pool`: whether the aliases are shared among the volumes.
    * `aliases`: aliases in use, those of the pool or the volume's own.
    * `volumes`: names of the volumes that did I/O.
    * `io_rate`, `service` and `queued`: of each volume, shape (volumes,): I/Os with those of its aliases [1/s], mean
      service time [s], I/Os waiting; without an upper end where the queue was not measured.
    * `queue_shown`: the queue as it was shown, which the rule of thumb takes, shape (volumes,).
    * `own`: whether the numbers are each volume's own; else the mean of all, since a listing does not say for which
      volume an alias of a pool worked.
    * `idle`: bases without I/O, beside those in `volumes`.
    * `together`: how much the bursts of each volume come together with those of the other volumes, from 0 (independent)
      to 1 (all at once), shape () or (volumes,); nan where that is not known.
    * `path_share`: share of pend or of disconnect, the larger, in the service time; None where the source does not say.
    * `cu_wait`: control unit wait [s]; None where the source does not say.
    * `source`: name of the measurement.
    * `start`: when it began.
    * `interval`: which of several intervals it is, in a few words; empty where there is one.
    * `notes`: what the user should know of how it was read.
    * `assumed`: what was taken for a service time that was not measured, as a sentence; empty where it was.
    * `ends`: the same with the shortest and the longest service time that it may have, or queue where that was sampled;
      empty where both are known.
    """

    name: str
    pool: bool
    aliases: int
    volumes: tuple[str, ...]
    io_rate: Interval
    service: Interval
    queued: Interval
    queue_shown: Array
    own: bool = True
    idle: int = 0
    together: Array | float = math.nan
    path_share: float | None = None
    cu_wait: float | None = None
    source: str = ""
    start: datetime | None = None
    interval: str = ""
    notes: tuple[str, ...] = field(default=())
    assumed: str = ""
    ends: tuple[Run, ...] = field(default=(), repr=False)

    @property
    def bases(self) -> int:
        """Number of volumes that did I/O."""
        return len(self.volumes)

    @property
    def total_rate(self) -> Interval:
        """I/O rate of all volumes [1/s]."""
        return self.io_rate.sum()

    @property
    def total_queue(self) -> Interval:
        """Queues of all volumes [I/Os]."""
        return self.queued.sum()

    @property
    def mean_service(self) -> Interval:
        """Mean service time, weighted by rate [s]."""
        share = self.io_rate.value / self.total_rate.value
        found: Interval = (self.service * share).sum()
        return found

    @property
    def mean_response(self) -> float:
        """Mean service plus all queues over the rate of all volumes [s]."""
        return float(self.mean_service.value + self.total_queue.value / self.total_rate.value)

    @property
    def responses(self) -> Array:
        """Service plus queue over rate of each volume [s]."""
        return np.asarray(self.service.value + self.queued.value / self.io_rate.value)

    @property
    def busy(self) -> float:
        """Busy share of one device, bases and aliases alike."""
        return float(self.io_rate.value @ self.service.value) / (self.bases + self.aliases)

    @property
    def joined(self) -> bool:
        """Whether the bursts of some volumes are known to come together."""
        return self.bases > 1 and bool((np.nan_to_num(self.together) > 0.0).any())

    @property
    def queue_known(self) -> bool:
        """Whether the queue of every volume was measured."""
        return bool(np.isfinite(self.queued.high).all())

    @property
    def by_samples(self) -> bool:
        """Whether the queue is the mean of so few samples that chance counts."""
        return bool(self.ends) and not self.assumed

    @property
    def waiting(self) -> bool | None:
        """Whether any I/O waits; None where the queue was not measured."""
        return bool(self.total_queue.value > 0) if self.queue_known else None

    @property
    def rule_of_thumb(self) -> int | None:
        """Aliases in use plus the summed queue rounded up; a queue below .1 counts as none, one unknown as None."""
        return self.aliases + math.ceil(round(self.thumb_queue, 6)) if self.queue_known else None

    @property
    def thumb_queue(self) -> float:
        """The queue that the rule of thumb takes [I/Os]: less than .1 of a volume is none."""
        return float(self.queue_shown[self.queue_shown >= 0.1].sum())  # noqa: PLR2004 - of the rule

    @property
    def most_aliases(self) -> int:
        """What one logical control unit has addresses for."""
        return max(ADDRESSES - self.bases - self.idle, 0)

    def check(self) -> None:
        """Refuse what contradicts itself; a rate and a service time alone are an offered load, which may be any."""
        if not self.queue_known:
            return
        each = self.io_rate.low * self.service.low
        devices = 1 + self.aliases
        over = np.flatnonzero(each > devices)
        if over.size:
            k = int(over[np.argmax(each[over])])
            rate, service = float(self.io_rate.value[k]), float(self.service.value[k])
            most = f"at most {devices / rate / MILLISECOND:.4g} ms at {rate:.4g}/s"
            busy = f"{_devices(self.aliases)} cannot be busy {rate * service:.3g} times at once"
            wanted = f"{most}: {busy}, and a queue was measured with the rate"
            if not self.aliases:
                wanted += (
                    "; if aliases were in use, say how many (a column aliases, or `in_use` with numbers)"
                )
            raise InputError(
                f"service time of {self.volumes[k]}", float(f"{service / MILLISECOND:.6g}"), wanted, "ms"
            )
        there, load = self.bases + self.idle + self.aliases, float(each.sum())
        if self.pool and load > there:
            wanted = f"at most {there}, its bases and aliases, all of them busy"
            raise InputError(f"rate x service time of {self.name}", round(load, 1), wanted)


def _devices(aliases: int) -> str:
    return "one device" if aliases == 0 else f"a base and {aliases} alias{'es' if aliases > 1 else ''}"


BY_CHANCE: Final = (
    "the queue is the mean of few samples: the worst of many intervals is the worst by chance as well; longer ones, or "
    "their mean, tell what lasts"
)
UNKNOWN: Final = Interval(math.nan, math.nan, math.nan)
HAIR: Final = 1e-6  # relative: what computing leaves open of numbers that have no rounding of their own


def queue_of(queued: Interval, io_rate: Interval, service: Interval, response: Interval) -> Interval:
    """The queue as printed, as the response tells it (Little's law), or as both allow, each; nan where unknown."""
    low = np.maximum(np.maximum(queued.low, (response.low - service.value) * io_rate.low), 0.0)
    high = np.minimum(queued.high, (response.high - service.value) * io_rate.high)
    told = (response.value - service.value) * io_rate.value
    width = queued.high - queued.low
    one_digit = width > 0.2 * queued.value  # or none
    sharper = one_digit & ((response.high - response.low) * io_rate.value < width)
    value = np.minimum(np.maximum(np.where(sharper, told, queued.value), low), high)
    no_queue, no_response = np.isnan(queued.value), np.isnan(response.value)
    cases = [no_queue & no_response, no_queue, no_response | (low > high)]
    waits = zip(response - service, io_rate, strict=True)
    of_response = (np.maximum(wait, 0.0) * rate for wait, rate in waits)
    ends = zip((0.0, 0.0, math.inf), of_response, queued, (low, value, high), strict=True)
    return Interval(
        *(np.select(cases, [neither, alone, printed], both) for neither, alone, printed, both in ends)
    )


def contradicts(
    queued: Interval, io_rate: Interval, service: Interval, response: Interval
) -> NDArray[np.bool_]:
    """Where a response is below the service time, or a queue is not rate x (response - service); nan: not measured."""
    told = ((response - service) * io_rate).widened(HAIR * response.value * io_rate.value)
    below = response.high * (1 + HAIR) < service.low
    return np.asarray(below | (queued.high < told.low) | (queued.low > told.high))


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
    told = (response - service) * io_rate
    product = f"{io_rate.value:.4g}/s x ({response.value / MILLISECOND:.4g} - {shown:.4g}) ms"
    allowed = f"{product} = {max(told.low, 0):.3g} to {told.high:.3g}: they contradict each other"
    raise InputError(f"queue{of}", queued.value, f"what rate x (response - service) allows, {allowed}")


def from_numbers(
    *,
    io_rate: Interval,
    service: Interval | None = None,
    response: Interval | None = None,
    queued: Interval | None = None,
    volumes: int = 1,
    aliases: int = 0,
    pool: bool = False,
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

    Returns
    -------
    Run
        Equal volumes.

    Raises
    ------
    InputError
        Too many volumes, a response below the service or the wait, or a queue that contradicts the response.
    """
    if volumes + aliases > ADDRESSES:
        wanted = f"at most {ADDRESSES} addresses with {aliases} aliases, one logical control unit"
        raise InputError("volumes", volumes, wanted)
    waiting, answered = queued or UNKNOWN, response or UNKNOWN

    def all_of(interval: Interval) -> Interval:
        return Interval(*(np.full(volumes, end) for end in interval))

    def at(served: Interval) -> Run:
        queue = queue_of(waiting, io_rate, served, answered)
        return Run(
            name=f"pool of {volumes} volume{'s' if volumes > 1 else ''}" if pool else "volume",
            pool=pool,
            aliases=aliases,
            volumes=tuple(f"volume {k + 1}" for k in range(volumes)) if volumes > 1 else ("volume",),
            io_rate=all_of(io_rate),
            service=all_of(served),
            queued=all_of(queue),
            queue_shown=all_of(queued or queue).value,
        )

    if service is not None:
        check_response(waiting, io_rate, service, answered)
        return at(service)
    rest = rest_of_response(all_of(answered), all_of(waiting), all_of(io_rate))
    return at_both_ends(rest, all_of(io_rate).value, at)


BUNCHED: Final = 3.0
KNOWN: Final = 0.05  # relative width up to which the ends are one


def rest_of_response(
    response: Interval, queued: Interval, io_rate: Interval, names: Sequence[str] = ()
) -> Interval:
    """Service times [s] of volumes: responses without the wait, which is queue / rate (Little's law); nan: not told."""
    rest = response - queued / io_rate
    for k in (rest.high <= 0).nonzero()[0]:
        wait = float(queued.value[k] / io_rate.value[k]) / MILLISECOND
        wanted = f"above the wait, which queue over rate makes {wait:.4g} ms"
        of = f" of {names[k]}" if names else ""
        raise InputError(f"response{of}", response.value[k] / MILLISECOND, wanted, "ms")
    return above_nothing(rest)


def at_both_ends(service: Interval, io_rate: Array, at: Callable[[Interval], Run]) -> Run:
    """The run at service times that follow from other figures, with those at both ends of what they may be."""
    value, low, high = (
        replace(at(Interval(end, end, end)), assumed=in_words(service, io_rate))
        for end in (service.value, service.low, service.high)
    )
    sure = (service.high - service.low <= KNOWN * service.value).all()
    return value if sure else replace(value, ends=(low, high))


def sampled(run: Run, samples: float) -> Run:
    """The run with those, as `ends`, whose queue is a standard error below and above one that was sampled.

    While a device is busy, a share u of the time, its queue is taken as geometric, as that of M/M/1 is: the square of
    a queue q is q + 2 q^2 / u on average. The mean of m samples, far apart, is then off by sqrt((q + k q^2) / m), where
    k = 2 / u - 1, and a standard error off lie the roots of (q - found)^2 = (q + k q^2) / m (Wilson 1927). Of several
    volumes the squares of their errors add up. Simulated volumes (`python -m tests.demand.accuracy
    SEED 200 0 --sampled=60`, a minute with 30 samples): 76 to 87 % of the ranges hold the count without it, 96 to 99
    with it.
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
        ends = (np.maximum(end + moved, 0.0) for end in run.queued)
        return replace(run, queued=Interval(*ends))

    words = (
        f"By {samples:.0f} samples the queue is {readable(low)} to {readable(high)} I/Os, a standard error to either "
        "side: the range holds both."
    )
    return replace(run, notes=(*run.notes, words), ends=(at(low), at(high)))


LEAST_USED: Final = 0.01
"""Share of the time in which a queue can stand that is not gone below."""


def above_nothing(time: Interval) -> Interval:
    """Take a time that may be nothing for some part of what it may be: half, and half of that at least [s]."""
    value = np.where(time.value > 0, time.value, time.high / 2)
    return Interval(np.where(time.low > 0, time.low, value / 2), value, time.high)


def service_bracket(
    rate: Interval, response: Interval, utilization: Interval, *, aliases: ArrayLike, shared: ArrayLike
) -> Interval:
    """Find between what the service time of a volume lies where only rate, response and utilization were measured.

    A disk of Linux says how often I/Os come (rate X), how long they take with their wait (response R), hence how many
    are present (X R, the ``aqu-sz`` of iostat), and for which share of the time any is (utilization U); not how long
    they are served (S). With c devices, base and aliases, and n I/Os present min(n, c) are busy, whoever sends them,
    so that the busy ones, X S on average, lie between

        U <= X S <= min(X R, c U, c).

    With one device this is S = U / X. Kernels from 4.17 to 6.9 overstate U (``utilization.low`` is 0 then): only the
    upper end holds, and the lower one follows from how I/Os come. Where they come at random times in geometric batches
    of b on average,

        R = S (1 - 1/c) + b S / (c - X S),

    exactly for one device (the batch arrivals queue M^X/M/1: Chaudhry and Templeton 1983, section 3.2), hence S = R /
    (b + X R), and nearly for several (the wait is that of one device c times as fast). One by one (b = 1) is the
    value, and three at a time (`BUNCHED`) the lower end. Requesters that wait for their own I/Os wait less than random
    arrivals do, so that their service time is between value and upper end.
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
    """Give the rows without a service time one that is known otherwise; of a shorter response all is service."""
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
    """Solve R = S (1 - 1/c) + b S / (c - X S) for S: the smaller root, without cancellation."""
    linear = devices - 1.0 + batch + rate * response
    square = 4.0 * (1.0 - 1.0 / devices) * rate * response * devices
    return np.asarray(2.0 * response * devices / (linear + np.sqrt(linear**2 - square)))


def in_words(bracket: Interval, rate: Array) -> str:
    """Say what was taken for the service time of some volumes: means by rate."""
    low, value, high = (float(rate @ end / rate.sum()) / MILLISECOND for end in bracket)
    if high - low <= KNOWN * value:
        return f"Service time was not measured: {readable(value)} ms by the other figures."
    taken, least, most = map(readable, (value, low, high))
    return f"Service time was not measured: {taken} ms taken, {least} to {most} ms possible."
