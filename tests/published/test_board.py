"""The scoreboard: no figure is missing, identities hold or have an erratum, stated accuracies are met."""

from __future__ import annotations

import dataclasses
import json
import re
from functools import cache

import pytest

from planner import library
from planner.cli import main
from planner.interval import Interval
from planner.published import board, scoreboard
from planner.published.board import Scoreboard
from planner.published.report import ANSWERED, KINDS, PublishedFigure, known, meets
from planner.reports import read_devices, read_table
from tests.checkout import ROOT

REPORTS = ("emulated-fba", "fast-ccw", "hyperpav", "real-storage", "xiv-concurrent-io")
COLUMNS_OF_A_DEVICE = 11  # numbers in a row of a DEVICE listing, the address apart
IDENTIFIERS = {"unit", "device_number"}
NUMBER = re.compile(r"-?\d*\.?\d+|-?\d+\.")


DONE: list[int] = []


@cache
def found() -> Scoreboard:
    return scoreboard(DONE.append)


@pytest.mark.long
def test_a_progress_bar_is_given_every_figure() -> None:
    assert len(found().figures) == sum(DONE) == board.FIGURES


def test_a_figure_has_an_error_only_where_that_means_something() -> None:
    def figure(published: float, **more: object) -> PublishedFigure:
        fields = {"report": "r", "table": "t", "row": "a", "column": "b", "kind": "fitted"} | more
        return PublishedFigure(published=known(published), predicted=known(1.1), **fields)  # type: ignore[arg-type]

    assert figure(1.0).relative_error == pytest.approx(0.1)
    assert figure(0.0).relative_error is None
    queue = figure(1.0, counts_items=True)
    assert queue.relative_error is None
    assert "off by +0.1" in queue.remark


def test_an_identity_holds_within_rounding_or_by_an_erratum() -> None:
    figure = PublishedFigure(report="r", table="t", row="a", column="b", kind="identity",
                    published=Interval(1.95, 2.0, 2.05), predicted=Interval(1.9, 1.94, 1.96))  # fmt: skip
    assert figure.holds
    off = dataclasses.replace(figure, predicted=Interval(1.9, 1.92, 1.94))
    assert not off.holds
    assert dataclasses.replace(off, erratum="ptrm-2.0").holds


@pytest.mark.long
def test_what_does_not_hold_is_told() -> None:
    wrong = PublishedFigure(report="r", table="t", row="a", column="b", kind="identity",
                   published=known(2.0), predicted=known(3.0))  # fmt: skip
    judged = dataclasses.replace(found(), figures=(*found().figures, wrong))
    assert any("a b: 2 printed, 3" in line for line in judged.failures())


@pytest.mark.long
def test_nothing_fails() -> None:
    assert found().failures() == []
    assert len(found().promises()) == len(board.PROMISES)


@pytest.mark.long
@pytest.mark.parametrize("report", REPORTS)
def test_every_number_of_every_table_is_there(report: str) -> None:
    for path in sorted(library.data_path(report).glob("*.csv")):
        table = read_table(path)
        numbers = sum(
            NUMBER.fullmatch(table.text(row, column)) is not None
            for row in table.rows
            for column in table.columns[1:]
            if column not in IDENTIFIERS
        )
        listed = [f for f in found().figures if (f.report, f.table) == (report, path.stem)]
        assert len(listed) == numbers
        assert len({(f.row, f.column) for f in listed}) == numbers


@pytest.mark.long
def test_every_number_of_every_device_listing_is_there() -> None:
    for path in library.data_path("hyperpav").glob("*.listing"):
        (listing,) = read_devices(path)
        listed = [f for f in found().figures if f.table == f"DEVICE {listing.run}"]
        assert len(listed) == COLUMNS_OF_A_DEVICE * len(listing.rows)


@pytest.mark.long
def test_published_values_are_those_of_the_tables() -> None:
    table = read_table(library.data_path("fast-ccw", "results.csv"))
    for figure in found().figures:
        if figure.report == "fast-ccw":
            assert figure.published.value == float(table.text(figure.row, figure.column))


