"""The README says what the planner says: its commands are run, its Python is run, its table is computed again."""

from __future__ import annotations

import doctest
import re
import shlex

import pytest

from planner import sizing
from planner.cli import main
from planner.demand import Law
from planner.library import data_path
from planner.measurements import pool_run, volume_runs
from planner.reports import read_devices
from tests.checkout import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
CONSOLE = re.findall(r"```console\n\$ (planner [^\n]*)\n(.*?)```", README, re.S)
# System, model with all runs, model without the system, listing, rows: aliases, measured rate and response.
JUDGED = (
    ("522A", ("hyperpav", "hyperpav-pool-runs"), "522A-0-aliases", ((2, 1619, 1.73),)),
    ("pool", ("hyperpav", "hyperpav-volume-runs"), "pool-0-aliases", ((8, 9979, 2.18), (16, 13395, 1.65))),
)


@pytest.fixture(autouse=True)
def in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_there_are_commands() -> None:
    assert len(CONSOLE) >= 3


@pytest.mark.parametrize(("command", "output"), CONSOLE)
def test_commands_print_what_is_shown(command: str, output: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out.strip() == output.strip()


def test_python_runs() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", README, re.S)
    test = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def table_rows() -> list[str]:
    """The table of the README, computed: percent of the measured value."""
    lines = []
    for system, models, name, rows in JUDGED:
        (listing,) = read_devices(data_path("hyperpav", f"{name}.listing"))
        run = volume_runs(listing)[0] if system == "522A" else pool_run(listing)
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
