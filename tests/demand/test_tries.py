"""How often an I/O finds no alias, and how long those that wait do: models, and simulations with seeds of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import planner
from planner import queueing
from planner.demand import DeviceModel, Target, chains, kinds, read_volumes, together, unlimited
from planner.demand.pool_draws import DRAWS, drawn_fails
from planner.devices import Volume, VolumeClass
from planner.errors import InputError
from planner.interval import Interval
from tests.demand.arrivals import Arrivals, merged, on_one, serve, singles
from tests.demand.volumes import read_pool

DEVICE = DeviceModel(inflation=0.0, redrive_time=0.0, model_error=0.02)
IOS = 150_000


def demand(kind: int, **numbers: float) -> kinds.Demands:
    """One demand as the chains take it."""
    given = {"single": 0.0, **numbers}
    return replace(kinds.Demands.empty((1,)), **{name: np.array([value]) for name, value in given.items()})


def phases(rng: np.random.Generator, load: float, on_load: float, on_time: float, ios: int) -> Arrivals:
    """Poisson arrivals that are on and off for exponential times."""
    share = load / on_load
    many = int(ios / (on_load * on_time)) + 20
    on, off = rng.exponential(on_time, many), rng.exponential(on_time * (1 - share) / share, many)
    counts = rng.poisson(on_load * on)
    begins = np.repeat(np.cumsum(on + off) - on, counts)
    times = np.sort(begins + rng.uniform(size=counts.sum()) * np.repeat(on, counts))
    return times, np.zeros(times.size, dtype=np.int64)


def arriving(name: str, rng: np.random.Generator) -> tuple[int, kinds.Demands, Arrivals]:
    """A demand of one volume, its kind, and a list of its arrivals."""
    load, mean = float(np.exp(rng.uniform(np.log(0.06), np.log(0.5)))), float(rng.integers(3, 11))
    if name == "on-off":
        on_load, on_time = load * rng.uniform(2, 6), rng.uniform(4, 40)
        part = demand(kinds.ON_OFF, load=load, on_load=on_load, on_time=on_time)
        return kinds.ON_OFF, part, phases(rng, load, on_load, on_time, IOS)
    if name == "poisson":
        return kinds.POISSON, demand(kinds.POISSON, load=load), singles(rng, np.array([load]), IOS / load)
    tail, kind = {"batches": ("geometric", kinds.BATCHES), "fixed": ("fixed", kinds.FIXED)}[name]
    part = demand(kind, load=load, batch=mean, share=1.0)
    return kind, part, on_one(rng, 1, load, mean, tail, IOS)


@pytest.mark.long
@pytest.mark.parametrize("name", ["poisson", "batches", "fixed", "on-off"])
def test_volumes_against_a_simulation(name: str) -> None:
    """Shares that find no device, and no alias, to 5 %; how many of 20 wait longer than one in 20 should, to 15 %."""
    rng = np.random.default_rng([2207, len(name)])
    shares, tails = [], []
    for trial in range(6):
        kind, part, arrivals = arriving(name, rng)
        inflation, gap = float(rng.choice([0.0, 0.15])), float(rng.choice([0.0, 0.05]))
        aliases = int(rng.integers(1, 3))
        station = chains.DeviceStation(most=aliases + 1, inflation=inflation, gap=np.array([gap]))
        figures = kinds.one_kind(kind, station, part)
        without = kinds.no_alias(kind, station, part, figures)[-1, 0]
        waits = figures.waits[-1, 0] / figures.rate[-1, 0]
        work = rng.exponential(size=arrivals[0].size)
        rows, (none, tried), each, _ = serve(*arrivals, work, 1, inflation, gap, aliases, trial)
        if none * arrivals[0].size < 500:
            continue
        shares += [waits / none, without / (none / tried)]
        if none > 0.05:
            longest = rows[2, 0] / rows[0, 0] / none * np.log(none / 0.05)
            tails.append((each > longest).mean() / 0.05)
    assert len(shares) >= 8
    np.testing.assert_allclose(shares, 1.0, atol=0.07)
    assert max(tails) < 1.15  # fixed batches wait less long than exponentially


@pytest.mark.long
@pytest.mark.parametrize("name", ["poisson", "batches", "on-off"])
def test_pools_against_a_simulation(name: str) -> None:
    """Of volumes that are known: the share that finds no alias in need of one within a quarter, in the mean to 8 %."""
    rng = np.random.default_rng([4409, len(name)])
    found, tails = [], []
    for trial in range(9):
        volumes = int(rng.integers(3, 11))
        kind, part, _ = arriving(name, rng)
        load = float(part.load[0])
        if name == "on-off":
            numbers = (load, float(part.on_load[0]), float(part.on_time[0]), IOS // volumes)
            lists = [phases(rng, *numbers)[0] for _ in range(volumes)]
            arrivals = merged(*((times, np.full(times.size, k)) for k, times in enumerate(lists)))
        elif name == "poisson":
            arrivals = singles(rng, np.full(volumes, load), IOS / load / volumes)
        else:
            arrivals = on_one(rng, volumes, load, float(part.batch[0]), "geometric", IOS)
        inflation = float(rng.choice([0.0, 0.1]))
        steps = chains.DeviceStation(most=160, inflation=inflation, gap=np.zeros(1)).steps
        present = unlimited._distributions(kind, part, steps)
        mean, flow = np.arange(161.0) @ present, steps @ present
        busy = kinds.base_busy(np.array([kind]), part, mean, mean / flow)
        usage, ends = unlimited.alias_distribution(present, busy, steps)
        one = np.array([1.0])
        use = unlimited.AliasUse(
            volumes=volumes, volume=np.arange(volumes), kind=np.full(volumes, kind), weight=np.ones(volumes),
            usage=np.tile(usage, volumes), ends=np.tile(ends, volumes), busy=np.tile(mean, volumes),
            rate=np.tile(flow, volumes), alone=np.tile(0 * one, volumes), alone_rate=np.tile(flow, volumes),
        )  # fmt: skip
        fails = together.failing(use, 120, 0.0)
        # The count at which one in 20 or 50 of those in need finds none.
        aliases = int(np.argmax(fails <= rng.choice([0.02, 0.05]) * fails[0]))
        work = rng.exponential(size=arrivals[0].size)
        rows, (none, tried), each, _ = serve(*arrivals, work, volumes, inflation, 0.0, aliases, trial)
        if aliases and none * arrivals[0].size > 300:
            found.append(fails[aliases] / fails[0] / (none / tried))
            longest = rows[2].sum() / rows[0].sum() / none * np.log(2)
            tails.append((each > longest).mean() / none / 0.5)
    assert len(found) >= 3
    assert all(0.75 < each < 1.33 for each in found)
    assert np.exp(np.mean(np.log(found))) == pytest.approx(1.0, abs=0.1)
    np.testing.assert_allclose(tails, 1.0, atol=0.1)


@pytest.mark.parametrize(("load", "most"), [(0.3, 6), (0.85, 6), (2.4, 9)])
def test_erlang_c_and_the_exponential_wait_of_an_open_volume(load: float, most: int) -> None:
    """Of Poisson arrivals the share that waits is Erlang's, and how long as M/M/c has it (Erlang 1917)."""
    station = chains.DeviceStation(most=most, inflation=0.0, gap=np.zeros(1))
    part = demand(kinds.POISSON, load=load)
    figures = kinds.one_kind(kinds.POISSON, station, part)
    for devices in range(int(load) + 1, most + 1):
        exact = queueing.mmc(load, 1.0, devices)
        waits = figures.waits[devices - 1, 0] / load
        assert waits == pytest.approx(float(exact.delay_probability))
        # P(W > t) = C exp(-(c - a) t)
        limit = float(np.log(waits / 0.03)) / (devices - load)
        for factor in (0.99, 1.01):
            target = Target(wait_percentile=(0.97, max(limit * factor, 1e-9)))
            found = target.met(load, 1.0, figures.queue[devices - 1, 0], 0.0, waits * load)
            assert found == (factor > 1 or waits <= 0.03)


