"""Supply counters of alias pools to answers: enough aliases, too few, too many, and how many would do."""

from planner.supply.answer import PoolAnswer, SupplyAnswer, judge

__all__ = ["PoolAnswer", "SupplyAnswer", "judge"]
