"""A paging device: page transfers that wait for one of a few places at the device, and what they cost CP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import ArrayLike

from planner import queueing
from planner.devices import parameters
from planner.devices.parameters import Parameter
from planner.errors import ReportError
from planner.library import Model
from planner.queueing import Steady
from planner.results import Array, Result, quantity

KIND: Final = "paging"
PAGES_PER_TRANSFER: Final = Parameter(
    key="pages_per_transfer", symbol="p", unit="", low=1, high=1000, default=1,
    meaning="pages that one transfer moves, in the mean",
)  # fmt: skip
QUEUE_DEPTH: Final = Parameter(
    key="queue_depth", symbol="c", unit="", low=1, high=1000, default=1,
    meaning="transfers that the device works on at a time; 1 is serialized",
)  # fmt: skip
OUTSTANDING: Final = Parameter(
    key="outstanding", symbol="n", unit="", low=1, high=1000, default=1,
    meaning="requests outstanding per device while it was measured; beyond it nothing was measured",
)  # fmt: skip
CP_TIME: Final = Parameter(
    key="cp_time", symbol="u", unit="s", low=0, high=1, default=0,
    meaning="CP processor time per page, charged to users and to the system",
)  # fmt: skip
CP_SYSTEM_TIME: Final = Parameter(
    key="cp_system_time", symbol="u_s", unit="s", low=0, high=1, default=0,
    meaning="the part of it that is charged to the system; missing where only the sum was published",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PagingPerformance(Result):
    """What one paging device does: pages, transfers and the time a page waits for.

    `response_time` is that of a transfer, from the request to its end, and hence of the pages in it.
    """

    page_rate: Array = quantity("page rate", "1/s")
    transfer_rate: Array = quantity("transfer rate", "1/s")
    utilization: Array = quantity("utilization")
    response_time: Array = quantity("response time", "s")
    requests: Array = quantity("requests present")
    processors: Array = quantity("CP processors")


@dataclass(frozen=True, slots=True, kw_only=True)
class PagingDevice:
    """One paging device.

    `service_time` [s] is that of a transfer of `pages_per_transfer` pages; the device works on `queue_depth`
    transfers at a time. `cp_time` [s] is CP processor time per page, `cp_system_time` [s] the part of it charged
    to the system (None where only the sum is known); `outstanding` requests were present when it was measured.
    """

    service_time: float
    pages_per_transfer: float = 1.0
    queue_depth: int = 1
    cp_time: float = 0.0
    cp_system_time: float | None = None
    outstanding: float = 1.0
    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        parameters.SERVICE_TIME,
        PAGES_PER_TRANSFER,
        QUEUE_DEPTH,
        OUTSTANDING,
        CP_TIME,
        CP_SYSTEM_TIME,
    )

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Take the device from a model.

        Parameters
        ----------
        model : planner.library.Model
            A model of kind paging.

        Returns
        -------
        PagingDevice
            The device that the model describes.

        Raises
        ------
        InputError
            The model is of another kind, or a value lies outside its bounds.
        ReportError
            The model lacks a parameter.
        """
        found = parameters.values(model, KIND, cls.PARAMETERS)
        for parameter in cls.PARAMETERS:
            if parameter.key not in found and parameter is not CP_SYSTEM_TIME:
                raise ReportError(model.title, f"expected `parameters.{parameter.file_key}`")
        return cls(
            service_time=found["service_time"],
            pages_per_transfer=found["pages_per_transfer"],
            queue_depth=int(found["queue_depth"]),
            cp_time=found["cp_time"],
            cp_system_time=found.get("cp_system_time"),
            outstanding=found["outstanding"],
        )

    @property
    def capacity(self) -> float:
        """Pages per second that the device carries when it always has work [1/s]."""
        return self.queue_depth * self.pages_per_transfer / self.service_time

    def closed(
        self, requests: ArrayLike, think_time: ArrayLike = 0.0, *, scv: float = 1.0
    ) -> PagingPerformance:
        """Solve the device for a fixed number of requests that come back (`planner.queueing.finite_source`).

        Parameters
        ----------
        requests : array_like
            Requests that are outstanding or about to come back: fault reads that guests wait for, and page writes.
        think_time : array_like, optional
            Mean time until an answered request comes back [s].
        scv : float, optional
            Squared coefficient of variation of the service time.

        Returns
        -------
        PagingPerformance
            In the broadcast shape of the arguments.

        Raises
        ------
        InputError
            An argument outside its domain.

        Examples
        --------
        >>> device = PagingDevice(service_time=1 / 283.0, pages_per_transfer=21.8)
        >>> device.closed(2).transfer_rate.round(1).tolist()
        283.0
        """
        return self._performance(
            queueing.finite_source(requests, think_time, self.service_time, self.queue_depth, scv=scv)
        )

    def open(self, page_rate: ArrayLike, *, scv: float = 1.0) -> PagingPerformance:
        """Solve the device for pages that come at random (`planner.queueing.mgc`, which is M/M/c at scv 1).

        Parameters
        ----------
        page_rate : array_like
            Pages per second [1/s].
        scv : float, optional
            Squared coefficient of variation of the service time.

        Returns
        -------
        PagingPerformance
            In the shape of the argument; saturated elements have an infinite response time.

        Raises
        ------
        InputError
            An argument outside its domain.

        Examples
        --------
        >>> bool(PagingDevice(service_time=1e-3).open(1200).response_time == float("inf"))
        True
        """
        transfers = np.asarray(page_rate, dtype=np.float64) / self.pages_per_transfer
        return self._performance(queueing.mgc(transfers, self.service_time, self.queue_depth, scv))

    def _performance(self, steady: Steady) -> PagingPerformance:
        pages = steady.throughput * self.pages_per_transfer
        return PagingPerformance(
            page_rate=pages,
            transfer_rate=steady.throughput,
            utilization=steady.utilization,
            response_time=steady.response_time,
            requests=steady.in_service + steady.queue_length,
            processors=pages * self.cp_time,
        )
