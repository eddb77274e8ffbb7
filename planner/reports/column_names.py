"""Which column of a table is what: headings as tools, spreadsheets and people write them, with their units."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from planner.errors import InputError
from planner.render.text import listed
from planner.units import FACTORS, UNITS

NAMES: Final = {  # field: headings, the likeliest first
    "device": "device devicenumber devnum dev devno devnr devnumber deviceno deviceaddress devaddress devaddr address "
    "addr rdev realdevice",
    "volume": "volume volser volumeserial volumeserialnumber vol volumelabel volumename volid volumeid label "
    "dasdvolume disk diskname labelid volumelabelid",
    "pool": "pool aliaspool hyperpavpool hpavpool lcu logicalcontrolunit lcunumber lcuid lculcu lss ssid",
    "aliases": "poolaliases aliases hyperpavaliases hpavaliases aliascount hyperpavaliascount numberofaliases "
    "nraliases nralias naliases numaliases numberaliases aliasdevices",
    "base_and_aliases": "pav",
    "type": "type devicetype devtype",
    "system": "system systemid sysid smfid sid systemname snm lpar host hostname nodename mvssystemid",
    "run": "run",
    "start": "start timestamp datetime starttime startime startdatetime intervalstart intervalbegin begin dateandtime",
    "date": "date startdate intervaldate day datum smfdate",
    "time": "time timeofday intervaltime clock uhrzeit zeit smftime",
}
TIMES: Final = {
    "pend": "pend pending pendtime pendingtime pnd avgpndms",
    "disconnect": "disconnect disc disctime disconnecttime discon dis dsc avgdisms",
    "connect": "connect conn conntime connecttime con cnn avgconms",
    "service": "service servicetime serv servtime svc svctime devservicetime servicezeit bedienzeit",
    "response": "response responsetime resp resptime rsp rsptime rt avgrspms deviceresponsetime devresp devresptime "
    "latency antwortzeit await",
    "iosq": "iosq iosqtime iosqueuetime iosqueue iosqueuing iosqueueing avgioqms queuetime wait waittime queuewait "
    "queuewaittime queueingtime queuingtime waitqueue wartezeit",
    "cu_wait": "cuwait controlunitwait",
    "interval": "interval intervallength duration intervalduration duratm length",
}
RATES: Final = {
    "io_rate": "iorate iops io ios activityrate deviceactivityrate devactrate devactivityrate actrate ssch sschrate "
    "iorequestrate deviceiorate totaliorate totaliops ioratetotal iosrate tps rate earate",
    "alias_rate": "aliasrate",
    "avoided": "avoided",
}
COUNTS: Final = {
    "queued": "queued queue queuelength qlength qlen qlngth ioqueued iosqueued qued reqqued reqqueued requestsqueued",
    "links": "links",
    "paths": "paths",
    "queue_samples": "queuesamples",
    "utilization": "utilization",
}
OWN: Final = {  # headings of the planner's own tables, in lower case
    **{name: name for name in (*list(NAMES)[:-2], *RATES, *COUNTS, "kind", "alias_of", "utc_offset_s")},
    **{f"{name}_ms": name for name in TIMES if name != "interval"}, "interval_s": "interval",
    "pool_aliases": "aliases", "label": "volume", "wait_ms": "iosq",
}  # fmt: skip
ASKED: Final = -2.0  # rank of what `map` says
SECOND: Final = {"label": -0.5, "aliases": -0.5}  # rank of own headings that give way to another one
FIELDS: Final = {**NAMES, **TIMES, **RATES, **COUNTS}
BY_WORDS: Final = {
    words: (field, rank) for field, each in FIELDS.items() for rank, words in enumerate(each.split())
}
UNIT_WORDS: Final = {
    **dict.fromkeys(("ms", "msec", "msecs", "millisec", "millisecs", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("us", "usec", "usecs", "µs", "μs", "µsec", "μsec", "microsec", "microsecs", "microsecond",
                     "microseconds"), "us"),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("/s", "1/s", "/sec", "1/sec", "/second", "per s", "per sec", "per second", "io/s", "ios/s",
                     "io/sec", "ios/sec", "i/o/s", "i/os/s", "iops", "ssch/s", "ssch/sec"), "1/s"),
    **dict.fromkeys(("/min", "1/min", "/minute", "per min", "per minute"), "/min"),
    **dict.fromkeys(("/h", "1/h", "/hour", "per h", "per hour"), "/h"),
}  # fmt: skip
NO_UNIT: Final = ("", "-", "#", "hex", "number", "count", "text", "i/o", "hh:mm:ss")
IOS: Final = ("i/os", "ios", "requests")  # units of all but times
NUMBERS_OF_IOS: Final = frozenset({"io", "ios", "ssch"})  # headings without a unit
FILLERS: Final = frozenset({"avg", "average", "mean", "ave", "in", "overall"})
EMBEDDED: Final = {"avgpndms": "ms", "avgdisms": "ms", "avgconms": "ms", "avgrspms": "ms", "avgioqms": "ms",
                   "duratm": "s"}  # fmt: skip
_BRACKETS: Final = re.compile(r"[(\[{]\s*([^()\[\]{}]*?)\s*[)\]}]")
# What stands in brackets beside a unit.
_BESIDE_UNIT: Final = re.compile(rf"\b({'|'.join(FILLERS)})\b|[,;]|(/|\bper\b) *(i/?os?|ops?)$")
_PER_TIME: Final = re.compile(r"\s*(?:/|\bper\b)\s*(s|sec|second|min|minute|h|hour)\b")
_PART: Final = re.compile("(?i)reads?|writes?")  # of the I/Os
_MAPPED: Final = re.compile(r"\s*([A-Za-z_]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^,]*))\s*(?:,|$)")


@dataclass(frozen=True, slots=True)
class TakenColumn:
    """A column that is a field: its `heading`, and its `unit`, empty where it has none or says none."""

    heading: str
    unit: str = ""

    def factor(self, default: str) -> float:
        """SI units in one of the column's, of the unit that it says or else of the usual one."""
        return UNITS[self.unit or default].factor


