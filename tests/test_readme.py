"""README and page of methods say what the planner says: the table of judged answers is computed again."""

from __future__ import annotations

import re
from typing import Any

import pytest

from planner import sizing
from planner.calibrate import fit
from planner.demand import DeviceModel
from planner.library import data_path, read_model
from planner.measurements import intervals, read, system_runs
from tests.checkout import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
METHODS = (ROOT / "docs" / "aliases-methods.md").read_text(encoding="utf-8")
# What is judged, by the model of all runs and by one that has seen none of its own; listing; aliases, rate, response.
LISTINGS = [path.name for path in sorted(data_path("hyperpav").glob("*.listing"))]
JUDGED = (
    ("522A", ("hyperpav", "hyperpav-pool-runs"), "522A-0-aliases", ((2, 1619, 1.73),)),
    ("pool", ("hyperpav", "hyperpav-volume-runs"), "pool-0-aliases", ((8, 9979, 2.18), (16, 13395, 1.65))),
)


def table_rows(system: str, models: tuple[str, ...], name: str, rows: tuple[Any, ...]) -> list[str]:
    """The table of the page, computed for one system: percent of the measured value."""
    (listed,) = intervals(read(data_path("hyperpav", f"{name}.listing")))
    (run,) = system_runs(listed)
    answers = [sizing.aliases_of_runs(run, DeviceModel.from_model(model)) for model in models]
    counts = [f"{a.recommended}, {a.range_text}" for a in answers]
    lines = [f"| {system}: aliases, range | {rows[-1][0]} tried | " + " | ".join(counts) + " |"]
    for aliases, rate, response in rows:
        rates = [float(a.rows.io_rate[aliases]) for a in answers]
        times = [float(a.rows.response_time[aliases]) * 1e3 for a in answers]
        off = [f"{r:.0f}/s, {r / rate - 1:+.1%}" for r in rates]
        lines.append(f"| {system}: I/O rate with {aliases} | {rate}/s | " + " | ".join(off) + " |")
        off = [f"{t:.2f} ms, {t / response - 1:+.1%}" for t in times]
        lines.append(f"| {system}: response with {aliases} | {response} ms | " + " | ".join(off) + " |")
    return lines


@pytest.mark.first(1)
@pytest.mark.parametrize("judged", JUDGED, ids=lambda judged: judged[0])
def test_the_table_is_what_the_planner_says(judged: tuple[Any, ...]) -> None:
    for line in table_rows(*judged):
        assert line in METHODS


def test_the_law_that_judges_has_not_seen_the_runs_that_it_is_judged_by() -> None:
    """Other runs; of one of the eight volumes of the pool, so it is no other system."""
    for _, (_, left_out), before, _ in JUDGED:
        seen = {source.file for source in read_model(left_out).source}
        judged = {f"hyperpav/{name}" for name in LISTINGS if name.startswith(before.split("-")[0])}
        assert judged
        assert not seen & judged


@pytest.mark.long
def test_the_outlier_is_named_with_what_the_planner_says() -> None:
    """942/s at a service time of 1.95 ms, where both models say about 1,300/s; with four requesters another run."""
    (listed,) = intervals(read(data_path("hyperpav", "522A-0-aliases.listing")))
    (run,) = system_runs(listed)
    for name in ("hyperpav", "hyperpav-pool-runs"):
        assert float(
            sizing.aliases_of_runs(run, DeviceModel.from_model(name)).rows.io_rate[1]
        ) == pytest.approx(1300, abs=50)
    assert read_model("hyperpav").fit.outliers == ("Y040181P 522A +1",)
    files = [data_path("hyperpav", f"522A-{name}.listing") for name in ("0-aliases", "1-alias", "2-aliases")]
    runs = [run for rows in intervals(read(files)) for run in system_runs(rows)]
    found = {n: fit(runs, population=n, intervals=False).outlier for n in (3, 4)}
    assert [each.run[-2:] for each in found.values() if each is not None] == ["+1", "+2"]
    for page in (README, METHODS):
        assert "942" in page
        assert "about 1,300/s" in page


def test_badges_say_what_is_so() -> None:
    """License and Python as setup.cfg has them; each badge leads to a file of the checkout, none to a host."""
    badges = re.findall(r"\[!\[(.+?)\]\((\S+\.svg)\)\]\((\S+)\)", README)
    assert len(badges) == 3
    for words, picture, target in badges:
        assert f"<title>{words}</title>" in (ROOT / picture).read_text(encoding="utf-8")
        assert (ROOT / target).is_file()
    setup = (ROOT / "setup.cfg").read_text(encoding="utf-8")
    said = dict(words.split(": ") for words, _, _ in badges)
    assert f"license_expression = {said['license']}\n" in setup
    assert f"python_requires = >={said['Python'].split()[0]}\n" in setup
