"""The HyperPAV report: I/O rate over aliases, asked from the run without aliases, and what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from planner import sizing, style
from planner.demand import Law
from planner.library import data_path, read_model
from planner.measurements import intervals, read, system_runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from planner.measurements import Run

PUBLICATION: Final = "hyperpav"
# Each system is judged by a law that was fitted to the other one.
VOLUME: Final = ("522A-0-aliases", "522A-1-alias", "522A-2-aliases")
VOLUME_LAW: Final = "hyperpav-pool-runs"
ALL_RUNS: Final = "hyperpav"  # where the outlier is named
POOL: Final = ("pool-0-aliases", "pool-8-aliases", "pool-16-aliases")
POOL_LAW: Final = "hyperpav-volume-runs"


def volume_over_aliases() -> Axes:
    """I/O rate of volume 522A over its classic PAV aliases.

    Returns
    -------
    matplotlib.axes.Axes
        The band of the answer, and the three published runs.
    """
    return _over_aliases(VOLUME, VOLUME_LAW, "Volume 522A, law fitted to the pool alone")


def pool_over_aliases() -> Axes:
    """I/O rate of the pool of eight volumes over its HyperPAV aliases.

    Returns
    -------
    matplotlib.axes.Axes
        The band of the answer, and the three published runs.
    """
    return _over_aliases(POOL, POOL_LAW, "Pool 522A-5231, law fitted to volume 522A alone")


def _over_aliases(names: tuple[str, ...], law: str, title: str) -> Axes:
    runs = [_run(name) for name in names]
    answer = sizing.aliases(runs[0], Law.from_model(law))
    axes = style.new_axes()
    counts = answer.rows.aliases
    axes.fill_between(
        counts, answer.rate_low, answer.rate_high, color=style.COLORS[0], alpha=style.BAND,
        label="all readings of the run without aliases, 90%",
    )  # fmt: skip
    axes.plot(counts, answer.rows.io_rate, color=style.COLORS[0], label="preferred reading")
    named = read_model(ALL_RUNS).fit.outliers
    axes.plot(
        [run.aliases for run in runs], [run.total_rate.value for run in runs], "o", color=style.MEASURED, zorder=style.ABOVE,
        clip_on=False, label="measured",
    )  # fmt: skip
    for run in runs:
        if f"{run.source} {run.name} +{run.aliases}" in named:
            axes.annotate("named outlier:\nits service time", (run.aliases, run.total_rate.value), (8, -4),
                          textcoords="offset points", va="top", fontsize="small")  # fmt: skip
    axes.set(xlabel="aliases", ylabel="I/O rate [1/s]", title=title, ylim=(0, None))
    style.whole_numbers(axes)
    axes.legend(frameon=False, loc="lower right")
    return axes


def _run(name: str) -> Run:
    """The volume or the pool of a listing."""
    (rows,) = intervals(read(data_path(PUBLICATION, f"{name}.listing")))
    (run,) = system_runs(rows)
    return run
