"""Every command's help has an example, and each example runs."""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import typer

from planner import published
from planner.cli import ORDER, build, main
from planner.library import data_path
from tests.checkout import ROOT

EXAMPLE = re.compile(r"^Example: planner (.*)$", re.MULTILINE)
# What the examples call the user's own files, and a published one in its place.
OWN = {
    "DEVICE.listing": data_path("hyperpav", "pool-0-aliases.listing"),
    "0-aliases.listing": data_path("hyperpav", "pool-0-aliases.listing"),
    "8-aliases.listing": data_path("hyperpav", "pool-8-aliases.listing"),
    "monday.listing": data_path("real-storage", "5-users.listing"),
    "friday.listing": data_path("real-storage", "128-users.listing"),
    "EXPORT.csv": ROOT / "docs" / "examples" / "export.csv",
    "VOLUMES.csv": ROOT / "docs" / "examples" / "volume-counters.csv",
    "POOLS.csv": ROOT / "docs" / "examples" / "pools.csv",
    "SERIES.csv": ROOT / "docs" / "examples" / "io-rate.csv",
    "SITE.csv": ROOT / "docs" / "examples" / "site.csv",
    "SYSTEM.toml": ROOT / "docs" / "examples" / "system-xiv.toml",
    "COUNTERS.csv": ROOT / "docs" / "examples" / "supply-counters.csv",
}


def put(name: str, folder: Path) -> None:
    """Copy it into a folder; of the site a part, as docs/ asks about a year of three pools."""
    text = OWN[name].read_text(encoding="utf-8")
    (folder / name).write_text(part_of_site(text) if name == "SITE.csv" else text, encoding="utf-8")


def part_of_site(text: str) -> str:
    """Four months of one pool, at a quarter of its rates and without their queues: few aliases are soon found."""
    head, *rows = csv.reader(text.splitlines())
    rate, queued = head.index("io_rate"), head.index("queued")
    for row in rows:
        row[rate], row[queued] = f"{float(row[rate]) / 4:.1f}", ""
    some = [row for row in rows if "P1" in row and row[1] < "2026-05"]
    return "".join(",".join(row) + "\n" for row in [head, *some])


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """A command and all below it."""
    yield words, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*words, name))


ALL = dict(commands(typer.main.get_command(build())))


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_help_has_an_example_that_runs(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    examples = EXAMPLE.findall(ALL[words].help)
    assert examples
    monkeypatch.chdir(tmp_path)
    some = dict(islice(published.figures().items(), 4))  # tests/published has the others
    monkeypatch.setattr(published, "figures", lambda: some)
    for arguments in map(shlex.split, examples):
        assert tuple(arguments[: len(words)]) == words
        for name in OWN.keys() & set(arguments):
            put(name, tmp_path)
        assert main(arguments) == 0
        assert capsys.readouterr().out


def test_the_first_screen_lists_every_command_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    listed = re.findall(r"^  (\w+) +\S", shown.partition("Commands:")[2], re.MULTILINE)
    assert listed == sorted(listed, key=ORDER.index)
    assert len(listed) == len(ALL[()].commands)
    assert "..." not in shown.partition("Commands:")[2]
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_help_fits_a_terminal_and_breaks_no_word(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An option that is broken at its hyphen cannot be copied."""
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*words, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > 80 or re.search(r"\w-$", line)] == []
