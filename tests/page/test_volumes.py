"""All volumes of a site: means over I/Os, the worst interval beside them, the busiest first."""

from __future__ import annotations

import polars as pl
import pytest

import planner
from planner.library import data_path
from planner.measurements.read import read
from planner.page.volumes import volumes_of


def rows(**changed: list[object]) -> pl.DataFrame:
    columns: dict[str, list[object]] = {
        "system": ["VM1"] * 3, "pool": ["P"] * 3, "device": ["5200", "5200", "5201"], "label": ["A", "A", "B"],
        "kind": ["base"] * 3, "io_rate": [100.0, 300.0, 900.0], "service": [1e-3, 2e-3, 1e-3],
        "response": [1e-3, 3e-3, 4e-3], "queued": [0.0, 0.3, 2.7], "alias_of": [None] * 3, "source": ["A"] * 3,
        "start": [None] * 3,
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
    assert volumes_of(rows(kind=["alias", "other", "alias"])) is None


def test_a_volume_has_what_its_own_aliases_did_as_its_question_has_it() -> None:
    """Published: 522A and its two aliases did 1619 I/Os a second."""
    path = data_path("hyperpav", "522A-2-aliases.listing")
    found, answer = volumes_of(read(path).devices), planner.aliases(path)
    assert found is not None
    (row,) = (dict(zip([head.key for head in found.heads], row, strict=True)) for row in found.rows)
    assert (row["device"], row["label"], row["queued"]) == ("522A", "BWPVS0", 0.02)
    assert row["io_rate"] == pytest.approx(1619, abs=5)
    busy = 552 * 1.7e-3 + 545 * 1.7e-3 + 522 * 1.8e-3
    assert row["busy"] == pytest.approx(busy, abs=0.005)
    assert row["service"] == pytest.approx(busy / 1.619, abs=0.005)
    assert row["response"] == pytest.approx(float(answer.rows.response_time[2]) * 1e3, abs=0.005)


def test_where_hyperpav_aliases_work_the_caption_says_what_no_row_holds() -> None:
    found = volumes_of(read(data_path("hyperpav", "pool-8-aliases.listing")).devices)
    plain = volumes_of(rows())
    assert found is not None and plain is not None
    assert "HyperPAV" in found.caption
    assert "HyperPAV" not in plain.caption


def test_without_service_times_no_response_is_compared_with_them() -> None:
    found = volumes_of(rows(service=[None] * 3))
    assert found is not None
    names = [head.key for head in found.heads]
    assert "service" not in names
    assert found.limits[names.index("response")] is None
    assert "service" not in found.legend


def test_volumes_known_by_label_alone_stay_apart_beside_classic_aliases() -> None:
    found = volumes_of(
        rows(
            device=["5200", None, None], label=["A", "B", "C"], pool=[None] * 3,
            kind=["classic alias", "volume", "volume"], alias_of=["5200", None, None],
        )
    )  # fmt: skip
    assert found is not None
    names = [head.key for head in found.heads]
    rates = {row[names.index("label")]: row[names.index("io_rate")] for row in found.rows}
    assert rates == {"A": 100.0, "B": 300.0, "C": 900.0}
