"""Supply counters through the table of pools are those that the reader of CSV hands over itself."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from planner.errors import ReportError
from planner.measurements.read import read
from planner.measurements.supplies import pool_supplies, read_supplies
from planner.reports.supply import PoolSupply
from tests.checkout import ROOT
from tests.reports.monitor_site import Site, written
from tests.reports.test_zos import pools

CSV = ROOT / "docs/examples/supply-counters.csv"


def test_the_table_of_pools_holds_all_that_was_counted() -> None:
    straight, by_table = read_supplies(CSV), pool_supplies(read(CSV).supply, CSV)
    assert len(straight) == len(by_table) == 3
    for one, other in zip(straight, by_table, strict=True):
        for field in fields(PoolSupply):
            left, right = getattr(one, field.name), getattr(other, field.name)
            assert np.array_equal(left, right) if isinstance(left, np.ndarray) else left == right, field.name


def test_pools_of_monitor_data(tmp_path: Path) -> None:
    path = tmp_path / "MONDATA"
    site = Site()
    path.write_bytes(written(site, 4))
    found = read_supplies(path)
    assert [each.pool for each in found] == ["0", "1"]
    assert [int(each.tries[-1]) for each in found] == site.rise["TRIES"].tolist()
    assert found[0].in_use == 3 and found[0].length.tolist() == [60.0] * 3 and found[0].plain.all()
    path.write_bytes(written(site, 4) + written(Site(name="OTHER"), 4))
    assert [each.pool for each in read_supplies(path)] == ["MVSYS1/0", "MVSYS1/1", "OTHER/0", "OTHER/1"]


def test_marks_that_nothing_set_mean_that_all_were_free() -> None:
    frame = (
        read(CSV)
        .supply.head(3)
        .with_columns(tries=pl.lit(0), fails=pl.lit(0), fewest_free=None, most_free=None)
    )
    (pool,) = pool_supplies(frame, CSV)
    assert pool.fewest.tolist() == pool.most.tolist() == pool.aliases.tolist()


def test_what_has_no_water_marks_is_refused(tmp_path: Path) -> None:
    table = read([pools()]).supply
    with pytest.raises(ReportError, match=r"without numbers of aliases \(aliases\)"):
        pool_supplies(table, tmp_path)
    with pytest.raises(ReportError, match="without fewest_free"):
        pool_supplies(table.with_columns(aliases=pl.lit(32)), tmp_path)
    with pytest.raises(ReportError, match="no alias pool with two records"):
        pool_supplies(table.clear(), tmp_path)
