"""Which of many intervals stands for a volume or pool: the one that needs most aliases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from planner.demand import Law, Target
from planner.measurements import Run
from planner.sizing.gaps import below_floor
from planner.sizing.need import Case, Need, need

FromSources = Sequence[tuple[str, Run]]
"""Measurements of one volume or pool, each with the source that it comes from, in the order of time."""


def worst_by_need(found: Sequence[Need], cases: Sequence[Case]) -> int | None:
    """Place of the interval that needs most, of equals the busiest, then the first; None where none has a count."""

    def rank(k: int) -> tuple[bool, int, float]:
        run = cases[k][-1] if cases[k] else None
        matters = run is not None and not below_floor(run)
        return (
            matters,
            found[k].count or 0,
            0.0 if run is None else float(run.io_rate.value @ run.service.value),
        )

    return max((k for k, each in enumerate(found) if each.count is not None), key=rank, default=None)


def present_cases(
    measured: Mapping[str, FromSources], law: Law, target: Target, growth: float
) -> dict[str, tuple[Run, ...]]:
    """Take of every source the interval that needs most, the last source being the present state."""
    several = {name: rows for name, rows in measured.items() if len(rows) > 1}
    flat = [(name, k) for name, rows in several.items() for k in range(len(rows))]
    asked = [(several[name][k][1],) for name, k in flat]
    counts = (
        dict(zip(flat, need(asked, law, target, growth, ranges=False), strict=True))
        if _ranked(several)
        else {}
    )

    def worst(name: str, places: Sequence[int]) -> int:
        if len(places) == 1:
            return places[0]
        found = [counts[name, k] for k in places]
        at = worst_by_need(found, [(measured[name][k][1],) for k in places])
        return places[-1 if at is None else at]

    cases: dict[str, tuple[Run, ...]] = {}
    for name, rows in measured.items():
        by_source: dict[str, list[int]] = {}
        for k, (source, _) in enumerate(rows):
            by_source.setdefault(source, []).append(k)
        by_count: dict[int, list[int]] = {}
        for k in sorted(worst(name, places) for places in by_source.values()):
            by_count.setdefault(rows[k][1].aliases, []).append(k)
        kept = sorted(worst(name, places) for places in by_count.values())
        cases[name] = tuple(
            _named(rows[k][1], len(rows)) if len(kept) < len(rows) else rows[k][1] for k in kept
        )
    return cases


def _ranked(several: Mapping[str, FromSources]) -> bool:
    """Whether any volume or pool has intervals to choose among."""
    return any(
        len({source for source, _ in rows}) < len(rows) or len({run.aliases for _, run in rows}) < len(rows)
        for rows in several.values()
    )


def _named(run: Run, many: int) -> Run:
    """The run with which of its intervals it is."""
    when = "" if run.start is None else f", {run.start:%Y-%m-%d %H:%M}"
    return replace(run, interval=f"worst of {many:,} intervals{when}")
