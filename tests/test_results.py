"""Results are frozen, read-only, and tell their units in every form."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import ArrayLike

from planner.errors import InputError
from planner.results import Array, ArrayFields, Result, quantity


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Example(Result):
    derived: ClassVar[dict[str, tuple[str, str]]] = {"response_time": ("response", "s")}

    throughput: Array = quantity("I/O rate", "1/s")
    wait_time: Array = quantity("wait", "s")
    method: str = "exact"

    @property
    def response_time(self) -> Array:
        return self.wait_time + 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Points(ArrayFields):
    x: Array
    y: Array


def test_elements_of_a_record_are_chosen_changed_and_joined_in_all_fields() -> None:
    points = Points(x=np.arange(3.0), y=np.arange(3.0) + 10)
    some = points.of([2, 0])
    assert (some.x.tolist(), some.y.tolist()) == ([2, 0], [12, 10])
    assert points.changed(lambda values: values.sum()).y == 33
    assert Points.joined([points]) is points
    assert Points.joined([points, some]).y.tolist() == [10, 11, 12, 12, 10]
    wide = Points.joined([points.of(None), points.of(None)], axis=-1)
    assert wide.x.tolist() == [[0, 1, 2, 0, 1, 2]]


def example(throughput: ArrayLike, wait_time: ArrayLike) -> Example:
    return Example(throughput=np.asarray(throughput), wait_time=np.asarray(wait_time))


def test_quantities_become_float64_and_keep_their_shape() -> None:
    result = example([[1, 2], [3, 4]], 5)
    assert result.throughput.dtype == np.float64
    assert result.throughput.shape == (2, 2)
    assert result.wait_time.shape == ()
    assert result.method == "exact"


def test_a_result_cannot_be_changed() -> None:
    result = example([1.0, 2.0], [0.0, 0.0])
    with pytest.raises(FrozenInstanceError):
        result.throughput = np.zeros(2)  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        result.throughput[0] = 9.0


def test_making_a_result_leaves_the_argument_writable() -> None:
    given = np.ones(2)
    example(given, given)
    given[0] = 2.0
    assert given.tolist() == [2.0, 1.0]


def test_the_table_broadcasts_and_ends_with_what_is_derived() -> None:
    table = example([1.0, 2.0], 0.5).table()
    assert [column.key for column in table.columns] == ["throughput", "wait_time_s", "response_time_s"]
    assert [column.label for column in table.columns] == ["I/O rate", "wait", "response"]
    assert table.records()[1] == {"throughput": 2.0, "wait_time_s": 0.5, "response_time_s": 1.5}


def test_a_frame_has_units_in_its_names() -> None:
    frame = example([1.0, 2.0], np.inf).to_frame()
    assert list(frame) == ["throughput [1/s]", "wait_time [s]", "response_time [s]"]
    assert frame["wait_time [s]"].tolist() == [np.inf, np.inf]


def test_jupyter_shows_a_table_and_says_saturated() -> None:
    text = example(1.0, np.inf)._repr_html_()
    assert text.startswith("<table>")
    assert "<td>saturated</td>" in text


def test_a_plot_has_units_on_its_axes_and_crosses_saturation() -> None:
    axes = example([1.0, 2.0, 3.0], [0.1, 0.2, np.inf]).plot("throughput", "wait_time")
    assert axes.get_xlabel() == "I/O rate [1/s]"
    assert axes.get_ylabel() == "wait [s]"
    (line,) = axes.get_lines()
    assert np.asarray(line.get_ydata()).tolist() == [0.1, 0.2, np.inf]
    axes.figure.canvas.draw()
    assert example([1.0], [2.0]).plot("throughput", "response_time", axes) is axes


def test_a_plot_of_what_is_not_there_names_what_is() -> None:
    with pytest.raises(InputError, match="y = 'wait': expected one of throughput, wait_time, response_time"):
        example([1.0], [2.0]).plot("throughput", "wait")
