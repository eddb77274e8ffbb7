"""Questions to a calibrated model of any kind: one scenario, or a grid of them, with intervals and warnings."""

from planner.whatif.answer import Answer
from planner.whatif.predict import predict
from planner.whatif.settings import parse_range, parse_setting

__all__ = ["Answer", "parse_range", "parse_setting", "predict"]
