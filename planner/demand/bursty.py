"""Readings of rows of averages: every demand, steady or bursty, that gives the measured wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planner.demand import chains, kinds, priors, rowwise
from planner.demand.kinds import COARSE, FINE, Demands, Layout
from planner.demand.law import Law
from planner.demand.rowwise import Rows
from planner.errors import InputError
from planner.interval import Interval
from planner.results import Array

MOST_ALIASES: Final = 255  # 256 addresses of a control unit, one of them the base
WAIT_SHARE: Final = 0.05  # of the service time: queueing is gone
KEPT: Final = 0.04  # least weight of a reading that counts for the range
POINT: Final = 0.645  # quantile of the counts: too few costs more than too many
FIRST_STEP: Final = 3  # aliases, where the demand of a saturated row is unknown
SATURATED_LOAD: Final = 0.985
SATURATED_WAIT: Final = 30.0  # service times
SAME_WAIT: Final = 0.03  # service times
WAIT_ERROR: Final = 0.15  # of a predicted wait, in its logarithm
UNIFORM: Final = 3**-0.5  # standard deviation of half a digit
LARGEST_STRAIN: Final = 1e3
RATIO_ERROR: Final = 0.05  # of the ratio of two rates
STAGES: Final = (6, 16, 48, MOST_ALIASES + 1)  # devices: most counts are small
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasTarget:
    """What aliases must achieve; all that are given must hold. With none, wait at most `wait_share` of service.

    Attributes
    ----------
    wait, response : float or None
        Largest mean wait, mean response time [s].
    queue : float or None
        Largest mean number of I/Os queued.
    wait_share : float
        Of the mean service time, where nothing else is given.
    """

    wait: float | None = None
    response: float | None = None
    queue: float | None = None
    wait_share: float = WAIT_SHARE

    def met(self, rows: Prediction) -> Flags:
        """Tell where the target is met.

        Parameters
        ----------
        rows : Prediction
            What the readings do.

        Returns
        -------
        ndarray of bool
            In the shape of the prediction; False where a reading is unused.
        """
        given = [(rows.wait, self.wait), (rows.response, self.response), (rows.queue, self.queue)]
        limits = [(value, limit) for value, limit in given if limit is not None]
        if not limits:
            return np.asarray(rows.wait <= self.wait_share * rows.service)
        return np.asarray(np.logical_and.reduce([value <= limit for value, limit in limits]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prediction:
    """What readings do with aliases; arrays (volumes, readings, counts), nan where a reading is unused.

    Attributes
    ----------
    rate : ndarray
        I/Os [1/s].
    wait, service : ndarray
        Mean wait with the redrive gap, mean inflated service time [s].
    queue : ndarray
        Mean I/Os queued, as a listing shows them: those in their gap are not [1].
    """

    rate: Array
    wait: Array
    service: Array
    queue: Array

    @property
    def response(self) -> Array:
        """Mean wait plus service [s]."""
        return self.wait + self.service


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts:
    """How many aliases each volume needs, the aliases in use included; arrays (volumes,).

    Attributes
    ----------
    point, low, high : ndarray of int
        The count and its range, 0 to 255; a saturated row has the first step as its point.
    most : ndarray of int
        Largest count of any reading however unlikely: what batches of that wait would take.
    chosen : ndarray of int
        The reading to print and predict from, column of the readings.
    saturated : ndarray of bool
        The demand is unknown: the volume never idles.
    taken_over : ndarray of bool
        The point is smaller than at a shorter wait, since another reading took over.
    open_above : ndarray of bool
        Nothing waits with the aliases in use: the demand may be less bursty, or anything that they still hold.
    extrapolated : ndarray of bool
        More I/Os in service than the inflation was measured with.
    unmet : ndarray of bool
        The target is out of reach for the chosen reading with every address.
    each : ndarray
        Count under each reading, inf where no count meets the target, nan where unused, (volumes, readings).
    """

    point: Indices
    low: Indices
    high: Indices
    most: Indices
    chosen: Indices
    saturated: Flags
    taken_over: Flags
    open_above: Flags
    extrapolated: Flags
    unmet: Flags
    each: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Readings:
    """Demands that explain rows of averages; arrays (volumes, readings), one column a reading, nan where unused.

    Attributes
    ----------
    law : Law
        Inflation and redrive gap of the devices.
    layout : Layout
        Kind and fixed number of each column.
    demands : Demands
        Parameters, in units of the service time of a lone I/O.
    service_time : ndarray
        Of a lone I/O under each reading [s].
    weight : ndarray
        Prior times likelihood, one a volume in total.
    strain : ndarray
        How far the printed digits are strained; 1 is the limit of what they leave open.
    ratio : ndarray
        Measured wait, less half a digit, over that of Poisson arrivals, (volumes,).
    wait : ndarray
        Mean wait of each reading without aliases [service times].
    rows : Rows
        What was measured.
    growth : float
        Share by which the demand has grown since.
    others : tuple of Rows
        Further rows, at other numbers of aliases, that have weighed the readings.
    """

    law: Law
    layout: Layout
    demands: Demands
    service_time: Array
    weight: Array
    strain: Array
    ratio: Array
    wait: Array
    rows: Rows
    growth: float = 0.0
    others: tuple[Rows, ...] = ()

    @property
    def volumes(self) -> int:
        """Number of volumes."""
        return int(self.ratio.size)

    @property
    def used(self) -> Flags:
        """Which readings exist for which volume."""
        return np.asarray(self.weight > 0)

    @property
    def fits(self) -> Flags:
        """Which readings lie inside the printed digits."""
        return np.asarray(self.used & (self.strain <= 1.0))

    @property
    def kept(self) -> Flags:
        """Which readings count for the range."""
        return np.asarray(self.weight >= KEPT)

    @property
    def steady(self) -> Flags:
        """Which volumes are steady as far as the digits show, (volumes,)."""
        return np.asarray(self.ratio <= priors.STEADY_UP_TO)

    @property
    def saturated(self) -> Flags:
        """Volumes that never idle: their demand is unknown, (volumes,)."""
        gap = self.law.redrive_time / self.rows.service
        busy = self.rows.rate * self.rows.service * (1 + gap) / self.rows.devices
        wait = self.rows.queue / (self.rows.rate * self.rows.service)
        return np.asarray((busy > SATURATED_LOAD) & (wait > SATURATED_WAIT))

    @property
    def in_use(self) -> Array:
        """Aliases in use when the rows were measured, the latest of several, (volumes,)."""
        return np.asarray((self.others[-1] if self.others else self.rows).devices - 1)

    @property
    def open_above(self) -> Flags:
        """Volumes where nothing waits with the aliases in use, (volumes,)."""
        return np.asarray((self.rows.devices > 1) & (self.rows.queue_low <= 0))

    def bounds(self, target: AliasTarget) -> tuple[Array, Array]:
        """Counts that measurements decide by themselves.

        Parameters
        ----------
        target : AliasTarget
            What must be achieved.

        Returns
        -------
        tuple of ndarray
            Largest number of aliases that missed the target, -1 where none did, and smallest that met it, inf where
            none did;
            both say nothing of a demand that has grown since.
        """
        missed, met = np.full(self.volumes, -1.0), np.full(self.volumes, np.inf)
        if self.growth:
            return missed, met
        for rows in (self.rows, *self.others):
            # Only what the digits decide: the largest queue that they leave open meets it, or the smallest misses it.
            worst, best = (
                target.met(
                    Prediction(rate=rows.rate, wait=queue / rows.rate, service=rows.service, queue=queue)
                )
                for queue in (rows.queue_high, np.maximum(rows.queue_low, 0.0))
            )
            missed = np.where(best, missed, np.maximum(missed, rows.devices - 1))
            met = np.where(worst, np.minimum(met, rows.devices - 1), met)
        return np.where(missed < met, missed, met - 1), met

    def with_queues(self, volumes: Indices, waits: Array) -> Readings:
        """Readings of volumes had their waits been others, at the same rate, service and growth.

        Parameters
        ----------
        volumes : ndarray of int
            Which ones, each as often as waits are asked of it.
        waits : ndarray
            Mean wait of each [service times].

        Returns
        -------
        Readings
            As many volumes as waits.
        """
        rows = self.rows.of(volumes)
        queue = waits * rows.rate * rows.service
        half = rows.queue_high - rows.queue
        asked = replace(rows, queue=queue, queue_low=queue - half, queue_high=queue + half)
        return read_rows(asked, self.law, self.layout, priors.ONE_ROW).grown(self.growth)

    def kind(self, reading: int) -> str:
        """Name the kind of a column.

        Parameters
        ----------
        reading : int
            The column.

        Returns
        -------
        str
            One of `planner.demand.kinds.KINDS`.
        """
        return kinds.KINDS[int(self.layout.kind[reading])]

    def of(self, index: Any) -> Readings:
        """Readings of some of the volumes.

        Parameters
        ----------
        index : slice, mask or array of int
            Which volumes.

        Returns
        -------
        Readings
            Theirs.
        """
        return replace(
            self, demands=self.demands.rows(index), service_time=self.service_time[index], weight=self.weight[index],
            strain=self.strain[index], ratio=self.ratio[index], wait=self.wait[index], rows=self.rows.of(index),
            others=tuple(rows.of(index) for rows in self.others),
        )  # fmt: skip

    def grown(self, growth: float) -> Readings:
        """Let the demand grow by a share, whatever it is.

        Rates, batches and groups come more often, phases are stronger while on, requesters are more: between whole
        numbers of them every figure is interpolated.

        Parameters
        ----------
        growth : float
            Above -1.

        Returns
        -------
        Readings
            With the same weights.

        Raises
        ------
        InputError
            Growth of -1 or less.
        """
        if not (np.isfinite(growth) and growth > -1):
            raise InputError("growth", growth, "a share above -1")
        total = (1 + self.growth) * (1 + growth) - 1
        return replace(self, demands=self.demands.grown(growth), growth=total)

    def predict(self, counts: ArrayLike, inflated_to: float = np.inf) -> Prediction:
        """What every reading does with each number of aliases.

        Parameters
        ----------
        counts : array_like of int
            Aliases, 0 to 255, (counts,).
        inflated_to : float, optional
            I/Os in service beyond which the service time grows no further.

        Returns
        -------
        Prediction
            Arrays (volumes, readings, counts).

        Raises
        ------
        InputError
            A count outside 0 to 255.
        """
        asked = np.atleast_1d(np.asarray(counts, dtype=np.int64))
        if asked.size == 0 or asked.min() < 0 or asked.max() > MOST_ALIASES:
            raise InputError("aliases", counts, f"whole numbers from 0 to {MOST_ALIASES}")
        return self._solved(int(asked.max()) + 1, asked, inflated_to)

    def _solved(self, most: int, asked: Indices, inflated_to: float = np.inf) -> Prediction:
        gap = self.law.redrive_time / self.service_time
        used = np.where(self.used, 1.0, np.nan)
        demands = replace(
            self.demands, load=self.demands.load * used, population=self.demands.population * used
        )
        found = kinds.solve(demands, self.layout, most, self.law.inflation, gap, inflated_to)
        unit = self.service_time[:, :, None]

        def laid(values: Array) -> Array:
            return np.moveaxis(values[asked], 0, -1)

        return Prediction(
            rate=laid(found.rate) / unit, wait=laid(found.wait) * unit, service=laid(found.service) * unit,
            queue=laid(found.queue),
        )  # fmt: skip

    def counts(self, target: AliasTarget | None = None) -> Array:
        """Smallest number of aliases that meets the target under each reading.

        Parameters
        ----------
        target : AliasTarget, optional
            By default wait at most 5 % of service.

        Returns
        -------
        ndarray
            (volumes, readings): a count, inf where none of 255 is enough, nan where a reading is unused.
        """
        target = target or AliasTarget()
        found = np.where(self.used, np.inf, np.nan)
        for most in STAGES:
            left = np.flatnonzero(np.isinf(found).any(axis=1))
            if left.size == 0:
                break
            part = self.of(left)
            open_ = np.isinf(found[left])
            part = replace(part, weight=np.where(open_, part.weight, 0.0))
            met = target.met(part._solved(most, np.arange(most)))
            first = np.where(met.any(axis=-1), np.argmax(met, axis=-1), np.inf)
            found[left] = np.where(open_, first, found[left])
        return found

    def band(self, counts: ArrayLike, figure: str, target: AliasTarget | None = None) -> Interval:
        """One figure with its 90 % band over the kept readings, the measurement at the aliases in use.

        The value is that of the chosen reading. Every reading is scaled to meet the measured figure exactly; away
        from the
        aliases in use the band is 7 % wider (for rates: held by 96 % of simulated volumes). With more aliases
        neither end of a
        rate falls, and neither end of a wait, queue or response rises.

        Parameters
        ----------
        counts : array_like of int
            Aliases, (counts,).
        figure : str
            One of "rate", "wait", "service", "queue", "response".
        target : AliasTarget, optional
            By which the reading is chosen.

        Returns
        -------
        Interval
            Arrays (volumes, counts).
        """
        from planner.demand.bands import band

        return band(self, np.atleast_1d(np.asarray(counts, dtype=np.int64)), figure, target or AliasTarget())

    def point_and_range(self, target: AliasTarget | None = None) -> Counts:
        """Count, range and what must be said of them.

        Parameters
        ----------
        target : AliasTarget, optional
            By default wait at most 5 % of service.

        Returns
        -------
        Counts
            For every volume.
        """
        from planner.demand.answer import counted

        return counted(self, target or AliasTarget())

    def words(self, volume: int, reading: int) -> str:
        """One reading in a few words.

        Parameters
        ----------
        volume, reading : int
            Row and column.

        Returns
        -------
        str
            For a sentence.
        """
        from planner.demand.words import words

        return words(self, volume, reading)


def read_volumes(
    io_rate: Interval, service: Interval, queued: Interval, *, aliases: ArrayLike = 0, law: Law
) -> Readings:
    """Find every demand that gives the measured wait, one row of averages a volume.

    A volume with A aliases is a queue with c = A + 1 devices in common: with n I/Os present the rate of service is
    n / s(n) up to c and c / (s(c) + g) beyond, s(n) = S0 (1 + h (n - 1)). Each kind of demand has one number that
    the row leaves
    free; it is where the queue at the aliases in use is the measured one. Steady demands (Poisson arrivals, requesters
    that each keep one I/O outstanding) come first where the wait is at most 1.1 times that of Poisson arrivals.

    Parameters
    ----------
    io_rate, service, queued : Interval
        Of every volume, arrays (volumes,) or numbers [1/s], [s], [I/Os]; the upper end of a queue that was not
        measured is inf.
    aliases : array_like of int, optional
        In use at the time, (volumes,) or one for all.
    law : Law
        Inflation and redrive gap of the devices.

    Returns
    -------
    Readings
        Volumes by readings.

    Raises
    ------
    InputError
        A rate or service time that is not above zero, or a queue below zero.
    """
    return read_rows(make_rows(io_rate, service, queued, aliases), law, COARSE, priors.ONE_ROW)


def read_several(rows: Sequence[tuple[Interval, Interval, Interval, ArrayLike]], *, law: Law) -> Readings:
    """Read rows of the same volumes at several numbers of aliases: the fewest are read, the others weigh the readings.

    Each reading predicts rate and wait at the other rows. Its weight is multiplied by exp(-(a^2 + b^2) / 2), a the
    difference of the
    logarithms of (wait + .03 services) over .15, b that of the ratio of both rates over .05.

    Parameters
    ----------
    rows : sequence of tuple
        I/O rate, service, queue as for `read_volumes`, and the aliases in use, in the order of measurement.
    law : Law
        Inflation and redrive gap of the devices.

    Returns
    -------
    Readings
        On a finer ladder of readings where there are several rows.

    Raises
    ------
    InputError
        No row, or as of `read_volumes`.
    """
    if not rows:
        raise InputError("rows", 0, "one row of averages or more")
    given = [make_rows(*row) for row in rows]
    if len(given) == 1:
        return read_rows(given[0], law, COARSE, priors.ONE_ROW)
    fewest = np.argmin([each.devices for each in given], axis=0)
    order = np.array([[k for k in range(len(given)) if k != first] for first in fewest]).T
    first = _picked(given, fewest)
    found = read_rows(first, law, FINE, priors.TWO_ROWS)
    for which in order:
        found = _weighed(found, _picked(given, which))
    return found


def _picked(given: Sequence[Rows], which: Indices) -> Rows:
    """For every volume its row of that number."""
    volumes = np.arange(which.size)
    return Rows(
        **{
            item.name: np.stack([getattr(each, item.name) for each in given])[which, volumes]
            for item in fields(Rows)
        }
    )


def _weighed(readings: Readings, rows: Rows) -> Readings:
    """Weights times the likelihood of another row."""
    there = readings.predict(np.unique(rows.devices) - 1)
    at = np.searchsorted(np.unique(rows.devices), rows.devices)[:, None, None]
    rate, queue = (np.take_along_axis(each, at, axis=2)[..., 0] for each in (there.rate, there.queue))
    ratio = rows.rate / readings.rows.rate
    service = rows.service[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        predicted = queue / rate / service
        measured = (rows.queue / rows.rate / rows.service)[:, None]
        digits = ((rows.queue_high - rows.queue) / rows.rate / rows.service)[:, None] * UNIFORM
        error = np.hypot(WAIT_ERROR * (np.minimum(predicted, measured) + SAME_WAIT), digits)
        off = np.minimum((predicted - measured) / error, LARGEST_STRAIN) ** 2
        off += ((rate / readings.rows.rate[:, None] - ratio[:, None]) / RATIO_ERROR) ** 2
    off = np.where(np.isfinite(off), off, np.inf)
    least = np.min(np.where(readings.used, off, np.inf), axis=1, keepdims=True)
    weight = readings.weight * np.exp(-0.5 * (off - np.where(np.isfinite(least), least, 0.0)))
    total = weight.sum(axis=1, keepdims=True)
    weight = np.where(total > 0, weight / np.where(total > 0, total, 1.0), readings.weight)
    return replace(readings, weight=weight, others=(*readings.others, rows))


def read_rows(rows: Rows, law: Law, layout: Layout, scales: priors.Scales) -> Readings:
    """As `read_volumes`, on rows and a layout."""
    unknown = np.isinf(rows.queue_high)
    asked = replace(rows, queue=np.where(unknown, 0.0, effective_queue(rows)))
    wide = _widened(asked, law)
    demands, service_time = rowwise.invert(wide, layout, law.inflation, law.redrive_time)
    gap = law.redrive_time / service_time
    most = int(rows.devices.max())
    here = kinds.solve(demands, layout, most, law.inflation, gap)
    at = rows.devices.astype(np.int64) - 1, np.arange(rows.rate.size)
    tiled = rowwise.repeated(wide, layout.kind.size)
    rate, queue, busy = (values[at].ravel() for values in (here.rate, here.queue, here.busy))
    with np.errstate(invalid="ignore", over="ignore"):
        of_service, of_queue = rowwise.strains(rate, queue, busy, tiled)
    strain = np.maximum(np.abs(of_service), np.abs(of_queue)).reshape(service_time.shape)
    steady = np.isin(layout.kind, kinds.STEADY)
    strain = np.where(steady, strain, np.where(np.isfinite(strain), 0.0, np.nan))
    # Of Poisson arrivals at the measured rate, whether or not they fit the queue.
    poisson = _poisson_queue(rows, law)
    ratio = np.maximum(rows.queue_low, 0.0) / poisson
    # Service times more or less variable than exponential ones: scv .2 to 1.3.
    variable = (ratio <= priors.POISSON_RATIOS[1]) & (rows.queue_high / poisson >= priors.POISSON_RATIOS[0])
    with np.errstate(invalid="ignore"):
        alone = here.queue[0] / np.where(here.rate[0] > 0, here.rate[0], np.nan)
    weight = priors.weights(demands, layout, alone, np.where(unknown, 0.0, ratio), strain, variable, scales)
    weight[unknown] = 0.0
    weight[unknown, 0] = 1.0
    return Readings(
        law=law, layout=layout, demands=demands, service_time=service_time, weight=weight, strain=strain, ratio=ratio,
        wait=alone, rows=rows,
    )  # fmt: skip


def effective_queue(rows: Rows) -> Array:
    """The queue that bursts must give: as measured; a third of what rounding hides where it prints as nothing."""
    return np.maximum(rows.queue, np.where(np.isfinite(rows.queue_high), rows.queue_high, 0.0) / 3)


def _widened(rows: Rows, law: Law) -> Rows:
    """With aliases at work the law is asked what it was not fitted to: its error widens the digits."""
    error = np.where(rows.devices > 1, law.model_error, 0.0)
    present = error * (rows.queue + rows.rate * rows.service)
    return replace(
        rows,
        queue_low=rows.queue_low - present, queue_high=rows.queue_high + present,
        service_low=rows.service_low * (1 - error), service_high=rows.service_high * (1 + error),
    )  # fmt: skip


def _poisson_queue(rows: Rows, law: Law) -> Array:
    """Queue of Poisson arrivals at the measured rate; inf where they saturate."""
    one = np.ones_like(rows.rate)
    alone = rows.service.copy()
    queue = one
    for _ in range(rowwise.PASSES):
        station = chains.Station(most=int(rows.devices.max()), inflation=law.inflation,
                                         gap=law.redrive_time / alone)  # fmt: skip
        rate, queue, busy = chains.batches(station, rows.rate * alone, one, one).at(rows.devices)
        alone = rows.service / np.maximum(busy / rate, 1.0)
    return queue


def make_rows(io_rate: Interval, service: Interval, queued: Interval, aliases: ArrayLike) -> Rows:
    """Checked arrays of one shape."""
    parts = [np.asarray(end, dtype=np.float64) for each in (io_rate, service, queued) for end in each]
    *flat, used = (np.atleast_1d(a).astype(float).ravel() for a in np.broadcast_arrays(*parts, aliases))
    rate_low, rate, rate_high, low, time, high, queue_low, queue, queue_high = flat
    for name, values, unit in (("io_rate", rate, "1/s"), ("service", time, "s")):
        if not (np.isfinite(values) & (values > 0)).all():
            raise InputError(name, float(values[~(values > 0)][0]), "a finite number above 0", unit)
    if not (queue >= 0).all():
        raise InputError("queued", float(queue[~(queue >= 0)][0]), "a number of I/Os, 0 or more")
    if not ((used >= 0) & (used <= MOST_ALIASES) & (used == np.round(used))).all():
        raise InputError("aliases", aliases, f"whole numbers from 0 to {MOST_ALIASES}")
    return Rows(rate=rate, service=time, queue=queue, queue_low=queue_low, queue_high=queue_high, service_low=low,
                service_high=high, rate_low=rate_low, rate_high=rate_high, devices=used + 1)  # fmt: skip
