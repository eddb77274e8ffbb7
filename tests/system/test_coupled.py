"""The loop: identities, bounds, one root, limits that are known, and simulations of its own."""

from __future__ import annotations

import heapq
from dataclasses import replace
from itertools import pairwise
from math import factorial

import numpy as np
import pytest

from planner import InfeasibleError, InputError
from planner import system as model
from planner.queueing import alias_pool, closed_network, finite_source, mmc
from planner.system.loop import GuestNetwork

BASE = """
[processors]
count = 8
[storage]
real_gib = 100
[[guests]]
name = "a"
count = 12
virtual_gib = 10
instantiated = 1
pages_from = "p"
touch_time_us = 2.0
cp_charged_us = 20.0
[[paging]]
name = "p"
devices = 4
service_time_ms = 2.0
pages_per_transfer = 10.0
cp_system_us = 50.0
"""


def simulated(answer: model.SystemAnswer, *, seed: int = 3, events: int = 150_000) -> float:
    """Transfers a second of one device: guests that compute on a few processors and read from any device."""
    rng = np.random.default_rng(seed)
    guest, paging = answer.system.of("guests")[0].numbers, answer.system.of("paging")[0].numbers
    processors = answer.system.one("processors")
    assert processors is not None
    miss = answer.found.miss_ratio.value or 0.0
    own = paging["pages_per_transfer"] / miss * guest["touch_time"] + guest["cp_charged"]
    places = [int(processors.numbers["count"]), *[int(paging["depth"])] * int(paging["devices"])]
    waiting: list[int] = [0] * len(places)
    busy = [0] * len(places)
    means = [own, *[paging["service_time"]] * int(paging["devices"])]
    draws, where = rng.exponential(1.0, 2 * events), rng.integers(1, len(places), 2 * events)
    heap: list[tuple[float, int, int]] = []
    count = done = 0
    now = begin = 0.0

    def arrive(station: int) -> None:
        nonlocal count
        if busy[station] == places[station]:
            waiting[station] += 1
            return
        busy[station] += 1
        heapq.heappush(heap, (now + means[station] * draws[count], count, station))
        count += 1

    for _ in range(int(guest["count"])):
        arrive(0)
    for step in range(events):
        now, _, station = heapq.heappop(heap)
        if step == events // 10:
            begin, done = now, 0
        busy[station] -= 1
        done += station > 0
        if waiting[station]:
            waiting[station] -= 1
            arrive(station)
        arrive(int(where[step]) if station == 0 else 0)
    return done / (now - begin) / (len(places) - 1)


@pytest.mark.long
@pytest.mark.parametrize(
    "settings",
    [
        ["paging.cp_system=0us"],
        ["paging.cp_system=0us", "paging.depth=2"],
        ["paging.cp_system=0us", "processors.count=1", "guests.touch_time=8us"],
        ["paging.cp_system=0us", "paging.devices=2", "storage.real=60GiB"],
    ],
)
def test_a_simulation(settings: list[str]) -> None:
    """Exponential service everywhere: within 1.5 %, three times the error of the run."""
    answer = model.solve(BASE, settings)
    assert answer.found.stations["p"]["transfers"].value == pytest.approx(simulated(answer), rel=0.015)


