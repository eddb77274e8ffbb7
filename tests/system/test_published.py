"""The published XIV system: predicted from its serialized run alone, with what the model cannot say."""

from __future__ import annotations

import json

import numpy as np
import pytest

from planner import library
from planner import system as model
from planner.published.xiv_concurrent_io import measured, predicted
from planner.system.reading import parse_system

XIV = model.template("xiv")
CONCURRENT = ["paging.depth=unlimited"]


def published(run: str) -> dict[str, float]:
    return {name: printed.value for name, printed in measured(run).items()}


def test_the_concurrent_run_follows_from_the_serialized_one() -> None:
    """Throughput and page rate within 5 %, transfers within 8 %; every interval holds the published figure."""
    found, said = model.solve(XIV, CONCURRENT).found, published("concurrent")
    rates = {
        "throughput": found.throughput,
        "page_rate": found.page_rate,
        "transfers": found.stations["xiv"]["transfers"],
    }
    limits = {"throughput": 0.05, "page_rate": 0.05, "transfers": 0.08}
    for name, number in rates.items():
        assert number.value == pytest.approx(said[name], rel=limits[name])
        assert number.low <= said[name] <= number.high
        assert number.basis == "predicted"


def test_the_serialized_run_is_told_apart_into_what_was_fitted_and_what_was_not() -> None:
    found, said = model.solve(XIV).found, published("serialized")
    assert found.throughput.basis == "predicted"
    assert found.throughput.value == pytest.approx(said["throughput"], rel=0.05)
    assert (
        found.throughput.value > 1.03 * said["throughput"]
    )  # the note's +4.1 %: a miss that must stay visible
    assert found.stations["xiv"]["transfers"].basis == "calibrated"
    assert found.stations["xiv"]["transfers"].value == pytest.approx(283.0, rel=1e-4)
    assert found.processors["cp_system_busy"].basis == "calibrated"
    assert found.processors["cp_system_busy"].value == pytest.approx(0.390, rel=1e-3)


def test_processor_time_of_the_other_mode_is_outside_and_never_a_number() -> None:
    for settings in (CONCURRENT, ["paging.depth=2"]):
        answer = model.solve(XIV, settings)
        assert all(
            n.basis == "outside" and n.value is n.low is n.high is None
            for n in answer.found.processors.values()
        )
        data = json.loads(json.dumps(answer.to_dict()))
        assert data["processors"]["total_busy"] == {
            "value": None,
            "low": None,
            "high": None,
            "basis": "outside",
        }
        assert data["bounds"]["processors"]["value"] is None
        assert "no number" in answer.text()


def test_processor_times_of_the_own_mode_are_no_longer_outside() -> None:
    own = ["guests.touch_time=0.41us", "guests.cp_charged=8.2us", "paging.cp_system=141us"]
    found = model.solve(XIV, [*CONCURRENT, *own]).found
    assert found.processors["cp_system_busy"].value == pytest.approx(1.616, rel=0.08)
    assert found.processors["guest_busy"].value == pytest.approx(0.538, rel=0.05)


def test_sixteen_guests_fit_and_the_seventeenth_does_not() -> None:
    assert model.solve(XIV).found.storage["guests_that_fit pfault"].value == 16
    assert model.solve(XIV).found.storage["guests_that_fit pfault"].low == 16
    fits, not_fits = (model.solve(XIV, [f"guests.count={count}"]).found for count in (16, 17))
    assert fits.miss_ratio.value == 0
    assert fits.storage["pages_without_frame"].value == 0
    assert not_fits.miss_ratio.value > 0


def test_storage_that_removes_paging() -> None:
    """1242 GiB, 1233 to 1250 by the rounding of the published 70 %."""
    needed = model.solve(XIV).found.storage["storage_without_paging"]
    assert [round(end / 2**30) for end in (needed.low, needed.value, needed.high)] == [1233, 1242, 1250]
    assert needed.basis == "arithmetic"
    assert model.solve(XIV, ["storage.real=1241.7GiB"]).found.miss_ratio.value == 0
    assert model.solve(XIV, ["storage.real=1241.5GiB"]).found.miss_ratio.value > 0


