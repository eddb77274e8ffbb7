"""All volumes of a site: means over I/Os, the worst interval beside them, the busiest first."""

from __future__ import annotations

import polars as pl
import pytest

from planner.page.volumes import volumes_of


def rows(**changed: list[object]) -> pl.DataFrame:
    columns: dict[str, list[object]] = {
        "system": ["VM1"] * 3, "pool": ["P"] * 3, "device": ["5200", "5200", "5201"], "label": ["A", "A", "B"],
        "kind": ["base"] * 3, "io_rate": [100.0, 300.0, 900.0], "service": [1e-3, 2e-3, 1e-3],
        "response": [1e-3, 3e-3, 4e-3], "queued": [0.0, 0.3, 2.7],
    }  # fmt: skip
    return pl.DataFrame({**columns, **changed})


def test_times_are_means_over_ios_and_busy_is_that_of_the_worst_interval() -> None:
    found = volumes_of(rows())
    assert found is not None
    names = [head.key for head in found.heads]
    busiest, other = (dict(zip(names, row, strict=True)) for row in found.rows)
    assert (busiest["device"], busiest["busy"]) == ("5201", 0.9)
    assert other["io_rate"] == 200.0
    assert other["service"] == pytest.approx((100 * 1 + 300 * 2) / 400, abs=0.005)
    assert other["response"] == pytest.approx((100 * 1 + 300 * 3) / 400, abs=0.005)
    assert (other["busy"], other["queued"]) == (0.6, 0.3)


def test_what_was_not_measured_has_no_column_and_no_share_in_a_mean() -> None:
    found = volumes_of(rows(label=[None] * 3, response=[None, 3e-3, None]))
    assert found is not None
    names = [head.key for head in found.heads]
    assert "label" not in names
    place = names.index("response")
    assert [row[place] for row in found.rows] == [None, 3.0]


def test_aliases_and_other_devices_are_no_volumes() -> None:
    assert volumes_of(rows(kind=["alias", "other", "classic alias"])) is None


def test_without_service_times_no_response_is_compared_with_them() -> None:
    found = volumes_of(rows(service=[None] * 3))
    assert found is not None
    names = [head.key for head in found.heads]
    assert "service" not in names
    assert found.limits[names.index("response")] is None
    assert "service" not in found.legend
