"""How an explanation words numbers and lays out lines."""

from __future__ import annotations

import math
import textwrap
from typing import Final

from planner import render, units

SHOWN: Final = 5  # significant digits of a number within a formula
SMALL: Final = 1e-4
LARGE: Final = 1e6
WHOLE: Final = 1e13  # whole numbers below are shown with all their digits


def number(value: float, digits: int, infinite: str = "saturated") -> str:
    """A number with so many significant digits, without an exponent where that reads well."""
    if math.isinf(value):
        return infinite
    if float(value).is_integer() and abs(value) < WHOLE:
        return f"{value:.0f}"
    if SMALL <= abs(value) < LARGE:
        text = f"{value:.{max(digits - 1 - math.floor(math.log10(abs(value))), 0)}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:.{digits}g}"


def readable(value: float, unit: str) -> str:
    """A value in SI as people read it: times in milliseconds, sizes in GB."""
    name, factor = units.shown(unit)
    if math.isfinite(value) and name != unit:
        return f"{number(value / factor, SHOWN)} {name}"
    return number(value, SHOWN) + (f" {unit}" if unit and math.isfinite(value) else "")


def body(table: render.Table) -> str:
    """A table without its heading."""
    return "\n".join(render.to_text(table).splitlines()[1:])


def hanging(text: str, head: str) -> str:
    """A paragraph behind its head, broken at the width of a terminal."""
    return textwrap.fill(text, render.WIDTH, initial_indent=head, subsequent_indent=" " * len(head))


def indent(text: str) -> str:
    """All lines moved to the right by two."""
    return "\n".join(f"  {line}" for line in text.splitlines())
