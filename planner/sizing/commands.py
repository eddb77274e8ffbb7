"""What to type for the recommended count: commands of z/VM, Linux and z/OS; their sources are in docs/aliases.md."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Protocol, TypeVar, cast

from planner import render
from planner.answer import tabled
from planner.errors import InputError
from planner.quantity import column

PLATFORMS: Final = ("zvm", "linux", "zos")
DEVICE: Final = re.compile(r"[0-9A-Fa-f]{4}")
Command = tuple[str, str]
"""What to type, and what it is for."""


class Changing(Protocol):
    """An answer that changes counts of aliases."""

    @property
    def changes(self) -> Sequence[tuple[str, int]]:
        """Names, and how many aliases more each takes; none of what stays."""


Counted = TypeVar("Counted", bound=Changing)


def with_commands(answer: Counted, platform: str | None, free: str | None = None) -> Counted:
    """Add to an answer the commands that bring its aliases from those in use to those recommended.

    Parameters
    ----------
    answer : AliasAnswer, VolumesAnswer or Subsystem
        The answer.
    platform : {"zvm", "linux", "zos"} or None
        Who uses the aliases; None leaves the answer as it is.
    free : str, optional
        Alias device numbers to take, as ``"5251-5258,525A"``; words in their place where None.

    Returns
    -------
    AliasAnswer, VolumesAnswer or Subsystem
        The same with its `commands`.

    Raises
    ------
    InputError
        Another platform, no device numbers, or fewer than it takes.
    """
    numbers = to_take(platform, free)
    if platform is None:
        return answer
    wanted = answer.changes
    more = sum(max(change, 0) for _, change in wanted)
    if numbers is not None and len(numbers) < more:
        raise InputError("free", free, f"{more} alias device numbers or more; these are {len(numbers)}")
    found: list[Command] = [] if not wanted else list(_LOOK[platform])
    for name, change in wanted:
        devices = None
        if numbers is not None and change > 0:
            devices, numbers = numbers[:change], numbers[change:]
        found.append(_change(platform, name, change, devices))
    if found and platform == "zvm" and more:
        found.append(("DEFINE HYPERPAVALIAS <vdev> FOR BASE <vdev>", "in a guest with PAV of its own"))
    whole: Any = answer
    return cast("Counted", replace(whole, commands=tuple(found)))


_LOOK: Final[dict[str, tuple[Command, ...]]] = {
    "zvm": (("QUERY PAV ALL", "which aliases there are, and whose"),),
    "linux": (("lsdasd -u", "aliases: UID of their bases, but xx"),),
    "zos": (
        ("D IOS,HYPERPAV", "whether HyperPAV or SuperPAV is on"),
        ("SETIOS HYPERPAV=YES", "on now; HYPERPAV=YES in IECIOSxx for IPL"),
    ),
}


def _change(platform: str, name: str, change: int, devices: Sequence[int] | None) -> Command:
    """What to type for one volume or pool."""
    count = render.counted(abs(change), "alias", "aliases")
    purpose = f"{name}: {count} {'more' if change > 0 else 'less'}"
    if platform == "zos":
        base = f"({name})" if DEVICE.fullmatch(name) else "(<base>)"
        return f"D M=DEV{base}", f"{purpose}: HCD (3390A), storage server"
    form = "0.0.{:04x}" if platform == "linux" else "{:04X}"
    shown = [f"<{count} of {name}>"] if devices is None else _ranges(devices, form)
    if platform == "linux":
        return f"chzdev --{'enable' if change > 0 else 'disable'} dasd {','.join(shown)}", purpose
    verb, side = ("ATTACH", "TO") if change > 0 else ("DETACH", "FROM")
    return f"{verb} {' '.join(shown)} {side} SYSTEM", purpose


def to_take(platform: str | None, free: str | None) -> list[int] | None:
    """Device numbers that may be taken, None for any; refuses what no platform has, before anything is counted."""
    if platform is not None:
        InputError.unless_one_of("commands", platform, PLATFORMS)
    if platform is None and free is not None:
        raise InputError("free", free, "--commands with it")
    return None if free is None else expanded(free)


def expanded(text: str) -> list[int]:
    """Device numbers of a list such as ``5251-5258,525A``, each once."""
    found: dict[int, None] = {}
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        if not DEVICE.fullmatch(low) or (dash and not DEVICE.fullmatch(high)):
            raise InputError("free", text, "alias device numbers, as 5251-5258,525A")
        found.update(dict.fromkeys(range(int(low, 16), int(high or low, 16) + 1)))
    return list(found)


def _ranges(devices: Sequence[int], form: str) -> list[str]:
    """Neighbors as a range."""
    found: list[list[int]] = []
    for device in devices:
        if found and device == found[-1][-1] + 1:
            found[-1].append(device)
        else:
            found.append([device])
    return [form.format(part[0]) + ("" if len(part) == 1 else f"-{form.format(part[-1])}") for part in found]


def section(found: Sequence[Command]) -> tuple[render.Section, ...]:
    """The commands as people see them; none where there are none."""
    if not found:
        return ()
    columns = (column("command", "", "to paste"), column("for"))
    return (render.Section(table=tabled(found, columns)),)
