"""Many pools at once: how many aliases each needs, what they bring, and the answer for all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Final, TypeVar

import numpy as np

from planner import render
from planner.answer import Answer, record, tabled
from planner.demand import DeviceModel, Target
from planner.devices import Performance
from planner.errors import InputError, PlannerError
from planner.measurements import Run
from planner.quantity import column
from planner.render.text import first_of, from_to, listed, sentence_case
from planner.results import by_key
from planner.sizing.answer import unmeasured, words_of
from planner.sizing.commands import Command, section
from planner.sizing.comparison import Count, in_use_now
from planner.sizing.gaps import (
    FLOOR,
    LOOK,
    NOTHING_MISSING,
    Gaps,
    all_missing,
    all_notes,
    first_words,
    reasons,
    small,
    worst_code,
)
from planner.sizing.need import Need, need
from planner.sizing.wording import EACH_READ, LEAST_ERROR, each_in
from planner.units import MILLISECOND, percent, readable

Row = TypeVar("Row", bound="PoolCount")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPool:
    """A measured pool: `name`, all `volumes` and `aliases`, and its `runs`, the present state last; none if idle."""

    name: str
    volumes: int
    aliases: int
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What a listing would show of a pool: `io_rate` [1/s], mean response and service time [s], I/Os `queued`."""

    io_rate: float
    response_time: float
    queued: float
    service_time: float = math.nan

    @classmethod
    def measured(cls, run: Run) -> Traffic:
        """As it was measured; without a queue no response."""
        known = run.queue_known
        return cls(
            io_rate=float(run.total_rate.value), response_time=run.mean_response if known else math.nan,
            queued=float(run.total_queue.value) if known else 0.0, service_time=float(run.mean_service.value),
        )  # fmt: skip

    @classmethod
    def of(cls, rows: Performance, count: int) -> Traffic:
        """With a count of aliases, or with the largest that was solved."""
        k = min(count, rows.aliases.size - 1)
        return cls(**{each.name: float(getattr(rows, each.name)[k]) for each in fields(cls)})

    @classmethod
    def summed(cls, each: Sequence[Traffic | None]) -> Traffic | None:
        """Sums over pools, the response time weighted by rate."""
        known = [traffic for traffic in each if traffic is not None]
        if not known:
            return None
        rate = math.fsum(traffic.io_rate for traffic in known)
        present = math.fsum(traffic.io_rate * traffic.response_time for traffic in known)
        queued = math.fsum(traffic.queued for traffic in known)
        return cls(io_rate=rate, response_time=present / rate, queued=queued)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCount:
    """How many aliases one of many pools needs, and what they bring.

    * `name`: the pool.
    * `volumes`, `in_use`, `last_aliases`: its volumes, and aliases at the time of the measurement and since.
    * `recommended`: smallest count that meets the target, aliases in use included; None where none does.
    * `range`: smallest and largest count over the candidates of the demand and the rule of thumb.
    * `rule_of_thumb`: aliases in use plus the summed queue rounded up; None where the queue was not measured.
    * `classic`: aliases that classic PAV would take for the same target; None where it cannot meet it.
    * `now` and `then`: with the aliases in use and with the recommended ones; response and queue are inf where a queue
      grows without bound. None without I/O, and `then` without an answer.
    * `grouping_error`: as of `planner.sizing.AliasAnswer`.
    * `small`: whether its load is too small to matter.
    * `saturated`: whether its devices never idle, so that the count is a first step.
    * `notes`: how it was read.
    * `problem`: why there is no answer.
    * `exit_code`: what the command returns for the problem.
    """

    name: str
    volumes: int = 1
    in_use: int = 0
    last_aliases: int | None = None
    recommended: int | None = None
    range: tuple[int, int] | None = None
    rule_of_thumb: int | None = None
    classic: int | None = None
    now: Traffic | None = None
    then: Traffic | None = None
    grouping_error: float = 0.0
    small: bool = False
    saturated: bool = False
    notes: tuple[str, ...] = ()
    problem: str | None = None
    exit_code: int = 0

    @property
    def count(self) -> Count:
        """The count beside what is in use."""
        low, high = self.range or (None, None)
        now = in_use_now(self.in_use, self.last_aliases)
        return Count(self.recommended, low, high, now, self.small)

    @property
    def saved(self) -> int | None:
        """Device numbers that the pool takes less than classic PAV."""
        if self.classic is None or self.recommended is None:
            return None
        return self.classic - self.recommended

    def to_dict(self) -> dict[str, Any]:
        """Plain data with unit suffixes."""
        return record(self, (*POOLS, column("grouping_error"), column("saturated")))

    @property
    def doubts(self) -> list[str]:
        """Why more aliases may not be the answer, in a few words each."""
        if self.saturated or self.now is None or self.then is None:
            return []
        return reasons(self.in_use, self.recommended or 0, self.now.service_time, self.then.service_time)


