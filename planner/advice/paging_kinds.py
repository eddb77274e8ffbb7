"""The shipped kinds of paging device, and where each was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from planner import library
from planner.devices.paging import PagingDevice
from planner.errors import InputError

PAGING_KINDS: Final = ("eckd", "emulated-fba", "xiv-serialized", "xiv-concurrent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of paging device: `name`, the `device`, and the `model` that it was read from."""

    name: str
    device: PagingDevice
    model: library.Model

    @property
    def machine(self) -> str:
        """Machine that its processor times were measured on."""
        return self.model.environment["machine"]

    @property
    def most_requests(self) -> float:
        """Most requests per device that were measured."""
        return self.model.validity["outstanding"][1]


def kinds(names: Sequence[str] = ()) -> list[Kind]:
    """Read the shipped kinds of paging device.

    Parameters
    ----------
    names : sequence of str, optional
        Which; all where empty.

    Returns
    -------
    list of Kind
        In the order asked for.

    Raises
    ------
    InputError
        There is no such kind.
    """
    found = []
    for name in names or PAGING_KINDS:
        if name not in PAGING_KINDS:
            raise InputError("kind", name, f"one of {', '.join(PAGING_KINDS)}")
        model = library.read_model(f"paging-{name}")
        found.append(Kind(name=name, device=PagingDevice.from_model(model), model=model))
    return found
