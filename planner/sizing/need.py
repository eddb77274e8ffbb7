"""The one question about aliases: how many an interval of a volume or pool needs. Every command asks it here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from planner.demand import DeviceModel, Target
from planner.errors import ConvergenceError, InfeasibleError, InputError, PlannerError
from planner.interval import Interval
from planner.measurements import Run
from planner.measurements.run import BY_CHANCE
from planner.render.text import sentence_case
from planner.results import by_key
from planner.sizing.answer import AliasAnswer, beyond_range
from planner.sizing.bursty_pool import size_bursty_pools
from planner.sizing.gaps import below_floor, unanswered
from planner.sizing.pool import SizedPool, others_together, size_pools
from planner.sizing.sized import ReadCache, Sized
from planner.sizing.volume import size_volumes
from planner.units import ADDRESSES, MILLISECOND, readable

IDLE: Final = "no I/O"
FIRST_STEP: Final = "saturated, the demand is unknown: start with this count and measure again"
MOST_BUSY: Final = 1.1
"""How busy a measured rate may keep its devices with the redrive gap of a model; 522A, published, is 1.03 so."""
MOST_LOAD: Final = 4
"""Devices that a demand may keep busy, of all that have addresses: requesters wait where it is more."""
LEAST_GAP: Final = 0.05
"""Share of the redrive gap below which there is none."""
Case = Sequence[Run]
"""Measurements of one volume or pool, with different numbers of aliases, the present state last; none without I/O."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Need:
    """How many aliases one interval needs."""

    count: int | None = 0  # smallest count that meets the target, aliases in use included
    low: int | None = 0  # its 90 % range; None where there is no answer, or none was wanted
    high: int | None = 0
    decided: str = IDLE  # what it rests on: "no I/O", "steady demand", "bursty demand", or "saturated"
    problem: str = ""  # why there is no answer; empty where there is one
    exit_code: int = 0  # what a command returns for the problem
    sized: Sized | None = None  # what was read, for whoever asks more of it; None where no ranges were wanted

    @property
    def rank(self) -> float:
        """The count as a number: inf where no count meets the target, nan where another reason leaves none."""
        if self.count is not None:
            return float(self.count)
        return math.inf if self.exit_code == InfeasibleError.exit_code else math.nan

    @property
    def apart(self) -> tuple[str, ...]:
        """What stands beside count and range: a first step, or a need beyond the range if I/Os come together."""
        if self.sized is None or self.problem:
            return ()
        first = (FIRST_STEP,) if self.sized.saturated else ()
        found = self.sized.together_count
        beyond = beyond_range(found, self.count or 0, self.high or 0)
        return (*first, f"{found} aliases if the volumes' I/Os come together") if beyond else first

    @property
    def answer(self) -> AliasAnswer | None:
        """The whole answer, with its curve; None without I/O and where there is no answer."""
        return self.sized.answer() if self.sized is not None and not self.problem else None


def need(
    cases: Sequence[Case],
    device_model: DeviceModel,
    target: Target | None = None,
    growth: ArrayLike = 0.0,
    *,
    ranges: bool = True,
    enough: Sequence[int] | None = None,
    known: ReadCache | None = None,
) -> list[Need]:
    """Find the smallest number of aliases that meets a target, for each of many intervals.

    With `enough`, a number a case, only whether that number suffices is exact: a count, or end of a range, lies on the
    right side of it but may be any number there. `known` keeps what was read of the measurements for more questions.
    """
    shares = np.broadcast_to(np.asarray(growth, dtype=np.float64), (len(cases),)).tolist()
    sized = size(cases, device_model, target or Target(), shares, ranges=ranges, enough=enough, known=known)
    if ranges:
        at_ends = chain.from_iterable(each.at_ends for each in sized if isinstance(each, Sized))
        pools = [each for each in (*sized, *at_ends) if isinstance(each, SizedPool)]
        others_together([each for each in pools if each.found_count is not None and each.range_asked])
    return [Need() if each is None else _answered(each, ranges=ranges) for each in sized]


