"""The README says what the planner says: its table is computed again."""

from __future__ import annotations

from planner import sizing
from planner.demand import Law
from planner.library import data_path
from planner.measurements import intervals, read, system_runs
from tests.checkout import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
# System, model with all runs, model without the system, listing, rows: aliases, measured rate and response.
JUDGED = (
    ("522A", ("hyperpav", "hyperpav-pool-runs"), "522A-0-aliases", ((2, 1619, 1.73),)),
    ("pool", ("hyperpav", "hyperpav-volume-runs"), "pool-0-aliases", ((8, 9979, 2.18), (16, 13395, 1.65))),
)


def table_rows() -> list[str]:
    """The table of the README, computed: percent of the measured value."""
    lines = []
    for system, models, name, rows in JUDGED:
        (listed,) = intervals(read(data_path("hyperpav", f"{name}.listing")))
        (run,) = system_runs(listed)
        answers = [sizing.aliases(run, Law.from_model(model)) for model in models]
        counts = [f"{a.recommended}, {a.spread}" for a in answers]
        lines.append(f"| {system}: aliases, range | {rows[-1][0]} | " + " | ".join(counts) + " |")
        for aliases, rate, response in rows:
            rates = [float(a.rows.io_rate[aliases]) for a in answers]
            times = [float(a.rows.response_time[aliases]) * 1e3 for a in answers]
            off = [f"{r:.0f}/s, {r / rate - 1:+.1%}" for r in rates]
            lines.append(f"| {system}: I/O rate with {aliases} | {rate}/s | " + " | ".join(off) + " |")
            off = [f"{t:.2f} ms, {t / response - 1:+.1%}" for t in times]
            lines.append(f"| {system}: response with {aliases} | {response} ms | " + " | ".join(off) + " |")
    return lines


def test_the_table_is_what_the_planner_says() -> None:
    for line in table_rows():
        assert line in README
