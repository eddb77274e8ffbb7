"""Device activity (D6R3) as rows of the one table: rates and times of an I/O between one sample and the next.

A volume is what its base and all aliases on its behalf did: their figures are mixed by their rates. Alias devices have
records of their own, whose I/Os stand in the records of the bases already.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.reports import schema
from planner.reports.monitor.blocks import Integers
from planner.reports.monitor.counters import MOST_EVENTS, Pairs, Words
from planner.reports.monitor.decide import NEARLY_ALL, PoolBits
from planner.reports.monitor.layouts import EBCDIC, full_number
from planner.results import Array
from planner.units import MONITOR_TIME

if TYPE_CHECKING:
    import polars as pl

NUMBERS: Final = 2**16  # pool numbers, and device numbers of a subchannel set
SETS: Final = 4
BASE_EVENTS: Final = ("SCGSSCH", "SCGCOUNT")
BASE_TIMES: Final = ("SCMFPTIM", "SCMCNTIM", "SCMDDTIM", "SCMDATIM", "SCMCQTIM")
ALIAS_EVENTS: Final = ("PAVSSCH", "PAVCOUNT")
ALIAS_TIMES: Final = ("PAVFPTIM", "PAVCNTIM", "PAVDDTIM", "PAVDATIM", "PAVCQTIM")
MOST_BUSY: Final = {
    "base": 2.0,
    "alias": 256.0,
}  # devices that can be busy at once, with slack for one long I/O
PARTS: Final = ("pend", "connect", "disconnect", "active", "cu_wait")
MOST: Final = 0.5  # share of devices that were sampled as often as the median
SERVICE: Final = 4  # parts that service time consists of
Rows = dict[str, Words]


@dataclass(slots=True)
class DeviceConfiguration:
    """What sample configuration records say: devices by subchannel, types, bases of classic aliases."""

    numbers: dict[int, int] = field(default_factory=dict)
    types: dict[int, str] = field(default_factory=dict)
    bases: dict[int, int] = field(default_factory=dict)

    def add(self, rows: NDArray[Any]) -> None:
        """Take device configuration records (D1R6)."""
        numbers = full_number(rows["RDEVSID"], rows["RDEVDEV"]).tolist()
        bases = full_number(rows["CALRDEVSID"], rows["CALRDEVDEV"]).tolist()
        columns = (rows["RDEVSID"].tolist(), numbers, rows["RDEVDVID"].tolist(), bases)
        for sid, number, type_, base in zip(*columns, strict=True):
            self.numbers[sid] = number
            self.types[number] = f"{type_:04X}" if type_ else ""
            if base and base != number:
                self.bases[number] = base


def highest(device: Integers | Words) -> int:
    """Number of device numbers that there are: those of one subchannel set, or of all."""
    return NUMBERS * (SETS if (device >= NUMBERS).any() else 1)


@dataclass(frozen=True, slots=True)
class Static:
    """Type, role and base of every device number, from the configuration."""

    types: pl.Series
    alias_of: pl.Series
    eckd: NDArray[np.bool_]
    known: NDArray[np.bool_]
    alias: NDArray[np.bool_]
    helped: NDArray[np.bool_]  # bases of classic aliases

    @classmethod
    def of(cls, configuration: DeviceConfiguration, most: int) -> Static:
        """Spread the configuration over all device numbers below `most`."""
        import polars as pl

        most = max(most, highest(np.array([*configuration.types], np.int64)))
        flags = np.zeros((4, most), bool)
        types: list[str | None] = [None] * most
        alias_of = types.copy()
        for device, type_ in configuration.types.items():
            types[device] = type_ or None
            flags[1, device] = True
            flags[0, device] = type_ in schema.ECKD_DISKS
        for device, base in configuration.bases.items():
            if flags[0, device] and flags[0, base]:  # a base of another kind is none
                types[device], alias_of[device] = f"->{base:04X}", f"{base:04X}"
                flags[2, device] = flags[3, base] = True
        return cls(pl.Series(types, dtype=pl.String), pl.Series(alias_of, dtype=pl.String), *flags)


def halves_differ(rows: Rows) -> NDArray[np.bool_]:
    """Rows whose counts in 16 and in 32 bits contradict each other."""
    wrong = (rows["SCGSSCH"] & 0xFFFF) != rows["SCMSSCH"]
    wrong |= (rows["SCGCOUNT"] & 0xFFFF) != rows["SCMCOUNT"]
    return np.asarray(wrong)


def most_differ(wrong: NDArray[np.bool_], rows: Rows) -> bool:
    """Whether more than a few of the busy rows contradict themselves."""
    return int(wrong.sum()) > (1 - NEARLY_ALL) * max(int((rows["SCMSSCH"] > 0).sum()), 1)


def widen(rows: Rows) -> None:
    """Let the 16-bit counts of a format-0 system stand in the upper half of 32 bits: they wrap at the same place."""
    for narrow, wide in (("SCMSSCH", "SCGSSCH"), ("SCMCOUNT", "SCGCOUNT")):
        rows[wide] = np.left_shift(rows[narrow], 16, dtype=np.uint32)


def rises(
    rows: Rows, pairs: Pairs, elapsed: Array, *, wide: bool
) -> tuple[dict[str, Words], NDArray[np.bool_]]:
    """Rise of every counter, and the rows whose counters began anew: one fell, and no wrap explains it."""
    found: dict[str, Words] = {}
    restarted = np.zeros(elapsed.size, bool)
    unit = 1 if wide else 2**16
    for names, times, who in ((BASE_EVENTS, BASE_TIMES, "base"), (ALIAS_EVENTS, ALIAS_TIMES, "alias")):
        for name in (*names, *times):
            rise = found[name] = pairs.rise(rows[name])
            fell = pairs.fell(rows[name])
            if fell.any():
                most = MOST_BUSY[who] * elapsed / MONITOR_TIME if name in times else MOST_EVENTS * elapsed
                if name in BASE_EVENTS and not wide:
                    continue  # 16 bits may wrap in any interval
                restarted |= fell & (rise > most)
    if unit > 1:
        for name in BASE_EVENTS:
            found[name] = np.right_shift(found[name], 16, dtype=np.uint32)
    return found, restarted


def queue_fields(rows: Rows, pairs: Pairs) -> tuple[str, str] | None:
    """Which of two fields counts the I/Os found and which the samples: those are the same for all devices of a sample.

    None where neither is, or where nothing was sampled.
    """
    sample = rows["sample"][pairs.now]
    newest = sample == sample[-1]
    for found, sampled in (("HFCTIO", "HFRDEVCT"), ("HFRDEVCT", "HFCTIO")):
        rise = pairs.rise(rows[sampled])[newest]
        if np.median(rise) > 0 and (rise == np.median(rise)).mean() >= MOST:
            return found, sampled
    return None


def times_of_ios(rise: Mapping[str, Words], elapsed: Array) -> dict[str, Array]:
    """Rates and mean times of an I/O [s], NaN without one, and `resolution` of each time by the unit of counters."""
    rates, weights = [], []
    measured = np.zeros(elapsed.size)
    for ssch, count in (BASE_EVENTS, ALIAS_EVENTS):
        rate = rise[ssch] / elapsed
        events = rise[count].astype(float)
        some = events > 0
        weights.append(np.divide(rate, events, out=np.zeros_like(rate), where=some))
        measured += np.where(some, rate, 0.0)
        rates.append(rate)
    unit = np.divide(MONITOR_TIME, measured, out=np.full_like(measured, np.nan), where=measured > 0)
    by_base, by_alias = weights[0] * unit, weights[1] * unit
    found = {"io_rate": rates[0] + rates[1], "alias_rate": rates[1], "resolution": by_base + by_alias}
    for part, base, alias in zip(PARTS, BASE_TIMES, ALIAS_TIMES, strict=True):
        found[part] = by_base * rise[base] + by_alias * rise[alias]
    found["service"] = found["pend"] + found["connect"] + found["disconnect"] + found["active"]
    return found


def roles(
    rows: Rows, pairs: Pairs, bits: PoolBits | None, static: Static
) -> tuple[Integers, NDArray[np.bool_]]:
    """What each row is, as an index into `schema.KINDS`, and whether it belongs to a HyperPAV pool."""
    device = rows["RDEVDEV"][pairs.now]
    flags = rows["RDEVPVFG"][pairs.now]
    blank = (rows["RDEVSER"][pairs.now] & 0xBFBFBFBF) == 0  # X'40' is a blank, X'00' nothing
    plain = np.where(static.known[device], static.eckd[device], ~blank & (rows["EDEVTYPE"][pairs.now] == 0))
    index = {name: schema.KINDS.index(name) for name in schema.KINDS}
    found = np.where(plain, index[schema.VOLUME], index[schema.OTHER])
    found[plain & static.helped[device]] = index[schema.BASE]
    found[static.alias[device]] = index[schema.CLASSIC_ALIAS]
    if bits is None:
        return found, np.zeros(found.size, bool)
    base, alias = (flags & bits.base) != 0, (flags & bits.alias) != 0
    found[base], found[alias] = index[schema.VOLUME], index[schema.ALIAS]
    return found, base | alias


def words_of(codes: NDArray[np.uint64], known: dict[int, str | None]) -> pl.Series:
    """Volume labels from six EBCDIC characters each, packed in a number; null where blank. `known` is filled."""
    import polars as pl

    series = pl.Series(codes)
    different = series.unique().to_list()
    for code in different:
        if code not in known:
            known[code] = code.to_bytes(6, "big").decode(EBCDIC).replace("\0", " ").strip() or None
    return series.replace_strict(different, [known[code] for code in different], return_dtype=pl.String)
