"""The words of a verdict: short, enough, spare; one of them for whatever an answer calls it in its data."""

from __future__ import annotations

from typing import Final

SHORT, ENOUGH, SPARE, UNKNOWN = "short", "enough", "spare", "unknown"
STATES: Final = {SHORT: "bad", ENOUGH: "good", SPARE: "spare", UNKNOWN: "open"}  # verdict: class of a style
INK: Final = {SHORT: "31", ENOUGH: "32", SPARE: "36", UNKNOWN: "33"}  # of a terminal
WORDS: Final = {
    "not enough": SHORT, "gains": SHORT, "saturated": SHORT, "too many": SPARE, "could spare": SPARE,
    "wait becomes service": ENOUGH, "does not wait": ENOUGH, "waits little": ENOUGH, "queue not measured": ENOUGH,
    "none": UNKNOWN, "-": UNKNOWN,
}  # fmt: skip


def word(verdict: str | None) -> str:
    """The word of a verdict of any answer; what is none stays as it is."""
    return UNKNOWN if verdict is None else WORDS.get(verdict, verdict)


def judged(needed: int | None, in_use: int) -> str:
    """The word for a count beside what is in use."""
    return UNKNOWN if needed is None else SHORT if needed > in_use else SPARE if needed < in_use else ENOUGH
