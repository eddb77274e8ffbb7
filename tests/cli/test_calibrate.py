"""``planner calibrate``, ``predict`` and ``whatif`` as people call them: CSV and listings, output, bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli import main
from planner.library import data_path, read_model

ROWS = "population,aliases,io_rate\n3,0,755\n3,1,1290\n3,2,1619\n"
DEVICES = """run,device,role,population,io_rate,service_ms,queued
one,522A,base,3,552,1.70,.02
one,5249,alias,,545,1.70,
one,524C,alias,,522,1.80,
"""


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


@pytest.mark.long
def test_three_rates_make_a_model_that_can_be_asked(rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = rows.with_name("model.toml")
    assert main(["calibrate", str(rows), "--kind", "volume", "-o", str(model)]) == 0
    assert "3 requesters a volume (given)" in capsys.readouterr().out
    assert main(["predict", str(model), "--set", "aliases=2", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["aliases"] == 2
    assert row["io_rate_low"] < 1619 < row["io_rate_high"]
    assert (
        main(
            [
                "aliases",
                "volume",
                "--rate",
                "755/s",
                "--service",
                "1.3ms",
                "--queue",
                "1.84",
                "--model",
                str(model),
            ]
        )
        == 0
    )


@pytest.mark.long
def test_listings_with_and_without_their_requesters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listings = [str(data_path("hyperpav", f"522A-{name}.listing")) for name in ("0-aliases", "2-aliases")]
    model = tmp_path / "model.toml"
    assert main(["calibrate", *listings, "--kind", "volume", "-o", str(model), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["population"]["value"] == 3
    assert found["population"]["status"] == "fitted"
    assert {each["quantity"] for each in found["residuals"]} == {"io_rate", "service_ms", "queued"}
    assert [source.file for source in read_model(model).source] == [
        "hyperpav/522A-0-aliases.listing", "hyperpav/522A-2-aliases.listing",
    ]  # fmt: skip


def test_one_row_a_device(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "devices.csv"
    path.write_text(DEVICES, encoding="utf-8")
    assert main(["calibrate", str(path), "--kind", "pool", "-o", str(tmp_path / "m.toml"), "--json"]) == 0
    residuals = json.loads(capsys.readouterr().out)["residuals"]
    assert residuals[0]["measured"] == 1619
    assert residuals[1]["measured"] == pytest.approx((552 * 1.7 + 545 * 1.7 + 522 * 1.8) / 1619)
    assert read_model(tmp_path / "m.toml").validity["aliases"] == (2.0, 2.0)


def test_what_is_known_is_kept(rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = rows.with_name("model.toml")
    words = ["--fix", "think_time=0.2ms", "--fix", "redrive_time=0ms"]
    assert main(["calibrate", str(rows), "--kind", "volume", *words, "-o", str(model)]) == 0
    found = read_model(model).parameters
    assert (found["think_time_s"].value, found["think_time_s"].status) == (0.2e-3, "fixed")
    assert found["redrive_time_s"].value == 0
    assert main(["predict", str(model), "--set", "aliases=1"]) == 0


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            "population,aliases,rate\n3,0,755\n",
            "line 1, column 20: unknown column 'rate': known are run, device",
        ),
        ("population,io_rate\n3,755\n", "line 1, column 19: missing aliases: expected runs of a volume"),
        ("population,aliases\n3,0\n", "line 1, column 19: missing one of io_rate"),
        (
            "population,aliases,io_rate\n3,0,fast\n",
            "line 2, column 5: io_rate 'fast': expected a number above zero [1/s]",
        ),
        ("population,aliases,io_rate\n3,0\n", "line 2, column 4: 2 cells: expected 3"),
        (
            "population,aliases,io_rate\n3,-1,755\n",
            "line 2, column 3: aliases '-1': expected a whole number from 0",
        ),
        (
            "population,aliases,io_rate\n0,1,755\n",
            "line 2, column 1: population '0': expected a whole number above zero",
        ),
        (
            "population,aliases,io_rate\n3,0,\n",
            "line 2, column 1: nothing measured: expected a number in one of io_rate",
        ),
        (
            "population,aliases,io_rate\n3,0,0\n",
            "line 2, column 5: io_rate '0': expected a number above zero [1/s]",
        ),
        (
            "population,aliases,volumes,io_rate\n3,0,8,755\n",
            "line 2, column 5: volumes has 8 volumes: expected 1 volume; several are --kind pool",
        ),
        ("population,aliases,io_rate,response_ms\n2,0,755,3.7\n", "the measurements contradict each other"),
        (
            "aliases,io_rate,service_ms\n0,755,1300\n",
            "line 2, column 7: service_ms of bad line 2 = 1300.0 ms: expected at most 1.325 ms at 755/s: 1 device",
        ),
        ("population,aliases,queued\n3,0,1.84\n", "queues alone do not determine a service time"),
        (
            "aliases,aliases,io_rate\n0,0,755\n",
            "line 1, column 9: a second column aliases: expected each column once",
        ),
        ("aliases,io_rate\n", "no rows below the header"),
    ],
)
def test_bad_tables_are_told_by_line(
    tmp_path: Path, content: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(content, encoding="utf-8")
    assert main(["calibrate", str(path), "--kind", "volume", "-o", str(tmp_path / "m.toml")]) == 2
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "m.toml").exists()


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (("a,boss,3,552,1.7,.1",), "line 2, column 3: role 'boss': expected base or alias"),
        (("a,alias,,552,1.7,",), "line 2, column 3: role of a is alias only: expected a base"),
        (
            ("a,base,3,,1.7,.1",),
            "line 2, column 10: io_rate is empty: expected the rate of every device [1/s]",
        ),
        (("a,base,3,552,,.1",), "line 2, column 14: service_ms is empty or 0: expected the service time of"),
        (("a,base,3,0,,.1",), "line 2, column 10: io_rate of all devices of a is 0: expected I/O"),
        (
            ("a,base,3,552,1.7,.1", "a,base,3,552,1.7,"),
            "line 3, column 18: queued is empty: expected the queue of every",
        ),
        (
            ("a,base,3,552,1.7,.1", "a,base,4,552,1.7,.1"),
            "line 3, column 8: population is not that of line 2",
        ),
        (("a,base,1,552,1.7,1.1",), "line 2, column 8: population of a = 1: expected at least 2"),
    ],
)
def test_bad_devices_are_told_by_line(
    tmp_path: Path, rows: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("\n".join(["run,role,population,io_rate,service_ms,queued", *rows]), encoding="utf-8")
    assert main(["calibrate", str(path), "--kind", "pool", "-o", str(tmp_path / "m.toml")]) == 2
    assert problem in capsys.readouterr().err


def test_an_idle_device_adds_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its service time was not measured, and need not be."""
    path = tmp_path / "devices.csv"
    path.write_text(DEVICES + "one,524D,alias,,0,,\n", encoding="utf-8")
    assert main(["calibrate", str(path), "--kind", "pool", "-o", str(tmp_path / "m.toml"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["residuals"][0]["measured"] == 1619
    assert read_model(tmp_path / "m.toml").validity["aliases"] == (3.0, 3.0)


@pytest.mark.parametrize("column", ["response_ms", "aliases"])
def test_a_column_that_a_device_does_not_use_is_refused(
    tmp_path: Path, column: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "devices.csv"
    path.write_text(DEVICES.replace("device", column, 1), encoding="utf-8")
    assert main(["calibrate", str(path), "--kind", "pool", "-o", str(tmp_path / "m.toml")]) == 2
    assert (
        f"line 1, column 5: unknown column '{column}': known are run, device, role" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--kind", "tape"], "expected one of volume, pool"),
        (["--kind", "volume", "--population", "0"], "a count of at least 1"),
        (["--kind", "volume", "--pool", "P1"], "--pool = 'P1': expected none: --device chooses a volume"),
        (["--kind", "volume", "--fix", "think_time=0.2"], "a unit is missing"),
        (["--kind", "volume", "--fix", "speed=3"], "a key of service_time"),
        (["--kind", "pool"], "missing volumes"),
        (
            [
                "--kind",
                "volume",
                "--fix",
                "think_time=1ms",
                "--fix",
                "service_time=1ms",
                "--fix",
                "inflation=0.1",
                "--fix",
                "redrive_time=0ms",
            ],
            "at least one parameter left to fit",
        ),
    ],
)
def test_bad_options_are_named(
    rows: Path, words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", str(rows), *words, "-o", str(rows.with_name("m.toml"))]) == 2
    assert problem in capsys.readouterr().err


def test_an_existing_model_needs_force(rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", str(rows), "--kind", "volume", "-o", str(rows)]) == 2
    assert "--force" in capsys.readouterr().err


@pytest.mark.long
def test_a_grid_as_csv_and_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "grid.png"
    words = ["whatif", "hyperpav-volume-runs", "--over", "aliases=0:3", "--csv", "--plot", str(picture)]
    assert main(words) == 0
    done = capsys.readouterr()
    assert len(done.out.splitlines()) == 5
    assert done.out.startswith("aliases,io_rate,io_rate_low,io_rate_high,service_ms,service_low_ms")
    assert "aliases outside of what was measured" in done.err
    assert picture.stat().st_size > 1000


def test_requesters_that_contradict_the_table_are_refused(
    rows: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["calibrate", str(rows), "--kind", "volume", "-o", str(rows.with_name("model.toml"))]
    assert main([*words, "--population", "4"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "--population = 4: expected 3, as rows line 2 says, or a table that leaves it out" in told
    assert main([*words, "--fix", "think_time=0ms"]) == 2  # no command could ask such a model
    assert "think_time = '0ms': expected a time such as 1.3ms, greater than zero" in " ".join(
        capsys.readouterr().err.split()
    )
    assert main([*words, "--population", "3"]) == 0


def test_several_given_numbers_of_requesters_are_all_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("population,aliases,io_rate,service_ms\n3,0,755,1.3\n6,2,1600,1.6\n")
    assert main(["calibrate", str(table), "--kind", "volume", "-o", str(tmp_path / "model.toml")]) == 0
    assert capsys.readouterr().out.startswith("3 to 6 requesters a volume (given)")


def test_a_damaged_model_is_told_by_its_own_keys(rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not as an option of another command; and a parameter outside of its bounds with the file's title."""
    model = rows.with_name("model.toml")
    assert main(["calibrate", str(rows), "--kind", "volume", "-o", str(model)]) == 0
    text = model.read_text()
    model.write_text(text.replace("population = 3", "population = 0"))
    assert main(["predict", str(model), "--set", "aliases=1"]) == 2
    assert "Expected a `population` from 1 to 1000000" in " ".join(capsys.readouterr().err.split())
    head, _, tail = text.partition("[parameters.inflation]\n")
    entry, _, rest = tail.partition("[parameters")
    model.write_text(f'{head}[parameters.inflation]\nvalue = 20.0\nstatus = "fitted"\n\n[parameters{rest}')
    assert entry.startswith("value")
    assert main(["predict", str(model), "--set", "aliases=1"]) == 2
    assert "`parameters.inflation` is 20: expected 0.0001 to 2" in " ".join(capsys.readouterr().err.split())
