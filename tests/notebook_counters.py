"""The supply counters that notebook 02 reads: a simulated pool, once with 12 aliases and once with 16; needs numba.

``python -m tests.notebook_counters`` writes the file again; a test holds that it is the same.
"""

from __future__ import annotations

import csv
import io

from tests.checkout import ROOT
from tests.simulated_pool import simulate

FILE = ROOT / "notebooks" / "supply-counters.csv"
HEAD = ("time", "pool", "IODHPP_HPPTRIES", "IODHPP_HPPFAILS", "IODHPP_HPPMINCT", "IODHPP_HPPMAXCT", "aliases")
POOL = {
    "volumes": [4, 4],
    "population": [4, 2],
    "think_time": [0.2e-3, 8e-3],
    "service_time": 1.3e-3,
    "inflation": 0.16,
}
RECORDS, LENGTH = 30, 60  # counted, and the seconds between them


def text() -> str:
    """Content of the file: counters that rise, a record a minute."""
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    rows.writerow(HEAD)
    for aliases in (12, 16):
        found = simulate(aliases, **POOL, intervals=RECORDS, length=float(LENGTH), seed=1)
        name = f"{aliases} aliases"
        rows.writerow((0, name, 0, 0, aliases, aliases, aliases))
        tries = fails = 0
        for k in range(RECORDS):
            tries, fails = tries + int(found.tries[k]), fails + int(found.fails[k])
            rows.writerow(
                ((k + 1) * LENGTH, name, tries, fails, int(found.fewest[k]), int(found.most[k]), aliases)
            )
    return written.getvalue()


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
