"""Tables as columns (name, unit, values): formatting of values for people, and tables for programs."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from planner import units
from planner.errors import MissingExtraError
from planner.lazy import pl
from planner.render import safe

if TYPE_CHECKING:
    import pandas as pd

FIGURE_SPACE: Final = "\N{FIGURE SPACE}"  # as wide as a digit
NUMBER: Final = re.compile(
    r"[-+<]?\d[\d.,]*(?:e[-+]?\d+)?(?: ?%|/s| [A-Za-z]+)?(?: ?(?:\(.*\)|(?:to|-) ?\S+))?$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: name, unit, values and format.

    `values` holds numbers, text or None (not available); `label` is the heading in tables for people (the name if
    empty); `decimals` is the most digits after the point (chosen from the values if None), `digits` the significant
    digits; None keeps all, for printed numbers.
    """

    name: str
    unit: str
    values: Sequence[Any]
    label: str = ""
    decimals: int | None = None
    digits: int | None = units.DIGITS

    @property
    def key(self) -> str:
        """Name with its unit as a suffix, as CSV and JSON show it."""
        return self.name + units.suffix(self.unit)

    @property
    def heading(self) -> str:
        """Heading for people."""
        return self.label or self.name

    @property
    def shown_unit(self) -> str:
        """Unit for people; none for a share."""
        return "" if self.unit == "share" else self.unit

    @property
    def words(self) -> bool:
        """Whether it holds words, which are left-aligned; numbers with a unit or a range are right-aligned."""
        found = [value for value in self.values if isinstance(value, str)]
        return any(not NUMBER.match(value) for value in found)

    def texts(self, of: Sequence[str] | None = None) -> list[str]:
        """All values as text, with no more decimals than the texts `of` the column whose ends they are."""
        most = self._decimals()
        if of is None:
            return [format_value(value, most, self.digits) for value in self.values]
        tails = (
            min(most, max(_tail(text) - 1, 0)) if text[-1:].isdigit() and text != "0" else most for text in of
        )
        return [format_value(v, tail, self.digits) for v, tail in zip(self.values, tails, strict=True)]

    def _decimals(self) -> int:
        """Digits after the point: two more than the largest number of the column needs, for the small ones."""
        if self.decimals is not None:
            return self.decimals
        numbers = [abs(float(v)) for v in self.values if _worded(v) is None]
        if all(each.is_integer() for each in numbers):
            return 0
        return units.rounded(max(numbers), digits=self.digits or units.DIGITS)[1] + 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Equally long `columns`; `marks` names the state of each row (a key of `planner.render.text.MARKS`, or "")."""

    columns: tuple[Column, ...]
    marks: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.columns[0].values) if self.columns else 0

    def texts(self, gap: str = "") -> list[list[str]]:
        """Columns as text; `gap` is appended to numbers so that decimal points align."""
        found = {column.name: column.texts() for column in self.columns}
        cells = []
        for column in self.columns:
            of = found.get(re.sub("_(low|high)$", "", column.name), found[column.name])
            texts = found[column.name] if of is found[column.name] else column.texts(of)
            if gap and not any(isinstance(value, str) for value in column.values):
                longest = max(map(_tail, texts), default=0)
                texts = [text + gap * ((longest - _tail(text)) * text[-1:].isdigit()) for text in texts]
            cells.append(texts)
        return cells

    def lines(self, gap: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
        """State and cells of every row, as text."""
        rows = zip(*self.texts(gap), strict=True)
        return zip(self.marks or ("",) * len(self), rows, strict=True)

    def records(self) -> list[dict[str, Any]]:
        """Rows as dictionaries keyed by name and unit suffix; None where a number is not finite, as in JSON."""
        keys = [column.key for column in self.columns]
        return [
            plain(dict(zip(keys, row, strict=True)))
            for row in zip(*(column.values for column in self.columns), strict=True)
        ]

    def each(self, change: Callable[[Column], Column | None]) -> Table:
        """Change every column; drop those that become None."""
        changed = (change(column) for column in self.columns)
        return replace(self, columns=tuple(column for column in changed if column is not None))

    def filled(self, always: Collection[str] = ()) -> Table:
        """The table without empty columns, except those named in `always`."""
        return self.each(
            lambda c: c if c.name in always or any(value is not None for value in c.values) else None
        )

    def pick(self, names: Iterable[str]) -> Table:
        """Pick columns by name, in this order."""
        every = {column.name: column for column in self.columns}
        return replace(self, columns=tuple(every[name] for name in names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One `table` of an answer with its `title` (empty if it is the only one) and a `caption` for marks and columns."""

    table: Table
    title: str = ""
    caption: str = ""


