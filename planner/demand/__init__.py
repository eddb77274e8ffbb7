"""What a measurement may mean: the demands that explain it, steady or bursty."""

from planner.demand.bursty import AliasTarget, Counts, Prediction, Readings, read_several, read_volumes
from planner.demand.law import Law
from planner.demand.steady import Reading, readings, readings_of

__all__ = [
    "AliasTarget", "Counts", "Law", "Prediction", "Reading", "Readings", "read_several", "read_volumes", "readings",
    "readings_of",
]  # fmt: skip
