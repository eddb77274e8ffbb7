"""System files: units, digits, references, schema, templates; and every bad input with its message."""

from __future__ import annotations

import math
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from planner import InfeasibleError, InputError, PlannerError, ReportError, aliases, library
from planner import system as model
from planner.errors import ConvergenceError
from planner.system.description import System
from planner.system.figures import SystemResult, figures
from planner.system.measured import TEMPLATES
from planner.system.reading import parse_system
from planner.system.schema import TABLES

XIV = model.template("xiv")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name == "hyperpav" else ()) for name in TEMPLATES]
)
def test_a_template_is_a_system_that_is_answered(name: str) -> None:
    answer = model.solve(model.template(name))
    assert answer.exit_code == 0
    assert answer.found.throughput.value > 0
    assert all("#" in line for line in model.template(name).splitlines() if "=" in line)


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_schema_knows_every_key_of_a_template(name: str) -> None:
    schema = model.json_schema()["properties"]
    for table, content in tomllib.loads(model.template(name)).items():
        entries = content if isinstance(content, list) else [content]
        one = schema[table]["items"] if TABLES[table].many else schema[table]
        for entry in entries:
            assert set(entry) <= set(one["properties"])
            assert set(one["required"]) <= set(entry)


def test_the_schema_bounds_what_the_reader_refuses() -> None:
    guests = model.json_schema()["properties"]["guests"]["items"]["properties"]
    assert guests["instantiated"]["maximum"] == 1
    assert guests["virtual_gib"]["minimum"] == pytest.approx(2**-30)
    assert guests["virtual"]["type"] == "string"
    depth = model.json_schema()["properties"]["paging"]["items"]["properties"]["depth"]
    assert {"enum": ["unlimited"]} in [{k: v for k, v in part.items()} for part in depth["anyOf"]]


@pytest.mark.parametrize(
    "line",
    [
        "real_gib = 1024",
        "real_tib = 1",
        "real_mb = 1048576",
        'real = "1TB"',
        'real = "1024 GiB"',
        "real_g = 1024.0",
    ],
)
def test_every_unit_says_the_same(line: str) -> None:
    system = parse_system(XIV.replace("real_gib = 1024", line))
    assert system.one("storage").numbers["real"] == 2**40  # type: ignore[union-attr]


def test_what_is_written_overrides_the_model_and_counts_as_given() -> None:
    system = parse_system(XIV.replace("devices = 20", "devices = 20\nservice_time_us = 1000.0"))
    paging = system.of("paging")[0]
    assert paging.numbers["service_time"] == pytest.approx(1e-3)
    assert paging.origin["service_time"] == "given"
    assert paging.origin["pages_per_transfer"] == "system-xiv-serialized"
    assert paging.halves["service_time"] == pytest.approx(0.05e-6)


def test_a_device_model_with_a_mistyped_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    known = library.read_model("paging-xiv-serialized")
    library.write_model(structs.replace(known, validity={"page_rat": (1.0, 2.0)}), path)
    head, table, rest = XIV.partition("[[paging]]")
    text = head + table + rest.replace('"system-xiv-serialized"', f'"{path}"', 1)
    with pytest.raises(ReportError, match=r"paging\[.*\]\.model: .*unknown key of `validity` `page_rat`"):
        parse_system(text)


def test_a_system_model_with_a_mistyped_key_is_refused(tmp_path: Path) -> None:
    """Without its queue depth, processor times counted as measured at every depth."""
    path = tmp_path / "own.toml"
    known = library.read_model("system-xiv-serialized")
    library.write_model(structs.replace(known, validity={"queue_dpth": (1.0, 1.0)}), path)
    with pytest.raises(
        ReportError, match=r"guests\[.*\]\.model: .*`queue_dpth`; a model of kind system has guests, dev"
    ):
        parse_system(XIV.replace('"system-xiv-serialized"', f'"{path}"'))


@pytest.mark.long
def test_whoever_uses_a_model_is_told_that_its_error_is_assumed(tmp_path: Path) -> None:
    """By `planner system` and `planner aliases`, as by `planner calibrate` and `predict`."""
    path = tmp_path / "own.toml"
    known = library.read_model("hyperpav-pool-runs")
    library.write_model(structs.replace(known, fit=structs.replace(known.fit, error_assumed=True)), str(path))
    text = model.template("hyperpav")
    for each, times in (path, 1), ("hyperpav-pool-runs", 0):
        own = model.solve(text.replace('"hyperpav-pool-runs"', f'"{each}"'))
        count = aliases(rate="755/s", service="1.3ms", queue=1.84, model=str(each))
        for said in own.text(), count.text():
            assert " ".join(said.split()).count("is assumed: no figure is left to show it.") == times


