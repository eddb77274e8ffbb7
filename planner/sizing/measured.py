"""What a measurement says against the curve of a model: the curve passes through it and is monotone about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np

from planner.devices import Performance
from planner.measurements import Run
from planner.results import Array

MOST: Final = float(np.log(3.0))
"""Largest correction, either way, in logarithms: a model that is further off does not fit, which the answer says."""
NOISE: Final = 1e-6  # I/Os queued


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Correction:
    """What a model misses at measured counts, in logarithms; arrays (counts,) in rising order of the counts.

    Between two measured counts the logarithms are interpolated, and a queue moves no further than what the model
    misses of them; beyond them the nearest logarithm holds. `digits` are what the digits of the queue leave open [1];
    queues are nan where they were not measured, `queue_models` are the model's. With `exact` the measured rows
    themselves stand; the demand has grown where not.
    """

    counts: Array
    rates: Array
    services: Array
    queues: Array
    digits: Array
    rate_missed: Array
    service_missed: Array
    queue_missed: Array
    queue_models: Array
    exact: bool

    @classmethod
    def of(cls, model: Performance, runs: Sequence[Run], *, exact: bool) -> Self:
        """From the model at the measured counts, rising; of several measurements of one count the latest stands."""
        latest = {run.aliases: run for run in runs}
        measured = [latest[count] for count in sorted(latest)]
        rates, services, queues, digits = np.array(
            [
                (
                    run.total_rate.value, run.mean_service.value,
                    run.total_queue.value if run.queue_known else np.nan,
                    run.total_queue.high - run.total_queue.value if run.queue_known else np.nan,
                )
                for run in measured
            ]
        ).T  # fmt: skip
        with np.errstate(divide="ignore", invalid="ignore"):
            queue = np.log((queues + digits) / (model.queued + digits))
            rate, service = np.log(rates / model.io_rate), np.log(services / model.service_time)
        return cls(
            counts=np.array(sorted(latest), dtype=np.float64), rates=rates, services=services, queues=queues,
            digits=digits, rate_missed=_bounded(rate), service_missed=_bounded(service),
            queue_missed=np.where(np.isposinf(model.queued), 0.0, _bounded(queue)),
            queue_models=np.where(np.isposinf(model.queued), queues, model.queued), exact=exact,
        )  # fmt: skip

    def applied(self, rows: Performance) -> Performance:
        """Carry a curve, its counts rising, through what was measured."""
        counts = rows.aliases
        rate = rows.io_rate * np.exp(np.interp(counts, self.counts, self.rate_missed))
        service = rows.service_time * np.exp(np.interp(counts, self.counts, self.service_missed))
        queued = rows.queued
        known = np.isfinite(self.queues)
        if known.any():
            at = self.counts[known]
            digits = np.interp(counts, at, self.digits[known])
            factor = np.exp(np.interp(counts, at, self.queue_missed[known]))
            moved = np.maximum((queued + digits) * factor - digits, 0.0)
            # What the digits hide ends with the queue, of which the last millionth is noise.
            moved = np.where(queued > NOISE, np.minimum(moved, np.exp(MOST) * queued), 0.0)
            if at.size > 1:  # between two measurements the model is off by no more than it is there
                off = np.interp(counts, at, self.queues[known] - self.queue_models[known])
                with np.errstate(invalid="ignore"):
                    inside = (counts > at[0]) & (counts < at[-1]) & (np.abs(off) < np.abs(moved - queued))
                moved = np.where(inside, np.maximum(queued + off, 0.0), moved)
            queued = np.where(np.isfinite(queued), moved, queued)
            queued = -self._held(-queued, counts, at, -self.queues[known])
        rate = self._held(rate, counts, self.counts, self.rates)
        if self.exact:
            place = np.searchsorted(self.counts, counts)
            there = (place < self.counts.size) & (
                self.counts[np.minimum(place, self.counts.size - 1)] == counts
            )
            service = np.where(there, self.services[np.minimum(place, self.counts.size - 1)], service)
        volumes = rows.volume_rates * (rate / rows.io_rate)[:, None]
        with np.errstate(invalid="ignore"):
            moved = (service + queued / rate) / rows.response_time
            responses = rows.volume_responses * np.where(np.isfinite(moved), moved, 1.0)[:, None]
        return replace(
            rows,
            io_rate=rate,
            service_time=service,
            queued=queued,
            volume_rates=volumes,
            volume_responses=responses,
        )

    def _held(self, values: Array, counts: Array, at: Array, measured: Array) -> Array:
        """Values that rise with the count, between what was measured, which stands itself."""
        if not self.exact:
            return np.asarray(np.maximum.accumulate(values))
        below = np.searchsorted(at, counts, side="right") - 1  # the last measured count up to each
        above = np.searchsorted(at, counts, side="left")  # the first one from each on
        low = np.where(below >= 0, measured[np.maximum(below, 0)], -np.inf)
        high = np.where(above < at.size, measured[np.minimum(above, at.size - 1)], np.inf)
        found = np.clip(values, low, np.maximum(low, high))
        for part in range(-1, at.size):
            inside = (below == part) & (above == part + 1)
            found[inside] = np.maximum.accumulate(found[inside])
        return np.asarray(found)


def _bounded(missed: Array) -> Array:
    return np.asarray(np.clip(np.nan_to_num(missed, nan=0.0, posinf=MOST, neginf=-MOST), -MOST, MOST))
