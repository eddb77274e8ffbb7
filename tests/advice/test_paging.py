"""How many paging devices: the fewest that do, and one less that does not."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.advice.paging import LARGEST_COUNT, paging_devices
from planner.advice.paging_capacity import Question, paging_capacity
from planner.advice.paging_load import PAGING_KINDS, Load, _Dealt, carried_by, fewest, kinds, meets, outcome
from planner.calibrate.error_bar import interval
from planner.devices import PagingDevice
from planner.errors import InfeasibleError, InputError
from planner.queueing import mmc
from planner.queueing.network import mva
from planner.units import readable
from tests.brief import examples

PUBLISHED = Load(page_rate=225_000.0, guests=20, target=4e-3)
DEVICES = {kind.name: kind.device for kind in kinds()}


def test_the_published_configuration_is_found_again() -> None:
    """20 guests at 225,000 pages/s had 20 concurrent devices; the law is fitted to one of them."""
    found = {choice.kind.name: choice for choice in paging_devices(PUBLISHED).choices}
    assert list(found) == list(PAGING_KINDS)
    at = found["xiv-concurrent"].outcome
    assert at is not None
    assert at.count == 20
    assert at.utilization == pytest.approx(1.0, abs=1e-4)
    assert at.response_time == pytest.approx(2 / 571.9, rel=1e-3)
    assert found["xiv-concurrent"].processors == pytest.approx(1.616 + 0.094, abs=1e-3)


@examples(40)
@given(st.sampled_from(PAGING_KINDS), st.floats(100, 400_000), st.integers(1, 200), st.floats(1.01, 5))
def test_the_answer_meets_its_target_and_one_less_does_not(
    kind: str, rate: float, guests: int, slack: float
) -> None:
    device = DEVICES[kind]
    load = Load(page_rate=rate, guests=guests, target=slack * device.service_time)
    at = fewest(device, load)
    if at is None:
        assert 2 * guests * device.pages_per_transfer / device.service_time < rate * (1 + 1e-9)
        return
    assert load.target is not None
    assert at.response_time <= load.target * (1 + 1e-9)
    if at.count > 1:
        assert outcome(device, load, at.count - 1).response_time > load.target * (1 - 1e-9)


@pytest.mark.long
@examples(40)
@given(st.sampled_from(PAGING_KINDS), st.floats(100, 400_000), st.floats(1.01, 5))
def test_random_pages_too(kind: str, rate: float, slack: float) -> None:
    device = DEVICES[kind]
    load = Load(page_rate=rate, target=slack * device.service_time)
    at = fewest(device, load)
    assert at is not None
    assert at.count >= carried_by(device, load)
    assert load.target is not None
    assert at.response_time <= load.target
    if at.count > 1:
        assert outcome(device, load, at.count - 1).response_time > load.target


@examples(30)
@given(st.integers(1, 40), st.integers(1, 60), st.floats(0.05, 0.999))
def test_guests_obey_littles_law(guests: int, count: int, share: float) -> None:
    device = PagingDevice(service_time=3e-3, pages_per_transfer=10, queue_depth=2)
    most = min(count, 2 * guests) * device.closed(max(1, 2 * guests // min(count, 2 * guests))).page_rate
    load = Load(page_rate=share * float(most), guests=guests)
    at = outcome(device, load, count)
    transfers = load.page_rate / device.pages_per_transfer
    assert at.requests * count == pytest.approx(transfers * at.response_time, rel=1e-6)
    assert at.utilization == pytest.approx(transfers * device.service_time / (2 * count), rel=1e-6)


def test_response_falls_with_more_devices() -> None:
    times = [outcome(DEVICES["xiv-serialized"], PUBLISHED, count).response_time for count in range(37, 41)]
    assert times == sorted(times, reverse=True)
    assert times[-1] == pytest.approx(DEVICES["xiv-serialized"].service_time)


def test_the_range_holds_90_percent_of_the_error_of_the_law() -> None:
    answer = paging_devices(replace(PUBLISHED, guests=40, target=None))
    choice = next(choice for choice in answer.choices if choice.kind.name == "xiv-concurrent")
    assert choice.outcome is not None
    # 20 always busy; the error of the law is 9.5 %, so 90 % are 1.645 times as much, 15.6 %: 17.3 and 23.7 devices.
    assert (choice.least, choice.outcome.count, choice.most) == (18, 20, 24)
    one_more = next(
        choice for choice in paging_devices(PUBLISHED).choices if choice.kind.name == "xiv-concurrent"
    )
    assert one_more.span == "17 or more, or none"  # 20 guests keep no more than the published rate under way


@pytest.mark.long
def test_nothing_is_called_cheapest_across_machines() -> None:
    load = Load(page_rate=1000.0, guests=40)
    answer = paging_devices(load)
    assert answer.cheapest is None
    assert "--cpu-speed" in answer.text()
    scaled = paging_devices(load, speeds={"2964-NC9": 10.0})
    assert scaled.cheapest == "eckd"  # 11.55 us a page against 36 and 75
    assert paging_devices(load, speeds={"2964-NC9": 1.0}).cheapest == "xiv-serialized"
    assert paging_devices(load, names=["xiv-serialized", "xiv-concurrent"]).cheapest == "xiv-serialized"


def test_processors_scale_with_the_speed() -> None:
    plain, scaled = (paging_devices(PUBLISHED, speeds=speeds) for speeds in ({}, {"2964-NC9": 3.0}))
    for before, after in zip(plain.choices, scaled.choices, strict=True):
        assert after.processors == pytest.approx(before.processors * (3 if "xiv" in before.kind.name else 1))


def test_beyond_what_was_measured_it_warns() -> None:
    few = paging_devices(replace(PUBLISHED, guests=60, target=None), names=["xiv-concurrent"])
    assert "at most 2 were measured" in " ".join(few.notes)
    assert not paging_devices(PUBLISHED, names=["xiv-concurrent"]).choices[0].warning


def test_a_page_rate_that_nothing_carries_says_how_many_would() -> None:
    with pytest.raises(
        InfeasibleError,
        match=r"more than 255 devices of any .*; at least [\d,]+ eckd, .* xiv-concurrent are needed",
    ):
        paging_devices(Load(page_rate=1e9))
    with pytest.raises(InfeasibleError, match="than 3 devices of any kind can carry; at least 37 xiv-s"):
        paging_devices(PUBLISHED, names=["xiv-serialized"], count=3)


def test_too_few_guests_are_told_how_many_would_do() -> None:
    load = Load(page_rate=10_000.0, guests=1)
    with pytest.raises(InfeasibleError, match="1 guest can drive at most 2,930 pages/s, 4 guests"):
        paging_devices(load, names=["eckd"])
    assert fewest(DEVICES["eckd"], replace(load, guests=4)) is not None
    assert fewest(DEVICES["eckd"], replace(load, guests=3)) is None


def test_a_target_below_the_service_time_is_told() -> None:
    with pytest.raises(InfeasibleError, match="without any wait, the target is shorter"):
        paging_devices(Load(page_rate=1000.0, target=0.1e-3))


@pytest.mark.long
def test_too_many_devices_are_no_answer() -> None:
    answer = paging_devices(Load(page_rate=225_000.0))
    choice = next(each for each in answer.to_dict()["devices"] if each["kind"] == "emulated-fba")
    assert not choice["feasible"]
    assert f"the search ends at {LARGEST_COUNT}" in choice["reason"]
    assert choice["count"] is None


@pytest.mark.long
def test_given_devices_that_miss_the_target_are_told_what_would_do() -> None:
    answer = paging_devices(replace(PUBLISHED, target=3.6e-3), count=37)
    choice = next(choice for choice in answer.choices if choice.kind.name == "xiv-serialized")
    assert not choice.feasible
    assert choice.reason.startswith("response 3.82 ms with 37 devices; ")
    assert "devices would be needed" in choice.reason
    one = paging_devices(Load(page_rate=1000.0), count=1)
    assert any("with 1 device; " in choice.reason for choice in one.choices)


@pytest.mark.parametrize("names", [["tape"], ["eckd", "drum"]])
def test_an_unknown_kind_lists_the_known_ones(names: list[str]) -> None:
    with pytest.raises(InputError, match="one of eckd, emulated-fba, xiv-serialized, xiv-concurrent"):
        paging_devices(PUBLISHED, names=names)


def test_an_unknown_machine_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="one of 2064-109, 2964-NC9"):
        paging_devices(PUBLISHED, speeds={"9672": 1.0})


@pytest.mark.first(1)
@pytest.mark.parametrize("guests", [None, 20])
def test_the_most_pages_meet_the_target_and_a_little_more_does_not(guests: int | None) -> None:
    answer = paging_capacity(Question(devices=8, guests=guests, target=4e-3))
    for row in answer.feasible:
        load = Load(page_rate=row.amount or 0.0, guests=guests, target=4e-3)
        assert outcome(row.kind.device, load, 8).response_time <= 4e-3 * (1 + 1e-9)
        assert (
            outcome(row.kind.device, replace(load, page_rate=1.001 * load.page_rate), 8).response_time > 4e-3
        )
        assert row.low < (row.amount or 0.0) < row.high


def test_the_most_guests_are_the_inverse_of_the_fewest_devices() -> None:
    """So many guests need no more than the devices that there are; one guest more needs one device more."""
    answer = paging_capacity(Question(devices=20, per_guest=2000.0, target=4e-3))
    assert len(answer.feasible) == 3
    for row in answer.feasible:
        guests = int(row.amount or 0)
        for more, enough in ((0, True), (1, False)):
            load = Load(page_rate=2000.0 * (guests + more), guests=guests + more, target=4e-3)
            found = fewest(row.kind.device, load)
            assert (found is not None and found.count <= 20) == enough


def test_what_devices_cannot_do_says_what_would_help() -> None:
    with pytest.raises(InfeasibleError, match="without any wait, the target is shorter"):
        paging_capacity(Question(devices=8, target=0.1e-3))
    with pytest.raises(
        InfeasibleError, match="one guest can drive at most 2,930 pages/s, fewer than 100,000"
    ):
        paging_capacity(Question(devices=8, per_guest=1e5), names=["eckd"])
    with pytest.raises(InfeasibleError, match="one guest of 2,800 pages/s needs 2 devices"):
        paging_capacity(Question(devices=1, per_guest=2800.0), names=["eckd"])
    with pytest.raises(InputError, match="the number of guests is the answer"):
        paging_capacity(Question(devices=8, guests=3, per_guest=100.0))


@pytest.mark.parametrize("asked", [{"guests": 36}, {"guests": None}, {"per_guest": 1e-8}])
@pytest.mark.parametrize("kind", PAGING_KINDS)
def test_no_page_rate_however_small_is_as_quick_as_less_than_one_transfer(
    kind: str, asked: dict[str, Any]
) -> None:
    device = kinds([kind])[0].device
    with pytest.raises(InfeasibleError, match="without any wait, the target is shorter"):
        paging_capacity(Question(devices=2, target=device.service_time * (1 - 1e-9), **asked), names=[kind])
    if "guests" in asked:
        with pytest.raises(InfeasibleError, match="without any wait, the target leaves no time for one"):
            paging_capacity(Question(devices=2, target=device.service_time, **asked), names=[kind])


def test_a_target_just_above_the_service_time_leaves_a_wait_that_small() -> None:
    """One request finds the device busy as often as the 35 others keep it so: W = S u 35 / 36."""
    (kind,) = kinds(["eckd"])
    for over in (1e-3, 1e-6, 1e-9):
        asked = Question(devices=2, guests=36, target=kind.device.service_time * (1 + over))
        (row,) = paging_capacity(asked, names=["eckd"]).rows
        assert row.amount == pytest.approx(2 * kind.device.capacity * over * 36 / 35, rel=2e-3)


@pytest.mark.parametrize("number", [0, -1, math.nan, math.inf])
def test_what_is_no_load_is_refused(number: float) -> None:
    for wrong in (
        lambda: Load(page_rate=number), lambda: Load(page_rate=1.0, guests=number),  # type: ignore[arg-type]
        lambda: Load(page_rate=1.0, target=number), lambda: Question(devices=number),  # type: ignore[arg-type]
        lambda: Question(devices=1, per_guest=number),
        lambda: paging_devices(Load(page_rate=1.0), count=number),  # type: ignore[arg-type]
        lambda: paging_devices(Load(page_rate=1.0), speeds={"2064-109": number}),
    ):  # fmt: skip
        with pytest.raises(InputError):
            wrong()
    assert len(paging_devices(Load(page_rate=1.0), names="eckd").choices) == 1


def test_ranges_hold_the_error_of_the_service_time_against_the_target() -> None:
    """90 % of the service times lie between 3.38 and 3.61 ms: 3.51 ms may leave no time for any wait."""
    (row,) = paging_capacity(Question(devices=20, target=3.51e-3), names=["xiv-concurrent"]).rows
    model = kinds(["xiv-concurrent"])[0].model
    end = model.parameters["service_time_s"].low
    assert end is not None
    alone = replace(row.kind.device, service_time=end)
    assert row.low == 0
    assert meets(alone, Load(page_rate=44_000.0, target=3.51e-3), 20)
    assert row.high > 44_000


@pytest.mark.parametrize("guests", [None, 140])
def test_a_count_is_in_the_range_where_the_response_may_meet_the_target(guests: int | None) -> None:
    load = Load(page_rate=100_000.0, guests=guests, target=4.2e-3)
    (choice,) = paging_devices(load, names=["xiv-serialized"]).choices
    assert choice.least is not None
    for count, holds in ((choice.least - 1, False), (choice.least, True)):
        response = choice.kind.within(load, count)[1]
        assert (response.low <= 4.2e-3 * (1 + 1e-9)) == holds


@pytest.mark.parametrize("name", ["eckd", "xiv-concurrent"])
@pytest.mark.parametrize("share", [0.3, 0.9, 0.97])
def test_the_range_of_a_device_is_that_of_predict_and_of_drawn_service_times(name: str, share: float) -> None:
    """A busy device feels an error of its service time more: `predict` had an error of the response."""
    (kind,) = kinds([name])
    load = Load(page_rate=share * kind.device.capacity)
    asked = {"outstanding": 1.0, "think_time": 0.0, "arrival_rate": load.page_rate, "scv": 1.0}
    ranges = [
        np.array([end.item() for end in interval(key, kind.model, [asked])])
        for key in ("utilization", "response")
    ]
    for found, own in zip(ranges, kind.within(load, 1), strict=True):
        assert found == pytest.approx([*own], rel=1e-12)
    known = kind.model.uncertainty
    assert known is not None
    random = np.random.default_rng(3002)
    drawn = random.multivariate_normal(known.center, known.covariance, 20_000)
    pages = dict(zip(known.parameters, drawn.T, strict=True)).get(
        "pages_per_transfer", kind.device.pages_per_transfer
    )
    service = drawn[:, 0] * (1 + kind.model.fit.model_error * random.standard_normal(len(drawn)))
    queued = mmc(load.page_rate / pages, service, kind.device.queue_depth)
    for found, values in zip(ranges, (queued.utilization, queued.response_time), strict=True):
        assert found[[0, 2]] == pytest.approx(
            np.quantile(values, (0.05, 0.95), method="inverted_cdf"), rel=0.08
        )


def test_installed_devices_are_shown_with_their_range() -> None:
    answer = paging_devices(Load(page_rate=100_000.0, target=4.1e-3), names=["xiv-serialized"], count=140)
    assert "response 4 ms (3.32 to 4.71, 90 %), needed 51 to 3,710" in answer.headline


@pytest.mark.long
def test_requests_at_random_devices_are_named_with_what_they_carry() -> None:
    notes = " ".join(paging_devices(PUBLISHED).notes)
    # N / (N + M - 1) = 40 / 76 of 37 devices of one place
    device = DEVICES["xiv-serialized"]
    assert f"at most {readable(40 / 76 * 37 * device.capacity)} pages/s on 37 xiv-serialized" in notes
    assert "evenly distributed" in " ".join(paging_capacity(Question(devices=20, guests=20)).notes)
    assert "evenly distributed" not in " ".join(paging_capacity(Question(devices=20)).notes)


@pytest.mark.parametrize(
    ("places", "devices", "requests", "think"), [(1, 7, 40, 0.0), (2, 4, 9, 5e-3), (3, 1, 60, 0.1)]
)
def test_requests_at_random_devices_are_a_product_form_network(
    places: int, devices: int, requests: int, think: float
) -> None:
    device = PagingDevice(service_time=1e-3, queue_depth=places)
    exact = mva(np.full(devices, 1e-3 / devices), requests, think, servers=places)
    load = Load(page_rate=float(exact.throughput[-1]) * (1 - 1e-9), guests=1)
    dealt = _Dealt(device=device, load=load, count=devices, requests=requests)
    assert dealt.at_random(think) == pytest.approx(float(exact.throughput[-1]), rel=1e-7)
    assert dealt.random_response == pytest.approx(float(exact.response_time[-1]), rel=1e-4)


def test_a_target_missed_at_random_devices_is_named() -> None:
    """An event simulation of 20 guests on four devices at random has 5.3 ms, evenly dealt 3.9."""
    found = paging_devices(Load(page_rate=2000, guests=20, target=4e-3), names=["emulated-fba"])
    assert "at random devices they queue more: 5.4 ms on 4 emulated-fba." in " ".join(found.notes)
    single = paging_devices(Load(page_rate=100, guests=1, target=4e-3), names=["emulated-fba"])
    assert getattr(single.choices[0].outcome, "count", 0) == 1 and "at random devices" not in " ".join(
        single.notes
    )


@pytest.mark.long
def test_random_devices_have_a_number_only_where_it_is_that_of_their_service() -> None:
    """Requests at 14 random devices carry 17,075 pages/s at scv .1, 15,536 at 1 and 10,398 at 9 (simulated)."""
    notes = {
        scv: paging_devices(Load(page_rate=20_000.0, guests=20, target=4e-3, scv=scv), names=["eckd"]).notes[
            -1
        ]
        for scv in (0.1, 1.0, 9.0)
    }
    assert notes[1.0].endswith("at most 15,500 pages/s on 14 eckd.")
    assert notes[0.1] == notes[9.0] and "known for a scv of 1 only" in notes[9.0]


def test_counts_of_a_slider_are_counts_and_what_is_no_number_is_refused() -> None:
    """20.0 guests ended with a TypeError; 20.0 devices read "20.0 eckd"."""
    load = Load(page_rate=20_000.0, guests=20.0, target=4e-3)  # type: ignore[arg-type]
    assert "20 eckd" in paging_devices(load, count=20.0).headline  # type: ignore[arg-type]
    for bad in ({"page_rate": None}, {"page_rate": 1.0, "guests": [1, 2]}, {"page_rate": 1.0, "scv": [1, 2]}):
        with pytest.raises(InputError, match="expected one number"):
            Load(**bad)


def test_very_many_guests_are_answered_at_once() -> None:
    """The note on random devices alone took four minutes."""
    assert paging_devices(Load(page_rate=3000, guests=100_000), names=["eckd"]).choices[0].outcome
