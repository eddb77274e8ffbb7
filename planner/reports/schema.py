"""The one table that every reader fills, and the two beside it: names, types, units and meanings, declared once.

`DEVICES` has a row a device and interval, `SUPPLY` one an alias pool and interval, `STORAGE` one a shared data space
and interval. Units are SI. A measured number `x` stands beside `x_low` and `x_high`, what its printed digits leave
open; all three are null where the source says nothing. docs/formats.md names the columns, the site has a page of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from planner.errors import ReportError
from planner.lazy import pl
from planner.quantity import Quantity
from planner.reports.moments import MOMENT, YEARS, clock_of_zone, with_moments

BASE: Final = "base"
ALIAS: Final = "alias"
CLASSIC_ALIAS: Final = "classic alias"
VOLUME: Final = "volume"
OTHER: Final = "other"
KINDS: Final = (BASE, ALIAS, CLASSIC_ALIAS, VOLUME, OTHER)
ECKD_DISKS: Final = ("3390", "3380")  # the types that aliases exist for
ENDS: Final = ("", "_low", "_high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A row that could not be read: device or volume `name` and `pool`, if known; not `own`: of some alias of it."""

    name: str | None
    pool: str | None = None
    system: str | None = None
    alias: bool = False
    own: bool = True
    start: datetime | None = None
    utc_offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """What a reader makes of a source: tables, `notes`, `what`, `missing` rows, `columns`; its caller adds `file`."""

    devices: pl.DataFrame = field(default_factory=lambda: empty(DEVICES))
    supply: pl.DataFrame = field(default_factory=lambda: empty(SUPPLY))
    storage: pl.DataFrame = field(default_factory=lambda: empty(STORAGE))
    notes: tuple[str, ...] = ()
    what: str = ""
    missing: tuple[Missing, ...] = ()
    columns: str = ""
    file: str = ""


def measured(key: str, unit: str, meaning: str) -> tuple[Quantity, Quantity, Quantity]:
    """Declare a measured number with its two ends."""
    return (
        Quantity(key, meaning, unit),
        Quantity(f"{key}_low", "smallest number that its printed digits stand for", unit),
        Quantity(f"{key}_high", "largest number that its printed digits stand for", unit),
    )


def exact(name: str, values: Any) -> dict[str, Any]:
    """Columns of a number whose source leaves nothing open."""
    return dict.fromkeys([f"{name}{end}" for end in ENDS], values)


def within(name: str, values: Any, halves: Any) -> dict[str, Any]:
    """Columns of a number, zero or above, half a unit of its last digit to either side: arrays, series, expressions."""
    return {name: values, f"{name}_low": (values - halves).clip(0.0), f"{name}_high": values + halves}


