"""Questions to a model of any kind: settings, grids, intervals, warnings beyond what was measured, open ends."""

from __future__ import annotations

import math
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import calibrate, whatif
from planner.devices import KINDS, ChannelProgram, DiskPath, PagingDevice, Processors
from planner.errors import InputError, ReportError
from planner.library import read_model
from planner.whatif.predict import _half

VOLUME = read_model("hyperpav-volume-runs")
POOL = read_model("hyperpav")
# One question to each kind that it was measured at.
ASKED = {
    "hyperpav-volume-runs": {"aliases": 2.0},
    "hyperpav": {"aliases": 8.0, "volumes": 8.0},
    "paging-xiv-concurrent": {"outstanding": 2.0},
    "disk-xedit-emulated-fba": {"mode": "cached", "hit_ratio": 0.0},
    "channel-program": {"bits": "64"},
    "processors": {"processors": 6.0},
}


def test_every_kind_is_asked_here() -> None:
    assert {read_model(name).kind for name in ASKED} == set(KINDS)


@cache
def asked(name: str) -> whatif.Prediction:
    return whatif.predict(read_model(name), ASKED[name])


@pytest.mark.parametrize("name", ASKED)
def test_every_number_lies_inside_its_interval(name: str) -> None:
    answer = asked(name)
    row = answer.to_dict()
    assert row.pop("notes") == list(answer.notes)
    assert answer.warnings == ()
    for shown in answer.figures:
        low, best, high = answer.values[shown.key][0]
        if np.isfinite(low):
            assert low <= best <= high, shown.key
            assert any(key.startswith(f"{shown.key}_low") for key in row)
    assert all(isinstance(value, (int, float, str)) for value in row.values())


@pytest.mark.first(2)
@pytest.mark.parametrize("name", ASKED)
def test_an_answer_shows_itself(name: str) -> None:
    answer = asked(name)
    assert len(answer.to_frame()) == 1
    assert "<table>" in answer._repr_html_()
    assert "+/-" in answer.text()
    axes = answer.plot()
    assert axes.get_ylabel()
    assert axes.collections  # the band
    axes.figure.canvas.draw()


def test_pages_that_were_asked_for_and_are_carried_have_no_error() -> None:
    """What is predicted has: the pages that a saturated device carries, and transfers that hold an unknown many."""
    model = read_model("paging-xiv-concurrent")
    given_rate = whatif.predict(model, {"arrival_rate": 100.0})
    assert tuple(given_rate.values["page_rate"][0]) == pytest.approx((100.0, 100.0, 100.0), rel=1e-12)
    assert "90 %" not in given_rate.headline
    transfers = given_rate.values["transfer_rate"][0]
    assert transfers.low < transfers.value < transfers.high
    saturated = whatif.predict(model, {"arrival_rate": 1e6})
    pages = saturated.values["page_rate"][0]
    assert pages.low < pages.value < pages.high and "90 %" in saturated.headline
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it printed one of inf - inf
        assert any('"saturated": more is asked for than the pages' in note for note in saturated.notes)
    assert not any("saturated" in note for note in given_rate.notes)


def test_answers_are_those_of_the_devices() -> None:
    paging = PagingDevice.from_model(read_model("paging-xiv-concurrent"))
    found = whatif.predict(
        read_model("paging-xiv-concurrent"), {"outstanding": 3.0, "think_time": 1e-3}
    ).values
    assert found["page_rate"].value[0] == pytest.approx(float(paging.closed(3, 1e-3).page_rate))
    opened = whatif.predict(read_model("paging-xiv-concurrent"), {"arrival_rate": 5000.0}).values
    assert opened["response"].value[0] == pytest.approx(float(paging.open(5000.0).response_time))
    disk = read_model("disk-xedit-emulated-fba")
    at = DiskPath.from_model(disk).solve("cached", 0.9, requesters=4, processors=2)
    asked = {"mode": "cached", "hit_ratio": 0.9, "requesters": 4.0, "processors": 2.0}
    assert whatif.predict(disk, asked).values["rate"].value[0] == pytest.approx(float(at.rate))
    ccw = read_model("channel-program")
    law = ChannelProgram.from_model(ccw)
    found = whatif.predict(ccw, {"bits": "64", "translation": "slow", "read_share": 0.3}).values
    assert found["cp"].value[0] == pytest.approx(law.time_per_mb(64, fast=False, read_share=0.3))
    values = {key: entry.value for key, entry in read_model("processors").parameters.items()}
    scaling = Processors(cpu_time=values["cpu_time_s"], coherency=values["coherency"])
    found = whatif.predict(read_model("processors"), {"processors": 9.0}).values
    assert found["itr"].value[0] == pytest.approx(float(scaling.internal_throughput(9)))


