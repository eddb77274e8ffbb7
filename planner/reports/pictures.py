"""What measurements look like: bars, one a device, pool or data space, with nothing but what is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from planner import style
from planner.units import MILLISECOND, readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from planner.reports.device_rows import Device

PARTS: Final = ("pend", "disconnect", "connect")
FEWEST: Final = 6  # devices that a picture has room for, twice as many as rows
MOST_BARS: Final = 60
CAVEAT: Final = (
    "With HyperPAV aliases at work the printed response, and so the wait, is not that of the volume."
)


def stacked_times(
    headline: str, names: Sequence[str], parts: Mapping[str, Sequence[float]], *, aliases: bool,
    axes: Axes | None = None, side_by_side: int = 10,
) -> Axes:  # fmt: skip
    """Draw of what the response time of each device consists: `parts` by name, from below [ms]; none without I/O."""
    if len(names) > MOST_BARS:
        totals = [sum(column) for column in zip(*parts.values(), strict=True)]
        kept = sorted(sorted(range(len(names)), key=lambda k: -totals[k])[:MOST_BARS])
        headline = f"{headline} The {MOST_BARS} longest of {len(names)} devices."
        names = [names[k] for k in kept]
        parts = {part: [values[k] for k in kept] for part, values in parts.items()}
    (axes,) = style.begin(axes, f"{headline} {CAVEAT}" if aliases else headline)
    style.stacked(axes, names, parts)
    aside = 0.8 + max(FEWEST - len(names), 0) / 2
    axes.set_xlim(-aside, len(names) - 1 + aside)
    axes.tick_params(axis="x", rotation=90 if len(names) > side_by_side else 0)
    axes.set(xlabel="device", ylabel="time of an I/O [ms]")
    style.legend_below(axes)
    return axes


def device_times(headline: str, rows: Sequence[Device]) -> Axes:
    """Draw of what the response time of each device consists: the three parts of service and the wait."""
    heights = {
        part: [value.value / MILLISECOND if (value := getattr(row, part)) else 0.0 for row in rows]
        for part in PARTS
    }
    return stacked_times(
        headline, [row.address for row in rows], {**heights, "wait": list(map(_wait, rows))},
        aliases=any(row.is_hyperpav_alias for row in rows),
    )  # fmt: skip


def _wait(row: Device) -> float:
    """Response less service [ms]; 0 where the listing prints no response time."""
    if row.response is None or row.service is None:
        return 0.0
    return max(row.response.value - row.service.value, 0.0) / MILLISECOND


def bars(
    headline: str, rows: Sequence[tuple[str, float]], what: str, of: str, axes: Axes | None = None
) -> Axes:
    """Draw one number of each row as a bar across, the first on top; `what` and `of` say what numbers and names are."""
    shown = rows[:MOST_BARS]
    if len(rows) > len(shown):
        headline = f"{headline} The first {MOST_BARS} of {len(rows)}."
    (axes,) = style.begin(axes, headline, height=1.4 + 0.24 * max(len(shown), FEWEST / 2))
    drawn = axes.barh(
        [name for name, _ in shown], [number for _, number in shown], height=0.6, color=style.COLORS[0]
    )
    axes.bar_label(drawn, [readable(each) for _, each in shown], padding=4, fontsize="small")
    axes.margins(x=0.12)
    axes.set(xlabel=what, ylabel=of, ylim=(max(len(shown), 2) - 0.4, -0.6))
    return axes