WHEN: Final = (
    Quantity("system", "name of the z/VM, z/OS or Linux system; null where the source does not say", dtype="String"),
    Quantity("source", "name of the measurement, as the report head says it", dtype="String"),
    Quantity("start", "begin of the interval by the clock of the system; null without a date", dtype="Datetime"),
    Quantity("utc_offset", "clock of the system less UTC; null where the source does not say", "s", dtype="Int32"),
    Quantity("interval", "length of the interval", "s"),
)  # fmt: skip
WHERE: Final = (
    Quantity("file", "file that the row stands in", dtype="String"),
    Quantity("line", "its line or record in the file, counted from 1", dtype="UInt32"),
)
DEVICE_NUMBERS: Final = {  # name: unit, meaning
    "io_rate": ("1/s", "I/Os; of a volume, those of its aliases among them"),
    "alias_rate": ("1/s", "I/Os that aliases did for the volume"),
    "avoided": ("1/s", "I/Os avoided by minidisk caching"),
    "pend": ("s", "mean pending time of an I/O"),
    "disconnect": ("s", "mean disconnect time of an I/O"),
    "connect": ("s", "mean connect time of an I/O"),
    "service": ("s", "mean service time of an I/O: pending, disconnect and connect"),
    "response": ("s", "mean response time of an I/O as the source says it: service and queue"),
    "cu_wait": ("s", "mean wait of an I/O for the control unit, part of pending"),
    "queued": ("", "mean number of I/Os waiting for the device"),
    "utilization": ("", "share of the time in which an I/O was under way, from 0 to 1"),
}
PARTS: Final = ("pend", "disconnect", "connect")  # of a service time
DEVICES: Final[tuple[Quantity, ...]] = (
    *WHEN,
    Quantity("device", "device number, four hexadecimal digits; null where a volume has a name only", dtype="String"),
    Quantity("kind", "base, alias (HyperPAV), classic alias, volume (a base with its aliases) or other", dtype="Enum"),
    Quantity("label", "volume label, owner, or name of the volume; null where blank", dtype="String"),
    Quantity("type", "device type such as 3390-3, or ->522A for a classic alias", dtype="String"),
    Quantity("alias_of", "device number of the base, of a classic alias", dtype="String"),
    Quantity("pool", "alias pool that the device belongs to; null where nothing says so", dtype="String"),
    Quantity("pool_aliases", "aliases of that pool", dtype="UInt16"),
    Quantity("together", "how much its I/Os come together with those of other volumes: 0 not, 1 always"),
    Quantity("queue_samples", "samples that the queue is the mean of; null where it was not sampled", dtype="UInt32"),
    Quantity("links", "minidisk links", dtype="UInt32"),
    Quantity("paths", "channel paths", dtype="UInt32"),
    *(column for name, (unit, meaning) in DEVICE_NUMBERS.items() for column in measured(name, unit, meaning)),
    *WHERE,
)  # fmt: skip
SUPPLY: Final[tuple[Quantity, ...]] = (
    *WHEN,
    Quantity("time", "end of the interval on the clock of the file, from whatever it counts", "s"),
    Quantity("pool", "alias pool", dtype="String"),
    Quantity("tries", "requests for an alias in the interval", dtype="UInt64"),
    Quantity("fails", "those that found none free", dtype="UInt64"),
    Quantity("fewest_free", "fewest free aliases that a request found", dtype="UInt32"),
    Quantity("most_free", "most free aliases that a request found", dtype="UInt32"),
    Quantity(
        "most_used", "most aliases in use at once; null where the source says what was free", dtype="UInt32"
    ),
    Quantity("aliases", "aliases of the pool at the end of the interval", dtype="UInt32"),
    Quantity("bases", "bases of the pool; null where the source does not say", dtype="UInt32"),
    Quantity("borrowed", "aliases borrowed from other control units (SuperPAV)", "1/s"),
    Quantity("loaned", "aliases loaned to other control units (SuperPAV)", "1/s"),
    Quantity("queued", "mean I/Os queued for an alias"),
    Quantity("restarted", "whether the counters were started again in the interval", dtype="Boolean"),
    Quantity("plain", "whether rates and water marks of the interval belong together", dtype="Boolean"),
    *WHERE,
)
STORAGE_RATES: Final = {
    "steal_rate": "pages stolen",
    "read_rate": "pages read from DASD",
    "write_rate": "pages written to DASD",
    "expanded_read_rate": "pages read from expanded storage",
    "expanded_write_rate": "pages written to expanded storage",
    "migration_rate": "pages migrated from expanded storage",
}
STORAGE_PAGES: Final = {
    "total": "its pages",
    "resident": "pages in real storage",
    "resident_below_2gb": "pages in real storage below the 2 GB line",
    "locked": "pages locked",
    "locked_below_2gb": "pages locked below the 2 GB line",
    "aliases": "alias pages",
    "aliases_locked": "alias pages locked",
    "expanded": "pages in expanded storage",
    "dasd": "pages on DASD",
}
STORAGE: Final[tuple[Quantity, ...]] = (
    *WHEN,
    Quantity("release", "z/VM version and release such as 5.3", dtype="String"),
    Quantity("owner", "userid that owns the data space", dtype="String"),
    Quantity("name", "name of the data space", dtype="String"),
    Quantity("users", "users permitted to it", dtype="UInt32"),
    *(column for name, meaning in STORAGE_RATES.items() for column in measured(name, "1/s", meaning)),
    *(column for name, meaning in STORAGE_PAGES.items() for column in measured(name, "pages", meaning)),
    *WHERE,
)
LOST: Final = (  # rows that could not be read
    WHEN[0], *WHEN[2:4],
    Quantity("name", "device or volume; null where that could not be read", dtype="String"),
    Quantity("pool", "alias pool; null where nothing says so", dtype="String"),
    Quantity("alias", "whether it is an alias", dtype="Boolean"),
    Quantity("own", "whether the row is its own, not that of an alias of it", dtype="Boolean"),
)  # fmt: skip
TABLES: Final[Mapping[str, Sequence[Quantity]]] = {
    "devices": DEVICES,
    "supply": SUPPLY,
    "storage": STORAGE,
}


