"""Settings and ranges as people type them: aliases=2, think_time=0.1ms:1ms:0.1ms."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from planner.devices.kinds import KINDS
from planner.errors import InputError
from planner.quantity import Quantity, Value, listed

LARGEST_GRID: Final = 10_000
PARTS: Final = (2, 3)  # lo:hi and lo:hi:step


def keys_of(kind: str) -> dict[str, Quantity]:
    """What can be set of a kind of device."""
    if kind not in KINDS:
        raise InputError("kind of the model", kind, f"one of {', '.join(KINDS)}")
    asked, fitted = (
        {each.key: each for each in part} for part in (KINDS[kind].QUESTIONS, KINDS[kind].PARAMETERS)
    )
    return asked | {key: each for key, each in fitted.items() if key not in asked}


def parse_setting(text: str, kind: str = "volume") -> tuple[str, Value]:
    """Read one setting, such as ``aliases=2`` or ``think_time=0.2ms``.

    Parameters
    ----------
    text : str
        Key and value; a time carries its unit, a count is bare.
    kind : str, optional
        Kind of device that is asked.

    Returns
    -------
    tuple
        Key and SI value.

    Raises
    ------
    InputError
        No such key, or no such value.

    Examples
    --------
    >>> parse_setting("think_time=0.2ms")
    ('think_time', 0.0002)
    """
    key, sign, value = text.partition("=")
    what = _known(key, kind)
    if not sign:
        raise InputError("--set", text, f"KEY=VALUE such as {_example(kind)}")
    return key, what.read(value)


def parse_range(text: str, kind: str = "volume") -> tuple[str, tuple[Value, ...]]:
    """Read one range, such as ``aliases=0:24``, ``think_time=0.1ms:1ms:0.1ms`` or ``mode=off:cached``.

    Parameters
    ----------
    text : str
        Key, first and last value, step; counts step by 1 without it. Of words, all that are wanted.
    kind : str, optional
        Kind of device that is asked.

    Returns
    -------
    tuple
        Key and SI values, both ends included.

    Raises
    ------
    InputError
        No such key, no such range, or too many values.

    Examples
    --------
    >>> parse_range("aliases=0:3")
    ('aliases', (0.0, 1.0, 2.0, 3.0))
    """
    key, sign, value = text.partition("=")
    what = _known(key, kind)
    parts = value.split(":")
    if what.words and sign:
        return key, tuple(map(what.read, parts))
    example = f"{key}=1:24 or {key}=1:24:4" if what.whole else f"{key}={what.span}"
    if not sign or len(parts) not in PARTS or (len(parts) == PARTS[0] and not what.whole):
        raise InputError("--over", text, f"KEY=first:last:step, as {example}")
    low, high = (float(what.read(part)) for part in parts[:2])
    step = _step(text, key, parts, what, example) if len(parts) == PARTS[1] else 1.0
    if step <= 0 or high < low:
        raise InputError("--over", text, f"a range that runs upward by a step above zero, as {example}")
    count = math.floor((high - low) / step + 1e-9) + 1
    if count > LARGEST_GRID:
        raise InputError("--over", text, f"at most {LARGEST_GRID} values")
    return key, tuple((low + step * np.arange(count)).tolist())


def _known(key: str, kind: str) -> Quantity:
    known = keys_of(kind)
    if key not in known:
        raise InputError("key", key, f"one of {listed(known)}")
    return known[key]


def _step(text: str, key: str, parts: list[str], what: Quantity, example: str) -> float:
    """A step may be smaller than the value itself may be."""
    free = Quantity(key=key, meaning="step", unit=what.unit, whole=what.whole)
    try:
        return float(free.read(parts[2]))
    except InputError as error:
        raise InputError("--over", text, f"a step such as in {example}; {error}") from error


def _example(kind: str) -> str:
    return str(KINDS[kind].QUESTIONS[0].example)
