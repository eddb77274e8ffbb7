"""Pictures of the page: points stand where their numbers say, bands hold what has no bound, words say it too."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from planner.demand import Target
from planner.page import drawing
from planner.page.drawing import Course, Curve, Week, ticks
from planner.site.site_answer import SiteAnswer
from planner.site.site_picture import LEVELS, calendar, levels
from tests.page import made
from tests.page.made import HOSTILE

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def curve(**changed: object) -> Curve:
    given: dict[str, object] = {
        "name": "I/O rate", "unit": "1/s", "decimals": 1, "counts": np.arange(4.0),
        "values": np.array([100.0, 150.0, 180.0, 200.0]),
        "low": np.array([100.0, 140.0, 160.0, 170.0]), "high": np.array([100.0, 160.0, 200.0, 240.0]),
        "recommended": 2, "span": (1, 3), "measured": (0,),
    }  # fmt: skip
    return Curve(**{**given, **changed})  # type: ignore[arg-type]


def parts(svg: str) -> dict[str, str]:
    """Path data by class."""
    return {each.get("class", ""): each.get("d", "") for each in ET.fromstring(svg).iter("path")}


def points(d: str) -> list[tuple[float, float]]:
    found = [float(each) for each in NUMBER.findall(d)]
    return list(zip(found[::2], found[1::2], strict=True))


def test_points_stand_in_proportion_to_their_numbers() -> None:
    """The reference is a straight line through two of them: thirds along, and values above the floor."""
    found = points(parts(curve().draw("c"))["line"])
    x, y = np.array(found).T
    assert np.diff(x) == pytest.approx(np.diff(x)[0], abs=0.25)
    floor = drawing.HEIGHT - drawing.BOTTOM
    heights = floor - y
    assert heights / heights[0] == pytest.approx([1.0, 1.5, 1.8, 2.0], rel=2e-3)


def test_the_band_goes_out_along_the_low_end_and_back_along_the_high_one() -> None:
    d = parts(curve().draw("c"))["band"]
    assert d.endswith("z")
    found = points(d)
    assert len(found) == 8
    out, back = found[:4], found[4:][::-1]
    assert [a[0] for a in out] == [a[0] for a in back]
    assert all(low[1] >= high[1] for low, high in zip(out, back, strict=True))


def test_what_has_no_bound_reaches_the_top_and_the_words_say_so() -> None:
    found = curve(high=np.array([100.0, np.inf, np.inf, np.inf]))
    back = points(parts(found.draw("c"))["band"])[4:7]
    assert {round(y, 1) for _, y in back} == {drawing.TOP}
    assert "without bound" in found.words()
    assert "cut off above" in found.words()


def test_a_saturated_count_breaks_the_line() -> None:
    """Queues without bound are no points; the others stay."""
    d = parts(curve(values=np.array([np.inf, 150.0, 180.0, 200.0])).draw("c"))["line"]
    assert len(points(d)) == 3


def test_the_words_hold_the_numbers_of_the_recommended_and_the_measured_count() -> None:
    words = curve().words()
    assert words.startswith("With the recommended 2 aliases 180/s, 90 % 160 to 200.")
    times = curve(values=np.full(4, 1.623), low=np.full(4, 1.35), high=np.full(4, 1.7), decimals=2).words()
    assert times.startswith("With the recommended 2 aliases 1.62/s, 90 % 1.35 to 1.70.")
    assert curve(recommended=1).words().startswith("With the recommended 1 alias ")
    assert "Measured with 0: 100/s." in words


def test_the_words_have_the_digits_of_the_table() -> None:
    """Of 0.9503 and 3.6 ms a row of the table says 0.95 and 3.60."""
    said = curve(
        unit="ms", decimals=2, values=np.array([3.6, 2.0, 0.9503, 0.9]), low=np.array([3.6, 1.0, 0.9, 0.8]),
        high=np.array([3.6, 2.5, 1.0364, 1.0]),
    ).words()  # fmt: skip
    assert said == "With the recommended 2 aliases 0.95 ms, 90 % 0.90 to 1.04. Measured with 0: 3.60 ms."


def test_what_is_measured_is_a_diamond_around_its_point() -> None:
    x, y = points(parts(curve().draw("c"))["line"])[0]
    first = points(parts(curve().draw("c"))["measured"])[0]
    assert first == pytest.approx((x, y - drawing.HALF))


def test_pictures_are_sound_for_names_that_are_not() -> None:
    tree = ET.fromstring(curve(name=HOSTILE).draw("c"))
    assert HOSTILE in (tree.find("title").text or "")  # type: ignore[union-attr]
    assert tree.get("aria-labelledby") == "c-t c-d"
    assert tree.get("role") == "img"


@pytest.mark.parametrize("top", [1e-4, 0.3, 1.0, 7.0, 99.0, 12345.0, 1e9])
@pytest.mark.parametrize("whole", [False, True])
def test_ticks_are_few_round_and_within(top: float, whole: bool) -> None:
    found = ticks(top, whole=whole)
    assert found[0] == 0.0
    assert max(found) <= top * (1 + 1e-9)
    assert len(found) <= 6
    if whole:
        assert all(each == round(each) for each in found)


def series(needed: list[float], in_use: float = 3.0, seconds: float = 3600.0) -> Course:
    values = np.array(needed)
    start = np.datetime64("2026-03-02T08:00", "us") + np.arange(len(needed)) * np.timedelta64(
        int(seconds), "s"
    )
    return Course(
        start=start, seconds=np.full(len(needed), seconds), needed=values, in_use=np.full(len(needed), in_use)
    )  # fmt: skip


def test_need_over_time_is_drawn_in_steps_that_break_at_a_gap() -> None:
    d = parts(series([1.0, 1.0, 4.0, np.nan, 2.0]).draw("n"))["need"]
    assert d.count("M") == 2
    assert d.count("V") == 1
    assert (
        "Most, 4, from 2026-03-02 10:00; 1 of 4 intervals need more" in series([1, 1, 4, np.nan, 2]).words()
    )


def test_of_intervals_that_need_as_many_the_one_called_the_worst_is_named() -> None:
    course = series([4.0, 1.0, 4.0])
    assert "from 2026-03-02 08:00" in course.words()
    assert "from 2026-03-02 10:00" in replace(course, worst=datetime(2026, 3, 2, 10)).words()
    assert (
        "from 2026-03-02 08:00" in replace(course, worst=datetime(2026, 3, 2, 9)).words()
    )  # by another count


def test_equal_neighbors_are_one_step() -> None:
    assert parts(series([2.0] * 50).draw("n"))["need"].count("H") == 1


def test_of_many_intervals_the_largest_of_each_place_is_drawn() -> None:
    """A single minute of a long year may not be lost."""
    needed = [1.0] * 9000
    needed[4321] = 7.0
    d = parts(series(needed, seconds=3600.0).draw("n"))["need"]
    heights = {float(y) for y in re.findall(r"V(-?[\d.]+)", d)}
    floor, height = drawing.HEIGHT - drawing.BOTTOM, drawing.HEIGHT - drawing.TOP - drawing.BOTTOM
    assert min(heights) == pytest.approx(floor - height * 7.0 / (7.0 * 1.08), abs=0.06)
    assert len(d) < 8000


def test_hours_that_need_more_than_is_in_use_have_a_dot() -> None:
    hours = np.full((7, 24), np.nan)
    hours[0, 8:12] = [2.0, 3.0, 5.0, 4.0]
    found = parts(Week(hours=hours, in_use=3.0, busiest="Mon 10").draw("w"))
    assert found["over"].count("M") == 2
    cells = {kind: d.count("z") for kind, d in found.items() if kind.startswith("cell")}
    assert sum(cells.values()) == 7 * 24
    assert cells["cell h0"] == 7 * 24 - 4
    assert cells["cell h3"] == 2
    assert (
        "Most, 5, on Mon from 10:00; in 2 hours of the week more"
        in Week(hours=hours, in_use=3.0, busiest="Mon 10").words()
    )


def test_a_pool_that_was_never_measured_has_a_picture_that_says_so() -> None:
    empty = np.full((7, 24), np.nan)
    assert Week(hours=empty, in_use=3.0, busiest="").words() == "No hour was measured."
    ET.fromstring(Week(hours=empty, in_use=3.0, busiest="").draw("w"))
    nothing = series([np.nan, np.nan])
    assert nothing.words() == "No interval has an answer."
    ET.fromstring(nothing.draw("n"))


def test_shades_rise_with_the_number() -> None:
    values = np.array([np.nan, 0.0, 5.0, 10.0, np.inf])
    assert levels(values, 10.0).tolist() == [0, 1, 1, 2, 3]
    assert levels(np.zeros(1), 0.0).tolist() == [1]


def test_the_calendar_of_a_pool_counts_as_its_answer_does() -> None:
    """A cell an hour: short where an interval in it is, empty where none was measured; words and legend agree."""
    need = made.need(0, intervals=30 * 1440)
    found, first = calendar(need.series)
    assert first == made.FIRST.astype("datetime64[D]")
    hour = (need.series.start - first.astype("datetime64[us]")) // np.timedelta64(3600, "s")
    over = need.series.needed > need.series.in_use
    assert (found == LEVELS.index("more: short")).sum() == len(np.unique(hour[over]))
    assert (found == 0).sum() == 0
    axes = SiteAnswer(pools=(need,), target=Target(), meet=0.99, remarks=()).plot()
    (image,) = axes.images
    assert np.array_equal(image.get_array().filled(0.0), found)
    words = [text.get_text() for text in axes.figure.legends[0].get_texts()]
    assert words[-1] == f"more: short in {need.short_intervals:,} of {need.busy_intervals:,} busy intervals"


def test_a_calendar_shows_an_hour_without_measurement_and_calls_no_idle_hour_short() -> None:
    need = made.need(0, intervals=20 * 1440)
    series = replace(need.series, needed=need.series.needed.copy(), busy=np.zeros_like(need.series.busy))
    series.needed[120:180] = np.nan
    found, _ = calendar(series)
    assert found[2, 0] == 0
    assert found.max() < LEVELS.index("more: short")


def test_a_pool_of_a_few_days_is_drawn_as_a_line() -> None:
    axes = SiteAnswer(pools=(made.need(0, 2 * 1440),), target=Target(), meet=0.99, remarks=()).plot()
    assert not axes.images
    assert axes.lines
