"""Tables and whole answers in Markdown, for documents, and as HTML, for Jupyter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from planner.render import safe
from planner.render.safe import markdown as escaped
from planner.render.table import FIGURE_SPACE, Section, Table, said

LONGEST: Final = 60  # rows; a notebook has no use for more


def to_markdown(table: Table) -> str:
    """Render a table in Markdown; units stand behind the labels, marked rows are bold.

    Parameters
    ----------
    table : Table
        What to show.

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
    """Say an answer in Markdown: headline, tables with their captions, notes."""
    return "\n\n".join(
        to_markdown(each)
        if kind == "table"
        else f"**{escaped(each)}**"
        if kind == "headline"
        else escaped(each)
        for kind, each in said(headline, sections, notes)
    )


def _shortened(rows: list[str], marks: Sequence[str], columns: int) -> list[str]:
    """Both ends of a long table and its marked rows, with a row that counts what is left out."""
    ends = LONGEST // 2
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
    """Say an answer in HTML: headline, tables with their captions, notes."""
    around = {"headline": "<p><strong>{}</strong></p>", "caption": "<p><small>{}</small></p>"}
    parts = (
        to_html(each) if kind == "table" else around.get(kind, "<p>{}</p>").format(safe.html(each))
        for kind, each in said(headline, sections, notes)
    )
    return f"<div>{''.join(parts)}</div>"
