"""What was measured of a volume or a pool, as intervals: from listing rows or from a few numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from planner.errors import InputError

if TYPE_CHECKING:
    from planner.reports import Device, DeviceListing

QUEUE_NEGLIGIBLE: Final = 0.1  # I/Os; the rule of thumb counts less as no queue
SAME_CLASS_RATE: Final = 1.25  # ratio of the rates of volumes that count as equal
SAME_CLASS_QUEUE: Final = 0.25  # I/Os between the queues of volumes that count as equal
LARGEST_CLASSES: Final = 6
ADDRESSES_PER_CONTROL_UNIT: Final = 256
ECKD_DISKS: Final = ("3390", "3380")


class Interval(NamedTuple):
    """A number and what its printed digits leave open."""

    low: float
    value: float
    high: float

    def scaled(self, factor: float) -> Interval:
        """The interval times a positive factor."""
        return Interval(self.low * factor, self.value * factor, self.high * factor)

    def widened(self, by: float) -> Interval:
        """The interval with `by` added on both sides."""
        return Interval(self.low - by, self.value, self.high + by)

    def strain(self, guess: float) -> float:
        """How far `guess` lies off: 0 at the value, -1 and 1 at the ends."""
        half = self.high - self.value if guess >= self.value else self.value - self.low
        return (guess - self.value) / max(half, 1e-9 * abs(self.value), 1e-12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Totals over `volumes` equal volumes, with the aliases in use at the time (shared if there are several).

    `io_rate` [1/s], `service` [s] per I/O, `queued` [I/Os].
    """

    volumes: int
    aliases: int
    io_rate: Interval
    service: Interval
    queued: Interval

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
    """One listing's worth of a system: its classes of equal volumes, and what lies behind the volumes.

    `path_share` is the rate-weighted share of pend or of disconnect, the larger, in the service time and `cu_wait` [s] the
    control unit wait (None where the source does not say); `source` names the run.
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
    def rule_of_thumb(self) -> int:
        """Aliases in use plus the summed queue rounded up; a queue below .1 counts as none."""
        total = sum(p.queued.value for p in self.classes if p.queued.value / p.volumes >= QUEUE_NEGLIGIBLE)
        return self.aliases + math.ceil(round(total, 6))

    @property
    def most_aliases(self) -> int:
        """What one logical control unit has addresses for."""
        return max(ADDRESSES_PER_CONTROL_UNIT - self.bases, 0)


def _required(device: Device, name: str) -> Interval:
    printed = getattr(device, name)
    if printed is None:
        raise InputError(f"{name} of device {device.address}", "....", "a number; the listing has none here")
    return Interval(printed.low, printed.value, printed.high)


def _service(device: Device) -> Interval:
    """Printed service: the sum of three rounded parts, so that their roundings add up."""
    service = _required(device, "service")
    parts = sum(_required(device, name).high - _required(device, name).value
                for name in ("pend", "disconnect", "connect"))  # fmt: skip
    half = max(parts, service.high - service.value)
    return Interval(max(service.value - half, 0.0), service.value, service.value + half)


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


def _total(intervals: Iterable[Interval]) -> Interval:
    lows, values, highs = zip(*intervals, strict=True)
    return Interval(sum(lows), sum(values), sum(highs))


def _measure(bases: Sequence[Device], aliases: Sequence[Device]) -> Measurement:
    """Totals of equal volumes and the aliases that worked for them."""
    devices = [*bases, *aliases]
    rates = [_required(device, "io_rate") for device in devices]
    total = _total(rates)
    if total.value <= 0:
        raise InputError(f"io_rate of {bases[0].address}", 0.0, "a rate above zero: the device did no I/O", "1/s")
    queues = []
    for base, rate in zip(bases, rates, strict=False):
        queued = _required(base, "queued")
        if not aliases and base.response is not None and base.service is not None:
            queued = sharpened(queued, rate, base.service.value, _required(base, "response"))
        queues.append(queued)
    weights = [rate.value / total.value for rate in rates]
    services = [_service(device).scaled(w) for device, w in zip(devices, weights, strict=True) if w > 0]
    return Measurement(
        volumes=len(bases),
        aliases=len(aliases),
        io_rate=total,
        service=_total(services),
        queued=_total(queues),
    )


def _classes(bases: Sequence[Device]) -> list[list[Device]]:
    """Group volumes of nearly equal rate and queue; coarser groups where there would be too many."""
    ratio, gap = SAME_CLASS_RATE, SAME_CLASS_QUEUE
    while True:
        groups: list[list[Device]] = []
        for base in sorted(bases, key=lambda device: _required(device, "io_rate").value):
            rate, queued = _required(base, "io_rate").value, _required(base, "queued").value
            for group in groups:
                first = group[0]
                near = rate <= ratio * max(_required(first, "io_rate").value, 1e-9)
                if near and abs(queued - _required(first, "queued").value) <= gap:
                    group.append(base)
                    break
            else:
                groups.append([base])
        if len(groups) <= LARGEST_CLASSES:
            return groups
        ratio, gap = ratio * 1.25, gap * 1.5


def _behind(devices: Sequence[Device]) -> tuple[float, float]:
    """Share of pend or disconnect, the larger, in service, and control unit wait [s], weighted by rate."""
    rate = sum(_required(d, "io_rate").value for d in devices)
    service = sum(_required(d, "io_rate").value * _required(d, "service").value for d in devices)
    before = max(
        sum(_required(d, "io_rate").value * _required(d, part).value for d in devices)
        for part in ("pend", "disconnect")
    )
    wait = sum(_required(d, "io_rate").value * (d.cu_wait.value if d.cu_wait else 0.0) for d in devices)
    return (before / service if service > 0 else 0.0, wait / rate if rate > 0 else 0.0)


def volume_runs(listing: DeviceListing, address: str | None = None) -> list[Run]:
    """Read the volumes of a listing, each with its classic PAV aliases.

    Parameters
    ----------
    listing : DeviceListing
        One DEVICE listing.
    address : str, optional
        Only this base device; all ECKD bases that did I/O where None.

    Returns
    -------
    list of Run
        One a volume, longest queue first.

    Raises
    ------
    InputError
        No such base, an alias was named, HyperPAV aliases are at work, or a number is not available.
    """
    by_address = {device.address: device for device in listing.rows}
    if address is not None:
        known = ", ".join(d.address for d in listing.rows if _is_base(d))
        device = by_address.get(address.upper())
        if device is None:
            raise InputError("device", address, f"one of the bases in the listing: {known}")
        if not _is_base(device):
            what = f"an alias of {device.alias_of}" if device.alias_of else "a HyperPAV alias or no ECKD disk"
            raise InputError("device", address, f"a base device ({known}); this one is {what}")
        bases = [device]
    else:
        bases = [d for d in listing.rows if _is_base(d) and d.io_rate is not None and d.io_rate.value > 0]
        if not bases:
            raise InputError("listing", str(listing.path), "an ECKD base device with I/O; there is none")
    if any(device.is_hyperpav_alias and _is_disk(device) for device in listing.rows):
        raise InputError(
            "listing", str(listing.path),
            "no HyperPAV aliases: they work for every base of the pool, so ask `planner aliases pool`",
        )  # fmt: skip
    runs = []
    for base in bases:
        aliases = [device for device in listing.rows if device.alias_of == base.address]
        share, wait = _behind([base, *aliases])
        runs.append(
            Run(name=base.address, aliases=len(aliases), classes=(_measure([base], aliases),), pool=False,
                path_share=share, cu_wait=wait, source=listing.run)
        )  # fmt: skip
    return sorted(runs, key=lambda run: -run.queued)


def _is_disk(device: Device) -> bool:
    return device.type.startswith(ECKD_DISKS)


def _is_base(device: Device) -> bool:
    return _is_disk(device) and not device.is_hyperpav_alias and not device.is_classic_alias


def address_range(text: str, argument: str = "bases") -> tuple[int, int]:
    """Read a range of device numbers such as ``522A-5231``, or a single one.

    Parameters
    ----------
    text : str
        One or two hexadecimal device numbers.
    argument : str, optional
        Name for an error message.

    Returns
    -------
    tuple of int
        First and last device number.

    Raises
    ------
    InputError
        Not such a range, or it runs backwards.

    Examples
    --------
    >>> address_range("522A-5231") == (0x522A, 0x5231)
    True
    """
    first, dash, last = text.partition("-")
    try:
        low, high = int(first, 16), int(last if dash else first, 16)
    except ValueError:
        raise InputError(argument, text, "device numbers in hexadecimal such as 522A-5231") from None
    if not 0 <= low <= high <= 0xFFFF:
        raise InputError(argument, text, "a range from a lower to a higher device number, 0000 to FFFF")
    return low, high


def pool_run(listing: DeviceListing, bases: str | None = None, aliases: str | None = None) -> Run:
    """Read a HyperPAV pool from a listing, which itself does not say what belongs to which pool.

    Parameters
    ----------
    listing : DeviceListing
        One DEVICE listing.
    bases : str, optional
        Range of the base devices; all ECKD bases where None.
    aliases : str, optional
        Range of the alias devices; all ECKD devices without a label where None.

    Returns
    -------
    Run
        Classes of nearly equal volumes; one class where aliases are at work, since their I/Os cannot be told
        apart by volume.

    Raises
    ------
    InputError
        A range that holds no bases, classic PAV aliases, more than 256 addresses, or a number not available.
    """

    def chosen(devices: list[Device], text: str | None, argument: str) -> list[Device]:
        if text is None:
            return devices
        low, high = address_range(text, argument)
        inside = [device for device in devices if low <= int(device.address, 16) <= high]
        if not inside:
            raise InputError(argument, text, f"a range that holds some of the {argument} in the listing")
        return inside

    base_devices = chosen([d for d in listing.rows if _is_base(d)], bases, "bases")
    alias_devices = chosen([d for d in listing.rows if d.is_hyperpav_alias and _is_disk(d)], aliases, "aliases")
    names = {device.address for device in base_devices}
    classic = [d.address for d in listing.rows if d.is_classic_alias and d.alias_of in names]
    if classic:
        raise InputError(
            "listing", str(listing.path), f"no classic PAV aliases in a HyperPAV pool ({', '.join(classic)}); "
            "ask `planner aliases volume`",
        )  # fmt: skip
    if not base_devices:
        raise InputError("listing", str(listing.path), "an ECKD base device; there is none")
    working = [d for d in base_devices if _required(d, "io_rate").value > 0]
    if not working:
        raise InputError("listing", str(listing.path), "a base device with I/O; there is none")
    if len(base_devices) + len(alias_devices) > ADDRESSES_PER_CONTROL_UNIT:
        raise InputError(
            "bases", f"{len(base_devices)} bases and {len(alias_devices)} aliases",
            f"at most {ADDRESSES_PER_CONTROL_UNIT} addresses, one logical control unit; name a range of bases",
        )  # fmt: skip
    notes = []
    if idle := len(base_devices) - len(working):
        notes.append(f"{idle} bases without I/O need no alias")
    if alias_devices:
        parts = [_measure(working, alias_devices)]
        notes.append("volumes taken as equal: a listing does not say for which volume an alias worked")
    else:
        parts = [_measure(group, []) for group in _classes(working)]
    share, wait = _behind([*working, *alias_devices])
    addresses = sorted(int(device.address, 16) for device in base_devices)
    return Run(
        name=f"pool {addresses[0]:04X}-{addresses[-1]:04X}",
        aliases=len(alias_devices),
        classes=tuple(parts),
        pool=True,
        path_share=share,
        cu_wait=wait,
        source=listing.run,
        notes=tuple(notes),
    )


def from_numbers(
    *, io_rate: Interval, service: Interval, response: Interval | None, queued: Interval | None, volumes: int, aliases: int,
    pool: bool,
) -> Run:  # fmt: skip
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
    if response is not None and response.high < service.low:
        raise InputError("response", response.value, f"at least the service time, {service.value:g} s", "s")
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
    )
    name = f"pool of {volumes} volumes" if pool else "volume"
    return Run(name=name, aliases=aliases, classes=(part,), pool=pool)


def listing_run(listing: DeviceListing) -> Run:
    """Read a listing as one system: a volume if it has one base without HyperPAV aliases, else a pool.

    Parameters
    ----------
    listing : DeviceListing
        One DEVICE listing.

    Returns
    -------
    Run
        The volume or the pool.

    Raises
    ------
    InputError
        The listing holds no such system, or a number is not available.
    """
    bases = [device for device in listing.rows if _is_base(device)]
    shared = any(device.is_hyperpav_alias for device in listing.rows)
    return volume_runs(listing)[0] if len(bases) == 1 and not shared else pool_run(listing)
