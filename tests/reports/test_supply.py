"""Supply counters: exact steps over wraps, restarts and gaps, pools that come and go, damage named by its place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import measurements
from planner.errors import ReportError
from planner.measurements.over_time import pool_supplies, read_supplies
from planner.reports.csv_table import read_csv
from planner.reports.supply import COUNTER_SIZE, WHAT, Backwards, PoolSupply, read_counters, steps

HEADER = "time,pool,IODHPP_HPPTRIES,IODHPP_HPPFAILS,IODHPP_HPPMINCT,IODHPP_HPPMAXCT,aliases"


def written(tmp_path: Path, *rows: str, header: str = HEADER) -> Path:
    path = tmp_path / "counters.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def read_supply(path: Path) -> tuple[PoolSupply, ...]:
    supply = read_counters(read_csv(path, (), WHAT)).supply
    assert supply is not None
    return pool_supplies(supply, path)


def read(tmp_path: Path, *rows: str) -> tuple[PoolSupply, ...]:
    return read_supply(written(tmp_path, *rows))


def test_steps_between_records(tmp_path: Path) -> None:
    (pool,) = read(tmp_path, "0,3,100,10,0,4,8", "60,3,1100,12,1,8,8", "120,3,1500,12,2,7,8")
    assert pool.tries.tolist() == [1000, 400]
    assert pool.fails.tolist() == [2, 0]
    assert pool.fewest.tolist() == [1, 2]
    assert pool.most.tolist() == [8, 7]
    assert pool.time.tolist() == [60.0, 120.0]
    assert pool.plain.all()
    assert pool.in_use == 8


def test_wrap_of_each_counter(tmp_path: Path) -> None:
    (pool,) = read(
        tmp_path, "0,3,4294965296,4294965000,0,8,8", "60,3,4294966296,4294966000,0,8,8",
        "120,3,4294967290,4294966900,0,8,8", "180,3,994,604,0,8,8",
    )  # fmt: skip
    assert pool.tries.tolist() == [1000, 994, 1000]
    assert pool.fails.tolist() == [1000, 900, 1000]
    assert not pool.restarted.any()


def test_fails_may_stand_above_tries_once_tries_has_wrapped(tmp_path: Path) -> None:
    rows = ("0,3,4294966296,900000,0,8,8", "60,3,4294967290,900100,0,8,8", "120,3,994,900200,0,8,8")
    (pool,) = read(tmp_path, *rows)
    assert pool.tries.tolist() == [994, 1000]
    assert pool.fails.tolist() == [100, 100]
    after = ("0,3,994,900200,0,8,8", "60,3,1994,900300,0,8,8", "120,3,2994,900400,0,8,8")
    (pool,) = read(tmp_path, *after)  # it wrapped before the file begins
    assert pool.tries.tolist() == [1000, 1000]
    assert pool.fails.tolist() == [100, 100]


def test_restart_counts_what_was_counted_since(tmp_path: Path) -> None:
    rows = ("0,3,5000,400,0,8,8", "60,3,6000,500,0,8,8", "120,3,700,30,0,8,8", "180,3,1700,40,0,8,8")
    (pool,) = read(tmp_path, *rows)
    assert pool.tries.tolist() == [1000, 700, 1000]
    assert pool.fails.tolist() == [100, 30, 10]
    assert pool.restarted.tolist() == [False, True, False]
    assert pool.plain.tolist() == [True, False, True]


def test_missing_records_leave_the_counts_and_say_so(tmp_path: Path) -> None:
    rows = [f"{60 * k},3,{1000 * k},0,1,8,8" for k in (0, 1, 2, 5, 6)]
    (pool,) = read(tmp_path, *rows)
    assert pool.tries.tolist() == [1000, 1000, 3000, 1000]
    assert pool.plain.tolist() == [True, True, False, True]


def test_pools_come_and_go(tmp_path: Path) -> None:
    rows = ["0,1,0,0,1,2,4", "60,1,10,0,1,2,4", "60,10,7,0,1,2,4", "120,10,9,1,1,2,4", "120,2,5,0,1,2,4"]
    one, ten = read(tmp_path, *rows)
    assert (one.pool, ten.pool) == ("1", "10")
    assert one.tries.tolist() == [10]
    assert ten.tries.tolist() == [2]
    said, _ = read_supplies(tmp_path / "counters.csv")
    assert said.notes[0].endswith("pool 2 has one record only; two are needed to see what it counts.")


def test_columns_in_any_order_times_as_dates(tmp_path: Path) -> None:
    path = tmp_path / "counters.csv"
    names = HEADER.split(",")[::-1]
    path.write_text(
        ",".join([*names, "other"])
        + "\n8,8,1,0,100,A,2007-05-27T23:59:00,x\n8,8,1,1,300,A,2007-05-28 00:00:00,y\n",
        encoding="utf-8",
    )
    (pool,) = read_supply(path)
    assert pool.length.tolist() == [60.0]
    assert pool.tries.tolist() == [200]
    assert pool.start is not None


BAD = {
    "empty": ((), None, "an empty file", 1, 1),
    "backwards": (("0,3,1000,0,1,8,8", "60,3,2000,0,1,8,8", "120,3,1900,0,1,8,8"), HEADER, "runs backwards", 4, 7),
    "backwards beside fails that go on": (
        ("0,3,1000,5,0,8,8", "60,3,2000,9,0,8,8", "120,3,100,12,0,8,8"), HEADER, "runs backwards", 4, 7,
    ),
    "fails backwards": (
        ("0,3,1000,50,0,8,8", "60,3,2000,90,0,8,8", "120,3,3000,70,0,8,8"), HEADER, "IODHPP_HPPFAILS", 4, 12,
    ),
    "a digit lost": (
        ("0,3,4293000000,0,1,8,8", "60,3,493010000,0,1,8,8", "120,3,4293020000,0,1,8,8"),
        HEADER, "at most 2,000,000 a second", 3, 6,
    ),
    "two records backwards": (("0,3,2000,0,1,8,8", "60,3,1900,0,1,8,8"), HEADER, "runs backwards", 3, 6),
    "counts since the record before": (
        tuple(f"{60 * k},3,{n},0,1,8,8" for k, n in enumerate((50, 100, 40, 90, 30, 70))),
        HEADER, "starts again in 2 of 5", 4, 7,
    ),
    "more fails than tries since a restart": (
        ("0,3,5000,400,0,8,8", "60,3,6000,500,0,8,8", "120,3,100,300,0,8,8"), HEADER, "rose by 300", 4, 11,
    ),
    "more fails than tries": (("0,3,1000,0,1,8,8", "60,3,1010,11,1,8,8"), HEADER, "rose by 11", 3, 11),
    "MINCT above aliases": (("0,3,10,0,1,8,8", "60,3,20,0,9,9,8"), HEADER, "above the number of aliases", 3, 11),
    "MAXCT above aliases": (("0,3,10,0,1,8,8", "60,3,20,0,7,9,8"), HEADER, "IODHPP_HPPMAXCT 9", 3, 13),
    "same time": (("0,3,10,0,1,8,8", "0,3,20,0,1,8,8"), HEADER, "the same as in line 2", 3, 1),
    "unordered": (("60,3,10,0,1,8,8", "0,3,20,0,1,8,8"), HEADER, "earlier than in line 2", 3, 1),
    "no rows": ((), HEADER, "no rows", 1, None),
    "one record": (("60,3,10,0,1,8,8",), HEADER, "expected two records", 2, 1),
    "missing columns": (("60,3",), "time,pool", "missing IODHPP_HPPTRIES, IODHPP_HPPFAILS", 1, 10),
    "column twice": (("60,3",), HEADER + ",pool", "a second column pool", 1, len(HEADER) + 2),
    "short row": (("0,3,10,0,1,8,8", "60,3,20"), HEADER, "3 cells: expected 7", 3, 8),
    "long row": (("0,3,10,0,1,8,8,9", "60,3,20,0,1,8,8"), HEADER, "8 cells", 2, 16),
    "no number": (("0,3,10,0,1,8,8", "60,3,2e1,0,1,8,8"), HEADER, "'2e1'", 3, 6),
    "negative": (("0,3,-10,0,1,8,8", "60,3,20,0,1,8,8"), HEADER, "'-10'", 2, 5),
    "33 bits": (("0,3,4294967296,0,1,8,8", "60,3,20,0,1,8,8"), HEADER, "4294967295", 2, 5),
    "no time": (("noon,3,10,0,1,8,8", "60,3,20,0,1,8,8"), HEADER, "'noon'", 2, 1),
    "mixed times": (("0,3,10,0,1,8,8", "2007-05-27T00:00:00,3,20,0,1,8,8"), HEADER, "like the first one", 3, 1),
    "too many aliases": (("0,3,10,0,1,8,256", "60,3,20,0,1,8,8"), HEADER, "'256'", 2, 14),
    "empty pool": (("0,,10,0,1,8,8", "60,3,20,0,1,8,8"), HEADER, "expected a name", 2, 3),
    "open quotation": (("0,\"3,10,0,1,8,8", "60,3,20,0,1,8,8"), HEADER, "no CSV|not closed", 2, 1),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_damage_is_named_by_line_and_column(case: str, tmp_path: Path) -> None:
    rows, header, words, line, column = BAD[case]
    path = tmp_path / "counters.csv"
    path.write_text("" if header is None else "\n".join([header, *rows]) + "\n", encoding="utf-8")
    with pytest.raises(ReportError, match=words) as caught:
        read_supply(path)
    assert caught.value.line == line
    assert column is None or caught.value.column == column


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "counters.csv"
    path.write_bytes(HEADER.encode() + b"\n0,3,\xff\n")
    with pytest.raises(ReportError, match="UTF-8") as caught:
        read_supply(path)
    assert (caught.value.line, caught.value.column) == (2, 5)


@given(
    st.integers(0, COUNTER_SIZE - 1),
    st.lists(st.tuples(st.integers(1, 100_000), st.floats(1.0, 5.0)), min_size=3, max_size=12),
    st.floats(1e-3, 600.0),
)
def test_counters_that_only_wrap_give_back_what_was_counted(
    first: int, drawn: list[tuple[int, float]], length: float
) -> None:
    """Rates lie within a factor of five."""
    counted = [count for count, _ in drawn]
    total = (first + np.concatenate([[0], np.cumsum(counted)])) % COUNTER_SIZE
    elapsed = length * np.array([count * slower for count, slower in drawn])
    found, restarted = steps(total[None, :], elapsed)
    assert found[0].tolist() == counted
    assert not restarted.any()


def test_a_counter_that_falls_has_wrapped_where_it_is_no_more_than_ten_times_as_fast() -> None:
    """1,000 in a minute, then past 2**32 in the next: 9,000 are a wrap, 12,000 are not."""
    before = COUNTER_SIZE - 5_000
    found, restarted = steps(np.array([[before - 1_000, before, 4_000]]), np.full(2, 60.0))
    assert found[0].tolist() == [1_000, 9_000] and not restarted.any()
    with pytest.raises(Backwards):  # nor did it begin anew: 7,000 since then are more than it ever counted
        steps(np.array([[before - 1_000, before, 7_000]]), np.full(2, 60.0))


@given(st.lists(st.integers(1, 1000), min_size=3, max_size=12), st.data())
def test_a_counter_lowered_a_little_is_refused(counted: list[int], data: st.DataObject) -> None:
    total = 1_000_000 + np.concatenate([[0], np.cumsum(counted)])
    at = data.draw(st.integers(1, total.size - 1))
    total[at] = total[at - 1] - data.draw(st.integers(1, 1000))
    with pytest.raises(Backwards):
        steps(np.array([total]), np.full(total.size - 1, 60.0))


def test_counters_of_two_systems_are_refused_and_one_is_named(tmp_path: Path) -> None:
    """Each system counts by itself: rows of two under one pool would be steps from one to the other."""
    rows = ["VM1,0,3,100,10,0,4,8", "VM1,60,3,1100,12,1,8,8"]
    found = measurements.read(written(tmp_path, *rows, header=f"system,{HEADER}")).supply
    assert found["system"].to_list() == ["VM1"]
    path = written(tmp_path, *rows, "VM2,61,3,1200,12,1,8,8", header=f"system,{HEADER}")
    with pytest.raises(
        ReportError, match=r"line 4, column 1: system is 'VM2', and 'VM1' in line 2: .* a file each"
    ):
        read_supply(path)
