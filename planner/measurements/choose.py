"""Which rows an answer is about: pools and volumes, a span of time, the worst interval, the mean, or one moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from planner.errors import InputError
from planner.lazy import pl
from planner.render.text import counted, listed
from planner.reports import moments, schema
from planner.reports.moments import INTERVAL, MOMENT
from planner.reports.schema import refuse_twice
from planner.results import Array, Flags
from planner.units import readable

if TYPE_CHECKING:
    Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)

POOL: Final = "pool"
SYSTEM: Final = "system"  # HyperPAV aliases at work, and nothing says of which pool
VOLUME: Final = "volume"
GROUP_KEYS: Final = ("_kind", "_group")


@dataclass(frozen=True, slots=True)
class Group:
    """A pool, the devices of no known pool, or a volume of a `system`; `members` are those of a shared control unit."""

    system: str
    kind: str
    name: str
    members: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> str:
        """For a message."""
        return f"{self.system}/{self.name}" if self.system else self.name

    @property
    def pool(self) -> str:
        """A pool as sentences name it."""
        return f"pool {self.name}" if self.kind == POOL else self.name


def group_keys(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Add kind and name of the group of each row; HyperPAV devices of no known pool are one group of the system.

    A base with classic PAV aliases is a volume of its own.
    """
    lost = (pl.col("kind") == schema.ALIAS).fill_null(False) & pl.col("pool").is_null()
    pooled = pl.col("pool").is_not_null()
    system = pl.col("system").fill_null("")
    own = pl.coalesce(pl.col("alias_of"), pl.col("device"), pl.col("label")).fill_null("")
    shared = lost.any().over(system) & pl.col("alias_of").is_null().all().over(system, own)
    kind = pl.when(pooled).then(pl.lit(POOL)).when(shared).then(pl.lit(SYSTEM)).otherwise(pl.lit(VOLUME))
    name = pl.when(pooled).then(pl.col("pool")).when(shared).then(pl.lit("all devices")).otherwise(own)
    return frame.with_columns(kind.alias(GROUP_KEYS[0]), name.alias(GROUP_KEYS[1]))


def groups_of(frame: pl.LazyFrame) -> list[Group]:
    """Groups of a table of devices, in the order of their names; other devices than disks are left out."""
    columns = ("system", "device", "label", "kind", "alias_of", "pool")
    about = frame.select(columns).filter(pl.col("kind") != schema.OTHER).unique().collect()
    found = group_keys(about.lazy()).select(pl.col("system").fill_null(""), *GROUP_KEYS).unique()
    return [Group(*each) for each in found.sort("system", GROUP_KEYS[1]).collect().rows()]


def moved(frame: pl.LazyFrame, groups: Sequence[Group]) -> list[str]:
    """Say which volumes changed their pool, or had classic PAV aliases at times and HyperPAV aliases at others."""
    said = _between_pools(frame) if any(each.kind == POOL for each in groups) else []
    if all(each.kind != SYSTEM for each in groups):
        return said
    at, base = ("system", "start"), pl.coalesce("alias_of", "device", "label").alias("base")
    disks = frame.filter(pl.col("pool").is_null() & (pl.col("kind") != schema.OTHER))
    classic = disks.filter(pl.col("alias_of").is_not_null()).select("system", base).unique()
    hyper = disks.filter(pl.col("kind") == schema.ALIAS).select(at).unique()
    rows = disks.select(*at, base, "alias_of")
    rows = rows.join(classic, on=("system", "base"), how="semi", nulls_equal=True)
    bare = rows.group_by(*at, "base").agg(pl.col("alias_of").is_null().all())
    found = bare.filter("alias_of").join(hyper, on=at, how="semi", nulls_equal=True).select("base").unique()
    names = found.sort("base").collect()["base"].to_list()
    why = (
        "classic PAV aliases in some intervals, HyperPAV aliases in others; left out of the pool at all times"
    )
    return [*said, *_named(names, why)]


