"""Reports of iostat as its releases print them, from numbers that are known: the counterpart of the reader.

The layouts are facts of sysstat 9 to 12.7: the headings and their order, the decimals, what `-p -s -z -g --human --dec
-t -y -o JSON` change.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Final

OLD: Final = (
    "rrqm/s",
    "wrqm/s",
    "r/s",
    "w/s",
    "rsec/s",
    "wsec/s",
    "avgrq-sz",
    "avgqu-sz",
    "await",
    "svctm",
    "%util",
)
OLD_KB: Final = tuple({"rsec/s": "rkB/s", "wsec/s": "wkB/s"}.get(name, name) for name in OLD)
SPLIT: Final = (*OLD_KB[:9], "r_await", "w_await", *OLD_KB[9:])
V11: Final = (
    "r/s", "w/s", "rkB/s", "wkB/s", "rrqm/s", "wrqm/s", "%rrqm", "%wrqm", "r_await", "w_await", "aqu-sz", "rareq-sz",
    "wareq-sz", "svctm", "%util",
)  # fmt: skip
READS: Final = ("r/s", "rkB/s", "rrqm/s", "%rrqm", "r_await", "rareq-sz")
WRITES: Final = tuple(name.replace("r", "w", 1) if name != "%rrqm" else "%wrqm" for name in READS)
DISCARDS: Final = ("d/s", "dkB/s", "drqm/s", "%drqm", "d_await", "dareq-sz")
V12_0: Final = (*READS, *WRITES, "aqu-sz", "%util")
V12_1: Final = (*READS, *WRITES, *DISCARDS, "aqu-sz", "%util")
V12_2: Final = (*READS, *WRITES, *DISCARDS, "f/s", "f_await", "aqu-sz", "%util")
SHORT: Final = ("tps", "kB/s", "rqm/s", "await", "areq-sz", "aqu-sz", "%util")
SHORT_11: Final = ("tps", "kB/s", "rqm/s", "await", "aqu-sz", "areq-sz", "%util")
LAYOUTS: Final = {
    "9": OLD, "9 -k": OLD_KB, "10": SPLIT, "11.6": V11, "12.0": V12_0, "12.1": V12_1, "12.2": V12_2,
    "12.2 -s": SHORT, "11.6 -s": SHORT_11,
}  # fmt: skip
OF_PCP: Final = (*SPLIT[:11], "%util")
PARTS: Final = (READS, WRITES, DISCARDS, ("f/s", "f_await", "aqu-sz", "%util"))
KINDS: Final = "rwdf"


@dataclass(frozen=True)
class Disk:
    """What a disk did in an interval, by kind of request: `ios` counted, `waits` of each [ms]; `busy` share."""

    name: str
    ios: tuple[int, int, int, int]
    waits: tuple[float, float, float, float]
    busy: float

    def cells(self, seconds: float, names: tuple[str, ...], decimals: int) -> list[str]:
        """Numbers as printed below some headings."""
        rates = [count / seconds for count in self.ios]
        total = sum(rates[:3])
        mixed = sum(rate * wait for rate, wait in zip(rates[:3], self.waits[:3], strict=True)) / (
            total or 1.0
        )
        found = {"tps": total, "await": mixed, "%util": 100 * self.busy}
        found |= dict.fromkeys(("aqu-sz", "avgqu-sz"), total * mixed / 1000)
        found["svctm"] = 1000 * self.busy / (total or 1.0)
        for kind, rate, wait in zip(KINDS, rates, self.waits, strict=True):
            found |= {f"{kind}/s": rate, f"{kind}_await": wait if rate else 0.0, f"{kind}kB/s": 4 * rate}
        return [f"{found.get(name, 0.0):.{decimals}f}" for name in names]


@dataclass(frozen=True)
class Writing:
    """How it is printed."""

    layout: str = "12.2"
    decimals: int = 2
    json: bool = False
    skip_first: bool = False  # -y
    idle_left_out: bool = False  # -z
    groups: bool = False  # -g
    human: bool = False
    times: str | None = "%Y-%m-%dT%H:%M:%S+0200"
    cpu: bool = True
    colon: bool = False
    comma: bool = False
    parts: bool = False  # --human of 12.x breaks the table up
    name_below: bool = False  # -h of 9 to 11: a name on a line of its own
    release: str = "6.12.0"
    header: bool = True
    stray: bool = False
    pcp: bool = False  # pcp iostat: one heading, each row with its time


@dataclass
class Printed:
    """A file, and what it says: (time, name, rate, response [s] or None, utilization) of each row that counts.

    `spans` are the lines of the report of each row, `every` the rows of the report since the start too.
    """

    lines: list[str] = field(default_factory=list)
    rows: list[tuple[datetime | None, str, float, float | None, float]] = field(default_factory=list)
    spans: list[range] = field(default_factory=list)
    every: list[tuple[datetime | None, str, float, float | None, float]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The whole file."""
        return "".join(self.lines)


