"""``planner disk rate`` and ``planner disk ccw``: JSON, exit codes, bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from planner.cli import main

RATE = ("disk", "rate", "--workload", "xedit", "--hit-ratio")
CCW = ("disk", "ccw", "--read-write", "70:30", "--bits", "64")


def ask(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_rate_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ask(capsys, *RATE, "0.9", "--requesters", "8", "--processors", "2", "--json")
    assert code == 0
    found = json.loads(out)
    assert set(found) >= {"rows", "break_even_hit_ratio"}
    wanted = {"kind", "mode", "hit_ratio", "rate", "cp_us", "virtual_us", "processors"}
    assert all(wanted <= set(row) for row in found["rows"])
    assert [(row["kind"], row["mode"], row["hit_ratio"]) for row in found["rows"]] == [
        ("eckd-minidisk", "off", None), ("eckd-minidisk", "cached", 0.9),
        ("emulated-fba", "off", None), ("emulated-fba", "cached", 0.9),
    ]  # fmt: skip
    assert all(0 < row["processors"] <= 2 for row in found["rows"])


@pytest.mark.parametrize(("ratio", "published"), [("1", (474.86, 476.82)), ("0%", (428.84, 34.75))])
def test_all_hits_and_all_misses_are_the_published_runs(
    ratio: str, published: tuple[float, float], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = json.loads(ask(capsys, *RATE, ratio, "--json")[1])["rows"]
    measured = [row["rate_as_measured"] for row in rows if row["mode"] == "cached"]
    assert measured == pytest.approx(published, rel=0.002)
    for row in rows:  # no transaction is promised that the channel does not carry
        most = math.inf if row["channel_rate"] is None else row["channel_rate"]
        assert row["rate"] == pytest.approx(min(row["rate_as_measured"], most))
        assert row["rate_low"] <= row["rate"] <= row["rate_high"] <= most
    assert [row["rate"] for row in rows if row["mode"] == "off"] == pytest.approx((27.74, 6.38), rel=0.002)


def test_ccw_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(ask(capsys, *CCW, "--json")[1])
    assert found["processors"] is None
    assert found["cp_ms_per_mb"] == pytest.approx(2.1, rel=0.08)
    assert 0 < found["saving_interval"][0] < found["saving"] < found["saving_interval"][1] < 1
    moved = json.loads(ask(capsys, *CCW, "--data-rate", "50MB/s", "--json")[1])
    assert moved["processors"] == pytest.approx(50 * found["cp_ms_per_mb"] / 1000)
    slow = json.loads(ask(capsys, *CCW, "--translation", "slow", "--json")[1])
    assert found["cp_ms_per_mb"] == pytest.approx((1 - found["saving"]) * slow["cp_ms_per_mb"])


@pytest.mark.long
@pytest.mark.parametrize(
    "words", [(*RATE, "0.9"), CCW, ("disk", "rate", "--workload", "iozone", "--hit-ratio", "50%")]
)
def test_text_csv_and_picture(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "picture.svg"
    code, text, _ = ask(capsys, *words, "--plot", str(picture))
    assert code == 0
    assert "<svg" in picture.read_text(encoding="utf-8")
    header, *rows = ask(capsys, *words, "--csv")[1].splitlines()
    assert all(row.count(",") == header.count(",") for row in rows)
    assert len(rows) >= 2
    assert "nan" not in text


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((*RATE, "1.1"), "a share from 0 to 1"),
        ((*RATE, "-0.1"), "a share from 0 to 1"),
        ((*RATE, "101%"), "a share from 0 to 1"),
        ((*RATE, "half"), "a share from 0 to 1"),
        ((*RATE, "0.9", "--processors", "0"), "--processors = 0: expected a count of at least 1"),
        ((*RATE, "0.9", "--requesters", "0"), "--requesters = 0"),
        ((*RATE, "0.9", "--disks", "-1"), "--disks = -1"),
        ((*RATE, "0.9", "--kind", "drum"), "one of eckd-minidisk, emulated-fba"),
        (("disk", "rate", "--workload", "sort", "--hit-ratio", "1"), "one of xedit, iozone"),
        (("disk", "rate", "--workload", "xedit"), ""),
        ((*CCW, "--data-rate", "50"), "a unit is missing"),
        ((*CCW, "--data-rate", "50GB"), "no such unit"),
        ((*CCW, "--data-rate", "0MB/s"), "greater than zero"),
        ((*CCW, "--translation", "quick"), "fast or slow"),
        (("disk", "ccw", "--read-write", "70:30", "--bits", "32"), "31 or 64"),
        (("disk", "ccw", "--read-write", "70", "--bits", "31"), "such as 70:30"),
        (("disk", "ccw", "--read-write", "0:0", "--bits", "31"), "above zero"),
        (("disk", "ccw", "--read-write", "a:b", "--bits", "31"), "a bare number"),
        ((*CCW, "--json", "--csv"), "one of them"),
    ],
)
def test_bad_input_is_exit_2(
    words: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, error = ask(capsys, *words)
    assert (code, out) == (2, "")
    assert problem in error


@pytest.mark.long
def test_a_large_system_is_asked_in_parts(capsys: pytest.CaptureFixture[str]) -> None:
    """The hit ratios among which the break-even is looked for, each with the states of many processors and disks."""
    words = ("--requesters", "300", "--processors", "32", "--disks", "32")
    code, out, _ = ask(capsys, "disk", "rate", "--workload", "xedit", "--hit-ratio", "0.9", *words, "--json")
    assert code == 0
    assert [row["limit"] for row in json.loads(out)["rows"]] == ["channel", "channel", "disks", "channel"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            ("0,9",),
            "--hit-ratio = '0,9': expected a share from 0 to 1, or 0% to 100%; a decimal point, no comma",
        ),
        (("90%", "--disks", "1000000"), "--disks = 1000000: expected a count of at least 1, at most 1000"),
    ],
)
def test_what_is_outside_is_refused(
    words: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, said = ask(capsys, *RATE, *words)
    assert code == 2
    assert problem in " ".join(said.split())
