"""Where the fields of monitor records stand: offsets of z/VM 5.3, which later releases append to.

Field names are IBM's without their prefix. Big-endian numbers, EBCDIC text. docs/monitor.md says what each offset was
verified against. Where the later fields of a device stand, and which bits mark base and alias, is decided by what the
file holds; a question that it does not answer in one way is an error that says what was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from itertools import permutations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.results import Flags, Integers
from planner.units import percent

PAGE: Final = 4096
HEADER: Final = 20  # bytes of the header that every record begins with
EBCDIC: Final = "cp037"
HIGHEST_DOMAIN: Final = 11  # SSI

Fields = dict[str, tuple[int, str]]
Records = NDArray[Any]
Words = NDArray[np.uint32]
NEARLY_ALL: Final = 0.99


class Kind(IntEnum):
    """A kind of record: domain and record number in one."""

    SYSTEM = 1 << 16 | 4
    DEVICE = 1 << 16 | 6
    END_OF_INTERVAL = 1 << 16 | 11
    END_OF_FRAME = 1 << 16 | 13
    PAGING_VOLUME = 3 << 16 | 4
    DATA_SPACE = 3 << 16 | 14
    ACTIVITY = 6 << 16 | 3
    MEASUREMENT_OFF = 6 << 16 | 14
    POOL_ACTIVITY = 6 << 16 | 28

    @property
    def words(self) -> str:
        """How analysts write it, such as D6R3."""
        return f"D{self >> 16}R{self & 0xFFFF}"


def _u32(first: int, names: str) -> Fields:
    """Adjacent fields of four bytes."""
    return {each: (first + 4 * k, ">u4") for k, each in enumerate(names.split())}


MOVED: Final = 164  # fields of a device from here on stand 4 bytes later where VIUSTAMP is aligned
SHIFTS: Final = (0, 4)

_DEVICE_ACTIVITY: Final[Fields] = {
    "RDEVLPM": (21, "u1"),
    "RDEVSID": (24, ">u4"),
    "RDEVSER": (36, ">u4"),  # its first four characters
    "RDEVSER2": (40, ">u2"),  # its last two
    "RDEVLCNT": (50, ">u2"),
    "SCMSSCH": (52, ">u2"),
    "SCMCOUNT": (54, ">u2"),
    **_u32(56, "SCMCNTIM SCMFPTIM SCMDDTIM HFRDEVCT HFCTIO"),
    "SCMDATIM": (160, ">u4"),
    "SCMCQTIM": (180, ">u4"),
    **_u32(192, "SCGSSCH SCGCOUNT"),
    "RDEVDEV": (200, ">u2"),
    "EDEVTYPE": (204, "u1"),
    "RDEVPVFG": (216, "u1"),
    "RDEVHPPL": (218, ">u2"),
    **_u32(220, "PAVSSCH PAVCOUNT PAVCNTIM PAVFPTIM PAVDDTIM PAVCQTIM PAVDATIM"),
}
ACTIVITY_BYTES: Final = 260

LAYOUTS: Final[dict[int, tuple[int, Fields]]] = {  # kind: bytes that are needed, fields
    Kind.SYSTEM: (
        96,
        {"SYSTODST": (36, ">u8"), "SYSZONE": (80, ">i4"), "CALFLG2": (86, "u1"),
         "SYSTMID": (88, "S8")},
    ),
    Kind.DEVICE: (
        72,
        {"RDEVDVID": (22, ">u2"), "RDEVDEV": (26, ">u2"), "RDEVSID": (28, ">u4"), "RDEVSER": (46, "S6"),
         "CALRDEVSID": (64, ">u4"), "CALRDEVDEV": (68, ">u2")},
    ),
    Kind.PAGING_VOLUME: (
        172,
        {"CALVSER": (20, "S6"), "RDEVDEV": (26, ">u2"), "RDEVSID": (28, ">u4"),
         **_u32(40, "EXPCTSRD EXPCTSWR EXPCTPRD EXPCTPWR EXPCURQC"), "SCMSSCH": (68, ">u2"),
         "SCGSSCH": (168, ">u4")},
    ),
    Kind.DATA_SPACE: (
        136,
        {"ASCUSRID": (20, "S8"), "ASCNAME": (28, "S24"),
         **_u32(56, "ASCCTSPI ASCCTPRS ASCCSPST ASCCSPGR ASCCSPGW ASCCSXRD ASCCSXWT ASCCSMIG ASCCTPLK ASCCTPGS "
                    "ASCCTXBK")},
    ),
    Kind.ACTIVITY: (ACTIVITY_BYTES, _DEVICE_ACTIVITY),
    Kind.MEASUREMENT_OFF: (68, {"RDEVSID": (20, ">u4"), "RDEVDEV": (24, ">u2")}),
    Kind.POOL_ACTIVITY: (
        48,
        {"HPPOOLNM": (20, ">u2"),
         **_u32(24, "HPPNBASE HPPNALIS HPPTRIES HPPFAILS HPPMINCT HPPMAXCT")},
    ),
}  # fmt: skip


def dtype(record: int, shift: int = 0, length: int | None = None) -> np.dtype[Any]:
    """Structured type of a kind of record, as long as it must be or so long; `shift` moves the later fields of D6R3."""
    size, fields = LAYOUTS[record]
    moved = shift if record == Kind.ACTIVITY else 0
    return np.dtype({
        "names": list(fields), "formats": [form for _, form in fields.values()], "itemsize": length or size + moved,
        "offsets": [at + (moved if at >= MOVED else 0) for at, _ in fields.values()],
    })  # fmt: skip


def full_number(sid: Any, device: Any) -> Any:
    """Device numbers with their subchannel set, which the subchannel id has, as a fifth hexadecimal digit."""
    fixed, one = 0xFFF9_0000, 0x0001_0000  # bits that are the same for all; two between are the set
    sets = np.where(sid & fixed == one, sid >> 17 & 3, 0)
    return device.astype(np.uint32) | sets.astype(np.uint32) << np.uint32(16)


def text(values: NDArray[np.bytes_]) -> list[str | None]:
    """EBCDIC words without padding; null where blank."""
    words = (each.decode(EBCDIC).replace("\0", " ").strip() for each in values.tolist())
    return [word or None for word in words]


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
            same = "have the same I/O counts in 16 and in 32 bits"
            parts.append(f"{percent(self.agree)} of the busy devices {same}")
        if self.known is not None:
            parts.append(f"{percent(self.known)} of the device numbers are configured (D1R6)")
        return f"{'moved by 4' if self.shift else 'as in z/VM 5.3'}: {', '.join(parts)}"


def fit(rows: NDArray[Any], shift: int, devices: Mapping[int, int]) -> ShiftFit:
    """Judge one shift by the rows of one sample; `devices` are the configured numbers by subchannel."""
    number = full_number(rows["RDEVSID"], rows["RDEVDEV"])
    busy = rows["SCMSSCH"] > 0
    wide = bool((rows["SCGSSCH"] > 0).any())
    same = (rows["SCGSSCH"] & 0xFFFF == rows["SCMSSCH"]) & (rows["SCGCOUNT"] & 0xFFFF == rows["SCMCOUNT"])
    known = None
    if devices:
        known = float((number == [devices.get(sid, -1) for sid in rows["RDEVSID"].tolist()]).mean())
    agree = float(same[busy].mean()) if busy.any() else None
    return ShiftFit(shift, np.unique(number).size == number.size, wide, agree, known)


def shift_of(raw: NDArray[np.void], length: int, devices: Mapping[int, int]) -> int:
    """Decide where the later fields of a device stand, by the records of one sample."""
    fits = [
        fit(raw.view(np.dtype((np.void, length))).view(dtype(Kind.ACTIVITY, shift, length)), shift, devices)
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


@dataclass(frozen=True, slots=True)
class PoolBits:
    """Masks of the flags of a HyperPAV base and of an alias."""

    base: int
    alias: int


def pool_bits(
    flags: Words,
    pool: Words,
    labelled: Flags,
    helped: Flags,
    counts: Mapping[int, Integers],
) -> PoolBits | None:
    """Bits of RDEVPVFG of bases and aliases, by `counts` of pools and who was `helped`; None where no pool has both."""
    names = np.array(sorted(each for each, both in counts.items() if both.min() > 0), np.int64)
    if not names.size:
        return None
    wanted = np.array([counts[each] for each in names.tolist()]).T
    marked = {bit: (flags & 1 << bit) != 0 for bit in range(8)}
    found = {bit: np.array([(set_ & (pool == each)).sum() for each in names]) for bit, set_ in marked.items()}
    possible = []
    for base, alias in permutations(range(8), 2):
        there = found[base].min() > 0 and found[alias].min() > 0
        disjoint = not (marked[base] & marked[alias]).any()
        blank = not (labelled | helped)[marked[alias]].any()
        if there and disjoint and blank:
            equal = bool((found[base] == wanted[0]).all() and (found[alias] == wanted[1]).all())
            possible.append((equal, int(labelled[marked[base]].sum()), base, alias))
    exact = [each for each in possible if each[0]] or possible
    best = [each for each in exact if each[1] == max(other[1] for other in exact)]
    if len(best) != 1:
        counts_of = {bit: int(set_.sum()) for bit, set_ in marked.items()}
        shown = "; ".join(f"X'{1 << bit:02X}' on {count}" for bit, count in counts_of.items() if count)
        raise UndecidedError(
            f"which bits of RDEVPVFG mark the {int(wanted[0].sum())} bases and {int(wanted[1].sum())} aliases of "
            f"{names.size} HyperPAV pools is not clear (bits of the devices: {shown or 'none'})"
        )
    *_, base, alias = best[0]
    return PoolBits(1 << base, 1 << alias)
