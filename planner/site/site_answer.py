"""What every pool of a site needs: the answer, in a sentence, a row a pool, and what to do on Monday."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Final

import numpy as np

from planner import render
from planner.answer import Answer, record, tabled
from planner.demand import DeviceModel, Target
from planner.quantity import column
from planner.render.text import ENOUGH, SHORT, UNKNOWN, counted, first_of, from_to, listed
from planner.results import by_key
from planner.site.pool_need import COLUMNS, COUNTS, FIGURES, TOO_MANY, PoolNeed, whole
from planner.site.series import WEEKDAYS, began
from planner.sizing.gaps import NOTHING_MISSING, Gaps, all_missing, all_notes, first_words, worst_code
from planner.supply.answer import NO_ALIAS
from planner.units import MILLISECOND, percent

NAMED: Final = 3
SUMS: Final = ("needed_99", "in_use", "to_gain", "intervals", "solved_in_full")
VERDICTS: Final = {"short": SHORT, "too_many": TOO_MANY, "enough": ENOUGH, "unknown": UNKNOWN}
OF_COUNTERS: Final = f"target: at most {percent(NO_ALIAS)} of the tries without an alias"
NO_LONGER: Final = ("checked", "checked_same", "checked_short")  # of the sums, which every interval is in


RULES: Final = {
    "in_use_plus_queue": "in use + queue",
    "high_water": "high water",
    "paths_less_one": "paths - 1",
}


def _rule(need: PoolNeed, name: str) -> int | None:
    return need.rules.get(name)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SiteAnswer(Answer):
    """What every pool, and every volume with aliases of its own, needs over its days."""

    PICTURE: ClassVar[str] = "planner.site.site_picture:draw"
    COLUMNS: ClassVar = (*COLUMNS, *(column(f"rule_{name}", of=partial(_rule, name=name)) for name in RULES))
    ROWS: ClassVar = "pools"
    pools: tuple[PoolNeed, ...]  # those that are short first
    target: Target  # what the aliases must achieve
    meet: float  # share of the busy time in which they must
    remarks: tuple[str, ...] = ()  # what reading the measurements left open
    failed: tuple[tuple[str, str], ...] = ()  # parts without any answer: name and problem
    device_model: DeviceModel | None = None  # what it was reckoned with, for whoever asks more
    gaps: Mapping[str, Gaps] = field(default_factory=dict)  # members that were not read, by pool

    def of(self, verdict: str) -> list[PoolNeed]:
        """List the pools of one verdict."""
        return [each for each in self.pools if each.verdict == verdict]

    @property
    def lacking(self) -> str:
        """What the first line begins with where members could not be read."""
        return first_words(self.gaps)

    @property
    def exit_code(self) -> int:
        """1 where a pool is short; 2 where a part failed, a pool has no answer, or members could not be read."""
        failed = 2 if self.failed else worst_code(self.gaps)
        return max([failed, *(each.exit_code for each in self.pools)])

    @property
    def headline(self) -> str:
        """What could not be read; how many are short, and have aliases to spare."""
        short, many, total = self.of(SHORT), self.of(TOO_MANY), len(self.pools)
        if total == 1:
            return self.lacking + _alone(self.pools[0], self.meet)
        kinds = {each.kind for each in self.pools}
        every = counted(total, *kinds) if len(kinds) == 1 else f"{total:,} pools and volumes"
        parts = []
        if short:
            missing = counted(sum(each.to_add for each in short), "alias", "aliases")
            first = short[0]
            parts.append(
                f"{counted(len(short), 'is', 'are')} short of {missing} in all, "
                f"{first.name} most ({first.needed} needed, {first.in_use} in use)"
            )
        if many:
            spare = sum(each.to_gain for each in many)
            parts.append(f"{counted(len(many), 'has', 'have')} {spare:,} to spare")
        for verdict, words in ((ENOUGH, "enough"), (UNKNOWN, "no answer")):
            if found := self.of(verdict):
                parts.append(f"{counted(len(found), 'has', 'have')} {words}")
        if self.failed:
            parts.append(f"{counted(len(self.failed), 'part')} of the site failed")
        told = "; ".join(parts) or "nothing to tell"
        return f"{self.lacking}{every} in {percent(self.meet, 5)} of the busy time: {told}."

    @property
    def notes(self) -> tuple[str, ...]:
        """How it was found, what is uneven, what to do."""
        found = [*all_notes(self.gaps), *self.remarks]
        busy = "Busy: at least a quarter of the load of the 99th percentile."
        if len(self.pools) == 1:  # of several the target stands below the rows
            busy = f"Target: {self.target}. {busy}"
            if self.pools[0].supply:
                found.append(f"Supply counters: {self.pools[0].supply} ({OF_COUNTERS}).")
        found.append(busy)
        found += [f"No answer for {name}: {problem}" for name, problem in self.failed]
        problems = [each for each in self.pools if each.problem]
        found += [f"{each.name}: {each.problem}." for each in problems[:NAMED]]
        if len(problems) > NAMED:
            found.append(f"{len(problems) - NAMED} more without an answer; --json has the reasons.")
        uneven = by_key((note, each.name) for each in self.pools for note in each.notes)
        said = [
            f"{'Each of ' if len(names) > 1 else ''}{listed(names, NAMED)}: {note}."
            for note, names in uneven.items()
        ]
        found += [*first_of(said, 2 * NAMED), self._next()]
        return tuple(found)

    def sections(self) -> tuple[render.Section, ...]:
        """One row a pool; of one pool its hours of the week and its worst intervals."""
        if len(self.pools) == 1:
            return _of_one(self.pools[0])
        shown = self.pools[:40]  # rows for people; all of them in CSV and JSON
        systems = len({each.system for each in self.pools}) > 1
        columns = [
            column("pool", "", "pool", 0, lambda need: need.name if systems else need.pool),
            *COUNTS,
            column("range", "", "range", 0, _range),
            column("verdict", "", "verdict", 0, _verdict),
            column("short_share", "", "short", 0, lambda need: percent(need.short_share)),
            column("busiest_hour", "", "most", 0, lambda need: need.busiest_hour or None),
        ]
        seldom = (
            column("rule", "", "rule", 0, partial(_rule, name="in_use_plus_queue")),
            column("supply", "", "counters", 0, lambda need: need.supply or None),
        )
        table = tabled(shown, [*columns, *seldom]).filled([each.key for each in columns])
        more = len(self.pools) - len(shown)
        caption = (
            f"needed: {self.target}, in the worst interval, in 99 % and 95 % of the busy time; range: 90 %, of the "
            f"count in {percent(self.meet, 5)}; short: share of the busy intervals; most: hour of the week"
        )
        said = {"rule": "rule: in use + queue", "supply": f"counters: {OF_COUNTERS}"}
        caption = "; ".join([caption, *(said[each.name] for each in table.columns if each.name in said)])
        caption += f". {more} more rows in --csv." if more else "."
        return (render.Section(table=table, caption=caption),)

    def plain_figures(self) -> dict[str, Any]:
        """Figures of each pool and of all."""
        return {
            "pools": [
                record(each, FIGURES)
                | {"volumes_missing": len(self.gaps.get(each.name, NOTHING_MISSING).volumes)}
                for each in self.pools
            ],
            "all": {
                "pools": len(self.pools),
                **{name: len(self.of(verdict)) for name, verdict in VERDICTS.items()},
                **{name: sum(getattr(each, name) or 0 for each in self.pools) for name in SUMS},
                **dict.fromkeys(NO_LONGER, 0),
            },
            "volumes_missing": all_missing(self.gaps),
            "target": str(self.target),
            "meet": self.meet,
            "failed": [{"part": name, "problem": problem} for name, problem in self.failed],
        }

    def _next(self) -> str:
        """What to do on Monday."""
        short, many = self.of(SHORT), self.of(TOO_MANY)
        if short:
            first = short[0]
            when = f" (most on {first.busiest_hour}:00)" if first.busiest_hour else ""
            do = f"Next: {first.name} from {first.in_use} to {counted(first.needed or 0, 'alias', 'aliases')}{when}"
            return f"{do}; `--since DATE` compares the prediction with what happened."
        if many:
            some = f"Next: {many[0].name} can spare {counted(many[0].to_gain, 'device number')}"
            way = (
                "it away and measure again"
                if many[0].to_gain == 1
                else "them in two steps and measure between"
            )
            return f"{some}; take {way}."
        without = self.of(UNKNOWN)
        if without:
            return f"Next: correct what leaves {without[0].name} without an answer."
        more = "; --pool NAME shows one over time" if len(self.pools) > 1 else ""
        return f"Next: nothing to do{more}."


def _alone(need: PoolNeed, meet: float) -> str:
    """Of one pool."""
    if need.needed is None:
        return f"{need.name}: no answer; {need.problem}."
    ends = "" if need.needed_low is None else f" ({from_to(need.needed_low, need.needed_high)})"
    verdicts = {
        SHORT: f"short by {need.to_add}",
        TOO_MANY: f"at least {need.to_gain} to spare",
        ENOUGH: "too quiet to matter" if need.count.too_quiet else "enough",
        UNKNOWN: "no verdict",
    }
    worst = "" if need.worst_start is None else f", {need.worst_start:%Y-%m-%d %H:%M}"
    count = counted(need.needed, "alias", "aliases")
    busy = f"in {percent(meet, 5)} of the busy time"
    if need.counters is not None:
        busy = "by its supply counters"
        worst = f" by averages{worst}"
    return (
        f"{need.name} needs {count}{ends} {busy}, {need.needed_worst} in the worst interval{worst}; "
        f"{need.in_use} in use: {verdicts[need.verdict]}."
    )


def _verdict(need: PoolNeed) -> str:
    if need.verdict == SHORT:
        return f"short by {need.to_add}"
    if need.count.too_quiet:
        return "too quiet"
    return f"spare {need.to_gain}" if need.verdict == TOO_MANY else need.verdict


def _range(need: PoolNeed) -> str | None:
    return None if need.needed_low is None else from_to(need.needed_low, need.needed_high, "-")


def _of_one(need: PoolNeed) -> tuple[render.Section, ...]:
    """Days of the week by hours, and the worst intervals."""
    found = []
    hours = need.series.hours()
    if np.isfinite(hours).any():
        measured, during = (np.flatnonzero(np.isfinite(hours).any(axis=axis)) for axis in (1, 0))
        days = [column("hour", decimals=0), *(column(WEEKDAYS[day], decimals=0) for day in measured)]
        rows = [(hour, *(whole(hours[day, hour]) for day in measured)) for hour in during]
        found.append(render.Section(table=tabled(rows, days), title="Largest need by hour of the week"))
    series = need.series
    order = np.argsort(-np.nan_to_num(series.needed, nan=-1.0), kind="stable")[:8]  # intervals of one pool
    columns = (
        column("start", of=lambda k: (when := began(series.start, k)) and f"{when:%Y-%m-%d %H:%M}"),
        column("needed", decimals=0, of=lambda k: whole(series.needed[k])),
        column("in_use", "", "in use", 0, lambda k: int(series.in_use[k])),
        column("io_rate", "1/s", "I/O rate", 1, lambda k: float(series.io_rate[k])),
        column("response", "ms", decimals=2, of=lambda k: _known(series.response[k] / MILLISECOND)),
        column("queued", decimals=2, of=lambda k: _known(series.queued[k])),
    )
    found.append(render.Section(table=tabled(order, columns), title="Worst intervals"))
    rules = [(RULES[name], value) for name, value in need.rules.items() if value is not None]
    if rules:
        made = tabled(rules, (column("rule"), column("says", decimals=0)))
        found.append(render.Section(table=made, title="Rules of the field"))
    return tuple(found)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
