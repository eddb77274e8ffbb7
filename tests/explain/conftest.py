"""Every topic explained with its own numbers, once for all tests."""

from __future__ import annotations

import pytest

from planner.explain import TOPICS, explain
from planner.explain.explanation import Explanation


@pytest.fixture(scope="session", params=TOPICS)
def told(request: pytest.FixtureRequest) -> Explanation:
    return explain(request.param)
