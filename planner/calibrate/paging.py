"""Measured paging devices to service time, pages per transfer and CP time per page: means of logarithms.

A device that always has its requests carries min(outstanding, queue depth) / service time transfers a second
(`planner.devices.paging`), so that every run gives each parameter by itself; the scatter of the runs is their error.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from planner import library, render
from planner.calibrate.model_error import MODEL_ERROR
from planner.devices.paging import CP_TIME, KIND, OUTSTANDING, PAGES_PER_TRANSFER, QUEUE_DEPTH
from planner.devices.parameters import SERVICE_TIME
from planner.errors import ReportError
from planner.reports import Printed
from planner.units import MICROSECOND

COUNTS: Final = ("outstanding", "queue_depth")
NEEDED: Final = (*COUNTS, "transfer_rate")
COLUMNS: Final = ("run", *NEEDED, "page_rate", "cp_us_per_page")


@dataclass(frozen=True, slots=True, kw_only=True)
class PagingRun:
    """One run of a device: `outstanding` requests, `queue_depth` transfers at a time, and what was measured.

    `transfer_rate` and `page_rate` [1/s]; `cp_time` [s] of a page; None where not measured.
    """

    name: str
    outstanding: int
    queue_depth: int
    transfer_rate: Printed
    page_rate: Printed | None
    cp_time: Printed | None

    @property
    def places(self) -> int:
        """Transfers that are at work all the time."""
        return min(self.outstanding, self.queue_depth)


@dataclass(frozen=True, slots=True, kw_only=True)
class PagingFit:
    """The parameters of a paging device.

    Attributes
    ----------
    values : mapping
        Value [SI] and relative standard error by key.
    runs : tuple of PagingRun
        What was measured.
    model_error : float
        Relative scatter of the transfer rates, at least the floor.
    """

    values: Mapping[str, tuple[float, float]]
    runs: tuple[PagingRun, ...]
    model_error: float

    def residual_table(self) -> render.Table:
        """One row a run.

        Returns
        -------
        render.Table
            Transfer rates, measured and by the law.
        """
        measured = [run.transfer_rate.value for run in self.runs]
        law = [run.places / self.values["service_time"][0] for run in self.runs]
        return render.Table(
            columns=(
                render.Column(name="run", unit="", values=[run.name for run in self.runs]),
                render.Column(name="transfer_rate", unit="1/s", label="measured", values=measured),
                render.Column(name="law", unit="1/s", values=law),
            )
        )

    def text(self) -> str:
        """Parameters with their errors, and every run beside the law.

        Returns
        -------
        str
            Lines.
        """
        lines = [f"{key} {value:.4g} +/- {value * error:.2g}" for key, (value, error) in self.values.items()]
        return "\n".join([*lines, "", render.to_text(self.residual_table())])

    def to_model(self, *, title: str, source: Sequence[library.Source]) -> library.Model:
        """Turn the fit into what a model file holds.

        Parameters
        ----------
        title : str
            What was measured, in words.
        source : sequence of library.Source
            The measurements.

        Returns
        -------
        library.Model
            Ready to be written; queue depth and requests are those of the last run.
        """
        last = self.runs[-1]
        known = {QUEUE_DEPTH.file_key: last.queue_depth, OUTSTANDING.file_key: last.outstanding}
        keys = {each.key: each.file_key for each in (SERVICE_TIME, PAGES_PER_TRANSFER, CP_TIME)}
        measured = {
            keys[key]: library.Parameter(
                value=_rounded(value), standard_error=_rounded(value * error), status="fitted"
            )
            for key, (value, error) in self.values.items()
        }
        assumed = {PAGES_PER_TRANSFER.file_key: 1.0, CP_TIME.file_key: 0.0}
        held = {key: value for key, value in {**assumed, **known}.items() if key not in measured}
        rows = self.residual_table().records()
        asked = [float(run.outstanding) for run in self.runs]
        return library.Model(
            kind=KIND,
            title=title,
            source=tuple(source),
            population=last.outstanding,
            parameters={
                **measured,
                **{key: library.Parameter(value=value, status="fixed") for key, value in held.items()},
            },
            fit=library.Fit(
                runs=tuple(
                    library.Run(name=row["run"], quantity="transfer_rate", measured=_rounded(row["transfer_rate"]),
                                predicted=_rounded(row["law"]), sigma=_rounded(self.model_error * row["transfer_rate"]))
                    for row in rows
                ),
                model_error=_rounded(self.model_error),
            ),
            validity={"outstanding": (min(asked), max(asked))},
        )  # fmt: skip


def fit_paging(runs: Sequence[PagingRun]) -> PagingFit:
    """Average what the runs of one device say, in logarithms.

    Parameters
    ----------
    runs : sequence of PagingRun
        At least one.

    Returns
    -------
    PagingFit
        Service time, and what else was measured in any run.
    """
    pages = [(run.page_rate.value / run.transfer_rate.value, _error(run.page_rate, run.transfer_rate))
             for run in runs if run.page_rate is not None]  # fmt: skip
    costs = [(run.cp_time.value, _error(run.cp_time)) for run in runs if run.cp_time is not None]
    times = [(run.places / run.transfer_rate.value, _error(run.transfer_rate)) for run in runs]
    found = {"service_time": times, "pages_per_transfer": pages, "cp_time": costs}
    scatter = float(np.std(np.log([value for value, _ in times]), ddof=1)) if len(times) > 1 else 0.0
    return PagingFit(
        values={key: _mean(pairs) for key, pairs in found.items() if pairs},
        runs=tuple(runs),
        model_error=max(scatter, MODEL_ERROR),
    )


def read_paging_runs(path: Path) -> tuple[PagingRun, ...]:
    """Read runs of a paging device from a CSV file.

    Parameters
    ----------
    path : Path
        With the columns of `COLUMNS`; run, page_rate and cp_us_per_page are optional.

    Returns
    -------
    tuple of PagingRun
        In the order of the file.

    Raises
    ------
    ReportError
        The file cannot be read, a column is missing or unknown, or a cell holds no number above zero.
    """
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")), strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ReportError(path, f"expected a CSV file with {', '.join(COLUMNS)}: {error}") from error
    header = list(rows[0]) if rows else []
    wrong = [name for name in header if name not in COLUMNS]
    missing = [name for name in NEEDED if name not in header]
    if wrong or missing:
        what = f"unknown column {wrong[0]!r}" if wrong else f"expected a column {missing[0]} and a row"
        raise ReportError(path, f"{what}; known are {', '.join(COLUMNS)}", line=1)
    return tuple(_run(path, line, row) for line, row in enumerate(rows, start=2))


def _run(path: Path, line: int, row: Mapping[str, str]) -> PagingRun:
    def number(name: str, factor: float = 1.0) -> Printed | None:
        text = (row.get(name) or "").strip()
        if not text and name not in NEEDED:
            return None
        try:
            printed = Printed.from_text(text, factor)
        except ValueError:
            printed = Printed(0.0, 0.0)
        if not 0 < printed.value < math.inf or (name in COUNTS and not printed.value.is_integer()):
            raise ReportError(
                path, f"expected a number above zero in column {name}, found {text!r}", line=line
            )
        return printed

    outstanding, depth, transfers = (number(name) for name in NEEDED)
    assert outstanding is not None and depth is not None and transfers is not None
    return PagingRun(
        name=row.get("run") or f"{path.stem} line {line}", outstanding=int(outstanding.value),
        queue_depth=int(depth.value), transfer_rate=transfers, page_rate=number("page_rate"),
        cp_time=number("cp_us_per_page", MICROSECOND),
    )  # fmt: skip


def _error(*numbers: Printed) -> float:
    """Relative standard deviation of a quotient of printed numbers, the error of the law included."""
    return math.hypot(MODEL_ERROR, *(number.resolution / number.value / math.sqrt(3) for number in numbers))


def _mean(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Weighted mean of logarithms, and its error: of the weights or of the scatter, whichever is larger."""
    logs, weights = np.log([value for value, _ in pairs]), np.array([error**-2 for _, error in pairs])
    center = float(np.average(logs, weights=weights))
    inside = float(weights.sum() ** -0.5)
    scatter = float(np.std(logs, ddof=1) / math.sqrt(len(pairs))) if len(pairs) > 1 else 0.0
    return math.exp(center), max(inside, scatter)


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
