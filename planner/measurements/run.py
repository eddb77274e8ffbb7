"""What was measured of a volume or a pool: one structure, arrays over the volumes, whatever it was read from."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Final

import numpy as np

from planner.errors import InputError
from planner.interval import Interval
from planner.measurements.choose import SAMPLES
from planner.results import Array
from planner.units import ADDRESSES, MILLISECOND


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """One measurement of a volume, or of the volumes of a pool.

    * `name`: the base device, or the pool.
    * `pool`: whether the aliases are shared among the volumes.
    * `aliases`: aliases in use, those of the pool or the volume's own.
    * `volumes`: names of the volumes that did I/O.
    * `io_rate`, `service` and `queued`: of each volume, shape (volumes,): I/Os with those of its aliases [1/s], mean
      service time [s], I/Os waiting; without an upper end where the queue was not measured.
    * `queue_shown`: the queue as it was shown, which the rule of thumb takes, shape (volumes,).
    * `own`: whether the numbers are each volume's own; else means: a listing does not say for whom an alias worked.
    * `idle`: bases without I/O, beside those in `volumes`.
    * `together`: how much the bursts of each volume come together with those of the other volumes, from 0 (independent)
      to 1 (all at once), shape () or (volumes,); nan where that is not known.
    * `path_share`: share of pend or of disconnect, the larger, in the service time; None where the source does not say.
    * `cu_wait`: control unit wait [s]; None where the source does not say.
    * `source`: name of the measurement.
    * `start`: when it began.
    * `interval`: which of several intervals it is, in a few words; empty where there is one.
    * `last_aliases`: aliases in use in the last of several intervals; None where it is this one.
    * `notes`: what the user should know of how it was read.
    * `assumed`: what was taken for a service time that was not measured, as a sentence; empty where it was.
    * `ends`: the same with the shortest and the longest service time that it may have, or queue where that was sampled;
      with the longest queue only where none was measured; empty where both are known.
    """

    name: str
    pool: bool
    aliases: int
    volumes: tuple[str, ...]
    io_rate: Interval
    service: Interval
    queued: Interval
    queue_shown: Array
    own: bool = True
    idle: int = 0
    together: Array | float = math.nan
    path_share: float | None = None
    cu_wait: float | None = None
    source: str = ""
    start: datetime | None = None
    interval: str = ""
    last_aliases: int | None = None
    notes: tuple[str, ...] = field(default=())
    assumed: str = ""
    ends: tuple[Run, ...] = field(default=(), repr=False)

    @property
    def bases(self) -> int:
        """Number of volumes that did I/O."""
        return len(self.volumes)

    @cached_property
    def total_rate(self) -> Interval:
        """I/O rate of all volumes [1/s]."""
        return self.io_rate.sum()

    @cached_property
    def total_queue(self) -> Interval:
        """Queues of all volumes [I/Os]."""
        return self.queued.sum()

    @cached_property
    def mean_service(self) -> Interval:
        """Mean service time, weighted by rate [s]."""
        found: Interval = (self.service * (self.io_rate.value / self.total_rate.value)).sum()
        return found

    @property
    def mean_response(self) -> float:
        """Mean service plus all queues over the rate of all volumes [s]."""
        return float(self.mean_service.value + self.total_queue.value / self.total_rate.value)

    @property
    def responses(self) -> Array:
        """Service plus queue over rate of each volume [s]."""
        return np.asarray(self.service.value + self.queued.value / self.io_rate.value)

    @property
    def load(self) -> float:
        """I/Os in service, of all volumes [erlang]."""
        return float(self.io_rate.value @ self.service.value)

    def beyond_bases(self, times: float = 1.0, gap: float = 0.0) -> float:
        """Devices that volumes keep busy beyond their bases, at rates so many times as high, with a gap [s] an I/O."""
        busy = self.io_rate.value * (self.service.value + gap) * times
        return float(np.maximum(busy - 1.0, 0.0).sum())

    @property
    def busy(self) -> float:
        """Busy share of one device, bases and aliases alike."""
        return self.load / (self.bases + self.aliases)

    @property
    def come_together(self) -> bool:
        """Whether the bursts of some volumes are known to come together."""
        return self.bases > 1 and bool((np.nan_to_num(self.together) > 0.0).any())

    @cached_property
    def queue_known(self) -> bool:
        """Whether the queue of every volume was measured."""
        return bool(np.isfinite(self.queued.high).all())

    @property
    def by_samples(self) -> bool:
        """Whether the queue is the mean of so few samples that chance counts."""
        return bool(self.ends) and not self.assumed and self.queue_known

    @property
    def waiting(self) -> bool | None:
        """Whether any I/O waits; None where the queue was not measured."""
        return bool(self.total_queue.value > 0) if self.queue_known else None

    @property
    def rule_of_thumb(self) -> int | None:
        """Aliases in use plus the summed queue rounded up; a queue below .1 counts as none, one unknown as None."""
        return self.aliases + math.ceil(round(self.thumb_queue, 6)) if self.queue_known else None

    @property
    def thumb_queue(self) -> float:
        """The queue that the rule of thumb takes [I/Os]: less than .1 of a volume is none."""
        return float(self.queue_shown[self.queue_shown >= 0.1].sum())  # noqa: PLR2004 - of the rule

    @property
    def most_aliases(self) -> int:
        """What one logical control unit has addresses for."""
        return max(ADDRESSES - self.bases - self.idle, 0)

    def check(self) -> None:
        """Refuse what contradicts itself; a rate and a service time alone are an offered load, which may be any."""
        if not self.queue_known:
            return
        each = self.io_rate.low * self.service.low
        devices = 1 + self.aliases
        over = np.flatnonzero(each > devices)
        if over.size:
            k = int(over[np.argmax(each[over])])
            rate, service = float(self.io_rate.value[k]), float(self.service.value[k])
            more = ", and a queue was measured with the rate"
            if not self.aliases:
                more += "; if aliases were in use, say how many (a column aliases, or `in_use` with numbers)"
            name = f"service time of {self.volumes[k]}"
            raise too_busy(name, rate, service, devices, _devices(self.aliases), more)
        there, load = self.bases + self.idle + self.aliases, float(each.sum())
        if self.pool and load > there:
            wanted = f"at most {there}, its bases and aliases, all of them busy"
            raise InputError(f"rate x service time of {self.name}", round(load, 1), wanted)


def too_busy(
    argument: str, rate: float, service: float, devices: int, words: str, more: str = ""
) -> InputError:
    """The error of a service time that leaves `devices`, named by `words`, more than busy (utilization law)."""
    most = f"at most {devices / rate / MILLISECOND:.4g} ms at {rate:.4g}/s"
    wanted = f"{most}: {words} cannot be busy {rate * service:.3g} times at once{more}"
    return InputError(argument, float(f"{service / MILLISECOND:.6g}"), wanted, "ms")


def _devices(aliases: int) -> str:
    return "one device" if aliases == 0 else f"a base and {aliases} alias{'es' if aliases > 1 else ''}"


BY_CHANCE: Final = (
    "the queue is the mean of few samples: the worst of many intervals is the worst by chance as well; longer ones, or "
    "their mean, tell what lasts"
)


def joined_note(intervals: int) -> str:
    """Say that a row is of several intervals (`planner.measurements.choose.joined_intervals`)."""
    return f"up to {intervals} intervals are joined to one, so that its queue is the mean of some {SAMPLES} samples"