@pytest.mark.parametrize("population", [3, 6])
def test_requesters_as_the_chain_of_a_pool_has_them(population: int) -> None:
    """What finds no alias in need of one, to a tenth; the chain says exactly which base is busy."""
    part = demand(kinds.CLOSED, load=np.nan, population=float(population), think=2.5, active=1.0)
    station = chains.DeviceStation(most=population, inflation=0.0, gap=np.zeros(1))
    figures = kinds.one_kind(kinds.CLOSED, station, part)
    found = kinds.no_alias(kinds.CLOSED, station, part, figures)[:, 0]
    exact = Volume(
        demand=VolumeClass(population=population, think_time=2.5),
        service_time=1.0,
        inflation=0.0,
        redrive_time=0.0,
    ).solve(np.arange(float(population)))
    np.testing.assert_allclose(found, exact.no_alias, rtol=0.1, atol=1e-12)
    np.testing.assert_allclose(figures.waits[:, 0], exact.fails, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", [kinds.BATCHES, kinds.ON_OFF, kinds.FIXED, kinds.LONG, kinds.CLOSED])
def test_more_aliases_find_none_less_often(kind: int) -> None:
    part = demand(
        kind, load=0.7, batch=4.5, share=0.8, population=5.0, think=2.0, active=0.6, on_load=2.0, on_time=9.0
    )
    station = chains.DeviceStation(most=30, inflation=0.1, gap=np.full(1, 0.05))
    figures = kinds.one_kind(kind, station, part)
    found = kinds.no_alias(kind, station, part, figures)[:, 0]
    assert found[0] == 1.0 and (np.diff(found) <= 1e-12).all() and found[-1] < 0.03
    assert (figures.waits <= figures.rate * (1 + 1e-12)).all()


def test_whatever_ends_at_aliases_found_the_base_busy() -> None:
    """All that ends at aliases took one; of one candidate a volume, draws and shares of none are the same."""
    rates, service = np.array([120.0, 300.0, 80.0]), np.full(3, 1.3e-3)
    queue = np.array([0.3, 0.8, 0.2])
    rows = [Interval(each, each, each) for each in (rates, service, queue)]
    candidates = read_volumes(*rows, device_model=DEVICE)
    use = unlimited.alias_use(candidates)
    _, mean, flow = unlimited.present(unlimited._weighted(candidates, candidates.weight), unlimited.LEVELS)
    assert (use.ends.sum(axis=0) <= use.rate * (1 + 1e-9)).all() and mean.size == flow.size
    taken = np.zeros(3)
    np.add.at(taken, use.volume, use.weight * use.ends.sum(axis=0))
    fails = together.failing(use, 40, 0.0)
    assert fails[0] == pytest.approx(together.FAILED * taken.sum(), rel=1e-6)
    assert (np.diff(fails) <= 1e-9).all()
    full = together.failing(use, 40, 1.0)
    assert (
        full[0] == pytest.approx(fails[0], rel=1e-6) and full[8] > fails[8]
    )  # later where bursts come together
    draws = drawn_fails(use, 40, DRAWS)
    assert draws.mean(axis=1)[:6] == pytest.approx(fails[:6], rel=0.05)


@pytest.mark.long
def test_a_bursty_pool_meets_its_share() -> None:
    rows = [np.array([120.0, 300.0, 80.0]), np.full(3, 1.3e-3), np.array([0.3, 0.8, 0.2])]
    exact = [Interval(each, each, each) for each in rows]
    plain = read_pool(*exact, device_model=DEVICE)
    assert plain.fails is None
    counts = [
        planner.aliases(rate="250/s", service="1.3ms", queue=0.9, volumes=4, no_alias=share).recommended
        for share in ("20%", "5%", "1%", "0.1%")
    ]
    assert counts == sorted(counts) and counts[0] < counts[-1]


@pytest.mark.long
@pytest.mark.parametrize("volumes", [None, 4])
@pytest.mark.parametrize("in_use", [None, 2])
def test_the_count_meets_the_target_and_one_less_does_not(volumes: int | None, in_use: int | None) -> None:
    for target in ({"no_alias": "2%"}, {"wait_percentile": "98%:1ms"}):
        answer = planner.aliases(
            rate="120/s", service="1.3ms", queue=0.3, volumes=volumes, in_use=in_use, **target
        )
        rows = answer.rows
        excess = answer.target.excess(rows.io_rate, rows.service_time, rows.queued, rows.no_alias, rows.fails)
        count = answer.recommended
        assert excess[count] <= 1.0 < excess[count - 1]
        assert answer.range[0] <= count <= answer.range[1]
        assert str(answer.target) in answer.text().replace("\n", " ") or "of the" in str(answer.target)


@pytest.mark.first(2)
@pytest.mark.parametrize("share", ["1%", "10%"])
@pytest.mark.parametrize(("people", "think"), [(3, 1.0), (4, 1.5), (5, 3.0), (7, 2.5)])
def test_the_range_of_a_share_holds_the_count_of_every_demand(people: int, think: float, share: str) -> None:
    """One volume that requesters keep busy: what a row of it leaves open counts by the share, not by the wait."""
    device_model = DeviceModel.from_model("hyperpav")
    part = VolumeClass(population=people, think_time=think * 1e-3)
    truth = Volume(
        demand=part, service_time=1.3e-3, inflation=device_model.inflation,
        redrive_time=device_model.redrive_time,
    )  # fmt: skip
    rows = truth.solve(np.arange(float(people)))
    needed = int(np.argmax(rows.no_alias <= float(share[:-1]) / 100))
    answer = planner.aliases(
        rate=float(rows.io_rate[0]), service=1.3e-3, queue=float(rows.queued[0]), no_alias=share
    )
    assert answer.range[0] <= needed <= answer.range[1]
    by_reading = [
        each.count for each in answer.readings if each.population == people and each.kind == "closed"
    ]
    assert not by_reading or by_reading == [needed]
    later = planner.aliases(
        rate=float(rows.io_rate[0]), service=1.3e-3, queue=float(rows.queued[0]), no_alias=share, growth=1e-6
    )
    assert later.rows.io_rate[:people] == pytest.approx(answer.rows.io_rate[:people], rel=1e-3)
    assert (later.recommended, later.range) == (answer.recommended, answer.range)


@pytest.mark.parametrize(
    "given", ["95%", "95:2ms", "95%:2", "0%:2ms", "100%:2ms", "95%:-1ms", "95%:2ms:3", "", (0.95,), (2.0, 1.0)]
)  # fmt: skip
def test_no_percentile(given: object) -> None:
    with pytest.raises(InputError, match="wait_percentile") as error:
        Target(wait_percentile=given)  # type: ignore[arg-type]
    assert str(given) in str(error.value) or repr(given) in str(error.value)


def test_a_percentile_is_read_either_way() -> None:
    assert Target(wait_percentile="95%:2ms") == Target(wait_percentile=(0.95, 2e-3))
    assert str(Target(wait_percentile="99.5%:2ms")) == "99.5 % of the I/Os wait at most 2 ms"
