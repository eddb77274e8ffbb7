"""Where an answer goes is settled before it is looked for: a file that cannot be written costs nobody a wait."""

from __future__ import annotations

import errno
import io
import os
import sys
from pathlib import Path

import pytest

from planner.cli import main
from tests.checkout import ROOT

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


FORMS = {
    "-o none/answer.txt": "a file in a folder that exists",
    "-o .": "a file in a folder that exists",
    "-o there": "a new file; --force writes over an existing one",
    "--json --csv": "one of them",
    "--plot picture.gif": "a file name that ends in .png or .svg or .pdf",
}
CASES = [
    (command, words)
    for command in COMMANDS
    for words in FORMS
    if not ("--plot" in words and command.startswith(WITHOUT_PICTURE))
]


@pytest.mark.first(1)
@pytest.mark.parametrize(("command", "words"), CASES)
def test_it_is_refused_first(
    command: str,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").write_text("kept", encoding="utf-8")
    assert main([*command.split(), *words.split()]) == 2
    assert FORMS[words] in capsys.readouterr().err
    assert (tmp_path / "there").read_text(encoding="utf-8") == "kept"
    assert main([*command.split(), "-o", "there", "--force"]) == 2  # now the input is the complaint
    assert "there" not in capsys.readouterr().err


def test_a_picture_of_no_topic_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--plot", str(tmp_path / "topics.png")]) == 2
    assert "it with a topic" in capsys.readouterr().err


def test_an_unknown_topic_is_named_as_it_is_typed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "nope"]) == 2
    assert capsys.readouterr().err.startswith("planner: TOPIC = 'nope': expected one of erlang-c, mmc")


@pytest.mark.parametrize(
    ("command", "argument"),
    [
        ("predict hyperpav --set volumes=8 --set aliases=1 --set aliases=2", "--set = 'aliases twice'"),
        ("whatif hyperpav --set volumes=8 --over aliases=1:2 --over aliases=4:5", "--over = 'aliases twice'"),
        ("whatif hyperpav --over aliases=1:2 --set volumes=8 --set volumes=4", "--set = 'volumes twice'"),
        ("explain mmc servers=2 servers=3", "NAME=VALUE = 'servers twice'"),
        (
            "calibrate none.csv --kind volume -o m.toml --fix inflation=0 --fix inflation=1",
            "--fix = 'inflation twice'",
        ),
    ],
)
def test_what_is_said_twice_is_refused(
    command: str,
    argument: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(command.split()) == 2
    assert f"{argument}: expected each of them once" in capsys.readouterr().err


def test_counters_are_known_by_their_headings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(ROOT / "docs" / "examples" / "volume-counters.csv")]) == 0
    assert "Volume counters (MRIODDEV): 1 row of devices" in capsys.readouterr().out


