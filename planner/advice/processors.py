"""Throughput of more processors: the Universal Scalability Law, fitted to measurements and tested leave-one-out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from planner import library, render, style
from planner.advice.configurations import MeasuredConfiguration, gain_table, published, read_configurations
from planner.answer import Answer, record
from planner.calibrate.cost_fit import CostFit
from planner.calibrate.costs import fit_processors, fit_scaling
from planner.calibrate.data_file import Measurements
from planner.calibrate.error_bar import interval
from planner.calibrate.kinds import model_of_costs
from planner.devices.processors import Processors
from planner.errors import InfeasibleError, InputError
from planner.interval import Interval
from planner.quantity import column
from planner.queueing import checks
from planner.render.text import from_to, sentence_case
from planner.units import GIB, ends, given, is_number, percent, readable

LAW: Final = (
    column("law", of=lambda _: "usl"), column("cpu_time", "ms", of="cpu_time"), column("contention"),
    column("coherency"),
)  # fmt: skip
GAIN_NOTE: Final = (
    "As a rule, says the report, the gain grows with contention and with real storage. Its throughput of +21.6% "
    "contradicts the rates of the same runs in Tables 3 and 4, +14.9% (see the errata in data/real-storage)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """Processors that a throughput needs: `count`, and its 90 % interval `low` to `high`; `high` None: no bound."""

    count: int
    low: int
    high: int | None

    @property
    def span(self) -> str:
        """The range in words."""
        return f"{self.low} or more" if self.high is None else from_to(self.low, self.high)


class LeftOutConfiguration(NamedTuple):
    """A configuration as `measured`, as `predicted` from the others, and the relative error [share]."""

    measured: MeasuredConfiguration
    predicted: Interval
    error: float

    @property
    def emulation_time(self) -> float | None:
        """CPU time of a transaction in guests [s]; None if only the sum is known."""
        return None if self.measured.cp_time is None else self.measured.emulation_time


ASKED: Final = {"processors_low": "", "processors_high": "", "wanted_itr": "1/s", "predicted_itr": "1/s",
                "predicted_itr_low": "1/s", "predicted_itr_high": "1/s"}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling(Answer):
    """How throughput scales over measured configurations.

    * `configurations`: what was measured.
    * `model`: the model fitted to all of them, of kind processors.
    * `left_out`: ITR of each configuration, predicted from the others, with its 90 % interval [1/s].
    * `counts`, `real_storage` [bytes], `contention` [1/s] and `wanted` [1/s]: as in `scaling`.
    * `older`: configurations of z/VM 5.2, drawn next to the published ones.
    * `needed`: processors for the wanted throughput.
    """

    PICTURE: ClassVar[str] = "planner.advice.pictures:draw_processors"

    COLUMNS: ClassVar = (
        column("run", of="measured.name"), column("processors", of="measured.processors"),
        column("real_storage", "GB", "storage", of="measured.real_storage"),
        column("emulation_cpu", "ms", "emulation", of="emulation_time"),
        column("cp_cpu", "ms", "CP", of="measured.cp_time"),
        column("itr", "1/s", "ITR", of="measured.internal_throughput"),
        column("left_out_itr", "1/s", "left out", of="predicted.value"),
        column("left_out_error", "percent", "error", 1, lambda row: 100 * row.error),
        column("left_out_low", "1/s", "at least", of="predicted.low"),
        column("left_out_high", "1/s", "at most",
               of=lambda row: row.predicted.high if math.isfinite(row.predicted.high) else None),
    )  # fmt: skip
    ROWS: ClassVar = "compared"
    PARTS: ClassVar = (
        (f"Leave-one-out: each configuration predicted from the others, with its {style.NINETY} interval",
         "run processors real_storage itr left_out_itr left_out_error left_out_low left_out_high"),
    )  # fmt: skip
    FIGURES: ClassVar = (
        column("laws", of=lambda found: [record(found.device, LAW)]),
        column("configurations", of=lambda found: Answer.table(found).records()),
        column("trials"), column("predictions"),
        column("wanted_itr", of="wanted"), column("processors_needed", of="needed.count"),
        column("processors_needed_low", of="needed.low"), column("processors_needed_high", of="needed.high"),
        column("gains"),
    )  # fmt: skip

    configurations: tuple[MeasuredConfiguration, ...]
    model: library.Model
    left_out: tuple[Interval, ...]
    counts: tuple[int, ...] = ()
    real_storage: float | None = None
    contention: float | None = None
    older: tuple[MeasuredConfiguration, ...] = ()
    wanted: float | None = None
    needed: Needed | None = None

    @property
    def device(self) -> Processors:
        """The processors with their coefficients."""
        return Processors.from_model(self.model)

    @property
    def errors(self) -> tuple[float, ...]:
        """Leave-one-out errors: prediction over measurement, minus 1 [share]."""
        pairs = zip(self.left_out, self.configurations, strict=True)
        return tuple(one.value / row.internal_throughput - 1 for one, row in pairs)

    @property
    def median(self) -> float:
        """Median of the absolute errors [share]."""
        return float(np.median(np.abs(self.errors)))

    @property
    def worst(self) -> float:
        """Largest absolute error [share]."""
        return max(map(abs, self.errors))

    def predict(self, processors: int) -> Interval:
        """Predict the ITR of a configuration; storage is assumed to grow with processors as in the measurements.

        >>> rate = scaling(published()).predict(14)
        >>> bool(rate.low < rate.value < rate.high)
        True
        """
        if not is_number(processors):
            raise InputError("processors", processors, "one count; `rates` takes a list of them")
        return self.rates([processors])[0]

    def rates(self, processors: Sequence[int]) -> Interval:
        """Predict several configurations as `predict` does one."""
        return _rates(self.model, processors)

    @property
    def smallest(self) -> MeasuredConfiguration:
        """The configuration with the fewest processors."""
        return min(self.configurations, key=lambda row: row.processors)

    @property
    def predictions(self) -> list[dict[str, float]]:
        """Predictions for each given count, with 90 % intervals."""
        base = self.smallest.internal_throughput
        return [
            {"processors": count, "itr": float(one.value), "itr_low": float(one.low), "itr_high": float(one.high),
             "itr_ratio": float(one.value) / base}
            for count in self.counts
            for one in [self.predict(count)]
        ]  # fmt: skip

    @property
    def headline(self) -> str:
        """Predictions of the given counts, and the leave-one-out errors."""
        judged = (
            f"the model predicts each of {len(self.configurations)} configurations from the others with a median error "
            f"of {percent(self.median)}, at worst {percent(self.worst)}"
        )
        asked = [
            f"{render.counted(one['processors'], 'processor')}: ITR {itr}/s ({low} to {high}/s, {style.NINETY}), "
            f"{readable(one['itr_ratio'])} times that of {self.smallest.processors}"
            for one in self.predictions
            for low, itr, high in [ends(one[key] for key in ("itr_low", "itr", "itr_high"))]
        ]
        if self.needed is not None:
            count = render.counted(self.needed.count, "processor")
            wanted = given(self.wanted or 0.0)
            asked.insert(0, f"ITR {wanted}/s needs {count} ({self.needed.span}, {style.NINETY})")
        return "; ".join([*asked, judged if asked else sentence_case(judged)]) + "."

    @property
    def notes(self) -> tuple[str, ...]:
        """Extrapolations, and effects that the measurements cannot separate."""
        rows, most = self.configurations, max(row.processors for row in self.configurations)
        least = self.smallest.processors
        asked = [*self.counts, *([] if self.needed is None else [self.needed.count])]
        beyond = [str(count) for count in dict.fromkeys(asked) if not least <= count <= most]
        notes = []
        if beyond:
            notes.append(
                f"{least} to {most} processors were measured, not {' or '.join(beyond)}: trust the range, not the "
                "number."
            )
        shares = [row.real_storage / row.processors / GIB for row in rows if row.real_storage is not None]
        if len(shares) == len(rows):
            notes.append(
                f"Real storage grew with the processors, {readable(min(shares))} to {readable(max(shares))} "
                "GB each: their separate effects are unknown."
            )
            for count in self.counts if self.real_storage is not None else ():
                each = (self.real_storage or 0.0) / count / GIB
                if not min(shares) <= each <= max(shares):
                    notes.append(f"{readable(each)} GB for each of {count} processors was not measured.")
        if any(math.isinf(one.high) for one in self.left_out):
            notes.append(
                "Two configurations do not determine the model: their prediction of a third has no upper bound."
            )
        return (*notes, *([] if self.contention is None else [GAIN_NOTE]))

    @property
    def compared(self) -> list[LeftOutConfiguration]:
        """Every configuration with its prediction from the others."""
        return list(map(LeftOutConfiguration, self.configurations, self.left_out, self.errors))

    def table(self) -> render.Table:
        """Configurations, then the answers: run `asked` for a count, `wanted` for a throughput."""
        measured, asked = Answer.table(self), self.asked
        if not asked:
            return measured
        known, nothing = {column.name for column in measured.columns}, [None] * len(self.compared)
        more = (
            render.Column(name=name, unit=unit, values=nothing)
            for name, unit in ASKED.items()
            if name not in known
        )
        return render.Table(columns=tuple(
            replace(column, values=[*column.values, *(row.get(column.name) for row in asked)])
            for column in (*measured.columns, *more)
        ))  # fmt: skip

    @property
    def asked(self) -> list[dict[str, Any]]:
        """A row for each given count, and one for a throughput."""
        rows: list[dict[str, Any]] = [
            {"run": "asked", "processors": int(one["processors"]),
             **{f"predicted_{key}": one[key] for key in ("itr", "itr_low", "itr_high")}}
            for one in self.predictions
        ]  # fmt: skip
        if (at := self.needed) is not None:
            rows.append({"run": "wanted", "processors": at.count, "processors_low": at.low, "processors_high": at.high,
                         "wanted_itr": self.wanted})  # fmt: skip
        return rows

    def sections(self) -> tuple[render.Section, ...]:
        """Configurations without their CPU times; the measured pairs of releases if a contention was given."""
        title, names = self.PARTS[0]
        measured = render.Section(title=title, table=Answer.table(self).pick(names.split()))
        if self.contention is None:
            return (measured,)
        title = "z/VM 5.3 over 5.2, four measured pairs, no model; the nearest is marked"
        return measured, render.Section(table=gain_table(self.contention), title=title)

    @property
    def trials(self) -> list[dict[str, Any]]:
        """Leave-one-out errors as a table [share]."""
        rms = math.sqrt(sum(error**2 for error in self.errors) / len(self.errors))
        return [{"parts": "total", "laws": "usl", "median_error": self.median, "worst_error": self.worst,
                 "rms_error": rms, "errors": list(self.errors)}]  # fmt: skip

    @property
    def gains(self) -> list[dict[str, Any]]:
        """The pairs of releases, if a contention was given."""
        if self.contention is None:
            return []
        pairs = gain_table(self.contention)
        marked = zip(pairs.records(), pairs.marks, strict=True)
        return [{**row, "nearest": bool(mark)} for row, mark in marked]


def scaling(
    configurations: Sequence[MeasuredConfiguration] | Path | str | None = None,
    counts: Sequence[int] = (),
    *,
    real_storage: float | None = None,
    contention: float | None = None,
    wanted: float | None = None,
) -> Scaling:
    """Fit one model to measured configurations and predict each of them from the others.

    Parameters
    ----------
    configurations : sequence of MeasuredConfiguration, Path or str, optional
        At least three, of different numbers of processors, or their CSV file; by default those published of z/VM 5.3.
    counts : sequence of int, optional
        Numbers of processors to predict.
    real_storage : float, optional
        Their real storage [bytes].
    contention : float, optional
        Page reads per second of processor time on z/VM 5.2, to compare the releases [1/s].
    wanted : float, optional
        Throughput for which to find the number of processors [1/s].

    Returns
    -------
    Scaling
        The model, its predictions, and the leave-one-out errors.

    Raises
    ------
    InputError
        Too few configurations, or a count that is not a whole number of at least one.
    ReportError
        The file cannot be read.
    CalibrationError
        A fit failed.
    InfeasibleError
        No number of processors reaches the required throughput.

    Notes
    -----
    ``t(n) = t1 (1 + alpha (n - 1) + beta n (n - 1))``, the Universal Scalability Law in the CPU time of a transaction
    (Gunther 2007, eq. 4.31), fitted as in `planner calibrate --kind processors`. Coefficients that the fit puts at zero
    may still be positive, so all of them count against the degrees of freedom.

    Examples
    --------
    >>> answer = scaling(counts=[14])
    >>> answer.median < 0.05
    True
    """
    if np.ndim(counts) != 1:
        raise InputError("counts", counts, "numbers of processors, such as [14]")
    if contention is not None:
        checks.nonnegative("contention", contention, "1/s")
    older: tuple[MeasuredConfiguration, ...] = ()
    if configurations is None:
        rows, older = published(), published("5.2")
    elif isinstance(configurations, Path | str):
        rows = read_configurations(Path(configurations))
    else:
        rows = tuple(configurations)
        if not all(isinstance(row, MeasuredConfiguration) for row in rows):
            raise InputError(
                "configurations", configurations, "measured configurations; `counts` are predicted"
            )
    model = _model(rows, fit_processors)
    answer = Scaling(
        configurations=rows, model=model, left_out=_left_out(rows), counts=tuple(dict.fromkeys(counts)), older=older,
        real_storage=real_storage, contention=contention, wanted=wanted,
        needed=None if wanted is None else _needed(model, rows, wanted),
    )  # fmt: skip
    if counts:
        answer.rates(counts)  # refuses what is no count
    return answer


def _needed(model: library.Model, rows: Sequence[MeasuredConfiguration], wanted: float) -> Needed:
    """Fewest processors that reach a throughput [1/s], by the model and at both ends of its interval."""
    if not is_number(wanted) or not 0 < wanted < math.inf:
        raise InputError("wanted", wanted, "a finite number above zero", "1/s")
    most = max(row.processors for row in rows)
    # search up to eight times the processors measured
    counts = range(1, 8 * most + 1)
    rates = _rates(model, counts)
    first = [np.flatnonzero(np.asarray(end) >= wanted) for end in (rates.high, rates.value, rates.low)]
    if not first[1].size:
        best = int(np.argmax(rates.value))
        least, top, highest = ends(rates[best])
        raise InfeasibleError(
            f"{given(wanted)}/s is more than up to {counts[-1]} processors reach by the model: {top}/s ({least} to "
            f"{highest}, {style.NINETY}) with {best + 1}; less CPU time per transaction, or a second system, would help"
        )
    low, count, high = (int(each[0]) + 1 if each.size else None for each in first)
    assert count is not None
    return Needed(count=count, low=count if low is None else low, high=high)


@lru_cache(maxsize=64)  # all arguments are immutable
def _model(
    rows: tuple[MeasuredConfiguration, ...], fit: Callable[[Sequence[Measurements]], CostFit]
) -> library.Model:
    return model_of_costs(fit([row.run for row in rows]), title="", files=[])


def _left_out(rows: tuple[MeasuredConfiguration, ...]) -> tuple[Interval, ...]:
    """ITR of each configuration from the others [1/s]."""
    folds = ((row.processors, rows[:k] + rows[k + 1 :]) for k, row in enumerate(rows))
    return tuple(_rates(_model(others, fit_scaling), [count])[0] for count, others in folds)


def _rates(model: library.Model, processors: Sequence[int]) -> Interval:
    counts = checks.count("processors", processors)
    if counts.ndim != 1:
        raise InputError("processors", processors, "a list of counts")
    return interval("itr", model, [{"processors": count} for count in counts.tolist()])
