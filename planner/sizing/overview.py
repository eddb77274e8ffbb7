"""The answer for many pools: one row a pool, sums over all of them, for people, programs and pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from planner import render
from planner.sizing.answer import SCOPE
from planner.sizing.pool_count import PoolCount, all_traffic, table_of
from planner.sizing.target import Target
from planner.sizing.wording import LEAST_ERROR
from planner.tabular import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALL: Final = "all"
MOST_NAMED: Final = 20  # pools on the axis of a picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Subsystem(Tabular):
    """Answers for many `pools`: the `target` of each, the `growth` reckoned with, and `notes` on how they were read."""

    pools: tuple[PoolCount, ...]
    target: Target
    growth: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def answered(self) -> tuple[PoolCount, ...]:
        """Pools with a recommended count."""
        return tuple(pool for pool in self.pools if pool.recommended is not None)

    @property
    def exit_code(self) -> int:
        """0 if every pool has an answer, 1 if one has no feasible one, 2 if one could not be solved."""
        return max(pool.exit_code for pool in self.pools)

    def total(self) -> PoolCount:
        """Sums over the pools with an answer; the response time is weighted by rate.

        Returns
        -------
        PoolCount
            Named "all".
        """
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
        """One row a pool.

        Returns
        -------
        render.Table
            Times in milliseconds.
        """
        return table_of(self.pools)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, as `--json` prints it.

        Returns
        -------
        dict
            `target`, `growth`, `pools` and `all`, the sums.
        """

        def data(pool: PoolCount) -> dict[str, Any]:
            (row,) = table_of([pool]).records()
            return {**row, "grouping_error": pool.grouping_error}

        return {
            "target": str(self.target),
            "growth": self.growth,
            "pools": [
                {**data(pool), "notes": list(pool.notes), "problem": pool.problem} for pool in self.pools
            ],
            "all": data(self.total()),
            "notes": [*self.notes, SCOPE],
        }

    def text(self) -> str:
        """The answer for people: sums, the table, what is wrong where.

        Returns
        -------
        str
            Lines of at most 80 columns, but for long names of pools.
        """
        total = self.total()
        low, high = total.range or (0, 0)
        volumes = sum(pool.volumes for pool in self.pools)
        head = (
            f"{render.counted(len(self.pools), 'pool')}, {render.counted(volumes, 'volume')}: {total.recommended} "
            f"aliases (range {low}{f' to {high}' if high > low else ''}), {total.in_use} in use."
        )
        lines = [render.wrap(head), "", render.to_text(table_of([*self.pools, total])), ""]
        lines += [render.wrap(sentence) for sentence in self._sentences(total)]
        return "\n".join(lines)

    def _sentences(self, total: PoolCount) -> list[str]:
        found = [f"recommended: {self.target}; rule: aliases in use and the queue, rounded up; then: with the "
                 "recommended aliases."]  # fmt: skip
        if self.growth:
            found.append(f"Demand grown by {self.growth:.0%} first; requesters rounded up to whole ones.")
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
        found += [f"Pool {pool.name}: {pool.problem}" for pool in self.pools if pool.problem]
        if len(self.answered) < len(self.pools):
            missing = render.counted(len(self.pools) - len(self.answered), "pool")
            found.append(f"The sums leave out {missing} without an answer.")
        return [*found, *self._pool_notes(), *self.notes, SCOPE]

    def _pool_notes(self) -> list[str]:
        """Notes of the pools, each once."""
        notes: dict[str, list[str]] = {}
        for pool in self.pools:
            for note in pool.notes:
                notes.setdefault(note[:1].upper() + note[1:], []).append(pool.name)
        return [
            f"{note} ({'all pools' if len(names) == len(self.pools) else _names(names)})."
            for note, names in notes.items()
        ]

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the recommended aliases of each pool with their range, beside those in use; most wanting first.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Where to draw; new axes where None.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from planner import style

        axes = style.new_axes() if axes is None else axes
        pools = sorted(self.answered, key=lambda pool: pool.in_use - (pool.recommended or 0))
        places = list(range(1, len(pools) + 1))
        count = [pool.recommended or 0 for pool in pools]
        spans = [pool.range or (0, 0) for pool in pools]
        room = 1.0 / max(len(pools), 1)
        size = max(1.0, min(6.0, 300.0 * room))
        axes.vlines(
            places, [low for low, _ in spans], [high for _, high in spans], color=style.COLORS[0], alpha=style.BAND,
            linewidth=max(0.5, min(6.0, 200.0 * room)), label="range",
        )  # fmt: skip
        axes.plot(places, count, "_", color=style.COLORS[0], markersize=2 * size, label="recommended")
        in_use = [pool.in_use for pool in pools]
        axes.plot(
            places, in_use, "o", color=style.MEASURED, markersize=size, fillstyle="none", clip_on=False,
            label="in use",
        )  # fmt: skip
        style.whole_numbers(axes, "y")
        if len(pools) <= MOST_NAMED:
            axes.set_xticks(places, [pool.name for pool in pools], rotation=45, ha="right")
        axes.set(xlabel="pool", ylabel="aliases", ylim=(0, None))
        axes.set_title(f"{len(pools)} pools: {sum(count)} aliases, {sum(in_use)} in use")
        axes.legend(frameon=False)
        return axes


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_NAMED])
    return (
        f"pool {shown}"
        if len(names) == 1
        else f"pools {shown}" + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
    )
