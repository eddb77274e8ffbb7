"""Writes MONWRITE files and captures of /dev/monreader, from fields in their order and lengths.

Independent of the reader: it lists the fields of each record one after the other, as the public descriptions do, and
adds up their lengths; the reader has offsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

EPOCH_SECONDS = 2_208_988_800  # from 1900 to 1970
HEADER = "MRHDRLEN 2 MRHDRZER 2 MRHDRDM 1 * 1 MRHDRRC 2 MRHDRTOD 8 * 4 "
LAYOUTS = {
    (1, 4): "HCPCPEPP 8 HCPCPEID 8 SYSTODST 8 SYSTERM 8 SYSDATE 8 SYSABNCD 8 * 4 * 4 * 4 SYSZONE 4 CALFLGS 1 "
            "SYSVRFSG 1 CALFLG2 1 * 1 SYSTMID 8 SYSCKVOL 6 SYSWMVOL 6",
    (1, 6): "RDEVTYPE 1 RDEVCLAS 1 RDEVDVID 2 CALMODLN 1 RDEVLPM 1 RDEVDEV 2 RDEVSID 4 RDEVCHPS 8 RDEVCUID 2 "
            "RDEVCUMN 1 CALFLAGS 1 RDCRCUC 1 RDCOBRCO 1 RDEVSER 6 THRDLYS 4 THRIORTE 8 CALRDEVSID 4 CALRDEVDEV 2 "
            "RDEVPVFG 1 EDEVTYPE 1 EDEVTABL 8",
    (1, 9): "INTERVAL 4 HFRATE 4 SDOMAINS 1 * 1 HDOMAINS 1 * 1 CONFIG 2 * 2",
    (1, 11): "",
    (1, 13): "",
    (1, 20): "HPPOOLNM 2 HPPTOKEN 2",
    (3, 4): "CALVSER 6 RDEVDEV 2 RDEVSID 4 CALSPOOL 4 CALPAGE 4 EXPCTSRD 4 EXPCTSWR 4 EXPCTPRD 4 EXPCTPWR 4 "
            "EXPCURQC 4 EXPCTACP 4 EXPCTUSI 4 SCMSSCH 2 CALFLAG1 1 RDEVDRAN 1 EXPCONT 80 EXPDEVST 4 EXPMLOAD 4 "
            "CPVLOKAT 4 CPVALOCD 4 SCGSSCH 4",
    (3, 14): "ASCUSRID 8 ASCNAME 24 CALSTATE 1 * 3 ASCCTSPI 4 ASCCTPRS 4 ASCCSPST 4 ASCCSPGR 4 ASCCSPGW 4 "
             "ASCCSXRD 4 ASCCSXWT 4 ASCCSMIG 4 ASCCTPLK 4 ASCCTPGS 4 ASCCTXBK 4 ASCSSIZE 4 ASCDEFSZ 8 ASCMVB2G 4 "
             "ASCCTPRG 4 ASCHLLC 4 ASCHLRC 4 ASCCTPLKA 8",
    (6, 3): "RDEVAFLG 1 RDEVLPM 1 VDEVIOP1 1 CALFLAG1 1 RDEVSID 4 RDEVCHPS 8 RDEVSER 6 CALUSER 8 RDEVLCNT 2 "
            "SCMSSCH 2 SCMCOUNT 2 SCMCNTIM 4 SCMFPTIM 4 SCMDDTIM 4 HFRDEVCT 4 HFCTIO 4 RDEVCTSR 4 RDEVRCWH 4 "
            "RDEVRCWP 4 RDEVRTPD 8 RDEVCTSI 4 RDEVCTUI 4 RDEVMICT 4 RDEVCTRG 4 RDEVCTRD 4 RDEVSKCT 4 RDEVSKSM 4 "
            "RDEVWRCT 4 RDEVRDCT 4 RDEVMCIA 4 VIUCNTIN 4 VIUTIMIN 4 VIUCNTLV 4 VIUTIMLV 4 VIUCNTOT 4 VIUTIMOT 4 "
            "SCMDATIM 4 {gap}VIUSTAMP 8 VIUSTATE 1 * 3 THRDLYS 4 SCMCQTIM 4 SCMDBTIM 4 SCMIRTIM 4 SCGSSCH 4 SCGCOUNT 4 "
            "RDEVDEV 2 * 2 EDEVTYPE 1 PREFPATH 1 * 2 PAVINELG 4 PAVUSES 4 RDEVPVFG 1 * 1 RDEVHPPL 2 PAVSSCH 4 "
            "PAVCOUNT 4 PAVCNTIM 4 PAVFPTIM 4 PAVDDTIM 4 PAVCQTIM 4 PAVDATIM 4 PAVDBTIM 4 PAVIRTIM 4 PAVCC3S 4",
    (6, 14): "RDEVSID 4 RDEVDEV 2 * 2 SCMSSCH 2 SCMCOUNT 2 SCMCNTIM 4 SCMFPTIM 4 SCMDDTIM 4 SCMCQTIM 4 SCMDATIM 4 "
             "SCMDBTIM 4 SCMIRTIM 4 SCGSSCH 4 SCGCOUNT 4",
    (6, 24): "RDEVDEV 2 * 2 DSKSTAT 1 * 3 DSKTIME 4 DSKXRATE 4 DSKBLKSZ 4 DSKXFERS 4 DSKBLKSR 4 DSKBLKSW 4 "
             "DSKSEEKO 4 DSKQDEPTH 4 PATHS 256",
    (6, 28): "HPPOOLNM 2 HPPTOKEN 2 HPPNBASE 4 HPPNALIS 4 HPPTRIES 4 HPPFAILS 4 HPPMINCT 4 HPPMAXCT 4",
}  # fmt: skip
PRINTED = {(1, 4): 108, (1, 20): 24, (3, 14): 136, (6, 3): 260, (6, 14): 68, (6, 24): 316, (6, 28): 48}


def layout(record: tuple[int, int], *, aligned: bool = False) -> np.dtype[np.void]:
    """Type of a record; `aligned` puts VIUSTAMP of D6R3 on a multiple of 8, which makes it 264 bytes long."""
    words = (HEADER + LAYOUTS[record].format(gap="* 4 " if aligned else "")).split()
    names, formats, offsets, at = [], [], [], 0
    for name, size in zip(words[::2], map(int, words[1::2]), strict=True):
        if name != "*":
            text = name in (
                "RDEVSER",
                "CALUSER",
                "SYSTMID",
                "HCPCPEID",
                "CALVSER",
                "ASCUSRID",
                "ASCNAME",
                "SYSDATE",
            )
            number = {1: "u1", 2: ">u2", 4: ">u4", 8: ">u8"}.get(size)
            names.append(name)
            formats.append(f"S{size}" if text or number is None else ">i4" if name == "SYSZONE" else number)
            offsets.append(at)
        at += size
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": at})


def ebcdic(text: str, size: int) -> bytes:
    return text.ljust(size).encode("cp037")


def tod(seconds: float) -> int:
    """TOD clock of a time [s since 1970, UTC], to the microsecond."""
    return round((seconds + EPOCH_SECONDS) * 1e6) << 12


def records(
    record: tuple[int, int],
    time: float,
    rows: Mapping[str, object],
    count: int = 1,
    *,
    aligned: bool = False,
    more: int = 0,
) -> NDArray[np.uint8]:
    """Records of one kind, a row each; numbers modulo the size of their field, `more` bytes appended to each."""
    form = layout(record, aligned=aligned)
    table = np.zeros(count, form)
    known = {
        "MRHDRLEN": form.itemsize + more,
        "MRHDRDM": record[0],
        "MRHDRRC": record[1],
        "MRHDRTOD": tod(time),
    }
    for name, values in {**known, **rows}.items():
        kind = form[name]
        if kind.kind == "S":
            given = [values] * count if isinstance(values, str) else values
            table[name] = np.array([ebcdic(each, kind.itemsize) for each in given])  # type: ignore[union-attr]
        elif kind.kind == "i":
            table[name] = values
        else:
            number = np.asarray(values, np.uint64)
            table[name] = number if kind.itemsize == 8 else number % np.uint64(2 ** (8 * kind.itemsize))
    body = table.view(np.uint8).reshape(count, form.itemsize)
    return np.concatenate([body, np.zeros((count, more), np.uint8)], axis=1)


@dataclass
class Run:
    """A run of records of one control element: samples or events, pages that begin at an address."""

    records: list[bytes]
    event: bool = False
    start: int = 0x12340000
    pages: list[bytes] = field(default_factory=list)

    def build(self) -> tuple[list[bytes], int]:
        """Put the records into pages and return them with the last address; records do not cross a page."""
        room, pages, page = 4096 - self.start % 4096, [], b""
        last = len(self.records) - 1
        for number, record in enumerate(self.records):
            tail = 0 if number == last else 20
            if len(page) + len(record) + tail > room:
                end = records((1, 13), 0, {}).tobytes() if len(page) + 20 <= room else b""
                pages.append((page + end).ljust(room, b"\0"))
                page, room = b"", 4096
            page += record
        pages.append(page)
        end = self.start - self.start % 4096 + 4096 * (len(pages) - 1) + len(page) - 1
        return pages, end + (self.start % 4096 if len(pages) == 1 else 0)


def rows(*tables: NDArray[np.uint8]) -> list[bytes]:
    """Records of several tables one after the other."""
    return [row.tobytes() for table in tables for row in table]


def element(run: Run, end: int) -> bytes:
    flag = b"\xc5" if run.event else b"\xe2"
    return flag + b"\xff\0\0" + run.start.to_bytes(4, "big") + end.to_bytes(4, "big")


def monwrite(sets: Iterable[Sequence[Run]]) -> bytes:
    """A MONWRITE file: a control record and the pages of each set of runs."""
    out = []
    for runs in sets:
        built = [(run, *run.build()) for run in runs]
        control = bytes(40) + b"".join(element(run, end) for run, _, end in built)
        out.append(control.ljust(4096, b"\0"))
        for run, pages, _ in built:
            first = bytes(run.start % 4096) + pages[0]
            out += [page.ljust(4096, b"\0") for page in (first, *pages[1:])]
    return b"".join(out)


def capture(sets: Iterable[Sequence[Run]]) -> bytes:
    """What /dev/monreader delivers: an element and the bytes of its run, one after the other."""
    out = []
    for runs in sets:
        for run in runs:
            pages, end = run.build()
            out += [element(run, end), b"".join(pages)]
    return b"".join(out)


def many(tables: Sequence[NDArray[np.uint8]]) -> bytes:
    """A set of one run of samples, fast: pages of records of equal length, for files of a gigabyte."""
    pages = []
    for table in tables:
        size = table.shape[1]
        each = (4096 - 20) // size
        count = -(-len(table) // each)
        page = np.zeros((count, 4096), np.uint8)
        padded = np.zeros((count * each, size), np.uint8)
        padded[: len(table)] = table
        page[:, : each * size] = padded.reshape(count, each * size)
        used = np.full(count, each * size)
        used[-1] = (len(table) - (count - 1) * each) * size
        end = np.frombuffer(records((1, 13), 0, {}).tobytes(), np.uint8)
        for k, at in groupby(range(count), key=lambda k: used[k]):
            chosen = list(at)
            page[chosen[0] : chosen[-1] + 1, k : k + 20] = end
        pages.append(page)
    data = np.concatenate(pages)
    size = int(used[-1])
    data[-1, size:] = 0
    start = 0x10000000
    end_at = start + 4096 * (len(data) - 1) + size - 1
    control = bytes(40) + element(Run([]), end_at).replace(
        Run([]).start.to_bytes(4, "big"), start.to_bytes(4, "big")
    )
    return control.ljust(4096, b"\0") + data.tobytes()
