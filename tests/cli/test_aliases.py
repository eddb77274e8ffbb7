"""``planner aliases`` as people call it: forms of output, selection of devices, targets, and every bad input."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from planner.cli import main
from planner.library import data_path

VOLUME = str(data_path("hyperpav", "522A-0-aliases.listing"))
ONE_ALIAS = str(data_path("hyperpav", "522A-1-alias.listing"))
POOL = str(data_path("hyperpav", "pool-0-aliases.listing"))
POOL_8 = str(data_path("hyperpav", "pool-8-aliases.listing"))
NUMBERS = ("--rate", "755/s", "--service", "1.3ms", "--response", "3.7ms", "--queue", "1.84")


def test_json_has_the_promised_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", "volume", VOLUME, "--device", "522a", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {"recommended", "range", "rule_of_thumb", "in_use", "demand", "rows"} <= set(answer)
    assert set(answer["demand"]) == {"kind", "population", "think_time_ms", "why"}
    assert set(answer["rows"][0]) == {
        "aliases", "io_rate", "io_rate_low", "io_rate_high", "service_ms", "wait_ms", "response_ms", "queued",
        "no_alias", "response_low_ms", "response_high_ms",
    }  # fmt: skip
    assert answer["demand"]["population"] == 3


def test_numbers_and_listing_agree(capsys: pytest.CaptureFixture[str]) -> None:
    main(["aliases", "volume", VOLUME, "--device", "522A", "--json"])
    listing = json.loads(capsys.readouterr().out)
    main(["aliases", "volume", *NUMBERS, "--json"])
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["rows"] == listing["rows"]


@pytest.mark.long
def test_pool_from_numbers_of_one_volume(capsys: pytest.CaptureFixture[str]) -> None:
    numbers = (
        "--rate",
        "736/s",
        "--service",
        "1.3ms",
        "--response",
        "3.8ms",
        "--queue",
        "1.8",
        "--volumes",
        "8",
    )
    assert main(["aliases", "pool", *numbers, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["rows"][0]["io_rate"] == pytest.approx(8 * 736, rel=0.01)
    assert answer["rule_of_thumb"] == 15
    assert 13 <= answer["recommended"] <= 16


@pytest.mark.long
def test_several_bases_are_answered_longest_queue_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", "volume", POOL, "--json"]) == 0
    volumes = json.loads(capsys.readouterr().out)["volumes"]
    assert sorted(volume["device"] for volume in volumes) == [f"{n:04X}" for n in range(0x522A, 0x5232)]
    assert all(volume["recommended"] == 2 for volume in volumes)


def test_csv_is_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", "volume", VOLUME, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["aliases"] for row in rows] == ["0", "1", "2", "3", "4"]
    assert float(rows[0]["io_rate"]) == pytest.approx(755, rel=0.01)


@pytest.mark.long
def test_text_fits_eighty_columns_and_says_what_it_rests_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", "pool", POOL]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    for words in ("rule of thumb 15", "about 3 requesters", "Next: add", "By model hyperpav"):
        assert words in text


def test_aliases_in_use_are_counted_in(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", "volume", ONE_ALIAS, "--device", "522A", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["in_use"] == 1
    assert answer["rule_of_thumb"] == 2
    assert answer["rows"][1]["io_rate"] == pytest.approx(942, rel=0.01)


@pytest.mark.long
def test_where_no_count_serves_what_else_fits_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """The likeliest demand of the row turns into service; others that fit need some, as the range would say."""
    words = ["--rate", "50/s", "--service", "1.00ms", "--queue", "0.30", "--in-use", "4"]
    assert main(["aliases", "volume", *words]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "no count up to 255 aliases" in said
    found = re.search(r"demands that fit the row as well need (\d+) or more: a row with another", said)
    assert found and 4 <= int(found[1]) <= 255


@pytest.mark.long
def test_a_pool_with_aliases_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", "pool", POOL_8, "--bases", "522A-5231", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["in_use"] == 8
    assert answer["rule_of_thumb"] == 16
    assert 13 <= answer["recommended"] <= 16
    assert answer["rows"][8]["io_rate"] == pytest.approx(9979, rel=0.01)
    assert answer["rows"][16]["io_rate"] == pytest.approx(13395, rel=0.08)


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("target", "low", "high"),
    [(("--wait", "0.1ms"), 12, 14), (("--queued", "0.05"), 15, 16), (("--response", "2ms"), 8, 11),
     (("--no-alias", "1%"), 15, 16)],
)  # fmt: skip
def test_targets(target: tuple[str, str], low: int, high: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", "pool", POOL, *target, "--json"]) == 0
    assert low <= json.loads(capsys.readouterr().out)["recommended"] <= high


def test_output_goes_to_a_file_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "answer.json"
    command = ["aliases", "volume", VOLUME, "--json", "-o", str(target)]
    assert main(command) == 0
    assert json.loads(target.read_text(encoding="utf-8"))["recommended"] == 2
    assert main(command) == 2
    assert "--force" in capsys.readouterr().err
    assert main([*command, "--force"]) == 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["answer.png", "answer.svg"])
def test_a_picture_is_drawn(name: str, tmp_path: Path) -> None:
    assert main(["aliases", "volume", VOLUME, "--plot", str(tmp_path / name)]) == 0
    assert (tmp_path / name).stat().st_size > 5000


BAD = {
    "bare number": (("volume", "--rate", "755/s", "--service", "1.3"), "a unit is missing"),
    "bare rate": (("volume", "--rate", "755", "--service", "1.3ms"), "--rate"),
    "negative": (("volume", "--rate", "755/s", "--service", "-1.3ms"), "--service"),
    "zero": (("volume", "--rate", "0/s", "--service", "1.3ms", "--queue", "1"), "greater than zero"),
    "not a number": (("volume", "--rate", "nan/s", "--service", "1.3ms", "--queue", "1"), "--rate"),
    "negative queue": (("volume", "--rate", "755/s", "--service", "1.3ms", "--queue", "-1"), "--queue"),
    "response below service": (
        ("volume", "--rate", "755/s", "--service", "1.3ms", "--response", "0.7ms"), "at least the service time",
    ),
    "queue against response": (
        ("volume", "--rate", "755/s", "--service", "1.3ms", "--response", "3.7ms", "--queue", "9"), "contradict",
    ),
    "busy beyond all": (("volume", "--rate", "755/s", "--service", "1.3s", "--queue", "1.84"), "982 times at once"),
    "queue in letters": (("volume", "--rate", "755/s", "--service", "1.3ms", "--queue", "many"), "--queue"),
    "service alone": (("volume", "--service", "1.3ms"), "--rate"),
    "nothing but a target": (("volume", "--wait", "1ms"), "files, or the numbers rate and service"),
    "listing and numbers": (
        ("volume", VOLUME, "--rate", "755/s", "--service", "1.3ms", "--queue", "1"), "exclude each other",
    ),
    "no such device": (("volume", VOLUME, "--device", "9999"), "522A"),
    "an alias as device": (("volume", ONE_ALIAS, "--device", "5249"), "alias of 522A"),
    "range without bases": (("pool", POOL, "--bases", "6000-6010"), "6000-6010"),
    "range backwards": (("pool", POOL, "--bases", "5231-522A"), "lower to a higher"),
    "range in letters": (("pool", POOL, "--bases", "XYZ"), "hexadecimal"),
    "HyperPAV asked as volume": (("volume", POOL_8), "planner aliases pool"),
    "classic PAV asked as pool": (("pool", ONE_ALIAS), "planner aliases volume"),
    "missing file": (("volume", "no-such.listing"), "no-such.listing"),
    "unknown model": (("volume", VOLUME, "--model", "nonesuch"), "hyperpav"),
    "both forms": (("volume", VOLUME, "--json", "--csv"), "one of them"),
    "growth without unit": (("volume", VOLUME, "--growth", "30"), "--growth"),
    "picture of another kind": (("volume", VOLUME, "--plot", "x.gif"), ".png"),
    "target without unit": (("volume", VOLUME, "--target-response", "2"), "--target-response = '2'"),
    "target of everything": (("volume", VOLUME, "--no-alias", "100%"), "--no-alias = 1.0: expected a share below"),
    "growth of nothing": (("volume", VOLUME, "--growth", ""), "--growth = ''"),
    "two targets of one name": (
        ("volume", VOLUME, "--response", "2ms", "--target-response", "3ms"), "one of them: with files both",
    ),
    "no volumes": (("pool", *NUMBERS, "--volumes", "0"), "--volumes"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_message_and_exit_code_two(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, expected = BAD[case]
    assert main(["aliases", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert expected in captured.err
    assert len(captured.err.strip().splitlines()) == 1


def test_no_feasible_answer_is_exit_code_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", "pool", POOL, "--response", "1.2ms"]) == 1
    assert "aliases do not shorten" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["aliases", "volume", "--help"], ["aliases", "--help"], ["--help"], ["--version"]]
)
def test_help_is_an_answer(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    assert capsys.readouterr().out
