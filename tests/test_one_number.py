"""One question has one number: a volume and a pool of one, one interval and many, curve and count, any growth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from planner import aliases
from planner.demand import DeviceModel, Target
from planner.devices import Pool, VolumeClass
from planner.errors import ConvergenceError
from planner.interval import Interval
from planner.measurements import Run, from_numbers
from planner.sizing import volumes as volumes_module
from planner.sizing.bounds import MOST
from planner.sizing.fewest import excess_of
from planner.sizing.need import Need, need, size
from planner.sizing.sized import ReadCache, Sized

DEVICE = DeviceModel(inflation=0.16, redrive_time=6e-5, model_error=0.02, axes=((0.2, 0.0), (0.0, 0.6)))
LONGEST = 40.0  # I/Os: a row of the table each
MULTIPLES = (
    0.0,
    0.5,
    1.0,
    1.05,
    1.6,
    4.0,
    12.0,
)  # of the wait of Poisson arrivals: idle digits, steady, bursty


def shown(value: float, digit: float) -> Interval:
    """As a listing prints it."""
    printed = max(round(value / digit) * digit, 0.0)
    return Interval(max(printed - digit / 2, 0.0), printed, printed + digit / 2)


def volume(random: np.random.Generator, aliases: int = 0, multiple: float | None = None) -> Run:
    """A volume from nearly idle to saturated, its queue a multiple of that of Poisson arrivals at its busy share."""
    service = 10.0 ** random.uniform(-3.5, -2.2)
    devices = 1 + aliases
    busy = float(random.choice([random.uniform(0.01, 0.3), random.uniform(0.2, 0.95), 0.99])) / (
        1 + 6e-5 / service
    )
    times = float(random.choice(MULTIPLES)) if multiple is None else multiple
    queue = min(times * busy ** (1 + devices) / (1 - busy), LONGEST)
    return from_numbers(
        io_rate=shown(max(devices * busy / service, 0.5), 0.1), service=shown(service, 1e-5), queued=shown(queue, 0.01),
        aliases=aliases,
    )  # fmt: skip


def volumes(seed: int, count: int, used: Sequence[int] = (0, 0, 0, 1, 2, 3)) -> list[Run]:
    """As many volumes, half of them without aliases in use."""
    random = np.random.default_rng(seed)
    return [volume(random, int(random.choice(used))) for _ in range(count)]


def pool(seed: int, count: int, aliases: int, multiple: float) -> Run:
    """A pool of unequal volumes that wait alike."""
    random = np.random.default_rng(seed)
    parts = [volume(random, 0, multiple) for _ in range(count)]

    def all_of(name: str) -> Interval:
        ends = zip(*(tuple(getattr(part, name)) for part in parts), strict=True)
        return Interval(*(np.concatenate(end) for end in ends))

    return Run(
        name="POOL", pool=True, aliases=aliases, volumes=tuple(map(str, range(count))), io_rate=all_of("io_rate"),
        service=all_of("service"), queued=all_of("queued"),
        queue_shown=np.concatenate([part.queue_shown for part in parts]),
    )  # fmt: skip


def asked_pool(aliases: int, **demand: float) -> Run:
    """Three equal volumes in a pool, as the model itself has them."""
    part = VolumeClass(volumes=3, **demand)  # type: ignore[arg-type]
    rows = Pool(classes=(part,), service_time=1.3e-3, inflation=0.16, redrive_time=6e-5).solve(
        [float(aliases)]
    )
    return from_numbers(
        io_rate=shown(float(rows.io_rate[0]) / 3, 0.1), service=shown(float(rows.service_time[0]), 1e-5),
        queued=shown(float(rows.queued[0]) / 3, 0.01), volumes=3, aliases=aliases, pool=True,
    )  # fmt: skip


def told(found: Need) -> tuple[object, ...]:
    """All that a need says."""
    return found.count, found.low, found.high, found.decided, found.problem


def read_as(runs: Iterable[Run], target: Target | None = None) -> list[Sized]:
    """What each was read as, for its count."""
    cases = [(run,) for run in runs]
    found = size(cases, DEVICE, target or Target(), [0.0] * len(cases), ranges=False)
    assert all(isinstance(each, Sized) for each in found)
    return found  # type: ignore[return-value]


POOLS = {
    "steady": pool(3, 4, 0, 0.95),
    "no demand fits": from_numbers(
        io_rate=shown(736.0, 0.1), service=shown(1.3e-3, 1e-6), queued=shown(1.5, 1e-3), volumes=3, pool=True
    ),
    "between requesters": pool(4, 5, 0, 0.5),
    "bursty": pool(5, 4, 0, 4.0),
    "few requesters, in use": asked_pool(1, population=3, think_time=3e-3),
    "open, in use": asked_pool(1, arrival_rate=300.0),
    "bursty, in use": pool(5, 3, 2, 1.0),
}


@pytest.mark.long
def test_the_pools_are_what_they_are_called() -> None:
    for name, found in zip(POOLS, read_as(POOLS.values()), strict=True):
        assert found.decided == ("bursty demand" if "bursty" in name else "steady demand"), name
        assert (found.residual > 1.0) is (name == "no demand fits"), name


@pytest.mark.long
@pytest.mark.parametrize("sort", POOLS)
def test_the_sentence_of_the_demand_has_the_rate_of_the_table(sort: str) -> None:
    run = POOLS[sort]
    for each in [run, *volumes(8, 2)]:
        (found,) = read_as([each])
        answer = found.answer()
        assert answer.readings[0].io_rate == answer.rows.io_rate[answer.recommended]


@pytest.mark.long
def test_a_volume_with_aliases_of_its_own_is_a_pool_of_one() -> None:
    """Count, range, what they rest on, and the whole table: to the digit."""
    runs = volumes(1, 200)
    runs[::25] = [
        replace(run, queued=Interval(np.zeros(1), np.zeros(1), np.full(1, np.inf))) for run in runs[::25]
    ]
    both = [(run,) for run in runs] + [(replace(run, pool=True),) for run in runs]
    counts = need(both, DEVICE, ranges=False)
    assert [told(each) for each in counts[:200]] == [told(each) for each in counts[200:]]
    decided = [each.decided for each in counts[:200]]
    assert min(decided.count(each) for each in ("steady demand", "bursty demand", "saturated")) >= 10
    some = need(both[::5], DEVICE)
    assert [told(each) for each in some[:40]] == [told(each) for each in some[40:]]
    for one, other in zip(some[:40:2], some[40::2], strict=True):
        assert (one.answer is None) == (other.answer is None)
        if one.answer is not None and other.answer is not None:
            assert one.answer.to_dict()["rows"] == other.answer.to_dict()["rows"]
            assert one.answer.range == (one.low, one.high) == other.answer.range


@pytest.mark.long
def test_the_count_is_the_same_whether_or_not_its_range_is_asked() -> None:
    """Queues of more than three service times need no more than at shorter ones, of which their ranges are."""
    runs = volumes(8, 30)
    cases = [(replace(run, queued=run.queued * times),) for run in runs for times in (1.0, 30.0)]
    without, ranged = (need(cases, DEVICE, ranges=ranges) for ranges in (False, True))
    assert [told(each) for each in without] == [told(replace(each, low=None, high=None)) for each in ranged]


@pytest.mark.long
@pytest.mark.parametrize("target", [Target(queued=0.3), Target(), Target(wait=2e-4)], ids=str)
def test_a_curve_goes_through_the_measured_row_and_is_monotone_about_it(target: Target) -> None:
    """Beside that row it is the model's, moved by what the model missed there, but never past what was measured."""
    runs = [*volumes(5, 36), *POOLS.values()] if target == Target() else [*volumes(6, 12), POOLS["bursty"]]
    needs = need([(run,) for run in runs], DEVICE, target, ranges=False)
    for run, found, sized in zip(runs, needs, read_as(runs, target), strict=True):
        used = run.aliases
        if found.problem:
            assert "no count up to" in found.problem
            continue
        rows, model = sized.sweep
        rate, queue = float(run.total_rate.value), float(run.total_queue.value)
        assert rows.io_rate[used] == pytest.approx(rate, rel=1e-12)
        assert rows.service_time[used] == pytest.approx(float(run.mean_service.value), rel=1e-12)
        assert rows.queued[used] == pytest.approx(queue, rel=1e-12, abs=1e-12)
        assert (rows.io_rate[1:] >= rows.io_rate[:-1]).all()
        assert (rows.queued[1:] <= rows.queued[:-1]).all()
        assert (rows.wait_time[1:] <= rows.wait_time[:-1]).all()
        if found.decided != "saturated":
            assert found.count == int(np.argmax(excess_of(target, rows) <= 1.0))
        share = np.clip(np.log(rate / model.io_rate[used]), -MOST, MOST)
        assert rows.io_rate[used + 1] == pytest.approx(max(model.io_rate[used + 1] * np.exp(share), rate))
        digits = float(run.total_queue.high) - queue
        left = np.clip(np.log((queue + digits) / (model.queued[used] + digits)), -MOST, MOST)
        moved = max((model.queued[used + 1] + digits) * np.exp(left) - digits, 0.0)
        assert rows.queued[used + 1] == pytest.approx(min(moved, queue), abs=1e-12)
        if used and np.isfinite(model.queued[used - 1]):
            plain, off = model.queued[used - 1], queue - model.queued[used]
            moved = (plain + digits) * np.exp(left) - digits
            if abs(off) < abs(moved - plain):  # with fewer the model is off by no more than it is there
                moved = plain + off
            assert rows.queued[used - 1] == pytest.approx(max(moved, queue), abs=1e-12)


