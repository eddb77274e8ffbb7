"""The error bar: quantiles, samples and their weights against distributions that are known in full."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from msgspec import structs
from scipy.optimize import lsq_linear
from scipy.stats import norm, t, truncnorm

from planner import library
from planner.calibrate.error_bar import (
    NODES,
    _ends,
    _mixture,
    _nearest,
    _open,
    _root,
    bounded,
    central,
    convolved,
    cut_off,
    interval,
    intervals,
    possible,
    stretch,
)
from planner.calibrate.least_squares import LeastSquares, MeasuredFigure
from planner.calibrate.posterior import _chi_square, _sets, points, posterior_sample, quantiles
from planner.calibrate.problem import KEYS, PARAMETERS, Observation, Solution, share_of
from planner.devices.kinds import KINDS
from planner.errors import ConvergenceError, InputError, ReportError
from planner.interval import Interval
from planner.quantity import Quantity
from planner.results import Array


def test_quantiles_of_weighted_values_lie_at_the_middle_of_each_weight() -> None:
    """Three values of weights 1, 2 and 1: their middles are at 1/8, 1/2 and 7/8."""
    values, weights = np.array([30.0, 10.0, 20.0]), np.array([1.0, 1.0, 2.0])
    assert quantiles(values, weights, (1 / 8, 1 / 2, 7 / 8)) == pytest.approx([10, 20, 30])
    assert quantiles(values, weights, (5 / 16, 0.0, 1.0)) == pytest.approx([15, 10, 30])
    assert quantiles(values, 7 * weights, (5 / 16,)) == pytest.approx([15])


def test_central_holds_90_percent_of_equally_likely_values() -> None:
    low, high = central(np.stack([np.arange(1.0, 101.0)[::-1], np.full(100, 5.0)], axis=-1))
    assert low.tolist() == [5.0, 5.0]
    assert high.tolist() == [95.0, 5.0]
    values = np.arange(200.0).reshape(100, 2)
    values[3, 1] = np.nan
    low, high = central(values)
    assert np.isfinite([low[0], high[0]]).all()
    assert np.isnan([low[1], high[1]]).all()


def test_convolved_values_keep_their_mean_and_gain_the_error_of_the_model() -> None:
    """Nine equally likely nodes: their middles are those of the normal distribution."""
    assert NODES.tolist() == pytest.approx([(2 * k + 1) / 18 for k in range(9)])
    values, size = np.array([[10.0, 20.0], [12.0, 30.0]]), np.array([[4.0, 2.0], [4.0, np.inf]])
    found = convolved(values, 0.1, size)
    assert found.shape == (18, 2)
    expected = np.concatenate([[10 + 0.4 * z, 12 + 0.4 * z] for z in norm.ppf(NODES)])
    assert sorted(found[:, 0]) == pytest.approx(sorted(expected))
    assert sorted(found[:, 1]) == pytest.approx(sorted([*(20 + 0.2 * norm.ppf(NODES)), *[30.0] * 9]))
    assert convolved(values, 0.1).std(axis=0)[0] > 0
    assert convolved(values, 0.0) == pytest.approx(np.tile(values, (9, 1)))


def test_stretch_is_that_of_student_at_both_ends_of_90_percent() -> None:
    for degrees in (1.0, 2.5, 7.0, 200.0):
        assert stretch(degrees) == pytest.approx(t.ppf(0.95, degrees) / norm.ppf(0.95))


def free(low: float, high: float, key: str = "a") -> Quantity:
    return Quantity(key=key, low=low, high=high)


def test_a_sample_is_cut_off_at_the_bounds() -> None:
    """Of one number, the truncated normal distribution."""
    for low, high, center, size in ((0.0, 10.0, 1.0, 1.0), (-5.0, 5.0, 0.0, 1.0), (2.0, 3.0, 1.0, 1.0)):
        given = library.Uncertainty(parameters=("a",), center=(center,), covariance=((size**2,),))
        drawn = cut_off(given, [free(low, high)], 500)
        assert drawn.shape == (500, 1)
        assert ((drawn >= low) & (drawn <= high)).all()
        law = truncnorm((low - center) / size, (high - center) / size, center, size)
        for share in (0.05, 0.5, 0.95):
            assert np.quantile(drawn, share) == pytest.approx(law.ppf(share), abs=0.02)


def test_a_sample_has_the_bound_as_often_as_the_normal_distribution_is_beyond_it() -> None:
    """Of one number, the normal distribution clipped at the bounds; far from them the same points as without."""
    given = library.Uncertainty(parameters=("a",), center=(1.0,), covariance=((1.0,),))
    drawn = bounded(given, [free(0.0, 2.5)], 1000)[:, 0]
    for share in (0.05, 0.3, 0.5, 0.9, 0.99):
        assert np.quantile(drawn, share) == pytest.approx(np.clip(norm.ppf(share, 1.0), 0.0, 2.5), abs=0.02)
    assert np.mean(drawn == 0.0) == pytest.approx(norm.cdf(-1.0), abs=0.005)
    assert bounded(given, [free(-9.0, 9.0)], 1000)[:, 0] == pytest.approx(1 + points(1000, 1)[:, 0])


def test_draws_beyond_several_bounds_move_to_the_nearest_point_that_another_solver_finds() -> None:
    random, units = np.random.default_rng(71), np.geomspace(1e-6, 1e3, 6)
    for correlated in np.geomspace(1.0, 1e-3, 12):
        root = random.standard_normal((6, 6)) * np.where(np.arange(6) < 3, 1.0, correlated)
        low, high = -np.abs(random.standard_normal(6)), np.abs(random.standard_normal(6))
        drawn, covariance, whiten = (
            random.standard_normal((20, 6)) @ root.T,
            root @ root.T,
            np.linalg.inv(root),
        )
        found = (
            _nearest(drawn * units, covariance * np.outer(units, units), low * units, high * units) / units
        )
        for each, nearest in zip(drawn, found, strict=True):
            other = lsq_linear(whiten, whiten @ each, (low, high), method="bvls", tol=1e-14, max_iter=1000).x
            off, least = (np.linalg.norm(whiten @ (point - each)) for point in (nearest, other))
            assert off == pytest.approx(least, rel=1e-5, abs=1e-6)
            assert (nearest > low * (1 + 1e-9)).all() and (nearest < high * (1 + 1e-9)).all()


def test_a_sample_has_the_covariance_it_is_given_whatever_the_units() -> None:
    covariance = np.array([[4e-12, 1.2e-6], [1.2e-6, 1.0]])  # a correlation of .6
    given = library.Uncertainty(
        parameters=("a", "b"),
        center=(1e-4, 50.0),
        covariance=tuple(tuple(map(float, row)) for row in covariance),
    )
    drawn = cut_off(given, [free(0.0, 1.0), free(0.0, 100.0, "b")], 4096)
    assert len(drawn) == 4096
    assert drawn.mean(axis=0) == pytest.approx([1e-4, 50.0], rel=1e-3)
    found = np.cov(drawn.T)
    assert np.sqrt(np.diag(found)) == pytest.approx([2e-6, 1.0], rel=0.01)
    assert np.corrcoef(drawn.T)[0, 1] == pytest.approx(0.6, abs=0.01)


def test_of_what_can_hardly_be_a_sample_is_what_there_is_or_the_nearest_bound() -> None:
    given = library.Uncertainty(parameters=("a",), center=(-3.0,), covariance=((1.0,),))
    drawn = cut_off(given, [free(0.0, 1.0)], 400)  # .13 % of the 4096 points lie above zero
    assert 2 <= len(drawn) <= 10 and (drawn > 0.0).all()
    far = library.Uncertainty(parameters=("a",), center=(-30.0,), covariance=((1.0,),))
    assert cut_off(far, [free(0.0, 1.0)], 400).tolist() == [[0.0]]
    none = library.Uncertainty(parameters=("a",), center=(2.0,), covariance=((0.0,),))
    assert cut_off(none, [free(0.0, 5.0)], 10) == pytest.approx(np.full((10, 1), 2.0))


def test_what_is_not_determined_is_log_normal_and_the_others_follow_it() -> None:
    """Mean, deviations and correlation stay; the logarithm is normal."""
    size = np.array([0.05, 0.8])
    given = library.Uncertainty(
        parameters=("a", "b"), center=(2.0, 1.0),
        covariance=tuple(map(tuple, np.outer(size, size) * [[1.0, -0.9], [-0.9, 1.0]])),
    )  # fmt: skip
    drawn = cut_off(given, [free(0.0, 10.0), free(0.0, 100.0, "b")], 4096, vague={"b"})
    deviation = math.sqrt(math.log1p(0.8**2))
    below, middle, above = np.log(np.quantile(drawn[:, 1], [0.05, 0.5, 0.95])) + deviation**2 / 2
    assert middle == pytest.approx(0.0, abs=0.02)
    assert (below, above) == (
        pytest.approx(-1.645 * deviation, abs=0.03), pytest.approx(1.645 * deviation, abs=0.03),
    )  # fmt: skip
    assert drawn.mean(axis=0) == pytest.approx([2.0, 1.0], rel=0.01)
    assert drawn.std(axis=0) == pytest.approx(size, rel=0.05)
    assert np.corrcoef(drawn.T)[0, 1] == pytest.approx(-0.9, abs=0.01)
    none = structs.replace(given, center=(2.0, 0.0))  # zero has no logarithm
    assert np.isfinite(cut_off(none, [free(0.0, 10.0), free(0.0, 100.0, "b")], 64, vague={"b"})).all()


def test_a_root_is_that_of_the_covariance_mended_where_it_is_indefinite() -> None:
    whole = np.array([[4.0, 1.0], [1.0, 3.0]])
    assert _root(whole) @ _root(whole).T == pytest.approx(whole)
    size, broken = (
        np.array([2.0, 1e-3]),
        np.array([[1.0, 1.001], [1.001, 1.0]]),
    )  # eigenvalues 2.001 and -0.001
    root = _root((broken + np.array([[0.0, 1e-9], [-1e-9, 0.0]])) * np.outer(size, size))
    assert root @ root.T / np.outer(size, size) == pytest.approx(np.full((2, 2), 2.001 / 2), abs=1e-8)


def alternative(population: int, share: float, size: float) -> library.Alternative:
    return library.Alternative(
        population=population, share=share, parameters=("service_time_s",), center=(1e-3 * population,),
        covariance=(((size * 1e-3 * population) ** 2,),),
    )  # fmt: skip


def test_a_mixture_has_every_number_of_requesters_by_its_share() -> None:
    known = {each.file_key: each for each in KINDS["volume"].PARAMETERS}
    some = [alternative(3, 0.748, 0.01), alternative(4, 0.25, 0.02), alternative(5, 0.002, 0.01)]
    found = _mixture(some, known, 200)
    assert sorted(found) == ["population", "service_time"]
    counts = {n: int((found["population"] == n).sum()) for n in (3, 4, 5)}
    assert counts == {3: 150, 4: 50, 5: 0}
    for n, size in ((3, 0.01), (4, 0.02)):
        values = found["service_time"][found["population"] == n] / (1e-3 * n)
        assert values.mean() == pytest.approx(1.0, abs=0.1 * size)
        assert values.std() == pytest.approx(size, rel=0.1)
    assert _mixture(some[2:], known, 200) == {}
    wide = _mixture([alternative(3, 1.0, 30.0)], known, 200)["service_time"]  # cut off at the bounds
    assert wide.size == 200 and known["service_time_s"].low <= wide.min() and np.median(wide) > 0.01
    fixed = structs.replace(some[0], parameters=(), center=(), covariance=(), share=1.0)
    assert _mixture([fixed], known, 8)["population"].tolist() == [3.0] * 8


@dataclass(frozen=True, kw_only=True)
class Linear(LeastSquares):
    """Residuals are linear in the logarithms: the posterior distribution is Student's t, cut off at the bounds."""

    STEP: ClassVar[float] = 1e-4
    CENTRAL: ClassVar[bool] = False
    TOLERANCE: ClassVar[float] = 1e-9
    population: int = 3
    observations: tuple[Observation, ...] = ()
    free: tuple[int, ...] = (0, 1)
    fails_below: float = -math.inf

    @property
    def figures(self) -> tuple[MeasuredFigure, ...]:
        return ()

    @property
    def bounds(self) -> tuple[Array, Array]:
        return np.full(2, -0.5), np.full(2, 40.0)

    def residuals(self, points: Array) -> Array:
        if (points[:, 0] < self.fails_below).any():
            raise ConvergenceError("the law", 1.0, 1)
        return (points - 1.0) @ SLOPE.T

    def values(self, points: Array) -> Array:
        return np.concatenate([np.exp(points), np.ones((len(points), 2))], axis=1)


