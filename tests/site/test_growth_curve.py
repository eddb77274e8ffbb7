"""The curve of needs over the load, and the search along a line, against the functions they were given."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from planner.demand import Law
from planner.interval import Interval
from planner.measurements.read import read
from planner.reports import schema
from planner.site.example import example_volumes
from planner.site.growth.curve import NeedCurve
from planner.site.growth.limits import one_interval
from planner.site.growth.needs import NEARNESS, PoolNeeds, _on_line, grown, needs_of_pool
from planner.site.growth.pools import PoolQuestion, answer_pools
from planner.site.series import SeriesLabel
from planner.sizing import Target
from planner.sizing.fewest import fewest

LAW = Law.from_model("hyperpav")


def excess(count: int, times: float) -> float:
    """Met at 10 t^1.3 aliases; falls by 1.6 / sqrt(count) with each alias, as pools of open arrivals do."""
    real = 10 * times**1.3
    return 1.6 / math.sqrt(real) * (real - count)


def curve(loads: list[float]) -> NeedCurve:
    found = NeedCurve.through(excess, 200, (1.0, 10, excess(9, 1.0), excess(10, 1.0)), loads)
    assert found is not None
    return found


@pytest.mark.parametrize("loads", [[0.9, 1.0, 1.2], [0.7, 1.0, 1.9]])
def test_counts_are_those_of_the_function(loads: list[float]) -> None:
    found = curve(loads)
    for times in np.linspace(min(loads), max(loads), 41).tolist():
        assert found.count(times) == math.ceil(10 * times**1.3 - 1e-9)


@pytest.mark.parametrize("aliases", [8, 12, 20])
def test_the_load_at_a_count_is_that_of_the_function(aliases: int) -> None:
    found = curve([0.9, 1.0, 1.3]).largest(aliases, 3.0, NEARNESS)
    assert found == pytest.approx((aliases / 10) ** (1 / 1.3), rel=NEARNESS)


def test_a_count_that_is_not_reached_has_no_load() -> None:
    assert curve([0.9, 1.0, 1.3]).largest(40, 1.5, NEARNESS) == math.inf


def test_few_aliases_and_unsolved_loads_have_no_curve() -> None:
    assert NeedCurve.through(excess, 200, (0.2, 2, excess(1, 0.2), excess(2, 0.2)), [0.2, 0.3]) is None
    assert NeedCurve.through(lambda *_: math.inf, 200, (1.0, 10, 0.2, -0.3), [0.8, 1.0]) is None
    assert NeedCurve.through(excess, 200, (1.0, 10, math.inf, -0.3), [0.8, 1.0]) is None


def test_the_line_goes_through_the_loads_about_a_count() -> None:
    assert _on_line([(1.0, 4.0), (2.0, 8.0)], 5.0) == pytest.approx(1.25)
    assert _on_line([(1.0, 4.0), (2.0, 8.0)], 10.0) == pytest.approx(2.5)
    assert _on_line([(1.0, 4.0), (2.0, 8.0)], 2.0) == 0.5
    assert _on_line([(1.0, 4.0), (2.0, math.inf)], 5.0) == pytest.approx(math.sqrt(2))
    assert _on_line([(1.0, 0.0), (2.0, 0.0)], 5.0) == 4.0


@pytest.fixture(scope="module")
def hour(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """Twenty unequal volumes in one hour."""
    path = tmp_path_factory.mktemp("pool") / "pool.csv"
    example_volumes(days=3, pools=1, volumes=20, aliases=8, hours=1).write_csv(path)
    rows = read(path).devices
    return one_interval({0: rows.filter(pl.col("start") == rows["start"].max())})[0]


def needs(rows: pl.DataFrame) -> PoolNeeds:
    found = needs_of_pool(rows, LAW, Target())
    assert found is not None
    return found


def test_counts_along_the_curve_are_those_of_full_searches(hour: pl.DataFrame) -> None:
    """Not one of eleven loads differs."""
    found = needs(hour)
    times = np.linspace(2.4, 3.6, 11).tolist()
    counts = found.counts([each * found.load for each in times])
    assert any(found._curves.values())
    assert [each.value for each in counts] == [
        fewest(grown(found.pools[0], each), found.target, found.run)[0] for each in times
    ]


@pytest.mark.slow
def test_the_load_of_bursty_volumes_is_where_one_alias_more_is_needed(hour: pl.DataFrame) -> None:
    load = pl.col("io_rate") * pl.col("service")
    queue = (4 * load**2 / (1 - load)).alias("queued")
    bursty = hour.with_columns(
        queue,
        queue.alias("queued_low"),
        queue.alias("queued_high"),
        pl.lit(0, pl.UInt16).alias("pool_aliases"),
    )
    found = needs(bursty)
    assert not found.pools
    limit = int(found.count(found.load).value) + 3
    at = found.largest_load(limit, 3 * found.load).value
    assert found.count(0.98 * at).value <= limit < found.count(1.02 * at).value


def question(rows: pl.DataFrame, number: int) -> PoolQuestion:
    rate = float(rows["io_rate"].sum() or 0.0)
    return PoolQuestion(
        label=SeriesLabel(system="SYS1", what=f"I/O rate of pool P{number}", unit="1/s"), series=number, rows=rows,
        law=LAW, target=Target(), now=rate, ahead=((rate, 1.1 * rate, 1.2 * rate),) * 3, reach=1.5 * rate,
    )  # fmt: skip


def test_a_pool_that_cannot_be_read_is_named_and_the_others_are_answered(hour: pl.DataFrame) -> None:
    broken = hour.with_columns(
        pl.lit("base", pl.Enum(schema.KINDS)).alias("kind"), pl.lit(None).alias("service")
    )
    (first, _), (none, said) = answer_pools([question(hour, 1), question(broken, 2)])
    assert [goal.measured.what for goal in first] == ["aliases of pool P1", "addresses of pool P1"]
    assert none == []
    assert said[0].startswith("I/O rate of pool P2 of SYS1 has no answer")


@pytest.mark.slow
def test_many_pools_have_the_same_answers_in_processes(hour: pl.DataFrame) -> None:
    asked = [question(hour, number) for number in range(30)]
    alone, shared = (answer_pools(asked, workers=workers) for workers in (1, 2))

    def plain(found: list[tuple[list[object], list[str]]]) -> list[object]:
        return [[(goal.now, goal.limit, goal.load, goal.needs) for goal in goals] for goals, _ in found]  # type: ignore[attr-defined]

    assert plain(alone) == plain(shared)  # type: ignore[arg-type]
    assert isinstance(alone[0][0][0].load, Interval)
