"""What a measurement may mean: the demands that explain it, steady or bursty."""

from planner.demand.answer import Counts, point_and_range
from planner.demand.candidates import Candidates, PredictedRows
from planner.demand.device_model import DeviceModel
from planner.demand.read import read_several, read_volumes
from planner.demand.steady import Candidate, candidates_of_pools
from planner.demand.target import Target
from planner.demand.words import in_words

__all__ = [
    "Candidate",
    "Candidates",
    "Counts",
    "DeviceModel",
    "PredictedRows",
    "Target",
    "candidates_of_pools",
    "in_words",
    "point_and_range",
    "read_several",
    "read_volumes",
]  # fmt: skip