SLOPE = np.array([[4.0, 0.0], [2.0, 5.0]])


def solved(population: int = 3, **more: Any) -> Solution:
    problem: Any = Linear(population=population, **more)
    return Solution(problem=problem, logs=np.ones(2), residuals=np.zeros(2), jacobian=SLOPE)


@pytest.mark.parametrize("degrees", [4.0, 200.0])
def test_the_sample_of_a_linear_law_is_students(degrees: float) -> None:
    """Intervals are its quantiles; center and covariance of the component are those of its exponential."""
    posterior = posterior_sample([solved()], degrees)
    covariance = np.linalg.inv(SLOPE.T @ SLOPE)
    (component,) = posterior.components
    assert (component.population, component.weight) == (3, pytest.approx(1.0))
    assert posterior.weights.sum() == pytest.approx(1.0)
    if degrees > 100:  # nearly the log-normal distribution
        mean = np.exp(1.0 + np.diag(covariance) / 2)
        assert component.center == pytest.approx(mean, rel=0.02)
        assert component.covariance == pytest.approx(
            np.outer(mean, mean) * np.expm1(covariance), rel=0.1, abs=0.03
        )
    for k, key in enumerate(KEYS[:2]):
        for probability in (0.68, 0.9):
            reach = t.ppf((1 + probability) / 2, degrees) * math.sqrt(covariance[k, k])
            low, high = np.log(posterior.interval(key, probability))
            assert (low, high) == (pytest.approx(1 - reach, abs=0.03), pytest.approx(1 + reach, abs=0.03))
    assert posterior.interval("population", 0.9) == (3.0, 3.0)


