"""Aliases of a volume with its own: every demand that explains it, and the answer under the one that is chosen."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from planner import queueing
from planner.demand import (
    Candidates,
    Counts,
    DeviceModel,
    Target,
    in_words,
    point_and_range,
    read_several,
    read_volumes,
)
from planner.demand.candidates import STAGES
from planner.demand.drawn_pool import all_volumes
from planner.demand.kinds import STEADY
from planner.demand.priors import FAR_FROM_SATURATED
from planner.devices import Performance, Pool, Volume, VolumeClass
from planner.errors import PlannerError
from planner.measurements import Run
from planner.results import Array, Flags, Integers, by_key
from planner.sizing.answer import AliasAnswer, NamedDemand
from planner.sizing.bounds import NORMAL_90, counts_at_ends, ends_of, spaced
from planner.sizing.sized import Sized, curve, finite, with_fails
from planner.sizing.volumes import fitted, rates_differ
from planner.sizing.wording import of_volume

if TYPE_CHECKING:
    from planner.calibrate import Fit

ALWAYS: Final = 0.99  # share of the time from which on requesters are as good as always active
MOST_REQUESTERS: Final = 16  # whose tries the chain of a pool has
NOTHING: Final = 1e-7  # I/Os queued, from which on no try fails
CLASSIC: Final = 32  # aliases of one volume up to which a count is sought
TINY: Final = 1e-9  # seconds
OTHER_SCVS: Final = (0.5, 1.3)
"""Of service. Of simulated steady volumes (seed 520) 92 to 100 % lie within the bands, without it 72 to 82."""


class SizedVolume(Sized):
    """One volume: `measured` as it was read, `read` grown, and the counts under every candidate."""

    def __init__(
        self, runs: tuple[Run, ...], device_model: DeviceModel, target: Target, growth: float, measured: Candidates,
        read: Candidates, counts: Counts, *, fitted: bool = False, left_out: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        super().__init__(runs, device_model, target, growth)
        self.measured, self.read, self.fitted, self.left_out = measured, read, fitted, left_out
        self.counts = _fewest_requesters(self.run, read, counts)
        self.solved: Performance | None = None  # the curve from 0 on, where it was solved with other volumes
        self.saturated = bool(self.counts.saturated[0])
        self.residual = _residual(read)
        self.decided = (
            "saturated" if self.saturated else "steady demand" if read.steady[0] else "bursty demand"
        )

    @property
    def chosen(self) -> int:
        """Column of the candidate that is printed and predicted from."""
        return int(self.counts.chosen[0])

    @property
    def guess(self) -> int:
        """The count over all candidates."""
        return int(self.counts.point[0])

    def model(self, counts: Array, *, measured: bool = False) -> Performance:
        """By the chosen candidate: as it was solved with other volumes, else solved here."""
        solved = None if measured and self.growth else self.solved
        if solved is None or counts[-1] >= solved.aliases.size:
            read, chosen = self.measured if measured else self.read, np.array([self.chosen])
            (solved,) = _predicted_together(read, chosen, int(counts[-1]) + 1)
        rows = solved.some(counts.astype(np.int64))
        return rows if measured or self.target.of_waits else self.with_tries(rows)

    def with_tries(self, rows: Performance) -> Performance:
        """The same with how often an alias is tried: of steady demand, and of any other where the target needs it."""
        read, k = self.read, self.chosen
        part = _steady_class(read, k)
        if part is None and self.target.of_waits:
            return rows
        if part is None or not _by_chain(part):  # by the balance of base and aliases
            shares = read.predict(rows.aliases.astype(np.int64), tries=True)
            waits, without = (np.asarray(each)[0, k] for each in (shares.waits, shares.no_alias))
            return with_fails(rows, without, waits)
        volume = Volume(demand=part, service_time=read.service_time[0, k], **read.device_model.parameters)
        nothing = np.flatnonzero(rows.queued <= NOTHING)
        useful = int(nothing[0]) + 1 if nothing.size else rows.aliases.size
        solved = volume.solve(rows.aliases[:useful])
        beyond = rows.aliases[useful:]  # where no try fails, one alias more is one more free
        more = np.arange(1.0, beyond.size + 1.0)
        ends = {"no_alias": 0.0 * more, "tries": solved.tries[-1] + 0.0 * more, "fails": 0.0 * more}
        ends |= {name: getattr(solved, name)[-1] + more for name in ("fewest_free", "most_free")}
        found = {name: np.append(getattr(solved, name), end) for name, end in ends.items()}
        return replace(rows, **found)

    @cached_property
    def moved_counts(self) -> list[int]:
        """Counts at both ends of what the model leaves open."""
        return finite(
            counts_at_ends(self.read, self.counts.chosen, self.device_model, self.target)[:, 0].tolist()
        )

    @property
    def _fitting(self) -> list[int]:
        """Counts of all candidates that count for the range."""
        return finite(self.counts.each[0, counting(self.read)].tolist())

    def others(self) -> list[int]:
        """All candidates that count for the range, and what the calibration leaves open."""
        ends = self._fitting
        if not self.fitted:
            ends += [int(self.counts.low[0]), int(self.counts.high[0])]
        return ends if self.saturated else [*ends, *self.moved_counts]

    def _out_of_reach(self, rows: Performance) -> str:
        """What the largest count comes to; the least that demands need which fit the row as well."""
        text = super()._out_of_reach(rows)
        if not self._fitting:
            return text
        fewest = f"demands that fit the row as well need {min(self._fitting)} or more"
        return f"{text}; {fewest}: a row with another number of aliases decides"

    def bands(self, rows: Performance, model: Performance) -> Iterator[tuple[Array, ...]]:
        """Over the candidates that count, widened by the errors of the model."""
        counts = np.arange(rows.aliases.size)
        solved, keep, k = self.read.predict(counts), counting(self.read), self.chosen
        figures = (
            (solved.rate[0], solved.response[0]),
            self._moved(self.read, counts),
            self._of_other_service(counts),
        )
        for values, moved, others in zip(*figures, strict=True):
            yield values[keep], values[k], moved, others

    def _of_other_service(self, counts: Integers) -> tuple[Array, Array]:
        """Rates and responses of steady demands that fit if service times vary more or less than exponential ones.

        Measured without aliases: N requesters think N / rate - response, by Little's law, and respond as measured with
        one scv of `OTHER_SCVS` or between. Arrays (demands, counts), counts from 0; none of bursty rows.
        """
        run, read = self.run, self.measured
        none = np.empty((0, counts.size))
        if read.others or run.aliases or not run.queue_known or not read.steady[0]:
            return none, none
        measured = run.mean_service + run.total_queue / run.total_rate
        people, service = read.demands.population, np.broadcast_to(run.service.value, read.weight.shape)
        think = people / run.io_rate.value - measured.value
        fits = np.isin(read.layout.kind, STEADY) & ~(think <= 0.0) & np.isfinite(read.residual)
        think = np.maximum(think, TINY)  # nan of open arrivals
        shortest, longest = (_response(run.io_rate.value, people, think, service, scv) for scv in OTHER_SCVS)
        fits &= (shortest <= measured.high) & (longest >= measured.low)
        if not fits.any():
            return none, none
        load = np.where(np.isnan(people), run.io_rate.value * service, read.demands.load)
        demands = replace(read.demands, think=think / service, load=load)
        read = replace(
            read, demands=demands, service_time=service, weight=fits.astype(np.float64), excess=None
        )
        solved, queued = read.predict(counts), run.total_queue.value
        here = solved.queue[fits][:, :1]
        tie = np.divide(
            queued, here, out=np.ones_like(here), where=(queued > 0.0) & (here > 0.0) & np.isfinite(here)
        )
        if self.growth:
            solved = read.grown(self.growth).predict(counts)
        rate, times, queue = (each[fits] for each in (solved.rate, solved.service, solved.queue))
        return rate, times + tie * queue / rate

    @cached_property
    def moved_before(self) -> dict[str, Array]:
        """By all ends of what the model leaves open."""
        here, k = self.aliases_now.astype(np.int64), self.chosen
        (rates, responses), now = self._moved(self.measured, here), self.measured.predict(here)
        return {
            "io_rate": np.log(rates[:, 0] / now.rate[0, k, 0]),
            "response_time": np.log(responses[:, 0] / now.response[0, k, 0]),
        }

    def _moved(self, read: Candidates, counts: Integers) -> Array:
        """Rates and responses of the chosen one at the ends of what the model leaves open, (2, ends, counts)."""
        moved = [each.read.predict(counts) for each in ends_of(read, self.counts.chosen, self.device_model)]
        found = [(each.rate[0, self.chosen], each.response[0, self.chosen]) for each in moved]
        return np.array(found).reshape(-1, 2, counts.size).swapaxes(0, 1)

    def named(self, count: int, rows: Performance) -> tuple[NamedDemand, ...]:
        """The chosen candidate first, then the others that count for the range, the likeliest first."""
        read, each = self.read, self.counts.each[0]
        counts, rates = counting(read), read.predict([count]).rate[0, :, 0].copy()
        rates[self.chosen] = rows.io_rate[count]  # as the table has it: moved to what was measured
        order = [k for k in np.argsort(-read.weight[0], kind="stable") if counts[k] and k != self.chosen]
        found = []
        for k in (self.chosen, *order):
            closed = read.kind(k) in ("closed", "active")
            service = float(read.service_time[0, k])
            found.append(
                NamedDemand(
                    kind=read.kind(k), words=in_words(read, 0, k), weight=float(read.weight[0, k]),
                    count=int(each[k]) if math.isfinite(each[k]) else None, io_rate=float(rates[k]),
                    population=float(read.demands.population[0, k]) if closed else None,
                    think_time=float(read.demands.think[0, k]) * service if closed else None,
                )
            )  # fmt: skip
        return tuple(found)

    def sentences(self, answer: AliasAnswer) -> tuple[Sequence[str], Sequence[str], bool]:
        """What was left out; what the demand leaves open."""
        several = len({each.count for each in answer.readings}) > 1
        more = of_volume(self.runs, self.counts, bursty=not self.read.steady[0], several=several)
        return self.left_out, more, several or len(answer.readings) > 1


def size_volumes(
    cases: Sequence[tuple[Run, ...]], device_model: DeviceModel, target: Target, growth: Sequence[float], *,
    ranges: bool = True,
) -> list[SizedVolume | PlannerError]:  # fmt: skip
    """Read many volumes, those of one row together, ready for `ranges` if wanted; one that cannot be read says why."""
    alone = [k for k, runs in enumerate(cases) if len({run.aliases for run in runs}) == 1]
    found: dict[int, SizedVolume | PlannerError] = {}
    if alone:
        runs = [cases[k][-1] for k in alone]
        (rate, service, queued), _ = all_volumes([(run.io_rate, run.service, run.queued) for run in runs])
        measured = read_volumes(
            rate, service, spaced(queued), aliases=[run.aliases for run in runs], device_model=device_model
        )
        shares = np.array([growth[k] for k in alone])
        grown = measured.grown(shares) if shares.any() else measured
        counts = point_and_range(grown, target, ranges=ranges)
        ones = [slice(place, place + 1) for place in range(len(alone))]
        volumes = [
            SizedVolume(cases[k], device_model, target, growth[k], measured.of(one), grown.of(one), counts.of(one))
            for k, one in zip(alone, ones, strict=True)
        ]  # fmt: skip
        if len(alone) > 1:
            _solve_together(volumes, grown, ranges=ranges)
        found.update(zip(alone, volumes, strict=True))
    for k in range(len(cases)):
        if k in found:
            continue
        try:
            measured, is_fit, left_out = _read_several(cases[k], device_model)
            grown = measured.grown(growth[k]) if growth[k] else measured
            counts = point_and_range(grown, target, ranges=ranges)
            found[k] = SizedVolume(
                cases[k], device_model, target, growth[k], measured, grown, counts, fitted=is_fit, left_out=left_out
            )  # fmt: skip
        except PlannerError as problem:
            found[k] = problem
    return [found[k] for k in range(len(cases))]


def _solve_together(volumes: Sequence[SizedVolume], read: Candidates, *, ranges: bool) -> None:
    """Curves of many volumes, as in `read`; with `ranges` the counts where the model leaves them open."""
    stages = by_key((bisect_left(STAGES, each.first_last + 1), place) for place, each in enumerate(volumes))
    for some in stages.values():
        chosen = np.array([volumes[place].chosen for place in some])
        longest = max(volumes[place].first_last for place in some)
        curves = _predicted_together(read.of(np.array(some)), chosen, longest + 1)
        for place, rows in zip(some, curves, strict=True):
            volumes[place].solved = rows
    some = [place for place, each in enumerate(volumes) if not each.saturated and each.target.of_waits]
    if some and ranges:
        chosen, first = np.array([volumes[place].chosen for place in some]), volumes[some[0]]
        ends = counts_at_ends(read.of(np.array(some)), chosen, first.device_model, first.target)
        for place, counts in zip(some, ends.T, strict=True):
            volumes[place].moved_counts = finite(counts.tolist())


def _predicted_together(read: Candidates, chosen: Integers, many: int) -> list[Performance]:
    """The curve of the chosen candidate of each volume at 0 to `many` - 1 aliases; steady ones by a station's model."""
    counts = np.arange(float(many))
    rate, service, queued = (np.empty((chosen.size, many)) for _ in range(3))
    alone = read.service_time[np.arange(chosen.size), chosen]
    # In the model of a station a redrive gap follows only what waited; of many requesters that hardly matters.
    classes = {k: _steady_class(read, int(column), k) for k, column in enumerate(chosen)}
    steady = {k: part for k, part in classes.items() if part and not part.population > 8}  # noqa: PLR2004
    solvers = by_key((_station(steady[k]) if k in steady else None, k) for k in classes)
    for solve, some in solvers.items():
        index = np.array(some)
        if solve is not None:
            parts = [steady[k] for k in some]
            rate[index], service[index], queued[index] = solve(read.device_model, parts, alone[index], counts)
            continue
        place = np.arange(index.size), chosen[index]
        only = np.zeros_like(read.weight[index])
        only[place] = 1.0
        solved = replace(read.of(index), weight=only).predict(np.arange(many))
        rate[index], service[index], queued[index] = (
            each[place] for each in (solved.rate, solved.service, solved.queue)
        )
    return [curve(counts, *figures) for figures in zip(rate, service, queued, strict=True)]


