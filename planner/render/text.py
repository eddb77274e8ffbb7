"""Render tables, sentences and answers for a terminal, as Markdown and as HTML for Jupyter; words for verdicts."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from planner.render import safe
from planner.render.safe import markdown as escaped
from planner.render.table import FIGURE_SPACE, Section, Table, said

WIDTH: Final = 80
LONGEST: Final = 100  # characters of a line of prose
LONGEST_CELL: Final = 60  # characters of a text in a table
MOST_ROWS: Final = 60  # rows of a table in a notebook
ENDS: Final = ("_low", "_high", "range")  # name endings of columns that belong to the previous one
BOLD: Final = "1"
INK: Final = {"recommended": "1;32"}  # terminal color of a row, by mark
HARD_SPACE: Final = "\N{NO-BREAK SPACE}"
MARKS: Final = {
    "recommended": ">",
    "in use": "*",
    "measured": "*",
    "nearest": "*",
    "outlier": "!",
    "in doubt": "!",
}
# A verdict for people is short, enough or spare, whatever its name in the data of an answer.
SHORT, ENOUGH, SPARE, UNKNOWN = "short", "enough", "spare", "unknown"
STATES: Final = {SHORT: "bad", ENOUGH: "good", SPARE: "spare", UNKNOWN: "open"}  # verdict: CSS class
INKS: Final = {SHORT: "31", ENOUGH: "32", SPARE: "36", UNKNOWN: "33"}  # terminal colors
WORDS: Final = {
    "not enough": SHORT, "gains": SHORT, "saturated": SHORT, "too many": SPARE, "could spare": SPARE,
    "wait becomes service": ENOUGH, "does not wait": ENOUGH, "waits little": ENOUGH, "queue not measured": ENOUGH,
    "none": UNKNOWN, "-": UNKNOWN,
}  # fmt: skip


def word(verdict: str | None) -> str:
    """The word for a verdict of any answer; other text is unchanged."""
    return UNKNOWN if verdict is None else WORDS.get(verdict, verdict)


def answer_text(
    headline: str,
    sections: Sequence[Section],
    notes: Sequence[str],
    width: int = WIDTH,
    *,
    color: bool = False,
) -> str:
    """Render an answer as plain text: headline, tables with their captions, notes."""
    narrow = min(width, LONGEST)
    lines = [_inked(wrap(headline, narrow), BOLD if color else ""), ""]
    shown = [section for section in sections if len(section.table)]
    for section in shown:
        lines += [wrap(section.title, narrow)] if section.title else []
        lines += [to_text(section.table, width, color=color), ""]
        lines += [wrap(section.caption, narrow)] if section.caption else []
        lines += [""] if section.caption and section is not shown[-1] else []
    lines += [wrap(note, narrow) for note in notes]
    return "\n".join(lines).rstrip("\n")


def to_text(table: Table, width: int = WIDTH, *, color: bool = False) -> str:
    """Render a table as plain text: labels, units, rows; numbers right-aligned, marked rows with a sign.

    A table wider than the terminal is split into blocks; each repeats the columns that identify the rows. Long texts
    are shortened as by `short`; CSV and JSON have them in full.

    Parameters
    ----------
    table : Table
        The table.
    width : int, optional
        Columns of the terminal.
    color : bool, optional
        Whether to color verdicts and the recommended row.

    Returns
    -------
    str
        Lines without a trailing line feed.
    """
    units = [column.shown_unit for column in table.columns]
    cells: list[list[str]] = []
    for column, unit, found in zip(table.columns, units, table.texts(" "), strict=True):
        texts = [short(safe.line(text)) for text in found]
        heads = [column.heading] + ([unit] if any(units) else [])
        widest = max(map(len, heads + texts))
        left = column.words if cells else any(isinstance(value, str) for value in column.values)
        cells.append([text.ljust(widest) if left else text.rjust(widest) for text in heads + texts])
    if any(table.marks):
        signs = [" "] * (len(cells[0]) - len(table)) + [MARKS.get(mark, " ") for mark in table.marks]
        cells[0] = [f"{sign} {cell}" for sign, cell in zip(signs, cells[0], strict=True)]
    above = len(cells[0]) - len(table)  # heading lines
    keys = _identifying_columns(cells, above, width)
    joined = [column.name.endswith(ENDS) for column in table.columns]
    blocks = []
    inks = [INK.get(mark, "") for mark in ("",) * above + (table.marks or ("",) * len(table))]
    if color:
        cells = [
            _verdicts(each, above) if c.name == "verdict" else each
            for c, each in zip(table.columns, cells, strict=True)
        ]
    for block in _blocks(cells, joined, keys, width):
        lines = ["  ".join(row).rstrip() for row in zip(*block, strict=True)]
        lines = [_inked(line, ink) for line, ink in zip(lines, inks, strict=True)] if color else lines
        labels = filter(None, lines[:above])  # omit an empty line of units
        blocks.append("\n".join([*labels, *lines[above:]]))
    return "\n\n".join(blocks)


def _identifying_columns(cells: list[list[str]], heads: int, width: int) -> int:
    """Number of leading columns that identify all rows; one if they would need more than half of the width."""
    for count in range(1, len(cells)):
        rows = list(zip(*(column[heads:] for column in cells[:count]), strict=True))
        if sum(len(column[0]) + 2 for column in cells[:count]) > width // 2:
            return 1
        if len(set(rows)) == len(rows):
            return count
    return 1


def _blocks(cells: list[list[str]], joined: Sequence[bool], keys: int, most: int) -> list[list[list[str]]]:
    """Split columns into blocks that fit the width, each with the first `keys` columns; `joined` ones stay together."""
    first = cells[:keys]
    groups: list[list[list[str]]] = []
    for column, join in zip(cells[keys:], joined[keys:], strict=True):
        if join and groups:
            groups[-1].append(column)
        else:
            groups.append([column])
    used = sum(len(column[0]) + 2 for column in first) - 2
    blocks, width = [list(first)], used
    for group in groups:
        wide = sum(len(column[0]) + 2 for column in group)
        if width + wide > most and len(blocks[-1]) > keys:
            blocks.append(list(first))
            width = used
        blocks[-1] += group
        width += wide
    return blocks


def _verdicts(column: list[str], above: int) -> list[str]:
    """Color the cells of a column of verdicts."""
    inks = [INKS.get(word(cell.strip()).split(" ")[0], "") for cell in column[above:]]
    return column[:above] + [_inked(cell, ink) for cell, ink in zip(column[above:], inks, strict=True)]


def _inked(text: str, ink: str) -> str:
    """Put every line of a text in a terminal color or in bold; unchanged without `ink`."""
    return "\n".join(f"\x1b[{ink}m{line}\x1b[0m" for line in text.split("\n")) if ink else text


def counted(number: float, noun: str, plural: str = "") -> str:
    """A count with its noun in the singular or plural.

    >>> counted(1, "disk"), counted(8, "disk"), counted(2, "alias", "aliases")
    ('1 disk', '8 disks', '2 aliases')
    """
    return f"{number:,.0f} {noun if number == 1 else plural or noun + 's'}"


def from_to(low: object, high: object, to: str = " to ") -> str:
    """Both ends of a range, whole numbers with thousands separators; one number if both read the same.

    >>> from_to(257, 11802), from_to("1.3", "1.3"), from_to(2, 5, "-")
    ('257 to 11,802', '1.3', '2-5')
    """
    first, last = (f"{each:,}" if isinstance(each, int) else f"{each}" for each in (low, high))
    return first if first == last else f"{first}{to}{last}"


def sentence_case(text: str) -> str:
    """Capitalize the first letter; keep the others."""
    return text[:1].upper() + text[1:]


def listed(names: Sequence[str], most: int = 12, wide: int = 60) -> str:
    """The first few names, those longer than `wide` as by `short`, and the number of further ones.

    >>> listed(["P1", "P2", "P3"], 2)
    'P1, P2 and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(short(name, wide) for name in names[:most]) + more


