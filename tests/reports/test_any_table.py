"""Tables as tools and people write them: eight exports say the same, units and marks are found, doubts are refused."""

from __future__ import annotations

import re
from datetime import datetime
from random import Random

import pandas as pd
import polars as pl
import pytest

from planner.errors import InputError, ReportError
from planner.measurements import read
from planner.reports.column_names import heading_words, plan_of, read_map
from tests.reports.exports import EXPORTS, START, least, volumes


@pytest.mark.parametrize("name", EXPORTS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.long) for k in (1, 2))])
def test_every_export_says_the_same_without_a_map(name: str, seed: int) -> None:
    rows = volumes(Random(seed), 6, 2)
    found = read(EXPORTS[name](rows).encode())
    assert found.missing == () and found.devices.height in (6, 12)
    for row, v in zip(found.devices.rows(named=True), rows, strict=False):
        assert row["io_rate"] == pytest.approx(v.rate, rel=1e-3)
        assert row["service"] == pytest.approx(v.service / 1000, rel=5e-3)
        assert row["queued"] == pytest.approx(v.rate * v.iosq / 1000, abs=2e-3, rel=2e-3)
        assert row["response"] == pytest.approx(v.response / 1000, rel=5e-3)
        assert v.device == row["device"] or v.label == row["label"]
        assert row["start"] in (v.start, None) and (row["start"] is not None or v.start == START)


def test_a_table_made_of_sar_has_no_service_time() -> None:
    """Its svctm is utilization over rate, less than the service time wherever I/Os overlap."""
    (row,) = read(text("Volser,tps,await,svctm,%util", "A,100,12.5,9.9,99")).devices.rows(named=True)
    assert (row["io_rate"], row["response"], row["service"]) == (100, pytest.approx(12.5e-3), None)


def test_a_rate_and_a_response_time_are_read_as_they_are() -> None:
    row = read(least(volumes(Random(1))).encode()).devices.row(0, named=True)
    assert row["service"] is None and row["response"] is not None


