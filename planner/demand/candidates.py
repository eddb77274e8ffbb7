"""Candidates of rows of averages: every demand, steady or bursty, that gives the measured wait, with its weight."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from planner.demand import kinds, priors
from planner.demand.device_model import DeviceModel
from planner.demand.inversion import MeasuredRows
from planner.demand.kinds import Demands, Layout
from planner.demand.target import Target
from planner.errors import InputError
from planner.results import Array, Flags, Integers
from planner.units import MOST_ALIASES

KEPT: Final = 0.04  # least weight of a candidate that counts for the range
SATURATED_LOAD: Final = 0.985
SATURATED_WAIT: Final = 30.0  # service times
MEASURED_CONCURRENCY: Final = 3.0  # I/Os in service that inflation was measured with
STAGES: Final = (6, 16, 48, MOST_ALIASES + 1)  # devices: most counts are small


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PredictedRows:
    """What candidates do with aliases; arrays (volumes, candidates, counts), nan where a candidate is unused.

    * `rate`: I/Os [1/s].
    * `service`: mean inflated service time [s].
    * `queue`: mean I/Os queued, as a listing shows them: those in their gap are not [1].
    * `waits`: I/Os that find base and aliases busy [1/s]; nan where that is not known.
    * `no_alias`: share of the I/Os in need of an alias that find none; nan where nobody asked.
    """

    rate: Array
    service: Array
    queue: Array
    waits: Array | float = np.nan
    no_alias: Array | float = np.nan

    @property
    def response(self) -> Array:
        """Service plus queue over rate [s]."""
        return np.asarray(self.service + self.queue / self.rate)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidates:
    """Demands that explain rows of averages; arrays (volumes, candidates), one column a candidate, nan where unused.

    * `device_model`: inflation and redrive gap of the devices.
    * `layout`: kind and fixed number of each column.
    * `demands`: parameters, in units of the service time of a lone I/O.
    * `service_time`: of a lone I/O under each candidate [s].
    * `weight`: prior times likelihood, one a volume in total.
    * `residual`: normalized residual: 1 is the limit of what the printed digits leave open.
    * `ratio`: measured wait, less half a digit, over that of Poisson arrivals, (volumes,).
    * `wait`: mean wait of each candidate without aliases [service times].
    * `rows`: what was measured.
    * `growth`: share by which the demand has grown since, (volumes,).
    * `others`: further rows, at other numbers of aliases, that have weighed the candidates.
    * `excess`: logarithm of the wait that the latest of them shows over the predicted one: predictions are tied to it.
    """

    device_model: DeviceModel
    layout: Layout
    demands: Demands
    service_time: Array
    weight: Array
    residual: Array
    ratio: Array
    wait: Array
    rows: MeasuredRows
    growth: Array = field(default_factory=lambda: np.zeros(1))
    others: tuple[MeasuredRows, ...] = ()
    excess: Array | None = None

    @property
    def volumes(self) -> int:
        """Number of volumes."""
        return int(self.ratio.size)

    @property
    def used(self) -> Flags:
        """Which candidates exist for which volume."""
        return np.asarray(self.weight > 0)

    @property
    def fits(self) -> Flags:
        """Which candidates lie inside the printed digits."""
        return np.asarray(self.used & (self.residual <= 1.0))

    @property
    def kept(self) -> Flags:
        """Which candidates count for the range."""
        return np.asarray(self.weight >= KEPT)

    @property
    def steady(self) -> Flags:
        """Which volumes are steady as far as the digits show, (volumes,)."""
        return np.asarray(self.ratio <= priors.STEADY_UP_TO)

    @property
    def saturated(self) -> Flags:
        """Volumes that never idle: their demand is unknown, (volumes,)."""
        return never_idle(self.rows, self.device_model)

    @property
    def in_use(self) -> Array:
        """Aliases in use when the rows were measured, the latest of several, (volumes,)."""
        return np.asarray((self.others[-1] if self.others else self.rows).devices - 1)

    @property
    def open_above(self) -> Flags:
        """Volumes where nothing waits with the aliases in use, (volumes,)."""
        return np.asarray((self.rows.devices > 1) & (self.rows.queue_low <= 0))

    def bounds(self, target: Target) -> tuple[Array, Array]:
        """Largest count that missed the target, -1 where none, and least that met it, inf where none: as measured."""
        missed, met = np.full(self.volumes, -1.0), np.full(self.volumes, np.inf)
        for rows in (self.rows, *self.others) if target.of_waits else ():
            # Only what the digits decide: the largest queue that they leave open meets it, or the smallest misses it.
            worst, best = (
                target.met(rows.rate, rows.service, queue)
                for queue in (rows.queue_high, np.maximum(rows.queue_low, 0.0))
            )
            missed = np.where(best, missed, np.maximum(missed, rows.devices - 1))
            met = np.where(worst, np.minimum(met, rows.devices - 1), met)
        missed = np.where(missed < met, missed, met - 1)
        grown = self.growth != 0.0
        return np.where(grown, -1.0, missed), np.where(grown, np.inf, met)

    def kind(self, candidate: int) -> str:
        """Name the kind of a column."""
        return kinds.KINDS[int(self.layout.kind[candidate])]

    def of(self, index: Any) -> Candidates:
        """Candidates of some of the volumes."""
        return replace(
            self, demands=self.demands.of(index), service_time=self.service_time[index], weight=self.weight[index],
            residual=self.residual[index], ratio=self.ratio[index], wait=self.wait[index], rows=self.rows.of(index),
            others=tuple(rows.of(index) for rows in self.others),
            growth=np.broadcast_to(self.growth, self.ratio.shape)[index],
            excess=None if self.excess is None else self.excess[index],
        )  # fmt: skip

    def grown(self, growth: ArrayLike) -> Candidates:
        """Let the demand grow by a share: rates, or requesters, where figures are interpolated between counts."""
        share = np.broadcast_to(np.asarray(growth, dtype=np.float64), self.ratio.shape)
        if not (np.isfinite(share) & (share > -1)).all():
            raise InputError("growth", growth, "a share above -1")
        total = (1 + self.growth) * (1 + share) - 1
        return replace(self, demands=self.demands.grown(share[:, None]), growth=total)

    def predict(self, counts: ArrayLike, *, tries: bool = False) -> PredictedRows:
        """What every candidate does with each number of aliases."""
        asked = np.atleast_1d(np.asarray(counts, dtype=np.int64))
        if asked.size == 0 or asked.min() < 0 or asked.max() > MOST_ALIASES:
            raise InputError("aliases", counts, f"whole numbers from 0 to {MOST_ALIASES}")
        gap = self.device_model.redrive_time / self.service_time
        used = np.where(self.used, 1.0, np.nan)
        demands = replace(
            self.demands, load=self.demands.load * used, population=self.demands.population * used
        )
        found, without = kinds.solve(
            demands, self.layout, int(asked.max()) + 1, self.device_model.inflation, gap, tries=tries
        )
        unit = self.service_time[:, :, None]

        def laid(values: Array) -> Array:
            return np.moveaxis(values[asked], 0, -1)

        tie = self._tie(asked)
        return PredictedRows(
            rate=laid(found.rate) / unit, service=laid(found.service) * unit, queue=laid(found.queue) * tie,
            waits=laid(found.waits) / unit, no_alias=laid(without),
        )  # fmt: skip

    def _tie(self, asked: Integers) -> Array | float:
        """Factors of the waits: one at the first row, growing to the latest and held beyond; as a prediction."""
        if self.excess is None:
            return 1.0
        first, last = self.rows.devices - 1, self.in_use
        share = (asked - first[:, None]) / np.where(last > first, last - first, np.inf)[:, None]
        return np.exp(self.excess[..., None] * np.clip(share, 0.0, 1.0)[:, None, :])

    def counts(self, target: Target | None = None) -> Array:
        """Smallest number of aliases that meets the target under each candidate."""
        target = target or Target()
        found = np.where(self.used, np.inf, np.nan)
        for most in STAGES:
            left = np.flatnonzero(np.isinf(found).any(axis=1))
            if left.size == 0:
                break
            part = self.of(left)
            open_ = np.isinf(found[left])
            part = replace(part, weight=np.where(open_, part.weight, 0.0))
            rows = part.predict(np.arange(most), tries=target.no_alias is not None)
            met = target.met(rows.rate, rows.service, rows.queue, rows.no_alias, rows.waits)
            first = np.where(met.any(axis=-1), np.argmax(met, axis=-1), np.inf)
            found[left] = np.where(open_, first, found[left])
        return found


def never_idle(rows: MeasuredRows, device_model: DeviceModel) -> Flags:
    """Volumes that are busy all the time and wait for long: what they would ask with more devices is unknown."""
    busy = rows.rate * (rows.service + device_model.redrive_time) / rows.devices
    wait = rows.queue / (rows.rate * rows.service)
    return np.asarray((busy > SATURATED_LOAD) & (wait > SATURATED_WAIT))
