"""The one question: numbers with their digits, what excludes each other, and the sums of many answers."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from planner import aliases, sizing
from planner.demand import Target
from planner.errors import InputError
from planner.render.text import ENOUGH
from planner.sizing.answer import AliasAnswer
from planner.sizing.gaps import Gaps
from planner.sizing.many_pools import PoolCount, Subsystem, Traffic, changes_of
from planner.sizing.many_volumes import VolumesAnswer
from planner.sizing.question import numbers_of, quantity, rows_of, run_of


@pytest.mark.parametrize(
    ("given", "dimension", "parts", "ends"),
    [
        ("755/s", "rate", 1, (754.5, 755.0, 755.5)), ("755.0/s", "rate", 1, (754.95, 755.0, 755.05)),
        ("1.3ms", "time", 1, (1.25e-3, 1.3e-3, 1.35e-3)), ("1.3ms", "time", 3, (1.15e-3, 1.3e-3, 1.45e-3)),
        ("1.84", None, 1, (1.835, 1.84, 1.845)), (0.1, None, 1, (0.05, 0.1, 0.15)), (0.0, None, 1, (0.0, 0.0, 0.05)),
        (755.0, "rate", 1, (754.95, 755.0, 755.05)), ("1ms", "time", 3, (0.5e-3, 1e-3, 2.5e-3)),
    ],
)  # fmt: skip
def test_a_number_is_known_to_half_a_unit_of_its_last_digit(
    given: Any, dimension: Any, parts: int, ends: tuple[float, float, float]
) -> None:
    """Each of several rounded parts by as much; a rate or a time is at least half of what is printed."""
    assert tuple(quantity(given, dimension, "it", parts)) == pytest.approx(ends)


@pytest.mark.parametrize(
    ("given", "dimension", "problem"),
    [(0.0, "rate", "greater than zero"), (-1.0, "time", "greater than zero"), ([1], None, "a number of zero or more"),
     ("3", "time", "unit"), (np.inf, "rate", "greater than zero, and finite"), (np.inf, "time", "and finite"),
     (np.inf, None, "zero or more, and finite"), (-1.0, None, "zero or more"), (b"3ms", "time", "such as 1.3ms")],
)  # fmt: skip
def test_what_is_no_number_is_refused(given: Any, dimension: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        quantity(given, dimension, "it")


def test_arrays_are_many_volumes_and_single_numbers_stand_beside_them() -> None:
    rows = rows_of(
        numbers_of(
            rate=[700.0, 800.0, None],
            service="1.3ms",
            queue=np.array([0.5, np.nan, 0.1]),
            in_use=[1.0, 0, None],
        )
    )
    assert rows == [
        {"rate": 700.0, "service": "1.3ms", "queue": 0.5, "in_use": 1},
        {"rate": 800.0, "service": "1.3ms", "in_use": 0}, {"service": "1.3ms", "queue": 0.1},
    ]  # fmt: skip
    assert rows_of(numbers_of(rate="755/s")) is None
    assert [*numbers_of(rate="755/s", queue=1.0)] == ["rate", "queue"]
    labelled = pd.Series([700.0, 800.0], index=[7, 8])
    assert rows_of(numbers_of(rate=labelled)) == [{"rate": 700.0}, {"rate": 800.0}]
    with pytest.raises(InputError, match=r"rate and queue = '2 of rate, 1 of queue'"):
        rows_of(numbers_of(rate=[1.0, 2.0], queue=[1.0]))
    with pytest.raises(InputError, match=r"in_use = 1\.5: expected whole numbers"):
        rows_of(numbers_of(in_use=[1.5]))


@pytest.mark.parametrize("missing", [None, math.nan, np.float32("nan"), np.ma.masked, pd.NA])
def test_what_is_missing_is_not_measured_however_it_is_written(missing: Any) -> None:
    """Under the mask of an array stands a number that nobody measured."""
    alone = numbers_of(rate=755.0, service=1.3e-3, queue=missing, in_use=missing)
    rows = rows_of(numbers_of(rate=[8.2, 755.0], service=1.3e-3, queue=[0.1, missing], in_use=[1, missing]))
    assert rows is not None and alone == rows[1] == {"rate": 755.0, "service": 1.3e-3}


def test_a_masked_array_has_the_rows_of_one_with_nan() -> None:
    masked = np.ma.masked_array([1.84, 0.0, 0.9], [False, True, False])
    named = rows_of(numbers_of(rate=[755.0, 800.0, 600.0], queue=masked))
    assert named == rows_of(numbers_of(rate=[755.0, 800.0, 600.0], queue=masked.filled(np.nan)))
    assert named is not None and "queue" not in named[1]


@pytest.mark.parametrize("number", [755.0, 1.84, 0.0013, 0.1, 300.7, 9999.0])
def test_a_number_of_fewer_bits_has_the_digits_that_it_prints(number: float) -> None:
    assert quantity(np.float32(number), "time", "service") == quantity(number, "time", "service")


@pytest.mark.parametrize("given", [b"755", {755.0}, {"a": 755.0}])
def test_what_has_no_order_is_no_array(given: Any) -> None:
    numbers = numbers_of(rate=given, service="1.3ms")
    assert rows_of(numbers) is None
    with pytest.raises(InputError, match=r"rate = .*: expected a rate such as 755/s"):
        run_of(numbers, pool=False)


@pytest.mark.long
@pytest.mark.parametrize("pool", [False, True])
def test_response_and_queue_leave_the_service_time_as_in_a_table(pool: bool) -> None:
    """700/s of which 1.4 wait are 2 ms each (Little's law), of 3.1 ms; a table of the same numbers says so too."""
    table = pl.DataFrame({"volume": ["A"], "io_rate": [700.0], "response_ms": [3.1], "queued": [1.4]})
    typed = aliases(rate=700.0, response=3.1e-3, queue=1.4, kind="pool" if pool else "volume")
    read = aliases(table, kind="pool" if pool else "volume")
    assert isinstance(typed, AliasAnswer)
    assert isinstance(read, AliasAnswer)
    assert (typed.recommended, typed.range) == (read.recommended, read.range)
    assert typed.assumed.startswith("Service time was not measured: 1.1 ms taken")


@pytest.mark.parametrize("hundredths", range(3, 400, 17))
def test_a_time_that_was_computed_from_milliseconds_has_their_digits(hundredths: int) -> None:
    typed, computed = (
        quantity(each, "time", "service") for each in (f"{hundredths / 100:.2f}ms", hundredths / 100 / 1000)
    )
    assert computed.value == pytest.approx(typed.value, rel=1e-12)
    # a number has no zeros at its end
    assert (computed.high - computed.value) / (typed.high - typed.value) == pytest.approx(
        10.0 if hundredths % 10 == 0 else 1.0
    )


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            {"rate": 1e-300, "service": "1.3ms"},
            "rate = 1e-300 1/s: expected at least 1e-09 1/s: with less a device",
        ),
        ({"rate": "1e-150/s", "service": "1.3ms"}, "rate = 1e-150 1/s: expected at least 1e-09 1/s"),
        ({"rate": "755/s", "service": 1e-300}, "service = 1e-300 s: expected at least 1e-12 s"),
    ],
)
def test_a_load_too_small_for_any_law_is_named_as_it_was_typed(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=re.escape(problem)):
        aliases(**given, queue=1.84)
    every = aliases(**{name: [value, {"rate": 200, "service": 1e-3}[name]] for name, value in given.items()})
    assert problem in every.rows[0].problem
    assert every.rows[1].recommended is not None


