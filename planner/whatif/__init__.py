"""Questions to a calibrated model of any kind: one scenario, or a grid of them, with intervals and warnings."""

from planner.whatif.predict import Prediction, predict
from planner.whatif.settings import parse_range, parse_setting

__all__ = ["Prediction", "parse_range", "parse_setting", "predict"]
