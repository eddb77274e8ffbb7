"""Steps of the topics against references of their own: series, integrals and chains that they do not use."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy
from mpmath import findroot, mpf, ncdf, npdf, re, workdps
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import gamma, ndtr, ndtri
from scipy.stats import binom, poisson

from planner.errors import InputError
from planner.explain import topic_named
from planner.explain.topic import _over_the_line, many_digits
from planner.queueing.general_service import BEST_ABOVE, BEST_BELOW, COMPARED_SCV, KNOWN_ERRORS

CLOSE = 1e-9  # of two ways in double precision
SERVICE = 1.3e-3  # [s]
SPREADS = (0.0, 0.4, 3.0)
GROUPS = tuple(product((2, 3), (0.3, 0.8)))  # servers, load of one


@cache
def evaluated(name: str, **numbers: float) -> dict[str, float]:
    """Every step of a topic, each member of a family, by its name."""
    topic = topic_named(name)
    values = topic.evaluate(topic.numbers(numbers))
    inputs = {each.symbol for each in topic.inputs}
    return {str(key): float(value) for key, value in values.items() if key not in inputs}


@cache
def formulas(
    scv: float, servers: int
) -> list[tuple[sympy.Symbol, list[sympy.Symbol], Callable[..., Any], Any]]:
    """Each step of M/G/c as a function of the symbols on its right, and where its root lies if it is an equation."""
    topic = topic_named("mgc")
    found = []
    for step in topic.equations(topic.numbers({"scv": scv, "servers": servers})):
        right = step.right if step.bracket is None else step.right.lhs - step.right.rhs
        symbols = sorted(right.free_symbols, key=str)
        found.append((step.left, symbols, sympy.lambdify(symbols, right, "mpmath"), step.bracket))
    return found


def general(servers: int, load: float, scv: float) -> dict[str, float]:
    """M/G/c at a load of one server, its steps taken with 40 digits."""
    keys = {item.key: item.symbol for item in topic_named("mgc").inputs}
    given = {"arrival_rate": mpf(load) * servers / SERVICE, "service_time": mpf(SERVICE), "servers": servers}
    known = {keys[key]: value for key, value in {**given, "scv": mpf(scv)}.items()}
    with workdps(40):
        for left, symbols, right, bracket in formulas(scv, servers):
            if bracket is None:
                known[left] = re(right(*(known[each] for each in symbols)))
            else:
                others = [known.get(each) for each in symbols]
                at = symbols.index(left)
                known[left] = findroot(
                    partial(lambda others, at, right, x: right(*others[:at], x, *others[at + 1 :]), others, at, right),
                    tuple(map(float, bracket)), solver="ridder",
                )  # fmt: skip
        return {str(symbol): float(value) for symbol, value in known.items()}


def constant_wait(servers: int, load: float) -> float:
    """Wait of M/D/c in service times, by Crommelin's series of Poisson probabilities."""
    k = np.arange(1, 400)
    busy = k * load * servers
    terms = poisson.sf(k * servers - 1, busy) - poisson.sf(k * servers, busy) / load
    return float(terms.sum())


def exponential_wait(servers: int, load: float) -> float:
    """Wait of M/M/c in service times, from the probabilities of its states."""
    offered = load * servers
    below = [offered**n / math.factorial(n) for n in range(servers)]
    above = offered**servers / math.factorial(servers) / (1 - load)
    return above / (sum(below) + above) / (servers * (1 - load))


@pytest.mark.parametrize(("servers", "load"), GROUPS)
def test_constant_and_exponential_service_wait_as_crommelin_and_erlang_found(
    servers: int, load: float
) -> None:
    for scv in SPREADS:
        found = general(servers, load, scv)
        assert found["W_D"] == pytest.approx(SERVICE * constant_wait(servers, load), rel=CLOSE)
        assert found["L_D"] == pytest.approx(load * servers * constant_wait(servers, load), rel=CLOSE)
        assert found["W_M"] == pytest.approx(SERVICE * exponential_wait(servers, load), rel=CLOSE)
        assert found["W_AC"] == pytest.approx((1 + scv) / 2 * found["W_M"], rel=CLOSE)
    assert general(servers, load, 0.0)["W"] == general(servers, load, 0.0)["W_D"]


