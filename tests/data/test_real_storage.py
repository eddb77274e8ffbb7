"""The real storage report is what was printed; its identities hold, its errata are computed."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from planner.library import data_path
from planner.reports.dspacesh import read_data_spaces
from planner.reports.printed import Printed, read_table

FOLDER = data_path("real-storage")
SOURCE = tomllib.loads((FOLDER / "source.toml").read_text(encoding="utf-8"))
ERRATA = {erratum["id"]: erratum for erratum in SOURCE["errata"]}
FILES = [*SOURCE["listing"], *SOURCE["table"]]
T1, T2, T3, T4 = (read_table(FOLDER / f"table-{number}.csv") for number in (1, 2, 3, 4))
SCALING = [(table, run) for table in (T3, T4) for run in table.columns[2:]]
FLOATING = 1e-9
PAGE_GB = 4096 / 2**30
IDS = [run for _, run in SCALING]


class Range(NamedTuple):
    """All numbers between two ends."""

    low: float
    high: float

    def __mul__(self, other: Any) -> Range:
        ends = [a * b for a in self for b in other]
        return Range(min(ends), max(ends))

    def __truediv__(self, other: Range) -> Range:
        return self * Range(1 / other.high, 1 / other.low)

    def __add__(self, other: Any) -> Range:
        return Range(self.low + other.low, self.high + other.high)

    def meets(self, other: Range) -> bool:
        return self.low <= other.high * (1 + FLOATING) and other.low <= self.high * (1 + FLOATING)


def exactly(number: float) -> Range:
    return Range(number, number)


def digits(printed: Printed) -> Range:
    return Range(printed.value - printed.resolution, printed.value + printed.resolution)


def cell(table: Any, quantity: str, run: str, factor: float = 1.0) -> Range:
    return digits(table.printed(quantity, run, factor))


def processors(table: Any, run: str) -> Range:
    return exactly(table.value("Processors", run))


@pytest.mark.parametrize("entry", FILES, ids=lambda entry: entry["file"])
def test_a_file_is_byte_for_byte_what_was_copied(entry: dict[str, Any]) -> None:
    assert hashlib.sha256((FOLDER / entry["file"]).read_bytes()).hexdigest() == entry["sha256"]


def test_every_file_of_the_folder_has_an_entry() -> None:
    names = {path.name for path in FOLDER.iterdir()} - {"source.toml"}
    assert names == {entry["file"] for entry in FILES}


@pytest.mark.parametrize("entry", SOURCE["listing"], ids=lambda entry: entry["file"])
def test_a_listing_reads_as_its_entry_and_table_2_say(entry: dict[str, Any]) -> None:
    (listing,) = read_data_spaces(FOLDER / entry["file"])
    run = entry["run"]
    assert all(space.is_ptrm for space in listing.rows)
    assert len(listing.rows) == entry["ptrm_spaces"] == T2.value("PTRM Data Spaces", run)
    resident = sum(space.resident.value for space in listing.rows if space.resident)
    assert resident == entry["ptrm_resident_pages"] == T2.value("PTRM Resid pages (p)", run)
    below = sum(space.resident_below_2gb.value for space in listing.rows if space.resident_below_2gb)
    assert below == T2.value("PTRM <2G Resid pages (p)", run)
    assert listing.release == T2.text("z/VM Release", run)
    assert entry["users"] == T2.value("Segment Thrasher Users", run)


def test_there_are_as_many_figures_as_were_printed() -> None:
    assert [(len(table.rows), len(table.columns) - 2) for table in (T1, T2, T3, T4)] == [
        (16, 4),
        (13, 3),
        (21, 2),
        (20, 5),
    ]


@pytest.mark.parametrize(("table", "run"), SCALING, ids=IDS)
def test_throughput_is_processors_times_utilization_over_cpu_time(table: Any, run: str) -> None:
    busy = processors(table, run) * cell(table, "Total CPU Util/Proc (p)", run, 0.01)
    assert (busy / cell(table, "Total CPU/Tx (p)", run, 1e-3)).meets(cell(table, "Tx/sec (p)", run))


@pytest.mark.parametrize(("table", "run"), SCALING, ids=IDS)
def test_itr_is_throughput_at_full_utilization(table: Any, run: str) -> None:
    itr = cell(table, "ITR (p)", run)
    assert (cell(table, "Tx/sec (p)", run) / cell(table, "Total CPU Util/Proc (p)", run, 0.01)).meets(itr)
    assert (processors(table, run) / cell(table, "Total CPU/Tx (p)", run, 1e-3)).meets(itr)


@pytest.mark.parametrize(("table", "run"), SCALING, ids=IDS)
def test_cpu_time_is_emulation_plus_cp(table: Any, run: str) -> None:
    parts = cell(table, "Emul CPU/Tx (p)", run) + cell(table, "CP CPU/Tx (p)", run)
    assert parts.meets(cell(table, "Total CPU/Tx (p)", run))


RATIOS = [
    ("Processor Ratio", "Processors"), ("Real Storage Ratio", "Real Storage (GB)"), ("ITR Ratio", "ITR (p)"),
    ("Total CPU/Tx Ratio", "Total CPU/Tx (p)"), ("Emul CPU/Tx Ratio", "Emul CPU/Tx (p)"),
    ("CP CPU/Tx Ratio", "CP CPU/Tx (p)"),
]  # fmt: skip
COUNTED = {"Processors", "Real Storage (GB)"}


@pytest.mark.parametrize(("table", "run"), SCALING, ids=IDS)
@pytest.mark.parametrize(("ratio", "of"), RATIOS)
def test_ratios_are_to_64_gb_of_the_same_release(table: Any, run: str, ratio: str, of: str) -> None:
    one, base = (
        exactly(table.value(of, name)) if of in COUNTED else cell(table, of, name)
        for name in (run, table.columns[2])
    )
    misprint = (ratio, run) == ("Total CPU/Tx Ratio", "APT128G0")
    assert (one / base).meets(cell(table, ratio, run)) != misprint


@pytest.mark.parametrize("run", T3.columns[2:])
def test_the_ratio_across_releases(run: str) -> None:
    ratio = cell(T3, "ITR (p)", run) / cell(T4, "ITR (p)", "APU064G1")
    assert ratio.meets(cell(T3, "ITR Ratio; base = 530 64G", run))


@pytest.mark.parametrize("run", T2.columns[2:])
def test_table_2_row_by_row(run: str) -> None:
    users = T2.value("Segment Thrasher Users", run)
    touched = users * (64 - 2) * 1024  # one page in each megabyte of the last 62 GB
    assert touched == T2.value("Total User Pages Touched", run) == users * T2.value("Pages Touched/User", run)
    assert touched / 1024 == T2.value("Total GB Virtual Touched", run)
    assert exactly(touched * PAGE_GB).meets(cell(T2, "User GB Real Storage Used", run))
    shown = cell(T2, "PTRM GB Real Storage Used", run)
    assert exactly(2 * touched * PAGE_GB).meets(shown) == (run != "ST4TA190")  # the misprint 2.0
    assert exactly(3 * touched * PAGE_GB).meets(cell(T2, "Total GB Real Stg Used", run)) == (
        run != "ST4TA190"
    )
    assert abs(T2.value("PTRM Resid pages (p)", run) - 2 * touched) < (500 if run != "STMU5180" else 37_000)


def change(quantity: str, run: str) -> float:
    """Percent from 5.2 to 5.3 by Tables 3 and 4; runs of a pair differ in their third letter."""
    return 100 * (T4.value(quantity, run) / T3.value(quantity, run.replace("APU", "APT")) - 1)


@pytest.mark.parametrize(("configuration", "run"), [("3", "APU064G1"), ("4", "APU128G0")])
def test_table_1_against_tables_3_and_4(configuration: str, run: str) -> None:
    assert T1.text("530 Runid", configuration) == run
    assert change("Total CPU/Tx (p)", run) == pytest.approx(T1.value("Total CPU/tx", configuration), abs=0.05)
    throughput = abs(change("Tx/sec (p)", run) - T1.value("Throughput", configuration))
    assert (throughput < 0.05) == (configuration == "3")
    for row, other in (("Virtual CPU/tx", "Emul CPU/Tx (p)"), ("CP CPU/tx", "CP CPU/Tx (p)")):
        assert abs(change(other, run) - T1.value(row, configuration)) > 9  # the split of one of them is wrong
        assert change(other, run) == pytest.approx(change("Total CPU/Tx (p)", run), abs=0.1)


def taken_back(configuration: str, run: str) -> Range:
    """Total CPU time on 5.2 from the split of Table 4 and the changes of Table 1 [ms]."""
    emulation, cp = (
        cell(T4, row, run) / (exactly(1) + cell(T1, other, configuration, 0.01))
        for row, other in (("Emul CPU/Tx (p)", "Virtual CPU/tx"), ("CP CPU/Tx (p)", "CP CPU/tx"))
    )
    return emulation + cp


def erratum_throughput() -> None:
    needed = 97.7 * (1 + T1.value("Throughput", "4") / 100) * 18.573 / 23.047
    assert needed == pytest.approx(95.7, abs=0.05)
    assert T4.value("Total CPU Util/Proc (p)", "APU128G0") == 90.5
    assert change("Tx/sec (p)", "APU128G0") == pytest.approx(14.9, abs=0.05)
    assert change("ITR (p)", "APU128G0") == pytest.approx(24.1, abs=0.05)


def erratum_split() -> None:
    for configuration, run in (("3", "APU064G1"), ("4", "APU128G0")):
        old = run.replace("APU", "APT")
        assert taken_back(configuration, run).meets(cell(T3, "Total CPU/Tx (p)", old))
        shares = [
            t.value("Emul CPU/Tx (p)", r) / t.value("Total CPU/Tx (p)", r) for t, r in ((T3, old), (T4, run))
        ]
        assert shares[0] == pytest.approx(shares[1], abs=2e-4)


def erratum_ptrm() -> None:
    assert round(508_000 * PAGE_GB, 1) == round(507_904 * PAGE_GB, 1) == 1.9
    assert pytest.approx(0.97, abs=0.005) == 507_904 / 524_288


def erratum_total() -> None:
    assert round((507_904 + 253_952) * PAGE_GB, 1) == 2.9


def erratum_resident() -> None:
    (listing,) = read_data_spaces(FOLDER / "128-users.listing")
    resident = [space.resident for space in listing.rows if space.resident]
    computed = 2 * T2.value("Total User Pages Touched", "STMU5180")
    assert computed == 16_252_928
    assert computed - sum(item.value for item in resident) == 36_928
    assert sum(item.high for item in resident) == 16_224_000 < computed
    full = [min(item.value, 2**20) for item in resident]
    assert full.count(2**20) == 14
    assert computed - sum(full) == 42_864
    assert round(16_216_000 * PAGE_GB, 1) == 61.9 and round(computed * PAGE_GB, 1) == 62.0


def erratum_524k() -> None:
    (listing,) = read_data_spaces(FOLDER / "4-users.listing")
    total = listing.rows[0].total
    assert total is not None and total.high < 2**20
    assert total.low <= 2**20 / 2 <= total.high


def erratum_16784000() -> None:
    assert 16 * 2**20 == 16_777_216
    assert T2.value("PTRM Total pages (p)", "STMU5180") == 16 * 1_049_000


def erratum_ratio() -> None:
    ratio = cell(T3, "Total CPU/Tx (p)", "APT128G0") / cell(T3, "Total CPU/Tx (p)", "APT064G1")
    assert T3.value("Total CPU/Tx Ratio", "APT128G0") == 1.067
    assert {round(end, 3) for end in ratio} == {1.068}


CHECKS: dict[str, Callable[[], None]] = {
    "throughput-21.6": erratum_throughput,
    "split-5.2": erratum_split,
    "ptrm-2.0": erratum_ptrm,
    "total-3.0": erratum_total,
    "resident-16216k": erratum_resident,
    "total-524k": erratum_524k,
    "total-16784000": erratum_16784000,
    "ratio-1.067": erratum_ratio,
}


def test_every_erratum_is_checked() -> None:
    assert set(CHECKS) == set(ERRATA)
    assert all(erratum["arithmetic"].strip() for erratum in ERRATA.values())


@pytest.mark.parametrize("name", CHECKS)
def test_an_erratum_is_one(name: str) -> None:
    CHECKS[name]()