def size(
    cases: Sequence[Case],
    device_model: DeviceModel,
    target: Target,
    growth: Sequence[float],
    *,
    ranges: bool = True,
    enough: Sequence[int] | None = None,
    known: ReadCache | None = None,
) -> list[Sized | PlannerError | None]:
    """Read every case and find its count, all together, and with `ranges` what its range takes; None without I/O.

    `enough` and `known` are as in `need`. A case whose devices are too fast for the redrive gap of the model gets a
    shorter gap. Where only the two ends of a service time or queue are known, both are read as well, and the range
    holds their ranges; of a queue that was not measured, their counts.
    """
    limits: Sequence[int | None] = enough or [None] * len(cases)
    wanted = [CaseToSize(k, case, growth[k], ranges, limits[k]) for k, case in enumerate(cases)]
    if ranges:
        wanted += [end for one in wanted for end in _at_ends(one)]
    found: list[Sized | PlannerError | None] = [None] * len(wanted)
    by_model = by_key(
        ((with_time_for_gap(device_model, one.runs), one.ranged), n) for n, one in enumerate(wanted)
    )
    for (own, ranged), numbers in by_model.items():
        cache = known if own == device_model and known else ReadCache()
        sized = _of_one_model([wanted[n] for n in numbers], own, target, ranges=ranged, known=cache)
        for n, each in zip(numbers, sized, strict=True):
            found[n] = each
            if isinstance(each, Sized):
                each.range_asked = ranged
    for end, at_end in zip(wanted[len(cases) :], found[len(cases) :], strict=True):
        if isinstance(each := found[end.of], Sized):
            each.at_ends = (*each.at_ends, at_end)
    return found[: len(cases)]


class CaseToSize(NamedTuple):
    """A case, or an end `of` one (its place): its runs, growth, whether its range is wanted, and what is `enough`."""

    of: int
    runs: Case
    growth: float
    ranged: bool
    enough: int | None


def _at_ends(case: CaseToSize) -> Iterator[CaseToSize]:
    """A case at both ends of a service time or queue that is known by its ends only."""
    runs = case.runs
    if runs and not runs[-1].queue_known:  # rates and service times alone, whatever was measured before
        for end in runs[-1].ends:
            times = float(runs[-1].total_rate.value / end.total_rate.value)
            yield case._replace(runs=(end,), growth=(1.0 + case.growth) * times - 1.0, ranged=False)
        return
    both = [run.ends if run.ends and run.queue_known else (run, run) for run in runs]
    if any(low is not high for low, high in both):
        yield from (case._replace(runs=there) for there in zip(*both, strict=True))


def with_time_for_gap(device_model: DeviceModel, case: Case) -> DeviceModel:
    """The model with a redrive gap that the measured devices have time for: in a long queue each I/O takes it.

    It is shortened in steps of a tenth: few different models, whose intervals are answered together.
    """
    longest = min((_longest_gap(run) for run in case if run.queue_known and run.bases), default=math.inf)
    if device_model.redrive_time <= longest:
        return device_model
    steps = math.ceil(math.log(max(longest / device_model.redrive_time, LEAST_GAP)) / math.log(0.9))
    longest = (
        device_model.redrive_time * 0.9**steps if longest > LEAST_GAP * device_model.redrive_time else 0.0
    )
    gaps = (f"{readable(gap / MILLISECOND)} ms" for gap in (device_model.redrive_time, longest))
    said = "The devices measured are too fast for its redrive gap of {}: {} was taken.".format(*gaps)
    axes = tuple((inflation, 0.0) for inflation, _ in device_model.axes)
    return replace(
        device_model, redrive_time=longest, axes=axes, words=f"{device_model.words} {said}".strip()
    )


def _longest_gap(run: Run) -> float:
    """Redrive gap with which the devices of one volume, or of all together, are as busy as they can be [s]."""
    each, busy = run.io_rate.value, run.io_rate.value * run.service.value
    rate, busy = np.append(each, each.sum()), np.append(busy, busy.sum())
    devices = np.append(np.full(each.shape, 1 + run.aliases), run.bases + run.aliases)
    gaps = np.divide(MOST_BUSY * devices - busy, rate, out=np.full(rate.shape, np.inf), where=rate > 0)
    return max(float(gaps.min()), 0.0)


