"""Backtest of growth methods on seeded series whose truth is known: ``python -m tests.site.growth_backtest``.

``python -m tests.site.growth_backtest planner 300 walk=.15 season=.2 days=550`` has levels that wander, and seasons.

The methods that `docs/growth-methods.md` compares: the planner's own, and three of kept libraries. Two of them need
statsmodels (extra `bench`).
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from datetime import date

import numpy as np

from planner.results import Array
from planner.site.growth.dates import Future, month_forms, passing_days, quantiles
from planner.site.growth.draws import TrendDraws, fit_days
from planner.site.growth.model import YEAR
from tests.site.growth_series import Known, make

MONDAY = date(2025, 1, 6)
AHEAD = 180
HORIZON = 1826
TUNING, JUDGING = (101, 102), (9001, 9002)
Ends = tuple[Array, Array, Array]  # of the level: low, high; of the trend: low


def fit_known(known: Known) -> TrendDraws:
    days = known.values.shape[1]
    return fit_days(known.values, np.arange(days) % 7, month_forms(MONDAY, days))


def planner(known: Known) -> Ends:
    """The planner's own: generalized least squares, phi and doubtful shifts integrated out."""
    return ends_of(fit_known(known))


def ends_of(fit: TrendDraws) -> Ends:
    low, high = quantiles(fit.level(fit.last + AHEAD), (0.05, 0.95))
    return low, high, quantiles(fit.slope / fit.first_level, (0.05,))[0]


def _regressors(days: int, step: int | None) -> Array:
    day = np.arange(days)
    columns = [np.ones(days), day / YEAR]
    if step is not None:
        columns.append((day >= step).astype(float))
    return np.column_stack(columns)


def without_week(known: Known) -> Array:
    """Days over the true factor of their weekday, which the methods of libraries are given for nothing."""
    return known.values / known.week[:, np.arange(known.values.shape[1]) % 7]


def _best_step(values: Array) -> int | None:
    """The day of a shift by least squares, where the criterion of Schwarz speaks for one."""
    there = np.flatnonzero(np.isfinite(values))
    base = _regressors(values.size, None)[there]
    rest = np.full(values.size, np.inf)
    none = np.linalg.lstsq(base, values[there], rcond=None)[1][0]
    for step in range(10, values.size - 10):
        columns = np.column_stack([base, there >= step])
        found = np.linalg.lstsq(columns, values[there], rcond=None)[1]
        rest[step] = found[0] if found.size else np.inf
    best = int(np.argmin(rest))
    return best if there.size * np.log(none / rest[best]) > 2 * np.log(there.size) else None


def _ends(at: Array, parameters: Array, covariance: Array) -> tuple[float, float, float]:
    """90 % of the level some days on, and the low end of the trend."""
    level, error = at @ parameters, np.sqrt(at @ covariance @ at)
    share, slope_error = parameters[1] / parameters[0], np.sqrt(covariance[1, 1]) / parameters[0]
    return level - 1.645 * error, level + 1.645 * error, share - 1.645 * slope_error


def glsar(known: Known) -> Ends:
    """statsmodels GLSAR(1): line, step by BIC of least squares; gaps closed up."""
    import statsmodels.api as sm

    found = []
    days = known.values.shape[1]
    for values in without_week(known):
        step = _best_step(values)
        there = np.isfinite(values)
        columns = _regressors(days, step)
        fit = sm.GLSAR(values[there], columns[there], rho=1).iterative_fit(5)
        at = _regressors(days + AHEAD, step)[-1]
        found.append(_ends(at, fit.params, fit.cov_params()))
    return tuple(np.array(found).T)  # type: ignore[return-value]


def sarimax(known: Known) -> Ends:
    """statsmodels SARIMAX(1, 0, 0) with regressors: line, step by BIC of least squares."""
    from statsmodels.tsa.statespace.sarimax import SARIMAX

    found = []
    days = known.values.shape[1]
    for values in without_week(known):
        step = _best_step(values)
        columns = _regressors(days, step)
        scale = np.nanmean(values)
        fit = SARIMAX(values / scale, exog=columns, order=(1, 0, 0)).fit(disp=0, maxiter=100)
        many = columns.shape[1]
        at = _regressors(days + AHEAD, step)[-1]
        ends = _ends(at, fit.params[:many], fit.cov_params()[:many, :many])
        found.append((ends[0] * scale, ends[1] * scale, ends[2]))
    return tuple(np.array(found).T)  # type: ignore[return-value]


