"""The pictures of docs/: what is drawn in them, kept beside them; ``make pictures`` draws and writes both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from planner import files, sizing
from planner.demand import Law
from planner.library import data_path
from planner.measurements import intervals, read, system_runs
from planner.published import figures
from tests.checkout import ROOT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FOLDER = ROOT / "docs" / "pictures"
KEPT = FOLDER / "drawn.json"


def pool_aliases() -> Axes:
    """What `planner aliases pool` draws of the published pool without aliases."""
    (rows,) = intervals(read(data_path("hyperpav", "pool-0-aliases.listing")))
    (run,) = system_runs(rows)
    return sizing.aliases(run, Law.from_model("hyperpav")).plot()


PICTURES: dict[str, Callable[[], Axes]] = {**figures(), "pool-aliases": pool_aliases}


def drawn(axes: Axes) -> list[list[Any]]:
    """Of each line, band and bar of a picture: its kind, points, and least, mean and largest x and y."""
    return [
        [kind, len(points), *(float(f"{number:.4g}") for number in _summary(points))]
        for part in axes.figure.axes
        for kind, points in _artists(part)
        if len(points)
    ]


def _artists(axes: Axes) -> Iterator[tuple[str, np.ndarray]]:
    for artist in axes.get_children():
        if isinstance(artist, Line2D):
            yield "line", np.asarray(artist.get_xydata(), dtype=np.float64)
        elif isinstance(artist, PolyCollection):
            yield "band", np.concatenate([path.vertices for path in artist.get_paths()])
        elif isinstance(artist, Rectangle) and artist is not axes.patch:
            yield (
                "bar",
                np.array([artist.get_xy(), (artist.get_x() + artist.get_width(), artist.get_height())]),
            )


def _summary(points: np.ndarray) -> list[float]:
    known = points[np.isfinite(points).all(axis=1)]
    return [float(number) for take in (np.min, np.mean, np.max) for number in take(known, axis=0)]


def kept() -> dict[str, Any]:
    """What the committed pictures show: by name their hash and what is drawn."""
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def sha256(name: str) -> str:
    """Of the committed picture."""
    return hashlib.sha256((FOLDER / f"{name}.png").read_bytes()).hexdigest()


if __name__ == "__main__":
    written = {}
    for name, picture in PICTURES.items():
        axes = picture()
        files.save_axes(axes, FOLDER / f"{name}.png", force=True)
        written[name] = {"sha256": sha256(name), "drawn": drawn(axes)}
    rows = (f'  "{name}": {json.dumps(entry)}' for name, entry in sorted(written.items()))
    KEPT.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
