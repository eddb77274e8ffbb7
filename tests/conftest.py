"""What every test runs under: hypothesis profiles, numpy that raises instead of warning, and which cases are long."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Generator, Iterator

os.environ.setdefault(
    "OMP_NUM_THREADS", "1"
)  # before numpy is imported: tests run side by side, threads would wait

import numpy as np
import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

from tests.brief import BRIEF

# No test depends on a clock, hence no deadline. On a build machine a failure must come back on the next run.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=100, print_blob=True)
settings.register_profile("nightly", deadline=None, max_examples=400, print_blob=True)
settings.register_profile("brief", deadline=None, max_examples=BRIEF)  # of make test
settings.load_profile("ci" if os.environ.get("CI") == "true" else "dev")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Tests hold no examples: nothing looks for any in them, nor imports what is no test."""
    found = yield
    return [each for each in found if not isinstance(each, DoctestModule)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as long what comes after the first cases of a test (`first` in setup.cfg)."""
    met: Counter[str] = Counter()
    for item in items:
        if (mark := item.get_closest_marker("first")) is not None:
            name = item.nodeid.partition("[")[0]
            met[name] += 1
            if met[name] > mark.args[0]:
                item.add_marker("long")


def pytest_collection_finish() -> None:
    gc.freeze()  # what was imported stays: no collection looks through it again


@pytest.fixture(autouse=True)
def strict_numpy_and_whole_messages() -> Iterator[None]:
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "100000"  # a message is one line, whatever its length
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        yield
    os.environ.pop("COLUMNS") if before is None else os.environ.__setitem__("COLUMNS", before)
