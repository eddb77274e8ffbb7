"""What every test runs under: hypothesis profiles, and numpy that raises instead of warning."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings

# No test depends on a clock, hence no deadline. On a build machine a failure must come back on the next run.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=200, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "dev")


@pytest.fixture(autouse=True)
def strict_numpy_and_whole_messages() -> Iterator[None]:
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "100000"  # a message is one line, whatever its length
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        yield
    os.environ.pop("COLUMNS") if before is None else os.environ.__setitem__("COLUMNS", before)
