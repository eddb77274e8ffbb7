"""The first day on which a level passes its limit, over all draws of a fit, with growth and events that were given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.results import Array
from planner.site.growth.draws import TrendDraws
from planner.site.growth.model import YEAR

NEVER = np.inf
FAR = 1e9  # days


@dataclass(frozen=True, slots=True)
class Future:
    """The busy-day level of each draw from the last measured day on, as a line or compounding."""

    level: Array  # (series, draws) on the last measured day
    slope: Array  # (series, draws) a day; unused where it compounds
    last: NDArray[np.intp]  # (series,)
    rate: float | None  # growth a year that compounds
    events: tuple[tuple[int, float], ...]  # day and factor, in order of time

    @staticmethod
    def of(fit: TrendDraws, rate: float | None, events: Sequence[tuple[int, float]]) -> Future:
        """Continue a fit."""
        times, _ = fit.shifted
        return Future(fit.level(fit.last), fit.slope * times / YEAR, fit.last, rate, tuple(sorted(events)))

    def factor(self, day: NDArray[np.intp] | Array) -> Array:
        """What the events until a day multiply the level by."""
        found = np.ones(np.shape(day))
        for when, times in self.events:
            found = np.where(day >= when, found * times, found)
        return found

    def grown(self, ahead: Array) -> Array:
        """Level a number of days after the last, without events; `ahead` (series, draws) or broadcast to it."""
        if self.rate is None:
            return self.level + self.slope * ahead
        return self.level * (1 + self.rate) ** (ahead / YEAR)

    def at(self, ahead: int) -> Array:
        """Level a number of days after the last; (series, draws)."""
        grown = np.maximum(self.grown(np.array(float(ahead))), 0.0)
        return np.asarray(grown * self.factor(self.last + ahead)[:, None])

    def reaches(self, level: Array) -> Array:
        """Days after the last at which a level (series, draws, ...) is reached; -inf where never by growth."""
        own = self.level[:, :, None]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if self.rate is None:
                found = np.where(self.slope[:, :, None] > 0, (level - own) / self.slope[:, :, None], -np.inf)
            elif self.rate > 0:
                found = np.where(
                    (level > 0) & (own > 0), np.log(level / own) / np.log1p(self.rate) * YEAR, np.inf
                )
            else:
                found = np.full(np.broadcast_shapes(level.shape, own.shape), -np.inf)
        return np.asarray(np.clip(np.nan_to_num(found), -FAR, FAR))


def passing_days(
    fit: TrendDraws, future: Future, limit: Array, weekday: NDArray[np.intp], horizon: int
) -> Array:
    """First day from the last measured one on with level times weekly factor above the limit; (series, draws).

    Days count as in the fit; inf where there is none within the horizon. `weekday` is that of the last day of each
    series. Between two events the level is monotone, so that the first day is found by weekday in closed form.
    """
    best = np.full(future.level.shape, NEVER)
    wanted = limit[:, None, None] / np.maximum(fit.week, 1e-9)
    changes = [0, *sorted({when for when, _ in future.events})]
    for index, change in enumerate(changes):
        begin = np.maximum(change - future.last, 0) if index else np.zeros(len(limit), dtype=int)
        ends = (
            changes[index + 1] - future.last if index + 1 < len(changes) else np.full(len(limit), horizon + 1)
        )
        end = np.minimum(ends, horizon + 1)
        times = future.factor(future.last + begin)[:, None, None]
        root = future.reaches(wanted / times)
        # What lies beyond the horizon counts as one day beyond it.
        earliest = np.maximum(np.minimum(np.floor(root), horizon) + 1, begin[:, None, None])
        wait = (np.arange(7) - weekday[:, None, None] - earliest) % 7
        day = earliest + wait
        value = np.stack([future.grown(day[:, :, k]) for k in range(7)], axis=2) * times * fit.week
        fits = (value > limit[:, None, None]) & (day < end[:, None, None])
        best = np.minimum(best, np.where(fits, day, NEVER).min(axis=2))
    return best + future.last[:, None]


def passed_days(fit: TrendDraws, series: int, limit: float, weekday_of_first: int) -> Array:
    """First measured day of one series with level times weekly factor above the limit; (draws,), inf where none."""
    days = np.arange(fit.first[series], fit.last[series] + 1)
    week = fit.week[series][:, (weekday_of_first + days - days[0]) % 7]
    above = fit.path(series, days) * week > limit
    return np.where(above.any(axis=1), days[np.argmax(above, axis=1)], NEVER)


def quantiles(days: Array, shares: Sequence[float]) -> Array:
    """Quantiles of days (series, draws) that may be inf, each one of the drawn days; (shares, series)."""
    ordered = np.sort(days, axis=1)
    count = days.shape[1]
    return np.array([ordered[:, min(int(share * count), count - 1)] for share in shares])