@pytest.mark.long
def test_every_erratum_that_is_leaned_on_is_listed_and_needed() -> None:
    for figure in found().figures:
        if figure.erratum:
            listed = {entry["id"] for entry in library.read_source(figure.report)["errata"]}
            assert figure.erratum in listed
    leaned = {(f.report, f.erratum) for f in found().figures if f.erratum}
    needed = {
        (f.report, f.erratum)
        for f in found().figures
        if f.erratum and f.predicted is not None and not meets(f.predicted, f.published)
    }
    assert leaned == needed


@pytest.mark.long
def test_enough_is_answered_and_little_is_left() -> None:
    figures = [f for f in found().figures if f.table != "totals of runs"]
    measured = [f for f in figures if f.published.value != 0 and f.kind != "input"]
    answered = [f for f in measured if f.kind in ANSWERED]
    assert len(answered) >= len(measured) / 2
    assert sum(f.kind == "not modelled" for f in figures) <= len(figures) / 4
    assert all(f.note for f in figures if f.kind in ("not modelled", "input"))
    assert {f.kind for f in figures} | {"left-out", "transferred"} == set(KINDS)


@pytest.mark.long
def test_the_outlier_is_shown_and_stays_in_the_summary() -> None:
    totals = [f for f in found().figures if f.table == "totals of runs" and f.published.value == 942]
    assert {f.kind for f in totals} == {"fitted", "left-out", "transferred"}
    assert all(f.outlier and f.relative_error is not None and f.relative_error > 0.3 for f in totals)
    (row,) = (r for r in found().summary().records() if (r["report"], r["kind"]) == ("hyperpav", "fitted"))
    assert row["outliers"] > 0
    assert row["worst_percent"] > 30


@pytest.mark.long
def test_the_command_prints_json(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.published.scoreboard", lambda *_, **__: found())
    assert main(["scoreboard", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {"report", "table", "figure", "published", "predicted", "relative_error", "kind", "note"} <= set(
        data["figures"][0]
    )
    assert {figure["report"] for figure in data["figures"]} == set(REPORTS)
    assert data["summary"]
    assert data["failures"] == []


@pytest.mark.long
def test_the_guide_shows_the_summary_as_it_is() -> None:
    guide = (ROOT / "docs" / "scoreboard.md").read_text(encoding="utf-8")
    shown = re.findall(
        r"^\| ([\w-]+) \| ([\w -]+?) \| (\d+) \| ([\d.]*) \| ([\d.]*) \| ([\d.]*) \|", guide, re.MULTILINE
    )
    rows = []
    for record in found().summary().records():
        if record["kind"] in ("input", "not modelled"):  # no error to show
            continue
        errors = (f"{record[k]:.1f}" for k in ("median_percent", "p90_percent", "worst_percent"))
        rows.append((record["report"], record["kind"], str(record["count"]), *errors))
    assert shown == rows


def shows(text: str, value: float) -> bool:
    """Whether a text is a value rounded to its decimal places."""
    return float(text) == round(value, len(text.partition(".")[2]))


@pytest.mark.long
def test_the_guide_shows_the_figures_furthest_off_as_they_are() -> None:
    guide = (ROOT / "docs" / "scoreboard.md").read_text(encoding="utf-8")
    shown = re.findall(
        r"^\| .+? \| ([\d.]+)(?:/s| ms) \| ([\d.]+)(?:/s| ms) \| ([+-][\d.]+) % \|", guide, re.MULTILINE
    )
    known_values = [
        (f.published.value, f.predicted.value)
        for f in found().figures
        if f.kind in ("fitted", "left-out", "transferred")
    ]
    for published, predicted, error in shown:
        values = [value for there, value in known_values if there == float(published)]
        assert any(
            shows(predicted, value) and shows(error, 100 * (value / float(published) - 1)) for value in values
        )
    assert len(shown) == 4
