"""sympy proves what numpy computes: each topic, evaluated exactly, is the numerical code; and the limits hold."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from planner import queueing
from planner.errors import InputError
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
    ("bursts", {"batch": 1, "servers": 2}),
    ("bursts", {"batch": 7.5, "servers": 4, "inflation": 0.16}),
    ("together", {"together": 0, "aliases": 3}),
    ("together", {"together": 1, "volumes": 3, "burst": 2, "aliases": 1}),
    ("together", {"together": 0.9, "volumes": 3, "share": 0.5, "aliases": 4}),
    ("mgc", {"scv": 0, "servers": 1}),
    ("mgc", {"scv": 4, "servers": 6, "arrival_rate": 4000}),
    ("mgc", {"scv": 1}),
    ("mgc", {"scv": 0, "servers": 3}),
    ("mgc", {"scv": 0.3, "servers": 5, "arrival_rate": 3000}),
    ("mgc", {"scv": 9, "servers": 2, "arrival_rate": 1500}),
    ("mgc", {"scv": 0.5, "servers": 8, "arrival_rate": 10}),
    ("mgc", {"scv": 2, "arrival_rate": 0}),
    ("mgc", {"scv": 2, "arrival_rate": 2000}),
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
SPREADS = (0, 0.05, 0.3, 0.5, 0.9, 1, 1.5, 4)
CONDITION = 1e4  # of a wait at 99.95 % load: the relative error of c - a


@pytest.mark.first(1)
@pytest.mark.parametrize(("name", "numbers"), CASES, ids=str)
def test_the_exact_value_is_the_numerical_one(name: str, numbers: dict[str, float]) -> None:
    told = explain(name, **numbers)
    assert told.numerical
    summed = 0 < told.numbers.get("together", 0) < 1  # over a common number, in steps
    for symbol, found in told.numerical.items():
        assert found == pytest.approx(told.value(symbol), rel=2e-5 if summed else IDENTITY * CONDITION, abs=0)


@pytest.mark.slow
@settings(max_examples=10)
@given(
    load=st.floats(0.05, 0.99).map(lambda x: round(x, 4)),
    servers=st.integers(1, 12),
    spread=st.sampled_from([0, 0.05, 0.3, 0.5, 0.9, 1, 1.5, 4]),
)
def test_open_queues_at_any_load(load: float, servers: int, spread: float) -> None:
    given = {"arrival_rate": load * servers / 1.3e-3, "servers": servers}
    for name, more in (("mmc", {}), ("mgc", {"scv": spread})):
        topic = topic_named(name)  # without sensitivities, which take as long again for each input
        exact = topic.numbers({**given, **more})
        values = topic.evaluate(exact)
        for symbol, found in topic.numerical({key: float(value) for key, value in exact.items()}).items():
            if sympy.Symbol(symbol) in values:
                expected = float(step(values, symbol))
                assert found == pytest.approx(expected, rel=IDENTITY / (1 - load) * 10)


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


@pytest.mark.long
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


def forms(scv: float) -> dict[str, Any]:
    """Right sides of the steps of M/G/c, for some spread below or above one, by their left sides."""
    topic = topic_named("mgc")
    return {str(step.left): step.right for step in topic.equations(topic.numbers({"scv": scv, "servers": 3}))}


def symbols_of(*names: str) -> tuple[Any, ...]:
    """Symbols of the topic M/G/c, whatever they assume."""
    known = {str(s): s for scv in (0.5, 2) for right in forms(scv).values() for s in right.free_symbols}
    return tuple(known[name] for name in names)


@pytest.mark.long
def test_the_law_of_mgc_is_the_one_that_the_package_answers_with() -> None:
    for scv, servers in ((0.5, 3), (2.0, 3), (1.0, 3), (0.0, 3), (2.5, 1)):
        told = explain("mgc", scv=scv, servers=servers)
        steady = queueing.mgc(755.0, 1.3e-3, servers, scv)
        meaning = next(step.meaning for step in told.steps if str(step.left) == "W")
        assert str(steady.method).partition("_")[0].capitalize() in meaning or str(steady.method) == "exact"
        assert float(steady.wait_time) == pytest.approx(told.value("W"), rel=IDENTITY)


def test_one_server_of_any_spread_is_pollaczek_khinchine() -> None:
    values, symbols = kept("mgc", ("arrival_rate", "service_time", "scv"), servers=1)
    rate, service, spread = (symbols[key] for key in ("arrival_rate", "service_time", "scv"))
    second_moment = service**2 * (1 + spread)
    wait = open_branch(sympy.piecewise_fold(step(values, "W")))
    assert sympy.simplify(wait - rate * second_moment / (2 * (1 - rate * service))) == 0


def test_spread_one_is_mmc_from_below_and_from_above() -> None:
    spread, short, stages, moment, power, exponential = symbols_of("v", "p", "K", "m", "alpha", "W_M")
    # From below: two stages or one fewer, and at one only one: E S^alpha is Gamma(1 + alpha).
    below = forms(0.5)
    alone = below["p"].subs({stages: 2, spread: 1})
    assert alone == 1
    one = below["m"].subs({stages: 2, short: 1})
    assert sympy.simplify(one - sympy.gamma(1 + power)) == 0
    assert sympy.simplify(below["W"].subs(moment, sympy.gamma(1 + power)) - exponential) == 0
    # From above: both kinds of service alike, the least of c of them is 1/c.
    above = forms(2)
    skew, least, share, c = symbols_of("s", "g", "beta", "c")
    assert above["s"].subs(spread, 1) == 0
    assert sympy.simplify(above["g"].subs({skew: 0, c: 3}).doit()) == sympy.Rational(1, 3)
    assert sympy.simplify(above["beta"].subs({spread: 1, least: 1 / c})) == 1
    assert sympy.simplify(above["W"].subs({spread: 1, share: 1}) - exponential) == 0


def test_no_spread_is_constant_service() -> None:
    below = forms(0.5)
    moment, power, exponential, regular = symbols_of("m", "alpha", "W_M", "W_D")
    # A constant service of mean one has E S^alpha = 1; alpha is chosen such that W is W_D then.
    law = sympy.expand_log(sympy.log(below["W"].subs(moment, 1) / exponential), force=True)
    chosen = sympy.solve(below["alpha"], sympy.loggamma(1 + power))[0]
    in_law = law.subs(sympy.log(sympy.gamma(1 + power)), chosen)
    wanted = sympy.log(regular / exponential)
    assert sympy.simplify(sympy.expand_log(in_law - wanted, force=True)) == 0
    assert str(forms(0.0)["W"]) == "W_D"


@pytest.mark.long
def test_in_heavy_traffic_only_two_moments_count() -> None:
    """Constant service then waits half as long as exponential service; both laws become (1 + v) / 2 times W_M."""
    below, above = forms(0.5), forms(2)
    spread, power, moment, exponential, regular = symbols_of("v", "alpha", "m", "W_M", "W_D")
    half = {regular: exponential / 2}
    assert sympy.simplify((below["alpha"].lhs - below["alpha"].rhs).subs(half).subs(power, 2)) == 0
    second = below["W"].subs({power: 2, moment: 1 + spread})
    assert sympy.simplify(second - exponential * (1 + spread) / 2) == 0
    assert sympy.simplify(above["W"].subs(half) - exponential * (1 + spread) / 2) == 0
    near = explain("mgc", arrival_rate=1e3 * (2 / 1.3) * (1 - 1e-6))
    assert near.value("W") / near.value("W_AC") == pytest.approx(1, rel=1e-5)


@pytest.mark.long
def test_two_moments_of_a_service_between_constant_and_exponential() -> None:
    """The moment of the law below one gives its mean for alpha 1, and 1 + v for alpha 2, whatever v."""
    below = forms(0.5)
    short, stages, power, spread = symbols_of("p", "K", "alpha", "v")
    for k in (2, 3, 5):
        for alpha, expected in ((1, 1), (2, 1 + spread)):
            found = below["m"].subs(power, alpha).subs(short, below["p"]).subs(stages, k)
            assert sympy.simplify(sympy.gammasimp(found - expected)) == 0


def test_without_load_nobody_waits() -> None:
    for name in ("mmc", "mgc", "erlang-c"):
        given = {"offered_load": 0} if name == "erlang-c" else {"arrival_rate": 0}
        told = explain(name, **given)
        assert told.value("C") == 0
        assert name == "erlang-c" or told.value("W") == 0
    values, symbols = kept("erlang-c", ("offered_load",), servers=3)
    delay = sympy.together(open_branch(sympy.piecewise_fold(step(values, "C"))))
    assert sympy.limit(delay, symbols["offered_load"], 0) == 0
    assert sympy.limit(delay, symbols["offered_load"], 3, dir="-") == 1


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("servers", [1, 2])
def test_many_requesters_are_an_open_queue_state_by_state(servers: int) -> None:
    """Think time N / lambda and N without end: every weight of M/M/c//N tends to that of M/M/c, and so the sums."""
    topic = topic_named("finite-source")
    weights = topic.equations(topic.numbers({"servers": servers}))[0].right
    population, think, service, c, growth, present = (
        next(s for s in weights.free_symbols if str(s) == name) for name in ("N", "Z", "S", "c", "i", "n")
    )
    rate, size = sympy.Symbol("lambda", positive=True), sympy.Symbol("N", positive=True)
    recursion = weights.args[-1][0]
    weight = limit = sympy.Integer(1)
    before = next(part for part in recursion.atoms(sympy.Function) if str(part.func) == "w")
    for n in range(1, 7):
        factor = (recursion / before).subs({present: n, c: servers, growth: 0}).doit()
        weight *= factor.subs({population: size, think: size / rate})
        limit *= rate * service / min(n, servers)
        # N! / (N - n)! (a / N)^n tends to a^n
        assert sympy.simplify(sympy.limit(weight, size, sympy.oo) - limit) == 0
    # The limits are those of M/M/c: their sums are its delay probability and queue.
    load, k = sympy.Symbol("a", positive=True), sympy.Symbol("k", integer=True, nonnegative=True)
    ratio = load / servers
    head = sum(load**n / sympy.factorial(n) for n in range(servers))
    tail = load**servers / sympy.factorial(servers) / (1 - ratio)
    mean = load**servers / sympy.factorial(servers) * ratio / (1 - ratio) ** 2
    assert (
        sympy.simplify(
            sympy.summation(k * sympy.Rational(1, 3) ** k, (k, 0, sympy.oo)) - sympy.Rational(3, 4)
        )
        == 0
    )
    values, symbols = kept("mmc", ("arrival_rate", "service_time"), servers=servers)
    wait = open_branch(sympy.piecewise_fold(step(values, "W")))
    found = (wait * symbols["arrival_rate"]).subs(symbols["arrival_rate"], load / symbols["service_time"])
    assert sympy.simplify(found - mean / (head + tail)) == 0


