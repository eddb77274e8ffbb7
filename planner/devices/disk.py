"""A disk path: CP time, guest time and disk wait of a transaction, with or without minidisk cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from planner import queueing
from planner.devices import parameters
from planner.devices.parameters import Figures, Scenario
from planner.errors import InputError, ReportError
from planner.library import Model
from planner.quantity import Quantity
from planner.queueing import checks
from planner.results import Array, Result, by_key, quantity

KIND: Final = "disk"
AT_ONCE: Final = 5_000_000  # array elements in one solution of the closed network
LEAST_WORK: Final = 1e-12  # s, so that a transaction that may cost nothing has a rate
Mode = Literal["off", "cached"]

PARTS: Final = {
    "write": "the writes of a transaction, which go to the disk with the cache on and off",
    "off": "its reads without minidisk cache",
    "miss": "its reads through the minidisk cache, all missed",
    "hit": "its reads through the minidisk cache, all hit",
}
COSTS: Final = {
    "cp_time": ("u", "CP processor time"),
    "virtual_time": ("v", "virtual machine processor time"),
    "wait_time": ("w", "wait for the disk"),
}

_FIELDS: Final = {  # figures of an answer, and their names in a result
    "rate": "rate", "cp": "cp_time", "virtual": "virtual_time", "wait": "wait_time", "processors_busy": "processors",
}  # fmt: skip


FACTS: Final = {
    "virtual_ios_off": ("", "virtual I/Os of a transaction without minidisk cache"),
    "virtual_ios_cached": ("", "virtual I/Os of a transaction with minidisk cache"),
    "read_bytes": ("", "bytes that a transaction reads"),
    "write_bytes": ("", "bytes that a transaction writes"),
    "channel_rate": ("bytes_per_s", "data rate of the channel"),
    "measured_hit_ratio": ("", "hit ratio of the cached run, where it is neither 0 nor 1"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionPart:
    """Part of a transaction: `cp_time`, `virtual_time` and `wait_time` for the disk [s]."""

    cp_time: float = 0.0
    virtual_time: float = 0.0
    wait_time: float = 0.0

    @property
    def elapsed(self) -> float:
        """Elapsed time with one requester [s]."""
        return self.cp_time + self.virtual_time + self.wait_time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DiskPerformance(Result):
    """Transactions of a path, one element per scenario; `rate_alone` is the rate of one requester.

    `wait_time` is what the processors leave of requesters over rate (Little's law).
    """

    rate: Array = quantity("transactions", "1/s")
    cp_time: Array = quantity("CP time per transaction", "s")
    virtual_time: Array = quantity("virtual time per transaction", "s")
    wait_time: Array = quantity("wait for disk and channel, their queues with it", "s")
    bytes_moved: Array = quantity("moved through the channel per transaction", "bytes")
    rate_alone: Array = quantity("transactions of one requester", "1/s")
    processor_bound: Array = quantity("bound of the processors", "1/s")
    disk_bound: Array = quantity("bound of the disks", "1/s")
    channel_bound: Array = quantity("bound of the channel", "1/s")
    derived: ClassVar[dict[str, tuple[str, str]]] = {"processors": ("processors busy", "")}

    @property
    def processors(self) -> Array:
        """Processors busy."""
        return self.rate * (self.cp_time + self.virtual_time)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskPath:
    """One workload on one kind of disk.

    `write`, `off`, `miss` and `hit` are the parts of a transaction (None where the workload or the disk has no such
    part); `virtual_ios_off` and `virtual_ios_cached` count its virtual I/Os (None where not counted); `read_bytes` and
    `write_bytes` are the data it reads and writes [bytes]; `channel_rate` is the channel's data rate [bytes/s];
    `measured_hit_ratio` is the hit ratio at which CP and guest time were measured (None: all misses, and all hits).
    """

    write: TransactionPart | None
    off: TransactionPart | None
    miss: TransactionPart | None
    hit: TransactionPart | None
    virtual_ios_off: float | None
    virtual_ios_cached: float | None
    read_bytes: float
    write_bytes: float
    channel_rate: float
    measured_hit_ratio: float | None = None
    PARAMETERS: ClassVar[tuple[Quantity, ...]] = (
        *(
            Quantity(
                key=f"{part}_{cost}", symbol=f"{symbol}_{part}", unit="s", low=0, high=100, default=0,
                meaning=f"{text} per transaction, {where}",
            )
            for part, where in PARTS.items()
            for cost, (symbol, text) in COSTS.items()
        ),
        *(
            Quantity(key=key, symbol=key[0], unit=unit, low=0, high=1e12, default=0, meaning=meaning)
            for key, (unit, meaning) in FACTS.items()
        ),
    )  # fmt: skip
    QUESTIONS: ClassVar[tuple[Quantity, ...]] = (
        Quantity(key="mode", meaning="off: without minidisk cache; cached: through it", words=("off", "cached"),
                 example="mode=cached"),
        Quantity(key="hit_ratio", meaning="reads that the minidisk cache answers", unit="share", high=1.0, default=0.0,
                 example="hit_ratio=0.9"),
        Quantity(key="requesters", meaning="guests with one transaction each at a time", low=1, high=1000, whole=True,
                 default=1.0, example="requesters=8"),
        Quantity(key="processors", meaning="real processors", low=1, high=1000, whole=True, default=1.0,
                 example="processors=2"),
        Quantity(key="disks", meaning="disks that the data are spread over", low=1, high=1000, whole=True, default=1.0,
                 example="disks=4"),
    )  # fmt: skip
    FIGURES: ClassVar[tuple[Quantity, ...]] = (
        Quantity(key="rate", label="rate", unit="1/s"),
        Quantity(key="data_rate", label="data", unit="MB/s", decimals=1),
        Quantity(key="cp", label="CP", unit="us", decimals=1),
        Quantity(key="virtual", label="virtual", unit="us", decimals=1),
        Quantity(key="wait", label="disk wait", unit="us", decimals=1, error_of="elapsed"),
        Quantity(key="processors_busy", label="busy"),
    )

    @classmethod
    def ask(cls, values: Mapping[str, Array], scenarios: Sequence[Scenario]) -> Figures:
        """Figures: one requester's as measured, several requesters' within the channel bound; `elapsed` time."""
        alike = ("mode", "requesters", "processors", "disks")  # scenarios that are solved together
        groups: dict[tuple[Any, ...], list[int]] = by_key(
            (tuple(at[key] for key in alike), k) for k, at in enumerate(scenarios)
        )
        path = cls.from_values({key: numbers[:, None] for key, numbers in values.items()})
        found = {
            key: np.empty((len(values["read_bytes"]), len(scenarios))) for key in [*_FIELDS, "rate most"]
        }
        for (mode, requesters, processors, disks), places in groups.items():
            ratios = [float(scenarios[place]["hit_ratio"]) for place in places]
            solved = path.solve(mode, ratios, requesters=requesters, processors=processors, disks=disks)
            for figure, name in _FIELDS.items():
                found[figure][:, places] = getattr(solved, name)
            found["rate most"][:, places] = solved.channel_bound if requesters > 1 else np.inf
        size = values["read_bytes"] + values["write_bytes"]
        elapsed = found["cp"] + found["virtual"] + found["wait"]
        busy = np.array([min(float(at["requesters"]), float(at["processors"])) for at in scenarios])
        found |= {"data_rate": found["rate"] * size[:, None], "elapsed": elapsed}
        found["data_rate most"] = found["rate most"] * size[:, None]
        return {**found, "processors_busy most": np.broadcast_to(busy, elapsed.shape)}

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Make the path from a model."""
        return cls.from_values(parameters.values(model, KIND, cls.PARAMETERS, cls.PARAMETERS), model.title)

    @classmethod
    def from_values(cls, found: Mapping[str, Any], title: str = "disk path") -> Self:
        """Make the path from values of its parameters."""
        given: dict[str, Any] = {key: found.get(key) for key in FACTS}
        for part in PARTS:
            known = {cost: found[f"{part}_{cost}"] for cost in COSTS if f"{part}_{cost}" in found}
            if missing := [cost for cost in COSTS if known and cost not in known]:
                raise ReportError(title, f"expected `parameters.{part}_{missing[0]}_s`")
            given[part] = TransactionPart(**known) if known else None
        for key in ("read_bytes", "write_bytes", "channel_rate"):
            if key not in found:
                raise ReportError(title, f"expected `parameters.{key}`")
        return cls(**given)

    @property
    def modes(self) -> tuple[Mode, ...]:
        """Ways to run the path: without minidisk cache, with it, or both."""
        cached = self.hit is not None and self.miss is not None
        known: dict[Mode, bool] = {"off": self.off is not None, "cached": cached}
        return tuple(mode for mode, there in known.items() if there)

    def solve(
        self,
        mode: Mode,
        hit_ratio: ArrayLike = 0.0,
        *,
        requesters: int = 1,
        processors: int = 1,
        disks: int = 1,
    ) -> DiskPerformance:
        """Transactions per second of requesters that each have one transaction at a time (`planner.queueing.mva`)."""
        InputError.unless_one_of("mode", mode, self.modes)
        ratio = checks.nonnegative("hit_ratio", hit_ratio)
        if (ratio > 1).any():
            raise InputError("hit_ratio", float(ratio.max()), "a share from 0 to 1")
        known = {each.key: each for each in self.QUESTIONS}
        requesters, processors, disks = (
            int(known[name].taken(number))
            for name, number in (("requesters", requesters), ("processors", processors), ("disks", disks))
        )
        cp, virtual, wait = (self._mean(mode, cost, ratio) for cost in COSTS)
        work = cp + virtual
        if not work.any():
            wanted = "one of them above zero: transactions take processor time"
            raise InputError("cp_time, virtual_time", 0, wanted, "s")
        work = np.maximum(work, LEAST_WORK)
        moved = self.write_bytes + self.read_bytes * (1 - ratio if mode == "cached" else 1.0) + 0 * ratio
        alone = 1 / (work + wait)
        channel = _quotient(self.channel_rate + 0 * moved, moved)
        demands = np.stack([work, *[wait / disks] * disks], axis=-1)
        rows, servers = demands.reshape(-1, 1 + disks), [processors, *[1] * disks]
        step = max(1, AT_ONCE // ((requesters + 1) * (1 + disks + processors)))  # scenarios
        parts = (rows[k : k + step] for k in range(0, len(rows), step))
        solved = [queueing.mva(part, requesters, servers=servers) for part in parts]
        together, computing = (
            np.concatenate(each).reshape(alone.shape)
            for each in zip(*((s.throughput[:, -1], s.residence_time[:, -1, 0]) for s in solved), strict=True)
        )
        rate = alone if requesters == 1 else np.minimum(together, channel)
        return DiskPerformance(
            rate=rate,
            cp_time=cp,
            virtual_time=virtual,
            wait_time=wait if requesters == 1 else np.maximum(requesters / rate - computing, wait),
            bytes_moved=moved,
            rate_alone=alone,
            processor_bound=processors / work,
            disk_bound=_quotient(disks + 0 * wait, wait),
            channel_bound=channel,
        )

    def virtual_ios(self, mode: Mode) -> float | None:
        """Virtual I/Os of a transaction."""
        return self.virtual_ios_off if mode == "off" else self.virtual_ios_cached

    def _mean(self, mode: Mode, cost: str, ratio: Array) -> Array:
        """Mean cost of a transaction: its writes, and its reads weighted by hits and misses [s]."""
        written = getattr(self.write, cost) if self.write is not None else 0.0
        if mode == "off":
            return np.asarray(written + getattr(self.off, cost) + 0 * ratio)
        return np.asarray(written + ratio * getattr(self.hit, cost) + (1 - ratio) * getattr(self.miss, cost))


def _quotient(over: Array, under: Array) -> Array:
    """Divide; infinite where the divisor is zero."""
    return np.asarray(np.where(under > 0, over / np.where(under > 0, under, 1.0), np.inf))
