"""The tables of the answer for a site: a row a pool; of one pool its hours of the week and its worst intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from planner import render
from planner.site.pool_need import SHORT, TOO_MANY, WEEKDAYS, PoolNeed
from planner.units import MILLISECOND

MOST_SHOWN: Final = 40  # rows for people; all of them in CSV and JSON
WORST_SHOWN: Final = 8  # intervals of one pool
RULES: Final = {
    "in_use_plus_queue": "in use + queue",
    "high_water": "high water",
    "paths_less_one": "paths - 1",
}


def share(value: float) -> str:
    """As people say a share of the time."""
    return f"{100 * value:.4g} %"


def _verdict(need: PoolNeed) -> str:
    if need.verdict == SHORT:
        return f"short by {need.to_add}"
    return f"spare {need.to_gain}" if need.verdict == TOO_MANY else need.verdict


def _when(need: PoolNeed) -> str | None:
    return None if need.worst_start is None else f"{need.worst_start:%Y-%m-%d %H:%M}"


def _range(need: PoolNeed) -> str | None:
    return None if need.needed_low is None else f"{need.needed_low}-{need.needed_high}"


def table(pools: Sequence[PoolNeed]) -> render.Table:
    """One row a pool, all columns."""
    rows = [each.to_dict() for each in pools]
    names = (
        "system", "pool", "volumes", "in_use", "needed_worst", "needed_99", "needed_95", "needed_low", "needed_high",
        "verdict", "worst_start", "intervals", "busy_intervals", "solved_in_full", "kind", "needed", "short_intervals",
        "taught_by", "to_add", "to_gain", "busiest_hour", "supply", "problem", "decided_start",
    )  # fmt: skip
    columns = [render.Column(name=name, unit="", values=[row[name] for row in rows]) for name in names]
    columns += [
        render.Column(name=f"rule_{name}", unit="", values=[each.rules.get(name) for each in pools])
        for name in RULES
    ]
    return render.Table(columns=tuple(columns))


def sections(pools: Sequence[PoolNeed], meet: float) -> tuple[render.Section, ...]:
    """One row a pool; of one pool its hours of the week and its worst intervals."""
    if len(pools) == 1:
        return _of_one(pools[0])
    shown = pools[:MOST_SHOWN]
    systems = len({each.system for each in pools}) > 1
    columns: list[tuple[str, str, list[Any]]] = [
        ("pool", "pool", [each.name if systems else each.pool for each in shown]),
        ("volumes", "volumes", [each.volumes for each in shown]),
        ("in_use", "in use", [each.in_use for each in shown]),
        ("needed_worst", "worst", [each.needed_worst for each in shown]),
        ("needed_99", "99 %", [each.needed_99 for each in shown]),
        ("needed_95", "95 %", [each.needed_95 for each in shown]),
        ("range", "range", [_range(each) for each in shown]),
        ("verdict", "verdict", [_verdict(each) for each in shown]),
        ("short_share", "short", [f"{100 * each.short_share:.0f} %" for each in shown]),
        ("busiest_hour", "most", [each.busiest_hour or None for each in shown]),
    ]
    if any(each.rules.get("in_use_plus_queue") is not None for each in shown):
        columns.append(("rule", "rule", [each.rules.get("in_use_plus_queue") for each in shown]))
    if any(each.supply for each in shown):
        columns.append(("supply", "counters", [each.supply or None for each in shown]))
    made = render.Table(
        columns=tuple(
            render.Column(name=name, unit="", values=values, label=label, decimals=0)
            for name, label, values in columns
        )
    )
    more = len(pools) - len(shown)
    caption = (
        f"needed in the worst interval, in 99 % and 95 % of the busy time; range: 90 %, of the count in "
        f"{share(meet)}; short: share of the busy intervals; most: hour of the week"
    )
    if any(name == "rule" for name, _, _ in columns):
        caption += "; rule: in use + queue"
    return (render.Section(table=made, caption=caption + (f". {more} more rows in --csv." if more else ".")),)


def _of_one(need: PoolNeed) -> tuple[render.Section, ...]:
    """Days of the week by hours, and the worst intervals."""
    found = []
    hours = need.hours
    if np.isfinite(hours).any():
        measured = np.flatnonzero(np.isfinite(hours).any(axis=1))
        columns = [render.Column(name="hour", unit="", values=list(range(24)), label="hour", decimals=0)]
        columns += [
            render.Column(
                name=WEEKDAYS[day], unit="", decimals=0,
                values=[None if np.isnan(value) else int(value) for value in hours[day]],
            )
            for day in measured
        ]  # fmt: skip
        found.append(
            render.Section(
                table=render.Table(columns=tuple(columns)), title="Largest need by hour of the week"
            )
        )
    series = need.series
    order = np.argsort(-np.nan_to_num(series.needed, nan=-1.0), kind="stable")[:WORST_SHOWN]
    starts = [
        None if np.isnat(series.start[k]) else f"{series.start[k].item():%Y-%m-%d %H:%M}" for k in order
    ]
    columns = [
        render.Column(name="start", unit="", values=starts),
        render.Column(name="needed", unit="", values=[_whole(series.needed[k]) for k in order], decimals=0),
        render.Column(
            name="in_use", unit="", values=[int(series.in_use[k]) for k in order], label="in use", decimals=0
        ),
        render.Column(name="io_rate", unit="1/s", values=series.io_rate[order].tolist(), label="I/O rate", decimals=0),
        render.Column(
            name="response", unit="ms", values=[_known(value / MILLISECOND) for value in series.response[order]],
            decimals=2,
        ),
        render.Column(name="queued", unit="", values=[_known(value) for value in series.queued[order]], decimals=2),
    ]  # fmt: skip
    found.append(render.Section(table=render.Table(columns=tuple(columns)), title="Worst intervals"))
    rules = [(RULES[name], value) for name, value in need.rules.items() if value is not None]
    if rules:
        made = render.Table(
            columns=(
                render.Column(name="rule", unit="", values=[name for name, _ in rules]),
                render.Column(name="says", unit="", values=[value for _, value in rules], decimals=0),
            )
        )
        found.append(render.Section(table=made, title="Rules of the field"))
    return tuple(found)


def _whole(value: float) -> int | None:
    return int(value) if np.isfinite(value) else None


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
