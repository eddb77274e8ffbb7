"""What pictures of calibrations draw: the columns of the answer, each number in its place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import same_color

from planner import calibrate, style
from planner.calibrate import Observation
from planner.calibrate.calibration import Calibration, Fit, Outlier
from planner.calibrate.cost_fit import CostFit
from planner.calibrate.error_bar import interval
from planner.calibrate.least_squares import Comparison
from planner.calibrate.picture import _axis, _counts, _words, draw_costs, draw_fit
from planner.reports import Printed

NINETY = 1.6448536269514722  # of the normal distribution, 90 % lies within so many standard deviations


def compared(run: str, quantity: str, measured: float, predicted: float, off_by: float) -> Comparison:
    return Comparison(
        run=run, quantity=quantity, measured=measured, predicted=predicted, sigma=0.1, off_by=off_by
    )


def calibration(*rows: Comparison, error: float = 0.05) -> Calibration:
    return Calibration(
        estimates={}, comparisons=rows, model_error=error, degrees=3.0, degrees_left=3.0, correlation={}
    )


ONE = calibration(
    compared("first", "cp_ms", 10.0, 11.0, 0.9), compared("second", "cp_ms", 20.0, 19.0, -0.5),
    compared("third", "cp_ms", 40.0, 44.0, 3.0),
)  # fmt: skip
SEVERAL = calibration(
    compared("a", "cp_ms", 10.0, 8.0, -1.0), compared("a", "rate", 100.0, 80.0, 0.1),
    compared("b", "cp_ms", 30.0, 40.0, 0.2), compared("b", "rate", 50.0, 50.0, 0.0),
)  # fmt: skip


def both(axes: Axes) -> tuple[Axes, Axes]:
    """The picture above and the residuals below."""
    upper, lower = style.figure_of(axes).axes
    assert upper is axes
    return upper, lower


def drawn(axes: Axes, marker: str | None = None) -> list[Any]:
    """Points without a line between them, by their marker."""
    return [
        line for line in axes.lines
        if line.get_linestyle() == "None" and line.get_marker() not in ("_", "|", "None", "")
        and marker in (None, line.get_marker())
    ]  # fmt: skip


def data(line: Any) -> tuple[list[float], list[float]]:
    return [float(x) for x in line.get_xdata()], [float(y) for y in line.get_ydata()]


def bars(axes: Axes) -> list[tuple[list[float], list[float], list[float]]]:
    """Centers and both ends of the error bars, a group each."""
    found = []
    for group in axes.containers:
        line, _, (ends,) = group  # type: ignore[misc]
        low, high = np.array([segment[:, 1] for segment in ends.get_segments()]).T
        assert data(line)[0] == pytest.approx([float(segment[0, 0]) for segment in ends.get_segments()])
        found.append((data(line)[1], low.tolist(), high.tolist()))
    return found


def labels(axes: Axes) -> list[str]:
    return [str(text) for text in axes.get_legend_handles_labels()[1]]


def test_costs_are_drawn_beside_the_law_with_its_error() -> None:
    upper, _ = both(draw_costs(ONE, None))
    ((law, low, high),) = bars(upper)
    assert law == [11.0, 19.0, 44.0]
    assert low == pytest.approx([each * (1 - 0.05 * NINETY) for each in law], rel=1e-4)
    assert high == pytest.approx([each * (1 + 0.05 * NINETY) for each in law], rel=1e-4)
    (measured,) = drawn(upper)
    assert data(measured) == ([0.0, 1.0, 2.0], [10.0, 20.0, 40.0])
    assert same_color(measured.get_color(), style.MEASURED)
    assert measured.get_fillstyle() == "none"
    assert sorted(labels(upper)) == ["measured", "model, 90 %"]
    assert upper.get_ylabel() == "cp [ms]"
    assert upper.get_ylim()[0] == 0
    assert upper.get_yscale() == "linear"
    assert upper.get_legend() is not None
    assert style.title_of(upper) == ONE.headline


def test_figures_of_several_units_are_in_percent_of_the_law_side_by_side() -> None:
    upper, lower = both(draw_costs(SEVERAL, None))
    first, second = bars(upper)
    for law, low, high in (first, second):
        assert law == [100.0, 100.0]
        assert low == pytest.approx([100 - 5 * NINETY] * 2, rel=1e-4)
        assert high == pytest.approx([100 + 5 * NINETY] * 2, rel=1e-4)
    cp, rate = drawn(upper)
    assert data(cp) == (pytest.approx([-0.05, 0.95]), pytest.approx([125.0, 75.0]))
    assert data(rate) == (pytest.approx([0.05, 1.05]), pytest.approx([125.0, 100.0]))
    assert cp.get_marker() != rate.get_marker()
    assert upper.get_ylabel() == "share of the prediction [%]"
    assert labels(upper).count("measured") == labels(upper).count("model, 90 %") == 1
    assert {"cp", "rate"} <= set(labels(lower))


def test_a_law_of_nothing_has_no_share() -> None:
    rows = replace(SEVERAL, comparisons=(*SEVERAL.comparisons, compared("c", "cp_ms", 1.0, 0.0, 0.3)))
    cp, _ = drawn(both(draw_costs(rows, None))[0])
    assert data(cp)[1][:2] == pytest.approx([125.0, 75.0])
    assert np.isnan(data(cp)[1][2])


@pytest.mark.parametrize(("least", "scale"), [(40 / 29.0, "linear"), (40 / 31.0, "log")])
def test_numbers_more_than_thirty_times_as_large_have_a_logarithmic_axis(least: float, scale: str) -> None:
    rows = (
        compared("zero", "cp_ms", 0.0, 1.0, 0.1),
        compared("small", "cp_ms", least, 2.0, 0.1),
        *ONE.comparisons[2:],
    )
    assert both(draw_costs(calibration(*rows), None))[0].get_yscale() == scale


@pytest.mark.parametrize(
    ("names", "turned"),
    [(["short"] * 5, 0), (["short"] * 6, 30), (["a" * 12], 0), (["a" * 13], 30), (["a" * 12] * 5, 0)],
)
def test_names_of_runs_stand_below_turned_where_there_is_no_room(names: list[str], turned: int) -> None:
    rows = [compared(f"{name[:-1]}{k}", "cp_ms", 1.0, 1.0, 0.0) for k, name in enumerate(names)]
    _, lower = both(draw_costs(calibration(*rows), None))
    ticks = lower.get_xticklabels()
    assert [text.get_text() for text in ticks] == [each.run for each in rows]
    assert lower.get_xticks().tolist() == list(range(len(names)))
    assert {text.get_rotation() for text in ticks} == {turned}
    assert {text.get_ha() for text in ticks} == {"right" if turned else "center"}


def test_residuals_are_the_column_of_the_answer_in_the_strip_of_90_percent() -> None:
    _, lower = both(draw_costs(ONE, None))
    (points,) = drawn(lower)
    assert data(points) == ([0.0, 1.0, 2.0], [0.9, -0.5, 3.0])
    (strip,) = lower.patches
    bounds = strip.get_extents().transformed(lower.transData.inverted())
    assert (bounds.y0, bounds.y1) == pytest.approx((-NINETY, NINETY), rel=1e-4)
    assert lower.get_ylim() == pytest.approx((-3.6, 3.6))
    assert lower.get_ylabel() == "model minus measurement [sigma]"
    assert {"90 % of the figures", "cp"} == set(labels(lower))
    (zero,) = [line for line in lower.lines if line not in drawn(lower)]
    assert set(data(zero)[1]) == {0.0}
    # what is not known draws no axis, and a good fit is not magnified
    tame = calibration(compared("a", "cp_ms", 1.0, 1.0, 0.1), compared("b", "cp_ms", 1.0, 1.0, np.inf))
    assert both(draw_costs(tame, None))[1].get_ylim() == (-2.0, 2.0)


def test_headings_are_read_without_their_units() -> None:
    said = {
        name: (_words(name), _axis(name))
        for name in ("service_ms", "cp_us", "cp_us_per_page", "io_rate", "rate")
    }
    assert said == {
        "service_ms": ("service", "service [ms]"),
        "cp_us": ("cp", "cp [us]"),
        "cp_us_per_page": ("cp", "cp [us/page]"),
        "io_rate": ("I/O rate", "I/O rate"),
        "rate": ("rate", "rate"),
    }


def test_one_panel_of_the_user_holds_the_law_alone() -> None:
    own = style.new_axes()
    assert draw_costs(ONE, own) is own
    assert style.figure_of(own).axes == [own]
    assert [text.get_text() for text in own.get_xticklabels()] == ["first", "second", "third"]


def run(aliases: int, volumes: int, rate: float, service: float) -> Observation:
    return Observation(
        name=f"+{aliases} of {volumes}", volumes=volumes, aliases=aliases, population=3,
        figures={"io_rate": Printed(rate, 5.0), "service_time": Printed(service, 0.05e-3)},
    )  # fmt: skip


@pytest.fixture(scope="module")
def fit() -> Fit:
    """Three rows of the published volume, with its requesters."""
    runs = [run(0, 1, 755.0, 1.3e-3), run(1, 1, 1290.0, 1.45e-3), run(2, 1, 1619.0, 1.7e-3)]
    found = calibrate.fit(runs)
    model = calibrate.to_model(found, kind="volume", title="", files=[], runs=runs)
    return replace(found, model=model)


@pytest.mark.long
def test_the_law_is_drawn_over_the_aliases_through_its_runs(fit: Fit) -> None:
    assert fit.model is not None
    upper, lower = both(draw_fit(fit, None))
    (law,) = [line for line in upper.lines if line not in drawn(upper)]
    counts = [0, 1, 2, 3]
    bound = interval("io_rate", fit.model, [{"aliases": float(k), "volumes": 1.0} for k in counts])
    assert data(law) == ([*map(float, counts)], pytest.approx(bound.value.tolist()))
    (measured,) = drawn(upper)
    assert data(measured) == ([0.0, 1.0, 2.0], [755.0, 1290.0, 1619.0])
    (band,) = upper.collections
    corners = band.get_paths()[0].vertices
    for low, high, k in zip(bound.low, bound.high, counts, strict=True):
        at = corners[corners[:, 0] == k, 1]
        assert (at.min(), at.max()) == pytest.approx((low, high))
    assert sorted(labels(upper)) == ["90 %", "measured", "model"]
    assert (upper.get_ylabel(), lower.get_xlabel()) == ("I/O rate [1/s]", "aliases")
    assert (upper.get_ylim()[0], upper.get_yscale()) == (0, "linear")
    assert upper.get_legend() is not None
    rates, services = drawn(lower)
    off = {each.quantity: [] for each in fit.comparisons}  # type: dict[str, list[float]]
    for each in fit.comparisons:
        off[each.quantity].append(each.off_by)
    assert data(rates) == (pytest.approx([-0.05, 0.95, 1.95]), pytest.approx(off["io_rate"]))
    assert data(services) == (pytest.approx([0.05, 1.05, 2.05]), pytest.approx(off["service_ms"]))
    assert {"I/O rate", "service"} <= set(labels(lower))


def test_an_outlier_is_ringed_above_and_below(fit: Fit) -> None:
    assert len(drawn(both(draw_fit(fit, None))[0])) == 1
    odd = replace(fit, outlier=Outlier(run="+1 of 1", drop=40.0, gap=30.0, second="+0 of 1"))
    upper, lower = both(draw_fit(odd, None))
    rings = [line for line in drawn(upper) if line.get_label() == "outlier, not fitted"]
    assert [data(line) for line in rings] == [([1.0], [1290.0])]
    below = [data(line)[0] for line in drawn(lower) if line.get_markersize() > 10]
    assert below == [pytest.approx([0.95]), pytest.approx([1.05])]


def test_without_aliases_next_to_each_other_figures_keep_their_distance(fit: Fit) -> None:
    runs = [run(0, 1, 755.0, 1.3e-3), run(10, 1, 1619.0, 1.7e-3)]
    found = replace(fit, observations=tuple(runs), comparisons=fit.comparisons[:2] + fit.comparisons[4:])
    one = replace(fit, observations=fit.observations[:1], comparisons=fit.comparisons[:2])
    assert [data(line)[0] for line in drawn(both(draw_fit(one, None))[1])] == [
        [pytest.approx(-0.05)],
        [pytest.approx(0.05)],
    ]
    _, lower = both(draw_fit(found, None))
    assert [data(line)[0] for line in drawn(lower)] == [
        pytest.approx([-0.5, 9.5]),
        pytest.approx([0.5, 10.5]),
    ]


def test_the_figure_drawn_is_the_one_that_most_runs_have(fit: Fit) -> None:
    """Of as many, the rate; a time is in milliseconds."""
    runs = tuple(
        replace(
            each, figures={"service_time": each.figures["service_time"]} if each.aliases else each.figures
        )
        for each in fit.observations
    )
    rows = tuple(each for each in fit.comparisons if each.quantity == "service_ms" or each.run == "+0 of 1")
    upper, _ = both(draw_fit(replace(fit, observations=runs, comparisons=rows), None))
    assert upper.get_ylabel() == "service time [ms]"
    (measured,) = drawn(upper)
    assert data(measured)[1] == pytest.approx([1.3, 1.45, 1.7])


def test_pools_of_several_sizes_have_a_line_each(fit: Fit) -> None:
    assert fit.model is not None
    runs = (*fit.observations[:2], replace(fit.observations[2], volumes=2))
    pool = replace(fit, observations=runs, model=replace_kind(fit))
    upper, _ = both(draw_fit(pool, None))
    assert [line.get_label() for line in upper.lines if line not in drawn(upper)] == [
        "model, 1 volumes", "model, 2 volumes",
    ]  # fmt: skip
    assert [line.get_label() for line in drawn(upper)] == ["measured, 1 volumes", "measured, 2 volumes"]
    assert [data(line)[0] for line in drawn(upper)] == [[0.0, 1.0], [2.0]]
    assert labels(upper).count("90 %") == 1
    assert upper.get_yscale() == "log"


def replace_kind(fit: Fit) -> Any:
    from msgspec import structs

    assert fit.model is not None
    return structs.replace(fit.model, kind="pool", alternatives=None)  # one parameter set, which is quick


def test_a_fit_without_its_sample_is_drawn_as_costs_are(fit: Fit) -> None:
    for without in (replace(fit, model=None), replace(fit, posterior=None)):
        upper, lower = both(draw_fit(without, None))
        assert upper.get_ylabel() == "share of the prediction [%]"
        assert [text.get_text() for text in lower.get_xticklabels()] == ["+0 of 1", "+1 of 1", "+2 of 1"]


def test_counts_hold_those_of_the_runs_and_one_more() -> None:
    for aliases in ([0], [0, 2], [1, 30, 7]):
        found = _counts([run(each, 1, 100.0, 1e-3) for each in aliases])
        most = max(*aliases, 1) + 1
        assert found == sorted(set(found))
        assert set(aliases) <= set(found)
        assert (found[0], found[-1]) == (0, most)
        assert found == list(range(most + 1)) or 9 <= len(found) <= 9 + len(aliases)


def test_answers_name_their_picture() -> None:
    assert Calibration.PICTURE == CostFit.PICTURE == "planner.calibrate.picture:draw_costs"
    assert Fit.PICTURE == "planner.calibrate.picture:draw_fit"
