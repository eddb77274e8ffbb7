"""How many paging devices of one kind a page rate needs: requests of known guests, or pages that come at random."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.devices.paging import PagingDevice, PagingPerformance
from planner.results import Array

REQUESTS_PER_GUEST: Final = (
    2  # a fault read that the guest waits for, and the page write that makes room for it
)
LARGEST_COUNT: Final = 255  # devices: an assumption of ours, where the search ends unless a count is given
LONGEST_RESPONSE: Final = (
    2.0  # default target of pages that come at random, in service times: wait as long as service
)
FARTHEST: Final = 2**40
ROUNDING: Final = 1e-12  # a page rate that just fits is not refused for the rounding of floating point


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What is asked for.

    `page_rate` [1/s]; `guests` that fault (None: pages come at random); `target` [s] or None; `scv` is the squared
    coefficient of variation of a transfer's service, which no measurement tells.
    """

    page_rate: float
    guests: int | None = None
    target: float | None = None
    scv: float = 1.0

    @property
    def requests(self) -> int | None:
        """Requests outstanding or about to come back; None where pages come at random."""
        return None if self.guests is None else REQUESTS_PER_GUEST * self.guests

    def times(self, factor: float) -> Load:
        """The same for another page rate.

        Parameters
        ----------
        factor : float
            Of the page rate.

        Returns
        -------
        Load
            What is asked for then.
        """
        return replace(self, page_rate=factor * self.page_rate)

    def target_of(self, device: PagingDevice) -> float:
        """Longest response time that is accepted of a device [s].

        Parameters
        ----------
        device : PagingDevice
            The device.

        Returns
        -------
        float
            The target; infinite where none was given and the guests bound the queue.
        """
        if self.target is not None:
            return self.target
        return math.inf if self.requests is not None else LONGEST_RESPONSE * device.service_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How so many devices fare: `count`, `utilization`, `response_time` [s], `requests` present per device."""

    count: int
    utilization: float
    response_time: float
    requests: float


def carried_by(device: PagingDevice, load: Load) -> float:
    """Fewest devices that carry the page rate at all, each always busy.

    Parameters
    ----------
    device : PagingDevice
        One device.
    load : Load
        What is asked for.

    Returns
    -------
    float
        A whole number.
    """
    return math.ceil(load.page_rate / device.capacity * (1 - ROUNDING))


def outcome(device: PagingDevice, load: Load, count: int) -> Outcome:
    """Solve so many devices for a load that is spread evenly over them.

    Requests of guests are dealt evenly: some devices have one more than the others. The time between two
    requests of a guest is what makes their page rate the one asked for.

    Parameters
    ----------
    device : PagingDevice
        One of the devices.
    load : Load
        What is asked for.
    count : int
        Devices.

    Returns
    -------
    Outcome
        Utilization 1 and an infinite response time where they do not carry it.
    """
    if load.requests is None:
        alone = device.open(load.page_rate / count, scv=load.scv)
        return Outcome(count=count, utilization=float(alone.utilization),
                       response_time=float(alone.response_time), requests=float(alone.requests))  # fmt: skip
    return _Dealt(device=device, load=load, count=count, requests=load.requests).outcome()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dealt:
    """Requests of guests dealt evenly to so many devices: some have one more than the others."""

    device: PagingDevice
    load: Load
    count: int
    requests: int

    @property
    def devices(self) -> Array:
        """Devices that have the fewer requests, and those that have one more; the rest idle."""
        more = self.requests % min(self.count, self.requests)
        return np.array([min(self.count, self.requests) - more, more], dtype=np.float64)

    @property
    def round_time(self) -> float:
        """Time from one request of a guest to its next at the page rate asked for [s]."""
        return self.requests * self.device.pages_per_transfer / self.load.page_rate

    def at(self, think_time: float) -> PagingPerformance:
        """One device of each sort."""
        each = self.requests // min(self.count, self.requests)
        return self.device.closed(np.array([each, each + 1]), think_time, scv=self.load.scv)

    def excess(self, think_time: float) -> float:
        """Page rate beyond the one asked for, of it."""
        return float(self.devices @ self.at(think_time).page_rate) / self.load.page_rate - 1

    def meets(self, target: float) -> bool:
        """Whether the response time stays within the target: then the guests may think for the rest of a round."""
        return self.excess(max(0.0, self.round_time - target)) >= -ROUNDING

    def outcome(self) -> Outcome:
        """Solve for the think time that gives the page rate."""
        from scipy.optimize import brentq

        most = self.excess(0.0)
        if most < -ROUNDING:
            present = self.requests / self.count
            return Outcome(count=self.count, utilization=1.0, response_time=math.inf, requests=present)
        think = 0.0 if most <= 0 else float(brentq(self.excess, 0.0, self.round_time, xtol=1e-15, rtol=1e-12))
        solved = self.at(think)
        return Outcome(
            count=self.count,
            utilization=float(self.devices @ solved.utilization) / self.count,
            response_time=self.round_time - think,
            requests=float(self.devices @ solved.requests) / self.count,
        )


def fewest(device: PagingDevice, load: Load) -> Outcome | None:
    """Find the smallest number of devices that carries the page rate within the target.

    Parameters
    ----------
    device : PagingDevice
        One of the devices.
    load : Load
        What is asked for.

    Returns
    -------
    Outcome or None
        None where no number does: the target lies below the service time, or too few requests are outstanding.
    """
    target = load.target_of(device)
    least = max(1, int(carried_by(device, load)))
    most = FARTHEST if load.requests is None else load.requests

    def meets(count: int) -> bool:
        if load.requests is None:
            return outcome(device, load, count).response_time <= target
        return _Dealt(device=device, load=load, count=count, requests=load.requests).meets(target)

    unreachable = target <= device.service_time if load.requests is None else target < device.service_time
    if unreachable or least > most or not meets(most):
        return None
    return outcome(device, load, _smallest(meets, least, most))


def _smallest(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Smallest whole number for which `holds`, which stays true from there on and is true at `high`."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
