"""The answers for many pools or volumes: one row each, sums over all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

from planner import render
from planner.answer import Answer
from planner.demand import Target
from planner.sizing.answer import SCOPE, unmeasured
from planner.sizing.commands import Command, section
from planner.sizing.gaps import Gaps, all_notes, first_words
from planner.sizing.plausible import LOOK, reasons
from planner.sizing.pool_count import MeasuredPool, PoolCount, all_traffic, table_of
from planner.sizing.wording import LEAST_ERROR

if TYPE_CHECKING:
    from planner.demand import Law

ALL: Final = "all"
MOST_NAMED: Final = 20  # pools that a note names


@dataclass(frozen=True, slots=True, kw_only=True)
class Subsystem(Answer):
    """Answers for many `pools`: `target` and `growth` of each, and `remarks` on how they were read.

    `gaps` says by pool which members could not be read. `measured` and `law` are what they were answered from, for
    whoever asks more of them; none where that is not kept.
    `commands` are as of `AliasAnswer`.
    """

    PICTURE: ClassVar[str] = "planner.sizing.picture:draw_pools"

    pools: tuple[PoolCount, ...]
    target: Target
    growth: float = 0.0
    remarks: tuple[str, ...] = ()
    measured: tuple[MeasuredPool, ...] = ()
    law: Law | None = None
    commands: tuple[Command, ...] = ()
    gaps: Mapping[str, Gaps] = field(default_factory=dict)

    @property
    def answered(self) -> tuple[PoolCount, ...]:
        """Pools with a recommended count."""
        return tuple(pool for pool in self.pools if pool.recommended is not None)

    @property
    def changes(self) -> list[tuple[str, int]]:
        """Names, and how many aliases more each takes; none of what stays."""
        found = [(pool.name, (pool.recommended or 0) - pool.in_use) for pool in self.answered]
        return [(name, change) for name, change in found if change]

    @property
    def exit_code(self) -> int:
        """0 if every pool has an answer, 1 if one has no feasible one, 2 if one could not be solved or read whole."""
        return max(
            *(pool.exit_code for pool in self.pools), *(each.exit_code for each in self.gaps.values()), 0
        )

    def total(self) -> PoolCount:
        """Sums over the pools with an answer; the response time is weighted by rate."""
        pools = self.answered
        spans = [pool.range for pool in pools if pool.range is not None]
        known = all(pool.classic is not None for pool in pools)
        unknown = any(pool.rule_of_thumb is None for pool in pools)
        return PoolCount(
            name=ALL,
            volumes=sum(pool.volumes for pool in pools),
            in_use=sum(pool.in_use for pool in pools),
            recommended=sum(pool.recommended or 0 for pool in pools),
            range=(sum(low for low, _ in spans), sum(high for _, high in spans)),
            rule_of_thumb=None if unknown else sum(pool.rule_of_thumb or 0 for pool in pools),
            classic=sum(pool.classic or 0 for pool in pools) if known else None,
            now=all_traffic([pool.now for pool in pools]),
            then=all_traffic([pool.then for pool in pools]),
            grouping_error=max((pool.grouping_error for pool in pools), default=0.0),
        )

    def table(self) -> render.Table:
        """One row a pool."""
        return table_of(self.pools)

    def sections(self) -> tuple[render.Section, ...]:
        """The table with its sums."""
        caption = (
            f"recommended: {self.target}; rule: aliases in use and the queue, rounded up; then: with the recommended "
            "aliases."
        )
        table = table_of([*self.pools, self.total()])
        return (render.Section(table=table, caption=caption), *section(self.commands))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, as `--json` prints it."""

        def data(pool: PoolCount) -> dict[str, Any]:
            (row,) = table_of([pool]).records()
            return {**row, "grouping_error": pool.grouping_error}

        return {
            "headline": self.headline,
            "target": str(self.target),
            "growth": self.growth,
            "volumes_missing": sum(len(each.volumes) for each in self.gaps.values()),
            "pools": [
                {
                    **data(pool),
                    "notes": list(pool.notes),
                    "problem": pool.problem,
                    "volumes_missing": len(self.gaps[pool.name].volumes) if pool.name in self.gaps else 0,
                }
                for pool in self.pools
            ],
            "all": data(self.total()),
            "commands": [command for command, _ in self.commands],
            "notes": [*self.remarks, *self._model(), SCOPE],
        }

    @property
    def headline(self) -> str:
        """Sums over all pools."""
        total = self.total()
        low, high = total.range or (0, 0)
        volumes = sum(pool.volumes for pool in self.pools)
        gain = ""
        if total.now is not None and total.then is not None and math.isfinite(total.now.response_time):
            rates = (total.now.io_rate, total.then.io_rate)
            times = (1e3 * total.now.response_time, 1e3 * total.then.response_time)
            gain = (
                f" I/O rate {rates[0]:.0f} to {rates[1]:.0f}/s, response {times[0]:.2g} to {times[1]:.2g} ms."
            )
        ends = f"{low} to {high}" if high > low else f"{low}"
        assumed = unmeasured(run.assumed for pool in self.measured for run in pool.runs)
        return (
            f"{first_words(self.gaps)}{render.counted(len(self.pools), 'pool')}, "
            f"{render.counted(volumes, 'volume')}{self._when}: {total.recommended} aliases (range {ends}), "
            f"{total.in_use} in use.{gain}{assumed}"
        )

    @property
    def _when(self) -> str:
        """Whether intervals were chosen."""
        chosen = any(pool.runs and pool.runs[-1].interval for pool in self.measured)
        return ", each in the worst of its intervals" if chosen else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wrong where, what it saves, what to move."""
        total = self.total()
        found = []
        doubtful = {
            pool.name: reasons(
                pool.in_use, pool.recommended or 0, pool.now.service_time, pool.then.service_time
            )
            for pool in self.answered
            if pool.now is not None and pool.then is not None
        }
        if shown := [f"{name} ({'; '.join(words)})" for name, words in doubtful.items() if words]:
            rest = f" and {len(shown) - MOST_NAMED} more" if len(shown) > MOST_NAMED else ""
            found.append(f"Perhaps no alias problem: {', '.join(shown[:MOST_NAMED])}{rest}. {LOOK}")
        if self.growth:
            found.append(f"Demand grown by {self.growth:.0%} first.")
        if total.saved is not None and total.saved > 0:
            found.append(
                f"Classic PAV would take {total.classic} aliases for the same target: the pools save "
                f"{render.counted(total.saved, 'device number')}."
            )
        more = [pool for pool in self.answered if (pool.recommended or 0) > pool.in_use]
        less = [pool for pool in self.answered if (pool.recommended or 0) < pool.in_use]
        for pools, words in ((more, "to add in"), (less, "could serve elsewhere, from")):
            if pools:
                change = sum(abs((pool.recommended or 0) - pool.in_use) for pool in pools)
                found.append(f"{change} {words} {render.counted(len(pools), 'pool')}.")
        if total.grouping_error >= LEAST_ERROR:
            bound = f"about {total.grouping_error:.1%}" if math.isfinite(total.grouping_error) else "more"
            found.append(
                f"Nearly equal volumes are taken as one class: the wait of a volume may be off by {bound}."
            )
        found += [
            f"Pool {pool.name}: {pool.problem.removeprefix(f'pool {pool.name}: ')}"
            for pool in self.pools
            if pool.problem
        ]
        if len(self.answered) < len(self.pools):
            missing = render.counted(len(self.pools) - len(self.answered), "pool")
            found.append(f"The sums leave out {missing} without an answer.")
        return (*all_notes(self.gaps), *found, *self._pool_notes(), *self.remarks, *self._model(), SCOPE)

    def _model(self) -> tuple[str, ...]:
        return () if self.law is None or not self.law.words else (self.law.words,)

    def _pool_notes(self) -> list[str]:
        """Notes of the pools, each once."""
        notes: dict[str, list[str]] = {}
        for pool in self.pools:
            for note in pool.notes:
                notes.setdefault((note[:1].upper() + note[1:]).rstrip("."), []).append(pool.name)
        return [
            f"{note} ({'all pools' if len(names) == len(self.pools) else _names(names)})."
            for note, names in notes.items()
        ]


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_NAMED])
    return (
        f"pool {shown}"
        if len(names) == 1
        else f"pools {shown}" + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
    )