def text(*lines: str) -> bytes:
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    ("lines", "rate", "service"),
    [
        (("Volser;IOPS;Svc Time (us)", "A;1.234,5;845,0"), 1234.5, 845e-6),
        (("Volser;IOPS;Svc", "A;1234.5;0.845"), 1234.5, 0.845e-3),
        (("Volser\tIOPS\tSvc", "A\t7,25\t0,845"), 7.25, 0.845e-3),
        (('Volser,IOPS,"Svc, s"', 'A,"1,234.5",.000845'), 1234.5, 845e-6),
        (("title", "", "Volser,IOPS,Service", ",1/s,us", "A,10,1300"), 10, 1.3e-3),
        (("Volser,SSCH,Service_s", "A,10,0.0013"), 10, 1.3e-3),
        (("Volser,I/O Rate (per hour),Svc [ns]", "A,3600,1300000"), 1, 1.3e-3),
        (('Volser (VOL1),Total IOPS,"Service Time in seconds (avg)"', "A,10,0.0013"), 10, 1.3e-3),
        (
            ("Volser;IOPS;Svc (ms per I/O)", "A;1.234;1,3", "Gesamt;1.234;1,3", "* Grand Total:;9;1,3"),
            1234,
            1.3e-3,
        ),
        (
            (
                "Datum;Uhrzeit;Volume;E/A-Rate;Queue (I/Os);Bedienzeit (ms)",
                "14.05.2024;10:15;A;10,0;0,3;1,3",
                "Gesamt;;;10,0;;",
            ),
            10,
            1.3e-3,
        ),
        (("Device,Volser,IOPS,Svc", "8A00,A,10,1.3", "LCU 0045 total,,10,1.3"), 10, 1.3e-3),
        (("Volser,IOPS,Svc", "A,10,1.3", "Mean,10,1.3", "Maximum,10,1.3", "Count,1,1"), 10, 1.3e-3),
        (("Volser;IOPS;Svc (ms)", "A;1\u202f234\u00a0567,5;1,3"), 1234567.5, 1.3e-3),
        (("Volser;IOPS;Svc", "A;1'234.5;1.3"), 1234.5, 1.3e-3),
        (("Volser;IOPS;Svc", "A;1 234,5 IO/s;1300 µs", "Summe;1 234,5 IO/s;"), 1234.5, 1.3e-3),
        (("Volser,IOPS,Resp (µsec),Queue (ms)", "A,10,1700,.4"), 10, 1.3e-3),
        (("Volser,IOPS,Svc", "A,1 234,1.3"), 1234, 1.3e-3),
    ],
)
def test_marks_and_units_are_found(lines: tuple[str, ...], rate: float, service: float) -> None:
    (row,) = read(text(*lines)).devices.rows(named=True)
    assert row["io_rate"] == rate and row["service"] == pytest.approx(service)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (("Volser;IOPS;Svc", "A;1,234;2,345"), "line 2, column 3: '1,234': is its comma one of decimals or"),
        (("Volser;IOPS;Svc", "A;1.234;2"), "line 2, column 3: '1.234': is its point one of decimals or of "
         "thousands. expected decimal points, and commas between cells"),
        (("Volser;IOPS;Svc", "A;1;2,1 ms", "B;1;2,1"), "line 2, column 5: Svc '2,1 ms': expected a number"),
        (("Volser,IOPS,Svc (us)", "A,1,2 ms"), r"line 2, column 5: Svc \(us\) 'ms': expected us, as its heading says"),
        (("Volser,IOPS,Svc", "A,1 ms,2"), "line 2, column 3: IOPS 'ms': expected a unit of io_rate"),
        (("Volser;IOPS;Svc", "A;1 2,5;1,3"), "line 2, column 3: IOPS '1 2,5': expected a number"),
        (("Volser,IOPS (k),Svc", "A,1.2,2.5"), r"io_rate: perhaps 'IOPS \(k\)', but its unit 'k' does not fit; `map`"),
        (("Volser,IOPS,Resp (max) [ms]", "A,1.2,2.5"), "its unit 'max ms' does not fit"),
        (("Volser,IOPS,Conn (%),Pend,Disc", "A,1.2,2.5,1,1"), r"not taken: Conn \(%\)"),
        (("Volser;IOPS;Svc", "A;1,5;2.5"), "'1,5': a decimal comma, and decimal points elsewhere"),
        (("Volser,IOPS,Svc (ms),Svc (us)", "A,1,2,3"), r"'Svc \(ms\)' and 'Svc \(us\)' may both be service"),
        (("Volser,Rates per s,Svc", "A,1,2"), "a table without io_rate; taken: Volser as volume, Svc as service; not "
         "taken: Rates per s; io_rate: perhaps 'Rates per s'; `map` io_rate=COLUMN"),
        (("Volser,Reads/s,Writes/s,Svc", "A,1,2,3"), "not taken: Reads/s, Writes/s; `map`"),
        (("Volser,IOPS,Svc,IOSQ (I/Os)", "A,1,2,3"), r"'IOSQ \(I/Os\)' is a time by its name, but its unit is 'i/os': "
         "queued if it counts I/Os, else iosq_ms; `map`"),
        (("Volser,IOPS,Svc,IOSQ", ",1/s,ms,I/Os", "A,1,2,3"), "line 2, column 9: IOSQ 'i/os': expected a unit of iosq"),
        (("Volser,IOPS,Svc,Duration", "A,1,2,00:15"), "line 2, column 7: Duration '00:15': expected a number above "
         "zero, of seconds, or as 00:15:00; of minutes: `map` interval_min=Duration"),
        (("Volser,IOPS,Svc,Timestamp", "A,1,2,14MAI2024 09:15"), r"line 2, column 7: Timestamp '14MAI2024 09:15': "
         r"expected a time such as 2007-05-27T15:01:00 or 2007-05-27T15:01:00\+02:00, 27.05.2007 15:01, "
         "05/27/2007 15:01, or 27MAY2007 15:01 with an English month, all in one form"),
        (("Volser,IOPS,Svc", "A,7,845"), None),
        (("Volser,IOPS,Svc", "A,700,845"), "592 I/Os would be at one volume at once; expected milliseconds, or"),
        (("Volser,IOPS,Svc", "A,700,18450"), "so slow; expected milliseconds, or the unit by `map` service_us"),
        (("Volser,IOPS,Resp", "A,700,.0008"), "a median response time .* `map` response_s=Resp"),
        (("Volser,IOPS,Svc", "A,700,.0008"), "so fast; expected milliseconds, or the unit by `map` service_s=Svc"),
    ],
)  # fmt: skip
def test_what_may_mean_two_things_is_refused(lines: tuple[str, ...], problem: str | None) -> None:
    if problem is None:
        read(text(*lines))
        return
    with pytest.raises(ReportError, match=problem):
        read(text(*lines))