def theil_sen(known: Known, *, block: int = 28, draws: int = 100) -> Ends:
    """scipy theilslopes on days over their weekday's factor, with a moving-block bootstrap of the residuals."""
    from scipy.stats import theilslopes

    rng = np.random.default_rng(7)
    days = known.values.shape[1]
    day = np.arange(days)
    found = []
    for values in without_week(known):
        there = np.flatnonzero(np.isfinite(values))
        t, y = day[there] / YEAR, values[there]
        slope, intercept = theilslopes(y, t)[:2]
        rest = y - intercept - slope * t
        levels, trends = [], []
        for _ in range(draws):
            begin = rng.integers(0, rest.size - block, rest.size // block + 1)
            again = rest[(begin[:, None] + np.arange(block)).ravel()[: rest.size]]
            s, i = theilslopes(intercept + slope * t + again, t)[:2]
            levels.append(i + s * (days - 1 + AHEAD) / YEAR)
            trends.append(s / i)
        found.append((*np.quantile(levels, (0.05, 0.95)), np.quantile(trends, 0.05)))
    return tuple(np.array(found).T)  # type: ignore[return-value]


METHODS: dict[str, Callable[[Known], Ends]] = {
    "planner": planner, "glsar": glsar, "sarimax": sarimax, "theil_sen": theil_sen,
}  # fmt: skip


def true_days(known: Known, limit: Array, horizon: int = HORIZON) -> Array:
    """First day from the last one on with level times weekly factor above the limit; inf beyond the horizon."""
    last = known.values.shape[1] - 1
    found = np.full(limit.size, np.inf)
    for day in range(last + horizon, last - 1, -1):
        found[known.level(np.full(limit.size, day)) * known.week[:, day % 7] > limit] = day
    return found


def judge(seed: int, method: str, count: int, **given: object) -> dict[str, float]:
    """Shares of series whose interval holds the truth."""
    known = make(seed, series=count, **given)  # type: ignore[arg-type]
    flat = make(seed + 50000, series=count, **{**given, "flat": True})  # type: ignore[arg-type]
    last = known.values.shape[1] - 1
    begin = time.perf_counter()
    fit = fit_known(known) if method == "planner" else None
    low, high, _ = ends_of(fit) if fit else METHODS[method](known)
    seconds = time.perf_counter() - begin
    truth = known.level(np.full(count, last + AHEAD))
    found = {
        "level": float(np.mean((low <= truth) & (truth <= high))),
        "width": float(np.median((high - low) / truth)),
        "flat_growing": float(np.mean(METHODS[method](flat)[2] > 0)),
        "ms_a_series": 1e3 * seconds / count,
    }
    if fit:
        rng = np.random.default_rng(seed)
        limit = known.level(np.full(count, last)) * rng.uniform(1.02, 1.8, count)
        days = passing_days(fit, Future.of(fit, None, []), limit[:, None], fit.last % 7, HORIZON)
        early, late = quantiles(days, (0.05, 0.95))
        reached = true_days(known, limit)
        inside = (early <= reached) & (reached <= late)
        found["date"] = float(inside.mean())
        found["date_reached"] = float(inside[np.isfinite(reached)].mean())
    return found


def main() -> None:
    """Print what each method reaches; its name, the number of series and arguments of `make` may be given."""
    warnings.simplefilter("ignore")
    names = sys.argv[1:2] or ["planner"]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    given = {name: float(value) for name, value in (each.split("=") for each in sys.argv[3:])}
    if "days" in given:
        given["days"] = int(given["days"])
    for name in names[0].split(","):
        for seed in JUDGING:
            print(
                name,
                seed,
                {key: round(value, 3) for key, value in judge(seed, name, count, **given).items()},
                flush=True,
            )


if __name__ == "__main__":
    main()
