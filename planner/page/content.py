"""Content of the page before layout: tiles, grids, items with pictures, sources, data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from planner import render
from planner.render.table import FIGURE_SPACE, plain
from planner.render.text import STATES
from planner.units import is_number, readable

if TYPE_CHECKING:
    from markupsafe import Markup

FIRST: Final = {"pool", "device", "volumes", "in_use"}  # columns that do not change with growth
Limits = Mapping[str, "float | tuple[str, float]"]
"""Limit above which a cell is shaded, by column: a number, or another column and a factor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A key figure: its `label`, `value`, a `detail` below it, and its `state` of `STATES`.

    `follows` names the number of the growth slider that replaces `value`; empty if none does.
    """

    label: str
    value: str
    detail: str = ""
    state: str = ""
    follows: str = ""


@dataclass(frozen=True, slots=True)
class PageCell:
    """A cell: its text, its sort key (None: the text), whether it is above its limit."""

    text: str
    order: float | None = None
    over: bool = False

    @property
    def look(self) -> str:
        """CSS class; a zero is muted."""
        zero = self.order is not None and set(self.text) <= {"0", ".", FIGURE_SPACE}
        return "hot" if self.over else "zero" if zero else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A column: `label`, `unit`, whether it is numeric, and its key for the growth slider."""

    label: str
    unit: str = ""
    number: bool = False
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """A row: its cells, a mark of `planner.render.text.MARKS`, its verdict, and the item with its details."""

    cells: tuple[PageCell, ...]
    mark: str = ""
    verdict: str = ""
    item: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table of the page; a `sortable` one can be sorted and filtered; `legend` says which cells are shaded."""

    ident: str
    caption: str
    heads: tuple[Head, ...]
    rows: tuple[PageRow, ...]
    title: str = ""
    sortable: bool = False
    legend: str = ""

    @property
    def verdicts(self) -> list[str]:
        """Verdicts that occur, in the order of `STATES`."""
        found = {row.verdict for row in self.rows}
        return [*(each for each in STATES if each in found), *sorted(found - {*STATES, ""})]


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePicture:
    """A picture with its caption; `key` lists the symbols in the picture."""

    svg: Markup
    caption: str
    key: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Details of a pool or volume: the answer, pictures, tables, notes, and the next measurement that would help."""

    ident: str
    name: str
    headline: str
    verdict: str = ""
    figures: tuple[PagePicture, ...] = ()
    grids: tuple[Grid, ...] = ()
    notes: tuple[str, ...] = ()
    decides: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """An input file: name, size [bytes], sha256; for an archive of `files` files, the digest of their digests."""

    name: str
    size: int
    digest: str
    files: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterGrowth:
    """Results for a demand that grew by `share`: values of tiles by what they follow, counts by item.

    `counts` has, for each item, the texts of the columns that change, by column key; `headline` is the new headline.
    """

    share: float
    tiles: Mapping[str, str]
    counts: Mapping[str, Mapping[str, str]]
    headline: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """An answer on the page, without its sources."""

    title: str
    headline: str
    further: tuple[str, ...] = ()  # sentences that do not change with growth
    tiles: tuple[Tile, ...] = ()
    grids: tuple[Grid, ...] = ()
    items: tuple[Item, ...] = ()
    pictures: tuple[tuple[str, str], ...] = ()  # data: address and caption
    notes: tuple[str, ...] = ()
    growth: tuple[AfterGrowth, ...] = ()
    growth_of: str = ""
    data: Any = None
    csv: Mapping[str, str] = field(default_factory=dict)


def grid(
    table: render.Table, ident: str, caption: str = "", *, title: str = "", limits: Limits | None = None,
    verdict: str = "", items: Mapping[str, str] | None = None, named_by: str = "", sortable: bool = False,
) -> Grid:  # fmt: skip
    """Lay out a table; `verdict` is its column of verdicts, `items` the details by the names in column `named_by`."""
    columns = table.columns
    texts = table.texts(FIGURE_SPACE)
    orders = [[_order(value) for value in column.values] for column in columns]
    numbers = [
        any(each is not None for each in order) or bool(k and not sortable and not column.words)
        for k, (order, column) in enumerate(zip(orders, columns, strict=True))
    ]
    names = [column.name for column in columns]
    limits = limits_of(names, limits or {})
    ends = [_ends(limits.get(name), names, orders) for name in names]
    cells = [
        [PageCell(text, order, (order or 0.0) > end) for text, order, end in zip(*column, strict=True)]
        for column in zip(texts, orders, ends, strict=True)
    ]
    nothing = [""] * len(table)
    rows = [
        PageRow(cells=row, mark=mark, verdict=said, item=(items or {}).get(name, ""))
        for row, mark, said, name in zip(
            zip(*cells, strict=True), table.marks or nothing,
            texts[names.index(verdict)] if verdict else nothing,
            texts[names.index(named_by)] if named_by else nothing, strict=True,
        )
    ]  # fmt: skip
    heads = tuple(
        Head(label=c.label.strip() or c.name, unit=c.shown_unit, number=number, key=c.name)
        for c, number in zip(columns, numbers, strict=True)
    )
    return Grid(
        ident=ident, caption=caption, heads=heads, rows=tuple(rows), title=title, sortable=sortable,
        legend=legend(heads, limits),
    )  # fmt: skip


def limits_of(names: Sequence[str], limits: Limits) -> Limits:
    """The limits that apply to a table with these columns."""
    return {
        name: limit
        for name, limit in limits.items()
        if name in names and (not isinstance(limit, tuple) or limit[0] in names)
    }


def _ends(limit: float | tuple[str, float] | None, names: Sequence[str], orders: Any) -> list[float]:
    """The limit of a column in each row."""
    if isinstance(limit, tuple):
        return [math.inf if each is None else limit[1] * each for each in orders[names.index(limit[0])]]
    return [math.inf if limit is None else limit] * len(orders[0])


def legend(heads: Sequence[Head], limits: Limits) -> str:
    """Which cells are shaded, in words."""
    labels = {head.key: head.label for head in heads}
    units = {head.key: {"percent": " %", "": ""}.get(head.unit, f" {head.unit}") for head in heads}
    return ", ".join(
        f"{labels[key]} above {readable(limit[1])} times {labels[limit[0]]}" if isinstance(limit, tuple)
        else f"{labels[key]} above {readable(limit)}{units[key]}"
        for key, limit in limits.items()
    )  # fmt: skip


def _order(value: Any) -> float | None:
    """Sort key of a value; None if it is not a number."""
    value = plain(value, finite=False)
    return None if not is_number(value) or math.isnan(value) else float(value)


def sections(found: Sequence[render.Section], ident: str, limits: Limits | None = None) -> tuple[Grid, ...]:
    """The tables of an answer as in the other outputs."""
    return tuple(
        grid(each.table, f"{ident}-{k}", each.caption, title=each.title, limits=limits)
        for k, each in enumerate(found)
        if len(each.table)
    )
