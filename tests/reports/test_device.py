"""Reading DEVICE listings: every layout they come in, every way they can be damaged."""

import json
from collections.abc import Callable
from datetime import time
from pathlib import Path

import pytest

from planner import render
from planner.errors import ReportError
from planner.measurements import read as measured
from planner.measurements.shown import MeasuredAnswer
from planner.reports import device_rows
from planner.reports.any_listing import MEASURED, Device, DeviceListing, read_devices
from planner.reports.printed import Printed
from planner.units import MILLISECOND
from tests.reports.printing import HEAD, HEADING, SCREEN, page, row

FOLDER = Path(__file__).parents[2] / "data" / "hyperpav"
POOL = (FOLDER / "pool-8-aliases.listing").read_text(encoding="utf-8")
VOLUME = (FOLDER / "522A-2-aliases.listing").read_text(encoding="utf-8")
FIRST_ROW = HEAD.count("\n") + HEADING.count("\n") + 3


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.listing"


def read(file: Path, text: str) -> tuple[DeviceListing, ...]:
    file.write_bytes(text.encode())
    return read_devices(file)


def one(file: Path, text: str) -> DeviceListing:
    (listing,) = read(file, text)
    return listing


def addresses(listing: DeviceListing) -> list[str]:
    return [device.address for device in listing.rows]


def unplaced(listing: DeviceListing) -> list[dict[str, object]]:
    """Everything that the rows say, apart from where they stand."""
    names = [name for name in Device.__slots__ if name != "line"]
    return [{name: getattr(device, name) for name in names} for device in listing.rows]


def test_a_row_is_read_with_units_and_resolution() -> None:
    (listing,) = read_devices(FOLDER / "522A-0-aliases.listing")
    (device,) = listing.rows
    assert (listing.report, listing.run, listing.interval, listing.line) == ("FCX108", "Y040180P", 600.0, 1)
    assert listing.path == FOLDER / "522A-0-aliases.listing"
    assert (device.address, device.type, device.label) == ("522A", "3390-3", "BWPVS0")
    assert (device.links, device.paths, device.line) == (0, 4, 11)
    assert device.io_rate == Printed(755.0, 0.5)
    assert device.avoided == Printed(0.0, 0.05)
    times = (device.pend, device.disconnect, device.connect, device.service, device.response, device.cu_wait)
    half = 0.05 * MILLISECOND
    assert times == tuple(Printed(ms * MILLISECOND, half) for ms in (0.2, 0.2, 0.9, 1.3, 3.7, 0.0))
    assert device.queued == Printed(1.84, 0.005)


def test_roles_of_devices() -> None:
    (volume,) = read_devices(FOLDER / "522A-2-aliases.listing")
    assert [device.alias_of for device in volume.rows] == [None, "522A", "522A"]
    assert [device.is_classic_alias for device in volume.rows] == [False, True, True]
    assert not any(device.is_hyperpav_alias for device in volume.rows)
    (pool,) = read_devices(FOLDER / "pool-8-aliases.listing")
    assert [device.is_hyperpav_alias for device in pool.rows] == [False] * 8 + [True] * 8
    assert not any(device.is_classic_alias for device in pool.rows)


def carriage_control(text: str) -> str:
    return "1" + text.replace("\n", "\n ").removesuffix(" ")


DISGUISES: dict[str, Callable[[str], str]] = {
    "crlf": lambda text: text.replace("\n", "\r\n"),
    "cr": lambda text: text.replace("\n", "\r"),
    "byte order mark": lambda text: "\ufeff" + text,
    "open end": lambda text: text.rstrip("\n"),
    "form feeds": lambda text: "\f" + text + "\f",
    "form feed between rows": lambda text: text.replace(" 5249", "\f 5249"),
    "indented": lambda text: "".join("    " + line for line in text.splitlines(keepends=True)),
    "carriage control": carriage_control,
    "carriage control, double space": lambda text: carriage_control(text).replace("\n  524C", "\n0 524C"),
    "trailing blanks": lambda text: text.replace("\n", "   \n"),
    "text around": lambda text: (
        f"Below, 522A queues.\n\n{text}\n1619 were reached in 2007.\n522A-5231: 1 2 3\n"
    ),
    "rule below the heading": lambda text: text.replace("\n 522A", "\n________\n 522A"),
}


