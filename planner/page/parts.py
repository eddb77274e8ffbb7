"""From answers to what the page shows of them: one function a kind of answer, and one for any other."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import numpy as np

from planner import render
from planner.answer import Answer
from planner.demand import Target
from planner.page.breaks import breaks
from planner.page.content import AfterGrowth, Grid, Item, Limits, PagePicture, Part, Tile, grid, sections
from planner.page.drawing import Course, Curve, Week
from planner.page.verdict import Count, judged, what_to_do
from planner.render.verdict import ENOUGH, SHORT, SPARE, STATES, UNKNOWN, word
from planner.render.verdict import judged as compared
from planner.site.growth import Growth
from planner.site.pool_need import PoolNeed
from planner.site.site_answer import SiteAnswer
from planner.sizing import AliasAnswer, PoolCount, Subsystem, VolumesAnswer
from planner.sizing.many import verdict
from planner.sizing.subsystem import table_of
from planner.style import NINETY
from planner.supply import SupplyAnswer
from planner.units import MILLISECOND

LIMITS: Final[Limits] = {"short_share": 1.0}  # percent of the busy intervals
FEWEST: Final = 10  # intervals that are drawn over time
COUNTS: Final = ("recommended", "recommended_low", "recommended_high")
CURVE_KEY: Final = (
    ("line", "chosen demand"),
    ("band", NINETY),
    ("measured", "measured"),
    ("pick", "recommended"),
    ("strip", "range of the count"),
)
COURSE_KEY: Final = (("need", "needed"), ("used", "in use"))
WEEK_KEY: Final = (("half", "up to half of those in use"), ("much", "up to all"), ("over", "more: short"))
RULES: Final = {
    "in_use_plus_queue": "in use plus queue",
    "high_water": "high water",
    "paths_less_one": "paths less one",
}
ALWAYS: Final = ("pool", "verdict", *COUNTS)
LEFT_OUT: Final = ("classic_aliases", "saved")  # of the table of pools, to keep it narrow; CSV has them
MOST_ITEMS: Final = 400  # pools and volumes that the page shows one by one
Later = Sequence[tuple[float, Answer]]
"""The same answer for a demand that grew by a share."""


def part_of(
    answer: Answer, ident: str, *, full: Mapping[str, AliasAnswer] | None = None, grown: Later = (),
    remarks: tuple[str, ...] = (),
) -> Part:  # fmt: skip
    """Say what the page shows of an answer.

    `full` holds the whole answers of its pools by their names, `grown` the same answer after growth; `remarks` go to
    its notes.
    """
    part = _part(answer, ident, full or {}, grown)
    if isinstance(answer, Growth):
        part = breaks(answer, part)
    return replace(part, notes=(*part.notes, *remarks))


def _part(answer: Answer, ident: str, full: Mapping[str, AliasAnswer], grown: Later) -> Part:
    """By the kind of answer."""
    if isinstance(answer, AliasAnswer):
        return _alias(answer, ident, grown)
    if isinstance(answer, Subsystem):
        return _pools(answer, ident, full, grown)
    if isinstance(answer, VolumesAnswer):
        return _volumes(answer, ident, grown)
    if isinstance(answer, SiteAnswer):
        return _site(answer, ident, full, grown)
    if isinstance(answer, SupplyAnswer):
        return _supply(answer, ident)
    return _any(answer, ident)


def _base(answer: Answer, ident: str, title: str, file: str) -> Part:
    """What every answer has; `file` names its table as CSV, with its place behind it but for the first answer."""
    place = ident.removeprefix("p")
    return Part(
        title=title, headline=answer.headline, notes=answer.notes, data=answer.to_dict(),
        csv={f"{file}{'' if place == '0' else f'-{place}'}.csv": render.to_csv(answer.table())},
    )  # fmt: skip


def _any(answer: Answer, ident: str) -> Part:
    """Tables as they stand elsewhere, and the picture of the answer where it has one."""
    return replace(
        _base(answer, ident, "Answer", "answer"),
        grids=tuple(
            replace(each, sortable=len(each.rows) > 1) for each in sections(answer.sections(), ident)
        ),
        pictures=_picture(answer),
    )


def _picture(answer: Answer) -> tuple[tuple[str, str], ...]:
    """The picture as an image of its own, so that its styles stay in it; none where the answer has none."""
    from matplotlib import rc_context
    from matplotlib.text import Text

    try:
        figure = answer.plot().get_figure(root=True)
    except NotImplementedError:
        return ()
    assert figure is not None
    for text in figure.findobj(Text):
        text.set_parse_math(False)  # a dollar in a name is a dollar
    buffer = io.BytesIO()
    # the same answer gives the same bytes
    with rc_context({"text.parse_math": False, "svg.hashsalt": "planner", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return ((f"data:image/svg+xml;base64,{base64.b64encode(buffer.getvalue()).decode()}", answer.headline),)


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


def _readings(answer: AliasAnswer, ident: str) -> Grid:
    """Demands that explain the measurement, the preferred one first."""
    each = answer.readings
    columns = (
        ("words", "", "demand", [r.words for r in each], None),
        ("weight", "share", "weight", [r.weight for r in each], 2),
        ("count", "", "aliases", [r.count for r in each], 0),
        ("io_rate", "1/s", "I/O rate with the recommended", [r.io_rate for r in each], 0),
    )
    table = render.Table(
        columns=tuple(
            render.Column(name=name, unit=unit, values=values, label=label, decimals=decimals)
            for name, unit, label, values, decimals in columns
        )
    )
    return grid(table, f"{ident}-readings", "The preferred one first.", title="What the measurement may mean")


def item_of(answer: AliasAnswer, ident: str, state: str = "") -> Item:
    """A pool or volume in full."""
    return Item(
        ident=ident, name=answer.name, headline=answer.headline, verdict=state, figures=_curves(answer, ident),
        grids=(_readings(answer, ident), *sections(answer.sections(), ident, limits_of(answer.target))),
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


def _ranged(low: int, high: int) -> str:
    return f"range {low} to {high}" if high > low else "no other in the range"


def _number(value: float, digits: int) -> str:
    return render.format_value(value, digits)


def _change(now: float, then: float, digits: int) -> str:
    """From now to then; one number where they read alike."""
    before, after = _number(now, digits), _number(then, digits)
    return before if before == after else f"{before} \N{RIGHTWARDS ARROW} {after}"


# One volume or pool.


def _alias(answer: AliasAnswer, ident: str, grown: Later) -> Part:
    """One volume or pool: tiles, curves, readings, the table."""
    state = compared(answer.recommended, answer.in_use)
    later = [(0.0, answer), *((share, each) for share, each in grown if isinstance(each, AliasAnswer))]
    growth = tuple(
        AfterGrowth(share=share, tiles=_alias_tiles(each), counts={}, headline=each.headline)
        for share, each in later
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
    """Texts of the tiles."""
    rows, n, k = answer.rows, answer.in_use, answer.recommended
    digits = 0 if float(rows.io_rate[n]) >= 100 else 1  # noqa: PLR2004 - three digits
    before, after = (float(rows.response_time[at]) / MILLISECOND for at in (n, k))
    return {
        "needed": str(k),
        "range": _ranged(*answer.range),
        "rate": _change(float(rows.io_rate[n]), float(rows.io_rate[k]), digits),
        "response": _change(before, after, 2),
    }


# A site over its days.


def _site(answer: SiteAnswer, ident: str, full: Mapping[str, AliasAnswer], grown: Later) -> Part:
    """Every pool over its days: a row each; behind it need over time, hours of the week, and its whole answer."""
    shown = [need for need in answer.pools if need.series.start.size][:MOST_ITEMS]
    places = {need.name: f"{ident}-i{k}" for k, need in enumerate(shown)}
    rows = grid(
        _needs(answer), f"{ident}-pools",
        f"One row a pool, those that are short first. needed: {answer.target} in {100 * answer.meet:.4g} % of the busy "
        "time; from, to: its range; worst, 99 %, 95 %: in the worst interval, in these shares of the busy time; short: "
        "share of the busy intervals that need more than was in use.",
        title="Pools", limits=LIMITS, verdict="verdict", items=places, named_by="pool", sortable=True,
    )  # fmt: skip
    states = {
        need.name: (need.needed, need.needed_low, need.needed_high, need.in_use) for need in answer.pools
    }
    growth = [_grown_site(0.0, states)]
    for share, each in grown:
        if isinstance(each, Subsystem):
            later = {
                pool.name: (pool.recommended, *(pool.range or (None, None)), states[pool.name][3])
                for pool in each.pools
            }
            growth.append(_grown_site(share, {**states, **later}))
    tiles = (
        *_pool_tiles(growth[0].tiles),
        Tile(label="in use", value=str(sum(need.in_use for need in answer.pools))),
    )
    if answer.of(UNKNOWN):
        tiles = (*tiles, Tile(label="no answer", value=str(len(answer.of(UNKNOWN))), state="open"))
    left_out = len(answer.pools) - len(shown)
    more = (f"{left_out} of {len(answer.pools)} are shown in the table only.",) if left_out else ()
    base = _base(answer, ident, "Need over time", "pools")
    return replace(
        base, tiles=tiles, grids=(rows,), notes=(*base.notes, *more),
        items=tuple(_over_time(need, full.get(need.name), places[need.name]) for need in shown),
        growth=tuple(growth) if len(growth) > 1 else (),
        growth_of="the demand of every pool, in the interval that decides",
    )  # fmt: skip


def _pool_tiles(now: Mapping[str, str]) -> tuple[Tile, ...]:
    """How many pools are short, have enough, have some to spare; aliases needed."""
    return (
        Tile(label="pools short", value=now["short"], detail=now["to add"], state="bad", follows="short"),
        Tile(label="enough", value=now["enough"], state="good", follows="enough"),
        Tile(label="spare", value=now["spare"], detail=now["to give"], state="spare", follows="spare"),
        Tile(label="aliases needed", value=now["needed"], detail=now["range"], follows="needed"),
    )


def _needs(answer: SiteAnswer) -> render.Table:
    """What the page shows of every pool."""
    needs = answer.pools
    columns: tuple[tuple[str, str, str, list[Any], int | None], ...] = (
        ("pool", "", "pool", [n.name for n in needs], None),
        ("verdict", "", "verdict", [word(n.verdict) for n in needs], None),
        ("volumes", "", "volumes", [n.volumes for n in needs], 0),
        ("in_use", "", "in use", [n.in_use for n in needs], 0),
        ("recommended", "", "needed", [n.needed for n in needs], 0),
        ("recommended_low", "", "from", [n.needed_low for n in needs], 0),
        ("recommended_high", "", "to", [n.needed_high for n in needs], 0),
        ("needed_worst", "", "worst", [n.needed_worst for n in needs], 0),
        ("needed_99", "", "99 %", [n.needed_99 for n in needs], 0),
        ("needed_95", "", "95 %", [n.needed_95 for n in needs], 0),
        ("short_share", "percent", "short", [100 * n.short_share for n in needs], 1),
        ("worst_start", "", "worst from", [_minute(n.worst_start) for n in needs], None),
        ("busiest_hour", "", "busiest hour", [n.busiest_hour or None for n in needs], None),
        ("io_rate", "1/s", "peak I/O rate", [_largest(n.series.io_rate) for n in needs], 0),
        ("response", "ms", "worst response", [_largest(n.series.response, MILLISECOND) for n in needs], 2),
    )
    return render.Table(
        columns=tuple(
            render.Column(name=name, unit=unit, values=values, label=label, decimals=decimals)
            for name, unit, label, values, decimals in columns
            if name in ALWAYS or any(value is not None for value in values)
        )
    )


def _minute(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment:%Y-%m-%d %H:%M}"


def _largest(values: Any, unit: float = 1.0) -> float | None:
    known = np.asarray(values)[np.isfinite(values)]
    return float(known.max()) / unit if known.size else None


def _over_time(need: PoolNeed, answer: AliasAnswer | None, ident: str) -> Item:
    """A pool over its days, and its whole answer in the interval that decides."""
    series = need.series
    figures: list[PagePicture] = []
    if not np.isnat(series.start).any() and series.start.size >= FEWEST:
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
    solved = f"Of {need.intervals} intervals {need.busy_intervals} are busy; {need.solved_in_full} were solved in full."
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


def _grown_site(share: float, states: Mapping[str, Count]) -> AfterGrowth:
    """Sums and counts at a growth."""
    verdicts = {name: judged(state) for name, state in states.items()}
    found = list(verdicts.values())
    add = sum((n or 0) - used for name, (n, _, _, used) in states.items() if verdicts[name] == SHORT)
    give = sum(used - (high or 0) for name, (_, _, high, used) in states.items() if verdicts[name] == SPARE)
    tiles = {
        "short": str(found.count(SHORT)),
        "to add": f"{add} to add",
        "enough": str(found.count(ENOUGH)),
        "spare": str(found.count(SPARE)),
        "to give": f"{give} could serve elsewhere",
        "needed": str(sum(state[0] or 0 for state in states.values())),
        "range": _ranged(*(sum(state[end] or 0 for state in states.values()) for end in (1, 2))),
    }
    counts = {
        name: {
            **dict(zip(COUNTS, map(render.format_value, state[:3]), strict=True)),
            "verdict": verdicts[name],
        }
        for name, state in states.items()
    }
    return AfterGrowth(share=share, tiles=tiles, counts=counts, headline=what_to_do(states, share))


# Many pools.


def _pools(answer: Subsystem, ident: str, full: Mapping[str, AliasAnswer], grown: Later) -> Part:
    """Many pools: a row each, the whole answer of each behind it."""
    order = sorted(
        answer.pools, key=lambda p: (p.recommended is None, p.in_use - (p.recommended or 0), p.name)
    )
    shown = [pool.name for pool in order if pool.name in full]
    places = {name: f"{ident}-i{k}" for k, name in enumerate(shown)}
    table = table_of(order)
    table = replace(table, columns=tuple(c for c in table.columns if c.name not in LEFT_OUT))
    states = [compared(pool.recommended, pool.in_use) for pool in order]
    verdicts = render.Column(name="verdict", unit="", values=states, label="verdict")
    rows = grid(
        render.Table(columns=(table.columns[0], verdicts, *table.columns[1:])), f"{ident}-pools",
        f"One row a pool. recommended: {answer.target}; from, to: its range; rule: aliases in use and the queue, "
        "rounded up; then: with the recommended aliases.",
        title="Pools", limits=LIMITS, verdict="verdict", items=places, named_by="pool", sortable=True,
    )  # fmt: skip
    items = tuple(
        item_of(full[name], places[name], compared(full[name].recommended, full[name].in_use))
        for name in shown
    )
    later = [(0.0, answer), *((share, each) for share, each in grown if isinstance(each, Subsystem))]
    growth = tuple(_grown_pools(share, each) for share, each in later)
    tiles = (
        *_pool_tiles(growth[0].tiles),
        Tile(label="in use", value=str(answer.total().in_use)),
    )
    unknown = states.count(UNKNOWN)
    if unknown:
        tiles = (*tiles, Tile(label="no answer", value=str(unknown), state="open"))
    return replace(
        _base(answer, ident, "Alias pools", "pools"), tiles=tiles, grids=(rows,), items=items,
        growth=growth if len(growth) > 1 else (), growth_of="the measured demand of every pool",
    )  # fmt: skip


def _grown_pools(share: float, answer: Subsystem) -> AfterGrowth:
    """Sums and counts at a growth."""
    states = {pool.name: compared(pool.recommended, pool.in_use) for pool in answer.pools}
    total = answer.total()

    def moved(state: str) -> int:
        return sum(
            abs((pool.recommended or 0) - pool.in_use) for pool in answer.pools if states[pool.name] == state
        )

    tiles = {
        "short": str(list(states.values()).count(SHORT)),
        "to add": f"{moved(SHORT)} to add",
        "enough": str(list(states.values()).count(ENOUGH)),
        "spare": str(list(states.values()).count(SPARE)),
        "to give": f"{moved(SPARE)} could serve elsewhere",
        "needed": str(total.recommended),
        "range": _ranged(*(total.range or (0, 0))),
    }
    return AfterGrowth(
        share=share, tiles=tiles, headline=answer.headline,
        counts={pool.name: {**_count_texts(pool), "verdict": states[pool.name]} for pool in answer.pools},
    )  # fmt: skip


def _count_texts(pool: PoolCount) -> dict[str, str]:
    low, high = pool.range or (None, None)
    return dict(zip(COUNTS, map(render.format_value, (pool.recommended, low, high)), strict=True))


# Many volumes.


def _volumes(answer: VolumesAnswer, ident: str, grown: Later) -> Part:
    """Many volumes with aliases of their own, each in full behind its row."""
    names = [each.name for each in answer.answers]
    places = {name: f"{ident}-i{k}" for k, name in enumerate(names)}
    overview = answer.overview()
    why = render.Column(name="why", unit="", values=[verdict(each) for each in answer.answers])
    overview = replace(overview, columns=(*overview.columns, why))
    rows = grid(
        overview, f"{ident}-volumes", f"One row a volume. aliases: {answer.target}; then: with them.", title="Volumes",
        verdict="verdict", items=places, named_by="device", sortable=True,
    )  # fmt: skip
    later = [(0.0, answer), *((share, each) for share, each in grown if isinstance(each, VolumesAnswer))]
    growth = tuple(_grown_volumes(share, each) for share, each in later)
    now = growth[0].tiles
    tiles = (
        Tile(label="volumes short", value=now["gain"], detail=now["to add"], state="bad", follows="gain"),
        Tile(label="enough", value=now["others"], state="good", follows="others"),
        Tile(label="spare", value=now["spare"], state="spare", follows="spare"),
        Tile(label="no answer", value=str(len(answer.unanswered)), state="open"),
    )
    items = tuple(item_of(each, places[each.name], word(verdict(each))) for each in answer.answers)
    return replace(
        _base(answer, ident, "Volumes", "aliases"), tiles=tiles[: 4 if answer.unanswered else 3], grids=(rows,),
        items=items, growth=growth if len(growth) > 1 else (), growth_of="the measured demand of every volume",
    )  # fmt: skip


def _grown_volumes(share: float, answer: VolumesAnswer) -> AfterGrowth:
    """Sums and counts at a growth."""
    states = {each.name: word(verdict(each)) for each in answer.answers}
    gaining = [each for each in answer.answers if states[each.name] == SHORT]
    spare = list(states.values()).count(SPARE)
    tiles = {
        "gain": str(len(gaining)),
        "to add": f"{sum(each.recommended - each.in_use for each in gaining)} aliases to add",
        "spare": str(spare),
        "others": str(len(states) - len(gaining) - spare),
    }
    counts = {
        each.name: {
            **dict(zip(COUNTS, map(str, (each.recommended, *each.range)), strict=True)),
            "verdict": states[each.name],
            "why": verdict(each),
        }
        for each in answer.answers
    }
    return AfterGrowth(share=share, tiles=tiles, counts=counts, headline=answer.headline)


# Supply counters.


def _supply(answer: SupplyAnswer, ident: str) -> Part:
    """Verdicts of supply counters, with the shares of fails over time."""
    states = [word(pool.verdict) for pool in answer.pools]
    (section,) = answer.sections()
    caption = f"{section.caption} Ranges here hold 95 %."
    rows = grid(
        section.table, f"{ident}-supply", caption, title="Supply counters",
        limits={"fail_fraction": answer.no_alias},
        verdict="verdict", sortable=True,
    )  # fmt: skip
    add = sum(max((p.aliases_needed or p.aliases) - p.aliases, 0) for p in answer.pools)
    give = sum(p.removable for p in answer.pools)
    tiles = (
        Tile(label="pools short", value=str(states.count(SHORT)), detail=f"{add} to add", state="bad"),
        Tile(label="enough", value=str(states.count(ENOUGH)), state="good"),
        Tile(label="spare", value=str(states.count(SPARE)), detail=f"{give} could serve elsewhere", state="spare"),
        Tile(label="target", value=f"{100 * answer.no_alias:.3g} %", detail="of the tries without alias, at most"),
    )  # fmt: skip
    return replace(
        _base(answer, ident, "Supply counters", "supply"),
        tiles=tiles,
        grids=(rows,),
        pictures=_picture(answer),
    )
