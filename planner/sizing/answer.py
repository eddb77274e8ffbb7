"""The answer to how many aliases: its numbers, and how people, programs and pictures get them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from planner import render
from planner.demand import Reading
from planner.devices import Performance
from planner.results import Array
from planner.sizing.comparison import Gain
from planner.sizing.target import Target
from planner.tabular import Tabular
from planner.units import MILLISECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCOPE: Final = (
    "z/VM uses aliases for guest minidisk I/O on volumes attached to SYSTEM; not for dedicated devices, nor for a "
    "queue that a guest keeps itself: it has one I/O at a time to one minidisk."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasAnswer(Tabular):
    """How many aliases, what they bring, and how far to trust it.

    Attributes
    ----------
    name : str
        Base device or pool.
    recommended : int
        Smallest count that meets the target under the preferred reading, aliases in use included.
    range : tuple of int
        Smallest and largest count over all readings and the rule of thumb.
    rule_of_thumb : int or None
        Aliases in use plus the summed queue rounded up; None where the queue was not measured.
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
    response_low, response_high : ndarray, shape (counts,)
        Bounds of the response time, likewise; inf where a queue may grow without bound [s].
    measured_rate : float
        I/O rate with the aliases in use [1/s].
    classic : int or None
        Aliases that classic PAV would take for the same target; None for one volume, or where it cannot meet it.
    gains : tuple of Gain
        What a volume of each class gets from the recommended aliases.
    grouping_error : float
        Relative error of the wait of a volume that taking nearly equal volumes as one class makes; inf where it is
        not known.
    why : str
        The demand in words.
    notes : tuple of str
        What to do next, and where aliases will not help.
    """

    name: str
    recommended: int
    range: tuple[int, int]
    rule_of_thumb: int | None
    in_use: int
    target: Target
    readings: tuple[tuple[Reading, ...], ...]
    counts: tuple[int, ...]
    rows: Performance
    rate_low: Array
    rate_high: Array
    response_low: Array
    response_high: Array
    measured_rate: float
    classic: int | None
    gains: tuple[Gain, ...]
    grouping_error: float
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

    def counters(self) -> render.Table:
        """What the supply counters of the pool would show, one row an alias count.

        Returns
        -------
        render.Table
            Tries and fails a second, medians of the fewest and the most free aliases of a minute.
        """
        rows = self.rows
        columns = (
            ("aliases", "", rows.aliases.astype(int)),
            ("tries_rate", "1/s", rows.tries),
            ("fails_rate", "1/s", rows.fails),
            ("fewest_free", "", rows.fewest_free.astype(int)),
            ("most_free", "", rows.most_free.astype(int)),
        )
        return render.Table(
            columns=tuple(
                render.Column(name=name, unit=unit, values=values.tolist()) for name, unit, values in columns
            )
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
            "counters": self.counters().records(),
            "classic_aliases": self.classic,
            "gains": [gain.to_dict() for gain in self.gains],
            "grouping_error": self.grouping_error,
            "notes": [*self.notes, SCOPE],
        }

    @property
    def spread(self) -> str:
        """The range in words."""
        low, high = self.range
        return f"{low} to {high}" if low != high else f"{low}"

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw I/O rate and response time with their intervals against the number of aliases.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Where to draw the rate; new axes where None.

        Returns
        -------
        matplotlib.axes.Axes
            The axes of the rate; the response time has a second scale on the right.
        """
        import numpy as np

        from planner import style

        axes = style.new_axes(7, 4.6) if axes is None else axes
        rate_color, response_color = style.MEASURED, style.COLORS[1]
        counts = self.rows.aliases
        axes.fill_between(counts, self.rate_low, self.rate_high, color="0.85", label="I/O rate, 90 %")
        axes.plot(counts, self.rows.io_rate, "o-", color=rate_color, markersize=4, label="I/O rate")
        axes.axvline(
            self.recommended, color=style.COLORS[0], linestyle="--", label=f"recommended: {self.recommended}"
        )
        if self.in_use <= counts[-1]:
            axes.plot(
                self.in_use,
                self.measured_rate,
                "D",
                color=style.MEASURED,
                markersize=8,
                fillstyle="none",
                label="measured",
            )
        axes.set(xlabel="aliases", ylabel="I/O rate [1/s]", title=self.name, ylim=(0, None))
        right = axes.twinx()
        bounded = np.isfinite(self.response_high)
        right.fill_between(counts[bounded], self.response_low[bounded] / MILLISECOND,
                           self.response_high[bounded] / MILLISECOND, facecolor="none", edgecolor=response_color,
                           hatch="..", linewidth=0.4, alpha=0.45, label="response time, 90 %")  # fmt: skip
        right.plot(counts, self.rows.response_time / MILLISECOND, "s:", color=response_color, markersize=4,
                   label="response time", clip_on=False)  # fmt: skip
        right.set(ylabel="response time [ms]", ylim=(0, None))
        handles, labels = axes.get_legend_handles_labels()
        more, more_labels = right.get_legend_handles_labels()
        axes.legend([*handles, *more], [*labels, *more_labels], loc="upper center", ncols=3,
                    bbox_to_anchor=(0.5, -0.14), frameon=False)  # fmt: skip
        style.whole_numbers(axes)
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
        rule = "" if self.rule_of_thumb is None else f"; rule of thumb {self.rule_of_thumb}"
        head = f"{self.name}: {self.recommended} {word} (range {self.spread}{rule})"
        if self.in_use:
            head += f", {self.in_use} in use"
        lines = [head, "", render.to_text(self.table()), ""]
        lines.append(
            "> recommended: " + str(self.target) + ("   * in use" if self.in_use != self.recommended else "")
        )
        for paragraph in (self.why, *self.notes, *([SCOPE] if closing else [])):
            lines.append(render.wrap(paragraph))
        return "\n".join(lines)


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
