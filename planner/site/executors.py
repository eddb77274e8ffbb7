"""The map over partitions, by its former name."""

from planner.parallel import Failed, run

__all__ = ["Failed", "run"]
