"""A queue and a response of one row: each sharpens the other, and the one that is known to more digits is kept."""

from __future__ import annotations

import pytest

import planner


@pytest.mark.parametrize(
    ("rate", "service", "response", "queue", "expected"),
    [
        ("2.1/s", "6.0ms", "12.0ms", 0.01, 12.0),  # one digit of the queue: 2.4 to 7.1 ms of wait
        ("755/s", "1.3ms", "3.7ms", 1.84, 1.3 + 1.84 / 0.755),  # three digits: response 3.737 ms
    ],
)
def test_the_row_in_use_has_the_response_that_was_given(
    rate: str, service: str, response: str, queue: float, expected: float
) -> None:
    answer = planner.aliases(rate=rate, service=service, response=response, queue=queue)
    assert answer.rows.response_time[0] * 1000 == pytest.approx(expected, rel=1e-3)