def test_little_and_the_service_follow_a_wait() -> None:
    for scv, (servers, load) in product(SPREADS, GROUPS):
        found = general(servers, load, scv)
        assert found["a"] == pytest.approx(load * servers)
        assert found["rho"] == pytest.approx(load)
        assert found["L_q"] == pytest.approx(load * servers / SERVICE * found["W"])
        assert found["R"] == pytest.approx(found["W"] + SERVICE)
        assert found["W_M"] == pytest.approx(found["C"] * SERVICE / servers / (1 - load))
        assert found["B"] == pytest.approx(binom_of_loss(servers, load * servers))


def binom_of_loss(servers: int, offered: float) -> float:
    """Erlang's B by its recursion over servers."""
    lost = 1.0
    for count in range(1, servers + 1):
        lost = offered * lost / (count + offered * lost)
    return lost


@pytest.mark.parametrize("scv", [0.02, 0.3, 0.4, 0.5, 0.75])
def test_takahashi_takes_a_moment_of_an_erlang_mixture(scv: float) -> None:
    """Its stages by its two moments, its moment by an integral over its density."""
    found = general(2, 0.8, scv)
    stages = math.ceil(1 / scv)
    assert found["K"] == stages

    def second(short: float) -> float:
        longer = short * (stages - 1) * stages + (1 - short) * stages * (stages + 1)
        return longer / (stages - short) ** 2

    low, high = second(0.0) - 1 - scv, second(1.0) - 1 - scv
    short = (
        0.0 if abs(low) < CLOSE else 1.0 if abs(high) < CLOSE else brentq(lambda p: second(p) - 1 - scv, 0, 1)
    )
    assert found["p"] == pytest.approx(short, abs=1e-8)
    alpha, pace = found["alpha"], stages - short

    def density(x: float) -> float:
        return sum(
            share * pace**k * x ** (k - 1) * math.exp(-pace * x) / gamma(k)
            for share, k in ((short, stages - 1), (1 - short, stages)) if share
        )  # fmt: skip

    moment = quad(lambda x: x**alpha * density(x), 0, 40, epsabs=1e-12, points=(0.5, 1.0, 2.0))[0]
    assert found["m"] == pytest.approx(moment, rel=1e-7)
    # W_M (E S^alpha / alpha!)^(1 / (alpha - 1)) is exact for constant service, the moments of which are 1
    assert found["W_M"] * (1 / gamma(1 + alpha)) ** (1 / (alpha - 1)) == pytest.approx(
        found["W_D"], rel=CLOSE
    )
    wait = found["W_M"] * (moment / gamma(1 + alpha)) ** (1 / (alpha - 1))
    assert found["W"] == pytest.approx(wait, rel=1e-7)
    assert found["W_D"] < found["W"] < found["W_M"]


@pytest.mark.parametrize("servers", [2, 3, 7])
def test_boxma_cohen_and_huffels_are_exact_where_there_is_hardly_load(servers: int) -> None:
    """Who waits there waits for the least of the services under way, each of balanced means by half."""
    scv, load = 3.0, 1e-4
    found = general(servers, load, scv)
    skew = math.sqrt((scv - 1) / (scv + 1))
    assert found["s"] == pytest.approx(skew)

    def all_last(t: float) -> float:
        return ((math.exp(-(1 + skew) * t) + math.exp(-(1 - skew) * t)) / 2) ** servers

    least = quad(all_last, 0, np.inf, epsabs=1e-13, epsrel=1e-12)[0]
    assert found["g"] == pytest.approx(least, rel=1e-8)
    assert found["W"] / found["W_M"] == pytest.approx(servers * least, rel=10 * load)
    full = general(servers, 1 - 1e-5, scv)
    assert full["W"] / full["W_M"] == pytest.approx((1 + scv) / 2, rel=1e-3)


def test_the_least_spread_is_a_thousandth() -> None:
    topic = topic_named("mgc")
    assert topic.equations(topic.numbers({"scv": 1e-3}))
    with pytest.raises(InputError, match=r"scv = 0\.000999: expected 0, or at least 0\.001"):
        topic.equations(topic.numbers({"scv": 9.99e-4}))
    assert topic.equations(topic.numbers({"scv": 9.99e-4, "servers": 1}))  # exact for any spread


