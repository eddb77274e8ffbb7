"""What every pool of a site needs: the answer, in a sentence, a row a pool, and what to do on Monday."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from planner import render
from planner.answer import Answer
from planner.site.pool_need import ENOUGH, SHORT, TOO_MANY, UNKNOWN, PoolNeed
from planner.site.screen import Checked
from planner.sizing.target import Target

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from planner.demand import Law

MOST_SHOWN: Final = 40  # rows for people; all of them in CSV and JSON
FEWEST_CHECKED: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SiteAnswer(Answer):
    """What every pool, and every volume with aliases of its own, needs over its days.

    Attributes
    ----------
    pools : tuple of PoolNeed
        Those that are short first.
    target : Target
        What the aliases must achieve.
    meet : float
        Share of the busy time in which they must.
    checked : Checked
        Intervals that were interpolated and then solved in full.
    remarks : tuple of str
        What reading the measurements left open.
    failed : tuple of tuple
        Parts without any answer: name and problem.
    law : Law or None
        What it was reckoned with, for whoever asks more.
    """

    pools: tuple[PoolNeed, ...]
    target: Target
    meet: float
    checked: Checked = field(default_factory=Checked)
    remarks: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    law: Law | None = None

    def of(self, verdict: str) -> list[PoolNeed]:
        """List the pools of one verdict.

        Parameters
        ----------
        verdict : str
            "short", "enough", "too many" or "unknown".

        Returns
        -------
        list of PoolNeed
            In the order of the answer.
        """
        return [each for each in self.pools if each.verdict == verdict]

    @property
    def exit_code(self) -> int:
        """1 where a pool is short; 2 where a part has no answer."""
        if self.failed:
            return 2
        return 1 if self.of(SHORT) else 0

    @property
    def headline(self) -> str:
        """How many are short, and have aliases to give."""
        from planner.site.site_wording import headline

        return headline(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """How it was found, what is uneven, what to do."""
        from planner.site.site_wording import notes

        return notes(self)

    def table(self) -> render.Table:
        """One row a pool.

        Returns
        -------
        render.Table
            With all columns.
        """
        from planner.site.site_wording import table

        return table(self.pools)

    def sections(self) -> tuple[render.Section, ...]:
        """One row a pool; of one pool its hours and its worst intervals.

        Returns
        -------
        tuple of render.Section
            For people.
        """
        from planner.site.site_wording import sections

        return sections(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, as ``--json`` prints it.

        Returns
        -------
        dict
            `pools`, `all`, `notes`.
        """
        known = [each.needed_99 for each in self.pools if each.needed_99 is not None]
        return {
            "pools": [each.to_dict() for each in self.pools],
            "all": {
                "pools": len(self.pools),
                "short": len(self.of(SHORT)),
                "too_many": len(self.of(TOO_MANY)),
                "in_use": sum(each.in_use for each in self.pools),
                "needed_99": sum(known),
                "enough": len(self.of(ENOUGH)),
                "unknown": len(self.of(UNKNOWN)),
                "to_gain": sum(each.to_gain for each in self.pools),
                "intervals": sum(each.intervals for each in self.pools),
                "solved_in_full": sum(each.solved_in_full for each in self.pools),
                "checked": self.checked.tried,
                "checked_same": self.checked.same,
                "checked_short": self.checked.short,
            },
            "headline": self.headline,
            "target": str(self.target),
            "meet": self.meet,
            "failed": [{"part": name, "problem": problem} for name, problem in self.failed],
            "notes": list(self.notes),
        }

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw in use and needed of each pool with its range; of one pool, the need over time.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Where to draw; new axes where None.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from planner.site.site_picture import draw

        return draw(self, axes)
