"""Every result shows itself: HTML, a data frame with units in its names, a picture; found by introspection."""

from __future__ import annotations

import inspect
import re
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

import planner
from planner import calibrate, queueing, render, sizing, style, system
from planner.advice.channel_program import channel_programs
from planner.advice.configurations import published
from planner.advice.disk import Setting, disk_rates
from planner.advice.paging import paging_devices
from planner.advice.paging_capacity import Question, paging_capacity
from planner.advice.paging_load import Load, kinds
from planner.advice.processors import scaling
from planner.advice.storage import StorageBudget, guest_frame_budget, resident_pages_that_fit, storage_usage
from planner.answer import Answer
from planner.demand import DeviceModel
from planner.devices import Pool, VolumeClass
from planner.devices.disk import DiskPath
from planner.explain import explain
from planner.library import data_path, read_model
from planner.measurements import Rows, intervals, read, volume_runs
from planner.measurements.archive import open_archive
from planner.measurements.collect import collect
from planner.measurements.over_time import read_supplies
from planner.measurements.shown import MeasuredAnswer, overview
from planner.published import scoreboard
from planner.reports import read_data_spaces
from planner.results import Result
from planner.site.growth import growth
from planner.site.question import site
from planner.site.series import read_series
from planner.site.track import track_record
from planner.supply import judge
from planner.system.answer import compare
from planner.system.measured import template
from planner.whatif import predict
from tests.checkout import ROOT
from tests.site.large_site import pool_rows

COUNTS = np.arange(4)


def rows_of_listing() -> Rows:
    return intervals(read(data_path("hyperpav", "522A-0-aliases.listing")))[0]


def calibrated(kind: str, *names: str) -> Any:
    return calibrate.calibrate(kind, calibrate.Task(files=[ROOT / name for name in names]))[0]


@cache
def archived() -> Any:
    folder = Path(tempfile.mkdtemp()) / "archive"
    return collect([pool_rows("in use", seed=3, volumes=2, intervals=24)], folder)


def tracked() -> Any:
    """Six hours with two aliases, then the same with three."""
    before = pool_rows("in use", seed=3, volumes=2, intervals=24)
    after = before.with_columns(
        (pl.col("pool_aliases") + 1).alias("pool_aliases"), pl.col("start").dt.offset_by("7d")
    )
    return track_record(pl.concat([before, after.select(before.columns)]), "2026-03-08")


