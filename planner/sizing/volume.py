"""Aliases of one volume: read by every demand that explains it, answered under the one that was chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from planner.demand import (
    Counts,
    Law,
    PredictedRows,
    Readings,
    in_words,
    point_and_range,
    read_several,
    read_volumes,
)
from planner.demand.answer import POINT, quantile
from planner.devices import Performance, Volume, VolumeClass
from planner.errors import InfeasibleError, InputError
from planner.measurements import Run
from planner.results import Array
from planner.sizing.answer import AliasAnswer, NamedReading
from planner.sizing.bounds import NORMAL_90, Draws, band, holding, measured_rate, measured_response, spaced
from planner.sizing.comparison import as_measured, held_to_measurement, helped, rule_of_thumb
from planner.sizing.pool import FAR_FROM_SATURATED, SAME_RATE, fitted
from planner.sizing.target import Target, log_excess
from planner.sizing.wording import volume_remarks

if TYPE_CHECKING:
    from planner.calibrate import Fit

ROWS_BEYOND: Final = 2
ALWAYS: Final = 0.99  # share of the time from which on requesters are as good as always active


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """What a volume was read as: the demand now, grown, and the counts under every reading of it."""

    run: Run
    runs: tuple[Run, ...]
    read: Readings
    counts: Counts
    fitted: bool
    left_out: tuple[str, ...]

    @property
    def chosen(self) -> int:
        """Column of the reading that is printed and predicted from."""
        return int(self.counts.chosen[0])


def size_volume(runs: Sequence[Run], law: Law, target: Target, growth: float) -> AliasAnswer:
    """Find the smallest number of aliases of a volume that meets a target.

    Raises
    ------
    InfeasibleError
        No count that there are addresses for meets the target.
    """
    return _answer(_sized(runs, law, target, growth), law, target, growth)


def count_of_volume(run: Run, law: Law, target: Target) -> tuple[int, float]:
    """Count that `size_volume` recommends for one measurement, and the real number of aliases that just do.

    The count is that number rounded up, but for measurements that meet the target with the aliases in use, or miss it.

    Raises
    ------
    InfeasibleError
        As of `size_volume`.
    """
    sized = _sized((run,), law, target, 0.0)
    count, _, _ = _recommended(sized, target)
    return held_to_measurement(count, run, target, 0.0), _crossing(sized, target, count)


def _sized(runs: Sequence[Run], law: Law, target: Target, growth: float) -> Sized:
    """Read, grow and count."""
    run = runs[-1]
    read, fitted_, left_out = read_runs(runs, law)
    read = read.grown(growth) if growth else read
    counts = _fewest_requesters(run, read, point_and_range(read, target.of_readings()))
    return Sized(run=run, runs=tuple(runs), read=read, counts=counts, fitted=fitted_, left_out=left_out)


def _fewest_requesters(run: Run, read: Readings, counts: Counts) -> Counts:
    """Busy steady devices: the fewest requesters that fit; the range stays that of all readings."""
    wait = float(run.total_queue.value / run.total_rate.value)
    short = run.busy >= FAR_FROM_SATURATED and wait < SHORT_WAIT * run.mean_service.value
    if read.others or not read.steady[0] or not short:
        return counts
    fits = [k for k in np.flatnonzero(read.fits[0]) if read.kind(int(k)) == "closed"]
    found = [k for k in fits if math.isfinite(counts.each[0, k])]
    if not found:
        return counts
    first = min(found, key=lambda k: float(read.demands.population[0, k]))
    point = np.array([int(counts.each[0, first])])
    return replace(counts, point=point, low=np.minimum(counts.low, point), chosen=np.array([first]))


def read_runs(runs: Sequence[Run], law: Law) -> tuple[Readings, bool, tuple[str, ...]]:
    """Readings of a volume, whether they are fits, and what was left out: from one row, or rows at several counts.

    Rows of steady demand are fitted together, by least squares for every number of requesters; those of bursty demand
    weigh its readings.
    """
    run = runs[-1]
    rates = [each.total_rate.value for each in runs]
    if len({each.aliases for each in runs}) == 1:
        return (
            read_volumes(run.io_rate, run.service, spaced(run.queued), aliases=run.aliases, law=law),
            False,
            (),
        )
    rows = [(each.io_rate, each.service, spaced(each.queued), each.aliases) for each in runs]
    read = read_several(rows, law=law)
    if not read.steady[0] or max(rates) <= (1 + SAME_RATE) * min(rates):
        return read, False, ()
    fits, left_out = fitted(runs, law)
    return _of_fits(read, fits), True, left_out


def _of_fits(read: Readings, fits: Sequence[Fit]) -> Readings:
    """The same with the fits in place of its closed readings."""
    columns = [k for k in range(read.weight.shape[1]) if read.kind(k) == "closed"]
    weight, strain = np.zeros_like(read.weight), np.full_like(read.strain, np.nan)
    service = read.service_time.copy()
    population, think = read.demands.population.copy(), read.demands.think.copy()
    least = min(item.chi_square for item in fits)
    for k, item in zip(columns, fits, strict=False):
        service[0, k] = item.value("service_time")
        population[0, k], think[0, k] = item.population, item.value("think_time") / service[0, k]
        weight[0, k] = math.exp((least - item.chi_square) / 2) / item.population
        strain[0, k] = math.sqrt(item.chi_square / len(item.comparisons)) / NORMAL_90
    active = np.where(np.isin(np.arange(service.shape[1]), columns), 1.0, read.demands.active)
    demands = replace(read.demands, population=population, think=think, active=active)
    weight = weight / weight.sum()
    return replace(read, demands=demands, service_time=service, weight=weight, strain=strain, excess=None)


def _answer(sized: Sized, law: Law, target: Target, growth: float) -> AliasAnswer:
    run, read, counts = sized.run, sized.read, sized.counts
    limit = run.most_aliases
    recommended, solved, rows = _recommended(sized, target)
    sweep = rows.aliases.astype(np.int64)
    recommended = held_to_measurement(recommended, run, target, growth)
    known = () if growth else sized.runs
    rule = rule_of_thumb(run, rows, growth)
    draws = Draws.of(sized.read, sized.chosen, law, sweep)
    strain = _strain(sized)
    rate = band(_kept(read, solved.rate), rows.io_rate, draws.rate, law, strain, run.aliases,
                {each.aliases: measured_rate(each) for each in known}, rising=True)  # fmt: skip
    response = band(_kept(read, solved.queue / solved.rate + solved.service), rows.response_time, draws.response, law,
                    strain, run.aliases, {each.aliases: measured_response(each) for each in known})  # fmt: skip
    rows = as_measured(rows, known)
    rate = holding(rate, rows.io_rate)
    low, high = _range(sized, recommended, rule, draws, target, limit)
    named = _named(sized, solved, recommended)
    helps = helped(rows, run.aliases, recommended)
    return AliasAnswer(
        name=run.name, recommended=recommended, range=(low, high), rule_of_thumb=rule, in_use=run.aliases,
        measured=tuple(each.aliases for each in sized.runs), target=target, growth=growth, readings=named, rows=rows,
        rate=rate, response=response, saturated=bool(counts.saturated[0]), helps=helps, strain=strain,
        waiting=run.waiting, classic=None, gains=(), grouping_error=0.0,
        remarks=volume_remarks(
            sized.runs, named, counts, recommended, helps=helps, growth=growth, bursty=not bool(read.steady[0]),
            left_out=sized.left_out,
        ),
    )  # fmt: skip


def _recommended(sized: Sized, target: Target) -> tuple[int, PredictedRows, Performance]:
    """The smallest count that meets the target, what every reading does up to it, and the table."""
    run, counts = sized.run, sized.counts
    saturated, recommended = bool(counts.saturated[0]), int(counts.point[0])
    limit = run.most_aliases
    if target.no_alias is not None:
        recommended = _with_tries(sized, target, recommended)
    elif counts.unmet[0] and not saturated:
        raise InfeasibleError(f"{run.name}: {_out_of_reach(sized, target, limit)}")
    most = max(recommended, run.rule_of_thumb or 0, *(each.aliases for each in sized.runs))
    sweep = np.arange(min(most + ROWS_BEYOND, limit) + 1)
    solved = sized.read.predict(sweep)
    rows = _rows(sized, solved, sweep)
    if not saturated and target.no_alias is None:
        met = target.met(rows)
        recommended = int(np.argmax(met)) if met.any() else recommended
    return recommended, solved, rows


def _crossing(sized: Sized, target: Target, count: int) -> float:
    """Real number of aliases with which the target is just met: the quantile over the readings that the count is.

    Of each reading where a straight line through the logarithms of the excess at its count and one below it is zero.
    Where the chosen reading decides alone, its own.
    """
    each = sized.counts.each[0]
    known = np.flatnonzero(np.isfinite(each))
    if sized.counts.saturated[0] or not known.size:
        return count - 0.5
    number = each[known].astype(np.int64)
    found = sized.read.predict(np.arange(number.max() + 1))
    wait = found.queue[0, known] / found.rate[0, known]
    excess = log_excess(target, wait, found.service[0, known], found.queue[0, known])
    here = np.arange(known.size)
    after, before = excess[here, number], excess[here, np.maximum(number - 1, 0)]
    real = np.full(each.size, np.inf)
    between = number - 1 + before / np.maximum(before - after, LEAST_FALL)
    real[known] = np.where(number > 0, between, np.maximum(after, -1.0))
    middle = float(quantile(real, sized.read.weight[0], POINT))
    if not math.isfinite(middle) or max(math.ceil(middle), 0) != count:
        middle = float(real[sized.chosen])
    if not math.isfinite(middle):
        return count - 0.5
    return min(max(middle, count - 1 + LEAST_FALL), float(count))


def counting(read: Readings) -> NDArray[np.bool_]:
    """Readings that count for the range: those kept, and of a steady row every steady one inside its digits."""
    kept = read.kept[0]
    if read.steady[0] and not read.others:
        steady = np.array([read.kind(k) in ("poisson", "closed") for k in range(kept.size)])
        kept = kept | (steady & read.fits[0])
    always = read.demands.active[0] > ALWAYS
    same = np.array([read.kind(k) == "active" for k in range(kept.size)]) & always
    kept = kept & ~same  # requesters that never rest are a closed reading, less well fitted
    return np.asarray(kept if kept.any() else read.used[0])


def _kept(read: Readings, values: Array) -> Array:
    """Values of the readings that count for the range, (readings, counts)."""
    return np.asarray(values[0, counting(read)])


def _strain(sized: Sized) -> float:
    """How far the nearest reading lies off the printed digits, in halves of what they leave open."""
    read = sized.read
    strain = np.where(read.used[0], read.strain[0], np.inf)
    least = float(np.nanmin(strain))
    return least if math.isfinite(least) else 0.0


def _rows(sized: Sized, solved: PredictedRows, sweep: NDArray[np.int64]) -> Performance:
    """The table under the chosen reading; of steady demand by the chain of a pool, which knows the tries."""
    k = sized.chosen
    steady = _tries(sized.read, k, sweep)
    if steady is not None:
        return steady
    nothing = np.full(sweep.shape, np.nan)
    rate = solved.rate[0, k]
    return Performance(
        aliases=sweep.astype(np.float64), io_rate=rate, service_time=solved.service[0, k], queued=solved.queue[0, k],
        no_alias=nothing, tries=nothing, fails=nothing, fewest_free=nothing, most_free=nothing,
        volume_rates=rate[:, None],
        volume_responses=(solved.queue[0, k] / rate + solved.service[0, k])[:, None],
    )  # fmt: skip


def _tries(read: Readings, column: int, sweep: NDArray[np.int64]) -> Performance | None:
    """How often an alias is asked for: of steady demand with whole requesters, which the chain of a pool answers."""
    kind = read.kind(column)
    service = float(read.service_time[0, column])
    if kind == "poisson":
        demand = VolumeClass(arrival_rate=float(read.demands.load[0, column]) / service)
    elif kind == "closed":
        people = float(read.demands.population[0, column])
        if not people.is_integer() or people > MOST_REQUESTERS:
            return None
        think = max(float(read.demands.think[0, column]), LEAST_THINK) * service
        demand = VolumeClass(population=round(people), think_time=think)
    else:
        return None
    volume = Volume(
        demand=demand, service_time=service, inflation=read.law.inflation, redrive_time=read.law.redrive_time
    )
    return volume.solve(sweep.astype(np.float64))


LEAST_FALL: Final = 1e-6  # of the logarithm of an excess with one alias more
SHORT_WAIT: Final = 5.0  # service times up to which a wait speaks for few requesters
MOST_REQUESTERS: Final = 16  # that the exact chain of a volume follows
LEAST_THINK: Final = 1e-6  # of the service time


def _range(
    sized: Sized, recommended: int, rule: int | None, draws: Draws, target: Target, limit: int
) -> tuple[int, int]:
    """All readings, what the calibration leaves open, and the rule of thumb; wider where no reading fits."""
    counts = sized.counts
    each = counts.each[0, counting(sized.read)]
    ends = [recommended, *(int(n) for n in each if math.isfinite(n))]
    if not sized.fitted:
        ends += [int(counts.low[0]), int(counts.high[0])]
    if rule is not None:
        ends.append(rule)
    if not counts.saturated[0]:
        ends += draws.counts(target)
    low, high = min(ends), max(ends)
    if _strain(sized) > 1.0:
        low, high = low - 1, high + 1
    return max(low, 0), min(high, limit)


def _with_tries(sized: Sized, target: Target, recommended: int) -> int:
    """The count that also meets a target for the tries; only steady demand says how often one fails."""
    only = all(each is None for each in (target.wait, target.response, target.queued))
    kind = sized.read.kind(sized.chosen)
    people = float(sized.read.demands.population[0, sized.chosen])
    most = math.ceil(people) if kind == "closed" else MOST_REQUESTERS
    found = _tries(sized.read, sized.chosen, np.arange(min(most, sized.run.most_aliases) + 1))
    if found is None:
        raise InputError(
            "no_alias", target.no_alias,
            f"a target for wait, queue or response: {sized.run.name} is bursty, and only its supply counters say how "
            "many tries fail (planner aliases supply)",
        )  # fmt: skip
    met = found.no_alias <= (target.no_alias or 0.0)
    if not met.any():
        raise InfeasibleError(f"{sized.run.name}: no count of aliases meets the target ({target})")
    return max(int(np.argmax(met)), 0 if only else recommended)


def _out_of_reach(sized: Sized, target: Target, limit: int) -> str:
    """What the largest count comes to."""
    found = sized.read.predict([limit])
    k = sized.chosen
    service, queued, rate = (float(each[0, k, 0]) for each in (found.service, found.queue, found.rate))
    text = f"no count up to {limit} aliases meets the target ({target}); "
    if not math.isfinite(queued):
        return (
            text + f"with {limit} a queue still grows without bound: base and aliases cannot serve the load"
        )
    wait = queued / rate
    return text + (
        f"with {limit} the wait is {1e3 * wait:.3g} ms, the response {1e3 * (wait + service):.3g} ms of which "
        f"{1e3 * service:.3g} ms are service, which aliases do not shorten"
    )


def _named(sized: Sized, solved: PredictedRows, recommended: int) -> tuple[NamedReading, ...]:
    """The chosen reading first, then the others that count for the range, the likeliest first."""
    read, each = sized.read, sized.counts.each[0]
    counts = counting(read)
    order = [k for k in np.argsort(-read.weight[0], kind="stable") if counts[k] and k != sized.chosen]
    found = []
    for k in (sized.chosen, *order):
        closed = read.kind(k) in ("closed", "active")
        service = float(read.service_time[0, k])
        count = each[k]
        found.append(
            NamedReading(
                kind=read.kind(k), words=in_words(read, 0, k), weight=float(read.weight[0, k]),
                count=None if not math.isfinite(count) else int(count),
                io_rate=float(solved.rate[0, k, min(recommended, solved.rate.shape[-1] - 1)]),
                population=float(read.demands.population[0, k]) if closed else None,
                think_time=float(read.demands.think[0, k]) * service if closed else None,
            )
        )  # fmt: skip
    return tuple(found)
