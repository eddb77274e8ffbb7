"""The law of one volume: is its base busy, and how many of its I/Os does the base not hold."""

from __future__ import annotations

import numpy as np

from planner.results import Array


def volume_law(
    *,
    idle_arrivals: Array,
    busy_arrivals: Array,
    idle_alias_ends: Array,
    busy_alias_ends: Array,
    base_picks: Array,
    base_idles: Array,
) -> tuple[Array, Array]:
    """Stationary law of (base idle or busy, d), solved from the largest d down in positive terms.

    An arrival makes an idle base busy and otherwise raises d; an alias that ends lowers d; a base that ends
    takes the next I/O of its own queue (d falls) or becomes idle. The flows through the cut between d and d +
    1 and out of the idle state agree: ``busy[d] busy_arrivals[d] = idle[d+1] idle_alias_ends[d+1] + busy[d+1]
    (busy_alias_ends + base_picks)[d+1]`` and ``idle[d] (idle_arrivals + idle_alias_ends)[d] = busy[d]
    base_idles[d] + idle[d+1] idle_alias_ends[d+1]``.

    Parameters
    ----------
    idle_arrivals, busy_arrivals : ndarray
        Arrival rate with the base idle, busy, shape (d,) [1/service time].
    idle_alias_ends, busy_alias_ends : ndarray
        Rate at which aliases end I/Os of the volume, shape (d,) [1/service time].
    base_picks, base_idles : ndarray
        Rate at which the busy base ends and takes from its own queue, and becomes idle, shape (d,) [1/service
        time].

    Returns
    -------
    tuple of ndarray
        Probabilities with the base idle and with it busy, each of shape (d,) [1].
    """
    size = idle_arrivals.size
    idle, busy = [0.0] * size, [0.0] * size
    busy[-1] = 1.0
    leave_idle = (idle_arrivals + idle_alias_ends).tolist()
    idle_falls = idle_alias_ends.tolist()
    busy_falls = (busy_alias_ends + base_picks).tolist()
    rises, idles = busy_arrivals.tolist(), base_idles.tolist()
    idle[-1] = idles[-1] / leave_idle[-1]
    for d in range(size - 2, -1, -1):
        from_above = idle[d + 1] * idle_falls[d + 1]
        busy[d] = (from_above + busy[d + 1] * busy_falls[d + 1]) / rises[d]
        idle[d] = (busy[d] * idles[d] + from_above) / leave_idle[d]
    total = sum(idle) + sum(busy)
    return np.array(idle) / total, np.array(busy) / total
