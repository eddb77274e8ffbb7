"""Questions to a calibrated model of any kind: one scenario, or a grid of them, with intervals and warnings."""

from planner.whatif.predict import Prediction, parse_range, parse_setting, predict

__all__ = ["Prediction", "parse_range", "parse_setting", "predict"]