def test_seconds_under_names_of_milliseconds_are_told_by_their_sum() -> None:
    """IOSQ + pend + disconnect + connect = response holds in any unit; only as seconds a disk can be meant."""
    header = "device,io_rate,iosq_ms,pend_ms,disconnect_ms,connect_ms,response_ms"
    found = read(text(header, "522A,700,.0004,.0001,.0002,.0005,.0012", "522B,10,0,.0001,.0002,.0005,.0008"))
    assert found.devices["service"].to_list() == pytest.approx([0.8e-3, 0.8e-3])
    assert found.devices["queued"][0] == pytest.approx(0.28)
    assert any("read as seconds" in note for note in found.notes)
    with pytest.raises(ReportError, match="no disk is so fast"):
        read(text(header, "522A,700,.0004,.0001,.0002,.0005,.0052"))


@pytest.mark.parametrize(("heading", "times"), [("Response", (1850, 1650)), ("Service Time", (1230, 1190))])
def test_microseconds_without_a_unit_that_would_crowd_a_volume_are_refused(
    heading: str, times: tuple[int, int]
) -> None:
    """Rate x time is what is there at once (Little's law): 256 devices serve no 1,000; said in a heading it is read."""
    lines = [f"A,545.3,{times[0]}", f"B,0.8,{times[1]}"]
    with pytest.raises(ReportError, match=r"line 1: .* I/Os would be at one volume at once; .*_us="):
        read(text(f"Volume,IOPS,{heading}", *lines))
    field = heading.partition(" ")[0].lower()
    for unit, second in (("us", 1e-6), ("ms", 1e-3)):
        assert read(text(f"Volume,IOPS,{heading} ({unit})", *lines)).devices[field][0] == pytest.approx(
            times[0] * second
        )
    assert read(text(f"Volume,IOPS,{heading}", "A,545.3,18.5", "B,0.8,1650")).devices.height == 2


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize(("head", "below"), [(0, 1), (1, 0), (0, 2), (3, 1)])
def test_separators_at_the_end_of_lines_are_no_cells(separator: str, head: int, below: int) -> None:
    """As scripts write them, in headings or rows only; a cell without a heading stays an error."""
    lines = ["volume,io_rate,service_ms", "A,10,1.3", "volume,io_rate,service_ms", "B,20,1.4"]
    more = [head, below, head, below]
    lines = [(line + "," * many).replace(",", separator) for line, many in zip(lines, more, strict=True)]
    assert read(text(*lines)).devices["io_rate"].to_list() == [10, 20]
    for wrong in (f"B{separator}20", lines[3].rstrip(separator) + separator * (head + 1) + "7"):
        with pytest.raises(ReportError, match=r"line 4.*cells?: expected"):
            read(text(*lines[:3], wrong))


