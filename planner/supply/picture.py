"""The supply counters over time: share of tries that failed, and the free aliases of one pool."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import cycle
from typing import TYPE_CHECKING, Final

import numpy as np

from planner import style
from planner.reports.supply import PoolSupply
from planner.results import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_POOLS: Final = 6
PARTS: Final = 144  # of a day: ten minutes
HOUR: Final = 3600.0
MINUTE: Final = 60.0
SHORT: Final = 2 * HOUR  # shorter times are told in minutes
HEADROOM: Final = 1.25  # of the axes, for the legend


def draw(pools: Sequence[PoolSupply], no_alias: float, axes: Axes | None = None) -> Axes:
    """Draw the share of tries that failed over time.

    Parameters
    ----------
    pools : sequence of PoolSupply
        The counters; those with the largest shares of fails are drawn.
    no_alias : float
        Target, drawn as a line.
    axes : matplotlib.axes.Axes, optional
        Where to draw; new axes where None, with the free aliases of the first pool below.

    Returns
    -------
    matplotlib.axes.Axes
        The axes of the shares.
    """
    shown = sorted(pools, key=lambda pool: -pool.fails.sum() / max(pool.tries.sum(), 1))[:MOST_POOLS]
    below = None
    if axes is None:
        axes, below = style.axes_and_below()
    length = max(pool.last - pool.first for pool in shown)
    name, unit = ("h", HOUR) if length >= SHORT else ("min", MINUTE)
    looks = zip(shown, cycle(style.COLORS), cycle(style.LINES), strict=False)
    for pool, color, line in looks:
        time, share = fail_shares(pool, PARTS)
        axes.plot(time / unit, 100 * share, line, color=color, clip_on=False, label=f"pool {pool.pool}")
    axes.axhline(100 * no_alias, color="black", linewidth=1, label="target")
    axes.set_ylabel("tries that found no alias [%]")
    if below is not None:
        _free(below, shown[0], unit)
    for each in (axes,) if below is None else (axes, below):
        each.set_ylim(0, HEADROOM * each.get_ylim()[1])
        each.legend(frameon=False, loc="upper right", ncols=3)
    (axes if below is None else below).set_xlabel(_since(shown[0].start, name))
    return axes


def _free(axes: Axes, supply: PoolSupply, unit: float) -> None:
    """Fewest and most free aliases, and how many there are."""
    time = supply.time / unit
    axes.fill_between(
        time, supply.fewest, np.maximum(supply.most, supply.fewest), color="0.8", step="pre",
        label=f"free aliases found, pool {supply.pool}",
    )  # fmt: skip
    axes.step(time, supply.aliases, where="pre", color="black", linewidth=1, label="aliases")
    axes.set_ylabel("aliases")
    style.whole_numbers(axes, along="y")


def _since(start: datetime | None, unit: str) -> str:
    return f"time [{unit}]" if start is None else f"time since {start:%Y-%m-%d %H:%M} [{unit}]"


def fail_shares(supply: PoolSupply, parts: int) -> tuple[Array, Array]:
    """Share of tries that failed over time.

    Parameters
    ----------
    supply : PoolSupply
        Counters of one pool.
    parts : int
        Intervals are joined to at most so many.

    Returns
    -------
    time : ndarray
        Middle of each part [s].
    share : ndarray
        Fails over tries, nan where nothing was tried.
    """
    if supply.time.size == 0:
        return np.zeros(0), np.zeros(0)
    edges = np.unique(np.linspace(0, supply.time.size, min(parts, supply.time.size) + 1).astype(np.int64))[
        :-1
    ]
    tries, fails = (np.add.reduceat(each, edges).astype(float) for each in (supply.tries, supply.fails))
    size = np.diff(np.append(edges, supply.time.size))
    time = np.add.reduceat(supply.time - supply.length / 2, edges) / size
    return time, np.divide(fails, tries, out=np.full(fails.shape, np.nan), where=tries > 0)
