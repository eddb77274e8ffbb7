"""z/OS: data frames of IBM SMF Explorer, of SMF 74-1 (devices) and 78-3 (HyperPAV), as frames, CSV or Parquet.

Columns have the names of its mappings, in lower case, with or without the prefix smf74 or smf78. Names, types and
meanings are those of the public pages https://ibm.github.io/IBM-SMF-Explorer/mappings/; no real data was at hand.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import polars as pl

from planner.errors import ReportError
from planner.render.text import listed
from planner.reports import schema
from planner.reports.csv_table import CsvTable, first_true, read_date, refuse
from planner.reports.moments import MOMENT, clock, read_length, with_moments
from planner.reports.supply import found_free
from planner.reports.volumes import FASTEST, SHOWN, SLOWEST
from planner.units import MICROSECOND, MONITOR_TIME

DEVICE_KEY: Final = frozenset({"num", "ssc", "mec"})
POOL_KEY: Final = frozenset({"r783hlcu", "r783htio"})
DEVICE_NEEDED: Final = {  # column: what it is
    "num": "device number", "ssc": "SSCH count", "mec": "measurement events", "cnn": "connect time",
    "pen": "pending time", "dis": "disconnect time", "int": "length of the interval",
}  # fmt: skip
WHEN: Final = (  # any of the columns, what is missing without
    (("snm", "sid"), "the name of the system"),
    (("ist", "timestamp"), "the time of the interval"),
)
DEVICE_USEFUL: Final = (
    *WHEN,
    (("ser",), "volume serials"),
    (("lcu",), "alias pools"),
    (("hpv",), "which volumes are HyperPAV bases, so alias pools"),
    (("hpc",), "the number of aliases of a pool"),
    (("que", "ios"), "queues and response times"),
)
POOL_NEEDED: Final = {
    "r783hlcu": "logical control unit", "r783htio": "HyperPAV I/Os", "r783hnai": "I/Os without a free alias",
    "int": "length of the interval",
}  # fmt: skip
POOL_USEFUL: Final = (
    *WHEN,
    (("r783haiu",), "the most aliases in use"),
    (("r783xanc",), "how often an alias was needed (SuperPAV)"),
)
NUMBERS: Final = (
    "ssc", "mec", "cnn", "pen", "dis", "que", "sam", "ios", "hpc", "r783htio", "r783hnai", "r783haiu", "r783hioq",
    "r783xanc", "r783xauc", "r783xabc", "r783xalc", "r783xcqd", "r783hlcu",
)  # fmt: skip
WORDS: Final = ("num", "lcu", "ser", "typ", "dev", "r783hcu")
FLAGS: Final = ("cmb", "del_", "vac", "par", "ddt", "cni", "ntf", "hpv")
INVALID: Final = {  # flag: why a row is left out
    "cmb": "their measurements are invalid (SMF74CMB)",
    "vac": "they were varied or reconfigured in the interval (SMF74VAC)",
    "del_": "they were deleted (SMF74DEL)",
}
EPOCH: Final = datetime(1970, 1, 1)
MOST_COUNTED: Final = 65_535  # by a count of two bytes
TRUE: Final = frozenset({"true", "1", "1.0", "yes", "on"})
FALSE: Final = frozenset({"false", "0", "0.0", "no", "off"})
DASD: Final = re.compile(r"[0-9A-F]{4}20[0-9A-F]{2}")  # UCBTYP: the third byte is the class
DASD_3390: Final = re.compile(r"[0-9A-F]{4}200F")


def plain_names(names: Iterable[str]) -> list[str]:
    """Short lower-case name of each column."""
    return [re.sub(r"^smf7[48]", "", name.lower()) for name in names]


def is_smf(headings: frozenset[str]) -> bool:
    """Whether headings are those of SMF 74-1, or of the HyperPAV section of SMF 78-3."""
    return any(key.issubset(plain_names(headings)) for key in (DEVICE_KEY, POOL_KEY))


def read_smf(table: CsvTable) -> schema.Tables:
    """Read a table of either kind."""
    path, names = table.path, plain_names(table.header)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ReportError(path, f"two columns are {twice[0]}: expected each once")
    devices = DEVICE_KEY.issubset(names)
    needed, useful = (DEVICE_NEEDED, DEVICE_USEFUL) if devices else (POOL_NEEDED, POOL_USEFUL)
    what = "SMF 74-1" if devices else "SMF 78-3"
    missing = [f"{name} ({meaning})" for name, meaning in needed.items() if name not in names]
    if missing:
        wanted = "expected these columns of SMF Explorer too"
        raise ReportError(path, f"{what} without {', '.join(missing)}: {wanted}")
    notes = [
        f"{what} without {' or '.join(some)}: {gone} missing"
        for some, gone in useful
        if not set(some) & set(names)
    ]
    if devices and table.cells.to_series(names.index("num")).dtype.is_numeric():
        wanted = "expected text, four hexadecimal digits such as 8A00"
        raise ReportError(path, f"num is a column of numbers: {wanted}")
    known = _typed(replace(table, header=tuple(names)), notes)
    name, rows_of = ("devices", _devices) if devices else ("supply", _supply)
    tables: dict[str, Any] = {name: rows_of(path, known, notes)}
    said = tuple(f"{path}: {note}" for note in notes)
    return schema.Tables(**tables, notes=said, what=f"{what} of SMF Explorer")


def _typed(table: CsvTable, notes: list[str]) -> pl.DataFrame:
    """Numbers, flags, times and lengths of intervals in types of their own; absent columns null."""
    named = "snm" if table.has("snm") else "sid"
    clocks = (pl.col(pl.Duration) + pl.lit(EPOCH)).dt.time()  # of a day: a length is 99 minutes at most
    table = replace(table, cells=table.cells.with_columns(clocks))
    wanted = "expected the length of an interval, such as 00:15:00 or 900 seconds"
    columns: dict[str, Any] = {name: table.printed(name)[0] for name in NUMBERS}
    bit = "expected true or false, or 1 or 0"
    columns |= {name: table.mapped(name, _flag, bit, pl.Boolean) for name in FLAGS}
    columns |= {name: _words(table, name) for name in WORDS}
    columns["interval"] = table.mapped("int", _length, wanted, pl.Float64)
    columns["start"], columns["utc_offset"] = _starts(table, columns["interval"], notes)
    columns |= {"system": _words(table, named), "line": table.line_numbers, "file": str(table.path)}
    return with_moments(pl.DataFrame(columns), "system")


def _refuse(path: Path, frame: pl.DataFrame, wrong: pl.Series, name: str, expected: str) -> None:
    """Refuse a column with cells that are not as expected."""
    if (row := first_true(wrong)) is not None:
        problem = f"{name} is {frame[name][row]!r}: expected {expected}"
        raise ReportError(path, problem, line=int(frame["line"][row]))


def _words(table: CsvTable, name: str) -> pl.Series:
    """Words without blanks around them, null where empty."""
    return table.series(name).str.strip_chars(" \0").replace("", None)


def _flag(cell: str) -> bool | None:
    """A bit, by whichever word or number stands for it; None where the cell is empty."""
    word = cell.lower()
    return word in TRUE if word in TRUE | FALSE else (refuse() if word else None)


def _length(cell: str) -> float:
    """Length of an interval [s], from a time or a number of seconds."""
    length = read_length(cell)
    seconds = float(cell) if length is None else length
    return seconds if 0 < seconds < math.inf else refuse()


def _starts(table: CsvTable, interval: pl.Series, notes: list[str]) -> tuple[pl.Series, pl.Series]:
    """Begin and offset of each interval: date and time of RMF, else the time of the record less the interval."""
    begins = table.has("dat") and table.has("ist")
    if begins:
        name, wanted = "ist", "a time, and a date in dat, such as 09:15:00 and 2024-05-14"
        days, clocks = table.series("dat"), table.series("ist").str.strip_prefix("0 days ")
        cells = days.str.slice(0, 10) + " " + clocks
    elif table.has("timestamp"):
        name, wanted, cells = "timestamp", "a time such as 2024-05-14 09:15:00", table.series("timestamp")
        notes.append("without dat and ist, an interval begins its length before the record was written")
    else:
        nothing = pl.Series([None]).new_from_index(0, len(table))
        return nothing.cast(pl.Datetime("us")), nothing.cast(pl.Int32)
    different = cells.unique()
    moments, offsets = clock([read_date(cell) for cell in different])
    shown = cells.replace_strict(different, moments, return_dtype=pl.Datetime("us"))
    table.refuse(shown.is_null(), name, wanted)
    starts = shown if begins else shown - (interval * 1e6).cast(pl.Duration("us"))
    return starts, cells.replace_strict(different, offsets, return_dtype=pl.Int32)


def _check_counts(path: Path, frame: pl.DataFrame, *names: str) -> None:
    """Refuse what is no number of two bytes."""
    for name in names:
        wrong = (frame[name] < 0) | (frame[name] > MOST_COUNTED) | (frame[name] != frame[name].round())
        _refuse(path, frame, wrong, name, f"a whole number up to {MOST_COUNTED}")


def _devices(path: Path, frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Rows of the one table from device data sections."""
    frame = _once(path, frame, ["system", MOMENT, "num"], notes)
    digits = frame["num"].str.contains(r"^[0-9A-Fa-f]{4,5}$").fill_null(value=False)
    _refuse(path, frame, ~digits, "num", "four hexadecimal digits, as text")
    for flag, reason in INVALID.items():
        invalid = frame[flag].fill_null(value=False)
        if count := invalid.sum():
            names = map(str, frame.filter(invalid)["num"].unique(maintain_order=True).to_list())
            rows = "row is" if count == 1 else "rows are"
            notes.append(f"{count} {rows} left out, {reason}: {listed(list(names), SHOWN)}")
            frame = frame.filter(~invalid)
    for name in ("ssc", "mec", "cnn", "pen", "dis"):
        _refuse(path, frame, frame[name].is_null(), name, "a number")
    _check_counts(path, frame, "hpc")
    unit = _unit_of_times(path, frame, notes)
    timed = (pl.col("mec") > 0) & ~pl.col("ntf").fill_null(value=False)
    frame = frame.with_columns(
        io_rate=pl.col("ssc") / pl.col("interval"),
        **{name: pl.when(timed & valid).then(pl.col(field) * unit / pl.col("mec"))
           for name, field, valid in (
               ("pend", "pen", pl.lit(value=True)),
               ("connect", "cnn", ~pl.col("cni").fill_null(value=False)),
               ("disconnect", "dis", ~pl.col("ddt").fill_null(value=False)),
           )},
        half=pl.when((pl.col("mec") > 0) & (unit == MONITOR_TIME)).then(unit / pl.col("mec")).otherwise(0.0),
        # In IOS: by the queue time where it is counted, else by samples.
        **(
            {"queued": pl.col("ios") * MICROSECOND / pl.col("interval")} if (frame["ios"] > 0).any()
            else {"queued": pl.when(pl.col("sam") > 0).then(pl.col("que") / pl.col("sam")),
                  "queue_samples": pl.when(pl.col("sam") > 0).then("sam")}
        ),
    )  # fmt: skip
    frame = frame.with_columns(service=pl.col("pend") + pl.col("connect") + pl.col("disconnect"))
    waits = pl.when(pl.col("io_rate") > 0).then(pl.col("queued") / pl.col("io_rate"))
    return _device_rows(path, frame.with_columns(response=pl.col("service") + waits))


