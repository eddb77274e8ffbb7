"""Caveats of an answer: what could not be read or answered, and why aliases may not be the problem."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from planner import render
from planner.errors import InputError
from planner.measurements import Devices, Run
from planner.render.text import counted, listed, sentence_case
from planner.reports.membership import Membership
from planner.reports.schema import Missing
from planner.units import is_number, percent, readable

MOST_NAMED: Final = 6
MOST_SHORT: Final = 3  # pools with missing members that a first line names


@dataclass(frozen=True, slots=True)
class Gaps:
    """Volumes (`aliases`) without a readable row, by name, of how many; `allowed` if known, `where` of when."""

    volumes: tuple[str, ...] = ()
    of: int = 0
    aliases: tuple[str, ...] = ()
    allowed: bool = False
    where: str = ""

    def __bool__(self) -> bool:
        """Whether anything is missing."""
        return bool(self.volumes or self.aliases)

    @property
    def exit_code(self) -> int:
        """2 where something is missing and nobody said that it may be."""
        return 2 if self and not self.allowed else 0

    @property
    def words(self) -> str:
        """For the first line: 1 of 8 volumes could not be read."""
        parts = [f"{len(self.volumes)} of {counted(self.of, 'volume')}"] if self.volumes else []
        parts += [counted(len(self.aliases), "alias", "aliases")] if self.aliases else []
        return f"{' and '.join(parts)} could not be read{self.where}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Which, and the way out."""
        if not self:
            return ()
        names = sorted({*self.volumes, *self.aliases})
        out = "" if self.allowed else "; --allow-missing if that is known"
        return (f"Without a readable row: {listed(names, MOST_NAMED)}{out}.",)


NOTHING_MISSING: Final = Gaps()


def first_words(found: Mapping[str, Gaps], then: str = "by the other rows what follows") -> str:
    """Begin of the first line of an answer for many pools: what could not be read of them; empty if nothing."""
    short = {name: each for name, each in found.items() if each}
    if not short:
        return ""
    said = "; ".join(
        f"pool {name}: {each.words}" if name else each.words for name, each in [*short.items()][:MOST_SHORT]
    )
    more = f" and so in {len(short) - MOST_SHORT} more pools" if len(short) > MOST_SHORT else ""
    return f"{sentence_case(said)}{more}: {then}. "


def all_missing(found: Mapping[str, Gaps]) -> int:
    """Volumes without a readable row, of all pools."""
    return sum(len(each.volumes) for each in found.values())


def worst_code(found: Mapping[str, Gaps]) -> int:
    """What a command returns for them."""
    return max((each.exit_code for each in found.values()), default=0)


def all_notes(found: Mapping[str, Gaps]) -> list[str]:
    """Which, pool by pool."""
    return [f"Pool {name}: {note}" if name else note for name, each in found.items() for note in each.notes]


def refuse_unknown_pool(pool: str, known: Sequence[str], lost: Collection[str | None]) -> None:
    """Refuse a pool that is none of the known ones; the message says where all of its rows were `lost`."""
    if pool not in known:
        wanted = f"one of {listed(known)}" if known else "a pool that was measured"
        raise InputError(
            "pool", pool, f"{wanted}: no row of {pool} could be read" if pool in lost else wanted
        )


def gaps(
    missing: Sequence[Missing], present: Collection[str], volumes: int, *, pool: str | None = None, allowed: bool,
    membership: Membership | None = None, only: Devices | None = None, exclude: Devices | None = None,
) -> Gaps:  # fmt: skip
    """What is missing of some volumes, or of a pool; a base without any row is missing as one with a damaged row."""
    lost: list[str] = []
    aliases: list[str] = []
    if membership is not None and pool is not None and pool in membership.pools:
        names = {each.name for each in missing}
        bases, members = membership.of(pool, "base"), membership.of(pool, "alias")
        lost = [name for name in bases if name not in present or name in names]
        aliases = [name for name in members if name in names]  # one without any row may have been idle
        if sum(each.name is None for each in missing) > len([name for name in bases if name not in present]):
            aliases += [name for name in members if name not in present]
        volumes = len(bases)
    else:
        for number, each in enumerate(missing, 1):
            if pool is not None and each.pool not in (None, pool):
                continue
            asked = only is None or (pool is not None if each.name is None else only.means(each.name))
            if not asked or (exclude is not None and each.name is not None and exclude.means(each.name)):
                continue
            (aliases if each.alias else lost).append(each.name or f"a row without a name ({number})")
        volumes += len({*lost} - {*present})
    lost = [name for name in dict.fromkeys(lost) if exclude is None or not exclude.means(name)]
    return Gaps(tuple(lost), volumes, tuple(dict.fromkeys(aliases)), allowed)


