"""A topic with numbers: every step as text and LaTeX, sensitivities, and the numerical code beside it."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import sympy

from planner import render, style
from planner.errors import InputError
from planner.explain import printing
from planner.explain.topic import Equation, Topic
from planner.explain.wording import Told, body, hanging, indent, number, readable
from planner.tabular import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CHANGE: Final = sympy.Rational(1, 100)  # of an input, for the sensitivities
NOISE: Final = 1e-14  # relative; below, two doubles are the same number


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(Tabular):
    """What `explain` answers.

    Attributes
    ----------
    topic : Topic
        The formula.
    numbers : dict
        Every input, exactly, in SI units.
    values : dict
        Every step, exactly, in SI units.
    sensitivities : tuple of tuple
        What is changed, and the answer then [SI].
    numerical : dict
        The same steps by the numerical code [SI].
    """

    topic: Topic
    numbers: dict[str, Any]
    values: dict[Any, Any]
    sensitivities: tuple[tuple[str, float], ...]
    numerical: dict[str, float]

    @classmethod
    def of(cls, topic: Topic, given: Mapping[str, str | float]) -> Explanation:
        """Put numbers into a topic."""
        numbers = topic.numbers(given)
        values = topic.evaluate(numbers)
        numerical = topic.numerical({key: float(value) for key, value in numbers.items()})
        return cls(
            topic=topic,
            numbers=numbers,
            values=values,
            sensitivities=tuple(_sensitivities(topic, numbers)),
            numerical={name: value for name, value in numerical.items() if sympy.Symbol(name) in values},
        )

    @property
    def steps(self) -> tuple[Equation, ...]:
        """The equations, for the counts at hand."""
        return self.topic.equations(self.numbers)

    def value(self, name: str) -> float:
        """Value of a step as a double [SI]."""
        return float(self.values[sympy.Symbol(name)])

    def table(self) -> render.Table:
        """Exact and numerical values beside each other."""
        steps = [step for step in self.steps if str(step.left) in self.numerical]
        exact = [float(self.values[step.left]) for step in steps]
        found = [self.numerical[str(step.left)] for step in steps]
        off = [
            0.0 if x == y else abs(y / x - 1) if x else math.inf for x, y in zip(exact, found, strict=True)
        ]
        columns = (
            ("symbol", [str(step.left) for step in steps], ""),
            ("meaning", [step.meaning for step in steps], ""),
            ("unit", [step.unit for step in steps], ""),
            ("exact", [number(value, 12) for value in exact], "exact (sympy)"),
            ("numerical", [number(value, 12) for value in found], "numerical (numpy)"),
            (
                "relative_difference",
                [f"{value:.0e}" if value >= NOISE else f"<{NOISE:.0e}" for value in off],
                "difference",
            ),
        )
        return render.Table(
            columns=tuple(
                render.Column(name=name, unit="", values=values, label=label)
                for name, values, label in columns
            )
        )

    def text(self, *, unicode: bool = True) -> str:
        """Explain in plain text."""
        inputs = render.Table(
            columns=(
                render.Column(
                    name="symbol",
                    unit="",
                    values=[f"  {printing.text(i.symbol, unicode=unicode)}" for i in self.topic.inputs],
                ),
                render.Column(
                    name="value",
                    unit="",
                    values=[readable(float(self.numbers[i.key]), i.unit) for i in self.topic.inputs],
                ),
                render.Column(name="input", unit="", values=[i.key for i in self.topic.inputs]),
                render.Column(name="meaning", unit="", values=[i.meaning for i in self.topic.inputs]),
            )
        )
        blocks = [self.topic.title, body(inputs)]
        blocks += [Told(step, self.values).text(unicode=unicode) for step in self.steps]
        compared = render.Table(columns=tuple(c for c in self.table().columns if c.name != "meaning"))
        blocks.append("The same by the numerical code\n" + indent(render.to_text(compared)))
        blocks.append(
            f"Sensitivity of {self._answer.left}, {self._answer.meaning}\n" + self._sensitivity_text()
        )
        blocks.append("Assumptions\n" + "\n".join(hanging(line, "  - ") for line in self.topic.assumptions))
        blocks.append(render.wrap(f"Source: {self.topic.source}"))
        return "\n\n".join(blocks)

    def latex(self) -> str:
        """Every step in LaTeX: the formula, with the numbers, the value."""
        lines = [line for step in self.steps for line in Told(step, self.values).latex()]
        return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, numbers in SI units."""
        return {
            "topic": self.topic.name,
            "title": self.topic.title,
            "inputs": {
                render.Column(name=item.key, unit=item.unit, values=()).key: float(self.numbers[item.key])
                for item in self.topic.inputs
            },
            "steps": [
                {
                    "symbol": str(step.left),
                    "meaning": step.meaning,
                    "unit": step.unit,
                    "formula": str(step.right),
                    "latex": printing.latex(
                        step.right if step.bracket else sympy.Eq(step.left, step.right, evaluate=False)
                    ),
                    "value": Told(step, self.values).members if step.index else float(self.values[step.left]),
                    "numerical": self.numerical.get(str(step.left)),
                }
                for step in self.steps
            ],
            "sensitivity": {
                "of": str(self.topic.answer),
                "changes": [{"change": change, "value": value} for change, value in self.sensitivities],
            },
            "assumptions": list(self.topic.assumptions),
            "source": self.topic.source,
        }

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex().replace('align*', 'aligned')}$"

    def _repr_html_(self) -> str:
        # Jupyter prefers HTML to LaTeX, and renders math inside of it.
        math_html = html.escape(self._repr_latex_().replace("$\\displaystyle", "$$").removesuffix("$") + "$$")
        return f"<p>{html.escape(self.topic.title)}</p>{math_html}{render.to_html(self.table())}"

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw by how many percent the answer changes with each change of an input."""
        axes = axes or style.new_axes(7.0, 3.0)
        base = float(self.values[self.topic.answer])
        finite = [(change, value) for change, value in self.sensitivities if math.isfinite(value / base)]
        bars = axes.barh(
            [change for change, _ in finite], [100 * (value / base - 1) for _, value in finite], color=style.COLORS[0]
        )  # fmt: skip
        axes.bar_label(bars, fmt="%+.2g")
        axes.axvline(0, color="black", linewidth=0.8)
        axes.margins(x=0.15)
        axes.set(xlabel=f"change of {self._answer.meaning} [%]", title=self.topic.name)
        return axes

    @property
    def _answer(self) -> Equation:
        return next(step for step in self.steps if step.left == self.topic.answer)

    def _sensitivity_text(self) -> str:
        base = float(self.values[self.topic.answer])
        rows = []
        for change, value in self.sensitivities:
            moved = value / base - 1 if base and math.isfinite(base) and math.isfinite(value) else None
            rows.append(
                (
                    f"  {change}",
                    readable(value, self._answer.unit),
                    "" if moved is None else f"{100 * moved:+.3g}%",
                )
            )
        columns = ("change", "answer", "by")
        table = render.Table(
            columns=tuple(
                render.Column(name=name, unit="", values=[row[i] for row in rows])
                for i, name in enumerate(columns)
            )
        )
        return body(table)


def _sensitivities(topic: Topic, numbers: dict[str, Any]) -> list[tuple[str, float]]:
    """The answer with each input raised: a count by one, anything else by one percent."""
    found = []
    for item in topic.inputs:
        before = numbers[item.key]
        if item.whole:
            changed, words = before + 1, f"one more: {item.key}"
        else:
            changed, words = before * (1 + CHANGE), f"1% more: {item.key}"
        if changed == before or (item.whole and changed > item.high):
            continue
        with suppress(InputError):  # one more may be more than is solved in symbols
            found.append((words, float(topic.evaluate({**numbers, item.key: changed})[topic.answer])))
    return found
