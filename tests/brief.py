"""How many examples hypothesis draws where a test says so itself: in the short run no more than its profile has."""

from __future__ import annotations

from hypothesis import settings

BRIEF = 10  # of the profile of make test


def examples(count: int, brief: int = BRIEF) -> settings:
    """So many; in the short run the fewer of both."""
    short = settings.default is not None and settings.default.max_examples <= BRIEF
    return settings(max_examples=min(count, brief) if short else count)