@dataclass(frozen=True, slots=True)
class Plan:
    """What each column was taken for: `taken` by field, `unused`, `doubts`; `plain` with the planner's own headings.

    `rivals`: columns that are a field by their name as well, and gave way to a likelier one.
    """

    taken: Mapping[str, TakenColumn]
    unused: tuple[str, ...] = ()
    plain: bool = False
    doubts: tuple[str, ...] = ()
    rivals: tuple[tuple[str, TakenColumn], ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """What a table of volumes lacks, in words."""
        there = self.taken.keys()
        timed = {"service", "response"} & there or {"pend", "disconnect", "connect"} <= there
        needed = {
            "device or volume": {"device", "volume"} & there,
            "io_rate": "io_rate" in there,
            "service_ms (or pend, disconnect and connect; or response)": timed,
        }
        return tuple(name for name, found in needed.items() if not found)

    @property
    def words(self) -> str:
        """A sentence that says what each column was taken for."""
        parts = [
            f"{each.heading} as {field}{_unit_words(field, each.unit)}" for field, each in self.taken.items()
        ]
        rest = f"; not used: {listed(self.unused)}" if self.unused else ""
        return f"columns: {', '.join(parts)}{rest}."

    @property
    def no_queue(self) -> str:
        """Which unused column may hold the queue that no other has, and as what; empty where none looks like it."""
        shown_by = ("queued", "iosq", "response")
        if {*shown_by} & self.taken.keys():
            return ""
        near = next(((name, near) for name in shown_by if (near := self._nearest(name))), None)
        return f"not used: {near[1]}, perhaps {near[0]}; `map` says which column is what" if near else ""

    @property
    def count_or_rate(self) -> str:
        """A sentence where the I/O rate may be a number of I/Os in each interval by its name; empty where it is not."""
        rate = self.taken["io_rate"]
        if rate.unit or "interval" not in self.taken or heading_words(rate.heading)[0] not in NUMBERS_OF_IOS:
            return ""
        doubt = f"{rate.heading}: I/Os per second, or their number in each interval?"
        taken = f"`map` io_rate={rate.heading} takes it as a rate"
        return f"{doubt} {taken}; a count is to be divided by its interval first"

    def refusal(self) -> str:
        """Say which columns there are, which are missing and which may be them."""
        found = ", ".join(f"{each.heading} as {field}" for field, each in self.taken.items())
        near = [f"{name}: perhaps {near}" for name in self.missing if (near := self._nearest(name))]
        wanted = self.missing[-1].partition(" ")[0] if self.missing else "FIELD"
        wanted = "device" if wanted == "device or volume" else wanted
        return "; ".join(
            filter(None, (
                f"a table without {' and '.join(self.missing)}" if self.missing else "a table",
                f"taken: {found}" if found else "no column was recognized",
                f"not taken: {listed(self.unused)}" if self.unused else "",
                ", ".join(near),
                *self.doubts,
            ))
        ) + f"; `map` {wanted}=COLUMN says which column it is"  # fmt: skip

    def _nearest(self, name: str) -> str:
        """The unused heading that looks most like a field, and its unit where that does not fit."""
        fields = [each for each in re.findall(r"\w+", name) if each.removesuffix("_ms") in FIELDS]
        whole = (heading for heading in self.unused if not _PART.search(heading))
        words = {word: (heading, unit) for heading in whole for word, unit in [heading_words(heading)]}
        names = [word for field in fields for word in FIELDS[field.removesuffix("_ms")].split()]
        close = [near for word in names for near in get_close_matches(word, words, n=1, cutoff=0.6)]
        heading, unit = words[close[0]] if close else ("", "")
        odd = "" if fits(fields[0].removesuffix("_ms"), unit) else f", but its unit {unit!r} does not fit"
        return f"{heading!r}{odd}" if heading else ""


def _unit_words(field: str, unit: str) -> str:
    """Unit of a field in brackets, of a time also where its column says none."""
    if unit or field not in TIMES:
        return f" [{unit}]" if unit else ""
    return " [s or hh:mm:ss]" if field == "interval" else f" [taken as {_usual(field)}]"


def _usual(field: str) -> str:
    """Unit of a time that says none."""
    return "s" if field == "interval" else "ms"


def heading_words(heading: str) -> tuple[str, str]:
    """Cut a heading into its words, written together in lower case, and the unit that it says.

    >>> heading_words("Avg Resp Time (ms)"), heading_words("IO/s"), heading_words("service_us")
    (('resptime', 'ms'), ('io', '1/s'), ('service', 'us'))
    """
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", heading.strip()).lower()
    inside = [_BESIDE_UNIT.sub("", each).strip() for each in _BRACKETS.findall(text)]
    said = [UNIT_WORDS.get(each.replace(" ", ""), UNIT_WORDS.get(each, each)) for each in inside]
    unit = " ".join(each for each in said if each not in NO_UNIT)  # several are none that a number has
    text = _BRACKETS.sub(" ", text).replace("%", " percent ").replace("i/o", "io").replace("#", " number ")
    if (per := _PER_TIME.search(text)) is not None:
        text, unit = _PER_TIME.sub(" ", text), unit or UNIT_WORDS[f"/{per[1]}"]
    words = [word for word in re.split(r"[^a-z0-9µμ]+", text) if word and word not in FILLERS]
    if len(words) > 1 and not unit and words[-1] in UNIT_WORDS and "".join(words) not in BY_WORDS:
        unit = UNIT_WORDS[words.pop()]
    elif len(words) > 1 and words[-1] == unit:
        words.pop()
    if len(words) > 1 and words[0] in UNIT_WORDS and not unit and words[0] != "s":
        unit = UNIT_WORDS[words.pop(0)]
    whole = "".join(words)
    return whole, unit or EMBEDDED.get(whole, "")


def plan_of(headings: Sequence[str], given: Mapping[str, str] | None = None) -> Plan:
    """Find out what each column is, own headings first, some as `given`; two that may be one field are a doubt."""
    taken: dict[str, TakenColumn] = {}
    ranks: dict[str, float] = {}
    doubts: list[str] = []
    rivals: list[tuple[str, TakenColumn]] = []
    by_name = {heading.lower(): heading for heading in headings}
    for name, heading in (given or {}).items():
        field, unit = asked_field(name)
        found = by_name.get(heading.strip().lower())
        if found is None:
            known = listed(list(filter(None, headings)))
            raise InputError("map", f"{name}={heading}", f"one of the columns {known}")
        own = _field_of(found)[2]
        taken[field], ranks[field] = TakenColumn(found, unit or (own if fits(field, own) else "")), ASKED
    used = {each.heading for each in taken.values()}
    plain = True
    for heading in headings:
        field, rank, unit = _field_of(heading)
        percent = field == "utilization" and "utilization_resolution" not in by_name  # as other tools have it
        if not field or percent or heading in used:
            continue
        if not fits(field, unit):
            if unit in IOS:
                known = f"its unit is {unit!r}: queued if it counts I/Os, else {field}_ms"
                doubts.append(f"{heading!r} is a time by its name, but {known}")
            continue
        plain &= rank < 0
        this = TakenColumn(heading, unit)
        if field not in taken or rank < ranks[field]:
            rivals += [(field, taken[field])] if field in taken else []
            taken[field], ranks[field] = this, rank
        elif rank == ranks[field] >= 0:
            doubts.append(f"{taken[field].heading!r} and {heading!r} may both be {field}")
        else:
            rivals += [(field, this)] if ranks[field] > ASKED else []
    _settle_times(taken, ranks)
    used = {each.heading for each in taken.values()}
    unused = tuple(
        heading for heading in headings
        if heading and heading not in used and not re.search("_(resolution|low)(_|$)", heading.lower())
    )  # fmt: skip
    return Plan(taken, unused, plain and not given, tuple(doubts), tuple(rivals))


def _field_of(heading: str) -> tuple[str, float, str]:
    """Field of a heading, empty where it is none; how likely, least first; and the unit that it says."""
    own = OWN.get(heading.lower())
    if own is not None:
        return own, SECOND.get(heading.lower(), -1.0), _usual(own) if own in TIMES else ""
    words, unit = heading_words(heading)
    field, rank = BY_WORDS.get(words, ("", 0))
    field = "iosq" if field == "queued" and unit in FACTORS["time"] else field  # a time in the queue
    return field, rank, unit_of(field, unit)


def _settle_times(taken: dict[str, TakenColumn], ranks: Mapping[str, float]) -> None:
    """Keep one column of moments, or one of days beside one of times."""
    if "start" in taken and {"date", "time"} <= taken.keys() and ranks["start"] > 0:
        del taken["start"]
    if "date" in taken and "time" not in taken:
        if "start" in taken:  # a time of day that says it is the begin
            taken["time"] = taken.pop("start")
        else:
            taken["start"] = taken.pop("date")
    elif "time" in taken and "date" not in taken:
        taken.setdefault("start", taken["time"])
        del taken["time"]


def unit_of(field: str, unit: str) -> str:
    """Unit that is said of a field; that it counts I/Os is none, but of a time."""
    return "" if unit in IOS and field not in TIMES else unit


def fits(field: str, unit: str) -> bool:
    """Whether a field may have a unit."""
    if field in NAMES:  # what else stands in brackets there says more of the name
        return not unit or unit not in map(str.lower, UNITS)
    if field in TIMES:
        return unit in ("", *FACTORS["time"])
    return unit in ("", "1/s", *FACTORS["rate"]) if field in RATES else unit == ""


def asked_field(name: str) -> tuple[str, str]:
    """Field and unit of what ``--map`` names, such as ``service_us``."""
    key = name.strip().lower()
    known = {**{each: (each, "") for each in FIELDS}, "label": ("volume", ""), "pool_aliases": ("aliases", ""),
             **{f"{each}_{unit}": (each, unit) for each in TIMES for unit in FACTORS["time"]}}  # fmt: skip
    if key not in known:
        wanted = f"one of {', '.join(FIELDS)}; a time may end in its unit, as service_us"
        raise InputError("map", name, wanted)
    return known[key]


def read_map(given: str | Mapping[str, str] | None) -> dict[str, str]:
    """Read which column is which field, as typed: ``io_rate=IOPS,service_ms="Svc Time"``."""
    if given is None or isinstance(given, Mapping):
        pairs = list((given or {}).items())
    elif not isinstance(given, str):
        raise InputError("map", given, "columns, such as 'io_rate=IOPS'")
    else:
        found = list(_MAPPED.finditer(given))
        if "".join(match[0] for match in found) != given:
            raise InputError("map", given, 'FIELD=COLUMN,..., such as io_rate=IOPS,service_ms="Svc Time"')
        pairs = [(match[1], next(filter(None, match.groups()[1:]), "").strip()) for match in found]
    fields = [asked_field(name)[0] for name, _ in pairs]
    twice = next((field for field in fields if fields.count(field) > 1), None)
    if twice is not None:
        raise InputError("map", given, f"{twice} once")
    return {name.strip().lower(): heading for name, heading in pairs}