def figure(when: str, name: str, unit: float = 1.0) -> Callable[[PoolCount], float | None]:
    """A figure of the traffic now or then; None where there is none."""

    def value(row: PoolCount) -> float | None:
        found = getattr(getattr(row, when), name, math.nan)
        return None if math.isnan(found) else found / unit

    return value


COUNTS: Final = (
    column("in_use", "", "in use", 0),
    column("recommended", decimals=0),
    column("recommended_low", "", "from", 0, lambda row: row.range and row.range[0]),
    column("recommended_high", "", "to", 0, lambda row: row.range and row.range[1]),
)
TRAFFIC: Final = (
    column("io_rate", "1/s", "I/O rate", 1, figure("now", "io_rate")),
    column("io_rate_after", "1/s", "then", 1, figure("then", "io_rate")),
    column("response", "ms", "response", 2, figure("now", "response_time", MILLISECOND)),
    column("response_after", "ms", "then", 2, figure("then", "response_time", MILLISECOND)),
)
QUEUED: Final = column("queued", "", "queued", 2, figure("now", "queued"))
POOLS: Final = (
    column("pool", of="name"),
    column("volumes", decimals=0),
    *COUNTS,
    column("rule_of_thumb", "", "rule", 0),
    column("classic_aliases", "", "classic", 0, of="classic"),
    column("saved", decimals=0),
    *TRAFFIC,
    QUEUED,
    column("queued_after", "", "then", 2, figure("then", "queued")),
)


def subsystem(
    pools: Sequence[MeasuredPool],
    device_model: DeviceModel,
    *,
    target: Target | None = None,
    growth: float = 0.0,
    floor: float = FLOOR,
    notes: Sequence[str] = (),
) -> Subsystem:
    """Find the smallest number of aliases that meets a target for each of many pools.

    Count and range are those of `planner.sizing.need`, as for one pool.

    Parameters
    ----------
    pools : sequence of MeasuredPool
        One or more.
    device_model : DeviceModel
        Inflation and redrive gap.
    target : Target, optional
        What each pool must achieve; by default queueing is gone.
    growth : float, optional
        Share by which every demand grows first.
    floor : float, optional
        I/Os queued, and I/Os in service, below which a pool does not matter.
    notes : sequence of str, optional
        How the measurements were read, for the answer.

    Returns
    -------
    Subsystem
        One answer a pool, in the same order. A pool without a feasible count says so in its place.

    Raises
    ------
    InputError
        No pools, or a growth that is no share of zero or more.
    """
    if not pools:
        raise InputError("pools", 0, "at least one pool")
    if not 0.0 <= growth < np.inf:
        raise InputError("growth", growth, "a share of zero or more")
    target = target or Target()
    needs = need([pool.runs for pool in pools], device_model, target, growth)
    found = tuple(_row(pool, each, floor) for pool, each in zip(pools, needs, strict=True))
    return Subsystem(
        pools=found, target=target, growth=growth, remarks=tuple(notes), measured=tuple(pools),
        device_model=device_model,
    )  # fmt: skip


def _row(pool: MeasuredPool, found: Need, floor: float) -> PoolCount:
    """The row of one pool; without an answer, why."""
    if not pool.runs:
        return PoolCount(
            name=pool.name, volumes=pool.volumes, in_use=pool.aliases, recommended=0, range=(0, 0),
            rule_of_thumb=pool.aliases, classic=0, notes=("no I/O",),
        )  # fmt: skip
    run = pool.runs[-1]
    measured = PoolCount(
        name=pool.name, volumes=pool.volumes, in_use=pool.aliases, rule_of_thumb=run.rule_of_thumb,
        now=Traffic.measured(run) if run.queue_known else None,
    )  # fmt: skip
    read = (EACH_READ,) if found.decided == "bursty demand" else ()
    row = with_need(measured, run, found, (*run.notes, *read, *found.apart))
    busy = 0.0 if row.now is None else row.now.io_rate * row.now.service_time
    return replace(row, small=row.now is not None and small(row.now.queued, busy, floor))


