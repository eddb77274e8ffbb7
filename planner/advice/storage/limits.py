"""Every limit of a system side by side: how much virtual storage can be in use, and how much of each limit is used."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

from planner import render, style
from planner.answer import Answer, nested, record, tabled
from planner.devices import storage
from planner.errors import InputError
from planner.interval import Interval
from planner.quantity import Quantity, column
from planner.units import EXACT, FRAME, GIB, SEGMENT, ends, given, percent, readable

if TYPE_CHECKING:
    from planner.measurements import Measured
    from planner.reports.dspacesh import DataSpace, DataSpaceListing

LIMIT: Final = (
    column("limit", of="name"), column("kind"),
    column("in_use_virtual", "GB", "in-use virtual", 1, "in_use_virtual_bytes", digits=EXACT),
)  # fmt: skip
FIGURES: Final = tuple(map(column, ("name", "kind", "in_use_virtual_bytes", "headroom_bytes", "used")))


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class StorageBudget:
    """A system whose limits are asked for.

    Parameters
    ----------
    release : str
        z/VM release such as ``5.3``.
    real_storage : float or str
        Real storage [bytes], or text such as ``256GB``.
    resident_pages : float
        Mean number of resident pages in each in-use segment, 1 to 256.
    in_use : float or str, optional
        Virtual storage in use [bytes], or text.
    ptrm_spaces : int, optional
        PTRM data spaces; those of the release where None.

    Raises
    ------
    InputError
        An unknown release, or a number outside its domain.

    Attributes
    ----------
    notes : tuple of str
        What a reader should know of the release and its numbers.

    Notes
    -----
    ``2 + resident pages`` frames hold an in-use segment, ``4 GB / 8 KB`` PGMBKs a PTRM data space; where
    PGMBKs must lie below the 2 GB line, two frames of it hold each. IBM, "Improved Real Storage
    Scalability" (z/VM 5.3).

    Examples
    --------
    >>> limits = StorageBudget(release="5.3", real_storage="256GB", resident_pages=50).limits()
    >>> limits.binding.name, limits.binding.segments
    ('real-storage', 1290555)
    """

    release: storage.Release
    real_storage: int
    resident_pages: Fraction
    in_use: int | None
    ptrm_spaces: int
    notes: tuple[str, ...]

    def __init__(
        self,
        *,
        release: str,
        real_storage: float | str,
        resident_pages: float,
        in_use: float | str | None = None,
        ptrm_spaces: int | None = None,
    ) -> None:
        row = storage.release(release, ptrm_spaces)
        given: dict[str, object] = {
            "release": row,
            "real_storage": storage.size("real_storage", real_storage),
            "resident_pages": storage.pages_per_segment(resident_pages),
            "in_use": None if in_use is None else storage.size("in_use", in_use),
            "ptrm_spaces": spaces_of(row, ptrm_spaces),
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "notes", tuple(self._notes(assumed=ptrm_spaces is None)))

    def limits(self) -> StorageLimits:
        """Work out every limit."""
        return StorageLimits(
            budget=self,
            limits=tuple(self._limits(self.resident_pages)),
            min_resident_pages_before_ptrm=self._pages_before_ptrm(),
        )

    def _limits(self, resident_pages: Fraction) -> list[storage.StorageLimit]:
        limits = limits_of(self.release, self.real_storage, resident_pages, self.ptrm_spaces)
        return [replace(limit, in_use=self.in_use) for limit in limits]

    def _pages_before_ptrm(self) -> int | None:
        """Smallest whole number of resident pages at which another limit is met no later than PTRM."""
        if storage.first_met(self._limits(Fraction(1))).name != storage.PTRM_DATA_SPACES:
            return None
        frames, ptrm = self.real_storage // FRAME, self.ptrm_spaces * storage.SEGMENTS_PER_PTRM_SPACE
        # frames // (2 + pages) <= ptrm from here on
        return max(1, frames // (ptrm + 1) + 1 - storage.FRAMES_PER_PGMBK)

    def _notes(self, *, assumed: bool) -> list[str]:
        row, notes = self.release, []
        if row.largest_real_storage is None:
            notes.append(
                f"No published source has the limits of z/VM {row.name}: the {self.ptrm_spaces} PTRM data spaces are "
                "those given, and how much real storage it supports is not known here."
            )
        elif self.real_storage > row.largest_real_storage:
            notes.append(
                f"z/VM {row.name} supports up to {given(row.largest_real_storage / GIB)} GB of real "
                f"storage ({row.certainty}); the limits here are those of "
                f"{given(self.real_storage / GIB)} GB."
            )
        if row.pgmbks_below_2gb:
            notes.append("Other structures live below 2 GB, too: the practical limit is somewhat less.")
        elif assumed and row.ptrm_certainty == "default":
            notes.append(
                f"{self.ptrm_spaces} PTRM data spaces are what z/VM 5.3 has; not verified for {row.name}, and a later "
                "release may have more (--ptrm-spaces)."
            )
        return notes


def spaces_of(row: storage.Release, ptrm_spaces: int | None) -> int:
    """PTRM data spaces as given, or those of the release."""
    return row.ptrm_spaces if ptrm_spaces is None else storage.count("ptrm_spaces", ptrm_spaces)


def limits_of(
    row: storage.Release, real_storage: int | None, resident_pages: Fraction | None, ptrm_spaces: int
) -> list[storage.StorageLimit]:
    """Every limit that follows from the given numbers; of PGMBKs below 2 GB, that all of it is there."""
    real = 2 * GIB if real_storage is None else real_storage
    limits = [storage.below_2gb_limit(real)] if row.pgmbks_below_2gb else []
    if real_storage is not None and resident_pages is not None:
        limits.append(storage.real_storage_limit(real, resident_pages))
    return [*limits, storage.ptrm_limit(ptrm_spaces)]


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageLimits(Answer):
    """All limits of a system.

    `budget`: what was asked; `limits`: what can be in use by each; `min_resident_pages_before_ptrm`: smallest whole
    number of resident pages in a segment at which PTRM data spaces are no longer met before every other limit (a tie
    counts as no longer before), None where they never are.
    """

    COLUMNS: ClassVar = (
        *LIMIT, column("headroom", "GB", "", 1, "headroom_bytes", digits=EXACT),
        column("used", "percent", "used", 1, lambda limit: None if limit.used is None else 100 * limit.used),
    )  # fmt: skip
    ROWS: ClassVar = "limits"
    FIGURES: ClassVar = (
        column("release", of="budget.release.name"), column("release_certainty", of="budget.release.certainty"),
        column("real_storage_bytes", of="budget.real_storage"),
        column("resident_pages", of=lambda found: float(found.budget.resident_pages)),
        column("ptrm_spaces", of="budget.ptrm_spaces"),
        column("in_use_virtual_bytes", of="binding.in_use_virtual_bytes"),
        column("binding_limit", of="binding.name"), column("binding_kind", of="binding.kind"),
        nested("limits", "limits", FIGURES),
        column("min_resident_pages_before_ptrm"),
    )  # fmt: skip

    budget: StorageBudget
    limits: tuple[storage.StorageLimit, ...]
    min_resident_pages_before_ptrm: int | None

    @property
    def binding(self) -> storage.StorageLimit:
        """The limit that is met first."""
        return storage.first_met(self.limits)

    def marks(self) -> Iterable[str]:
        """The limit that is met first is marked."""
        return ("recommended" if limit is self.binding else "" for limit in self.limits)

    def to_dict(self) -> dict[str, Any]:
        """Sizes in bytes; `in_use_virtual_bytes` is what the limit that is met first allows."""
        return {**Answer.to_dict(self), "notes": list(self.budget.notes)}

    @property
    def headline(self) -> str:
        """How much can be in use, and which limit is met first."""
        first = self.binding
        return (
            f"Up to {gigabytes(first.in_use_virtual_bytes)} of virtual storage can be in use: {first.name} is met "
            f"first, a {first.kind} limit; {storage.BEYOND[first.kind]}."
        )

    def sections(self) -> tuple[render.Section, ...]:
        """The limits under the system that has them."""
        budget = self.budget
        asked = (
            f"z/VM {budget.release.name}, {given(budget.real_storage / GIB)} GB of real storage, "
            f"resident pages in each in-use 1 MB segment: {given(float(budget.resident_pages))}."
        )
        return (render.Section(table=self.table(), title=asked),)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is exceeded, where PTRM data spaces come first, what a reader should know of the release."""
        exceeded = [
            f"{limit.name} is exceeded by {gigabytes(-(limit.headroom_bytes or 0))} "
            f"({limit.kind}: {storage.BEYOND[limit.kind]})."
            for limit in self.limits
            if (limit.headroom_bytes or 0) < 0
        ]
        return (*exceeded, self._about_ptrm(), *self.budget.notes)

    def _about_ptrm(self) -> str:
        pages = self.min_resident_pages_before_ptrm
        if pages is None:
            return "PTRM data spaces are never met first on this system."
        if pages > storage.PAGES_PER_SEGMENT:
            return "PTRM data spaces are met first however many pages are resident."
        return f"PTRM data spaces are met first below {pages} resident pages in each in-use segment."

    def plot(self, axes: style.Axes | None = None) -> style.Axes:
        """Draw in-use virtual storage against resident pages per segment, every limit as a line."""
        (axes,) = style.begin(axes, self.headline)
        pages = [2 ** (step / 8) for step in range(8 * storage.PAGES_PER_SEGMENT.bit_length() - 7)]
        curves = [self.budget._limits(Fraction(number)) for number in pages]
        named = []
        for k, limit in enumerate(self.limits):
            color, line = style.look(k)
            heights = [limits[k].in_use_virtual_bytes / GIB for limits in curves]
            axes.plot(pages, heights, line, color=color, linewidth=2.5 if limit is self.binding else 1.5)
            named.append((heights[-1], f"{limit.name}, {limit.kind}", color))
        allowed = [min(limit.in_use_virtual_bytes for limit in limits) / GIB for limits in curves]
        axes.fill_between(pages, allowed, color=style.RANGE, zorder=0, label="within every limit")
        at, used = float(self.budget.resident_pages), self.budget.in_use
        room = self.binding.in_use_virtual_bytes
        most, color = room / GIB, style.COLORS[1]
        axes.plot([at], [most], "D", color=color, markeredgecolor=style.MEASURED, zorder=style.ABOVE)
        style.name_point(axes, f"{gigabytes(room)} can be in use", (at, most), style.MEASURED)
        if used is not None:
            axes.plot([at], [used / GIB], "o", color=style.MEASURED, zorder=style.ABOVE)
            style.name_point(axes, f"{gigabytes(used)} in use", (at, used / GIB), style.MEASURED, above=False)
        for along in ("x", "y"):
            style.doubling(axes, along)
        least = min(allowed[-1], most if used is None else min(most, used / GIB))
        axes.set(
            xlabel="resident pages in each in-use segment", ylabel="virtual storage in use [GB]", xlim=(1, pages[-1]),
            ylim=(0.7 * least, None),
        )  # fmt: skip
        style.name_lines(axes, named)
        style.legend_below(axes)
        return axes


