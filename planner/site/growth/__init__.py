"""From when on a limit no longer holds: series of days, what they leave open, and the date of each limit.

What a reader needs, in this order: one series is fitted (`ar`, `model`, `candidates`, `search`, `draws`, `fit`), its
levels and dates follow (`dates`, `goals`, `limit`), the loads of a site become counts through the queueing model
(`limits`, `needs`), and all of it is said and drawn (`answer`, `wording`, `pictures`; `given` reads what people say).
"""

from planner.site.growth.answer import Growth, growth

__all__ = ["Growth", "growth"]
