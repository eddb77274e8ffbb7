"""What every pool of a site needs over its days: `site` asks, `need_of` answers a part, `combine` joins the parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from planner import parallel, units
from planner.demand import Target
from planner.errors import InputError, PlannerError
from planner.lazy import pl
from planner.measurements.choose import POOL, VOLUME, Group
from planner.measurements.ends import QUEUES_UNKNOWN
from planner.measurements.over_time import RunsOverTime, over_time, pool_supplies
from planner.measurements.read import Data
from planner.measurements.run import BY_CHANCE, Run, joined_note
from planner.render.text import SHORT, SPARE, UNKNOWN, from_to, word
from planner.results import Array, Flags
from planner.site.parts import DEFAULT_MEET, SitePart, parts_of, rows_of_part
from planner.site.pool_need import (
    VERDICTS,
    NeedSeries,
    PoolCases,
    PoolNeed,
    deciding,
    notes_of,
    outside_busy_hour,
    time_quantile,
    whole,
)
from planner.site.series import began
from planner.site.site_answer import SiteAnswer
from planner.sizing.gaps import floor_words, since, unanswered
from planner.sizing.many_volumes import NO_POOL_NAMED
from planner.sizing.need import Need, need, worst_by_need
from planner.sizing.wording import RANGE_ONLY
from planner.supply import PoolAnswer, judge
from planner.supply.answer import NO_ALIAS
from planner.units import MOST_ALIASES, percent


def site(
    source: Data,
    *,
    meet: float | str = DEFAULT_MEET,
    scheduler: str | None = None,
    workers: int | None = None,
    **asked: Any,
) -> SiteAnswer:
    """Find what every pool or volume needs over its days; `asked` is what `parts_of` takes."""
    if isinstance(source, (list, tuple)) and not source:
        raise InputError("source", source, "at least one file or data frame")
    share = units.share(meet, "meet", zero=False)
    if share > 1.0:
        raise InputError("meet", meet, "a share above 0 and at most 100%")
    parts, notes, lost = parts_of(source, meet=share, **asked)
    found = parallel.run(need_of, parts, scheduler=scheduler, workers=workers)
    answer = combine(found, target=parts[0].target, meet=share, notes=notes)
    if len(answer.pools) > 1 and all(each.kind == VOLUME and not each.in_use for each in answer.pools):
        answer = replace(answer, remarks=(*answer.remarks, NO_POOL_NAMED))
    return replace(answer, device_model=parts[0].device_model, gaps=lost)


def need_of(part: SitePart) -> list[PoolNeed]:
    """What the groups of a part need: all of their intervals in one question, and the range of those that decide."""
    asked: list[PoolCases] = []
    pools: list[PoolNeed] = []
    rows, counters = rows_of_part(part)
    for group, found in over_time(rows, part.groups):
        if isinstance(found, str):
            pools.append(PoolNeed(system=group.system, pool=group.name, kind=_kind(group), problem=found))
        else:
            asked.append(PoolCases.of(found))
    cases = [case for each in asked for case in each.cases.values()]
    needs = iter(need(cases, part.device_model, part.target, ranges=False))
    supplies = [supplied(counters, each.pool.group.system, each.pool.group.name) for each in asked]
    counted = [
        _counted(part, each, [next(needs) for _ in each.cases], supply_words, most_used)
        for each, (supply_words, most_used, _) in zip(asked, supplies, strict=True)
    ]
    decided = [(found.run,) for found in counted if found.run is not None]
    ranged = iter(need(decided, part.device_model, part.target))
    return pools + [
        found if found.run is None else _by_counters(_ranged(found, next(ranged)), judged)
        for found, (*_, judged) in zip(counted, supplies, strict=True)
    ]


def _kind(group: Group) -> str:
    return VOLUME if group.kind == VOLUME else POOL


def _counted(
    part: SitePart, asked: PoolCases, needs: Sequence[Need], supply_words: str, most_used: int | None
) -> PoolNeed:
    """The need of one pool over all intervals, with the run of the interval that decides."""
    pool, busy = asked.pool, asked.busy
    needed, problems = asked.needed(needs), asked.problems(needs)
    working = [k for k, case in asked.cases.items() if case]
    shown = NeedSeries(
        start=pool.start, seconds=pool.seconds, needed=needed, in_use=pool.in_use.astype(np.float64),
        io_rate=pool.io_rate, response=pool.response, queued=pool.queued, busy=busy,
    )  # fmt: skip
    solved = int(np.isfinite(needed[working]).sum())
    found = PoolNeed(
        system=pool.group.system, pool=pool.group.name, kind=_kind(pool.group),
        volumes=int(pool.bases.max(initial=0)), in_use=int(pool.in_use[-1]), intervals=needed.size,
        busy_intervals=int(busy.sum()), solved_in_full=solved,
        short_intervals=int((asked.mattering & (needed > pool.in_use)).sum()),
        shares=part.shares.get(pool.group.name, {}),
        rules=rules(pool, busy, part.meet, most_used), supply=supply_words,
        notes=tuple(_notes(pool, working, problems, together=bool(part.together))), series=shown,
    )  # fmt: skip
    known = np.isfinite(needed)
    if not known.any() or (busy.any() and not known[busy].any()) or (problems and not solved):
        return replace(found, problem=next(iter(problems.values()), "no interval with all of its numbers"))
    return _decided(part, asked, needs, found)


def _notes(
    pool: RunsOverTime, working: Sequence[int], problems: dict[int, str], *, together: bool
) -> list[str]:
    notes = notes_of(pool)
    if np.isnan(pool.queued[working]).any():
        notes += [QUEUES_UNKNOWN, *([RANGE_ONLY[:-1]] if together else [])]
    if pool.joined > 1:
        notes.append(joined_note(pool.joined))
    if any(isinstance(run := pool.runs[k], Run) and run.by_samples for k in working) and len(working) > 1:
        notes.append(BY_CHANCE)
    if problems and pool.start.size > 1:
        notes.append(unanswered(problems, pool.start.size, lambda at: began(pool.start, at)))
    return notes


def _decided(part: SitePart, asked: PoolCases, needs: Sequence[Need], found: PoolNeed) -> PoolNeed:
    """The counts that are reported, and the intervals that decide them."""
    series, start, busy = found.series, asked.pool.start, asked.busy
    places = list(asked.cases)
    worst = worst_by_need(needs, list(asked.cases.values()))
    assert worst is not None
    found = replace(found, needed_worst=needs[worst].count, worst_start=began(start, places[worst]))
    if not busy.any():  # measured, and never any I/O
        return replace(found, needed=0, needed_99=0, needed_95=0, needed_low=0, needed_high=0)
    at_99, at_95, place = (
        deciding(series.needed, asked.pool.load, series.seconds, busy, share, asked.mattering)
        for share in (0.99, 0.95, part.meet)
    )
    assert at_99 is not None and at_95 is not None and place is not None
    needed, needed_99, needed_95 = (whole(series.needed[at]) for at in (place, at_99, at_95))
    found = replace(found, needed=needed, needed_99=needed_99, needed_95=needed_95)
    if found.needed is None:
        return replace(found, problem=needs[places.index(place)].problem)
    run, more = since(asked.cases[place][-1], found.in_use)
    found = replace(found, run=run, decided_start=began(start, place))
    notes = list(found.notes)
    if away := outside_busy_hour(found.name, start, series.seconds, series.io_rate, place):
        notes.append(away.removeprefix(f"{found.name} is "))
    notes += [more] if more else []
    if found.count.too_quiet:
        notes.append(f"too quiet to matter, with {floor_words()}")
    return replace(found, notes=tuple(notes))


def rules(pool: RunsOverTime, busy: Flags, meet: float, high_water: int | None) -> dict[str, int | None]:
    """Counts by the field's rules of thumb, each enough for the share `meet` of the busy time."""
    thumb: Array = np.ceil(np.round(pool.thumb, 6)) + pool.in_use
    queue = time_quantile(thumb[busy], pool.seconds[busy], meet)
    return {
        "in_use_plus_queue": None if math.isnan(queue) else int(queue),
        "high_water": high_water,
        "paths_less_one": None if math.isnan(pool.paths) else int(pool.paths) - 1,
    }