def _between_pools(frame: pl.LazyFrame) -> list[str]:
    """Say which volumes were in several pools, or in one and in none."""
    volumes = frame.filter(pl.col("kind").is_in([schema.BASE, schema.VOLUME]))
    own = volumes.select("system", "pool", volume=pl.coalesce("device", "label")).drop_nulls("volume")
    found = own.unique().group_by("system", "volume").len().filter(pl.col("len") > 1).sort("volume").collect()
    names = found["volume"].unique(maintain_order=True).to_list()
    why = "not in the same pool at all times; each pool counts a volume only while it is in it"
    return _named(names, why)


def _named(names: Sequence[str], why: str) -> list[str]:
    return [f"{listed(names, 3)}: {why} (--from and --to keep both apart)."] if names else []


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
    """Rows of a system: those that name it, and those that name none."""
    named = any((frame["system"] == system).any() for frame in frames.values())
    own = pl.col("system") == system if named else pl.lit(value=True)
    filled = pl.col("system").fill_null(system)
    found = {name: frame.with_columns(filled).filter(own) for name, frame in frames.items()}
    return found, tuple(each for each in missing if not named or each.system == system)


def refuse_several(systems: Iterable[str | None]) -> None:
    """Refuse measurements of several systems: an answer is about one."""
    names = sorted(set(filter(None, systems)))
    if len(names) > 1:
        raise InputError(
            "system", None, f"one of {', '.join(names)}: the measurements are of several systems"
        )


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
        return moments.read_moment(text)
    except ValueError:
        raise InputError(argument, text, expected) from None


def within(frame: Frame, start: datetime | None, end: datetime | None) -> Frame:
    """Keep intervals that begin at `start` or later and before `end`; none without a date where either is given."""
    if start is not None:
        frame = frame.filter(~moments.before(start))
    return frame if end is None else frame.filter(moments.before(end))


def at_interval(devices: pl.DataFrame, which: str) -> pl.DataFrame:
    """Keep one interval of each device: the worst of its pool, the mean of all, or the one that holds a moment."""
    refuse_twice(devices)
    if which == MEAN:
        return _mean(devices)
    devices = joined_intervals(devices).select(*schema.dtypes(schema.DEVICES))
    if which == WORST:
        return _worst(devices)
    when = cast(datetime, moment(which, "interval", "worst, mean, or a time such as 2026-03-01T10:15"))
    begin, clock = moments.shown_by(when), when.replace(tzinfo=None)
    end = begin + pl.duration(microseconds=(pl.col("interval").fill_null(0.0) * 1e6).cast(pl.Int64))
    found = devices.filter((begin <= clock) & (end > clock))
    if not found.height:
        first, last = devices["start"].min(), devices["start"].max()
        span = "none has a date" if first is None else f"they begin from {first!s} to {last!s}"
        raise InputError("interval", which, f"a time within a measured interval; {span}")
    return found


def _worst(devices: pl.DataFrame) -> pl.DataFrame:
    """The interval of each group in which most I/Os wait; of equals the busiest."""
    keys = ["system", *INTERVAL, *GROUP_KEYS]
    grouped = _marked(devices)
    busy = (pl.col("io_rate") * pl.col("service").fill_null(0.0)).sum()
    sums = grouped.group_by(keys, maintain_order=True).agg(
        _queued=pl.col("queued").sum(), _busy=busy, _line=pl.col("line").min()
    )
    order = ("_queued", "_busy", MOMENT, "_line", INTERVAL[1])
    worst = sums.sort(order, descending=[True, True, False, False, False])
    chosen = worst.unique(["system", *GROUP_KEYS], keep="first", maintain_order=True).select(keys)
    found = grouped.join(chosen, on=keys, how="semi", nulls_equal=True, maintain_order="left")
    return found.drop(*GROUP_KEYS, *INTERVAL)