def said(headline: str, sections: Sequence[Section], notes: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Parts of an answer in order: headline; title, table and caption of each section; notes."""
    yield "headline", headline
    for section in sections:
        if len(section.table):
            parts = (("title", section.title), ("table", section.table), ("caption", section.caption))
            yield from (part for part in parts if part[1])
    yield from (("note", note) for note in notes)


def _tail(text: str) -> int:
    """Number of characters from the decimal point on."""
    return len(text) - text.find(".") if "." in text and text[-1:].isdigit() else 0


def _worded(value: Any) -> str | None:
    """Text of a value that is not a number; None for a number."""
    value = plain(value, finite=False)  # also converts a numpy bool
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not hasattr(value, "__float__"):
        return str(value)
    return None if math.isfinite(value) else units.readable(value)


def format_value(value: Any, decimals: int | None = None, digits: int | None = units.DIGITS) -> str:
    """Format one value for people: "-" for None, "saturated" for infinity.

    Parameters
    ----------
    value : object
        Number, text, bool or None.
    decimals : int, optional
        Most digits after the point of a number.
    digits : int, optional
        Significant digits; if None, all that `decimals` allows.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> format_value(1.29, 1), format_value(None), format_value(float("inf"))
    ('1.3', '-', 'saturated')
    """
    words = _worded(value)
    if words is not None:
        return words
    if digits is None:
        return f"{value:,.{decimals}f}"
    return units.readable(value, decimals, digits, zeros=decimals is not None and digits == units.DIGITS)


def plain(value: Any, *, finite: bool = True) -> Any:
    """Turn numpy scalars into Python ones."""
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
    if isinstance(value, dict):
        return {key: plain(item, finite=finite) for key, item in value.items()}
    if isinstance(value, (list, tuple)) or hasattr(value, "tolist"):
        return [plain(item, finite=finite) for item in value]
    if finite and isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def to_csv(table: Table) -> str:
    """Render a table as CSV with unit suffixes in the header; infinite is ``inf``, not available is empty.

    Text that a spreadsheet would treat as a formula gets an apostrophe before it.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    str
        CSV text.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([column.key for column in table.columns])
    for row in zip(*(column.values for column in table.columns), strict=True):
        writer.writerow(["" if value is None else safe.csv_cell(plain(value, finite=False)) for value in row])
    return buffer.getvalue()


def to_json(value: Any) -> str:
    """Render nested dictionaries and lists as JSON; infinite and undefined numbers become null.

    Parameters
    ----------
    value : object
        Dictionaries, lists, tuples, arrays, numbers, text, None.

    Returns
    -------
    str
        JSON text with an indent of two.
    """
    return safe.json(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def to_frame(table: Table) -> pd.DataFrame:
    """Turn a table into a pandas data frame, units in the column names.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    pandas.DataFrame
        The same rows, columns named ``name [unit]``.

    Raises
    ------
    MissingExtraError
        pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("pandas", "notebook") from error
    return pd.DataFrame(_named(table))


def to_polars(table: Table) -> pl.DataFrame:
    """Turn a table into a polars data frame, units in the column names.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    polars.DataFrame
        The same rows, columns named ``name [unit]``.
    """
    return pl.DataFrame([pl.Series(name, values, strict=False) for name, values in _named(table).items()])


def _named(table: Table) -> dict[str, list[Any]]:
    names = [f"{c.name} [{c.unit}]" if c.shown_unit else c.name for c in table.columns]
    return {name: list(c.values) for name, c in zip(names, table.columns, strict=True)}