def test_like_takes_what_is_not_said() -> None:
    system = parse_system(XIV + '\n[[guests]]\nname = "small"\nlike = "pfault"\nvirtual_gib = 8\ncount = 3\n')
    small = system.of("guests")[1]
    assert (small.numbers["virtual"], small.numbers["instantiated"]) == (8 * 2**30, 0.7)
    assert small.word("pages_from") == "xiv"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("count = 20", "cuont = 20", r"line 19: unknown key 'cuont' in guests: did you mean 'count'\?"),
        ("[storage]", "# a\u2028b\x85c\n[storage]\nbogus = 1", r"line 15: unknown key 'bogus'"),
        ("[storage]", "[storrage]", r"unknown table 'storrage': did you mean 'storage'\?"),
        (
            'pages_from = "xiv"',
            'pages_from = "xvi"',
            r"guests\[pfault\]\.pages_from = 'xvi' refers to nothing: did you mean 'xiv'\?",
        ),
        (
            "real_gib = 1024",
            "real = 1024",
            r"line 14: storage\.real = 1024: a unit is missing; write real_gib",
        ),
        ("real_gib = 1024", 'real = "1024"', r"a unit is missing"),
        ("real_gib = 1024", "real_gib = 1024\nreal_gb = 3", r"line 15: storage\.real twice"),
        ("real_gib = 1024", "real_gib = -1", r"at least"),
        ("real_gib = 1024", "", r"storage: real_gib is missing \(real storage\)"),
        ("real_gib = 1024", "real_gib = true", r"expected a number"),
        ("0.70", "1.70", r"at most 1"),
        ("0.70", "nan", r"at most 1"),
        ("count = 20 ", "count = 20.5 ", r"a whole number"),
        ("count = 20 ", "count = inf ", r"a whole number|at most"),
        ("depth = 1 ", 'depth = "unlimitd" ', r"did you mean 'unlimited'\?"),
        ('touching = "uniform"', 'touching = "uniformly"', r"did you mean 'uniform'\?"),
        ('touching = "uniform"', 'like = "pfault"', r"a circle, pfault -> pfault"),
        ('touching = "uniform"', 'like = "other"', r"refers to nothing"),
        ('touching = "uniform"', "pages_per_segment = 100", r"pages_per_segment at least 179\.2"),
        ('touching = "uniform"', "think_time_ms = 1", r"io_to is missing"),
        (
            "count = 64",
            "count = 4\nguaranteed = 9",
            r"line 10: processors\.guaranteed = 9: expected at most count = 4",
        ),
        (
            'model = "system-xiv-serialized"',
            'model = "system-xiv"',
            r"did you mean 'system-xiv-serialized'\?",
        ),
        (
            'model = "system-xiv-serialized"',
            'model = "processors"',
            r"expected a model of kind system or pool",
        ),
        (
            "[storage]",
            "[[storage]]\nreal_gib = 1\n[[storage]]",
            r"line 15: storage: expected \[storage\] once",
        ),
        ("[storage]", "[[storage]]", r"line 13: storage: expected \[storage\] once"),
        ("[[paging]]", "[paging]", r"line \d+: paging: expected \[\[paging\]\] in double brackets"),
        ("[[guests]]", "[guests.pfault]", r"line \d+: guests: expected \[\[guests\]\] in double brackets"),
        ("count = 64", "count = = 64", r"line 11, column \d+: expected TOML"),
        ("# The published", "volumes = 3\n# The published", r"expected a table, as \[\[volumes\]\]"),
    ],
)
def test_bad_files(old: str, new: str, message: str) -> None:
    assert old in XIV
    with pytest.raises(ReportError, match=message):
        parse_system(XIV.replace(old, new, 1), "bad.toml")


