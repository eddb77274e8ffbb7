"""`planner report` and `--report`: what is asked of which measurements, what is refused, what stands on the page."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from planner import __version__
from planner.cli import main
from planner.demand import Target
from planner.errors import InputError
from planner.library import data_path
from planner.measurements.over_time import read_supplies
from planner.page import report
from planner.page.parts import part_of
from planner.page.question import PageQuestion
from planner.queueing import alias_pool
from planner.render.text import word
from planner.supply import judge
from tests.checkout import ROOT

LISTING = data_path("hyperpav", "522A-0-aliases.listing")
COUNTERS = ROOT / "docs" / "examples" / "supply-counters.csv"


def embedded(html: str) -> dict[str, object]:
    text = html.partition('id="data">')[2].partition("</script>")[0]
    found: dict[str, object] = json.loads(text)
    return found


@pytest.mark.long
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
    assert " ".join(said.split()) == printed["headline"]
    assert hashlib.sha256(LISTING.read_bytes()).hexdigest() in html
    assert f"<code>planner report {LISTING} -o page.html --growth 50%</code>" in html
    assert f"zvm-planner {__version__}" in html
    (steps,) = data["growth"]  # type: ignore[misc]
    assert [step["words"] for step in steps] == ["as measured", "+50 %"]
    assert steps[0]["tiles"]["needed"] == str(printed["recommended"])
    assert main(["aliases", "volume", str(LISTING), "--growth", "50%", "--json"]) == 0
    assert steps[1]["tiles"]["needed"] == str(json.loads(capsys.readouterr().out)["recommended"])


@pytest.mark.long
def test_supply_counters_have_their_verdicts_and_no_slider(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert main(["report", str(COUNTERS), "-o", str(path)]) == 0
    html = path.read_text(encoding="utf-8")
    assert "Supply counters" in html
    assert 'class="growth"' not in html
    assert len(re.findall(r'<img src="data:image/svg\+xml;base64,', html)) == 1
    assert "No published report has figures of this kind" in html


@pytest.mark.long
def test_a_model_of_supply_counters_alone_is_refused() -> None:
    with pytest.raises(InputError, match="model = 'other': expected it with volumes: counters alone"):
        report([COUNTERS], model="other")


@pytest.mark.long
@pytest.mark.parametrize("archive", [False, True])
def test_counters_of_several_systems_are_those_of_each_alone(
    archive: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pools of one name in two systems on other days: each as `planner aliases supply` has it, order of files aside."""
    head, *rows = COUNTERS.read_text(encoding="utf-8").splitlines()
    by_pool = {number: [row for row in rows if row.split(",")[1] == number] for number in "012"}
    alone, files = {}, []
    for name, pools in {"VM2": (by_pool["2"], by_pool["1"]), "VM1": (by_pool["0"], by_pool["2"])}.items():
        lines = [
            ",".join([name, row.split(",")[0], str(k), *row.split(",")[2:]])
            for k in (0, 1)
            for row in pools[k]
        ]
        text = "\n".join([f"system,{head}", *lines])
        files.append(tmp_path / f"{name}.csv")
        files[-1].write_text(text.replace("2007-05-27", "2007-05-28") if name == "VM1" else text)
        assert main(["aliases", "supply", str(files[-1]), "--json"]) == 0
        for pool in json.loads(capsys.readouterr().out)["pools"]:
            alone[f"{name}/{pool['pool']}"] = {key: each for key, each in pool.items() if key != "pool"}
    if archive:
        assert main(["collect", *map(str, files), "-o", str(tmp_path / "archive")]) == 0
        files = [tmp_path / "archive"]
    (answer,) = embedded(report(files).html)["answers"]  # type: ignore[misc]
    pools = {pool.pop("pool"): pool for pool in answer["pools"]}
    assert [*pools] == ["VM1/0", "VM1/1", "VM2/0", "VM2/1"]
    assert pools == alone


@pytest.mark.long
def test_standard_output_takes_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(COUNTERS), "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("<!DOCTYPE html>")


@pytest.mark.long
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


