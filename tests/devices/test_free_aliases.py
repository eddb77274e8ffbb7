"""Counters that a solved pool foretells, against a simulated one."""

from __future__ import annotations

import numpy as np
import pytest

from planner.devices.pool import Pool, VolumeClass

simulated = pytest.importorskip("tests.simulated_pool", exc_type=ImportError)


@pytest.mark.long
@pytest.mark.parametrize(
    "demand", [{"population": 3, "think_time": 2.0}, {"arrival_rate": 0.4}], ids=["closed", "open"]
)
def test_a_minute_of_counters(demand: dict[str, float]) -> None:
    pool = Pool(classes=(VolumeClass(volumes=6, **demand),), service_time=1.0)
    rows = pool.solve(np.arange(1.0, 9.0))
    for row, aliases in enumerate(range(1, 9)):
        counted = simulated.simulate(aliases, volumes=6, **demand, intervals=6000, length=60.0, seed=aliases)
        seconds = 6000 * 60.0
        assert rows.tries[row] == pytest.approx(counted.tries.sum() / seconds, rel=0.04)
        assert rows.fails[row] == pytest.approx(counted.fails.sum() / seconds, rel=0.12, abs=5e-4)
        assert rows.fewest_free[row] == pytest.approx(np.median(counted.fewest), abs=1)
        assert rows.most_free[row] == pytest.approx(np.median(counted.most), abs=1)


def test_the_last_of_four_is_asked_for_by_nobody_but_found_free() -> None:
    rows = Pool(classes=(VolumeClass(volumes=2, population=3, think_time=1.0),), service_time=1.0).solve(
        [0, 4]
    )
    assert rows.fewest_free.tolist() == [0.0, 1.0]
    assert rows.most_free.tolist() == [0.0, 4.0]


def test_nobody_asks_for_an_alias() -> None:
    rows = Pool(classes=(VolumeClass(volumes=2, population=1, think_time=1.0),), service_time=1.0).solve([3])
    assert rows.tries.tolist() == [0.0]
    assert rows.fewest_free.tolist() == rows.most_free.tolist() == [3.0]
