"""What a fitted law says of a system, with 90 % intervals: uncertain parameters and the error of the law itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike

from planner.calibrate.law import KEYS, PARAMETERS, totals
from planner.calibrate.observation import Observation
from planner.calibrate.spread import Component, points, quantiles
from planner.devices import Performance, Pool, VolumeClass
from planner.results import Array, Result, quantity

PROBABILITY: Final = 0.9
SETS: Final = 64  # parameter sets that stand for all that are possible
SETS_OF_POOLS: Final = 32
NODES: Final = (np.arange(9) + 0.5) / 9  # of the distribution of the model error, equally likely
BANDS: Final = ("io_rate", "service_time", "wait_time", "response_time", "queued")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prediction(Result):
    """What a listing would show, one element an alias count, each number with its 90 % interval.

    Attributes
    ----------
    aliases, io_rate, service_time, wait_time, response_time, queued, no_alias : ndarray, shape (counts,)
        As `planner.devices.Performance` has them.
    low, high : dict
        Ends of the intervals by name, each of shape (counts,).
    """

    aliases: Array = quantity("aliases")
    io_rate: Array = quantity("I/O rate", "1/s")
    service_time: Array = quantity("service time", "s")
    wait_time: Array = quantity("wait time", "s")
    response_time: Array = quantity("response time", "s")
    queued: Array = quantity("queued")
    no_alias: Array = quantity("no alias")
    low: Mapping[str, Array]
    high: Mapping[str, Array]
    bands: ClassVar[tuple[str, ...]] = BANDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """A law with all that its calibration left open.

    Attributes
    ----------
    population : int
        Requesters of one volume, likeliest or given.
    values : mapping
        Estimates by parameter key, SI.
    components : tuple of Component
        What else the data allow; empty where only the estimates are known.
    free : tuple of str
        Keys of the parameters that `components` speak of.
    model_error : float
        Relative standard deviation of the law.
    """

    population: int
    values: Mapping[str, float]
    components: tuple[Component, ...]
    free: tuple[str, ...]
    model_error: float

    def possible(self, count: int) -> tuple[Array, Array]:
        """Parameter sets that stand for all that the data allow, equally likely.

        Parameters
        ----------
        count : int
            About how many.

        Returns
        -------
        tuple of ndarray
            Requesters, shape (sets,), and parameters in SI units, shape (sets, 4).
        """
        fixed = np.array([[self.values[key] for key in KEYS]])
        if not self.components:
            return np.array([float(self.population)]), fixed
        requesters, sets = [], []
        place = [KEYS.index(key) for key in self.free]
        low, high = ([getattr(PARAMETERS[k], end) for k in place] for end in ("low", "high"))
        for each in self.components:
            many = round(count * each.weight)
            if many == 0 or not place:
                continue
            normal = points(many, len(place))
            root = np.linalg.cholesky(each.covariance + 1e-12 * np.eye(len(place)))
            found = np.repeat(fixed, many, axis=0)
            found[:, place] = np.clip(np.exp(each.center + normal @ root.T), low, high)
            requesters.append(np.full(many, float(each.population)))
            sets.append(found)
        if not sets:
            return np.array([float(self.population)]), fixed
        return np.concatenate(requesters), np.concatenate(sets)

    def predict(
        self, aliases: ArrayLike, *, volumes: int = 1, population: int | None = None,
        fixed: Mapping[str, float] | None = None,
    ) -> Prediction:  # fmt: skip
        """Ask the law.

        Parameters
        ----------
        aliases : array_like, shape (counts,)
            Aliases of the volume or the pool.
        volumes : int, optional
            Equal volumes that share them.
        population : int, optional
            Requesters of one volume; as calibrated where None.
        fixed : mapping, optional
            Parameters that differ from the calibrated ones, by key, SI.

        Returns
        -------
        Prediction
            With 90 % intervals.

        Raises
        ------
        InputError
            A parameter outside its domain.
        ConvergenceError
            A pool could not be solved.
        """
        counts = np.atleast_1d(np.asarray(aliases, dtype=np.float64))
        given = dict(fixed or {})
        best = _solve(population or self.population, {**self.values, **given}, volumes, counts)
        shared = volumes > 1 and bool((counts > 0).any())
        requesters, sets = self.possible(SETS_OF_POOLS if shared else SETS)
        for key, value in given.items():
            sets[:, KEYS.index(key)] = value
        if population is not None:
            requesters = np.full_like(requesters, population)
        low, high = _intervals(_possible_totals(requesters, sets, volumes, counts), best, self.model_error)
        return Prediction(
            aliases=counts, io_rate=best.io_rate, service_time=best.service_time, wait_time=best.wait_time,
            response_time=best.response_time, queued=best.queued, no_alias=best.no_alias, low=low, high=high,
        )  # fmt: skip


def _solve(population: int, values: Mapping[str, float], volumes: int, counts: Array) -> Performance:
    demand = VolumeClass(volumes=volumes, population=population, think_time=values["think_time"])
    pool = Pool(
        classes=(demand,), service_time=values["service_time"], inflation=values["inflation"],
        redrive_time=values["redrive_time"],
    )  # fmt: skip
    return pool.solve(counts)


def _possible_totals(requesters: Array, sets: Array, volumes: int, counts: Array) -> Array:
    """Rate, service time and queue of every parameter set, shape (sets, counts, 3)."""
    found = np.empty((len(sets), counts.size, 3))
    for population in np.unique(requesters):
        chosen = requesters == population
        if volumes == 1:
            asked = [
                Observation(name="", volumes=1, aliases=int(count), population=int(population), figures={})
                for count in counts
            ]
            found[chosen] = totals(asked, population, sets[chosen])
            continue
        for k in np.flatnonzero(chosen):  # a pool is solved for all counts at once, each from the last
            values = dict(zip(KEYS, sets[k].tolist(), strict=True))
            solved = _solve(int(population), values, volumes, counts)
            found[k] = np.stack([solved.io_rate, solved.service_time, solved.queued], axis=-1)
    return found


def _intervals(
    found: Array, best: Performance, model_error: float
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Central 90 % of what the parameter sets say, each smeared by the error of the law."""
    from scipy.stats import norm

    noise = model_error * norm.ppf(NODES)[:, None]
    ends = ((1 - PROBABILITY) / 2, (1 + PROBABILITY) / 2)
    rate, service, queued = (found[:, None, :, k] for k in range(3))
    response = service + queued / rate
    smeared = {
        "io_rate": rate * np.exp(noise),
        "service_time": service * np.exp(noise),
        "response_time": response * np.exp(noise),
        "wait_time": np.maximum(queued / rate + noise * response, 0.0),
        "queued": np.maximum(queued + noise * response * rate, 0.0),
    }
    low, high = {}, {}
    for name in BANDS:
        flat = smeared[name].reshape(-1, best.aliases.size)
        even = np.ones(len(flat))
        both = np.array([quantiles(column, even, ends) for column in flat.T]).T
        # The estimate is the likeliest set, not the middle one: an interval that left it out would puzzle.
        low[name] = np.minimum(both[0], getattr(best, name))
        high[name] = np.maximum(both[1], getattr(best, name))
    return low, high