def test_guests_keep_to_their_virtual_processors_and_cp_to_its_data_spaces() -> None:
    """A guest of one virtual processor was 0.89 to 1.11 busy; 8,624 GiB of 140 guests take 17 of 16 data spaces."""
    for count in (1, 16):
        busy = model.solve(XIV, [f"guests.count={count}"]).found.processors
        assert busy["guest_busy"].high == busy["total_busy"].high == busy["total_busy"].value == count
    hundred, more = (model.solve(XIV, ["storage.real=9TB", f"guests.count={n}"]).notes for n in (132, 140))
    assert not any("PTRM" in note for note in hundred)
    grid = model.whatif(XIV, ["guests.count=100:140:20"], ["storage.real=9TB"])
    assert grid.notes[0] == more[0] and more[0].startswith("17 PTRM data spaces are needed; z/VM 5.3 has 16")


@pytest.mark.parametrize(
    ("settings", "transfers"),
    [
        (["paging.devices=10"], 3831), ([], 5660), (["paging.devices=40"], 7416), (["paging.devices=80"], 8762),
        (["paging.depth=2"], 9178), (CONCURRENT, 10681),
    ],
)  # fmt: skip
def test_devices_and_depths_as_a_prototype_had_them(settings: list[str], transfers: float) -> None:
    """Another program's figures of the same equations: they check the code, not the law."""
    found = model.solve(XIV, settings)
    devices = found.found.devices["xiv"]
    assert devices * found.found.stations["xiv"]["transfers"].value == pytest.approx(transfers, rel=0.002)


def test_depth_three_on_twenty_devices_is_nearly_concurrent() -> None:
    """Depth 2, 3 and 4 reach 86, 97 and 99.7 % of it, as the same prototype had it."""
    whole = model.solve(XIV, CONCURRENT).found.throughput.value
    parts = [
        model.solve(XIV, [f"paging.depth={depth}"]).found.throughput.value / whole for depth in (2, 3, 4)
    ]
    assert [round(parts[0], 2), round(parts[1], 2), round(parts[2], 3)] == [0.86, 0.97, 0.997]


def test_the_elasticity_in_storage_and_the_relief() -> None:
    """Frames over pages over misses is 4.7; 64 GiB more bring 1.39 times the throughput and two percent fewer pages."""
    found = model.solve(XIV).found
    frames, pages = 1014.375, 1232.0
    own = (1024 / frames) * (frames / pages) / found.miss_ratio.value
    assert found.elasticity["storage.real"].value == pytest.approx(own, rel=0.02)
    before, after = (model.solve(XIV, [*CONCURRENT, *more]).found for more in ([], ["storage.real=1088GiB"]))
    assert after.throughput.value / before.throughput.value == pytest.approx(1.39, abs=0.01)
    assert after.page_rate.value / before.page_rate.value == pytest.approx(0.985, abs=0.01)


def test_the_model_file_and_the_system_are_one_law() -> None:
    """What `make models` writes is made without the system's loop; both have to say the same."""
    parameters = library.read_model("system-xiv-serialized").parameters
    values = {key.removesuffix("_s"): entry.value for key, entry in parameters.items()}
    for depth, settings in ((1.0, []), (np.inf, CONCURRENT)):
        said, found = predicted(values, depth), model.solve(XIV, settings).found
        assert found.throughput.value == pytest.approx(said["throughput"], rel=1e-9)
        assert found.page_rate.value == pytest.approx(said["page_rate"], rel=1e-9)
        assert found.stations["xiv"]["transfers"].value == pytest.approx(said["transfers"], rel=1e-9)


def test_the_error_of_the_model_is_that_of_its_predictions() -> None:
    fit = library.read_model("system-xiv-serialized").fit
    ahead = [run.predicted / run.measured - 1 for run in fit.runs if "predicted" in run.name]
    assert len(ahead) == 4
    assert fit.model_error == pytest.approx(float(np.abs(ahead).max()), rel=1e-3)


def test_the_digits_of_a_share_are_those_of_a_measurement() -> None:
    rough, fine = (parse_system(XIV.replace("0.70", digits)) for digits in ("0.7", "0.7000"))
    widths = [
        s.high / s.low
        for s in (model.solve(each).found.storage["storage_without_paging"] for each in (rough, fine))
    ]
    assert widths[0] > 1.1
    assert widths[1] < 1.001