# One of each class; a test holds that none is missing.
MADE = {
    "AliasAnswer": lambda: sizing.aliases_of_runs(
        volume_runs(rows_of_listing())[0], DeviceModel.from_model("hyperpav")
    ),
    "Prediction": lambda: predict(read_model("hyperpav"), {"volumes": 1}, {"aliases": [0.0, 1.0, 2.0]}),
    "ArchiveAnswer": lambda: overview(open_archive(archived().archive)),
    "CcwAnswer": lambda: channel_programs(64, 0.3),
    "Collected": archived,
    "CostFit": lambda: calibrated("channel-program", "docs/examples/fast-ccw.csv"),
    "DiskAnswer": lambda: disk_rates(Setting(workload="xedit", hit_ratio=0.9)),
    "DiskPerformance": lambda: DiskPath.from_model(read_model("disk-xedit-emulated-fba")).solve(
        "cached", [0.1, 0.5]
    ),
    "Explanation": lambda: explain("usl"),
    "Fit": lambda: calibrated("volume", "data/hyperpav/522A-0-aliases.listing"),
    "FrameBudget": lambda: guest_frame_budget(
        guests=20, guest_storage="88GB", instantiated=0.7, real_storage="1024GB"
    ),
    "GeneralSteady": lambda: queueing.mgc([100, 500], 1.3e-3, 2, 0.5),
    "Growth": lambda: growth(read_series(ROOT / "docs" / "examples" / "io-rate.csv"), 5000.0),
    "LimitedSteady": lambda: queueing.mmck([100, 500], 1.3e-3, 2, 5),
    "MeasuredAnswer": lambda: MeasuredAnswer(read(data_path("hyperpav", "522A-0-aliases.listing"))),
    "MulticlassSteady": lambda: queueing.closed_network([[1e-3, 2e-3], [2e-3, 1e-3]], [3, 2], 0.01),
    "NetworkSteady": lambda: queueing.mva([1e-3, 2e-3], 3, think_time=0.01),
    "OverflowGroup": lambda: queueing.overflow_group([1, 2, 3], 1.5, 4),
    "PagingAnswer": lambda: paging_devices(Load(page_rate=1000.0, guests=4)),
    "PagingCapacity": lambda: paging_capacity(Question(devices=2, guests=4), names=["eckd"]),
    "PagingPerformance": lambda: kinds()[0].device.closed(COUNTS + 1),
    "Performance": lambda: Pool(
        classes=(VolumeClass(volumes=1, population=3, think_time=2e-4),), service_time=1.3e-3
    ).solve(COUNTS),
    "PoolSteady": lambda: queueing.alias_pool(
        COUNTS, volumes=[2, 2], population=[3, 2], think_time=[2e-4, 4e-4], service_time=1.3e-3
    ),
    "Scalability": lambda: queueing.fit_usl([1, 2, 4, 8], [10.0, 19.0, 35.0, 55.0]),
    "Scaling": lambda: scaling(published()),
    "Scoreboard": scoreboard,
    "SiteAnswer": lambda: site(ROOT / "docs" / "examples" / "site.csv"),
    "Steady": lambda: queueing.mmc([100, 500], 1.3e-3, 1),
    "StorageFit": lambda: resident_pages_that_fit(in_use="900GB", real_storage="256GB"),
    "StorageLimits": lambda: StorageBudget(release="5.3", real_storage="256GB", resident_pages=50).limits(),
    "StorageUsage": lambda: storage_usage(read_data_spaces(data_path("real-storage", "5-users.listing"))),
    "Subsystem": lambda: sizing.subsystem(
        [sizing.MeasuredPool(name="1", volumes=1, aliases=0, runs=(volume_runs(rows_of_listing())[0],))],
        DeviceModel.from_model("hyperpav"),
    ),
    "SupplyAnswer": lambda: judge(read_supplies(ROOT / "docs" / "examples" / "supply-counters.csv")),
    "SystemAnswer": lambda: system.solve(template("xiv")),
    "SystemComparison": lambda: compare(
        system.solve(template("xiv")), system.solve(template("xiv"), ["guests.count=17"])
    ),
    "SystemGrid": lambda: system.whatif(template("xiv"), ["guests.count=17:20:1"]),
    "TrackRecord": tracked,
    "VolumesAnswer": lambda: sizing.aliases(data_path("hyperpav", "pool-0-aliases.listing"), kind="volume"),
}
# What is a list, or counts of rows: no picture helps.
WITHOUT_PICTURE = {"ArchiveAnswer", "Collected"}
BASES = {"Answer", "Calibration", "Result", "Tabular"}
SUFFIX = re.compile(r"_(ms|us|s|gb|mb|bytes|percent)(_per_\w+)?$", re.IGNORECASE)


def shown_classes() -> Iterator[type]:
    """Classes of the planner that answer somebody: they have a table, or text beside plain data."""
    for _, module, _ in walk_packages(planner.__path__, "planner."):
        if module.endswith("__main__"):
            continue
        for name, found in inspect.getmembers(import_module(module), inspect.isclass):
            at_home = found.__module__ == module and not name.startswith("_")
            if at_home and (callable(getattr(found, "table", None)) or hasattr(found, "_repr_html_")):
                yield found


CLASSES = {each.__name__: each for each in shown_classes() if each.__name__ not in BASES}


@cache
def made(name: str) -> Any:
    return MADE[name]()


def test_every_result_is_here() -> None:
    assert CLASSES.keys() == MADE.keys()


COSTLY = {"Scoreboard": pytest.mark.slow, "SiteAnswer": pytest.mark.long, "TrackRecord": pytest.mark.long}


