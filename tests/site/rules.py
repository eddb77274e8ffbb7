"""Rules of the field against the planner, on simulated pools whose needs are known: `python -m tests.site.rules SEED`.

Each pool is simulated over some intervals, half of them with aliases in use. What is asked is the count that the worst
interval needs. The ranges of the planner are judged as well: that of one interval, and the one that all intervals
teach. The bounds of `planner.site.teach` were taken from pools of the seeds 900 to 1099; judge on others.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from planner.demand import Law
from planner.site.groups import groups_of, rows_of
from planner.site.need import need_of
from planner.site.parts import SitePart
from planner.site.pool_need import PoolNeed
from planner.demand import Target
from tests.site.simulated import SimulatedPool, pool

MODEL_ERROR = 0.02
PATHS = 8  # of a control unit, as is usual
RULES = ("planner", "in use + queue", "high water, in use + queued", "high water in use", "paths - 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One pool: what it truly needs, what each of `RULES` says, and both ranges of the planner."""

    needed: int
    said: tuple[int, ...]
    one: tuple[int, int] | None
    taught: tuple[int, int] | None


def judged(drawn: SimulatedPool) -> Judged | None:
    """One pool; None where the planner has no answer."""
    law = Law(inflation=drawn.inflation, redrive_time=drawn.gap, model_error=MODEL_ERROR)
    frame = drawn.frame()
    groups = groups_of(frame.lazy())
    part = SitePart(
        name="pool",
        groups=tuple(groups),
        frame=rows_of(frame.lazy(), groups),
        law=law,
        target=Target(),
        meet=1.0,
    )
    ranges: list[PoolNeed] = []
    (found,) = need_of(part, before_teaching=ranges.append).pools
    if found.needed_worst is None:
        return None
    queues = np.ceil(np.round(drawn.rows[:, 2].sum(axis=1), 6)).astype(int)
    both = drawn.most_used + drawn.most_waiting
    (alone,) = ranges
    used = int(drawn.most_used.max())
    return Judged(
        needed=int(drawn.needed.max()),
        said=(found.needed_worst, drawn.in_use + int(queues.max()), int(both.max()), used, PATHS - 1),
        one=_ends(alone), taught=_ends(found) if found.taught_by > 1 else None,
    )  # fmt: skip


def _ends(found: PoolNeed) -> tuple[int, int] | None:
    if found.needed_low is None or found.needed_high is None:
        return None
    return found.needed_low, found.needed_high


def main(seed: int, pools: int = 12, intervals: int = 8) -> None:
    """Print both tables."""
    every = []
    for k in range(pools):
        each = judged(pool(seed + k, intervals, aliases=k % 2 == 0))
        if each is not None:
            every.append(each)
            print(each, file=sys.stderr, flush=True)
    report(every)


def report(every: list[Judged]) -> None:
    """How often each rule is right; how wide the ranges are, and how often they hold."""
    print(f"{len(every)} pools; percent")
    heads = ("right", "within 1", "within 25 %", "too few", "too few by more", "twice or more")
    print(f"{'':30s}" + "".join(head.rjust(len(head) + 3) for head in heads))
    truth = np.array([each.needed for each in every])
    for k, name in enumerate(RULES):
        said = np.array([each.said[k] for each in every])
        off = said - truth
        nearly = np.maximum(1.0, 0.25 * truth)
        shares = (
            off == 0,
            abs(off) <= 1,
            abs(off) <= nearly,
            off < 0,
            -off > nearly,
            said >= 2 * np.maximum(truth, 1),
        )
        texts = [f"{100 * np.mean(share):.0f}" for share in shares]
        print(
            f"{name:30s}"
            + "".join(text.rjust(len(head) + 3) for text, head in zip(texts, heads, strict=True))
        )
    both = [each for each in every if each.one is not None and each.taught is not None]
    for name, ends in (
        ("one interval", [each.one for each in both]),
        ("taught", [each.taught for each in both]),
    ):
        held = np.mean([a <= each.needed <= b for each, (a, b) in zip(both, ends, strict=True)])  # type: ignore[misc]
        width = np.array([b - a for a, b in ends])  # type: ignore[misc]
        shown = f"width median {np.median(width):.1f}, mean {width.mean():.1f}"
        print(f"range, {name}: {len(both)} pools, holds {100 * held:.0f} %, {shown}")
    ratio = [(each.taught[1] - each.taught[0]) / max(each.one[1] - each.one[0], 1) for each in both]  # type: ignore[index]
    if ratio:
        print(
            f"width taught over one interval: median {np.median(ratio):.2f}, of the means {_mean_ratio(both):.2f}"
        )


def _mean_ratio(both: list[Judged]) -> float:
    widths = [
        sum(ends[1] - ends[0] for ends in some) for some in ([e.taught for e in both], [e.one for e in both])
    ]  # type: ignore[index]
    return widths[0] / max(widths[1], 1)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
