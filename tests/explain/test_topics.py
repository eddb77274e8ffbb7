"""sympy proves what numpy computes: each topic, evaluated exactly, is the numerical code; and the limits hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from planner import queueing
from planner.explain import TOPICS, explain, topic_named
from tests.tolerances import IDENTITY

CASES: tuple[tuple[str, dict[str, float]], ...] = (
    *((name, {}) for name in TOPICS),
    ("erlang-c", {"offered_load": 0, "servers": 3}),
    ("erlang-c", {"offered_load": 99.5, "servers": 100}),
    ("erlang-c", {"offered_load": 3, "servers": 3}),
    ("mmc", {"arrival_rate": 0, "servers": 1}),
    ("mmc", {"arrival_rate": 900, "servers": 1}),
    ("mmc", {"arrival_rate": 7690, "servers": 10}),
    ("finite-source", {"population": 1}),
    ("finite-source", {"population": 12, "servers": 5, "inflation": 0.16}),
    ("finite-source", {"population": 3, "servers": 8, "think_time": 0.153e-3}),
    ("mgc", {"scv": 0, "servers": 1}),
    ("mgc", {"scv": 4, "servers": 6, "arrival_rate": 4000}),
    ("mgc", {"scv": 1, "arrival_rate": 2000}),
    ("alias-pool", {"volumes": 2, "aliases": 1, "population": 3}),
    ("alias-pool", {"volumes": 2, "aliases": 0, "population": 3}),
    ("alias-pool", {"volumes": 1, "aliases": 2, "population": 5, "think_time": 3e-3}),
    ("storage-limit", {"resident_pages": 1}),
    ("storage-limit", {"resident_pages": 3.5, "real_storage": 10**9, "ptrm_spaces": 1}),
    ("ccw", {"fast_ccw_time": 3e-4, "ssch_64_time": 0}),
    ("usl", {"n": 1}),
    ("usl", {"beta": 0, "n": 64}),
    ("usl", {"alpha": 0, "beta": 0}),
)
CONDITION = 1e4  # of a wait at 99.95 % load: the relative error of c - a


@pytest.mark.parametrize(("name", "numbers"), CASES, ids=str)
def test_the_exact_value_is_the_numerical_one(name: str, numbers: dict[str, float]) -> None:
    told = explain(name, **numbers)
    assert told.numerical
    for symbol, found in told.numerical.items():
        assert found == pytest.approx(told.value(symbol), rel=IDENTITY * CONDITION, abs=0)


@pytest.mark.slow
@settings(max_examples=20)
@given(load=st.floats(1e-3, 0.99), servers=st.integers(1, 30), spread=st.floats(0, 5))
def test_open_queues_at_any_load(load: float, servers: int, spread: float) -> None:
    rate = load * servers / 1.3e-3
    for name, more in (("mmc", {}), ("mgc", {"scv": spread})):
        told = explain(name, arrival_rate=rate, servers=servers, **more)
        for symbol, found in told.numerical.items():
            assert found == pytest.approx(told.value(symbol), rel=IDENTITY / (1 - load) * 10)


def kept(name: str, keep: tuple[str, ...], **numbers: float) -> tuple[dict[Any, Any], dict[str, Any]]:
    """Steps of a topic as functions of the inputs `keep`, and the symbols of those."""
    topic = topic_named(name)
    symbols = {item.key: item.symbol for item in topic.inputs}
    exact = topic.numbers(numbers)
    return topic.evaluate(exact, keep=tuple(symbols[key] for key in keep)), symbols


def step(values: dict[Any, Any], name: str) -> Any:
    return values[sympy.Symbol(name)]


def open_branch(expression: Any) -> Any:
    """The case below saturation."""
    return expression.args[0][0] if isinstance(expression, sympy.Piecewise) else expression


def test_one_server_is_the_textbook_mm1() -> None:
    values, symbols = kept("mmc", ("arrival_rate", "service_time"), servers=1)
    rate, service = symbols["arrival_rate"], symbols["service_time"]
    load = rate * service
    wait = open_branch(sympy.piecewise_fold(step(values, "W")))
    assert sympy.simplify(wait - load * service / (1 - load)) == 0


def test_erlang_c_of_one_and_two_servers() -> None:
    a = sympy.Symbol("a")
    for servers, expected in ((1, a), (2, a**2 / (2 + a))):
        values, symbols = kept("erlang-c", ("offered_load",), servers=servers)
        delay = open_branch(sympy.piecewise_fold(step(values, "C")))
        assert sympy.simplify(delay - expected.subs(a, symbols["offered_load"])) == 0


def test_no_load_no_wait_and_full_load_no_end() -> None:
    values, symbols = kept("mmc", ("arrival_rate",), servers=3)
    rate = symbols["arrival_rate"]
    wait = sympy.together(open_branch(sympy.piecewise_fold(step(values, "W"))))
    assert sympy.limit(wait, rate, 0) == 0
    full = 3 / sympy.Rational("0.0013")
    assert sympy.limit(wait, rate, full, dir="-") == sympy.oo
    # Heavy traffic: (1 - rho) W tends to S / c.
    assert sympy.limit(wait * (1 - rate / full), rate, full, dir="-") == sympy.Rational("0.0013") / 3


def test_spread_one_is_mmc_and_one_server_is_pollaczek_khinchine() -> None:
    values, symbols = kept("mgc", ("scv",))
    exponential = explain("mmc")
    assert step(values, "W").subs(symbols["scv"], 1) == step(exponential.values, "W")
    values, symbols = kept("mgc", ("arrival_rate", "service_time", "scv"), servers=1)
    rate, service, spread = (symbols[key] for key in ("arrival_rate", "service_time", "scv"))
    second_moment = service**2 * (1 + spread)
    wait = open_branch(sympy.piecewise_fold(step(values, "W")))
    assert sympy.simplify(wait - rate * second_moment / (2 * (1 - rate * service))) == 0


def test_many_requesters_are_an_open_queue() -> None:
    """N requesters with think time N / rate: the wait tends to that of M/M/c, its error falls ever faster."""
    rate, open_wait = 755.0, explain("mmc").value("W")
    errors = []
    for population in (4, 8, 16):
        told = explain("finite-source", population=population, servers=2, think_time=population / rate)
        errors.append(open_wait - told.value("W"))
    assert errors[0] > errors[1] > errors[2] > 0
    assert errors[2] / errors[1] < errors[1] / errors[0] < 0.75


def test_one_requester_never_waits_and_obeys_its_cycle() -> None:
    values, symbols = kept("finite-source", ("think_time", "service_time"), population=1)
    think, service = symbols["think_time"], symbols["service_time"]
    assert step(values, "W") == 0
    assert sympy.simplify(step(values, "X") - 1 / (think + service)) == 0


def test_as_many_servers_as_requesters_leave_no_queue() -> None:
    values, symbols = kept("finite-source", ("think_time", "service_time"), population=4, servers=4)
    assert step(values, "L_q") == 0
    think, service = symbols["think_time"], symbols["service_time"]
    assert sympy.simplify(step(values, "X") - 4 / (think + service)) == 0


@pytest.mark.parametrize(("volumes", "aliases", "population"), [(2, 0, 3), (1, 2, 4)])
def test_a_pool_without_aliases_or_of_one_volume_is_a_finite_source(
    volumes: int, aliases: int, population: int
) -> None:
    pool, symbols = kept(
        "alias-pool", ("think_time", "service_time"), volumes=volumes, aliases=aliases, population=population
    )
    alone, others = kept(
        "finite-source", ("think_time", "service_time"), population=population, servers=aliases + 1
    )
    same = {others[key]: symbols[key] for key in ("think_time", "service_time")}
    assert sympy.simplify(step(pool, "X") - volumes * step(alone, "X").subs(same)) == 0


def test_an_alias_for_every_requester_but_the_first_leaves_no_queue() -> None:
    pool, symbols = kept("alias-pool", ("think_time", "service_time"), volumes=2, aliases=2, population=2)
    assert step(pool, "L_q") == 0
    think, service = symbols["think_time"], symbols["service_time"]
    assert sympy.simplify(step(pool, "X") - 4 / (think + service)) == 0


def test_scalability_without_coherency_is_amdahl_and_without_both_linear() -> None:
    values, symbols = kept("usl", ("n", "gamma", "alpha"), beta=0)
    n, gamma, alpha = (symbols[key] for key in ("n", "gamma", "alpha"))
    throughput = step(values, "X")
    positive = sympy.Symbol("q", positive=True)
    assert sympy.limit(throughput.subs(alpha, positive), n, sympy.oo) == gamma / positive
    assert sympy.simplify(throughput.subs(alpha, 0) - gamma * n) == 0
    assert throughput.subs(n, 1) == gamma


def test_throughput_is_level_at_its_peak() -> None:
    values, symbols = kept("usl", ("n",))
    slope = sympy.diff(step(values, "X"), symbols["n"])
    assert sympy.simplify(slope.subs(symbols["n"], step(values, "n_max"))) == 0


def test_two_points_of_the_storage_report() -> None:
    """1260 GB with 50 resident pages in 256 GB; with one page 8 TB, the design limit."""
    assert round(explain("storage-limit").value("V") / 2**30) == 1260
    assert explain("storage-limit", resident_pages=1).value("V") == 8 * 2**40


def test_the_numerical_pool_is_the_rational_function_of_any_think_time() -> None:
    values, symbols = kept("alias-pool", ("think_time",), volumes=2, aliases=1, population=3)
    rate = sympy.lambdify(symbols["think_time"], step(values, "X"))
    for think in np.geomspace(1e-5, 1e-1, 9):
        pool = queueing.alias_pool(
            1, volumes=2, population=3, think_time=float(think), service_time=1.3e-3, method="exact"
        )
        assert float(pool.pool_throughput) == pytest.approx(float(rate(think)), rel=1e-10)


def test_saturation_is_an_answer() -> None:
    told = explain("mmc", arrival_rate=900, servers=1)
    assert math.isinf(told.value("W"))
    assert math.isinf(told.numerical["W"])
    assert "saturated" in told.text()
