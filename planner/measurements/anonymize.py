"""Names that say nothing, the same for the same key, which stays with the customer, and dates that are shifted."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from planner.errors import InputError, ReportError
from planner.measurements.archive import LOST, TABLES
from planner.reports import schema

KEY_BYTES: Final = 32
DEVICE_NUMBER: Final = re.compile("[0-9A-F]{4}")
SYSTEM_SPACES: Final = "PTRM"  # CP's own data spaces, whose names say nothing and mean much
OWN: Final = ("SYSTEM", "unknown")  # owners and systems that are no names


@dataclass(frozen=True, slots=True)
class Names:
    """Replaces names by a secret `key`, and shifts dates by whole weeks, so that weekdays and times of day stay."""

    key: bytes

    def word(self, kind: str, name: str) -> str:
        """Replace a name of this kind; chances that two of a million get one word are one in two thousand."""
        digest = hmac.new(self.key, f"{kind}:{name}".encode(), hashlib.sha256).digest()
        return kind + base64.b32encode(digest).decode()[:10]

    @property
    def days(self) -> int:
        """By how many days dates are shifted, backwards: weeks, ten years of them at most."""
        digest = hmac.new(self.key, b"days", hashlib.sha256).digest()
        return 7 * (1 + int.from_bytes(digest[:4], "big") % (52 * 10))

    def apply(self, table: str, frame: pl.DataFrame) -> pl.DataFrame:
        """Replace whatever names a table of the schema holds."""
        kinds: dict[str, tuple[str, Callable[[str], bool]]] = {
            "system": ("SYS", lambda name: name not in OWN),
            "source": ("RUN", lambda name: True),
            "file": ("FILE", lambda name: True),
            "label": ("VOL", lambda name: True),
            "owner": ("USER", lambda name: name not in OWN),
            "pool": ("POOL", lambda name: not name.isdigit()),
        }
        if table == LOST:
            kinds["name"] = ("VOL", lambda name: not DEVICE_NUMBER.fullmatch(name))
        if table == "storage":
            kinds["name"] = ("SPACE", lambda name: not name.startswith(SYSTEM_SPACES))
        columns = []
        for name, (kind, hidden) in kinds.items():
            if name in frame.columns and frame[name].null_count() < frame.height:
                old = frame[name].unique().drop_nulls().to_list()
                new = [self.word(kind, each) if hidden(each) else each for each in old]
                columns.append(pl.col(name).replace_strict(old, new, default=None, return_dtype=pl.String))
        types = schema.dtypes(TABLES[table])
        return frame.with_columns(
            *columns,
            pl.col("start") - pl.duration(days=self.days),
            pl.lit(None, types["utc_offset"]).alias("utc_offset"),
        )


def names_of(archive: Path) -> Names:
    """Read the key of an archive, or make it: in a file beside its folder, for its owner's eyes only."""
    path = archive.with_name(archive.name + ".key")
    try:
        if not path.exists():
            path.touch(mode=0o600, exist_ok=False)
            path.write_text(secrets.token_hex(KEY_BYTES) + "\n", encoding="ascii")
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except OSError as error:
        wanted = f"a key file that can be made or read ({error.strerror})"
        raise InputError("anonymize", str(path), wanted) from error
    except ValueError:  # no text, or no hexadecimal digits
        key = b""
    if len(key) != KEY_BYTES:
        raise ReportError(path, "damaged: expected the key that planner collect --anonymize made")
    return Names(key)
