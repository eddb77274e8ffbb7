"""M/M/c/K: 50-digit references, its limits M/M/c and Erlang's loss system, quantiles, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaincc

from planner import InputError
from planner.queueing import erlang_b, mmc, mmck
from tests import tolerances
from tests.queueing.references import columns, relative_error

REFERENCE = columns("mmck")
ARGUMENTS = [REFERENCE[name] for name in ("arrival_rate", "service_time", "servers", "capacity")]


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("throughput", "throughput"),
        ("queue_length", "queue_length"),
        ("delay", "delay_probability"),
        ("blocking", "blocking_probability"),
    ],
)
def test_agrees_with_the_references(column: str, name: str) -> None:
    found, wanted = getattr(mmck(*ARGUMENTS), name), REFERENCE[column]
    assert (relative_error(found, wanted, floor=tolerances.LEAST_NORMAL) <= tolerances.EXACT).all()


CASES = {"load": st.floats(1e-3, 3), "servers": st.integers(1, 40), "room": st.integers(0, 60)}


@given(**CASES)
def test_identities(load: float, servers: int, room: int) -> None:
    steady = mmck(load * servers, 1.0, servers, servers + room)
    assert steady.stable
    lost = steady.blocking_probability
    assert np.isclose(steady.throughput, load * servers * (1 - lost), rtol=1e-11, atol=1e-11)
    assert np.isclose(steady.queue_length, steady.throughput * steady.wait_time, rtol=tolerances.IDENTITY)
    assert steady.queue_length <= room * (1 + tolerances.ROUNDING)
    if room == 0:
        assert np.isclose(lost, erlang_b(load * servers, servers), rtol=tolerances.IDENTITY)
        assert steady.delay_probability == steady.wait_time == 0


@given(load=st.floats(0.1, 0.9), servers=st.integers(1, 40))
def test_with_much_room_it_is_mmc(load: float, servers: int) -> None:
    limited, open_queue = (
        mmck(load * servers, 1.0, servers, servers + 5000),
        mmc(load * servers, 1.0, servers),
    )
    for name in ("throughput", "wait_time", "delay_probability", "utilization"):
        assert np.isclose(getattr(limited, name), getattr(open_queue, name), rtol=1e-10), name


@given(**CASES)
def test_more_room_loses_less_and_waits_longer(load: float, servers: int, room: int) -> None:
    # Where more room hardly matters two sums of dozens of terms are compared: more than their last digit may differ.
    less, more = (mmck(load * servers, 1.0, servers, servers + room + extra) for extra in (0, 1))
    assert more.blocking_probability <= less.blocking_probability * (1 + tolerances.IDENTITY)
    assert more.wait_time >= less.wait_time * (1 - tolerances.IDENTITY)


@given(**CASES, p=st.floats(0.01, 0.999))
def test_quantiles_meet_the_mixture_of_erlang_laws(load: float, servers: int, room: int, p: float) -> None:
    steady = mmck(load * servers, 1.0, servers, servers + room)
    wait = steady.wait_quantile(p)
    ahead = np.arange(1, room + 1)
    weight = (load ** (ahead - room)) if load > 1 else load ** (ahead - 1.0)
    weight = steady.delay_probability * weight / weight.sum() if room else weight
    if wait > 0:
        assert np.isclose((weight * gammaincc(ahead, servers * wait)).sum(), 1 - p, rtol=1e-9)
    else:
        assert steady.delay_probability <= (1 - p) * (1 + 1e-9)
    assert steady.response_quantile(p) >= max(wait, -np.log1p(-p) * (1 - 1e-9))


@pytest.mark.parametrize("servers", [1, 2, 10])
def test_quantiles_with_much_room_are_those_of_mmc(servers: int) -> None:
    p = np.array([0.1, 0.5, 0.9, 0.999])
    limited, open_queue = mmck(0.8 * servers, 1.0, servers, 2000), mmc(0.8 * servers, 1.0, servers)
    assert np.allclose(limited.wait_quantile(p), open_queue.wait_quantile(p), rtol=1e-10, atol=0)
    assert np.allclose(limited.response_quantile(p), open_queue.response_quantile(p), rtol=1e-10, atol=0)


def test_quantiles_refuse_more_room_than_memory() -> None:
    steady = mmck(0.5, 1.0, 1, [10, 2**53])
    assert np.isclose(steady.wait_time[1], 1.0, rtol=1e-12)
    for name in ("wait_quantile", "response_quantile"):
        with pytest.raises(InputError, match=f"{name} = 9007199254740991: expected at most 5000000 places"):
            getattr(steady, name)(0.9)


def test_nobody_arrives() -> None:
    steady = mmck(0.0, 2.0, 3, 5)
    assert (
        steady.throughput == steady.wait_time == steady.delay_probability == steady.blocking_probability == 0
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((1.0, 1.0, 3, 2), "capacity = 2.0"),
        ((1.0, 1.0, 3, 4.5), "capacity = 4.5"),
        ((1.0, 0.0, 3, 4), "service_time = 0.0 s"),
        ((-1.0, 1.0, 3, 4), "arrival_rate = -1.0 1/s"),
        ((1.0, 1.0, 0, 4), "servers = 0"),
        (([1.0, 2.0], 1.0, [1, 2, 3], 4), "shapes"),
    ],
)
def test_bad_input_is_named(arguments: tuple[object, ...], told: str) -> None:
    with pytest.raises(InputError, match=told):
        mmck(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "load", [1e-20, 1e-12, 1e-3, 0.4, 0.6, 1.0 - 1e-12, 1.0 + 1e-12, 1.4, 1.6, 1e3, 1e20]
)
@pytest.mark.parametrize("capacity", [2, 3, 7])
def test_one_server_blocks_as_the_sum_of_powers_says(load: float, capacity: int) -> None:
    """M/M/1/K: ``p(K) = 1 / (1 + 1/a + ... + 1/a^K)``, which loses no digit at any load."""
    full = 1.0 / sum(load ** (n - capacity) for n in range(capacity + 1))
    assert mmck(load, 1.0, 1, capacity).blocking_probability == pytest.approx(full, rel=1e-12, abs=0.0)
