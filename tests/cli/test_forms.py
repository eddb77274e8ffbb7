"""Where an answer goes is settled before it is looked for: a file that cannot be written costs nobody a wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.cli import main

# Each with an input that does not exist or cannot be, which would be the complaint if the form were not checked first.
COMMANDS = (
    "aliases volume none.listing",
    "aliases pool none.listing",
    "aliases supply none.csv",
    "storage limits --release 9.9 --real-storage 256GB --resident-pages 50",
    "storage frames --in-use 900GB --resident-pages 500",
    "storage usage none.listing",
    "paging --page-rate 1",
    "disk rate --workload none --hit-ratio 0.9",
    "disk ccw --read-write 70 --bits 64",
    "processors none.csv",
    "predict none.toml",
    "whatif none.toml --over aliases=0:2",
    "explain none",
    "read none.listing",
)
WITHOUT_PICTURE = ("storage frames", "storage usage", "predict", "read")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("-o", "none/answer.txt"), "a file in a folder that exists"),
        (("-o", "."), "a file in a folder that exists"),
        (("-o", "there"), "a new file; --force writes over an existing one"),
        (("--json", "--csv"), "one of them"),
        (("--plot", "picture.pdf"), "a file name that ends in .png or .svg"),
    ],
)
def test_it_is_refused_first(
    command: str,
    words: tuple[str, str],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if words[0] == "--plot" and command.startswith(WITHOUT_PICTURE):
        pytest.skip("draws nothing")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").write_text("kept", encoding="utf-8")
    assert main([*command.split(), *words]) == 2
    assert problem in capsys.readouterr().err
    assert (tmp_path / "there").read_text(encoding="utf-8") == "kept"
    assert main([*command.split(), "-o", "there", "--force"]) == 2  # now the input is the complaint
    assert "there" not in capsys.readouterr().err


def test_a_picture_of_no_topic_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--plot", str(tmp_path / "topics.png")]) == 2
    assert "it with a topic" in capsys.readouterr().err