def test_what_a_path_was_not_measured_at_is_less_certain() -> None:
    """Processor time of iozone with cache was measured at hit ratio .5, over hits and misses together."""
    model = read_model("disk-iozone-emulated-fba")
    answer = whatif.predict(model, {"mode": "cached"}, {"hit_ratio": [0.5, 0.9]})
    width = (answer.values["cp"].high - answer.values["cp"].low) / answer.values["cp"].value
    assert width[0] < 0.10
    assert width[1] > 3 * width[0]
    rates = answer.values["rate"].high / answer.values["rate"].low  # elapsed time was measured for each
    assert (rates < 1.15).all()


@pytest.mark.parametrize("most", [5000.0, 6000.0, 6100.0, 6500.0])
def test_no_interval_reaches_beyond_what_there_is(most: float) -> None:
    """Pages that arrive, requests that are outstanding, processors that requesters can use; a value may be all."""
    found = whatif.predict("paging-xiv-serialized", {"arrival_rate": most}).values
    assert found["page_rate"].high[0] == pytest.approx(most, rel=1e-12)
    assert found["transfer_rate"].low[0] < found["transfer_rate"].high[0] < most / 20
    assert found["page_rate"].low[0] < found["page_rate"].value[0] or most == 5000.0
    outstanding = whatif.predict("paging-eckd", {"outstanding": 2.0, "think_time": 1e-6}).values["requests"]
    assert outstanding.low[0] < outstanding.value[0] < outstanding.high[0] == 2.0
    path = {"mode": "cached", "hit_ratio": 1.0, "requesters": 30.0}
    busy = whatif.predict("disk-xedit-eckd-minidisk", path, {"processors": [1.0, 2.0]}).values[
        "processors_busy"
    ]
    assert (busy.low < busy.high).all()
    assert busy.high.tolist() == [1.0, 2.0]


def test_a_rate_of_no_pages_is_one_like_the_others() -> None:
    """What comes back is asked by saying nothing of arrivals."""
    found = whatif.predict("paging-eckd", {}, {"arrival_rate": [0.0, 1e-3, 500.0]})
    for key in ("page_rate", "transfer_rate", "utilization", "requests", "processors"):
        at = found.values[key]
        assert at.value[0] == at.high[0] == 0.0 < at.value[1] < at.value[2]
        assert at.value[1] == pytest.approx(at.value[2] * 2e-6, rel=0.5)
    response = found.values["response"].value
    assert response[0] == pytest.approx(response[1], rel=1e-5)
    assert whatif.predict("paging-eckd", {"arrival_rate": 0.0}).plot().get_ylabel()
    closed = whatif.predict("paging-eckd", {}).values["utilization"]
    assert closed.value[0] == pytest.approx(1.0)
    with pytest.raises(InputError, match="with arrival_rate"):
        whatif.predict("paging-eckd", {"arrival_rate": 0.0, "outstanding": 2.0})


DISK = "disk-xedit-emulated-fba"


