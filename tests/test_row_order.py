"""An answer depends on what was measured, not on the order of the rows nor on the names of volumes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import planner
from planner.errors import PlannerError
from planner.measurements import pool_runs, read
from planner.measurements.rows import Rows


def random_pool(generator: np.random.Generator, aliases: int) -> pl.DataFrame:
    """Volumes of unequal load, some with queues longer than Poisson arrivals make, two of them equal."""
    many = int(generator.integers(3, 7))
    rate, service = generator.uniform(20, 400, many).round(1), generator.uniform(0.3, 6, many).round(2)
    service = np.minimum(service, (900 / rate).round(2))
    load = rate * service / 1e3
    queued = (load**2 / (1 - load) * generator.choice([0.5, 1, 2, 4, 8], many)).round(2)
    for numbers in (rate, service, queued):
        numbers[1] = numbers[0]
    return pl.DataFrame(
        {"pool": "P", "aliases": [aliases] * many, "io_rate": rate, "service_ms": service, "queued": queued}
    )


def answered(rows: pl.DataFrame) -> tuple[object, ...]:
    """Count, range and all that is printed, of volumes named by their place."""
    rows = rows.with_columns(pl.Series("volume", [f"V{k}" for k in range(rows.height)]))
    try:
        answer = planner.aliases(rows)
    except PlannerError as problem:
        return (str(problem),)
    return answer.recommended, answer.range, answer.text()


@pytest.mark.long
@pytest.mark.parametrize("aliases", [0, 2, 5])
def test_the_order_of_rows_does_not_change_an_answer(aliases: int) -> None:
    generator = np.random.default_rng(aliases)
    rows = random_pool(generator, aliases)
    orders = [np.arange(rows.height), *(generator.permutation(rows.height) for _ in range(2))]
    assert len({answered(rows[order]) for order in orders}) == 1


def test_a_run_has_its_volumes_in_one_order() -> None:
    """Bit by bit, also where aliases at work leave only sums of them: sums of floats depend on their order."""
    generator = np.random.default_rng(5)
    many = 40
    listed = pl.DataFrame(
        {"device": [f"{k:04X}" for k in range(many)], "kind": ["base"] * 30 + ["alias"] * 10,
         "io_rate": generator.uniform(10, 90, many), "service": generator.uniform(1e-3, 4e-3, many),
         "queued": generator.uniform(0.0, 1.0, many)}
    )  # fmt: skip
    ends = [
        pl.col(name).alias(f"{name}{end}")
        for name in ("io_rate", "service", "queued")
        for end in ("_low", "_high")
    ]
    rows = read(listed.with_columns(*ends)).devices

    def run(order: np.ndarray) -> list[bytes]:
        (pool,) = pool_runs(Rows(rows[order]))[0]
        assert pool.run is not None
        each = (pool.run.io_rate, pool.run.service, pool.run.queued)
        return [np.asarray(end).tobytes() for interval in each for end in interval]

    expected = run(np.arange(many))
    for _ in range(20):
        assert run(generator.permutation(many)) == expected
