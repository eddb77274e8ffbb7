"""Many systems at once: grids over any number, and two systems side by side with what moved and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from planner import render
from planner.answer import Answer, tabled
from planner.errors import InfeasibleError, InputError
from planner.quantity import LARGEST_GRID, Quantity, column
from planner.system.answer import LONG, SystemAnswer, as_dict, full_name, numbers_of, said, throughput_unit
from planner.system.description import Entry, System
from planner.system.figures import Found, figures, structure
from planner.system.reading import Range, recheck
from planner.units import GIB, MICROSECOND, MILLISECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLOCK: Final = 512  # scenarios solved side by side: what they need stays in the cache
SHOWN: Final = {"time": ("ms", MILLISECOND), "storage": ("GiB", float(GIB))}
MOVED: Final = 1e-9


def solve_all(systems: Sequence[System], *, elastic: bool = False) -> list[Found | str]:
    """Figures of every system, or why it cannot run; those of one structure side by side."""
    groups: dict[Any, list[int]] = {}
    for k, system in enumerate(systems):
        groups.setdefault(structure(system), []).append(k)
    found: list[Found | str] = [""] * len(systems)
    for places in groups.values():
        for start in range(0, len(places), BLOCK):
            part = places[start : start + BLOCK]
            for k, one in zip(part, _together([systems[k] for k in part], elastic=elastic), strict=True):
                found[k] = one
    return found


def _together(systems: Sequence[System], *, elastic: bool) -> list[Found | str]:
    """All at once; one that cannot run parts them until it stands alone."""
    try:
        return list(figures(systems, elastic=elastic))
    except InfeasibleError as error:
        if len(systems) == 1:
            return [str(error)]
    half = len(systems) // 2
    return _together(systems[:half], elastic=elastic) + _together(systems[half:], elastic=elastic)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemGrid(Answer):
    """A system over a grid: one row a combination.

    Attributes
    ----------
    system : System
        As described.
    ranges : tuple of Range
        What varies.
    settings : tuple of tuple
        Values of each row, SI or words.
    systems : tuple of System
        The system of each row.
    found : tuple of Found or str
        Figures of each row, or why it cannot run.
    """

    system: System
    ranges: tuple[Range, ...]
    settings: tuple[tuple[float | str, ...], ...]
    systems: tuple[System, ...]
    found: tuple[Found | str, ...]

    @property
    def exit_code(self) -> int:
        """1 where no combination can run."""
        return 0 if any(isinstance(each, Found) for each in self.found) else 1

    @property
    def headline(self) -> str:
        """The largest throughput and where it is reached."""
        rows = [
            (f.throughput.value, k)
            for k, f in enumerate(self.found)
            if isinstance(f, Found) and f.throughput.value
        ]
        name = f"{self.system.name} over {', '.join(r.target.label for r in self.ranges)}: "
        if not rows:
            stopped = [each for each in self.found if isinstance(each, str)]
            return name + (stopped[0] if len(stopped) == len(self.found) else "no throughput is known.")
        _, k = max(rows, key=lambda row: (row[0], -row[1]))  # the first of equal ones
        at = self.found[k]
        assert isinstance(at, Found)
        where = ", ".join(
            f"{r.target.label} {_worded(r, v)}" for r, v in zip(self.ranges, self.settings[k], strict=True)
        )
        return f"{name}most, {said(at.throughput)} {throughput_unit(self.system)} (90 %), at {where}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What cannot run, and why."""
        stopped = [k for k, each in enumerate(self.found) if isinstance(each, str)]
        lines = []
        for k in stopped[:1]:
            where = ", ".join(_worded(r, v) for r, v in zip(self.ranges, self.settings[k], strict=True))
            lines.append(
                f"{len(stopped)} of {len(self.found)} cannot run; the first, {where}: {self.found[k]}."
            )
        if any(isinstance(f, Found) and f.processors["total_busy"].value is None for f in self.found):
            lines.append("Processor time has no number where its mode was not measured.")
        lines.append("Intervals are 90 %; --json holds every figure with its basis.")
        return tuple(lines)

    def table(self) -> render.Table:
        """One row a combination: what varied, throughput with its interval, misses, pages, each station."""

        def number(name: str, unit: str, of: Callable[[Found], float | None]) -> Quantity:
            return column(name, unit, of=lambda row: of(row) if isinstance(row, Found) else None)

        def station(name: str, key: str, unit: str = "", factor: float = 1.0) -> Quantity:
            def value(row: Found) -> float | None:
                found = row.stations[name][key].value
                return None if found is None else found / factor

            return number(f"{name}_{key}", unit, value)

        columns = [number("throughput", "1/s", lambda f: f.throughput.value),
                   number("throughput_low", "1/s", lambda f: f.throughput.low),
                   number("throughput_high", "1/s", lambda f: f.throughput.high)]  # fmt: skip
        if self.system.one("storage"):
            columns.append(number("miss_ratio", "", lambda f: f.miss_ratio.value))
        if self.system.of("paging"):
            columns.append(number("page_rate", "1/s", lambda f: f.page_rate.value))
        for name in [e.name for e in (*self.system.of("paging"), *self.system.of("volumes"))]:
            columns += [station(name, "transfers", "1/s"), station(name, "utilization"),
                        station(name, "response", "ms", MILLISECOND)]  # fmt: skip
        columns.append(column("bottleneck", of=_bottleneck))
        settings = [self._setting(k) for k in range(len(self.ranges))]
        return render.Table(columns=(*settings, *tabled(self.found, columns).columns))

    def _setting(self, k: int) -> render.Column:
        target = self.ranges[k].target
        unit, factor = SHOWN.get(target.key.dimension or "", ("", 1.0))
        if target.key.unit == "us":
            unit, factor = "us", MICROSECOND
        values = [
            row[k]
            if isinstance(row[k], str)
            else "unlimited"
            if math.isinf(float(row[k]))
            else float(row[k]) / factor
            for row in self.settings
        ]
        if not any(isinstance(value, str) for value in values) and target.key.whole:
            values = [int(value) for value in values]
        if any(isinstance(value, str) for value in values):
            values = [value if isinstance(value, str) else f"{value:g}" for value in values]
        return render.Column(name=target.label, unit=unit, values=values)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        scenarios: list[dict[str, Any]] = []
        for settings, system, each in zip(self.settings, self.systems, self.found, strict=True):
            where = {r.target.label: _plain(r, value) for r, value in zip(self.ranges, settings, strict=True)}
            if isinstance(each, str):
                scenarios.append({"settings": where, "cannot_run": each})
                continue
            data = as_dict(system, each, ())
            del data["notes"], data["name"]
            scenarios.append({"settings": where, "cannot_run": None, **data})
        return {"name": self.system.name, "over": [r.target.label for r in self.ranges], "scenarios": scenarios,
                "notes": list(self.notes)}  # fmt: skip

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the throughput over the first range with its 90 % band, one line for each value of the others."""
        from planner.system.pictures import grid_picture

        lines: dict[str, list[tuple[float, float, float, float]]] = {}
        first = self._setting(0)
        for k, each in enumerate(self.found):
            others = ", ".join(
                f"{r.target.label} {_worded(r, v)}"
                for r, v in zip(self.ranges[1:], self.settings[k][1:], strict=True)
            )
            number = each.throughput if isinstance(each, Found) else None
            if number is None or number.value is None:
                continue
            x = first.values[k] if not isinstance(first.values[k], str) else k
            lines.setdefault(others, []).append(
                (float(x), number.value, number.low or 0.0, number.high or 0.0)
            )
        unit = f" [{first.unit}]" if first.unit else ""
        words = [str(v) for v in first.values] if any(isinstance(v, str) for v in first.values) else None
        return grid_picture(
            self.headline, f"{first.name}{unit}", throughput_unit(self.system), lines, words, axes
        )


def _bottleneck(found: Found | str) -> str:
    if isinstance(found, str):
        return "cannot run"
    return found.ranked()[0][0] if found.ranked() else "-"


def _plain(of: Range, value: float | str) -> float | str | int:
    if isinstance(value, str):
        return value
    if math.isinf(value):
        return "unlimited"
    return int(value) if of.target.key.whole else value


def _worded(of: Range, value: float | str) -> str:
    if isinstance(value, str) or math.isinf(value):
        return value if isinstance(value, str) else "unlimited"
    unit, factor = SHOWN.get(of.target.key.dimension or "", ("", 1.0))
    return f"{value / factor:g} {unit}".rstrip()


def over(system: System, ranges: Sequence[Range]) -> SystemGrid:
    """Ask a system over a grid."""
    labels = [(e.table, e.name, r.target.key.key) for r in ranges for e in r.target.entries]
    if len(set(labels)) < len(labels):
        raise InputError("--over", "the same number twice", "each of them once")
    if math.prod(len(r.values) for r in ranges) > LARGEST_GRID:
        raise InputError("--over", "the grid", f"at most {LARGEST_GRID} combinations")
    settings = tuple(product(*(r.values for r in ranges)))
    light = all(not r.target.key.text for r in ranges)
    systems = []
    for row in settings:
        changes: list[tuple[Entry, str, float | str, float]] = [
            (entry, r.target.key.key, value, 0.0)
            for r, value in zip(ranges, row, strict=True)
            for entry in r.target.entries
        ]
        changed = system.changed(changes)
        systems.append(changed if light else recheck(changed))
    found = tuple(solve_all(systems))
    return SystemGrid(
        system=system, ranges=tuple(ranges), settings=settings, systems=tuple(systems), found=found
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemComparison(Answer):
    """Two systems side by side.

    Attributes
    ----------
    one, two : SystemAnswer
        The answers.
    inputs : tuple of tuple
        What differs: label, both values as text, and the relative change of the throughput that it brings alone, None
        where it cannot be told alone.
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
        change = f"{self.names[1]} reaches {after / before:.3g} times the throughput of {self.names[0]}"
        told = [row for row in self.inputs if row[3] is not None]
        if not told:
            return change + "."
        label, old, new, effect = max(told, key=lambda row: abs(row[3] or 0.0))
        return f"{change}; most of it is {label}, {old} -> {new}, alone {effect or 0.0:+.1%}."

    @property
    def notes(self) -> tuple[str, ...]:
        """How to read it, and what differs without a number."""
        lines = ["Each change alone, the rest as in the first system; together they need not add up."]
        silent = [label for label, _, _, effect in self.inputs if effect is None]
        if silent:
            lines.append(f"Cannot be told alone: {', '.join(silent)}.")
        return tuple(lines)

    def table(self) -> render.Table:
        """All figures of both."""
        first = {full_name(title, row): row for title, row in self.one.rows()}
        second = {full_name(title, row): row for title, row in self.two.rows()}
        rows = []
        for what in dict.fromkeys([*first, *second]):
            a, b = (rows_of.get(what) for rows_of in (first, second))
            unit = (a or b).unit if (a or b) else ""  # type: ignore[union-attr] # one of them is there
            x, y = (None if r is None else r.number.to_dict(r.factor)["value"] for r in (a, b))
            change = y / x - 1 if x and y is not None else None
            rows.append(
                (what, unit, x, y, change, a.number.basis if a else "-", b.number.basis if b else "-")
            )
        heads = ("figure", "unit", "first", "second", "change", "basis_first", "basis_second")
        labels = ("", "unit", *self.names, "change", "basis", "basis")
        return tabled(rows, [column(head, "", label) for head, label in zip(heads, labels, strict=True)])

    def sections(self) -> tuple[render.Section, ...]:
        """Lay out the figures, and what moved them."""
        table = self.table()
        columns = {c.name: c for c in table.columns}
        texts = [
            render.Column(name=name, unit="", label=columns[name].label, values=_texts(columns[name].values))
            for name in ("first", "second")
        ]
        change = ["-" if v is None else f"{v:+.1%}" for v in columns["change"].values]
        figure = [f"{what} [{unit}]" if unit else what for what, unit in
                  zip(columns["figure"].values, columns["unit"].values, strict=True)]  # fmt: skip
        shown = (render.Column(name="figure", unit="", label="", values=figure), *texts,
                 render.Column(name="change", unit="", values=change))  # fmt: skip
        effects = [(label, old, new, "-" if e is None else f"{e:+.1%}") for label, old, new, e in self.inputs]
        heads = (("input", "what differs"), ("first", self.names[0]), ("second", self.names[1]),
                 ("effect", "throughput, alone"))  # fmt: skip
        why = tabled(effects, [column(name, "", label) for name, label in heads] if effects else ())
        return (render.Section(table=render.Table(columns=shown)),
                render.Section(title="Why", table=why))  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Both answers, and what differs."""
        return {
            "first": self.one.to_dict(),
            "second": self.two.to_dict(),
            "differences": [
                {"input": label, "first": old, "second": new, "effect": effect}
                for label, old, new, effect in self.inputs
            ],
            "notes": list(self.notes),
        }

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the bounds and the throughput of both."""
        from planner.system.pictures import comparison_picture

        pairs = [(name, each.found) for name, each in zip(self.names, (self.one, self.two), strict=True)]
        return comparison_picture(self.headline, pairs, self.one.unit, axes)


