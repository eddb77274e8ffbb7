"""A pool or volume in full: its curves, its need over time, what the measurement may mean, its tables and notes."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from planner.answer import tabled
from planner.demand import Target
from planner.page.content import Item, Limits, PagePicture, grid, sections
from planner.page.drawing import Course, Curve, Week
from planner.quantity import column
from planner.render.text import word
from planner.site.pool_need import PoolNeed
from planner.site.site_picture import LEVELS
from planner.sizing import AliasAnswer
from planner.style import NINETY
from planner.units import MILLISECOND, readable

CURVE_KEY: Final = (
    ("line", "chosen demand"),
    ("band", NINETY),
    ("measured", "measured"),
    ("pick", "recommended"),
    ("strip", "range of the count"),
)
COURSE_KEY: Final = (("need", "needed"), ("used", "in use"))
WEEK_KEY: Final = tuple(zip(("half", "much", "over"), LEVELS[1:], strict=True))
RULES: Final = {
    "in_use_plus_queue": "in use plus queue",
    "high_water": "high water",
    "paths_less_one": "paths less one",
}
READINGS: Final = (
    column("words", label="demand"),
    column("weight", "share", "weight", 2),
    column("count", label="aliases", decimals=0),
    column("io_rate", "1/s", "I/O rate with the recommended", 1),
)


def _curves(answer: AliasAnswer, ident: str) -> tuple[PagePicture, ...]:
    """Rate and response over aliases."""
    measured = () if answer.growth else answer.measured
    found = []
    for name, unit, values, band, size in (
        ("I/O rate", "1/s", answer.rows.io_rate, answer.rate, 1.0),
        ("response", "ms", answer.rows.response_time, answer.response, MILLISECOND),
    ):
        curve = Curve(
            name=name, unit=unit, counts=answer.rows.aliases, values=np.asarray(values) / size,
            low=np.asarray(band.low) / size, high=np.asarray(band.high) / size, recommended=answer.recommended,
            span=answer.range, measured=measured,
        )  # fmt: skip
        found.append(PagePicture(svg=curve.draw(f"{ident}-{name[0]}"), caption=curve.words(), key=CURVE_KEY))
    return tuple(found)


def item_of(answer: AliasAnswer, ident: str, state: str = "") -> Item:
    """A pool or volume in full."""
    readings = grid(
        tabled(answer.readings, READINGS), f"{ident}-readings", "The preferred one first.",
        title="What the measurement may mean",
    )  # fmt: skip
    return Item(
        ident=ident, name=answer.name, headline=answer.headline, verdict=state, figures=_curves(answer, ident),
        grids=(readings, *sections(answer.sections(), ident, limits_of(answer.target))),
        notes=tuple(note for note in answer.notes if note != answer.remarks.step), decides=answer.remarks.step,
    )  # fmt: skip


def limits_of(target: Target) -> Limits:
    """Above what the columns of a target are shaded."""
    given = {
        "wait": target.wait and target.wait / MILLISECOND,
        "response": target.response and target.response / MILLISECOND,
        "queued": target.queued, "no_alias": target.no_alias,
    }  # fmt: skip
    plain: Limits = {"wait": ("service", target.wait_share)} if target.of_waits else {}
    return {key: limit for key, limit in given.items() if limit is not None} or plain


def over_time(need: PoolNeed, answer: AliasAnswer | None, ident: str, fewest: int = 10) -> Item:
    """A pool over its days, drawn from `fewest` intervals on, and its whole answer in the interval that decides."""
    series = need.series
    figures: list[PagePicture] = []
    if not np.isnat(series.start).any() and series.start.size >= fewest:
        course = Course(
            start=series.start, seconds=series.seconds, needed=series.needed, in_use=series.in_use
        )
        week = Week(hours=need.hours, in_use=float(need.in_use))
        figures = [
            PagePicture(svg=course.draw(f"{ident}-n"), caption=course.words(), key=COURSE_KEY),
            PagePicture(svg=week.draw(f"{ident}-w"), caption=week.words(), key=WEEK_KEY),
        ]
    said = f"{need.name}: {need.problem or 'no answer'}."
    if need.needed is not None:
        said = f"{need.name}: {need.needed} needed ({need.needed_low} to {need.needed_high}), {need.in_use} in use."
    counts = map(readable, (need.intervals, need.busy_intervals, need.solved_in_full))
    solved = "Of {} intervals {} are busy; {} were solved in full.".format(*counts)
    rules = [f"{RULES.get(name, name)} {count}" for name, count in need.rules.items() if count is not None]
    notes = [solved, *need.notes, *([f"Rules of the field: {', '.join(rules)}."] if rules else ())]
    notes += [f"Supply counters: {need.supply}."] if need.supply else []
    plain = Item(
        ident=ident, name=need.name, headline=said, verdict=word(need.verdict), figures=tuple(figures),
        notes=tuple(notes),
    )  # fmt: skip
    if answer is None:
        return plain
    whole = item_of(answer, ident, word(need.verdict))
    if answer.in_use != need.in_use:
        notes.append(
            f"{answer.in_use} aliases were in use in the interval that decides, {need.in_use} are in the last."
        )
        plain = replace(plain, notes=tuple(notes))
    return replace(
        plain, figures=(*whole.figures, *plain.figures), grids=whole.grids, decides=whole.decides,
        notes=(f"The interval that decides: {whole.headline}", *plain.notes, *whole.notes),
    )  # fmt: skip
