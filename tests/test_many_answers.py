"""Many volumes in one question, what is too quiet to matter, where aliases may not be the problem, what to type."""

from __future__ import annotations

import csv
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import planner
from planner import sizing
from planner.cli import main
from planner.demand import DeviceModel, Target
from planner.errors import InputError
from planner.library import data_path, origin, read_model
from planner.measurements import Run
from planner.sizing.commands import expanded
from planner.sizing.gaps import below_floor
from planner.sizing.need import Need, size, worst_by_need
from planner.sizing.question import numbers_of, run_of
from planner.sizing.volume import SizedVolume

POOL = str(data_path("hyperpav", "pool-0-aliases.listing"))
RATES, SERVICES = [755.0, 8.2, 300.0, 120.0, 40.0], ["1.3ms", "1ms", "2ms", "0.9ms", "4ms"]
QUEUES, IN_USE = [1.84, 0.01, 0.62, 0.3, 1.2], [0, 0, 2, 1, 1]


@cache
def several(**more: object) -> sizing.VolumesAnswer:
    answer = planner.aliases(rate=RATES, service=SERVICES, queue=QUEUES, in_use=IN_USE, **more)  # type: ignore[arg-type]
    assert isinstance(answer, sizing.VolumesAnswer)
    return answer


@cache
def alone(k: int, **more: object) -> sizing.AliasAnswer:
    answer = planner.aliases(rate=RATES[k], service=SERVICES[k], queue=QUEUES[k], in_use=IN_USE[k], **more)  # type: ignore[arg-type]
    assert isinstance(answer, sizing.AliasAnswer)
    return answer


def drawn(seed: int, many: int) -> list[Run]:
    random = np.random.default_rng(seed)
    service = random.lognormal(np.log(1e-3), 0.6, many)
    rate = np.minimum(random.lognormal(np.log(150), 1.2, many), 0.9 / service)
    queue = np.where(random.random(many) < 0.3, 0.0, rate * service * random.lognormal(-1, 1, many))
    return [
        run_of(
            numbers_of(rate=float(f"{x:.1f}"), service=float(f"{s:.5f}"), queue=f"{q:.2f}", in_use=int(n)),
            pool=False,
        )
        for x, s, q, n in zip(rate, service, queue, random.integers(0, 4, many), strict=True)
    ]


@pytest.mark.first(3)
@pytest.mark.parametrize("k", range(len(RATES)))
def test_arrays_are_answered_as_each_row_alone_in_their_order(k: int) -> None:
    answer = several(floor=0.0)
    row, one = answer.rows[k], alone(k, floor=0.0)
    assert (row.name, row.recommended, row.range) == (f"row {k + 1}", one.recommended, one.range)
    assert row.now is not None and row.then is not None
    assert row.now.io_rate == pytest.approx(float(one.rows.io_rate[one.in_use]), rel=1e-5)
    assert row.then.response_time == pytest.approx(float(one.rows.response_time[one.recommended]), rel=1e-5)
    verdict = sizing.many_volumes._verdict(one.count, one.helps, one.waiting)
    assert row.verdict == ("saturated" if one.saturated else verdict)
    assert len(answer.to_polars()) == len(RATES)


@pytest.mark.long
def test_side_by_side_is_as_one_by_one() -> None:
    """Curves and ends of the range that were found together, against those of the same readings solved alone."""
    device_model, runs = DeviceModel.from_model("hyperpav"), drawn(5, 30)
    counts = np.arange(6.0)
    for each in size([[run] for run in runs], device_model, Target(), [0.0] * len(runs)):
        assert isinstance(each, SizedVolume) and each.solved is not None
        together, ends = each.model(counts), sorted(each.moved_counts)
        each.solved = None
        del each.moved_counts
        assert ends == sorted(each.moved_counts)
        for name in ("io_rate", "service_time", "queued"):
            found, wanted = (getattr(rows, name) for rows in (together, each.model(counts)))
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)


