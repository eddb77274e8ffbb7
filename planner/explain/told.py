"""One step of an explanation with its numbers: as lines of text, as lines of LaTeX."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy

from planner.explain import printing
from planner.explain.topic import Equation, exact
from planner.explain.wording import SHOWN, hanging, indent, number, readable
from planner.units import shown as shown_in


@dataclass(frozen=True, slots=True)
class Told:
    """An equation `step`, and the `values` of all symbols."""

    step: Equation
    values: Mapping[Any, Any]

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
        """The equation in symbols and in numbers, and the value.

        Parameters
        ----------
        unicode : bool
            Whether signs beyond ASCII may be used.

        Returns
        -------
        str
            What it means, then lines moved to the right.
        """
        step = self.step
        head = f"  {printing.text(step.left, unicode=unicode)} ="
        equals = "=".rjust(len(head))
        numbers = self._numbers("∞" if unicode else "oo")
        if step.bracket is not None:  # an equation that the left side solves has no head of its own
            rows = [indent(printing.text(step.right, each, unicode=unicode)) for each in ({}, numbers)]
            rows.append(f"{head} {self._value()}")
        else:
            rows = [printing.text(step.right, head=head, unicode=unicode)]
            if numbers:
                rows.append(printing.text(self._branch, numbers, head=equals, unicode=unicode))
            value = ", ".join(number(v, SHOWN) for v in self.members) if step.index else self._value()
            rows.append(hanging(value, f"{equals} "))
        gap = "\n\n" if any("\n" in row for row in rows[:-1]) else "\n"
        return f"{step.meaning[0].upper()}{step.meaning[1:]}\n" + gap.join(rows)

    def latex(self) -> list[str]:
        """The equation in symbols and in numbers, and the value.

        Returns
        -------
        list of str
            Three lines of an ``align*`` environment.
        """
        step, numbers = self.step, self._numbers(r"\infty")
        left = printing.latex(step.left)
        if step.bracket is not None:
            sides = [printing.latex(side) for side in step.right.args]
            filled = [printing.latex(side, numbers) for side in step.right.args]
            rows = [sides, filled, [left, self._value_latex()]]
        else:
            rows = [[left, printing.latex(step.right)], ["", printing.latex(self._branch, numbers)]]
            rows.append(["", self._value_latex()])
        lines = [" &= ".join(row).lstrip() for row in rows]
        lines[0] += rf" && \text{{{step.meaning}}}"
        return lines

    @property
    def _branch(self) -> Any:
        """The right side; of one with cases the case that applies, of a family the general one."""
        step = self.step
        if not isinstance(step.right, sympy.Piecewise):
            return step.right
        cases = step.right.args
        return (
            cases[-1][0] if step.index else next(case for case, holds in cases if exact(holds, self.values))
        )

    def _numbers(self, infinite: str) -> dict[Any, str]:
        """Numbers to print in the place of the symbols on the right."""
        symbols = self._branch.free_symbols & self.values.keys() - {self.step.left}
        return {symbol: number(float(self.values[symbol]), SHOWN, infinite=infinite) for symbol in symbols}

    def _value(self) -> str:
        step, value = self.step, float(self.values[self.step.left])
        if math.isinf(value):
            return "saturated"
        shown = f"{number(value, SHOWN)} {step.unit}".rstrip()
        return shown + (f" = {readable(value, step.unit)}" if shown_in(step.unit)[0] != step.unit else "")

    def _value_latex(self) -> str:
        if self.step.index:
            return r",\ ".join(number(value, SHOWN) for value in self.members)
        value = float(self.values[self.step.left])
        if math.isinf(value):
            return r"\infty"
        unit = rf"\ \mathrm{{{self.step.unit}}}" if self.step.unit else ""
        return number(value, SHOWN) + unit