def test_nothing_of_a_sample_lies_beyond_the_bounds() -> None:
    problem: Any = Linear()
    near = Solution(problem=problem, logs=np.array([-0.45, 1.0]), residuals=np.zeros(2), jacobian=SLOPE)
    found = posterior_sample([near], 4.0)
    assert (np.log(found.values[:, 0]) > -0.5).all()
    assert 100 < len(found.weights) < 512


def test_requesters_weigh_by_their_evidence_and_those_of_a_thousandth_are_left_out() -> None:
    """The same misfit: the odds are those of the prior, 1 / N for what each stands for on the grid."""
    posterior = posterior_sample([solved(3), solved(64), solved(12)], 200.0)
    expected = np.array([share_of(n) for n in (3, 12, 64)])
    expected /= expected.sum()
    order = np.argsort(-expected)
    assert [each.population for each in posterior.components] == np.array([3, 12, 64])[order].tolist()
    assert [each.weight for each in posterior.components] == pytest.approx(expected[order].tolist(), rel=1e-6)
    for n, share in zip((3, 12, 64), expected, strict=True):
        assert posterior.weights[posterior.populations == n].sum() == pytest.approx(share, rel=1e-6)
    worse = Solution(
        problem=solved(4).problem, logs=np.ones(2), residuals=np.array([4.0, 0.0]), jacobian=SLOPE
    )
    assert [each.population for each in posterior_sample([solved(3), worse], 200.0).components] == [3]
    near = Solution(
        problem=solved(4).problem, logs=np.ones(2), residuals=np.array([3.0, 0.0]), jacobian=SLOPE
    )
    assert [each.population for each in posterior_sample([solved(3), near], 200.0).components] == [3, 4]


