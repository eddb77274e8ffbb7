"""What a measurement may mean: the demands that explain it, steady or bursty."""

from planner.demand.answer import point_and_range
from planner.demand.bands import band
from planner.demand.law import Law
from planner.demand.prediction import AliasTarget, Counts, PredictedRows
from planner.demand.read import read_several, read_volumes
from planner.demand.readings import Readings
from planner.demand.steady import Reading, readings_of_pool
from planner.demand.words import in_words

__all__ = [
    "AliasTarget", "Counts", "Law", "PredictedRows", "Reading", "Readings", "band", "in_words", "point_and_range",
    "read_several", "read_volumes", "readings_of_pool",
]  # fmt: skip
