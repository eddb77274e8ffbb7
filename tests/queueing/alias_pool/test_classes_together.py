"""Classes that the field of any pool works through side by side answer as each by itself."""

import numpy as np
import pytest

from planner.queueing import alias_pool
from planner.queueing.pools.field import given_total
from planner.queueing.pools.field.given_total import CELLS_TOGETHER, side_by_side

NAN = float("nan")
POOLS = {
    "open": {"volumes": [3, 2, 1], "arrival_rate": [0.3, 0.7, 1.1], "inflation": 0.1},
    "closed of unequal size": {
        "volumes": [2, 1, 2, 1], "population": [12, 7, 9, 1], "think_time": [4.0, 2.0, 9.0, 1.0], "redrive_time": 0.05,
    },
    "mixed, regular service": {
        "volumes": [2, 1, 1], "population": [8, 5, NAN], "think_time": [5.0, 2.0, NAN],
        "arrival_rate": [NAN, NAN, 0.6], "scv": 0.4, "inflation": 0.05,
    },
    "service by class": {
        "volumes": [2, 2, 1], "population": [6, 9, 4], "think_time": [5.0, 9.0, 2.0], "service_time": [1.0, 0.7, 1.2],
        "inflation": 0.1, "redrive_time": 0.1, "alias_redrive_time": 0.02,
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", POOLS)
def test_together_as_each_by_itself(kind, monkeypatch):
    law = {"service_time": 1.0, **POOLS[kind], "method": "mean-field"}
    together = alias_pool([2, 3], **law)
    monkeypatch.setattr(given_total, "CELLS_TOGETHER", 0)
    apart = alias_pool([2, 3], **law)
    for name in ("throughput", "wait_time", "tries_rate", "fails_rate", "free_aliases"):
        np.testing.assert_allclose(getattr(together, name), getattr(apart, name), rtol=1e-9, atol=1e-12)


def test_a_class_split_in_two_is_the_same_pool():
    law = {"service_time": 1.0, "inflation": 0.1, "method": "mean-field"}
    whole = alias_pool(3, volumes=[4, 2], population=[9, 5], think_time=[6.0, 2.0], **law)
    split = alias_pool(3, volumes=[1, 2, 3], population=[9, 5, 9], think_time=[6.0, 2.0, 6.0], **law)
    np.testing.assert_allclose(split.wait_time[[0, 1, 2]], whole.wait_time[[0, 1, 0]], rtol=1e-6)


def test_groups_hold_every_class_once_and_little_more_than_they_need():
    rng = np.random.default_rng(5)
    for _ in range(200):
        sizes = rng.integers(1, 400, rng.integers(1, 20)).tolist()
        totals = int(rng.integers(1, 600))
        groups = side_by_side(sizes, totals)
        assert sorted(k for group in groups for k in group) == list(range(len(sizes)))
        for group in groups:
            of_each = [sizes[k] for k in group]
            assert of_each == sorted(of_each)
            assert of_each[-1] <= 2 * of_each[0]
            assert len(group) == 1 or len(group) * of_each[-1] * totals <= CELLS_TOGETHER
