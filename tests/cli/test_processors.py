"""``planner processors`` as people call it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from planner.cli import main

OWN = "run,processors,cpu_ms\na,2,10\nb,4,10.4\nc,8,11.5\nd,16,13\n"


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["processors", "--processors", "14", "--processors", "16", "--contention", "300/s", "--json"])
        == 0
    )
    answer = json.loads(capsys.readouterr().out)
    assert {"laws", "configurations", "trials", "predictions", "gains", "notes"} <= set(answer)
    assert [one["processors"] for one in answer["predictions"]] == [14, 16]
    assert all(one["itr_low"] < one["itr"] < one["itr_high"] for one in answer["predictions"])
    assert [one["contention"] for one in answer["gains"] if one["nearest"]] == [291]
    assert answer["configurations"][0]["emulation_cpu_ms"] == pytest.approx(11.274)
    assert answer["trials"][0]["median_error"] <= 0.05


def test_csv(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["processors", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["run"] for row in rows] == ["APU064G1", "APU128G0", "APU160G2", "APU200G0", "APU239G2"]
    assert {"processors", "real_storage_GB", "cp_cpu_ms", "itr", "left_out_itr"} <= set(rows[0])


def test_text_fits_eighty_columns_and_warns(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["processors", "--processors", "16", "--real-storage", "512GB", "--contention", "0/s"]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    for words in (
        "3 to 12 processors were measured, not 16",
        "separate effects are unknown",
        "32 GB for each of 16",
        "Leave-one-out",
        "contradicts",
    ):
        assert words in " ".join(text.split())


def test_own_measurements(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "own.csv"
    file.write_text(OWN)
    assert main(["processors", str(file), "--processors", "12", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["predictions"][0]["itr"] == pytest.approx(12 / 12.2e-3, rel=0.03)
    assert [trial["parts"] for trial in answer["trials"]] == ["total"]
    assert answer["notes"] == []


def test_figure_1_is_drawn_once(tmp_path: Path) -> None:
    command = ["processors", "--plot", str(tmp_path / "itr.png")]
    assert main(command) == 0
    assert (tmp_path / "itr.png").stat().st_size > 5000
    assert main(command) == 2


def test_a_picture_of_own_measurements(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text(OWN)
    assert main(["processors", str(own), "--plot", str(tmp_path / "itr.svg")]) == 0
    assert (tmp_path / "itr.svg").stat().st_size > 5000


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--processors", "0"), "whole number of at least 1"),
        (("--contention", "300"), "a unit is missing"),
        (("--contention", "-1/s"), "--contention"),
        (("--real-storage", "512GB"), "--processors with it"),
        (("--processors", "16", "--real-storage", "512"), "a unit is missing"),
        (("nowhere.csv",), "no such file"),
        (("--json", "--csv"), "one of them"),
        (("--plot", "itr.gif"), ".png or .svg or .pdf"),
    ],
)
def test_bad_input(words: tuple[str, ...], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["processors", *words]) == 2
    message = capsys.readouterr().err
    assert expected in message
    assert "Traceback" not in message