def test_a_row_that_is_wrong_stays_in_its_place() -> None:
    answer = planner.aliases(
        rate=[755, np.nan, 100], service=["1.3ms", "1ms", "20.0ms"], queue=[1.84, 0.2, 0.3]
    )
    assert isinstance(answer, sizing.VolumesAnswer)
    assert [row.verdict for row in answer.rows] == ["gains", "no answer", "no answer"]
    assert answer.exit_code == 2
    assert "row 3" in answer.notes[1] and "at most 10 ms" in answer.notes[1]
    with pytest.raises(InputError, match="3 of rate, 2 of queue"):
        planner.aliases(rate=[1, 2, 3], service=1e-3, queue=[0.1, 0.2])


@pytest.mark.long
def test_what_is_nan_in_an_array_was_not_measured() -> None:
    answer = planner.aliases(
        rate=[400.0, 400.0], service=1e-3, queue=[np.nan, 0.5], in_use=np.array([1.0, 1.0])
    )
    assert isinstance(answer, sizing.VolumesAnswer)
    unknown = planner.aliases(rate=400.0, service=1e-3, in_use=1)
    assert isinstance(unknown, sizing.AliasAnswer)
    assert answer.rows[0].recommended == unknown.recommended
    pools = planner.aliases(rate=[400.0, 300.0], service=1e-3, queue=[0.5, 0.4], volumes=4)
    assert isinstance(pools, sizing.Subsystem) and len(pools.pools) == 2


@pytest.mark.long
def test_nan_in_a_frame_is_an_empty_cell_of_a_file(tmp_path: Path) -> None:
    columns = {
        "volume": ["A", "B", "C"], "io_rate": [700.0, 300.0, 90.0], "service_ms": [1.3, 1.0, 2.0],
        "queued": [1.8, float("nan"), 0.4], "pool": ["P", "P", "P"], "aliases": [2.0, float("nan"), 2.0],
    }  # fmt: skip
    frame = pl.DataFrame(columns)
    file = tmp_path / "volumes.csv"
    frame.fill_nan(None).write_csv(file)
    told = []
    for source in (frame, frame.to_dict(as_series=False), file):
        asked = pytest.importorskip("pandas").DataFrame(source) if isinstance(source, dict) else source
        try:
            answer = planner.aliases(asked).to_dict()
            told.append([answer[name] for name in ("recommended", "range", "volumes_missing", "measured")])
        except planner.PlannerError as error:
            told.append(str(error).rpartition(": ")[2])
    assert told[0] == told[1] == told[2]


@pytest.mark.long
def test_quiet_volumes_are_counted_not_listed() -> None:
    answer = several()
    assert [row.verdict for row in answer.rows][1] == "below the floor"
    assert "1 is too quiet to matter" in answer.headline
    assert "row 2" not in str(answer.overview().records())
    queues = [row.rank for row in answer.listed]
    assert queues == sorted(queues, reverse=True)
    assert len(several(floor=0.0).listed) == len(RATES)
    for floor in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="floor"):
            several(floor=floor)


@pytest.mark.long
def test_the_digits_of_a_quiet_volume_cannot_tell() -> None:
    answer = alone(1)
    assert answer.headline.startswith(
        "volume: the digits cannot tell: 8.2/s at 0.82 % busy with 0.01 I/Os queued"
    )
    assert answer.to_dict()["below_floor"] is True
    assert "busier" in answer.notes[-1]
    assert "cannot tell" not in alone(1, floor=0.0).headline
    assert "cannot tell" not in alone(0).headline


def test_a_quiet_interval_is_the_worst_only_among_its_like() -> None:
    quiet, busy = (
        run_of(numbers_of(rate=rate, service=1e-3, queue=queue), pool=False)
        for rate, queue in ((8, 0.01), (300, 0.1))
    )
    assert below_floor(quiet) and not below_floor(busy)
    assert worst_by_need([Need(count=4), Need(count=1)], [(quiet,), (busy,)]) == 1
    assert worst_by_need([Need(count=4), Need(count=1)], [(quiet,), (quiet,)]) == 0


