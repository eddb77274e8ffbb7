"""What a model says, one row a scenario: as a table, JSON, text, in a notebook, drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from planner import render, style
from planner.devices.kinds import KINDS
from planner.devices.parameters import Parameter
from planner.devices.question import Question, Scenario, Shown, Value
from planner.results import Array
from planner.tabular import Tabular
from planner.units import MEGABYTE, MILLISECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# SI unit of a key: unit in which it is shown, SI units in one of them.
DISPLAYED: Final = {
    "s": ("ms", MILLISECOND),
    "s_per_mb": ("ms/MB", MILLISECOND),
    "bytes_per_s": ("MB/s", float(MEGABYTE)),
}
OR_MORE: Final = "or more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Tabular):
    """What a model says.

    Attributes
    ----------
    title : str
        What the model was calibrated to.
    kind : str
        Its device kind.
    keys : tuple of str
        What was varied.
    known : mapping
        What was varied or set, by key.
    settings : tuple of mapping
        Values of all that was asked, SI, one a row.
    best, low, high : mapping
        Figures and the ends of their 90 % intervals by key, SI, each of shape (rows,); an upper end that nothing
        bounds is infinite, an interval that is not known is nan.
    warnings : tuple of str
        Where the question leaves what was measured.
    """

    title: str
    kind: str
    keys: tuple[str, ...]
    known: Mapping[str, Question | Parameter]
    settings: tuple[Scenario, ...]
    best: Mapping[str, Array]
    low: Mapping[str, Array]
    high: Mapping[str, Array]
    warnings: tuple[str, ...]

    @property
    def figures(self) -> tuple[Shown, ...]:
        """What the kind answers with."""
        found: tuple[Shown, ...] = KINDS[self.kind].FIGURES
        return found

    def table(self) -> render.Table:
        """All numbers with the ends of their intervals, for CSV and JSON.

        Returns
        -------
        render.Table
            One row a scenario; an end that nothing bounds is infinite.
        """
        columns = self._settings()
        for shown in self.figures:
            rows = {"": self.best, "_low": self.low, "_high": self.high}
            for end, values in rows.items():
                numbers = (values[shown.key] / shown.factor).tolist()
                if end and np.isnan(values[shown.key]).all():
                    continue
                label = shown.label + end.replace("_", " ")
                columns.append(
                    render.Column(name=shown.key + end, unit=shown.unit, label=label, values=numbers)
                )
        return render.Table(columns=tuple(columns))

    def shown(self) -> render.Table:
        """The same for people: each number with +/- half of its interval, or "or more" where it has no upper end.

        Returns
        -------
        render.Table
            One row a scenario.
        """
        columns = self._settings()
        for shown in self.figures:
            best, low, high = (
                values[shown.key] / shown.factor for values in (self.best, self.low, self.high)
            )
            columns.append(
                render.Column(name=shown.key, unit=shown.unit, label=shown.label, decimals=shown.decimals,
                              values=best.tolist())
            )  # fmt: skip
            if np.isnan(low).all():
                continue
            texts = [_half(*ends, shown.decimals) for ends in zip(best, low, high, strict=True)]
            width = max(map(len, texts))
            columns.append(
                render.Column(name=f"{shown.key}_half", unit="", label="+/-".rjust(width),
                              values=[text.rjust(width) for text in texts])
            )  # fmt: skip
        return render.Table(columns=tuple(columns))

    def _settings(self) -> list[render.Column]:
        """Columns of what was varied or set."""
        found = []
        for key, what in self.known.items():
            unit, factor = DISPLAYED.get(what.unit, (what.unit, 1.0))
            values = [_plain(each[key], factor, what) for each in self.settings]
            found.append(render.Column(name=key, unit=unit, values=values))
        return found

    def text(self) -> str:
        """Table, and what the +/- mean.

        Returns
        -------
        str
            Lines.
        """
        lines = [self.title, "", render.to_text(self.shown()), "", "+/- is half of the 90 % interval."]
        if any(
            (np.isposinf(self.high[key]) & np.isfinite(values)).any() for key, values in self.best.items()
        ):
            lines.append(
                render.wrap('"or more": the measurements set no upper end; the lower one is in --json.')
            )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The only row as plain data, or all `rows`.

        Returns
        -------
        dict
            Scalars with their unit as a suffix; an end that nothing bounds is infinite, which JSON shows as null.
        """
        records = self.table().records()
        return records[0] if not self.keys else {"rows": records}

    def _repr_html_(self) -> str:
        return f"<p>{self.title}</p>{render.to_html(self.shown())}" + "".join(
            f"<p>{warning}</p>" for warning in self.warnings
        )

    def plot(self, figure: str | None = None, axes: Axes | None = None) -> Axes:
        """Draw a figure with its band against what was varied first, one line for each value of the others.

        Parameters
        ----------
        figure : str, optional
            Its key; the first that the kind answers with where None.
        axes : matplotlib.axes.Axes, optional
            Where to draw; new axes where None.

        Returns
        -------
        matplotlib.axes.Axes
            The axes, labeled with units; a band without upper end reaches the top.
        """
        axes = style.new_axes(7.0, 4.0) if axes is None else axes
        shown = next((each for each in self.figures if each.key == figure), self.figures[0])
        first, *others = self.keys or tuple(self.known)
        lines: dict[tuple[Value, ...], list[int]] = {}
        for k, each in enumerate(self.settings):
            lines.setdefault(tuple(each[key] for key in others), []).append(k)
        columns = {column.name: column for column in self._settings()}
        x = columns[first].values
        best, low, high = (values[shown.key] / shown.factor for values in (self.best, self.low, self.high))
        finite = np.concatenate([part[np.isfinite(part)] for part in (best, high)])
        top = 1.1 * float(finite.max(initial=0.0)) or 1.0
        for places in lines.values():
            label = ", ".join(_worded(columns[key], places[0]) for key in others)
            at = [x[k] for k in places]
            (line,) = axes.plot(at, best[places], "o-", markersize=3, linewidth=1, label=label or shown.label)
            axes.fill_between(
                at, np.nan_to_num(low[places], nan=0.0), np.clip(high[places], None, 2 * top),
                color=line.get_color(), alpha=0.15, linewidth=0,
            )  # fmt: skip
        unit = f" [{columns[first].unit}]" if columns[first].unit not in {"", "share"} else ""
        axes.set(xlabel=f"{first}{unit}", ylabel=f"{shown.label} [{shown.unit}]" if shown.unit else shown.label,
                 title=self.title, ylim=(0, top))  # fmt: skip
        axes.legend(frameon=False, title="band: 90 %")
        return axes


def _half(best: float, low: float, high: float, decimals: int) -> str:
    if np.isposinf(high) and np.isfinite(best):
        return OR_MORE
    return render.format_value((high - low) / 2 if np.isfinite(high) and np.isfinite(low) else None, decimals)


def _plain(value: Value, factor: float, what: Question | Parameter) -> Value | int:
    if isinstance(value, str):
        return value
    whole = (isinstance(what, Question) and what.whole) or what.key == "population"
    return int(value) if whole else value / factor


def _worded(column: render.Column, place: int) -> str:
    value, unit = column.values[place], column.unit if column.unit != "share" else ""
    return f"{column.name} {value if isinstance(value, str) else f'{value:g}'} {unit}".rstrip()
