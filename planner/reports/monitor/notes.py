"""What a reader of monitor data left out or could not decide, as whole sentences."""

from __future__ import annotations

from collections import Counter
from typing import Final

SHOWN: Final = 5  # names in a sentence
REASONS: Final = {
    "stopped": "measurement was switched off in between (D6R14)",
    "restarted": "their counters started again",
    "contradict": "their counts in 16 and in 32 bits contradict each other",
    "came": "there is no record of them in the sample before",
    "went": "the sample after has no record of them",
}
LEFT_OUT: Final = ("stopped", "restarted", "contradict", "came")


class Notes:
    """Collects sentences, and counts of rows by reason and name."""

    def __init__(self) -> None:
        self.said: dict[str, None] = {}
        self.counted: dict[tuple[str, str], Counter[str]] = {}
        self.samples = 0

    def add(self, sentence: str) -> None:
        """Say something, once."""
        self.said.setdefault(sentence)

    def count(self, record: str, reason: str, name: str) -> None:
        """Count a row of a kind of record that a reason of `REASONS` left out, or after which one is missing."""
        self.counted.setdefault((record, reason), Counter())[name] += 1

    def sentences(self) -> tuple[str, ...]:
        """All of it."""
        return (*self.said, *(self._sentence(*key) for key in self.counted))

    def _sentence(self, record: str, reason: str) -> str:
        names = self.counted[record, reason]
        shown = ", ".join(
            name if times == 1 else f"{name} ({times} times)" for name, times in names.most_common(SHOWN)
        )
        others = f" and {len(names) - SHOWN} others" if len(names) > SHOWN else ""
        rows = names.total()
        what = "intervals are left out" if reason in LEFT_OUT else "times"
        what = what.replace("intervals are", "interval is") if rows == 1 else what
        what = "time" if what == "times" and rows == 1 else what
        return f"{record}: {rows} {what}, {REASONS[reason]}: {shown}{others}"
