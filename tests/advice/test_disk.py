"""Disk answers: rates of each kind, the break-even hit ratio, what is named instead of modelled."""

from __future__ import annotations

import pytest

from planner.advice.disk import Setting, disk_paths, disk_rates
from planner.errors import InputError
from planner.library import read_model
from planner.whatif import predict

XEDIT = Setting(workload="xedit", hit_ratio=0.9)


def row(setting: Setting, kind: str, mode: str) -> dict[str, object]:
    return next(r for r in disk_rates(setting).to_dict()["rows"] if (r["kind"], r["mode"]) == (kind, mode))


def test_a_mix_of_hits_and_misses() -> None:
    """1/(.9 x 2095.91 + .1 x 1/34.75 s), by hand."""
    found = row(XEDIT, "emulated-fba", "cached")
    assert found["rate"] == pytest.approx(1 / (0.9 * 2095.91e-6 + 0.1 / 34.75), rel=1e-4)
    assert found["cp_us"] == pytest.approx(0.9 * 1460.91 + 0.1 * 6202.66)
    assert found["virtual_us"] == pytest.approx(0.9 * 635 + 0.1 * 706.48)
    assert found["cp_per_virtual_io_us"] == pytest.approx((0.9 * 1460.91 + 0.1 * 6202.66) / 2)
    assert found["processors"] == pytest.approx(209.9 * (1935.1 + 642.1) * 1e-6, rel=1e-3)
    assert found["data_rate_mb_per_s"] == pytest.approx(209.9 * 400 / 1024, rel=1e-3)


def test_at_the_break_even_both_carry_the_same() -> None:
    answer = disk_rates(XEDIT)
    ratio = answer.break_even_hit_ratio
    assert ratio is not None
    by_hand = (1 / 34.75 - 2330.29e-6) / (1 / 34.75 - 2330.29e-6 + (2104.70 - 2095.91) * 1e-6)
    assert ratio == pytest.approx(by_hand, abs=1e-6)
    at = Setting(workload="xedit", hit_ratio=ratio)
    assert row(at, "emulated-fba", "cached")["rate"] == pytest.approx(
        row(at, "eckd-minidisk", "cached")["rate"], rel=1e-6
    )


@pytest.mark.long
def test_the_break_even_of_several_requesters_is_the_last_crossing() -> None:
    """Eight ECKD requesters are held by the channel at low hit ratios, so the curves cross more than once."""
    answer = disk_rates(Setting(workload="xedit", hit_ratio=0.9, requesters=8, processors=2))
    ratio = answer.break_even_hit_ratio
    assert ratio is not None
    for step, ahead in ((-1e-3, "eckd-minidisk"), (1e-3, "emulated-fba")):
        at = Setting(workload="xedit", hit_ratio=min(1.0, ratio + step), requesters=8, processors=2)
        rates = {kind: float(row(at, kind, "cached")["rate"]) for kind in ("eckd-minidisk", "emulated-fba")}  # type: ignore[arg-type]
        assert max(rates, key=lambda kind: rates[kind]) == ahead


def test_where_one_kind_is_always_faster_there_is_no_break_even() -> None:
    answer = disk_rates(Setting(workload="iozone", hit_ratio=0.5))
    assert answer.break_even_hit_ratio is None
    assert "emulated-fba is faster at every hit ratio" in answer.text()


def test_one_kind_alone_has_no_break_even() -> None:
    answer = disk_rates(XEDIT, ["emulated-fba"])
    assert answer.break_even_hit_ratio is None
    assert "last equal" not in answer.text()


def test_the_miss_without_a_wait_is_named() -> None:
    text = " ".join(disk_rates(Setting(workload="xedit", hit_ratio=0.0)).text().split())
    assert "shows no wait for the disk and moves 168 MB/s through a channel of 17 MB/s" in text
    assert "carries 43.5 transactions/s" in text
    assert "fastest of those without a doubtful run is" in text
    assert "eckd-minidisk, cached:" in text
    assert "eckd-minidisk, cached:" not in disk_rates(Setting(workload="xedit", hit_ratio=1.0)).text()


def test_a_hit_ratio_that_was_not_measured_is_named() -> None:
    for ratio, named in ((0.8, True), (0.5, False)):
        notes = " ".join(disk_rates(Setting(workload="iozone", hit_ratio=ratio)).notes)
        assert ("measured at hit ratio .5 only" in notes) == named


@pytest.mark.parametrize(
    ("numbers", "limit"),
    [({}, "requesters"), ({"requesters": 30}, "processors"), ({"requesters": 30, "processors": 30}, "disks"),
     ({"requesters": 30, "processors": 30, "disks": 30}, "channel")],
)  # fmt: skip
def test_what_binds_is_named(numbers: dict[str, int], limit: str) -> None:
    setting = Setting(workload="xedit", hit_ratio=0.8, **numbers)
    if limit == "processors":
        setting = Setting(workload="xedit", hit_ratio=0.95, disks=9, **numbers)
    assert row(setting, "emulated-fba", "cached")["limit"] == limit


def test_one_processor_carries() -> None:
    found = row(XEDIT, "eckd-minidisk", "off")
    assert found["rate_per_processor"] == pytest.approx(1e6 / 1844.96)
    assert found["io_rate_per_processor"] == pytest.approx(2e6 / 1844.96)


def test_native_scsi_has_no_virtual_ios() -> None:
    found = row(Setting(workload="iozone", hit_ratio=0.5), "native-scsi", "off")
    assert found["cp_per_virtual_io_us"] is None
    assert found["hit_ratio"] is None


@pytest.mark.parametrize("workload", ["cms", ""])
def test_an_unknown_workload_lists_the_known_ones(workload: str) -> None:
    with pytest.raises(InputError, match="one of xedit, iozone"):
        disk_paths(workload)


def test_a_kind_that_was_not_measured_lists_those_that_were() -> None:
    with pytest.raises(InputError, match="one of eckd-minidisk, emulated-fba"):
        disk_paths("xedit", ["native-scsi"])


def test_a_rate_at_the_limit_of_its_channel_keeps_the_error_of_the_model() -> None:
    """168 MB/s measured through 17 MB/s: the range ended where it began."""
    here = row(Setting(workload="xedit", hit_ratio=0.0), "eckd-minidisk", "cached")
    measured = predict(read_model("disk-xedit-eckd-minidisk"), {"mode": "cached"}).values["rate"][0]
    assert here["rate"] == here["rate_high"] == pytest.approx(here["channel_rate"])
    assert here["rate_low"] / here["rate"] == pytest.approx(measured.low / measured.value)


def test_predict_ends_at_the_channel_as_well() -> None:
    """One range of 8 requesters, by `disk rate` and by `predict`; 17 MB/s carry 435/s of these."""
    setting = Setting(workload="xedit", hit_ratio=0.9, requesters=8, processors=2)
    here = row(setting, "eckd-minidisk", "cached")
    asked = {"mode": "cached", "hit_ratio": 0.9, "requesters": 8.0, "processors": 2.0}
    there = predict(read_model("disk-xedit-eckd-minidisk"), asked).values["rate"][0]
    assert [here["rate_low"], here["rate"], here["rate_high"]] == pytest.approx([*there])
    assert there.high == pytest.approx(here["channel_rate"])
