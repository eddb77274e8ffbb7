"""Frame budgets: real storage needed for virtual storage in use, and the guests or pages that fit."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final

from planner import render, style
from planner.answer import Answer
from planner.devices import storage
from planner.errors import InfeasibleError, InputError
from planner.quantity import column
from planner.units import EXACT, FRAME, GIB, SEGMENT, given, percent, readable

PTRM_SPACES_STATED: Final = 16  # of z/VM 5.3; the only number stated in a report


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameBudget(Answer):
    """Frames that virtual storage in use needs.

    `segments`: segments of 1 MB in use; `page_frames` and `pgmbk_frames`: frames for their resident pages, and for
    their PGMBKs; `ptrm_spaces`: PTRM data spaces that map them; `real_storage` [bytes], None if not given.
    """

    COLUMNS: ClassVar = (
        column("what"), column("frames"), column("real_storage", "GB", "real storage", 2, digits=EXACT),
        column("overcommit", "", "to real storage", 3),
    )  # fmt: skip
    ROWS: ClassVar = "parts"
    FIGURES: ClassVar = tuple(map(column, (
        "segments", "page_frames", "pgmbk_frames", "ptrm_spaces", "real_storage_bytes", "overcommit",
        "overcommit_with_pgmbks",
    )))  # fmt: skip

    segments: int
    page_frames: int
    pgmbk_frames: int
    ptrm_spaces: int
    real_storage: int | None = None

    @property
    def real_storage_bytes(self) -> int:
        """Real storage needed so that nothing is paged out [bytes]."""
        return (self.page_frames + self.pgmbk_frames) * FRAME

    @property
    def overcommit(self) -> float | None:
        """Ratio of pages to real storage, without PGMBKs."""
        return None if self.real_storage is None else self.page_frames * FRAME / self.real_storage

    @property
    def overcommit_with_pgmbks(self) -> float | None:
        """Ratio of pages and PGMBKs to real storage."""
        return None if self.real_storage is None else self.real_storage_bytes / self.real_storage

    @property
    def headline(self) -> str:
        """Real storage, and the virtual storage in use that it holds."""
        return (
            f"{_gb(self.real_storage_bytes)} GB of real storage hold "
            f"{_gb(self.segments * SEGMENT)} GB of in-use virtual storage, mapped by "
            f"{render.counted(self.ptrm_spaces, 'PTRM data space')}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Excess over real storage and over the PTRM data spaces."""
        needed, notes = self.real_storage_bytes, []
        if self.real_storage is not None and needed > self.real_storage:
            notes.append(
                f"{_gb(needed - self.real_storage)} GB more than the "
                f"{given(self.real_storage / GIB)} GB of real storage: the system pages, at the "
                "expense of performance."
            )
        return (*notes, *over_ptrm(self.ptrm_spaces))

    @property
    def parts(self) -> list[tuple[str, int, float, float | None]]:
        """Uses of frames: name, frames, GB, ratio to real storage."""
        pages, pgmbks, real = self.page_frames, self.pgmbk_frames, self.real_storage
        return [
            (what, number, number * FRAME / GIB, None if real is None else number * FRAME / real)
            for what, number in (("pages", pages), ("PGMBKs", pgmbks), ("together", pages + pgmbks))
        ]

    def plot(self, axes: style.Axes | None = None) -> style.Axes:
        """Draw the storage for pages and PGMBKs, and the real storage."""
        return _draw(self, self.headline, axes)


def _gb(size: float) -> str:
    """GB with two decimals; more of what these would show as none."""
    return readable(size / GIB, 2, EXACT) if size >= GIB / 100 else readable(size / GIB)


def over_ptrm(spaces: float) -> list[str]:
    """Warn of more PTRM data spaces than are known to exist."""
    if spaces <= PTRM_SPACES_STATED:
        return []
    return [
        f"{math.ceil(spaces):,} PTRM data spaces are needed; z/VM 5.3 has {PTRM_SPACES_STATED} and abends above them; "
        "a later release may have more."
    ]


def _draw(budget: FrameBudget, headline: str, axes: style.Axes | None) -> style.Axes:
    """Draw the storage for pages and PGMBKs, and the real storage."""
    (axes,) = style.begin(axes, headline, height=2.2)
    left, there = 0.0, (budget.real_storage or 0) / GIB
    for k, (label, _, width, _) in enumerate(budget.parts[:2]):
        axes.barh([""], [width], left=left, color=style.COLORS[k], hatch=style.HATCHES[k], edgecolor="white",
                  label=f"{label}: {readable(width)} GB")  # fmt: skip
        left += width
    if there:
        label = f"real storage: {given(there)} GB"
        axes.axvline(there, color=style.MEASURED, linestyle="--", label=label)
    axes.set(xlabel="real storage [GB]", yticks=[], ylim=(-0.8, 0.8), xlim=(0, 1.05 * max(left, there)))
    style.legend_below(axes)
    return axes


