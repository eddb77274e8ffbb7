"""Render columns (name, unit, values) and answers as text, Markdown, CSV, JSON, HTML or a data frame."""

from planner.render.table import Column, Section, Table, format_value, to_csv, to_frame, to_json, to_polars
from planner.render.text import WIDTH as WIDTH
from planner.render.text import answer_html as answer_html
from planner.render.text import answer_markdown as answer_markdown
from planner.render.text import answer_text as answer_text
from planner.render.text import counted as counted
from planner.render.text import to_html, to_markdown, to_text
from planner.render.text import wrap as wrap

__all__ = [
    "Column", "Section", "Table", "format_value", "to_csv", "to_frame", "to_html", "to_json", "to_markdown",
    "to_polars", "to_text",
]  # fmt: skip
