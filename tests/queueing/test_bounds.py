"""What every station and pool refuses or bounds: magnitudes, kinds of numbers, time and memory, shared arrays."""

from contextlib import suppress
from itertools import product

import numpy as np
import pytest

from planner.errors import ConvergenceError, InputError
from planner.queueing import alias_pool, finite_source, mgc, mmc, mva, overflow_group
from planner.queueing.pools import methods
from planner.queueing.pools.field.elements import PoolElements
from planner.queueing.pools.outcome import TOLERANCE, Outcome, balanced, imbalance
from planner.queueing.pools.pool import check_pools

NAN = float("nan")


@pytest.mark.parametrize("servers", [1, 3])
@pytest.mark.parametrize("scv", [0.05, 0.1, 0.3, 2.0, 100.0])
def test_requesters_that_hardly_think_keep_the_station_full(servers, scv):
    think = np.array([0.0, 1e-300, 1e-12, 1e-6, 1e-3])
    if servers == 3 and scv == 0.05:
        with pytest.raises(InputError, match="states per level"):
            finite_source(9, think, 0.2, servers, scv=scv)
        return
    steady = finite_source(9, think, 0.2, servers, scv=scv)
    np.testing.assert_allclose(steady.throughput * (think + steady.response_time), 9.0, rtol=1e-11)
    np.testing.assert_allclose(steady.service_time, 0.2, rtol=1e-11)
    np.testing.assert_allclose(steady.throughput[:3], servers / 0.2, rtol=1e-9)
    assert np.all(np.diff(steady.throughput) <= 1e-12)


@pytest.mark.parametrize("scv", [0.3, 1.5, 20.0])
def test_both_directions_of_the_levels_meet(scv):
    """From the full station down for a short think time, from the empty one up for a long one."""
    below, above = finite_source(6, [0.2 * (1 - 1e-12), 0.2 * (1 + 1e-12)], 0.2, 2, scv=scv).throughput
    assert below == pytest.approx(above, rel=1e-11)


def test_constant_service_near_saturation_has_a_largest_number_of_servers():
    assert mgc(0.999e9, 1.0, 10**9, 0.0).wait_time >= 0.0
    with pytest.raises(InputError, match="2000000"):
        mgc(1e9 - 10, 1.0, 10**9, 0.0)


def test_a_server_for_everybody_is_a_delay():
    many = mva([0.2, 0.1], 4, 1.0, servers=10**9)
    np.testing.assert_allclose(many.throughput, np.arange(1, 5) / 1.3, rtol=1e-12)
    np.testing.assert_allclose(many.utilization, many.throughput[:, None] * [0.2, 0.1] / 1e9, rtol=1e-12)
    with pytest.raises(InputError, match="100000 requesters"):
        mva([0.2, 0.1], 10**6, 1.0, servers=10**5)


def test_cosmetatos_is_refused_where_its_waits_turn_negative():
    assert np.all(mgc(1.9, 1.0, 2, [0.0, 0.5, 1.0], "cosmetatos_1975").wait_time > 0.0)
    with pytest.raises(InputError) as caught:
        mgc(0.9, 1.0, 2, [0.5, 30.0], "cosmetatos_1975")
    assert caught.value.argument == "scv"


@pytest.mark.parametrize("value", [2e150, 1e300, np.inf])
def test_magnitudes_beyond_all_measure_are_refused(value):
    with pytest.raises(InputError):
        mmc(value, 1.0, 2)
    with pytest.raises(InputError):
        mmc(1.0, value, 2)
    with pytest.raises(InputError):
        alias_pool(1, volumes=2, arrival_rate=0.5, service_time=value)
    with pytest.raises(InputError):
        mmc(1.0, 1.0 / value, 2)


