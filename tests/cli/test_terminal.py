"""A sign of work on a terminal alone, in color where that is wanted; a missing package is one line and exit code 2."""

from __future__ import annotations

import builtins
import io
import re
import sys
import time
from typing import Any

import pytest

from planner import parallel
from planner.cli import main, printing
from planner.errors import MissingExtraError
from tests.checkout import ROOT

COLOR = re.compile(r"\x1b\[[0-9;]*3[0-9][0-9;]*m")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> Terminal:
    """A terminal with colors, in an environment."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return Terminal()


def shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch, **environment: str) -> str:
    """What a command in progress writes to a terminal."""
    shown = terminal(monkeypatch, environment)
    monkeypatch.setattr(printing, "PATIENCE", 0.0)
    with monkeypatch.context() as inside:
        inside.setattr(sys, "stderr", shown)
        with printing.progress("Solving"):
            while "Solving" not in shown.getvalue():
                time.sleep(0.01)
    return shown.getvalue()


def test_work_is_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = shown_on_a_terminal(monkeypatch)
    assert "Solving" in shown
    assert COLOR.search(shown)


def test_without_color_where_none_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = shown_on_a_terminal(monkeypatch, NO_COLOR="1")
    assert "Solving" in shown
    assert not COLOR.search(shown)


def test_silent_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with printing.progress("Solving"):
        pass
    assert main(["explain", "usl"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "\x1b" not in shown.out


@pytest.fixture
def without(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make one package impossible to import."""
    missing: str = request.param
    importing = builtins.__import__

    def refuse(name: str, *rest: Any, **named: Any) -> Any:
        if name.partition(".")[0] == missing:
            raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)
        return importing(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    return missing


@pytest.mark.parametrize("without", ["pandas"], indirect=True)
def test_a_frame_without_pandas_says_what_to_install(without: str) -> None:
    from planner import queueing

    with pytest.raises(
        MissingExtraError, match=r"pandas is not installed: pip install 'zvm-planner\[notebook\]'"
    ):
        queueing.mmc(1.0, 0.5, 1).to_frame()


@pytest.mark.parametrize("without", ["ipywidgets"], indirect=True)
def test_sliders_without_ipywidgets_say_what_to_install(without: str) -> None:
    from planner.sliders import count

    with pytest.raises(
        MissingExtraError, match=r"ipywidgets is not installed: pip install 'zvm-planner\[notebook\]'"
    ):
        count("aliases", 2, 0, 8)


@pytest.mark.first(1)
@pytest.mark.parametrize("without", ["pandas", "ipywidgets"], indirect=True)
def test_no_command_needs_an_extra(without: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "usl", "--csv"]) == 0
    assert main(["paging", "--page-rate", "1000/s"]) == 0
    assert capsys.readouterr().out


def test_a_missing_extra_is_one_line_and_exit_code_two(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(*_: Any, **__: Any) -> None:
        raise MissingExtraError("pandas", "notebook")

    monkeypatch.setattr("planner.explain.explain", missing)
    assert main(["explain", "usl"]) == 2
    assert (
        capsys.readouterr().err == "planner: pandas is not installed: pip install 'zvm-planner[notebook]'\n"
    )


def test_work_that_is_shared_out_is_counted_without_being_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar from the first second on, with the share of the parts that are done."""
    shown = Terminal()
    monkeypatch.setattr(printing, "PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm-256color")
    with monkeypatch.context() as inside:
        inside.setattr(sys, "stderr", shown)
        with printing.progress("Solving", 0):
            assert parallel.run(abs, [-1, -2, -3, -4], workers=1) == [1, 2, 3, 4]
    assert "Solving" in shown.getvalue()
    assert "100%" in shown.getvalue()


def answered(monkeypatch: pytest.MonkeyPatch, words: list[str], **environment: str) -> str:
    """What a command prints on a terminal."""
    shown = terminal(monkeypatch, environment)
    with monkeypatch.context() as inside:
        inside.setattr(sys, "stdout", shown)
        inside.setattr(printing, "width", lambda: 80)
        main(words)
    return shown.getvalue()


SUPPLY = ["aliases", "supply", str(ROOT / "docs" / "examples" / "supply-counters.csv")]


@pytest.mark.long
def test_headline_and_verdicts_stand_out_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = answered(monkeypatch, SUPPLY)
    assert shown.startswith("\x1b[1m")
    assert re.search("\x1b\\[31mshort +\x1b\\[0m", shown)
    assert "\x1b" not in answered(monkeypatch, SUPPLY, NO_COLOR="1")
    assert "\x1b" not in answered(monkeypatch, [*SUPPLY, "--json"])
    main(SUPPLY)
    plain = capsys.readouterr().out
    assert "\x1b" not in plain
    assert re.sub("\x1b\\[[0-9;]*m", "", shown) == plain
