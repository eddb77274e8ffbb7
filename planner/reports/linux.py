"""Linux on Z: which devices share a pool, and which block device is which, by `lsdasd` in any of its forms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from planner.errors import ReportError
from planner.reports import schema
from planner.reports.lines import read_text
from planner.reports.membership import Member, Membership

if TYPE_CHECKING:
    import polars as pl

ALIAS: Final = "alias"
HYPERPAV: Final = "xx"  # unit address in the uid of a HyperPAV alias
UID_PARTS: Final = 4
ALL: Final = "all"  # pool of devices without uids
ECKD: Final = ("ECKD", "")
WANTED_LSDASD: Final = "expected what lsdasd -u prints: bus id, name, uid"

_BUS_ID: Final = re.compile(r"([0-9a-f])\.([0-3])\.([0-9a-f]{4})")
_HEAD: Final = re.compile(r"Bus-ID|=+$")
_NAME: Final = re.compile(r"dasd[a-z]{1,4}")
_SECTION: Final = re.compile(
    r"(?P<bus>[0-9a-f]\.[0-3]\.[0-9a-f]{4})(?:/(?P<name>dasd[a-z]{1,4})?/[0-9]*:?[0-9]*)?"
)
_ATTRIBUTE: Final = re.compile(r"\s+(?P<key>[a-z_]+):\s*(?P<value>.*)")
_STATUS: Final = ("active", "n/f", "offline", "alias", "secondary")
_COMPATIBLE: Final = re.compile(
    r"(?P<bus>[0-9a-f]\.[0-3]\.[0-9a-f]{4})\((?P<type>\w*)\s*\)\s*"
    r"(?:at \(\s*[0-9]+:\s*[0-9]+\) is (?P<name>\S+?)\s*(?:\(ro\))?\s*)?: (?P<status>active|n/f|offline|alias)\b.*"
)


@dataclass(frozen=True, slots=True)
class LinuxDevices(Membership):
    """Members of pools, `names` of block devices by device number, FBA devices among the `others`; `notes`."""

    names: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(slots=True)
class _Device:
    """One device as it is listed: `status` alias or another, `type` ECKD or FBA, empty where it is not said."""

    line: int
    bus: str
    status: str = ""
    name: str = ""
    type: str = ""
    uid: str = ""

    @property
    def number(self) -> str:
        """Device number, of those in another subchannel set with the whole bus id."""
        return self.bus[4:].upper() if self.bus.startswith("0.0.") else self.bus.upper()


def is_lsdasd(head: bytes) -> bool:
    """Tell by its first bytes whether a file is what lsdasd prints."""
    for line in head.decode("utf-8", "replace").splitlines():
        words = line.split()
        if words and not _HEAD.match(words[0]):
            return bool(_BUS_ID.match(words[0])) and (
                _SECTION.fullmatch(line.strip()) is not None or _listed(0, line.strip()) is not None
            )
    return False


def read_lsdasd(path: Path | str, data: bytes | None = None) -> LinuxDevices:
    """Read which devices share HyperPAV aliases: by the first three parts of their uids, else all ECKD devices."""
    path = Path(path)
    members: dict[str, Member] = {}
    names: dict[str, str] = {}
    skipped, others, online = [], [], []
    seen: set[str] = set()
    for each in _devices(path, read_text(path, data, WANTED_LSDASD)):
        if each.number in seen:
            raise ReportError(path, f"{each.bus} a second time", line=each.line, column=1)
        seen.add(each.number)
        is_alias, uid = each.status == ALIAS, each.uid.split(".")
        if each.name:
            names[each.name] = each.number
        if each.type in ECKD and (is_alias or each.name):
            online.append(each)
        if len(uid) < UID_PARTS or (is_alias and uid[3] != HYPERPAV) or not (is_alias or each.name):
            skipped.append(each.number)  # without a uid, or an alias of one base, not of a pool
            others += [each.name] if each.name and each.type not in ECKD else []
        else:
            members[each.number] = Member("alias" if is_alias else "base", ".".join(uid[:3]))
    notes = []
    if members and skipped:
        notes.append(f"{path}: without a uid, or alias of one base only: {', '.join(skipped)}")
    if not members and not names:
        raise ReportError(path, f"no device with a uid; {WANTED_LSDASD}")
    if not members:
        members = {each.number: Member("alias" if each.status == ALIAS else "base", ALL) for each in online}
        notes.append(
            f"{path}: no uids, which say who shares a pool: all ECKD devices are taken as one, with "
            f"{sum(each.status == ALIAS for each in online)} aliases; lsdasd -u prints them"
        )
    return LinuxDevices(path, members, names, tuple(notes), tuple(others))


def _devices(path: Path, text: str) -> Iterator[_Device]:
    """All devices, whatever the form."""
    section: _Device | None = None
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or _HEAD.match(words[0]):
            continue
        if match := _SECTION.fullmatch(line.strip()):
            if section is not None:
                yield section
            section = _Device(number, match["bus"], name=match["name"] or "")
        elif section is not None:
            if (match := _ATTRIBUTE.fullmatch(line)) is None:
                problem = f"{words[0]!r:.40} is no attribute of {section.bus}; {WANTED_LSDASD}"
                raise ReportError(path, problem, line=number)
            key, value = match["key"], match["value"].strip()
            if key in ("status", "type", "uid"):
                if getattr(section, key):  # the line between two devices is lost
                    problem = f"{key} a second time for {section.bus}: expected the bus id of another device above it"
                    raise ReportError(path, problem, line=number)
                setattr(section, key, value.partition(" ")[0])
        else:
            found = _listed(number, line.strip())
            if found is None:
                problem = f"{words[0]!r:.40} is no bus id such as 0.0.c28a"
                if _BUS_ID.fullmatch(words[0]):
                    problem = f"{' '.join(words[1:])!r:.40} is no status, name or uid of {words[0]}"
                raise ReportError(path, f"{problem}; {WANTED_LSDASD}", line=number, column=1)
            yield found
    if section is not None:
        yield section


def _listed(number: int, line: str) -> _Device | None:
    """A device on a line of its own: plain, -u or -c."""
    if match := _COMPATIBLE.fullmatch(line):
        return _Device(number, match["bus"], match["status"], match["name"] or "", match["type"])
    words = line.replace("(ro)", " ").split()
    if not _BUS_ID.fullmatch(words[0]):
        return None
    device = _Device(number, words[0])
    uids = [word for word in words[1:] if word.count(".") >= UID_PARTS - 1]
    device.uid = uids[0] if len(uids) == 1 and words[-1] == uids[0] else ""
    plain = words[1:-1] if device.uid else words[1:]
    if len(uids) > 1 or not plain:
        return None
    if plain[0] in _STATUS:
        device.status = plain.pop(0)
    rest = [word for word in plain if _NAME.fullmatch(word)]
    device.name = rest[0] if rest and device.status in ("", "active", "n/f") else ""
    device.type = next((word for word in plain if word in ("ECKD", "FBA", "DIAG")), "")
    return device if device.status or device.name else None


def name_devices(frame: pl.DataFrame, devices: LinuxDevices) -> pl.DataFrame:
    """Set the device number of rows that have the name of a block device only; one without a pool is no volume."""
    import polars as pl

    if not devices.names:
        return frame
    names, numbers = list(devices.names), list(devices.names.values())
    named = pl.col("label").replace_strict(names, numbers, default=None, return_dtype=pl.String)
    other = pl.col("label").is_in(devices.others)
    kind = pl.when(other).then(pl.lit(schema.OTHER, dtype=pl.Enum(schema.KINDS))).otherwise(pl.col("kind"))
    return frame.with_columns(pl.coalesce("device", named).alias("device"), kind.alias("kind"))
