"""Parameters shared by device kinds, their values in a model, and the types of scenarios and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from planner.errors import InputError, ReportError
from planner.quantity import Quantity, Value
from planner.results import Array

if TYPE_CHECKING:
    from planner.library import Model

Scenario = Mapping[str, Value]  # inputs by key, SI
Figures = dict[str, Array]  # outputs by key, SI, each of shape (sets, scenarios)
# Relative error of each parameter set, for kinds that add it themselves to the figures whose `error_of` it is.
MODEL_ERROR = "model_error"

SERVICE_TIME = Quantity(
    key="service_time", symbol="S0", unit="s", low=1e-6, high=10.0, default=1e-3,
    meaning="mean service time of an I/O that is alone on its volume",
)  # fmt: skip
INFLATION = Quantity(
    key="inflation", symbol="i", unit="", low=1e-4, high=2.0, default=0.12, zero=True,
    meaning="relative growth of the service time with each further I/O in service on the same volume",
)  # fmt: skip
REDRIVE_TIME = Quantity(
    key="redrive_time", symbol="g", unit="s", low=1e-8, high=1.0, default=6e-5, zero=True,
    meaning="gap between two I/Os of a device that has the next one waiting; counts neither as service nor queue",
)  # fmt: skip
THINK_TIME = Quantity(
    key="think_time", symbol="Z", unit="s", low=1e-8, high=1e3, default=1.5e-4,
    meaning="mean time a requester takes from the end of an I/O to its next I/O",
)  # fmt: skip
POPULATION = Quantity(
    key="population", symbol="N", low=1, high=1000, whole=True, default=3,
    meaning="requesters of one volume, each with at most one I/O outstanding",
)  # fmt: skip
VOLUMES = Quantity(
    key="volumes", symbol="B", low=1, high=256, whole=True, default=8, meaning="volumes that share the aliases",
)  # fmt: skip


def values(
    model: Model, kind: str, wanted: Sequence[Quantity], optional: Sequence[Quantity] = ()
) -> dict[str, float]:
    """Values of a kind's parameters by `key`, SI; `optional` ones only if the model has them."""
    if model.kind != kind:
        raise InputError("model", model.title, f"a model of kind {kind}, not {model.kind}")
    found = {p.key: model.parameters[p.file_key].value for p in wanted if p.file_key in model.parameters}
    for parameter in wanted:
        value = found.get(parameter.key, parameter.default)
        if not parameter.holds(value):
            raise InputError(
                parameter.file_key, value, f"{parameter.low:g} to {parameter.high:g}", parameter.unit
            )
        if parameter.key not in found and parameter not in optional:
            raise ReportError(model.title, f"expected `parameters.{parameter.file_key}`")
    return found
