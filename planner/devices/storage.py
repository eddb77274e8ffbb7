"""Arithmetic of CP's tables for virtual storage, the limits that follow, and the releases that have them."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Final, Literal

from planner import library, units
from planner.errors import InputError
from planner.units import FRAME, GIB, SEGMENT

PAGES_PER_SEGMENT: Final = SEGMENT // FRAME
FRAMES_PER_PGMBK: Final = 2  # contiguous; 8 KB
PAGES_PER_PTRM_SPACE: Final = 4 * GIB // FRAME
SEGMENTS_PER_PTRM_SPACE: Final = PAGES_PER_PTRM_SPACE // FRAMES_PER_PGMBK
TWO_GB_FRAMES: Final = 2 * GIB // FRAME

_FINEST: Final = 10**6  # largest denominator of a typed share or mean
LARGEST: Final = 2**64  # bytes of a 64-bit address space
OLDEST_LIKE_LATER: Final = "5.3"  # since then PGMBKs may reside anywhere, and PTRM data spaces map them
REAL_STORAGE: Final = "real-storage"
PTRM_DATA_SPACES: Final = "PTRM-data-spaces"
PGMBK_BELOW_2GB: Final = "PGMBK-below-2GB"
BEYOND: Final = {
    "soft": "above it the system pages PGMBKs and pages, at the expense of performance",
    "hard": "above it CP abends",
}


def size(argument: str, value: float | str) -> int:
    """Read a size in bytes, or as text with its unit."""
    number = units.parse(value, "storage", argument=argument) if isinstance(value, str) else value
    if not units.is_number(number) or not FRAME <= number < math.inf or math.ceil(number) > LARGEST:
        wanted = "a size above zero and of a page (4096) at least, such as 256 * 2**30 or '256GB', at most 2**64 bytes"
        raise InputError(argument, value, wanted, "bytes")
    return math.ceil(number)


def pages_per_segment(value: float | Fraction) -> Fraction:
    """Check a mean number of resident pages per in-use segment."""
    if not units.is_number(value) or not 1 <= value <= PAGES_PER_SEGMENT:
        raise InputError(
            "resident_pages", value, f"1 to {PAGES_PER_SEGMENT} pages in each in-use 1 MB segment"
        )
    return _exact(value)


def _exact(value: Any) -> Fraction:
    """Convert a float of any width to the simple fraction (such as 1/3) or decimal that was meant.

    >>> _exact(0.7), _exact(1 / 3), _exact(6e-7)
    (Fraction(7, 10), Fraction(1, 3), Fraction(3, 5000000))
    """
    if isinstance(value, Fraction):
        return value
    exact = float(value)
    simple = Fraction(exact).limit_denominator(_FINEST)
    if math.isclose(simple, exact, rel_tol=1e-15):
        return simple
    return Fraction(f"{exact:.15g}" if isinstance(value, float) else str(value))


def share(argument: str, value: float) -> Fraction:
    """Check a share above zero, at most one."""
    exact = _exact(value) if units.is_number(value) and math.isfinite(value) else Fraction(0)
    if not 0 < exact <= 1:
        raise InputError(argument, value, "a share above 0 and at most 1 (100%)")
    return exact


def count(argument: str, value: int) -> int:
    """Check a count of at least one."""
    if not units.is_number(value) or not 1 <= value < math.inf or value != int(value):
        raise InputError(argument, value, "a whole number of at least 1")
    return int(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageLimit:
    """One limit.

    `name` is ``real-storage``, ``PTRM-data-spaces`` or ``PGMBK-below-2GB``; `kind` is soft (performance
    degrades) or hard (CP abends); `segments` in-use segments of 1 MB reach it; `in_use` [bytes] may be unknown.
    """

    name: str
    kind: Literal["soft", "hard"]
    segments: int
    in_use: int | None = None

    @property
    def in_use_virtual_bytes(self) -> int:
        """In-use virtual storage that reaches the limit [bytes]."""
        return self.segments * SEGMENT

    @property
    def headroom_bytes(self) -> int | None:
        """Storage left below the limit, negative if exceeded [bytes]."""
        return None if self.in_use is None else self.in_use_virtual_bytes - self.in_use

    @property
    def used(self) -> float | None:
        """Share of the limit that is in use [share]."""
        if self.in_use is None or not self.segments:
            return None
        return self.in_use / self.in_use_virtual_bytes


def real_storage_limit(real_storage: int, resident_pages: Fraction) -> StorageLimit:
    """Limit of real storage: it holds the resident pages of each in-use segment and the two frames of its PGMBK."""
    segments = real_storage // FRAME // (FRAMES_PER_PGMBK + resident_pages)
    return StorageLimit(name=REAL_STORAGE, kind="soft", segments=int(segments))


def ptrm_limit(spaces: int) -> StorageLimit:
    """Limit of PTRM data spaces: 4 GB each for the PGMBKs."""
    return StorageLimit(name=PTRM_DATA_SPACES, kind="hard", segments=spaces * SEGMENTS_PER_PTRM_SPACE)


def below_2gb_limit(real_storage: int) -> StorageLimit:
    """Limit of real storage below the 2 GB line: it holds the resident PGMBKs."""
    frames = min(real_storage // FRAME, TWO_GB_FRAMES)
    return StorageLimit(name=PGMBK_BELOW_2GB, kind="soft", segments=frames // FRAMES_PER_PGMBK)


def first_met(limits: Sequence[StorageLimit]) -> StorageLimit:
    """The limit that is reached first; at a tie the hard one."""
    return min(limits, key=lambda limit: (limit.segments, limit.kind != "hard"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One row of the table.

    `name` is the release, such as ``5.3``; `largest_real_storage` [bytes] is the supported real storage (None without a
    source) and `certainty` its source (stated, public, inferred or given); `pgmbks_below_2gb`: whether resident PGMBKs
    must be below the 2 GB line; `ptrm_spaces`: PTRM data spaces, with `ptrm_certainty` (stated, default or given).
    """

    name: str
    largest_real_storage: int | None
    certainty: str
    pgmbks_below_2gb: bool
    ptrm_spaces: int
    ptrm_certainty: str


