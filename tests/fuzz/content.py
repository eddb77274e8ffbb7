"""Files of every format, printed from rows that are known: the counterpart of the readers.

A generator takes a `Random`, so that hypothesis can choose (and shrink) as well as a plain seed, which is faster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import zip_longest
from random import Random
from typing import Final

from planner.library import data_path
from planner.measurements import Measured
from tests.reports.exports import EXPORTS, least, rmf_xml
from tests.reports.exports import volumes as some_volumes
from tests.reports.printing import HEAD, HEADING, Row

Key = tuple[object, ...]
MADE: Final = {name: make for name, make in EXPORTS.items() if name != "SMF Explorer"} | {
    "least": least,
    "XML": rmf_xml,
}
LEFT: Final = 77  # columns of the left half of a DSPACESH listing


@dataclass(frozen=True)
class Content:
    """A file as `lines`, and its `rows`: what each says, and the lines that it depends on."""

    lines: list[str]
    rows: list[tuple[Key, frozenset[int]]]

    @property
    def text(self) -> str:
        """The whole file."""
        return "".join(self.lines)


@dataclass(frozen=True)
class Format:
    """How files of a format are made, and how what was read of one is told as keys of rows."""

    make: Callable[[Random], Content]
    keys: Callable[[Measured], list[Key]]


def _number(random: Random, most: int = 9999) -> str:
    """A printed number of 0 to 2 decimals."""
    decimals = random.randrange(3)
    if not decimals:
        return str(random.randrange(most))
    return f"{random.randrange(most // 10)}.{random.randrange(10**decimals):0{decimals}d}"


def _rounded(*numbers: float | None) -> tuple[float | None, ...]:
    return tuple(None if each is None else float(f"{each:.9g}") for each in numbers)


def _numbered(random: Random, count: int) -> list[str]:
    return [f"{number:04X}" for number in random.sample(range(0x0100, 0xFFFF), count)]


def _csv(header: str, rows: list[str]) -> list[str]:
    return [header + "\n", *(row + "\n" for row in rows)]


def device(random: Random) -> Content:
    """DEVICE listings of one to three pages; all of one interval, so no device twice."""
    end = random.choice(("\n", "\n", "\r\n"))
    lines: list[str] = []
    rows: list[tuple[Key, frozenset[int]]] = []
    for page in range(random.choice((1, 1, 2, 3))):
        top = len(lines)
        head = HEAD.replace("15:00:14", f"{10 + page}:00:14").replace("15:10:14", f"{10 + page}:10:14")
        lines += [line + end for line in f"{head}\n{HEADING}".split("\n")]
        heads = frozenset(range(top, len(lines)))
        for address in _numbered(random, random.randrange(1, 8)):
            kind = random.choice(("3390-3", "3390", "3390-A", "9336", f"->{random.randrange(0xFFFF):04X}"))
            label = random.choice(("", "BWPVS0", "ABC#$1", "X"))
            rate, serv, qued = (_short(random) for _ in range(3))
            cells = ("0", "4", rate, ".0", ".2", ".2", ".9", serv, "3.7", ".0", qued)
            rows.append(
                ((address, *_rounded(float(rate), float(serv) / 1000, float(qued))), heads | {len(lines)})
            )
            lines.append(Row(address, kind, label, cells).text() + end)
    return Content(lines, rows)


def _short(random: Random) -> str:
    """A number as listings print it: at most four signs, without the zero before the point."""
    return random.choice(
        (
            str(random.randrange(1000)),
            f"{random.randrange(10)}.{random.randrange(100):02d}",
            f".{random.randrange(10)}",
        )
    )


@cache
def _published_spaces() -> list[str]:
    """The published listing, its halves side by side again."""
    lines = data_path("real-storage", "4-users.listing").read_text(encoding="utf-8").splitlines()
    cut = next(k for k, line in enumerate(lines) if line.startswith("(Report split"))
    halves = zip_longest(lines[: cut - 2], lines[cut + 1 :], fillvalue="")
    return [left.ljust(LEFT) + right for left, right in halves]


def data_spaces(random: Random) -> Content:
    """DSPACESH listings in the published layout, of data spaces of any name."""
    published = _published_spaces()
    first = next(k for k, line in enumerate(published) if "PTRM0000" in line)
    lines, rows = [line + "\n" for line in published[:first]], []
    for number in random.sample(range(100), random.randrange(1, 6)):
        rows.append(((f"PTRM{number:04d}",), frozenset([*range(first), len(lines)])))
        lines.append(published[first].replace("PTRM0000", f"PTRM{number:04d}") + "\n")
    return Content(lines, rows)


def volumes(random: Random) -> Content:
    """Tables of volumes."""
    columns = ["device", "io_rate", "service_ms", "queued"]
    random.shuffle(columns)
    rows, lines = [], []
    for number in _numbered(random, random.randrange(1, 8)):
        cells = {
            "device": number,
            "io_rate": _number(random),
            "service_ms": _number(random, 500),
            "queued": _number(random, 90),
        }
        key = (
            number,
            *_rounded(float(cells["io_rate"]), float(cells["service_ms"]) / 1000, float(cells["queued"])),
        )
        rows.append((key, frozenset([0, len(lines) + 1])))
        lines.append(",".join(cells[name] for name in columns))
    return Content(_csv(",".join(columns), lines), rows)


def supply(random: Random) -> Content:
    """Supply counters of some pools, with wraps."""
    pools = [str(each) for each in random.sample(range(1, 99), random.randrange(1, 4))]
    counts = {pool: [random.randrange(2**32), 0] for pool in pools}
    lines, rows, before = [], [], dict.fromkeys(pools, 0)
    for k in range(random.randrange(2, 6)):
        for pool in pools:
            tries = random.randrange(10_000)
            fails = random.randrange(tries + 1)
            counts[pool] = [(counts[pool][0] + tries) % 2**32, (counts[pool][1] + fails) % 2**32]
            lines.append(f"{60 * k},{pool},{counts[pool][0]},{counts[pool][1]},0,{random.randrange(9)},8")
            if k:
                rows.append(((pool, float(tries), float(fails)), frozenset([0, before[pool], len(lines)])))
            before[pool] = len(lines)
    return Content(
        _csv("time,pool,IODHPP_HPPTRIES,IODHPP_HPPFAILS,IODHPP_HPPMINCT,IODHPP_HPPMAXCT,aliases", lines), rows
    )


def counters(random: Random) -> Content:
    """Volume counters, cumulative from any beginning."""
    from planner.reports.supply import VOLUME_COLUMNS as COLUMNS

    devices = _numbered(random, random.randrange(1, 4))
    state = {each: [random.randrange(2**31) for _ in range(8)] for each in devices}
    lines, rows, before = [], [], dict.fromkeys(devices, 0)
    for k in range(random.randrange(2, 5)):
        for each in devices:
            ios = random.randrange(1, 60_000)
            grown = [ios, 500, 3 * ios, 0, 0, 0, 0, 0]
            state[each] = [value + more for value, more in zip(state[each], grown, strict=True)]
            lines.append(",".join(map(str, (100 * k, each, *state[each], 0))))
            if k:
                rows.append(((each, *_rounded(ios / 100)), frozenset([0, before[each], len(lines)])))
            before[each] = len(lines)
    return Content(_csv(",".join([*COLUMNS, "queue"]), lines), rows)


def smf(random: Random) -> Content:
    """SMF 74-1 as SMF Explorer exports it."""
    header = "sid,snm,dat,ist,int,sam,cmb,vac,del_,ios,num,lcu,ser,typ,dev,ssc,mec,cnn,pen,dis,que,hpv,hpc"
    lines, rows = [], []
    for number in _numbered(random, random.randrange(1, 6)):
        ssc = random.randrange(1, 900_000)
        lines.append(
            f"SYSA,SYSA,2024-05-14,09:15:00,00:15:00,900,False,False,False,0.0,{number},0045,PROD01,3010200F,33909,"
            f"{ssc},{ssc},{2 * ssc},{ssc // 2},0,{random.randrange(900)},True,32"
        )
        rows.append(((number, *_rounded(ssc / 900)), frozenset([0, len(lines)])))
    return Content(_csv(header, lines), rows)


def pools(random: Random) -> Content:
    """SMF 78-3, HyperPAV sections, as SMF Explorer exports it; of SuperPAV in half of the files."""
    header = "sid,snm,dat,ist,int,r783hcu,r783hlcu,r783htio,r783hnai,r783haiu"
    superpav = random.randrange(2) == 0
    lines, rows = [], []
    for number in random.sample(range(1, 256), random.randrange(1, 6)):
        tries, needed = random.randrange(2, 900_000), random.randrange(1, 9000)
        fails, lost = random.randrange(tries + 1), random.randrange(needed + 1)
        line = f"SYSA,SYSA,2024-05-14,09:15:00,00:15:00,8A00,{number},{tries},{fails},{random.randrange(99)}"
        rows.append((
            (f"{number:04X}", *map(float, (needed, lost) if superpav else (tries, fails))),
            frozenset([0, len(lines) + 1]),
        ))  # fmt: skip
        lines.append(line + (f",{needed},{needed - lost},0,0,{random.randrange(99)}" if superpav else ""))
    more = ",r783xanc,r783xauc,r783xabc,r783xalc,r783xcqd" if superpav else ""
    return Content(_csv(header + more, lines), rows)


def iostat(random: Random, *, json: bool) -> Content:
    """Text or JSON of any iostat, some reports of some disks; a row stands and falls with its report."""
    from tests.reports.iostat_writer import any_writing, printed

    while (how := any_writing(random)).json is not json:
        pass
    how = replace(how, skip_first=how.pcp, groups=False, idle_left_out=False)
    how = replace(how, times="of each row") if how.pcp else how
    out = printed(random, how, reports=random.randrange(2, 4))
    heads = frozenset(range(3 if out.lines[0].startswith("{") else 1))
    rows = [((name, *_exactly(*numbers)), heads | frozenset(span))
            for (_, name, *numbers), span in zip(out.rows, out.spans, strict=True)]  # fmt: skip
    return Content(out.lines, rows)


def _iostat_keys(measured: Measured) -> list[Key]:
    rows = measured.devices.select("label", "io_rate", "response", "utilization").rows()
    return [(row[0], *_exactly(*row[1:])) for row in rows]


def _exactly(*numbers: float | None) -> tuple[float | None, ...]:
    """To ten digits, ties upwards: what is printed does not depend on the order of a sum."""
    return tuple(None if each is None else float(f"{each * (1 + 1e-12):.10g}") for each in numbers)


def dasd(random: Random) -> Content:
    """Statistics of the DASD driver, as debugfs shows them."""
    requests = random.randrange(1, 500)
    some = random.randrange(requests + 1)

    def histogram(place: int) -> str:
        found = [0] * 32
        found[place], found[place + 1] = some, requests - some
        return " ".join(map(str, found))

    names = (
        "histogram_sectors", "histogram_io_times", "histogram_io_times_weighted", "histogram_time_build_to_ssch",
        "histogram_time_ssch_to_irq", "histogram_time_ssch_to_irq_weighted", "histogram_time_irq_to_end",
        "histogram_ccw_queue_length",
    )  # fmt: skip
    lines = ["start_time 1283518578.085869197", f"total_requests {requests}", "total_sectors 320",
             f"total_pav {some}", f"total_hpf {requests}"]  # fmt: skip
    lines += [f"{name} {histogram(random.randrange(1, 20))}" for name in names]
    return Content([line + "\n" for line in lines], [((None,), frozenset(range(len(lines))))])


def dasdstat(random: Random) -> Content:
    """What dasdstat prints of a device, or tunedasd -P; the device has no rate, its response is between class ends."""
    requests = random.randrange(1, 500)
    lines = [f"statistics data for statistic: dasd{chr(97 + random.randrange(26))}", f"{requests} dasd I/O requests",
             f"with {8 * requests} sectors(512B each)", "Scale Factor is 1"]  # fmt: skip
    for title in ("Histogram of I/O times (microseconds)", "Histogram of I/O time till ssch",
                  "Histogram of I/O time between ssch and irq"):  # fmt: skip
        counts = [0] * 32
        counts[random.randrange(2, 30)] = requests
        lines += ["   __<4    ___8    __16    __32", title,
                  *("".join(f"{each:8}" for each in counts[k : k + 16]) for k in (0, 16))]  # fmt: skip
    return Content([line + "\n" for line in lines], [((lines[0][-5:],), frozenset(range(len(lines))))])


def _alias_rates(measured: Measured) -> list[Key]:
    return list(measured.devices.select("label").rows())


def exports(name: str, random: Random) -> Content:
    """A table of volumes as a tool exports it, or RMF's XML; what is no row of a volume belongs to all of them."""
    every = some_volumes(random, random.randrange(1, 6))
    lines = MADE[name](every).splitlines(keepends=True)
    places = [next(k for k, line in enumerate(lines) if v.label in line) for v in every]
    others = frozenset(range(len(lines) if name == "XML" else min(places))) - set(places)
    rows = [((v.label, *_rounded(v.rate)), others | {place}) for v, place in zip(every, places, strict=True)]
    return Content(lines, rows)


