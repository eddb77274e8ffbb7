"""Every answer is said in one way: text, HTML and Markdown from the same headline, tables and notes."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass

import pytest

import planner
from planner import render, supply, whatif
from planner.answer import Answer
from planner.measurements.over_time import read_supplies
from tests.checkout import ROOT


@dataclass(frozen=True, slots=True, kw_only=True)
class Example(Answer):
    headline: str
    notes: tuple[str, ...]
    names: tuple[str, ...]

    def table(self) -> render.Table:
        column = render.Column(name="volume", unit="", values=list(self.names))
        return render.Table(
            columns=(column, render.Column(name="service", unit="ms", values=[1.5 for _ in self.names])),
            marks=("recommended",) + ("",) * (len(self.names) - 1) if self.names else (),
        )


ANSWER = Example(headline="2 <aliases>", notes=("First | note.", "Next."), names=("a_b", "C"))


def test_text_has_headline_table_and_notes_in_this_order() -> None:
    assert ANSWER.text() == str(ANSWER)
    lines = ANSWER.text().split("\n")
    assert lines[0] == "2 <aliases>"
    assert lines[-2:] == ["First | note.", "Next."]
    assert lines[4].split() == [">", "a_b", "1.50"]


def test_html_escapes_whatever_comes_from_a_file() -> None:
    page = ANSWER._repr_html_()
    assert "2 &lt;aliases&gt;" in page and "<aliases>" not in page
    assert page.index("strong") < page.index("<table>") < page.index("First")


def test_markdown_escapes_what_would_break_a_table() -> None:
    text = ANSWER.to_markdown()
    assert text.startswith("**2 \\<aliases\\>**")
    assert "| **a\\_b** | **1.50** |" in text
    assert "First \\| note." in text


def test_an_empty_table_is_left_out() -> None:
    empty = Example(headline="Nothing", notes=(), names=())
    assert empty.text() == "Nothing"
    assert "<table>" not in empty._repr_html_()


def test_a_wide_terminal_takes_a_wide_line() -> None:
    long = Example(headline="word " * 30, notes=(), names=("a",))
    assert max(map(len, long.text().split("\n"))) <= 80
    assert max(map(len, long.text(width=150).split("\n"))) > 80


@pytest.mark.long
def test_a_dictionary_holds_what_json_prints() -> None:
    """Queueing without bound and what was not measured are None in both."""
    for numbers in ({}, {"queue": 0.3}, {"queue": [1.84, float("nan")]}):
        found = planner.aliases(rate="755/s", service="1.3ms", **numbers).to_dict()
        assert json.loads(render.to_json(found)) == found


@pytest.mark.long
def test_answers_with_arrays_can_be_compared() -> None:
    """A list of answers can be searched: a comparison that numpy cannot decide is none of theirs."""
    answers = [whatif.predict("hyperpav", {"aliases": 8}, over={"volumes": (1, 8)}),
               supply.judge(read_supplies(ROOT / "notebooks" / "supply-counters.csv"))]  # fmt: skip
    for answer in answers:
        assert answer in answers
        assert answer not in [copy.copy(answer), None]
