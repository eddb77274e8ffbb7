"""What an explanation shows besides its formulas: sensitivities, differences, numbers put in, the picture's data."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import sympy

from planner import style, units
from planner.explain import explain, topic_named
from planner.explain.explanation import Explanation, _sensitivities
from planner.explain.topic import Equation
from planner.explain.wording import WordedStep, hanging, latex, number, printed, with_unit
from planner.results import Array


def by_code(told: Explanation, **changed: float) -> float:
    """The answer by the numerical code, some inputs changed."""
    values = {key: float(value) for key, value in told.numbers.items()}
    return float(told.topic.numerical({**values, **changed})[str(told.topic.answer)])


@pytest.mark.first(1)
def test_every_input_that_can_be_raised_is_and_alone(told: Explanation) -> None:
    """A count by one, another number by one percent; what is 0 or at its limit is not."""
    expected = {}
    for item in told.topic.inputs:
        now = float(told.numbers[item.key])
        if item.whole and now + 1 <= item.high:
            expected[f"one more: {item.key}"] = {item.key: now + 1}
        elif not item.whole and 0 < 1.01 * now <= item.high:
            expected[f"1% more: {item.key}"] = {item.key: 1.01 * now}
    found = dict(told.sensitivities)
    assert list(found) == list(expected)
    for change, value in found.items():
        assert value == pytest.approx(by_code(told, **expected[change]), rel=1e-4), change
    text = told.text()
    assert all(change in text for change in expected)


@pytest.mark.parametrize(
    ("name", "numbers", "more", "raised"),
    [
        ("storage-limit", {"ptrm_spaces": 199}, "one more: ptrm_spaces", True),
        ("storage-limit", {"ptrm_spaces": 200}, "one more: ptrm_spaces", False),
        ("together", {"together": 1, "volumes": 2, "burst": 1}, "1% more: together", False),
        # more than is solved in symbols
        ("alias-pool", {"volumes": 6, "aliases": 0, "population": 1}, "one more: population", False),
    ],
)
def test_what_is_at_its_limit_is_not_raised(
    name: str, numbers: dict[str, float], more: str, raised: bool
) -> None:
    topic = topic_named(name)
    assert (more in dict(_sensitivities(topic, topic.numbers(numbers)))) is raised


def test_a_sensitivity_is_told_in_percent_of_the_answer() -> None:
    """Ten without contention at 100/s each are 1,000/s, with one percent more of either 1,010/s."""
    told = explain("usl", n=10, gamma="100/s", alpha=0, beta=0)
    lines = told.text().partition("Sensitivity of X, throughput\n")[2].splitlines()[:2]
    assert [" ".join(line.split()) for line in lines] == [
        "1% more: n 1,010 1/s +1 %", "1% more: gamma 1,010 1/s +1 %",
    ]  # fmt: skip
    saturated = explain("mmc", arrival_rate=900, servers=1).text()
    (line,) = [each for each in saturated.splitlines() if "1% more: service_time" in each]
    assert line.split()[-1] == "saturated"  # no percent of what has no end


@pytest.mark.parametrize(
    ("factor", "shown"),
    [(1.0, "<1e-14"), (1 + 5e-15, "<1e-14"), (1 + 3e-14, "3e-14"), (0.75, "2e-01"), (1.5, "5e-01")],
)
def test_the_difference_of_both_codes_is_relative_and_told_above_noise(factor: float, shown: str) -> None:
    told = explain("usl", n=10, gamma="100/s", alpha=0, beta=0)
    off = replace(told, numerical={"X": 1000.0 * factor})
    columns = {column.name: column.values for column in off.table().columns}
    assert (columns["symbol"], columns["unit"]) == (["X"], ["1/s"])
    assert columns["relative_difference"] == [shown]
    assert columns["exact"] == ["1,000"]


def test_nothing_beside_something_differs_without_end() -> None:
    told = explain("mmc", arrival_rate=0)
    assert told.value("W") == 0
    columns = {each.name: each.values for each in replace(told, numerical={"W": 0.0}).table().columns}
    assert columns["relative_difference"] == ["<1e-14"]
    columns = {each.name: each.values for each in replace(told, numerical={"W": 1e-3}).table().columns}
    assert columns["relative_difference"] == ["inf"]


def test_only_steps_are_compared_that_there_are() -> None:
    """Without a root of constant service there is none to compare."""
    assert "W_D" not in explain("mgc", servers=1).numerical
    found = explain("mmc").to_dict()
    assert {each["symbol"]: each["numerical"] is not None for each in found["steps"]} == {
        "a": False, "rho": False, "B": True, "C": True, "W": True, "L_q": True, "R": True,
    }  # fmt: skip


def curves(told: Explanation) -> list[tuple[Array, Array]]:
    """Data of the lines of the picture, the vertical one and the mark of the answer aside."""
    lines = [line for line in told.plot().lines if line.get_marker() != "D" and len(line.get_xdata()) > 2]  # type: ignore[arg-type]
    return [(np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)) for line in lines]


@pytest.mark.first(1)
def test_lines_are_the_numerical_code_for_your_count_one_more_and_one_fewer(told: Explanation) -> None:
    topic = told.topic
    (over,) = [item for item in topic.inputs if item.key == topic.over]
    step = next(step for step in told.steps if step.left == topic.answer)
    factor, x_factor = units.shown(step.unit)[1], units.shown(over.unit)[1]
    counts: list[dict[str, float]] = [{}]
    if topic.beside:
        (item,) = [item for item in topic.inputs if item.key == topic.beside]
        now = int(told.numbers[item.key])
        counts = [{item.key: n} for n in (now, now + 1, now - 1) if item.low <= n <= item.high]
    found = curves(told)
    assert len(found) == len(counts)
    at = float(told.numbers[over.key])
    for (x, y), count in zip(found, counts, strict=True):
        assert (np.diff(x) > 0).all()
        assert x[0] * x_factor <= (over.low if over.whole else max(over.low, at / 39))
        assert x[-1] * x_factor == pytest.approx(min(max(2 * at, at + 4 if over.whole else 0), over.high))
        assert np.isclose(x * x_factor, at).any()
        if over.whole:
            assert x.tolist() == list(range(int(x[0]), int(x[-1]) + 1))
        for k in (1, len(x) // 2, len(x) - 2):
            expected = np.nan
            if not np.isnan(y[k]):
                expected = by_code(told, **count, **{over.key: x[k] * x_factor}) / factor
            assert y[k] == pytest.approx(expected, rel=1e-9, nan_ok=True)


@pytest.mark.long
def test_axes_say_what_is_drawn_in_which_unit() -> None:
    axes = explain("mmc").plot()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("arrival rate [1/s]", "wait time [ms]")
    assert style.title_of(axes) == "M/M/c: Poisson arrivals at a group of servers: Wait time 0.412 ms."
    axes = explain("storage-limit").plot()
    assert axes.get_xlabel() == "resident pages of a segment, 1 to 256"
    assert axes.get_ylabel() == "in-use virtual storage [GB]"
    assert "1,260 GB" in style.title_of(axes)
    axes = explain("usl").plot()  # 12 of 53/s with 1 % of contention and .05 % of coherency: 636 / 1.176
    assert "Throughput 541/s" in style.title_of(axes)


def test_a_load_of_nothing_is_drawn_up_to_one() -> None:
    x, y = curves(explain("erlang-c", offered_load=0))[0]
    assert (x[0], x[-1]) == (0, 1)
    assert (y >= 0).all()
    assert y[0] == 0


@pytest.mark.long
def test_where_servers_saturate_a_line_says_so() -> None:
    """Two servers of 1.3 ms carry 1538.5/s; 755/s are drawn up to 1510, 1000/s up to 2000."""
    assert not [line for line in explain("mmc").plot().lines if line.get_label() == "saturated above"]
    axes = explain("mmc", arrival_rate=1000).plot()
    (line,) = [line for line in axes.lines if line.get_label() == "saturated above"]
    step = 2000 / 80
    assert 2 / 1.3e-3 <= float(np.ravel(line.get_xdata())[0]) <= 2 / 1.3e-3 + step


@pytest.mark.long
def test_the_answer_is_in_sight_and_no_line_shrinks_it() -> None:
    """The axis ends above four answers at most; one line saturates far above."""
    told = explain("mmc", arrival_rate=1000)
    axes = told.plot()
    top = axes.get_ylim()[1]
    answer = told.value("W") * 1e3
    assert answer < top <= 1.08 * 4 * answer + 1e-9
    most = max(float(y[np.isfinite(y)].max()) for _, y in curves(explain("usl")))
    assert explain("usl").plot().get_ylim() == pytest.approx((0, 1.08 * most))
    # a picture of nothing but zeros: enough aliases for any burst
    assert explain("together", together=0, volumes=2, burst=1, aliases=5).plot().get_ylim() == (0, 1)


@pytest.mark.long
def test_lines_are_named_where_they_end_or_leave_the_picture() -> None:
    axes = explain("mmc", arrival_rate=1000).plot()
    texts = {text.get_text(): text for text in axes.texts}
    assert {"2 servers", "3 servers", "1 server"} <= set(texts)
    top = axes.get_ylim()[1]
    for words, servers in (("1 server", 1), ("2 servers", 2)):
        x, y = texts[words].xy  # type: ignore[attr-defined]
        assert y == pytest.approx(0.97 * top)
        grid = curves(explain("mmc", arrival_rate=1000))[0][0]
        after = grid[np.searchsorted(grid, x) + 1]
        wait = {at: explain_wait(at, servers) for at in (x, after)}
        assert wait[x] <= top < wait[after]


@pytest.mark.long
def test_a_line_that_stays_in_the_picture_is_named_at_its_last_value(monkeypatch: pytest.MonkeyPatch) -> None:
    named: dict[str, float] = {}
    monkeypatch.setattr(
        style, "name_lines", lambda _, ends: named.update({words: at for at, words, _ in ends})
    )
    told = explain("finite-source", servers=2)
    told.plot()
    assert named == {
        f"{n} server{'s' if n > 1 else ''}": pytest.approx(by_code(told, servers=n, population=7.0))
        for n in (1, 2, 3)
    }


def test_inputs_stand_behind_two_spaces_by_their_symbols() -> None:
    lines = explain("mmc").text(unicode=False).splitlines()
    rows = [" ".join(line.split()) for line in lines if line.startswith("  ") and not line.startswith("   ")]
    for each in (
        "lambda 755 1/s arrival_rate arrival rate",
        "S 1.3 ms service_time service time",
        "c 2 servers servers",
    ):
        assert each in rows


def explain_wait(rate: float, servers: int) -> float:
    """Wait of M/M/c by its numerical code [ms]."""
    topic = topic_named("mmc")
    found = topic.numerical({"arrival_rate": float(rate), "service_time": 1.3e-3, "servers": float(servers)})
    return 1e3 * float(found["W"])


def test_a_single_server_has_no_line_of_none() -> None:
    axes = explain("mmc", arrival_rate=100, servers=1).plot()
    assert {"1 server", "2 servers"} <= {text.get_text() for text in axes.texts}
    assert "0 servers" not in {text.get_text() for text in axes.texts}


@pytest.mark.first(3)
def test_numbers_stand_in_the_place_of_every_symbol_that_has_one(told: Explanation) -> None:
    """Of each step: what is on the right in symbols, then with numbers, then the value."""
    for each in (each for each in told.worded_steps if each.step.bracket is None):
        symbols, filled, value = each.latex().split(" \\\\\n")
        assert symbols.startswith(f"{latex(each.step.left)} &= ")
        filled, value = (text.replace("{,}", ",") for text in (filled, value))
        known = each._branch.free_symbols & told.values.keys()
        for symbol in known:
            shown = number(float(told.values[symbol]))
            assert shown.partition("e")[0] in filled, (symbol, filled)
        if each.step.index is None:
            assert each._branch.has(sympy.Sum, sympy.Integral, sympy.gamma) or not still(known, filled)
            assert number(float(told.values[each.step.left])).partition("e")[0] in value
            assert not each.step.unit or value.endswith(rf"\mathrm{{{each.step.unit}}}")


def still(symbols: set[sympy.Symbol], text: str) -> list[str]:
    """Symbols that still stand in a formula."""
    bare = text.replace(r"\left", "").replace(r"\right", "").replace(r"\cdot", "").replace(r"\frac", "")
    bare = bare.replace(r"\sqrt", "").replace(r"\min", "").replace(r"\infty", "").replace(r"\max", "")
    return [
        str(symbol)
        for symbol in symbols
        if latex(symbol) in bare.replace(r"\lfloor", "").replace(r"\rfloor", "")
    ]


def step_of(right: sympy.Expr, unit: str = "") -> Equation:
    return Equation(sympy.Symbol("y"), right, "what follows", unit)


def test_a_small_or_a_large_number_is_put_in_with_its_power_of_ten_in_brackets() -> None:
    x, y = sympy.symbols("x y")
    told = WordedStep(step_of(2 * x), {x: 3e-7, y: 6e-7})
    assert told.text(unicode=False) == "What follows\n  y = 2*x\n    = 2*(3*10^-7)\n    = 6*10^-7"
    assert (
        told.latex() == "y &= 2 x \\\\\n&= 2 \\cdot \\left(3 \\cdot 10^{-7}\\right) \\\\\n&= 6 \\cdot 10^{-7}"
    )
    told = WordedStep(step_of(2 * x, "s"), {x: 0.25, y: 0.5})
    assert told.text(unicode=False) == "What follows\n  y = 2*x\n    = 2*0.25\n    = 0.5 s = 500 ms"
    assert told.latex().endswith(r"&= 0.5\ \mathrm{s}")
    told = WordedStep(step_of(2 * x, "s"), {x: math.inf, y: math.inf})
    assert told.text(unicode=False) == "What follows\n  y = 2*x\n    = 2*oo\n    = saturated"
    assert told.text(unicode=True).splitlines()[2:] == ["    = 2⋅∞", "    = saturated"]
    assert told.latex().endswith(r"&= \infty")
    constant = WordedStep(step_of(sympy.Integer(7)), {y: 7})
    assert constant.text(unicode=False) == "What follows\n  y = 7\n    = 7"


def test_a_formula_of_several_lines_is_set_apart() -> None:
    x, y = sympy.symbols("x y")
    text = WordedStep(step_of(x / 3), {x: 6, y: 2}).text(unicode=False)
    assert text == "What follows\n      x\n  y = -\n      3\n\n      6\n    = -\n      3\n\n    = 2"


def test_a_family_is_told_from_its_first_to_its_last() -> None:
    n = sympy.Symbol("n", integer=True)
    family = sympy.Function("w")
    for last, short in ((0, "1"), (3, "1 to 8")):
        step = Equation(family(n), 2**n, "weight", index=(n, 0, last))
        values = {family(sympy.Integer(k)): 2**k for k in range(last + 1)}
        told = WordedStep(step, values)
        assert told.short == short
        assert told.members == [2.0**k for k in range(last + 1)]
        powers = ", ".join(f"{2**k}" for k in range(last + 1))
        assert told.text(unicode=False).endswith(f"= {powers}")
        assert told.latex().endswith("&= " + powers.replace(", ", r",\ "))


def test_of_a_family_the_general_case_is_shown_with_its_numbers() -> None:
    n, x = sympy.Symbol("n", integer=True), sympy.Symbol("x")
    family = sympy.Function("w")
    right = sympy.Piecewise((1, sympy.Eq(n, 0)), (family(n - 1) * x, True))
    values = {x: 5, family(sympy.Integer(0)): 1, family(sympy.Integer(1)): 5}
    symbols, filled, members = (
        WordedStep(Equation(family(n), right, "weight", index=(n, 0, 1)), values).latex().split("\\\\\n")
    )
    assert r"\begin{cases}" in symbols
    assert filled.strip() == r"&= 5 \cdot w{\left(n - 1 \right)}"
    assert members == r"&= 1,\ 5"
    either = sympy.Piecewise((2 * x, x < 3), (7 * x, True))
    for at, case in ((2, "2 \\cdot 2"), (5, "7 \\cdot 5")):
        told = WordedStep(step_of(either), {x: at, sympy.Symbol("y"): at})
        assert told.latex().split("\\\\\n")[1].strip() == f"&= {case}"


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [(1e13 - 1, 5, "9999999999999"), (12345678901234.0, 5, "12346000000000"), (-12345678.0, 5, "-12345678"),
     (1 / 3, 5, "0.33333"), (1 / 3, 3, "0.333"), (123456.7, 5, "123460"), (math.inf, 5, "saturated")],
)  # fmt: skip
def test_whole_numbers_keep_their_digits(value: float, digits: int, shown: str) -> None:
    assert number(value, digits).replace(",", "") == shown


def test_a_value_is_read_in_the_unit_of_people() -> None:
    assert with_unit(1.3e-3, "s") == "1.3 ms"
    assert with_unit(755.0, "1/s") == "755 1/s"
    assert with_unit(2.0, "") == "2"
    assert with_unit(math.inf, "s") == "saturated"
    assert with_unit(math.inf, "1/s") == "saturated"
    assert with_unit(256 * 2.0**30, "bytes") == "256 GB"


def test_lines_hang_behind_their_head() -> None:
    first, second = hanging(["word " * 20], "  - ").splitlines()
    assert first.startswith("  - word")
    assert second.startswith("    word")
    assert 75 < len(first) <= 80
    x = sympy.Symbol("x")
    assert printed(1 / x, head="y =", unicode=False) == "    1\ny = -\n    x"
    assert printed(1 / x, unicode=False) == "1\n-\nx"
    assert printed(1 / x) == "1\n─\nx"


def test_terms_stand_as_written_what_is_subtracted_last() -> None:
    a, b, c, x = sympy.symbols("a b c x")
    assert printed(sympy.Add(-a, b, evaluate=False), unicode=False) == "b - a"
    assert latex(sympy.Add(-a, b, c, evaluate=False)) == "b + c - a"
    # of more than three terms a polynomial, by falling powers
    assert (
        printed(sympy.expand((x + 1) * (x + 2) * (x + 3)), unicode=False).splitlines()[1]
        == "x  + 6*x  + 11*x + 6"
    )
    assert latex(sympy.LambertW(x)) == r"\operatorname{Lambert}\left(x\right)"
    assert latex(sympy.LambertW(x) ** 2) == r"\operatorname{Lambert}\left(x\right)^{2}"
    assert printed(sympy.LambertW(x), unicode=False) == "Lambert(x)"
    assert printed(sympy.Max(x, a), unicode=False) == "max(a, x)"


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize(("name", "whole"), [("finite-source", True), ("mmc", False)])
def test_only_counts_have_ticks_at_whole_numbers_alone(name: str, whole: bool) -> None:
    axes = explain(name).plot()
    axes.set_xlim(0.0, 1.5)
    assert all(float(tick).is_integer() for tick in axes.get_xticks()) is whole
