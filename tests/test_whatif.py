"""Questions to a model: settings, grids, intervals, warnings beyond what was measured."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import whatif
from planner.errors import InputError
from planner.library import read_model

VOLUME = read_model("hyperpav-volume-runs")
POOL = read_model("hyperpav")


def test_the_model_says_what_it_was_fitted_to() -> None:
    answer = whatif.predict(VOLUME, {}, {"aliases": [0.0, 2.0]})
    rates = {run.name: run.predicted for run in VOLUME.fit.runs if run.quantity == "io_rate"}
    assert [float(row.io_rate[0]) for row in answer.rows] == pytest.approx(
        [rates["Y040180P 522A +0"], rates["Y040182P 522A +2"]], rel=1e-4
    )
    assert answer.warnings == ()


def test_intervals_hold_their_number_and_the_measured_one() -> None:
    (zero, two) = whatif.predict(VOLUME, {}, {"aliases": [0.0, 2.0]}).table().records()
    for row, measured in ((zero, 755), (two, 1619)):
        assert row["io_rate_low"] < row["io_rate"] < row["io_rate_high"]
        assert row["io_rate_low"] < measured < row["io_rate_high"]
        assert row["response_low_ms"] < row["response_ms"] < row["response_high_ms"]


def test_keys_are_those_of_an_aliases_row_with_intervals() -> None:
    (row,) = whatif.predict(VOLUME, {"aliases": 1}).table().records()
    keys = {"aliases", "io_rate", "service_ms", "wait_ms", "response_ms", "queued", "no_alias"}
    assert keys <= set(row)
    assert set(row) - keys == {
        "io_rate_low", "io_rate_high", "service_low_ms", "service_high_ms", "wait_low_ms", "wait_high_ms",
        "response_low_ms", "response_high_ms", "queued_low", "queued_high",
    }  # fmt: skip


def test_a_grid_asks_every_combination_in_order() -> None:
    answer = whatif.predict(VOLUME, {}, {"think_time": [1e-4, 3e-4], "aliases": [0.0, 1.0]})
    asked = [(each["think_time"], each["aliases"]) for each in answer.settings]
    assert asked == [(1e-4, 0.0), (1e-4, 1.0), (3e-4, 0.0), (3e-4, 1.0)]
    rates = [float(row.io_rate[0]) for row in answer.rows]
    assert rates[0] > rates[2]
    assert rates[1] > rates[3]


def test_beyond_what_was_measured_there_is_a_warning() -> None:
    (warning,) = whatif.predict(VOLUME, {"aliases": 7}).warnings
    assert warning.startswith("aliases beyond what was measured (0 to 2)")


def test_a_parameter_that_is_set_leaves_less_open() -> None:
    free = whatif.predict(VOLUME, {"aliases": 2}).rows[0]
    held = whatif.predict(
        VOLUME, {"aliases": 2, "think_time": 2e-4, "service_time": 1.27e-3, "inflation": 0.17}
    ).rows[0]
    assert held.high["io_rate"][0] / held.low["io_rate"][0] < free.high["io_rate"][0] / free.low["io_rate"][0]


@given(first=st.integers(0, 20), more=st.integers(0, 20))
def test_counts_step_by_one(first: int, more: int) -> None:
    key, values = whatif.parse_range(f"aliases={first}:{first + more}")
    assert key == "aliases"
    assert values == tuple(float(n) for n in range(first, first + more + 1))


def test_a_time_steps_by_its_step_and_ends_at_its_end() -> None:
    key, values = whatif.parse_range("think_time=0.1ms:1ms:0.1ms")
    assert key == "think_time"
    assert len(values) == 10
    assert values[-1] == pytest.approx(1e-3)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("think_time=0.1ms:1ms", "first:last:step"),
        ("think_time=1:2:1", "a unit is missing"),
        ("aliases=3:1", "runs upward"),
        ("aliases=0:4:0", "above zero"),
        ("aliases=0:1.5", "a count"),
        ("speed=0:4", "one of aliases"),
        ("aliases", "first:last:step"),
    ],
)
def test_bad_ranges_are_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        whatif.parse_range(text)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(InputError, match="aliases"):
        whatif.predict(VOLUME, {})
    with pytest.raises(InputError, match=r"measured with 1 to 8 volumes"):
        whatif.predict(POOL, {"aliases": 4})
    with pytest.raises(InputError, match="not set as well"):
        whatif.predict(VOLUME, {"aliases": 4}, {"aliases": [1.0]})


def test_a_plot_has_one_line_a_value_of_the_others() -> None:
    answer = whatif.predict(VOLUME, {}, {"aliases": [0.0, 1.0], "think_time": [1e-4, 3e-4]})
    axes = answer.plot()
    assert len(axes.lines) == 2
    assert axes.get_xlabel() == "aliases"