def test_minus_zero_is_zero():
    assert not np.signbit(mmc(-0.0, 1.0, 2).throughput)
    assert not np.signbit(mgc(-0.0, 1.0, 2, -0.0).queue_length)
    assert finite_source(3, -0.0, 0.2, 1, inflation=-0.0, redrive_time=-0.0).throughput == pytest.approx(5.0)
    pool = alias_pool(
        1, volumes=2, population=3, think_time=1.0, service_time=1.0, inflation=-0.0, redrive_time=-0.0
    )
    assert not np.signbit(pool.in_gap).any()


@pytest.mark.parametrize(
    "bad",
    [
        "2",
        True,
        1 + 0j,
        np.ma.array([1, 2], mask=[False, True]),
        np.array(["1"]),
        np.array(["1", 2], dtype=object),
    ],
)
@pytest.mark.parametrize("argument", ["aliases", "volumes", "service_time", "arrival_rate"])
def test_what_is_no_plain_number_is_refused(argument, bad):
    arguments = {"aliases": 1, "volumes": 2, "service_time": 1.0, "arrival_rate": 0.3, argument: bad}
    with pytest.raises(InputError) as caught:
        alias_pool(arguments.pop("aliases"), **arguments)
    assert caught.value.argument == argument
    with pytest.raises(InputError):
        mmc(0.3, bad, 2)


def test_servers_of_an_overflow_group_are_one_number():
    with pytest.raises(InputError) as caught:
        overflow_group(3.0, 1.0, [1, 2])
    assert caught.value.argument == "servers"


def test_results_do_not_follow_later_changes_of_the_arguments():
    two = np.array([2.0, 3.0])
    tenth = np.array([0.1, 0.2])
    results = [
        alias_pool(two, volumes=two, population=two, think_time=two, service_time=two),
        mmc(tenth, two, two),
        mgc(tenth, two, two, two),
        finite_source(two, tenth, two, two, inflation=tenth),
        finite_source(two, tenth, two, two, scv=two),
        mva(two, 3, 1.0, servers=two),
        overflow_group(two, two, 3),
    ]
    before = [[np.array(getattr(each, name)) for name in each.quantities()] for each in results]
    two[:], tenth[:] = 99.0, 99.0
    for each, kept in zip(results, before, strict=True):
        for name, value in zip(each.quantities(), kept, strict=True):
            np.testing.assert_array_equal(getattr(each, name), value, err_msg=f"{type(each).__name__}.{name}")


def test_no_rate_of_a_saturated_pool_is_negative():
    pool = alias_pool(
        [0, 1, 3], volumes=[2, 3], arrival_rate=[2.5, 0.4], service_time=1.0, method="mean-field"
    )
    assert pool.stable.tolist() == [False, False, False]
    for name in ("base_throughput", "alias_throughput", "base_in_service", "alias_in_service"):
        assert np.all(getattr(pool, name) >= 0.0), name
    np.testing.assert_allclose(pool.base_throughput + pool.alias_throughput, pool.throughput, rtol=1e-12)


@pytest.mark.long
def test_an_answer_out_of_balance_goes_on_to_the_next_method(monkeypatch):
    """The field lacks 2 % of the requesters of the first volume; the exact chain takes over."""
    monkeypatch.setattr(methods, "may_be_crowded", lambda elements: elements.aliases < 0.0)
    distribution = {"volumes": [1, 1], "population": [3, 9], "think_time": [1.5, 0.02], "service_time": 1.0}
    exact = alias_pool(5, method="exact", **distribution)
    for method in ("auto", "mean-field"):
        pool = alias_pool(5, method=method, **distribution)
        np.testing.assert_allclose(pool.service_time, 1.0, rtol=1e-9)
        np.testing.assert_allclose(pool.throughput, exact.throughput, rtol=1e-9)


def test_slow_volumes_get_no_more_service_than_there_is():
    """With what aliases hold in place of what they serve it was 5.8 % more."""
    distribution = {
        "volumes": [2, 1],
        "service_time": 1.0,
        "population": [8, 4],
        "think_time": [27.4, 0.00354],
    }
    pool, exact = alias_pool(1, **distribution), alias_pool(1, method="exact", **distribution)
    np.testing.assert_allclose(pool.service_time, 1.0, rtol=0.01)
    np.testing.assert_allclose(pool.throughput, exact.throughput, rtol=0.01)