def test_a_file_of_two_systems_is_answered_for_each(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("system,device,io_rate,service_ms,queued\nA,522A,500,1.3,0.5\nB,522A,700,1.3,1.5\n")
    assert PageQuestion(target=Target(), sources=(path,)).look().systems == ("A", "B")


def test_no_such_file_no_such_growth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path / "none.csv"), "-o", "-"]) == 2
    assert "none.csv" in capsys.readouterr().err
    assert main(["report", "-", "-o", "-"]) == 2
    assert "FILE = '-': expected a file or an archive" in capsys.readouterr().err
    assert main(["report", str(COUNTERS), "-o", "-", "--growth", "many"]) == 2
    assert "--growth" in capsys.readouterr().err
    steps = ",".join(f"{share}%" for share in range(1, 20))
    assert main(["report", str(COUNTERS), "-o", "-", "--growth", steps]) == 2
    assert "at most 12 shares" in capsys.readouterr().err


@pytest.mark.first(1)
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
    for words in ("I/O rate [1/s] over aliases", "What the measurement"):
        assert words in html
    assert "aliases needed over time" not in html, "three intervals are no chart"
    assert html.count('class="item"') == 2
    assert ('class="growth"' in html) == (command == "report")


SAID = (
    r"(?P<pool>\S+): (?P<needed>\d+) needed \((?P<low>\d+) to (?P<high>\d+)\), (?P<used>\d+) in use",
    r"(?P<pool>\S+) needs \d+ more "
    r"\((?P<needed>\d+) instead of (?P<used>\d+)(?:, 90 %: (?P<low>\d+) to (?P<high>\d+))?\)",
    r"pool (?P<pool>\S+): (?P<needed>\d+) alias(?:es)? \((?P<low>\d+)(?: to (?P<high>\d+))?\), (?P<used>\d+) in use",
)


def contradictions(html: str) -> list[str]:
    """What a page says of a pool in more than one way: its count, both ends of its range, and what is in use."""
    answers = embedded(html)["answers"]
    found: dict[tuple[str, str], set[int]] = {}
    for need in answers[0]["pools"]:  # type: ignore[index]
        for key, heading in (
            ("needed", "needed"),
            ("low", "needed_low"),
            ("high", "needed_high"),
            ("used", "in_use"),
        ):
            found[need["pool"], key] = {need[heading]}
    for pattern in SAID:
        for match in re.finditer(pattern, re.sub(r"<[^>]*>", "", html.partition("<script")[0])):
            for key in ("needed", "low", "high", "used"):
                if match[key]:
                    found[match["pool"].rpartition("/")[2], key].add(int(match[key]))
    for row in re.finditer(r"<tr data-verdict.*?</tr>", html):
        cells = re.sub(r"<[^>]*>", "|", row[0].replace("</td><td", "</td>|<td"))
        words = [each for each in cells.split("|") if each]
        name = words[0].rpartition("/")[2]
        for key, text in zip(("used", "needed", "low", "high"), words[3:7], strict=True):
            found[name, key].add(int(text))
    for limit in answers[1]["limits"] if len(answers) > 1 else ():  # type: ignore[index, arg-type]
        kind, _, name = limit["what"].partition(" of pool ")
        if kind == "aliases":
            found[name, "used"].add(int(limit["limit"]))
            found[name, "needed"].add(int(limit["now"]))
    said = [f"{pool} {key}: {sorted(values)}" for (pool, key), values in found.items() if len(values) > 1]
    return said + drawn_otherwise(html, answers) + tiles_otherwise(html, answers[0]["pools"])  # type: ignore[index]


DRAWN = {  # what the words of a drawn picture say of the pool it stands below
    "needed": r"recommended (\d+) alias",
    "needed_worst": r"Most, (\d+),",
    "in_use": r"more than the (\d+) in use",
    "short_intervals": r"; (\d+) of \d+ intervals need more",
    "intervals": r"; \d+ of (\d+) intervals need more",
}


