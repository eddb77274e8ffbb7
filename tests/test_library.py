"""Model files: what is written reads back, what does not fit is refused by the path to its key."""

from __future__ import annotations

import hashlib
import math
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import library
from planner.errors import InputError, ReportError
from planner.library import ComparedRun, FitQuality, Model, ModelSource, Parameter, read_model, write_model

EXAMPLE = Model(
    kind="pool",
    title="Eight volumes",
    source=(ModelSource(file="hyperpav/pool.listing", sha256="0" * 64),),
    population=3,
    parameters={
        "service_time_s": Parameter(
            value=1.3e-3, standard_error=1e-5, low=1.28e-3, high=1.32e-3, status="fitted"
        ),
        "redrive_time_s": Parameter(value=0.0, low=0.0, high=math.inf, status="not determined"),
        "scv": Parameter(value=1.0, status="fixed"),
    },
    fit=FitQuality(
        runs=(
            ComparedRun(name="no alias", quantity="io_rate", measured=5889.0, predicted=5942.0, sigma=59.0),
        ),
        model_error=0.02,
        outliers=("one alias",),
    ),
    validity={"aliases": (0.0, 16.0)},
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.toml"
    write_model(EXAMPLE, path)
    return path


def test_what_is_written_reads_back(file: Path) -> None:
    assert read_model(file) == EXAMPLE
    assert read_model(str(file)) == EXAMPLE


@given(value=NUMBERS, error=st.none() | st.floats(min_value=0, allow_nan=False), title=st.text(min_size=1))
def test_every_number_and_text_reads_back(
    tmp_path_factory: pytest.TempPathFactory, value: float, error: float | None, title: str
) -> None:
    parameter = Parameter(value=value, standard_error=error, low=value, status="at its bound")
    model = Model(kind="k", title=title, source=(), parameters={"x": parameter}, fit=EXAMPLE.fit, validity={})
    path = tmp_path_factory.mktemp("models") / "model.toml"
    write_model(model, path)
    assert read_model(path) == model


def test_the_file_says_what_its_layout_promises(file: Path) -> None:
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    assert content["schema_version"] == library.SCHEMA_VERSION
    assert content["parameters"]["service_time_s"]["value"] == 1.3e-3
    assert "standard_error" not in content["parameters"]["scv"]
    assert content["validity"]["aliases"] == [0.0, 16.0]


def test_an_existing_file_needs_force(file: Path) -> None:
    with pytest.raises(InputError, match="`force` writes"):
        write_model(EXAMPLE, file)
    write_model(EXAMPLE, file, force=True)
    assert read_model(file) == EXAMPLE


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "value = 0.0013",
            'value = "1.3ms"',
            r"got `str` - at `parameters.service_time_s.value`",
        ),
        ("value = 0.0013", "value = nan", r"Expected a finite `value` - at `parameters.service_time_s`"),
        (
            "value = 0.0013",
            "value = 5.0",
            r"`high`, 5 is not from .* \(change all three, or none\) - at `parameters.service_time_s`",
        ),
        ("standard_error = 1e-05", "standard_error = -1", r"at least 0 - at `parameters.service_time_s`"),
        (
            'status = "fixed"',
            'status = "guessed"',
            r"value 'guessed' - at `parameters.scv.status`",
        ),
        (
            'status = "fixed"',
            'colour = "red"\nstatus = "fixed"',
            r"unknown field `colour` - at `parameters.scv`",
        ),
        ('title = "Eight volumes"\n', "", r"missing required field `title`$"),
        ('title = "Eight volumes"', "title = 8", r"Expected `str`, got `int` - at `title`"),
        ('title = "Eight volumes"', 'title = "x"\nname = "y"', r"unknown field `name`$"),
        (
            "measured = 5889.0",
            "measured = true",
            r"`float`, got `bool` - at `fit.runs\[0\].measured`",
        ),
        ("[validity]\n", "[validity]\nrate = [1.0]\n", r"length 2, got 1 - at `validity.rate`"),
        ("population = 3", "population = 3.5", r"Expected `int \| null`, got `float` - at `population`"),
    ],
)
def test_what_does_not_fit_is_told_by_the_path_to_its_key(
    file: Path, old: str, new: str, problem: str
) -> None:
    content = file.read_text(encoding="utf-8")
    assert content.count(old) == 1
    file.write_text(content.replace(old, new), encoding="utf-8")
    with pytest.raises(ReportError, match=problem) as caught:
        read_model(file)
    assert str(file) in str(caught.value)


def test_bad_toml_is_told_by_line_and_column(file: Path) -> None:
    file.write_text('schema_version = 2\nkind = "pool"\ntitle = Eight\n', encoding="utf-8")
    with pytest.raises(
        ReportError,
        match=r"line 3, column 9: expected TOML: Invalid value; `planner calibrate -o` writes model files$",
    ) as caught:
        read_model(file)
    assert (caught.value.line, caught.value.column) == (3, 9)


def test_a_file_of_a_newer_planner_says_so(file: Path) -> None:
    file.write_text("schema_version = 3\nsomething_new = 1\n", encoding="utf-8")
    with pytest.raises(ReportError, match="is 3, this planner reads up to 2: a newer planner"):
        read_model(file)


@pytest.mark.parametrize("line", ["", "schema_version = '2'", "schema_version = 1"])
def test_a_file_without_a_version_is_no_model_file(file: Path, line: str) -> None:
    file.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(ReportError, match="expected `schema_version` = 2"):
        read_model(file)


def test_a_file_that_is_no_text_missing_or_a_folder_is_refused(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ReportError, match="expected a model file in TOML"):
        read_model(file)
    with pytest.raises(ReportError, match="cannot be read: No such file"):
        read_model(file.with_name("other.toml"))
    with pytest.raises(ReportError, match="cannot be read: Is a directory"):
        read_model(file.parent)


def test_a_bare_name_is_looked_up_on_the_shelf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    monkeypatch.setattr(library, "_shelf", lambda name: tmp_path)
    assert library.model_names() == ["model"]
    assert library.models_path("model") == file
    assert read_model("model") == EXAMPLE
    with pytest.raises(InputError, match=r"model = 'none': expected .* shipped model \(model\)"):
        read_model("none")


@pytest.mark.parametrize("name", library.model_names())
def test_each_shipped_model_reads(name: str) -> None:
    model = read_model(name)
    for source in model.source:
        assert library.sha256(library.data_path(source.file)) == source.sha256


def test_shipped_data_are_found_and_what_is_not_there_is_named() -> None:
    assert library.data_path("README.md").is_file()
    assert library.data_path().is_dir()
    with pytest.raises(ReportError, match="no such file among the shipped data"):
        library.data_path("hyperpav", "none.listing")


def test_sha256_is_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc\r\n")
    assert library.sha256(tmp_path / "f") == hashlib.sha256(b"abc\r\n").hexdigest()
    with pytest.raises(ReportError, match="cannot be read"):
        library.sha256(tmp_path / "none")
