"""Scaling with processors: laws fitted to measured configurations, chosen by leave-one-out error; predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from planner import render, style
from planner.devices.processors.configurations import Configuration
from planner.devices.processors.interval import transaction_time_interval
from planner.devices.processors.trials import PARTS, Trial, combined_throughput, folds, try_out
from planner.errors import InputError
from planner.tabular import Tabular
from planner.units import GIB, MILLISECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEWEST: Final = 3  # configurations


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """ITR of a configuration: `processors`, `itr` and its 90 % interval `low` to `high` [1/s]."""

    processors: int
    itr: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling(Tabular):
    """How ITR scales over measured `configurations`; `trials` has the best way first."""

    configurations: tuple[Configuration, ...]
    trials: tuple[Trial, ...]

    @property
    def chosen(self) -> Trial:
        """The way that predicts left-out configurations best."""
        return self.trials[0]

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

        Examples
        --------
        >>> from planner.devices.processors import published
        >>> answer = scaling(published()).predict(14)
        >>> answer.low < answer.itr < answer.high
        True
        """
        if not 1 <= processors < math.inf or processors != int(processors):
            raise InputError("processors", processors, "a whole number of at least 1")
        return _bounded(self.configurations, processors, combined_throughput(self.chosen.laws, processors))

    def left_out(self) -> tuple[Prediction, ...]:
        """Each configuration, predicted by the chosen way from the others.

        Returns
        -------
        tuple of Prediction
            In the order of the configurations.
        """
        pairs = zip(folds(self.configurations), self.chosen.left_out, strict=True)
        return tuple(_bounded(others, one.processors, itr) for (one, others), itr in pairs)

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
        highs = [one.high if math.isfinite(one.high) else None for one in out]
        itr = [row.internal_throughput for row in rows]
        return render.Table(
            columns=(
                render.Column(name="run", unit="", values=[row.name for row in rows]),
                render.Column(name="processors", unit="", values=[row.processors for row in rows]),
                render.Column(name="real_storage", unit="GB", label="storage", values=storage),
                render.Column(name="emulation_cpu", unit="ms", label="emulation", values=emulation),
                render.Column(name="cp_cpu", unit="ms", label="CP", values=cp),
                render.Column(name="itr", unit="1/s", label="ITR", values=itr),
                render.Column(
                    name="left_out_itr", unit="1/s", label="left out", values=[one.itr for one in out]
                ),
                render.Column(
                    name="left_out_error", unit="percent", label="error", values=errors, decimals=1
                ),
                render.Column(
                    name="left_out_low", unit="1/s", label="at least", values=[one.low for one in out]
                ),
                render.Column(name="left_out_high", unit="1/s", label="at most", values=highs),
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
        """One row a way to reckon; the one in use is marked.

        Returns
        -------
        render.Table
            Leave-one-out errors in percent.
        """
        return render.Table(
            columns=(
                render.Column(name="parts", unit="", label="CPU time", values=[one.parts for one in self.trials]),
                render.Column(name="laws", unit="", label="law", values=[one.name for one in self.trials]),
                *(
                    render.Column(name=name, unit="percent", decimals=1,
                                  values=[100 * getattr(one, name) for one in self.trials])
                    for name in ("median", "worst", "rms")
                ),
            ),
            marks=tuple("recommended" if one is self.chosen else "" for one in self.trials),
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Lay out for JSON.

        Returns
        -------
        dict
            Errors as shares.
        """
        return {
            "laws": [
                {"law": law.name, "cpu_time_ms": law.device.cpu_time / MILLISECOND,
                 "contention": law.device.contention, "coherency": law.device.coherency}
                for law in self.chosen.laws
            ],
            "configurations": self.table().records(),
            "trials": [
                {"parts": one.parts, "laws": one.name, "median_error": one.median, "worst_error": one.worst,
                 "rms_error": one.rms, "errors": list(one.errors)}
                for one in self.trials
            ],
        }  # fmt: skip

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
        axes = style.new_axes()
        pairs = sorted(
            zip(self.configurations, self.left_out(), strict=True), key=lambda pair: pair[0].processors
        )
        rows, out = zip(*pairs, strict=True)
        base = rows[0]
        itr = base.internal_throughput
        known = all(row.real_storage is not None for row in (*rows, *beside))

        def place(row: Configuration) -> float:
            return row.real_storage / GIB if known and row.real_storage is not None else row.processors

        x = [place(row) for row in rows]
        ends = [[one.itr - one.low, one.high - one.itr] for one in out if math.isfinite(one.high)]
        bars = np.transpose(ends) / itr if len(ends) == len(out) else None
        axes.plot(
            x,
            [row.processors / base.processors for row in rows],
            "--",
            color=style.COLORS[0],
            label="processors",
        )
        axes.errorbar(x, [one.itr / itr for one in out], bars, fmt="x", color=style.COLORS[1], markersize=9, capsize=4,
                      label=f"left out, by {self.chosen.name}, 90%")  # fmt: skip
        axes.plot(x, [row.internal_throughput / itr for row in rows], "o-", color=style.MEASURED, zorder=style.ABOVE,
                  label="ITR")  # fmt: skip
        if beside:
            axes.plot([place(row) for row in beside], [row.internal_throughput / itr for row in beside], "s-",
                      color=style.MEASURED, fillstyle="none", zorder=style.ABOVE, label=label)  # fmt: skip
        axes.set(
            xlabel="real storage [GB]" if known else "processors",
            ylabel=f"ratio to {base.name}",
            ylim=(0, None),
        )
        axes.legend(frameon=False)
        return axes


def scaling(configurations: Sequence[Configuration]) -> Scaling:
    """Fit laws to measured configurations and choose what predicts left-out configurations best.

    Parameters
    ----------
    configurations : sequence of Configuration
        At least three, of different numbers of processors.

    Returns
    -------
    Scaling
        One law for the whole CPU time of a transaction, or one each for emulation and CP where they are
        known.

    Raises
    ------
    InputError
        Too few configurations.
    CalibrationError
        A fit failed.

    Notes
    -----
    `planner.queueing.fit_usl` chooses between linear, Amdahl and the Universal Scalability Law for each
    part, anew whenever a configuration is left out. Parts add up: ``ITR = n / (emulation + CP)``.

    Examples
    --------
    >>> from planner.devices.processors import published
    >>> scaling(published()).chosen.parts
    'emulation+CP'
    """
    rows = tuple(configurations)
    if len({row.processors for row in rows}) < FEWEST:
        counts = [row.processors for row in rows]
        raise InputError("configurations", counts, f"at least {FEWEST} different numbers of processors")
    split = all(row.cp_time is not None for row in rows)
    ways = [parts for parts in PARTS if split or parts == "total"]
    trials = sorted((try_out(rows, parts) for parts in ways), key=lambda trial: trial.rms)
    return Scaling(configurations=rows, trials=tuple(trials))


def _bounded(rows: Sequence[Configuration], processors: int, itr: float) -> Prediction:
    """Put the interval around a prediction; it always holds the prediction itself."""
    shortest, longest = transaction_time_interval(
        [row.processors for row in rows], [row.cpu_time for row in rows], processors
    )
    high = processors / shortest if shortest > 0 else math.inf
    return Prediction(processors=processors, itr=itr, low=min(processors / longest, itr), high=max(high, itr))
