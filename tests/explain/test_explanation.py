"""What an explanation shows: text within 80 columns, LaTeX, data; and what it refuses."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest

from planner import style
from planner.cli import main
from planner.errors import InputError
from planner.explain import TOPICS, explain, topic_named
from planner.explain.explanation import Explanation
from planner.explain.wording import powers


@pytest.mark.first(1)
def test_text_fits_a_terminal(told: Explanation) -> None:
    for unicode in (True, False):
        assert max(map(len, told.text(unicode=unicode).splitlines())) <= 80


def test_the_result_stands_before_its_derivation(told: Explanation) -> None:
    first, _, rest = told.text().partition("\n")
    value = next(step for step in told.steps if step.left == told.topic.answer)
    assert (
        first.startswith(value.meaning[:1].upper() + value.meaning[1:]) and f"{told.topic.answer} = " in first
    )
    assert rest.strip().startswith(told.topic.title)
    assert told.to_dict()["result"] == told.result


def test_plain_text_is_ascii_where_asked(told: Explanation) -> None:
    assert told.text(unicode=False).isascii()


def test_every_part_is_there(told: Explanation) -> None:
    text = told.text()
    for part in (
        told.topic.title,
        "The same by the numerical code",
        "Sensitivity of",
        "Assumptions",
        "Source: ",
    ):
        assert part in text
    for step in told.steps:
        assert step.meaning[1:] in text


def test_latex_is_balanced_and_aligned(told: Explanation) -> None:
    latex = told.latex()
    assert latex.count("{") == latex.count("}")
    assert latex.count(r"\left") == latex.count(r"\right")
    assert latex.count("&= ") == sum(3 for _ in told.steps)
    assert told._repr_latex_().startswith(r"$\displaystyle \begin{aligned}")


def test_data_hold_every_step_with_its_numbers(told: Explanation) -> None:
    data = told.to_dict()
    assert data["topic"] == told.topic.name
    assert [entry["symbol"] for entry in data["steps"]] == [str(step.left) for step in told.steps]
    assert len(data["inputs"]) == len(told.topic.inputs)


def test_frame_html_and_plot(told: Explanation) -> None:
    assert list(told.to_frame()["symbol"]) == list(told.numerical)
    shown = told._repr_html_()
    assert "<table>" in shown
    assert shown.count("$$") == 2 * len(
        told.steps
    )  # Jupyter prefers HTML to LaTeX, and renders math inside of it


def test_inputs_take_units_and_numbers_take_si() -> None:
    typed, plain = (
        explain("mmc", service_time="1300us", servers="2"),
        explain("mmc", service_time=1.3e-3, servers=2),
    )
    assert typed.values == plain.values
    assert typed.to_dict()["inputs"] == {"arrival_rate": 755.0, "service_time_s": 0.0013, "servers": 2.0}


def test_a_sensitivity_is_the_answer_with_the_input_raised() -> None:
    changes = dict(explain("mmc").sensitivities)
    assert changes["one more: servers"] == explain("mmc", servers=3).value("W")
    assert changes["1% more: service_time"] == pytest.approx(explain("mmc", service_time=1.313e-3).value("W"))


@pytest.mark.parametrize(
    ("name", "numbers", "message"),
    [
        ("mm1", {}, "name = 'mm1': expected one of erlang-c, mmc"),
        ("mmc", {"rate": 3}, "rate = 3: expected one of arrival_rate, service_time, servers"),
        ("mmc", {"service_time": "1.3"}, "a unit is missing"),
        ("mmc", {"service_time": 0}, "a finite number above zero"),
        ("mmc", {"service_time": float("nan")}, "a finite number above zero"),
        ("mmc", {"servers": 1.5}, "a whole number from 1 to 200"),
        ("mmc", {"servers": 201}, "servers = 201: expected a whole number from 1 to 200"),
        ("erlang-c", {"offered_load": -1}, "offered_load"),
        ("mgc", {"scv": 1e-9}, "0, or at least 0.001"),
        ("usl", {"n": 0.5}, "a number of at least 1"),
        ("together", {"share": 1}, r"share = 1\.0: expected a number from 1e-06 to 0\.999"),
        ("together", {"share": 0}, r"share = 0\.0: expected a number from 1e-06 to 0\.999"),
        ("storage-limit", {"resident_pages": 300}, "a number from 1 to 256"),
        ("ccw", {"ssch_time": 0, "slow_ccw_time": "0ms"}, "one of them above zero: a saving is a share"),
        ("mgc", {"arrival_rate": 1e-30}, "0, or a load of at least 1e-20 per server"),
        ("bursts", {"batch": 1e300}, "numbers above zero, from 1e-150 to 1e150"),
        ("alias-pool", {"volumes": 6, "population": 8}, "at most 25 states"),
    ],
)
def test_what_is_refused(name: str, numbers: dict[str, float | str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        explain(name, **numbers)


def test_the_topics_are_listed_where_none_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n{topic} " in shown for topic in TOPICS)
    assert main(["explain", "nothing"]) == 2
    told = capsys.readouterr().err
    assert all(topic in told for topic in TOPICS)


def test_every_topic_is_called_what_it_is_asked_by() -> None:
    assert [topic_named(name).name for name in TOPICS] == list(TOPICS)


@pytest.mark.long
def test_powers_of_ten_for_people_and_exponents_for_programs() -> None:
    assert powers("6.3033e+08 and 1e-14", "unicode") == "6.3033\u00b710\u2078 and 10\u207b\u00b9\u2074"
    assert powers("6.3033e+08 and 1e-14", "ascii") == "6.3033*10^8 and 10^-14"
    assert powers("6.3033e+08", "latex") == r"6.3033 \cdot 10^{8}"
    found = explain("alias-pool")
    for text in (found.text(), found.text(unicode=False), found.latex()):
        assert not re.search(r"\de[+-]\d", text)
    assert "<1e-14" in found.table().columns[-1].values


def test_latex_and_html_have_symbols_assumptions_and_source(told: Explanation) -> None:
    for text in (told.latex(), html.unescape(told._repr_html_())):
        plain = text.replace("\\", "")
        assert told.topic.source in plain
        assert all(line in plain for line in told.topic.assumptions)
        assert all(item.meaning in plain for item in told.topic.inputs)


@pytest.mark.first(1)
def test_the_picture_goes_through_the_numbers_of_the_user(told: Explanation) -> None:
    axes = told.plot()
    assert style.title_of(axes).startswith(told.topic.title)
    (mark,) = [line for line in axes.lines if line.get_marker() == "D"]
    x, y = (float(np.ravel(part)[0]) for part in mark.get_data())
    line = np.asarray(axes.lines[0].get_xydata())
    at = np.flatnonzero(np.isclose(line[:, 0], x))
    assert line[at[0], 1] == pytest.approx(y, rel=1e-6)
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert left <= x <= right
    assert bottom <= y <= top


@pytest.mark.long
def test_the_states_of_a_pool_are_listed() -> None:
    assert "States, three digits per volume" in explain("alias-pool").text()
    assert explain("alias-pool").text().count("; ") >= 8
