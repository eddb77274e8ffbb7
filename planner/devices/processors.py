"""Processors: CPU time of a transaction, and its growth with the number of processors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import ArrayLike

from planner import queueing
from planner.devices import parameters
from planner.devices.parameters import Figures, Scenario
from planner.library import Model
from planner.quantity import Quantity
from planner.results import Array

KIND: Final = "processors"
CPU_TIME = Quantity(
    key="cpu_time", symbol="t1", unit="s", low=1e-9, high=1e3, default=1e-2,
    meaning="CPU time of a transaction, emulation and CP, on one processor",
)  # fmt: skip
CONTENTION, COHERENCY = (
    Quantity(key=key, symbol=symbol, low=0.0, high=1.0, default=0.0,
             meaning=f"relative growth of the CPU time with each further {what}")
    for key, symbol, what in (("contention", "alpha", "processor"), ("coherency", "beta", "pair of processors"))
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Processors:
    """Processors that share their work.

    A transaction takes `cpu_time` [s] on one processor; `contention` and `coherency` are the
    coefficients of the Universal Scalability Law. Both 0: linear. Only `contention`: Amdahl's law.
    """

    cpu_time: float
    contention: float = 0.0
    coherency: float = 0.0
    PARAMETERS: ClassVar[tuple[Quantity, ...]] = (CPU_TIME, CONTENTION, COHERENCY)
    QUESTIONS: ClassVar[tuple[Quantity, ...]] = (
        Quantity(key="processors", meaning="processors that share the work", low=1, high=1000, whole=True,
                 example="processors=14"),
    )  # fmt: skip
    FIGURES: ClassVar[tuple[Quantity, ...]] = (
        Quantity(key="itr", label="ITR", unit="1/s", decimals=1),
        Quantity(key="cpu", label="CPU time", unit="ms", decimals=3),
        Quantity(key="speedup", label="times one processor"),
    )

    @classmethod
    def ask(cls, values: Mapping[str, Array], scenarios: Sequence[Scenario]) -> Figures:
        """ITR, CPU time of a transaction, and speedup over one processor."""
        first, contention, coherency = (values[p.key][:, None] for p in cls.PARAMETERS)
        counts = np.array([float(scenario["processors"]) for scenario in scenarios])
        itr = queueing.usl(counts, 1 / first, contention, coherency)
        return {"itr": itr, "cpu": counts / itr, "speedup": itr * first}

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Make the processors from a model."""
        return cls(**parameters.values(model, KIND, cls.PARAMETERS))

    def internal_throughput(self, processors: ArrayLike) -> Array:
        """Internal throughput rate (ITR), at full utilization: ``processors / CPU time of a transaction`` [1/s]."""
        return queueing.usl(processors, 1 / self.cpu_time, self.contention, self.coherency)
