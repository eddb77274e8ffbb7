"""Scaling with processors: laws fitted to measured configurations, chosen by leave-one-out error; predictions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from planner import render
from planner.devices.processors.configurations import Configuration
from planner.devices.processors.law import Processors
from planner.errors import CalibrationError, InputError
from planner.results import Array
from planner.units import GIB, MILLISECOND

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

LAWS: Final = {"linear": 1, "amdahl": 2, "usl": 3}  # with their number of coefficients
FEWEST: Final = 3  # configurations
USL_INTERVAL_FROM: Final = 5  # configurations: fewer leave the three coefficients less than two degrees of freedom
CONFIDENCE: Final = 0.9
MODEL_ERROR_FLOOR: Final = 0.02  # residuals of a good fit say nothing about what was not measured
FAR: Final = 1e3  # times the fitted CPU time; an interval that reaches so far has no end on that side
SEPARATOR: Final = "+"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One way to reckon, and how well it predicts each configuration from the others.

    `laws` holds one law for the whole CPU time, or two for emulation and CP apart; `errors` are predicted / measured ITR - 1,
    one a configuration [share].
    """

    laws: tuple[str, ...]
    errors: tuple[float, ...]

    @property
    def name(self) -> str:
        """As ``usl``, or ``usl+linear`` for emulation and CP."""
        return SEPARATOR.join(self.laws)

    @property
    def median(self) -> float:
        """Median of the absolute errors [share]."""
        return float(np.median(np.abs(self.errors)))

    @property
    def worst(self) -> float:
        """Largest absolute error [share]."""
        return max(map(abs, self.errors))

    @property
    def rms(self) -> float:
        """Root mean square of the errors [share]; the trial with the least is chosen."""
        return math.sqrt(sum(error**2 for error in self.errors) / len(self.errors))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """ITR of a configuration: `processors`, `itr` and its 90 % interval `low` to `high` [1/s]."""

    processors: int
    itr: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """How ITR scales over measured `configurations`; `trials` has the best way first, `chosen` is the one in use."""

    configurations: tuple[Configuration, ...]
    trials: tuple[Trial, ...]
    chosen: Trial

    @property
    def parts(self) -> tuple[Processors, ...]:
        """The fitted laws: of the whole CPU time, or of emulation and CP."""
        return tuple(_device(part) for part in _fit_parts(self.configurations, self.chosen.laws))

    def predict(self, processors: int) -> Prediction:
        """Predict the ITR of a configuration whose storage grows along as in the measurements.

        Parameters
        ----------
        processors : int
            Number of processors.

        Returns
        -------
        Prediction
            With an interval that holds 90 %.

        Raises
        ------
        InputError
            Not a whole number of at least one.

        Notes
        -----
        The interval is made of all ITRs that, added as one more measurement, raise the squared relative misfit of the law by no
        more than ``(t s)^2``: Student's t for the degrees of freedom, s the larger of the residual and of 2 %. For
        a linear law without bounds that is the classical prediction interval. The law is the Universal Scalability Law
        from five configurations on, below Amdahl's, whichever law was chosen: scaling that looked perfect so far must be able
        to bend.

        Examples
        --------
        >>> from planner.devices.processors import published
        >>> answer = scaling(published()).predict(14)
        >>> answer.low < answer.itr < answer.high
        True
        """
        if not 1 <= processors < math.inf or processors != int(processors):
            raise InputError("processors", processors, "a whole number of at least 1")
        return _predict(self.configurations, self.chosen.laws, processors)

    def left_out(self) -> tuple[Prediction, ...]:
        """Each configuration, predicted by the chosen way from the others.

        Returns
        -------
        tuple of Prediction
            In the order of the configurations.
        """
        pairs = _left_out(self.configurations)
        return tuple(_predict(others, self.chosen.laws, one.processors) for one, others in pairs)

    def table(self) -> render.Table:
        """One row a configuration: measured, and predicted from the others.

        Returns
        -------
        render.Table
            ITR per second, CPU times in milliseconds.
        """
        rows, out = self.configurations, self.left_out()
        storage = [None if row.real_storage is None else row.real_storage / GIB for row in rows]
        cp = [None if row.cp_time is None else row.cp_time / MILLISECOND for row in rows]
        emulation = [None if row.cp_time is None else row.emulation_time / MILLISECOND for row in rows]
        errors = [100 * error for error in self.chosen.errors]
        return render.Table(
            columns=(
                render.Column(name="run", unit="", values=[row.name for row in rows]),
                render.Column(name="processors", unit="", values=[row.processors for row in rows]),
                render.Column(name="real_storage", unit="GB", label="storage", values=storage),
                render.Column(name="emulation_cpu", unit="ms", label="emulation", values=emulation),
                render.Column(name="cp_cpu", unit="ms", label="CP", values=cp),
                render.Column(name="itr", unit="1/s", label="ITR", values=[row.internal_throughput for row in rows]),
                render.Column(name="left_out_itr", unit="1/s", label="left out", values=[one.itr for one in out]),
                render.Column(name="left_out_error", unit="percent", label="error", values=errors, decimals=1),
                render.Column(name="left_out_low", unit="1/s", label="at least", values=[one.low for one in out]),
                render.Column(name="left_out_high", unit="1/s", label="at most", values=[_finite(one.high) for one in out]),
            )
        )

    def summary(self) -> render.Table:
        """Keep the columns of `table` that fit a screen.

        Returns
        -------
        render.Table
            Without the CPU times.
        """
        columns = (column for column in self.table().columns if not column.name.endswith("_cpu"))
        return render.Table(columns=tuple(columns))

    def trial_table(self) -> render.Table:
        """One row a way to reckon, the best first; the one in use is marked.

        Returns
        -------
        render.Table
            Leave-one-out errors in percent.
        """
        return render.Table(
            columns=(
                render.Column(name="law", unit="", values=[trial.name for trial in self.trials]),
                *(
                    render.Column(name=name, unit="percent", decimals=2,
                                  values=[100 * getattr(trial, name) for trial in self.trials])
                    for name in ("median", "worst", "rms")
                ),
            ),
            marks=tuple("recommended" if trial == self.chosen else "" for trial in self.trials),
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Lay out for JSON.

        Returns
        -------
        dict
            Errors as shares.
        """
        return {
            "law": self.chosen.name,
            "parts": [
                {"cpu_time_ms": part.cpu_time / MILLISECOND, "contention": part.contention, "coherency": part.coherency}
                for part in self.parts
            ],
            "configurations": self.table().records(),
            "laws": [
                {"law": trial.name, "median": trial.median, "worst": trial.worst, "rms": trial.rms,
                 "errors": list(trial.errors)}
                for trial in self.trials
            ],
        }  # fmt: skip

    def to_frame(self) -> pd.DataFrame:
        """Return the table as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            One row a configuration.
        """
        return render.to_frame(self.table())

    def _repr_html_(self) -> str:
        return render.to_html(self.table())

    def plot(self, beside: Sequence[Configuration] = (), label: str = "") -> Axes:
        """Draw ITR and processors, relative to the smallest configuration, against real storage.

        Parameters
        ----------
        beside : sequence of Configuration, optional
            Others to show relative to the same base.
        label : str, optional
            What they are.

        Returns
        -------
        matplotlib.axes.Axes
            Against processors where storage is not known; bars are the intervals of what was left out.
        """
        from matplotlib.figure import Figure

        axes = Figure(layout="constrained").subplots()
        rows = sorted(self.configurations, key=lambda row: row.processors)
        base = rows[0]
        known = all(row.real_storage is not None for row in (*rows, *beside))
        itr = base.internal_throughput

        def place(row: Configuration) -> float:
            return row.real_storage / GIB if known and row.real_storage is not None else row.processors

        axes.plot([place(row) for row in rows], [row.processors / base.processors for row in rows], "--",
                  color="gray", label="processors")  # fmt: skip
        axes.plot([place(row) for row in rows], [row.internal_throughput / itr for row in rows], "o-", color="black",
                  label="ITR")  # fmt: skip
        out = [_predict(others, self.chosen.laws, one.processors) for one, others in _left_out(tuple(rows))]
        ends = [[one.itr - one.low, one.high - one.itr] for one in out if math.isfinite(one.high)]
        bars = np.transpose(ends) / itr if len(ends) == len(out) else None
        axes.errorbar([place(row) for row in rows], [one.itr / itr for one in out], bars, fmt="x", color="gray", capsize=3,
                      label=f"left out, by {self.chosen.name}")  # fmt: skip
        if beside:
            axes.plot([place(row) for row in beside], [row.internal_throughput / itr for row in beside], "s-",
                      color="black", fillstyle="none", label=label)  # fmt: skip
        axes.set(xlabel="real storage [GB]" if known else "processors", ylabel=f"ratio to {base.name}", ylim=(0, None))
        axes.legend(frameon=False)
        return axes


def scaling(configurations: Sequence[Configuration], law: str | None = None) -> Scaling:
    """Fit every law that the configurations allow and choose the one that predicts left-out configurations best.

    Parameters
    ----------
    configurations : sequence of Configuration
        At least three, of different numbers of processors.
    law : str, optional
        Take this one instead: ``linear``, ``amdahl`` or ``usl`` for the whole CPU time, or two of them joined by + for
        emulation and CP.

    Returns
    -------
    Scaling
        With the leave-one-out errors of all.

    Raises
    ------
    InputError
        Too few configurations, or no such law.

    Notes
    -----
    Each law is fitted by least squares of the relative error of the CPU time, with coefficients that cannot be negative.

    Examples
    --------
    >>> from planner.devices.processors import published
    >>> scaling(published()).chosen.name
    'usl'
    """
    rows = tuple(configurations)
    if len({row.processors for row in rows}) < FEWEST or len(rows) < FEWEST:
        raise InputError(
            "configurations", [row.processors for row in rows], f"at least {FEWEST}, of different numbers of processors"
        )
    names = [name for name, coefficients in LAWS.items() if coefficients < len(rows)]
    ways: list[tuple[str, ...]] = [(name,) for name in names]
    if all(row.cp_time is not None for row in rows):
        ways += itertools.product(names, repeat=2)
    trials = sorted((_try(rows, laws) for laws in ways), key=_preference)
    by_name = {trial.name: trial for trial in trials}
    if law is not None and law not in by_name:
        raise InputError("law", law, f"one of {', '.join(by_name)}")
    return Scaling(configurations=rows, trials=tuple(trials), chosen=by_name[law] if law else trials[0])


def _preference(trial: Trial) -> tuple[float, int]:
    """Least leave-one-out error first; of equal ones that with fewer coefficients."""
    return round(trial.rms, 6), sum(LAWS[law] for law in trial.laws)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _left_out(rows: tuple[Configuration, ...]) -> list[tuple[Configuration, tuple[Configuration, ...]]]:
    """Each configuration with all others."""
    return [(row, rows[:index] + rows[index + 1 :]) for index, row in enumerate(rows)]


def _try(rows: tuple[Configuration, ...], laws: tuple[str, ...]) -> Trial:
    errors = [
        _internal_throughput(_fit_parts(others, laws), one.processors) / one.internal_throughput - 1
        for one, others in _left_out(rows)
    ]
    return Trial(laws=laws, errors=tuple(errors))


def _fit_parts(rows: Sequence[Configuration], laws: tuple[str, ...]) -> list[Array]:
    """Coefficients of one law for the whole CPU time, or of one each for emulation and CP."""
    processors = np.array([row.processors for row in rows], dtype=float)
    if len(laws) == 1:
        return [_fit(processors, np.array([row.cpu_time for row in rows]), laws[0])[0]]
    times = ([row.emulation_time for row in rows], [row.cp_time or 0.0 for row in rows])
    return [_fit(processors, np.array(part), law)[0] for part, law in zip(times, laws, strict=True)]


def _basis(processors: Array) -> Array:
    """What each coefficient multiplies: the time on one processor, contention, coherency."""
    return np.stack([np.ones_like(processors), processors - 1, processors * (processors - 1)], axis=-1)


def _fit(processors: Array, times: Array, law: str) -> tuple[Array, float]:
    """Fit one law: three coefficients [s], and the sum of the squared relative errors."""
    from scipy.optimize import nnls

    free = _basis(processors)[:, : LAWS[law]] / times[:, None]
    found, misfit = nnls(free, np.ones_like(times))
    return np.append(found, np.zeros(len(LAWS) - LAWS[law])), misfit**2


def _time(coefficients: Array, processors: float) -> float:
    """CPU time of a transaction [s]."""
    return float(_basis(np.asarray(float(processors))) @ coefficients)


def _internal_throughput(parts: Sequence[Array], processors: int) -> float:
    return processors / sum(_time(part, processors) for part in parts)


def _device(coefficients: Array) -> Processors:
    """The device that has these coefficients."""
    first, *growth = coefficients.tolist()
    if not first > 0:
        raise CalibrationError(
            "the CPU time of a transaction grows so fast with the processors that none is left for a single one"
        )
    return Processors(cpu_time=first, contention=growth[0] / first, coherency=growth[1] / first)


def _predict(rows: Sequence[Configuration], laws: tuple[str, ...], processors: int) -> Prediction:
    """Point by the laws, interval by the law that may bend; the interval always holds the point."""
    itr = _internal_throughput(_fit_parts(rows, laws), processors)
    longest, shortest = _interval(rows, processors)
    high = processors / shortest if shortest > 0 else math.inf
    return Prediction(processors=processors, itr=itr, low=min(processors / longest, itr), high=max(high, itr))


def _interval(rows: Sequence[Configuration], processors: int) -> tuple[float, float]:
    """Longest and shortest CPU time of a transaction that do not contradict the measurements [s]."""
    from scipy.optimize import brentq
    from scipy.stats import t

    law = "usl" if len(rows) >= USL_INTERVAL_FROM else "amdahl"
    counts = np.array([row.processors for row in rows], dtype=float)
    times = np.array([row.cpu_time for row in rows])
    freedom = len(rows) - LAWS[law]
    if not freedom:
        return math.inf, 0.0
    fitted, misfit = _fit(counts, times, law)
    sigma = max(math.sqrt(misfit / freedom), MODEL_ERROR_FLOOR)
    allowed = (float(t.ppf((1 + CONFIDENCE) / 2, freedom)) * sigma) ** 2
    center = _time(fitted, processors)

    def excess(factor: float) -> float:
        return _fit(np.append(counts, processors), np.append(times, factor * center), law)[1] - misfit - allowed

    longest = brentq(excess, 1.0, FAR) * center if excess(FAR) > 0 else math.inf
    shortest = brentq(excess, 1 / FAR, 1.0) * center if excess(1 / FAR) > 0 else 0.0
    return longest, shortest
