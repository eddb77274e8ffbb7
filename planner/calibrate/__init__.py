"""Measurements to the parameters of volume and pool, with errors, intervals, residuals and the one outlier."""

from planner.calibrate.data_file import known_values, read_observations
from planner.calibrate.fit import fit
from planner.calibrate.model_error import MODEL_ERROR
from planner.calibrate.model_file import KINDS, calibrated, to_model
from planner.calibrate.observation import Figure, Observation, observe
from planner.calibrate.prediction import Calibrated, Prediction
from planner.calibrate.result import Comparison, Estimate, Fit, Outlier
from planner.calibrate.solution import PRIORS, Prior

__all__ = [
    "KINDS",
    "MODEL_ERROR",
    "PRIORS",
    "Calibrated",
    "Comparison",
    "Estimate",
    "Figure",
    "Fit",
    "Observation",
    "Outlier",
    "Prediction",
    "Prior",
    "calibrated",
    "fit",
    "known_values",
    "observe",
    "read_observations",
    "to_model",
]
