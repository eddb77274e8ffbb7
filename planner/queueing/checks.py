"""Arguments of the queueing models: their meaning, and checks that turn them into broadcast float64 arrays."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planner.errors import InputError
from planner.results import Array, Flags

LARGEST: Final = 1e150
"""Largest number allowed, and reciprocal of the smallest positive one, so that products stay in the float64 range."""
TINY: Final = float(np.finfo(float).tiny)  # divisor in place of 0
BLOCK: Final = 16_384  # scenarios at a time, so that their vectors stay in the cache


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
    """Check for finite numbers of zero or above."""
    expected = "numbers, zero or above and up to 1e150"
    given = _require(name, values, unit, lambda v: (v >= 0) & (v <= LARGEST), expected)
    return given + 0.0 if np.signbit(given).any() else given  # minus zero is zero


def count(name: str, values: ArrayLike, *, least: int = 1) -> Array:
    """Check for whole numbers, `least` or more and up to 2**53."""
    return _require(
        name, values, "", lambda v: (v >= least) & (v <= 2**53) & (np.rint(v) == v),
        f"a whole number of at least {least}, at most 2**53",
    )  # fmt: skip


def servers(values: ArrayLike) -> Array:
    """Check for numbers of servers of a station, inf for a delay station."""
    return _require("servers", values, "", lambda v: v >= 1, "at least 1, inf for a delay station")


def probability(name: str, values: ArrayLike) -> Array:
    """Check for numbers strictly between zero and one."""
    return _require(name, values, "", lambda v: (v > 0) & (v < 1), "probabilities inside (0, 1)")


def plain(values: ArrayLike) -> NDArray[np.generic]:
    """Numbers as an array of their own type; TypeError for bools, text, dates, complex numbers and masks."""
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


class Argument(NamedTuple):
    """Check, unit and meaning of an argument of the models."""

    check: Callable[..., Array]
    unit: str
    meaning: str


_CONCURRENCY: Final = "Relative growth of the service time with each further request in service"
ARGUMENTS: Final = {
    "offered_load": Argument(nonnegative, "erlang", "Arrival rate times service time, a; 0 is allowed"),
    "arrival_rate": Argument(nonnegative, "1/s", "Arrivals lambda; 0 is allowed"),
    "service_time": Argument(positive, "s", "Mean service time S of a request served alone"),
    "think_time": Argument(nonnegative, "s", "Mean time Z between an answer and the next request; 0 is allowed"),
    "population": Argument(count, "", "Requesters N, each with at most one request outstanding"),
    "servers": Argument(count, "", "Servers c"),
    "capacity": Argument(count, "", "Places K, in service and waiting; at least the servers"),
    "scv": Argument(nonnegative, "", "Squared coefficient of variation of service"),
    "inflation": Argument(nonnegative, "", _CONCURRENCY),
    "redrive_time": Argument(nonnegative, "s", "Mean gap before a server starts a request that had to wait"),
    "wait_time": Argument(positive, "s", "Largest mean wait"),
    "delay_probability": Argument(probability, "", "Largest delay probability (Erlang's C), inside (0, 1)"),
    "response_quantile": Argument(positive, "", "Pair (p, seconds): a share p answered within them; `scv` 1 only"),
    "n": Argument(positive, "", "Concurrency (processors, requesters), above 0"),
    "gamma": Argument(positive, "1/s", "Throughput at n = 1"),
    "alpha": Argument(nonnegative, "", "Contention: share of the work that is serial"),
    "beta": Argument(nonnegative, "", "Coherency: cost of keeping each pair consistent"),
}  # fmt: skip


def checked(**given: ArrayLike) -> dict[str, Array]:
    """Check arguments by their names in `ARGUMENTS`."""
    found = {}
    for name, values in given.items():
        check, unit, _ = ARGUMENTS[name]
        found[name] = check(name, values, unit) if unit else check(name, values)
    return found


def arguments(**given: ArrayLike) -> list[Array]:
    """Check arguments by their names, and broadcast them against each other."""
    return broadcast(**checked(**given))


Model = TypeVar("Model", bound=Callable[..., Any])


def documented(function: Model) -> Model:
    """Complete the docstring of a model: arguments that it does not explain itself, and common errors."""
    text = inspect.getdoc(function)
    if not text:  # python -OO
        return function
    before, after = re.split(r"^(?=Returns\n-)", text, maxsplit=1, flags=re.MULTILINE)
    before, _, own = before.partition("Parameters\n----------\n")
    explained = dict(re.findall(r"^(\w+) : (.*\n(?:    .*\n)+)", own, re.MULTILINE))
    names = inspect.signature(function).parameters.items()
    own = "".join(f"{name} : {explained.get(name) or _explanation(name, each)}" for name, each in names)
    if "Raises\n------\n" not in after:
        raises = "Raises\n------\nInputError\n    An argument outside its domain.\n\n"
        after = re.sub(r"^(?=(?:Notes|References)\n-)", raises, after, count=1, flags=re.MULTILINE)
    function.__doc__ = f"{before}Parameters\n----------\n{own}\n{after}\n"
    return function


def _explanation(name: str, argument: inspect.Parameter) -> str:
    _, unit, meaning = ARGUMENTS[name]
    kind = "array_like" if argument.default is argument.empty else "array_like, optional"
    return f"{kind}\n    {meaning}{f' [{unit}]' if unit else ''}.\n"


def _require(
    name: str, values: ArrayLike, unit: str, holds: Callable[[Array], Flags], expected: str
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
        for start in range(0, flat.size, BLOCK):  # blocks stay in the cache
            good[start : start + BLOCK] = holds(flat[start : start + BLOCK])
    if not good.all():
        raise InputError(name, _shown(given.reshape(-1)[np.argmin(good)]), expected, unit)
    return array


def _shown(value: object) -> object:
    """The offending element as a plain number; an integer too large for float64 keeps its digits."""
    return value.item() if isinstance(value, np.generic) else value