@pytest.mark.long
def test_implausible_answers_say_so_first() -> None:
    many = planner.aliases(rate="300/s", service="2ms", queue=3.0, in_use=1)
    assert isinstance(many, sizing.AliasAnswer) and many.recommended - many.in_use > 2
    assert many.headline.startswith("volume: perhaps no alias problem (")
    assert "over twice those in use" in many.headline
    assert "control unit" in many.notes[0] and "cache" in many.notes[0]
    assert many.to_dict()["doubts"]
    plain = alone(0)
    assert not plain.doubts and "no alias problem" not in plain.text()
    assert not sizing.gaps.reasons(4, 12, 1e-3, 1.49e-3)
    assert sizing.gaps.reasons(0, 33, 1e-3, 1e-3) == ["33 more aliases"]
    assert sizing.gaps.reasons(4, 5, 1e-3, 1.51e-3) == ["the service time grows by 51 %"]
    assert sizing.gaps.reasons(4, 2, 1e-3, 3e-3) == []


@pytest.mark.long
def test_every_answer_names_its_model_and_its_age() -> None:
    words = "By model hyperpav (IBM DS8000 of 2007, ECKD), not your subsystem"
    pools = planner.aliases(rate=[400.0, 300.0], service=1e-3, queue=[0.5, 0.4], volumes=4)
    for answer in (alone(0), several(), pools):
        assert sum(note.startswith(words) for note in answer.notes) == 1
    assert origin(read_model("hyperpav")) == "IBM DS8000 of 2007, ECKD"
    assert origin(read_model("paging-eckd")) == ""


def test_without_a_model_aliases_cost_nothing() -> None:
    answer = alone(0, model="none")
    assert answer.rows.service_time == pytest.approx(1.3e-3, rel=1e-12)
    assert any(note.startswith("By no model (--model none)") for note in answer.notes)
    assert (DeviceModel.from_model("none").inflation, DeviceModel.from_model("none").redrive_time) == (
        0.0,
        0.0,
    )


