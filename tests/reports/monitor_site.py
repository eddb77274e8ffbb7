"""A simulated z/VM system with counters of any size, and its monitor records, where they have 16 and 32 bits."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from planner.reports import schema
from planner.reports.monitor.devices import PAGING
from planner.reports.monitor.reader import WHAT, MonitorTables, batches
from tests.reports.monitor_writer import Run, monwrite, records, rows

UNIT = 128e-6
TIMES = ("FPTIM", "CNTIM", "DDTIM", "DATIM", "CQTIM")
BASE_BIT, ALIAS_BIT = 0x20, 0x08  # anywhere: the reader has to find them


@dataclass
class Site:
    """Devices in an order of their own: bases, then aliases, of pools; then one device that is no disk."""

    name: str = "MVSYS1"
    bases: int = 4
    aliases: int = 3
    pools: int = 2
    seed: int = 1
    aligned: bool = False
    wide: bool = True
    zone: int = 7200
    more: int = 0
    ipl: float = 1.6e9
    first: int = 0x5200
    time: float = 1_700_000_000.0
    count: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    pool_count: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    space_count: NDArray[np.int64] = field(default_factory=lambda: np.zeros((6, 2), np.int64))

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        bases, aliases = self.bases * self.pools, self.aliases * self.pools
        self.devices = np.arange(self.first, self.first + bases + aliases + 1)
        self.is_base = np.arange(self.devices.size) < bases
        self.is_alias = ~self.is_base & (np.arange(self.devices.size) < bases + aliases)
        self.pool = np.where(self.is_base | self.is_alias, np.arange(self.devices.size) % self.pools, 0)
        self.alive = np.ones(self.devices.size, bool)
        self.extra = np.zeros(self.devices.size, np.int64)  # other flags
        self.labelled = self.is_base
        n = self.devices.size
        for name in ("SSCH", "COUNT", *TIMES, "PAVSSCH", "PAVCOUNT", *(f"PAV{each}" for each in TIMES)):
            self.count[name] = self.random.integers(0, 2**20, n)
        for name in ("PAVSSCH", "PAVCOUNT", *(f"PAV{each}" for each in TIMES)):
            self.count[name][~self.is_base] = 0
        self.count["HFRDEVCT"] = np.full(n, 1000)
        self.count["HFCTIO"] = self.random.integers(0, 10**6, n) * self.is_base
        self.pool_count = {
            "TRIES": self.random.integers(0, 10**6, self.pools),
            "FAILS": np.zeros(self.pools, np.int64),
        }
        self.rise: dict[str, NDArray[np.int64]] = {}

    @property
    def labels(self) -> list[str]:
        return [
            f"VL{device:04X}" if labelled else ""
            for device, labelled in zip(self.devices, self.labelled, strict=True)
        ]

    def work(self, seconds: float) -> None:
        """Let time go by: each device does some I/Os."""
        n = self.devices.size
        ios = self.random.integers(1, 900, n) * round(seconds)
        rise = {"SSCH": ios, "COUNT": ios - self.random.integers(0, 2, n)}
        alias_ios = np.where(self.is_base, self.random.integers(0, 500, n) * round(seconds), 0)
        rise |= {"PAVSSCH": alias_ios, "PAVCOUNT": alias_ios}
        for name in TIMES:
            rise[name] = (ios * self.random.uniform(0, 1.5, n)).astype(np.int64)
            rise[f"PAV{name}"] = (alias_ios * self.random.uniform(0, 1.5, n)).astype(np.int64)
        rise["HFRDEVCT"] = np.full(n, round(seconds / 2))
        rise["HFCTIO"] = self.random.integers(0, 4, n) * round(seconds / 2) * self.is_base
        for name, each in rise.items():
            self.count[name] = self.count[name] + each
        tries = self.random.integers(0, 10**4, self.pools)
        pool_rise = {
            "TRIES": tries,
            "FAILS": (tries * self.random.uniform(0, 1, self.pools)).astype(np.int64),
        }
        for name, each in pool_rise.items():
            self.pool_count[name] = self.pool_count[name] + each
        spaces = self.random.integers(0, 10**5, self.space_count.shape)
        self.space_count = self.space_count + spaces
        self.rise = rise | pool_rise | {"spaces": spaces}
        self.time += seconds

    def configuration(self) -> list[bytes]:
        """Records at the start: system, devices, sampling, pools."""
        ckd = np.where(self.is_base | self.is_alias, 0x3390, 0x3088)
        return rows(
            records((1, 4), self.time, {"SYSTMID": self.name, "SYSZONE": self.zone, "SYSTODST": round(self.ipl),
                                        "CALFLG2": 0x80 if self.wide else 0}),
            records((1, 6), self.time, {"RDEVDEV": self.devices, "RDEVSID": self.devices + 0x10000, "RDEVDVID": ckd,
                                        "RDEVSER": self.labels}, self.devices.size),
            records((1, 9), self.time, {"INTERVAL": 60}),
            records((1, 20), self.time, {"HPPOOLNM": np.arange(self.pools)}, self.pools),
        )  # fmt: skip

    def device_records(self) -> NDArray[np.uint8]:
        count = {name: each[self.alive] for name, each in self.count.items()}
        wide = 1 if self.wide else 0
        fields: dict[str, object] = {
            "RDEVDEV": self.devices[self.alive], "RDEVSID": self.devices[self.alive] + 0x10000, "RDEVLPM": 0xF0,
            "RDEVSER": [label for label, alive in zip(self.labels, self.alive, strict=True) if alive],
            "RDEVLCNT": 3, "SCMSSCH": count["SSCH"], "SCMCOUNT": count["COUNT"], "SCGSSCH": count["SSCH"] * wide,
            "SCGCOUNT": count["COUNT"] * wide, "RDEVHPPL": self.pool[self.alive],
            "RDEVPVFG": (self.is_base * BASE_BIT + self.is_alias * ALIAS_BIT + 0x80 + self.extra)[self.alive],
            "HFRDEVCT": count["HFRDEVCT"], "HFCTIO": count["HFCTIO"],
            "PAVSSCH": count["PAVSSCH"], "PAVCOUNT": count["PAVCOUNT"],
        }  # fmt: skip
        for name in TIMES:
            fields[f"SCM{name}"], fields[f"PAV{name}"] = count[name], count[f"PAV{name}"]
        return records((6, 3), self.time, fields, int(self.alive.sum()), aligned=self.aligned, more=self.more)

    def pool_records(self) -> NDArray[np.uint8]:
        fields = {
            "HPPOOLNM": np.arange(self.pools), "HPPNBASE": self.bases, "HPPNALIS": self.aliases,
            "HPPTRIES": self.pool_count["TRIES"], "HPPFAILS": self.pool_count["FAILS"],
            "HPPMINCT": 0, "HPPMAXCT": self.aliases,
        }  # fmt: skip
        return records((6, 28), self.time, fields, self.pools, more=24 if self.more else 0)

    def storage_records(self) -> list[bytes]:
        names = ["PTRM000A", "PTRM0000"]
        space = {"ASCUSRID": "SYSTEM", "ASCNAME": names, "ASCCTPRS": [1000, 524288], "ASCCTPGS": [7, 0]}
        counters = ("ASCCSPST", "ASCCSPGR", "ASCCSPGW", "ASCCSXRD", "ASCCSXWT", "ASCCSMIG")
        space |= dict(zip(counters, self.space_count, strict=True))
        paging = {"CALVSER": "PAGE01", "RDEVDEV": 0x6000, "EXPCTPRD": self.space_count[0, 0],
                  "EXPCTPWR": self.space_count[1, 0], "EXPCURQC": 2}  # fmt: skip
        disk = {"RDEVDEV": 0x7000, "DSKBLKSZ": 512, "DSKXFERS": self.space_count[2, 0],
                "DSKBLKSR": self.space_count[3, 0], "DSKBLKSW": self.space_count[4, 0]}  # fmt: skip
        return rows(
            records((3, 14), self.time, space, 2),
            records((3, 4), self.time, paging),
            records((6, 24), self.time, disk),
        )

    def sample(self) -> Run:
        """All records of a sample, then its end."""
        end = records((1, 11), self.time, {})
        return Run(rows(self.pool_records(), self.device_records()) + self.storage_records() + rows(end))

    def sets(self, samples: int, seconds: float = 60.0) -> list[list[Run]]:
        """Configuration and so many samples."""
        found = [[Run(self.configuration())], [self.sample()]]
        for _ in range(samples - 1):
            self.work(seconds)
            found.append([self.sample()])
        return found


def written(site: Site, samples: int = 3) -> bytes:
    """A MONWRITE file of a system."""
    return monwrite(site.sets(samples))


class Example(Site):
    """One pool of four volumes with two aliases that are too few: the file that docs/monitor.md shows."""

    def work(self, seconds: float) -> None:
        """A load that grows a little from sample to sample."""
        self.load = getattr(self, "load", 0.9) + 0.1
        ios = (self.load * seconds * np.array([420, 380, 240, 90, 310, 290, 3])).astype(np.int64)
        by_alias = (self.load * seconds * np.array([230, 190, 130, 50, 0, 0, 0])).astype(np.int64)
        rise = {"SSCH": ios, "COUNT": ios, "PAVSSCH": by_alias, "PAVCOUNT": by_alias}
        for name, units in zip(TIMES, (1.6, 6.2, 2.1, 0.0, 0.0), strict=True):
            rise[name], rise[f"PAV{name}"] = (
                np.rint(each * units).astype(np.int64) for each in (ios, by_alias)
            )
        sampled = round(seconds / 2)
        rise["HFRDEVCT"] = np.full(7, sampled)
        rise["HFCTIO"] = np.rint(self.load**3 * sampled * np.array([1.1, 0.8, 0.3, 0.0, 0, 0, 0])).astype(
            np.int64
        )
        tries = np.array([round(self.load * seconds * 900)])
        pool = {"TRIES": tries, "FAILS": np.rint(tries * 0.15 * self.load).astype(np.int64)}
        for counts, more in ((self.count, rise), (self.pool_count, pool)):
            for name, each in more.items():
                counts[name] = counts[name] + each
        self.space_count = self.space_count + 1000
        self.rise = rise | pool
        self.time += seconds


def example() -> bytes:
    """The file docs/examples/monitor.monwrite."""
    return written(Example(name="VMSYS1", bases=4, aliases=2, pools=1), 4)


def read_monitor(path: Path | str, data: bytes | None = None, *, pools_known: bool = False) -> MonitorTables:
    """A whole file, or its bytes, with the table of paging volumes."""
    parts = list(batches(path, data, pools_known=pools_known))
    columns = {**schema.TABLES, "paging": PAGING}
    joined = {
        name: schema.join(wanted, [frame for part in parts if (frame := getattr(part, name)) is not None])
        for name, wanted in columns.items()
    }
    return MonitorTables(**joined, notes=parts[-1].notes, what=WHAT)  # type: ignore[arg-type] # names of its fields