def _unit_of_times(path: Path, frame: pl.DataFrame, notes: list[str]) -> float:
    """Unit of connect, pending and disconnect times [s]: 128 microseconds, a second where nothing else can be meant."""
    events, *times = (float(frame[name].sum()) for name in ("mec", "cnn", "pen", "dis"))
    mean = sum(times) / events if events else 0.0
    if not mean or mean * MONITOR_TIME >= FASTEST:
        return MONITOR_TIME
    if FASTEST <= mean <= SLOWEST:
        notes.append("cnn, pen and dis are read as seconds: in units of 128 us an I/O would take none.")
        return 1.0
    found = f"{mean * MONITOR_TIME / MICROSECOND:.2g} us an I/O in their unit, 128 us"
    wanted = "expected the numbers of SMF 74-1, or seconds"
    raise ReportError(path, f"cnn, pen and dis come to {found}: {wanted}")


def _device_rows(path: Path, frame: pl.DataFrame) -> pl.DataFrame:
    """Columns of the schema from numbers of devices."""
    typ = pl.col("typ").str.to_uppercase()
    disk = pl.coalesce(typ.str.contains(f"^{DASD.pattern}$"), pl.col("hpv"), pl.col("ser").is_not_null())
    pooled = pl.col("hpv").fill_null(value=False)
    named = pl.when(typ.str.contains(f"^{DASD_3390.pattern}$")).then(pl.lit("3390"))
    widths = {"pend": 1, "connect": 1, "disconnect": 1, "service": 3, "response": 3}
    numbers: dict[str, pl.Expr] = {}
    for name in schema.DEVICE_NUMBERS.keys() & set(frame.columns):
        numbers |= schema.within(name, pl.col(name), pl.col("half") * widths.get(name, 0))
    found = frame.with_columns(
        **numbers,
        device=pl.col("num").str.to_uppercase().str.replace("^0(.{4})$", "${1}"),  # of subchannel set 0
        kind=pl.when(disk).then(pl.lit(schema.VOLUME)).otherwise(pl.lit(schema.OTHER)),
        label=pl.col("ser"),
        type=pl.coalesce(pl.col("dev"), named),
        pool=pl.when(pooled).then(pl.col("lcu").str.to_uppercase().str.zfill(4)),
        pool_aliases=pl.when(pooled).then(pl.col("hpc")),
    )
    return schema.conform(schema.DEVICES, found, path)


