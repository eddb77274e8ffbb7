"""Notebooks are stored without output, say their answer first, use the Python API alone, and run from a wheel.

What an answer claims is held here, on what the notebook computed, so that readers see no assertions.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

import planner
from planner.cli import main
from planner.library import data_path
from planner.units import GIB
from tests import notebook_counters, run_notebooks
from tests.checkout import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FOR_ANYONE = {"IPython", "ipywidgets", "matplotlib", "numpy", "pandas", "planner"}


def cells(notebook: Path, kind: str) -> list[dict[str, Any]]:
    content = json.loads(notebook.read_text(encoding="utf-8"))
    return [cell for cell in content["cells"] if cell["cell_type"] == kind]


def code(notebook: Path) -> str:
    """All code of a notebook, without the lines that tell Jupyter how to draw."""
    sources = ("".join(cell["source"]) for cell in cells(notebook, "code"))
    return "\n".join(line for source in sources for line in source.splitlines() if not line.startswith("%"))


@cache
def computed(notebook: Path) -> dict[str, Any]:
    """The names that a notebook leaves behind, run where it stands."""
    found: dict[str, Any] = {"__name__": "notebook"}
    with contextlib.chdir(notebook.parent), contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code(notebook), notebook.name, "exec"), found)
    return found


def test_there_is_one_for_each_question() -> None:
    assert [notebook.name[:3] for notebook in NOTEBOOKS] == [f"{n:02}_" for n in range(1, len(NOTEBOOKS) + 1)]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_without_output(notebook: Path) -> None:
    for cell in cells(notebook, "code"):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_begins_with_its_question_and_has_sliders(notebook: Path) -> None:
    """The answer stands in bold below it, before any code."""
    first = json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]
    words = "".join(first["source"])
    assert first["cell_type"] == "markdown"
    assert words.startswith("# ")
    assert 0 < words.index("?") < words.index("\n\n**")
    assert "explore(" in code(notebook)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_asserts_nothing_in_sight(notebook: Path) -> None:
    assert not any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(code(notebook))))


def _volume(it: Any, said: str) -> None:
    assert it.answer.recommended == 2
    assert it.answer.range == (2, 4)
    assert "Two aliases (2 to 4, 90 %)" in said
    for model in it.models.values():
        found = planner.aliases(it.listing, model=model)
        rate, low, high = found.rows.io_rate[2], found.rate.low[2], found.rate.high[2]
        assert (found.recommended, found.range) == (2, (2, 4))
        assert low < it.measured < high
        assert abs(rate / it.measured - 1) < 0.05


def _pool(it: Any, said: str) -> None:
    assert it.answer.recommended == 14
    assert it.answer.range == (8, 15)
    assert "14 aliases (8 to 15, 90 %)" in said
    measured = {8: 9979.0, 16: 13395.0}
    for at, rate in measured.items():
        assert it.strict.rate.low[at] < rate < it.strict.rate.high[at]
        assert abs(it.strict.rows.io_rate[at] / rate - 1) < 0.10
    assert it.gain[0] > 2 > it.gain[1] >= 1
    slower = (it.mixed.response_time[1:] / it.mixed.response_time[:-1]).max() - 1
    assert slower < 0.005  # no further alias slows anybody down, within the error of the solution
    assert (it.few.verdict, it.many.verdict) == ("not enough", "enough")
    assert it.enough <= it.many.aliases_needed <= it.enough + 2
    assert it.enough <= it.few.aliases_needed <= it.enough + 2
    assert "as many as the model of the pool, or two more" in said
    assert it.by_model(24, 8, 0.05, 1.3, 0.16)[0].startswith("156 aliases: wait at most 5 %")
    assert it.by_model(3, 1, 0.05, 1.3, 0.16)[0].startswith("0 aliases: ")


def _paging(it: Any, said: str) -> None:
    assert abs(it.ratio / (571.9 / 283.0) - 1) < 0.02
    assert it.answer.cheapest == "xiv-serialized"
    counts = {each.kind.name: each.outcome.count for each in it.answer.choices if each.feasible}
    assert counts == {"xiv-serialized": 37, "xiv-concurrent": 20}
    assert "20 concurrent XIV devices (17 or more, or none, 90 %), or 37 serialized" in said


def _storage(it: Any, said: str) -> None:
    assert [round(it.in_use(pages)) for pages in (50, 60, 40)] == [1260, 1057, 1560]
    assert all(each in said for each in ("1,260 GB", "1,057 GB", "1,560"))
    assert it.limits.min_resident_pages_before_ptrm == 6
    assert it.thrasher.real_storage_bytes / GIB == 93.0


def _disk(it: Any, said: str) -> None:
    assert f"{it.ratio:.2f} on ({it.low:.2f} to {it.high:.2f}, 90 %)" in said
    assert abs(it.rates["emulated-fba", "cached"] / 476.82 - 1) < 0.02
    assert abs(it.rates["eckd-minidisk", "cached"] / 474.86 - 1) < 0.02
    assert 0.25 < it.programs.saving.value < 0.35


def _processors(it: Any, said: str) -> None:
    assert (
        f"{it.ahead.value:.0f} transactions a second ({it.ahead.low:.0f} to {it.ahead.high:.0f}, 90 %)"
        in said
    )
    assert f"{100 * it.fitted.worst:.1f} %" in said
    assert all(it.inside)


def _calibration(it: Any, said: str) -> None:
    assert it.fits[3].outlier.run.endswith("+1")
    assert it.fits[4].outlier.run.endswith("+2")
    assert it.fits[3].chi_square < min(it.fits[each].chi_square for each in (4, 5, 6))
    assert [run.aliases for run in (it.before, *it.judges)] == [0, 8, 16]
    for run, words in zip(it.judges, ("2.1 %", "8.4 %"), strict=True):
        measured = run.total_rate.value
        assert it.answer.rate[run.aliases].holds(measured)
        assert f"{100 * abs(it.answer.rows.io_rate[run.aliases] / measured - 1):.1f} %" == words
        assert words in said


def _scoreboard(it: Any, said: str) -> None:
    assert not it.board.failures()
    assert all(reached <= stated for _, reached, stated in it.board.promises())
    errors = sorted(abs(each.relative_error) for each in it.board.figures
                    if each.kind == "left-out" and each.relative_error is not None)  # fmt: skip
    assert f"about {100 * errors[len(errors) // 2]:.0f} %" in said
    words, _ = it.ask("xiv-concurrent-io", "transferred")  # numbers for people, as the table prints them
    assert "246,400 by the planner, 225,000 published" in words


def _growth(it: Any, said: str) -> None:
    limit, shift = it.limit, it.shift
    assert limit.verdict == "within horizon"
    years = (limit.last - limit.first).days / 365.25
    assert limit.trend.low < 0.25 / (1 + 0.25 * years) < limit.trend.high
    assert shift.size.low < 0.18 < shift.size.high
    reached = (f"{day:%B %Y}" for day in (limit.reached, limit.reached_low, limit.reached_high))
    assert "In {} (90 %: {} to {})".format(*reached) in said
    assert it.first.limits[0].measured.what == "aliases of pool P1"


def _system(it: Any, said: str) -> None:
    for name, number in it.said.items():
        assert number.low <= it.published[name] <= number.high
        assert abs(number.value / it.published[name] - 1) < (0.08 if name == "transfers" else 0.05)
    busy = it.found.processors["total_busy"]
    assert (busy.basis, busy.value) == ("outside", None)
    assert it.answer.found.storage["guests_that_fit pfault"].value == 16
    assert it.rates[17.0, 1.0] < 0.2 * it.rates[16.0, 1.0]
    assert it.rates[16.0, 1.0] / it.rates[20.0, 1.0] == pytest.approx(40, rel=0.05)
    assert [round(end / GIB) for end in (it.needed.low, it.needed.value, it.needed.high)] == [
        1233,
        1242,
        1250,
    ]
    assert "1,242 GiB" in said


HELD: Final[tuple[Callable[[Any, str], None], ...]] = (
    _volume, _pool, _paging, _storage, _disk, _processors, _calibration, _scoreboard, _growth, _system,
)  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_it_claims_is_what_it_computes(notebook: Path) -> None:
    said = " ".join("".join(cells(notebook, "markdown")[0]["source"]).split())
    HELD[int(notebook.name[:2]) - 1](SimpleNamespace(**computed(notebook)), said)


# What a reader has under the names that the notebooks give.
OWN: Final[dict[str, Path | str]] = {
    "MY.listing": data_path("hyperpav", "pool-0-aliases.listing"),
    "before.listing": data_path("hyperpav", "522A-0-aliases.listing"),
    "after.listing": data_path("hyperpav", "522A-2-aliases.listing"),
    "COUNTERS.csv": ROOT / "docs" / "examples" / "supply-counters.csv",
    "MY.csv --kind disk": ROOT / "docs" / "examples" / "xedit-emulated-fba.csv",
    'MY.csv"': "run,processors,cpu_ms\na,2,10\nb,4,10.4\nc,8,11.5\nd,16,13\n",
}


@pytest.mark.long
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_to_do_on_monday_runs_as_written(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands and calls, with files of those names in the folder and the names of the notebook."""
    text = "".join(cells(notebook, "markdown")[-1]["source"])
    for words, file in OWN.items():
        if words in text:
            content = file if isinstance(file, str) else file.read_text(encoding="utf-8")
            (tmp_path / words.split()[0].rstrip('"')).write_text(content, encoding="utf-8")
    names = {**computed(notebook), "Path": Path}
    monkeypatch.chdir(tmp_path)
    for each in re.findall(r"`([^`]+)`", text):
        if each.startswith("planner ") and "FILE" not in each:
            assert main(each.split()[1:]) == 0, each
        elif re.fullmatch(r"[\w.]+\(.*\)", each):
            assert eval(each, names) is not None, each


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_uses_the_python_api_alone(notebook: Path) -> None:
    tree = ast.parse(code(notebook))
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    assert {name.partition(".")[0] for name in imported} <= FOR_ANYONE | sys.stdlib_module_names
    assert not [name for name in imported if name.startswith(("planner.cli", "subprocess"))]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_ends_with_what_to_do(notebook: Path) -> None:
    last = json.loads(notebook.read_text(encoding="utf-8"))["cells"][-1]
    assert last["cell_type"] == "markdown"
    assert last["source"][0] == "## What to do on Monday\n"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_an_answer_prints_itself(notebook: Path) -> None:
    """Headline, tables and notes come from the answer; a cell that prints its text would lose their form."""
    assert ".text()" not in code(notebook)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_simulation_stands_in_a_notebook(notebook: Path) -> None:
    assert not re.search(r"^(?:import|from) (?:heapq|random)\b", code(notebook), re.MULTILINE)


@pytest.mark.long
def test_the_counters_are_those_of_the_simulated_pool() -> None:
    assert notebook_counters.FILE.read_text(encoding="utf-8") == notebook_counters.text()


@pytest.mark.slow
def test_all_run_from_a_wheel_outside_the_checkout(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    assert run_notebooks.run(outside) == 0
    written = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(outside.glob("*.ipynb"))]
    assert len(written) == len(NOTEBOOKS)
    for notebook in written:
        outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
        assert outputs
        assert not re.search(r"/(tmp|root|home)/", json.dumps(outputs))