def since(run: Run, now: int) -> tuple[Run, str]:
    """The interval that is answered with the aliases in use by `now`, and a note where these are others than then."""
    if now == run.aliases:
        return run, ""
    last = counted(now, "alias", "aliases")
    words = f"{last} in the last interval, {run.aliases} in the one that decides: --from leaves out what was before"
    return replace(run, last_aliases=now), words


FLOOR: Final = 0.05  # I/Os queued, and I/Os in service (5 % busy), below which a volume does not matter
MOST_ADDED: Final = 32  # aliases
MOST_GROWTH: Final = 0.5  # of the service time
LOOK: Final = (
    "Before adding aliases look at the control unit (CUWt, other hosts), the channels (pend), the cache (disconnect), "
    "and whether one guest makes the load: more I/Os at once only queue there."
)


def checked_floor(floor: float) -> float:
    """The floor, refused where it is none."""
    if not (is_number(floor) and 0.0 <= floor < float("inf")):
        raise InputError("floor", floor, "I/Os of zero or more, such as 0.05; 0 lists every volume")
    return floor


def small(queued: float, in_service: float, floor: float) -> bool:
    """Whether both I/Os waiting and I/Os in service are below the floor."""
    return queued < floor and in_service < floor


def floor_words(floor: float = FLOOR) -> str:
    """What is below the floor."""
    return f"fewer than {readable(floor)} I/Os queued and less than {percent(floor)} busy"


def below_floor(run: Run, floor: float = FLOOR) -> bool:
    """Whether a measurement is below the floor; a queue that was not measured does not hold it above."""
    queued = float(run.total_queue.value) if run.queue_known else 0.0
    return small(queued, run.load, floor)


def reasons(in_use: int, recommended: int, service_before: float, service_after: float) -> list[str]:
    """Why more aliases may not be the answer, in a few words each."""
    more = recommended - in_use
    if more <= 0:
        return []
    growth = service_after / service_before - 1.0  # nan compares as no growth
    found = []
    if in_use > 0 and more > 2 * in_use:
        found.append(f"{render.counted(more, 'more alias', 'more aliases')}, over twice those in use")
    elif more > MOST_ADDED:
        found.append(f"{more} more aliases")
    if growth > MOST_GROWTH:
        found.append(f"the service time grows by {percent(growth)}")
    return found


# Share of the usual volumes: an interval with rows of no more is not answered.
MEMBERS: Final = 0.5


def usual_volumes(volumes: ArrayLike) -> float:
    """How many volumes have rows in nearly all intervals, from how many have rows in each, (intervals,)."""
    return float(np.quantile(np.asarray(volumes), 0.9))


def least_volumes(volumes: ArrayLike) -> float:
    """Volumes with rows up to which an interval is not answered."""
    return MEMBERS * usual_volumes(volumes)


def without_rows(volumes: ArrayLike, when: Callable[[int], datetime | None]) -> list[str]:
    """Say in how many intervals volumes have no rows, and what was made of that; `when` says when one began."""
    many = np.asarray(volumes)
    complete = many > least_volumes(many)
    sorts = (
        (~complete, "lack rows of half of the volumes or more", "not answered"),
        (complete & (many < usual_volumes(many)), "lack rows of some volumes", "taken as without I/O there"),
    )
    found = []
    for some, what, how in sorts:
        if some.any():
            at = _at(when(int(np.argmax(some))))
            first = f", the first{at}" if at else ""
            found.append(f"{int(some.sum())} of {counted(some.size, 'interval')} {what}{first}: {how}")
    return found


def unanswered(problems: Mapping[int, str], intervals: int, when: Callable[[int], datetime | None]) -> str:
    """Say how many intervals have no answer, and why the first of them has none; `problems` by their place."""
    first = min(problems)
    return f"{len(problems)} of {intervals} intervals have no answer, the first{_at(when(first))}: {problems[first]}"


def _at(begun: datetime | None) -> str:
    return f" at {begun:%Y-%m-%d %H:%M}" if begun else ""
