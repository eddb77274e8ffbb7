"""Supply counters of alias pools to answers: enough aliases, too few, too many, and how many would do."""

from planner.supply.answer import PoolAnswer, SupplyAnswer
from planner.supply.judge import judge

__all__ = ["PoolAnswer", "SupplyAnswer", "judge"]
