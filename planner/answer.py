"""The one base of every answer: a headline, tables, notes and a picture, said in the same way everywhere."""

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
    """Lay out rows (objects, mappings, or tuples of as many values as there are columns) in the columns declared."""
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
    """What is declared of a row, by key with its unit as a suffix; None where a number is not finite, as in JSON."""
    found: dict[str, Any] = plain({each.file_key: each.in_row(row) for each in columns})
    return found


def nested(key: str, rows: str, columns: Iterable[Quantity]) -> Quantity:
    """Declare a figure that holds what is declared of each row of an attribute."""
    declared = tuple(columns)
    return column(key, of=lambda found: [record(row, declared) for row in getattr(found, rows)])


class Tabular:
    """Whatever shows itself as a table: a data frame for pandas, HTML in Jupyter."""

    __slots__ = ()
    COLUMNS: ClassVar[tuple[Quantity, ...]] = ()
    ROWS: ClassVar[str] = ""  # attribute that holds what the columns are taken from

    def marks(self) -> Iterable[str]:
        """State of each row, or none."""
        return ()

    def table(self) -> render.Table:
        """Lay out what is shown: `COLUMNS` of `ROWS`, unless a class says otherwise."""
        if not self.ROWS:
            raise NotImplementedError
        return tabled(getattr(self, self.ROWS), self.COLUMNS, self.marks())

    def to_frame(self) -> pd.DataFrame:
        """Return the table as a pandas data frame with units in the column names."""
        return render.to_frame(self.table())

    def to_polars(self) -> pl.DataFrame:
        """Return the same as a polars data frame, which needs no extra."""
        return render.to_polars(self.table())

    def _repr_html_(self) -> str:
        return render.to_html(self.table())


class Answer(Tabular):
    """What a question gets: first the answer in a sentence, then its table, then what to know and to do.

    A subclass is a frozen dataclass. It says `headline` and `notes` (fields or properties) and declares the `COLUMNS`
    of its `ROWS` (what ``--csv`` and `to_frame` hold), its `FIGURES` (what ``--json`` holds), in which `PARTS` people
    see the columns and, where a picture helps, `PICTURE`, what draws it. It joins no text: people read what
    `planner.render` makes of these, in a terminal, a notebook and a document alike.

    `headline`: the answer in one sentence: the number, its range, what it brings and what it costs; `notes`: whole
    sentences: assumptions first, the next step last; `exit_code`: what the command returns: 0 answered, 1 no feasible
    answer or a pool of a site is short, 2 not solved.
    """

    __slots__ = ()
    FIGURES: ClassVar[tuple[Quantity, ...]] = ()
    PARTS: ClassVar[tuple[tuple[str, str], ...]] = ()  # title of each, names of its columns
    PICTURE: ClassVar[str] = ""  # module and function that draw it, as "planner.supply.picture:draw"

    if TYPE_CHECKING:
        # Fields of some answers, properties of others: at run time a dataclass would take these as defaults.
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
        """Lay out the tables that people see, in their order: `PARTS`, or all of `table`."""
        table = self.table()
        if not self.PARTS:
            return (render.Section(table=table),)
        return tuple(
            render.Section(title=title, table=table.pick(names.split())) for title, names in self.PARTS
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, with unit suffixes, as ``--json`` prints it: `FIGURES` and the notes."""
        return {**record(self, self.FIGURES), "notes": list(self.notes)}

    @property
    def pictured(self) -> bool:
        """Whether there is a picture that `plot` draws."""
        return bool(self.PICTURE) or type(self).plot is not Answer.plot

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the answer: its headline is the title of the picture."""
        if not self.PICTURE:
            raise NotImplementedError
        module, _, name = self.PICTURE.partition(":")
        found: Axes = getattr(import_module(module), name)(self, axes)  # matplotlib is imported there
        return found

    def text(self, width: int = render.WIDTH, *, color: bool = False) -> str:
        """Say it in a terminal."""
        return render.answer_text(self.headline, self.sections(), self.notes, width, color=color)

    def to_markdown(self) -> str:
        """Say it in a document."""
        return render.answer_markdown(self.headline, self.sections(), self.notes)

    def __str__(self) -> str:
        """Say it as `print` does."""
        return self.text()

    def _repr_html_(self) -> str:
        return render.answer_html(self.headline, self.sections(), self.notes)
