"""What a measurement may mean: the demands that explain it, steady or bursty."""

from planner.demand.law import Law
from planner.demand.steady import Reading, readings, readings_of

__all__ = ["Law", "Reading", "readings", "readings_of"]
