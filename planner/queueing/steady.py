"""The result of every single-station queueing model in the long run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planner.errors import InputError
from planner.queueing import checks
from planner.results import Array, Result, quantity


class DelayLaw(Protocol):
    """Distribution of the wait and of the response of a station; None where that one is not known."""

    def wait_quantile(self, p: Array) -> Array | None:
        """Wait that a share p of the requests does not exceed [s]."""

    def response_quantile(self, p: Array) -> Array | None:
        """Response time that a share p of the requests does not exceed [s]."""


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
        Probability that a request, as it arrives, has to wait.
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
        False where the load reaches the capacity; waits are infinite there.
    law : Law or None
        Distribution of waits and responses where it is known.
    """

    throughput: Array = quantity("throughput", "1/s")
    utilization: Array = quantity("utilization")
    delay_probability: Array = quantity("delay probability")
    queue_length: Array = quantity("queue length")
    in_gap: Array = quantity("in gap")
    in_service: Array = quantity("in service")
    wait_time: Array = quantity("wait time", "s")
    service_time: Array = quantity("service time", "s")
    stable: NDArray[np.bool_]
    law: DelayLaw | None = None
    derived: ClassVar[dict[str, tuple[str, str]]] = {"response_time": ("response time", "s")}

    def __post_init__(self) -> None:
        """Freeze `stable` as well."""
        Result.__post_init__(self)
        stable = np.asarray(self.stable, dtype=bool).view()
        stable.flags.writeable = False
        object.__setattr__(self, "stable", stable)

    @property
    def response_time(self) -> Array:
        """Mean time from arrival to the end of service [s]: wait plus service."""
        return self.wait_time + self.service_time

    def wait_quantile(self, p: ArrayLike) -> Array:
        """Time that a share p of the requests waits at most.

        Parameters
        ----------
        p : array_like
            Share of the requests, inside (0, 1); broadcasts against the result.

        Returns
        -------
        ndarray
            Wait [s]; 0 where so many do not wait at all, inf where saturated.

        Raises
        ------
        InputError
            p outside (0, 1), or the law of the wait is not known for this model.
        """
        share = self._checked_share(p)
        return _known(self.law.wait_quantile(share) if self.law else None, "wait_quantile")

    def response_quantile(self, p: ArrayLike) -> Array:
        """Time within which a share p of the requests is answered.

        Parameters
        ----------
        p : array_like
            Share of the requests, inside (0, 1); broadcasts against the result.

        Returns
        -------
        ndarray
            Response time [s]; inf where saturated.

        Raises
        ------
        InputError
            p outside (0, 1), or the law of the response is not known for this model.
        """
        share = self._checked_share(p)
        return _known(self.law.response_quantile(share) if self.law else None, "response_quantile")

    def _checked_share(self, p: ArrayLike) -> Array:
        return checks.broadcast(p=checks.probability("p", p), result=self.wait_time)[0]

    @classmethod
    def from_sums(cls, sums: Array, servers: Array, law: DelayLaw | None = None) -> Self:
        """Assemble a stable steady state from what a chain was summed to.

        Parameters
        ----------
        sums : ndarray, shape (6, ...)
            Throughput [1/s], in service, waiting, in gap, delay probability, service time [s].
        servers : ndarray, shape (...)
            Servers.
        law : Law, optional
            Distribution of waits and responses where it is known.

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
            law=law,
        )


def _known(quantile: Array | None, name: str) -> Array:
    if quantile is None:
        known = (
            "a model whose law is known: mmc, mmck, finite_source with scv 1 and no gap, or mgc by 'exact'"
        )
        raise InputError(name, "mean values only", known)
    return quantile
