"""From when on a limit no longer holds: series of days, what they leave open, and the date of each limit.

What a reader needs, in this order: one series is fitted (`model`, `search`, `draws`), its levels and dates follow
(`dates`, `goals`), the loads of a site become counts through the queueing model (`limits`, `pools`), and all of it is
said and drawn (`answer`, `wording`, `pictures`).
"""

from planner.site.growth.answer import Growth, growth

__all__ = ["Growth", "growth"]
