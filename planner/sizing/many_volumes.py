"""Many volumes with aliases of their own: how many each needs, who gains, and the answer for all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

from planner import render
from planner.answer import Answer, tabled
from planner.demand import DeviceModel, Target
from planner.measurements import Run
from planner.measurements.ends import NO_QUEUE
from planner.measurements.observed import OWN_RESPONSE
from planner.quantity import column
from planner.render.text import SHORT, SPARE, listed, sentence_case, word
from planner.sizing.answer import AliasAnswer, together, unmeasured, words_of
from planner.sizing.commands import Command, section
from planner.sizing.comparison import Count, helped
from planner.sizing.gaps import FLOOR, MOST_NAMED, Gaps, floor_words
from planner.sizing.many_pools import (
    COUNTS,
    QUEUED,
    TRAFFIC,
    PoolCount,
    Traffic,
    changes_of,
    doubtful,
    with_need,
)
from planner.sizing.need import FIRST_STEP, Need
from planner.sizing.sized import Sized
from planner.sizing.wording import each_in

GAINS: Final = "gains"
SHIFTS: Final = "wait becomes service"
SPARES: Final = "could spare"
CALM: Final = "does not wait"
LITTLE: Final = "waits little"
SATURATED: Final = "saturated"
UNKNOWN: Final = "queue not measured"
BELOW: Final = "below the floor"
NO_ANSWER: Final = "no answer"
ALONE: Final = "Next: one by itself (--device) is shown in full, with what else its numbers could mean."
NO_POOL_NAMED: Final = (
    "No pool is named and no alias is in use: each volume is answered with aliases of its own. `planner aliases pool` "
    "takes them as one pool, --pools FILE.csv says which volumes share aliases."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VolumeRow(PoolCount):
    """One of many volumes, which is a pool of one: its `verdict`, and what it is `sized` from."""

    verdict: str
    interval: str = ""
    strain: float = 0.0
    sized: Sized | None = field(default=None, repr=False)

    @property
    def rank(self) -> float:
        """I/O rate x wait, which is the queue; inf where it grows without bound."""
        queued = math.inf if self.now is None else self.now.queued
        return math.inf if math.isnan(queued) else queued


DEVICE: Final = column("device", of="name")
NEEDS: Final = tuple(replace(each, label="aliases") if each.key == "recommended" else each for each in COUNTS)
VOLUMES: Final = (DEVICE, *NEEDS, *TRAFFIC, QUEUED, column("verdict", "", " "))
# What fits a terminal: the verdict in a word, and no queue.
OVERVIEW: Final = (DEVICE, column("verdict", of=lambda row: word(row.verdict)), *NEEDS, *TRAFFIC)


def volume_row(run: Run, found: Need | None) -> VolumeRow:
    """The row of a volume: of what was found of it, below the floor where None."""
    measured = VolumeRow(
        name=run.name, verdict=NO_ANSWER, in_use=run.aliases, now=Traffic.measured(run), interval=run.interval
    )
    if found is None:
        return replace(measured, verdict=BELOW)
    row, sized = with_need(measured, run, found, run.notes), found.sized
    if sized is None or row.recommended is None:
        return replace(row, interval="")
    rows, _ = sized.sweep
    helps = helped(rows, *(min(k, rows.aliases.size - 1) for k in (run.aliases, row.recommended)))
    verdict = SATURATED if row.saturated else _verdict(row.count, helps, run.waiting)
    return replace(row, verdict=verdict, strain=sized.residual, sized=sized)


def _verdict(count: Count, helps: bool, waiting: bool | None) -> str:
    if count.verdict == SHORT:
        return GAINS if helps else SHIFTS
    if count.verdict == SPARE:
        return SPARES
    if waiting is None:
        return UNKNOWN
    return LITTLE if waiting else CALM


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VolumesAnswer(Answer):
    """Answers for many volumes with aliases of their own.

    * `rows`: one a volume: with an answer, below the floor, or with a problem.
    * `target`: what was asked for.
    * `growth`: share by which the demand grew first.
    * `floor`: I/Os queued and I/Os in service below which a volume is counted, not listed.
    * `curves`: whether `table` has a row an alias count in place of a row a volume.
    * `device_model`: what it was answered by.
    * `remarks`: how the measurements were read.
    * `commands`: as of `AliasAnswer`.
    * `gaps`: volumes that could not be read.
    """

    PICTURE: ClassVar[str] = "planner.sizing.picture:draw_volumes"

    rows: tuple[VolumeRow, ...]
    target: Target
    growth: float = 0.0
    floor: float = FLOOR
    curves: bool = False
    device_model: DeviceModel | None = None
    remarks: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()
    gaps: Gaps = field(default_factory=Gaps)
    _full: list[AliasAnswer] = field(default_factory=list, repr=False)

    @property
    def listed(self) -> tuple[VolumeRow, ...]:
        """Rows with a count, the largest queue first: I/O rate x wait."""
        return tuple(
            sorted((row for row in self.rows if row.recommended is not None), key=lambda row: -row.rank)
        )

    @property
    def answers(self) -> tuple[AliasAnswer, ...]:
        """The whole answer of each of `listed`, made once they are asked for."""
        if not self._full:
            self._full.extend(row.sized.answer() for row in self.listed if row.sized is not None)
        return tuple(self._full)

    @property
    def unanswered(self) -> tuple[VolumeRow, ...]:
        """Volumes without an answer: their `name`, `problem` and `exit_code`."""
        return tuple(row for row in self.rows if row.verdict == NO_ANSWER)

    @property
    def below(self) -> tuple[VolumeRow, ...]:
        """Volumes below the floor."""
        return tuple(row for row in self.rows if row.verdict == BELOW)

    @property
    def changes(self) -> list[tuple[str, int]]:
        """Names, and how many aliases more each takes; none of what stays."""
        return changes_of(self.listed)

    @property
    def exit_code(self) -> int:
        """0 if every volume could be read and has an answer."""
        return max([row.exit_code for row in self.rows] + [self.gaps.exit_code])

    @property
    def headline(self) -> str:
        """Who gains, who waits in vain, who does not wait."""
        verdicts = [row.verdict for row in self.rows]
        gaining = [row for row in self.rows if row.verdict in (GAINS, SATURATED)]
        parts = []
        if gaining:
            more = sum(row.count.missing for row in gaining)
            low, high = (
                sum(max((row.range or (0, 0))[end] - row.count.in_use, 0) for row in gaining)
                for end in (0, 1)
            )
            word = "gains" if len(gaining) == 1 else "gain"
            parts.append(
                f"{len(gaining):,} {word} from {render.counted(more, 'alias', 'aliases')} more in all "
                f"({low:,} to {high:,})"
            )
        counts = (
            (SHIFTS, "waits, but aliases do not help", "wait, but aliases do not help"),
            (SPARES, "could spare some", "could spare some"),
            (LITTLE, "waits little", "wait little"),
            (CALM, "does not wait", "do not wait"),
            (UNKNOWN, "needs none at open arrivals", "need none at open arrivals"),
            (BELOW, "is too quiet to matter", "are too quiet to matter"),
            (NO_ANSWER, "has no answer", "have no answer"),
        )
        for name, one, many in counts:
            if count := verdicts.count(name):
                parts.append(f"{count:,} {one if count == 1 else many}")
        total = render.counted(len(self.rows), "volume")
        when = each_in([row.interval for row in self.rows])
        said = unmeasured(row.sized.run.assumed for row in self.rows if row.sized is not None)
        first = f"{self.gaps.words}. " if self.gaps else ""
        found = f"{total}{when}: {', '.join(parts)}" if self.rows else "No I/O: no alias is needed"
        return f"{first}{found}.{said}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Where aliases may not be the problem, what has no answer, how it was read, where to look closer."""
        seen = [f"{row.name}: {row.problem}" for row in self.unanswered]
        if said := doubtful(self.listed, MOST_NAMED):
            seen.insert(0, said)
        if never_idle := [row.name for row in self.listed if row.saturated]:
            seen.append(f"{sentence_case(FIRST_STEP)} ({listed(never_idle, MOST_NAMED)}).")
        strained = [row.name for row in self.listed if row.strain > 1.0]
        if strained:
            seen.append(f"No demand model fits the measurement of {listed(strained, MOST_NAMED)}.")
        if self.below:
            seen.append(
                f"Not listed: {render.counted(len(self.below), 'volume')} with {floor_words(self.floor)}; "
                "--floor 0 answers them as well."
            )
        common = dict.fromkeys(
            note for row in self.listed for note in row.notes if note in (NO_QUEUE, OWN_RESPONSE)
        )
        return (
            *self.gaps.notes, *seen, *self.remarks, *common, *words_of(self.device_model),
            *([ALONE] if self.rows else []),
        )  # fmt: skip

    def overview(self) -> render.Table:
        """One row a volume of those that are listed, as it fits a terminal."""
        return tabled(self.listed, OVERVIEW)

    def sections(self) -> tuple[render.Section, ...]:
        """One row a volume."""
        caption = (
            f"aliases: {self.target}; then: with them. Largest I/O rate x wait first; --csv has the queues."
        )
        rows = (render.Section(table=self.overview(), caption=caption),) if self.listed else ()
        return (*rows, *section(self.commands))

    def table(self) -> render.Table:
        """One row a volume, also of those below the floor and without an answer; or the curves, where wanted."""
        return together(self.answers) if self.curves and self.listed else tabled(self.rows, VOLUMES)

    def plain_figures(self) -> dict[str, Any]:
        """Every answer, and what is common to them."""
        return {
            "target": str(self.target),
            "growth": self.growth,
            "floor": self.floor,
            "volumes_missing": len(self.gaps.volumes),
            "volumes": [
                {"device": row.name, "verdict": row.verdict, **each.to_dict()}
                for row, each in zip(self.listed, self.answers, strict=True)
            ],
            "below_floor": [row.name for row in self.below],
            "commands": [command for command, _ in self.commands],
            "problems": [{"device": row.name, "problem": row.problem} for row in self.unanswered],
        }


def no_pool_named(found: AliasAnswer | VolumesAnswer) -> AliasAnswer | VolumesAnswer:
    """The answer of volumes that nothing says a pool of, with a remark where they may have one."""
    if isinstance(found, AliasAnswer) or any(row.in_use for row in found.rows):
        return found
    return replace(found, remarks=(*found.remarks, NO_POOL_NAMED))
