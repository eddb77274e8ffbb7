"""Files are never written over without leave, and what cannot be written is refused in one line that says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planner import files, style
from planner.cli import main
from planner.errors import InputError

LIMITS = ["storage", "limits", "--release", "5.3", "--real-storage", "256GB", "--resident-pages", "50"]
WRITES = {
    "text": (["-o"], "out.txt"),
    "picture": (["--plot"], "out.png"),
}


def denied(*_: Any, **__: Any) -> None:
    raise PermissionError(13, "Permission denied")


def test_save_ends_the_last_line_and_spares_an_existing_file(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    files.save("a", path)
    assert path.read_text(encoding="utf-8") == "a\n"
    with pytest.raises(InputError, match="--force"):
        files.save("b", path)
    files.save("b\n", path, force=True)
    assert path.read_text(encoding="utf-8") == "b\n"


def test_a_folder_and_a_folder_that_is_not_there_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "out.csv"):
        with pytest.raises(InputError, match="a file in a folder that exists"):
            files.save("a", path, force=True)


def test_a_picture_is_a_png_or_an_svg(tmp_path: Path) -> None:
    axes = style.new_axes()
    for ending in files.PICTURES:
        files.save_axes(axes, tmp_path / f"out{ending}")
        with pytest.raises(InputError, match="--force"):
            files.save_axes(axes, tmp_path / f"out{ending}")
    with pytest.raises(InputError, match=r"ends in .png or .svg"):
        files.save_axes(axes, tmp_path / "out.pdf")
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "out.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", WRITES)
def test_a_folder_without_leave_to_write_is_one_line_and_two(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    option, name = WRITES[kind]
    monkeypatch.setattr(Path, "write_text", denied)
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", denied)
    assert main([*LIMITS, *option, str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.rstrip().endswith("a file that can be written (Permission denied)")


@pytest.mark.parametrize("kind", WRITES)
def test_a_command_spares_an_existing_file(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    option, name = WRITES[kind]
    path = tmp_path / name
    path.write_text("mine")
    assert main([*LIMITS, *option, str(path)]) == 2
    assert "--force" in capsys.readouterr().err
    assert path.read_text() == "mine"
    assert main([*LIMITS, *option, str(path), "--force"]) == 0
    assert path.read_bytes() != b"mine"
