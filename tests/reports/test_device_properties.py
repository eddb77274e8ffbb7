"""Whatever rows are printed read back equal; whatever damage is done is told or leaves other rows alone."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner.errors import ReportError
from planner.reports.any_listing import MEASURED, Device, read_devices
from planner.reports.printed import Printed
from tests.reports.printing import ENDS, HEAD, HEADING, Row, page

FOLDER = Path(__file__).parents[2] / "data" / "hyperpav"
PUBLISHED = [
    (FOLDER / name).read_text(encoding="utf-8")
    for name in ("522A-2-aliases.listing", "pool-8-aliases.listing")
]
FIELDS = [name for name in Device.__slots__ if name != "line"]
DAMAGE = "0123456789 .->AFxZé٣\t\n\r\f\0+_"


def read(text: str) -> tuple[Device, ...]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "some.listing"
        path.write_bytes(text.encode())
        return tuple(row for listing in read_devices(path) for row in listing.rows)


@dataclass(frozen=True)
class Number:
    """`digits` of a number and how many of them are decimals; None where it is not available."""

    digits: int | None
    decimals: int

    def text(self) -> str:
        """Print with the leading zero dropped, dots where not available."""
        if self.digits is None:
            return "...."
        if not self.decimals:
            return str(self.digits)
        whole, part = divmod(self.digits, 10**self.decimals)
        return f"{whole or ''}.{part:0{self.decimals}d}"

    def read_back(self, factor: float) -> Printed | None:
        """What the reader must say, from the integers and not from the text."""
        if self.digits is None:
            return None
        return Printed(self.digits / 10**self.decimals * factor, 0.5 * 10.0**-self.decimals * factor)


@st.composite
def numbers(draw: st.DrawFn) -> Number:
    decimals = draw(st.integers(0, 2))
    digits = draw(st.none() | st.integers(0, 999 if decimals else 9999))
    return Number(digits, decimals)


counts = st.integers(0, 999).map(lambda number: Number(number, 0))
addresses = st.integers(0, 0xFFFF).map(lambda number: f"{number:04X}")
types = st.sampled_from(["3390-3", "3390", "3390-A", "CTCA", "9336"]) | addresses.map(
    lambda base: f"->{base}"
)
labels = st.just("") | st.text("ABCXYZ0189$#@", min_size=1, max_size=8)


@st.composite
def tables(draw: st.DrawFn) -> list[tuple[Row, list[Number]]]:
    """Rows as text beside the numbers they print, in any order of addresses."""
    rows = []
    for address in draw(st.lists(addresses, min_size=1, max_size=12, unique=True)):
        cells = [draw(counts), draw(counts), *(draw(numbers()) for _ in MEASURED)]
        texts = tuple(number.text() for number in cells)
        rows.append((Row(address, draw(types), draw(labels), texts), cells))
    return rows


def close(found: Printed | None, expected: Printed | None) -> bool:
    if found is None or expected is None:
        return found is expected
    pairs = ((found.value, expected.value), (found.resolution, expected.resolution))
    return all(abs(a - b) <= 1e-14 * abs(b) for a, b in pairs)


@pytest.mark.long
@given(tables(), st.integers(1, 12), st.sampled_from(["\n", "\r\n", "\n\f"]), st.integers(0, 3))
def test_printed_rows_read_back_equal(
    table: list[tuple[Row, list[Number]]], rows_a_page: int, between: str, indent: int
) -> None:
    lines = [row.text() for row, _ in table]
    pages = [page(*lines[first : first + rows_a_page]) for first in range(0, len(lines), rows_a_page)]
    text = "".join(" " * indent + line for line in between.join(pages).splitlines(keepends=True))
    found = read(text)
    assert [device.address for device in found] == [row.address for row, _ in table]
    for device, (row, cells) in zip(found, table, strict=True):
        assert (device.type, device.label) == (row.type, row.label)
        assert device.alias_of == (row.type[2:] if row.type.startswith("->") else None)
        assert (device.links, device.paths) == (cells[0].digits, cells[1].digits)
        for (name, (_, factor)), number in zip(MEASURED.items(), cells[2:], strict=True):
            assert close(getattr(device, name), number.read_back(factor)), name


@pytest.mark.long
@given(tables())
def test_the_printer_of_these_tests_follows_the_published_layout(
    table: list[tuple[Row, list[Number]]],
) -> None:
    published = PUBLISHED[0].splitlines()
    assert page().splitlines()[len(HEAD.splitlines()) :] == published[7:10] == HEADING.splitlines()
    for row, _ in table:
        line = row.text()
        assert len(line) == len(published[10]) == ENDS[-1]
        for end in ENDS:
            assert line[end - 1] != " " and published[10][end - 1] != " "


@dataclass(frozen=True)
class Damage:
    """One change of a text: at `position`, `removed` characters give way to `added`."""

    position: int
    removed: int
    added: str

    def applied_to(self, text: str) -> str:
        return text[: self.position] + self.added + text[self.position + self.removed :]


@st.composite
def damages(draw: st.DrawFn, text: str) -> Damage:
    """A character deleted, inserted or replaced, or a line cut short."""
    position = draw(st.integers(0, len(text) - 1))
    kind = draw(st.sampled_from(["delete", "insert", "replace", "cut"]))
    if kind == "cut":
        end = text.find("\n", position)
        return Damage(position, end - position, "")
    return Damage(position, int(kind != "insert"), "" if kind == "delete" else draw(st.sampled_from(DAMAGE)))


def cells(row: Device) -> dict[str, object]:
    return {name: getattr(row, name) for name in FIELDS}


@given(st.data())
def test_one_damage_is_told_or_touches_one_cell_only(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(PUBLISHED))
    damage = data.draw(damages(text))
    touched = text.count("\n", 0, damage.position) + 1
    damaged = damage.applied_to(text)
    assume(damaged.split("\n")[touched - 1].strip())  # a row wiped out or deleted leaves no trace
    expected = read(text)
    try:
        found = read(damaged)
    except ReportError as error:
        assert error.problem
        return
    assert len(found) == len(expected)
    for before, after in zip(expected, found, strict=True):
        changed = [name for name in FIELDS if cells(before)[name] != cells(after)[name]]
        assert len(changed) <= int(before.line == touched), (changed, damage)


@given(st.data())
def test_much_damage_ends_in_rows_or_in_a_report_error(data: st.DataObject) -> None:
    text = "\nwords\n\n".join(PUBLISHED)
    for _ in range(data.draw(st.integers(2, 6))):
        text = data.draw(damages(text)).applied_to(text)
    try:
        rows = read(text)
    except ReportError as error:
        assert error.path.name == "some.listing"
        return
    assert rows


@given(st.data())
def test_a_second_listing_is_never_lost(data: st.DataObject) -> None:
    text = PUBLISHED[0] + data.draw(st.sampled_from(["", "\n", "\nwords\n\n", "\f"])) + PUBLISHED[1]
    damage = data.draw(damages(text))
    damaged = damage.applied_to(text)
    touched = text.count("\n", 0, damage.position)
    assume(damaged.split("\n")[touched].strip())
    try:
        found = read(damaged)
    except ReportError:
        return
    assert len(found) == sum(len(read(published)) for published in PUBLISHED)


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_are_a_listing_or_a_report_error(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "some.listing"
        path.write_bytes(content)
        try:
            read_devices(path)
        except ReportError as error:
            assert error.path == path