def test_parameter_sets_that_the_law_cannot_answer_have_no_weight() -> None:
    solution = solved(fails_below=1.0)
    logs = np.array([[1.2, 1.0], [0.8, 1.0], [1.0, 1.1]])
    expected = ((logs - 1) @ SLOPE.T) ** 2
    assert _chi_square(solution, logs)[[0, 2]] == pytest.approx(expected.sum(-1)[[0, 2]])
    assert np.isinf(_chi_square(solution, logs)[1])


def of_volumes(volumes: int, aliases: int) -> Observation:
    return Observation(name="", volumes=volumes, aliases=aliases, population=3, figures={})


def test_a_pool_costs_as_much_however_many_numbers_of_requesters() -> None:
    for volumes, aliases in ((1, 8), (8, 0)):  # queues of their own
        assert _sets(solved(observations=(of_volumes(volumes, aliases),)), 9) == 512
    pool = solved(observations=(of_volumes(1, 0), of_volumes(2, 1)))
    assert [_sets(pool, count) for count in (1, 5, 8, 10, 20, 30)] == [64, 64, 40, 32, 16, 16]


def model(name: str = "hyperpav-volume-runs") -> library.Model:
    return library.read_model(name)


def test_possible_sets_are_those_of_the_model_about_the_estimates() -> None:
    shown = model()
    sets = possible(shown, 64)
    assert sets.best["population"] == shown.population
    assert sets.best["service_time"] == shown.parameters["service_time_s"].value
    assert {len(column) for column in sets.sets.values()} == {len(sets.sets["service_time"])}
    assert abs(len(sets.sets["service_time"]) - 64) <= len(shown.alternatives or ())
    alone = possible(structs.replace(shown, alternatives=None), 64)
    assert {key: column.tolist() for key, column in alone.sets.items()} == {
        key: [value] for key, value in sets.best.items()
    }
    costs = possible(model("processors"), 64)
    assert {len(column) for column in costs.sets.values()} == {64}
    assert "population" not in costs.best
    strange = structs.replace(
        model("processors"),
        parameters={**model("processors").parameters, "speed": shown.parameters["inflation"]},
    )
    with pytest.raises(
        ReportError, match="unknown parameter `speed`; a model of kind processors has cpu_time_s"
    ):
        possible(strange, 64)


