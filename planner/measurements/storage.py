"""DSPACESH listings to storage in use: PTRM data spaces add up to it, and two listings tell how it grows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from planner import render
from planner.devices.storage.layout import (
    PAGES_PER_PTRM_SPACE,
    count,
    pages_per_segment,
    size,
)
from planner.devices.storage.limit import (
    BEYOND,
    Limit,
    below_2gb_limit,
    first_met,
    ptrm_limit,
    real_storage_limit,
)
from planner.devices.storage.releases import Release
from planner.devices.storage.releases import release as find_release
from planner.errors import InputError
from planner.interval import Interval
from planner.measurements.snapshot import Snapshot, growth, in_time, snapshot
from planner.measurements.snapshot import ptrm_spaces as ptrm_spaces_of
from planner.reports.dspacesh import DataSpaceListing
from planner.tabular import Tabular
from planner.units import GIB

if TYPE_CHECKING:
    from matplotlib.axes import Axes


TWO_GB: Final = 2 * GIB


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageUsage(Tabular):
    """How much of each limit is used.

    `latest` is the last of the snapshots, `limits` those that can be told from what was given, `growth` the
    change of in-use virtual storage [bytes/day], None with a single listing; `release` is the z/VM release,
    `notes` what to know.
    """

    latest: Snapshot
    limits: tuple[Limit, ...]
    growth: Interval | None
    release: str
    notes: tuple[str, ...]

    def used(self, limit: Limit) -> Interval:
        """Share of a limit that is in use.

        Parameters
        ----------
        limit : Limit
            One of `limits`.

        Returns
        -------
        Interval
            With what rounding leaves open [share].
        """
        return self.latest.in_use * (1 / limit.in_use_virtual_bytes)

    def days(self, limit: Limit) -> Interval | None:
        """Days until a limit is reached at the growth between the listings.

        Parameters
        ----------
        limit : Limit
            One of `limits`.

        Returns
        -------
        Interval or None
            Infinite where storage in use does not grow; None with a single listing [days].
        """
        if self.growth is None:
            return None
        left, growth = limit.in_use_virtual_bytes, self.growth
        in_use = self.latest.in_use
        pairs = ((in_use.high, growth.high), (in_use.value, growth.value), (in_use.low, growth.low))
        return Interval(*(max(left - now, 0.0) / rate if rate > 0 else math.inf for now, rate in pairs))

    def table(self) -> render.Table:
        """One row a limit; the one that is met first is marked.

        Returns
        -------
        render.Table
            Sizes in GB, shares in percent, days where there is growth.
        """
        used = [self.used(limit) * 100 for limit in self.limits]
        days = [self.days(limit) for limit in self.limits]
        first = first_met(self.limits)
        columns = [
            render.Column(name="limit", unit="", values=[limit.name for limit in self.limits]),
            render.Column(name="kind", unit="", values=[limit.kind for limit in self.limits]),
            render.Column(name="in_use_virtual", unit="GB", label="in-use virtual", decimals=1,
                          values=[limit.in_use_virtual_bytes / GIB for limit in self.limits]),
            render.Column(name="used", unit="percent", values=[share.value for share in used], decimals=1),
            render.Column(name="used_low", unit="percent", label="at least", decimals=1,
                          values=[share.low for share in used]),
            render.Column(name="used_high", unit="percent", label="at most", decimals=1,
                          values=[share.high for share in used]),
        ]  # fmt: skip
        if self.growth is not None:
            left = [_finite(item.value) if item else None for item in days]
            columns.append(render.Column(name="days_to_limit", unit="", label="days left", values=left))
        return render.Table(
            columns=tuple(columns),
            marks=tuple("recommended" if limit is first else "" for limit in self.limits),
        )

    def plot(self) -> Axes:
        """Draw how much of each limit is used, with what rounding leaves open.

        Returns
        -------
        matplotlib.axes.Axes
            A bar a limit, up to 100 %.
        """
        from planner import style

        axes = style.new_axes(6.4, 2.4)
        names = [limit.name for limit in self.limits]
        used = [self.used(limit) * 100 for limit in self.limits]
        open_ends = [
            [share.value - share.low for share in used],
            [share.high - share.value for share in used],
        ]
        axes.barh(names, [share.value for share in used], xerr=open_ends, color=style.COLORS[0], capsize=4)
        axes.axvline(100, color="black", linestyle="--")
        axes.set(xlabel="used [%]", title=f"Virtual storage in use, z/VM {self.release}")
        return axes

    def to_dict(self) -> dict[str, Any]:
        """Lay out for JSON.

        Returns
        -------
        dict
            Sizes in bytes; days are null where storage in use does not grow.
        """
        in_use, growth = self.latest.in_use, self.growth
        rows = []
        for limit in self.limits:
            used, days = self.used(limit), self.days(limit)
            left = (None, None, None) if days is None else tuple(map(_finite, days))
            rows.append(
                {
                    **limit.to_dict(), "used_low": used.low, "used_high": used.high,
                    "days_to_limit_low": left[0], "days_to_limit": left[1], "days_to_limit_high": left[2],
                }
            )  # fmt: skip
        return {
            "release": self.release,
            "ptrm_spaces": self.latest.spaces,
            "ptrm_resident_pages": round(self.latest.resident.value),
            "in_use_virtual_bytes": round(in_use.value),
            "in_use_virtual_low_bytes": round(in_use.low),
            "in_use_virtual_high_bytes": round(in_use.high),
            "growth_bytes_per_day": None if growth is None else round(growth.value),
            "limits": rows,
            "notes": list(self.notes),
        }

    def text(self) -> str:
        """Say it for people.

        Returns
        -------
        str
            A headline, the table, notes.
        """
        low, value, high = (number / GIB for number in self.latest.in_use)
        spaces = "1 PTRM data space" if self.latest.spaces == 1 else f"{self.latest.spaces} PTRM data spaces"
        first = first_met(self.limits)
        headline = (
            f"{value:.5g} GB ({low:.5g} to {high:.5g}) of virtual storage are in use, mapped by {spaces} "
            f"(z/VM {self.release})."
        )
        binding = f"{first.name} is met first, a {first.kind} limit: {BEYOND[first.kind]}."
        growth = []
        if self.growth is not None:
            pace = [number / GIB for number in self.growth]
            growth = [
                f"Growth between the listings: {pace[1]:.4g} GB a day ({pace[0]:.4g} to {pace[2]:.4g})."
            ]
        lines = [render.wrap(headline), render.wrap(binding), "", render.to_text(self.table()), ""]
        return "\n".join([*lines, *map(render.wrap, [*growth, *self.notes])]).rstrip("\n")


def storage_usage(
    listings: Sequence[DataSpaceListing],
    *,
    release: str | None = None,
    real_storage: float | str | None = None,
    resident_pages: float | None = None,
    ptrm_spaces: int | None = None,
) -> StorageUsage:
    """Tell how much of each limit is used.

    Parameters
    ----------
    listings : sequence of DataSpaceListing
        One for the state, several of different times for the growth, too.
    release : str, optional
        z/VM release such as ``5.3``; the one that the listings show where None.
    real_storage : float or str, optional
        Real storage [bytes], or text such as ``120GB``; without it the limit of real storage is left out.
    resident_pages : float, optional
        Mean number of resident pages in each in-use segment, 1 to 256; goes with `real_storage`.
    ptrm_spaces : int, optional
        PTRM data spaces there can be; those of the release where None.

    Returns
    -------
    StorageUsage
        Of the last listing.

    Raises
    ------
    InputError
        No listing, no PTRM data space in one, a release that is not known, several listings without
        different times, or resident pages without real storage.

    Examples
    --------
    >>> from planner.reports.dspacesh import read_data_spaces
    >>> usage = storage_usage(read_data_spaces("data/real-storage/128-users.listing"))
    >>> usage.latest.spaces, usage.latest.in_use.value / 2**20
    (16, 8108000.0)
    """
    if not listings:
        raise InputError("listings", 0, "at least one DSPACESH listing")
    ordered = in_time(listings)
    last = ordered[-1]
    row = _release(release, last)
    snapshots = [snapshot(listing) for listing in ordered]
    limits = _limits(row, real_storage, resident_pages, ptrm_spaces)
    in_use = round(snapshots[-1].in_use.value)
    return StorageUsage(
        latest=snapshots[-1],
        limits=tuple(replace(limit, in_use=in_use) for limit in limits),
        growth=growth(snapshots) if len(snapshots) > 1 else None,
        release=row.name,
        notes=tuple(_notes(ordered, row, assumed=ptrm_spaces is None)),
    )


def _release(asked: str | None, listing: DataSpaceListing) -> Release:
    name = asked or listing.release
    if name is None:
        raise InputError("release", None, "the z/VM release (--release); the listing does not show it")
    return find_release(name)


def _limits(
    row: Release, real_storage: float | str | None, resident_pages: float | None, ptrm_spaces: int | None
) -> list[Limit]:
    """Every limit that the given numbers tell."""
    if (real_storage is None) != (resident_pages is None):
        raise InputError(
            "real_storage, resident_pages", "one of them", "both, for the limit of real storage, or none"
        )
    real = None if real_storage is None else size("real_storage", real_storage)
    limits = [below_2gb_limit(TWO_GB if real is None else real)] if row.pgmbks_below_2gb else []
    if real is not None and resident_pages is not None:
        limits.append(real_storage_limit(real, pages_per_segment("resident_pages", resident_pages)))
    limits.append(ptrm_limit(row.ptrm_spaces if ptrm_spaces is None else count("ptrm_spaces", ptrm_spaces)))
    return limits


def _notes(listings: Sequence[DataSpaceListing], row: Release, *, assumed: bool) -> list[str]:
    """What the listings show that a reader should know."""
    last = listings[-1]
    notes = []
    shown = sorted({listing.release for listing in listings if listing.release})
    if shown and shown != [row.name]:
        notes.append(f"The listings are of z/VM {' and '.join(shown)}; the limits are those of {row.name}.")
    for space in ptrm_spaces_of(last):
        if space.total is not None and not space.total.low <= PAGES_PER_PTRM_SPACE <= space.total.high:
            notes.append(
                f"{space.name} shows {space.total.value:.0f} pages in total where a 4 GB data space has "
                f"{PAGES_PER_PTRM_SPACE}: CP monitor of z/VM 5.2 is known to report half. Not corrected, and not "
                "used here."
            )
    full = [
        s for s in ptrm_spaces_of(last) if s.resident is not None and s.resident.high >= PAGES_PER_PTRM_SPACE
    ]
    if full:
        notes.append(
            f"{len(full)} of the PTRM data spaces are full ({PAGES_PER_PTRM_SPACE} pages, shown rounded)."
        )
    if assumed and row.ptrm_certainty == "default" and not row.pgmbks_below_2gb:
        notes.append(
            f"{row.ptrm_spaces} PTRM data spaces are what z/VM 5.3 has; not verified for {row.name} (--ptrm-spaces)."
        )
    return notes


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
