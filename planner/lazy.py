"""Polars, imported at first use: that takes a third of a second, and questions typed as numbers do not need it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["pl"]

if TYPE_CHECKING:
    import polars as pl
else:

    class _Polars:
        def __getattr__(self, name: str) -> Any:
            import polars

            return getattr(polars, name)

    pl = _Polars()
