"""The answer to how many aliases of one volume or pool: its numbers, its first line, its tables and its picture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

import numpy as np

from planner import render
from planner.answer import Answer, nested, record, tabled
from planner.demand import DeviceModel, Target
from planner.devices import Performance
from planner.interval import Interval
from planner.quantity import column
from planner.render.text import SHORT, SPARE, from_to, sentence_case
from planner.sizing.commands import Command, section
from planner.sizing.comparison import GAINS, Count, Gain, in_use_now
from planner.sizing.gaps import FLOOR, LOOK, Gaps, reasons, small
from planner.units import MILLISECOND, percent, readable

FEW_TRIES: Final = (
    "How many I/Os find no alias follows from the balance of arrivals and ends: within 10 % in simulations of a demand "
    "that is known; supply counters measure it."
)
EXPONENTIAL: Final = (
    "Waits of the I/Os that wait are taken as exponential: where the answer says 5 %, 4.5 to 5.2 % waited longer in "
    "simulations, of requesters fewer, of long-tailed batches up to 7 %."
)
UNEQUAL: Final = "mixed"
NOT_SURE: Final = "enough, and none is spare for sure"
MOST_ROWS: Final = 24  # of the table that people see
SAME: Final = 0.005  # relative difference of two rates that read alike
SHOWN: Final = (
    "aliases", "io_rate", "io_rate_low", "io_rate_high", "service", "wait", "response", "queued", "no_alias",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedDemand:
    """One demand that explains the measurement, in words, and what it says.

    * `kind`: "poisson", "closed", "batches" and so on, as of `planner.demand`; "mixed" where volumes differ.
    * `words`: the demand in a few words.
    * `weight`: how likely it is beside the others; None where that is not known.
    * `count`: aliases that meet the target under it; None where no count does.
    * `io_rate`: I/O rate under it with the recommended aliases [1/s].
    * `population` and `think_time`: of the requesters of one volume [s]; None without any or where volumes differ.
    """

    kind: str
    words: str
    weight: float | None
    count: int | None
    io_rate: float
    population: float | None = None
    think_time: float | None = None


READING: Final = (
    *map(column, ("kind", "words", "weight")), column("aliases", of="count"), column("io_rate"), column("population"),
    column("think_time", "ms", of="think_time"),
)  # fmt: skip


FIGURES: Final = (
    column("interval", of=lambda a: a.interval or None),
    column("assumed", of=lambda a: a.assumed or None), column("recommended"),
    column("range", of=lambda a: [int(end) for end in a.range]),
    column("recommended_low", of=lambda a: int(a.range[0])), column("recommended_high", of=lambda a: int(a.range[1])),
    column("recommended_together", of="together_count"), column("together", of="together.value"),
    column("together_low", of="together.low"), column("together_high", of="together.high"),
    column("removes_half", of=lambda a: a.removes(0.5)), column("removes_90", of=lambda a: a.removes(0.9)),
    *map(column, ("saturated", "helps", "strain", "rule_of_thumb", "in_use")),
    column("volumes_missing", of=lambda a: len(a.gaps.volumes)), column("measured", of=lambda a: list(a.measured)),
    column("growth"), column("target", of=lambda a: str(a.target)), column("demand"),
    nested("readings", "readings", READING),
    column("rows", of=lambda a: a.table().records()), column("counters", of=lambda a: a.counters().records()),
    column("classic_aliases", of="classic"), nested("gains", "gains", GAINS),
    column("grouping_error"), column("below_floor"), column("commands", of=lambda a: [each for each, _ in a.commands]),
    column("doubts", of=lambda a: list(a.doubts)),
    column("model", of=lambda a: next(iter(words_of(a.device_model)), None)),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AliasAnswer(Answer):
    """How many aliases, what they bring, and how far to trust it.

    * `name`: base device or pool.
    * `interval`: which of several intervals is answered; empty where there was one.
    * `recommended`: smallest total count to meet the target under the preferred candidate; a first step if saturated.
    * `range`: smallest and largest count over all candidates, the models the calibration allows, and the rule of thumb.
    * `rule_of_thumb`: aliases in use plus the summed queue rounded up; None where the queue was not measured.
    * `in_use`, `last_aliases`: aliases at the time of the latest measurement; as of `Run`.
    * `measured`: counts at which it was measured, the latest last.
    * `target`: what was asked for.
    * `growth`: share by which the demand grew first.
    * `readings`: demands that the measurement allows, the preferred one first.
    * `rows`: under the preferred candidate, one element a count from 0; at measured counts the measurement itself.
    * `rate` and `response`: of each row [1/s], [s], with 90 % ends; inf where a queue may grow without bound.
    * `saturated`: whether the devices never idle, so that the demand is unknown.
    * `helps`: whether the recommended aliases raise the rate or shorten the response by a twentieth.
    * `strain`: normalized residual of the nearest candidate: 1 is the limit of what the printed digits leave open.
    * `waiting`: whether any I/O waits; None where it was not measured.
    * `classic`: aliases that classic PAV would take for the target; None for one volume, or where it cannot.
    * `gains`: what a volume of each class gets from the recommended aliases.
    * `grouping_error`: relative error of a volume's wait from taking nearly equal volumes as one class; inf if unknown.
    * `why`, `more` and `step`: the demand in words, what else to know, what to do next.
    * `together`: as of `Run`, where measurements show it.
    * `together_count`: aliases needed if the bursts of all volumes come together; None where the data decide.
    * `given`: whether that was said of every volume.
    * `device_model`: what it was answered by.
    * `floor`: I/Os queued and I/Os in service below which a measurement says nothing.
    * `commands`: what to type for the recommended count, and what it is for; empty where nobody asked.
    * `assumed`: what was taken for a service time that was not measured, as a sentence; empty where it was.
    * `gaps`: members that could not be read.
    """

    PICTURE: ClassVar[str] = "planner.sizing.picture:draw"
    FIGURES: ClassVar = FIGURES

    name: str
    interval: str
    recommended: int
    range: tuple[int, int]
    rule_of_thumb: int | None
    in_use: int
    last_aliases: int | None = None
    measured: tuple[int, ...]
    target: Target
    growth: float
    readings: tuple[NamedDemand, ...]
    rows: Performance
    rate: Interval
    response: Interval
    saturated: bool
    helps: bool
    strain: float
    waiting: bool | None
    classic: int | None
    gains: tuple[Gain, ...]
    grouping_error: float
    why: str = ""
    more: tuple[str, ...] = ()
    step: str = ""
    together: Interval | None = None
    together_count: int | None = None
    device_model: DeviceModel | None = None
    floor: float = FLOOR
    commands: tuple[Command, ...] = ()
    given: bool = False
    assumed: str = ""
    gaps: Gaps = field(default_factory=Gaps)

    @property
    def below_floor(self) -> bool:
        """Whether so little is queued and in service that the digits cannot tell what aliases would bring."""
        rows, k = self.rows, self.in_use
        busy = float(rows.io_rate[k] * rows.service_time[k])
        return self.recommended > k and not self.saturated and small(float(rows.queued[k]), busy, self.floor)

    @property
    def count(self) -> Count:
        """The count beside what is in use."""
        now = in_use_now(self.in_use, self.last_aliases)
        return Count(self.recommended, *self.range, now, self.below_floor)

    @property
    def changes(self) -> list[tuple[str, int]]:
        """The name, and how many aliases more it takes; none where those in use stay."""
        return [(self.name, self.count.change)] if self.count.change else []

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why aliases may not be the problem, in a few words each; none where nothing speaks for that."""
        if self.saturated:
            return ()
        before, after = (float(self.rows.service_time[k]) for k in (self.in_use, self.recommended))
        return tuple(reasons(self.in_use, self.recommended, before, after))

    @property
    def exit_code(self) -> int:
        """2 where members could not be read."""
        return self.gaps.exit_code

    @property
    def range_text(self) -> str:
        """The range in words."""
        return from_to(*self.range)

    @property
    def headline(self) -> str:
        """Count, range, gain and cost; first what could not be read, last what was taken for a service time."""
        said = f"{self._headline()} {self.assumed}".rstrip()
        return (
            f"{self.gaps.words}: by the other rows {_aliases(self.recommended)}. {sentence_case(said)}"
            if self.gaps
            else said
        )

    def _headline(self) -> str:  # noqa: PLR0911 - one sentence a case
        if self.saturated:
            more = self.range_text if self.range[0] < self.range[1] else "more"
            return (
                f"{self._who}: saturated, with devices that never idle: the demand is unknown. Begin with "
                f"{_aliases(self.recommended)} and measure again ({more} may be needed)."
            )
        head = f"{self._who}: "
        if self.below_floor:
            rate, service, queued = (
                float(each[self.in_use])
                for each in (self.rows.io_rate, self.rows.service_time, self.rows.queued)
            )
            return (
                f"{head}the digits cannot tell: {readable(rate)}/s at {percent(rate * service)} busy with "
                f"{readable(queued)} I/Os queued is no case for {_aliases(self.recommended)} ({self.range_text} by the "
                "numbers)."
            )
        if self.doubts:
            head += f"perhaps no alias problem ({'; '.join(self.doubts)}): "
        if self.strain > 1.0:
            off = readable(self.strain)
            head += f"no demand model fits this measurement, the best misses by {off} rounding errors: "
        if not self.helps:
            return (
                f"{head}aliases only turn queueing into longer service. {sentence_case(_aliases(self.recommended))} "
                f"({self.range_text}) would meet the target: {self._gain()}."
            )
        head += f"{_aliases(self.recommended)} ({self.range_text}){self._together}"
        since = "" if self.last_aliases is None else f", {self.last_aliases} since"
        shown = since or (self.in_use and self.in_use != self.recommended)
        used = f", {self.in_use} in use{since}" if shown else ""
        now, more = self.count, " more" if self.in_use or since else ""
        add = f"{render.counted(now.missing, 'device number')}{more}" if now.missing > 0 else "none to add"
        if self.recommended > self.in_use:
            return f"{head}{used}: {self._gain()}; {add}."
        if self.recommended < self.in_use:
            spare = {SPARE: f"{now.spare} can be freed", SHORT: add}.get(now.verdict, NOT_SURE)
            return f"{head}{used}: {spare}; with {self.recommended}, {self._gain()}."
        if self.in_use:
            return f"{head}{used}: {add if now.missing > 0 else 'those in use are enough'}; {self._now()}."
        if self.waiting:
            return f"{head}: the wait meets the target without any; {self._now()}."
        return (
            f"{head}: {'no I/Os are waiting' if self.waiting is False else 'none is needed'}; {self._now()}."
        )

    @property
    def _together(self) -> str:
        """What bursts that come together would need, and what most of the wait needs where the rest costs more."""
        said = ""
        if beyond_range(self.together_count, self.recommended, self.range[1]):
            said = (
                f" if the volumes' I/Os are independent, {self.together_count} if they come together (striped file "
                "systems, page writes; one listing with aliases decides)"
            )
        most = self.removes(0.9)
        if most is not None and self.recommended - most > most - self.in_use > 0:
            said += f"; 90 % of the wait is gone with {most}"
        return said

    def removes(self, share: float) -> int | None:
        """Count the aliases that remove a share of the wait with those in use."""
        wait = self.rows.queued / self.rows.io_rate
        now = float(wait[self.in_use]) if self.in_use < wait.size else 0.0
        enough = np.flatnonzero(wait <= (1.0 - share) * now)
        return int(enough[0]) if 0.0 < now < np.inf and enough.size else None

    @property
    def _who(self) -> str:
        """Whose, and which of its intervals."""
        return f"{self.name} ({self.interval})" if self.interval else self.name

    def _now(self) -> str:
        rate, response = self.rows.io_rate[self.in_use], self.rows.response_time[self.in_use]
        return f"I/O rate {readable(rate)}/s, response {_ms(response)} ms"

    def _gain(self) -> str:
        """From now to the recommended count: rate with its ends, response."""
        count = self.recommended
        now, then = (float(self.rows.io_rate[k]) for k in (self.in_use, count))
        if abs(then / now - 1) < SAME:
            most = float(self.rate.high[count])
            more = f" (up to {_end(most)})" if most > (1 + 4 * SAME) * now else ""
            rate = f"I/O rate {readable(now)}/s as before{more}"
        else:
            low, high = (_end(end) for end in (self.rate.low[count], self.rate.high[count]))
            ends = f" ({low} to {high})" if low != high else ""
            rate = f"I/O rate {readable(now)} to {readable(then)}/s{ends}"
        before, after = (self.rows.response_time[k] for k in (self.in_use, count))
        same = _ms(before) == _ms(after)
        return f"{rate}, response {_ms(before)} {'ms as before' if same else f'to {_ms(after)} ms'}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Where else to look, the demand, what to know, what to do next."""
        look = (LOOK,) if self.doubts and not self.below_floor else ()
        return (*self.gaps.notes, *look, self.why, *self._further())

    def _further(self) -> list[str]:
        """The rule of thumb, counts on the way to the target, what the answer rests on, what to do next."""
        found = []
        if self.rule_of_thumb is not None:
            grown = ", grown as the demand," if self.growth else ","
            few = bool(self.waiting) and self.rule_of_thumb == self.in_use
            found.append(
                f"By the rule of thumb {self.rule_of_thumb}: aliases in use plus the queue{grown} rounded up"
                f"{'; a queue below 0.1 counts as none' * few}."
            )
        half, most = self.removes(0.5), self.removes(0.9)
        if half is not None and most is not None and self.recommended > self.in_use:
            first = "" if half == most else f"Half of the wait is gone with {_aliases(half)}, "
            last = f"90 % with {most}" if first else f"90 % of the wait is gone with {_aliases(most)}"
            found.append(f"{first}{last}; the target takes {self.recommended}.")
        if not self.target.of_waits and self.readings[0].kind not in {"poisson", "closed", "open", UNEQUAL}:
            found.append(FEW_TRIES)
        if self.target.wait_percentile is not None:
            found.append(EXPONENTIAL)
        if self.together is not None and self.together.high - self.together.low < 1.0 and not self.given:
            low, value, high = map(percent, self.together)
            found.append(
                f"The volumes' I/Os come together to {value} ({low} to {high}; 0 % independent, 100 % all at once), as "
                "what waits with aliases in use shows."
            )
        found += [*self.more, *words_of(self.device_model)]
        if self.below_floor:
            found.append("Next: measure a busier interval; --floor 0 takes this one at its word.")
        elif self.step:
            found.append(self.step)
        return found

    def measured_at(self, figure: str) -> tuple[int, ...]:
        """Counts at which this figure of `rows` was measured; no response without a queue."""
        unknown = self.growth or (figure == "response_time" and self.waiting is None)
        return () if unknown else self.measured

    def table(self) -> render.Table:
        """One row an alias count; the recommended one and those that were measured are marked."""
        rows, ms = self.rows, MILLISECOND
        values = (
            rows.aliases.astype(int), rows.io_rate, self.rate.low, self.rate.high, rows.service_time / ms,
            rows.wait_time / ms, rows.response_time / ms, rows.queued, rows.no_alias, self.response.low / ms,
            self.response.high / ms,
        )  # fmt: skip
        columns = (
            column("aliases", decimals=0),
            column("io_rate", "1/s", "I/O rate", 1),
            column("io_rate_low", "1/s", "from", 1),
            column("io_rate_high", "1/s", "to", 1),
            *(column(name, "ms", decimals=2) for name in ("service", "wait", "response")),
            column("queued", decimals=2),
            column("no_alias", "share", "no alias", 3, lambda row: None if math.isnan(row[8]) else row[8]),
            column("response_low", "ms", "from", 2),
            column("response_high", "ms", "to", 2),
        )
        marks = (self._mark(int(count)) for count in rows.aliases)
        return tabled(zip(*(each.tolist() for each in values), strict=True), columns, marks)

    def _mark(self, count: int) -> str:
        if count == self.recommended:
            return "recommended"
        if count in self.measured and not self.growth:
            return "in use" if len(self.measured) == 1 else "measured"
        return "in use" if count == self.in_use else ""

    def sections(self) -> tuple[render.Section, ...]:
        """The table without the columns that only programs want; of many counts those around the answer."""
        table = self.table().pick(SHOWN).filled()
        kept = self._kept_rows(len(table))
        shown = table.each(lambda c: replace(c, values=[c.values[k] for k in kept]))
        marks = tuple(table.marks[k] for k in kept)
        caption = f"> {'to begin with, target' if self.saturated else 'recommended'}: {self.target}"
        if "measured" in marks or (len(self.measured) > 1 and self.recommended in self.measured):
            caption += "   * measured" if "measured" in marks else ""
        elif "in use" in marks:
            caption += "   * in use"
        return (
            render.Section(table=replace(shown, marks=marks), caption=caption),
            *section(self.commands),
        )

    def _kept_rows(self, many: int) -> Sequence[int]:
        if many <= MOST_ROWS:
            return range(many)
        low, high = self.range
        near = range(self.recommended - 3, self.recommended + 3)
        wanted = {0, low, min(high, many - 1), *self.measured, *near}
        wanted |= set(np.linspace(0, many - 1, MOST_ROWS // 2).round().astype(int).tolist())
        return sorted(k for k in wanted if 0 <= k < many)

    def counters(self) -> render.Table:
        """What the supply counters of the pool would show, one row an alias count."""
        rows = self.rows
        columns = (
            column("aliases"),
            column("tries_rate", "1/s"),
            column("fails_rate", "1/s"),
            column("fewest_free", of=lambda row: None if math.isnan(row[3]) else int(row[3])),
            column("most_free", of=lambda row: None if math.isnan(row[4]) else int(row[4])),
        )
        values = (rows.aliases.astype(int), rows.tries, rows.fails, rows.fewest_free, rows.most_free)
        return tabled(zip(*(each.tolist() for each in values), strict=True), columns)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, with unit suffixes, as `--json` prints it."""
        return {**Answer.to_dict(self), "notes": [*self.gaps.notes, *self._further()]}

    @property
    def demand(self) -> dict[str, Any]:
        """The preferred demand, as ``--json`` has it."""
        first = record(self.readings[0], READING)
        people = first["population"]
        return {
            "kind": {"poisson": "open"}.get(first["kind"], first["kind"]),
            "population": int(people) if people is not None and float(people).is_integer() else people,
            "think_time_ms": first["think_time_ms"],
            "why": self.why,
        }


def together(answers: Sequence[AliasAnswer]) -> render.Table:
    """Join the tables of several answers, with a column that names the device.

    Parameters
    ----------
    answers : sequence of AliasAnswer
        One or more.

    Returns
    -------
    render.Table
        The rows of all; without the extra column where there is one answer.
    """
    tables = [answer.table() for answer in answers]
    if len(tables) == 1:
        return tables[0]
    names = [answer.name for answer, table in zip(answers, tables, strict=True) for _ in range(len(table))]
    joined = [
        replace(column, values=[value for table in tables for value in table.columns[k].values])
        for k, column in enumerate(tables[0].columns)
    ]
    return render.Table(columns=(render.Column(name="device", unit="", values=names), *joined))


def beyond_range(together: int | None, recommended: int, high: int) -> bool:
    """Whether the count for bursts that come together lies so far above the range that it is shown."""
    return together is not None and together > max(high, recommended + 1)


def words_of(device_model: DeviceModel | None) -> tuple[str, ...]:
    """What an answer says of the model that it was made with."""
    return () if device_model is None or not device_model.words else (device_model.words,)


def unmeasured(sentences: Iterable[str]) -> str:
    """Say in the first line of many answers that service times were not measured; nothing where they were."""
    return " Service times were not measured, but taken from the other figures." if any(sentences) else ""


def _aliases(count: int) -> str:
    return render.counted(count, "alias", "aliases")


def _end(value: float) -> str:
    """The end of a band."""
    return readable(value) if math.isfinite(value) else "more"


def _ms(seconds: float) -> str:
    value = float(seconds) / MILLISECOND
    return readable(value, 2, zeros=True) if math.isfinite(value) else "unbounded"