def _fewest_requesters(run: Run, read: Candidates, counts: Counts) -> Counts:
    """Busy steady devices: the fewest requesters that fit; the range stays that of all candidates."""
    wait = float(run.total_queue.value / run.total_rate.value)
    short = run.busy >= FAR_FROM_SATURATED and wait < 5.0 * run.mean_service.value
    if read.others or not read.steady[0] or not short:
        return counts
    fits = [k for k in np.flatnonzero(read.fits[0]) if read.kind(int(k)) == "closed"]
    found = [k for k in fits if math.isfinite(counts.each[0, k])]
    if not found:
        return counts
    first = min(found, key=lambda k: float(read.demands.population[0, k]))
    point = np.array([int(counts.each[0, first])])
    return replace(counts, point=point, low=np.minimum(counts.low, point), chosen=np.array([first]))


def _read_several(runs: Sequence[Run], device_model: DeviceModel) -> tuple[Candidates, bool, tuple[str, ...]]:
    """Candidates from rows at several counts (steady ones by least squares), whether they fit, what was left out."""
    read = read_several(
        [(each.io_rate, each.service, spaced(each.queued), each.aliases) for each in runs],
        device_model=device_model,
    )
    if not read.steady[0] or not rates_differ(runs):
        return read, False, ()
    fits, left_out = fitted(runs, device_model)
    return _of_fits(read, fits), True, left_out


