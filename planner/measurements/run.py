"""What was measured of a volume or a pool, as intervals; assembled here from a few numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from planner.errors import InputError

QUEUE_NEGLIGIBLE: Final = 0.1  # I/Os; the rule of thumb counts less as no queue
ADDRESSES_PER_CONTROL_UNIT: Final = 256


class Interval(NamedTuple):
    """A number and what its printed digits leave open: `low`, `value` and `high`."""

    low: float
    value: float
    high: float

    def scaled(self, factor: float) -> Interval:
        """Multiply by a positive factor.

        Parameters
        ----------
        factor : float
            Above zero.

        Returns
        -------
        Interval
            All three numbers times the factor.
        """
        return Interval(self.low * factor, self.value * factor, self.high * factor)

    def widened(self, by: float) -> Interval:
        """Move both ends outward.

        Parameters
        ----------
        by : float
            How far, in the unit of the interval.

        Returns
        -------
        Interval
            The same value between wider ends.
        """
        return Interval(self.low - by, self.value, self.high + by)

    def strain(self, guess: float) -> float:
        """Tell how far a guess lies off.

        Parameters
        ----------
        guess : float
            In the unit of the interval.

        Returns
        -------
        float
            0 at the value, -1 and 1 at the ends.
        """
        half = self.high - self.value if guess >= self.value else self.value - self.low
        return (guess - self.value) / max(half, 1e-9 * abs(self.value), 1e-12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Totals over `volumes` equal volumes, with the aliases in use at the time (shared if there are several).

    `io_rate` [1/s], `service` [s] per I/O, `queued` [I/Os] with all that is known of it (without an upper end where
    it was not measured), `queue_shown` [I/Os] the sum as it was shown, which the rule of thumb takes, `rates` [1/s]
    of the volumes one by one, empty where they are equal or only the total is known.
    """

    volumes: int
    aliases: int
    io_rate: Interval
    service: Interval
    queued: Interval
    queue_shown: float
    rates: tuple[float, ...] = ()

    @property
    def queue_known(self) -> bool:
        """Whether the queue was measured."""
        return math.isfinite(self.queued.high)

    @property
    def response(self) -> float:
        """Service plus queued over rate [s]."""
        return self.service.value + self.queued.value / self.io_rate.value

    @property
    def utilization(self) -> float:
        """Busy share of one device, bases and aliases alike."""
        return self.io_rate.value * self.service.value / (self.volumes + self.aliases)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One listing's worth of a system.

    Attributes
    ----------
    name : str
        The base device, or the pool.
    aliases : int
        Aliases in use.
    classes : tuple of Measurement
        Classes of equal volumes.
    pool : bool
        Whether the aliases are shared among volumes.
    path_share : float or None
        Rate-weighted share of pend or of disconnect, the larger, in the service time; None where the source does
        not say.
    cu_wait : float or None
        Control unit wait [s]; None where the source does not say.
    source : str
        Name of the measurement.
    notes : tuple of str
        What the user should know of how it was read.
    """

    name: str
    aliases: int
    classes: tuple[Measurement, ...]
    pool: bool
    path_share: float | None = None
    cu_wait: float | None = None
    source: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def bases(self) -> int:
        """Number of volumes."""
        return sum(part.volumes for part in self.classes)

    @property
    def io_rate(self) -> float:
        """Total I/O rate [1/s]."""
        return sum(part.io_rate.value for part in self.classes)

    @property
    def queued(self) -> float:
        """Total of the queues [I/Os]."""
        return sum(part.queued.value for part in self.classes)

    @property
    def service(self) -> float:
        """Rate-weighted mean service time [s]."""
        return sum(part.io_rate.value * part.service.value for part in self.classes) / self.io_rate

    @property
    def queue_known(self) -> bool:
        """Whether the queue of every volume was measured."""
        return all(part.queue_known for part in self.classes)

    @property
    def rule_of_thumb(self) -> int | None:
        """Aliases in use plus the summed queue rounded up; a queue below .1 counts as none, one unknown as None."""
        if not self.queue_known:
            return None
        total = sum(p.queue_shown for p in self.classes if p.queue_shown / p.volumes >= QUEUE_NEGLIGIBLE)
        return self.aliases + math.ceil(round(total, 6))

    @property
    def most_aliases(self) -> int:
        """What one logical control unit has addresses for."""
        return max(ADDRESSES_PER_CONTROL_UNIT - self.bases, 0)


def sharpened(queued: Interval, io_rate: Interval, service: float, response: Interval) -> Interval:
    """Narrow a printed queue by the printed response: response = printed service + queued / rate.

    Parameters
    ----------
    queued : Interval
        As printed [I/Os].
    io_rate : Interval
        As printed [1/s].
    service : float
        Printed service time [s].
    response : Interval
        As printed [s].

    Returns
    -------
    Interval
        The part of `queued` that both allow; `queued` itself where they exclude each other.
    """
    low = max(queued.low, (response.low - service) * io_rate.low, 0.0)
    high = min(queued.high, (response.high - service) * io_rate.high)
    if low > high:
        return queued
    return Interval(low, min(max(queued.value, low), high), high)


def from_numbers(
    *,
    io_rate: Interval,
    service: Interval,
    response: Interval | None,
    queued: Interval | None,
    volumes: int,
    aliases: int,
    pool: bool,
) -> Run:
    """Assemble a run from numbers of one volume.

    Parameters
    ----------
    io_rate : Interval
        Of one volume [1/s].
    service : Interval
        Mean service time [s].
    response : Interval or None
        Mean response time [s].
    queued : Interval or None
        Mean queue of one volume [I/Os]; from the response by Little's law where None.
    volumes : int
        Equal volumes.
    aliases : int
        Aliases in use, of the pool or the volume.
    pool : bool
        Whether the aliases are shared.

    Returns
    -------
    Run
        One class of equal volumes.

    Raises
    ------
    InputError
        Neither queue nor response, a response below the service, or a queue that contradicts the response.
    """
    if volumes > ADDRESSES_PER_CONTROL_UNIT:
        raise InputError(
            "volumes", volumes, f"at most {ADDRESSES_PER_CONTROL_UNIT}, one logical control unit"
        )
    if response is not None and response.high < service.low:
        raise InputError("response", response.value, f"at least the service time, {service.value:g} s", "s")
    shown = queued
    if queued is None:
        if response is None:
            raise InputError("queue", None, "the mean queue, or the response time to compute it from")
        low = max(response.low - service.high, 0.0) * io_rate.low
        value = max(response.value - service.value, 0.0) * io_rate.value
        queued = Interval(low, value, (response.high - service.low) * io_rate.high)
    elif response is not None:
        low, high = (response.low - service.high) * io_rate.low, (response.high - service.low) * io_rate.high
        if queued.high < low or queued.low > high:
            raise InputError(
                "queue", queued.value,
                f"what rate x (response - service) allows, {max(low, 0):.3g} to {high:.3g}: they contradict each other",
            )  # fmt: skip
        queued = sharpened(queued, io_rate, service.value, response)
    part = Measurement(
        volumes=volumes,
        aliases=aliases,
        io_rate=io_rate.scaled(volumes),
        service=service,
        queued=queued.scaled(volumes),
        queue_shown=(shown or queued).value * volumes,
    )
    name = f"pool of {volumes} volumes" if pool else "volume"
    return Run(name=name, aliases=aliases, classes=(part,), pool=pool)
