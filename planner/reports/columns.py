"""Fixed columns of a listing: where they lie is read off its header line, never counted in words.

Numbers stand right-aligned under the last character of their heading, words left-aligned under the first.
A blank cell therefore shifts nothing, and whatever does not stand in its column is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from planner.reports.listing import Line
from planner.reports.printed import Printed

WHOLE: Final = 0.5  # resolution of a number printed without decimals
NO_SUFFIXES: Final[Mapping[str, float]] = MappingProxyType({})
_HEADING: Final = re.compile(r"\S+")
_NUMBER: Final = re.compile(r"[0-9]+|[0-9]*\.[0-9]+")
_NOT_AVAILABLE: Final = re.compile(r"\.{3,}")


def is_number(text: str) -> bool:
    """Tell whether text is what a listing prints for a number.

    Examples
    --------
    >>> [is_number(text) for text in (".2", "755", "....", "-1", "1k", "")]
    [True, True, True, False, False, False]
    """
    return bool(_NUMBER.fullmatch(text) or _NOT_AVAILABLE.fullmatch(text))


@lru_cache(maxsize=4096)
def _printed(digits: str, factor: float) -> Printed:
    """Read digits; most of a listing are the same few."""
    return Printed.from_text(digits, factor)


@dataclass(frozen=True, slots=True)
class CharacterSpan:
    """The characters `start` to `end` (exclusive) of a line."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns below one header line.

    `path` is the file, `spans` holds for each heading its first to last character, `width` is the end of
    the last of them; `cells` are those of the numbers, as far as they were asked for.
    """

    path: Path
    spans: dict[str, CharacterSpan]
    width: int
    cells: dict[str, CharacterSpan] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def from_header(cls, path: Path, line: Line, required: Sequence[str]) -> Columns:
        """Find the columns in a header line."""
        found = [match for match in _HEADING.finditer(line.text) if match[0] in required]
        names = [match[0] for match in found]
        for position, name in enumerate(required):
            if names[position : position + 1] != [name]:
                at = found[position].start() if position < len(found) else len(line.text)
                raise line.error(
                    path, f"expected the headings {' '.join(required)}; {name} is not in place", at
                )
        if len(names) > len(required):
            extra = found[len(required)]
            raise line.error(path, f"a second heading {extra[0]}", extra.start())
        if number := next((match for match in _HEADING.finditer(line.text) if is_number(match[0])), None):
            raise line.error(path, f"a number {number[0]} among the headings", number.start())
        spans = {match[0]: CharacterSpan(*match.span()) for match in _HEADING.finditer(line.text)}
        return cls(path, spans, max(span.end for span in spans.values()))

    def cell(self, name: str) -> CharacterSpan:
        """Characters that belong to a number: from the end of the heading before to the end of its own."""
        if name not in self.cells:
            end = self.spans[name].end
            before = max((span.end for span in self.spans.values() if span.end < end), default=0)
            self.cells[name] = CharacterSpan(before, end)
        return self.cells[name]

    def word(self, line: Line, name: str, following: str | None = None) -> str:
        """Read a word, left-aligned under its heading."""
        start = self.spans[name].start
        end = self.spans[following].start - 1 if following else self.spans[name].end
        text = line.text[start:end]
        word = text.rstrip(" ")
        if " " in word or not word.isprintable():
            raise line.error(
                self.path, f"{name} {text!r}: expected one word from column {start + 1} on", start
            )
        if word and line.text[end : end + 1].strip(" "):
            raise line.error(self.path, f"{name} {text!r} runs into the next column: expected a blank", end)
        return word

    def number(
        self, line: Line, name: str, factor: float = 1.0, *, suffixes: Mapping[str, float] = NO_SUFFIXES
    ) -> Printed | None:
        """Read a number, right-aligned under its heading."""
        span = self.cell(name)
        if len(line.text) < span.end:
            problem = f"the row is cut short: expected {name} to end in column {line.offset + span.end}"
            raise line.error(self.path, problem, len(line.text))
        cell = line.text[span.start : span.end]
        digits = cell.lstrip(" ")
        start = span.end - len(digits)
        if _NOT_AVAILABLE.fullmatch(digits):
            return None
        if digits[-1:] in suffixes:
            digits, factor = digits[:-1], factor * suffixes[digits[-1:]]
        if not _NUMBER.fullmatch(digits):
            wanted = (
                f"expected a number that ends in column {line.offset + span.end}, such as .2, 1.84 or 755"
            )
            raise line.error(self.path, f"{name} {cell.strip()!r}: {wanted}", min(start, span.end - 1))
        if start == span.start and line.text[start - 1 : start].strip(" "):
            raise line.error(
                self.path, f"{name} {digits!r} touches the column before: expected a blank", start
            )
        return _printed(digits, factor)

    def count(self, line: Line, name: str) -> int | None:
        """Read a whole number, right-aligned under its heading; see `number`."""
        printed = self.number(line, name)
        if printed is None:
            return None
        if printed.resolution != WHOLE:
            raise line.error(
                self.path, f"{name} {printed.value:g}: expected a whole number", self.cell(name).start
            )
        return int(printed.value)

    def close(self, line: Line, name: str) -> None:
        """Check that the last column that is read ends where its heading ends."""
        end = self.spans[name].end
        rest = line.text[end:] if end == self.width else line.text[end : end + 1]
        if rest.strip(" "):
            position = end + len(rest) - len(rest.lstrip(" "))
            wanted = f"expected nothing between column {line.offset + end} and the next heading"
            raise line.error(self.path, f"text {rest.strip()!r} right of {name}: {wanted}", position)