@pytest.mark.long
@pytest.mark.parametrize(
    ("rate", "service", "queue", "used"),
    [
        ("755", "1.3", "1.84", 0),
        ("755.52", "1.3014", "1.84", 0),
        ("30", "20.3", "1.2", 0),
        ("900", "1.30", ".15", 1),
    ],
)
def test_numbers_that_are_typed_and_a_table_of_them_have_one_answer(
    rate: str, service: str, queue: str, used: int
) -> None:
    """Digits say how far each is open; a service time may be a sum of three rounded parts, and all is open by 1 %."""
    typed = aliases(rate=f"{rate}/s", service=f"{service}ms", queue=queue, in_use=used, kind="volume")
    table = aliases(
        f"volume,io_rate,service_ms,queued,aliases\nvolume,{rate},{service},{queue},{used}\n".encode()
    )
    assert typed.to_dict() == table.to_dict()


@pytest.mark.long
@pytest.mark.parametrize(
    "sorts",
    [("no demand fits", "bursty", "bursty, in use"), pytest.param(tuple(POOLS), marks=pytest.mark.long)],
    ids=["few", "all"],
)
def test_a_need_does_not_depend_on_what_else_is_asked(sorts: tuple[str, ...]) -> None:
    """Volumes and pools of every sort in one call, again in another order as they are known by then, and each alone."""
    alone = volumes(8, 14)
    later = replace(
        alone[0], aliases=alone[0].aliases + 2, queued=Interval(*(end / 3 for end in alone[0].queued))
    )
    never_idle = from_numbers(
        io_rate=shown(755.0, 0.1), service=shown(1.3e-3, 1e-5), queued=shown(LONGEST, 0.01)
    )
    unknown = replace(POOLS["steady"], queued=Interval(np.zeros(4), np.zeros(4), np.full(4, np.inf)))
    cases: list[tuple[Run, ...]] = [
        *((run,) for run in alone), (), (alone[0], later), (never_idle,), (unknown,),
        *((POOLS[sort],) for sort in sorts),
    ]  # fmt: skip
    growth = np.where(np.arange(len(cases)) % 3 == 0, 0.2, 0.0)
    known = ReadCache()
    together = [told(each) for each in need(cases, DEVICE, growth=growth, known=known)]
    order = np.random.default_rng(3).permutation(len(cases))
    mixed = need([cases[k] for k in order], DEVICE, growth=growth[order], known=known)
    assert [told(each) for each in mixed] == [together[k] for k in order]
    assert [
        told(need([case], DEVICE, growth=share)[0]) for case, share in zip(cases, growth, strict=True)
    ] == together
    assert {each[3] for each in together} == {"no I/O", "steady demand", "bursty demand", "saturated"}