def test_a_circle_of_three_and_a_name_twice() -> None:
    text = "".join(f'[[guests]]\nname = "{a}"\nlike = "{b}"\ncount = 1\n' for a, b in ("ab", "bc", "ca"))
    with pytest.raises(ReportError, match="a circle, a -> b -> c -> a"):
        parse_system(text)
    with pytest.raises(ReportError, match=r"guests\[a\] twice"):
        parse_system('[[guests]]\nname = "a"\ncount = 1\n[[guests]]\nname = "a"\ncount = 1\n')


def test_devices_of_both_kinds_have_names_of_their_own() -> None:
    """An answer shows them by name alone: those of volumes once hid the paging devices of the same name."""
    with pytest.raises(ReportError, match=r"volumes\[pages\] has the name of paging\[pages\]"):
        parse_system(
            model.template("minimal") + '[[volumes]]\nname = "pages"\ncount = 1\nservice_time_ms = 1\n'
        )


def test_a_reference_to_another_kind_of_table_says_so() -> None:
    text = XIV.replace('pages_from = "xiv"', 'pages_from = "pfault"')
    with pytest.raises(ReportError, match=r"guests\[pfault\] is of another kind"):
        parse_system(text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("real_gib = 1024", "real_gib = 5", r"take 9\.6\d* of 5 GiB of real storage; no frame is left"),
        ('pages_from = "xiv"', "", r"names no paging devices"),
        ("devices = 20", "devices = 20\nspace_gib = 10", r"217\.6 GiB of pages .* room for 200 GiB"),
        ("devices = 20", "devices = 20\nother_transfers = 99999", r"carries 1\.117e\+04/s at most"),
        ("virtual_gib = 88", "virtual_gib = 200000", r"page tables \(PGMBKs\) of the guests take"),
    ],
)
def test_systems_that_cannot_run(old: str, new: str, message: str) -> None:
    with pytest.raises(InfeasibleError, match=message) as caught:
        model.solve(XIV.replace(old, new, 1))
    assert caught.value.exit_code == 1


IO = """
[[guests]]
name = "g"
count = 1
io_to = "v"
io_rate = 700.0
[[volumes]]
name = "v"
count = 1
service_time_ms = 1.3
"""
FULL = """
[storage]
real_gib = 124.5
[[guests]]
name = "g"
count = 10
virtual_gib = 16
instantiated = 0.77
touch_time_us = 2.0
"""


def test_what_an_elasticity_steps_to_may_not_run() -> None:
    """Twice 700/s is more than a volume of 1.3 ms carries, 11 guests more than fit: neither was asked."""
    found = model.solve(IO, ["guests.io_rate=700/s"]).found
    (row,) = model.whatif(IO, ["guests.io_rate=700/s:700/s:1/s"]).found
    assert isinstance(row, SystemResult)
    assert found.throughput == row.throughput and found.throughput.value == pytest.approx(700)
    assert found.elasticity["guests.count"].value is None
    step, why = found.unmoved["guests.count"]
    assert step == "one guest more" and why.startswith("1400 I/Os/s come to volumes[v], which carry 769.2/s")
    assert found.elasticity["volumes.service_time"].value == pytest.approx(0.0, abs=1e-9)
    assert not found.stopped

    answer = model.solve(FULL, ["storage.real=124.2GiB", "guests.instantiated=0.77"])
    assert set(answer.found.unmoved) == {"storage.real", "guests.count"}
    assert answer.found.throughput.value == pytest.approx(5e6)
    assert any("No elasticity in guests.count: with one guest more" in note for note in answer.notes)
    with pytest.raises(InfeasibleError, match=r"12\.38 GiB of pages have no frame"):
        model.solve(FULL, ["storage.real=124.2GiB", "guests.instantiated=0.77", "guests.count=11"])


