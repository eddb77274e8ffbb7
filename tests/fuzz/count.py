"""Fuzz for a given time, or number of inputs, and count: ``python -m tests.fuzz.count --inputs 20000 --seed 7``.

Prints a line a target: inputs tried, how many were answered otherwise than they should, the longest time. What is
found is written to `tests/fuzz/corpus`, where every run of the tests tries it again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import signal
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Final

from tests.fuzz.targets import TARGETS

CORPUS: Final = Path(__file__).parent / "corpus"
SLOW: Final = 10.0  # s; no answer takes longer
HOPELESS: Final = 40  # s by the clock, after which an input is given up
SHOWN: Final = 3  # of what is found of one target


class GivenUp(BaseException):
    """An input that takes too long."""


def give_up(*_: object) -> None:
    """End an input."""
    raise GivenUp


def fuzz(name: str, inputs: int, seed: int, seconds: float, keep: Path | None) -> tuple[int, int, float]:
    """Try inputs of a target; how many were tried and found wanting, and the longest time [s]."""
    target, tried, longest, wrong = TARGETS[name], 0, 0.0, set[str]()
    signal.signal(signal.SIGALRM, give_up)
    begin = time.monotonic()
    for k in range(inputs):
        if time.monotonic() - begin > seconds:
            break
        case = target.make(Random(f"{name} {seed} {k}"))
        start, problem = time.process_time(), ""
        signal.alarm(HOPELESS)
        try:
            target.check(case)
        except GivenUp:
            problem = f"{case.get('law', '')} given up after {HOPELESS} s"
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            problem = (
                f"{type(error).__name__} in {Path(where.filename).name}:{where.lineno}: {str(error)[:200]}"
            )
        signal.alarm(0)
        took = time.process_time() - start
        longest, tried = max(longest, took), tried + 1
        if took > SLOW:
            problem = problem or f"took {took:.0f} s"
        if problem and (kind := problem.split(": ")[0]) not in wrong:
            wrong.add(kind)
            digest = hashlib.sha256(json.dumps(case, sort_keys=True).encode()).hexdigest()[:12]
            if len(wrong) <= SHOWN:
                print(f"  {name} {seed} {k} {digest}: {problem}", flush=True)
            if keep is not None:
                folder = keep / name.replace(" ", "-")
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{digest}.json").write_text(json.dumps(case) + "\n", encoding="utf-8")
    return tried, len(wrong), longest


def main() -> int:
    """Fuzz all targets, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help="all of them if none is named")
    parser.add_argument("--inputs", type=int, default=1000, help="inputs of each target")
    parser.add_argument("--seconds", type=float, default=1e9, help="longest time for each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", action="store_true", help="write what is found to the corpus")
    asked = parser.parse_args()
    total = bad = 0
    for name in asked.targets or TARGETS:
        given = (name, asked.inputs, asked.seed, asked.seconds, CORPUS if asked.keep else None)
        try:  # in a process of its own: libraries that are not Python can end theirs
            with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as child:
                tried, wrong, longest = child.submit(fuzz, *given).result()
        except BrokenProcessPool:
            print(f"  {name} {asked.seed}: the process was ended", flush=True)
            tried, wrong, longest = 0, 1, 0.0
        print(f"{name:20} {tried:9,} inputs, {wrong} kinds of failure, longest {longest:.2f} s", flush=True)
        total, bad = total + tried, bad + wrong
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    print(f"{'all':20} {total:9,} inputs, {bad} kinds of failure, at most {most:.1f} GiB of memory")
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main())
