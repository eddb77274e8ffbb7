"""Between what the service time of a volume lies where only rate, response time and utilization were measured.

A disk of Linux says how often I/Os come (rate X), how long they take with their wait (response R), hence how many are
present (X R, the ``aqu-sz`` of iostat), and for which share of the time any is (utilization U); not how long they are
served (S). With c devices, base and aliases, and n I/Os present min(n, c) are busy, whoever sends them, so that the
busy ones, X S on average, lie between

    U <= X S <= min(X R, c U, c).

With one device this is S = U / X. Kernels from 4.17 to 6.9 overstate U (``utilization.low`` is 0 then): only the upper
end holds, and the lower one follows from how I/Os come. Where they come at random times in geometric batches of b on
average,

    R = S (1 - 1/c) + b S / (c - X S),

exactly for one device (the batch arrivals queue M^X/M/1: Chaudhry and Templeton 1983, section 3.2), hence
S = R / (b + X R), and nearly for several (the wait is that of one device c times as fast). One by one (b = 1) is the
value, and three at a time (`BUNCHED`) the lower end. Requesters that wait for their own I/Os wait less than random
arrivals do, so that their service time is between value and upper end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import ArrayLike

from planner.errors import InputError
from planner.interval import Interval
from planner.results import Array
from planner.units import MILLISECOND, readable

if TYPE_CHECKING:
    from planner.measurements.read import Measured

BUNCHED: Final = 3.0
KNOWN: Final = 0.05  # relative width up to which the ends are one


def service_bracket(
    rate: Interval, response: Interval, utilization: Interval, *, aliases: ArrayLike, shared: ArrayLike
) -> Interval:
    """Find between what service times lie."""
    longest = response.high  # a time that prints as nothing is some part of what it may be
    value = np.where(response.value > 0, response.value, longest / 2)
    response = Interval(np.where(response.low > 0, response.low, longest / 4), value, longest)
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
    import polars as pl

    missing = pl.col("service").is_null() & pl.col("response").is_not_null()
    devices = measured.devices
    if not devices.select(missing.any()).item():
        given = float(service.value) / MILLISECOND
        raise InputError(
            "service", f"{given:g} ms", "files that say no service time; these have measured ones"
        )
    ends = zip(("_low", "", "_high"), service, strict=True)
    return replace(
        measured,
        devices=devices.with_columns(
            pl.when(missing)
            .then(pl.min_horizontal(pl.lit(float(end)), f"response{name}"))
            .otherwise(pl.col(f"service{name}"))
            .alias(f"service{name}")
            for name, end in ends
        ),
    )


def _served(rate: Array, response: Array, devices: Array, batch: float) -> Array:
    """Solve R = S (1 - 1/c) + b S / (c - X S) for S: the smaller root, without cancellation."""
    linear = devices - 1.0 + batch + rate * response
    square = 4.0 * (1.0 - 1.0 / devices) * rate * response * devices
    return np.asarray(2.0 * response * devices / (linear + np.sqrt(linear**2 - square)))


def in_words(bracket: Interval, rate: Array) -> str:
    """Say what was taken for the service time of some volumes: means by rate."""
    low, value, high = (float(rate @ end / rate.sum()) / MILLISECOND for end in bracket)
    if high - low <= KNOWN * value:
        return f"Service time was not measured: {readable(value)} ms by rate and utilization."
    taken, least, most = map(readable, (value, low, high))
    return f"Service time was not measured: {taken} ms taken, {least} to {most} ms possible."
