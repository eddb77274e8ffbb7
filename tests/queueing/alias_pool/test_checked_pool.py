"""A volume in any unit of time, and the exact limit of a short gap."""

import numpy as np
import pytest

from planner.queueing import alias_pool


@pytest.mark.parametrize(
    "asked",
    [{"population": 3, "think_time": 1e-2}, {"arrival_rate": 300.0}, {"population": 6, "think_time": 4e-2}],
)
def test_one_volume_answers_the_same_in_any_unit_of_time(asked: dict[str, float]) -> None:
    """Seconds or milliseconds: times have another unit, numbers of I/Os stay."""
    scale = {"population": 1.0, "think_time": 1e3, "arrival_rate": 1e-3}
    seconds, thousandths = (
        alias_pool(
            [1, 2], volumes=1, service_time=3e-3 * unit, redrive_time=6e-5 * unit, inflation=0.2,
            **{name: value * scale[name] if unit > 1.0 else value for name, value in asked.items()},
        )
        for unit in (1.0, 1e3)
    )  # fmt: skip
    for name, unit in (
        ("throughput", 1e-3),
        ("wait_time", 1e3),
        ("service_time", 1e3),
        ("queue_length", 1.0),
    ):
        np.testing.assert_allclose(getattr(thousandths, name), getattr(seconds, name) * unit, rtol=1e-11)


@pytest.mark.parametrize("gap", [0.0, 1e-6, 2e-4])
def test_however_short_a_gap_is_it_counts(gap: float) -> None:
    """A base and an alias that never idle: each takes its service and its gap for every I/O."""
    found = alias_pool(
        1, volumes=1, population=8, think_time=1e-9, service_time=1.0, redrive_time=gap,
        method="exact",
    )  # fmt: skip
    assert found.base_throughput == pytest.approx(1.0 / (1.0 + gap), rel=1e-7)
    assert found.alias_throughput == pytest.approx(1.0 / (1.0 + gap), rel=1e-7)
