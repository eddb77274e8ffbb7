"""Sliders for notebooks: what `ipywidgets` has, and where it is missing one line that says what to install."""

from __future__ import annotations

from typing import Any

from planner.errors import MissingExtraError


def __getattr__(name: str) -> Any:
    try:
        import ipywidgets
    except ImportError as error:
        raise MissingExtraError("ipywidgets", "notebook") from error
    return getattr(ipywidgets, name)
