"""Base of published reports: cells with a rule each, rows as measurements, models, pictures."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Final, Literal

from planner import library, style
from planner.calibrate.cost_fit import CostFit
from planner.calibrate.data_file import Measurements
from planner.calibrate.kinds import model_of_costs
from planner.calibrate.least_squares import MODEL_ERROR
from planner.errors import ReportError
from planner.interval import Interval
from planner.reports import Printed, PublishedTable, read_table

Origin = Literal["identity", "fitted", "left-out", "transferred", "input", "not modelled"]
KINDS: Final[tuple[Origin, ...]] = ("identity", "fitted", "left-out", "transferred", "input", "not modelled")
ANSWERED: Final = KINDS[:4]
NUMBER: Final = re.compile(r"-?(\d+\.?\d*|\.\d+)")  # other cells are words, identifiers, or marked as missing


def exactly(value: float) -> Printed:
    """A number that is known, not measured [SI]."""
    return Printed(value, 0.0)


def known(value: float) -> Interval:
    """A number without rounding."""
    return Interval(value, value, value)


def printed(number: Printed, factor: float = 1.0) -> Interval:
    """A printed number with its rounding, in units of `factor`."""
    return Interval(*((number.value + side * number.resolution) / factor for side in (-1, 0, 1)))


def meets(one: Interval, other: Interval) -> bool:
    """Whether two intervals overlap or touch."""
    hair = 1e-9 * max(abs(one.value), abs(other.value))  # tolerance for ends that touch
    return bool(one.low <= other.high + hair and other.low <= one.high + hair)


def cell(table: PublishedTable, row: str, column: str) -> Interval:
    """A cell of a published table with its rounding, in the printed unit; it may be negative."""
    return Interval.printed(table.text(row, column))


@dataclass(frozen=True, slots=True)
class Said:
    """Classification and prediction of a cell."""

    kind: Origin  # one of `KINDS`
    predicted: Interval | None = None  # by the planner
    group: str = ""  # group with a stated accuracy; empty without one
    erratum: str = ""  # entry in source.toml that explains why an identity does not hold
    outlier: bool = False  # whether it is a named outlier, which is shown but not counted
    note: str = ""  # source of the prediction, or why there is none
    counts_items: bool = False  # whether it is scored in items, such as a queue length


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFigure(Said):
    """A published figure with its classification and prediction."""

    report: str  # folder in data/; then table, row and column
    table: str
    row: str
    column: str
    published: Interval  # as printed, in the printed unit

    @property
    def difference(self) -> float | None:
        """Predicted minus published, in the printed unit."""
        return None if self.predicted is None else float(self.predicted.value - self.published.value)

    @property
    def relative_error(self) -> float | None:
        """Difference over published; None without prediction, for 0, and for numbers of items."""
        if self.difference is None or self.published.value == 0 or self.counts_items:
            return None
        return self.difference / abs(float(self.published.value))

    @property
    def holds(self) -> bool:
        """Whether an identity holds within the printed rounding or has an erratum; True for other kinds."""
        if self.kind != "identity" or self.predicted is None:
            return True
        return meets(self.predicted, self.published) or bool(self.erratum)

    @property
    def remark(self) -> str:
        """The note, with the difference of items, erratum and outlier."""
        parts = [self.note]
        if self.relative_error is None and self.difference is not None:
            parts.append(f"off by {self.difference:+.3g}")
        if self.erratum:
            parts.append(f"erratum {self.erratum}")
        if self.outlier:
            parts.append("named outlier")
        return "; ".join(filter(None, parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedReport:
    """A published report, declared in one module, with one folder of data."""

    folder: str  # its folder in data/
    cells: Callable[[], Iterator[PublishedFigure]]  # every printed number
    models: Callable[[], Mapping[str, library.Model]] = dict  # models fitted to it
    left_out: Callable[[], Mapping[str, Mapping[str, float]]] = dict
    figures: Mapping[str, Callable[[], style.Axes]] = field(default_factory=dict)
    pictures: Mapping[str, Callable[[], style.Axes]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell with its table; `cell[row]` is a number of the same column."""

    table: PublishedTable
    row: str
    column: str

    def __getitem__(self, row: str) -> Interval:
        """Another number of the same column."""
        return cell(self.table, row, self.column)

    def beside(self, column: str) -> Interval:
        """Another number of the same row."""
        return cell(self.table, self.row, column)

    @property
    def value(self) -> Interval:
        """The number itself."""
        return cell(self.table, self.row, self.column)


