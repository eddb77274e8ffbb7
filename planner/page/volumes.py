"""All volumes of a site: one row each, over the intervals in which they were measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from planner import render, units
from planner.answer import tabled
from planner.demand.target import WAIT_SHARE
from planner.lazy import pl
from planner.measurements.choose import weighted
from planner.page.content import Limits, grid, limits_of
from planner.quantity import column
from planner.render.table import plain
from planner.reports.schema import ALIAS, BASE, CLASSIC_ALIAS, VOLUME
from planner.units import MILLISECOND

WHOSE: Final = ("system", "pool", "device", "label")
LIMITS: Final[Limits] = {"busy": 0.7, "response": ("service", 1.0 + WAIT_SHARE)}
COLUMNS: Final = (
    column("device", label="device"), column("label", label="label"), column("system", label="system"),
    column("pool", label="pool"), column("io_rate", "1/s", "I/O rate", 1), column("busy", label="busy", decimals=3),
    column("service", "ms", "service", 2), column("response", "ms", "response", 2),
    column("queued", label="queued", decimals=2),
)  # fmt: skip
CAPTION: Final = (
    "One row per volume, the busiest first. I/O rate, service and response are means over its intervals; busy (I/O "
    "rate times service: I/Os in service) and queued are from its worst interval."
)
BASE_ALONE: Final = (
    " What HyperPAV aliases did is in no row: a listing does not say for which volume. I/O rate and busy are those of "
    "the base alone; its response is as printed, too long where aliases worked."
)


class Volumes:
    """All volumes, for a table that the page draws when it is opened: columns, rows, and CSV."""

    def __init__(self, table: render.Table, caption: str = CAPTION) -> None:
        first = table.each(lambda c: replace(c, values=c.values[:1]))  # one row is enough for the headings
        laid_out = grid(first, "volumes", caption, limits=LIMITS)
        self.caption, self.legend, self.csv = laid_out.caption, laid_out.legend, render.to_csv(table)
        kinds = [any(isinstance(v, (int, float)) for v in c.values) for c in table.columns]
        self.heads = [
            replace(head, number=number) for head, number in zip(laid_out.heads, kinds, strict=True)
        ]
        self.rows = plain([list(row) for row in zip(*(_rounded(c) for c in table.columns), strict=True)])
        names = [c.name for c in table.columns]
        limits = limits_of(names, LIMITS)
        # For each column: None, a number, or the index of another column and a factor.
        self.limits = [
            [names.index(limit[0]), limit[1]] if isinstance(limit, tuple) else limit
            for limit in map(limits.get, names)
        ]


def _rounded(column: render.Column) -> list[Any]:
    """Numbers rounded to the digits that people see."""
    return [units.rounded(v, column.decimals)[0] if isinstance(v, float) else v for v in column.values]


def volumes_of(devices: pl.DataFrame | pl.LazyFrame) -> Volumes | None:
    """Summarize every volume over its intervals; None without volumes."""
    ios = pl.col("io_rate").fill_null(0.0)
    kinds = devices.lazy().select("kind").unique().collect(engine="streaming")["kind"].to_list()
    rows = devices.lazy().filter(pl.col("kind").is_in([BASE, VOLUME, CLASSIC_ALIAS]))
    found = (
        (_with_classic_aliases(rows) if CLASSIC_ALIAS in kinds else rows)
        .group_by(WHOSE)
        .agg(
            pl.col("io_rate").mean().alias("io_rate"),
            weighted("service", ios) / MILLISECOND,
            weighted("response", ios) / MILLISECOND,
            (ios * pl.col("service")).max().alias("busy"),
            pl.col("queued").max().alias("queued"),
        )
        .sort("busy", "io_rate", *WHOSE, descending=[True, True, *[False] * len(WHOSE)], nulls_last=True)
        .collect(engine="streaming")
    )
    if not found.height:
        return None
    values = found.fill_nan(None).select(each.key for each in COLUMNS).rows()
    return Volumes(tabled(values, COLUMNS).filled(("device",)), CAPTION + BASE_ALONE * (ALIAS in kinds))


def _with_classic_aliases(devices: pl.LazyFrame) -> pl.LazyFrame:
    """Rows of volumes, each base with what its own aliases did in the interval, as `observed.run_of_shared` has it."""
    own, ios = pl.col("kind") != CLASSIC_ALIAS, pl.col("io_rate").fill_null(0.0)
    whole = pl.col("service") + pl.col("queued") / pl.col("io_rate")
    return (
        devices.with_columns(
            device=pl.coalesce("alias_of", "device"), _of=pl.coalesce("alias_of", "device", "label")
        )
        .group_by("source", "start", *WHOSE[:-1], "_of")
        .agg(
            pl.col("label").drop_nulls().first(),
            own.all().alias("alone"),
            pl.col("io_rate").sum(),
            weighted("service", ios),
            pl.col("response", "queued").filter(own).first(),
        )
        .with_columns(pl.when("alone").then("response").otherwise(whole).alias("response"))
    )
