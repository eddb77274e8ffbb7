"""Damage to a file: up to three changes, and which of its lines they touch."""

from __future__ import annotations

from random import Random
from typing import Final

SIGNS: Final = "0123456789 .,->AFxZé٣\t\n\r\f\0+_\"';=[]{}#nae\x1b\u202e"
WORDS: Final = (
    "nan",
    "-1",
    "1e999",
    "1e-400",
    "0x522A",
    "5_22A",
    "9" * 50,
    "....",
    "=1+1",
    "true",
    "None",
    "\r\n",
)


def damaged(lines: list[str], times: int, random: Random) -> tuple[str, frozenset[int]]:
    """Damage lines (each with its line end) so often; give the text, and the lines that were touched."""
    parts = list(enumerate(lines))
    touched: set[int] = set()
    for _ in range(times):
        if not parts:
            break
        place = random.randrange(len(parts))
        number, line = parts[place]
        touched.add(number)
        way = random.choice(
            ("sign", "sign", "sign", "word", "drop", "delete", "double", "swap", "cut", "join", "blank")
        )
        at = random.randrange(len(line) + 1)
        if way == "sign":
            parts[place] = number, line[:at] + random.choice(SIGNS) + line[at + random.randrange(2) :]
        elif way == "word":
            parts[place] = number, line[:at] + random.choice(WORDS) + line[at + random.randrange(6) :]
        elif way == "drop":
            parts[place] = number, line[:at] + line[at + 1 + random.randrange(8) :]
        elif way == "delete":
            del parts[place]
        elif way == "double":
            parts.insert(place, parts[place])
        elif way == "swap":
            other = random.randrange(len(parts))
            touched.add(parts[other][0])
            parts[place], parts[other] = parts[other], parts[place]
        elif way == "cut":
            touched |= {each for each, _ in parts[place:]}
            parts[place:] = [(number, line[:at])]
        elif way == "join":
            parts[place] = number, line.rstrip("\r\n")
            touched |= {each for each, _ in parts[place : place + 2]}
        else:
            parts.insert(place, (number, random.choice(("\n", " \n", "words\n", ",,,\n"))))
    # A line without its end runs into the next one.
    open_ = [place for place, (_, line) in enumerate(parts) if not line.endswith("\n")]
    touched |= {each for place in open_ for each, _ in parts[place : place + 2]}
    return "".join(line for _, line in parts), frozenset(touched)


def damaged_bytes(content: bytes, times: int, random: Random) -> bytes:
    """Damage bytes so often: changed, removed, put in, doubled or cut."""
    for _ in range(times):
        if not content:
            break
        at, length = random.randrange(len(content)), random.choice((1, 1, 2, 4, 30, 300, 4096))
        way = random.choice(("change", "remove", "insert", "double", "cut", "zero"))
        junk = random.randbytes(random.choice((1, 2, 4)))
        content = {
            "change": content[:at] + junk + content[at + len(junk) :],
            "remove": content[:at] + content[at + length :],
            "insert": content[:at] + junk + content[at:],
            "double": content[:at] + content[at : at + length] + content[at:],
            "cut": content[:at],
            "zero": content[:at] + bytes(length) + content[at + length :],
        }[way]
    return content
