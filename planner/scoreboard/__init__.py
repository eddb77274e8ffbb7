"""Every published figure of the five reports beside what the planner says of it."""

from planner.scoreboard.board import Promise, Scoreboard, scoreboard
from planner.scoreboard.figure import Figure

__all__ = ["Figure", "Promise", "Scoreboard", "scoreboard"]
