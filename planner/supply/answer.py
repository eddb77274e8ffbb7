"""Verdicts on the aliases of HyperPAV pools from their supply counters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from planner import render
from planner.errors import InputError
from planner.reports.supply import PoolSupply
from planner.results import Array
from planner.supply.fit import Fitted, fit
from planner.supply.observed import Observed, observe

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEFAULT_NO_ALIAS: Final = 0.01
LEAST_SURPLUS: Final = 2
SURPLUS_SHARE: Final = 0.1
MOST_ALIASES: Final = 255
BLIND: Final = 0.9  # share of fails above which the counters hardly tell how many are missing
NORMAL_95: Final = 1.96

ENOUGH, NOT_ENOUGH, TOO_MANY, UNKNOWN = "enough", "not enough", "too many", None


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolAnswer:
    """What the counters of one pool say.

    Attributes
    ----------
    supply : PoolSupply
        The counters.
    verdict : str or None
        "enough", "not enough" or "too many"; None where there is no interval to judge by.
    fail_fraction, fail_low, fail_high : float
        Share of tries that failed, and its interval, 95 %: what chance alone leaves open.
    tries, fails : int
        Counted with the aliases in use.
    tries_rate : float
        Tries a second.
    aliases : int
        Aliases in use.
    aliases_needed : int or None
        Fewest with which the share of fails is at most the target; None where more than a control unit can have, or no
        interval to judge by.
    needed_low, needed_high : int or None
        The same at the edge of what the counters allow, 95 %.
    unused : int
        Aliases that could have been taken away without a single fail: one less than the fewest free that a try found.
    load : float or None
        Aliases busy on average if there were any number of them, from the fit [erlang].
    holding_time : float or None
        Mean time that an alias is held, from the fit [s].
    peakedness : float or None
        Variance over mean of the busy aliases if there were any number of them.
    notes : tuple of str
        What the user should know.
    """

    supply: PoolSupply
    verdict: str | None
    fail_fraction: float
    fail_low: float
    fail_high: float
    tries: int
    fails: int
    tries_rate: float
    aliases: int
    aliases_needed: int | None
    needed_low: int | None
    needed_high: int | None
    unused: int
    load: float | None
    holding_time: float | None
    peakedness: float | None
    notes: tuple[str, ...]

    @property
    def pool(self) -> str:
        """Name of the pool."""
        return self.supply.pool

    @property
    def removable(self) -> int:
        """Aliases that could be taken away with the target still met; 0 where there are none too many."""
        return max(self.aliases - self.aliases_needed, 0) if self.aliases_needed is not None else 0

    def to_dict(self) -> dict[str, Any]:
        """All numbers under the names that JSON has for them.

        Returns
        -------
        dict
            Times in milliseconds.
        """
        needed = None if self.needed_low is None else [self.needed_low, self.needed_high]
        return {
            "pool": self.pool,
            "verdict": self.verdict,
            "fail_fraction": self.fail_fraction,
            "fail_fraction_range": [self.fail_low, self.fail_high],
            "aliases": self.aliases,
            "aliases_needed": self.aliases_needed,
            "aliases_needed_range": needed,
            "removable": self.removable,
            "removable_without_fails": self.unused,
            "tries": self.tries,
            "fails": self.fails,
            "tries_rate": self.tries_rate,
            "load": self.load,
            "holding_time_ms": None if self.holding_time is None else 1e3 * self.holding_time,
            "peakedness": self.peakedness,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplyAnswer:
    """Verdicts on several pools: `pools`, and `no_alias`, the largest share of tries that may fail."""

    pools: tuple[PoolAnswer, ...]
    no_alias: float

    def table(self) -> render.Table:
        """One row a pool.

        Returns
        -------
        render.Table
            Shares as fractions.
        """
        rows = self.pools
        columns = (
            ("pool", "", [p.pool for p in rows], "pool", None),
            ("verdict", "", [p.verdict for p in rows], "verdict", None),
            ("aliases", "", [p.aliases for p in rows], "aliases", 0),
            ("aliases_needed", "", [p.aliases_needed for p in rows], "needed", 0),
            ("needed_low", "", [p.needed_low for p in rows], "from", 0),
            ("needed_high", "", [p.needed_high for p in rows], "to", 0),
            ("removable", "", [p.removable for p in rows], "removable", 0),
            ("removable_without_fails", "", [p.unused for p in rows], "unused", 0),
            ("tries_rate", "1/s", [p.tries_rate for p in rows], "tries", None),
            ("fail_fraction", "share", [p.fail_fraction for p in rows], "failed", 4),
            ("fail_low", "share", [p.fail_low for p in rows], "from", 4),
            ("fail_high", "share", [p.fail_high for p in rows], "to", 4),
        )
        return render.Table(
            columns=tuple(
                render.Column(name=name, unit=unit, values=values, label=label, decimals=decimals)
                for name, unit, values, label, decimals in columns
            )
        )

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON shows it.

        Returns
        -------
        dict
            `pools` and the target `no_alias`.
        """
        return {"no_alias": self.no_alias, "pools": [pool.to_dict() for pool in self.pools]}

    def text(self) -> str:
        """The answer for people: table, legend, what to do in each pool.

        Returns
        -------
        str
            Lines of at most 80 columns, but for long names of pools.
        """
        target = f"{100 * self.no_alias:.3g}% of the tries"
        lines = [render.to_text(self.table()), ""]
        legend = (
            f"needed: fewest aliases with which at most {target} find none free, and the range of what the counters allow. "
            "unused: could have been taken away without a single fail."
        )
        lines.append(render.wrap(legend))
        for pool in self.pools:
            advice = _advice(pool, self.no_alias)
            lines += [render.wrap(f"Pool {pool.pool}: {words}") for words in (*advice, *pool.notes)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return render.to_html(self.table())

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the share of tries that failed over time, the pools with most fails first.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Where to draw; new axes where None.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from planner.supply.picture import draw

        return draw(self.pools, self.no_alias, axes)


def judge(pools: Sequence[PoolSupply], *, no_alias: float = DEFAULT_NO_ALIAS) -> SupplyAnswer:
    """Tell for each pool whether it has enough aliases.

    Not enough: more than the target share of tries failed. Too many: a tenth fewer aliases, two at least, would still
    meet the target. Enough: anything else.

    Parameters
    ----------
    pools : sequence of PoolSupply
        What `planner.reports.supply.read_supply` returns.
    no_alias : float, optional
        Largest share of tries that may find no alias free, above 0 and below 1.

    Returns
    -------
    SupplyAnswer
        In the same order.

    Raises
    ------
    InputError
        A target outside its domain, or no pools.
    """
    if not 0.0 < no_alias < 1.0:
        raise InputError("no_alias", no_alias, "a share above 0 and below 1")
    if not pools:
        raise InputError("pools", [], "at least one pool")
    return SupplyAnswer(pools=tuple(_judge(pool, no_alias) for pool in pools), no_alias=no_alias)


def _judge(supply: PoolSupply, no_alias: float) -> PoolAnswer:
    observed = observe(supply)
    fitted = fit(observed)
    needed = _needed(observed, fitted, no_alias)
    verdict = _verdict(observed, needed, no_alias, known=supply.time.size > 0)
    low, high = _interval(observed, fitted)
    length = float(supply.length[supply.aliases == supply.in_use].sum()) if supply.time.size else 0.0
    known = verdict is not UNKNOWN
    busy = (fitted is not None) and math.isfinite(observed.length)
    rate = (
        float(observed.level_tries @ observed.level_intervals / observed.level_intervals.sum())
        if busy
        else 0.0
    )
    return PoolAnswer(
        supply=supply,
        verdict=verdict,
        fail_fraction=observed.fail_fraction,
        fail_low=low,
        fail_high=high,
        tries=observed.tries,
        fails=observed.fails,
        tries_rate=observed.tries / length if length > 0 else 0.0,
        aliases=supply.in_use,
        aliases_needed=needed[0] if known else None,
        needed_low=needed[1] if known else None,
        needed_high=needed[2] if known else None,
        unused=observed.never_busy,
        load=fitted.load if fitted else None,
        holding_time=fitted.load * observed.length / rate if fitted and rate > 0 else None,
        peakedness=fitted.peakedness if fitted else None,
        notes=_notes(supply, observed, fitted),
    )


def _needed(
    observed: Observed, fitted: Fitted | None, no_alias: float
) -> tuple[int | None, int | None, int | None]:
    """Fewest aliases that meet the target, and its range; what was measured with those in use bounds all three."""
    enough = observed.fail_fraction <= no_alias
    if observed.tries == 0:
        return 0, 0, 0
    if fitted is None:  # no interval of the usual length: only what was counted
        found = observed.aliases if enough else None
        return found, 0 if enough else observed.aliases + 1, found
    fails = fitted.fail_fractions(MOST_ALIASES)
    counts = np.where((fails <= no_alias).any(axis=1), np.argmax(fails <= no_alias, axis=1), MOST_ALIASES + 1)
    least, most = (0, observed.aliases) if enough else (observed.aliases + 1, MOST_ALIASES + 1)
    bounded = np.clip([counts[0], counts.min(), counts.max()], least, most)
    first, low, high = (int(count) if count <= MOST_ALIASES else None for count in bounded)
    return first, low, high


def _verdict(
    observed: Observed, needed: tuple[int | None, int | None, int | None], no_alias: float, *, known: bool
) -> str | None:
    if not known or (observed.tries == 0 and observed.level_intervals.sum() == 0):
        return UNKNOWN
    if observed.fail_fraction > no_alias:
        return NOT_ENOUGH
    surplus = max(LEAST_SURPLUS, math.ceil(SURPLUS_SHARE * observed.aliases))
    fewest = needed[0]
    return TOO_MANY if fewest is not None and observed.aliases - surplus >= fewest else ENOUGH


def _interval(observed: Observed, fitted: Fitted | None) -> tuple[float, float]:
    """Wilson's interval (1927) of the share of fails, with as many independent tries as its variance says there are."""
    if observed.tries == 0:
        return 0.0, 1.0
    share = observed.fail_fraction
    if observed.fails and math.isfinite(observed.fail_error) and 0 < share < 1 and observed.fail_error > 0:
        count = (1.0 - share) / (share * observed.fail_error**2)
    else:
        count = observed.tries / (fitted.fails_dispersion(observed.aliases) if fitted else 1.0)
    z = NORMAL_95**2 / min(count, float(observed.tries))
    middle = (share + z / 2) / (1 + z)
    half = math.sqrt(z * share * (1 - share) + z**2 / 4) / (1 + z)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def _advice(pool: PoolAnswer, no_alias: float) -> tuple[str, ...]:
    """What to do, in a sentence."""
    if pool.verdict is UNKNOWN:
        return ()
    target = f"{100 * no_alias:.3g}%"
    if pool.verdict == NOT_ENOUGH:
        if pool.aliases_needed is None:
            return (f"not enough; no count up to {MOST_ALIASES} brings the fails under {target}.",)
        more = pool.aliases_needed - pool.aliases
        return (f"not enough; {more} more would bring the fails under {target}.",)
    if pool.verdict == TOO_MANY:
        return (
            f"too many; {pool.removable} could serve elsewhere, {pool.unused} of them without a single fail.",
        )
    return ("enough.",)


def _notes(supply: PoolSupply, observed: Observed, fitted: Fitted | None) -> tuple[str, ...]:
    """What was left out and what the counters cannot tell."""
    notes = []
    if supply.time.size == 0:
        return ("one record only; two are needed to see what it counts.",)
    if observed.tries == 0:
        notes.append("no alias was asked for.")
    other = int((supply.aliases != supply.in_use).sum())
    if other:
        notes.append(
            f"{other} of {supply.time.size} intervals had another number of aliases and are left out."
        )
    if restarts := int(supply.restarted.sum()):
        notes.append(f"the counters began anew {restarts} times; what they lost is unknown.")
    gaps = int((~supply.plain & ~supply.restarted).sum())
    if gaps:
        notes.append(
            f"{gaps} intervals are of another length than usual or changed the aliases; they count in the share of fails only."
        )
    if observed.contradicting:
        notes.append(
            f"in {observed.contradicting} intervals MINCT is 0 without a fail, or above 0 with one; their water marks are "
            "left out."
        )
    if observed.fail_fraction > BLIND:
        notes.append(
            "nearly every try failed: how many aliases are missing is a guess; measure again with more."
        )
    elif observed.tries and fitted is None:
        notes.append("no interval of the usual length; aliases needed cannot be estimated.")
    return tuple(notes)


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
