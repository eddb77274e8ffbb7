"""The base class of every answer: a headline, tables, notes and a picture, presented the same way everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from planner import render
from planner.lazy import pl
from planner.quantity import Quantity, column
from planner.render.table import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Answer", "Tabular"]


def tabled(rows: Iterable[Any], columns: Iterable[Quantity], marks: Iterable[str] = ()) -> render.Table:
    """Lay out rows (objects, mappings, or tuples with one value per column) in the declared columns."""
    found = list(rows)
    return render.Table(
        columns=tuple(
            render.Column(name=each.key, unit=each.unit, label=each.label, decimals=each.decimals, digits=each.digits,
                          values=[row[k] if each.of is None and type(row) is tuple else each.in_row(row)
                                  for row in found])
            for k, each in enumerate(columns)
        ),
        marks=tuple(marks),
    )  # fmt: skip


def record(row: Any, columns: Iterable[Quantity]) -> dict[str, Any]:
    """Declared values of a row, by key with its unit as a suffix; None where a number is not finite, as in JSON."""
    found: dict[str, Any] = plain({each.file_key: each.in_row(row) for each in columns})
    return found


def nested(key: str, rows: str, columns: Iterable[Quantity]) -> Quantity:
    """Declare a figure that lists the `columns` of each row of the attribute `rows`."""
    declared = tuple(columns)
    return column(key, of=lambda found: [record(row, declared) for row in getattr(found, rows)])


class Tabular:
    """Base of objects that have a table: a data frame for pandas, HTML in Jupyter."""

    __slots__ = ()
    COLUMNS: ClassVar[tuple[Quantity, ...]] = ()
    ROWS: ClassVar[str] = ""  # attribute that holds the rows

    def marks(self) -> Iterable[str]:
        """State of each row, or none."""
        return ()

    def table(self) -> render.Table:
        """Lay out the table: `COLUMNS` of `ROWS`, unless a class overrides it."""
        if not self.ROWS:
            raise NotImplementedError
        return tabled(getattr(self, self.ROWS), self.COLUMNS, self.marks())

    def to_frame(self) -> pd.DataFrame:
        """Return the table as a pandas data frame with units in the column names."""
        return render.to_frame(self.table())

    def to_polars(self) -> pl.DataFrame:
        """Return the table as a polars data frame, which needs no extra."""
        return render.to_polars(self.table())

    def _repr_html_(self) -> str:
        return render.to_html(self.table())


class Answer(Tabular):
    """The answer to a question: a one-sentence headline, then the table, then notes.

    A subclass is a frozen dataclass with `headline` and `notes` (fields or properties) that declares the `COLUMNS` of
    its `ROWS` (for ``--csv`` and `to_frame`), its `FIGURES` (for ``--json``), the `PARTS` in which people see the
    columns and, where a picture helps, the `PICTURE` function. `planner.render` formats its text, everywhere alike.

    `headline`: number, range, benefit and cost in one sentence; `notes`: whole sentences, assumptions first, the next
    step last; `exit_code` of the command: 0 answered, 1 no feasible answer or a pool of a site is short, 2 not solved.
    """

    __slots__ = ()
    FIGURES: ClassVar[tuple[Quantity, ...]] = ()
    PARTS: ClassVar[tuple[tuple[str, str], ...]] = ()  # title and column names of each part
    PICTURE: ClassVar[str] = ""  # module and function that draw the picture, as "planner.supply.picture:draw"

    if TYPE_CHECKING:
        # Some answers have these as fields: at run time a dataclass would take the properties as defaults.
        @property
        def headline(self) -> str:
            """The answer in one sentence."""

        @property
        def notes(self) -> tuple[str, ...]:
            """Whole sentences."""

    @property
    def exit_code(self) -> int:
        """0, unless an answer says otherwise."""
        return 0

    def sections(self) -> tuple[render.Section, ...]:
        """Lay out the tables that people see, in order: `PARTS`, or all of `table`."""
        table = self.table()
        if not self.PARTS:
            return (render.Section(table=table),)
        return tuple(
            render.Section(title=title, table=table.pick(names.split())) for title, names in self.PARTS
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, with unit suffixes, as ``--json`` prints it: headline, figures and notes."""
        return {"headline": self.headline, **self.plain_figures(), "notes": list(self.notes)}

    def plain_figures(self) -> dict[str, Any]:
        """`FIGURES` as plain data, unless a class has more."""
        return record(self, self.FIGURES)

    @property
    def pictured(self) -> bool:
        """Whether `plot` draws a picture."""
        return bool(self.PICTURE) or type(self).plot is not Answer.plot

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the answer, with its headline as the title."""
        if not self.PICTURE:
            raise NotImplementedError
        module, _, name = self.PICTURE.partition(":")
        found: Axes = getattr(import_module(module), name)(self, axes)  # matplotlib is imported there
        return found

    def text(self, width: int = render.WIDTH, *, color: bool = False) -> str:
        """Format the answer for a terminal."""
        return render.answer_text(self.headline, self.sections(), self.notes, width, color=color)

    def to_markdown(self) -> str:
        """Format the answer as Markdown."""
        return render.answer_markdown(self.headline, self.sections(), self.notes)

    def __str__(self) -> str:
        """Format the answer for `print`."""
        return self.text()

    def _repr_html_(self) -> str:
        return render.answer_html(self.headline, self.sections(), self.notes)
