"""What is fuzzed: for each target how a case is made, and what must hold of it.

A case is JSON or text, so that one that was found is kept in `tests/fuzz/corpus` and tried again by every run.
"""

from __future__ import annotations

import json
import math
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np

from planner import queueing
from planner.errors import ConvergenceError, InputError, PlannerError, ReportError
from planner.measurements import read
from tests.fuzz import content
from tests.fuzz.damage import damaged, damaged_bytes

Case = dict[str, Any]
MOST_DAMAGE: Final = 3


@dataclass(frozen=True)
class Target:
    """How a case is made, and a check that raises AssertionError (or anything foreign) where it does not hold."""

    make: Callable[[Random], Case]
    check: Callable[[Case], None]


@contextmanager
def no_warning() -> Iterator[None]:
    """Turn warnings of Python and of numpy into errors."""
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        yield


# ---- readers: every printed row is returned, named, or the file is refused


def _make_text(name: str, random: Random) -> Case:
    made = content.FORMATS[name].make(random)
    times = random.randrange(MOST_DAMAGE + 1)
    text, touched = damaged(made.lines, times, random)
    rows = [[list(key), times == 0 or not (needed & touched)] for key, needed in made.rows]
    return {"text": text, "rows": rows, "damage": times}


def _check_text(name: str, case: Case) -> None:
    try:
        measured = read(case["text"].encode("utf-8", "surrogatepass"))
    except ReportError:
        assert case["damage"], "a sound file is refused"
        return
    found = Counter(map(repr, content.FORMATS[name].keys(measured)))
    notes = "\n".join(measured.notes)
    for key, intact in case["rows"]:
        if found[repr(tuple(key))]:
            continue
        assert not intact or str(key[0]) in notes, f"row {key} is neither returned nor named"
    if not case["damage"]:
        assert found == Counter(repr(tuple(key)) for key, _ in case["rows"])


def _make_file(make: Callable[[Random], content.Content], random: Random) -> Case:
    return {"text": damaged(make(random).lines, random.randrange(MOST_DAMAGE + 1), random)[0]}


@contextmanager
def _written(text: str, name: str = "given") -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        yield path


def _check_file(use: Callable[[Path], object], suffix: str, case: Case) -> None:
    with _written(case["text"], f"given{suffix}") as path, no_warning():
        try:
            use(path)
        except PlannerError as error:
            assert str(error)


def _read_growth(path: Path) -> object:
    from planner.site.series import read_series

    return read_series(path)


def _read_calibration(path: Path) -> object:
    from planner.calibrate.data_file import read_observations

    return read_observations([path], "volume")


def _read_members(path: Path) -> object:
    from planner.reports.membership import read_membership

    return read_membership(path)


def _make_lsdasd(random: Random) -> Case:
    made = content.lsdasd(random)
    times = random.randrange(MOST_DAMAGE + 1)
    text, touched = damaged(made.lines, times, random)
    rows = [[list(key), not (needed & touched)] for key, needed in made.rows]
    return {"text": text, "rows": rows, "damage": times}


def _check_lsdasd(case: Case) -> None:
    """Each device with its role and name; with all aliases lost there may be no pool."""
    from planner.reports.membership import read_lsdasd

    with no_warning():
        try:
            found = read_lsdasd("given", case["text"].encode("utf-8", "surrogatepass"))
        except ReportError:
            names = [name for (_, role, name), _ in case["rows"] if role == "base"]
            assert case["damage"] or not names, "a sound file is refused"
            return
    of_number = {number: name for name, number in found.names.items()}
    said = "\n".join(found.notes)
    for (number, role, name), intact in case["rows"]:
        if not intact:
            continue
        member = found.members.get(number)
        assert member is not None or number in said, f"{number} is lost"
        assert member is None or member.role == role, f"{number} is {member.role}"
        assert name is None or of_number.get(number) == name or found.names[name] != number, (
            f"{number} has no name"
        )


def _read_any(path: Path) -> object:
    return read(path)


def _junk(random: Random) -> content.Content:
    """Bytes of no format, or parts of several."""
    parts = [
        part for make in random.sample(list(content.FORMATS.values()), 2) for part in make.make(random).lines
    ]
    words = [
        random.choice(
            ("", "\n", "a,b\n", "FCX108\n", "device,io_rate\n", "{", "PAR1", "ARROW1", "\ufeff", "\x00\n")
        )
    ]
    return content.Content(words + random.sample(parts, random.randrange(len(parts))), [])


# ---- bytes: monitor data and Parquet


def _monitor_file() -> bytes:
    from tests.reports.monitor_site import Site
    from tests.reports.monitor_writer import monwrite

    site = Site(bases=5, aliases=3, seed=3, zone=0)
    sets = site.sets(1)
    for _ in range(3):
        site.work(60.0)
        sets.append([site.sample()])
    return monwrite(sets)


