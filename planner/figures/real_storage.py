"""The report on real storage: its figure 530stgf1, and throughput over processors beside the fitted law."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from planner import style
from planner.advice.processors import published, scaling
from planner.library import data_path
from planner.reports import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PUBLICATION: Final = "real-storage"
MOST_PROCESSORS: Final = 16


def scaling_over_storage() -> Axes:
    """Figure 1 (530stgf1): ITR ratios of z/VM 5.2 and 5.3 and processor ratio over real storage.

    Returns
    -------
    matplotlib.axes.Axes
        All ratios are to z/VM 5.3 in 64 GB.
    """
    older, newer = (read_table(data_path(PUBLICATION, f"table-{number}.csv")) for number in (3, 4))
    curves = (
        (newer, "Processor Ratio", "processors", "--", "^"),
        (newer, "ITR Ratio", "ITR, z/VM 5.3", "-", "o"),
        (older, "ITR Ratio; base = 530 64G", "ITR, z/VM 5.2", "-", "s"),
    )
    axes = style.new_axes()
    for color, (table, row, label, line, marker) in zip(style.COLORS, curves, strict=False):
        runs = table.columns[2:]
        axes.plot(
            [table.value("Real Storage (GB)", run) for run in runs], [table.value(row, run) for run in runs],
            line, marker=marker, color=color, label=label,
        )  # fmt: skip
    axes.set(
        xlabel="real storage [GB]", ylabel="ratio to z/VM 5.3 in 64 GB", xlim=(0, None), ylim=(0, None),
        title="Storage and processor scaling",
    )  # fmt: skip
    axes.legend(frameon=False)
    return axes


def rate_over_processors() -> Axes:
    """Internal throughput rate over processors, z/VM 5.3.

    Returns
    -------
    matplotlib.axes.Axes
        The law with its 90 % interval, the five published runs, and each as predicted from the other four.
    """
    rows = published()
    fitted = scaling(rows)
    counts = np.arange(min(row.processors for row in rows), MOST_PROCESSORS + 1)
    law = fitted.rates(counts.tolist())
    axes = style.new_axes()
    axes.fill_between(
        counts, law.low, law.high, color=style.COLORS[0], alpha=style.BAND, label=f"law, {style.NINETY}",
    )  # fmt: skip
    most = max(row.processors for row in rows)
    for part, line, label in (
        (counts <= most, "-", "law, fitted to all five runs"),
        (counts >= most, ":", "beyond what was measured"),
    ):
        axes.plot(counts[part], law.value[part], line, color=style.COLORS[0], label=label)
    out = fitted.left_out
    axes.errorbar(
        [row.processors for row in rows], [one.value for one in out],
        [[one.value - one.low for one in out], [one.high - one.value for one in out]], fmt="x", color=style.COLORS[1],
        markersize=9, capsize=4, label=f"each from the other four runs, {style.NINETY}",
    )  # fmt: skip
    axes.plot(
        [row.processors for row in rows], [row.internal_throughput for row in rows], "o", color=style.MEASURED,
        zorder=style.ABOVE, label="measured",
    )  # fmt: skip
    axes.set(
        xlabel="processors",
        ylabel="internal throughput rate [transactions/s]",
        title="Apache on z/VM 5.3",
        ylim=(0, None),
    )
    style.whole_numbers(axes)
    axes.legend(frameon=False, loc="upper left")
    return axes
