"""``planner paging``: JSON, exit codes, bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli import main

QUESTION = ["paging", "--page-rate", "225000/s", "--guests", "20", "--target", "4ms"]


def ask(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_json_has_a_device_for_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ask(capsys, *QUESTION, "--json")
    assert code == 0
    found = json.loads(out)
    assert [device["kind"] for device in found["devices"]] == [
        "eckd",
        "emulated-fba",
        "xiv-serialized",
        "xiv-concurrent",
    ]
    wanted = {"kind", "count", "utilization", "response_ms", "processors", "machine"}
    assert all(wanted <= set(device) for device in found["devices"])
    concurrent = found["devices"][-1]
    assert concurrent["count"] == 20
    assert concurrent["machine"] == "2964-NC9"
    assert concurrent["response_ms"] == pytest.approx(3.5, abs=0.01)
    assert found["devices"][0]["count"] is None
    assert "77 guests would be needed" in found["devices"][0]["reason"]


def test_text_and_csv_carry_where_it_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    for form in ((), ("--csv",)):
        _, out, _ = ask(capsys, *QUESTION, *form)
        for words in ("2964-NC9", "2064-109", "z/VM 6.4", "z/VM 5.1.0", "ESCON"):
            assert words in out


@pytest.mark.long
def test_the_picture_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "paging.png"
    assert ask(capsys, *QUESTION, "--plot", str(picture))[0] == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--page-rate", "225000"), "a unit is missing"),
        (("--page-rate", "225000/d"), "no such unit"),
        (("--page-rate", "0/s"), "greater than zero"),
        (("--page-rate", "1000/s", "--target", "4"), "a unit is missing"),
        (("--page-rate", "1000/s", "--scv", "-1"), "scv"),
        (("--page-rate", "1000/s", "--guests", "0"), "a count of at least 1"),
        (("--page-rate", "1000/s", "--devices", "0"), "a count of at least 1"),
        (
            ("--page-rate", "1000/s", "--kind", "drum"),
            "one of eckd, emulated-fba, xiv-serialized, xiv-concurrent",
        ),
        (("--page-rate", "1000/s", "--cpu-speed", "2964-NC9"), "MACHINE=FACTOR"),
        (("--page-rate", "1000/s", "--cpu-speed", "2964-NC9=0"), "above zero"),
        (("--page-rate", "1000/s", "--cpu-speed", "9672=2"), "one of 2064-109, 2964-NC9"),
        (
            ("--page-rate", "1/s", "--cpu-speed", "2964-NC9=2", "--cpu-speed", "2964-NC9=3"),
            "each of them once",
        ),
        (("--guests", "20"), "a page rate, or --devices to ask how much they carry"),
        (("--devices", "4", "--per-guest", "9/s", "--guests", "2"), "--per-guest asks for the guests"),
        (("--page-rate", "9/s", "--per-guest", "9/s"), "without --page-rate"),
        (("--devices", "4", "--cpu-speed", "2964-NC9=2"), "with a page rate"),
    ],
)
def test_bad_input_is_exit_2(
    words: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, error = ask(capsys, "paging", *words)
    assert (code, out) == (2, "")
    assert problem in error


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        (("--page-rate", "1e12/s"), "are needed"),
        (("--page-rate", "225000/s", "--devices", "3"), "more than 3 devices of any kind can carry"),
        (("--page-rate", "225000/s", "--devices", "1"), "more than 1 device of any kind can carry"),
        (("--page-rate", "10000/s", "--guests", "1", "--kind", "eckd"), "4 guests would be needed"),
        (("--page-rate", "10000/s", "--target", "0.1ms"), "without any wait, the target is shorter"),
    ],
)
def test_no_feasible_answer_is_exit_1(
    words: tuple[str, ...], missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, error = ask(capsys, "paging", *words)
    assert (code, out) == (1, "")
    assert missing in error


@pytest.mark.long
def test_cheapest_needs_the_speed_of_the_machines(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("paging", "--page-rate", "1000/s", "--guests", "40", "--json")
    assert json.loads(ask(capsys, *words)[1])["cheapest"] is None
    assert json.loads(ask(capsys, *words, "--cpu-speed", "2964-NC9=10")[1])["cheapest"] == "eckd"


def test_a_kind_asked_for_twice_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = ask(capsys, "paging", "--page-rate", "1000/s", "--kind", "eckd", "--kind", "eckd", "--json")
    assert len(json.loads(out)["devices"]) == 1


def test_guests_that_are_more_than_the_search_looks_at_are_no_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, _, error = ask(capsys, "paging", "--devices", "20", "--per-guest", "1/h", "--kind", "eckd")
    assert code == 2
    assert "--per-guest = '1/h': expected a larger rate: this one carries 1,000,000 guests" in " ".join(
        error.split()
    )
