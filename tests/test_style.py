"""How a picture begins, and what its axes and names say."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from planner import files, style


def drawn(axes: Any) -> None:
    axes.get_figure(root=True).canvas.draw()


def test_the_headline_is_the_title_whole_and_within_the_picture() -> None:
    headline = " ".join(["four words and more"] * 12) + "."
    for panels in (1, 2):
        axes, *below = style.begin(None, headline, panels=panels)
        assert len(below) == panels - 1
        assert style.title_of(axes) == headline
        figure = axes.get_figure(root=True)
        drawn(axes)
        box = figure._suptitle.get_window_extent()
        assert box.x1 <= figure.bbox.x1
        assert box.x0 >= 0


def test_axes_of_the_user_are_the_only_panel() -> None:
    own = style.new_axes()
    assert style.begin(own, "A sentence.", panels=3) == [own]
    assert style.title_of(own) == "A sentence."


def test_a_tick_keeps_its_digits_on_every_axis() -> None:
    axes = style.new_axes()
    axes.plot([0.5, 1.5], [0, 16_384])
    axes.set_yticks([0, 16_384])
    drawn(axes)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "16,384"]
    assert "1" in [label.get_text() for label in axes.get_xticklabels()]


def test_names_and_dates_keep_their_own_words() -> None:
    axes = style.new_axes()
    axes.barh(["one", "two"], [1, 2])
    drawn(axes)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["one", "two"]
    axes = style.new_axes()
    axes.plot([date(2026, 1, 1), date(2026, 2, 1)], [1, 2])
    drawn(axes)
    assert "2026-01-01" in [label.get_text() for label in axes.get_xticklabels()]


@pytest.mark.first(1)
@pytest.mark.parametrize("linear", [None, 1.0])
def test_a_logarithmic_axis_has_no_formula_beside_its_ticks(linear: float | None, tmp_path: Path) -> None:
    """files.save_axes switches math off, which would show the formula itself."""
    axes = style.new_axes()
    axes.plot([1, 2], [1, 3000])
    style.logarithmic(axes, "y", linear_below=linear)
    drawn(axes)
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert "1,000" in names
    assert not [name for name in names if "$" in name]
    files.save_axes(axes, tmp_path / "axes.png")


def test_names_of_lines_that_end_together_are_moved_apart() -> None:
    axes = style.new_axes()
    axes.plot([0, 1], [0, 1])
    style.name_lines(axes, [(1.0, "one", "black"), (0.999, "two", "black"), (0.998, "three", "black")])
    heights = sorted(each.xy[1] for each in axes.texts)
    tall = axes.get_figure(root=True).get_figheight() * 72 * 0.75
    assert all((high - low) * tall >= 0.99 * style.APART for low, high in pairwise(heights))
    assert heights[-1] <= 1.0
