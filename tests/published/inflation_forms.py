"""Whose concurrency makes I/Os slower, the volume's or the pool's: both laws fitted to the published runs.

`python -m tests.published.inflation_forms` prints the comparison that docs/decisions.md quotes; needs numba. Both laws
are judged by the same simulation, so that no approximation stands between a law and what was measured. One set
(think time, service time, inflation, gap) is fitted to all runs but the outlier, split between bases and aliases.
"""

# ruff: noqa: NPY002, PLR0912, PLR0915 - one loop over events, with the generator that numba compiles
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

try:
    from numba import njit
except ImportError:  # the test that needs it skips itself; collecting this file must not fail

    def njit(function):
        return function


from planner.library import data_path
from planner.reports import read_devices

REQUESTERS = 3
EVENTS = 500_000
SEED = 5
MODEL_ERROR = 0.02  # relative; of present I/Os for a queue: the floor of `planner calibrate`
PART_ROUNDING = 0.1e-3 / np.sqrt(12.0)  # of each of the three parts of a service time [s]
RUNS = ("522A-0-aliases", "522A-2-aliases", "pool-0-aliases", "pool-8-aliases", "pool-16-aliases")
START = (0.153e-3, 1.288e-3, 0.16, 0.059e-3)
FIGURES = ("base rate", "alias rate", "base service", "alias service", "queue")


@njit
def _simulate(volumes, aliases, think, service, inflation, gap, pool_wide, events, seed):
    """Ends of bases and aliases, time in service on both, I/Os queued over time, and the time."""
    np.random.seed(seed)
    base, gaps, queued = np.zeros(volumes), np.zeros(volumes), np.zeros(volumes)
    held, held_gap = np.zeros(volumes), np.zeros(volumes)
    rates = np.zeros((volumes, 5))
    sums = np.zeros(6)
    free, waiting = aliases, 0
    for event in range(events):
        serving = base.sum() + held.sum()
        second_moment = 1.0 + inflation * max(serving / volumes - 1.0, 0.0)
        for v in range(volumes):
            own = base[v] + held[v]
            slow = service * (second_moment if pool_wide else 1.0 + inflation * max(own - 1.0, 0.0))
            present = own + gaps[v] + held_gap[v] + queued[v]
            rates[v, 0] = (3.0 - present) / think
            rates[v, 1] = base[v] / slow
            rates[v, 2] = held[v] / slow
            rates[v, 3] = gaps[v] / gap
            rates[v, 4] = held_gap[v] / gap
        total = rates.sum()
        if event > events // 20:
            step = 1.0 / total
            sums[2] += step * base.sum()
            sums[3] += step * held.sum()
            sums[4] += step * queued.sum()
            sums[5] += step
        point = np.random.random() * total
        v, kind = 0, 0
        while point >= rates[v, kind]:
            point -= rates[v, kind]
            kind += 1
            if kind == 5:
                kind, v = 0, v + 1
                if v == volumes:
                    v, kind, point = 0, 0, -1.0
        if kind == 0 and rates[v, 0] > 0.0:
            if base[v] + gaps[v] == 0.0:
                base[v] = 1.0
            elif free > 0:
                free -= 1
                held[v] += 1.0
            else:
                queued[v] += 1.0
                waiting += 1
        elif kind == 1:
            if event > events // 20:
                sums[0] += 1.0
            base[v] = 0.0
            if queued[v] > 0.0:
                queued[v] -= 1.0
                waiting -= 1
                gaps[v] = 1.0
        elif kind == 2:
            if event > events // 20:
                sums[1] += 1.0
            held[v] -= 1.0
            if waiting > 0:
                point = np.random.random() * waiting
                w = 0
                while point >= queued[w]:
                    point -= queued[w]
                    w += 1
                queued[w] -= 1.0
                waiting -= 1
                held_gap[w] += 1.0
            else:
                free += 1
        elif kind == 3:
            gaps[v], base[v] = 0.0, 1.0
        elif kind == 4:
            held_gap[v] -= 1.0
            held[v] += 1.0
    return sums


@dataclass(frozen=True)
class Run:
    """The figures of a run, nan where there is no alias, and their errors on the scale of comparison."""

    name: str
    volumes: int
    aliases: int
    figures: np.ndarray
    errors: np.ndarray
    present: float


