"""What the numbers mean, in sentences: the demand that was read, what to know of it, what to do next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from planner import render
from planner.demand import Counts
from planner.measurements import Run
from planner.render.text import from_to, sentence_case
from planner.sizing.answer import NOT_SURE, AliasAnswer, NamedDemand
from planner.units import percent, readable

LEAST_ERROR: Final = 0.005  # of a wait; less is negligible
RANGE_ONLY: Final = (
    "Where no queue was measured, that I/Os of several volumes come together moves the range only."
)
EACH_READ: Final = "each volume is read for itself"
MOST_NAMED: Final = 4  # candidates beside the preferred one
PATH_SHARE: Final = 1 / 3  # of the service time in pend or disconnect: the limit lies behind the volume


def each_in(intervals: Sequence[str]) -> str:
    """In which of several intervals each of many was answered; nothing where there was one."""
    chosen = [interval for interval in intervals if interval]
    worst = any(not interval.startswith("mean") for interval in chosen)
    return f", each {'in the worst' if worst else 'by the mean'} of its intervals" if chosen else ""


def demand(demands: Sequence[NamedDemand], recommended: int) -> str:
    """Name the candidate that was taken and what the others would say."""
    first = demands[0]
    about = "about " if first.kind == "closed" and not first.words.startswith("about") else ""
    aliases = render.counted(recommended, "alias", "aliases")
    text = f"Demand: {about}{first.words}; {aliases} would give {readable(first.io_rate)}/s."
    others = list(dict.fromkeys(map(_short, demands[1:])))
    if len(others) > MOST_NAMED:
        others = [*others[: MOST_NAMED - 1], f"... {others[-1]}"]
    if others:
        text += f" The measurement also fits (need, rate with {recommended}): {', '.join(others)}."
    return text


def _short(named: NamedDemand) -> str:
    words = named.words
    if named.kind == "closed" and named.population is not None:
        words = f"{readable(named.population)} requester{'' if named.population == 1 else 's'}"
    count = "no count" if named.count is None else render.counted(named.count, "alias", "aliases")
    return f"{words} ({count}, {readable(named.io_rate)}/s)"


def of_volume(runs: Sequence[Run], counts: Counts, *, bursty: bool, several: bool) -> list[str]:
    """Sentences for one volume; `several` says that its demands want several counts."""
    more = []
    if bursty and several and len(runs) == 1:
        more.append(
            "One row of averages does not tell how the I/Os come together, hence the range. A row with another number "
            "of aliases decides."
        )
    if counts.taken_over[0] and not counts.saturated[0]:
        more.append(
            "With a shorter queue the answer would be higher: a wait this long is interpreted as temporary overload. "
            f"Were it batches, {_most(int(counts.most[0]))} would be needed."
        )
    if counts.open_above[0]:
        more.append(
            "Nothing waits with the aliases in use: how much burstier the demand could be is open above."
        )
    if counts.extrapolated[0]:
        more.append(
            "More than 3 I/Os in service at once, as many as the model was measured with: from there on the growth of "
            "the service time is extrapolated."
        )
    return more


def with_sentences(
    runs: Sequence[Run], answer: AliasAnswer, first: Sequence[str], more: Sequence[str], *, open_yet: bool
) -> AliasAnswer:
    """The demand in words, sentences before and after those of the measurement, and the next step."""
    run = runs[-1]
    grown = [f"Demand grown by {percent(answer.growth)} first."] if answer.growth else []
    return replace(
        answer,
        why=demand(answer.readings, answer.recommended),
        more=(*first, *_together(run), *run.notes, *more, *grown, *behind(run)),
        step=next_step(runs, answer.recommended, answer.range[1], helps=answer.helps, open_yet=open_yet),
    )


def _most(count: int) -> str:
    return f"{count} aliases" if count < 255 else "more than there are addresses for"  # noqa: PLR2004


def together_words(share: float) -> str:
    """How much I/Os were said to come together."""
    return (
        f"The volumes' I/Os are taken to come together to {percent(share)}, as given (0 % independent, 100 % "
        "all at once)."
    )


def _together(run: Run) -> list[str]:
    """The same of a pool, where that was said of its volumes."""
    given = np.broadcast_to(np.asarray(run.together), run.io_rate.value.shape)
    known = given[~np.isnan(given)]
    if run.bases == 1 or not known.size:
        return []
    low, high = float(known.min()), float(known.max())
    if not run.queue_known and high > 0:
        return [RANGE_ONLY]
    if known.size == given.size and low == high:
        return [together_words(low)]
    ends = from_to(percent(low), percent(high))
    return [
        f"The I/Os of {known.size} of {run.bases} volumes are taken to come together with those of others to {ends}, "
        "as given (0 % independent, 100 % all at once)."
    ]


def behind(run: Run) -> list[str]:
    """Where the limit lies behind the volume."""
    found = []
    if run.path_share is not None and run.path_share > PATH_SHARE:
        found.append(
            f"Pend or disconnect takes {percent(run.path_share)} of the service time: the limit lies behind the "
            "volume, in channels or storage server; look there before adding aliases."
        )
    if run.cu_wait:
        found.append("The control unit is waited for (CUWt above 0): the limit lies behind the volume.")
    return found


def next_step(  # noqa: PLR0911 - one sentence a case
    runs: Sequence[Run], recommended: int, high: int, *, helps: bool, open_yet: bool
) -> str:
    """What to do next, from the latest measurement and the counts that were measured."""
    run = runs[-1]
    counts = {each.aliases: each for each in runs}
    if not run.queue_known and high > recommended:
        return "Next: ask again with the queue, or the response; either decides."
    if recommended == 0 and run.aliases == 0:
        if run.queue_known and run.total_queue.value <= 0:
            return "Aliases will not help: no I/Os are waiting."
        return "Next: nothing; the wait is within the target without aliases."
    if not helps:
        return "Next: nothing to add; what makes the service time is the place to look."
    if run.last_aliases is not None:
        missing = recommended - run.last_aliases
        what = f"add {render.counted(missing, 'alias', 'aliases')}" if missing > 0 else "nothing to add"
        return f"Next: {what}; the last interval had {run.last_aliases}, this one {run.aliases}."
    if recommended in counts and len(counts) > 1:
        seen = counts[recommended]
        source = f", {seen.source}" if seen.source else ""
        words = f"{recommended} were measured ({readable(seen.total_rate.value)}/s{source})"
        if recommended == run.aliases:
            return f"Next: nothing; {words} and are in use."
        return f"Next: set {recommended}; {words}, so that there is nothing to measure again."
    if recommended > run.aliases:
        more = recommended - run.aliases
        text = f"Next: add {more} alias{'es' if more > 1 else ''} and measure again"
        decides = (
            "; both listings together, of two alias counts, decide which demand it is" if len(counts) == 1
            else "; all listings together decide which demand it is"
        )  # fmt: skip
        return text + (decides if open_yet else "") + "."
    if high < run.aliases:
        could = f"{run.aliases - high} of the {run.aliases} aliases in use can be freed"
        return f"Next: {could}; take some away and measure again."
    if recommended < run.aliases:
        return f"Next: nothing; the aliases in use are {NOT_SURE}."
    return "Next: nothing; the aliases in use are enough, and none is spare."


def of_pool(answer: AliasAnswer, volumes: int, classes: int) -> list[str]:
    """Sentences for one pool of steady demand, whose volumes were taken as this many classes."""
    more, error = gained(answer), answer.grouping_error
    if error >= LEAST_ERROR:
        shown = render.counted(classes, "class", "classes")
        bound = f"about {percent(error)}" if math.isfinite(error) else "an unknown share"
        more.append(
            f"{volumes} volumes taken as {shown}, by which the wait of a volume may be off by {bound}."
        )
    return more


def gained(answer: AliasAnswer) -> list[str]:
    """What classic PAV would take; which volumes gain by more aliases, where they are unequal and some do."""
    found, recommended, gains = [], answer.recommended, answer.gains
    if answer.classic is not None and answer.classic > recommended:
        saved = render.counted(answer.classic - recommended, "device number")
        found.append(
            f"Classic PAV would take {answer.classic} aliases for the same target: the pool saves {saved}."
        )
    if len(gains) > 1 and recommended > answer.in_use and any(gain.gains for gain in gains):
        shown = "; ".join(str(gain) for gain in gains[:MOST_NAMED])
        rest = sum(gain.volumes for gain in gains[MOST_NAMED:])
        more = f"; {render.counted(rest, 'further volume')}" if rest else ""
        found.append(f"Gain with {recommended}: {shown}{more}.")
    return found


def of_bursty_pool(runs: Sequence[Run], answer: AliasAnswer) -> list[str]:
    """Sentences for a pool with bursty volumes."""
    how = sentence_case(EACH_READ)
    if answer.saturated:
        how += ", one that never idles as if its I/Os waited for three services"
    more = [
        f"{how}, and the pool drawn many times with one candidate of each. The range is that of the draws; supply "
        "counters of the pool (planner aliases supply) decide."
    ]
    if len({each.aliases for each in runs}) > 1:
        more.append(
            "Draws count as far as they have the queues that were measured with the other numbers of aliases."
        )
    return [*more, *gained(answer)]