def _of_fits(read: Candidates, fits: Sequence[Fit]) -> Candidates:
    """The same with the fits in place of its closed candidates."""
    columns = [k for k in range(read.weight.shape[1]) if read.kind(k) == "closed"]
    weight, residual = np.zeros_like(read.weight), np.full_like(read.residual, np.nan)
    service = read.service_time.copy()
    population, think = read.demands.population.copy(), read.demands.think.copy()
    least = min(item.chi_square for item in fits)
    for k, item in zip(columns, fits, strict=False):
        service[0, k] = item.value("service_time")
        population[0, k], think[0, k] = item.population, item.value("think_time") / service[0, k]
        weight[0, k] = math.exp((least - item.chi_square) / 2) / item.population
        residual[0, k] = math.sqrt(item.chi_square / len(item.comparisons)) / NORMAL_90
    active = np.where(np.isin(np.arange(service.shape[1]), columns), 1.0, read.demands.active)
    demands = replace(read.demands, population=population, think=think, active=active)
    weight = weight / weight.sum()
    return replace(read, demands=demands, service_time=service, weight=weight, residual=residual, excess=None)


def counting(read: Candidates) -> Flags:
    """Candidates that count for the range: those kept, and of a steady row every steady one inside its digits."""
    kept = read.kept[0]
    if read.steady[0] and not read.others:
        steady = np.array([read.kind(k) in ("poisson", "closed") for k in range(kept.size)])
        kept = kept | (steady & read.fits[0])
    always = read.demands.active[0] > ALWAYS
    same = np.array([read.kind(k) == "active" for k in range(kept.size)]) & always
    kept = kept & ~same  # requesters that never rest are a closed candidate, less well fitted
    return np.asarray(kept if kept.any() else read.used[0])


