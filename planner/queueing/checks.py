"""Checked input of the queueing functions: every argument becomes a broadcast float64 array or an InputError."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planner.errors import InputError
from planner.results import Array

LARGEST: Final = 1e150
"""Largest number taken, and one over the least above zero where zero is none: products of two stay within float64."""
LARGEST_COUNT: Final = 2**53  # beyond it float64 does not hold every whole number
BLOCK: Final = 32_768  # numbers compared at a time, so that they stay in the cache


def positive(name: str, values: ArrayLike, unit: str = "") -> Array:
    """Check for finite numbers above zero."""
    return _require(
        name,
        values,
        unit,
        lambda v: (v >= 1 / LARGEST) & (v <= LARGEST),
        "numbers above zero, from 1e-150 to 1e150",
    )


def nonnegative(name: str, values: ArrayLike, unit: str = "") -> Array:
    """Check for finite numbers, zero or above."""
    expected = "numbers, zero or above and up to 1e150"
    given = _require(name, values, unit, lambda v: (v >= 0) & (v <= LARGEST), expected)
    return given + 0.0 if np.signbit(given).any() else given  # minus zero is zero


def count(name: str, values: ArrayLike, *, least: int = 1) -> Array:
    """Check for whole numbers, `least` or more and up to 2**53."""
    return _require(
        name, values, "", lambda v: (v >= least) & (v <= LARGEST_COUNT) & (np.rint(v) == v),
        f"whole numbers from {least} to 2**53",
    )  # fmt: skip


def probability(name: str, values: ArrayLike) -> Array:
    """Check for numbers strictly between zero and one."""
    return _require(name, values, "", lambda v: (v > 0) & (v < 1), "probabilities inside (0, 1)")


def plain(values: ArrayLike) -> NDArray[np.generic]:
    """Numbers as an array of their own kind; TypeError for truth values, texts, dates, complex numbers and masks."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError("an array with a mask")
    given = np.asarray(values)
    if given.dtype.kind not in "iufO":
        raise TypeError(given.dtype)
    if given.dtype.kind == "O" and any(isinstance(value, str | bool | complex) for value in given.flat):
        raise TypeError(given.dtype)
    return given


def broadcast(**arrays: Array) -> list[Array]:
    """Broadcast checked arguments against each other."""
    try:
        return list(np.broadcast_arrays(*arrays.values()))
    except ValueError as error:
        shapes = ", ".join(f"{name} {np.shape(values)}" for name, values in arrays.items())
        raise InputError("shapes", shapes, "arguments that broadcast against each other") from error


def _require(
    name: str, values: ArrayLike, unit: str, holds: Callable[[Array], NDArray[np.bool_]], expected: str
) -> Array:
    try:
        given = plain(values)
        array = given.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(name, values, expected, unit) from error
    if array.size == 0:
        raise InputError(name, [], f"{expected}, at least one", unit)
    good = np.empty(array.size, dtype=bool)
    flat = array.reshape(-1)
    with np.errstate(invalid="ignore"):
        for start in range(0, flat.size, BLOCK):  # what is compared stays in the cache
            good[start : start + BLOCK] = holds(flat[start : start + BLOCK])
    if not good.all():
        raise InputError(name, _shown(given.reshape(-1)[np.argmin(good)]), expected, unit)
    return array


def _shown(value: object) -> object:
    """The offending element as a plain number; an integer beyond float64 keeps its digits."""
    return value.item() if isinstance(value, np.generic) else value
