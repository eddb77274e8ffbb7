"""Every published figure, the planner's prediction of it, and the error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import numpy as np

from planner import render, style
from planner.answer import Answer, record, tabled
from planner.published.report import ANSWERED, KINDS, Origin, PublishedFigure, PublishedReport
from planner.quantity import column
from planner.units import given, percent, readable

# One module per report, in the order of the scoreboard.
REPORTS: Final = ("hyperpav", "real_storage", "xiv_concurrent_io", "emulated_fba", "fast_ccw")


def reports() -> list[PublishedReport]:
    """All reports."""
    return [import_module(f"planner.published.{name}").REPORT for name in REPORTS]


FIGURES: Final = 1333  # in all reports, for a progress bar
KINDS_SHOWN: Final = ("fitted", "left-out", "transferred")


@dataclass(frozen=True, slots=True)
class Promise:
    """A stated accuracy."""

    name: str  # for people
    group: str  # group of figures
    kinds: Sequence[Origin]
    percentile: float  # of the relative errors, or of the differences if `plain`
    limit: float  # largest acceptable value
    plain: bool = False

    def reached(self, figures: Sequence[PublishedFigure]) -> float:
        """Actual value of this percentile."""
        own = [f for f in figures if f.group == self.group and f.kind in self.kinds and not f.outlier]
        errors = [abs(f.difference or 0.0) for f in own] if self.plain else _errors(own)
        return float(np.percentile(errors, self.percentile))


def _errors(figures: Sequence[PublishedFigure]) -> list[float]:
    return [abs(figure.relative_error) for figure in figures if figure.relative_error is not None]


AHEAD: Final[Sequence[Origin]] = ("left-out", "transferred")
PROMISES: Final = (
    Promise("throughput of runs, fitted: median", "throughput", ("fitted",), 50, 0.02),
    Promise("throughput of runs, fitted: worst", "throughput", ("fitted",), 100, 0.04),
    Promise("throughput, left-out and transferred: median", "throughput", AHEAD, 50, 0.03),
    Promise("throughput, left-out and transferred: 90 %", "throughput", AHEAD, 90, 0.07),
    Promise("processors, left-out: median", "processors", ("left-out",), 50, 0.05),
    Promise("processors, left-out: worst", "processors", ("left-out",), 100, 0.08),
    Promise("processors, fitted: worst", "processors", ("fitted",), 100, 0.06),
    Promise("rate of devices: median", "device rate", ("fitted",), 50, 0.035),
    Promise("rate of devices: 90 %", "device rate", ("fitted",), 90, 0.07),
    Promise("service of devices: 90 % [ms]", "device service", ("fitted",), 90, 0.15, plain=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoreboard(Answer):
    """Every published figure and the planner's prediction of it."""

    ROWS = "figures"
    COLUMNS = (
        *map(column, ("report", "table")), column("figure", of=lambda each: f"{each.row} {each.column}"),
        *map(column, ("row", "column")), column("published", of="published.value"),
        column("predicted", of="predicted.value"), *map(column, ("relative_error", "kind")),
        column("note", of="remark"),
    )  # fmt: skip

    figures: tuple[PublishedFigure, ...]  # in the order of the reports

    def failures(self) -> list[str]:
        """Failures: identities without an erratum, and missed accuracies."""
        broken = [
            f"{each.report}, {each.table}, {each.row} {each.column}: {each.published.value:g} printed, "
            f"{each.predicted.value:g} ({each.predicted.low:g} to {each.predicted.high:g}) follows"
            for each in self.figures
            if each.predicted is not None and not each.holds
        ]
        missed = [
            f"{name}: {value:.3g}, promised {limit:g}"
            for name, value, limit in self.promises()
            if value > limit
        ]
        return broken + missed

    def promises(self) -> list[tuple[str, float, float]]:
        """Name, reached and promised value of each stated accuracy."""
        return [(each.name, each.reached(self.figures), each.limit) for each in PROMISES]

    def summary(self) -> render.Table:
        """One row per report and kind: count, median, 90th percentile and worst of the relative errors."""
        rows = []
        for report in dict.fromkeys(figure.report for figure in self.figures):
            for kind in KINDS:
                found = [f for f in self.figures if (f.report, f.kind) == (report, kind)]
                if found:
                    off = [100 * error for error in _errors(found)]
                    measures = np.percentile(off, (50, 90, 100)).tolist() if off else [None] * 3
                    named = (sum(f.outlier for f in found), sum(bool(f.erratum) for f in found))
                    rows.append((report, kind, len(found), *measures, *named))
        errors = [column(each, "percent", "", 1) for each in ("median", "p90", "worst")]
        counted = *map(column, ("report", "kind", "count")), *errors, *map(column, ("outliers", "errata"))
        return tabled(rows, counted)

    def counts(self) -> render.Table:
        """Number of figures, one row per table."""
        numbers = Counter((figure.report, figure.table) for figure in self.figures)
        rows = [(*table, number) for table, number in numbers.items()]
        return tabled(rows, map(column, ("report", "table", "figures")))

    def worst(self) -> list[PublishedFigure]:
        """The five predictions with the largest relative errors, without named outliers."""
        judged = [
            f for f in self.figures
            if f.relative_error is not None and f.kind in ANSWERED and f.kind != "identity" and not f.outlier
        ]  # fmt: skip
        return sorted(judged, key=lambda figure: -abs(figure.relative_error or 0.0))[:5]

    def plain_figures(self) -> dict[str, Any]:
        """Every figure, and what the board promises."""
        return {
            "figures": [record(figure, self.COLUMNS) for figure in self.figures],
            "summary": self.summary().records(),
            "tables": self.counts().records(),
            "promises": [
                dict(zip(("name", "reached", "promised"), each, strict=True)) for each in self.promises()
            ],
            "failures": self.failures(),
        }

    @property
    def exit_code(self) -> int:
        """1 if there are failures."""
        return 1 if self.failures() else 0

    @property
    def headline(self) -> str:
        """Number of figures, and whether every identity and accuracy holds."""
        failures = self.failures()
        holds = "every identity and every stated accuracy holds"
        held = f"{len(failures)} do not hold" if failures else holds
        return f"{readable(len(self.figures))} figures of {len({f.report for f in self.figures})} reports: {held}."

    def sections(self) -> tuple[render.Section, ...]:
        """The summary, the largest errors, the stated accuracies."""
        outliers = list(dict.fromkeys(f.row for f in self.figures if f.outlier and f.group == "throughput"))
        rows = [(name, readable(value), readable(limit)) for name, value, limit in self.promises()]
        promises = tabled(rows, map(column, ("accuracy", "reached", "at most")))
        caption = f"Named outlier, in the summary: {', '.join(outliers)}."
        return (
            render.Section(table=self.summary(), caption=caption),
            render.Section(table=self._worst_table(), title="Largest other errors, without identities:"),
            render.Section(table=promises, title="Stated accuracy:"),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the largest errors, and failures."""
        worst = [f"{f.report}, {f.table}, {f.row} {f.column}: {f.remark}." for f in self.worst() if f.remark]
        return (*self._worst_identity(), *worst, *(f"Does not hold: {one}" for one in self.failures()))

    def _worst_identity(self) -> list[str]:
        """The largest error of an identity, and why it is acceptable."""
        identities = [f for f in self.figures if f.kind == "identity" and f.relative_error is not None]
        largest = max(identities, key=lambda f: abs(f.relative_error or 0.0), default=None)
        if largest is None or largest.predicted is None:
            return []
        why = f"erratum {largest.erratum}" if largest.erratum else "within the printed rounding"
        return [
            f"The worst identity, {percent(abs(largest.relative_error or 0.0))}, is {largest.row} {largest.column} "
            f"of {largest.report}, {largest.table}: {given(largest.published.value)} printed, "
            f"{readable(largest.predicted.value)} from {largest.note}; {why}."
        ]

    def _worst_table(self) -> render.Table:
        rows = [
            (f"{f.report}, {f.table}, {f.row} {f.column}", f.kind, given(f.published.value),
             "" if f.predicted is None else readable(f.predicted.value), 100 * (f.relative_error or 0.0))
            for f in self.worst()
        ]  # fmt: skip
        error = column("error", "percent", "", 1)
        return tabled(rows, (*map(column, ("figure", "kind", "published", "predicted")), error))

    def plot(self, axes: style.Axes | None = None) -> style.Axes:
        """Draw the share of figures within each error, one line per kind of prediction."""
        (axes,) = style.begin(axes, self.headline)
        looks = zip(KINDS_SHOWN, style.COLORS, style.LINES, ("o", "s", "^"), strict=False)
        for kind, color, line, marker in looks:
            errors = sorted(_errors([f for f in self.figures if f.kind == kind]))
            if not errors:
                continue
            shares = [100 * (k + 1) / len(errors) for k in range(len(errors))]
            middle = errors[(len(errors) - 1) // 2]
            axes.step(
                [100 * error for error in errors], shares, line, color=color, marker=marker, markersize=4,
                where="post", label=f"{kind}: {len(errors)} figures, median {percent(middle)}",
            )  # fmt: skip
        style.logarithmic(axes, "x", linear_below=1.0)
        axes.axhline(50, color="0.7", linewidth=0.8, zorder=0)
        axes.set(
            xlabel="error of a figure, at most [%]",
            ylabel="share of the figures [%]",
            xlim=(0, None),
            ylim=(0, 102),
        )
        axes.legend(frameon=False, loc="lower right")
        return axes
