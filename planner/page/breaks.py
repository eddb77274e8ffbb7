"""What breaks first, for the page: the limits of a site in order of date, and the picture of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from planner.page.content import Part, Tile
from planner.page.verdict import ALREADY, WITHIN
from planner.site.growth import Growth
from planner.site.growth.dates import Limit

TITLE: Final = "What breaks first"
FEW: Final = 8  # rows that are seen at a glance


def breaks(answer: Growth, part: Part) -> Part:
    """Put a title and tiles to the tables and the picture of limits."""
    already = [each for each in answer.limits if each.verdict == ALREADY]
    later = [each for each in answer.limits if each.verdict == WITHIN]
    years = f"within {answer.horizon / 365.25:.3g} years"
    state = "bad" if already else "good"
    tiles = (
        Tile(label="limits passed already", value=str(len(already)), detail=_first(already), state=state),
        Tile(label="limits reached", value=str(len(later)), detail=years),
        Tile(label="the first of them", value=str(later[0].reached) if later else "none", detail=_first(later)),
    )  # fmt: skip
    grids = tuple(replace(each, sortable=len(each.rows) > FEW) for each in part.grids)
    return replace(part, title=TITLE, tiles=tiles, grids=grids)


def _first(limits: list[Limit]) -> str:
    """Name of the first of them."""
    return limits[0].measured.name if limits else ""
