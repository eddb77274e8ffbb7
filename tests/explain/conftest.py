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


@pytest.fixture(scope="session", params=TOPICS)
def told(request: pytest.FixtureRequest) -> Explanation:
    return explained(request.param)
