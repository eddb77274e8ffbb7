"""The picture of a site says what its answer says: rows, dots, diamonds, ranges and words against the JSON."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planner import files
from planner.render.text import word
from planner.site.question import site
from planner.site.site_answer import SiteAnswer
from tests.checkout import ROOT


def contradictions(answer: SiteAnswer, printed: dict[str, Any]) -> list[str]:
    """Rows of the picture that are not those of the JSON: name, count, in use, range, verdict with its number."""
    axes = answer.plot()
    svg = re.findall(r"<text[^>]*>([^<]*)</text>", files.svg(axes))
    names = [label.get_text() for label in axes.get_yticklabels()]
    dots: dict[str, dict[int, list[float]]] = {}
    for line in axes.get_lines():
        x, y = (np.asarray(each, dtype=float) for each in line.get_data())
        if x.size:
            kind = {"o": "needed", "D": "in_use"}.get(
                str(line.get_marker()), f"width {line.get_linewidth():g}"
            )
            dots.setdefault(kind, {})[round(y[0])] = x.tolist()
    wanted = {
        f"{each['system']}/{each['pool']}": each for each in printed["pools"] if each["needed"] is not None
    }
    found = [] if sorted(wanted) == sorted(names) else [f"rows: {names}"]
    said = [text for text in svg if text.split(" ")[0] in {"short", "enough", "spare"}]
    for row, name in enumerate(names):
        each = wanted[name]
        verdict, many = word(each["verdict"]), each["to_add"] or each["to_gain"]
        pairs = (
            (dots["needed"][row], [each["needed"]]),
            (dots["in_use"][row], [each["in_use"]]),
            (dots["width 7"][row], [each["needed_low"], each["needed_high"]]),
            (said[row], verdict if verdict == "enough" else f"{verdict} {many}"),
        )
        found += [f"{name}: {shown} for {truth}" for shown, truth in pairs if shown != truth]
    return found


@pytest.fixture(scope="module")
def answer() -> SiteAnswer:
    found = site([Path(ROOT / "docs" / "examples" / "site.csv")])
    *others, last = found.pools
    return replace(
        found, pools=(*others, replace(last, needed_high=last.in_use - 1))
    )  # the last has one to spare


@pytest.mark.long
def test_the_picture_of_a_site_is_its_answer(answer: SiteAnswer) -> None:
    printed = answer.to_dict()
    assert {word(each["verdict"]) for each in printed["pools"]} == {"enough", "spare"}
    assert not contradictions(answer, printed)


@pytest.mark.long
def test_one_device_number_is_not_taken_away_in_two_steps(answer: SiteAnswer) -> None:
    (spare,) = [each for each in answer.pools if each.to_gain]
    assert "1 device number; take it away and measure again." in answer.text().replace("\n  ", " ")
    more = replace(answer, pools=(replace(spare, in_use=spare.in_use + 2),))
    assert "3 device numbers; take them in two steps and measure between." in more.text().replace("\n  ", " ")


@pytest.mark.long
@pytest.mark.parametrize(("key", "by"), [("needed", 1), ("needed_high", 1), ("in_use", 4), ("to_gain", 1)])
def test_a_picture_that_says_otherwise_is_noticed(answer: SiteAnswer, key: str, by: int) -> None:
    printed = answer.to_dict()
    spare = next(each for each in printed["pools"] if each["to_gain"])
    spare[key] += by
    assert len(contradictions(answer, printed)) == 1
    assert contradictions(replace(answer, pools=answer.pools[1:]), answer.to_dict())
