"""Keeps what pages say of their accuracy: `python -m tests.page.accuracy` writes the summary of the scoreboard again.

To compute it for every page would take longer than most answers.
"""

from __future__ import annotations

from dataclasses import replace

from planner import render
from planner.page.layout import ACCURACY
from planner.published import scoreboard


def summary() -> str:
    """The summary as it is kept, to a tenth of a percent."""

    def rounded(column: render.Column) -> render.Column:
        if column.unit != "percent":
            return column
        return replace(column, values=[None if each is None else round(each, 1) for each in column.values])

    return render.to_csv(scoreboard().summary().each(rounded))


if __name__ == "__main__":
    ACCURACY.write_text(summary(), encoding="utf-8")
