"""``planner growth``: keys, verdicts, what is given in place of the trend, and what is refused."""

from __future__ import annotations

import io
import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from planner.cli import main
from planner.site.growth.answer import ahead
from planner.site.series import read_series
from tests.checkout import ROOT

SERIES = str(ROOT / "docs/examples/io-rate.csv")
KEYS = [
    "system", "what", "unit", "now", "trend_per_year", "trend_low", "trend_high", "limit", "date", "date_low",
    "date_high", "verdict",
]  # fmt: skip
YEAR = 365.25


def asked(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    assert main(["growth", *words, "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def straight(folder: Path, *, days: int, trend: float = 0.3, level: float = 1000.0) -> str:
    """A line without noise, the weekend at half."""
    path = folder / "line.csv"
    first = date(2026, 1, 5)
    rows = [
        f"{first + timedelta(days=k)},{level * (1 + trend * k / YEAR) * (1 if k % 7 < 5 else 0.5):.6f}"
        for k in range(days)
    ]
    path.write_text("start,load\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def test_the_keys_are_those_of_the_documentation(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, SERIES, "--value", "io_rate", "--limit", "5000")
    (limit,) = found["limits"]
    assert list(limit) == KEYS
    assert limit["system"] == ""
    assert limit["what"] == "io_rate"
    assert limit["unit"] == "1/s"
    assert limit["verdict"] == "within horizon"
    # The example was made with a trend of 25 % a year, and a shift of 18 % on 2026-07-02, a day without measurements.
    assert limit["trend_low"] < 0.25 / (1 + 0.25 * 364 / YEAR) < limit["trend_high"]
    assert limit["date_low"] < limit["date"] < limit["date_high"]
    (shift,) = found["shifts"]
    assert shift["date"] in {"2026-07-02", "2026-07-03"}
    assert shift["size_low"] < 0.18 < shift["size_high"]
    assert [each["days"] for each in found["levels"]] == [90, 180, 365]


@pytest.mark.parametrize("trend", [0.0, 0.3, -0.2])
def test_a_line_without_noise_is_found_to_the_day(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], trend: float
) -> None:
    (limit,) = asked(capsys, straight(tmp_path, days=300, trend=trend), "--limit", "1399.9")["limits"]
    assert limit["trend_per_year"] == pytest.approx(trend / (1 + trend * 299 / YEAR), abs=1e-4)
    assert limit["now"] == pytest.approx(1000 * (1 + trend * 299 / YEAR), rel=1e-4)
    if trend <= 0:
        assert (limit["verdict"], limit["date"]) == ("not within horizon", None)
        return
    # 1,399.9 is reached after 486.9 days, so that the first with more is the next one, a Friday.
    assert limit["date"] == str(date(2026, 1, 5) + timedelta(days=487))
    assert limit["date_low"] <= limit["date"] <= limit["date_high"]


def test_at_the_weekend_the_limit_is_not_passed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """1,397 is passed on a Saturday (day 483, 15.9 hours in), at half the level: the Monday after counts."""
    line = straight(tmp_path, days=300)
    (limit,) = asked(capsys, line, "--limit", "1396")["limits"]
    assert date.fromisoformat(limit["date"]).weekday() == 0
    assert limit["date"] == str(date(2026, 1, 5) + timedelta(days=483 - 483 % 7 + 7 if 483 % 7 >= 5 else 483))


def test_a_limit_below_the_need_of_today_is_already(capsys: pytest.CaptureFixture[str]) -> None:
    (limit,) = asked(capsys, SERIES, "--limit", "3500")["limits"]
    assert limit["verdict"] == "already"
    assert limit["date"] < "2026-12-31"


def test_too_few_days_have_no_trend(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for days in (1, 13, 14):
        (limit,) = asked(capsys, straight(tmp_path, days=days), "--limit", "1400")["limits"]
        assert limit["verdict"] == "too few days"
        assert [limit[key] for key in ("trend_per_year", "date", "date_low", "date_high")] == [None] * 4
        assert limit["now"] == pytest.approx(1000, rel=0.02)
    (limit,) = asked(capsys, straight(tmp_path, days=5), "--limit", "900")["limits"]
    assert limit["verdict"] == "already"
    assert main(["growth", straight(tmp_path, days=14), "--limit", "1400"]) == 0
    assert "14 days are too few" in " ".join(capsys.readouterr().out.split())


def test_given_growth_compounds_in_place_of_the_trend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = straight(tmp_path, days=365, trend=0.0)
    (limit,) = asked(capsys, line, "--limit", "1440", "--growth", "20%/year")["limits"]
    # 1,000 x 1.2^2 = 1,440: two years after the last day, 2027-01-04.
    assert abs((date.fromisoformat(limit["date"]) - date(2029, 1, 3)).days) <= 3
    few = asked(capsys, straight(tmp_path, days=3, trend=0.0), "--limit", "1440", "--growth", "20%/year")
    assert few["limits"][0]["verdict"] == "within horizon"


@pytest.mark.long
def test_an_event_raises_the_load_from_its_day_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = straight(tmp_path, days=365, trend=0.0)
    given = ("--limit", "1200", "--growth", "0%/year", "--event", "2027-03-06:+30%")
    (limit,) = asked(capsys, line, *given)["limits"]
    assert limit["date"] == "2027-03-08"  # the 6th is a Saturday
    (none,) = asked(capsys, line, *given[:-1], "2027-03-06:+10%")["limits"]
    assert none["verdict"] == "not within horizon"
    (before,) = asked(capsys, line, *given, "--horizon", "60days")["limits"]
    assert (before["verdict"], before["date"]) == ("not within horizon", None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--limit", "0"], "--limit"),
        (["--limit", "5000", "--workers", "2"], "--workers = '2': expected it with measurements of a site"),
        (["--limit", "5000", "--model", "none"], "--model = 'none': expected it with measurements of a site"),
        (["--limit", "5000", "--resident-pages", "50"], "--resident-pages = '50': expected it with"),
        (["--limit", "5000", "--allow-missing"], "--allow-missing = 'True': expected it with"),
        (["--limit", "5000/s"], "--limit"),
        (["--limit", "5000", "--growth", "20%"], "--growth"),
        (["--limit", "5000", "--growth", "-100%/year"], "--growth"),
        (["--limit", "5000", "--growth", "500%/year"], "--event is a step"),
        (["--limit", "5000", "--event", "2026-03-01:+30%"], "a day after the last measured one"),
        (["--limit", "5000", "--event", "2027-03-01:30"], "--event"),
        (["--limit", "5000", "--event", "2027-13-01:+30%"], "--event"),
        (["--limit", "5000", "--event", "2027-03-01:+3%", "--event", "2027-03-01:+5%"], "twice"),
        (["--limit", "5000", "--horizon", "5"], "--horizon"),
        (["--limit", "5000", "--horizon", "200years"], "--horizon"),
        (["--value", "cpu"], "--value"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["growth", SERIES, *words]) == 2
    assert said in capsys.readouterr().err


def test_no_load_at_all_reaches_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "idle.csv"
    rows = [f"{date(2026, 1, 5) + timedelta(days=k)},0" for k in range(100)]
    path.write_text("start,load\n" + "\n".join(rows) + "\n", encoding="utf-8")
    (limit,) = asked(capsys, str(path), "--limit", "10")["limits"]
    assert limit["now"] == pytest.approx(0.0, abs=1e-9)
    assert limit["verdict"] == "not within horizon"


@pytest.mark.long
def test_a_picture_of_one(tmp_path: Path) -> None:
    one = tmp_path / "one.svg"
    assert main(["growth", SERIES, "--limit", "5000", "--plot", str(one)]) == 0
    drawn = one.read_text(encoding="utf-8")
    assert all(f">{words}</text>" in drawn for words in ("90 %", "limit", "90 % of the date"))


@pytest.mark.parametrize(
    ("days", "words"), [(2, "2 days"), (364, "1 year"), (400, "400 days"), (1826, "5 years")]
)
def test_a_horizon_in_words(days: int, words: str) -> None:
    assert ahead(days) == words


@pytest.mark.long
def test_a_picture_of_several(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [line for line in Path(SERIES).read_text(encoding="utf-8").splitlines()[1:]]
    several = tmp_path / "several.csv"
    lines = [f"{row},{system}" for system in ("SYSA", "SYSB") for row in rows]
    several.write_text("start,io_rate,system\n" + "\n".join(lines) + "\n", encoding="utf-8")
    all_of_them = tmp_path / "all.png"
    assert main(["growth", str(several), "--limit", "5000", "--plot", str(all_of_them)]) == 0
    assert all_of_them.stat().st_size > 10_000
    assert "2 of 2 limits are reached within 5 years" in capsys.readouterr().out


@pytest.mark.first(1)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_series_of_standard_input_in_any_encoding(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = Path(straight(tmp_path, days=5))
    expected = asked(capsys, str(line), "--limit", "1400")
    content = line.read_text(encoding="utf-8").encode(encoding)
    line.write_bytes(content)
    for words in ([], ["--value", "load"]):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert asked(capsys, "-", "--limit", "1400", *words) == expected
        assert asked(capsys, str(line), "--limit", "1400", *words) == expected


def test_a_site_of_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "site.csv"
    path.write_text("start,interval_s,volume,io_rate,service_ms\n2026-03-01T10:00,3600,V1,500,1.2\n")
    expected = asked(capsys, str(path))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert asked(capsys, "-") == expected


def test_rows_above_what_devices_can_do_are_the_problem_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "site.csv"
    rows = [f"2026-03-0{day}T10:00,3600,8A00,0045,1,500,9.0,.5" for day in (2, 3, 4)]
    path.write_text(
        "\n".join(["start,interval_s,device,pool,aliases,io_rate,service_ms,queued", *rows]) + "\n"
    )
    assert main(["growth", str(path)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert (
        "site.csv: I/O rate of pool 0045 has no answer at 2026-03-02 10:00: service time of 8A00 = 9.0 ms"
        in said
    )
    assert "measurements =" not in said


def test_processes_do_not_change_the_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "site.csv"
    rows = [f"2026-03-{day:02d}T10:00,3600,V{k},,{500 + day},1.2,.4" for day in range(1, 5) for k in (1, 2)]
    table.write_text("\n".join(["start,interval_s,volume,pool,io_rate,service_ms,queued", *rows]) + "\n")
    one, two = (asked(capsys, str(table), "--workers", number) for number in "12")
    assert one == two
    assert main(["growth", str(table), "--workers", "0"]) == 2
    assert "--workers = 0: expected a count of at least 1" in capsys.readouterr().err


def test_a_limit_that_was_passed_before_the_first_day_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing happened on the first measured day: the load was above the limit before."""
    series = str(ROOT / "docs" / "examples" / "io-rate.csv")
    assert main(["growth", series, "--value", "io_rate", "--limit", "500"]) == 0
    first = read_series(series, "io_rate").first
    assert f"since {first} or before." in " ".join(capsys.readouterr().out.split())


def test_a_weekday_that_was_never_measured_has_no_factor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(straight(tmp_path, days=140))
    first = date(2026, 1, 5)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(
        "".join(
            [lines[0], *(row for k, row in enumerate(lines[1:]) if (first + timedelta(days=k)).weekday() < 6)]
        ),
        encoding="utf-8",
    )
    (load,) = asked(capsys, str(path), "--limit", "2000")["series"]
    assert load["week"][:5] == pytest.approx([1.0] * 5, abs=0.02)
    assert load["week"][5] == pytest.approx(0.5, abs=0.02)
    assert load["week"][6] is None
    assert main(["growth", str(path), "--limit", "2000"]) == 0
    (row,) = [
        line for line in capsys.readouterr().out.splitlines() if line.startswith("load") and "0.50" in line
    ]
    assert row.split()[6:8] == ["0.50", "-"]
