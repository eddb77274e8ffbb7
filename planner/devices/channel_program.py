"""Channel programs: CP processor time per megabyte to translate them, from four costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

import numpy as np

from planner.devices import parameters
from planner.devices.parameters import Figures, Scenario
from planner.errors import InputError
from planner.library import Model
from planner.quantity import Quantity
from planner.queueing import checks
from planner.results import Array
from planner.units import MEGABYTE, is_number

KIND: Final = "channel-program"
WIDTHS: Final = (31, 64)


def _cost(key: str, symbol: str, meaning: str) -> Quantity:
    text = f"CP processor time per MB: {meaning}"
    return Quantity(key=key, symbol=symbol, unit="s_per_mb", low=0, high=1, default=0, meaning=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelProgram:
    """CP processor time of disk I/O through channel programs, per MB moved [s/MB].

    Each cost is for all the instructions that 31-bit I/O needs for one MB: `ssch_time` for its Start Subchannels,
    `ssch_64_time` the extra cost of the same number of 64-bit Start Subchannels, `fast_ccw_time` and `slow_ccw_time`
    for its CCWs with fast and slow translation. `read_factor` is the cost of reading over that of writing.
    The number of instructions was not published, so the cost of one is unknown.
    """

    ssch_time: float
    ssch_64_time: float
    fast_ccw_time: float
    slow_ccw_time: float
    read_factor: float = 1.0
    PARAMETERS: ClassVar[tuple[Quantity, ...]] = (
        _cost("ssch_time", "a", "the Start Subchannels of 31-bit I/O"),
        _cost("ssch_64_time", "b", "extra cost of the same number of 64-bit Start Subchannels"),
        _cost("fast_ccw_time", "f", "its CCWs, translated fast"),
        _cost("slow_ccw_time", "s", "its CCWs, translated slowly"),
        Quantity(
            key="read_factor", symbol="r", unit="", low=0.1, high=10, default=1,
            meaning="CP processor time per MB read over that per MB written",
        ),
    )  # fmt: skip
    QUESTIONS: ClassVar[tuple[Quantity, ...]] = (
        Quantity(key="bits", meaning="31 or 64: width of the addresses", words=tuple(map(str, WIDTHS)),
                 example="bits=64"),
        Quantity(key="translation", meaning="fast or slow", words=("fast", "slow"), default="fast",
                 example="translation=slow"),
        Quantity(key="read_share", meaning="part of the data that is read", unit="share", high=1.0, default=0.0,
                 example="read_share=0.7"),
        Quantity(key="data_rate", meaning="data moved", unit="bytes_per_s", default=float(MEGABYTE),
                 example="data_rate=50MB/s"),
    )  # fmt: skip
    FIGURES: ClassVar[tuple[Quantity, ...]] = (
        Quantity(key="cp", label="CP", unit="ms/MB", decimals=3),
        Quantity(key="processors", label="processors", decimals=4),
        Quantity(key="saving", label="fast saves", unit="share", decimals=3, error_of="left", high=1.0),
    )

    @classmethod
    def ask(cls, values: Mapping[str, Array], scenarios: Sequence[Scenario]) -> Figures:
        """Figures; `left` is the share of time left after the saving, times sqrt(2) for the error of two runs."""
        columns: dict[str, Any] = {parameter.key: values[parameter.key] for parameter in cls.PARAMETERS}
        program = cls(**columns)  # for all parameter sets at once
        shares = [(int(at["bits"]), at["translation"] == "fast", float(at["read_share"])) for at in scenarios]
        cp = np.stack(
            [program.time_per_mb(bits, fast=fast, read_share=part) for bits, fast, part in shares], axis=-1
        )
        saving = np.stack([program.saving(bits) for bits, *_ in shares], axis=-1)
        rates = [float(at["data_rate"]) for at in scenarios]
        moved = checks.nonnegative("data_rate", rates, "bytes/s") / MEGABYTE
        return {"cp": cp, "saving": saving, "processors": cp * moved, "left": (1 - saving) * 2**0.5}

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Take the costs from a model."""
        return cls(**parameters.values(model, KIND, cls.PARAMETERS))

    def time_per_mb(self, bits: int, *, fast: bool, read_share: float = 0.0) -> float:
        """CP processor time per MB moved.

        A 64-bit channel program has half as many CCWs, so that a MB takes twice the Start Subchannels and as many CCWs:

            31-bit: a + f,  64-bit: 2 (a + b) + f,  with s instead of f where translation is slow.

        >>> program = ChannelProgram(ssch_time=6e-4, ssch_64_time=4e-4, fast_ccw_time=0, slow_ccw_time=9e-4)
        >>> round(program.time_per_mb(64, fast=True) * 1e3, 6)
        2.0
        """
        if bits not in WIDTHS:
            raise InputError("bits", bits, "31 or 64")
        if not is_number(read_share) or not 0 <= read_share <= 1:
            raise InputError("read_share", read_share, "a share from 0 to 1")
        ssch = self.ssch_time if bits == min(WIDTHS) else 2 * (self.ssch_time + self.ssch_64_time)
        written = ssch + (self.fast_ccw_time if fast else self.slow_ccw_time)
        return written * (1 + read_share * (self.read_factor - 1))

    def saving(self, bits: int) -> float:
        """Share of the CP processor time per MB that fast translation saves."""
        slow = self.time_per_mb(bits, fast=False)
        if np.all(slow == 0):
            wanted = "one of them above zero: a saving is a share of what slow translation costs"
            raise InputError("ssch_time, slow_ccw_time", 0, wanted, "s/MB")
        nothing = slow == 0  # of several possible sets of costs: such a set saves none
        return 1 - (self.time_per_mb(bits, fast=True) + nothing) / (slow + nothing)
