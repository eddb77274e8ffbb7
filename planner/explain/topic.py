"""A topic: inputs with units, equations in sympy, assumptions, and the numerical code for the same values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final

import numpy as np
import sympy

from planner import units
from planner.errors import InputError
from planner.quantity import Quantity

Exact = Mapping[str, Any]  # key of an input -> exact rational number
PRECISION: Final = 30  # digits of a value that is not exact
MOST: Final = 200  # largest count that is evaluated exactly in reasonable time
TINY: Final = math.ulp(0.0)  # smallest number above zero


def by_code(solve: Callable[..., Any], **names: str) -> Callable[[Mapping[str, float]], dict[str, float]]:
    """The numerical code of a topic: call `solve` and return attributes of its result by symbol, as in `names`."""

    def found(values: Mapping[str, float]) -> dict[str, float]:
        solved = solve(**values)
        return {symbol: np.asarray(getattr(solved, name)).item() for symbol, name in names.items()}

    return found


def exactly(item: Quantity, given: str | float) -> Any:
    """Read typed text (with its unit), or a number in SI units, as an exact decimal number."""
    dimension = units.UNITS[item.unit].dimension
    if not dimension:
        value = units.parse_count(str(given), argument=item.key)
        if not item.holds(value):
            low, high = f"{item.low:g}", f"{item.high:g}"
            inside = f"of at least {low}" if math.isinf(item.high) else f"from {low} to {high}"
            shown = int(value) if item.whole and value.is_integer() else value
            raise InputError(item.key, shown, f"a {'whole ' if item.whole else ''}number {inside}")
        return sympy.Integer(int(value)) if item.whole else _rational(value)
    if isinstance(given, str):
        return _rational(units.parse(given, dimension, argument=item.key, zero=item.low == 0))
    if not item.low <= given < float("inf"):
        raise InputError(item.key, given, "a finite number above zero", item.unit)
    return _rational(given)


def _rational(value: float) -> Any:
    """A decimal number of 15 digits; further digits of a double are conversion noise."""
    return sympy.Rational(format(value, ".15g"))


@dataclass(frozen=True, slots=True)
class Equation:
    """One step: `left` equals `right`, an expression of inputs and the left sides of earlier steps."""

    left: Any  # what is computed; a function of an index for a family such as w(n)
    right: Any  # its expression
    meaning: str  # in words
    unit: str = ""  # SI unit of the value, empty for counts and shares
    index: tuple[Any, Any, Any] | None = None  # index symbol, first and last value of a family
    digits: int = 0  # digits of its value, if not exact
    bracket: tuple[Any, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A formula that can be explained."""

    name: str  # as typed after ``planner explain``; in words
    title: str
    inputs: tuple[Quantity, ...]  # numbers that the user may give
    equations: Callable[[Exact], tuple[Equation, ...]]  # steps for given counts
    answer: Any  # symbol of the step that is the answer
    numerical: Callable[[Mapping[str, float]], Mapping[str, float]]
    assumptions: tuple[str, ...]  # where the formula holds
    source: str  # author, year, equation
    over: str  # input on the axis of the picture; `beside`: input with one line per value (none if empty)
    beside: str = ""
    states: Callable[[Exact], tuple[str, ...]] = lambda exact: ()  # the states of a chain, in lines

    def numbers(self, given: Mapping[str, str | float]) -> dict[str, Any]:
        """Exact inputs: given values, defaults for the rest."""
        known = {item.key: item for item in self.inputs}
        for key, value in given.items():
            if key not in known:
                raise InputError(key, value, f"one of {', '.join(known)}")
        return {key: exactly(item, given.get(key, item.default)) for key, item in known.items()}

    def evaluate(self, numbers: Exact, keep: tuple[Any, ...] = ()) -> dict[Any, Any]:
        """Evaluate every step exactly."""
        known = {item.symbol: numbers[item.key] for item in self.inputs if item.symbol not in keep}
        # expressions of the values rounded to many digits: later steps may cancel
        spelled: dict[Any, Any] = {}
        for step in self.equations(numbers):
            if step.digits:  # do not evaluate sums symbolically
                symbols = {key: spelled.get(key, value) for key, value in known.items() if key.is_Symbol}
                right = spelled[step.left] = step.right.subs(symbols)
                known[step.left] = right if right.free_symbols else many_digits(right, step.digits)
                continue
            if step.index is None:
                known[step.left] = _value(step, known)
                continue
            index, first, last = step.index
            for k in range(int(exact(first, known)), int(exact(last, known)) + 1):
                known[step.left.subs(index, k)] = exact(step.right.subs(index, k), known)
        return known


def _value(step: Equation, known: Mapping[Any, Any]) -> Any:
    """Value of a step; for an implicit equation, its root."""
    if step.bracket is None:
        return exact(step.right, known)
    gap = exact(step.right.lhs - step.right.rhs, known)
    return step.left if gap.free_symbols - {step.left} else _root(step, gap)


def _root(step: Equation, difference: Any) -> Any:
    """Root of an equation, to `PRECISION` digits."""
    from mpmath import findroot, workdps

    assert step.bracket is not None
    gap = sympy.lambdify(step.left, difference, "mpmath")
    with workdps(2 * PRECISION):
        return sympy.Float(findroot(gap, tuple(map(float, step.bracket)), solver="anderson"), PRECISION)


def many_digits(expression: Any, wanted: int, most: int = 2000) -> Any:
    """Evaluate to the digits wanted; double the working precision, up to `most` digits, until two results agree."""
    from mpmath import ncdf, npdf, re, workdps

    digits, found = 2 * wanted, None
    while digits <= most:
        # an integral evaluates the same probability many times
        known = {"Phi": cache(ncdf), "phi": npdf, "quad": partial(_over_the_line, digits=wanted)}
        evaluate = sympy.lambdify((), expression, [known, "mpmath"])
        with workdps(digits):
            before, found = found, re(evaluate())
            settled = found or 2 * digits > most  # a zero may become nonzero with more digits
            if before is not None and settled and abs(found - before) <= abs(found) / 10**wanted:
                return sympy.Float(found, wanted)
        digits *= 2
    raise InputError("the numbers", "of the formula", f"numbers that need at most {most} working digits")


def _over_the_line(function: Callable[[Any], Any], line: Any, *, digits: int) -> Any:
    """Integral over the real line of a function that falls like a normal density: trapezoidal rule, halved steps."""
    from mpmath import mp, mpf, sqrt

    step, end, total, small = mpf(1) / 2, mpf(0), mpf(1), (digits + 3) * mp.ln10
    for _ in range(2):  # a small integral needs more of the tails: the first sum shows how much
        end = sqrt(2 * (small - min(mp.log(total), 0)))
        total = mp.fsum(function(k * step) for k in range(-int(end / step), int(end / step) + 1))
    while True:
        between = int(end / step + 0.5)
        more = mp.fsum(function((k + mpf(1) / 2) * step) for k in range(-between, between))
        if abs(more - total) <= abs(total) / 10 ** (digits + 1):
            return total * step
        total, step = total + more, step / 2


def exact(expression: Any, known: Mapping[Any, Any]) -> Any:
    """Substitute known values into an expression and evaluate its sums and products."""
    symbols = {key: value for key, value in known.items() if key.is_Symbol}
    families = {key: value for key, value in known.items() if not key.is_Symbol}
    return sympy.sympify(expression).subs(symbols).doit().xreplace(families)