@pytest.mark.long
def test_many_requesters_come_ever_nearer_to_the_open_wait() -> None:
    """By numbers: the error of the wait falls ever faster."""
    rate, open_wait = 755.0, explain("mmc").value("W")
    errors = []
    for population in (4, 8, 16):
        told = explain("finite-source", population=population, servers=2, think_time=population / rate)
        errors.append(open_wait - told.value("W"))
    assert errors[0] > errors[1] > errors[2] > 0
    assert errors[2] / errors[1] < errors[1] / errors[0] < 0.75


def test_little_and_no_thinking_are_the_ends_of_the_load_of_a_closed_queue() -> None:
    values, symbols = kept("finite-source", ("think_time", "service_time"), population=3, servers=2)
    think, service = symbols["think_time"], symbols["service_time"]
    assert sympy.limit(step(values, "X"), think, sympy.oo) == 0
    assert sympy.limit(step(values, "W"), think, sympy.oo) == 0
    assert sympy.simplify(sympy.limit(sympy.cancel(step(values, "X")), think, 0) - 2 / service) == 0
    assert sympy.limit(sympy.cancel(step(values, "L_q")), think, 0) == 1


@pytest.mark.long
def test_little_and_no_thinking_are_the_ends_of_the_load_of_a_pool() -> None:
    pool, symbols = kept("alias-pool", ("think_time", "service_time"), volumes=2, aliases=1, population=2)
    think, service = symbols["think_time"], symbols["service_time"]
    assert sympy.limit(step(pool, "X"), think, sympy.oo) == 0
    assert sympy.limit(sympy.cancel(step(pool, "W")), think, sympy.oo) == 0
    busy = sympy.limit(sympy.cancel(step(pool, "X")), think, 0) * service
    assert sympy.simplify(busy - 3) == 0  # both bases and the alias always busy


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


