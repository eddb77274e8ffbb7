"""Every topic explained with its own numbers, once for all tests."""

from __future__ import annotations

from functools import cache

import pytest

from planner.explain import TOPICS, explain
from planner.explain.explanation import Explanation


@cache
def explained(topic: str) -> Explanation:
    """A fixture alone would make it again as tests come back to a topic."""
    return explain(topic)


COSTLY = {"alias-pool", "mgc", "together"}  # half of the time of all; tests of their own say what they tell


@pytest.fixture(
    scope="session",
    params=[pytest.param(name, marks=pytest.mark.long if name in COSTLY else ()) for name in TOPICS],
)
def told(request: pytest.FixtureRequest) -> Explanation:
    return explained(request.param)
