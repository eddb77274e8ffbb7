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

import planner
from planner import files, system
from planner.advice import disk_rates, paging_devices
from planner.advice.disk import Setting
from planner.advice.paging_load import Load
from planner.library import data_path
from planner.measurements.over_time import read_supplies
from planner.published import figures
from planner.site.growth import growth
from planner.site.question import site
from planner.site.series import read_series
from planner.supply import judge
from tests.checkout import ROOT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from planner.answer import Answer

FOLDER = ROOT / "docs" / "pictures"
EXAMPLES = ROOT / "docs" / "examples"
KEPT = FOLDER / "drawn.json"


def _storage() -> Answer:
    from planner.advice import StorageBudget

    budget = StorageBudget(release="5.3", real_storage="256GB", resident_pages=50, in_use="900GB")
    return budget.limits()


def _calibration() -> Answer:
    from planner import calibrate

    listings = [data_path("hyperpav", f"522A-{name}-aliases.listing") for name in ("0", "2")]
    found, _ = calibrate.calibrate("volume", calibrate.Task(files=listings))
    return found


def _pages() -> Load:
    return Load(page_rate=225_000, guests=20, target=4e-3)


# The answers that the pages of the questions show, each as its command draws it.
ANSWERS: dict[str, Callable[[], Answer]] = {
    "pool-aliases": lambda: planner.aliases(data_path("hyperpav", "pool-0-aliases.listing"), kind="pool"),
    "supply": lambda: judge(read_supplies(EXAMPLES / "supply-counters.csv")),
    "site": lambda: site([EXAMPLES / "site.csv"]),
    "growth": lambda: growth(read_series(EXAMPLES / "io-rate.csv", "io_rate"), 5000),
    "paging": lambda: paging_devices(_pages()),
    "disks": lambda: disk_rates(Setting(workload="xedit", hit_ratio=0.9, requesters=8, processors=2)),
    "storage": _storage,
    "system": lambda: system.whatif(
        EXAMPLES / "system-xiv.toml", ["guests.count=15:20"], ["paging.depth=unlimited"]
    ),
    "calibration": _calibration,
}
PICTURES: dict[str, Callable[[], Axes]] = {
    **figures(),
    **{name: (lambda answer=answer: answer().plot()) for name, answer in ANSWERS.items()},
}


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
    return hashlib.sha256((FOLDER / f"{name}.svg").read_bytes()).hexdigest()


if __name__ == "__main__":
    written = {}
    for name, picture in PICTURES.items():
        axes = picture()
        files.save_axes(axes, FOLDER / f"{name}.svg", force=True)
        written[name] = {"sha256": sha256(name), "drawn": drawn(axes)}
    rows = (f'  "{name}": {json.dumps(entry)}' for name, entry in sorted(written.items()))
    KEPT.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
