"""A pool or volume over its intervals: each run is the one that the interval alone gives, to the last digit."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from planner.errors import PlannerError, ReportError
from planner.interval import Interval
from planner.library import data_path
from planner.measurements import Rows, Run, ends, pool_runs, read, volume_runs
from planner.measurements.choose import VOLUME, groups_of, rows_of
from planner.measurements.over_time import RunsOverTime, over_time
from planner.reports import schema
from tests.checkout import ROOT
from tests.site.large_site import SORTS, pool_rows

IN_POOL = {"pool": pl.lit(None, dtype=pl.String), "pool_aliases": pl.lit(None, dtype=pl.UInt16)}
QUEUE = [f"queued{end}" for end in schema.ENDS]
RATE, RESPONSE, SERVICE = (
    [f"{name}{end}" for end in schema.ENDS] for name in ("io_rate", "response", "service")
)


def pools(frame: pl.DataFrame) -> list[RunsOverTime]:
    """Each group of a table over its intervals."""
    groups = groups_of(frame.lazy())
    found = [pool for _, pool in over_time(rows_of(frame.lazy(), groups), groups)]
    assert all(isinstance(pool, RunsOverTime) for pool in found)
    return found  # type: ignore[return-value]


def alone(frame: pl.DataFrame, pool: RunsOverTime, interval: int) -> Run | str | None:
    """What the rows of one interval are read as by themselves."""
    rows = rows_of(frame.lazy(), [pool.group])
    if not np.isnat(pool.start[interval]):
        rows = rows.filter(pl.col("start") == pool.start[interval].item())
    if not rows.filter(pl.col("io_rate") > 0).height:
        return None
    try:
        if pool.group.kind == VOLUME:
            return volume_runs(Rows(rows))[0]
        return pool_runs(Rows(rows))[0][0].run
    except PlannerError as problem:
        return str(problem)


def plain(run: Any) -> Any:
    """Every digit of a run."""
    if not isinstance(run, Run):
        return None if run is None else str(run)
    found = {}
    for field in fields(run):
        value = getattr(run, field.name)
        if isinstance(value, Interval):
            value = tuple(value)
        found[field.name] = list(map(plain_part, value)) if isinstance(value, tuple) else plain_part(value)
    return found


def plain_part(value: object) -> object:
    return (
        plain(value) if isinstance(value, Run) else value.tolist() if isinstance(value, np.ndarray) else value
    )


def changed(frame: pl.DataFrame, some: pl.Expr, columns: list[str], value: float | None) -> pl.DataFrame:
    return frame.with_columns(
        pl.when(some).then(value).otherwise(pl.col(name)).alias(name) for name in columns
    )


def responding(frame: pl.DataFrame) -> pl.DataFrame:
    response = pl.col("service") + pl.col("queued") / pl.col("io_rate")
    return frame.with_columns(response=response, response_low=response - 1e-5, response_high=response + 1e-5)


def without_service(frame: pl.DataFrame) -> pl.DataFrame:
    """As of Linux: responses and utilizations alone, these without a lower end."""
    none = {f"{name}{end}": None for name in ("service", "queued") for end in schema.ENDS}
    used = {f"utilization{end}": pl.col("io_rate") * pl.col("service") for end in schema.ENDS}
    used["utilization_low"] *= 0.0
    return responding(frame).with_columns(**used).with_columns(**none, kind=pl.lit(VOLUME))


def tables() -> dict[str, pl.DataFrame]:
    made = {sort: pool_rows(sort, seed=3, volumes=9, intervals=7, seconds=7200.0) for sort in SORTS}
    bursty, second = made["bursty"], pl.col("device") == "0002"
    early = pl.col("line") < 20
    return {
        **made,
        "volumes": bursty.with_columns(**IN_POOL),
        "idle bases": changed(bursty, second, [*RATE, *QUEUE], 0.0),
        "idle pool": changed(bursty, early, [*RATE, *QUEUE], 0.0),
        "some queues missing": changed(bursty, second & early, QUEUE, None),
        "responses": responding(bursty),
        "responses alone": changed(responding(bursty), pl.lit(True), QUEUE, None),
        "responses that contradict": responding(bursty).with_columns(queued_low=pl.col("queued_low") + 9.0),
        "no service times": changed(without_service(bursty), second & early, [*RATE, *RESPONSE], 0.0),
        "no service times of volumes": without_service(bursty).with_columns(**IN_POOL),
        "waits above some responses": changed(
            responding(bursty).with_columns(**IN_POOL, kind=pl.lit(VOLUME)), pl.lit(True), SERVICE, None
        ).with_columns(
            pl.when(early & second).then(1e-6).otherwise(pl.col(name)).alias(name) for name in RESPONSE
        ),
        "a rate missing": changed(bursty, second & early, ["io_rate"], None),
        "without dates": bursty.filter(pl.col("line") < 10).with_columns(
            start=pl.lit(None, dtype=pl.Datetime("us"))
        ),
        **{
            name: read(data_path("hyperpav", f"{name}.listing")).devices
            for name in ("522A-0-aliases", "522A-2-aliases", "pool-0-aliases", "pool-8-aliases")
        },
    }


@pytest.mark.first(4)
@pytest.mark.parametrize("name", tables())
def test_each_run_is_that_of_its_interval_alone(name: str) -> None:
    frame = tables()[name]
    for pool in pools(frame):
        assert len(pool.runs) == pool.start.size
        for k, run in enumerate(pool.runs):
            assert plain(run) == plain(alone(frame, pool, k)), (name, k)


@pytest.mark.parametrize("name", ["bursty", "in use", "pool-8-aliases", "some queues missing"])
def test_the_order_of_rows_changes_no_digit(name: str) -> None:
    frame = tables()[name]
    found = [
        [plain(run) for pool in pools(each) for run in pool.runs]
        for each in (frame, frame.sample(fraction=1.0, shuffle=True, seed=5))
    ]
    assert found[0] == found[1]


@pytest.mark.first(3)
@pytest.mark.parametrize(
    "name", ["bursty", "in use", "volumes", "idle bases", "pool-8-aliases", "522A-2-aliases", "monitor"]
)
def test_sums_are_those_of_the_runs(name: str) -> None:
    """Monitor data have records of volumes, which count what aliases did, and of these."""
    monitor = ROOT / "docs" / "examples" / "monitor.monwrite"
    for pool in pools(read(monitor).devices if name == "monitor" else tables()[name]):
        for k, run in enumerate(pool.runs):
            if not isinstance(run, Run):
                assert pool.io_rate[k] == 0
                continue
            assert pool.io_rate[k] == pytest.approx(run.total_rate.value, rel=1e-12)
            assert pool.load[k] == pytest.approx(run.io_rate.value @ run.service.value, rel=1e-12)
            assert pool.queued[k] == run.total_queue.value
            assert pool.response[k] == pytest.approx(run.mean_response, rel=1e-12)
            assert (pool.in_use[k], pool.volumes[k]) == (run.aliases, run.bases)
            assert pool.in_use[k] + np.ceil(np.round(pool.thumb[k], 6)) == run.rule_of_thumb


def test_the_response_is_the_measured_one_where_no_service_time_was() -> None:
    frame = without_service(tables()["bursty"])
    (pool,) = pools(frame)
    present = frame.group_by("start").agg((pl.col("response") * pl.col("io_rate")).sum()).sort("start")
    assert pool.response * pool.io_rate == pytest.approx(present["response"].to_numpy(), rel=1e-9)


def test_an_interval_that_contradicts_itself_leaves_the_others() -> None:
    (pool,) = pools(tables()["some queues missing"])
    wrong = [k for k, run in enumerate(pool.runs) if isinstance(run, ReportError)]
    assert wrong == [0, 1]
    assert "0002: expected queued or response_ms" in str(pool.runs[0])


def test_a_wait_above_the_response_leaves_the_other_intervals() -> None:
    problems = [str(run) for pool in pools(tables()["waits above some responses"]) for run in pool.runs
                if isinstance(run, PlannerError)]  # fmt: skip
    assert problems and all(
        "response of 0002 = 0.001 ms: expected above the wait" in each for each in problems
    )


def test_both_ends_of_a_service_time_are_made_once_for_all_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    kept = ends.service_bracket
    monkeypatch.setattr(
        ends,
        "service_bracket",
        lambda *each, **more: (found.append(each[0].value.size), kept(*each, **more))[1],
    )
    assert any(pool.runs[-1].ends for pool in pools(tables()["no service times of volumes"]))  # type: ignore[union-attr]
    assert found == [7] * 9  # volumes of 7 intervals


def test_many_intervals_read_each_column_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an interval costs does not grow with the table: its columns are made once for all intervals."""
    made: list[str] = []
    kept = Rows.column

    def counted(rows: Rows, name: str, of: Any) -> Any:
        return kept(rows, name, lambda whole: (made.append(name), of(whole))[1])

    monkeypatch.setattr(Rows, "column", counted)
    pools(tables()["in use"])
    assert made and len(made) == len(set(made))


def test_a_device_twice_in_an_interval_is_refused_and_both_lines_are_named() -> None:
    frame = tables()["bursty"]
    twice = pl.concat(
        [frame, frame.filter(pl.col("line") == 11).with_columns(line=pl.lit(99, dtype=pl.UInt32))]
    )
    groups = groups_of(twice.lazy())
    ((_, problem),) = over_time(rows_of(twice.lazy(), groups), groups)
    assert "line 99: 0002 a second time at 2026-03-02 02:00:00, first in line 11 of made up: expected" in str(
        problem
    )
    alike = replace(groups[0], name="P9")
    assert list(over_time(rows_of(twice.lazy(), groups), [alike])) == [(alike, "no rows of its devices")]
