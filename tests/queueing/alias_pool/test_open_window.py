"""How far an open pool is solved: to where a law that falls by a constant ratio has ended."""

import numpy as np
import pytest

from planner.errors import ConvergenceError
from planner.queueing.pools.open_field.window import CUT, FIRST, LONGEST, LOST, SPENT, OpenWindow


def falling(window: OpenWindow, ratio: float, last: float) -> np.ndarray:
    """A law over D that falls by a ratio to its last value."""
    return last * ratio ** (window.total - window.total[-1])


@pytest.mark.parametrize("aliases", [0, 7])
@pytest.mark.parametrize("ratio", [0.5, 0.8, 0.9])
def test_a_window_is_widened_to_where_the_law_goes_out(aliases: int, ratio: float) -> None:
    """From 1e-6 to the least that counts it takes log(1e-6 / CUT) / log(1 / ratio) I/Os more, and some to spare."""
    window = OpenWindow.of(aliases)
    more = np.log(1e-6 / CUT) / np.log(1.0 / ratio)
    longest = window.fitted(falling(window, ratio, 1e-6)).waiting[-1]
    assert longest == min(int(1.1 * (FIRST + more) + 5), 3 * FIRST)


def test_a_window_that_reaches_far_enough_stays() -> None:
    window = OpenWindow.of(3, 200)
    assert window.fitted(falling(window, 0.9, CUT)) is window
    assert window.fitted(falling(window, 0.9, SPENT)) is window
    assert OpenWindow.of(3, 20, 20.0).fitted(np.full(24, 1.0 / 24)).waiting[-1] == 20.0  # no more can wait


def test_a_window_far_beyond_the_law_is_narrowed() -> None:
    """To a tenth, and five, more than the last of the law that counts."""
    window = OpenWindow.of(3, 300)
    law = falling(window, 0.5, SPENT / 1e10)
    last = np.flatnonzero(law > CUT)[-1] - 3
    assert window.fitted(law).waiting[-1] == int(1.1 * last) + 5
    first = OpenWindow.of(3)
    assert first.fitted(falling(first, 0.5, SPENT / 1e10)) is first


def test_the_longest_window_answers_where_hardly_anything_is_beyond() -> None:
    window = OpenWindow.of(0, LONGEST)
    assert window.fitted(falling(window, 0.999, LOST)) is window
    with pytest.raises(ConvergenceError, match="nearly unstable"):
        window.fitted(falling(window, 0.999, 1.001 * LOST))