def _marked(devices: pl.DataFrame) -> pl.DataFrame:
    """Rows with moment and group; those without a date, with file and source, each of which is an interval."""
    return moments.with_intervals(group_keys(devices.lazy()).collect(), "system")


def _mean(devices: pl.DataFrame) -> pl.DataFrame:
    """Means over all intervals of a pool, or of a system's volumes; a device without a row in one did no I/O there.

    A table that says the number of aliases has a mean for each; a listing one without aliases at work, and one with.
    """
    known = devices["interval"].null_count() < devices.height
    rows = _marked(devices).with_columns(
        pl.col("interval").fill_null(1.0), _of=pl.when(pl.col("_kind") != VOLUME).then("_group")
    )
    group, state = ["system", "_of", *GROUP_KEYS], ["_stated", "_any"]
    about = ["utc_offset", "source", "file"]
    at = [*group, *INTERVAL]
    working = pl.col("kind").is_in([schema.ALIAS, schema.CLASSIC_ALIAS]).any()
    seen = rows.group_by(at).agg(
        _stated=pl.col("pool_aliases").max(),
        _any=pl.when(working).then(True).when((pl.col("queued") > 0).any()).then(False),
    )
    times = rows.group_by("system", "_of", *INTERVAL).agg(
        pl.col("start", *about).first(), pl.col("interval").max()
    )
    every = times.join(rows.select(group).unique(), ["system", "_of"], nulls_equal=True)
    every = every.join(seen, at, how="left", nulls_equal=True).sort(*INTERVAL)
    # Aliases of a source are there from their first row on, as in `_states`.
    every = every.with_columns(pl.col("_any").cast(pl.Int8).cum_max().over(*group, "source"))
    every = every.with_columns(pl.col(state).forward_fill().backward_fill().over(group))
    whole = every.group_by(*group, *state).agg(
        pl.col("start", *about).sort_by(MOMENT).first().name.prefix("_"),
        pl.col("interval").sum().alias("_whole"),
    )
    found = means(rows.join(every.select(*at, *state), at, nulls_equal=True), *group[1:], *state).drop(about)
    found = _of_whole(found.join(whole, [*group, *state], nulls_equal=True, maintain_order="left"))
    found = found.rename({f"_{name}": name for name in about})
    return found.with_columns(interval=pl.when(known).then("interval")).select(*schema.dtypes(schema.DEVICES))


def _of_whole(found: pl.DataFrame) -> pl.DataFrame:
    """Means over the time `_whole` since `_start`, from means over `interval`, outside of which nothing was done."""
    by_time = pl.col([f"{name}{end}" for name in BY_TIME for end in schema.ENDS])
    scaled = by_time * pl.col("interval") / pl.col("_whole")
    return found.with_columns(scaled, start="_start", interval="_whole")


def means(devices: pl.DataFrame, *of: str) -> pl.DataFrame:
    """Means of each device and value of the columns `of`: of rates and queues over time, of times over I/Os."""
    about = ["system", "device", "kind", "label", "alias_of", "pool", *of]
    seconds = pl.col("interval").fill_null(1.0)
    ios = pl.col("io_rate").fill_null(0.0) * seconds
    weights = {name: seconds if name in BY_TIME else ios for name in schema.DEVICE_NUMBERS}
    means = [weighted(f"{name}{end}", weight) for name, weight in weights.items() for end in schema.ENDS]
    firsts = pl.col("source", "utc_offset", "file", "line").first()
    lasts = pl.col("type", "pool_aliases", "together", "links", "paths").drop_nulls().last()
    found = devices.group_by(about, maintain_order=True).agg(
        *means, firsts, lasts, pl.col("start").min(), pl.col("interval", "queue_samples").sum().replace(0, None),
    )  # fmt: skip
    return found.select(*schema.dtypes(schema.DEVICES), *of)


