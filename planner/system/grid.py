"""Many systems at once: grids over any number, and two systems side by side with what moved and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, product
from typing import Any

from planner import render, style
from planner.advice.storage.frames import over_ptrm
from planner.answer import Answer, tabled
from planner.errors import InputError, PlannerError, ReportError
from planner.quantity import LARGEST_GRID, Quantity, column
from planner.system.answer import SystemAnswer, said, throughput_unit
from planner.system.description import System
from planner.system.figures import SystemResult, solve_all
from planner.system.reading import Selected, recheck
from planner.units import EXACT, MICROSECOND, MILLISECOND, given, readable


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemGrid(Answer):
    """A system over a grid: one row a combination.

    * `system`: as described.
    * `ranges`: what varies.
    * `settings`: values of each row, SI or words.
    * `systems`: the system of each row.
    * `found`: figures of each row, or why it cannot run.
    """

    system: System
    ranges: tuple[Selected, ...]
    settings: tuple[tuple[float | str, ...], ...]
    systems: tuple[System, ...]
    found: tuple[SystemResult | str, ...]

    @property
    def solved(self) -> dict[int, SystemResult]:
        """Figures of the rows that can run."""
        return {k: each for k, each in enumerate(self.found) if isinstance(each, SystemResult)}

    @property
    def exit_code(self) -> int:
        """1 where no combination can run."""
        return 0 if self.solved else 1

    @property
    def headline(self) -> str:
        """The largest throughput and where it is reached."""
        solved = self.solved
        rates = {k: each.throughput.value for k, each in solved.items() if each.throughput.value}
        name = f"{self.system.name} over {', '.join(r.label for r in self.ranges)}: "
        if not rates:
            return name + ("no throughput is known." if solved else str(self.found[0]))
        k = max(rates, key=rates.__getitem__)  # the first of equal ones
        where = f"{throughput_unit(self.system)} (90 %), at {', '.join(self.named(k))}"
        return f"{name}most, {said(solved[k].throughput)} {where}."

    def named(self, k: int) -> list[str]:
        """What varies, with its value in a row."""
        return [f"{r.label} {text}" for r, text in zip(self.ranges, self._texts(k), strict=True)]

    def _texts(self, k: int) -> list[str]:
        """Values of a row as people read them."""
        return [r.key.worded(value) for r, value in zip(self.ranges, self.settings[k], strict=True)]

    @property
    def notes(self) -> tuple[str, ...]:
        """What cannot run, and why."""
        solved = self.solved
        lines = over_ptrm(max((each.ptrm_spaces for each in solved.values()), default=0.0))
        stopped = [k for k in range(len(self.found)) if k not in solved]
        if stopped:
            first = f"the first, {', '.join(self._texts(stopped[0]))}: {self.found[stopped[0]]}"
            lines.append(f"{len(stopped)} of {len(self.found)} cannot run; {first}.")
        opened = {k: each.stopped for k, each in solved.items() if each.stopped}
        if opened:
            k, (name, why) = next((k, next(iter(each.items()))) for k, each in opened.items())
            first = f"the first, {', '.join(self._texts(k))}, at that of {name}: {why}"
            lines.append(
                f"{len(opened)} of {len(self.found)} cannot run at a 90 % end and are open there; {first}."
            )
        real = [each for k, each in solved.items() if self.systems[k].one("processors")]
        if any(each.processors["total_busy"].value is None for each in real):
            lines.append("Processor busy has no number where a processor time is not known.")
        lines.append("Intervals are 90 %; --json holds every figure with its basis.")
        return tuple(lines)

    def table(self) -> render.Table:
        """One row a combination: what varied, throughput with its interval, misses, pages, each station."""

        def station(name: str, key: str, unit: str = "", factor: float = 1.0) -> Quantity:
            def value(row: SystemResult | None) -> float | None:
                found = None if row is None else row.stations[name][key].value
                return None if found is None else found / factor

            return column(f"{name}_{key}", unit, of=value)

        columns = [column("throughput", "1/s", of="throughput.value"),
                   column("throughput_low", "1/s", of="throughput.low"),
                   column("throughput_high", "1/s", of="throughput.high")]  # fmt: skip
        if self.system.one("storage"):
            columns.append(column("miss_ratio", of="miss_ratio.value"))
        if self.system.of("paging"):
            columns.append(column("page_rate", "1/s", of="page_rate.value"))
        for name in [e.name for e in (*self.system.of("paging"), *self.system.of("volumes"))]:
            columns += [station(name, "transfers", "1/s"), station(name, "utilization"),
                        station(name, "response", "ms", MILLISECOND)]  # fmt: skip
        columns.append(column("bottleneck", of=_bottleneck))
        found = map(self.solved.get, range(len(self.found)))
        settings = [self.setting(k) for k in range(len(self.ranges))]
        return render.Table(columns=(*settings, *tabled(found, columns).columns))

    def setting(self, k: int) -> render.Column:
        """Values of what varies, as a column."""
        target = self.ranges[k]
        unit, factor = target.key.shown if target.key.unit != "us" else ("us", MICROSECOND)
        values = [target.key.plain(row[k], factor) for row in self.settings]
        if any(isinstance(value, str) for value in values):
            values = [value if isinstance(value, str) else given(float(value)) for value in values]
        return render.Column(name=target.label, unit=unit, values=values, digits=EXACT)

    def plain_figures(self) -> dict[str, Any]:
        """Figures of each scenario."""
        scenarios: list[dict[str, Any]] = []
        for settings, system, each in zip(self.settings, self.systems, self.found, strict=True):
            where = {r.label: r.key.plain(value) for r, value in zip(self.ranges, settings, strict=True)}
            if isinstance(each, str):
                scenarios.append({"settings": where, "cannot_run": each})
                continue
            data = SystemAnswer(system=system, found=each).plain_figures()
            del data["name"]
            scenarios.append({"settings": where, "cannot_run": None, **data})
        over = [each.label for each in self.ranges]
        return {"name": self.system.name, "over": over, "scenarios": scenarios}

    def plot(self, axes: style.Axes | None = None) -> style.Axes:
        """Draw the throughput over what varies, a line for each combination of the rest, with its band; mark most."""
        first = self.setting(0)
        words = [str(v) for v in first.values] if any(isinstance(v, str) for v in first.values) else None
        lines: dict[str, list[tuple[float, float, float, float]]] = {}
        for k, each in self.solved.items():
            number = each.throughput
            if number.value is not None:
                x = k if isinstance(first.values[k], str) else first.values[k]
                point = (float(x), number.value, number.low or 0.0, number.high or 0.0)
                lines.setdefault(", ".join(self.named(k)[1:]), []).append(point)
        (axes,) = style.begin_result(axes, self.headline)
        top, best, named = 0.0, (0.0, 0.0, ""), []
        looks = zip(
            lines.items(), cycle(style.COLORS), cycle(style.MARKERS), cycle(style.LINES), strict=False
        )
        for k, ((label, points), color, (marker, size), line) in enumerate(looks):
            x, value, low, high = zip(*points, strict=True)
            axes.plot(x, value, marker=marker, markersize=size / 2, linestyle=line, color=color,
                      label=None if label else "throughput")  # fmt: skip
            style.band(axes, x, low, high, color, None if k else style.NINETY)
            top = max(top, *(h for h in high if math.isfinite(h)))
            best = max(best, *((v, -at, color) for at, v in zip(x, value, strict=True)))
            if label:
                named.append((value[-1], label, color))
        if best[2]:
            style.answer(axes, -best[1], (math.nan, best[0], math.nan))
            style.name_point(axes, f"most: {readable(best[0])}", (-best[1], best[0]), best[2])
        places = [at for points in lines.values() for at, *_ in points]
        if words is not None:
            axes.set_xticks(range(len(words)), words)
        elif all(float(at).is_integer() for at in places):
            style.whole_numbers(axes)
        along = f"{first.name}{f' [{first.unit}]' if first.unit else ''}"
        axes.set(
            xlabel=along, ylabel=f"throughput [{throughput_unit(self.system)}]", ylim=(0, 1.1 * top or 1.0)
        )
        style.name_lines(axes, named)
        style.legend_below(axes)
        return axes


def _bottleneck(found: SystemResult | None) -> str:
    if found is None:
        return "cannot run"
    return next((name for name, _ in found.ranked()), "-")


def over(system: System, ranges: Sequence[Selected]) -> SystemGrid:
    """Ask a system over a grid."""
    places = [place for r in ranges for place in r.places]
    if len(set(places)) < len(places):
        raise InputError("ranges", "the same number twice", "each of them once")
    if math.prod(len(r.values) for r in ranges) > LARGEST_GRID:
        raise InputError("ranges", "the grid", f"at most {LARGEST_GRID} combinations")
    settings = tuple(product(*(r.values for r in ranges)))
    systems: list[System] = []
    refused: dict[int, PlannerError] = {}
    for k, row in enumerate(settings):
        pairs = zip(ranges, row, strict=True)
        systems.append(system.changed((entry, r.key.key, value) for r, value in pairs for entry in r.entries))
        try:
            systems[k] = recheck(systems[k])
        except (InputError, ReportError) as error:  # this row contradicts itself, others may not
            refused[k] = error
    if len(refused) == len(settings):
        raise refused[0]
    solved = iter(solve_all([each for k, each in enumerate(systems) if k not in refused]))
    found = tuple(str(refused[k]) if k in refused else next(solved) for k in range(len(settings)))
    return SystemGrid(
        system=system, ranges=tuple(ranges), settings=settings, systems=tuple(systems), found=found
    )
