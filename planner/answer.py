"""The one base of every answer: a headline, tables, notes and a picture, said in the same way everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from planner import render, style
from planner.tabular import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