def drawn_otherwise(html: str, answers: Any) -> list[str]:
    """What the pictures of a page say that its answers do not: those it draws, and those it holds as files."""
    found = []
    for name, item in re.findall(
        r'<details class="item".*?data-name="([^"]+)"(.*?)</details>', html, re.DOTALL
    ):
        need = next(each for each in answers[0]["pools"] if each["pool"] == name.rpartition("/")[2])
        pictures = re.findall(r"<svg class=.chart.*?</svg>", item, re.DOTALL)
        assert len(pictures) == 4
        for key, pattern in DRAWN.items():
            words = {int(each) for svg in pictures for each in re.findall(pattern, svg)}
            found += [f"picture of {name} {key}: {sorted(words)}"] * (words != {need[key]})
    limits = {each["what"]: each["limit"] for each in answers[1]["limits"]}
    files = re.findall(r"data:image/svg\+xml;base64,([^\"]+)", html)
    texts = re.findall(
        r"<text[^>]*>([^<]*)</text>", "".join(base64.b64decode(file).decode() for file in files)
    )
    rows = [text.rpartition(": ")[::2] for text in texts if text.rpartition(": ")[0] in limits]
    assert rows
    return found + [f"row of {what}: {text}" for what, text in rows if float(text) != limits[what]]


def tiles_otherwise(html: str, needs: list[dict[str, Any]]) -> list[str]:
    """Tiles whose numbers are not those of the answer, and first steps of the slider that are not the tiles."""
    verdicts = [word(each["verdict"]) for each in needs]
    ends = [sum(each[key] for each in needs) for key in ("needed_low", "needed_high")]
    wanted = {
        "pools short": (verdicts.count("short"), f"{sum(each['to_add'] for each in needs)} to add"),
        "enough": (verdicts.count("enough"), ""),
        "spare": (verdicts.count("spare"), f"{sum(each['to_gain'] for each in needs)} can be freed"),
        "aliases needed": (sum(each["needed"] for each in needs),
                           f"range {ends[0]} to {ends[1]}" if ends[0] < ends[1] else "no other in the range"),
        "in use": (sum(each["in_use"] for each in needs), ""),
    }  # fmt: skip
    tile = (
        r'<div class="tile([^>]*)>\s*<dt>([^<]*)</dt><dd><span class="value">([^<]*)</span>'
        r'(?:<span class="detail">([^<]*)</span>)?'
    )
    shown = {
        label: (re.sub(r'.*data-follows="(\w+)".*|.*', r"\1", more), value, detail)
        for more, label, value, detail in re.findall(tile, html)
    }
    found = [label for label, pair in wanted.items() if shown[label][1:] != (str(pair[0]), pair[1])]
    for step in (steps[0] for steps in embedded(html)["growth"] if steps):  # type: ignore[attr-defined]
        tiles = {follows: value for follows, value, _ in shown.values() if follows}
        assert len(tiles) == 4
        found += [key for key, value in tiles.items() if step["tiles"][key] != value]
    return [f"tile {each}" for each in found]


def poisson_pools(aliases: dict[str, int], *, days: int = 60, volumes: int = 6) -> pl.DataFrame:
    """Two hours a day of growing pools of Poisson volumes, each with its aliases, its queue by the solver."""
    starts = [
        datetime(2026, 3, 2) + timedelta(days=day, hours=hour) for day in range(days) for hour in (10, 11)
    ]
    week = np.array([(1.0, 1.0, 0.98, 1.0, 0.95, 0.5, 0.4)[start.weekday()] for start in starts])
    noise = np.exp(0.04 * np.random.default_rng(3).standard_normal(week.size))
    load = 0.5 * (1.0 + 0.6 * np.arange(week.size) / 730) * week * noise
    frames = []
    for k, (name, many) in enumerate(aliases.items()):
        found = alias_pool(
            np.full(load.size, many), volumes=np.full((load.size, 1), volumes), service_time=1e-3,
            arrival_rate=1e3 * load[:, None], inflation=0.1, redrive_time=3e-5,
        )  # fmt: skip
        rate, service, queue = found.throughput, 1e3 * found.service_time, found.queue_length - found.in_gap
        frames.append(pl.DataFrame({
            "start": np.repeat(np.array(starts, dtype="datetime64[us]"), volumes), "interval": 3600.0, "pool": name,
            "device": [f"{16 * k + volume:04X}" for volume in range(volumes)] * load.size, "aliases": many,
            "io_rate": np.repeat(rate.round(1), volumes), "service_ms": np.repeat(service.round(3), volumes),
            "queued": np.repeat(queue.round(3), volumes),
        }))  # fmt: skip
    return pl.concat(frames)


