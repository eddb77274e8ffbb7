"""How often counts are right where volumes act together: `python -m tests.demand.judged SEEDS [POOLS [KINDS]]`.

Seeds 1 to 9 were tuned on; judge on others. Pools are measured with no aliases, with half of what they need, and with
none and what was recommended; and their supply counters with .6, 1 and 1.5 times the aliases with which 1 % of the
tries fail.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

import numpy as np

from planner.demand import DeviceModel
from planner.sizing.need import need
from planner.supply import judge
from planner.units import MOST_ALIASES
from tests.demand.accuracy import MODEL_ERROR, run_of, say
from tests.demand.arrivals import INDEPENDENT, MOST_NEEDED, TOGETHER, VOLUMES, Arriving, drawn, least

EXACT_UP_TO = 6
LARGEST_SHARE = 0.01  # of the tries that fail


def judged(ends: Sequence[tuple[float, float, float]], needed: Sequence[int]) -> list[str]:
    """Shares [percent] right (within 25 % or one above `EXACT_UP_TO`), too few, and of ranges that hold."""
    point, low, high = np.array(ends, dtype=float).T
    true = np.array(needed)
    off = np.where(true > EXACT_UP_TO, np.maximum(0.25 * true, 1.0), 0.0)
    shares = np.abs(point - true) <= off, point < true - off, (low <= true) & (true <= high)
    return [f"{100 * each.mean():.0f}" for each in shares]


def answers(case: Arriving, counts: Sequence[int]) -> tuple[float, float, float, float]:
    """Count, range, and the count if bursts come together (nan where data decide), measured with some counts."""
    runs = [
        run_of(case.row(count), count, listing=bool(case.seed % 2), pool=case.volumes > 1) for count in counts
    ]
    device_model = DeviceModel(inflation=case.inflation, redrive_time=case.gap, model_error=MODEL_ERROR)
    (found,) = need([runs], device_model)
    if found.count is None or found.low is None or found.high is None:
        return np.nan, np.nan, np.nan, np.nan
    answer = found.answer
    together = answer.together_count if answer is not None else None
    return found.count, found.low, found.high, np.nan if together is None else together


def supplied(case: Arriving) -> list[tuple[bool, float, float, float, int]]:
    """Whether the verdict on supply counters is right, count, range, and what is needed, with three counts in use."""
    needed = least(lambda aliases: case.fails(aliases) <= LARGEST_SHARE)
    found = []
    for aliases in (max(round(share * needed), 1) for share in (0.6, 1.0, 1.5)):
        if needed > MOST_NEEDED or aliases + case.volumes > MOST_ALIASES:
            continue
        (pool,) = judge([case.supply(aliases)], no_alias=LARGEST_SHARE).pools
        spare = aliases - max(2, math.ceil(0.1 * aliases)) >= needed
        verdict = "not enough" if aliases < needed else "too many" if spare else "enough"
        ends = (
            np.nan if each is None else each
            for each in (pool.aliases_needed, pool.needed_low, pool.needed_high)
        )
        found.append((pool.verdict == verdict, *ends, needed))
    return found


def main(seeds: str, pools: int = 20, kinds: str = "") -> None:
    """Print the table, so many pools of each kind and seed."""
    first, _, last = seeds.partition("-")
    say("", ("cases", "right", "too few", "range", "to together"))
    for kind in kinds.split(",") if kinds else (*TOGETHER, *INDEPENDENT, *VOLUMES):
        cases = [
            case for seed in range(int(first), int(last or first) + 1) for case in drawn(kind, seed, pools)
        ]
        needed = [case.needed for case in cases]
        none = [answers(case, [0]) for case in cases]
        upper = [max(high, 1.25 * (0 if np.isnan(joined) else joined)) for _, _, high, joined in none]
        holds = [low <= true <= top for (_, low, _, _), true, top in zip(none, needed, upper, strict=True)]
        half = [answers(case, [max(case.needed // 2, 1)]) for case in cases]
        second = [
            answers(case, [0, int(one[0])]) if one[0] > 0 else one
            for case, one in zip(cases, none, strict=True)
        ]
        for title, found in (("none", none), ("half in use", half), ("second row", second)):
            more = [f"{100 * np.mean(holds):.0f}"] if found is none else []
            say(f"{kind}, {title}", [str(len(cases)), *judged([each[:3] for each in found], needed), *more])
        if kind not in VOLUMES and (each := [one for case in cases for one in supplied(case)]):
            right, *ends, true = zip(*each, strict=True)
            say(f"{kind}, supply counters", [str(len(each)), *judged(list(zip(*ends, strict=True)), true),
                                             f"{100 * np.mean(right):.0f} verdicts"])  # fmt: skip
        if "-v" in sys.argv:
            for case, *each in zip(cases, none, half, second, strict=True):
                print("   ", case.needed, each)


if __name__ == "__main__":
    given = [each for each in sys.argv[1:] if each != "-v"]
    main(given[0], *map(int, given[1:2]), *given[2:])
