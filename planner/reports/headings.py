"""How the headings of a DSPACESH listing (FCX134) look, and what is said where they stand alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from planner.reports.listing import Line

DSPACESH: Final = "FCX134"
LEFT: Final = (
    "Userid", "Data", "Space", "Name", "Permt", "Pgstl", "Pgrds", "Pgwrt", "X-rds", "X-wrt", "X-mig",
)  # fmt: skip
RIGHT: Final = ("Total", "Resid", "R<2GB", "Lock", "L<2GB", "Count", "Lockd", "XSTOR", "DASD")
NO_HEAD: Final = (
    "a half of a DSPACESH listing without its page head: expected a DSPACESH listing, which starts with "
    f"'{DSPACESH}  Run ...'"
)
STRAY_ROW: Final = "a row without its page head: expected 'FCXnnn  Run ...' and a heading above it"


def is_header(line: Line, headings: Sequence[str]) -> bool:
    """Whether most of the headings stand on this line."""
    return len(set(headings) & set(line.text.split())) > len(headings) // 2


def is_half(line: Line) -> bool:
    """Whether this is the heading of either half."""
    return is_header(line, LEFT) or is_header(line, RIGHT)
