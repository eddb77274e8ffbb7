"""What every pool of a site needs: the answer, in a sentence, a row a pool, and what to do on Monday."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

from planner import render
from planner.answer import Answer
from planner.demand import Target
from planner.render.text import counted
from planner.site import site_tables
from planner.site.pool_need import ENOUGH, SHORT, TOO_MANY, UNKNOWN, PoolNeed
from planner.sizing.gaps import NOTHING_MISSING, Gaps, all_notes, first_words

if TYPE_CHECKING:
    from planner.demand import Law

NAMED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SiteAnswer(Answer):
    """What every pool, and every volume with aliases of its own, needs over its days."""

    PICTURE: ClassVar[str] = "planner.site.site_picture:draw"
    pools: tuple[PoolNeed, ...]  # those that are short first
    target: Target  # what the aliases must achieve
    meet: float  # share of the busy time in which they must
    remarks: tuple[str, ...] = ()  # what reading the measurements left open
    failed: tuple[tuple[str, str], ...] = ()  # parts without any answer: name and problem
    law: Law | None = None  # what it was reckoned with, for whoever asks more
    gaps: Mapping[str, Gaps] = field(default_factory=dict)  # members that were not read, by pool

    def of(self, verdict: str) -> list[PoolNeed]:
        """List the pools of one verdict."""
        return [each for each in self.pools if each.verdict == verdict]

    @property
    def lacking(self) -> str:
        """What the first line begins with where members could not be read."""
        return first_words(self.gaps)

    @property
    def exit_code(self) -> int:
        """1 where a pool is short; 2 where a part failed, no pool has an answer, or members could not be read."""
        unread = any(each.exit_code for each in self.gaps.values())
        if unread or self.failed or len(self.of(UNKNOWN)) == len(self.pools):
            return 2
        return 1 if self.of(SHORT) else 0

    @property
    def headline(self) -> str:
        """What could not be read; how many are short, and have aliases to spare."""
        return self.lacking + self._headline()

    def _headline(self) -> str:
        short, many = self.of(SHORT), self.of(TOO_MANY)
        kinds = {each.kind for each in self.pools}
        noun = kinds.pop() if len(kinds) == 1 else "pool or volume"
        total = len(self.pools)
        every = (
            counted(total, noun) if total == 1 or noun != "pool or volume" else f"{total} pools and volumes"
        )
        if total == 1:
            return _alone(self.pools[0], self.meet)
        parts = []
        if short:
            missing = counted(sum(each.to_add for each in short), "alias", "aliases")
            first = short[0]
            parts.append(
                f"{len(short)} {'is' if len(short) == 1 else 'are'} short of {missing} in all, "
                f"{first.name} most ({first.needed} needed, {first.in_use} in use)"
            )
        if many:
            parts.append(
                f"{len(many)} {'has' if len(many) == 1 else 'have'} {sum(e.to_gain for e in many)} to spare"
            )
        enough, unknown = len(self.of(ENOUGH)), len(self.of(UNKNOWN))
        if enough:
            parts.append(f"{enough} {'has' if enough == 1 else 'have'} enough")
        if unknown:
            parts.append(f"{unknown} {'has' if unknown == 1 else 'have'} no answer")
        if self.failed:
            parts.append(f"{counted(len(self.failed), 'part')} of the site failed")
        return f"{every} in {site_tables.share(self.meet)} of the busy time: {'; '.join(parts) or 'nothing to tell'}."

    @property
    def notes(self) -> tuple[str, ...]:
        """How it was found, what is uneven, what to do."""
        found = [*all_notes(self.gaps), *self.remarks]
        found.append(f"Target: {self.target}. Busy: at least a quarter of the load of the 99th percentile.")
        for name, problem in self.failed:
            found.append(f"No answer for {name}: {problem}")
        problems = [each for each in self.pools if each.problem]
        for each in problems[:NAMED]:
            found.append(f"{each.name}: {each.problem}.")
        if len(problems) > NAMED:
            found.append(f"{len(problems) - NAMED} more without an answer; --json has the reasons.")
        uneven: dict[str, list[str]] = {}
        for each in self.pools:
            for note in each.notes:
                uneven.setdefault(note, []).append(each.name)
        for note, names in list(uneven.items())[: 2 * NAMED]:
            some = ", ".join(names[:NAMED]) + (
                f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            )
            found.append(f"{some}: {note}.")
        if len(uneven) > 2 * NAMED:
            found.append(f"{len(uneven) - 2 * NAMED} further remarks; --json has them.")
        found.append(self._next())
        return tuple(found)

    def table(self) -> render.Table:
        """One row a pool."""
        return site_tables.table(self.pools)

    def sections(self) -> tuple[render.Section, ...]:
        """One row a pool; of one pool its hours and its worst intervals."""
        return site_tables.sections(self.pools, self.meet)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, as ``--json`` prints it."""
        known = [each.needed_99 for each in self.pools if each.needed_99 is not None]
        return {
            "pools": [
                each.to_dict() | {"volumes_missing": len(self.gaps.get(each.name, NOTHING_MISSING).volumes)}
                for each in self.pools
            ],
            "all": {
                "pools": len(self.pools),
                "short": len(self.of(SHORT)),
                "too_many": len(self.of(TOO_MANY)),
                "in_use": sum(each.in_use for each in self.pools),
                "needed_99": sum(known),
                "enough": len(self.of(ENOUGH)),
                "unknown": len(self.of(UNKNOWN)),
                "to_gain": sum(each.to_gain for each in self.pools),
                "intervals": sum(each.intervals for each in self.pools),
                "solved_in_full": sum(each.solved_in_full for each in self.pools),
                "checked": 0,
                "checked_same": 0,
                "checked_short": 0,
            },
            "headline": self.headline,
            "volumes_missing": sum(len(each.volumes) for each in self.gaps.values()),
            "target": str(self.target),
            "meet": self.meet,
            "failed": [{"part": name, "problem": problem} for name, problem in self.failed],
            "notes": list(self.notes),
        }

    def _next(self) -> str:
        """What to do on Monday."""
        short, many = self.of(SHORT), self.of(TOO_MANY)
        if short:
            first = short[0]
            when = f" (most on {first.busiest_hour}:00)" if first.busiest_hour else ""
            do = f"Next: {first.name} from {first.in_use} to {first.needed} aliases{when}"
            return f"{do}; `--since DATE` compares the prediction with what happened."
        if many:
            some = f"Next: {many[0].name} can spare {counted(many[0].to_gain, 'device number')}"
            return f"{some}; take them in two steps and measure between."
        without = self.of(UNKNOWN)
        if without:
            return f"Next: correct what leaves {without[0].name} without an answer."
        return "Next: nothing to do; --pool NAME shows one over time."


def _alone(need: PoolNeed, meet: float) -> str:
    """Of one pool."""
    if need.needed is None:
        return f"{need.name}: no answer; {need.problem}."
    ends = "" if need.needed_low is None else f" ({need.needed_low} to {need.needed_high})"
    verdicts = {
        SHORT: f"short by {need.to_add}",
        TOO_MANY: f"at least {need.to_gain} to spare",
        ENOUGH: "enough",
        UNKNOWN: "no verdict",
    }
    worst = "" if need.worst_start is None else f", {need.worst_start:%Y-%m-%d %H:%M}"
    count = counted(need.needed, "alias", "aliases")
    return (
        f"{need.name} needs {count}{ends} in {site_tables.share(meet)} of the busy time, "
        f"{need.needed_worst} in the worst interval{worst}; {need.in_use} in use: {verdicts[need.verdict]}."
    )