def _response(rate: Array, people: Array, think: Array, service: Array, scv: float) -> Array:
    """Response at one device [s], by mean value analysis: an arrival waits for (1 + scv) / 2 of the I/O in service.

    (Reiser, IBM J. Res. Dev. 23, 1979.) Open arrivals, whose `people` are nan, by Pollaczek and Khinchine.
    """
    left = 0.5 * (1.0 + scv)
    busy = np.minimum(rate * service, 1.0)
    with np.errstate(divide="ignore"):
        found = service * (1.0 + left * busy / (1.0 - busy))
    present = in_service = np.zeros_like(service)
    for n in range(1, int(np.nanmax(people, initial=0.0)) + 1):
        response = service * (1.0 + present - in_service * (1.0 - left))
        done = n / (think + response)
        present, in_service = done * response, np.minimum(done * service, 1.0)
        found = np.where(people == n, response, found)
    return found


def _residual(read: Candidates) -> float:
    """Normalized residual of the nearest candidate: up to 1 it lies within the printed digits."""
    least = float(np.nanmin(np.where(read.used[0], read.residual[0], np.inf)))
    return least if math.isfinite(least) else 0.0


def _by_chain(part: VolumeClass) -> bool:
    """Whether the chain of a pool gives the tries of such a demand; else the balance of its devices does."""
    open_ = math.isnan(part.population)
    return open_ or (part.population.is_integer() and part.population <= MOST_REQUESTERS)