def with_need(row: Row, run: Run, found: Need, notes: tuple[str, ...]) -> Row:
    """The row of a measured volume or pool with what it needs; without an answer, why."""
    sized, count = found.sized, found.count
    if sized is None or count is None or found.low is None or found.high is None:
        return replace(row, problem=found.problem, exit_code=found.exit_code)
    try:
        rows, _ = sized.sweep
        classic = sized.classic()
    except PlannerError as problem:
        return replace(row, problem=str(problem), exit_code=problem.exit_code)
    return replace(
        row, recommended=count, range=(found.low, found.high), classic=classic, now=Traffic.of(rows, run.aliases),
        then=Traffic.of(rows, count), grouping_error=sized.grouping_error, saturated=sized.saturated, notes=notes,
        last_aliases=run.last_aliases,
    )  # fmt: skip


def changes_of(rows: Sequence[PoolCount]) -> list[tuple[str, int]]:
    """Names, and how many aliases more each takes; none of what stays."""
    return [(row.name, row.count.change) for row in rows if row.count.change]


def doubtful(rows: Sequence[PoolCount], most: int) -> str:
    """Where aliases may not be the problem; empty where nothing speaks for that."""
    shown = [f"{row.name} ({'; '.join(row.doubts)})" for row in rows if row.doubts]
    return f"Perhaps no alias problem: {listed(shown, most, wide=200)}. {LOOK}" if shown else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subsystem(Answer):
    """Answers for many `pools`: `target` and `growth` of each, and `remarks` on how they were read.

    `gaps` says by pool which members could not be read. `measured` and `device_model` are what they were answered from,
    for whoever asks more of them; none where that is not kept. `commands` are as of `AliasAnswer`.
    """

    PICTURE: ClassVar[str] = "planner.sizing.picture:draw_pools"
    COLUMNS: ClassVar = POOLS
    ROWS: ClassVar = "pools"

    pools: tuple[PoolCount, ...]
    target: Target
    growth: float = 0.0
    remarks: tuple[str, ...] = ()
    measured: tuple[MeasuredPool, ...] = ()
    device_model: DeviceModel | None = None
    commands: tuple[Command, ...] = ()
    gaps: Mapping[str, Gaps] = field(default_factory=dict)

    @property
    def answered(self) -> tuple[PoolCount, ...]:
        """Pools with a recommended count."""
        return tuple(pool for pool in self.pools if pool.recommended is not None)

    @property
    def changes(self) -> list[tuple[str, int]]:
        """Names, and how many aliases more each takes; none of what stays."""
        return changes_of(self.answered)

    @property
    def exit_code(self) -> int:
        """0 if every pool has an answer, 1 if one has no feasible one, 2 if one could not be solved or read whole."""
        return max(*(pool.exit_code for pool in self.pools), worst_code(self.gaps), 0)

    def total(self) -> PoolCount:
        """Sums over the pools with an answer; the response time is weighted by rate."""
        pools = self.answered
        spans = [pool.range for pool in pools if pool.range is not None]
        known = all(pool.classic is not None for pool in pools)
        unknown = any(pool.rule_of_thumb is None for pool in pools)
        return PoolCount(
            name="all",
            volumes=sum(pool.volumes for pool in pools),
            in_use=sum(pool.in_use for pool in pools),
            recommended=sum(pool.recommended or 0 for pool in pools),
            range=(sum(low for low, _ in spans), sum(high for _, high in spans)),
            rule_of_thumb=None if unknown else sum(pool.rule_of_thumb or 0 for pool in pools),
            classic=sum(pool.classic or 0 for pool in pools) if known else None,
            now=Traffic.summed([pool.now for pool in pools]),
            then=Traffic.summed([pool.then for pool in pools]),
            grouping_error=max((pool.grouping_error for pool in pools), default=0.0),
        )

    def sections(self) -> tuple[render.Section, ...]:
        """The table with its sums."""
        caption = (
            f"recommended: {self.target}; rule: aliases in use and the queue, rounded up; then: with the recommended "
            "aliases."
        )
        table = tabled([*self.pools, self.total()], POOLS)
        return (render.Section(table=table, caption=caption), *section(self.commands))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, as `--json` prints it; the notes of a pool stand beside it."""
        return {**Answer.to_dict(self), "notes": [*self.remarks, *words_of(self.device_model)]}

    def plain_figures(self) -> dict[str, Any]:
        """Figures of each pool and of all."""
        return {
            "target": str(self.target),
            "growth": self.growth,
            "volumes_missing": all_missing(self.gaps),
            "pools": [
                {
                    **pool.to_dict(),
                    "notes": list(pool.notes),
                    "problem": pool.problem,
                    "volumes_missing": len(self.gaps.get(pool.name, NOTHING_MISSING).volumes),
                }
                for pool in self.pools
            ],
            "all": self.total().to_dict(),
            "commands": [command for command, _ in self.commands],
        }

    @property
    def headline(self) -> str:
        """Sums over all pools."""
        total = self.total()
        volumes = sum(pool.volumes for pool in self.pools)
        gain = ""
        if total.now is not None and total.then is not None and math.isfinite(total.now.response_time):
            rates = (total.now.io_rate, total.then.io_rate)
            times = (1e3 * total.now.response_time, 1e3 * total.then.response_time)
            before, after = (readable(each, 2, zeros=True) for each in times)
            now, then = map(readable, rates)
            rate = f"{now}/s as before" if now == then else f"{now} to {then}/s"
            gain = f" I/O rate {rate}, response {before} to {after} ms."
        ends = from_to(*(total.range or (0, 0)))
        assumed = unmeasured(run.assumed for pool in self.measured for run in pool.runs)
        left = len(self.pools) - len(self.answered)
        without = f"; {render.counted(left, 'pool has', 'pools have')} no answer" if left else ""
        needed = f"{render.counted(total.recommended or 0, 'alias', 'aliases')} (range {ends}), {total.in_use:,} in use"
        return (
            f"{first_words(self.gaps)}{render.counted(len(self.pools), 'pool')}, "
            f"{render.counted(volumes, 'volume')}{self._when}: "
            f"{needed + without if self.answered else 'none has an answer'}.{gain}{assumed}"
        )

    @property
    def _when(self) -> str:
        """Which intervals were chosen."""
        return each_in([pool.runs[-1].interval for pool in self.measured if pool.runs])

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wrong where, what it saves, what to move."""
        total = self.total()
        found = []
        if said := doubtful(self.answered, 20):
            found.append(said)
        if self.growth:
            found.append(f"Demand grown by {percent(self.growth)} first.")
        if total.saved is not None and total.saved > 0:
            found.append(
                f"Classic PAV would take {total.classic} aliases for the same target: the pools save "
                f"{render.counted(total.saved, 'device number')}."
            )
        changes = [change for _, change in self.changes]
        for sign, words in ((1, "to add in"), (-1, "can be freed, from")):
            if some := [sign * change for change in changes if sign * change > 0]:
                found.append(f"{sum(some)} {words} {render.counted(len(some), 'pool')}.")
        if quiet := [pool.name for pool in self.answered if pool.count.too_quiet]:
            found.append(
                f"Too quiet to matter, not to add: {_names(quiet)}; --floor 0 adds what they seem to ask."
            )
        if total.grouping_error >= LEAST_ERROR:
            bound = (
                f"about {percent(total.grouping_error)}" if math.isfinite(total.grouping_error) else "more"
            )
            found.append(
                f"Nearly equal volumes are taken as one class: the wait of a volume may be off by {bound}."
            )
        found += [
            f"Pool {pool.name}: {pool.problem.removeprefix(f'pool {pool.name}: ').rstrip('.')}."
            for pool in self.pools
            if pool.problem
        ]
        if len(self.answered) < len(self.pools):
            missing = render.counted(len(self.pools) - len(self.answered), "pool")
            found.append(f"The sums leave out {missing} without an answer.")
        return (
            *all_notes(self.gaps),
            *found,
            *self._pool_notes(),
            *self.remarks,
            *words_of(self.device_model),
        )

    def _pool_notes(self) -> list[str]:
        """Notes of the pools, each once."""
        every = ((note, pool.name) for pool in self.pools for note in pool.notes)
        notes = by_key((sentence_case(note).rstrip("."), name) for note, name in every)
        said = [
            f"{note} ({'all pools' if len(names) == len(self.pools) else _names(names)})."
            for note, names in notes.items()
        ]
        return first_of(said, 20)


def _names(names: Sequence[str]) -> str:
    return f"pool{'s' * (len(names) > 1)} {listed(names, 20)}"
