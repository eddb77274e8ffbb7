"""One published figure beside what the planner says of it, and how that came about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from planner.scoreboard.span import Span

Kind = Literal["identity", "fitted", "left-out", "transferred", "input", "not modelled"]
KINDS: Final[tuple[Kind, ...]] = ("identity", "fitted", "left-out", "transferred", "input", "not modelled")
ANSWERED: Final = ("identity", "fitted", "left-out", "transferred")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A published figure.

    Attributes
    ----------
    report, table, row, column : str
        Where it stands; `report` is the folder in data/.
    published : Span
        As printed, in the printed unit.
    kind : str
        One of `KINDS`.
    predicted : Span or None
        What the planner says; an identity has the ends that rounding leaves open.
    group : str
        What accuracy is stated for; empty where none is.
    erratum : str
        Entry in source.toml that explains why an identity does not hold.
    outlier : bool
        Whether it is a named outlier, shown and not counted.
    counts_items : bool
        Whether it is a queue length or a like number that is scored in items, not in percent.
    note : str
        Where the prediction comes from, or why there is none.
    """

    report: str
    table: str
    row: str
    column: str
    published: Span
    kind: Kind
    predicted: Span | None = None
    group: str = ""
    erratum: str = ""
    outlier: bool = False
    counts_items: bool = False
    note: str = ""

    @property
    def difference(self) -> float | None:
        """Predicted less published, in the printed unit."""
        return None if self.predicted is None else self.predicted.value - self.published.value

    @property
    def relative_error(self) -> float | None:
        """Difference over published; None where there is none, for 0 and for numbers of items."""
        if self.difference is None or self.published.value == 0 or self.counts_items:
            return None
        return self.difference / abs(self.published.value)

    @property
    def holds(self) -> bool:
        """Whether an identity holds within the printed rounding, or an erratum says why not."""
        if self.kind != "identity" or self.predicted is None:
            return True
        return self.predicted.meets(self.published) or bool(self.erratum)

    @property
    def remark(self) -> str:
        """The note with what stands beside it."""
        parts = [self.note]
        if self.relative_error is None and self.difference is not None:
            parts.append(f"off by {self.difference:+.3g}")
        if self.erratum:
            parts.append(f"erratum {self.erratum}")
        if self.outlier:
            parts.append("named outlier")
        return "; ".join(filter(None, parts))

    def record(self) -> dict[str, Any]:
        """Plain data, as `--json` prints it.

        Returns
        -------
        dict
            Keys as documented in docs/scoreboard.md.
        """
        return {
            "report": self.report,
            "table": self.table,
            "figure": f"{self.row} {self.column}",
            "row": self.row,
            "column": self.column,
            "published": self.published.value,
            "predicted": None if self.predicted is None else self.predicted.value,
            "relative_error": self.relative_error,
            "kind": self.kind,
            "note": self.remark,
        }
