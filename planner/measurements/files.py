"""Files to rows: every interval of every file, the newest last."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from planner.errors import InputError
from planner.interval import Interval
from planner.measurements.rows import ALIAS, BASE, CLASSIC_ALIAS, NUMBERS, VOLUME, WORDS, Rows
from planner.reports import DeviceListing, read_devices
from planner.reports.membership import Membership, read_membership
from planner.reports.volume_totals import read_totals


def rows_of(paths: Sequence[Path], members: Path | None = None) -> list[Rows]:
    """Read every interval of every file; in time where every one has a date, else in the order of the files."""
    known = None if members is None else read_membership(members)
    found: list[Rows] = []
    for path in paths:
        if path.suffix.lower() == ".csv":
            found.append(_of_totals(path))
        else:
            found += [_of_listing(listing, known) for listing in read_devices(path)]
    if all(rows.end is not None for rows in found):
        found.sort(key=lambda rows: str(rows.end))
    return found


def _of_listing(listing: DeviceListing, members: Membership | None = None) -> Rows:
    devices = list(listing.rows)
    words: dict[str, list[Any]] = {key: [] for key in WORDS}
    numbers: dict[str, list[tuple[float, float, float]]] = {key: [] for key in NUMBERS}
    for d in devices:
        kind = CLASSIC_ALIAS if d.is_classic_alias else ALIAS if d.is_hyperpav_alias else BASE
        member = members.members.get(d.address) if members else None
        pool = member.pool if member else None
        values = (d.address, d.label or None, kind, d.type, d.alias_of, pool)
        for key, value in zip(WORDS, values, strict=True):
            words[key].append(value)
        for key in NUMBERS:
            printed = getattr(d, key, None)
            numbers[key].append((np.nan,) * 3 if printed is None else (printed.low, printed.value, printed.high))
    return Rows(
        file=listing.path, source=listing.run, end=listing.end,
        words={key: np.array(values, dtype=object) for key, values in words.items()},
        numbers={key: Interval(*np.array(values, dtype=float).T) for key, values in numbers.items()},
        pool_aliases=np.full(len(devices), np.nan), seconds=np.full(len(devices), listing.interval or np.nan),
        line=np.array([d.line for d in devices], dtype=np.int64),
    )  # fmt: skip


def _of_totals(path: Path) -> Rows:
    rows = read_totals(path)
    nothing = (np.nan,) * 3

    def measured(known: Any) -> tuple[float, float, float]:
        return nothing if known is None else (max(known.value - known.half, 0.0), known.value, known.value + known.half)

    def exact(value: float | None) -> tuple[float, float, float]:
        return nothing if value is None else (value,) * 3

    columns = {
        "io_rate": [measured(r.io_rate) for r in rows], "service": [measured(r.service) for r in rows],
        "response": [measured(r.response) for r in rows], "queued": [measured(r.queued) for r in rows],
        "alias_rate": [exact(r.alias_rate) for r in rows], "pend": [exact(r.pend) for r in rows],
        "disconnect": [exact(r.disconnect) for r in rows],
    }  # fmt: skip
    none = [nothing] * len(rows)
    for r in rows:
        if r.pool is None and r.alias_rate > 0:
            raise InputError("pool", None, f"the pool of {r.volume}, for which aliases worked; read the counters with --pools")
    words = {
        "device": [r.volume if r.is_device else None for r in rows],
        "label": [None if r.is_device else r.volume for r in rows], "kind": [VOLUME] * len(rows),
        "type": [None] * len(rows), "alias_of": [None] * len(rows), "pool": [r.pool for r in rows],
    }  # fmt: skip
    return Rows(
        file=path, source="volume totals", end=None,
        words={key: np.array(values, dtype=object) for key, values in words.items()},
        numbers={key: Interval(*np.array(columns.get(key, none), dtype=float).T) for key in NUMBERS},
        pool_aliases=np.array([np.nan if r.aliases is None else r.aliases for r in rows], dtype=float),
        seconds=np.array([np.nan if r.seconds is None else r.seconds for r in rows], dtype=float),
        line=np.array([r.line for r in rows], dtype=np.int64),
    )  # fmt: skip