@pytest.mark.parametrize(
    "row",
    ["Overall,,A,Y,250", "Subtotal A,,A,Y,250", "Insgesamt,,A,Y,250", "LCU 0045,,A,Y,250", "95th Percentile,,A,Y,149",
     "Std Dev,,A,Y,25", "Totals,,A,Y,250", "All volumes,,A,Y,250", "Grand-Total,,,,250", "Averages,,A,Y,125",
     "Zwischensumme,,A,Y,250", "Sum of IOPS,,A,Y,250", "Durchschnitt,,A,Y,125", ",,A Total,,250", ",,All,Y,250",
     ",,,Total,250"],
)  # fmt: skip
def test_a_row_of_sums_is_no_volume_wherever_its_word_stands(row: str) -> None:
    """A subtotal of a spreadsheet has its word in the column by which it sums; no row without a name is lost."""
    volumes = ["ALLVOL,8A00,A,Y,100", "All flash,8A01,A,all,150"]
    found = read(
        text(
            "Volser,Device,LCU,Online,IOPS,Svc",
            *(f"{each},1.3" for each in (*volumes, row, "VOL3,8A02,A,Y,9")),
        )
    )
    assert found.devices["io_rate"].to_list() == [100, 150, 9] and found.missing == ()
    assert "1 row of sums left out." in found.notes[0]


def test_rows_without_numbers_are_left_out_and_named_and_never_the_whole_file() -> None:
    found = read(text("volume,pool,io_rate,service_ms,queued", "A,1,n/a,1,0", "B,1,5,,0", "C,1,7,1,", "D,1,9,1,.2",
                      "E,1,0,,", ",1,5,1,0"))  # fmt: skip
    assert found.devices["label"].to_list() == ["D", "E"]
    assert [(each.name, each.pool) for each in found.missing] == [
        ("A", "1"),
        ("B", "1"),
        ("C", "1"),
        (None, "1"),
    ]
    (note,) = found.notes
    assert "4 rows without a value that is needed left out: A in line 2, B in line 3" in note


@pytest.mark.parametrize("date", ["2026-03-01T10:15", "10:15", "03/01/2026 10:15"])
def test_a_row_without_a_time_beside_others_is_left_out(date: str) -> None:
    """As of merged cells, of which the first row alone has the time: it would be another interval."""
    lines = (f"{date},A,700,1.0", ",B,600,1.0", f"{date[:-2]}45,A,700,1.0", ",B,600,1.0")
    found = read(text("Time,Volser,IOPS,Svc", *lines))
    assert found.devices["label"].to_list() == ["A", "A"] and {each.name for each in found.missing} == {"B"}
    assert "2 rows without a value that is needed left out: B in line 3, B in line 5" in found.notes[-1]


def test_intervals_whose_time_was_not_found_say_how_it_is() -> None:
    lines = ["End Time,Volume,IOPS,Svc", "2024-05-14 09:15,A,500,1.6", "2024-05-14 09:30,A,300,1.3"]
    with pytest.raises(
        ReportError, match=r"line 3.*A a second time.*; no column was taken as their time: `map` start="
    ):
        read(text(*lines))
    found = read(text(*lines), map={"start": "End Time"}).devices
    assert found["start"].to_list() == [datetime(2024, 5, 14, 9, 15), datetime(2024, 5, 14, 9, 30)]
    with pytest.raises(ReportError) as refused:
        read(text(lines[0].replace("End", "Start"), *lines[1:], lines[1]))
    assert "no column was taken" not in str(refused.value)


@pytest.mark.parametrize("mark", [".", "-"])
def test_a_day_of_the_year_is_a_date(mark: str) -> None:
    """SMF dates as z/OS prints them, against the calendar of the standard library; no year has other days."""
    moments = [datetime(2023, 12, 31, 9, 15), datetime(2024, 2, 29, 9, 15), datetime(2024, 12, 31, 9, 15)]
    lines = [
        "SMF Date,SMF Time,Volume,IOPS,Svc",
        *(each.strftime(f"%Y{mark}%j,%H:%M:%S,A,500,1.6") for each in moments),
    ]
    assert read(text(*lines)).devices["start"].to_list() == moments
    for wrong in ("2023.366", "2024.000", "2024.367", "0000.001", "9999.366"):
        with pytest.raises(
            ReportError, match=f"line 2, column 1: SMF Date '{re.escape(wrong)} 09:15': expected a time"
        ):
            read(text(lines[0], f"{wrong},09:15,A,500,1.6"))


