"""Files are never written over without leave, and what cannot be written is refused in one line that says why."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planner import files, style
from planner.cli import main
from planner.errors import InputError
from planner.library import data_path
from planner.measurements import read

LIMITS = ["storage", "limits", "--release", "5.3", "--real-storage", "256GB", "--resident-pages", "50"]
WRITES = {
    "output": (["-o"], "out.txt"),
    "plot": (["--plot"], "out.png"),
    "report": (["--report"], "out.html"),
}


def denied(*_: Any, **__: Any) -> None:
    raise PermissionError(13, "Permission denied")


def test_save_ends_the_last_line_and_spares_an_existing_file(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    files.save("a", path)
    assert path.read_text(encoding="utf-8") == "a\n"
    with pytest.raises(InputError, match="`force` writes"):
        files.save("b", path)
    files.save("b\n", path, force=True)
    assert path.read_text(encoding="utf-8") == "b\n"


def test_a_folder_and_a_folder_that_is_not_there_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "out.csv"):
        with pytest.raises(InputError, match="a file in a folder that exists"):
            files.save("a", path, force=True)


@pytest.mark.long
def test_a_picture_is_a_png_or_an_svg(tmp_path: Path) -> None:
    axes = style.new_axes()
    for ending in files.PICTURES:
        files.save_axes(axes, tmp_path / f"out{ending}")
        with pytest.raises(InputError, match="`force` writes"):
            files.save_axes(axes, tmp_path / f"out{ending}")
    with pytest.raises(InputError, match=r"ends in .png or .svg or .pdf"):
        files.save_axes(axes, tmp_path / "out.gif")
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "out.svg").read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize("kind", WRITES)
def test_a_folder_without_leave_to_write_is_one_line_and_two(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    option, name = WRITES[kind]
    monkeypatch.setattr(Path, "touch", denied)
    assert main([*LIMITS, *option, str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.rstrip().endswith("a file that can be written (Permission denied)")


@pytest.mark.first(1)
@pytest.mark.parametrize("kind", WRITES)
def test_a_command_spares_an_existing_file(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    option, name = WRITES[kind]
    path = tmp_path / name
    path.write_text("mine")
    assert main([*LIMITS, *option, str(path)]) == 2
    assert f"--{kind} = '{path}': expected a new file; --force" in " ".join(capsys.readouterr().err.split())
    assert path.read_text() == "mine"
    assert main([*LIMITS, *option, str(path), "--force"]) == 0
    assert path.read_bytes() != b"mine"


@pytest.mark.parametrize(
    "words",
    [
        "read table.csv --csv -o table.csv --force",
        "report table.csv -o ./table.csv --force",
        "read table.csv --csv -o link.csv --force",
        "aliases volume table.csv --csv -o table.csv --force",
        "read archive -o archive/archive.toml --force",
    ],
)
def test_what_is_read_is_not_written_over(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        "system,device,start,interval_s,io_rate,service_ms,queued\nS,522A,2026-03-01T10:15,600,755,1.3,1.84\n"
    )
    table = tmp_path / "table.csv"
    table.write_text(text)
    (tmp_path / "link.csv").symlink_to(table)
    assert main(["collect", "table.csv", "-o", "archive"]) == 0
    about = (tmp_path / "archive" / "archive.toml").read_text()
    capsys.readouterr()
    assert main(words.split()) == 2
    assert "expected another file than those that are read" in " ".join(capsys.readouterr().err.split())
    assert (table.read_text(), (tmp_path / "archive" / "archive.toml").read_text()) == (text, about)


@pytest.mark.skipif(os.name != "posix", reason="names of bytes")
@pytest.mark.parametrize("words", ["read", "site", "growth", "aliases volume", "collect -o archive"])
def test_a_name_of_other_bytes_is_refused_in_one_sentence(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"\xff.csv")
    Path(name).write_text(
        "system,device,start,interval_s,io_rate,service_ms,queued\nS,522A,2026-03-01,60,755,1.3,1\n"
    )
    read(Path(name).read_bytes()).devices.write_parquet("plain")
    Path("plain").rename(os.fsdecode(b"\xff.parquet"))
    for each in (name, os.fsdecode(b"\xff.parquet")):
        assert main([*words.split(), each]) == 2
        assert "bytes that are no text in UTF-8" in " ".join(capsys.readouterr().err.split())
    assert main(["collect", "-o", os.fsdecode(b"archive\xff"), "-"]) == 2
    assert "bytes that are no text in UTF-8" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("words", ["read -", "site -", "growth -", "collect - -o archive"])
def test_standard_input_that_is_closed_is_said(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", None)
    assert main(words.split()) == 2
    assert "standard input: it is closed; expected measurements" in " ".join(capsys.readouterr().err.split())
    assert not list(tmp_path.iterdir())


def full(*_: Any, **__: Any) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("kind", ["output", "plot"])
def test_a_full_disk_leaves_the_old_file_and_no_part_of_a_new_one(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    option, name = WRITES[kind]
    path = tmp_path / name
    path.write_text("mine")
    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    assert main([*LIMITS, *option, str(path), "--force"]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_followed_to_a_file_and_refused_where_it_leads_nowhere(tmp_path: Path) -> None:
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    link.symlink_to(target)
    with pytest.raises(InputError, match="leads nowhere"):
        files.save("a", link, force=True)
    assert not target.exists()
    target.write_text("old")
    target.chmod(0o640)
    files.save("a", link, force=True)
    assert link.is_symlink() and target.read_text() == "a\n"
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_name_that_no_file_system_takes_is_bad_input(tmp_path: Path) -> None:
    for name in ("x" * 300, "a\0b"):
        with pytest.raises(InputError, match=r"a file that can be written|a file in a folder"):
            files.save("a", tmp_path / name)


def test_bytes_that_are_no_text_leave_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="UTF-8"):
        files.save("title \udcff", tmp_path / "model.toml")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("arguments", "redirected", "code"),
    [
        (LIMITS, ">&-", 2),
        (LIMITS, ">/dev/full", 2),
        (LIMITS, "2>/dev/full", 0),
        (["storage", "limits", "--release", "no"], "2>/dev/full", 2),
        (["storage", "limits", "--release", "no"], "2>&-", 2),
        (["storage", "no such command"], "2>/dev/full", 2),
        (LIMITS, "| true", 0),
    ],
)
def test_exit_codes_with_streams_that_cannot_be_written(
    arguments: list[str], redirected: str, code: int
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    command = shlex.join([sys.executable, "-m", "planner", *arguments])
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{command} {redirected}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_an_interrupt_while_packages_load_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_words: list[str]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("planner.cli.build", interrupted)
    assert main([]) == 130
    assert capsys.readouterr().err == "planner: interrupted\n"


def test_an_interrupt_while_a_command_works_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("planner.measurements.shown.MeasuredAnswer", interrupted)
    assert main(["read", str(data_path("hyperpav", "522A-0-aliases.listing"))]) == 130
    assert capsys.readouterr().err == "planner: interrupted\n"


def test_any_printable_name_is_drawn_as_it_is(tmp_path: Path) -> None:
    axes = style.new_axes()
    axes.set(title="A$B_{x \\frac \N{CJK UNIFIED IDEOGRAPH-6771}", xlabel="$", ylabel="\\")
    axes.set_xticks([0.0], ["50$ \\alpha$"])
    files.save_axes(axes, tmp_path / "out.svg")
    assert (tmp_path / "out.svg").stat().st_size > 0


HALF_WRITTEN = """
import signal, sys
from pathlib import Path
from planner.cli import _unwinding
from planner.files import replacing
signal.signal(signal.{name}, signal.{handler})
with _unwinding(), replacing(Path("answer.csv"), "output") as beside:
    beside.write_text("half")
    print("ready", flush=True)
    sys.stdin.readline()
    beside.write_text("whole")
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("name", "ignored"), [("SIGTERM", False), ("SIGHUP", False), ("SIGHUP", True), ("SIGINT", True)]
)
def test_a_signal_leaves_no_half_written_output(name: str, ignored: bool, tmp_path: Path) -> None:
    """It ends the command as an error does; in the background of a script, or with nohup, the answer comes whole."""
    program = HALF_WRITTEN.format(name=name, handler="SIG_IGN" if ignored else "SIG_DFL")
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(getattr(signal, name))
    _, error = process.communicate("\n" if ignored else None, timeout=60)
    files_left = {path.name: path.read_text() for path in tmp_path.iterdir()}
    if ignored:
        assert (process.returncode, error, files_left) == (0, "", {"answer.csv": "whole"})
    else:
        assert (process.returncode, files_left) == (128 + getattr(signal, name), {})
        assert error == "planner: interrupted\n"
