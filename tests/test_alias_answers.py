"""What every alias answer keeps to: measured rows, contradictions, first lines, physical bands, bursts."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import planner
from planner import queueing, sizing
from planner.demand import DeviceModel
from planner.errors import InputError
from planner.interval import Interval
from planner.library import data_path
from planner.measurements import Run, from_numbers, intervals, pool_runs, read, volume_runs
from planner.site.question import site
from planner.sizing.need import need
from tests.demand.accuracy import run_of
from tests.reports.printing import page, row

HEAD = "pool,volume,io_rate,service_ms,queued"
ROWS = {  # rate, service [ms], queue of one volume: bursty at 1 % busy, bursty, busy, overloaded
    "hardly used": (2.1, 6.0, 0.0126),
    "bursty": (100.0, 1.0, 0.30),
    "closed": (755.0, 1.3, 1.84),
    "Poisson": (400.0, 1.0, 0.27),
    "long queue": (755.0, 1.3, 20.0),
}


@cache
def asked(rate: float, service_ms: float, queue: float, **more: object) -> sizing.AliasAnswer:
    found = planner.aliases(rate=f"{rate:g}/s", service=f"{service_ms:g}ms", queue=f"{queue:g}", **more)  # type: ignore[arg-type]
    assert isinstance(found, sizing.AliasAnswer)
    return found


@pytest.mark.first(4)
@pytest.mark.parametrize("in_use", [0, 1])
@pytest.mark.parametrize("name", ROWS)
def test_the_row_in_use_is_the_measurement(name: str, in_use: int) -> None:
    rate, service, queue = ROWS[name]
    answer = asked(rate, service, queue, in_use=in_use)
    rows = answer.rows
    assert rows.io_rate[in_use] == pytest.approx(rate, rel=1e-9)
    assert rows.service_time[in_use] == pytest.approx(service * 1e-3, rel=1e-9)
    assert rows.queued[in_use] == pytest.approx(queue, rel=1e-9)
    assert rows.response_time[in_use] == pytest.approx(service * 1e-3 + queue / rate, rel=1e-9)


@pytest.mark.parametrize("name", ROWS)
def test_bands_are_physical(name: str) -> None:
    """More aliases never lower the rate, nor an end of its band; the measurement lies in it."""
    rate, service, queue = ROWS[name]
    answer = asked(rate, service, queue, in_use=0)
    for end in (answer.rate.low, answer.rate.high):
        assert (np.diff(end) >= -1e-9 * rate).all()
    assert answer.rate.low[0] <= rate <= answer.rate.high[0]
    assert (answer.rate.low[1:] >= answer.rate.low[0]).all()
    assert (answer.response.low <= answer.response.value).all()
    assert (answer.response.value <= answer.response.high).all()


@pytest.mark.long
def test_the_high_end_never_falls_with_the_queue() -> None:
    """Issue of today: 5, 13, 12, 26, 3, 3, none, none."""
    answers = [asked(755, 1.3, queue) for queue in (5, 20, 25, 30, 60, 100)]
    highs = [answer.range[1] for answer in answers]
    assert highs == sorted(highs)
    for answer in answers:
        assert all(isinstance(end, int) and 0 <= end <= 255 for end in answer.to_dict()["range"])
        assert answer.range[0] <= answer.recommended <= answer.range[1]
    assert [answer.saturated for answer in answers] == [False, False, False, True, True, True]
    saturated = answers[-1]
    assert saturated.to_dict()["recommended"] == 3
    assert "saturated" in saturated.headline
    assert "measure again" in saturated.headline


@pytest.mark.long
@pytest.mark.parametrize("queues", [(300.0, 0.0), (300.0, 0.8), (40.0, 0.0)])
def test_a_volume_that_never_idles_makes_its_pool_saturated(
    queues: tuple[float, float], tmp_path: Path
) -> None:
    """Whatever waits at the other one: alone it is saturated as well, and nobody knows what it would ask for."""
    path = tmp_path / "pool.csv"
    rows = [
        f"A,{name},{rate},3.0,{queue}"
        for name, rate, queue in zip(("0100", "0101"), (330, 180), queues, strict=True)
    ]
    path.write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
    answer = planner.aliases(path)
    assert answer.saturated and asked(330, 3.0, queues[0]).saturated
    assert answer.range[0] <= answer.recommended <= 8 and answer.range[1] >= queues[0] * 0.8
    assert "measure again" in answer.headline and "1 of 2 volumes always busy" in answer.why


@pytest.mark.long
def test_a_second_row_shows_what_a_volume_that_never_idles_asks_for() -> None:
    """Forty requesters that hardly think beside one that does, solved by the queueing model at each count."""
    device_model = DeviceModel(inflation=0.05, redrive_time=5e-5, model_error=0.02)
    people = {"population": [40, 1], "think_time": [1e-4, 3e-3]}
    solved = queueing.alias_pool(
        np.arange(41), volumes=[1, 1], service_time=3e-3, inflation=0.05, redrive_time=5e-5, **people
    )
    rate, service = solved.throughput, solved.service_time
    queue = solved.queue_length - solved.in_gap
    needed = int(np.argmax(queue.sum(axis=1) <= 0.05 * (rate * service).sum(axis=1)))

    def row(aliases: int) -> Run:
        rows = np.array([each[aliases] for each in (rate, service, queue, queue)])
        return run_of(rows, aliases, listing=True, pool=True)

    alone, several = need([(row(0),), (row(0), row(8))], device_model)
    assert alone.decided == "saturated" and several.decided == "steady demand"
    for found in (alone, several):
        assert found.low <= needed <= found.high
    assert several.low >= 0.6 * needed


def test_bursts_ask_for_more_than_a_steady_reading_would() -> None:
    """Poisson arrivals at 10 % busy wait a ninth of a service; here three services."""
    answer = asked(100, 1.0, 0.30)
    assert answer.recommended >= 3
    assert answer.range[1] >= answer.recommended + 1
    assert "One row of averages does not tell" in answer.text()
    assert {"batches", "active"} & {reading.kind for reading in answer.readings}


def test_the_first_line_says_count_range_gain_and_cost() -> None:
    answer = planner.aliases(data_path("hyperpav", "pool-0-aliases.listing"), kind="pool")
    assert answer.headline.startswith("pool 522A-5231: 14 aliases (8 to 15) if the volumes' I/Os are")
    assert answer.headline.endswith("response 3.76 to 1.69 ms; 14 device numbers.")
    assert answer.text().startswith(answer.headline[:40])
    assert answer.headline.split(":")[0] in answer._repr_html_()
    assert answer.changes == [("pool 522A-5231", 14)]
    one = asked(755, 1.3, 1.84, in_use=2)
    assert one.changes == [("volume", one.recommended - 2)]


def test_nobody_waits() -> None:
    answer = asked(5, 1.0, 0.0)
    assert answer.recommended == 0
    assert "no I/Os are waiting" in answer.headline
    assert any("Aliases will not help" in note for note in answer.notes)


def test_a_wait_that_becomes_service_is_no_help() -> None:
    """With an inflation of 1 two I/Os at once take twice as long: the device does no more."""
    run = from_numbers(
        io_rate=Interval.printed("700"),
        service=Interval.around(1.3e-3, 5e-5),
        queued=Interval.printed("1.84"),
    )
    answer = sizing.aliases_of_runs(run, DeviceModel(inflation=1.0, redrive_time=0.0, model_error=0.02))
    assert not answer.helps
    assert "aliases only turn queueing into longer service" in answer.headline
    assert not any(note.startswith("Next: add") for note in answer.notes)


CONTRADICTIONS = {
    "busy 980 times": (
        "755,1300,1.84,",
        r"cannot be busy.* if aliases were in use, say how many \(a column aliases, or `in_use` with numbers\)",
    ),
    "response below service": ("100,2.0,,1.0", "at least the service time"),
    "queue against response": ("100,1.0,5.0,2.0", "they contradict each other"),
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_contradictions_are_refused_by_answers_and_not_by_readers(case: str, tmp_path: Path) -> None:
    row, message = CONTRADICTIONS[case]
    rate, service, queue, response = row.split(",")
    path = tmp_path / "one.csv"
    path.write_text(f"volume,io_rate,service_ms,queued,response_ms\nV1,{row}\n", encoding="utf-8")
    assert read(path).devices.height == 1
    with pytest.raises(InputError, match=message):
        planner.aliases(path, kind="volume")
    numbers = {"queue": queue or None, "response": f"{response}ms" if response else None}
    with pytest.raises(InputError, match=message):
        planner.aliases(rate=f"{rate}/s", service=f"{service}ms", **numbers)  # type: ignore[arg-type]


@pytest.mark.long
def test_a_rate_and_a_service_time_alone_are_an_offered_load() -> None:
    answer = planner.aliases(rate="900/s", service="1.3ms")
    assert isinstance(answer, sizing.AliasAnswer)
    assert answer.recommended >= 1
    assert answer.waiting is None
    assert any("arrivals are assumed independent" in note for note in answer.notes)


@pytest.mark.long
def test_an_offered_load_above_one_device_stays_what_is_offered(tmp_path: Path) -> None:
    """Twice what one device can do is M/M/c with more, whatever the model does without aliases; so is each volume."""
    answer = planner.aliases(rate="2000/s", service="1ms", model="none")
    assert isinstance(answer, sizing.AliasAnswer)
    by_hand = queueing.mmc(2000.0, 1e-3, np.arange(3, 6))
    np.testing.assert_allclose(answer.rows.io_rate, 2000.0)
    np.testing.assert_allclose(answer.rows.wait_time[2:5], by_hand.wait_time, rtol=1e-6)
    assert answer.recommended == 4
    path = tmp_path / "two.csv"
    path.write_text("volume,io_rate,service_ms\nA,2000,1\nB,50,5\n", encoding="utf-8")
    pool = planner.aliases(path, kind="pool", model="none")
    assert isinstance(pool, sizing.AliasAnswer)
    np.testing.assert_allclose(pool.rows.io_rate, 2050.0)
    rates = [(gain.rate_before, gain.rate_after) for gain in pool.gains]
    np.testing.assert_allclose(rates, [(50.0, 50.0), (2000.0, 2000.0)])


@pytest.mark.long
def test_unequal_volumes_keep_their_own_service_times(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text(f"{HEAD}\nP,A,700,.4,.12\nP,B,100,5,.50\n", encoding="utf-8")
    answer = planner.aliases(path)
    assert isinstance(answer, sizing.AliasAnswer)
    assert answer.rows.queued[0] == pytest.approx(0.62)
    gains = {round(gain.rate_before): gain for gain in answer.gains}
    assert gains[100].response_before == pytest.approx(0.010)
    assert gains[700].response_before == pytest.approx(0.4e-3 + 0.12 / 700)
    assert gains[100].response_after > 4.9e-3
    assert gains[700].response_after < 0.5e-3


@pytest.mark.long
def test_bursty_pools_are_sized_by_what_all_their_volumes_ask_for(tmp_path: Path) -> None:
    path = tmp_path / "bursty.csv"
    lines = ("P,A,60,.8,.30", "P,B,100,1,.50", "P,C,20,3,.02", "P,D,300,1,.13", "P,E,40,1.2,.2")
    path.write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")
    answer = planner.aliases(path)
    assert isinstance(answer, sizing.AliasAnswer)
    assert answer.rows.queued[0] == pytest.approx(1.15)
    assert answer.recommended > (answer.rule_of_thumb or 0)
    assert answer.range[0] < answer.recommended < answer.range[1]
    # Every volume is in one of the groups whose gain is told, its rate as measured and as in the row asked for.
    assert sum(gain.volumes for gain in answer.gains) == 5
    before, after = (
        sum(gain.volumes * getattr(gain, name) for gain in answer.gains)
        for name in ("rate_before", "rate_after")
    )
    assert before == pytest.approx(520) and after == pytest.approx(answer.rows.io_rate[answer.recommended])
    (run,) = (found.run for found in pool_runs(intervals(read(path))[0])[0])
    assert run is not None
    many = sizing.subsystem(
        [sizing.MeasuredPool(name="P", volumes=5, aliases=0, runs=(run,))], device_model()
    )
    assert many.pools[0].recommended == answer.recommended


def device_model() -> DeviceModel:
    return DeviceModel.from_model("hyperpav")


@pytest.mark.long
def test_one_line_a_volume_the_largest_queue_first() -> None:
    answer = planner.aliases(data_path("hyperpav", "pool-0-aliases.listing"), kind="volume")
    assert isinstance(answer, sizing.VolumesAnswer)
    queues = [float(each.rows.io_rate[0] * each.rows.wait_time[0]) for each in answer.answers]
    assert queues == pytest.approx(sorted(queues, reverse=True), rel=1e-12)
    overview = answer.overview()
    assert len(overview) == 8
    for name, figures in (("recommended_low", 0), ("recommended_high", 1)):
        (column,) = (each for each in overview.columns if each.name == name)
        assert list(column.values) == [each.range[figures] for each in answer.answers]
    assert answer.headline.startswith("8 volumes: 8 gain from 16 aliases more in all")
    assert answer.plot().get_xlabel() == "aliases"
    labeled = planner.aliases(
        data_path("hyperpav", "pool-0-aliases.listing"), kind="volume", device="BWPVS0,522C", exclude="522C"
    )
    assert isinstance(labeled, sizing.AliasAnswer)
    assert labeled.name == "522A"


@pytest.mark.long
def test_the_next_step_starts_from_what_was_measured() -> None:
    files = [data_path("hyperpav", f"522A-{name}.listing") for name in ("0-aliases", "2-aliases")]
    answer = planner.aliases(files)
    assert isinstance(answer, sizing.AliasAnswer)
    assert set(answer.measured) == {0, 2}
    assert answer.rows.io_rate[[0, 2]] == pytest.approx([755, 1619])
    marks = answer.table().marks
    assert (marks[0], marks[2]) == ("measured", "recommended")
    assert not any("measure again." in note and "add" in note for note in answer.notes)


def test_a_listing_with_aliases_in_use_gives_no_response_of_its_own() -> None:
    (rows,) = intervals(read(data_path("hyperpav", "522A-1-alias.listing")))
    (run,) = volume_runs(rows)
    assert run.mean_response == pytest.approx(run.mean_service.value + 0.91 / 942, rel=1e-9)
    assert any("divides by the rate of the base alone" in note for note in run.notes)


def test_growth_of_one_percent_is_not_growth_of_a_third() -> None:
    counts = [asked(755, 1.3, 1.84, growth=share).rows.io_rate[2] for share in (0.0, 0.01, 1 / 3)]
    assert counts[1] / counts[0] - 1 < 0.03
    assert counts[2] / counts[1] - 1 > 0.05


@pytest.mark.long
def test_without_a_pool_volumes_are_each_for_themselves(tmp_path: Path) -> None:
    """With a classic alias beside them or none, as `site` and `report` have them; the pool is asked for."""
    bases = [row(), row("522B", label="BWPVS1")]
    listing = tmp_path / "DEVICE.listing"
    for rows in ([*bases, row("5300", "->522A", rate="300")], bases):
        listing.write_text(page(*rows), encoding="ascii")
        found = planner.aliases(listing)
        assert isinstance(found, sizing.VolumesAnswer)
        assert any("No pool is named" in remark for remark in found.remarks) == (rows is bases)
        need = {each.pool: each.needed for each in site(read(listing).devices, workers=1).pools}
        assert {each.name: each.recommended for each in found.rows} == need
    for asked in ({"kind": "pool"}, {"bases": "522A-522B"}):
        assert isinstance(planner.aliases(listing, **asked), sizing.AliasAnswer)


ALIASES_OF = {"listing": "Addr,Type,Label/ID", "unlabeled": "Addr,Type,Note", "own": "device,alias_of,label"}


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("kind", ALIASES_OF)
def test_a_table_of_a_base_and_its_aliases_says_what_their_listing_says(kind: str, tmp_path: Path) -> None:
    """Their I/Os are of one volume, whether the type has an arrow or a column names the base."""
    listing = data_path("hyperpav", "522A-2-aliases.listing")
    rows = [line.split() for line in listing.read_text(encoding="ascii").splitlines() if " BWPVS0 " in line]
    types = {"3390-3": "", "->522A": "522a"}
    cells = [[each[0], types[each[1]] if kind == "own" else each[1], *each[2:]] for each in rows]
    lines = [
        f"{ALIASES_OF[kind]},links,paths,I/O,avoided,Pend,Disc,Conn,Serv,Resp,CUWt,queued",
        *map(",".join, cells),
    ]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(lines) + "\n", encoding="ascii")
    (found,), (wanted,) = (intervals(read(each)) for each in (table, listing))
    (run,), (known,) = volume_runs(found), volume_runs(wanted)
    assert (run.aliases, run.io_rate.value, run.queued) == (known.aliases, known.io_rate.value, known.queued)
    assert run.mean_service.value == pytest.approx(known.mean_service.value, rel=1e-12)
    assert [each.needed for each in site(read(table).devices, workers=1).pools] == [2]
    text = table.read_text(encoding="ascii").replace(f"{cells[1][5]},.0,.3", ",.0,.3", 1)
    table.write_text(text, encoding="ascii")
    answer = planner.aliases(table, kind="volume")
    assert answer.exit_code == 2 and answer.headline.startswith("1 of 1 volume could not be read")


def test_a_table_of_a_pool_with_its_aliases_says_what_the_listing_says(tmp_path: Path) -> None:
    """HyperPAV aliases have no label there either; taken as volumes they would hide how many are in use."""
    listing = data_path("hyperpav", "pool-8-aliases.listing")
    lines = ["Addr,Type,Label/ID,Links,Paths,I/O,Avoid,Pend,Disc,Conn,Serv,Resp,CUWt,Req. Qued"]
    for line in listing.read_text(encoding="ascii").splitlines():
        if line.startswith(" 52"):
            cells = line.split()
            lines.append(",".join(cells if line[13].strip() else [*cells[:2], "", *cells[2:]]))
    table = tmp_path / "table.csv"
    table.write_text("\n".join(lines) + "\n", encoding="ascii")
    (found,), (wanted,) = (pool_runs(*intervals(read(each)))[0] for each in (table, listing))
    assert (found.run.aliases, found.run.volumes) == (wanted.run.aliases, wanted.run.volumes)
    np.testing.assert_array_equal(found.run.io_rate.value, wanted.run.io_rate.value)
    np.testing.assert_array_equal(found.run.queued.value, wanted.run.queued.value)


def test_what_the_digits_hide_ends_with_the_queue() -> None:
    """A queue of one digit leaves half as much open; a curve through it comes to nothing with aliases all the same."""
    answer = planner.aliases(rate="322.4/s", service=".67ms", queue=0.1)
    assert isinstance(answer, sizing.AliasAnswer)
    assert answer.recommended <= 2
    assert answer.rows.queued[-1] < 1e-3


def test_a_rule_and_a_response_that_stay_as_they_are_say_so() -> None:
    """A queue that the rule of thumb drops is named; a response that reads alike is not a change from 1.00 to 1.00."""
    quiet = planner.aliases(rate="42/s", service="1.1ms", queue="0.06", in_use=0)
    assert isinstance(quiet, sizing.AliasAnswer) and quiet.rule_of_thumb == 0
    assert any("rounded up; a queue below 0.1 counts as none." in note for note in quiet.notes)
    queued = planner.aliases(rate="755/s", service="1.3ms", queue="1.84", in_use=0)
    assert not any("counts as none" in note for note in queued.notes)
    idle = planner.aliases(rate="0.5/s", service="1.00ms", queue="0", in_use=1)
    assert "response 1.00 ms as before" in idle.headline and "1.00 to 1.00" not in idle.headline
