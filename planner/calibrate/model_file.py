"""What a fit found, as a model file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from planner import library
from planner.calibrate.calibration import Calibration
from planner.calibrate.cost_law import CostFit
from planner.calibrate.model_error import GIVEN
from planner.calibrate.observation import Observation, observe
from planner.calibrate.result import Fit
from planner.measurements import Run


def to_model(
    found: Fit, *, kind: str, title: str, files: Sequence[Path], runs: Sequence[Run | Observation]
) -> library.Model:
    """Turn a fit into what a model file holds.

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
        What was read from them; they bound the validity.

    Returns
    -------
    library.Model
        Ready to be written.

    Raises
    ------
    ReportError
        A file cannot be read.
    """
    observations = [run if isinstance(run, Observation) else observe(run) for run in runs]
    counts = [float(run.aliases) for run in observations]
    volumes = [float(run.volumes) for run in observations]
    populations = [float(run.population or found.population) for run in observations]
    validity = {
        "aliases": (min(counts), max(counts)),
        "volumes": (min(volumes), max(volumes)),
        "population": (min(populations), max(populations)),
    }
    return library.Model(
        kind=kind,
        title=title or ", ".join(path.stem for path in files),
        source=_source(files),
        population=found.population,
        parameters=_parameters(found),
        fit=library.FitQuality(
            runs=_rows(found),
            model_error=library.rounded(found.model_error),
            outliers=found.outliers,
            saturated=found.saturated,
            degrees_of_freedom=_degrees(found),
        ),
        validity=validity,
        alternatives=_alternatives(found),
    )


def model_of_costs(found: CostFit, *, title: str, files: Sequence[Path]) -> library.Model:
    """Turn the costs of a device into what a model file holds."""
    return library.Model(
        kind=found.kind,
        title=title or ", ".join(path.stem for path in files),
        source=_source(files),
        population=found.population,
        parameters=_parameters(found),
        fit=library.FitQuality(
            runs=_rows(found),
            model_error=library.rounded(found.model_error),
            degrees_of_freedom=_degrees(found),
        ),
        validity=found.validity,
        uncertainty=found.uncertainty,
    )


def _degrees(found: Calibration) -> float | None:
    return None if found.degrees >= GIVEN else library.rounded(found.degrees)


def _source(files: Sequence[Path]) -> tuple[library.ModelSource, ...]:
    return tuple(library.ModelSource(file=_shelf_name(path), sha256=library.sha256(path)) for path in files)


def _parameters(found: Calibration) -> dict[str, library.Parameter]:
    rounded = library.rounded
    return {
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


def _rows(found: Calibration) -> tuple[library.ComparedRun, ...]:
    return tuple(
        library.ComparedRun(name=each.run, quantity=each.quantity, measured=library.rounded(each.measured),
                    predicted=library.rounded(each.predicted), sigma=library.rounded(each.sigma))
        for each in found.comparisons
    )  # fmt: skip


def _alternatives(found: Fit) -> tuple[library.Alternative, ...] | None:
    if found.spread is None:
        return None
    free = [each.parameter.file_key for each in found.estimates.values() if each.status != "fixed"]
    return tuple(
        library.Alternative(
            population=each.population,
            share=library.rounded(each.weight),
            parameters=tuple(free),
            log_mean=tuple(library.rounded(value) for value in each.center.tolist()),
            log_covariance=tuple(
                tuple(library.rounded(value) for value in row) for row in each.covariance.tolist()
            ),
        )
        for each in found.spread.components
    )


def _shelf_name(path: Path) -> str:
    """Name of a file as seen from data/, or its own name where it lies elsewhere."""
    shelf = library.data_path()
    resolved = path.resolve()
    return resolved.relative_to(shelf).as_posix() if resolved.is_relative_to(shelf) else path.name
