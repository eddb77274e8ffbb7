"""What supply counters say of the aliases of pools: the answer, for people and as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from planner import render
from planner.answer import Answer, tabled
from planner.quantity import column
from planner.render.text import word
from planner.reports.supply import PoolSupply
from planner.units import MILLISECOND, MOST_ALIASES

MOST_NAMED: Final = 8
ENOUGH, NOT_ENOUGH, TOO_MANY = "enough", "not enough", "too many"


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
        """All numbers under the names that JSON has for them."""
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
            "holding_time_ms": None if self.holding_time is None else self.holding_time / MILLISECOND,
            "peakedness": self.peakedness,
            "notes": list(self.notes),
        }


COLUMNS: Final = (
    column("pool", "", "pool"), column("verdict", "", "verdict"), column("aliases", "", "aliases", 0),
    column("aliases_needed", "", "needed", 0), column("needed_low", "", "from", 0),
    column("needed_high", "", "to", 0), column("removable", "", "removable", 0),
    column("removable_without_fails", "", "unused", 0, lambda pool: pool.unused),
    column("tries_rate", "1/s", "tries"), column("fail_fraction", "share", "failed", 4),
    column("fail_low", "share", "from", 4), column("fail_high", "share", "to", 4),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplyAnswer(Answer):
    """Verdicts on several pools: `pools`, and `no_alias`, the largest share of tries that may fail."""

    PICTURE: ClassVar[str] = "planner.supply.picture:draw"

    pools: tuple[PoolAnswer, ...]
    no_alias: float

    def table(self) -> render.Table:
        """One row a pool."""
        return tabled(self.pools, COLUMNS)

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON shows it."""
        return {"no_alias": self.no_alias, "pools": [pool.to_dict() for pool in self.pools]}

    @property
    def headline(self) -> str:
        """How many pools have enough, too few, too many, and what that is in aliases."""
        count = {
            verdict: [p for p in self.pools if p.verdict == verdict]
            for verdict in (NOT_ENOUGH, TOO_MANY, ENOUGH)
        }
        parts = []
        if short := count[NOT_ENOUGH]:
            missing = [None if p.aliases_needed is None else p.aliases_needed - p.aliases for p in short]
            more = "" if None in missing else f" ({sum(n or 0 for n in missing)} to add)"
            parts.append(f"short of aliases: {_named(short)}{more}")
        if many := count[TOO_MANY]:
            parts.append(f"to spare: {_named(many)} ({sum(p.removable for p in many)} could serve elsewhere)")
        if fine := count[ENOUGH]:
            parts.append(f"enough: {_named(fine)}")
        if unknown := [p for p in self.pools if p.verdict is None]:
            parts.append(f"no interval to judge {_named(unknown)} by")
        text = "; ".join(parts)
        return f"{text[:1].upper()}{text[1:]}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What to do in each pool."""
        return tuple(
            f"Pool {pool.pool}: {words}"
            for pool in self.pools
            for words in (*_advice(pool, self.no_alias), *pool.notes)
        )

    def sections(self) -> tuple[render.Section, ...]:
        """One row a pool."""
        caption = (
            f"needed: fewest aliases with which at most {100 * self.no_alias:.3g}% of the tries find none free, and "
            "the range of what the counters allow. unused: could have been taken away without a single fail."
        )
        table = self.table()
        columns = tuple(
            replace(c, values=list(map(word, c.values))) if c.name == "verdict" else c for c in table.columns
        )
        return (render.Section(table=replace(table, columns=columns), caption=caption),)


def _named(pools: Sequence[PoolAnswer]) -> str:
    names = ", ".join(pool.pool for pool in pools[:MOST_NAMED])
    more = f" and {len(pools) - MOST_NAMED} more" if len(pools) > MOST_NAMED else ""
    return f"pool{'' if len(pools) == 1 else 's'} {names}{more}"


def _advice(pool: PoolAnswer, no_alias: float) -> tuple[str, ...]:
    """What to do, in a sentence."""
    if pool.verdict is None:
        return ()
    target = f"{100 * no_alias:.3g}%"
    if pool.verdict == NOT_ENOUGH:
        if pool.aliases_needed is None:
            return (f"short; no count up to {MOST_ALIASES} brings the fails under {target}.",)
        more = pool.aliases_needed - pool.aliases
        return (f"short; {more} more would bring the fails under {target}.",)
    if pool.verdict == TOO_MANY:
        return (
            f"spare; {pool.removable} could serve elsewhere, {pool.unused} of them without a single fail.",
        )
    return ("enough.",)