def test_targets_have_units() -> None:
    assert planner.Target(wait="0.1ms", response="2ms", queued="0.5", no_alias="1%") == Target(
        wait=1e-4, response=2e-3, queued=0.5, no_alias=0.01
    )
    for wrong in ({"wait": "2"}, {"response": "2GB"}, {"queued": -1.0}, {"wait": float("nan")}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            planner.Target(**wrong)  # type: ignore[arg-type]
    assert alone(0, wait="0.01ms").rows.aliases.size == alone(0, target=Target(wait=1e-5)).rows.aliases.size
    with pytest.raises(InputError, match="they exclude each other"):
        alone(0, target=Target(wait=1e-5), wait="1ms")


@pytest.mark.long
def test_the_old_spelling_of_a_pool_still_works() -> None:
    new, old = (planner.aliases(POOL, **how) for how in ({"kind": "pool"}, {"pool": True}))  # type: ignore[arg-type]
    assert new.to_dict() == old.to_dict()
    with pytest.raises(InputError, match="volume or pool"):
        planner.aliases(POOL, kind="pools")  # type: ignore[call-overload]


@pytest.mark.long
def test_csv_has_a_row_a_volume_and_the_curves_where_asked(capsys: pytest.CaptureFixture[str]) -> None:
    tables = []
    for more in ((), ("--curves",)):
        assert main(["aliases", "volume", POOL, "--csv", *more]) == 0
        tables.append(list(csv.DictReader(io.StringIO(capsys.readouterr().out))))
    rows, curves = tables
    assert len(rows) == 8 and {"device", "verdict", "recommended", "recommended_low", "io_rate_after"} <= set(
        rows[0]
    )
    assert {
        "device",
        "aliases",
        "io_rate",
        "io_rate_low",
        "service_ms",
        "no_alias",
        "response_high_ms",
    } <= set(curves[0])
    assert len({row["device"] for row in curves}) == 8 and len(curves) > 8


@pytest.mark.long
def test_a_table_of_many_volumes_makes_no_answer_of_each(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only --json and --curves print them."""
    made, answer = [], SizedVolume.answer
    monkeypatch.setattr(SizedVolume, "answer", lambda sized: made.append(sized) or answer(sized))
    assert main(["aliases", "volume", POOL]) == 0
    assert "8 volumes" in capsys.readouterr().out and not made
    assert main(["aliases", "volume", POOL, "--json"]) == 0
    assert len(made) == 8


@pytest.mark.long
def test_commands_are_for_the_recommended_count(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["aliases", "pool", "docs/examples/subsystem.csv"]
    assert main([*given, "--commands", "zvm", "--free", "5251-5252,52A0-52AF", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["commands"]
    # pool 22 has more in use than its count, but no more than its range
    assert found[:3] == ["QUERY PAV ALL", "ATTACH 5251-5252 52A0 TO SYSTEM", "ATTACH 52A1 TO SYSTEM"]
    assert "DEFINE HYPERPAVALIAS" in found[3] and len(found) == 4
    for platform, words in (("linux", "chzdev --enable dasd"), ("zos", "D M=DEV(522A)")):
        listing = str(data_path("hyperpav", "522A-0-aliases.listing"))
        assert main(["aliases", "volume", listing, "--commands", platform]) == 0
        text = capsys.readouterr().out
        assert words in text and max(map(len, text.splitlines())) <= 80
    assert main([*given, "--commands", "zvm", "--free", "5251-5253"]) == 2
    assert "4 alias device numbers or more; these are 3" in " ".join(capsys.readouterr().err.split())
    assert main([*given, "--commands", "zvm", "--free", "5251-5254"]) == 0  # as many as it takes
    assert expanded("5251-5253,5250,5252") == [0x5251, 0x5252, 0x5253, 0x5250]


@pytest.mark.long
@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (("--commands", "mvs"), "one of zvm, linux, zos"), (("--free", "5251"), "--commands with it"),
        (("--commands", "zvm", "--free", "x"), "5251-5258"),
    ],
)  # fmt: skip
def test_commands_that_no_platform_has_are_refused_before_anything_is_read(
    more: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["aliases", "pool", "there-is-no-such-file.csv", *more]) == 2
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "given", "expected"),
    [
        (None, {"queued": [1.0, 2.0]}, "queued = [1.0, 2.0]: expected a target"),
        (None, {"queued": True}, "queued = True: expected a target"),
        (None, {"in_use": "two"}, "in_use = 'two': expected whole numbers"),
        (None, {"volumes": 2.5}, "volumes = 2.5: expected whole numbers"),
        (None, {"service": object()}, ": expected a time"),
        (None, {"floor": "5%"}, "floor = '5%': expected I/Os"),
        (None, {"target": "2ms"}, "target = '2ms': expected a planner.Target"),
        (POOL, {"exclude": ["522A"]}, "exclude = ['522A']: expected device numbers in one text"),
        (POOL, {"start": 2026}, "start = 2026: expected a day or a time"),
        (POOL, {"interval": 10.5}, "interval = 10.5: expected worst, mean, or a time"),
        (POOL, {"system": 1}, "system = 1: expected the name of a system"),
        (None, {"exclude": "522A"}, "exclude = '522A': expected a file beside it"),
        (POOL, {"map": ["io_rate"]}, "map = ['io_rate']: expected columns"),
        (POOL, {"model": None}, "model is not given: expected the name of a model"),
    ],
)
def test_a_value_of_another_type_is_named(source: str | None, given: dict[str, Any], expected: str) -> None:
    numbers = {} if source else {"rate": "755/s", "service": "1.3ms", "queue": 1.84}
    with pytest.raises(InputError) as refused:
        planner.aliases(source, **{**numbers, **given})
    assert expected in str(refused.value)