def _ranged(found: PoolNeed, decided: Need) -> PoolNeed:
    """Put the range of the interval that decides beside the count."""
    beside = decided.apart if decided.count is not None else (f"no range: {decided.problem}",)
    return replace(found, needed_low=decided.low, needed_high=decided.high, notes=(*found.notes, *beside))


def _by_counters(found: PoolNeed, judged: PoolAnswer | None) -> PoolNeed:
    """The need by supply counters in place of the count, where they cover the interval that decides."""
    if judged is None or found.count.verdict == UNKNOWN or not _covered(found, judged):
        return found
    needed = MOST_ALIASES if judged.aliases_needed is None else judged.aliases_needed
    # The verdict is theirs as well: enough are those that the counters leave in use.
    ends = {SHORT: judged.needed_high or MOST_ALIASES, SPARE: needed}
    high = ends.get(word(judged.verdict), found.in_use)
    by_count = f"{found.needed} ({from_to(found.needed_low, found.needed_high)})"
    note = f"supply counters decide ({found.supply}); the averages would say {by_count}"
    return replace(
        found, counters=judged, needed=needed, needed_low=judged.needed_low, needed_high=high,
        notes=(*found.notes, note),
    )  # fmt: skip


def _covered(found: PoolNeed, judged: PoolAnswer) -> bool:
    """Whether counters cover the interval that decides, with the aliases in use, and do not say better of it."""
    supply, series = judged.supply, found.series
    if judged.verdict is None or judged.aliases != found.in_use:
        return False
    if supply.start is None or found.decided_start is None:
        return False
    (seconds,) = series.seconds[series.start == np.datetime64(found.decided_start, "us")][:1]
    first = supply.start.replace(tzinfo=None)
    since = supply.time - supply.length / 2 - (found.decided_start - first).total_seconds()
    there = (since >= 0) & (since < seconds) & (supply.aliases == found.in_use)
    failed = supply.fails[there].sum() > NO_ALIAS * supply.tries[there].sum()
    unlike = failed and word(judged.verdict) != SHORT  # a bad hour of many good ones
    return bool(supply.length[there].sum() >= seconds / 2 and not unlike)