def test_a_90_percent_end_that_cannot_run_is_open() -> None:
    """At 1.35 ms a volume carries 740.7/s: 742/s have no end there, those of 1.300 ms have."""
    answer = model.solve(IO, ["guests.io_rate=742/s"])
    found, station = answer.found, answer.found.stations["v"]
    assert (found.throughput.low, found.throughput.value) == (0.0, pytest.approx(742))
    assert station["response"].high == station["wait"].high == math.inf
    assert station["response"].low > 1.3e-3
    assert answer.to_dict()["stations"][0]["response_ms"]["high"] is None
    bound = found.bounds["volumes v"]  # its own, also where nothing runs
    assert bound.low == pytest.approx(1 / 1.35e-3) and bound.high == pytest.approx(1 / 1.25e-3)
    assert found.stopped == {
        "volumes[v].service_time": "742 I/Os/s come to volumes[v], which carry 740.7/s at most"
    }
    assert "none" in answer.text() and "At a 90 % end of volumes[v].service_time" in answer.text()
    exact = model.solve(IO.replace("1.3\n", "1.300\n"), ["guests.io_rate=760/s"]).found
    assert not exact.stopped and exact.stations["v"]["response"].high < 1
    grid = model.whatif(IO, ["guests.io_rate=736/s:772/s:6/s"])
    assert [isinstance(each, SystemResult) for each in grid.found] == [True] * 6 + [False]
    assert "5 of 7 cannot run at a 90 % end" in grid.text()
    with pytest.raises(InfeasibleError, match=r"770 I/Os/s come to volumes\[v\], which carry 769\.2/s"):
        model.solve(IO, ["guests.io_rate=770/s"])


def test_storage_is_known_where_the_system_cannot_run() -> None:
    """From .775 on ten guests do not fit: what storage says of it stands, what they do there is open."""
    found = model.solve(FULL).found
    assert (found.throughput.low, found.throughput.value) == (0.0, pytest.approx(5e6))
    assert found.storage["pages_without_frame"].high == pytest.approx(0.46875 * 2**18)
    assert found.storage["guests_that_fit g"].low == 9
    assert found.bounds["guests, one wait at a time"].low > 4.8e6
    assert set(found.stopped) == {"guests[g].instantiated"}


def test_guests_that_take_no_time_at_all() -> None:
    """Once a residual of nan; where they wait for a page the same guests have an answer."""
    with pytest.raises(InfeasibleError, match=r"nothing that guests\[g\] do but their I/Os takes time"):
        model.solve(FULL, ["guests.touch_time=0us", "guests.instantiated=0.5"])
    assert model.solve(XIV, ["guests.touch_time=0us"]).found.throughput.value > 0


def test_pages_without_paging_devices_cannot_run() -> None:
    text = XIV.partition("[[paging]]")[0].replace('pages_from = "xiv"', "")
    with pytest.raises(
        InfeasibleError, match=r"no \[\[paging\]\] takes them; 1242 GiB of real storage hold all"
    ):
        model.solve(parse_system(text))


def test_no_guests() -> None:
    with pytest.raises(InputError, match="at least one group of guests"):
        model.solve("[storage]\nreal_gib = 3\n")
    with pytest.raises(InputError, match="at least one guest"):
        model.solve(XIV, ["guests.count=0"])


def test_a_model_is_no_system(tmp_path: Path) -> None:
    from planner import library

    path = library.models_path("processors")
    assert not model.is_system(path)
    with pytest.raises(ReportError, match="found a model; `planner predict` asks a model"):
        model.read_system(path)
    (tmp_path / "x.toml").write_text(XIV, encoding="utf-8")
    assert model.is_system(tmp_path / "x.toml")


def test_a_path_that_no_system_knows_is_refused() -> None:
    with pytest.raises(ReportError, match="cannot be read: embedded null byte"):
        model.read_system("null\0.toml")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("storage.real=1088", "a unit is missing"),
        ("storage.rael=1GiB", r"one of the keys .*did you mean 'real'\?"),
        ("storge.real=1GiB", r"did you mean 'storage'\?"),
        ("guests[x].count=3", "one of pfault"),
        ("guests.count=3.5", "a whole number"),
        ("guests.count=1_7", "a bare number"),
        ("guests.count=\N{FULLWIDTH DIGIT THREE}", "a bare number"),
        ("storage.real_gib=1_088", "no such unit '_088'"),
        ("guests.count", "TABLE.key=value"),
        ("guests.count=", "TABLE.key=value"),
        ("count=3", "TABLE.key=value"),
        ("volumes.count=3", r"it has no \[volumes\]"),
        ("guests.name=x", "one of the keys"),
        ("guests.model=nothing", "a shipped model"),
        ("paging.depth=unlimitd", "did you mean 'unlimited'"),
        ("guests.dedicated=maybe", "true or false"),
    ],
)
def test_bad_settings(setting: str, message: str) -> None:
    with pytest.raises(PlannerError, match=message):
        model.solve(XIV, [setting])