@pytest.mark.parametrize(
    ("name", "asked", "problem"),
    [
        ("paging-eckd", {"arrival_rate": math.nan}, "arrival_rate = nan 1/s: expected a number of at least 0"),
        ("paging-eckd", {"queue_depth": 2.5}, "queue_depth = 2.5: expected a count of at least 1, at most 1000"),
        ("paging-eckd", {"arrival_rate": -5.0}, "arrival_rate = -5.0 1/s: expected a number of at least 0"),
        ("paging-eckd", {"think_time": math.inf}, "think_time = inf s: expected a number of at least 0"),
        ("paging-eckd", {"service_time": 0.0}, "service_time = 0.0 s: expected a number of at least 1e-06"),
        ("channel-program", {"bits": "64", "data_rate": -5e7}, "data_rate = -50000000.0 bytes_per_s: expected"),
        ("channel-program", {"bits": 32.0}, "bits = 32.0: expected 31 or 64"),
        (DISK, {"mode": "bogus"}, "mode = 'bogus': expected off or cached"),
        (DISK, {"mode": 1.0}, "mode = 1.0: expected off or cached"),
        (DISK, {"mode": "off", "requesters": 1.5}, "requesters = 1.5: expected a count of at least 1"),
        (DISK, {"mode": "off", "processors": 2.7}, "processors = 2.7: expected a count"),
        (DISK, {"mode": "off", "requesters": math.nan}, "requesters = nan: expected a count"),
        (DISK, {"mode": "off", "hit_ratio": 1.1}, "hit_ratio = 1.1 share: expected a number"),
        ("processors", {"processors": 0.1}, "processors = 0.1: expected a count of at least 1, at most 1000"),
        ("processors", {"processors": "14"}, "processors = '14': expected a count of at least 1, at most 1000"),
        ("processors", {"processors": True}, "processors = True: expected a count"),
        ("processors", {"processors": 10**400}, "expected a count of at least 1, at most 1000"),
        ("hyperpav", {"aliases": [1, 2], "volumes": 8}, r"aliases = \[1, 2\]: expected a count of at least 0"),
    ],
)  # fmt: skip
def test_what_a_quantity_does_not_allow_is_refused(name: str, asked: dict[str, Any], problem: str) -> None:
    """Set or varied, as the command line refuses it."""
    with pytest.raises(InputError, match=problem):
        whatif.predict(name, asked)
    key, value = list(asked.items())[-1] if name != "hyperpav" else ("aliases", asked["aliases"])
    with pytest.raises(InputError, match=problem):
        whatif.predict(name, {other: each for other, each in asked.items() if other != key}, {key: [value]})


def test_numbers_of_every_type_are_numbers() -> None:
    name, mode = DISK, {"mode": "cached"}
    given = whatif.predict(
        name, {**mode, "hit_ratio": np.float32(0.5), "requesters": np.int64(3), "disks": 2}
    )
    plain = whatif.predict(name, {**mode, "hit_ratio": 0.5, "requesters": 3.0, "disks": 2.0})
    assert given.to_dict() == plain.to_dict()
    assert whatif.predict("channel-program", {"bits": 64}).to_dict() == asked("channel-program").to_dict()


def test_the_model_says_what_it_was_fitted_to() -> None:
    answer = whatif.predict(VOLUME, {}, {"aliases": [0.0, 2.0]})
    rates = {run.name: run.predicted for run in VOLUME.fit.runs if run.quantity == "io_rate"}
    assert answer.values["io_rate"].value.tolist() == pytest.approx(
        [rates["Y040180P 522A +0"], rates["Y040182P 522A +2"]], rel=1e-4
    )
    assert answer.warnings == ()


def test_intervals_hold_their_number_and_the_measured_one() -> None:
    (zero, two) = whatif.predict(VOLUME, {}, {"aliases": [0.0, 2.0]}).table().records()
    for row, measured in ((zero, 755), (two, 1619)):
        assert row["io_rate_low"] < row["io_rate"] < row["io_rate_high"]
        assert row["io_rate_low"] < measured < row["io_rate_high"]
        assert row["response_low_ms"] < row["response_ms"] < row["response_high_ms"]


def test_keys_are_those_of_an_aliases_row_with_intervals() -> None:
    (row,) = whatif.predict(VOLUME, {"aliases": 1.0}).table().records()
    keys = {"aliases", "io_rate", "service_ms", "wait_ms", "response_ms", "queued", "no_alias"}
    assert keys <= set(row)
    assert set(row) - keys == {
        "io_rate_low", "io_rate_high", "service_low_ms", "service_high_ms", "wait_low_ms", "wait_high_ms",
        "response_low_ms", "response_high_ms", "queued_low", "queued_high", "no_alias_low", "no_alias_high",
    }  # fmt: skip


def test_a_grid_asks_every_combination_in_order() -> None:
    answer = whatif.predict(VOLUME, {}, {"think_time": [1e-4, 3e-4], "aliases": [0.0, 1.0]})
    asked = [(each["think_time"], each["aliases"]) for each in answer.settings]
    assert asked == [(1e-4, 0.0), (1e-4, 1.0), (3e-4, 0.0), (3e-4, 1.0)]
    rates = answer.values["io_rate"].value
    assert rates[0] > rates[2]
    assert rates[1] > rates[3]


