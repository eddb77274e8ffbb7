"""The bracket of a service time that was not measured, against event simulations whose service time is known."""

from __future__ import annotations

import heapq
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import InputError
from planner.interval import Interval
from planner.measurements import intervals, pool_runs, volume_runs
from planner.measurements.ends import BUNCHED, service_bracket, with_service
from planner.measurements.read import read
from planner.sizing import aliases
from planner.sizing import aliases_of_runs as answer_to
from tests.checkout import ROOT
from tests.demand import simulation

TICK = 0.01  # s, of Linux on IBM Z


def exactly(value: float) -> Interval:
    """A number without error, of one volume."""
    return Interval(*(np.array([value]) for _ in range(3)))


def simulated(
    *, devices: int, service: float, rate: float, batch: float = 1.0, requesters: int = 0, scv: float = 1.0, seed: int,
    ios: int = 12_000,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Rate, response time [s], share of time with an I/O present, and share of ticks in which one begins or ends.

    Open arrivals in geometric batches, or requesters that keep one I/O outstanding and think between two; gamma service
    times; first come, first served on several devices. An own loop over events: it shares nothing with the planner.
    """
    random = np.random.default_rng(seed)
    events: list[tuple[float, int, float]] = []  # time, kind (0 arrival, 1 end), arrival time
    think = requesters / rate
    for _ in range(requesters):
        heapq.heappush(events, (random.exponential(think), 0, 0.0))
    if not requesters:
        heapq.heappush(events, (random.exponential(batch / rate), 0, 0.0))
    queue: list[float] = []
    busy, present, last, under_way, total, done, now = 0, 0, 0.0, 0.0, 0.0, 0, 0.0
    ticks: set[int] = set()

    def begin(arrived: float) -> None:
        time = random.gamma(1 / scv, service * scv)
        heapq.heappush(events, (now + time, 1, arrived))

    while done < ios:
        now, kind, arrived = heapq.heappop(events)
        under_way += (now - last) * (present > 0)
        last = now
        ticks.add(int(now / TICK))
        if kind == 0:
            many = 1 if requesters else random.geometric(1 / batch)
            for _ in range(many):
                present += 1
                if busy < devices:
                    busy += 1
                    begin(now)
                else:
                    queue.append(now)
            if not requesters:
                heapq.heappush(events, (now + random.exponential(batch / rate), 0, 0.0))
        else:
            present -= 1
            done += 1
            total += now - arrived
            if queue:
                begin(queue.pop(0))
            else:
                busy -= 1
            if requesters:
                heapq.heappush(events, (now + random.exponential(think), 0, 0.0))
    return done / now, total / done, under_way / now, len(ticks) * TICK / now


CASES = [
    *(dict(rate=rate, batch=batch) for rate in (40.0, 400.0, 700.0) for batch in (1.0, 2.0, 2.9)),
    *(dict(rate=rate, requesters=people) for rate in (300.0, 2000.0, 1e5) for people in (1, 3, 8)),
    *(dict(rate=500.0, batch=batch, scv=scv) for batch in (1.0, 2.0) for scv in (0.25, 1.0)),
]


class TestLaw:
    @pytest.mark.long
    @pytest.mark.parametrize("devices", [1, 3])
    @pytest.mark.parametrize("exact", [True, False])
    def test_it_holds_the_truth(self, devices: int, exact: bool) -> None:
        """Random, batched and closed arrivals, with what kernels of either sort say of the utilization."""
        service, wide = 0.001, 0
        for seed, case in enumerate(CASES):
            scaled = {**case, "rate": case["rate"] * (1 if "requesters" in case else devices)}
            rate, response, used, ticked = simulated(devices=devices, service=service, seed=seed, **scaled)
            busy = exactly(used) if exact else Interval(*(np.array([end]) for end in (0.0, ticked, ticked)))
            found = service_bracket(
                exactly(rate), exactly(response), busy, aliases=devices - 1, shared=devices - 1
            )
            error = 0.04  # of 12,000 I/Os: of the mean of their service times, and of the queue's
            assert found.low[0] * (1 - error) <= service <= found.high[0] * (1 + error), (case, found)
            assert found.low[0] <= found.value[0] <= found.high[0]
            if exact and devices == 1:
                assert found.value[0] == pytest.approx(service, rel=error)
            wide += found.high[0] > 5 * found.low[0]
        assert wide <= len(CASES) // 4  # a bracket that holds everything says nothing

    @pytest.mark.parametrize("batch", [1.0, BUNCHED])
    @given(st.floats(0.01, 0.97))
    def test_the_ends_are_the_response_of_batches_solved_for_the_service_time(
        self, batch: float, load: float
    ) -> None:
        """R = b S / (1 - X S) with one device, inverted."""
        service, rate = 0.001, load / 0.001
        response = batch * service / (1 - load)
        nothing = exactly(np.nan)
        found = service_bracket(exactly(rate), exactly(response), nothing, aliases=0, shared=0)
        assert (found.value if batch == 1.0 else found.low)[0] == pytest.approx(service, rel=1e-9)

    @given(st.floats(1.0, 5000.0), st.floats(1e-5, 1.0), st.floats(0.001, 1.0), st.integers(0, 50))
    def test_ends_are_in_order_and_possible(
        self, rate: float, response: float, used: float, aliases: int
    ) -> None:
        for busy in (
            exactly(used),
            exactly(np.nan),
            Interval(np.zeros(1), np.array([used]), np.array([used])),
        ):
            found = service_bracket(
                exactly(rate), exactly(response), busy, aliases=aliases, shared=aliases / 3
            )
            assert 0 < found.low[0] <= found.value[0] <= found.high[0] <= response
            assert rate * found.high[0] <= (1 + aliases) * (1 + 1e-9)


def wait_of_batches(devices: int, used: float, batch: float, states: int = 4000) -> float:
    """Mean wait in M^X/M/c with geometric batches, in service times: its states, by flows up and down between two."""
    more, arrivals = 1.0 - 1.0 / batch, devices * used / batch
    shares, flow = [1.0], 1.0  # of the states below: with how many of a batch that comes there it goes above
    for n in range(1, states):
        shares.append(arrivals * flow / min(n, devices))
        flow = flow * more + shares[-1]
    present = np.array(shares) / sum(shares)
    return float(np.arange(states) @ present) / (devices * used) - 1.0


class TestSeveralDevices:
    @pytest.mark.parametrize("devices", [1, 2, 3, 6, 10])
    def test_ends_are_near_batches_on_several_devices(self, devices: int) -> None:
        """The value within 5 % of M/M/c; the lower end no higher than with batches of three, and near it where busy."""
        for used in (0.05, 0.2, 0.4, 0.6, 0.8, 0.9):
            nothing, rate = exactly(np.nan), exactly(devices * used / 0.001)
            for batch in (1.0, BUNCHED):
                response = exactly(0.001 * (1.0 + wait_of_batches(devices, used, batch)))
                found = service_bracket(rate, response, nothing, aliases=devices - 1, shared=devices - 1)
                if batch == 1.0:
                    assert found.value[0] == pytest.approx(0.001, rel=0.05 if devices > 1 else 1e-9)
                else:
                    assert 0.73e-3 < found.low[0] <= 0.001 * (1 + 1e-9)
                    assert devices == 1 or used < 0.8 or found.low[0] > 0.95e-3

    @pytest.mark.parametrize(("seed", "volumes", "shared"), [(1, 12, 5), (2, 6, 3), (3, 16, 6)])
    def test_the_value_is_near_the_service_time_of_volumes_that_share_aliases(
        self, seed: int, volumes: int, shared: int, tmp_path: Path
    ) -> None:
        """By an event simulation: as if each had only its part of the aliases, it was 6 to 20 % too short."""
        busy = np.linspace(0.1, 0.5, volumes)
        parts = np.array([[simulation.POISSON, load, 0.0, 0.0, 0.0] for load in busy / 0.001])
        services, owner = np.full(volumes, 0.001), np.arange(volumes)
        found = simulation.simulate(parts, owner, services, 1.0, 0.0, 0.0, shared, 100_000, seed)
        lines = [
            f"dasd{chr(97 + k)} {rate:.2f} 0.00 1.00 1.00 {(service + wait) * 1e3:.2f} 0.00 1.20 99.00"
            for k, (rate, service, _, wait) in enumerate(found.T)
        ]
        (tmp_path / "uids").write_text(
            "Bus-ID     Name     UID\n" + "".join(
                f"0.0.c2{k:02x}   {name:9}IBM.750000000TH031.c280.{unit}\n"
                for k, (name, unit) in enumerate(
                    [(f"dasd{chr(97 + v)}", f"{v:02x}") for v in range(volumes)] + [("alias", "xx")] * shared
                )
            )
        )  # fmt: skip
        head = iostat("1.00", "1.00", "1.00").decode().split("dasda")[0]
        (tmp_path / "io").write_text(head + "\n".join(lines) + "\n\n")
        ((pool,), _) = pool_runs(intervals(read(tmp_path / "io", tmp_path / "uids"))[-1])
        assert pool.run is not None
        mean = float(pool.run.io_rate.value @ pool.run.service.value / pool.run.io_rate.value.sum())
        assert mean == pytest.approx(0.001, rel=0.05)
        assert all(end.service.value.mean() < 0.001 * 1.02 for end in pool.run.ends[:1])


def iostat(rate: str, wait: str, util: str, release: str = "5.14.0", name: str = "dasda") -> bytes:
    """A single report of one disk."""
    return (
        f"Linux {release} (lnx1) \t2024-05-14 \t_s390x_\t(4 CPU)\n\n"
        "Device            r/s     w/s     rkB/s     wkB/s r_await w_await aqu-sz  %util\n"
        f"{name}  {rate}  0.00  1.00 1.00 {wait} 0.00 1.20 {util}\n\n"
    ).encode()


class TestAnswers:
    @pytest.mark.long
    def test_iostat_alone_is_answered_and_the_first_line_says_what_was_taken(self) -> None:
        """The published volume without aliases: 755/s, 3.7 ms; its 1.3 ms of service and its 2 aliases lie within."""
        answer = aliases(iostat("755.00", "3.70", "98.00"), kind="volume")
        (run,) = volume_runs(intervals(read(iostat("755.00", "3.70", "98.00")))[0])
        low, high = (end.service.value[0] for end in run.ends)
        assert low < 0.0013 * 0.98 < high <= 0.98 / 755 * 1.01  # and 98 % busy is 1.298 ms at most
        assert answer.range[0] <= 2 <= answer.range[1]
        assert (
            "Service time was not measured: " in answer.headline
            and answer.to_dict()["assumed"] in answer.headline
        )

    def test_a_kernel_that_counts_exactly_gives_the_service_time_itself(self) -> None:
        (run,) = volume_runs(intervals(read(iostat("755.00", "3.70", "98.00", "6.12.0")))[0])
        assert run.service.value[0] == pytest.approx(0.98 / 755) and not run.ends
        assert "ms by the other figures." in run.assumed

    @pytest.mark.long
    def test_a_queue_beside_the_response_tells_the_service_time(self) -> None:
        """Little's law: 4.1 ms less 1.84 / 700 s."""
        row = {"device": ["522A"], "io_rate": [700.0], "queued": [1.84], "aliases": [2]}
        row |= {"io_rate_resolution": [0.0], "queued_resolution": [0.0]}
        told, known = (
            aliases(
                pl.DataFrame(row | {f"{name}_ms": [value], f"{name}_resolution_ms": [0.0]}), kind="volume"
            )
            for name, value in (("response", 4.1), ("service", 4.1 - 1.84 / 0.7))
        )
        assert (told.recommended, told.range) == (known.recommended, known.range)
        assert told.rows.service_time[2] == pytest.approx(0.0041 - 1.84 / 700)
        with pytest.raises(
            InputError, match=r"response of 522A = 2.5 ms: expected above the wait, .* 2.629 ms"
        ):
            aliases(pl.DataFrame(row | {"response_ms": [2.5]}), kind="volume")

    @pytest.mark.long
    def test_the_range_holds_the_answers_at_both_ends(self) -> None:
        for rate, wait, util in (
            ("755.00", "3.70", "98.00"),
            ("50.00", "2.00", "30.00"),
            ("300.00", "9.00", "99.00"),
        ):
            source = iostat(rate, wait, util)
            (run,) = volume_runs(intervals(read(source))[0])
            answer = aliases(source, kind="volume")
            from planner.demand import DeviceModel

            device_model = DeviceModel.from_model("hyperpav")
            for end in run.ends:
                there = answer_to(end, device_model)
                assert answer.range[0] <= there.range[0] and there.range[1] <= answer.range[1]

    def test_a_service_time_that_is_given_is_taken(self) -> None:
        answer = aliases(iostat("755.00", "3.70", "98.00"), kind="volume", service="1.3ms")
        assert answer.assumed == "" and answer.recommended == 2
        with pytest.raises(InputError, match="these have measured ones"):
            with_service(read("data/hyperpav/522A-2-aliases.listing"), exactly(0.0013)[0])

    def test_a_disk_that_is_no_dasd_has_no_aliases(self) -> None:
        with pytest.raises(InputError, match="ECKD base device with I/O"):
            aliases(iostat("755.00", "3.70", "98.00", name="sda"), kind="volume")


def test_how_far_volumes_act_together_is_not_lost_where_the_service_time_is_not_measured(
    tmp_path: Path,
) -> None:
    members = tmp_path / "members.csv"
    members.write_text("device,role,pool,together\nC28A-C28B,base,1,50%\nC2FE,alias,1,\n", encoding="utf-8")
    names = {"dasda": "C28A", "dasdb": "C28B"}
    devices = read(ROOT / "docs/examples/iostat.json").devices.with_columns(
        device=pl.col("label").replace_strict(names, default=None)
    )
    measured = read(devices.filter(pl.col("device").is_not_null()), members)
    ((pool,), _) = pool_runs(intervals(measured)[-1])
    assert pool.run is not None and pool.run.assumed
    for run in (pool.run, *pool.run.ends):
        assert np.asarray(run.together).tolist() == [0.5, 0.5]
