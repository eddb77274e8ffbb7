"""From answers to what the page shows of them: one function a kind of answer, and one for any other."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from planner import render
from planner.answer import Answer
from planner.page.content import (
    ENOUGH,
    MANY,
    SHORT,
    STATES,
    UNKNOWN,
    Figure,
    Grid,
    Grown,
    Item,
    Part,
    Tile,
    grid,
    sections,
)
from planner.page.drawing import Curve
from planner.sizing import AliasAnswer, PoolCount, Subsystem, VolumesAnswer
from planner.sizing.many import GAINS, SATURATED, SPARES, verdict
from planner.sizing.pool_count import table_of
from planner.style import NINETY
from planner.supply import SupplyAnswer
from planner.supply.answer import NOT_ENOUGH, TOO_MANY
from planner.units import MILLISECOND

HEAT: Final = frozenset({"io_rate", "response", "queued", "fail_fraction", "needed_worst"})
COUNTS: Final = ("recommended", "recommended_low", "recommended_high")
CURVE_KEY: Final = (
    ("line", "chosen reading"),
    ("band", NINETY),
    ("measured", "measured"),
    ("pick", "recommended"),
    ("strip", "range of the count"),
)
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
    return replace(part, notes=(*part.notes, *remarks))


def _part(answer: Answer, ident: str, full: Mapping[str, AliasAnswer], grown: Later) -> Part:
    """By the kind of answer."""
    if isinstance(answer, AliasAnswer):
        return _alias(answer, ident, grown)
    if isinstance(answer, Subsystem):
        return _pools(answer, ident, full, grown)
    if isinstance(answer, VolumesAnswer):
        return _volumes(answer, ident, grown)
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


def _curves(answer: AliasAnswer, ident: str) -> tuple[Figure, ...]:
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
        found.append(Figure(svg=curve.draw(f"{ident}-{name[0]}"), caption=curve.words(), key=CURVE_KEY))
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
        grids=(_readings(answer, ident), *sections(answer.sections(), ident)),
        notes=tuple(note for note in answer.notes if note != answer.remarks.step), decides=answer.remarks.step,
    )  # fmt: skip


def _compared(recommended: int | None, in_use: int) -> str:
    """The verdict on a count."""
    if recommended is None:
        return UNKNOWN
    return SHORT if recommended > in_use else MANY if recommended < in_use else ENOUGH


def _ranged(low: int, high: int) -> str:
    return f"range {low} to {high}" if high > low else "range of one count"


def _number(value: float, digits: int) -> str:
    return render.format_value(value, digits)


def _change(now: float, then: float, digits: int) -> str:
    """From now to then; one number where they read alike."""
    before, after = _number(now, digits), _number(then, digits)
    return before if before == after else f"{before} \N{RIGHTWARDS ARROW} {after}"


# One volume or pool.


def _alias(answer: AliasAnswer, ident: str, grown: Later) -> Part:
    """One volume or pool: tiles, curves, readings, the table."""
    state = _compared(answer.recommended, answer.in_use)
    later = [(0.0, answer), *((share, each) for share, each in grown if isinstance(each, AliasAnswer))]
    growth = tuple(Grown(share=share, tiles=_alias_tiles(each), counts={}) for share, each in later)
    now = growth[0].tiles
    tiles = (
        Tile(label="aliases needed", value=now["needed"], detail=now["range"], state=STATES[state], follows="needed"),
        Tile(label="in use", value=str(answer.in_use), detail=state),
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
    response = (float(rows.response_time[at]) / MILLISECOND for at in (n, k))
    return {
        "needed": str(k),
        "range": _ranged(*answer.range),
        "rate": _change(float(rows.io_rate[n]), float(rows.io_rate[k]), digits),
        "response": _change(*response, 2),
    }


# Many pools.


def _pools(answer: Subsystem, ident: str, full: Mapping[str, AliasAnswer], grown: Later) -> Part:
    """Many pools: a row each, the whole answer of each behind it."""
    places = {name: f"{ident}-i{k}" for k, name in enumerate(full)}
    order = sorted(
        answer.pools, key=lambda p: (p.recommended is None, p.in_use - (p.recommended or 0), p.name)
    )
    table = table_of(order)
    states = [_compared(pool.recommended, pool.in_use) for pool in order]
    verdicts = render.Column(name="verdict", unit="", values=states, label="verdict")
    rows = grid(
        render.Table(columns=(table.columns[0], verdicts, *table.columns[1:])), f"{ident}-pools",
        f"One row a pool. recommended: {answer.target}; from, to: its range; rule: aliases in use and the queue, "
        "rounded up; then: with the recommended aliases.",
        title="Pools", heat=HEAT, verdict="verdict", items=places, named_by="pool", sortable=True,
    )  # fmt: skip
    items = tuple(
        item_of(each, places[name], _compared(each.recommended, each.in_use)) for name, each in full.items()
    )
    later = [(0.0, answer), *((share, each) for share, each in grown if isinstance(each, Subsystem))]
    growth = tuple(_grown_pools(share, each) for share, each in later)
    now = growth[0].tiles
    tiles = (
        Tile(label="pools short", value=now["short"], detail=now["to add"], state="bad", follows="short"),
        Tile(label="enough", value=now["enough"], state="good", follows="enough"),
        Tile(label="too many", value=now["spare"], detail=now["to give"], state="spare", follows="spare"),
        Tile(label="aliases needed", value=now["needed"], detail=now["range"], follows="needed"),
        Tile(label="in use", value=str(answer.total().in_use)),
    )
    unknown = states.count(UNKNOWN)
    if unknown:
        tiles = (*tiles, Tile(label="no answer", value=str(unknown), state="open"))
    return replace(
        _base(answer, ident, "Alias pools", "pools"), tiles=tiles, grids=(rows,), items=items,
        growth=growth if len(growth) > 1 else (), growth_of="the measured demand of every pool",
    )  # fmt: skip


def _grown_pools(share: float, answer: Subsystem) -> Grown:
    """Sums and counts at a growth."""
    states = {pool.name: _compared(pool.recommended, pool.in_use) for pool in answer.pools}
    total = answer.total()

    def moved(state: str) -> int:
        return sum(
            abs((pool.recommended or 0) - pool.in_use) for pool in answer.pools if states[pool.name] == state
        )

    tiles = {
        "short": str(list(states.values()).count(SHORT)),
        "to add": f"{moved(SHORT)} to add",
        "enough": str(list(states.values()).count(ENOUGH)),
        "spare": str(list(states.values()).count(MANY)),
        "to give": f"{moved(MANY)} could serve elsewhere",
        "needed": str(total.recommended),
        "range": _ranged(*(total.range or (0, 0))),
    }
    return Grown(
        share=share, tiles=tiles,
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
    overview = replace(
        overview,
        columns=tuple(
            replace(column, label="verdict") if column.name == "verdict" else column
            for column in overview.columns
        ),
    )
    rows = grid(
        overview, f"{ident}-volumes", f"One row a volume. aliases: {answer.target}; then: with them.", title="Volumes",
        heat=HEAT, verdict="verdict", items=places, named_by="device", sortable=True,
    )  # fmt: skip
    later = [(0.0, answer), *((share, each) for share, each in grown if isinstance(each, VolumesAnswer))]
    growth = tuple(_grown_volumes(share, each) for share, each in later)
    now = growth[0].tiles
    tiles = (
        Tile(label="volumes gain", value=now["gain"], detail=now["to add"], state="bad", follows="gain"),
        Tile(label="could spare some", value=now["spare"], state="spare", follows="spare"),
        Tile(label="others", value=now["others"], state="good", follows="others"),
        Tile(label="no answer", value=str(len(answer.unanswered)), state="open"),
    )
    items = tuple(item_of(each, places[each.name], verdict(each)) for each in answer.answers)
    return replace(
        _base(answer, ident, "Volumes", "aliases"), tiles=tiles[: 4 if answer.unanswered else 3], grids=(rows,),
        items=items, growth=growth if len(growth) > 1 else (), growth_of="the measured demand of every volume",
    )  # fmt: skip


def _grown_volumes(share: float, answer: VolumesAnswer) -> Grown:
    """Sums and counts at a growth."""
    states = {each.name: verdict(each) for each in answer.answers}
    gaining = [each for each in answer.answers if states[each.name] in {GAINS, SATURATED}]
    spare = list(states.values()).count(SPARES)
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
        }
        for each in answer.answers
    }
    return Grown(share=share, tiles=tiles, counts=counts)


# Supply counters.


def _supply(answer: SupplyAnswer, ident: str) -> Part:
    """Verdicts of supply counters, with the shares of fails over time."""
    said = {NOT_ENOUGH: SHORT, TOO_MANY: MANY, "enough": ENOUGH, None: UNKNOWN}
    states = [said[pool.verdict] for pool in answer.pools]
    table = answer.table()
    columns = tuple(
        replace(column, values=states) if column.name == "verdict" else column for column in table.columns
    )
    (section,) = answer.sections()
    rows = grid(
        replace(table, columns=columns), f"{ident}-supply", section.caption, title="Supply counters", heat=HEAT,
        verdict="verdict", sortable=True,
    )  # fmt: skip
    add = sum(max((p.aliases_needed or p.aliases) - p.aliases, 0) for p in answer.pools)
    give = sum(p.removable for p in answer.pools)
    tiles = (
        Tile(label="pools short", value=str(states.count(SHORT)), detail=f"{add} to add", state="bad"),
        Tile(label="enough", value=str(states.count(ENOUGH)), state="good"),
        Tile(label="too many", value=str(states.count(MANY)), detail=f"{give} could serve elsewhere", state="spare"),
        Tile(label="target", value=f"{answer.no_alias:.3g}", detail="share of tries without alias, at most"),
    )  # fmt: skip
    return replace(
        _base(answer, ident, "Supply counters", "supply"),
        tiles=tiles,
        grids=(rows,),
        pictures=_picture(answer),
    )
