"""The inverse questions: the fewest aliases that meet a target, with what else the measurement allows."""

from planner.sizing.answer import AliasAnswer, together
from planner.sizing.search import aliases
from planner.sizing.target import Target

__all__ = ["AliasAnswer", "Target", "aliases", "together"]
