"""The inverse questions: the fewest aliases that meet a target, with what else the measurement allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from planner import render
from planner.calibrate import fit
from planner.demand import Law, Reading, readings
from planner.devices import Performance, Pool
from planner.errors import InfeasibleError, InputError
from planner.measurements import Run
from planner.results import Array
from planner.units import MILLISECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEFAULT_WAIT_SHARE: Final = 0.05  # of the service time: queueing is gone
PATH_SHARE: Final = 1 / 3  # of the service time in pend or disconnect: the limit lies behind the volume
NORMAL_90: Final = 1.645
SCOPE: Final = (
    "z/VM uses aliases for guest minidisk I/O on volumes attached to SYSTEM; not for dedicated devices, nor for a "
    "queue that a guest keeps itself: it has one I/O at a time to one minidisk."
)
CHI_SQUARE_95: Final = 3.84
ROWS_BEYOND: Final = 2
LARGEST_FITTED_POPULATION: Final = 16
WORSE_IN_A_ROW: Final = 3  # populations far behind the best before the search ends
SAME_RATE: Final = 0.03  # several listings of one rate say nothing about the requesters


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What the aliases must achieve; all that are given must hold.

    With none given, the mean wait is at most 5 % of the service time.

    Attributes
    ----------
    wait, response : float or None
        Largest mean wait and response time [s].
    queued : float or None
        Largest mean number of I/Os queued, of the whole volume or pool.
    no_alias : float or None
        Largest share of tries that find no alias.
    """

    wait: float | None = None
    response: float | None = None
    queued: float | None = None
    no_alias: float | None = None

    def met(self, rows: Performance) -> NDArray[np.bool_]:
        """Tell for each alias count whether the target is met.

        Parameters
        ----------
        rows : Performance
            Shape (counts,).

        Returns
        -------
        ndarray of bool, shape (counts,)
            True where it is.
        """
        limits = {
            "wait_time": self.wait,
            "response_time": self.response,
            "queued": self.queued,
            "no_alias": self.no_alias,
        }
        if all(limit is None for limit in limits.values()):
            return rows.wait_time <= DEFAULT_WAIT_SHARE * rows.service_time
        met = np.ones(rows.aliases.shape, dtype=bool)
        for name, limit in limits.items():
            if limit is not None:
                met &= getattr(rows, name) <= limit
        return met

    def __str__(self) -> str:
        """Say the target in words."""
        words = [
            f"wait at most {self.wait / MILLISECOND:g} ms" if self.wait is not None else "",
            f"response at most {self.response / MILLISECOND:g} ms" if self.response is not None else "",
            f"at most {self.queued:g} I/Os queued" if self.queued is not None else "",
            f"at most {self.no_alias:.3g} of the tries without alias" if self.no_alias is not None else "",
        ]
        return (
            " and ".join(filter(None, words)) or f"wait at most {DEFAULT_WAIT_SHARE:.0%} of the service time"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasAnswer:
    """How many aliases, what they bring, and how far to trust it.

    Attributes
    ----------
    name : str
        Base device or pool.
    recommended : int
        Smallest count that meets the target under the preferred reading, aliases in use included.
    range : tuple of int
        Smallest and largest count over all readings and the rule of thumb.
    rule_of_thumb : int
        Aliases in use plus the summed queue rounded up.
    in_use : int
        Aliases at the time of the measurement.
    target : Target
        What was asked for.
    readings : tuple of tuple of Reading
        Demands that the measurement allows, the preferred one first, each for every class of volumes.
    counts : tuple of int
        The answer under each of them.
    rows : Performance
        Under the preferred reading, one element for each count from 0.
    rate_low, rate_high : ndarray, shape (counts,)
        Bounds of the I/O rate over all readings and the errors of the law, 90 % [1/s].
    measured_rate : float
        I/O rate with the aliases in use [1/s].
    why : str
        The demand in words.
    notes : tuple of str
        What to do next, and where aliases will not help.
    """

    name: str
    recommended: int
    range: tuple[int, int]
    rule_of_thumb: int
    in_use: int
    target: Target
    readings: tuple[tuple[Reading, ...], ...]
    counts: tuple[int, ...]
    rows: Performance
    rate_low: Array
    rate_high: Array
    measured_rate: float
    why: str
    notes: tuple[str, ...]

    def table(self) -> render.Table:
        """One row an alias count; the recommended one and the one in use are marked.

        Returns
        -------
        render.Table
            Times in milliseconds.
        """
        rows, ms = self.rows, MILLISECOND
        marks = tuple(
            "recommended" if count == self.recommended else "in use" if count == self.in_use else ""
            for count in rows.aliases
        )
        columns = (
            ("aliases", "", rows.aliases.astype(int), "aliases", 0),
            ("io_rate", "1/s", rows.io_rate, "I/O rate", 0),
            ("io_rate_low", "1/s", self.rate_low, "from", 0),
            ("io_rate_high", "1/s", self.rate_high, "to", 0),
            ("service", "ms", rows.service_time / ms, "service", 2),
            ("wait", "ms", rows.wait_time / ms, "wait", 2),
            ("response", "ms", rows.response_time / ms, "response", 2),
            ("queued", "", rows.queued, "queued", 2),
            ("no_alias", "share", rows.no_alias, "no alias", 3),
        )
        return render.Table(
            columns=tuple(
                render.Column(name=name, unit=unit, values=values.tolist(), label=label, decimals=decimals)
                for name, unit, values, label, decimals in columns
            ),
            marks=marks,
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, with unit suffixes, as `--json` prints it.

        Returns
        -------
        dict
            Keys as documented for ``planner aliases``.
        """
        first = self.readings[0]
        populations = {reading.population for reading in first}
        thinks = {reading.think_time for reading in first}
        think = thinks.pop() if len(thinks) == 1 else None
        kinds = {reading.kind for reading in first}
        return {
            "recommended": self.recommended,
            "range": list(self.range),
            "rule_of_thumb": self.rule_of_thumb,
            "in_use": self.in_use,
            "target": str(self.target),
            "demand": {
                "kind": kinds.pop() if len(kinds) == 1 else "mixed",
                "population": populations.pop() if len(populations) == 1 else None,
                "think_time_ms": think / MILLISECOND if think is not None else None,
                "why": self.why,
            },
            "rows": self.table().records(),
            "notes": [*self.notes, SCOPE],
        }

    @property
    def spread(self) -> str:
        """The range in words."""
        low, high = self.range
        return f"{low} to {high}" if low != high else f"{low}"

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw I/O rate with its interval and response time against the number of aliases.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Where to draw the rate; new axes where None.

        Returns
        -------
        matplotlib.axes.Axes
            The axes of the rate; the response time has a second scale on the right.
        """
        from matplotlib.ticker import MaxNLocator

        if axes is None:
            from matplotlib.figure import Figure

            axes = Figure(figsize=(7, 4), layout="constrained").subplots()
        counts = self.rows.aliases
        axes.fill_between(
            counts, self.rate_low, self.rate_high, color="0.85", label="I/O rate, 90 % over all readings"
        )
        axes.plot(counts, self.rows.io_rate, "o-", color="black", markersize=4, label="I/O rate")
        axes.axvline(
            self.recommended, color="#0072B2", linestyle="--", label=f"recommended: {self.recommended}"
        )
        if self.in_use <= counts[-1]:
            axes.plot(
                self.in_use,
                self.measured_rate,
                "D",
                color="black",
                markersize=8,
                fillstyle="none",
                label="measured",
            )
        axes.set(xlabel="aliases", ylabel="I/O rate [1/s]", title=self.name, ylim=(0, None))
        right = axes.twinx()
        right.plot(counts, self.rows.response_time / MILLISECOND, "s:", color="#D55E00", markersize=4,
                   label="response time")  # fmt: skip
        right.set(ylabel="response time [ms]", ylim=(0, None))
        handles, labels = axes.get_legend_handles_labels()
        more, more_labels = right.get_legend_handles_labels()
        axes.legend([*handles, *more], [*labels, *more_labels], loc="lower left", frameon=False)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        return axes

    def text(self, *, closing: bool = True) -> str:
        """The answer for people: headline, table, assumption, range, what to do next.

        Parameters
        ----------
        closing : bool, optional
            Whether to say at the end what z/VM uses aliases for.

        Returns
        -------
        str
            Lines of at most 80 columns.
        """
        word = "alias" if self.recommended == 1 else "aliases"
        head = f"{self.name}: {self.recommended} {word} (range {self.spread}; rule of thumb {self.rule_of_thumb})"
        if self.in_use:
            head += f", {self.in_use} in use"
        lines = [head, "", render.to_text(self.table()), ""]
        lines.append(
            "> recommended: " + str(self.target) + ("   * in use" if self.in_use != self.recommended else "")
        )
        for paragraph in (self.why, *self.notes, *([SCOPE] if closing else [])):
            lines.append(render.wrap(paragraph))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return render.to_html(self.table())

    def to_frame(self) -> Any:
        """Return the rows as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            One row an alias count, units in the column names.
        """
        return render.to_frame(self.table())


def aliases(
    runs: Run | Sequence[Run], law: Law, *, target: Target | None = None, growth: float = 0.0
) -> AliasAnswer:
    """Find the smallest number of aliases that meets a target.

    Parameters
    ----------
    runs : Run or sequence of Run
        One measurement of a volume or pool, or several of the same system with different alias counts, of which
        the last is the present state.
    law : Law
        Inflation and redrive gap, with their errors.
    target : Target, optional
        What must be achieved; by default queueing is gone.
    growth : float, optional
        Share by which the demand grows first.

    Returns
    -------
    AliasAnswer
        Counts are totals, aliases in use included.

    Raises
    ------
    InputError
        Growth below -1 or not finite, or measurements of different systems.
    InfeasibleError
        No count that a control unit has room for meets the target.
    ConvergenceError
        A pool could not be solved.
    """
    target = target or Target()
    if not math.isfinite(growth) or growth < 0:
        raise InputError("growth", growth, "a share of zero or more")
    several = (runs,) if isinstance(runs, Run) else tuple(runs)
    run = several[-1]
    combined, fitted, left_out = _readings(several, law)
    pools = [_pool(reading, law, growth) for reading in combined]
    counts = [_fewest(pool, target, run) for pool in pools]
    recommended, rule = counts[0], run.rule_of_thumb
    last = min(max(recommended, rule, run.aliases) + ROWS_BEYOND, run.most_aliases)
    sweep = np.arange(last + 1, dtype=np.float64)
    solved = [pool.solve(sweep) for pool in pools]
    known = None if fitted or growth else run.aliases
    low, high = _rate_interval(solved, pools[0], law, sweep, run.aliases, known)
    return AliasAnswer(
        name=run.name,
        recommended=recommended,
        range=(min([*counts, rule]), max([*counts, rule])),
        rule_of_thumb=rule,
        in_use=run.aliases,
        target=target,
        readings=tuple(combined),
        counts=tuple(counts),
        rows=solved[0],
        rate_low=low,
        rate_high=high,
        measured_rate=run.io_rate,
        why=_why(combined, counts, solved, recommended),
        notes=(*left_out, *_notes(run, recommended, growth, len(combined))),
    )


def _pool(reading: Sequence[Reading], law: Law, growth: float) -> Pool:
    """The pool under one reading of each of its classes; the service time is weighted by rate."""
    classes = tuple(part for each in reading for part in each.volume_class(growth))
    weights = [each.io_rate for each in reading]
    service = float(np.average([each.service_time for each in reading], weights=weights))
    return Pool(classes=classes, service_time=service, inflation=law.inflation, redrive_time=law.redrive_time)


def _readings(runs: Sequence[Run], law: Law) -> tuple[list[tuple[Reading, ...]], bool, tuple[str, ...]]:
    """Readings of a system, the preferred one first: each a reading for every class of its volumes.

    Beside them whether they were fitted to several runs, hence meet none exactly, and what was left out.
    """
    rates = [run.io_rate for run in runs]
    counts = {run.aliases for run in runs}
    if len({(run.bases, run.pool) for run in runs}) > 1:
        raise InputError("listings", [run.name for run in runs], "measurements of the same volumes")
    if len(counts) == 1 or max(rates) <= (1 + SAME_RATE) * min(rates):
        each = [readings(part, law) for part in runs[-1].classes]
        most = max(map(len, each))
        return [tuple(some[min(k, len(some) - 1)] for some in each) for k in range(most)], False, ()
    return _fitted_readings(runs, law)


def _fitted_readings(
    runs: Sequence[Run], law: Law
) -> tuple[list[tuple[Reading, ...]], bool, tuple[str, ...]]:
    """Several alias counts at once: every population whose least-squares fit is nearly as good as the best."""
    fixed = {"inflation": law.inflation, "redrive_time": law.redrive_time}
    fits = []
    for population in range(1, LARGEST_FITTED_POPULATION + 1):
        fits.append(fit(runs, population=population, fixed=fixed))
        behind = [item.chi_square > min(f.chi_square for f in fits) + CHI_SQUARE_95 for item in fits]
        if behind[-WORSE_IN_A_ROW:] == [True] * WORSE_IN_A_ROW:
            break
    best = min(fits, key=lambda item: item.chi_square)
    measured = len(best.comparisons)
    found = [
        Reading(
            kind="closed",
            volumes=runs[-1].bases,
            population=item.population,
            think_time=item.value("think_time"),
            service_time=item.value("service_time"),
            io_rate=runs[-1].io_rate,
            strain=math.sqrt(item.chi_square / measured) / NORMAL_90,
        )
        for item in fits
        if item.chi_square <= best.chi_square + CHI_SQUARE_95
    ]
    left_out = tuple(f"{name} does not belong to the other runs and was left out." for name in best.outliers)
    return [(reading,) for reading in found], True, left_out


def _fewest(pool: Pool, target: Target, run: Run) -> int:
    """Smallest count that meets the target, by sweeps of growing length."""
    closed = all(not math.isnan(part.population) for part in pool.classes)
    enough = sum(part.volumes * (part.population - 1) for part in pool.classes) if closed else math.inf
    limit = int(min(run.most_aliases, enough))
    first, length = 0, max(4, min(run.rule_of_thumb + 2, 32))
    while True:
        counts = np.arange(first, min(first + length, limit + 1), dtype=np.float64)
        rows = pool.solve(counts)
        met = target.met(rows)
        if met.any():
            return int(counts[int(np.argmax(met))])
        first, length = first + length, 2 * length
        if first > limit:
            break
    wait = rows.wait_time[-1] / MILLISECOND
    raise InfeasibleError(
        f"{run.name}: no count up to {limit} aliases meets the target ({target}); with {limit} the wait is "
        f"{wait:.3g} ms, the response {rows.response_time[-1] / MILLISECOND:.3g} ms of which "
        f"{rows.service_time[-1] / MILLISECOND:.3g} ms are service, which aliases do not shorten"
    )


def _rate_interval(
    solved: Sequence[Performance], pool: Pool, law: Law, sweep: Array, in_use: int, known: int | None
) -> tuple[Array, Array]:
    """Lowest and highest rate over the readings, widened by the errors of the law (90 %).

    The errors of inflation and gap count from the count in use, where the demand was read; at the count `known`
    the rate itself was measured.
    """
    rates = np.array([rows.io_rate for rows in solved])
    base = np.log(rates[0])
    shifts = [np.full(sweep.shape, law.model_error)]
    for key, error in (("inflation", law.inflation_error), ("redrive_time", law.redrive_error)):
        if error > 0:
            moved = replace(pool, **{key: getattr(pool, key) * math.exp(error)}).solve(sweep)
            shift = np.log(moved.io_rate) - base
            shifts.append(shift - shift[min(in_use, len(shift) - 1)])
    sigma = np.sqrt(sum(shift**2 for shift in shifts))
    if known is not None:
        sigma = np.where(sweep == known, 0.0, sigma)
    spread = np.exp(NORMAL_90 * sigma)
    return rates.min(axis=0) / spread, rates.max(axis=0) * spread


def _why(
    combined: Sequence[Sequence[Reading]],
    counts: Sequence[int],
    solved: Sequence[Performance],
    recommended: int,
) -> str:
    """Name the reading that was taken and what the others would say."""
    first = combined[0]
    text = "; ".join(dict.fromkeys(reading.words() for reading in first))
    if any(not reading.fits for reading in first):
        text += " (nearest: no demand fits the printed digits)"
    others = [
        f"{_short(reading)}: {count} and {rows.io_rate[recommended]:.0f}/s"
        for reading, count, rows in list(zip(combined, counts, solved, strict=True))[1:]
    ]
    rate = solved[0].io_rate[recommended]
    text = f"Demand: {text}; {recommended} would give {rate:.0f}/s."
    if others:
        text += f" The measurement also fits {', '.join(others)} with {recommended}."
    return text


def _short(reading: Sequence[Reading]) -> str:
    kinds = {each.population for each in reading if each.population is not None}
    if not kinds:
        return "open arrivals"
    return f"{min(kinds)} requesters" if len(kinds) == 1 else f"{min(kinds)} to {max(kinds)} requesters"


def _notes(run: Run, recommended: int, growth: float, readings_left: int) -> tuple[str, ...]:
    """What to do next, and where aliases will not help."""
    notes = list(run.notes)
    if growth:
        notes.append(f"Demand grown by {growth:.0%} first; requesters rounded up to whole ones.")
    if recommended == 0 and run.aliases == 0:
        notes.append("Aliases will not help: no I/Os are waiting.")
    if run.path_share is not None and run.path_share > PATH_SHARE:
        notes.append(
            f"Pend or disconnect takes {run.path_share:.0%} of the service time: the limit lies behind the volume, "
            "in channels or storage server; look there before adding aliases."
        )
    if run.cu_wait:
        notes.append("The control unit is waited for (CUWt above 0): the limit lies behind the volume.")
    if recommended > run.aliases:
        more = recommended - run.aliases
        text = f"Next: add {more} alias{'es' if more > 1 else ''} and measure again"
        tells = "; both listings together, of two alias counts, tell how many requesters there are"
        notes.append(text + (tells if readings_left > 1 else "") + ".")
    elif recommended < run.aliases:
        notes.append(
            f"Next: {run.aliases - recommended} of the {run.aliases} aliases in use could serve elsewhere."
        )
    elif run.aliases:
        notes.append("Next: nothing; the aliases in use are enough and none is too many.")
    return tuple(notes)


def together(answers: Sequence[AliasAnswer]) -> render.Table:
    """Join the tables of several answers, with a column that names the device.

    Parameters
    ----------
    answers : sequence of AliasAnswer
        One or more.

    Returns
    -------
    render.Table
        The rows of all; without the extra column where there is one answer.
    """
    tables = [answer.table() for answer in answers]
    if len(tables) == 1:
        return tables[0]
    names = [answer.name for answer, table in zip(answers, tables, strict=True) for _ in range(len(table))]
    joined = [
        replace(column, values=[value for table in tables for value in table.columns[k].values])
        for k, column in enumerate(tables[0].columns)
    ]
    return render.Table(columns=(render.Column(name="device", unit="", values=names), *joined))
