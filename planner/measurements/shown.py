"""What was read, and what an archive holds, as answers: a headline, tables, notes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final

import polars as pl

from planner import render, style
from planner.answer import Answer, tabled
from planner.errors import InputError
from planner.measurements.archive import Archive, collected
from planner.measurements.choose import means
from planner.measurements.read import Measured
from planner.quantity import Quantity, column
from planner.render.text import counted, listed, sentence_case
from planner.reports import schema
from planner.reports.moments import MOMENT, with_moments
from planner.units import MILLISECOND, readable

MOST_ROWS: Final = 60  # that people see; programs get all
ROWS: Final = {"devices": "rows", "supply": "supply", "storage": "data_spaces"}  # what --json calls them
READ_BY: Final = {
    "supply": "Its --csv is for other programs; `planner aliases supply` and `collect` read the counters themselves.",
    "storage": "Its --csv is for other programs; `planner storage usage` and `collect` read the listing itself.",
}  # what answers a table that is no format
HEADINGS: Final = {"source": "run"}  # where a column has another name in a table than in the schema
SHOWN: Final = {
    "devices": "system source start device label kind pool io_rate alias_rate pend disconnect connect service response "
    "queued",
    "supply": "system source start pool tries fails fewest_free aliases",
    "storage": "system source start owner name total resident resident_below_2gb dasd",
}
LABELS: Final = {
    "io_rate": "I/O rate", "alias_rate": "aliases", "disconnect": "disc", "connect": "conn", "response": "resp",
    "resident_below_2gb": "below 2 GB", "dasd": "on DASD",
}  # fmt: skip
OF_ALL: Final = ("system", "source", "start", "kind")  # not shown where they are the same of all rows
MEASURED: Final = 6  # digits of what was measured
SIDE_BY_SIDE: Final = 10  # names of devices that fit beside each other
FEWEST: Final = 6  # devices that a picture has room for
MOST_BARS: Final = 60
CAVEAT: Final = (
    "With HyperPAV aliases at work the printed response, and so the wait, is not that of the volume."
)


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredAnswer(Answer):
    """What was read of one or several sources."""

    PICTURE: ClassVar[str] = "planner.measurements.shown:draw"

    measured: Measured

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Tables that have rows."""
        frames = {name: getattr(self.measured, name) for name in schema.TABLES}
        return {name: frame for name, frame in frames.items() if frame.height}

    @property
    def headline(self) -> str:
        """What it was, of which systems and times."""
        words = {"devices": "devices", "supply": "pools", "storage": "data spaces"}
        parts = [
            f"{counted(frame.height, 'row')} of {words[name]}{_of_systems(frame)}{_when(frame)}"
            for name, frame in self.tables.items()
        ]
        what = " and ".join(dict.fromkeys(self.measured.what)) or "nothing"
        return f"{sentence_case(what)}: {'; '.join(parts) or 'no rows'}."

    @property
    def notes(self) -> tuple[str, ...]:
        """Damaged rows, and how the sources were understood: what each column of a table was taken for."""
        asked = [READ_BY[self.kind]] if self.kind in READ_BY else []
        return (*self.measured.notes, *self.measured.columns, *asked)

    @property
    def kind(self) -> str:
        """Name of the first table that has rows."""
        return next(iter(self.tables), "devices")

    @property
    def pictured(self) -> bool:
        """Whether there are devices: others are drawn by the answers about them."""
        return bool(self.measured.devices.height)

    def table(self) -> render.Table:
        """Every column that says something, of the first table that has rows."""
        return frame_table(getattr(self.measured, self.kind), self.kind)

    def sections(self) -> tuple[render.Section, ...]:
        """What people look at first, of every table."""
        found = []
        for name, frame in self.tables.items():
            only = [each for each in SHOWN[name].split() if each not in OF_ALL or frame[each].n_unique() > 1]
            table = frame_table(frame.head(MOST_ROWS), name, resolution=False, only=only)
            left = frame.height - MOST_ROWS
            more = f"{left} more rows: --csv or --json" if left > 0 else ""
            found.append(render.Section(table=table, caption=more))
        return tuple(found)

    def plain_figures(self) -> dict[str, Any]:
        """Rows of every table that has some."""
        return {ROWS[name]: frame_table(frame, name).records() for name, frame in self.tables.items()}


