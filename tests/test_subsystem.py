"""Pools of unequal volumes and many pools at once: own rates, what grouping costs, and how little is solved."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from planner import queueing, sizing
from planner.demand import Candidate, DeviceModel, Target
from planner.devices import Performance, Pool, VolumeClass
from planner.errors import ConvergenceError, InputError, PlannerError
from planner.measurements import Run, intervals, pool_runs, read
from planner.site.question import site
from planner.sizing import pool as pool_module
from planner.sizing.fewest import excess_of
from planner.sizing.need import need, size
from planner.sizing.pool import GrownDemand, SizedPool
from planner.sizing.question import aliases
from planner.sizing.volume import classic_aliases
from planner.sizing.volumes import alike, each_volume

DEVICE = DeviceModel(inflation=0.16, redrive_time=6e-5, model_error=0.02)
PLAIN = DeviceModel(inflation=0.0, redrive_time=0.0, model_error=0.02)
SERVICE = 1.3e-3


def runs_of(tmp_path: Path, header: str, *lines: str) -> list[Run]:
    path = tmp_path / "volumes.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    (rows,) = intervals(read(path))
    return [found.run for found in pool_runs(rows)[0] if found.run is not None]


def read_as(run: Run, target: Target | None = None) -> SizedPool:
    """A pool of steady volumes, as it is read."""
    (found,) = size([(run,)], DEVICE, target or Target(), [0.0])
    assert isinstance(found, SizedPool)
    return found


def candidate(run: Run) -> Candidate:
    """Its preferred demand."""
    return read_as(run).demands[0]


def measured(pools: list[Run]) -> list[sizing.MeasuredPool]:
    return [
        sizing.MeasuredPool(name=run.name, volumes=run.bases, aliases=run.aliases, runs=(run,))
        for run in pools
    ]


def subsystem_lines(pools: int, seed: int = 3) -> list[str]:
    """Rows of pools of three classes: quiet, middling and busy volumes, as an M/M/1 queue of each would measure."""
    rng = np.random.default_rng(seed)
    lines = []
    for pool in range(pools):
        service = rng.uniform(0.6, 1.5)
        for kind, (low, high, most) in enumerate(((0.02, 0.2, 12), (0.2, 0.5, 8), (0.5, 0.85, 4))):
            load = rng.uniform(low, high)
            for volume in range(int(rng.integers(1, most + 1))):
                queue = load**2 / (1 - load)
                lines.append(
                    f"{pool:03d},{kind}{volume:02d},{load / service * 1e3:.2f},{service:.3f},{queue:.4f}"
                )
    return lines


HEADER = "pool,volume,io_rate,service_ms,queued"


def test_volumes_that_the_digits_cannot_tell_apart_are_alike(tmp_path: Path) -> None:
    lines = (
        "1,a,500,1.3,.30",
        "1,b,505,1.3,.31",
        "1,c,100,1.3,.02",
        "1,d,98,1.3,.02",
        "1,e,98,2.6,.02",
        "1,f,99,1.3,.9",
    )
    (run,) = runs_of(tmp_path, HEADER, *lines)
    groups = alike(run)
    assert groups[0] == groups[1]
    assert groups[2] == groups[3]
    assert len(set(groups.tolist())) == 4


def test_open_volumes_ask_at_their_own_rates(tmp_path: Path) -> None:
    rates = [100.0, 300.0, 320.0, 500.0]
    (run,) = runs_of(
        tmp_path, "pool,volume,io_rate,service_ms", *(f"1,{k},{rate},1.3" for k, rate in enumerate(rates))
    )
    (only,) = read_as(run).demands
    people, _, arrival_rate, service = each_volume(only.pool)
    assert sorted(arrival_rate) == pytest.approx(rates, rel=0.035)  # 300 and 320 within the digits of 1.3
    assert service == pytest.approx(SERVICE)
    assert np.isnan(people).all()


@pytest.mark.first(1)
@pytest.mark.parametrize("aliases", [0, 3])
def test_closed_volumes_meet_their_own_rates(aliases: int, tmp_path: Path) -> None:
    """The pool that was measured is our own; what is read from its rates must give them back."""
    think = np.array([1.0, 1.5, 3.0, 6.0]) * 1e-3
    slowing = {"service_time": SERVICE, "inflation": 0.16, "redrive_time": 6e-5}
    counts = np.array([2.0, 2.0, 2.0, 2.0])
    pool = queueing.alias_pool(aliases, volumes=counts, population=[3.0] * 4, think_time=think, **slowing)
    header = "pool,volume,io_rate,service_ms,queued,aliases"
    lines = [
        f"1,{k}{copy},{rate:.4f},{time * 1e3:.6f},{queue:.6f},{aliases}"
        for k, (rate, time, queue) in enumerate(
            zip(pool.throughput, pool.service_time, pool.queue_length - pool.in_gap, strict=True)
        )
        for copy in range(2)
    ]
    (run,) = runs_of(tmp_path, header, *lines)
    population, own, rates, service = each_volume(candidate(run).pool)
    people = population[~np.isnan(population)]
    again = queueing.alias_pool(
        aliases, volumes=np.ones(8), population=population, think_time=own, arrival_rate=rates,
        service_time=service, inflation=0.16, redrive_time=6e-5,
    )  # fmt: skip
    assert people.size in (0, 8) or aliases == 0
    assert np.sort(again.throughput) == pytest.approx(np.sort(np.repeat(pool.throughput, 2)), rel=0.01)


@pytest.mark.long
def test_grouping_errs_no_more_than_it_says(tmp_path: Path) -> None:
    """The reference solves every volume as a class of its own."""
    rng = np.random.default_rng(8)
    rates = rng.uniform(150, 700, 24)
    (run,) = runs_of(
        tmp_path, "pool,volume,io_rate,service_ms", *(f"1,{k},{rate:.3f},1.3" for k, rate in enumerate(rates))
    )
    (demand,) = GrownDemand.of([(candidate(run), run, 0.0)])
    (pool,), error = demand.pools, demand.error
    assert 1 < len(pool.classes) < 24
    assert 0 < error < 0.2
    every = queueing.alias_pool(
        4, volumes=np.ones(24), arrival_rate=np.sort(rates), service_time=SERVICE, inflation=0.16, redrive_time=6e-5
    )  # fmt: skip
    exact = float((every.queue_length - every.in_gap).sum() / rates.sum())
    grouped = float(pool.solve([4.0]).wait_time[0])
    assert grouped == pytest.approx(exact, rel=error + 0.01)


@pytest.mark.long
def test_one_less_does_not_meet_the_target(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, HEADER, *subsystem_lines(2))
    for target in (Target(), Target(wait=1e-5), Target(queued=0.5), Target(no_alias=0.01)):
        for found in need([(run,) for run in runs], DEVICE, target):
            assert found.sized is not None and found.count is not None
            rows, model = found.sized.sweep
            assert np.argmax(excess_of(target, rows) <= 1.0) == found.count > 0
            assert rows.io_rate[0] == pytest.approx(found.sized.run.total_rate.value)
            assert model.io_rate[0] == pytest.approx(
                rows.io_rate[0], rel=0.01
            )  # the classes, not the volumes


@pytest.mark.long
def test_the_first_line_of_many_pools_has_their_sums(tmp_path: Path) -> None:
    answer = sizing.subsystem(measured(runs_of(tmp_path, HEADER, *subsystem_lines(2))), DEVICE)
    first, second = answer.pools
    assert first.recommended is not None and second.recommended is not None
    assert first.range is not None and second.range is not None
    low, high = (first.range[end] + second.range[end] for end in (0, 1))
    spread = f"{low} to {high}" if low < high else f"{low}"
    assert f"{first.recommended + second.recommended} aliases (range {spread}), 0 in use." in answer.headline
    rate, before, after = re.search(
        r"I/O rate (.*)/s.*, response (.*) to (.*) ms\.", answer.headline
    ).groups()  # type: ignore[union-attr]
    total = answer.total()
    assert total.now is not None and total.then is not None
    assert total.now.io_rate == first.now.io_rate + second.now.io_rate  # type: ignore[union-attr]
    assert rate and float(before) == pytest.approx(1e3 * total.now.response_time, rel=0.02)
    assert float(after) == pytest.approx(1e3 * total.then.response_time, rel=0.02)
    assert not any("leave out" in note for note in answer.notes)


@pytest.mark.long
def test_many_pools_get_the_answer_that_each_gets_alone(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, HEADER, *subsystem_lines(2))
    answer = sizing.subsystem(measured(runs), DEVICE, growth=0.2)
    for run, found in zip(runs, answer.pools, strict=True):
        alone = sizing.aliases_of_runs(run, DEVICE, growth=0.2)
        assert found.recommended == alone.recommended
        assert found.range == alone.range
        assert found.classic == alone.classic
        assert found.then is not None and found.now is not None
        assert found.then.io_rate == pytest.approx(alone.rows.io_rate[alone.recommended], rel=1e-4)
        assert found.now.response_time == pytest.approx(alone.rows.response_time[0], rel=1e-4)


@pytest.mark.long
def test_many_pools_say_what_each_needs_if_its_volumes_act_together(tmp_path: Path) -> None:
    lines = [
        f"{pool}{k},{pool},0,{300 + 10 * k},1.2,{queue}"
        for pool, queue in (("A", 0.9), ("B", 0))
        for k in range(3)
    ]
    bursty, calm = runs = runs_of(tmp_path, "volume,pool,aliases,io_rate,service_ms,queued", *lines)
    answer = sizing.subsystem(measured(runs), DEVICE)
    alone = sizing.aliases_of_runs(bursty, DEVICE)
    said = f"{alone.together_count} aliases if the volumes' I/Os come together"
    assert f"{alone.together_count} if they come together" in alone.headline
    assert said in answer.pools[0].notes and said in " ".join(answer.notes)
    assert not any("come together" in note for note in answer.pools[1].notes)
    assert need([(calm,)], DEVICE)[0].apart == ()


@pytest.mark.long
def test_saturated_volumes_are_a_first_step_wherever_they_are_told(tmp_path: Path) -> None:
    """ "3 needed" alone reads as if 3 met the target, of which nobody knows how many do."""
    table = tmp_path / "volumes.csv"
    rows = ("A,990,1.00,400", "B,980,1.00,380")
    table.write_text("\n".join(["volume,io_rate,service_ms,queue", *rows, ""]), encoding="utf-8")
    together = tmp_path / "pools.csv"
    head = "volume,io_rate,service_ms,queue,pool"
    together.write_text("\n".join([head, f"{rows[0]},P", f"{rows[1]},Q", ""]), encoding="utf-8")
    volumes, pools, whole = aliases(table), aliases(together), site(together)
    for answer in (volumes, pools, whole):
        assert "start with this count and measure again" in " ".join(answer.notes).lower()
        assert "no alias problem" not in " ".join(answer.notes).lower()
    assert [row["saturated"] for row in pools.to_dict()["pools"]] == [True, True]


@pytest.mark.long
def test_pools_without_an_answer_stand_in_the_first_line(tmp_path: Path) -> None:
    """It said "0 aliases" where no pool had an answer."""
    crowded = [f"V{k:03d},P,0,{990 + k % 7},1.00,{5 + k % 5}.0" for k in range(60)]
    calm = ["W1,Q,0,100,1.00,0.02", "W2,Q,0,200,1.00,0.05"]
    runs = runs_of(tmp_path, "volume,pool,aliases,io_rate,service_ms,queued", *crowded, *calm)
    alone, both = sizing.subsystem(measured(runs[:1]), DEVICE), sizing.subsystem(measured(runs), DEVICE)
    assert alone.headline == "1 pool, 60 volumes: none has an answer."
    assert re.match(
        r"2 pools, 62 volumes: \d+ alias(es)? \(range [^)]*\), 0 in use; 1 pool has no answer\.",
        both.headline,
    )


CLASSES = (
    VolumeClass(volumes=3, population=3, think_time=2e-3),
    VolumeClass(volumes=2, population=24, think_time=6e-2),
    VolumeClass(volumes=5, arrival_rate=400),
    VolumeClass(volumes=1, arrival_rate=90),
)


@pytest.mark.first(1)
@pytest.mark.parametrize("gap", [0.0, 6e-5])
@pytest.mark.parametrize(
    "target",
    [Target(), Target(wait=2e-5), Target(response=1.6e-3), Target(queued=0.3), Target(no_alias=0.02)],
    ids=str,
)
def test_classic_volumes_of_many_pools_are_those_that_each_volume_takes_alone(
    target: Target, gap: float
) -> None:
    """Each volume with one alias more and more, by the exact chain of a pool of one volume."""
    pools = [
        Pool(classes=classes, service_time=SERVICE, inflation=0.1, redrive_time=gap)
        for classes in (CLASSES, CLASSES[:1], CLASSES[1:3])
    ]
    expected = []
    for pool in pools:
        own = replace(target, queued=target.queued / pool.bases) if target.queued else target
        takes = []
        for part in pool.classes:
            rows = replace(pool, classes=(replace(part, volumes=1),)).solve(
                np.arange(np.fmin(part.population, 20.0))
            )
            met = excess_of(own, rows) <= 1.0
            takes.append(part.volumes * int(np.argmax(met)) if met.any() else None)
        expected.append(None if None in takes else sum(take or 0 for take in takes))
    assert [classic_aliases(pool, target) for pool in pools] == expected
    assert any(expected)


@pytest.mark.long
def test_a_volume_that_fails_leaves_the_other_pools_their_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pools = measured(runs_of(tmp_path, HEADER, *subsystem_lines(3)))
    whole = sizing.subsystem(pools, DEVICE)
    unlucky = read_as(pools[1].runs[0]).preferred.main

    def failing(asked: Pool, target: Target) -> int | None:
        if asked.bases == unlucky.bases and asked.service_time == unlucky.service_time:
            raise ConvergenceError("a volume", 1.0, 10)
        return classic_aliases(asked, target)

    monkeypatch.setattr(pool_module, "classic_aliases", failing)
    found = sizing.subsystem(pools, DEVICE)
    assert (found.pools[0], found.pools[2]) == (whole.pools[0], whole.pools[2])
    assert found.pools[1].recommended is None
    assert "a volume" in str(found.pools[1].problem)
    assert found.pools[1].now == whole.pools[1].now
    assert found.exit_code == ConvergenceError.exit_code


@pytest.mark.long
def test_sums_are_over_the_pools(tmp_path: Path) -> None:
    answer = sizing.subsystem(measured(runs_of(tmp_path, HEADER, *subsystem_lines(2))), PLAIN)
    total = answer.total()
    assert total.recommended == sum(pool.recommended or 0 for pool in answer.pools)
    assert total.saved == sum(pool.saved or 0 for pool in answer.pools)
    assert total.now is not None
    present = sum(pool.now.io_rate * pool.now.response_time for pool in answer.pools if pool.now)
    assert total.now.io_rate * total.now.response_time == pytest.approx(present)
    assert answer.to_dict()["all"]["io_rate"] == total.now.io_rate
    assert len(answer.table()) == 2


def test_an_overloaded_pool_is_told_what_would_do(tmp_path: Path) -> None:
    (run,) = runs_of(tmp_path, "pool,volume,io_rate,service_ms", "1,A,900,1.3", "1,B,100,1.3")
    answer = sizing.subsystem(measured([run]), PLAIN)
    (pool,) = answer.pools
    assert pool.now is not None and pool.now.response_time == np.inf
    assert pool.recommended is not None and pool.recommended >= 1
    assert pool.then is not None and np.isfinite(pool.then.response_time)
    assert pool.rule_of_thumb is None
    assert answer.exit_code == 0


@pytest.mark.long
def test_a_pool_without_an_answer_stays_in_its_place(tmp_path: Path) -> None:
    lines = ("1,A,400,1.3", "2,A,90000,1.3", "3,A,0,")
    path = tmp_path / "volumes.csv"
    path.write_text("\n".join(["pool,volume,io_rate,service_ms", *lines]) + "\n", encoding="utf-8")
    pools = [
        sizing.MeasuredPool(
            name=found.name, volumes=found.volumes, aliases=0, runs=() if found.run is None else (found.run,)
        )
        for found in pool_runs(intervals(read(path))[0])[0]
    ]
    answer = sizing.subsystem(pools, DEVICE)
    assert [pool.name for pool in answer.pools] == ["1", "2", "3"]
    assert [pool.recommended is None for pool in answer.pools] == [False, True, False]
    assert answer.pools[2].recommended == 0
    assert answer.exit_code == 1
    assert "grows without bound" in answer.text()


def test_nothing_to_answer_is_refused() -> None:
    with pytest.raises(InputError, match="at least one pool"):
        sizing.subsystem([], DEVICE)
    with pytest.raises(InputError, match="growth"):
        sizing.subsystem([sizing.MeasuredPool(name="1", volumes=1, aliases=0, runs=())], DEVICE, growth=-1)


@pytest.mark.slow
def test_many_pools_are_solved_together_and_each_at_few_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand pools cost what each costs: counted, not timed."""
    runs = runs_of(tmp_path, HEADER, *subsystem_lines(26))
    rounds: list[int] = []
    solve = pool_module.solve_pools

    def counting(
        pools: Sequence[Pool], counts: Sequence[np.ndarray], *, marks: bool = False
    ) -> list[Performance | PlannerError]:
        rounds.append(sum(map(np.size, counts)))
        return solve(pools, counts, marks=marks)

    monkeypatch.setattr(pool_module, "solve_pools", counting)
    sized = size([(run,) for run in runs], DEVICE, Target(), [0.0] * len(runs))
    assert [each.found_count for each in sized if isinstance(each, SizedPool)].count(None) == 0
    assert len(rounds) <= 12 and max(rounds) == len(runs)
    assert sum(rounds) <= 6 * len(runs)


@pytest.mark.long
def test_the_picture_shows_counts_in_use_and_recommended(tmp_path: Path) -> None:
    answer = sizing.subsystem(measured(runs_of(tmp_path, HEADER, *subsystem_lines(2))), PLAIN)
    axes = answer.plot()
    assert axes.get_xlabel() == "aliases"
    rows = len(answer.pools)
    needed = [line.get_xdata()[0] for line in axes.lines[2 : 4 * rows : 4]]
    assert sorted(needed) == sorted(pool.recommended for pool in answer.pools)