Rule = Callable[[Cell], Said]


def given(note: str = "configuration") -> Rule:
    """Rule of a row that is input."""
    return lambda _: Said("input", note=note)


def not_modelled(reason: str) -> Rule:
    """Rule of a row that the planner does not model."""
    return lambda _: Said("not modelled", note=reason)


def identity(follows: Callable[[Cell], Interval], note: str, errata: Mapping[str, str] | None = None) -> Rule:
    """Rule of a row that follows from others; `errata` gives the erratum of columns where it does not hold."""
    return lambda at: Said("identity", follows(at), note=note, erratum=(errata or {}).get(at.column, ""))


def fitted(model: str, run: str, group: str) -> Said:
    """Prediction of a shipped model for a run to which it was fitted."""
    found = library.read_model(model)
    (predicted,) = (each.predicted for each in found.fit.runs if each.name == run)
    return Said("fitted", known(predicted), group, note=found.title)


def table_figures(
    report: str,
    file: str,
    rules: Mapping[str, Rule],
    *,
    skip: tuple[str, ...] = ("unit",),
    by_row: bool = True,
) -> Iterator[PublishedFigure]:
    """Figures of a published table, by the rules of its rows or columns."""
    found = table(report, file)
    for row in found.rows:
        for column in found.columns[1:]:
            if column in skip or NUMBER.fullmatch(found.text(row, column)) is None:
                continue
            place = row if by_row else column
            if place not in rules:
                raise ReportError(found.path, f"no rule says what the numbers of {place!r} are")
            at = Cell(table=found, row=row, column=column)
            yield from row_figures(report, file, row, [(column, at.value, rules[place](at))])


def row_figures(
    report: str, table: str, row: str, cells: Iterable[tuple[str, Interval, Said]]
) -> Iterator[PublishedFigure]:
    """Figures of a row from its cells: column, published value, classification."""
    for column, number, said in cells:
        known = {item.name: getattr(said, item.name) for item in fields(Said)}
        yield PublishedFigure(report=report, table=table, row=row, column=column, published=number, **known)


def table(publication: str, name: str) -> PublishedTable:
    """Open a published table."""
    return read_table(library.data_path(publication, f"{name}.csv"))


def run(
    name: str, of: PublishedTable, words: Mapping[str, str] | None = None, **numbers: Printed | None
) -> Measurements:
    """Make measurements of a published run, as if read from a CSV row."""
    known = {heading: number for heading, number in numbers.items() if number is not None}
    return Measurements(name=name, path=of.path, line=1, numbers=known, words=words or {})


def quotient(over: Printed, under: Printed) -> Printed:
    """Divide printed numbers."""
    ratio = over.value / under.value
    return Printed(ratio, ratio * math.hypot(over.resolution / over.value, under.resolution / under.value))


def published_model(
    found: CostFit, *, title: str, tables: Sequence[PublishedTable], environment: Mapping[str, str],
    runs: Sequence[library.ComparedRun] | None = None, model_error: float | None = None,
    validity: Mapping[str, library.Range] | None = None,
) -> library.Model:  # fmt: skip
    """Make a model of a fit, with facts of the publication from outside its tables."""
    from msgspec import structs

    model = model_of_costs(found, title=title, files=[table.path for table in tables])
    fit, within = model.fit, {**model.validity, **(validity or {})}
    if runs is not None:
        fit = structs.replace(fit, runs=tuple(runs))
    if model_error is not None:
        fit = structs.replace(
            fit, model_error=library.rounded(model_error), degrees_of_freedom=None, error_assumed=None
        )
    return structs.replace(model, environment=dict(environment), fit=fit, validity=within)


def compared(name: str, quantity: str, measured: Printed, predicted: float) -> library.ComparedRun:
    """Compare a measured number with the prediction of the model."""
    return library.ComparedRun(
        name=name,
        quantity=quantity,
        measured=library.rounded(measured.value),
        predicted=library.rounded(predicted),
        sigma=library.rounded(measured.resolution / math.sqrt(3)),
    )


def misfit(runs: Sequence[library.ComparedRun]) -> float:
    """Largest relative difference between measured and predicted, at least the floor of the model error."""
    return library.rounded(max([MODEL_ERROR, *(abs(run.predicted / run.measured - 1) for run in runs)]))
