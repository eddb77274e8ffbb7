"""Every figure: axes with units, published points inside the picture, a band around every law; files on request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

from planner import style
from planner.cli import main
from planner.errors import InputError
from planner.published import draw, figures, save_figures
from tests import pictures

FIGURES = tuple(figures())

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WITH_LAW = ("hyperpav-volume", "hyperpav-pool", "real-storage", "emulated-fba", "xiv-concurrent-io")


class Drawn(dict[str, "Axes"]):
    """Each is drawn where it is first asked for."""

    def __missing__(self, name: str) -> Axes:
        self[name] = draw(name)
        return self[name]


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    return Drawn()


def points(axes: Axes) -> list[tuple[float, float]]:
    """Measured points: what is drawn over everything else."""
    lines = [line for line in axes.lines if line.get_zorder() == style.ABOVE]
    return [tuple(pair) for line in lines for pair in line.get_xydata()]


@pytest.mark.first(3)
@pytest.mark.parametrize("name", FIGURES)
def test_axes_say_what_they_show_and_in_what_unit(drawn: dict[str, Axes], name: str) -> None:
    axes = drawn[name]
    assert style.title_of(axes).endswith(".")
    assert "[" in axes.get_ylabel() or "ratio" in axes.get_ylabel()


@pytest.mark.first(1)
@pytest.mark.parametrize("name", WITH_LAW)
def test_a_law_has_its_band_and_the_points_are_in_the_picture(drawn: dict[str, Axes], name: str) -> None:
    axes = drawn[name]
    bands = [found for found in axes.collections if isinstance(found, PolyCollection)]
    assert bands
    assert all(np.ptp(band.get_paths()[0].vertices[:, 1]) > 0 for band in bands)
    found = points(axes)
    assert found
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert all(left <= x <= right and bottom <= y <= top for x, y in found)


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("hyperpav-volume", [(0, 755), (1, 942), (2, 1619)]),
        ("hyperpav-pool", [(0, 5889), (8, 9979), (16, 13395)]),
        ("xiv-concurrent-io", [(2, 283.0), (2, 571.9)]),
    ],
)
def test_points_are_the_published_ones(
    drawn: dict[str, Axes], name: str, published: list[tuple[float, float]]
) -> None:
    assert points(drawn[name]) == published


def test_the_figure_of_the_storage_report_is_its_table(drawn: dict[str, Axes]) -> None:
    processors, newer, older = (line.get_xydata().tolist() for line in drawn["530stgf1"].lines)
    assert processors[-1] == [239, 4.0]
    assert newer == [[64, 1.0], [128, 2.028], [160, 2.711], [200, 3.016], [239, 3.586]]
    assert older == [[64, 0.873], [128, 1.634]]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["png", "svg"])
def test_files_are_written_once(tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["figures", "-o", str(tmp_path), "--format", form]) == 0
    written = [Path(line).name for line in capsys.readouterr().out.splitlines()]
    assert written == [f"{name}.{form}" for name in FIGURES]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(written)
    assert main(["figures", "-o", str(tmp_path), "--format", form]) == 2
    assert "--force" in capsys.readouterr().err


def test_a_missing_folder_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "missing" / "too"
    assert next(save_figures(folder)).parent == folder


def test_a_folder_that_is_a_file_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    for folder in (tmp_path / "taken", tmp_path / "taken" / "below"):
        with pytest.raises(InputError, match="a folder that can be made"):
            next(save_figures(folder))


def test_an_unknown_figure_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="expected one of 530stgf1, scsiit"):
        draw("scsi")


def same(found: list[list[Any]], wanted: list[list[Any]]) -> bool:
    """Equal kinds and numbers of points, and coordinates to a thousandth of the largest of their picture."""
    if [row[:2] for row in found] != [row[:2] for row in wanted]:
        return False
    one, other = (np.array([row[2:] for row in rows]).reshape(len(rows), -1, 2) for rows in (found, wanted))
    return bool((np.abs(one - other) <= 1e-3 * np.abs(other).max(axis=(0, 1))).all())


@pytest.mark.first(4)
@pytest.mark.parametrize("name", FIGURES)
def test_the_committed_picture_shows_what_is_drawn(drawn: dict[str, Axes], name: str) -> None:
    """`make pictures` draws all again; look at them before you commit them."""
    entry = pictures.kept()[name]
    assert entry["sha256"] == pictures.sha256(name)
    assert same(pictures.drawn(drawn[name]), entry["drawn"])


@pytest.mark.slow
@pytest.mark.parametrize("name", pictures.ANSWERS)
def test_the_pictures_of_answers_show_what_is_drawn(name: str) -> None:
    entry = pictures.kept()[name]
    assert entry["sha256"] == pictures.sha256(name)
    assert same(pictures.drawn(pictures.PICTURES[name]()), entry["drawn"])


def test_every_committed_picture_is_compared() -> None:
    committed = {path.stem for path in pictures.FOLDER.glob("*.svg")}
    assert committed == set(pictures.kept()) == set(pictures.PICTURES)


def test_another_picture_is_not_the_same(drawn: dict[str, Axes]) -> None:
    entry = pictures.kept()["scsipt"]["drawn"]
    assert not same(pictures.drawn(drawn["scsixt"]), entry)
    assert not same([[*row[:-1], 1.01 * row[-1]] for row in entry], entry)