def test_a_mistyped_measured_range_and_a_value_beside_what_no_longer_belongs_to_it_are_refused() -> None:
    mistyped = structs.replace(model(), validity={"aliasses": (0.0, 2.0)})
    with pytest.raises(
        ReportError, match=r"unknown key of `validity` `aliasses`; a model of kind volume has aliases,"
    ):
        possible(mistyped, 64)
    for name, key, table in (
        ("hyperpav", "inflation", "alternatives"),
        ("paging-eckd", "cp_time_s", "uncertainty"),
    ):
        known = model(name)
        entry = known.parameters[key]
        doubled = structs.replace(entry, value=2 * entry.value, low=None, high=None)
        changed = structs.replace(known, parameters={**known.parameters, key: doubled})
        with pytest.raises(
            ReportError,
            match=f"`parameters.{key}` is {doubled.value:g}, `{table}` has .* change both, or remove",
        ):
            possible(changed, 64)
        assert possible(structs.replace(changed, **{table: None}), 64).best


@pytest.mark.parametrize(
    ("name", "figure", "asked", "problem"),
    [
        ("paging-eckd", "page_rate", {"outstanding": 1.0, "think_time": 0.0, "arrival_rate": -5.0, "scv": 1.0},
         "arrival_rate = -5.0 1/s"),
        ("disk-xedit-emulated-fba", "rate",
         {"mode": "bogus", "hit_ratio": 0.5, "requesters": 1.0, "processors": 1.0, "disks": 1.0}, "mode = 'bogus'"),
        ("disk-xedit-emulated-fba", "rate",
         {"mode": "off", "hit_ratio": 0.5, "requesters": 1.5, "processors": 1.0, "disks": 1.0}, "requesters = 1.5"),
        ("channel-program", "processors",
         {"bits": "64", "translation": "fast", "read_share": 0.5, "data_rate": -5e7}, "data_rate = -50000000.0 b"),
    ],
)  # fmt: skip
def test_a_law_refuses_what_it_does_not_take(
    name: str, figure: str, asked: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        interval(figure, model(name), [asked])


def test_a_figure_that_the_kind_does_not_have_is_refused_and_a_missing_parameter_named() -> None:
    asked: list[Mapping[str, Any]] = [{"processors": 14.0}]
    with pytest.raises(InputError, match="figure = 'speed': expected one of"):
        interval("speed", model("processors"), asked)
    less = {key: value for key, value in model("processors").parameters.items() if key != "contention"}
    with pytest.raises(ReportError, match=r"expected `parameters\.contention`"):
        interval("itr", structs.replace(model("processors"), parameters=less, uncertainty=None), asked)


def test_every_figure_lies_within_its_interval_and_both_ways_agree() -> None:
    asked: list[Mapping[str, Any]] = [{"processors": float(n)} for n in (1, 8, 14)]
    every = intervals(model("processors"), asked)
    for key, found in every.items():
        one = interval(key, model("processors"), asked)
        assert one.value.tolist() == found.value.tolist()
        assert ((found.low <= found.value) & (found.value <= found.high)).all()
        assert (found.low < found.high).all()


QUALITY = library.FitQuality(runs=(), model_error=0.1)
RATE = Quantity(key="rate", high=150.0)


def test_one_parameter_set_has_the_error_of_the_law_around_it() -> None:
    """Without degrees of freedom that of the normal distribution, its outermost nodes; with few of them Student's."""
    drawn = {"rate": np.array([[100.0]]), "size": np.array([[50.0]])}
    last = norm.ppf(17 / 18)
    low, high = _ends(RATE, drawn, QUALITY)
    assert (low[0], high[0]) == pytest.approx((100 - 10 * last, 100 + 10 * last))
    low, high = _ends(Quantity(key="rate", error_of="size"), drawn, QUALITY)
    assert (low[0], high[0]) == pytest.approx((100 - 5 * last, 100 + 5 * last))
    low, high = _ends(RATE, drawn, structs.replace(QUALITY, degrees_of_freedom=3.0))
    assert low[0] == pytest.approx(100 - 10 * last * t.ppf(0.95, 3) / norm.ppf(0.95))
    low, high = _ends(RATE, drawn, structs.replace(QUALITY, degrees_of_freedom=1.0))
    assert low[0] == pytest.approx(100 - 10 * last * stretch(1.0))
    assert high[0] == 150.0  # no more than there can be
    low, high = _ends(RATE, drawn, structs.replace(QUALITY, degrees_of_freedom=0.5))
    assert (low.tolist(), high.tolist()) == ([0.0], [150.0])  # nothing bounds it


def opened(
    changed: library.Model, aliases: tuple[float, ...], given: dict[str, float] | None = None
) -> list[bool]:
    kind = KINDS[changed.kind]
    (rate,) = [each for each in kind.FIGURES if each.key == "io_rate"]
    sets, asked = possible(changed, 8), [{"aliases": each, "volumes": 1.0} for each in aliases]
    one = {key: np.array([value]) for key, value in sets.best.items()}
    best = kind.ask(one, asked)
    return [bool(each) for each in _open(changed, rate, best, sets, given or {}, asked)]


def test_more_devices_than_were_ever_idle_have_no_upper_end() -> None:
    shown = model()
    busy = structs.replace(shown, fit=structs.replace(shown.fit, saturated=True))
    most = shown.validity["aliases"][1]
    assert opened(busy, (most - 1, most, most + 1)) == [False, False, True]
    assert opened(shown, (most - 1, most, most + 1)) == [False, False, False]


def test_a_parameter_without_a_bound_opens_what_it_moves() -> None:
    """No inflation was seen with one device: with more of them, more of it would slow the volume, not speed it up."""
    shown = structs.replace(model(), alternatives=None)
    unknown = {
        key: structs.replace(each, status="not determined", high=None)
        for key, each in shown.parameters.items()
    }

    def one(key: str) -> library.Model:
        return structs.replace(shown, parameters={**shown.parameters, key: unknown[key]})

    assert opened(one("inflation"), (0.0, 2.0)) == [False, False]
    (rate,) = [each for each in KINDS["volume"].FIGURES if each.key == "service"]
    changed = one("inflation")
    sets, asked = possible(changed, 8), [{"aliases": each, "volumes": 1.0} for each in (0.0, 2.0)]
    best = KINDS["volume"].ask({key: np.array([value]) for key, value in sets.best.items()}, asked)
    assert _open(changed, rate, best, sets, {}, asked).tolist() == [False, True]
    assert _open(changed, rate, best, sets, {"inflation": 0.1}, asked).tolist() == [False, False]  # given
    bounded = structs.replace(unknown["inflation"], high=0.5)
    held = structs.replace(changed, parameters={**changed.parameters, "inflation": bounded})
    assert _open(held, rate, best, sets, {}, asked).tolist() == [False, False]
    settled = structs.replace(changed, alternatives=(alternative(3, 1.0, 0.1),))
    assert _open(settled, rate, best, sets, {}, asked).tolist() == [False, True]
    whole = structs.replace(
        settled, alternatives=(structs.replace(alternative(3, 1.0, 0.1), parameters=("inflation",)),)
    )
    assert _open(whole, rate, best, sets, {}, asked).tolist() == [False, False]  # it is part of every set


def test_points_are_always_the_same_and_nobody_can_change_them() -> None:
    assert points(64, 2) is points(64, 2)
    with pytest.raises(ValueError, match="read-only"):
        points(64, 2)[0, 0] = 1.0


def test_an_answer_has_its_estimate_between_its_ends() -> None:
    found = interval("io_rate", model(), [{"aliases": 1.0, "volumes": 1.0}])
    assert isinstance(found, Interval)
    assert {parameter.key for parameter in PARAMETERS} == set(KEYS)
    assert found.low[0] < found.value[0] < found.high[0]
