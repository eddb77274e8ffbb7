"""Volumes of a listing or a table that count as equal: of nearly one rate, with as many I/Os present."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from planner.queueing.pools.grouping import group_volumes

SAME_RATE: Final = 0.2  # relative difference of the rates of volumes that count as equal
LARGEST_CLASSES: Final = 6
COARSER: Final = 1.5
LEAST_RATE: Final = 1e-9  # of the highest: a volume that slow differs from another one in nothing


def equal_classes(rates: Sequence[float], present: Sequence[float]) -> list[list[int]]:
    """Group volumes of nearly equal demand; more coarsely where there would be too many groups.

    The I/Os present at a volume, in service and queued, tell how many requesters it has at least. Volumes of as many
    and of nearly equal rates are one class.

    Parameters
    ----------
    rates : sequence of float
        I/O rate of each volume, above 0 [1/s].
    present : sequence of float
        Mean I/Os at each volume.

    Returns
    -------
    list of list of int
        Volumes of each class, by their place in `rates`; the busiest class first.
    """
    pace = np.asarray(rates, dtype=np.float64)
    many = np.asarray(present, dtype=np.float64)
    spread, step = SAME_RATE, 1.0
    while True:
        requesters = np.maximum(np.ceil(many / step), 1.0)
        groups = group_volumes(
            population=requesters, think_time=1.0 / np.maximum(pace, LEAST_RATE * pace.max()), spread=spread
        )
        if groups.volumes.size <= LARGEST_CLASSES:
            found = [np.flatnonzero(groups.group == k).tolist() for k in range(groups.volumes.size)]
            return sorted(found, key=lambda members: -float(pace[members].max()))
        spread, step = spread * COARSER, step * COARSER
