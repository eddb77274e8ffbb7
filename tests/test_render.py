"""One table in every form: text, CSV, JSON, HTML, data frame; no form loses or invents a value."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.render import (
    Column,
    Section,
    Table,
    answer_text,
    format_value,
    to_csv,
    to_frame,
    to_html,
    to_json,
    to_text,
)

INF, NAN = math.inf, math.nan
TABLE = Table(
    columns=(
        Column(name="aliases", unit="", values=[0, 1, 2]),
        Column(name="io_rate", unit="1/s", values=[755.4, 1100.0, None], label="I/O rate"),
        Column(name="wait", unit="ms", values=[2.44, INF, 0.31]),
        Column(name="no_alias", unit="share", values=[0.5, 0.25, 0.0], decimals=3),
        Column(name="state", unit="", values=["now", "", "a < b"]),
    ),
    marks=("in use", "", "recommended"),
)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (1.29, 1, "1.3"),
        (755, 0, "755"),
        (0.000123456, None, "0.000123"),
        (np.float64(2.5), 2, "2.50"),
        (np.int64(3), None, "3"),
        (None, 2, "-"),
        (NAN, 2, "-"),
        (INF, 2, "saturated"),
        (True, None, "yes"),
        (False, 1, "no"),
        (np.True_, None, "yes"),
        ("522A", None, "522A"),
    ],
)
def test_one_value_as_people_read_it(value: object, decimals: int | None, text: str) -> None:
    assert format_value(value, decimals) == text


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1.0, 2.0], ["1", "2"]),
        ([12.34, 0.5], ["12.3", "0.500"]),
        ([0.01234, INF], ["0.0123", "saturated"]),
        ([12345.6, 0.2], ["12,300", "0.20"]),
        ([None, 0.0], ["-", "0"]),
        ([], []),
    ],
)
def test_a_column_has_three_digits_and_two_more_decimals_than_its_largest_value_at_most(
    values: list[float], texts: list[str]
) -> None:
    assert Column(name="x", unit="s", values=values).texts() == texts


def test_text_shows_labels_units_marks_and_what_is_missing() -> None:
    assert to_text(TABLE).splitlines() == [
        "  aliases  I/O rate       wait  no_alias  state",
        "                1/s         ms",
        "*       0       755      2.44      0.500  now",
        "        1     1,100  saturated     0.250",
        ">       2         -      0.310     0      a < b",
    ]


def test_the_ends_of_an_interval_share_its_decimals_and_points_stand_below_each_other() -> None:
    named = {
        "x": [10.18, 0.512],
        "x_low": [9.862, 0.43],
        "x_high": [10.87, 110.0],
        "of_a_file": [1.25, 1250.5],
    }
    columns = [Column(name=name, unit="", values=each, decimals=2) for name, each in named.items()]
    columns[-1] = Column(name="of_a_file", unit="", values=named["of_a_file"], decimals=2, digits=None)
    table = Table(columns=tuple(columns))
    assert table.texts() == [["10.2", "0.51"], ["9.9", "0.43"], ["10.9", "110"], ["1.25", "1,250.50"]]
    assert table.texts("_")[:2] == [["10.2_", "0.51"], ["9.9_", "0.43"]]
    assert table.texts("_")[2] == ["10.9", "110__"]


def test_text_without_marks_and_units_is_heads_and_rows() -> None:
    table = Table(
        columns=(Column(name="n", unit="", values=[1, 10]), Column(name="t", unit="", values=["a", "b"]))
    )
    assert to_text(table).splitlines() == [" n  t", " 1  a", "10  b"]


def test_a_table_of_eight_numbers_fits_a_terminal() -> None:
    names = ["aliases", "I/O rate", "interval", "service", "wait", "response", "queued", "no alias"]
    units = ["", "1/s", "1/s", "ms", "ms", "ms", "", "share"]
    columns = tuple(
        Column(name=name, unit=unit, values=[0.0, 13395.25, 1.25])
        for name, unit in zip(names, units, strict=True)
    )
    text = to_text(Table(columns=columns, marks=("", "recommended", "")))
    assert max(map(len, text.splitlines())) <= 80


def test_csv_carries_units_in_its_header() -> None:
    rows = list(csv.reader(io.StringIO(to_csv(TABLE))))
    assert rows == [
        ["aliases", "io_rate", "wait_ms", "no_alias", "state"],
        ["0", "755.4", "2.44", "0.5", "now"],
        ["1", "1100.0", "inf", "0.25", ""],
        ["2", "", "0.31", "0.0", "a < b"],
    ]


@given(st.lists(st.floats(allow_nan=False) | st.none()))
def test_csv_reads_back_to_the_last_bit(values: list[float | None]) -> None:
    text = to_csv(Table(columns=(Column(name="n", unit="", values=range(len(values))), column_of(values))))
    read = [float(row["x_s"]) if row["x_s"] else None for row in csv.DictReader(io.StringIO(text))]
    assert read == values


def column_of(values: list[float | None]) -> Column:
    return Column(name="x", unit="s", values=[None if v is None else np.float64(v) for v in values])


@given(st.lists(st.floats() | st.none()))
def test_json_reads_back_and_what_it_cannot_say_is_null(values: list[float | None]) -> None:
    read = json.loads(to_json({"x": column_of(values).values, "y": np.array(values, dtype=float)}))
    finite = [value if value is not None and math.isfinite(value) else None for value in values]
    assert read == {"x": finite, "y": finite}


def test_json_of_records_and_numpy_scalars() -> None:
    read = json.loads(to_json({"rows": TABLE.records(), "n": np.int64(2), "ok": np.True_, "ends": (1, INF)}))
    assert read["rows"][1] == {
        "aliases": 1,
        "io_rate": 1100.0,
        "wait_ms": None,
        "no_alias": 0.25,
        "state": "",
    }
    assert (read["n"], read["ok"], read["ends"]) == (2, True, [1, None])


def test_html_escapes_text_and_shows_marked_rows_bold() -> None:
    text = to_html(TABLE)
    assert text.count("<tr>") == 1 + len(TABLE)
    assert "<th>I/O rate<br><small>1/s</small></th>" in text
    assert "<td><b>a &lt; b</b></td>" in text
    assert "<td>saturated</td>" in text
    assert to_html(Table(columns=TABLE.columns)).count("<b>") == 0


def test_a_frame_names_units_and_keeps_values() -> None:
    frame = to_frame(TABLE)
    assert list(frame) == ["aliases", "io_rate [1/s]", "wait [ms]", "no_alias", "state"]
    pd.testing.assert_series_equal(frame["wait [ms]"], pd.Series([2.44, INF, 0.31], name="wait [ms]"))


def test_columns_of_unequal_length_are_never_cut() -> None:
    ragged = Table(columns=(Column(name="a", unit="", values=[1, 2]), Column(name="b", unit="", values=[1])))
    for form in (to_text, to_csv, to_html, Table.records):
        with pytest.raises(ValueError, match="zip"):
            form(ragged)


def test_a_wide_table_goes_on_below_behind_its_first_column() -> None:
    columns = [Column(name=f"column number {k}", unit="", values=[k, k]) for k in range(9)]
    text = to_text(Table(columns=(Column(name="kind", unit="", values=["eckd", "scsi"]), *columns)))
    blocks = text.split("\n\n")
    assert len(blocks) > 1
    assert max(map(len, text.splitlines())) <= 80
    assert all(block.splitlines()[1].startswith("eckd") for block in blocks)
    assert all(text.count(f"column number {k}") == 1 for k in range(9))


@pytest.mark.parametrize("width", range(40, 100, 7))
def test_a_value_and_its_interval_stand_in_one_table(width: int) -> None:
    names = (
        "pool",
        "io_rate",
        "needed",
        "needed_low",
        "needed_high",
        "response",
        "response_low",
        "response_high",
    )
    table = Table(columns=tuple(Column(name=name, unit="", values=[1000, 2]) for name in names))
    for block in to_text(table, width).split("\n\n"):
        heads = block.splitlines()[0].split()
        for name in ("needed", "response"):
            assert {name, f"{name}_low", f"{name}_high"} <= set(heads) or name not in heads


def test_sentences_end_at_a_hundred_columns_and_numbers_stand_to_the_right() -> None:
    table = Table(
        columns=(
            Column(name="pool", unit="", values=["A", "B"]),
            Column(name="trend", unit="", values=["34 % (32 to 36)", "5 %"]),
            Column(name="when", unit="", values=["Mon 10", "-"]),
        )
    )
    shown = answer_text("A word. " * 40, (Section(table=table),), ("A note. " * 40,), 160)
    assert max(map(len, shown.splitlines())) <= 100
    assert "B                 5 %  -" in shown


def test_a_long_name_is_cut_in_text_alone_and_two_never_look_equal() -> None:
    names = [3000 * "A" + "1", 3000 * "A" + "2", "522A"]
    table = Table(
        columns=(Column(name="pool", unit="", values=names), Column(name="need", unit="", values=[2, 3, 4]))
    )
    lines = to_text(table).splitlines()
    assert max(map(len, lines)) <= 80
    first, second = (line.split()[0] for line in lines[1:3])
    assert first != second and all(each.startswith(49 * "A" + "...") for each in (first, second))
    assert [row["pool"] for row in json.loads(to_json(table.records()))] == names
    assert [row[0] for row in csv.reader(io.StringIO(to_csv(table)))][1:] == names