def published(name):
    """Rates [1/s], service times [s] and queue of the bases and the aliases of a run."""
    (listing,) = read_devices(data_path("hyperpav", f"{name}.listing"))
    groups = ([], [])
    for row in listing.rows:
        groups[row.is_hyperpav_alias or row.is_classic_alias].append(row)
    rates = np.array([sum(row.io_rate.value for row in group) or np.nan for group in groups])
    service = [sum(r.io_rate.value * r.service.value for r in group) for group in groups] / rates
    queue = sum(row.queued.value for row in listing.rows)
    errors = []
    for group, rate, time in zip(groups, rates, service, strict=True):
        count = max(len(group), 1)
        errors.append((np.sqrt(count / 12.0) / rate, np.sqrt(3.0 / count) * PART_ROUNDING / time))
    (base, base_service), (alias, alias_service) = errors
    present = float(np.nansum(rates * service)) + queue
    half = max((row.queued.high - row.queued.value) for row in groups[0]) / np.sqrt(3.0)
    rounding = np.array([base, alias, base_service, alias_service, half * np.sqrt(len(groups[0])) / present])
    return Run(
        name,
        len(groups[0]),
        len(groups[1]),
        np.array([*rates, *service, queue]),
        np.hypot(rounding, MODEL_ERROR),
        present,
    )


def predicted(run, parameters, pool_wide, events=EVENTS):
    """The same figures by a law."""
    ends = _simulate(run.volumes, run.aliases, *parameters, pool_wide, events, SEED)
    time = ends[5]
    with np.errstate(invalid="ignore"):
        return np.array([*ends[:2] / time, *ends[2:4] / ends[:2], ends[4] / time])


def residuals(runs, parameters, pool_wide, events=EVENTS):
    """Each figure off, in errors of the measurement: rates and times in logarithms, queues against all I/Os present."""
    found = []
    for run in runs:
        guess = predicted(run, parameters, pool_wide, events)
        off = np.append(np.log(guess[:4] / run.figures[:4]), (guess[4] - run.figures[4]) / run.present)
        found.append(off / run.errors)
    return np.array(found)


def fitted(runs, pool_wide, events=EVENTS):
    """The parameter set with the least sum of squares."""
    from scipy.optimize import least_squares

    def misfit(logs):
        off = residuals(runs, np.exp(logs), pool_wide, events)
        return off[np.isfinite(off)]

    # The same random numbers at every step keep the sum smooth enough for differences of 2 %.
    found = least_squares(misfit, np.log(START), diff_step=0.02, xtol=1e-4, ftol=1e-5, max_nfev=25)
    return np.exp(found.x)


def comparison(events=EVENTS):
    """Parameters, residuals and chi-square of both laws: {"volume": ..., "pool": ...}."""
    runs = [published(name) for name in RUNS]
    found = {}
    for name, pool_wide in (("volume", False), ("pool", True)):
        parameters = fitted(runs, pool_wide, events)
        off = residuals(runs, parameters, pool_wide, events)
        found[name] = (parameters, off, float(np.nansum(off**2)))
    return runs, found


def report():
    """The comparison as a table."""
    runs, found = comparison()
    lines = ["service grows with the I/Os in service of", f"{'':24}the volume  the pool"]
    for label, place, unit in (("think time [ms]", 0, 1e3), ("service time [ms]", 1, 1e3), ("inflation", 2, 1.0),
                               ("gap [ms]", 3, 1e3)):  # fmt: skip
        lines.append(
            f"{label:24}{found['volume'][0][place] * unit:10.3f}{found['pool'][0][place] * unit:10.3f}"
        )
    lines.append("off, in errors of the measurement:")
    for row, run in enumerate(runs):
        for column, figure in enumerate(FIGURES):
            if np.isfinite(run.figures[column]):
                pair = [found[name][1][row, column] for name in ("volume", "pool")]
                lines.append(f"{run.name:16} {figure:14}" + "".join(f"{each:+8.1f}" for each in pair))
    lines.append(f"{'chi-square':24}{found['volume'][2]:10.0f}{found['pool'][2]:10.0f}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(report())