def growth(random: Random) -> Content:
    """A measured series, a number a day or an hour; no table of measurements, so no rows."""
    rows = [
        f"2026-0{1 + k // 28}-{1 + k % 28:02d},{100 + random.randrange(50)}"
        for k in range(random.randrange(3, 60))
    ]
    return Content(_csv("start,io_rate", rows), [])


def calibration(random: Random) -> Content:
    """Runs of a volume for a calibration."""
    rows = [
        f"{k},{300 + random.randrange(900)},1.{random.randrange(10)},{random.randrange(300) / 100}"
        for k in range(random.randrange(1, 4))
    ]
    return Content(_csv("aliases,io_rate,service_ms,queued", rows), [])


def members(random: Random) -> Content:
    """Which device belongs to which pool."""
    rows = [
        f"{number},{random.choice(('base', 'alias'))},{random.choice('AB')}"
        for number in _numbered(random, 4)
    ]
    if random.randrange(2):
        rows.append(f"0-{random.randrange(0xFFFF):04X},base,A")
    return Content(_csv("device,role,pool", rows), [])


def lsdasd(random: Random) -> Content:
    """What lsdasd prints, plain, -u or -l: device number, block device and role of each."""
    form = random.choice("pul")
    lines = [] if form == "l" else ["Bus-ID     Status     Name     Device", "=" * 78]
    heads, rows = len(lines), []
    for number in _numbered(random, random.randrange(1, 6)):
        alias = random.random() < 0.4
        name, bus = f"dasd{chr(97 + len(rows))}", f"0.0.{number.lower()}"
        uid, first = f"IBM.750000000TH031.c280.{'xx' if alias else '0a'}", len(lines)
        if form == "u":
            lines.append(f"{bus}   {'alias' if alias else name:<8} {uid}")
        elif form == "p":
            lines.append(f"{bus}   alias {'ECKD':>26}" if alias
                         else f"{bus}   active  {name}  94:0  ECKD  4096  7042MB  1")  # fmt: skip
        else:
            status = "alias" if alias else "active"
            lines += [bus if alias else f"{bus}/{name}/94:0", f"  status:\t{status}", f"  uid:\t{uid}"]
        rows.append(((number, "alias" if alias else "base", None if alias else name),
                     frozenset([*range(heads), *range(first, len(lines))])))  # fmt: skip
    return Content([line + "\n" for line in lines], rows)