def short(text: str, most: int = LONGEST_CELL) -> str:
    """A text of at most `most` characters: of a longer one its beginning, and a checksum that sets it apart.

    >>> short("522A"), short("A long name that is cut", 20)
    ('522A', 'A long na...dcd39788')
    """
    if len(text) <= most:
        return text
    return f"{text[: most - 11]}...{sha256(text.encode(errors='surrogatepass')).hexdigest()[:8]}"


def first_of(notes: Sequence[str], most: int) -> list[str]:
    """The first few notes, and the number of further ones.

    >>> first_of(["One.", "Two.", "Three."], 2)
    ['One.', 'Two.', '1 further remark; --json has them.']
    """
    more = len(notes) - most
    return [*notes[:most], *([f"{counted(more, 'further remark')}; --json has them."] if more > 0 else [])]


def wrap(text: str, width: int = WIDTH) -> str:
    """Break a paragraph into lines."""
    bound = safe.terminal(text).replace(" %", f"{HARD_SPACE}%")  # keep a number and its percent sign together
    filled = textwrap.fill(bound, width, subsequent_indent="  ", break_on_hyphens=False)
    return filled.replace(HARD_SPACE, " ")


def to_markdown(table: Table) -> str:
    """Render a table as Markdown; units follow the labels, marked rows are bold.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    str
        Lines without a trailing line feed.
    """
    heads = [escaped(c.heading + (f" [{c.unit}]" if c.shown_unit else "")) for c in table.columns]
    edges = ["---" if any(isinstance(value, str) for value in c.values) else "---:" for c in table.columns]
    lines = [heads, edges]
    for mark, row in table.lines():
        lines.append([f"**{escaped(cell)}**" if mark else escaped(cell) for cell in row])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def answer_markdown(headline: str, sections: Sequence[Section], notes: Sequence[str]) -> str:
    """Render an answer as Markdown: headline, tables with their captions, notes."""
    around = {"headline": "**{}**"}
    return "\n\n".join(
        to_markdown(each) if kind == "table" else around.get(kind, "{}").format(escaped(each))
        for kind, each in said(headline, sections, notes)
    )