@cache
def releases() -> tuple[Release, ...]:
    """All releases with known limits, oldest first."""
    with library.data_path("releases", "releases.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            Release(
                name=row["release"],
                largest_real_storage=int(row["largest_real_storage_GB"]) * GIB,
                certainty=row["certainty"],
                pgmbks_below_2gb=row["pgmbks_below_2GB"] == "yes",
                ptrm_spaces=int(row["ptrm_spaces"]),
                ptrm_certainty=row["ptrm_certainty"],
            )
            for row in csv.DictReader(file)
        )


def release(name: str, ptrm_spaces: int | None = None) -> Release:
    """Look up a release; one without a published source has the PTRM data spaces given."""
    known = {row.name: row for row in releases()}
    if not isinstance(name, str):
        raise InputError("release", name, f"text, such as {OLDEST_LIKE_LATER!r}")
    if name in known:
        return known[name]
    later = re.fullmatch(r"\d\.\d", name) is not None and name > OLDEST_LIKE_LATER
    if later and ptrm_spaces is not None:
        return Release(
            name=name, largest_real_storage=None, certainty="given", pgmbks_below_2gb=False,
            ptrm_spaces=count("ptrm_spaces", ptrm_spaces), ptrm_certainty="given",
        )  # fmt: skip
    spaces = known[OLDEST_LIKE_LATER].ptrm_spaces
    expected = f"a z/VM release whose limits are known: {', '.join(known)}"
    if later:
        expected += (
            f"; no published source has those of {name}: `ptrm_spaces` gives its number of PTRM data spaces "
            f"({spaces} in {OLDEST_LIKE_LATER})"
        )
    raise InputError("release", name, expected)
