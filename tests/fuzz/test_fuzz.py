"""Fuzzing that stays: every target of `tests.fuzz.targets`, and every case that was ever found.

`FUZZ_EXAMPLES` says how many inputs each target gets: 50 unless it is set, 5 in `make test`, 20,000 in `make nightly`.
A case that fails is written to `tests/fuzz/corpus` by `python -m tests.fuzz.count --keep`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.content import FORMATS
from tests.fuzz.targets import TARGETS

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "50"))
CORPUS = sorted((Path(__file__).parent / "corpus").glob("*/*.json"))
LONG = {"odds-run-away", "8fa16995b822"}
"""Cases that take seconds each."""
CASES = [pytest.param(path, marks=pytest.mark.long if path.stem in LONG else ()) for path in CORPUS]
SLOW = {"pools": 8, "system file": 8, "model file": 4, "read monitor": 2, "stations": 2}
"""Targets that get only a part of the examples, one in so many."""


@pytest.mark.parametrize("name", TARGETS)
def test_every_input_is_answered_or_refused(name: str) -> None:
    target = TARGETS[name]

    @settings(
        max_examples=max(EXAMPLES // SLOW.get(name, 1), 1),
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.randoms(use_true_random=False))
    def tried(random: Random) -> None:
        target.check(target.make(random))

    tried()


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_was_found_once_stays_mended(path: Path) -> None:
    name = next(name for name in TARGETS if name.replace(" ", "-") == path.parent.name)
    TARGETS[name].check(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.first(4)
@pytest.mark.parametrize("name", FORMATS)
def test_the_check_of_readers_notices_a_lost_and_a_shifted_row(name: str) -> None:
    """A check that cannot fail is none: rows that the file does not hold, in place of those that it does."""
    case = TARGETS[f"read {name}"].make(Random(3))
    sound = next(
        made
        for k in range(99)
        if not (made := TARGETS[f"read {name}"].make(Random(k)))["damage"] and made["rows"]
    )
    TARGETS[f"read {name}"].check(sound)
    assert set(case) == set(sound)
    for wrong in ([["FFFF", 1.0, 2.0, 3.0], True], None):
        rows = [*sound["rows"], wrong] if wrong else sound["rows"][1:]
        with pytest.raises(AssertionError):
            TARGETS[f"read {name}"].check({**sound, "rows": rows})
