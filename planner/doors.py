"""Doors of packages: public names that are imported once they are asked for, so that no question loads every room."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def door(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the `__getattr__` of a package.

    Parameters
    ----------
    package : str
        Its name.
    homes : mapping of str
        For each of its modules the public names that live there, with blanks between them.

    Returns
    -------
    callable
        What finds a public name.

    Raises
    ------
    AttributeError
        By what is returned: there is no such name.
    """
    home = {name: module for module, names in homes.items() for name in names.split()}

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{home[name]}"), name)

    return find
