"""Frame budgets: how much real storage virtual storage in use needs, for its pages and for its PGMBKs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from planner import render, style
from planner.answer import Answer
from planner.devices.storage import (
    FRAMES_PER_PGMBK,
    PAGES_PER_SEGMENT,
    SEGMENTS_PER_PTRM_SPACE,
    count,
    pages_per_segment,
    share,
    size,
)
from planner.errors import InputError
from planner.units import FRAME, GIB, SEGMENT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PTRM_SPACES_STATED: Final = 16  # of z/VM 5.3; the only number that a report states


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameBudget(Answer):
    """What virtual storage in use takes.

    Attributes
    ----------
    segments : int
        Segments of 1 MB in use.
    page_frames, pgmbk_frames : int
        Frames for their resident pages, and for their PGMBKs.
    ptrm_spaces : int
        PTRM data spaces that map them.
    real_storage : int or None
        What there is [bytes]; None where it is not given.
    """

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
        """Pages to real storage, without PGMBKs."""
        return None if self.real_storage is None else self.page_frames * FRAME / self.real_storage

    @property
    def overcommit_with_pgmbks(self) -> float | None:
        """Pages and PGMBKs to real storage."""
        return None if self.real_storage is None else self.real_storage_bytes / self.real_storage

    @property
    def headline(self) -> str:
        """How much real storage holds how much virtual storage."""
        return (
            f"{self.real_storage_bytes / GIB:.4g} GB of real storage hold {self.segments * SEGMENT / GIB:.6g} GB of "
            f"in-use virtual storage, mapped by {render.counted(self.ptrm_spaces, 'PTRM data space')}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What else the numbers say."""
        needed, notes = self.real_storage_bytes, []
        if self.real_storage is not None and needed > self.real_storage:
            notes.append(
                f"{(needed - self.real_storage) / GIB:.4g} GB more than the {self.real_storage / GIB:g} GB of real "
                "storage: the system pages, at the expense of performance."
            )
        if self.ptrm_spaces > PTRM_SPACES_STATED:
            notes.append(
                f"z/VM 5.3 has {PTRM_SPACES_STATED} PTRM data spaces and abends above them; a later release may "
                "have more."
            )
        return tuple(notes)

    def table(self) -> render.Table:
        """One row for pages, PGMBKs and both: frames of 4 KB, GB, and the ratio to real storage."""
        frames = [self.page_frames, self.pgmbk_frames, self.page_frames + self.pgmbk_frames]
        real = self.real_storage
        ratios = [None if real is None else number * FRAME / real for number in frames]
        return render.Table(
            columns=(
                render.Column(name="what", unit="", label="", values=["pages", "PGMBKs", "together"]),
                render.Column(name="frames", unit="", values=frames),
                render.Column(name="real_storage", unit="GB", label="real storage", decimals=2,
                              values=[number * FRAME / GIB for number in frames]),
                render.Column(name="overcommit", unit="", label="to real storage", values=ratios, decimals=3),
            ),
        )  # fmt: skip

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw what pages and PGMBKs take, beside the real storage that there is."""
        (axes,) = style.begin(axes, self.headline, height=2.2)
        return self.draw_on(axes)

    def draw_on(self, axes: Axes) -> Axes:
        """Draw the same on axes that have their title."""
        left = 0.0
        parts = (("pages", self.page_frames), ("PGMBKs", self.pgmbk_frames))
        for (label, frames), color, hatch in zip(parts, style.COLORS, style.HATCHES, strict=False):
            width = frames * FRAME / GIB
            axes.barh([""], [width], left=left, color=color, hatch=hatch, edgecolor="white",
                      label=f"{label}: {style.rounded(width, 4)} GB")  # fmt: skip
            left += width
        if self.real_storage is not None:
            there = self.real_storage / GIB
            axes.axvline(
                there,
                color=style.MEASURED,
                linestyle="--",
                label=f"real storage: {style.rounded(there, 4)} GB",
            )
        axes.set(
            xlabel="real storage [GB]",
            yticks=[],
            ylim=(-0.8, 0.8),
            xlim=(0, 1.05 * max(left, (self.real_storage or 0) / GIB)),
        )
        style.legend_below(axes)
        return axes

    def to_dict(self) -> dict[str, Any]:
        """Sizes in bytes; `overcommit` is null where no real storage was given."""
        return {
            "segments": self.segments,
            "page_frames": self.page_frames,
            "pgmbk_frames": self.pgmbk_frames,
            "ptrm_spaces": self.ptrm_spaces,
            "real_storage_bytes": self.real_storage_bytes,
            "overcommit": self.overcommit,
            "overcommit_with_pgmbks": self.overcommit_with_pgmbks,
            "notes": list(self.notes),
        }


def frame_budget(
    *, in_use: float | str, resident_pages: float, real_storage: float | str | None = None
) -> FrameBudget:
    """Count the frames for virtual storage in use.

    Parameters
    ----------
    in_use : float or str
        In-use virtual storage [bytes], or text such as ``900GB``; a started segment counts whole.
    resident_pages : float
        Mean number of resident pages in each in-use segment, 1 to 256.
    real_storage : float or str, optional
        Real storage there is [bytes], or text.

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

    Examples
    --------
    >>> frame_budget(in_use="7936GB", resident_pages=1).real_storage_bytes / 2**30
    93.0
    """
    segments = -(-size("in_use", in_use) // SEGMENT)
    return _budget(segments, segments * pages_per_segment("resident_pages", resident_pages), real_storage)


def guest_frame_budget(
    *,
    guests: int | Sequence[int],
    guest_storage: float | str | Sequence[float | str],
    instantiated: float,
    resident_pages: float = PAGES_PER_SEGMENT,
    real_storage: float | str | None = None,
) -> FrameBudget:
    """Count the frames for guests, of one size or of several, that have touched a share of their storage.

    Parameters
    ----------
    guests : int or sequence of int
        Number of guests, of each size.
    guest_storage : float or str, or sequence of these
        Virtual storage of each [bytes], or text such as ``88GB``; as many sizes as numbers of guests.
    instantiated : float
        Share of it that exists because the guest touched it [share].
    resident_pages : float, optional
        How many instantiated pages lie in each in-use segment: 256 where guests touch their storage in
        sequence, ``256 x instantiated`` at least, where the touched pages are spread over all segments.
    real_storage : float or str, optional
        Real storage there is [bytes], or text.

    Returns
    -------
    FrameBudget
        Frames for all that is instantiated.

    Raises
    ------
    InputError
        A number outside its domain, other numbers of sizes and guests, or more instantiated pages than the segments
        have room for.

    Notes
    -----
    ``guests x storage x instantiated`` pages; two frames for each of their segments. IBM, "XIV Concurrent
    I/O".

    Examples
    --------
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
    exact, dense = share("instantiated", instantiated), pages_per_segment("resident_pages", resident_pages)
    pages = segments = 0
    for number, each in zip(numbers, sizes, strict=True):
        more = _touched(count("guests", number), size("guest_storage", each), exact, dense)
        pages, segments = pages + more[0], segments + more[1]
    return _budget(segments, Fraction(pages), real_storage)


def _touched(guests: int, storage: int, exact: Fraction, dense: Fraction) -> tuple[int, int]:
    """Pages and segments of equal guests."""
    pages = math.ceil(guests * storage * exact / FRAME)
    segments = math.ceil(pages / dense)
    if segments > guests * -(-storage // SEGMENT):
        least = float(PAGES_PER_SEGMENT * exact)
        raise InputError(
            "resident_pages", float(dense),
            f"at least {least:.4g}: {float(exact):.0%} of all pages lie that densely even when they are spread over "
            "all segments",
        )  # fmt: skip
    return pages, segments


def _budget(segments: int, pages: Fraction, real_storage: float | str | None) -> FrameBudget:
    return FrameBudget(
        segments=segments,
        page_frames=math.ceil(pages),
        pgmbk_frames=segments * FRAMES_PER_PGMBK,
        ptrm_spaces=-(-segments // SEGMENTS_PER_PTRM_SPACE),
        real_storage=None if real_storage is None else size("real_storage", real_storage),
    )