@pytest.mark.long
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
    values, symbols = kept("usl", ("n", "gamma", "alpha", "beta"))
    assert sympy.limit(step(values, "X").subs(symbols["beta"], positive), symbols["n"], sympy.oo) == 0


@pytest.mark.long
def test_how_far_volumes_act_together_moves_the_tail_and_not_the_mean() -> None:
    topic = topic_named("together")
    found = []
    for share in (0, 0.5, 1):
        values = topic.evaluate(topic.numbers({"together": share, "volumes": 3, "aliases": 6}))
        assert step(values, "U") == sympy.Rational(3, 4)
        found.append(float(step(values, "E")))
    assert 0 < found[0] < found[1] < found[2] == 0.05 * (3 * 5 - 6)
    values, symbols = kept("together", ("share",), together=0, volumes=2, burst=1, aliases=1)
    assert sympy.expand(step(values, "E") - symbols["share"] ** 2) == 0
    with pytest.raises(InputError, match=r"together = 0\.995: expected 0 to 0\.99, or 1"):
        explain("together", together=0.995)


def test_translation_that_is_not_faster_saves_nothing() -> None:
    values, symbols = kept("ccw", ("ssch_time", "ssch_64_time", "fast_ccw_time", "slow_ccw_time"))
    fast, slow, surcharge = (symbols[key] for key in ("fast_ccw_time", "slow_ccw_time", "ssch_64_time"))
    for name in ("g_31", "g_64"):
        assert sympy.simplify(step(values, name).subs(slow, fast)) == 0
        assert sympy.limit(step(values, name), slow, sympy.oo) == 1
    assert sympy.limit(step(values, "g_64"), surcharge, sympy.oo) == 0


