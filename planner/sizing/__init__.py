"""The inverse questions: the fewest aliases that meet a target, with what else the measurement allows."""

from planner.sizing.answer import AliasAnswer, together
from planner.sizing.commands import with_commands
from planner.sizing.many_pools import MeasuredPool, PoolCount, Subsystem, subsystem
from planner.sizing.many_volumes import VolumesAnswer
from planner.sizing.need import aliases_of_runs
from planner.sizing.question import aliases

__all__ = [
    "AliasAnswer",
    "MeasuredPool",
    "PoolCount",
    "Subsystem",
    "VolumesAnswer",
    "aliases",
    "aliases_of_runs",
    "subsystem",
    "together",
    "with_commands",
]
