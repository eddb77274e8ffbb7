"""A monitor file damaged in up to three places: records come back unchanged or named, or the file is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.errors import ReportError
from planner.reports import schema
from planner.reports.monitor.reader import MonitorTables
from tests.reports.monitor_site import Site, read_monitor
from tests.reports.monitor_writer import capture, monwrite

NUMBERS = [f"{name}{end}" for name in schema.DEVICE_NUMBERS for end in schema.ENDS]
Rows = dict[tuple[str, object], dict[str, Any]]


@cache
def original(form: Callable[..., bytes], seed: int) -> tuple[bytes, list[dict[str, bytes]], list[float]]:
    """A file, the device records of each sample by device number, and the time of each sample."""
    site = Site(bases=9, aliases=6, seed=seed, zone=0)
    sets, times = site.sets(1), [site.time]
    for _ in range(4):
        site.work(60.0)
        sets.append([site.sample()])
        times.append(site.time)
    devices = [
        {
            f"{int.from_bytes(each[200:202], 'big'):04X}": each
            for each in runs[0].records
            if each[4:8:3] == b"\x06\x03"
        }
        for runs in sets[1:]
    ]
    return form(sets), devices, times


def by_end(frame: pl.DataFrame) -> Rows:
    """Rows by device and end of their interval, to the millisecond."""
    ends = frame["start"].dt.epoch("ms") + (frame["interval"] * 1000).round().cast(pl.Int64)
    return {(row["device"], end): row for row, end in zip(frame.iter_rows(named=True), ends, strict=True)}


def read(path: Path, content: bytes) -> MonitorTables | None:
    path.write_bytes(content)
    try:
        return read_monitor(path)
    except ReportError as error:
        assert str(path) in str(error)
        return None


@st.composite
def damages(draw: st.DrawFn, size: int) -> Callable[[bytes], bytes]:
    """One way to damage a file."""
    block = 4096 * draw(st.integers(0, size // 4096 - 1))
    other = 4096 * draw(st.integers(0, size // 4096 - 1))
    at, length = draw(st.integers(8192, size - 1)), draw(st.sampled_from([1, 1, 2, 30, 300, 4096]))
    junk = draw(st.binary(min_size=1, max_size=4))

    def swap(content: bytes) -> bytes:
        low, high = sorted((block, other))
        pages = [content[k : k + 4096] for k in range(0, len(content), 4096)]
        if high // 4096 < len(pages):
            pages[low // 4096], pages[high // 4096] = pages[high // 4096], pages[low // 4096]
        return b"".join(pages)

    ways: list[Callable[[bytes], bytes]] = [
        lambda content: content[:at],
        lambda content: content[:block] + content[block + 4096 :],
        lambda content: content[: block + 4096] + content[block:],
        lambda content: content[:at] + junk + content[at + len(junk) :],
        lambda content: content[:at] + junk + content[at:],
        lambda content: content[:at] + content[at + length :],
        lambda content: content[:at] + bytes(len(content[at : at + length])) + content[at + length :],
        swap,
    ]
    return draw(st.sampled_from(ways))


def check(
    content: bytes, found: MonitorTables, whole: Rows, devices: list[dict[str, bytes]], times: list[float]
) -> None:
    """Rows of records that are still there are unchanged; rows that are not there are named."""
    assert found.devices is not None
    rows, notes = by_end(found.devices), "\n".join(found.notes)
    ends = {end for _, end in rows}
    for (device, end), row in whole.items():
        sample = times.index(float(str(end)) / 1000)
        got = rows.get((device, end))
        if got is None:
            assert device in notes or "others" in notes or "has no end" in notes or end not in ends
            continue
        intact = all(devices[k][device] in content for k in (sample - 1, sample))
        if intact and got["interval"] == row["interval"]:
            assert {name: got[name] for name in NUMBERS} == {name: row[name] for name in NUMBERS}


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damage_is_named_or_refused(tmp_path_factory: Any, data: st.DataObject) -> None:
    form = data.draw(st.sampled_from([monwrite, capture]))
    content, devices, times = original(form, 3)
    path = tmp_path_factory.mktemp("monitor") / "MONDATA"
    intact = read(path, content)
    assert intact is not None and intact.devices is not None and intact.notes == ()
    damaged = content
    for damage in data.draw(st.lists(damages(len(content)), max_size=3)):
        damaged = damage(damaged)
    found = read(path, damaged)
    if found is not None:
        check(damaged, found, by_end(intact.devices), devices, times)
