"""Storage in use from DSPACESH listings: the sum over PTRM data spaces, and its growth between two listings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from planner import render, style
from planner.advice.storage.limits import FIGURES, LIMIT, gigabytes, limits_of, spaces_of
from planner.answer import Answer, record, tabled
from planner.devices import storage
from planner.errors import InputError
from planner.interval import Interval
from planner.quantity import Quantity, column
from planner.units import GIB, SEGMENT, ends, percent, readable

if TYPE_CHECKING:
    from planner.measurements import Measured
    from planner.reports.dspacesh import DataSpace, DataSpaceListing

SPANS: Final = {"day": 1.0, "hour": 1 / 24, "minute": 1 / 1440, "s": 1 / 86_400}  # days


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """PTRM data spaces at the `end` of an interval: their number `spaces` and their `resident` pages."""

    end: datetime | time | None
    spaces: int
    resident: Interval

    @property
    def in_use(self) -> Interval:
        """In-use virtual storage [bytes]: one segment per PGMBK of two pages."""
        return self.resident * (SEGMENT / storage.FRAMES_PER_PGMBK)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageUsage(Answer):
    """How much of each limit is used.

    * `latest`: the last of the listings.
    * `limits`: the limits that could be calculated.
    * `growth`: change of in-use virtual storage [bytes/day]; None with a single listing.
    * `release`: z/VM release of the limits.
    * `remarks`: peculiarities of the listings.
    """

    FIGURES: ClassVar = (
        column("release"), column("ptrm_spaces", of="latest.spaces"),
        column("ptrm_resident_pages", of=lambda found: round(found.latest.resident.value)),
        column("in_use_virtual_bytes", of=lambda found: round(found.latest.in_use.value)),
        column("in_use_virtual_low_bytes", of=lambda found: round(found.latest.in_use.low)),
        column("in_use_virtual_high_bytes", of=lambda found: round(found.latest.in_use.high)),
        column("growth_bytes_per_day", of=lambda found: found.growth and round(found.growth.value)),
        column("limits", of=lambda found: found.limit_records()),
    )  # fmt: skip

    latest: Snapshot
    limits: tuple[storage.StorageLimit, ...]
    growth: Interval | None
    release: str
    remarks: tuple[str, ...]

    def used(self, limit: storage.StorageLimit) -> Interval:
        """Share of a limit that is in use."""
        return self.latest.in_use / limit.in_use_virtual_bytes

    def days(self, limit: storage.StorageLimit) -> Interval | None:
        """Days until a limit is reached at the growth between the listings."""
        if self.growth is None:
            return None
        left, growth, in_use = limit.in_use_virtual_bytes, self.growth, self.latest.in_use
        pairs = ((in_use.high, growth.high), (in_use.value, growth.value), (in_use.low, growth.low))
        return Interval(*(max(left - now, 0.0) / rate if rate > 0 else math.inf for now, rate in pairs))

    @property
    def headline(self) -> str:
        """Storage in use, and the first of the limits considered."""
        low, value, high = ends(self.latest.in_use / GIB, digits=5)
        first = storage.first_met(self.limits)
        considered = "" if self._all_considered else "of the limits considered "
        return (
            f"{value} GB ({low} to {high}) of virtual storage are in use, mapped by "
            f"{render.counted(self.latest.spaces, 'PTRM data space')} (z/VM {self.release}); "
            f"{considered}{first.name} is met first, a {first.kind} limit: {storage.BEYOND[first.kind]}."
        )

    @property
    def _all_considered(self) -> bool:
        return any(limit.name == storage.REAL_STORAGE for limit in self.limits)

    @property
    def notes(self) -> tuple[str, ...]:
        """Limits not considered, growth, remarks on the listings."""
        notes = []
        if not self._all_considered:
            notes.append(
                "Real storage was not considered and may be met earlier: --real-storage with --resident-pages."
            )
        if self.growth is not None:
            notes.append(f"Growth between the listings: {_growth_rate(self.growth)}.")
        if any(limit.name == storage.PGMBK_BELOW_2GB for limit in self.limits):
            notes.append(
                "z/VM 5.2 with 97 % of PGMBK-below-2GB in use still worked; at 121 %, five users of the report on real "
                "storage, extremely high paging ended in a soft hang."
            )
        return (*notes, *self.remarks)

    def days_left(self, limit: storage.StorageLimit) -> list[float | None]:
        """The ends of `days`; None without growth."""
        return [left if math.isfinite(left) else None for left in self.days(limit) or [math.inf] * 3]

    def marks(self) -> Iterable[str]:
        """Mark the limit that is met first."""
        first = storage.first_met(self.limits)
        return ("recommended" if limit is first else "" for limit in self.limits)

    def table(self) -> render.Table:
        """Sizes in GB, shares in percent, days if there is growth."""

        def used(key: str, label: str, end: str) -> Quantity:
            return column(key, "percent", label, 1, lambda limit: getattr(self.used(limit) * 100, end))

        columns = [*LIMIT, used("used", "", "value"), used("used_low", "at least", "low"),
                   used("used_high", "at most", "high")]  # fmt: skip
        if self.growth is not None:
            columns += [column("days_to_limit", "", "days left", of=lambda limit: self.days_left(limit)[1])]
        return tabled(self.limits, columns, self.marks())

    def sections(self) -> tuple[render.Section, ...]:
        """The table with the time left in a convenient unit."""
        table = self.table()
        if self.growth is None:
            return (render.Section(table=table),)
        left = [None if value is None else _span(value) for value in table.columns[-1].values]
        shown = replace(table.columns[-1], name="time_left", label="time left", values=left)
        return (render.Section(table=replace(table, columns=(*table.columns[:-1], shown))),)

    def limit_records(self) -> list[dict[str, Any]]:
        """Every limit with the share in use and the days left, each with its ends."""
        keys = ("days_to_limit_low", "days_to_limit", "days_to_limit_high")
        return [
            {**record(limit, FIGURES), "used_low": self.used(limit).low, "used_high": self.used(limit).high,
             **dict(zip(keys, self.days_left(limit), strict=True))}
            for limit in self.limits
        ]  # fmt: skip

    def plot(self, axes: style.Axes | None = None) -> style.Axes:
        """Draw the used share of each limit with its rounding; the first limit on top."""
        rows = sorted(self.limits, key=lambda limit: -self.used(limit).value)
        (axes,) = style.begin(axes, self.headline, height=1.6 + 0.6 * len(rows))
        names = [f"{limit.name}\n{gigabytes(limit.in_use_virtual_bytes)}, {limit.kind}" for limit in rows]
        used = [self.used(limit) * 100 for limit in rows]
        ends = [[share.value - share.low for share in used], [share.high - share.value for share in used]]
        hatches = [style.HATCHES[1] if limit.kind == "hard" else "" for limit in rows]
        bars = axes.barh(names, [share.value for share in used], xerr=ends, color=style.COLORS[0], capsize=4,
                         height=0.5, hatch=hatches, edgecolor="white")  # fmt: skip
        axes.bar_label(bars, [percent(share.value / 100) for share in used], label_type="center",
                       bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5}, zorder=style.ABOVE)  # fmt: skip
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.axvline(100, color=style.MEASURED, linestyle="--")
        axes.set_xlabel("used [%]; dashed: the limit")
        axes.set_xlim(0, max(110.0, *(1.15 * share.high for share in used)))
        return axes


def storage_usage(
    listings: Sequence[DataSpaceListing] | Measured,
    *,
    release: str | None = None,
    real_storage: float | str | None = None,
    resident_pages: float | None = None,
    ptrm_spaces: int | None = None,
) -> StorageUsage:
    """Used share of each limit.

    Parameters
    ----------
    listings : sequence of DataSpaceListing, or Measured
        One listing, or several of different times to get the growth too; or the result of `planner.measurements.read`.
    release : str, optional
        z/VM release such as ``5.3``; by default the one in the listings.
    real_storage : float or str, optional
        Real storage [bytes], or text such as ``120GB``; without it the limit of real storage is left out.
    resident_pages : float, optional
        Mean number of resident pages in each in-use segment, 1 to 256; required with `real_storage`.
    ptrm_spaces : int, optional
        Possible PTRM data spaces; by default those of the release.

    Returns
    -------
    StorageUsage
        Usage by the last listing.

    Raises
    ------
    InputError
        No listing, no PTRM data space in one, equal times, an unknown release, or resident pages without real storage.

    Examples
    --------
    >>> from planner.reports.dspacesh import read_data_spaces
    >>> usage = storage_usage(read_data_spaces("data/real-storage/5-users.listing"))
    >>> usage.latest.spaces, usage.latest.in_use.value / 2**20
    (1, 317500.0)
    """
    if isinstance(listings, Path | str):
        raise InputError("listings", str(listings), "what `planner.read` of the file returns")
    if not isinstance(listings, Sequence):
        listings = _listings(listings)
    if not listings:
        raise InputError("listings", 0, "at least one DSPACESH listing")
    ordered = _in_time(listings)
    name = release or ordered[-1].release
    if name is None:
        raise InputError("release", None, "the z/VM release; the listing does not show it")
    row = storage.release(name, ptrm_spaces)
    snapshots = [_snapshot(listing) for listing in ordered]
    if (real_storage is None) != (resident_pages is None):
        wanted = "both (for the limit of real storage) or neither"
        raise InputError("real_storage, resident_pages", "one of them", wanted)
    real = None if real_storage is None else storage.size("real_storage", real_storage)
    pages = None if resident_pages is None else storage.pages_per_segment(resident_pages)
    if ptrm_spaces is not None and ptrm_spaces < snapshots[-1].spaces:
        raise InputError("ptrm_spaces", ptrm_spaces, f"at least the {snapshots[-1].spaces} that there are")
    limits = limits_of(row, real, pages, spaces_of(row, ptrm_spaces))
    in_use = round(snapshots[-1].in_use.value)
    return StorageUsage(
        latest=snapshots[-1],
        limits=tuple(replace(limit, in_use=in_use) for limit in limits),
        growth=_growth(snapshots) if len(snapshots) > 1 else None,
        release=row.name,
        remarks=tuple(_remarks(ordered, row, assumed=ptrm_spaces is None)),
    )


def _listings(measured: Measured) -> tuple[DataSpaceListing, ...]:
    """The data spaces of one system, one listing per interval."""
    from planner.measurements.choose import refuse_several
    from planner.reports.dspacesh import listings_of_frame

    found = listings_of_frame(measured.storage)
    refuse_several(listing.system for listing in found)
    for each in found:
        if len({(row.owner, row.name) for row in each.rows}) < len(each.rows):
            raise InputError(
                "listings", f"{each.path} twice", "listings with dates, each of a different time"
            )
    if not found:
        raise measured.without("files with data spaces: DSPACESH listings (FCX134), monitor data")
    return found


def _ptrm_spaces(listing: DataSpaceListing) -> list[DataSpace]:
    """The PTRM data spaces of a listing, at least one."""
    found = [space for space in listing.rows if space.is_ptrm]
    if not found:
        raise InputError(
            "listing", str(listing.path), "PTRM data spaces of SYSTEM, from PTRM0000 on; there are none"
        )
    return found


def _snapshot(listing: DataSpaceListing) -> Snapshot:
    """Add up the resident pages of the PTRM data spaces with their rounding, each at most its capacity."""
    spaces, total = _ptrm_spaces(listing), Interval(0.0, 0.0, 0.0)
    for space in spaces:
        if space.resident is None:
            raise InputError(f"resident pages of {space.name}", "....", "a number; the listing has none here")
        pages = (space.resident.low, space.resident.value, space.resident.high)
        total += Interval(*(min(number, storage.PAGES_PER_PTRM_SPACE) for number in pages))
    return Snapshot(end=listing.end, spaces=len(spaces), resident=total)


def _in_time(listings: Sequence[DataSpaceListing]) -> list[DataSpaceListing]:
    """Order listings by the end of their interval; several need dates, all different."""
    if len(listings) == 1:
        return list(listings)
    ends = {listing.end for listing in listings if isinstance(listing.end, datetime)}
    if len(ends) < len(listings):
        raise InputError(
            "listings", [str(listing.end) for listing in listings],
            "listings with dates, each of a different time, to calculate the growth between them",
        )  # fmt: skip
    return sorted(listings, key=lambda listing: str(listing.end))


def _growth(snapshots: Sequence[Snapshot]) -> Interval:
    """Least-squares slope of in-use virtual storage over time, with its rounding [bytes/day]."""
    ends = [one.end for one in snapshots if isinstance(one.end, datetime)]
    days = [(end - ends[0]).total_seconds() / 86_400.0 for end in ends]
    mean = sum(days) / len(days)
    spread = sum((day - mean) ** 2 for day in days)
    slope = Interval(0.0, 0.0, 0.0)
    for day, one in zip(days, snapshots, strict=True):
        weight = (day - mean) / spread
        slope = slope + one.in_use * weight if weight > 0 else slope - one.in_use * -weight
    return slope


def _remarks(listings: Sequence[DataSpaceListing], row: storage.Release, *, assumed: bool) -> Iterator[str]:
    """Peculiarities of the listings."""
    last = listings[-1]
    shown = sorted({listing.release for listing in listings if listing.release})
    if shown and shown != [row.name]:
        yield f"The listings are from z/VM {' and '.join(shown)}; the limits are those of {row.name}."
    full, size = 0, storage.PAGES_PER_PTRM_SPACE
    for space in _ptrm_spaces(last):
        full += space.resident is not None and space.resident.high >= size
        if space.total is not None and not space.total.low <= size <= space.total.high:
            yield (
                f"{space.name} shows {space.total.value:,.0f} pages in total, but a 4 GB data space has "
                f"{readable(size)}: CP monitor of z/VM 5.2 is known to report half. The total is neither "
                "corrected nor used here."
            )
    if full:
        yield f"{full} of the PTRM data spaces are full: {readable(size)} pages each, shown rounded."
    if assumed and row.ptrm_certainty == "default" and not row.pgmbks_below_2gb:
        yield (
            f"{row.ptrm_spaces} PTRM data spaces are what z/VM 5.3 has; not verified for {row.name} (--ptrm-spaces)."
        )


def _span(days: float) -> str:
    """A span of time in the longest unit that fits at least twice."""
    unit = next((unit for unit, length in SPANS.items() if days >= 2.0 * length), "s")
    count = readable(days / SPANS[unit])
    return f"{count} {unit}{'' if count == '1' or unit == 's' else 's'}"


def _growth_rate(growth: Interval, large: float = 1024.0) -> str:
    """Growth in GB per longest unit of time in which the number stays readable."""
    rates = {unit: growth * length / GIB for unit, length in SPANS.items()}
    # faster growth is shown per next shorter unit
    unit = next((unit for unit, rate in rates.items() if abs(rate.value) < large), "s")
    low, value, high = ends(rates[unit])
    name = {"hour": "an hour", "s": "a second"}.get(unit, f"a {unit}")
    return f"{value} GB {name} ({low} to {high})"