def disks(random: Random, names: list[str], seconds: float, busiest: float = 400.0) -> list[Disk]:
    """Some disks, a third of them idle."""
    found = []
    for name in names:
        some = random.random() > 1 / 3
        ios = tuple(
            random.randrange(1, int(busiest * seconds)) * some * (random.random() > 0.3) for _ in range(4)
        )
        waits = tuple(round(random.uniform(0.05, 40), 3) for _ in range(4))
        found.append(Disk(name, ios, waits, round(random.random(), 4) if any(ios) else 0.0))  # type: ignore[arg-type]
    return found


def printed(
    random: Random, how: Writing, *, reports: int = 4, seconds: float = 60.0, busiest: float = 400.0
) -> Printed:
    """A run of iostat: a report since the system was started, unless -y, and some of intervals."""
    begin = datetime(2026, 3, 1, 23, 58, 13)
    names = ["dasda", "dasdb", "dasdc", "sda", "dasda1"][: random.randrange(1, 6)]
    out = Printed()
    kept: list[tuple[datetime, list[Disk]]] = []
    for k in range(how.skip_first, reports):
        kept.append(
            (
                begin + timedelta(seconds=k * seconds),
                disks(random, names, seconds if k else 86_400.0, busiest),
            )
        )
    if how.json:
        _json(out, how, kept, seconds)
    elif how.pcp:
        _pcp(out, how, kept, seconds)
    else:
        _text(out, how, kept, seconds)
    return out


def _row(out: Printed, how: Writing, time: datetime, disk: Disk, seconds: float, *, counts: bool) -> None:
    """What the reader must say of a row, by the numbers as they are printed."""
    columns = OF_PCP if how.pcp else LAYOUTS[how.layout] if not how.parts else sum(PARTS, ())
    cells = dict(zip(columns, map(float, disk.cells(seconds, columns, how.decimals)), strict=True))
    if "tps" in cells:
        rate, total = cells["tps"], cells["tps"] * cells["await"]
    else:
        rate = sum(cells.get(f"{kind}/s", 0.0) for kind in KINDS)
        total = sum(cells.get(f"{kind}/s", 0.0) * cells.get(f"{kind}_await", 0.0) for kind in KINDS)
        total = rate * cells["await"] if "await" in cells else total
    response = total / rate / 1000 if rate else None
    row = (time if how.times else None, disk.name, rate, response, min(cells["%util"] / 100, 1.0))
    out.every.append(row)
    if counts:
        out.rows.append(row)


def _text(out: Printed, how: Writing, kept: list[tuple[datetime, list[Disk]]], seconds: float) -> None:
    add = out.lines.append
    if how.header:
        add(f"Linux {how.release} (lnx1) \t2026-03-01 \t_s390x_\t(4 CPU)\n\n")
    columns = LAYOUTS[how.layout]
    for k, (time, every) in enumerate(kept):
        counts = how.skip_first or k > 0
        top = len(out.lines)
        if how.times:
            add(f"{time:{how.times}}\n")
        if how.cpu:
            add("avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n")
            add("           1.49    0.00    1.67    0.94    0.00   95.90\n\n")
        length = seconds if counts else 86_400.0
        for part in PARTS if how.parts else (columns,):
            device = "Device:" if how.colon else "Device"
            heading = "".join(f" {name:>9}" for name in part)
            add(f"{heading} Device\n" if how.parts else f"{device:<13}{heading}\n")
            for disk in every:
                if how.idle_left_out and not any(disk.ios):
                    continue
                cells = "".join(f" {_human(name, cell, how):>9}" for name, cell in
                                zip(part, disk.cells(length, part, how.decimals), strict=True))  # fmt: skip
                cells = cells.replace(".", ",") if how.comma else cells
                if how.name_below:
                    add(f"{disk.name}\n")
                    add(f"{'':<13}{cells}\n")
                else:
                    add(f"{cells} {disk.name}\n" if how.parts else f"{disk.name:<13}{cells}\n")
                if part is (PARTS[0] if how.parts else columns):
                    _row(out, how, time - timedelta(seconds=seconds), disk, length, counts=counts)
            if how.groups:
                cells = "".join(f"{'9,99' if how.comma else '9.99':>10}" for _ in part)
                add(f"{cells}  every\n" if how.parts else f"{' every':<13}{cells}\n")
            add("\n")
        out.spans += [range(top, len(out.lines))] * (len(out.rows) - len(out.spans))


