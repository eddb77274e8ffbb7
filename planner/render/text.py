"""Tables and sentences for a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from typing import Final

from planner.render.table import Table

WIDTH: Final = 80
MARKS: Final = {"recommended": ">", "in use": "*"}


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
