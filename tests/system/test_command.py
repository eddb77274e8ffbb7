"""`planner system` and `planner whatif` on a system: forms, keys of the JSON, exit codes, comparison, pictures."""

from __future__ import annotations

import csv
import io
import json
from itertools import combinations
from pathlib import Path

import pytest

from planner import system as model
from planner.cli import main

NUMBER = {"value", "low", "high", "basis"}
BASES = {"given", "arithmetic", "calibrated", "predicted", "outside"}


@pytest.fixture
def xiv(tmp_path: Path) -> str:
    path = tmp_path / "xiv.toml"
    path.write_text(model.template("xiv"), encoding="utf-8")
    return str(path)


def numbers(value: object) -> list[dict[str, object]]:
    if isinstance(value, dict):
        return [value] if set(value) == NUMBER else [n for each in value.values() for n in numbers(each)]
    return [n for each in value for n in numbers(each)] if isinstance(value, list) else []


@pytest.mark.parametrize("settings", [[], ["--set", "paging.depth=unlimited"]])
def test_the_keys_of_the_json(xiv: str, capsys: pytest.CaptureFixture[str], settings: list[str]) -> None:
    assert main(["system", xiv, "--json", *settings]) == 0
    data = json.loads(capsys.readouterr().out)
    for key in (
        "throughput",
        "miss_ratio",
        "frames_for_pages",
        "pages_without_frame",
        "overcommitment",
        "page_rate",
    ):
        assert set(data[key]) == NUMBER
    (station,) = data["stations"]
    assert set(station) == {
        "name",
        "devices",
        "transfers",
        "utilization",
        "queue_length",
        "wait_ms",
        "response_ms",
    }
    assert set(data["processors"]) == {"guest_busy", "cp_charged_busy", "cp_system_busy", "total_busy"}
    assert {"bounds", "bottleneck", "elasticity"} <= set(data)
    for number in numbers(data):
        assert number["basis"] in BASES
        if number["basis"] == "outside":
            assert number["value"] is number["low"] is number["high"] is None
        else:
            assert number["low"] <= number["value"] <= number["high"]