def _station(part: VolumeClass) -> Callable[..., tuple[Array, Array, Array]]:
    return _open_station if math.isnan(part.population) else _closed_station


def _open_station(
    device_model: DeviceModel | Pool, parts: Sequence[VolumeClass], alone: Array, counts: Array
) -> tuple[Array, Array, Array]:
    """Rate, service time, queue of Poisson arrivals, (volumes, counts)."""
    arrivals = np.array([[part.arrival_rate] for part in parts])
    steady = queueing.mmc(arrivals, alone[:, None], 1.0 + counts, **device_model.parameters)
    return steady.throughput, steady.service_time, np.maximum(steady.queue_length - steady.in_gap, 0.0)


def _closed_station(
    device_model: DeviceModel | Pool, parts: Sequence[VolumeClass], alone: Array, counts: Array
) -> tuple[Array, Array, Array]:
    """The same of requesters; between whole numbers of them linear in rate and numbers."""
    population = np.array([part.population for part in parts])
    think = np.array([part.think_time for part in parts])[:, None, None]
    few = np.maximum(np.floor(population), 1.0)
    steps = np.array([[0.0], [1.0]])[: 1 + int((population > few).any())]
    whole = few[:, None, None] + steps  # (volumes, 1 or 2, 1)
    devices = np.minimum(1.0 + counts, whole)  # more of them stay idle
    steady = queueing.finite_source(whole, think, alone[:, None, None], devices, **device_model.parameters)
    many = np.clip(population - few, 0.0, 1.0)
    parts_of = np.stack([1.0 - many, many], axis=1)[:, : len(steps)]
    share = (parts_of * np.minimum(population, 1.0)[:, None])[:, :, None]
    rate = (share * steady.throughput).sum(axis=1)
    queued = (share * np.maximum(steady.queue_length - steady.in_gap, 0.0)).sum(axis=1)
    service = (share * steady.throughput * steady.service_time).sum(axis=1) / rate
    return rate, service, queued


