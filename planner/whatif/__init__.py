"""Predictions of a calibrated model of any kind, for one scenario or a grid, with intervals and warnings."""

from planner.whatif.predict import Prediction, parse_range, parse_setting, predict

__all__ = ["Prediction", "parse_range", "parse_setting", "predict"]
