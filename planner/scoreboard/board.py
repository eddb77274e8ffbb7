"""All figures of all reports, their summary, and the accuracy that is promised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from planner import render
from planner.scoreboard import emulated_fba, fast_ccw, hyperpav, real_storage, xiv_concurrent_io
from planner.scoreboard.figure import ANSWERED, KINDS, Figure
from planner.tabular import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REPORTS: Final = (hyperpav, real_storage, xiv_concurrent_io, emulated_fba, fast_ccw)
WORST_SHOWN: Final = 5
NINE_IN_TEN: Final = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """An accuracy that is stated.

    Attributes
    ----------
    name : str
        What it is of.
    figures : callable
        Whether it speaks of a figure.
    measure : callable
        What is taken of all those figures.
    limit : float
        The largest that the measure may be.
    """

    name: str
    figures: Callable[[Figure], bool]
    measure: Callable[[Sequence[Figure]], float]
    limit: float


def _errors(figures: Sequence[Figure]) -> list[float]:
    return [abs(figure.relative_error) for figure in figures if figure.relative_error is not None]


def _median(figures: Sequence[Figure]) -> float:
    return float(np.median(_errors(figures)))


def _worst(figures: Sequence[Figure]) -> float:
    return max(_errors(figures))


def _ninth(figures: Sequence[Figure]) -> float:
    return float(np.percentile(_errors(figures), NINE_IN_TEN))


def _ninth_difference(figures: Sequence[Figure]) -> float:
    return float(np.percentile([abs(figure.difference or 0.0) for figure in figures], NINE_IN_TEN))


def _counted(group: str, *kinds: str) -> Callable[[Figure], bool]:
    return lambda figure: figure.group == group and figure.kind in kinds and not figure.outlier


PROMISES: Final = (
    Promise(name="throughput of runs, fitted: median", figures=_counted("throughput", "fitted"), measure=_median,
            limit=0.02),
    Promise(name="throughput of runs, fitted: worst", figures=_counted("throughput", "fitted"), measure=_worst,
            limit=0.04),
    Promise(name="throughput, left-out and transferred: median", measure=_median, limit=0.03,
            figures=_counted("throughput", "left-out", "transferred")),
    Promise(name="throughput, left-out and transferred: 90 %", measure=_ninth, limit=0.07,
            figures=_counted("throughput", "left-out", "transferred")),
    Promise(name="processors, left-out: median", figures=_counted("processors", "left-out"), measure=_median,
            limit=0.05),
    Promise(name="processors, left-out: worst", figures=_counted("processors", "left-out"), measure=_worst,
            limit=0.08),
    Promise(name="processors, fitted: worst", figures=_counted("processors", "fitted"), measure=_worst, limit=0.06),
    Promise(name="rate of devices: median", figures=_counted("device rate", "fitted"), measure=_median, limit=0.035),
    Promise(name="rate of devices: 90 %", figures=_counted("device rate", "fitted"), measure=_ninth, limit=0.07),
    Promise(name="service of devices: 90 % [ms]", figures=_counted("device service", "fitted"),
            measure=_ninth_difference, limit=0.15),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoreboard(Tabular):
    """Every published figure beside what the planner says of it.

    Attributes
    ----------
    figures : tuple of Figure
        In the order of the reports.
    """

    figures: tuple[Figure, ...]

    def failures(self) -> list[str]:
        """What does not hold: identities beyond the errata, promised accuracies, errata that are not listed.

        Returns
        -------
        list of str
            Empty where all holds.
        """
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
        """Name, reached and promised value of each stated accuracy.

        Returns
        -------
        list of tuple
            In the order of `PROMISES`.
        """
        return [
            (each.name, each.measure([f for f in self.figures if each.figures(f)]), each.limit)
            for each in PROMISES
        ]

    def summary(self) -> render.Table:
        """One row a report and kind: count, median, 90th percentile and worst of the relative errors.

        Returns
        -------
        render.Table
            Errors in percent; named outliers and figures with an erratum are counted and included.
        """
        rows = []
        for report in dict.fromkeys(figure.report for figure in self.figures):
            for kind in KINDS:
                found = [f for f in self.figures if (f.report, f.kind) == (report, kind)]
                if found:
                    errors = [100 * error for error in _errors(found)]
                    measures = (
                        [float(np.median(errors)), float(np.percentile(errors, NINE_IN_TEN)), max(errors)]
                        if errors
                        else [None, None, None]
                    )
                    named = (sum(f.outlier for f in found), sum(bool(f.erratum) for f in found))
                    rows.append((report, kind, len(found), *measures, *named))
        heads = (("report", ""), ("kind", ""), ("count", ""), ("median", "percent"), ("p90", "percent"),
                 ("worst", "percent"), ("outliers", ""), ("errata", ""))  # fmt: skip
        return render.Table(
            columns=tuple(
                render.Column(name=name, unit=unit, values=values, decimals=1 if unit else None)
                for (name, unit), values in zip(heads, zip(*rows, strict=True), strict=True)
            )
        )

    def counts(self) -> render.Table:
        """One row a table: how many figures it has.

        Returns
        -------
        render.Table
            Tables in the order of the reports.
        """
        tables = list(dict.fromkeys((figure.report, figure.table) for figure in self.figures))
        numbers = [sum((f.report, f.table) == each for f in self.figures) for each in tables]
        return render.Table(
            columns=(
                render.Column(name="report", unit="", values=[report for report, _ in tables]),
                render.Column(name="table", unit="", values=[table for _, table in tables]),
                render.Column(name="figures", unit="", values=numbers),
            )
        )

    def worst(self, count: int = WORST_SHOWN) -> list[Figure]:
        """The predictions that are furthest off, by relative error, named outliers apart.

        Parameters
        ----------
        count : int, optional
            How many.

        Returns
        -------
        list of Figure
            The worst first.
        """
        judged = [
            f for f in self.figures
            if f.relative_error is not None and f.kind in ANSWERED and f.kind != "identity" and not f.outlier
        ]  # fmt: skip
        return sorted(judged, key=lambda figure: -abs(figure.relative_error or 0.0))[:count]

    def table(self) -> render.Table:
        """One row a figure.

        Returns
        -------
        render.Table
            For CSV.
        """
        records = [figure.record() for figure in self.figures]
        return render.Table(
            columns=tuple(
                render.Column(name=name, unit="", values=[record[name] for record in records])
                for name in records[0]
            )
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data.

        Returns
        -------
        dict
            `figures`, `summary`, `promises`, `failures`.
        """
        return {
            "figures": [figure.record() for figure in self.figures],
            "summary": self.summary().records(),
            "tables": self.counts().records(),
            "promises": [
                {"name": name, "reached": value, "promised": limit} for name, value, limit in self.promises()
            ],
            "failures": self.failures(),
        }

    def text(self) -> str:
        """The summary for people, the worst figures and what does not hold.

        Returns
        -------
        str
            Lines.
        """
        outliers = list(dict.fromkeys(f.row for f in self.figures if f.outlier and f.group == "throughput"))
        lines = [f"{len(self.figures)} figures", "", render.to_text(self.summary()), ""]
        lines += [f"Named outlier, in the summary: {', '.join(outliers)}", "", "Furthest off besides:"]
        for figure in self.worst():
            predicted = 0.0 if figure.predicted is None else figure.predicted.value
            place = f"{figure.report}, {figure.table}, {figure.row} {figure.column}"
            numbers = f"{figure.published.value:g} published, {predicted:.4g} {figure.kind}"
            lines.append(render.wrap(f"  {place}: {numbers}, {figure.relative_error:+.1%}; {figure.remark}"))
        lines += ["", "Stated accuracy:"]
        lines += [f"  {name}: {value:.3g} (at most {limit:g})" for name, value, limit in self.promises()]
        failures = self.failures()
        return "\n".join(
            [*lines, *(["", "Does not hold:"] if failures else []), *(f"  {one}" for one in failures)]
        )

    def _repr_html_(self) -> str:
        return render.to_html(self.summary())

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the share of the figures that are off by at most so many percent.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Where to draw; new axes where None.

        Returns
        -------
        matplotlib.axes.Axes
            One line a kind of prediction.
        """
        from planner.scoreboard.picture import error_shares

        return error_shares(self.figures, axes)


def scoreboard() -> Scoreboard:
    """Put every published figure beside what the planner says of it.

    Returns
    -------
    Scoreboard
        The five reports.

    Raises
    ------
    ReportError
        A shipped file is missing.
    """
    return Scoreboard(figures=tuple(figure for report in REPORTS for figure in report.figures()))