@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES.keys())
def test_the_same_rows_in_another_dress(file: Path, disguise: Callable[[str], str]) -> None:
    for text in (VOLUME, POOL):
        assert disguise(text) != text
        assert unplaced(one(file, disguise(text))) == unplaced(one(file, text))


def test_many_listings_in_one_file(file: Path) -> None:
    listings = read(file, f"{VOLUME}some words\n\n{POOL}".replace("some words\n", "\nsome words\n"))
    assert [listing.run for listing in listings] == ["Y040182P", "Y032181H"]
    assert [len(listing.rows) for listing in listings] == [3, 16]
    assert len(read(file, VOLUME + POOL)) == 2


def test_pages_of_other_reports_are_passed_over(file: Path) -> None:
    other = (
        HEAD.replace("FCX108", "FCX134").replace("DEVICE", "DSPACESH")
        + "\n SYSTEM   PTRM0000   0 .0 .0 524k\n"
    )
    log = HEAD.replace("FCX108", "FCX168") + "\n Time      I/O Avoid Pend Disc Conn Serv Resp CUWt Qued\n"
    log += " 10:01:00  620    .0   .2   .2  1.0  1.4  2.4   .0  .62\n"
    assert [len(listing.rows) for listing in read(file, other + VOLUME + log + POOL)] == [3, 16]


def test_a_repeated_head_continues_the_listing(file: Path) -> None:
    text = page(row("522A"), row("522B"), "") + "\f" + page(row("522C"))
    assert addresses(one(file, text)) == ["522A", "522B", "522C"]


def test_a_page_may_repeat_the_heading_only(file: Path) -> None:
    text = page(row("522A"), "", HEADING, row("522B"))
    assert addresses(one(file, text)) == ["522A", "522B"]


def test_rows_keep_the_order_of_the_listing(file: Path) -> None:
    assert addresses(one(file, page(row("5231"), row("522A"), row("0A00")))) == ["5231", "522A", "0A00"]


def test_a_screen(file: Path) -> None:
    trailer = ["Select a device for I/O device details", "Command ===>", "F1=Help  F4=Top"]
    listing = one(file, page(row("522A"), row("522B"), *trailer, head=SCREEN))
    assert addresses(listing) == ["522A", "522B"]
    assert (listing.start, listing.end, listing.interval, listing.run) == (
        time(23, 58),
        time(0, 1, 30),
        210,
        "",
    )


def test_dots_are_not_available(file: Path) -> None:
    dots = {
        name: "...." for name in ("rate", "avoid", "pend", "disc", "conn", "serv", "resp", "cuwt", "qued")
    }
    (device,) = one(file, page(row(**dots, links="...", paths="..."))).rows
    names = ["links", "paths", *MEASURED]
    assert {getattr(device, name) for name in names} == {None}
    assert device.address == "522A"


def test_columns_come_from_the_header_at_hand(file: Path) -> None:
    def wider(line: str) -> str:
        return f"{line[:6]}  {line[6:21]}{line[21:29]:>12}{line[29:33]}{line[33:38]:>9}{line[38:79]} "

    rows = [row("522A"), row("5249", label="", rate="12345")]
    heading = [wider(line) for line in HEADING.splitlines()]
    text = page(*(wider(line) + "   77 12.5" for line in rows), heading="\n".join(heading) + " Busy READ")
    listing = one(file, text)
    assert [device.queued for device in listing.rows] == [Printed(1.84, 0.005)] * 2
    assert [device.paths for device in listing.rows] == [4, 4]


def test_columns_right_of_the_queue_are_not_looked_at(file: Path) -> None:
    assert (
        one(file, page(row() + "   98 ?b-3 x", row("522B"), heading=HEADING + " Busy READ")).rows[0].paths
        == 4
    )


def test_a_sum_over_all_devices_is_no_device(file: Path) -> None:
    assert addresses(one(file, page(" >> All DASD <<" + row()[15:], row()))) == ["522A"]


