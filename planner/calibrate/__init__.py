"""Fit the parameters of any kind of device to measurements, and put 90 % intervals on predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner import door

if TYPE_CHECKING:
    from planner.calibrate.calibration import Calibration, Estimate, Fit, Outlier
    from planner.calibrate.cost_fit import CostFit
    from planner.calibrate.data_file import Chosen, read_observations
    from planner.calibrate.error_bar import Possible, interval, possible
    from planner.calibrate.kinds import CALIBRATORS, Task, calibrate, known_values, to_model
    from planner.calibrate.least_squares import MODEL_ERROR, Comparison
    from planner.calibrate.problem import PRIORS, Observation, Prior, observe
    from planner.calibrate.volume_fit import fit

__all__ = [
    "CALIBRATORS", "MODEL_ERROR", "PRIORS", "Calibration", "Chosen", "Comparison", "CostFit", "Estimate",
    "Fit", "Observation", "Outlier", "Possible", "Prior", "Task", "calibrate", "fit", "interval", "known_values",
    "observe", "possible", "read_observations", "to_model",
]  # fmt: skip

__getattr__, __dir__ = door(__name__)