@pytest.mark.parametrize(
    "setting",
    ["storage.real=1088GiB", "storage.real_gib=1088", "storage.real_gib=1088GiB", "storage.real=1.0625TB"],
)
def test_a_key_with_or_without_its_unit(setting: str) -> None:
    assert model.solve(XIV, [setting]).found.miss_ratio.value == pytest.approx(0.1246956, rel=1e-6)


@pytest.mark.parametrize("name", ["a]b", "a=b", "[x].count=1", "a\\nb", "g].count=9"])
def test_names_with_any_signs_are_set_and_varied(name: str) -> None:
    """A name may hold what ends the name in a setting; of several, the longest that the file has counts."""
    other = '\n[[guests]]\nname = "g"\nlike = "{}"\ncount = 1\n'
    system = model.parse_system(XIV.replace("pfault", name) + other.format(name))
    name = name.replace("\\n", "\n")
    grid = model.whatif(system, [f"guests[{name}].count=3:4"], ["guests[g].count=2"])
    assert grid.table().columns[0].values == [3, 4]
    one = model.solve(system, [f"guests[{name}].count=3", "guests[g].count=2"])
    assert one.found.throughput.value == grid.found[0].throughput.value


def test_what_varies_is_not_set_as_well() -> None:
    for setting in ("storage.real=300GiB", "storage.real_gib=300"):
        with pytest.raises(InputError, match=r"storage\.real'.*a key that is not set as well"):
            model.whatif(XIV, ["storage.real=1100GiB:1200GiB:50GiB"], [setting])
    with pytest.raises(InputError, match="not set as well"):
        model.whatif(XIV, ["guests[pfault].count=16:20"], ["guests.count=3"])
    assert len(model.whatif(XIV, ["guests.count=16:17"], ["storage.real=1100GiB"]).found) == 2


def test_a_setting_twice() -> None:
    with pytest.raises(InputError, match="twice"):
        model.solve(XIV, ["guests.count=3", "guests[pfault].count=4"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("guests.count=10:9", "runs upward"),
        ("storage.real=1024GiB:1100GiB", "first:last:step"),
        ("storage.real=1024GiB:1100GiB:5", "a step with its unit"),
        ("guests.count=1:99999", "at most 10000"),
        ("guests.pages_from=a:b", "first:last:step"),
        ("guests.touching=uniform:never", "did you mean|one of"),
        ("guests.pages_per_segment=100:170:70", r"at least 179\.2"),
    ],
)
def test_bad_ranges(text: str, message: str) -> None:
    with pytest.raises((InputError, ReportError), match=message):
        model.whatif(XIV, [text])


def test_a_grid_crosses_what_cannot_run() -> None:
    grid = model.whatif(XIV, ["storage.real=5GiB:1205GiB:400GiB"])
    assert grid.exit_code == 0
    assert isinstance(grid.found[0], str)
    assert "cannot run" in grid.text()
    assert grid.to_dict()["scenarios"][0]["cannot_run"]
    assert model.whatif(XIV, ["storage.real=5GiB:6GiB:1GiB"]).exit_code == 1


def test_a_grid_crosses_what_contradicts_itself() -> None:
    """A row that no system can be does not stop the others, which are as if asked for alone."""
    grid = model.whatif(XIV, ["guests.pages_per_segment=100:200:100"])
    alone = model.whatif(XIV, ["guests.pages_per_segment=200:200:1"])
    assert "at least 179.2" in str(grid.found[0])
    assert "1 of 2 cannot run; the first, 100: " in grid.text()
    assert grid.to_dict()["scenarios"][1] == alone.to_dict()["scenarios"][0]


def test_a_grid_crosses_what_could_not_be_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    """One scenario does not stop the others, and is told without a residual."""

    def lacking(systems: Sequence[System], *, elastic: bool) -> list[SystemResult]:
        if any(system.of("guests")[0].numbers["count"] == 2.0 for system in systems):
            raise ConvergenceError("alias pool with 8 aliases", 2.8e-7, 200)
        return figures(systems, elastic=elastic)

    monkeypatch.setattr(sys.modules["planner.system.figures"], "figures", lacking)
    grid = model.whatif(XIV, ["guests.count=1:3"])
    assert [isinstance(each, str) for each in grid.found] == [False, True, False]
    assert "residual" not in grid.text()
    assert grid.found[1].startswith(
        "alias pool with 8 aliases could not be solved, though the system may run"
    )