def _parquet_file() -> bytes:
    import io

    import polars as pl

    buffer = io.BytesIO()
    pl.DataFrame(
        {"device": ["522A", "522B"], "io_rate": [755.0, 12.0], "service_ms": [1.3, 2.0]}
    ).write_parquet(buffer)
    return buffer.getvalue()


WHOLE: dict[str, bytes] = {}
"""Files that are made once."""


def _make_bytes(whole: Callable[[], bytes], random: Random) -> Case:
    name = whole.__name__
    if name not in WHOLE:
        WHOLE[name] = whole()
    return {"hex": damaged_bytes(WHOLE[name], random.randrange(MOST_DAMAGE + 1), random).hex()}


def _archive_file() -> bytes:
    """A part of an archive, as `planner collect` writes it."""
    import polars as pl

    from planner.measurements.collect import collect

    rows = [{"start": datetime(2026, 3, 1, 8, 10 * k), "interval_s": 600.0, "device": "522A", "io_rate": 755.0 + k,
             "service_ms": 1.5, "queued": 0.25, "system": "A"} for k in range(3)]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "archive"
        collect([pl.DataFrame(rows)], archive)
        (part,) = archive.rglob("*.parquet")
        for name in ("archive.toml", "parts.sha256"):
            WHOLE[name] = (archive / name).read_bytes()
        WHOLE["place"] = part.relative_to(archive).as_posix().encode()
        return part.read_bytes()


def _check_archive(case: Case) -> None:
    """An archive with a damaged part is read, or the part is named."""
    if "place" not in WHOLE:
        _archive_file()
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / WHOLE["place"].decode()
        part.parent.mkdir(parents=True)
        part.write_bytes(bytes.fromhex(case["hex"]))
        for name in ("archive.toml", "parts.sha256"):
            (Path(folder) / name).write_bytes(WHOLE[name])
        try:
            read(folder)
        except (ReportError, InputError) as error:
            assert str(error)


def _check_bytes(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "given"
        path.write_bytes(bytes.fromhex(case["hex"]))
        try:
            read(path)
        except (ReportError, InputError) as error:
            assert str(error)


# ---- model and system files


VALUES: Final = (
    "-1", "nan", "inf", "-inf", "0", "1e300", "1e-300", "9" * 400, "1e999", "true", '""', "[]", "{}", "2024-01-01",
    '"\\u001b[31m"', "[1, 2]", "-0.0", "1.0000001", '"GB"', '"1e5 GiB"', "3",
)  # fmt: skip


def _toml(random: Random, shelf: str) -> Case:
    from planner.library import model_names, models_path
    from planner.system import template
    from planner.system.measured import TEMPLATES

    if shelf == "model":
        name = random.choice(model_names())
        text = models_path(name).read_text(encoding="utf-8")
    else:
        text = template(random.choice(list(TEMPLATES)))
    lines = text.splitlines(keepends=True)
    for _ in range(random.randrange(MOST_DAMAGE + 1)):
        if random.randrange(2):
            lines = damaged(lines, 1, random)[0].splitlines(keepends=True)
            continue
        place = random.randrange(len(lines) or 1)
        if lines and "=" in lines[place]:
            key = lines[place].partition("=")[0]
            value = random.choice(VALUES)
            lines[place] = f"{key}= {value}\n"
    return {"text": "".join(lines)}


def _ask_model(path: Path) -> None:
    """Read a model and ask it; what it answers is ordered and no nan."""
    from planner import library, whatif
    from planner.devices.kinds import KINDS

    model = library.read_model(path)
    asked = {
        question.key: 2.0
        for question in KINDS[model.kind].QUESTIONS
        if question.default is None and not question.words and question.key != "population"
    } if model.kind in KINDS else {}  # fmt: skip
    answer = whatif.predict(model, asked)
    for key, (low, value, high) in answer.values.items():
        known = ~np.isnan(low)
        assert not (np.isnan(value) & known).any(), key
        assert (low[known] <= value[known]).all() and (value[known] <= high[known]).all(), key
    assert answer.text() and answer._repr_html_()


def _solve_system(path: Path) -> None:
    from planner import system

    answer = system.solve(path)
    assert answer.text() and answer._repr_html_()


# ---- stations


EDGES: Final = (
    0.0,
    -0.0,
    5e-324,
    1e-150,
    1e-12,
    1e-3,
    0.5,
    1.0,
    1.5,
    3.0,
    1e3,
    1e12,
    1e150,
    1e151,
    math.inf,
    math.nan,
    -1.0,
)
SOUND: Final = (1e-6, 1e-3, 0.1, 0.2, 0.5, 0.9, 0.999, 1.0, 1.3, 2.0, 5.0, 30.0)
COUNTS: Final = (1, 2, 3, 5, 8, 20, 100, 1000, 10**6)
LAWS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "erlang_b": (("offered_load", "x"), ("servers", "n")),
    "erlang_c": (("offered_load", "x"), ("servers", "n")),
    "mmc": (("arrival_rate", "x"), ("service_time", "x"), ("servers", "n")),
    "mmck": (("arrival_rate", "x"), ("service_time", "x"), ("servers", "n"), ("capacity", "n")),
    "mgc": (("arrival_rate", "x"), ("service_time", "x"), ("servers", "n"), ("scv", "x")),
    "finite_source": (
        ("population", "n"), ("think_time", "x"), ("service_time", "x"), ("servers", "n"), ("scv", "v"),
        ("inflation", "x"), ("redrive_time", "x"),
    ),
    "min_servers": (("arrival_rate", "x"), ("service_time", "x"), ("scv", "v"), ("wait_time", "x")),
    "mva": (("demands", "xs"), ("population", "n"), ("think_time", "x"), ("servers", "n")),
    "usl": (("n", "x"), ("gamma", "x"), ("alpha", "x"), ("beta", "x")),
}  # fmt: skip