def _pcp(out: Printed, how: Writing, kept: list[tuple[datetime, list[Disk]]], seconds: float) -> None:
    heading = f"# {'Timestamp':<23}Device " if how.times else "# Device      "
    out.lines.append(heading + " ".join(OF_PCP) + "\n")
    for time, every in kept:
        top = len(out.lines)
        for disk in every:
            stamp = f"{time:%a %b} {time.day:2} {time:%H:%M:%S %Y} " if how.times else ""
            cells = disk.cells(seconds, OF_PCP, how.decimals)
            out.lines.append(f"{stamp}{disk.name:<13} " + " ".join(cells) + "\n")
            _row(out, how, time - timedelta(seconds=seconds), disk, seconds, counts=True)
        out.spans += [range(top, len(out.lines))] * len(every)


def _human(name: str, cell: str, how: Writing) -> str:
    """Sizes and shares with their units, where --human is set."""
    if not how.human:
        return cell
    return cell + "%" if name.startswith("%") else cell + "k" if "kB" in name or "req-sz" in name else cell


def _json(out: Printed, how: Writing, kept: list[tuple[datetime, list[Disk]]], seconds: float) -> None:
    columns = LAYOUTS[how.layout]
    add = out.lines.append
    add('{"sysstat": {\n')
    add('\t"hosts": [\n')
    add(
        f'\t\t{{"nodename": "lnx1", "sysname": "Linux", "release": "{how.release}", "machine": "s390x", '
        '"number-of-cpus": 4, "date": "2026-03-01",\n'
    )
    add('\t\t\t"statistics": [\n')
    for k, (time, every) in enumerate(kept):
        counts = how.skip_first or k > 0
        length, top = seconds if counts else 86_400.0, len(out.lines)
        add("\t\t\t\t{" + (f'"timestamp": {json.dumps(f"{time:{how.times}}")},\n' if how.times else "\n"))
        if how.cpu:
            add('\t\t\t\t\t"avg-cpu":  {"user": 1.49, "nice": 0.00, "system": 1.67, "iowait": 0.94},\n')
        add('\t\t\t\t\t"disk": [\n')
        shown = [disk for disk in every if any(disk.ios) or not how.idle_left_out]
        for j, disk in enumerate(shown):
            cells = dict(zip(columns, disk.cells(length, columns, 2), strict=True))
            pairs = "".join(f', "{name.lstrip("%")}": {cell}' for name, cell in cells.items())
            more = "," if j + 1 < len(shown) or how.stray else ""
            add(f'\t\t\t\t\t\t{{"disk_device": "{disk.name}"{pairs}}}{more}\n')
            _row(out, how, time - timedelta(seconds=seconds), disk, length, counts=counts)
        add("\t\t\t\t\t]\n")
        out.spans += [range(top, len(out.lines) + 1)] * (len(out.rows) - len(out.spans))
        add("\t\t\t\t}" + ("," if k + 1 < len(kept) or how.stray else "") + "\n")
    add("\t\t\t]\n\t\t}\n\t]\n}}\n")


def any_writing(random: Random) -> Writing:
    """One of the ways."""
    as_json = random.random() < 0.4
    layout = random.choice(list(LAYOUTS))
    parts = not as_json and random.random() < 0.15
    old = layout in ("9", "9 -k", "10")
    found = Writing(
        layout="12.2" if parts else layout, json=as_json, parts=parts,
        decimals=2 if as_json else random.choice((2, 2, 2, 1, 0)), skip_first=random.random() < 0.3,
        idle_left_out=random.random() < 0.3, groups=random.random() < 0.2, human=random.random() < 0.2 and not as_json,
        times=random.choice((None, "%Y-%m-%dT%H:%M:%S+0200", "%m/%d/%Y %I:%M:%S %p", "%d.%m.%Y %H:%M:%S")),
        cpu=random.random() < 0.7, colon=old, comma=not as_json and random.random() < 0.15,
        name_below=old and random.random() < 0.2 and not parts, release=random.choice(("4.4.0", "5.14.0", "6.12.0")),
        header=random.random() < 0.8, stray=random.random() < 0.2,
    )  # fmt: skip
    # By what was drawn before, so that other texts stay as they were.
    if not as_json and found.stray and found.release == "4.4.0":
        return Writing(pcp=True, skip_first=True, times=found.times)
    return found