def test_words_vary_as_well() -> None:
    grid = model.whatif(XIV, ["guests.touching=uniform:cyclic, random steal"])
    rates = [found.throughput.value for found in grid.found]
    assert rates[0] > rates[1]


SETTINGS = [
    ("guests.instantiated", "75%", "0.75"),
    ("paging.service_time", "1ms", "0.001s"),
    ("guests.touch_time", "2.4us", "0.0024ms"),
]


@pytest.mark.parametrize(("key", "one", "other"), SETTINGS)
def test_a_setting_is_exact_by_either_door_and_in_whatever_digits(key: str, one: str, other: str) -> None:
    """The same value set, set in other digits, and as the only one of a grid: one answer, error bars included."""
    answers = [model.solve(model.template("xiv"), [f"{key}={text}"]).to_dict() for text in (one, other)]
    (grid,) = model.whatif(model.template("xiv"), [f"{key}={one}:{one}:{one}"]).to_dict()["scenarios"]
    answers.append(grid)
    for answer in answers:
        del answer["elasticity"]
        for apart in ("settings", "cannot_run", "name", "notes"):  # of one door only, or elasticities again
            answer.pop(apart, None)
    found = [dict(numbers(answer)) for answer in answers]
    assert len(found[0]) > 70
    assert found[1] == pytest.approx(found[0], rel=1e-9)
    assert found[2] == pytest.approx(found[0], rel=1e-9)


def numbers(data: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Every number of plain data, by its path."""
    if isinstance(data, dict | list):
        for key, each in data.items() if isinstance(data, dict) else enumerate(data):
            yield from numbers(each, f"{path}.{key}")
    elif isinstance(data, float | int):
        yield path, data


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("storage.real=0GiB", "storage.real = '0GiB': expected a number of at least 1 B"),
        ("storage.minidisk_cache_gib=-1", "storage.minidisk_cache = -1.0: expected a number of at least 0"),
    ],
)
def test_a_value_that_is_refused_is_said_as_typed(setting: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        model.solve(model.template("xiv"), [setting])


def test_an_empty_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nothing.toml"
    path.write_text("")
    with pytest.raises(InputError, match="of nothing"):
        model.solve(path)


def test_digits_that_leave_much_open_are_told() -> None:
    text = """
        [[guests]]
        name = "g"
        count = 4
        think_time = "{think}"
        io_to = "v"
        [[volumes]]
        name = "v"
        count = 2
        service_time = "{service}"
    """
    told = "good to half of the last one, to either side: guests[g].think_time 50 %, volumes[v].service_time 25 %. "
    (note,) = [
        note for note in model.solve(text.format(think="0.01s", service="0.002s")).notes if told in note
    ]
    assert note.endswith("where it is known better.")
    exact = model.solve(text.format(think="10ms", service="0.00200s")).notes
    assert not any("Digits count" in note for note in exact)


def test_requesters_that_are_always_at_their_volume_need_some_time_between() -> None:
    """It was an error of the pool below, without the table."""
    text = """
[processors]
count = 8
[storage]
real_gib = 64
[[volumes]]
name = "data"
count = 1
service_time_ms = 1.3
inflation = 0
redrive_time_ms = 0
[[guests]]
name = "g"
count = 5
io_to = "data"
think_time_ms = 0
"""
    with pytest.raises(InfeasibleError, match=r"nothing that guests\[g\] do but their I/Os takes time"):
        model.solve(parse_system(text))


FITS = """
[storage]
real_gib = 64
[[guests]]
name = "g"
count = 3
virtual_gib = 8
instantiated = 0.5
touch_time_us = 1
"""


def test_numbers_with_intervals_are_not_called_exact() -> None:
    """The overcommitment was .17 to .21, below it stood that all numbers are taken as exact."""
    rough, exact = (model.solve(text) for text in (FITS, FITS.replace("0.5", "1")))
    assert rough.found.storage["overcommitment"].low < rough.found.storage["overcommitment"].value
    assert rough.found.throughput.low == rough.found.throughput.value
    assert not any("taken as exact" in note for note in rough.notes)
    assert "All numbers are taken as exact." in exact.notes


def test_a_size_beyond_all_numbers_is_not_said_to_be_too_small() -> None:
    with pytest.raises(ReportError, match="real_gib = 1e\\+300: expected a finite number"):
        model.solve(FITS.replace("64", "1e300"))
