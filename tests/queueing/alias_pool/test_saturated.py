"""Pools whose queues never end, against the chain of what their volumes hold, and the limit where they begin to end."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from planner.queueing import alias_pool
from planner.queueing.pools.stability import OneVolume, most_in_overload, one_in_overload
from tests.queueing.alias_pool.simulation import simulate


def chain(volumes: int, aliases: int, inflation: float) -> tuple[float, float]:
    """Rates of base and aliases of one of equal volumes, service time 1, that always have I/Os waiting.

    An I/O that ends while its volume has n in service took 1 + inflation (n - 1); a freed alias goes to any of the
    volumes, whose queues grow alike.
    """
    states = [s for s in product(range(aliases + 1), repeat=volumes) if sum(s) == aliases]
    place = {state: k for k, state in enumerate(states)}
    rates = np.zeros((len(states), len(states)))
    for state, source in product(states, range(volumes)):
        if state[source]:
            service_rate = state[source] / (1.0 + inflation * state[source])
            for to in range(volumes):
                moved = list(state)
                moved[source] -= 1
                moved[to] += 1
                rates[place[state], place[tuple(moved)]] += service_rate / volumes
    np.fill_diagonal(rates, 0.0)
    balance = np.vstack([(rates - np.diag(rates.sum(axis=1))).T, np.ones(len(states))])
    distribution = np.linalg.lstsq(balance, np.append(np.zeros(len(states)), 1.0), rcond=None)[0]
    held = np.array([state[0] for state in states])
    return float(distribution @ (1.0 / (1.0 + inflation * held))), float(
        distribution @ (held / (1.0 + inflation * held))
    )


@pytest.mark.parametrize(
    ("volumes", "aliases", "inflation"), [(1, 3, 0.09), (2, 3, 0.09), (3, 4, 0.3), (2, 1, 0.5)]
)
def test_overloaded_equal_volumes_are_exact(volumes: int, aliases: int, inflation: float) -> None:
    found = alias_pool(aliases, volumes=volumes, arrival_rate=100.0, service_time=1.0, inflation=inflation)
    base, by_alias = chain(volumes, aliases, inflation)
    assert not found.stable
    assert found.base_throughput == pytest.approx(base, rel=1e-9)
    assert found.alias_throughput == pytest.approx(by_alias, rel=1e-9)


@pytest.mark.parametrize(("volumes", "aliases", "inflation"), [(2, 3, 0.09), (3, 4, 0.3), (2, 1, 0.5)])
def test_equal_volumes_serve_at_most_what_their_chain_does(
    volumes: int, aliases: int, inflation: float
) -> None:
    most = most_in_overload(np.array(volumes), np.array(aliases / volumes), inflation, np.array(0.0))
    assert most == pytest.approx(sum(chain(volumes, aliases, inflation)), rel=1e-9)
    for gap in (0.0, 0.05):
        rate = float(
            most_in_overload(np.array(volumes), np.array(aliases / volumes), inflation, np.array(gap))
        )
        below, above = (
            alias_pool(
                0, volumes=volumes, arrival_rate=share * rate, service_time=1.0, inflation=inflation,
                redrive_time=gap,
            )
            for share in (0.999, 1.001)
        )  # fmt: skip
        assert below.aliases_to_be_stable <= aliases < above.aliases_to_be_stable


@pytest.mark.parametrize("rate", [1.80, 1.83, 1.84])
def test_one_volume_is_stable_up_to_what_all_its_devices_serve(rate: float) -> None:
    """Two devices of a volume with inflation .09 serve 2 / 1.09 = 1.8349 I/Os in a service time."""
    found = alias_pool(1, volumes=1, arrival_rate=rate, service_time=1.0, inflation=0.09)
    assert bool(found.stable) is (rate < 2 / 1.09)
    assert found.aliases_to_be_stable == (1 if rate < 2 / 1.09 else 2)


def test_a_hopeless_load_has_an_answer() -> None:
    """980 times what the base serves, as where milliseconds were typed as seconds."""
    found = alias_pool(
        [0, 1, 10, 255], volumes=1, arrival_rate=755.0, service_time=1.3, inflation=0.11, redrive_time=6e-5
    )
    assert not found.stable.any()
    assert np.isinf(found.queue_length).all()
    assert (np.diff(found.throughput[:, 0] if found.throughput.ndim > 1 else found.throughput) > 0).all()


@pytest.mark.parametrize("seed", range(12))
def test_just_below_stability_no_volume_serves_more_than_comes_to_it(seed: int) -> None:
    """Shares of the aliases, as queues grow, gave some of unequal volumes up to 3 % more."""
    random = np.random.default_rng(seed)
    volumes = int(random.integers(2, 4))
    service = random.uniform(0.5, 5.0, volumes) * 1e-3
    rate = random.uniform(1.2, 4.0, volumes) / service
    pool = {"volumes": np.ones(volumes), "arrival_rate": rate, "service_time": service, "inflation": 0.1}
    fewest = int(alias_pool(0, **pool).aliases_to_be_stable)
    found = alias_pool(np.arange(max(fewest - 4, 0), fewest), **pool)
    assert not found.stable.any()
    assert (found.throughput <= rate * (1 + 1e-12)).all()


@pytest.mark.parametrize("gap", [0.05, 0.2])
@pytest.mark.parametrize("inflation", [0.05, 0.16, 0.3])
def test_a_device_in_its_gap_slows_nobody_and_one_in_service_is_slowed_itself(
    inflation: float, gap: float
) -> None:
    """The product form of one volume; with each device in service as if alone, rates were up to 17 % too high."""
    for aliases in (1, 4, 16, 64):
        by_base, by_alias, *_ = one_in_overload(OneVolume(1.0, 1.0, inflation, gap), aliases)
        found = most_in_overload(np.array(1.0), np.array(float(aliases)), inflation, np.array(gap))
        assert found == pytest.approx(by_base + by_alias, rel=0.007)


@pytest.mark.long
@pytest.mark.parametrize(("aliases", "inflation", "gap"), [(8, 0.16, 0.05), (64, 0.16, 0.2), (16, 0.3, 0.2)])
def test_what_saturated_volumes_do_and_need_is_what_is_simulated(
    aliases: int, inflation: float, gap: float
) -> None:
    """Four volumes; of the rate that 64 aliases do, .98 once passed for what 48 carry."""
    pytest.importorskip("numba")
    devices = {"volumes": [4], "inflation": inflation, "redrive_time": gap}
    run = simulate(aliases, arrival_rate=[6.0], **devices, completions=400_000)
    rate, error = (float(each[0]) for each in run.throughput)
    (found,) = np.ravel(alias_pool(aliases, service_time=1.0, arrival_rate=[6.0], **devices).throughput)
    assert found == pytest.approx(rate, rel=0.007, abs=2 * error)
    carried = alias_pool(aliases, service_time=1.0, arrival_rate=[0.98 * rate], **devices)
    assert 0.85 * aliases <= carried.aliases_to_be_stable <= aliases


@pytest.mark.long
@pytest.mark.parametrize(("volumes", "requesters", "aliases"), [(4, 20, 32), (3, 10, 9), (5, 12, 24)])
def test_many_of_each_volume_at_once_with_inflation_and_gap(
    volumes: int, requesters: int, aliases: int
) -> None:
    """Simulated; throughput was up to 3 % too high, waits up to 11 % too short."""
    pytest.importorskip("numba")
    pool = {
        "volumes": [volumes],
        "population": [requesters],
        "think_time": [0.5],
        "inflation": 0.16,
        "redrive_time": 0.1,
    }
    run = simulate(aliases, **pool, completions=400_000)
    found = alias_pool(aliases, service_time=1.0, **pool)
    assert np.ravel(found.throughput) == pytest.approx(run.throughput[0], rel=0.006)
    assert np.ravel(found.wait_time) == pytest.approx(run.wait_time[0], rel=0.02)
