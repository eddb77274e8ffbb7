"""Which device belongs to which alias pool: a CSV file of roles or IODDEV bits, or what `lsdasd` of Linux prints."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from planner import units
from planner.errors import InputError, ReportError
from planner.lazy import pl
from planner.render.text import counted
from planner.reports import schema
from planner.reports.csv_table import CsvTable, read_csv, shown
from planner.reports.lines import numbered, read_text

Role = Literal["base", "alias"]
ROLES: Final = ("device", "role", "pool")
TOGETHER: Final = "together"
IS_BASE: Final = "IODDEV_RDEVHPBA"
IS_ALIAS: Final = "IODDEV_RDEVHPAL"
POOL: Final = "IODDEV_RDEVHPPL"
BITS: Final = ("device", IS_BASE, IS_ALIAS, POOL)
# Not all that int() takes: 0x522A, 5_22A, +5, digits of other scripts.
_DIGITS: Final = re.compile(r"[0-9A-Fa-f]{1,5}")


def device_range(text: str) -> tuple[int, int]:
    """Read a range of device numbers, or a single one.

    >>> device_range("522A-5231") == (0x522A, 0x5231)
    True
    """
    first, dash, last = (part.strip() for part in text.partition("-"))
    last = last if dash else first
    if not (_DIGITS.fullmatch(first) and _DIGITS.fullmatch(last)):
        raise ValueError("device numbers in hexadecimal such as 522A-5231")
    low, high = int(first, 16), int(last, 16)
    if not low <= high <= 0x3FFFF:  # noqa: PLR2004 - z/OS writes the subchannel set, 0 to 3, before four digits
        raise ValueError("a range from a lower to a higher device number, 0000 to 3FFFF")
    return low, high


@dataclass(frozen=True, slots=True)
class Member:
    """A device: its `role`, "base" or "alias", its `pool`, how far its I/Os come `together`, 0 to 1 or None."""

    role: Role
    pool: str
    together: float | None = None


@dataclass(frozen=True, slots=True)
class Membership:
    """All members of all pools: `members` by device number, four hexadecimal digits; `path` is where it stands."""

    path: Path
    members: dict[str, Member]
    notes: tuple[str, ...] = ()  # how they were read

    def of(self, pool: str, role: Role) -> list[str]:
        """List the devices of a pool."""
        wanted = (role, pool)
        return sorted(name for name, member in self.members.items() if (member.role, member.pool) == wanted)

    @property
    def pools(self) -> list[str]:
        """Names of the pools, in the order of the file."""
        return list(dict.fromkeys(member.pool for member in self.members.values()))


def read_membership(path: Path | str, data: bytes | None = None) -> Membership:
    """Read the members of alias pools."""
    what = f"pool members with the columns {', '.join(ROLES)}, or {', '.join(BITS)}, or what lsdasd -u prints"
    table = read_csv(path, (), what, data=data)
    by_bits = table.has(IS_BASE) or table.has(IS_ALIAS)
    table.require(BITS if by_bits else ROLES, "pool members")
    return Membership(table.path, members_of(table) if by_bits else _by_role(table))


def members_of(table: CsvTable) -> dict[str, Member]:
    """Take members from the IODDEV bits of a table; a device may stand in it often, always with the same part."""
    base, alias = table.counts(IS_BASE, 1), table.counts(IS_ALIAS, 1)
    parts: list[Member | None] = []
    for row, pool in enumerate(table.texts(POOL)):
        if base[row] and alias[row]:
            raise table.error(row, IS_ALIAS, f"and {IS_BASE} are both 1: expected a base or an alias")
        if (base[row] or alias[row]) and not pool:
            raise table.error(row, POOL, "is empty: expected the number of the pool")
        parts.append(Member("base" if base[row] else "alias", pool) if base[row] or alias[row] else None)
    return _members(table, parts, again=True)


def _by_role(table: CsvTable) -> dict[str, Member]:
    roles, pools = table.words("role"), table.words("pool")
    parts: list[Member | None] = []
    for row, (role, pool, text) in enumerate(zip(roles, pools, table.texts(TOGETHER), strict=True)):
        if role.lower() not in ("base", "alias"):
            raise table.error(row, "role", f"{role!r}: expected base or alias")
        known: Role = "base" if role.lower() == "base" else "alias"
        parts.append(Member(known, pool, _together(table, row, text)))
    return _members(table, parts, again=False)


def _members(table: CsvTable, parts: Sequence[Member | None], *, again: bool) -> dict[str, Member]:
    """Devices of each row with its part; one that stands there `again` must have the same, where it may stand again."""
    members: dict[str, Member] = {}
    for row, (cell, member) in enumerate(zip(table.words("device"), parts, strict=True)):
        try:
            low, high = device_range(cell)
        except ValueError as error:
            raise table.error(row, "device", f"{shown(cell)}: expected {error}") from None
        if member is None:
            continue
        for number in range(low, high + 1):
            device = f"{number:04X}"
            known = members.setdefault(device, member)
            if known is not member and not (again and known == member):
                problem = f"{device} a second time: it is {known.role} in pool {known.pool}"
                raise table.error(row, "device", problem)
    return members


def share_together(given: str | float | None) -> float | None:
    """How far I/Os come together with those of others: none, full or a share; None where nothing is said."""
    if given is None:
        return None
    words = {"none": 0.0, "full": 1.0}
    if isinstance(given, str) and given.lower() in words:
        return words[given.lower()]
    with suppress(InputError):
        if 0.0 <= (found := units.share(given, TOGETHER)) <= 1.0:
            return found
    raise InputError(TOGETHER, given, "none, full, or a share from 0 to 1, as 0.5 or 50%")


def _together(table: CsvTable, row: int, text: str) -> float | None:
    """The same of a cell; None where it is empty."""
    try:
        return share_together(text or None)
    except InputError as error:
        raise table.error(row, TOGETHER, f"{shown(text)}: expected {error.expected}") from None


def with_pools(frame: pl.DataFrame, membership: Membership | None) -> pl.DataFrame:
    """Set pool, aliases of the pool and role of each device that is a member; classic aliases stay with their base."""
    if isinstance(membership, LinuxDevices):
        frame = name_devices(frame, membership)
    if membership is None or not membership.members:
        return frame
    members, types = membership.members, schema.dtypes(schema.DEVICES)
    fields = {"role": types["kind"], "pool": pl.String, "together": pl.Float64}
    known = pl.DataFrame(list(members.values()), fields).select(
        "pool", "together", pl.Series("device", list(members)), pl.col("role").alias("kind"),
        pool_aliases=(pl.col("role") == schema.ALIAS).sum().over("pool").cast(types["pool_aliases"]),
    )  # fmt: skip
    plain = pl.col("kind").is_in([schema.BASE, schema.ALIAS, schema.OTHER])
    base = pl.when(pl.col("alias_of").is_in(list(members))).then("alias_of").otherwise("device")
    joined = frame.join(
        known, left_on=base, right_on="device", how="left", maintain_order="left", suffix="_own"
    )
    return joined.with_columns(
        *(pl.coalesce(f"{name}_own", name).alias(name) for name in ("pool", "pool_aliases", "together")),
        pl.when(plain).then(pl.coalesce("kind_own", "kind")).otherwise("kind").alias("kind"),
    ).select(frame.columns)


ALIAS: Final = "alias"
HYPERPAV: Final = "xx"  # unit address in the uid of a HyperPAV alias
UID_PARTS: Final = 4
ALL: Final = "all"  # pool of devices without uids
ECKD: Final = ("ECKD", "")
WANTED_LSDASD: Final = "expected what lsdasd -u prints: bus id, name, uid"

_BUS_ID: Final = re.compile(r"(?:[0-9a-f]\.[0-3]\.)?[0-9a-f]{4}")  # lsdasd -s prints the number alone
_PROMPT: Final = re.compile(r".*[#$>%](?: +(?:lsdasd|exit|logout)\b.*)?|Last login: .*|logout|exit")
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
    """Whether a file is what lsdasd prints, by its first bytes."""
    lines = [line.strip() for line in head.decode("utf-8", "replace").splitlines()]
    return any(_SECTION.fullmatch(line) or _listed(0, line) for line in lines if line)


def read_lsdasd(path: Path | str, data: bytes | None = None) -> LinuxDevices:
    """Read which devices share HyperPAV aliases: by the first three parts of their uids, else all ECKD devices."""
    path = Path(path)
    members: dict[str, Member] = {}
    names: dict[str, str] = {}
    skipped, others, online = [], [], []
    seen: set[str] = set()
    for each in _linux_devices(path, read_text(path, data, WANTED_LSDASD)):
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
        aliases = counted(sum(each.status == ALIAS for each in online), "alias", "aliases")
        taken = f"all ECKD devices are taken as one, with {aliases}"
        notes.append(f"{path}: no uids, which say who shares a pool: {taken}; lsdasd -u prints them")
    return LinuxDevices(path, members, tuple(notes), names, tuple(others))


def _linux_devices(path: Path, text: str) -> list[_Device]:
    """All devices, whatever the form."""
    found: list[_Device] = []
    section: _Device | None = None
    lines = numbered(text)
    headed = next((k for k, (_, line) in enumerate(lines, 1) if line.startswith("Bus-ID")), 0)
    for number, line in lines[headed:]:  # above the heading is no device
        words = line.split()
        if not words or _HEAD.match(words[0]) or _PROMPT.fullmatch(line.rstrip()):
            continue
        if match := _SECTION.fullmatch(line.strip()):
            section = _Device(number, match["bus"], name=match["name"] or "")
            found.append(section)
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
        elif (device := _listed(number, line.strip())) is not None:
            found.append(device)
        else:
            problem = f"{words[0]!r:.40} is no bus id such as 0.0.c28a"
            if _BUS_ID.fullmatch(words[0]):
                problem = f"{' '.join(words[1:])!r:.40} is no status, name or uid of {words[0]}"
            raise ReportError(path, f"{problem}; {WANTED_LSDASD}", line=number, column=1)
    return found


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
    if not devices.names:
        return frame
    named = pl.col("label").replace_strict(devices.names, default=None, return_dtype=pl.String)
    other = pl.col("label").is_in(devices.others)
    kind = pl.when(other).then(pl.lit(schema.OTHER, dtype=pl.Enum(schema.KINDS))).otherwise(pl.col("kind"))
    return frame.with_columns(pl.coalesce("device", named).alias("device"), kind.alias("kind"))
