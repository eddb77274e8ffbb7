"""Frames of IBM SMF Explorer: columns of its public mappings, arithmetic of RMF; no real data was at hand."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from planner.errors import ReportError
from planner.measurements import read as read_any
from planner.reports import schema, zos
from planner.reports.csv_table import of_frame, read_csv

PATH = Path("frame")
UNIT = 128e-6


def devices(**changes: Any) -> pl.DataFrame:
    """Two HyperPAV bases and a tape, 15 minutes."""
    every: dict[str, Any] = {
        "sid": "SYSA", "snm": "SYSA", "dat": date(2024, 5, 14), "ist": time(9, 15), "int": time(0, 15), "sam": 900,
        "cmb": False, "vac": False, "del_": False, "ios": 0.0,
    }  # fmt: skip
    data: dict[str, Any] = {name: [value] * 3 for name, value in every.items()} | {
        "num": ["8A00", "8a01", "0560"], "lcu": ["0045", "0045", "0010"], "ser": ["PROD01", "PROD02", None],
        "typ": ["3010200F", "3010200F", "78048083"], "dev": ["33909", "33909", "3590"],
        "ssc": [900_000, 1_800, 0], "mec": [899_990, 1_800, 0], "cnn": [1_406_235, 14_000, 0],
        "pen": [703_118, 2_800, 0], "dis": [703_117, 0, 0], "que": [450, 0, 0], "hpv": [True, True, False],
        "hpc": [32, 32, 0],
    }  # fmt: skip
    return pl.DataFrame(data | changes)


def pools(**changes: Any) -> pl.DataFrame:
    data: dict[str, Any] = {
        "snm": ["SYSA"], "dat": [date(2024, 5, 14)], "ist": [time(9, 15)], "int": [time(0, 15)], "r783hlcu": [0x45],
        "r783hcu": ["8A00"], "r783htio": [90_000.0], "r783hnai": [450.0], "r783haiu": [30],
    }  # fmt: skip
    return pl.DataFrame(data | changes)


def read(frame: pl.DataFrame) -> schema.Tables:
    return zos.read_smf(of_frame(PATH, frame))


def read_text(text: bytes) -> schema.Tables:
    return zos.read_smf(read_csv(PATH, (), "SMF", data=text))


def table(found: schema.Tables) -> pl.DataFrame:
    frame = found.devices if found.devices.height else found.supply
    assert frame is not None
    return frame


class TestDevices:
    def test_a_device_without_io_has_numbers_and_a_mean_its_queue(self) -> None:
        """No I/O was measured of an idle one: how exact its times are is nothing that its rate depends on."""
        hours = [devices(ist=[time(hour)] * 3, mec=[0 if hour == 9 else 9, 9, 0]) for hour in (9, 10)]
        first, *_ = read_any(hours, interval="mean").devices.rows(named=True)
        assert [first[f"queued{end}"] for end in schema.ENDS] == [0.5] * 3
        assert [first[f"io_rate{end}"] for end in schema.ENDS] == [1000.0] * 3

    def test_rates_and_times_are_those_of_rmf(self) -> None:
        found = read(devices())
        assert found.notes == () and found.what == "SMF 74-1 of SMF Explorer"
        first, second, tape = table(found).rows(named=True)
        assert first["system"] == "SYSA" and first["device"] == "8A00" and first["label"] == "PROD01"
        assert first["start"] == datetime(2024, 5, 14, 9, 15) and first["interval"] == 900.0
        assert first["io_rate"] == 1000.0
        assert first["pend"] == pytest.approx(703_118 * UNIT / 899_990)
        assert first["connect"] == pytest.approx(1_406_235 * UNIT / 899_990)
        assert first["service"] == pytest.approx((703_118 + 1_406_235 + 703_117) * UNIT / 899_990)
        assert first["queued"] == 0.5 and first["response"] == pytest.approx(first["service"] + 0.0005)
        assert first["service_low"] < first["service"] < first["service_high"]
        assert (first["kind"], first["type"], first["pool"], first["pool_aliases"]) == (
            "volume",
            "33909",
            "0045",
            32,
        )
        assert second["device"] == "8A01" and second["line"] == 2
        assert (
            tape["kind"] == "other"
            and tape["pool"] is None
            and tape["service"] is None
            and tape["io_rate"] == 0
        )

    def test_the_queue_time_of_ios_comes_before_samples(self) -> None:
        first = table(read(devices(ios=[900e6, 0.0, 0.0]))).row(0, named=True)
        assert first["queued"] == 1.0  # 900 s of waiting in 900 s
        assert first["response"] == pytest.approx(first["service"] + 0.001)

    @pytest.mark.parametrize(
        ("seconds", "length"),
        [
            *((900.0, each) for each in (
                time(0, 15), timedelta(minutes=15), 900, 900.0, "00:15:00", "00:15:00.000000", "0 days 00:15:00", "900",
            )),
            *((5415.5, each) for each in (
                time(1, 30, 15, 500_000), timedelta(seconds=5415.5), 5415.5, "01:30:15.5",
            )),
        ],
    )  # fmt: skip
    def test_lengths_of_intervals_in_any_form(self, seconds: float, length: object) -> None:
        found = table(read(devices().with_columns(pl.Series("int", [length] * 3))))
        assert found["interval"].to_list() == [seconds] * 3
        assert found["io_rate"][0] == pytest.approx(900_000 / seconds)

    @pytest.mark.parametrize(
        "begin", [time(9, 15), timedelta(hours=9, minutes=15), "09:15:00", "0 days 09:15:00"]
    )
    @pytest.mark.parametrize(
        "day", [date(2024, 5, 14), datetime(2024, 5, 14), "2024-05-14", "2024-05-14 00:00:00"]
    )
    def test_begins_of_intervals_in_any_form(self, begin: object, day: object) -> None:
        found = table(read(devices(ist=[begin] * 3, dat=[day] * 3)))
        assert found["start"].to_list() == [datetime(2024, 5, 14, 9, 15)] * 3

    def test_text_of_a_csv_says_the_same(self) -> None:
        text = devices().write_csv().encode()
        found = read_text(text)
        assert table(found).drop("line").equals(table(read(devices())).drop("line"))
        assert table(found)["line"].to_list() == [2, 3, 4]
        upper = devices().rename(lambda name: f"SMF74{name.upper()}")
        assert table(read(upper)).equals(table(read(devices())))
        assert zos.is_smf(frozenset(upper.columns)) and not zos.is_smf(frozenset(upper.columns[1:8]))

    def test_the_time_of_the_record_stands_in_for_that_of_the_interval(self) -> None:
        frame = devices(timestamp=[datetime(2024, 5, 14, 9, 30)] * 3).drop("dat", "ist")
        found = read(frame)
        assert (
            table(found)["start"][0] == datetime(2024, 5, 14, 9, 15)
            and "without dat and ist" in found.notes[0]
        )
        text = frame.write_csv().encode()
        assert table(read_text(text))["start"][0] == datetime(2024, 5, 14, 9, 15)

    def test_what_is_invalid_is_left_out_and_named(self) -> None:
        found = read(devices(cmb=[True, False, False], vac=["0", "1", "0"]))
        assert table(found)["device"].to_list() == ["0560"]
        assert "8A00" in found.notes[0] and "8a01" in found.notes[1] and "varied" in found.notes[1]
        found = read(devices(ddt=[True, False, False], ntf=[False, True, False]))
        first, second, _ = table(found).rows(named=True)
        assert first["disconnect"] is None and first["service"] is None and first["pend"] is not None
        assert second["pend"] is None and second["io_rate"] == 2.0

    def test_numbers_as_text_may_have_blanks_and_be_missing(self) -> None:
        expected, found = (
            read(devices()),
            read(devices(que=[" 450", "0 ", ""], ssc=["900000", " 1800 ", "0"])),
        )
        assert table(found)["io_rate"].to_list() == table(expected)["io_rate"].to_list()
        assert table(found)["queued"].to_list() == [0.5, 0.0, None]
        with pytest.raises(ReportError, match="line 2, column 21: que '1 2': expected a number"):
            read(devices(que=["450", "1 2", "0"]))

    def test_of_many_that_are_left_out_five_are_named(self) -> None:
        for many, said in (
            (5, "left out, .*: 8A00, 8A01, 8A02, 8A03, 8A04$"),
            (7, "8A03, 8A04 and 2 more$"),
        ):
            frame = pl.concat([devices()[:1]] * (many + 1)).with_columns(
                num=pl.Series([f"8A{n:02X}" for n in range(many + 1)]), cmb=pl.Series([True] * many + [False])
            )
            found = read(frame)
            assert re.search(said, found.notes[0])
            assert table(found)["device"].to_list() == [f"8A{many:02X}"]

    def test_missing_columns_are_named_with_what_they_are_for(self) -> None:
        with pytest.raises(ReportError, match=r"SMF 74-1 without cnn \(connect time\), int \(length"):
            read(devices().drop("cnn", "int"))
        found = read(devices().drop("hpc", "que", "ios", "lcu"))
        assert [note.partition(": ")[2] for note in found.notes] == [
            "SMF 74-1 without lcu: alias pools missing",
            "SMF 74-1 without hpc: the number of aliases of a pool missing",
            "SMF 74-1 without que or ios: queues and response times missing",
        ]
        assert table(found)["queued"].null_count() == 3

    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"num": [5200, 5201, 5202]}, "num is a column of numbers: expected text"),
            ({"num": ["8A00", "tape", "0560"]}, "line 2: num is 'tape': expected four hexadecimal digits"),
            ({"ssc": ["1", "x", "3"]}, "line 2, column 16: ssc 'x': expected a number"),
            ({"pen": [1.0, -2.0, 3.0]}, "line 2, column 19: pen -2.0"),
            ({"mec": [1, None, 3]}, "line 2: mec is None"),
            ({"int": ["00:15:00", "soon", "00:15:00"]}, "line 2, column 5: int 'soon'"),
            ({"int": [0, 900, 900]}, "line 1, column 5: int '0'"),
            ({"ist": ["09:15:00", "9h", "09:15:00"]}, "line 2, column 4: ist '9h'"),
            ({"hpv": ["true", "perhaps", "false"]}, "line 2, column 22: hpv 'perhaps'"),
            ({"num": ["8A00", "8A00", "0560"]}, "line 2: num 8A00 a second time"),
        ],
    )
    def test_refusals(self, changes: dict[str, Any], match: str) -> None:
        with pytest.raises(ReportError, match=match):
            read(devices(**changes))

    def test_a_number_of_five_digits_is_the_one_that_members_have(self) -> None:
        found = table(read(devices(num=["08A00", "18a01", "0560"])))
        assert found["device"].to_list() == ["8A00", "18A01", "0560"]

    def test_rows_that_another_section_repeats_are_one(self) -> None:
        found = read(pl.concat([devices(), devices()]))
        assert table(found).height == 3 and "3 rows repeat others" in found.notes[0]


class TestPools:
    def test_requests_without_a_free_alias(self) -> None:
        found = read(pools())
        (row,) = table(found).rows(named=True)
        assert (row["pool"], row["tries"], row["fails"], row["most_used"]) == ("0045", 90_000, 450, 30)
        assert row["aliases"] is None and row["fewest_free"] is None
        assert row["plain"] and not row["restarted"]
        assert any("not only those that needed an alias" in note for note in found.notes)

    def test_superpav_says_how_often_an_alias_was_needed(self) -> None:
        more = {
            "r783xanc": [10_000.0],
            "r783xauc": [9_900.0],
            "r783xabc": [90.0],
            "r783xalc": [180.0],
            "r783xcqd": [2_000.0],
        }
        (row,) = table(read(pools(**more))).rows(named=True)
        assert (row["tries"], row["fails"]) == (10_000, 100)
        assert (
            row["borrowed"] == pytest.approx(0.1)
            and row["loaned"] == pytest.approx(0.2)
            and row["queued"] == 0.2
        )

    def test_aliases_come_from_the_volumes(self) -> None:
        (row,) = zos.with_aliases(table(read(pools())), table(read(devices()))).rows(named=True)
        assert (row["aliases"], row["bases"], row["fewest_free"]) == (32, 2, 2)
        other = read(devices(ist=[time(9, 30)] * 3))
        assert zos.with_aliases(table(read(pools())), table(other))["aliases"].to_list() == [None]

    def test_control_units_of_one_logical_control_unit_are_told_apart(self) -> None:
        found = read(pl.concat([pools(), pools(r783hcu=["8B00"])]))
        assert table(found)["pool"].to_list() == ["0045/8A00", "0045/8B00"]
        assert any("several control units" in note for note in found.notes)

    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"r783hnai": [90_001.0]}, "line 1: 90001.0 of 90000.0 requests"),
            ({"r783hnai": [0.5]}, "expected whole numbers"),
            ({"r783hlcu": [None]}, "r783hlcu is None"),
        ],
    )
    def test_refusals(self, changes: dict[str, Any], match: str) -> None:
        with pytest.raises(ReportError, match=match):
            read(pools(**changes))
        with pytest.raises(ReportError, match="SMF 78-3 without int"):
            read(pools().drop("int"))


def test_a_csv_that_is_none_is_refused() -> None:
    with pytest.raises(ReportError, match="line 2, column 5: 3 cells: expected 2"):
        read_text(b"num,ssc\n1,2,3\n")


def test_blank_lines_count_and_semicolons_are_read() -> None:
    text = devices(num=["8A0X", "8A01", "0560"]).write_csv().replace("\n", "\n\n", 1) + "\n\n"
    with pytest.raises(ReportError, match="line 3: num is '8A0X'"):
        read_any(text.encode())
    assert read_any(text.replace("8A0X", "8A00").encode()).devices["line"].to_list() == [3, 4, 5]
    assert read_any(text.replace("8A0X", "8A00").replace(",", ";").encode()).devices.height == 3
