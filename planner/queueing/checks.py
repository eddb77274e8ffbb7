"""Checked input of the queueing functions: every argument becomes a broadcast float64 array or an InputError."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planner.errors import InputError
from planner.results import Array

LARGEST_COUNT: Final = 2**53  # beyond it float64 does not hold every whole number
BLOCK: Final = 32_768


def positive(name: str, values: ArrayLike, unit: str = "") -> Array:
    """Check for finite numbers above zero.

    Parameters
    ----------
    name : str
        Argument name for the message.
    values : array_like
        Any shape.
    unit : str, optional
        Unit for the message.

    Returns
    -------
    ndarray
        The values as float64.

    Raises
    ------
    InputError
        Not numeric, empty, NaN, infinite, zero or negative.
    """
    return _require(name, values, unit, lambda v: (v > 0) & (v < np.inf), "finite numbers above zero")


def nonnegative(name: str, values: ArrayLike, unit: str = "") -> Array:
    """Check for finite numbers, zero or above.

    Parameters
    ----------
    name : str
        Argument name for the message.
    values : array_like
        Any shape.
    unit : str, optional
        Unit for the message.

    Returns
    -------
    ndarray
        The values as float64.

    Raises
    ------
    InputError
        Not numeric, empty, NaN, infinite or negative.
    """
    return _require(name, values, unit, lambda v: (v >= 0) & (v < np.inf), "finite numbers, zero or above")


def count(name: str, values: ArrayLike, *, least: int = 1) -> Array:
    """Check for whole numbers.

    Parameters
    ----------
    name : str
        Argument name for the message.
    values : array_like
        Any shape.
    least : int, optional
        Smallest count allowed.

    Returns
    -------
    ndarray
        The values as float64.

    Raises
    ------
    InputError
        Not numeric, empty, NaN, not whole, below `least` or beyond 2**53.
    """
    return _require(
        name, values, "", lambda v: (v >= least) & (v <= LARGEST_COUNT) & (np.rint(v) == v),
        f"whole numbers from {least} to 2**53",
    )  # fmt: skip


def probability(name: str, values: ArrayLike) -> Array:
    """Check for numbers strictly between zero and one.

    Parameters
    ----------
    name : str
        Argument name for the message.
    values : array_like
        Any shape.

    Returns
    -------
    ndarray
        The values as float64.

    Raises
    ------
    InputError
        Not numeric, empty, NaN, or not inside (0, 1).
    """
    return _require(name, values, "", lambda v: (v > 0) & (v < 1), "probabilities inside (0, 1)")


def broadcast(**arrays: Array) -> list[Array]:
    """Broadcast checked arguments against each other.

    Parameters
    ----------
    **arrays : ndarray
        The checked arguments by name.

    Returns
    -------
    list of ndarray
        Views of one common shape, in the order given.

    Raises
    ------
    InputError
        The shapes do not go together.
    """
    try:
        return list(np.broadcast_arrays(*arrays.values()))
    except ValueError as error:
        shapes = ", ".join(f"{name} {np.shape(values)}" for name, values in arrays.items())
        raise InputError("shapes", shapes, "arguments that broadcast against each other") from error


def _require(
    name: str, values: ArrayLike, unit: str, holds: Callable[[Array], NDArray[np.bool_]], expected: str
) -> Array:
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "iufO":  # not truth values, texts, dates or complex numbers
            raise TypeError(given.dtype)
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
