"""One limit on the virtual storage that can be in use, and the three that there are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

from planner.devices.storage.layout import FRAMES_PER_PGMBK, SEGMENTS_PER_PTRM_SPACE, TWO_GB_FRAMES
from planner.units import FRAME, SEGMENT

REAL_STORAGE: Final = "real-storage"
PTRM_DATA_SPACES: Final = "PTRM-data-spaces"
PGMBK_BELOW_2GB: Final = "PGMBK-below-2GB"
BEYOND: Final = {
    "soft": "beyond it the system pages PGMBKs and pages, at the expense of performance",
    "hard": "beyond it CP abends",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One limit.

    `name` is ``real-storage``, ``PTRM-data-spaces`` or ``PGMBK-below-2GB``; `kind` is soft (performance
    goes) or hard (CP abends); `segments` in-use segments of 1 MB reach it; `in_use` is the virtual storage
    in use [bytes], None where it is not known.
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
        """What is left of it, negative where it is exceeded [bytes]."""
        return None if self.in_use is None else self.in_use_virtual_bytes - self.in_use

    @property
    def used(self) -> float | None:
        """Share of the limit that is in use [share]."""
        if self.in_use is None or not self.segments:
            return None
        return self.in_use / self.in_use_virtual_bytes

    def to_dict(self) -> dict[str, Any]:
        """Lay out for JSON.

        Returns
        -------
        dict
            Sizes in bytes.
        """
        return {
            "name": self.name,
            "kind": self.kind,
            "in_use_virtual_bytes": self.in_use_virtual_bytes,
            "headroom_bytes": self.headroom_bytes,
            "used": self.used,
        }


def real_storage_limit(real_storage: int, resident_pages: Fraction) -> Limit:
    """Let real storage hold the resident pages of each in-use segment and the two frames of its PGMBK.

    Parameters
    ----------
    real_storage : int
        Real storage [bytes].
    resident_pages : Fraction
        Mean number of resident pages in each in-use segment.

    Returns
    -------
    Limit
        ``frames / (2 + resident pages)`` segments.
    """
    segments = real_storage // FRAME // (FRAMES_PER_PGMBK + resident_pages)
    return Limit(name=REAL_STORAGE, kind="soft", segments=int(segments))


def ptrm_limit(spaces: int) -> Limit:
    """Let PTRM data spaces of 4 GB hold the PGMBKs.

    Parameters
    ----------
    spaces : int
        Number of PTRM data spaces.

    Returns
    -------
    Limit
        524,288 segments a space.
    """
    return Limit(name=PTRM_DATA_SPACES, kind="hard", segments=spaces * SEGMENTS_PER_PTRM_SPACE)


def below_2gb_limit(real_storage: int) -> Limit:
    """Let real storage below the 2 GB line hold the resident PGMBKs.

    Parameters
    ----------
    real_storage : int
        Real storage [bytes]; more than 2 GB brings nothing.

    Returns
    -------
    Limit
        262,144 segments at most.
    """
    frames = min(real_storage // FRAME, TWO_GB_FRAMES)
    return Limit(name=PGMBK_BELOW_2GB, kind="soft", segments=frames // FRAMES_PER_PGMBK)


def first_met(limits: list[Limit] | tuple[Limit, ...]) -> Limit:
    """Find the limit that is met first; at a tie the hard one.

    Parameters
    ----------
    limits : list or tuple of Limit
        At least one.

    Returns
    -------
    Limit
        The lowest.
    """
    return min(limits, key=lambda limit: (limit.segments, limit.kind != "hard"))
