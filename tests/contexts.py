"""A plugin of pytest: coverage tells which test ran a line, and a file how long each test took.

``coverage run -m pytest -p tests.contexts``, with the file named in the environment (`SECONDS`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest
from coverage import Coverage

SECONDS: Final = "TESTS_SECONDS"
_seconds: dict[str, float] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Lines that run from here on belong to this test, its fixtures among them."""
    running = Coverage.current()
    if running is not None:
        running.switch_context(item.nodeid)
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up what setting up, running and tearing down took."""
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration


def pytest_sessionfinish() -> None:
    """Write it."""
    Path(os.environ[SECONDS]).write_text(json.dumps(_seconds), encoding="utf-8")
