"""Check answers of counts: ``python -m tests.fuzz.answers --servers 1000000 --aliases 10000 --seed 1``.

An answer is wrong if it misses its target, or if one fewer meets it. Servers are held against the functions `mmc` and
`mgc`, aliases against the rows of the answer and, for pools, against `alias_pool` itself, solved to its end.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from planner import queueing
from planner.demand import DeviceModel, Target
from planner.devices import Pool, VolumeClass, solve_pools
from planner.errors import PlannerError
from planner.interval import Interval
from planner.measurements import from_numbers
from planner.results import Array
from planner.sizing import aliases_of_runs
from planner.sizing.fewest import excess_of, fewest, first_guess, most_useful

BLOCK: Final = 20_000
MOST: Final = 255  # aliases that are tried
NEAR: Final = 1e-6  # relative; an iterated pool that is so near to its target may be told either way


@dataclass
class Tally:
    """Answers that were checked, refused and wrong, with the first few that were."""

    checked: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """A line."""
        return f"{self.checked:,} checked, {self.refused:,} refused, {len(self.wrong)} wrong {self.wrong[:3]}"


@dataclass(frozen=True)
class Stations:
    """Questions to `min_servers`, as arrays: the fewest servers that keep `limit`."""

    kind: str
    rate: Array
    service: Array
    scv: Array
    limit: Array
    share: Array

    @classmethod
    def drawn(cls, random: np.random.Generator, size: int, most: float) -> Stations:
        """Loads from .001 to `most` erlang, in any of the three targets."""
        kind = str(random.choice(["wait_time", "wait_time of scv", "delay_probability", "response_quantile"]))
        service = 10.0 ** random.uniform(-4, 1, size)
        share = random.uniform(0.01, 0.999, size)
        limits = {
            "wait_time": service * 10.0 ** random.uniform(-4, 1, size),
            "delay_probability": 10.0 ** random.uniform(-6, -0.01, size),
            "response_quantile": -np.log1p(-share) * service * (1 + 10.0 ** random.uniform(-3, 1, size)),
        }
        return cls(
            kind=kind,
            rate=10.0 ** random.uniform(-3, np.log10(most), size) / service,
            service=service,
            scv=random.choice([0.0, 0.3, 0.5, 2.0, 10.0], size) if kind.endswith("scv") else np.ones(size),
            limit=limits[kind.partition(" ")[0]],
            share=share,
        )

    def answered(self) -> Array:
        """What `min_servers` says."""
        if self.kind == "delay_probability":
            return queueing.min_servers(self.rate, self.service, delay_probability=self.limit)
        if self.kind == "response_quantile":
            return queueing.min_servers(self.rate, self.service, response_quantile=(self.share, self.limit))
        return queueing.min_servers(self.rate, self.service, scv=self.scv, wait_time=self.limit)

    def excess(self, servers: Array) -> Array:
        """What is reached over what is allowed, by the public models; infinite where saturated."""
        servers = np.maximum(servers, 1).astype(float)
        if self.kind == "wait_time of scv":
            return queueing.mgc(self.rate, self.service, servers, self.scv).wait_time / self.limit
        steady = queueing.mmc(self.rate, self.service, servers)
        if self.kind == "wait_time":
            return steady.wait_time / self.limit
        if self.kind == "delay_probability":
            return np.where(steady.stable, steady.delay_probability / self.limit, np.inf)
        return _quantile(steady, self.share) / self.limit


def servers(count: int, seed: int) -> Tally:
    """Answers of `min_servers`: each keeps its limit, and one server fewer does not."""
    random, tally = np.random.default_rng(seed), Tally()
    while tally.checked < count:
        size = min(BLOCK, count - tally.checked)
        asked = Stations.drawn(random, size, 1e4 if tally.checked % (5 * BLOCK) == 0 else 100.0)
        found = asked.answered()
        # The inversion of a quantile is iterated, the target is not: both may tell a tie otherwise.
        tie = 1e-9 if asked.kind == "response_quantile" else 0.0
        bad = asked.excess(found) > 1 + tie
        bad |= (found > 1) & (asked.excess(found - 1) <= 1 - tie)
        for k in np.flatnonzero(bad):
            numbers = (asked.rate[k], asked.service[k], asked.scv[k], asked.limit[k], asked.share[k])
            tally.wrong.append(f"{asked.kind} {numbers}: {found[k]}")
        tally.checked += size
    return tally


def _quantile(steady: queueing.Steady, share: Array) -> Array:
    """Response quantile of each element; infinite where it is not stable."""
    with np.errstate(all="ignore"):
        return np.where(steady.stable, steady.response_quantile(share), np.inf)


def volumes(count: int, seed: int) -> Tally:
    """Alias answers of one volume, held against their own rows."""
    random, tally, device_model = np.random.default_rng(seed), Tally(), DeviceModel.from_model("hyperpav")
    while tally.checked + tally.refused < count:
        service = 10.0 ** random.uniform(-4, -2)
        busy = random.uniform(0.02, 0.99)
        rate, queued = busy / service, busy * 10.0 ** random.uniform(-2, 0.8)
        target = _target(random, service)
        try:
            run = from_numbers(
                io_rate=Interval.around(rate, 0.001 * rate), service=Interval.around(service, 0.02 * service),
                queued=Interval.around(queued, 0.02 * queued),
            )  # fmt: skip
            answer = aliases_of_runs(run, device_model, target=target)
        except PlannerError:
            tally.refused += 1
            continue
        met = excess_of(target, answer.rows) <= 1.0
        first = int(np.argmax(met)) if met.any() else None
        tally.checked += 1
        if not answer.saturated and answer.recommended != first:
            tally.wrong.append(
                f"volume {rate!r} {service!r} {queued!r} {target}: {answer.recommended}, rows say {first}"
            )
    return tally


def _target(random: np.random.Generator, service: float) -> Target:
    kind = random.integers(4)
    wait = float(service * 10.0 ** random.uniform(-2, 0.5))
    return (
        Target(),
        Target(wait=wait),
        Target(response=2 * service + wait),
        Target(queued=float(random.uniform(0.01, 1))),
    )[kind]


def fewest_of_pools(asked: Sequence[Pool], target: Target, most: int) -> list[int | PlannerError | None]:
    """Fewest aliases of pools as they are, all side by side."""
    return fewest(
        lambda places, counts: solve_pools([asked[k] for k in places], counts), target, list(map(first_guess, asked)),
        [most_useful(pool, most) for pool in asked],
    )  # fmt: skip


def pools(count: int, seed: int) -> Tally:
    """Fewest aliases of pools, held against `alias_pool`."""
    random, tally = np.random.default_rng(seed), Tally()
    while tally.checked + tally.refused < count:
        service = 10.0 ** random.uniform(-4, -2)
        parts = []
        for _ in range(random.choice([1, 1, 2])):
            closed = random.random() < 0.6
            volumes_ = int(random.choice([1, 2, 4, 8, 20]))
            parts.append(
                VolumeClass(volumes=volumes_, population=float(random.integers(1, 6)),
                            think_time=float(service * 10.0 ** random.uniform(-2, 1.5)))
                if closed else VolumeClass(volumes=volumes_, arrival_rate=float(random.uniform(0.01, 0.9) / service))
            )  # fmt: skip
        pool = Pool(classes=tuple(parts), service_time=service, inflation=float(random.choice([0.0, 0.16])),
                    redrive_time=float(random.choice([0.0, 0.05]) * service))  # fmt: skip
        target = _target(random, service)
        try:
            (found,) = fewest_of_pools([pool], target, MOST)
            if not isinstance(found, int):
                tally.refused += 1
                continue
            at = [found] if found == 0 else [found - 1, found]
            excess = [float(excess_of(target, pool.solve([each]))[0]) for each in at]
        except PlannerError:
            tally.refused += 1
            continue
        tally.checked += 1
        if excess[-1] > 1 + NEAR or (len(excess) > 1 and excess[0] <= 1 - NEAR):
            tally.wrong.append(f"{pool} {target}: {found}, excess {excess}")
    return tally


def main() -> int:
    """Check as many answers as are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--servers", type=int, default=20_000)
    parser.add_argument("--aliases", type=int, default=100, help="half of them volumes, half pools")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    wrong = 0
    tasks: dict[str, tuple[Callable[[int, int], Tally], int]] = {
        "min_servers": (servers, asked.servers), "aliases of volumes": (volumes, asked.aliases // 2),
        "aliases of pools": (pools, asked.aliases - asked.aliases // 2),
    }  # fmt: skip
    for name, (check, count) in tasks.items():
        begin = time.process_time()
        tally = check(count, asked.seed)
        print(f"{name:20} {tally}, {time.process_time() - begin:.0f} s", flush=True)
        wrong += len(tally.wrong)
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
