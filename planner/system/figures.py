"""From the law to numbers that say what they rest on: value, 90 % interval, basis; elasticities."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from planner.errors import InfeasibleError
from planner.interval import Interval
from planner.results import Array
from planner.system.description import Entry, System
from planner.system.law import SystemFigures, SystemScenarios, outcome_of
from planner.system.spread import Direction, Place, directions, law_error
from planner.units import FRAME

BLOCK: Final = 512  # scenarios solved side by side: what they need stays in the cache
STEP: Final = 0.01  # relative change that elasticities are taken of
NOISE: Final = 1e-9  # elasticity that is none
COSTS: Final = ("guest_busy", "cp_charged_busy", "cp_system_busy", "total_busy")
STATION: Final = ("transfers", "utilization", "queue_length", "wait", "response")
BY_LAW: Final = frozenset({"transfers", "queue_length", "wait", "response"})


@dataclass(frozen=True, slots=True)
class Number(Interval):
    """A figure with its 90 % interval, SI, and what it rests on; all None where the basis is outside.

    `basis`: given, arithmetic, calibrated, predicted or outside.
    """

    basis: str = "outside"

    def to_dict(self, factor: float = 1.0) -> dict[str, Any]:
        """As ``--json`` shows it, in units of `factor`."""
        ends = [
            None if end is None or not math.isfinite(end) else end / factor
            for end in (self.low, self.value, self.high)
        ]
        return {"value": ends[1], "low": ends[0], "high": ends[2], "basis": self.basis}


OUTSIDE: Final = Number(None, None, None)
Move = Callable[[dict[Place, Array]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """All numbers of one system; times in seconds, sizes in bytes.

    * `throughput`, `miss_ratio`, `io_rate` and `page_rate`: page touches (or I/Os), misses per page visit, I/Os of
      guests, page reads and writes [1/s].
    * `storage`: overcommitment, frames, pages without one, real storage without paging, guests that fit.
    * `guests`: throughput by group of guests.
    * `stations`: by group of devices: transfers, utilization, queue_length, wait and response of one device.
    * `devices`: devices of each group.
    * `processors`: processors that are busy, by whose work it is.
    * `bounds`: throughput that each part alone would allow.
    * `elasticity`: relative change of the throughput over that of each number.
    * `exact`: whether the network was solved exactly.
    * `shares`: how wide each thing that is not known makes the throughput, as a part of it.
    """

    throughput: Number
    miss_ratio: Number
    io_rate: Number
    page_rate: Number
    storage: Mapping[str, Number]
    guests: Mapping[str, Mapping[str, Number]]
    stations: Mapping[str, Mapping[str, Number]]
    devices: Mapping[str, int]
    processors: Mapping[str, Number]
    bounds: Mapping[str, Number]
    elasticity: Mapping[str, Number]
    exact: bool
    shares: Mapping[str, float] = field(default_factory=dict)

    def ranked(self) -> list[tuple[str, float]]:
        """Order the bounds that are known."""
        known = [(name, each.value) for name, each in self.bounds.items() if each.value is not None]
        return sorted(((n, v) for n, v in known if math.isfinite(v)), key=lambda pair: pair[1])


@dataclass(frozen=True, slots=True)
class _Sets:
    """Scenarios of one structure, and for each the central set and both ends of every direction, side by side."""

    systems: Sequence[System]
    ways: Sequence[Direction]

    @property
    def width(self) -> int:
        """Sets of a scenario."""
        return 1 + 2 * len(self.ways)

    def scenarios(self, moves: Sequence[Move] = ()) -> SystemScenarios:
        """All sets of all scenarios; each move of `moves` repeats them with changed numbers."""
        base = _stacked(self.systems, self.width)
        cost = np.ones(len(self.systems) * self.width)
        shaped = cost.reshape(len(self.systems), self.width)
        for k, way in enumerate(self.ways):
            for side, delta in ((1 + 2 * k, way.low), (2 + 2 * k, way.high)):
                for place, step in delta.items():
                    # The ends were taken of the first scenario: they go in proportion where that number varies.
                    rows = base[place].reshape(len(self.systems), self.width)
                    rows[:, side] += step * _ratio(rows[:, 0], self.systems[0], place)
                if way.cost is not None:
                    shaped[:, side] = way.cost[(side - 1) % 2]
        parts = []
        for move in (lambda _: None, *moves):
            copy = {place: values.copy() for place, values in base.items()}
            move(copy)
            parts.append(copy)
        joined = {place: np.concatenate([part[place] for part in parts]) for place in base}
        return SystemScenarios(system=self.systems[0], values=joined, cost=np.tile(cost, len(parts)))


def _ratio(values: Array, first: System, place: Place) -> Array:
    reference = _numbers(first).get(place, 0.0)
    return values / reference if reference else np.ones_like(values)


def _numbers(system: System) -> dict[Place, float]:
    found = {(e.table, e.name, key): value for e in system.entries for key, value in e.numbers.items()}
    if (entry := system.one("processors")) is not None and "guaranteed" in entry.numbers:
        found["processors", "", "usable"] = entry.numbers["count"]
    return found


def _stacked(systems: Sequence[System], width: int) -> dict[Place, Array]:
    rows = [_numbers(system) for system in systems]
    return {place: np.repeat([row[place] for row in rows], width) for place in rows[0]}


def structure(system: System) -> tuple[Any, ...]:
    """What has to be equal for systems to be solved side by side: tables, words, known numbers, mode, models."""
    return (
        tuple((e.table, e.name, tuple(sorted(e.numbers)), tuple(sorted(e.words.items())),
               tuple(sorted((k, h > 0) for k, h in e.halves.items())), bool(e.number("dedicated")))
              for e in system.entries if e.table != "system"),
        outside_mode(system),
    )  # fmt: skip


def outside_mode(system: System) -> bool:
    """Whether processor times come from a model that was measured at another queue depth."""
    for group in system.of("paging"):
        depth = group.numbers.get("depth", 1.0)
        users = [g for g in system.of("guests") if g.word("pages_from") == group.name]
        for entry in (group, *users):
            model = system.models.get(entry.word("model"))
            measured = None if model is None else model.validity.get("queue_depth")
            brought = {entry.origin.get(key) for key in ("cp_system", "cp_charged", "touch_time")}
            pooled = bool(group.word("pool"))
            if (
                measured
                and entry.word("model") in brought
                and (pooled or not measured[0] <= depth <= measured[1])
            ):
                return True
    return False


def figures(systems: Sequence[System], *, elastic: bool) -> list[Found]:
    """Numbers of systems of equal structure; elasticities where asked for."""
    first = systems[0]
    outside = outside_mode(first)
    sets = _Sets(systems, directions(first, outside=outside))
    moves = _moves(first) if elastic else {}
    pairs = [move for low, high in moves.values() for move in (low, high)]
    case = sets.scenarios(pairs)
    outcome = outcome_of(case)
    shape = (1 + len(pairs), len(systems), sets.width)
    maker = _Maker(outcome, shape, law_error(first), outside, sets)
    return [maker.found(system, k, moves, case) for k, system in enumerate(systems)]


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


def _moves(system: System) -> dict[str, tuple[Move, Move]]:
    """What elasticities are taken in: storage, service times, guests; each a little less and a little more."""

    def scaled(place: Place, factor: float) -> Move:
        return lambda values: values.update({place: values[place] * factor})

    def counted(place: Place, step: float) -> Move:
        return lambda values: values.update({place: np.maximum(values[place] + step, 1.0)})

    def named(entry: Entry, key: str) -> str:
        return f"{entry.table if len(system.of(entry.table)) == 1 else entry.label}.{key}"

    entries = [entry for table in ("storage", "paging", "pool", "volumes") for entry in system.of(table)]
    moved = [(entry, "real" if entry.table == "storage" else "service_time") for entry in entries]
    found: dict[str, tuple[Move, Move]] = {}
    for entry, key in moved:
        if key in entry.numbers:
            place = (entry.table, entry.name, key)
            found[named(entry, key)] = (scaled(place, 1 - STEP), scaled(place, 1 + STEP))
    for guest in system.of("guests"):
        counts = ("guests", guest.name, "count")
        found[named(guest, "count")] = (counted(counts, -1.0), counted(counts, 1.0))
    return found


@dataclass(frozen=True, slots=True)
class _Maker:
    """Turns arrays of all sets into numbers; `shape` is (moves, scenarios, sets)."""

    outcome: SystemFigures
    shape: tuple[int, int, int]
    error: float
    outside: bool
    sets: _Sets

    def shaped(self, values: Array) -> Array:
        """Figures of all sets by move, scenario and set."""
        return values.reshape(self.shape)

    def interval(self, values: Array, k: int, basis: str, *, law: bool, most: float = math.inf) -> Number:
        """Square sum of what each direction adds and takes away, and of the error of the law."""
        if basis == "outside":
            return OUTSIDE
        rows, error = self.shaped(values)[0, k], self.error if law else 0.0
        best = float(rows[0])
        if not math.isfinite(best):
            return Number(best, best, best, basis)
        up, down = _reach(np.where(np.isfinite(rows[1:]), rows[1:], best) - best)
        if basis == "arithmetic":  # a sum of ends: nothing is known of how roundings go together
            more, less = float(up.sum()), float(down.sum())
        else:
            more, less = (
                math.hypot(float(np.sqrt((side**2).sum())), error * abs(best)) for side in (up, down)
            )
        return Number(max(best - less, 0.0), best, min(best + more, most), basis)

    def shares(self, k: int) -> dict[str, float]:
        """How wide each thing that is not known makes the throughput, as a part of it."""
        if self.outcome.throughput is None:
            return {}
        rows = self.shaped(self.outcome.throughput)[0, k]
        found: dict[str, float] = {"law": self.error}
        for j, way in enumerate(self.sets.ways):
            width = float(np.abs(rows[1 + 2 * j : 3 + 2 * j] - rows[0]).max()) / max(float(rows[0]), 1e-300)
            found[way.name] = math.hypot(found.get(way.name, 0.0), width)
        return found

    def found(self, system: System, k: int, moves: Mapping[str, Any], case: SystemScenarios) -> Found:
        """All numbers of one scenario."""
        out = self.outcome
        known = "calibrated" if _as_measured(system) else "predicted"
        outside = self.outside and not (out.miss_ratio is not None and self._central(out.miss_ratio, k) == 0)
        costs = {name: self._cost(system, name, k, "outside" if outside else known) for name in COSTS}
        paged = {group.name for group in system.of("paging")}
        stations = {
            name: {
                key: self.interval(
                    row[key], k, known if key == "transfers" and name in paged else "predicted",
                    law=key in BY_LAW, most=1.0 if key == "utilization" else math.inf,
                )
                for key in STATION
            }
            for name, row in out.stations.items()
        }  # fmt: skip
        return Found(
            throughput=OUTSIDE
            if out.throughput is None
            else self.interval(out.throughput, k, "predicted", law=True),
            miss_ratio=self._miss(system, k),
            io_rate=self.interval(out.io_rate, k, "predicted", law=True),
            page_rate=self.interval(out.page_rate, k, known, law=True),
            storage=self._storage(system, k),
            guests={
                name: {"throughput": self.interval(r, k, "predicted", law=True)}
                for name, r in out.guests.items()
            },
            stations=stations,
            devices={name: int(self._central(row["devices"], k)) for name, row in out.stations.items()},
            processors=costs,
            bounds=self._bounds(k, costs, outside=outside),
            elasticity=self._elasticities(k, moves, case),
            exact=out.exact,
            shares=self.shares(k),
        )

    def _central(self, values: Array, k: int) -> float:
        return float(self.shaped(values)[0, k, 0])

    def _cost(self, system: System, name: str, k: int, known: str) -> Number:
        """Processor time: outside where its mode was not measured or nothing is known of it."""
        if known == "outside" or not _costs_known(system, name):
            return OUTSIDE
        basis = known if name in {"cp_charged_busy", "cp_system_busy"} else "predicted"
        return self.interval(self.outcome.processors[name], k, basis, law=True)

    def _bounds(self, k: int, costs: Mapping[str, Number], *, outside: bool) -> dict[str, Number]:
        found = {}
        for name, values in self.outcome.bounds.items():
            costly = name in {"processors", "virtual processors"}
            unknown = costly and (outside or (name == "processors" and costs["total_busy"].value is None))
            found[name] = OUTSIDE if unknown else self.interval(values, k, "predicted", law=False)
        return found

    def _storage(self, system: System, k: int) -> dict[str, Number]:
        storage = self.outcome.storage
        if storage is None:
            return {}
        figures = {
            "overcommitment": storage.overcommitment,
            "frames_for_pages": storage.frames / FRAME,
            "pages_without_frame": storage.missing / FRAME,
            "storage_without_paging": storage.needed,
            **{f"guests_that_fit {name}": fit for name, fit in storage.fit.items()},
        }
        return {name: self.interval(each, k, "arithmetic", law=False) for name, each in figures.items()}

    def _miss(self, system: System, k: int) -> Number:
        """Misses per page visit of all guests: given, none because all pages have a frame, or by the law."""
        miss = self.outcome.miss_ratio
        if miss is None:
            return OUTSIDE
        touching = [
            g for g in system.of("guests") if g.number("virtual") or g.number("miss_ratio") is not None
        ]
        given = all("miss_ratio" in guest.numbers for guest in touching)
        basis = "given" if given else "arithmetic" if self._central(miss, k) == 0 else "predicted"
        return self.interval(miss, k, basis, law=False, most=1.0)

    def _elasticities(self, k: int, moves: Mapping[str, Any], case: SystemScenarios) -> dict[str, Number]:
        """Relative change of the throughput over that of each number, with the ends of every direction."""
        if self.outcome.throughput is None or not moves:
            return {}
        rates = self.shaped(self.outcome.throughput)[:, k]
        found = {}
        for j, label in enumerate(moves):
            low, high = rates[1 + 2 * j], rates[2 + 2 * j]
            with np.errstate(divide="ignore", invalid="ignore"):
                slope = (np.log(high) - np.log(low)) / self._span(label, k, j, case)
            if not np.isfinite(slope).all():
                found[label] = OUTSIDE
                continue
            slope = np.where(np.abs(slope) <= NOISE, 0.0, slope)
            best = float(slope[0])
            more, less = (math.sqrt(float((side**2).sum())) for side in _reach(slope[1:] - slope[0]))
            found[label] = Number(best - less, best, best + more, "predicted")
        return found

    def _span(self, label: str, k: int, j: int, case: SystemScenarios) -> Array | float:
        """Logarithm of the ratio that a number was moved by."""
        if not label.endswith(".count"):
            return math.log((1 + STEP) / (1 - STEP))
        name = label[len("guests[") : -len("].count")] if "[" in label else ""
        guests = case.system.of("guests")
        entry: Entry = next((g for g in guests if g.name == name), guests[0])
        counts = case.values["guests", entry.name, "count"].reshape(self.shape)[:, k]
        return np.asarray(np.log(counts[2 + 2 * j] / counts[1 + 2 * j]))


def _reach(change: Array) -> tuple[Array, Array]:
    """How far each direction goes up and down; both of its ends may lie on one side."""
    ends = change.reshape(-1, 2)
    return np.maximum(ends.max(-1, initial=0.0), 0.0), np.maximum(-ends.min(-1, initial=0.0), 0.0)


def _costs_known(system: System, name: str) -> bool:
    """Whether the file or a model says what the figure is made of."""
    guests = [g for g in system.of("guests") if g.number("touch_time") is not None or g.word("io_to")]
    paged = [g for g in guests if g.word("pages_from")]
    own = bool(guests) and all(
        g.number("touch_time") is not None or g.origin.get("io_time") == "given" for g in guests
    )
    charged = all(g.number("cp_charged") is not None for g in paged)
    kept = all(g.number("cp_system") is not None for g in system.of("paging"))
    return {"guest_busy": own, "cp_charged_busy": charged and bool(guests), "cp_system_busy": kept,
            "total_busy": own and charged and kept}[name]  # fmt: skip


def _as_measured(system: System) -> bool:
    """Whether it is the very system that its model was fitted to."""
    guests, paging = system.of("guests"), system.of("paging")
    if len(guests) != 1 or len(paging) != 1 or guests[0].word("model") != paging[0].word("model"):
        return False
    model = system.models.get(paging[0].word("model"))
    storage, processors = system.one("storage"), system.one("processors")
    if model is None or model.kind != "system" or storage is None or processors is None:
        return False
    brought = [guests[0].origin.get(key) for key in ("touch_time", "cp_charged")]
    brought += [paging[0].origin.get(key) for key in ("service_time", "pages_per_transfer", "cp_system")]
    is_so = {
        "guests": guests[0].numbers["count"], "devices": paging[0].numbers["devices"],
        "queue_depth": paging[0].numbers["depth"], "processors": processors.numbers["count"],
        "real_storage_gib": storage.numbers["real"] / 2**30, "instantiated": guests[0].numbers.get("instantiated", 0.0),
        "virtual_storage_gib": guests[0].numbers.get("virtual", 0.0) / 2**30,
    }  # fmt: skip
    plain = (
        storage.numbers["other"] == 0
        and storage.numbers["minidisk_cache"] == 0
        and not paging[0].word("pool")
    )
    return plain and set(brought) == {paging[0].word("model")} and all(
        key in model.validity and math.isclose(value, model.validity[key][0], rel_tol=1e-6)
        for key, value in is_so.items()
    )  # fmt: skip