def weighted(name: str, weight: pl.Expr) -> pl.Expr:
    """Weighted mean of a column; null where the weights are 0."""
    there = pl.col(name).is_not_null()
    total = weight.filter(there).sum()
    mean = (pl.col(name) * weight).filter(there).sum() / total
    return pl.when(total > 0).then(mean).otherwise(None).alias(name)


def overlapping(devices: pl.DataFrame) -> tuple[str, ...]:
    """A note on pools and volumes with an interval that begins before the one before it ends."""
    dated = devices.lazy().filter(pl.col("start").is_not_null() & pl.col("interval").is_not_null())
    group = ["system", *GROUP_KEYS]
    every = moments.with_moments(group_keys(dated).collect(), "system").group_by(*group, MOMENT)
    rows = every.agg(pl.col("interval").max(), pl.col("start").first()).sort(*group, MOMENT)
    step = pl.col(MOMENT).diff().shift(-1).over(group).dt.total_microseconds() / 1e6
    late = rows.with_columns(_step=step).filter(pl.col("_step") < (1 - SAME_LENGTH) * pl.col("interval"))
    if not late.height:
        return ()
    names = listed(late[GROUP_KEYS[1]].unique(maintain_order=True).to_list(), 3)
    length, step_to_next = (late[name].to_numpy() for name in ("interval", "_step"))
    when = late["start"].to_numpy().astype("datetime64[s]")
    return (f"{names}: {longer(np.full(late.height, True), length, when, step_to_next)}.",)


def steps(start: NDArray[np.datetime64], clock: Array) -> Array:
    """Time from the begin of each interval to that of the next one [s]; `clock` less UTC [s], nan where not known."""
    return np.asarray(np.diff(start) / np.timedelta64(1, "s") - np.nan_to_num(np.diff(clock)))


def longer(early: Flags, seconds: Array, start: NDArray[np.datetime64], step: Array) -> str:
    """Say that intervals overlap: how many end too late, and of the first its length and the time to the next one."""
    at = int(np.argmax(early))
    return (
        f"{counted(int(early.sum()), 'interval')} longer than the time to the next one, the first of "
        f"{readable(seconds[at])} s at {start[at]} with {readable(step[at])} s to the next: both count; check the "
        "length of the intervals (interval_s)"
    )


SAMPLES: Final = 300
"""Samples that a queue should be the mean of before the worst of many intervals is sought: ten minutes of CP's.

The worst single minute of simulated hours is right within one or 25 % in 40 %, the worst ten minutes in 70
(`python -m tests.demand.minutes 602 40`, `--apart` for minutes).
"""
NEARLY: Final = 0.95  # of them are enough
SAME_LENGTH: Final = 0.02  # by which intervals may differ
JOINED: Final = "_joined"


def joined_intervals(devices: pl.DataFrame) -> pl.DataFrame:
    """Join intervals whose queues were sampled less than 300 times with those that follow them; other rows stay.

    Joined intervals begin at multiples of the time of 300 samples (ten minutes at one sample in two seconds). They end
    where measurements are missing, and where the aliases of a volume or pool change; one with less than half of the
    samples is added to that before it. Intervals in which half of the volumes have no row stay apart. Rows are averaged
    by `means`; a device without a row did nothing. The column `_joined` is the number of intervals joined.
    """
    if devices["queue_samples"].null_count() == devices.height:
        return devices
    few = (pl.col("queue_samples") < NEARLY * SAMPLES).any().over("system", *GROUP_KEYS)
    rows = group_keys(moments.with_moments(devices, "system").lazy()).with_row_index("_row").collect()
    dated = pl.col(MOMENT).is_not_null() & (pl.col("interval") > 0)
    some = rows.filter(few & dated).sort(MOMENT, "device", "label")
    clock = _clock(some)
    if clock["_bucket"].n_unique() == clock.height:
        return devices
    group = ["system", "source", *GROUP_KEYS]
    states = _states(some, group).join(clock, ["system", "source", MOMENT], nulls_equal=True)
    new = [*group, "_bucket", "_state"]
    states = states.select(
        *new, MOMENT, pl.max_horizontal("_begin", "_since").alias("_start"),
        pl.col("_length").sum().over(new).alias("_whole"), pl.len().over(new).alias(JOINED),
    )  # fmt: skip
    placed = some.join(states, [*group, MOMENT], nulls_equal=True, maintain_order="left")
    known = schema.dtypes(schema.DEVICES)
    more = dict.fromkeys([*GROUP_KEYS, *(name for name in devices.columns if name not in known)])
    joined = _of_whole(means(placed, *more, *new[-2:], "_start", "_whole", JOINED))
    columns = [*devices.columns, JOINED]
    others = rows.join(placed, "_row", how="anti").with_columns(pl.lit(1, pl.UInt32).alias(JOINED))
    return pl.concat([others.select(columns), joined.select(columns)])


