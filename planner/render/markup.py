"""Tables and whole answers in Markdown, for documents, and as HTML, for Jupyter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from planner.render import safe
from planner.render.safe import markdown as escaped
from planner.render.table import Section, Table

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
    heads, edges = [], []
    for column in table.columns:
        unit = f" [{column.unit}]" if column.unit not in {"", "share"} else ""
        heads.append(escaped(f"{column.label or column.name}{unit}"))
        edges.append("---" if any(isinstance(value, str) for value in column.values) else "---:")
    marks = table.marks or ("",) * len(table)
    lines = [heads, edges]
    for mark, row in zip(marks, zip(*(column.texts() for column in table.columns), strict=True), strict=True):
        cells = [escaped(cell) for cell in row]
        lines.append([f"**{cell}**" for cell in cells] if mark else cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def answer_markdown(headline: str, sections: Sequence[Section], notes: Sequence[str]) -> str:
    """Say an answer in Markdown: headline, tables with their captions, notes."""
    parts = [f"**{escaped(headline)}**"]
    for section in sections:
        if len(section.table):
            parts += [
                part
                for part in (escaped(section.title), to_markdown(section.table), escaped(section.caption))
                if part
            ]
    return "\n\n".join([*parts, *map(escaped, notes)])


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
        f"<th>{safe.html(column.label or column.name)}"
        + (f"<br><small>{safe.html(column.unit)}</small>" if column.unit not in {"", "share"} else "")
        + "</th>"
        for column in table.columns
    )
    marks = table.marks or ("",) * len(table)
    rows = [
        "<tr>"
        + "".join(
            f"<td>{'<b>' if mark else ''}{safe.html(cell)}{'</b>' if mark else ''}</td>" for cell in row
        )
        + "</tr>"
        for mark, row in zip(marks, zip(*(c.texts() for c in table.columns), strict=True), strict=True)
    ]
    body = "".join(_shortened(rows, marks, len(table.columns)))
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def answer_html(headline: str, sections: Sequence[Section], notes: Sequence[str]) -> str:
    """Say an answer in HTML: headline, tables with their captions, notes."""
    parts = [f"<p><strong>{safe.html(headline)}</strong></p>"]
    for section in sections:
        if not len(section.table):
            continue
        parts += [f"<p>{safe.html(section.title)}</p>"] if section.title else []
        parts.append(to_html(section.table))
        parts += [f"<p><small>{safe.html(section.caption)}</small></p>"] if section.caption else []
    parts += [f"<p>{safe.html(note)}</p>" for note in notes]
    return f"<div>{''.join(parts)}</div>"