def _shortened(rows: list[str], marks: Sequence[str], columns: int) -> list[str]:
    """First, last and marked rows of a long table, with a row that counts the omitted ones."""
    ends = MOST_ROWS // 2
    middle = range(ends, len(rows) - ends)
    left_out = [k for k in middle if not marks[k]]
    if not left_out:
        return rows
    gap = f'<tr><td colspan="{columns}">{len(left_out)} more rows</td></tr>'
    kept = {k: row for k, row in enumerate(rows) if k not in middle or marks[k]}
    return [row for _, row in sorted({**kept, left_out[0]: gap}.items())]


def to_html(table: Table) -> str:
    """Render a table as HTML for Jupyter; marked rows are bold; a long table shows first, last and marked rows.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    str
        One ``<table>`` element.
    """
    heads = "".join(
        f"<th>{safe.html(c.heading)}"
        + (f"<br><small>{safe.html(c.unit)}</small></th>" if c.shown_unit else "</th>")
        for c in table.columns
    )
    marks = table.marks or ("",) * len(table)
    rows = []
    for mark, row in table.lines(FIGURE_SPACE):
        cells = [f"<b>{safe.html(cell)}</b>" if mark else safe.html(cell) for cell in row]
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    body = "".join(_shortened(rows, marks, len(table.columns)))
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def answer_html(headline: str, sections: Sequence[Section], notes: Sequence[str]) -> str:
    """Render an answer as HTML: headline, tables with their captions, notes."""
    around = {"headline": "<p><strong>{}</strong></p>", "caption": "<p><small>{}</small></p>"}
    parts = (
        to_html(each) if kind == "table" else around.get(kind, "<p>{}</p>").format(safe.html(each))
        for kind, each in said(headline, sections, notes)
    )
    return f"<div>{''.join(parts)}</div>"