# Beyond what any device does by far: a unit that is wrong, or damage.
LARGEST: Final = {"1/s": 1e9, "s": 1e6, "": 1e9, "pages": 1e15}
BOUNDS: Final[Mapping[str, tuple[Any, Any]]] = {  # of what is no measured number
    "start": (datetime(YEARS[0], 1, 1), datetime(YEARS[1], 12, 31, 23, 59, 59, 999_999)),
    "utc_offset": (-86_400, 86_400),
    "interval": (1e-3, 1e9),  # thirty years, as counters since a start may have
    "together": (0.0, 1.0),
    "pool_aliases": (0, 255),  # and a base: the addresses of a logical control unit
    "queue_samples": (0, 2**32),
    **dict.fromkeys(("borrowed", "loaned", "queued"), (0.0, 1e9)),
}
ORIGIN: Final = ("source", "file", "line")  # where a row came from: no part of what was measured
NAMES: Final = ("device", "label", "pool", "name")  # what a row is about
NO_IOQ: Final = (
    "a DEVICE report does not say how many aliases a pool has; give the IOQ report of the time too."
)
LEAST: Final = {"io_rate": 1e-9, "service": 1e-12}  # an I/O in thirty years, a picosecond; what is 0 is idle


def numbers_of(columns: Sequence[Quantity]) -> dict[str, Quantity]:
    """Measured numbers of a table, which have two ends, by key."""
    known = {each.key: each for each in columns}
    return {key: each for key, each in known.items() if f"{key}_low" in known}


def refuse_implausible(columns: Sequence[Quantity], found: pl.DataFrame | pl.LazyFrame) -> None:
    """Refuse a number or time that no device has, or not-a-number; it would overflow somewhere."""
    checks, rows = tuple(_checks(columns)), found.lazy()
    bad = [wrong.any().alias(str(at)) for at, (_, wrong, _) in enumerate(checks)]
    wrong_ones = rows.select(bad).collect(engine="streaming").row(0)
    if not any(wrong_ones):
        return
    name, wrong, wanted = checks[wrong_ones.index(True)]
    text = pl.col(name).cast(pl.String).alias("_text")  # a time may be none that Python knows
    places = [key for key in (*NAMES, "file", "line") if key in {each.key for each in columns}]
    row = rows.filter(wrong).select(*places, text).head(1).collect().row(0, named=True)
    of = next((row[key] for key in NAMES if row.get(key)), "a row")
    each = next(each for each in columns if each.key == name)
    value = f"{float(row['_text']):g}" if each.dtype.startswith("Float") else row["_text"]
    problem = f"{of}: {name} = {value} {each.unit}".rstrip() + f": expected {wanted}"
    raise ReportError(row.get("file") or "data frame", problem, line=row.get("line"))