def random_settings(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [
        f"guests.count={rng.integers(1, 40)}",
        f"storage.real={rng.uniform(30, 140):.1f}GiB",
        f"paging.devices={rng.integers(1, 30)}",
        f"paging.depth={rng.integers(1, 5) if rng.random() < 0.7 else 'unlimited'}",
        f"paging.service_time={rng.uniform(0.2, 5):.3f}ms",
        f"paging.cp_system={rng.uniform(0, 400):.1f}us",
        f"guests.touch_time={rng.uniform(0.1, 50):.2f}us",
        f"guests.changed={rng.choice([0, 0.3, 1.0])}",
        f"processors.count={rng.integers(1, 12)}",
    ]


@pytest.mark.long
def test_random_systems_keep_their_bounds_and_littles_law() -> None:
    """Sixty systems: no bound passed, busy and queues consistent, transfers what the pages need."""
    for seed in range(60):
        answer = model.solve(BASE, random_settings(seed))
        found, station = answer.found, answer.found.stations["p"]
        rate = found.throughput.value
        assert all(rate <= bound * (1 + 1e-9) for _, bound in found.ranked())
        assert found.processors["total_busy"].value <= answer.system.one("processors").numbers["count"] * (
            1 + 1e-9
        )
        assert station["utilization"].value <= 1 + 1e-9
        transfers = found.devices["p"] * station["transfers"].value
        assert found.page_rate.value == pytest.approx(transfers * 10.0, rel=1e-9)
        changed = answer.system.of("guests")[0].numbers["changed"]
        assert transfers == pytest.approx(
            rate * found.miss_ratio.value * (1 + changed) / 10.0, rel=1e-8, abs=1e-9
        )
        queue = station["queue_length"].value
        assert queue == pytest.approx(station["transfers"].value * station["wait"].value, rel=1e-6, abs=1e-12)


def test_a_device_is_busy_within_as_wide_a_range_as_its_transfers() -> None:
    """By the utilization law, busy = transfers x service time, at most 1; it stood at .511 to .511."""
    for seed in range(6):
        station = model.solve(BASE, random_settings(seed)).found.stations["p"]
        busy, transfers = station["utilization"], station["transfers"]
        assert busy.low / busy.value <= transfers.low / transfers.value + 1e-3
        assert busy.high / busy.value >= min(transfers.high / transfers.value, 1 / busy.value) - 1e-3


def test_more_of_anything_good_never_slows_a_system() -> None:
    rates = {
        "storage": model.whatif(BASE, ["storage.real=40GiB:130GiB:5GiB"]),
        "devices": model.whatif(BASE, ["paging.devices=1:30"]),
        "depth": model.whatif(BASE, ["paging.depth=1:8"]),
        "processors": model.whatif(BASE, ["processors.count=1:12"]),
    }
    for grid in rates.values():
        values = [each.throughput.value for each in grid.found]
        assert all(after >= before * (1 - 1e-9) for before, after in pairwise(values))


def test_unlimited_depth_is_a_delay() -> None:
    deep, unlimited = (model.solve(BASE, [f"paging.depth={d}"]).found for d in ("12", "unlimited"))
    assert deep.throughput.value == pytest.approx(unlimited.throughput.value, rel=1e-9)
    assert unlimited.stations["p"]["wait"].value == 0
    assert unlimited.stations["p"]["response"].value == pytest.approx(2e-3)


def test_a_grid_is_each_system_alone() -> None:
    grid = model.whatif(BASE, ["guests.count=9:13:2", "paging.depth=1:2"])
    for (count, depth), found in zip(grid.settings, grid.found, strict=True):
        alone = model.solve(BASE, [f"guests.count={count:g}", f"paging.depth={depth:g}"]).found
        for one, other in ((found.throughput, alone.throughput), (found.page_rate, alone.page_rate)):
            assert (one.value, one.low, one.high) == pytest.approx(
                (other.value, other.low, other.high), rel=1e-9
            )


@pytest.mark.parametrize(("key", "first"), [("processors.count", 2), ("processors.guaranteed", 1)])
def test_a_grid_of_shared_processors_is_each_system_alone(key: str, first: int) -> None:
    """The low end of a row is that of its own count and its own guarantee."""
    given = ["guests.touch_time=50us", "processors.count=4", "processors.guaranteed=2"]
    given = [text for text in given if not text.startswith(key)]
    grid = model.whatif(BASE, [f"{key}={first}:4:1"], given)
    for count, found in zip(range(first, 5), grid.found, strict=True):
        alone = model.solve(BASE, [*given, f"{key}={count}"]).found.throughput
        assert found.throughput.low == pytest.approx(alone.low, rel=1e-9)
        assert found.throughput.value == pytest.approx(alone.value, rel=1e-9)


def test_a_grid_asks_the_model_again_for_what_follows_from_a_number() -> None:
    """CP's own time is 3.17073 us for a page of a serialized XIV device, however many pages a transfer moves."""
    text = BASE.replace("service_time_ms = 2.0\npages_per_transfer = 10.0\ncp_system_us = 50.0",
                        'model = "paging-xiv-serialized"')  # fmt: skip
    for found in model.whatif(text, ["paging.pages_per_transfer=10:20:10"]).found:
        assert found.processors["cp_system_busy"].value == pytest.approx(
            3.17073e-6 * found.page_rate.value, rel=1e-5
        )


@pytest.mark.parametrize("writes", [0, 2.5])
def test_two_equal_groups_are_one(writes: float) -> None:
    """Twelve guests in one group, or five and seven: the lattice of two classes says the same."""
    base = BASE.replace("count = 12", f"count = 12\nchanged = {writes}")
    split = base.replace("count = 12", "count = 5") + '\n[[guests]]\nname = "b"\nlike = "a"\ncount = 7\n'
    one, two = model.solve(base).found, model.solve(split).found
    assert two.exact
    assert two.throughput.value == pytest.approx(one.throughput.value, rel=1e-9)
    assert two.stations["p"]["wait"].value == pytest.approx(one.stations["p"]["wait"].value, rel=1e-9)


@pytest.mark.long
def test_many_guests_by_the_linearizer_are_near_the_exact_answer() -> None:
    few = ["guests.virtual=0.1GiB", "storage.real=20GiB"]
    exact, near = (model.solve(BASE, [*few, f"guests.count={n}"]) for n in (399, 401))
    assert exact.found.exact
    assert not near.found.exact
    assert "Linearizer" in near.text()
    assert near.found.stations["p"]["transfers"].value == pytest.approx(
        exact.found.stations["p"]["transfers"].value, rel=0.01
    )


@pytest.mark.long
def test_a_grid_answers_each_row_as_if_it_were_asked_alone() -> None:
    """Networks small enough for the exact solution beside larger ones, and two that only differ in which is large."""
    ranges = ["guests[db].count=5:37:16", "guests[web].count=4:30:13"]
    grid = model.whatif(SEVERAL, ranges)
    assert {each.exact for each in grid.found} == {True, False}
    for (db, web), found in zip(grid.settings, grid.found, strict=True):
        alone = model.solve(SEVERAL, [f"guests[db].count={db}", f"guests[web].count={web}"]).found
        assert found.exact == alone.exact
        assert found.throughput.value == pytest.approx(alone.throughput.value, rel=1e-9)
        assert found.throughput.high == pytest.approx(alone.throughput.high, rel=1e-9)


POOL = """
[[pool]]
name = "lcu"
aliases = 8
service_time_ms = 1.3
inflation = 0.16
redrive_time_ms = 0.06
[[volumes]]
name = "data"
count = 8
pool = "lcu"
[[guests]]
name = "exerciser"
count = 24
io_to = "data"
think_time_ms = 0.15
"""

SEVERAL = """
[processors]
count = 4
[[guests]]
name = "db"
count = 40
touch_time_us = 20
miss_ratio = 0.2
changed = 1
pages_from = "slow"
[[guests]]
name = "web"
count = 30
touch_time_us = 60
miss_ratio = 0.1
changed = 0.5
pages_from = "quick"
[[paging]]
name = "slow"
devices = 8
service_time_ms = 3
pages_per_transfer = 10
[[paging]]
name = "quick"
devices = 2
service_time_ms = 0.8
pages_per_transfer = 5
"""


@pytest.mark.long
@pytest.mark.parametrize("few", [False, True])
def test_several_groups_that_write_are_the_closed_network_beside_their_own_writes(
    few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each write alone, those found as open requests give the same progress; in 60 solutions, once 300."""
    calls, solve, burst = [], GuestNetwork.throughput, GuestNetwork.burst

    def counted(self, at, loads):  # type: ignore[no-untyped-def]
        calls.append(len(at))
        return solve(self, at, loads)

    def none(self, group, load, at):  # type: ignore[no-untyped-def]
        found = burst(self, group, load, at)
        return replace(found, demand=0.0 * found.demand, copies=np.full(len(at), 1e-15))

    monkeypatch.setattr(GuestNetwork, "throughput", counted)
    settings = ["guests[db].count=5", "guests[web].count=4"] if few else []
    together = model.solve(SEVERAL, settings).found
    assert len(calls) < 60
    calls.clear()
    monkeypatch.setattr(GuestNetwork, "burst", none)
    found = model.solve(SEVERAL, settings).found
    assert found.exact == few
    assert len(calls) < 60
    assert together.stations["slow"]["wait"].value > found.stations["slow"]["wait"].value
    rates = np.array([found.guests[name].value for name in ("db", "web")])
    written = rates * [0.2 / 10, 0.1 / 5 * 0.5]
    steady = closed_network(
        [[20e-6, 0.02 * 3e-3, 0], [60e-6, 0, 0.02 * 0.8e-3]],
        [5, 4] if few else [40, 30],
        servers=[4, 1, 1],
        copies=[1, 8, 2],
        open_load=[0, written[0] * 3e-3 / 8, written[1] * 0.8e-3 / 2],
    )
    assert np.allclose(rates, steady.throughput, rtol=1e-8)


@pytest.mark.long
def test_hundreds_of_guests_that_page_to_a_pool_have_an_answer_without_warnings() -> None:
    """Once weights of hundreds of requesters at a pool underflowed. It works at its limit, which fewer guests reach."""
    pool = POOL.partition("[[volumes]]")[0] + BASE.partition("[[paging]]")[0].replace(
        "count = 12", "count = 420"
    )
    pool += '[[paging]]\nname = "p"\ndevices = 4\npages_per_transfer = 10\npool = "lcu"\n'
    many, fewer = (
        model.solve(pool, ["guests.changed=1", f"guests.count={n}", f"storage.real={n * 4}GiB"]).found
        for n in (420, 120)
    )
    assert many.stations["p"]["utilization"].value > 0.99
    assert many.stations["p"]["transfers"].value == pytest.approx(
        fewer.stations["p"]["transfers"].value, rel=0.02
    )


def test_touching_in_a_circle() -> None:
    """Any page stolen: m = 1 - exp(-m P / F), .331 in the published system; the oldest first: every visit misses."""
    xiv = model.template("xiv")
    random, oldest = (model.solve(xiv, [f"guests.touching={word}"]).found for word in
                      ("cyclic, random steal", "cyclic, oldest first"))  # fmt: skip
    assert random.miss_ratio.value == pytest.approx(0.331, abs=5e-4)
    assert oldest.miss_ratio.value == 1


def test_volumes_of_a_pool_are_the_pool() -> None:
    found = model.solve(POOL).found
    steady = alias_pool([8], volumes=8, population=3, think_time=0.15e-3, service_time=1.3e-3, inflation=0.16,
                        redrive_time=0.06e-3)  # fmt: skip
    assert found.throughput.value == pytest.approx(8 * float(steady.throughput[0, 0]), rel=1e-5)
    assert found.stations["data"]["transfers"].value == pytest.approx(
        float(steady.throughput[0, 0]), rel=1e-5
    )


@pytest.mark.long
def test_the_published_pool() -> None:
    """The three runs of the HyperPAV report, in-sample: totals within 1 %."""
    text = model.template("hyperpav").partition("[[pool]]")[2]
    alone = "[[pool]]" + text.partition("[[pool]]")[0]
    for aliases, rate in ((0, 5889), (8, 9979), (16, 13395)):
        found = model.solve(alone, [f"pool.aliases={aliases}"]).found
        assert found.io_rate.value == pytest.approx(rate, rel=0.01)
        assert found.io_rate.low <= rate <= found.io_rate.high


def test_volumes_with_aliases_of_their_own_and_an_uneven_number_of_guests() -> None:
    """Seven requesters on three volumes: one has three of them, two have two."""
    text = POOL.partition("[[volumes]]")[2].replace(
        "count = 8", "count = 3\naliases = 1\nservice_time_ms = 1.3"
    )
    text = ("[[volumes]]" + text).replace('pool = "lcu"\n', "").replace("count = 24", "count = 7")
    found = model.solve(text).found
    rates = [float(finite_source(n, 0.15e-3, 1.3e-3, 2).throughput) for n in (3, 2, 2)]
    assert found.io_rate.value == pytest.approx(sum(rates), rel=1e-6)


@pytest.mark.long
def test_minidisk_cache_and_processors_stand_in_the_cycle_of_an_io() -> None:
    text = POOL + "io_time_us = 100.0\nreads = 0.8\ncache_hit = 0.5\n[processors]\ncount = 64\n"
    found = model.solve(text).found
    assert found.devices["data"] * found.stations["data"]["transfers"].value == pytest.approx(
        0.6 * found.io_rate.value, rel=1e-4
    )
    time = 24 / found.io_rate.value
    response = found.stations["data"]["response"].value
    assert time == pytest.approx(0.15e-3 + 100e-6 + 0.6 * response, rel=0.02)  # the gap counts as neither
    assert found.processors["guest_busy"].value == pytest.approx(found.io_rate.value * 100e-6)


@pytest.mark.parametrize("asks", ["think_time_ms = 0.15", "io_rate = 200.0"])
def test_a_cache_that_answers_every_read_leaves_the_volumes_idle(asks: str) -> None:
    """No I/O comes, so nobody waits for a device and no volume bounds anything; once a refused "think time of inf"."""
    found = model.solve(POOL.replace("think_time_ms = 0.15", f"{asks}\ncache_hit = 1")).found
    assert found.io_rate.value == pytest.approx(24 / 0.15e-3 if "think" in asks else 24 * 200)
    assert found.stations["data"]["transfers"].value == 0
    assert "volumes data" not in dict(found.ranked())


def test_ios_that_come_at_random() -> None:
    text = POOL.replace("think_time_ms = 0.15", "io_rate = 200.0")
    found = model.solve(text).found
    steady = alias_pool(
        [8], volumes=8, arrival_rate=600.0, service_time=1.3e-3, inflation=0.16, redrive_time=0.06e-3
    )
    assert found.io_rate.value == pytest.approx(4800)
    served = float(steady.service_time[0, 0])
    assert found.stations["data"]["response"].value >= served
    with pytest.raises(InfeasibleError, match=r"9600|1\.2e\+05|carry"):
        model.solve(text, ["guests.io_rate=5000/s"])


@pytest.mark.long
def test_paging_volumes_with_a_pool() -> None:
    """No alias: serialized volumes. As many as guests: nothing waits. In between: in between."""
    pool = BASE.replace('name = "p"\n', 'name = "p"\npool = "x"\n') + '\n[[pool]]\nname = "x"\naliases = 0\n'
    rates = [model.solve(pool, [f"pool.aliases={n}"]).found.throughput.value for n in (0, 1, 2, 4, 12)]
    plain, deep = (
        model.solve(BASE, [f"paging.depth={d}"]).found.throughput.value for d in ("1", "unlimited")
    )
    assert rates[0] == pytest.approx(plain, rel=1e-9)
    assert rates[-1] == pytest.approx(deep, rel=1e-6)
    assert all(after >= before for before, after in pairwise(rates))


def test_shared_and_dedicated_processors() -> None:
    slow = ["processors.count=2", "guests.touch_time=50us"]
    shared, bounded = (model.solve(BASE, [*slow, *more]).found for more in ([], ["processors.guaranteed=1"]))
    assert bounded.throughput.value == pytest.approx(shared.throughput.value)
    assert bounded.throughput.low < 0.65 * bounded.throughput.value
    with pytest.raises(InfeasibleError, match="dedicated guests hold 12"):
        model.solve(BASE, ["guests.dedicated=true"])
    assert model.solve(BASE, ["guests.dedicated=true", "processors.count=14"]).found.throughput.value > 0


def test_no_end_lies_above_what_bounds_it() -> None:
    """Of what is certain: two processors, digits of a touch; with pages that the law misses its error is in both."""
    text = BASE.replace("count = 8", "count = 2", 1)
    found = model.solve(text, ["storage.real=200GiB", "guests.touch_time=2us"]).found
    assert found.throughput.value == found.throughput.high == pytest.approx(1e6)
    assert found.processors["guest_busy"].high == found.processors["total_busy"].high == pytest.approx(2)
    for settings in (
        [],
        ["storage.real=95GiB"],
        ["guests.count=50"],
        ["paging.devices=1"],
        ["guests.processors=8"],
    ):
        for each in (text, text.replace("touch_time_us = 2.0", "touch_time_us = 2.0\nmiss_ratio = 0.20")):
            found = model.solve(each, settings).found
            assert found.throughput.high <= min(bound.high for bound in found.bounds.values())
            assert all(number.high <= 2 for number in found.processors.values())
            assert found.stations["p"]["transfers"].high <= 1 / 1.95e-3 * (1 + 1e-9)
            assert found.throughput.low <= found.throughput.value <= found.throughput.high


def test_processors_bound_guests_whatever_cp_takes() -> None:
    """Times of CP that are not known can only lower the bound that the guests' own time sets."""
    text = BASE.replace("count = 8", "count = 2", 1)
    text = "\n".join(line for line in text.splitlines() if not line.startswith("cp_")) + "\n"
    answer = model.solve(text, ["storage.real=200GiB", "guests.touch_time=2us"])
    assert answer.bottleneck[0] == "processors"
    assert answer.found.bounds["processors"].value == pytest.approx(1e6)
    (note,) = (note for note in answer.notes if "processor times that are known" in note)
    assert note.startswith("Processors busy have no number without guests[a].cp_charged_us, paging[")


def test_cp_that_takes_nearly_all_of_a_processor() -> None:
    """The loop asks for far less of the processor than is left; once weights overflowed, and it did not settle."""
    text = BASE.replace("count = 8", "count = 1", 1).replace(
        "cp_system_us = 50.0", "cp_system_us = 30.0\ndepth = 8"
    )
    text = text.replace("count = 12", "count = 46\nprocessors = 2").replace("devices = 4", "devices = 3")
    found = model.solve(
        text, ["storage.real=325GiB", "guests.touch_time=0.5us", "paging.service_time=1ms"]
    ).found
    assert found.processors["total_busy"].value == pytest.approx(1, abs=1e-6)
    assert found.bounds["processors"].value == pytest.approx(found.throughput.value, rel=1e-6)


@pytest.mark.long
def test_transfers_of_others_at_a_device_that_no_guest_waits_for() -> None:
    """Two groups that miss nothing, by the Linearizer; once a traceback."""
    text = BASE + "depth = 8\nother_transfers = 500\n"
    guests = text[text.index("[[guests]]") : text.index("[[paging]]")]
    text += guests.replace('"a"', '"b"')
    found = model.solve(text, ["storage.real=900GiB", "guests.count=40"]).found
    alone = mmc(125.0, 2e-3, 8)
    assert not found.exact and found.miss_ratio.value == 0
    assert found.stations["p"]["queue_length"].value == pytest.approx(float(alone.queue_length), abs=1e-9)
    assert found.stations["p"]["utilization"].value == pytest.approx(125.0 * 2e-3 / 8)


@pytest.mark.parametrize("depth", ["1", "3", "unlimited"])
def test_devices_and_volumes_that_no_guest_uses(depth: str) -> None:
    """Transfers of others are an open queue, one that nobody queues at included; idle volumes warn of nothing."""
    text = POOL.replace("think_time_ms = 0.15", "io_rate = 20.0")
    text += '[[volumes]]\nname = "idle"\ncount = 2\nservice_time_ms = 1.3\n'
    text += BASE[BASE.index("[[paging]]") :].replace("[[paging]]", "[[paging]]\nother_transfers = 1200")
    station = model.solve(text, [f"paging.depth={depth}"]).found.stations["p"]
    waiting = 0.0 if depth == "unlimited" else float(mmc(300.0, 2e-3, int(depth)).queue_length)
    assert station["queue_length"].value == pytest.approx(waiting, rel=1e-9)
    assert station["response"].value == pytest.approx(2e-3 + waiting / 300, rel=1e-9)
    if depth == "1":
        pool = text.replace('name = "p"', 'name = "p"\npool = "x"') + '[[pool]]\nname = "x"\naliases = 0\n'
        (none, some) = (
            model.solve(pool, [f"pool.aliases={n}"]).found.stations["p"]["wait"].value for n in (0, 3)
        )
        assert none == pytest.approx(station["wait"].value, rel=1e-4)  # rates end at some length
        assert 0 < some < none / 2


def test_processor_times_grow_with_the_processors() -> None:
    text = BASE.replace("count = 8\n", 'count = 12\nmeasured = 4\nmodel = "processors"\n', 1)
    plain, grown = model.solve(BASE).found, model.solve(text).found
    each = [f.processors["guest_busy"].value / f.throughput.value for f in (plain, grown)]
    assert each[1] > each[0]


def unlike_guests(people: list[int], think: list[float], servers: int) -> tuple[list[float], float]:
    """I/Os of each group and I/Os at the volume, of one volume whose service takes 1, by the product form."""

    def weights(people: list[int]) -> np.ndarray:
        terms = np.ones(1)
        for n, z in zip(people, think, strict=True):
            own = [z ** (n - k) / factorial(n - k) / factorial(k) for k in range(n + 1)]
            terms = np.convolve(terms, own)
        at = np.arange(len(terms))
        served = np.cumprod(np.maximum(np.minimum(at, servers), 1))
        return terms * [factorial(k) for k in at] / served

    whole = weights(people)
    fewer = ([n - (j == k) for j, n in enumerate(people)] for k in range(len(people)))
    present = float((whole * np.arange(len(whole))).sum() / whole.sum())
    return [float(weights(each).sum() / whole.sum()) for each in fewer], present


@pytest.mark.long
def test_unlike_guests_on_one_volume_are_within_their_ranges() -> None:
    """Guests that are often at a volume meet fewer others there than the rest does; one mean for all: 30 % off."""
    rng, within, off = np.random.default_rng(31), [], []  # of seeds 31 to 36 92 to 97 % are within
    for _ in range(60):
        people = rng.choice([1, 1, 2, 4, 8], rng.integers(2, 4)).tolist()
        think, aliases = (10 ** rng.uniform(-1, 1.3, len(people))).tolist(), int(rng.integers(0, 4))
        guests = "".join(
            f'[[guests]]\nname = "{k}"\ncount = {n}\nio_to = "v"\nthink_time_ms = {z:.9f}\n'
            for k, (n, z) in enumerate(zip(people, think, strict=True))
        )
        volume = f'[[volumes]]\nname = "v"\ncount = 1\naliases = {aliases}\nservice_time_ms = 1.00000000\n'
        found = model.solve(volume + guests).found
        rates, present = unlike_guests(people, think, 1 + aliases)
        station = found.stations["v"]
        pairs = [(number, 1e3 * rate) for number, rate in zip(found.guests.values(), rates, strict=True)]
        pairs.append((station["response"], 1e-3 * present / sum(rates)))
        assert station["transfers"].value == pytest.approx(sum(each.value for each in found.guests.values()))
        within += [number.low <= right <= number.high for number, right in pairs]
        off += [abs(number.value / right - 1) for number, right in pairs]
        held = station["transfers"].value * station["response"].value
        assert held == pytest.approx(station["queue_length"].value + held * 1e-3 / station["response"].value)
    assert np.mean(within) > 0.9
    assert np.median(off) < 0.004
    assert np.quantile(off, 0.9) < 0.04


def machine_repair(people: int, think: float, service: float, servers: int) -> float:
    """Throughput of M/M/c//N, summed up term by term."""
    terms = [1.0]
    for n in range(1, people + 1):
        terms.append(terms[-1] * (people - n + 1) / think * service / min(n, servers))
    busy = sum(term * min(n, servers) for n, term in enumerate(terms))
    return busy / sum(terms) / service


@pytest.mark.parametrize(
    ("people", "virtual", "real"), [(8, 1, 4), (8, 1, 1), (12, 3, 3), (5, 2, 7), (3, 3, 5), (2, 4, 9)]
)
def test_requesters_wait_for_the_virtual_processors_of_their_guest(
    people: int, virtual: int, real: int
) -> None:
    """As if each had its own, 8 requesters of one virtual processor did 8 times what it can."""
    volume = '[[volumes]]\nname = "v"\ncount = 1\naliases = 40\nservice_time_ms = 1.00000000\n'
    guest = f"count = 1\nprocessors = {virtual}\nrequesters = {people}\n"
    guest += "io_time_us = 700.00000\nthink_time_ms = 2.00000000\n"
    text = f'[processors]\ncount = {real}\n[[guests]]\nname = "g"\nio_to = "v"\n{guest}{volume}'
    found = model.solve(text).found
    assert found.throughput.value == pytest.approx(machine_repair(people, 3e-3, 0.7e-3, virtual), rel=1e-6)
    assert found.throughput.value <= found.bounds["virtual processors"].value


def crowded_guests(
    groups: list[tuple[int, int, int, float, float]], processors: int, seed: int, ends: int
) -> list[float]:
    """Units a second of each group: guests, requesters and virtual processors of one, time on a processor, away."""
    rng, done, now = np.random.default_rng(seed), np.zeros(len(groups)), 0.0
    kind = np.repeat(np.arange(len(groups)), [count for count, *_ in groups])
    people, virtual, service, away = (np.array([each[k] for each in groups])[kind] for k in (1, 2, 3, 4))
    ready, begun = np.zeros(kind.size), 0.0
    for end in range(ends):
        if end == ends // 5:
            done, begun = np.zeros(len(groups)), now
        running = np.minimum(ready, virtual)
        rates = np.concatenate(
            [(people - ready) / away, running / service * min(1.0, processors / max(running.sum(), 1.0))]
        )
        edges = np.cumsum(rates)
        now += rng.exponential(1.0 / edges[-1])
        which = int(np.searchsorted(edges, rng.random() * edges[-1]))
        k = which % kind.size
        ready[k] += 1 if which < kind.size else -1
        done[kind[k]] += which >= kind.size
    return [float(each / (now - begun)) for each in done]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_guests_share_processors_with_those_virtual_ones_that_run(seed: int) -> None:
    """Simulated; of 50 random systems the median error is .3 %, the 90 % quantile 1.1 %, the worst 11 %."""
    rng = np.random.default_rng([seed, 60])
    groups = [
        (
            int(rng.integers(1, 4)), int(virtual * rng.choice([1, 2, 4])), virtual,
            10 ** rng.uniform(-4, -3), 10 ** rng.uniform(-3, -2),
        )
        for virtual in rng.integers(1, 4, 2).tolist()
    ]  # fmt: skip
    processors = int(rng.integers(1, 5))
    text = f"[processors]\ncount = {processors}\n" + "".join(
        f'[[guests]]\nname = "{k}"\ncount = {count}\nprocessors = {virtual}\nrequesters = {people}\nio_to = "v{k}"\n'
        f"io_time_us = {1e6 * service:.9f}\nthink_time_ms = {1e3 * away:.9f}\n"
        f'[[volumes]]\nname = "v{k}"\ncount = 1\naliases = 100\nservice_time_ms = 0.001000000\n'
        for k, (count, people, virtual, service, away) in enumerate(groups)
    )
    found = [each.value for each in model.solve(text).found.guests.values()]
    wanted = crowded_guests([(*group[:4], group[4] + 1e-6) for group in groups], processors, seed, 60_000)
    np.testing.assert_allclose(found, wanted, rtol=0.04)


@pytest.mark.long
def test_two_systems_whose_volumes_or_pools_have_other_names_are_compared() -> None:
    """A name that the first system does not have cannot be put into it alone; once tracebacks."""
    for old in ("data", "lcu"):
        pair = model.compare(model.solve(POOL), model.solve(POOL.replace(f'"{old}"', '"other"')))
        assert {effect for *_, effect in pair.inputs} == {None}
        assert "reaches 1 times the throughput" in pair.headline


def test_more_groups_than_an_answer_holds_are_refused() -> None:
    """Of 200 groups an array of 97 GiB was asked for."""
    each = BASE[BASE.index("[[guests]]") : BASE.index("[[paging]]")]
    with pytest.raises(InputError, match="groups of guests = 201: expected some 40 at most"):
        model.solve(BASE + "".join(each.replace('"a"', f'"{k}"') for k in range(200)))


def test_numbers_at_the_ends_of_what_can_be_written_have_an_answer() -> None:
    """Squares of bounds overflowed; a touch that takes next to nothing is one that takes nothing."""
    tiny, none = (model.solve(BASE, [f"guests.touch_time={t}us"]).found for t in ("1e-300", "0"))
    assert tiny.throughput.high == pytest.approx(none.throughput.high, rel=1e-9)


def writing_guests(
    groups: list[tuple[int, float, float]], devices: int, depth: int, other: float, seed: int, reads: int
) -> tuple[np.ndarray, np.ndarray]:
    """Reads a second of each group and their response; of guests, time between reads, writes that begin with a read.

    All go to random devices, first come first served with a mean of 1; `other` transfers a second come at random.
    """
    rng, now, number, heap = np.random.default_rng(seed), 0.0, 0, []
    kind = np.repeat(np.arange(len(groups)), [count for count, *_ in groups])
    queues, busy = [[] for _ in range(devices)], [0] * devices
    done, held, begun = np.zeros(len(groups)), np.zeros(len(groups)), 0.0

    def later(mean: float, guest: int, since: float = -1.0, device: int = -1) -> None:
        nonlocal number
        number += 1
        heapq.heappush(heap, (now + mean * rng.exponential(), number, guest, since, device))

    def send(guest: int) -> None:
        device = int(rng.integers(devices))
        if busy[device] == depth:
            queues[device].append((guest, now))
        else:
            busy[device] += 1
            later(1.0, guest, now, device)

    for guest, k in enumerate(kind):
        later(groups[k][1], guest)
    if other:
        later(1 / other, len(kind))
    for end in range(reads):
        if end == reads // 10:
            done, held, begun = np.zeros(len(groups)), np.zeros(len(groups)), now
        guest = -1
        while guest < 0 or guest == len(kind):
            now, _, guest, since, device = heapq.heappop(heap)
            if device >= 0:
                busy[device] -= 1
                if queues[device]:
                    busy[device] += 1
                    first, came = queues[device].pop(0)
                    later(1.0, first, came, device)
            elif guest == len(kind):
                send(-1)
                later(1 / other, guest)
            else:
                writes = groups[kind[guest]][2]
                for _ in range(1 + int(writes) + int(rng.random() < writes % 1)):
                    send(guest)
                    guest = -1
        done[kind[guest]] += 1
        held[kind[guest]] += now - since
        later(groups[kind[guest]][1], guest)
    return done / (now - begun), held / done


def solve_writing(
    groups: list[tuple[int, float, float]], devices: int, depth: int, other: float = 0.0
) -> model.SystemResult:
    """Solve the same, a mean of 1 ms."""
    text = "".join(
        f'[[guests]]\nname = "{k}"\ncount = {count}\nmiss_ratio = 1\ntouch_time_us = {1e3 * away:.9f}\n'
        f'changed = {writes}\npages_from = "p"\n'
        for k, (count, away, writes) in enumerate(groups)
    )
    text += f'[[paging]]\nname = "p"\ndevices = {devices}\ndepth = {depth}\nservice_time_ms = 1\n'
    return model.solve(f"{text}pages_per_transfer = 1\nother_transfers = {1e3 * other:.6f}\n").found


@pytest.mark.parametrize("devices", [1, 3])
@pytest.mark.parametrize("writes", [0.0, 0.5, 1.0, 2.5])
def test_pages_of_many_guests_come_in_bursts(devices: int, writes: float) -> None:
    """The wait of M^X/M/1 (Chaudhry and Templeton, 1983), of a read first in its burst and of all; once 39 % less."""
    few, count = np.floor(writes), 350
    pairs = (few + 1) * (2 * writes - few) / devices**2  # E[B (B - 1)] at one device
    for load in (0.1, 0.3, 0.4):
        away = count * (1 + writes) / (load * devices)
        found = solve_writing([(count, away, writes)], devices, 1)
        rate = found.guests["0"].value / 1e3
        busy, late = (1 + writes) * rate / devices, rate * pairs / 2
        assert count / rate - away == pytest.approx((1 + late) / (1 - busy), rel=0.01)
        queue = (busy + late) / (1 - busy) - busy
        assert found.stations["p"]["queue_length"].value == pytest.approx(queue, rel=0.01)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_page_writes_slow_the_guests_that_cause_them(seed: int) -> None:
    """Simulated; of 201 groups of 144 random systems throughput is within 8.6 % (median .5), response 12.4 (1.1)."""
    rng = np.random.default_rng([seed, 71])
    devices, depth, share = int(rng.choice([1, 1, 2, 3])), int(rng.choice([1, 2, 4])), rng.choice([0.0, 0.5])
    groups = []
    for load in rng.uniform(0.1, 0.6, 2):
        count, writes = int(rng.choice([1, 1, 2, 5])), float(rng.choice([0.3, 1.0, 2.0, 2.5]))
        groups.append((count, max(count * (1 + writes) / (devices * depth * load) - 1, 0.05), writes))
    other = float(share * devices * depth)
    found = solve_writing(groups, devices, depth, other)
    rates = np.array([each.value for each in found.guests.values()]) / 1e3
    wanted, response = writing_guests(groups, devices, depth, other, seed, 60_000)
    np.testing.assert_allclose(rates, wanted, rtol=0.04)
    counts, away, _ = np.array(groups).T
    np.testing.assert_allclose(counts / rates - away, response, rtol=0.1)


def test_a_wait_is_known_as_well_as_the_response_it_is_a_part_of() -> None:
    """Between them lies the service time, which is given; a range in proportion to a short wait missed simulations."""
    paging = model.solve(
        BASE.replace("= 2.0\ncp", "= 2.000000000\ncp").replace("_ms = 2.0", "_ms = 2.000000000")
    ).found.stations["p"]
    wait, response = paging["wait"], paging["response"]
    assert response.value - wait.value == pytest.approx(2e-3)
    assert wait.high - wait.value == pytest.approx(response.high - response.value, rel=0.05)