def test_known_errors_of_closed_forms_are_told_where_they_are_used() -> None:
    told = {line.split("formula of ")[-1].split("that of ")[-1].split("rule of ")[-1][:5]: line
            for line in topic_named("mgc").assumptions}  # fmt: skip
    below, above = ([scv for scv in COMPARED_SCV if (scv <= 1) == low] for low in (True, False))
    for name, method, spreads in (("Takah", BEST_BELOW, below), ("Boxma", BEST_ABOVE, above),
                                  ("Allen", "allen_cunneen", list(COMPARED_SCV))):  # fmt: skip
        parts = [part.split(" ")[-4:] for part in told[name].split(", ") if " to scv " in part]
        assert [float(scv) for *_, scv in parts] == spreads
        for (error, *_), scv in zip(parts, spreads, strict=True):
            known = 100 * KNOWN_ERRORS[method][COMPARED_SCV.index(scv)]
            decimals = 0 if known >= 10 else 1
            assert error == f"{known:.{decimals}f}%"


# Limits of the counts that are evaluated in symbols, and of what cannot be larger; our own choice.
LIMITS = {
    "erlang-c": {"servers": (1, 200)},
    "mmc": {"servers": (1, 200)},
    "finite-source": {"population": (1, 40), "servers": (1, 200)},
    "mgc": {"servers": (1, 30)},
    "alias-pool": {"volumes": (1, 6), "aliases": (0, 200), "population": (1, 8)},
    "storage-limit": {"ptrm_spaces": (1, 200)},
    "ccw": {},
    "usl": {},
    "bursts": {"servers": (1, 200)},
    "together": {"volumes": (1, 24), "burst": (1, 64), "aliases": (0, 1024)},
}
LEAST = {  # of other numbers, which may be as small as that
    "erlang-c": {"offered_load": 0}, "mmc": {"arrival_rate": 0}, "mgc": {"arrival_rate": 0, "scv": 0},
    "finite-source": {"inflation": 0}, "bursts": {"batch": 1, "inflation": 0},
    "usl": {"n": 1, "alpha": 0, "beta": 0}, "storage-limit": {"resident_pages": 1, "real_storage": 5e-324},
    "together": {"share": 1e-6, "together": 0}, "alias-pool": {},
    "ccw": {"ssch_time": 0, "ssch_64_time": 0, "fast_ccw_time": 0, "slow_ccw_time": 0},
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITS)
def test_a_number_is_taken_up_to_its_limits_and_not_beyond(name: str) -> None:
    topic = topic_named(name)
    assert {item.key for item in topic.inputs if item.whole} == set(LIMITS[name])
    for key, (least, most) in LIMITS[name].items():
        for value in (least, most):
            assert topic.numbers({key: value})[key] == value
        for value in (least - 1, most + 1, least + 0.5):
            with pytest.raises(InputError, match=f"{key} = "):
                topic.numbers({key: value})
    for key, small in LEAST[name].items():
        assert float(topic.numbers({key: small})[key]) == pytest.approx(small)
        with pytest.raises(InputError, match=f"{key} = "):
            topic.numbers({key: small - 1e-3})
    for item in topic.inputs:
        if not item.whole and item.key not in LEAST[name]:
            with pytest.raises(InputError, match=f"{item.key} = "):
                topic.numbers({item.key: 0})


@pytest.mark.parametrize("name", LIMITS)
def test_a_symbol_is_assumed_what_its_input_is_held_to(name: str) -> None:
    topic = topic_named(name)
    for item in topic.inputs:
        assert bool(item.symbol.is_positive) == (item.low > 0), item.key
        assert bool(item.symbol.is_nonnegative) == (item.low >= 0), item.key
        assert bool(item.symbol.is_integer) == item.whole, item.key
    indices = [step.index[0] for step in topic.equations(topic.numbers({})) if step.index]
    for step in topic.equations(topic.numbers({})):
        indices += [limit[0] for sum_ in step.right.atoms(sympy.Sum) for limit in sum_.limits]
    for index in indices:
        assert index.is_integer
        assert index.is_nonnegative


