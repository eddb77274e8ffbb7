"""Prints sympy expressions as text or LaTeX, with numbers in the place of symbols where they are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import sympy
from sympy.printing.latex import LatexPrinter
from sympy.printing.pretty.pretty import PrettyPrinter
from sympy.printing.pretty.pretty_symbology import pretty_use_unicode
from sympy.printing.pretty.stringpict import prettyForm

from planner.render.text import WIDTH

Numbers = Mapping[sympy.Symbol, str]


LONG: Final = 3  # terms of a sum; one of more is a polynomial, read by falling powers


def _terms(expression: sympy.Add) -> list[Any]:
    """Terms of a sum in the order they were written, what is subtracted last."""
    terms = expression.as_ordered_terms() if len(expression.args) > LONG else list(expression.args)
    return sorted(terms, key=lambda term: bool(term.could_extract_minus_sign()))


class _Text(PrettyPrinter):  # type: ignore[misc]
    """Two-dimensional text; a symbol that has a number is printed as the number."""

    def __init__(self, numbers: Numbers, *, unicode: bool) -> None:
        super().__init__({"use_unicode": unicode, "num_columns": WIDTH - 8, "wrap_line": True})
        self._numbers = numbers

    def _as_ordered_terms(self, expr: sympy.Add, order: Any = None) -> list[Any]:
        return _terms(expr)

    def _print_Symbol(self, expr: sympy.Symbol, bold_name: bool = False) -> Any:  # noqa: N802 - sympy's name
        if expr in self._numbers:
            return prettyForm(self._numbers[expr])
        return super()._print_Symbol(expr, bold_name)

    def _print_Min(self, expr: sympy.Min) -> Any:  # noqa: N802 - sympy's name
        return self._helper_print_function(sympy.Min, expr.args, func_name="min")

    def _print_Max(self, expr: sympy.Max) -> Any:  # noqa: N802 - sympy's name
        return self._helper_print_function(sympy.Max, expr.args, func_name="max")

    def _print_LambertW(self, expr: Any) -> Any:  # noqa: N802 - sympy's name; W is a wait here
        return self._helper_print_function(sympy.LambertW, expr.args, func_name="Lambert")


class _Latex(LatexPrinter):  # type: ignore[misc]
    """LaTeX; a symbol that has a number is printed as the number."""

    def __init__(self, numbers: Numbers) -> None:
        super().__init__({"mul_symbol": "dot"} if numbers else {})
        self._numbers = numbers

    def _as_ordered_terms(self, expr: sympy.Add, order: Any = None) -> list[Any]:
        return _terms(expr)

    def _print_LambertW(self, expr: Any, exp: str | None = None) -> str:  # noqa: N802 - sympy's name
        shown = rf"\operatorname{{Lambert}}\left({self._print(expr.args[0])}\right)"
        return shown if exp is None else rf"{shown}^{{{exp}}}"

    def _print_Symbol(self, expr: sympy.Symbol, style: str = "plain") -> Any:  # noqa: N802 - sympy's name
        return self._numbers.get(expr) or super()._print_Symbol(expr, style)


def text(expression: Any, numbers: Numbers | None = None, *, head: str = "", unicode: bool = True) -> str:
    """Lay an expression out in lines of text."""
    before = pretty_use_unicode(unicode)  # sympy keeps this as a state of its own
    try:
        printer = _Text(numbers or {}, unicode=unicode)
        line = printer._print(expression).baseline
        rows = str(printer.doprint(expression)).splitlines()
    finally:
        pretty_use_unicode(before)
    heads = (head if row == line else " " * len(head) for row in range(len(rows)))
    return "\n".join(
        f"{start} {row}".rstrip() if head else row.rstrip() for start, row in zip(heads, rows, strict=True)
    )


def latex(expression: Any, numbers: Numbers | None = None) -> str:
    """Write an expression in LaTeX."""
    return str(_Latex(numbers or {}).doprint(expression))
