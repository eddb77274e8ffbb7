"""The listings of the HyperPAV report are what was printed; the errata list says what is wrong with them."""

import hashlib
import re
import tomllib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from planner.reports.any_listing import Device, DeviceListing, read_devices
from planner.units import MILLISECOND

FOLDER = Path(__file__).parents[2] / "data" / "hyperpav"
SOURCE = tomllib.loads((FOLDER / "source.toml").read_text(encoding="utf-8"))
ENTRIES = SOURCE["listing"]
ERRATA = {erratum["id"]: erratum for erratum in SOURCE["errata"]}
SERVICE_RESOLUTION = (
    0.05 * MILLISECOND
)  # of the digit; a sum of three rounded parts is good to three times that
FLOATING = 1e-12


def read(name: str) -> DeviceListing:
    (listing,) = read_devices(FOLDER / name)
    return listing


RUNS = {entry["run"]: read(entry["file"]) for entry in ENTRIES}
ROWS = [(run, row) for run, listing in RUNS.items() for row in listing.rows]
CORRECTED = "Y040181P"


def number(row: Device, name: str) -> Any:
    printed = getattr(row, name)
    assert printed is not None
    return printed


def total(run: str, name: str) -> float:
    return float(sum(number(row, name).value for row in RUNS[run].rows))


def bounds(run: str, name: str) -> tuple[float, float]:
    numbers = [number(row, name) for row in RUNS[run].rows]
    return sum(n.low for n in numbers), sum(n.high for n in numbers)


def mean_service(run: str) -> float:
    busy = sum(number(row, "io_rate").value * number(row, "service").value for row in RUNS[run].rows)
    return float(busy / total(run, "io_rate"))


def mean_response(run: str) -> float:
    return mean_service(run) + total(run, "queued") / total(run, "io_rate")


def span(run: str) -> float:
    start, end = RUNS[run].start, RUNS[run].end
    assert isinstance(start, datetime) and isinstance(end, datetime)
    return (end - start).total_seconds()


def response_agrees(row: Device) -> bool:
    """Whether Resp = printed Serv + Qued / rate for some numbers that print like those of the row."""
    service, queued, rate = (number(row, name) for name in ("service", "queued", "io_rate"))
    low, high = service.value + queued.low / rate.high, service.value + queued.high / rate.low
    response = number(row, "response")
    return bool(low <= response.high + FLOATING and high >= response.low - FLOATING)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["file"])
def test_a_file_is_byte_for_byte_what_was_copied(entry: dict[str, Any]) -> None:
    assert hashlib.sha256((FOLDER / entry["file"]).read_bytes()).hexdigest() == entry["sha256"]


def test_every_listing_of_the_folder_has_an_entry() -> None:
    assert {path.name for path in FOLDER.glob("*.listing")} == {entry["file"] for entry in ENTRIES}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["file"])
def test_a_listing_reads_as_its_entry_says(entry: dict[str, Any]) -> None:
    listing = RUNS[entry["run"]]
    assert listing.run == entry["run"]
    assert listing.interval == 600.0
    aliases = [row.address for row in listing.rows if row.is_classic_alias or row.is_hyperpav_alias]
    assert aliases == entry["aliases"]
    assert [row.address for row in listing.rows if row.address not in aliases] == entry["bases"]
    assert len(aliases) == entry["in_use"]
    classic = {row.is_classic_alias for row in listing.rows if row.address in aliases}
    assert classic <= {entry["kind"] == "volume"}
    assert total(entry["run"], "io_rate") == entry["io_rate_total"]
    assert total(entry["run"], "queued") == pytest.approx(entry["queued_total"], abs=FLOATING)