@pytest.mark.parametrize("batch", [1.0, 2.5])
@pytest.mark.parametrize(("servers", "inflation"), [(1, 0.0), (2, 0.0), (3, 0.2)])
def test_batches_are_the_chain_of_bulk_arrivals(batch: float, servers: int, inflation: float) -> None:
    """Balance equations over 600 states, a batch being k with the chance q^(k - 1) (1 - q)."""
    load = 0.4 * servers
    found = evaluated("bursts", arrival_rate=load / SERVICE, service_time=SERVICE, batch=batch, servers=servers,
                      inflation=inflation)  # fmt: skip
    stay, states = 1 - 1 / batch, 600
    instants = load / batch
    assert found["a"] == pytest.approx(instants / SERVICE)
    assert found["q"] == pytest.approx(stay)
    busy = np.minimum(np.arange(states), servers)
    ends = busy / (1 + inflation * np.maximum(busy - 1, 0))
    assert found["mu_c"] == pytest.approx(ends[-1] / SERVICE)
    # what flows up over the cut below n: from each state below, a batch that is long enough
    weight = np.zeros(states)
    weight[0] = 1.0
    above = 0.0  # the sum over states below of weight x chance of a batch that reaches n
    for n in range(1, states):
        above = above * stay + weight[n - 1]
        weight[n] = instants * above / ends[n]
    assert [found[f"p({n})"] for n in range(servers + 1)] == pytest.approx(weight[: servers + 1].tolist())
    assert [found[f"mu({n})"] for n in range(servers + 1)] == pytest.approx(
        (ends / SERVICE)[: servers + 1].tolist()
    )
    assert found["G"] == pytest.approx(weight.sum())
    queue = weight @ np.maximum(np.arange(states) - servers, 0) / weight.sum()
    assert found["L_q"] == pytest.approx(queue, rel=1e-8)
    assert found["W"] == pytest.approx(queue * SERVICE / load, rel=1e-8)
    assert found["E"] / found["G"] == pytest.approx(queue, rel=1e-8)
    assert found["T"] / found["G"] == pytest.approx(weight[servers + 1 :].sum() / weight.sum(), rel=1e-8)
    if servers == 1:  # the textbook's: rho m / (1 - rho), less the one in service
        assert queue == pytest.approx(load * batch / (1 - load) - load)


@pytest.mark.first(2)
@pytest.mark.parametrize(("aliases", "together"), [(0, 0.3), (3, 0.3), (4, 0.8), (3, 0.0), (3, 1.0)])
def test_volumes_that_act_together_by_an_integral_over_what_they_share(aliases: int, together: float) -> None:
    count, length, share = 3, 2, 0.1
    found = evaluated(
        "together", volumes=count, burst=length, share=share, aliases=aliases, together=together
    )
    over = np.maximum(length * np.arange(count + 1) - aliases, 0)

    def given(number: float) -> float:
        chance = ndtr((ndtri(share) - math.sqrt(together) * number) / math.sqrt(1 - together))
        return float(binom.pmf(np.arange(count + 1), count, chance) @ over)

    if together < 1:
        density = 1 / math.sqrt(2 * math.pi)
        beyond = quad(lambda g: given(g) * density * math.exp(-(g**2) / 2), -9, 9, epsabs=1e-11, limit=200)[0]
    else:
        beyond = share * float(over[-1])
    assert found["U"] == pytest.approx(count * length * share)
    assert found["E"] == pytest.approx(beyond, rel=1e-7)
    assert found["Q"] == pytest.approx(1.5 * beyond, rel=1e-7)
    if aliases == 0:
        assert found["E"] == pytest.approx(found["U"])
    if 0 < together < 1:
        assert found["z"] == pytest.approx(ndtri(share))
        assert found["b"] == pytest.approx(math.sqrt(together / (1 - together)))
        assert found["d"] == pytest.approx(ndtri(share) / math.sqrt(1 - together))


