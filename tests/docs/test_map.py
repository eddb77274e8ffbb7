"""Every file, folder, module, class and function that CONTRIBUTING.md and the table of docs/api.md name is there."""

from __future__ import annotations

import importlib
import re

import pytest

from tests.checkout import ROOT

MAP = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`(planner(?:\.\w+)+)`", MAP)))
PATHS = sorted(set(re.findall(r"`((?:planner|data|models|docs|tests|notebooks)/[\w./]*)`", MAP)))
PATHS = [path for path in PATHS if not re.search(r"/N[AN]", path)]  # names that stand for any
TABLE = (ROOT / "docs/api.md").read_text(encoding="utf-8").partition("```")[0]
NAMES += sorted(set(re.findall(r"\bplanner(?:\.\w+)+", TABLE)) - {*NAMES})
MOST_WORDS = 1900


def test_the_map_names_what_it_walks_through() -> None:
    assert len(NAMES) > 15
    assert len(PATHS) > 15


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_there(name: str) -> None:
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            found = getattr(found, part)
        return
    pytest.fail(name)


@pytest.mark.parametrize("path", PATHS)
def test_a_place_is_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_it_can_be_read_in_an_hour() -> None:
    assert len(MAP.split()) <= MOST_WORDS
