"""Topic of storage limits: what real storage and the PTRM data spaces allow of virtual storage in use."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import sympy
from sympy import Integer, Min, Symbol, floor

from planner.devices.storage import FRAMES_PER_PGMBK, SEGMENTS_PER_PTRM_SPACE, ptrm_limit, real_storage_limit
from planner.explain.topic import MOST, TINY, Equation, Exact, Topic
from planner.quantity import Quantity
from planner.units import FRAME, SEGMENT

storage = Symbol("M", positive=True)
pages = Symbol("p", positive=True)
spaces = Symbol("D", positive=True, integer=True)
needed, frames, by_storage, by_ptrm, segments, virtual = sympy.symbols("f F N_M N_D N V")


def _equations(exact: Exact) -> tuple[Equation, ...]:
    return (
        Equation(needed, FRAMES_PER_PGMBK + pages, "frames of an in-use segment: PGMBK and pages"),
        Equation(frames, floor(storage / FRAME), "frames of real storage"),
        Equation(by_storage, floor(frames / needed), "in-use segments that real storage holds"),
        Equation(
            by_ptrm,
            Integer(SEGMENTS_PER_PTRM_SPACE) * spaces,
            "in-use segments that the PTRM data spaces hold",
        ),
        Equation(segments, Min(by_storage, by_ptrm), "in-use segments, by the limit met first"),
        Equation(virtual, Integer(SEGMENT) * segments, "in-use virtual storage", "bytes"),
    )


def _numerical(values: Mapping[str, float]) -> dict[str, float]:
    pages_each = Fraction(values["resident_pages"]).limit_denominator()
    real = real_storage_limit(int(values["real_storage"]), pages_each)
    ptrm = ptrm_limit(int(values["ptrm_spaces"]))
    first = min(real, ptrm, key=lambda limit: limit.segments)
    return {"N_M": real.segments, "N_D": ptrm.segments, "N": first.segments, "V": first.in_use_virtual_bytes}


STORAGE_LIMIT = Topic(
    name="storage-limit",
    title="How much virtual storage can be in use",
    inputs=(
        Quantity("real_storage", "real storage", "bytes", symbol=storage, low=TINY, default="256GB"),
        Quantity("resident_pages", "resident pages of a segment, 1 to 256", symbol=pages, low=1, default="50"),
        Quantity("ptrm_spaces", "PTRM data spaces of 4 GB", symbol=spaces, whole=True, low=1, high=MOST, default="16"),
    ),
    equations=_equations,
    answer=virtual,
    numerical=_numerical,
    assumptions=(
        "a 1 MB segment is in use if one of its 256 pages is resident; then its PGMBK is, too",
        "a PGMBK takes two frames of 4 KB; from z/VM 5.3 on it may reside above 2 GB",
        "real storage is a soft limit: above it the system pages",
        "PTRM data spaces are a hard limit: above it CP abends",
        "real storage holds nothing else",
    ),
    over="resident_pages",
    source="IBM, z/VM Performance Report, Improved Real Storage Scalability (z/VM 5.3)",
)  # fmt: skip
