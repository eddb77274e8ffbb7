"""No answer moves unnoticed. The expected values come from the code itself, see `tests.pinned`."""

from __future__ import annotations

import pytest

from tests.pinned.figures import moved
from tests.pinned.rooms import ROOMS, written

TOGETHER = 4  # questions of a test, but for the first one, which is alone
PARTS = [
    pytest.param(
        room,
        slice(k, min(k + TOGETHER, many) if k else 1),
        id=f"{room}-{k}",
        marks=pytest.mark.long if k else (),
    )
    for room, many in ((room, len(written(room))) for room in ROOMS)
    for k in (0, *range(1, many, TOGETHER))
]


@pytest.mark.parametrize(("room", "part"), PARTS)
def test_answers_are_what_they_were(room: str, part: slice) -> None:
    expected = written(room)
    names = list(expected)[part]
    now = ROOMS[room].answers(names)
    differences = [f"{name}: {told}" for name in names for told in moved(expected[name], now[name])]
    assert not differences, "python -m tests.pinned writes them anew:\n" + "\n".join(differences[:20])


def test_a_moved_answer_is_noticed() -> None:
    """A check that cannot fail is none."""
    before = {"queue": [1.0, 2.0], "text": ["a"], "low": 0.0}
    assert not moved(before, {"queue": [1.0, 2.0 + 1e-7], "text": ["a"], "low": 1e-12})
    for other in (
        {"queue": [1.0, 2.00001]},
        {"queue": [1.0]},
        {"text": ["b"]},
        {"low": 1e-9},
    ):
        assert len(moved(before, {**before, **other})) >= 1


@pytest.mark.parametrize("room", ROOMS)
def test_every_question_has_an_answer(room: str) -> None:
    assert list(ROOMS[room].cases()) == list(written(room))
