"""The water marks of free aliases that a solved pool would show from minute to minute."""

from __future__ import annotations

from typing import Final

import numpy as np

from planner.queueing import PoolSteady
from planner.queueing.water_marks import fewest_found, most_found
from planner.results import Array

MINUTE: Final = 60.0
MEDIAN: Final = 0.5
ROUNDING: Final = 1e-12  # of the tries: what the difference of two rates can still mean


def free_marks(steady: PoolSteady) -> tuple[Array, Array]:
    """Medians over the minutes of the fewest and the most free aliases that a try finds.

    Below all busy, the flow from k to k + 1 busy aliases is that of the ends back, ``p(k + 1) (k + 1) / holding time``;
    the tries that find the last one free are what is left of those that did not fail.

    Parameters
    ----------
    steady : PoolSteady
        A pool with several alias counts, shape (counts,).

    Returns
    -------
    fewest, most : ndarray, shape (counts,)
        Free aliases; all of them where nothing is tried.
    """
    tries, fails = steady.tries_rate @ steady.volumes, steady.fails_rate @ steady.volumes
    by_aliases = steady.alias_throughput @ steady.volumes
    fewest, most = steady.aliases.copy(), steady.aliases.copy()
    for row, count in enumerate(steady.aliases.astype(int)):
        if count == 0 or tries[row] <= 0.0 or not steady.stable[row]:
            fewest[row] = most[row] = count if tries[row] <= 0.0 else 0
            continue
        if tries[row] - fails[row] <= ROUNDING * tries[row]:  # as good as no try finds an alias free
            fewest[row] = most[row] = 0
            continue
        law = steady.free_alias_law[row, count::-1]  # of the busy ones
        busy = np.arange(count + 1)
        flow = np.append(law[1:] * busy[1:] * by_aliases[row] / max(float(law @ busy), 1e-300), fails[row])
        flow[count - 1] = max(float(tries[row] - fails[row] - flow[: count - 1].sum()), 0.0)
        highest, lowest = (np.cumsum(found(law, flow, MINUTE, count)) for found in (most_found, fewest_found))
        fewest[row] = count - min(int(np.searchsorted(highest, MEDIAN)), count)
        most[row] = count - min(int(np.searchsorted(lowest, MEDIAN)), count)
    return fewest, most