@pytest.mark.slow
def test_no_two_numbers_of_a_page_contradict(tmp_path: Path) -> None:
    """Pools of two months, one short, one with enough; the same number wherever it stands, at the measured demand.

    Only supply counters show aliases to spare; with them no tile follows growth.
    """
    path = tmp_path / "days.csv"
    poisson_pools({"P1": 1, "P2": 9}).write_csv(path)
    html = report([path], growth=(0.5,), workers=1).html
    assert not contradictions(html)
    assert "P1 needs" in html
    assert "`" not in html.partition("<script")[0]
    wrong = re.sub(r"(needs \d+ more \()(\d+)", lambda m: f"{m[1]}{int(m[2]) + 1}", html)
    assert contradictions(wrong)
    picture = base64.b64encode(b"<text>aliases of pool P1: 7</text>").decode()
    for pattern, other in (
        (r"recommended \d+ aliases", "recommended 77 aliases"),
        (r"; \d+ of (\d+) intervals need more", r"; 77 of \1 intervals need more"),
        (r'(?<=<dt>aliases needed</dt><dd><span class="value">)\d+', "77"),
        (r"(?<=svg\+xml;base64,)[^\"]+", picture),
    ):
        wrong, changed = re.subn(pattern, other, html, count=1)
        assert changed and len(contradictions(wrong)) > 0, pattern


