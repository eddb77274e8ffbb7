"""A system file from a table of devices: it is answered, keeps what was measured, and says what is missing."""

from __future__ import annotations

import polars as pl
import pytest

from planner import InputError, measurements
from planner import system as model
from planner.library import data_path
from planner.reports.schema import DEVICES, dtypes
from planner.system.measured import from_measurements


def frame(rows: list[dict[str, object]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dtypes(DEVICES))


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


@pytest.mark.parametrize("listing", LISTINGS)
def test_the_model_of_a_measurement_gives_the_measurement_back(listing: str) -> None:
    """The rate of the listing, but for four digits of the think time; pool-0 once had 6,189/s of 5,889/s."""
    path = data_path("hyperpav", f"{listing}.listing")
    rate = float(measurements.read(path).devices["io_rate"].sum())
    assert model.solve(from_measurements(path)).found.io_rate.value == pytest.approx(rate, rel=2e-4)


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


def test_nothing_measured() -> None:
    with pytest.raises(InputError, match=r"source = .*at least one base or volume"):
        from_measurements(frame([]))
