"""Erlang B and C against 50-digit references, identities and bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import InputError
from planner.queueing import erlang_b, erlang_c
from planner.queueing.erlang import log_inverse_blocking
from tests import tolerances
from tests.queueing.references import columns, relative_error

REFERENCE = columns("erlang")
LOAD, SERVERS = REFERENCE["offered_load"], REFERENCE["servers"]
IDLE = 1 - np.minimum(LOAD / SERVERS, 0.99999)


def log_erlang_b(load, servers):  # type: ignore[no-untyped-def]
    """Ln B, which does not underflow, as queues with limited room take it."""
    return -log_inverse_blocking(*np.broadcast_arrays(np.asarray(load, float), np.asarray(servers, float)))


def test_logarithms_agree_with_the_references() -> None:
    # An absolute error of the logarithm is a relative one of the probability.
    found, wanted = log_erlang_b(LOAD, SERVERS), REFERENCE["log_b"]
    assert (np.abs(found - wanted) <= tolerances.EXACT * np.maximum(np.abs(wanted), 1) / IDLE).all()


def test_probabilities_agree_with_the_references_down_to_underflow() -> None:
    for found, wanted in (
        (erlang_b(LOAD, SERVERS), np.exp(REFERENCE["log_b"])),
        (erlang_c(LOAD, SERVERS), np.exp(REFERENCE["log_c"])),
    ):
        normal = wanted > tolerances.LEAST_NORMAL
        assert normal.sum() > 50
        assert (relative_error(found, wanted)[normal] <= (tolerances.EXACT / IDLE)[normal]).all()
        assert (found[~normal] <= 2 * tolerances.LEAST_NORMAL).all()


def test_reference_covers_light_load_below_underflow_and_the_largest_size() -> None:
    assert REFERENCE["log_c"].min() < -1e5
    assert SERVERS.max() == 1e6


def test_no_servers_lose_everything_and_no_load_loses_nothing() -> None:
    assert erlang_b([0.0, 3.0, 0.0], [0, 0, 2]).tolist() == [1.0, 1.0, 0.0]
    assert erlang_c([0.0, 5.0, 5.1], [1, 5, 5]).tolist() == [0.0, 1.0, 1.0]
    assert log_erlang_b(0.0, 4) == -np.inf


@given(load=st.floats(1e-6, 300), servers=st.integers(1, 300))
def test_the_recursion_of_erlang_holds(load: float, servers: int) -> None:
    fewer, here = log_erlang_b(load, [servers - 1, servers])
    recursion = np.log(servers / load) - fewer  # 1/B(c) - 1 = c/a 1/B(c - 1)
    wanted = -np.logaddexp(0.0, recursion)
    assert abs(here - wanted) <= tolerances.IDENTITY * max(abs(wanted), 1)


@given(load=st.floats(1e-3, 2000), servers=st.integers(1, 2000))
def test_b_rises_with_load_and_falls_with_servers(load: float, servers: int) -> None:
    assert log_erlang_b(load * 1.001, servers) > log_erlang_b(load, servers)
    assert log_erlang_b(load, servers + 1) < log_erlang_b(load, servers)


@pytest.mark.parametrize("servers", [127, 128, 129, 130, 1000])
def test_no_step_where_the_method_changes(servers: int) -> None:
    heavy = servers + 5 * np.sqrt(servers)
    below, above = erlang_b([heavy * (1 - 1e-13), heavy * (1 + 1e-13)], servers)
    assert abs(above / below - 1) < 1e-11
    steps = np.diff(log_erlang_b(100.0, np.arange(servers - 3, servers + 4)), n=2)
    assert (np.abs(np.diff(steps)) < 1e-3).all()


def test_scenarios_do_not_depend_on_their_neighbors() -> None:
    generator = np.random.default_rng(11)
    load, servers = generator.uniform(0, 200, 3000), generator.integers(1, 200, 3000)
    together = erlang_b(load, servers)
    assert np.array_equal(
        together[:50], [erlang_b(a, c) for a, c in zip(load[:50], servers[:50], strict=True)]
    )
    assert np.array_equal(together, erlang_b(load[::-1], servers[::-1])[::-1])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((np.nan, 1), "offered_load = nan erlang"),
        ((-1.0, 1), r"offered_load = -1.0 erlang"),
        ((np.inf, 1), "offered_load = inf erlang"),
        ((1.0, 2.5), "servers = 2.5"),
        ((1.0, -1), "servers = -1"),
        ((1.0, 2**53 + 2), f"servers = {2**53 + 2}"),
        (([], 1), "offered_load"),
        (("two", 1), "offered_load = 'two'"),
        ((True, 1), "offered_load"),
        (([1.0, 2.0], [1, 2, 3]), "shapes"),
    ],
)
def test_bad_input_is_named(arguments: tuple[object, object], told: str) -> None:
    with pytest.raises(InputError, match=told):
        erlang_b(*arguments)  # type: ignore[arg-type]


def test_erlang_c_needs_a_server() -> None:
    with pytest.raises(InputError, match="servers = 0"):
        erlang_c(1.0, 0)


@pytest.mark.parametrize("servers", [129, 1000])
@pytest.mark.parametrize("load", [1e-3, 0.5, 1.0])
def test_a_light_load_of_many_servers_is_one_term_of_poisson(load: float, servers: int) -> None:
    """B = a^c / c! / sum of a^k / k!, and the sum is e^a to far more digits than there are."""
    expected = servers * math.log(load) - math.lgamma(servers + 1) - load
    assert log_erlang_b(load, servers) == pytest.approx(expected, rel=1e-13)
