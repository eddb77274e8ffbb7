"""What a system answers: as tables with their basis, JSON, sentences, a picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle, groupby
from typing import Any, ClassVar, Final

from planner import render, style
from planner.advice.storage.frames import over_ptrm
from planner.answer import Answer, tabled
from planner.errors import InputError, ReportError
from planner.quantity import column
from planner.render.text import listed
from planner.system.description import System
from planner.system.figures import COST_FACTOR, OUTSIDE, Number, SystemResult, costs_missing, solve_all
from planner.system.reading import recheck
from planner.system.schema import TABLES
from planner.units import GIB, MILLISECOND, ends, percent, readable

PAGES_GIB: Final = GIB / 4096
STATIONS: Final = {  # of a station: how people read a figure, its unit, SI units in one
    "transfers": ("transfers of a device", "/s", 1.0), "utilization": ("busy", "", 1.0),
    "queue_length": ("queue", "", 1.0), "wait": ("wait", "ms", MILLISECOND),
    "response": ("response", "ms", MILLISECOND),
}  # fmt: skip
COST_LABELS: Final = {
    "guest_busy": "guests", "cp_charged_busy": "CP, charged", "cp_system_busy": "CP, system", "total_busy": "together",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FigureLine:
    """One figure as people read it: title of its table, what, number, unit, SI units in one of it."""

    title: str
    what: str
    number: Number
    unit: str = ""
    factor: float = 1.0

    @property
    def name(self) -> str:
        """What names it without a title above it."""
        kind = {"Processors": "busy, ", "Bounds": "bound, ", "Elasticity": "elasticity, "}
        return kind.get(self.title.partition(" ")[0].rstrip(",:"), "") + self.what

    @property
    def ends(self) -> tuple[str, ...]:
        """Lower end, value and upper end as people read them."""
        return _ends(self.number, self.factor)

    def plain(self, end: str) -> Any:
        """An end or the value, in its unit, as programs read it."""
        return self.number.to_dict(self.factor)[end]


def labeled(what: str, unit: str) -> str:
    """What a figure is, with its unit."""
    return f"{what} [{unit}]" if unit else what


PLAIN: Final = (
    column("figure", of="name"), column("unit", of="unit"),
    *(column(end, of=lambda row, end=end: row.plain(end)) for end in ("value", "low", "high")),  # type: ignore[misc]
    column("basis", of="number.basis"),
)  # fmt: skip
SHOWN: Final = (
    column("figure", of=lambda row: labeled(row.what, row.unit)),
    column("value", of=lambda row: row.ends[1]), column("low", "", "90 % from", of=lambda row: row.ends[0]),
    column("high", "", "to", of=lambda row: row.ends[2]), column("basis", of="number.basis"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemAnswer(Answer):
    """What a `system`, completed by models, does: figures (`found`) with 90 % intervals and what they rest on."""

    COLUMNS: ClassVar = PLAIN
    ROWS: ClassVar = "rows"

    system: System
    found: SystemResult

    @property
    def unit(self) -> str:
        """What the throughput counts."""
        return throughput_unit(self.system)

    @property
    def bottleneck(self) -> tuple[str, ...]:
        """Parts by how low a bound they set, the lowest first."""
        return tuple(name for name, _ in self.found.ranked())

    @property
    def headline(self) -> str:
        """Throughput with its range, misses, what bounds it."""
        found, parts = self.found, []
        if found.throughput.value is not None:
            parts.append(f"{said(found.throughput)} {self.unit} (90 %)")
        if found.storage:
            missing = found.storage["pages_without_frame"]
            if missing.value:
                parts.append(
                    f"{readable(missing.value / PAGES_GIB)} GiB of pages have no frame, "
                    f"{percent(found.miss_ratio.value or 0)} of the page visits miss"
                )
            else:
                parts.append("all pages have a frame")
        names = self.bottleneck
        if names:
            parts.append(f"bottleneck: {names[0]}" + (f", then {names[1]}" if len(names) > 1 else ""))
        return f"{self.system.name}: " + ("; ".join(parts) or "nothing to work out") + "."

    @property
    def rows(self) -> Iterator[FigureLine]:
        """All figures, those of a table side by side."""
        found, top = self.found, "Throughput"
        if found.throughput.value is not None or self.system.of("guests"):
            yield FigureLine(top, "throughput", found.throughput, self.unit)
        if self.system.of("paging"):
            yield FigureLine(top, "page reads and writes", found.page_rate, "pages/s")
        if self.system.of("volumes"):
            yield FigureLine(top, "I/Os of guests", found.io_rate, "/s")
        if found.storage:
            yield from self._storage(found.storage)
        for name, station in found.stations.items():
            for key, (label, unit, factor) in STATIONS.items():
                what = f"{name} ({found.devices[name]}): {label}"
                yield FigureLine("Devices, each", what, station[key], unit, factor)
        if self.system.one("processors") is not None:
            for key, label in COST_LABELS.items():
                yield FigureLine("Processors busy", label, found.processors[key])
        for name, number in found.bounds.items():
            yield FigureLine(f"Bounds, {self.unit}", name, number)
        for name, number in found.elasticity.items():
            yield FigureLine("Elasticity: percent of throughput for one percent of", name, number)

    def _storage(self, found: Mapping[str, Number]) -> Iterator[FigureLine]:
        title = "Storage"
        yield FigureLine(title, "overcommitment", found["overcommitment"])
        yield FigureLine(title, "frames for pages", found["frames_for_pages"], "GiB", PAGES_GIB)
        yield FigureLine(title, "pages without a frame", found["pages_without_frame"], "GiB", PAGES_GIB)
        yield FigureLine(title, "misses per page visit", self.found.miss_ratio, "%", 0.01)
        yield FigureLine(title, "real storage without paging", found["storage_without_paging"], "GiB", GIB)
        for name, number in found.items():
            if name.startswith("guests_that_fit"):
                yield FigureLine(title, f"guests that fit: {name.partition(' ')[2]}", number)

    def sections(self) -> tuple[render.Section, ...]:
        """Lay out one table a topic."""
        topics = groupby(self.rows, key=lambda row: row.title)
        return tuple(render.Section(title=title, table=tabled(rows, SHOWN)) for title, rows in topics)

    @property
    def notes(self) -> tuple[str, ...]:
        """What it rests on, what is outside, what to do."""
        return (*over_ptrm(self.found.ptrm_spaces), *_notes(self.system, self.found))

    def plain_figures(self) -> dict[str, Any]:
        """Every number with its error and its source."""
        found, storage, outside = self.found, plain(self.found.storage), OUTSIDE.to_dict()
        nothing = Number(0.0, 0.0, 0.0, "arithmetic")
        ranked = [*self.bottleneck, None, None]
        return {
            "name": self.system.name,
            "throughput": found.throughput.to_dict(),
            "throughput_unit": self.unit,
            "miss_ratio": found.miss_ratio.to_dict(),
            **{key: storage.get(key, outside) for key in ("frames_for_pages", "pages_without_frame", "overcommitment")},
            "storage_without_paging_gib": found.storage.get("storage_without_paging", OUTSIDE).to_dict(GIB),
            "page_rate": (found.page_rate if self.system.of("paging") else nothing).to_dict(),
            "io_rate": found.io_rate.to_dict(),
            "guests": [
                {"name": guest.name, "count": int(guest.numbers["count"]),
                 "throughput": found.guests.get(guest.name, OUTSIDE).to_dict(),
                 "guests_that_fit": storage.get(f"guests_that_fit {guest.name}", outside)}
                for guest in self.system.of("guests")
            ],
            "stations": [
                {"name": name, "devices": found.devices[name],
                 **{f"{key}_ms" if unit == "ms" else key: numbers[key].to_dict(factor)
                    for key, (_, unit, factor) in STATIONS.items()}}
                for name, numbers in found.stations.items()
            ],
            **{key: plain(getattr(found, key)) for key in ("processors", "bounds")},
            "bottleneck": ranked[0],
            "next_bottleneck": ranked[1],
            "elasticity": plain(found.elasticity),
            "method": "exact" if found.exact else "linearizer",
        }  # fmt: skip

    def plot(self, axes: style.Axes | None = None) -> style.Axes:
        """Draw the throughput with its 90 % interval beside what each part would allow."""
        return _bounds(self.headline, [(self.system.name, self.found)], self.unit, axes)


def plain(numbers: Mapping[str, Number]) -> dict[str, Any]:
    """Figures by name, as programs read them."""
    return {name: number.to_dict() for name, number in numbers.items()}


def throughput_unit(system: System) -> str:
    """What the throughput counts: page touches where any guest touches pages, else I/Os."""
    touching = any(guest.numbers.get("touch_time") is not None for guest in system.of("guests"))
    return "page touches/s" if touching else "I/Os/s"


def said(number: Number, factor: float = 1.0, unit: str = "") -> str:
    """A number with its interval, for people."""
    if number.value is None:
        return "outside what was measured"
    low, value, high = _ends(number, factor)
    unit = f" {unit}" if unit else ""
    return f"{value}{unit}" if low == high else f"{value}{unit} ({low} to {high})"


def _ends(number: Number, factor: float) -> tuple[str, ...]:
    """Its ends and itself as people read them; what is without bound is none."""
    texts = ends(math.nan if end is None else end / factor for end in number)
    return tuple("none" if text == "saturated" else text for text in texts)


def _notes(
    system: System, found: SystemResult, sensitive: float = 10.0, coarse: float = 0.1
) -> Iterator[str]:
    """Assumptions first, the next step last; a `sensitive` elasticity is one too large for an answer.

    Digits that leave a share of `coarse` open are named.
    """
    if found.storage and any(guest.word("touching") == "uniform" and "miss_ratio" not in guest.numbers
                             for guest in system.of("guests")):  # fmt: skip
        yield (
            "Misses: page visits reach pages without a frame in proportion to their number. Working sets, scheduler "
            "and shares are not modelled; a measured miss_ratio replaces this assumption."
        )
    idle = [
        g.name for g in system.of("guests") if g.numbers.get("touch_time") is None and not g.word("io_to")
    ]
    if idle:
        yield f"Only storage is known of guests {', '.join(idle)}: touch_time_us or io_to would say what they do."
    if any(number.basis == "outside" for number in found.processors.values()) and system.of("paging"):
        yield from _outside(system)
    if (
        found.throughput.value
        and found.miss_ratio.value == 0
        and any(g.word("model") for g in system.of("guests"))
    ):
        yield (
            "Nothing is paged, and the processor time per touch was measured on a system that paged: an extrapolation."
        )
    if not found.exact:
        yield "This many requesters are solved by the Linearizer, mostly within 1 % of the exact solution."
    yield from dict.fromkeys(each for model in system.models.values() for each in model.fit.cautions)
    yield from _releases(system)
    for name, why in found.stopped.items():
        yield f"At a 90 % end of {name} the system cannot run: {why}. Intervals are open there."
    for name, (step, why) in found.unmoved.items():
        yield f"No elasticity in {name}: with {step} the system cannot run: {why}."
    if missing := costs_missing(system)["total_busy"]:
        bounded = bool(found.bounds.get("processors", OUTSIDE).value)
        more = "; their bound is that of the processor times that are known, hence too high" * bounded
        yield f"Processors busy have no number without {listed(missing, 4)}{more}."
    if found.shares:
        widest = sorted(found.shares.items(), key=lambda pair: -pair[1])[:3]
        parts = ", ".join(f"{name} {percent(part)}" for name, part in widest if part > 0)
        exact = not any(half for entry in system.entries for half in entry.halves.values())
        yield (
            f"What the interval of the throughput is made of: {parts}."
            if parts
            else "All numbers are taken as exact."
            if exact
            else "The throughput is the same at both 90 % ends of every number."
        )
    wide = [
        f"{entry.label}.{key} {percent(half / entry.numbers[key])}"
        for entry in system.entries
        for key, half in entry.halves.items()
        if half > coarse * entry.numbers[key] > 0
    ]
    if wide:
        yield (
            f"Digits count as measured, good to half of the last one, to either side: {listed(wide, 3)}. Write more of "
            "them (0.00100 in place of 0.001), or a whole number of a smaller unit, where it is known better."
        )
    steep = [
        (name, n) for name, n in found.elasticity.items() if n.value is not None and abs(n.value) > sensitive
    ]
    for name, number in steep:
        size = abs(number.value or 0)
        yield f"One percent of {name} moves the throughput by {percent(size / 100)}: near this edge no number is safe."
    if found.storage and found.storage["pages_without_frame"].value:
        needed = found.storage["storage_without_paging"]
        yield f"Without paging: {said(needed, GIB, 'GiB')} of real storage. A lower page rate alone proves nothing."


def _outside(system: System) -> Iterator[str]:
    """Why processor time has no number."""
    models = {e.word("model"): system.models[e.word("model")] for e in system.of("paging") if e.word("model")}
    for name, model in models.items():
        if "queue_depth" in model.validity:
            yield (
                f"Processor times of model {name} were measured at a queue depth of "
                f"{readable(model.validity['queue_depth'][0])}; no model gives those of another mode, so they have no "
                f"number here. In the throughput they count from none to {readable(COST_FACTOR)} times the "
                "measured; touch_time_us, cp_charged_us and cp_system_us of your own mode would settle it."
            )


def _releases(system: System) -> Iterator[str]:
    entry = system.one("system")
    release = entry.word("release") if entry else ""
    for name, model in system.models.items():
        measured = model.environment.get("release", "")
        if release and measured and release.split()[-1] not in measured:
            yield f"Model {name} was measured on {measured}; the file says {release}."


DIFFERENCE: Final = ("input", "first", "second", "effect")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemComparison(Answer):
    """Two systems side by side.

    `one` and `two`: the answers; `inputs`: what differs: label, both values as text, and the relative change of the
    throughput that it brings alone, None where it is not known alone.
    """

    one: SystemAnswer
    two: SystemAnswer
    inputs: tuple[tuple[str, str, str, float | None], ...]

    @property
    def names(self) -> tuple[str, str]:
        """Headings, apart even where both systems have one name."""
        first, second = self.one.system, self.two.system
        if first.source != second.source:
            return first.source, second.source
        return (first.name, second.name) if first.name != second.name else ("first", "second")

    @property
    def headline(self) -> str:
        """How the throughput changes, and what does most of it."""
        before, after = self.one.found.throughput.value, self.two.found.throughput.value
        if not before or not after:
            return f"{self.names[0]} against {self.names[1]}: no throughput is known of both."
        if before == after and not self.inputs:
            return f"{self.names[0]} and {self.names[1]} do not differ."
        change = f"{self.names[1]} reaches {readable(after / before)} times the throughput of {self.names[0]}"
        if not any(row[3] for row in self.inputs):
            return change + "."
        label, old, new, effect = max(self.inputs, key=lambda row: abs(row[3] or 0.0))
        return f"{change}; largest alone: {label}, {old} -> {new}, {percent(effect or 0.0, signed=True)}."

    @property
    def notes(self) -> tuple[str, ...]:
        """How to read it, and what differs without a number."""
        alone = "Each change alone, the rest as in the first system; together they need not add up."
        lines = [alone] if self.inputs else []
        silent = [label for label, _, _, effect in self.inputs if effect is None]
        if silent:
            lines.append(f"Cannot be identified separately: {', '.join(silent)}.")
        return tuple(lines)

    def compared(self) -> Iterator[tuple[str, str, float | None, float | None, float | None, str, str]]:
        """Every figure of both: name, unit, both values, relative change, what each rests on."""
        one, two = ({row.name: row for row in each.rows} for each in (self.one, self.two))
        for what in dict.fromkeys([*one, *two]):
            rows = [of.get(what) for of in (one, two)]
            x, y = (None if row is None else row.plain("value") for row in rows)
            first, second = ("-" if row is None else row.number.basis for row in rows)
            unit = next(row.unit for row in rows if row is not None)
            yield what, unit, x, y, y / x - 1 if x and y is not None and x * y >= 0 else None, first, second

    def table(self) -> render.Table:
        """All figures of both."""
        heads = ("figure", "unit", "first", "second", "change", "basis_first", "basis_second")
        labels = ("", "unit", *self.names, "change", "basis", "basis")
        return tabled(
            self.compared(), [column(head, "", label) for head, label in zip(heads, labels, strict=True)]
        )

    def sections(self) -> tuple[render.Section, ...]:
        """Lay out the figures, and what moved them."""
        first, second = self.names
        shown = (
            column("figure", of=lambda row: labeled(row[0], row[1])),
            column("first", "", first, of=lambda row: render.format_value(row[2])),
            column("second", "", second, of=lambda row: render.format_value(row[3])),
            column("change", of=lambda row: _signed(row[4])),
        )
        why = (
            column("input", "", "what differs", of=lambda row: row[0]),
            column("first", "", first, of=lambda row: row[1]), column("second", "", second, of=lambda row: row[2]),
            column("effect", "", "throughput, alone", of=lambda row: _signed(row[3])),
        )  # fmt: skip
        return (render.Section(table=tabled(self.compared(), shown)),
                render.Section(title="Why", table=tabled(self.inputs, why)))  # fmt: skip

    def plain_figures(self) -> dict[str, Any]:
        """Both answers, and what differs."""
        return {
            "first": self.one.to_dict(),
            "second": self.two.to_dict(),
            "differences": [dict(zip(DIFFERENCE, row, strict=True)) for row in self.inputs],
        }

    def plot(self, axes: style.Axes | None = None) -> style.Axes:
        """Draw the same of both systems."""
        pairs = [(name, each.found) for name, each in zip(self.names, (self.one, self.two), strict=True)]
        return _bounds(self.headline, pairs, self.one.unit, axes)


def _signed(share: float | None) -> str:
    return "-" if share is None else percent(share, signed=True)


def compare(one: SystemAnswer, two: SystemAnswer) -> SystemComparison:
    """Put two systems side by side, and find what moved the throughput.

    Parameters
    ----------
    one, two : SystemAnswer
        Two solved systems.

    Returns
    -------
    SystemComparison
        Every number that differs is put into the first system alone.
    """
    first, second = (
        {
            (entry.label, key): value.value
            for entry in each.system.entries
            for key, value in entry.values.items()
        }
        for each in (one, two)
    )
    unasked = {"model", "name", "source", "release", "like"}
    differ = [at for at in {**first, **second} if at[1] not in unasked and first.get(at) != second.get(at)]
    before, entries = one.found.throughput.value, {entry.label: entry for entry in one.system.entries}
    alone = {}
    for table, key in differ:
        if table in entries and (table, key) in second:
            with suppress(InputError, ReportError):  # without the others it contradicts the rest
                changed = one.system.changed([(entries[table], key, second[table, key])])
                alone[table, key] = recheck(changed)
    effects = dict(zip(alone, solve_all(list(alone.values())), strict=True))
    rows = []
    for table, key in differ:
        found = effects.get((table, key))
        rate = found.throughput.value if isinstance(found, SystemResult) else None
        effect = rate / before - 1 if rate is not None and before else None
        effect = 0.0 if effect is not None and math.isclose(effect, 0.0, abs_tol=1e-9) else effect
        declared = TABLES[table.partition("[")[0]].bare(key)
        old, new = (
            declared.worded(of[table, key]) if declared and (table, key) in of else "-"
            for of in (first, second)
        )
        rows.append((f"{table}.{key}", old, new, effect))
    return SystemComparison(one=one, two=two, inputs=tuple(rows))


def _bounds(
    headline: str, pairs: Sequence[tuple[str, SystemResult]], unit: str, axes: style.Axes | None
) -> style.Axes:
    """Bounds as hollow points and the throughput as a full one with its interval, for one system or two."""
    names = [n for n in dict.fromkeys(n for _, f in pairs for n, _ in f.ranked())]
    labels, several = ["throughput", *names], len(pairs) > 1
    most = pairs[0][1].throughput.value
    title = "" if several or most is None else f"{readable(most)} {unit}, most limited by {names[0]}"
    (axes,) = style.begin(axes, headline, title=title, height=1.7 + (0.6 if several else 0.4) * len(labels))
    named = _apart([name for name, _ in pairs])
    for k, (name, (_, found), color, (marker, size)) in enumerate(
        zip(named, pairs, cycle(style.COLORS), cycle(style.MARKERS), strict=False)
    ):
        # of a row: two systems side by side
        bounds, off = dict(found.ranked()), (k - (len(pairs) - 1) / 2) * 0.25
        places = [labels.index(n) + off for n in bounds]
        axes.plot(
            list(bounds.values()), places, marker, color=color, markersize=min(size, 8), fillstyle="none",
            label=f"{name}: most that a part allows" if several else "most that a part allows",
        )  # fmt: skip
        for value, place in zip(bounds.values(), places, strict=True):
            style.name_point(axes, readable(value), (value, place), color, above=not k)
        rate = found.throughput
        if rate.value is not None and rate.low is not None and rate.high is not None:
            axes.plot([rate.low, rate.high], [off, off], color=color, linewidth=7, alpha=style.BAND,
                      label=None if k else style.NINETY)  # fmt: skip
            axes.plot([rate.value], [off], marker, color=color, markersize=min(size, 8), zorder=style.ABOVE,
                      label=f"{name}: throughput" if several else "throughput")  # fmt: skip
            style.name_point(axes, readable(rate.value), (rate.value, off), color, above=not k)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.6)
    if names:
        style.logarithmic(axes, "x")
    axes.set_xlabel(f"throughput [{unit}]")
    axes.tick_params(axis="x", labelsize="x-small")  # millions are long
    axes.margins(x=0.15)
    style.legend_below(axes, 2)
    return axes


def _apart(names: Sequence[str]) -> list[str]:
    """Names without the words that all of them have."""
    words = [name.replace(",", "").split() for name in names]
    common = set.intersection(*map(set, words)) if len(names) > 1 else set()
    return [
        " ".join(w for w in each if w not in common) or name for each, name in zip(words, names, strict=True)
    ]