class Full(io.StringIO):
    """Standard output on a full disk."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdout", Full())
    assert main(["explain", "usl"]) == 2
    wanted = f"output = 'standard output': expected a place that can be written ({os.strerror(errno.ENOSPC)})"
    assert wanted in capsys.readouterr().err


def test_closed_standard_output_is_bad_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["explain", "usl"]) == 2
    assert "it is closed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "aliases pool.listing",
            ("planner aliases volume pool.listing", "planner aliases pool pool.listing"),
        ),
        ("aliases there", ("planner aliases volume there", "planner aliases pool there")),
        ("aliases -", ("planner aliases volume -",)),
        ("storage usage.listing", ("planner storage usage usage.listing",)),
        ("pool.listing", ("planner aliases pool pool.listing", "planner report pool.listing")),
        ("aliases --rate=755/s", ("comes first: planner aliases volume --rate or",)),
        ("disk --hit-ratio 0.9", ("comes first: planner disk rate --hit-ratio",)),
        ("aliases volumes", ("No such command 'volumes'", "'volume'")),
        ("disk rate.csv", ("No such command 'rate.csv'",)),
    ],
)
def test_a_file_or_option_before_the_command_is_told_the_way(
    words: str,
    said: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").touch()
    assert main(words.split()) == 2
    found = " ".join(capsys.readouterr().err.split())
    assert all(each in found for each in said), found


EXAMPLE = "example --days 1 --pools 1 --volumes 1"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (EXAMPLE, 0, "service_ms,queued\n"),
        ("system --template minimal", 0, "#"),
        ("collect {listing}", 2, "folder of an archive"),
        ("figures", 2, "a folder"),
        ("calibrate {listing} --kind volume", 2, "a file; standard output"),
    ],
)
def test_a_dash_is_standard_output_and_never_a_file_of_that_name(
    words: str,
    code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    listing = ROOT / "data" / "hyperpav" / "522A-0-aliases.listing"
    assert main([*words.format(listing=listing).split(), "-o", "-"]) == code
    found = capsys.readouterr()
    assert said in (found.err if code else found.out)
    assert not list(tmp_path.iterdir())


def test_an_example_says_how_much_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*EXAMPLE.split(), "-o", str(tmp_path / "site.csv")]) == 0
    assert capsys.readouterr().out.startswith("24 rows of 1 pool over 1 day in ")


SAID = {
    "paging --page-rate 9/s --kind 3390": "--kind = '3390': expected one of eckd",
    "paging --page-rate 9/s --cpu-speed X=2": "--cpu-speed = 'X': expected one of 2064-109",
    "processors --processors 0": "--processors = 0: expected a whole number",
    "storage frames --guests 2x1GB --instantiated 170%": "--instantiated = '170%': expected a share above 0",
    "storage usage {}/real-storage/5-users.listing --resident-pages 3": "--real-storage, --resident-pages = 'one of",
    "storage usage {}/hyperpav/522A-0-aliases.listing": "522A-0-aliases.listing': expected files with data spaces",
    "site nowhere.csv --target-response 2": "--target-response = '2': expected a time",
    "disk rate --workload xedit --hit-ratio 1 --requesters 9999999": "--requesters = 9999999: expected a count",
    "example --seed -1": "--seed = -1: expected 0 or more",
    "aliases pool {}/hyperpav/pool-0-aliases.listing --from 2030-01-01": "--from = '2030-01-01': expected a period",
    "read {}/hyperpav/522A-0-aliases.listing --deltas": "--deltas/--cumulative = True: expected it with volume",
    "predict paging-eckd --set outstanding=2 --set arrival_rate=9/s": "outstanding = 'with arrival_rate'",
    "predict hyperpav --set aliases": "--set = 'aliases': expected KEY=VALUE",
    "predict processors": "processors is not given: expected a count, such as --set processors=",
    "whatif hyperpav --over aliases=3:1": "--over = 'aliases=3:1': expected a range that runs upward",
    "calibrate {}/hyperpav/522A-0-aliases.listing --kind volume --pool P -o x": "--pool = 'P': expected none: --device",
    "calibrate {}/hyperpav/522A-0-aliases.listing --kind volume --fix P -o x": "--fix = 'P': expected KEY=VALUE",
    "growth nowhere.csv --event today": "--event = 'today': expected a day and a change",
    "growth nowhere.csv --horizon 1 --limit 2": "--horizon = '1': expected a time from a day",
    "site nowhere.csv --since 2026-03-01 --meet 95%": "--since and --meet = 'together': expected one of them",
    "site nowhere.csv --since 2026-03-01 --allow-missing": "--since and --allow-missing = 'together': expected one",
    "site {}/../docs/examples/smf78-3.csv": "smf78-3.csv': expected ECKD base devices, or volumes, with intervals;",
    "growth {}/../docs/examples/smf78-3.csv": "smf78-3.csv': expected volumes or storage with dates over several",
    "aliases supply {}/../docs/examples/lsdasd.txt": "lsdasd says who shares a pool, not what was measured: give it by",
    "aliases volume {}/../docs/examples/volume-counters.csv": "service time of 522A = 1.52727 ms: expected at most",
    "aliases pool {}/hyperpav/pool-0-aliases.listing --pools no.csv": "no.csv: no such file; expected pool members",
    "aliases supply {}/fast-ccw/results.csv": "; planner collect --map service_ms=COLUMN says which column it is",
    "system --template none": "--template = 'none': expected one of",
    "storage limits --release 9.9 --real-storage 1GB --resident-pages 50": "--release = '9.9': expected a z/VM release",
}  # fmt: skip


@pytest.mark.first(4)
@pytest.mark.parametrize("command", SAID)
def test_an_error_names_what_was_typed(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The option, not the argument that it became; with what was typed, not what that was read as."""
    assert main(command.format(ROOT / "data").split()) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith("planner: ") and SAID[command] in said
