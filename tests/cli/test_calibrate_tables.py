"""``planner calibrate`` of disks and channel programs, and ``planner predict`` of every kind, with what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli import main
from planner.library import read_model

DISK = "cache,hit_ratio,rate,cp_us,virtual_us,read_kb,channel_mb_per_s\n"
CCW = "bits,translation,cp_ms,written_mb,read_mb\n"


def written(tmp_path: Path, content: str) -> str:
    path = tmp_path / "table.csv"
    path.write_text(content, encoding="utf-8")
    return str(path)


def test_a_disk_path_is_found_and_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = written(
        tmp_path, DISK + "on,1,400,1500,600,400,100\non,0,30,6000,700,400,100\noff,,6,22000,700,400,100\n"
    )
    model = str(tmp_path / "m.toml")
    assert main(["calibrate", table, "--kind", "disk", "-o", model, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    hits = [
        found["parameters"][f"hit_{cost}_s"]["value"] for cost in ("cp_time", "virtual_time", "wait_time")
    ]
    assert hits == pytest.approx([1500e-6, 600e-6, 1 / 400 - 2100e-6], rel=1e-3)
    assert {each["status"] for key, each in found["parameters"].items() if "_time" in key} == {"fitted"}
    assert len(found["residuals"]) == 9
    assert main(["predict", model, "--set", "mode=cached", "--set", "hit_ratio=50%", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["rate"] == pytest.approx(2 / (1 / 400 + 1 / 30), rel=1e-3)
    assert row["rate_low"] < row["rate"] < row["rate_high"]


def test_costs_of_channel_programs_are_found_and_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Made of a = .6, b = .4, s = .9 ms a MB; f is nothing by convention."""
    rows = "31,fast,60,100,0\n31,slow,150,100,0\n64,fast,200,100,0\n64,slow,290,100,0\n"
    model = str(tmp_path / "m.toml")
    assert main(["calibrate", written(tmp_path, CCW + rows), "--kind", "channel-program", "-o", model]) == 0
    text = capsys.readouterr().out
    assert "Not determined by these data: fast_ccw_time" in text
    found = read_model(Path(model)).parameters
    values = [found[f"{key}_time_s_per_mb"].value for key in ("ssch", "ssch_64", "fast_ccw", "slow_ccw")]
    assert values == pytest.approx([0.6e-3, 0.4e-3, 0.0, 0.9e-3], rel=1e-3)
    assert main(["predict", model, "--set", "bits=64", "--set", "translation=slow", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["cp_ms_per_mb"] == pytest.approx(2.9, rel=1e-3)
    assert row["cp_low_ms_per_mb"] < 2.9 < row["cp_high_ms_per_mb"]


def test_a_cost_that_no_run_tells_has_no_upper_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(tmp_path / "m.toml")
    rows = "31,fast,60,100,0\n64,fast,200,100,0\n"
    assert main(["calibrate", written(tmp_path, CCW + rows), "--kind", "channel-program", "-o", model]) == 0
    capsys.readouterr()
    for translation, bounded in (("fast", True), ("slow", False)):
        words = ["predict", model, "--set", "bits=64", "--set", f"translation={translation}"]
        assert main([*words, "--json"]) == 0
        assert (json.loads(capsys.readouterr().out)["cp_high_ms_per_mb"] is not None) == bounded
        assert main(words) == 0
        assert ("or more" in capsys.readouterr().out) != bounded


@pytest.mark.long
def test_a_picture_of_a_calibration(tmp_path: Path) -> None:
    picture = tmp_path / "fit.png"
    table = written(tmp_path, CCW + "31,fast,60,100,0\n31,slow,150,100,0\n")
    words = [
        "calibrate",
        table,
        "--kind",
        "channel-program",
        "-o",
        str(tmp_path / "m.toml"),
        "--plot",
        str(picture),
    ]
    assert main(words) == 0
    assert picture.stat().st_size > 1000


BAD = [
    ("disk", DISK + "on,1,1000,1500,600,400,100\n", "the measurements contradict each other"),
    ("disk", DISK + "on,,400,1500,600,400,100\n", "line 2, column 4: expected a hit_ratio, 0 to 1"),
    (
        "disk",
        DISK + "on,1.5,400,1500,600,400,100\n",
        "line 2, column 4: hit_ratio '1.5': expected a number from 0 to 1",
    ),
    ("disk", DISK + "maybe,1,400,1500,600,400,100\n", "line 2, column 1: cache 'maybe': expected on or off"),
    ("disk", DISK + "on,1,,,,400,100\n", "expected a number above zero in one of rate, cp_us, virtual_us"),
    ("disk", DISK + "on,1,400,1500,600,0,100\n", "expected read_kb or write_kb above zero"),
    (
        "disk",
        DISK + "on,1,400,1500,600,400,100\noff,,6,1,1,400,17\n",
        "line 3, column 16: expected the same channel_mb_per_s in all rows",
    ),
    (
        "disk",
        "cache,rate,read_kb\non,400,400\n",
        "line 1, column 19: missing channel_mb_per_s: expected measurements with",
    ),
    (
        "disk",
        DISK.replace("rate,", "rate,speed,", 1) + "on,1,4,9,1,1,4,1\n",
        "unknown column 'speed': known are run",
    ),
    (
        "disk",
        DISK + "on,1,fast,1500,600,400,100\n",
        "line 2, column 6: rate 'fast': expected a number above zero [1/s]",
    ),
    ("disk", DISK + "on,1,-4,1500,600,400,100\n", "rate '-4': expected a number above zero [1/s]"),
    ("disk", DISK + "on,1,nan,1500,600,400,100\n", "rate 'nan': expected a number above zero [1/s]"),
    ("disk", DISK + "on,1,400\n", "line 2, column 9: 3 cells: expected 7"),
    ("channel-program", CCW + "32,fast,60,100,0\n", "line 2, column 1: bits '32': expected 31 or 64"),
    ("channel-program", CCW + "31,fast,60,,\n", "expected written_mb or read_mb above zero"),
    (
        "channel-program",
        CCW + "31,fast,,100,0\n",
        "line 2, column 9: cp_ms is empty: expected a number above zero [ms]",
    ),
    (
        "channel-program",
        CCW + "31,fast,10,100,0\n31,fast,100,100,0\n31,fast,1000,100,0\n",
        "the measurements contradict each other",
    ),
    ("processors", "processors,speed\n1,2\n", "unknown column 'speed': known are run, processors, cpu_ms"),
    ("processors", "processors\n1\n2\n4\n", "expected a number in cpu_ms"),
    (
        "processors",
        "processors,cpu_ms\n1.5,2\n2,2\n3,2\n",
        "line 2, column 1: processors '1.5': expected a whole number above zero",
    ),
    ("processors", "processors,cpu_ms\n1,2\n2,2\n", "at least 3 different numbers of processors"),
]


@pytest.mark.first(1)
@pytest.mark.parametrize(("kind", "content", "problem"), BAD)
def test_bad_tables_are_told(
    kind: str, content: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "m.toml"
    assert main(["calibrate", written(tmp_path, content), "--kind", kind, "-o", str(model)]) == 2
    assert problem in capsys.readouterr().err
    assert not model.exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--population", "3"], "none: a disk has no requesters"),
        (["--fix", "hit_wait_time=0.2"], "a unit is missing"),
        (["--fix", "think_time=1ms"], "with a key of write_cp_time [s]"),
        (["--fix", "hit_ratio=0.5"], "with a key of write_cp_time [s]"),
        (["--fix", "write_cp_time=1ms"], "expected one of"),
    ],
)
def test_bad_options_are_told(
    words: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = written(tmp_path, DISK + "on,1,400,1500,600,400,100\n")
    assert main(["calibrate", table, "--kind", "disk", *words, "-o", str(tmp_path / "m.toml")]) == 2
    assert problem in capsys.readouterr().err


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["calibrate", str(tmp_path / "none.csv"), "--kind", "disk", "-o", str(tmp_path / "m.toml")]
    assert main(words) == 2
    assert "no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("schema_version = 2", "schema_version = 3", "a newer planner wrote the file"),
        ("cpu_time_s", "cpu_time", "unknown parameter `cpu_time`; a model of kind processors has cpu_time_s"),
        ('status = "fitted"', 'status = "guessed"', "at `parameters.cpu_time_s.status`"),
        ('kind = "processors"', 'kind = "tape"', "expected one of volume, pool"),
        (
            'kind = "processors"',
            'kind = "paging"',
            "key = 'processors': expected one of outstanding",
        ),
        ("value = 0.0181999", "value = 'fast'", "at `parameters.cpu_time_s.value`"),
        ("[uncertainty]", "[uncertainty", "expected TOML"),
        ("center = [", "center = [ 1.0,", "Expected 3 numbers in `center`"),
    ],
)
def test_a_damaged_model_file_is_told_with_the_path_to_the_key(
    old: str, new: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from planner.library import models_path

    content = models_path("processors").read_text(encoding="utf-8")
    assert old in content
    path = tmp_path / "m.toml"
    path.write_text(content.replace(old, new), encoding="utf-8")
    assert main(["predict", str(path), "--set", "processors=4"]) == 2
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            ["paging-eckd", "--set", "aliases=1"],
            "one of outstanding, think_time [s], arrival_rate [1/s], scv",
        ),
        (["paging-eckd", "--set", "think_time=1"], "a unit is missing"),
        (["paging-eckd", "--set", "outstanding"], "KEY=VALUE such as outstanding=2"),
        (["disk-xedit-emulated-fba"], "expected off or cached, such as --set mode=cached"),
        (["disk-iozone-native-scsi", "--set", "mode=cached"], "mode = 'cached': expected one of off"),
        (["channel-program"], "expected 31 or 64"),
        (["channel-program", "--set", "bits=64", "--set", "data_rate=50"], "a unit is missing"),
        (["processors", "--set", "processors=2.5"], "a count of at least 1"),
        (
            ["processors"],
            "a count, such as --set processors=14: the model was measured with 3 to 12 processors",
        ),
    ],
)
def test_bad_questions_are_told(words: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", *words]) == 2
    assert problem in capsys.readouterr().err


def test_beyond_what_was_measured_a_warning_and_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "processors", "--set", "processors=24", "--json"]) == 0
    done = capsys.readouterr()
    assert "processors outside of what was measured (3 to 12)" in done.err
    row = json.loads(done.out)
    assert row["itr_low"] < row["itr"] < row["itr_high"]


@pytest.mark.parametrize(
    ("model", "over", "rows"),
    [
        ("paging-xiv-concurrent", "outstanding=1:4", 4),
        ("disk-xedit-emulated-fba", "mode=off:cached", 2),
        ("channel-program", "bits=31:64", 2),
        ("processors", "processors=1:16:5", 4),
    ],
)
def test_every_kind_has_grids(
    model: str, over: str, rows: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "grid.svg"
    assert main(["whatif", model, "--over", over, "--csv", "--plot", str(picture)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == rows + 1
    assert picture.stat().st_size > 1000