def _labels(measured: Measured) -> list[Key]:
    return [
        (label, *_rounded(round(rate, 3)))
        for label, rate in measured.devices.select("label", "io_rate").rows()
    ]


def _devices(*names: str) -> Callable[[Measured], list[Key]]:
    def keys(measured: Measured) -> list[Key]:
        rows = measured.devices.select("device", *names).rows()
        return [(row[0], *_rounded(*row[1:])) for row in rows]

    return keys


def _supply_keys(measured: Measured) -> list[Key]:
    return [(row[0], *_rounded(*row[1:])) for row in measured.supply.select("pool", "tries", "fails").rows()]


def _storage_keys(measured: Measured) -> list[Key]:
    return list(measured.storage.select("name").rows())


FORMATS: Final[dict[str, Format]] = {
    "device": Format(device, _devices("io_rate", "service", "queued")),
    "dspacesh": Format(data_spaces, _storage_keys),
    "volumes": Format(volumes, _devices("io_rate", "service", "queued")),
    "supply": Format(supply, _supply_keys),
    "counters": Format(counters, _devices("io_rate")),
    "smf": Format(smf, _devices("io_rate")),
    "smf pools": Format(pools, _supply_keys),
    "iostat text": Format(partial(iostat, json=False), _iostat_keys),
    "iostat JSON": Format(partial(iostat, json=True), _iostat_keys),
    "dasd": Format(dasd, _devices()),
    "dasdstat": Format(dasdstat, _alias_rates),
    **{f"export {name}": Format(partial(exports, name), _labels) for name in MADE},
}
"""What `measurements.read` takes as text."""
