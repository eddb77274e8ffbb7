"""The numbers in the prose of docs/processors.md are what the planner says."""

from __future__ import annotations

from planner.advice.configurations import published
from planner.advice.processors import scaling
from tests.checkout import ROOT

PAGE = (ROOT / "docs" / "processors.md").read_text(encoding="utf-8")


def test_10_and_12_processors_fell_short() -> None:
    assert "fell 10 and 11 % short" in PAGE
    few = scaling(published()[:3])
    short = [row.internal_throughput / few.predict(row.processors).value - 1 for row in published()[3:]]
    assert [round(100 * share) for share in short] == [-10, -11]
