"""Functions of parts for the tests of the executors: other processes find them here by their names."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from planner.errors import InfeasibleError


@dataclass(frozen=True)
class Day:
    """A part with a name."""

    number: int

    @property
    def name(self) -> str:
        return f"day {self.number}"


def square(part: int) -> int:
    """A sound part."""
    return part * part


def poisoned(part: int) -> int:
    """Part 3 raises an error of the planner, part 5 one of its own."""
    if part == 3:
        raise InfeasibleError("no count of aliases meets the target")
    if part == 5:
        raise ZeroDivisionError("division by zero")
    return part


def deadly(part: int) -> int:
    """Part 2 ends its process, each time."""
    if part == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def dies_once(part: tuple[str, int]) -> int:
    """The part that finds no file of that name writes it and ends its process."""
    path, number = Path(part[0]), part[1]
    if number == 1 and not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def slow(part: tuple[float, int]) -> int:
    """Keep a processor busy for so many seconds of its own time."""
    end = time.process_time() + part[0]
    while time.process_time() < end:
        pass
    return part[1]


def process(part: int) -> int:
    """Which process works."""
    return os.getpid()


def poisoned_day(day: Day) -> int:
    """The same of parts that have a name."""
    return poisoned(day.number)


def warm_up() -> None:
    """Import what a site needs."""
    import planner.site.question  # noqa: F401


def says_and_waits(place: str) -> None:
    """Write the number of its process to a file, whole, and go on for a minute."""
    beside = Path(f"{place}.new")
    beside.write_text(str(os.getpid()), encoding="utf-8")
    beside.rename(place)
    time.sleep(60)
