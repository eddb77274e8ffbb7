"""`planner report` and `--report`: what is asked of which measurements, what is refused, what stands on the page."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from planner import __version__
from planner.cli import main
from planner.errors import InputError
from planner.library import data_path
from planner.page import report
from tests.checkout import ROOT

LISTING = data_path("hyperpav", "522A-0-aliases.listing")
COUNTERS = ROOT / "docs" / "examples" / "supply-counters.csv"


def embedded(html: str) -> dict[str, object]:
    text = html.partition('id="data">')[2].partition("</script>")[0]
    found: dict[str, object] = json.loads(text)
    return found


def test_a_listing_is_answered_as_aliases_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The data on the page are those of `planner aliases --json`, and the first line is said."""
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(LISTING), "-o", "page.html", "--growth", "50%"]) == 0
    said = capsys.readouterr().out.strip()
    html = Path("page.html").read_text(encoding="utf-8")
    assert main(["aliases", "volume", str(LISTING), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    data = embedded(html)
    assert data["answers"] == [printed]
    assert said == printed["headline"]
    assert hashlib.sha256(LISTING.read_bytes()).hexdigest() in html
    assert f"<code>planner report {LISTING} -o page.html --growth 50%</code>" in html
    assert f"zvm-planner {__version__}" in html
    (steps,) = data["growth"]  # type: ignore[misc]
    assert [step["words"] for step in steps] == ["as measured", "+50 %"]
    assert steps[0]["tiles"]["needed"] == str(printed["recommended"])
    assert main(["aliases", "volume", str(LISTING), "--growth", "50%", "--json"]) == 0
    assert steps[1]["tiles"]["needed"] == str(json.loads(capsys.readouterr().out)["recommended"])


def test_supply_counters_have_their_verdicts_and_no_slider(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert main(["report", str(COUNTERS), "-o", str(path)]) == 0
    html = path.read_text(encoding="utf-8")
    assert "Supply counters" in html
    assert 'class="growth"' not in html
    assert len(re.findall(r'<img src="data:image/svg\+xml;base64,', html)) == 1
    assert "No published report holds figures of this kind" in html


def test_standard_output_takes_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(COUNTERS), "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("<!DOCTYPE html>")


def test_an_existing_page_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "page.html"
    path.write_text("mine")
    assert main(["report", str(COUNTERS), "-o", str(path)]) == 2
    assert "--force" in capsys.readouterr().err
    assert path.read_text() == "mine"
    assert main(["report", str(COUNTERS), "-o", str(path), "--force"]) == 0


def test_what_holds_neither_volumes_nor_counters_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    listing = data_path("real-storage", "5-users.listing")
    assert main(["report", str(listing), "-o", "-"]) == 2
    assert "volumes or supply counters; found" in capsys.readouterr().err
    with pytest.raises(InputError, match="at least one file, or an archive"):
        report([])


def test_no_such_file_no_such_growth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path / "none.csv"), "-o", "-"]) == 2
    assert "none.csv" in capsys.readouterr().err
    assert main(["report", str(COUNTERS), "-o", "-", "--growth", "many"]) == 2
    assert "--growth" in capsys.readouterr().err
    steps = ",".join(f"{share}%" for share in range(1, 20))
    assert main(["report", str(COUNTERS), "-o", "-", "--growth", steps]) == 2
    assert "at most 12 shares" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["aliases", "volume", str(LISTING)],
        ["aliases", "supply", str(COUNTERS)],
        ["growth", str(ROOT / "docs" / "examples" / "io-rate.csv"), "--value", "io_rate", "--limit", "5000"],
    ],
    ids=["volume", "supply", "growth"],
)
def test_any_answer_has_a_page_and_prints_the_same_beside_it(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "page.html"
    assert main([*words, "--json"]) == 0
    alone = capsys.readouterr().out
    assert main([*words, "--json", "--report", str(path)]) == 0
    assert capsys.readouterr().out == alone
    html = path.read_text(encoding="utf-8")
    assert embedded(html)["answers"] == [json.loads(alone)]
    assert hashlib.sha256(Path(next(word for word in words if "/" in word)).read_bytes()).hexdigest() in html
    assert main([*words, "--report", str(path)]) == 2, "an existing page needs --force"


SITE = """system,start,interval_s,pool,aliases,device,io_rate,service_ms,queued
VM1,2026-03-02T08:00,900,A,0,5200,400,1.3,0.4
VM1,2026-03-02T08:15,900,A,0,5200,600,1.3,1.2
VM1,2026-03-02T08:30,900,A,0,5200,100,1.3,0.01
VM1,2026-03-02T08:00,900,B,2,5300,100,1.3,0.01
VM1,2026-03-02T08:15,900,B,2,5300,120,1.3,0.01
VM1,2026-03-02T08:30,900,B,2,5300,90,1.3,0.01
"""


@pytest.mark.slow
@pytest.mark.parametrize("command", ["report", "site"])
def test_days_are_answered_as_site_does(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same data by either command; the exit code says that a pool is short."""
    source, path = tmp_path / "site.csv", tmp_path / "page.html"
    source.write_text(SITE)
    alone = main(["site", str(source), "--workers", "1", "--json"])
    printed = json.loads(capsys.readouterr().out)
    option = ["-o", str(path), "--growth", "100%"] if command == "report" else ["--report", str(path)]
    assert main([command, str(source), *option, "--workers", "1"]) == alone == 1
    html = path.read_text(encoding="utf-8")
    assert embedded(html)["answers"] == [printed]
    for words in (
        "aliases needed over time",
        "by hour of the week",
        "I/O rate [1/s] over aliases",
        "What the measurement",
    ):
        assert words in html
    assert html.count('class="item"') == 2
    assert ('class="growth"' in html) == (command == "report")


@pytest.mark.long
def test_what_breaks_first_stands_on_the_page_of_days_enough(tmp_path: Path) -> None:
    """Limits are those of `planner growth`; fewer days leave the section out."""
    from planner.site.example import example_volumes

    html = ""
    for days, there in ((9, False), (20, True)):
        path = tmp_path / f"{days}.csv"
        example_volumes(days=days, pools=1, volumes=2, hours=2).write_csv(path)
        html = report([path], growth=()).html
        assert ("What breaks first" in html) == there
    _, growth = embedded(html)["answers"]  # type: ignore[misc]
    assert main(["growth", str(tmp_path / "20.csv"), "-o", str(tmp_path / "growth.json"), "--json"]) == 0
    assert growth == json.loads((tmp_path / "growth.json").read_text(encoding="utf-8"))
