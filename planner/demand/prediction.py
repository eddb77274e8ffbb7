"""What candidate demands do with aliases, and how many they need."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from planner.results import Array

Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PredictedRows:
    """What readings do with aliases; arrays (volumes, readings, counts), nan where a reading is unused.

    * `rate`: I/Os [1/s].
    * `service`: mean inflated service time [s].
    * `queue`: mean I/Os queued, as a listing shows them: those in their gap are not [1].
    * `waits`: I/Os that find base and aliases busy [1/s]; nan where that is not known.
    * `no_alias`: share of the I/Os in need of an alias that find none; nan where nobody asked.
    """

    rate: Array
    service: Array
    queue: Array
    waits: Array | float = np.nan
    no_alias: Array | float = np.nan

    @property
    def response(self) -> Array:
        """Service plus queue over rate [s]."""
        return np.asarray(self.service + self.queue / self.rate)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts:
    """How many aliases each volume needs, the aliases in use included; arrays (volumes,).

    * `point`, `low` and `high`: the count and its range, 0 to 255; a saturated row has the first step as its point.
    * `most`: largest count of any reading however unlikely: what batches of that wait would take.
    * `chosen`: the reading to print and predict from, column of the readings.
    * `saturated`: the demand is unknown: the volume never idles.
    * `taken_over`: the point is smaller than at a shorter wait, since another reading took over.
    * `open_above`: nothing waits with the aliases in use: the demand may be less bursty, or anything that they still
      hold.
    * `extrapolated`: more I/Os in service than the inflation was measured with.
    * `unmet`: the target is out of reach for the chosen reading with every address.
    * `each`: count under each reading, inf where no count meets the target, nan where unused, (volumes, readings).
    """

    point: Indices
    low: Indices
    high: Indices
    most: Indices
    chosen: Indices
    saturated: Flags
    taken_over: Flags
    open_above: Flags
    extrapolated: Flags
    unmet: Flags
    each: Array

    def of(self, index: Indices) -> Counts:
        """Counts of some of the volumes."""
        return Counts(**{item.name: getattr(self, item.name)[index] for item in fields(self)})
