"""How often counts are right on simulated volumes: `python -m tests.demand.accuracy SEED [VOLUMES [POOLS]]`.

With `--cached` all volumes are steady, their service times hits and misses of a cache; with `--slow` their arrivals are
Poisson, with rates that change within the interval; with `--crowded` pools have volumes that their bases cannot carry,
and aliases in use; with `--sampled=SECONDS` rows are of so short intervals, their queues sampled every two seconds, and
with `--unmeasured` they have no queue. Volumes and pools are drawn anew for every seed; FIRST-LAST takes several seeds
together. The weights of the candidates were adjusted on seeds 11 to 14 and pools of seeds 21 and 31, those of cached
and slow volumes on 1 to 3, I/Os taken to come together without a queue on 501; judge on others.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from planner.demand import DeviceModel
from planner.interval import Interval
from planner.measurements import Run
from planner.measurements.ends import sampled, without_queue
from planner.reports.any_listing import SAMPLED_EVERY
from planner.sizing.need import need
from tests.demand.volumes import (
    CACHED,
    CROWDED,
    KINDS,
    SLOW,
    STEADY,
    Case,
    PoolCase,
    cases,
    crowded_cases,
    pool_cases,
    printed,
)  # fmt: skip

MODEL_ERROR = 0.02
SIMULATED = 0.02  # error of a simulated rate: bursts are few


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
            "no answer": np.isnan(point),
        }
        return {
            "cases": float(point.size),
            **{name: 100 * float(each.mean()) for name, each in shares.items()},
        }


def run_of(rows: np.ndarray, aliases: int, *, listing: bool, pool: bool) -> Run:
    """What was printed of the volumes (columns) with so many aliases: rate, service, queue."""
    ends = np.array([printed(row, listing=listing) for row in rows.T])
    rate, service, queued = (Interval(ends[:, k, 0], ends[:, k, 1], ends[:, k, 2]) for k in range(3))
    names = tuple(f"{k:04X}" for k in range(rows.shape[1]))
    return Run(
        name="pool" if pool else "volume", pool=pool, aliases=aliases, volumes=names, io_rate=rate, service=service,
        queued=queued, queue_shown=queued.value,
    )  # fmt: skip


def asked(runs: Sequence[tuple[Run, ...]], slowing: Sequence[tuple[float, float]]) -> np.ndarray:
    """Count and range of each, (3, cases), all of one model in one call; nan where there is no answer."""
    ends = np.full((3, len(runs)), np.nan)
    groups = defaultdict(list)
    for k, pair in enumerate(slowing):
        groups[pair].append(k)
    for (inflation, gap), index in groups.items():
        device_model = DeviceModel(inflation=inflation, redrive_time=gap, model_error=MODEL_ERROR)
        for k, found in zip(index, need([runs[k] for k in index], device_model), strict=True):
            if found.count is not None and found.low is not None and found.high is not None:
                ends[:, k] = found.count, found.low, found.high
    return ends


def told(run: Run, seconds: float, *, queues: bool) -> Run:
    """The same as its source tells it: with the error of few samples, or without a queue."""
    run = sampled(run, seconds / SAMPLED_EVERY) if seconds else run
    if queues:
        return run
    nothing = np.zeros(run.bases)
    return without_queue(replace(run, queued=Interval(nothing, nothing, nothing + np.inf)))


def measured(case: Case | PoolCase, aliases: int, seconds: float = 0.0) -> Run:
    """The volume or pool as it is printed with so many aliases, of an interval so short where `seconds` are given."""
    source = case.source
    row = source.sampled(aliases, seconds, SAMPLED_EVERY) if seconds else source.row(aliases)
    pool = isinstance(case, PoolCase)
    return run_of(row if pool else row[:, None], aliases, listing=source.listing, pool=pool)


def of_cases(
    drawn: Sequence[Case] | Sequence[PoolCase], seconds: float = 0.0, *, queues: bool = True
) -> tuple[Found, Found]:
    """From one row a volume, and from that and a second one at the count that it recommends."""

    def row(case: Case | PoolCase, aliases: int) -> Run:
        return told(measured(case, aliases, seconds), seconds, queues=queues)

    return _one_and_two(
        [row(case, case.aliases) for case in drawn], (lambda k, aliases: row(drawn[k], aliases)) if queues else None,
        [(case.source.inflation, case.source.gap) for case in drawn], [case.needed for case in drawn],
    )  # fmt: skip


def within_bands(drawn: Sequence[Case] | Sequence[PoolCase]) -> tuple[float, float]:
    """Share [percent] of simulated rates and responses in their bands, by all of the need, half, none, and two more."""
    found = []
    for case in drawn:
        source = case.source
        device_model = DeviceModel(
            inflation=source.inflation, redrive_time=source.gap, model_error=MODEL_ERROR
        )
        answer = need([(measured(case, case.aliases),)], device_model)[0].answer
        for count in {0, case.needed // 2, case.needed, case.needed + 2} - {case.aliases}:
            if answer is None or count >= answer.rows.aliases.size:
                continue
            rate, service, queue, _ = source.row(count)
            if np.isnan(rate).any():  # without a steady state: its queue grows without bound
                continue
            response = ((rate * service).sum() + queue.sum()) / rate.sum()
            found.append([
                (1 - SIMULATED) * band.low[count] <= value <= (1 + SIMULATED) * band.high[count]
                for band, value in ((answer.rate, rate.sum()), (answer.response, response))
            ])  # fmt: skip
    rates, responses = 100 * np.mean(found, axis=0)
    return float(rates), float(responses)


def _one_and_two(
    first: Sequence[Run],
    again: Callable[[int, int], Run] | None,
    slowing: Sequence[tuple[float, float]],
    needed: Sequence[int],
) -> tuple[Found, Found]:
    one = asked([(run,) for run in first], slowing)
    two = one.copy()
    several = {}
    for k, run in enumerate(first if again else ()):
        if (
            again and np.isfinite(one[0, k]) and one[0, k] != run.aliases
        ):  # a row at the count in use is no second one
            second = again(k, int(one[0, k]))
            if (second.io_rate.value > 0).all():
                several[k] = (run, second)
    if several:
        two[:, list(several)] = asked(list(several.values()), [slowing[k] for k in several])
    found = (Found(point=p, low=low, high=high, needed=np.array(needed)) for p, low, high in (one, two))
    one_row, two_rows = found
    return one_row, two_rows


def main(
    seeds: str,
    volumes: int = 200,
    pools: int = 40,
    *,
    only: str = "",
    seconds: float = 0.0,
    queues: bool = True,
) -> None:
    """Print the tables, so many volumes and pools of each seed."""
    first, _, last = seeds.partition("-")
    every = range(int(first), int(last or first) + 1)
    if volumes:
        print_volumes(
            [case for seed in every for case in cases(seed, volumes, only=only)], seconds, queues=queues
        )
    if pools:
        draw = crowded_cases if only == CROWDED else partial(pool_cases, only=only)
        print_pools([case for seed in every for case in draw(seed, pools)], seconds, queues=queues)


def print_volumes(drawn: Sequence[Case], seconds: float = 0.0, *, queues: bool = True) -> None:
    """One row and two, by kind."""
    found = of_cases(drawn, seconds, queues=queues)[: 1 + queues]
    kinds = np.array([case.volume.kind for case in drawn])
    used = np.array([case.aliases for case in drawn]) > 0
    parts = {"all": None, "steady kinds": np.isin(kinds, STEADY), "bursty kinds": ~np.isin(kinds, STEADY),
             "aliases in use": used, "steady, none in use": np.isin(kinds, STEADY) & ~used,
             **{kind: kinds == kind for kind in (*KINDS, "mixture")}}  # fmt: skip
    names = ("cases", "right", "within one", "within 25 %", "range holds", "too few")
    for title, each in zip(("one row", "and a row at the recommended count"), found, strict=False):
        say(title, names)
        for part, chosen in parts.items():
            if chosen is not None and not chosen.any():
                continue
            say(part, [f"{each.figures(chosen)[name]:.0f}" for name in names])
    print_bands(drawn, plain=queues and not seconds)


def print_pools(drawn: Sequence[PoolCase], seconds: float = 0.0, *, queues: bool = True) -> None:
    """One row a volume, and two."""
    names = ("cases", "right", "within 25 % or one", "range holds", "too few by more")
    used = np.array([case.aliases for case in drawn]) > 0
    found = of_cases(drawn, seconds, queues=queues)[: 1 + queues]
    for title, each in zip(("pools, one row", "and rows at the recommended count"), found, strict=False):
        say(title, names)
        for part, chosen in {"all": None, "aliases in use": used}.items():
            if chosen is None or chosen.any():
                say(part, [f"{each.figures(chosen)[name]:.0f}" for name in names])
    print_bands(drawn, plain=queues and not seconds)


def print_bands(drawn: Sequence[Case | PoolCase], *, plain: bool) -> None:
    """How many simulated rows lie within the bands, where rows are whole."""
    if plain:
        say(
            "within the bands",
            [
                f"{name} {share:.0f}"
                for name, share in zip(("rate", "response"), within_bands(drawn), strict=True)
            ],
        )


def say(title: str, columns: Sequence[str]) -> None:
    """One line of a table."""
    print(f"{title:36s}" + "".join(f"{column:>20s}" for column in columns))


if __name__ == "__main__":
    seeds, *counts = [each for each in sys.argv[1:] if not each.startswith("--")]
    options = {
        each.partition("=")[0][2:]: each.partition("=")[2] for each in sys.argv[1:] if each.startswith("--")
    }
    kind = "".join(each for each in (CACHED, SLOW, CROWDED) if each in options)
    length, known = float(options.get("sampled", 0)), "unmeasured" not in options
    main(seeds, *map(int, counts), only=kind, seconds=length, queues=known)
