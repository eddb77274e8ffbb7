"""``planner storage`` as people call it: figures of the report, keys of the JSON, bad input, a quick start."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli import main
from planner.library import data_path
from planner.units import GIB

LIMITS = ("limits", "--release", "5.3", "--real-storage", "256GB", "--resident-pages", "50")
LISTINGS = {users: str(data_path("real-storage", f"{users}-users.listing")) for users in (4, 5, 128)}
TEXT = {users: Path(name).read_text(encoding="utf-8") for users, name in LISTINGS.items()}


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["storage", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_limits(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, *LIMITS, "--in-use", "900GB")
    assert found["binding_limit"] == "real-storage"
    assert round(found["in_use_virtual_bytes"] / GIB) == 1260
    assert found["min_resident_pages_before_ptrm"] == 6
    limits = {limit["name"]: limit for limit in found["limits"]}
    assert set(limits) == {"real-storage", "PTRM-data-spaces"}
    assert limits["PTRM-data-spaces"]["kind"] == "hard"
    assert limits["PTRM-data-spaces"]["in_use_virtual_bytes"] == 8 * 1024 * GIB
    assert limits["PTRM-data-spaces"]["headroom_bytes"] == (8192 - 900) * GIB


def test_limits_of_52(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "limits", "--release", "5.2", "--real-storage", "128GB", "--resident-pages", "1")
    assert found["binding_limit"] == "PGMBK-below-2GB"
    assert found["in_use_virtual_bytes"] == 256 * GIB
    assert found["min_resident_pages_before_ptrm"] is None
    assert all(limit["headroom_bytes"] is None for limit in found["limits"])


def test_frames(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "frames", "--in-use", "900GB", "--resident-pages", "1")
    assert (found["page_frames"], found["pgmbk_frames"], found["ptrm_spaces"]) == (921_600, 1_843_200, 2)
    assert found["real_storage_bytes"] == 3 * 921_600 * 4096
    assert found["overcommit"] is None
    guests = answer(
        capsys, "frames", "--guests", "20x88GB", "--instantiated", "70%", "--real-storage", "1024GB"
    )
    assert guests["page_frames"] == 1232 * GIB // 4096
    assert guests["overcommit"] == pytest.approx(1.203125)
    spread = answer(
        capsys, "frames", "--guests", "20x88GB", "--instantiated", "70%", "--resident-pages", "200"
    )
    assert spread["page_frames"] == guests["page_frames"] and spread["pgmbk_frames"] > guests["pgmbk_frames"]


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(
        capsys, "usage", LISTINGS[5], LISTINGS[128], "--real-storage", "120GB", "--resident-pages", "1"
    )
    assert found["ptrm_spaces"] == 16
    assert found["in_use_virtual_bytes"] == 8_105_032 * 2**20
    assert {limit["name"] for limit in found["limits"]} == {"real-storage", "PTRM-data-spaces"}
    assert all(limit["days_to_limit"] > 0 for limit in found["limits"])


@pytest.mark.parametrize(
    "words", [LIMITS, (*LIMITS, "--in-use", "90TB"), ("usage", LISTINGS[4]), ("usage", LISTINGS[5], LISTINGS[128]),
              ("frames", "--in-use", "9TB", "--resident-pages", "50", "--real-storage", "1TB"),
              ("limits", "--release", "7.3", "--real-storage", "4TB", "--resident-pages", "1")],
)  # fmt: skip
def test_text_fits_eighty_columns(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["storage", *words]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_csv(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["storage", *LIMITS, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert float(rows[0]["in_use_virtual_GB"]) == pytest.approx(1260.3, abs=0.05)


@pytest.mark.first(1)
@pytest.mark.parametrize("name", ["limits.png", "limits.svg"])
def test_a_picture_is_drawn_once(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["storage", *LIMITS, "--plot", str(tmp_path / name)]
    assert main(command) == 0
    assert (tmp_path / name).stat().st_size > 5000
    assert main(command) == 2
    assert "--force" in capsys.readouterr().err


def limits(**changed: str | None) -> tuple[str, ...]:
    given = {"--release": "5.3", "--real-storage": "256GB", "--resident-pages": "50", **changed}
    return ("limits", *(word for name, value in given.items() if value is not None for word in (name, value)))


GUESTS = ("frames", "--guests")


def test_guests_of_several_sizes_in_one_question(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["storage", *GUESTS, "60x16GB,4x128GB", "--instantiated", "70%", "--json"]) == 0
    pages = json.loads(capsys.readouterr().out)["page_frames"]
    assert pages == pytest.approx(0.7 * (60 * 16 + 4 * 128) * 2**18, abs=2)


BAD = {
    "no unit": (limits(**{"--real-storage": "256"}), "a unit is missing"),
    "unknown unit": (limits(**{"--real-storage": "256PB"}), "no such unit"),
    "negative size": (limits(**{"--real-storage": "-256GB"}), "--real-storage"),
    "zero size": (limits(**{"--real-storage": "0GB"}), "greater than zero"),
    "no unit in use": (limits(**{"--in-use": "900"}), "--in-use"),
    "zero in use": (limits(**{"--in-use": "0GB"}), "--in-use"),
    "too many pages": (limits(**{"--resident-pages": "257"}), "1 to 256"),
    "no pages": (limits(**{"--resident-pages": "0"}), "1 to 256"),
    "negative pages": (limits(**{"--resident-pages": "-1"}), "--resident-pages"),
    "pages in words": (limits(**{"--resident-pages": "many"}), "--resident-pages"),
    "unknown release": (limits(**{"--release": "4.4"}), "5.2, 5.3, 5.4, 6.1, 6.2, 6.3, 7.3, 7.4"),
    "release of memory only": (limits(**{"--release": "6.4"}), "limits are known"),
    "no release": (limits(**{"--release": None}), "--release"),
    "no spaces": (limits(**{"--ptrm-spaces": "0"}), "--ptrm-spaces"),
    "frames of nothing": (("frames", "--resident-pages", "1"), "--in-use with --resident-pages"),
    "frames of both": (("frames", "--in-use", "1GB", "--guests", "2x1GB"), "both"),
    "in use without pages": (("frames", "--in-use", "1GB"), "--resident-pages with it"),
    "in use with a share": (
        ("frames", "--in-use", "1GB", "--resident-pages", "1", "--instantiated", "7%"), "no --instantiated",
    ),
    "too many pages in frames": (("frames", "--in-use", "1GB", "--resident-pages", "300"), "1 to 256"),
    "negative real storage": (
        ("frames", "--in-use", "1GB", "--resident-pages", "1", "--real-storage", "-1GB"), "--real-storage",
    ),
    "above 100 %": ((*GUESTS, "20x88GB", "--instantiated", "101%"), "at most 1 (100%)"),
    "share without unit": ((*GUESTS, "20x88GB", "--instantiated", "0.7"), "a unit is missing"),
    "no share": ((*GUESTS, "20x88GB"), "--instantiated with it"),
    "one size without a count": ((*GUESTS, "60x16GB,128GB", "--instantiated", "70%"), "a count, of each size"),
    "a size missing": ((*GUESTS, "60x16GB,", "--instantiated", "70%"), "--guests"),
    "no guests": ((*GUESTS, "0x88GB", "--instantiated", "70%"), "20x88GB"),
    "guests without size": ((*GUESTS, "20", "--instantiated", "70%"), "20x88GB"),
    "guests without unit": ((*GUESTS, "20x88", "--instantiated", "70%"), "a unit is missing"),
    "denser than spread": ((*GUESTS, "20x88GB", "--instantiated", "70%", "--resident-pages", "100"), "at least 179.2"),
    "no such file": (("usage", "nowhere.listing"), "no such file"),
    "another report": (
        ("usage", str(data_path("hyperpav", "522A-0-aliases.listing"))), "expected files with data spaces",
    ),
    "same listing twice": (("usage", LISTINGS[5], LISTINGS[5]), "each of a different time"),
    "real storage alone": (("usage", LISTINGS[5], "--real-storage", "120GB"), "both"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, expected = BAD[name]
    assert main(["storage", *words]) == 2
    message = capsys.readouterr().err
    assert expected in message
    assert "Traceback" not in message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT[128].partition("(Report split")[0], "only the left half"),
        (TEXT[5].replace(" 1049k  635k", "  524k  635k"), "Resid 635000 is above Total 524000"),
        (TEXT[5].replace("PTRM0000", "SHARED00"), "PTRM data spaces"),
    ],
    ids=["one half", "resident above total", "no PTRM"],
)
def test_a_bad_listing(text: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bad.listing"
    file.write_text(text)
    assert main(["storage", "usage", str(file)]) == 2
    assert expected in capsys.readouterr().err


def test_a_share_is_the_digits_that_were_typed(capsys: pytest.CaptureFixture[str]) -> None:
    """1000 guests of 1 TB, of which 6e-7 are touched: 268,435,456,000 pages."""
    found = answer(capsys, "frames", "--guests", "1000x1TB", "--instantiated", "0.00006%")
    assert found["page_frames"] == 161_062  # 161,061.27 pages


def test_csv_says_how_many_fit(capsys: pytest.CaptureFixture[str]) -> None:
    asked = [
        "storage",
        "frames",
        "--guests",
        "88GB",
        "--instantiated",
        "70%",
        "--real-storage",
        "1024GB",
        "--csv",
    ]
    assert main(asked) == 0
    for row in csv.DictReader(io.StringIO(capsys.readouterr().out)):
        assert [row[key] for key in ("guests", "guests_low", "guests_high")] == ["16", "16", "16"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--guests", "88GB", "--real-storage", "1e30TB"), "at most 2**64 bytes"),
        (("--guests", "3x10,5GB"), "--guests = '3x10,5GB': expected a size"),
        (("--guests", "3x10,5GB"), "decimals take a point"),
    ],
)
def test_what_is_no_size_is_refused_as_typed(
    words: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["storage", "frames", *words, "--instantiated", "70%"]) == 2
    assert problem in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("command", ["storage usage {0}", "collect {0} -o {0}/new"])
def test_a_folder_that_is_no_archive_is_named_itself(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.format(tmp_path).split()) == 2
    said = "".join(capsys.readouterr().err.split())
    assert f"planner:{tmp_path}:expectedafolderthat" in said
