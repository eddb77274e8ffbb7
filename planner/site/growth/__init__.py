"""From when on a limit no longer holds: series of days, what they leave open, and the date of each limit."""

from planner.site.growth.answer import Growth, growth

__all__ = ["Growth", "growth"]
