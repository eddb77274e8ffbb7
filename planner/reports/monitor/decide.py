"""Decisions on a file by what stands in it: where the later fields of a device are, and which bits mark base and alias.

Nothing here is assumed. A question that the file does not answer in one way is an error that says what was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.reports.monitor.layouts import ACTIVITY_BYTES, SHIFTS, Integers, Kind, Words, dtype, full_number

NEARLY_ALL: Final = 0.99
BITS: Final = 8


class UndecidedError(Exception):
    """The file does not say: the text is what was found."""


@dataclass(frozen=True, slots=True)
class ShiftFit:
    """How well a shift fits: share of busy devices whose counts agree, of numbers that are configured; both or None."""

    shift: int
    distinct: bool
    wide: bool  # whether there are 32-bit counts at all
    agree: float | None
    known: float | None

    @property
    def good(self) -> bool:
        """Whether nothing speaks against the shift."""
        counts = self.agree is None or not self.wide or self.agree >= NEARLY_ALL
        return self.distinct and counts and (self.known is None or self.known >= NEARLY_ALL)

    def __str__(self) -> str:
        """What was found."""
        parts = [f"device numbers {'differ' if self.distinct else 'repeat'}"]
        if self.agree is not None:
            parts.append(
                f"{self.agree:.0%} of the busy devices have the same I/O counts in 16 and in 32 bits"
            )
        if self.known is not None:
            parts.append(f"{self.known:.0%} of the device numbers are configured (D1R6)")
        return f"{'moved by 4' if self.shift else 'as in z/VM 5.3'}: {', '.join(parts)}"


def fit(rows: NDArray[Any], shift: int, devices: Mapping[int, int]) -> ShiftFit:
    """Judge one shift by the rows of one sample; `devices` are the configured numbers by subchannel."""
    number = full_number(rows["RDEVSID"], rows["RDEVDEV"])
    busy = rows["SCMSSCH"] > 0
    wide = bool((rows["SCGSSCH"] > 0).any())
    same = (rows["SCGSSCH"] & 0xFFFF == rows["SCMSSCH"]) & (rows["SCGCOUNT"] & 0xFFFF == rows["SCMCOUNT"])
    known = None
    if devices:
        expected = [devices.get(sid, -1) for sid in rows["RDEVSID"].tolist()]
        known = float((number == np.array(expected)).mean())
    agree = float(same[busy].mean()) if busy.any() else None
    return ShiftFit(shift, np.unique(number).size == number.size, wide, agree, known)


def shift_of(raw: NDArray[np.void], length: int, devices: Mapping[int, int]) -> int:
    """Decide where the later fields of a device stand, by the records of one sample."""
    fits = [
        fit(raw.view(np.dtype((np.void, length))).view(_within(length, shift)), shift, devices)
        for shift in SHIFTS
        if length >= ACTIVITY_BYTES + shift
    ]
    good = [each for each in fits if each.good]
    if len(good) > 1:  # the same counts at both places say more than none at one
        good = [each for each in good if each.wide and each.agree is not None] or good
    if len(good) != 1:
        how = "no layout fits" if not good else "more than one layout fits"
        raise UndecidedError(f"{len(raw)} records of {length} bytes, {how} ({'; '.join(map(str, fits))})")
    return good[0].shift


def _within(length: int, shift: int) -> np.dtype[Any]:
    """Type of a device record that is as long as those of the file."""
    form = dtype(Kind.ACTIVITY, shift)
    fields: Mapping[str, tuple[Any, ...]] = form.fields or {}
    return np.dtype(
        {
            "names": list(fields),
            "formats": [each[0] for each in fields.values()],
            "offsets": [each[1] for each in fields.values()],
            "itemsize": length,
        }
    )


@dataclass(frozen=True, slots=True)
class PoolBits:
    """Masks of the flags of a HyperPAV base and of an alias; `counted` where they give the counts of every pool."""

    base: int
    alias: int
    counted: bool


def pool_bits(
    flags: Words,
    pool: Words,
    labelled: NDArray[np.bool_],
    helped: NDArray[np.bool_],
    counts: Mapping[int, Integers],
) -> PoolBits | None:
    """Decide which bits of RDEVPVFG mark bases and aliases, by the devices of a sample and the `counts` of its pools.

    `counts` holds bases and aliases by pool, `helped` whether aliases ever worked for a device. None where no pool has
    a base and an alias.
    """
    names = np.array(sorted(each for each, both in counts.items() if both.min() > 0), np.int64)
    if not names.size:
        return None
    wanted = np.array([counts[each] for each in names.tolist()]).T
    marked = {bit: (flags & 1 << bit) != 0 for bit in range(BITS)}
    found = {bit: np.array([(set_ & (pool == each)).sum() for each in names]) for bit, set_ in marked.items()}
    possible = []
    for base, alias in permutations(range(BITS), 2):
        there = found[base].min() > 0 and found[alias].min() > 0
        disjoint = not (marked[base] & marked[alias]).any()
        blank = not (labelled | helped)[marked[alias]].any()
        if there and disjoint and blank:
            equal = bool((found[base] == wanted[0]).all() and (found[alias] == wanted[1]).all())
            possible.append((equal, int(labelled[marked[base]].sum()), base, alias))
    exact = [each for each in possible if each[0]] or possible
    best = [each for each in exact if each[1] == max(other[1] for other in exact)]
    if len(best) != 1:
        shown = "; ".join(
            f"X'{1 << bit:02X}' on {int(set_.sum())}" for bit, set_ in marked.items() if set_.any()
        )
        raise UndecidedError(
            f"which bits of RDEVPVFG mark the {int(wanted[0].sum())} bases and {int(wanted[1].sum())} aliases of "
            f"{names.size} HyperPAV pools is not clear (bits of the devices: {shown or 'none'})"
        )
    equal, _, base, alias = best[0]
    return PoolBits(1 << base, 1 << alias, equal)
