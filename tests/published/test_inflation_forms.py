"""The decision for inflation by the own volume's concurrency, repeated from the published runs."""

from __future__ import annotations

import re

import pytest

from tests.checkout import ROOT


@pytest.mark.slow
def test_the_published_runs_speak_for_the_own_volume() -> None:
    pytest.importorskip("numba")
    from tests.published.inflation_forms import comparison

    _, found = comparison()
    volume, pool = found["volume"][2], found["pool"][2]
    assert pool > volume + 5
    text = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    shown = re.search(r"chi-square of the published runs is (\d+) instead of (\d+)", text)
    assert shown is not None
    assert [pool, volume] == pytest.approx([float(number) for number in shown.groups()], rel=0.1)
