"""What is known of a parameter before a fit, as people type it: think_time=0.2ms."""

from __future__ import annotations

from collections.abc import Sequence

from planner.devices.kinds import KINDS
from planner.errors import InputError
from planner.quantity import listed


def known_values(settings: Sequence[str], kind: str = "volume") -> dict[str, float]:
    """Read what is known of the parameters.

    Parameters
    ----------
    settings : sequence of str
        Key and value of each; a time carries its unit.
    kind : str, optional
        Device kind.

    Returns
    -------
    dict
        SI values by key.

    Raises
    ------
    InputError
        No such parameter, one twice, or no such value.

    Examples
    --------
    >>> known_values(["think_time=0.2ms", "inflation=0"])
    {'think_time': 0.0002, 'inflation': 0.0}
    """
    known = {parameter.key: parameter for parameter in KINDS[kind].PARAMETERS}
    found = {}
    for setting in settings:
        key, sign, text = setting.partition("=")
        if not sign or key not in known:
            raise InputError("--fix", setting, f"KEY=VALUE with a key of {listed(known)}")
        if key in found:
            raise InputError("--fix", f"{key} twice", "each of them once")
        found[key] = float(known[key].read(text))
    return found
