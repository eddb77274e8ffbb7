"""M/M/c: 50-digit references, identities, saturation, inflation and gaps, quantiles, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import InputError
from planner.queueing import erlang_c, mmc
from tests import tolerances
from tests.queueing.references import columns, relative_error

REFERENCE = columns("mmc")
IDLE = 1 - REFERENCE["arrival_rate"] * REFERENCE["service_time"] / REFERENCE["servers"]
PLAIN = (REFERENCE["arrival_rate"], REFERENCE["service_time"], REFERENCE["servers"])


@pytest.mark.parametrize(
    ("column", "quantity"),
    [
        ("wait_time", lambda steady: steady.wait_time),
        ("wait_90", lambda steady: steady.wait_quantile(0.9)),
        ("wait_99999", lambda steady: steady.wait_quantile(0.99999)),
        ("response_50", lambda steady: steady.response_quantile(0.5)),
        ("response_99", lambda steady: steady.response_quantile(0.99)),
    ],
)
def test_agrees_with_the_references(column: str, quantity) -> None:  # type: ignore[no-untyped-def]
    found, wanted = quantity(mmc(*PLAIN)), REFERENCE[column]
    normal = wanted > tolerances.LEAST_NORMAL
    assert normal.sum() >= 19
    assert (relative_error(found, wanted)[normal] <= (tolerances.EXACT / IDLE)[normal]).all()
    assert (found[~normal] <= 2 * tolerances.LEAST_NORMAL).all()


RATES, TIMES, COUNTS = st.floats(1e-3, 1e5), st.floats(1e-6, 10), st.integers(1, 80)


@given(rate=RATES, service=TIMES, servers=COUNTS)
def test_identities(rate: float, service: float, servers: int) -> None:
    steady = mmc(rate, service, servers)
    assert steady.stable == (rate * service < servers)
    assert np.isclose(steady.in_service, steady.throughput * service, rtol=tolerances.IDENTITY)
    assert np.isclose(steady.utilization, steady.in_service / servers, rtol=tolerances.IDENTITY)
    assert np.isclose(steady.queue_length, steady.throughput * steady.wait_time, rtol=tolerances.IDENTITY)
    assert steady.response_time == steady.wait_time + service
    assert np.isclose(steady.delay_probability, erlang_c(rate * service, servers), rtol=tolerances.IDENTITY)
    if not steady.stable:
        assert np.isinf(steady.wait_time)
        assert steady.throughput == servers / service
        assert steady.utilization == steady.delay_probability == 1


@given(load=st.floats(1e-6, 0.999999))
def test_one_server_is_mm1(load: float) -> None:
    wait = mmc(load, 1.0, 1).wait_time
    assert np.isclose(wait, load / (1 - load), rtol=tolerances.IDENTITY / (1 - load))


@given(load=st.floats(0.01, 0.98), servers=COUNTS, scale=st.floats(1e-6, 1e6))
def test_time_scale_does_not_matter(load: float, servers: int, scale: float) -> None:
    one, other = mmc(load * servers, 1.0, servers), mmc(load * servers / scale, scale, servers)
    condition = servers + 1 / (1 - load)
    assert np.isclose(other.wait_time, one.wait_time * scale, rtol=tolerances.IDENTITY * condition)
    assert np.isclose(
        other.response_quantile(0.9), one.response_quantile(0.9) * scale, rtol=tolerances.IDENTITY * condition
    )


@given(load=st.floats(0.01, 60), servers=COUNTS)
def test_wait_rises_with_load_without_jumps_and_falls_with_servers(load: float, servers: int) -> None:
    wait = mmc([load, load * (1 + 1e-9)], 1.0, servers).wait_time
    assert wait[1] >= wait[0]
    spare = servers - load
    if spare > 1e-3:
        assert wait[1] <= wait[0] * (1 + 1e-9 * (2 + servers + load / spare) * 2)
    assert mmc(load, 1.0, servers + 1).wait_time <= wait[0]


@pytest.mark.long
def test_scalar_equals_array_element_and_broadcasts() -> None:
    generator = np.random.default_rng(3)
    rate, service, servers = (
        generator.uniform(0, 90, 500),
        generator.uniform(0.1, 1, 500),
        generator.integers(1, 70, 500),
    )
    together = mmc(rate, service, servers)
    for name in together.quantities():
        one_by_one = [getattr(mmc(a, s, c), name) for a, s, c in zip(rate, service, servers, strict=True)]
        assert np.array_equal(getattr(together, name), one_by_one), name
    assert mmc(1.0, [[1.0], [2.0]], [1, 2, 3]).wait_time.shape == (2, 3)
    assert mmc(1.0, 0.5, 1).wait_time.shape == ()


def test_results_are_frozen_and_own_their_numbers() -> None:
    service = np.array([0.5, 0.25])
    steady = mmc(1.0, service, 2)
    service[:] = 9.0
    assert steady.service_time.tolist() == [0.5, 0.25]
    with pytest.raises(ValueError, match="read-only"):
        steady.wait_time[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        steady.stable[0] = False


def test_nobody_arrives() -> None:
    steady = mmc(0.0, 2.0, 3)
    assert steady.wait_time == steady.queue_length == steady.throughput == steady.utilization == 0
    assert steady.response_time == 2.0
    assert steady.wait_quantile(0.5) == 0
    assert np.isclose(steady.response_quantile(0.5), 2 * np.log(2), rtol=tolerances.IDENTITY)


@given(load=st.floats(0.05, 0.97), servers=st.integers(1, 30), p=st.floats(0.01, 0.9999))
def test_mean_of_the_wait_quantiles_is_the_mean_wait(load: float, servers: int, p: float) -> None:
    steady = mmc(load * servers, 1.0, servers)
    wait, response = steady.wait_quantile(p), steady.response_quantile(p)
    delay = steady.delay_probability
    if wait > 0:
        assert np.isclose(delay * np.exp(-wait * (servers - load * servers)), 1 - p, rtol=1e-9)
    assert response >= max(wait, -np.log1p(-p) * (1 - 1e-12))
    assert response <= wait - np.log1p(-p) * 2 + 60 / (1 - load)


@pytest.mark.parametrize("load", [0.3, 1.7, 57.6])
def test_a_response_that_few_requests_stay_below_keeps_its_digits(load: float) -> None:
    """P(T <= t) = (1 - C) t to first order: those that need not wait, served within t."""
    steady = mmc(load, 1.0, 64)
    response = steady.response_quantile(1e-12)
    assert np.isclose(response, 1e-12 / (1 - steady.delay_probability), rtol=1e-10, atol=0)


def test_quantiles_are_infinite_where_saturated_and_broadcast_against_the_result() -> None:
    steady = mmc([1.0, 3.0], 1.0, 2)
    quantile = steady.response_quantile([[0.5], [0.9]])
    assert quantile.shape == (2, 2)
    assert np.isinf(quantile[:, 1]).all()
    assert np.isinf(steady.wait_quantile(0.5)[1])


# --- inflation and redrive gaps ---


def slow_levels(rate: float, service: float, servers: int, inflation: float) -> tuple[float, float]:
    """Mean waiting and in service by summing many levels of the birth and death chain: by definition."""
    weight, queue, busy, total = 1.0, 0.0, 0.0, 1.0
    for n in range(1, 4000):
        m = min(n, servers)
        weight *= rate * service * (1 + inflation * (m - 1)) / m
        total, queue, busy = total + weight, queue + weight * (n - m), busy + weight * m
    return queue / total, busy / total


@pytest.mark.parametrize(("servers", "inflation"), [(1, 0.3), (2, 0.16), (5, 0.05), (5, 1.5)])
def test_inflation_against_the_sum_over_levels(servers: int, inflation: float) -> None:
    capacity = servers / (1 + inflation * (servers - 1))
    rate = 0.8 * capacity
    steady = mmc(rate, 1.0, servers, inflation=inflation)
    queue, busy = slow_levels(rate, 1.0, servers, inflation)
    assert np.isclose(steady.queue_length, queue, rtol=1e-11)
    assert np.isclose(steady.in_service, busy, rtol=1e-11)
    assert np.isclose(steady.service_time, busy / rate, rtol=1e-11)


@given(load=st.floats(0.1, 0.95), servers=st.integers(1, 8))
def test_vanishing_inflation_and_gap_change_nothing(load: float, servers: int) -> None:
    plain = mmc(load * servers, 1.0, servers)
    for changed in (
        mmc(load * servers, 1.0, servers, inflation=1e-13),
        mmc(load * servers, 1.0, servers, redrive_time=1e-13),
    ):
        for name in ("wait_time", "delay_probability", "in_service", "throughput"):
            assert np.isclose(getattr(changed, name), getattr(plain, name), rtol=1e-10), name


@pytest.mark.parametrize(("inflation", "gap"), [(0.2, 0.0), (0.0, 0.3), (0.2, 0.3)])
def test_saturated_servers_never_idle(inflation: float, gap: float) -> None:
    steady = mmc(1e9, 1.0, 3, inflation=inflation, redrive_time=gap)
    assert not steady.stable
    assert np.isinf(steady.wait_time)
    assert np.isclose(steady.in_service + steady.in_gap, 3, rtol=tolerances.IDENTITY)
    assert np.isclose(steady.in_gap, steady.throughput * gap, rtol=tolerances.IDENTITY)
    assert np.isclose(steady.in_service, steady.throughput * steady.service_time, rtol=tolerances.IDENTITY)
    assert np.isclose(steady.utilization, steady.in_service / 3, rtol=tolerances.IDENTITY)
    nearly = mmc(steady.throughput * (1 - 1e-7), 1.0, 3, inflation=inflation, redrive_time=gap)
    assert nearly.stable
    assert np.isclose(nearly.in_service, steady.in_service, rtol=1e-5)
    assert np.isclose(nearly.in_gap, steady.in_gap, rtol=1e-5)


def test_a_gap_is_part_of_the_wait_and_of_nothing_else() -> None:
    with_gap, plain = mmc(1.4, 1.0, 2, redrive_time=0.1), mmc(1.4, 1.0, 2)
    assert np.isclose(with_gap.in_service, plain.in_service, rtol=tolerances.IDENTITY)
    assert 0 < with_gap.in_gap < with_gap.queue_length
    # Whoever waits has a gap before it is served: in gap = throughput x share that waits behind others x gap.
    assert with_gap.in_gap < with_gap.throughput * 0.1 * with_gap.delay_probability * (1 + 1e-12)
    assert with_gap.wait_time > plain.wait_time


def test_quantiles_with_inflation_and_gaps_where_the_law_is_known() -> None:
    inflated = mmc(1.2, 1.0, 2, inflation=0.1)
    capacity = 2 / 1.1
    expected = np.log(inflated.delay_probability / 0.1) / (capacity - 1.2)
    assert np.isclose(inflated.wait_quantile(0.9), expected, rtol=1e-12)
    with pytest.raises(InputError, match="response_quantile"):
        inflated.response_quantile(0.9)
    with pytest.raises(InputError, match="wait_quantile"):
        mmc(1.2, 1.0, 2, redrive_time=0.1).wait_quantile(0.9)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"arrival_rate": -1.0}, "arrival_rate = -1.0 1/s"),
        ({"arrival_rate": np.nan}, "arrival_rate = nan"),
        ({"service_time": 0.0}, "service_time = 0.0 s"),
        ({"service_time": [1.0, np.inf]}, "service_time = inf s"),
        ({"servers": 0}, "servers = 0"),
        ({"servers": 2.5}, "servers = 2.5"),
        ({"servers": [[], []]}, "servers"),
        ({"servers": 10**400}, "servers"),
        ({"inflation": -0.1}, "inflation = -0.1"),
        ({"redrive_time": -0.1}, "redrive_time = -0.1 s"),
        ({"arrival_rate": [1, 2], "servers": [1, 2, 3]}, "shapes"),
        ({"servers": 2000, "redrive_time": 1.0}, "servers = 2000"),
    ],
)
def test_bad_input_is_named(change: dict[str, object], told: str) -> None:
    good: dict[str, object] = {"arrival_rate": 1.0, "service_time": 1.0, "servers": 2}
    with pytest.raises(InputError, match=told):
        mmc(**{**good, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize("p", [0.0, 1.0, -0.5, 2.0, np.nan, []])
def test_quantiles_refuse_what_is_no_share(p: object) -> None:
    with pytest.raises(InputError, match="p = "):
        mmc(1.0, 1.0, 2).wait_quantile(p)  # type: ignore[arg-type]