def costly_apart(names: Iterable[str]) -> list[Any]:
    """Names to test, the costly ones marked."""
    return [pytest.param(name, marks=COSTLY.get(name, ())) for name in names]


@pytest.mark.first(4)
@pytest.mark.parametrize("name", costly_apart(MADE))
def test_a_result_shows_itself(name: str) -> None:
    found = made(name)
    assert type(found).__name__ == name
    assert "<table>" in found._repr_html_()
    frame = found.to_frame()
    assert len(frame)
    assert not [column for column in frame if SUFFIX.search(column)], "a unit belongs in brackets"
    if name in WITHOUT_PICTURE:
        return
    axes = found.plot()
    assert isinstance(axes, Axes)
    assert axes.get_xlabel() or axes.get_ylabel()
    if isinstance(found, Answer):
        assert style.title_of(axes)
    axes.figure.canvas.draw()


@pytest.mark.parametrize(
    "name", costly_apart(name for name, each in CLASSES.items() if issubclass(each, Answer))
)
def test_plain_data_of_an_answer_have_its_first_line(name: str) -> None:
    found = made(name)
    assert found.to_dict()["headline"] == found.headline


@pytest.mark.parametrize("name", [name for name, each in CLASSES.items() if issubclass(each, Result)])
def test_a_queueing_result_has_its_declared_units_in_the_frame(name: str) -> None:
    found = made(name)
    for quantity, (_, unit) in found.quantities().items():
        assert (f"{quantity} [{unit}]" if unit else quantity) in found.to_frame()


@pytest.mark.parametrize("name", costly_apart(CLASSES))
def test_every_time_rate_and_size_of_a_table_has_its_unit(name: str) -> None:
    """By the words of its name: a column of times without a unit would be told here."""
    bare = [column.name for column in made(name).table().columns if not column.unit]
    assert not [each for each in bare if re.search(r"(?<!re)_time$|_rate$|^wait$|^response$|^service$", each)]


def test_a_prediction_is_drawn_with_its_band() -> None:
    found = made("Prediction")
    for shown in found.figures[:-1]:  # the chance of no alias has no band
        (band,) = [
            each for each in found.plot(figure=shown.key).collections if isinstance(each, PolyCollection)
        ]
        heights = band.get_paths()[0].vertices[:, 1]
        assert heights.min() == pytest.approx(found.values[shown.key].low.min() / shown.factor)
        assert heights.max() == pytest.approx(found.values[shown.key].high.max() / shown.factor)


def test_by_itself_a_queue_is_drawn_by_its_response_time() -> None:
    axes = made("Steady").plot()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("throughput [1/s]", "response time [s]")
    assert made("Steady").plot("throughput", "wait_time").get_ylabel() == "wait time [s]"


def test_parts_that_stand_on_each_other_add_up() -> None:
    axes = style.new_axes()
    assert style.stacked(axes, ["a", "b"], {"one": [1.0, 2.0], "two": [3.0, 0.5]}) == [4.0, 2.5]
    assert [bar.get_height() for bar in axes.containers[1]] == [3.0, 0.5]
    assert [bar.get_y() for bar in axes.containers[1]] == [1.0, 2.0]


def table(rows: int, marked: int | None = None) -> render.Table:
    marks = tuple("recommended" if k == marked else "" for k in range(rows))
    return render.Table(columns=(render.Column(name="k", unit="", values=list(range(rows))),), marks=marks)


def test_a_long_table_keeps_both_ends_and_its_marked_row() -> None:
    text = render.to_html(table(1000, marked=500))
    shown = [int(k) for k in re.findall(r"<td>(?:<b>)?(\d+)(?:</b>)?</td>", text)]
    assert shown == [*range(30), 500, *range(970, 1000)]
    assert "939 more rows" in text
    assert text.count("<tr>") == 1 + 61 + 1


def test_a_table_that_fits_is_whole() -> None:
    assert "more rows" not in render.to_html(table(60))