def _checks(columns: Sequence[Quantity]) -> Iterator[tuple[str, pl.Expr, str]]:
    """What may be wrong in each column, and what is expected; not-a-number is above all others."""
    numbers = numbers_of(columns)
    for name, each in numbers.items():
        value, low, high = (pl.col(f"{name}{end}") for end in ENDS)
        most = LARGEST[each.unit]
        yield name, value > most, f"at most {most:g} {each.unit}".rstrip()
        if name in LEAST:
            yield name, value.is_between(0.0, LEAST[name], closed="none"), f"0 if idle, or {at_least(name)}"
        yield name, value < 0.0, "zero or above"
        yield f"{name}_low", (low < 0.0) | low.is_nan(), "zero or above"
        yield f"{name}_high", (high < 0.0) | high.is_nan(), "zero or above"
    for name in (each.key for each in columns if each.key in BOUNDS and each.key not in numbers):
        least, most = BOUNDS[name]
        yield name, ~pl.col(name).is_between(least, most), f"{least} to {most}"


def at_least(name: str) -> str:
    """Say what is wanted in place of a number below the least of its column."""
    return f"at least {LEAST[name]:g} {DEVICE_NUMBERS[name][0]}: with less a device is idle; check the unit"


def refuse_twice(frame: pl.DataFrame) -> None:
    """Refuse a device, a volume of a pool or a data space that stands in one interval twice, in whatever files."""
    rows = with_moments(frame, "system").with_row_index("_row")
    systems = frame["system"].unique().drop_nulls().to_list()
    if systems and frame["system"].null_count():  # a row that names no system may be of any
        every = pl.when(pl.col("system").is_null()).then(pl.lit(systems)).otherwise(pl.concat_list("system"))
        rows = rows.with_columns(every.alias("system")).explode("system")
    undated = pl.col("start").is_null()
    owned = "owner" in frame.columns
    name = pl.concat_str("name", pl.lit(" of "), "owner") if owned else pl.coalesce("device", "label")
    pool = pl.lit(None) if owned else pl.when(pl.col("device").is_null()).then("pool")
    listing = [pl.when(undated).then(each).alias(f"_{each}") for each in ("file", "source")]
    keys = rows.select("_row", "system", MOMENT, name.alias("_name"), pool.alias("_pool"), *listing)
    twice = keys.drop("_row").is_duplicated()
    if not twice.any():
        return
    one = keys[int(twice.arg_max() or 0)]
    alike = keys.join(one, keys.columns[1:], how="semi", nulls_equal=True, maintain_order="left")
    places = alike["_row"][:2].to_list()
    first, second = (frame.row(place, named=True) for place in places)
    when = "" if second["start"] is None else f" at {second['start']}"
    if first["system"] != second["system"]:
        when += f" (of {first['system'] or second['system']}, and of no system: `system` names it)"
    place = first["file"] or "data frame"
    place = place if first["line"] is None else f"line {first['line']} of {place}"
    problem = f"{one['_name'][0]} a second time{when}, first in {place}"
    wanted = "expected each interval of it once"
    lengths = [each["interval"] for each in (first, second) if each["interval"]]
    if len({*lengths}) > 1:
        wanted += (
            f"; one is of {lengths[0]:g} s, one of {lengths[1]:g}: leave out what sums up several intervals"
        )
    elif second["start"] is not None:
        if _same_elsewhere(first, second):
            wanted += (
                "; the two rows are equal: an archive of the files (planner collect) takes each row once"
            )
        if second["utc_offset"] is None and places[1] > places[0] + 1:
            wanted += (
                "; if the clock was set back, give the times their offset (utc_offset), as "
                "2026-10-25T02:00+01:00"
            )
    raise ReportError(second["file"] or "data frame", f"{problem}: {wanted}", line=second["line"])


