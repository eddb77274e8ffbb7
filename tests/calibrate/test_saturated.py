"""Devices that were busy in every run: known requesters bound what is asked of more of them, unknown ones do not.

Bounds are those of Little's law; coverage is that of drawn volumes, whose inflation follows what is believed of it.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from planner import calibrate, whatif
from planner.cli import main
from planner.errors import InputError
from planner.interval import Interval
from planner.library import Model, data_path
from planner.reports import Printed
from tests.calibrate.cases import law

OPEN_ABOVE = ("io_rate", "wait", "response", "queued")
WHERE = [("pool", "pool-0-aliases"), ("volume", "522A-0-aliases"), ("pool", "pool-8-aliases")]


def listing(name: str) -> Path:
    return data_path("hyperpav", f"{name}.listing")


@cache
def model(kind: str, *names: str, population: int | None = 3, fix: tuple[str, ...] = ()) -> Model:
    task = calibrate.Task(files=[listing(each) for each in names], population=population, fix=fix)
    return calibrate.calibrate(kind, task)[1]


def asked(found: Model, *counts: float) -> dict[str, Interval]:
    return dict(whatif.predict(found, {}, {"aliases": counts}).values)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "names"), [
    ("pool", ("pool-0-aliases",)), ("volume", ("522A-0-aliases",)), ("pool", ("pool-0-aliases", "pool-8-aliases")),
])  # fmt: skip
def test_known_requesters_bound_every_answer_by_littles_law(kind: str, names: tuple[str, ...]) -> None:
    """Requesters have at most one I/O outstanding each: rate x response is at most their number."""
    found = model(kind, *names)
    assert not found.fit.saturated
    requesters = 3.0 * found.validity["volumes"][0]
    most = 255.0 if kind == "volume" else 248.0
    answer = asked(found, 0.0, 1.0, 4.0, 12.0, 24.0, most)
    error = 1 + 3 * found.fit.model_error
    rate, wait, response = (answer[key] for key in ("io_rate", "wait", "response"))
    for key in OPEN_ABOVE:
        assert np.isfinite(answer[key].high).all(), key
    # what makes service short makes the rate high, each with an error of its own
    assert (rate.high * answer["service"].low <= requesters * error**2).all()
    assert (rate.low * response.high <= requesters * error**2).all()
    assert (answer["queued"].high <= requesters).all()
    # more devices never make longer what one waits, nor less what they do
    assert (np.diff(wait.high) <= 0).all()
    assert (np.diff(rate.low) >= 0).all() and (np.diff(rate.high) >= 0).all()
    assert wait.high[-1] <= (error - 1) * response.high[-1]  # a device for everybody


@pytest.mark.long
@pytest.mark.parametrize(("kind", "name"), WHERE)
def test_the_measured_count_holds_what_was_measured(kind: str, name: str) -> None:
    found = model(kind, name)
    measured = {run.quantity: run.measured for run in found.fit.runs}
    answer = asked(found, found.validity["aliases"][0])
    rate, queued = measured["io_rate"], measured["queued"]
    factors = {
        "io_rate": rate,
        "service": measured["service_ms"] / 1e3,
        "queued": queued,
        "wait": queued / rate,
    }
    for key, value in factors.items():
        assert answer[key].low[0] <= value <= answer[key].high[0], key
        assert answer[key].high[0] - answer[key].low[0] <= 0.3 * value, key


@pytest.mark.long
def test_unknown_requesters_bound_nothing_but_a_known_think_time_tells_them() -> None:
    """Present I/Os and rate x think time add up to the requesters: one of the two tells the other."""
    unknown = model("pool", "pool-0-aliases", population=None)
    assert unknown.fit.saturated
    for key in OPEN_ABOVE:
        assert np.isposinf(asked(unknown, 0.0, 1.0)[key].high).tolist() == [False, True]
    known = model("pool", "pool-0-aliases", population=None, fix=("think_time=0.243ms",))
    assert known.population == 3 and not known.fit.saturated
    assert np.isfinite(asked(known, 0.0, 24.0)["io_rate"].high).all()


@pytest.mark.parametrize("population", [2.5, 0, -3, 1001, float("nan"), True])
def test_requesters_that_are_no_count_are_refused(population: float) -> None:
    runs = calibrate.read_observations([listing("pool-0-aliases")], "pool")
    with pytest.raises(InputError, match=r"^population = .*: expected a count of at least 1, at most 1000$"):
        calibrate.fit(runs, population=population)  # type: ignore[arg-type]


@pytest.mark.parametrize(("population", "told"), [
    ("0", "--population = 0: expected a count of at least 1"),
    ("2", "= 2: expected at least 3: rate x response is 2.64 a volume"),
])  # fmt: skip
def test_the_command_names_its_option(
    population: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["calibrate", str(listing("pool-0-aliases")), "--kind", "pool", "--population", population]
    assert main([*words, "-o", str(tmp_path / "m.toml")]) == 2
    assert told in " ".join(capsys.readouterr().err.split())


def drawn(random: np.random.Generator) -> tuple[dict[str, float], calibrate.Observation, int]:
    """A volume whose devices never idle, with one row of one or two devices, printed like a listing."""
    service, population, aliases = (
        random.uniform(0.8e-3, 3e-3),
        int(random.integers(5, 13)),
        int(random.integers(0, 2)),
    )
    truth = {
        "population": float(population),
        "service_time": service,
        "think_time": service * random.uniform(0.01, 0.3),
        "inflation": float(np.clip(0.12 * np.exp(random.standard_normal()), 1e-4, 2.0)),
        "redrive_time": service * 0.05 * float(np.exp(0.5 * random.standard_normal())),
    }
    rate, time, queue = law(truth, aliases)
    figures = {
        "io_rate": Printed(round(rate * np.exp(0.02 * random.standard_normal())), 0.5),
        "service_time": Printed(time * np.exp(0.02 * random.standard_normal()), 0.05e-3),
        "queued": Printed(max(queue + 0.02 * population * random.standard_normal(), 0.0), 0.005),
    }
    return (
        truth,
        calibrate.Observation(name="", volumes=1, aliases=aliases, population=population, figures=figures),
        aliases,
    )


@pytest.mark.long
def test_one_row_of_known_requesters_holds_what_is_measured_later() -> None:
    """Nothing tells inflation from one row: its range is what is believed, and every interval has both of its ends."""
    random, inside = np.random.default_rng(904), defaultdict(list)
    for _ in range(60):
        truth, row, _ = drawn(random)
        fit = calibrate.fit([row])
        low, high = fit.posterior.interval("inflation", 0.9) if fit.posterior else (0.0, 0.0)
        assert low < 0.035 and high > 0.45  # 0.12 exp(+/- 1.64) is 0.023 to 0.62
        answer = asked(calibrate.to_model(fit, kind="volume", title="", files=[], runs=[row]), 3.0, 15.0)
        for k, count in enumerate((3, 15)):
            rate, service, queue = law(truth, count)
            for key, value in {
                "io_rate": rate,
                "service": service,
                "response": service + queue / rate,
            }.items():
                assert np.isfinite(answer[key].high[k])
                later = value * np.exp(0.02 * random.standard_normal())
                inside[key, count].append(bool(answer[key].low[k] <= later <= answer[key].high[k]))
    # of 60 drawn, 90 % has a standard deviation of 4 %
    shares = {each: float(np.mean(found)) for each, found in inside.items()}
    assert min(shares.values()) >= 0.78, shares
    assert 0.8 <= np.mean([*shares.values()]) <= 0.98, shares
