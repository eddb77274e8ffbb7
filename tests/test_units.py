"""Quantities with their unit: what people type is read in SI, everything else is refused by name."""

from __future__ import annotations

import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import units
from planner.errors import InputError
from planner.units import Dimension, ends, half_digit, parse, parse_ratio, percent, readable, resolution

DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
UNITS = [(dimension, unit) for dimension in DIMENSIONS for unit in units.FACTORS[dimension]]
MAGNITUDES = st.floats(min_value=1e-9, max_value=1e12, allow_subnormal=False)


@pytest.mark.parametrize(
    ("text", "dimension", "expected"),
    [
        ("1.3ms", "time", 0.0013),
        (" 1.3 ms ", "time", 0.0013),
        (".2 ms", "time", 0.0002),
        ("40us", "time", 40e-6),
        ("40µs", "time", 40e-6),
        ("2 min", "time", 120.0),
        ("1e3 ns", "time", 1e-6),
        ("755/s", "rate", 755.0),
        ("+60 /min", "rate", 1.0),
        ("256GB", "storage", 256 * 2.0**30),
        ("256 GiB", "storage", 256 * 2.0**30),
        ("256G", "storage", 256 * 2.0**30),
        ("1 frames", "storage", 4096.0),
        ("17 MB/s", "data rate", 17 * 2.0**20),
        ("24635KB/s", "data rate", 24635 * 1024.0),
        ("5%", "share", 0.05),
        ("130 %", "share", 1.3),
    ],
)
def test_what_people_type_is_read_in_si(text: str, dimension: Dimension, expected: float) -> None:
    assert math.isclose(parse(text, dimension), expected, rel_tol=1e-15)


@given(number=MAGNITUDES, place=st.sampled_from(UNITS), gap=st.sampled_from(["", " ", "\t"]))
def test_a_formatted_number_reads_back(number: float, place: tuple[Dimension, str], gap: str) -> None:
    dimension, unit = place
    assert parse(f"{number!r}{gap}{unit}", dimension) == number * units.FACTORS[dimension][unit]


@given(number=MAGNITUDES, dimension=st.sampled_from(DIMENSIONS))
def test_a_bare_number_is_refused_and_told_what_it_lacks(number: float, dimension: Dimension) -> None:
    with pytest.raises(
        InputError, match=r"^service = .*: expected .*units: .*; a unit is missing$"
    ) as caught:
        parse(repr(number), dimension, argument="service")
    assert units.EXAMPLES[dimension] in str(caught.value)


@given(number=MAGNITUDES, place=st.sampled_from(UNITS), dimension=st.sampled_from(DIMENSIONS))
def test_a_unit_of_something_else_is_refused(
    number: float, place: tuple[Dimension, str], dimension: Dimension
) -> None:
    if place[0] != dimension:
        with pytest.raises(InputError, match="no such unit"):
            parse(f"{number!r}{place[1]}", dimension)


def test_a_decimal_comma_is_named() -> None:
    with pytest.raises(InputError, match=r"a decimal point, no comma$"):
        parse("1,3ms", "time")


@given(number=MAGNITUDES, place=st.sampled_from(UNITS))
def test_a_negative_quantity_is_refused_even_where_zero_is_allowed(
    number: float, place: tuple[Dimension, str]
) -> None:
    with pytest.raises(InputError):
        parse(f"-{number!r}{place[1]}", place[0], zero=True)


@pytest.mark.parametrize("text", ["nan ms", "NaNms", "inf ms", "1e999 ms", "", "ms", "one ms", "1.2.3 ms"])
def test_what_is_no_finite_number_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"a time such as 1\.3ms"):
        parse(text, "time")


def test_a_decimal_comma_and_digits_of_other_scripts_are_refused() -> None:
    for text in ("1,3ms", "1 300/s", "\N{FULLWIDTH DIGIT ONE}ms"):
        with pytest.raises(InputError):
            parse(text, "time")


def test_zero_needs_permission() -> None:
    assert parse("0 ms", "time", zero=True) == 0
    with pytest.raises(InputError, match="greater than zero"):
        parse("0 ms", "time")


@pytest.mark.parametrize(
    ("text", "dimension", "expected"),
    [
        ("755/s", "rate", 0.5),
        ("1.3ms", "time", 0.05e-3),
        (".20 ms", "time", 0.005e-3),
        ("5%", "share", 0.005),
    ],
)
def test_resolution_is_half_a_unit_of_the_last_digit(
    text: str, dimension: Dimension, expected: float
) -> None:
    assert math.isclose(resolution(text, dimension), expected, rel_tol=1e-15)


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=3), st.integers(min_value=-20, max_value=400))
def test_half_a_digit_moves_with_the_exponent_and_never_overflows_loudly(number: object, power: int) -> None:
    assert half_digit(f"{number}e{power}") == float(f"5e{power - 4}")


def test_resolution_needs_a_unit() -> None:
    with pytest.raises(InputError, match="a unit is missing"):
        resolution("755", "rate")


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.3 - 0.1, "0.2"), (20_000.0, "20,000"), (5e6, "5,000,000"), (0.0, "0"), (-2.5, "-2.5"), (16_384.0, "16,400"),
     (16_384, "16,384"), (999_999.0, "1,000,000"), (0.051281, "0.0513"), (9.996, "10"), (2.34e-5, "2.34e-05"),
     (1e30, "1e+30"), (math.inf, "saturated"), (math.nan, "-")],
)  # fmt: skip
def test_numbers_have_three_digits_and_thousands_apart(value: float, words: str) -> None:
    assert readable(value) == words


@given(st.floats(1e-3, 1e9), st.integers(0, 4), st.booleans())
def test_what_is_read_is_the_number_to_its_last_digit(value: float, most: int, zeros: bool) -> None:
    text = readable(value, most, zeros=zeros)
    error = max(half_digit(f"{value:.2e}"), 0.5 * 10.0**-most)
    assert abs(float(text.replace(",", "")) - value) <= error * (1 + 1e-9)
    assert len(text.partition(".")[2]) <= most


@given(st.lists(st.floats(1e-3, 1e6), min_size=3, max_size=3))
def test_ends_have_no_more_decimals_than_what_lies_between_them(values: list[float]) -> None:
    low, value, high = ends(sorted(values))
    assert len(value.partition(".")[2]) >= max(len(end.partition(".")[2]) for end in (low, high))
    assert float(low.replace(",", "")) <= float(value.replace(",", "")) <= float(high.replace(",", ""))


def test_a_share_keeps_what_is_small() -> None:
    assert [percent(each) for each in (0.0, 0.00043, 0.0512, 0.12345, 0.9999, 2.0)] == [
        "0 %", "0.043 %", "5.1 %", "12.3 %", "100 %", "200 %",
    ]  # fmt: skip
    assert percent(0.99925, 5) == "99.925 %"


@pytest.mark.parametrize(
    ("text", "read"),
    [("70:30", 0.7), ("1e308:1e308", 0.5), ("5e-324:5e-324", 0.5), ("0:1e308", 0.0), ("3:0", 1.0)],
)
def test_a_ratio_is_a_share_however_large_or_small_its_parts_are(text: str, read: float) -> None:
    assert parse_ratio(text) == read


def test_a_number_beyond_the_floats_is_too_large_and_not_too_small() -> None:
    with pytest.raises(InputError, match="not as large"):
        parse("1e300TB", "storage")


def test_what_rounds_to_zero_has_no_sign() -> None:
    assert {readable(value, 1, zeros=True) for value in (-0.04, 0.04)} == {"0.0"}
    assert readable(-0.0) == "0"
