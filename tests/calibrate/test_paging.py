"""Paging devices of one's own: the published serialized device is found from its numbers, bad tables are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.calibrate.costs import PAGING_HEADINGS, PAGING_NEEDED
from planner.calibrate.data_file import read_measurements
from planner.cli import main
from planner.devices import PagingDevice
from planner.errors import ReportError
from planner.library import read_model

XIV = (
    "run,outstanding,queue_depth,transfer_rate,page_rate,cp_us_per_page\nserialized,2,1,283.0,6158.75,3.67\n"
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "paging.csv"
    path.write_text(XIV, encoding="utf-8")
    return path


def test_the_serialized_device_is_found_from_its_numbers(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = table.with_name("m.toml")
    assert main(["calibrate", str(table), "--kind", "paging", "-o", str(model)]) == 0
    assert "service_time" in capsys.readouterr().out
    device, shipped = (PagingDevice.from_model(read_model(name)) for name in (model, "paging-xiv-serialized"))
    assert device.service_time == pytest.approx(shipped.service_time, rel=1e-4)
    assert device.cp_system_time is None
    assert device.pages_per_transfer == pytest.approx(shipped.pages_per_transfer, rel=1e-3)
    assert device.cp_time == pytest.approx(shipped.cp_time, rel=1e-2)
    assert float(device.closed(2).transfer_rate) == pytest.approx(283.0, rel=1e-4)


def test_scatter_of_the_runs_is_their_error(table: Path) -> None:
    table.write_text("outstanding,queue_depth,transfer_rate\n2,1,250\n2,1,310\n4,2,560\n", encoding="utf-8")
    assert main(["calibrate", str(table), "--kind", "paging", "-o", str(table.with_name("m.toml"))]) == 0
    found = read_model(table.with_name("m.toml"))
    assert found.fit.model_error > 0.05
    assert found.validity["outstanding"] == (2.0, 4.0)


def test_what_was_not_measured_has_no_upper_end(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A transfer moves a page or more, at any CP time, where neither was measured; it said "CP processors 0, +/- 0"."""
    table.write_text("outstanding,queue_depth,transfer_rate\n2,1,283\n", encoding="utf-8")
    model = table.with_name("m.toml")
    assert main(["calibrate", str(table), "--kind", "paging", "-o", str(model)]) == 0
    assert "Not determined by these data: pages_per_transfer, cp_time" in capsys.readouterr().out
    assert main(["predict", str(model), "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["processors"] == 0 and row["page_rate_high"] is None and row["processors_high"] is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("outstanding,queue_depth\n2,1\n", "line 1, column 24: missing transfer_rate: expected"),
        ("outstanding,queue_depth,transfer_rate,speed\n2,1,283,9\n", "unknown column 'speed'"),
        (
            "outstanding,queue_depth,transfer_rate\n2,1,fast\n",
            "line 2, column 5: transfer_rate 'fast': expected a number above zero .1/s.",
        ),
        (
            "outstanding,queue_depth,transfer_rate\n2,1.5,283\n",
            "line 2, column 3: queue_depth '1.5': expected a whole number above zero",
        ),
    ],
)
def test_bad_tables_are_told(table: Path, content: str, problem: str) -> None:
    table.write_text(content, encoding="utf-8")
    with pytest.raises(ReportError, match=problem):
        read_measurements([table], PAGING_HEADINGS, PAGING_NEEDED)


def test_a_guest_that_thinks_between_its_faults(table: Path) -> None:
    """The published thrasher: a page takes 1 / 564 s, of which 255.28 us are processor time."""
    table.write_text("outstanding,queue_depth,transfer_rate,think_us\n1,1,564,255.28\n", encoding="utf-8")
    assert main(["calibrate", str(table), "--kind", "paging", "-o", str(table.with_name("m.toml"))]) == 0
    found = read_model(table.with_name("m.toml")).parameters["service_time_s"]
    assert found.value == pytest.approx(1 / 564 - 255.28e-6, rel=1e-5)
    assert found.value == pytest.approx(
        read_model("paging-emulated-fba").parameters["service_time_s"].value, rel=1e-5
    )


CP_TIMES = "outstanding,queue_depth,transfer_rate,cp_us_per_page,cp_system_us_per_page\n"


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("outstanding,queue_depth,transfer_rate,page_rate\n2,1,283,100\n", "at least one page a transfer"),
        ("outstanding,queue_depth,transfer_rate,think_us\n1,1,564,2000\n", "contradict each other"),
        ("outstanding,queue_depth,transfer_rate\n2,1,10\n2,1,100\n2,1,1000\n", "contradict each other"),
        (f"{CP_TIMES}2,1,100,5,9\n", "a cp_system_us_per_page of at most 5, all CP time per page, found 9"),
        (
            f"{CP_TIMES}2,1,100,,9\n2,1,100,5,\n",
            "line 2, column 10: expected a cp_system_us_per_page of at most 5",
        ),
        (f"{CP_TIMES}2,1,100,,9\n", "expected cp_us_per_page as well: cp_system_us_per_page is a part of it"),
        (
            "outstanding,queue_depth,transfer_rate\n2,1,1e-12\n",
            "line 2, column 5: transfer_rate 1e-12: expected 0.001",
        ),
        (
            "outstanding,queue_depth,transfer_rate,think_us\n2,1,9,1e22\n",
            "think_us 1e+22: expected 1e-06 to 1e+21",
        ),
        (
            "outstanding,queue_depth,transfer_rate\n2,1,9\n2,1,9\n",
            "line 3: the same row a second time: expected",
        ),
    ],
)
def test_contradictions_are_refused(
    table: Path, content: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table.write_text(content, encoding="utf-8")
    assert main(["calibrate", str(table), "--kind", "paging", "-o", str(table.with_name("m.toml"))]) == 2
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize(
    ("times", "fixed"), [("5.0,5.0", ()), ("5,5.4", ()), ("4,5", ("--fix", "cp_time=5us"))]
)
def test_all_cp_time_may_be_charged_to_the_system(table: Path, times: str, fixed: tuple[str, ...]) -> None:
    """Digits leave open which of the two is larger."""
    table.write_text(f"{CP_TIMES}2,1,100,{times}\n", encoding="utf-8")
    assert (
        main(["calibrate", str(table), "--kind", "paging", "-o", str(table.with_name("m.toml")), *fixed]) == 0
    )
