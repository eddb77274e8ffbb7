"""The supply counters over time: share of tries that failed, and the aliases of the pool that matters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from planner import style
from planner.reports.supply import PoolSupply
from planner.results import Array
from planner.units import UNITS, percent

if TYPE_CHECKING:
    from planner.supply.answer import PoolAnswer, SupplyAnswer


def draw(answer: SupplyAnswer, axes: style.Axes | None = None) -> style.Axes:
    """Share of tries that failed over time; below it the aliases of the pool where most is to be done."""
    pools = sorted(answer.pools, key=lambda each: -each.fail_fraction)[:6]
    axes, *below = style.begin(axes, answer.headline, panels=2)
    shown_at, along = _clock(pools)
    target, named = 100 * answer.no_alias, []
    # of the target: below, the scale is linear down to zero
    style.logarithmic(axes, "y", linear_below=0.1 * target)
    top = target
    for k, each in enumerate(pools):
        color, line = style.look(k)
        # of a day: ten minutes
        time, share = fail_shares(each.supply, 144)
        axes.plot(shown_at(time), 100 * share, line, color=color, clip_on=False)
        known = share[np.isfinite(share)]
        if known.size:
            top = max(top, 100 * float(known.max()))
            named.append((100 * float(known[-1]), f"pool {each.pool}", color))
    axes.axhline(target, color=style.MEASURED, linewidth=1, linestyle=(0, (6, 3)))
    axes.set(ylabel="tries without alias [%]", ylim=(0, 1.3 * top))
    style.name_lines(axes, [*named, (target, f"target: {percent(target / 100)}", style.MEASURED)])
    for panel in below:
        worst = _worst(answer.pools)
        begin = worst.supply.time[:1] - worst.supply.length[:1]
        _free(panel, worst, shown_at(np.concatenate([begin, worst.supply.time])))
    last = below[0] if below else axes
    last.set_xlabel(along)
    if not along:
        style.dated(last)
    return axes


def _clock(pools: Sequence[PoolAnswer]) -> tuple[Callable[[Any], Any], str]:
    """What an axis shows of seconds, and its name: the time of day, else hours or minutes where no date is known."""
    start = pools[0].supply.start
    if start is None:
        name = "h" if max(each.supply.length.sum() for each in pools) >= 2 * UNITS["h"].factor else "min"
        return lambda seconds: seconds / UNITS[name].factor, f"time [{name}]"
    begin = np.datetime64(start.replace(tzinfo=None), "us")
    return lambda seconds: begin + np.round(np.asarray(seconds) * 1e6).astype("timedelta64[us]"), ""


def _worst(pools: Sequence[PoolAnswer]) -> PoolAnswer:
    """The pool that lacks most, else the one with most to spare."""

    def change(pool: PoolAnswer) -> tuple[float, int]:
        missing = np.inf if pool.aliases_needed is None else max(pool.aliases_needed - pool.aliases, 0)
        return missing, pool.removable

    return max(pools, key=change)


def _free(axes: style.Axes, pool: PoolAnswer, time: Array) -> None:
    """Fewest and most free aliases that a try found, how many there are and are needed, at the edges of intervals."""
    supply, named = pool.supply, []
    fewest, most, aliases = (
        np.concatenate([each[:1], each]) for each in (supply.fewest, supply.most, supply.aliases)
    )
    most = np.maximum(most, fewest)
    axes.fill_between(time, fewest, most, color="0.85", step="pre", label="free, fewest to most a try found")
    axes.step(time, fewest, where="pre", color=style.COLORS[0], linewidth=1)
    axes.step(time, aliases, where="pre", color=style.MEASURED, linewidth=1.5)
    if supply.time.size:
        least = int(supply.fewest.min())
        named = [
            (float(supply.fewest[-1]), f"free: {least} or more", style.COLORS[0]),
            (float(supply.aliases[-1]), f"aliases: {pool.aliases}", style.MEASURED),
        ]
    top = float(supply.aliases.max(initial=1))
    if pool.aliases_needed is not None and pool.needed_low is not None:
        low, high = pool.needed_low, pool.needed_high or pool.aliases_needed
        axes.axhspan(low - 0.1, high + 0.1, color=style.COLORS[1], alpha=style.BAND, linewidth=0)
        axes.axhline(pool.aliases_needed, color=style.COLORS[1], linestyle="--")
        beside = f" ({low} to {high})" if low < high else ""
        named.append((float(pool.aliases_needed), f"needed: {pool.aliases_needed}{beside}", style.COLORS[1]))
        top = max(top, float(high))
    axes.set(ylabel=f"aliases of pool {pool.pool}", ylim=(0, 1.15 * top))
    style.whole_numbers(axes, along="y")
    style.name_lines(axes, named)
    style.legend_below(axes)


def fail_shares(supply: PoolSupply, parts: int) -> tuple[Array, Array]:
    """Share of tries that failed over time."""
    if supply.time.size == 0:
        return np.zeros(0), np.zeros(0)
    ends = np.linspace(0, supply.time.size, min(parts, supply.time.size) + 1).astype(np.int64)
    edges = np.unique(ends)[:-1]
    tries, fails = (np.add.reduceat(each, edges).astype(float) for each in (supply.tries, supply.fails))
    size = np.diff(np.append(edges, supply.time.size))
    time = np.add.reduceat(supply.time - supply.length / 2, edges) / size
    return time, np.divide(fails, tries, out=np.full(fails.shape, np.nan), where=tries > 0)