def test_numbers_are_one_measurement() -> None:
    run = run_of(numbers_of(rate="755/s", service="1.3ms", queue="1.84", in_use=2, volumes=3), pool=True)
    assert (run.bases, run.aliases, run.pool) == (3, 2, True)
    assert run.service.low[0] == pytest.approx(1.15e-3)  # the sum of three rounded parts
    assert run.io_rate.low[0] == pytest.approx(754.5)
    assert run.notes == ()
    alone = run_of(numbers_of(rate="755/s", service="1.3ms"), pool=False)
    assert (alone.bases, alone.aliases, alone.queue_known) == (1, 0, False)
    assert len(alone.notes) == 1
    for given, problem in (
        ({"service": "1.3ms"}, "rate is not given: expected a quantity such as 755/s"),
        (
            {"rate": "755/s"},
            "service is not given: expected a quantity such as 1.3ms; it, or response and queue, is needed",
        ),
        (
            {"rate": "700/s", "response": "3.1ms", "queue": "3.4"},
            r"response = 3\.1 ms: expected above the wait, which queue over rate makes 4\.857 ms",
        ),
        ({"rate": "755/s", "service": "1.3ms", "volumes": 0}, "volumes = 0: expected a count of at least 1"),
        ({"rate": "755/s", "service": "1.3ms", "in_use": -1}, "in_use = -1: expected a count of at least 0"),
    ):
        with pytest.raises(InputError, match=problem):
            run_of(numbers_of(**given), pool=False)


