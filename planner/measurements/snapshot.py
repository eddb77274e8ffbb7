"""PTRM data spaces of one DSPACESH listing, added up; and how storage in use grows from one to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from typing import Final

from planner.devices.storage.layout import FRAMES_PER_PGMBK
from planner.errors import InputError
from planner.interval import Interval
from planner.reports.dspacesh import DataSpace, DataSpaceListing
from planner.units import SEGMENT

SECONDS_PER_DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """PTRM data spaces at the end of an interval: `end` is when, `spaces` how many, `resident` their pages."""

    end: datetime | time | None
    spaces: int
    resident: Interval

    @property
    def in_use(self) -> Interval:
        """In-use virtual storage [bytes]: each PGMBK of two pages stands for a segment."""
        return self.resident * (SEGMENT / FRAMES_PER_PGMBK)


def ptrm_spaces(listing: DataSpaceListing) -> list[DataSpace]:
    """Find the PTRM data spaces.

    Parameters
    ----------
    listing : DataSpaceListing
        One DSPACESH listing.

    Returns
    -------
    list of DataSpace
        At least one.

    Raises
    ------
    InputError
        There is none.
    """
    found = [space for space in listing.rows if space.is_ptrm]
    if not found:
        raise InputError(
            "listing", str(listing.path), "PTRM data spaces of SYSTEM, PTRM0000 and on; there is none"
        )
    return found


def snapshot(listing: DataSpaceListing) -> Snapshot:
    """Add up the resident pages of the PTRM data spaces; the roundings add up, too.

    Parameters
    ----------
    listing : DataSpaceListing
        One DSPACESH listing.

    Returns
    -------
    Snapshot
        At the end of its interval.

    Raises
    ------
    InputError
        No PTRM data space, or a number of pages that is not available.
    """
    spaces = ptrm_spaces(listing)
    low = value = high = 0.0
    for space in spaces:
        if space.resident is None:
            raise InputError(f"resident pages of {space.name}", "....", "a number; the listing has none here")
        low, value, high = low + space.resident.low, value + space.resident.value, high + space.resident.high
    return Snapshot(end=listing.end, spaces=len(spaces), resident=Interval(low, value, high))


def in_time(listings: Sequence[DataSpaceListing]) -> list[DataSpaceListing]:
    """Order listings by the end of their interval.

    Parameters
    ----------
    listings : sequence of DataSpaceListing
        At least one.

    Returns
    -------
    list of DataSpaceListing
        The last one last.

    Raises
    ------
    InputError
        Several, and one of them has no date or the time of another.
    """
    if len(listings) == 1:
        return list(listings)
    ends = {listing.end for listing in listings if isinstance(listing.end, datetime)}
    if len(ends) < len(listings):
        raise InputError(
            "listings", [str(listing.end) for listing in listings],
            "listings with dates, each of another time, since the growth between them is asked for",
        )  # fmt: skip
    return sorted(listings, key=lambda listing: str(listing.end))


def growth(snapshots: Sequence[Snapshot]) -> Interval:
    """Fit a straight line to storage in use over time.

    Parameters
    ----------
    snapshots : sequence of Snapshot
        At least two, at different dates.

    Returns
    -------
    Interval
        Least-squares slope of in-use virtual storage, with what rounding leaves open [bytes/day].
    """
    ends = [one.end for one in snapshots if isinstance(one.end, datetime)]
    days = [(end - ends[0]).total_seconds() / SECONDS_PER_DAY for end in ends]
    mean = sum(days) / len(days)
    spread = sum((day - mean) ** 2 for day in days)
    weights = [(day - mean) / spread for day in days]
    in_use = [one.in_use for one in snapshots]
    low, value, high = (
        sum(
            weight * (item[side] if weight > 0 else item[2 - side])
            for weight, item in zip(weights, in_use, strict=True)
        )
        for side in (0, 1, 2)
    )
    return Interval(low, value, high)
