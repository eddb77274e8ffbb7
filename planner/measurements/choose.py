"""Which rows an answer is about: pools and volumes, a span of time, the worst interval, the mean, or one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeVar, cast

from planner.errors import InputError
from planner.lazy import pl
from planner.reports import schema
from planner.reports.moments import MOMENT, before, read_moment, shown_by, with_moments
from planner.reports.schema import refuse_twice

if TYPE_CHECKING:
    Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)

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
    lost = (pl.col("kind") == schema.ALIAS).fill_null(False) & pl.col("pool").is_null()
    pooled = pl.col("pool").is_not_null()
    shared = lost.any().over(pl.col("system").fill_null(""))
    own = pl.coalesce(pl.col("alias_of"), pl.col("device"), pl.col("label")).fill_null("")
    kind = pl.when(pooled).then(pl.lit(POOL)).when(shared).then(pl.lit(SYSTEM)).otherwise(pl.lit(VOLUME))
    name = pl.when(pooled).then(pl.col("pool")).when(shared).then(pl.lit("all devices")).otherwise(own)
    return frame.with_columns(kind.alias(GROUP_KEYS[0]), name.alias(GROUP_KEYS[1]))


def groups_of(frame: pl.LazyFrame) -> list[Group]:
    """Groups of a table of devices, in the order of their names; other devices than disks are left out."""
    columns = ("system", "device", "label", "kind", "alias_of", "pool")
    about = frame.select(columns).filter(pl.col("kind") != schema.OTHER).unique().collect()
    found = group_keys(about.lazy()).select(pl.col("system").fill_null(""), *GROUP_KEYS).unique()
    return [Group(*each) for each in found.sort("system", GROUP_KEYS[1]).collect().rows()]


def rows_of(frame: pl.LazyFrame, groups: Sequence[Group]) -> pl.DataFrame:
    """Rows of some groups, with columns that name system, kind and group."""
    keys = ("_system", *GROUP_KEYS)
    wanted = pl.DataFrame([(each.system, each.kind, each.name) for each in groups], keys, orient="row")
    pools = [each.name for each in groups if each.kind == POOL]
    near = pl.col("pool").is_in(pools)
    if len(pools) < len(groups):
        near = near | pl.col("pool").is_null()
    disks = frame.filter(near & (pl.col("kind") != schema.OTHER))
    found = disks.with_columns(_system=pl.col("system").fill_null(""))
    return group_keys(found).join(wanted.lazy(), on=keys, how="semi").collect()


def of_system(
    frames: Mapping[str, pl.DataFrame], missing: tuple[schema.Missing, ...], system: str
) -> tuple[dict[str, pl.DataFrame], tuple[schema.Missing, ...]]:
    """Rows without a system are of this one; where others name it, too, keep what is of it alone."""
    named = any((frame["system"] == system).any() for frame in frames.values())
    own = pl.col("system") == system if named else pl.lit(value=True)
    filled = pl.col("system").fill_null(system)
    found = {name: frame.with_columns(filled).filter(own) for name, frame in frames.items()}
    return found, tuple(each for each in missing if not named or each.system == system)


A_MOMENT: Final = "a day or a time such as 2026-03-01 or 2026-03-01T10:15"
WORST: Final = "worst"
MEAN: Final = "mean"
BY_TIME: Final = ("io_rate", "alias_rate", "avoided", "queued", "utilization")
"""The others are means over I/Os."""


def moment(text: str | datetime | None, argument: str, expected: str = A_MOMENT) -> datetime | None:
    """Read a time, with its offset from UTC where it has one."""
    if text is None or isinstance(text, datetime):
        return text
    if not isinstance(text, str):
        raise InputError(argument, text, expected)
    try:
        return read_moment(text)
    except ValueError:
        raise InputError(argument, text, expected) from None


def within(frame: Frame, start: datetime | None, end: datetime | None) -> Frame:
    """Keep intervals that begin at `start` or later and before `end`; one without a date goes where either is given."""
    if start is not None:
        frame = frame.filter(~before(start))
    return frame if end is None else frame.filter(before(end))


def at_interval(devices: pl.DataFrame, which: str) -> pl.DataFrame:
    """Keep one interval of each device: the worst of its pool, the mean of all, or the one that holds a moment."""
    refuse_twice(devices)
    if which == MEAN:
        return means(devices)
    if which == WORST:
        return _worst(devices)
    when = cast(datetime, moment(which, "interval", "worst, mean, or a time such as 2026-03-01T10:15"))
    begin, clock = shown_by(when), when.replace(tzinfo=None)
    end = begin + pl.duration(microseconds=(pl.col("interval").fill_null(0.0) * 1e6).cast(pl.Int64))
    found = devices.filter((begin <= clock) & (end > clock))
    if not found.height:
        first, last = devices["start"].min(), devices["start"].max()
        span = "none has a date" if first is None else f"they begin from {first!s} to {last!s}"
        raise InputError("interval", which, f"a time within a measured interval; {span}")
    return found


def _worst(devices: pl.DataFrame) -> pl.DataFrame:
    """The interval in which most I/Os wait, and of those in which as many do, the busiest one."""
    keys = ["system", "source", MOMENT, "_file", *GROUP_KEYS]
    undated = pl.when(pl.col("start").is_null())  # which are an interval a file
    marked = group_keys(devices.lazy().with_columns(_file=undated.then("file")))
    grouped = with_moments(marked.collect(), "system")
    busy = pl.col("io_rate") * pl.col("service").fill_null(0.0)
    sums = grouped.group_by(keys).agg(
        _queued=pl.col("queued").sum(), _busy=busy.sum(), _line=pl.col("line").min()
    )
    order = ("_queued", "_busy", MOMENT, "_line", "_file")
    worst = sums.sort(order, descending=[True, True, False, False, False])
    chosen = worst.unique(["system", *GROUP_KEYS], keep="first", maintain_order=True).select(keys)
    found = grouped.join(chosen, on=keys, how="semi", nulls_equal=True, maintain_order="left")
    return found.drop(*GROUP_KEYS, MOMENT, "_file")


def means(devices: pl.DataFrame) -> pl.DataFrame:
    """Rates and queues over time, times over I/Os, of each device."""
    about = ["system", "device", "kind", "label", "alias_of", "pool"]
    seconds = pl.col("interval").fill_null(1.0)
    ios = pl.col("io_rate").fill_null(0.0) * seconds
    weights = {name: seconds if name in BY_TIME else ios for name in schema.DEVICE_NUMBERS}
    means = [_mean(f"{name}{end}", weight) for name, weight in weights.items() for end in schema.ENDS]
    firsts = pl.col("source", "utc_offset", "file", "line").first()
    lasts = pl.col("type", "pool_aliases", "together", "links", "paths").drop_nulls().last()
    found = devices.group_by(about, maintain_order=True).agg(
        *means, firsts, lasts, pl.col("start").min(), pl.col("interval").sum(),
        pl.col("queue_samples").sum().replace(0, None),
    )  # fmt: skip
    return found.select(*schema.dtypes(schema.DEVICES))


def _mean(name: str, weight: pl.Expr) -> pl.Expr:
    there = pl.col(name).is_not_null()
    total = weight.filter(there).sum()
    mean = (pl.col(name) * weight).filter(there).sum() / total
    return pl.when(total > 0).then(mean).otherwise(None).alias(name)