def _of_one_model(
    cases: Sequence[CaseToSize], device_model: DeviceModel, target: Target, *, ranges: bool, known: ReadCache
) -> list[Sized | PlannerError | None]:
    """As `size`, all cases by one model: volumes, pools by steady demand, and what that leaves by bursty volumes."""
    for run in chain.from_iterable(case.runs for case in cases):
        if id(run) not in known.runs:
            known.runs[id(run)] = run, ordered(run)
    measured = [tuple(known.runs[id(run)][1] for run in case.runs) for case in cases]
    found: list[Sized | PlannerError | None] = [None] * len(cases)
    volumes: list[int] = []
    pools: list[int] = []
    for k, case in enumerate(measured):
        if not case or cases[k].growth <= -1.0:
            continue
        try:
            _check(case, cases[k].growth)
        except PlannerError as problem:
            found[k] = problem
            continue
        (volumes if case[-1].bases == 1 and case[-1].queue_known else pools).append(k)

    def fill(
        by: Callable[..., Sequence[Sized | PlannerError | None]], places: Sequence[int], **how: Any
    ) -> None:
        of = [measured[k] for k in places], device_model, target, [cases[k].growth for k in places]
        for k, each in zip(places, by(*of, **how), strict=True):
            found[k] = each

    fill(size_volumes, volumes, ranges=ranges)
    fill(size_pools, pools, known=known, ranges=ranges, enough=[cases[k].enough for k in pools])
    fill(size_bursty_pools, [k for k in pools if found[k] is None], known=known)
    return found


def ordered(run: Run) -> Run:
    """The volumes in the order of what was measured of them, so that no answer depends on that of a file."""
    columns = (*run.io_rate, *run.service, *run.queued, run.together)
    numbers = np.empty((len(columns), run.io_rate.value.size))
    for row, column in zip(numbers, columns, strict=True):
        row[:] = column
    order = np.lexsort([run.queue_shown, *-numbers[::-1]])
    if (order == np.arange(order.size)).all():
        return run
    rate, service, queued = (Interval(*numbers[k : k + 3, order]) for k in (0, 3, 6))
    return replace(
        run, volumes=tuple(run.volumes[k] for k in order), io_rate=rate, service=service, queued=queued,
        queue_shown=run.queue_shown[order],
        together=run.together if np.ndim(run.together) == 0 else np.asarray(run.together)[order],
    )  # fmt: skip


def _check(case: Case, growth: float) -> None:
    """Refuse measurements of different systems, one that contradicts itself, and a demand far beyond all addresses."""
    if len({(run.bases, run.pool) for run in case}) > 1:
        raise InputError("listings", [run.name for run in case], "measurements of the same volumes")
    for run in case:
        run.check()
    run = case[-1]
    load = run.load * (1.0 + growth)
    if load > MOST_LOAD * ADDRESSES:
        raise InfeasibleError(
            f"{run.name}: {load:,.0f} devices would be busy; a control unit has {ADDRESSES} addresses"
        )


def _answered(sized: Sized | PlannerError, *, ranges: bool) -> Need:
    """Count and range of what was read, or why there is none."""
    if isinstance(sized, PlannerError):
        return _unanswered(sized, None)
    try:
        low, high = sized.range if ranges else (None, None)
        return Need(
            count=sized.count, low=low, high=high, decided=sized.decided, sized=sized if ranges else None
        )  # fmt: skip
    except PlannerError as problem:
        return _unanswered(problem, sized)


def _unanswered(problem: PlannerError, sized: Sized | None) -> Need:
    # What did not converge, and by how much, does not help a user.
    words = "it could not be solved" if isinstance(problem, ConvergenceError) else str(problem)
    return Need(
        count=None, low=None, high=None, decided=sized.decided if sized else "", problem=words,
        exit_code=problem.exit_code, sized=sized,
    )  # fmt: skip


