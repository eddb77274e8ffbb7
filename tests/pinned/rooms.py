"""The rooms whose answers are pinned, and where those stand."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.pinned import demand, pools, readers, sizing, stations
from tests.pinned.figures import plain

FOLDER: Final = Path(__file__).parent / "answers"


@dataclass(frozen=True)
class Room:
    """Its questions by name, and what answers one."""

    cases: Callable[[], dict[str, Any]]
    answer: Callable[[Any], Any]

    def answers(self, names: list[str] | None = None) -> dict[str, Any]:
        """Answers of some questions, of all by default, as JSON holds them."""
        every = self.cases()
        return {name: plain(self.answer(every[name])) for name in (every if names is None else names)}


ROOMS: Final = {
    each.__name__.rpartition(".")[2]: Room(each.cases, each.answer)
    for each in (stations, pools, demand, sizing, readers)
}


def written(room: str) -> dict[str, Any]:
    """The answers as they were."""
    found: dict[str, Any] = json.loads((FOLDER / f"{room}.json").read_text(encoding="utf-8"))
    return found
