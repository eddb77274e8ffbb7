"""What one can ask of a kind of device: the keys that can be set, the figures that come back, texts to values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.devices.parameters import Parameter
from planner.errors import InputError
from planner.results import Array
from planner.units import parse, parse_count

Value = float | str
Scenario = Mapping[str, Value]
Figures = dict[str, Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something that can be set beside the parameters of a device.

    Attributes
    ----------
    key : str
        Its name.
    meaning : str
        What it is.
    unit : str
        SI unit: s, 1/s, bytes_per_s; share; empty for a bare number.
    low, high : float
        Smallest and largest value.
    whole : bool
        Whether it is a count.
    words : tuple of str
        What it may say, where it is no number.
    example : str
        How one sets it.
    default : float, str or None
        What holds where it is not set; None where it must be set, unless the model was measured at one value only.
    """

    key: str
    meaning: str
    unit: str = ""
    low: float = 0.0
    high: float = math.inf
    whole: bool = False
    words: tuple[str, ...] = ()
    example: str = ""
    default: Value | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A figure that a device answers with.

    Attributes
    ----------
    key : str
        Its name in an answer.
    label : str
        How people read it.
    unit : str
        In which it is shown.
    factor : float
        SI units in one.
    decimals : int
        Of a table for people.
    error_of : str
        Figure whose size the error of the law is a part of; its own where empty.
    most : float
        Largest value that there can be.
    open_above : bool
        Whether it has no upper end where nothing bounds what is asked of the device.
    """

    key: str
    label: str
    unit: str = ""
    factor: float = 1.0
    decimals: int = 2
    error_of: str = ""
    most: float = math.inf
    open_above: bool = False


def known_keys(
    questions: Sequence[Question], parameters: Sequence[Parameter]
) -> dict[str, Question | Parameter]:
    """All that can be set, questions first.

    Parameters
    ----------
    questions : sequence of Question
        Of a kind of device.
    parameters : sequence of Parameter
        Of the same kind.

    Returns
    -------
    dict
        By key.
    """
    found: dict[str, Question | Parameter] = {each.key: each for each in questions}
    return found | {each.key: each for each in parameters if each.key not in found}


def listed(known: Mapping[str, Question | Parameter]) -> str:
    """Name keys with their units.

    Parameters
    ----------
    known : mapping
        By key.

    Returns
    -------
    str
        For a message.
    """
    return ", ".join(f"{key} [{each.unit}]" if each.unit else key for key, each in known.items())


def read_value(text: str, what: Question | Parameter) -> Value:
    """Read what something is set to.

    Parameters
    ----------
    text : str
        A quantity with its unit, a bare number or a word.
    what : Question or Parameter
        What is set.

    Returns
    -------
    float or str
        SI.

    Raises
    ------
    InputError
        No such value, or a unit is missing.

    Examples
    --------
    >>> read_value("0.2ms", Question(key="think_time", unit="s", meaning="pause"))
    0.0002
    """
    key = what.key
    if isinstance(what, Question) and what.words:
        if text not in what.words:
            raise InputError(key, text, " or ".join(what.words))
        return text
    value = _quantity(text, what)
    if isinstance(what, Question):
        if not what.low <= value <= what.high or (what.whole and not value.is_integer()):
            noun = "a count" if what.whole else "a number"
            most = "" if math.isinf(what.high) else f", at most {what.high:g}"
            raise InputError(key, text, f"{noun} of at least {what.low:g}{most}")
    elif value > what.high or (value == 0 and not what.zero):
        raise InputError(key, text, f"at most {what.high:g}" if value else "a value above zero", what.unit)
    return value


def _quantity(text: str, what: Question | Parameter) -> float:
    if what.unit in {"s", "s_per_mb"}:
        return parse(text, "time", argument=what.key, zero=isinstance(what, Question) or what.zero)
    if what.unit == "1/s":
        return parse(text, "rate", argument=what.key, zero=True)
    if what.unit == "bytes_per_s":
        return parse(text, "data rate", argument=what.key, zero=True)
    if what.unit == "share" and text.strip().endswith("%"):
        return parse(text, "share", argument=what.key, zero=True)
    return parse_count(text, argument=what.key)
