"""Base classes of results (units, labels, to_frame, _repr_html_, plot) and of records of arrays; grouping by key."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from planner import render, style
from planner.answer import Tabular, tabled
from planner.errors import InputError
from planner.quantity import column

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ArrayFields", "Result", "quantity"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


def by_key(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Group values by key, both in order of appearance.

    >>> by_key([("P1", 3), ("P2", 5), ("P1", 4)])
    {'P1': [3, 4], 'P2': [5]}
    """
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ArrayFields:
    """Base of records with one array per field; elements are chosen or changed in all arrays at once."""

    def changed(self, change: Callable[[Any], Any]) -> Self:
        """Apply `change` to every array."""
        return type(self)(
            **{item.name: change(getattr(self, item.name)) for item in dataclasses.fields(self)}
        )

    def of(self, index: Any) -> Self:
        """Choose elements by index."""
        return self.changed(lambda values: values[index])

    @classmethod
    def joined(cls, parts: Sequence[Self], axis: int = 0) -> Self:
        """Concatenate several records."""
        if len(parts) == 1:
            return parts[0]
        names = [item.name for item in dataclasses.fields(cls)]
        return cls(
            **{name: np.concatenate([getattr(each, name) for each in parts], axis=axis) for name in names}
        )


def quantity(label: str, unit: str = "") -> Any:
    """Declare a numeric field of a result.

    Parameters
    ----------
    label : str
        Its heading for people.
    unit : str, optional
        Unit of the stored values, empty for counts and shares.

    Returns
    -------
    dataclasses.Field
        A field with label and unit as metadata.
    """
    return dataclasses.field(metadata={"label": label, "unit": unit})


class Result(Tabular):
    """Base of all results: frozen dataclasses whose `quantity` fields hold read-only arrays.

    A subclass is ``@dataclass(frozen=True, slots=True, kw_only=True, eq=False)``. Derived numbers are
    properties; those named in `derived` as ``{name: (label, unit)}`` are shown beside the fields. A result whose
    mappings `low` and `high` hold intervals names those numbers in `bands`.
    """

    __slots__ = ()
    derived: ClassVar[dict[str, tuple[str, str]]] = {}
    bands: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Freeze every quantity as a read-only float64 array."""
        for item in dataclasses.fields(self):  # type: ignore[arg-type]
            if "unit" in item.metadata:
                values = np.asarray(getattr(self, item.name), dtype=np.float64).view()
                values.flags.writeable = False
                object.__setattr__(self, item.name, values)

    def quantities(self) -> dict[str, tuple[str, str]]:
        """Label and unit of every number of the result, by name."""
        fields = {
            item.name: (item.metadata["label"], item.metadata["unit"])
            for item in dataclasses.fields(self)  # type: ignore[arg-type]
            if "unit" in item.metadata
        }
        return {**fields, **self.derived}

    def table(self) -> render.Table:
        """All numbers as columns, one row per element of the broadcast shape."""
        named = self.quantities()
        arrays = np.broadcast_arrays(*map(self._aligned, named))
        return tabled(
            zip(*(values.ravel().tolist() for values in arrays), strict=True),
            [column(name, unit, label) for name, (label, unit) in named.items()],
        )

    def _aligned(self, name: str) -> Array:
        """One number, broadcast to the shape of all."""
        return np.asarray(getattr(self, name))

    def plot(self, x: str | None = None, y: str | None = None, axes: Axes | None = None) -> Axes:
        """Draw one number of the result against another, with its interval as a band if it has one."""
        columns = {column.name: column for column in self.table().columns}
        first, second, *_ = columns
        x = first if x is None else x
        if y is None:
            y = "response_time" if "response_time" in columns and x != "response_time" else second
        for argument, name in (("x", x), ("y", y)):
            InputError.unless_one_of(argument, name, columns)
        axes = axes or style.new_axes()
        axes.plot(columns[x].values, columns[y].values, marker="o", color="black", linewidth=1)
        if all(float(value).is_integer() for value in columns[x].values):
            style.whole_numbers(axes)
        for each, label in ((columns[x], axes.set_xlabel), (columns[y], axes.set_ylabel)):
            label(f"{each.heading} [{each.unit}]" if each.unit else each.heading)
        if y in self.bands:
            low, high = (np.ravel(getattr(self, end)[y]) for end in ("low", "high"))
            style.band(axes, np.ravel(getattr(self, x)), low, high, "black")
        return axes