def test_a_date_with_two_meanings_is_not_guessed() -> None:
    lines = ("Volser,Date,Time,IOPS,Svc", "A,03/01/2026,10:00,1,2", "A,03/01/2026,10:15,2,2")
    found = read(text(*lines))
    assert found.devices["start"].null_count() == 2 and found.devices["source"].n_unique() == 2
    assert any("no date with one meaning" in note for note in found.notes)
    first_empty = read(text("Volser,Start,IOPS,Svc", "A,,1,2", "A,03/01/2026 10:00,1,2"))
    assert any("'03/01/2026 10:00' (Start) is no date" in note for note in first_empty.notes)
    clear = read(text(*lines, "A,03/31/2026,10:00,1,2")).devices["start"]
    assert [each.day for each in clear] == [1, 1, 31] and {each.month for each in clear} == {3}
    same = read(text("Volser,Start,IOPS,Svc", "A,03/03/2026 1:15:00 p.m.,1,2")).devices["start"]
    assert same.to_list() == [datetime(2026, 3, 3, 13, 15)]


def test_a_map_says_what_headings_do_not() -> None:
    table = text("Name,X,Y", "A,700,1.3")
    for given in (
        'volume=Name, io_rate=X, service_ms="Y"',
        {"volume": "Name", "io_rate": "x", "service_ms": "Y"},
    ):
        row = read(table, map=given).devices.row(0, named=True)
        assert (row["label"], row["io_rate"], row["service"]) == ("A", 700, pytest.approx(1.3e-3))
    for wrong, problem in (
        ("io_rate=Z", "one of the columns Name, X, Y"), ("speed=X", "one of device"), ("io_rate", "FIELD=COLUMN"),
        ("io_rate=X,io_rate=Y", "io_rate once"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=problem):
            read(table, map=wrong)


def test_a_mapped_column_keeps_the_unit_of_its_heading_unless_the_map_says_one() -> None:
    table = text("Name,Starts/h,There (us)", "A,36000,1300")
    for given, service in (("service", 1.3e-3), ("service_ms", 1.3)):
        row = read(table, map=f"volume=Name,io_rate=Starts/h,{given}=There (us)").devices.row(0, named=True)
        assert (row["io_rate"], row["service"]) == (10, pytest.approx(service))


def test_what_was_taken_is_said() -> None:
    found = read(text("Volser,IOPS,Svc (us),Site", "A,1,2000,x"))
    assert found.columns == (
        "bytes: columns: Volser as volume, IOPS as io_rate, Svc (us) as service [us]; not used: Site.",
    )


def test_frames_with_other_names_and_with_an_index() -> None:
    rows = {"volser": ["A", "B"], "iops": [700.0, float("nan")], "service_us": [1300.0, 1200.0]}
    for frame in (pl.DataFrame(rows), pd.DataFrame(rows), pd.DataFrame(rows).set_index("volser")):
        found = read(frame)
        assert found.devices["label"].to_list() == ["A"] and found.devices["service"][0] == pytest.approx(
            1.3e-3
        )
        assert [each.name for each in found.missing] == ["B"]


@pytest.mark.parametrize(
    ("heading", "wait"),
    [("wait_ms", "0.5"), ("Wait", "0.5"), ("Avg Wait Time (us)", "500"), ("Queue Wait [s]", ".0005")],
)
def test_a_wait_times_the_rate_is_the_queue(heading: str, wait: str) -> None:
    """Little's law; the planner's own tables call the time in queue wait_ms."""
    found = read(text(f"device,io_rate,service_ms,{heading}", f"522A,400,1.3,{wait}")).devices.row(
        0, named=True
    )
    assert found["queued"] == pytest.approx(0.2)
    assert found["response"] == pytest.approx(1.8e-3)


def test_a_column_that_may_hold_the_queue_is_named_where_nothing_tells_it() -> None:
    header, row = "device,io_rate,service_ms,Waiting Time (ms),CPU", "522A,400,1.3,.5,3"
    (note,) = read(text(header, row)).notes
    assert "not used: 'Waiting Time (ms)', perhaps iosq; `map` says" in note
    assert not read(text("device,io_rate,service_ms,response_ms,Waiting", "522A,400,1.3,1.8,.5")).notes
    assert not read(text("device,io_rate,service_ms,CPU", "522A,400,1.3,3")).notes


@pytest.mark.parametrize(
    ("heading", "interval", "said"),
    [
        ("I/Os", True, True),
        ("SSCH", True, True),
        ("I/Os", False, False),
        ("I/Os/s", True, False),
        ("IOPS", True, False),
    ],
)
def test_a_rate_that_may_be_a_count_is_refused_until_a_map_says_that_it_is_a_rate(
    heading: str, interval: bool, said: bool
) -> None:
    """630,000 I/Os of an interval were read as 630,000/s; one device can carry 700/s."""
    head, row = ("start,interval_s,", "2026-03-02T10:00,900,") if interval else ("", "")
    table = f"{head}volume,{heading},service_ms,queued\n{row}A,700,1.25,.4\n".encode()
    if said:
        where = f"line 1, column 25: {heading}: I/Os per second, or .* `map` io_rate={heading} takes .*; a count is to"
        with pytest.raises(ReportError, match=where):
            read(table)
    assert read(table, map={"IO_rate": heading} if said else None).devices["io_rate"].item() == 700


def test_a_row_of_units_says_that_a_number_of_ios_is_a_rate() -> None:
    (rate,) = read(text("Volume,IOs,Interval,Service", ",1/s,s,ms", "A,700,900,1.25")).devices["io_rate"]
    assert rate == 700


def test_a_wait_that_contradicts_queue_and_response_is_refused() -> None:
    with pytest.raises(
        ReportError, match=r"line 2, column 24: wait_ms .*: expected what queue over rate makes"
    ):
        read(text("device,io_rate,service_ms,response_ms,queued,wait_ms", "522A,400,1.3,1.80,.200,1.00"))
    row = "522A,400,1.3,1.80,.200,0.50"
    assert read(text("device,io_rate,service_ms,response_ms,queued,wait_ms", row)).devices.height == 1


def test_whole_numbers_that_a_frame_keeps_as_floats_are_names_without_decimals() -> None:
    rows = {"device": [5200.0, 5201.0], "pool": [7.0, float("nan")], "iops": [700.5, 1], "svc": [1.3, 1.3]}
    found = read(pd.DataFrame(rows)).devices
    assert found.select("device", "pool", "io_rate").rows() == [("5200", "7", 700.5), ("5201", None, 1.0)]


def test_headings_and_maps_on_their_own() -> None:
    assert heading_words("Avg. Disc Time [msec]") == ("disctime", "ms")
    assert plan_of(["LCU", "Volser", "IOPS", "Resp"]).missing == ()
    assert read_map("io_rate=IOPS") == {"io_rate": "IOPS"}


def test_what_a_spreadsheet_saves_otherwise() -> None:
    table = "Volser\tIOPS\tSvc\r\nÄ1\t700,5\t1,3\r\n"
    row = read(table.encode("utf-16")).devices.row(0, named=True)
    assert (row["label"], row["io_rate"]) == ("Ä1", 700.5)
    with pytest.raises(
        ReportError, match=r"a workbook \(.xlsx\) or another zip file: expected it saved as CSV"
    ):
        read(b"PK\x03\x04" + bytes(100))


def test_a_column_that_gives_way_to_one_that_differs_is_named() -> None:
    """The times of a table in two units, and a rate beside the one that is likelier."""
    table = "device,io_rate,service_ms,service_us,queued\n5201,755,1.3,1312,1.8\n5202,300,1.2,{},0.3\n"
    assert read(table.format(1200).encode()).notes == ()
    (note,) = read(table.format(120).encode()).notes
    ends = '; `map` service_us="service_us" takes it.'
    assert note == f"bytes: service_us is not used: it is 120 in line 3, where service_ms is 1.2{ends}"
    assert read(table.format(120).encode(), map="service_us=service_us").notes == ()
    (note,) = read(table.format("slow").encode()).notes
    assert "service_us is not used beside service_ms, nor compared with it" in note
    (note,) = read(b"device,Resp Time (ms),Latency,io_rate\n5201,2.0,2.4,755\n").notes[:1]
    assert note.endswith('where Resp Time (ms) is 2.0; `map` response_ms="Latency" takes it.')