@pytest.mark.first(3)
@pytest.mark.parametrize("inflation", [0.0, 0.16])
@pytest.mark.parametrize(("population", "servers"), [(1, 1), (4, 1), (5, 3), (3, 7)])
def test_a_closed_queue_is_its_product_of_rates(population: int, servers: int, inflation: float) -> None:
    """A state's weight is the product of what comes over what goes; means are its moments."""
    think = 0.8e-3
    topic = topic_named("finite-source")
    given = {"population": population, "servers": servers, "inflation": inflation, "think_time": think}
    values = topic.evaluate(topic.numbers(given))
    found = {str(key): float(value) for key, value in values.items()}
    n = np.arange(population + 1)
    busy = np.minimum(n, servers)
    rates = busy / SERVICE / (1 + inflation * (busy - 1))
    ratio = (population - n[:-1]) / think / rates[1:]
    weight = np.cumprod([1.0, *ratio])
    assert [found[f"w({k})"] for k in n] == pytest.approx(weight.tolist())
    share = weight / weight.sum()
    assert found["G"] == pytest.approx(weight.sum())
    assert found["X"] == pytest.approx(share @ rates)
    assert found["B"] == pytest.approx(share @ busy)
    assert found["L_q"] == pytest.approx(share @ (n - busy))
    assert found["W"] == pytest.approx(share @ (n - busy) / found["X"])
    # all requesters are thinking, waiting or in service
    assert found["X"] * think + found["B"] + found["L_q"] == pytest.approx(population)
    assert found["R"] == pytest.approx((found["B"] + found["L_q"]) / found["X"])


def test_volumes_act_together_up_to_99_percent_or_wholly() -> None:
    topic = topic_named("together")
    for share in (0.99, 1):
        assert topic.equations(topic.numbers({"together": share}))
    for share in (0.991, 0.999):
        with pytest.raises(InputError, match=r"expected 0 to 0\.99, or 1"):
            topic.equations(topic.numbers({"together": share}))


@pytest.mark.parametrize("digits", [10, 20, 30])
def test_an_integral_over_all_numbers_has_its_digits(digits: int) -> None:
    """Of Phi(a + b x) phi(x) it is Phi(a / sqrt(1 + b^2)); of x^2 phi(x) it is one."""
    calls = 0

    def density(x: object) -> object:
        nonlocal calls
        calls += 1
        return npdf(x)

    with workdps(2 * digits):
        exact = ncdf(mpf(-2) / (1 + mpf(9) / 4) ** 0.5)
        found = _over_the_line(lambda x: ncdf(-2 + mpf(3) / 2 * x) * density(x), None, digits=digits)
        assert abs(found / exact - 1) < mpf(10) ** -digits
        second = _over_the_line(lambda x: x * x * npdf(x), None, digits=digits)
        assert abs(second - 1) < mpf(10) ** -digits
    assert calls < 40 * digits


@pytest.mark.parametrize("wanted", [10, 30])
def test_a_value_has_its_digits_however_much_cancels(wanted: int) -> None:
    huge = sympy.Integer(10) ** 70
    cancelling = sympy.Add(sympy.sqrt(2) + huge, -huge, evaluate=False)
    found = many_digits(cancelling, wanted)
    assert abs(found - sympy.sqrt(2).evalf(100)) < sympy.Rational(10) ** (1 - wanted)
    assert many_digits(sympy.Add(sympy.pi, -sympy.pi, evaluate=False), wanted) == 0
    with pytest.raises(InputError, match="numbers that need at most 100 working digits"):
        many_digits(cancelling, wanted, most=100)


def test_the_law_of_a_wait_is_named() -> None:
    topic = topic_named("mgc")
    for servers, scv, load, name in (
        (1, 0.5, 0.6, " (Pollaczek and Khinchine)"), (1, 1, 0.6, " (Pollaczek and Khinchine)"), (2, 1, 0.6, ""),
        (2, 0, 0.6, ""), (2, 0.5, 0.6, " (Takahashi 1977)"), (2, 2, 0.6, " (Boxma, Cohen and Huffels 1979)"),
        (2, 2, 1.0, ""), (2, 2, 0.0, ""), (2, 2, 0.999, " (Boxma, Cohen and Huffels 1979)"),
    ):  # fmt: skip
        given = {"servers": servers, "scv": scv, "arrival_rate": load * servers * 1000, "service_time": 1e-3}
        steps = [step for step in topic.equations(topic.numbers(given)) if str(step.left) == "W"]
        assert [step.meaning for step in steps] == [f"wait time{name}"]
