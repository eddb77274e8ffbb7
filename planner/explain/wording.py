"""Steps of an explanation as text and LaTeX, in symbols and in numbers."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import sympy
from sympy.printing.latex import LatexPrinter
from sympy.printing.pretty.pretty import PrettyPrinter
from sympy.printing.pretty.pretty_symbology import pretty_use_unicode
from sympy.printing.pretty.stringpict import prettyForm

from planner import render, units
from planner.explain.topic import Equation, exact
from planner.render.text import WIDTH, sentence_case
from planner.units import shown as shown_in

Numbers = Mapping[sympy.Symbol, str]


LONG: Final = 3  # terms of a sum; a longer one is a polynomial, in falling powers


def _terms(printer: object, expression: sympy.Add, order: Any = None) -> list[Any]:
    """Terms of a sum in the order they were written, negative terms last."""
    terms = expression.as_ordered_terms() if len(expression.args) > LONG else list(expression.args)
    return sorted(terms, key=lambda term: bool(term.could_extract_minus_sign()))


class _Text(PrettyPrinter):  # type: ignore[misc]
    """Two-dimensional text; a symbol with a known number is printed as the number."""

    def __init__(self, numbers: Numbers, *, unicode: bool) -> None:
        super().__init__({"use_unicode": unicode, "num_columns": WIDTH - 8, "wrap_line": True})
        self._numbers = numbers

    _as_ordered_terms = _terms

    def _print_Symbol(self, expr: sympy.Symbol, bold_name: bool = False) -> Any:  # noqa: N802 - sympy's name
        if expr in self._numbers:
            return prettyForm(self._numbers[expr])
        return super()._print_Symbol(expr, bold_name)

    def _print_Min(self, expr: sympy.Min | sympy.Max) -> Any:  # noqa: N802 - sympy's name
        return self._helper_print_function(expr.func, expr.args, func_name=expr.func.__name__.lower())

    _print_Max = _print_Min  # noqa: N815 - sympy's name

    def _print_LambertW(self, expr: Any) -> Any:  # noqa: N802 - sympy's name; W is a wait here
        return self._helper_print_function(sympy.LambertW, expr.args, func_name="Lambert")


class _Latex(LatexPrinter):  # type: ignore[misc]
    """LaTeX; a symbol with a known number is printed as the number."""

    def __init__(self, numbers: Numbers) -> None:
        super().__init__({"mul_symbol": "dot"} if numbers else {})
        self._numbers = numbers

    _as_ordered_terms = _terms

    def _print_LambertW(self, expr: Any, exp: str | None = None) -> str:  # noqa: N802 - sympy's name
        shown = rf"\operatorname{{Lambert}}\left({self._print(expr.args[0])}\right)"
        return shown if exp is None else rf"{shown}^{{{exp}}}"

    def _print_Symbol(self, expr: sympy.Symbol, style: str = "plain") -> Any:  # noqa: N802 - sympy's name
        return self._numbers.get(expr) or super()._print_Symbol(expr, style)


def printed(expression: Any, numbers: Numbers | None = None, *, head: str = "", unicode: bool = True) -> str:
    """Format an expression in lines of text."""
    before = pretty_use_unicode(unicode)  # global state of sympy
    try:
        printer = _Text(numbers or {}, unicode=unicode)
        line = printer._print(expression).baseline
        rows = str(printer.doprint(expression)).splitlines()
    finally:
        pretty_use_unicode(before)
    heads = (f"{head if k == line else ' ' * len(head)} " if head else "" for k in range(len(rows)))
    return "\n".join(f"{start}{row}".rstrip() for start, row in zip(heads, rows, strict=True))


def latex(expression: Any, numbers: Numbers | None = None) -> str:
    """Write an expression in LaTeX."""
    return str(_Latex(numbers or {}).doprint(expression))


WHOLE: Final = 1e13  # smaller whole numbers are shown with all digits


Form = Literal["unicode", "ascii", "latex"]
EXPONENT: Final = re.compile(r"(\d+(?:\.\d+)?)e([+-]?\d+)")
RAISED: Final = str.maketrans(
    "-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
)


def number(value: float, digits: int = 5, infinite: str = "saturated") -> str:
    """A number in a formula; whole numbers with all digits."""
    if math.isinf(value):
        return infinite
    whole = float(value).is_integer() and abs(value) < WHOLE
    return units.readable(int(value) if whole else value, digits=digits)


def powers(text: str, form: Form) -> str:
    """Replace numbers such as 3e-05 by powers of ten, for people."""

    def raised(found: re.Match[str]) -> str:
        number, power = found[1], str(int(found[2]))
        times, ten = {
            "latex": (r" \cdot ", f"10^{{{power}}}"),
            "unicode": ("\u00b7", f"10{power.translate(RAISED)}"),
            "ascii": ("*", f"10^{power}"),
        }[form]
        return ten if number == "1" else f"{number}{times}{ten}"

    return EXPONENT.sub(raised, text.replace(",", "{,}") if form == "latex" else text)


def with_unit(value: float, unit: str) -> str:
    """An SI value in a unit for people: times in milliseconds, sizes in GB."""
    name, factor = units.shown(unit)
    if math.isfinite(value) and name != unit:
        return f"{number(value / factor)} {name}"
    return number(value) + (f" {unit}" if unit and math.isfinite(value) else "")


def body(table: render.Table) -> str:
    """A table without its heading."""
    return "\n".join(render.to_text(table).splitlines()[1:])


def hanging(paragraphs: Iterable[str], head: str) -> str:
    """Paragraphs with a hanging `head`, wrapped at the width of a terminal."""
    return "\n".join(
        textwrap.fill(text, render.WIDTH, initial_indent=head, subsequent_indent=" " * len(head))
        for text in paragraphs
    )


def indent(text: str) -> str:
    """Indent all lines by two."""
    return "\n".join(f"  {line}" for line in text.splitlines())


@dataclass(frozen=True, slots=True)
class WordedStep:
    """An equation `step`, and the `values` of all symbols."""

    step: Equation
    values: Mapping[Any, Any]

    @property
    def short(self) -> str:
        """The value on one line, for people."""
        if self.step.index is not None:
            first, *others = [number(value) for value in self.members]
            return f"{first} to {others[-1]}" if others else first
        return with_unit(float(self.values[self.step.left]), self.step.unit)

    @property
    def members(self) -> list[float]:
        """Values of a family."""
        assert self.step.index is not None
        index, first, _ = self.step.index
        values, k = [], int(first)
        while (member := self.step.left.subs(index, k)) in self.values:
            values.append(float(self.values[member]))
            k += 1
        return values

    def text(self, *, unicode: bool) -> str:
        """The equation in symbols and in numbers, and the value."""
        step = self.step
        head = f"  {printed(step.left, unicode=unicode)} ="
        equals = "=".rjust(len(head))
        form: Form = "unicode" if unicode else "ascii"
        numbers = self._numbers("∞" if unicode else "oo", form)
        if step.bracket is not None:  # an implicit equation has no left side of its own
            rows = [indent(printed(step.right, each, unicode=unicode)) for each in ({}, numbers)]
            rows.append(f"{head} {powers(self._value(), form)}")
        else:
            rows = [printed(step.right, head=head, unicode=unicode)]
            if numbers:
                rows.append(printed(self._branch, numbers, head=equals, unicode=unicode))
            value = ", ".join(number(v) for v in self.members) if step.index else self._value()
            rows.append(hanging([powers(value, form)], f"{equals} "))
        gap = "\n\n" if any("\n" in row for row in rows[:-1]) else "\n"
        return f"{sentence_case(step.meaning)}\n" + gap.join(rows)

    def latex(self) -> str:
        """The equation in symbols, the equation in numbers, and the value; one line each."""
        step, numbers = self.step, self._numbers(r"\infty", "latex")
        left = latex(step.left)
        if step.bracket is not None:
            sides = [latex(side) for side in step.right.args]
            filled = [latex(side, numbers) for side in step.right.args]
            rows = [sides, filled, [left, self._value_latex()]]
        else:
            rows = [[left, latex(step.right)], ["", latex(self._branch, numbers)]]
            rows.append(["", self._value_latex()])
        return " \\\\\n".join(" &= ".join(row).lstrip() for row in rows)

    @property
    def _branch(self) -> Any:
        """The right side; if it has cases, the one that applies (the general one for a family)."""
        step = self.step
        if not isinstance(step.right, sympy.Piecewise):
            return step.right
        cases = step.right.args
        return (
            cases[-1][0] if step.index else next(case for case, holds in cases if exact(holds, self.values))
        )

    def _numbers(self, infinite: str, form: Form) -> dict[Any, str]:
        """Numbers to print for the symbols on the right; those with a power of ten in parentheses."""
        found = {}
        for symbol in self._branch.free_symbols & self.values.keys() - {self.step.left}:
            plain = number(float(self.values[symbol]), infinite=infinite)
            shown = powers(plain, form)
            bracketed = rf"\left({shown}\right)" if form == "latex" else f"({shown})"
            found[symbol] = shown if shown == plain else bracketed
        return found

    def _value(self) -> str:
        step, value = self.step, float(self.values[self.step.left])
        if math.isinf(value):
            return "saturated"
        shown = f"{number(value)} {step.unit}".rstrip()
        return shown + (f" = {with_unit(value, step.unit)}" if shown_in(step.unit)[0] != step.unit else "")

    def _value_latex(self) -> str:
        if self.step.index:
            return r",\ ".join(powers(number(value), "latex") for value in self.members)
        value = float(self.values[self.step.left])
        if math.isinf(value):
            return r"\infty"
        unit = rf"\ \mathrm{{{self.step.unit}}}" if self.step.unit else ""
        return powers(number(value), "latex") + unit
