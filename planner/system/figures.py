"""From the model to numbers that say what they rest on: value, basis, 90 % interval; what leaves that open."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner import library
from planner.calibrate.error_bar import stretch
from planner.errors import ConvergenceError, InfeasibleError, InputError
from planner.interval import Interval
from planner.queueing.network import small_enough
from planner.results import Array, by_key
from planner.system.coupled import ONE_WAIT, SystemFigures, SystemScenarios, customers_of, outcome_of
from planner.system.description import BROUGHT, MEASURED_AT, PER_PAGE, Entry, System

COSTS: Final = ("guest_busy", "cp_charged_busy", "cp_system_busy", "total_busy")
WAITS: Final = ("queue_length", "wait", "response")
OF_PROCESSORS: Final = ("virtual processors", "processors")  # bounds by processor times
NINETY: Final = 1.6448536269514722  # standard deviations of a normal distribution to that end
COUPLED: Final = "system-xiv-serialized"  # whose error is that of the coupled model
# Processor times of a mode that was not measured: none at all, up to this many times the known.
COST_FACTOR: Final = 3.0
LARGEST: Final = 20_000  # scenarios of one answer with elasticities, which go with the square of the groups

Place = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Number(Interval):
    """A figure with its 90 % interval, SI, and what it rests on; all None where the basis is outside.

    `basis`: given, arithmetic, calibrated, predicted or outside.
    """

    basis: str = "outside"

    def to_dict(self, factor: float = 1.0) -> dict[str, Any]:
        """As ``--json`` shows it, in units of `factor`."""
        ends = {"value": self.value, "low": self.low, "high": self.high}
        known = {key: end / factor for key, end in ends.items() if end is not None and math.isfinite(end)}
        return {**dict.fromkeys(ends), **known, "basis": self.basis}


OUTSIDE: Final = Number(None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemResult:
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
    * `stopped`: why the system cannot run at a 90 % end of something, by its name.
    * `unmoved`: why there is no elasticity, by its name: the step that cannot run, and why.
    """

    throughput: Number
    miss_ratio: Number
    io_rate: Number
    page_rate: Number
    storage: Mapping[str, Number]
    guests: Mapping[str, Number]
    stations: Mapping[str, Mapping[str, Number]]
    devices: Mapping[str, int]
    processors: Mapping[str, Number]
    bounds: Mapping[str, Number]
    elasticity: Mapping[str, Number]
    exact: bool
    shares: Mapping[str, float] = field(default_factory=dict)
    stopped: Mapping[str, str] = field(default_factory=dict)
    unmoved: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def ptrm_spaces(self) -> float:
        """PTRM data spaces that map the guests' storage."""
        return (self.storage["ptrm_spaces"].value or 0.0) if self.storage else 0.0

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

    def scenarios(self, moved: Iterable[Place] = ()) -> SystemScenarios:
        """All sets of all scenarios; then all of them again with each number of `moved` a little less, and more."""
        base = _stacked(self.systems, self.width)
        cost = np.ones(len(self.systems) * self.width)
        shaped = cost.reshape(len(self.systems), self.width)
        for k, way in enumerate(self.ways):
            for side, delta in ((1 + 2 * k, way.low), (2 + 2 * k, way.high)):
                for place, step in delta.items():
                    # The ends were taken of the first scenario: they go in proportion where that number varies.
                    rows = base[place].reshape(len(self.systems), self.width)
                    rows[:, side] += step * (rows[:, 0] / rows[0, 0] if rows[0, 0] else 1.0)
                if way.cost is not None:
                    shaped[:, side] = way.cost[(side - 1) % 2]
        steps = [(place, sign) for place in moved for sign in (-1, 1)]
        parts = [base, *({**base, place: _stepped(base[place], place, sign)} for place, sign in steps)]
        joined = {place: np.concatenate([part[place] for part in parts]) for place in base}
        central = np.repeat(np.arange(len(self.systems)) * self.width, self.width)
        return SystemScenarios(
            system=self.systems[0],
            values=joined,
            cost=np.tile(cost, len(parts)),
            central=np.tile(central, len(parts)),
        )


