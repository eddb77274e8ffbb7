"""Columns (name, unit, values) to a text table, CSV, JSON, HTML or a data frame; knows no model."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from planner.errors import MissingExtraError

if TYPE_CHECKING:
    import pandas as pd

SIGNIFICANT_DIGITS: Final = 4
WIDTH: Final = 80
LONGEST_HTML: Final = 60  # rows; a notebook has no use for more
BARE_UNITS: Final = frozenset({"", "1/s", "share"})  # rates are per second and counts are bare: no suffix
MARKS: Final = {"recommended": ">", "in use": "*"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: a name, the unit its values are in, the values, and how people read it.

    `values` holds numbers, text or None (not available); `label` heads the column in tables for people
    (the name where empty); `decimals` fixes the digits after the point (chosen from the values where None).
    """

    name: str
    unit: str
    values: Sequence[Any]
    label: str = ""
    decimals: int | None = None

    @property
    def key(self) -> str:
        """Name with its unit as a suffix, as CSV and JSON show it."""
        if self.unit in BARE_UNITS:
            return self.name
        suffix = self.unit.replace("/", "_per_").lower() if "/" in self.unit else self.unit
        return f"{self.name}_{suffix}"

    def texts(self) -> list[str]:
        """All values as people read them, with equal decimals.

        Returns
        -------
        list of str
            One text a value.
        """
        return [format_value(value, self._decimals()) for value in self.values]

    def _decimals(self) -> int | None:
        if self.decimals is not None:
            return self.decimals
        numbers = [abs(v) for v in self.values if _is_number(v) and math.isfinite(v)]
        if not numbers or all(float(v).is_integer() for v in numbers):
            return 0
        largest = max(numbers)
        return max(0, SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(largest))) if largest > 0 else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Equally long `columns`; `marks` names the state of each row ("recommended", "in use", or "")."""

    columns: tuple[Column, ...]
    marks: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.columns[0].values) if self.columns else 0

    def records(self) -> list[dict[str, Any]]:
        """Rows as dictionaries keyed by name and unit suffix.

        Returns
        -------
        list of dict
            One dictionary a row.
        """
        keys = [column.key for column in self.columns]
        return [
            dict(zip(keys, row, strict=True))
            for row in zip(*(column.values for column in self.columns), strict=True)
        ]

    def only(self, labels: Mapping[str, str]) -> Table:
        """Pick columns by name, in the order of `labels`.

        Parameters
        ----------
        labels : mapping
            Name of a column to its label.

        Returns
        -------
        Table
            Those columns, newly labeled.
        """
        every = {column.name: column for column in self.columns}
        picked = tuple(replace(every[name], label=label) for name, label in labels.items())
        return Table(columns=picked, marks=self.marks)


def _is_number(value: Any) -> bool:
    return (isinstance(value, (int, float)) and not isinstance(value, bool)) or hasattr(value, "__float__")


def format_value(value: Any, decimals: int | None = None) -> str:
    """One value as people read it: "-" where there is none, "saturated" where it is infinite.

    Parameters
    ----------
    value : object
        Number, text, truth value or None.
    decimals : int, optional
        Digits after the point of a number; four significant digits where None.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> format_value(1.29, 1), format_value(None), format_value(float("inf"))
    ('1.3', '-', 'saturated')
    """
    value = _plain(value, finite=False)  # a truth value of numpy is one, too
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not _is_number(value):
        return str(value)
    number = float(value)
    if math.isnan(number):
        return "-"
    if math.isinf(number):
        return "saturated"
    return f"{number:.{SIGNIFICANT_DIGITS}g}" if decimals is None else f"{number:.{decimals}f}"


def to_text(table: Table) -> str:
    """Render a table in plain text: labels, units, rows; numbers to the right, marked rows with a sign.

    What is wider than a terminal is broken into blocks; each begins with the columns that tell the rows apart.

    Parameters
    ----------
    table : Table
        What to show.

    Returns
    -------
    str
        Lines without a trailing line feed.
    """
    units = [column.unit if column.unit != "share" else "" for column in table.columns]
    cells = []
    for column, unit in zip(table.columns, units, strict=True):
        texts = column.texts()
        heads = [column.label or column.name] + ([unit] if any(units) else [])
        width = max(map(len, heads + texts))
        left = any(isinstance(value, str) for value in column.values)
        cells.append([text.ljust(width) if left else text.rjust(width) for text in heads + texts])
    if any(table.marks):
        signs = [" "] * (len(cells[0]) - len(table)) + [MARKS.get(mark, " ") for mark in table.marks]
        cells[0] = [f"{sign} {cell}" for sign, cell in zip(signs, cells[0], strict=True)]
    above = len(cells[0]) - len(table)  # lines of labels and units
    blocks = []
    for block in _blocks(cells, _telling_apart(cells, above)):
        lines = ["  ".join(row).rstrip() for row in zip(*block, strict=True)]
        labels = filter(None, lines[:above])  # no line of units without units
        blocks.append("\n".join([*labels, *lines[above:]]))
    return "\n\n".join(blocks)


def _telling_apart(cells: list[list[str]], heads: int) -> int:
    """How many of the first columns tell all rows apart; one where even half of a terminal does not."""
    for count in range(1, len(cells)):
        rows = list(zip(*(column[heads:] for column in cells[:count]), strict=True))
        if sum(len(column[0]) + 2 for column in cells[:count]) > WIDTH // 2:
            return 1
        if len(set(rows)) == len(rows):
            return count
    return 1


def _blocks(cells: list[list[str]], keys: int) -> list[list[list[str]]]:
    """Columns that fit a terminal side by side; further ones go below, behind the first `keys` columns again."""
    first, others = cells[:keys], cells[keys:]
    used = sum(len(column[0]) + 2 for column in first) - 2
    blocks, width = [list(first)], used
    for column in others:
        if width + 2 + len(column[0]) > WIDTH and len(blocks[-1]) > keys:
            blocks.append(list(first))
            width = used
        blocks[-1].append(column)
        width += 2 + len(column[0])
    return blocks


def counted(number: float, noun: str) -> str:
    """A count with its noun in the right number.

    Parameters
    ----------
    number : float
        A whole number.
    noun : str
        In the singular.

    Returns
    -------
    str
        The words.

    Examples
    --------
    >>> counted(1, "disk"), counted(8, "disk")
    ('1 disk', '8 disks')
    """
    return f"{number:.0f} {noun}{'' if number == 1 else 's'}"


def wrap(text: str, width: int = WIDTH) -> str:
    """Break a paragraph into lines.

    Parameters
    ----------
    text : str
        One paragraph.
    width : int, optional
        Longest line.

    Returns
    -------
    str
        Lines, the later ones indented by two.
    """
    return textwrap.fill(text, width, subsequent_indent="  ", break_on_hyphens=False)


def to_csv(table: Table) -> str:
    """Render a table as CSV with unit suffixes in the header; infinite is ``inf``, not available is empty.

    Parameters
    ----------
    table : Table
        What to write.

    Returns
    -------
    str
        CSV text.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([column.key for column in table.columns])
    for row in zip(*(column.values for column in table.columns), strict=True):
        writer.writerow(["" if value is None else _plain(value, finite=False) for value in row])
    return buffer.getvalue()


