"""How much virtual storage can be in use: every limit of a system, and which one is met first."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final

from planner import render, style
from planner.answer import Answer, nested
from planner.devices import storage
from planner.quantity import column
from planner.units import EXACT, FRAME, GIB, given, readable

LIMIT: Final = (
    column("limit", of="name"), column("kind"),
    column("in_use_virtual", "GB", "in-use virtual", 1, "in_use_virtual_bytes", digits=EXACT),
)  # fmt: skip
FIGURES: Final = tuple(map(column, ("name", "kind", "in_use_virtual_bytes", "headroom_bytes", "used")))


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class StorageBudget:
    """A system with its storage limits.

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
        PTRM data spaces; by default those of the release.

    Raises
    ------
    InputError
        An unknown release, or a number outside its domain.

    Attributes
    ----------
    notes : tuple of str
        Remarks on the release and its numbers.

    Notes
    -----
    An in-use segment takes ``2 + resident pages`` frames, a PTRM data space holds ``4 GB / 8 KB`` PGMBKs; a PGMBK that
    must be below the 2 GB line takes two frames there. IBM, "Improved Real Storage Scalability" (z/VM 5.3).

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
        """Calculate every limit."""
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
        # smallest `pages` with frames // (2 + pages) <= ptrm
        return max(1, frames // (ptrm + 1) + 1 - storage.FRAMES_PER_PGMBK)

    def most_pages_under_ptrm(self) -> Fraction:
        """Most resident pages at which PTRM data spaces are met no later than real storage; at a tie they are named."""
        segments = self.ptrm_spaces * storage.SEGMENTS_PER_PTRM_SPACE
        return Fraction(self.real_storage // FRAME, segments) - storage.FRAMES_PER_PGMBK

    def _notes(self, *, assumed: bool) -> list[str]:
        row, notes = self.release, []
        if row.largest_real_storage is None:
            notes.append(
                f"No published source has the limits of z/VM {row.name}: the {self.ptrm_spaces} PTRM data spaces are "
                "as given, and its supported real storage is unknown."
            )
        elif self.real_storage > row.largest_real_storage:
            notes.append(
                f"z/VM {row.name} supports up to {given(row.largest_real_storage / GIB)} GB of real "
                f"storage ({row.certainty}); the limits here are those of "
                f"{given(self.real_storage / GIB)} GB."
            )
        if row.pgmbks_below_2gb:
            notes.append("Other structures also reside below 2 GB: the practical limit is somewhat lower.")
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
    """Every limit that follows from the given numbers; for PGMBKs, all storage below 2 GB is assumed to exist."""
    real = 2 * GIB if real_storage is None else real_storage
    limits = [storage.below_2gb_limit(real)] if row.pgmbks_below_2gb else []
    if real_storage is not None and resident_pages is not None:
        limits.append(storage.real_storage_limit(real, resident_pages))
    return [*limits, storage.ptrm_limit(ptrm_spaces)]


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageLimits(Answer):
    """All limits of a system.

    `budget`: the system; `limits`: its limits; `min_resident_pages_before_ptrm`: smallest whole number of resident
    pages per segment at which PTRM data spaces are not the first limit (nor tie with it), None if they never are.
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
        """Mark the limit that is met first."""
        return ("recommended" if limit is self.binding else "" for limit in self.limits)

    def to_dict(self) -> dict[str, Any]:
        """Sizes in bytes; `in_use_virtual_bytes` is the first limit."""
        return {**Answer.to_dict(self), "notes": list(self.budget.notes)}

    @property
    def exceeded(self) -> list[storage.StorageLimit]:
        """Limits that the storage in use exceeds."""
        return [limit for limit in self.limits if (limit.headroom_bytes or 0) < 0]

    @property
    def headline(self) -> str:
        """How much can be in use, and which limit is met first; or which one is exceeded, a hard one before others."""
        first = self.binding
        if self.exceeded:
            worst = min(self.exceeded, key=lambda limit: (limit.kind != "hard", limit is not first))
            used, most = self.budget.in_use or 0, worst.in_use_virtual_bytes
            return (
                f"{gigabytes(used, most)} of virtual storage in use exceed {worst.name}, a {worst.kind} "
                f"limit of {gigabytes(most, used)}; {storage.BEYOND[worst.kind]}."
            )
        return (
            f"Up to {gigabytes(first.in_use_virtual_bytes)} of virtual storage can be in use: {first.name} is met "
            f"first, a {first.kind} limit; {storage.BEYOND[first.kind]}."
        )

    def sections(self) -> tuple[render.Section, ...]:
        """The limits, under a title that names the system."""
        budget = self.budget
        asked = (
            f"z/VM {budget.release.name}, {given(budget.real_storage / GIB)} GB of real storage, "
            f"resident pages in each in-use 1 MB segment: {given(float(budget.resident_pages))}."
        )
        return (render.Section(table=self.table(), title=asked),)

    @property
    def notes(self) -> tuple[str, ...]:
        """Exceeded limits, when PTRM data spaces come first, remarks on the release."""
        exceeded = [
            f"{limit.name} is exceeded by {gigabytes(-(limit.headroom_bytes or 0))} "
            f"({limit.kind}: {storage.BEYOND[limit.kind]})."
            for limit in self.exceeded
        ]
        return (*exceeded, self._about_ptrm(), *self.budget.notes)

    def _about_ptrm(self) -> str:
        if self.min_resident_pages_before_ptrm is None:
            return "PTRM data spaces are never met first on this system."
        most = self.budget.most_pages_under_ptrm()
        if most >= storage.PAGES_PER_SEGMENT:
            return "PTRM data spaces are met first at any number of resident pages."
        pages = given(math.floor(100 * most) / 100)  # rounded down, so that the sentence is true
        return f"PTRM data spaces are met first up to {pages} resident pages in each in-use segment."

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


def gigabytes(value: int, other: int | None = None) -> str:
    """Gigabytes, followed by terabytes if at least one; with enough digits to differ from `other`."""
    size, beside = value / GIB, value / GIB if other is None else other / GIB
    digits = max(4, len(str(int(size))))  # all of a whole number: more would be promised than there is
    while size != beside and readable(size, digits=digits) == readable(beside, digits=digits):
        digits += 1
    return f"{readable(size, digits=digits)} GB" + (f" ({readable(size / 1024)} TB)" if size >= 1024 else "")  # noqa: PLR2004 - in a TB
