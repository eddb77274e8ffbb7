"""Commands that take measurements take an archive: a system, a span of time, the worst interval or the mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli import main
from planner.measurements import read
from planner.measurements.collect import collect
from tests.checkout import ROOT

SITE = ROOT / "docs/examples/site.csv"  # of which a month is enough


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    collect([month(folder, "SYS1")], folder / "site")
    return folder / "site"


def month(folder: Path, system: str) -> Path:
    """June of the site, as of another system."""
    head, *rows = SITE.read_text(encoding="utf-8").splitlines()
    table = folder / f"{system}.csv"
    table.write_text("\n".join([head, *(r.replace("SYS1", system) for r in rows if "2026-06" in r)]), "utf-8")
    return table


def asked(capsys: pytest.CaptureFixture[str], *words: str | Path) -> dict[str, Any]:
    assert main(["aliases", "pool", *map(str, words), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def rates(found: dict[str, Any]) -> dict[str, float]:
    return {pool["pool"]: pool["io_rate"] for pool in found["pools"]}


@pytest.mark.long
def test_the_mean_of_a_day_is_that_of_its_rows(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    day = ("--from", "2026-06-01", "--to", "2026-06-02")
    found = rates(asked(capsys, archive, "--interval", "mean", *day))
    rows = read(archive, start="2026-06-01", end="2026-06-02").devices
    hours = rows["start"].n_unique()
    for pool, rate in found.items():
        assert rate == pytest.approx(rows.filter(pool=pool)["io_rate"].sum() / hours, rel=1e-9)


@pytest.mark.long
def test_without_a_word_the_worst_interval_is_answered_and_said(
    archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = asked(capsys, archive)
    assert any("needs most aliases" in note for note in found["notes"])
    assert rates(found) == rates(asked(capsys, archive, "--interval", "worst", "--system", "SYS1"))
    mean = rates(asked(capsys, archive, "--interval", "mean"))
    assert all(mean[pool] < rate for pool, rate in rates(found).items())


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--system", "NONE"), "NONE"),
        (("--from", "yesterday"), "--from"),
        (("--interval", "best"), "worst, mean, or a time"),
        (("--from", "2031-01-01"), "something was measured"),
    ],
)
def test_what_is_not_there_is_bad_input(
    archive: Path, words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["aliases", "pool", str(archive), *words]) == 2
    assert message in capsys.readouterr().err


@pytest.fixture
def both(tmp_path: Path) -> str:
    """An archive of two systems."""
    folder = tmp_path / "both"
    collect([month(tmp_path, "SYS1"), month(tmp_path, "SYS2")], folder)
    return str(folder)


@pytest.mark.long
def test_two_systems_are_two_questions(both: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", "pool", both]) == 2
    assert "one of SYS1, SYS2" in capsys.readouterr().err


@pytest.mark.long
def test_one_of_two_systems_is_answered(both: str) -> None:
    assert main(["aliases", "pool", both, "--system", "SYS2", "--interval", "mean"]) == 0


HEADINGS = "system,start,interval_s,pool,volume,io_rate,service_ms,queued,pool_aliases"
MEASURED = (  # hour, rate, service [ms], queue, aliases: two counts, of each the hour with the longer queue second;
    (9, 1100.0, 1.3, 0.80, 2),
    (10, 1487.8, 1.3, 2.05, 2),
    (11, 900.0, 1.3, 0.05, 4),
    (12, 1925.3, 1.3, 0.30, 4),
)


@pytest.mark.long
def test_a_model_is_fitted_to_the_worst_interval_of_a_pool_at_each_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        f"SYS1,2026-03-02T{hour:02d}:00:00+00:00,3600,P1,V{k},{rate / 2},{service},{queue / 2},{count}"
        for hour, rate, service, queue, count in MEASURED
        for k in range(2)
    ]
    table = tmp_path / "pool.csv"
    table.write_text("\n".join([HEADINGS, *lines]) + "\n")
    collect([table], tmp_path / "site")
    model = tmp_path / "pool.toml"
    asked = ["calibrate", str(tmp_path / "site"), "--kind", "pool", "--population", "7"]
    assert main([*asked, "-o", str(model), "--json"]) == 0
    residuals = json.loads(capsys.readouterr().out)["residuals"]
    rates = [row["measured"] for row in residuals if row["quantity"] == "io_rate"]
    assert rates == [1487.8, 1925.3]
    text = model.read_text()
    assert 'file = "site"' in text
    assert "sha256" in text


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "one pool of the"),
        (("--pool", "NONE"), "pool NONE has none"),
        (("--pool", "P00", "--from", "yesterday"), "--from"),
    ],
)
def test_an_archive_of_several_pools_is_not_fitted_as_one(
    archive: Path, words: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "pool.toml"
    assert main(["calibrate", str(archive), "--kind", "pool", "-o", str(model), *words]) == 2
    assert message in capsys.readouterr().err
    assert not model.exists()


LISTINGS = ("5-users.listing", "128-users.listing")


def test_storage_in_use_is_that_of_the_listings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [ROOT / "data/real-storage" / name for name in LISTINGS]
    folder = tmp_path / "site"
    collect(files, folder, system="SYS1")
    answers = []
    for sources in (files, [folder]):
        assert main(["storage", "usage", *map(str, sources), "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1]
    assert main(["storage", "usage", str(folder), "--to", "1999-01-01"]) == 2
    assert "something was measured" in capsys.readouterr().err
