"""A HyperPAV pool: volumes with a base device each share aliases; a volume with its own aliases is a pool of one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike

from planner import queueing
from planner.devices import parameters
from planner.devices.parameters import Figures, Scenario
from planner.errors import ConvergenceError, InputError, PlannerError
from planner.quantity import Quantity
from planner.queueing import PoolSteady
from planner.queueing.overflow import fewest_found, most_found
from planner.queueing.pools.solve import solve_pools as solve_elements
from planner.results import Array, Flags, Result, by_key, quantity
from planner.units import ADDRESSES

ALIASES: Final = Quantity(
    key="aliases", meaning="aliases of the volume or the pool", whole=True, example="aliases=2"
)
VOLUMES: Final = Quantity(
    key="volumes", meaning="equal volumes in the pool", low=1, high=256, whole=True, example="volumes=8"
)
OF_A_VOLUME: Final = (
    parameters.SERVICE_TIME,
    parameters.INFLATION,
    parameters.REDRIVE_TIME,
    parameters.THINK_TIME,
    parameters.POPULATION,
)
QUESTIONS: Final = (ALIASES, VOLUMES)
FIGURES: Final = (
    Quantity(key="io_rate", label="I/O rate", unit="1/s", decimals=1, open_above=True),
    Quantity(key="service", label="service", unit="ms"),
    Quantity(key="wait", label="wait", unit="ms", error_of="response of waits", open_above=True),
    Quantity(key="response", label="response", unit="ms", open_above=True),
    Quantity(key="queued", label="queued", error_of="present", open_above=True),
    Quantity(
        key="no_alias", label="no alias", unit="share", decimals=3, high=1.0, error_of="no_alias of some"
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeClass:
    """Equal volumes and their demand: closed (`population`, `think_time` [s]) or open (`arrival_rate` [1/s]).

    Numbers of the other kind are nan; so is `service_time` [s] where the pool's applies.
    """

    volumes: int = 1
    population: float = math.nan
    think_time: float = math.nan
    arrival_rate: float = math.nan
    service_time: float = math.nan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Performance(Result):
    """What a listing would show of a volume or pool, one element per alias count; totals are over all volumes.

    As in a listing, wait time is queued / I/O rate and response time is service + wait; neither includes the redrive
    gap. `no_alias` is fails / tries, 0 without tries; `fewest_free` and `most_free` are medians over minutes of the
    free aliases found by a try; `volume_rates` [1/s] and `volume_responses` [s] are for one volume of each class, its
    aliases included, shape (counts, classes).
    """

    aliases: Array = quantity("aliases")
    io_rate: Array = quantity("I/O rate", "1/s")
    service_time: Array = quantity("service time", "s")
    queued: Array = quantity("queued")
    no_alias: Array = quantity("no alias")
    tries: Array = quantity("tries for an alias", "1/s")
    fails: Array = quantity("tries that failed", "1/s")
    fewest_free: Array = quantity("fewest free aliases")
    most_free: Array = quantity("most free aliases")
    volume_rates: Array
    volume_responses: Array
    derived: ClassVar[dict[str, tuple[str, str]]] = {
        "wait_time": ("wait time", "s"),
        "response_time": ("response time", "s"),
    }

    def some(self, index: Any) -> Performance:
        """Select elements."""
        return replace(self, **{item.name: getattr(self, item.name)[index] for item in fields(self)})

    @property
    def wait_time(self) -> Array:
        """Mean time queued [s]."""
        return self.queued / self.io_rate

    @property
    def response_time(self) -> Array:
        """Mean service plus wait [s]."""
        return self.service_time + self.wait_time


SIDE_BY_SIDE: Final = 8
"""Most requesters of a volume for which many parameter sets are solved as pools, in less than a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Volumes that share aliases; an alias serves any of them, a base only its own.

    `service_time` [s] is that of an I/O alone on its volume, unless its class in `classes` has its own; it grows by
    `inflation` with each further I/O in service on the volume. `redrive_time` [s] is the gap before a waiting I/O.
    """

    classes: tuple[VolumeClass, ...]
    service_time: float
    inflation: float = 0.0
    redrive_time: float = 0.0
    PARAMETERS: ClassVar[tuple[Quantity, ...]] = (*OF_A_VOLUME, parameters.VOLUMES)
    QUESTIONS: ClassVar[tuple[Quantity, ...]] = QUESTIONS
    FIGURES: ClassVar[tuple[Quantity, ...]] = FIGURES

    @classmethod
    def ask(cls, values: Mapping[str, Array], scenarios: Sequence[Scenario]) -> Figures:
        """Figures; `no_alias` is nan where a volume of more than `SIDE_BY_SIDE` requesters is solved for many sets.

        Model errors are included: of a wait a share of the response time, of a queue a share of the I/Os present, 0
        where none waits, as with a device for every requester; of `no_alias` 0 without aliases, where all tries fail.
        """
        sets = len(values["service_time"])
        keys = ("io_rate", "service", "queued", "no_alias")
        found = {key: np.full((sets, len(scenarios)), np.nan) for key in keys}
        groups = by_key((int(scenario["volumes"]), k) for k, scenario in enumerate(scenarios))
        for volumes, places in groups.items():
            counts = np.array([float(scenarios[k]["aliases"]) for k in places])
            together = volumes == 1 and sets > 1 and values["population"].max() > SIDE_BY_SIDE
            apart = {key: column[:, None] for key, column in values.items()}
            if counts.max() > ADDRESSES - volumes:
                raise _too_many(float(counts.max()), volumes)
            rows = own_queues(apart, counts) if together else equal_volumes(apart, volumes, counts)
            for key, numbers in zip(found, rows, strict=False):
                found[key][:, places] = numbers
        wait = found["queued"] / found["io_rate"]
        response = found["service"] + wait
        open_ = np.where(wait > 0.0, response, 0.0)
        waits = {
            "wait": wait,
            "response": response,
            "response of waits": open_,
            "present": open_ * found["io_rate"],
            "no_alias of some": found["no_alias"]
            * [float(scenario["aliases"]) > 0 for scenario in scenarios],
        }
        return {**found, **waits}

    @property
    def bases(self) -> int:
        """Number of volumes, hence of base devices."""
        return sum(part.volumes for part in self.classes)

    @property
    def service_times(self) -> tuple[float, ...]:
        """Service time of each class [s]."""
        return tuple(
            self.service_time if math.isnan(part.service_time) else part.service_time for part in self.classes
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """Inflation and redrive gap, as the queueing functions take them."""
        return {"inflation": self.inflation, "redrive_time": self.redrive_time}

    @property
    def columns(self) -> Array:
        """Volumes, population, think time [s], arrival rate [1/s] and service time [s] of each class, (5, classes)."""
        each = zip(self.classes, self.service_times, strict=True)
        return np.array(
            [(part.volumes, part.population, part.think_time, part.arrival_rate, own) for part, own in each],
            dtype=np.float64,
        ).T

    def solve(self, aliases: ArrayLike) -> Performance:
        """Solve the pool for each alias count, by `planner.queueing.alias_pool`.

        >>> pool = Pool(classes=(VolumeClass(volumes=2, population=3, think_time=2e-4),), service_time=1.3e-3)
        >>> bool(pool.solve([4]).queued[0] < 1e-9)
        True
        """
        counts = np.atleast_1d(np.asarray(aliases))
        for count in counts.ravel().tolist():
            if isinstance(count, int | float) and count > ADDRESSES - self.bases:
                raise _too_many(count, self.bases)
        volumes, population, think_time, arrival_rate, own = self.columns
        steady = queueing.alias_pool(
            counts, volumes=volumes, population=population, think_time=think_time, arrival_rate=arrival_rate,
            service_time=own[0] if np.ptp(own) == 0.0 else own, **self.parameters,
        )  # fmt: skip
        return performance(steady)


def _too_many(aliases: float, bases: int) -> InputError:
    """Error for more aliases than the control unit has addresses left."""
    most = ADDRESSES - bases
    return InputError("aliases", aliases, f"a whole number from 0 to {most} ({ADDRESSES} less {bases} bases)")


def solve_pools(
    pools: Sequence[Pool], counts: Sequence[Array], *, marks: bool = False
) -> list[Performance | PlannerError]:
    """Solve every pool at its own counts, all in one call; a pool without a solution gets its error instead.

    The solver may fail close to instability: such a count gets the values at fewer aliases, or an unbounded queue.

    Parameters
    ----------
    pools : sequence of Pool
        Classes of volumes and their demand; no pool changes the answer to another.
    counts : sequence of ndarray
        Alias counts of each pool, each of its own shape (counts,) [1].
    marks : bool, optional
        Whether to compute the medians of free aliases; else they are nan.

    Returns
    -------
    list of Performance or PlannerError
        One per pool, its rows in the order of its counts; or its error.
    """
    if not pools:
        return []
    sizes = [each.size for each in counts]
    of = np.repeat(np.arange(len(pools)), sizes)
    nothing = (0.0, math.nan, math.nan, math.nan, 1.0)  # padding: pools have different numbers of classes
    rows = np.tile(nothing, (len(pools), max(len(pool.classes) for pool in pools), 1))
    for row, pool in zip(rows, pools, strict=True):
        row[: len(pool.classes)] = pool.columns.T
    rows = rows[of]
    whole = np.array([(pool.inflation, pool.redrive_time) for pool in pools])[of]
    try:
        steady = solve_elements(
            np.concatenate(counts), volumes=rows[..., 0], population=rows[..., 1], think_time=rows[..., 2],
            arrival_rate=rows[..., 3], service_time=rows[..., 4], inflation=whole[:, 0], redrive_time=whole[:, 1],
        )  # fmt: skip
    except InputError as problem:
        if len(pools) == 1:
            return [problem]
        return [
            found
            for each in zip(pools, counts, strict=True)
            for found in solve_pools([each[0]], [each[1]], marks=marks)
        ]
    every = performance(steady, marks=marks)
    ends = np.cumsum([0, *sizes]).tolist()
    found: list[Performance | PlannerError] = []
    for pool, first, last in zip(pools, ends, ends[1:], strict=False):
        some = slice(first, last)
        known = steady.converged[some]
        if not known.any():
            residual = float(np.fmax.reduce(steady.residual[some]))
            found.append(ConvergenceError(f"pool of {pool.bases} volumes", residual, 0))
            continue
        part = every.some(some) if known.all() else _unbounded(every.some(some), known)
        rates, responses = (
            each[:, : len(pool.classes)] for each in (part.volume_rates, part.volume_responses)
        )
        found.append(replace(part, volume_rates=rates, volume_responses=responses))
    return found


def _unbounded(rows: Performance, known: Flags) -> Performance:
    """Fill unsolved rows with those at fewer aliases, which are never better; unbounded where none is stable."""
    solved = np.flatnonzero(known)
    last = solved[np.maximum(np.searchsorted(solved, np.arange(known.size), side="right") - 1, 0)]
    filled = rows.some(last)
    bounded = known | ((last < np.arange(known.size)) & np.isfinite(filled.queued))
    return replace(
        filled, aliases=rows.aliases, queued=np.where(bounded, filled.queued, np.inf),
        volume_responses=np.where(bounded[:, None], filled.volume_responses, np.inf),
        no_alias=np.where(bounded, filled.no_alias, 1.0),
    )  # fmt: skip


def performance(steady: queueing.PoolSteady, *, marks: bool = True) -> Performance:
    """What a listing would show of a solved pool; free aliases are nan without `marks`."""
    volumes = np.broadcast_to(steady.volumes, steady.throughput.shape)
    queued = steady.queue_length - steady.in_gap
    rates, service, waiting, tries, fails = (
        np.where(volumes > 0.0, each, 0.0)
        for each in (steady.throughput, steady.service_time, queued, steady.tries_rate, steady.fails_rate)
    )
    total = (rates * volumes).sum(axis=-1)
    fewest, most = free_marks(steady) if marks else np.full((2, *steady.aliases.shape), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        responses = service + waiting / rates
    return Performance(
        aliases=steady.aliases,
        io_rate=total,
        service_time=(rates * service * volumes).sum(axis=-1) / total,
        queued=(waiting * volumes).sum(axis=-1),
        no_alias=steady.fail_fraction,
        tries=(tries * volumes).sum(axis=-1),
        fails=(fails * volumes).sum(axis=-1),
        fewest_free=fewest,
        most_free=most,
        volume_rates=rates,
        volume_responses=responses,
    )


def own_queues(values: Mapping[str, Array], aliases: Array) -> Array:
    """Rate, service time and queue of single volumes, shape (3, ...): closed queues, all solved in one call."""
    service, inflation, gap, think, requesters = (values[parameter.key] for parameter in OF_A_VOLUME)
    servers = np.minimum(1.0 + aliases, requesters)
    steady = queueing.finite_source(
        requesters, think, service, servers, inflation=inflation, redrive_time=gap
    )
    queued = np.maximum(steady.queue_length - steady.in_gap, 0.0)
    return np.stack([steady.throughput, steady.service_time, queued])


def equal_volumes(values: Mapping[str, Array], volumes: ArrayLike, aliases: Array) -> Array:
    """Rate, service time, queue and fail fraction of pools of equal volumes, shape (4, ...), solved in one call."""
    requesters, think, service = (
        values[key][..., None] for key in ("population", "think_time", "service_time")
    )
    steady = queueing.alias_pool(
        aliases, volumes=np.asarray(volumes, dtype=np.float64)[..., None], population=requesters,
        think_time=think, service_time=service, inflation=values["inflation"],
        redrive_time=values["redrive_time"],
    )  # fmt: skip
    solved = performance(steady, marks=False)
    return np.stack([solved.io_rate, solved.service_time, solved.queued, solved.no_alias])


def free_marks(steady: PoolSteady) -> tuple[Array, Array]:
    """Medians over minutes of the fewest and the most free aliases found by a try, shape (counts,)."""
    here = np.broadcast_to(steady.volumes, steady.throughput.shape) > 0.0
    tries, fails, by_aliases = (
        np.where(here, each * steady.volumes, 0.0).sum(axis=-1)
        for each in (steady.tries_rate, steady.fails_rate, steady.alias_throughput)
    )
    fewest, most = steady.aliases.copy(), steady.aliases.copy()
    for row, count in enumerate(steady.aliases.astype(int)):
        if count == 0 or not tries[row] > 0.0 or not steady.stable[row]:
            fewest[row] = most[row] = count if tries[row] <= 0.0 else 0
            continue
        if tries[row] - fails[row] <= 1e-12 * tries[row]:  # apart from rounding, every try fails
            fewest[row] = most[row] = 0
            continue
        distribution = steady.free_alias_distribution[row, count::-1]  # distribution of busy aliases
        busy = np.arange(count + 1)
        flow = np.append(
            distribution[1:] * busy[1:] * by_aliases[row] / max(float(distribution @ busy), 1e-300),
            fails[row],
        )
        flow[count - 1] = max(float(tries[row] - fails[row] - flow[: count - 1].sum()), 0.0)
        highest, lowest = (
            np.cumsum(found(distribution, flow, 60.0, count)) for found in (most_found, fewest_found)
        )
        fewest[row] = count - min(int(np.searchsorted(highest, 0.5)), count)
        most[row] = count - min(int(np.searchsorted(lowest, 0.5)), count)
    return fewest, most


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """One volume with its own aliases: its `demand`; `service_time`, `inflation` and `redrive_time` as in `Pool`."""

    demand: VolumeClass
    service_time: float
    inflation: float = 0.0
    redrive_time: float = 0.0
    PARAMETERS: ClassVar[tuple[Quantity, ...]] = OF_A_VOLUME
    QUESTIONS: ClassVar[tuple[Quantity, ...]] = QUESTIONS
    FIGURES: ClassVar[tuple[Quantity, ...]] = FIGURES

    @classmethod
    def ask(cls, values: Mapping[str, Array], scenarios: Sequence[Scenario]) -> Figures:
        """Answer as a pool of one volume."""
        return Pool.ask(values, scenarios)

    def solve(self, aliases: ArrayLike) -> Performance:
        """Solve the volume for each alias count.

        >>> volume = Volume(demand=VolumeClass(population=3, think_time=2e-4), service_time=1.3e-3)
        >>> volume.solve([0, 2]).io_rate.round(0).tolist()
        [769.0, 2000.0]
        """
        own = {name: getattr(self, name) for name in ("service_time", "inflation", "redrive_time")}
        return Pool(classes=(self.demand,), **own).solve(aliases)
