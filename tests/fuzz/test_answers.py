"""Counts that are answered meet their target, and one fewer does not; the check itself notices a count off by one."""

from __future__ import annotations

import numpy as np
import pytest

from planner import queueing
from tests.fuzz import answers


def test_servers() -> None:
    found = answers.servers(6_000, 5)
    assert found.checked == 6_000 and not found.wrong, found.wrong[:3]


@pytest.mark.parametrize("off", [-1, 1])
def test_a_count_off_by_one_is_noticed(monkeypatch: pytest.MonkeyPatch, off: int) -> None:
    right = queueing.min_servers
    monkeypatch.setattr(queueing, "min_servers", lambda *a, **k: np.maximum(right(*a, **k) + off, 1))
    found = answers.servers(2_000, 5)
    assert len(found.wrong) > 1_000


@pytest.mark.long
def test_aliases_of_volumes_and_pools() -> None:
    for check in (answers.volumes, answers.pools):
        found = check(12, 5)
        assert found.checked > 6 and not found.wrong, found.wrong[:3]
