"""What an answer never does, on drawn pools: contradict its own rows, the measurement, or the devices there are."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import planner
from planner.demand import Candidate, DeviceModel, Target
from planner.devices import Pool, VolumeClass
from planner.interval import Interval
from planner.measurements import Run
from planner.sizing.answer import AliasAnswer
from planner.sizing.pool import ReadPool, SizedPool

GROWTH = (0.0, 0.0, 0.1, 0.3, 0.5)


def pool_of(*volumes: tuple[float, float, float | None], aliases: int = 0) -> pl.DataFrame:
    """Rate [1/s], service time [ms] and queue of each volume, exact."""
    frame = pl.DataFrame(
        [
            {"pool": "P", "volume": f"V{k}", "aliases": aliases, "io_rate": x, "service_ms": s, "queued": q}
            for k, (x, s, q) in enumerate(volumes)
        ]
    ).drop([] if volumes[0][2] is not None else ["queued"])
    return frame.with_columns(io_rate_resolution=0.0, service_resolution_ms=0.0, queued_resolution=0.0)


def asked(frame: pl.DataFrame, growth: float = 0.0, **target: str) -> AliasAnswer:
    found = planner.aliases(frame, kind="pool", growth=growth, **target)
    assert isinstance(found, AliasAnswer)
    return found


def drawn(seed: int) -> tuple[pl.DataFrame, float]:
    """Volumes whose queue is up to 1.3 times that of Poisson arrivals, or next to nothing with aliases in use."""
    r = random.Random(seed)
    many, aliases = r.choice([1, 2, 3, 5, 8]), r.choice([0, 0, 1, 2, 4, 8])
    rows = []
    for _ in range(many):
        service, busy = r.uniform(0.5, 6), r.uniform(0.02, 0.8)
        poisson = busy * busy / (1 - busy)
        alone, used = r.choice([0, 0.3, 0.6, 1, 1.3]) * poisson, r.choice([0, 0, 0.01, 0.02, 0.05, 0.2])
        queue = used if aliases else alone
        rows.append((round(busy / service * 1e3, 1), round(service, 2), round(queue, 2)))
    return pool_of(*rows, aliases=aliases), r.choice(GROWTH)


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize(
    "seed", [*range(16), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(16, 40))]
)
def test_an_answer_agrees_with_its_rows_and_the_devices(seed: int) -> None:
    frame, growth = drawn(seed)
    found = asked(frame, growth)
    rows, count = found.rows, found.recommended
    assert rows.aliases.tolist() == list(range(rows.aliases.size))
    excess = found.target.excess(rows.io_rate, rows.service_time, rows.queued, rows.no_alias, rows.fails)
    assert excess[count] <= 1.0 and (excess[:count] > 1.0).all()
    assert found.range[0] <= count <= found.range[1] <= max(10 * count, 40)
    assert found.classic is None or found.classic >= count
    devices = frame.height + rows.aliases
    assert (rows.io_rate * rows.service_time <= 1.05 * devices).all()  # of digits
    assert (np.diff(rows.io_rate) >= -1e-6 * rows.io_rate[1:]).all()
    assert (np.diff(np.minimum(rows.queued / rows.io_rate, 1e9)) <= 1e-9).all()


@pytest.mark.parametrize("volumes", [1, 2, 3, 8])
@pytest.mark.parametrize("queue", [0.02, 0.04])
def test_a_wait_that_misses_the_target_needs_an_alias_however_many_volumes(
    volumes: int, queue: float
) -> None:
    """A demand of one requester each, which never waits, was next to it: no alias, and "the wait meets the target"."""
    found = asked(pool_of(*[(52.5, 5.66, queue)] * volumes))
    assert (found.recommended, found.range[0]) == (1, 1)
    assert found.rows.queued[0] == pytest.approx(volumes * queue)


@pytest.mark.long
def test_more_load_needs_no_fewer_and_widens_the_range_little() -> None:
    """Between whole numbers of requesters the larger side alone was asked, and the rule of thumb went to infinity."""
    calm = pool_of((52.5, 5.66, 0.04), (8.2, 1.4, 0.0), (61.7, 4.56, 0.03))
    counts = [asked(calm, growth) for growth in (0.0, 0.3, 0.4, 0.5, 0.7)]
    assert [each.recommended for each in counts] == [1] * 5
    assert [each.range[1] for each in counts] == [1, 1, 1, 2, 2]
    busy = [asked(pool_of((137.7, 5.8, 9.5)), growth) for growth in (0.0, 0.1, 0.2, 0.23, 0.3)]
    assert [each.range[1] for each in busy] == sorted(each.range[1] for each in busy)
    assert busy[-1].range[1] <= 1.5 * busy[0].range[1]
    quiet = pool_of((10.4, 4.09, 0.0), (8.0, 5.62, 0.0), (9.5, 5.58, 0.0), (3.0, 5.24, 0.0))
    assert max(asked(quiet, growth, no_alias="1%").range[1] for growth in (0.0, 0.1, 0.2)) <= 2


@pytest.mark.long
def test_no_more_is_served_than_arrives() -> None:
    """Just below stability one of two overloaded volumes was given more than comes to it, and the curve held that."""
    found = asked(pool_of((810.0, 4.77, None), (2622.0, 1.98, None), aliases=8))
    assert found.rows.io_rate.max() == pytest.approx(3432.0)


@pytest.mark.long
def test_a_pool_in_use_keeps_to_its_devices() -> None:
    """What the model missed of the rate with 4 aliases was multiplied onto all counts: 49 in service on 38 devices."""
    rows = [
        (326.8, 3.43, 1.41),
        (412.5, 3.33, 3.96),
        (2086.5, 0.83, 47.37),
        (143.7, 5.48, 0.35),
        (146.6, 4.95, 0.26),
    ]
    found = asked(pool_of(*rows, aliases=4))
    busy = found.rows.io_rate * found.rows.service_time
    assert (busy[5:] <= 5 + found.rows.aliases[5:]).all() and (busy <= 1.05 * (5 + found.rows.aliases)).all()
    assert found.rows.io_rate[4] == pytest.approx(3116.1)


@pytest.mark.long
def test_exactly_no_queue_is_a_number() -> None:
    """A queue of 0 without digits was nothing of nothing, in figures and in warnings."""
    rows = [
        (90.9, 4.97, 0.0), (62.8, 2.08, 0.0), (98.0, 3.49, 0.0), (114.2, 5.79, 0.0), (6.7, 4.43, 0.0),
        (482.5, 1.39, 0.0),
    ]  # fmt: skip
    found = asked(pool_of(*rows, aliases=2))
    assert found.range[0] <= found.recommended <= 2


@pytest.mark.long
def test_a_mean_is_called_one(tmp_path: Path) -> None:
    """Of pools with two numbers of aliases "the worst of 2 intervals" was answered to who asked for the mean."""
    path = tmp_path / "days.csv"
    rows = (("09", 4, 0.1), ("10", 2, 0.9), ("11", 2, 0.7))
    lines = [f"2026-03-02T{hour}:00:00,3600,P,{v},{a},600,1.9,{q}" for hour, a, q in rows for v in "AB"]
    head = "start,interval_s,pool,volume,aliases,io_rate,service_ms,queued"
    path.write_text("\n".join([head, *lines, ""]), encoding="utf-8")
    found = planner.aliases(path, interval="mean")
    assert isinstance(found, AliasAnswer)
    assert re.match(r"pool P \(mean with [24] aliases\): ", found.headline)
    assert any(note.startswith("Each number of aliases has a mean of its own") for note in found.notes)
    worst = planner.aliases(path)
    assert isinstance(worst, AliasAnswer) and "worst of 3 intervals" in worst.headline


def test_where_nobody_asks_for_an_alias_no_try_fails() -> None:
    none, some = np.array([0.0]), np.array([10.0])
    target = Target(no_alias="1%")
    assert target.met(some, some, none, np.array([1.0]), none).all()
    assert not target.met(some, some, none, np.array([1.0]), some).any()


def test_a_demand_that_never_waits_needs_one_more_where_the_measurement_did() -> None:
    """No count of such a demand is worth trying; the row of the largest one was taken for that of none."""
    device_model = DeviceModel(inflation=0.16, redrive_time=6e-5, model_error=0.02)
    run = Run(
        name="pool", pool=True, aliases=2, volumes=("A", "B"), queue_shown=np.full(2, 0.3),
        io_rate=Interval.around(np.full(2, 100.0), 0.05), service=Interval.around(np.full(2, 2e-3), 5e-6),
        queued=Interval.around(np.full(2, 0.3), 0.005),
    )  # fmt: skip
    one = Candidate(
        pool=Pool(
            classes=(VolumeClass(volumes=2, population=1, think_time=8e-3),),
            service_time=2e-3,
            inflation=0.16,
            redrive_time=6e-5,
        ),
        residual=0.0,
    )
    (sized,) = SizedPool.made([ReadPool((run,), 0.0, [one], (), None)], device_model, Target())
    assert sized.count == 3
