"""Verdicts on supply counters: the report's rules, targets, what is left out, and the picture."""

from __future__ import annotations

import re
from dataclasses import replace
from heapq import heappop, heappush

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from planner.errors import InputError
from planner.reports.supply import PoolSupply
from planner.supply import SupplyAnswer, judge
from planner.supply.picture import fail_shares


def counters(
    tries: list[int], fails: list[int], fewest: list[int], aliases: int = 8, most: list[int] | None = None
) -> PoolSupply:
    count = len(tries)
    return PoolSupply(
        pool="3", start=None, time=60.0 * np.arange(1, count + 1), length=np.full(count, 60.0),
        tries=np.array(tries, dtype=np.int64), fails=np.array(fails, dtype=np.int64),
        fewest=np.array(fewest, dtype=np.int64),
        most=np.array(most or [aliases] * count, dtype=np.int64), aliases=np.full(count, aliases), in_use=aliases,
        restarted=np.zeros(count, dtype=bool), plain=np.ones(count, dtype=bool),
    )  # fmt: skip


ENOUGH = counters([1000] * 30, [0] * 30, [1] * 30)
NOT_ENOUGH = counters([1000] * 30, [200, 220, 180] * 10, [0] * 30)
TOO_MANY = counters([1000] * 30, [0] * 30, [5] * 30)


@pytest.mark.parametrize(
    ("pool", "verdict"), [(ENOUGH, "enough"), (NOT_ENOUGH, "not enough"), (TOO_MANY, "too many")]
)
def test_the_rules_of_the_report(pool: PoolSupply, verdict: str) -> None:
    """Fails stand still: enough. Both rise: not enough. MINCT always large: too many."""
    (answer,) = judge([pool]).pools
    assert answer.verdict == verdict


@pytest.mark.long
def test_what_is_needed_agrees_with_what_was_counted() -> None:
    enough, short, surplus = judge([ENOUGH, NOT_ENOUGH, TOO_MANY]).pools
    assert enough.aliases_needed is not None and 6 < enough.aliases_needed <= 8
    assert short.aliases_needed is not None and short.aliases_needed > 8
    assert short.fail_fraction == pytest.approx(0.2)
    assert short.fail_low < 0.2 < short.fail_high
    assert surplus.removable == 8 - (surplus.aliases_needed or 0) >= 2


@pytest.mark.long
def test_one_less_than_the_fewest_free_was_never_missed() -> None:
    """With MINCT 5 a try found five free: four fewer would have left it one, five fewer none."""
    assert [answer.unused for answer in judge([ENOUGH, NOT_ENOUGH, TOO_MANY]).pools] == [0, 0, 4]


@pytest.mark.long
def test_fewer_free_never_need_fewer() -> None:
    """0 without a fail is the last alias, which a try took: the busiest intervals are not left out."""
    answers = [judge([counters([6000] * 3, [0] * 3, [free] * 3)]).pools[0] for free in (3, 2, 1, 0)]
    needed = [answer.aliases_needed or 0 for answer in answers]
    assert needed == sorted(needed) and needed[-1] == needed[-2] > needed[0]
    assert [answer.unused for answer in answers] == [2, 1, 0, 0]
    assert any("took the last alias" in note for note in answers[-1].notes)


