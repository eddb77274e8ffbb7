"""Tables and whole answers in Markdown, for documents."""

from __future__ import annotations

from collections.abc import Sequence

from planner.render.safe import markdown as escaped
from planner.render.table import Section, Table


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
    """Say an answer in Markdown: headline, tables with their captions, notes.

    Parameters
    ----------
    headline : str
        The answer in one sentence.
    sections : sequence of Section
        Its tables; empty ones are left out.
    notes : sequence of str
        Whole sentences.

    Returns
    -------
    str
        Paragraphs without a trailing line feed.
    """
    parts = [f"**{escaped(headline)}**"]
    for section in sections:
        if len(section.table):
            parts += [
                part
                for part in (escaped(section.title), to_markdown(section.table), escaped(section.caption))
                if part
            ]
    return "\n\n".join([*parts, *map(escaped, notes)])