def test_throughput_is_level_at_its_peak() -> None:
    values, symbols = kept("usl", ("n",))
    slope = sympy.diff(step(values, "X"), symbols["n"])
    assert sympy.simplify(slope.subs(symbols["n"], step(values, "n_max"))) == 0


def test_many_pages_a_segment_leave_only_the_frames_and_few_the_data_spaces() -> None:
    values, symbols = kept("storage-limit", ("resident_pages",), ptrm_spaces=16)
    pages = symbols["resident_pages"]
    by_storage = step(values, "N_M")
    assert by_storage.subs(pages, 256) == (256 * 2**30 // 4096) // 258
    assert step(values, "N").subs(pages, 1) == step(values, "N_D")


def test_two_points_of_the_storage_report() -> None:
    """1260 GB with 50 resident pages in 256 GB; with one page 8 TB, the design limit."""
    assert round(explain("storage-limit").value("V") / 2**30) == 1260
    assert explain("storage-limit", resident_pages=1).value("V") == 8 * 2**40


@pytest.mark.long
def test_the_numerical_pool_is_the_rational_function_of_any_think_time() -> None:
    values, symbols = kept("alias-pool", ("think_time",), volumes=2, aliases=1, population=3)
    rate = sympy.lambdify(symbols["think_time"], step(values, "X"))
    for think in np.geomspace(1e-5, 1e-1, 9):
        pool = queueing.alias_pool(
            1, volumes=2, population=3, think_time=float(think), service_time=1.3e-3, method="exact"
        )
        assert float(pool.pool_throughput) == pytest.approx(float(rate(think)), rel=1e-10)


@pytest.mark.long
def test_saturation_is_an_answer() -> None:
    told = explain("mmc", arrival_rate=900, servers=1)
    assert math.isinf(told.value("W"))
    assert math.isinf(told.numerical["W"])
    assert "saturated" in told.text()


@pytest.mark.first(2)
@pytest.mark.parametrize(
    "numbers",
    [
        {"arrival_rate": "2000/s"}, {"arrival_rate": "1000/s"}, {"arrival_rate": "1000/s", "batch": 1},
        {"arrival_rate": "2100/s", "servers": 2, "inflation": 0.5}, {"arrival_rate": 1e12, "servers": 30},
    ],
)  # fmt: skip
def test_bursts_beyond_what_the_devices_carry_are_saturated(numbers: dict[str, float | str]) -> None:
    told = explain("bursts", **numbers)
    assert math.isinf(told.value("W"))
    assert math.isinf(told.numerical["W"])
    assert told.result == "Wait time, by Little's law: W = saturated"
    steps = {each["symbol"]: each for each in told.to_dict()["steps"]}
    assert all(steps[name]["value"] == math.inf for name in ("T", "E", "G", "L_q", "W"))
    assert "\u221e  otherwise" in told.text()


@pytest.mark.parametrize("rate", ["995/s", "990.1/s", "999.999/s"])
def test_one_percent_that_crosses_saturation_is_told_as_saturated(rate: str) -> None:
    told = explain("bursts", arrival_rate=rate)
    changes = dict(told.sensitivities)
    assert told.value("W") == pytest.approx(told.numerical["W"], rel=1e-9)
    for key in ("arrival_rate", "service_time"):
        assert math.isinf(changes[f"1% more: {key}"])
    assert 0 < changes["one more: servers"] < told.value("W") < changes["1% more: batch"] < math.inf
    assert "1% more: arrival_rate  saturated" in told.text()


@pytest.mark.parametrize(
    ("alpha", "beta", "peak"),
    [
        (2, 0.0005, 1), (1.01, 0.0005, 1), (1, 0.0005, 1), (2, 0, 1), (0.5, 3, 1), (1, 0, math.inf), (0.1, 0, math.inf),
        (0.01, 0.0099, 10), (0, 0, math.inf),
    ],
)  # fmt: skip
def test_the_peak_is_where_the_law_is_largest(alpha: float, beta: float, peak: float) -> None:
    told = explain("usl", alpha=alpha, beta=beta)
    assert told.value("n_max") == pytest.approx(peak)
    assert told.text()
    fitted = replace(
        queueing.fit_usl([1, 2, 4], [1, 2, 4]),
        gamma=np.float64(53),
        alpha=np.float64(alpha),
        beta=np.float64(beta),
    )
    assert float(fitted.peak_concurrency) == pytest.approx(peak)
    n = np.linspace(1, 40, 391)
    rates = queueing.usl(n, 53, alpha, beta)
    assert float(fitted.peak_throughput) >= rates.max() * (1 - 1e-12)
    if math.isfinite(peak):
        assert n[np.argmax(rates)] == pytest.approx(peak)


@pytest.mark.long
def test_enough_aliases_for_every_burst_leave_nothing_beyond_them() -> None:
    told = explain("together", volumes=2, burst=3, aliases=6)
    assert told.value("E") == told.numerical["E"] == 0
    assert told.value("U") == pytest.approx(told.numerical["U"])


@pytest.mark.parametrize(("share", "together"), [(1e-6, 0.99), (1e-6, 0.5)])
def test_rare_bursts_lie_in_the_tails_of_what_volumes_have_in_common(share: float, together: float) -> None:
    """One volume whose own number is integrated away has its burst in its share of the time, however rare."""
    topic = topic_named("together")
    values = topic.evaluate(
        topic.numbers({"volumes": 1, "burst": 3, "aliases": 1, "share": share, "together": together})
    )
    assert float(step(values, "E")) == pytest.approx(2 * share, rel=1e-9)
