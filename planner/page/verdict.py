"""The first three sentences of a page: what to do, by when, how sure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

import numpy as np

from planner.render.text import ENOUGH, SHORT, SPARE, STATES, UNKNOWN, counted, from_to, listed
from planner.site.growth import Growth
from planner.site.growth.answer import ahead
from planner.site.growth.dates import Limit
from planner.site.site_answer import SiteAnswer
from planner.sizing.comparison import Count
from planner.units import percent

NAMED: Final = 2  # pools named in a sentence
ALREADY, WITHIN, BEYOND = "already", "within horizon", "not within horizon"


def what_to_do(states: Mapping[str, Count], share: float = 0.0) -> str:
    """First sentence: pools that need more aliases or have spare ones, for a demand that grew by `share`."""
    by = {verdict: [name for name, state in states.items() if state.verdict == verdict] for verdict in STATES}
    short = sorted(by[SHORT], key=lambda name: -states[name].missing)
    spare = sorted(by[SPARE], key=lambda name: -states[name].spare)
    enough, unknown = by[ENOUGH], by[UNKNOWN]
    parts = [_lacks(name, states[name]) for name in short[:NAMED]]
    if len(short) > NAMED:
        rest = sum(states[name].missing for name in short[NAMED:])
        parts.append(f"{counted(len(short) - NAMED, 'more is', 'more are')} short of {rest:,} in all")
    parts += [f"{name} has {states[name].spare} to spare" for name in spare[:NAMED]]
    if len(spare) > NAMED:
        rest = sum(states[name].spare for name in spare[NAMED:])
        parts.append(f"{counted(len(spare) - NAMED, 'more has', 'more have')} {rest:,} to spare")
    if enough:
        all_of = "both" if len(states) == 2 else f"all {len(states)}"  # noqa: PLR2004 - both are two
        every = all_of if len(enough) == len(states) else f"{len(enough)} others"
        who = f"{enough[0]} has" if len(enough) == 1 else f"{every} have"
        parts.append(f"{who} enough{' aliases' * (len(parts) == 0)}")
    if unknown:
        parts.append(f"{counted(len(unknown), 'has', 'have')} no answer")
    said = "; ".join(parts)
    return f"{'Today' if not share else f'At {percent(share)} more load'}: {said}."


def _lacks(name: str, state: Count) -> str:
    ends = f", 90 %: {state.low} to {state.high}" if state.low != state.high else ""
    return f"{name} needs {state.missing} more ({state.needed} instead of {state.in_use}{ends})"


def by_when(growth: Growth, states: Mapping[str, Count]) -> str:
    """Second sentence: limits and dates; a pool with spare aliases today and too few later is one item."""
    found = [_one(each, states) for each in growth.limits if each.verdict in {ALREADY, WITHIN}]
    found = [each for each in found if each]
    within = ahead(growth.horizon)
    if not found:
        if any(each.verdict == BEYOND for each in growth.limits):
            return f"By the trend nothing else runs out within {within}."
        return "There is no trend for a date."
    more = len(found) - NAMED
    others = counted(more, "more limit is", "more limits are")
    rest = f"; {others} reached within {within}" if more > 0 else ""
    return f"By the trend {'; '.join(found[:NAMED])}{rest}."


def _one(limit: Limit, states: Mapping[str, Count]) -> str:
    """Clause for one limit; empty if the first sentence covers it."""
    label, state = limit.measured, states.get(limit_name(limit))
    who = f"{label.what} of {label.system}" if label.system else label.what
    if label.unit == "aliases" and state is not None:
        who = limit_name(limit)
        if limit.verdict == ALREADY:
            return "" if state.verdict == SHORT else f"{who} is short over the last days alone"
        some = f"has {state.spare} to spare today and " if state.verdict == SPARE else ""
        return f"{who} {some}needs more than its {state.in_use} from {month(limit.reached)} on ({_between(limit)})"
    if limit.verdict == ALREADY:
        return f"{who} is past its limit already"
    return f"{who} reaches its limit in {month(limit.reached)} ({_between(limit)})"


def limit_name(limit: Limit) -> str:
    """The pool or volume of a limit, by its name in a site."""
    name = limit.measured.what.partition(" of ")[2].removeprefix("pool ")
    return f"{limit.measured.system}/{name}" if limit.measured.system else name


def month(day: date | None) -> str:
    """Month and year of a date; a trend is not more precise."""
    return f"{day:%B %Y}" if day else "later"


def _between(limit: Limit) -> str:
    low, high = (month(day) for day in (limit.reached_low, limit.reached_high))
    return f"90 %: {low} to {high}" if low != high else f"90 %: within {low}"


def how_sure(answer: SiteAnswer) -> str:
    """Third sentence: widest range, number of intervals, share of the time, and what was not measured."""
    known = [each for each in answer.pools if each.needed is not None]
    fewest, most = (end((each.intervals for each in known), default=0) for end in (min, max))
    wide = max(((each.needed_high or 0) - (each.needed_low or 0) for each in known), default=0)
    queue = sum(bool(np.isnan(each.series.queued).all()) for each in known)
    spans = f"the widest range of a count spans {wide + 1} counts"
    ends = spans if wide else "each count is exact to one alias"
    where = "" if queue == len(known) else f"in {counted(queue, 'pool')} "
    blind = f"; {where}no queue was measured, so requests are assumed independent"
    return (
        f"Sure at 90 %: {ends}, from {from_to(fewest, most)} measured interval{'s' * (most != 1)}"
        f"{' of each' * (len(known) > 1)} in {percent(answer.meet, 5)} of the busy time{blind if queue else ''}."
    )


def period(answer: SiteAnswer) -> str:
    """Title with systems and days."""
    systems = sorted({each.system for each in answer.pools if each.system})
    starts = [each.series.start[~np.isnat(each.series.start)] for each in answer.pools]
    ends = [str(end(some))[:10] for some in starts if some.size for end in (np.min, np.max)]
    when = " to ".join(dict.fromkeys([min(ends), max(ends)])) if ends else ""
    return ", ".join(filter(None, (listed(systems, 3), when)))


def first_words(answers: Sequence[object], states: Mapping[str, Count]) -> tuple[str, ...]:
    """Sentences that do not change with the slider: by when, how sure."""
    found = [by_when(each, states) for each in answers if isinstance(each, Growth)]
    return (*found, *(how_sure(each) for each in answers if isinstance(each, SiteAnswer)))