def _argument(kind: str, random: Random) -> Any:
    if kind == "n":
        return (
            random.choice((*COUNTS, random.randrange(1, 40), 0, -1, 2.5))
            if random.randrange(3)
            else random.randrange(1, 12)
        )
    if kind == "v":
        return random.choice((1.0, 1.0, 1.0, 0.0, 0.05, 0.3, 2.0, 20.0, math.nan))
    if kind == "xs":
        return [_argument("x", random) for _ in range(random.randrange(1, 4))]
    way = random.randrange(8)
    if way == 0:
        return random.choice(EDGES)
    return random.choice(SOUND) if way < 4 else math.exp(random.uniform(-8, 4))


def _make_station(random: Random) -> Case:
    name = random.choice(list(LAWS))
    return {"law": name, "arguments": {key: _argument(kind, random) for key, kind in LAWS[name]}}


def _check_station(case: Case) -> None:
    arguments = dict(case["arguments"])
    law = getattr(queueing, case["law"])
    with no_warning():
        try:
            found = law(**arguments)
        except (InputError, ConvergenceError):
            return
    if not hasattr(found, "quantities"):
        assert not np.isnan(np.asarray(found, dtype=float)).any()
        return
    for name in found.quantities():
        values = np.asarray(getattr(found, name), dtype=float)
        if name == "known_error":  # nan where nothing is known of it
            continue
        assert not np.isnan(values).any(), f"{name} is nan"
        assert (values >= 0).all(), f"{name} = {values.min()} is negative"
    if case["law"] == "finite_source":
        cycle = found.throughput * (arguments["think_time"] + found.response_time)
        np.testing.assert_allclose(cycle, arguments["population"], rtol=1e-9)


# ---- pools


def _make_pool(random: Random) -> Case:
    many = random.choice((1, 1, 1, 2, 3))
    volumes = [random.choice((1, 1, 2, 3, 8, 40, 120)) for _ in range(many)]
    population, think, rate = [], [], []
    for _ in range(many):
        closed = random.randrange(3) > 0
        population.append(float(random.choice((1, 2, 3, 5, 8))) if closed else math.nan)
        think.append(
            random.choice((0.0, 1e-6, 0.1, 1.0, 10.0, random.expovariate(1))) if closed else math.nan
        )
        rate.append(math.nan if closed else random.choice((1e-3, 0.1, 0.5, 0.9, 1.5)))
    return {
        "aliases": [random.choice((0, 1, 2, 3, 8, 30, 100)) for _ in range(random.choice((1, 1, 2)))],
        "law": {
            "volumes": volumes, "population": population, "think_time": think, "arrival_rate": rate,
            "service_time": random.choice((1.0, 1.0, 1e-3, [random.choice((0.5, 1.0, 2.0)) for _ in range(many)])),
            "inflation": random.choice((0.0, 0.0, 0.16, 1.0)), "redrive_time": random.choice((0.0, 0.0, 0.05)),
        },
    }  # fmt: skip


