"""How each kind of device is calibrated: its files, its options, its fit; one line a kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from planner import library
from planner.calibrate.calibration import Calibration
from planner.calibrate.channel_program import HEADINGS as CHANNEL_PROGRAM
from planner.calibrate.channel_program import fit_channel_program
from planner.calibrate.cost_law import CostFit
from planner.calibrate.data_file import read_observations
from planner.calibrate.disk import HEADINGS as DISK
from planner.calibrate.disk import fit_disk
from planner.calibrate.fit import fit
from planner.calibrate.model_file import model_of_costs, to_model
from planner.calibrate.paging import HEADINGS as PAGING
from planner.calibrate.paging import fit_paging
from planner.calibrate.processors import HEADINGS as PROCESSORS
from planner.calibrate.processors import fit_processors
from planner.calibrate.settings import known_values
from planner.calibrate.tables import Heading, Measurements, read_measurements
from planner.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be calibrated: `files`, a `title`, `population` where known, `fix` as texts like think_time=0.2ms."""

    files: Sequence[Path]
    title: str = ""
    population: int | None = None
    fix: Sequence[str] = field(default=())


Answer = tuple[Calibration, library.Model]
CostFitter = Callable[[Sequence[Measurements], Mapping[str, float]], CostFit]


def _requesters(kind: str, task: Task) -> Answer:
    """A volume or a pool, from listings or tables."""
    if task.population is not None and task.population < 1:
        raise InputError("--population", task.population, "a count of at least 1")
    fixed = known_values(task.fix, kind)
    runs = read_observations(task.files, kind)
    found = fit(runs, population=task.population, fixed=fixed)
    return found, to_model(found, kind=kind, title=task.title, files=task.files, runs=runs)


def _costs(kind: str, headings: Sequence[Heading], fitter: CostFitter, task: Task) -> Answer:
    """A device whose costs follow from a table."""
    if task.population is not None:
        raise InputError(
            "--population", task.population, f"none: a {kind} is not fitted to requesters of volumes"
        )
    fixed = known_values(task.fix, kind)
    found = fitter(read_measurements(task.files, headings), fixed)
    return found, model_of_costs(found, title=task.title, files=task.files)


CALIBRATORS: Final[Mapping[str, Callable[[Task], Answer]]] = {
    "volume": partial(_requesters, "volume"),
    "pool": partial(_requesters, "pool"),
    "paging": partial(_costs, "paging", PAGING, fit_paging),
    "disk": partial(_costs, "disk", DISK, fit_disk),
    "channel-program": partial(_costs, "channel-program", CHANNEL_PROGRAM, fit_channel_program),
    "processors": partial(_costs, "processors", PROCESSORS, fit_processors),
}


def calibrate(kind: str, task: Task) -> Answer:
    """Calibrate a device of any kind.

    Parameters
    ----------
    kind : str
        A key of `CALIBRATORS`.
    task : Task
        Measurements and what is known.

    Returns
    -------
    tuple
        What was found, and the model that can be written.

    Raises
    ------
    InputError
        No such kind, or an option that does not fit.
    ReportError
        A file cannot be read as measurements of that kind.
    CalibrationError
        The fit did not converge, or the measurements contradict each other.
    """
    if kind not in CALIBRATORS:
        raise InputError("--kind", kind, f"one of {', '.join(CALIBRATORS)}")
    return CALIBRATORS[kind](task)
