"""Which rows go together: the pools and volumes of a site, and the intervals in which each device stands once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from planner.reports import schema

if TYPE_CHECKING:
    import polars as pl

POOL: Final = "pool"
SYSTEM: Final = "system"  # HyperPAV aliases at work, and nothing says of which pool
VOLUME: Final = "volume"
GROUP_KEYS: Final = ("_kind", "_group")


@dataclass(frozen=True, slots=True)
class Group:
    """A pool, devices without one, or a volume: `kind` and `name` of `system`; `members` of a shared control unit."""

    system: str
    kind: str
    name: str
    members: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> str:
        """For a message."""
        return f"{self.system}/{self.name}" if self.system else self.name


def group_keys(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Add the kind of the group and its name; HyperPAV devices of no known pool are those of the system together."""
    import polars as pl

    lost = (pl.col("kind") == schema.ALIAS).fill_null(False) & pl.col("pool").is_null()
    pooled = pl.col("pool").is_not_null()
    shared = lost.any().over(pl.col("system").fill_null(""))
    own = pl.coalesce(pl.col("alias_of"), pl.col("device"), pl.col("label")).fill_null("")
    kind = pl.when(pooled).then(pl.lit(POOL)).when(shared).then(pl.lit(SYSTEM)).otherwise(pl.lit(VOLUME))
    name = pl.when(pooled).then(pl.col("pool")).when(shared).then(pl.lit("all devices")).otherwise(own)
    return frame.with_columns(kind.alias(GROUP_KEYS[0]), name.alias(GROUP_KEYS[1]))


def groups_of(frame: pl.LazyFrame) -> list[Group]:
    """Groups of a table of devices, in the order of their names; other devices than disks are left out."""
    import polars as pl

    columns = ("system", "device", "label", "kind", "alias_of", "pool")
    about = frame.select(columns).filter(pl.col("kind") != schema.OTHER).unique().collect()
    found = (
        group_keys(about.lazy())
        .select(pl.col("system").fill_null(""), *GROUP_KEYS)
        .unique()
        .sort("system", GROUP_KEYS[1])
    ).collect()
    return [Group(system, kind, name) for system, kind, name in found.rows()]


def rows_of(frame: pl.LazyFrame, groups: Sequence[Group]) -> pl.DataFrame:
    """Rows of some groups, with columns that name system, kind and group."""
    import polars as pl

    wanted = pl.DataFrame(
        [(each.system, each.kind, each.name) for each in groups],
        schema=("_system", *GROUP_KEYS),
        orient="row",
    )
    pools = [each.name for each in groups if each.kind == POOL]
    near = pl.col("pool").is_in(pools)
    if len(pools) < len(groups):
        near = near | pl.col("pool").is_null()
    found = frame.filter(near & (pl.col("kind") != schema.OTHER)).with_columns(
        pl.col("system").fill_null("").alias("_system")
    )
    return group_keys(found).join(wanted.lazy(), on=["_system", *GROUP_KEYS], how="semi").collect()
