"""A paging device: page transfers queue for its servers and cost CP time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import ArrayLike

from planner import queueing
from planner.devices import parameters
from planner.devices.parameters import MODEL_ERROR, Figures, Scenario
from planner.library import Model
from planner.quantity import Quantity
from planner.queueing import Steady
from planner.results import Array, Result, quantity

KIND: Final = "paging"


def _count(key: str, symbol: str, meaning: str, *, whole: bool = False) -> Quantity:
    return Quantity(key=key, symbol=symbol, low=1, high=1000, whole=whole, default=1, meaning=meaning)


def _cost(key: str, symbol: str, meaning: str) -> Quantity:
    return Quantity(key=key, symbol=symbol, unit="s", low=0, high=1, default=0, meaning=meaning)


PAGES_PER_TRANSFER: Final = _count("pages_per_transfer", "p", "mean number of pages in a transfer")
CP_SYSTEM_TIME: Final = _cost(
    "cp_system_time", "u_s", "the part of it that is charged to the system; missing where only the sum was published"
)  # fmt: skip
_NAMES: Final = {"response": "response_time"}  # figures with another name in a result


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PagingPerformance(Result):
    """Pages, transfers and response time (from the request of a transfer to its end) of one paging device."""

    page_rate: Array = quantity("page rate", "1/s")
    transfer_rate: Array = quantity("transfer rate", "1/s")
    utilization: Array = quantity("utilization")
    response_time: Array = quantity("response time", "s")
    requests: Array = quantity("requests present")
    processors: Array = quantity("CP processors")


@dataclass(frozen=True, slots=True, kw_only=True)
class PagingDevice:
    """One paging device.

    A transfer of `pages_per_transfer` pages has the `service_time` [s]; the device works on `queue_depth` transfers at
    a time. `cp_time` [s] is CP processor time per page, `cp_system_time` [s] the part of it charged to the system (None
    where only the sum is known); `outstanding` requests were present during the measurement.
    """

    service_time: float
    pages_per_transfer: float = 1.0
    queue_depth: int = 1
    cp_time: float = 0.0
    cp_system_time: float | None = None
    outstanding: float = 1.0
    PARAMETERS: ClassVar[tuple[Quantity, ...]] = (
        parameters.SERVICE_TIME,
        PAGES_PER_TRANSFER,
        _count("queue_depth", "c", "transfers that the device works on at a time; 1 is serialized", whole=True),
        _count("outstanding", "n", "requests outstanding per device while it was measured; no more were measured"),
        _cost("cp_time", "u", "CP processor time per page, charged to users and to the system"),
        CP_SYSTEM_TIME,
    )  # fmt: skip
    QUESTIONS: ClassVar[tuple[Quantity, ...]] = (
        Quantity(key="outstanding", meaning="requests, outstanding or in their think time", low=1, whole=True,
                 example="outstanding=2"),
        Quantity(key="think_time", meaning="time from the end of a request to the next one", unit="s", default=0.0,
                 example="think_time=1ms"),
        Quantity(key="arrival_rate", meaning="instead: page rate of random arrivals", unit="1/s", default=math.nan,
                 example="arrival_rate=500/s"),
        Quantity(key="scv", meaning="squared coefficient of variation of the service time", default=1.0,
                 example="scv=0.5"),
    )  # fmt: skip
    FIGURES: ClassVar[tuple[Quantity, ...]] = (
        Quantity(key="page_rate", label="pages", unit="1/s", decimals=1, error_of=MODEL_ERROR),
        Quantity(key="transfer_rate", label="transfers", unit="1/s", decimals=1, error_of=MODEL_ERROR),
        Quantity(key="response", label="response", unit="ms", error_of=MODEL_ERROR),
        Quantity(key="utilization", label="busy", decimals=3, high=1.0, error_of=MODEL_ERROR),
        Quantity(key="requests", label="requests", decimals=2, error_of=MODEL_ERROR),
        Quantity(key="processors", label="CP processors", decimals=3, error_of=MODEL_ERROR),
    )

    @classmethod
    def ask(cls, values: Mapping[str, Array], scenarios: Sequence[Scenario]) -> Figures:
        """Solve for requests with think time, or for random page arrivals: there the model error slows the service."""
        keys = ("service_time", "pages_per_transfer", "cp_time", "queue_depth")
        columns: dict[str, Any] = {key: values[key][:, None] for key in keys}
        device = cls(**columns)  # for all parameter sets at once
        off = 1 + values.get(MODEL_ERROR, np.zeros(1))[:, None]
        found = {shown.key: np.full((len(values[keys[0]]), len(scenarios)), np.nan) for shown in cls.FIGURES}
        arrivals, requests, thinks, scv = (
            np.array([float(at[key]) for at in scenarios])
            for key in ("arrival_rate", "outstanding", "think_time", "scv")
        )
        opened = ~np.isnan(arrivals)
        slower = cls(**{**columns, "service_time": columns["service_time"] * off})
        for places in filter(np.size, (np.flatnonzero(opened), np.flatnonzero(~opened))):
            if opened[places[0]]:
                solved = slower.open(arrivals[places], scv=scv[places])
            else:
                solved = device.closed(requests[places], thinks[places], scv=scv[places])
            for key, numbers in found.items():
                numbers[:, places] = getattr(solved, _NAMES.get(key, key)) * np.where(
                    opened[places], 1.0, off
                )
        there = ~opened & (thinks == 0)  # all requests are outstanding all the time
        most = np.minimum(found["requests"], np.where(opened, np.inf, requests))
        found["requests"] = np.where(there, requests, most)
        found["processors"] = np.where(
            opened, off * device.cp_time * np.minimum(arrivals, device.capacity), found["processors"]
        )
        return found | {"page_rate most": np.where(opened, arrivals, np.inf) + 0 * columns["service_time"]}

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Make the device from a model."""
        found = parameters.values(model, KIND, cls.PARAMETERS, optional=(CP_SYSTEM_TIME,))
        return cls(**{**found, "queue_depth": int(found["queue_depth"])})  # type: ignore[arg-type]

    @property
    def capacity(self) -> float:
        """Largest page rate: that of a device that always has work [1/s]."""
        return self.queue_depth * self.pages_per_transfer / self.service_time

    def closed(
        self, requests: ArrayLike, think_time: ArrayLike = 0.0, *, scv: ArrayLike = 1.0
    ) -> PagingPerformance:
        """Solve the device for a fixed number of requests (`planner.queueing.finite_source`).

        >>> device = PagingDevice(service_time=1 / 283.0, pages_per_transfer=21.8)
        >>> device.closed(2).transfer_rate.round(1).tolist()
        283.0
        """
        steady = queueing.finite_source(requests, think_time, self.service_time, self.queue_depth, scv=scv)
        return self._performance(steady)

    def open(self, page_rate: ArrayLike, *, scv: ArrayLike = 1.0) -> PagingPerformance:
        """Solve the device for random page arrivals (`planner.queueing.mgc`, which is M/M/c at scv 1).

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


# Guests that touch pages and wait for pages that are paged out, fitted to a whole system.
SYSTEM_KIND: Final = "system"
SYSTEM_PARAMETERS: Final = (
    parameters.SERVICE_TIME,
    PAGES_PER_TRANSFER,
    replace(
        _cost("touch_time", "t", "processor time of a guest per page that it touches"), low=1e-9, default=1e-6
    ),
    _cost("cp_charged", "u_c", "processor time of CP per page transfer that is charged to the guest"),
    _cost("cp_system", "u_s", "processor time of CP per page transfer that is charged to the system"),
)