@pytest.mark.long
@pytest.mark.parametrize(("aliases", "tries", "records"), [(4, 5000, 30), (8, 5000, 30), (8, 40_000, 1)])
def test_more_fails_never_need_fewer(aliases: int, tries: int, records: int) -> None:
    """The same tries and water marks each time; where tries exist, one alias at least is needed."""
    answers = []
    for share in (0.0, 0.00003, 0.0001, 0.00048, 0.0005, 0.001, 0.003, 0.009):
        total = round(share * tries * records)
        fails = np.diff(np.arange(records + 1) * total // records).tolist()
        answers += judge([counters([tries] * records, fails, [0] * records, aliases)]).pools
    needed = [answer.aliases_needed or 0 for answer in answers]
    assert needed == sorted(needed)
    assert min(answer.needed_low or 0 for answer in answers) >= 1


def test_a_load_that_the_counters_leave_open_is_not_told() -> None:
    """Every try found all aliases free: whatever they hold one for, if it is short."""
    (answer,) = judge([counters([50, 60, 70], [0] * 3, [8] * 3)]).pools
    assert (answer.load, answer.holding_time, answer.peakedness) == (None, None, None)
    assert any("how long an alias is held" in note for note in answer.notes)


@pytest.mark.long
def test_a_looser_target_needs_no_more() -> None:
    needed = [
        judge([NOT_ENOUGH], no_alias=share).pools[0].aliases_needed or 256 for share in (1e-4, 0.01, 0.1, 0.3)
    ]
    assert needed == sorted(needed, reverse=True)
    assert judge([NOT_ENOUGH], no_alias=0.3).pools[0].verdict != "not enough"


def test_a_pool_that_nobody_asks() -> None:
    (answer,) = judge([counters([0] * 10, [0] * 10, [8] * 10)]).pools
    assert (answer.verdict, answer.aliases_needed, answer.removable, answer.unused) == ("too many", 0, 8, 8)
    notes = judge([counters([0] * 10, [0] * 10, [8] * 10)]).notes
    assert any(note.endswith("8 can be freed, all of them without a single fail.") for note in notes)
    assert (answer.fail_fraction, answer.fail_low, answer.fail_high) == (0.0, 0.0, 1.0)


def test_one_record_is_no_answer() -> None:
    (answer,) = judge([counters([], [], [])]).pools
    assert answer.verdict is None
    assert answer.aliases_needed is None
    assert "one record only" in answer.notes[0]


def test_intervals_with_other_aliases_are_left_out_and_told() -> None:
    before = replace(NOT_ENOUGH, aliases=np.repeat([4, 8], 15), plain=np.arange(30) != 15)
    before = replace(before, fails=np.repeat([400, 0], 15), fewest=np.repeat([0, 3], 15))
    (answer,) = judge([before]).pools
    assert answer.fails == 0
    assert answer.tries == 14_000
    assert any("16 of 30 intervals, up to the last change" in note for note in answer.notes)
    assert not any("another length" in note for note in answer.notes)


def test_tries_a_second_are_those_since_the_last_change() -> None:
    """4 aliases, then 8, then 4 again, and 600 tries a minute all the time."""
    there = np.repeat([4, 8, 4], 10)
    pool = replace(
        counters([600] * 30, [0] * 30, [2] * 30, 4), aliases=there, plain=np.diff(there, prepend=4) == 0
    )
    assert judge([pool]).pools[0].tries_rate == pytest.approx(10.0)


def test_one_interval_and_one_restart_are_told_in_the_singular() -> None:
    first = np.arange(30) == 0
    for changed, said in (
        ({"plain": ~first}, "1 interval of another length than usual"), ({"restarted": first}, "started again 1 time;"),
    ):  # fmt: skip
        (answer,) = judge([replace(ENOUGH, **changed)]).pools
        assert any(said in note for note in answer.notes)


def test_a_pool_without_aliases_found_none() -> None:
    """A quiet control unit of z/OS whose aliases are not known: tries, no fail, none in use."""
    quiet, busy = judge([counters([50] * 3, [0] * 3, [0] * 3, aliases=0), ENOUGH]).pools
    assert (quiet.verdict, quiet.unused, busy.verdict) == ("enough", 0, "enough")


def test_marks_that_contradict_the_fails_are_told() -> None:
    (answer,) = judge([replace(NOT_ENOUGH, fewest=np.full(30, 2))]).pools
    assert answer.verdict == "not enough"
    assert any("MINCT" in note for note in answer.notes)


def test_all_tries_failing_is_told() -> None:
    (answer,) = judge([counters([1000] * 30, [990] * 30, [0] * 30)]).pools
    assert answer.verdict == "not enough"
    assert any("guess" in note for note in answer.notes)


@pytest.mark.long
@example([(6, 1.0, 1)])  # all fail: the upper end is 1, not the number below it
@given(
    st.lists(st.tuples(st.integers(0, 5000), st.floats(0, 1), st.integers(0, 8)), min_size=1, max_size=20),
)
def test_any_counters_get_an_answer(rows: list[tuple[int, float, int]]) -> None:
    tries = [row[0] for row in rows]
    fails = [int(row[0] * row[1]) for row in rows]
    (answer,) = judge([counters(tries, fails, [row[2] for row in rows])]).pools
    assert answer.verdict in ("enough", "not enough", "too many")
    assert (answer.verdict == "not enough") == (sum(fails) > 0.01 * sum(tries))
    needed = 256 if answer.aliases_needed is None else answer.aliases_needed
    assert (needed <= answer.aliases) == (answer.verdict != "not enough")
    assert (answer.needed_low == 0) == (sum(tries) == 0)
    assert 0.0 <= answer.fail_low <= answer.fail_fraction <= answer.fail_high <= 1.0


def test_shares_over_time() -> None:
    time, share = fail_shares(counters([10, 10, 0, 0], [1, 3, 0, 0], [0] * 4), 2)
    assert time.tolist() == [60.0, 180.0]
    assert share[0] == 0.2
    assert np.isnan(share[1])


@pytest.mark.parametrize("records", [1, 2, 5])
def test_every_interval_is_drawn_from_its_begin(records: int) -> None:
    """What is counted at the end of an interval holds since its begin; of one interval too."""
    supply = counters([10] * records, [1] * records, [0] * records)
    answer = judge([supply])
    _, free = answer.plot().get_figure(root=True).axes
    aliases = next(line for line in free.get_lines() if line.get_drawstyle() == "steps-pre")
    drawn = np.ptp(np.asarray(aliases.get_xdata(), dtype=float))
    assert drawn == pytest.approx(supply.length.sum() / 60)


def test_text_and_picture() -> None:
    answer: SupplyAnswer = judge([ENOUGH, NOT_ENOUGH, TOO_MANY])
    text = answer.text()
    assert max(map(len, text.splitlines())) <= 100
    for words in ("short;", "spare;", "Pool 3: enough."):
        assert words in text
    assert len(answer.plot().lines) == 4  # three pools and the target
    assert "<table>" in answer._repr_html_()


@pytest.mark.parametrize("share", [0.0, 1.0, float("nan"), -0.1])
def test_targets_outside_the_domain(share: float) -> None:
    with pytest.raises(InputError, match="no_alias"):
        judge([ENOUGH], no_alias=share)


def borrower(
    load: float, aliases: int, intervals: int = 60, length: float = 500.0, *, seed: int = 1
) -> PoolSupply:
    """Poisson requests held for exponential times of mean 1; those that find no own alias borrow one at once."""
    generator = np.random.default_rng(seed)
    own: list[float] = []
    tries, borrowed, fewest = (np.full(intervals, first, dtype=np.int64) for first in (0, 0, aliases))
    begins = np.cumsum(generator.exponential(1 / load, int(load * intervals * length * 1.1)))
    for begin, held in zip(begins, generator.exponential(size=begins.size), strict=True):
        if (interval := int(begin / length)) >= intervals:
            break
        while own and own[0] <= begin:
            heappop(own)
        tries[interval] += 1
        fewest[interval] = min(fewest[interval], aliases - len(own))
        if len(own) < aliases:
            heappush(own, begin + held)
        else:
            borrowed[interval] += 1
    there = counters(list(tries), [0] * intervals, list(fewest), aliases)
    return replace(there, marked=False, borrowed=borrowed)


@pytest.mark.first(1)
@pytest.mark.parametrize(("load", "aliases"), [(4.0, 5), (1.5, 3), (8.0, 11), (3.0, 2)])
def test_a_pool_that_borrowed_needs_alone_what_a_poisson_number_exceeds_by_the_target(
    load: float, aliases: int
) -> None:
    """Requests served elsewhere do not wait: Erlang's loss formula, whereas alone they would make others fail."""
    (pool,) = judge([borrower(load, aliases)]).pools
    need = int(stats.poisson.isf(0.01, load)) + 1
    said = re.search(r"alone it would need (\d+) \((\d+) to (\d+)\)", " ".join(pool.notes))
    assert said
    count, low, high = map(int, said.groups())
    assert low <= need <= high
    assert abs(count - need) <= 1
    assert (pool.verdict, pool.aliases_needed, pool.removable) == ("enough", aliases, 0)


def test_a_pool_that_hardly_borrowed_can_spare_what_it_would_not_need_alone() -> None:
    (pool,) = judge([borrower(2.0, 10)]).pools
    assert pool.supply.borrowed is not None and pool.supply.borrowed.sum() > 0
    assert pool.verdict == "too many"
    assert (pool.needed_low or 0) <= int(stats.poisson.isf(0.01, 2.0)) + 1 <= (pool.needed_high or 0)
