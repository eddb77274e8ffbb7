"""What a topic is: inputs with units, equations in sympy, where they hold, and the same by the numerical code."""

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
PRECISION: Final = 30  # digits where a value is not exact
MOST: Final = 200  # largest count that is evaluated exactly in reasonable time
TINY: Final = math.ulp(0.0)  # above zero


def by_code(solve: Callable[..., Any], **names: str) -> Callable[[Mapping[str, float]], dict[str, float]]:
    """The numerical code of a topic: what `solve` makes of the inputs, by the symbols of `names`."""

    def found(values: Mapping[str, float]) -> dict[str, float]:
        solved = solve(**values)
        return {symbol: np.asarray(getattr(solved, name)).item() for symbol, name in names.items()}

    return found


def exactly(item: Quantity, given: str | float) -> Any:
    """Read what was typed (with its unit), or take a number in SI units, as an exact decimal number."""
    dimension = units.UNITS[item.unit].dimension
    if not dimension:
        value = units.parse_count(str(given), argument=item.key)
        if not item.holds(value):
            low, high = f"{item.low:g}", f"{item.high:g}"
            inside = f"of at least {low}" if math.isinf(item.high) else f"from {low} to {high}"
            raise InputError(item.key, value, f"a {'whole ' if item.whole else ''}number {inside}")
        return sympy.Integer(int(value)) if item.whole else _rational(value)
    if isinstance(given, str):
        return _rational(units.parse(given, dimension, argument=item.key, zero=item.low == 0))
    if not item.low <= given < float("inf"):
        raise InputError(item.key, given, "a finite number above zero", item.unit)
    return _rational(given)


def _rational(value: float) -> Any:
    """A decimal number; further digits of a double are noise of the conversion."""
    return sympy.Rational(format(value, ".15g"))


@dataclass(frozen=True, slots=True)
class Equation:
    """One step: `left` equals `right`, which holds inputs and what stands on the left of earlier steps."""

    left: Any  # what is computed; a function of an index for a family such as w(n)
    right: Any  # how
    meaning: str  # in words
    unit: str = ""  # SI unit of the value, empty for counts and shares
    index: tuple[Any, Any, Any] | None = None  # index symbol, first and last value of a family
    digits: int = 0  # to which its value is taken, where not exactly
    bracket: tuple[Any, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A formula that can be explained."""

    name: str  # as typed after ``planner explain``; in words
    title: str
    inputs: tuple[Quantity, ...]  # numbers that the user may give
    equations: Callable[[Exact], tuple[Equation, ...]]  # steps for given counts
    answer: Any  # the step whose sensitivities are told
    numerical: Callable[[Mapping[str, float]], Mapping[str, float]]
    assumptions: tuple[str, ...]  # where the formula holds
    source: str  # author, year, equation
    over: str  # inputs that a picture draws the answer over, and a line each of (none where empty)
    beside: str = ""
    states: Callable[[Exact], tuple[str, ...]] | None = None  # what the states of a chain are, in lines

    def numbers(self, given: Mapping[str, str | float]) -> dict[str, Any]:
        """Exact inputs: what was given, defaults for the rest."""
        known = {item.key: item for item in self.inputs}
        for key, value in given.items():
            if key not in known:
                raise InputError(key, value, f"one of {', '.join(known)}")
        return {key: exactly(item, given.get(key, item.default)) for key, item in known.items()}

    def evaluate(self, numbers: Exact, keep: tuple[Any, ...] = ()) -> dict[Any, Any]:
        """Evaluate every step exactly."""
        known = {item.symbol: numbers[item.key] for item in self.inputs if item.symbol not in keep}
        # what was taken to many digits, as it was before: further steps may cancel
        spelled: dict[Any, Any] = {}
        for step in self.equations(numbers):
            if step.digits:  # sums are not carried out in symbols
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
    """Value of a step; of an equation its root."""
    if step.bracket is None:
        return exact(step.right, known)
    gap = exact(step.right.lhs - step.right.rhs, known)
    return step.left if gap.free_symbols - {step.left} else _root(step, gap)


def _root(step: Equation, difference: Any) -> Any:
    """Where both sides of an equation are the same, to `PRECISION` digits."""
    from mpmath import findroot, workdps

    assert step.bracket is not None
    gap = sympy.lambdify(step.left, difference, "mpmath")
    with workdps(2 * PRECISION):
        return sympy.Float(findroot(gap, tuple(map(float, step.bracket)), solver="anderson"), PRECISION)


def many_digits(expression: Any, wanted: int, most: int = 2000) -> Any:
    """Evaluate to the digits wanted, with ever more of them under way (`most` of them) until two results agree."""
    from mpmath import ncdf, npdf, re, workdps

    digits, found = 2 * wanted, None
    while digits <= most:
        # an integral asks for the same chance again and again
        known = {"Phi": cache(ncdf), "phi": npdf, "quad": partial(_over_the_line, digits=wanted)}
        evaluate = sympy.lambdify((), expression, [known, "mpmath"])
        with workdps(digits):
            before, found = found, re(evaluate())
            settled = found or 2 * digits > most  # a zero may be what further digits show
            if before is not None and settled and abs(found - before) <= abs(found) / 10**wanted:
                return sympy.Float(found, wanted)
        digits *= 2
    raise InputError("the numbers", "of the formula", f"such as need no more than {most} digits under way")


def _over_the_line(function: Callable[[Any], Any], line: Any, *, digits: int) -> Any:
    """Integral over all numbers of what falls as a normal density does: the trapezoidal rule, ever finer."""
    from mpmath import mp, mpf, sqrt

    step, end, total, small = mpf(1) / 2, mpf(0), mpf(1), (digits + 3) * mp.ln10
    for _ in range(2):  # of a small integral more of the tails counts: the first sum says how much
        end = sqrt(2 * (small - min(mp.log(total), 0)))
        total = mp.fsum(function(k * step) for k in range(-int(end / step), int(end / step) + 1))
    while True:
        between = int(end / step + 0.5)
        more = mp.fsum(function((k + mpf(1) / 2) * step) for k in range(-between, between))
        if abs(more - total) <= abs(total) / 10 ** (digits + 1):
            return total * step
        total, step = total + more, step / 2


def exact(expression: Any, known: Mapping[Any, Any]) -> Any:
    """Put what is known into an expression and carry out its sums and products."""
    symbols = {key: value for key, value in known.items() if key.is_Symbol}
    families = {key: value for key, value in known.items() if not key.is_Symbol}
    return sympy.sympify(expression).subs(symbols).doit().xreplace(families)
