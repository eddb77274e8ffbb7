"""Table of the device kinds that can be fitted and asked: name and class, one line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Protocol

from planner.devices.channel_program import ChannelProgram
from planner.devices.disk import DiskPath
from planner.devices.paging import PagingDevice
from planner.devices.parameters import Figures, Scenario
from planner.devices.pool import Pool, Volume
from planner.devices.processors import Processors
from planner.quantity import Quantity
from planner.results import Array


class DeviceKind(Protocol):
    """Interface of a device class; mypy checks it for every entry of `KINDS`.

    `PARAMETERS` are in a model file and found by a fit, `QUESTIONS` are the other inputs, `FIGURES` the outputs; `ask`
    takes parameters, each of shape (sets,), and scenarios, and returns figures of shape (sets, scenarios).
    """

    PARAMETERS: ClassVar[tuple[Quantity, ...]]
    QUESTIONS: ClassVar[tuple[Quantity, ...]]
    FIGURES: ClassVar[tuple[Quantity, ...]]

    @classmethod
    def ask(cls, values: Mapping[str, Array], scenarios: Sequence[Scenario]) -> Figures:
        """Answer scenarios for parameter sets."""


KINDS: Final[Mapping[str, type[DeviceKind]]] = {
    "volume": Volume,
    "pool": Pool,
    "paging": PagingDevice,
    "disk": DiskPath,
    "channel-program": ChannelProgram,
    "processors": Processors,
}