def test_a_frame_has_what_is_printed_with_its_units(file: Path) -> None:
    file.write_text(page(row(), row("5300", "->522A")))
    frame = MeasuredAnswer(measured(file)).to_frame().filter(regex="^(?!.*_resolution)")
    assert list(frame.columns) == [
        "run", "start", "interval [s]", "device", "kind", "label", "type", "alias_of", "queue_samples", "links",
        "paths", "io_rate [1/s]", "avoided [1/s]", "pend [ms]", "disconnect [ms]", "connect [ms]", "service [ms]",
        "response [ms]", "cu_wait [ms]", "queued", "file", "line",
    ]  # fmt: skip
    assert frame["alias_of"].tolist()[1] == "522A" and frame["service [ms]"].tolist() == [1.3, 1.3]


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        (">> All DASD <<", True), (">>All>> 17", True), (">> <<", True),
        (">>522A 3390-3 VOL001 1 4", False), ("522A >> <<", False), (">>", False), ("", False),
    ],
)  # fmt: skip
def test_a_sum_is_marked_on_both_sides(text: str, summary: bool) -> None:
    assert device_rows.is_summary(text) is summary


GOOD = row("522B")
ANOTHER = HEAD.replace("FCX108", "FCX109")
SECOND_HEAD = page(row(), "") + page(GOOD).replace("FCX", "FX")
JOINED = page(row()).replace("Qued\n", "Qued")
NO_CONN = HEADING.replace("Conn", "C nn")
DAMAGED = [
    ("no rows", page(), 1, None, "without rows"),
    ("prose for rows", page("Nothing was measured."), FIRST_ROW, 2, "device address"),
    ("cut short", page(row()[:70], GOOD), FIRST_ROW, 71, "CUWt to end in column 74"),
    ("cut in a number", page(row()[:78], GOOD), FIRST_ROW, 79, "cut short"),
    ("cut to the address", page(" 522A", GOOD), FIRST_ROW, 7, "Type ''"),
    ("letter in a number", page(row(rate="7S5")), FIRST_ROW, 36, "I/O '7S5'"),
    ("foreign digits", page(row(rate="7٣5")), FIRST_ROW, 36, "I/O"),
    ("negative", page(row(qued="-1.8")), FIRST_ROW, 76, "Qued '-1.8'"),
    ("point at the end", page(row(conn="9.")), FIRST_ROW, 58, "Conn"),
    ("two dots", page(row(conn="..")), FIRST_ROW, 58, "Conn"),
    ("exponent", page(row(rate="1e3")), FIRST_ROW, 36, "I/O"),
    ("blank cell", page(row(conn="")), FIRST_ROW, 59, "Conn ''"),
    ("fraction of a path", page(row(paths="4.5")), FIRST_ROW, 30, "ths 4.5"),
    ("shifted to the right", page(row()[:40] + " " + row()[40:]), FIRST_ROW, 44, "Avoid"),
    ("shifted to the left", page(row()[:40] + row()[41:]), FIRST_ROW, 42, "Avoid"),
    ("straddles", page(row()[:32] + "4123456" + row()[39:]), FIRST_ROW, 34, "touches"),
    ("fills its cell", page(row(pend="12.34")), FIRST_ROW, 45, "touches the column before"),
    ("runs out of the last column", page(row() + "7"), FIRST_ROW, 80, "right of Qued"),
    ("text right of the table", page(row() + "   gone"), FIRST_ROW, 83, "right of Qued"),
    ("last column runs on", page(row() + "7", heading=HEADING + " Busy"), FIRST_ROW, 80, "right of Qued"),
    ("tab", page(row().replace("    .0   .2", "\t.0   .2")), FIRST_ROW, None, "I/O|Avoid|Pend"),
    ("no address", page("      " + row()[6:]), FIRST_ROW, 2, "device address"),
    ("bad address", page(row("52ZA")), FIRST_ROW, 2, "device address"),
    ("not in its column", page(row()[1:]), FIRST_ROW, 2, "expected"),
    ("no type", page(row(type="")), FIRST_ROW, 7, "Type ''"),
    ("damaged arrow", page(row(type=">522A")), FIRST_ROW, 7, "Type '>522A'"),
    ("arrow to nowhere", page(row(type="->522")), FIRST_ROW, 7, "Type '->522'"),
    ("type too long", page(row(type="3390-33")), FIRST_ROW, 13, "runs into the next"),
    ("label too long", page(row(label="BWPVS0123")), FIRST_ROW, 22, "runs into the next"),
    ("label in two", page(row(label="BW PVS")), FIRST_ROW, 14, "Label/ID"),
    ("twice", page(row(), GOOD, row()), FIRST_ROW + 2, None, f"listed in line {FIRST_ROW}"),
    ("twice on two pages", page(row(), "") + page(row()), 2 * FIRST_ROW + 1, None, "second time"),
    ("words between rows", page(row(), "in between", GOOD), FIRST_ROW + 1, 2, "device address"),
    ("words below rows", page(row(), "in between"), FIRST_ROW + 1, 2, "device address"),
    ("rows in two blocks", page(row(), "", GOOD), FIRST_ROW + 2, None, "apart from"),
    ("damaged row after a gap", page(row(), "", "522B 3390-3"), FIRST_ROW + 2, None, "apart from"),
    ("damaged address after a gap", page(row(), "", row("52ZA")), FIRST_ROW + 2, None, "apart from"),
    ("row after words", page(row(), "", "some words", "", GOOD), FIRST_ROW + 4, None, "apart from"),
    ("no heading", HEAD + "\n" + row(), 1, None, "expected the heading line 'Addr Type"),
    ("no upper heading", page(row(), heading=HEADING.splitlines()[2]), 7, None, "msec"),
    ("damaged heading", page(row(), heading=NO_CONN), FIRST_ROW - 1, None, "Conn is not"),
    ("doubled heading", page(row(), heading=HEADING + " Qued"), FIRST_ROW - 1, 81, "second heading Qued"),
    ("heading and row in one line", JOINED, FIRST_ROW - 1, 108, "a number 0"),
    ("row broken off its address", page(row("5231"), " 5\r" + row()[2:]), FIRST_ROW + 1, 2, "device address"),
    ("row apart, without its address", page(row("5231"), "", row()[3:]), FIRST_ROW + 2, None, "apart from"),
    ("no head", HEADING + "\n" + row(), 3, None, "its page head"),
    ("another head", page(row(), head=ANOTHER), FIRST_ROW - 1, None, "its page head"),
    ("damaged second head", SECOND_HEAD, 2 * FIRST_ROW, None, "its page head"),
    ("no listing", "The quick brown fox.\n", None, None, "holds no Performance Toolkit listing"),
    ("another report", ANOTHER, None, None, "holds FCX109 only"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column", "expected"), [case[1:] for case in DAMAGED],
                         ids=[case[0] for case in DAMAGED])  # fmt: skip
def test_a_damaged_listing_is_refused_with_the_place(
    file: Path, text: str, line: int | None, column: int | None, expected: str
) -> None:
    with pytest.raises(ReportError, match=expected) as raised:
        read(file, text)
    error = raised.value
    assert error.path == file
    assert line is None or error.line == line
    assert column is None or error.column == column


def test_the_table_for_csv_and_json() -> None:
    table = MeasuredAnswer(measured(FOLDER / "522A-1-alias.listing")).table()
    base, alias = json.loads(render.to_json(table.records()))
    assert (base["run"], base["start"], base["interval_s"]) == ("Y040181P", "2007-05-27T14:48:26", 600)
    assert (alias["device"], alias["type"], alias["alias_of"]) == ("5249", "->522A", "522A")
    assert (base["io_rate"], base["io_rate_resolution"]) == (477, 0.5)
    assert (base["service_ms"], base["service_resolution_ms"]) == (1.9, 0.05)
    assert (base["queued"], base["queued_resolution"]) == (0.91, 0.005)
    assert render.to_csv(table).count("\n") == 3
    shown = {column.name: column.texts()[0] for column in table.columns}
    assert (shown["io_rate_resolution"], shown["service_resolution"], shown["queued_resolution"]) == (
        "0.5",
        "0.05",
        "0.005",
    )


def test_people_see_the_printed_digits() -> None:
    (section,) = MeasuredAnswer(measured(FOLDER / "522A-0-aliases.listing")).sections()
    shown = [text for column in section.table.columns for text in column.texts()]
    assert shown == ["522A", "BWPVS0", "755", "0.2", "0.2", "0.9", "1.3", "3.7", "1.84"]


def test_what_is_not_available_stays_so_in_the_table(file: Path) -> None:
    file.write_text(page(row(), row("522B", qued="....")))
    record = MeasuredAnswer(measured(file)).table().records()[1]
    assert record["queued"] is None and record["queued_resolution"] is None