def combine(
    results: Sequence[list[PoolNeed] | parallel.Failed],
    *,
    target: Target,
    meet: float = DEFAULT_MEET,
    notes: Sequence[str] = (),
) -> SiteAnswer:
    """Join what was found of the parts of a site; a volume with the name of a pool is told apart."""
    pools = [pool for each in results if not isinstance(each, parallel.Failed) for pool in each]
    failed = [(each.name, each.problem) for each in results if isinstance(each, parallel.Failed)]
    named = {pool.name for pool in pools if pool.kind == POOL}
    pools = [
        replace(pool, pool=f"volume {pool.pool}") if pool.kind == VOLUME and pool.name in named else pool
        for pool in pools
    ]
    order = tuple(sorted(pools, key=_order))
    return SiteAnswer(pools=order, target=target, meet=meet, remarks=tuple(notes), failed=tuple(failed))


def _order(found: PoolNeed) -> tuple[int, int, str, str]:
    """Those that are short first, by how much they lack; then those without an answer; most to spare next."""
    return VERDICTS.index(found.verdict), -(found.to_add or found.to_gain), found.system, found.pool


def supplied(frame: pl.DataFrame | None, system: str, pool: str) -> tuple[str, int | None, PoolAnswer | None]:
    """What the counters of one pool say; the most aliases in use; the answer that they give."""
    if frame is None:
        return "", None, None
    rows = frame.filter((pl.col("pool") == pool) & (pl.col("system").fill_null("") == system))
    tries, fails = (int(rows[name].fill_null(0).sum()) for name in ("tries", "fails"))
    if not rows.height or not tries:
        return "", None, None
    used = pl.coalesce(
        pl.col("most_used").cast(pl.Int64),
        pl.col("aliases").cast(pl.Int64) - pl.col("fewest_free").cast(pl.Int64),
    )
    most = rows.filter(pl.col("tries") > 0).select(used.max()).item()
    words = f"{percent(fails / tries)} without"
    found = None
    with suppress(PlannerError):
        (found,) = judge(pool_supplies(rows, Path("supply"))).pools
        if found.verdict is not None:
            needed = "" if found.aliases_needed is None else f", {found.aliases_needed} needed"
            words = f"{word(found.verdict)}: {words}{needed}"
    return words, most, found
