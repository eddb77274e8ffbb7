"""Columns (name, unit, values) and answers to text, Markdown, CSV, JSON, HTML or a data frame; knows no model."""

from planner.render.markup import answer_html, answer_markdown, to_html, to_markdown
from planner.render.table import Column, Section, Table, format_value, to_csv, to_frame, to_json, to_polars
from planner.render.text import WIDTH, answer_text, counted, to_text, wrap

__all__ = [
    "WIDTH",
    "Column",
    "Section",
    "Table",
    "answer_html",
    "answer_markdown",
    "answer_text",
    "counted",
    "format_value",
    "to_csv",
    "to_frame",
    "to_html",
    "to_json",
    "to_markdown",
    "to_polars",
    "to_text",
    "wrap",
]
