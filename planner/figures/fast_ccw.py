"""The report on fast CCW translation: CP time per MB of its sixteen runs beside the fitted costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.advice.channel_program import channel_programs

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def cp_time_per_mb() -> Axes:
    """CP time per MB of each width and way of translation.

    Returns
    -------
    matplotlib.axes.Axes
        Bars of the law with the interval of about 95 % of the runs; points of the published runs.
    """
    return channel_programs(31, 0.0).plot()