def _once(path: Path, frame: pl.DataFrame, key: list[str], notes: list[str]) -> pl.DataFrame:
    """Rows that say the same are one: SMF Explorer repeats them where another section was fetched too."""
    others = [name for name in frame.columns if name not in ("line", "file")]
    different = frame.filter(pl.struct(others).is_first_distinct())
    if different.height < frame.height:
        notes.append(f"{frame.height - different.height} rows repeat others and are left out")
    if (row := first_true(different.select(~pl.struct(key).is_first_distinct()).to_series())) is not None:
        name, line = key[-1], int(different["line"][row])
        problem = f"{name} {different[name][row]} a second time in an interval: expected one row of each"
        raise ReportError(path, problem, line=line)
    return different


def _supply(path: Path, frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Rows of the table of pools from HyperPAV sections, a logical control unit each."""
    _refuse(path, frame, frame["r783hlcu"].is_null(), "r783hlcu", "the number of a logical control unit")
    _check_counts(path, frame, "r783hlcu", "r783haiu")
    frame = _once(path, frame, ["system", MOMENT, "r783hcu", "r783hlcu"], notes)
    lcu = frame["r783hlcu"].cast(pl.Int64)
    names = pl.Series([f"{number:04X}" for number in lcu.to_list()], dtype=pl.String)
    several = frame.select("system", MOMENT, "r783hlcu").is_duplicated()
    if several.any():
        notes.append("logical control units with several control units: pools have the names of both")
        names = names.zip_with(~several, names + "/" + frame["r783hcu"].fill_null("?"))
    needed = pl.col("r783xanc").fill_null(0.0) > 0
    if not (frame["r783xanc"].fill_null(0.0) > 0).any():
        notes.append("tries are all HyperPAV I/Os (R783HTIO), not only those that needed an alias")
    found = frame.with_columns(
        pool=names,
        tries=pl.when(needed).then(pl.col("r783xanc")).otherwise(pl.col("r783htio")),
        fails=pl.when(needed).then(pl.col("r783xanc") - pl.col("r783xauc")).otherwise(pl.col("r783hnai")),
        borrowed=pl.col("r783xabc") / pl.col("interval"),
        loaned=pl.col("r783xalc") / pl.col("interval"),
        most_used=pl.col("r783haiu"),
        queued=pl.when(needed).then(pl.col("r783xcqd") / pl.col("r783xanc")),
        time=pl.col("start").dt.epoch("us") * 1e-6 + pl.col("interval"),
        restarted=pl.lit(value=False),
        plain=pl.lit(value=True),
    )
    whole = (found["tries"] == found["tries"].round()) & (found["fails"] == found["fails"].round())
    wrong = ~whole.fill_null(value=False) | (found["fails"] < 0) | (found["fails"] > found["tries"])
    wrong |= (found["tries"] > 2**53).fill_null(value=False)  # a float has all whole numbers up to there
    if (row := first_true(wrong)) is not None:
        some = f"{found['fails'][row]} of {found['tries'][row]} requests without a free alias"
        problem = f"{some}: expected whole numbers, no more fails than requests"
        raise ReportError(path, problem, line=int(found["line"][row]))
    return schema.conform(schema.SUPPLY, found, path)


def with_most_used(devices: pl.LazyFrame, supply: pl.LazyFrame) -> pl.LazyFrame:
    """Set the aliases that pools of volumes lack to the most that counters saw in use at once."""
    most = supply.group_by("system", "pool").agg(_most=pl.col("most_used").max().cast(pl.UInt16))
    joined = devices.join(most, on=["system", "pool"], how="left", nulls_equal=True, maintain_order="left")
    pooled = pl.when(pl.col("pool").is_not_null())
    return joined.with_columns(pool_aliases=pl.coalesce("pool_aliases", pooled.then("_most"))).drop("_most")


def with_aliases(supply: pl.DataFrame, devices: pl.DataFrame) -> pl.DataFrame:
    """Set the aliases of each pool, and the fewest free, from the volumes of the same system and interval."""
    key = ["system", "start", "utc_offset", "pool"]
    pooled = devices.filter(pl.col("pool_aliases").is_not_null()).group_by(key)
    counts = pooled.agg(known=pl.col("pool_aliases").max().cast(pl.UInt32), volumes=pl.len().cast(pl.UInt32))
    joined = supply.join(counts, on=key, how="left", nulls_equal=True, maintain_order="left")
    aliases = pl.coalesce("aliases", "known")
    return joined.with_columns(
        aliases=aliases,
        bases=pl.coalesce("bases", "volumes"),
        fewest_free=pl.coalesce("fewest_free", found_free(aliases)),
    ).select(supply.columns)
