"""What an answer about aliases says and draws: next steps, gaps, commands and pictures, case by case."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

import planner
from planner import sizing, style
from planner.demand import DeviceModel, Target
from planner.errors import InputError
from planner.interval import Interval
from planner.measurements import Run, from_numbers
from planner.page.parts import item_of
from planner.reports.schema import Missing
from planner.sizing.answer import AliasAnswer
from planner.sizing.commands import expanded, with_commands
from planner.sizing.comparison import Count, Gain
from planner.sizing.gaps import (
    FLOOR,
    Gaps,
    all_missing,
    all_notes,
    below_floor,
    checked_floor,
    first_words,
    gaps,
    reasons,
    without_rows,
    worst_code,
)
from planner.sizing.need import need, ordered, worst_by_need
from planner.sizing.picture import _counting, draw, draw_many
from planner.sizing.wording import _most, _together, behind, gained, next_step

DEVICE = DeviceModel(inflation=0.16, redrive_time=6e-5, model_error=0.02, axes=((0.2, 0.0), (0.0, 0.6)))


def volume(aliases: int = 0, queued: float = 1.84, rate: float = 755.0, **more: Any) -> Run:
    run = from_numbers(
        io_rate=Interval(rate - 0.5, rate, rate + 0.5), service=Interval(1.25e-3, 1.3e-3, 1.35e-3),
        queued=Interval(max(queued - 0.005, 0.0), queued, queued + 0.005), aliases=aliases,
    )  # fmt: skip
    return replace(run, **more)


STEPS = (  # recommended, aliases of the measurements, helps, open yet, what is said
    (2, (0,), True, True, "Next: add 2 aliases and measure again; both listings together, of two alias counts, decide "
     "which demand it is."),
    (1, (0,), True, False, "Next: add 1 alias and measure again."),
    (5, (0, 2), True, True, "Next: add 3 aliases and measure again; all listings together decide which "
     "demand it is."),
    (2, (4,), True, True, "Next: 1 of the 4 aliases in use can be freed; take some away and measure again."),
    (2, (3,), True, True, "Next: nothing; the aliases in use are enough, and none is spare for sure."),
    (3, (3,), True, True, "Next: nothing; the aliases in use are enough, and none is spare."),
    (0, (2,), True, True, "Next: 1 of the 2 aliases in use can be freed; take some away and measure again."),
    (2, (0,), False, True, "Next: nothing to add; what makes the service time is the place to look."),
    (2, (2, 0), True, True, "Next: set 2; 2 were measured (755/s), so that there is nothing to measure again."),
    (2, (0, 2), True, True, "Next: nothing; 2 were measured (755/s) and are in use."),
    (0, (0,), True, True, "Next: nothing; the wait is within the target without aliases."),
    (0, (0,), False, True, "Next: nothing; the wait is within the target without aliases."),
)  # fmt: skip


@pytest.mark.parametrize(("recommended", "counts", "helps", "open_yet", "said"), STEPS)
def test_the_next_step_follows_from_what_is_in_use_and_was_measured(
    recommended: int, counts: tuple[int, ...], helps: bool, open_yet: bool, said: str
) -> None:
    """The range goes to one above the count."""
    runs = [volume(each) for each in counts]
    assert next_step(runs, recommended, recommended + 1, helps=helps, open_yet=open_yet) == said


def test_without_a_queue_aliases_do_not_help_and_a_source_is_named() -> None:
    assert (
        next_step([volume(queued=0.0)], 0, 0, helps=True, open_yet=False)
        == "Aliases will not help: no I/Os are waiting."
    )
    runs = [volume(2, source="Monday"), volume(0)]
    assert "(755/s, Monday), so that" in next_step(runs, 2, 2, helps=True, open_yet=False)


def test_a_limit_behind_the_volume_is_told_from_a_third_of_the_service_on() -> None:
    assert behind(volume(path_share=0.33)) == []
    (said,) = behind(volume(path_share=0.34))
    assert said.startswith("Pend or disconnect takes 34 % of the service time")
    assert behind(volume()) == behind(volume(cu_wait=0.0)) == []
    assert behind(volume(cu_wait=1e-5))[0].startswith("The control unit is waited for")
    assert len(behind(volume(path_share=0.5, cu_wait=1e-5))) == 2
    assert (_most(254), _most(255)) == ("254 aliases", "more than there are addresses for")


def pool(together: Any, bases: int = 3, queued: float = 0.5) -> Run:
    run = from_numbers(
        io_rate=Interval(100.0, 100.0, 100.0), service=Interval(1e-3, 1e-3, 1e-3),
        queued=Interval(queued, queued, queued), volumes=bases, pool=True,
    )  # fmt: skip
    return replace(run, together=together)


def test_what_was_said_of_bursts_that_come_together_is_said_again() -> None:
    assert _together(pool(np.nan)) == _together(pool(0.3, 1)) == []
    assert _together(pool(0.3)) == [
        "The volumes' I/Os are taken to come together to 30 %, as given (0 % independent, 100 % all at once)."
    ]
    (some,) = _together(pool(np.array([0.3, np.nan, 0.3])))
    assert "of 2 of 3 volumes are taken to come together with those of others to 30 %, as given" in some
    (several,) = _together(pool(np.array([0.3, 0.1, 0.2])))
    assert "of 3 of 3 volumes" in several
    assert "to 10 % to 30 %, as given" in several
    unknown = replace(pool(0.3), queued=Interval(np.zeros(3), np.zeros(3), np.full(3, np.inf)))
    assert _together(unknown)[0].endswith("moves the range only.")
    assert "to 0 %, as given" in _together(replace(unknown, together=0.0))[0]


@pytest.mark.parametrize(
    ("in_use", "recommended", "after", "said"),
    [
        (4, 4, 9e-3, []), (4, 3, 9e-3, []), (4, 12, 1e-3, []),
        (4, 13, 1e-3, ["9 more aliases, over twice those in use"]),
        (0, 32, 1e-3, []), (0, 33, 1e-3, ["33 more aliases"]), (20, 52, 1e-3, []), (20, 53, 1e-3, ["33 more aliases"]),
        (4, 5, 1.5e-3, []), (4, 5, 1.52e-3, ["the service time grows by 52 %"]), (4, 5, np.nan, []),
        (1, 4, 2e-3, ["3 more aliases, over twice those in use", "the service time grows by 100 %"]),
    ],
)  # fmt: skip
def test_many_aliases_or_a_growing_service_time_are_reasons_to_look_elsewhere(
    in_use: int, recommended: int, after: float, said: list[str]
) -> None:
    assert reasons(in_use, recommended, 1e-3, after) == said


def test_fewer_than_those_in_use_are_set_apart_from_the_rate_that_they_give() -> None:
    """ "With 0 I/O rate" read as no I/O at all."""
    found = sizing.aliases_of_runs([volume(3, 0.0)], DEVICE)
    assert found.recommended < 3
    assert f"; with {found.recommended}, I/O rate " in found.headline


def test_a_volume_below_the_floor_neither_waits_nor_works() -> None:
    """5 % busy are 38.46/s at 1.3 ms."""
    assert below_floor(volume(queued=0.049, rate=38.0))
    assert not below_floor(volume(queued=0.051, rate=38.0))
    assert not below_floor(volume(queued=0.049, rate=39.0))
    unknown = replace(volume(rate=38.0), queued=Interval(np.zeros(1), np.full(1, 0.9), np.full(1, np.inf)))
    assert below_floor(unknown)
    assert not below_floor(volume(queued=0.0, rate=1.0), 0.0)
    assert (FLOOR, checked_floor(0.0), checked_floor(2.0)) == (0.05, 0.0, 2.0)
    for floor in (-0.1, float("inf"), float("nan")):
        with pytest.raises(InputError, match="I/Os of zero or more"):
            checked_floor(floor)


@pytest.mark.long
def test_a_saturated_pool_of_more_than_its_addresses_may_need_more() -> None:
    rates, queued = np.full(200, 990.0), np.full(200, 40.0)
    run = Run(
        name="many", pool=True, aliases=0, volumes=tuple(f"{k:04X}" for k in range(200)),
        io_rate=Interval.around(rates, 0.5), service=Interval.around(np.full(200, 1e-3), 5e-6),
        queued=Interval.around(queued, 0.5), queue_shown=queued,
    )  # fmt: skip
    found = sizing.aliases_of_runs(run, DEVICE)
    assert found.range == (56, 56)
    assert "56 aliases and measure again (more may be needed)" in found.headline


@pytest.mark.long
@pytest.mark.first(2)
@pytest.mark.parametrize("regular", [0.02, 0.75, 0.9, 1.05])
def test_a_queue_between_two_numbers_of_requesters_is_explained(regular: float) -> None:
    """Of the wait of Poisson arrivals with exponential service a hardly measurable part to a little more.

    Of 92 simulated pools of steady volumes 82 were said to be explained by no demand.
    """
    load = np.linspace(0.2, 0.75, 8)
    queued, rates = regular * load**2 / (1 - load), load / 1e-3
    run = Run(
        name="calm", pool=True, aliases=0, volumes=tuple(f"{k:04X}" for k in range(8)),
        io_rate=Interval.around(rates, 5e-4), service=Interval.around(np.full(8, 1e-3), 5e-9),
        queued=Interval.around(queued, 5e-5), queue_shown=queued,
    )  # fmt: skip
    found = sizing.aliases_of_runs(run, DEVICE)
    assert found.strain <= 1.0
    assert "no demand model" not in found.headline


def test_a_queue_shorter_than_so_many_at_a_device_leave_is_not_explained() -> None:
    """A device busy 95.7 % with 1.5 queued has three requesters at least, of which more would be queued."""
    run = from_numbers(
        io_rate=Interval.around(736.0, 0.05), service=Interval.around(1.3e-3, 5e-7), queued=Interval.around(1.5, 5e-4),
        volumes=2, pool=True,
    )  # fmt: skip
    found = sizing.aliases_of_runs(run, DEVICE)
    assert found.strain > 1.0
    assert "no demand model fits this measurement" in found.headline


def test_what_could_not_be_read_is_said_first_and_fails_unless_it_is_known() -> None:
    one = Gaps(volumes=("A",), of=8, where=" at 9:00")
    assert one.words == "1 of 8 volumes could not be read at 9:00"
    assert (
        Gaps(volumes=("A", "B"), of=8, aliases=("C",)).words == "2 of 8 volumes and 1 alias could not be read"
    )
    assert Gaps(aliases=("C", "D"), of=8).words == "2 aliases could not be read"
    assert (one.exit_code, replace(one, allowed=True).exit_code, Gaps().exit_code) == (2, 0, 0)
    assert (bool(one), bool(Gaps(aliases=("C",))), bool(Gaps(of=3))) == (True, True, False)
    assert one.notes == ("Without a readable row: A; --allow-missing if that is known.",)
    assert replace(one, allowed=True).notes == ("Without a readable row: A.",)
    assert Gaps().notes == ()
    many = {"P1": one, "": replace(one, allowed=True), "P2": Gaps(), "P3": one, "P4": one, "P5": one}
    assert first_words({"P2": Gaps()}) == ""
    assert (
        first_words({"": one}) == "1 of 8 volumes could not be read at 9:00: by the other rows what follows. "
    )
    said = first_words(many, "no more")
    assert said.startswith("Pool P1: 1 of 8 volumes could not be read at 9:00; 1 of 8")
    assert said.endswith(
        "pool P3: 1 of 8 volumes could not be read at 9:00 and so in 2 more pools: no more. "
    )
    assert "more pools" not in first_words({key: many[key] for key in ("P1", "P3", "P4")})
    assert (all_missing(many), worst_code(many), worst_code({}), worst_code({"": many[""]})) == (5, 2, 0, 0)
    assert all_notes({"P1": one, "": one}) == [f"Pool P1: {one.notes[0]}", one.notes[0]]


def test_rows_of_a_pool_that_could_not_be_read_are_its_own_or_anybodys() -> None:
    rows = [
        Missing(name="A", pool="P1"), Missing(name="B", pool="P2"), Missing(name="C", pool=None),
        Missing(name=None, pool="P1"),
        Missing(name="D", pool="P1", alias=True), Missing(name="A", pool="P1"),
    ]  # fmt: skip
    found = gaps(rows, {"X", "Y"}, 2, pool="P1", allowed=False)
    assert found == Gaps(("A", "C", "a row without a name (4)"), 5, ("D",), allowed=False)
    whole = gaps(rows, {"A"}, 2, allowed=True)
    assert whole.volumes == ("A", "B", "C", "a row without a name (4)")
    assert (whole.of, whole.allowed) == (5, True)  # A is there in another row
    assert not gaps([], {"X"}, 1, allowed=False)


def answer(needed: dict[str, int]) -> Any:
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Changed:
        changes: tuple[tuple[str, int], ...] = tuple(needed.items())
        commands: tuple[tuple[str, str], ...] = ()

    return Changed()


def commands(platform: str, free: str | None = None, **needed: int) -> list[tuple[str, str]]:
    return list(with_commands(answer(needed), platform, free).commands)


def test_commands_bring_the_aliases_to_those_recommended() -> None:
    look, more, own = commands("zvm", "5251-5253,525A,5301", P1=4)
    assert look[0] == "QUERY PAV ALL"
    assert more == ("ATTACH 5251-5253 525A TO SYSTEM", "P1: 4 aliases more")
    assert own[0] == "DEFINE HYPERPAVALIAS <vdev> FOR BASE <vdev>"
    found = commands("zvm", "5251,5252,5253", P1=1, P2=-2, P3=2)
    assert [each[0] for each in found[1:-1]] == [
        "ATTACH 5251 TO SYSTEM", "DETACH <2 aliases of P2> FROM SYSTEM", "ATTACH 5252-5253 TO SYSTEM",
    ]  # fmt: skip
    assert [each[1] for each in found[1:-1]] == [
        "P1: 1 alias more",
        "P2: 2 aliases less",
        "P3: 2 aliases more",
    ]
    assert [each[0] for each in commands("zvm", P2=-1)] == [
        "QUERY PAV ALL",
        "DETACH <1 alias of P2> FROM SYSTEM",
    ]
    linux = commands("linux", "5251-5252", P1=2, P2=-1)
    assert [each[0] for each in linux] == [
        "lsdasd -u", "chzdev --enable dasd 0.0.5251-0.0.5252", "chzdev --disable dasd <1 alias of P2>",
    ]  # fmt: skip
    assert [each[0] for each in commands("zos", **{"522A": 1, "P1": 1})][-2:] == [
        "D M=DEV(522A)",
        "D M=DEV(<base>)",
    ]
    assert commands("zvm") == commands("zos") == []
    plain = answer({"P1": 1})
    assert with_commands(plain, None) is plain


@pytest.mark.parametrize(
    ("platform", "free", "problem"),
    [
        (None, "5251", "free = '5251': expected --commands with it"),
        ("vse", None, "commands = 'vse': expected one of zvm"),
        ("zvm", "5251", "free = '5251': expected 2 alias device numbers or more; these are 1"),
        ("zvm", "525", "expected alias device numbers, as 5251-5258,525A"), ("zvm", "5251-52", "expected alias device"),
    ],
)  # fmt: skip
def test_commands_need_their_platform_and_enough_numbers(
    platform: str | None, free: str | None, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        with_commands(answer({"P1": 2, "P2": -7}), platform, free)
    assert with_commands(answer({"P1": 2}), "zvm", "5251-5252").commands


def test_device_numbers_are_hexadecimal_and_each_counts_once() -> None:
    assert expanded("00FE-0101, 0100,525a") == [0xFE, 0xFF, 0x100, 0x101, 0x525A]


ROWS = [
    ("P10", Count(3, 2, 4, 5)), ("P2", Count(9, 8, 12, 4)), ("P3", Count(4, 4, 4, 4)), ("P1", Count(3, 2, 4, 5)),
    ("P4", Count(6, 5, 7, 5)),
]  # fmt: skip


def drawn(rows: list[tuple[str, Count]], what: str = "pool") -> Axes:
    return draw_many("Headline.", rows, what, None)


def title(axes: Axes) -> str:
    suptitle = style.figure_of(axes)._suptitle  # type: ignore[attr-defined]
    return str(suptitle.get_text()).strip()


def names(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.get_yticklabels()]


def lines(axes: Axes, marker: str) -> list[tuple[list[float], list[float]]]:
    return [
        ([float(x) for x in line.get_xdata()], [float(y) for y in line.get_ydata()])
        for line in axes.lines if line.get_marker() == marker and len(line.get_xdata())
    ]  # fmt: skip


def test_of_many_those_that_lack_most_stand_first_each_with_its_counts() -> None:
    axes = drawn(ROWS)
    assert names(axes) == ["P2", "P4", "P3", "P1", "P10"]
    assert title(axes) == "P2, P4 need 6 more aliases"
    assert lines(axes, "o") == [([n], [k]) for k, n in enumerate((9.0, 6.0, 4.0, 3.0, 3.0))]
    assert lines(axes, "D") == [([n], [k]) for k, n in enumerate((4.0, 5.0, 4.0, 5.0, 5.0))]
    bars = [line for line in axes.lines if line.get_linewidth() == 7 and len(line.get_xdata())]
    assert [list(map(float, line.get_xdata())) for line in bars] == [[8, 12], [5, 7], [4, 4], [2, 4], [2, 4]]
    between = [line for line in axes.lines if line.get_linewidth() == 1.5 and len(line.get_xdata()) == 2]
    assert [list(map(float, line.get_xdata())) for line in between] == [
        [4, 9],
        [5, 6],
        [4, 4],
        [5, 3],
        [5, 3],
    ]
    said = {round(text.xy[1]): (text.get_text(), text.xy[0]) for text in axes.texts}  # type: ignore[attr-defined]
    assert said == {
        0: ("short 5", 12),
        1: ("short 1", 7),
        2: ("enough", 4),
        3: ("spare 1", 5),
        4: ("spare 1", 5),
    }
    left, right = axes.get_xlim()
    assert (left, right) == pytest.approx((-0.24, 1.15 * 12 + 1))
    assert axes.get_ylim() == pytest.approx((4.6, -0.6))
    assert axes.get_xlabel() == "aliases"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (ROWS[:1], "No pool is short of aliases"),
        (ROWS[1:2], "P2 needs 5 more aliases"),
        (ROWS[4:], "P4 needs 1 more alias"),
        ([ROWS[1]] * 3, "3 of 3 pools need 15 more aliases"),
        ([("a" * 31, ROWS[1][1])], "1 of 1 pools needs 5 more aliases"),
        ([("a" * 30, ROWS[1][1])], f"{'a' * 30} needs 5 more aliases"),
    ],
)
def test_the_title_names_one_or_two_and_counts_the_rest(rows: list[tuple[str, Count]], said: str) -> None:
    axes = drawn(rows)
    assert title(axes) == said
    assert axes.get_ylim()[0] == pytest.approx(max(len(rows), 3) - 0.4)


def test_what_is_sure_to_be_spare_is_what_lies_above_the_range() -> None:
    quiet = Count(3, 2, 4, 1, small=True)  # a headline counts no alias for it either
    unranged = Count(3, None, None, 7)  # nothing is sure to be spare
    said = {"spare 3": Count(3, 2, 4, 7), "enough": Count(3, 2, 7, 7), "unknown": unranged}
    for words, count in [*said.items(), ("enough", quiet)]:
        assert [text.get_text() for text in drawn([("P", count)]).texts] == [words]


@pytest.mark.long
def test_only_the_first_forty_are_drawn_and_names_sort_as_people_count() -> None:
    many = [(f"P{k}", Count(3, 2, 4, 1)) for k in range(41)][::-1]
    axes = drawn(many)
    assert names(axes) == [f"P{k}" for k in range(40)]
    assert style.title_of(axes) == "Headline. The 40 shortest of 41."
    assert "shortest" not in style.title_of(drawn(many[:40]))
    assert title(axes) == "41 of 41 pools need 82 more aliases"
    assert sorted(["P10", "P2", "A", "P2B"], key=_counting) == ["A", "P2", "P2B", "P10"]


@pytest.fixture(scope="module")
def one() -> AliasAnswer:
    return sizing.aliases_of_runs(volume(), DEVICE, target=Target(wait="0.1ms"))


def panels(found: AliasAnswer) -> tuple[Axes, Axes]:
    upper, lower = style.figure_of(draw(found, None)).axes
    return upper, lower


def labeled(axes: Axes, label: str) -> list[tuple[list[float], list[float]]]:
    return [
        ([float(x) for x in line.get_xdata()], [float(y) for y in line.get_ydata()])
        for line in axes.lines if line.get_label() == label
    ]  # fmt: skip


@pytest.mark.long
def test_an_answer_is_drawn_as_its_table_has_it(one: AliasAnswer) -> None:
    counts = one.rows.aliases.tolist()
    for panel, values, band, unit in zip(
        panels(one),
        (one.rows.io_rate, one.rows.response_time),
        (one.rate, one.response),
        (1.0, 1e-3),
        strict=True,
    ):
        assert labeled(panel, "chosen demand") == [(counts, pytest.approx((values / unit).tolist()))]
        assert labeled(panel, "measured") == [([0.0], [pytest.approx(values[0] / unit)])]
        assert labeled(panel, f"recommended: {one.recommended}")[0][0] == [one.recommended] * 2
        (strip,) = panel.patches
        ends = strip.get_extents().transformed(panel.transData.inverted())
        assert (ends.x0, ends.x1) == pytest.approx((one.range[0] - 0.5, one.range[1] + 0.5))
        (filled,) = panel.collections
        corners = filled.get_paths()[0].vertices
        for k, count in enumerate(counts):
            if np.isfinite(band.high[k]):
                at = corners[corners[:, 0] == count, 1]
                assert (at.min(), at.max()) == pytest.approx((band.low[k] / unit, band.high[k] / unit))
        assert panel.get_ylim()[0] == 0
    upper, lower = panels(one)
    assert (upper.get_ylabel(), lower.get_ylabel(), lower.get_xlabel()) == (
        "I/O rate [1/s]", "response time [ms]", "aliases",
    )  # fmt: skip
    assert labeled(lower, "target") == [
        (counts, pytest.approx(((one.rows.service_time + 1e-4) * 1e3).tolist()))
    ]
    both = replace(one, target=Target(wait="0.1ms", response="2ms"))
    assert labeled(panels(both)[1], "target")[0][1] == pytest.approx([2.0] * len(counts))
    assert len(labeled(panels(both)[1], "target")) == 2
    assert labeled(panels(replace(one, target=Target()))[1], "target") == []


def test_counts_that_remove_half_and_nine_tenths_of_the_wait_are_marked(one: AliasAnswer) -> None:
    _, lower = panels(one)
    wait = one.rows.wait_time
    firsts = {share: int(np.argmax(wait <= (1 - share) * wait[0])) for share in (0.5, 0.9)}
    marks = lines(lower, "v")
    assert sorted(x for (x,), _ in marks) == sorted(set(firsts.values()))
    said = [text.get_text() for text in lower.texts]
    if firsts[0.5] == firsts[0.9]:
        assert said == [f"{firsts[0.5]}: half and 90 % of the wait gone"]
    else:
        assert said == [f"{firsts[0.5]}: half of the wait gone", f"{firsts[0.9]}: 90 % of the wait gone"]
    for (x,), (y,) in marks:
        assert y == pytest.approx(1e3 * one.rows.response_time[int(x)])
    assert lines(panels(replace(one, in_use=one.recommended))[1], "v") == []


@pytest.mark.long
def test_a_response_without_a_queue_was_not_measured() -> None:
    """Pictures of the command and of the page show what open arrivals would give, not as a measurement."""
    answer = planner.aliases(rate="700/s", service="1.3ms")
    upper, lower = panels(answer)
    assert labeled(upper, "measured") and not labeled(lower, "measured")
    assert ["Measured with" in each.caption for each in item_of(answer, "a").figures] == [True, False]


def test_a_grown_demand_was_not_measured(one: AliasAnswer) -> None:
    grown = sizing.aliases_of_runs(volume(), DEVICE, target=Target(wait="0.1ms"), growth=0.2)
    upper, _ = panels(grown)
    assert labeled(upper, "measured") == []
    assert labeled(upper, "in use, demand grown by 20 %") == [([0.0], [pytest.approx(grown.rows.io_rate[0])])]
    far = replace(one, measured=(0, 200))  # more than is drawn
    assert labeled(panels(far)[0], "measured")[0][0] == [0.0]


def test_the_interval_that_needs_most_is_the_worst_of_equals_the_busiest() -> None:
    cases = [(volume(queued=0.0, rate=1.0),), (volume(),), (volume(queued=0.9),), (volume(rate=760.0),), ()]
    found = need(cases, DEVICE, Target(wait="0.1ms"), ranges=False)
    counts = [each.count for each in found]
    assert (counts[0], counts[4]) == (0, 0)
    at = worst_by_need(found, cases)
    assert at is not None
    assert counts[at] == max(each or 0 for each in counts)
    assert worst_by_need([found[1], found[1]], [cases[1], cases[1]]) == 0
    assert worst_by_need([found[1], found[1]], [cases[1], cases[3]]) == 1  # busier
    assert worst_by_need([], []) is None


def test_the_order_of_volumes_in_a_file_is_that_of_their_numbers() -> None:
    rates, queues = np.array([5.0, 9.0, 7.0]), np.array([0.1, 0.3, 0.2])
    run = Run(
        name="P", pool=True, aliases=2, volumes=("a", "b", "c"), io_rate=Interval(rates, rates, rates),
        service=Interval(*[np.full(3, 1e-3)] * 3), queued=Interval(queues, queues, queues), queue_shown=queues,
        together=np.array([0.1, 0.2, 0.3]),
    )  # fmt: skip
    found = ordered(run)
    assert found.volumes == ("b", "c", "a")
    assert found.io_rate.value.tolist() == [9.0, 7.0, 5.0]
    assert (found.queued.high.tolist(), found.queue_shown.tolist()) == ([0.3, 0.2, 0.1], [0.3, 0.2, 0.1])
    assert np.asarray(found.together).tolist() == [0.2, 0.3, 0.1]
    assert ordered(found) is found
    assert ordered(replace(run, together=0.5)).together == 0.5


def test_half_of_the_volumes_are_too_few_to_answer_an_interval() -> None:
    """Of eight volumes four have rows: half lack them; five and seven are most, eight are all."""
    told = without_rows([8, 8, 4, 5, 8, 7, 8, 8, 8, 8], lambda k: datetime(2024, 1, 1 + k))
    assert told == [
        "1 of 10 intervals lack rows of half of the volumes or more, the first at 2024-01-03 00:00: not answered",
        "2 of 10 intervals lack rows of some volumes, the first at 2024-01-04 00:00: taken as without I/O there",
    ]


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize(("in_use", "said"), [(1, True), (3, False), (4, False)])
def test_volumes_gain_by_more_aliases_only(in_use: int, said: bool) -> None:
    answer = planner.aliases("data/hyperpav/pool-0-aliases.listing", kind="pool")
    gains = (
        Gain(volumes=1, rate_before=274.0, rate_after=274.0, response_before=1.39e-3, response_after=1.3e-3),
    ) * 2
    found = gained(replace(answer, in_use=in_use, recommended=3, gains=gains, classic=None))
    assert bool(found) is said