def frame_budget(
    *, in_use: float | str, resident_pages: float, real_storage: float | str | None = None
) -> FrameBudget:
    """Count the frames for virtual storage in use.

    Parameters
    ----------
    in_use : float or str
        In-use virtual storage [bytes], or text such as ``900GB``; rounded up to segments.
    resident_pages : float
        Mean number of resident pages in each in-use segment, 1 to 256.
    real_storage : float or str, optional
        Real storage [bytes], or text.

    Returns
    -------
    FrameBudget
        Frames for pages and PGMBKs.

    Raises
    ------
    InputError
        A number outside its domain.

    Notes
    -----
    ``segments x (resident pages + 2)`` frames; IBM, "Improved Real Storage Scalability" (z/VM 5.3).

    >>> frame_budget(in_use="7936GB", resident_pages=1).real_storage_bytes / 2**30
    93.0
    """
    segments = -(-storage.size("in_use", in_use) // SEGMENT)
    return _budget(segments, segments * storage.pages_per_segment(resident_pages), real_storage)


def guest_frame_budget(
    *,
    guests: int | Sequence[int],
    guest_storage: float | str | Sequence[float | str],
    instantiated: float,
    resident_pages: float | Fraction = storage.PAGES_PER_SEGMENT,
    real_storage: float | str | None = None,
) -> FrameBudget:
    """Count the frames for guests of one or several sizes that have touched a share of their storage.

    Parameters
    ----------
    guests : int or sequence of int
        Number of guests, of each size.
    guest_storage : float or str, or sequence of these
        Virtual storage of each [bytes], or text such as ``88GB``; as many sizes as numbers of guests.
    instantiated : float
        Share of the storage that the guest has touched [share].
    resident_pages : float, optional
        Instantiated pages in each in-use segment: 256 if guests touch their storage in sequence; the least is
        ``256 x instantiated``, if the touched pages are spread over all segments.
    real_storage : float or str, optional
        Real storage [bytes], or text.

    Returns
    -------
    FrameBudget
        Frames for all instantiated pages.

    Raises
    ------
    InputError
        A number outside its domain, unequal numbers of sizes and guests, or more instantiated pages than segments hold.

    Notes
    -----
    ``guests x storage x instantiated`` pages, two frames for each of their segments. IBM, "XIV Concurrent I/O".

    >>> budget = guest_frame_budget(guests=20, guest_storage="88GB", instantiated=0.7, real_storage="1024GB")
    >>> round(budget.overcommit, 3)
    1.203
    """
    sizes = guest_storage if isinstance(guest_storage, (list, tuple)) else [guest_storage]
    numbers = guests if isinstance(guests, (list, tuple)) else [guests]
    if not sizes or len(sizes) != len(numbers):
        raise InputError(
            "guests", guests, f"one number for each size of guests: there are {len(sizes)} sizes"
        )
    exact = storage.share("instantiated", instantiated)
    dense = storage.pages_per_segment(resident_pages)
    pages = segments = 0
    for number, each in zip(numbers, sizes, strict=True):
        more = _touched(storage.count("guests", number), storage.size("guest_storage", each), exact, dense)
        pages, segments = pages + more[0], segments + more[1]
    return _budget(segments, Fraction(pages), real_storage)


def _touched(guests: int, size: int, exact: Fraction, dense: Fraction) -> tuple[int, int]:
    """Pages and segments of equal guests."""
    pages = math.ceil(guests * size * exact / FRAME)
    every = guests * -(-size // SEGMENT)
    if guests * size * exact / FRAME > dense * every:
        least = _hundredths(storage.PAGES_PER_SEGMENT * exact, math.ceil)
        raise InputError(
            "resident_pages", float(dense),
            f"at least {least}: {percent(float(exact))} of all pages are that dense even if spread over all segments",
        )  # fmt: skip
    return pages, min(math.ceil(pages / dense), every)


def _budget(segments: int, pages: Fraction, real_storage: float | str | None) -> FrameBudget:
    return FrameBudget(
        segments=segments,
        page_frames=math.ceil(pages),
        pgmbk_frames=segments * storage.FRAMES_PER_PGMBK,
        ptrm_spaces=-(-segments // storage.SEGMENTS_PER_PTRM_SPACE),
        real_storage=None if real_storage is None else storage.size("real_storage", real_storage),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageFit(Answer):
    """Guests or pages that fit in real storage without paging."""

    FIGURES: ClassVar = (
        column("what"), column("count"), column("count_low", of="low"), column("count_high", of="high"),
    )  # fmt: skip

    what: str  # "guests", or "resident pages" of each in-use segment
    one: str  # one of them
    count: int  # the most that fit
    low: int  # the most if touched pages are spread over all segments; `high`: if they are dense
    high: int
    asked: str  # the question in words
    budget: FrameBudget  # frames that they take

    @property
    def headline(self) -> str:
        """How many fit, with the range."""
        beside = f" ({self.low:,} to {self.high:,})" if self.low < self.high else ""
        real = (self.budget.real_storage or 0) / GIB
        room = f"{given(real)} GB of real storage without paging"
        many, fit = render.counted(self.count, self.one, self.what), "fits" if self.count == 1 else "fit"
        return f"{self.asked}: up to {many}{beside} {fit} in {room}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What the range means, and what is not counted."""
        lines = []
        if self.low < self.high:
            lines.append(
                "The range is from touched pages spread over all segments, each with its own PGMBK, to densely packed "
                "pages."
            )
        return (*lines, *self.budget.notes, "CP itself and other resident storage are not counted.")

    def table(self) -> render.Table:
        """Number that fits with its range, and its frames as in a frame budget."""
        frames, key = self.budget.table(), self.what.split(" in ")[0].replace(" ", "_")
        counts = {key: self.count, f"{key}_low": self.low, f"{key}_high": self.high}
        beside = (
            render.Column(name=name, unit="", values=[number] * len(self.budget.parts))
            for name, number in counts.items()
        )
        return render.Table(columns=(*frames.columns, *beside))

    def sections(self) -> tuple[render.Section, ...]:
        """Frames only: the headline has the number that fits."""
        return self.budget.sections()

    def to_dict(self) -> dict[str, Any]:
        """`count` with its range, and its budget."""
        return {**self.budget.to_dict(), **Answer.to_dict(self)}

    def plot(self, axes: style.Axes | None = None) -> style.Axes:
        """Draw the frames of what fits and the real storage."""
        return _draw(self.budget, self.headline, axes)


def guests_that_fit(
    *,
    guest_storage: float | str,
    instantiated: float,
    real_storage: float | str,
    resident_pages: float | None = None,
) -> StorageFit:
    """Count the equal guests whose touched pages and PGMBKs fit in real storage.

    >>> guests_that_fit(guest_storage="88GB", instantiated=0.7, real_storage="1024GB").count
    16
    """
    real = storage.size("real_storage", real_storage)
    least = storage.PAGES_PER_SEGMENT * storage.share("instantiated", instantiated)

    def budget(guests: int, pages: float | Fraction) -> FrameBudget:
        return guest_frame_budget(
            guests=guests, guest_storage=guest_storage, instantiated=instantiated, resident_pages=pages,
            real_storage=real_storage,
        )  # fmt: skip

    def most(pages: float | Fraction) -> int:
        """Find the largest number by trial: the frames of all guests are rounded up together."""
        enough = range(1, 2 * max(real // budget(1, pages).real_storage_bytes, 1))
        return bisect_left(enough, True, key=lambda guests: budget(guests, pages).real_storage_bytes > real)

    ends: tuple[float | Fraction, float] = (max(least, Fraction(1)), storage.PAGES_PER_SEGMENT)
    if resident_pages is not None:
        ends = (resident_pages, resident_pages)
    low, high = map(most, ends)
    if not high:
        one = budget(1, ends[1]).real_storage_bytes
        takes = _hundredths(one / GIB, math.ceil)
        touched = _hundredths(100 * instantiated * real / one, math.floor)
        raise InfeasibleError(
            f"one guest needs {takes} GB of real storage and there are {given(real / GIB)} GB: {takes} GB "
            f"would hold one, or a guest that touches no more than {touched}% of its storage"
        )
    each = storage.size("guest_storage", guest_storage)
    asked = f"Guests of {given(each / GIB)} GB that touched {percent(instantiated, EXACT)} of their storage"
    return StorageFit(
        what="guests", one="guest", count=high, low=low, high=high, asked=asked, budget=budget(high, ends[1])
    )


def _hundredths(value: float | Fraction, rounded: Callable[[float | Fraction], int]) -> str:
    """A bound rounded to hundredths, in the direction in which it still holds."""
    return given(rounded(100 * value) / 100)


def resident_pages_that_fit(*, in_use: float | str, real_storage: float | str) -> StorageFit:
    """Count the resident pages that each in-use segment can have.

    >>> resident_pages_that_fit(in_use="900GB", real_storage="256GB").count
    70
    """
    real, used = storage.size("real_storage", real_storage), storage.size("in_use", in_use)
    segments = -(-used // SEGMENT)
    pages = int(Fraction(real // FRAME, segments)) - storage.FRAMES_PER_PGMBK
    if pages < 1:
        needed = segments * (storage.FRAMES_PER_PGMBK + 1) * FRAME
        most = real // FRAME // (storage.FRAMES_PER_PGMBK + 1) * SEGMENT
        raise InfeasibleError(
            f"{given(used / GIB)} GB in use need at least {_hundredths(needed / GIB, math.ceil)} GB of real storage, a "
            f"page and a PGMBK for each segment, and there are {given(real / GIB)} GB: they hold up to "
            f"{_hundredths(most / GIB, math.floor)} GB in use"
        )
    pages = min(pages, storage.PAGES_PER_SEGMENT)
    budget = frame_budget(in_use=in_use, resident_pages=pages, real_storage=real_storage)
    return StorageFit(
        what="resident pages in each segment", one="resident page in each segment", count=pages, low=pages, high=pages,
        asked=f"{given(used / GIB)} GB of virtual storage in use", budget=budget,
    )  # fmt: skip
