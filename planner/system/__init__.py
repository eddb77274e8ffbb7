"""One coupled model of a whole system from one file: storage, paging, devices, processors, throughput together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from planner.errors import InputError
from planner.quantity import vary
from planner.system.answer import SystemAnswer, SystemComparison, compare
from planner.system.description import System
from planner.system.figures import Number, SystemResult, figures
from planner.system.grid import SystemGrid, over
from planner.system.measured import from_measurements, template
from planner.system.reading import apply, find, is_system, parse_range, parse_system, read_system
from planner.system.schema import json_schema

__all__ = [
    "Number", "System", "SystemAnswer", "SystemComparison", "SystemGrid", "SystemResult", "compare",
    "from_measurements", "is_system", "json_schema", "parse_system", "read_system", "solve", "template", "whatif",
]  # fmt: skip


def solve(system: System | Path | str, settings: Sequence[str] | str = ()) -> SystemAnswer:
    """Solve a system: one answer for storage, paging, devices, processors and throughput.

    Parameters
    ----------
    system : System or Path or str
        A system, its file, or the text of one (with a line feed).
    settings : sequence of str, or str, optional
        Changes, as ``storage.real=1088GiB``.

    Returns
    -------
    SystemAnswer
        Every figure with its 90 % interval and what it rests on.

    Raises
    ------
    ReportError
        The file cannot be read, or says what no system has.
    InputError
        A setting of no such table, key or value; no guests.
    InfeasibleError
        The system cannot run; the message names the bound.
    ConvergenceError
        The loop did not settle.

    Notes
    -----
    x = T(x): T is the throughput of the closed network of guests, processors and devices (`planner.queueing`'s
    convolution) while CP's own processor time and the page writes go on as at x. T falls with every load, so there
    is one root, sought by bracketing. Misses depend on storage alone, not on x.

    Examples
    --------
    >>> answer = solve(template("xiv"))
    >>> round(answer.found.throughput.value, -3), answer.found.miss_ratio.basis
    (697000.0, 'predicted')
    """
    asked = _asked(system, _texts("settings", settings))
    return SystemAnswer(system=asked, found=figures([asked], elastic=True)[0])


def whatif(
    system: System | Path | str, ranges: Sequence[str] | str, settings: Sequence[str] | str = ()
) -> SystemGrid:
    """Solve a system over a grid.

    Parameters
    ----------
    system : System or Path or str
        A system, its file, or the text of one.
    ranges : sequence of str, or str
        What varies, as ``guests.count=10:40:2``; every combination is asked.
    settings : sequence of str, or str, optional
        Changes that all share.

    Returns
    -------
    SystemGrid
        One row a combination; one that cannot run says why.

    Raises
    ------
    ReportError
        The file cannot be read, or says what no system has.
    InputError
        No such table, key or value, or too many combinations.
    ConvergenceError
        A loop did not settle.

    Examples
    --------
    >>> whatif(template("xiv"), ["guests.count=16:17"]).table().columns[1].values[1] < 6e6
    True
    """
    ranges, settings = _texts("ranges", ranges), _texts("settings", settings)
    asked = _asked(system, settings)
    found = [parse_range(asked, text) for text in ranges]
    if not found:
        raise InputError("ranges", None, "what varies, as guests.count=10:40:2")
    fixed = {place for text in settings for place in find(asked, text)[0].places}
    vary(((each.label, place) for each in found for place in each.places), fixed)
    return over(asked, found)


def _texts(argument: str, given: Any) -> list[str]:
    """Settings or ranges; one may stand alone."""
    texts = [given] if isinstance(given, str) else list(given) if isinstance(given, Sequence) else None
    if texts is None or not all(isinstance(text, str) for text in texts):
        raise InputError(argument, given, "texts such as ['storage.real=1088GiB']")
    return texts


def _asked(system: System | Path | str, settings: Sequence[str]) -> System:
    """The system of a file or a text, with its settings; it has guests."""
    if not isinstance(system, System):
        if not isinstance(system, Path | str):
            raise InputError("system", system, "a system, its file or the text of one")
        is_text = isinstance(system, str) and "\n" in system
        system = parse_system(str(system)) if is_text else read_system(system)
    system = apply(system, settings)
    guests = system.of("guests")
    if not guests and not system.of("paging"):
        raise InputError(
            f"[[guests]] of {system.name}",
            None,
            "at least one group of guests; planner system --template minimal shows one",
        )
    if guests and not any(guest.numbers["count"] for guest in guests):
        raise InputError("guests.count", 0, "at least one guest")
    return system
