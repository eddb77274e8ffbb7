"""The kinds of device that can be calibrated, their fits, and their model files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import structs

from planner import library
from planner.calibrate import costs
from planner.calibrate.calibration import Calibration, Fit
from planner.calibrate.cost_fit import CostFit, rounded_normal
from planner.calibrate.data_file import EVERYTHING, Chosen, Measurements, read_measurements, read_observations
from planner.calibrate.least_squares import GIVEN
from planner.calibrate.problem import Observation, observe
from planner.calibrate.volume_fit import fit
from planner.devices.kinds import KINDS
from planner.errors import InputError
from planner.measurements import Run
from planner.quantity import Quantity, listed


def to_model(
    found: Fit, *, kind: str, title: str, files: Sequence[Path], runs: Sequence[Run | Observation]
) -> library.Model:
    """Turn a fit into a model.

    Parameters
    ----------
    found : Fit
        The fit.
    kind : str
        Device kind.
    title : str
        What was measured, in words.
    files : sequence of Path
        The measurements.
    runs : sequence of Run or Observation
        Runs read from the files; they bound the validity.

    Returns
    -------
    library.Model
        Ready for `planner.library.write_model`.

    Raises
    ------
    ReportError
        A file cannot be read.
    """
    observations = [run if isinstance(run, Observation) else observe(run) for run in runs]
    asked = [(run.aliases, run.volumes, run.population or found.population) for run in observations]
    columns = zip(("aliases", "volumes", "population"), zip(*asked, strict=True), strict=True)
    validity = {key: (float(min(each)), float(max(each))) for key, each in columns}
    model = _model(found, kind, title, files, found.population, validity)
    quality = structs.replace(model.fit, outliers=found.outliers, saturated=found.unbounded)
    return structs.replace(model, fit=quality, alternatives=_alternatives(found))


def model_of_costs(found: CostFit, *, title: str, files: Sequence[Path]) -> library.Model:
    """Turn the fitted costs of a device into a model."""
    model = _model(found, found.kind, title, files, found.population, found.validity)
    return structs.replace(model, uncertainty=found.uncertainty)


def _model(
    found: Calibration, kind: str, title: str, files: Sequence[Path], population: int | None,
    validity: Mapping[str, tuple[float, float]],
) -> library.Model:  # fmt: skip
    """Parts common to the models of all kinds."""
    rounded = library.rounded
    parameters = {
        each.parameter.file_key: library.Parameter(
            value=rounded(each.value),
            standard_error=None if each.status == "at its bound" and not each.standard_error else
            rounded(each.standard_error),
            low=None if each.low is None else min(rounded(each.low), rounded(each.value)),
            high=None if each.high is None else max(rounded(each.high), rounded(each.value)),
            status=each.status,
        )
        for each in found.estimates.values()
    }  # fmt: skip
    runs = tuple(
        library.ComparedRun(name=each.run, quantity=each.quantity, measured=rounded(each.measured),
                    predicted=rounded(each.predicted), sigma=rounded(each.sigma))
        for each in found.comparisons
    )  # fmt: skip
    degrees = None if found.degrees >= GIVEN else rounded(found.degrees)
    return library.Model(
        kind=kind, title=title or ", ".join(path.stem for path in files), population=population, parameters=parameters,
        source=tuple(library.ModelSource(file=_shelf_name(path), sha256=library.sha256(path)) for path in files),
        fit=library.FitQuality(
            runs=runs, model_error=rounded(found.model_error), degrees_of_freedom=degrees,
            error_assumed=found.error_assumed or None,
        ),
        validity=dict(validity),
    )  # fmt: skip


def _alternatives(found: Fit) -> tuple[library.Alternative, ...] | None:
    if found.posterior is None:
        return None
    free = tuple(e.parameter.file_key for e in found.estimates.values() if e.status != "fixed")
    return tuple(
        library.Alternative(
            population=each.population, share=library.rounded(each.weight), parameters=free,
            **rounded_normal(each.center, each.covariance),
        )
        for each in found.posterior.components
    )  # fmt: skip


def _shelf_name(path: Path) -> str:
    """Path of a file relative to data/, or its bare name elsewhere."""
    shelf = library.data_path()
    resolved = path.resolve()
    return resolved.relative_to(shelf).as_posix() if resolved.is_relative_to(shelf) else path.name


def known_values(settings: Sequence[str], kind: str = "volume") -> dict[str, float]:
    """Read known values of parameters.

    Parameters
    ----------
    settings : sequence of str
        KEY=VALUE each; a time has its unit.
    kind : str, optional
        Device kind.

    Returns
    -------
    dict
        SI values by key.

    Raises
    ------
    InputError
        No such parameter, a parameter twice, or an invalid value.

    Examples
    --------
    >>> known_values(["think_time=0.2ms", "inflation=0"])
    {'think_time': 0.0002, 'inflation': 0.0}
    """
    known = {parameter.key: parameter for parameter in KINDS[kind].PARAMETERS}
    found = {}
    for setting in settings:
        key, sign, text = setting.partition("=")
        if not sign or key not in known:
            raise InputError("fix", setting, f"KEY=VALUE with a key of {listed(known)}")
        if key in found:
            raise InputError("fix", f"{key} twice", "each of them once")
        found[key] = float(known[key].read(text))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Input of a calibration: `files`, `title`, `population`, `fix` as think_time=0.2ms, `chosen` measurements."""

    files: Sequence[Path]
    title: str = ""
    population: int | None = None
    fix: Sequence[str] = field(default=())
    chosen: Chosen = EVERYTHING

    def __post_init__(self) -> None:
        """Take one file, and files by their names."""
        files = [self.files] if isinstance(self.files, str | Path) else self.files
        object.__setattr__(self, "files", tuple(map(Path, files)))


