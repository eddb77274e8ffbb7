"""The one base of every answer: a headline, tables, notes and a picture, said in the same way everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from planner import render, style
from planner.quantity import Quantity

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes


def tabled(rows: Iterable[Any], columns: Iterable[Quantity], marks: Iterable[str] = ()) -> render.Table:
    """Lay out rows in the columns that are declared.

    Parameters
    ----------
    rows : iterable
        Objects, mappings, or tuples of as many values as there are columns.
    columns : iterable of Quantity
        What to take from each (`Quantity.in_row`).
    marks : iterable of str, optional
        State of each row, or "".

    Returns
    -------
    render.Table
        One row each.
    """
    found = list(rows)
    return render.Table(
        columns=tuple(
            render.Column(name=each.key, unit=each.unit, label=each.label, decimals=each.decimals,
                          values=[row[k] if each.of is None and type(row) is tuple else each.in_row(row)
                                  for row in found])
            for k, each in enumerate(columns)
        ),
        marks=tuple(marks),
    )  # fmt: skip


class Tabular:
    """Whatever shows itself as a table: a data frame for pandas, HTML in Jupyter."""

    __slots__ = ()

    def table(self) -> render.Table:
        """Lay out what is shown.

        Returns
        -------
        render.Table
            Columns with units.

        Raises
        ------
        NotImplementedError
            A class does not say what it shows.
        """
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """Return the table as a pandas data frame with units in the column names.

        Returns
        -------
        pandas.DataFrame
            One row an element.

        Raises
        ------
        MissingExtraError
            pandas is not installed.
        """
        return render.to_frame(self.table())

    def to_polars(self) -> pl.DataFrame:
        """Return the same as a polars data frame, which needs no extra.

        Returns
        -------
        polars.DataFrame
            One row an element.
        """
        return render.to_polars(self.table())

    def _repr_html_(self) -> str:
        return render.to_html(self.table())


class Answer(Tabular):
    """What a question gets: first the answer in a sentence, then its table, then what to know and to do.

    A subclass is a frozen dataclass. It says `headline` and `notes` (fields or properties), `table` (what ``--csv``
    and `to_frame` hold), `to_dict` (what ``--json`` holds) and, where a picture helps, `PICTURE`, what draws it. It
    joins no text: people read what `planner.render` makes of these, in a terminal, a notebook and a document alike.

    Attributes
    ----------
    headline : str
        The answer in one sentence: the number, its range, what it brings and what it costs.
    notes : tuple of str
        Whole sentences: assumptions first, the next step last.
    exit_code : int
        What the command returns: 0 answered, 1 no feasible answer, 2 not solved.
    """

    __slots__ = ()
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
        """Lay out the tables that people see, in their order.

        Returns
        -------
        tuple of render.Section
            `table` alone, unless an answer shows fewer columns or further tables.
        """
        return (render.Section(table=self.table()),)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, with unit suffixes, as ``--json`` prints it.

        Returns
        -------
        dict
            Keys as documented for the command.

        Raises
        ------
        NotImplementedError
            A class does not say what it holds.
        """
        raise NotImplementedError

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the answer: its headline is the title of the picture.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Where to draw; new axes where None.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn; the first of several panels.

        Raises
        ------
        NotImplementedError
            No picture helps here.
        """
        if not self.PICTURE:
            raise NotImplementedError
        return style.drawn_by(self.PICTURE, self, axes)

    def text(self, width: int = render.WIDTH, *, color: bool = False) -> str:
        """Say it in a terminal.

        Parameters
        ----------
        width : int, optional
            Columns of the terminal.
        color : bool, optional
            Whether it may use bold type and color.

        Returns
        -------
        str
            Headline, tables and notes.
        """
        return render.answer_text(self.headline, self.sections(), self.notes, width, color=color)

    def to_markdown(self) -> str:
        """Say it in a document.

        Returns
        -------
        str
            Headline, tables and notes in Markdown.
        """
        return render.answer_markdown(self.headline, self.sections(), self.notes)

    def __str__(self) -> str:
        """Say it as `print` does."""
        return self.text()

    def _repr_html_(self) -> str:
        return render.answer_html(self.headline, self.sections(), self.notes)