@pytest.mark.parametrize("think_time", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("aliases", [0, 1, 5])
def test_many_requesters_that_hardly_think_do_not_overflow(aliases, think_time):
    pool = alias_pool(aliases, volumes=1, population=60, think_time=think_time, service_time=1.0)
    assert pool.throughput == pytest.approx(aliases + 1.0, rel=1e-9)
    assert pool.queue_length == pytest.approx(59.0 - aliases, abs=1e-4)


@pytest.mark.long
def test_a_load_that_just_fills_its_base_is_unstable_where_aliases_bring_nothing():
    """Two I/Os in service take twice as long each: base and aliases together serve no more than the base."""
    pool = alias_pool([1, 30], volumes=2, arrival_rate=0.5, service_time=2.0, inflation=1.0)
    assert not pool.stable.any()
    assert np.isinf(pool.aliases_to_be_stable)
    assert alias_pool(1, volumes=2, arrival_rate=0.499, service_time=2.0, inflation=0.9).stable


def test_every_imbalance_is_found():
    distribution = {"volumes": [2, 1], "population": [2, 3], "think_time": [2.0, 1.0], "service_time": 1.0}
    rest = {"arrival_rate": None, "inflation": 0.0, "redrive_time": 0.0}
    pool = PoolElements.of_pools(check_pools(**distribution, **rest), np.zeros(1, dtype=int), np.ones(1))
    steady = alias_pool([1], method="exact", **distribution)
    good = {
        "throughput": steady.throughput,
        "tries": steady.tries_rate,
        "fails": steady.fails_rate,
        "queue": steady.queue_length,
        "base_pickups": steady.base_throughput - (steady.throughput - steady.tries_rate),
        "alias_pickups": steady.alias_throughput - (steady.tries_rate - steady.fails_rate),
        "base_in_service": steady.base_in_service,
        "alias_in_service": steady.alias_in_service,
    }
    distributions = {"free_distribution": steady.free_alias_distribution, "residual": np.zeros(1)}
    distributions["stable"] = np.ones(1, dtype=bool)
    assert imbalance(pool, Outcome(**good, **distributions)) <= 1e-9
    for name, change in product(good, (1.0 + 20 * TOLERANCE, -1.0, NAN)):
        if name in ("tries", "fails", "base_pickups", "alias_pickups") and change > 0:
            continue  # no balance holds them from above
        assert not balanced(pool, Outcome(**{**good, name: change * good[name]}, **distributions))


@pytest.mark.long
@pytest.mark.parametrize(("argument", "worst"), [
    ("think_time", 1e-13), ("think_time", 1e13), ("arrival_rate", 1e-13), ("service_time", 1e-14),
    ("inflation", 1e13), ("redrive_time", 1e13),
])  # fmt: skip
def test_pools_refuse_what_is_a_million_million_times_off(argument, worst):
    """A ten thousandth of that is answered, or said not to settle; nothing warns."""
    nan = np.nan
    distribution = {"volumes": [2, 3], "population": [3.0, nan], "think_time": [1.0, nan], "arrival_rate": [nan, 0.3],
           "service_time": [1.0, 1.0], "inflation": 0.1, "redrive_time": 0.01}  # fmt: skip

    def asked(value):
        given = distribution[argument]
        several = {"think_time": [value, nan], "arrival_rate": [nan, value]}.get(argument, [1.0, value])
        return {**distribution, argument: several if isinstance(given, list) else value}

    with pytest.raises(InputError, match=argument):
        alias_pool(2, **asked(worst))
    with suppress(ConvergenceError):
        sound = alias_pool(2, **asked(worst * (1e-4 if worst > 1 else 1e4)))
        assert np.isfinite(sound.throughput).all()
