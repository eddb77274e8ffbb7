"""Sliders for notebooks: what `ipywidgets` has, and where it is missing one line that says what to install."""

from __future__ import annotations

from typing import Any

from planner.errors import MissingExtraError

WIDGETS = ("Dropdown", "FloatSlider", "IntSlider", "interact")


def __getattr__(name: str) -> Any:
    if name not in WIDGETS:  # whoever looks a module over asks for many names
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import ipywidgets
    except ImportError as error:
        raise MissingExtraError("ipywidgets", "notebook") from error
    return getattr(ipywidgets, name)
