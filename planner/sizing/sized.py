"""One volume or pool, read and solved, and the one way in which its answer is made: count, range, curve, sentences."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from planner.demand import DeviceModel, Target
from planner.demand.drawn_pool import PoolRow
from planner.demand.pooled import PoolInUse
from planner.demand.steady import Candidate
from planner.devices import Performance
from planner.errors import InfeasibleError, PlannerError
from planner.interval import Interval
from planner.measurements import Run
from planner.results import Array
from planner.sizing.answer import AliasAnswer, NamedDemand
from planner.sizing.bounds import Correction, band, holding, reaching, through
from planner.sizing.comparison import Gain, helped
from planner.sizing.fewest import excess_of
from planner.sizing.wording import with_sentences
from planner.units import ADDRESSES, MILLISECOND, readable

ROWS_BEYOND: Final = 2
TRIED: Final = ("no_alias", "tries", "fails", "fewest_free", "most_free")
LEAST_SHOWN: Final = 1e-3  # I/Os queued that any report shows
EXTRAPOLATED: Final = 0.3
"""Error of a wait with fewer aliases than measured, as a share of its change, in logarithms: of crowded pools (`python
-m tests.demand.accuracy 601 0 40 --crowded`, and 701) 91 % of such responses are within the band, without it 81 %."""


def with_fails(rows: Performance, no_alias: Array, fails: Array) -> Performance:
    """The same with the share of I/Os in need of an alias that find none, and their rate; tries nan where none does."""
    tries = np.divide(fails, no_alias, out=np.full(fails.shape, np.nan), where=no_alias > 0)
    return replace(rows, no_alias=no_alias, tries=tries, fails=fails)


def curve(counts: Array, rate: Array, service: Array, queued: Array, volumes: int = 1) -> Performance:
    """Figures of equal volumes at some counts; how often an alias is asked for is not known."""
    nothing = np.full(counts.shape, np.nan)
    return Performance(
        aliases=counts, io_rate=rate, service_time=service, queued=queued, no_alias=nothing, tries=nothing,
        fails=nothing, fewest_free=nothing, most_free=nothing, volume_rates=(rate / volumes)[:, None],
        volume_responses=(queued / rate + service)[:, None],
    )  # fmt: skip


@dataclass(slots=True)
class ReadCache:
    """What was read of measurements, by their `id`: asked again with another growth, they are not read again.

    All of one model and target: `runs` beside the same with their volumes in order, `rows` of pools, pools `in_use` as
    they were read, and `steady` demands, all or the preferred one.
    """

    runs: dict[int, tuple[Run, Run]] = field(default_factory=dict)
    rows: dict[int, PoolRow] = field(default_factory=dict)
    in_use: dict[int, PoolInUse] = field(default_factory=dict)
    steady: dict[tuple[int, bool], list[Candidate]] = field(default_factory=dict)


class Sized(ABC):
    """A measured volume or pool with its demand: the curve of its `model`, counts of `others`, `bands` around it."""

    decided = ""  # what the answer rests on, in two words
    saturated = False
    none_does = False  # whether it is known that no count meets the target
    residual = 0.0  # normalized residual of the nearest demand: 1 and less fits
    grouping_error = 0.0
    unsolved: PlannerError | None = None  # why the solver has no answer to it
    range_asked = True  # or the count alone
    found_count: int | None = None  # found beside those of others

    def __init__(
        self, runs: tuple[Run, ...], device_model: DeviceModel, target: Target, growth: float
    ) -> None:
        self.runs, self.device_model, self.target, self.growth = runs, device_model, target, growth
        # The same with both ends of a service time or queue that is known by its ends only.
        self.at_ends: tuple[Sized | PlannerError | None, ...] = ()

    @property
    def run(self) -> Run:
        """The present state."""
        return self.runs[-1]

    @property
    @abstractmethod
    def guess(self) -> int:
        """A count near the answer."""

    @abstractmethod
    def model(self, counts: Array, *, measured: bool = False) -> Performance:
        """What the preferred demand does with some counts, rising: grown, or as it was `measured`."""

    @abstractmethod
    def others(self) -> list[int]:
        """Counts of all other demands and models that are possible."""

    @abstractmethod
    def bands(self, rows: Performance, model: Performance) -> Iterator[tuple[Array, ...]]:
        """Of I/O rates, then of response times, what `band_of` takes, but for their name and `chosen`."""

    @property
    def moved_before(self) -> dict[str, Array]:
        """Shift of each figure by each possible model before the demand grew, in logarithms; empty if unknown."""
        return {}

    def band_of(
        self, name: str, chosen: Array, values: Array, plain: Array, moved: Array, beside: Array | None = None
    ) -> Interval:
        """`bounds.band` of I/O rates or response times; `chosen` are `plain` corrected, as `moved` are to be.

        It also holds the values `beside`, (some, counts), to which no error of the model is added.
        """
        with np.errstate(invalid="ignore"):
            moved = moved * np.where(np.isfinite(chosen / plain), chosen / plain, 1.0)
        before = self.moved_before.get(name) if self.growth and len(moved) else None
        found = band(values, chosen, moved, self.device_model, self.residual, self.run.aliases, before)
        if beside is not None:
            found = reaching(found, beside.min(axis=0, initial=np.inf), beside.max(axis=0, initial=0.0))
        if name == "io_rate":
            rates = {run.aliases: run.total_rate for run in self.runs}
            return through(found, rates, self.growth, rising=True)
        queued = [run for run in self.runs if run.queue_known]
        times = {run.aliases: run.mean_service + run.total_queue / run.total_rate for run in queued}
        return through(found, times, self.growth)

    def least_service(self, rows: Performance) -> Array:
        """Shortest service times that the demands leave open [s]."""
        return rows.service_time

    @abstractmethod
    def named(self, count: int, rows: Performance) -> tuple[NamedDemand, ...]:
        """The demands in words, the preferred one first, with the rate that `rows` has."""

    @abstractmethod
    def sentences(self, answer: AliasAnswer) -> tuple[Sequence[str], Sequence[str], bool]:
        """What to say before and after the notes on the measurement; whether another measurement would decide."""

    @property
    def together(self) -> Interval | None:
        """How much the bursts of a pool's volumes come together, where measurements show it."""
        return None

    @property
    def together_count(self) -> int | None:
        """The count if they all do, where nothing shows it."""
        return None

    def with_tries(self, rows: Performance) -> Performance:
        """The same with how often an alias is asked for, where that is known and costs more."""
        return rows

    def classic(self) -> int | None:
        """Aliases that classic PAV would take for the target, no fewer than shared ones; None if unknown."""
        found = self.each_alone()
        return None if found is None else max(found, self.count)

    def each_alone(self) -> int | None:
        """Aliases of all volumes, each with its own; None where nobody asks, or one cannot meet the target."""
        return None

    def gains(self, rows: Performance, count: int) -> tuple[Gain, ...]:
        """What the volumes get from a count."""
        return ()

    @cached_property
    def correction(self) -> Correction:
        """What the model misses of the measurements."""
        counts = np.array(sorted({run.aliases for run in self.runs}), dtype=np.float64)
        model = self.model(np.minimum(counts, float(max(self.run.most_aliases, 0))), measured=True)
        return Correction.of(model, self.runs, self.growth)

    def bounds(self, shortest: Any, longest: Any) -> tuple[int, int]:
        """Count that misses the target with the shortest queue, -1 if none, and one that meets it with the longest.

        As measured: growth keeps a miss, and a smaller demand keeps what meets the target.
        """
        run, most = self.run, self.run.most_aliases
        if not run.queue_known or not self.target.of_waits:
            return -1, most
        at, rate, service = min(run.aliases, most), run.total_rate.value, run.mean_service.value
        misses, meets = ~self.target.met(rate, service, shortest), self.target.met(rate, service, longest)
        return at if misses and self.growth >= 0 else -1, at if meets and self.growth <= 0 else most

    @property
    def first_last(self) -> int:
        """The count up to which the answer most likely lies."""
        return self._beyond(self.guess, self.run.rule_of_thumb)

    def _beyond(self, count: int, rule_of_thumb: int | None) -> int:
        """A little more than these counts and the measured ones, limited by the addresses."""
        most = max(count, rule_of_thumb or 0, *(run.aliases for run in self.runs))
        return min(most + ROWS_BEYOND, self.run.most_aliases)

    @cached_property
    def sweep(self) -> tuple[Performance, Performance]:
        """Every count from 0 to beyond the answer: corrected, and as the model has it."""
        if self.unsolved is not None:
            raise self.unsolved
        limit, last = self.run.most_aliases, self.first_last
        while True:
            model = self.model(np.array([float(limit)]) if self.none_does else np.arange(last + 1.0))
            rows = self.correction.applied(model)
            first = self._first(rows)
            if (first is not None and not self.none_does) or self.saturated:
                return rows, model
            if last >= limit or self.none_does:
                whose = f"{self.run.name} ({self.run.interval})" if self.run.interval else self.run.name
                raise InfeasibleError(f"{whose}: {self._out_of_reach(rows)}")
            last = min(2 * last + ROWS_BEYOND, limit)

    @property
    def aliases_now(self) -> Array:
        """Aliases in use, limited by the addresses; shape (1,)."""
        return np.array([float(min(self.run.aliases, self.run.most_aliases))])

    def _first(self, rows: Performance) -> int | None:
        met = excess_of(self.target, rows) <= 1.0
        return int(np.argmax(met)) if met.any() else None

    @cached_property
    def count(self) -> int:
        """Smallest count that meets the target; a first step where the demand is unknown."""
        if self.found_count is not None:
            return self.found_count
        if self.saturated:
            return min(self.guess, self.run.most_aliases)
        first = self._first(self.sweep[0])
        assert first is not None
        return first

    @cached_property
    def rule_of_thumb(self) -> int | None:
        """Aliases in use plus the queue, grown with the demand, rounded up."""
        run = self.run
        if not self.growth or not run.queue_known:
            return run.rule_of_thumb
        most = run.bases + run.idle + run.most_aliases
        return min(run.aliases + math.ceil(round(run.thumb_queue * (1 + self.growth), 6)), most)

    @cached_property
    def range(self) -> tuple[int, int]:
        """90 % range of the count."""
        ends = [self.count, *self.others()]
        if self.rule_of_thumb is not None:
            ends.append(self.rule_of_thumb)
        low, high = min(ends), max(ends)
        if self.residual > 1.0:
            low, high = low - 1, high + 1
        misses, meets = self.bounds(max(self.run.total_queue.low, 0.0), self.run.total_queue.high)
        low, high = max(low, min(misses + 1, self.count)), min(high, max(meets, self.count))
        if not self.run.queue_known:  # I/Os that never meet need no more devices than they keep busy
            low = min(low, math.ceil(self.run.beyond_bases(1.0 + self.growth)))
        for end in self.at_ends:
            try:
                if not isinstance(end, Sized):
                    raise InfeasibleError(str(end))
                least, most = end.range if end.range_asked else (end.count, end.count)
                low, high = min(low, least), max(high, most)
            except PlannerError:
                high = self.run.most_aliases  # no count answers it
        return max(low, 0), max(min(high, self.run.most_aliases), self.count)

    def answer(self) -> AliasAnswer:
        """The whole answer."""
        rows, model = self.sweep
        run, count = self.run, self.count
        last = self._beyond(count, self.rule_of_thumb)
        if last >= rows.aliases.size:
            model = self.model(np.arange(last + 1.0))
            rows = self.correction.applied(model)
        # by the model's own queue, which the digits may hide where it was measured
        model = self.with_tries(model.some(slice(last + 1)))
        rows = replace(rows.some(slice(last + 1)), **{name: getattr(model, name) for name in TRIED})
        named = zip(("io_rate", "response_time"), self.bands(rows, model), strict=True)
        bands = (self.band_of(name, getattr(rows, name), *each) for name, each in named)
        rate, response = self._of_finitely_many(rows, *bands)
        response = self._with_fewer(response, rows)
        found = AliasAnswer(
            name=run.name, interval=run.interval, recommended=count, range=self.range,
            rule_of_thumb=self.rule_of_thumb, in_use=run.aliases, measured=tuple(each.aliases for each in self.runs),
            last_aliases=run.last_aliases,
            target=self.target, growth=self.growth, readings=self.named(count, rows), rows=rows,
            rate=holding(rate, rows.io_rate),
            response=holding(self._within_range(response, rows), rows.response_time), saturated=self.saturated,
            helps=helped(rows, run.aliases, count), together=self.together, together_count=self.together_count,
            given=run.bases > 1 and not np.isnan(run.together).any(), strain=self.residual,
            waiting=run.waiting, assumed=run.assumed, classic=self.classic(), gains=self.gains(rows, count),
            grouping_error=self.grouping_error, device_model=self.device_model,
        )  # fmt: skip
        before, after, open_yet = self.sentences(found)
        return with_sentences(self.runs, found, before, after, open_yet=open_yet)

    def _of_finitely_many(
        self, rows: Performance, rate: Interval, response: Interval
    ) -> tuple[Interval, Interval]:
        """The same where a queue of open arrivals has no end: of finitely many requesters it has one, and some wait."""
        endless = np.isposinf(rows.response_time)
        first = int(np.argmin(endless))
        most = np.where(endless, rate.high[first], -np.inf)
        least = np.where(endless, response.low[first], np.inf)
        return reaching(rate, rate.low, most), reaching(response, least, response.high)

    def _with_fewer(self, response: Interval, rows: Performance) -> Interval:
        """A band with the error of waits with fewer aliases than measured: how steeply they rise, nothing has shown."""
        run = min(self.runs, key=lambda run: run.aliases)
        if run.bases == 1 or not run.queue_known:
            return response
        rate, queue, service = run.total_rate.value, run.total_queue, rows.service_time
        now = float(max(queue.value, queue.high - queue.value, LEAST_SHOWN) / rate)
        low, high = (np.maximum(each - service, now) for each in (response.low, response.high))
        less = low ** (1.0 - EXTRAPOLATED) * now**EXTRAPOLATED
        more = high ** (1.0 + EXTRAPOLATED) / now**EXTRAPOLATED
        fewer = rows.aliases < run.aliases
        return reaching(
            response, np.where(fewer, service + less, np.inf), np.where(fewer, service + more, -np.inf)
        )

    def _within_range(self, response: Interval, rows: Performance) -> Interval:
        """A band that says what the range of the count does: below its upper end the target may be missed, else met."""
        if not self.target.of_waits:
            return response
        low, high = self.range
        limit = rows.service_time + self.target.longest_wait(rows.io_rate, rows.service_time)
        service = self.least_service(rows)
        least = service + self.target.longest_wait(rows.io_rate, service)
        return reaching(
            response,
            np.where(rows.aliases < low, np.inf, least),
            np.where(rows.aliases < high, limit, -np.inf),
        )

    def _out_of_reach(self, rows: Performance) -> str:
        """Say that no count meets the target, and what the largest one brings."""
        limit, volumes = int(rows.aliases[-1]), self.run.bases + self.run.idle
        room = f", all that {volumes} volumes leave of {ADDRESSES} device numbers," if volumes > 1 else ""
        text = f"no count up to {limit} aliases{room} meets the target ({self.target}); "
        wait, service = (float(each[-1]) / MILLISECOND for each in (rows.wait_time, rows.service_time))
        if not math.isfinite(wait):
            return (
                text
                + f"with {limit} a queue still grows without bound: base and aliases cannot serve the load"
            )
        return text + (
            f"with {limit} the wait is {readable(wait)} ms, the response {readable(wait + service)} ms of which "
            f"{readable(service)} ms are service, which aliases do not shorten"
        )


def finite(counts: Sequence[float]) -> list[int]:
    """Counts that there are."""
    return [int(count) for count in counts if math.isfinite(count)]