def test_a_rate_that_the_channel_cannot_carry_is_said_to_be_the_measured_one() -> None:
    """More requesters are held to the channel, one is not: without a word the rate would fall tenfold at the second."""
    model, cached = read_model("disk-xedit-eckd-minidisk"), {"mode": "cached", "hit_ratio": 0.0}
    grid = whatif.predict(model, cached, {"requesters": (1.0, 2.0)})
    assert float(grid.values["rate"].value[0]) > 9 * float(grid.values["rate"].value[1])
    assert any("above the channel's 43.5/s" in each for each in grid.warnings)
    for asked in ({"requesters": 2.0}, {"hit_ratio": 1.0}, {"mode": "off"}):
        assert not any("channel" in each for each in whatif.predict(model, cached | asked).warnings)


def test_beyond_what_was_measured_there_is_a_warning() -> None:
    (warning,) = whatif.predict(VOLUME, {"aliases": 7.0}).warnings
    assert warning.startswith("aliases outside of what was measured (0 to 2)")
    assert warning.endswith("the answer is an extrapolation")
    (warning,) = whatif.predict(VOLUME, {}, {"aliases": [1.0, 7.0]}).warnings
    assert warning.endswith("a row there is an extrapolation")


def test_requesters_that_differed_from_run_to_run_are_named_with_those_of_the_answer() -> None:
    several = msgspec.structs.replace(VOLUME, validity={**VOLUME.validity, "population": (2.0, 5.0)})
    (warning,) = whatif.predict(several, {"aliases": 1.0}).warnings
    assert warning == f"the runs had 2 to 5 requesters a volume; the answer is for {VOLUME.population}"
    assert not whatif.predict(several, {"aliases": 1.0, "population": 4.0}).warnings


def test_a_parameter_that_is_set_leaves_less_open() -> None:
    free = whatif.predict(VOLUME, {"aliases": 2.0})
    held = whatif.predict(
        VOLUME, {"aliases": 2.0, "think_time": 2e-4, "service_time": 1.27e-3, "inflation": 0.17}
    )
    widths = [float((each.values["io_rate"].high / each.values["io_rate"].low)[0]) for each in (held, free)]
    assert widths[0] < widths[1]


@pytest.mark.long
@given(first=st.integers(0, 20), more=st.integers(0, 20))
def test_counts_step_by_one(first: int, more: int) -> None:
    key, values = whatif.parse_range(f"aliases={first}:{first + more}")
    assert key == "aliases"
    assert values == tuple(float(n) for n in range(first, first + more + 1))


def test_a_time_steps_by_its_step_and_ends_at_its_end() -> None:
    key, values = whatif.parse_range("think_time=0.1ms:1ms:0.1ms")
    assert key == "think_time"
    assert len(values) == 10
    assert values[-1] == pytest.approx(1e-3)


def test_a_range_does_not_end_beyond_its_end_by_rounding() -> None:
    _, values = whatif.parse_range("hit_ratio=0.09:1:0.07", "disk")
    assert values[-1] == 1.0
    assert whatif.predict(DISK, {"mode": "cached"}, {"hit_ratio": values}).warnings == ()


def test_a_range_holds_its_end_where_that_is_no_multiple_of_its_step() -> None:
    assert whatif.parse_range("aliases=0:10:3") == ("aliases", (0.0, 3.0, 6.0, 9.0, 10.0))
    assert whatif.parse_range("aliases=0:9:3") == ("aliases", (0.0, 3.0, 6.0, 9.0))
    assert whatif.parse_range("aliases=2:4:100") == ("aliases", (2.0, 4.0))


def test_words_are_ranges_of_their_own() -> None:
    assert whatif.parse_range("mode=off:cached", "disk") == ("mode", ("off", "cached"))
    assert whatif.parse_setting("data_rate=50MB/s", "channel-program") == ("data_rate", 50 * 2**20)
    assert whatif.parse_setting("hit_ratio=90%", "disk") == ("hit_ratio", 0.9)


