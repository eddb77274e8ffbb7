"""One of many pools as it was measured, and how many aliases it needs: one row of the answer for all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from planner import render
from planner.units import MILLISECOND

if TYPE_CHECKING:
    from planner.measurements import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPool:
    """A pool as it was measured.

    Attributes
    ----------
    name : str
        Its name.
    volumes, aliases : int
        Its devices, volumes without I/O too.
    runs : tuple of Run
        Measurements of it, the present state last; none where it has no load.
    """

    name: str
    volumes: int
    aliases: int
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What a listing would show of a pool: `io_rate` [1/s], mean `response_time` [s], I/Os `queued`."""

    io_rate: float
    response_time: float
    queued: float

    @property
    def service_time(self) -> float:
        """Response time less wait [s]; nan where the queue grows without bound."""
        bounded = math.isfinite(self.response_time) and self.io_rate > 0
        return self.response_time - self.queued / self.io_rate if bounded else math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCount:
    """How many aliases one of many pools needs, and what they bring.

    Attributes
    ----------
    name : str
        The pool.
    volumes, in_use : int
        Its volumes, and aliases at the time of the measurement.
    recommended : int or None
        Smallest count that meets the target, aliases in use included; None where none does.
    range : tuple of int or None
        Smallest and largest count over the readings of the demand and the rule of thumb.
    rule_of_thumb : int or None
        Aliases in use plus the summed queue rounded up; None where the queue was not measured.
    classic : int or None
        Aliases that classic PAV would take for the same target; None where it cannot meet it.
    now, then : Traffic or None
        With the aliases in use and with the recommended ones; response and queue are inf where a queue grows without
        bound. None without I/O, and `then` without an answer.
    grouping_error : float
        As of `planner.sizing.AliasAnswer`.
    notes : tuple of str
        How it was read.
    problem : str or None
        Why there is no answer.
    exit_code : int
        What the command returns for the problem.
    """

    name: str
    volumes: int
    in_use: int
    recommended: int | None = None
    range: tuple[int, int] | None = None
    rule_of_thumb: int | None = None
    classic: int | None = None
    now: Traffic | None = None
    then: Traffic | None = None
    grouping_error: float = 0.0
    notes: tuple[str, ...] = ()
    problem: str | None = None
    exit_code: int = 0

    @property
    def saved(self) -> int | None:
        """Device numbers that the pool takes less than classic PAV."""
        if self.classic is None or self.recommended is None:
            return None
        return self.classic - self.recommended


Value = Callable[[PoolCount], Any]
Columns = tuple[tuple[str, str, Value, str, int | None], ...]


def _of(when: str, name: str, unit: float = 1.0) -> Value:
    """A figure of the traffic now or then; None where there is none."""

    def value(pool: PoolCount) -> float | None:
        traffic = getattr(pool, when)
        return None if traffic is None else getattr(traffic, name) / unit

    return value


COLUMNS: Final[Columns] = (
    ("pool", "", lambda p: p.name, "pool", None),
    ("volumes", "", lambda p: p.volumes, "volumes", 0),
    ("in_use", "", lambda p: p.in_use, "in use", 0),
    ("recommended", "", lambda p: p.recommended, "recommended", 0),
    ("recommended_low", "", lambda p: p.range and p.range[0], "from", 0),
    ("recommended_high", "", lambda p: p.range and p.range[1], "to", 0),
    ("rule_of_thumb", "", lambda p: p.rule_of_thumb, "rule", 0),
    ("classic_aliases", "", lambda p: p.classic, "classic", 0),
    ("saved", "", lambda p: p.saved, "saved", 0),
    ("io_rate", "1/s", _of("now", "io_rate"), "I/O rate", 0),
    ("io_rate_after", "1/s", _of("then", "io_rate"), "then", 0),
    ("response", "ms", _of("now", "response_time", MILLISECOND), "response", 2),
    ("response_after", "ms", _of("then", "response_time", MILLISECOND), "then", 2),
    ("queued", "", _of("now", "queued"), "queued", 2),
    ("queued_after", "", _of("then", "queued"), "then", 2),
)


def table_of(pools: Sequence[PoolCount]) -> render.Table:
    """One row a pool."""
    return render.Table(
        columns=tuple(
            render.Column(name=name, unit=unit, values=[value(pool) for pool in pools], label=label, decimals=digits)
            for name, unit, value, label, digits in COLUMNS
        )
    )  # fmt: skip


def all_traffic(each: Sequence[Traffic | None]) -> Traffic | None:
    """Sums over pools, the response time weighted by rate."""
    known = [traffic for traffic in each if traffic is not None]
    if not known:
        return None
    rate = math.fsum(traffic.io_rate for traffic in known)
    present = math.fsum(traffic.io_rate * traffic.response_time for traffic in known)
    return Traffic(
        io_rate=rate, response_time=present / rate, queued=math.fsum(traffic.queued for traffic in known)
    )
