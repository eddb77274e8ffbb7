"""The only place that converts units: factors, parsing of typed quantities, display of quantities.

Inside the planner every number is SI: seconds, 1/second, bytes, shares of one. Sizes of storage follow z/VM: "GB" means
2**30 bytes, like "GiB". So do data rates, "MB/s" means 2**20 bytes a second: published KB/s agree with published page
rates at 1024 bytes, not at 1000. Nominal channel rates are rounded more coarsely than the 5 % between the two.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from numbers import Real
from typing import Any, Final, Literal, NamedTuple, get_args

from planner.errors import InputError

__all__ = ["UNITS", "parse", "share"]

MILLISECOND: Final = 1e-3
MICROSECOND: Final = 1e-6
MONITOR_TIME: Final = 128e-6  # s; unit of the device times in monitor records
FRAME: Final = 4096
ADDRESSES: Final = 256  # per control unit: bases and aliases
MOST_ALIASES: Final = ADDRESSES - 1  # at least one address is a base
SEGMENT: Final = 2**20
GIB: Final = 2**30
KILOBYTE: Final = 2**10
PERCENT: Final = 0.01
MEGABYTE: Final = 2**20

DIGITS: Final = 3  # significant digits of a computed number
EXACT: Final = 9  # significant digits of a given number
SMALL: Final = 1e-4  # a smaller number is written with an exponent
NEXT_TO_NONE: Final = 1e-3  # of its upper end: a value below has the decimals of that end
LARGE: Final = 1e15  # so is a larger one: a float does not hold its digits
MOST_BARE_SHARE: Final = 5.0  # a larger bare number may be a percentage without its sign

Dimension = Literal["time", "rate", "data rate", "storage", "share"]


class Unit(NamedTuple):
    """What a unit means.

    * `dimension`: what it measures; empty for a bare number.
    * `factor`: SI units in one.
    * `typed`: whether people type it after a number; the others are units of columns, keys and models.
    * `suffix`: ending of a key; the unit itself where None, nothing where empty: rates are per second, counts bare.
    * `shown`: unit in which people see a number that is kept in this one.
    """

    dimension: Dimension | Literal[""]
    factor: float
    typed: bool = True
    suffix: str | None = None
    shown: str = ""


def _typed(dimension: Dimension, factors: dict[str, float]) -> dict[str, Unit]:
    return {name: Unit(dimension, factor) for name, factor in factors.items()}


# The only map of units: factors, keys of files, columns of tables and the units that may be typed.
UNITS: Final[dict[str, Unit]] = {
    **_typed("time", {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}),
    **_typed("rate", {"/s": 1.0, "/min": 1 / 60, "/h": 1 / 3600}),
    **_typed("data rate", {
        "B/s": 1.0, "KB/s": 2.0**10, "KiB/s": 2.0**10, "MB/s": 2.0**20, "MiB/s": 2.0**20, "GB/s": 2.0**30,
        "GiB/s": 2.0**30,
    }),
    **_typed("storage", {
        "B": 1.0, "KB": 2.0**10, "KiB": 2.0**10, "MB": 2.0**20, "MiB": 2.0**20, "GB": 2.0**30, "GiB": 2.0**30,
        "G": 2.0**30, "TB": 2.0**40, "TiB": 2.0**40, "T": 2.0**40, "frames": float(FRAME),
    }),
    **_typed("share", {"%": 0.01}),
    "": Unit("", 1.0, typed=False, suffix=""),
    "s": Unit("time", 1.0, shown="ms"),
    "1/s": Unit("rate", 1.0, typed=False, suffix=""),
    "share": Unit("share", 1.0, typed=False, suffix=""),
    "percent": Unit("share", 0.01, typed=False),
    "bytes": Unit("storage", 1.0, typed=False, shown="GB"),
    "kb": Unit("storage", 2.0**10, typed=False),
    "mb": Unit("storage", 2.0**20, typed=False),
    "bytes_per_s": Unit("data rate", 1.0, typed=False, shown="MB/s"),
    "s_per_mb": Unit("time", 1.0, typed=False, shown="ms/MB"),
    "ms/MB": Unit("time", 1e-3, typed=False, suffix="ms_per_mb"),
    "us/page": Unit("time", 1e-6, typed=False, suffix="us_per_page"),
    "MB/s": Unit("data rate", 2.0**20, suffix="mb_per_s"),
}  # fmt: skip
FACTORS: Final[dict[Dimension, dict[str, float]]] = {
    dimension: {
        name: unit.factor for name, unit in UNITS.items() if unit.typed and unit.dimension == dimension
    }
    for dimension in get_args(Dimension)
}
EXAMPLES: Final[dict[Dimension, str]] = {
    "time": "a time such as 1.3ms",
    "rate": "a rate such as 755/s",
    "data rate": "a data rate such as 50MB/s",
    "storage": "a size such as 256GB",
    "share": "a share such as 5%",
}
SPANS: Final[dict[str, str]] = {  # ranges as users type them, by dimension
    "time": "0.1ms:1ms:0.1ms",
    "rate": "100/s:500/s:100/s",
    "data rate": "10MB/s:50MB/s:10MB/s",
}


def suffix(unit: str) -> str:
    """Suffix that a key gets for its unit.

    >>> suffix("ms"), suffix("MB/s"), suffix("1/s")
    ('_ms', '_mb_per_s', '')
    """
    known = UNITS.get(unit)
    text = unit.replace("/", "_per_") if known is None or known.suffix is None else known.suffix
    return f"_{text}" if text else ""


def shown(unit: str) -> tuple[str, float]:
    """Unit in which people see a number, and its factor.

    >>> shown("s"), shown("1/s")
    (('ms', 0.001), ('1/s', 1.0))
    """
    name = UNITS[unit].shown or unit
    return name, UNITS[name].factor / UNITS[unit].factor


def rounded(value: float, most: int | None = None, digits: int = DIGITS) -> tuple[float, int]:
    """Round to significant digits, at most `most` of them after the point; also return the digits after the point.

    >>> rounded(12246.3), rounded(1.2864), rounded(0.05134, 2)
    ((12200.0, 0), (1.29, 2), (0.05, 2))
    """
    if not math.isfinite(value) or not value:
        return value + 0.0, 0
    size = math.floor(math.log10(abs(float(f"{value:.{digits}g}"))))  # of 9.996 that of 10.0
    places = digits - 1 - size if most is None else min(digits - 1 - size, most)
    return round(value, places) + 0.0, max(places, 0)  # no -0.0


def readable(value: float, most: int | None = None, digits: int = DIGITS, *, zeros: bool = False) -> str:
    """Write a number for people: the one format of sentences, tables, tiles and pictures.

    >>> readable(12246.3), readable(12246), readable(1.2864), readable(0.05134, 2), readable(1.3, zeros=True)
    ('12,200', '12,246', '1.29', '0.05', '1.30')
    """
    if hasattr(value, "__index__"):
        return f"{value:,}"
    value = float(value)
    if not math.isfinite(value):
        return "-" if math.isnan(value) else "saturated"
    if (most is None and 0 < abs(value) < SMALL) or abs(value) > LARGE:
        return f"{value:.{digits}g}"
    value, places = rounded(value, most, digits)
    text = f"{value:,.{places}f}"
    return text if zeros or "." not in text else text.rstrip("0").rstrip(".")


def given(value: float) -> str:
    """Write a given number with all its digits.

    >>> given(58_620.5), given(0.30000000000000004)
    ('58,620.5', '0.3')
    """
    return readable(value, digits=EXACT)


def percent(part: float, digits: int = DIGITS, *, signed: bool = False) -> str:
    """Write a share of one in percent; to a tenth if it is at least one percent.

    >>> percent(0.05), percent(0.1234), percent(-0.031, signed=True)
    ('5 %', '12.3 %', '-3.1 %')
    """
    most = digits - 2 if abs(part) >= PERCENT else None
    return f"{'+' if signed and part > 0 else ''}{readable(float(100 * part), most, digits)} %"


def ends(of: Iterable[float], most: int | None = None, digits: int = DIGITS) -> tuple[str, str, str]:
    """Write the ends of an interval and the value between them, with at most as many decimals as the value.

    >>> ends((9.862, 10.18, 10.871)), ends((0.4, 1.2, 230.0)), ends((0.0, 4.9e-10, 0.00524))
    (('9.9', '10.2', '10.9'), ('0.40', '1.20', '230'), ('0', '0.00000', '0.00524'))
    """
    low, value, high = of
    small = abs(value) < NEXT_TO_NONE * abs(high) < math.inf
    most = rounded(high if small or not value else value, most, digits)[1]
    first, middle, last = (readable(end, most, digits, zeros=True) for end in (low, value, high))
    return first, middle, last


_NUMBER: Final = re.compile(
    r"\s*(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<unit>\S*)\s*", re.ASCII
)


def _split(text: str, dimension: Dimension, argument: str) -> tuple[str, float]:
    """Split `text` into the digits of its number and the factor of its unit."""
    factors = FACTORS[dimension]
    expected = f"{EXAMPLES[dimension]} (units: {', '.join(factors)})"
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise InputError(argument, text, expected)
    if match["unit"] not in factors:
        missing = "a unit is missing" if not match["unit"] else f"no such unit {match['unit']!r}"
        missing = "a decimal point, no comma" if match["unit"].startswith(",") else missing
        raise InputError(argument, text, f"{expected}; {missing}")
    return match["number"], factors[match["unit"]]


def parse(text: str, dimension: Dimension, *, argument: str = "value", zero: bool = False) -> float:
    """Read a quantity with its unit.

    Parameters
    ----------
    text : str
        Number and unit, as in ``1.3ms``, ``755/s``, ``256 GiB`` or ``5%``.
    dimension : {"time", "rate", "data rate", "storage", "share"}
        What the number measures.
    argument : str, optional
        Name to use in an error message.
    zero : bool, optional
        Whether 0 is allowed. Negative values never are.

    Returns
    -------
    float
        The quantity in SI units [s], [1/s], [bytes/s], [bytes] or share of one.

    Raises
    ------
    InputError
        The unit is missing or unknown, or the number is negative, not finite, or zero where it must not be.

    Examples
    --------
    >>> parse("1.5 ms", "time")
    0.0015
    >>> parse("256GB", "storage") == 256 * 2**30
    True
    >>> parse("17 MB/s", "data rate") == 17 * 2**20
    True
    """
    number, factor = _split(text, dimension, argument)
    value = float(number) * factor
    if not math.isfinite(value) or value < 0 or (value == 0 and not zero):
        much = math.isinf(value) and value > 0
        wanted = ", not as large" if much else "" if zero else ", greater than zero"
        raise InputError(argument, text, EXAMPLES[dimension] + wanted)
    return value


def share(given: str | float, argument: str, *, zero: bool = True) -> float:
    """Read a share of one: ``30%``, or a bare number such as 0.3.

    Parameters
    ----------
    given : str or float
        With a percent sign, or a bare number.
    argument : str
        Name to use in an error message.
    zero : bool, optional
        Whether 0 is allowed. Negative values never are.

    Returns
    -------
    float
        Share of one.

    Raises
    ------
    InputError
        Not a share, negative, not finite, zero where it must not be, or a bare number of 5 or more (perhaps percent).

    Examples
    --------
    >>> share("30%", "growth"), share(0.3, "growth"), share("0.3", "growth")
    (0.3, 0.3, 0.3)
    """
    wanted = "a share such as 30% or 0.3" + ("" if zero else ", greater than zero")
    text = str(given).strip()
    if text.endswith("%"):
        return parse(text, "share", argument=argument, zero=zero)
    value = _bare(text)
    if math.isnan(value) or (value == 0 and not zero):
        raise InputError(argument, given, wanted)
    if value >= MOST_BARE_SHARE:
        raise InputError(argument, given, f"{wanted}; {text} times itself, or {text}%? Add a percent sign")
    return value


def parse_count(text: str, *, argument: str = "value") -> float:
    """Read a bare number: a count or a mean count.

    >>> parse_count("1.84")
    1.84
    """
    value = _bare(text)
    if math.isnan(value):
        raise InputError(argument, text, f"a bare number of zero or more, such as 1.84{_comma(text)}")
    return value


def _comma(text: str) -> str:
    """Hint for a decimal comma."""
    return "; a decimal point, no comma" if re.fullmatch(r"\s*\d*,\d+%?\s*", text) else ""


def _bare(text: str) -> float:
    """A finite number of zero or more without a unit, else nan."""
    match = _NUMBER.fullmatch(text)
    value = math.nan if match is None or match["unit"] else float(match["number"])
    return value if 0 <= value < math.inf else math.nan


def resolution(text: str, dimension: Dimension, *, argument: str = "value") -> float:
    """Half a unit of the last digit that `text` shows, in SI units.

    >>> resolution("755/s", "rate")
    0.5
    """
    number, factor = _split(text, dimension, argument)
    return half_digit(number) * factor


PRINTED: Final = 12
"""Most significant digits of a printed number; a computed one has more."""


def half_digit(number: str) -> float:
    """Half a unit of the last digit of a decimal number.

    >>> half_digit(".20"), half_digit("755")
    (0.005, 0.5)
    """
    mantissa, _, exponent = number.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return float(f"5e{int(exponent or 0) - decimals - 1}")


def parse_share(text: str, *, argument: str = "value") -> float:
    """Read a share, as a bare number or in percent.

    >>> parse_share("90%")
    0.9
    """
    digits = text.strip()
    value = _bare(digits.removesuffix("%")) / (100 if digits.endswith("%") else 1)
    if not value <= 1:
        raise InputError(argument, text, f"a share from 0 to 1, or 0% to 100%{_comma(text)}")
    return value


def parse_ratio(text: str, *, argument: str = "value") -> float:
    """Read a ratio of reads to writes as the share of reads.

    >>> parse_ratio("70:30")
    0.7
    """
    read, colon, written = text.partition(":")
    if not colon:
        raise InputError(argument, text, "read to written, such as 70:30")
    parts = [parse_count(part, argument=argument) for part in (read, written)]
    _, power = math.frexp(max(parts))
    # the same ratio, scaled so that the sum does not overflow
    one, other = (math.ldexp(part, -power) for part in parts)
    if one + other == 0:
        raise InputError(argument, text, "read to written, at least one of them above zero")
    return one / (one + other)


def is_number(value: Any) -> bool:
    """Whether the value is one real number: no text, no bool, no array of several."""
    value = value.item() if getattr(value, "ndim", None) == 0 else value
    return isinstance(value, Real) and not isinstance(value, bool)
