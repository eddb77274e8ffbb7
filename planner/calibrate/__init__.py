"""Measurements to the parameters of any kind of device, with errors, intervals and residuals, and back to questions."""

from planner.calibrate.calibration import Calibration, Comparison, Estimate
from planner.calibrate.cost_law import CostFit
from planner.calibrate.data_file import Chosen, read_observations
from planner.calibrate.fit import fit
from planner.calibrate.kinds import CALIBRATORS, Task, calibrate, known_values
from planner.calibrate.model_error import MODEL_ERROR
from planner.calibrate.model_file import to_model
from planner.calibrate.observation import Figure, Observation, observe
from planner.calibrate.possible import Possible, interval, possible
from planner.calibrate.problem import PRIORS, Prior
from planner.calibrate.result import Fit, Outlier

__all__ = [
    "CALIBRATORS",
    "MODEL_ERROR",
    "PRIORS",
    "Calibration",
    "Chosen",
    "Comparison",
    "CostFit",
    "Estimate",
    "Figure",
    "Fit",
    "Observation",
    "Outlier",
    "Possible",
    "Prior",
    "Task",
    "calibrate",
    "fit",
    "interval",
    "known_values",
    "observe",
    "possible",
    "read_observations",
    "to_model",
]