Calibrated = tuple[Calibration, library.Model]


class CostTable(NamedTuple):
    """How to fit the costs of a device to a table: its columns, the required ones, and the fit."""

    headings: Sequence[Quantity]
    needed: Sequence[str]
    fitted: Callable[[Sequence[Measurements], Mapping[str, float]], CostFit]


COSTS: Final[Mapping[str, CostTable]] = {
    "paging": CostTable(costs.PAGING_HEADINGS, costs.PAGING_NEEDED, costs.fit_paging),
    "disk": CostTable(costs.DISK_HEADINGS, costs.DISK_NEEDED, costs.fit_disk),
    "channel-program": CostTable(costs.CHANNEL_HEADINGS, costs.CHANNEL_NEEDED, costs.fit_channel_program),
    "processors": CostTable(costs.PROCESSOR_HEADINGS, costs.PROCESSOR_NEEDED, costs.fit_processors),
}


def _requesters(kind: str, task: Task) -> Calibrated:
    """Calibrate a volume or a pool, from listings or tables."""
    if kind == "volume" and task.chosen.pool is not None:
        raise InputError("pool", task.chosen.pool, "none: `device` chooses a volume")
    fixed = known_values(task.fix, kind)
    runs = read_observations(task.files, kind, task.chosen)
    found = fit(runs, population=task.population, fixed=fixed)
    model = to_model(found, kind=kind, title=task.title, files=task.files, runs=runs)
    return replace(found, model=model), model


def _costs(kind: str, table: CostTable, task: Task) -> Calibrated:
    """Calibrate the costs of a device from a table."""
    if task.population is not None:
        raise InputError("population", task.population, f"none: a {kind} has no requesters of volumes")
    for argument, value in task.chosen.given().items():
        problem = f"none: a {kind} is fitted to a table of runs, and to all its rows"
        raise InputError(argument, value, problem)
    fixed = known_values(task.fix, kind)
    found = table.fitted(read_measurements(task.files, table.headings, table.needed), fixed)
    return found, model_of_costs(found, title=task.title, files=task.files)


CALIBRATORS: Final[Mapping[str, Callable[[Task], Calibrated]]] = {
    **{kind: partial(_requesters, kind) for kind in ("volume", "pool")},
    **{kind: partial(_costs, kind, table) for kind, table in COSTS.items()},
}


def calibrate(kind: str, task: Task) -> Calibrated:
    """Calibrate a device of any kind.

    Parameters
    ----------
    kind : str
        A key of `CALIBRATORS`.
    task : Task
        Measurements, known parameters and choices.

    Returns
    -------
    tuple
        The calibration, and the model that can be written.

    Raises
    ------
    InputError
        No such kind, or an option that does not fit.
    ReportError
        A file cannot be read as measurements of that kind.
    CalibrationError
        The fit did not converge, or the measurements contradict each other.
    """
    InputError.unless_one_of("kind", kind, CALIBRATORS)
    return CALIBRATORS[kind](task)