def _texts(values: Sequence[Any]) -> list[str]:
    return ["-" if v is None else f"{v:,.0f}" if abs(v) >= LONG else f"{v:.4g}" for v in values]


def compare(one: SystemAnswer, two: SystemAnswer) -> SystemComparison:
    """Put two systems side by side, and tell what moved the throughput.

    Parameters
    ----------
    one, two : SystemAnswer
        Two solved systems.

    Returns
    -------
    SystemComparison
        Every number that differs is put into the first system alone.
    """
    first, second = numbers_of(one.system), numbers_of(two.system)
    labels = [
        label for label in dict.fromkeys([*first, *second])
        if first.get(label) != second.get(label)
        and label.rpartition(".")[2] not in {"model", "name", "source", "release", "like"}
    ]  # fmt: skip
    before = one.found.throughput.value
    alone: dict[str, System] = {}
    for label in labels:
        place, _, key = label.rpartition(".")
        entry = next((e for e in one.system.entries if e.label == place), None)
        value = second.get(label)
        if (
            entry is not None
            and value is not None
            and not (isinstance(value, str) and label.endswith("_from"))
        ):
            alone[label] = one.system.changed([(entry, key, value, 0.0)])
    effects = dict(zip(alone, solve_all(list(alone.values())), strict=True))
    rows = []
    for label in labels:
        found = effects.get(label)
        rate = found.throughput.value if isinstance(found, Found) else None
        effect = rate / before - 1 if rate is not None and before else None
        effect = 0.0 if effect is not None and abs(effect) < MOVED else effect
        rows.append((label, _value(label, first.get(label)), _value(label, second.get(label)), effect))
    return SystemComparison(one=one, two=two, inputs=tuple(rows))


def _value(label: str, value: float | str | None) -> str:
    from planner.system.schema import TABLES

    if value is None or isinstance(value, str):
        return value or "-"
    table, key = label.partition(".")[0].partition("[")[0], label.rpartition(".")[2]
    declared = TABLES[table].bare(key)
    unit, factor = SHOWN.get((declared and declared.dimension) or "", ("", 1.0))
    return "unlimited" if math.isinf(value) else f"{value / factor:g} {unit}".rstrip()
