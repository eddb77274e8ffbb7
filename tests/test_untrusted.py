"""Files of strangers: text that is no markup anywhere, models that contradict themselves, time that is bounded."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import library, style, whatif
from planner.calibrate import Task, calibrate
from planner.cli import main
from planner.errors import InputError, ReportError
from planner.library import models_path, parse_toml, read_model
from planner.queueing import min_servers, mva
from planner.render import safe
from planner.reports import dasd_statistics
from planner.system import reading
from tests.checkout import ROOT, setup_list

SHIPPED = models_path("hyperpav").read_text(encoding="utf-8")
COVARIANCE = SHIPPED[SHIPPED.index("covariance") :]
BAD = {
    "an error below zero": ("model_error = 0.02", "model_error = -1", "`model_error` from 0 to 1"),
    "an error that is none": ("model_error = 0.02", "model_error = nan", "`model_error` from 0 to 1"),
    "an error of more than all": ("model_error = 0.02", "model_error = 1.5", "`model_error` from 0 to 1"),
    "ends that are swapped": ("aliases = [", "aliases = [99, 0]\nother = [", "lower end first"),
    "a parameter twice": ('    "think_time_s",\n', '    "service_time_s",\n', "each of `parameters` once"),
    "another population": ("population = 3\n\n[[source", "population = 4\n\n[[source", "`population` to be one of"),
    "no population": ("population = 3\n\n[[source", "population = 0\n\n[[source", "`population` from 1"),
    "a share below zero": ("share = 1.0", "share = -1.0", "`share` from 0 to 1"),
    "a share that is none": ("share = 1.0", "share = nan", "`share` from 0 to 1"),
    "shares of a half": ("share = 1.0", "share = 0.5", "add up to 1"),
    "a mean that is none": ("center = [\n    0.00", "center = [\n    nan, # 0.00", "finite numbers"),
    "an unknown parameter": ('    "think_time_s",\n', '    "other",\n', "`parameters.other`"),
    "a sigma below zero": ("sigma = 15.1028", "sigma = -1.0", "`sigma` of at least 0"),
    "a measurement that is none": ("measured = 942.0", "measured = nan", "`measured` and `predicted`"),
    "degrees below zero": ("saturated = false", "saturated = false\ndegrees_of_freedom = -1.0", "degrees_of_freedom"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_model_that_contradicts_itself_is_refused(case: str, tmp_path: Path) -> None:
    old, new, problem = BAD[case]
    assert SHIPPED.count(old) >= 1
    path = tmp_path / "model.toml"
    path.write_text(SHIPPED.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ReportError, match=problem):
        read_model(path)
    assert main(["predict", str(path), "--set", "aliases=2", "--set", "volumes=1"]) == 2


@pytest.mark.parametrize(
    ("matrix", "good"),
    [
        (((1.0, 0.5), (0.5, 1.0)), True),
        (((1.0, 1.0), (1.0, 1.0)), True),  # as good as known together; six digits leave it open
        (((0.0, 0.0), (0.0, 0.0)), True),
        (((1.0, 1.1), (1.1, 1.0)), False),
        (((1.0, 0.5), (0.4, 1.0)), False),
        (((-1.0, 0.0), (0.0, 1.0)), False),
        (((4e-8, 1e-4), (1e-4, 1.0)), True),
        (((4e-8, 3e-4), (3e-4, 1.0)), False),
    ],
)
def test_a_covariance_is_symmetric_and_not_negative(matrix: library.Matrix, good: bool) -> None:
    assert library._is_covariance(matrix) == good
    eigenvalues = np.linalg.eigvalsh((np.array(matrix) + np.array(matrix).T) / 2)
    if good:  # the same by another road
        assert eigenvalues.min() >= -1e-5


def test_a_covariance_that_rounding_left_indefinite_is_asked() -> None:
    model = read_model("hyperpav")
    alternatives = model.alternatives
    assert alternatives is not None
    (one,) = alternatives
    size = [0.03 * each for each in one.center]
    singular = tuple(tuple(a * b * (1 + 4e-6 * (a != b)) for b in size) for a in size)
    assert np.linalg.eigvalsh(np.array(singular)).min() < 0
    import msgspec

    changed = msgspec.structs.replace(
        model, alternatives=(msgspec.structs.replace(one, covariance=singular),)
    )
    rate = whatif.predict(changed, {"aliases": 2.0, "volumes": 1.0}).values["io_rate"]
    assert rate.low[0] < rate.value[0] < rate.high[0]


@pytest.mark.parametrize(
    "text", ["x = " + "[" * 2000 + "]" * 2000, "x = " + "{a=" * 2000 + "1" + "}" * 2000, "x = " + "9" * 4400]
)
@pytest.mark.parametrize("command", [["predict"], ["whatif", "--over", "aliases=0:2"], ["system"]])
def test_toml_that_is_too_deep_or_has_too_many_digits_is_one_line(
    text: str, command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "given.toml"
    path.write_text(text, encoding="utf-8")
    assert main([command[0], str(path), *command[1:]]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "expected TOML" in error


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 200 + " = 1",
        "[" + "1." * 200 + "1]",
        "x = 1\n" + '"="."' * 200 + '" = 1',
        "{a" + '."a' * 200,
    ],
)
def test_a_key_of_many_parts_is_refused_before_it_is_parsed(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """tomllib takes the square of their number: 30 s for 40,000."""
    monkeypatch.setattr(tomllib, "loads", lambda *_, **__: pytest.fail("parsed"))
    with pytest.raises(tomllib.TOMLDecodeError, match=r"more than 40 parts.*at line"):
        parse_toml(text)


def test_numbers_and_tables_are_no_keys_of_many_parts() -> None:
    numbers = ", ".join(["1.5", "-2.25e-3", "0.1"] * 100)
    assert len(parse_toml(f"a = [{numbers}]\n" + "b.c.d.e = 1\n")["a"]) == 300


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (dasd_statistics._PLACE, "==> " + "a:" * 1000), (dasd_statistics._PLACE, "a" * 2000),
        (reading._HEADER, "[" + " " * 2000), (reading._HEADER, "[[" + " a" * 1000),
    ],
)  # fmt: skip
def test_patterns_are_linear_in_a_long_line(pattern: re.Pattern[str], text: str) -> None:
    """Twenty times the text takes no more than a hundred times as long; the square of it is four hundred times."""

    def seconds(text: str) -> float:
        begin = time.process_time()
        for _ in range(3):
            pattern.match(text)
        return time.process_time() - begin

    assert min(seconds(text * 20) for _ in range(3)) <= 100 * max(min(seconds(text) for _ in range(3)), 1e-5)


def test_toml_has_a_largest_size() -> None:
    with pytest.raises(ValueError, match="16777216"):
        parse_toml("#" * (library.LARGEST_FILE + 1))


class TestText:
    """One place makes text safe; the targets of `tests.fuzz` try it on any text."""

    @pytest.mark.parametrize(
        "formula", ["=1+1", "=HYPERLINK(1)", "-2+3+cmd|' /C calc'!A0", "@SUM(1)", "+A1*2", "'=1", "''=1"]
    )
    def test_a_formula_is_no_formula_and_reads_back(self, formula: str) -> None:
        cell = safe.csv_cell(formula)
        assert cell == "'" + formula
        assert re.sub(safe.PROTECTED, r"\1", cell) == formula

    @pytest.mark.parametrize("label", ["->522A", "@DISK1", "+2", "-", "$VOL#1", "'t Hooft", "522A +0"])
    def test_labels_and_aliases_stay_as_they_are(self, label: str) -> None:
        assert safe.csv_cell(label) == label

    @given(st.text(max_size=30))
    def test_whatever_is_protected_reads_back(self, text: str) -> None:
        shown = safe.line(text)
        assert re.sub(safe.PROTECTED, r"\1", safe.csv_cell(text)) == shown or safe.csv_cell(text) == shown

    def test_a_label_with_a_formula_goes_through_a_table_and_back(self, tmp_path: Path) -> None:
        from planner.measurements import read
        from planner.render import Column, Table, to_csv

        text = to_csv(Table(columns=(
            Column(name="volume", unit="", values=["=cmd()", "@DISK1"]),
            Column(name="io_rate", unit="", values=[1.0, 2.0]),
            Column(name="service_ms", unit="", values=[1.0, 2.0]),
        )))  # fmt: skip
        assert "\n'=cmd()," in text
        assert read(text.encode()).devices["label"].to_list() == ["=cmd()", "@DISK1"]

    def test_an_escape_sequence_reaches_no_terminal(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "model.toml"
        title = 'title = "\\u001b[31m<script>$x$\\u009b2J"'
        path.write_text(SHIPPED.replace(SHIPPED.splitlines()[2], title), encoding="utf-8")
        asked = ["predict", str(path), "--set", "aliases=99", "--set", "volumes=8"]
        for form in ([], ["--json"], ["--csv"]):
            assert main([*asked, *form]) == 0
            shown = capsys.readouterr()
            assert not {"\x1b", "\x9b"} & set(shown.out + shown.err)
        answer = whatif.predict(read_model(path), {"aliases": 2.0, "volumes": 1.0})
        assert "<script" not in answer._repr_html_() and "&lt;script" in answer._repr_html_()

    def test_a_file_name_with_an_escape_sequence_is_shown(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["read", str(tmp_path / "\x1b[31mred")]) == 2
        assert "\x1b" not in capsys.readouterr().err

    def test_dollars_in_a_picture_of_a_notebook_are_dollars(self) -> None:
        axes = style.begin(None, "A$B_{x \\frac$ saves")[0]
        axes.set_xticks([0.0], ["$\\undefined$"])
        axes.get_figure(root=True).canvas.draw()  # type: ignore[union-attr] # as Jupyter does, not through planner.files


class TestBounds:
    @pytest.mark.long
    def test_calibrations_that_contradict_each_other_are_refused(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        data, model = tmp_path / "runs.csv", tmp_path / "model.toml"
        rows = ("0,755,1.3,1.84", "0,100,9,0.1", "2,1619,1.7,.02", "1,20,.1,5")
        data.write_text("\n".join(["aliases,io_rate,service_ms,queued", *rows]), encoding="utf-8")
        asked = ["calibrate", str(data), "--kind", "volume", "--population", "8", "-o", str(model)]
        assert main(asked) == 2
        error = capsys.readouterr().err
        assert "contradict each other" in error and "of runs line 3" in error
        assert not model.exists()

    @pytest.mark.slow
    def test_two_equal_rows_are_no_endless_search(self, tmp_path: Path) -> None:
        """It took more than 100 s: the search crept along a valley."""
        data = tmp_path / "runs.csv"
        data.write_text("volumes,aliases,io_rate,response_ms\n8,8,9979,1.7\n8,8,9979,1.7\n")
        begin = time.process_time()
        found, _ = calibrate("pool", Task(files=[data]))
        assert time.process_time() - begin < 60
        assert found.value("service_time") == pytest.approx(1.3e-3, rel=0.3)

    def test_a_load_beyond_all_servers_and_steps_beyond_all_patience_are_refused(self) -> None:
        with pytest.raises(InputError, match="1e\\+15"):
            min_servers(1e150, 5.0, wait_time=0.9)
        assert int(min_servers(1e14, 1.0, wait_time=0.9)) > 1e14
        with pytest.raises(InputError, match="100000"):
            mva([0.999], 1_000_000, 0.999, servers=2)
        with pytest.raises(InputError, match="100000"):
            mva([1.0, 1.0, 1.0], 20_000, servers=[2, 3, 2])


def test_no_import_warns() -> None:
    names = ("planner", "planner.queueing", "planner.cli")
    command = [
        sys.executable,
        "-W",
        "error",
        "-c",
        "\n".join(f"import {name}; dir({name})" for name in names),
    ]
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True)


@pytest.mark.slow
def test_an_interrupt_at_any_moment_of_the_start_is_no_traceback() -> None:
    """In the first half second packages load; a signal before the first line of the planner is Python's own."""
    ready = "import planner.cli, sys; print('ready', flush=True); sys.exit(planner.cli.main(['scoreboard']))"
    for delay in np.linspace(0.0, 0.5, 6):
        process = subprocess.Popen(
            [sys.executable, "-c", ready], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(float(delay))
        os.kill(process.pid, signal.SIGINT)
        _, error = process.communicate(timeout=120)
        assert "Traceback" not in error, error
        assert process.returncode in {0, 130}


def test_the_lock_pins_what_setup_cfg_asks_for_and_names_no_host() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in lock and "index-url" not in lock
    pinned = {line.partition("==")[0].lower().replace("_", "-") for line in lock.splitlines() if "==" in line}
    wanted = setup_list("options", "install_requires")
    for extra in ("test", "notebook", "docs"):
        wanted += setup_list("options.extras_require", extra)
    for requirement in wanted:
        name = requirement.partition(";")[0].split(">")[0].partition("[")[0].strip().lower().replace("_", "-")
        assert name in pinned, f"{name} is not in requirements.lock: make lock"
    blocks = [block for block in lock.split("\n") if "==" in block and not block.startswith(" ")]
    assert all(block.rstrip().endswith("\\") for block in blocks), "each package has its hashes"
