"""A topic with numbers: every step as text and LaTeX, sensitivities, comparison with the numerical code, picture."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import sympy

from planner import render, style, units
from planner.answer import Tabular, tabled
from planner.errors import InputError
from planner.explain import wording
from planner.explain.topic import Equation, Topic
from planner.explain.wording import Form, WordedStep, latex, number, powers, printed, with_unit
from planner.quantity import Quantity, column
from planner.render.text import sentence_case
from planner.results import Array
from planner.units import percent, readable

CHANGE: Final = sympy.Rational(1, 100)  # relative change of an input, for the sensitivities
NOISE: Final = 1e-14  # relative difference below which two doubles count as equal


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(Tabular):
    """Answer of `explain`."""

    topic: Topic  # the formula
    numbers: dict[str, Any]  # exact value of every input, SI
    values: dict[Any, Any]  # exact value of every step, SI
    sensitivities: tuple[tuple[str, float], ...]  # the change, and the answer with it [SI]
    numerical: dict[str, float]  # the same steps by the numerical code [SI]

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
    def result(self) -> str:
        """The answer with its value, on one line."""
        step = self.answer_step
        return f"{sentence_case(step.meaning)}: {step.left} = {WordedStep(step, self.values).short}"

    @property
    def worded_steps(self) -> list[WordedStep]:
        """Every step with its text and LaTeX."""
        return [WordedStep(step, self.values) for step in self.steps]

    @property
    def steps(self) -> tuple[Equation, ...]:
        """The equations for the given counts."""
        return self.topic.equations(self.numbers)

    def value(self, name: str) -> float:
        """Value of a step as a double [SI]."""
        return float(self.values[sympy.Symbol(name)])

    def table(self) -> render.Table:
        """Exact and numerical values side by side."""
        rows = []
        for step in (step for step in self.steps if str(step.left) in self.numerical):
            exact, found = float(self.values[step.left]), self.numerical[str(step.left)]
            off = 0.0 if exact == found else abs(found / exact - 1) if exact else math.inf
            difference = f"{off:.0e}" if off >= NOISE else f"<{NOISE:.0e}"
            values = number(exact, 12), number(found, 12), difference
            rows.append((str(step.left), step.meaning, step.unit, *values))
        columns = (
            *map(column, ("symbol", "meaning", "unit")), column("exact", label="exact (sympy)"),
            column("numerical", label="numerical (numpy)"), column("relative_difference", label="difference"),
        )  # fmt: skip
        return tabled(rows, columns)

    @property
    def _symbols(self) -> list[tuple[Any, str, str, str]]:
        """Every symbol with its value, as typed, and its meaning: the inputs, then the results."""
        inputs = [
            (each.symbol, with_unit(float(self.numbers[each.key]), each.unit), each.key, each.meaning)
            for each in self.topic.inputs
        ]
        return inputs + [(each.step.left, each.short, "", each.step.meaning) for each in self.worded_steps]

    def symbols(self, form: Form = "unicode") -> render.Table:
        """Every symbol with its meaning and value."""
        rows = (
            (printed(symbol, unicode=form == "unicode"), powers(value, form), key, meaning)
            for symbol, value, key, meaning in self._symbols
        )
        return tabled(rows, map(column, ("symbol", "value", "input", "meaning")))

    def text(self, *, unicode: bool = True) -> str:
        """Explain in plain text."""
        form: Form = "unicode" if unicode else "ascii"
        symbols = self.symbols(form)
        count = len(self.topic.inputs)
        inputs = symbols.each(
            lambda c: replace(c, values=[f"  {v}" if c.name == "symbol" else v for v in c.values[:count]])
        )
        blocks = [powers(self.result, form), self.topic.title, wording.body(inputs)]
        if lines := self.topic.states(self.numbers):
            blocks.append(wording.hanging(lines[:1], "") + "\n" + wording.hanging(lines[1:], "  "))
        blocks += [each.text(unicode=unicode) for each in self.worded_steps]
        compared = self.table().pick(("symbol", "unit", "exact", "numerical", "relative_difference"))
        compared = compared.each(lambda c: replace(c, values=[powers(str(v), form) for v in c.values]))
        blocks.append("The same by the numerical code\n" + wording.indent(render.to_text(compared)))
        step = self.answer_step
        blocks.append(f"Sensitivity of {step.left}, {step.meaning}\n{self._sensitivity_text(form)}")
        blocks.append("Assumptions\n" + wording.hanging(self.topic.assumptions, "  - "))
        blocks.append(render.wrap(f"Source: {self.topic.source}"))
        return "\n\n".join(blocks)

    def latex(self) -> str:
        """Symbols, every step (the formula, with the numbers, the value), assumptions and source in LaTeX."""
        rows = [
            f"${latex(symbol)}$ & {escaped(meaning)} & {mathematical(value)} \\\\"
            for symbol, value, _, meaning in self._symbols
        ]
        steps = [
            f"{escaped(sentence_case(each.step.meaning))}\n\\begin{{align*}}\n{each.latex()}\n\\end{{align*}}"
            for each in self.worded_steps
        ]
        return "\n".join(
            [
                f"\\paragraph{{{escaped(self.topic.title)}}}",
                "\\par\\begin{tabular}{lll}",
                *rows,
                "\\end{tabular}\\par",
                *map(escaped, self.topic.states(self.numbers)),
                *steps,
                "\\paragraph{Assumptions}",
                "\\begin{itemize}",
                *(f"\\item {escaped(line)}" for line in self.topic.assumptions),
                "\\end{itemize}",
                f"\\paragraph{{Source}} {escaped(self.topic.source)}",
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, numbers in SI units."""
        return {
            "topic": self.topic.name,
            "title": self.topic.title,
            "result": self.result,
            "inputs": {item.file_key: float(self.numbers[item.key]) for item in self.topic.inputs},
            "steps": [
                {
                    "symbol": str(step.left),
                    "meaning": step.meaning,
                    "unit": step.unit,
                    "formula": str(step.right),
                    "latex": latex(
                        step.right if step.bracket else sympy.Eq(step.left, step.right, evaluate=False)
                    ),
                    "value": WordedStep(step, self.values).members
                    if step.index
                    else float(self.values[step.left]),
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
        body = " \\\\\n".join(each.latex() for each in self.worded_steps)
        return f"$\\displaystyle \\begin{{aligned}}\n{body}\n\\end{{aligned}}$"

    def _repr_html_(self) -> str:
        # Jupyter prefers HTML to LaTeX and renders math in it; one block per step, so that none is cut off.
        def paragraph(text: str) -> str:
            return f"<p>{html.escape(text)}</p>"

        parts = [f"<p><b>{html.escape(self.result)}</b></p>", paragraph(self.topic.title)]
        parts += [render.to_html(self.symbols()), *map(paragraph, self.topic.states(self.numbers))]
        for each in self.worded_steps:
            parts.append(paragraph(sentence_case(each.step.meaning)))
            parts.append(html.escape(f"$$\\begin{{aligned}}\n{each.latex()}\n\\end{{aligned}}$$"))
        parts += [paragraph("The same by the numerical code"), render.to_html(self.table())]
        parts.append("<p>Assumptions</p><ul>")
        parts += [f"<li>{html.escape(line)}</li>" for line in self.topic.assumptions]
        return "\n".join([*parts, f"</ul>{paragraph(f'Source: {self.topic.source}')}"])

    def plot(self, axes: style.Axes | None = None) -> style.Axes:
        """Draw the answer over the main input, for the given numbers and for one server more and one fewer."""
        topic, step = self.topic, self.answer_step
        inputs = {item.key: item for item in topic.inputs}
        over, given = inputs[topic.over], {key: float(value) for key, value in self.numbers.items()}
        at, answer = given[over.key], float(self.values[topic.answer])
        (unit, factor), (x_unit, x_factor) = units.shown(step.unit), units.shown(over.unit)
        result = f"{sentence_case(step.meaning)} {_answer_value(self)}"
        (axes,) = style.begin(axes, f"{topic.title}: {result}.", title=result, below=f"{topic.title}.")
        grid, lines, top = _grid(over, at), [], 0.0
        for k, (count, words) in enumerate(_lines(self, inputs)):
            of = {**given, **({} if not topic.beside else {topic.beside: count})}
            values = np.array([_solve(self, {**of, over.key: x}) for x in grid]) / factor
            color, line = style.look(k)
            marker = "o" if over.whole else None
            axes.plot(np.array(grid) / x_factor, values, line, color=color, marker=marker, markersize=4)
            known = values[np.isfinite(values)]
            if words and known.size:
                lines.append((np.array(grid) / x_factor, values, words, color))
            top = max(top, float(known.max(initial=0.0)))
            last = np.flatnonzero(np.isfinite(values))
            if k == 0 and last.size and last[-1] < len(grid) - 1:
                saturated = grid[last[-1] + 1] / x_factor
                axes.axvline(saturated, color="0.6", linestyle=(0, (1, 2)), label="saturated above")
        if math.isfinite(answer):
            style.answer(axes, at / x_factor, (math.nan, answer / factor, math.nan), "your numbers")
            style.name_point(axes, _answer_value(self), (at / x_factor, answer / factor), style.MEASURED)
            top = min(top, 4.0 * answer / factor) or top  # limit the axis to four times the answer
        across, up = (
            f"{each.meaning} [{u}]" if u else each.meaning for each, u in ((over, x_unit), (step, unit))
        )
        axes.set(xlabel=across, ylabel=up, ylim=(0, 1.08 * top or 1.0))
        if over.whole:
            style.whole_numbers(axes)
        _name(axes, lines)
        style.legend_below(axes)
        return axes

    @property
    def answer_step(self) -> Equation:
        """The step that is the answer."""
        return next(step for step in self.steps if step.left == self.topic.answer)

    def _sensitivity_text(self, form: Form) -> str:
        base = float(self.values[self.topic.answer])
        rows = []
        for change, value in self.sensitivities:
            moved = value / base - 1 if base and math.isfinite(base) and math.isfinite(value) else None
            by = "" if moved is None else powers(percent(moved, signed=True), form)
            rows.append((f"  {change}", powers(with_unit(value, self.answer_step.unit), form), by))
        return wording.body(tabled(rows, map(column, ("change", "answer", "by"))))


def mathematical(value: str) -> str:
    """A value in LaTeX, with powers of ten as math."""
    return re.sub(r"(\d+(?:\.\d+)? \\cdot )?10\^\{-?\d+\}", r"$\g<0>$", powers(value, "latex"))


def escaped(text: str) -> str:
    """Escape the special characters of LaTeX."""
    return re.sub(r"([&%$#_{}])", r"\\\1", text).replace("~", r"\textasciitilde{}")


def _sensitivities(topic: Topic, numbers: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """The answer with each input raised in turn: a count by one, others by one percent."""
    for item in topic.inputs:
        before = numbers[item.key]
        changed, more = (before + 1, "one") if item.whole else (before * (1 + CHANGE), "1%")
        if changed == before or changed > item.high:
            continue
        with suppress(InputError):  # one more may be too many to solve symbolically
            answer = topic.evaluate({**numbers, item.key: changed})[topic.answer]
            yield f"{more} more: {item.key}", float(answer)


def _name(axes: style.Axes, lines: Sequence[tuple[Array, Array, str, str]]) -> None:
    """Label lines at their right ends, or where they leave the picture at the top."""
    top, ends = axes.get_ylim()[1], []
    for x, values, words, color in lines:
        over = np.flatnonzero(~(values <= top))
        if not over.size:
            ends.append((float(values[-1]), words, color))
        elif over[0]:
            place = (float(x[over[0] - 1]), 0.97 * top)
            axes.annotate(words, place, xytext=(-4, 0), textcoords="offset points", ha="right", va="top",
                          color=style.ink(color), fontsize="small")  # fmt: skip
    style.name_lines(axes, ends)


def _answer_value(found: Explanation) -> str:
    unit, factor = units.shown(found.answer_step.unit)
    text = readable(float(found.values[found.topic.answer]) / factor)
    return f"{text}{unit[1:]}" if unit.startswith("1/") else f"{text} {unit}".rstrip()


def _lines(found: Explanation, inputs: Mapping[str, Quantity]) -> Sequence[tuple[float, str]]:
    """Counts of the lines with their names; the given one first."""
    if not found.topic.beside:
        return [(0.0, "")]
    item = inputs[found.topic.beside]
    now = int(found.numbers[item.key])
    counts = [each for each in (now, now + 1, now - 1) if item.low <= each <= item.high]
    return [(float(each), render.counted(each, item.key.removesuffix("s"))) for each in counts]


def _grid(over: Quantity, at: float, points: int = 80) -> list[float]:
    """Values of the input at which the answer is drawn."""
    if over.whole:
        most = min(max(math.ceil(2.0 * at), at + 4), over.high)
        drawn = np.linspace(over.low, most, min(int(most - over.low) + 1, 24)).round()
        return sorted({*drawn.tolist(), at})
    most = min(2.0 * at if at else 1.0, over.high)
    return sorted({*np.linspace(max(over.low, most / points), most, points).tolist(), at})


def _solve(found: Explanation, values: Mapping[str, float]) -> float:
    """The answer by the numerical code; nan if it refuses the input, infinite if saturated."""
    try:
        return float(found.topic.numerical(values)[str(found.topic.answer)])
    except InputError:
        return math.nan
