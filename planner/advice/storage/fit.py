"""Frame budgets asked the other way round: how many guests, or how many resident pages, real storage has room for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from planner import render
from planner.advice.storage.frames import FrameBudget, frame_budget, guest_frame_budget
from planner.answer import Answer
from planner.devices.storage import FRAMES_PER_PGMBK, PAGES_PER_SEGMENT, share, size
from planner.errors import InfeasibleError
from planner.units import FRAME, GIB, SEGMENT


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageFit(Answer):
    """What real storage has room for without paging."""

    PICTURE: ClassVar[str] = "planner.advice.storage.fit:draw"

    what: str  # "guests", or "resident pages" of each in-use segment
    count: int  # the most that fit
    low: int  # the same where touched pages are spread over all segments, and where they lie densely
    high: int
    asked: str  # the question in words
    budget: FrameBudget  # frames that they take

    @property
    def headline(self) -> str:
        """How many fit, with the range."""
        beside = f" ({self.low} to {self.high})" if self.low < self.high else ""
        real = (self.budget.real_storage or 0) / GIB
        room = f"{real:g} GB of real storage without paging"
        return f"{self.asked}: up to {self.count} {self.what}{beside} fit in {room}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What the range means, and what one more would take."""
        lines = []
        if self.what == "guests":
            lines.append(
                "The range is from touched pages that are spread over all segments, each with a PGMBK of its own, to "
                "pages that lie densely."
            )
        return (*lines, *self.budget.notes, "CP itself and what else is resident is not counted.")

    def table(self) -> render.Table:
        """Frames of what fits, as of a frame budget."""
        return self.budget.table()

    def to_dict(self) -> dict[str, Any]:
        """`count` with its range, and the budget of it."""
        return {
            "what": self.what,
            "count": self.count,
            "count_low": self.low,
            "count_high": self.high,
            **self.budget.to_dict(),
            "notes": list(self.notes),
        }


def draw(found: StorageFit, axes: Any) -> Any:
    """The frames of what fits beside the real storage, under the headline of the question."""
    from planner import style

    (axes,) = style.begin(axes, found.headline, height=2.2)
    return found.budget.draw_on(axes)


def guests_that_fit(
    *,
    guest_storage: float | str,
    instantiated: float,
    real_storage: float | str,
    resident_pages: float | None = None,
) -> StorageFit:
    """Count the equal guests whose touched pages and PGMBKs real storage holds.

    Examples
    --------
    >>> guests_that_fit(guest_storage="88GB", instantiated=0.7, real_storage="1024GB").count
    16
    """
    real, least = (
        size("real_storage", real_storage),
        float(PAGES_PER_SEGMENT * share("instantiated", instantiated)),
    )

    def budget(guests: int, pages: float) -> FrameBudget:
        return guest_frame_budget(
            guests=guests, guest_storage=guest_storage, instantiated=instantiated, resident_pages=pages,
            real_storage=real_storage,
        )  # fmt: skip

    def most(pages: float) -> int:
        """By halving: the frames of guests are rounded up together."""
        low, high = 0, max(real // budget(1, pages).real_storage_bytes, 1) * 2
        while low < high - 1:
            middle = (low + high) // 2
            low, high = (middle, high) if budget(middle, pages).real_storage_bytes <= real else (low, middle)
        return low

    ends = (
        [resident_pages] * 2
        if resident_pages is not None
        else [float(math.ceil(least)), float(PAGES_PER_SEGMENT)]
    )
    low, high = (most(pages) for pages in ends)
    if not high:
        one = budget(1, ends[1]).real_storage_bytes
        raise InfeasibleError(
            f"one guest takes {one / GIB:.4g} GB of real storage and there are {real / GIB:.4g} GB: {one / GIB:.4g} GB "
            f"would hold one, or a guest that touches no more than {instantiated * real / one:.0%} of its storage"
        )
    each = size("guest_storage", guest_storage)
    asked = f"Guests of {each / GIB:g} GB that touched {instantiated:.0%} of it"
    return StorageFit(
        what="guests", count=high, low=low, high=high, asked=asked, budget=budget(high, ends[1])
    )


def resident_pages_that_fit(*, in_use: float | str, real_storage: float | str) -> StorageFit:
    """Count the resident pages that each in-use segment can have.

    Examples
    --------
    >>> resident_pages_that_fit(in_use="900GB", real_storage="256GB").count
    70
    """
    real, used = size("real_storage", real_storage), size("in_use", in_use)
    segments = -(-used // SEGMENT)
    pages = int(Fraction(real // FRAME, segments)) - FRAMES_PER_PGMBK
    if pages < 1:
        needed = segments * (FRAMES_PER_PGMBK + 1) * FRAME
        most = real // FRAME // (FRAMES_PER_PGMBK + 1) * SEGMENT
        raise InfeasibleError(
            f"{used / GIB:.6g} GB in use take at least {needed / GIB:.4g} GB of real storage, a page and a PGMBK for "
            f"each segment, and there are {real / GIB:.4g} GB: they hold up to {most / GIB:.4g} GB in use"
        )
    pages = min(pages, PAGES_PER_SEGMENT)
    budget = frame_budget(in_use=in_use, resident_pages=pages, real_storage=real_storage)
    return StorageFit(
        what="resident pages in each segment", count=pages, low=pages, high=pages,
        asked=f"{used / GIB:.6g} GB of virtual storage in use", budget=budget,
    )  # fmt: skip
