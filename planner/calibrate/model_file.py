"""A fit as a model file, and a model file as a law that can be asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from planner import library
from planner.calibrate.law import PARAMETERS
from planner.calibrate.observation import Observation, observe
from planner.calibrate.prediction import Calibrated
from planner.calibrate.result import Fit
from planner.calibrate.spread import Component
from planner.errors import InputError, ReportError
from planner.measurements import Run

KINDS: Final = ("volume", "pool")
FILE_KEYS: Final = {parameter.file_key: parameter.key for parameter in PARAMETERS}


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
        source=tuple(library.Source(file=_shelf_name(path), sha256=library.sha256(path)) for path in files),
        population=found.population,
        parameters={
            each.parameter.file_key: library.Parameter(
                value=_rounded(each.value),
                standard_error=_rounded(each.standard_error),
                low=None if each.low is None else min(_rounded(each.low), _rounded(each.value)),
                high=None if each.high is None else max(_rounded(each.high), _rounded(each.value)),
                status=each.status,
            )
            for each in found.estimates.values()
        },
        fit=library.Fit(runs=_rows(found), model_error=_rounded(found.model_error), outliers=found.outliers),
        validity=validity,
        alternatives=_alternatives(found),
    )


def _rows(found: Fit) -> tuple[library.Run, ...]:
    rows = []
    for each in found.comparisons:
        quantity, *numbers = each.natural()
        measured, predicted, sigma = (_rounded(number) for number in numbers)
        rows.append(
            library.Run(name=each.run, quantity=quantity, measured=measured, predicted=predicted, sigma=sigma)
        )
    return tuple(rows)


def _alternatives(found: Fit) -> tuple[library.Alternative, ...] | None:
    if found.spread is None:
        return None
    free = [each.parameter.file_key for each in found.estimates.values() if each.status != "fixed"]
    return tuple(
        library.Alternative(
            population=each.population,
            share=_rounded(each.weight),
            parameters=tuple(free),
            log_mean=tuple(_rounded(value) for value in each.center.tolist()),
            log_covariance=tuple(tuple(_rounded(value) for value in row) for row in each.covariance.tolist()),
        )
        for each in found.spread.components
    )


def calibrated(model: library.Model) -> Calibrated:
    """Take the law, and what its calibration left open, from a model.

    Parameters
    ----------
    model : library.Model
        A model of a volume or a pool.

    Returns
    -------
    Calibrated
        A law that can be asked.

    Raises
    ------
    InputError
        The model is of another kind.
    ReportError
        It lacks a parameter or the number of requesters.
    """
    if model.kind not in KINDS:
        raise InputError("model", model.title, f"a model of kind {' or '.join(KINDS)}, not {model.kind}")
    missing = [key for key in FILE_KEYS if key not in model.parameters]
    if missing or model.population is None:
        raise ReportError(
            model.title, f"expected `{'population' if not missing else 'parameters.' + missing[0]}`"
        )
    alternatives = model.alternatives or ()
    first = alternatives[0].parameters if alternatives else ()
    unknown = [key for each in alternatives for key in each.parameters if key not in FILE_KEYS]
    if unknown:
        raise ReportError(model.title, f"unknown parameter `{unknown[0]}` - at `alternatives`")
    return Calibrated(
        population=model.population,
        values={key: model.parameters[file_key].value for file_key, key in FILE_KEYS.items()},
        components=tuple(
            Component(population=each.population, weight=each.share, center=np.array(each.log_mean),
                      covariance=np.array(each.log_covariance).reshape(len(first), len(first)))
            for each in alternatives
        ),
        free=tuple(FILE_KEYS[key] for key in first),
        model_error=model.fit.model_error,
    )  # fmt: skip


def _rounded(value: float) -> float:
    """Six significant digits: what a fit can mean, and the same on every machine."""
    return float(f"{value:.6g}")


def _shelf_name(path: Path) -> str:
    """Name of a file as seen from data/, or its own name where it lies elsewhere."""
    shelf = library.data_path()
    resolved = path.resolve()
    return resolved.relative_to(shelf).as_posix() if resolved.is_relative_to(shelf) else path.name