@pytest.mark.long
def test_digits_that_leave_much_open_are_read_alike_beside_aliases_in_use() -> None:
    """The service time of a lone I/O is sought in as many passes, whether or not a neighbor has aliases in use."""
    busy = from_numbers(
        io_rate=shown(1854.9, 0.1), service=Interval(3.5e-4, 5e-4, 6.5e-4), queued=shown(11.86, 0.01)
    )
    with_aliases = from_numbers(
        io_rate=shown(224.0, 0.1), service=shown(2.1e-3, 1e-4), queued=shown(0.1, 0.01), aliases=1
    )
    alone = [told(need([(run,)], DEVICE)[0]) for run in (busy, with_aliases)]
    assert [told(each) for each in need([(busy,), (with_aliases,)], DEVICE)] == alone


@pytest.mark.long
def test_a_pool_without_a_solution_at_the_rates_of_its_volumes_stops_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is read by what each of its volumes may mean, as any that the solver has no answer to."""
    cases = [(POOLS["few requesters, in use"],), (volumes(5, 1)[0],)]
    alone = need([cases[1]], DEVICE, ranges=False)[0]

    def unsolved(cases: Sequence[object]) -> list[ConvergenceError]:
        return [ConvergenceError("alias pool with 1 alias", 1e-6, 200) for _ in cases]

    monkeypatch.setattr("planner.sizing.pool.think_in_use", unsolved)
    monkeypatch.setattr("planner.sizing.pool.at_own_rates", lambda runs, _: [() for _ in runs])
    first, other = need(cases, DEVICE, ranges=False)
    assert (first.decided, first.problem) == ("bursty demand", "")
    assert told(other) == told(alone)


GROWTHS = (0.0, 1e-9, 0.02, 0.1, 0.3, 1.0)


@pytest.mark.long
@pytest.mark.parametrize("sort", ["pools in use", "pools", "volumes"])
def test_a_demand_that_grows_needs_no_fewer_aliases(sort: str) -> None:
    """Nor does the need jump where growth begins, but by what the measured row decides about the aliases in use."""
    if sort == "volumes":
        runs, growths = volumes(9, 20), GROWTHS
    elif sort == "pools":
        runs, growths = [run for run in POOLS.values() if not run.aliases], GROWTHS
    else:
        runs, growths = [run for run in POOLS.values() if run.aliases], (0.0, 1e-9, 0.3)
    found = need(
        [(run,) for run in runs for _ in growths], DEVICE, growth=np.tile(growths, len(runs)), ranges=False
    )
    for k, run in enumerate(runs):
        counts = [each.count for each in found[k * len(growths) : (k + 1) * len(growths)]]
        known = [count for count in counts if count is not None]
        assert counts[: len(known)] == known  # out of reach stays so
        assert known == sorted(known)
        assert len(known) < 2 or known[0] == known[1] or known[0] in (run.aliases, run.aliases + 1)


@pytest.mark.long
def test_where_nothing_waits_one_requester_a_volume_stays_possible() -> None:
    """A guest has one I/O at a time to a minidisk: then no aliases are needed, however many are in use."""
    runs = [
        from_numbers(
            io_rate=shown(600.0, 1.0), service=shown(1e-3, 1e-5), queued=shown(0.0, 0.01), volumes=4,
            aliases=aliases, pool=True,
        )
        for aliases in (0, 2, 4, 6)
    ]  # fmt: skip
    found = need([(run,) for run in runs], DEVICE)
    assert [each.low for each in found] == [0] * 4
    assert [each.high for each in found] == sorted(each.high or 0 for each in found)


@pytest.mark.long
def test_the_rate_with_fewer_aliases_than_were_measured_is_open() -> None:
    """It was not measured: where bursts queue it may stay as it is, or fall more than by the model."""
    (found,) = read_as([POOLS["bursty, in use"]])
    answer = found.answer()
    wide = answer.rate.high - answer.rate.low
    assert wide[0] > wide[1] > wide[answer.in_use]
    assert (answer.rate.high[: answer.in_use] >= answer.rows.io_rate[answer.in_use]).all()
    assert (answer.rate.low <= answer.rows.io_rate).all() and (answer.rows.io_rate <= answer.rate.high).all()


@pytest.mark.long
@pytest.mark.parametrize("met", [True, False])
def test_the_range_of_a_bursty_pool_in_use_grows_with_its_demand(met: bool) -> None:
    """A measurement that meets the target holds no larger demand down; one that misses it still needs more."""
    run = pool(5, 3, 6, 1.0)
    wait = float(run.total_queue.value / run.total_rate.value)
    found = need([(run,)] * 4, DEVICE, Target(wait=wait * (1.3 if met else 0.7)), growth=[0.0, 0.3, 1.0, 3.0])
    assert {each.decided for each in found} == {"bursty demand"}
    counts, lows, highs = zip(*((each.count, each.low, each.high) for each in found), strict=True)
    assert list(counts) == sorted(counts)
    assert list(highs) == sorted(highs)
    assert highs[-1] > 1.3 * counts[-1]
    assert all(low <= count for low, count in zip(lows, counts, strict=True))
    assert (min(lows) > run.aliases) is not met


@pytest.mark.long
@pytest.mark.parametrize("growth", [0.4, -0.3])
def test_whether_so_many_do_is_what_count_and_range_say(growth: float) -> None:
    """At the count and both ends of the range, one below, and with none; for pools of every sort and a volume."""
    runs = [*POOLS.values(), volume(np.random.default_rng(2))]
    known = ReadCache()
    exact = need([(run,) for run in runs], DEVICE, growth=growth, known=known)
    asked = []
    for run, found in zip(runs, exact, strict=True):
        ends = {end for end in (found.low, found.count, found.high) if end}
        asked += [(run, found, limit) for limit in sorted({0, *ends, *(end - 1 for end in ends)})]
    assert any(found.count is not None and found.count > limit for _, found, limit in asked)
    limits = [limit for *_, limit in asked]
    told_so = need([(run,) for run, *_ in asked], DEVICE, growth=growth, enough=limits, known=known)
    for (run, found, limit), each in zip(asked, told_so, strict=True):
        for sought, answer in ((found.low, each.low), (found.count, each.count), (found.high, each.high)):
            assert (sought is None) == (answer is None), (run.name, limit)
            assert sought is None or answer is None or (sought <= limit) == (answer <= limit), (
                run.name,
                limit,
            )


@pytest.mark.long
def test_the_unit_of_time_does_not_matter() -> None:
    """The same rows in units a thousandth and a thousand times as long, exact or with digits."""
    cases = [*volumes(5, 40), *(pool(seed, 4, 2, multiple) for seed in (1, 2) for multiple in (0.5, 4.0))]
    cases += [replace(run, service=Interval(*[run.service.value] * 3)) for run in cases]
    expected = list(map(told, need([(run,) for run in cases], DEVICE)))
    for unit in (1e-3, 1024.0):
        device_model = replace(DEVICE, redrive_time=DEVICE.redrive_time * unit)
        scaled = [
            (replace(run, io_rate=run.io_rate * (1 / unit), service=run.service * unit),) for run in cases
        ]
        assert list(map(told, need(scaled, device_model))) == expected


def test_a_pool_with_less_than_one_requester_a_volume_needs_no_alias() -> None:
    """As `planner growth` asks for on the way to a limit of none."""
    run = asked_pool(0, population=1, think_time=1.6e-3)
    assert [each.count for each in need([(run,)] * 3, DEVICE, growth=[-0.1, -0.5, -0.99])] == [0, 0, 0]


@pytest.mark.long
def test_a_pool_whose_groups_have_no_solution_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its volumes are read for themselves, or kept apart."""

    monkeypatch.setattr(volumes_module, "group_pools", lambda aliases, *_, **__: [None] * len(aliases))
    many, other = need([(pool(3, 20, 0, 0.5),), (POOLS["steady"],)], DEVICE, ranges=False)
    assert not many.problem and not other.problem