def aliases_of_runs(
    runs: Run | Sequence[Run], device_model: DeviceModel, *, target: Target | None = None, growth: float = 0.0
) -> AliasAnswer:
    """Find the smallest number of aliases that meets a target.

    Parameters
    ----------
    runs : Run or sequence of Run
        Measurements of one volume or pool, with different alias counts where there are several, the present state last.
    device_model : DeviceModel
        Inflation and redrive gap, with their errors.
    target : Target, optional
        What must be achieved; by default queueing is gone.
    growth : float, optional
        Share by which the demand grows first.

    Returns
    -------
    AliasAnswer
        Counts are totals, aliases in use included.

    Raises
    ------
    InputError
        Growth below zero or not finite, measurements of different systems, or one that contradicts itself.
    InfeasibleError
        No count that a control unit has room for meets the target.
    ConvergenceError
        A pool could not be solved.
    """
    if not math.isfinite(growth) or growth < 0:
        raise InputError("growth", growth, "a share of zero or more")
    case = (runs,) if isinstance(runs, Run) else tuple(runs)
    (sized,) = size([case], device_model, target or Target(), [growth])
    if isinstance(sized, PlannerError):
        raise sized
    if sized is None:
        raise InputError("runs", 0, "one measurement or more")
    return sized.answer()


FromSources = Sequence[tuple[str, Run]]
"""Measurements of one volume or pool, each with the source that it comes from, in the order of time."""


def worst_by_need(found: Sequence[Need], cases: Sequence[Case]) -> int | None:
    """Place of the interval that needs most, of equals the busiest, then the first; None where none could be solved.

    An interval for which no count serves needs more than any other.
    """

    def rank(k: int) -> tuple[bool, float, float]:
        run = cases[k][-1] if cases[k] else None
        matters = run is not None and not below_floor(run)
        return matters, found[k].rank, 0.0 if run is None else run.load

    return max((k for k, each in enumerate(found) if not math.isnan(each.rank)), key=rank, default=None)


def present_cases(
    measured: Mapping[str, FromSources], device_model: DeviceModel, target: Target, growth: float
) -> tuple[dict[str, tuple[Run, ...]], list[str]]:
    """Take of every source the interval that needs most, the last source being the present state; what was left out."""
    several = {name: rows for name, rows in measured.items() if len(rows) > 1}
    flat = [(name, k) for name, rows in several.items() for k in range(len(rows))]
    asked = [(several[name][k][1],) for name, k in flat]
    counts = (
        dict(zip(flat, need(asked, device_model, target, growth, ranges=False), strict=True))
        if _ranked(several)
        else {}
    )

    def worst(name: str, places: Sequence[int]) -> int:
        if len(places) == 1:
            return places[0]
        found = [counts[name, k] for k in places]
        at = worst_by_need(found, [(measured[name][k][1],) for k in places])
        return places[-1 if at is None else at]

    cases: dict[str, tuple[Run, ...]] = {}
    for name, rows in measured.items():
        by_source = by_key((source, k) for k, (source, _) in enumerate(rows))
        present = sorted(worst(name, places) for places in by_source.values())
        by_count = by_key((rows[k][1].aliases, k) for k in present)
        kept = sorted(worst(name, places) for places in by_count.values())
        cases[name] = tuple(
            _chosen(rows[k][1], len(rows)) if len(kept) < len(rows) else rows[k][1] for k in kept
        )
    return cases, [note for name, rows in several.items() if (note := _left_out(name, rows, counts))]


def _left_out(name: str, rows: FromSources, counts: Mapping[tuple[str, int], Need]) -> str:
    """Say which intervals have no answer, where others have one."""
    places = [k for k in range(len(rows)) if (name, k) in counts and math.isnan(counts[name, k].rank)]
    if not places or len(places) == len(rows):
        return ""
    whose = rows[0][1].name
    lost = unanswered({k: counts[name, k].problem for k in places}, len(rows), lambda at: rows[at][1].start)
    return f"{sentence_case(whose)}: {lost}."


def _ranked(several: Mapping[str, FromSources]) -> bool:
    """Whether any volume or pool has intervals to choose among."""
    return any(
        len({source for source, _ in rows}) < len(rows) or len({run.aliases for _, run in rows}) < len(rows)
        for rows in several.values()
    )


def _chosen(run: Run, many: int) -> Run:
    """The run with which of its intervals it is."""
    when = "" if run.start is None else f", {run.start:%Y-%m-%d %H:%M}"
    chance = (f"{sentence_case(BY_CHANCE)}.",) if run.by_samples else ()
    return replace(run, interval=f"worst of {many:,} intervals{when}", notes=(*run.notes, *chance))