NUMBERS = {"rate": "755/s", "service": "1.3ms", "queue": "1.84"}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({**NUMBERS, "kind": "disk"}, "kind = 'disk': expected volume or pool"),
        (
            {**NUMBERS, "target": Target(), "wait": "1ms", "queued": 1.0},
            "expected it, or wait, queued: they exclude",
        ),
        ({**NUMBERS, "target": "1ms"}, "a planner.Target"),
        ({**NUMBERS, "device": "522A"}, "device = '522A': expected a file beside it"),
        ({**NUMBERS, "interval": "worst"}, "interval = 'worst': expected a file beside it"),
        ({**NUMBERS, "source": "x.csv"}, "rate and service and queue|rate and queue"),
        ({"source": "x.csv", "members": "m.csv", "bases": "522A"}, "it, or the bases and aliases"),
        ({**NUMBERS, "floor": -1.0}, "I/Os of zero or more"),
        ({**NUMBERS, "growth": "-10%"}, "growth"),
    ],
)
def test_what_excludes_each_other_is_told(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        sizing.question.aliases(**given)


def traffic(rate: float, response: float, queued: float, service: float = 1e-3) -> Traffic:
    return Traffic(io_rate=rate, response_time=response, queued=queued, service_time=service)


def pool(name: str, needed: int | None, in_use: int, **more: Any) -> PoolCount:
    known = {"name": name, "volumes": 4, "in_use": in_use, "recommended": needed, "rule_of_thumb": 3, "classic": 9,
             "range": None if needed is None else (needed - 1, needed + 2), "now": traffic(100.0, 5e-3, 1.0),
             "then": traffic(120.0, 2e-3, 0.1), **more}  # fmt: skip
    return PoolCount(**known)


def site(*pools: PoolCount, **more: Any) -> Subsystem:
    return Subsystem(pools=pools, target=Target(), **more)


def test_a_site_is_the_sum_of_its_pools_its_response_weighted_by_rate() -> None:
    found = site(
        pool("P1", 5, 2), pool("P2", 3, 8, now=traffic(300.0, 1e-3, 0.5), volumes=6), pool("P3", None, 7)
    )
    total = found.total()
    assert (total.volumes, total.in_use, total.recommended, total.range) == (10, 10, 8, (6, 12))
    assert (total.rule_of_thumb, total.classic, total.saved) == (6, 18, 10)
    assert total.now is not None
    assert total.then is not None
    assert (total.now.io_rate, total.now.queued) == (400.0, 1.5)
    assert total.now.response_time == pytest.approx((100 * 5e-3 + 300 * 1e-3) / 400)
    assert found.headline == (
        "3 pools, 14 volumes: 8 aliases (range 6 to 12), 10 in use; 1 pool has no answer. I/O rate 400 to 240/s, "
        "response 2.00 to 2.00 ms."
    )
    assert found.changes == [("P1", 3), ("P2", -3)]
    assert changes_of([pool("P4", 2, 2)]) == []
    assert site(pool("P1", 5, 2, rule_of_thumb=None)).total().rule_of_thumb is None
    assert site(pool("P1", 5, 2, classic=None)).total().classic is None
    assert (
        site(pool("P1", 5, 2, grouping_error=0.1), pool("P2", 5, 2, grouping_error=0.3))
        .total()
        .grouping_error
        == 0.3
    )
    assert Traffic.summed([None, None]) is None
    assert "I/O rate" not in site(pool("P1", 5, 2, now=traffic(100.0, math.inf, 1.0))).headline
    same = site(pool("P1", 5, 2, then=traffic(100.0, 2e-3, 0.1)))
    assert "I/O rate 100/s as before, response 5.0" in same.headline
    assert "(range 5)" in site(pool("P1", 5, 2, range=(5, 5))).headline
    large = site(*(pool(f"P{k}", 200, 100, range=(150, 250)) for k in range(10))).headline
    assert "2,000 aliases (range 1,500 to 2,500), 1,000 in use" in large


def test_notes_of_a_site_say_what_to_move_and_what_is_left_out() -> None:
    found = site(pool("P1", 5, 2), pool("P2", 3, 8), pool("P3", 1, 4), pool("P4", None, 7, problem="pool P4: too much"),
                 growth=0.25)  # fmt: skip
    notes = found.notes
    for said in ("Demand grown by 25 % first.", "3 to add in 1 pool.", "4 can be freed, from 2 pools.",
                 "Classic PAV would take 27 aliases for the same target: the pools save 18 device numbers.",
                 "Pool P4: too much.", "The sums leave out 1 pool without an answer."):  # fmt: skip
        assert said in notes
    assert not [line for line in notes if "Nearly equal" in line or "Perhaps no alias" in line]
    rough = site(pool("P1", 5, 5, grouping_error=0.02, classic=5)).notes
    assert (
        "Nearly equal volumes are taken as one class: the wait of a volume may be off by about 2 %." in rough
    )
    assert not [line for line in rough if "Classic" in line or "add in" in line or "elsewhere" in line]
    assert [
        line
        for line in site(pool("P1", 5, 5, grouping_error=math.inf)).notes
        if line.endswith("off by more.")
    ]
    assert not [line for line in site(pool("P1", 5, 5, grouping_error=0.004)).notes if "Nearly" in line]
    many = site(pool("P1", 50, 2, notes=("one thing.",)), pool("P2", 3, 3, notes=("one thing",))).notes
    assert "One thing (all pools)." in many
    assert [
        line
        for line in many
        if line.startswith("Perhaps no alias problem: P1 (48 more aliases, over twice those")
    ]
    slow = site(pool("IBM.750000000TH031.c280", 50, 2, then=traffic(100.0, 2e-3, 0.1, 2e-3))).notes
    (said,) = [line for line in slow if line.startswith("Perhaps no alias problem")]
    assert "those in use; the service time grows by 100 %). Before" in said


def test_the_code_of_a_site_is_the_worst_of_its_pools_and_gaps() -> None:
    assert site(pool("P1", 5, 2)).exit_code == 0
    assert site(pool("P1", None, 2, exit_code=1), pool("P2", 3, 3)).exit_code == 1
    assert site(pool("P1", 5, 2), gaps={"P1": Gaps(volumes=("A",), of=4)}).exit_code == 2
    known = site(pool("P1", 5, 2), gaps={"P1": Gaps(volumes=("A",), of=4, allowed=True)})
    assert known.exit_code == 0
    assert known.headline.startswith(
        "Pool P1: 1 of 4 volumes could not be read: by the other rows what follows. 1 pool, "
    )


@pytest.fixture(scope="module")
def volumes() -> VolumesAnswer:
    """Six volumes: two wait, one has more than it needs, one rests, one is hardly there, one has no queue measured."""
    found = sizing.question.aliases(
        rate=[755.0, 600.0, 300.0, 100.0, 2.0, 400.0], service=[1.3e-3, 1.4e-3, 1e-3, 1e-3, 1e-3, 1e-3],
        queue=[1.84, 0.9, 0.001, 0.0, 0.0, np.nan], in_use=[0, 0, 4, 0, 0, 0],
    )  # fmt: skip
    assert isinstance(found, VolumesAnswer)
    return found


@pytest.mark.long
def test_the_first_line_counts_the_volumes_of_each_verdict(volumes: VolumesAnswer) -> None:
    verdicts = [row.verdict for row in volumes.rows]
    gaining = [row for row in volumes.rows if row.verdict in ("gains", "saturated")]
    assert len(gaining) == 3
    more = sum((row.recommended or 0) - row.in_use for row in gaining)
    low, high = (sum(max((row.range or (0, 0))[k] - row.in_use, 0) for row in gaining) for k in (0, 1))
    assert f"3 gain from {more} aliases more in all ({low} to {high})" in volumes.headline
    assert volumes.headline.startswith("6 volumes: ")
    large = replace(volumes, rows=volumes.rows * 2000).headline
    assert f"6,000 gain from {2000 * more:,} aliases more in all ({2000 * low:,} to {2000 * high:,})" in large
    said = {
        "could spare": ("could spare some", "could spare some"), "does not wait": ("does not wait", "do not wait"),
        "waits little": ("waits little", "wait little"), "below the floor": ("is too quiet to matter", "are too quiet"),
    }  # fmt: skip
    for verdict, (one, many) in said.items():
        count = verdicts.count(verdict)
        assert (f"{count} {one if count == 1 else many}" in volumes.headline) == (count > 0)
    assert verdicts[4] == "below the floor"
    assert [row.name for row in volumes.below] == [volumes.rows[4].name]
    assert [
        line
        for line in volumes.notes
        if line.startswith("Not listed: 1 volume with fewer than 0.05 I/Os queued")
    ]
    assert volumes.exit_code == 0
    ranks = [row.rank for row in volumes.listed]
    assert ranks == sorted(ranks, reverse=True)
    assert set(volumes.listed) == {row for row in volumes.rows if row.recommended is not None}
    missing = replace(volumes, gaps=Gaps(volumes=("A",), of=7))
    assert missing.headline.startswith("1 of 7 volumes could not be read. 6 volumes: ")
    assert missing.exit_code == 2
    first = replace(volumes, rows=volumes.rows[:1])
    assert "1 volume: 1 gains from " in first.headline


@pytest.mark.long
def test_many_volumes_are_answered_as_each_of_them_alone(volumes: VolumesAnswer) -> None:
    alone = sizing.question.aliases(rate=600.0, service=1.4e-3, queue=0.9)
    row = volumes.rows[1]
    assert (row.recommended, row.range) == (alone.recommended, alone.range)  # type: ignore[union-attr]
    assert row.now is not None
    assert row.then is not None
    assert row.now.io_rate == 600.0
    assert row.now.response_time == pytest.approx(1.4e-3 + 0.9 / 600)
    assert row.then.response_time < row.now.response_time


@pytest.mark.long
def test_a_quiet_pool_among_others_is_not_short() -> None:
    """As it is alone; a floor of zero adds what the digits seem to ask for."""
    table = pl.DataFrame({
        "device": ["A", "B"], "pool": ["P1", "P2"], "aliases": [0, 0], "io_rate": [5.1, 400.0],
        "service_ms": [0.6, 1.3], "queued": [0.02, 0.5],
    })  # fmt: skip
    among, counted = aliases(table, kind="pool"), aliases(table, kind="pool", floor=0.0)
    assert [name for name, _ in among.changes] == ["P2"] and "pool P1; --floor 0" in "".join(among.notes)
    assert [name for name, _ in counted.changes] == ["P1", "P2"]
    alone = aliases(table[:1], kind="pool")
    assert (alone.changes, alone.count.verdict) == ([], ENOUGH)


@pytest.mark.long
def test_volumes_without_io_are_counted_and_named_and_change_nothing() -> None:
    table = pl.DataFrame({
        "device": ["A1", "A2", "A3", "A4"], "io_rate": [100.0, 0.0, 700.0, 0.0], "service_ms": [1.0, 0.0, 1.2, None],
        "queued": [0.05, 0.0, 1.2, None],
    })  # fmt: skip
    busy = table.filter(pl.col("io_rate") > 0)
    note = "Without I/O, hence no alias needed: 2 volumes (00A2, 00A4)."
    whole, part, ranged = (aliases(some, kind="volume", **asked) for some, asked in (  # type: ignore[arg-type]
        (table, {}), (busy, {}), (table, {"device": "A1-A4"}),
    ))  # fmt: skip
    for each in (whole, ranged):
        assert [line for line in each.notes if line not in part.notes] == [note]
        assert each.headline == part.headline
    alone = aliases(table[1:], kind="volume")
    assert isinstance(alone, AliasAnswer) and note in alone.notes
    for idle in (table[1::2], table):
        none = aliases(idle, kind="volume", device="A2,A4")
        assert (none.exit_code, none.headline) == (0, "No I/O: no alias is needed.") and note in none.notes
        assert none.to_dict()["volumes"] == [] and not any("Next" in line for line in none.notes)