def gigabytes(value: int) -> str:
    """Gigabytes, with terabytes beside them from one terabyte on."""
    size = value / GIB
    return f"{readable(size, digits=4)} GB" + (f" ({readable(size / 1024)} TB)" if size >= 1024 else "")  # noqa: PLR2004 - in a TB


SPANS: Final = {"day": 1.0, "hour": 1 / 24, "minute": 1 / 1440, "s": 1 / 86_400}  # days


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """PTRM data spaces at the end of an interval: `end` is when, `spaces` how many, `resident` their pages."""

    end: datetime | time | None
    spaces: int
    resident: Interval

    @property
    def in_use(self) -> Interval:
        """In-use virtual storage [bytes]: each PGMBK of two pages stands for a segment."""
        return self.resident * (SEGMENT / storage.FRAMES_PER_PGMBK)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageUsage(Answer):
    """How much of each limit is used.

    * `latest`: the last of the listings.
    * `limits`: those that follow from what was given.
    * `growth`: change of in-use virtual storage [bytes/day]; None with a single listing.
    * `release`: z/VM release of the limits.
    * `remarks`: what the listings show that a reader should know.
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
        """Work out which share of a limit is in use."""
        return self.latest.in_use / limit.in_use_virtual_bytes

    def days(self, limit: storage.StorageLimit) -> Interval | None:
        """Work out when a limit is reached at the growth between the listings."""
        if self.growth is None:
            return None
        left, growth, in_use = limit.in_use_virtual_bytes, self.growth, self.latest.in_use
        pairs = ((in_use.high, growth.high), (in_use.value, growth.value), (in_use.low, growth.low))
        return Interval(*(max(left - now, 0.0) / rate if rate > 0 else math.inf for now, rate in pairs))

    @property
    def headline(self) -> str:
        """How much is in use, and which of the limits considered is met first."""
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
        """What was not considered, how it grows, what the listings show."""
        notes = []
        if not self._all_considered:
            notes.append(
                "Real storage was not considered and may be met earlier: --real-storage with --resident-pages."
            )
        if self.growth is not None:
            notes.append(f"Growth between the listings: {_pace(self.growth)}.")
        if any(limit.name == storage.PGMBK_BELOW_2GB for limit in self.limits):
            notes.append(
                "z/VM 5.2 with 97 % of PGMBK-below-2GB in use still worked; at 121 %, five users of the report on real "
                "storage, extremely high paging ended in a soft hang."
            )
        return (*notes, *self.remarks)

    def days_left(self, limit: storage.StorageLimit) -> list[float | None]:
        """The ends of `days`; None where storage in use does not grow."""
        return [left if math.isfinite(left) else None for left in self.days(limit) or [math.inf] * 3]

    def marks(self) -> Iterable[str]:
        """The limit that is met first is marked."""
        first = storage.first_met(self.limits)
        return ("recommended" if limit is first else "" for limit in self.limits)

    def table(self) -> render.Table:
        """Sizes in GB, shares in percent, days where there is growth."""

        def used(key: str, label: str, end: str) -> Quantity:
            return column(key, "percent", label, 1, lambda limit: getattr(self.used(limit) * 100, end))

        columns = [*LIMIT, used("used", "", "value"), used("used_low", "at least", "low"),
                   used("used_high", "at most", "high")]  # fmt: skip
        if self.growth is not None:
            days = column("days_to_limit", "", "days left", of=lambda limit: self.days_left(limit)[1])
            columns.append(days)
        return tabled(self.limits, columns, self.marks())

    def sections(self) -> tuple[render.Section, ...]:
        """The same with the time left in a unit that people read."""
        table = self.table()
        if self.growth is None:
            return (render.Section(table=table),)
        left = [None if value is None else _span(value) for value in table.columns[-1].values]
        shown = replace(table.columns[-1], name="time_left", label="time left", values=left)
        return (render.Section(table=replace(table, columns=(*table.columns[:-1], shown))),)

    def limit_records(self) -> list[dict[str, Any]]:
        """Every limit with the share in use and the days to it, each between its ends."""
        keys = ("days_to_limit_low", "days_to_limit", "days_to_limit_high")
        return [
            {**record(limit, FIGURES), "used_low": self.used(limit).low, "used_high": self.used(limit).high,
             **dict(zip(keys, self.days_left(limit), strict=True))}
            for limit in self.limits
        ]  # fmt: skip

    def plot(self, axes: style.Axes | None = None) -> style.Axes:
        """Draw how much of each limit is used, with what rounding leaves open; the one that is met first on top."""
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
        axes.set(
            xlabel="used [%]; dashed: the limit", xlim=(0, max(110.0, *(1.15 * share.high for share in used)))
        )
        return axes


def storage_usage(
    listings: Sequence[DataSpaceListing] | Measured,
    *,
    release: str | None = None,
    real_storage: float | str | None = None,
    resident_pages: float | None = None,
    ptrm_spaces: int | None = None,
) -> StorageUsage:
    """Work out how much of each limit is used.

    Parameters
    ----------
    listings : sequence of DataSpaceListing, or Measured
        One for the state, several of different times for the growth, too; or what `planner.measurements.read` returns.
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
    >>> usage = storage_usage(read_data_spaces("data/real-storage/5-users.listing"))
    >>> usage.latest.spaces, usage.latest.in_use.value / 2**20
    (1, 317500.0)
    """
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
        wanted = "both, for the limit of real storage, or none"
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
    """The data spaces of one system, an interval each."""
    from planner.measurements.choose import refuse_several
    from planner.reports.dspacesh import listings_of_frame

    found = listings_of_frame(measured.storage)
    refuse_several(listing.system for listing in found)
    for each in found:
        if len({(row.owner, row.name) for row in each.rows}) < len(each.rows):
            raise InputError("listings", f"{each.path} twice", "listings with dates, each of another time")
    if not found:
        raise measured.without("files with data spaces: DSPACESH listings (FCX134), monitor data")
    return found


def _ptrm_spaces(listing: DataSpaceListing) -> list[DataSpace]:
    """The PTRM data spaces of a listing, at least one."""
    found = [space for space in listing.rows if space.is_ptrm]
    if not found:
        raise InputError(
            "listing", str(listing.path), "PTRM data spaces of SYSTEM, PTRM0000 and on; there is none"
        )
    return found


def _snapshot(listing: DataSpaceListing) -> Snapshot:
    """Add up the resident pages of the PTRM data spaces; roundings add up, too, but none holds more than it can."""
    spaces, total = _ptrm_spaces(listing), Interval(0.0, 0.0, 0.0)
    for space in spaces:
        if space.resident is None:
            raise InputError(f"resident pages of {space.name}", "....", "a number; the listing has none here")
        pages = (space.resident.low, space.resident.value, space.resident.high)
        total += Interval(*(min(number, storage.PAGES_PER_PTRM_SPACE) for number in pages))
    return Snapshot(end=listing.end, spaces=len(spaces), resident=total)


def _in_time(listings: Sequence[DataSpaceListing]) -> list[DataSpaceListing]:
    """Order listings by the end of their interval; several need dates, each of another time."""
    if len(listings) == 1:
        return list(listings)
    ends = {listing.end for listing in listings if isinstance(listing.end, datetime)}
    if len(ends) < len(listings):
        raise InputError(
            "listings", [str(listing.end) for listing in listings],
            "listings with dates, each of another time, since the growth between them is asked for",
        )  # fmt: skip
    return sorted(listings, key=lambda listing: str(listing.end))


def _growth(snapshots: Sequence[Snapshot]) -> Interval:
    """Least-squares slope of in-use virtual storage over time, with what rounding leaves open [bytes/day]."""
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
    """What the listings show that a reader should know."""
    last = listings[-1]
    shown = sorted({listing.release for listing in listings if listing.release})
    if shown and shown != [row.name]:
        yield f"The listings are of z/VM {' and '.join(shown)}; the limits are those of {row.name}."
    full, size = 0, storage.PAGES_PER_PTRM_SPACE
    for space in _ptrm_spaces(last):
        full += space.resident is not None and space.resident.high >= size
        if space.total is not None and not space.total.low <= size <= space.total.high:
            yield (
                f"{space.name} shows {space.total.value:,.0f} pages in total where a 4 GB data space has "
                f"{readable(size)}: CP monitor of z/VM 5.2 is known to report half. Not "
                "corrected, and not used here."
            )
    if full:
        yield f"{full} of the PTRM data spaces are full: {readable(size)} pages each, shown rounded."
    if assumed and row.ptrm_certainty == "default" and not row.pgmbks_below_2gb:
        yield (
            f"{row.ptrm_spaces} PTRM data spaces are what z/VM 5.3 has; not verified for {row.name} (--ptrm-spaces)."
        )


def _span(days: float) -> str:
    """A span of time in the longest unit of which there are a few."""
    # shorter spans are shown in the next unit
    unit = next((unit for unit, length in SPANS.items() if days >= 2.0 * length), "s")
    count = readable(days / SPANS[unit])
    return f"{count} {unit}{'' if count == '1' or unit == 's' else 's'}"


def _pace(growth: Interval, large: float = 1024.0) -> str:
    """Growth in GB for the longest unit of time in which it stays readable."""
    paces = {unit: growth * length / GIB for unit, length in SPANS.items()}
    # a faster growth is shown for the next shorter unit
    unit = next((unit for unit, pace in paces.items() if abs(pace.value) < large), "s")
    low, value, high = ends(paces[unit])
    name = {"hour": "an hour", "s": "a second"}.get(unit, f"a {unit}")
    return f"{value} GB {name} ({low} to {high})"