def _steady_class(read: Candidates, column: int, row: int = 0) -> VolumeClass | None:
    """Steady demand as a class of the queueing model; None of any other kind."""
    kind, service = read.kind(column), float(read.service_time[row, column])
    if kind == "poisson":
        return VolumeClass(arrival_rate=float(read.demands.load[row, column]) / service)
    people = float(read.demands.population[row, column])
    if kind != "closed":
        return None
    return VolumeClass(
        population=people, think_time=max(float(read.demands.think[row, column]), 1e-6) * service
    )


def classic_aliases(pool: Pool, target: Target) -> int | None:
    """Count the aliases that the volumes of a pool would take with classic PAV, each volume with its own."""
    service, population = np.array(pool.service_times), pool.columns[1]
    most = np.where(population - 1 < CLASSIC, population - 1, CLASSIC).astype(np.int64)  # open: nan
    each = np.full(most.size, -1)
    if not target.of_waits:
        every = zip(pool.classes, service.tolist(), most.tolist(), strict=True)
        each[:] = [_fewest_by_tries(pool, *one, target) for one in every]
    for solve, which in by_key((_station(part), k) for k, part in enumerate(pool.classes)).items():
        if target.of_waits:
            parts, counts = [pool.classes[k] for k in which], np.arange(most[which].max() + 1.0)
            rate, times, queued = solve(pool, parts, service[which], counts)
            met = target.met(pool.bases * rate, times, pool.bases * queued)
            each[which] = np.where(met.any(axis=1), met.argmax(axis=1), -1)
    if (each < 0).any():
        return None
    return sum(part.volumes * int(count) for part, count in zip(pool.classes, each, strict=True))


def _fewest_by_tries(pool: Pool, part: VolumeClass, service: float, most: int, target: Target) -> int:
    """Fewest aliases of its own with which one volume meets the target; -1 if none.

    Tries that fail are only in the chain of a pool.
    """
    alone = replace(pool, classes=(replace(part, volumes=1),), service_time=service)
    for count in range(most + 1):
        rows = alone.solve([count])
        rate, queued, fails = (pool.bases * each for each in (rows.io_rate, rows.queued, rows.fails))
        if target.met(rate, rows.service_time, queued, rows.no_alias, fails)[0]:
            return count
    return -1
