"""Scaling of processors: the coefficients of a known law are found, the shipped model is what its data give."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.calibrate.costs import fit_processors
from planner.calibrate.data_file import Measurements
from planner.cli import main
from planner.devices.processors import Processors
from planner.errors import InputError
from planner.library import read_model
from planner.published import real_storage
from planner.reports import Printed


def row(processors: int, cpu_time: float) -> Measurements:
    numbers = {"processors": Printed(float(processors), 0.0), "cpu_ms": Printed(cpu_time, 0.0)}
    return Measurements(name=str(processors), path=Path("runs.csv"), line=1, numbers=numbers, words={})


@given(time=st.floats(1e-3, 0.1), contention=st.floats(0.001, 0.1), coherency=st.floats(1e-4, 1e-2))
def test_a_known_law_is_found(time: float, contention: float, coherency: float) -> None:
    law = Processors(cpu_time=time, contention=contention, coherency=coherency)
    found = fit_processors([row(n, float(n / law.internal_throughput(n))) for n in (1, 2, 4, 8, 16)])
    assert found.value("cpu_time") == pytest.approx(time, rel=1e-4)
    assert found.value("contention") == pytest.approx(contention, abs=1e-4)
    assert found.value("coherency") == pytest.approx(coherency, abs=1e-4)


def test_the_shipped_model_is_what_its_data_give() -> None:
    shipped, again = read_model("processors"), real_storage.models()["processors"]
    for key, value in again.parameters.items():
        assert shipped.parameters[key].value == pytest.approx(value.value, rel=1e-4)
        assert shipped.parameters[key].status == value.status
    assert max(abs(run.predicted / run.measured - 1) for run in shipped.fit.runs) <= 0.06


def test_two_numbers_of_processors_are_too_few() -> None:
    with pytest.raises(InputError, match="at least 3 different"):
        fit_processors([row(3, 0.02)] * 3)


@pytest.mark.parametrize(
    ("row", "said"),
    [("21,95.2,15,6", ""), ("30,95.2,15,6", "30 ms by cpu_ms"), ("21,66.7,15,6", "29.99 ms by itr")],
)
def test_columns_that_tell_the_same_time_have_to_agree(
    row: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """95.2/s of two processors are 21.0 ms of each transaction: 15 and 6."""
    data = tmp_path / "runs.csv"
    text = f"processors,cpu_ms,itr,emulation_cpu_ms,cp_cpu_ms\n1,20,50,15,5\n2,{row}\n4,23,173.9,16,7\n8,27,296,18,9\n"
    data.write_text(text, encoding="utf-8")
    code = main(["calibrate", str(data), "--kind", "processors", "-o", str(tmp_path / "m.toml")])
    error = " ".join(capsys.readouterr().err.split())
    assert code == (2 if said else 0)
    assert said in error
    assert not said or "line 3" in error


def test_the_command_writes_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "runs.csv"
    data.write_text("processors,cpu_ms\n1,18.0\n4,18.9\n8,20.4\n16,24.1\n", encoding="utf-8")
    assert main(["calibrate", str(data), "--kind", "processors", "-o", str(tmp_path / "m.toml")]) == 0
    assert "cpu_time_s" in capsys.readouterr().out
    assert read_model(tmp_path / "m.toml").kind == "processors"
