"""DEVICE listings to runs: which rows are a volume's, which are a pool's, what they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from planner.errors import InputError
from planner.measurements.classes import equal_classes
from planner.measurements.run import ADDRESSES_PER_CONTROL_UNIT, Interval, Measurement, Run, sharpened
from planner.reports import Device, DeviceListing
from planner.reports.device_range import device_range
from planner.reports.membership import Membership

ECKD_DISKS: Final = ("3390", "3380")


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


def _total(intervals: Iterable[Interval]) -> Interval:
    lows, values, highs = zip(*intervals, strict=True)
    return Interval(sum(lows), sum(values), sum(highs))


def _measure(bases: Sequence[Device], aliases: Sequence[Device]) -> Measurement:
    """Totals of equal volumes and the aliases that worked for them."""
    devices = [*bases, *aliases]
    rates = [_required(device, "io_rate") for device in devices]
    total = _total(rates)
    if total.value <= 0:
        raise InputError(
            f"io_rate of {bases[0].address}", 0.0, "a rate above zero: the device did no I/O", "1/s"
        )
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
        queue_shown=sum(_required(base, "queued").value for base in bases),
        rates=() if aliases else tuple(rate.value for rate in rates),
    )


def _classes(bases: Sequence[Device]) -> list[list[Device]]:
    """Volumes of nearly equal rate and requesters."""
    rates = [_required(base, "io_rate").value for base in bases]
    present = [
        rate * _required(base, "service").value + _required(base, "queued").value
        for base, rate in zip(bases, rates, strict=True)
    ]
    return [[bases[k] for k in members] for members in equal_classes(rates, present)]


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
    return _is_disk(device) and not (device.is_hyperpav_alias or device.is_classic_alias)


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
    try:
        return device_range(text)
    except ValueError as error:
        raise InputError(argument, text, str(error)) from None


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
    alias_devices = chosen(
        [d for d in listing.rows if d.is_hyperpav_alias and _is_disk(d)], aliases, "aliases"
    )
    if not base_devices:
        raise InputError("listing", str(listing.path), "an ECKD base device; there is none")
    addresses = sorted(int(device.address, 16) for device in base_devices)
    run = _pool(listing, f"pool {addresses[0]:04X}-{addresses[-1]:04X}", base_devices, alias_devices)
    if run is None:
        raise InputError("listing", str(listing.path), "a base device with I/O; there is none")
    return run


def member_runs(listing: DeviceListing, members: Membership) -> list[tuple[str, int, int, Run | None]]:
    """Read all pools of a listing, as a table of their members tells them.

    Parameters
    ----------
    listing : DeviceListing
        One DEVICE listing.
    members : Membership
        Which device belongs to which pool.

    Returns
    -------
    list of tuple
        Name, volumes, aliases and run of each pool of which the listing has a base; None without I/O. Members that
        the listing does not show count as devices without I/O.

    Raises
    ------
    InputError
        No pool has a base in the listing, classic PAV aliases, more than 256 addresses, or a number not available.
    """
    shown = {device.address: device for device in listing.rows}
    found = []
    for pool in members.pools:
        bases, aliases = members.of(pool, "base"), members.of(pool, "alias")
        present = [shown[address] for address in bases if address in shown]
        if present:
            name = f"pool {pool}"
            working = [shown[address] for address in aliases if address in shown]
            run = _pool(
                listing,
                name,
                present,
                working,
                absent=(len(bases) - len(present), len(aliases) - len(working)),
            )
            found.append((name, len(bases), len(aliases), run))
    if not found:
        raise InputError("members", str(members.path), f"pools with base devices of {listing.path}")
    return found


def _pool(
    listing: DeviceListing,
    name: str,
    bases: Sequence[Device],
    aliases: Sequence[Device],
    absent: tuple[int, int] = (0, 0),
) -> Run | None:
    """The run of a pool of which these devices are in the listing, and so many bases and aliases are not."""
    names = {device.address for device in bases}
    classic = [d.address for d in listing.rows if d.is_classic_alias and d.alias_of in names]
    if classic:
        raise InputError(
            "listing", str(listing.path), f"no classic PAV aliases in a HyperPAV pool ({', '.join(classic)}); "
            "ask `planner aliases volume`",
        )  # fmt: skip
    volumes, in_use = len(bases) + absent[0], len(aliases) + absent[1]
    if volumes + in_use > ADDRESSES_PER_CONTROL_UNIT:
        raise InputError(
            "bases", f"{volumes} bases and {in_use} aliases",
            f"at most {ADDRESSES_PER_CONTROL_UNIT} addresses, one logical control unit; name a range of bases, or the "
            "members of each pool in a table",
        )  # fmt: skip
    working = [d for d in bases if _required(d, "io_rate").value > 0]
    if not working:
        return None
    notes = []
    if idle := volumes - len(working):
        notes.append(f"{idle} bases without I/O need no alias")
    if in_use:
        parts = [replace(_measure(working, aliases), aliases=in_use, rates=())]
        notes.append("volumes taken as equal: a listing does not say for which volume an alias worked")
    else:
        parts = [_measure(group, []) for group in _classes(working)]
    share, wait = _behind([*working, *aliases])
    return Run(
        name=name,
        aliases=in_use,
        classes=tuple(parts),
        pool=True,
        path_share=share,
        cu_wait=wait,
        source=listing.run,
        notes=tuple(notes),
    )


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
