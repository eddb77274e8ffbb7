"""The result of every single-station queueing model in the long run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from planner.results import Array, Result, quantity


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Steady(Result):
    """Steady state of one queueing station, arrays in the broadcast shape of the arguments.

    Attributes
    ----------
    throughput : ndarray
        Requests completed [1/s].
    utilization : ndarray
        Share of time one server is in service (gaps do not count).
    delay_probability : ndarray
        Probability that an arriving request finds all servers occupied.
    queue_length : ndarray
        Mean number of requests waiting, those in a redrive gap included.
    in_gap : ndarray
        Mean number of requests in a redrive gap; part of `queue_length`.
    in_service : ndarray
        Mean number of requests in service.
    wait_time : ndarray
        Mean time from arrival to the start of service [s].
    service_time : ndarray
        Mean service time, inflated by concurrency where that was asked for [s].
    stable : ndarray of bool
        False where the load exceeds the capacity; waits are infinite there.
    """

    throughput: Array = quantity("throughput", "1/s")
    utilization: Array = quantity("utilization")
    delay_probability: Array = quantity("delay probability")
    queue_length: Array = quantity("queue length")
    in_gap: Array = quantity("in gap")
    in_service: Array = quantity("in service")
    wait_time: Array = quantity("wait time", "s")
    service_time: Array = quantity("service time", "s")
    stable: Array
    derived: ClassVar[dict[str, tuple[str, str]]] = {"response_time": ("response time", "s")}

    @property
    def response_time(self) -> Array:
        """Mean time from arrival to the end of service [s]: wait plus service."""
        return self.wait_time + self.service_time

    @classmethod
    def from_sums(cls, sums: Array, servers: Array) -> Self:
        """Assemble a stable steady state from what a chain was summed to.

        Parameters
        ----------
        sums : ndarray, shape (6, ...)
            Throughput [1/s], in service, waiting, in gap, delay probability, service time [s].
        servers : ndarray, shape (...)
            Servers.

        Returns
        -------
        Steady
            In the shape of `servers`.
        """
        throughput, busy, waiting, in_gap, delay, service = sums
        return cls(
            throughput=throughput,
            utilization=busy / servers,
            delay_probability=delay,
            queue_length=waiting,
            in_gap=in_gap,
            in_service=busy,
            wait_time=waiting / throughput,
            service_time=service,
            stable=np.ones(servers.shape, dtype=bool),
        )
