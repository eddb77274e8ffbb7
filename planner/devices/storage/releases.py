"""The table of z/VM releases in data/releases: their limits, and how certain each is."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

from planner import library, units
from planner.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One row of the table.

    `name` is such as ``5.3``, `largest_real_storage` [bytes] what the release supports, with its
    `certainty` (stated, public or inferred); `pgmbks_below_2gb` whether resident PGMBKs must lie below the
    2 GB line; `ptrm_spaces` the number of PTRM data spaces, with its `ptrm_certainty` (stated or default).
    """

    name: str
    largest_real_storage: int
    certainty: str
    pgmbks_below_2gb: bool
    ptrm_spaces: int
    ptrm_certainty: str


@cache
def releases() -> tuple[Release, ...]:
    """All releases whose limits are known, oldest first.

    Returns
    -------
    tuple of Release
        The rows of data/releases/releases.csv.

    Examples
    --------
    >>> [row.name for row in releases()][:2]
    ['5.2', '5.3']
    """
    with library.data_path("releases", "releases.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            Release(
                name=row["release"],
                largest_real_storage=int(row["largest_real_storage_GB"]) * units.GIB,
                certainty=row["certainty"],
                pgmbks_below_2gb=row["pgmbks_below_2GB"] == "yes",
                ptrm_spaces=int(row["ptrm_spaces"]),
                ptrm_certainty=row["ptrm_certainty"],
            )
            for row in csv.DictReader(file)
        )


def release(name: str) -> Release:
    """Look up a release.

    Parameters
    ----------
    name : str
        Version and release, such as ``5.3``.

    Returns
    -------
    Release
        Its row.

    Raises
    ------
    InputError
        The table does not have it.

    Examples
    --------
    >>> release("5.3").ptrm_spaces
    16
    """
    known = {row.name: row for row in releases()}
    if name not in known:
        raise InputError("release", name, f"a z/VM release whose limits are known: {', '.join(known)}")
    return known[name]