def _same_elsewhere(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether two rows say the same, in two files or in one that was read twice."""
    twice = first["file"] != second["file"] or first["line"] == second["line"]
    return twice and all(first[name] == second[name] for name in first if name not in ORIGIN)


def damage() -> tuple[type[BaseException], ...]:
    """What polars raises at a damaged Parquet or Arrow file; at some it panics, which is no `Exception`."""
    return OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException


def dtypes(columns: Sequence[Quantity]) -> dict[str, Any]:
    """Types of columns for polars, by name."""
    special = {"Datetime": pl.Datetime("us"), "Enum": pl.Enum(KINDS)}
    return {column.key: special.get(column.dtype) or getattr(pl, column.dtype) for column in columns}


def frame(columns: Sequence[Quantity], data: Mapping[str, Any], height: int | None = None) -> pl.DataFrame:
    """Make a table of columns: lists, arrays, series, or one value for all; null where `data` lacks one or is nan."""
    wanted = dtypes(columns)
    unknown = data.keys() - wanted.keys()
    assert not unknown, f"not in the schema: {unknown}"
    if height is None:
        height = next((len(values) for values in data.values() if _many(values)), 0)
    series = {
        name: pl.Series(
            name, values, dtype=None if hasattr(values, "dtype") else dtype, strict=False,
            nan_to_null=isinstance(values, np.ndarray),
        )
        for name, dtype in wanted.items()
        if _many(values := data.get(name))
    }  # fmt: skip
    found = pl.DataFrame(list(series.values())) if series else pl.DataFrame(height=height)
    return found.select(
        (pl.col(name).cast(dtype) if name in series else pl.lit(data.get(name), dtype=dtype)).alias(name)
        for name, dtype in wanted.items()
    )


def kind_of(type_: pl.Series, label: pl.Series) -> pl.Series:
    """What each device of a DEVICE listing is, by its type and label, strings or null."""
    disk = type_.str.slice(0, 4).is_in(list(ECKD_DISKS)).fill_null(False)
    kind = (
        pl.when(type_.str.starts_with("->")).then(pl.lit(CLASSIC_ALIAS))
        .when(~disk).then(pl.lit(OTHER))
        .when(label.fill_null("") == "").then(pl.lit(ALIAS))
        .otherwise(pl.lit(BASE))
    )  # fmt: skip
    return pl.select(kind.cast(pl.Enum(KINDS))).to_series()


def _many(values: object) -> bool:
    return hasattr(values, "__len__") and not isinstance(values, str | bytes)


def lost_frame(missing: Sequence[Missing]) -> pl.DataFrame:
    """Rows that could not be read as a table."""
    columns = {name: [getattr(each, name) for each in missing] for name in dtypes(LOST)}
    return frame(LOST, columns, len(missing))


def lost_rows(found: pl.DataFrame) -> tuple[Missing, ...]:
    """The same back."""
    return tuple(Missing(**row) for row in found.iter_rows(named=True))


def empty(columns: Sequence[Quantity]) -> pl.DataFrame:
    """Make a table without rows."""
    return pl.DataFrame(schema=dtypes(columns))


def join(columns: Sequence[Quantity], parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Join tables of the same columns, one below the other, without copying them."""
    full = [part for part in parts if part.height]
    return pl.concat(full, rechunk=False) if full else empty(columns)


def conform(columns: Sequence[Quantity], found: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Give a table that has these columns, or some of them, their order and types; others are ignored."""
    names = {column.key for column in columns} & set(found.columns)
    try:
        if getattr(found.schema.get("start"), "time_zone", None):
            start, offset = clock_of_zone(found["start"])
            found = found.with_columns(start, offset.alias("utc_offset"))
            names.add("utc_offset")
        return frame(columns, {name: found[name] for name in names}, found.height)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        problem = f"columns of other types ({str(error).splitlines()[0]}): expected those of docs/formats.md"
        raise ReportError(path, problem) from error
