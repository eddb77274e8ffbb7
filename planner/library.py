"""Access to data/ and models/: reads shipped files, reads and writes model files."""

from __future__ import annotations

import hashlib
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from planner import files
from planner.errors import InputError, ReportError
from planner.units import percent

__all__ = ["Model", "data_path", "model_names", "read_model", "write_model"]

SCHEMA_VERSION: Final = 2
DEFAULT_MODEL: Final = "hyperpav"  # of alias questions
ASSUMED: Final = (
    "Model error {} is assumed: no figure is left to show it. If it is larger, intervals hold 90 % no longer."
)

Status = Literal["fitted", "fixed", "not determined", "at its bound"]
Range = tuple[float, float]
LARGEST_POPULATION: Final = 10**6  # requesters; more than any machine has
LARGEST_FILE: Final = 2**24  # bytes of a TOML file; model and system files have a few thousand
_FLOAT: Final = re.compile(r"[0-9]\.[0-9]+(?:[eE][+-]?[0-9]+)?(?![.\w])")
_TOML_POSITION: Final = re.compile(r" \(at line (?P<line>\d+), column (?P<column>\d+)\)$")


class ModelSource(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of measurements to which a model was fitted: `file`, relative to data/, and `sha256` of its bytes."""

    file: str
    sha256: str


class Parameter(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One parameter of a model, in the unit with which its key ends.

    `value` is the estimate, `standard_error` its error, `low` and `high` the ends of its interval (each may be None),
    `status` how the value was obtained.
    """

    value: float
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    status: Status

    def __post_init__(self) -> None:
        """Refuse numbers that contradict each other."""
        if not math.isfinite(self.value):
            raise ValueError("Expected a finite `value`")
        if self.standard_error is not None and not self.standard_error >= 0:
            raise ValueError("Expected a `standard_error` of at least 0")
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        if not low <= self.value <= high:
            outside = f"{self.value:g} is not from {low:g} to {high:g}"
            raise ValueError(f"Expected `low` <= `value` <= `high`, {outside} (change all three, or none)")


class ComparedRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One measured number and its prediction by the model.

    `name` is the run, `quantity` what was `measured` and `predicted`, with its unit as a suffix; `sigma`
    is the standard deviation of the measurement in the fit, in the same unit.
    """

    name: str
    quantity: str
    measured: float
    predicted: float
    sigma: float

    def __post_init__(self) -> None:
        """Refuse values that are not numbers."""
        if not (math.isfinite(self.measured) and math.isfinite(self.predicted)):
            raise ValueError("Expected finite numbers as `measured` and `predicted`")
        if not 0 <= self.sigma < math.inf:
            raise ValueError("Expected a finite `sigma` of at least 0")


class FitQuality(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How well a model fits its measurements.

    `runs` lists every measurement; `model_error` is the relative error to expect of a prediction; `outliers` names the
    runs left out; `saturated`: all devices were busy in every run and the requesters are unknown, so that the demand
    has no upper bound; `degrees_of_freedom` are those of `model_error`, None where that is at its floor or was given;
    `error_assumed` where no figure is left to show it.
    """

    runs: tuple[ComparedRun, ...]
    model_error: float
    outliers: tuple[str, ...] = ()
    saturated: bool = False
    degrees_of_freedom: float | None = None
    error_assumed: bool | None = None

    def __post_init__(self) -> None:
        """Refuse impossible errors."""
        if not 0 <= self.model_error <= 1:  # an error of more than 100 % predicts nothing
            raise ValueError("Expected a `model_error` from 0 to 1")
        if self.degrees_of_freedom is not None and not 0 <= self.degrees_of_freedom < math.inf:
            raise ValueError("Expected finite `degrees_of_freedom` of at least 0")

    @property
    def cautions(self) -> tuple[str, ...]:
        """A sentence where the error is assumed, none elsewhere."""
        return (ASSUMED.format(percent(self.model_error)),) if self.error_assumed else ()


Matrix = tuple[tuple[float, ...], ...]


def _is_covariance(matrix: Matrix, rounded: float = 1e-5) -> bool:
    """Whether no eigenvalue of the correlations is below zero; `rounded` allows for six written digits."""
    import numpy as np

    found = np.array(matrix, dtype=np.float64).reshape(len(matrix), len(matrix))
    variance = np.diag(found)
    with np.errstate(all="ignore"):
        size = np.sqrt(np.where(variance > 0, variance, 1.0))
        scaled = found / size / size[:, None]
        fits = (variance >= 0).all() and (np.abs(scaled - scaled.T) <= rounded).all()
        return bool(fits and np.linalg.eigvalsh(scaled).min(initial=0.0) > -rounded)


class Uncertainty(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Uncertainty of the fitted `parameters`: a normal distribution, moved to the nearest point within their bounds.

    `center` and `covariance` are in the units of the parameters, in that order.
    """

    parameters: tuple[str, ...]
    center: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        """Refuse values that describe no normal distribution of different parameters."""
        width = len(self.parameters)
        if len(set(self.parameters)) != width:
            raise ValueError("Expected each of `parameters` once")
        if len(self.center) != width or [len(row) for row in self.covariance] != [width] * width:
            raise ValueError(
                f"Expected {width} numbers in `center` and in each of {width} rows of `covariance`"
            )
        if not all(map(math.isfinite, (*self.center, *(value for row in self.covariance for value in row)))):
            raise ValueError("Expected finite numbers in `center` and `covariance`")
        if not _is_covariance(self.covariance):
            raise ValueError("Expected a covariance as `covariance`: symmetric and positive definite")


class Alternative(Uncertainty, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A possible `population`, its probability `share`, and its parameters, truncated at their bounds."""

    population: int
    share: float

    def __post_init__(self) -> None:
        """Refuse an impossible number of requesters, probability or distribution."""
        if not 1 <= self.population <= LARGEST_POPULATION:
            raise ValueError(f"Expected a `population` from 1 to {LARGEST_POPULATION}")
        if not 0 <= self.share <= 1:
            raise ValueError("Expected a `share` from 0 to 1")
        super().__post_init__()


class Model(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A calibrated model, as stored in its file in models/.

    `kind` names the device, `title` says in words what was calibrated, `source` lists the measurements, `population` is
    the number of requesters of each volume; `alternatives` (of volumes and pools) or `uncertainty` (of the others)
    describe what else the measurements allow. `parameters` and `validity` are keyed by name with unit suffix (validity:
    the range that the measurements cover); `fit` is the quality of the fit. `environment` is where it was measured
    (machine, release, channel), as far as known. `schema_version` counts the changes of this layout.
    """

    schema_version: int = SCHEMA_VERSION
    kind: str
    title: str
    source: tuple[ModelSource, ...]
    population: int | None = None
    environment: Mapping[str, str] = {}
    parameters: Mapping[str, Parameter]
    fit: FitQuality
    validity: Mapping[str, Range]
    alternatives: tuple[Alternative, ...] | None = None
    uncertainty: Uncertainty | None = None

    def __post_init__(self) -> None:
        """Refuse contradictory parts."""
        for key, (low, high) in self.validity.items():
            if not low <= high:
                raise ValueError(f"Expected the lower end first in `validity.{key}`")
        if self.population is not None and not 1 <= self.population <= LARGEST_POPULATION:
            raise ValueError(f"Expected a `population` from 1 to {LARGEST_POPULATION}")
        free = self.uncertainty.parameters if self.uncertainty else ()
        if self.alternatives is not None:
            self._check_alternatives(self.alternatives)
            free = (*free, *self.alternatives[0].parameters)
        for key in free:
            if key not in self.parameters:
                raise ValueError(f"Expected `parameters.{key}`, which is uncertain")

    def _check_alternatives(self, given: tuple[Alternative, ...]) -> None:
        """Refuse alternatives that contradict `population` or each other."""
        counts = [each.population for each in given]
        if not counts or len(set(counts)) != len(counts):
            raise ValueError("Expected each `population` once in `alternatives`")
        if self.population not in counts:
            raise ValueError(
                f"Expected `population` to be one of `alternatives`, {', '.join(map(str, counts))}"
            )
        if any(each.parameters != given[0].parameters for each in given):
            raise ValueError("Expected the same `parameters` in all `alternatives`")
        # Negligible ones are left out, digits rounded.
        if not math.isclose(sum(each.share for each in given), 1, abs_tol=0.02):
            raise ValueError("Expected the `share` of all `alternatives` to add up to 1")


def parse_toml(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """Read TOML; a malformed or hostile file raises only TOMLDecodeError."""
    if len(text) > LARGEST_FILE:
        raise tomllib.TOMLDecodeError(f"a file of more than {LARGEST_FILE} characters")
    most = 40  # dots in a line, without those in numbers: tomllib's time grows with the square of the parts of a key
    for number, line in enumerate(text.split("\n"), 1):
        dots = line.count(".")
        if dots > most and dots - len(_FLOAT.findall(line)) > most:
            position = f" (at line {number}, column 1)"
            raise tomllib.TOMLDecodeError(
                f"a key of more than {most} parts, or as many dots in a line{position}"
            )
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise tomllib.TOMLDecodeError("tables or lists nested too deeply") from None
    except ValueError:  # an integer too long for Python to convert, or an impossible date
        raise tomllib.TOMLDecodeError("a number of too many digits, or no such date") from None


def read_toml(
    text: str, path: Path | str, way: str, parse_float: Callable[[str], Any] = float
) -> dict[str, Any]:
    """Read the TOML of a file; an error names the line, and `way` says how to make such a file."""
    try:
        return parse_toml(text, parse_float)
    except tomllib.TOMLDecodeError as error:
        at = _TOML_POSITION.search(str(error))
        line, column = (int(at["line"]), int(at["column"])) if at else (None, None)
        problem = f"expected TOML: {_TOML_POSITION.sub('', str(error))}; {way}"
        raise ReportError(path, problem, line=line, column=column) from error


def data_path(*parts: str) -> Path:
    """Path of a shipped file or folder of measurements.

    Parameters
    ----------
    *parts : str
        Folders and file below data/.

    Returns
    -------
    Path
        A path that exists.

    Raises
    ------
    ReportError
        There is no such file or folder.

    Examples
    --------
    >>> data_path("README.md").name
    'README.md'
    """
    path = _shelf("data").joinpath(*parts)
    if not path.exists():
        raise ReportError(path, "no such file among the shipped data")
    return path


def read_source(publication: str) -> dict[str, Any]:
    """Read the `source.toml` of a publication.

    >>> read_source("hyperpav")["publisher"]
    'IBM'
    """
    return _read_toml(data_path(publication, "source.toml"))


def origin(model: Model) -> str:
    """Where and when the measurements of a shipped model were made.

    >>> origin(read_model("hyperpav"))
    'IBM DS8000 of 2007, ECKD'
    """
    found = {
        _shipped_listings(source.file.partition("/")[0] if "/" in source.file else "").get(source.sha256, "")
        for source in model.source
    }
    return found.pop() if len(found) == 1 else ""


@cache
def _shipped_listings(publication: str) -> dict[str, str]:
    """Where and when each listing of a publication was measured, by SHA-256; read once per process."""
    about = _shelf("data") / publication / "source.toml"
    if not publication or not about.is_file():
        return {}
    source = _read_toml(about)
    return {each.get("sha256"): str(source.get("measured_on", "")) for each in source.get("listing", ())}


def model_names() -> list[str]:
    """Names of the shipped models.

    Returns
    -------
    list of str
        Sorted names, as `read_model` takes them.
    """
    return sorted(path.stem for path in _shelf("models").glob("*.toml"))


def models_path(name: str) -> Path:
    """Path of a shipped model file."""
    if name not in model_names():
        known = ", ".join(model_names()) or "none"
        raise InputError("model", name, f"a model file, or the name of a shipped model ({known})")
    return _shelf("models") / f"{name}.toml"


def read_model(path: Path | str) -> Model:
    """Read a model file.

    Parameters
    ----------
    path : Path or str
        The file, or the name of a shipped model: text without suffix and folder.

    Returns
    -------
    Model
        What the file says.

    Raises
    ------
    InputError
        No shipped model has that name.
    ReportError
        The file cannot be read, is not TOML, was written by a newer planner, or does not follow the layout.
    """
    if not isinstance(path, str | Path):
        raise InputError("model", path, "the name of a model, or its file")
    if isinstance(path, str) and Path(path).name == path and not Path(path).suffix:
        path = models_path(path)
    return _decode(_read_toml(Path(path)), Path(path))


def write_model(model: Model, path: Path | str, *, force: bool = False) -> None:
    """Write a model file; an existing one only with `force`.

    Parameters
    ----------
    model : Model
        What to write.
    path : Path or str
        Where.
    force : bool, optional
        Whether an existing file may be written over.

    Raises
    ------
    InputError
        The file exists and `force` is not given, or it cannot be written.
    """
    import tomli_w

    files.save(tomli_w.dumps(_without_none(msgspec.to_builtins(model))), Path(path), force=force)


def read_parameters(publication: str) -> dict[str, dict[str, float]]:
    """Models of a publication that were fitted without some of its runs, in order to be tested on those.

    >>> read_parameters("hyperpav")["volume runs alone"]["population"]
    3.0
    """
    return {
        name: {key.removesuffix("_s"): float(value) for key, value in values.items()}
        for name, values in _read_toml(_shelf("models") / "left-out" / f"{publication}.toml").items()
    }


def write_parameters(fits: Mapping[str, Mapping[str, float]], path: Path, *, force: bool = False) -> None:
    """Write the file that `read_parameters` reads; overwrite only with `force`."""
    import tomli_w

    content = {
        name: {f"{key}_s" if key.endswith("_time") else key: value for key, value in values.items()}
        for name, values in fits.items()
    }
    files.save(tomli_w.dumps(content), path, force=force)


def rounded(value: float) -> float:
    """Round to six significant digits, more than a fit determines; the result is the same on every machine.

    >>> rounded(1.23456789)
    1.23457
    """
    return float(f"{value:.6g}")


def sha256(path: Path) -> str:
    """SHA-256 of a file's bytes; of a folder, such as an archive, SHA-256 of the names and digests of its files."""
    if not path.is_dir():
        return hashlib.sha256(read_bytes(path)).hexdigest()
    found = hashlib.sha256()
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        found.update(f"{file.relative_to(path).as_posix()}\0{sha256(file)}\n".encode())
    return found.hexdigest()


def _shelf(name: str) -> Path:
    """Find `data` or `models`: inside the package in a wheel, next to it in a checkout or an editable install."""
    inside = Path(__file__).parent / name
    return inside if inside.is_dir() else Path(__file__).parent.parent / name


def read_bytes(path: Path, expected: str = "a file") -> bytes:
    """Content of a file; if it cannot be read, a ReportError says what was `expected`."""
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ReportError(path, f"cannot be read: {why}; expected {expected}") from error


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReportError(path, "expected a model file in TOML, found bytes that are no text") from error
    return read_toml(text, path, "`planner calibrate -o` writes model files")


def _decode(content: dict[str, Any], path: Path) -> Model:
    version = content.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise ReportError(
            path,
            f"`schema_version` is {version}, this planner reads up to {SCHEMA_VERSION}: "
            "a newer planner wrote the file and is needed to read it",
        )
    if version != SCHEMA_VERSION:
        found = "none" if version is None else repr(version)
        problem = f"expected `schema_version` = {SCHEMA_VERSION}, found {found}"
        raise ReportError(path, f"{problem}; `planner calibrate -o` writes model files")
    # msgspec does not name the key of a nested table, so each entry is converted on its own first.
    for table, kind in (("parameters", Parameter), ("validity", Range)):
        entries = content.get(table)
        for key, entry in entries.items() if isinstance(entries, dict) else ():
            _convert(entry, kind, path, f"{table}.{key}")
    model: Model = _convert(content, Model, path, "")
    return model


def _convert(content: Any, kind: Any, path: Path, key: str) -> Any:
    """Convert parsed TOML; an error names the path to the key that does not fit."""
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        problem, _, inner = str(error).partition(" - at `$")
        where = (key + inner.rstrip("`")).removeprefix(".")
        raise ReportError(path, f"{problem} - at `{where}`" if where else problem) from error


def _without_none(value: Any) -> Any:
    """Drop None: TOML has no null, and a missing key reads back as None."""
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [_without_none(item) for item in value]
    return value
