"""``planner aliases supply`` and ``planner read --volume-totals`` as people call them, and what they hand on."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli import main
from planner.library import data_path
from planner.measurements import Run
from planner.supply import SupplyAnswer, judge
from tests.checkout import ROOT

SUPPLY = str(ROOT / "docs/examples/supply-counters.csv")
VOLUMES = str(ROOT / "docs/examples/volume-counters.csv")
POOLS = str(ROOT / "docs/examples/pools.csv")


def test_supply_json_has_the_promised_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", "supply", SUPPLY, "--json"]) == 0
    pools = json.loads(capsys.readouterr().out)["pools"]
    promised = {"pool", "verdict", "fail_fraction", "aliases", "aliases_needed", "removable"}
    assert all(promised <= set(pool) for pool in pools)
    assert [pool["verdict"] for pool in pools] == ["not enough", "enough", "too many"]


def test_supply_csv_and_one_pool(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", "supply", SUPPLY, "--pool", "2", "--csv"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (row["pool"], row["verdict"], row["aliases"]) == ("2", "too many", "12")


def test_a_model_that_nothing_asks_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Only volume totals are read with a model."""
    assert main(["aliases", "supply", SUPPLY, "--model", "none"]) == 2
    assert "--model = 'none': expected it with --volumes" in capsys.readouterr().err


@pytest.mark.long
def test_supply_picture(tmp_path: Path) -> None:
    assert main(["aliases", "supply", SUPPLY, "--plot", str(tmp_path / "supply.png")]) == 0
    assert (tmp_path / "supply.png").stat().st_size > 5000


def test_the_target_decides(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", "supply", SUPPLY, "--pool", "1", "--no-alias", "0.1%", "--json"]) == 0
    (pool,) = json.loads(capsys.readouterr().out)["pools"]
    assert pool["verdict"] == "not enough"
    assert pool["aliases_needed"] > 6


def test_volume_totals_json_has_the_promised_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", VOLUMES, "--volume-totals", "--pools", POOLS, "--json"]) == 0
    (volume,) = json.loads(capsys.readouterr().out)["rows"]
    promised = {"device", "io_rate", "pend_ms", "connect_ms", "disconnect_ms", "service_ms", "response_ms"}
    assert promised <= set(volume)
    assert volume["device"] == "522A"
    assert volume["io_rate"] == 1100
    assert volume["connect_ms"] == pytest.approx((400 * 1.2 + 700 * 1.4) / 1100)


def test_volume_totals_of_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", VOLUMES, "--volume-totals"]) == 0
    of_file = capsys.readouterr().out
    with Path(VOLUMES).open(encoding="utf-8") as content:
        monkeypatch.setattr("sys.stdin", content)
        assert main(["read", "-", "--volume-totals"]) == 0
    assert capsys.readouterr().out == of_file


@pytest.mark.long
@pytest.mark.parametrize("encoding", ["utf-16", "utf-8", "utf-8-sig"])
def test_supply_counters_of_standard_input_in_any_encoding(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["aliases", "supply", SUPPLY, "--csv"]) == 0
    expected = capsys.readouterr().out
    content = Path(SUPPLY).read_text(encoding="utf-8").encode(encoding)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert main(["aliases", "supply", "-", "--csv"]) == 0
    assert capsys.readouterr().out == expected
    path = tmp_path / "supply.csv"
    path.write_bytes(content)
    assert main(["aliases", "supply", str(path), "--csv"]) == 0
    assert capsys.readouterr().out == expected


@pytest.mark.long
def test_volume_totals_feed_aliases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    totals = str(tmp_path / "totals.csv")
    assert main(["read", VOLUMES, "--volume-totals", "--pools", POOLS, "--csv", "-o", totals]) == 0
    assert main(["aliases", "pool", totals, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["in_use"] == 2
    assert answer["rows"][2]["io_rate"] == pytest.approx(1100, rel=0.05)


@pytest.mark.long
def test_volume_totals_feed_calibrate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The published runs of 522A as totals give the model that their listings give."""
    tables = []
    for name, rate, service, queued in (("0", 755, 1.3, 1.84), ("2", 1619, 1.73, 0.0)):
        path = tmp_path / f"{name}.csv"
        path.write_text(
            "device,pool,pool_aliases,interval_s,io_rate,alias_rate,pend_ms,disconnect_ms,service_ms,queued\n"
            f"522A,1,{name},600,{rate},0,.2,.2,{service},{queued}\n",
            encoding="utf-8",
        )
        tables.append(str(path))
    model = tmp_path / "model.toml"
    assert main(["calibrate", *tables, "--kind", "volume", "--population", "3", "-o", str(model)]) == 0
    assert "inflation" in model.read_text(encoding="utf-8")
    assert capsys.readouterr().out


@pytest.mark.long
def test_the_forecast_shows_the_same_counters(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", "pool", str(data_path("hyperpav", "pool-8-aliases.listing")), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    for row, counters in zip(answer["rows"], answer["counters"], strict=True):
        assert set(counters) == {"aliases", "tries_rate", "fails_rate", "fewest_free", "most_free"}
        assert counters["fails_rate"] == pytest.approx(row["no_alias"] * counters["tries_rate"])
        assert 0 <= counters["fewest_free"] <= counters["most_free"] <= row["aliases"]


BAD = {
    "no file": (("aliases", "supply", "none.csv"), "none.csv"),
    "a listing": (("aliases", "supply", str(data_path("hyperpav", "pool-8-aliases.listing"))), "no alias pool with"),
    "volume counters": (("aliases", "supply", VOLUMES), "no alias pool with"),
    "target without unit": (("aliases", "supply", SUPPLY, "--no-alias", "1"), "below 100%"),
    "target of everything": (("aliases", "supply", SUPPLY, "--no-alias", "100%"), "below 100%"),
    "no such pool": (("aliases", "supply", SUPPLY, "--pool", "9"), "one of 0, 1, 2"),
    "supply as volumes": (("read", SUPPLY, "--volume-totals"), "a file of volume counters"),
    "counters as totals": (("aliases", "pool", VOLUMES), "is in no pool"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_message_and_exit_code_two(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, expected = BAD[case]
    assert main(list(words)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert expected in captured.err
    assert len(captured.err.strip().splitlines()) == 1


@pytest.mark.long
def test_volume_totals_of_several_intervals_are_their_mean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of those that were asked for; once the last one counted alone."""
    totals, rates = tmp_path / "totals.csv", []
    rows = [
        f"2007-05-27T{hour}:00,3600,1,6,0201,{rate},1.3,.2" for hour, rate in ((14, 9), (15, 400), (16, 200))
    ]
    totals.write_text("\n".join(["start,interval_s,pool,aliases,device,io_rate,service_ms,queued", *rows]))

    def judged(*asked: Any, volumes: dict[str, Run], **rest: Any) -> SupplyAnswer:
        rates.append(float(volumes["1"].total_rate.value))
        return judge(*asked, **rest)

    monkeypatch.setattr("planner.supply.judge", judged)
    assert main(["aliases", "supply", SUPPLY, "--volumes", str(totals), "--from", "2007-05-27T15:00"]) == 0
    assert rates == [300.0]
