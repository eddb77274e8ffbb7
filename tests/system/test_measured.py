"""A system file from a table of devices: it is answered, keeps what was measured, and says what is missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import planner
from planner import InputError, measurements
from planner import system as model
from planner.errors import InfeasibleError
from planner.library import data_path
from planner.reports.schema import DEVICES, dtypes
from planner.system.measured import from_measurements


def frame(rows: list[dict[str, object]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dtypes(DEVICES))


@pytest.mark.long
def test_idle_aliases_leave_the_demand_that_was_measured(tmp_path: Path) -> None:
    """Four requesters of one volume with three aliases find a free one: aliases without I/O have no mean service time.

    Their means were refused by `planner aliases`, and a system took the I/Os for random ones, which wait here.
    """
    path = tmp_path / "idle.csv"
    aliases = "".join(f"01F{k},alias,P,0,0,0\n" for k in range(3))
    path.write_text(f"device,kind,pool,rate,service_ms,queue\n0100,base,P,851.6,2.453,0.00\n{aliases}")
    station = model.solve(from_measurements(path)).found.stations["P volumes"]
    assert station["transfers"].value == pytest.approx(851.6, rel=1e-3)
    assert station["response"].value == pytest.approx(2.453e-3, rel=1e-3)
    one, mean = (planner.aliases(path, **asked).table() for asked in ({}, {"interval": "mean"}))
    assert [each.values for each in one.columns] == [each.values for each in mean.columns]


def test_two_pools_of_two_systems() -> None:
    rows = [
        {"system": name, "device": f"52{n:02X}", "kind": "base", "pool": pool, "pool_aliases": 8, "io_rate": 100.0 * n,
         "service": 1e-3, "source": "a day"}
        for name, pool, several in (("ONE", "0", 4), ("TWO", "1", 2))
        for n in range(1, several + 1)
    ]  # fmt: skip
    text = from_measurements(frame(rows), "ONE")
    found = model.solve(text).found
    assert found.io_rate.value == pytest.approx(1000)
    assert found.devices["0 volumes"] == 4
    assert "# [storage]" in text
    assert "to fill in" in text
    with pytest.raises(InputError, match="one of ONE, TWO"):
        from_measurements(frame(rows))
    with pytest.raises(InputError, match="'ONES': expected one of ONE, TWO"):
        from_measurements(frame(rows), "ONES")


def test_a_listing_without_a_pool() -> None:
    path = data_path("hyperpav", "522A-0-aliases.listing")
    devices = measurements.read(path).devices
    assert devices is not None
    text = from_measurements(devices)
    assert "requesters = 3" in text  # 755 I/Os/s of 1.3 ms keep the volume busy: nothing comes at random
    assert model.solve(text).found.io_rate.value == pytest.approx(755, rel=0.05)


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize(("listing", "rate"), [("522A-2-aliases", 1619), ("pool-8-aliases", 9979)])
def test_what_aliases_do_counts(listing: str, rate: float) -> None:
    """The listing has the I/Os of an alias in a row of its own."""
    text = from_measurements(measurements.read(data_path("hyperpav", f"{listing}.listing")).devices)
    assert f"\naliases = {listing[-9]} " in text
    assert model.solve(text).found.io_rate.value == pytest.approx(rate, rel=0.1)


LISTINGS = [
    *(f"522A-{n}" for n in ("0-aliases", "1-alias", "2-aliases")),
    *(f"pool-{n}-aliases" for n in (0, 8, 16)),
]


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("listing", LISTINGS)
def test_the_model_of_a_measurement_gives_the_measurement_back(listing: str) -> None:
    """The rate of the listing, but for four digits of the think time; pool-0 once had 6,189/s of 5,889/s."""
    path = data_path("hyperpav", f"{listing}.listing")
    rate = float(measurements.read(path).devices["io_rate"].sum())
    assert model.solve(from_measurements(path)).found.io_rate.value == pytest.approx(rate, rel=2e-4)


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("listing", LISTINGS)
def test_the_measurement_lies_in_the_ranges_of_its_model(listing: str) -> None:
    """Rate, response (service and queue over rate) and queue of a volume; pool-8 once had a queue of .23 of .92."""
    path = data_path("hyperpav", f"{listing}.listing")
    rows = measurements.read(path).devices
    rate, queued = float(rows["io_rate"].sum()), float(rows["queued"].sum())
    response = (float((rows["io_rate"] * rows["service"]).sum()) + queued) / rate
    found = model.solve(from_measurements(path)).found
    ((name, volume),) = found.stations.items()
    count = found.devices[name]
    measured = {"transfers": rate / count, "response": response, "queue_length": queued / count}
    for key, value in measured.items():
        assert volume[key].low <= value <= volume[key].high, key
        assert volume[key].value == pytest.approx(value, rel=0.05, abs=0.05)


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("listing", LISTINGS)
def test_requesters_of_a_measurement_by_littles_law(listing: str) -> None:
    """Requesters over rate are think time, response and no more than one gap of an I/O that waited."""
    system = model.parse_system(from_measurements(data_path("hyperpav", f"{listing}.listing")))
    (guest,), found = system.of("guests"), model.solve(system).found
    (volume,) = found.stations.values()
    (station,) = system.of("pool") or system.of("volumes")
    requesters = guest.numbers["requesters"]
    assert requesters == 3  # as the report has it
    rest = requesters / volume["transfers"].value - guest.numbers["think_time"] - volume["response"].value
    assert -1e-9 <= rest <= station.numbers["redrive_time"] * 1.001


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize(
    "listing", ["522A-0-aliases", "522A-1-alias", "522A-2-aliases", "pool-8-aliases", "pool-16-aliases"]
)
def test_one_answer_with_other_counts_of_aliases(listing: str) -> None:
    """`planner aliases` and `planner system` have the same rate with any count, to the digits of the file."""
    path = data_path("hyperpav", f"{listing}.listing")
    text, pooled = from_measurements(path), listing.startswith("pool")
    answer = planner.aliases(path, kind="pool" if pooled else "volume")
    table = "pool" if pooled else "volumes"
    found = model.whatif(text, [f"{table}.aliases=0:{len(answer.rows.io_rate) - 1}"])
    rates = [row.io_rate.value for row in found.found]
    np.testing.assert_allclose(rates, answer.rows.io_rate, rtol=1e-3)


@pytest.mark.long
def test_published_gain_of_two_aliases() -> None:
    """From the listing without aliases; the report has 1,619 I/Os/s with two."""
    text = from_measurements(data_path("hyperpav", "522A-0-aliases.listing"))
    found = model.solve(text, ["volumes.aliases=2"]).found.io_rate
    assert found.value == pytest.approx(1619, rel=0.02)
    assert found.low < 1619 < found.high


def test_random_arrivals_beyond_what_the_gap_leaves() -> None:
    """Each I/O of a volume that never idles takes 1.3 ms and its gap of .07 ms: 730/s at most."""
    table = "start,interval_s,device,io_rate,service_ms\n2026-03-02T10:00,3600,A1,{},1.3\n"
    slow, fast = (
        from_measurements(measurements.read(table.format(rate).encode()).devices) for rate in (725, 735)
    )
    assert model.solve(slow).found.io_rate.value == pytest.approx(725)
    with pytest.raises(InfeasibleError, match=r"carry 730/s at most"):
        model.solve(fast)


@pytest.mark.parametrize("idle", [True, False])
def test_hours_without_io_count(idle: bool) -> None:
    """They are part of a mean, whether a volume has a row of zero then or none."""
    table = "start,interval_s,pool,aliases,device,io_rate,service_ms\n" + "".join(
        f"2026-03-02T1{hour}:00,3600,P,1,{volume},{100 if hour == 1 or volume == 1 else 0},1.0\n"
        for hour in range(4) for volume in (1, 2) if idle or hour == 1 or volume == 1
    )  # fmt: skip
    text = from_measurements(measurements.read(table.encode()).devices)
    assert "count = 2 " in text
    assert "io_rate = 62.5 " in text


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            ["A1,735,1.3,0", "A2,900,1.3,0.2"],
            "Rate and service time are used, the queue is not: 00A2 (service time of",
        ),
        (
            ["A1,735,1.3,0", "A2,900,1.3,0.2"],
            "Without a queue of all of unpooled, its I/Os are taken to come at random",
        ),
        (
            ["A1,100,1.0,5"],
            "queue (5 I/Os) of unpooled. The nearest is taken, which queues less than was measured",
        ),
        (["A1,735,1.3,0", "A2,10,,0"], "1 row without a value that is needed left out"),
    ],
)
def test_what_is_used_where_a_measurement_contradicts_itself_or_the_model(rows: list[str], said: str) -> None:
    """M/M/1 of load .1 queues .011 I/Os, not 5; 900/s of 1.3 ms are 1.17 devices, not one."""
    table = "\n".join(["device,io_rate,service_ms,queue", *rows, ""])
    text = from_measurements(measurements.read(table.encode()))
    comments = " ".join(line.removeprefix("# ") for line in text.split("[system]")[0].splitlines())
    assert said in comments
    model.parse_system(text)


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("listing", LISTINGS)
def test_nothing_to_say_of_what_fits(listing: str) -> None:
    text = from_measurements(data_path("hyperpav", f"{listing}.listing"))
    assert len(text.split("[system]")[0].split("\n\n")) == 2


def test_nothing_measured() -> None:
    with pytest.raises(InputError, match=r"source = .*at least one base or volume"):
        from_measurements(frame([]))
