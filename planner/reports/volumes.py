"""Tables of volumes: with any headings, separators, decimal marks and units, or with those of this planner.

What could be two numbers is refused. docs/formats.md names the headings.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from planner.errors import ReportError
from planner.render.text import counted, listed
from planner.reports import column_names, csv_table, schema
from planner.reports.column_names import Plan, TakenColumn
from planner.reports.csv_table import Allowed, CsvTable, FrameTable, first_true, refuse, shown
from planner.reports.membership import device_range
from planner.reports.moments import clock, is_time_of_day, read_dates, read_length
from planner.results import Flags
from planner.units import ADDRESSES, MICROSECOND, MILLISECOND, MOST_ALIASES

WANTED: Final = "a table of volumes"
NOTHING: Final = ("n/a", "na", "nan", "null", "none", "-", "--", "---", ".", "....", "#n/a", "n.a.", "nil", "?", "<na>",
                  "missing", "not available")  # fmt: skip
_BOTH: Final = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:,\d{3})+\.\d+")
_ONE: Final = re.compile(r"(\d*)([.,])(\d*)")
_NUMERAL: Final = re.compile(r"[0-9.,eE+-]+")
_GROUP_MARK: Final = "[ '\u2019\u00a0\u2009\u202f]"  # of thousands, where it has no other meaning
_GROUPED: Final = rf"^[0-9]{{1,3}}(?:{_GROUP_MARK}[0-9]{{3}})+(?:[.,][0-9]*)?$"
NUMBERS: Final = {  # field: its usual unit; that of a count is empty
    "io_rate": "1/s", "alias_rate": "1/s", "avoided": "1/s", "pend": "ms", "disconnect": "ms", "connect": "ms",
    "service": "ms", "response": "ms", "cu_wait": "ms", "iosq": "ms", "queued": "",
    "utilization": "",
}  # fmt: skip
WORDS: Final = {"system": "system", "run": "source", "volume": "label", "type": "type", "alias_of": "alias_of",
                "pool": "pool"}  # fmt: skip
OFFSET: Final = "utc_offset_s"
FASTEST: Final = 5e-6  # s; no disk serves an I/O faster
SLOWEST: Final = 10.0  # s; a mean service time that no disk has
SUMS: Final = (  # names of rows below those of volumes, in whatever case, as spreadsheets and reports write them
    r"(?i)^\W*((.* )?((grand|sub|gesamt|teil|zwischen)[ -]?)?(totale?s?|sums?|summen?|(ins)?gesamt(ergebnis)?"
    r"|ergebnis|averages?|avg|mittelwert|durchschnitt)(/average|/avg)?|mean|median|max(imum)?|min(imum)?|peak|count"
    r"|anzahl|std\W*dev(iation)?|.* ?percentile|((grand|sub)[ -]?)?total .*|lcu( .*)?|overall"
    r"|all( (vol(ume)?|device|disk|dasd)s?)?|(sum|average|mean|max(imum)?|min(imum)?) of .*)\W*$"
)
# A base and its aliases, other than those of HyperPAV, which has an H; their number changed where there is a star.
STATIC_PAV: Final = r"^([2-9]|[1-9][0-9]{1,2})\*?$"
LABEL: Final = "labelid"  # heading of a DEVICE listing, in which HyperPAV aliases have none
SHOWN: Final = 5  # names that a note lists
WANTED_TIME: Final = (
    "expected a time such as 2007-05-27T15:01:00 or 2007-05-27T15:01:00+02:00, 27.05.2007 15:01, 05/27/2007 15:01, or "
    "27MAY2007 15:01 with an English month, all in one form, of 1900 to 2199"
)


@dataclass(frozen=True, slots=True)
class TableHead:
    """Where the headings stand: `line` from 1, what `separator` cells have, and the `plan` of the columns."""

    line: int
    separator: str
    plan: Plan


def layout_of(text: str, given: Mapping[str, str] | None = None) -> TableHead | None:
    """Find the headings of a table of volumes among the first lines; where none is whole, the most promising ones."""
    best: TableHead | None = None
    for number, line in enumerate(text.split("\n")[:60], 1):  # titles and blank lines may stand above
        separator = max(csv_table.SEPARATORS, key=line.count)
        if not line.strip(" ,;\t") or separator not in line:
            continue
        try:
            headings = [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]
        except (csv.Error, StopIteration):
            continue
        if sum(map(bool, headings)) <= 1:
            continue
        here = {heading.lower() for heading in headings}
        asked = {name: each for name, each in (given or {}).items() if each.strip().lower() in here}
        found = TableHead(number, separator, column_names.plan_of(headings, asked))
        if not found.plan.missing and len(asked) == len(given or {}):
            return found
        if best is None or len(found.plan.taken) > len(best.plan.taken):
            best = found
    return best


def read_any_table(path: Path, data: bytes, given: Mapping[str, str]) -> schema.Tables:
    """Read a table of volumes in CSV, whatever its headings; `given` says which column is which field."""
    text = csv_table.in_utf8(data)
    recoded, data = text is not data, csv_table.normal(path, WANTED, text)
    layout = layout_of(data.decode(), given)
    if layout is None:
        raise ReportError(path, f"an empty file, or no table: expected {WANTED}", line=1, column=1)
    below = b"\n" * (layout.line - 1) + data.split(b"\n", layout.line - 1)[-1]
    if layout.separator == ",":
        table = csv_table.read_csv(path, (), WANTED, data=below)
    else:
        table = csv_table.by_lines(path, below, WANTED, separator=layout.separator)
    found = read_volumes(table, given)
    note = f"{path}: no text in UTF-8, read as Windows-1252."
    return replace(found, notes=(note, *found.notes)) if recoded else found


def read_volumes(table: CsvTable, given: Mapping[str, str]) -> schema.Tables:
    """Read devices or volumes, one a row and interval, as printed; a row without a number that it needs is named."""
    plan = column_names.plan_of(table.header, given)
    if plan.missing or plan.doubts:
        raise table.error_at(table.header_line, len(table.header), plan.refusal())
    table, plan = cleaned(table, plan)
    if "io_rate" not in given and (doubt := plan.count_or_rate):
        place = table.names.index(plan.taken["io_rate"].heading.upper())
        raise table.error_at(table.header_line, place, doubt)
    notes: list[str] = []
    frame, lost = _rows(table, plan, notes)
    seconds = _as_seconds(table, plan, frame)
    if seconds is not None:
        plan = seconds
        frame, lost = _rows(table, plan, notes := [])
        too_fast = f"a disk would serve an I/O in less than {FASTEST / MICROSECOND:.0f} us"
        notes.append(f"{table.path}: its times are read as seconds: as milliseconds {too_fast}.")
    notes += [f"{table.path}: {plan.no_queue}."] if plan.no_queue else []
    notes += _rivals(table, plan)
    missing, frame = _without_lost(table, frame, lost, notes)
    columns = f"{table.path}: {plan.words}"
    return schema.Tables(devices=frame, notes=tuple(notes), what=WANTED, missing=missing, columns=columns)


def _rivals(table: CsvTable, plan: Plan) -> Iterator[str]:
    """Name the columns that are not used beside another one of the same number, where the two differ."""
    for field, rival in plan.rivals:
        if field not in NUMBERS:
            continue
        one = plan.taken[field]
        key = f"{field}_{rival.unit or NUMBERS[field]}" if field in column_names.TIMES else field
        way_out = f'`map` {key}="{rival.heading}" takes it'
        try:
            one_says, rival_says = (
                measured(table, field, each.heading, each.factor(NUMBERS[field])) for each in (one, rival)
            )
        except ReportError:
            yield f"{table.path}: {rival.heading} is not used beside {one.heading}, nor compared with it; {way_out}."
            continue
        apart = (one_says[f"{field}_high"] < rival_says[f"{field}_low"]) | (
            rival_says[f"{field}_high"] < one_says[f"{field}_low"]
        )
        if (row := first_true(apart.fill_null(value=False))) is not None:
            cells = [table.series(each.heading)[row] for each in (rival, one)]
            said = f"it is {cells[0]} in line {table.line_numbers[row]}, where {one.heading} is {cells[1]}"
            yield f"{table.path}: {rival.heading} is not used: {said}; {way_out}."


def _rows(table: CsvTable, plan: Plan, notes: list[str]) -> tuple[pl.DataFrame, pl.Series]:
    """Every row as the schema has it, and which of them say too little; sums below the rows are left out."""
    taken = plan.taken
    sums = _sums(table, taken)
    if sums.any() and not sums.all():
        notes.append(f"{table.path}: {counted(int(sums.sum()), 'row')} of sums left out.")
        table = table.only(~sums)
    columns: dict[str, Any] = {}
    for field, name in WORDS.items():
        if field in taken:
            columns[name] = table.text_series(taken[field].heading).replace("", None)
    if "device" in taken:
        columns["device"] = device_series(table, taken["device"].heading)
    columns |= _roles(table, plan)
    columns |= _times(table, plan, notes)
    for field in ("aliases", "links", "paths", "queue_samples"):
        if field in taken:
            most = MOST_ALIASES if field == "aliases" else csv_table.COUNTER_SIZE - 1
            counts, _ = table.printed(taken[field].heading, Allowed(whole=True, most=most))
            columns["pool_aliases" if field == "aliases" else field] = counts
    if "base_and_aliases" in taken and "aliases" not in taken:
        columns |= _of_static_pav(table, taken["base_and_aliases"].heading, columns.get("pool"), notes)
    for field, unit in NUMBERS.items():
        if field in taken:
            columns |= measured(table, field, taken[field].heading, taken[field].factor(unit))
    _check_wait(table, plan, columns)
    derive(columns)
    columns |= {"file": str(table.path), "line": pl.Series(table.line_numbers)}
    frame = schema.frame(schema.DEVICES, columns, len(table))
    lost = _too_little(frame)
    _check_twice(table, frame.filter(~lost), taken["device" if "device" in taken else "volume"].heading)
    return frame, lost


def _sums(table: CsvTable, taken: Mapping[str, TakenColumn]) -> Flags:
    """Which rows are sums by their name or day, or by any word where they have no name."""
    found = {
        field: table.series(taken[field].heading)
        for field in ("device", "volume", "date", "start")
        if field in taken
    }
    totals = {word for column in found.values() for word in column.unique() if re.search(SUMS, word)}
    sums: Flags = np.any([column.is_in(totals) for column in found.values()], axis=0)
    bare = np.all([found[field] == "" for field in ("device", "volume") if field in found], axis=0)
    for row in np.flatnonzero(bare).tolist():
        sums[row] |= any(re.search(SUMS, str(cell)) for cell in table.cells.row(row))
    return sums


def _of_static_pav(
    table: CsvTable, heading: str, pool: pl.Series | None, notes: list[str]
) -> dict[str, pl.Series]:
    """Aliases of the volumes with static PAV, which are in no pool, from how RMF counts them: with the base."""
    cells = table.text_series(heading)
    static = cells.str.contains(STATIC_PAV)
    if changed := sorted(cells.filter(static & cells.str.ends_with("*")).unique()):
        taken = "the number of aliases changed within an interval, this one is taken"
        notes.append(f"{table.path}: {heading} {listed(changed, SHOWN)}: {taken}.")
    aliases = cells.set(~static, None).str.strip_chars_end("*").cast(pl.UInt16) - 1
    return {"pool_aliases": aliases} | ({} if pool is None else {"pool": pool.set(static, None)})


def _check_wait(table: CsvTable, plan: Plan, columns: Mapping[str, pl.Series], hair: float = 1e-6) -> None:
    """Refuse a wait that is not queue / rate (Little's law); only needed where the response is there too."""
    if not {"iosq", "queued", "response"} <= columns.keys():
        return
    low, high = (columns[f"iosq{end}"] * columns[f"io_rate{end}"] for end in ("_low", "_high"))
    wrong = (low * (1 - hair) > columns["queued_high"]) | (high * (1 + hair) < columns["queued_low"])
    table.refuse(wrong, plan.taken["iosq"].heading, "what queue over rate makes: they contradict each other")


def derive(columns: dict[str, Any]) -> None:
    """What follows from other times: service, response and queue from pending, disconnect, connect and IOSQ time."""

    def add(name: str, of: Callable[[str, str], pl.Series]) -> None:
        """Add a column with its ends unless it is there; `of` is given an end and the far one."""
        if name not in columns:
            for end, far in zip(schema.ENDS, ("", "_high", "_low"), strict=True):
                columns[f"{name}{end}"] = of(end, far)

    if all(part in columns for part in schema.PARTS):
        add("service", lambda end, _: _sum([columns[f"{part}{end}"] for part in schema.PARTS]))
    elif "response" in columns and "iosq" in columns:
        add("service", lambda end, far: (columns[f"response{end}"] - columns[f"iosq{far}"]).clip(0.0))
    if "iosq" in columns:
        add("queued", lambda end, _: columns[f"iosq{end}"] * columns[f"io_rate{end}"])
    if "iosq" in columns and "service" in columns:
        add("response", lambda end, _: columns[f"service{end}"] + columns[f"iosq{end}"])
    for end in schema.ENDS:
        columns.pop(f"iosq{end}", None)


def _sum(columns: Sequence[pl.Series]) -> pl.Series:
    return sum(columns[1:], columns[0])


def _too_little(frame: pl.DataFrame) -> pl.Series:
    """Which rows lack a rate, a time that others have or, with I/O, a service time or queue as others of their pool."""
    busy = (pl.col("io_rate") > 0) & (pl.col("kind") != schema.OTHER)
    waits = busy & pl.col("kind").is_in([schema.BASE, schema.VOLUME])
    group = ["system", "pool"]
    served = pl.col("service").is_not_null().any()
    timed = pl.any_horizontal(pl.col("start", "source").is_not_null())
    queued = pl.any_horizontal(pl.col("queued").is_not_null(), pl.col("response").is_not_null())
    return frame.select(
        pl.col("io_rate").is_null() | pl.coalesce("device", "label").is_null()
        | (~timed & timed.any()) | (busy & served & pl.col("service").is_null())
        | (waits & ~queued & (queued & waits).any().over(group))
    ).to_series()  # fmt: skip


def _without_lost(
    table: CsvTable, frame: pl.DataFrame, lost: pl.Series, notes: list[str]
) -> tuple[tuple[schema.Missing, ...], pl.DataFrame]:
    """Leave rows out that say too little, and name them."""
    rows = frame.filter(lost)
    if not rows.height:
        return (), frame
    if rows.height == frame.height:
        line = int(frame["line"][0])
        wanted = "expected a rate and a service time or response"
        raise ReportError(table.path, f"no row has all the numbers that it needs: {wanted}", line=line)
    missing = schema.lost_rows(
        rows.select(
            "pool", "system", "start", "utc_offset", alias=pl.col("kind") == schema.ALIAS,
            name=pl.coalesce(pl.col("alias_of", "device", "label").replace("", None)), own=pl.col("alias_of").is_null(),
        )
    )  # fmt: skip
    names = rows.select(pl.coalesce(pl.col("device", "label").replace("", None)), "line").iter_rows()
    places = [f"{name or 'no name'} in line {line}" for name, line in names]
    left_out = f"{counted(len(places), 'row')} without a value that is needed left out"
    notes.append(f"{table.path}: {left_out}: {listed(places, SHOWN)}.")
    return missing, frame.filter(~lost)


def _as_seconds(
    table: CsvTable, plan: Plan, frame: pl.DataFrame, same: float = 0.2, most: float = 0.9
) -> Plan | None:
    """The plan with times in seconds where milliseconds cannot be meant, and IOSQ and parts add up to the response.

    They add up where their sum is the `same` within that share in `most` of the rows.
    """
    time = pl.coalesce("service", "response")
    busy = frame.filter((pl.col("io_rate") > 0) & time.is_not_null() & (pl.col("kind") != schema.OTHER))
    mean = float(busy.select(time.median()).item() or 0.0)
    times = {field: each for field, each in plan.taken.items() if field in NUMBERS and NUMBERS[field] == "ms"}
    if not times or not mean:
        return None
    said = plan.plain or plan.taken.get("service", next(iter(times.values()))).unit
    inside = float(busy.select((pl.col("io_rate") * time).max()).item())  # I/Os at once at a volume
    if mean >= FASTEST and ((mean <= SLOWEST and inside <= ADDRESSES) or said):
        return None
    shown = {field: each.heading for field, each in times.items()}
    fast = mean < FASTEST
    whole = {*schema.PARTS, "response"} <= times.keys()
    if fast and whole and ("iosq" in times or "queued" in plan.taken):
        parts = _sum([busy[part] for part in schema.PARTS])
        wait = busy["queued"] / busy["io_rate"]
        alike = int(((parts + wait - busy["response"]).abs() <= same * busy["response"]).sum())
        if alike > most * busy.height and mean / MILLISECOND >= FASTEST:
            changed = {field: TakenColumn(each.heading, "s") for field, each in times.items()}
            return replace(plan, taken={**plan.taken, **changed}, plain=False)
    what = "service" if busy["service"].count() else "response"
    field, heading = next(iter(shown.items()))
    quoted = heading if heading.isalnum() else f'"{heading}"'
    how, unit = ("fast", "s") if fast else ("slow", "us")
    found = f"a median {what} time of {mean / MILLISECOND:.3g} ms ({', '.join(shown.values())})"
    at_once = f"{inside:.0f} I/Os would be at one volume at once"
    why = f"no disk is so {how}" if fast or mean > SLOWEST else at_once
    wanted = f"expected milliseconds, or the unit by `map` {field}_{unit}={quoted} and so on"
    raise ReportError(table.path, f"{found}: {why}; {wanted}", line=table.header_line)


def measured(table: CsvTable, name: str, heading: str, factor: float) -> dict[str, pl.Series]:
    """Read a column of numbers with its ends, in SI; a column ``..._resolution`` beside it says half a last digit.

    One ``..._low`` says the low end, where it is further away: so `planner read --csv` writes them. A service time may
    be a sum of three rounded parts, as listings print it.
    """
    values, halves = table.printed(heading)
    halves = len(schema.PARTS) * halves if name == "service" else halves
    stem, unit, _ = heading.partition("_ms")
    beside, below = (f"{stem}_{end}{unit}" for end in ("resolution", "low"))
    if table.has(beside):
        halves, _ = table.printed(beside)
    found = schema.within(name, values * factor, halves * factor)
    if table.has(below):
        found[f"{name}_low"] = table.printed(below)[0] * factor
    return found


def device_series(table: CsvTable, heading: str = "device") -> pl.Series:
    """Device numbers of a table whose rows are one device each, in hexadecimal; null where there is none."""
    wanted = f"expected device numbers in hexadecimal such as 522A, one a row; names: `map` volume={heading}"
    return table.mapped(heading, _device_number, wanted, pl.String)


def _device_number(cell: str) -> str | None:
    if not cell:
        return None
    low, high = device_range(cell)
    return f"{low:04X}" if low == high else refuse()


def _roles(table: CsvTable, plan: Plan) -> dict[str, Any]:
    """What each row is, as kind, alias_of, or type and label of a listing say, else a volume; the base of an alias."""
    taken = plan.taken
    if "kind" in taken:
        wanted = f"expected one of {', '.join(schema.KINDS)}"
        kinds = table.mapped("kind", lambda cell: cell if cell in schema.KINDS else refuse(), wanted, str)
        return {"kind": kinds}
    says, arrow = ("alias_of", "") if "alias_of" in taken else ("type", "->")
    if says not in taken:
        return {"kind": schema.VOLUME}
    bases = table.mapped(
        taken[says].heading,
        lambda cell: _device_number(cell.removeprefix(arrow)) if cell.startswith(arrow) else None,
        f"expected {arrow}522A of an alias of 522A, and so on", pl.String,
    )  # fmt: skip
    alias = bases.is_not_null()
    unknown = pl.Series(["?"]).new_from_index(0, len(table))
    type_, label = (
        table.series(taken[field].heading) if field in taken else unknown for field in ("type", "volume")
    )
    labelled = "volume" in taken and column_names.heading_words(taken["volume"].heading)[0] == LABEL
    unlabeled = labelled and (label == "").any()
    if not (alias.any() or unlabeled or (table.has("type") and table.has("label"))):
        return {"kind": schema.VOLUME}
    others = schema.kind_of(type_, label).cast(pl.String) if "type" in taken else pl.lit(schema.BASE)
    kind = pl.when(alias).then(pl.lit(schema.CLASSIC_ALIAS)).otherwise(others)
    return {"kind": pl.select(kind).to_series(), "alias_of": bases}


def _times(table: CsvTable, plan: Plan, notes: list[str]) -> Mapping[str, pl.Series]:
    """Start, offset from UTC and length of the interval of each row; the time of day as its name without a date."""
    found: dict[str, pl.Series] = {}
    taken = plan.taken
    if "interval" in taken:
        found["interval"] = _lengths(table, taken["interval"])
    if "start" not in taken and "date" not in taken:
        return found
    heading = taken["date" if "date" in taken else "start"].heading
    column = table.series(heading)
    if "date" in taken:
        days = column.str.replace(r"[T ]0{1,2}:00(:00(\.0+)?)?$", "")  # a day as a spreadsheet keeps it
        clocks = table.series(taken["time"].heading).str.replace(r"^0 days ", "")
        column = pl.select(pl.when(days == "").then(pl.lit("")).otherwise(days + " " + clocks)).to_series()
    cells = list(column.unique(maintain_order=True))
    try:
        of_day = "start" in taken and any(cells) and all(map(is_time_of_day, filter(None, cells)))
        moments = None if of_day else read_dates(cells)
    except ValueError as error:
        row = int((column == str(error)).arg_max() or 0)
        raise table.error(row, heading, f"{str(error)!r}: {WANTED_TIME}") from None
    if moments is None:
        found["source"] = column.replace("", None)
        unknown = "is no date with one meaning: the days of its intervals are unknown"
        notes.append(f"{table.path}: {next(filter(None, cells))!r} ({heading}) {unknown}.")
        return found
    starts, offsets = clock(moments)
    found["start"] = column.replace_strict(cells, starts, return_dtype=pl.Datetime("us"))
    found["utc_offset"] = column.replace_strict(cells, offsets, return_dtype=pl.Int32)
    if table.has(OFFSET):
        found["utc_offset"] = _offsets(table, found["utc_offset"])
    return found


def _lengths(table: CsvTable, taken: TakenColumn) -> pl.Series:
    """Lengths of intervals [s], as 00:15:00 or in the unit of their column."""
    allowed = Allowed(zero=False)

    def length(cell: str) -> float | None:
        clock = read_length(cell)
        if clock is not None:
            return clock or refuse()
        return allowed.read(cell) * taken.factor("s") if cell else None

    more = f"of seconds, or as 00:15:00; of minutes: `map` interval_min={taken.heading}"
    wanted = f"{allowed.expected(taken.heading)}, {more}"
    return table.mapped(taken.heading, length, wanted, pl.Float64)


def _offsets(table: CsvTable, shown: pl.Series) -> pl.Series:
    """Offsets that stand in a column of their own; refused where the start says another one."""
    wanted = "expected seconds between -86400 and 86400, as the offset of start says"

    def offset(cell: str, day: int = 86_400) -> int | None:
        value = int(cell) if cell else None
        return value if value is None or abs(value) < day else refuse()

    beside = table.mapped(OFFSET, offset, wanted, pl.Int32)
    if (row := first_true(beside != shown)) is not None:
        raise table.error(row, OFFSET, f"{beside[row]}: {wanted}, {shown[row]}")
    return beside.fill_null(shown)


def _check_twice(table: CsvTable, frame: pl.DataFrame, heading: str) -> None:
    """A volume stands once in an interval: the error of another one, at its cell."""
    try:
        schema.refuse_twice(frame.filter(pl.coalesce("device", "label").is_not_null()))
    except ReportError as error:
        row = int((table.line_numbers == error.line).argmax())
        timed = frame.select(pl.col("start", "source").is_not_null()).to_numpy().any()
        way_out = "" if timed else "; no column was taken as their time: `map` start=COLUMN says which it is"
        raise table.error(row, heading, f"{error.problem}{way_out}") from None


def cleaned(table: CsvTable, plan: Plan) -> tuple[CsvTable, Plan]:
    """Take units from a row of units and from cells, nothing from words such as n/a, and write numbers with points."""
    fields = [field for field in plan.taken if field in NUMBERS or field in ("interval", "aliases")]
    timed = [field for field in fields if field in column_names.TIMES or field in column_names.RATES]
    if _is_units(table, plan):
        units = {field: _unit(table.series(plan.taken[field].heading)[0]) for field in timed}
        plan = _with_units(table, plan, units)
        table = table.only(np.arange(len(table)) > 0)
    columns, commas = {}, table.separator == ";"  # of languages with decimal commas
    for field in fields:
        index = table.names.index(plan.taken[field].heading.upper())
        column = table.cells.to_series(index)
        if column.dtype != pl.String:
            continue
        if field in timed and (behind := _unit_behind(column)):
            plan = _with_units(table, plan, {field: _unit(behind)})
            column = column.str.strip_suffix(behind).str.strip_chars()
        if (grouped := column.str.contains(_GROUPED)).any():
            column = column.zip_with(~grouped, column.str.replace_all(_GROUP_MARK, ""))
        nothing = column.str.to_lowercase().str.strip_chars().is_in(NOTHING) | column.str.contains(r"^\*+$")
        columns[index] = column.set(nothing.fill_null(False), "")
        commas |= bool(columns[index].str.contains(",", literal=True).any())
    if commas:
        decimals = _decimals(table, columns)
        columns = {index: _plain_numbers(column, decimals) for index, column in columns.items()}
    names = table.cells.columns
    cells = table.cells.with_columns(column.alias(names[index]) for index, column in columns.items())
    return replace(table, cells=cells), plan


def _is_units(table: CsvTable, plan: Plan) -> bool:
    """Whether the first row says units."""
    if isinstance(table, FrameTable) or len(table) <= 1:
        return False
    cells = [table.series(each.heading)[0] for field, each in plan.taken.items() if field in NUMBERS]
    words = [_unit(cell) for cell in cells]
    return None not in words and any(words)


def _unit(cell: str) -> str | None:
    """Unit of a cell; empty for one that says there is none, None for anything else."""
    word = cell.strip(" ()[]").lower()
    if word in column_names.NO_UNIT:
        return ""
    return word if word in column_names.IOS else column_names.UNIT_WORDS.get(word)


def _unit_behind(cells: pl.Series) -> str:
    """What stands behind every number of a column, if it is a unit; empty where there is none."""
    behind = re.sub(rf"^(?:[0-9.,]|{_GROUP_MARK})+", "", cells[0] or "") if len(cells) else ""
    if not _unit(behind):
        return ""
    numbers = cells.filter(cells.str.contains("[0-9]"))
    return behind if numbers.str.ends_with(behind).all() else ""


def _with_units(table: CsvTable, plan: Plan, units: Mapping[str, str | None]) -> Plan:
    taken = dict(plan.taken)
    for field, word in units.items():
        each, unit = taken[field], column_names.unit_of(field, word or "")
        if unit:
            if not column_names.fits(field, unit):
                raise table.error(0, each.heading, f"{unit!r}: expected a unit of {field}")
            if each.unit and each.unit != unit:
                raise table.error(0, each.heading, f"{unit!r}: expected {each.unit}, as its heading says")
            taken[field] = TakenColumn(each.heading, unit)
    return replace(plan, taken=taken, plain=False)


def _decimals(table: CsvTable, columns: Mapping[int, pl.Series]) -> str:
    """What stands before the decimals of the numbers of a table: point or comma."""
    marks: dict[str, tuple[int, int]] = {}
    doubt: tuple[int, int] | None = None
    for index, column in columns.items():
        for row, cell in enumerate(column.to_list()):
            if "," not in cell and "." not in cell:
                continue
            mark = decimal_mark(cell)
            if mark is None and _NUMERAL.fullmatch(cell) and ("," in cell or table.separator == ";"):
                doubt = doubt or (row, index)
            elif mark is not None:
                marks.setdefault(mark, (row, index))
    if len(marks) > 1:
        row, index = marks[","]
        problem = "a decimal comma, and decimal points elsewhere: expected one of them"
    elif not marks and doubt is not None:
        row, index = doubt
        mark = "comma" if "," in columns[index][row] else "point"
        between = ", and commas between cells" if table.separator == ";" else ""
        problem = f"is its {mark} one of decimals or of thousands? expected decimal points{between}"
    else:
        return next(iter(marks), ".")
    raise table.error_at(int(table.line_numbers[row]), index, f"{shown(columns[index][row])}: {problem}")


def decimal_mark(cell: str) -> str | None:
    """What a number has before its decimals; None where the mark could also be one of thousands.

    >>> decimal_mark("1,3"), decimal_mark("1,234"), decimal_mark("0,543"), decimal_mark("1.234,5")
    (',', None, ',', ',')
    """
    if _BOTH.fullmatch(cell):
        return max(".,", key=cell.rfind)
    match = _ONE.fullmatch(cell)
    if match is None:
        return None
    whole = match[1]
    thousands = len(match[3]) == 3 and 0 < len(whole) <= 3 and not whole.startswith("0")  # noqa: PLR2004 - digits
    return None if thousands else match[2]


def _plain_numbers(column: pl.Series, decimal: str) -> pl.Series:
    """Cells as float() takes them; what is no such number stays as it is, to be refused."""
    thousands = "," if decimal == "." else "."
    point, between = re.escape(decimal), re.escape(thousands)
    sound = rf"^(?:[0-9]{{1,3}}(?:{between}[0-9]{{3}})+|[0-9eE+-]*)(?:{point}[0-9eE+-]*)?$"
    plain = column.str.replace_all(thousands, "", literal=True).str.replace(decimal, ".", literal=True)
    numeral = column.str.contains(rf"^{_NUMERAL.pattern}$")
    wrong = numeral & column.str.contains(".", literal=True) & (decimal == ",")
    return plain.zip_with(column.str.contains(sound), column.zip_with(~wrong, column + " ?"))
