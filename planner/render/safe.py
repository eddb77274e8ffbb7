"""The one place that escapes foreign text: names, labels and titles appear literally in every output."""

from __future__ import annotations

import html as _html
import re
from typing import Any, Final

_CONTROL: Final = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # escape sequences start with these; tab and line feed are layout
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # reverse the direction of writing
    r"\u2028\u2029\ufeff\ufff9-\ufffb"  # unusual line ends, or invisible
)
_UNSEEN: Final = re.compile(f"[{_CONTROL}]")
_UNSEEN_IN_LINE: Final = re.compile(f"[{_CONTROL}\t\n]")
_UNSEEN_IN_JSON: Final = re.compile(
    "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]"
)
_MARKDOWN: Final = re.compile(r"[\\`*_{}\[\]<>|#$&~]")
_MATH: Final = re.compile(r"[$\\]")
# Spreadsheets treat text with such a beginning as a formula. Letters, digits and a few signs are harmless: a label such
# as @DISK1, the base of an alias (->522A), an alias count (+2).
_FORMULA: Final = re.compile(r"=|[-+@](?![\w.$#@>\- ]*\Z)")
PROTECTED: Final = r"^'('*[=+@-])"
"""Text escaped by `csv_cell`; a reader removes the first apostrophe."""


def terminal(text: str) -> str:
    """Show control characters of a multi-line text as escapes, so that no terminal obeys them."""
    return _UNSEEN.sub(_escape, text)


def line(text: str) -> str:
    """Show control characters of a name or message as escapes, including line feeds and tabs."""
    return _UNSEEN_IN_LINE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def html(text: str) -> str:
    """Escape text for an HTML element; each dollar and backslash gets an element, so that none starts a formula."""
    return _MATH.sub(r"<span>\g<0></span>", _html.escape(terminal(text)))


def markdown(text: str) -> str:
    """Escape text for a line of Markdown: no markup, formulas or entities."""
    return _MARKDOWN.sub(lambda sign: f"\\{sign[0]}", terminal(" ".join(text.splitlines())))


def csv_cell(value: Any) -> Any:
    """Put an apostrophe before text that a spreadsheet would treat as a formula, and show control characters."""
    if not isinstance(value, str):
        return value
    text = line(value)
    return f"'{text}" if _FORMULA.match(text) or re.match(PROTECTED, text) else text


def json(text: str) -> str:
    """Escape characters that JSON allows but a terminal obeys; they occur only inside strings."""
    return _UNSEEN_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