def _check_pool(case: Case) -> None:
    law = case["law"]
    with no_warning():
        try:
            pool = queueing.alias_pool(case["aliases"], **law)
        except (InputError, ConvergenceError):
            return
    stable = np.asarray(pool.stable, dtype=bool)
    for name in pool.quantities():
        values = np.asarray(getattr(pool, name), dtype=float)
        assert not np.isnan(values).any(), f"{name} is nan"
        assert (values >= 0).all(), f"{name} = {values.min()} is negative"
    population, think = np.array(law["population"]), np.array(law["think_time"])
    closed = ~np.isnan(population)
    present = pool.throughput * (think + pool.response_time)
    np.testing.assert_allclose(
        present[..., closed][stable],
        np.broadcast_to(population[closed], present[..., closed].shape)[stable],
        rtol=0.05,
    )
    busy = (pool.throughput * pool.service_time) @ np.array(law["volumes"], dtype=float)
    devices = sum(law["volumes"]) + np.array(case["aliases"], dtype=float)
    assert (busy <= devices * 1.05).all(), "more busy devices than there are"


# ---- quantities as people type them, and text in outputs


def _make_quantity(random: Random) -> Case:
    number = random.choice(
        ("1.3", "0", "-1", "1e400", "1e-400", "nan", "inf", ".", "1_000", "٣", "1,5", "9" * 400, "0x10")
    )
    unit = random.choice(("ms", "s", "GB", "GiB", "/s", "%", "", "us", "µs", "MB/s", " ms", "MS", "parsec"))
    text = (
        number + unit
        if random.randrange(4)
        else "".join(chr(random.randrange(0x250)) for _ in range(random.randrange(6)))
    )
    return {"text": text, "dimension": random.choice(("time", "size", "rate", "share", "speed"))}


def _check_quantity(case: Case) -> None:
    from planner import units

    dimensions = {unit.dimension for unit in units.UNITS.values() if unit.dimension}
    dimension = case["dimension"] if case["dimension"] in dimensions else min(dimensions)
    try:
        assert math.isfinite(units.parse(case["text"], dimension, argument="x", zero=True))
    except InputError as error:
        assert str(error)


def _make_label(random: Random) -> Case:
    signs = "abcXY01 $\\<>&\"'|=+-@#_*`[]\x1b\x07\x9b\u202e\n\t\r\u2028{}~é"
    return {"text": "".join(random.choice(signs) for _ in range(random.randrange(1, 12)))}


def _check_label(case: Case) -> None:
    """No output obeys a text, and what reads it again gets it back."""
    import csv
    import io

    from planner.render import (
        Column,
        Section,
        Table,
        answer_html,
        answer_markdown,
        answer_text,
        safe,
        to_csv,
        to_json,
    )

    text = case["text"]
    table = Table(
        columns=(Column(name="name", unit="", values=[text]), Column(name="n", unit="", values=[1.0]))
    )
    shown = answer_text(text, [Section(table=table, title=text)], [text])
    assert not any(
        (ord(sign) < 32 and sign != "\n") or 0x7F <= ord(sign) < 0xA0 or sign == "\u202e" for sign in shown
    )
    page = answer_html(text, [Section(table=table, title=text)], [text])
    bare = page.replace("<span>$</span>", "").replace("<span>\\</span>", "")
    assert "<script" not in page and "$" not in bare and "\\" not in bare.replace("\\x", "")
    assert answer_markdown(text, [Section(table=table)], [text]).count("\n") <= 6
    assert json.loads(to_json({"x": text})) == {"x": text}
    cell = list(csv.reader(io.StringIO(to_csv(table), newline="")))[1][0]
    assert not cell.startswith(("=", "\t", "\r"))
    if text.isprintable():
        assert cell in {text, f"'{text}"} and re.sub(safe.PROTECTED, r"\1", cell) == text


TARGETS: Final[dict[str, Target]] = {
    **{
        f"read {name}": Target(partial(_make_text, name), partial(_check_text, name))
        for name in content.FORMATS
    },
    "read anything": Target(partial(_make_file, _junk), partial(_check_file, _read_any, "")),
    "read monitor": Target(partial(_make_bytes, _monitor_file), _check_bytes),
    "read parquet": Target(partial(_make_bytes, _parquet_file), _check_bytes),
    "archive part": Target(partial(_make_bytes, _archive_file), _check_archive),
    "growth series": Target(partial(_make_file, content.growth), partial(_check_file, _read_growth, ".csv")),
    "calibration table": Target(
        partial(_make_file, content.calibration), partial(_check_file, _read_calibration, ".csv")
    ),
    "pool members": Target(partial(_make_file, content.members), partial(_check_file, _read_members, ".csv")),
    "lsdasd": Target(_make_lsdasd, _check_lsdasd),
    "model file": Target(partial(_toml, shelf="model"), partial(_check_file, _ask_model, ".toml")),
    "system file": Target(partial(_toml, shelf="system"), partial(_check_file, _solve_system, ".toml")),
    "stations": Target(_make_station, _check_station),
    "pools": Target(_make_pool, _check_pool),
    "quantities": Target(_make_quantity, _check_quantity),
    "text in outputs": Target(_make_label, _check_label),
}