def frame_table(
    frame: pl.DataFrame, kind: str, *, resolution: bool = True, only: Sequence[str] | None = None
) -> render.Table:
    """Lay out rows of the schema with the units of CSV: milliseconds, and half a last digit beside each number."""
    numbers = schema.numbers_of(schema.TABLES[kind])
    columns: dict[Quantity, list[Any]] = {}
    for each in schema.TABLES[kind]:
        name = each.key
        if name.endswith(("_low", "_high")) or (only is not None and name not in only):
            continue
        values = frame[name].to_list()
        if all(value is None for value in values):
            continue
        factor = MILLISECOND if each.unit == "s" and name in numbers else 1.0
        shown = "ms" if factor != 1.0 else each.unit
        heading, label = HEADINGS.get(name, name), LABELS.get(name, "")
        halves: list[Any] = []
        if name in numbers:
            halves = [_shown(value, factor) for value in (frame[f"{name}_high"] - frame[name]).to_list()]
        digits = _printed_digits(halves)
        columns[column(heading, shown, label, **digits)] = [_shown(value, factor) for value in values]
        if halves and resolution:
            columns[column(f"{heading}_resolution", shown, digits=MEASURED)] = halves
            if not _balanced(frame, name):
                lows = [_shown(value, factor) for value in frame[f"{name}_low"].to_list()]
                columns[column(f"{heading}_low", shown, digits=MEASURED)] = lows
    return tabled(zip(*columns.values(), strict=True), columns)


def _balanced(frame: pl.DataFrame, name: str) -> bool:
    """Whether a number is as far above its low end as below its high one, but for what would lie below zero."""
    value, low, high = (pl.col(f"{name}{end}") for end in schema.ENDS)
    further = (2.0 * value - high).clip(0.0) - low > 1e-9 * high  # than rounding
    return not frame.select(further.any()).item()


def _printed_digits(halves: Sequence[float | None]) -> dict[str, Any]:
    """Digits that people see: as many decimals as were printed, where what they leave open is half of a last digit."""
    finest = min((half for half in halves if half and math.isfinite(half)), default=None)
    decimals = None if finest is None else math.log10(0.5 / finest)
    if decimals is None or abs(decimals - round(decimals)) > 1e-6:  # noqa: PLR2004 - of rounding
        return {"digits": MEASURED}
    return {"decimals": max(round(decimals), 0), "digits": None}


def _shown(value: Any, factor: float) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return round(value / factor, 9) if isinstance(value, float) else value


def _of_systems(frame: pl.DataFrame) -> str:
    names = frame.select(pl.coalesce("system", "source")).to_series().unique().drop_nulls().sort().to_list()
    return f" of {listed(names, 3)}" if names else ""


def _when(frame: pl.DataFrame) -> str:
    first, last = frame["start"].min(), frame["start"].max()
    if first is None:
        return ""
    intervals = frame["start"].n_unique()
    return f", {first!s}" if intervals == 1 else f", {intervals:,} intervals from {first!s} to {last!s}"