def test_the_totals_are_those_of_the_prose() -> None:
    rates = {run: total(run, "io_rate") for run in RUNS}
    assert rates == {
        "Y040180P": 755, "Y040181P": 942, "Y040182P": 1619,
        "Y032180H": 5889, "Y032181H": 9979, "Y032182H": 13395,
    }  # fmt: skip
    assert total("Y032180H", "queued") == pytest.approx(14.4, abs=FLOATING)
    assert total("Y032181H", "queued") == pytest.approx(7.39, abs=FLOATING)
    assert round(rates["Y032182H"] / 8) == 1674
    assert round((400 * 1.2 + 700 * 1.4) / (400 + 700), 2) == 1.33  # the worked example of a connect time
    responses = [number(row, "response").value for row in RUNS["Y032180H"].rows]
    assert sum(responses) / len(responses) == pytest.approx(3.8 * MILLISECOND)


def test_there_are_54_rows() -> None:
    assert len(ROWS) == 54


@pytest.mark.parametrize(("run", "row"), ROWS, ids=lambda item: getattr(item, "address", item))
def test_service_is_exactly_the_sum_of_its_printed_parts(run: str, row: Device) -> None:
    assert row.service and row.pend and row.disconnect and row.connect
    parts = row.pend + row.disconnect + row.connect
    assert row.service.value == pytest.approx(parts.value, abs=FLOATING)
    assert parts.resolution == pytest.approx(3 * SERVICE_RESOLUTION)


@pytest.mark.parametrize(("run", "row"), ROWS, ids=lambda item: getattr(item, "address", item))
def test_response_is_service_plus_queue_over_rate_unless_corrected_by_hand(run: str, row: Device) -> None:
    assert response_agrees(row) == (run != CORRECTED)


@pytest.mark.parametrize(("run", "row"), ROWS, ids=lambda item: getattr(item, "address", item))
def test_no_device_is_busier_than_always(run: str, row: Device) -> None:
    assert row.io_rate is not None and row.service is not None
    assert row.io_rate.low * row.service.low <= 1


def rate_742() -> None:
    (row,) = RUNS["Y040180P"].rows
    assert number(row, "io_rate").low - 742 == 12.5


def aliases_5268() -> None:
    assert 0x5268 - 0x5249 + 1 == 32
    aliases = [row.address for row in RUNS["Y032182H"].rows if row.is_hyperpav_alias]
    assert aliases == [f"{address:04X}" for address in range(0x5249, 0x5258 + 1)]
    assert len(aliases) == 16


def interval_is_601(run: str) -> None:
    assert (span(run), RUNS[run].interval) == (601, 600)
    assert sorted(map(span, RUNS)) == [600, 600, 600, 600, 601, 601]


def order_of_runs() -> None:
    for prefix in ("Y0401", "Y0321"):
        group = [listing for run, listing in sorted(RUNS.items()) if run.startswith(prefix)]
        assert [len(listing.rows) for listing in group] == sorted(len(listing.rows) for listing in group)
        starts = [listing.start for listing in group if isinstance(listing.start, datetime)]
        assert len(starts) == 3
        assert starts == sorted(starts, reverse=True)


def type_3390() -> None:
    bases = {
        run: {row.type for row in RUNS[run].rows if row.label and not row.is_classic_alias} for run in RUNS
    }
    assert bases == {run: {"3390"} if run == "Y032180H" else {"3390-3"} for run in RUNS}


def response_hand_corrected() -> None:
    assert [row.address for run, row in ROWS if not response_agrees(row)] == ["522A", "5249"]
    own = [number(r, "service").value + number(r, "queued").value / number(r, "io_rate").value
           for r in RUNS[CORRECTED].rows]  # fmt: skip
    assert own == pytest.approx([3.81e-3, 2.00e-3], abs=0.005e-3)
    shared = [number(r, "service").value + total(CORRECTED, "queued") / 942 for r in RUNS[CORRECTED].rows]
    assert shared == pytest.approx([2.87e-3, 2.97e-3], abs=0.005e-3)


