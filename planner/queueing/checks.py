"""Checked input of the queueing functions: every argument becomes a broadcast float64 array or an InputError."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from planner.errors import InputError
from planner.results import Array

LARGEST_COUNT: Final = 2**53  # beyond it float64 does not hold every whole number


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
    return _require(name, values, unit, lambda v: np.isfinite(v) & (v > 0), "finite numbers above zero")


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
    return _require(name, values, unit, lambda v: np.isfinite(v) & (v >= 0), "finite numbers, zero or above")


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
        name, values, "", lambda v: (v >= least) & (v <= LARGEST_COUNT) & (np.floor(v) == v),
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
        Read-only views of one common shape, in the order given.

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


def _require(name, values, unit, holds, expected):  # type: ignore[no-untyped-def]
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(name, values, f"{expected}, not this", unit) from error
    if array.size == 0:
        raise InputError(name, [], f"{expected}, at least one", unit)
    good = holds(array)
    if not good.all():
        raise InputError(name, float(array[~good].flat[0]), expected, unit)
    return array
