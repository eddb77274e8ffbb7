"""The range that intervals teach, on intervals that all need the same: the ends follow by hand from the shares."""

from __future__ import annotations

import numpy as np
import pytest

from planner.site.teach import FEWEST, IN_USE, LONG_WAIT, SHORT_WAIT, Taught, taught


def found(*, wait: float = 1.0, in_use: int = 0, missed: bool = False, many: int = 8) -> Taught | None:
    """Intervals of one load that need ten aliases each."""
    return taught(
        np.full(many, 10.0), np.ones(many), np.full(many, wait), 0, count=10, in_use=np.full(many, in_use),
        met=np.zeros(many, dtype=bool), missed=np.full(many, missed),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("wait", "in_use", "shares"), [(1.0, 0, SHORT_WAIT), (6.0, 0, LONG_WAIT), (1.0, 4, IN_USE)]
)
def test_the_range_spans_its_shares_of_the_line(
    wait: float, in_use: int, shares: tuple[float, float]
) -> None:
    lesson = found(wait=wait, in_use=in_use)
    assert lesson is not None
    assert (lesson.low, lesson.high) == (np.floor(10 * shares[0]), np.ceil(10 * shares[1]))
    assert lesson.intervals == 8


def test_what_was_missed_with_the_aliases_in_use_needs_more() -> None:
    lesson = found(in_use=9, missed=True)
    assert lesson is not None
    assert lesson.low == 10


def test_few_intervals_teach_nothing() -> None:
    assert found(many=FEWEST - 1) is None
