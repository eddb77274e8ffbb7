"""Ways to reckon the CPU time of a transaction: laws fitted to its parts, judged by leaving configurations out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from planner import queueing
from planner.devices.processors.configurations import Configuration
from planner.devices.processors.law import Processors

PARTS: Final = {"total": ("cpu_time",), "emulation+CP": ("emulation_time", "cp_time")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """The law of one part of the CPU time: `device` holds its coefficients, `name` is linear, amdahl or usl."""

    name: str
    device: Processors


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One way to reckon, and how well it predicts each configuration from the others.

    `parts` is ``total`` (one law for the whole CPU time) or ``emulation+CP`` (a law for each); `laws` those
    that all configurations together choose; `left_out` is the ITR of each configuration, predicted from the
    others, laws chosen anew [1/s]; `errors` are predicted / measured - 1 [share].
    """

    parts: str
    laws: tuple[Law, ...]
    left_out: tuple[float, ...]
    errors: tuple[float, ...]

    @property
    def name(self) -> str:
        """The laws, as ``usl`` or ``amdahl+linear``."""
        return "+".join(law.name for law in self.laws)

    @property
    def median(self) -> float:
        """Median of the absolute errors [share]."""
        return float(np.median(np.abs(self.errors)))

    @property
    def worst(self) -> float:
        """Largest absolute error [share]."""
        return max(map(abs, self.errors))

    @property
    def rms(self) -> float:
        """Root mean square of the errors [share]; the trial with the least is chosen."""
        return math.sqrt(sum(error**2 for error in self.errors) / len(self.errors))


def folds(rows: tuple[Configuration, ...]) -> list[tuple[Configuration, tuple[Configuration, ...]]]:
    """Leave out each configuration in turn.

    Parameters
    ----------
    rows : tuple of Configuration
        All of them.

    Returns
    -------
    list of (Configuration, tuple of Configuration)
        The one left out, and the others.
    """
    return [(row, rows[:index] + rows[index + 1 :]) for index, row in enumerate(rows)]


@lru_cache(maxsize=64)  # the fits take seconds, and nothing that goes in can change
def try_out(rows: tuple[Configuration, ...], parts: str) -> Trial:
    """Predict each configuration from the others.

    Parameters
    ----------
    rows : tuple of Configuration
        At least three.
    parts : str
        A key of `PARTS`.

    Returns
    -------
    Trial
        With the laws that all configurations together choose.

    Raises
    ------
    CalibrationError
        A fit failed.
    """
    left_out = [combined_throughput(_fit(others, parts), one.processors) for one, others in folds(rows)]
    errors = [itr / row.internal_throughput - 1 for itr, row in zip(left_out, rows, strict=True)]
    return Trial(parts=parts, laws=_fit(rows, parts), left_out=tuple(left_out), errors=tuple(errors))


def combined_throughput(laws: Sequence[Law], processors: int) -> float:
    """Add up the parts of the CPU time and turn it over.

    Parameters
    ----------
    laws : sequence of Law
        One a part.
    processors : int
        Number of processors.

    Returns
    -------
    float
        ITR [1/s].
    """
    return processors / float(sum(law.device.transaction_time(processors) for law in laws))


def _fit(rows: Sequence[Configuration], parts: str) -> tuple[Law, ...]:
    """Fit a law to each part of the CPU time."""
    processors = np.array([row.processors for row in rows], dtype=np.float64)
    laws = []
    for part in PARTS[parts]:
        found = queueing.fit_usl(processors, processors / np.array([getattr(row, part) for row in rows]))
        device = Processors(
            cpu_time=1 / float(found.gamma), contention=float(found.alpha), coherency=float(found.beta)
        )
        laws.append(Law(name=found.law, device=device))
    return tuple(laws)