def _plain(value: Any, *, finite: bool = True) -> Any:
    """Turn numpy scalars into Python ones; with `finite` what JSON cannot say becomes None."""
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
    if isinstance(value, dict):
        return {key: _plain(item, finite=finite) for key, item in value.items()}
    if isinstance(value, (list, tuple)) or hasattr(value, "tolist"):
        return [_plain(item, finite=finite) for item in value]
    if finite and isinstance(value, float) and not math.isfinite(value):
        return None
    return value


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
    return json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False)


def _shortened(rows: list[str], marks: Sequence[str], columns: int) -> list[str]:
    """Both ends of a long table and its marked rows, with a row that counts what is left out."""
    ends = LONGEST_HTML // 2
    middle = range(ends, len(rows) - ends)
    left_out = [k for k in middle if not marks[k]]
    if not left_out:
        return rows
    gap = f'<tr><td colspan="{columns}">{len(left_out)} more rows</td></tr>'
    kept = {k: row for k, row in enumerate(rows) if k not in middle or marks[k]}
    return [row for _, row in sorted({**kept, left_out[0]: gap}.items())]


def to_html(table: Table) -> str:
    """Render a table as HTML for Jupyter; marked rows are bold, of a long table both ends and they are shown.

    Parameters
    ----------
    table : Table
        What to show.

    Returns
    -------
    str
        One ``<table>`` element.
    """
    heads = "".join(
        f"<th>{html.escape(column.label or column.name)}"
        + (f"<br><small>{html.escape(column.unit)}</small>" if column.unit not in {"", "share"} else "")
        + "</th>"
        for column in table.columns
    )
    marks = table.marks or ("",) * len(table)
    rows = [
        "<tr>"
        + "".join(
            f"<td>{'<b>' if mark else ''}{html.escape(cell)}{'</b>' if mark else ''}</td>" for cell in row
        )
        + "</tr>"
        for mark, row in zip(marks, zip(*(c.texts() for c in table.columns), strict=True), strict=True)
    ]
    body = "".join(_shortened(rows, marks, len(table.columns)))
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def to_frame(table: Table) -> pd.DataFrame:
    """Turn a table into a pandas data frame, units in the column names.

    Parameters
    ----------
    table : Table
        What to convert.

    Returns
    -------
    pandas.DataFrame
        One row a row, columns named ``name [unit]``.

    Raises
    ------
    MissingExtraError
        pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("pandas", "notebook") from error
    names = [f"{c.name} [{c.unit}]" if c.unit not in {"", "share"} else c.name for c in table.columns]
    return pd.DataFrame({name: list(c.values) for name, c in zip(names, table.columns, strict=True)})
