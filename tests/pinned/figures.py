"""Figures of an answer as JSON holds them, and which of two answers differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

DIGITS: Final = 10
SAME: Final = 1e-6  # relative difference that rounding of another machine may make
NOTHING: Final = 1e-11  # absolute


def plain(value: Any) -> Any:
    """Lists, mappings, text and numbers of ten digits."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, bool | str) or value is None:
        return value
    number = float(value)
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else str(number)


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every number and text of an answer, with where it stands."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from leaves(each, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        yield f"{name}.length", len(value)
        for k, each in enumerate(value):
            yield from leaves(each, f"{name}[{k}]")
    else:
        yield name, value


def moved(before: Any, now: Any) -> list[str]:
    """What differs between two answers, in words."""
    old, new = dict(leaves(before)), dict(leaves(now))
    missing = [f"{name}: {old[name]!r} is gone" for name in old.keys() - new.keys()]
    added = [f"{name}: {new[name]!r} is new" for name in new.keys() - old.keys()]
    return (
        sorted(missing) + sorted(added)
        + [f"{name}: {old[name]!r} -> {new[name]!r}" for name in old if name in new
           and not _same(old[name], new[name])]
    )  # fmt: skip


def _same(before: Any, now: Any) -> bool:
    if isinstance(before, bool | str) or isinstance(now, bool | str) or before is None or now is None:
        return bool(before == now)
    return bool(abs(before - now) <= NOTHING + SAME * max(abs(before), abs(now)))
