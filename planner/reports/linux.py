"""Linux on Z: which devices share a pool, and which block device is which, by `lsdasd`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from planner.errors import ReportError
from planner.reports import schema
from planner.reports.listing import read_bytes
from planner.reports.membership import Member, Membership
from planner.reports.moments import clock, read_moment
from planner.results import Array
from planner.units import MILLISECOND, half_digit

if TYPE_CHECKING:
    import polars as pl

KINDS_OF_REQUEST: Final = {"r/s": "r_await", "w/s": "w_await", "d/s": "d_await", "f/s": "f_await"}
BLOCK_DEVICE: Final = re.compile(r"dasd[a-z]+")
AMERICAN: Final = "%m/%d/%Y %I:%M:%S %p"  # what iostat prints without a language
ALIAS: Final = "alias"
HYPERPAV: Final = "xx"  # unit address in the uid of a HyperPAV alias
UID_PARTS: Final = 4
WANTED_IOSTAT: Final = "expected what iostat -x -t -o JSON 60 prints, with S_TIME_FORMAT=ISO set"
WANTED_LSDASD: Final = "expected what lsdasd -u prints: bus id, name, uid"

_BUS_ID: Final = re.compile(r"([0-9a-f])\.([0-3])\.([0-9a-f]{4})")
_HEAD: Final = re.compile(r"Bus-ID|=+$")


@dataclass(frozen=True, slots=True)
class LinuxDevices(Membership):
    """Members of pools by device number, and the device number of each block device (`names`); `notes` beside it."""

    names: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def is_lsdasd(head: bytes) -> bool:
    """Tell by its first bytes whether a file is what lsdasd -u prints."""
    lines = [line.split() for line in head.decode("utf-8", "replace").splitlines() if line.strip()]
    rows = [words for words in lines if _BUS_ID.fullmatch(words[0])]
    return bool(rows) and any(word.count(".") >= UID_PARTS - 1 for words in rows for word in words[1:])


def read_lsdasd(path: Path | str, data: bytes | None = None) -> LinuxDevices:
    """Read which devices share HyperPAV aliases: those whose uids begin with the same three parts."""
    path = Path(path)
    text = (read_bytes(path) if data is None else data).decode("utf-8", "replace")
    members: dict[str, Member] = {}
    names: dict[str, str] = {}
    skipped: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or _HEAD.match(words[0]):
            continue
        match = _BUS_ID.fullmatch(words[0])
        if match is None:
            raise ReportError(
                path, f"{words[0]!r} is no bus id such as 0.0.c28a; {WANTED_LSDASD}", line=number, column=1
            )
        device = match[3].upper() if match[1] + match[2] == "00" else words[0].upper()
        if device in members or device in skipped:
            raise ReportError(path, f"{words[0]} a second time", line=number, column=1)
        uid = words[-1].split(".")
        if len(words) < 3 or len(uid) < UID_PARTS:  # noqa: PLR2004 - bus id, name, uid
            skipped.append(device)
            continue
        is_alias = words[1] == ALIAS
        if is_alias and uid[3] != HYPERPAV:
            skipped.append(device)  # of one base, not of a pool
            continue
        members[device] = Member("alias" if is_alias else "base", ".".join(uid[:3]))
        if not is_alias:
            names[words[1]] = device
    if not members:
        raise ReportError(path, f"no device with a uid; {WANTED_LSDASD}")
    notes = (f"{path}: without a uid, or alias of one base only: {', '.join(skipped)}",) if skipped else ()
    return LinuxDevices(path, members, names, notes)


def name_devices(frame: pl.DataFrame, devices: LinuxDevices) -> pl.DataFrame:
    """Set the device number of rows that have the name of a block device only."""
    import polars as pl

    if not devices.names:
        return frame
    names, numbers = list(devices.names), list(devices.names.values())
    named = pl.col("label").replace_strict(names, numbers, default=None, return_dtype=pl.String)
    return frame.with_columns(pl.coalesce("device", named).alias("device"))
