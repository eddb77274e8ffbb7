"""Turn answers into parts of the page: one function per kind of answer, and one for all others."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from planner import files, render
from planner.answer import Answer, tabled
from planner.demand import Target
from planner.page.content import AfterGrowth, Grid, Item, Limits, PagePicture, Part, Tile, grid, sections
from planner.page.drawing import Course, Curve, Week
from planner.page.verdict import ALREADY, WITHIN, what_to_do
from planner.quantity import column
from planner.render.text import ENOUGH, SHORT, SPARE, STATES, UNKNOWN, counted, from_to, listed, word
from planner.site.growth import Growth
from planner.site.growth.answer import ahead
from planner.site.pool_need import COUNTS as NEED_COUNTS
from planner.site.pool_need import PoolNeed
from planner.site.site_answer import RULES, SiteAnswer
from planner.site.site_picture import LEVELS
from planner.sizing import AliasAnswer, PoolCount, Subsystem, VolumesAnswer
from planner.sizing.comparison import Count
from planner.sizing.many_pools import POOLS
from planner.sizing.many_volumes import OVERVIEW
from planner.style import NINETY
from planner.supply import SupplyAnswer
from planner.units import MILLISECOND, percent, readable

LIMITS: Final[Limits] = {"short_share": 1.0}  # percent of the busy intervals above which a cell is shaded
COUNTS: Final = ("recommended", "recommended_low", "recommended_high")
ALWAYS: Final = ("pool", "verdict", *COUNTS)
LEFT_OUT: Final = ("classic_aliases", "saved")  # columns left out of the table of pools; CSV has them
COUNTED: Final = (
    POOLS[0],
    column("verdict", of="count.verdict"),
    *(each for each in POOLS[1:] if each.key not in LEFT_OUT),
)
BY_AVERAGES: Final = "by the averages, not by the supply counters that decide today"
MOST_ITEMS: Final = 400  # most pools and volumes with details on the page
Later = Sequence[tuple[float, Any]]
"""Growth shares, each with the same kind of answer for the grown demand."""


def part_of(
    answer: Answer, ident: str, *, full: Mapping[str, AliasAnswer] | None = None, grown: Later = (),
    remarks: tuple[str, ...] = (), system: str | None = None,
) -> Part:  # fmt: skip
    """Part of the page for an answer: `full` answers of its pools by name, those after growth; whose, of several."""
    part = _part(answer, ident, full or {}, [(0.0, answer), *grown])
    if system is not None:
        part = replace(part, title=f"{system}: {part.title}", data={"system": system, **part.data})
    return replace(part, notes=(*part.notes, *remarks))


def _part(answer: Answer, ident: str, full: Mapping[str, AliasAnswer], steps: Later) -> Part:
    """Choose the function for the kind of answer."""
    if isinstance(answer, AliasAnswer):
        return _alias(answer, ident, steps)
    if isinstance(answer, Subsystem):
        return _pools(answer, ident, full, steps)
    if isinstance(answer, VolumesAnswer):
        return _volumes(answer, ident, steps)
    if isinstance(answer, SiteAnswer):
        return _site(answer, ident, full, steps)
    if isinstance(answer, SupplyAnswer):
        return _supply(answer, ident)
    return _breaks(answer, ident) if isinstance(answer, Growth) else _any(answer, ident)


def _base(answer: Answer, ident: str, title: str, file: str) -> Part:
    """Parts common to every answer; `file` names its CSV table, with its index unless it is the first."""
    place = ident.removeprefix("p")
    return Part(
        title=title, headline=answer.headline, notes=answer.notes, data=answer.to_dict(),
        csv={f"{file}{'' if place == '0' else f'-{place}'}.csv": render.to_csv(answer.table())},
    )  # fmt: skip


def _any(answer: Answer, ident: str, title: str = "Answer", few: int = 1) -> Part:
    """Tables as in the other outputs, and the picture of the answer if it has one."""
    return replace(
        _base(answer, ident, title, "answer"), pictures=_picture(answer),
        grids=tuple(
            replace(each, sortable=len(each.rows) > few) for each in sections(answer.sections(), ident)
        ),
    )  # fmt: skip


def _picture(answer: Answer) -> tuple[tuple[str, str], ...]:
    """The picture as a separate image, so that its styles do not leak; empty if the answer has none."""
    if not answer.pictured:
        return ()
    picture = files.svg(answer.plot())
    return ((f"data:image/svg+xml;base64,{base64.b64encode(picture.encode()).decode()}", answer.headline),)


def _ranged(low: int, high: int) -> str:
    return f"range {low} to {high}" if high > low else "no other in the range"


# What breaks first.


def _breaks(answer: Growth, ident: str) -> Part:
    """The limits of a site in order of date."""
    already, later = (
        [each for each in answer.limits if each.verdict == verdict] for verdict in (ALREADY, WITHIN)
    )
    past, first = (each[0].measured.name if each else "" for each in (already, later))
    state = "bad" if already else "good"
    tiles = (
        Tile(label="limits passed already", value=str(len(already)), detail=past, state=state),
        Tile(label="limits still to be reached", value=str(len(later)), detail=f"within {ahead(answer.horizon)}"),
        Tile(label="the first of them", value=str(later[0].reached) if later else "none", detail=first),
    )  # fmt: skip
    # tables of at most 8 rows need no sorting
    return replace(_any(answer, ident, "What breaks first", 8), tiles=tiles)


# One volume or pool.


def _alias(answer: AliasAnswer, ident: str, steps: Later) -> Part:
    """One volume or pool: tiles, curves, readings, the table."""
    state = answer.count.verdict
    growth = tuple(
        AfterGrowth(share=share, tiles=_alias_tiles(each), counts={}, headline=each.headline)
        for share, each in steps
    )
    now = growth[0].tiles
    tiles = (
        Tile(label="aliases needed", value=now["needed"], detail=now["range"], state=STATES[state], follows="needed"),
        Tile(label="in use", value=str(answer.in_use)),
        Tile(label="I/O rate [1/s]", value=now["rate"], detail="with the needed aliases", follows="rate"),
        Tile(label="response [ms]", value=now["response"], detail="with the needed aliases", follows="response"),
    )  # fmt: skip
    return replace(
        _base(answer, ident, answer.name, "aliases"), tiles=tiles, items=(item_of(answer, f"{ident}-i0", state),),
        notes=(), growth=growth if len(growth) > 1 else (), growth_of="the measured demand",
    )  # fmt: skip


def _alias_tiles(answer: AliasAnswer) -> dict[str, str]:
    """Values of the tiles, as text."""
    rows, ends = answer.rows, (answer.in_use, answer.recommended)
    return {
        "needed": str(answer.recommended),
        "range": _ranged(*answer.range),
        "rate": _change([float(rows.io_rate[at]) for at in ends], 1),
        "response": _change([float(rows.response_time[at]) / MILLISECOND for at in ends], 2),
    }


def _change(ends: Sequence[float], digits: int) -> str:
    """Change from now to then; one number if both read the same."""
    return " \N{RIGHTWARDS ARROW} ".join(dict.fromkeys(readable(end, digits, zeros=True) for end in ends))


# Details of a pool or volume: curves, need over time, candidate demands, tables and notes.


CURVE_KEY: Final = (
    ("line", "chosen demand"),
    ("band", NINETY),
    ("measured", "measured"),
    ("pick", "recommended"),
    ("strip", "range of the count"),
)
COURSE_KEY: Final = (("need", "needed"), ("used", "in use"))
WEEK_KEY: Final = tuple(zip(("half", "much", "over"), LEVELS[1:], strict=True))
READINGS: Final = (
    column("words", label="demand"),
    column("weight", "share", "weight", 2),
    column("count", label="aliases", decimals=0),
    column("io_rate", "1/s", "I/O rate with the recommended", 1),
)


def _curves(answer: AliasAnswer, ident: str) -> tuple[PagePicture, ...]:
    """Rate and response over aliases."""
    found = []
    for name, unit, decimals, figure, band, size in (
        ("I/O rate", "1/s", 1, "io_rate", answer.rate, 1.0),
        ("response", "ms", 2, "response_time", answer.response, MILLISECOND),
    ):
        values = np.asarray(getattr(answer.rows, figure))
        curve = Curve(
            name=name, unit=unit, decimals=decimals, counts=answer.rows.aliases, values=values / size,
            low=np.asarray(band.low) / size, high=np.asarray(band.high) / size, recommended=answer.recommended,
            span=answer.range, measured=answer.measured_at(figure),
        )  # fmt: skip
        found.append(PagePicture(svg=curve.draw(f"{ident}-{name[0]}"), caption=curve.words(), key=CURVE_KEY))
    return tuple(found)


def item_of(answer: AliasAnswer, ident: str, state: str = "") -> Item:
    """Details of a pool or volume."""
    readings = grid(
        tabled(answer.readings, READINGS).filled(("words", "count", "io_rate")), f"{ident}-readings",
        "The preferred one first.", title="What the measurement may mean",
    )  # fmt: skip
    return Item(
        ident=ident, name=answer.name, headline=answer.headline, verdict=state, figures=_curves(answer, ident),
        grids=(readings, *sections(answer.sections(), ident, limits_of(answer.target))),
        notes=tuple(note for note in answer.notes if note != answer.step), decides=answer.step,
    )  # fmt: skip


def limits_of(target: Target) -> Limits:
    """Limits above which the columns of a target are shaded."""
    given = {
        "wait": target.wait and target.wait / MILLISECOND,
        "response": target.response and target.response / MILLISECOND,
        "queued": target.queued, "no_alias": target.no_alias,
    }  # fmt: skip
    plain: Limits = {"wait": ("service", target.wait_share)} if target.of_waits else {}
    return {key: limit for key, limit in given.items() if limit is not None} or plain


def over_time(need: PoolNeed, answer: AliasAnswer | None, ident: str, fewest: int = 10) -> Item:
    """A pool over its days (drawn if it has `fewest` intervals), and its full answer in the deciding interval."""
    series = need.series
    figures: list[PagePicture] = []
    if not np.isnat(series.start).any() and series.start.size >= fewest:
        course = Course(start=series.start, seconds=series.seconds, needed=series.needed, in_use=series.in_use,
                        worst=need.worst_start)  # fmt: skip
        week = Week(hours=series.hours(), in_use=float(need.in_use), busiest=need.busiest_hour)
        figures = [
            PagePicture(svg=course.draw(f"{ident}-n"), caption=course.words(), key=COURSE_KEY),
            PagePicture(svg=week.draw(f"{ident}-w"), caption=week.words(), key=WEEK_KEY),
        ]
    said = f"{need.name}: {need.problem or 'no answer'}."
    if need.needed is not None:
        ends = from_to(need.needed_low, need.needed_high)
        said = f"{need.name}: {need.needed} needed ({ends}), {need.in_use} in use."
    many = counted(need.intervals, "interval")
    solved = f"{many}, {readable(need.busy_intervals)} busy, {readable(need.solved_in_full)} solved in full."
    rules = [f"{RULES[name]} {count}" for name, count in need.rules.items() if count is not None]
    notes = [solved, *need.notes, *([f"Rules of the field: {', '.join(rules)}."] if rules else ())]
    notes += [f"Supply counters: {need.supply}."] if need.supply else []
    plain = Item(
        ident=ident, name=need.name, headline=said, verdict=word(need.verdict), figures=tuple(figures),
        notes=tuple(notes),
    )  # fmt: skip
    if answer is None:
        return plain
    whole = item_of(answer, ident, word(need.verdict))
    return replace(
        plain, figures=(*whole.figures, *plain.figures), grids=whole.grids,
        decides=whole.decides if need.counters is None else "Supply counters decide.",
        notes=(f"The interval that decides: {whole.headline}", *plain.notes, *whole.notes),
    )  # fmt: skip


# Many pools or volumes: one row each, with details.


def _many(
    base: Part, what: str, rows: Grid, items: Sequence[Item], growth: Sequence[AfterGrowth], in_use: int,
    unknown: int, of: str,
) -> Part:  # fmt: skip
    """Lay out the numbers that are short, have enough or have spare aliases, and the rows; `of` says what grows."""
    now = growth[0].tiles
    tiles = (
        Tile(label=f"{what} short", value=now["short"], detail=now["to add"], state="bad", follows="short"),
        Tile(label="enough", value=now["enough"], state="good", follows="enough"),
        Tile(label="spare", value=now["spare"], detail=now["to give"], state="spare", follows="spare"),
        Tile(label="aliases needed", value=now["needed"], detail=now["range"], follows="needed"),
        Tile(label="in use", value=str(in_use)),
        Tile(label="no answer", value=str(unknown), state="open"),
    )
    return replace(
        base, tiles=tiles if unknown else tiles[:-1], grids=(rows,), items=tuple(items),
        growth=tuple(growth) if len(growth) > 1 else (), growth_of=of,
    )  # fmt: skip


def _counted(
    share: float, headline: str, states: Mapping[str, Count], reasons: Mapping[str, str] | None = None
) -> AfterGrowth:
    """Totals and counts at one growth; verdicts come from `reasons` if given."""
    verdicts = {name: word(reasons[name]) if reasons else state.verdict for name, state in states.items()}
    found = list(verdicts.values())
    missing = sum(state.missing for name, state in states.items() if verdicts[name] == SHORT)
    free = sum(state.spare for name, state in states.items() if verdicts[name] == SPARE)
    tiles = {
        "short": str(found.count(SHORT)),
        "to add": f"{missing} to add",
        "enough": str(found.count(ENOUGH)),
        "spare": str(found.count(SPARE)),
        "to give": f"{free} can be freed",
        "needed": str(sum(state.needed or 0 for state in states.values())),
        "range": _ranged(
            *(sum(getattr(state, end) or 0 for state in states.values()) for end in ("low", "high"))
        ),
    }
    counts = {
        name: dict(zip(COUNTS, map(render.format_value, state[:3]), strict=True))
        | {"verdict": verdicts[name], **({"why": reasons[name]} if reasons else {})}
        for name, state in states.items()
    }
    return AfterGrowth(share=share, tiles=tiles, counts=counts, headline=headline)


def _largest(values: Any, unit: float = 1.0) -> float | None:
    known = np.asarray(values)[np.isfinite(values)]
    return float(known.max()) / unit if known.size else None


NEEDS: Final = (
    column("pool", label="pool", of=lambda need: need.name),
    column("verdict", label="verdict", of=lambda need: word(need.verdict)),
    *NEED_COUNTS[:2],
    column("recommended", label="needed", decimals=0, of="needed"),
    column("recommended_low", label="from", decimals=0, of="needed_low"),
    column("recommended_high", label="to", decimals=0, of="needed_high"),
    *NEED_COUNTS[2:],
    column("short_share", "percent", "short", of=lambda need: 100 * need.short_share),
    column(
        "worst_start",
        label="worst from",
        of=lambda need: need.worst_start and f"{need.worst_start:%Y-%m-%d %H:%M}",
    ),
    column("busiest_hour", label="busiest hour", of=lambda need: need.busiest_hour or None),
    column("io_rate", "1/s", "peak I/O rate", 1, lambda need: _largest(need.series.io_rate)),
    column("response", "ms", "worst response", 2, lambda need: _largest(need.series.response, MILLISECOND)),
)


def _site(answer: SiteAnswer, ident: str, full: Mapping[str, AliasAnswer], steps: Later) -> Part:
    """Every pool over its days: one row each, with need over time, hours of the week, and its full answer."""
    shown = [need for need in answer.pools if need.series.start.size][:MOST_ITEMS]
    places = {need.name: f"{ident}-i{k}" for k, need in enumerate(shown)}
    decided = {need.name for need in answer.pools if need.counters is not None}
    kinds = sorted(f"{kind}s" for kind in {need.kind for need in answer.pools})
    of_averages = "Where supply counters decide, shares of the time and the growth slider use the averages."
    rows = grid(
        tabled(answer.pools, NEEDS).filled(ALWAYS), f"{ident}-pools",
        f"One row each, short ones first. needed: {answer.target} in {percent(answer.meet, 5)} of the busy time; "
        "from, to: its range; worst, 99 %, 95 %: needed in the worst interval, and in these shares of the busy time; "
        "short: share of the busy intervals that need more than was in use." + (f" {of_averages}" if decided else ""),
        title=" and ".join(kinds).capitalize(), limits=LIMITS, verdict="verdict", items=places, named_by="pool",
        sortable=True,
    )  # fmt: skip
    states = states_of(answer.pools)
    growth = []
    for share, each in steps:
        later = states_of(each.pools if isinstance(each, Subsystem) else ())
        if not share:  # today's verdict of the counters does not come from the model
            later = {name: state for name, state in later.items() if name not in decided}
        then = states | {name: state._replace(in_use=states[name].in_use) for name, state in later.items()}
        by = f" {listed(sorted(decided & later.keys()), 2)}: {BY_AVERAGES}." if decided & later.keys() else ""
        growth.append(_counted(share, answer.lacking + what_to_do(then, share) + by, then))
    left_out = len(answer.pools) - len(shown)
    more = (f"{left_out} of {len(answer.pools)} are shown in the table only.",) if left_out else ()
    base = _base(answer, ident, "Need over time", "pools")
    return _many(
        replace(base, notes=(*base.notes, *more)), " and ".join(kinds), rows,
        [over_time(need, full.get(need.name), places[need.name]) for need in shown], growth,
        sum(need.in_use for need in answer.pools), len(answer.of(UNKNOWN)),
        "the demand of every pool, in the interval that decides",
    )  # fmt: skip


def states_of(rows: Iterable[PoolNeed | PoolCount]) -> dict[str, Count]:
    """Count of each pool or volume, its range, and the aliases in use."""
    return {row.name: row.count for row in rows}


def _pools(answer: Subsystem, ident: str, full: Mapping[str, AliasAnswer], steps: Later) -> Part:
    """Many pools from one measurement."""
    order = sorted(
        answer.pools, key=lambda p: (p.recommended is None, p.in_use - (p.recommended or 0), p.name)
    )
    places = {pool.name: f"{ident}-i{k}" for k, pool in enumerate(p for p in order if p.name in full)}
    rows = grid(
        tabled(order, COUNTED), f"{ident}-pools",
        f"One row per pool. recommended: {answer.target}; from, to: its range; rule: aliases in use plus the queue, "
        "rounded up; then: with the recommended aliases.",
        title="Pools", limits=LIMITS, verdict="verdict", items=places, named_by="pool", sortable=True,
    )  # fmt: skip
    growth = [_counted(share, each.headline, states_of(each.pools)) for share, each in steps]
    items = [item_of(full[name], place, full[name].count.verdict) for name, place in places.items()]
    return _many(
        _base(answer, ident, "Alias pools", "pools"), "pools", rows, items, growth, answer.total().in_use,
        len(answer.pools) - len(answer.answered), "the measured demand of every pool",
    )  # fmt: skip


def _volumes(answer: VolumesAnswer, ident: str, steps: Later) -> Part:
    """Many volumes with their own aliases."""
    places = {row.name: f"{ident}-i{k}" for k, row in enumerate(answer.listed)}
    rows = grid(
        tabled(answer.listed, (*OVERVIEW, column("why", of="verdict"))), f"{ident}-volumes",
        f"One row per volume. aliases: {answer.target}; then: with them.", title="Volumes",
        verdict="verdict", items=places, named_by="device", sortable=True,
    )  # fmt: skip
    growth = []
    for share, each in steps:
        reasons = {row.name: row.verdict for row in each.listed}
        growth.append(_counted(share, each.headline, states_of(each.listed), reasons))
    items = [
        item_of(each, places[each.name], word(row.verdict))
        for row, each in zip(answer.listed, answer.answers, strict=True)
    ]
    return _many(
        _base(answer, ident, "Volumes", "aliases"), "volumes", rows, items, growth,
        sum(row.in_use for row in answer.listed), len(answer.unanswered), "the measured demand of every volume",
    )  # fmt: skip


# Supply counters.


def _supply(answer: SupplyAnswer, ident: str) -> Part:
    """Verdicts of supply counters, with the fail shares over time."""
    states = [word(pool.verdict) for pool in answer.pools]
    (section,) = answer.sections()
    rows = grid(
        section.table, f"{ident}-supply", f"{section.caption} Ranges here hold 95 %.", title="Supply counters",
        limits={"fail_fraction": answer.no_alias}, verdict="verdict", sortable=True,
    )  # fmt: skip
    short, spare = ([p for p in answer.pools if word(p.verdict) == state] for state in (SHORT, SPARE))
    add = sum((p.aliases_needed or p.aliases) - p.aliases for p in short)
    give = sum(p.removable for p in spare)
    tiles = (
        Tile(label="pools short", value=str(states.count(SHORT)), detail=f"{add} to add", state="bad"),
        Tile(label="enough", value=str(states.count(ENOUGH)), state="good"),
        Tile(label="spare", value=str(states.count(SPARE)), detail=f"{give} can be freed", state="spare"),
        Tile(label="target", value=percent(answer.no_alias), detail="of the tries without alias, at most"),
    )  # fmt: skip
    base = _base(answer, ident, "Supply counters", "supply")
    return replace(base, tiles=tiles, grids=(rows,), pictures=_picture(answer))
