"""Every command's help has an example, and each example runs."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from planner.cli import ORDER, build, main
from planner.library import data_path

EXAMPLE = re.compile(r"^Example: planner (.*)$", re.MULTILINE)
# What the examples call the user's own files, and a published one in its place.
OWN = {
    "DEVICE.listing": ("hyperpav", "pool-0-aliases.listing"),
    "0-aliases.listing": ("hyperpav", "pool-0-aliases.listing"),
    "8-aliases.listing": ("hyperpav", "pool-8-aliases.listing"),
    "monday.listing": ("real-storage", "5-users.listing"),
    "friday.listing": ("real-storage", "128-users.listing"),
}


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
    (example,) = EXAMPLE.findall(ALL[words].help)
    arguments = shlex.split(example)
    assert tuple(arguments[: len(words)]) == words
    monkeypatch.chdir(tmp_path)
    for name in OWN.keys() & set(arguments):
        shutil.copy(data_path(*OWN[name]), name)
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
