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

SITE = ROOT / "docs/examples/site.csv"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive") / "site"
    collect([SITE], folder)
    return folder


def asked(capsys: pytest.CaptureFixture[str], *words: str | Path) -> dict[str, Any]:
    assert main(["aliases", "pool", *map(str, words), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def rates(found: dict[str, Any]) -> dict[str, float]:
    return {pool["pool"]: pool["io_rate"] for pool in found["pools"]}


def test_the_mean_of_a_day_is_that_of_its_rows(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    day = ("--from", "2026-06-01", "--to", "2026-06-02")
    found = rates(asked(capsys, archive, "--interval", "mean", *day))
    rows = read(archive, start="2026-06-01", end="2026-06-02").devices
    hours = rows["start"].n_unique()
    for pool, rate in found.items():
        assert rate == pytest.approx(rows.filter(pool=pool)["io_rate"].sum() / hours, rel=1e-9)


def test_without_a_word_the_worst_interval_is_answered_and_said(
    archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = asked(capsys, archive)
    assert any("worst of each pool" in note for note in found["notes"])
    assert rates(found) == rates(asked(capsys, archive, "--interval", "worst", "--system", "SYS1"))
    mean = rates(asked(capsys, archive, "--interval", "mean"))
    assert all(mean[pool] < rate for pool, rate in rates(found).items())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--system", "NONE"), "NONE"),
        (("--from", "yesterday"), "--from"),
        (("--interval", "best"), "worst, mean, or a time"),
        (("--from", "2031-01-01"), "devices or volumes"),
    ],
)
def test_what_is_not_there_is_bad_input(
    archive: Path, words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["aliases", "pool", str(archive), *words]) == 2
    assert message in capsys.readouterr().err


def test_two_systems_are_two_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head, *rows = SITE.read_text(encoding="utf-8").splitlines()
    other = tmp_path / "other.csv"
    other.write_text("\n".join([head, *(row.replace("SYS1", "SYS2") for row in rows)]), encoding="utf-8")
    folder = tmp_path / "both"
    collect([SITE, other], folder)
    assert main(["aliases", "pool", str(folder)]) == 2
    assert "one of SYS1, SYS2" in capsys.readouterr().err
    assert main(["aliases", "pool", str(folder), "--system", "SYS2"]) == 0
