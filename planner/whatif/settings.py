"""Settings and ranges as people type them: aliases=2, think_time=0.1ms:1ms:0.1ms."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from planner.devices.kinds import KINDS
from planner.devices.parameters import Parameter
from planner.devices.question import Question, Value, known_keys, listed, read_value
from planner.errors import InputError

LARGEST_GRID: Final = 10_000
PARTS: Final = (2, 3)  # lo:hi and lo:hi:step


def keys_of(kind: str) -> dict[str, Question | Parameter]:
    """What can be set of a kind of device.

    Parameters
    ----------
    kind : str
        A key of `planner.devices.KINDS`.

    Returns
    -------
    dict
        Questions and parameters by key.

    Raises
    ------
    InputError
        No such kind.
    """
    if kind not in KINDS:
        raise InputError("kind of the model", kind, f"one of {', '.join(KINDS)}")
    return known_keys(KINDS[kind].QUESTIONS, KINDS[kind].PARAMETERS)


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
    return key, read_value(value, what)


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
    if isinstance(what, Question) and what.words and sign:
        return key, tuple(read_value(part, what) for part in parts)
    counted = (isinstance(what, Question) and what.whole) or key == "population"
    example = f"{key}=1:24 or {key}=1:24:4" if counted else f"{key}={_span(what)}"
    if not sign or len(parts) not in PARTS or (len(parts) == PARTS[0] and not counted):
        raise InputError("--over", text, f"KEY=first:last:step, as {example}")
    low, high = (float(read_value(part, what)) for part in parts[:2])
    step = _step(text, key, parts, what, example) if len(parts) == PARTS[1] else 1.0
    if step <= 0 or high < low:
        raise InputError("--over", text, f"a range that runs upward by a step above zero, as {example}")
    count = math.floor((high - low) / step + 1e-9) + 1
    if count > LARGEST_GRID:
        raise InputError("--over", text, f"at most {LARGEST_GRID} values")
    return key, tuple((low + step * np.arange(count)).tolist())


def _known(key: str, kind: str) -> Question | Parameter:
    known = keys_of(kind)
    if key not in known:
        raise InputError("key", key, f"one of {listed(known)}")
    return known[key]


def _step(text: str, key: str, parts: list[str], what: Question | Parameter, example: str) -> float:
    """A step may be smaller than the value itself may be."""
    free = Question(key=key, meaning="step", unit=what.unit, whole=isinstance(what, Question) and what.whole)
    try:
        return float(read_value(parts[2], free))
    except InputError as error:
        raise InputError("--over", text, f"a step such as in {example}; {error}") from error


def _example(kind: str) -> str:
    return str(KINDS[kind].QUESTIONS[0].example)


def _span(what: Question | Parameter) -> str:
    """A range in the unit of a key."""
    return {
        "s": "0.1ms:1ms:0.1ms", "s_per_mb": "0.1ms:1ms:0.1ms", "1/s": "100/s:500/s:100/s",
        "bytes_per_s": "10MB/s:50MB/s:10MB/s",
    }.get(what.unit, "0:1:0.1")  # fmt: skip