@pytest.mark.long
def test_what_breaks_first_stands_on_the_page_of_days_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Limits are those of `planner growth`; fewer days leave the section out; a file is read once for all of them."""
    from planner.measurements import formats
    from planner.site.example import example_volumes

    reads: list[Path] = []
    tables_of = formats.tables_of
    monkeypatch.setattr(
        formats, "tables_of", lambda source, options: reads.append(source.path) or tables_of(source, options)
    )
    html = ""
    for days, there in ((9, False), (20, True)):
        path = tmp_path / f"{days}.csv"
        example_volumes(days=days, pools=1, volumes=2, hours=2).write_csv(path)
        html = report([path], growth=(), model="none").html  # without inflation every load has a count
        assert ("What breaks first" in html) == there
        assert reads.pop() == path
        assert not reads
    _, growth = embedded(html)["answers"]  # type: ignore[misc]
    asked = ["growth", str(tmp_path / "20.csv"), "--model", "none"]
    assert main([*asked, "-o", str(tmp_path / "growth.json"), "--json"]) == 0
    assert growth == json.loads((tmp_path / "growth.json").read_text(encoding="utf-8"))


HEADINGS = "volume,start,interval_s,io_rate,service_ms,queued,pool,aliases\n"


def minute(volume: str, at: int, pool: str = "", aliases: int = 0) -> str:
    return f"{volume},2026-03-02T10:{at:02d},60,500,1.3,0.8,{pool},{aliases}\n"


@pytest.mark.long
@pytest.mark.parametrize("intervals", [1, 2])
def test_volumes_without_a_pool_are_answered_each_whatever_the_number_of_intervals(
    tmp_path: Path, intervals: int
) -> None:
    path = tmp_path / "volumes.csv"
    path.write_text(HEADINGS + "".join(minute(v, at) for at in range(intervals) for v in ("A", "B")))
    html = report([path], growth=(), workers=1).html
    (answer,) = embedded(html)["answers"]  # type: ignore[misc]
    rows = answer.get("pools") or answer["volumes"]
    assert {row.get("needed") or row["recommended"] for row in rows} == {2}
    assert {row.get("pool") or row["device"] for row in rows} == {"A", "B"}
    assert any("each volume is answered with aliases of its own" in note for note in answer["notes"])


@pytest.mark.long
def test_volumes_in_a_pool_and_in_none_stand_on_one_page(tmp_path: Path) -> None:
    path = tmp_path / "mixed.csv"
    path.write_text(HEADINGS + minute("A", 0, "P", 2) + minute("B", 0, "P", 2) + minute("C", 0))
    (answer,) = embedded(report([path], growth=(), workers=1).html)["answers"]  # type: ignore[misc]
    assert {(row["kind"], row["pool"]) for row in answer["pools"]} == {("pool", "P"), ("volume", "C")}


@pytest.mark.long
def test_counters_that_say_otherwise_than_the_averages_decide(tmp_path: Path) -> None:
    """One page held that a pool is short of 14 and has 4 to spare."""
    devices, counters = tmp_path / "devices.csv", tmp_path / "counters.csv"
    rows = [f"2026-03-02T10:00:00,3600,0,8,010{k},100,2,0.10" for k in range(4)]
    devices.write_text("\n".join(["start,interval_s,pool,aliases,device,io_rate,service_ms,queued", *rows]))
    head = "time,pool,IODHPP_HPPTRIES,IODHPP_HPPFAILS,IODHPP_HPPMINCT,IODHPP_HPPMAXCT,aliases"
    rows = [f"2026-03-02T10:{k:02}:00,0,{2000 * k},0,{4 if k else 8},8,8" for k in range(30)]
    counters.write_text("\n".join([head, *rows]))
    page = report([devices, counters]).html
    assert "Pool 0: spare by its supply counters, short by the averages. The counters decide" in page


@pytest.mark.long
def test_each_of_several_systems_is_named_with_its_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pools of the same name in two systems: title, data and the printed lines say whose each answer is."""
    monkeypatch.chdir(tmp_path)
    columns = "system,pool,aliases,device,io_rate,service_ms,queued\n"
    Path("two.csv").write_text(f"{columns}VM<1>,P,2,522A,500,1.3,0.5\nVM2,P,2,522A,300,1.3,1.5\n")
    main(["report", "two.csv", "-o", "page.html", "--growth", "0"])
    said = " ".join(capsys.readouterr().out.split())
    html = Path("page.html").read_text(encoding="utf-8")
    titles = re.findall(r"<h2[^>]*>([^<]*)", html)
    assert [each.split(":")[0] for each in titles[:2]] == ["VM2", "VM&lt;1&gt;"]
    assert [each["system"] for each in embedded(html)["answers"]] == ["VM2", "VM<1>"]  # type: ignore[attr-defined]
    assert said.startswith("VM2: pool P: ") and " VM<1>: pool P: " in said


@pytest.mark.long
def test_a_pool_that_lacks_a_volume_says_so_at_every_growth(tmp_path: Path) -> None:
    """Of several pools in one interval, the first line of every step begins as that of `planner aliases`."""
    path = tmp_path / "pools.csv"
    rows = [minute(name, 0, pool, 2) for name, pool in (("A", "P"), ("B", "P"), ("C", "Q"), ("D", "Q"))]
    lacking = "E,2026-03-02T10:00,60,,,,P,2\n"
    path.write_text(HEADINGS + "".join(rows) + lacking)
    found = embedded(report([path], growth=(0.5,), workers=1).html)
    said = [step["headline"].partition("by the other rows")[0] for step in found["growth"][0]]  # type: ignore[index]
    assert "could not be read" in said[0]
    assert said == [said[0]] * 2


@pytest.mark.long
def test_tiles_of_counters_add_up_pools_of_their_verdict() -> None:
    """A pool with enough that could do with one less was no spare pool, and "1 can be freed" stood below."""
    examples = ROOT / "docs" / "examples"
    answer = judge(read_supplies([examples / "smf74-1.csv", examples / "smf78-3.csv"]))
    assert [(word(each.verdict), each.removable) for each in answer.pools] == [("enough", 1)]
    tiles = {each.label: (each.value, each.detail) for each in part_of(answer, "p0").tiles}
    assert (tiles["spare"], tiles["pools short"]) == (("0", "0 can be freed"), ("0", "0 to add"))
