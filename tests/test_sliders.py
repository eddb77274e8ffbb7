"""Sliders ask again when they move: words, picture, and any error of the planner as one red line."""

from __future__ import annotations

import pytest

pytest.importorskip("ipywidgets", reason="the extra notebook is not installed")

import planner
from planner import style
from planner.errors import InfeasibleError, InputError
from planner.sliders import choice, count, explore, number

SVG = b"<?xml"
RED = "color:#b00020"


def test_a_move_asks_again() -> None:
    panel = explore(lambda aliases, kind: f"{aliases} of {kind}", aliases=count("aliases", 2, 0, 8),
                    kind=choice("kind", ["pool", "volume"]))  # fmt: skip
    assert "2 of pool" in panel.words
    panel.controls["aliases"].value = 3
    panel.controls["kind"].value = "volume"
    assert "3 of volume" in panel.words
    assert not panel.picture


@pytest.mark.long
def test_an_answer_shows_its_headline_and_moves_its_picture() -> None:
    panel = explore(lambda rate: planner.aliases(rate=f"{rate}/s", service="1.3ms", queue=1.84),
                    rate=count("I/O rate", 755, 5, 1500, step=5, unit="1/s"))  # fmt: skip
    before = panel.picture
    assert before.startswith(SVG)
    panel.controls["rate"].value = 700
    assert panel.picture.startswith(SVG)
    assert panel.picture != before


@pytest.mark.long
def test_the_start_stays_in_gray_and_the_axes_where_they_were() -> None:
    drawn = []

    def ask(top: int) -> object:
        axes = style.new_axes()
        axes.plot([0, 1], [0, top])
        drawn.append(axes)
        return "words", axes

    panel = explore(ask, top=count("top", 4, 0, 8))
    limits = drawn[0].get_ylim()
    assert "Gray" not in panel.words
    panel.controls["top"].value = 2
    assert "Gray" in panel.words
    assert drawn[1].get_ylim() == limits
    now, ghost = drawn[1].lines
    assert (now.get_ydata()[-1], ghost.get_ydata()[-1]) == (2, 4)
    assert ghost.zorder < now.zorder
    panel.controls["top"].value = 8
    low, high = drawn[2].get_ylim()
    assert low <= limits[0] < 8 <= high  # nothing is cut off


def test_another_kind_of_picture_has_no_ghost() -> None:
    def ask(kind: str) -> object:
        axes = style.new_axes()
        axes.plot([0, 1], [1, 2])
        axes.set_ylabel(kind)
        return axes

    panel = explore(ask, kind=choice("kind", ["one", "two"]))
    panel.controls["kind"].value = "two"
    assert "Gray" not in panel.words


@pytest.mark.parametrize(
    "problem", [InputError("rate", 3, "more", "1/s"), InfeasibleError("no <count> is enough")]
)
def test_an_error_is_one_red_line_and_the_next_move_asks_again(problem: Exception) -> None:
    def ask(aliases: int) -> object:
        if aliases:
            raise problem
        return style.new_axes()

    panel = explore(ask, aliases=count("aliases", 0, 0, 8))
    assert panel.picture
    panel.controls["aliases"].value = 1
    assert RED in panel.words
    assert "\n" not in panel.words
    assert "<count>" not in panel.words  # escaped
    assert not panel.picture
    panel.controls["aliases"].value = 0
    assert RED not in panel.words
    assert panel.picture.startswith(SVG)


@pytest.mark.long
def test_the_headline_stands_once_in_the_line_above_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = planner.aliases(rate="755/s", service="1.3ms", queue=1.84)
    axes = answer.plot()
    figure = axes.get_figure(root=True)
    assert figure.get_label() == answer.headline
    assert answer.headline.startswith(figure.get_suptitle().strip())
    monkeypatch.setattr(type(answer), "plot", lambda self: axes)
    assert answer.headline in explore(lambda k: answer, k=count("k", 1, 0, 8)).words
    assert not figure.get_suptitle()


def test_a_bug_is_no_red_line() -> None:
    with pytest.raises(ZeroDivisionError):
        explore(lambda aliases: str(1 / aliases), aliases=count("aliases", 0, 0, 8))


def test_labels_carry_their_unit_and_steps_their_digits() -> None:
    assert count("I/O rate", 755, 5, 1500, unit="1/s").description == "I/O rate [1/s]"
    assert number("queue", 1.84, 0, 10, step=0.02).readout_format == ".2f"
    assert number("service time", 1.3, 0.3, 5, step=0.1, unit="ms").readout_format == ".1f"
    assert not number("queue", 1.84, 0, 10, step=0.02).continuous_update


@pytest.mark.parametrize(("step", "shown"), [(1e-5, ".5f"), (2.5e-5, ".6f"), (0.25, ".2f"), (10.0, ".0f")])
def test_the_digits_of_a_step_are_all_shown(step: float, shown: str) -> None:
    """A step of 0.00001 showed whole numbers."""
    assert number("x", 0.0, 0.0, 1.0, step=step).readout_format == shown


@pytest.mark.parametrize("value", [-1, 9])
def test_a_slider_begins_within_its_ends(value: int) -> None:
    """A value beyond them became the end without a word."""
    with pytest.raises(InputError, match=f"aliases = {value}: expected an initial value from 0 to 8"):
        count("aliases", value, 0, 8)
    with pytest.raises(InputError, match=r"from 0\.0 to 8\.0"):
        number("aliases", float(value), 0.0, 8.0, step=0.1)


def test_a_page_on_which_nothing_moves_shows_the_answer() -> None:
    panel = explore(
        lambda aliases: (f"{aliases} & more", style.new_axes()), aliases=count("aliases", 2, 0, 8)
    )
    shown = panel._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in shown
    assert "aliases 2" in shown["text/html"]
    assert "2 &amp; more" in shown["text/html"]
    assert "data:image/svg+xml;base64," in shown["text/html"]
