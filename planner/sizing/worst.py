"""Which of many intervals stands for a volume or pool: the one that needs most aliases."""

from __future__ import annotations

from collections.abc import Sequence

from planner.sizing.need import Case, Need


def worst_by_need(found: Sequence[Need], cases: Sequence[Case]) -> int | None:
    """Place of the interval that needs most; of equals the busiest, then the first; None where none has a count."""

    def rank(k: int) -> tuple[int, float]:
        run = cases[k][-1] if cases[k] else None
        return found[k].count or 0, 0.0 if run is None else float(run.io_rate.value @ run.service.value)

    return max((k for k, each in enumerate(found) if each.count is not None), key=rank, default=None)