@dataclass(frozen=True, slots=True, eq=False)
class ArchiveAnswer(Answer):
    """What is in an archive: systems, days, gaps, devices, pools."""

    COLUMNS = (
        *map(column, ("system", "first", "last", "days", "intervals")), column("interval", "s"),
        *map(column, ("gaps", "devices", "volumes", "aliases", "pools", "rows")),
    )  # fmt: skip
    ROWS = "rows"

    archive: Archive
    rows: tuple[dict[str, Any], ...]  # one a system

    @property
    def headline(self) -> str:
        """How much there is."""
        if not self.rows:
            return f"{self.archive.path}: an empty archive."
        folders = [part.folder for part in self.archive.parts]
        days = len({day for table, _, day in folders if table in schema.TABLES})
        total = sum(row["rows"] for row in self.rows)
        first, last = min(row["first"] for row in self.rows), max(row["last"] for row in self.rows)
        return (
            f"{self.archive.path}: {counted(len(self.rows), 'system')}, {counted(days, 'day')}, "
            f"{counted(total, 'row')} of devices, from {first} to {last}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """The longest gap of each system."""
        return tuple(
            f"{row['system']}: nothing from {row['gap_start']} for {readable(row['longest_gap_h'])} h, the longest of "
            f"{counted(row['gaps'], 'gap')}."
            for row in self.rows
            if row["gaps"]
        )

    def plain_figures(self) -> dict[str, Any]:
        """The same, and the gaps."""
        return {"archive": str(self.archive.path), "systems": [dict(row) for row in self.rows]}


def overview(archive: Archive) -> ArchiveAnswer:
    """Look over an archive."""
    return ArchiveAnswer(archive, tuple(_system(archive, system) for system in archive.systems))


def _system(archive: Archive, system: str, slack: float = 1.5) -> dict[str, Any]:
    """What there is of one system; an interval that begins late by `slack` [s] is after a gap."""
    lazy = archive.scan("devices", systems=[system])
    supply = archive.scan("supply", systems=[system])
    volume = pl.col("kind").is_in([schema.BASE, schema.VOLUME])
    alias = pl.col("kind").is_in([schema.ALIAS, schema.CLASSIC_ALIAS])
    name = pl.coalesce("device", "label")
    found = lazy.select(
        devices=name.n_unique(), volumes=name.filter(volume).n_unique(), aliases=name.filter(alias).n_unique(),
        rows=pl.len(),
    )  # fmt: skip
    files = archive.every_file
    counts = collected(found, files).row(0, named=True)
    pools = collected(pl.concat([lazy.select("pool"), supply.select("pool")]).drop_nulls().unique(), files)
    times_of = [archive.scan(table, systems=[system]) for table in schema.TABLES]
    spans = [collected(each.select("start", "utc_offset", "interval").unique(), files) for each in times_of]
    every = with_moments(pl.concat(spans)).group_by(MOMENT)
    times = every.agg(pl.col("start").first(), pl.col("interval").max()).sort(MOMENT)
    end = times[MOMENT] + (times["interval"] * 1e6).cast(pl.Int64).cast(pl.Duration("us"))
    reach = end.cum_max().shift()
    gap = (times[MOMENT] - reach).dt.total_microseconds() / 1e6
    ahead = times["start"] - times[MOMENT]  # of UTC, the clock of the system
    is_gap = (gap > slack).fill_null(False)
    longest = int(gap.fill_null(-1.0).arg_max() or 0)
    return {
        "system": system, "first": _iso(times["start"].min()), "last": _iso((end + ahead).max()),
        "days": times["start"].dt.date().n_unique(), "intervals": times.height,
        "interval_s": times["interval"].median(),
        "gaps": int(is_gap.sum()), "longest_gap_h": gap[longest] / 3600 if is_gap.any() else 0.0,
        "gap_start": _iso((reach + ahead)[longest]) if is_gap.any() else None, **counts, "pools": pools.height,
    }  # fmt: skip


def _iso(moment: Any) -> str:
    return moment.isoformat(sep=" ", timespec="seconds") if isinstance(moment, datetime) else ""


def draw(found: MeasuredAnswer, axes: style.Axes | None) -> style.Axes:
    """Of what the response time of each device consists, from below, its mean; of many devices the longest."""
    table, headline = found.measured.devices, found.headline
    if not found.pictured:
        raise InputError(
            "plot", headline, "rows of devices; `planner aliases supply` and `storage usage` draw others"
        )
    wait = (pl.col("response") - pl.col("service")).clip(lower_bound=0.0)
    wait = pl.coalesce(wait, pl.col("queued") / pl.col("io_rate")).fill_nan(None)
    name = pl.coalesce("device", "label")
    if table["system"].n_unique() > 1:
        name = pl.concat_str("system", name, separator="/", ignore_nulls=True)
    known = means(table).with_columns(name.alias("name"), wait=wait)
    apart = known.select(pl.any_horizontal(pl.col(part).is_not_null().any() for part in schema.PARTS)).item()
    shown = (*schema.PARTS, "wait") if apart else ("service", "wait")
    known = known.select("name", *(pl.col(part).fill_null(0.0) / MILLISECOND for part in shown))
    if known.height > MOST_BARS:
        headline = f"{headline} The {MOST_BARS} longest of {known.height} devices."
        order = pl.arg_sort_by(pl.sum_horizontal(shown), descending=True, maintain_order=True)
        known = known[known.select(order.head(MOST_BARS).sort()).to_series()]
    aliases = (table["kind"].cast(pl.String) == schema.ALIAS).any()
    names = known["name"].to_list()
    (axes,) = style.begin(axes, f"{headline} {CAVEAT}" if aliases else headline)
    style.stacked(axes, names, {part: known[part].to_list() for part in shown})
    aside = 0.8 + max(FEWEST - len(names), 0) / 2
    axes.set_xlim(-aside, len(names) - 1 + aside)
    axes.tick_params(axis="x", rotation=90 if len(names) > SIDE_BY_SIDE else 0)
    axes.set(xlabel="device", ylabel="time of an I/O [ms]")
    style.legend_below(axes)
    return axes