def _states(rows: pl.DataFrame, group: list[str]) -> pl.DataFrame:
    """Intervals of each group with its `_state` and `_since` when: aliases, and whether half of the volumes have rows.

    An alias of a listing counts from its first row on: while it does nothing it may have none.
    """
    bases = pl.col("kind").is_in([schema.BASE, schema.VOLUME]).sum()
    found = rows.group_by(*group, MOMENT).agg(
        _stated=pl.col("pool_aliases").max(), _bases=bases, _since=pl.col("start").first()
    )
    aliases = rows.filter(pl.col("kind").is_in([schema.ALIAS, schema.CLASSIC_ALIAS]))
    first = aliases.group_by(*group, "device").agg(_first=pl.col(MOMENT).min())
    there = found.join(first, group, nulls_equal=True).filter(pl.col(MOMENT) >= pl.col("_first"))
    many = there.group_by(*group, MOMENT).agg(_listed=pl.len())
    found = found.join(many, [*group, MOMENT], how="left", nulls_equal=True).sort(MOMENT)
    found = found.with_columns(_half=pl.col("_bases") > pl.col("_bases").max().over(group) / 2)
    found = found.with_columns(_state=pl.struct("_stated", "_listed", "_half").rle_id().over(group))
    since = pl.when(pl.col("_state") > 0).then(pl.col("_since").min().over(*group, "_state"))
    return found.with_columns(_since=since)


def _clock(rows: pl.DataFrame) -> pl.DataFrame:
    """Intervals of each source: length, `_bucket` in which they are joined, and its `_begin`."""
    source = ["system", "source"]
    length, samples = pl.col("interval").max(), pl.col("queue_samples").max()
    groups = rows.group_by(*source, MOMENT)
    found = groups.agg(_length=length, _samples=samples, _begin=pl.col("start").first()).sort(*source, MOMENT)
    step = pl.col(MOMENT).diff().over(source).dt.total_microseconds() / 1e6
    longer = (pl.col("_length") / pl.col("_length").shift().over(source) - 1.0).abs() > SAME_LENGTH
    apart = (step > 1.5 * pl.col("_length").shift().over(source)) | longer
    found = found.with_columns(_part=apart.fill_null(value=True).cum_sum())
    many = (NEARLY * SAMPLES / pl.col("_samples").median().over("_part")).ceil().clip(1)
    span = many * pl.col("_length").median().over("_part").round() * 1e6
    found = found.with_columns(_place=(pl.col(MOMENT).dt.epoch("us") / span).floor())
    small = pl.col("_samples").sum().over("_part", "_place") < SAMPLES / 2
    new = (pl.col("_place") != pl.col("_place").shift()).fill_null(value=True) & ~small
    found = found.with_columns(_new=new).with_columns(_bucket=pl.col("_new").cum_sum().over("_part").clip(1))
    return found.with_columns(
        _bucket=pl.struct("_part", "_bucket").rle_id(),
        _begin=pl.col("_begin").first().over("_part", "_bucket"),
    ).select(*source, MOMENT, "_length", "_bucket", "_begin")
