"""The law of processors, ITR as the report has it, configurations from the report and from users."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.advice.configurations import published, read_configurations
from planner.devices import KINDS
from planner.devices.processors import Processors
from planner.errors import InputError, ReportError
from planner.library import data_path
from planner.reports.printed import read_table
from planner.units import GIB

COUNTS = st.integers(1, 1000)
SMALL = st.floats(0, 0.1)


@given(n=COUNTS, alpha=SMALL, beta=SMALL, time=st.floats(1e-6, 1.0))
def test_cpu_time_grows_by_contention_and_coherency(n: int, alpha: float, beta: float, time: float) -> None:
    device = Processors(cpu_time=time, contention=alpha, coherency=beta)
    expected = time * (1 + alpha * (n - 1) + beta * n * (n - 1))  # Gunther 2007, eq. 4.31, turned over
    assert float(n / device.internal_throughput(n)) == pytest.approx(expected)


def test_arrays_go_element_by_element() -> None:
    device = Processors(cpu_time=0.02, contention=0.01, coherency=0.001)
    counts = np.array([1.0, 4.0, 16.0])
    assert device.internal_throughput(counts).tolist() == [
        float(device.internal_throughput(n)) for n in counts
    ]


def test_processors_are_a_device_kind_with_its_parameters() -> None:
    assert KINDS["processors"] is Processors
    assert [parameter.file_key for parameter in Processors.PARAMETERS] == [
        "cpu_time_s",
        "contention",
        "coherency",
    ]


@pytest.mark.parametrize("name", ["table-3.csv", "table-4.csv"])
def test_itr_is_the_published_one(name: str) -> None:
    table = read_table(data_path("real-storage", name))
    for run in table.columns[2:]:
        itr = table.value("Tx/sec (p)", run) / table.value("Total CPU Util/Proc (p)", run, 0.01)
        assert itr == pytest.approx(table.value("ITR (p)", run), rel=1e-3)


def test_published_configurations() -> None:
    rows = published()
    assert [row.name for row in rows] == ["APU064G1", "APU128G0", "APU160G2", "APU200G0", "APU239G2"]
    assert [row.real_storage for row in rows] == [size * GIB for size in (64, 128, 160, 200, 239)]
    assert rows[0].emulation_time == pytest.approx(11.274e-3)
    assert rows[0].cpu_time == pytest.approx(18.834e-3)
    assert [row.cp_time for row in published("5.2")] == [None, None]  # its split contradicts Table 1
    assert published("5.2")[1].internal_throughput == pytest.approx(260.34, abs=0.01)
    with pytest.raises(InputError, match=r"5\.2, 5\.3"):
        published("5.4")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "configurations.csv"


def test_a_users_csv(file: Path) -> None:
    file.write_text(
        "run,processors,real_storage_GB,emulation_cpu_ms,cp_cpu_ms,remark\na,2,32,3,1,x\n\n,4,,3,1.5,\n"
    )
    first, second = read_configurations(file)
    assert (first.name, first.processors, first.real_storage) == ("a", 2, 32 * GIB)
    assert (first.emulation_time, first.cp_time) == (3e-3, 1e-3)
    assert (second.name, second.real_storage) == ("configurations line 4", None)
    assert second.cpu_time == pytest.approx(4.5e-3)


@pytest.mark.parametrize(("header", "value"), [("itr", "500"), ("cpu_ms", "4")])
def test_a_users_csv_with_the_whole_cpu_time(file: Path, header: str, value: str) -> None:
    file.write_text(f"processors,{header}\n2,{value}\n")
    (row,) = read_configurations(file)
    assert row.cp_time is None
    assert row.internal_throughput == pytest.approx(500)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "an empty file: expected measured configurations with the columns processors"),
        ("processors,cpu\n1,2\n", "cpu_ms"),
        ("cpu_ms\n2\n", "line 1, column 7: missing processors"),
        ("processors,emulation_cpu_ms\n1,2\n", "cp_cpu_ms"),
        ("processors,cpu_ms\n", "no rows below the header"),
        ("processors,cpu_ms,cpu_ms\n1,2,3\n", "each column once"),
        ("processors,cpu_ms\n1\n", "line 2, column 2: 1 cell: expected 2"),
        (
            "processors,cpu_ms\n1,2\n0,2\n",
            "line 3, column 1: processors '0': expected a whole number above zero",
        ),
        ("processors,cpu_ms\n1.5,2\n", "whole number"),
        ("processors,cpu_ms\n1,-2\n", "cpu_ms '-2'"),
        ("processors,cpu_ms\n1,nan\n", "cpu_ms 'nan'"),
        ("processors,cpu_ms\n1,two\n", "cpu_ms 'two'"),
        ("processors,real_storage_GB,cpu_ms\n1,-3,2\n", "real_storage_GB '-3'"),
        ('processors,cpu_ms\n1,"2\n', "line 2, column 1: a quotation mark that is not closed"),
    ],
)
def test_a_damaged_csv(file: Path, content: str, expected: str) -> None:
    file.write_text(content)
    with pytest.raises(ReportError, match=expected):
        read_configurations(file)


def test_a_missing_csv(file: Path) -> None:
    with pytest.raises(ReportError, match="no such file"):
        read_configurations(file)
    file.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ReportError, match="line 1, column 1: no text in UTF-8"):
        read_configurations(file)
