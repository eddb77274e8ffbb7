"""Rules of the field against the planner, on simulated pools whose needs are known: `python -m tests.site.rules SEED`.

Each pool is simulated over some intervals, half of them with aliases in use. What is asked is the count that the worst
interval needs. The range of the planner, which is that of this interval, is judged as well.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from planner.demand import DeviceModel, Target
from planner.measurements.choose import groups_of, rows_of
from planner.site.parts import SitePart
from planner.site.pool_need import PoolNeed
from planner.site.question import need_of
from tests.site.simulated import SimulatedPool, pool

MODEL_ERROR = 0.02
PATHS = 8  # of a control unit, as is usual
RULES = ("planner", "in use + queue", "high water, in use + queued", "high water in use", "paths - 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One pool: what it truly needs, what each of `RULES` says, and the range of the planner."""

    needed: int
    said: tuple[int, ...]
    ends: tuple[int, int] | None


def judged(drawn: SimulatedPool) -> Judged | None:
    """One pool; None where the planner has no answer."""
    device_model = DeviceModel(inflation=drawn.inflation, redrive_time=drawn.gap, model_error=MODEL_ERROR)
    frame = drawn.frame()
    groups = groups_of(frame.lazy())
    part = SitePart(
        name="pool",
        groups=tuple(groups),
        frame=rows_of(frame.lazy(), groups),
        device_model=device_model,
        target=Target(),
        meet=1.0,
    )
    (found,) = need_of(part)
    if found.needed_worst is None:
        return None
    queues = np.ceil(np.round(drawn.rows[:, 2].sum(axis=1), 6)).astype(int)
    both = drawn.most_used + drawn.most_waiting
    used = int(drawn.most_used.max())
    return Judged(
        needed=int(drawn.needed.max()),
        said=(found.needed_worst, drawn.in_use + int(queues.max()), int(both.max()), used, PATHS - 1),
        ends=_ends(found),
    )  # fmt: skip


def _ends(found: PoolNeed) -> tuple[int, int] | None:
    if found.needed_low is None or found.needed_high is None:
        return None
    return found.needed_low, found.needed_high


def main(seed: int, pools: int = 12, intervals: int = 8) -> None:
    """Print the table and the range."""
    every = []
    for k in range(pools):
        each = judged(pool(seed + k, intervals, aliases=k % 2 == 0))
        if each is not None:
            every.append(each)
            print(each, file=sys.stderr, flush=True)
    report(every)


def report(every: list[Judged]) -> None:
    """How often each rule is right; how wide the range is, and how often it holds."""
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
    ends = np.array([(*each.ends, each.needed) for each in every if each.ends is not None])
    held = np.mean((ends[:, 0] <= ends[:, 2]) & (ends[:, 2] <= ends[:, 1]))
    width = ends[:, 1] - ends[:, 0]
    print(
        f"range: {len(ends)} pools, holds {100 * held:.0f} %, width median {np.median(width)}, mean {width.mean():.1f}"
    )


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
