"""From rows of averages to the candidates that explain them: one row, or rows at several numbers of aliases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from planner.demand import chains, inversion, kinds, priors
from planner.demand.candidates import Candidates, never_idle
from planner.demand.device_model import DeviceModel
from planner.demand.inversion import MeasuredRows
from planner.demand.kinds import COARSE, FINE, Layout
from planner.errors import InputError
from planner.interval import Interval
from planner.results import Array, Flags, Integers
from planner.units import MOST_ALIASES

WAIT_ERROR: Final = 0.15  # of a predicted wait, in its logarithm
NO_WAIT: Final = 0.015  # service times, its absolute error
UNIFORM: Final = 3**-0.5  # standard deviation of half a digit
RATIO_ERROR: Final = 0.05  # of the ratio of two rates
LEAST_QUEUE: Final = 1e-100  # I/Os, taken where Poisson arrivals would have none


def read_volumes(
    io_rate: Interval,
    service: Interval,
    queued: Interval,
    *,
    aliases: ArrayLike = 0,
    device_model: DeviceModel,
    layout: Layout = COARSE,
) -> Candidates:
    """Find every demand that gives the measured wait, one row of averages a volume.

    A volume with A aliases is a queue with c = A + 1 devices in common: with n I/Os present the rate of service is
    n / s(n) up to c and c / (s(c) + g) beyond, s(n) = S0 (1 + h (n - 1)). Each kind of demand has one number that the
    row leaves free: with it the queue at the aliases in use is the measured one. Steady demands (Poisson arrivals,
    requesters that each keep one I/O outstanding) come first where the wait is at most 1.1 times Poisson's.

    Parameters
    ----------
    io_rate, service, queued : Interval
        Of every volume, arrays (volumes,) or numbers [1/s], [s], [I/Os]; a queue that was not measured ends at inf.
    aliases : array_like of int, optional
        In use at the time, (volumes,) or one for all.
    device_model : DeviceModel
        Inflation and redrive gap of the devices.
    layout : Layout, optional
        The candidates that are looked for.

    Returns
    -------
    Candidates
        Volumes by candidates.

    Raises
    ------
    InputError
        A rate or service time that is not above zero, or a queue below zero.
    """
    return read_rows(make_rows(io_rate, service, queued, aliases), device_model, layout, priors.ONE_ROW)


def read_several(
    rows: Sequence[tuple[Interval, Interval, Interval, ArrayLike]], *, device_model: DeviceModel
) -> Candidates:
    """Candidates from rows of the same volumes at several numbers of aliases: the fewest give, the others weigh them.

    Each candidate predicts rate and wait at the other rows. Its weight is multiplied by exp(-(a^2 + b^2) / 2), a the
    difference of the logarithms of (wait + .03 services) over .15, b that of the ratio of both rates over .05. What
    each still predicts is tied to the latest row.

    Parameters
    ----------
    rows : sequence of tuple
        I/O rate, service, queue as for `read_volumes`, and the aliases in use, in the order of measurement.
    device_model : DeviceModel
        Inflation and redrive gap of the devices.

    Returns
    -------
    Candidates
        On a finer ladder of candidates where there are several rows.

    Raises
    ------
    InputError
        No row, or as of `read_volumes`.
    """
    if not rows:
        raise InputError("rows", 0, "one row of averages or more")
    given = [make_rows(*row) for row in rows]
    if len(given) == 1:
        return read_rows(given[0], device_model, COARSE, priors.ONE_ROW)
    fewest = np.argmin([each.devices for each in given], axis=0)
    order = np.array([[k for k in range(len(given)) if k != first] for first in fewest]).T
    every, volumes = MeasuredRows.joined(given), np.arange(fewest.size)
    found = read_rows(every.of(fewest * volumes.size + volumes), device_model, FINE, priors.TWO_ROWS)
    for which in order:
        found = _weighed(found, every.of(which * volumes.size + volumes))
    return found


def _weighed(candidates: Candidates, rows: MeasuredRows) -> Candidates:
    """Weights times the likelihood of another row."""
    there = replace(candidates, excess=None).predict(np.unique(rows.devices) - 1)
    at = np.searchsorted(np.unique(rows.devices), rows.devices)[:, None, None]
    rate, queue = (np.take_along_axis(each, at, axis=2)[..., 0] for each in (there.rate, there.queue))
    ratio = rows.rate / candidates.rows.rate
    service = rows.service[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        predicted = queue / rate / service
        measured = (rows.queue / rows.rate / rows.service)[:, None]
        digits = ((rows.queue_high - rows.queue) / rows.rate / rows.service)[:, None] * UNIFORM
        # Beside its relative error a wait has an absolute one.
        error = np.hypot(WAIT_ERROR * (np.minimum(predicted, measured) + NO_WAIT), digits)
        off = np.minimum((predicted - measured) / error, 1e3) ** 2
        off += ((rate / candidates.rows.rate[:, None] - ratio[:, None]) / RATIO_ERROR) ** 2
        # Waits of a hundredth of a service time show nothing of longer ones.
        digit = 0.01 + digits / UNIFORM
        excess = np.log((measured + digit) / (predicted + digit))
    excess = np.clip(np.nan_to_num(excess), -3.0, 3.0)
    off = np.where(np.isfinite(off), off, np.inf)
    least = np.min(np.where(candidates.used, off, np.inf), axis=1, keepdims=True)
    weight = candidates.weight * np.exp(-0.5 * (off - np.where(np.isfinite(least), least, 0.0)))
    total = weight.sum(axis=1, keepdims=True)
    weight = np.where(total > 0, weight / np.where(total > 0, total, 1.0), candidates.weight)
    return replace(candidates, weight=weight, others=(*candidates.others, rows), excess=excess)


def read_rows(
    rows: MeasuredRows, device_model: DeviceModel, layout: Layout, scales: priors.Scales
) -> Candidates:
    """As `read_volumes`, on rows and a layout."""
    unknown = np.isinf(rows.queue_high)
    asked = replace(rows, queue=np.where(unknown, 0.0, effective_queue(rows)))
    wide = _widened(asked, device_model)
    demands, service_time = inversion.invert(wide, layout, device_model)
    gap = device_model.redrive_time / service_time
    most = int(rows.devices.max())
    here, _ = kinds.solve(demands, layout, most, device_model.inflation, gap)
    at, tiled = chains.own(rows.devices), wide.changed(lambda values: np.repeat(values, layout.kind.size))
    rate, queue, busy = (values[at].ravel() for values in (here.rate, here.queue, here.busy))
    with np.errstate(invalid="ignore", over="ignore"):
        of_service, of_queue = inversion.strains(rate, queue, busy, tiled)
    residual = np.maximum(np.abs(of_service), np.abs(of_queue)).reshape(service_time.shape)
    steady = np.isin(layout.kind, kinds.STEADY)
    residual = np.where(steady, inversion.on_edge(residual), np.where(np.isfinite(residual), 0.0, np.nan))
    # Of Poisson arrivals at the measured rate, whether or not they fit the queue.
    poisson = poisson_queue(rows, device_model)
    ratio = _ratio(rows, poisson)
    # Service times more or less variable than exponential ones: scv .2 to 1.3.
    variable = (ratio <= priors.POISSON_RATIOS[1]) & (rows.queue_high / poisson >= priors.POISSON_RATIOS[0])
    with np.errstate(invalid="ignore"):
        alone = here.queue[0] / np.where(here.rate[0] > 0, here.rate[0], np.nan)
    weight = priors.weights(demands, layout, alone, np.where(unknown, 0.0, ratio), residual, variable, scales)
    weight[unknown] = 0.0
    weight[unknown, 0] = 1.0
    residual = _on_both_sides(residual, of_queue.reshape(residual.shape), steady, ratio)
    return Candidates(
        device_model=device_model, layout=layout, demands=demands, service_time=service_time, weight=weight,
        residual=residual, ratio=ratio, wait=alone, rows=rows,
    )  # fmt: skip


def _on_both_sides(residual: Array, of_queue: Array, steady: Flags, ratio: Array) -> Array:
    """Where no steady candidate fits a calm row, the nearest on either side do: their residual is set to 1.

    Queues rise from one requester, who never waits, to Poisson arrivals and bursts. Weights use the former residuals.
    """
    residual = residual.copy()
    known = np.where(steady & np.isfinite(residual), residual, np.inf)
    rows = np.flatnonzero((known.min(axis=1) > 1.0) & (ratio <= priors.STEADY_UP_TO))
    shorter, longer = (np.where(side, known, np.inf)[rows] for side in (of_queue < 0.0, of_queue > 0.0))
    for each in (shorter, longer):
        found = np.isfinite(shorter.min(axis=1)) & np.isfinite(each.min(axis=1))
        residual[rows[found], each.argmin(axis=1)[found]] = 1.0
    return residual


def steady_volumes(
    io_rate: Interval, service: Interval, queued: Interval, *, device_model: DeviceModel
) -> tuple[Flags, Flags]:
    """Which volumes without aliases `read_volumes` would find steady, and which never idle."""
    rows = make_rows(io_rate, service, queued, 0)
    return poisson_ratio(rows, device_model) <= priors.STEADY_UP_TO, never_idle(rows, device_model)


def poisson_ratio(rows: MeasuredRows, device_model: DeviceModel) -> Array:
    """Measured wait, less half a digit, over that of Poisson arrivals, (volumes,)."""
    return _ratio(rows, poisson_queue(rows, device_model))


def _ratio(rows: MeasuredRows, poisson: Array) -> Array:
    # Nine decimals, so that a rule takes what lies where it begins, however it was rounded.
    return np.asarray((np.maximum(rows.queue_low, 0.0) / poisson).round(9))


def effective_queue(rows: MeasuredRows) -> Array:
    """The queue that bursts must give: as measured; a third of half a digit where it prints as 0."""
    return np.maximum(rows.queue, np.where(np.isfinite(rows.queue_high), rows.queue_high, 0.0) / 3)


def _widened(rows: MeasuredRows, device_model: DeviceModel) -> MeasuredRows:
    """Rows widened by the error of the model where aliases are in use: it was not fitted to those."""
    error = np.where(rows.devices > 1, device_model.model_error, 0.0)
    present = error * (rows.queue + rows.rate * rows.service)
    return replace(
        rows,
        queue_low=rows.queue_low - present, queue_high=rows.queue_high + present,
        service_low=rows.service_low * (1 - error), service_high=rows.service_high * (1 + error),
    )  # fmt: skip


def poisson_queue(rows: MeasuredRows, device_model: DeviceModel) -> Array:
    """Queue of Poisson arrivals at the measured rate, no less than LEAST_QUEUE; inf where they saturate."""
    one = np.ones_like(rows.rate)
    alone = rows.service.copy()
    queue = one
    for _ in range(3):
        station = chains.DeviceStation(most=int(rows.devices.max()), inflation=device_model.inflation,
                                         gap=device_model.redrive_time / alone)  # fmt: skip
        rate, queue, busy = chains.batches(station, rows.rate * alone, one, one).at(rows.devices)
        alone = rows.service / np.maximum(busy / rate, 1.0)
    return np.maximum(queue, LEAST_QUEUE)


def make_rows(io_rate: Interval, service: Interval, queued: Interval, aliases: ArrayLike) -> MeasuredRows:
    """Checked arrays of one shape."""
    parts = [np.asarray(end, dtype=np.float64) for each in (io_rate, service, queued) for end in each]
    *flat, used = (np.atleast_1d(a).astype(float).ravel() for a in np.broadcast_arrays(*parts, aliases))
    _, rate, _, low, time, high, queue_low, queue, queue_high = flat
    for name, values, unit in (("io_rate", rate, "1/s"), ("service", time, "s")):
        if not (np.isfinite(values) & (values > 0)).all():
            raise InputError(name, float(values[~(values > 0)][0]), "a finite number above 0", unit)
    if not (queue >= 0).all():
        raise InputError("queued", float(queue[~(queue >= 0)][0]), "a number of I/Os, 0 or more")
    if not ((used >= 0) & (used <= MOST_ALIASES) & (used == np.round(used))).all():
        raise InputError("aliases", aliases, f"whole numbers from 0 to {MOST_ALIASES}")
    return MeasuredRows(
        rate=rate, service=time, queue=queue, queue_low=queue_low, queue_high=queue_high, service_low=low,
        service_high=high, devices=used + 1,
    )  # fmt: skip


def with_queues(candidates: Candidates, volumes: Integers, waits: Array) -> Candidates:
    """Candidates of `volumes`, which may repeat, had their waits been these [service times]."""
    rows = candidates.rows.of(volumes)
    queue = waits * rows.rate * rows.service
    half = rows.queue_high - rows.queue
    asked = replace(rows, queue=queue, queue_low=queue - half, queue_high=queue + half)
    growth = np.broadcast_to(candidates.growth, candidates.ratio.shape)[volumes]
    return read_rows(asked, candidates.device_model, candidates.layout, priors.ONE_ROW).grown(growth)
