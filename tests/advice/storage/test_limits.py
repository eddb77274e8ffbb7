"""Limits of in-use virtual storage: every calculation of the report, ties, what binds, and the domain."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.advice.storage import StorageBudget
from planner.devices.storage import release, releases
from planner.errors import InputError
from planner.units import FRAME, GIB, SEGMENT

TIB = 1024 * GIB


def budget(**changed: Any) -> StorageBudget:
    return StorageBudget(**{"release": "5.3", "real_storage": "256GB", "resident_pages": 50, **changed})


def in_use(name: str, **changed: Any) -> int:
    (limit,) = (limit for limit in budget(**changed).limits().limits if limit.name == name)
    return limit.in_use_virtual_bytes


def test_52_has_256_gb_below_the_2_gb_line() -> None:
    limits = budget(release="5.2", real_storage="128GB", resident_pages=10).limits()
    assert limits.binding.name == "PGMBK-below-2GB"
    assert limits.binding.kind == "soft"
    assert limits.binding.segments == 262_144
    assert limits.binding.in_use_virtual_bytes == 256 * GIB


def test_below_2_gb_counts_the_smaller_of_real_storage_and_2_gb() -> None:
    assert in_use("PGMBK-below-2GB", release="5.2", real_storage="1GB") == 128 * GIB
    assert in_use("PGMBK-below-2GB", release="5.2", real_storage="2GB") == 256 * GIB


def test_256_gb_with_50_resident_pages() -> None:
    limits = budget().limits()
    assert limits.binding.name == "real-storage"
    assert limits.binding.segments == 1_290_555
    assert round(limits.binding.in_use_virtual_bytes / GIB) == 1260
    assert round(limits.binding.in_use_virtual_bytes / TIB, 2) == 1.23


def test_256_gb_with_one_resident_page() -> None:
    assert round(in_use("real-storage", resident_pages=1) / TIB, 1) == 21.3
    assert budget(resident_pages=1).limits().binding.name == "PTRM-data-spaces"


def test_a_ptrm_space_holds_524288_pgmbks_and_16_map_8_tb() -> None:
    (one,) = (x for x in budget(ptrm_spaces=1).limits().limits if x.name == "PTRM-data-spaces")
    assert one.segments == 4 * 1024 * 1024 // 8 == 524_288
    assert one.in_use_virtual_bytes == TIB // 2
    assert one.kind == "hard"
    assert in_use("PTRM-data-spaces") == 8 * TIB


def test_six_pages_is_the_tie_and_the_hard_limit_binds() -> None:
    limits = budget(resident_pages=6).limits()
    assert limits.min_resident_pages_before_ptrm == 6
    assert len({limit.segments for limit in limits.limits}) == 1
    assert limits.binding.name == "PTRM-data-spaces"
    assert budget(resident_pages=5).limits().binding.name == "PTRM-data-spaces"
    assert budget(resident_pages=7).limits().binding.name == "real-storage"


@pytest.mark.parametrize(("users", "percent"), [(4, 97), (5, 121)])
def test_share_below_2_gb_of_the_segment_thrashers(users: int, percent: int) -> None:
    limits = budget(release="5.2", real_storage="120GB", resident_pages=1, in_use=users * 62 * GIB).limits()
    assert limits.binding.used is not None
    assert round(100 * limits.binding.used) == percent
    assert ("exceeded" in limits.text()) == (percent > 100)


@pytest.mark.parametrize(
    "changed", [{"release": "5.2"}, {"real_storage": "64GB"}, {"real_storage": "95.99GB"}]
)
def test_ptrm_that_never_binds_has_no_number_of_pages(changed: dict[str, Any]) -> None:
    assert budget(**changed).limits().min_resident_pages_before_ptrm is None


def test_a_tie_at_one_page_can_bind() -> None:
    limits = budget(real_storage="96GB", resident_pages=1).limits()
    assert limits.binding.name == "PTRM-data-spaces"
    assert limits.min_resident_pages_before_ptrm == 1


@given(
    frames=st.integers(1, 2**31), spaces=st.integers(1, 200), pages=st.integers(1, 256),
    name=st.sampled_from([row.name for row in releases()]),
)  # fmt: skip
def test_the_number_of_pages_is_the_smallest(frames: int, spaces: int, pages: int, name: str) -> None:
    limits = budget(
        release=name, real_storage=frames * FRAME, ptrm_spaces=spaces, resident_pages=pages
    ).limits()
    by_name = {limit.name: limit.segments for limit in limits.limits}
    ptrm = by_name.pop("PTRM-data-spaces")
    first, smallest = ptrm < min(by_name.values()), limits.min_resident_pages_before_ptrm
    assert first == (smallest is not None and pages < smallest)
    assert limits.binding.segments == min(ptrm, *by_name.values())
    assert (limits.binding.kind == "hard") == (ptrm <= min(by_name.values()))
    (told,) = (note for note in limits.notes if note.startswith("PTRM data spaces are "))
    if limits.binding.kind == "hard":
        assert "never" not in told
        assert "at any number" in told or pages <= float(re.findall(r"up to (\S+) resident", told)[0])
    else:
        assert "never" in told or pages > float(re.findall(r"up to (\S+) resident", told)[0])


@pytest.mark.parametrize(("pages", "first"), [(5.9, True), (6, True), (6.1, False)])
def test_at_a_tie_the_mark_and_the_last_line_agree(pages: float, first: bool) -> None:
    limits = budget(resident_pages=pages).limits()
    assert (limits.binding.name == "PTRM-data-spaces") == first
    assert "met first up to 6 resident pages" in limits.text()


@given(frames=st.integers(1, 2**31), pages=st.floats(1, 256))
def test_the_segments_fit_and_one_more_does_not(frames: int, pages: float) -> None:
    answer = budget(real_storage=frames * FRAME, resident_pages=pages)
    (real,) = (limit for limit in answer.limits().limits if limit.name == "real-storage")
    needed = 2 + answer.resident_pages
    assert real.segments * needed <= frames < (real.segments + 1) * needed
    assert math.isclose(float(answer.resident_pages), pages, rel_tol=1e-6)


def test_headroom_may_be_negative_and_is_unknown_without_use() -> None:
    over = budget(in_use="9TB").limits()
    assert [limit.headroom_bytes for limit in over.limits] == [1_290_555 * SEGMENT - 9 * TIB, -TIB]
    assert "CP abends" in over.text()
    assert all(limit.headroom_bytes is None and limit.used is None for limit in budget().limits().limits)


def test_less_real_storage_than_a_segment_needs() -> None:
    limits = budget(real_storage=FRAME, in_use="1GB").limits()
    assert limits.binding.segments == 0
    assert limits.binding.used is None


def test_a_size_is_bytes_or_text() -> None:
    assert budget(real_storage=256 * GIB, in_use=900 * GIB).limits() == budget(in_use="900GB").limits()


def test_what_a_release_does_not_support_is_said() -> None:
    assert "128 GB" in budget(release="5.2").notes[0]
    assert not budget().notes
    assert "--ptrm-spaces" in budget(release="7.3").notes[0]
    assert not budget(release="7.3", ptrm_spaces=16).notes


def test_releases_that_only_memory_speaks_for_are_not_shipped() -> None:
    sizes = {row.name: row.largest_real_storage // GIB for row in releases()}
    assert sizes == {
        "5.2": 128, "5.3": 256, "5.4": 256, "6.1": 256, "6.2": 256, "6.3": 1024, "7.3": 4096, "7.4": 4096,
    }  # fmt: skip
    assert {row.certainty for row in releases()} == {"stated", "public", "inferred"}
    assert [row.name for row in releases() if row.ptrm_certainty == "stated"] == ["5.3"]
    assert [row.name for row in releases() if row.pgmbks_below_2gb] == ["5.2"]
    with pytest.raises(InputError, match=r"5\.2, 5\.3, 5\.4, 6\.1, 6\.2, 6\.3, 7\.3, 7\.4"):
        release("6.4")
    given = budget(release="6.4", ptrm_spaces=128).limits()
    assert "No published source has the limits of z/VM 6.4" in given.notes[-1]
    assert {limit.name: limit.segments for limit in given.limits}["PTRM-data-spaces"] == 128 * 524_288
    with pytest.raises(InputError, match="`ptrm_spaces` gives its number"):
        budget(release="7.2")
    for older in ("4.4", "5.1", "nonsense"):
        with pytest.raises(InputError, match="limits are known"):
            budget(release=older, ptrm_spaces=16)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"release": "9.9"}, "5.2, 5.3"),
        ({"release": 5.3}, "release = 5.3: expected text, such as '5.3'"),
        ({"real_storage": None}, "above zero"),
        ({"resident_pages": "50"}, "1 to 256"),
        ({"real_storage": 0}, "real_storage = 0"),
        ({"real_storage": -1}, "above zero"),
        ({"real_storage": math.nan}, "above zero"),
        ({"real_storage": math.inf}, "above zero"),
        ({"real_storage": "256"}, "a unit is missing"),
        ({"resident_pages": 257}, "1 to 256"),
        ({"resident_pages": 0.5}, "1 to 256"),
        ({"resident_pages": math.nan}, "1 to 256"),
        ({"in_use": 0}, "in_use"),
        ({"in_use": "-1GB"}, "in_use"),
        ({"ptrm_spaces": 0}, "ptrm_spaces"),
        ({"ptrm_spaces": 1.5}, "ptrm_spaces"),
        ({"ptrm_spaces": math.nan}, "ptrm_spaces"),
    ],
)
def test_outside_the_domain(changed: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        budget(**changed)


def test_shown_as_frame_and_html() -> None:
    limits = budget(in_use="900GB").limits()
    assert list(limits.to_frame()["limit"]) == ["real-storage", "PTRM-data-spaces"]
    assert "1,260" in limits._repr_html_()


def test_the_picture_has_every_limit_as_a_line() -> None:
    axes = budget(release="5.2", in_use="100GB").limits().plot()
    assert [each.get_text() for each in axes.texts if ", " in each.get_text()] == [
        "real-storage, soft", "PGMBK-below-2GB, soft", "PTRM-data-spaces, hard",
    ]  # fmt: skip
    real = np.asarray(axes.lines[1].get_xydata())
    assert real[0].tolist() == pytest.approx([1, in_use("real-storage", resident_pages=1) / GIB])
    assert real[-1].tolist() == pytest.approx([256, in_use("real-storage", resident_pages=256) / GIB])


@pytest.mark.parametrize("width", [np.float16, np.float32, np.float64, np.longdouble, np.int32])
def test_numbers_of_any_width_are_numbers(width: type[Any]) -> None:
    assert budget(resident_pages=width(50)).limits() == budget().limits()
    asked = budget(ptrm_spaces=width(16), real_storage=width(2**14)).limits()
    assert asked == budget(ptrm_spaces=16, real_storage=2**14).limits()


@pytest.mark.parametrize(
    ("in_use", "begin"),
    [("900GB", "Up to 1,260 GB"), ("2TB", "2,048 GB (2 TB) of virtual storage in use exceed real-storage, a soft"),
     ("9TB", "9,216 GB (9 TB) of virtual storage in use exceed PTRM-data-spaces, a hard limit of 8,192 GB")],
)  # fmt: skip
def test_the_first_line_says_what_is_exceeded(in_use: str, begin: str) -> None:
    limits = StorageBudget(release="5.3", real_storage="256GB", resident_pages=50, in_use=in_use).limits()
    assert limits.headline.startswith(begin)


@pytest.mark.parametrize(
    ("in_use", "begin"),
    [(2**43, "Up to 8,192 GB"), (2**43 + 2**20, "8,192.001 GB (8 TB) of virtual storage in use exceed"),
     (2**43 + 1, "8,192.000000001 GB (8 TB) of virtual storage in use exceed")],
)  # fmt: skip
def test_a_little_more_than_a_limit_differs_from_it(in_use: int, begin: str) -> None:
    limits = StorageBudget(release="5.3", real_storage="256GB", resident_pages=1, in_use=in_use).limits()
    assert limits.headline.startswith(begin)
    assert "a hard limit of 8,192 GB" in limits.headline or not limits.exceeded


def test_a_large_limit_is_not_rounded_up() -> None:
    """43 PTRM data spaces map 22,016 GB; it read 22,020, and CP abends above the limit."""
    found = budget(real_storage=2**50, resident_pages=1, ptrm_spaces=43).limits()
    assert found.headline.startswith("Up to 22,016 GB")