def response_uncorrected() -> None:
    bases = [row for row in RUNS["Y032181H"].rows if row.label]
    printed = [number(row, "response").value for row in bases]
    assert (min(printed), max(printed)) == pytest.approx((2.4e-3, 3.1e-3))
    rates = [number(row, "io_rate").value for row in bases]
    weighted = sum(rate * response for rate, response in zip(rates, printed, strict=True)) / sum(rates)
    assert weighted == pytest.approx(2.83e-3, abs=0.005e-3)
    assert mean_response("Y032181H") == pytest.approx(2.18e-3, abs=0.005e-3)


def response_2_8() -> None:
    assert mean_response(CORRECTED) == pytest.approx(2.92e-3, abs=0.005e-3)
    rate_low, rate_high = bounds(CORRECTED, "io_rate")
    (row, _) = RUNS[CORRECTED].rows  # I/Os queue at the base only
    low = mean_service(CORRECTED) - SERVICE_RESOLUTION + number(row, "queued").low / rate_high
    high = mean_service(CORRECTED) + SERVICE_RESOLUTION + number(row, "queued").high / rate_low
    assert (low, high) == pytest.approx((2.86e-3, 2.97e-3), abs=0.005e-3)
    assert low > 2.85e-3  # the largest number that prints as 2.8
    assert low - 2 * SERVICE_RESOLUTION < 2.85e-3
    rows = RUNS[CORRECTED].rows
    weighted = sum(number(r, "io_rate").value * number(r, "response").value for r in rows) / 942
    assert weighted == pytest.approx(2.849e-3, abs=0.0005e-3)


def mean_rate_735() -> None:
    low, high = bounds("Y032180H", "io_rate")
    assert (low / 8, high / 8) == pytest.approx((735.6, 736.6), abs=0.05)
    assert low / 8 > 735.5
    rates = [number(row, "io_rate").value for row in RUNS["Y032180H"].rows]
    assert (min(rates), max(rates)) == (711, 769)


def queue_gone() -> None:
    assert total("Y040182P", "queued") == pytest.approx(0.02)
    queued = [number(row, "queued").value for row in RUNS["Y032182H"].rows if number(row, "queued").value]
    assert queued == pytest.approx([0.03, 0.01, 0.01])


def service_y040181p() -> None:
    means = [
        mean_service(run) for run in ("Y040180P", "Y040181P", "Y040182P", "Y032180H", "Y032181H", "Y032182H")
    ]
    assert means == pytest.approx([1.30e-3, 1.95e-3, 1.73e-3, 1.29e-3, 1.44e-3, 1.64e-3], abs=0.0051e-3)
    in_service = [mean_service(run) * total(run, "io_rate") for run in ("Y040180P", "Y040181P", "Y040182P")]
    assert in_service == pytest.approx([0.98, 1.8, 2.8], abs=0.05)
    assert means[1] - SERVICE_RESOLUTION > means[2] + SERVICE_RESOLUTION


CHECKS: dict[str, Callable[[], None]] = {
    "rate-742": rate_742,
    "aliases-5268": aliases_5268,
    "interval-Y032180H": lambda: interval_is_601("Y032180H"),
    "interval-Y032181H": lambda: interval_is_601("Y032181H"),
    "order-of-runs": order_of_runs,
    "type-3390": type_3390,
    "response-hand-corrected": response_hand_corrected,
    "response-uncorrected": response_uncorrected,
    "response-2.8": response_2_8,
    "mean-rate-735": mean_rate_735,
    "queue-gone": queue_gone,
    "service-Y040181P": service_y040181p,
}


@pytest.mark.parametrize("name", sorted(ERRATA | CHECKS))
def test_the_arithmetic_of_an_erratum_holds(name: str) -> None:
    CHECKS[name]()
    assert ERRATA[name]["arithmetic"]


def test_an_erratum_says_all_it_has_to() -> None:
    for erratum in ERRATA.values():
        assert set(erratum) == {"id", "kind", "where", "as_printed", "should_be", "arithmetic"}
        assert erratum["kind"] in {"contradiction", "declared", "rounding", "outlier"}
        assert bool(erratum["should_be"]) == (erratum["kind"] != "outlier")
        assert re.search(r"\d", erratum["arithmetic"])
