"""What the page holds, before it is laid out: tiles, grids, items with pictures, sources, data."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from planner import render
from planner.page.drawing import shade
from planner.render.table import plain

if TYPE_CHECKING:
    from markupsafe import Markup

SHORT, ENOUGH, MANY, UNKNOWN = "short", "enough", "too many", "unknown"
STATES: Final = {SHORT: "bad", ENOUGH: "good", MANY: "spare", UNKNOWN: "open"}  # verdict: class of the style


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A number that one looks at first: its `label`, `value`, a `detail` below it, and its `state` of `STATES`.

    `follows` names what of the growth slider takes the place of `value`; empty where nothing does.
    """

    label: str
    value: str
    detail: str = ""
    state: str = ""
    follows: str = ""


@dataclass(frozen=True, slots=True)
class PageCell:
    """A cell: what is read, by what it is sorted (None: by the text), its level of heat (0: none)."""

    text: str
    order: float | None = None
    heat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A column: `label`, `unit`, whether numbers stand in it, and the key by which the growth slider finds it."""

    label: str
    unit: str = ""
    number: bool = False
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """A row: its cells, a mark of `planner.render.text.MARKS`, its verdict, and the item that shows it in full."""

    cells: tuple[PageCell, ...]
    mark: str = ""
    verdict: str = ""
    item: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table of the page; `sortable` ones can be sorted and filtered."""

    ident: str
    caption: str
    heads: tuple[Head, ...]
    rows: tuple[PageRow, ...]
    title: str = ""
    sortable: bool = False

    @property
    def verdicts(self) -> list[str]:
        """Those that occur, in the order of `STATES`."""
        found = {row.verdict for row in self.rows}
        return [*(each for each in STATES if each in found), *sorted(found - {*STATES, ""})]


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePicture:
    """A picture with what stands below it; `key` names the signs that the picture has."""

    svg: Markup
    caption: str
    key: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A pool or volume in full: what is answered, pictures, tables, notes, and the next measurement that decides."""

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
    """A file that was read: its name, size [bytes] and sha256; of an archive of `files` files the digest of theirs."""

    name: str
    size: int
    digest: str
    files: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterGrowth:
    """What holds when the demand grew by `share`: values of tiles by what they follow, counts by item.

    `counts` has the texts of the columns that follow, by key of the column, for each item.
    """

    share: float
    tiles: Mapping[str, str]
    counts: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """An answer on the page: everything but where it came from."""

    title: str
    headline: str
    tiles: tuple[Tile, ...] = ()
    grids: tuple[Grid, ...] = ()
    items: tuple[Item, ...] = ()
    pictures: tuple[tuple[str, str], ...] = ()  # data: address and what it shows
    notes: tuple[str, ...] = ()
    growth: tuple[AfterGrowth, ...] = ()
    growth_of: str = ""
    data: Any = None
    csv: Mapping[str, str] = field(default_factory=dict)


def grid(
    table: render.Table, ident: str, caption: str = "", *, title: str = "", heat: Collection[str] = (),
    verdict: str = "", items: Mapping[str, str] | None = None, named_by: str = "", sortable: bool = False,
) -> Grid:  # fmt: skip
    """Lay a table out: numbers are sorted as numbers, columns named in `heat` are shaded by their largest.

    `verdict` is the column that holds one; `items` the full answers by what stands in the column `named_by`.
    """
    columns = table.columns
    texts = [column.texts() for column in columns]
    orders = [[_order(value) for value in column.values] for column in columns]
    largest = [max((v for v in order if v is not None and math.isfinite(v)), default=0.0) for order in orders]
    numbers = [any(each is not None for each in order) for order in orders]
    names = [column.name for column in columns]
    rows = []
    for k in range(len(table)):
        cells = tuple(
            PageCell(
                texts[c][k],
                orders[c][k],
                shade(orders[c][k], largest[c]) if names[c] in heat and orders[c][k] is not None else 0,  # type: ignore[arg-type]
            )
            for c in range(len(columns))
        )
        rows.append(
            PageRow(
                cells=cells,
                mark=table.marks[k] if table.marks else "",
                verdict=texts[names.index(verdict)][k] if verdict else "",
                item=(items or {}).get(texts[names.index(named_by)][k], "") if named_by else "",
            )
        )
    heads = tuple(
        Head(
            label=c.label.strip() or c.name,
            unit=c.unit if c.unit != "share" else "",
            number=number,
            key=c.name,
        )
        for c, number in zip(columns, numbers, strict=True)
    )
    return Grid(ident=ident, caption=caption, heads=heads, rows=tuple(rows), title=title, sortable=sortable)


def _order(value: Any) -> float | None:
    """A number to sort by; None where there is none."""
    value = plain(value, finite=False)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
        return None
    return float(value)


def sections(found: Sequence[render.Section], ident: str) -> tuple[Grid, ...]:
    """The tables of an answer as people see them elsewhere."""
    return tuple(
        grid(each.table, f"{ident}-{k}", each.caption, title=each.title)
        for k, each in enumerate(found)
        if len(each.table)
    )
