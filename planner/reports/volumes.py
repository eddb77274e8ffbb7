"""Tables of devices or volumes in CSV, Parquet, Arrow or a data frame, with documented headings (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from planner.reports import schema
from planner.reports.csv_table import CsvTable, date, refuse
from planner.reports.device_range import device_range
from planner.reports.moments import MOMENT, clock, with_moments
from planner.units import MILLISECOND, MOST_ALIASES

if TYPE_CHECKING:
    import polars as pl

NEEDED: Final = ("io_rate", "service_ms")
NUMBERS: Final = {  # column of the table: heading, SI units in one
    "io_rate": ("io_rate", 1.0),
    "alias_rate": ("alias_rate", 1.0),
    "avoided": ("avoided", 1.0),
    "pend": ("pend_ms", MILLISECOND),
    "disconnect": ("disconnect_ms", MILLISECOND),
    "connect": ("connect_ms", MILLISECOND),
    "service": ("service_ms", MILLISECOND),
    "response": ("response_ms", MILLISECOND),
    "cu_wait": ("cu_wait_ms", MILLISECOND),
    "queued": ("queued", 1.0),
}
WORDS: Final = {"system": "system", "source": "run", "label": "label", "type": "type", "alias_of": "alias_of",
                "pool": "pool"}  # fmt: skip
COUNTS: Final = {"links": "links", "paths": "paths"}
ALIASES: Final = ("pool_aliases", "aliases")
OFFSET: Final = "utc_offset_s"
DAY: Final = 86_400  # seconds
WANTED: Final = "a table of volumes (volume or device)"
_MOST: Final = 2**32 - 1


def is_table_of_volumes(names: frozenset[str]) -> bool:
    """Tell whether headings, in lower case, are those of such a table."""
    return bool({"device", "volume"} & names) and {"io_rate", "service_ms"} <= names


def read_volumes(table: CsvTable) -> schema.Tables:
    """Read devices or volumes, one a row and interval; what is printed is returned, contradictions and all."""
    import polars as pl

    key = next((name for name in ("device", "volume") if table.has(name)), None)
    if key is None:
        raise table.missing("device or volume", f"{WANTED} with the columns {', '.join(NEEDED)}")
    table.require(NEEDED, WANTED)
    columns: dict[str, Any] = {
        name: _words(table, heading) for name, heading in WORDS.items() if table.has(heading)
    }
    name = device_series(table) if key == "device" else _words(table, "volume", needed=True)
    columns["device" if key == "device" else "label"] = name
    columns["kind"] = _kinds(table)
    columns |= _times(table)
    columns |= {each: _count(table, heading, _MOST) for each, heading in COUNTS.items() if table.has(heading)}
    for heading in ALIASES:
        if table.has(heading):
            columns["pool_aliases"] = _count(table, heading, MOST_ALIASES)
            break
    for each, (heading, factor) in NUMBERS.items():
        if table.has(heading):
            columns |= measured(table, each, heading, factor)
    rate = columns["io_rate"]
    if rate.null_count():
        raise table.error(int(rate.is_null().arg_max() or 0), "io_rate", "is empty: expected a number")
    columns |= {"file": str(table.path), "line": pl.Series(table.line_numbers)}
    frame = schema.frame(schema.DEVICES, columns, len(table))
    _check_twice(table, frame, key)
    return schema.Tables(devices=frame, what="a table of volumes")


def measured(table: CsvTable, name: str, heading: str, factor: float) -> dict[str, pl.Series]:
    """Read a column of numbers with its ends, in SI; a column ``..._resolution`` beside it says half a last digit."""
    values, halves = table.printed(heading)
    beside = _resolution(heading)
    if table.has(beside):
        halves, _ = table.printed(beside)
    values, halves = values * factor, halves * factor
    return {name: values, f"{name}_low": (values - halves).clip(0.0), f"{name}_high": values + halves}


def _resolution(heading: str) -> str:
    """Heading of the resolution beside a number, as `planner read --csv` writes it."""
    stem, unit, _ = heading.partition("_ms")
    return f"{stem}_resolution{unit}"


def device_series(table: CsvTable) -> pl.Series:
    """Device numbers of a table whose rows are one device each, four hexadecimal digits."""
    import polars as pl

    def number(cell: str) -> str:
        try:
            low, high = device_range(cell)
        except ValueError:
            refuse()
        return f"{low:04X}" if low == high else refuse()

    return mapped(table, "device", number, "expected device numbers in hexadecimal such as 522A", pl.String)


def mapped(table: CsvTable, name: str, convert: Any, wanted: str, dtype: Any) -> pl.Series:
    """Convert the cells of a column, each different one once."""
    column = table.series(name)
    known = dict(zip(table.different(name), table.each_different(name, convert, wanted), strict=True))
    return column.replace_strict(list(known), list(known.values()), return_dtype=dtype)


def _words(table: CsvTable, heading: str, *, needed: bool = False) -> pl.Series:
    """Words of a column, null where a cell is empty."""
    import polars as pl

    column = table.text_series(heading)
    empty = column == ""
    if needed and empty.any():
        raise table.error(int(empty.arg_max() or 0), heading, "'': expected a name")
    return column.set(empty, None) if empty.any() else column.cast(pl.String)


def _count(table: CsvTable, heading: str, most: float) -> pl.Series:
    from planner.reports.csv_table import Allowed

    return table.printed(heading, Allowed(whole=True, most=most))[0]


def _kinds(table: CsvTable) -> str | pl.Series:
    """What each row is: as the column kind says, as type and label tell, else a volume."""
    import polars as pl

    if table.has("kind"):
        wanted = f"expected one of {', '.join(schema.KINDS)}"
        return mapped(
            table, "kind", lambda cell: cell if cell in schema.KINDS else refuse(), wanted, pl.String
        )
    if not (table.has("type") and table.has("label")):
        return schema.VOLUME
    return (
        pl.DataFrame({"type": table.series("type"), "label": table.series("label")})
        .select(kind_of(pl.col("type"), pl.col("label")))
        .to_series()
    )


def kind_of(type_: pl.Expr, label: pl.Expr) -> pl.Expr:
    """Tell what a device of a DEVICE listing is by its type and label, strings or null."""
    import polars as pl

    disk = type_.str.slice(0, 4).is_in(list(schema.ECKD_DISKS))
    return (
        pl.when(type_.str.starts_with("->")).then(pl.lit(schema.CLASSIC_ALIAS))
        .when(~disk.fill_null(False)).then(pl.lit(schema.OTHER))
        .when(label.fill_null("") == "").then(pl.lit(schema.ALIAS))
        .otherwise(pl.lit(schema.BASE))
    )  # fmt: skip


def _times(table: CsvTable) -> Mapping[str, pl.Series]:
    """Start, offset from UTC and length of the interval of each row."""
    import polars as pl

    found: dict[str, pl.Series] = {}
    if table.has("interval_s"):
        found["interval"] = table.printed("interval_s")[0]
    if table.has("start"):
        wanted = "expected a time such as 2007-05-27T15:01:00 or 2007-05-27T15:01:00+02:00"
        cells = table.different("start")
        moments = table.each_different("start", _moment, wanted)
        column = table.series("start")
        starts, offsets = clock(moments)
        found["start"] = column.replace_strict(cells, starts, return_dtype=pl.Datetime("us"))
        found["utc_offset"] = column.replace_strict(cells, offsets, return_dtype=pl.Int32)
        if table.has(OFFSET):
            found["utc_offset"] = _offsets(table, found["utc_offset"])
    return found


def _offsets(table: CsvTable, shown: pl.Series) -> pl.Series:
    """Offsets that stand in a column of their own; refused where the start says another one."""
    import polars as pl

    wanted = "expected seconds between -86400 and 86400, as the offset of start says"
    beside = mapped(table, OFFSET, _offset, wanted, pl.Int32)
    wrong = (beside != shown).fill_null(False)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise table.error(row, OFFSET, f"{beside[row]}: {wanted}, {shown[row]}")
    return beside.fill_null(shown)


def _offset(cell: str) -> int | None:
    value = int(cell) if cell else None
    return value if value is None or abs(value) < DAY else refuse()


def _moment(cell: str) -> datetime | None:
    return None if not cell else date(cell) or refuse()


def _check_twice(table: CsvTable, frame: pl.DataFrame, key: str) -> None:
    """A device stands once in an interval of a measurement, a volume of another name once in its pool."""
    frame = with_moments(frame, "system")
    columns = ["system", "source", MOMENT, key if key == "device" else "label"]
    if key == "volume":
        columns.append("pool")
    keys = frame.select(name for name in columns if frame[name].null_count() < frame.height)
    if keys.n_unique() == frame.height:
        return
    seen: dict[tuple[Any, ...], int] = {}
    row, first = next(
        (row, seen[each]) for row, each in enumerate(keys.rows()) if seen.setdefault(each, row) != row
    )
    wanted = frame.row(row, named=True)
    name = table.series(key)[row]
    problem = (
        f"{name} a second time, first in line {int(table.line_numbers[first])}: expected each volume once"
    )
    raise table.error(row, key, problem if wanted["start"] is None else f"{problem} in an interval")
