"""What aliases must achieve: the one test of it, for every answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from planner import units
from planner.errors import InputError
from planner.results import Array, Flags
from planner.units import MILLISECOND, given, percent

WAIT_SHARE: Final = 0.05  # of the service time: queueing is gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What the aliases must achieve; all that are given must hold.

    With none given, the mean wait is at most 5 % of the service time. A wait is queue / I/O rate, as a listing has it:
    the redrive gap is not in it. Each may be given as text with its unit: ``Target(wait="0.1ms", no_alias="1%")``.

    * `wait` and `response`: largest mean wait and response time [s].
    * `queued`: largest mean number of I/Os queued, of the whole volume or pool.
    * `no_alias`: largest share of tries that find no alias.
    * `wait_percentile`: share of the I/Os, and the longest that these may wait [s]: ``"95%:2ms"``. Of those that wait
      the waits are taken as exponential (docs/supply-methods.md has the error).
    * `wait_share`: largest mean wait in units of the mean service time, where nothing else is given.
    """

    wait: float | None = None
    response: float | None = None
    queued: float | None = None
    no_alias: float | None = None
    wait_percentile: tuple[float, float] | None = None
    wait_share: float = WAIT_SHARE

    if TYPE_CHECKING:  # what may be given; what is kept is SI

        def __init__(
            self, *, wait: float | str | None = None, response: float | str | None = None,
            queued: float | str | None = None, no_alias: float | str | None = None,
            wait_percentile: tuple[float, float] | str | None = None, wait_share: float | str = WAIT_SHARE,
        ) -> None: ...  # fmt: skip

    def __post_init__(self) -> None:
        """Take text with a unit as SI; refuse what is no target."""
        if self.wait_percentile is not None:
            object.__setattr__(self, "wait_percentile", percentile(self.wait_percentile))
        for name in ("wait", "response", "queued", "no_alias", "wait_share"):
            given = getattr(self, name)
            if isinstance(given, str):
                if name in ("wait", "response"):
                    value = units.parse(given, "time", argument=name, zero=name == "wait")
                elif name == "queued":
                    value = units.parse_count(given, argument=name)
                else:
                    value = units.share(given, name)
                object.__setattr__(self, name, value)
            elif given is not None and not (units.is_number(given) and math.isfinite(given) and given >= 0):
                raise InputError(
                    name, given, "a target of zero or more, such as wait='0.1ms' or no_alias='1%'"
                )
        if self.no_alias is not None and self.no_alias >= 1.0:
            raise InputError(
                "no_alias", self.no_alias, "a share below 100%: all tries fail without any alias"
            )

    @property
    def of_waits(self) -> bool:
        """Whether means of waits and queues, which listings have, decide."""
        return self.no_alias is None and self.wait_percentile is None

    def excess(
        self, rate: Array, service: Array, queue: Array, no_alias: Array | float = np.nan,
        waits: Array | float = np.nan,
    ) -> Array:  # fmt: skip
        """How far the target is missed; `waits` are I/Os that find no alias [1/s]: where none does, no try fails."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            wait = np.asarray(queue / rate)
            given = (
                (wait, self.wait), (wait + service, self.response), (queue, self.queued),
                (np.broadcast_to(np.where(np.equal(waits, 0.0), 0.0, no_alias), wait.shape), self.no_alias),
            )  # fmt: skip
            ratios = [
                np.divide(value, limit) if limit else np.where(np.asarray(value) > 0.0, np.inf, value)
                for value, limit in given
                if limit is not None
            ]
            if self.wait_percentile is not None:
                share, limit = self.wait_percentile
                found = np.broadcast_to(np.minimum(waits / rate, 1.0), wait.shape)
                longer = np.where(queue > 0.0, found * np.exp(-limit * found / wait), np.minimum(queue, 0.0))
                ratios.append(longer / (1.0 - share))
            return np.asarray(np.max(ratios, axis=0) if ratios else wait / (self.wait_share * service))

    def met(
        self, rate: Array, service: Array, queue: Array, no_alias: Array | float = np.nan,
        waits: Array | float = np.nan,
    ) -> Flags:  # fmt: skip
        """Where the target is met."""
        return np.asarray(self.excess(rate, service, queue, no_alias, waits) <= 1.0)

    def longest_wait(self, rate: Array, service: Array) -> Array:
        """Longest mean wait that meets a target `of_waits` [s]; below zero where the service takes longer."""
        given = (
            self.wait, None if self.response is None else self.response - service,
            None if self.queued is None else self.queued / rate,
        )  # fmt: skip
        limits = [np.broadcast_to(each, rate.shape) for each in given if each is not None]
        return np.asarray(np.min(limits, axis=0) if limits else self.wait_share * service)

    def with_waits(self, factor: float) -> Target:
        """Take the same as a target for waits and queues this many times as long."""
        wait, queued = (None if each is None else each / factor for each in (self.wait, self.queued))
        longest = self.wait_percentile and (self.wait_percentile[0], self.wait_percentile[1] / factor)
        return replace(
            self, wait=wait, queued=queued, wait_percentile=longest, wait_share=self.wait_share / factor
        )

    def __str__(self) -> str:
        """Say the target in words."""
        words = [
            f"wait at most {given(self.wait / MILLISECOND)} ms" if self.wait is not None else "",
            f"response at most {given(self.response / MILLISECOND)} ms" if self.response is not None else "",
            f"at most {given(self.queued)} I/Os queued" if self.queued is not None else "",
            f"at most {percent(self.no_alias)} of the tries without alias"
            if self.no_alias is not None
            else "",
            ""
            if self.wait_percentile is None
            else f"{percent(self.wait_percentile[0], 5)} of the I/Os wait at most "
            f"{given(self.wait_percentile[1] / MILLISECOND)} ms",
        ]
        return (
            " and ".join(filter(None, words))
            or f"wait at most {percent(self.wait_share)} of the service time"
        )


def percentile(given: Any) -> tuple[float, float]:
    """Share of the I/Os and the longest that they may wait [s], from text as ``95%:2ms`` or both numbers."""
    expected = "a share of the I/Os and a time, such as 95%:2ms"
    try:
        share, longest = given.split(":") if isinstance(given, str) else given
        if isinstance(longest, str):
            longest = units.parse(longest, "time", argument="wait_percentile")
        found = round(units.share(share, "wait_percentile"), 15), float(longest)
    except (InputError, TypeError, ValueError):
        raise InputError("wait_percentile", given, expected) from None
    if not (0.0 < found[0] < 1.0 and 0.0 < found[1] < math.inf):
        raise InputError("wait_percentile", given, f"{expected}; the share above 0 % and below 100 %")
    return found