def test_the_command_is_one_with_the_function(xiv: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["system", xiv, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    answer = model.solve(xiv)
    assert data == json.loads(json.dumps(answer.to_dict()))
    assert main(["system", xiv]) == 0
    assert capsys.readouterr().out == answer.text() + "\n"
    assert main(["system", xiv, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["figure"] for row in rows] == list(answer.table().columns[0].values)
    assert len({row["figure"] for row in rows}) == len(rows)


@pytest.mark.parametrize("more", [[], ["--over", "guests.count=16:17"], ["--compare", "FILE"]])
def test_json_begins_with_the_headline_of_the_text(
    xiv: str, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    asked = ["system", xiv, *(xiv if each == "FILE" else each for each in more)]
    assert main(asked) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert main([*asked, "--json"]) == 0
    key, headline = next(iter(json.loads(capsys.readouterr().out).items()))
    assert key == "headline" and text.startswith(headline)


def test_text_fits_a_terminal(xiv: str) -> None:
    for answer in (
        model.solve(xiv),
        model.solve(xiv, ["paging.depth=unlimited"]),
        model.whatif(xiv, ["guests.count=16:20"]),
    ):
        assert max(map(len, answer.text().splitlines())) <= 80


def test_a_grid_and_whatif_say_the_same(xiv: str, capsys: pytest.CaptureFixture[str]) -> None:
    over = ["--over", "guests.count=16:24:4", "--set", "storage.real=1088GiB", "--json"]
    assert main(["system", xiv, *over]) == 0
    first = capsys.readouterr().out
    assert main(["whatif", xiv, *over]) == 0
    assert capsys.readouterr().out == first
    data = json.loads(first)
    assert [each["settings"]["guests.count"] for each in data["scenarios"]] == [16, 20, 24]
    assert all(each["cannot_run"] is None for each in data["scenarios"])


def test_two_systems_side_by_side(xiv: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.toml"
    text = (
        model.template("xiv")
        .replace("depth = 1 ", 'depth = "unlimited" ')
        .replace("real_gib = 1024", "real_gib = 1088")
    )
    other.write_text(text, encoding="utf-8")
    assert main(["system", xiv, "--compare", str(other), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    effects = {each["input"]: each["effect"] for each in data["differences"]}
    assert set(effects) == {"storage.real", "paging[xiv].depth"}
    alone = (
        model.solve(xiv, ["storage.real=1088GiB"]).found.throughput.value
        / model.solve(xiv).found.throughput.value
    )
    assert effects["storage.real"] == pytest.approx(alone - 1)
    assert main(["system", xiv, "--compare", str(other)]) == 0
    assert "largest alone: paging[xiv].depth, 1 -> unlimited" in " ".join(capsys.readouterr().out.split())


@pytest.mark.long
def test_pictures(xiv: str, tmp_path: Path) -> None:
    for k, more in enumerate(([], ["--over", "guests.count=16:20"], ["--compare", xiv])):
        assert (
            main(
                ["system", xiv, *more, "--plot", str(tmp_path / f"{k}.png"), "-o", str(tmp_path / f"{k}.txt")]
            )
            == 0
        )
        assert (tmp_path / f"{k}.png").stat().st_size > 5000


@pytest.mark.long
def test_a_comparison_and_a_grid_say_only_what_they_show(tmp_path: Path) -> None:
    """Equal systems do not differ, a change of sign has no percent, no note on processors that the file has not."""
    file = tmp_path / "minimal.toml"
    file.write_text(model.template("minimal"), encoding="utf-8")
    one, few = model.solve(file), model.solve(file, ["guests.count=10"])
    same = model.compare(one, one)
    assert (same.headline, same.notes) == ("first and second do not differ.", ())
    changes = {row[0]: row[2:5] for row in model.compare(one, few).compared()}
    before, after, change = changes["elasticity, guests.count"]
    assert before is not None and after is not None and before < 0 < after and change is None
    assert not any("Processor" in note for note in model.whatif(file, ["guests.count=10:11"]).notes)


def test_labels_of_a_comparison_do_not_overlap(xiv: str) -> None:
    """Those of both systems, and of neighboring rows, stood over each other."""
    axes = model.compare(model.solve(xiv), model.solve(xiv, ["paging.depth=unlimited"])).plot()
    axes.figure.canvas.draw()
    boxes = [
        each.get_window_extent() for each in (*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels())
    ]
    inside = [box for box in boxes if box.width and axes.bbox.x0 - box.width <= box.x0 <= axes.bbox.x1]
    assert len(inside) > 12 and not [1 for a, b in combinations(inside, 2) if a.overlaps(b)]


def test_a_picture_of_a_system_without_guests_has_no_bounds(tmp_path: Path) -> None:
    path, picture = tmp_path / "paging.toml", tmp_path / "paging.png"
    path.write_text(
        '[[paging]]\nname = "p"\ndevices = 4\nservice_time_ms = 2\npages_per_transfer = 10\n',
        encoding="utf-8",
    )
    assert main(["system", str(path), "--plot", str(picture), "-o", str(tmp_path / "paging.txt")]) == 0
    assert picture.stat().st_size > 1000


def test_templates_and_the_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "made.toml"
    assert main(["system", "--template", "minimal", "-o", str(path)]) == 0
    assert main(["system", str(path)]) == 0
    capsys.readouterr()
    assert main(["system", "--template", "hyperpav"]) == 0
    assert capsys.readouterr().out == model.template("hyperpav")
    assert main(["system", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"].startswith("A z/VM system")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "--template minimal"),
        (["nothing.toml"], 2, "cannot be read"),
        (["FILE", "--set", "storage.real=5GiB"], 1, "the system cannot run"),
        (["FILE", "--over", "storage.real=5GiB:6GiB:1GiB"], 1, "cannot run"),
        (["FILE", "--over", "guests.count=1:2", "--compare", "FILE"], 2, "one of them"),
        (["FILE", "--template", "xiv"], 2, "no other argument"),
        (["--template", "xiv", "--set", "guests.count=17"], 2, "no other argument"),
        (["--schema", "--plot", "schema.png"], 2, "no other argument"),
        (["--system", "ONE"], 2, "--from with it"),
        (["--from", "nothing"], 2, "nothing"),
        (["--template", "xvi"], 2, "did you mean 'xiv'"),
    ],
)
def test_exit_codes(
    xiv: str, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    assert main(["system", *[xiv if a == "FILE" else a for a in arguments]]) == code
    output = capsys.readouterr()
    assert message in " ".join((output.out + output.err).split())


@pytest.mark.long
def test_a_file_from_an_archive_is_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from planner.library import data_path

    archive, made = tmp_path / "archive", tmp_path / "made.toml"
    listing = str(data_path("hyperpav", "522A-0-aliases.listing"))
    assert main(["collect", listing, "-o", str(archive)]) == 0
    assert main(["system", "--from", str(archive), "-o", str(made)]) == 0
    capsys.readouterr()
    assert main(["system", str(made), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["io_rate"]["value"] == pytest.approx(755, rel=0.05)