@pytest.mark.parametrize(
    ("text", "kind", "problem"),
    [
        ("think_time=0.1ms:1ms", "volume", "first:last:step"),
        ("think_time=1:2:1", "volume", "a unit is missing"),
        ("aliases=3:1", "volume", "runs upward"),
        ("aliases=0:4:0", "volume", "above zero"),
        ("aliases=0:1.5", "volume", "a count"),
        ("speed=0:4", "volume", r"one of aliases, volumes, service_time \[s\]"),
        ("aliases", "volume", "first:last:step"),
        ("aliases=0:4", "paging", r"one of outstanding, think_time \[s\], arrival_rate \[1/s\]"),
        ("hit_ratio=0:2:0.5", "disk", "at most 1"),
        ("mode=on", "disk", "off or cached"),
        ("data_rate=1:2:1", "channel-program", "a unit is missing"),
        ("processors=0:4", "processors", "at least 1"),
    ],
)
def test_bad_ranges_are_refused(text: str, kind: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        whatif.parse_range(text, kind)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(InputError, match="aliases"):
        whatif.predict(VOLUME, {})
    with pytest.raises(InputError, match=r"measured with 1 to 8 volumes"):
        whatif.predict(POOL, {"aliases": 4.0})
    with pytest.raises(InputError, match="not set as well"):
        whatif.predict(VOLUME, {"aliases": 4.0}, {"aliases": [1.0]})
    with pytest.raises(InputError, match="expected off or cached"):
        whatif.predict(read_model("disk-xedit-emulated-fba"), {})
    with pytest.raises(InputError, match="one of outstanding"):
        whatif.predict(read_model("paging-eckd"), {"aliases": 1.0})


def test_a_model_that_lacks_a_parameter_is_told() -> None:
    for name, key in (
        ("paging-eckd", "cp_time_s"),
        ("processors", "coherency"),
        ("channel-program", "read_factor"),
    ):
        model = read_model(name)
        less = {each: entry for each, entry in model.parameters.items() if each != key}
        poorer = msgspec.structs.replace(model, parameters=less, uncertainty=None)
        with pytest.raises(ReportError, match=f"parameters.{key}"):
            whatif.predict(poorer, ASKED.get(name, {}))


def test_a_plot_has_one_line_a_value_of_the_others() -> None:
    answer = whatif.predict(VOLUME, {}, {"aliases": [0.0, 1.0], "think_time": [1e-4, 3e-4]})
    axes = answer.plot()
    assert len([line for line in axes.lines if len(line.get_xdata()) == 2]) == 2
    assert axes.get_figure(root=True).axes[-1].get_xlabel() == "aliases"  # below the response time


SATURATED = {
    "rates, requesters unknown": "aliases,io_rate,service_ms,queued\n0,755,1.3,5.8\n1,1320,1.5,4.9\n",
    "one row": "aliases,io_rate,service_ms,queued\n0,755,1.3,5.8\n",
}


@pytest.mark.long
@pytest.mark.parametrize("case", SATURATED)
def test_where_every_row_is_saturated_nothing_bounds_more_devices(case: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(SATURATED[case], encoding="utf-8")
    fit, model = calibrate.calibrate("volume", calibrate.Task(files=[path]))
    assert isinstance(fit, calibrate.Fit)
    assert fit.saturated
    assert fit.estimates["think_time"].low is None
    assert "no upper end" in fit.text()
    answer = whatif.predict(model, {"aliases": 4.0})
    assert np.isposinf(
        [answer.values[key].high[0] for key in ("io_rate", "wait", "response", "queued")]
    ).all()
    assert 1320 < answer.values["io_rate"].low[0] < answer.values["io_rate"].value[0] or case == "one row"
    assert "or more" in answer.text()
    as_measured = whatif.predict(model, {"aliases": 0.0})  # where it was measured the rate is known
    assert as_measured.values["io_rate"].low[0] < 755 < as_measured.values["io_rate"].high[0] < 1.1 * 755


@pytest.mark.long
def test_given_requesters_bound_more_devices_where_every_row_is_saturated(tmp_path: Path) -> None:
    """At most 8 I/Os are present, each at least a service time: that of a volume without other I/Os."""
    path = tmp_path / "rows.csv"
    path.write_text(
        "population,aliases,io_rate,service_ms,queued\n8,0,755,1.3,6.9\n8,1,1320,1.5,5.9\n", "utf-8"
    )
    fit, model = calibrate.calibrate("volume", calibrate.Task(files=[path]))
    assert isinstance(fit, calibrate.Fit)
    assert fit.saturated
    assert "no upper end" not in fit.text()
    answer = whatif.predict(model, {"aliases": 4.0})
    assert "or more" not in answer.text()
    rate = answer.values["io_rate"]
    assert 1320 < rate.low[0] < rate.value[0] < rate.high[0] < 8 / 1.2e-3


@pytest.mark.long
def test_one_saturated_row_leaves_the_requesters_open(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(SATURATED["one row"], encoding="utf-8")
    fit, _ = calibrate.calibrate("volume", calibrate.Task(files=[path]))
    found = fit.to_dict()
    assert (found["population"]["status"], found["population"]["high"]) == ("not determined", None)
    assert found["parameters"]["think_time_s"]["high"] is None
    assert "or more" in fit.text()


def test_rows_that_are_not_saturated_are_bounded() -> None:
    answer = whatif.predict(VOLUME, {"aliases": 5.0})
    assert np.isfinite([each.high[0] for each in answer.values.values()][:5]).all()
    assert "or more" not in answer.text()


def test_requests_that_were_set_have_no_error() -> None:
    """All of them are present where none thinks; how many of those that think are there is predicted."""
    asked = {"outstanding": 2.0}
    there, thinking = (
        whatif.predict("paging-xiv-serialized", {**asked, "think_time": think}).values["requests"]
        for think in (0.0, 0.001)
    )
    assert there.low[0] == there.value[0] == there.high[0] == 2
    assert thinking.low[0] < thinking.value[0] < thinking.high[0]


def test_with_a_device_for_every_requester_nothing_waits_and_the_text_shows_what_the_numbers_say() -> None:
    """The error of the law is none of a wait that cannot be; where the best value is 0, half an interval is not."""
    enough = whatif.predict(POOL, {"aliases": 16.0, "volumes": 8.0})
    for key in ("wait", "queued", "no_alias"):
        assert [float(end[0]) for end in enough.values[key]] == [0.0, 0.0, 0.0]
    fewer = whatif.predict(POOL, {"aliases": 15.0, "volumes": 8.0})
    assert fewer.values["queued"].high[0] > fewer.values["queued"].value[0] > 0.0
    halves = [
        _half(0.0, 0.0, high, passes, None) for high, passes in ((0.7, False), (0.7, True), (0.0, False))
    ]
    assert halves == ["0.350", "0 to 0.700", "0"]


def test_no_error_bar_goes_over_what_is_possible() -> None:
    busy = whatif.predict("paging-xiv-serialized", {"outstanding": 2.0})
    cells = {each.name: each.values[0] for each in busy.sections()[0].table.columns}
    low, value, high = (float(end[0]) for end in busy.values["utilization"])
    assert value + (high - low) / 2 > high == 1.0
    assert cells["utilization_half"] == "0.85 to 1.00" and "both its ends" in busy.notes[0]
    assert float(cells["page_rate_half"].replace(",", "")) > 0
    far = whatif.predict("processors", {"processors": 100.0})  # 435/s stood there +/- 2,420
    low, value, high = (float(end[0]) for end in far.values["itr"])
    assert value - (high - low) / 2 < 0 < low and "both its ends" in far.notes[0]
    assert far.sections()[0].table.columns[2].values == ["221 to 5,070"]


@pytest.mark.parametrize("volumes", [1.0, 8.0])
def test_without_aliases_no_try_finds_one_and_nothing_is_open(volumes: float) -> None:
    """A probability that is 1 by definition had a range from .968; with an alias it is open."""
    within = whatif.predict(POOL, {"volumes": volumes}, {"aliases": [0.0, 1.0]}).values["no_alias"]
    assert within.low[0] == within.value[0] == within.high[0] == 1.0
    assert within.low[1] < within.value[1]


def test_the_tries_of_one_volume_have_a_range() -> None:
    """It was none for one volume, while pools had theirs; where it is not known the table has an empty cell."""
    tries = whatif.predict(POOL, {"volumes": 1.0, "aliases": 1.0}).values["no_alias"][0]
    assert 0.5 < tries.low < tries.value < tries.high <= 1.0


@pytest.mark.parametrize("values", [3, "0:3", [], np.array(1.0)])
def test_what_varies_is_a_list_of_values(values: Any) -> None:
    with pytest.raises(InputError, match=r"over = .*: expected a list of one value or more for each key"):
        whatif.predict(POOL, {"volumes": 8.0}, {"aliases": values})


def test_settings_may_be_left_out() -> None:
    found = whatif.predict(POOL, over={"aliases": np.arange(2), "volumes": (8.0,)})
    assert found.settings == whatif.predict(POOL, {}, {"aliases": [0.0, 1.0], "volumes": [8.0]}).settings