def _stepped(values: Array, place: Place, sign: int) -> Array:
    """A little less or more of a number: one guest, one percent of anything else."""
    return np.asarray(np.maximum(values + sign, 1.0) if place[-1] == "count" else values * (1 + 0.01 * sign))


def _numbers(system: System) -> dict[Place, float]:
    found = {(e.table, e.name, key): value for e in system.entries for key, value in e.numbers.items()}
    return found | {("processors", "", "withheld"): 0.0}


def _stacked(systems: Sequence[System], width: int) -> dict[Place, Array]:
    rows = [_numbers(system) for system in systems]
    return {place: np.repeat([row[place] for row in rows], width) for place in rows[0]}


def structure(system: System) -> tuple[Any, ...]:
    """What has to be equal for systems to be solved side by side: tables, words, known numbers, mode, models."""
    return (
        tuple((e.table, e.name, tuple(sorted(e.numbers)), tuple(sorted(e.words.items())),
               tuple(sorted((k, h > 0) for k, h in e.halves.items())), bool(e.numbers.get("dedicated")))
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
            other = measured and (group.word("pool") or not measured[0] <= depth <= measured[1])
            if other and entry.word("model") in brought:
                return True
    return False


def figures(systems: Sequence[System], *, elastic: bool) -> list[SystemResult]:
    """Numbers of systems of equal structure; elasticities where asked for."""
    first = systems[0]
    outside = outside_mode(first)
    sets = _Sets(systems, directions(first, outside=outside))
    moved = _moved(first) if elastic else {}
    if sets.width * (1 + 2 * len(moved)) > LARGEST:
        way = "some 40 at most; equal guests are one group with a `count`"
        raise InputError("groups of guests", len(first.of("guests")), way)
    case = replace(sets.scenarios(moved.values()), exact=small_enough(_requesters(systems)))
    outcome, error = outcome_of(case), model_error_of(first)
    return [
        _ScenarioResult(system, k, sets, case, outcome, error, outside, moved).found()
        for k, system in enumerate(systems)
    ]


def solve_all(systems: Sequence[System], block: int = 512) -> list[SystemResult | str]:
    """Figures of every system, or why it cannot run; of one structure together, in blocks that fit in the cache."""
    groups = by_key((structure(system), k) for k, system in enumerate(systems))
    found: list[SystemResult | str] = [""] * len(systems)
    for places in groups.values():
        for part in _solved_alike(systems, places, block):
            for k, one in zip(part, _together([systems[k] for k in part]), strict=True):
                found[k] = one
    return found


def _requesters(systems: Sequence[System]) -> Array:
    """Requesters of each group of guests with one guest more, as elasticities ask, shape (systems, groups)."""
    case = _Sets(systems, ()).scenarios(_moved(systems[0]).values())
    steps = customers_of(case)
    return np.asarray(np.stack(np.split(steps, len(steps) // len(systems))).max(axis=0))


def _solved_alike(systems: Sequence[System], places: Sequence[int], block: int) -> Iterator[list[int]]:
    """Parts in which each system is solved by the method of its own size: all are as small together, or none is."""
    most = dict(zip(places, _requesters([systems[k] for k in places]), strict=True))
    sizes = by_key((small_enough(most[k][None]), k) for k in sorted(places, key=lambda k: tuple(most[k])))
    for small, alike in sizes.items():
        part, top = alike[:0], most[alike[0]]
        for k in alike:
            top = np.maximum(top, most[k])
            if len(part) == block or small_enough(top[None]) != small:
                yield part
                part, top = [], most[k]
            part.append(k)
        yield part


def _together(systems: Sequence[System]) -> list[SystemResult | str]:
    """All at once; one that cannot run or be solved parts them until it stands alone."""
    try:
        return list(figures(systems, elastic=False))
    except (InfeasibleError, ConvergenceError) as error:
        if len(systems) == 1:
            way = "could not be solved, though the system may run: ask for a guest, device or alias more or fewer"
            return [f"{error.what} {way}" if isinstance(error, ConvergenceError) else str(error)]
    half = len(systems) // 2
    return _together(systems[:half]) + _together(systems[half:])


def _moved(system: System) -> dict[str, Place]:
    """What elasticities are taken in: storage, service times, guests."""
    timed = dict.fromkeys(("paging", "pool", "volumes"), "service_time")
    keys = {"storage": "real", **timed, "guests": "count"}
    return {
        f"{table if len(system.of(table)) == 1 else entry.label}.{key}": (table, entry.name, key)
        for table, key in keys.items()
        for entry in system.of(table)
        if key in entry.numbers
    }


@dataclass(frozen=True, slots=True)
class _ScenarioResult:
    """Turns arrays of all moves, scenarios and sets into the numbers of one scenario, `system`, the `k`-th."""

    system: System
    k: int
    sets: _Sets
    case: SystemScenarios
    outcome: SystemFigures
    error: float
    outside: bool
    moved: Mapping[str, Place]

    def rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """What an array holds of the scenario, by move and set."""
        return values.reshape(-1, len(self.sets.systems), self.sets.width)[:, self.k]

    def interval(
        self, values: Array, basis: str, *, model_error: bool | Array, most: float = math.inf, opens: str = ""
    ) -> Number:
        """Square sum of what each direction adds and takes away, and of the error of the model, up to a bound.

        That error is a part of the figure, or of what `model_error` holds. `opens` is the end that has no number where
        the system cannot run at an end of a direction: "low", "high", both.
        """
        if basis == "outside":
            return OUTSIDE
        rows = self.rows(values)[0]
        best = float(rows[0])
        size = model_error * best if isinstance(model_error, bool) else float(self.rows(model_error)[0, 0])
        if not math.isfinite(best):
            return Number(best, best, best, basis)
        change = np.where(np.isnan(rows[1:]), best, rows[1:]) - best
        stopped = self.rows(self.outcome.stopped)[0, 1:] != ""
        ends = np.stack(_reach(np.where(stopped & bool(opens), 0.0, change)))
        if stopped.any():
            ends[["high" in opens, "low" in opens], 0] = math.inf
        if basis == "arithmetic":  # a sum of ends: nothing is known of how roundings go together
            more, less = ends.sum(-1).tolist()
        else:
            more, less = (math.hypot(*side.tolist(), self.error * size) for side in ends)
        return Number(max(best - less, 0.0), best, max(min(best + more, most), best), basis)

    def shares(self) -> dict[str, float]:
        """How wide each thing that is not known makes the throughput, as a part of it."""
        if self.outcome.throughput is None:
            return {}
        rows = self.rows(self.outcome.throughput)[0]
        found: dict[str, float] = {"model error": self.error}
        for j, way in enumerate(self.sets.ways):
            width = float(np.abs(rows[1 + 2 * j : 3 + 2 * j] - rows[0]).max()) / max(float(rows[0]), 1e-300)
            found[way.name] = math.hypot(found.get(way.name, 0.0), width)
        return found

    def stopped(self) -> dict[str, str]:
        """Why the system cannot run at a 90 % end of a direction, by its name."""
        ends = zip(self.sets.ways, self.rows(self.outcome.stopped)[0, 1:].reshape(-1, 2), strict=True)
        return {way.name: low or high for way, (low, high) in ends if low or high}

    def unmoved(self) -> dict[str, tuple[str, str]]:
        """Elasticities without a number: the step that cannot run, and why."""
        if self.outcome.throughput is None:
            return {}
        steps = self.rows(self.outcome.stopped)[1:, 0].reshape(-1, 2)
        found = {}
        for (label, place), (less, more) in zip(self.moved.items(), steps, strict=True):
            one = ("one guest", "fewer") if place[-1] == "count" else ("one percent", "less")
            if less or more:
                found[label] = f"{one[0]} {one[1] if less else 'more'}", less or more
        return found

    def found(self) -> SystemResult:
        """All numbers of the scenario."""
        out, system = self.outcome, self.system
        known = "calibrated" if _as_measured(system) else "predicted"
        outside = self.outside and (out.miss_ratio is None or self.rows(out.miss_ratio)[0, 0] != 0)
        costs = self._costs(known, outside=outside)
        bounds = self._bounds(outside=outside)
        most = min((each.high for each in bounds.values() if each.high is not None), default=math.inf)
        flow = partial(self.interval, model_error=True, opens="low")
        alone = len(out.guests) == 1

        def carried(rate: Array) -> Number:
            """A rate that goes with the throughput, where nothing else does anything, up to its bounds."""
            whole = 0.0 if out.throughput is None else float(self.rows(out.throughput)[0, 0])
            part = float(self.rows(rate)[0, 0]) / whole if alone and whole else math.inf
            return flow(rate, "predicted", most=most * part if part else math.inf)

        return SystemResult(
            throughput=OUTSIDE if out.throughput is None else flow(out.throughput, "predicted", most=most),
            miss_ratio=self._miss(),
            io_rate=carried(out.io_rate),
            page_rate=flow(out.page_rate, known, most=self.end(out.page_capacity)),
            storage={
                name: self.interval(each, "arithmetic", model_error=False)
                for name, each in (out.storage.figures if out.storage else {}).items()
            },
            guests={name: carried(rate) for name, rate in out.guests.items()},
            stations={name: self._station(name, row, known) for name, row in out.stations.items()},
            devices={name: int(self.rows(row["devices"])[0, 0]) for name, row in out.stations.items()},
            processors=costs,
            bounds=bounds,
            elasticity=self._elasticities(),
            exact=out.exact,
            shares=self.shares(),
            stopped=self.stopped(),
            unmoved=self.unmoved(),
        )

    def end(self, bound: Array) -> float:
        """Upper end of what bounds a figure."""
        return self.interval(bound, "predicted", model_error=False).high or 0.0

    def _station(self, name: str, row: Mapping[str, Array], known: str) -> dict[str, Number]:
        """One device: transfers up to what it carries, and what waits for it."""
        paging = name in {group.name for group in self.system.of("paging")}
        # As `planner.devices.pool.FIGURES` has it: a wait is the difference of two times, each as good as the model.
        size = {"queue_length": row["transfers"] * row["response"], "wait": row["response"]}
        return {
            "transfers": self.interval(
                row["transfers"], known if paging else "predicted", model_error=True, most=self.end(row["capacity"]),
                opens="low",
            ),
            "utilization": self.interval(
                row["utilization"], "predicted", model_error=True, most=1.0, opens="low high",
            ),
            **{
                key: self.interval(row[key], "predicted", model_error=size.get(key, True), opens="high")
                for key in WAITS
            },
        }  # fmt: skip

    def _costs(self, known: str, *, outside: bool) -> dict[str, Number]:
        """Processor times: outside where their mode was not measured or nothing is known of them."""
        bases = {"cp_charged_busy": known, "cp_system_busy": known}
        entry, guests = self.system.one("processors"), self.system.of("guests")
        most = math.inf if entry is None else self.end(self.case.at(entry, "count"))
        own = math.inf  # what guests do, and CP for them, takes their virtual processors
        if all("processors" in guest.numbers for guest in guests):
            own = sum(self.end(self.case.at(g, "count") * self.case.at(g, "processors")) for g in guests)
        missing = costs_missing(self.system)

        def busy(name: str, most: float) -> Number:
            if outside or missing[name]:
                return OUTSIDE
            times, basis = self.outcome.processors[name], bases.get(name, "predicted")
            return self.interval(times, basis, model_error=True, most=most, opens="low")

        kept = busy("cp_system_busy", most).high
        ends = {"cp_system_busy": most, "total_busy": most if kept is None else min(most, own + kept)}
        return {name: busy(name, ends.get(name, min(most, own))) for name in missing}

    def _bounds(self, *, outside: bool) -> dict[str, Number]:
        """What each part alone would allow; processors by the times that are known: others only lower it.

        Misses that the model predicts bring its error to what they take time of.
        """
        paged = {f"paging {group.name}" for group in self.system.of("paging")} | {ONE_WAIT}
        if any(self.rows(self.outcome.processors[key])[0, 0] > 0 for key in COSTS[1:3]):
            paged |= {*OF_PROCESSORS}
        by_model = paged if self._miss().basis == "predicted" else ()
        return {
            name: self.interval(
                values,
                "outside" if outside and name in OF_PROCESSORS else "predicted",
                model_error=name in by_model,
            )
            for name, values in self.outcome.bounds.items()
        }

    def _miss(self) -> Number:
        """Misses per page visit of all guests: given, none because all pages have a frame, or by the model."""
        miss = self.outcome.miss_ratio
        if miss is None:
            return OUTSIDE
        guests = [guest.numbers for guest in self.system.of("guests")]
        given = all("miss_ratio" in guest for guest in guests if guest.get("virtual"))
        basis = "given" if given else "arithmetic" if self.rows(miss)[0, 0] == 0 else "predicted"
        return self.interval(miss, basis, model_error=False, most=1.0)

    def _elasticities(self, noise: float = 1e-9) -> dict[str, Number]:
        """Relative change of the throughput over that of each number, with the ends of every direction."""
        if self.outcome.throughput is None:
            return {}
        rates = self.rows(self.outcome.throughput)
        found = {}
        for j, (label, place) in enumerate(self.moved.items()):
            steps = self.rows(self.case.values[place])
            with np.errstate(divide="ignore", invalid="ignore"):
                before, after = (np.log([rates[at], steps[at]]) for at in (1 + 2 * j, 2 + 2 * j))
                slope = np.divide(*(after - before))
            stopped = (self.rows(self.outcome.stopped)[[1 + 2 * j, 2 + 2 * j]] != "").any(axis=0)
            if stopped[0] or not np.isfinite(slope[~stopped]).all():
                found[label] = OUTSIDE
                continue
            slope = np.where(np.abs(slope) <= noise, 0.0, slope)
            best = float(slope[0])
            slope = np.where(stopped, best, slope)
            more, less = (math.hypot(*side.tolist()) for side in _reach(slope[1:] - slope[0]))
            open_end = math.inf if stopped.any() else 0.0
            found[label] = Number(best - less - open_end, best, best + more + open_end, "predicted")
        return found


def _reach(change: Array) -> tuple[Array, Array]:
    """How far each direction goes up and down; both of its ends may lie on one side."""
    ends = change.reshape(-1, 2)
    return np.maximum(ends.max(-1, initial=0.0), 0.0), np.maximum(-ends.min(-1, initial=0.0), 0.0)


def costs_missing(system: System) -> dict[str, list[str]]:
    """What neither the file nor a model says of that which each processor time is made of."""
    guests = [g for g in system.of("guests") if "touch_time" in g.numbers or g.word("io_to")]
    none = [] if guests else ["touch_time_us or io_to of any guests"]
    own = [g for g in guests if "touch_time" not in g.numbers and g.origin.get("io_time") != "given"]
    charged = [g for g in guests if g.word("pages_from") and "cp_charged" not in g.numbers]
    of_guests = (
        none + [f"{g.label}.io_time_us" for g in own],
        none + [f"{g.label}.cp_charged_us" for g in charged],
    )
    kept = [
        f"{group.label}.cp_system_us" for group in system.of("paging") if "cp_system" not in group.numbers
    ]
    return dict(zip(COSTS, (*of_guests, kept, list(dict.fromkeys(chain(*of_guests, kept)))), strict=True))


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
    is_so = (
        guests[0].numbers["count"], paging[0].numbers["devices"], paging[0].numbers["depth"],
        processors.numbers["count"], storage.numbers["real"] / 2**30, guests[0].numbers.get("instantiated", 0.0),
        guests[0].numbers.get("virtual", 0.0) / 2**30,
    )  # fmt: skip
    plain = not (storage.numbers["other"] or storage.numbers["minidisk_cache"] or paging[0].word("pool"))
    return plain and set(brought) == {paging[0].word("model")} and all(
        key in model.validity and math.isclose(value, model.validity[key][0], rel_tol=1e-6)
        for key, value in zip(MEASURED_AT, is_so, strict=True)
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """One thing that is not known: what the ends of its 90 % add to numbers, or (`cost`) to the cost factor."""

    name: str
    low: Mapping[Place, float]
    high: Mapping[Place, float]
    cost: tuple[float, float] | None = None


def directions(system: System, *, outside: bool) -> list[Direction]:
    """Everything that is not exactly known, along the principal axes of each model; shared models move together."""
    found = [_rounding(entry, key) for entry in system.entries for key, half in entry.halves.items() if half]
    for name, model in system.models.items():
        found += _axes(system, name, model)
    entry = system.one("processors")
    if entry is not None and "guaranteed" in entry.numbers:
        place = ("processors", "", "withheld")
        found.append(Direction(name="processors.guaranteed", low={place: 1.0}, high={place: 0.0}))
    if outside:
        found.append(Direction(name="processor time of this mode", low={}, high={}, cost=(COST_FACTOR, 0.0)))
    return found


def _rounding(entry: Entry, key: str) -> Direction:
    value, half = entry.numbers[key], entry.halves[key]
    place = (entry.table, entry.name, key)
    share = key in {"instantiated", "miss_ratio", "reads", "cache_hit"}
    low, high = max(value - half, value * 0.01), min(value + half, 1.0) if share else value + half
    return Direction(name=f"{entry.label}.{key}", low={place: low - value}, high={place: high - value})


def _axes(system: System, name: str, model: library.Model) -> Iterator[Direction]:
    """Principal axes of the parameters that the system takes from a model."""
    users: dict[str, list[Place]] = {}
    for entry in system.entries:
        for parameter in BROUGHT.get(entry.table, {}).get(model.kind, ()):
            key = parameter.removesuffix("_s")
            if entry.origin.get(key) == name:
                users.setdefault(parameter, []).append((entry.table, entry.name, key))
        if model.kind == "paging" and entry.origin.get("cp_system") == name and entry.table == "paging":
            users.setdefault(PER_PAGE, []).append((entry.table, entry.name, "cp_system"))
    parameters, root = _root(model)
    for column in range(root.shape[-1]):
        low: dict[Place, float] = {}
        high: dict[Place, float] = {}
        for row, parameter in enumerate(parameters):
            step = NINETY * root[row, column]
            for table, entry_name, key in users.get(parameter, []):
                numbers = system.named(table, entry_name).numbers
                value, scale = numbers[key], numbers["pages_per_transfer"] if parameter == PER_PAGE else 1.0
                for ends, off in ((low, -step), (high, step)):
                    ends[table, entry_name, key] = max(value + off * scale, value * 0.01) - value
        if any(low.values()):
            yield Direction(name=f"model {name}", low=low, high=high)


def _root(model: library.Model) -> tuple[Sequence[str], Array]:
    """Parameters, and a root of their covariance."""
    known = model.uncertainty
    if known is None and model.alternatives:
        known = max(model.alternatives, key=lambda each: each.share)
    if known is not None:
        return known.parameters, _square_root(known.covariance)
    errors = {key: p.standard_error for key, p in model.parameters.items() if p.standard_error}
    return list(errors), np.diag(list(errors.values()))


def _square_root(covariance: Sequence[Sequence[float]]) -> Array:
    """Columns along the principal axes of the correlations, the longest first."""
    matrix = np.array(covariance)
    size = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    values, vectors = np.linalg.eigh(matrix / np.outer(size, size))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0)) * size[:, None])[:, ::-1])


def model_error_of(system: System) -> float:
    """Relative half width of the 90 % interval that the coupled model leaves by itself."""
    errors = []
    if system.of("paging"):
        errors.append(_error(system.models.get(COUPLED) or library.read_model(COUPLED)))
    if system.of("volumes"):
        errors.append(NINETY * 0.02)  # of the model of volumes and pools, where no model says more
    errors += [_error(model) for model in system.models.values() if model.kind in {"pool", "volume"}]
    return max(errors, default=0.0)


def _error(model: library.Model) -> float:
    degrees = model.fit.degrees_of_freedom
    return NINETY * model.fit.model_error * (1.0 if degrees is None else stretch(degrees))
