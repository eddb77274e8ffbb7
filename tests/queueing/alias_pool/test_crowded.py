"""Closed pools in which I/Os always wait: exact chains, the limit of endless queues, and pools that had no answer."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner.queueing import alias_pool
from planner.queueing.pools.field.mean_field import STILL_GOOD
from planner.queueing.pools.lumped import StateLayout, lumped_states, number_of_states
from planner.queueing.pools.solve import solve_pools
from planner.queueing.pools.stability import most_in_overload
from tests.queueing.alias_pool.simulation import simulate


@pytest.mark.parametrize("think_time", [0.05, 0.5])
@pytest.mark.parametrize(("inflation", "gap"), [(0.0, 0.0), (0.18, 0.0), (0.0, 0.02)])
def test_near_the_exact_chain(inflation: float, gap: float, think_time: float) -> None:
    pool = {
        "volumes": [1, 1] if gap else [2, 1], "population": [9, 12], "think_time": [think_time] * 2,
        "service_time": [1.0, 0.7], "inflation": inflation, "redrive_time": gap,
    }  # fmt: skip
    for aliases in (1, 2):
        found, exact = (alias_pool(aliases, method=method, **pool) for method in ("auto", "exact"))  # type: ignore[arg-type]
        assert found.throughput == pytest.approx(exact.throughput, rel=0.015)
        assert found.queue_length == pytest.approx(exact.queue_length, rel=0.02)
        assert found.fails_rate == pytest.approx(exact.fails_rate, rel=0.015)


@pytest.mark.parametrize(("volumes", "aliases", "inflation"), [(3, 4, 0.0), (4, 2, 0.18), (5, 30, 0.1)])
def test_endless_queues_are_the_limit(volumes: int, aliases: int, inflation: float) -> None:
    """With very many requesters equal volumes do what overloaded open ones do, which is exact."""
    found = alias_pool(
        aliases, volumes=volumes, population=2000, think_time=0.1, service_time=1.0, inflation=inflation
    )
    most = float(most_in_overload(np.array(volumes), np.array(aliases / volumes), inflation, np.array(0.0)))
    assert found.throughput.item() == pytest.approx(most, rel=5e-3)


@pytest.mark.parametrize("seed", range(6))
def test_every_crowded_pool_has_an_answer(seed: int) -> None:
    """Saturated closed pools at few aliases, one in three of which had none; more aliases serve more."""
    random = np.random.default_rng(seed)
    classes = int(random.integers(2, 7))
    service = random.uniform(0.5e-3, 2.5e-3, classes)
    found = alias_pool(
        np.arange(1.0, 30.0, 4.0), volumes=random.integers(1, 5, classes), population=random.integers(12, 40, classes),
        think_time=service * random.uniform(0.05, 1.0, classes), service_time=service,
        inflation=random.choice([0.0, 0.18]), redrive_time=random.choice([0.0, 6e-5]),
    )  # fmt: skip
    assert np.asarray(found.converged).all()
    assert all(more > fewer for fewer, more in pairwise(found.pool_throughput.tolist()))


@given(
    aliases=st.integers(0, 7),
    classes=st.lists(st.tuples(st.integers(1, 3), st.integers(1, 5)), min_size=1, max_size=3),
    gap=st.booleans(),
)
def test_states_are_counted_before_they_are_made(
    aliases: int, classes: list[tuple[int, int]], gap: bool
) -> None:
    volumes, population = zip(*classes, strict=True)
    layout = StateLayout(aliases, volumes, population, gap)
    counted = number_of_states(layout)
    assume(counted <= 3000)
    assert counted == lumped_states(layout, 3000).size


def test_a_large_pool_has_too_many_states() -> None:
    assert number_of_states(StateLayout(2, (30,), (90,), gap=False)) > 1e6


RESTLESS = {
    "volumes": [1, 1], "population": [24, 24], "think_time": [0.585, 0.342], "service_time": 1.0, "inflation": 0.176,
    "redrive_time": 0.05,
}  # fmt: skip
"""Two volumes that take rate from each other from pass to pass; no chain is small enough."""


@pytest.mark.long
def test_a_pool_whose_iteration_never_settles_has_an_answer_at_every_count() -> None:
    found = solve_pools(np.arange(18.0, 47.0, 4.0), **RESTLESS)
    assert found.converged.all()
    assert found.residual.max() > STILL_GOOD
    assert all(more < fewer for fewer, more in pairwise(found.pool_queue_length.tolist()))
    thinking = (found.throughput * [0.585, 0.342]).sum(axis=-1)
    present = found.pool_queue_length + (found.throughput * found.service_time).sum(axis=-1)
    assert thinking + present == pytest.approx(48.0, rel=0.01)


@pytest.mark.long
@pytest.mark.parametrize("aliases", [20, 30, 40])
def test_a_pool_whose_iteration_never_settles_is_near_its_simulation(aliases: int) -> None:
    pytest.importorskip("numba")
    simulated = simulate(aliases, completions=600_000, **RESTLESS)
    found = solve_pools([aliases], **RESTLESS)
    assert found.pool_throughput[0] == pytest.approx(simulated.throughput[0].sum(), rel=0.035)
    assert found.pool_queue_length[0] == pytest.approx(simulated.queue_length[0].sum(), rel=0.035)
