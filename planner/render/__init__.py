"""Columns (name, unit, values) to a text table, CSV, JSON, HTML or a data frame; knows no model."""

from planner.render.data import to_csv, to_frame, to_json
from planner.render.page import to_html
from planner.render.table import Column, Table, format_value
from planner.render.text import WIDTH, counted, to_text, wrap

__all__ = [
    "WIDTH",
    "Column",
    "Table",
    "counted",
    "format_value",
    "to_csv",
    "to_frame",
    "to_html",
    "to_json",
    "to_text",
    "wrap",
]
