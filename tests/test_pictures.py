"""What every picture of docs/ holds to: short headline, text read on light and dark, one form of numbers."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from planner import files, style
from tests import pictures

LEAST_CONTRAST = 4.5  # of text, WCAG 2.2, 1.4.3
DARK = re.compile(r"\[style\*=\"(fill|stroke): (#[0-9a-f]{6})\"\]\{\w+:(#[0-9a-f]{6})")
# Published figures are quick; of the answers one is drawn in every run.
NAMES = [
    pytest.param(name, marks=[pytest.mark.long] if name in set(pictures.ANSWERS) - {"storage"} else [])
    for name in pictures.PICTURES
]


@cache
def drawn(name: str) -> Any:
    return pictures.PICTURES[name]()


def contrast(one: str, other: str) -> float:
    def luminance(color: str) -> float:
        parts = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(color)
        )
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def texts(name: str) -> list[Text]:
    figure = drawn(name).get_figure(root=True)
    figure.canvas.draw()
    return [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]


@pytest.mark.first(4)
@pytest.mark.parametrize("name", NAMES)
def test_its_headline_is_short(name: str) -> None:
    title = drawn(name).get_figure(root=True).get_suptitle().strip()
    assert 0 < len(title) <= style.LONGEST


@pytest.mark.first(1)
@pytest.mark.parametrize("name", NAMES)
def test_its_text_can_be_read_on_white(name: str) -> None:
    poor = {
        text.get_text(): text.get_color()
        for text in texts(name)
        if contrast(text.get_color(), "white") < LEAST_CONTRAST
    }
    assert not poor


@pytest.mark.first(1)
@pytest.mark.parametrize("name", NAMES)
def test_its_text_can_be_read_on_the_dark_side_of_an_svg(name: str) -> None:
    svg = files.svg(drawn(name))
    dark = {(kind, color): shown for kind, color, shown in DARK.findall(svg)}
    (paper,) = re.findall(r"svg\{background:(#[0-9a-f]{6})", svg)
    assert dark["fill", "#ffffff"] == paper
    written = {*re.findall(r'<text style="[^"]*?fill: (#[0-9a-f]{6})', svg)}
    assert all(contrast(dark["fill", color], paper) >= LEAST_CONTRAST for color in written)
    assert contrast(*re.findall(r"text,svg\{fill:(#[0-9a-f]{6})", svg), paper) >= LEAST_CONTRAST


@pytest.mark.first(1)
@pytest.mark.parametrize("name", NAMES)
def test_its_numbers_are_set_apart(name: str) -> None:
    for axes in drawn(name).get_figure(root=True).axes:
        for axis in (axes.xaxis, axes.yaxis):
            words = [text.get_text() for text in axis.get_ticklabels()]
            assert not [word for word in words if re.fullmatch(r"(?!19|20)\d{4,}(\.\d+)?", word)]


@pytest.mark.parametrize("color", [*style.COLORS, *style.VERDICTS.values(), style.SOFT])
def test_what_is_written_in_the_color_of_a_line_can_be_read(color: str) -> None:
    assert contrast(style.ink(color), "white") >= LEAST_CONTRAST
    assert contrast(style._dark(style.ink(color)), style._dark("#ffffff")) >= LEAST_CONTRAST


@pytest.mark.parametrize(
    "name", ["P1", "a name of a pool that somebody typed", "a name (room 42, floor 7) of a pool"]
)
def test_a_title_does_not_end_within_parentheses(name: str) -> None:
    said = f"pool {name}: perhaps no alias problem (6 more aliases, over twice those in use): 7 aliases (3 to 21)."
    title, more = style.parted(said)
    assert title.count("(") == title.count(")")
    assert len(title) <= style.LONGEST
    assert more.removeprefix("... ")[1:] in said


def test_a_title_that_is_too_long_is_parted() -> None:
    axes, *_ = style.begin(None, "Asked: said.", title=f"{'word ' * 20}", below="Asked.")
    figure = axes.get_figure(root=True)
    assert len(figure.get_suptitle().strip()) <= style.LONGEST
    assert figure.texts[1].get_text().endswith("Asked.")
