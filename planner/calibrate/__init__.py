"""Measurements to the parameters of any kind of device, with errors, intervals and residuals, and back to questions."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from planner.calibrate.calibration import Calibration, Comparison, Estimate
    from planner.calibrate.cost_law import CostFit
    from planner.calibrate.data_file import Chosen, read_observations
    from planner.calibrate.error_bar import Possible, interval, possible
    from planner.calibrate.kinds import CALIBRATORS, Task, calibrate, known_values
    from planner.calibrate.model_error import MODEL_ERROR
    from planner.calibrate.model_file import to_model
    from planner.calibrate.observation import Figure, Observation, observe
    from planner.calibrate.problem import PRIORS, Prior
    from planner.calibrate.result import Fit, Outlier
    from planner.calibrate.volume_fit import fit

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

# Each comes when it is asked for: who wants the error bar of one figure does not load every fit.
_HOME: Final = {
    "CALIBRATORS": "kinds",
    "Calibration": "calibration",
    "Chosen": "data_file",
    "Comparison": "calibration",
    "CostFit": "cost_law",
    "Estimate": "calibration",
    "Figure": "observation",
    "Fit": "result",
    "MODEL_ERROR": "model_error",
    "Observation": "observation",
    "Outlier": "result",
    "PRIORS": "problem",
    "Possible": "error_bar",
    "Prior": "problem",
    "Task": "kinds",
    "calibrate": "kinds",
    "fit": "volume_fit",
    "interval": "error_bar",
    "known_values": "kinds",
    "observe": "observation",
    "possible": "error_bar",
    "read_observations": "data_file",
    "to_model": "model_file",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
