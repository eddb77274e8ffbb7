"""How often counts are right on simulated volumes: `python -m tests.demand.accuracy SEED [VOLUMES [POOLS]]`.

Volumes and pools are drawn anew for every seed; FIRST-LAST takes several seeds together. The weights of the readings
were adjusted on seeds 11 to 14 and pools of seeds 21 and 31; judge on others.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.demand import Law, point_and_range, read_several, read_volumes
from planner.demand.pooled import read_pool, read_pool_at_several
from planner.interval import Interval
from tests.demand.volumes import KINDS, STEADY, Case, PoolCase, cases, pool_cases, printed

MODEL_ERROR = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Count, range and truth of many volumes or pools, (cases,)."""

    point: np.ndarray
    low: np.ndarray
    high: np.ndarray
    needed: np.ndarray

    def figures(self, chosen: np.ndarray | None = None) -> dict[str, float]:
        """Shares [percent] and the number of cases."""
        where = np.ones(self.point.size, dtype=bool) if chosen is None else chosen
        point, low, high, needed = (each[where] for each in (self.point, self.low, self.high, self.needed))
        off = np.abs(point - needed)
        nearly = np.maximum(0.25 * needed, 1.0)
        shares = {
            "right": off == 0,
            "within one": off <= 1,
            "within 25 %": off <= 0.25 * needed,
            "within 25 % or one": off <= nearly,
            "range holds": (low <= needed) & (needed <= high),
            "too few": point < needed,
            "too few by more": needed - point > nearly,
        }
        return {
            "cases": float(point.size),
            **{name: 100 * float(each.mean()) for name, each in shares.items()},
        }


def measured(rows: Sequence[np.ndarray], listings: Sequence[bool]) -> list[Interval]:
    """Rate, service and queue as printed, arrays over volumes."""
    ends = np.array([printed(row, listing=listing) for row, listing in zip(rows, listings, strict=True)])
    return [Interval(ends[:, k, 0], ends[:, k, 1], ends[:, k, 2]) for k in range(3)]


def of_volumes(drawn: Sequence[Case]) -> tuple[Found, Found]:
    """From one row, and from that and a second one at the count that it recommends."""
    ends = np.zeros((2, 3, len(drawn)), dtype=int)
    groups = defaultdict(list)
    for k, case in enumerate(drawn):
        groups[case.volume.inflation, case.volume.gap].append(k)
    for (inflation, gap), index in groups.items():
        law = Law(inflation=inflation, redrive_time=gap, model_error=MODEL_ERROR)
        some = [drawn[k] for k in index]
        listings = [bool(case.volume.seed % 2) for case in some]
        used = np.array([case.aliases for case in some])
        first = measured([case.row for case in some], listings)
        one = point_and_range(read_volumes(*first, aliases=used, law=law))
        again = measured([case.volume.row(int(n)) for case, n in zip(some, one.point, strict=True)], listings)
        two = point_and_range(read_several([(*first, used), (*again, one.point)], law=law))
        for which, counts in enumerate((one, two)):
            ends[which][:, index] = counts.point, counts.low, counts.high
        # A row at the count in use is no second one.
        same = np.flatnonzero(one.point == used)
        ends[1][:, np.array(index)[same]] = ends[0][:, np.array(index)[same]]
    needed = np.array([case.needed for case in drawn])
    first_row, second_row = (Found(point=p, low=low, high=high, needed=needed) for p, low, high in ends)
    return first_row, second_row


def of_pools(drawn: Sequence[PoolCase]) -> tuple[Found, Found]:
    """From one row a volume, and from that and a second one at the count that it recommends."""
    ends = np.zeros((2, 3, len(drawn)), dtype=int)
    for k, case in enumerate(drawn):
        law = Law(inflation=case.inflation, redrive_time=case.gap, model_error=MODEL_ERROR)
        rows = measured(list(case.rows.T), [case.listing] * case.rows.shape[1])
        ends[:, :, k] = read_pool(*rows, aliases=case.aliases, law=law).point_and_range()
        point = int(ends[0, 0, k])
        again = case.row(point)
        if point != case.aliases and (again[0] > 0).all():  # a row at the count in use is no second one
            second = measured(list(again.T), [case.listing] * again.shape[1])
            several = [(*rows, case.aliases), (*second, point)]
            ends[1, :, k] = read_pool_at_several(several, law=law).point_and_range()
    needed = np.array([case.needed for case in drawn])
    one, two = (Found(point=p, low=low, high=high, needed=needed) for p, low, high in ends)
    return one, two


def main(seeds: str, volumes: int = 200, pools: int = 40) -> None:
    """Print the tables, so many volumes and pools of each seed."""
    first, _, last = seeds.partition("-")
    every = range(int(first), int(last or first) + 1)
    if volumes:
        print_volumes([case for seed in every for case in cases(seed, volumes)])
    if pools:
        print_pools([case for seed in every for case in pool_cases(seed, pools)])


def print_volumes(drawn: Sequence[Case]) -> None:
    """One row and two, by kind."""
    one, two = of_volumes(drawn)
    kinds = np.array([case.volume.kind for case in drawn])
    used = np.array([case.aliases for case in drawn]) > 0
    parts = {"all": None, "steady kinds": np.isin(kinds, STEADY), "bursty kinds": ~np.isin(kinds, STEADY),
             "aliases in use": used, "steady, none in use": np.isin(kinds, STEADY) & ~used,
             **{kind: kinds == kind for kind in (*KINDS, "mixture")}}  # fmt: skip
    names = ("cases", "right", "within one", "within 25 %", "range holds", "too few")
    for title, found in (("one row", one), ("and a row at the recommended count", two)):
        say(title, names)
        for part, chosen in parts.items():
            say(part, [f"{found.figures(chosen)[name]:.0f}" for name in names])


def print_pools(drawn: Sequence[PoolCase]) -> None:
    """One row a volume, and two."""
    names = ("cases", "right", "within 25 % or one", "range holds", "too few by more")
    used = np.array([case.aliases for case in drawn]) > 0
    for title, found in zip(
        ("pools, one row", "and rows at the recommended count"), of_pools(drawn), strict=True
    ):
        say(title, names)
        for part, chosen in {"all": None, "aliases in use": used}.items():
            if chosen is None or chosen.any():
                say(part, [f"{found.figures(chosen)[name]:.0f}" for name in names])


def say(title: str, columns: Sequence[str]) -> None:
    """One line of a table."""
    print(f"{title:36s}" + "".join(f"{column:>20s}" for column in columns))


if __name__ == "__main__":
    main(sys.argv[1], *(int(argument) for argument in sys.argv[2:]))
