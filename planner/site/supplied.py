"""What supply counters say of a pool, beside what its volumes need: words, and high-water marks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from planner.errors import PlannerError
from planner.measurements.supplies import pool_supplies
from planner.supply import judge

if TYPE_CHECKING:
    import polars as pl

NO_ALIAS: Final = 0.01  # share of tries that may fail
NAMES: Final = {"not enough": "short"}


@dataclass(frozen=True, slots=True)
class Supplied:
    """What counters say in a few `words`, and the most aliases in use at once, None where they do not say."""

    words: str
    high_water: int | None


def supplied(frame: pl.DataFrame, system: str, pool: str) -> Supplied | None:
    """What the counters of one pool say; None without any."""
    import polars as pl

    rows = frame.filter((pl.col("pool") == pool) & (pl.col("system").fill_null("") == system))
    tries, fails = (int(rows[name].fill_null(0).sum()) for name in ("tries", "fails"))
    if not rows.height or not tries:
        return None
    used = pl.coalesce(
        pl.col("most_used").cast(pl.Int64),
        pl.col("aliases").cast(pl.Int64) - pl.col("fewest_free").cast(pl.Int64),
    )
    most = rows.filter(pl.col("tries") > 0).select(used.max()).item()
    words = f"{100 * fails / tries:.2g} % without"
    try:
        (found,) = judge(pool_supplies(rows, Path("supply")), no_alias=NO_ALIAS).pools
    except PlannerError:
        return Supplied(words, most)
    if found.verdict is None:
        return Supplied(words, most)
    verdict = NAMES.get(found.verdict, found.verdict)
    needed = "" if found.aliases_needed is None else f", {found.aliases_needed} needed"
    return Supplied(f"{verdict}: {words}{needed}", most)
